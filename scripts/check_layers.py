#!/usr/bin/env python3
"""No layer includes one above it: checks every #include of src, include, include_vexcl, apps and examples against one table.

    scripts/check_layers.py [ROOT]      the tree to check; this one if not given

A layer is a folder with its sub-folders, but those that have a row of their own. It may include itself and what its
row names: layers, or single headers of a layer.
"""
import os.path
import pathlib
import re
import sys

PUBLIC = "include/balm"
VEXCL = "include_vexcl/vexcl"
DRIVERS = [PUBLIC, "src/base", "src/driver", "src/runtime/backend.hpp"]

MAY_INCLUDE = {
    PUBLIC: [],
    VEXCL: [PUBLIC],
    "src/base": [PUBLIC],
    "src/runtime": [PUBLIC, "src/base"],
    "src/driver": [PUBLIC, "src/runtime/backend.hpp"],
    "src/driver/cuda": DRIVERS,
    "src/driver/opencl": DRIVERS,
    "src/ir": [PUBLIC, "src/base"],
    "src/text": [PUBLIC, "src/ir"],
    "src/emit": [PUBLIC, "src/base", "src/ir", "src/text"],
    "src/kernel": [PUBLIC, "src/base", "src/runtime", "src/ir", "src/text", "src/emit"],
    "src/array": [PUBLIC, "src/base", "src/runtime", "src/ir", "src/kernel"],
    "src/algorithm": [PUBLIC, "src/base", "src/ir", "src/kernel", "src/array", "src/algorithm/block"],
    "src/algorithm/block": [PUBLIC, "src/ir"],
    "src/interop": [PUBLIC, "src/runtime", "src/kernel", "src/array"],
    "apps/terminal": [],
    "apps/balm": [PUBLIC, "apps/terminal", "src/base", "src/runtime", "src/ir", "src/emit", "src/kernel", "src/array"],
    "apps/heat": [PUBLIC, "apps/terminal"],
    "examples": [PUBLIC, VEXCL],
    "examples/heat_trail": [PUBLIC, "apps/heat"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def layer_of(path):
    """The folder with a row that holds the file most closely, or None."""
    return next((str(folder) for folder in path.parents if str(folder) in MAY_INCLUDE), None)


def included_file(root, file, name):
    """The file of this tree that `#include "name"` in `file` means, or None for other libraries' headers."""
    if name.startswith("balm/"):
        return pathlib.Path("include", name)  # some are generated
    if name.startswith("vexcl/"):
        return pathlib.Path("include_vexcl", name)
    for folder in (file.parent, pathlib.Path("src"), pathlib.Path("apps")):
        if (root / folder / name).is_file():
            return pathlib.Path(os.path.normpath(folder / name))
    return None


def faults(root):
    files = [path.relative_to(root) for folder in ("src", PUBLIC, VEXCL, "apps", "examples")
             for path in sorted((root / folder).rglob("*.[ch]pp"))]
    for file in files:
        layer = layer_of(file)
        if layer is None:
            yield f"{file}:1: {file.parent} is no layer: give it a row in scripts/check_layers.py"
            continue
        for number, line in enumerate((root / file).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            included = match and included_file(root, file, match[1])
            if not included or layer_of(included) == layer:
                continue
            if not {str(included), layer_of(included)}.intersection(MAY_INCLUDE[layer]):
                yield (f"{file}:{number}: {layer} may not include {included}; it may include "
                       f"{', '.join(MAY_INCLUDE[layer]) or 'nothing but itself'}")


root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
found = list(faults(root))
print(*found, sep="\n", end="\n" if found else "")
if found:
    sys.exit(f"layers: {len(found)} #includes go against the table in scripts/check_layers.py")
