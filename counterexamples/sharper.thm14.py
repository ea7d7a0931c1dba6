r"""Paper 1 (Lintilhac and Shaikh 2026), Theorem 14 (quoted: G_u(W=10, d=2) = 15,524): at every
input the squared gradient of the network is at most G_u = 4 + 4W(2 + d + 32 d^2 + 32 d^3).

The rows of F that write into the position columns are left out. They are zero, but a change t of
F[i, h], i <= W, adds t w_i r_j[h] to the score of key j of the second attention, w_i = L + log c_i,
r_j the hidden units at j. With attention a, parities p, and m the mean of p under a,
    df/dF[i, h] = S w_i u[h],  u = sum_j a_j (p_j - m) r_j:  squares sum to S^2 |w|^2 |u|^2.
With the last row of F alone as weights the bound stands. Exactness is used at x only.

Instances: W = T, U_i = {i}, first scores 2 log T; T = 64 at the paper's L = 2 log T, and the
paper's class T = 20 at L = 4 log T, where the network is closer to exact. Half of the bits are 1;
zeros have A times the coefficient of ones, such that the output is f(x) exactly.
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


def fails(T, power):
    half = T // 2
    mean = Q(half, T + 1)  # what the idle position T + 1 sees
    y = [Q(T * T * bit + half - bit, T * T + T) for bit in (0, 1)]  # positions with bit 0, bit 1
    m = parity(mean)
    A = m / (1 - m)
    square = half * (A**2 + 1)  # coefficients A s and s with s^2 = 1 / square
    hypotheses = {
        "c_i > 0, |U_i| = 1, W = T": A > 0,
        "sum of c_i^2 is 1": half * (A**2 / square + 1 / square) == 1,
        "the MLP is right where there is a component": [*map(parity, y)] == [1, 0],
        "no hidden unit on a kink": all(v + b for v in (*y, mean) for b in B),
        "output = f(x), the loss at x is 0: idle parity is f(x)/S": m == A / (A + 1),
    }
    s = 1 / iv.sqrt(box(square))
    S = half * (box(A) + 1) * s
    active = S * T**power / (S * T**power + 1)  # share of attention 2 on positions 1 to T
    # u: zeros have p - m = 1 - m and share active * m, ones -m and active * (1 - m); idle 0
    u2 = (active * box(m * (1 - m))) ** 2 * box(
        sum((a - b) ** 2 for a, b in zip(units(y[0]), units(y[1]), strict=True))
    )
    w2 = half * sum((power * iv.log(T) + iv.log(c)) ** 2 for c in (box(A) * s, s))
    left, right = S**2 * w2 * u2, 4 + 4 * T * (2 + 1 + 32 + 32)
    print(f"T = W = {T}, d = 1, second scores {power} log T")
    for name, holds in hypotheses.items():
        print(f"  hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"  at every input the error is at most 1/(T^{power} + 1/S), below {2 / T**power:.0e}")
    print(f"  left side   at least, in [{float(left.a):.3f}, {float(left.b):.3f}]")
    print(f"  right side  G_u = {right}")
    return all(hypotheses.values()) and left.a > right


def main() -> int:
    print("statement   |gradient of the network|^2 <= G_u at every input")
    false = all([fails(64, 2), fails(20, 4)])
    print("the statement fails" if false else "the statement stands at these instances")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
