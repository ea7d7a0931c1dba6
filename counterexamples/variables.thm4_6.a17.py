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

from fractions import Fraction as F

from mpmath import iv, mpf, nstr

iv.dps = 40
RHO = iv.mpf(5) / 4 * iv.log(2)
KAPPA = F(35, 3)  # times 1/theta^2


def show(x):
    return f"in [{nstr(mpf(x.a), 6)}, {nstr(mpf(x.b), 6)}]"


def network(sign, d):
    """The output by hand, exactly: softmax of (log 2) s (1, -1, 0) has weights (2, 1/2, 1)/3.5."""
    theta = F(1, d)
    up, down = (F(2), F(1, 2)) if sign > 0 else (F(1, 2), F(2))
    assert (up + down + 1, F(9, 25) + F(16, 25)) == (F(7, 2), 1)
    value = theta * F(3, 5) * (up - down) / (up + down + 1)  # Pi and W_C: rows below 1
    cls = theta * value  # times u; the other two rows average +- theta 3/5 and 0
    second = KAPPA / theta**2 * cls / 3  # uniform attention over three rows
    return second if abs(second) <= 1 else F(0)


def bound(n, own, width, order):
    """The bound with constant 1 at eps = .9, m = n, T = 3, in either order of the product."""
    d, third = (2 * n + 1 if own else n + 2), iv.mpf(2) / 3
    theta, long = 1 / d, 1 if width == "columns" else 1 / iv.sqrt(d)  # of u, by columns or rows
    k = iv.sqrt(d) if width == "rows, sqrt(kd)" else 1
    kappa = iv.mpf(35) / 3 / theta**2
    QK = RHO if own else RHO * iv.sqrt(n)  # spectral norm, and the longest column of W_K W_Q'
    one, two = theta**2 * (1 + 4 * QK), kappa  # the factors of the layers
    before = (1, one) if order == "before" else (two, 1)
    C, V = d / iv.sqrt(d), kappa * long  # d times the column of u', the length of kappa u
    parts = (C * theta, 2 * d * theta**2 * QK, k * theta * theta), (C, 0, k * V)
    pairs = zip(before, parts, strict=True)
    total = 1 + sum((a * p) ** third for a, layer in pairs for p in layer if p != 0)
    return total**3 * iv.log(3 * n) / iv.mpf("0.81")


def main() -> int:
    print("statement   Theorem A.17: left <= K polylog(all but m, T) right, K the same for all n")
    fails = network(1, 10**4) == 1 and network(-1, 10**4) == -1
    print(f"hypothesis  the network's output is s_j, rows at most 1: {fails}")
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
