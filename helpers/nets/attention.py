"""The outputs of the attention heads of one layer, computed in three ways equal up to rounding.

``block`` holds one layer's weights under the short names of :mod:`helpers.nets.transformer`;
``reads`` are the columns that queries and keys see; ``keep`` turns scores ``(*, B, heads, rows,
P)`` into the attention that is kept: it masks, takes the softmax and drops out.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.nets.spec import TransformerSpec
from helpers.weights import Weights

Keep = Callable[[Tensor], Tensor]


def of_all(
    spec: TransformerSpec, block: Weights, tokens: Tensor, reads: slice, keep: Keep
) -> Tensor:
    """What the heads write for all tokens ``(*, B, P, D)``, as everyone computes it."""

    def heads(Y: Tensor, part: str) -> Tensor:  # (*, B, heads, P, head width)
        return _split(spec, linear(Y, block[part], block.get(f"{part}_bias")))

    query, key = (heads(tokens[..., reads], part) for part in ("query", "key"))
    attention = keep((query * spec.scale) @ key.mT)
    mixed = (attention @ heads(tokens, "value")).transpose(-2, -3).flatten(-2)
    if not spec.project:
        return mixed
    return linear(mixed, block["project"], block.get("project_bias"))


def of_one(
    spec: TransformerSpec,
    block: Weights,
    query: Tensor,
    keys: Tensor,
    reads: slice,
    keep: Keep,
) -> Tensor:
    """The same for one querying token ``(*, B, 1, D)``, with no key or value formed.

    Each head's key matrix is moved to the query, its value matrix behind the weighted sum. A bias
    of the keys adds one number to all scores of a query, which softmax ignores.
    """
    q = _split(spec, linear(query[..., reads], block["query"], block.get("query_bias")))
    q = q.squeeze(-2).transpose(-2, -3) * spec.scale  # (*, heads, B, head width)
    of_heads = block["key"].unflatten(-1, (spec.heads, -1)).movedim(-2, -3)  # (*, heads, D, ...)
    absorbed = (q @ of_heads.mT).transpose(-2, -3)  # (*, B, heads, D)
    scores = (absorbed @ keys[..., reads].mT)[..., None, :]
    attention = keep(scores)  # (*, B, heads, 1, P)
    seen = (attention.squeeze(-2) @ keys).transpose(-2, -3)  # (*, heads, B, D)
    of_heads = block["value"].unflatten(-1, (spec.heads, -1)).movedim(-2, -3)
    mixed = (seen @ of_heads).transpose(-2, -3)  # (*, B, heads, head width)
    if spec.bias:
        bias = block["value_bias"].unflatten(-1, (spec.heads, -1))
        mixed = mixed + attention.sum(-1) * bias[..., None, :, :]
    mixed = mixed.flatten(-2)[..., None, :]
    if not spec.project:
        return mixed
    return linear(mixed, block["project"], block.get("project_bias"))


def of_bits(
    spec: TransformerSpec,
    block: Weights,
    given: tuple[Tensor, Tensor],
    bits: Tensor,
    reads: slice,
    keep: Keep,
) -> Tensor:
    """The same for the first layer on bits ``(*, B, P)``, from tables that no input enters.

    The token at a position is one of two, ``zero + bit * step``, so that queries, keys and values
    are too, and a score is bilinear in the two bits.
    """
    parts = torch.stack(given, -3)  # (*, 2, P, D): biases belong to the first

    def table(part: str) -> Tensor:  # (*, 2, heads, P, head width)
        seen = parts if part == "value" else parts[..., reads]
        Y = linear(seen, block[part])
        if spec.bias:
            bias = block[f"{part}_bias"]
            Y = Y + torch.stack((bias, torch.zeros_like(bias)), -2)[..., None, :]
        return _split(spec, Y)

    query, key, value = (
        table(part).movedim(-4, -3).flatten(-3, -2) for part in ("query", "key", "value")
    )  # (*, heads, 2 P, head width)
    scores = ((query * spec.scale) @ key.mT)[..., None, :, :]  # (*, heads, 1, 2 P, 2 P)
    P, of_key = bits.shape[-1], bits[..., None, :, None, :]
    rows = torch.addcmul(scores[..., :P, :], bits[..., None, :, :, None], scores[..., P:, :])
    both = torch.addcmul(rows[..., :P], of_key, rows[..., P:])  # (*, heads, B, P, P)
    a = keep(both.transpose(-3, -4)).transpose(-3, -4)
    merged = spec.project and spec.heads == 1
    if merged:
        value = value @ block["project"][..., None, :, :]
    mixed = torch.cat((a, a * of_key), -1).flatten(-3, -2) @ value
    mixed = mixed.unflatten(-2, a.shape[-3:-1]).movedim(-4, -2).flatten(-2)  # (*, B, P, A)
    if spec.project and not merged:
        return linear(mixed, block["project"], block.get("project_bias"))
    return (
        mixed + block["project_bias"][..., None, None, :] if spec.project and spec.bias else mixed
    )


def _split(spec: TransformerSpec, Y: Tensor) -> Tensor:
    """``(*, rows, A)`` to ``(*, heads, rows, head width)``."""
    return Y.unflatten(-1, (spec.heads, -1)).transpose(-2, -3)


def linear(X: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    """``X matrix + bias`` for tokens ``(*, B, rows, in)`` as one product a model.

    Example:
        >>> import torch
        >>> from helpers.nets.attention import linear
        >>> linear(torch.ones(1, 4, 2), torch.ones(2, 3), torch.ones(3)).shape
        torch.Size([1, 4, 3])
    """
    B, rows = X.shape[-3:-1]
    flat = X.flatten(-3, -2)
    if bias is None:
        Y = flat @ matrix
    elif flat.shape[:-2] == matrix.shape[:-2] == bias.shape[:-1] and flat.ndim == 3:
        Y = torch.baddbmm(bias[:, None], flat, matrix)
    else:
        Y = flat @ matrix + bias[..., None, :]
    return Y.unflatten(-2, (B, rows))
