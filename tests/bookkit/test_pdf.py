"""The book as one PDF: a small book, its document, its print, and what would stop it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import yaml
from bs4 import BeautifulSoup
from PIL import Image
from sphinx.application import Sphinx

from bookkit import pages, pdf, volume
from bookkit.chapters import ROOT

INDEX = """# A Small Book

Read {ref}`ch-one`, {doc}`part/two`, and {download}`the script <part/script.txt>`.

See [the world](https://example.org/) and ![a sign](sign.png).
"""
PART = "# The part\n\nAbout {prf:ref}`thm-sum`, by {doc}`/code`.\n"
ONE = r"""(ch-one)=
# Sums of bits

(here)=
## The statement

```{prf:theorem} A sum
:label: thm-sum
For $n \ge 1$ bits

$$\sum_{i=1}^n x_i \le n . $$ (eq-sum)
```

````{dropdown} Proof
By {eq}`eq-sum`. $\square$
````

| a | formula |
|:--|:--|
| $\frac12$ | half |

```{figure} ../sign.png
:name: fig-sign
A sign, of $x$.
```
"""
CELLS = [
    ("code", "shown = 'seen'", [], ""),
    ("code", "import math\n\nfolded = 'not seen'", ["hide-input"], "Set-up"),
    ("code", "answer = 'solved'", ["hide-input"], "Solution"),
    ("code", "hidden = 'cell'", ["hide-cell"], "Numbers"),
]


def notebook():
    first = "(two)=\n# The second chapter\n\nAfter {ref}`ch-one` and {ref}`its statement <here>`.\n"
    cells = [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": first}]
    for i, (kind, source, tags, label) in enumerate(CELLS):
        said = {"output_type": "stream", "name": "stdout", "text": f"output {i}\n"}
        named = {"code_prompt_show": label, "code_prompt_hide": label} if label else {}
        meta = {"tags": tags, "mystnb": named}
        one = {"cell_type": kind, "id": f"c{i}", "metadata": meta, "source": source}
        cells.append(one | {"execution_count": i + 1, "outputs": [said]})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    meta = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": meta, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of a first page, a part and two chapters, rendered by the theme of this one."""
    root = tmp_path_factory.mktemp("small")
    (root / "part").mkdir()
    texts = {"index.md": INDEX, "part/index.md": PART, "part/one.md": ONE, "code.md": "# Code\n"}
    for name, text in texts.items():
        (root / name).write_text(text, "utf-8")
    (root / "part" / "two.ipynb").write_text(json.dumps(notebook()), "utf-8")
    (root / "part" / "script.txt").write_text("x", "utf-8")
    Image.new("RGB", (600, 100), "white").save(root / "sign.png")
    toc = {
        "format": "jb-book",
        "root": "index",
        "parts": [
            {
                "caption": "Chapters",
                "numbered": True,
                "chapters": [
                    {
                        "file": "part/index",
                        "sections": [{"file": "part/one"}, {"file": "part/two"}],
                    }
                ],
            },
            {"caption": volume.LEFT_OUT[0], "chapters": [{"file": "code"}]},
        ],
    }
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), "utf-8")
    config = {"title": "A Small Book", "html": {"extra_footer": "Free."}, "repository": {"url": ""}}
    (root / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")
    cited = {"title": "A Small Book", "version": "1.0", "date-released": "2026-01-02"}
    (root / "CITATION.cff").write_text(yaml.safe_dump(cited), "utf-8")
    settings = {
        "extensions": [
            "myst_nb",
            "sphinx_design",
            "sphinx_proof",
            "sphinx_external_toc",
            "sphinx_book_theme",
        ],
        "myst_enable_extensions": ["dollarmath", "amsmath", "colon_fence"],
        "nb_execution_mode": "off",
        "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb"},  # else other tests get these
        "html_theme": "sphinx_book_theme",
        "html_static_path": [str(ROOT / "book" / "_static")],
        "html_extra_path": [str(ROOT / "vendor")],
        "numfig": True,
        "suppress_warnings": ["myst.domains"],
    }
    html = root / "_build" / "html"
    trees = root / "trees"
    app = Sphinx(root, None, html, trees, "html", settings, status=None, warning=None)
    app.build()
    assert app.statuscode == 0
    return root


@pytest.fixture(scope="module")
def text(book):
    return volume.document(book / "_build" / "html", book)


@pytest.fixture(scope="module")
def soup(text):
    return BeautifulSoup(text, "html.parser")


@pytest.fixture(scope="module")
def tab(book, text):
    """The document in a browser, its formulas set."""
    try:
        pdf.browser_path()
    except pdf.NoBrowserError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
    file = book / "book.html"
    file.write_text(text, "utf-8")
    with pdf.opened(file) as page:
        yield page


