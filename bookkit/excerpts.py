"""Figures of chapters on other pages: a Sphinx extension with one directive.

``{excerpt} PART/NAME FIGURE`` shows the figure of that name from the chapter's stored notebook,
with its alternative text, above a caption given as the directive's content. So a page that tells
the book's story draws nothing of its own, and its figures are those of the last run.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookkit.chapters import Chapter


@dataclass(frozen=True)
class Figure:
    """A figure in a stored notebook: the bytes of its SVG or else PNG, and its alternative text."""

    data: bytes
    suffix: str
    alt: str


def find_figure(notebook: Path, name: str) -> Figure:
    """The figure of a name in an executed notebook.

    Args:
        notebook: Path of the ``.ipynb``.
        name: As in the cell's metadata, such as ``fig-brittle``.

    Raises:
        ValueError: no figure of this name, with those there are.
        FileNotFoundError: no such notebook.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    found = {}
    for cell in cells:
        look = cell["metadata"].get("mystnb", {})
        for output in cell.get("outputs", []):
            forms = {k: "".join(v) for k, v in output.get("data", {}).items() if "image/" in k}
            if forms and "figure" in look:
                svg, png = forms.get("image/svg+xml"), forms.get("image/png", "")
                data = (svg.encode(), "svg") if svg else (base64.b64decode(png), "png")
                alt = look.get("image", {}).get("alt", "")
                found[look["figure"].get("name")] = Figure(*data, alt)
    if name not in found:
        raise ValueError(f"{notebook.name} has no figure {name!r}; it has: {', '.join(found)}")
    return found[name]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    from sphinx.util.docutils import SphinxDirective

    class Excerpt(SphinxDirective):
        """Write the figure beside the build, and show it as an ordinary one."""

        required_arguments = 2
        has_content = True

        def run(self) -> list[Any]:
            chapter, name = self.arguments
            notebook = Chapter(chapter).notebook
            try:
                figure = find_figure(notebook, name)
            except (ValueError, FileNotFoundError) as error:
                raise self.error(f"excerpt of {chapter}: {error}") from error
            self.env.note_dependency(str(notebook))
            image = Path(self.env.app.outdir).parent / "excerpts" / f"{name}.{figure.suffix}"
            image.parent.mkdir(parents=True, exist_ok=True)
            if not image.exists() or image.read_bytes() != figure.data:
                image.write_bytes(figure.data)  # a newer file would make all its pages stale
            place = Path(os.path.relpath(image, self.env.srcdir)).as_posix()
            caption = " ".join(line.strip() for line in self.content)
            fence = f":::{{figure}} /{place}\n:alt: {figure.alt}\n:class: excerpt\n\n{caption}\n:::"
            return self.parse_text_to_nodes(fence)

    app.add_directive("excerpt", Excerpt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
