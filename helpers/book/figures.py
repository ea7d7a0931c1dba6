"""One look for every figure: opaque, legible in the dark, told apart without colour.

Captions and alternative texts stand in the cell's metadata, where the page builder reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
WIDTH = 6.8  # inches: the text column of the page
GREY = "#6b6b6b"

_RC: dict[Any, Any] = {
    "figure.dpi": 160,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "axes.prop_cycle": cycler(color=COLOURS, marker=MARKERS, linestyle=DASHES),
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "font.size": 9.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "svg.hashsalt": "book",
}


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
    plt.rcParams.update(_RC)
    return plt.subplots(rows, columns, figsize=(width, height), **options)


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


def show() -> None:
    """End a figure's cell: the figure is its only output, also where ``;`` does not silence."""
    plt.show()
