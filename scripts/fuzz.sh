#!/usr/bin/env bash
# Builds the libFuzzer targets of tests/fuzz and runs each for so many seconds, BALM_JOBS of them side by side:
#
#   scripts/fuzz.sh [SECONDS]        5 if not given
#   scripts/fuzz.sh 1800 text world  some of them
#
# Each begins with tests/fuzz/corpus/NAME and what earlier runs found (build/fuzz/corpus/NAME). On a failure
# the input's path is printed; `build/fuzz/bin/fuzz_NAME PATH` repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-5}
shift $(($# > 0 ? 1 : 0))
jobs=${BALM_JOBS:-$(nproc)}
if [ $# -gt 0 ]; then
    targets=("$@")
else
    mapfile -t targets < <(find tests/fuzz -maxdepth 1 -name '*.cpp' -printf '%f\n' | sed 's/\.cpp$//' | sort)
fi

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel "$jobs" --target "${targets[@]/#/fuzz_}"

# One target: NAME SECONDS
run() {
    # Whole paths: the target of texts goes to a folder of its own.
    local name=$1 seconds=$2 program=build/fuzz/bin/fuzz_$1 seeds=$PWD/tests/fuzz/corpus/$1
    local corpus=$PWD/build/fuzz/corpus/$1 crashes=$PWD/build/fuzz/crashes log=$PWD/build/fuzz/logs/$1.log
    local options=(-timeout=20 -rss_limit_mb=2560 -max_len=4096 "-artifact_prefix=$crashes/$name-")
    local words=tests/fuzz/$name.dict
    if [ -f "$words" ]; then options+=("-dict=$words"); fi
    mkdir -p "$corpus" "$crashes" "${log%/*}"
    local status=0
    "$program" "${options[@]}" "$seeds"/* >"$log" 2>&1 || status=$?
    if [ $status -eq 0 ]; then
        "$program" "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 "$corpus" "$seeds" \
            >>"$log" 2>&1 || status=$?
    fi
    local executions
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ $status -eq 0 ]; then
        printf 'fuzz_%-12s %10s executions in %s s\n' "$name" "$executions" "$seconds"
    else
        printf 'fuzz_%-12s FAILED: %s (log: %s)\n' "$name" \
            "$(sed -n 's/.*Test unit written to //p; s/^Running: //p' "$log" | tail -1)" "$log"
        tail -n 40 "$log"
    fi
    return $status
}
export -f run
# Files of a target that writes some belong in memory.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi

printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'run "$@"' run {} "$seconds"
