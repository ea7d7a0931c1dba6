"""The register and the pages built from it."""

import re

import pytest

from helpers.book import scoreboard
from helpers.book.chapters import BOOK, every_chapter
from helpers.book.claims import VERDICTS, Claim

ROWS = scoreboard.load_rows()
FINDING = dict.fromkeys(("printed", "counterexample", "why", "repair", "survives"), "words")


def row(*verdicts, **options):
    claims = [Claim("p.r", f"claim {v}", 0.5, "at_most", 1, 0.0, 2, v) for v in verdicts]
    given = {"part": "p", "id": "p.r", "ref": "Lemma 1", "claim": "a | b_c", "chapter": "p/x"}
    return scoreboard.Row(**given | {"written": bool(claims), "claims": claims} | options)


def test_every_row_is_complete_and_unique():
    for part, rows in scoreboard.load_register().items():
        for entry in rows:
            assert {"id", "ref", "kind", "chapter", "claim"} <= set(entry)
            assert entry["id"].startswith(f"{part}.")
    ids = [r.id for r in ROWS]
    assert len(ids) == len(set(ids)) >= 103


def test_a_row_is_judged_exactly_if_its_chapter_recorded_claims():
    written = {c.name for c in every_chapter()}
    for r in ROWS:
        assert (r.verdict == "open") == (not r.claims)
        assert r.written <= (r.chapter in written)
    assert any(r.verdict != "open" for r in ROWS)


def test_the_scoreboard_hides_no_row():
    text = scoreboard.scoreboard(ROWS)
    assert text.count("\n") == len(ROWS) + 1
    assert text.count("`open`") == sum(r.verdict == "open" for r in ROWS)


def test_a_row_shows_verdict_numbers_and_link():
    text = scoreboard.scoreboard([row("holds", "refuted"), row()])
    assert r"| Lemma 1 | a \| b\_c | {bdg-danger}`refuted` | 0.5, required ≤ 1; 1 more |" in text
    assert "{doc}`/book/p/x`" in text
    assert "| {bdg-secondary}`open` |  | `p/x` |" in text


def test_totals_add_up():
    text = scoreboard.totals([row("holds"), row("repaired", "refuted"), row()])
    assert "| **all** | 3 | 1 | 1 | 0 | 0 | 0 | 1 |" in text
    lines = [re.findall(r"\| (\d+)", line) for line in scoreboard.totals(ROWS).splitlines()[2:]]
    for counts in lines:
        assert int(counts[0]) == sum(map(int, counts[1:]))
        assert len(counts) == len(VERDICTS) + 2


def test_findings_tell_every_part_of_the_story():
    text = scoreboard.findings([row("refuted", findings=[FINDING])])
    for word in ("Printed", "Counterexample", "Why", "Repair", "What survives"):
        assert f"**{word}.** words" in text
    assert scoreboard.findings([row("holds")]) == "None yet."


@pytest.mark.parametrize("page", ["scoreboard", "findings"])
def test_the_page_has_a_section_for_every_part(page):
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    for part in scoreboard.load_register():
        assert f"```{{{page}}} {part}\n" in text
