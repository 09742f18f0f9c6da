#!/usr/bin/env bash
# Sets the machine up, builds Balm, lists its devices, and steps a 1000 x 1000 heat world on the best of them:
# checked against the serial reference, timed, and drawn in heat.png. Arguments go to heat_demo:
#
#   scripts/demo.sh [--size 1000] [--steps 1000] [--output heat.png]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --target balm_tool heat_demo make_world step_world render_world

printf '\n== The devices of this machine\n'
build/bin/balm devices
printf '\n== A heat world on the best of them\n'
build/bin/heat_demo --size 1000 --steps 1000 --output heat.png "$@"