@pytest.fixture(scope="module")
def printed(tab):
    told = []
    return pdf.printed(tab, told.append), told


def test_pages_follow_the_table_of_contents(soup):
    keys = ["index", "part-index", "part-one", "part-two"]
    assert [a["id"] for a in soup.select("article")] == keys
    assert [p["data-of"] for p in soup.select(".contents .page")] == keys
    titles = [e.get_text(" ", strip=True) for e in soup.select(".contents .entry")]
    assert titles[2] == "1.1 Sums of bits 000"
    assert soup.select_one(".title-page .book-title").get_text() == "A Small Book"
    assert "Version 1.0, 2026-01-02" in soup.select_one(".title-page").get_text()
    assert soup.select_one("#part-index h1")
    assert soup.select_one("#part-one h2 .section-number").get_text(strip=True) == "1.1."
    assert '{ content: "1.1 Sums of bits" }' in soup.style.get_text()


def test_every_link_within_has_one_target(soup):
    ids = Counter(e["id"] for e in soup.find_all(id=True))
    assert set(ids.values()) == {1}
    links = [a["href"] for a in soup.select("main a[href]")]
    assert "#part-one--ch-one" in links
    assert "https://example.org/" in links
    assert all(link.startswith("https://") or link[1:] in ids for link in links)
    assert not soup.select("a[href*='script']"), "what the PDF lacks is text"
    assert "the script" in soup.select_one("#index").get_text()
    assert soup.select_one("#part-index p").get_text().endswith(", by Code.")


def test_a_link_to_another_chapter_says_its_number(soup):
    said = [a.get_text(" ", strip=True) for a in soup.select("#part-two a[href]")]
    assert said == ["Sums of bits [1.1]", "its statement"]


def test_a_link_to_nowhere_is_an_error(book):
    site = book / "_build" / "html"
    whole = volume.Volume(site, volume.pages(yaml.safe_load((book / "_toc.yml").read_text())))
    whole.ids["part/one"].remove("ch-one")
    with pytest.raises(volume.NoSuchTargetError, match=r"index links to part/one\.html#ch-one"):
        whole.article(whole.pages[0])


def test_folded_code_is_named_and_the_rest_is_open(soup):
    chapter = soup.select_one("#part-two").get_text()
    assert "shown = 'seen'" in chapter
    assert "solved" in chapter
    assert "not seen" not in chapter
    assert "hidden" not in chapter
    said = [p.get_text() for p in soup.select(".folded")]
    assert said == ["Set-up: 3 lines of code", "Numbers: 1 line of code"]
    assert all(f"output {i}" in chapter for i in range(4))
    assert not soup.select("details")
    assert {e["class"][0] for e in soup.select("pre span[class]")} == {"s1"}, "the rest is black"
    assert [p.get_text(strip=True) for p in soup.select(".unfolded-title")] == ["Proof"]


def test_no_furniture_is_left(soup):
    assert not soup.select("main :is(.headerlink, button, script, nav, footer, .btn)")
    assert not soup.select("main a[href='#']")
    assert not [a for a in soup.select("main a") if a.get_text(strip=True) == "#"]


def test_moving_figures_are_left_out_but_remain_a_target():
    cell = '<div class="cell"><details class="hide"></details><figure class="moving" id="m">'
    soup = BeautifulSoup(
        f"<article><h1>T</h1>{cell}<p>0.1</p></figure></div></article>", "html.parser"
    )
    whole = object.__new__(volume.Volume)
    whole.ids, whole.numbers, whole.titles = {}, {}, {}
    whole._read(volume.Page("p", "", 1), soup.article)
    volume._unfold(soup.article)
    assert str(soup.article) == '<article><h1>T</h1><span class="moved" id="m"></span></article>'


def test_figures_have_two_hundred_dots_an_inch(soup):
    figures = soup.select("main img")
    assert len(figures) == 2
    for image in figures:
        inches = float(re.fullmatch(r"width: ([\d.]+)in", image["style"])[1])
        assert 600 / inches >= volume.DPI == 200


def test_formulas_are_set_and_nothing_is_cut(tab):
    assert pdf.faults(tab) == []
    formulas = tab.locator(".math").count()
    assert formulas >= 5
    assert tab.locator(".math mjx-container svg").count() == formulas


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ("<p style='width: 900px'>x</p>", "cut at the right edge, part-one: x"),
        (r"<p>\(x\) and \alpha</p>", r"formula not set, part-one: \(x\) and \alpha"),
        ("<p><span class='math'>y</span></p>", "formula not set, part-one: y"),
        ("<p><mjx-merror>z</mjx-merror></p>", "formula with an error, part-one: z"),
        ("<p><a href='#nowhere'>w</a></p>", "link without a target, #nowhere"),
    ],
)
def test_each_fault_is_found_and_stops_the_print(tab, broken, fault):
    tab.evaluate(
        "html => document.querySelector('#part-one').insertAdjacentHTML('beforeend', html)", broken
    )
    try:
        assert pdf.faults(tab) == [fault]
        with pytest.raises(pdf.FaultyError, match=re.escape(f"not printed: {fault}")):
            pdf.printed(tab)
    finally:
        tab.evaluate("() => document.querySelector('#part-one').lastElementChild.remove()")
    assert pdf.faults(tab) == []


