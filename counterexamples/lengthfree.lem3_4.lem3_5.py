"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Lemma 3.5 (printed, after Edelman et al.
2022, Lemma 4.6): for W in R^{k x d} with |W|_{2,1} <= B_w, the sum of the 2-norms of the columns
(Section 2.1), and any n points with |x_i|_2 <= B_x, the log covering number of x -> Wx on these
points is at most K (B_w B_x / eps)^2 log(dn), where <~ hides logarithms.

Take B_w = B_x = 1, eps = 1/2, d = 2, n = 1, x_1 = e_1, and matrices with first column s / sqrt(k),
s signs, second column 0. As in lengthfree.lem3_4 at least 2^k / V signs differ pairwise in more
than k/4 places, so their outputs are more than 2 eps apart and log N >= k (3/4 log 3 - log 2).
The right side is 4 K log 2 for every k, so even K (log k)^3 is too small. (A like lemma of the
source, 4.5 in its version of 2021, can be read with W'x, as Wx is not defined there.) With the
2-norms of the rows and log(kn) the bound holds: 2 (B_w B_x / eps)^2 log((k+1)(2n+1)) is enough.
"""

from fractions import Fraction as Q

from mpmath import iv

B_W, B_X, EPS, D, N = 1, 1, Q(1, 2), 2, 1


def ball(k):
    """V = sum of C(k, i) over i <= k/4, exactly."""
    total, term = 0, 1
    for i in range(k // 4 + 1):
        total += term
        term = term * (k - i) // (i + 1)
    return total


def rate(k):
    """Lower bound of the log covering number; V <= 4^(k/4) (4/3)^(3k/4)."""
    return k * (iv.log(3) * 3 / 4 - iv.log(2))


def show(x):
    return f"[{float(x.a):.6g}, {float(x.b):.6g}]"


def main() -> int:
    k = 1024
    points = [(1, 0)]
    squares = [k * Q(1, k), Q(0)]  # of the columns' 2-norms
    gap = 4 * Q(k // 4 + 1, k) * points[0][0] ** 2  # of the outputs Wx, signs k/4 + 1 places apart
    hypotheses = {
        "|W|_{2,1} <= B_w": squares[0] <= B_W**2 and squares[1] == 0,
        "|x_i|_2 <= B_x": all(a * a + b * b <= B_X**2 for a, b in points),
        "n points in R^d": len(points) == N and len(points[0]) == D,
        "outputs of the packing are more than 2 eps apart": gap > (2 * EPS) ** 2,
    }
    print("statement   log N <= K (log k)^3 (B_w B_x / eps)^2 log(dn) with one constant K")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    unit = iv.log(D * N) * int((B_W * B_X / EPS) ** 2)
    counted = iv.log(2**k // ball(k))
    fails = all(hypotheses.values()) and counted.a > rate(k).b
    print(f"k = {k}: V counted exactly, log N >= {show(counted)}, above {show(rate(k))}")
    print(f"            (B_w B_x / eps)^2 log(dn) is {show(unit)}: forced {show(counted / unit)}")
    for K, power in ((1, 16), (100, 24), (10**6, 40)):
        left, right = rate(2**power), K * iv.log(2**power) ** 3 * unit
        fails = fails and left.a > right.b
        print(f"K = {K}, k = 2^{power}")
        print(f"left side   at least {show(left)}")
        print(f"right side  in {show(right)}")
    print("the statement fails" if fails else "the statement stands at this instance")
    rows = 2 * 4 * k * iv.log((k + 1) * (2 * N + 1))  # the 2-norms of the rows sum to sqrt(k)
    above = rows.a > k * iv.log(2).b
    print(f"repaired    k = {k}, B_w of the rows sqrt(k): {show(rows)}, above k log 2: {above}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
