"""Mutants of the certificates on paper 5."""

from __future__ import annotations

from tests.counterexamples.programs import STANDS, Mutant

NORM = "retrieval.prop8.operator"
BALL = "retrieval.prop8.lem41_maurey"
MUTANTS = [
    Mutant(NORM, "LENGTH2 = Fraction(1)", "LENGTH2 = Fraction(2)", "states are no longer"),
    Mutant(NORM, "SHARE = Fraction(1, 5)", "SHARE = Fraction(1, 4)", "differ in more than a fifth"),
    Mutant(NORM, "SIGNS = 4 ", "SIGNS = 3 ", "differ in more than a fifth"),
    Mutant(NORM, "[-iv.sqrt(2 / iv.pi), iv.sqrt(2 / iv.pi)]", "[iv.mpf(0)] * 2", "risk at most c"),
    Mutant(NORM, "for i in range(2**R)]", "for i in range(2**R - 1)]", "risk at most c"),
    Mutant(NORM, '"0.37", "1.79"', '"0.37", "1.7"', "the read-out is L-Lipschitz"),
    Mutant(NORM, "return U[0] ** 2 + U[1] ** 2", "return d_h * (U[0] ** 2 + U[1] ** 2)", STANDS),
    Mutant(BALL, "EPS = iv.mpf(1) / 2", "EPS = iv.mpf(2)", "the scale is above 0 and below 1"),
    Mutant(BALL, "CONSTANTS = (1, ", "CONSTANTS = (0, ", "the constant is at least 1"),
    Mutant(
        BALL, "return C * iv.log(1 + D * EPS**2) / EPS**2", "return D * iv.log(1 + 2 / EPS)", STANDS
    ),
    Mutant(BALL, "RATIO = 64 ", "RATIO = 4 ", STANDS),  # too few dimensions
]
