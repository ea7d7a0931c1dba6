"""Certificates: a change that spares the statement, or breaks a hypothesis, is seen."""

import pytest

from bookkit.findings import CERTIFICATES
from tests.counterexamples import lengthfree, retrieval, sensitive, sharper, variables
from tests.counterexamples.programs import STANDS, hypotheses, run

PAPERS = (sharper, sensitive, variables, lengthfree, retrieval)
MUTANTS = [mutant for paper in PAPERS for mutant in paper.MUTANTS]
PROGRAMS = sorted(path.stem for path in CERTIFICATES.glob("*.py"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_mutant_ends_with_1_and_says_what_fails_or_that_the_statement_stands(mutant):
    done = run(mutant.program, mutant.old, mutant.new)
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert "Traceback" not in output, output
    failed = [name for name, holds in hypotheses(done.stdout).items() if not holds]
    if mutant.fails == STANDS:
        assert not failed, output
        assert "the statement stands" in done.stdout
    else:
        assert any(mutant.fails in name for name in failed), output


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_has_a_mutant_in_which_the_statement_stands(program):
    """``tests/bookkit/test_register.py`` runs every program as it is."""
    assert STANDS in [mutant.fails for mutant in MUTANTS if mutant.program == program]
