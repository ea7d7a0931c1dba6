"""Paper 1 (Lintilhac, Shaikh 2026, version 2), Appendix G (printed, in words): the chain has the
smaller norm.

A step of the proof of Theorem 16: the norm of the chain-of-thought construction is smaller than
that of the main construction for sets of two bits (the matrix and d = 2 are restored).

The first score matrix of the chain is a positional identity, because all T steps share it. A
column has one entry, but there are T columns. Whatever matrix W serves T one-hot codes: if each
code scores itself higher than every other code by L, then <W, T I - J> >= T (T - 1) L, and
Cauchy and Schwarz give |W|^2 >= (T - 1) L^2. The main construction has 2 L^2 there, and L^2 in
the second layer. With random projections to k columns, J^T L I J, the mean of the squared norm
is L^2 (T + (T^2 + T) / k), larger still. The chain computes parity, and Theorem 7 can be had
with a larger norm in the place of this one.
"""

from fractions import Fraction

from mpmath import iv


def other_blocks(d: int) -> Fraction:
    """Squared norm of all blocks but the score matrices: W_V, v_2, G, b, F, for one set of size d.

    They are the same in both networks.
    """
    units = [(k, r) for k in range(d + 1) for r in (3, 1, -1, -3)]
    bias = sum((Fraction(-k, d) + Fraction(r, 4 * d)) ** 2 for k, r in units)
    second = sum(Fraction(2 * d) ** 2 for k, _ in units if k % 2 == 0)
    return 1 + 1 + len(units) + bias + second


def main() -> int:
    """Compare the least norm of the chain with that of the network for two bits."""
    T, d = 20, 2  # the length of the paper's experiments
    scale = 2 * iv.log(iv.mpf(T))  # L, the same for both; the chain has up to 2T tokens
    print(f"statement   T = {T}: the chain's norm is below that of the network for d = {d}")

    # for every W: the sum over t and j != t of W_tt - W_tj is <W, A> with A = T I - J
    A = [[T - 1 if i == j else -1 for j in range(T)] for i in range(T)]
    margins = T * (T - 1)  # number of the constraints W_tt - W_tj >= L
    size = sum(a * a for row in A for a in row)  # |A|^2
    least = Fraction(margins**2, size)  # |W|^2 >= (margins L)^2 / |A|^2
    identity = [[int(i == j) for j in range(T)] for i in range(T)]
    rows_agree = all(
        identity[t][t] - identity[t][j] == 1 for t in range(T) for j in range(T) if j != t
    )
    one_each = all(sum(row[j] for row in identity) == 1 for j in range(T))
    hypotheses = {
        "at each step the pair scores L above the rest": rows_agree,
        "each column of the matrix has one entry, as in the text": one_each,
    }
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")

    rest = iv.mpf(other_blocks(d).numerator) / other_blocks(d).denominator
    chain = rest + iv.mpf(least.numerator) / least.denominator * scale**2  # second layer free
    main_network = rest + (d + 1) * scale**2  # d entries L in the first layer, one in the second
    print(f"left side   chain, first score matrix alone at its least ({least} L^2): {chain}")
    print(f"right side  main construction, d = {d}, both layers ({d + 1} L^2): {main_network}")
    fails = all(hypotheses.values()) and chain.a > main_network.b
    print("the statement fails" if fails else "the statement stands at this instance")
    both = rest + 2 * T * scale**2
    print(f"repaired    with L I in both layers the squared norm is rest + 2 T L^2 = {both}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
