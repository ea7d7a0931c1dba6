"""The icons of the pages, without the library that they come from."""

from __future__ import annotations

import pytest

from bookkit.icons import icons_named, lightened, rule

LIBRARY = (
    'c={bars:[448,512,[],"f0c9","M0 1z"],"file-pdf":[1,2,[],"f1","M7z"]},'
    'd={bars:[2,4,["navicon"],"f0c9","M3 4z"]}'
)
PAGE = """<link href="../_static/vendor/fontawesome/6/css/all.min.css?digest=1" rel="stylesheet" />
<link rel="preload" as="font" crossorigin href="../_static/vendor/fontawesome/6/a.woff2" />
<script src="../_static/vendor/fontawesome/6/js/all.min.js?digest=1"></script>
<script src="x.js"></script>
<span class="fa-solid fa-bars fa-lg"></span><i class="fas fa-file-pdf"></i>"""


def test_the_icons_of_a_page_are_found():
    assert icons_named(PAGE) == {"bars", "file-pdf"}


def test_an_icon_is_drawn_by_its_solid_outline():
    assert ".fa-bars::before" in rule("bars", LIBRARY)
    assert "viewBox='0 0 2 4'" in rule("bars", LIBRARY)
    assert "M3 4z" in rule("bars", LIBRARY)
    assert "M7z" in rule("file-pdf", LIBRARY)


def test_an_icon_that_the_library_lacks_is_named():
    with pytest.raises(ValueError, match="no icon 'unicorn'"):
        rule("unicorn", LIBRARY)


def test_a_page_loads_the_small_sheet_and_not_the_library():
    page = lightened(PAGE)
    assert "all.min.js" not in page
    assert "all.min.css" not in page
    assert "woff2" not in page
    assert '<link href="../_static/icons.css" rel="stylesheet" />' in page
    assert '<script src="x.js"></script>' in page
    assert lightened(page) == page
