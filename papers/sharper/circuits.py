r"""The first paper's smallest model: attention, one number a token, a narrow net, a linear head.

Token j is its one-hot position beside its bit, without an output position. One attention layer
averages a number over the tokens, :math:`y_i = \sum_j a_{ij} \langle v, x_j \rangle`, a net of one
input and one output maps it, :math:`g(y) = \sum_h F_h (G_h y + b_h)_+`, and a linear head adds up
:math:`\sum_i c_i\, g(y_i) + c_0`. So each row of attention can compute one parity. A token is one
number behind the attention, so this is no :mod:`helpers.nets.transformer`, whose stream is D wide.

Weights, each with any leading ensemble axes, for D = n + 1 columns and H hidden units::

    query, key  (D, D)    value  (D,)    G, b, F  (H,)    head  (n,)    head_bias  ()
"""

from __future__ import annotations

import math

import torch
from scipy.signal import find_peaks
from torch import Tensor

from helpers.checks import require_finite, require_positive, validated
from helpers.weights import Weights


@validated
def initial_weights(n: int, hidden: int, generator: torch.Generator) -> Weights:
    r"""Random weights, float32: matrices uniform up to :math:`\sqrt{3/D}`, the rest as PyTorch.

    Args:
        n: Bits, at least 1.
        hidden: Units H, at least 1; the paper has 32.
        generator: Source of randomness.
    """
    require_positive(n=n, hidden=hidden)
    D = n + 1

    def uniform(*shape: int, top: float) -> Tensor:
        return (2 * torch.rand(shape, generator=generator) - 1) * top

    return {
        "query": uniform(D, D, top=math.sqrt(3 / D)),
        "key": uniform(D, D, top=math.sqrt(3 / D)),
        "value": uniform(D, top=1 / math.sqrt(D)),
        "G": uniform(hidden, top=1.0),
        "b": uniform(hidden, top=1.0),
        "F": uniform(hidden, top=1 / math.sqrt(hidden)),
        "head": uniform(n, top=1 / math.sqrt(n)),
        "head_bias": torch.zeros(()),
    }


def forward(weights: Weights, bits: Tensor, positional: bool = False) -> Tensor:
    """Outputs ``(*, B)`` for bits ``(*, B, n)``.

    Args:
        weights: As listed above.
        bits: In {0, 1}, integer.
        positional: Queries and keys read the position only, so that attention is one matrix.
    """
    rows = written(weights, bits, attention(weights, bits, positional))
    return rows.sum(-1) + weights["head_bias"][..., None]


def written(weights: Weights, bits: Tensor, kept: Tensor) -> Tensor:
    """What each row of attention adds to the output, shape ``(*, B, n)``."""
    return net(weights, averages(weights, bits, kept)) * weights["head"][..., None, :]


def attention(weights: Weights, bits: Tensor, positional: bool = False) -> Tensor:
    """Attention, shape ``(*, B, n, n)``, rows for the query."""
    n = weights["head"].shape[-1]
    if bits.ndim < 2 or bits.shape[-1] != n:
        raise ValueError(f"expected bits of shape (..., B, {n}), got {tuple(bits.shape)}")
    table = weights["key"] @ weights["query"].mT  # (*, D, D), in position and bit, rows for the key
    table = table[..., None, :, :]  # a softmax over short rows is slow, over columns it is not
    if positional:
        lead = torch.broadcast_shapes(table.shape[:-3], bits.shape[:-2])
        return table[..., :n, :n].softmax(-2).mT.expand(*lead, bits.shape[-2], -1, -1)
    value = bits.to(table.dtype)
    of_key, of_query = value[..., :, None], value[..., None, :]
    by_query = table[..., :n, n:] + of_key * table[..., n:, n:]
    scores = torch.addcmul(table[..., :n, :n], of_key, table[..., n:, :n])
    return torch.addcmul(scores, of_query, by_query).softmax(-2).mT


def averages(weights: Weights, bits: Tensor, kept: Tensor) -> Tensor:
    """The one number of each token after attention, shape ``(*, B, n)``."""
    value = weights["value"][..., None, :-1] + bits * weights["value"][..., None, -1:]
    return (kept @ value[..., None]).squeeze(-1)


def net(weights: Weights, number: Tensor) -> Tensor:
    """The narrow net, number by number: same shape."""
    G, b, F = (weights[k][..., None, :] for k in ("G", "b", "F"))
    hidden = torch.relu(torch.addcmul(b, number.flatten(-2)[..., None], G))
    return (hidden @ F.mT).reshape(number.shape)


def carried(rows: Tensor, bits: Tensor, members: Tensor) -> Tensor:
    r"""The coefficient at a character that each row of attention carries.

    .. math:: \mathbb E_x\, c_i\, g(y_i)\, \chi_U(x)

    Args:
        rows: By :func:`written`, shape ``(*, B, n)``.
        bits: Inputs, shape ``(B, n)``, over which the mean is taken.
        members: Of U, bool, shape ``(n,)``.

    Returns:
        Shape ``(*, n)``; its sum is the output's coefficient.
    """
    signs = 1 - 2 * (bits[:, members].sum(1) % 2)
    return (rows * signs[:, None]).mean(-2)


@validated
def strongest_are(row: Tensor, members: Tensor, apart: int | None = None) -> bool:
    """Whether the members are the columns of a row of attention that get most of it.

    Args:
        row: Shape ``(n,)``, at least 0.
        members: Bool, shape ``(n,)``.
        apart: A column that is looked at neither in the row nor among the members.
    """
    if members.dtype != torch.bool:
        raise TypeError(f"members must be bool, got {members.dtype}")
    require_finite(row=row)
    row, members = row.clone(), members.clone()
    if apart is not None:
        row[apart], members[apart] = -1, False
    return bool(members[row.topk(int(members.sum())).indices].all())


@validated
def turns(values: Tensor, tolerance: float = 0.05) -> int:
    """How many peaks and dips of a curve stand out by more than ``tolerance`` times its range.

    >>> turns(torch.tensor([0.0, 1.0, 0.99, 1.1, 0.0, 1.0]))
    2
    """
    require_finite(values=values)
    least = tolerance * (values.max() - values.min()).item()
    sides = values.numpy(), -values.numpy()
    return sum(len(find_peaks(side, prominence=least)[0]) for side in sides)
