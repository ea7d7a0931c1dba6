"""Paper 4 (Trauger and Tewari 2024, arXiv version), Corollary F.0.2 (printed): let B be the largest
of the bounds of Lemma 3.4, |W|_{2,1}, for W_c, W_v, W_QK and w, on top of the bounds of Theorem
4.2. Then the log covering number of the network is (gamma + eta)^3 / eps^2 with C_1 = B^2 ln(dk)
and C_Bx = B_x^2 B^2 ln(dk) in the gamma and eta of the theorem (eta = 0 for L = 1).

L = k = 1, W_QK = 0, B = 1/B_x, w = B e_1, W_c = B e_1^T, sigma(y) = s y / (B^2 B_x), and W_v
has B/s on a set of s of the d coordinates, else 0. Both |W|_{2,1} and |W^T|_{2,1} are at most
B. Inputs: [CLS] = 0 and T - 1 tokens B_x e_j, so that |x|_1 <= B_x too, as Lemma 3.4 asks. No
projection acts, and the output is B (1 - 1/T) if j is in the set, else 0. On the d inputs two
sets differ by that much somewhere, so each needs a member of its own: log N >= log C(d, s) >= s
log(d/s). The bound over this falls like 1/B_x^2, so no constant saves it. The term of W_v has
B_v2 where the proof has B_c2 and, in the first layer, B_x.
"""

from fractions import Fraction as Q

from mpmath import iv

T = 1000


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def two_thirds(x):
    return iv.exp(iv.log(x) * 2 / 3)


def output(v, s, B, B_x):
    """Of the network at a token whose coordinate of W_v is v, and whether no projection acts."""
    lipschitz = s / (B**2 * B_x)
    inner = Q(T - 1, T) * v * B_x  # softmax of equal scores, [CLS] is 0
    outer = inner * lipschitz * B  # along e_1, by W_c
    return outer * B, abs(inner) <= 1 and abs(outer) <= 1


def sides(d, s, B, B_x):
    entry, x = B / s, B_x  # of W_v on the set; the entry of a token
    (one, free), (zero, _) = (output(v * x / B_x, s, B, B_x) for v in (entry, Q(0)))
    eps = Q(499, 1000) * (one - zero)
    hypotheses = {
        "|W_v|_{2,1} and |W_v^T|_{2,1} at most B": entry**2 * s <= B**2 and entry * s <= B,
        "|x|_1 and |x|_2 at most B_x": x <= B_x,
        "no projection acts": free,
        "outputs of two sets are more than 2 eps apart": one - zero > 2 * eps > 0,
    }
    B_v2 = box(entry) * iv.sqrt(s)
    lipschitz, log = box(s / (B**2 * B_x)), iv.log(d)  # ln(dk), k = 1
    gamma = two_thirds(2 * lipschitz * box(B) * B_v2 * box(B)) * iv.exp(
        iv.log(box(B**2 * B_x**2) * log) / 3
    )
    gamma += iv.exp(iv.log(box(B**2) * log) / 3) * (1 + two_thirds(box(B) * lipschitz * B_v2))
    return hypotheses, s * iv.log(iv.mpf(d) / s), gamma**3 / box(eps) ** 2


def main() -> int:
    print("statement   log N <= K (gamma + eta)^3 / eps^2, at L = k = 1, with one constant K")
    fails = True
    for K, power in ((1, 2), (100, 4), (10**6, 7)):
        B_x, s = Q(10**power), 10 ** (2 * power)
        d = s**3
        hypotheses, left, right = sides(d, s, 1 / B_x, B_x)
        for name, holds in hypotheses.items():
            print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
        if not all(hypotheses.values()):
            return 1
        print(f"left side   at least {float(left.a):.6g}, at d = {d:.0e}, s = {s:.0e}")
        print(f"right side  at most {float((K * right).b):.6g}, with K = {K}")
        fails = fails and left.a > (K * right).b
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
