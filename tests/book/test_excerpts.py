"""Figures that other pages borrow from stored notebooks."""

import nbformat
import pytest

from helpers.book.chapters import Chapter
from helpers.book.excerpts import find_figure


def test_a_figure_comes_with_its_picture_and_its_words():
    figure = find_figure(Chapter("beyond/three_rates").notebook, "fig-three-rates")
    assert figure.png.startswith(b"\x89PNG")
    assert len(figure.alt) >= 40


def test_a_name_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    with pytest.raises(ValueError, match=r"no figure 'fig-nine'; it has: .*fig-three-rates"):
        find_figure(Chapter("beyond/three_rates").notebook, "fig-nine")
    empty = tmp_path / "empty.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), empty)
    with pytest.raises(ValueError, match=r"empty\.ipynb has no figure"):
        find_figure(empty, "fig-one")
    with pytest.raises(FileNotFoundError):
        find_figure(tmp_path / "missing.ipynb", "fig-one")
