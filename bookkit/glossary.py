"""The glossary: its terms show their definition where they stand. A Sphinx extension.

On every other page the first use of a term in running prose becomes a link to the glossary with the
definition as its description, which the style sheet shows on hover and on focus. Terms inside a
block of the class ``unmarked`` are ordinary words too, and are defined without being marked.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = "book/glossary"
MOST = 12
"""Terms marked on a page."""
APART = "title caption legend table literal math reference pending_xref footnote citation strong"
CARDS = ("verdict-card", "sd-card")


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    Attributes:
        anchor: Its address on the glossary's page. words: It and what else it is called.
        definition: Its first paragraph, as plain words.
    """

    anchor: str
    words: tuple[str, ...]
    definition: str


@dataclass(frozen=True)
class Use:
    """A term in a text, from ``start`` to ``end``."""

    start: int
    end: int
    term: Term


def plural(word: str) -> str:
    """The simple plural of a term, by its last word."""
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search(r"(s|x|ch|sh)$", word) else f"{word}s"


def uses(text: str, terms: Sequence[Term]) -> Iterator[Use]:
    """Where terms stand in a text as whole words, the longest first where several could.

    Args:
        text: Plain words. A first letter may be a capital, and a term may be in the plural.
        terms: Those to look for.
    """
    if not terms:
        return
    pattern, names = _finder(tuple(terms))
    for found in pattern.finditer(text):
        plain = " ".join(found[0].split())
        name = plain if plain in names else plain[0].lower() + plain[1:]
        yield Use(found.start(), found.end(), names[name])


def terms_of(doctree: Any) -> list[Term]:
    """The terms of a page's glossaries but those inside a block of the class ``unmarked``."""
    from docutils import nodes
    from sphinx.addnodes import glossary

    found = []
    for lists in doctree.findall(glossary):
        if any("unmarked" in outer.get("classes", ()) for outer in _above(lists)):
            continue
        for item in lists.findall(nodes.definition_list_item):
            names = [part for part in item if isinstance(part, nodes.term)]
            words = tuple(name.astext() for name in names)
            definition = " ".join(item[-1][0].astext().split())
            found.append(Term(names[0]["ids"][0], words, definition))
    return found


def linked(name: str, address: str, definition: str) -> str:
    """A term as a link with its definition, in HTML."""
    address, definition = html.escape(address), html.escape(definition)
    description = f'aria-description="{definition}"'
    return f'<a class="term" href="{address}" {description}>{html.escape(name)}</a>'


def mark(doctree: Any, terms: Sequence[Term], page: str, most: int = MOST) -> list[str]:
    """Turn the first use of each term in a page's running prose into a link.

    A term that comes first in italics is left alone: the page says itself what it means there.

    Args:
        doctree: Of the page, resolved; changed in place.
        terms: Of the glossary.
        page: Address of the glossary as seen from here.
        most: Links at most.

    Returns:
        What was marked, as it is written, in order.
    """
    from docutils import nodes

    met: set[Term] = set()
    marked: list[str] = []
    for text in [t for t in doctree.findall(nodes.Text) if _runs(t)]:
        pieces: list[Any] = []
        words, start = text.astext(), 0
        for use in uses(words, terms):
            new = use.term not in met
            met.add(use.term)
            if not new or isinstance(text.parent, nodes.emphasis) or len(marked) == most:
                continue
            marked.append(words[use.start : use.end])
            link = linked(marked[-1], f"{page}#{use.term.anchor}", use.term.definition)
            pieces += [nodes.Text(words[start : use.start]), nodes.raw("", link, format="html")]
            start = use.end
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(words[start:])])
    return marked


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; a change of this file writes every page again."""

    def resolved(app: Any, doctree: Any, docname: str) -> None:
        if app.builder.format == "html" and docname != PAGE and PAGE in app.env.found_docs:
            address = app.builder.get_relative_uri(docname, PAGE)
            mark(doctree, terms_of(app.env.get_doctree(PAGE)), address)

    app.add_config_value("glossary_made_by", Path(__file__).read_text(encoding="utf-8"), "html")
    app.connect("doctree-read", lead_to_meanings)
    app.connect("doctree-resolved", resolved)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def lead_to_meanings(app: Any, doctree: Any) -> None:
    """Let the search lead to a term's definition, which it then quotes, and not to its name."""
    from docutils import nodes
    from sphinx.addnodes import glossary, index

    for lists in doctree.findall(glossary):
        for item in lists.findall(nodes.definition_list_item):
            meaning = item[0]["ids"][0].replace("term-", "meaning-")
            item[-1]["ids"].append(meaning)
            for entry in item.findall(index):
                entry["entries"] = [(e[0], e[1], meaning, *e[3:]) for e in entry["entries"]]


@functools.lru_cache(maxsize=4)
def _finder(terms: tuple[Term, ...]) -> tuple[re.Pattern[str], dict[str, Term]]:
    names = {form: term for term in terms for w in term.words for form in (w, plural(w))}
    longest = sorted(names, key=len, reverse=True)
    pattern = "|".join(re.sub(r"(\\ )+", r"\\s+", re.escape(name)) for name in longest)
    anyhow = re.sub(r"(^|\|)([a-z])", lambda m: f"{m[1]}[{m[2]}{m[2].upper()}]", pattern)
    return re.compile(rf"(?<![\w-])(?:{anyhow})(?![\w-])"), names


def _above(node: Any) -> Iterator[Any]:
    while node := node.parent:
        yield node


def _runs(text: Any) -> bool:
    """Whether a text is running prose: a paragraph's, outside all that stands apart."""
    above = list(_above(text))
    kinds = {type(outer).__name__ for outer in above}
    classes = {name for outer in above for name in outer.get("classes", ())}
    return "paragraph" in kinds and not kinds & set(APART.split()) and not classes & set(CARDS)
