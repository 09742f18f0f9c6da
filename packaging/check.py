#!/usr/bin/env python3
"""Whether the recipes agree with the project: their version, and that the options that they set exist. Their languages
are checked as far as Python goes; nothing is downloaded."""

import ast
import json
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
lists = (here.parent / "CMakeLists.txt").read_text()
version = re.search(r"project\(balm VERSION ([0-9.]+)", lists).group(1)
options = set(re.findall(r"option\((\w+)", lists))
faults = []

for path in sorted(here.rglob("*")):
    if not path.is_file() or path == pathlib.Path(__file__).resolve():
        continue
    text, name = path.read_text(), path.relative_to(here.parent)
    if path.suffix == ".py":
        ast.parse(text, str(name))
    if path.suffix == ".json" and json.loads(text)["version"] != version:
        faults.append(f"{name}: the version is {version}")
    for found in re.findall(r"version\(\"([0-9.]+)\"|balm@([0-9.]+)", text):
        if "".join(found) != version:
            faults.append(f"{name}: the version is {version}, not {''.join(found)}")
    for option in set(re.findall(r"\bBALM_[A-Z_]*[A-Z]\b", text)) - options:
        faults.append(f"{name}: CMakeLists.txt has no option {option}")

print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
sys.exit(bool(faults))
