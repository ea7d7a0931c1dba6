"""Paper 3 (Edelman, Goel, Kakade, Zhang; review version of October 2021), Lemma A.12 (restored):
for a sum of H heads on tokens of length at most B, log N(eps) <~ (d L B)^2 (sum_h
(B_V^{2,inf}[h])^{2/3} + (2 B_QK^{2,inf}[h] B_V[h])^{2/3})^3 log(mT) / eps^2, where <~ hides a
constant and logarithms of all but m, T. No power of B stands beside B_QK.

H = 2 heads with equal bounds, the second with W_V = 0. d = 3n, sigma = id, T = 3, queries of length
1. Let a = (1, ..., 1)/sqrt(n) in block 1, e_j in block 2, q_k in block 3. Input (k, j): tokens
+-(B/sqrt2)(a + e_j) and the query q_k. W_V = a w', w spread over all columns, and W_QK = rho
sum_kj s_kj q_k e_j' for any signs s. The scores are +-M s_kj and 0, M = log 2, and the sum of heads
is (3/7)(B/sqrt2) s_kj w. Two sign matrices are 2 (3/7) B/sqrt2 apart on some input, so
log N(eps) >= n^2 log 2 for eps = .3 B. As B grows (B = n^2) the bound is of order n log(n).
What survives: tokens of length at most 1, and B^2 beside B_QK B_V; H^3 for equal heads.
"""

from itertools import product
from operator import mul

from mpmath import iv, mpf, nstr

iv.dps = 40
M = iv.log(2)
H = 2
SLACK = 1 + iv.mpf(10) ** -30  # of rounding


def show(x):
    return f"in [{nstr(mpf(x.a), 6)}, {nstr(mpf(x.b), 6)}]"


def weights(n, rho, signs):
    """W_V = a w', with w = (1, ..., 1)/sqrt(d), and W_QK = rho sum_kj s_kj q_k e_j'."""
    d = 3 * n
    value = [[(i < n) / iv.sqrt(n) / iv.sqrt(d) for _ in range(d)] for i in range(d)]
    score = [[iv.mpf(0)] * d for _ in range(d)]
    for k, j in product(range(n), repeat=2):
        score[2 * n + k][n + j] = rho * signs[k][j]
    return value, score


def squares(lines):
    """Square of the longest."""
    return max((sum(v * v for v in line) for line in lines), key=lambda v: v.b)


def turned(matrix):
    return list(zip(*matrix, strict=True))


def apply(x, matrix):
    return [sum(map(mul, x, column)) for column in turned(matrix)]


def heads(n, B, signs):
    """The sum of heads along w, by interval arithmetic, on every input; the second adds 0."""
    value, score = weights(n, norms(n, B)[0], signs)
    found = {}
    for k, j in product(range(n), repeat=2):
        x = [B / iv.sqrt(2 * n)] * n + [B / iv.sqrt(2) if i == j else iv.mpf(0) for i in range(n)]
        x += [iv.mpf(0)] * n
        asks = [iv.mpf(i == 2 * n + k) for i in range(3 * n)]
        read = apply(asks, score)
        tokens = x, [-v for v in x], asks
        assert all(squares([t]) <= B * B * SLACK for t in tokens)
        parts = [iv.exp(sum(map(mul, read, t))) for t in tokens]
        mixed = [sum(map(mul, parts, column)) / sum(parts) for column in turned(tokens)]
        found[k, j] = sum(apply(mixed, value)) / iv.sqrt(3 * n)
    return found


def norms(n, B):
    """rho, and bounds of each head: B_V^{2,inf}, B_V, B_QK^{2,inf}."""
    rho = iv.sqrt(2) * M / B
    return rho, 1 / iv.sqrt(n), iv.mpf(1), rho * iv.sqrt(n)


def bounded(n, B, signs):
    """Every row and column of the matrices, and the spectral norm of W_V, of rank one."""
    rho, V_long, V, QK = norms(n, B)
    value, score = weights(n, rho, signs)
    whole = squares([[v for line in value for v in line]])
    pairs = (value, V_long), (score, QK)
    lines = all(squares(w) <= bound**2 * SLACK for m, bound in pairs for w in (m, turned(m)))
    return lines and whole <= V**2 * SLACK


def sides(n, B, power):
    """log N from below, and the bound with constant 1, at eps = .3 B."""
    _, V_long, V, QK = norms(n, B)
    eps, third = iv.mpf(3) / 10 * B, iv.mpf(2) / 3
    bracket = (H * (V_long**third + (2 * QK * V * B**power) ** third)) ** 3
    return n**2 * iv.log(2), (3 * n * B) ** 2 * bracket / eps**2 * iv.log(3 * n**2)


def main() -> int:
    print("statement   Lemma A.12: left <= K polylog(all but m, T) right, K the same for all n")
    signs, few = [[1, -1, 1], [1, 1, -1], [-1, -1, -1]], iv.mpf(50)
    apart = all(v * signs[k][j] > few * 3 / 10 for (k, j), v in heads(3, few, signs).items())
    within = bounded(3, few, signs)
    print(f"hypothesis  n = 3, B = 50: outputs +-s_kj, more than 2 eps apart : {apart}")
    print(f"hypothesis  n = 3: rows, columns, spectral norm within the bounds : {within}")
    fails = apart and within
    for bits in (16, 300):
        n = iv.mpf(2) ** bits
        left, right = sides(n, n**2, 0)
        forced = left / right / iv.log(9 * n**4) ** 10
        print(f"n = 2^{bits}, B = n^2, H = {H}")
        print(f"left side   {show(left)}")
        print(f"right side  {show(right)}")
    print(f"constant forced at n = 2^300, over log(9 n^4)^10, {show(forced)}")
    fails = fails and forced.a > mpf(10) ** 6
    left, right = sides(n, n**2, 2)
    print(f"repaired    with B^2, n = 2^300: holds, {left.b < right.a}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
