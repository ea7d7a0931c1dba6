r"""PARITY written by hand: as two nested majority votes, and as a transformer with layer norm.

The votes are those of Hahn and Rofin (2024), Lemma 8. The inner vote is taken at a position i: are
more than half of the ones at or before i? The outer vote is taken among the positions that hold a
one. :func:`nested_majority` takes them on strings, :func:`parity_circuit` is their circuit.

:func:`parity_transformer` counts instead. Its weights belong to the transformer of the paper's
theory, :class:`PostNormSpec`: layer norm once a layer, behind the feedforward block, without gain
or bias; scores are not scaled, and heads add up without a projection. No setting of
:mod:`helpers.nets.transformer` is that, whose layers are PyTorch's and normalise after attention
too; layer norm itself is the same, :mod:`helpers.nets.norm`. Tokens are rows. With D columns, H
heads, F hidden units::

    embedding        (2, D)        positions             (n, D)        readout  (D,)
    layers.l.query   (H, D, D)     also key and value
    layers.l.hidden  (D, F)        layers.l.hidden_bias  (F,)
    layers.l.output  (F, D)        layers.l.output_bias  (D,)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, overload

import torch
from torch import Tensor

from helpers.checks import require_amount, require_bits, require_positive, require_whole, validated
from helpers.nets.attention import linear
from helpers.nets.norm import layer_norm
from helpers.weights import Weights, check_weights

HALF = 16
"""Channels of the PARITY transformer, by default; a token holds u and -u, so that its mean is 0."""
BIT, ONE, PLACE, SIGN, SHARE, SPIKE, STEP, OUT, TINY = range(9)
"""Channels of u at token i, with k ones in the input: b_i, 1, i/n, (-1)^i, k/n (written by the
first attention), the spike (by the first feedforward block), 1/n, the answer, 1/n^2. The seven
others stay empty."""
TIE = 0.2
"""Share of channel TINY in the answer, which decides for the string of zeros: it has no spike.

Layer norm's factors at two tokens differ by less than 2 times, so that it decides nowhere else."""


def inner_votes(strings: Tensor, *, strict: bool = True, inclusive: bool = True) -> Tensor:
    r"""At each position: are more than half of the ones at or before it?

    .. math:: g_i(x) = \Bigl[\, 2 \sum_{j \le i} x_j > \sum_j x_j \,\Bigr]

    Args:
        strings: Bits, shape ``(*batch, n)``, in {0, 1}.
        strict: False counts exactly half as a majority.
        inclusive: False counts only the ones before the position.

    Returns:
        Shape ``(*batch, n)``, bool; also at positions that hold a zero.

    Raises:
        ValueError: no axis of positions, or an entry other than 0 and 1.

    Cost: n additions a string. Source: Hahn and Rofin (2024), proof of Lemma 8.
    """
    ones = _bits(strings)
    seen = ones.cumsum(-1)
    return _majority(seen if inclusive else seen - ones, ones.sum(-1, keepdim=True), strict)


def nested_majority(
    strings: Tensor,
    *,
    inner_strict: bool = True,
    outer_strict: bool = True,
    inclusive: bool = True,
) -> Tensor:
    r"""Whether most of the ones have most of the ones at or before them: exactly if odd many.

    .. math:: 2 \sum_i x_i\, g_i(x) > \sum_i x_i

    Args:
        strings: Bits, shape ``(*batch, n)``, in {0, 1}; without a one the answer is False.
        inner_strict: False takes exactly half for a majority in the inner vote; then it is OR.
        outer_strict: The same for the outer vote; then it is constant.
        inclusive: False leaves the position itself out of the inner vote; then it is constant.

    Returns:
        Shape ``(*batch,)``, bool: PARITY, as long as all three options are True.

    Raises:
        ValueError: no axis of positions, or an entry other than 0 and 1.

    Cost: n additions a string. Source: Hahn and Rofin (2024), Lemma 8.
    """
    ones = _bits(strings)
    votes = inner_votes(ones, strict=inner_strict, inclusive=inclusive)
    return _majority((votes & ones.bool()).sum(-1), ones.sum(-1), outer_strict)


