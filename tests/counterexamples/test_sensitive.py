"""Certificates on paper 2: a change of an instance that spares the statement is seen."""

import pytest

from bookkit.scoreboard import CERTIFICATES
from tests.counterexamples.programs import STANDS, Mutant, check, check_covered  # noqa: F401

MUTANTS: list[Mutant] = []
PROGRAMS = sorted(path.stem for path in CERTIFICATES.glob("sensitive.*.py"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_mutant_is_seen(mutant):
    check(mutant)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_hypothesis_has_a_mutant(program):
    check_covered(program, MUTANTS)
