"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Corollary 4.2.1 (printed): let B be the
largest of the bounds of Lemma 3.6, |W|_{1,1}, for W_c, W_v, W_QK and w, on top of the bounds of
Theorem 4.2. Then the log covering number of the network is (gamma + eta)^3 / eps^2 with C_1 = B^2
ln(2dk+1) and C_Bx = B_x^2 C_1 in the gamma and eta of the theorem (eta = 0 for L = 1).

|.|_{1,1} is the sum of all absolute entries. L = 1, k = d, sigma = id, B = 1. An input is [CLS] =
B_x e_1, the same in all inputs, and one other token (B_x/2) (e_0 + e_j), where j is one of the
coordinates 2, ..., d - 1. W_QK has the entry h = 10/B_x^2 at any of these places (1, j), B_x^2 =
10 (d - 2); W_v reads coordinate 0 with 2/B_x, W_c and w have one entry 1. So the output is the
attention on the other token, of score 5 or 0: all 2^(d-2) matrices W_QK are told apart. The bound
grows like log d only, so no constant saves it. Nor does the sum of the proof, with B_c2 for B_v2
and the term of the first W_c: the first W_QK lacks B_x^2 there too.
"""

from fractions import Fraction as Q
from math import isqrt

from mpmath import iv

EPS = Q(246, 1000)


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def two_thirds(x):
    return iv.exp(iv.log(box(x)) * 2 / 3)


def tokens(B_x):
    """[CLS] and the other token, by the names of their coordinates."""
    return {"1": B_x}, {"0": B_x / 2, "j": B_x / 2}


def outputs(B_x, h, W_v, W_c, w):
    """Of the layer at a place (1, j) with the entry h and at one with 0; and if no Pi acts."""
    found, free = [], True
    for entry in (h, Q(0)):
        query, other = tokens(B_x)
        score = query["1"] * entry * other["j"]  # of [CLS] with itself 0: (1, 1) has no entry
        share = 1 / (1 + iv.exp(-box(score)))
        inner = share * box(other["0"] * W_v)
        outer = inner * box(W_c)
        free = free and inner.b <= 1 and outer.b <= 1
        found.append(outer * box(w))
    return found, free


def sides(d):
    B_x, B = isqrt(10 * (d - 2)) + Q(1), Q(1)
    h, W_v, W_c, w = 10 / B_x**2, 2 / B_x, Q(1), Q(1)
    (marked, plain), free = outputs(B_x, h, W_v, W_c, w)
    hypotheses = {
        "sums of absolute entries at most B": max((d - 2) * h, W_v, W_c, w) <= B,
        "|x|_1 and |x|_2 at most B_x": all(sum(x.values()) <= B_x for x in tokens(B_x)),
        "no projection acts": free,
        "outputs at marked and other places more than 2 eps apart": (marked - plain).a
        > 2 * box(EPS).b,
    }
    C_1 = iv.exp(iv.log(box(B**2) * iv.log(2 * d * d + 1)) / 3)  # its third root
    scores = C_1 * two_thirds(B_x) * two_thirds(2 * W_c * W_v * w)
    printed = scores + C_1 * (1 + two_thirds(w * W_v))
    proof = scores + C_1 * (1 + two_thirds(w) + two_thirds(w * W_c))
    rights = [gamma**3 / box(EPS) ** 2 for gamma in (printed, proof)]
    return hypotheses, (d - 2) * iv.log(2), rights


def main() -> int:
    print("statement   log N <= K (gamma + eta)^3 / eps^2, at L = 1, k = d, with one constant K")
    fails = True
    for K, d in ((1, 10**6), (100, 10**8), (10**6, 10**12)):
        hypotheses, left, rights = sides(d)
        for name, holds in hypotheses.items():
            print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
        if not all(hypotheses.values()):
            return 1
        print(f"left side   at least {float(left.a):.6g}, at d = {d:.0e}")
        for name, right in zip(("as printed", "by the proof"), rights, strict=True):
            print(f"right side  at most {float((K * right).b):.6g} {name}, with K = {K}")
            fails = fails and left.a > (K * right).b
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
