#!/usr/bin/env bash
# Checks the code itself: its format, its layers, the words of its pages, that features have tests, recipes of packages,
# Debian's packages, the site, clang-tidy, the other compiler's warnings, tests that take minutes, sanitizers, a few
# seconds of fuzzing, that the benchmarks build, the compile-time budget. With names of steps, only those, in the order
# given:
#
#   scripts/check.sh                 all of: setup format layers words features packaging packages docs tidy clang
#                                    thorough asan tsan fuzz bench compile_time
#   scripts/check.sh format tidy     any steps by name
#   scripts/check.sh --long          suites of every type and number of devices, and hours of what the tests and
#                                    step_fuzz do for seconds: long_suites optimised random_arrays random_kernels
#                                    faults exits accuracy long_fuzz
#
# The long run's counts, with their defaults: BALM_LONG_ARRAYS=100000 expressions, BALM_LONG_KERNELS=20000 kernels,
# BALM_LONG_FUZZ=1800 seconds a target. BALM_TEST_SEED repeats a run; BALM_JOBS processes run side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

step_setup() { scripts/setup.sh --checks; }
step_format() { scripts/format.sh --check; }
step_layers() { scripts/check_layers.py; }
step_words() {
    scripts/check_words.py
    codespell README.md CHANGELOG.md CONTRIBUTING.md docs include include_vexcl src apps tests bench examples scripts \
        cmake packaging
}
step_features() { scripts/check_features.py; }
step_packaging() { packaging/check.py; }
step_packages() { DEB_BUILD_OPTIONS=noopt scripts/package.sh build package check; }
# The pictures are of the page's tables; drawing needs matplotlib, which Debian's python3 has where it is installed.
step_docs() {
    local python=python3
    ! /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
    "$python" scripts/performance_plot.py --test
    "$python" scripts/performance_plot.py --check
    scripts/docs.sh --check
}
step_bench() { build_preset release bench; }
step_compile_time() { bench/compile_time.sh; }
# Tests that take minutes: of suites that repeat their tests for many types, a part of these, others each time. Some run
# kernels on a simulated device, Oclgrind, which checks every access to memory.
step_thorough() {
    build_preset release
    BALM_TEST_SHARE=6 ctest --preset release -L '^thorough$'
}
# PoCL and drivers are not built with sanitizers: what needs no device runs with them, or has the fake drivers,
# whose calls fail; nothing may leak then. The library is a shared one here, and an outside project uses it so.
step_asan() {
    build_preset asan balm quick_tests test_failures
    ctest --preset asan -L '^(ir|emit|install)$'
    run_faults asan 2
}
run_faults() { ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 BALM_TEST_CASES=$2 "build/$1/bin/test_failures"; }
# What many threads do at once: the runtime, and everything on one device.
step_tsan() {
    build_preset tsan test_runtime test_threads
    ctest --preset tsan -R '^(A6|C4|C15|C20|C22|G4|V23)_'
}
# The units of the preset `clang`: those of the library and the programs, or the commands that compile the rest, which is
# tests for the most part, but for what step_asan compiles with that compiler, the snippets of pages, which are written
# when they are built, and the precompiled headers.
clang_units() {
    cmake --preset clang >&2
    python3 - "$1" <<'PYTHON'
import json, os, sys
for unit in json.load(open("build/clang/compile_commands.json")):
    file = os.path.relpath(unit["file"])
    target = os.path.basename(unit["command"].split(" -o ")[1].split(".dir/")[0])
    if target == "test_docs" or "cmake_pch" in file:
        continue
    is_test = target.startswith("test_")
    is_ours = file.startswith(("src/", "apps/")) or ("/Unity/" in file and not is_test)
    is_in_asan = target.startswith("fake_") or target in (
        "test_ir", "test_emit", "test_failures", "test_main", "test_oracles", "test_support_sources")
    if sys.argv[1] == "ours" and is_ours:
        print(file)
    if sys.argv[1] == "rest" and not is_ours and not is_in_asan:
        print("cd", unit["directory"], "&&", unit["command"], "-fsyntax-only")
PYTHON
}
# The other compiler's warnings on what step_tidy does not look at.
step_clang() {
    build_preset clang test_headers test_vexcl_headers example_headers
    clang_units rest | xargs --no-run-if-empty -d '\n' -n 1 -P "$jobs" bash -c
}
# Balm works until the process is gone, so nothing of it is destroyed at exit but what a comment excepts.
# Sources of a folder are looked at together. Two of clang-tidy's checks, for `using` and namespace aliases that nothing
# uses, do not look into included files; scripts/check_usings.py does.
step_tidy() {
    local tidy
    scripts/check_usings.py
    tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
    if [ -z "$tidy" ]; then
        echo "tidy: no clang-tidy here; nothing done"
        return
    fi
    clang_units ours | xargs --no-run-if-empty -d '\n' -n 1 -P "$jobs" "$tidy" -p build/clang --quiet \
        --extra-arg=-Wexit-time-destructors --extra-arg=-Wno-error=exit-time-destructors
}
# The corpora, and a few seconds of each target.
step_fuzz() { scripts/fuzz.sh 5; }

# Suites that repeat others for every size or number of devices, and all types of what step_thorough draws from.
step_long_suites() { ctest --preset release -L '^(long|thorough)$'; }
# What the tests compile without PoCL's optimiser, with it.
step_optimised() {
    cmake --preset release -D BALM_TEST_OPTIMISED=ON
    ctest --preset release -L '^(algorithm|examples|heat|tool)$'
    cmake --preset release -D BALM_TEST_OPTIMISED=OFF
}
step_random_arrays() {
    scripts/side_by_side.sh "${BALM_LONG_ARRAYS:-100000}" build/bin/test_array 'V4_random_programs.compute_what*'
}
step_random_kernels() {
    scripts/side_by_side.sh "${BALM_LONG_KERNELS:-20000}" build/bin/test_kernel \
        'C14_random_kernels.*:C14_random_programs.agree*'
}
step_faults() {
    build_preset asan test_failures
    run_faults asan 1000000
}
step_exits() { BALM_TEST_CASES=448 build/bin/test_threads --gtest_filter='B5_exits.*'; }
step_accuracy() { BALM_TEST_CASES=1000000 build/bin/test_backend --gtest_filter='C10_accuracy.*'; }
step_long_fuzz() { scripts/fuzz.sh "${BALM_LONG_FUZZ:-1800}"; }

case "${1-all}" in
    all) run_steps setup format layers words features packaging packages docs tidy clang thorough asan tsan fuzz bench compile_time ;;
    --long)
        build_preset release
        run_steps long_suites optimised random_arrays random_kernels faults exits accuracy long_fuzz
        ;;
    *) run_steps "$@" ;;
esac
