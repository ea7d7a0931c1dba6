"""Paper 5 (Mousavi-Hosseini et al. 2025; judged on the NeurIPS 2025 version), Lemma 41 (restored).

Second bound: the log packing number of the Euclidean unit ball of R^D at the scale eps is at most
C log(1 + D eps^2)/eps^2, with one constant C. The formula is not legible. The text says that
Maurey's sparsification gives it, uses it for a Euclidean ball, and needs no more than a logarithm
of D. Maurey's argument covers the l1 ball.

By volume, a maximal set of points that are pairwise eps apart has every point of the ball within
eps, so it has at least eps^-D members: the log packing number grows with D. At D = 64 C^2 and
eps = 1/2 that is more than the right side, for every C >= 1. (A smaller C asks for more.)
The first bound, D log(1 + 2/eps), holds. For the image of the ball under U, Sudakov's inequality
gives 2 pi log 2 ||U||_F^2 / eps^2 without any logarithm.
"""

from mpmath import iv, mpf, nstr

EPS = iv.mpf(1) / 2
RATIO = 64  # D = RATIO C^2
CONSTANTS = (1, 10, 10**3, 10**6, 10**9)


def require(name: str, holds: bool) -> None:
    """Print a hypothesis; stop where it fails."""
    print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    if not holds:
        raise SystemExit(1)


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
    require("the scale is above 0 and below 1, eps = 1/2", bool(EPS.a > 0 and EPS.b < 1))
    require("the constant is at least 1, C = 1 to 10^9", min(CONSTANTS) >= 1)
    fails = True
    for C in CONSTANTS:
        D = RATIO * C**2
        left, right, other = packing_log(D), claimed(C, D), with_plain_log(C, D)
        print(f"C = {C:<11d} D = {D}")
        print(f"left side   at least {nstr(mpf(left.a), 12)}")
        print(f"right side  at most  {nstr(mpf(right.b), 12)}")
        print(f"            with log D in place of it {nstr(mpf(other.b), 12)}")
        fails = fails and left.a > right.b and left.a > other.b
    # For every C >= 1: log(1 + a C^2) <= log(1 + a) + 2 log C <= C (log(1 + a) + 2).
    surplus = packing_log(RATIO) - (iv.log(1 + RATIO * EPS**2) + 2) / EPS**2
    print(f"every C >= 1: left less right, over C^2, at least {nstr(mpf(surplus.a), 12)}")
    fails = fails and claimed(1, RATIO).b <= RATIO * iv.log(1 / EPS).a and surplus.a > 0
    volume = RATIO * iv.log(1 + 2 / EPS)
    print(
        f"first bound at C = 1: {nstr(mpf(packing_log(RATIO).b), 12)} <= {nstr(mpf(volume.a), 12)}"
    )
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
