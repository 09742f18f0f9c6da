#!/usr/bin/env python3
"""Finds the names that a source of src or apps declares by `using a::b;` or `namespace b = a;` and never uses."""
import pathlib
import re
import sys

DECLARATION = re.compile(r"^\s*(?:using\s+(?:\w*::)+(\w+)|namespace\s+(\w+)\s*=[^;]*);")
NO_CODE = re.compile(r"//.*|^\s*#\s*include.*")


def unused(source):
    lines = [NO_CODE.sub("", line) for line in source.read_text().splitlines()]
    declared = {number: match[1] or match[2] for number, line in enumerate(lines, 1) if (match := DECLARATION.match(line))}
    code = "\n".join(line for number, line in enumerate(lines, 1) if number not in declared)
    for number, name in declared.items():
        if not re.search(rf"(?<!\.)(?<!->)(?<!::)\b{name}\b", code):
            yield f"{source}:{number}: nothing in this file uses '{name}'"


root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
found = [each for folder in ("src", "apps") for source in sorted((root / folder).rglob("*.cpp")) for each in unused(source)]
if found:
    sys.exit("\n".join(found))