def test_what_is_too_wide_is_made_smaller(tab):
    table = f"<div id='wide'><table><tr>{'<td>columnwide</td>' * 12}</tr></table></div>"
    tab.evaluate(
        "html => document.querySelector('#part-one').insertAdjacentHTML('beforeend', html)", table
    )
    try:
        assert any("cut at the right edge" in fault for fault in pdf.faults(tab))
        tab.evaluate(pdf.FIT)
        assert pdf.faults(tab) == []
    finally:
        tab.evaluate("() => document.querySelector('#wide').remove()")


def test_the_contents_say_on_which_sheet_a_page_begins(printed, tab):
    file, told = printed
    count, at = pdf.sheets_of(file)
    assert count == 6
    assert {name: at[name] for name in ("index", "part-index", "part-one", "part-two")} == {
        "index": 3,
        "part-index": 4,
        "part-one": 5,
        "part-two": 6,
    }
    assert tab.locator(".contents .page").all_inner_texts() == ["3", "4", "5", "6"]
    assert [line.split(":")[0] for line in told] == ["first print", "second print"]


def test_links_and_bookmarks_are_in_the_file(printed):
    file, _ = printed
    _, at = pdf.sheets_of(file)
    parts = pdf.objects(file).values()
    links = [m[1].decode() for p in parts if (m := re.search(rb"/Dest /(\S+)", p))]
    assert "part-one--ch-one" in links
    assert set(links) <= set(at)
    assert any(rb"/URI (https://example.org/)" in p for p in parts)
    titles = re.findall(rb"/Title \(([^)]*)\)", b"".join(parts))
    assert b"1.1. Sums of bits" in titles
    assert b"/Lang (en)" in b"".join(parts)


def test_a_file_that_is_no_such_pdf_is_refused():
    sheets = b"1 0 obj\n<</Type /Pages /Kids [2 0 R]>>\nendobj\n"
    addresses = b"3 0 obj\n<</a [2 0 R /XYZ 0 0 0]>>\nendobj\n"
    assert pdf.sheets_of(sheets + addresses) == (1, {"a": 1})
    for file in (b"%PDF-1.4\n1 0 obj\n<</Type /Catalog>>\nendobj\n", sheets, addresses):
        with pytest.raises(pdf.FaultyError, match="no list of sheets"):
            pdf.sheets_of(file)


def test_without_chromium_one_line_says_what_to_install(book, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pdf.main(["--root", str(book)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error: no Chromium here")
    assert "apt-get install chromium" in err


def test_without_pages_one_line_says_what_to_do(book, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pdf, "browser_path", lambda: "chromium")
    for name in ("_toc.yml", "_config.yml", "CITATION.cff"):
        shutil.copy(book / name, tmp_path)
    assert pdf.main(["--root", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert re.match(r"error: \S+index.html is missing; run make html first", err)


def test_what_is_printed_is_not_printed_again(book, tab, monkeypatch, capsys):
    opened = []

    @contextmanager
    def once(file):
        opened.append(file)
        yield tab

    monkeypatch.setattr(pdf, "opened", once)
    for _ in range(2):
        assert pdf.main(["--root", str(book)]) == 0
    assert len(opened) == 1
    out = book / "_build" / "html" / "a-small-book.pdf"
    assert out.read_bytes().startswith(b"%PDF")
    assert capsys.readouterr().out.endswith(f"The book, printed before: {out}\n")
    out.unlink()
    assert pdf.main(["--root", str(book)]) == 0
    assert len(opened) == 2
    out.unlink()


def test_pages_link_to_the_pdf_where_it_is(tmp_path):
    config = SimpleNamespace(html_title="A Small Book", book_as_pdf="")
    app = SimpleNamespace(outdir=tmp_path, config=config)

    def buttons():
        pages.look_for_the_pdf(app, config)
        group = {"label": "download-buttons", "buttons": [{"text": ".md"}, {"text": ".pdf"}]}
        context = {"header_buttons": [group], "pathto": lambda path, _: f"../{path}"}
        pages.offer_the_book(app, "part/one", "page.html", context, object())
        return [(b["text"], b.get("url")) for b in group["buttons"]]

    assert buttons() == [(".md", None), (".pdf", None)]
    (tmp_path / "a-small-book.pdf").write_bytes(b"%PDF")
    assert buttons()[-1] == ("book.pdf", "../a-small-book.pdf")
