"""What must not be left on a page: markup that was not rendered, numbers that are none or raw."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from bookkit.output import NOT_FINITE

VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"),
}
_LITERAL = {"code", "pre", "script", "style", "textarea"}
_CELL = {"th", "td", "caption"}
_APART = {"a", "table"}
_CLASSES_APART = {"cell", "citation", "edition"}
RAW_ROLE = re.compile(r"\{[a-z][a-z:_-]*\}[`<]|\{glue|:::\{|```\{")
_ASCII = re.compile(
    r"(?<![\w./@-])[A-Za-z]{1,2}_[A-Za-z0-9]+\b(?![./])|[\w)]\^[\w(-]|\bsqrt\b"
    r"|\b(?:alpha|beta|gamma|delta|epsilon|eta|lambda|sigma|theta)\b"
)
_FORMULA = re.compile(r"\$[^$]+\$|\\[a-zA-Z]{2,}")
_LONG = re.compile(r"\d\.\d{8,}|(?<!\w)\d{8,}|(?<![\w.])\d+\.?\d*e[+-]?\d+(?!\w)")


class _Page(HTMLParser):
    """Reads a page; leaves its faults in ``found``."""

    def __init__(self, reference: bool) -> None:
        super().__init__()
        self.reference = reference
        self.open: list[tuple[str, str]] = []
        self.words: list[list[str]] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("class") or ""))
            self.words.append([])

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and all in it that were left open."""
        if tag not in (name for name, _ in self.open):
            return
        closed = ""
        while closed != tag:
            closed, _ = self.open.pop()
            words = self.words.pop()
            if self.words:
                self.words[-1] += words
        if tag == "code" and not "".join(words).strip():
            self.found.append("an empty box of code")

    def handle_data(self, data: str) -> None:
        """Look at a text, by what it stands in."""
        if not self.open:
            return
        self.words[-1].append(data)
        tags = {tag for tag, _ in self.open}
        if tags & _LITERAL:
            return
        classes = {name for _, given in self.open for name in given.split()}
        formula = "math" in classes
        kinds = [("a raw role", RAW_ROLE)]
        if not formula and not self.reference:
            kinds.append(("a number that is none", NOT_FINITE))
        if not (formula or self.reference or tags & _APART or classes & _CLASSES_APART):
            kinds.append(("a raw number", _LONG))
        if not formula and tags & _CELL:
            kinds.append(("a raw formula in a table", _FORMULA))
        if not formula and tags & _CELL and not self.reference:
            kinds.append(("a formula in ASCII", _ASCII))
        for kind, pattern in kinds:
            found = pattern.search(data)
            if found:
                around = data[max(found.start() - 40, 0) : found.end() + 40]
                self.found.append(f"{kind}: {' '.join(around.split())}")
                break


def left_over(page: str, *, reference: bool = False) -> list[str]:
    """What was left unrendered on a page, or is a raw number or none, in words; or nothing.

    Args:
        page: HTML as it was written, before a browser sets its formulas.
        reference: It describes code, whose sentences speak of NaN and of arguments by name.
    """
    reader = _Page(reference)
    reader.feed(page)
    reader.close()
    return reader.found
