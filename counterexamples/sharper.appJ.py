"""Paper 1 (Lintilhac and Shaikh 2026, version 2), Appendices J and M (printed): of the 28 blocks of
the Hessian of the output at the exact construction, no more than 6 are not zero.

The count drops the 13 blocks of the first attention, since its gradient is zero at the
construction. But that gradient is v sum_h F_h G_h [unit h on] times the mean: zero on a plateau,
with derivatives for F and G that are not. For d = 1 seven blocks remain, for d >= 2 nine.
Instance: one component, d = 1, x_1 = 1, in the limit that the proofs take (each attention on its
position alone). In its last row and column the output is then the piecewise polynomial below; while
no ReLU changes sides, a mixed difference that is not zero shows a block that is not zero.
What survives: the five blocks among G, b, F and v_2, and at most two or four more.
"""

from fractions import Fraction as Q
from itertools import combinations

CORNERS = [Q(v, 4) for v in (3, 1, -1, -3, -1, -3, -5, -7)]
POINT = {"WV1": [Q(1)], "G": [Q(1)] * 8, "b": CORNERS, "v2": [Q(1)]}
POINT["F"] = [Q(v) for v in (2, -2, -2, 2, 0, 0, 0, 0)]
STEP = Q(1, 100)


def output(theta, bit=1):
    """Output v2 sum_h F_h (G_h y + b_h)_+ with y = WV1 times the bit."""
    y = theta["WV1"][0] * bit
    units = [max(g * y + b, Q(0)) for g, b in zip(theta["G"], theta["b"], strict=True)]
    return theta["v2"][0] * sum(f * u for f, u in zip(theta["F"], units, strict=True))


def moved(*places):
    theta = {name: list(values) for name, values in POINT.items()}
    for name, h in places:
        theta[name][h] += STEP
    return output(theta)


def mixed(a, b):
    """Some second difference of two blocks that is not zero, or 0."""
    for i in range(len(POINT[a])):
        for j in range(len(POINT[b])):
            p, q = (a, i), (b, j)
            value = (moved(p, q) - moved(p) - moved(q) + moved()) / STEP**2
            if value:
                return value
    return Q(0)


def main() -> int:
    units = [g + b for g, b in zip(POINT["G"], CORNERS, strict=True)]
    room = min(abs(u) for u in units)
    hypotheses = {
        "the output is f(x), x_1 = 1: 0": output(POINT) == 0,
        "and at x_1 = 0: 1": output(POINT, 0) == 1,
        "no unit changes sides under these steps": room > 3 * STEP,
    }
    print("statement   no more than 6 blocks of the Hessian are not zero")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    found = {(a, b): mixed(a, b) for a, b in combinations(("WV1", "G", "b", "F", "v2"), 2)}
    names = [f"{a}-{b}" for (a, b), value in found.items() if value]
    print(f"left side   at least {len(names)}: {', '.join(names)}")
    print("right side  6")
    false = all(hypotheses.values()) and len(names) > 6
    print("the statement fails" if false else "the statement stands at this instance")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
