"""Figures that other pages borrow from stored notebooks."""

import nbformat
import pytest
from sphinx.application import Sphinx

from bookkit.chapters import Chapter
from bookkit.excerpts import find_figure


def test_a_figure_comes_with_its_picture_and_its_words():
    figure = find_figure(Chapter("beyond/three_rates").notebook, "fig-three-rates")
    assert figure.data.startswith({"svg": b"<svg", "png": b"\x89PNG"}[figure.suffix])
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


def test_two_pages_that_show_one_figure_do_not_make_each_other_stale(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    shown = "```{excerpt} beyond/three_rates fig-three-rates\nRates.\n```"
    listed = "```{toctree}\nother\n```"
    (source / "index.md").write_text(f"# A book\n\n{shown}\n\n{listed}\n", encoding="utf-8")
    (source / "other.md").write_text(f"# A page\n\n{shown}\n", encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "bookkit.excerpts"],
        "myst_enable_extensions": ["colon_fence"],
        "html_theme": "basic",
        "source_suffix": {".md": "markdown"},
    }
    read = []
    for _ in range(2):
        places = (source, None, tmp_path / "out" / "html", tmp_path / "trees")
        app = Sphinx(*places, "html", settings, status=None, warning=None)
        app.connect("env-before-read-docs", lambda app, env, names: read.append(sorted(names)))
        app.build()
    assert read == [["index", "other"], []]
