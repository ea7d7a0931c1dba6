"""Figures share one look: opaque, and told apart without colour."""

import json
import re

import matplotlib
import pandas as pd
import pytest
import torch

matplotlib.use("agg")

import matplotlib.pyplot as plt

from helpers.book import figures
from helpers.book.chapters import every_chapter


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_lines_differ_in_more_than_colour():
    _, ax = figures.new()
    lines = [ax.plot([0, 1], [i, i])[0] for i in range(7)]
    looks = {(line.get_marker(), str(line._dash_pattern)) for line in lines}
    assert len(looks) == 7
    assert len(set(figures.MARKERS)) == len(figures.COLOURS) == len(figures.DASHES) == 7


@pytest.mark.parametrize("i", [-1, 7])
def test_there_is_no_look_for_an_eighth_series(i):
    with pytest.raises(ValueError, match=f"looks for 7 series, 0 to 6; got series {i}"):
        figures.look(i)


@pytest.mark.parametrize(
    ("ratios", "least"), [([], "0"), ([[2.0, 0.0]], "0"), ([[1.0], [-0.5]], "-0.5")]
)
def test_a_map_of_ratios_refuses_what_has_no_logarithm(ratios, least):
    _, ax = figures.new()
    with pytest.raises(ValueError, match=f"numbers above 0, got {least}$"):
        figures.ratio_map(ax, pd.DataFrame(ratios), "t", ("x", "y"))


def test_a_map_of_ratios_has_its_middle_at_one():
    _, ax = figures.new()
    figures.ratio_map(ax, pd.DataFrame([[1.0, 0.25]]), "t", ("x", "y"))
    assert ax.images[0].norm(ax.images[0].get_array()).tolist()[0][0] == 0.5
    assert [text.get_text() for text in ax.texts] == ["1.00", "0.25"]


def test_the_background_is_opaque_white():
    fig, ax = figures.new()
    assert fig.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert ax.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_a_matrix_is_drawn_with_zero_at_white():
    _, ax = figures.new()
    figures.matrix(ax, torch.tensor([[0.0, -3.0], [1.0, 0.5]]), "W", ("key", "query"))
    image = ax.images[0]
    assert image.norm(0.0) == 0.5
    assert (image.norm.vmin, image.norm.vmax) == (-3, 3)
    assert "largest |entry| 3" in ax.get_title(loc="left")
    figures.matrix(ax, torch.zeros(3), "zero")


def test_an_interval_is_shaded_behind_its_curve():
    _, ax = figures.new()
    figures.interval(ax, [0, 1], [0, 0], [1, 2], color="black")
    assert ax.collections[0].get_alpha() == 0.18


def texts(ax):
    ax.figure.canvas.draw()
    return [t.get_text() for t in ax.get_yticklabels() if t.get_visible() and t.get_text()]


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (3, 3), (4, 2), (5, 3)])
def test_panels_of_a_row_stand_one_under_another_on_a_phone(columns, rows):
    fig, axes = figures.new(1, columns, height=2.0, sharey=True)
    for ax in axes:
        ax.plot([0, 1], [0, 1])
    axes[0].set_ylabel("loss")
    assert texts(axes[1]) == []
    assert figures.stack(fig)
    assert tuple(fig.get_size_inches()) == (figures.NARROW, rows * 2.0)
    places = [ax.get_subplotspec() for ax in axes]
    across = 1 if columns < 4 else 2
    assert [(p.rowspan.start, p.colspan.start) for p in places] == [
        divmod(i, across) for i in range(columns)
    ]
    for place, ax in zip(places, axes, strict=True):
        first = place.colspan.start == 0
        assert bool(texts(ax)) == first
        assert ax.get_ylabel() == ("loss" if first else "")


def test_one_panel_gets_narrower_and_a_grid_stays():
    fig, ax = figures.new(height=2.0)
    ax.plot([0, 1], [0, 1], label="rises")
    legend = ax.legend(loc="upper right")
    assert figures.stack(fig)
    fig.canvas.draw()
    middle = ax.transAxes.inverted().transform(legend.get_window_extent().get_points()).mean(0)
    assert middle[0] < 0.5 < middle[1]  # clear of the line
    assert tuple(fig.get_size_inches()) == (figures.SINGLE, 2.0)
    fig, _ = figures.new(2, 2, height=4.0)
    assert not figures.stack(fig)
    assert tuple(fig.get_size_inches()) == (figures.WIDTH, 4.0)


def test_a_colour_bar_stays_with_its_panel():
    fig, axes = figures.new(1, 2, height=2.0)
    bar = fig.colorbar(axes[1].imshow([[0, 1]]), ax=axes[1])
    assert figures.stack(fig)
    fig.canvas.draw()
    beside, panel = bar.ax.get_position(), axes[1].get_position()
    assert panel.x1 < beside.x0 < 1
    assert abs((beside.y0 + beside.y1) - (panel.y0 + panel.y1)) < 0.05


def greyness(name, at):
    """Luminance of a map's colour, from 0, black, to 1."""
    red, green, blue, _ = matplotlib.colormaps[name](at)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def maps():
    """Every cell of a chapter that draws a map of one colour or more, and the map's name."""
    for chapter in every_chapter():
        for cell in json.loads(chapter.notebook.read_text(encoding="utf-8"))["cells"]:
            found = re.search(r'imshow\(.*cmap="(\w+)"', "".join(cell["source"]))
            if found:
                yield chapter.name, cell["metadata"]["mystnb"], found[1]


def test_on_every_map_large_is_dark_and_its_caption_says_so():
    found = list(maps())
    assert len(found) >= 5
    for chapter, look, name in found:
        assert greyness(name, 0.9) < greyness(name, 0.5) < greyness(name, 0.1), (chapter, name)
        told = look["figure"]["caption"] + look["image"]["alt"]
        assert "dark" in look["figure"]["caption"].lower(), chapter
        assert "bright" not in told.lower(), chapter


def test_on_a_map_of_signs_zero_is_white_and_both_ends_are_dark():
    for end in (0.0, 1.0):
        assert greyness("RdBu_r", end) < 0.25
    assert greyness("RdBu_r", 0.5) > 0.9
