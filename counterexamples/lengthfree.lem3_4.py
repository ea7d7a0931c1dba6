"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Lemma 3.4 (printed): for W in R^{k x d} with
|W|_{2,1} <= B_w, the sum of the 2-norms of the columns (Section 2.1), and N > d inputs with |x|_1
<= B_x, the log covering number of x -> Wx is at most K (B_w B_x / eps)^2 log(dk) with a constant K,
up to "logarithmic dependencies except T, k, d".

Take B_w = B_x = 1, eps = 1/2, d = k, the input e_1, and matrices whose first column is s / sqrt(k)
with signs s, all other columns 0. Signs that differ in more than k/4 places give outputs more than
2 sqrt(1/4) = 2 eps apart: no member serves two of them. Around a largest such set the balls of
radius k/4 hold all 2^k signs, so it has at least 2^k / V signs, V = sum_{i <= k/4} C(k, i), and
V <= 4^(k/4) (4/3)^(3k/4), since C(k, i) (1/4)^i (3/4)^(k-i) sums to at most 1. Hence
    log N >= k (3/4 log 3 - log 2) > 0.13 k   against   4 K log(k^2).
For the rows, |W^T|_{2,1} <= B_w, the bound holds: 2 (B_w B_x / eps)^2 log((k+1)(2d+1)) is enough.
"""

from fractions import Fraction as Q

from mpmath import iv

B_W, B_X, EPS = 1, 1, Q(1, 2)


def ball(k):
    """V, exactly."""
    total, term = 0, 1
    for i in range(k // 4 + 1):
        total += term
        term = term * (k - i) // (i + 1)
    return total


def rate(k):
    """The lower bound k (3/4 log 3 - log 2) of the log covering number."""
    return k * (iv.log(3) * 3 / 4 - iv.log(2))


def unit(k):
    """(B_w B_x / eps)^2 log(dk) at d = k."""
    return iv.log(k * k) * int((B_W * B_X / EPS) ** 2)


def show(x):
    return f"[{float(x.a):.6g}, {float(x.b):.6g}]"


def main() -> int:
    k = d = 4096
    x = [1] + [0] * (d - 1)
    inputs = [x] * (d + 1)
    squares = [k * Q(1, k)] + [Q(0)] * (d - 1)  # of the columns' 2-norms
    first = [Q(4 * x[0] ** 2, k)] * (k // 4 + 1)  # squares where the outputs Wx differ: signs that
    gap = sum(first)  # differ in k/4 + 1 places; the other columns of W are 0
    hypotheses = {
        "|W|_{2,1} <= B_w": squares[0] <= B_W**2 and not any(squares[1:]),
        "|x|_1 <= B_x": all(sum(map(abs, row)) <= B_X for row in inputs),
        "N > d": len(inputs) > d,
        "outputs of the packing are more than 2 eps apart": gap > (2 * EPS) ** 2,
    }
    print("statement   log N <= K (B_w B_x / eps)^2 log(dk) with one constant K")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    counted = iv.log(2**k // ball(k))
    fails = all(hypotheses.values()) and counted.a > rate(k).b
    print(f"k = d = {k}: V counted exactly, log N >= {show(counted)}, above {show(rate(k))}")
    print(f"            the bound is K times {show(unit(k))}: K >= {show(counted / unit(k))}")
    for K, power in ((10, 14), (1000, 21), (10**6, 32)):
        left, right = rate(2**power), K * unit(2**power)
        fails = fails and left.a > right.b
        print(f"K = {K}, k = d = 2^{power}")
        print(f"left side   at least {show(left)}")
        print(f"right side  in {show(right)}")
    print("the statement fails" if fails else "the statement stands at this instance")
    rows = 2 * 4 * k * iv.log((k + 1) * (2 * d + 1))  # the 2-norms of the rows sum to sqrt(k)
    above = rows.a > k * iv.log(2).b
    print(f"repaired    k = {k}, B_w of the rows sqrt(k): {show(rows)}, above k log 2: {above}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
