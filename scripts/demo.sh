#!/usr/bin/env bash
# Sets the machine up, builds Balm, lists its devices, and leads heat through a slalom on the best of them: checked
# against the serial reference, timed, drawn in heat.png and animated in heat-animated.png. Arguments go to heat_demo:
#
#   scripts/demo.sh [--size N] [--steps N] [--output heat.png] [--animation FILE] [--frames 60]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --target balm_tool heat_demo make_world step_world render_world

printf '\n== The devices of this machine\n'
build/bin/balm devices
printf '\n== A heat world on the best of them\n'
build/bin/heat_demo --output heat.png "$@"
