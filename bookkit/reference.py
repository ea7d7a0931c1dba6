"""The reference of the code: a Sphinx extension.

``{modules} NAME ...`` documents packages and modules by Sphinx's autodoc, a section for each public
module. ``{packages} NAME ...`` lists the modules of packages, each with its first line. A chapter
ends with links to what it imports from the packages of this checkout.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path
from typing import Any

from bookkit.chapters import ROOT
from bookkit.definitions import PACKAGES

_PATH = re.compile(rf"\w*Path\('{re.escape(str(ROOT))}/?([^']*)'\)")
_LITERAL = re.compile(r"(``.+?``|(?::[\w:]+:)?`[^`]+`)")
LISTED = "modules listed"
"""In a page's metadata: what its directives list, by their arguments."""
_AUTOMODULE = """.. automodule:: {}
   :members:
   :ignore-module-all:"""


def modules_of(name: str) -> list[str]:
    """A module, or the public modules of a package, its own first.

    Raises:
        ValueError: there is none of that name.

    >>> modules_of("helpers.cube")
    ['helpers.cube', 'helpers.cube.fourier', 'helpers.cube.functions']
    """
    path = ROOT.joinpath(*name.split("."))
    if path.with_suffix(".py").is_file():
        return [name]
    if not (path / "__init__.py").is_file():
        raise ValueError(f"no module {name!r} in {ROOT.name}")
    inner = sorted(file.stem for file in path.glob("[a-z]*.py"))
    return [name, *(f"{name}.{stem}" for stem in inner)]


def modules_in(names: str) -> list[str]:
    """The modules of several names, with blanks between; see :func:`modules_of`."""
    return [module for name in names.split() for module in modules_of(name)]


def outdated(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> set[str]:
    """Pages that list a package which has other modules now than when they were read."""
    return {
        page
        for page, about in env.metadata.items()
        if any(_modules_or_none(n) != old for n, old in about.get(LISTED, {}).items())
    }


def _modules_or_none(names: str) -> list[str] | None:
    try:
        return modules_in(names)
    except ValueError:
        return None


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


def imported(source: str) -> dict[str, str]:
    r"""What a source imports from the packages: its short name to the full one, in order.

    >>> imported("import torch\nfrom helpers.cube import spectrum")
    {'spectrum': 'helpers.cube.fourier.spectrum'}
    """
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                if full := documented(f"{node.module}.{alias.name}"):
                    found[alias.name] = full
    return found


def add_code_links(app: Any, doctree: Any) -> None:
    """End a chapter with links to the entries of what it imports."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    source = Path(app.srcdir, f"{app.env.docname}.py")
    names = imported(source.read_text(encoding="utf-8")) if source.exists() else {}
    if not names:
        return
    last = nodes.paragraph("", "Code used here: ", classes=["code-used"])
    for i, (name, full) in enumerate(names.items()):
        about = {"reftarget": full, "refdoc": app.env.docname, "refexplicit": True}
        link = pending_xref("", nodes.literal("", name), refdomain="py", reftype="obj", **about)
        last += [nodes.Text(", " if i else ""), link]
    next(iter(doctree.findall(nodes.section))).append(last)


def hide_folder(app: Any, doctree: Any) -> None:
    """Name paths that are values of the code from the folder of the book, wherever it was built."""
    from docutils import nodes

    for text in list(doctree.findall(nodes.Text)):
        if str(ROOT) in text:
            text.parent.replace(text, nodes.Text(_PATH.sub(r"Path('\1')", text)))


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


def escape_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
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


def resolve_reexport(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """A reference to a name by a package that passes it on, resolved to its own module.

    A constant without a docstring has no entry; its module has.
    """
    from sphinx.util.nodes import make_refnode

    full = documented(node.get("reftarget", "")) if node.get("refdomain") == "py" else None
    known = env.get_domain("py").objects
    found = known.get(full)
    if found is None and full and node["reftype"] == "obj":
        found = known.get(full.rpartition(".")[0])
    if found is None:
        return None
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, full)


def skip_foreign_members(
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
                names = modules_in(self.arguments[0])
            except ValueError as error:
                raise self.error(f"{self.name}: {error}") from error
            self.env.metadata[self.env.docname].setdefault(LISTED, {})[self.arguments[0]] = names
            return names

    class Packages(Modules):
        """The modules of packages, each with its first line."""

        def run(self) -> list[Any]:
            lines = [f":py:mod:`{name}`\n    {first_line(name)}" for name in self.listed()]
            text = "\n".join(lines)
            return self.parse_text_to_nodes(f"```{{eval-rst}}\n{text}\n```")

    app.add_directive("modules", Modules)
    app.add_directive("packages", Packages)
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-read", add_code_links)
    app.connect("doctree-read", hide_folder)
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("missing-reference", resolve_reexport)
    app.connect("autodoc-skip-member", skip_foreign_members)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
