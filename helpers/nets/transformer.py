"""One functional transformer encoder: every learned model of the five papers.

A model is a :class:`TransformerSpec` and a flat dict of weights. Each weight may have any leading
ensemble axes, so one call runs one model, or three hundred that train side by side. Row vectors
throughout: a layer maps a token x to ``x W``.

Weights, with P positions, D columns, F hidden units and A = heads * head width, per layer ``l``::

    embedding            (vocabulary, token width)      cls               (token width,)
    positions            (P, position width)
    layers.l.query       (D, A), also key and value     layers.l.query_bias       (A,), ...
    layers.l.project     (A, D)                         layers.l.project_bias     (D,)
    layers.l.hidden      (D, F)                         layers.l.hidden_bias      (F,)
    layers.l.output      (F, D)                         layers.l.output_bias      (D,)
    layers.l.norm1.gain  (D,), also norm2 and bias      norm.gain, norm.bias      (D,)
    readout              (D, outputs)                   readout_bias      (outputs,)
"""

from __future__ import annotations

import math
from typing import Literal, cast, overload

import torch
from torch import Tensor
from torch.nn import functional

from helpers.checks import require_choice
from helpers.nets import attention, lean
from helpers.nets.spec import ACTIVATIONS, TransformerSpec, shapes
from helpers.weights import Weights, check_weights, ensemble_of

FORMS = ("auto", "plain", "lean")


