"""Paper 4 (Trauger and Tewari 2024, arXiv version), Theorem 4.2 (printed): let C_1/eps^2 and
C_Bx/eps^2 be log covering numbers of the classes of matrices on |x|_2 <= 1 and |x|_2 <= B_x, and
B_c2, B_v2, B_QK2, B_w bounds of the spectral norms and of |w|. Then the log covering number of the
L-layer network is (gamma + eta)^3 / eps^2 with the gamma and eta of the theorem (for L = 1 eta is
an empty sum, 0).

L = d = k = 1, sigma = id, w = 1, W_c = s, W_QK = 0, and W_v free in [-1/s, 1/s]; all other classes
have one member. Both tokens ([CLS] is one of them) are 1, so attention gives 1, no projection acts
and the output is s W_v. The networks W_v = -1/s and 1/s are 2 apart, so for eps < 1 two members are
needed: log N >= log 2. C_1 = C_Bx = log(2)/s^2 is a cover constant: with n = floor(1/(s eps)),
n + 1 intervals of radius eps cover, and n + 1 <= 2^(n^2) for n >= 1; n = 0 needs one.
The term of W_v has B_v2 where the proof has B_c2, so nothing pays for the factor s of W_c, and the
bound falls like 1/s^2. With the sum of the proof over all terms the bound holds at this instance.
"""

from fractions import Fraction as Q

from mpmath import iv

L_SIGMA, B_W, B_X, EPS = 1, 1, 1, Q(999, 1000)


def network(v, s, tokens):
    """Output w Pi(Pi(softmax(0) X W_v) W_c), exactly."""
    mean = sum(tokens) / len(tokens)
    inner = max(Q(-1), min(Q(1), mean * v))
    return max(Q(-1), min(Q(1), inner * s))


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def cover(s):
    """C_1 = C_Bx = this times log 2."""
    return Q(1, s * s)


def two_thirds(x):
    return iv.exp(iv.log(x) * 2 / 3)


def bound(s, whole_sum):
    """(gamma + eta)^3 / eps^2 at L = 1, as printed or with every term of the proof's sum."""
    B_c, B_v = iv.mpf(s), iv.mpf(1) / s
    C = iv.exp(iv.log(box(cover(s)) * iv.log(2)) / 3)  # C_1^(1/3) = C_Bx^(1/3)
    gamma = C * two_thirds(2 * L_SIGMA * B_c * B_v * B_W)
    if whole_sum:
        gamma += C * (1 + two_thirds(B_W) + two_thirds(B_W * L_SIGMA * B_c))
    else:
        gamma += C * (1 + two_thirds(B_W * L_SIGMA * B_v))
    return gamma**3 * EPS.denominator**2 / EPS.numerator**2


def covered(s, count=400):
    """log(n + 1) <= C_1 / eps^2 in whole numbers: n + 1 <= 2^(n^2), and n^2 <= cover / eps^2.

    For every eps with n = floor(1/(s eps)): eps <= 1/(s n), so that cover >= 1/s^2 is enough.
    """
    enough = all(n * n <= cover(s) / Q(1, s * n) ** 2 for n in range(1, count))
    return enough and all(n + 1 <= 2 ** (n * n) for n in range(1, count))


def main() -> int:
    fails = True
    print("statement   log N <= (gamma + eta)^3 / eps^2, at L = d = k = 1")
    for s in (30, 3000):
        tokens, ends = (Q(1), Q(1)), (Q(-1, s), Q(1, s))
        low, high = (network(v, s, tokens) for v in ends)
        hypotheses = {
            "tokens at most B_x = 1": max(map(abs, tokens)) <= B_X,
            "|W_c| <= B_c2 = s, |W_v| <= B_v2 = 1/s": max(map(abs, ends)) <= Q(1, s),
            "n + 1 <= 2^(n^2) <= 2^(C / eps^2), tried below 400 (n + 1 <= 2^n)": covered(s),
            "the two networks are more than 2 eps apart": high - low > 2 * EPS,
        }
        for name, holds in hypotheses.items():
            print(f"hypothesis  s = {s}: {name}: {'holds' if holds else 'fails'}")
        left, right, repaired = iv.log(2), bound(s, False), bound(s, True)
        fails = fails and all(hypotheses.values()) and left.a > right.b
        print(f"left side   at least {left}")
        print(f"right side  in {right}")
        print(f"repaired    {repaired.a} >= log 2: {repaired.a >= left.b}")
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
