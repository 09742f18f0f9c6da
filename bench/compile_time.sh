#!/usr/bin/env bash
# What the headers cost their user: compiles examples/hello.cpp as a user would (g++ -O2 -c), says how long it
# took and how much memory, and fails beyond the budget: 1.5 s and 300 MB. Processor time, the best of three: on a
# machine with nothing else to do the same as by the clock, on one that others use not their fault.
#
#   bench/compile_time.sh [--json FILE] [SOURCE]      FILE: the figures as Google Benchmark writes them;
#                                                     CXX: the compiler
set -euo pipefail
cd "$(dirname "$0")/.."

json=""
if [ "${1-}" = --json ]; then
    json=$(realpath -m "${2:?--json needs a file}")
    shift 2
fi
source=${1:-examples/hello.cpp}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The generated header, as CMake makes it.
version=$(sed -n 's/^project(balm VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
IFS=. read -r major minor patch <<<"$version"
mkdir -p "$work/include/balm"
sed -e "s/@PROJECT_VERSION@/$version/" -e "s/@PROJECT_VERSION_MAJOR@/$major/" \
    -e "s/@PROJECT_VERSION_MINOR@/$minor/" -e "s/@PROJECT_VERSION_PATCH@/$patch/" \
    cmake/version.hpp.in >"$work/include/balm/version.hpp"

python3 - "$json" "$source" "${CXX:-g++}" -O2 -c -std=c++20 -Iinclude "-I$work/include" "$source" \
    -o "$work/object.o" <<'PYTHON'
import datetime
import json
import os
import sys

SECONDS, MEGABYTES, RUNS = 1.5, 300, 3

result, source, command = sys.argv[1], sys.argv[2], sys.argv[3:]
best, peak = float("inf"), 0.0
for _ in range(RUNS):
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"compile_time: {source} does not compile")
    best = min(best, usage.ru_utime + usage.ru_stime)
    peak = max(peak, usage.ru_maxrss / 1000)  # kB, of the largest process: the compiler proper

print(f"compile_time: {source}: {best:.2f} s (of {SECONDS}), {peak:.0f} MB (of {MEGABYTES})")
if result:
    name = f"g++ -O2 -c {source}"
    run = {"name": name, "run_name": name, "run_type": "iteration", "label": "host", "iterations": RUNS,
           "real_time": best, "cpu_time": best, "time_unit": "s", "at_most": SECONDS, "peak_megabytes": round(peak)}
    context = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds")}
    with open(result, "w") as file:
        json.dump({"context": context, "benchmarks": [run]}, file, indent=2)
if best > SECONDS or peak > MEGABYTES:
    sys.exit("compile_time: over budget; a header has grown heavy (see g++ -H and -ftime-report)")
PYTHON
