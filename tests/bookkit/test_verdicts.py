"""From claims to verdicts, by the rules that the page *How to read* states."""

import itertools

import pytest

from bookkit.claims import ABOUT, EVIDENCE, VERDICTS, Claim
from bookkit.verdicts import NOW, STATED, as_stated, deciding, known_now, together


def claim(verdict, about="statement", evidence="proved"):
    good = verdict in ("holds", "repaired", "reproduced")
    numbers = (0.5, "at_most", 1, 0.0, 2) if good else (2, "at_most", 1, 0.0, 0.5)
    return Claim("p.r", f"{verdict} {about}", *numbers, verdict, None, about, evidence)


HOLDS, SAMPLED = claim("holds"), claim("holds", evidence="sampled")
FALSE, REPAIRED = claim("refuted"), claim("repaired")
TRIED = claim("repaired", evidence="searched")


@pytest.mark.parametrize(
    ("claims", "stated", "now"),
    [
        ([], "not judged", "open"),
        ([HOLDS], "true", "holds"),
        ([SAMPLED], "not contradicted", "not contradicted"),
        ([SAMPLED, HOLDS], "true", "holds"),
        ([FALSE], "false", "false"),
        ([FALSE, REPAIRED, HOLDS], "false", "repaired"),
        ([FALSE, TRIED], "false", "false"),
        ([HOLDS, claim("refuted", "proof")], "proof gap", "holds"),
        ([claim("refuted", "proof")], "proof gap", "open"),
        ([claim("refuted", "proof"), claim("repaired", "proof")], "proof gap", "holds"),
        ([HOLDS, claim("refuted", "constant")], "constant loose", "holds"),
        ([claim("refuted", "constant"), claim("refuted", "proof")], "proof gap", "open"),
        ([HOLDS, claim("refuted", "constant"), claim("refuted", "proof")], "proof gap", "holds"),
        ([claim("repaired", "constant", "sampled")], "not judged", "not contradicted"),
        ([FALSE, claim("refuted", "proof")], "false", "false"),
        ([claim("refuted", "code"), claim("holds", "ours")], "not judged", "open"),
        ([HOLDS, claim("refuted", "code"), claim("refuted", "ours")], "true", "holds"),
        ([HOLDS, claim("refuted", "remark")], "true", "holds"),
        ([HOLDS, claim("refuted", "condition")], "true with a condition", "holds"),
        ([HOLDS, claim("refuted", "misprint")], "misprint", "holds"),
        ([HOLDS, claim("refuted", "misprint"), claim("refuted", "proof")], "misprint", "holds"),
        ([SAMPLED, claim("refuted", "condition")], "not contradicted", "not contradicted"),
        ([claim("refuted", "misprint")], "not judged", "open"),
        ([FALSE, claim("refuted", "condition")], "false", "false"),
    ],
)
def test_a_theorem_is_judged_by_its_own_claims(claims, stated, now):
    assert as_stated("theorem", claims) == stated
    assert known_now("theorem", claims) == now


@pytest.mark.parametrize(
    ("verdicts", "found"),
    [
        (["reproduced"], "reproduced"),
        (["not reproduced"], "not reproduced"),
        (["reproduced", "not reproduced"], "partly"),
    ],
)
def test_an_experiment_is_reproduced_in_whole_in_part_or_not(verdicts, found):
    claims = [claim(v, "experiment", "trained") for v in verdicts]
    assert as_stated("experiment", claims) == known_now("experiment", claims) == found


@pytest.mark.parametrize("source", ["restored", "code"])
def test_what_is_not_theirs_is_not_called_false(source):
    assert as_stated("theorem", [FALSE, HOLDS], source) == "restored form fails"
    assert known_now("theorem", [FALSE, HOLDS], source) == "open"
    assert known_now("theorem", [FALSE, REPAIRED], source) == "repaired"
    assert as_stated("theorem", [HOLDS], source) == "true"
    assert as_stated("theorem", [FALSE], "quoted") == "false"
    assert deciding("theorem", [HOLDS, FALSE], source) == FALSE


def test_a_remark_is_the_statement_of_a_row_for_remarks():
    wrong = [claim("refuted", "remark")]
    assert as_stated("remark", wrong) == "false"
    assert as_stated("theorem", [*wrong, HOLDS]) == "true"


def test_no_verdict_outside_the_lists_and_code_never_counts():
    for v, a, e in itertools.product(VERDICTS, ABOUT, EVIDENCE):
        for kind in ("theorem", "remark", "experiment", "claim"):
            assert as_stated(kind, [claim(v, a, e)]) in STATED
            assert known_now(kind, [claim(v, a, e)]) in NOW
            for silent in ("code", "ours"):
                extra = [claim(v, a, e), claim("refuted", silent)]
                assert as_stated(kind, extra) == as_stated(kind, [claim(v, a, e)])


def test_parts_that_differ_make_a_row_partly_so():
    assert together(["holds", "holds"]) == "holds"
    assert together(["holds", "open"]) == "partly"


def test_the_claim_that_is_quoted_bears_the_verdict():
    assert deciding("theorem", [HOLDS, FALSE]) == FALSE
    assert deciding("theorem", [SAMPLED, HOLDS]) == HOLDS
    assert deciding("theorem", []) is None
    missing = claim("refuted", "condition")
    assert deciding("theorem", [HOLDS, missing]) == missing
