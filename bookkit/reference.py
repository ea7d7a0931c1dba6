"""The reference of the code, and the links to it from the code of every page: a Sphinx extension.

``{modules} NAME ...`` documents packages and modules by Sphinx's autodoc, a section for each public
module. ``{packages} NAME ...`` lists the modules of packages, each with its first line. In the code
of a page, what is imported from the packages of this checkout becomes a link to its entry, once a
cell.
"""

from __future__ import annotations

import ast
import functools
import html
import importlib
import re
from collections.abc import Callable
from typing import Any

from bookkit.chapters import ROOT
from bookkit.definitions import PACKAGES

_CODE = re.compile(
    r'(<div class="highlight-(?:ipython3|ipython|python)[^"]*"><div class="highlight"><pre>)'
    r"(.*?)(</pre>)",
    re.S,
)
_TOKEN = re.compile(r"<span[^>]*>[^<]+</span>|<[^>]*>|[^<]+")
_TAG = re.compile(r"<[^>]*>")
_LITERAL = re.compile(r"(``.+?``|(?::[\w:]+:)?`[^`]+`)")
_AUTOMODULE = """.. automodule:: {}
   :members:
   :ignore-module-all:"""
Place = tuple[int, int]


def modules_of(name: str) -> list[str]:
    """A module, or the public modules of a package, its own first.

    Raises:
        ValueError: there is none of that name.

    >>> modules_of("helpers.cube")
    ['helpers.cube', 'helpers.cube.fourier', 'helpers.cube.functions', 'helpers.cube.testers']
    """
    path = ROOT.joinpath(*name.split("."))
    if path.with_suffix(".py").is_file():
        return [name]
    if not (path / "__init__.py").is_file():
        raise ValueError(f"no module {name!r} in {ROOT.name}")
    inner = sorted(file.stem for file in path.glob("[a-z]*.py"))
    return [name, *(f"{name}.{stem}" for stem in inner)]


@functools.cache
def documented(name: str) -> str | None:
    """The name by which what an import names is documented: that of its own module.

    >>> documented("helpers.cube.spectrum"), documented("helpers.cube"), documented("math.pi")
    ('helpers.cube.fourier.spectrum', 'helpers.cube', None)
    """
    if name.partition(".")[0] not in PACKAGES:
        return None
    if _is_module(name):
        return name
    module, _, last = name.rpartition(".")
    if not _is_module(module):  # of a class
        owner = documented(module)
        return f"{owner}.{last}" if owner else None
    found = getattr(importlib.import_module(module), last, None)
    own = getattr(found, "__module__", module) or module
    return f"{own if own.partition('.')[0] in PACKAGES else module}.{last}"


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imported_names(code: list[str]) -> dict[str, str]:
    """What pieces of code import from the packages, by the names that they use for it.

    A name that is also bound otherwise, such as an argument or a variable, is left out.

    Args:
        code: Sources of the cells of one page, in order.

    Returns:
        Local name to full name, such as ``{"f64": "helpers.draws.f64"}``.
    """
    found: dict[str, str] = {}
    bound: set[str] = set()
    for node in (node for piece in code for node in ast.walk(_tree(piece))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                if full := documented(f"{node.module}.{alias.name}"):
                    found[alias.asname or alias.name] = full
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
    return {name: full for name, full in found.items() if name not in bound}


def uses(piece: str, names: dict[str, str]) -> dict[Place, tuple[str, str]]:
    """Where a piece of code uses names of the packages, each at its first place.

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
            full = documented(f"{names.get(node.value.id)}.{node.attr}")
            column = (node.end_col_offset or 0) - len(node.attr.encode())
            meet(node.end_lineno or node.lineno, column, node.attr, full)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = documented(node.module)
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


def section(name: str) -> list[str]:
    """A module's section, in reStructuredText."""
    line = f"``{name}``"
    return [line, "-" * len(line), "", *_AUTOMODULE.format(name).splitlines(), ""]


def first_line(name: str) -> str:
    """What a module is, by the first line of its docstring."""
    path = ROOT.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return doc.partition("\n")[0]


def keep_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """In a docstring a bar is an absolute value, not a substitution of reStructuredText.

    In literals, roles, examples and formulas it stays as it is.
    """
    formula = -1  # the indent of a formula's directive, while its lines last
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= formula:
            formula = -1
        if line.lstrip().startswith(".. math::"):
            formula = indent
        if formula < 0 and not line.lstrip().startswith((">>>", "...")):
            parts = _LITERAL.split(line)
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[i] = "".join(parts)


def find_where_it_is_from(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """A reference to a name by a package that passes it on, resolved to its own module."""
    from sphinx.util.nodes import make_refnode

    full = documented(node.get("reftarget", "")) if node.get("refdomain") == "py" else None
    found = env.get_domain("py").objects.get(full)
    if found is None:
        return None
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, full)


def leave_out_what_is_not_ours(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Whether a member is another package's, wrapped."""
    own = getattr(obj, "__module__", None) if callable(obj) else None
    return True if own and own.partition(".")[0] not in PACKAGES else None


def setup(app: Any) -> dict[str, bool]:
    """Register the directives with Sphinx, and link the code of its pages."""
    from sphinx.util.docutils import SphinxDirective

    class Modules(SphinxDirective):
        """Packages and modules, documented by autodoc."""

        required_arguments = 1
        final_argument_whitespace = True

        def run(self) -> list[Any]:
            names = self.listed()
            text = "\n".join(line for name in names for line in section(name))
            return self.parse_text_to_nodes(
                f"```{{eval-rst}}\n{text}\n```", allow_section_headings=True
            )

        def listed(self) -> list[str]:
            """The modules that its argument names."""
            try:
                return [m for name in self.arguments[0].split() for m in modules_of(name)]
            except ValueError as error:
                raise self.error(f"{self.name}: {error}") from error

    class Packages(Modules):
        """The modules of packages, each with its first line."""

        def run(self) -> list[Any]:
            lines = [f":py:mod:`{name}`\n    {first_line(name)}" for name in self.listed()]
            text = "\n".join(lines)
            return self.parse_text_to_nodes(f"```{{eval-rst}}\n{text}\n```")

    app.add_directive("modules", Modules)
    app.add_directive("packages", Packages)
    app.connect("autodoc-process-docstring", keep_bars)
    app.connect("missing-reference", find_where_it_is_from)
    app.connect("autodoc-skip-member", leave_out_what_is_not_ours)
    app.connect("html-page-context", link_the_code, priority=905)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
