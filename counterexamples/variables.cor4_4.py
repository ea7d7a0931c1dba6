"""Paper 3 (Edelman, Goel, Kakade, Zhang; review version of October 2021), Corollary 4.4 (restored):
for tokens no longer than B, log N(eps) <~ (d L B)^2 ((B_V^{2,inf})^{2/3} + (B_QK^{2,inf}
B_V)^{2/3})^3 log(mT)/eps^2, where <~ hides a constant and logarithms of all but m, T. No B is
beside B_QK (one is in the proof).

d = 3n, sigma = id, T = 3. Let a = (1, ..., 1)/sqrt(n) in block 1, e_j in block 2, q_k in block 3.
Input (k, j): tokens +-(B/sqrt2)(a + e_j) and the query, |query| q_k. W_V = a w' with a unit w
spread over all columns, W_QK = rho sum_kj s_kj q_k e_j' for any signs s. The scores are +-M s_kj
and 0, M = log 2, and the head is (3/7)(B/sqrt2) s_kj w. Two sign matrices are 2 (3/7) B/sqrt2 apart
on some input, so log N(eps) >= n^2 log 2 for eps below half of that. All rows and columns of W_QK
have length rho sqrt(n), of W_V at most 1/sqrt(n): as B grows the bound is of order n log(n).
What survives: tokens of length at most 1; B^2 (for unit queries B) beside B_QK B_V.
"""

from itertools import product
from operator import mul

from mpmath import iv, mpf, nstr

iv.dps = 40
M = iv.log(2)
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


def head(n, B, query, signs):
    """Outputs along w of the head itself, by interval arithmetic, on every input (k, j)."""
    value, score = weights(n, norms(n, B, query)[0], signs)
    found = {}
    for k, j in product(range(n), repeat=2):
        x = [B / iv.sqrt(2 * n)] * n + [B / iv.sqrt(2) if i == j else iv.mpf(0) for i in range(n)]
        x += [iv.mpf(0)] * n
        asks = [query if i == 2 * n + k else iv.mpf(0) for i in range(3 * n)]
        tokens = x, [-v for v in x], asks
        assert all(squares([t]) <= B * B * SLACK for t in tokens)
        read = apply(asks, score)
        parts = [iv.exp(sum(map(mul, read, t))) for t in tokens]
        mixed = [sum(map(mul, parts, column)) / sum(parts) for column in turned(tokens)]
        found[k, j] = sum(apply(mixed, value)) / iv.sqrt(3 * n)
    return found


def norms(n, B, query):
    """rho, and bounds: B_V^{2,inf}, B_V, B_QK^{2,inf}."""
    rho = iv.sqrt(2) * M / (B * query)
    return rho, 1 / iv.sqrt(n), iv.mpf(1), rho * iv.sqrt(n)


def bounded(n, B, query, signs):
    """Every row and column of the matrices, and the spectral norm of W_V, of rank one."""
    rho, V_long, V, QK = norms(n, B, query)
    value, score = weights(n, rho, signs)
    whole = squares([[v for line in value for v in line]])
    pairs = (value, V_long), (score, QK)
    lines = all(squares(w) <= bound**2 * SLACK for m, bound in pairs for w in (m, turned(m)))
    return lines and whole <= V**2 * SLACK


def sides(n, B, query, power):
    """log N from below, and the bound with constant 1, B^power beside B_QK B_V, eps = .3 B."""
    _, V_long, V, QK = norms(n, B, query)
    eps, third = iv.mpf(3) / 10 * B, iv.mpf(2) / 3
    bracket = (V_long**third + (QK * V * B**power) ** third) ** 3
    return n**2 * iv.log(2), (3 * n * B) ** 2 * bracket / eps**2 * iv.log(3 * n**2)


def main() -> int:
    print("statement   Corollary 4.4: left <= K polylog(all but m, T) right, K the same for all n")
    signs = [[1, -1, 1], [1, 1, -1], [-1, -1, -1]]
    apart = all(
        (v * signs[k][j]).a > mpf("0.3") * 50
        for (k, j), v in head(3, iv.mpf(50), iv.mpf(50), signs).items()
    )
    print(f"hypothesis  n = 3: outputs +-s_kj, beyond .3 B : {apart}")
    within = all(bounded(3, iv.mpf(50), iv.mpf(query), signs) for query in (1, 50))
    print(f"hypothesis  n = 3: rows, columns, spectral norm within the bounds : {within}")
    fails = apart and within
    for power, name, unit in ((0, "text, queries of length 1", True), (1, "proof's form", False)):
        for bits in (12, 300):
            n = iv.mpf(2) ** bits
            B = n**2  # the tokens' length is B exactly, the query's B or 1
            query = iv.mpf(1) if unit else B
            left, right = sides(n, B, query, power)
            logs = iv.log(9 * n**4) ** 10  # tenth power of a log beyond every norm, width, 1/eps
            forced = left / right
            print(f"{name}, n = 2^{bits}:")
            print(f"left side   {show(left)}")
            print(f"right side  {show(right)}")
        print(f"constant forced at n = 2^300, over log(9 n^4)^10, {show(forced / logs)}")
        fails = fails and (forced / logs).a > mpf(10) ** 6
    left, right = sides(iv.mpf(2) ** 300, iv.mpf(2) ** 600, iv.mpf(2) ** 600, 2)
    print(f"repaired    with B^2, n = 2^300: holds, {left.b < right.a}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
