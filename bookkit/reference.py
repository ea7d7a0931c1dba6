"""The reference of the code, and the links to it from the code of every page: a Sphinx extension.

``{room} NAME ...`` shows the public names of those rooms of ``helpers``, module by module: each
with its signature as it is written, and its docstring. ``{floors}`` lists the modules by floor,
each with its first line. A name is entered as a Python object, such as ``helpers.draws.f64``, so
that other pages and projects can link to it. In the code of a page, what is imported from
``helpers`` becomes a link to its entry, once a cell.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from bookkit import sources
from bookkit.chapters import ROOT
from bookkit.sources import Entry, Module

_CODE = re.compile(
    r'(<div class="highlight-(?:ipython3|ipython|python)[^"]*"><div class="highlight"><pre>)'
    r"(.*?)(</pre>)",
    re.S,
)
_TOKEN = re.compile(r"<span[^>]*>[^<]+</span>|<[^>]*>|[^<]+")
_TAG = re.compile(r"<[^>]*>")
Place = tuple[int, int]


def imported_names(code: list[str]) -> dict[str, str]:
    """What pieces of code import from ``helpers``, by the names that they use for it.

    A name that is also bound otherwise, such as an argument or a variable, is left out.

    Args:
        code: Sources of the cells of one page, in order.

    Returns:
        Local name to full name, such as ``{"f64": "helpers.draws.f64"}``.
    """
    found: dict[str, str] = {}
    bound: set[str] = set()
    for node in (node for piece in code for node in ast.walk(_tree(piece))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "helpers":
            for alias in node.names:
                if full := sources.documented(f"{node.module}.{alias.name}"):
                    found[alias.asname or alias.name] = full
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
    return {name: full for name, full in found.items() if name not in bound}


def uses(piece: str, names: dict[str, str]) -> dict[Place, tuple[str, str]]:
    """Where a piece of code uses names of ``helpers``, each at its first place.

    Args:
        piece: Source of a cell.
        names: As of :func:`imported_names`.

    Returns:
        Line from 1 and column from 0, to the text there and the full name that it stands for.
    """
    lines = piece.splitlines()
    met: dict[str, tuple[Place, str]] = {}

    def meet(line: int, column: int, text: str, full: str | None) -> None:
        characters = len(lines[line - 1].encode()[:column].decode())
        if full and (full not in met or (line, characters) < met[full][0]):
            met[full] = (line, characters), text

    for node in ast.walk(_tree(piece)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            meet(node.lineno, node.col_offset, node.id, names.get(node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            full = sources.documented(f"{names.get(node.value.id)}.{node.attr}")
            column = (node.end_col_offset or 0) - len(node.attr.encode())
            meet(node.end_lineno or node.lineno, column, node.attr, full)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = sources.documented(node.module)
            meet(node.lineno, node.col_offset + len("from "), node.module, module)
            for alias in node.names:
                full = names.get(alias.asname or alias.name)
                meet(alias.lineno, alias.col_offset, alias.name, full)
    return {place: (text, full) for full, (place, text) in met.items()}


def _tree(piece: str) -> ast.Module:
    try:
        return ast.parse(piece)
    except SyntaxError:  # of a shell, or cut short
        return ast.Module([], [])


def linked(body: str, address: Callable[[str], str | None]) -> str:
    """A page whose code leads to the reference.

    Args:
        body: HTML of the page. The words of its code stay as they are.
        address: From a full name to where it is documented, or None.
    """
    pieces = [html.unescape(_TAG.sub("", found[2])) for found in _CODE.finditer(body)]
    names = imported_names(pieces)
    if not names:
        return body
    left = iter(pieces)
    return _CODE.sub(lambda m: f"{m[1]}{_linked(m[2], next(left), names, address)}{m[3]}", body)


def _linked(
    code: str, piece: str, names: dict[str, str], address: Callable[[str], str | None]
) -> str:
    places = uses(piece, names)
    made, line, column = [], 1, 0
    for token in _TOKEN.findall(code):
        text = html.unescape(_TAG.sub("", token))
        wanted, full = places.get((line, column), ("", ""))
        href = address(full) if text and text == wanted else None
        if href:
            token = f'<a class="code-link" href="{html.escape(href)}" title="{full}">{token}</a>'
        made.append(token)
        line += text.count("\n")
        column = len(text) - text.rindex("\n") - 1 if "\n" in text else column + len(text)
    return "".join(made)


def link_the_code(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Apply :func:`linked` to the page's body."""
    known = app.env.get_domain("py").objects

    def address(full: str) -> str | None:
        if full not in known:
            return None
        page = app.builder.get_relative_uri(pagename, known[full].docname)
        return f"{page}#{known[full].node_id}"

    if doctree is not None and "body" in context:
        context["body"] = linked(context["body"], address)


