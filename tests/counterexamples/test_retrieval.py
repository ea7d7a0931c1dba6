"""Certificates on paper 5: a change that spares the statement, or breaks a hypothesis, is seen."""

import pytest

from bookkit.findings import CERTIFICATES
from tests.counterexamples.programs import STANDS, Mutant, check, check_covered

MUTANTS = [
    Mutant(program, *change)
    for program, changes in {
        "retrieval.prop8.operator": [
            (
                "2 * lipschitz**2 * iv.log(1 + 4 * N * R) ** power, iv.mpf(lower) * N",
                "2 * lipschitz**2 * 4 * N * R, iv.mpf(lower) * N",
                STANDS,
            ),
            ("level = iv.sqrt(2 / iv.pi)", "level = iv.mpf(0)", "at most c"),
            ("SHARE = Fraction(1, 5)", "SHARE = Fraction(1, 2)", "exist for every N"),
        ],
        "retrieval.prop8.lem41_maurey": [
            ("EPS = iv.mpf(1) / 2", "EPS = iv.mpf(1)", "0 < eps < 1"),
            ("D = 64 * C**2", "D = 1", STANDS),
        ],
    }.items()
    for change in changes
]
PROGRAMS = sorted(path.stem for path in CERTIFICATES.glob("retrieval.*.py"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_mutant_is_seen(mutant):
    check(mutant)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_has_its_mutants(program):
    check_covered(program, MUTANTS)
