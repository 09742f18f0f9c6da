#!/usr/bin/env python3
"""Compares docs/features.md with the tests: every row that is done or partial has suites that begin with its id, so that
`ctest -R '^C16_'` runs the tests of a row; every such suite belongs to a row; the files that a row names exist.

    scripts/check_features.py [ROOT]    the tree to check; this one if not given
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| ([A-Z]\d+) \| .*? \| (done|partial|planned)\b.*? \| ([^|]*) \| [^|]*\|$", re.MULTILINE)
SUITE = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+)|\badd_test\(\s*NAME\s+([\w.]+)")
ID = re.compile(r"([A-Z]\d+)_")


def rows(root):
    """The id, the state and the "tested in" cell of each row."""
    page = (root / "docs/features.md").read_text().replace(r"\|", " ")
    return [row.groups() for row in ROW.finditer(page)]


def suites(root):
    """The names of all suites, each with a file that has it."""
    found = {}
    for folder in ("tests", "examples", "apps"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix == ".cpp" or path.name == "CMakeLists.txt":
                for test, command in SUITE.findall(path.read_text(errors="replace")):
                    found.setdefault(test or command, path.relative_to(root))
    return found


def alternatives(name):
    """heat/{a,b}_test.cpp as heat/a_test.cpp, heat/b_test.cpp."""
    braces = re.search(r"\{([^{}]*)\}", name)
    if not braces:
        return [name]
    return [name[:braces.start()] + each + name[braces.end():] for each in braces[1].split(",")]


def files(cell):
    """The paths that a cell names."""
    names = re.split(r",\s*(?![^{]*\})", cell.strip())
    return [path for name in names if name.strip() for path in alternatives(name.strip().strip("`"))]


def exists(root, name):
    return any((base / name).exists() for base in (root / "tests", root))


def faults(root):
    all_rows, all_suites = rows(root), suites(root)
    tested = {match[1] for name in all_suites if (match := ID.match(name))}
    known = {row for row, _, _ in all_rows}
    if not known:
        yield "docs/features.md has no rows"
    for row, state, cell in all_rows:
        if state != "planned" and row not in tested:
            yield f"docs/features.md: row {row} is {state}, but no suite begins with {row}_"
        for name in files(cell):
            if not exists(root, name):
                yield f"docs/features.md: row {row} names the file {name}, which does not exist"
    for name, path in all_suites.items():
        if (match := ID.match(name)) and match[1] not in known:
            yield f"{path}: the suite {name} begins with {match[1]}, which is no row of docs/features.md"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(faults(root))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
