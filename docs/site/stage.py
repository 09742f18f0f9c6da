#!/usr/bin/env python3
"""Collects the pages of the site in one folder, for Sphinx: docs/*.md, the examples with their sources, the changelog,
the pages of CONTRIBUTING.md and src. The pages stay readable in the repository; here links between them are resolved.

    docs/site/stage.py FOLDER      collects; a broken link or a listing that differs from its file is an error
    docs/site/stage.py --update    rewrites listings of pages from their files

A listing is a fence below a comment, `<!-- listing: examples/tutorial/vector.cpp -->`: the text of that file. An excerpt,
`<!-- excerpt: FILE -->`, is a part of the file, but for its indentation; with `<!-- compiled: FILE -->` on a page so is
the code in the last cell of each row of its tables.
The lists of links in docs/index.md and docs/tutorial/index.md are the site's navigation: a section is a caption there.
"""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTING = re.compile(r"(<!-- listing: (\S+) -->\n\n?)```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXCERPT = re.compile(r"<!-- excerpt: (\S+) -->\n\n?```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMPILED = re.compile(r"<!-- compiled: (\S+) -->")
COMMENT = re.compile(r"^<!--.*?-->\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\])\(([^()\s]+)\)")
FILE_NAMED = re.compile(r"\[[\w/.-]+\.md\](\([\w/.#-]+\))")
FENCE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
FENCE_OF_LINES = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".cl": "c", ".cmake": "cmake", ".txt": "cmake", ".sh": "sh"}
ALONE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}

PICTURES = (".png", ".svg", ".jpg", ".gif")
INDEXES = ("docs/index.md", "docs/tutorial/index.md")

faults = []
linked_files, pictures = {}, {}  # path in the repository -> path in the site


def pages():
    """The pages of the repository: path there -> path in the site."""
    found = {path: pathlib.Path(name) for path, name in ALONE.items() if path != "README.md"}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        found[str(path.relative_to(ROOT))] = path.relative_to(ROOT / "docs")
    for path in sorted((ROOT / "src").rglob("README.md")):
        found[str(path.relative_to(ROOT))] = pathlib.Path("internals", *path.parent.relative_to(ROOT / "src").parts).with_suffix(".md")
    found["examples/README.md"] = pathlib.Path("examples/index.md")
    return found


def programs():
    """The pages made of sources: a program each, and one for a folder of parts of programs."""
    found = {}
    for path in sorted((ROOT / "examples").rglob("*.cpp")):
        relative = path.relative_to(ROOT)
        if relative.parts[1] == "heat_trail":
            found["examples/heat_trail"] = pathlib.Path("examples/heat_trail.md")
        found[str(relative)] = found.get("examples/heat_trail") if relative.parts[1] == "heat_trail" else relative.with_suffix(".md")
    return found


def place_of(link, page, places):
    """Where a link of a page leads in the site, relative to the page. A file that is no page becomes one."""
    target, mark, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), target))
    if not (ROOT / path).exists():
        faults.append(f"{page}: broken link: {link}")
        return link
    path = os.path.join(path, "README.md") if os.path.join(path, "README.md") in places else path
    place = places.get(path)
    if path == "README.md":
        place = pathlib.Path("index.md")
    if place is None and (ROOT / path).is_dir():
        faults.append(f"{page}: the site has no page for the folder {link}")
        return link
    if place is None and path.endswith(PICTURES):
        place = places[path] = pictures[path] = pathlib.Path("files", path)
    if place is None:
        place = places[path] = linked_files[path] = pathlib.Path("files", path + ".md")
    return os.path.relpath(place, places[page].parent) + mark + anchor


def resolved(text, page, places):
    def replaced(match):
        link = match[1]
        if re.match(r"[a-z]+:|#", link):
            return match[0]
        return f"({place_of(link, page, places)})"

    text = FILE_NAMED.sub(r"[]\1", text)  # Sphinx inserts the title
    parts = FENCE.split(text)
    return "".join(part if number % 2 else LINK.sub(replaced, part) for number, part in enumerate(parts))


def without_comments(text):
    """What readers do not see is not sent to them."""
    parts = FENCE_OF_LINES.split(text)
    fences = FENCE_OF_LINES.findall(text) + [""]
    return "".join(COMMENT.sub("", part) + fence for part, fence in zip(parts, fences))


def check_listings(text, page, update=False):
    def replaced(match):
        file = ROOT / match[2]
        if not file.is_file():
            faults.append(f"{page}: no such file: {match[2]}")
            return match[0]
        wanted = file.read_text()
        if match[4] != wanted and not update:
            faults.append(f"{page}: the listing of {match[2]} differs from the file; docs/site/stage.py --update")
        return f"{match[1]}```{match[3]}\n{wanted}```"

    for file, code in excerpts(text):
        if "".join(code.split()) not in "".join((ROOT / file).read_text().split()):
            faults.append(f"{page}: not in {file}: {code.strip()}")
    return LISTING.sub(replaced, text)


def excerpts(text):
    """Files, and code that has to be in them."""
    yield from (match.groups() for match in EXCERPT.finditer(text))
    for compiled in COMPILED.findall(text):
        for row in re.findall(r"^\|.*(?<!\\)\|$", FENCE_OF_LINES.sub("", text), re.MULTILINE):
            cells = re.split(r"(?<!\\)\|", row)[1:-1]
            if len(cells) == 2:  # programs side by side
                yield from ((compiled, code.replace("\\|", "|")) for code in re.findall(r"`([^`]+)`", cells[1]))


def toctrees(text, decisions):
    """An index with a hidden toctree for each section that is a list of links; Developing has the pages of src too."""
    def listed(match):
        links = re.findall(r"^(?:\*|\d\.) \[[^\]]*\]\(([^()\s]+)\.md\)", match[0], re.MULTILINE)
        if not links:
            return match[0]
        caption = f":caption: {match[2]}\n" if match[1] == "##" else ""
        entries = "\n".join(links + (decisions if match[2] == "Developing" else []))
        return f"{match[0].rstrip()}\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n\n"

    return re.sub(r"^(#+) (.*)\n(?:(?!## ).*\n)*", listed, text, flags=re.MULTILINE)


def source_page(title, files):
    """Reached by links alone: the navigation would be long."""
    parts = [f"---\norphan: true\n---\n\n# {title}\n"]
    fence = "````"
    for file in files:
        parts.append(f"`{file}`\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{(ROOT / file).read_text()}{fence}\n")
    return "\n".join(parts)


def write(folder, place, text):
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def stage(folder):
    shutil.rmtree(folder, ignore_errors=True)
    sources, texts = programs(), pages()
    places = texts | sources
    for page, place in texts.items():
        text = (ROOT / page).read_text()
        check_listings(text, page)
        text = without_comments(text)
        text = resolved(text, page, places)
        if page in INDEXES:
            text = toctrees(text, [str(each.with_suffix("")) for each in texts.values() if each.parts[0] == "internals"])
        write(folder, place, text)
    readme = (ROOT / "README.md").read_text()  # not on the site; its links and listings are checked
    check_listings(readme, "README.md")
    resolved(readme, "README.md", places | {"README.md": pathlib.Path("index.md")})
    for picture, place in pictures.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / picture, folder / place)
    for page, place in (sources | linked_files).items():
        if (ROOT / page).is_dir():
            files = [file.relative_to(ROOT) for file in sorted((ROOT / page).iterdir()) if file.suffix in LANGUAGES]
        elif place == sources.get("examples/heat_trail"):
            continue
        else:
            path = pathlib.Path(page)
            expected = path.with_suffix(".expected")
            files = [path] + ([expected] if (ROOT / expected).exists() else [])
        write(folder, place, source_page(pathlib.Path(page).stem, files))


def update():
    for page in list(pages()) + ["README.md"]:
        text = (ROOT / page).read_text()
        wanted = check_listings(text, page, update=True)
        if wanted != text:
            (ROOT / page).write_text(wanted)
            print(f"{page}: listings updated")


if len(sys.argv) != 2:
    sys.exit(__doc__)
if sys.argv[1] == "--update":
    update()
else:
    stage(pathlib.Path(sys.argv[1]))
if faults:
    sys.exit("\n".join(faults))
