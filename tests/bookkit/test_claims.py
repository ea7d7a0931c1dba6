"""The ledger: a check decides, or it is an error."""

import json
import math

import pytest
import torch

from bookkit import claims
from bookkit.claims import MIME, ClaimError, Ledger
from bookkit.register import Entry

KNOWN = {"about": "statement", "evidence": "attained"}
VERBS = {
    "holds": "holds",
    "refuted": "refuted",
    "repaired": "repaired",
    "reproduced": "reproduced",
    "not reproduced": "not_reproduced",
}


def entry(id="p.r", source="restored"):
    return Entry(id, "Lemma 1", "lemma", "p/x", source, "a claim", "", "p")


@pytest.fixture
def ledger(monkeypatch):
    monkeypatch.setattr(claims, "find_entry", entry)
    return Ledger("part/chapter")


def say(ledger, verdict, text, measured, **given):
    getattr(ledger.result("p.r"), VERBS[verdict])(text, measured, **(KNOWN | given))
    return ledger.claims[-1]


@pytest.mark.parametrize(
    ("relation", "measured", "control", "verdict"),
    [
        ({"at_most": 1}, 0.5, 2.0, "holds"),
        ({"at_most": 1}, 2.0, 0.5, "refuted"),
        ({"at_most": 1}, 0.5, 2.0, "repaired"),
        ({"at_least": 1}, 3, -1, "reproduced"),
        ({"at_least": 1}, -1, 3, "not reproduced"),
        ({"equals": 4, "tol": 0.1}, 4.05, 4.2, "holds"),
        ({"at_most": 0, "tol": 1e-9}, 1e-10, 1e300, "holds"),
    ],
)
def test_the_verdict_is_found_from_the_numbers(ledger, relation, measured, control, verdict):
    claim = say(ledger, verdict, "text", measured, control=control, **relation)
    assert (claim.verdict, claim.about, claim.evidence) == (verdict, "statement", "attained")
    assert ledger.claims == [claim]


@pytest.mark.parametrize(("measured", "control"), [(0.5, 0.7), (0.5, 1.0), (2.0, 3.0)])
def test_a_control_with_the_same_outcome_is_an_error(ledger, measured, control):
    verdict = "holds" if measured < 1 else "refuted"
    with pytest.raises(ClaimError, match="cannot fail"):
        say(ledger, verdict, "text", measured, control=control, at_most=1)


FOUND = 0.1 * math.sqrt(2)


@pytest.mark.parametrize(
    ("control", "how"),
    [
        (-FOUND, "minus"),
        (1 / FOUND, "one over"),
        (2 * FOUND, "twice"),
        (FOUND / 2, "half of"),
        (10 * FOUND, "10 times"),
        (FOUND / 10, "a tenth of"),
    ],
)
def test_a_control_that_is_arithmetic_is_refused(ledger, control, how):
    with pytest.raises(ClaimError, match=f"is {how} the measured"):
        say(ledger, "holds", "text", FOUND, control=control, equals=FOUND)
    assert claims.arithmetic(FOUND, control * (1 + 1e-9)) == ""


@pytest.mark.parametrize("factor", [-2, 3, 1 / 3, 9, 20, 73, 100])
def test_other_multiples_may_be_honest(ledger, factor):
    say(ledger, "holds", "text", FOUND, control=factor * FOUND, equals=FOUND)
    assert claims.arithmetic(FOUND, factor * FOUND) == ""


