"""The reference: a page of one room, and code on other pages that leads there."""

from __future__ import annotations

import html
import re

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from bookkit import reference

ROOM = """# A room

```{room} weights draws
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
    "room": ROOM,
    "chapter": CHAPTER,
    "index": "# A book\n\n```{toctree}\nroom\nchapter\n```\n",
}


SETTINGS = {
    "extensions": ["myst_parser", "bookkit.reference"],
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


def test_a_room_shows_modules_signatures_docstrings_and_examples(book):
    page = book["room"]
    assert page.find("section", id="helpers.draws")
    entry = page.find("dt", id="helpers.weights.ensemble_of").parent
    assert (
        entry.dt.get_text()
        .strip()
        .startswith("ensemble_of(count: int, draw: Callable[[], Weights]) -> Weights")
    )
    fields = [
        field.get_text(strip=True).rstrip(":") for field in entry.select("dl.field-list > dt")
    ]
    assert fields == ["Raises", "Example"]
    assert ">>> from helpers.weights import ensemble_of" in entry.pre.get_text()
    assert page.find("dt", id="helpers.draws.Draws.normal")


def test_the_code_of_a_page_leads_to_the_reference_once_a_cell(book):
    page = book["chapter"]
    links = [(a.get_text(), a["href"]) for a in page.select("a.code-link")]
    assert links == [
        ("draws", "room.html#helpers.draws"),
        ("Draws", "room.html#helpers.draws.Draws"),
        ("f64", "room.html#helpers.draws.f64"),
        ("helpers.weights", "room.html#helpers.weights"),
        ("ensemble_of", "room.html#helpers.weights.ensemble_of"),
    ]
    for _, address in links:
        assert book["room"].find(id=address.partition("#")[2])


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


@pytest.mark.parametrize(
    ("room", "told"),
    [
        ("```{room} attic\n```", "no room 'attic'"),
        ("```{room} weights\ndraws.f64\n    >>> 1\n```", "Has content, but none permitted"),
    ],
)
def test_a_mistake_on_a_page_is_named(tmp_path, room, told):
    (tmp_path / "index.md").write_text(f"# A book\n\n{room}\n", encoding="utf-8")
    with (tmp_path / "told").open("w+", encoding="utf-8") as out:
        places = (tmp_path, None, tmp_path / "html", tmp_path / "trees")
        Sphinx(*places, "html", SETTINGS, status=None, warning=out).build()
        out.seek(0)
        assert told in re.sub(r"\s+", " ", out.read())
