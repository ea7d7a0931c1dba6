"""The book as one PDF: ``make pdf``. Sphinx joins the pages, Chromium prints them.

The builder ``singlehtml`` of Sphinx makes one page of the book. It is opened without a network, its
own copy of MathJax sets the formulas, what is folded as code stays folded, and the browser prints
it with numbered sheets, bookmarks and tags. As an extension this module lets ``singlehtml`` draw
what other extensions registered for ``html`` alone, and links the PDF from each page once it lies
beside them.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bookkit.chapters import ROOT
from bookkit.output import print_anywhere

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
NO_BROWSER = (
    "no Chromium here, which prints the book; get it by `apt-get install chromium` "
    "(Debian, Ubuntu) or install Google Chrome, and run make pdf again"
)
PATIENCE = 1_800_000
"""Milliseconds for all formulas, on a busy machine."""
FOOT = (
    '<div style="font-size: 8pt; width: 100%; text-align: center">'
    '<span class="pageNumber"></span></div>'
)
# Proofs and solutions are opened, folded code is not; a formula wider than the column is shrunk.
PREPARE = """async root => {
    document.querySelectorAll(`a[href^="${root}.html#"]`).forEach(link => link.href = link.hash);
    document.querySelectorAll("details:not(.hide)").forEach(box => box.open = true);
    document.querySelectorAll("img[loading]").forEach(image => image.loading = "eager");
    await MathJax.startup.promise;
    await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
    for (const svg of document.querySelectorAll("mjx-container[display] > svg")) {
        const ratio = svg.parentElement.clientWidth / svg.clientWidth;
        if (ratio > 0 && ratio < 1) svg.style.cssText += `width: 100%; height: auto`;
    }
}"""


class NoBrowserError(RuntimeError):
    """There is no Chromium on this machine."""


def pdf_name(title: str) -> str:
    """The file that a book with this title is printed to.

    >>> pdf_name("A Sharper Picture, Executed")
    'a-sharper-picture-executed.pdf'
    """
    return "-".join(re.findall(r"[a-z0-9]+", title.lower())) + ".pdf"


@contextlib.contextmanager
def opened(page: Path, root: str) -> Iterator[Any]:
    """The single page of a book with this root, in Chromium and ready to be printed.

    Raises:
        NoBrowserError: there is none.
    """
    from playwright.sync_api import sync_playwright

    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise NoBrowserError(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        tab = browser.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.emulate_media(media="print", color_scheme="light")
        tab.goto(page.absolute().as_uri(), wait_until="load")
        tab.evaluate(PREPARE, root)
        yield tab
        browser.close()


def printed(tab: Any) -> bytes:
    """The opened page as a PDF."""
    found: bytes = tab.pdf(
        format="A4",
        margin={"top": "20mm", "bottom": "20mm", "left": "22mm", "right": "22mm"},
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOT,
        outline=True,
        tagged=True,
    )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the book; 0, or 1 with one line that says why not."""
    print_anywhere()
    parser = argparse.ArgumentParser(prog="python -m bookkit.pdf", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of the book")
    given = parser.parse_args(arguments)
    built = given.root / "_build"
    title = yaml.safe_load((given.root / "_config.yml").read_text(encoding="utf-8"))["title"]
    root = yaml.safe_load((given.root / "_toc.yml").read_text(encoding="utf-8"))["root"]
    made, out = built / "singlehtml" / f"{root}.html", built / "html" / pdf_name(title)
    if not made.is_file():
        print(f"error: {made} is missing; run make pdf, which makes it first", file=sys.stderr)
        return 1
    page = built / "singlehtml" / "all.html"  # its addresses count from here
    shutil.copyfile(made, page)
    from playwright.sync_api import Error

    try:
        with opened(page, root) as tab:
            pdf = printed(tab)
    except (NoBrowserError, Error) as error:
        print(f"error: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    partial = out.with_suffix(".partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_bytes(pdf)
    partial.replace(out)
    print(f"The book: {out}")
    return 0


def find_pdf(app: Any, config: Any) -> None:
    """Remember the name of the book's PDF if ``make pdf`` has left it beside the pages."""
    name = pdf_name(config.html_title)
    config.book_as_pdf = name if Path(app.outdir, name).is_file() else ""


def add_pdf_button(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add a button for the whole book as one PDF, if it is there."""
    if not app.config.book_as_pdf:
        return
    button = {
        "type": "link",
        "url": context["pathto"](app.config.book_as_pdf, 1),
        "text": "book.pdf",
        "tooltip": "The whole book as one PDF",
        "icon": "fas fa-file-pdf",
        "label": "download-book-button",
    }
    for group in context.get("header_buttons", ()):
        if group.get("label") == "download-buttons":
            group["buttons"].append(button)


def share_html_handlers(app: Any) -> None:
    """Let ``singlehtml`` draw what extensions registered for ``html`` alone, as theirs does."""
    handlers = app.registry.translation_handlers
    handlers["singlehtml"] = handlers.get("html", {}) | handlers.get("singlehtml", {})
    if app.builder.name == "singlehtml":
        app.add_css_file("print.css")
        app.set_html_assets_policy("always")  # formulas need MathJax, whichever page has them


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_config_value("book_as_pdf", "", "html", [str])
    app.connect("config-inited", find_pdf)
    app.connect("builder-inited", share_html_handlers)
    app.connect("html-page-context", add_pdf_button, priority=901)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    sys.exit(main())
