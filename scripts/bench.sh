#!/usr/bin/env bash
# Builds the benchmarks, runs them, and puts their tables into docs/performance.md.
#
#   scripts/bench.sh [--machine NAME]                   NAME: the tables' heading (default: this host's CPU)
#   scripts/bench.sh PROGRAM...                         only these of bench/*.cpp; prints their tables
#
# To measure on a machine with nothing installed but a driver: bundle here, copy the bundle and scripts/, run
# there, bring the JSON files back, and tabulate here.
#
#   scripts/bench.sh --bundle                           build/bench_bundle: the programs, what they open, and
#                                                       the shared libraries that they need
#   scripts/bench.sh --run BUNDLE RESULTS [PROGRAM...]  runs a bundle's programs; RESULTS/*.json
#   scripts/performance_table.py --update docs/performance.md --machine NAME RESULTS/*.json
#
# BALM_BENCH_BUILD: the build tree (default: build). BALM_BENCH_ARGS: further arguments of Google Benchmark.
set -euo pipefail
here=$(pwd)
cd "$(dirname "$0")/.."
build=${BALM_BENCH_BUILD:-build}

machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
machine="${machine:-$(uname -m)}, $(nproc) cores"

all_programs() {
    local source name
    for source in bench/*.cpp; do
        name=$(basename "$source" .cpp)
        case "$name" in peer_*) ;; *) echo "$name" ;; esac
    done
}

configure() {
    if [ "$build" = build ]; then
        cmake --preset release -DBALM_BUILD_BENCH=ON
    else
        cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBALM_BUILD_BENCH=ON
    fi
}

# run DIRECTORY RESULTS PROGRAM...
run() {
    local directory=$1 results=$2 program failed=0
    shift 2
    mkdir -p "$results"
    read -r -a extra <<<"${BALM_BENCH_ARGS-}"
    for program in "$@"; do
        echo "== $program"
        "$directory/bench_$program" --benchmark_out="$results/$program.json" --benchmark_out_format=json \
            "${extra[@]}" || failed=1
    done
    return $failed
}

# What some programs open at run time, if it was built.
modules=(peer_cuda vexcl_cases_balm vexcl_cases_vexcl)

bundle() {
    local to=build/bench_bundle program module
    configure
    cmake --build "$build" --target bench
    rm -rf "$to"
    mkdir -p "$to"
    cp "$build"/bin/bench_* "$to/"
    for module in "${modules[@]}"; do
        [ ! -e "$build/bin/lib$module.so" ] || cp "$build/bin/lib$module.so" "$to/"
    done
    # What a plain system lacks; the C and C++ runtime libraries are the system's own.
    for program in "$to"/bench_*; do
        ldd "$program" | sed -n 's/.*=> \(\/[^ ]*lib\(benchmark\|fmt\|sodium\|z\|gomp\|OpenCL\)\.so[^ ]*\).*/\1/p'
    done | sort -u | while read -r library; do cp -L "$library" "$to/"; done
    strip "$to"/bench_*
    du -sh "$to"
    ls "$to"
}

case "${1-}" in
--bundle)
    bundle
    exit
    ;;
--run)
    directory=$(cd "$here" && realpath "${2:?--run needs the bundle}")
    results=$(cd "$here" && realpath -m "${3:?--run needs a directory for the results}")
    shift 3
    if [ $# -eq 0 ]; then
        for program in "$directory"/bench_*; do set -- "$@" "$(basename "$program" | sed 's/^bench_//')"; done
    fi
    run "$directory" "$results" "$@"
    exit
    ;;
--machine)
    machine=${2:?--machine needs a name}
    shift 2
    ;;
esac

programs=("$@")
[ $# -gt 0 ] || mapfile -t programs < <(all_programs)
configure
targets=("${programs[@]/#/bench_}")
known=$(cmake --build "$build" --target help)
for module in "${modules[@]}"; do
    if grep -q "^$module:" <<<"$known"; then targets+=("$module"); fi
done
cmake --build "$build" --target "${targets[@]}"
failed=0
run "$build/bin" "$build/bench_results" "${programs[@]}" || failed=1
if [ $# -gt 0 ]; then
    results=("${programs[@]/#/$build/bench_results/}")
    scripts/performance_table.py "${results[@]/%/.json}"
    exit $failed
fi
bench/compile_time.sh --json "$build/bench_results/compile_time.json" || failed=1
scripts/performance_table.py --update docs/performance.md --machine "$machine" "$build"/bench_results/*.json
exit $failed
