"""Paper 3 (Edelman, Goel, Kakade, Zhang 2022), Theorem A.17 (reconstructed; the product over j < i
is legible): log N(eps) <~ log(mT)/eps^2 (B_w^{2/3} + sum_i (B_w alpha_i)^{2/3} [(d B_C^inf)^{2/3} +
(2 d L B_C B_V B_QK^inf)^{2/3} + (k L B_C B_V^inf)^{2/3}])^3, alpha_i = prod_{j<i} L B_C B_V (1 +
4 B_QK), norms of layer i in the bracket and of layer j in the product; <~ hides a constant and logs
of all but m, T. B_V^inf bounds columns of W_V (Section 4.3), or rows (the proof). Here B_w = 1.

Two layers, k = 1, sigma = id, inputs j = 1..n of three tokens: a class token, +-(3/5 a + 4/5 e_j).
a, e_j and the class tokens are unit vectors; u = (1, ..., 1)/sqrt(d), theta = 1/d.
Layer 1: W_QK = rho sum_j s_j q_j e_j' for any signs s, W_V = theta a, W_C = theta u'. Scores
+-(log 2) s_j and 0; the class token's row becomes theta^2 (3/5)(3/7) s_j u, the other rows 0.
Layer 2: W_QK = 0, W_V = (35/3) u/theta^2, W_C = u', w = u. It averages to s_j u, output s_j.
So log N(.9) >= n log 2. A.17 has the empty product at layer 1, and theta^2 kills its terms.
(1) Each input has its own class token q_j, d = 2n + 1, W_QK has norm rho. The bound is of order
    log n for columns, the charitable reading, for rows, and for rows with sqrt(kd) for k.
(2) One class token q for all, d = n + 2, W_QK = rho q s' of norm rho sqrt(n): order log n for rows.
What survives: j > i, the layers behind; equal bounds in all layers, where the sum is the same.
"""

from operator import mul

from mpmath import iv, mpf, nstr

iv.dps = 40
RHO = iv.mpf(5) / 4 * iv.log(2)
KAPPA = iv.mpf(35) / 3  # times 1/theta^2
SLACK = 1 + iv.mpf(10) ** -25  # of rounding


def show(x):
    return f"in [{nstr(mpf(x.a), 6)}, {nstr(mpf(x.b), 6)}]"


def matrices(n, own, signs):
    """W_QK, W_V, W_C of both layers; the blocks are a, e_j, and the class tokens, one each or q."""
    d = 2 * n + 1 if own else n + 2
    theta, u = iv.mpf(1) / d, [1 / iv.sqrt(d)] * d
    score = [[iv.mpf(0)] * d for _ in range(d)]
    for j, sign in enumerate(signs):
        score[1 + n + (j if own else 0)][1 + j] = RHO * sign
    a = [[theta * (i == 0)] for i in range(d)]
    first = score, a, [[theta * v for v in u]]
    return first, ([[iv.mpf(0)] * d] * d, [[KAPPA / theta**2 * v] for v in u], [u])


def turned(matrix):
    return list(zip(*matrix, strict=True))


def apply(x, matrix):
    return [sum(map(mul, x, column)) for column in turned(matrix)]


def network(n, own, signs):
    """Outputs on all inputs by interval arithmetic, with softmax, W_V, W_C, and no row beyond 1."""
    layers, found = matrices(n, own, signs), []
    d = len(layers[0][0])
    for j in range(n):
        x = [iv.mpf(3 * (i == 0) + 4 * (i == 1 + j)) / 5 for i in range(d)]
        cls = [iv.mpf(i == 1 + n + (j if own else 0)) for i in range(d)]
        rows = [cls, x, [-v for v in x]]
        for score, value, out in layers:
            after = []
            for row in rows:
                asks = apply(row, score)
                parts = [iv.exp(sum(map(mul, asks, t))) for t in rows]
                mixed = [sum(map(mul, parts, c)) / sum(parts) for c in turned(rows)]
                after.append(apply(apply(mixed, value), out))
            rows = after
            assert all(longest([row]) <= SLACK for row in rows)  # so Pi leaves them as they are
        found.append(sum(rows[0]) / iv.sqrt(d))
    return found


