"""Paper 1 (Lintilhac and Shaikh 2026), Appendix B (printed): the second attention "places zero
weight" on the positions that hold no component, so that the network is exactly f.

A softmax of finite scores gives every position a positive weight. With one component (W = 1,
c_1 = 1) at score L and T idle positions of score 0, the idle ones hold T / (e^L + T). If one bit
is 1, in the set, then f = 0, and the idle positions write g(1 / (T + 1)) = 1 for T >= 4d - 1.
At L = 2 log T, where e^L = T^2, the weight is exactly 1/(T+1), and so is the error here.
What survives: the network approximates f, with an error of at most 1/T.
The score 2 log T is that of the quoted norm; any finite score gives a positive weight.
"""

from fractions import Fraction as Q


def parity(y, d):
    """The trapezoids of Theorem 9, heights 1 at even counts."""
    total = Q(0)
    for k in range(0, d + 1, 2):
        r = [max(y - Q(k, d) + Q(o, 4 * d), Q(0)) for o in (3, 1, -1, -3)]
        total += 2 * d * (r[0] - r[1] - r[2] + r[3])
    return total


def main() -> int:
    T, d, members = 20, 3, (1, 2, 3)
    bits = [1 if j in members[:1] else 0 for j in range(1, T + 1)] + [0]  # one 1, in the set
    f = Q(1 - sum(bits[j - 1] for j in members) % 2)  # even-parity indicator
    e1 = Q(T) ** 2  # exp of the score 2 log T, first layer
    weights = [e1 if j in members else Q(1) for j in range(1, T + 2)]
    active = sum(a * b for a, b in zip(weights, bits, strict=True)) / sum(weights)
    uniform = Q(sum(bits), T + 1)
    idle_weight = T / (Q(T) ** 2 + T)
    output = (1 - idle_weight) * parity(active, d) + idle_weight * parity(uniform, d)
    hypotheses = {
        "W = 1 <= T, c_1 = 1, |U_1| = 3": len(set(members)) == d <= T,
        "the MLP is right at the position of the component": parity(active, d) == f,
        "the output token has bit 0": bits[T] == 0,
    }
    print(f"statement   idle positions have weight 0 and the output is f(x); T = {T}, d = {d}")
    for name, holds in hypotheses.items():
        print(f"hypothesis  {name}: {'holds' if holds else 'fails'}")
    print(f"left side   weight of the idle positions {idle_weight}, output {output}")
    print(f"right side  weight 0, f(x) = {f}")
    false = all(hypotheses.values()) and idle_weight > 0 and output != f
    print("the statement fails" if false else "the statement stands at this instance")
    print(f"repaired    error {abs(output - f)} <= 1/{T}: {abs(output - f) <= Q(1, T)}")
    return 0 if false else 1


if __name__ == "__main__":
    raise SystemExit(main())
