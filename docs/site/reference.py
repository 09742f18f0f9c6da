"""Sphinx extension: the reference of the public API, made from Doxygen's XML.

    ```{reference}
    vector.hpp
    view.hpp
    ```

lists what these headers of include/balm declare, in their order. ```{built-ins}``` lists the rows of builtins.def.
Elsewhere `balm::sort` in backquotes becomes a link to the reference.

Sphinx's C++ domain is not used, and so neither is Breathe: it cannot hold overloads that differ in constraints alone
(an assertion of sphinx/domains/cpp.py fails), and most functions of Balm have some.
"""
import dataclasses
import pathlib
import re
import textwrap
import xml.etree.ElementTree as ElementTree

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

# Headers whose names are not for users, or that have no page for another reason.
INTERNAL_HEADERS = {
    "affine_map.hpp", "balm.hpp", "builtin.hpp", "function_calls.hpp", "function_ref.hpp", "inline_vector.hpp",
    "rare_list.hpp", "tape.hpp", "trace.hpp", "dsl/operand.hpp",
}
# A member whose type or parameters name one of these is for other parts of the library.
INTERNAL_NAMES = re.compile(r"\b(trace|runtime|ir)::|\barray::(?!slice_part|dimension_list)|\bnode\b")
UNDOCUMENTED_INTERNAL_NAMES = re.compile(INTERNAL_NAMES.pattern + r"|\bdetail::")
INTERNAL_MEMBERS = {"balm_place", "node", "kernels_may_read", "kernels_may_write", "judge", "turn"}
PUBLIC_MACROS = re.compile(r"(BALM_)?(IF|ELIF|ELSE|WHILE)|BALM_STRUCT")
# Overloads that exist to be refused by the compiler, with a message.
REFUSAL = "always_false<"
WIDTH = 100  # of a signature's line


@dataclasses.dataclass
class Symbol:
    """A class, function, macro … with its own comment."""
    id: str
    kind: str
    name: str  # without balm::
    line: int
    end: int
    signature: str
    is_documented: bool
    element: ElementTree.Element
    members: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Group:
    """Symbols that share a comment: the first one's."""
    symbols: list

    @property
    def first(self):
        return self.symbols[0]

    @property
    def names(self):
        return list(dict.fromkeys(symbol.name for symbol in self.symbols))

    @property
    def title(self):
        names = self.names
        return ", ".join(names if len(names) <= 4 else names[:3] + ["…"])

    @property
    def anchor(self):
        return anchor_of(self.first.name)


def anchor_of(name):
    operators = {"+": "plus", "-": "minus", "*": "times", "/": "divide", "%": "percent", "&": "and", "|": "or", "^": "xor",
                 "<": "less", ">": "greater", "=": "equals", "!": "not", "~": "tilde", "[": "index", "(": "call"}
    if "operator" in name:
        head, tail = name.split("operator", 1)
        name = head + "operator-" + "-".join(operators[letter] for letter in tail if letter in operators)
    return "ref-" + re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")


def text_of(element):
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def tidy(text):
    """Doxygen's spaces, as clang-format would place them."""
    text = re.sub(r"(?<!operator)< (?=\S)", "<", text)
    text = re.sub(r"(?<=[\w>*&.)]) >(?=$|[,>)&*\s({:.])", ">", text)
    text = re.sub(r" ([&*]+)(?=\w)", r"\1 ", text)
    text = re.sub(r"(?<=\w)=(?=[\w{\"])", " = ", text)
    return re.sub(r"\bbalm::(?=\w)", "", text)


# Filled in by the compiler: the line of the caller.
CALLER = re.compile(r",?\s*(const char \*\s?\w+\s?= ?__builtin_FILE\(\)|std::uint32_t \w+\s?= ?__builtin_LINE\(\))")


def template_of(element):
    parameters = []
    listed = element.find("templateparamlist")
    if listed is None:
        return ""
    for parameter in listed.findall("param"):
        text = text_of(parameter.find("type"))
        name, default = parameter.findtext("declname"), text_of(parameter.find("defval"))
        if name and not text.endswith(" " + name):
            text += " " + name
        parameters.append(text + (f" = {default}" if default else ""))
    head = f"template <{', '.join(parameters)}>" if parameters else "template <>"
    condition = text_of(element.find("requiresclause")).replace(" &&(", " && (").replace(">&&...", "> && ...")
    condition = re.sub(r"(?<=\w) <(?=\w+[,>])", "<", condition)  # where a macro names the concept
    return tidy(head) + "\n" + (f"requires {condition}\n" if condition else "")


