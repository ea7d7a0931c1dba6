r"""Paper 1 (Lintilhac and Shaikh 2026), Theorem 18 (code: the plotting notebook of 2025; formula
missing in the text): the operator norm of the Hessian of the output is at most H_u, below.

H_u contains no scale of the scores. Let v be the direction in which F[i, h], i <= W, grows as
w_i e_h / |w|, with w_i = L + log c_i and e the direction of r(1) - r(0), the hidden units at bit 1
and at bit 0. Along v only the scores of the second attention move, key j by |w| e.r_j, so that
    v^T H v = S |w|^2 sum_j a_j (p_j - m) (e.r_j - mean)^2,   means under the attention a.
That is of order W^{3/2} log^2 T for W = T. No violation is known with the last row of F alone.

Instances: d = 1, U_i = {i}, W = T, first scores 2 log T; T = 400 at the paper's L = 2 log T, and
the paper's class T = 20 at L = 8 log T. Of the bits q are 1; zeros have A times the coefficient
of ones, such that the output is f(x) exactly.
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


def norm_bound(d, W, T):
    k, root = T + 1, iv.sqrt
    most = 8 * (d + 1) + 6 * (d + 1) * root(W) + (2 + 6 * d) * root(3 * T * (d + 1))
    most += root(48 * T * d * (d + 1)) + (8 * root(2) + 2) * d * root(k * T)
    return most + 8 * root(2) * k * d * root(W) + 6 * root(2) * k * root(k) * d


def fails(T, q, power):
    y = [Q(q, T * T + T), Q(T * T + q - 1, T * T + T), Q(q, T + 1)]  # bit 0, bit 1, idle
    p, r, m = [parity(v) for v in y], [units(v) for v in y], parity(y[2])
    A = m * q / ((1 - m) * (T - q))
    square = (T - q) * A**2 + q  # coefficients A s and s with s^2 = 1 / square
    hypotheses = {
        "c_i > 0, |U_i| = 1, W = T": A > 0,
        "sum of c_i^2 is 1": (T - q) * A**2 / square + q / square == 1,
        "the MLP is right where there is a component": p[:2] == [1, 0],
        "no hidden unit on a kink": all(v + b for v in y for b in B),
        "output = f(x): idle parity is f(x)/S": m == (T - q) * A / ((T - q) * A + q),
    }
    s = 1 / iv.sqrt(box(square))
    S = (box((T - q) * A) + q) * s
    idle = 1 / (S * T**power + 1)
    share = [(1 - idle) * box(m), (1 - idle) * box(1 - m), idle]
    step = [b - a for a, b in zip(*r[:2], strict=True)]
    along = [box(sum(a * b for a, b in zip(step, v, strict=True))) for v in r]  # |step| e.r_j
    mean = sum(a * b for a, b in zip(share, along, strict=True))
    third = sum(a * box(v - m) * (z - mean) ** 2 for a, v, z in zip(share, p, along, strict=True))
    w2 = sum(n * (power * iv.log(T) + iv.log(c)) ** 2 for n, c in ((T - q, box(A) * s), (q, s)))
    left, right = abs(S * w2 * third / box(sum(v**2 for v in step))), norm_bound(1, T, T)
    print(f"statement   norm of the Hessian <= H_u; T = W = {T}, d = 1, q = {q}, L = {power} log T")
    for name, holds in hypotheses.items():
        print(f"  hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"  left side   at least, in [{float(left.a):.2f}, {float(left.b):.2f}]")
    print(f"  right side  H_u in [{float(right.a):.2f}, {float(right.b):.2f}]")
    return all(hypotheses.values()) and left.a > right.b


def main() -> int:
    false = all([fails(400, 259, 2), fails(20, 13, 8)])
    print("the statement fails" if false else "the statement stands at these instances")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
