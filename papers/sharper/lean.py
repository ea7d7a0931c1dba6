r"""The first paper's transformer with its steps merged: fewer operations, the same outputs.

With one-hot positions beside the bit, one head, and no layer norm, a token is
:math:`x_j = p_j + b_j \delta`, with b_j the bit. Three things follow.

1. The scores of the first layer are bilinear in the bits: one table of (P + 1)^2 numbers,
   computed once a step, holds all of them.
2. What a token has after the first attention is :math:`p_i + \varphi_i M`, where
   :math:`\varphi_i = (a_i, \langle a_i, b\rangle, b_i)` are P + 2 numbers, a_i the attention row.
   So values and the feedforward matrix merge into one of P + 2 rows.
3. The last layer is read at one position. Its keys are absorbed in that query, its values in the
   weighted sum of tokens, so that no token's feedforward output is ever formed.

Nothing is approximated: outputs and gradients are those of the plain form up to rounding. The
order of the product, not the model, is what changes. Training takes 0.3 to 0.8 of the time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.weights import Weights

CACHE = 2**19
"""Bytes to work on at once on a CPU: half of a usual second-level cache."""


def obstacle(spec: TransformerSpec) -> str | None:
    """Why a model has no lean form; None if it has one.

    Example:
        >>> from papers.sharper.lean import obstacle
        >>> from helpers.nets.spec import TransformerSpec
        >>> obstacle(TransformerSpec(n=4, norm="none", bias=False, project=False))
        'it needs concatenated one-hot positions'
    """
    needs = {
        "two layers": spec.layers == 2,
        "one head": spec.heads == 1,
        "no layer norm": spec.norm == "none" and not spec.final_norm,
        "concatenated one-hot positions": (spec.positions, spec.join) == ("onehot", "concat"),
        "tokens that are bits": spec.vocabulary == 2,
        "one position that is read": spec.readout != "every",
        "one output": spec.outputs == 1,
        "a feedforward block in the first layer": spec.hiddens[0] > 0,
        "ReLU": spec.activation == "relu",
        "attention to all tokens": not spec.causal,
        "no biases in attention": not spec.bias,
        "no projection": not spec.project,
    }
    missing = [name for name, met in needs.items() if not met]
    return f"it needs {', '.join(missing)}" if missing else None


def forward(spec: TransformerSpec, weights: Weights, tokens: Tensor) -> Tensor:
    """Outputs ``(*, B)`` of :func:`helpers.nets.transformer.forward`, which checks its input.

    They can be differentiated once, by ``backward`` and not by torch.func.

    Raises:
        ValueError: a model that has no lean form; the message says why.

    Cost: about B P (P + 2) F multiplications for B inputs; B P F where the first layer reads
    positions only.

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> from helpers.nets import transformer
        >>> from papers.sharper import lean, samples
        >>> spec = samples.paper_spec(4, value_width=3, hidden=16)
        >>> generator = torch.Generator().manual_seed(0)
        >>> weights = transformer.initial_weights(spec, None, generator, dtype=torch.float64)
        >>> plain = transformer.forward(spec, weights, cube.bits(4))
        >>> torch.allclose(lean.forward(spec, weights, cube.bits(4)), plain)
        True
    """
    if why := obstacle(spec):
        raise ValueError(f"the lean form does not apply: {why}")
    P = spec.tokens
    bits = functional.pad(tokens.to(weights["embedding"].dtype), (0, P - spec.n))  # (*, B, P)
    lead = torch.broadcast_shapes(weights["embedding"].shape[:-2], bits.shape[:-2])
    bits = bits.expand(*lead, -1, -1)
    base, step = _base_and_step(spec, weights)
    given = torch.cat((base, step[..., None, :]), -2)  # (*, P + 1, D)
    values = given @ weights["layers.0.value"]
    M = torch.cat((values, step[..., None, :]), -2)  # what one unit of each feature adds
    if spec.positional:
        A = _scores(spec, weights, base[..., : spec.columns_of_positions]).softmax(-1)
        base = base + A @ values[..., :-1, :]
        M = M[..., -2:, :]
        features = torch.stack((bits @ A.mT, bits), -1)  # (*, B, P, 2)
    else:
        A = _bilinear(_scores(spec, weights, given), bits).softmax(-1)  # (*, B, P, P)
        features = torch.cat((A, A @ bits[..., None], bits[..., None]), -1)  # (*, B, P, P + 2)
    return _second_layer(spec, weights, base, M, features)


def fastest(spec: TransformerSpec) -> Callable[[Weights, Tensor], Tensor]:
    """``forward(weights, tokens)`` of a model: the lean form if it has one, else the plain one."""
    return functools.partial(transformer.forward if obstacle(spec) else forward, spec)


def _base_and_step(spec: TransformerSpec, weights: Weights) -> tuple[Tensor, Tensor]:
    """Tokens of bit 0, ``(*, P, D)``, and what bit 1 adds to one, ``(*, D)``."""
    zero, one = weights["embedding"].unbind(-2)
    lead = zero.shape[:-1]
    content = zero[..., None, :].expand(*lead, spec.n, -1)
    if spec.readout == "cls":
        cls = torch.zeros_like(zero) if spec.zero_cls else weights["cls"]
        content = torch.cat((content, cls[..., None, :]), -2)
    P = spec.tokens
    place = torch.eye(P, dtype=zero.dtype, device=zero.device).expand(*lead, -1, -1)
    step = functional.pad(one - zero, (spec.columns_of_positions, 0))
    return torch.cat((place, content), -1), step


def _scores(spec: TransformerSpec, weights: Weights, given: Tensor) -> Tensor:
    query, key = given @ weights["layers.0.query"], given @ weights["layers.0.key"]
    return spec.scale * query @ key.mT


def _bilinear(table: Tensor, bits: Tensor) -> Tensor:
    """Scores ``(*, B, P, P)`` from those of base and step, ``(*, P + 1, P + 1)``."""
    places, of_key = table[..., None, :-1, :-1], table[..., None, :-1, -1:]
    of_query, of_both = table[..., None, -1:, :-1], table[..., None, -1:, -1:]
    query, key = bits[..., :, None], bits[..., None, :]
    return torch.addcmul(torch.addcmul(places, key, of_key + query * of_both), query, of_query)


def _second_layer(
    spec: TransformerSpec, weights: Weights, base: Tensor, M: Tensor, features: Tensor
) -> Tensor:
    """The rest, from tokens ``base + features @ M`` before the first feedforward block."""
    written, offset = weights["layers.0.output"], weights["layers.0.output_bias"][..., None, :]
    merged = M @ weights["layers.0.hidden"]  # (*, K, F)
    still = base @ weights["layers.0.hidden"] + weights["layers.0.hidden_bias"][..., None, :]
    hidden = (features[..., -1, :] @ merged + still[..., -1:, :]).relu()  # of the token read
    read = features[..., -1, :] @ M + hidden @ written + base[..., -1:, :] + offset
    query = spec.scale * (read @ weights["layers.1.query"]) @ weights["layers.1.key"].mT
    rest = query @ base.mT + _dot(features, query @ M.mT)
    a, hidden = _attend(features, merged, still, query @ written.mT, rest)  # (*, B, P), (*, B, F)
    seen = a @ base + (a[..., None, :] @ features).squeeze(-2) @ M + hidden @ written + offset
    read = read + seen @ weights["layers.1.value"]
    if spec.hiddens[1]:
        bias = weights["layers.1.hidden_bias"][..., None, :]
        hidden = (read @ weights["layers.1.hidden"] + bias).relu()
        read = read + hidden @ weights["layers.1.output"]
        read = read + weights["layers.1.output_bias"][..., None, :]
    return (read @ weights["readout"]).squeeze(-1) + weights["readout_bias"]


def _dot(tokens: Tensor, direction: Tensor) -> Tensor:
    """``(*, B, P, K)`` against ``(*, B, K)``: ``(*, B, P)``."""
    return (tokens @ direction[..., None]).squeeze(-1)


def _attend(
    features: Tensor, merged: Tensor, still: Tensor, direction: Tensor, rest: Tensor
) -> tuple[Tensor, Tensor]:
    """Attention over hidden units that are never written out: of tokens, and what it sees.

    With ``f = relu(features @ merged + still)``: ``a = softmax(rest + f . direction)`` and
    ``a @ f``, for features ``(*, B, P, K)`` and direction ``(*, B, F)``.
    """
    lead = features.shape[:-3]
    stacked = (
        v.expand(*lead, *v.shape[v.ndim - own :]).reshape(-1, *v.shape[v.ndim - own :])
        for v, own in ((features, 3), (merged, 2), (still, 2), (direction, 2), (rest, 2))
    )
    a, seen = _Attend.apply(*stacked)
    return a.unflatten(0, lead) if lead else a[0], seen.unflatten(0, lead) if lead else seen[0]


def _parts(each: Tensor) -> Iterator[slice]:
    """Models to take at once: all on a GPU; on a CPU as many as stay in its cache, at least 1."""
    E, size = len(each), each[0].numel() * each.element_size()
    count = E if each.is_cuda else max(1, CACHE // max(size, 1))
    return (slice(start, min(start + count, E)) for start in range(0, E, count))


class _Attend(torch.autograd.Function):
    """:func:`_attend` for E models, shapes ``(E, ...)``; its gradient has no gradient.

    On a CPU some models after the others, so that their hidden units stay in the cache. The
    backward pass forms the gradient of the hidden units once, as a product of rank two.
    """

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, Tensor]:
        features, merged, still, direction, rest = given
        f = features.new_empty(*features.shape[:-1], merged.shape[-1])  # (E, B, P, F)
        a, seen = torch.empty_like(rest), torch.empty_like(direction)
        for e in _parts(f):
            torch.bmm(features[e].flatten(1, 2), merged[e], out=f[e].flatten(1, 2))
            f[e].add_(still[e, None]).relu_()
            torch.softmax(rest[e] + _dot(f[e], direction[e]), -1, out=a[e])
            torch.matmul(a[e, :, None], f[e], out=seen[e, :, None])
        ctx.save_for_backward(features, merged, direction, f, a)
        return a, seen

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_a: Tensor, d_seen: Tensor) -> tuple[Tensor, ...]:
        features, merged, direction, f, a = ctx.saved_tensors
        d_features, d_merged = torch.empty_like(features), torch.empty_like(merged)
        d_still = merged.new_empty(len(f), *f.shape[2:])
        d_direction, d_rest = torch.empty_like(direction), torch.empty_like(a)
        for e in _parts(f):
            of_a = d_a[e] + _dot(f[e], d_seen[e])
            d_rest[e] = a[e] * (of_a - (a[e] * of_a).sum(-1, keepdim=True))
            torch.matmul(d_rest[e, :, None], f[e], out=d_direction[e, :, None])
            left = torch.stack((d_rest[e], a[e]), -1)  # (., B, P, 2)
            d_f = left @ torch.stack((direction[e], d_seen[e]), -2)
            d_f = torch.ops.aten.threshold_backward(d_f, f[e], 0)
            flat = d_f.flatten(1, 2)
            torch.bmm(flat, merged[e].mT, out=d_features[e].flatten(1, 2))
            torch.bmm(features[e].flatten(1, 2).mT, flat, out=d_merged[e])
            torch.sum(d_f, 1, out=d_still[e])
        return d_features, d_merged, d_still, d_direction, d_rest
