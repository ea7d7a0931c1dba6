"""One functional transformer encoder; a module that has another model says why.

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
from typing import Literal, overload

import torch
from torch import Tensor
from torch.nn import functional

from helpers.checks import readable, require_amount, require_whole, validated
from helpers.nets import attention
from helpers.nets.norm import layer_norm
from helpers.nets.spec import ACTIVATIONS, TransformerSpec, shapes
from helpers.weights import Weights, check_weights, ensemble_of

Lookup = tuple[tuple[Tensor, Tensor], Tensor]


@validated
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

    Example:
        >>> import torch
        >>> from helpers.nets.spec import TransformerSpec
        >>> from helpers.nets.transformer import initial_weights
        >>> spec = TransformerSpec(n=10, width=16)
        >>> weights = initial_weights(spec, 3, torch.Generator().manual_seed(0))
        >>> weights["positions"].shape  # three models
        torch.Size([3, 10, 16])
    """
    if ensemble is not None:

        def draw() -> Weights:
            return initial_weights(
                spec, None, generator, centred=centred, position_std=position_std, dtype=dtype
            )

        return ensemble_of(ensemble, draw)
    require_amount(position_std=position_std)

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
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    intermediates: Literal[False] = False,
) -> Tensor: ...
@overload
def forward(
    spec: TransformerSpec,
    weights: Weights,
    tokens: Tensor,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    intermediates: Literal[True],
) -> tuple[Tensor, Weights]: ...
@validated
def forward(
    spec: TransformerSpec,
    weights: Weights,
    tokens: Tensor,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    intermediates: bool = False,
) -> Tensor | tuple[Tensor, Weights]:
    r"""Run the transformer; a pure function of the weights.

    No work is done twice or for nothing: the last layer is computed for the token that is read
    only, without forming keys and values, and on bits the first layer's queries, keys and values
    are looked up.

    Args:
        spec: The model.
        weights: As :func:`shapes` says, each with any leading ensemble axes ``*``.
        tokens: Shape ``(*, B, n)`` or ``(B, n)``, integers from 0 to vocabulary - 1, or bool.
        dropout: Share of attention weights that is dropped, from 0 up to 1; the others grow.
        generator: Source of randomness of dropout.
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
        ValueError: weights or tokens of another shape, tokens outside the vocabulary, or dropout
            out of range.
        TypeError: tokens are floating.

    Cost: about B P D (4 D + 2 F + 2 P) multiplications a layer; B P (D + P) fewer D where the
    first layer reads bits, and 2 B P D per head for the attention of a token that is read alone.

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> from helpers.nets.spec import TransformerSpec
        >>> from helpers.nets.transformer import forward, initial_weights
        >>> spec = TransformerSpec(n=4, width=16)
        >>> weights = initial_weights(spec, 3, torch.Generator().manual_seed(0))
        >>> forward(spec, weights, cube.bits(4)).shape  # three models on all strings
        torch.Size([3, 16])
    """
    _check(spec, weights, tokens, dropout)
    X = embed(spec, weights, tokens)  # (*, B, P, D)
    seen: Weights = {"stream": X} if intermediates else {}

    def drop(kept: Tensor) -> Tensor:
        drawn = torch.rand(kept.shape, generator=generator, device=kept.device)
        return kept * (drawn >= dropout) / (1 - dropout)

    blocks: list[Weights] = [{} for _ in range(spec.layers)]
    for name, weight in weights.items():
        if name.startswith("layers."):
            _, layer, part = name.split(".", 2)
            blocks[int(layer)][part] = weight
    for k, block in enumerate(blocks):
        last = k == spec.layers - 1 and spec.readout != "every"
        two = k == 0 and spec.vocabulary == 2 and not last
        lookup = _lookup(spec, weights, tokens) if two else None
        inside: Weights | None = {} if intermediates else None
        X = _layer(spec, k, block, X, lookup, last, drop if dropout else None, inside)
        seen |= {f"layers.{k}.{name}": v for name, v in (inside or {}).items()}
    if spec.final_norm:
        X = _norm(spec, "norm", weights, X)
    output = attention.linear(
        X, weights["readout"], weights["readout_bias"]
    )  # (*, B, rows, outputs)
    output = output.squeeze(-2) if spec.readout != "every" else output
    output = output.squeeze(-1) if spec.outputs == 1 else output
    return (output, seen) if intermediates else output


def embed(spec: TransformerSpec, weights: Weights, tokens: Tensor) -> Tensor:
    """The residual stream that the first layer is given, shape ``(*, B, P, D)``.

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> from helpers.nets.spec import TransformerSpec
        >>> from helpers.nets.transformer import embed, initial_weights
        >>> spec = TransformerSpec(n=4, width=16)
        >>> weights = initial_weights(spec, None, torch.Generator().manual_seed(0))
        >>> embed(spec, weights, cube.bits(4)).shape
        torch.Size([16, 4, 16])
    """
    table = weights["embedding"]
    place = position_table(spec, weights)  # (*, P, columns)
    if spec.vocabulary == 2:
        content = table[..., :1, :].expand(*table.shape[:-2], spec.n, -1)
        seen = functional.pad(tokens.to(table.dtype), (0, spec.tokens - spec.n))[..., None]
        step = (table[..., 1, :] - table[..., 0, :])[..., None, None, :]
    else:
        one_hot = functional.one_hot(tokens.long(), spec.vocabulary).to(table.dtype)
        content = attention.linear(one_hot, table)
        place = place[..., None, :, :]
    if spec.readout == "cls":
        cls = table.new_zeros(spec.token_width) if spec.zero_cls else weights["cls"]
        between = () if spec.vocabulary == 2 else (None,)
        cls = cls[(..., *between, None, slice(None))]
        content = torch.cat((content, cls.expand(*content.shape[:-2], 1, -1)), -2)
    if spec.join == "add":
        X = content + place
    else:
        lead = torch.broadcast_shapes(place.shape[:-2], content.shape[:-2])
        X = torch.cat((place.expand(*lead, -1, -1), content.expand(*lead, -1, -1)), -1)
    if spec.vocabulary != 2:
        return X
    step = functional.pad(step, (spec.width - spec.token_width, 0))
    return torch.addcmul(X[..., None, :, :], seen, step)


