"""The graph of what rests on what: its arrows, its columns, and what falls with what."""

import re
import xml.etree.ElementTree as ET

import pytest

from bookkit import dependencies
from bookkit.claims import Claim
from bookkit.dependencies import Edge, columns, consequences, drawing, edges, users
from bookkit.register import Entry, full_refs
from bookkit.scoreboard import Row, load_rows

FALSE = Claim("p.x", "t", 2, "at_most", 1, 0.0, 0.5, "refuted", None, "statement", "proved")
TRUE = Claim("p.x", "t", 0.5, "at_most", 1, 0.0, 2, "holds", None, "statement", "proved")
GAP = Claim("p.x", "t", 2, "at_most", 1, 0.0, 0.5, "refuted", None, "proof", "proved")


def row(name, claim, rests_on=(), implies=(), parts=()):
    told = (f"p.{name}", f"Lemma {name}", "lemma", "part/x", "printed", "A thing is <1.", "", "p")
    entry = Entry(*told, rests_on=tuple(rests_on), implies=tuple(implies))
    return Row(entry, (claim,), tuple(parts))


ROWS = [
    row("a", FALSE, implies=["p.e"]),
    row("b", TRUE, ["p.a"], parts=[row("b.part", GAP, ["p.a", "p.other"])]),
    row("c", FALSE, ["p.b.part"]),
    row("d", TRUE),
    row("e", FALSE),
]
BY_ID = {r.entry.id: r for top in ROWS for r in (top, *top.parts)}
ARROWS = edges(ROWS)
NAMES = {id: row.entry.ref for id, row in BY_ID.items()}


def test_arrows_lead_from_what_is_used_and_stay_inside():
    assert set(ARROWS) == {
        Edge("p.a", "p.b"),
        Edge("p.a", "p.b.part"),
        Edge("p.b.part", "p.c"),
        Edge("p.a", "p.e", implied=True),
    }
    assert users(ARROWS, "p.a") == ["p.e", "p.b", "p.b.part", "p.c"]
    assert users(ARROWS, "p.c") == []


def test_every_arrow_goes_to_the_right_and_no_node_is_lost():
    place = {n: i for i, column in enumerate(columns(ARROWS)) for n in column}
    assert set(place) == {"p.a", "p.b", "p.b.part", "p.c", "p.e"}
    assert all(place[e.used] < place[e.result] for e in ARROWS)


def test_what_is_used_late_stands_late():
    arrows = [Edge("a", "b"), Edge("b", "c"), Edge("late", "c")]
    assert columns(arrows) == [["a"], ["b", "late"], ["c"]]


def test_the_drawing_is_well_formed_with_a_link_and_a_colour_for_each_node():
    text = drawing(ARROWS, BY_ID, NAMES, "scoreboard.html", "g")
    root = ET.fromstring(text)
    links = {a.get("href"): a.get("class") for a in root.iter("a")}
    assert links["scoreboard.html#r-p-a"] == "verdict-bad"
    assert links["scoreboard.html#r-p-b"] == "verdict-good"
    assert links["scoreboard.html#r-p-b-part"] == "verdict-mended"
    assert len(links) == 5
    assert len(re.findall(r"<path d=", text)) == 4, "three arrows of use and the tip"
    assert text.count('class="implied"') == 1
    boxes = {(r.get("x"), r.get("y")) for r in root.iter("rect")}
    assert len(boxes) == 5, "no node covers another"
    wide, tall = (float(root.find("svg").get(name)) for name in ("width", "height"))
    for box in root.iter("rect"):
        x, y, w, h = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= wide - w
        assert 0 <= y <= tall - h


def test_the_table_says_what_falls_and_what_stands():
    text = consequences(ARROWS, BY_ID, NAMES)
    lines = [re.sub(r"\[|\]\{[^}]*\}", "", line) for line in text.splitlines()[2:]]
    assert lines == [
        "| Lemma a false | Lemma e false; Lemma b.part proof gap; Lemma c false | Lemma b true |",
        "| Lemma b.part proof gap | Lemma c false | none |",
    ]
    assert "All results" in consequences([Edge("p.d", "p.b")], BY_ID, NAMES)


@pytest.mark.parametrize("paper", [p for p in load_rows() if not p.own], ids=lambda p: p.key)
def test_every_paper_has_a_graph(paper):
    section = load_rows()[paper]
    arrows = dependencies.edges(section)
    placed = dependencies.columns(arrows)  # an error if uses and consequences go in a circle
    assert (
        {node for column in placed for node in column} >= {edge.result for edge in arrows} > set()
    )
    page = (dependencies.REGISTER.parent / "what_rests_on_what.md").read_text(encoding="utf-8")
    assert f"```{{dependencies}} {paper.key}\n" in page


def test_a_part_without_a_number_is_called_by_its_row_too():
    refs = full_refs()
    assert refs["sharper.rem3.norm"] == "Remark 3: norm"
    assert refs["sharper.thm5.identity"] == "Theorem 13 (identity)"
