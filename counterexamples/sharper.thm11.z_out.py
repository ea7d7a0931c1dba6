"""Paper 1 (Lintilhac and Shaikh 2026, version 2), Theorem 11 (printed in words, the 1 and the 0
restored): the row z of the output token before the second attention has norm about 1, its bit being
0.

The last entry of z is not the bit. It is what the MLP writes at that position, which attends to
all tokens alike: the MLP's value at the mean of all bits. At the input of all zeros the mean is 0,
the parity is even and the value is 1, so |z|^2 = 2, at every T and d.
What survives: |z|^2 = 1 + g(mean)^2 <= 2, and |W z| as stated, for W has no entry in that column.
"""

from fractions import Fraction as Q


def mlp(y, d):
    """The trapezoids of Theorem 9: value 1 at even counts k / d, 0 at odd ones."""
    total = Q(0)
    for k in range(0, d + 1, 2):
        r = [max(y - Q(k, d) + Q(o, 4 * d), Q(0)) for o in (3, 1, -1, -3)]
        total += 2 * d * (r[0] - r[1] - r[2] + r[3])
    return total


def main() -> int:
    T, d = 20, 3
    bits = [0] * T + [0]  # the output token has bit 0
    grid = all(mlp(Q(k, d), d) == 1 - k % 2 for k in range(d + 1))
    mean = sum(bits) * Q(1, T + 1)  # uniform attention of a position that holds no component
    z = [0] * T + [1, mlp(mean, d)]  # one-hot code by the skip connection, value by the MLP
    square = sum(v * v for v in z)
    hypotheses = {
        "the MLP interpolates the parity on the grid": grid,
        "the bit of the output token is 0": bits[T] == 0,
        "the skip connection carries the code": sum(z[:-1]) == 1,
    }
    print(f"statement   |z| = 1 at the output token; T = {T}, d = {d}, all bits 0")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"left side   |z|^2 = {square}")
    print("right side  1")
    false = all(hypotheses.values()) and square > 1
    print("the statement fails" if false else "the statement stands at this instance")
    print(f"repaired    |z|^2 <= 2: {'holds' if square <= 2 else 'fails'}")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
