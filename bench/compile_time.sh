#!/usr/bin/env bash
# What the headers cost their user: compiles programs as a user would (g++ -O2 -c), says how long it took and how
# much memory, and fails beyond the budget. A budget is a ratio: processor time beside that of a program of standard
# headers alone, bench/peer_compile_time.cpp, compiled in turn with it; so a slow machine is not the headers'
# fault. It is written in seconds of a machine that takes REFERENCE_SECONDS for that program.
#
#   bench/compile_time.sh [--json FILE] [SOURCE SECONDS MEGABYTES]
#
#   SOURCE SECONDS MEGABYTES   a program and its budget; default: examples/hello.cpp in 1.5 s and 300 MB, and
#                              examples/fifty_expressions.cpp in 5 s and 600 MB
#   FILE                       the figures as Google Benchmark writes them
#   CXX                        (environment) the compiler
set -euo pipefail
cd "$(dirname "$0")/.."

json=""
if [ "${1-}" = --json ]; then
    json=$(realpath -m "${2:?--json needs a file}")
    shift 2
fi
case $# in
0) set -- examples/hello.cpp 1.5 300 examples/fifty_expressions.cpp 5 600 ;;
3) ;;
*) echo "usage: bench/compile_time.sh [--json FILE] [SOURCE SECONDS MEGABYTES]" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The generated header, as CMake makes it.
version=$(sed -n 's/^project(balm VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
IFS=. read -r major minor patch <<<"$version"
mkdir -p "$work/include/balm"
sed -e "s/@PROJECT_VERSION@/$version/" -e "s/@PROJECT_VERSION_MAJOR@/$major/" \
    -e "s/@PROJECT_VERSION_MINOR@/$minor/" -e "s/@PROJECT_VERSION_PATCH@/$patch/" \
    cmake/version.hpp.in >"$work/include/balm/version.hpp"

python3 - "$json" "$work" "$@" <<'PYTHON'
import datetime
import json
import os
import sys

RUNS, MOST_RUNS = 3, 9  # more of them where other work on the machine may be what takes the time
REFERENCE_SECONDS = 3.5  # two EPYC 9V74 cores with nothing else to do, g++ 12.2, 2026-11-23
compiler = os.environ.get("CXX", "g++")
result, work, budgets = sys.argv[1], sys.argv[2], sys.argv[3:]


def compile_once(source):
    """Processor seconds and megabytes of the largest process, which is the compiler proper."""
    command = [compiler, "-O2", "-c", "-std=c++20", "-Iinclude", f"-I{work}/include", source, "-o", f"{work}/object.o"]
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"compile_time: {source} does not compile")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


runs = []
for source, seconds, megabytes in zip(budgets[0::3], map(float, budgets[1::3]), map(float, budgets[2::3])):
    best, reference, peak, done = float("inf"), float("inf"), 0.0, 0
    while done < RUNS or (best / reference > seconds / REFERENCE_SECONDS and done < MOST_RUNS):
        done += 1
        reference = min(reference, compile_once("bench/peer_compile_time.cpp")[0])
        taken, memory = compile_once(source)
        best, peak = min(best, taken), max(peak, memory)
    scaled = best / reference * REFERENCE_SECONDS
    print(f"compile_time: {source}: {best:.2f} s, {best / reference:.2f} of the reference's {reference:.2f} s: "
          f"{scaled:.2f} s (of {seconds:g}), {peak:.0f} MB (of {megabytes:g})")
    name = f"g++ -O2 -c {source}"
    runs.append({"name": name, "run_name": name, "run_type": "iteration", "label": "host", "iterations": done,
                 "real_time": scaled, "cpu_time": best, "time_unit": "s", "at_most": seconds,
                 "peak_megabytes": round(peak), "is_over": scaled > seconds or peak > megabytes})
over = [run for run in runs if run.pop("is_over")]
if result:
    context = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds")}
    with open(result, "w") as file:
        json.dump({"context": context, "benchmarks": runs}, file, indent=2)
if over:
    sys.exit("compile_time: over budget; a header has grown heavy (see g++ -H and -ftime-report)")
PYTHON
