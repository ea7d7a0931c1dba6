"""Paper 4 (Trauger and Tewari 2024, AISTATS version), sentence after Lemma 3.1 (printed): at most
d^k tuples (k_1, ..., k_d) of whole numbers k_i >= 0 with sum_i k_i <= k fit the criteria of the
lemma.

For d = 3, k = 1, V_i = e_i, alpha_i = 1/3 (so gamma = b = 1, where the lemma holds) there are four:
0, e_1, e_2, e_3. All four also fit the inequality of the lemma. With sum_i k_i = k there are at
most d^k, with sum_i k_i <= k at most (d + 1)^k; the covers of the paper count the second way.
"""

from fractions import Fraction as Q
from itertools import product


def main() -> int:
    d, k, b = 3, 1, Q(1)
    alpha = [Q(1, d)] * d
    V = [[Q(i == j) for j in range(d)] for i in range(d)]
    gamma = sum(alpha)
    f = [sum(alpha[i] * V[i][j] for i in range(d)) for j in range(d)]
    hypotheses = {
        "|V_i| <= b": all(sum(v * v for v in row) <= b**2 for row in V),
        "alpha_i >= 0": min(alpha) >= 0,
        "gamma <= 1": gamma <= 1,
    }
    print("statement   the number of tuples that fit is at most d^k, for d = 3, k = 1")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    right = (gamma**2 * b**2 - sum(v * v for v in f)) / k
    tuples = [t for t in product(range(k + 1), repeat=d) if sum(t) <= k]
    fit = []
    for t in tuples:
        mean = [sum(Q(t[i], k) * V[i][j] for i in range(d)) for j in range(d)]
        error = sum((f[j] - mean[j]) ** 2 for j in range(d))
        print(f"            {t}: squared error {error}, allowed {right}")
        fit += [t] if error <= right else []
    print(f"left side   {len(fit)} tuples fit sum and inequality, {len(tuples)} fit the sum")
    print(f"right side  {d**k}")
    fails = all(hypotheses.values()) and len(fit) > d**k
    print("the statement fails" if fails else "the statement stands at this instance")
    print(f"repaired    (d + 1)^k = {(d + 1) ** k}: {len(tuples) <= (d + 1) ** k}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
