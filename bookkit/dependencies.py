"""What rests on what: a Sphinx extension that draws the results of a paper and what they use.

``{dependencies} PART`` draws a graph from the fields ``rests_on`` and ``implies`` of the register:
a node for each result that has either, in the colour of its verdict and linked to its row on the
scoreboard, and an arrow from what is used to what uses it. Below it a table says of each result
that is not right, or whose proof is not, which others use it, those that are not right either
apart. The layout has a column for each step of the longest way from a result that uses nothing.
"""

from __future__ import annotations

import graphlib
import html
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bookkit.chapters import REGISTER, every_chapter
from bookkit.register import full_refs
from bookkit.scoreboard import Row, anchor, badge, board, colour, load_rows

FAILED = ("false", "restored form fails", "misprint", "proof gap")
COLUMN, LINE, WIDTH, HEIGHT = 123, 42, 104, 34
"""Distances between columns and between lines, and the size of a node, in pixels."""
LETTERS = 18
"""Of a line in a node, which has two."""
_SWEEPS = 8


@dataclass(frozen=True)
class Edge:
    """An arrow: ``result`` uses ``used``, or follows from it as stated."""

    used: str
    result: str
    implied: bool = False


def edges(rows: Iterable[Row]) -> list[Edge]:
    """The arrows among some rows and their parts; those that lead elsewhere are left out."""
    entries = {r.entry.id: r.entry for row in rows for r in (row, *row.parts)}
    found = []
    for id, entry in entries.items():
        found += [Edge(used, id) for used in entry.rests_on if used in entries]
        found += [Edge(id, result, True) for result in entry.implies if result in entries]
    return found


def users(arrows: Sequence[Edge], id: str) -> list[str]:
    """All that use a result, directly or through others, the nearest first."""
    after = defaultdict(list)
    for edge in arrows:
        after[edge.used].append(edge.result)
    found: list[str] = []
    waiting = [id]
    while waiting:
        for result in after[waiting.pop(0)]:
            if result not in found:
                found.append(result)
                waiting.append(result)
    return found


def columns(arrows: Sequence[Edge]) -> list[list[str]]:
    """The nodes by column, such that every arrow goes to the right and few of them cross.

    In a column the nodes are ordered by the mean place of their neighbours, again and again.
    """
    before: dict[str, set[str]] = defaultdict(set)
    for edge in arrows:
        before[edge.result].add(edge.used)
    order = list(graphlib.TopologicalSorter(before).static_order())
    depth: dict[str, int] = {}
    for node in order:
        depth[node] = 1 + max((depth[b] for b in before[node]), default=-1)
    for node in reversed(order):  # what nothing precedes stands beside what it is used for
        after = [depth[e.result] for e in arrows if e.used == node]
        if not before[node] and after:
            depth[node] = min(after) - 1
    found = [
        [n for n in order if depth[n] == d] for d in range(max(depth.values(), default=-1) + 1)
    ]
    near = defaultdict(list)
    for edge in arrows:
        near[edge.used].append(edge.result)
        near[edge.result].append(edge.used)
    for _ in range(_SWEEPS):
        place = {n: (i + 0.5) / len(c) for c in found for i, n in enumerate(c)}
        for column in found:
            column.sort(key=lambda n: (sum(place[m] for m in near[n]) / len(near[n]), n))
    return found


