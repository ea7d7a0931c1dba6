"""A Chromium without a network, for tests of pages."""

from __future__ import annotations

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

from helpers.book.pdf import BROWSERS, SWITCHES

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
