"""Mutants of the certificates on paper 3."""

from __future__ import annotations

from tests.counterexamples.programs import STANDS, Mutant

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
