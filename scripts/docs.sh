#!/usr/bin/env bash
# Builds the documentation site: the pages of docs and a reference of the public API. Warnings are errors.
#
#   scripts/docs.sh              builds; open build/docs/html/index.html
#   scripts/docs.sh --check      only looks for faults, in a third of the time: writes no HTML
#
# Needs doxygen, Sphinx, MyST and furo: scripts/setup.sh --checks installs them.
set -euo pipefail
cd "$(dirname "$0")/.."

builder=html
case "${1-}" in
    "") ;;
    --check) builder=dummy ;;
    *) echo "usage: scripts/docs.sh [--check]" >&2; exit 2 ;;
esac
for program in doxygen sphinx-build; do
    if ! command -v "$program" >/dev/null; then
        echo "docs: there is no $program here; scripts/setup.sh --checks installs it" >&2
        exit 1
    fi
done
folder=$PWD/build/docs
mkdir -p "$folder"

rm -rf "$folder/xml"
(cat docs/site/Doxyfile && echo "OUTPUT_DIRECTORY = $folder") | doxygen -
docs/site/stage.py "$folder/source"
rm -rf "${folder:?}/$builder"
BALM_DOCS_XML=$folder/xml sphinx-build -b "$builder" -c docs/site -d "$folder/doctrees" -E -W --keep-going -q -n \
    "$folder/source" "$folder/$builder"
if [ "$builder" = html ]; then echo "docs: $folder/html/index.html"; fi
