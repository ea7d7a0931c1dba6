"""Mutants of the certificates on paper 1."""

from __future__ import annotations

from tests.counterexamples.programs import STANDS, Mutant

MUTANTS = [
    Mutant(program, *change)
    for program, changes in {
        "sharper.thm14": [
            (
                "B = [Q(v, 4) for v in (3, 1, -1, -3, -1,",
                "B = [Q(v, 4) for v in (3, 1, -1, -2, -1,",
                "the MLP is right",
            ),
            ("SELF = 7", "SELF = 2", "the output token writes 1"),
            (
                "mean = Q(half, whole)  #",
                "mean = 2 * Q(half, 3 * T) if not own else Q(half, whole)  #",
                "the output token writes 1",
            ),
            ("(64, 256, 1024, 4096)", "(8, 8, 8, 8)", STANDS),
        ],
        "sharper.thm5": [
            ("SELF = 7", "SELF = 2", "the output token writes 1"),
            (
                "c = [iv.sqrt(box(k / (half * (A**2 + 1))))",
                "c = [iv.sqrt(box(k / (T * (A**2 + 1))))",
                "sum of c_i^2 is 1",
            ),
            ("(64, 256, 1024, 4096)", "(8, 8, 8, 8)", STANDS),
        ],
        "sharper.thm18": [
            ("SELF = 7", "SELF = 1", "the output token writes 1"),
            (
                "fails(250, 197), fails(400, 316), fails(20, 16, 40), fails(20, 16, 400)",
                "fails(20, 16)",
                STANDS,
            ),
        ],
        "sharper.appJ": [
            (
                'POINT["F"] = [Q(v) for v in (2, -2, -2, 2,',
                'POINT["F"] = [Q(v) for v in (2, -2, -2, 1,',
                "the output is f(x)",
            ),
            ("STEP = Q(1, 100)", "STEP = Q(1, 2)", "no unit changes sides"),
            (
                'combinations(("WV1", "G", "b", "F", "v2"), 2)',
                'combinations(("G", "b", "F", "v2"), 2)',
                STANDS,
            ),
        ],
        "sharper.appD.training": [
            ("T, d, m = 20, 3, 8192", "T, d, m = 20, 4, 8192", "is the paper's number"),
            ("[k for k in every if k]", "every", STANDS),
        ],
        "sharper.cot.norm": [
            (
                "one_each = all(sum(row[j] for row in identity) == 1",
                "one_each = all(sum(row[j] for row in A) == 1",
                "each column of the matrix",
            ),
            ("T, d = 20, 2", "T, d = 3, 2", STANDS),
        ],
        "sharper.thm11.z_out": [
            ("bits = [0] * T + [0]", "bits = [0] * T + [1]", "the bit of the output token"),
            (
                "z = [0] * T + [1, mlp(mean, d)]",
                "z = [0] * T + [2, mlp(mean, d)]",
                "carries the code",
            ),
            ("bits = [0] * T + [0]  #", "bits = [1] * 7 + [0] * (T - 7) + [0]  #", STANDS),
        ],
    }.items()
    for change in changes
]
