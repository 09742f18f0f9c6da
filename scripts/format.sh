#!/usr/bin/env bash
# Formats every C++ and CUDA file with clang-format 14; with --check, only says which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=
for candidate in clang-format-14 clang-format; do
    if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
        formatter=$candidate
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "format: no clang-format 14 here (other versions format differently); nothing done" >&2
    exit 0
fi

sources() {
    git ls-files --cached --others --exclude-standard -z -- '*.cpp' '*.hpp' '*.cu' |
        while IFS= read -r -d '' file; do
            if [ -e "$file" ]; then printf '%s\0' "$file"; fi  # deleted, and not yet committed so
        done
}

case "${1-}" in
    "") sources | xargs -0 --no-run-if-empty "$formatter" -i --style=file ;;
    --check)
        unformatted=$(sources | xargs -0 --no-run-if-empty "$formatter" --dry-run --style=file 2>&1 |
            sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: .*/    \1/p' | sort -u)
        if [ -n "$unformatted" ]; then
            printf 'format: not formatted (run scripts/format.sh):\n%s\n' "$unformatted" >&2
            exit 1
        fi
        ;;
    *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac
