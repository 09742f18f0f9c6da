#!/usr/bin/env bash
# Sets the machine up, builds Balm and checks everything. With names of steps, only those, in the order given:
#
#   scripts/test.sh                  all of: setup format build test compile_time asan tsan clang tidy
#   scripts/test.sh quick            format build quick_test: what one runs all day
#   scripts/test.sh build test       any steps by name
#
# To run the tests of one row of docs/features.md: ctest --preset release -R '^C16_'
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${BALM_JOBS:-$(nproc)}

step_setup() { scripts/setup.sh --checks; }
step_format() { scripts/format.sh --check; }
step_build() {
    cmake --preset release
    cmake --build --preset release --parallel "$jobs"
}
step_test() { ctest --preset release; }
step_quick_test() { ctest --preset release -L quick; }
step_compile_time() { bench/compile_time.sh; }
# PoCL and drivers are not built with sanitizers: the layers that need no device run with them, and show that
# what the other compiler makes works.
step_asan() {
    cmake --preset asan
    cmake --build --preset asan --parallel "$jobs" --target quick_tests
    ctest --preset asan -L '^(ir|emit)$'
}
# What many threads do at once: the runtime, and everything on one device.
step_tsan() {
    cmake --preset tsan
    cmake --build --preset tsan --parallel "$jobs" --target test_runtime test_threads
    ctest --preset tsan -R '^(C4|C15|C20|C22|G4|V23)_'
}
# The other compiler's warnings on what step_tidy does not look at.
step_clang() {
    cmake --preset clang
    python3 - <<'PYTHON' | xargs --no-run-if-empty -d '\n' -n 1 -P "$jobs" bash -c
import json, os
for unit in json.load(open("build/clang/compile_commands.json")):
    if os.path.relpath(unit["file"]).split(os.sep)[0] not in ("src", "apps"):
        print("cd", unit["directory"], "&&", unit["command"], "-fsyntax-only")
PYTHON
}
step_tidy() {
    local tidy
    tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
    if [ -z "$tidy" ]; then
        echo "tidy: no clang-tidy here; nothing done"
        return
    fi
    cmake --preset clang >/dev/null
    find src apps -name '*.cpp' -print0 |
        xargs -0 --no-run-if-empty -n 1 -P "$jobs" "$tidy" -p build/clang --quiet
}

case "${1-all}" in
    all) steps=(setup format build test compile_time asan tsan clang tidy) ;;
    quick) steps=(format build quick_test) ;;
    *) steps=("$@") ;;
esac
for step in "${steps[@]}"; do
    if ! declare -F "step_$step" >/dev/null; then
        echo "test: there is no step '$step'; see the head of scripts/test.sh" >&2
        exit 2
    fi
done

summary=()
report() {
    local status=$?
    if [ ${#summary[@]} -gt 0 ]; then printf '%s\n' "" "${summary[@]}"; fi
    if [ $status -ne 0 ]; then echo "FAILED: ${step}"; fi
}
trap report EXIT
for step in "${steps[@]}"; do
    echo "== $step"
    start=$SECONDS
    "step_$step"
    summary+=("$(printf '%-14s passed  %4d s' "$step" $((SECONDS - start)))")
done
