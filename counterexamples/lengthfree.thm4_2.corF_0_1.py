"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Corollary F.0.1 (printed): let B be the
largest of the bounds of Lemma 3.3, |W|_{1,inf}, for W_c, W_v, W_QK and w, on top of the bounds of
Theorem 4.2. Then the log covering number of the network is (gamma + eta)^3 / eps^2 with C_1 = d B^2
ln(2k+1) and C_Bx = B_x^2 C_1 in the gamma and eta of the theorem (eta = 0 for L = 1).

|.|_{1,inf} is the largest 1-norm of a column; the instance keeps it for all matrices and for their
transposes, which the maps x -> W_v^T x and x -> W_c^T x of the network have. L = 1, W_QK = 0. The
d = 3q coordinates are three groups of q, and each of the k = q^3 hidden units has a triple, one
coordinate of each group, at which its column of W_v is v. An input is [CLS] = 0, the same in all
inputs, and T - 1 copies of a token that is t at one triple: its unit receives 3vt (1 - 1/T), and no
other more than 2vt (1 - 1/T). sigma(y) = L_s (y - kink)_+. W_c has 0 or u in its first column, w
has one entry. So the output shows the entry of the triple's unit, and all 2^k matrices W_c are
told apart. The bound over this falls nearly like 1/q^2, so no constant saves it. Nor does the sum
of the proof, with B_c2 for B_v2 and the term of the first W_c: it lacks B_x beside W_v, too.
"""

from fractions import Fraction as Q

from mpmath import iv

T = 1000


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def two_thirds(x):
    return iv.exp(iv.log(box(x)) * 2 / 3)


def sides(p):
    q, k = p**2, p**6
    d, B = 3 * q, Q(1, q**6)
    v, u, w = B / q**2, B / k, B
    t = Q(4, 7) / (v * (q + 1))  # 4/7 is below the root of 1/3
    B_x, kink = 3 * t, Q(5, 2) * v * t
    steep = k / (B * (3 * v * t * Q(T - 1, T) - kink))
    read = [steep * max(v * t * m * Q(T - 1, T) - kink, Q(0)) for m in range(4)]  # by coordinates
    B_c, B_v, B_w, eps = B / p**3, Q(7, 4) * v * q, B, Q(499, 1000) * B
    hypotheses = {
        "1-norms of rows and columns at most B": max(q**2 * v, 3 * v, k * u, u, w) <= B,
        "spectral norms within their bounds": q**2 * v * 3 * v <= B_v**2
        and k * u * u <= B_c**2
        and w <= B_w,  # |W|_2^2 is at most the largest row sum times the largest column sum
        "|x|_1 and |x|_2 at most B_x": 3 * t <= B_x,
        "sigma(0) = 0, and other units are at 0": read[0] == read[1] == read[2] == 0,
        "no projection acts": (v * t) ** 2 * (3 * q**2 + 6 * q) <= 1 and u * read[3] <= 1,
        "outputs at entries u and 0 more than 2 eps apart": w * u * read[3] > 2 * eps,
    }
    C_1 = iv.exp(iv.log(d * box(B**2) * iv.log(2 * k + 1)) / 3)  # its third root
    scores = C_1 * two_thirds(B_x) * two_thirds(2 * steep * B_c * B_v * B_w)
    printed = scores + C_1 * (1 + two_thirds(B_w * steep * B_v))
    proof = scores + C_1 * (1 + two_thirds(B_w) + two_thirds(B_w * steep * B_c))
    rights = [gamma**3 / box(eps) ** 2 for gamma in (printed, proof)]
    return hypotheses, d, k * iv.log(2), rights


def main() -> int:
    print("statement   log N <= K (gamma + eta)^3 / eps^2, at L = 1, with one constant K")
    fails = True
    for K, p in ((1, 5), (100, 20), (10**6, 300)):
        hypotheses, d, left, rights = sides(p)
        for name, holds in hypotheses.items():
            print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
        if not all(hypotheses.values()):
            return 1
        print(f"left side   at least {float(left.a):.6g}, at d = {d}")
        for name, right in zip(("as printed", "by the proof"), rights, strict=True):
            print(f"right side  at most {float((K * right).b):.6g} {name}, with K = {K}")
            fails = fails and left.a > (K * right).b
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