def run_circuit(layers: Sequence[Tensor], strings: Tensor) -> Tensor:
    r"""Last gate of a circuit of majority gates, which fire iff more than half of their wires do.

    Args:
        layers: Wire counts, int64. Layer l has shape ``(gates, nodes)``: a row is a gate; column 0
            is the constant 1, then come the inputs, then the gates of all earlier layers. An entry
            w means \|w\| wires from that node, negated on the way if w is negative.
        strings: Bits, shape ``(*batch, inputs)``, in {0, 1}.

    Returns:
        Shape ``(*batch,)``, bool.

    Raises:
        ValueError: a layer whose wires do not fit, or an entry other than 0 and 1.
    """
    ones = _bits(strings)
    signs = torch.cat((torch.ones_like(ones[..., :1]), 2 * ones - 1), -1).double()
    for wires in layers:
        if wires.shape[-1] != signs.shape[-1]:
            raise ValueError(f"expected (gates, {signs.shape[-1]}) wires, got {tuple(wires.shape)}")
        signs = torch.cat((signs, 2.0 * (signs @ wires.double().T > 0) - 1), -1)
    return signs[..., -1] > 0


@validated
def parity_circuit(n: int) -> tuple[Tensor, Tensor]:
    r"""The layers of a majority circuit with n + 1 gates for PARITY: Lemma 8, gate by gate.

    Inner gate i has i wires from x_i, one from each x_j before it, one from each negated x_j after
    it, and n - i zeros: of these 2n - 1 wires at least n carry a one iff x_i = 1 and g_i(x) holds.
    The outer gate has two wires from each inner gate, one from each negated x_j, and n - 1 ones.

    Args:
        n: Number of bits, at least 1.

    Returns:
        Two layers for :func:`run_circuit`, of n gates and one; 2n^2 + 3n - 1 wires, an odd number
        at every gate: no vote can tie.

    Raises:
        ValueError: n is less than 1.

    Source: Hahn and Rofin (2024), Fact 1, which names such circuits without building one.
    """
    require_positive(n=n)
    i = torch.arange(1, n + 1)
    before = (i[:, None] > i).long()
    inner = torch.cat(((i - n)[:, None], before - before.T + torch.diag(i)), 1)
    outer = torch.cat((torch.tensor([n - 1]), torch.full((n,), -1), torch.full((n,), 2)))
    return inner, outer[None]


@validated
@dataclass(frozen=True)
class PostNormSpec:
    """The transformer of the second paper's theory, apart from its weights.

    Attributes:
        n: Bits of an input, at least 1.
        width: D, columns of the residual stream.
        layers: L, at least 1.
        heads: H, heads a layer, at least 1.
        hidden: F, units of each feedforward block, at least 1.
        norm_eps: Added to the variance by layer norm, at least 0.

    Raises:
        ValueError: a number out of range, naming it.

    Source: Hahn and Rofin (2024), Section 2.
    """

    n: int
    width: int = 32
    layers: int = 2
    heads: int = 1
    hidden: int = 32
    norm_eps: float = 0.0

    def __post_init__(self) -> None:
        sizes = ("n", "width", "layers", "heads", "hidden")
        require_positive(**{name: getattr(self, name) for name in sizes})
        require_amount(norm_eps=self.norm_eps)


@cache
def shapes(spec: PostNormSpec) -> dict[str, tuple[int, ...]]:
    """Shape of every weight of one model, by name."""
    D, H, F = spec.width, spec.heads, spec.hidden
    found: dict[str, tuple[int, ...]] = {"embedding": (2, D), "positions": (spec.n, D)}
    for layer in range(spec.layers):
        block: dict[str, tuple[int, ...]] = dict.fromkeys(("query", "key", "value"), (H, D, D))
        block |= {"hidden": (D, F), "hidden_bias": (F,), "output": (F, D), "output_bias": (D,)}
        found |= {f"layers.{layer}.{name}": shape for name, shape in block.items()}
    return found | {"readout": (D,)}


