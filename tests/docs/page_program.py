#!/usr/bin/env python3
"""Writes the C++ program that a page's snippets make, for the tests to compile and run.

    tests/docs/page_program.py PAGE OUTPUT      a page in Markdown; the C++ file to write

A snippet is what is between ```cpp and ```. A page's snippets are nested scopes of one function, so each sees what those
above it declare, and may declare a name again. The function has a `balm::context ctx` and a `balm::device device`; the
names of `balm::dsl` are visible. The body of `int main() {` is such a scope, too. #line directives make compilers and
tests name the page and its line.

`// -> VALUE` at the end of a statement is checked: a stream must show what the statement declares, assigns or prints as
VALUE. `// NAME -> VALUE` checks a variable. A remark may follow after `;`. A ```text fence directly after a snippet is
what the snippet prints.

HTML comments, which a rendered page does not show, give what else a snippet needs:

    <!-- snippet                                  lines ahead of the next snippet, whose scope they share; in lines
    balm::vector<float> x(ctx, 10);               after a snippet GoogleTest's EXPECT_… can check its effects
    -->
    <!-- snippet: at namespace scope -->          the next snippet is at namespace scope; or so are the lines that follow
                                                  in the comment
    <!-- snippet: in a kernel(In<int> in = a) --> the next snippet is the body of a kernel with these parameters, launched
                                                  with these arguments and 8 work-items
    <!-- snippet: throws balm::trace_error -->    the next snippet throws this; its message, but for file and line, is the
                                                  ```text fence directly after it
    <!-- snippet: not run: why -->                the next snippet is only compiled
    <!-- snippet: not compiled: why -->
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"<!-- snippet(?:: *([^\n]*?))? *(?:\n(.*?))?-->$", re.DOTALL)
OTHER_COMMENT = re.compile(r"<!--.*-->$")
CHECK = re.compile(r"//\s*(?:([^\s/](?:[^/]*?))\s+)?-> (.*)$")
HOW = re.compile(r"at namespace scope$|in a kernel\((.*)\)$|throws ([\w:]+)$|not run: .|not compiled: .")


class Page:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.name = re.sub(r"\W", "_", self.path.stem.lower())
        self.includes, self.declarations, self.body, self.scopes, self.snippets = [], [], [], 0, 0

    def refuse(self, line, why):
        sys.exit(f"{self.path}:{line}: {why}")

    def directive(self, line):
        return f'#line {line} "{self.path}"'


def pieces(page):
    """The page's comments and fences: (line of the first line in it, kind, text)."""
    lines = page.path.read_text().split("\n")
    at = 0
    while at < len(lines):
        begin, line = at, lines[at]
        at += 1
        if line.lstrip().startswith("<!-- snippet"):
            while "-->" not in lines[at - 1]:
                if at == len(lines):
                    page.refuse(begin + 1, "this comment has no end")
                at += 1
            yield begin + 1, "comment", "\n".join(lines[begin:at]).strip()
        elif line.startswith("```"):
            while at < len(lines) and lines[at].rstrip() != "```":
                at += 1
            if at == len(lines):
                page.refuse(begin + 1, "this fence has no end")
            yield begin + 2, line[3:].strip(), "\n".join(lines[begin + 1 : at])
            at += 1
        elif line.strip() and not OTHER_COMMENT.match(line):
            yield begin + 1, "prose", line


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def split_at_commas(text):
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "<({["
        depth -= letter in ">)}]"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def what_changes(statement):
    """The names of what a statement declares or assigns."""
    bindings = re.match(r"(?:const )?auto&? \[(.*?)\] =", statement)
    if bindings:
        return split_at_commas(bindings[1])
    assignment = re.match(r"([^=]*?[^=!<>+\-*/%&|^\s])\s*(?:[+\-*/%&|^]|<<|>>)?=(?!=)", statement)
    if assignment:
        return [re.search(r"(?:[\w.]|\([^()]*\)|\[[^\[\]]*\])+$", assignment[1])[0]]
    declaration = re.match(r"[\w:]+(?:<.*>)? (\w+)[({].*[)}];", statement)
    return [declaration[1] if declaration else statement.rstrip("; ")]


