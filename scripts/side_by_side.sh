#!/usr/bin/env bash
# Runs a random test as BALM_JOBS processes side by side, each with its share of the cases and seeds of its own:
#
#   scripts/side_by_side.sh CASES PROGRAM FILTER
#
#   CASES     of all processes together
#   PROGRAM   a test program, build/bin/test_kernel say
#   FILTER    as --gtest_filter takes it
#
# BALM_TEST_SEED repeats a run. Prints the logs of the processes that fail; each log begins with its process's seed.
set -euo pipefail

if [ $# -ne 3 ]; then
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
cases=$1 program=$2 filter=$3
jobs=${BALM_JOBS:-$(nproc)}
seed=${BALM_TEST_SEED:-$(date +%s)}
share=$(((cases + jobs - 1) / jobs))
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

echo "side_by_side: $jobs processes of $share cases of $filter, from seed $seed"
pids=()
for ((process = 0; process < jobs; ++process)); do
    BALM_TEST_CASES=$share BALM_TEST_SEED=$((seed + process * share)) \
        "$program" --gtest_filter="$filter" >"$logs/$process" 2>&1 &
    pids+=($!)
done
failed=0
for ((process = 0; process < jobs; ++process)); do
    if ! wait "${pids[process]}"; then
        failed=1
        echo "side_by_side: process $process failed:"
        tail -c 20000 "$logs/$process"
    elif ! grep -q '\[  PASSED  \] [1-9]' "$logs/$process"; then
        failed=1
        echo "side_by_side: process $process ran no test:"
        tail -n 5 "$logs/$process"
    fi
done
exit $failed
