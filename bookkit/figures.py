"""One style for every figure: opaque, legible in the dark, readable without colour.

Captions and alternative texts stand in the cell's metadata, where the page builder reads them.
What is drawn is finite: axes refuse a number that is not, unless :func:`gaps` says that a gap is
meant, and :func:`show` refuses one in words.
"""

from __future__ import annotations

import base64
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.projections import register_projection
from matplotlib.text import Text

from bookkit.figure_data import as_csv
from bookkit.output import require_finite

STYLE = Path(__file__).with_name("book.mplstyle")
"""Colours, sizes and fonts. A change of it makes no chapter stale: it shows in what runs next."""
_SERIES = rc_params_from_file(STYLE, use_default_template=False)["axes.prop_cycle"].by_key()
COLOURS = tuple(_SERIES["color"])
MARKERS = tuple(_SERIES["marker"])
DASHES = tuple(_SERIES["linestyle"])
WIDTH = 6.8  # inches: the text column of the page
GREY = "#6b6b6b"
LARGEST = 400_000  # letters of an SVG; a figure with a larger one is stored as PNG alone
COARSE = 100  # dots per inch of a PNG beside an SVG


def new(
    rows: int = 1, columns: int = 1, height: float = 2.9, width: float = WIDTH, **options: Any
) -> tuple[Figure, Any]:
    """A figure in the book's style and its axes, as ``plt.subplots`` returns them.

    Args:
        rows: Rows of axes.
        columns: Columns of axes.
        height: Inches, of the whole figure.
        width: Inches; at most :data:`WIDTH`, so that text keeps its size on the page.
        options: Passed to ``plt.subplots``.
    """
    plt.style.use(STYLE)
    made_of = {"projection": FiniteAxes.name} | options.pop("subplot_kw", {})
    return plt.subplots(rows, columns, figsize=(width, height), subplot_kw=made_of, **options)


class FiniteAxes(Axes):
    """Axes that refuse data which are not finite, by the name of what was called.

    Matplotlib leaves such a point out in silence, or the whole of a level line.
    """

    name = "finite"


def _refusing(method: str) -> Callable[..., Any]:
    plain = getattr(Axes, method)

    @functools.wraps(plain)
    def drawn(self: FiniteAxes, *data: Any, **options: Any) -> Any:
        for given in (*data, *options.values()):
            _require_finite_data(method, given)
        return plain(self, *data, **options)

    return drawn


for _method in (
    *("plot", "step", "scatter", "errorbar", "fill_between", "fill_betweenx", "stairs", "stem"),
    *("bar", "barh", "hist", "boxplot", "violinplot", "eventplot", "stackplot", "hlines", "vlines"),
    *("axhline", "axvline", "axline", "axhspan", "axvspan", "imshow", "pcolormesh", "matshow"),
    *("contour", "contourf", "quiver", "text", "annotate", "set_xticks", "set_yticks"),
):
    setattr(FiniteAxes, _method, _refusing(_method))
register_projection(FiniteAxes)


def _require_finite_data(method: str, given: object) -> None:
    """Refuse numbers that are not finite and not masked; words and looks pass."""
    if given is None or isinstance(given, str):
        return
    try:
        numbers: np.ma.MaskedArray[Any, Any] = np.ma.asarray(given, dtype=float)
    except (TypeError, ValueError, RuntimeError):
        return
    bad = np.asarray(numbers.data)[~np.isfinite(numbers.data) & ~np.ma.getmaskarray(numbers)]
    if bad.size:
        raise ValueError(
            f"{method} was given {bad.flat[0]}, {bad.size} of {numbers.size} numbers not finite; "
            "leave them out, or say by figures.gaps(...) that missing ones leave a gap"
        )


def gaps(values: Any) -> np.ma.MaskedArray[Any, Any]:
    """Values with a gap wherever one is NaN: what a curve or a map shows as missing on purpose."""
    array = np.asarray(values, dtype=float)
    return np.ma.MaskedArray(array, mask=np.isnan(array))


def matrix(ax: Axes, values: torch.Tensor, title: str, labels: tuple[str, str] = ("", "")) -> None:
    """Draw a weight matrix: red above zero, blue below, white at zero, each on its own scale.

    Args:
        ax: Where.
        values: Shape ``(rows, columns)``; a vector is drawn as one row.
        title: Name of the matrix; its largest absolute entry is written under it.
        labels: What columns and rows are.
    """
    array = np.atleast_2d(values.detach().double().cpu().numpy())
    top = max(float(np.abs(array).max()), 1e-12)
    ax.imshow(array, cmap="RdBu_r", norm=TwoSlopeNorm(0, -top, top), interpolation="nearest")
    ax.set_title(f"{title}\nlargest |entry| {top:.3g}", fontsize=8.5)
    ax.set(xlabel=labels[0], ylabel=labels[1], xticks=[], yticks=[])
    ax.grid(visible=False)
    for side in ax.spines.values():
        side.set(visible=True, color=GREY, linewidth=0.6)


def interval(
    ax: Axes, x: Sequence[float], low: Sequence[float], high: Sequence[float], **options: Any
) -> None:
    """Shade the interval from ``low`` to ``high`` behind a curve."""
    look: dict[str, Any] = {"alpha": 0.18, "linewidth": 0, "color": COLOURS[0]}
    ax.fill_between(x, low, high, **look | options)


