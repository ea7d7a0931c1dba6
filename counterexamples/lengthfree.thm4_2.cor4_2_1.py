"""Paper 4 (Trauger and Tewari 2024, arXiv version), Corollary 4.2.1 (printed): let B be the largest
of the bounds of |W_c|_{1,1}, |W_v|_{1,1}, |W_QK|_{1,1}, |w|_{1,1}, on top of the bounds of Theorem
4.2. Then the log covering number of the network is (gamma + eta)^3 / eps^2 with C_1 = B^2 ln(2dk +
1) and C_Bx = B_x^2 B^2 ln(2dk + 1) in the gamma and eta of the theorem (eta = 0 for L = 1).

L = k = B_x = B_w = L_sigma = 1, B_c2 = B = 32, B_v2 = 1/B, w = e_1, W_c = B e_1^T, W_QK = 0. Let
S = B^4, q a prime above S, and d = S q. For a polynomial p over F_q of degree below S/2 let W_v be
1/(B sqrt(S)) at the S coordinates (i, p(i)), 0 <= i < S: its 2-norm is 1/B, its 1-norm B. Two
polynomials agree at fewer than S/2 points, so |W_v - W_v'|_2 > 1/B. Tokens: [CLS] = 0 and 99 equal
to the unit vector x along W_v - W_v'. No projection acts, the outputs are .99 B W_v . x, and differ
by more than .99 > 2 eps. On all these inputs every polynomial needs a member of its own:
log N >= (S/2) log q. The bound over this falls like 1/B^2. With all terms of the proof it holds.
"""

from fractions import Fraction as Q

from mpmath import iv

B, EPS, T = 32, Q(49, 100), 100
S = B**4
P = S + 7  # the first prime above 2^20


def two_thirds(x):
    return iv.exp(iv.log(iv.mpf(x)) * 2 / 3)


def bound(d, whole_sum):
    """(gamma + eta)^3 / eps^2 at L = 1, as printed or with every term of the proof's sum."""
    C = iv.exp(iv.log(B**2 * iv.log(2 * d + 1)) / 3)
    gamma = C * two_thirds(2)  # 2 L_sigma B_c2 B_v2 alpha_1 B_w = 2
    gamma += C * (1 + 1 + two_thirds(B)) if whole_sum else C * (1 + two_thirds(iv.mpf(1) / B))
    return gamma**3 * EPS.denominator**2 / EPS.numerator**2


def main() -> int:
    d = S * P
    W_c, w, x = B, 1, 1  # one entry each in some orthonormal basis
    entry = Q(1, B * B**2)  # 1 / (B sqrt(S)), sqrt(S) = B^2
    agree = S // 2 - 1  # most points where two polynomials of degree below S/2 agree
    apart = 2 * (S - agree) * entry**2  # least squared distance of two W_v
    hypotheses = {
        "q is a prime and at least S": P >= S and all(P % f for f in range(2, int(P**0.5) + 1)),
        "|W_v|_2 <= B_v2 = 1/B": S * entry**2 <= Q(1, B**2),
        "1-norms of W_v, W_c, w, W_QK at most B": max(S * entry, W_c, w, 0) <= B,
        "2-norms of W_c, w, x at most B_c2 = B, B_w = 1, B_x = 1": W_c <= B and max(w, x) <= 1,
        "no projection acts: |W_v . x| times W_c at most 1": S * entry**2 * (W_c * x) ** 2 <= 1,
        "outputs more than 2 eps apart": (Q(T - 1, T) * w * W_c * x) ** 2 * apart > (2 * EPS) ** 2,
    }
    print(f"statement   log N <= (gamma + eta)^3 / eps^2, at L = k = 1, B = {B}, S = {S}, q = {P}")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    left, right, repaired = S // 2 * iv.log(P), bound(d, False), bound(d, True)
    print(f"left side   at least {left}, the logarithm of q^(S/2)")
    print(f"right side  in {right}")
    fails = all(hypotheses.values()) and left.a > right.b
    print("the statement fails" if fails else "the statement stands at this instance")
    print(f"repaired    {repaired.a} >= the left side: {repaired.a >= left.b}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