@validated
def parity_transformer(n: int, half: int = HALF) -> tuple[PostNormSpec, Weights]:
    r"""A transformer that computes PARITY on n bits: 2 layers, 1 head, no epsilon.

    A token of 2 ``half`` columns, by default 32, is (u, -u). Both attentions are uniform, as
    queries and keys are zero.

    - The first attention averages the bits into channel SHARE, which becomes k/n.
    - The first feedforward block writes a spike of height 1/n into token k, and no other, with the
      sign of the parity:

      .. math:: (-1)^i \bigl[ r_1 - 2 r_0 + r_{-1} \bigr], \qquad
          r_s = \mathrm{relu}\Bigl( \frac{k - i + s}{n} - 2\, [\text{wrong parity of } i] \Bigr)

      once for even and once for odd i; a unit of the wrong kind is off, as its argument is at most
      -1.
    - The second attention averages the spike into channel OUT, about :math:`(-1)^k / n^2`.
    - The second feedforward block clears all other channels, with
      :math:`c - \mathrm{relu}(c) + \mathrm{relu}(-c) = 0`, and adds 0.2 of TINY to OUT.
    - The last layer norm makes that plus or minus the root of ``half``, however small it was, and
      the read-out :math:`\pm 1`.

    Args:
        n: Bits, at least 1.
        half: Channels of u, at least 9: those named in this module, the others empty.

    Returns:
        A spec and float64 weights. The output is +1 for an even number of ones and -1 for an odd
        one. Rounding moves the smallest number that counts by a relative :math:`O(n^2 \epsilon)`,
        at right angles to the answer, so that the error is :math:`O(\epsilon + (n^2 \epsilon)^2)`.

    Raises:
        ValueError: fewer than 9 channels, n is less than 1, or n is so large (above 2**20) that the
            spike drowns in rounding.

    Source: the chapter on brittle transformers. That layer norm without epsilon makes PARITY
    possible was shown by Chiang and Cholak (2022).
    """
    if not 1 <= n <= 2**20:
        raise ValueError(f"n must lie between 1 and {2**20}, got {n}")
    if half <= TINY:
        raise ValueError(f"half must be at least {TINY + 1}, got {half}")
    spec = PostNormSpec(n, width=2 * half)
    W = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes(spec).items()}

    def write(matrix: Tensor, source: int, channel: int, value: float) -> None:
        """Make row ``source`` write ``value`` into a channel, in both halves."""
        matrix[..., source, channel] += value
        matrix[..., source, half + channel] -= value

    i = torch.arange(1, n + 1, dtype=torch.float64)
    same = torch.ones_like(i)
    encoded = {ONE: same, PLACE: i / n, SIGN: 1 - 2 * (i % 2), STEP: same / n, TINY: same / n**2}
    for channel, values in encoded.items():
        W["positions"][:, channel] = values
        W["positions"][:, half + channel] = -values
    write(W["embedding"], 1, BIT, 1)
    write(W["layers.0.value"], BIT, SHARE, 1)
    write(W["layers.1.value"], SPIKE, OUT, 1)

    hidden, output = W["layers.0.hidden"], W["layers.0.output"]
    units = [(sign, s, c) for sign in (1, -1) for s, c in ((1, 1), (0, -2), (-1, 1))]
    for unit, (sign, s, c) in enumerate(units):
        for channel, value in {SHARE: 1, PLACE: -1, STEP: s, ONE: -1, SIGN: sign}.items():
            hidden[channel, unit] = value  # -2 [wrong parity of i] = sign (-1)^i - 1
        write(output, unit, SPIKE, sign * c)

    hidden, output = W["layers.1.hidden"], W["layers.1.output"]
    cleared = [channel for channel in range(9) if channel != OUT]
    for unit, (channel, side) in enumerate((c, side) for c in cleared for side in (1, -1)):
        hidden[channel, unit] = side
        write(output, unit, channel, -side)
        if channel == TINY:
            write(output, unit, OUT, TIE * side)
    W["readout"][OUT] = 1 / (2 * math.sqrt(half))
    W["readout"][half + OUT] = -W["readout"][OUT]
    return spec, W


