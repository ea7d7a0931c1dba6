"""The book as one PDF: a small book, joined by Sphinx and printed by Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from bookkit import pdf
from bookkit.chapters import ROOT

INDEX = "# A Small Book\n\nRead {doc}`one`, and see $x$ and ![a sign](sign.svg).\n"
ONE = r"""# Sums of bits

(here)=
## The statement

::::{grid} 1
:::{grid-item-card} A card
For $n \ge 1$ bits, see {ref}`here`.
:::
::::

```{dropdown} Proof
Hidden words. $\square$
```

$$\sum_{i=1}^n x_i \le n$$
"""
BUILD = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-q"]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of two pages, as one page."""
    root = tmp_path_factory.mktemp("small")
    (root / "index.md").write_text(INDEX, "utf-8")
    (root / "one.md").write_text(ONE, "utf-8")
    (root / "sign.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    toc = {"format": "jb-book", "root": "index", "chapters": [{"file": "one"}]}
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), "utf-8")
    (root / "static").mkdir()
    (root / "static" / "print.css").write_bytes((ROOT / "book/_static/print.css").read_bytes())
    config = {
        "title": "A Small Book",
        "only_build_toc_files": True,
        "sphinx": {
            "extra_extensions": ["bookkit.pdf"],
            "config": {
                "html_extra_path": [str(ROOT / "vendor")],
                "html_static_path": ["static"],
                "mathjax_path": "../mathjax/startup.js",
                "mathjax_options": {},
                "mathjax3_config": {"loader": {"load": ["core", "input/tex", "output/svg"]}},
            },
        },
    }
    (root / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")
    command = [*BUILD, "--builder", "singlehtml"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.fixture
def chromium():
    """Nothing, where there is one."""
    if not any(map(shutil.which, pdf.BROWSERS)):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(pdf.NO_BROWSER)


def test_the_book_is_printed_with_its_formulas_links_and_bookmarks(book, chromium, capsys):
    assert pdf.main(["--root", str(book)]) == 0
    out = book / "_build" / "html" / "a-small-book.pdf"
    assert capsys.readouterr().out == f"The book: {out}\n"
    text = out.read_bytes()
    assert text.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", text)) >= 2, "a chapter begins on a new sheet"
    assert b"/Outlines" in text
    assert b"/StructTreeRoot" in text
    assert not list(out.parent.glob("*.partial"))


def test_what_is_printed_is_set_and_open(book, chromium):
    page = book / "_build" / "singlehtml" / "index.html"
    with pdf.opened(page, "index") as tab:
        assert tab.locator("mjx-container").count() >= 3
        assert tab.locator("details[open]").count() == 1
        addresses = [a.get_attribute("href") for a in tab.locator("article a.internal").all()]
        assert "#here" in addresses, "a link within the book stays within the file"
        assert all(a.startswith("#") for a in addresses if "document-" in a)


def test_without_pages_one_line_says_what_to_do(book, tmp_path, capsys):
    for name in ("_config.yml", "_toc.yml"):
        (tmp_path / name).write_bytes((book / name).read_bytes())
    assert pdf.main(["--root", str(tmp_path)]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert "index.html is missing" in errors


def test_without_chromium_one_line_says_what_to_install(book, monkeypatch, capsys):
    monkeypatch.setattr(pdf, "BROWSERS", ("no-such-browser",))
    assert pdf.main(["--root", str(book)]) == 1
    assert "apt-get install chromium" in capsys.readouterr().err


def test_pages_link_to_the_pdf_where_it_is(tmp_path):
    context = {"header_buttons": [{"label": "download-buttons", "buttons": []}]}
    context["pathto"] = lambda name, _: f"../{name}"
    app = SimpleNamespace(outdir=str(tmp_path), config=SimpleNamespace(html_title="A Small Book"))
    pdf.find_pdf(app, app.config)
    pdf.add_pdf_button(app, "a", "", context, None)
    assert context["header_buttons"][0]["buttons"] == []
    (tmp_path / "a-small-book.pdf").touch()
    pdf.find_pdf(app, app.config)
    pdf.add_pdf_button(app, "a", "", context, None)
    assert context["header_buttons"][0]["buttons"][0]["url"] == "../a-small-book.pdf"
