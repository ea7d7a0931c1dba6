"""The numbers that a figure shows, and the files of a figure to download: a Sphinx extension.

:func:`as_csv` reads them from the drawn axes, so that no chapter lists them twice. The page offers
them below each caption, beside the figure as SVG.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.category import StrCategoryLocator
from matplotlib.collections import FillBetweenPolyCollection, LineCollection, PathCollection
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.ticker import FixedLocator

MOST = 20_000
"""Rows of a CSV; what has more is cut, and its last line says so."""
OFFERED = {"image/svg+xml": ("svg", "figure as SVG"), "text/csv": ("csv", "its numbers as CSV")}
_HEAD = ("panel", "kind", "series", "x", "y", "low", "high", "value")


def as_csv(figure: Any, most: int = MOST) -> str:
    """The numbers drawn in a figure, one mark a row, with six significant digits.

    ``low`` and ``high`` are the ends of a band, of an error bar or of a bar that does not begin at
    0, ``value`` is what a colour shows. Where one of x and y is missing, a line runs along it.
    Masked numbers are left out, and so are contours, arrows and what is drawn by hand.
    """
    rows = [
        (panel, kind, series, *map(_cell, numbers))
        for i, ax in enumerate(a for a in figure.axes if a.get_label() != "<colorbar>")
        for panel in [_title(ax) or f"panel {i + 1}"]
        for kind, series, numbers in _marks(ax)
    ]
    used = [k for k in range(len(_HEAD)) if k < 5 or any(row[k] for row in rows)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([row[k] for k in used] for row in [_HEAD, *rows[:most]])
    if len(rows) > most:
        writer.writerow([f"These are the first {most:,} of {len(rows):,} rows."])
    return text.getvalue()


def _title(ax: Any) -> str:
    titles = (ax.get_title(loc=side) for side in ("left", "center", "right"))
    return " ".join(" ".join(titles).split())


def _cell(number: Any) -> str:
    return number if isinstance(number, str) else f"{number:.6g}"


def _marks(ax: Any) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Kind, series and x, y, low, high, value of each mark; a missing one is an empty text."""
    done: set[Any] = set()
    for box in ax.containers:
        series = _name(box)
        if isinstance(box, ErrorbarContainer):
            data, caps, bars = box.lines
            done.update((data, *caps, *bars))
            for along, ends in zip("xy"[not box.has_xerr : 1 + box.has_yerr], bars, strict=True):
                segments: Any = ends.get_segments()
                points: Any = segments if data is None else data.get_xydata()
                for (low, high), point in zip(segments, points, strict=True):
                    x, y = (low + high) / 2 if data is None else point
                    k = "xy".index(along)
                    yield f"error bar of {along}", series, (x, y, low[k], high[k], "")
        elif isinstance(box, BarContainer):
            axis, k = (ax.yaxis, 1) if box.orientation == "horizontal" else (ax.xaxis, 0)
            for (x0, y0), (x1, y1) in (bar.get_bbox().get_points() for bar in box):
                base, end = (x0, x1) if k else (y0, y1)
                place = _label(axis, (y0 + y1 if k else x0 + x1) / 2)
                spread = (base, end) if base else ("", "")
                yield "bar", series, (*((end, place) if k else (place, end)), *spread, "")
    for line in (found for found in ax.lines if found not in done):
        by_x, by_y = line.get_transform().contains_branch_seperately(ax.transData)
        for x, y in _finite(line.get_xdata(), line.get_ydata())[: None if by_x and by_y else 1]:
            yield "line", _name(line), (x if by_x else "", y if by_y else "", "", "", "")
    for marks in (found for found in ax.collections if found not in done):
        if isinstance(marks, FillBetweenPolyCollection):
            for corners in (np.asarray(path.vertices) for path in marks.get_paths()):
                n = (len(corners) - 3) // 2  # an end, there, an end, back, and closed
                there, back = corners[1 : n + 1], corners[2 * n + 1 : n + 1 : -1]
                for (x, low), (_, high) in zip(there, back, strict=True):
                    yield "band", _name(marks), (x, "", low, high, "")
        elif isinstance(marks, LineCollection):
            for x, y in np.concatenate(marks.get_segments()):
                yield "segment", _name(marks), (x, y, "", "", "")
        elif isinstance(marks, PathCollection):
            places, shown = np.asarray(marks.get_offsets()), marks.get_array()
            values: Any = itertools.repeat("") if shown is None else shown
            for (x, y), value in zip(places, values, strict=shown is not None):
                yield "point", _name(marks), (x, y, "", "", value)
    for image in ax.images:
        shown, (left, right, bottom, top) = image.get_array(), image.get_extent()
        first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
        for (i, j), value in np.ma.ndenumerate(shown) if shown.ndim == 2 else ():
            x = left + (j + 0.5) * (right - left) / shown.shape[1]
            y = first + (i + 0.5) * (last - first) / shown.shape[0]
            yield "cell", "", (_label(ax.xaxis, x), _label(ax.yaxis, y), "", "", value)


