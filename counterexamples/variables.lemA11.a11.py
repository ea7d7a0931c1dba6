"""Paper 3 (Edelman, Goel, Kakade, Zhang 2022), Lemma A.11 (reconstructed): with fixed vectors p_t
of length at most B_P added to tokens of length at most B_X, and B = B_X + B_P, log N(eps) <~
(d L B)^2 ((B_V^{2,inf})^{2/3} + (2 B_QK^{2,inf} B_V B)^{2/3})^3 log(mT) / eps^2, where <~ hides a
constant and logarithms of all but m, T. The power of B beside B_QK is 1.

d = 3n + 1, sigma = id, T = 3, b = B_X = B_P. Let a = (1, ..., 1)/sqrt(n) in block 1, e_j in block
2, q_k in block 3, and p_t = b times the last unit vector, which no weight reads. Input (k, j):
tokens +-(b/sqrt2)(a + e_j) and the query b q_k. W_V = a w', w a unit vector, and W_QK = rho
sum_kj s_kj q_k e_j' for any signs s. The scores are +-M s_kj and 0, M = log 2, and the head is
(3/7)(b/sqrt2) s_kj w. Two sign matrices are 2 (3/7) b/sqrt2 apart on some input, so log N(eps) >=
n^2 log 2 for eps = .3 b. As b grows (b = n^2) the bound is of order n log(n).
What survives: the square of B_X + B_P beside B_QK B_V; also tokens and positions with B <= 1.
"""

from mpmath import iv, mpf, nstr

iv.dps = 40
M = iv.log(2)


def show(x):
    return f"in [{nstr(mpf(x.a), 6)}, {nstr(mpf(x.b), 6)}]"


def output(b, sign):
    """The head along w at one input, in interval arithmetic: values, scores, softmax."""
    rho = iv.sqrt(2) * M / b**2
    score = b * rho * sign * (b / iv.sqrt(2))
    up, down = iv.exp(score), iv.exp(-score)
    return b / iv.sqrt(2) * (up - down) / (up + down + 1)


def sides(n, b, power):
    """log N from below, and the bound with constant 1, at eps = .3 b."""
    rho = iv.sqrt(2) * M / b**2
    B, eps, third = 2 * b, iv.mpf(3) / 10 * b, iv.mpf(2) / 3
    V, QK, d = 1 / iv.sqrt(n), rho * iv.sqrt(n), 3 * n + 1
    bracket = (V**third + (2 * QK * B**power) ** third) ** 3
    return n**2 * iv.log(2), (d * B) ** 2 * bracket / eps**2 * iv.log(3 * n**2)


def main() -> int:
    print("statement   Lemma A.11: left <= K polylog(all but m, T) right, K the same for all n")
    fails = True
    for bits in (14, 300):
        n = iv.mpf(2) ** bits
        b = n**2
        length = b * iv.sqrt(iv.mpf(1) / 2 + iv.mpf(1) / 2)  # of (b/sqrt2)(a + e_j)
        lengths = abs(length / b - 1).b < mpf(10) ** -30
        apart = output(b, 1).a > (b * 3 / 10).b and output(b, -1).b < -(b * 3 / 10).b
        left, right = sides(n, b, 1)
        forced = left / right / iv.log(9 * n**4) ** 10
        print(f"hypothesis  n = 2^{bits}, tokens and positions no longer than b : {lengths}")
        print(f"hypothesis  outputs of opposite signs are more than 2 eps apart : {apart}")
        print(f"left side   {show(left)}")
        print(f"right side  {show(right)}")
        fails = fails and lengths and apart
    print(f"constant forced at n = 2^300, over log(9 n^4)^10, {show(forced)}")
    fails = fails and forced.a > mpf(10) ** 6
    left, right = sides(n, b, 2)
    print(f"repaired    with the square, n = 2^300: holds, {left.b < right.a}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
