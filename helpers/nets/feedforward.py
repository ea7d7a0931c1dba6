"""The feedforward block with the layer norms round it, one model after the other.

Stacked, each of its operations passes over the hidden units of all models, which no cache holds.
Here a model's block is taken whole, so that what one product leaves is near when the next one
begins. The numbers are those of the stacked form up to rounding, and so are gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from helpers.nets import fused
from helpers.nets.attention import linear
from helpers.nets.norm import layer_norm
from helpers.nets.spec import ACTIVATIONS, TransformerSpec
from helpers.weights import Weights

_NORMS = {"none": (), "pre": ("norm2",), "post": ("norm1", "norm2")}
WORTH = 2**17  # bytes of a model's hidden units from which calls of its own pay
_aten = torch.ops.aten
_ACTIVE: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "gelu": functional.gelu,
    "tanh": torch.tanh,
}
_SLOPE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "relu": lambda d, given: _aten.threshold_backward.grad_input(d, given, 0, grad_input=d),
    "gelu": _aten.gelu_backward,
    "tanh": lambda d, given: d * (1 - given.tanh().square()),
}


def block(
    spec: TransformerSpec,
    weights: Weights,
    stream: Tensor,
    inside: Weights | None = None,
) -> Tensor:
    """What a layer does after its attention.

    Args:
        spec: The model.
        weights: Of one layer, by their names in it, each with any leading axes ``*``.
        stream: The sum of the layer's input and what attention adds, shape ``(*, B, rows, D)``.
        inside: Takes up what happens inside, by name; all models are formed at once then.

    Returns:
        The layer's output, shape of ``stream``.

    Example:
        >>> import torch
        >>> from helpers.nets.feedforward import block
        >>> from helpers.nets.spec import TransformerSpec
        >>> from helpers.nets.transformer import initial_weights
        >>> spec = TransformerSpec(n=10, width=16, norm="none")
        >>> weights = initial_weights(spec, 3, torch.Generator().manual_seed(0))
        >>> first = {n.removeprefix("layers.0."): w for n, w in weights.items()}
        >>> block(spec, first, torch.zeros(3, 32, 10, 16)).shape  # 3 models, 32 strings
        torch.Size([3, 32, 10, 16])
    """
    if inside is None and _pays(spec, weights, stream):
        own = [weights[name] for name in _names(spec)]
        if not torch.is_grad_enabled():
            return _each(spec, stream, own)
        result: Tensor = _OneByOne.apply(spec, stream, *own)
        return result

    def normed(norm: str, Y: Tensor) -> Tensor:
        if inside is not None:
            inside[f"{norm}.input"] = Y
        return affine(Y, weights[f"{norm}.gain"], weights[f"{norm}.bias"], spec.norm_eps)

    stream = normed("norm1", stream) if spec.norm == "post" else stream
    if "hidden" not in weights:
        return stream
    given = normed("norm2", stream) if spec.norm == "pre" else stream
    active = ACTIVATIONS[spec.activation](linear(given, weights["hidden"], weights["hidden_bias"]))
    if inside is not None:
        inside["activations"] = active
    stream = stream + linear(active, weights["output"], weights["output_bias"])
    return normed("norm2", stream) if spec.norm == "post" else stream


def affine(Y: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Layer norm of tokens ``(*, B, rows, D)`` with gain and bias ``(*, D)``.

    Example:
        >>> import torch
        >>> from helpers.nets.feedforward import affine
        >>> gain, bias = torch.tensor([2.0, 2.0]), torch.tensor([1.0, 0.0])
        >>> affine(torch.tensor([[[3.0, 5.0]]]), gain, bias, 0.0)
        tensor([[[-1.,  2.]]])
    """
    return torch.addcmul(bias[..., None, None, :], layer_norm(Y, eps), gain[..., None, None, :])


def _names(spec: TransformerSpec) -> list[str]:
    norms = [f"{norm}.{part}" for norm in _NORMS[spec.norm] for part in ("gain", "bias")]
    return ["hidden", "hidden_bias", "output", "output_bias", *norms]


def _pays(spec: TransformerSpec, weights: Weights, stream: Tensor) -> bool:
    """Whether it is as many models as weights, better taken one after the other."""
    if "hidden" not in weights or not fused.applies(stream, 4):
        return False
    for name in _names(spec):
        matrix = name in ("hidden", "output")
        if weights[name].ndim != 2 + matrix or len(weights[name]) != len(stream):
            return False
    hidden = weights["hidden"]
    return stream[0, ..., 0].numel() * hidden.shape[-1] * hidden.element_size() >= WORTH


