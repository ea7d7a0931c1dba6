r"""Log covering numbers of a sum of attention heads, as printed and repaired.

Covers are in the largest difference over N tokens in all, N = mT for m inputs of T tokens.
:math:`\|M\|_{2,\infty}` is the length of the longest column. A bound without a constant is one
up to a constant and logarithms of other quantities, as the paper states it. Logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from helpers.checks import require_choice, require_positive, require_scale, validated
from helpers.covers.lipschitz import SOFTMAX_PRINTED

FORMS = ("text", "proof", "repaired")


@validated
@dataclass(frozen=True)
class HeadNorms:
    r"""Bounds on one head's matrices.

    Attributes:
        V: Spectral norm of W_V.
        V_columns: :math:`\|W_V^\top\|_{2,\infty}`.
        QK_columns: :math:`\|W_{QK}\|_{2,\infty}`.
    """

    V: float
    V_columns: float
    QK_columns: float

    def __post_init__(self) -> None:
        require_scale(V=self.V, V_columns=self.V_columns, QK_columns=self.QK_columns)


@validated
def heads_bound(
    d: int,
    heads: Sequence[HeadNorms],
    B_x: float,
    N: int,
    epsilon: float,
    lipschitz: float = 1.0,
    constant: float = SOFTMAX_PRINTED,
    form: str = "repaired",
) -> float:
    r"""Log size for a sum of heads, up to a constant.

    .. math:: (d L B_x)^2\, \frac{\bigl( \sum_h (B_V^{2,\infty})^{2/3}
        + (c B_{QK}^{2,\infty} B_V B_x^p)^{2/3} \bigr)^3}{\epsilon^2} \log N

    The power p is 0 in the text, 1 in the proof, 2 if no token is longer than B_x.

    Args:
        d: Width of tokens and values.
        heads: Bounds for each of at least one head.
        B_x: Bound on the tokens' lengths; with fixed positions, on their sum.
        N: Tokens in all, at least 1.
        epsilon: Scale, positive.
        lipschitz: L of the activation, positive.
        constant: The c of softmax, positive.
        form: ``"text"`` for no power of B_x, ``"proof"`` for one, ``"repaired"`` for two.

    Source: Edelman et al. (2022), Corollary 4.4 and Lemmas A.11 and A.12.
    """
    require_positive(d=d, heads=len(heads), N=N)
    require_choice("form", form, FORMS)
    require_scale(B_x=B_x, epsilon=epsilon, lipschitz=lipschitz, constant=constant)
    power = B_x ** FORMS.index(form)
    total = sum(
        h.V_columns ** (2 / 3) + (constant * h.QK_columns * h.V * power) ** (2 / 3) for h in heads
    )
    return float((d * lipschitz * B_x / epsilon) ** 2 * total**3 * math.log(N))
