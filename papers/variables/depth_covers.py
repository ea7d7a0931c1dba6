r"""Log covering numbers of deep transformers, parts of a head's, and covers by counting.

Covers are as in :mod:`helpers.covers.attention`, up to a constant and logarithms of other
quantities, as the paper states them. Logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import (
    require_choice,
    require_finite,
    require_positive,
    require_scale,
    validated,
)
from helpers.covers.attention import FORMS, HeadNorms
from helpers.covers.lipschitz import SOFTMAX_PRINTED, later_factors, layer_factor
from papers.variables.moved_weights import earlier_factors

ORDERS = ("earlier", "later")


@validated
@dataclass(frozen=True)
class LayerNorms(HeadNorms):
    """Bounds on one block's matrices: those of a head, and spectral norms of all three.

    Attributes:
        QK: Spectral norm of W_QK.
        C: Spectral norm of W_C.
        C_columns: Length of the longest column of W_C.
    """

    QK: float
    C: float
    C_columns: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require_scale(QK=self.QK, C=self.C, C_columns=self.C_columns)


@validated
def head_parts(
    d: int,
    norms: HeadNorms,
    B_x: float,
    lipschitz: float = 1.0,
    constant: float = SOFTMAX_PRINTED,
    form: str = "repaired",
) -> tuple[Tensor, Tensor]:
    r"""What the split of the error needs: log sizes alpha / x^2, and by how much x is multiplied.

    The first part is W_V, the second W_QK, each on N tokens, up to log N. An error x of
    ``W_QK z`` is an error of at most :math:`B_x x` of a score, and of
    :math:`c L B_V B_x^2 x` of the head. The proof takes queries of length 1, the text all tokens.

    Args:
        d: Width of tokens and values.
        norms: Of the head.
        B_x: Bound on the tokens' lengths, the query's included, positive.
        lipschitz: L of the activation, positive.
        constant: The c of softmax, positive.
        form: ``"text"`` for no power of B_x, ``"proof"`` for one, ``"repaired"`` for two.

    Returns:
        alpha and beta for :func:`helpers.covers.capacity.allocate`, shape ``(2,)``, float64.

    Source: Edelman et al. (2022), proof of Corollary 4.4.
    """
    require_positive(d=d)
    require_choice("form", form, FORMS)
    require_scale(B_x=B_x, lipschitz=lipschitz, constant=constant)
    inner = constant * norms.V * B_x ** FORMS.index(form)
    alpha = [(d * norms.V_columns * B_x) ** 2, (d * norms.QK_columns * B_x) ** 2]
    return _double(alpha), _double([lipschitz, lipschitz * inner])


def depth_factors(
    layers: Sequence[LayerNorms],
    lipschitz: float = 1.0,
    constant: float = SOFTMAX_PRINTED,
    order: str = "later",
) -> Tensor:
    """What each layer's error is multiplied by, shape ``(L,)``, in the order that is asked for.

    Args:
        layers: Bounds for each of at least one layer.
        lipschitz: Of the activation.
        constant: The c of softmax.
        order: ``"later"`` for products over later layers, ``"earlier"`` as printed.

    Source: Edelman et al. (2022), Theorem A.17.
    """
    require_positive(layers=len(layers))
    require_choice("order", order, ORDERS)
    C, V, QK = (_double([getattr(v, name) for v in layers]) for name in ("C", "V", "QK"))
    factors = layer_factor(C, V, QK, constant, lipschitz)
    return later_factors(factors) if order == "later" else earlier_factors(factors)


@validated
def depth_parts(
    d: int,
    k: int,
    layers: Sequence[LayerNorms],
    B_w: float,
    B_x: float = 1.0,
    lipschitz: float = 1.0,
    constant: float = SOFTMAX_PRINTED,
    order: str = "later",
) -> tuple[Tensor, Tensor]:
    r"""The same as :func:`head_parts` for a deep network with a linear read-out.

    Args:
        d: Width of tokens.
        k: Width of values.
        layers: Bounds for each layer.
        B_w: Bound on the read-out's length, positive.
        B_x: Bound on the lengths of the first layer's tokens, positive; later ones are in the unit
            ball. Its square multiplies the error of the first W_QK.
        lipschitz: L of the activation, positive. What W_C acts on may be that long.
        constant: The c of softmax, positive.
        order: As for :func:`depth_factors`.

    Returns:
        alpha and beta, shape ``(3 L + 1,)``, float64: W_C, W_QK, W_V of each layer, then w.

    Source: Edelman et al. (2022), proof of Theorem A.17, with :math:`\sqrt{k d}` for k at W_V: its
    d rows are bounded, its k columns are covered.
    """
    require_positive(d=d, k=k)
    require_scale(B_w=B_w, B_x=B_x, lipschitz=lipschitz, constant=constant)
    behind = depth_factors(layers, lipschitz, constant, order).tolist()
    alpha, beta = [], []
    for i, (norms, factor) in enumerate(zip(layers, behind, strict=True)):
        length = B_x if i == 0 else 1.0
        sizes = (
            d * lipschitz * norms.C_columns,
            d * norms.QK_columns * length,
            math.sqrt(k * d) * norms.V_columns * length,
        )
        inner = constant * norms.V * length**2
        alpha += [size**2 for size in sizes]
        moved = lipschitz * norms.C
        beta += [B_w * factor * grown for grown in (1.0, moved * inner, moved)]
    return _double([*alpha, B_w**2]), _double([*beta, 1.0])


@validated
def depth_bound(
    d: int,
    k: int,
    layers: Sequence[LayerNorms],
    B_w: float,
    N: int,
    epsilon: float,
    lipschitz: float = 1.0,
    constant: float = SOFTMAX_PRINTED,
    order: str = "later",
) -> float:
    r"""Log size for a deep network on tokens of length at most 1, up to a constant.

    .. math:: \frac{\log N}{\epsilon^2} B_w^2 \Bigl( 1 + \sum_i \alpha_i^{2/3} \bigl[
        (d L B_C^{2,\infty})^{2/3} + (c\, d L B_C B_V B_{QK}^{2,\infty})^{2/3}
        + (\sqrt{k d}\, L B_C B_V^{2,\infty})^{2/3} \bigr] \Bigr)^3

    Args: as for :func:`depth_parts`; N is the number of tokens in all, epsilon the scale.

    Source: Edelman et al. (2022), Theorem A.17, where the first term lacks the L and the last has
    k for :math:`\sqrt{k d}`; the chapter on the capacity of a deep transformer.
    """
    require_positive(d=d, k=k, N=N)
    require_scale(B_w=B_w, epsilon=epsilon)
    behind = depth_factors(layers, lipschitz, constant, order).tolist()
    total = 1.0
    for v, factor in zip(layers, behind, strict=True):
        moved = lipschitz * v.C
        C = d * lipschitz * v.C_columns
        QK = constant * d * moved * v.V * v.QK_columns
        V = math.sqrt(k * d) * moved * v.V_columns
        total += factor ** (2 / 3) * sum(term ** (2 / 3) for term in (C, QK, V))
    return B_w**2 * total**3 * math.log(N) / epsilon**2


@validated
def counting_log_size(k: int, d: int, B: float, B_x: float, epsilon: float) -> float:
    r"""Log size of a cover of matrices with k rows and d columns no longer than B, on all inputs.

    .. math:: dk \log\Bigl(1 + \frac{2 \sqrt d\, B B_x}{\epsilon}\Bigr)

    Each column is covered to :math:`\epsilon / (\sqrt d B_x)` in :math:`\mathbb R^k`. The number
    of inputs does not matter.
    """
    require_positive(k=k, d=d)
    require_scale(B=B, B_x=B_x, epsilon=epsilon)
    return d * k * math.log1p(2 * math.sqrt(d) * B * B_x / epsilon)


@validated
def printed_shares(lengths: Tensor, B: float, epsilon: float) -> Tensor:
    r"""Errors allowed to the functionals in the printed proof of Lemma 4.5.

    .. math:: \delta_i = \epsilon \sqrt{\frac{k_i + 1}{2 d_2}}, \qquad
        k_i = \lfloor d_2 \|v_i\| / B \rfloor

    Args:
        lengths: The norms of the d_2 functionals, shape ``(*batch, d_2)``, at most B.
        B: Positive.
        epsilon: Positive.

    Returns:
        Shape of ``lengths``. Their squares sum to epsilon^2 at most if the lengths sum to B.
    """
    require_scale(B=B, epsilon=epsilon)
    width = _width(lengths)
    steps = (width * lengths / B * (1 + 1e-12)).floor()
    return epsilon * ((steps + 1) / (2 * width)).sqrt()


@validated
def affine_residual(x: Tensor, y: Tensor) -> float:
    """Largest distance of y from its least-squares line in x, over the range of y.

    Raises:
        ValueError: shapes differ, fewer than three points, a number that is not finite, or x or y
            is constant.
    """
    if x.shape != y.shape or x.ndim != 1 or len(x) < 3:
        found = f"{tuple(x.shape)} and {tuple(y.shape)}"
        raise ValueError(f"expected x and y of at least three points each, got shapes {found}")
    require_finite(x=x, y=y)
    for name, values in (("x", x), ("y", y)):
        if float(values.max()) == float(values.min()):
            raise ValueError(f"{name} must not be constant, all of it is {float(values[0])}")
    u, v = x.double() - x.double().mean(), y.double() - y.double().mean()
    off = v - u * (u @ v) / (u @ u)
    return float(off.abs().max() / (v.max() - v.min()))


def _double(values: Sequence[object]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _width(lengths: Tensor) -> int:
    if lengths.ndim == 0 or lengths.shape[-1] == 0:
        raise ValueError(f"expected at least one length, got shape {tuple(lengths.shape)}")
    bad = lengths[~((lengths > 0) & lengths.isfinite())]
    if bad.numel():
        raise ValueError(f"lengths must be positive and finite, found {bad[0].item()}")
    return lengths.shape[-1]
