"""Paper 3 (Edelman, Goel, Kakade, Zhang; review version of October 2021), Lemma B.2 (printed): for
near-orthogonal v_t, Delta < 1/s and 0 < gamma <= 1 there are a 1-bounded, (2/s)-strictly monotone
function g of r and one head, |W_V| <= 2, |W_C| <= 1, within gamma/4 of g on all strings. (s heads:
that part stands.)

It fails at s = 2, Delta = 1/3, gamma = 1/10, T = 4: the vertices of a tetrahedron, two of them
reversed (for any s: a simplex of 2s vertices, half of them reversed). The conditions force
g = 2r/s - 1. Row t has the weight u_t A or u_t B (bit 0 or 1), u_t = exp(key.v_t), and the value
a_t + beta_bit, |a_t| <= 2. The head is N/D; flipping bit t adds n_t = d_t a_t + u_t C to N and
d_t = u_t (B - A) to D. With an error of at most eta everywhere, and D' the largest D:
1. t not chosen: |n_t - d_t| <= 2 eta D' (flip at r = s), |n_t + d_t| <= 2 eta D' (at r = 0), so
   |n_t| + |d_t| <= 2 eta D', and |u_t C| <= |n_t| + 2 |d_t|.
2. The sum of the chosen v_i is the sum of the others, so the least u_i of a chosen i is at most u_t
   of some other t. Hence |n_i| <= 2 |d_i| + |u_i C| <= |n_t| + 4 |d_t| <= 8 eta D'.
3. But at the string of largest D (all ones or all zeros) flipping it shows n_i >= (2/s - 2 eta) D'.
So eta >= 1/(5s), for every key, however long, also one that reads the bits. A decreasing g: change
the sign of the values. What survives: Delta < 1/(2s-1), with suitable keys.
"""

from fractions import Fraction as F

S, GAMMA, NORMS = 2, F(1, 10), 2  # NORMS: |W_V| |W_C|


def gram(s):
    """A simplex, all inner products -1/(2s-1), its vertices s+1 to 2s reversed."""
    sign = [1] * s + [-1] * s
    return [
        [F(1) if i == j else F(-sign[i] * sign[j], 2 * s - 1) for j in range(2 * s)]
        for i in range(2 * s)
    ]


def rank_if_psd(g):
    """Rank of a positive semidefinite matrix by exact elimination, or -1."""
    g, rank = [row[:] for row in g], 0
    for i in range(len(g)):
        if g[i][i] < 0 or (g[i][i] == 0 and any(g[i])):
            return -1
        if g[i][i] > 0:
            rank += 1
            row = g[i][:]
            for k in range(i, len(g)):
                factor = row[k] / row[i]
                g[k] = [x - factor * y for x, y in zip(g[k], row, strict=True)]
            for k in range(len(g)):
                g[k][i] = F(0)
    return rank


def main() -> int:
    g, T = gram(S), 2 * S
    delta = max(abs(g[i][j]) for i in range(T) for j in range(T) if i != j)
    rank = rank_if_psd(g)
    gap = [1] * S + [-1] * S  # the sum of the chosen minus the sum of the others
    length = sum(gap[i] * g[i][j] * gap[j] for i in range(T) for j in range(T))
    # 2/s - 2 eta <= (|n_t| + 2 NORMS |d_t|) / D' <= max(1, 2 NORMS) * 2 eta
    least = F(2, S) / (2 + 2 * max(1, 2 * NORMS))
    print("statement   Lemma B.2, one head: some head is within gamma/4 of some g")
    hypotheses = {
        f"Delta = {delta} < 1/s = {F(1, S)}": delta < F(1, S),
        "unit vectors, Gram matrix positive semidefinite": rank > 0 and g[0][0] == 1,
        f"0 < gamma = {GAMMA} <= 1": 0 < GAMMA <= 1,
        "the chosen and the others have the same sum": length == 0,
    }
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"left side   least error of any head, at least {least} = {float(least)}")
    print(f"right side  gamma/4 = {GAMMA / 4} = {float(GAMMA / 4)}")
    fails = all(hypotheses.values()) and least > GAMMA / 4
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
