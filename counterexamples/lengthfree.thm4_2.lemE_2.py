"""Paper 4 (Trauger and Tewari 2024, arXiv version), Lemma E.2 (printed, after Edelman et al. 2022,
Lemma A.15): if two sets of weights meet the norm bounds, the outputs of block i differ, in the
longest row, by at most |Delta W_c^T sigma(...)| + L B_c2 B_v2 (1 + 4 B_QK2) |g - g^| + 2 L B_c2
B_v2 |Delta W_QK^T g^| + L B_c2 |Delta W_v^T g^|, where L is the Lipschitz constant of sigma and g,
g^ are the inputs of the block.

For i = 1 both inputs are X, which Theorem 4.2 bounds by B_x, not by 1, and its proof uses the lemma
there. (Lemma A.15 rests on Lemma A.14, for tokens of length at most 1.) Let d = k = 1, sigma = id,
X = (R, -R), W_c = 1, W_v = 1/R, W_QK = a against 0. With W_QK = 0 attention gives 0; with a it
gives tanh(a R^2) R to the first token: the outputs differ by tanh(a R^2), and the right side is 2a.
For tokens of length at most 1 the lemma holds; for i = 1 the term needs the factor B_x^2.
"""

from fractions import Fraction as Q

from mpmath import iv


def exact(x):
    return iv.mpf(x.numerator) / x.denominator


def row(X, t, v, a):
    """Token t of the block: softmax of the scores a x_t x_j, then W_v = v; no projection acts."""
    weights = [iv.exp(exact(a * X[t] * x)) for x in X]
    return sum(p * exact(x * v) for p, x in zip(weights, X, strict=True)) / sum(weights)


def main() -> int:
    R, a, L = Q(2), Q(1, 10), 1
    X, v, c = (R, -R), 1 / R, Q(1)
    B_x, B_c2, B_v2, B_QK2 = R, Q(1), 1 / R, Q(1, 10)
    before = [row(X, t, v, Q(0)) for t in range(2)]
    after = [row(X, t, v, a) for t in range(2)]
    hypotheses = {
        "tokens at most B_x": max(map(abs, X)) <= B_x,
        "|W_c| <= B_c2, |W_v| <= B_v2, |W_QK| <= B_QK2": c <= B_c2 and v <= B_v2 and a <= B_QK2,
        "no projection acts": all(abs(y).b <= 1 for y in before + after),
    }
    print("statement   the change of the output is at most 2 L B_c2 B_v2 max_t |Delta W_QK x_t|")
    print("            (X, W_c and W_v are the same in both networks, so the other terms are 0)")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    left = abs(after[0] - before[0]) * exact(abs(c))
    right = 2 * L * B_c2 * B_v2 * max(abs(a * x) for x in X)
    print(f"left side   in {left}, which is tanh(2/5)")
    print(f"right side  {right}")
    fails = all(hypotheses.values()) and left.a > exact(right).b
    print("the statement fails" if fails else "the statement stands at this instance")
    repaired = right * B_x**2
    print(f"repaired    with B_x^2: {repaired}: {left.b <= exact(repaired).a}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
