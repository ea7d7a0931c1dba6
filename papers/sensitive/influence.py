r"""How far one bit of the input moves an attention head, in the first layer and in later ones.

In the first layer the score of position j depends on its own bit b_j in {0, 1} alone. Seen from one
query it is :math:`s_j + b_j g`: ``scores`` s and a ``gap`` g. Hahn and Rofin (2024) write
:math:`\gamma_j = e^{s_j}` and :math:`1 + \rho = e^g`. The influence of bit q on a vector v(b) is
:math:`I_q[v](b) = \|v(b) - v(b^{\oplus q})\|_2`. Tables over the cube have the index convention of
:mod:`helpers.cube`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import (
    require_bits,
    require_finite,
    require_floating,
    require_positive,
    require_scale,
    validated,
)


@validated
def summed_influence(scores: Tensor, gap: Tensor, bits: Tensor) -> Tensor:
    r"""The left side of Lemma 11 without the query's own bit: every flip moves the row, summed.

    .. math:: \sum_q \sum_j I_q[\hat a_j] = 2 \sum_q |\hat a_q^1 - \hat a_q^0|

    Flipping bit q changes one score. All other weights change by a common factor, so they lose
    together what weight q gains; :math:`\hat a_q^b` is that weight with bit q set to b.

    Args:
        scores: s, the scores of zeros, shape ``(*, n)``, floating, finite.
        gap: g, what a one adds to its score, shape ``(*, 1)``, or ``(*, n)`` if it differs from
            position to position; any sign, finite, dtype of ``scores``.
        bits: 0 or 1, shape ``(*, n)``; all three shapes broadcast.

    Returns:
        Shape ``(*,)``, between 0 and 2n.

    Raises:
        TypeError: scores or gap are not floating or differ in dtype.
        ValueError: other shapes, infinite scores, or bits that are neither 0 nor 1.

    Cost: of order n a row, without cancellation: the other scores are summed from both ends.
    """
    require_floating(scores=scores, gap=gap)
    require_finite(scores=scores, gap=gap)
    require_bits(bits)
    if scores.dtype != gap.dtype:
        raise TypeError(f"scores and gap must have one dtype, got {scores.dtype} and {gap.dtype}")
    n = scores.shape[-1]
    if n < 1 or bits.shape[-1] != n or gap.shape[-1] not in (1, n):
        found = (tuple(gap.shape), tuple(bits.shape))
        raise ValueError(f"{n} scores need as many bits and 1 gap or as many, got {found}")
    a = scores + gap * bits.to(scores.dtype)
    edge = torch.full_like(a[..., :1], -math.inf)
    before = torch.cat((edge, a.logcumsumexp(-1)[..., :-1]), -1)
    after = torch.cat((a.flip(-1).logcumsumexp(-1).flip(-1)[..., 1:], edge), -1)
    zero = scores - torch.logaddexp(before, after)
    return 2 * ((zero + gap).sigmoid() - zero.sigmoid()).abs().sum(-1)


@validated
def tail_bound(n: int, delta: float) -> float:
    r"""Bound of Lemma 11, smaller than the printed one: :math:`4 \delta \log n + 9`.

    It holds with probability :math:`1 - H n^{2-\delta}` for all queries and H heads at once, and
    includes the query's own bit. Source: the chapter on attention's influence.
    """
    require_positive(n=n)
    require_scale(delta=delta)
    return 4 * delta * math.log(n) + 9


@validated
def at_neighbours(values: Tensor) -> Tensor:
    """What is given at all inputs, read at the neighbour by each bit.

    Args:
        values: Shape ``(*, 2**n, T, d)``: T vectors of d columns at every point; floating. Numbers
            are vectors of one column.

    Returns:
        Shape ``(n, *, 2**n, T, d)``.

    Raises:
        TypeError: not floating.
        ValueError: fewer than three axes, or an axis of inputs that is no power of two.
    """
    require_floating(values=values)
    N = values.shape[-3] if values.ndim >= 3 else 0
    if N < 2 or N & (N - 1):
        raise ValueError(
            f"expected shape (..., 2**n, T, d) with at least one bit, got {tuple(values.shape)}"
        )
    x = torch.arange(N, device=values.device)
    flipped = [values.index_select(-3, x ^ (1 << q)) for q in range(N.bit_length() - 1)]
    return torch.stack(flipped)


def bit_influences(values: Tensor) -> Tensor:
    r"""Influence of every bit on vectors: the Euclidean distance to the value at the neighbour.

    Arguments and errors are those of :func:`at_neighbours`; the shape is ``(n, *, 2**n, T)``.

    Source: Hahn and Rofin (2024), Section B.
    """
    return (values - at_neighbours(values)).norm(dim=-1)


class HeadInfluence(NamedTuple):
    r"""What every bit does to one head, and the two sums of Lemma 9; tables ``(n, *, 2**n, T)``.

    Attributes:
        tokens: :math:`I_q[y_w]`, of the vectors that the head is given.
        output: :math:`I_q[b_j]`, of what it returns.
        row_sums: :math:`\sum_w I_q[\hat a_{jw}]`.
        carried: :math:`C_V \sum_w \hat a_{jw}(x)\, I_q[y_w]`.
        moved: :math:`C_V \max_w \|y_w(x^{\oplus q})\| \sum_w I_q[\hat a_{jw}]`.
        moved_here: The same with the lengths at x itself.
        value_norm: :math:`C_V`, spectral norm of the value matrix, shape ``(*,)``.
        score_bound: :math:`C_A = d\, \|K^\top Q\|`, shape ``(*,)``.
        width: d, columns of a token.
    """

    tokens: Tensor
    output: Tensor
    row_sums: Tensor
    carried: Tensor
    moved: Tensor
    moved_here: Tensor
    value_norm: Tensor
    score_bound: Tensor
    width: int


@validated
def through_head(tokens: Tensor, query: Tensor, key: Tensor, value: Tensor) -> HeadInfluence:
    r"""The influence of every bit on one softmax head that reads tables of tokens.

    The head is :math:`a_{ij} = (y_i Q)(y_j K)^\top`, :math:`\hat a` its softmax over j, and
    :math:`b_i = \sum_j \hat a_{ij}\, y_j V`, with tokens as rows.

    Args:
        tokens: y at every input, shape ``(*, 2**n, T, d)``, floating.
        query: Q, shape ``(*, d, k)``.
        key: K, the same shape.
        value: V, shape ``(*, d, v)``.

    Raises:
        TypeError: something is not floating.
        ValueError: shapes that do not fit.

    Cost: n 2**n T (T + d + v). Source: Hahn and Rofin (2024), Lemmas 9, 13, 15.
    """
    require_floating(query=query, key=key, value=value)
    score, value_norm = query @ key.mT, torch.linalg.matrix_norm(value, 2)
    C_V = value_norm[..., None, None]  # against tables (n, *, 2**n, T)
    rows = (tokens @ score[..., None, :, :] @ tokens.mT).softmax(-1)  # (*, 2**n, T, T)
    lengths = tokens.norm(dim=-1).amax(-1, keepdim=True)  # (*, 2**n, 1)
    of_tokens = bit_influences(tokens)
    row_sums = (rows - at_neighbours(rows)).abs().sum(-1)
    return HeadInfluence(
        tokens=of_tokens,
        output=bit_influences(rows @ (tokens @ value[..., None, :, :])),
        row_sums=row_sums,
        carried=C_V * (rows @ of_tokens[..., None]).squeeze(-1),
        moved=C_V * at_neighbours(lengths[..., None])[..., 0] * row_sums,
        moved_here=C_V * lengths * row_sums,
        value_norm=value_norm,
        score_bound=tokens.shape[-1] * torch.linalg.matrix_norm(score, 2),
        width=tokens.shape[-1],
    )
