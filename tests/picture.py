"""The picture of a chapter that README shows, drawn from the built book: ``make picture``."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from bookkit.chapters import ROOT
from bookkit.pdf import BROWSERS, SWITCHES

CHAPTER = "book/cube/average_sensitivity"
PICTURE = ROOT / "book" / "_static" / "page.png"
SIZE = {"width": 1200, "height": 860}
_READY = """async () => {
    await document.fonts.ready;
    if (window.MathJax) await MathJax.startup.promise;
    document.querySelector("main h1").scrollIntoView();
}"""


def draw(browser: Browser, page: Path, picture: Path) -> None:
    """Open a built page and store what a reader sees first, as a PNG of 256 colours."""
    tab = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
    tab.goto(page.as_uri())
    tab.evaluate(_READY)
    tab.screenshot(path=picture)
    with Image.open(picture) as whole:
        small = whole.convert("RGB").quantize(256)
    small.save(picture, optimize=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0, or 1 with one line that says what is missing."""
    parser = argparse.ArgumentParser("python -m tests.picture", description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--chapter", default=CHAPTER)
    parser.add_argument("--out", type=Path, default=PICTURE)
    given = parser.parse_args(arguments)
    page = given.site / f"{given.chapter}.html"
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if not page.is_file() or path is None:
        missing = "no Chromium here (Debian: apt-get install chromium)"
        if path is not None:
            missing = f"{page} is not there; run make book first"
        print(f"error: {missing}", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        draw(browser, page, given.out)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
