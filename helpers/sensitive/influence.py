r"""How far one bit of the input moves an attention head, in the first layer and in later ones.

In the first layer the score of position j depends on its own bit b_j in {0, 1} alone. Seen from one
query it is :math:`s_j + b_j g`: ``scores`` s and a ``gap`` g. Hahn and Rofin (2024) write
:math:`\gamma_j = e^{s_j}` and :math:`1 + \rho = e^g`. The influence of bit q on a vector v(b) is
:math:`I_q[v](b) = \|v(b) - v(b^{\oplus q})\|_2`. Tables over the cube have the index convention of
:mod:`helpers.cube`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import door, require_bits, require_floating, require_positive, require_scale


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
    _check_row(scores, gap)
    a = scores + gap * _checked(bits, scores)
    edge = torch.full_like(a[..., :1], -math.inf)
    before = torch.cat((edge, a.logcumsumexp(-1)[..., :-1]), -1)
    after = torch.cat((a.flip(-1).logcumsumexp(-1).flip(-1)[..., 1:], edge), -1)
    zero = scores - torch.logaddexp(before, after)
    return 2 * ((zero + gap).sigmoid() - zero.sigmoid()).abs().sum(-1)


@door
def lemma11_bound(n: int, delta: float) -> float:
    r"""The printed bound :math:`(8 + 32 \delta) \log n + 10`; it includes the query's own bit.

    Source: Hahn and Rofin (2024), Lemma 11, which claims it with probability
    :math:`1 - H n^{2-\delta}` for all queries and H heads at once.
    """
    _check_tail(n, delta)
    return (8 + 32 * delta) * math.log(n) + 10


@door
def tail_bound(n: int, delta: float) -> float:
    r"""A smaller bound with the same probability, :math:`4 \delta \log n + 9`.

    Source: the chapter on attention's influence.
    """
    _check_tail(n, delta)
    return 4 * delta * math.log(n) + 9


def bit_influences(values: Tensor) -> Tensor:
    r"""Influence of every bit on vectors that are given at all inputs.

    Args:
        values: Shape ``(*, 2**n, T, d)``: T vectors of d columns at every point; floating. Numbers
            are vectors of one column.

    Returns:
        Shape ``(n, *, 2**n, T)``: Euclidean distance to the value at the neighbour, by bit.

    Raises:
        TypeError: not floating.
        ValueError: fewer than three axes, or an axis of inputs that is no power of two.

    Cost: n copies of the table. Source: Hahn and Rofin (2024), Section B.
    """
    n = _bits_of(values)
    return torch.stack([(values - _flipped(values, q)).norm(dim=-1) for q in range(n)])


@dataclass(frozen=True, eq=False)
class HeadInfluence:
    r"""What every bit does to one head, and the bounds on it; tables ``(n, *, 2**n, T)``.

    Attributes:
        tokens: :math:`I_q[y_w]`, of the vectors that the head is given.
        output: :math:`I_q[b_j]`, of what it returns.
        row_sums: :math:`\sum_w I_q[\hat a_{jw}]`.
        carried: :math:`C_V \sum_w \hat a_{jw}(x)\, I_q[y_w]`.
        moved: :math:`C_V \max_w \|y_w(x^{\oplus q})\| \sum_w I_q[\hat a_{jw}]`.
        moved_here: The same with the lengths at x itself.
        value_norm: :math:`C_V`, spectral norm of the value matrix, shape ``(*,)``.
        score_norm: Spectral norm of :math:`K^\top Q`, shape ``(*,)``.
        longest: Largest length of a token at any input, shape ``(*,)``.
        width: d, columns of a token.
    """

    tokens: Tensor
    output: Tensor
    row_sums: Tensor
    carried: Tensor
    moved: Tensor
    moved_here: Tensor
    value_norm: Tensor
    score_norm: Tensor
    longest: Tensor
    width: int

    @property
    def score_bound(self) -> Tensor:
        r""":math:`C_A = d\, \|K^\top Q\|`; ValueError if a token is longer than sqrt d."""
        top = float(self.longest.detach().max()) if self.longest.numel() else 0.0
        if top > math.sqrt(self.width) * (1 + 1e-6):
            raise ValueError(
                f"tokens of {self.width} columns must have length at most "
                f"{math.sqrt(self.width):.6g} here, found {top:.6g}"
            )
        return self.width * self.score_norm

    @property
    def lemma9(self) -> Tensor:
        """Right side of Lemma 9 for ``output``, with the lengths at the neighbour."""
        return self.carried + self.moved

    @property
    def lemma13(self) -> Tensor:
        r""":math:`2 e^{4 C_A} (I_q[y_i] + \frac1n \sum_w I_q[y_w])`, for ``row_sums`` too."""
        C = _per_table(self.score_bound)
        return 2 * (4 * C).exp() * (self.tokens + self._mean)

    @property
    def row_sum_bound(self) -> Tensor:
        r"""Smaller, :math:`\frac{C_A}{\sqrt d} (I_q[y_i] + 2 e^{2 C_A} \frac1n \sum_w ...)`."""
        C = _per_table(self.score_bound)
        return C / math.sqrt(self.width) * (self.tokens + 2 * (2 * C).exp() * self._mean)

    @property
    def lemma15(self) -> Tensor:
        r""":math:`2 \sqrt d` times ``lemma13``, as printed; it needs the factor ``value_norm``."""
        return 2 * math.sqrt(self.width) * self.lemma13

    @property
    def output_bound(self) -> Tensor:
        r""":math:`C_V \bigl(C_A I_q[y_j] + (1 + 2 C_A) e^{2 C_A} \frac1n \sum_w I_q[y_w]\bigr)`."""
        C, C_V = _per_table(self.score_bound), _per_table(self.value_norm)
        return C_V * (C * self.tokens + (1 + 2 * C) * (2 * C).exp() * self._mean)

    @property
    def _mean(self) -> Tensor:
        return self.tokens.mean(-1, keepdim=True)


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
    n = _bits_of(tokens)
    d = tokens.shape[-1]
    require_floating(query=query, key=key, value=value)
    for name, matrix in (("query", query), ("key", key), ("value", value)):
        if matrix.ndim < 2 or matrix.shape[-2] != d:
            found = tuple(matrix.shape)
            raise ValueError(f"{name} must have {d} rows, one a column of tokens; got {found}")
    if query.shape[-1] != key.shape[-1]:
        found = (query.shape[-1], key.shape[-1])
        raise ValueError(f"query and key must have equally many columns, got {found}")
    score = query @ key.mT
    rows = (tokens @ score[..., None, :, :] @ tokens.mT).softmax(-1)  # (*, 2**n, T, T)
    output = rows @ (tokens @ value[..., None, :, :])
    lengths = tokens.norm(dim=-1).amax(-1)  # (*, 2**n)
    C_V = torch.linalg.matrix_norm(value, 2)
    of_tokens = bit_influences(tokens)
    row_sums = torch.stack([(rows - _flipped(rows, q)).abs().sum(-1) for q in range(n)])
    there = torch.stack([lengths[..., _neighbour(n, q, lengths)] for q in range(n)])
    return HeadInfluence(
        tokens=of_tokens,
        output=bit_influences(output),
        row_sums=row_sums,
        carried=_per_table(C_V) * (rows @ of_tokens[..., None]).squeeze(-1),
        moved=_per_table(C_V) * there[..., None] * row_sums,
        moved_here=_per_table(C_V) * lengths[..., None] * row_sums,
        value_norm=C_V,
        score_norm=torch.linalg.matrix_norm(score, 2),
        longest=lengths.amax(-1),
        width=d,
    )


def _per_table(number: Tensor) -> Tensor:
    """``(*,)`` to ``(*, 1, 1)``, against tables ``(n, *, 2**n, T)``."""
    return number[..., None, None]


def _neighbour(n: int, q: int, like: Tensor) -> Tensor:
    return torch.arange(2**n, device=like.device) ^ (1 << q)


def _flipped(values: Tensor, q: int) -> Tensor:
    n = values.shape[-3].bit_length() - 1
    return values.index_select(-3, _neighbour(n, q, values))


def _bits_of(values: Tensor) -> int:
    if not values.is_floating_point():
        raise TypeError(f"a table must be floating, got {values.dtype}")
    N = values.shape[-3] if values.ndim >= 3 else 0
    if N < 2 or N & (N - 1):
        raise ValueError(
            f"expected shape (..., 2**n, T, d) with at least one bit, got {tuple(values.shape)}"
        )
    return N.bit_length() - 1


def _check_row(scores: Tensor, gap: Tensor) -> None:
    require_floating(scores=scores, gap=gap)
    for name, given in (("scores", scores), ("gap", gap)):
        if not given.isfinite().all():
            raise ValueError(f"{name} must be finite, found {given[~given.isfinite()][0].item()}")
    if scores.dtype != gap.dtype:
        raise TypeError(f"scores and gap must have one dtype, got {scores.dtype} and {gap.dtype}")
    if scores.ndim < 1 or scores.shape[-1] < 1:
        raise ValueError(f"expected scores of shape (..., n), n >= 1, got {tuple(scores.shape)}")
    if gap.ndim < 1 or gap.shape[-1] not in (1, scores.shape[-1]):
        raise ValueError(
            f"expected a gap of 1 or {scores.shape[-1]} columns, got shape {tuple(gap.shape)}"
        )


def _checked(bits: Tensor, scores: Tensor) -> Tensor:
    n = scores.shape[-1]
    if bits.shape[-1:] != (n,):
        raise ValueError(f"expected bits of {n} positions, got shape {tuple(bits.shape)}")
    require_bits(bits)
    return bits.to(scores.dtype)


def _check_tail(n: int, delta: float) -> None:
    require_positive(n=n)
    require_scale(delta=delta)
