"""Paper 5 (Mousavi-Hosseini et al. 2025, the NeurIPS version), Propositions 6 and 35 (restored).

Their bound on the norm, restored: for some c, c' > 0 every bidirectional recurrent net on 1STR with
risk at most c has L^2 ||U||_op^2 log(1 + d_h) >= c' N. The display is missing. The proof of 6 (of 8
in the first version) packs the states into a ball of radius sqrt2 ||U||_op r_h and ends "to obtain
lower bounds on d_h and ||U||_op"; Maurey's count in that ball gives this form. The main text has
||U||_F, with which it is true. Every power of the logarithm up to the last of POWERS fails here.

States are words of an error-correcting code: label k is rounded to R bits, and each bit turns a
fixed set of the D = 4NR signs of the state (a step h -> h * s(x_k, k)); U = (I, I). The read-out
takes the rounded label of each word and extends it (McShane) with L = spread/(least distance).
Neither the risk nor L depends on N, and the left side grows like a power of log N.
"""

from fractions import Fraction
from itertools import pairwise
from math import comb

from mpmath import iv, mpf, nstr

SIGNS = 4  # of a state, for each bit of a label
SHARE = Fraction(1, 5)  # any two words differ in more than this share of their signs
LENGTH2 = Fraction(1)  # squared length of a state: signs over sqrt D
U = (1, 1)  # U = (a I, b I)
NETS = ((1, "0.37", "1.79"), (5, "0.1", "7.6"), (8, "0.01", "11.2"))  # bits, c, L
POWERS = (1, 10)


def require(name: str, holds: bool) -> None:
    """Print a hypothesis; stop where it fails."""
    print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    if not holds:
        raise SystemExit(1)


def levels(R):
    """Values that a label of R bits can be rounded to, and the end of the inner cells."""
    if R == 1:
        return [-iv.sqrt(2 / iv.pi), iv.sqrt(2 / iv.pi)], iv.mpf(0)
    end = iv.mpf(R) / 2 + 1
    width = 2 * end / 2**R
    return [-end + width * (2 * i + 1) / 2 for i in range(2**R)], end


def risk_of(values, end):
    """Mean squared error of rounding a standard normal number to the nearest value, at most."""
    if len(values) == 2:  # E (|x| - l)^2
        low, high = values
        return (2 - 2 * (high - low) * iv.sqrt(2 / iv.pi) + high**2 + low**2) / 2
    half = max((b - a).b for a, b in pairwise(values)) / 2
    half = max(half, (end - values[-1]).b, (values[0] + end).b)
    return iv.mpf(half) ** 2 + 2 * iv.exp(-end * end / 2) / iv.sqrt(2 * iv.pi) * (end + 1 / end)


def codes_exist() -> bool:
    """Varshamov: 2^k words of D signs, if 2^k (1 + ... + C(D, SHARE D)) < 2^D; by the entropy."""
    p = iv.mpf(SHARE.numerator) / SHARE.denominator
    entropy = -(p * iv.log(p) + (1 - p) * iv.log(1 - p)) / iv.log(2)
    near = {k: sum(comb(SIGNS * k, i) for i in range(int(SHARE * SIGNS * k) + 1)) for k in (5, 50)}
    exact = all(2**k * count < 2 ** (SIGNS * k) for k, count in near.items())
    return exact and bool(entropy.b < mpf(SIGNS - 1) / SIGNS)


def squared_norm(d_h):
    """||U||_op^2, as U U^T = (a^2 + b^2) I; its Frobenius norm has d_h times as much."""
    return U[0] ** 2 + U[1] ** 2


def main() -> int:
    """Compare both sides."""
    print("statement   risk <= c implies L^2 ||U||_op^2 log(1 + d_h) >= c' N, for some c, c' > 0")
    require("states are no longer than r_h = 1", LENGTH2 <= 1)
    require("there are words of 4 signs a bit that differ in more than a fifth", codes_exist())
    fails = True
    for R, c, L in NETS:
        values, end = levels(R)
        risk, share = risk_of(values, end), iv.mpf(SHARE.numerator) / SHARE.denominator
        slope = (values[-1] - values[0]) / (2 * iv.sqrt(share))
        require(f"{R} bits a label: risk at most c = {c}", bool(risk.b <= iv.mpf(c).a))
        require(
            f"{R} bits a label: the read-out is L-Lipschitz, L = {L}", bool(slope.b <= iv.mpf(L).a)
        )
        for power in POWERS:
            for digits in range(1, 61):  # N = 10^digits
                N = 10**digits
                left = iv.mpf(L) ** 2 * squared_norm(SIGNS * N * R)
                left *= iv.log(1 + SIGNS * N * R) ** power
                right = iv.mpf("1e-8") * N
                if left.b < right.a:
                    break
            print(f"power {power} of the logarithm, c' = 1e-8, N = 10^{digits}")
            print(f"left side   {nstr(mpf(left.b), 6)}   right side  {nstr(mpf(right.a), 6)}")
            fails = fails and left.b < right.a
    print("the statement fails" if fails else "the statement stands at these instances")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
