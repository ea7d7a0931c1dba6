r"""Paper 1 (Lintilhac and Shaikh 2026), Theorem 18 (code: the plotting notebook of 2025; formula
missing in the text): at an exact network the norm of the Hessian of the output is at most H_u.

H_u contains no scale of the scores. Let v be the direction in which F[i, h], i <= W, grows as
w_i e_h / |w|, with w_i = L + log c_i and e the direction of r(1) - r(0), the hidden units at bit 1
and at bit 0. Along v only the scores of the second attention move, key j by |w| e.r_j, so that
    v^T H v = S' |w|^2 sum_j a_j (p_j - m) (e.r_j - mean)^2,   means under the attention a,
with p_j what key j is read as and S' the value entry of v_2. For W = T that is of order
T^{3/2} log^2 T, and H_u of order T^{3/2}. With the last row of F alone H_u stands.

Instances: d = 1, U_i = {i}, W = T, equal c_i, the network that is exact at every input at the
paper's scale 2 log T: the output token looks at itself in the first layer, weight 7T, and the
read-out takes it away and divides by the rest. Of the bits q are 1.
"""

from fractions import Fraction as Q

from mpmath import iv

B = [Q(v, 4) for v in (3, 1, -1, -3, -1, -3, -5, -7)]  # biases for d = 1, heights 1 and 0


def units(y):
    return [max(y + b, Q(0)) for b in B]


def parity(y):
    r = units(y)
    return 2 * (r[0] - r[1] - r[2] + r[3])


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def norm_bound(d, W, T, root=iv.sqrt):
    k = T + 1
    most = 8 * (d + 1) + 6 * (d + 1) * root(W) + (2 + 6 * d) * root(3 * T * (d + 1))
    most += root(48 * T * d * (d + 1)) + (8 * root(2) + 2) * d * root(k * T)
    return most + 8 * root(2) * k * d * root(W) + 6 * root(2) * k * root(k) * d


def fails(T, q):
    y = [Q(q, T * T + T), Q(T * T + q - 1, T * T + T), Q(q, 8 * T)]  # bit 0, bit 1, output token
    c, S = 1 / iv.sqrt(T), T / iv.sqrt(T)
    idle = 1 / (S * T**2 + 1)  # share of the second attention on the output token
    share = [(1 - idle) * (T - q) / T, (1 - idle) * q / T, idle]
    read = [1, 0, 0]  # what each is read as, over S': the output token writes 1, less 1
    ends = [parity(Q(e, T * T + T)) for e in (0, T - 1, T * T, T * T + T - 1)]
    hypotheses = {
        "c_i > 0, sum of c_i^2 is 1": T * Q(1, T) == 1,
        "exact: the MLP is right at every string": ends == [1, 1, 0, 0],
        "and the output token writes 1": parity(Q(0)) == parity(Q(T, 8 * T)) == 1,
        "no hidden unit on a kink": all(v + b for v in y for b in B),
    }
    r = [units(v) for v in y]
    step = [r[1][h] - r[0][h] for h in range(8)]
    along = [box(sum(step[h] * v[h] for h in range(8))) for v in r]  # |step| e.r_j
    m, mean = (sum(a * b for a, b in zip(share, v, strict=True)) for v in (read, along))
    third = sum(a * (p - m) * (z - mean) ** 2 for a, p, z in zip(share, read, along, strict=True))
    w2 = T * (2 * iv.log(T) + iv.log(c)) ** 2
    left = abs(S / (1 - idle) * w2 * third / box(sum(v**2 for v in step)))
    right = norm_bound(1, T, T)
    print(f"statement   |Hessian| <= H_u; T = W = {T}, d = 1, q = {q}, L = 2 log T")
    for name, holds in hypotheses.items():
        print(f"  hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"  left side   at least, in [{float(left.a):.2f}, {float(left.b):.2f}]")
    print(f"  right side  H_u in [{float(right.a):.2f}, {float(right.b):.2f}]")
    return all(hypotheses.values()) and left.a > right.b


def main() -> int:
    false = all([fails(250, 197), fails(400, 316)])
    print("the statement fails" if false else "the statement stands at these instances")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