@pytest.mark.parametrize("draws", [5, 64, 4000, 19_999, 20_000])
def test_no_two_shares_of_draws_are_arithmetic(draws):
    """A control of 1387 of 4000 draws is honest, though it is 73 times the 19 measured."""
    counts = [*range(1, 41), draws // 3, draws // 2, draws - 1]
    assert not any(claims.arithmetic(a / draws, b / draws) for a in counts for b in counts)
    assert not any(claims.arithmetic(1 - a / draws, b / draws) for a in counts for b in counts)
    assert not any(claims.arithmetic(a / draws, draws / b) for a in counts for b in counts)
    assert not any(claims.arithmetic(1 - a / draws, 2 - 2 * a / draws) for a in counts)


def test_numbers_of_few_digits_are_no_arithmetic(ledger):
    say(ledger, "holds", "a", 0.9999999999, control=2.0, at_most=1)
    say(ledger, "holds", "b", 0.25, control=4, at_most=1)
    near = 1 - 3e-9  # attained up to rounding, and with half the constant
    say(ledger, "holds", "c", near, control=2 * near, at_most=1)
    assert claims.arithmetic(1 / 70, 1.0) == ""
    assert claims.arithmetic(7001 / 19_000, 7001 / 190_000) == ""


def test_another_verdict_than_declared_stops_the_run(ledger):
    with pytest.raises(ClaimError, match=r"p\.r: declared 'holds', found 'refuted': words: 2\.0"):
        say(ledger, "holds", "words", 2.0, control=0.0, at_most=1)
    with pytest.raises(ClaimError, match="declared 'refuted', found 'holds'"):
        say(ledger, "refuted", "words", 0.0, control=2.0, at_most=1)
    with pytest.raises(ClaimError, match="declared 'repaired', found 'refuted'"):
        say(ledger, "repaired", "words", 2.0, control=0.0, at_most=1)
    assert ledger.claims == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_decides_nothing(ledger, bad):
    for verdict in ("holds", "refuted"):
        with pytest.raises(ClaimError, match="not a finite number"):
            say(ledger, verdict, "t", bad, control=5, at_most=1)
    with pytest.raises(ClaimError, match=f"control is {bad}, not a finite number"):
        say(ledger, "holds", "t", 0, control=bad, at_most=1)
    with pytest.raises(ClaimError, match="stderr is"):
        say(ledger, "holds", "t", 0, control=5, at_most=1, stderr=bad)
    with pytest.raises(ValueError, match=f"{bad} is no finite number; write what was found"):
        say(ledger, "holds", f"from {bad} to 3", 0, control=5, at_most=1)
    assert ledger.claims == []


def test_bad_input_is_named(ledger):
    with pytest.raises(ValueError, match="got at_most and equals"):
        say(ledger, "holds", "t", 0, control=1, at_most=0, equals=0)
    with pytest.raises(ValueError, match="got none"):
        say(ledger, "holds", "t", 0, control=1)
    with pytest.raises(ValueError, match="unknown about 'theorem'; choose one of statement, "):
        say(ledger, "holds", "t", 0, control=1, at_most=0, about="theorem")
    with pytest.raises(ValueError, match="unknown evidence 'obvious'"):
        say(ledger, "holds", "t", 0, control=1, at_most=0, evidence="obvious")
    with pytest.raises(ValueError, match="tol must be finite and at least 0, got -1"):
        say(ledger, "holds", "t", 0, control=1, at_most=0, tol=-1)
    with pytest.raises(ValueError, match="tol must be finite and at least 0, got inf"):
        say(ledger, "holds", "t", 0, control=1, at_most=0, tol=math.inf)
    with pytest.raises(TypeError, match="about"):
        ledger.result("p.r").holds("t", 0, at_most=0, control=1, evidence="proved")
    say(ledger, "holds", "t", 0, control=1, at_most=0)
    with pytest.raises(ValueError, match="checked before"):
        say(ledger, "holds", "t", 0, control=1, at_most=0)


def test_as_printed_is_refused_of_what_was_not(ledger, monkeypatch):
    with pytest.raises(ValueError, match="its source is restored, so no claim says"):
        say(ledger, "holds", "As printed: the bound", 0, control=1, at_most=0)
    monkeypatch.setattr(claims, "find_entry", lambda id: entry(id, "printed"))
    say(ledger, "holds", "as printed: the bound", 0, control=1, at_most=0)
    claims.Result(ledger, "of.none").holds("as printed: it", 0, control=1, at_most=0, **KNOWN)
    assert [c.id for c in ledger.claims] == ["p.r", "of.none"]


def test_an_unknown_result_is_named():
    with pytest.raises(
        KeyError, match=r"has no result 'sharper\.thm77'; did you mean sharper\.thm"
    ):
        Ledger("part/chapter").result("sharper.thm77")


def test_a_verb_returns_nothing_that_a_cell_could_show(ledger):
    assert ledger.result("p.r").holds("t", 0, at_most=0, control=1, **KNOWN) is None


def test_tensors_and_counts_are_taken_as_they_are(ledger):
    claim = say(ledger, "holds", "t", torch.tensor(3), control=torch.tensor(0.5), at_least=2)
    assert (claim.measured, claim.control) == (3, 0.5)
    assert isinstance(claim.measured, int)
    assert claim.found == "3"


def test_a_residue_of_rounding_is_shown_by_its_tolerance(ledger):
    claim = say(ledger, "holds", "t", 6.7e-10, control=0.98, at_most=0, tol=1e-7)
    assert claim.found == "< 1e-07"
    claim = say(ledger, "refuted", "u", 0.98, control=6.7e-10, at_most=0, tol=1e-7)
    assert (claim.found, claim.turned) == ("0.98", "< 1e-07")
    claim = say(ledger, "holds", "v", 1.0000001, control=3, equals=1, tol=1e-6)
    assert claim.found == "1 within 1e-06"
    assert say(ledger, "holds", "w", 0.02, control=3, equals=0, tol=0.05).found == "0.02"


def test_an_empty_ledger_is_refused(ledger):
    with pytest.raises(ClaimError, match="empty"):
        ledger.show()


def test_the_record_is_json_and_complete(ledger, capsys):
    say(ledger, "holds", "t | u", 0.25, stderr=0.01, control=9, at_most=1, tol=0.5)
    record = json.loads(json.dumps(ledger.record()))
    assert record["chapter"] == "part/chapter"
    assert record["claims"] == [
        {
            "id": "p.r",
            "text": "t | u",
            "measured": 0.25,
            "relation": "at_most",
            "bound": 1,
            "tol": 0.5,
            "control": 9,
            "verdict": "holds",
            "stderr": 0.01,
            "about": "statement",
            "evidence": "attained",
        }
    ]
    assert r"| `p.r` | t \| u | 0.25 ± 0.01 | ≤ 1 ± 0.5 | 9 | holds |" in ledger.markdown()
    assert MIME.endswith("+json")
    ledger.show()
    assert (
        "p.r: t | u: 0.25 ± 0.01, required ≤ 1 ± 0.5, control 9: holds" in capsys.readouterr().out
    )


def test_the_display_without_digits_has_none(ledger, capsys):
    say(ledger, "holds", "text", 0.123456, control=9, at_most=1)
    ledger.verdicts()
    assert capsys.readouterr().out == "p.r: text: holds\n"
