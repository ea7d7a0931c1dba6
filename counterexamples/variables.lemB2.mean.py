"""Paper 3 (Edelman, Goel, Kakade, Zhang 2022), Lemma B.2 (printed): for near-orthogonal v_t, Delta
< 1/s and 0 < gamma <= 1 there are a 1-bounded, (2/s)-strictly monotone function g of r and one
head, |W_V| <= 2, |W_C| <= 1, within gamma/4 of g on all strings. (s heads: that part stands.)

It fails at s = 2, Delta = 2/5, gamma = 1/10, T = 8. The conditions force g = r - 1. Row t has the
weight u_t A or u_t B (bit 0 or 1), u_t = exp(key.v_t), and the value a_t + beta_bit, |a_t| <= 2.
The head is N/D; flipping bit t adds n_t = d_t a_t + u_t C to N and d_t = u_t (B - A) to D. With an
error of at most eta times D everywhere, and D' the largest D:
1. t not chosen: |n_t| <= 2 eta D' (flip at r = 1), |n_t - d_t| <= 2 eta D' (flip at r = 2),
   so |d_t| <= 4 eta D' and |u_t C| <= (2 + 4*2) eta D'.
2. (v_1 + v_2)/2 is an average of vectors not chosen, so min(u_1, u_2) <= max of their u_t.
   Hence |n_t| <= (4*2 + 10) eta D' for the weaker chosen t.
3. But at the string of largest D (all ones or all zeros) flipping it shows n_t >= (1 - 2 eta) D'.
So eta >= 1/20, for every key, however long, also one that reads the bits. A decreasing g: change
the sign of the values. What survives: Delta = 0, and Delta < 1/(2s-1) with suitable keys.
"""

from fractions import Fraction as F

S, GAMMA, T, NORM_V, NORM_C = 2, F(1, 10), 8, 2, 1


def gram():
    """v_1.v_2 = -2/5; v_3, v_4 = 2/3 (v_1 + v_2) +- a normal vector; v_5..v_8: a simplex."""
    g = [[F(int(i == j)) for j in range(T)] for i in range(T)]

    def put(i, j, value):
        g[i - 1][j - 1] = g[j - 1][i - 1] = value

    put(1, 2, F(-2, 5))
    for i, j in ((1, 3), (1, 4), (2, 3), (2, 4)):
        put(i, j, F(2, 5))
    put(3, 4, F(1, 15))
    for i in range(5, 9):
        for j in range(i + 1, 9):
            put(i, j, F(-1, 3))
    return g


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
    g = gram()
    coherence = max(abs(g[i][j]) for i in range(T) for j in range(T) if i != j)
    rank = rank_if_psd(g)
    gap = [F(1, 2)] * 2 + [F(-3, 8)] * 2 + [F(-1, 16)] * 4  # (v_1+v_2)/2 minus the average
    length = sum(gap[i] * g[i][j] * gap[j] for i in range(T) for j in range(T))
    average = length == 0 and sum(gap[2:]) == -1
    a = NORM_V * NORM_C
    least = F(1, 2 + 4 * a + (2 + 4 * a))  # 1 - 2 eta <= (4a + (2 + 4a)) eta
    print("statement   Lemma B.2, one head: some head is within gamma/4 of some g")
    print(f"hypothesis  Delta = {coherence} < 1/s = {F(1, S)} : {coherence < F(1, S)}")
    print(f"hypothesis  unit vectors in R^{rank}, Gram matrix positive semidefinite : {rank > 0}")
    print(f"hypothesis  0 < gamma = {GAMMA} <= 1 : {0 < GAMMA <= 1}")
    print(f"step 2      (v_1+v_2)/2 is an average of v_3..v_8 : {average}")
    print(f"left side   least error of any head, at least {least} = {float(least)}")
    print(f"right side  gamma/4 = {GAMMA / 4} = {float(GAMMA / 4)}")
    fails = coherence < F(1, S) and rank > 0 and 0 < GAMMA <= 1 and average and least > GAMMA / 4
    print("the statement fails" if fails else "the statement stands at this instance")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