def drawing(
    arrows: Sequence[Edge],
    rows: Mapping[str, Row],
    refs: Mapping[str, str],
    address: str,
    name: str,
) -> str:
    """The graph as SVG.

    Args:
        arrows: As :func:`edges` gives them.
        rows: By id.
        refs: What each is called, by id.
        address: Of the scoreboard, seen from the page.
        name: Unique on the page.
    """
    placed = columns(arrows)
    tall = max(map(len, placed)) * LINE
    corner = {
        node: (c * COLUMN + 4, (i + 0.5) * tall / len(column) - HEIGHT / 2)
        for c, column in enumerate(placed)
        for i, node in enumerate(column)
    }
    lines = []
    for edge in arrows:
        (x, y), (to, end) = corner[edge.used], corner[edge.result]
        x, y, end = x + WIDTH, y + HEIGHT / 2, end + HEIGHT / 2
        bend = (to - x) / 2
        look = ' class="implied"' if edge.implied else ""
        lines.append(
            f'<path{look} d="M{x:g},{y:.1f} C{x + bend:g},{y:.1f} {to - bend:g},{end:.1f} '
            f'{to - 1:g},{end:.1f}" marker-end="url(#{name}-tip)"/>'
        )
    nodes = []
    for id, (x, y) in corner.items():
        row = rows[id]
        title = html.escape(f"{refs[id]}: {row.stated} as stated; now {row.now}")
        label = textwrap.wrap(refs[id], LETTERS, break_long_words=False)
        if len(label) > 2:  # a part then goes by its own name, as far as there is room
            label = textwrap.wrap(row.entry.ref, LETTERS, max_lines=2, placeholder="…")
        top = y + HEIGHT / 2 + 4 - 6.5 * (len(label) - 1)
        words = "".join(
            f'<tspan x="{x + WIDTH / 2:g}" y="{top + 13 * i:.1f}">{html.escape(line)}</tspan>'
            for i, line in enumerate(label)
        )
        nodes.append(
            f'<a href="{address}#{anchor(id)}" class="verdict-{colour(row.stated)}">'
            f'<title>{title}</title><rect x="{x:g}" y="{y:.1f}" width="{WIDTH}" height="{HEIGHT}" '
            f'rx="6"/><text>{words}</text></a>'
        )
    wide = (len(placed) - 1) * COLUMN + WIDTH + 8
    tip = (
        f'<marker id="{name}-tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0,0 6,3 0,6z"/></marker>'
    )
    return (
        f'<div class="dependencies"><svg viewBox="0 0 {wide} {tall}" width="{wide}" '
        f'height="{tall}" style="min-width: {min(wide, 900)}px" role="group"><defs>{tip}</defs>'
        f"{''.join(lines)}{''.join(nodes)}</svg></div>"
    )


def consequences(arrows: Sequence[Edge], rows: Mapping[str, Row], refs: Mapping[str, str]) -> str:
    """Of each result that is used and not right, or not its proof: the users, in Markdown."""
    lines = [
        "| not right as stated, or its proof is not | of those that use it, not right either "
        "| the others that use it |",
        "|:--|:--|:--|",
    ]
    for id, row in rows.items():
        using = users(arrows, id) if row.stated in FAILED else []
        if using:
            failed = [u for u in using if rows[u].stated in FAILED]
            stand = [u for u in using if u not in failed]
            cells = (
                "; ".join(f"{refs[i]} {badge(rows[i].stated)}" for i in ids) or "none"
                for ids in ([id], failed, stand)
            )
            lines.append("| " + " | ".join(cells) + " |")
    if len(lines) == 2:
        return "All results of this graph that others use are right, and so are their proofs."
    return "\n".join(lines)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Dependencies(SphinxDirective):
        """The graph of a part, and what falls with what."""

        required_arguments = 1

        def run(self) -> list[Any]:
            part = self.arguments[0]
            section = {paper.key: rows for paper, rows in load_rows().items()}.get(part)
            if section is None:
                raise self.error(f"dependencies: no part {part!r}")
            for path in (REGISTER, *(c.notebook for c in every_chapter())):
                self.env.note_dependency(str(path))
            arrows = edges(section)
            rows = {r.entry.id: r for row in section for r in (row, *row.parts)}
            if not arrows:
                raise self.error(f"dependencies: no result of {part} rests on another")
            page = board(self.env.found_docs, part)
            place = self.env.app.builder.get_relative_uri(self.env.docname, page)
            refs = full_refs(REGISTER)
            graph = drawing(arrows, rows, refs, place, f"graph-{part}")
            table = self.parse_text_to_nodes(consequences(arrows, rows, refs))
            return [nodes.raw("", graph, format="html"), *table]

    app.add_directive("dependencies", Dependencies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
