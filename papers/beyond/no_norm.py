r"""PARITY at every length by two attention layers without layer norm; how much noise it tolerates.

A softmax picks the position whose number is the number of ones, and reads the sign there. That idea
is one of Kozachinskiy and Steifer (2025), and two layers whose encodings depend on the length are
due to Chiang and Cholak (2022); the network is this book's. Positions are numbered from 0, and an
end symbol stands at position n behind the n bits. The shapes are those of
:mod:`papers.sensitive.parity`, but for a third embedding, that of the end symbol.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from helpers.checks import (
    require_bits,
    require_choice,
    require_positive,
    require_scale,
    require_whole,
    validated,
)
from helpers.nets.attention import linear
from helpers.weights import Weights
from papers.sensitive.isolation import parity_sharpness
from papers.sensitive.parity import PostNormSpec

CONSTANT, BIT, END, LOG, SIGN, PLACE, DIFFERENCE, DISTANCE, OUT = range(9)
"""Columns at position x, with k ones in the input: 1, the bit, 1 at the end symbol, log(x + shift),
(-1)^x, x + 1, the difference d_x and minus its size (both written by the first layer), the answer.
All others stay empty."""
SHIFT = 1 / 8
"""Added to x in the weight of the end symbol; below 1/2, so that the nearest position is k."""
STRENGTH = 32.0
"""Factor of the scores of the second layer."""
GROWTH = ("encodings", "weights", "nothing")


class Crossing(NamedTuple):
    """Where the sharpness passes a level.

    Attributes:
        length: Bits, between two lengths in the logarithm; nan if nowhere.
        curve: Pairs of a length and the sharpness there.
    """

    length: float
    curve: list[tuple[int, float]]


@validated
def differences(n: int, shift: float = SHIFT) -> Tensor:
    r"""What the first layer writes at position x if there are k ones.

    .. math:: d_x = \frac{x - k + \text{shift}}{n + k + x + \text{shift}}

    Args:
        n: Bits, at least 1.
        shift: Positive.

    Returns:
        Shape ``(n + 1, n + 1)``, float64: row k, column x.
    """
    require_positive(n=n)
    require_scale(shift=shift)
    at = torch.arange(n + 1, dtype=torch.float64)
    k, x = at[:, None], at
    return (x - k + shift) / (n + k + x + shift)


@validated
def least_gap(n: int, shift: float = SHIFT) -> float:
    r"""Least :math:`(n + 1)(|d_x| - |d_k|) / |x - k|` over all k and all x but k.

    Args:
        n: Bits, at least 1.
        shift: Positive.
    """
    size = differences(n, shift).abs()
    at = torch.arange(n + 1, dtype=torch.float64)
    away = (at[:, None] - at).abs()
    gaps = (n + 1) * (size - size.diagonal()[:, None]) / away
    return gaps[away > 0].min().item()


@validated
def margin(strength: float = STRENGTH) -> float:
    r"""What the proof guarantees: :math:`(1 - \eta)/(1 + \eta)`, :math:`\eta = 2/(e^{s/4} - 1)`.

    Args:
        strength: s, positive.
    """
    require_scale(strength=strength)
    rest = 2 / math.expm1(strength / 4)
    return (1 - rest) / (1 + rest)


@validated
def parity_without_norm(
    n: int, growth: str = "encodings", strength: float = STRENGTH
) -> tuple[PostNormSpec, Weights]:
    r"""A transformer of two layers and one head without layer norm that computes PARITY.

    - First attention, at position x: a zero has weight 1, a one 2, the end symbol x + 1/8. A one
      has the value -1/2 and the end symbol 1, which gives :func:`differences`.
    - First block: two units write minus the size of the difference.
    - Second attention, at the end symbol: the scores are these sizes times ``strength`` and times
      the end symbol's PLACE, n + 1. The value is the sign of the position.

    Args:
        n: Bits, at least 1.
        growth: What grows with n: ``"encodings"``: PLACE is x + 1, and no weight depends on n;
            ``"weights"``: PLACE is 1, and a query of the second layer has the factor n + 1;
            ``"nothing"``: PLACE is x + 1 but at most 9.
        strength: Positive.

    Returns:
        A spec and float64 weights for :func:`forward`. The output lies between
        :func:`margin` and 1 for an even number of ones, and between -1 and minus that for an odd
        one, unless nothing grows.

    Raises:
        ValueError: a number out of range, or an unknown growth.
    """
    require_positive(n=n)
    require_scale(strength=strength)
    require_choice("growth", growth, GROWTH)
    spec = PostNormSpec(n)
    D, F = spec.width, spec.hidden
    weights: Weights = {}

    def zeros(*shape: int) -> Tensor:
        return torch.zeros(shape, dtype=torch.float64)

    x = torch.arange(n + 1, dtype=torch.float64)
    place = {"encodings": x + 1, "weights": x**0, "nothing": (x + 1).clamp(max=9)}[growth]
    weights["embedding"], weights["positions"] = zeros(3, D), zeros(n + 1, D)
    weights["embedding"][:, CONSTANT] = 1
    weights["embedding"][1, BIT] = weights["embedding"][2, END] = 1
    for column, values in {LOG: (x + SHIFT).log(), SIGN: 1 - 2 * (x % 2), PLACE: place}.items():
        weights["positions"][:, column] = values
    for layer in range(2):
        name = f"layers.{layer}"
        weights |= {f"{name}.{part}": zeros(D, D) for part in ("query", "key", "value")}
        weights |= {f"{name}.hidden": zeros(D, F), f"{name}.hidden_bias": zeros(F)}
        weights |= {f"{name}.output": zeros(F, D), f"{name}.output_bias": zeros(D)}
    weights["readout"] = zeros(D)

    weights["layers.0.query"][CONSTANT, 0] = math.log(2)
    weights["layers.0.query"][LOG, 1] = 1
    weights["layers.0.key"][BIT, 0] = weights["layers.0.key"][END, 1] = 1
    weights["layers.0.value"][END, DIFFERENCE] = 1
    weights["layers.0.value"][BIT, DIFFERENCE] = -1 / 2
    for unit, side in enumerate((1, -1)):
        weights["layers.0.hidden"][DIFFERENCE, unit] = side
        weights["layers.0.output"][unit, DISTANCE] = -1
    factor = n + 1 if growth == "weights" else 1
    weights["layers.1.query"][PLACE, 0] = math.sqrt(strength) * factor
    weights["layers.1.key"][DISTANCE, 0] = math.sqrt(strength)
    weights["layers.1.value"][SIGN, OUT] = 1
    weights["readout"][OUT] = 1
    return spec, weights


def forward(spec: PostNormSpec, weights: Weights, bits: Tensor) -> Tensor:
    """Outputs of a network of these shapes, read at the end symbol; no layer norm anywhere.

    Args:
        spec: Says how many bits there are.
        weights: As of :func:`parity_without_norm`, each with any leading ensemble axes ``*``.
        bits: Shape ``(*, B, n)`` or ``(B, n)``, in {0, 1}.

    Returns:
        Shape ``(*, B)``.

    Raises:
        ValueError: bits of another length, or entries other than 0 and 1.
        TypeError: bits are floating.
    """
    require_whole(bits=bits)
    if bits.ndim < 2 or bits.shape[-1] != spec.n:
        raise ValueError(f"expected bits of shape (..., B, {spec.n}), got {tuple(bits.shape)}")
    require_bits(bits)
    tokens = torch.cat((bits.long(), torch.full_like(bits[..., :1], 2, dtype=torch.int64)), -1)
    table = weights["embedding"]
    X = linear(torch.nn.functional.one_hot(tokens, 3).to(table), table)
    X = X + weights["positions"][..., None, :, :]
    for layer in range(2):
        query, key, value, hidden, hidden_bias, output, output_bias = (
            weights[f"layers.{layer}.{part}"]
            for part in ("query", "key", "value", "hidden", "hidden_bias", "output", "output_bias")
        )
        rows = X[..., -1:, :] if layer else X
        attention = (linear(rows, query @ key.mT) @ X.mT).softmax(-1)
        Z = rows + linear(attention @ X, value)
        active = (linear(Z, hidden) + hidden_bias[..., None, None, :]).relu()
        X = Z + linear(active, output) + output_bias[..., None, None, :]
    return (X[..., -1, :] * weights["readout"][..., None, :]).sum(-1)


def crossing(
    network: Callable[[PostNormSpec, Weights, Tensor], Tensor],
    build: Callable[[int], tuple[PostNormSpec, Weights]],
    rho: float,
    lengths: Sequence[int],
    draws: int,
    generator: Generator,
    level: float = 0.5,
) -> Crossing:
    """Follow the average direction sharpness along the lengths until it has passed a level twice.

    Args:
        network: Outputs of the networks.
        build: The network of a length, which computes PARITY.
        rho: Length of the random steps.
        lengths: In increasing order.
        draws: Steps at each length, with two strings each.
        generator: Source of randomness.
        level: Positive.
    """
    curve: list[tuple[int, float]] = []
    for n in lengths:
        spec, weights = build(n)
        found = parity_sharpness(spec, weights, rho, draws, 2, generator, network=network)
        curve.append((n, found.mean.item()))
        if len(curve) > 1 and min(value for _, value in curve[-2:]) >= level:
            break
    i = next((i for i, (_, value) in enumerate(curve) if value >= level), 0)
    if not i:
        return Crossing(math.nan, curve)
    (before, low), (after, high) = curve[i - 1], curve[i]
    share = (level - low) / (high - low)
    return Crossing(before * (after / before) ** share, curve)