def tidy_function(text):
    """The same for a type or parameters, where & and * belong to types."""
    text = re.sub(r" ([&*]+)\s*(\.\.\.)\s*(?=\w)", r"\1\2 ", tidy(text))
    return re.sub(r"(?<=[\w>]) ([&*]+)(?=$|[,)>]|\.\.\.)", r"\1", text)


def function_signature(member):
    arguments = CALLER.sub("", member.findtext("argsstring") or "").replace("(, ", "(")
    arguments = re.sub(r"\s*=\s*default$", "", arguments)
    kind = text_of(member.find("type"))
    kind = re.sub(r"^friend ", "", kind)
    before = "static " if member.get("static") == "yes" and "static" not in kind else ""
    before += "explicit " if member.get("explicit") == "yes" and "explicit" not in kind else ""
    head = tidy_function(before + kind) + (" " if before + kind and not before.endswith(" ") or kind else "")
    head += member.findtext("name").replace(" *", "*")
    arguments = tidy_function(arguments).replace(")const", ") const")
    line = head + arguments
    if len(line) > WIDTH:
        line = wrapped(head, arguments)
    return template_of(member) + line + ";"


def wrapped(head, arguments):
    """One parameter a line."""
    depth, end = 0, 0
    for end, letter in enumerate(arguments):
        depth += (letter in "(<{") - (letter in ")}" or (letter == ">" and arguments[end - 1] != "-"))
        if depth == 0:
            break
    inside, after = arguments[1:end], arguments[end + 1:]
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(inside):
        depth += (letter in "(<{") - (letter in ")}>")
        if letter == "," and depth == 0:
            parts.append(inside[begin:at].strip())
            begin = at + 1
    parts.append(inside[begin:].strip())
    return head + "(\n    " + ",\n    ".join(parts) + ")" + after


def signature_of(member):
    kind = member.get("kind")
    name = member.findtext("name")
    if kind == "define":
        parameters = [text_of(each.find("defname")) for each in member.findall("param")]
        return f"#define {name}" + (f"({', '.join(parameters)})" if any(parameters) else "")
    if kind == "typedef":
        return template_of(member) + f"using {name} = {tidy(text_of(member.find('type')))};"
    if kind == "variable":
        value = text_of(member.find("initializer"))
        value = value if len(value) < 40 and not UNDOCUMENTED_INTERNAL_NAMES.search(value) else ""
        return template_of(member) + tidy(f"{text_of(member.find('type'))} {name}") + (" " + value if value else "") + ";"
    if kind == "enum":
        strong = "enum class" if member.get("strong") == "yes" else "enum"
        return f"{strong} {name};"
    return function_signature(member)


def has_comment(element):
    return any(text_of(element.find(tag)) for tag in ("briefdescription", "detaileddescription"))


def symbol_of(element, scope):
    place = element.find("location")
    name = element.findtext("name")
    return Symbol(id=element.get("id"), kind=element.get("kind"), name=f"{scope}::{name}" if scope else name,
                  line=int(place.get("line")), end=max(int(place.get("line")), int(place.get("bodyend", -1))),
                  signature=signature_of(element), is_documented=has_comment(element), element=element)


def is_public(member):
    if member.get("prot") != "public" or member.findtext("name") in INTERNAL_MEMBERS:
        return False
    name, kind = member.findtext("name"), member.get("kind")
    arguments = member.findtext("argsstring") or ""
    if kind == "friend" and not arguments or arguments.replace(" ", "").endswith("=delete"):
        return False
    if kind == "define":
        return has_comment(member) and PUBLIC_MACROS.fullmatch(name)
    if has_comment(member):
        return not INTERNAL_NAMES.search(text_of(member.find("type")) + CALLER.sub("", arguments))
    if name.startswith("~") or name == "operator B" or arguments.replace(" ", "").endswith("=default") and "operator==" not in name:
        return False
    return not UNDOCUMENTED_INTERNAL_NAMES.search(text_of(member.find("type")) + arguments)


