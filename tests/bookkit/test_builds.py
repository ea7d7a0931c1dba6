"""What a draft of the book leaves out, and what it may not leave out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pybtex import plugin

from bookkit.builds import DRAFT, know_the_plugins
from bookkit.chapters import ROOT

FIGURE = "```{figure} %s.svg\n:name: fig-%s\nA caption.\n```\n\n"
BUILD = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-n", "-W", "-q"]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of three pages: two with a figure that they name, and one that quotes the first."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "_config.yml").write_text(
        "title: A book\nonly_build_toc_files: true\nsphinx: {extra_extensions: [bookkit.builds]}\n"
    )
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters: [{file: a}, {file: b}]\n"
    )
    for name in ("a", "b", "c"):
        (folder / f"{name}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (folder / "index.md").write_text("# A book\n\n```{include} a.md\n:start-after: Here.\n```\n")
    for name in ("a", "b"):
        text = f"# Page {name}\n\n{FIGURE % (name, name)}See {{numref}}`fig-{name}`. Here.\n"
        (folder / f"{name}.md").write_text(text)
    build(folder)
    return folder


def build(folder):
    given = os.environ | {DRAFT: "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(BUILD, cwd=folder, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def page(folder, name):
    """When a page was written, and the numbers of figures in its prose."""
    path = folder / "_build" / "html" / f"{name}.html"
    return path.stat().st_mtime_ns, re.findall(r"See .*?Fig\. (\d+)", path.read_text())


def saved(folder, name, old, new):
    path = folder / f"{name}.md"
    path.write_text(path.read_text().replace(old, new, 1))
    build(folder)


def test_a_draft_writes_what_was_saved_and_keeps_the_numbers(book):
    before = {name: page(book, name) for name in ("index", "a", "b")}
    assert (before["a"][1], before["b"][1]) == (["1"], ["2"])
    saved(book, "b", "Here.", "Here. New words.")
    after = {name: page(book, name) for name in before}
    assert "New words." in (book / "_build/html/b.html").read_text()
    assert after["b"][1] == ["2"]
    assert after["a"] == before["a"]
    saved(book, "a", "Here.", "Here. Quoted words.")  # the index quotes them, and was not saved
    assert page(book, "b") == after["b"]
    index = book / "_build" / "html" / "index.html"
    assert "Quoted words." not in index.read_text()
    (book / "index.md").touch()
    build(book)
    assert "Quoted words." in index.read_text()


def test_a_draft_counts_anew_when_a_figure_comes(book):
    saved(book, "a", "```{figure}", f"{FIGURE % ('c', 'c')}```{{figure}}")
    assert page(book, "a")[1] == ["2"]
    assert page(book, "b")[1] == ["3"]
    saved(book, "a", FIGURE % ("c", "c"), "")
    assert page(book, "a")[1] == ["1"]
    assert page(book, "b")[1] == ["2"]


def test_pybtex_finds_its_plugins_without_a_look_at_all_packages(monkeypatch):
    know_the_plugins(None)
    monkeypatch.setattr(plugin, "entry_points", None)
    assert plugin.find_plugin("pybtex.style.formatting", "alpha").__name__ == "Style"
    assert plugin.find_plugin("pybtex.backends", "docutils").__name__ == "Backend"
    assert plugin.find_plugin("pybtex.style.names").__name__ == "NameStyle"
