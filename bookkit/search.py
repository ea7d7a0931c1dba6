"""What the search of the rendered book finds beside the words of its pages: a Sphinx extension.

A result is found by its number in the paper, and theorem boxes and findings by the words of their
titles. A question is searched without its small words ("which", "for", "my"). Where nothing is
found, the page offers the words of the book's headings and glossary that are spelled nearly alike
(``book/_static/spelling.js``).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from typing import Any

from sphinx.search.en import SearchEnglish

from bookkit.chapters import REGISTER, Chapter
from bookkit.register import load_register
from bookkit.scoreboard import theorem_label

# Of questions: they say nothing of what is asked for.
_SMALL_WORDS = """
about am any been can could did do does from had has have how i many may me might much must my our
should so some than us we were what when where which who whose why would you your
"""
_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)*"
_NUMBERED = re.compile(rf"([A-Z][a-z]+)\.? \(?({_NUMBER}(?:\)?(?:, | and | / |-)\(?{_NUMBER})*)")
_WORD = re.compile(r"[a-z]{4,}")
_COMMAND = re.compile(r"\\([A-Za-z]+)|[{}]")
_SIGNS = {"lfloor": "⌊", "rfloor": "⌋", "sqrt": "√", "ge": "≥", "le": "≤", "ell": "ℓ"}


class Questions(SearchEnglish):
    """Sphinx's English, without the small words of questions."""

    stopwords = SearchEnglish.stopwords | set(_SMALL_WORDS.split())


def heading_words(env: Any) -> list[str]:
    """Words of headings and of the glossary, those that stand there most often first."""
    terms = (name for name, _, kind, *_ in env.get_domain("std").get_objects() if kind == "term")
    texts = [*(toc.astext() for toc in env.tocs.values()), *terms]
    counted = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    return sorted(counted, key=lambda word: (-counted[word], word))


def add_spelling_words(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the page of the search the words that it may offer."""
    if pagename == "search":
        app.add_js_file(None, body=f"const BOOK_WORDS = {json.dumps(heading_words(app.env))};")
        app.add_js_file("spelling.js")


def numbered(ref: str) -> list[str]:
    """Each result that a reference names: "Lemmas 3-5" gives "Lemma 3", "Lemma 4", "Lemma 5"."""
    found = []
    for kind, numbers in _NUMBERED.findall(ref):
        one = {"Corollaries": "Corollary"}.get(kind, kind.removesuffix("s"))
        shown = "Eq. ({})" if one == "Eq" else f"{one} {{}}"
        for run in re.split(r"\)?(?:, | and | / )\(?", numbers):
            first, _, last = run.partition("-")
            lead, low = re.fullmatch(r"(.*?)(\d+)", first).groups()  # type: ignore[union-attr]
            high = re.search(r"\d+$", last)
            until = int(high[0]) if high else int(low)
            found += [shown.format(f"{lead}{i}") for i in range(int(low), until + 1)]
    return found


def names_of_results(chapter: str) -> dict[str, str]:
    """What a chapter's results are called, such as "P1 Theorem 6", and their addresses on its page.

    Of a reference that has more than numbers, such as "Lemma 8, the proof", what it begins with
    counts, and of such a part nothing. The address is the result's box or, where there is none, the
    card with the verdict.
    """
    found: dict[str, str] = {}
    for paper, rows in load_register(REGISTER).items():
        for row in (r for rows_ in rows for r in (rows_, *rows_.parts) if not paper.own):
            plain = not re.sub(r"and|[\s,/()]", "", _NUMBERED.sub("", row.ref))
            lead = _NUMBERED.match(row.ref) if row in rows else None
            if row.chapter == chapter and (plain or lead):
                label = theorem_label(Chapter(chapter), row.ref) or "verdict"
                for name in numbered(row.ref if plain or not lead else lead[0]):
                    found.setdefault(f"{paper.number} {name}", label)
    return found


def index_results(app: Any, doctree: Any) -> None:
    """Enter a chapter's results in the index that the search asks first."""
    from docutils import nodes
    from sphinx.addnodes import index

    for box in doctree.findall(nodes.admonition):
        if "verdict-card" in box["classes"]:
            box["ids"].append("verdict")
    names = names_of_results(app.env.docname.removeprefix("book/"))
    if names:
        doctree += index("", entries=[("single", n, at, "main", None) for n, at in names.items()])


def in_letters(tex: str) -> str:
    r"""A short formula for a list that sets none.

    >>> in_letters(r"\lfloor n/2 \rfloor + W_{QK}"), in_letters(r"\Delta > 0"), in_letters("k^2")
    ('⌊ n/2 ⌋ + W_QK', 'Δ > 0', 'k^2')
    """

    def sign(match: re.Match[str]) -> str:
        name = match[1] or ""
        case = "CAPITAL" if name[:1].isupper() else "SMALL"
        try:
            return unicodedata.lookup(f"GREEK {case} LETTER {name.removeprefix('var')}")
        except KeyError:
            return _SIGNS.get(name, name)

    return _COMMAND.sub(sign, tex)


def boxes(doctree: Any) -> list[tuple[str, str, str]]:
    """Title, kind and address of every theorem box and finding of a page."""
    from docutils import nodes

    found = []
    for title in doctree.findall(nodes.title):
        box = title.parent
        kind = "finding" if "finding" in box["classes"] else box.get("realtype")
        texts = title.findall(nodes.Text)
        told = "".join(in_letters(t) if isinstance(t.parent, nodes.math) else t for t in texts)
        words = re.sub(r"^ \((.*)\)$", r"\1", re.sub(r" \(\d{4}\)", "", told))
        if kind and box["ids"] and words:
            found.append((words, kind, box["ids"][0]))
    return found


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    from sphinx.domains import Domain

    class Boxes(Domain):
        """Theorem boxes and findings, for the search."""

        name, label = "book", "This book"

        @property
        def found(self) -> dict[str, list[tuple[str, str, str]]]:
            kept: dict[str, list[tuple[str, str, str]]] = self.data.setdefault("boxes", {})
            return kept

        def clear_doc(self, docname: str) -> None:
            self.found.pop(docname, None)

        def merge_domaindata(self, docnames: Any, otherdata: Any) -> None:
            self.found.update({name: otherdata["boxes"][name] for name in docnames})

        def process_doc(self, env: Any, docname: str, document: Any) -> None:
            self.found[docname] = boxes(document)

        def get_objects(self) -> Any:
            for docname, found in self.found.items():
                for words, kind, address in found:
                    yield words, words, kind, docname, address, 0

        def resolve_any_xref(self, *given: Any) -> list[Any]:
            return []

    app.add_domain(Boxes)
    app.add_search_language(Questions)
    app.connect("doctree-read", index_results)
    app.connect("html-page-context", add_spelling_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
