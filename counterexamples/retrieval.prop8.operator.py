"""Paper 5 (Mousavi-Hosseini et al. 2025, version 2), Propositions 8 and 35, norm, restored.

As the proof concludes: for some c, c' > 0 every bidirectional recurrent net with risk at most c
has L^2 ||U||_op^2 log(1 + d_h) >= c' N. (1STR, normal data, states of length at most r_h.)

States that are words of an error-correcting code: label k is rounded to R bits, each bit turns a
fixed set of the D = 4NR signs of the state (a step h -> h * s(x_k, k)), U = (I, I). The read-out
takes the rounded label of each word and extends it (McShane) with L = spread/(least distance).
Neither the risk nor L depends on N, and the left side grows like log N only; so no c, c' serve,
nor any power of the logarithm. What survives: the width bound, and L^2 ||U||_F^2 >= kappa N.
"""

from fractions import Fraction
from math import comb

from mpmath import iv, mpf, nstr

SHARE = Fraction(1, 5)  # any two words differ in more than this share of their signs


def show(x) -> str:
    """Both ends."""
    return f"[{nstr(mpf(x.a), 10)}, {nstr(mpf(x.b), 10)}]"


def quantiser(R):
    """Risk at most, and spread of the levels, of R bits for one standard normal number."""
    if R == 1:  # levels of +-level: E(|x| - level)^2, with E|x| = sqrt(2/pi)
        level = iv.sqrt(2 / iv.pi)
        return 1 - 2 * level * iv.sqrt(2 / iv.pi) + level**2, 2 * level
    A = iv.mpf(R) / 2 + 1  # cells of equal width on [-A, A]; beyond it the outermost level
    tail = 2 * iv.exp(-A * A / 2) / iv.sqrt(2 * iv.pi) * (A + 1 / A)  # >= E x^2 on |x| > A
    width = 2 * A / 2**R
    return width**2 / 4 + tail, 2 * A - width


def code_exists() -> bool:
    """Varshamov: 2^k words, k = D/4, if 2^k (1 + ... + C(D, D/5)) < 2^D; any k by the entropy."""
    p = iv.mpf(SHARE.numerator) / SHARE.denominator
    entropy = -(p * iv.log(p) + (1 - p) * iv.log(1 - p)) / iv.log(2)
    near = {k: sum(comb(4 * k, i) for i in range(int(SHARE * 4 * k) + 1)) for k in (5, 50, 500)}
    exact = all(2**k * count < 2 ** (4 * k) for k, count in near.items())
    print(f"            h(1/5) in {show(entropy)}, to be below 3/4")
    return exact and entropy.b < mpf(3) / 4


def main() -> int:
    """Compare both sides."""
    print("statement   risk <= c implies L^2 ||U||_op^2 log(1 + d_h) >= c' N, for some c, c' > 0")
    unit = all(D * Fraction(1, D) == 1 for D in (20, 200, 2000))  # squared length of a state
    U = [[int(j % 20 == i) for j in range(40)] for i in range(20)]
    gram = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in U] for r in U]
    op = gram == [[2 * int(i == j) for j in range(20)] for i in range(20)]
    hypotheses = {
        "states of D signs over sqrt D have length r_h = 1": unit,
        "||U||_op^2 = 2 for U = (I, I), as U U^T = 2 I": op,
        "codes with words that differ in a fifth of their signs exist for every N": code_exists(),
    }
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    fails = all(hypotheses.values())
    for R, c, lower in ((1, "0.37", "1e-2"), (5, "0.1", "1e-4"), (8, "0.01", "1e-8")):
        risk, spread = quantiser(R)
        lipschitz, small = spread / (2 * iv.sqrt(iv.mpf(1) / 5)), risk.b <= iv.mpf(c).a
        for power in (1, 10):
            N = 10
            while fails and N < 10**60:
                if 2 * lipschitz**2 * iv.log(1 + 4 * N * R) ** power < iv.mpf(lower) * N:
                    break
                N *= 10
            left, right = 2 * lipschitz**2 * iv.log(1 + 4 * N * R) ** power, iv.mpf(lower) * N
            print(
                f"c = {c}, c' = {lower}, power {power} of the logarithm: N = 10^{len(str(N)) - 1}"
            )
            print(f"hypothesis  risk in {show(risk)} at most c: {'holds' if small else 'fails'}")
            print(f"left side   in {show(left)}, with L in {show(lipschitz)}")
            print(f"right side  in {show(right)}")
            print(f"Frobenius   2 d_h L^2 / N in {show(8 * R * lipschitz**2)}, free of N")
            fails = fails and small and left.b < right.a
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
