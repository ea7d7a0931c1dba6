"""The map of a part: its chapters in reading order, and what builds on what."""

import pytest
from bs4 import BeautifulSoup

from bookkit import maps
from bookkit.chapters import BOOK

PARTS = sorted(
    path.parent.name for path in BOOK.glob("*/index.md") if list(path.parent.glob("*.py"))
)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_a_page_with_its_map(part):
    assert f"```{{map}} {part}\n" in (BOOK / part / "index.md").read_text(encoding="utf-8")
    listed = maps.stops(part)
    own = [stop for stop in listed if stop.inside]
    assert [s.name for s in own] == [n for n in maps.reading_order() if n.startswith(f"{part}/")]
    names = {stop.name for stop in listed}
    assert all(set(stop.needs) <= names for stop in own)
    assert all(not stop.title.startswith("(") and stop.title for stop in listed)


def test_the_arcs_are_the_needs():
    listed = [
        maps.Stop("a/outside", "Outside", False, ()),
        maps.Stop("b/first", "First", True, ("a/outside",)),
        maps.Stop("b/second", "Second", True, ("a/outside", "b/first")),
    ]
    drawn = BeautifulSoup(maps.arcs(listed), "html.parser")
    assert len(drawn.find_all("path")) == 3
    assert [dot["class"] for dot in drawn.find_all("circle")] == [
        ["outside"],
        ["inside"],
        ["inside"],
    ]
    places = [float(dot["cy"]) for dot in drawn.find_all("circle")]
    ends = sorted((p["d"].split()[0], p["d"].split()[-1]) for p in drawn.find_all("path"))
    starts = {float(start.split(",")[1]) for start, _ in ends}
    assert starts == set(places[:2])
    assert {float(end.split(",")[1]) for _, end in ends} == set(places[1:])


def test_a_chip_counts_equal_verdicts():
    page = BeautifulSoup(maps.chips(["holds", "false", "holds"]), "html.parser")
    assert [chip.text for chip in page.find_all("span")] == ["2 × holds", "false"]


def test_an_unknown_part_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="no part 'nowhere'; there are: cube"):
        maps.stops("nowhere")