def setup(app: Any) -> dict[str, bool]:
    """Register the directives with Sphinx, and link the code of its pages."""
    from docutils import nodes
    from docutils.parsers.rst import Parser
    from docutils.utils import new_document
    from sphinx import addnodes
    from sphinx.domains.python import PythonDomain
    from sphinx.util.docutils import SphinxDirective

    class Names(PythonDomain):
        """Python objects that the search names after the book's own pages."""

        def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
            for *found, _ in super().get_objects():
                yield (*found, 2)  # type: ignore[misc]

    def python() -> PythonDomain:
        return cast(PythonDomain, app.env.get_domain("py"))

    class Floors(SphinxDirective):
        """The modules of the package by floor."""

        def run(self) -> list[Any]:
            self.env.note_dependency(str(ROOT / "helpers" / "__init__.py"))
            lines: list[str] = []
            for floor, modules in sources.floors().items():
                lines += ["", f"**{floor}**", ""]
                for name, words in modules:
                    words = sources.as_rst(words, sources.read(name))
                    lines += [f":py:mod:`helpers.{name}`", f"    {words}"]
            return parsed(self, "\n".join(lines), "the map of the package")

    class Room(SphinxDirective):
        """The public names of rooms, module by module."""

        required_arguments = 1
        final_argument_whitespace = True

        def run(self) -> list[Any]:
            try:
                modules = [
                    sources.read(name)
                    for room in self.arguments[0].split()
                    for name in sources.modules_of(room)
                ]
            except ValueError as error:
                raise self.error(f"room: {error}") from error
            self.env.note_dependency(__file__)
            self.env.note_dependency(str(Path(__file__).with_name("sources.py")))
            made: list[Any] = []
            for module in modules:
                self.env.note_dependency(str(module.path))
                made += self.shown(module)
            return made

        def shown(self, module: Module) -> list[Any]:
            """A module as a section; what a room says of itself stands above its sections."""
            full = f"helpers.{module.name}"
            line = module.doc.partition("\n")[0]
            python().note_module(full, full, line, "", False)
            python().note_object(full, "module", full, location=self.get_location())
            file = module.path.relative_to(ROOT).as_posix()
            words = [f"``{file}``", "", sources.as_rst(module.doc, module)]
            if module.passed_on:
                links = [f":py:obj:`~{full}`" for full in module.passed_on.values()]
                words += ["", f"From ``{full}`` itself: {', '.join(links)}."]
            if len(module.entries) > 3:
                words += ["", ", ".join(f":py:obj:`~{entry.full}`" for entry in module.entries)]
            inner = parsed(self, "\n".join(words), full)
            for entry in module.entries:
                inner.append(self.described(entry, module))
            if module.path.name == "__init__.py" and not module.entries:
                inner[0]["ids"].append(full)
                return inner
            title = nodes.title("", "", nodes.literal("", module.name))
            return [nodes.section("", title, *inner, ids=[full], names=[full])]

        def described(self, entry: Entry, module: Module) -> Any:
            """An entry, and those of a class's members within it."""
            kind = entry.kind
            python().note_object(entry.full, kind, entry.full, location=self.get_location())
            sign = addnodes.desc_signature(ids=[entry.full], classes=["sig", "sig-object", "py"])
            if kind in ("class", "exception", "property"):
                sign += addnodes.desc_annotation("", f"{kind} ")
            sign += addnodes.desc_name("", entry.name.rpartition(".")[2])
            sign += nodes.inline("", entry.signature, classes=["sig-rest"])
            owner = entry.name.partition(".")[0] if entry.members or "." in entry.name else ""
            text = sources.as_rst(entry.doc, module, owner)
            content = addnodes.desc_content("", *parsed(self, text, entry.full))
            for member in entry.members:
                content += self.described(member, module)
            look = {"domain": "py", "objtype": kind, "classes": ["py", kind]}
            return addnodes.desc("", sign, content, **look)

    def parsed(directive: SphinxDirective, text: str, place: str) -> list[Any]:
        """Nodes of a reStructuredText."""
        document = new_document(place, directive.state.document.settings)
        Parser().parse(text, document)
        return list(document.children)

    app.add_domain(Names, override=True)
    app.add_directive("room", Room)
    app.add_directive("floors", Floors)
    app.add_config_value("reference_made_by", Path(__file__).read_text(encoding="utf-8"), "html")
    app.connect("html-page-context", link_the_code, priority=905)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
