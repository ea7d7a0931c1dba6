"""Paper 4 (Trauger and Tewari 2024, AISTATS version), Lemma 3.1 (printed): if f = sum_i alpha_i
V_i, |V_i| <= b, alpha_i >= 0 and gamma = sum_i alpha_i <= 1, then for every k there are whole
numbers k_i >= 0 with sum_i k_i <= k and |f - (1/k) sum_i k_i V_i|^2 <= (gamma^2 b^2 - |f|^2) / k.

One vector, d = 1: V = 1, alpha = 1/2, k = 1. The right side is 0 and f = 1/2 is no whole number.
For gamma = 1 the lemma holds; in general with gamma/k for 1/k, or with gamma b^2 for gamma^2 b^2.
"""

from fractions import Fraction as Q


def main() -> int:
    V, alpha, b, k = Q(1), Q(1, 2), Q(1), 1
    f, gamma = alpha * V, alpha
    hypotheses = {
        "|V| <= b": abs(V) <= b,
        "alpha >= 0": alpha >= 0,
        "gamma <= 1": gamma <= 1,
        "k is a natural number": k >= 1,
    }
    print("statement   some k_1 in {0, ..., k} has |f - k_1 V / k|^2 <= (gamma^2 b^2 - f^2) / k")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    left = min((f - Q(j, k) * V) ** 2 for j in range(k + 1))
    right = (gamma**2 * b**2 - f**2) / k
    print(f"left side   {left}, the least over all k_1")
    print(f"right side  {right}")
    fails = all(hypotheses.values()) and left > right
    print("the statement fails" if fails else "the statement stands at this instance")
    scaled = (f - gamma / k * k * V) ** 2
    print(f"repaired    gamma/k for 1/k, sum k_i = k: {scaled} <= {right}: {scaled <= right}")
    larger = (gamma * b**2 - f**2) / k
    print(f"repaired    gamma b^2 for gamma^2 b^2: {left} <= {larger}: {left <= larger}")
    return 0 if fails else 1


if __name__ == "__main__":
    raise SystemExit(main())
