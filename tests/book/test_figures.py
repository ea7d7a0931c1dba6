"""Figures share one look: opaque, and told apart without colour."""

import matplotlib
import pytest
import torch

matplotlib.use("agg")

import matplotlib.pyplot as plt

from helpers.book import figures


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