class Library:
    """The symbols of each header."""

    def __init__(self, folder, include):
        self.include = include
        self.by_header = {}
        self.anchors = {}  # Doxygen's id -> anchor
        self.names = {}  # name without balm:: -> anchor
        self.pages = {}  # anchor -> document
        for file in sorted(folder.glob("*.xml")):
            for compound in ElementTree.parse(file).getroot().findall("compounddef"):
                self.read(compound)
        for header in self.by_header:
            self.by_header[header] = self.grouped(header, self.by_header[header])

    def read(self, compound):
        kind, name = compound.get("kind"), compound.findtext("compoundname")
        scope = re.sub(r"^balm(::|$)", "", name)
        members = [member for member in compound.iter("memberdef") if is_public(member) and not self.refuses(member)]
        if kind in ("class", "struct", "union"):
            if ">::" in name:
                return  # part of a specialisation
            place = compound.find("location")
            short = re.sub(r"< (.*) >", r"<\1>", scope)
            head = template_of(compound) + ("struct " if kind == "struct" else "class ") + short
            bases = [tidy(each.text) for each in compound.findall("basecompoundref")
                     if each.get("prot") == "public" and not UNDOCUMENTED_INTERNAL_NAMES.search(each.text)]
            symbol = Symbol(id=compound.get("id"), kind=kind, name=short, line=int(place.get("line")), end=10**9,
                            signature=head + (" : public " + ", ".join(bases) if bases else "") + ";",
                            is_documented=has_comment(compound), element=compound)
            symbol.members = [symbol_of(member, short) for member in members]
            self.add(place.get("file"), symbol)
        elif kind == "concept":
            place = compound.find("location")
            text = text_of(compound.find("initializer")).replace(f"concept {name}", f"\nconcept {scope.split('::')[-1]}")
            text = text.replace("template<", "template <").replace(" \n", "\n").replace("balm::", "") + ";"
            if len(text) > WIDTH:
                text = re.sub(r" ?(\|\||&&) ?(?=[a-z])", r" \1\n    ", text)
            symbol = Symbol(id=compound.get("id"), kind=kind, name=scope, line=int(place.get("line")), end=int(place.get("line")),
                            signature=text, is_documented=has_comment(compound), element=compound)
            self.add(place.get("file"), symbol)
        elif kind in ("namespace", "file"):
            for member in members:
                if (kind == "file") == (member.get("kind") == "define"):
                    self.add(member.find("location").get("file"), symbol_of(member, scope if kind == "namespace" else ""))

    def lines(self, header):
        return (self.include.parent / header).read_text().splitlines()

    def refuses(self, member):
        place = member.find("location")
        begin, end = int(place.get("line")), int(place.get("bodyend", -1))
        return end > 0 and any(REFUSAL in line for line in self.lines(place.get("file"))[begin - 1:end]) and \
            not any("if constexpr" in line for line in self.lines(place.get("file"))[begin - 1:end])

    def add(self, file, symbol):
        self.by_header.setdefault(file.removeprefix("balm/"), []).append(symbol)

    def grouped(self, header, symbols):
        """In the order of the header; what has no comment belongs to what it follows without an empty line."""
        lines = self.lines("balm/" + header)
        groups = []
        for symbol in sorted(symbols, key=lambda each: each.line):
            if symbol.members:
                symbol.members = self.grouped(header, symbol.members)
            last = groups[-1].symbols[-1] if groups else None
            gap = lines[last.end:symbol.line - 1] if last else [""]
            is_class = symbol.kind in ("class", "struct", "union")
            follows = last and (last.line == symbol.line or all(line.strip() for line in gap))
            same_macro = last and last.line == symbol.line
            shares = same_macro or not symbol.is_documented and follows
            if shares and not is_class and last.kind not in ("class", "struct", "union"):
                groups[-1].symbols.append(symbol)
            else:
                groups.append(Group([symbol]))
        for group in groups:
            for symbol in group.symbols:
                self.anchors[symbol.id] = group.anchor
                self.names.setdefault(re.sub(r"<.*", "", symbol.name), group.anchor)
        return groups

    def introduction(self, header):
        """The comment that begins the header."""
        lines = []
        for line in self.lines("balm/" + header)[1:]:
            if not line.startswith("//"):
                break
            lines.append(line[2:].removeprefix(" "))
        found = []
        for part in re.split(r"\n\n+", "\n".join(lines)):
            if part.startswith("    "):
                found.append(code("\n".join(line.removeprefix("    ") for line in part.splitlines())))
            elif part:
                paragraph = nodes.paragraph()
                for number, piece in enumerate(part.replace("\n", " ").split("`")):
                    paragraph += nodes.literal("", piece) if number % 2 else nodes.Text(piece)
                found.append(paragraph)
        return found

    def target(self, name):
        """The anchor of a name as users write it: balm::sort, balm::dsl::Int, balm::context."""
        name = name.removeprefix("balm::")
        return self.names.get(name) or (self.names.get("dsl::" + name) if name[:1].isupper() else None)


