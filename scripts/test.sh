#!/usr/bin/env bash
# Sets the machine up, builds Balm and runs its tests, but for those that scripts/check.sh runs.
# With names of steps, only those, in the order given:
#
#   scripts/test.sh                  all of: setup build test
#   scripts/test.sh quick            build quick_test: what one runs all day
#   scripts/test.sh build test       any steps by name
#
# To run the tests of one row of docs/features.md: ctest --preset release -R '^C16_'
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

step_setup() { scripts/setup.sh; }
step_build() { build_preset release; }
step_test() { ctest --preset release -LE '^(thorough|long)$'; }
step_quick_test() { ctest --preset release -L quick; }

case "${1-all}" in
    all) run_steps setup build test ;;
    quick) run_steps build quick_test ;;
    *) run_steps "$@" ;;
esac