def longest(lines):
    return max((iv.sqrt(sum(v**2 for v in line)) for line in lines), key=lambda v: v.b)


def norms(n, own):
    """(spectral, longest column, longest row) of W_QK, W_V and W_C, layer by layer."""
    d = 2 * n + 1 if own else n + 2
    theta, side = iv.mpf(1) / d, 1 / iv.sqrt(d)
    kappa, QK = KAPPA / theta**2, RHO if own else RHO * iv.sqrt(n)
    first = (QK, RHO, QK), (theta, theta, theta), (theta, theta * side, theta)
    return first, ((0, 0, 0), (kappa, kappa, kappa * side), (1, side, 1))


def bounded(n, own, signs):
    """The norms above are those of the matrices; W_QK is rank one or RHO times an isometry."""
    for layer, given in zip(matrices(n, own, signs), norms(n, own), strict=True):
        for matrix, (spectral, column, row) in zip(layer, given, strict=True):
            whole = longest([[v for line in matrix for v in line]])
            gram = [apply(line, turned(matrix)) for line in matrix]
            apart = all(v == 0 for i, g in enumerate(gram) for k, v in enumerate(g) if i != k)
            found = longest(matrix) if apart else whole
            limits = (found, spectral), (longest(turned(matrix)), column), (longest(matrix), row)
            if not all(x <= most * SLACK for x, most in limits):
                return False
    return True


def bound(n, own, width, order):
    """The bound with constant 1 at eps = .9, m = n, T = 3, in either order of the product.

    B_QK^inf is the longer of columns and rows of W_QK, B_C^inf the longest column of W_C.
    """
    d, third = (2 * n + 1 if own else n + 2), iv.mpf(2) / 3
    k = iv.sqrt(d) if width == "rows, sqrt(kd)" else 1
    factors, parts = [], []
    for (QK, *QK_long), (V, V_column, V_row), (C, C_column, _) in norms(n, own):
        factors.append(C * V * (1 + 4 * QK))
        V_long = V_column if width == "columns" else V_row
        most = max(QK_long, key=lambda v: iv.mpf(v).b)
        parts.append((d * C_column, 2 * d * C * V * most, k * C * V_long))
    before = (1, factors[0]) if order == "before" else (factors[1], 1)
    pairs = zip(before, parts, strict=True)
    total = 1 + sum((a * p) ** third for a, layer in pairs for p in layer if p != 0)
    return total**3 * iv.log(3 * n) / iv.mpf("0.81")


def main() -> int:
    print("statement   Theorem A.17: left <= K polylog(all but m, T) right, K the same for all n")
    signs, fails = [1, -1, -1], True
    for own in (True, False):
        found = network(3, own, signs)
        right = all(abs(f - s) < SLACK - 1 for f, s in zip(found, signs, strict=True))
        within = bounded(3, own, signs)
        print(f"{'own' if own else 'one'} class token, n = 3")
        print(f"hypothesis  the network's output is s_j, rows at most 1: {right}")
        print(f"hypothesis  the matrices have the norms of the bound: {within}")
        fails = fails and right and within
    n = iv.mpf(2) ** 300
    left = n * iv.log(2)
    print(f"left side   {show(left)} with n = 2^300")
    cases = (True, "columns"), (True, "rows"), (True, "rows, sqrt(kd)"), (False, "rows")
    for own, width in cases:
        right = bound(n, own, width, "before")
        forced = left / right / iv.log(n**4) ** 10  # tenth power of a log beyond every norm
        print(f"right side  {show(right)}, {'own' if own else 'one'} class token, {width}")
        print(f"constant forced, over log(n^4)^10, {show(forced)}")
        fails = fails and forced.a > mpf(10) ** 6
        print(f"repaired    j > i: holds, {left.b < bound(n, own, width, 'behind').a}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