class Comment:
    """A Doxygen comment as docutils nodes."""

    def __init__(self, library):
        self.library = library

    def blocks(self, element):
        found = []
        for tag in ("briefdescription", "detaileddescription"):
            part = element.find(tag)
            for paragraph in part if part is not None else ():
                found += self.paragraph(paragraph)
        return found

    def paragraph(self, element):
        """A paragraph may hold blocks, which split it."""
        found, current = [], nodes.paragraph()

        def text(piece):
            if piece:
                current.append(nodes.Text(re.sub(r"\s+", " ", piece)))

        def close():
            nonlocal current
            if current.astext().strip():
                found.append(current)
            current = nodes.paragraph()

        text(element.text)
        for child in element:
            if child.tag == "verbatim":
                close()
                found.append(code(textwrap.dedent(child.text.strip("\n"))))
            elif child.tag in ("itemizedlist", "orderedlist"):
                close()
                items = nodes.bullet_list() if child.tag == "itemizedlist" else nodes.enumerated_list()
                for item in child.findall("listitem"):
                    items.append(nodes.list_item("", *[each for part in item for each in self.paragraph(part)]))
                found.append(items)
            elif child.tag == "computeroutput":
                current.append(nodes.literal("", "".join(child.itertext())))
            elif child.tag == "ref":
                name = "".join(child.itertext())
                anchor = self.library.anchors.get(child.get("refid"))
                current.append(nodes.literal("", name, balm_anchor=anchor) if anchor else nodes.Text(name))
            elif child.tag in ("emphasis", "bold"):
                current.append(nodes.emphasis("", "".join(child.itertext())))
            elif child.tag in ("ndash", "mdash"):
                current.append(nodes.Text("–"))
            elif child.tag == "linebreak":
                pass
            else:
                raise ValueError(f"reference: no rule for Doxygen's <{child.tag}>: {text_of(element)}")
            text(child.tail)
        close()
        return found


def code(text, language="cpp"):
    return nodes.literal_block(text, text, language=language)


class Reference(SphinxDirective):
    has_content = True

    def run(self):
        library = self.env.balm_library
        found = []
        for header in (line.strip() for line in self.content if line.strip()):
            groups = library.by_header.get(header)
            if not groups:
                raise self.error(f"{header} declares nothing public")
            self.env.balm_headers.add(header)
            section = nodes.section(ids=["header-" + re.sub(r"\W", "-", header)], names=[])
            section += nodes.title("", f"<balm/{header}>")
            section += library.introduction(header)
            last = None
            for group in groups:
                if last and last.names == group.names and not group.first.members:
                    section[-1] += self.body(group)  # an overload with a comment of its own
                else:
                    section += self.entry(group)
                last = group
            found.append(section)
        return found

    def entry(self, group):
        section = nodes.section(ids=[group.anchor], names=[], classes=["symbol"])
        if group.anchor in self.env.balm_library.pages:  # overloads in several places of the headers
            section["ids"] = [f"{group.anchor}-{self.env.new_serialno('overloads')}"]
        else:
            self.env.balm_library.pages[group.anchor] = self.env.docname
        section += nodes.title("", group.title)
        section += self.index(group, section["ids"][0])
        section += self.body(group)
        return section

    def index(self, group, anchor):
        return addnodes.index(entries=[("single", name, anchor, "", None) for name in group.names if "operator" not in name])

    def body(self, group):
        found = [code("\n".join(self.signatures(group)))]
        found += Comment(self.env.balm_library).blocks(group.first.element)
        found += self.inherited(group.first)
        for symbol in group.symbols:
            values = symbol.element.findall("enumvalue")
            if values:
                found.append(self.values(values))
        for member in group.first.members:
            holder = nodes.container(ids=[], classes=["member"])
            if member.anchor not in self.env.balm_library.pages:
                holder["ids"] = [member.anchor]
                self.env.balm_library.pages[member.anchor] = self.env.docname
                found.append(self.index(member, member.anchor))
            holder += self.body(member)
            found.append(holder)
        return found

    def inherited(self, symbol):
        """The names of what bases declare, with links."""
        anchors = {member.findtext("name"): self.env.balm_library.anchors.get(member.get("refid"))
                   for member in symbol.element.findall("listofallmembers/member")
                   if not member.get("refid").startswith(symbol.id + "_1")}
        links = [nodes.literal("", name, balm_anchor=anchor) for name, anchor in anchors.items()
                 if anchor and not re.search(r"-(\w+)-\1$", anchor)]  # constructors
        if not links:
            return []
        paragraph = nodes.paragraph("", "Inherited: ")
        for link in links:
            paragraph += [nodes.Text(", "), link] if len(paragraph) > 1 else link
        return [paragraph]

    @staticmethod
    def signatures(group):
        """Operators that a macro declares differ in their symbols alone: one is shown, and the symbols of the others."""
        shapes = {}
        for symbol in group.symbols:
            shape = re.sub(r"operator[^\w\s(]+", "operator@", symbol.signature)
            shapes.setdefault(shape, []).append(symbol)
        found = []
        for shape, symbols in shapes.items():
            others = [symbol.name.split("operator")[-1] for symbol in symbols[1:]]
            likewise = f"  // also {' '.join(dict.fromkeys(others))}" if "operator@" in shape and others else ""
            found.append(symbols[0].signature + likewise)
        return found

    def values(self, values):
        items = nodes.definition_list()
        for value in values:
            item = nodes.definition_list_item()
            item += nodes.term("", "", nodes.literal("", value.findtext("name")))
            item += nodes.definition("", *Comment(self.env.balm_library).blocks(value))
            items.append(item)
        return items


