"""The map of a part: a Sphinx extension with one directive.

``{map} PART`` lists the chapters of a part in reading order, each with its verdicts, and draws an
arc from every chapter to those that need it. The arcs are the line **Needs** of each chapter, so a
map cannot be out of date.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookkit.chapters import REGISTER, ROOT, Chapter, every_chapter
from bookkit.scoreboard import colour, load_rows

_TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)
_LABEL = re.compile(r"^# \(([\w-]+)\)=$", re.MULTILINE)
_NEEDS = re.compile(r"\*\*Needs\*\*(.*?)\*\*R", re.DOTALL)
_REFERENCE = re.compile(r"\{ref\}`(?:[^`<]*<)?([\w-]+)>?`")
WIDTH, ROW = 70.0, 40.0


@dataclass(frozen=True)
class Stop:
    """A row of the map.

    Attributes:
        name: Of the chapter. title: Of its page. inside: Whether it is of the part itself.
        needs: Names of the chapters that it builds on.
    """

    name: str
    title: str
    inside: bool
    needs: tuple[str, ...]


def reading_order(toc: Path = ROOT / "_toc.yml") -> list[str]:
    """The names of all chapters as the table of contents has them."""
    listed = re.findall(r"file: book/(\w+/\w+)", toc.read_text(encoding="utf-8"))
    known = {c.name for c in every_chapter()}
    return [name for name in listed if name in known]


def stops(part: str) -> list[Stop]:
    """The chapters of a part in reading order, after those of other parts that it builds on.

    Raises:
        ValueError: a part without chapters, with those there are.
    """
    order = reading_order()
    parts = list(dict.fromkeys(name.split("/")[0] for name in order))
    if part not in parts:
        raise ValueError(f"no part {part!r}; there are: {', '.join(parts)}")
    by_label = {label: c.name for c in every_chapter() for label in _LABEL.findall(c.text)}

    def needs(name: str) -> tuple[str, ...]:
        found = _NEEDS.search(Chapter(name).text)
        labels = _REFERENCE.findall(found[1]) if found else []
        return tuple(dict.fromkeys(by_label[x] for x in labels if x in by_label))

    own = [name for name in order if name.split("/")[0] == part]
    wanted = {n for name in own for n in needs(name)} - set(own)
    before = [name for name in order if name in wanted]
    return [
        *(Stop(n, _title(n), False, ()) for n in before),
        *(Stop(n, _title(n), True, needs(n)) for n in own),
    ]


def arcs(listed: Sequence[Stop]) -> str:
    """An SVG with a dot for each row and an arc for each need, ``ROW`` units high a row."""
    place = {stop.name: i for i, stop in enumerate(listed)}
    height = ROW * len(listed)
    drawn = []
    for stop in listed:
        for need in stop.needs:
            a, b = sorted(((place[need] + 0.5) * ROW, (place[stop.name] + 0.5) * ROW))
            reach = 8 + ((b - a) / height) ** 0.6 * 1.2 * WIDTH  # a curve goes 3/4 of it
            x = WIDTH - 5
            drawn.append(
                f'<path d="M{x:g},{a:g} C{x - reach:.1f},{a:g} {x - reach:.1f},{b:g} {x:g},{b:g}"/>'
            )
    dots = []
    for i, stop in enumerate(listed):
        look = "inside" if stop.inside else "outside"
        place_of = f'cx="{WIDTH - 5:g}" cy="{(i + 0.5) * ROW:g}"'
        dots.append(f'<circle {place_of} r="3.5" class="{look}"/>')
    box = f'viewBox="0 0 {WIDTH:g} {height:g}" preserveAspectRatio="none"'
    return f'<svg {box} aria-hidden="true">{"".join(drawn)}{"".join(dots)}</svg>'


def verdicts_of(name: str) -> list[str]:
    """What is known now of each statement that a chapter owes."""
    rows = [r for section in load_rows().values() for r in section]
    return [s.now for r in rows for s in r.statements if s.entry.chapter == name]


def chips(verdicts: Sequence[str]) -> str:
    """Each verdict once, with how often, in its colour."""
    return " ".join(
        f'<span class="verdict verdict-{colour(v)}">{f"{n} × " if n > 1 else ""}{v}</span>'
        for v, n in Counter(verdicts).most_common()
    )


def setup(app: Any) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Map(SphinxDirective):
        """A list of links beside the arcs."""

        required_arguments = 1

        def run(self) -> list[Any]:
            try:
                listed = stops(self.arguments[0])
            except ValueError as error:
                raise self.error(f"map: {error}") from error
            for path in (REGISTER, ROOT / "_toc.yml"):
                self.env.note_dependency(str(path))
            for stop in listed:
                self.env.note_dependency(str(Chapter(stop.name).notebook))
            uri = self.env.app.builder.get_relative_uri
            rows = []
            for stop in listed:
                address = uri(self.env.docname, f"book/{stop.name}")
                look = "inside" if stop.inside else "outside"
                found = chips(verdicts_of(stop.name)) if stop.inside else ""
                rows.append(
                    f'<li class="{look}">'
                    f'<a href="{address}">{stop.title}</a><span class="chips">{found}</span></li>'
                )
            page = (
                f'<nav class="part-map" aria-label="Map of the chapters" '
                f'style="--rows: {len(listed)}">{arcs(listed)}<ol>{"".join(rows)}</ol></nav>'
            )
            return [nodes.raw("", page, format="html")]

    app.add_directive("map", Map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _title(name: str) -> str:
    found = _TITLE.search(Chapter(name).text)
    return html.escape(re.sub(r"\$([^$]*)\$", r"\1", found[1])) if found else name
