"""Certificates on paper 3: a change that spares the statement, or breaks a hypothesis, is seen."""

import pytest

from bookkit.findings import CERTIFICATES
from tests.counterexamples.programs import STANDS, Mutant, check, check_covered

MUTANTS = [
    Mutant(program, *change)
    for program, changes in {
        "variables.lemB2.mean": [
            ("GAMMA, NORMS = 2, F(1, 10), 2", "GAMMA, NORMS = 2, F(2), 2", "0 < gamma"),
            ("F(1) if i == j", "F(1, 2) if i == j", "unit vectors"),
            ("sign = [1] * s + [-1] * s", "sign = [1] * (2 * s)", "the same sum"),
            ("GAMMA, NORMS = 2, F(1, 10), 2", "GAMMA, NORMS = 2, F(1, 2), 2", STANDS),
        ],
    }.items()
    for change in changes
]
PROGRAMS = sorted(path.stem for path in CERTIFICATES.glob("variables.*.py"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_mutant_is_seen(mutant):
    check(mutant)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_has_its_mutants(program):
    check_covered(program, MUTANTS)
