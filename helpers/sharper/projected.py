r"""The two-attention transformer on random codes of its positions, to make it narrower.

The one-hot code of position j is replaced by row j of a random matrix J of shape
``(positions, width)``, with independent normal entries of standard deviation
:math:`1/\sqrt{\text{width}}`. The value column is kept beside it, so with
:math:`\tilde J = \mathrm{diag}(J, 1)` a token is :math:`\tilde x = \tilde J^\top x`, and each block
of weights becomes narrower in the same way:

.. math::

    \tilde W_{KQ} = \tilde J^\top W_{KQ} \tilde J, \qquad \tilde W_V = \tilde J^\top W_V \tilde J,
    \qquad \tilde G = G \tilde J, \qquad \tilde F = \tilde J^\top F, \qquad
    \tilde v_2 = \tilde J^\top v_2 .

Source: Lintilhac and Shaikh (2026), Appendix B.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.checks import require_positive
from helpers.sharper.network import ConstructionSpec, mlp, tokens
from helpers.weights import Weights


def width_for(n: int, eps: float) -> int:
    r"""The number of columns that the codes are given for an accuracy.

    .. math:: k = \left\lceil \frac{8 \log n}{\varepsilon^2} \right\rceil

    Args:
        n: Bits, at least 2.
        eps: Accuracy of the inner products of two codes, above 0 and finite.

    Source: Lintilhac and Shaikh (2026), Appendix B.2, with the constant of the authors' code.
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not 0 < eps < math.inf:
        raise ValueError(f"eps must be above 0 and finite, got {eps}")
    return math.ceil(8 * math.log(n) / eps**2)


def codes(positions: int, width: int, draws: int, generator: torch.Generator) -> Tensor:
    r"""Random codes J of positions: normal entries of standard deviation ``width ** -0.5``.

    Args:
        positions: Rows of J, at least 1.
        width: Columns of J, k, at least 1.
        draws: Independent matrices, at least 1.
        generator: Of the draws.

    Returns:
        Shape ``(draws, positions, width)``, float64.

    Raises:
        ValueError: a size below 1.
    """
    require_positive(positions=positions, width=width, draws=draws)
    shape = (draws, positions, width)
    return torch.randn(shape, generator=generator, dtype=torch.float64) / math.sqrt(width)


def rotated_codes(positions: int, width: int, draws: int, generator: torch.Generator) -> Tensor:
    r"""The codes of :func:`codes` up to a rotation: never more columns than ``positions``.

    J = R Q with R lower triangular and the rows of Q orthonormal. A network on the codes R has
    the outputs of the network on J, because only :math:`J J^\top = R R^\top` enters. The entries of
    R are independent:

    .. math::

        \sqrt{k}\, R_{ii} \sim \chi_{k - i + 1}, \qquad
        \sqrt{k}\, R_{ij} \sim \mathcal N(0, 1) \quad (i > j), \qquad i \le k.

    Args:
        positions: Rows of J, at least 1.
        width: Columns of J, k, at least 1.
        draws: Independent matrices, at least 1.
        generator: Of the draws.

    Returns:
        Shape ``(draws, positions, min(positions, width))``, float64, lower triangular.

    Raises:
        ValueError: a size below 1.

    Cost: ``positions ** 2`` numbers a draw, whatever the width. Source: Bartlett (1933).
    """
    require_positive(positions=positions, width=width, draws=draws)
    columns = min(positions, width)
    shape = (draws, positions, columns)
    R = torch.randn(shape, generator=generator, dtype=torch.float64).tril(-1)
    freedom = width - torch.arange(columns, dtype=torch.float64)
    squares = 2 * torch._standard_gamma((freedom / 2).expand(draws, -1), generator=generator)
    R.diagonal(dim1=-2, dim2=-1).copy_(squares.sqrt())
    return R / math.sqrt(width)


def project(weights: Weights, J: Tensor) -> Weights:
    r"""The narrow weights, each block as at the top of this module.

    Args:
        weights: As made by :func:`helpers.sharper.network.construct`, without ensemble axes.
        J: Codes, shape ``(draws, positions, columns)``.

    Returns:
        The same blocks with an axis of draws, and ``columns + 1`` where they had a column for each
        position and one for the value. ``b`` is as before.

    Raises:
        ValueError: the codes are of other positions.
    """
    _check_codes(weights, J)
    draws, positions, columns = J.shape
    wide = J.new_zeros(draws, positions + 1, columns + 1)
    wide[:, :-1, :-1], wide[:, -1, -1] = J, 1
    sides = {"WKQ1": "both", "WV1": "both", "G": "right", "F": "left", "WKQ2": "both", "v2": "left"}
    narrow = {}
    for name, weight in weights.items():
        side = sides.get(name, "none")
        column = weight[:, None] if name == "v2" else weight
        moved = wide.mT @ column if side in ("left", "both") else column
        narrow[name] = moved @ wide if side in ("right", "both") else moved
    narrow["v2"] = narrow["v2"].squeeze(-1)
    return narrow


