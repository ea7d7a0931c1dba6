"""Figures share one look: opaque, and told apart without colour."""

import json
import re

import matplotlib
import pandas as pd
import pytest
import torch

matplotlib.use("agg")

import matplotlib.pyplot as plt

from bookkit import figures
from bookkit.chapters import every_chapter


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
        figures.series_style(i)


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


def test_a_level_stands_at_its_value_which_is_one_unless_told():
    _, ax = figures.new()
    figures.level(ax)
    figures.level(ax, -2.5)
    assert [set(line.get_ydata()) for line in ax.lines] == [{1.0}, {-2.5}]


def test_an_interval_is_shaded_behind_its_curve():
    _, ax = figures.new()
    figures.interval(ax, [0, 1], [0, 0], [1, 2], color="black")
    assert ax.collections[0].get_alpha() == 0.18


def test_the_style_is_the_file_beside_the_code():
    figures.new()
    style = figures.STYLE.read_text(encoding="utf-8")
    assert all(f'"{colour}"' in style for colour in figures.COLOURS)
    assert len(figures.COLOURS) == len(figures.MARKERS) == len(figures.DASHES) == 7
    assert matplotlib.rcParams["figure.dpi"] == 160
    assert matplotlib.rcParams["axes.prop_cycle"].by_key()["color"] == list(figures.COLOURS)


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


DRAWN = {
    "plot": lambda ax, bad: ax.plot([1, 2], [1, bad]),
    "plot of a series": lambda ax, bad: ax.plot(pd.Series([1.0, bad])),
    "plot of a tensor": lambda ax, bad: ax.plot(torch.tensor([[1.0, 2.0], [3.0, bad]])),
    "step": lambda ax, bad: ax.step([1, bad], [1, 2], where="post"),
    "scatter": lambda ax, bad: ax.scatter([1, 2], [1, bad]),
    "colours": lambda ax, bad: ax.scatter([1, 2], [1, 2], c=[0.5, bad]),
    "errorbar": lambda ax, bad: ax.errorbar([1], [1], yerr=[[0.5], [bad]]),
    "interval": lambda ax, bad: figures.interval(ax, [0, 1], [0, bad], [1, 1]),
    "bar": lambda ax, bad: ax.bar(["a", "b"], [1, bad]),
    "barh": lambda ax, bad: ax.barh(["a", "b"], [1, bad]),
    "level": lambda ax, bad: figures.level(ax, bad),
    "axvline": lambda ax, bad: ax.axvline(bad),
    "axhspan": lambda ax, bad: ax.axhspan(0, bad),
    "imshow": lambda ax, bad: ax.imshow([[0.0, bad]]),
    "matrix": lambda ax, bad: figures.matrix(ax, torch.tensor([[1.0, bad]]), "W"),
    "contourf": lambda ax, bad: ax.contourf([[0.0, 1.0], [2.0, bad]]),
    "ticks": lambda ax, bad: figures.ticks(ax, [0, bad]),
    "text": lambda ax, bad: ax.text(0, bad, "here"),
    "end labels": lambda ax, bad: figures.end_labels(ax, {"a": (0.0, bad)}),
}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_nothing_is_drawn_that_is_not_finite(draw, bad):
    _, ax = figures.new()
    with pytest.raises(ValueError, match=r"given (nan|inf).* not finite; leave them out, or say"):
        draw(ax, bad)


def test_a_gap_is_drawn_where_one_is_declared():
    _, (left, right) = figures.new(1, 2)
    left.plot([1, 2, 3], figures.gaps([1.0, float("nan"), 3.0]), color="0.5", label=None)
    right.imshow(figures.gaps(torch.tensor([[0.0, float("nan")]])))
    assert left.lines[0].get_ydata().mask.tolist() == [False, True, False]
    assert right.images[0].get_array().mask.tolist() == [[False, True]]
    with pytest.raises(ValueError, match="plot was given inf, 1 of 3 numbers"):
        left.plot(figures.gaps([float("nan"), float("inf"), 1.0]))


@pytest.mark.parametrize(
    "write",
    [
        lambda ax: ax.set_title("slope nan"),
        lambda ax: ax.set_xlabel("from -inf"),
        lambda ax: ax.plot([0, 1], [0, 1], label="gap nan") and ax.legend(),
        lambda ax: ax.text(0, 0, f"{float('nan'):.2f}"),
    ],
)
def test_no_text_of_a_figure_has_a_number_that_is_not_finite(write):
    _, ax = figures.new()
    write(ax)
    with pytest.raises(ValueError, match=r"a text of the figure is .* is no finite number"):
        figures.show()


def test_what_is_finite_is_shown_in_a_plain_run(monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    figure, ax = figures.new()
    ax.plot([0, 1], [0, 1], label=r"$\inf_x f$, nanometres")
    ax.legend()
    figures.show()
    assert shown == [figure]
