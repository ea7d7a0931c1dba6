"""Print the rendered book as one PDF: ``python -m bookkit.pdf``, or ``make pdf``.

The document of ``bookkit/volume.py`` is opened in Chromium, without a network. The book's
own copy of MathJax sets the formulas, what is wider than the sheet is made smaller, and the browser
prints: twice, as the contents need the numbers of the sheets, which the first print shows.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from bookkit.chapters import ROOT
from bookkit.output import print_anywhere
from bookkit.volume import NoSuchTargetError, document, pdf_name

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
COLUMN = 158
"""Width of the text, in millimetres: A4 less the margins in ``print.css``."""
MEMORY = "4 to 5 GB"
_PATIENCE = 1_800_000  # milliseconds for all formulas, on a busy machine

_TYPESET = """async () => {
    await MathJax.startup.promise;
    await MathJax.typesetPromise();
    await document.fonts.ready;
    await Promise.all([...document.images].map(image => image.decode()));
}"""
# Formulas and tables that are wider than the column get smaller, tables down to 5 points. What is
# measured is measured before anything is changed: each change lays the whole book out anew.
FIT = """() => {
    const width = e => e.getBoundingClientRect().width;
    for (let turn = 0; turn < 6; turn++) {
        const wide = [...document.querySelectorAll("article table")]
            .map(e => [e, width(e) / width(e.parentElement), getComputedStyle(e).fontSize])
            .filter(([, ratio]) => ratio > 1.001);
        for (const [table, ratio, size] of wide)
            table.style.fontSize = `${Math.max(parseFloat(size) * 0.75 * 0.98 / ratio, 5)}pt`;
        if (!wide.length) break;
    }
    const around = "p, li, dd, td, th, div, section";
    const wide = [...document.querySelectorAll("article mjx-container > svg")].map(svg => {
        const box = svg.parentElement;
        const room = width(box.hasAttribute("display") ? box : box.closest(around));
        const {width: across, height} = svg.getBoundingClientRect();
        return [svg, room, across, height];
    }).filter(([, room, across]) => across > room && room > 0);
    for (const [svg, room, across, height] of wide) {
        svg.style.width = `${room}px`;
        svg.style.height = `${height * room / across}px`;
    }
}"""
_FAULTS = r"""() => {
    const found = [];
    const say = e => `${e.closest("article")?.id}: ${e.textContent.trim().slice(0, 60)}`;
    for (const e of document.querySelectorAll(".math"))
        if (e.textContent.trim() && !e.querySelector("mjx-container svg"))
            found.push(`formula not set, ${say(e)}`);
    for (const e of document.querySelectorAll("mjx-merror, [data-mjx-error]"))
        found.push(`formula with an error, ${say(e)}`);
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const near = words.currentNode.parentElement;
        if (!near.closest("pre, code, script, style, .math")
            && /\\\(|\\\[|\$\$|\\[a-z]{3,}\b/.test(words.currentNode.data))
            found.push(`formula not set, ${say(near)}`);
    }
    const edge = document.body.getBoundingClientRect().right + 1;
    const parts = "p, li, td, th, table, pre, figure, img, svg, h1, h2, h3, h4, h5";
    for (const e of document.querySelectorAll(parts))
        if (!e.closest("svg svg, mjx-container g") && e.getBoundingClientRect().right > edge)
            found.push(`cut at the right edge, ${say(e)}`);
    const ids = new Set([...document.querySelectorAll("[id]")].map(e => e.id));
    for (const link of document.querySelectorAll('a[href^="#"]'))
        if (!ids.has(link.getAttribute("href").slice(1)))
            found.push(`link without a target, ${link.getAttribute("href")}`);
    return found;
}"""
_NUMBER = """numbers => {
    for (const place of document.querySelectorAll(".contents .page"))
        place.textContent = numbers[place.dataset.of];
}"""


class NoBrowserError(RuntimeError):
    """There is no Chromium on this machine."""


class FaultyError(RuntimeError):
    """The document cannot be printed as it is."""


def browser_path() -> str:
    """Where Chromium is.

    Raises:
        NoBrowserError: it is nowhere.
    """
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise NoBrowserError(NO_BROWSER)
    return path


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """The document in a browser, as wide as the column of text, with its formulas set.

    Raises:
        NoBrowserError: there is no Chromium.
    """
    path = browser_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        width = round(COLUMN * 96 / 25.4)
        page = browser.new_page(viewport={"width": width, "height": 1000})
        page.set_default_timeout(_PATIENCE)
        page.emulate_media(media="print")
        page.goto(file.as_uri())
        page.evaluate(_TYPESET)
        page.evaluate(FIT)
        yield page
        browser.close()


def faults(page: Any) -> list[str]:
    """What would be wrong in print: formulas not set, what is cut off, links without a target."""
    found: list[str] = page.evaluate(_FAULTS)
    return found


def objects(pdf: bytes) -> dict[int, bytes]:
    """The objects of a PDF as Chromium writes it, without their streams, by number."""
    found, at = {}, 0
    head = re.compile(rb"(\d+) 0 obj\n")
    while match := head.search(pdf, at):
        start = match.end()
        end = pdf.find(b"endobj", start)
        stream = pdf.find(b" stream\n", start, end)
        if stream >= 0:
            length = re.search(rb"/Length (\d+)", pdf[start:stream])
            at = stream + len(b" stream\n") + int(length[1] if length else 0)
            found[int(match[1])] = pdf[start:stream]
        else:
            at = end
            found[int(match[1])] = pdf[start:end]
    return found


def sheets_of(pdf: bytes) -> tuple[int, dict[str, int]]:
    """How many sheets a PDF has, and for each address that a link leads to, its sheet from 1.

    Raises:
        FaultyError: the file has no list of sheets or of addresses.
    """
    parts = objects(pdf)
    kids = {
        n: re.findall(rb"(\d+) 0 R", m[1])
        for n, p in parts.items()
        if (m := re.search(rb"/Kids \[([^\]]*)\]", p)) and b"/Type /Pages" in p
    }
    root = [n for n in kids if b"/Parent" not in parts[n]]
    named = [p for p in parts.values() if re.match(rb"<<(/[^\s]+ \[\d+ 0 R /XYZ)", p)]
    if not root or not named:
        raise FaultyError("the PDF that Chromium made has no list of sheets or of addresses")

    def leaves(node: int) -> Iterator[int]:
        for kid in map(int, kids[node]):
            yield from leaves(kid) if kid in kids else (kid,)

    order = {sheet: i for i, sheet in enumerate(leaves(root[0]), 1)}
    ends = re.findall(rb"/([^\s/]+) \[(\d+) 0 R /XYZ", named[0])
    return len(order), {name.decode("ascii"): order[int(at)] for name, at in ends}


def printed(page: Any, tell: Callable[[str], None] = lambda _: None) -> bytes:
    """The document as a PDF, with the numbers of the sheets in its contents.

    Raises:
        FaultyError: the document has faults, or its contents find no numbers.
    """
    if found := faults(page):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise FaultyError(f"not printed: {found[0]}{more}")
    before: dict[str, int] = {}
    for turn in ("first", "second", "third"):
        pdf: bytes = page.pdf(
            prefer_css_page_size=True, print_background=True, outline=True, tagged=True
        )
        count, at = sheets_of(pdf)
        tell(f"{turn} print: {count} pages, {len(pdf) / 1e6:.1f} MB")
        listed = page.evaluate("[...document.querySelectorAll('.page')].map(e => e.dataset.of)")
        if missing := [name for name in listed if name not in at]:
            raise FaultyError(f"the contents find no sheet for {missing[0]}")
        now = {name: at[name] for name in listed}
        if now == before:
            return pdf
        before = now
        page.evaluate(_NUMBER, now)
    raise FaultyError("the contents change the numbers that they show")


def main(arguments: list[str] | None = None) -> int:
    """Print the book, unless it is printed as it is; 0, or 1 with one line that says why not."""
    print_anywhere()
    parser = argparse.ArgumentParser(prog="python -m bookkit.pdf", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of the book")
    parser.add_argument("--out", type=Path, help="the PDF; without it, beside the rendered pages")
    options = parser.parse_args(arguments)
    site, kept = options.root / "_build" / "html", options.root / "_build" / "pdf"
    config = yaml.safe_load((options.root / "_config.yml").read_text(encoding="utf-8"))
    out = options.out or site / pdf_name(config["title"])
    from playwright.sync_api import Error

    try:
        browser_path()
        text = document(site, options.root)
        made_by = text + Path(__file__).read_text(encoding="utf-8")
        seal, mark = kept / f"{out.name}.sha256", hashlib.sha256(made_by.encode()).hexdigest()
        if out.is_file() and seal.is_file() and seal.read_text() == mark:
            print(f"The book, printed before: {out}")
            return 0
        kept.mkdir(parents=True, exist_ok=True)
        file = kept / "book.html"
        file.write_text(text, encoding="utf-8")
        with opened(file) as page:
            pdf = printed(page, lambda said: print(said, flush=True))
    except FileNotFoundError as error:
        print(f"error: {error.filename} is missing; run make html first", file=sys.stderr)
        return 1
    except (NoBrowserError, FaultyError, NoSuchTargetError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except Error as error:
        why = str(error).splitlines()[0]
        print(
            f"error: Chromium stopped ({why}); the book needs {MEMORY} of memory", file=sys.stderr
        )
        return 1
    partial = out.with_suffix(".partial")
    partial.write_bytes(pdf)
    partial.replace(out)
    seal.write_text(mark)
    print(f"The book: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