def initial_weights(
    spec: TransformerSpec,
    ensemble: int | None,
    generator: torch.Generator,
    *,
    centred: bool = False,
    position_std: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Weights:
    r"""Random weights, as PyTorch draws them for the same layers.

    Embeddings are standard normal; queries, keys and values uniform up to
    :math:`\sqrt{6/(\text{in} + 3 \cdot \text{in})}`, as of one stacked matrix; other matrices
    and biases uniform up to :math:`1/\sqrt{\text{in}}`, but for the biases of attention and the
    read-out, which are 0. Models are drawn one after the other: the first k of a larger ensemble
    are the ensemble of k.

    Args:
        spec: The model.
        ensemble: Number of models; None: one model, without that axis.
        generator: Source of randomness.
        centred: Take the mean token out of the embedding, so that the two tokens of a bit are
            opposite and as far apart as before.
        position_std: Standard deviation of learned positions.
        dtype: Of the weights.

    Returns:
        The weights of :func:`shapes`, each with one leading axis if ``ensemble`` is given.

    Raises:
        ValueError: no models, or a negative standard deviation.
    """
    if ensemble is not None:

        def draw() -> Weights:
            return initial_weights(
                spec, None, generator, centred=centred, position_std=position_std, dtype=dtype
            )

        return ensemble_of(ensemble, draw)
    if not 0 <= position_std < math.inf:
        raise ValueError(f"position_std must be finite and at least 0, got {position_std}")

    def uniform(shape: tuple[int, ...], top: float) -> Tensor:
        return (2 * torch.rand(shape, generator=generator, dtype=dtype) - 1) * top

    weights: Weights = {}
    fan_in = 1
    for name, shape in shapes(spec).items():
        part = name.rsplit(".", 1)[-1]
        if part in ("embedding", "cls", "positions"):
            std = position_std if part == "positions" else 1.0
            weights[name] = std * torch.randn(shape, generator=generator, dtype=dtype)
        elif part == "gain":
            weights[name] = torch.ones(shape, dtype=dtype)
        elif part in ("hidden_bias", "output_bias"):
            weights[name] = uniform(shape, 1 / math.sqrt(fan_in))
        elif len(shape) == 1:
            weights[name] = torch.zeros(shape, dtype=dtype)
        else:
            fan_in = shape[0]
            several = 4 if part in ("query", "key", "value") else 1
            weights[name] = uniform(shape, math.sqrt((6 if several == 4 else 1) / several / fan_in))
    if centred:
        weights["embedding"] -= weights["embedding"].mean(-2, keepdim=True)
    return weights


@overload
def forward(
    spec: TransformerSpec,
    weights: Weights,
    tokens: Tensor,
    *,
    lengths: Tensor | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    form: str = "auto",
    intermediates: Literal[False] = False,
) -> Tensor: ...
@overload
def forward(
    spec: TransformerSpec,
    weights: Weights,
    tokens: Tensor,
    *,
    lengths: Tensor | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    form: str = "auto",
    intermediates: Literal[True],
) -> tuple[Tensor, Weights]: ...
def forward(
    spec: TransformerSpec,
    weights: Weights,
    tokens: Tensor,
    *,
    lengths: Tensor | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    form: str = "auto",
    intermediates: bool = False,
) -> Tensor | tuple[Tensor, Weights]:
    r"""Run the transformer; a pure function of the weights.

    No work is done twice or for nothing: the last layer is computed for the token that is read
    only, without forming keys and values, and on bits the first layer's queries, keys and values
    are looked up. With no layer norm, one head and one-hot positions more can be merged, exactly:
    that is the form of :mod:`helpers.nets.lean`, which can be differentiated once, and not by
    torch.func.

    Args:
        spec: The model.
        weights: As :func:`shapes` says, each with any leading ensemble axes ``*``.
        tokens: Shape ``(*, B, n)`` or ``(B, n)``, integers from 0 to vocabulary - 1, or bool.
        lengths: Tokens of an input that count, from 1 to n, shape ``(*)`` of the weights; later
            ones are not attended to. None: all.
        dropout: Share of attention weights that is dropped, from 0 up to 1; the others grow.
        generator: Source of randomness of dropout.
        form: ``"plain"``, ``"lean"`` or the faster that applies, ``"auto"``.
        intermediates: Also return what happens inside.

    Returns:
        Outputs, shape ``(*, B)``, with one more axis n if every token is read, and one more if
        there are several outputs; dtype of the weights. With ``intermediates`` also a dict with,
        for each layer l: ``layers.l.scores``, ``layers.l.attention`` of shape
        ``(*, B, heads, rows, P)``, ``layers.l.norm1.input`` and ``norm2.input`` (what layer norm
        is given), ``layers.l.activations`` (hidden units), ``layers.l.stream`` (the layer's
        output), and ``stream`` (the first layer's input). In the last layer only the rows that
        are read exist.

    Raises:
        ValueError: weights or tokens of another shape, tokens outside the vocabulary, lengths or
            dropout out of range, or a form that does not apply.
        TypeError: tokens are floating.

    Cost: about B P D (4 D + 2 F + 2 P) multiplications a layer; B P (D + P) fewer D where the
    first layer reads bits, and 2 B P D per head for the attention of a token that is read alone.
    """
    _check(spec, weights, tokens, lengths, dropout)
    require_choice("form", form, FORMS)
    obstacle = _lean_obstacle(spec, lengths, dropout, intermediates)
    if form == "lean" and obstacle:
        raise ValueError(f"the lean form does not apply: {obstacle}")
    if form != "plain" and not obstacle:
        return lean.forward(spec, weights, tokens)
    seen: Weights = {}
    X = embed(spec, weights, tokens)  # (*, B, P, D)
    seen["stream"] = X
    hidden_keys = _hidden_keys(spec, X, lengths)

    def drop(kept: Tensor) -> Tensor:
        if not dropout:
            return kept
        drawn = torch.rand(kept.shape, generator=generator, device=kept.device)
        return kept * (drawn >= dropout) / (1 - dropout)

    bits = (
        functional.pad(tokens.to(X.dtype), (0, spec.tokens - spec.n))
        if spec.vocabulary == 2
        else None
    )
    for layer in range(spec.layers):
        rows = None
        if layer == spec.layers - 1 and spec.readout != "every":
            rows = _read_row(spec, lengths, X)
        X = _layer(spec, layer, weights, X, bits, rows, hidden_keys, drop, seen)
        bits = None
    if spec.final_norm:
        X = _norm(spec, "norm", weights, X)
    output = attention.linear(
        X, weights["readout"], weights["readout_bias"]
    )  # (*, B, rows, outputs)
    output = output.squeeze(-2) if spec.readout != "every" else output
    output = output.squeeze(-1) if spec.outputs == 1 else output
    return (output, seen) if intermediates else output


def embed(spec: TransformerSpec, weights: Weights, tokens: Tensor) -> Tensor:
    """The residual stream that the first layer is given, shape ``(*, B, P, D)``."""
    table = weights["embedding"]
    if spec.vocabulary == 2:
        step = table[..., 1, :] - table[..., 0, :]
        X = tokens.to(table.dtype)[..., None] * step[..., None, None, :]
        X = X + table[..., None, None, 0, :]
    else:
        seen = functional.one_hot(tokens.long(), spec.vocabulary).to(table.dtype)
        X = attention.linear(seen, table)
    if spec.readout == "cls":
        cls = X.new_zeros(spec.token_width) if spec.zero_cls else weights["cls"]
        X = torch.cat((X, cls[..., None, None, :].expand(*X.shape[:-2], 1, -1)), -2)
    place = position_table(spec, weights)[..., None, :, :]  # (*, 1, P, columns)
    if spec.join == "add":
        return X + place
    return torch.cat((place.expand(*X.shape[:-1], -1), X), -1)


def position_table(spec: TransformerSpec, weights: Weights) -> Tensor:
    """Encodings of the positions, shape ``(P, columns)``, with leading axes if they are learned."""
    if spec.positions == "learned":
        return weights["positions"]
    like = weights["embedding"]
    P, columns = spec.tokens, spec.columns_of_positions
    if spec.positions == "onehot":
        return torch.eye(P, columns, dtype=like.dtype, device=like.device)
    rates = torch.arange(0, columns, 2, dtype=torch.float64) / columns
    angles = torch.arange(P, dtype=torch.float64)[:, None] * 10000.0**-rates
    waves = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[:, :columns]
    return waves.to(like)


def encoder_weights(encoder: torch.nn.TransformerEncoder) -> Weights:
    """The layers' weights of PyTorch's encoder under the names of this module, detached.

    Embedding, positions and read-out are not part of that encoder and not of the result.
    """
    weights: Weights = {}
    for i, layer in enumerate(cast("list[torch.nn.TransformerEncoderLayer]", encoder.layers)):
        heads = layer.self_attn
        names = ("query", "key", "value")
        matrices = heads.in_proj_weight.chunk(3)
        block = dict(zip(names, (m.mT for m in matrices), strict=True))
        block["project"] = heads.out_proj.weight.mT
        if heads.in_proj_bias is not None:
            biases = (f"{name}_bias" for name in names)
            block |= dict(zip(biases, heads.in_proj_bias.chunk(3), strict=True))
            block["project_bias"] = heads.out_proj.bias
        block |= {"hidden": layer.linear1.weight.mT, "hidden_bias": layer.linear1.bias}
        block |= {"output": layer.linear2.weight.mT, "output_bias": layer.linear2.bias}
        for norm in ("norm1", "norm2"):
            block |= {f"{norm}.gain": getattr(layer, norm).weight}
            block |= {f"{norm}.bias": getattr(layer, norm).bias}
        weights |= {f"layers.{i}.{name}": v.detach().clone() for name, v in block.items()}
    if isinstance(encoder.norm, torch.nn.LayerNorm):
        weights |= {"norm.gain": encoder.norm.weight.detach().clone()}
        weights |= {"norm.bias": encoder.norm.bias.detach().clone()}
    return weights


def _layer(
    spec: TransformerSpec,
    layer: int,
    weights: Weights,
    X: Tensor,
    bits: Tensor | None,
    rows: Tensor | None,
    hidden_keys: Tensor | None,
    drop: attention.Keep,
    seen: Weights,
) -> Tensor:
    """One layer; ``rows`` is the position whose output is wanted, ``(*, 1)``; None: all."""
    name = f"layers.{layer}"
    block: Weights = {
        k.removeprefix(f"{name}."): v for k, v in weights.items() if k.startswith(name)
    }

    def normed(norm: str, Y: Tensor) -> Tensor:
        seen[f"{name}.{norm}.input"] = Y
        return _norm(spec, f"{name}.{norm}", weights, Y)

    def keep(scores: Tensor) -> Tensor:
        """Attention from scores, ``(*, B, heads, rows, P)``."""
        mask = _mask(spec, rows, hidden_keys, scores)
        scores = scores if mask is None else scores.masked_fill(mask, -math.inf)
        kept = scores.softmax(-1)
        seen[f"{name}.scores"], seen[f"{name}.attention"] = scores, kept
        return drop(kept)

    pre, post = spec.norm == "pre", spec.norm == "post"
    keys = normed("norm1", X) if pre else X
    reads = slice(spec.columns_of_positions if spec.positional and layer == 0 else None)
    if rows is not None:
        stream, queries = _take(X, rows), _take(keys, rows)
        mixed = attention.of_one(spec, block, queries, keys, reads, keep)
    elif bits is not None:
        pair = _two_tokens(spec, weights)
        stream, mixed = X, attention.of_bits(spec, block, pair, bits, reads, keep)
    else:
        stream, mixed = X, attention.of_all(spec, block, keys, reads, keep)
    stream = stream + mixed
    stream = normed("norm1", stream) if post else stream
    if spec.hiddens[layer]:
        given = normed("norm2", stream) if pre else stream
        active = ACTIVATIONS[spec.activation](
            attention.linear(given, block["hidden"], block["hidden_bias"])
        )
        seen[f"{name}.activations"] = active
        stream = stream + attention.linear(active, block["output"], block["output_bias"])
        stream = normed("norm2", stream) if post else stream
    seen[f"{name}.stream"] = stream
    return stream


def _two_tokens(spec: TransformerSpec, weights: Weights) -> tuple[Tensor, Tensor]:
    """What the first attention is given at each position for bit 0, and what bit 1 adds."""
    both = torch.tensor([[0], [1]], device=weights["embedding"].device).expand(2, spec.n)
    given = embed(spec, weights, both)  # (*, 2, P, D)
    if spec.norm == "pre":
        given = _norm(spec, "layers.0.norm1", weights, given)
    zero, one = given.unbind(-3)
    return zero, one - zero


def _mask(
    spec: TransformerSpec, rows: Tensor | None, hidden_keys: Tensor | None, scores: Tensor
) -> Tensor | None:
    """Where attention is not allowed; broadcasts with the scores."""
    if not spec.causal:
        return hidden_keys
    at = torch.arange(scores.shape[-1], device=scores.device)
    later = (at > (at if rows is None else rows)[..., None])[..., None, None, :, :]
    return later if hidden_keys is None else hidden_keys | later


def _norm(spec: TransformerSpec, name: str, weights: Weights, X: Tensor) -> Tensor:
    Y = functional.layer_norm(X, (spec.width,), eps=spec.norm_eps)
    gain, bias = weights[f"{name}.gain"], weights[f"{name}.bias"]
    return torch.addcmul(bias[..., None, None, :], Y, gain[..., None, None, :])


def _hidden_keys(spec: TransformerSpec, X: Tensor, lengths: Tensor | None) -> Tensor | None:
    """Positions that no token may attend to, ``(*, 1, 1, 1, P)``."""
    if lengths is None:
        return None
    at = torch.arange(spec.tokens, device=X.device)
    return ((at >= lengths[..., None]) & (at < spec.n))[..., None, None, None, :]


def _read_row(spec: TransformerSpec, lengths: Tensor | None, X: Tensor) -> Tensor:
    """The position that is read, shape ``(1,)`` or ``(*, 1)``."""
    if spec.readout == "cls" or lengths is None:
        return torch.tensor([spec.tokens - 1], device=X.device)
    return (lengths - 1)[..., None]


def _take(X: Tensor, rows: Tensor) -> Tensor:
    """The rows of ``(*, B, P, D)`` at positions ``(1,)`` or ``(*, 1)``: ``(*, B, 1, D)``."""
    if rows.ndim == 1:
        return X.index_select(-2, rows)
    at = rows[..., None, :, None].expand(*X.shape[:-2], 1, X.shape[-1])
    return X.gather(-2, at)


def _lean_obstacle(
    spec: TransformerSpec, lengths: Tensor | None, dropout: float, intermediates: bool
) -> str | None:
    if lengths is not None or dropout or intermediates:
        return "lengths, dropout and intermediates need the plain form"
    if torch._C._are_functorch_transforms_active():
        return "the transforms of torch.func need the plain form"
    return lean.obstacle(spec)


def _check(
    spec: TransformerSpec,
    weights: Weights,
    tokens: Tensor,
    lengths: Tensor | None,
    dropout: float,
) -> None:
    check_weights(weights, shapes(spec))
    if tokens.is_floating_point() or tokens.is_complex():
        raise TypeError(f"tokens must be integer or bool, got {tokens.dtype}")
    if tokens.ndim < 2 or tokens.shape[-1] != spec.n:
        found = tuple(tokens.shape)
        raise ValueError(f"expected tokens of shape (..., B, {spec.n}), got {found}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    if torch._C._functorch.is_functorch_wrapped_tensor(tokens):  # vmap lets no value be read
        return
    if tokens.numel() and (int(tokens.min()) < 0 or int(tokens.max()) >= spec.vocabulary):
        odd_token = tokens[(tokens < 0) | (tokens >= spec.vocabulary)][0].item()
        raise ValueError(f"tokens run from 0 to {spec.vocabulary - 1}, got {odd_token}")
    if lengths is not None and not ((lengths >= 1) & (lengths <= spec.n)).all():
        raise ValueError(f"lengths run from 1 to {spec.n}, got {lengths.tolist()}")
