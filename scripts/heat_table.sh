#!/usr/bin/env bash
# Steps one slalom world with every program of the heat trail and with step_world, checks each result against the
# serial one, and writes the table of their times, with a plot, into docs/heat-results.md and docs/heat-results.svg.
#
#   scripts/heat_table.sh [--size 5000] [--steps 1000] [--repeats 3] [--output docs/heat-results.md] [--built]
#
# --built: the programs are in the build tree already. HPCE_SELECT_PLATFORM and HPCE_SELECT_DEVICE choose the device of
# the OpenCL programs. BALM_BUILD: the build tree (default: build).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BALM_BUILD:-build}

arguments=() is_built=no
for argument in "$@"; do
    if [ "$argument" = --built ]; then is_built=yes; else arguments+=("$argument"); fi
done

if [ $is_built = no ]; then
    scripts/setup.sh
    if [ "$build" = build ]; then cmake --preset release; fi
    cmake --build "$build" --target make_world step_world heat_demo heat_trail_programs
fi
exec python3 scripts/heat_table.py --programs "$build/bin" "${arguments[@]}"
