"""Paper 3 (Edelman, Goel, Kakade, Zhang 2022), Lemma A.12 (reconstructed): for a sum of H heads on
tokens of length at most B, log N(eps) <~ (d L B)^2 (sum_h (B_V^{2,inf}[h])^{2/3} +
(2 B_QK^{2,inf}[h] B_V[h])^{2/3})^3 log(mT) / eps^2, where <~ hides a constant and logarithms of all
but m, T. No power of B stands beside B_QK.

H = 2 heads with equal bounds, the second with W_V = 0. d = 3n, sigma = id, T = 3, queries of length
1. Let a = (1, ..., 1)/sqrt(n) in block 1, e_j in block 2, q_k in block 3. Input (k, j): tokens
+-(B/sqrt2)(a + e_j) and the query q_k. W_V = a w', w a unit vector, and W_QK = rho sum_kj s_kj q_k
e_j' for any signs s. The scores are +-M s_kj and 0, M = log 2, and the sum of heads is
(3/7)(B/sqrt2) s_kj w. Two sign matrices are 2 (3/7) B/sqrt2 apart on some input, so log N(eps) >=
n^2 log 2 for eps = .3 B. As B grows (B = n^2) the bound is of order n log(n).
What survives: tokens of length at most 1, and B^2 beside B_QK B_V; H^3 for equal heads.
"""

from mpmath import iv, mpf, nstr

iv.dps = 40
M = iv.log(2)
H = 2


def show(x):
    return f"in [{nstr(mpf(x.a), 6)}, {nstr(mpf(x.b), 6)}]"


def output(B, sign):
    """The sum of heads along w at one input, in interval arithmetic."""
    rho = iv.sqrt(2) * M / B
    score = rho * sign * (B / iv.sqrt(2))
    up, down = iv.exp(score), iv.exp(-score)
    return B / iv.sqrt(2) * (up - down) / (up + down + 1)  # the second head adds 0


def sides(n, B, power):
    """log N from below, and the bound with constant 1, at eps = .3 B."""
    rho = iv.sqrt(2) * M / B
    eps, third = iv.mpf(3) / 10 * B, iv.mpf(2) / 3
    V, QK = 1 / iv.sqrt(n), rho * iv.sqrt(n)
    bracket = (H * (V**third + (2 * QK * B**power) ** third)) ** 3
    return n**2 * iv.log(2), (3 * n * B) ** 2 * bracket / eps**2 * iv.log(3 * n**2)


def main() -> int:
    print("statement   Lemma A.12: left <= K polylog(all but m, T) right, K the same for all n")
    fails = True
    for bits in (16, 300):
        n = iv.mpf(2) ** bits
        B = n**2
        length = B * iv.sqrt(iv.mpf(1) / 2 + iv.mpf(1) / 2)  # of (B/sqrt2)(a + e_j)
        lengths = abs(length / B - 1).b < mpf(10) ** -30 and B.a > 1
        apart = output(B, 1).a > (B * 3 / 10).b and output(B, -1).b < -(B * 3 / 10).b
        left, right = sides(n, B, 0)
        forced = left / right / iv.log(9 * n**4) ** 10
        print(f"hypothesis  n = 2^{bits}, H = {H}, tokens and query no longer than B : {lengths}")
        print(f"hypothesis  outputs of opposite signs are more than 2 eps apart : {apart}")
        print(f"left side   {show(left)}")
        print(f"right side  {show(right)}")
        fails = fails and lengths and apart
    print(f"constant forced at n = 2^300, over log(9 n^4)^10, {show(forced)}")
    fails = fails and forced.a > mpf(10) ** 6
    left, right = sides(n, B, 2)
    print(f"repaired    with B^2, n = 2^300: holds, {left.b < right.a}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
