"""The theme's icons without its library of 2,000: a Sphinx extension.

The theme gives every page 1.4 MB of JavaScript that draws the few icons of its buttons, and .25 MB
of style and font. Here each icon that a page names becomes a rule of one small style sheet, with
its outline taken from that library, and no page loads the library any more. Signs that the theme
draws by its font alone, as before the titles of admonitions, are hidden in this book.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SHEET = "icons.css"
BASE = """.fas, .fa-solid { display: inline-block; font-style: normal; line-height: 1; }
.fa-lg { font-size: 1.25em; line-height: 0.05em; vertical-align: -0.075em; }
"""
_NAMED = re.compile(r'<(?:i|span) class="([^"]*\bfa-[^"]*)"')
_LIBRARY = re.compile(
    r'\s*(?:<script[^>]*src="[^"]*fontawesome[^"]*"[^>]*></script>'
    r'|<link rel="preload" as="font"[^>]*fontawesome[^>]*/?>)'
)
_STYLE = re.compile(r'<link href="([^"]*)vendor/fontawesome[^"]*\.css[^"]*" rel="stylesheet" ?/>')
# name:[width, height, [other names], "code", "outline"]; the solid ones come last.
_OUTLINE = r'[{{,]"?{}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]'
_NO_ICON = {"fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw", "fa-sm"}


def icons_named(page: str) -> set[str]:
    """Names of the icons on a page, such as ``bars`` for ``<i class="fa-solid fa-bars">``."""
    words = {word for found in _NAMED.findall(page) for word in found.split()}
    return {word[3:] for word in words if word.startswith("fa-") and word not in _NO_ICON}


def rule(name: str, library: str) -> str:
    """The rule of style that draws an icon in the colour of the text, from the library's outline.

    Raises:
        ValueError: the library has no icon of that name.
    """
    found = re.findall(_OUTLINE.format(re.escape(name)), library)
    if not found:
        raise ValueError(f"the theme's library has no icon {name!r}")
    width, height, outline = found[-1]
    picture = (
        f"%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'%3E"
        f"%3Cpath d='{outline}'/%3E%3C/svg%3E"
    )
    return (
        f'.fa-{name}::before {{ content: ""; display: inline-block; '
        f"width: {int(width) / int(height):.4g}em; height: 1em; vertical-align: -0.125em; "
        f'background: currentColor; mask: url("data:image/svg+xml,{picture}") center / contain '
        "no-repeat; }\n"
    )


def lightened(page: str) -> str:
    """A page that loads :data:`SHEET` in place of the library."""
    return _STYLE.sub(rf'<link href="\1{SHEET}" rel="stylesheet" />', _LIBRARY.sub("", page))


def lighten(app: Any, exception: Exception | None) -> None:
    """Once all pages are written: write :data:`SHEET`, and load it in place of the library."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    scripts = sorted(static.glob("vendor/fontawesome/*/js/all.min.js"))
    if not scripts:
        raise RuntimeError("the theme brings its icons no longer in vendor/fontawesome")
    pages = {path: path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html")}
    names = set().union(*map(icons_named, pages.values())) | {"xmark"}  # the theme's own script
    library = scripts[-1].read_text(encoding="utf-8")
    rules = "".join(rule(name, library) for name in sorted(names))
    (static / SHEET).write_text(BASE + rules, encoding="utf-8")
    for path, page in pages.items():
        if (light := lightened(page)) != page:
            path.write_text(light, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
