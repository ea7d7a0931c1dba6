"""Chapters for JupyterLab: a Sphinx extension that writes each notebook in plain Markdown.

A chapter's Markdown has directives and roles, which only this build understands. The download menu
of its page therefore offers a notebook that is made from the page: the same code cells with their
outputs, and between them the page's words, with numbers filled in, boxes as headings and
quotations, and references as links. Links lead to the sources of other pages, or to the pages
themselves where ``html_baseurl`` says where they are.
"""

from __future__ import annotations

import itertools
import json
import posixpath
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from docutils import nodes

FOLDER = "_notebooks"
_SPECIAL = re.compile(r"([\\`*_\[\]<$])")


class Plain:
    """The words of a page in plain Markdown.

    Attributes:
        env: Sphinx's environment. page: Name of the page.
        base: Where the book is published; empty if nowhere.
    """

    def __init__(self, env: Any, page: str, base: str = "") -> None:
        self.env, self.page, self.base = env, page, base

    def blocks(self, node: Any, level: int = 0) -> Iterator[str | int]:
        """The blocks of a node in order; a cell of code is its number in the notebook."""
        if "cell_index" in node:
            yield node["cell_index"]
            for figure in node.findall(nodes.figure):
                for caption in figure.findall(nodes.caption):
                    yield f"**Figure {self.number('figure', figure)}.** {self.line(caption)}"
        elif isinstance(node, nodes.title):
            yield f"{'#' * level} {self.line(node)}"
        elif isinstance(node, nodes.Admonition) or type(node).__name__ == "dropdown_main":
            kind, title = node.get("realtype") or node.get("type", ""), self.line(node[0])
            if number := self.number(node.get("countertype") or kind, node):
                title = f"{kind.title()} {number}{title}"
            rest = (block for child in node[1:] for block in self.blocks(child, level + 1))
            for is_cell, run in itertools.groupby((f"**{title}**", *rest), _is_cell):
                found = list(run)
                yield from found if is_cell else [_quoted(found)]
        elif isinstance(node, nodes.math_block):
            tag = rf" \tag{{{node['number']}}}" if node.get("number") else ""
            inner = " ".join(node.astext().split())
            if r"\\" in inner and not node.get("nowrap"):
                inner = rf"\begin{{split}}{inner}\end{{split}}"
            yield f"$${inner}{tag}$$"
        elif isinstance(node, nodes.literal_block):
            yield f"```{node.get('language', '')}\n{node.astext()}\n```"
        elif isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
            numbered = isinstance(node, nodes.enumerated_list)
            signs = [f"{i}. " if numbered else "* " for i in range(1, len(node) + 1)]
            yield "\n".join(map(self.item, signs, node))
        elif isinstance(node, (nodes.definition_list_item, nodes.citation)):
            yield self.item(
                "* ", nodes.list_item("", nodes.strong("", node[0].astext()), *node[1:])
            )
        elif isinstance(node, nodes.table):
            yield self.table(node)
        elif isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Invisible):
            if line := self.line(node).strip():
                yield line
        else:
            below = level + any(isinstance(child, nodes.title) for child in node.children)
            for child in node.children:
                yield from self.blocks(child, below)

    def line(self, node: Any) -> str:
        """What stands in one line."""
        inner = "".join(map(self.line, node.children))
        match node:
            case nodes.Text():
                return _SPECIAL.sub(r"\\\1", node.astext().replace("\n", " "))
            case nodes.math():
                return f"${' '.join(node.astext().split())}$"
            case nodes.literal():
                return f"`{node.astext()}`"
            case nodes.emphasis():
                return f"*{inner}*"
            case nodes.strong():
                return f"**{inner}**"
            case nodes.reference(attributes={"refuri": uri}) if not uri.startswith("#"):
                return f"[{inner}]({self.address(uri)})"
            case nodes.Element(attributes={"reftype": "download", "reftarget": file}):
                return f"[{inner}]({posixpath.relpath(file.lstrip('/'), self.page + '/..')})"
            case nodes.raw() | nodes.Invisible():
                return ""
        return inner

    def item(self, sign: str, node: Any) -> str:
        """An item of a list."""
        text = "\n\n".join(str(b) for child in node for b in self.blocks(child, 6))
        return sign + textwrap.indent(text, " " * len(sign)).lstrip()

    def table(self, node: Any) -> str:
        """A table, whose formulas have no bar that would end a cell."""
        rows = []
        for row in node.findall(nodes.row):
            cells = (" ".join(map(self.line, entry)) for entry in row)
            rows.append([c.replace(r"\|", r"\Vert ").replace("|", r"\vert ") for c in cells])
        lines = [f"| {' | '.join(cells)} |" for cells in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])

    def number(self, kind: str, node: Any) -> str:
        """The number of a figure or a box, such as ``2.3.1``."""
        found = self.env.toc_fignumbers.get(self.page, {}).get(kind, {})
        return ".".join(str(n) for id in node["ids"] for n in found.get(id, ()))

    def address(self, uri: str) -> str:
        """Where a link leads."""
        if ":" in uri or self.base:
            return urljoin(f"{self.base}/{self.page}.html", uri)
        page, _, _ = uri.partition("#")
        name, _ = posixpath.splitext(page)
        there = posixpath.normpath(posixpath.join(posixpath.dirname(self.page), name))
        known = there in self.env.found_docs
        return name + Path(self.env.doc2path(there)).suffix if known else page


def _is_cell(block: str | int) -> bool:
    return isinstance(block, int)


def _quoted(blocks: Iterable[str | int]) -> str:
    lines = "\n\n".join(map(str, blocks)).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def plain_notebook(notebook: dict[str, Any], page: Plain, doctree: Any) -> dict[str, Any]:
    """A stored notebook with the words of its resolved page in place of its own Markdown."""
    cells: list[dict[str, Any]] = []
    for is_cell, run in itertools.groupby(page.blocks(doctree), _is_cell):
        if is_cell:
            for cell in (notebook["cells"][index] for index in run):
                if {"hide-input", "hide-cell"} & set(cell["metadata"].get("tags", ())):
                    cell["metadata"]["jupyter"] = {"source_hidden": True}
                cells.append(cell)
        else:
            words = {"cell_type": "markdown", "id": f"words-{len(cells)}", "metadata": {}}
            cells.append(words | {"source": "\n\n".join(map(str, run))})
    kept = {k: v for k, v in notebook["metadata"].items() if k != "jupytext"}  # it is no pair
    return notebook | {"cells": cells, "metadata": kept}


def add_notebook_download(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Write a chapter's notebook, and let the download menu lead to it."""
    source = Path(app.srcdir, f"{pagename}.ipynb")
    if doctree is None or not source.exists():
        return
    page = Plain(app.env, pagename, (app.config.html_baseurl or "").rstrip("/"))
    made = plain_notebook(json.loads(source.read_text(encoding="utf-8")), page, doctree)
    target = Path(app.outdir, FOLDER, f"{pagename}.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for group in context["header_buttons"]:
        for button in group.get("buttons", ()):
            if button.get("label") == "download-source-button":
                button["url"] = context["pathto"](f"{FOLDER}/{pagename}.ipynb", 1)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", add_notebook_download, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
