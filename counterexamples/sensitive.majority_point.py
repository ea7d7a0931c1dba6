"""Paper 2 (Hahn & Rofin 2024, ACL version), Sections 3 and 4 (printed): for MAJORITY, "s(f,x) =
n" whenever the ones and zeros in x are almost fully balanced.

Only flips towards balance change the vote: s(x) is at most floor(n/2) + 1, at every x. So the
equation fails, but as an order, n, the remark is true: the verdict is "constant loose". The blow-up
of order n^(1/4) that the paper predicts on such inputs or their neighbours holds too, but by a
sharper bound than the paper's.
"""

from itertools import product


def majority(x):
    """As the paper has it: 1 if more than half of the x_i are 1, else -1."""
    return 1 if 2 * x.count(1) > len(x) else -1


def sensitivity(x):
    """Eq. (6) for values 1 and -1: the number of flips that change the value."""
    flips = ((*x[:i], -x[i], *x[i + 1 :]) for i in range(len(x)))
    return sum(majority(z) != majority(x) for z in flips)


def main() -> int:
    lengths = range(3, 13)
    cubes = {n: list(product((1, -1), repeat=n)) for n in lengths}
    every = {n: [(abs(sum(x)), sensitivity(x)) for x in cube] for n, cube in cubes.items()}
    most = [max(s for _, s in every[n]) for n in lengths]
    near = [max(s for gap, s in every[n] if gap <= 2) for n in lengths]
    covered = most == near  # no other x has a larger value
    print("statement   s(MAJORITY, x) = n where ones and zeros are almost balanced")
    print(f"hypothesis  every x of 3 to 12 bits, any balance: {'holds' if covered else 'fails'}")
    print("left side   largest s =", ", ".join(str(s) for s in most))
    print("right side          n =", ", ".join(str(n) for n in lengths))
    fails = covered and all(s < n for n, s in zip(lengths, most, strict=True))
    print("the statement fails" if fails else "the statement stands at this instance")
    exact = all(s == n // 2 + 1 for n, s in zip(lengths, most, strict=True))
    print(f"repaired    the largest s is floor(n/2) + 1: {'holds' if exact else 'fails'}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
