"""Paper 2 (Hahn & Rofin 2024, ACL version), Lemma 15, Eq. (46) (printed): in a layer k > 1, for
every bit q, I_q[b_j] <= 4 sqrt(d) exp(4 C_A) (I_q[y_j] + mean over w of I_q[y_w]).

The factor C_V, a bound on the value matrix, is missing: b is linear in V and the right side does
not contain V. Every constant is at least 1, as the paper asks. With C_V in front the lemma holds,
and the paper's later constant C^(k) of Eq. (30) has the norm of V: nothing built on it changes.
"""

from fractions import Fraction

from mpmath import iv

D = 2  # columns; epsilon of layer norm is 0
U = (1, -1)
VALUE = 1000  # second layer: V = 1000 I
SCORE = Fraction(1, 4)  # second layer: K^T Q is this number times the matrix of ones


def tokens(x):
    """First layer: e(x) = x U, positions 0, V = 0, a block without hidden units, layer norm.

    A token x U has mean 0 and variance 1, so that layer norm leaves it as it is.
    """
    return [tuple(b * u for u in U) for b in x]


def scores(y):
    """All (K y_j)^T (Q y_i) of the second layer."""
    return {SCORE * sum(a) * sum(b) for a in y for b in y}


def output(y):
    """Second layer: b_j, the same at every j, because equal scores give uniform attention."""
    return tuple(VALUE * Fraction(sum(token[c] for token in y), len(y)) for c in range(D))


def distance(a, b):
    square = Fraction(sum((s - t) ** 2 for s, t in zip(a, b, strict=True)))
    return iv.sqrt(iv.mpf(square.numerator) / square.denominator)


def main() -> int:
    y, z, j = tokens((1, 1)), tokens((-1, 1)), 1  # flip the first bit, look at the second token
    c_a, c_v = D * (2 * SCORE), VALUE  # the matrix of ones has spectral norm 2
    moved = [distance(a, b) for a, b in zip(y, z, strict=True)]
    left = distance(output(y), output(z))
    right = 4 * iv.sqrt(D) * iv.exp(iv.mpf(4 * int(c_a))) * (moved[j] + sum(moved) / len(y))
    hypotheses = {
        "tokens come from layer norm: mean 0, |y|^2 = d": all(
            sum(t) == 0 and sum(c * c for c in t) == D for t in y + z
        ),
        "all scores are equal, attention is uniform": scores(y) == scores(z) == {0},
        f"C_A = d |K^T Q| = {c_a} is at least 1": c_a >= 1,
        f"C_V = |V| = {c_v} is at least 1": c_v >= 1,
    }
    print("statement   I_q[b_j] <= 4 sqrt(d) exp(4 C_A) (I_q[y_j] + mean of I_q[y_w])")
    for text, met in hypotheses.items():
        print(f"hypothesis  {text}: {'holds' if met else 'fails'}")
    print(f"left side   in [{float(left.a):.6f}, {float(left.b):.6f}]")
    print(f"right side  in [{float(right.a):.6f}, {float(right.b):.6f}]")
    fails = all(hypotheses.values()) and left.a > right.b
    print("the statement fails" if fails else "the statement stands at this instance")
    print(f"repaired    with C_V in front: {'holds' if left.b <= (c_v * right).a else 'fails'}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