class BuiltIns(SphinxDirective):
    """The operators and functions of builtins.def, with the types that they take and their accuracy."""
    ROW = re.compile(r"^BALM_BUILTIN\((\w+), (\d), (\w+),.*?(-?[\d.]+)\)", re.MULTILINE | re.DOTALL)

    def run(self):
        text = (self.env.balm_library.include / "builtins.def").read_text()
        rules = {name: " ".join(rest.split()) for name, rest in
                 re.findall(r"^//     (\w+) +(\S.*(?:\n//      {15,}\S.*)*)", text, re.MULTILINE)}
        rows = [(name, arity, rules.get(rule, rule), "" if float(ulp) < 0 else ulp)
                for name, arity, rule, ulp in self.ROW.findall(text)]
        if len(rows) < 50:
            raise self.error("builtins.def is not as expected")
        return [table(("function", "operands", "types", "accuracy (ULP)"), rows, (20, 10, 50, 20))]


def table(head, rows, widths):
    def row(cells, literal_first):
        made = nodes.row()
        for number, cell in enumerate(cells):
            inline = nodes.literal("", cell) if literal_first and number == 0 else nodes.Text(cell)
            made += nodes.entry("", nodes.paragraph("", "", inline))
        return made

    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", row(head, False))
    group += nodes.tbody("", *[row(cells, True) for cells in rows])
    return nodes.table("", group)


NAME = re.compile(r"^(balm::[\w:]+)")


def link_names(app, doctree, docname):
    """Names in backquotes, in comments and on pages, as links into the reference."""
    library = app.env.balm_library
    for literal in list(doctree.findall(nodes.literal)):
        anchor = literal.get("balm_anchor")
        name = NAME.match(literal.astext())
        if not anchor and name:
            anchor = library.target(name[1])
        page = library.pages.get(anchor)
        inside = literal.parent
        while inside is not None and not isinstance(inside, (nodes.reference, nodes.title)):
            inside = inside.parent
        if not page or inside is not None:
            continue
        uri = app.builder.get_relative_uri(docname, page) + "#" + anchor
        link = nodes.reference("", "", literal.deepcopy(), internal=True, refuri=uri)
        literal.parent.replace(literal, link)


def force_highlighting(_, doctree):
    """Snippets have `…` in place of code; they are highlighted all the same."""
    for block in doctree.findall(nodes.literal_block):
        block["force"] = True


def read_library(app):
    root = pathlib.Path(app.config.balm_root)
    app.env.balm_library = Library(pathlib.Path(app.config.balm_xml), root / "include/balm")
    app.env.balm_headers = set()


def check_headers(app, env):
    """Every header is on a page of the reference, or known to be internal."""
    public = {header for header, groups in env.balm_library.by_header.items() if groups}
    for header in sorted(public - env.balm_headers - INTERNAL_HEADERS):
        logger.warning("include/balm/%s is on no page of docs/reference", header)
    for header in sorted(INTERNAL_HEADERS & env.balm_headers):
        logger.warning("include/balm/%s is on a page of docs/reference, but listed as internal", header)


def setup(app):
    app.add_config_value("balm_root", "", "env")
    app.add_config_value("balm_xml", "", "env")
    app.add_directive("reference", Reference)
    app.add_directive("built-ins", BuiltIns)
    app.connect("builder-inited", read_library)
    app.connect("env-check-consistency", check_headers)
    app.connect("doctree-read", force_highlighting)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
