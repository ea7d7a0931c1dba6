r"""Paper 1 (Lintilhac and Shaikh 2026, version 2), Theorem 18 (code: the plotting notebook of 2025;
formula missing in the text): at an exact network the norm of the Hessian of the output is at most
H_u.

Let v be the direction in which F[i, h], i <= W, grows as w_i e_h / |w|, with w_i = L + log c_i
and e the direction of r(1) - r(0), the hidden units at bit 1 and at bit 0. Along v only the scores
of the second attention move, key j by |w| e.r_j, so that under the attention a
    v^T H v = V |w|^2 sum_j a_j (p_j - m) (e.r_j - mean)^2,   V p_j what key j is read as.

Instances: d = 1, U_i = {i}, W = T, equal c_i, first scores 2 log T; of the bits q are 1. At 2 log T
and T of 20 to 50 the bound holds.
1. The paper's own network, second scores L of 40 and 400: V = S, the output token attends to all
   alike. Off from f by at most S idle < 2 e^-L, it is exact in the limit of large L, in which the
   paper gives that token zero weight. The left side grows as L^2; H_u stays.
2. The repaired network (ours), exact at every input at L = 2 log T: the output token looks at
   itself, weight 7T; the read-out takes it away and divides by the rest.
"""

from fractions import Fraction as Q

from mpmath import iv

SELF = 7  # times T: the weight of the repaired network's output token on itself
B = [Q(v, 4) for v in (3, 1, -1, -3, -1, -3, -5, -7)]  # biases for d = 1, heights 1 and 0


def units(y):
    return [max(y + b, Q(0)) for b in B]


def parity(y):
    return 2 * sum(s * r for s, r in zip((1, -1, -1, 1), units(y)[:4], strict=True))


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def norm_bound(d, W, T, root=iv.sqrt):
    k = T + 1
    most = 8 * (d + 1) + 6 * (d + 1) * root(W) + (2 + 6 * d) * root(3 * T * (d + 1))
    most += root(48 * T * d * (d + 1)) + (8 * root(2) + 2) * d * root(k * T)
    return most + 8 * root(2) * k * d * root(W) + 6 * root(2) * k * root(k) * d


def fails(T, q, L=None):  # lists: at bits of 0, at bits of 1, at the output token
    own, L = L is not None, L or 2 * iv.log(T)  # the paper's own network, or the repaired one
    whole = T + 1 if own else T + SELF * T  # the output token's attention, its own part with it
    y = [Q(q, T * T + T), Q(T * T + q - 1, T * T + T), Q(q, whole)]
    S, idle = iv.sqrt(T), 1 / (iv.sqrt(T) * iv.exp(L) + 1)  # sum of c; attention on the output
    share = [(1 - idle) * (T - q) / T, (1 - idle) * q / T, idle]
    read = [box(parity(v) - (v == y[2] and not own)) for v in y]  # the repaired one takes 1 away
    ends = [parity(Q(e, T * T + T)) for e in (0, T - 1, T * T, T * T + T - 1)]
    name = "off from f by less than 2 e^-L" if own else "exact: the output token writes 1"
    near = S * idle < 2 * iv.exp(-L) and all(0 <= parity(Q(e, T + 1)) <= 1 for e in range(T + 1))
    hypotheses = {
        "the MLP is right at every string": ends == [1, 1, 0, 0],
        name: near if own else parity(Q(0)) == parity(y[2]) == parity(Q(T, whole)) == 1,
        "no hidden unit on a kink": all(v + b for v in y for b in B),
    }
    r = list(map(units, y))
    step = [one - zero for zero, one in zip(*r[:2], strict=True)]
    along = [box(sum(map(Q.__mul__, step, v))) for v in r]  # |step| e.r_j
    m, mean = (sum(a * b for a, b in zip(share, v, strict=True)) for v in (read, along))
    third = sum(a * (p - m) * (z - mean) ** 2 for a, p, z in zip(share, read, along, strict=True))
    scale = (S if own else S / (1 - idle)) * T * (L - iv.log(T) / 2) ** 2  # V |w|^2
    left, right = abs(scale * third / box(sum(v**2 for v in step))), norm_bound(1, T, T)
    print(f"statement   |Hessian| <= H_u; T = W = {T}, q = {q}, L = {L if own else '2 log T'}")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"  left side   at least, in [{float(left.a):.2f}, {float(left.b):.2f}]")
    print(f"  right side  H_u in [{float(right.a):.2f}, {float(right.b):.2f}]")
    return all(hypotheses.values()) and left.a > right.b


def main() -> int:
    false = all([fails(250, 197), fails(400, 316), fails(20, 16, 40), fails(20, 16, 400)])
    print("the statement fails" if false else "the statement stands at these instances")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
