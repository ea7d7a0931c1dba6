"""Mutants of the certificates on paper 4."""

from __future__ import annotations

from tests.counterexamples.programs import STANDS, Mutant

MUTANTS = [
    Mutant(program, *change)
    for program, changes in {
        "lengthfree.lem3_1": [
            (
                "V, alpha, b, k = Q(1), Q(1, 2), Q(1), 1",
                "V, alpha, b, k = Q(2), Q(1, 2), Q(1), 1",
                "|V| <= b",
            ),
            (
                "V, alpha, b, k = Q(1), Q(1, 2), Q(1), 1",
                "V, alpha, b, k = Q(1), Q(3, 2), Q(1), 1",
                "gamma <= 1",
            ),
            (
                "V, alpha, b, k = Q(1), Q(1, 2), Q(1), 1",
                "V, alpha, b, k = Q(1), Q(-1, 2), Q(1), 1",
                "alpha >= 0",
            ),
            (
                "V, alpha, b, k = Q(1), Q(1, 2), Q(1), 1",
                "V, alpha, b, k = Q(1), Q(1, 2), Q(1), 2",
                STANDS,
            ),
        ],
        "lengthfree.lem3_1_count": [
            ("alpha = [Q(1, d)] * d", "alpha = [Q(1)] * d", "gamma <= 1"),
            ("d, k, b = 3, 1, Q(1)", "d, k, b = 3, 1, Q(1, 2)", "|V_i| <= b"),
            ("if sum(t) <= k]", "if sum(t) == k]", STANDS),
        ],
        "lengthfree.lem3_4": [
            ("x = [1] + [0] * (d - 1)", "x = [0] * (d - 1) + [1]", "more than 2 eps apart"),
            ("inputs = [x] * (d + 1)", "inputs = [x] * d", "N > d"),
            ("((10, 14), (1000, 21), (10**6, 32))", "((10**9, 14), (1000, 21))", STANDS),
        ],
        "lengthfree.lem3_4.lem3_5": [
            ("points = [(1, 0)]", "points = [(0, 1)]", "more than 2 eps apart"),
            ("points = [(1, 0)]", "points = [(1, 1)]", "|x_i|_2 <= B_x"),
            ("((1, 16), (100, 24), (10**6, 40))", "((10**9, 16), (100, 24))", STANDS),
        ],
        "lengthfree.thm4_1": [
            ("B_X, C = Q(1001, 1000)", "B_X, C = Q(999, 1000)", "|x|_2 < B_x"),
            (
                "[[sign] + [0] * (len(s) - 1) for sign in s]",
                "[[2 * sign] + [0] * (len(s) - 1) for sign in s]",
                "1-norms of the rows",
            ),
            ("iv.mpf(1000): 28", "iv.mpf(10**12): 28", STANDS),
        ],
        "lengthfree.thm4_2": [
            ("return (s, -s), 1 / s**3", "return (2 * s, -2 * s), 1 / s**3", "tokens at most B_x"),
            ("1 / s**3, 1 / s, Q(1)", "1 / s**3, 2 / s, Q(1)", "spectral norms"),
            ("covered(h, s, s**2 * h**2)", "covered(h, s, h**2)", "cover constants"),
            ("NEAR = Q(999, 1000)", "NEAR = Q(1001, 1000)", "more than 2 eps apart"),
            ("(4, 30, 3000)", "(1,)", STANDS),
            ("bounds(s, eps, 1)", "bounds(s, eps, s**2)", STANDS),
        ],
        "lengthfree.thm4_2.cor4_2_1": [
            (
                "10 / B_x**2, 2 / B_x, Q(1)",
                "20 / B_x**2, 2 / B_x, Q(1)",
                "sums of absolute entries",
            ),
            ("10 / B_x**2, 2 / B_x, Q(1)", "10 / B_x**2, 3 / B_x, Q(1)", "no projection acts"),
            ("10 / B_x**2, 2 / B_x, Q(1)", "8 / B_x**2, 2 / B_x, Q(1)", "more than 2 eps apart"),
            ('"0": B_x / 2, "j"', '"0": B_x, "j"', "at most B_x"),
            ("((1, 10**6), (100, 10**8), (10**6, 10**12))", "((10**6, 10**6),)", STANDS),
        ],
        "lengthfree.thm4_2.corF_0_1": [
            ("v, u, w = B / q**2", "v, u, w = 2 * B / q**2", "1-norms of rows"),
            ("B / p**3, Q(7, 4) * v * q", "B / p**4, Q(7, 4) * v * q", "spectral norms"),
            ("B_x, kink = 3 * t", "B_x, kink = 2 * t", "at most B_x"),
            ("Q(5, 2) * v * t", "Q(3, 2) * v * t", "other units are at 0"),
            ("t = Q(4, 7) / ", "t = Q(4, 6) / ", "no projection acts"),
            ("steep = k / (B", "steep = k / (2 * B", "more than 2 eps apart"),
            ("((1, 5), (100, 20), (10**6, 300))", "((10**6, 5),)", STANDS),
        ],
        "lengthfree.thm4_2.corF_0_2": [
            ("10 / B_x**2, 2 / B_x, Q(1)", "20 / B_x**2, 2 / B_x, Q(1)", "sums of 2-norms"),
            ("10 / B_x**2, 2 / B_x, Q(1)", "10 / B_x**2, 3 / B_x, Q(1)", "no projection acts"),
            ("10 / B_x**2, 2 / B_x, Q(1)", "8 / B_x**2, 2 / B_x, Q(1)", "more than 2 eps apart"),
            ('"0": B_x / 2, "j"', '"0": B_x, "j"', "at most B_x"),
            ("((1, 10**3), (100, 10**4), (10**6, 10**6))", "((10**6, 10**3),)", STANDS),
        ],
    }.items()
    for change in changes
]
