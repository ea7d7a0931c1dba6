"""The glossary: which words are marked on a page, and what its entries must be."""

import re

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from bookkit import glossary
from bookkit.chapters import BOOK
from bookkit.glossary import Term

SHARP = Term("term-sharpness", ("sharpness",), 'How sharp, "roughly".')
AVERAGE = Term("term-average-sensitivity", ("average sensitivity", "total influence"), "A mean.")
PLAIN = Term("term-sensitivity", ("sensitivity",), "At one input.")
PARITY = Term("term-PARITY", ("PARITY",), "The product.")
TERMS = [SHARP, AVERAGE, PLAIN, PARITY]


def found(text, terms=TERMS):
    return [(text[u.start : u.end], u.term) for u in glossary.uses(text, terms)]


def paragraph(*parts):
    made = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    return nodes.paragraph("", "", *made)


def links(doctree):
    page = "".join(raw.astext() for raw in doctree.findall(nodes.raw))
    return BeautifulSoup(page, "html.parser").find_all("a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The sharpness, and average sensitivity.", ["sharpness", "average sensitivity"]),
        ("Sharpness grows; total\ninfluence too.", ["Sharpness", "total\ninfluence"]),
        ("two sensitivities", ["sensitivities"]),
        ("PARITY is not parity", ["PARITY"]),
        ("sharpness-aware, unsharpness", []),
        ("", []),
    ],
)
def test_terms_are_found_as_whole_words_the_longest_first(text, words):
    assert [word for word, _ in found(text)] == words


def test_without_terms_nothing_is_found():
    assert found("sharpness", []) == []


@pytest.mark.parametrize(
    ("one", "many"),
    [("kink", "kinks"), ("sparsity", "sparsities"), ("loss", "losses"), ("key", "keys")],
)
def test_plurals(one, many):
    assert glossary.plural(one) == many


def test_the_first_use_becomes_a_link_with_the_definition():
    page = nodes.document(None, None)
    page += paragraph("Low sharpness. Sharpness again.")
    assert glossary.mark(page, TERMS, "../glossary.html") == ["sharpness"]
    (link,) = links(page)
    assert link["href"] == "../glossary.html#term-sharpness"
    assert link["aria-description"] == SHARP.definition
    assert page[0][0].astext() == "Low "
    assert page[0][2].astext() == ". Sharpness again."


def test_what_is_not_running_prose_is_left_alone():
    page = nodes.document(None, None)
    page += nodes.section("", nodes.title("", "sharpness"))
    page += nodes.literal_block("", "sharpness")
    page += paragraph(nodes.literal("", "sharpness"), nodes.math("", "sharpness"))
    page += paragraph(nodes.reference("", "sharpness", refuri="x"), nodes.strong("", "sharpness"))
    page += nodes.table("", nodes.entry("", paragraph("sharpness")))
    page += nodes.figure("", nodes.caption("", "sharpness"))
    page += nodes.admonition("", paragraph("sharpness"), classes=["verdict-card"])
    page += nodes.container("", paragraph("sharpness"), classes=["sd-card"])
    assert glossary.mark(page, TERMS, "g") == []
    page += nodes.bullet_list("", nodes.list_item("", paragraph("sharpness")))
    assert glossary.mark(page, TERMS, "g") == ["sharpness"]


def test_a_term_that_the_page_explains_itself_is_left_alone():
    page = nodes.document(None, None)
    page += paragraph("Its ", nodes.emphasis("", "sharpness"), " is this.")
    page += paragraph("So the sharpness of a network")
    assert glossary.mark(page, TERMS, "g") == []


def test_a_longer_term_met_twice_does_not_give_its_part_away():
    page = nodes.document(None, None)
    page += paragraph("average sensitivity, average sensitivity")
    assert glossary.mark(page, TERMS, "g") == ["average sensitivity"]


def test_a_page_has_not_more_than_so_many():
    page = nodes.document(None, None)
    page += paragraph("sharpness, sensitivity, PARITY")
    assert glossary.mark(page, TERMS, "g", most=2) == ["sharpness", "sensitivity"]


def written():
    """The glossary as it is written: each list of entries, an entry's terms and its definition."""
    text = (BOOK / "glossary.md").read_text(encoding="utf-8")
    lists = []
    for block in re.findall(r"```\{glossary\}\n(.*?)\n```", text, re.DOTALL):
        entries = []
        for entry in re.split(r"\n\n(?=\S)", block):
            lines = entry.split("\n")
            definition = next(line.strip() for line in lines if line.startswith("  "))
            entries.append(([x for x in lines if x and not x.startswith(" ")], definition))
        lists.append(entries)
    return lists


def test_the_definitions_are_two_plain_sentences_at_most():
    lists = written()
    assert 35 <= sum(map(len, lists)) <= 70
    for terms, definition in (entry for entries in lists for entry in entries):
        assert not re.search(r"[$`*{}\\]", definition), terms
        assert len(re.findall(r"[.?!](?= |$)", definition)) <= 2, terms
        assert len(definition) <= 240, terms


def test_the_entries_are_in_order_and_their_names_are_unlike():
    for entries in written():
        first = [terms[0].lower() for terms, _ in entries]
        assert first == sorted(first)
    names = [glossary.plural(t) for entries in written() for terms, _ in entries for t in terms]
    assert len(names) == len({name.lower() for name in names})