@overload
def forward(
    spec: PostNormSpec,
    weights: Weights,
    bits: Tensor,
    *,
    every: bool = False,
    intermediates: Literal[False] = False,
) -> Tensor: ...
@overload
def forward(
    spec: PostNormSpec,
    weights: Weights,
    bits: Tensor,
    *,
    every: bool = False,
    intermediates: Literal[True],
) -> tuple[Tensor, Weights]: ...
def forward(
    spec: PostNormSpec,
    weights: Weights,
    bits: Tensor,
    *,
    every: bool = False,
    intermediates: bool = False,
) -> Tensor | tuple[Tensor, Weights]:
    r"""Run the transformer of the second paper's theory; a pure function of the weights.

    .. math::

        z_i = y_i + \sum_h \sum_j \hat a^h_{ij}\, y_j V_h, \qquad
        Y_i = z_i + \mathrm{relu}(z_i W + b)\, W' + b', \qquad
        y_i \leftarrow \frac{Y_i - \mathrm{mean}}{\sqrt{\mathrm{var} + \varepsilon}}

    with :math:`\hat a^h_i` the softmax over j of :math:`(y_i Q_h) \cdot (y_j K_h)`. The output is
    the last token's scalar product with the read-out.

    Args:
        spec: The model.
        weights: As :func:`shapes` says, each with any leading ensemble axes ``*``.
        bits: Shape ``(*, B, n)`` or ``(B, n)``, integers in {0, 1} or bool.
        every: Compute the last layer at all tokens, not only at the last, which is read.
        intermediates: Also return what happens inside.

    Returns:
        Outputs, shape ``(*, B)``; with ``intermediates`` also a dict with ``stream``, the first
        layer's input, and for each layer l ``layers.l.attention`` of shape ``(*, B, H, rows, n)``,
        ``layers.l.activations``, ``layers.l.norm.input`` (Y, what layer norm is given) and
        ``layers.l.stream``. Rows are the n tokens, in the last layer 1 unless ``every`` is true.
        Where all columns of Y are equal and there is no epsilon, the output is nan.

    Raises:
        ValueError: weights or bits of another shape, or entries other than 0 and 1.
        TypeError: bits are floating.

    Cost: about 2 B n D (H n + H D + F) multiplications a layer; for the last 2 B n D if it is
    computed at one token.
    Source: Hahn and Rofin (2024), Eqs. (1) to (5).
    """
    check_weights(weights, shapes(spec))
    require_whole(bits=bits)
    if bits.ndim < 2 or bits.shape[-1] != spec.n:
        raise ValueError(f"expected bits of shape (..., B, {spec.n}), got {tuple(bits.shape)}")
    table = weights["embedding"]
    step = (table[..., 1, :] - table[..., 0, :])[..., None, None, :]
    X = _bits(bits)[..., None].to(table) * step + table[..., None, None, 0, :]
    X = X + weights["positions"][..., None, :, :]  # (*, B, n, D)
    seen: Weights = {"stream": X}
    for layer in range(spec.layers):
        name = f"layers.{layer}"
        query, key, value, *mlp = (
            weights[f"{name}.{part}"]
            for part in ("query", "key", "value", "hidden", "hidden_bias", "output", "output_bias")
        )
        rows = X if every or layer < spec.layers - 1 else X[..., -1:, :]
        score = query @ key.mT  # (*, H, D, D)
        kept = [
            (linear(rows, score[..., h, :, :]) @ X.mT).softmax(-1)  # (*, B, rows, n)
            for h in range(spec.heads)
        ]
        mixed = (linear(a @ X, value[..., h, :, :]) for h, a in enumerate(kept))
        Z = sum(mixed, rows)
        hidden, hidden_bias, matrix, bias = mlp
        active = (linear(Z, hidden) + hidden_bias[..., None, None, :]).relu()
        Y = Z + linear(active, matrix) + bias[..., None, None, :]
        X = layer_norm(Y, spec.norm_eps)
        if intermediates:
            seen[f"{name}.attention"] = torch.stack(kept, -3)
            seen |= {f"{name}.activations": active, f"{name}.norm.input": Y, f"{name}.stream": X}
    output = (X[..., -1, :] * weights["readout"][..., None, :]).sum(-1)
    return (output, seen) if intermediates else output


def _majority(part: Tensor, whole: Tensor, strict: bool) -> Tensor:
    return 2 * part > whole if strict else 2 * part >= whole


def _bits(strings: Tensor) -> Tensor:
    if strings.ndim < 1:
        raise ValueError("expected bit strings of shape (*batch, n), got a scalar")
    require_bits(strings)
    return strings.long()
