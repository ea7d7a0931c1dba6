"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Theorem 4.2 (printed): let C_1/eps^2 and
C_Bx/eps^2 be log covering numbers of the classes of matrices on |x|_2 <= 1 and |x|_2 <= B_x, and
B_c2, B_v2, B_QK2, B_w bounds of the spectral norms and of |w|. Then the log covering number of the
L-layer network is (gamma + eta)^3 / eps^2 with the gamma and eta of the theorem (for L = 1 eta is
an empty sum, 0).

L = d = k = 1, sigma = id, tokens s ([CLS]) and -s, W_v = 1/s, W_c = w = 1, and W_QK free in
[-h, h], h = 1/s^3; all other classes have one member. The scores of [CLS] are W_QK s^2 and the
opposite, so attention gives it tanh(W_QK s^2), no projection acts, and this is the output. The
networks W_QK = -h and h are 2 tanh(1/s) apart, so just below eps = tanh(1/s) two members are
needed: log N >= log 2. C_1 = h^2 log 2 and C_Bx = s^2 C_1 are cover constants: with n =
floor(h x / eps) for |x| <= 1 or s, n + 1 intervals cover, and n + 1 <= 2^(n^2); n = 0 needs one.
The bound falls like 1/s^4, as printed and by the sum of the proof, with B_c2 for B_v2 and the term
of the first W_c: the first W_QK lacks B_x^2 there too. With B_x^2 the bound holds at this instance.
Here C_1 is for the class of each matrix alone. If one class with one C_1 holds all matrices, as in
the corollaries, this instance shows nothing; the certificate of Corollary 4.2.1 then serves.
"""

from fractions import Fraction as Q

from mpmath import iv

NEAR = Q(999, 1000)


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def two_thirds(x):
    return iv.exp(iv.log(box(x)) * 2 / 3)


def instance(s):
    """Tokens, largest |W_QK|, W_v, W_c and w."""
    return (s, -s), 1 / s**3, 1 / s, Q(1), Q(1)


def outputs(s):
    """At W_QK = h and -h, and whether no Pi acts: all inside are means of +-1 and below 1."""
    (query, other), h, W_v, W_c, w = instance(s)
    found, free = [], True
    for W_QK in (h, -h):
        share = 1 / (1 + iv.exp(box(query * W_QK * (other - query))))
        inner = share * box(query * W_v) + (1 - share) * box(other * W_v)
        free = free and abs(inner).b <= 1 and (abs(inner) * box(abs(W_c))).b <= 1
        found.append(inner * box(W_c * w))
    return found, free


def bounds(s, eps, long):
    """(gamma + eta)^3 / eps^2 as printed and by the proof, over log 2; long: the scores' factor."""
    _, h, W_v, W_c, w = instance(s)
    C_1 = iv.exp(iv.log(box(h**2)) / 3)  # its third root, over that of log 2; C_Bx = s^2 C_1
    scores = C_1 * two_thirds(s) * two_thirds(2 * W_c * W_v * w * long)
    printed = scores + C_1 * (1 + two_thirds(w * W_v))
    proof = scores + C_1 * (1 + two_thirds(w) + two_thirds(w * W_c))
    return [gamma**3 / eps**2 for gamma in (printed, proof)]


def covered(h, x, C, count=400):
    """n + 1 <= 2^(n^2), and n^2 <= C / eps^2 for every eps with n = floor(h x / eps)."""
    enough = all(n * n <= C / (h * x / n) ** 2 for n in range(1, count))
    return enough and all(n + 1 <= 2 ** (n * n) for n in range(1, count))  # then by growth


def main() -> int:
    print("statement   log N <= (gamma + eta)^3 / eps^2 for every eps, at L = 1")
    fails = True
    for s in map(Q, (4, 30, 3000)):
        tokens, h, W_v, W_c, w = instance(s)
        (high, low), free = outputs(s)
        eps = box(NEAR) * (high - low) / 2
        hypotheses = {
            "tokens at most B_x": max(map(abs, tokens)) <= s,
            "spectral norms at most B_c2 = 1, B_v2 = 1/s and B_w = 1": max(W_v * s, W_c, w) <= 1,
            "C_1 and C_Bx are cover constants": covered(h, 1, h**2) and covered(h, s, s**2 * h**2),
            "no projection acts": free,
            "outputs of both networks more than 2 eps apart": (high - low).a > (2 * eps).b > 0,
        }
        for name, holds in hypotheses.items():
            print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
        if not all(hypotheses.values()):
            return 1
        print(f"left side   at least log 2, at s = {float(s):g}")
        for name, right in zip(("as printed", "by the proof"), bounds(s, eps, 1), strict=True):
            print(f"right side  at most {float(right.b):.6g} log 2 {name}")
            fails = fails and right.b < 1
        whole = bounds(s, eps, s**2)[1]
        print(f"repaired    at least {float(whole.a):.6g} log 2, with B_x^2 at the scores")
        fails = fails and whole.a >= 1
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