def position_table(spec: TransformerSpec, weights: Weights) -> Tensor:
    """Encodings of the positions, shape ``(P, columns)``, with leading axes if they are learned.

    Example:
        >>> import torch
        >>> from helpers.nets.spec import TransformerSpec
        >>> from helpers.nets.transformer import position_table
        >>> spec = TransformerSpec(n=3, width=4, positions="onehot")
        >>> position_table(spec, {"embedding": torch.zeros(2, 4)})
        tensor([[1., 0., 0., 0.],
                [0., 1., 0., 0.],
                [0., 0., 1., 0.]])
    """
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


def _layer(
    spec: TransformerSpec,
    layer: int,
    block: Weights,
    X: Tensor,
    lookup: Lookup | None,
    last: bool,
    drop: attention.Keep | None,
    inside: Weights | None,
) -> Tensor:
    """One layer's output, at the last position only if ``last``; adds to what is seen inside."""

    def see(**tensors: Tensor) -> None:
        if inside is not None:
            inside.update(tensors)

    masked = spec.causal and not last  # the last token may see them all

    def keep(scores: Tensor) -> Tensor:
        """Attention from scores, ``(*, B, heads, rows, P)``."""
        if masked:
            at = torch.arange(scores.shape[-1], device=scores.device)
            scores = scores.masked_fill(at > at[:, None], -math.inf)
        kept = scores.softmax(-1)
        see(scores=scores, attention=kept)
        return drop(kept) if drop else kept

    keys = X
    if spec.norm == "pre":
        see(**{"norm1.input": X})
        keys = _norm(spec, "norm1", block, X)
    reads = slice(spec.columns_of_positions if spec.positional and layer == 0 else None)
    if last:
        X, query = X[..., -1:, :], keys[..., -1:, :]
        mixed = attention.of_one(spec, block, query, keys, reads, keep)
    elif lookup is not None:
        mixed = attention.of_bits(spec, block, *lookup, reads, keep)
    else:
        mixed = attention.of_all(spec, block, keys, reads, keep)
    stream = X + mixed
    if spec.norm == "post":
        see(**{"norm1.input": stream})
        stream = _norm(spec, "norm1", block, stream)
    if "hidden" in block:
        given = stream
        if spec.norm == "pre":
            see(**{"norm2.input": stream})
            given = _norm(spec, "norm2", block, stream)
        hidden = attention.linear(given, block["hidden"], block["hidden_bias"])
        hidden = ACTIVATIONS[spec.activation](hidden)
        see(activations=hidden)
        stream = stream + attention.linear(hidden, block["output"], block["output_bias"])
        if spec.norm == "post":
            see(**{"norm2.input": stream})
            stream = _norm(spec, "norm2", block, stream)
    see(stream=stream)
    return stream


def _lookup(spec: TransformerSpec, weights: Weights, tokens: Tensor) -> Lookup:
    """What the first attention is given for bit 0, what bit 1 adds to it, and the bits."""
    both = torch.tensor([[0], [1]], device=weights["embedding"].device).expand(2, spec.n)
    given = embed(spec, weights, both)  # (*, 2, P, D)
    if spec.norm == "pre":
        given = _norm(spec, "layers.0.norm1", weights, given)
    zero, one = given.unbind(-3)
    bits = functional.pad(tokens.to(given.dtype), (0, spec.tokens - spec.n))
    return (zero, one - zero), bits


def _norm(spec: TransformerSpec, name: str, weights: Weights, X: Tensor) -> Tensor:
    """Layer norm of tokens ``(*, B, rows, D)`` with gain and bias ``(*, D)``."""
    gain, bias = (weights[f"{name}.{part}"][..., None, None, :] for part in ("gain", "bias"))
    return torch.addcmul(bias, layer_norm(X, spec.norm_eps), gain)


def _check(spec: TransformerSpec, weights: Weights, tokens: Tensor, dropout: float) -> None:
    check_weights(weights, shapes(spec))
    require_whole(tokens=tokens)
    if tokens.ndim < 2 or tokens.shape[-1] != spec.n:
        found = tuple(tokens.shape)
        raise ValueError(f"expected tokens of shape (..., B, {spec.n}), got {found}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    if not readable(tokens) or not tokens.numel():
        return
    if int(tokens.min()) < 0 or int(tokens.max()) >= spec.vocabulary:
        odd_token = tokens[(tokens < 0) | (tokens >= spec.vocabulary)][0].item()
        raise ValueError(f"tokens run from 0 to {spec.vocabulary - 1}, got {odd_token}")
