"""Paper 1 (Lintilhac and Shaikh 2026, version 2), Appendix D (2) (printed, in words): the parts of
the MLP that serve inputs such as all zeros or all ones may be removed without a change of the
training loss, with high probability, since such inputs occur with exponentially small probability.

The part for all zeros is the trapezoid of count 0. It serves every input whose d bits inside a
component are 0: a share 2^-d, not 2^-T. At the paper's setting, T = 20, d = 3, one component and
m = 8192 random strings, the training set contains such a string but with probability (7/8)^m.
What survives: d close to T, as for the parity of all bits.
"""

from fractions import Fraction as Q
from itertools import product


def parity(y, d, counts):
    """The trapezoids of Theorem 9, those of the given even counts only."""
    total = Q(0)
    for k in counts:
        r = [max(y - Q(k, d) + Q(o, 4 * d), Q(0)) for o in (3, 1, -1, -3)]
        total += 2 * d * (r[0] - r[1] - r[2] + r[3])
    return total


def output(bits, ones, T, d, counts):
    """U = the first d positions, scores 2 log T, c = 1; ``ones`` more ones elsewhere."""
    total = sum(bits) + ones
    active = (T * T * sum(bits) + Q(ones)) / (T * T * d + T + 1 - d)
    idle = Q(1, T + 1)  # weight of the idle positions in the second attention
    return (1 - idle) * parity(active, d, counts) + idle * parity(Q(total, T + 1), d, counts)


def main() -> int:
    T, d, m = 20, 3, 8192
    every = range(0, d + 1, 2)
    changed, intact = 0, True
    for bits in product((0, 1), repeat=d):
        f = 1 - sum(bits) % 2
        errors = [[], []]
        for ones in range(T - d + 1):
            for list_, counts in zip(errors, (every, [k for k in every if k]), strict=True):
                list_.append((output(bits, ones, T, d, counts) - f) ** 2)
        intact &= max(errors[0]) <= Q(1, T + 1) ** 2
        changed += min(errors[1]) >= Q(1, 2)  # whatever the other bits are
    share = Q(changed, 2**d)
    missed = (1 - share) ** m
    hypotheses = {
        "before, the squared error is at most 1/(T+1)^2 at every input": intact,
        "m = 8192 is the paper's number of strings, d = 3 <= 5, T = 20": (T, d, m) == (20, 3, 8192),
        "all zeros alone has probability 2^-T < 10^-5": Q(1, 2**T) < Q(1, 10**5),
    }
    print("statement   without that trapezoid the training loss is the same with high probability")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    tail = "< 10^-400" if missed < Q(1, 10**400) else ">= 10^-400"
    print(f"left side   share of inputs whose squared error exceeds 1/2 afterwards: {share}")
    print(f"right side  2^-T = {Q(1, 2**T)}; probability that no training string is one: {tail}")
    false = all(hypotheses.values()) and share > Q(1, 2**T) and missed < Q(1, 10**400)
    print("the statement fails" if false else "the statement stands at this instance")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