def checked(page, first, text):
    """The lines of a snippet, with the checks that its comments ask for after their statements."""
    statement = []
    for line, code in enumerate(text.split("\n"), first):
        check = CHECK.search(code)
        bare = re.sub(r"(^|\s)//.*$", "", code).strip()
        if bare:
            statement.append(bare)
        yield code
        if check:
            yield page.directive(line)
            name, value = check[1], check[2].split(";")[0].strip()
            whole = " ".join(statement)
            if not bare.endswith(";"):
                page.refuse(line, "`// -> …` is not at the end of a statement")
            if name:
                yield f"SNIPPET_SHOWS({quoted(value)}, {name})"
            elif whole.startswith("std::cout"):
                yield f"SNIPPET_PRINTED({quoted(value)})"
            else:
                yield f"SNIPPET_SHOWS({quoted(value)}, {', '.join(what_changes(whole))})"
            yield page.directive(line + 1)
        if bare.endswith((";", "{", "}")):
            statement = []


def lift_directives(page, text):
    """The text with blank lines in place of #include and #define, which go to the head of the program."""
    lifted = re.compile(r"^#(?:include|define) .*$", flags=re.MULTILINE)
    page.includes += [line for line in lifted.findall(text) if line not in page.includes]
    return lifted.sub("", text)


def body_of_main(text):
    return re.sub(r"^int main\(\) \{$(.*)^\}$", r"\1", text, flags=re.MULTILINE | re.DOTALL)


def snippet(page, line, text, how, output):
    page.snippets += 1
    code = [page.directive(line), *checked(page, line, body_of_main(lift_directives(page, text)))]
    if how.startswith("at namespace scope"):
        page.declarations += code
        return
    kernel, throws = re.match(r"in a kernel\((.*)\)$", how), re.match(r"throws ([\w:]+)$", how)
    if kernel:
        bound = [re.match(r"(\S.*?\w) = (.*)$", part) for part in split_at_commas(kernel[1])]
        if None in bound:
            page.refuse(line, "a parameter of this kernel has no argument")
        parameters, arguments = (", ".join(part[k] for part in bound) for k in (1, 2))
        before = [f'device.execute(balm::kernel<1>("{page.name}_{line}", [&]({parameters}) {{']
        after = [f"}})({arguments}), {{8}});"]
    elif throws:
        if not output:
            page.refuse(line, "this throws, but there is no ```text after it with the message")
        before = ["try {"]
        after = [f"SNIPPET_DID_NOT_THROW({quoted(throws[1])})",
                 f"}} catch (const {throws[1]}& error) {{ SNIPPET_THROWS({quoted(output)}, error) }}"]
        output = None
    elif how.startswith("not run"):
        before, after = [f"const auto not_run_{line} = [&]() {{"], ["};"]
    else:
        before, after = ["{", "snippet_output.take();"], []  # the scope ends at the end of the page
        page.scopes += 1
    page.body += [page.directive(line), *before, *code, page.directive(line + text.count("\n")), *after]
    if output is not None:
        page.body += [f"SNIPPET_PRINTED({quoted(output)})"]


def read(page):
    how = ""
    listed = list(pieces(page))
    for at, (line, kind, text) in enumerate(listed):
        if kind == "comment":
            comment = COMMENT.match(text)
            if not comment or (comment[1] and not HOW.match(comment[1])):
                page.refuse(line, f"not a comment for snippets: {text.splitlines()[0]}")
            if comment[2] is None:
                how = comment[1] or ""
                continue
            code = lift_directives(page, comment[2].rstrip("\n"))
            if comment[1]:
                page.declarations += [page.directive(line + 1), code]
            else:
                page.body += [page.directive(line + 1), "{", code]
                page.scopes += 1
        elif kind == "cpp":
            if not how.startswith("not compiled"):
                next_kind = listed[at + 1][1] if at + 1 < len(listed) else ""
                snippet(page, line, text, how, listed[at + 1][2] if next_kind == "text" else None)
            how = ""
        elif how:
            page.refuse(line, f"'snippet: {how}' is not directly ahead of a snippet")
    if how:
        page.refuse(listed[-1][0], f"'snippet: {how}' is not directly ahead of a snippet")


def program(page):
    lines = [f"// Written by tests/docs/page_program.py from {page.path.name}; changes are lost.", *page.includes]
    if page.snippets > 0:
        lines += ['#include "docs/snippets.hpp"',
                  f"namespace docs_{page.name} {{", "using namespace balm::dsl;", *page.declarations,
                  f"TEST(docs_{page.name}, snippets_run) {{", "balm::test::printed snippet_output;",
                  "balm::context ctx;", "balm::device device = ctx.device(0);",
                  *page.body, "}" * (page.scopes + 1), "}", ""]
    return "\n".join(lines)


def program_of(path):
    page = Page(path)
    read(page)
    return program(page)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(program_of(sys.argv[1]))
