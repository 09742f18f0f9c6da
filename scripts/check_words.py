#!/usr/bin/env python3
"""Pages use the field's terms: refuses phrases that stand in for one in README.md, CHANGELOG.md, CONTRIBUTING.md, docs
and the /// comments of include/balm and include_vexcl.

    scripts/check_words.py [ROOT]       the tree to check; this one if not given

Code, between fences or in `backticks`, is not checked. Each phrase has what to write instead.
"""
import pathlib
import re
import sys

INSTEAD = {
    "of the user's": "custom, or name the object",
    "Balm's own": "Balm's; of Balm",
    "thread of Balm's": "thread of Balm",
    "of one's own": "your own",
    "its kin": "name them",
    "their kin": "name them",
    "is told": "takes, receives",
    "are told": "take, receive",
    "one behind the other": "contiguous, concatenated",
    "behind each other": "contiguous",
    "by hand over": "name the mechanism",
    "for the device at hand": "for the device",
    "goes with every": "combines with any",
    "goes with any": "combines with any",
    "go with every": "combine with any",
    "stands where": "is in divergent control flow; is",
    "stand where": "are in divergent control flow; are",
    "where it stands": "in place, directly",
    "where they stand": "in place, directly",
    "where nobody": "by default; if nothing",
    "nobody waits": "does not block",
    "waits for nobody": "does not wait",
    "compiles nothing": "never recompiles",
    "compile nothing": "never recompile",
    "found by its look": "common subexpressions are eliminated",
    "nothing of a vendor's": "no vendor SDK",
    "goes on at once": "returns immediately",
    "go on at once": "return immediately",
    "copied aside": "staged",
    "shared out": "distributed",
    "share out": "distribute",
}


BY_LETTERS = {phrase.lower(): instead for phrase, instead in INSTEAD.items()}
PHRASES = re.compile("|".join(r"\b" + phrase.replace(" ", r"\s+") + r"\b" for phrase in BY_LETTERS), re.IGNORECASE)


def without_code(text):
    """The text with blanks in place of code, so that positions stay."""
    return re.sub(r"^```.*?^```|`[^`]*`", lambda code: re.sub(r"\S", " ", code[0]), text, flags=re.DOTALL | re.MULTILINE)


def documentation(text):
    """A header's /// comments, with blanks in place of all else."""
    lines = (line.replace("///", "   ", 1) if line.lstrip().startswith("///") else "" for line in text.splitlines())
    return "\n".join(lines)


def faults(root, file):
    text = (root / file).read_text()
    text = without_code(text) if file.suffix == ".md" else documentation(text)
    for match in PHRASES.finditer(text):
        phrase = " ".join(match[0].split())
        yield f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {phrase} (instead: {BY_LETTERS[phrase.lower()]})"


root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
files = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(root.glob("docs/**/*.md"))
files += sorted(file for folder in ("include/balm", "include_vexcl") for file in (root / folder).rglob("*.hpp"))
found = [fault for file in files for fault in faults(root, file.relative_to(root))]
print(*found, sep="\n", end="\n" if found else "")
if found:
    sys.exit(f"words: {len(found)} phrases; scripts/check_words.py says what to write instead")
