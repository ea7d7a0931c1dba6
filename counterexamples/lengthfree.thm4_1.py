"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Theorem 4.1 (printed): with |w|_1 <= B_w,
|W_c^T|_{1,inf} <= B_Wc, |W_v^T|_{1,inf} <= B_Wv, |x|_2 < B_x, cover constant C of the matrices
W_QK, m > d and m > ln(2d), the Rademacher complexity of a layer is at most K times B_w B_Wc L_sigma
B_Wv (2 B_x^2 sqrt(C/m) (1 + ln(sqrt(m) / (2 B_x sqrt(C)))) + B_x sqrt(ln(2d)/m)), K a constant.

By Section 2.1 |W|_{1,inf} is the largest 1-norm of a column, so the columns of W^T, the rows of
W_c and W_v, are bounded; the proof needs the columns. Let sigma = id, k = d, w = e_1, W_v = I,
W_QK = 0, and W_c have signs s_j in its first column, zeros elsewhere: each row has 1-norm 1. Inputs
have two tokens, [CLS] = 0 and x, and x runs over e_1, ..., e_d, each twice: m = 2d. Scores are
equal, the output on e_j is s_j / 2, and the supremum over s of (1/m) sum_i eps_i h(x_i) is
(1/m) sum_j |eps_j + eps'_j| / 2, with mean 1/4 for every d. The value falls like sqrt(ln(d)/d).
All |x|_1 <= 1, and W_QK = 0 meets any bound B_QK > 0: with B_QK = 10^-40 the values of Corollaries
4.1.1, D.0.1 and D.0.2 are too small as well.
With columns bounded K = 8 sqrt(2) is enough from sqrt(m) = 2 B_x sqrt(C) + sqrt(ln(2d)) on.
"""

from fractions import Fraction as Q
from itertools import product

from mpmath import iv

B_X, C = Q(1001, 1000), Q(1, 10**40)  # W_QK = 0 alone has log covering number 0 <= C / eps^2


def weights(s):
    eye = [[int(i == j) for j in range(len(s))] for i in range(len(s))]
    return eye[0], [[sign] + [0] * (len(s) - 1) for sign in s], eye


def layer(tokens, s):
    w, W_c, W_v = weights(s)  # softmax of equal scores is the mean
    u = [sum(map(Q, column)) / len(tokens) for column in zip(*tokens, strict=True)]
    for W in (W_v, W_c):
        u = [sum(a * b for a, b in zip(column, u, strict=True)) for column in zip(*W, strict=True)]
    return sum(a * b for a, b in zip(w, u, strict=True))


def complexity(d):
    inputs = [([0] * d, [int(i == j) for i in range(d)]) for j in range(d) for _ in range(2)]
    h = [[layer(X, s) for X in inputs] for s in product((1, -1), repeat=d)]
    draws = list(product((1, -1), repeat=2 * d))
    best = (max(sum(e * v for e, v in zip(eps, row, strict=True)) for row in h) for eps in draws)
    return sum(best) / len(draws) / (2 * d)


def value(d):
    """The theorem's value inside the O, all other norms 1, m = 2d."""
    m, b, c = 2 * d, iv.mpf(B_X.numerator) / B_X.denominator, iv.mpf(1) / C.denominator
    main = 2 * b**2 * iv.sqrt(c / m) * (1 + iv.log(iv.sqrt(m) / (2 * b * iv.sqrt(c))))
    return main + b * iv.sqrt(iv.log(2 * d) / m)


def corollary(d, alpha):
    """The value of Corollaries 4.1.1, D.0.1 and D.0.2 at this alpha, all norms but W_QK's 1."""
    m, b = 2 * d, iv.mpf(B_X.numerator) / B_X.denominator
    log = 1 + iv.log((iv.sqrt(m) - iv.sqrt(iv.log(2 * d))) / (b**2 * alpha))  # D.0.1: the larger
    log = max((log, 1 + iv.log(iv.sqrt(m) / (b**2 * alpha))), key=lambda x: x.b)
    return b**3 * alpha / iv.sqrt(m) * log + b * iv.sqrt(iv.log(2 * d) / m)


def alphas(d, B_QK):
    """Of the three corollaries; W_QK = 0 meets every bound B_QK on its norm."""
    yield B_QK * iv.sqrt(2 * iv.log(2 * d**2 + 1))
    yield 2 * B_QK * iv.sqrt(d * iv.log(2 * d + 1))
    yield 2 * B_QK * iv.sqrt(2 * iv.log(d))


def main() -> int:
    w, W_c, W_v = weights((1, -1, 1, 1))
    powers = {8 * iv.sqrt(2): 15, iv.mpf(1000): 28, iv.mpf(10**6): 50}  # K and d = 2^power
    hypotheses = {
        "|w|_1 and 1-norms of the rows of W_c, W_v at most 1": all(
            sum(map(abs, row)) <= 1 for row in [w, *W_c, *W_v]
        ),
        "|x|_2 < B_x": max(0, 1) < B_X,
        "m = 2d > d and m > ln(2d)": all(2**p > iv.log(2 ** (p + 1)).b for p in powers.values()),
        "complexity 1/4, by all signs, d to 3": {complexity(d) for d in (1, 2, 3)} == {Q(1, 4)},
    }
    fails = all(hypotheses.values())
    print("statement   complexity <= K * value, with one constant K")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    for K, p in powers.items():
        right = K * value(2**p)
        others = [K * corollary(2**p, a) for a in alphas(2**p, iv.mpf(10) ** -40)]
        fails = fails and all(v.b < 0.25 for v in [right, *others])
        print(f"left side   1/4, at d = 2^{p}, m = 2d")
        print(f"right side  in [{float(right.a):.6g}, {float(right.b):.6g}], K = {float(K.a):.6g}")
    print("the statement fails" if fails else "the statement stands at this instance")
    columns = 8 * iv.sqrt(2) * 2**15 * value(2**15)  # the column of W_c has 1-norm d
    print(f"repaired    d = 2^15, columns: {float(columns.a):.6g} >= 1/4 {columns.a >= 0.25}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
