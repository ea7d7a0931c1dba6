"""Figures on a phone: a Sphinx extension that shows their panels one under another.

``figures.show`` keeps, in the metadata of an output, the narrow form of a figure whose panels stand
in a row. Here it becomes the picture of windows up to 600 px, and "left" and "right" of the caption
are "above" and "below" there. Paper and a window without media queries have the wide form.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

from bookkit.chapters import every_chapter

_FIGURE = re.compile(r"<figure.*?</figure>", re.DOTALL)
_IMAGE = re.compile(r'<img[^>]*src="([^"]*_images/)([^"/]+)\.png"[^>]*>')
_SIDE = re.compile(r"(?<!on the )\b([Ll]eft|[Rr]ight)\b(?=[:,)]| \\\()")
_UNDER = {"Left": "Above", "left": "above", "Right": "Below", "right": "below"}


@functools.cache
def narrow_figures() -> dict[str, bytes]:
    """The narrow PNG by the name that the wide one has among the pages' images, without its ending.

    That is the SHA-256 of the wide one on the chapter's own page, and the figure's name elsewhere.
    """
    found = {}
    for chapter in every_chapter():
        if not chapter.notebook.exists():
            continue
        for cell in json.loads(chapter.notebook.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                narrow = output.get("metadata", {}).get("narrow")
                if narrow:
                    wide = base64.b64decode("".join(output["data"]["image/png"]))
                    name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name", "")
                    for key in (hashlib.sha256(wide).hexdigest(), name):
                        found[key] = base64.b64decode(narrow)
    return found


def with_narrow_figures(body: str, found: dict[str, bytes], images: Path) -> str:
    """The page's body, its figures as wide as the window allows.

    Args:
        body: HTML.
        found: As of :func:`narrow_figures`.
        images: Folder of the built images, where the narrow ones are written.
    """

    def picture(match: re.Match[str]) -> str:
        folder, name = match[1], match[2]
        if name not in found:
            return match[0]
        file = images / f"narrow-{name}.png"
        if not file.exists() or file.read_bytes() != found[name]:
            images.mkdir(parents=True, exist_ok=True)
            file.write_bytes(found[name])
        width, height = struct.unpack(">II", found[name][16:24])
        source = (
            f'<source media="(max-width: 600px)" srcset="{folder}{file.name}" '
            f'width="{width}" height="{height}">'
        )
        return f"<picture>{source}{match[0]}</picture>"

    def figure(match: re.Match[str]) -> str:
        text = _IMAGE.sub(picture, match[0])
        if text == match[0]:
            return text
        above, begin, caption = text.partition("<figcaption")
        return above + begin + _SIDE.sub(_both, caption)

    return _FIGURE.sub(figure, body)


def _both(side: re.Match[str]) -> str:
    wide, narrow = side[1], _UNDER[side[1]]
    return f'<span class="when-wide">{wide}</span><span class="when-narrow">{narrow}</span>'


def offer_narrow_figures(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Apply :func:`with_narrow_figures` to the page's body."""
    if "<figure" in context.get("body", ""):
        images = Path(app.outdir) / "_images"
        context["body"] = with_narrow_figures(context["body"], narrow_figures(), images)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, behind what links the figures; a change here writes every page again."""
    app.add_config_value("narrow_made_by", Path(__file__).read_text(encoding="utf-8"), "html")
    app.connect("builder-inited", lambda app: narrow_figures.cache_clear())
    app.connect("html-page-context", offer_narrow_figures, priority=905)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
