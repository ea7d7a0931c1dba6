"""Paper 4 (Trauger and Tewari 2024, arXiv version), Corollary F.0.1 (printed): let B be the largest
of the bounds of Lemma 3.3, |W|_{1,inf}, for W_c, W_v, W_QK and w, on top of the bounds of Theorem
4.2. Then the log covering number of the network is (gamma + eta)^3 / eps^2 with C_1 = d B^2
ln(2k+1) and C_Bx = B_x^2 C_1 in the gamma and eta of the theorem (eta = 0 for L = 1).

Lemma 3.3 is about maps x -> Wx, W in R^{k x d}; the network's maps are W_v^T, W_c^T and w^T,
and |.|_{1,inf} is the largest 1-norm of a column of these (as Theorem 4.1 writes
|W_c^T|_{1,inf}). For columns of W_v and W_c themselves this program says nothing. L = k = 1,
W_QK = 0, B = b / sqrt(d), B_x = d/b, W_v = v in {0, h}^d with h = 1/B_x, all entries of W_c B/d
and of w B, sigma(y) = y sqrt(d)/B. Inputs: [CLS] = 0 and T - 1 tokens B_x e_j. No projection
acts; output j is b (1 - 1/T) if v_j = h, else 0. The d inputs tell all v apart: log N >= d log
2. The bound over this falls like b^2 for large d, so no constant saves it. The term of W_v has
B_v2 where the proof has B_c2 and, in the first layer, B_x.
"""

from fractions import Fraction as Q

from mpmath import iv

T = 1000


def box(x):
    return iv.mpf(x.numerator) / x.denominator


def two_thirds(x):
    return iv.exp(iv.log(x) * 2 / 3)


def sides(root, b):
    d, B_x = root**2, root**2 / b
    B, h = b / root, 1 / B_x
    lipschitz, W_c, w = root / B, B / d, B  # of sigma; entries of the rows
    outputs, free = [], True
    for v in (h, Q(0)):
        inner = Q(T - 1, T) * v * B_x
        outer = inner * lipschitz * W_c  # each of d entries: 2-norm sqrt(d) times it
        free = free and abs(inner) <= 1 and root * abs(outer) <= 1
        outputs.append(d * w * outer)
    eps = Q(499, 1000) * (outputs[0] - outputs[1])
    hypotheses = {
        "1-norms of the columns of W_v^T, W_c^T, w^T at most B": max(h, d * W_c, w) <= B,
        "|x|_1 and |x|_2 at most B_x": h * B_x <= 1,
        "no projection acts": free,
        "outputs of v_j = h and 0 are more than 2 eps apart": outputs[0] - outputs[1] > 2 * eps > 0,
    }
    B_c2, B_v2, B_w = root * W_c, root * h, root * w  # 2-norms
    C_1 = box(d * B**2) * iv.log(3)
    gamma = two_thirds(box(2 * lipschitz * B_c2 * B_v2 * B_w)) * iv.exp(
        iv.log(C_1 * box(B_x**2)) / 3
    )
    gamma += iv.exp(iv.log(C_1) / 3) * (1 + two_thirds(box(B_w * lipschitz * B_v2)))
    return hypotheses, d * iv.log(2), gamma**3 / box(eps) ** 2


def main() -> int:
    print("statement   log N <= K (gamma + eta)^3 / eps^2, at L = k = 1, with one constant K")
    fails = True
    for K, power, share in ((1, 3, 50), (100, 6, 10**3), (10**6, 9, 10**5)):
        root, b = 10**power, Q(1, share)
        hypotheses, left, right = sides(root, b)
        for name, holds in hypotheses.items():
            print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
        if not all(hypotheses.values()):
            return 1
        print(f"left side   at least {float(left.a):.6g}, at d = {root**2:.0e}, b = {float(b):g}")
        print(f"right side  at most {float((K * right).b):.6g}, with K = {K}")
        fails = fails and left.a > (K * right).b
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
