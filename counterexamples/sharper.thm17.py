r"""Paper 1 (Lintilhac and Shaikh 2026), Theorem 17 (code: the plotting notebook of 2025; formula
missing in the text): with high probability the trace of the loss's Hessian at a noisy copy of an
exact network is at most 2 (sqrt(G_u) + G_p)^2 + 2 T_p (H_u + H_p) Theta, G_u that of Theorem 14.

G_p and T_p are multiples of the noise. As it vanishes the right side tends to 2 G_u. No hidden unit
is on a kink, so that the trace is continuous there and tends to 2 |gradient of the network|^2.
The rows of F that write into position columns are left out of G_u; with p_j what key j is read as,
m its mean under the second attention a, r_j the hidden units, w_i = L + log c_i, their part is
    S'^2 |w|^2 |u|^2,  u = sum_j a_j (p_j - m) r_j  (rows 1 to W of F; S' the value entry of v_2).
With G_u the network's own squared gradient this objection is gone.

Instances: d = 1, U_i = {i}, W = T, equal c_i, the network that is exact at every input at the
paper's scale 2 log T: the output token looks at itself in the first layer, weight 7T, and the
read-out takes it away and divides by the rest. Half of the bits are 1.
"""

from fractions import Fraction as Q

from mpmath import iv

B = [Q(v, 4) for v in (3, 1, -1, -3, -1, -3, -5, -7)]  # biases for d = 1, heights 1 and 0


def units(y):
    return [max(y + b, Q(0)) for b in B]


def parity(y):
    r = units(y)
    return 2 * (r[0] - r[1] - r[2] + r[3])


def box(q):
    return iv.mpf(q.numerator) / q.denominator


def fails(T):
    q = T // 2
    y = [Q(q, T * T + T), Q(T * T + q - 1, T * T + T), Q(q, 8 * T)]  # bit 0, bit 1, output token
    c = 1 / iv.sqrt(T)
    S = T * c
    idle = 1 / (S * T**2 + 1)  # share of the second attention on the output token
    share = [(1 - idle) * (T - q) / T, (1 - idle) * q / T, idle]
    read = [1, 0, 0]  # what each is read as, over S': the output token writes 1, less 1
    ends = [parity(Q(e, T * T + T)) for e in (0, T - 1, T * T, T * T + T - 1)]
    hypotheses = {
        "c_i > 0, sum of c_i^2 is 1": T * Q(1, T) == 1,
        "exact at every input: the MLP is right at every string": ends == [1, 1, 0, 0],
        "and the output token writes 1 at every string": parity(Q(0)) == parity(Q(T, 8 * T)) == 1,
        "no hidden unit on a kink": all(v + b for v in y for b in B),
    }
    m = sum(a * p for a, p in zip(share, read, strict=True))
    tilt = [a * (p - m) for a, p in zip(share, read, strict=True)]
    r = [units(v) for v in y]
    u = [sum(t * box(v[h]) for t, v in zip(tilt, r, strict=True)) for h in range(8)]
    w = 2 * iv.log(T) + iv.log(c)
    left = 2 * (S / (1 - idle)) ** 2 * T * w**2 * sum(v**2 for v in u)
    right = 2 * (4 + 4 * T * (2 + 1 + 32 + 32))
    print(f"T = W = {T}, d = 1, scores 2 log T, noise tends to 0")
    for name, holds in hypotheses.items():
        print(f"  hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"  left side   tends to at least a number in [{float(left.a):.2f}, {float(left.b):.2f}]")
    print(f"  right side  tends to 2 G_u = {right}")
    return all(hypotheses.values()) and left.a > right


def main() -> int:
    print("statement   |trace| <= 2 (sqrt(G_u) + G_p)^2 + 2 T_p (H_u + H_p) Theta")
    false = all([fails(48), fails(250)])
    print("the statement fails" if false else "the statement stands at these instances")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
