"""Paper 4 (Trauger and Tewari 2024, arXiv version), Section 2.4 and Lemma 3.2 (restored: read
together): for every real q > 0, for which covers are defined, inputs with |x|_1 <= B_x need no
larger cover than B_x e_1, ..., B_x e_d. The lemma itself names no range of q.

For q = 1/2, the class {0, I} in the plane, B_x = 1 and scale 3/2, the two maps differ by 1 at e_1
and e_2, so one covers both there. At x = (1/2, 1/2) they differ by (2 sqrt(1/2))^2 = 2. For q >= 1,
where |.|_q is a norm, the lemma holds by convexity; the paper uses it with q = 2 only.
"""

from fractions import Fraction as Q


def norm(x, q):
    """|x|_q = (sum_i |x_i|^q)^(1/q), where all nonzero entries are equal and 1/q is whole."""
    entries = {abs(v) for v in x if v}
    assert len(entries) == 1
    assert (1 / q).denominator == 1
    return sum(1 for v in x if v) ** int(1 / q) * entries.pop()


def members(scale, inputs, q):
    """Least number of members of {0, I} that cover it; they differ by x at input x."""
    return 1 if max(norm(x, q) for x in inputs) < scale else 2


def main() -> int:
    B_x, scale, q = Q(1), Q(3, 2), Q(1, 2)
    vertices = [(B_x, Q(0)), (Q(0), B_x)]
    inputs = [*vertices, (B_x / 2, B_x / 2)]
    hypotheses = {
        "q > 0": q > 0,
        "|x|_1 <= B_x on all inputs": all(norm(x, Q(1)) <= B_x for x in inputs),
        "N >= d": len(inputs) >= 2,
    }
    print("statement   as many members cover {0, I} on any N inputs as on the vertices")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    for x in inputs:
        print(f"            at x = ({x[0]}, {x[1]}) the maps differ by {norm(x, q)}")
    left, right = members(scale, inputs, q), members(scale, vertices, q)
    print(f"left side   {left} members on the three inputs, at scale {scale}")
    print(f"right side  {right} on the vertices")
    fails = all(hypotheses.values()) and left > right
    print("the statement fails" if fails else "the statement stands at this instance")
    both = members(scale, inputs, Q(1)), members(scale, vertices, Q(1))
    print(f"repaired    q = 1: {both[0]} and {both[1]}: {both[0] == both[1]}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
