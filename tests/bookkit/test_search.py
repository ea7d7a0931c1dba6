"""What the search finds: in the index of a book of three pages, and on its page in a browser."""

from __future__ import annotations

import json
import re

import pytest
from docutils import nodes
from sphinx.application import Sphinx

from bookkit import search
from bookkit.chapters import BOOK
from bookkit.register import load_register
from tests.browser import patient

GLOSSARY = """# Glossary

```{glossary}
sharpness
  How much the loss rises.

sharpness of a minimum
  Another term.
```
"""
CHAPTER = """# Sharpness: what noise in the weights does

:::{admonition} Verdict
:class: verdict-card
It holds.
:::

The sharpness of a network is a matter of its loss, says a page on sharpness.

```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 6 and Theorem 12, as restored
:label: sharper-thm6
Noise costs half the trace.
```

:::{admonition} Across a kink there is no Lagrange point
:class: finding
:name: f-sharper-thm6-here
It need not exist.
:::
"""
OTHER = """# Sharpness in theorem 6 of others

Theorem, sharpness, and 6 kinks of theorem 16.

## Kinks
"""
PAGES = {"glossary": GLOSSARY, "cube/sharpness": CHAPTER, "other": OTHER}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Three pages under their addresses in this book, built."""
    folder = tmp_path_factory.mktemp("found")
    for name, text in PAGES.items():
        page = folder / "book" / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    listed = "\n".join(f"book/{name}" for name in PAGES)
    (folder / "index.md").write_text(f"# A book\n\n```{{toctree}}\n{listed}\n```\n", "utf-8")
    settings = {
        "extensions": [
            "myst_parser",
            "sphinx_design",
            "sphinx_proof",
            "bookkit.search",
        ],
        "myst_enable_extensions": ["colon_fence"],
        "html_theme": "basic",
        "html_static_path": [str(BOOK / "_static")],
        "source_suffix": {".md": "markdown"},  # its default is one object for all builds
        "suppress_warnings": ["myst.domains"],
    }
    html = folder / "html"
    app = Sphinx(folder, None, html, folder / "trees", "html", settings, status=None, warning=None)
    app.build()
    assert app.statuscode == 0
    return html


@pytest.fixture(scope="module")
def index(book):
    text = (book / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))


def entry(index, name):
    ((page, address, main),) = index["indexentries"][name]
    return index["docnames"][page], address, bool(main)


@pytest.fixture(scope="module")
def tab(browser):
    """An empty page of a browser."""
    return patient(browser.new_page())


def test_a_result_is_an_entry_that_leads_to_its_box(index):
    for name in ("p1 theorem 6", "p1 theorem 12"):
        assert entry(index, name) == ("book/cube/sharpness", "sharper-thm6", True)
    assert entry(index, "p1 remark 3") == ("book/cube/sharpness", "sharper-def1", True)


def test_boxes_and_findings_are_objects(index):
    shown = {
        (index["objnames"][str(kind)][2], index["docnames"][page], address, name)
        for group in index["objects"].values()
        for page, kind, _, address, name in group
    }
    chapter = "book/cube/sharpness"
    finding = "Across a kink there is no Lagrange point"
    theorem = "Lintilhac and Shaikh, Theorem 6 and Theorem 12, as restored"
    assert ("finding", chapter, "f-sharper-thm6-here", finding) in shown
    assert ("theorem", chapter, "sharper-thm6", theorem) in shown


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("sharpness", "book/glossary.html#term-sharpness"),
        ("Theorem 6", "book/cube/sharpness.html#sharper-thm6"),
        ("P1 theorem 6", "book/cube/sharpness.html#sharper-thm6"),
        ("Lagrange kink", "book/cube/sharpness.html#f-sharper-thm6-here"),
    ],
)
def test_the_search_shows_first_what_is_meant(book, tab, words, address):
    tab.goto(f"{(book / 'search.html').as_uri()}?q={words}")
    first = tab.locator("#search-results ul.search li a").first
    first.wait_for()
    assert first.get_attribute("href").startswith(address)


def test_a_question_is_searched_without_its_small_words(book, tab):
    tab.goto(f"{(book / 'search.html').as_uri()}?q=which noise may my weights have")
    first = tab.locator("#search-results ul.search li a").first
    first.wait_for()
    assert first.get_attribute("href").startswith("book/cube/sharpness.html")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("shaprnses", "sharpness"),
        ("Minimmu sharpness", "minimum sharpness"),
        ("nosie", "noise"),
        ("kniks in theroem", "kinks in theorem"),
        ("shrapnel", None),
        ("sharpness", None),
    ],
)
def test_a_word_that_is_spelled_otherwise_is_offered(book, tab, asked, meant):
    tab.goto(f"{(book / 'search.html').as_uri()}?q={asked}")
    tab.locator("#search-results .search-summary").filter(has_text=re.compile(r"\w")).wait_for()
    link = tab.locator(".search-spelling a")
    assert link.all_text_contents() == [meant] * (meant is not None)
    if meant:
        link.click()
        tab.locator("#search-results ul.search li a").first.wait_for()


@pytest.mark.parametrize(
    ("ref", "results"),
    [
        ("Theorem 6 / 12", ["Theorem 6", "Theorem 12"]),
        ("Lemmas A.13-A.15", ["Lemma A.13", "Lemma A.14", "Lemma A.15"]),
        ("Figures 1, 5, 6, Table 2", ["Figure 1", "Figure 5", "Figure 6", "Table 2"]),
        ("Propositions 8 and 35, width", ["Proposition 8", "Proposition 35"]),
        ("Eqs. (9), (10)", ["Eq. (9)", "Eq. (10)"]),
        ("Appendix D (1)", []),
    ],
)
def test_a_reference_names_results(ref, results):
    assert search.numbered(ref) == results


def test_every_numbered_result_of_a_paper_has_an_entry():
    rows = [(p, r) for p, section in load_register().items() for r in section if not p.own]
    for chapter in {row.chapter for _, row in rows}:
        names = search.names_of_results(chapter)
        for paper, row in rows:
            plain = search.numbered(row.ref)[:1] if row.chapter == chapter else []
            if plain and row.ref.startswith(plain[0]):
                assert f"{paper.number} {plain[0]}" in names


def test_a_use_in_a_proof_does_not_take_the_place_of_the_theorem():
    names = search.names_of_results("retrieval/feedforward_lower_bound")
    assert names["P5 Theorem 6"] == "retrieval-thm6"


def test_a_box_without_a_title_is_no_object():
    page = nodes.document(None, None)
    page += nodes.admonition("", nodes.title("", "A note"), ids=["a"])
    page += nodes.admonition("", nodes.title("", ""), ids=["b"], classes=["finding"])
    assert search.boxes(page) == []


def test_a_formula_in_the_title_of_a_box_is_told_in_letters():
    title = nodes.title("", "", nodes.Text("It needs "), nodes.math("", r"q \ge \sqrt{2}"))
    page = nodes.document(None, None)
    page += nodes.admonition("", title, ids=["a"], classes=["finding"])
    assert search.boxes(page) == [("It needs q ≥ √2", "finding", "a")]
