#!/usr/bin/env bash
# Builds the benchmarks, runs them, and puts their table into docs/performance.md.
#
#   scripts/bench.sh [--machine NAME] [PROGRAM...]      the table's heading (default: this host's CPU);
#                                                       only these programs of bench/ (default: all)
#
# The measurements stay as JSON in build/bench/. Further arguments of Google Benchmark: BALM_BENCH_ARGS.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
machine=${machine:-$(uname -m)}
if [ "${1-}" = --machine ]; then
    machine=${2:?--machine needs a name}
    shift 2
fi

cmake --preset release -DBALM_BUILD_BENCH=ON
programs=("$@")
if [ ${#programs[@]} -eq 0 ]; then
    for source in bench/*.cpp; do
        name=$(basename "$source" .cpp)
        case "$name" in peer_*) ;; *) programs+=("$name") ;; esac
    done
fi
targets=("${programs[@]}")
if compgen -G 'bench/*.cu' >/dev/null && cmake --build build --target help | grep -q '^peer_cuda:'; then
    targets+=(peer_cuda)
fi
cmake --build build --target "${targets[@]}"

mkdir -p build/bench
results=()
read -r -a extra <<<"${BALM_BENCH_ARGS-}"
for program in "${programs[@]}"; do
    echo "== $program"
    result=build/bench/$program.json
    "build/bin/$program" --benchmark_out="$result" --benchmark_out_format=json "${extra[@]}"
    results+=("$result")
done

scripts/performance_table.py --update docs/performance.md --machine "$machine" "${results[@]}"
