"""Mutants of the certificates on paper 2."""

from __future__ import annotations

from tests.counterexamples.programs import STANDS, Mutant

MUTANTS = [
    Mutant(program, *change)
    for program, changes in {
        "sensitive.lem13.lem15": [
            ("SCORE = Fraction(1, 4)", "SCORE = Fraction(1, 8)", "is at least 1"),
            ("U = (1, -1)", "U = (2, -2)", "tokens come from layer norm"),
            ("VALUE = 1000", "VALUE = 100", STANDS),
        ],
        "sensitive.majority_point": [
            ("if gap <= 2", "if gap > 2", "every x of 3 to 12 bits"),
            ("all(s < n for n, s", "all(s > n for n, s", STANDS),
        ],
        "sensitive.mean_point": [
            ("scaled = [n * n * max", "scaled = [n * max", STANDS),
        ],
        "sensitive.thm6_hessian.trace": [
            ("HALF, LAYERS = 16, 2", "HALF, LAYERS = 16, 3", "d = 32 > 12 L"),
            (
                "Fraction(i, n), Fraction(1, n), Fraction(1, n * n)",
                "Fraction(i, n), Fraction(1, n), Fraction(i * 9)",
                "bounded C",
            ),
            (
                "4 * sum(squares) / len(strings)",
                "4 * n * sum(squares) / len(strings)",
                STANDS,
            ),
        ],
    }.items()
    for change in changes
]
