"""Paper 3 (Edelman, Goel, Kakade, Zhang 2022), Theorem A.17 (printed): log N(eps) <~ log(mT)/eps^2
(B_w^{2/3} + sum_i (B_w alpha_i)^{2/3} [(d B_C^inf)^{2/3} + (2 d L B_C B_V B_QK^inf)^{2/3} +
(k L B_C B_V^inf)^{2/3}])^3 with alpha_i = prod_{j<i} L B_C B_V (1 + 4 B_QK), norms of layer i in
the bracket and of layer j in the product; <~ hides a constant and logarithms of all but m, T.

Two layers, k = 1, sigma = id. d = r^2, N = d - 2 keys e_j, and a, q: unit vectors. CLS is q. Input
j: +-(3/5 a + 4/5 e_j), CLS. u = (1, ..., 1)/r, theta = 1/d.
Layer 1: W_Q = rho q, W_K = s for any signs s on the keys, W_V = theta a, W_C = theta u'. Scores
+-(log 2) s_j and 0; CLS becomes theta^2 (3/5)(3/7) s_j u, the other rows 0.
Layer 2: W_Q = W_K = 0, W_V = (35/3) u/theta^2, W_C = u', w = u. CLS averages to s_j u, output s_j.
So log N(.9) >= N log 2. The print multiplies layer 1 by the empty product, theta^2 kills its terms,
and the bound is of order log(N). Layers are counted from the input, g^(1) = X.
What survives: j > i, the layers behind; equal bounds in all layers, where the sum is the same. The
factor k of W_V is part of the print: with sqrt(kd) for k this instance would not decide.
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


def bound(r, order):
    """The bound with constant 1 at eps = .9, m = N, T = 3, in either order of the product."""
    d, third = r**2, iv.mpf(2) / 3
    N, theta = d - 2, 1 / d
    kappa = iv.mpf(35) / 3 / theta**2
    QK = RHO * iv.sqrt(N)  # spectral norm, and the longest column of W_K W_Q'
    one, two = theta**2 * (1 + 4 * QK), kappa  # the factors of the layers
    before = (1, one) if order == "before" else (two, 1)
    parts = (d * theta / r, 2 * d * theta**2 * QK, theta * theta), (d / r, 0, kappa / r)
    total = 1 + sum(
        (alpha * part) ** third
        for alpha, layer in zip(before, parts, strict=True)
        for part in layer
        if part != 0
    )
    return total**3 * iv.log(3 * N) / iv.mpf("0.81")


def main() -> int:
    print("statement   Theorem A.17: left <= K polylog(all but m, T) right, K the same for all r")
    signs = network(1, 10**4) == 1 and network(-1, 10**4) == -1
    print(f"hypothesis  the network's output is s_j, rank-one W_Q W_K', rows at most 1 : {signs}")
    fails = signs
    for bits in (10, 150):
        r = iv.mpf(2) ** bits
        left, right = (r**2 - 2) * iv.log(2), bound(r, "before")
        forced = left / right / iv.log(r**8) ** 10  # tenth power of a log beyond every norm
        print(f"left side   {show(left)} with r = 2^{bits}")
        print(f"right side  {show(right)}")
    print(f"constant forced at r = 2^150, over log(r^8)^10, {show(forced)}")
    fails = fails and forced.a > mpf(10) ** 6
    print(f"repaired    j > i, r = 2^150: holds, {left.b < bound(r, 'behind').a}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
