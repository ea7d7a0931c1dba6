"""Paper 5 (Mousavi-Hosseini et al. 2025, version 2), Lemma 41, second bound (restored).

The log packing number of the unit ball of R^D is at most C log(1 + D eps^2)/eps^2, with one C.

The formula is not legible in the texts we have. They say that Maurey's sparsification gives it, use
it for a Euclidean ball, and need no more than a logarithm of D. Maurey's argument covers the l1
ball. By volume, a maximal set of points that are pairwise 1/2 apart in the Euclidean ball has at
least 2^D members, so the log packing number grows with D. At D = 64 C^2 it is larger, for every
C >= 1: 64 C^2 log 2 > 44 C^2, and 4 C log(1 + 16 C^2) <= 4 C (log 17 + 2 C - 2) < 20 C^2.
The first bound, D log(1 + 2/eps), holds. For the image of the ball under U, Sudakov's inequality
gives 2 pi log 2 ||U||_F^2 / eps^2 without any logarithm.
"""

from mpmath import iv, mpf, nstr

EPS = iv.mpf(1) / 2


def low(x) -> str:
    """Lower end."""
    return nstr(mpf(x.a), 12)


def high(x) -> str:
    """Upper end."""
    return nstr(mpf(x.b), 12)


def packing_log(D):
    """A maximal packing covers the ball: P eps^D >= 1, so log P >= D log(1/eps)."""
    return D * iv.log(1 / EPS)


def claimed(C, D):
    """The right side."""
    return C * iv.log(1 + D * EPS**2) / EPS**2


def with_plain_log(C, D):
    """The other usual form of Maurey's bound, C (1 + log D)/eps^2."""
    return C * (1 + iv.log(D)) / EPS**2


def main() -> int:
    """Compare both sides."""
    print("statement   log P(eps) <= C log(1 + D eps^2)/eps^2 in the Euclidean unit ball of R^D")
    hypotheses = EPS.a > 0 and EPS.b < 1
    print(f"hypothesis  0 < eps < 1: {'holds' if hypotheses else 'fails'}")
    fails = hypotheses
    for C in (1, 10, 10**3, 10**6, 10**9):
        D = 64 * C**2
        left, right, other = packing_log(D), claimed(C, D), with_plain_log(C, D)
        print(f"C = {C:<11d} D = {D}")
        print(f"left side   at least {low(left)}")
        print(f"right side  at most  {high(right)}  (with log D in place of it: {high(other)})")
        fails = fails and left.a > right.b and left.a > other.b
    by_hand = iv.mpf(64) * iv.log(2) - 4 * (iv.log(17) + 2)  # both over C^2, and C >= 1
    print(f"every C >= 1: left less right, over C^2, at least {low(by_hand)}")
    fails = fails and by_hand.a > 0
    volume = 64 * iv.log(1 + 2 / EPS)
    print(f"first bound at D = 64: {high(packing_log(64))} <= {low(volume)}, no conflict")
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
