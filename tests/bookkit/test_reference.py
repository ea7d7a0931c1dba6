"""The reference: a page of one room, and code on other pages that leads there."""

from __future__ import annotations

import html
import io
import re

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from bookkit import reference
from bookkit.chapters import BOOK, ROOT
from bookkit.definitions import PACKAGES

REFERENCE = """# A reference

```{modules} helpers.weights helpers.draws
```
"""
CODE = '''from helpers import draws
from helpers.draws import Draws, f64
from helpers.weights import ensemble_of as many, Weights


def shifted(Weights):
    """Ä, 1 < 2."""
    return f64([1.0]) + f64([2.0])


x = draws.f64([2.1], f64=f64) + many(3, lambda: Draws(0))'''
CHAPTER = f"# A chapter\n\n```python\n{CODE}\n```\n\n```\nf64\n```\n"
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
    """A page of a room, and a page with code, built with every warning an error."""
    folder = tmp_path_factory.mktemp("reference")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
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
    assert page.find(id="module-helpers.draws")
    entry = page.find("dt", id="helpers.weights.ensemble_of").parent
    signature = " ".join(entry.dt.get_text().split())
    assert signature.startswith("helpers.weights.ensemble_of(count: int, draw: Callable[[], dict[")
    assert "Raises" in [field.get_text(strip=True).rstrip(":") for field in entry.select("dt")]
    assert ">>> from helpers.weights import ensemble_of" in entry.pre.get_text()
    assert page.find("dt", id="helpers.draws.Draws.normal")


def test_bars_are_absolute_values_but_in_formulas_and_literals():
    lines = ["The value |x| of ``a | b``.", ".. math:: |S|", "   |T|", "", ">>> a | b", "|y|"]
    reference.keep_bars(None, "function", "f", None, None, lines)
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
        return reference.leave_out_what_is_not_ours(None, "class", "x", obj, False, None)

    assert left_out(html.escape) is True
    assert left_out(reference.linked) is None
    assert left_out(reference.ROOT) is None, "a constant is ours, whatever its class"


def test_the_code_of_a_page_leads_to_the_reference_once_a_cell(book):
    page = book["chapter"]
    links = [(a.get_text(), a["href"]) for a in page.select("a.code-link")]
    assert links == [
        ("draws", "names.html#module-helpers.draws"),
        ("Draws", "names.html#helpers.draws.Draws"),
        ("f64", "names.html#helpers.draws.f64"),
        ("helpers.weights", "names.html#module-helpers.weights"),
        ("ensemble_of", "names.html#helpers.weights.ensemble_of"),
    ]
    for _, address in links:
        assert book["names"].find(id=address.partition("#")[2])


def test_the_words_of_the_code_stay_as_they_are(book):
    assert book["chapter"].pre.get_text() == f"{CODE}\n"


def test_a_name_that_is_bound_otherwise_is_left_out():
    names = reference.imported_names([CODE])
    assert names["many"] == "helpers.weights.ensemble_of"
    assert "Weights" not in names
    assert reference.imported_names([CODE, "f64 = 2"]).keys() == names.keys() - {"f64"}


def test_uses_are_found_by_characters_behind_other_letters():
    found = reference.uses('"Ä", f64', {"f64": "helpers.draws.f64"})
    assert found == {(1, 5): ("f64", "helpers.draws.f64")}
    assert reference.uses("%cd x\nf64", {"f64": "helpers.draws.f64"}) == {}


def test_a_page_without_such_imports_stays_as_it_is():
    for code in ("import torch", "f64([1])", "!pip install helpers"):
        body = (
            '<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>'
            f"<span></span>{html.escape(code)}\n</pre></div></div>"
        )
        assert reference.linked(body, lambda full: "x.html") == body


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
