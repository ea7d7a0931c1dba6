"""Paper 2 (Hahn & Rofin 2024, ACL version), Section 5 (printed): bounds on L_{rho,n} "immediately
entail lower bounds on ... (in the limit rho -> 0) the trace of the loss function's Hessian". And
(informally) the Hessian at the minimizer for as_n ~ n has unboundedly large entries on long inputs.

The network below computes PARITY exactly at every n. Its read-out v is parallel to y_n, and |y_n| =
sqrt(d) always, so that T = <v, y_n> is extremal: a step of size t in any other weight changes T by
O(t^2) and the loss by O(t^4), kinks or not. So the Hessian is 2 E[y_n y_n^T] in v and 0 elsewhere.
Encodings depend on n, weights do not, and tokens stay bounded: Section 5 has such families, "as
long as C remains bounded". What survives: Theorem 6, the loss at any fixed step. And if v also has
a part orthogonal to y_n, which changes no output, the entries do grow with n.
"""

from fractions import Fraction
from itertools import product

HALF, LAYERS = 16, 2  # a token is (u, -u) with u of 16 channels: its mean is 0, and d = 32
BIT, ONE, PLACE, SIGN, SHARE, SPIKE, STEP, OUT, TINY = range(9)


def token(bit, i, n):
    """e(x_i) + p_i; weights do not depend on n, the encoding has 1, i/n, (-1)^i, 1/n, 1/n^2."""
    u = [Fraction(0)] * HALF
    u[BIT], u[ONE], u[SIGN] = bit, 1, (-1) ** i
    u[PLACE], u[STEP], u[TINY] = Fraction(i, n), Fraction(1, n), Fraction(1, n * n)
    return u


def first_layer(x):
    """Q = K = 0, so attention is uniform; V copies BIT to SHARE; six ReLUs write SPIKE."""
    rows = [token(b, i + 1, len(x)) for i, b in enumerate(x)]
    share = Fraction(sum(x), len(x))
    for u in rows:
        u[SHARE] += share
        for side in (1, -1):
            for shift, c in ((1, 1), (0, -2), (-1, 1)):
                t = u[SHARE] - u[PLACE] + shift * u[STEP] - u[ONE] + side * u[SIGN]
                u[SPIKE] += side * c * max(t, 0)
    return rows


def last_token(x):
    """A positive multiple of Y_n in layer 2. Layer norm 1 divides each row by its deviation.

    Attention averages SPIKE into OUT; ReLU pairs clear the other channels, c - relu(c) + relu(-c)
    = 0, and those of TINY add TINY/5 to OUT. Only one row has a spike, so that the sign of OUT is
    that of b/dev(row) + a/dev(last), found from squares: the larger summand decides.
    """
    rows = first_layer(x)
    variance = [sum(c * c for c in u) for u in rows]
    spikes = [w for w, u in enumerate(rows) if u[SPIKE] != 0]
    assert len(spikes) == (sum(x) > 0)
    u = [c - max(c, 0) + max(-c, 0) for c in rows[-1]]
    u[OUT] = a = rows[-1][TINY] / 5
    for w in spikes:
        b = rows[w][SPIKE] / len(x)
        u[OUT] = b if b * b * variance[-1] > a * a * variance[w] else a
    return u


def classes(n):
    """A string for each case: the sum s, the bit at position s, where the spike is, the last bit.

    The last token has no more of x than these: SHARE is s/n at every position.
    """
    for s, spike, last in product(range(n + 1), (0, 1), (0, 1)):
        x = [None] * n
        x[-1] = last
        if s:
            x[s - 1] = spike if s < n else last
        free, ones = [i for i in range(n) if x[i] is None], s - sum(b == 1 for b in x)
        if 0 <= ones <= len(free):
            yield [1 if b == 1 or i in free[:ones] else 0 for i, b in enumerate(x)]


def main() -> int:
    exact, bounded, found = True, True, set()
    for n in (4, 6, 8, 32, 64):
        squares = [Fraction(0)] * HALF
        strings = [*(product((0, 1), repeat=n) if n < 9 else classes(n))]
        bounded &= all(sum(c * c for c in token(1, i + 1, n)) <= 6 for i in range(n))
        for x in strings:
            u = last_token(x)
            exact &= all((c != 0) == (k == OUT) for k, c in enumerate(u))  # parallel to v
            exact &= (u[OUT] > 0) == (sum(x) % 2 == 0)  # y_n = +-4 (e_OUT, -e_OUT), T = +-1
            length = sum(c * c for c in u)
            for k, c in enumerate(u):  # y = sqrt(d) (u, -u) / |(u, -u)|
                squares[k] += 2 * HALF * c * c / (2 * length)
        found.add((4 * sum(squares) / len(strings), 2 * max(squares) / len(strings)))
    print("statement   the trace and the largest entry of the Hessian are unbounded in n")
    wide = 2 * HALF > 12 * LAYERS
    for name, holds in (("d = 32 > 12 L", wide), ("bounded C", bounded), ("T = PARITY", exact)):
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    print("left side   trace and largest entry at all n:", *(f"{t}, {m}" for t, m in found))
    fails = exact and bounded and wide and len(found) == 1
    print("the statement fails" if fails else "the statement stands here")
    return int(not fails)


if __name__ == "__main__":
    raise SystemExit(main())