def _name(artist: Any) -> str:
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else " ".join(label.split())


def _finite(x: Any, y: Any) -> list[tuple[Any, Any]]:
    missing = np.ma.getmaskarray(np.ma.asarray(x)) | np.ma.getmaskarray(np.ma.asarray(y))
    return [pair for pair, gone in zip(zip(x, y, strict=True), missing, strict=True) if not gone]


def _label(axis: Any, at: float) -> Any:
    """The word at the tick nearest to a bar or a cell, or its place if no words were given."""
    ticks = axis.get_majorticklocs()
    if len(ticks) and isinstance(axis.get_major_locator(), StrCategoryLocator | FixedLocator):
        nearest = int(np.abs(np.asarray(ticks) - at).argmin())
        if abs(ticks[nearest] - at) < 0.5:
            words = str(axis.get_major_formatter().format_ticks(ticks)[nearest])
            return " ".join(words.split()) or at
    return at


def setup(app: Any) -> dict[str, bool]:
    """Offer the files below the captions, by Sphinx's own downloads."""
    from docutils import nodes
    from sphinx.addnodes import download_reference
    from sphinx.transforms import SphinxTransform

    class FilesOfFigures(SphinxTransform):
        """Write them beside the build, named as the figure."""

        default_priority = 500

        def apply(self, **_: Any) -> None:
            cells = [n for n in self.document.findall(nodes.container) if "cell_index" in n]
            source = Path(self.env.doc2path(self.env.docname))
            if not cells or source.suffix != ".ipynb":
                return
            stored = json.loads(source.read_text(encoding="utf-8"))
            for cell in cells:
                drawn = [f for f in cell.findall(nodes.figure) if f.next_node(nodes.image)]
                outputs = stored["cells"][cell["cell_index"]]["outputs"]
                data = [d for o in outputs if "image/png" in (d := o.get("data", {}))]
                for figure, found in zip(drawn, data, strict=False):
                    self.offer(figure, found)

        def offer(self, figure: Any, data: dict[str, Any]) -> None:
            links: list[Any] = []
            for kind in (k for k in OFFERED if k in data):
                suffix, words = OFFERED[kind]
                name = (figure["names"] or figure["ids"] or ["figure"])[0]
                folder = Path(self.env.app.outdir).parent / "figures" / self.env.docname
                folder.mkdir(parents=True, exist_ok=True)
                file = folder / f"{name}.{suffix}"
                content = "".join(data[kind]).encode()
                if not file.exists() or file.read_bytes() != content:
                    file.write_bytes(content)  # a newer file would make its page stale
                links.append(nodes.Text(" · ") if links else nodes.Text(""))
                place = f"/{Path(os.path.relpath(file, self.env.srcdir)).as_posix()}"
                links.append(
                    download_reference("", words, reftarget=place, refdoc=self.env.docname)
                )
            if links:
                figure += nodes.legend(
                    "", nodes.paragraph("", "", *links, classes=["figure-files"])
                )

    app.add_transform(FilesOfFigures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