def projected_scores(weight: Tensor, J: Tensor) -> Tensor:
    r"""Scores of every position for every position, :math:`J J^\top W J J^\top`.

    Args:
        weight: A block ``WKQ1`` or ``WKQ2``, shape ``(D, D)``, zero in the value row and column.
        J: Codes, shape ``(draws, D - 1, columns)``.

    Returns:
        Shape ``(draws, D - 1, D - 1)``, rows for the query. Their mean over J is
        :math:`W + (W^\top + \mathrm{tr}(W) I)/k` for k columns of :func:`codes`.

    Raises:
        ValueError: the codes are of other positions, or the scores depend on the values.

    Cost: the rows of W that are not zero times the size of J, about twice, for each draw.
    """
    if J.ndim != 3 or weight.shape != (J.shape[1] + 1,) * 2:
        raise ValueError(
            f"expected a square block with one more row than codes of shape (draws, positions, "
            f"columns), got {tuple(weight.shape)} and {tuple(J.shape)}"
        )
    if weight[-1].any() or weight[:, -1].any():
        raise ValueError("the scores must not depend on the values: last row and column zero")
    W = weight[:-1, :-1]
    used = W.any(1).nonzero().flatten()
    left = J @ J[:, used].mT  # (draws, positions, used)
    right = (W[used] @ J) @ J.mT  # (draws, used, positions)
    return left @ right


def forward(spec: ConstructionSpec, weights: Weights, J: Tensor, bits: Tensor) -> Tensor:
    r"""Outputs of the narrow network on all draws of the codes.

    It is :func:`helpers.sharper.network.forward` on the narrower weights. The attention does not
    depend on the bits, so it is computed once for each draw.

    Args:
        spec: Sizes of the wide network.
        weights: Of the wide network, without ensemble axes: scores that depend on positions only,
            a first layer and an MLP that read and write the value column only.
        J: Codes, shape ``(draws, n + 1, columns)``; the identity gives the wide network.
        bits: Shape ``(B, n)`` in {0, 1}, integer or bool.

    Returns:
        Shape ``(draws, B)``, float64.

    Raises:
        ValueError: bits, weights or codes of other sizes, or weights of another kind.
        TypeError: bits are floating.

    Cost: about 3 (n + 1) (n + 1 + 4d) B multiplications a draw.
    """
    if bits.ndim != 2:
        raise ValueError(f"expected bits of shape (B, {spec.n}), got {tuple(bits.shape)}")
    _check_codes(weights, J)
    kept = {"WV1": weights["WV1"].clone(), "G": weights["G"].clone(), "F": weights["F"].clone()}
    kept["WV1"][-1, -1], kept["G"][:, -1], kept["F"][-1] = 0, 0, 0
    for name, rest in kept.items():
        if rest.any():
            raise ValueError(f"{name} must read and write the value column only")
    values = tokens(spec, bits, J.dtype)[..., -1]  # (B, n + 1)
    first = projected_scores(weights["WKQ1"], J).softmax(-1)
    prefix = weights["WV1"][-1, -1] * (first @ values.T).mT  # (draws, B, n + 1)
    parities = mlp(prefix[..., None], weights["G"][:, -1:], weights["b"], weights["F"][-1:])
    second = projected_scores(weights["WKQ2"], J)[:, -1].softmax(-1)[:, None]
    places = (J @ (J.mT @ weights["v2"][:-1, None])).mT  # (draws, 1, n + 1)
    return (second * (places + weights["v2"][-1] * parities[..., 0])).sum(-1)


def expected_square_norm(weight: Tensor, width: int) -> Tensor:
    r"""Mean squared Frobenius norm of a narrow block of scores.

    .. math::

        \mathbb E \|J^\top W J\|_F^2 = \|W\|_F^2 + \frac{\mathrm{tr}(W)^2 + \mathrm{tr}(W^2)}{k}

    Args:
        weight: W, shape ``(positions, positions)``, without the value row and column.
        width: k, at least 1.

    Returns:
        A number, shape ``()``.

    Raises:
        ValueError: W is not square, or the width is below 1.

    Source: ours; the second term is what Lintilhac and Shaikh (2026), Theorem 10, neglect.
    """
    if weight.ndim != 2 or weight.shape[0] != weight.shape[1]:
        raise ValueError(f"expected a square matrix, got {tuple(weight.shape)}")
    require_positive(width=width)
    return weight.square().sum() + (weight.trace() ** 2 + (weight @ weight).trace()) / width


def score_error_bound(weight: Tensor, J: Tensor) -> Tensor:
    r"""Largest possible error of each score, from the largest error of an inner product of codes.

    With :math:`\delta = \max_{ij} |(J J^\top - I)_{ij}|`,

    .. math::

        |J J^\top W J J^\top - W|_{ij} \le \delta \Bigl( \sum_a |W_{aj}| + \sum_b |W_{ib}| \Bigr)
        + \delta^2 \sum_{ab} |W_{ab}| .

    Args:
        weight: As for :func:`projected_scores`.
        J: Codes, shape ``(draws, positions, columns)``.

    Returns:
        Shape ``(draws, positions, positions)``.

    Source: ours.
    """
    size = weight[:-1, :-1].abs()
    delta = code_error(J)[:, None, None]
    return delta * (size.sum(0) + size.sum(1)[:, None]) + delta**2 * size.sum()


def code_error(J: Tensor) -> Tensor:
    r"""Largest error of an inner product of two codes, :math:`\max_{ij} |(J J^\top - I)_{ij}|`.

    Args:
        J: Codes, shape ``(draws, positions, columns)``.

    Returns:
        Shape ``(draws,)``.
    """
    gram = J @ J.mT
    return (gram - torch.eye(J.shape[-2], dtype=J.dtype, device=J.device)).abs().amax((-2, -1))


def _check_codes(weights: Weights, J: Tensor) -> None:
    positions = weights["v2"].shape[-1] - 1
    if J.ndim != 3 or J.shape[1] != positions:
        raise ValueError(
            f"expected codes of shape (draws, {positions}, columns), got {tuple(J.shape)}"
        )