class _OneByOne(torch.autograd.Function):
    """:func:`block` for E models, shapes ``(E, ...)``."""

    @staticmethod
    def forward(ctx: Any, spec: TransformerSpec, stream: Tensor, *weights: Tensor) -> Tensor:
        kept: list[Tensor] = []
        result = _each(spec, stream, weights, kept)
        ctx.spec, ctx.models = spec, len(stream)
        ctx.save_for_backward(stream, *weights, *kept)
        return result

    @staticmethod
    def backward(ctx: Any, d_result: Tensor) -> tuple[Any, ...]:
        names = _names(ctx.spec)
        stream, *saved = ctx.saved_tensors
        weights, kept = saved[: len(names)], saved[len(names) :]
        if torch.is_grad_enabled():

            def plain(stream: Tensor, *weights: Tensor) -> Tensor:
                return block(ctx.spec, dict(zip(names, weights, strict=True)), stream, {})

            return None, *fused.again(plain, (stream, *weights), d_result)
        d_stream = stream.new_empty(stream.shape)
        slopes = [w.new_empty(w.shape) for w in weights]
        each = len(kept) // ctx.models
        for e, S in enumerate(stream.flatten(1, 2)):
            own, into = (
                dict(zip(names, (t[e] for t in of), strict=True)) for of in (weights, slopes)
            )
            seen = kept[each * e : each * (e + 1)]
            d = _back(ctx.spec, own, S, seen, d_result[e].flatten(0, 1), into)
            d_stream[e].copy_(d.view_as(d_stream[e]))
        return None, d_stream, *slopes


def _each(
    spec: TransformerSpec,
    stream: Tensor,
    weights: Sequence[Tensor],
    kept: list[Tensor] | None = None,
) -> Tensor:
    """One model after the other; what their gradients need is put to ``kept``."""
    result = stream.new_empty(stream.shape)
    for e, S in enumerate(stream.flatten(1, 2)):
        own = dict(zip(_names(spec), (w[e] for w in weights), strict=True))
        inside = _run(spec, own, S, result[e].flatten(0, 1))
        if kept is not None:
            kept += inside
    return result


def _run(
    spec: TransformerSpec, own: Mapping[str, Tensor], S: Tensor, result: Tensor
) -> Sequence[Tensor]:
    """One model's block of rows ``(N, D)``, written to ``result``; what its gradient needs."""

    def normed(norm: str, Y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gain, bias = own[f"{norm}.gain"], own[f"{norm}.bias"]
        found: tuple[Tensor, Tensor, Tensor] = torch.native_layer_norm(
            Y, Y.shape[-1:], gain, bias, spec.norm_eps
        )
        return found

    norms: list[Tensor] = []
    given = S
    if spec.norm != "none":
        given, *norms = normed("norm1" if spec.norm == "post" else "norm2", S)
    before = torch.addmm(own["hidden_bias"], given, own["hidden"])
    active = _ACTIVE[spec.activation](before)
    if spec.norm != "post":
        torch.addmm(S, active, own["output"], out=result).add_(own["output_bias"])
        return given, before, active, *norms
    Z = torch.addmm(given, active, own["output"]).add_(own["output_bias"])
    last, *more = normed("norm2", Z)
    result.copy_(last)
    return given, before, active, *norms, Z, *more


def _back(
    spec: TransformerSpec,
    own: Mapping[str, Tensor],
    S: Tensor,
    kept: Sequence[Tensor],
    d: Tensor,
    slopes: Mapping[str, Tensor],
) -> Tensor:
    """Gradient of S from that of the result; those of the weights are written to ``slopes``."""

    def through(norm: str, d: Tensor, Y: Tensor, mean: Tensor, inverse: Tensor) -> Tensor:
        gain, bias = own[f"{norm}.gain"], own[f"{norm}.bias"]
        d, of_gain, of_bias = _aten.native_layer_norm_backward(
            d, Y, Y.shape[-1:], mean, inverse, gain, bias, (True, True, True)
        )
        slopes[f"{norm}.gain"].copy_(of_gain)
        slopes[f"{norm}.bias"].copy_(of_bias)
        return d

    given, before, active, *norms = kept
    if spec.norm == "post":
        d = through("norm2", d, *norms[2:])
    torch.mm(active.mT, d, out=slopes["output"])
    torch.sum(d, 0, out=slopes["output_bias"])
    d_hidden = _SLOPE[spec.activation](d @ own["output"].mT, before)
    torch.mm(given.mT, d_hidden, out=slopes["hidden"])
    torch.sum(d_hidden, 0, out=slopes["hidden_bias"])
    if spec.norm == "pre":
        return through("norm2", d_hidden @ own["hidden"].mT, S, *norms).add_(d)
    d = torch.addmm(d, d_hidden, own["hidden"].mT)
    return through("norm1", d, S, *norms[:2]) if spec.norm == "post" else d
