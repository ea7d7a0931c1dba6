"""Paper 2 (Hahn & Rofin 2024, ACL version), Section 4 (printed): for MEAN, s(f, x) is said to go
as 1/n^2.

Each of the n flips moves the mean by 2/n, and s is one quarter of the sum of n squares: s(x) = 1/n
at every x, as the paper's own as_n = 1/n of Section 3 asks. What the sentence is for survives:
1/n, too, predicts no blow-up of layer norm.
"""

from fractions import Fraction
from itertools import product


def mean(x):
    return Fraction(sum(x), len(x))


def sensitivity(x):
    """Eq. (6): one quarter of the sum over i of the squared change when bit i is flipped."""
    flips = ((*x[:i], -x[i], *x[i + 1 :]) for i in range(len(x)))
    return sum((mean(x) - mean(z)) ** 2 for z in flips) / 4


def main() -> int:
    lengths = (2, 4, 8, 12)
    found = {n: {sensitivity(x) for x in product((1, -1), repeat=n)} for n in lengths}
    single = all(len(values) == 1 for values in found.values())
    scaled = [n * n * max(found[n]) for n in lengths]
    print("statement   n^2 s(MEAN, x) tends to a constant")
    print(
        f"hypothesis  every x of {lengths} bits, one value each: {'holds' if single else 'fails'}"
    )
    print("left side   n^2 s =", ", ".join(str(v) for v in scaled), "(exactly n)")
    print("right side  bounded, the same for all n in the limit")
    fails = single and scaled == list(lengths)
    print("the statement fails" if fails else "the statement stands at this instance")
    exact = all(found[n] == {Fraction(1, n)} for n in lengths)
    print(f"repaired    s(MEAN, x) = 1/n at every x: {'holds' if exact else 'fails'}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
