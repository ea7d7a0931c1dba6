r"""Log covering numbers of deep transformers from any linear cover: printed, proved, repaired.

A linear cover is described by one number C: its log size at scale epsilon is C / epsilon^2. The
matrices of a network are its parts; an error x of a part moves the output by at most beta x, and
the parts' errors may add up to epsilon. What the printed bound loses on the way is a set of slips,
each of which can be switched on alone. The networks are those of :mod:`helpers.covers.blocks`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import (
    require_amount,
    require_choice,
    require_positive,
    require_scale,
    validated,
)
from helpers.covers.blocks import Layer, blocks
from helpers.covers.capacity import allocate
from helpers.covers.lipschitz import SOFTMAX_PRINTED, later_factors, layer_factor

SLIPS = {
    "norm": "B_v2 in place of B_c2 beside every W_v",
    "output": "no part for the first W_c",
    "factor": "no alpha_1 beside the first W_v",
    "values": "first W_v covered as if inputs had length 1",
    "scores": "no B_x^2 beside the first W_QK",
    "slope": "W_c covered as if the activation did not lengthen",
}
"""What is lost: the first three between proof and theorem, the others in the proof."""
PRINTED = tuple(SLIPS)
PROOF = ("values", "scores", "slope")


@validated
@dataclass(frozen=True)
class DeepNorms:
    """Bounds that all layers share.

    Attributes:
        depth: Number L of layers, at least 1.
        C: Spectral norm of every W_C. V: The same of W_V. QK: The same of W_QK. All positive.
        w: Length of the read-out, positive.
        x: Length of the inputs' tokens, positive; hidden tokens have length at most 1.
        lipschitz: Of the activation, positive.
    """

    depth: int
    C: float = 1.0
    V: float = 1.0
    QK: float = 1.0
    w: float = 1.0
    x: float = 1.0
    lipschitz: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.depth, int):
            raise TypeError(f"depth must be a whole number, got {self.depth!r}")
        require_positive(depth=self.depth)
        require_scale(C=self.C, V=self.V, QK=self.QK, w=self.w, x=self.x, lipschitz=self.lipschitz)


class Parts(NamedTuple):
    """What has to be covered.

    Attributes:
        names: Matrix and layer of each part, the read-out last, as ``("w", 0)``.
        C: Its cover has log size C / x^2 at scale x; shape ``(n,)``, float64.
        beta: An error x of it moves the output by beta x at most; shape ``(n,)``, float64.
    """

    names: tuple[tuple[str, int], ...]
    C: Tensor
    beta: Tensor


@validated
def parts(
    norms: DeepNorms,
    C_1: float = 1.0,
    C_x: float | None = None,
    slips: Collection[str] = (),
    constant: float = SOFTMAX_PRINTED,
) -> Parts:
    r"""The sum over all matrices that bounds the movement of the output.

    .. math:: x_w + B_w \sum_i \alpha_i \bigl( x_c^{(i)} + L_\sigma B_c x_v^{(i)}
        + c L_\sigma B_c B_v \rho_i^2 x_{QK}^{(i)} \bigr), \qquad
        \alpha_i = \bigl(L_\sigma B_c B_v (1 + 2 c B_{QK})\bigr)^{L - i}

    Here rho is B_x in the first layer and 1 behind it. Covers have log size ``C_1`` / x^2 on inputs
    of length 1, ``C_x`` / x^2 on those of the first layer, and for W_C, whose inputs the activation
    may have lengthened, :math:`L_\sigma^2` times ``C_1``.

    Args:
        norms: Of the network.
        C_1: Positive.
        C_x: Positive; B_x^2 ``C_1`` if None, which is what scaling the inputs makes of ``C_1``.
        slips: Keys of :data:`SLIPS`. :data:`PRINTED` gives the theorem, :data:`PROOF` its proof.
        constant: The c of softmax, positive.

    Raises:
        ValueError: unknown slip, or a number that is not positive.

    Source: Trauger and Tewari (2024), Theorem 4.2 and Appendix E; repairs of ours.
    """
    for slip in slips:
        require_choice("slips", slip, PRINTED)
    C_x = norms.x**2 * C_1 if C_x is None else C_x
    require_scale(C_1=C_1, C_x=C_x, constant=constant)
    names: list[tuple[str, int]] = []
    rows: list[tuple[float, float]] = []
    steep = 1.0 if "slope" in slips else norms.lipschitz**2
    moved = norms.lipschitz * (norms.V if "norm" in slips else norms.C)
    for i, alpha in enumerate(_behind(norms, constant), 1):
        first, reach = i == 1, norms.w * alpha
        long = 1.0 if not first or "scores" in slips else norms.x**2
        scores = constant * norms.lipschitz * norms.C * norms.V * long
        if not (first and "output" in slips):
            names.append(("W_C", i))
            rows.append((steep * C_1, reach))
        names += [("W_QK", i), ("W_V", i)]
        rows.append((C_x if first else C_1, reach * scores))
        kept = norms.w if first and "factor" in slips else reach
        rows.append((C_x if first and "values" not in slips else C_1, kept * moved))
    sizes, beta = torch.tensor([*rows, (C_1, 1.0)], dtype=torch.float64).unbind(-1)
    return Parts((*names, ("w", 0)), sizes, beta)


@validated
def log_size(
    norms: DeepNorms,
    epsilon: float = 1.0,
    C_1: float = 1.0,
    C_x: float | None = None,
    slips: Collection[str] = (),
    constant: float = SOFTMAX_PRINTED,
) -> float:
    r"""Log size of the cover at the best split of the error.

    .. math:: \frac1{\epsilon^2} \Bigl( \sum_i C_i^{1/3} \beta_i^{2/3} \Bigr)^3

    Args: as for :func:`parts`; epsilon is the scale, positive.

    Source: Trauger and Tewari (2024), Lemma E.1.
    """
    _, C, beta = parts(norms, C_1, C_x, slips, constant)
    return allocate(C, beta, epsilon)[1].item()


@validated
def printed_bound(
    norms: DeepNorms, epsilon: float = 1.0, C_1: float = 1.0, C_x: float | None = None
) -> float:
    r"""The bound as it is printed, :math:`(\gamma + \eta)^3 / \epsilon^2`.

    .. math:: \gamma = C_{B_x}^{1/3} (2 L_\sigma B_c B_v \alpha_1 B_w)^{2/3}
        + C_1^{1/3} \bigl(1 + (B_w L_\sigma B_v)^{2/3}\bigr), \qquad
        \eta = C_1^{1/3} B_w^{2/3} \sum_{i \ge 2} \tau_i

    .. math:: \tau_i = \alpha_i^{2/3} + (2 \alpha_i L_\sigma B_c B_v)^{2/3}
        + (\alpha_i L_\sigma B_v)^{2/3}

    Args: as for :func:`parts`.

    Source: Trauger and Tewari (2024), Theorem 4.2.
    """
    C_x = norms.x**2 * C_1 if C_x is None else C_x
    require_scale(C_1=C_1, C_x=C_x, epsilon=epsilon)
    alpha = _behind(norms, SOFTMAX_PRINTED)
    values = norms.lipschitz * norms.V
    scores = 2 * norms.C * values
    power = 2 / 3
    gamma = C_x ** (1 / 3) * (scores * alpha[0] * norms.w) ** power
    gamma += C_1 ** (1 / 3) * (1 + (norms.w * values) ** power)
    tau = sum(a**power + (a * scores) ** power + (a * values) ** power for a in alpha[1:])
    return float((gamma + C_1 ** (1 / 3) * norms.w**power * tau) ** 3 / epsilon**2)


@dataclass(frozen=True)
class Witness:
    """Networks of width 1 in which one number varies and all others are fixed.

    Attributes:
        norms: Bounds that they meet; fixed matrices of W_C, W_V and w are equal to them, W_QK is 0.
        matrix: The matrix of the first layer that varies, ``"W_C"``, ``"W_QK"`` or ``"W_V"``.
        size: It takes all values from -size to size.
    """

    norms: DeepNorms
    matrix: str
    size: float

    @property
    def cover_constant(self) -> float:
        r"""The least C with :math:`\log N(x) \le C / x^2` for numbers up to the size.

        Intervals of length 2x: ceil(size / x) of them, and the worst x is just below the size,
        where two are needed.
        """
        return self.size**2 * math.log(2)

    def output(self, value: float) -> float:
        """Output at one value of the number, by :func:`helpers.covers.blocks.blocks`."""
        n = self.norms
        fixed = Layer(*(torch.full((1, 1), v, dtype=torch.float64) for v in (n.V, 0.0, n.C)))
        varied = fixed._replace(**{self.matrix: torch.full((1, 1), value, dtype=torch.float64)})
        other = -n.x if self.matrix == "W_QK" else n.x
        X = torch.tensor([[n.x], [other]], dtype=torch.float64)
        states = blocks(X, [varied] + [fixed] * (n.depth - 1), lambda y: n.lipschitz * y)
        return n.w * states[-1][0, 0].item()

    @property
    def spread(self) -> float:
        """Half the distance of the two extreme outputs: at smaller scales two are needed."""
        return abs(self.output(self.size) - self.output(-self.size)) / 2


@validated
def witness(slip: str, stretch: float) -> Witness:
    """Networks whose log covering number, log 2 below their spread, a slip's bound falls short of.

    Args:
        slip: A key of :data:`SLIPS`.
        stretch: How extreme the norms are, at least 2, of "scores" 5; the bound falls with its
            square.

    Source: the chapter on the multi-layer bound.
    """
    require_choice("slip", slip, PRINTED)
    s = stretch
    least = 5 if slip == "scores" else 2  # so that its matrix is within QK
    if not least <= s <= 1e4:
        raise ValueError(f"stretch must lie between {least} and 10000, got {stretch}")
    one = DeepNorms(1, QK=0.01)
    made = {
        "norm": Witness(replace(one, C=s, V=1 / s), "W_V", 1 / s),
        "output": Witness(replace(one, C=1 / s, w=s), "W_C", 1 / s),
        "factor": Witness(replace(one, depth=2, C=s**2, V=1 / s), "W_V", s**-3),
        "values": Witness(replace(one, V=s**-3, x=s), "W_V", s**-3),
        "scores": Witness(replace(one, V=1 / s, x=s), "W_QK", s**-3),
        "slope": Witness(replace(one, C=s**-2, lipschitz=s), "W_C", s**-2),
    }
    return made[slip]


@validated
def marked_output(length: float, marked: bool) -> float:
    r"""Output of one layer whose W_QK marks pairs of coordinates, at a pair.

    The query is length e_1, and one other token is (length / 2) (e_0 + e_2). W_QK has the entry
    10 / length^2 at (1, 2) if the pair is marked, so that the other token has the score 5, and 0
    otherwise. W_V reads coordinate 0 with the weight 2 / length; W_C and the read-out are 1. So the
    output is the attention on the other token, whatever other pairs are marked.

    Args:
        length: Of the query, at least 2; then no projection acts and no weight is above 1.
        marked: Whether W_QK marks the pair.

    Raises:
        ValueError: a length below 2.
    """
    if not length >= 2:
        raise ValueError(f"length must be at least 2, got {length!r}")
    W_V, W_QK, W_C = (torch.zeros(s, dtype=torch.float64) for s in ((3, 1), (3, 3), (1, 3)))
    W_V[0, 0], W_QK[1, 2], W_C[0, 0] = 2 / length, 10 * marked / length**2, 1.0
    half = length / 2
    X = torch.tensor([[0.0, length, 0.0], [half, 0.0, half]], dtype=torch.float64)
    return blocks(X, [Layer(W_V, W_QK, W_C)], lambda y: y)[-1][0, 0].item()


@validated
def log_choices(places: int, marks: int) -> float:
    """Log of the number of ways to choose ``marks`` of ``places`` places, between 0 and all."""
    require_amount(places=places, marks=marks, unmarked=places - marks)
    return math.lgamma(places + 1) - math.lgamma(marks + 1) - math.lgamma(places - marks + 1)


def _behind(norms: DeepNorms, constant: float) -> list[float]:
    """The alpha of each layer: what the layers behind it can make of its error."""
    C, V, QK = (torch.tensor(v, dtype=torch.float64) for v in (norms.C, norms.V, norms.QK))
    factor = layer_factor(C, V, QK, constant, norms.lipschitz)
    return later_factors(factor.expand(norms.depth)).tolist()
