"""The ledger: a check decides, or it is an error."""

import json
import math

import pytest
import torch

from helpers.book.claims import MIME, ClaimError, Ledger, combined_verdict, number


@pytest.fixture
def ledger():
    return Ledger("part/chapter")


@pytest.mark.parametrize(
    ("relation", "measured", "control", "expect"),
    [
        ({"at_most": 1}, 0.5, 2.0, "holds"),
        ({"at_most": 1}, 2.0, 0.5, "refuted"),
        ({"at_most": 1}, 0.5, 2.0, "repaired"),
        ({"at_least": 1}, 3, -1, "reproduced"),
        ({"at_least": 1}, -1, 3, "not reproduced"),
        ({"equals": 4, "tol": 0.1}, 4.05, 4.2, "holds"),
        ({"at_most": 0, "tol": 1e-9}, 1e-10, math.inf, "holds"),
    ],
)
def test_the_verdict_is_found_from_the_numbers(ledger, relation, measured, control, expect):
    claim = ledger.check(
        "p.r", "text", measured=measured, control=control, expect=expect, **relation
    )
    assert claim.verdict == expect
    assert ledger.claims == [claim]


@pytest.mark.parametrize(("measured", "control"), [(0.5, 0.7), (0.5, 1.0), (2.0, 3.0)])
def test_a_control_with_the_same_outcome_is_an_error(ledger, measured, control):
    expect = "holds" if measured < 1 else "refuted"
    with pytest.raises(ClaimError, match="cannot fail"):
        ledger.check("p.r", "text", measured=measured, control=control, at_most=1, expect=expect)


def test_another_verdict_than_declared_stops_the_run(ledger):
    with pytest.raises(ClaimError, match=r"p\.r: declared 'holds', found 'refuted': words: 2\.0"):
        ledger.check("p.r", "words", measured=2.0, control=0.0, at_most=1)
    with pytest.raises(ClaimError, match="declared 'refuted', found 'holds'"):
        ledger.check("p.r", "words", measured=0.0, control=2.0, at_most=1, expect="refuted")
    with pytest.raises(ClaimError, match="declared 'repaired', found 'refuted'"):
        ledger.check("p.r", "words", measured=2.0, control=0.0, at_most=1, expect="repaired")
    assert ledger.claims == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_decides_nothing(ledger, bad):
    for expect in ("holds", "refuted"):
        with pytest.raises(ClaimError, match="not a finite number"):
            ledger.check("p.r", "t", measured=bad, control=5, at_most=1, expect=expect)
    with pytest.raises(ClaimError, match="control is nan"):
        ledger.check("p.r", "t", measured=0, control=math.nan, at_most=1)


def test_bad_input_is_named(ledger):
    with pytest.raises(ValueError, match="got at_most and equals"):
        ledger.check("p.r", "t", measured=0, control=1, at_most=0, equals=0)
    with pytest.raises(ValueError, match="got none"):
        ledger.check("p.r", "t", measured=0, control=1)
    with pytest.raises(ValueError, match="unknown verdict 'true'"):
        ledger.check("p.r", "t", measured=0, control=1, at_most=0, expect="true")
    with pytest.raises(ValueError, match="tol must be finite and at least 0, got -1"):
        ledger.check("p.r", "t", measured=0, control=1, at_most=0, tol=-1)
    ledger.check("p.r", "t", measured=0, control=1, at_most=0)
    with pytest.raises(ValueError, match="checked before"):
        ledger.check("p.r", "t", measured=0, control=1, at_most=0)


def test_tensors_and_counts_are_taken_as_they_are(ledger):
    claim = ledger.check(
        "p.r", "t", measured=torch.tensor(3), control=torch.tensor(0.5), at_least=2
    )
    assert (claim.measured, claim.control) == (3, 0.5)
    assert isinstance(claim.measured, int)
    assert claim.found == "3"


def test_a_refuted_claim_needs_a_finding(ledger, capsys):
    ledger.check("p.r", "t", measured=2, control=0, at_most=1, expect="refuted")
    with pytest.raises(ClaimError, match=r"no finding explains p\.r"):
        ledger.show()
    parts = dict.fromkeys(("printed", "counterexample", "why", "repair", "survives"), "words")
    with pytest.raises(ValueError, match="needs a claim"):
        ledger.finding("p.other", **parts)
    ledger.finding("p.r", **parts)
    ledger.show()
    assert "p.r: t: 2, required ≤ 1, control 0: refuted" in capsys.readouterr().out


def test_an_empty_ledger_is_refused(ledger):
    with pytest.raises(ClaimError, match="empty"):
        ledger.show()


def test_the_record_is_json_and_complete(ledger):
    ledger.check("p.r", "t | u", measured=0.25, stderr=0.01, control=9, at_most=1, tol=0.5)
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
        }
    ]
    assert r"| `p.r` | t \| u | 0.25 ± 0.01 | ≤ 1 ± 0.5 | 9 | holds |" in ledger.markdown()
    assert MIME.endswith("+json")


def test_the_display_without_digits_has_none(ledger, capsys):
    ledger.check("p.r", "text", measured=0.123456, control=9, at_most=1)
    ledger.verdicts()
    assert capsys.readouterr().out == "p.r: text: holds\n"


@pytest.mark.parametrize(
    ("verdicts", "combined"),
    [
        ([], "open"),
        (["holds", "holds"], "holds"),
        (["holds", "refuted"], "refuted"),
        (["refuted", "repaired", "holds"], "repaired"),
        (["reproduced", "not reproduced"], "not reproduced"),
        (["holds", "reproduced"], "reproduced"),
    ],
)
def test_a_result_is_as_good_as_its_worst_claim(verdicts, combined):
    assert combined_verdict(verdicts) == combined


@pytest.mark.parametrize(
    ("x", "text"), [(3, "3"), (3.0, "3.0"), (0.0, "0.0"), (1e-17, "1e-17"), (0.123456, "0.1235")]
)
def test_numbers_that_are_not_counts_show_a_point_or_an_exponent(x, text):
    assert number(x) == text
