"""A Chromium without a network, for tests of pages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from bookkit.pdf import BROWSERS, SWITCHES
from tests.small_book import PATIENCE

NO_BROWSER = (
    "the pages were not opened: no Chromium here; get it by `apt-get install chromium` "
    "(Debian, Ubuntu) and run make test again"
)


@pytest.fixture(scope="module")
def browser():
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield chromium
        chromium.close()


def patient(target):
    """A tab, or a context of tabs, that waits as long as a busy machine may take."""
    target.set_default_timeout(1000 * PATIENCE)
    return target


def served(route, page: str, static: Path) -> None:
    """Answer a request to the root by a page, another by a file of a folder, else by nothing."""
    name = urlsplit(route.request.url).path.strip("/")
    if not name:
        route.fulfill(body=page, content_type="text/html; charset=utf-8")
    elif (static / name).is_file():
        kind = "text/css" if name.endswith("css") else "text/javascript"
        text = (static / name).read_text(encoding="utf-8")
        route.fulfill(body=text, content_type=f"{kind}; charset=utf-8")
    else:
        route.fulfill(status=204)


def listened(tab, messages: list[str]) -> None:
    """Collect what a tab says of errors and warnings."""
    tab.on("console", lambda m: m.type in ("error", "warning") and messages.append(m.text))
    tab.on("pageerror", lambda error: messages.append(str(error)))
