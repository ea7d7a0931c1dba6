"""The reference: a page of modules, and chapters that lead there."""

from __future__ import annotations

import html
import io
import re

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

from bookkit import reference
from bookkit.chapters import BOOK, ROOT
from bookkit.definitions import PACKAGES

REFERENCE = """# A reference

```{modules} helpers.weights helpers.rng
```
"""
CODE = """# # A chapter
from helpers import rng
from helpers.rng import Rng, f64
from helpers.weights import Weights, ensemble_of as many
"""
CHAPTER = "# A chapter\n\nText.\n"
PAGES = {
    "names": REFERENCE,
    "chapter": CHAPTER,
    "index": "# A book\n\n```{toctree}\nnames\nchapter\n```\n",
}


SETTINGS = {
    "extensions": [
        "myst_parser",
        "sphinx.ext.autodoc",
        "sphinx.ext.napoleon",
        "bookkit.reference",
    ],
    "autodoc_typehints": "signature",
    "nitpick_ignore_regex": [("py:.*", "(?!(helpers|papers|bookkit)[.]).*")],
    "html_theme": "basic",
    "source_suffix": {".md": "markdown"},  # MyST-NB in another test changes what Sphinx begins with
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A page of modules, and a chapter, built with every warning an error."""
    folder = tmp_path_factory.mktemp("reference")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "chapter.py").write_text(CODE, encoding="utf-8")
    settings = SETTINGS | {"nitpicky": True}
    out = folder / "html"
    told = (folder / "told").open("w+", encoding="utf-8")
    app = Sphinx(folder, None, out, folder / "trees", "html", settings, status=None, warning=told)
    app.build()
    told.seek(0)
    second = "while setting up extension"  # what Sphinx says when a process builds once more
    assert [line for line in told.read().splitlines() if second not in line] == []
    assert app.statuscode == 0
    return {
        name: BeautifulSoup((out / f"{name}.html").read_text("utf-8"), "html.parser")
        for name in PAGES
    }


def test_modules_are_shown_with_signatures_docstrings_and_examples(book):
    page = book["names"]
    assert page.find(id="module-helpers.rng")
    entry = page.find("dt", id="helpers.weights.ensemble_of").parent
    signature = " ".join(entry.dt.get_text().split())
    assert signature.startswith("helpers.weights.ensemble_of(count: int, draw: Callable[[], dict[")
    assert "Raises" in [field.get_text(strip=True).rstrip(":") for field in entry.select("dt")]
    assert ">>> from helpers.weights import ensemble_of" in entry.pre.get_text()
    assert page.find("dt", id="helpers.rng.Rng.normal")


def test_bars_are_absolute_values_but_in_formulas_and_literals():
    lines = ["The value |x| of ``a | b``.", ".. math:: |S|", "   |T|", "", ">>> a | b", "|y|"]
    reference.escape_bars(None, "function", "f", None, None, lines)
    assert lines == [
        "The value \\|x\\| of ``a | b``.",
        ".. math:: |S|",
        "   |T|",
        "",
        ">>> a | b",
        "\\|y\\|",
    ]


def test_what_another_package_made_is_left_out():
    def left_out(obj):
        return reference.skip_foreign_members(None, "class", "x", obj, False, None)

    assert left_out(html.escape) is True
    assert left_out(reference.imported) is None
    assert left_out(reference.ROOT) is None, "a constant is ours, whatever its class"


def test_a_chapter_ends_with_links_to_what_it_imports(book):
    last = book["chapter"].select("p.code-used")[-1]
    links = [(a.get_text(), a["href"]) for a in last.select("a")]
    assert links == [
        ("rng", "names.html#module-helpers.rng"),
        ("Rng", "names.html#helpers.rng.Rng"),
        ("f64", "names.html#helpers.rng.f64"),
        ("Weights", "names.html#module-helpers.weights"),
        ("ensemble_of", "names.html#helpers.weights.ensemble_of"),
    ]
    for _, address in links:
        assert book["names"].find(id=address.partition("#")[2])
    assert not book["index"].select("p.code-used")


def test_what_is_imported_from_the_packages_is_found():
    assert reference.imported("import torch\nfrom math import pi") == {}
    found = reference.imported("def f():\n    from helpers.cube import spectrum as s")
    assert found == {"spectrum": "helpers.cube.fourier.spectrum"}


def test_a_package_is_documented_by_its_own_name():
    assert reference.documented("helpers") == "helpers"


def test_a_module_that_is_not_there_is_named(tmp_path):
    page = "# A book\n\n```{modules} helpers.attic\n```\n"
    (tmp_path / "index.md").write_text(page, encoding="utf-8")
    told = io.StringIO()
    folders = (tmp_path, None, tmp_path / "html", tmp_path / "trees")
    Sphinx(*folders, "html", SETTINGS, status=None, warning=told).build()
    assert "no module 'helpers.attic'" in told.getvalue()


def test_every_module_is_on_a_page_of_the_code():
    listed = " ".join(path.read_text("utf-8") for path in (BOOK / "code").glob("*.md"))
    shown = {
        module
        for names in re.findall(r"```{modules} (.*)", listed)
        for name in names.split()
        for module in reference.modules_of(name)
    }
    there = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "/_" not in path.as_posix().replace("/__init__", "")
    }
    assert there - shown <= {"helpers", "papers"}
    assert shown <= there


def test_a_path_is_named_from_the_folder_of_the_book():
    told = f"PosixPath('{ROOT}/book/register.yml'), PosixPath('/elsewhere'), PosixPath('{ROOT}')"
    page = nodes.document(None, None)
    page += nodes.paragraph("", told)
    reference.hide_folder(None, page)
    assert page.astext() == "Path('book/register.yml'), PosixPath('/elsewhere'), Path('')"


def test_a_page_is_read_again_when_its_package_has_another_module(tmp_path, monkeypatch):
    package = tmp_path / "root" / "pack"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""The package."""\n', encoding="utf-8")
    monkeypatch.setattr(reference, "ROOT", package.parent)
    for name, text in {"index": "```{packages} pack\n```\n", "other": "Text.\n"}.items():
        (tmp_path / f"{name}.md").write_text(f"# A page\n\n{text}", encoding="utf-8")

    def read() -> set[str]:
        folders = (tmp_path, None, tmp_path / "html", tmp_path / "trees")
        app = Sphinx(*folders, "html", SETTINGS, status=None, warning=None)
        pages = set()
        app.connect("source-read", lambda app, page, text: pages.add(page))
        app.build()
        return pages

    assert read() == {"index", "other"}
    assert read() == set()
    (package / "more.py").write_text('"""One more."""\n', encoding="utf-8")
    assert read() == {"index"}
    assert "One more." in (tmp_path / "html" / "index.html").read_text("utf-8")
    (package / "more.py").unlink()
    assert read() == {"index"}
    (package / "__init__.py").unlink()
    assert read() == {"index"}  # which then says what is missing