def series_style(i: int, **options: Any) -> dict[str, Any]:
    """Colour, marker and dash of series i, told apart without colour.

    Raises:
        ValueError: more series than there are looks; use panels, or end labels on grey lines.

    >>> series_style(1, linewidth=2)["marker"]
    's'
    """
    if not 0 <= i < len(COLOURS):
        raise ValueError(f"there are looks for {len(COLOURS)} series, 0 to 6; got series {i}")
    return {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": DASHES[i]} | options


def marker_style(i: int, **options: Any) -> dict[str, Any]:
    """The look of series i without its line."""
    return series_style(i, linestyle="none", **options)


def line_style(i: int, **options: Any) -> dict[str, Any]:
    """The look of series i without its marks."""
    return series_style(i, marker="", **options)


def ticks(ax: Axes, values: Sequence[float], labels: Sequence[str] | None = None) -> None:
    """Ticks of the horizontal axis at these values and no others, on any scale."""
    ax.set_xticks(list(values), list(labels or map(str, values)))
    ax.minorticks_off()


def level(ax: Axes, value: float = 1.0, label: str = "") -> None:
    """A grey line at the value that a quantity is compared with, and its name at the right end."""
    ax.axhline(value, color=GREY, linewidth=1, linestyle="-", marker="", zorder=1)
    if label:
        where = (1.0, value)
        to = ax.get_yaxis_transform()
        ax.annotate(label, where, xycoords=to, ha="right", va="bottom", fontsize=8, color=GREY)


def legible(colour: str) -> tuple[float, ...]:
    """A colour, darkened until text in it has the contrast of 4.5 to white that WCAG 2 asks for.

    Args:
        colour: As matplotlib takes it.

    Returns:
        Red, green and blue from 0 to 1.

    >>> legible("black"), [round(v, 2) for v in legible("#E69F00")]
    ((0.0, 0.0, 0.0), [0.61, 0.42, 0.0])
    """
    red, green, blue = to_rgb(colour)
    for percent in range(100, -1, -1):
        rgb = tuple(percent / 100 * v for v in (red, green, blue))
        light = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
        if 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05) >= 4.5:
            break
    return rgb


def end_labels(ax: Axes, labels: Mapping[str, tuple[float, float]], least: float = 11.0) -> None:
    """Names at the right ends of curves, in place of a legend; moved apart where they would touch.

    Args:
        ax: Where.
        labels: Name to the last point (x, y) of its curve, in the order of the looks.
        least: Least distance of two names, in points.
    """
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
    height = {name: float(ax.transData.transform(end)[1]) for name, end in labels.items()}
    per_point = ax.figure.dpi / 72
    lowest = -math.inf
    for name in sorted(height, key=lambda k: height[k]):
        lowest = max(height[name], lowest + least * per_point)
        shift = (lowest - height[name]) / per_point
        i = list(labels).index(name)
        ax.annotate(
            name,
            labels[name],
            xytext=(6, shift),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=legible(COLOURS[i % len(COLOURS)]),
            annotation_clip=False,
        )


def ratio_map(
    ax: Axes,
    frame: pd.DataFrame,
    title: str,
    labels: tuple[str, str],
    *,
    framed_above: float | None = None,
    span: float = 1.5,
    form: str = ".2f",
) -> None:
    """Draw a table of ratios as a map: white at 1, red above, blue below, in log10 of the ratio.

    Args:
        ax: Where.
        frame: Ratios above 0; row labels are drawn downwards.
        title: Of the panel.
        labels: Of the horizontal and the vertical axis.
        framed_above: Cells above this ratio are framed, so that colour is not needed.
        span: Powers of ten at which the colours end.
        form: Format of the numbers in the cells.

    Raises:
        ValueError: a ratio that is not above 0, or none at all.
    """
    values = frame.to_numpy(dtype=float)
    if not values.size or not (values > 0).all():
        raise ValueError(f"a map of ratios takes numbers above 0, got {values.min(initial=0):g}")
    ax.imshow(np.log10(values), cmap="RdBu_r", vmin=-span, vmax=span, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        dark = abs(np.log10(value)) > 0.7 * span
        colour = "white" if dark else "black"
        ax.text(j, i, format(value, form), ha="center", va="center", fontsize=8.5, color=colour)
        if framed_above is not None and value > framed_above:
            at = (j - 0.47, i - 0.47)
            ax.add_patch(Rectangle(at, 0.94, 0.94, fill=False, linewidth=2))
    ax.set_xticks(range(values.shape[1]), list(map(str, frame.columns)))
    ax.set_yticks(range(values.shape[0]), list(map(str, frame.index)))
    ax.set(title=title, xlabel=labels[0], ylabel=labels[1])
    ax.grid(visible=False)


def show() -> None:
    """End a figure's cell: the figure is its only output, also where ``;`` does not silence.

    It is stored as SVG, its numbers as CSV, and as a coarser PNG too: JupyterLab shows no SVG of a
    notebook that it was not told to trust, and a downloaded one is not.

    Raises:
        ValueError: a number that is not finite stands in a title, a label or another text.
    """
    from IPython import get_ipython
    from IPython.core.pylabtools import print_figure
    from IPython.display import display

    figure = plt.gcf()
    for text in figure.findobj(Text):
        words = text.get_text()  # type: ignore[attr-defined]
        require_finite(words, "a text of the figure", "leave it out, or write what is meant")
    if get_ipython() is None:  # a plain run
        plt.show()
        return

    svg = print_figure(figure, "svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = svg[svg.index("<svg") :]  # without its address of a document type
    forms = {"text/plain": repr(figure), "text/csv": as_csv(figure)}
    if len(svg) <= LARGEST:
        forms["image/svg+xml"] = svg
    png = print_figure(figure, dpi=COARSE if "image/svg+xml" in forms else figure.dpi)
    display(forms | {"image/png": base64.b64encode(png).decode()}, raw=True)
    plt.close(figure)
