"""Paper 3 (Edelman, Goel, Kakade, Zhang 2022), Corollary 4.4 (reconstructed): for tokens no longer
than B, log N(eps) <~ (d L B)^2 ((B_V^{2,inf})^{2/3} + (2 B_QK^{2,inf} B_V)^{2/3})^3 log(mT)/eps^2,
where <~ hides a constant and logarithms of all but m, T. No B is beside B_QK (one is in the proof).

d = 3n, sigma = id, T = 3. Let a = (1, ..., 1)/sqrt(n) in block 1, e_j in block 2, q_k in block 3.
Input (k, j): tokens +-(B/sqrt2)(a + e_j) and the query, |query| q_k. W_V = a w' with a unit w
spread over all columns, W_QK = rho sum_kj s_kj q_k e_j' for any signs s. The scores are +-M s_kj
and 0, M = log 2, and the head is (3/7)(B/sqrt2) s_kj w. Two sign matrices are 2 (3/7) B/sqrt2 apart
on some input, so log N(eps) >= n^2 log 2 for eps below half of that. All rows and columns of W_QK
have length rho sqrt(n), of W_V at most 1/sqrt(n): as B grows the bound is of order n log(n).
What survives: tokens of length at most 1; B^2 (for unit queries B) beside B_QK B_V.
"""

from itertools import product

from mpmath import iv, mpf, nstr

iv.dps = 40
M = iv.log(2)


def show(x):
    return f"in [{nstr(mpf(x.a), 6)}, {nstr(mpf(x.b), 6)}]"


def head(n, B, query, signs):
    """Outputs along w of the head itself, softmax by interval arithmetic, on every input (k, j)."""
    rho = iv.sqrt(2) * M / (B * query)
    found = {}
    for k, j in product(range(n), repeat=2):
        x = [B / iv.sqrt(2 * n)] * n + [B / iv.sqrt(2) if i == j else iv.mpf(0) for i in range(n)]
        score = query * rho * sum(signs[k][i] * x[n + i] for i in range(n))
        up, down = iv.exp(score), iv.exp(-score)
        assert abs(sum(v * v for v in x) - B * B).b < mpf(10) ** -30  # tokens as long as B
        value = sum(x[:n]) / iv.sqrt(n)
        found[k, j] = value * (up - down) / (up + down + 1)
    return found


def sides(n, B, query, power):
    """log N from below, and the bound with constant 1, B^power beside B_QK B_V, eps = .3 B."""
    rho = iv.sqrt(2) * M / (B * query)
    eps = iv.mpf(3) / 10 * B
    V, QK = 1 / iv.sqrt(n), rho * iv.sqrt(n)
    third = iv.mpf(2) / 3
    bracket = (V**third + (2 * QK * B**power) ** third) ** 3
    return n**2 * iv.log(2), (3 * n * B) ** 2 * bracket / eps**2 * iv.log(3 * n**2)


def main() -> int:
    print("statement   Corollary 4.4: left <= K polylog(all but m, T) right, K the same for all n")
    signs = [[1, -1, 1], [1, 1, -1], [-1, -1, -1]]
    apart = all(
        (v * signs[k][j]).a > mpf("0.3") * 50
        for (k, j), v in head(3, iv.mpf(50), iv.mpf(50), signs).items()
    )
    print(f"hypothesis  n = 3: outputs +-s_kj, beyond .3 B : {apart}")
    fails = apart
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
