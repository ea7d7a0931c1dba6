"""Pieces of a layer in one call each, models taken as a cache holds them.

Stacked, every operation passes over the numbers of all models, which no cache holds, and autograd
keeps what each of them was given. Here some models after the others run through a whole piece,
forth and back, and only what the gradient needs is kept. The numbers are those of the plain form
up to rounding. A gradient that is to be differentiated again is formed the plain way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional

CACHE = 2**19  # bytes to work on at once on a CPU: half of a usual second-level cache
_aten = torch.ops.aten


def applies(X: Tensor, dims: int) -> bool:
    """Whether it is an ensemble ``(E, ...)`` of so many axes on a CPU, outside torch.func.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import applies
        >>> applies(torch.zeros(3, 32, 10, 16), 4), applies(torch.zeros(32, 10, 16), 4)
        (True, False)
    """
    return (
        X.ndim == dims
        and not X.is_cuda
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0
    )


def parts(each: Tensor) -> Iterator[slice]:
    """Models to take at once: all on a GPU; on a CPU as many as stay in its cache, at least 1.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import parts
        >>> list(parts(torch.zeros(5, 64, 1024)))  # 256 KiB a model: two at once
        [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    E, size = len(each), each[0].numel() * each.element_size()
    count = E if each.is_cuda else max(1, CACHE // max(size, 1))
    return (slice(start, min(start + count, E)) for start in range(0, E, count))


def last_token(X: Tensor) -> tuple[Tensor, Tensor]:
    """X of shape ``(E, B, P, D)``, for one reader, and its last rows ``(E, B, 1, D)``.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import last_token
        >>> kept, last = last_token(torch.zeros(3, 32, 10, 16))
        >>> kept.shape, last.shape
        (torch.Size([3, 32, 10, 16]), torch.Size([3, 32, 1, 16]))
    """
    kept, last = _LastToken.apply(X)
    return kept, last


class _LastToken(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor) -> tuple[Tensor, Tensor]:
        return X.view_as(X), X[..., -1:, :].clone()

    @staticmethod
    def backward(ctx: Any, d: Tensor, d_last: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            return d + functional.pad(d_last, (0, 0, d.shape[-2] - 1, 0))
        d[..., -1:, :] += d_last
        return d


def see(keys: Tensor, query: Tensor) -> Tensor:
    """``softmax(query keys^T) keys`` for keys ``(E, B, P, D)`` and queries ``(E, B, heads, D)``.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import see
        >>> keys, query = torch.rand(3, 32, 10, 16), torch.rand(3, 32, 2, 16)  # two heads
        >>> plain = (query @ keys.mT).softmax(-1) @ keys
        >>> torch.allclose(see(keys, query), plain)
        True
    """
    seen: Tensor = _See.apply(keys, query)
    return seen


class _See(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keys: Tensor, query: Tensor) -> Tensor:
        a = query.new_empty(*query.shape[:-1], keys.shape[-2])
        seen = query.new_empty(query.shape)
        for e in parts(keys):
            torch.softmax(query[e] @ keys[e].mT, -1, out=a[e])
            torch.matmul(a[e], keys[e], out=seen[e])
        ctx.save_for_backward(keys, query, a)
        return seen

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        keys, query, a = ctx.saved_tensors
        if torch.is_grad_enabled():
            return again(lambda k, q: (q @ k.mT).softmax(-1) @ k, (keys, query), d)
        d_keys, d_query = keys.new_empty(keys.shape), query.new_empty(query.shape)
        for e in parts(keys):
            d_scores = _softmax_slope(d[e] @ keys[e].mT, a[e])
            torch.matmul(d_scores, keys[e], out=d_query[e])
            left = torch.cat((d_scores, a[e]), -2).mT
            torch.matmul(left, torch.cat((query[e], d[e]), -2), out=d_keys[e])
        return d_keys, d_query


def of_bits(scores: Tensor, value: Tensor, bits: Tensor) -> Tensor:
    """What heads write for tokens of which each is one of two.

    Args:
        scores: Of each token at each place with each other, ``(E, heads, 2 P, 2 P)``; rows and
            columns from P on are what bit 1 adds.
        value: Likewise of values, ``(E, heads, 2 P, columns)``.
        bits: Shape ``(E, B, P)``, floating.

    Returns:
        Shape ``(E, heads, B, P, columns)``.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import of_bits
        >>> scores, value = torch.zeros(3, 2, 8, 8), torch.ones(3, 2, 8, 5)  # 4 places, 2 heads
        >>> bits = torch.tensor([1.0, 1.0, 0.0, 0.0]).expand(3, 1, 4)
        >>> of_bits(scores, value, bits)[0, 0, 0, 0]  # 1 of each token, and half of bit 1's part
        tensor([1.5000, 1.5000, 1.5000, 1.5000, 1.5000])
    """
    mixed: Tensor = _OfBits.apply(scores, value, bits)
    return mixed


def plainly_of_bits(
    scores: Tensor, value: Tensor, bits: Tensor, keep: Callable[[Tensor], Tensor]
) -> Tensor:
    """The same with any leading axes ``*``, for any ``keep`` of scores ``(*, heads, B, P, P)``.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import of_bits, plainly_of_bits
        >>> scores, value = torch.rand(3, 2, 8, 8), torch.rand(3, 2, 8, 5)
        >>> bits = torch.tensor([1.0, 1.0, 0.0, 0.0]).expand(3, 1, 4)
        >>> plain = plainly_of_bits(scores, value, bits, lambda s: s.softmax(-1))
        >>> torch.allclose(of_bits(scores, value, bits), plain)
        True
    """
    of_query, of_key = bits[..., None, :, :, None], bits[..., None, :, None, :]
    a = keep(_bilinear(scores, of_query, of_key))
    both = torch.cat((a, a * of_key), -1)
    return (both.flatten(-3, -2) @ value).unflatten(-2, a.shape[-3:-1])


def _all_of_bits(scores: Tensor, value: Tensor, bits: Tensor) -> Tensor:
    return plainly_of_bits(scores, value, bits, lambda s: s.softmax(-1))


def _bilinear(scores: Tensor, of_query: Tensor, of_key: Tensor) -> Tensor:
    table, P = scores[..., None, :, :], scores.shape[-1] // 2
    rows = torch.addcmul(table[..., :P, :], of_query, table[..., P:, :])
    return torch.addcmul(rows[..., :P], of_key, rows[..., P:])


class _OfBits(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, value: Tensor, bits: Tensor) -> Tensor:
        E, heads, P = len(scores), scores.shape[1], bits.shape[-1]
        B = bits.shape[1]
        both = scores.new_empty(E, heads, B, P, 2 * P)  # attention, and its part on ones
        mixed = scores.new_empty(E, heads, B * P, value.shape[-1])
        for e in parts(both):
            of_query, of_key = bits[e, None, :, :, None], bits[e, None, :, None, :]
            a = torch.softmax(_bilinear(scores[e], of_query, of_key), -1)
            both[e][..., :P] = a
            torch.mul(a, of_key, out=both[e][..., P:])
            torch.matmul(both[e].flatten(2, 3), value[e], out=mixed[e])
        ctx.save_for_backward(scores, value, bits, both)
        return mixed.unflatten(2, (B, P))

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        scores, value, bits, both = ctx.saved_tensors
        if torch.is_grad_enabled():
            return again(_all_of_bits, (scores, value, bits), d)
        P = bits.shape[-1]
        d_scores, d_value = torch.empty_like(scores), torch.empty_like(value)
        for e in parts(both):
            of_query, of_key = bits[e, None, :, :, None], bits[e, None, :, None, :]
            flat = d[e].flatten(2, 3)
            torch.matmul(both[e].flatten(2, 3).mT, flat, out=d_value[e])
            d_both = (flat @ value[e].mT).view_as(both[e])
            d_a = torch.addcmul(d_both[..., :P], of_key, d_both[..., P:])
            slope = _softmax_slope(d_a, both[e][..., :P])
            d_both[..., :P] = slope
            torch.mul(slope, of_key, out=d_both[..., P:])
            torch.sum(d_both, 2, out=d_scores[e][..., :P, :])
            torch.sum(d_both.mul_(of_query), 2, out=d_scores[e][..., P:, :])
        return d_scores, d_value, None


def _softmax_slope(d: Tensor, a: Tensor) -> Tensor:
    """Gradient of the scores from that of the attention ``a``."""
    slope: Tensor = _aten._softmax_backward_data(d, a.contiguous(), -1, a.dtype)
    return slope


def again(
    plain: Callable[..., Tensor], given: Sequence[Tensor], d: Tensor
) -> tuple[Tensor | None, ...]:
    """Gradients that can be differentiated once more.

    Example:
        >>> import torch
        >>> from helpers.nets.fused import again
        >>> x = torch.tensor([2.0, 3.0], requires_grad=True)
        >>> (slope,) = again(lambda x: x**3, (x,), torch.ones(2))
        >>> torch.autograd.grad(slope.sum(), x)  # 6 x, the second derivative
        (tensor([12., 18.]),)
    """
    own = [g.view_as(g) for g in given]  # partial ones: one of them may be made of another
    wanted = [g for g in own if g.requires_grad]
    found = iter(torch.autograd.grad(plain(*own), wanted, d, create_graph=True))
    return tuple(next(found) if g.requires_grad else None for g in given)
