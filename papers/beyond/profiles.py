r"""How sensitive random networks are at each string: profiles, after Kover and others (2026).

The sensitivity of a string is the number of its bits whose flip changes the answer, and the profile
says how many strings have which sensitivity. It is exact here: by the kernel on the whole cube, and
by counts of ones where the answer depends on nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import require_finite, require_positive, validated
from helpers.cube import bits
from helpers.kernels.sensitivity import local_sensitivity
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.weights import Weights

MOST_BITS = 16
TOGETHER = 8
"""Networks that are evaluated at a time."""
HEADS = 2
END = 2
"""Token of the end symbol, behind those of a zero and a one."""


class Profiles(NamedTuple):
    """Of N functions.

    Attributes:
        average: Average sensitivity, ``(N,)``.
        insensitive: Share of the strings at which no flip changes the answer, ``(N,)``.
        single: Whether every string has sensitivity 1, as if one bit decides, ``(N,)``.
    """

    average: Tensor
    insensitive: Tensor
    single: Tensor


@validated
def model(n: int, layers: int, width: int = 16) -> TransformerSpec:
    """A transformer with layer norm after each block and no epsilon, read at an end symbol.

    Args:
        n: Bits, at least 1.
        layers: At least 1.
        width: Columns, an even number.
    """
    require_positive(n=n, layers=layers)
    return TransformerSpec(
        n + 1, width, layers=layers, heads=HEADS, hidden=2 * width, vocabulary=3, norm_eps=0.0
    )


def answers(spec: TransformerSpec, weights: Weights) -> Tensor:
    """Signs of an ensemble of networks on the whole cube, float64 ``(N, 2**n)``; 0 counts as -1.

    Args:
        spec: Of :func:`model`.
        weights: With one leading axis.

    Raises:
        ValueError: more than 16 bits, or an output that is not finite.
    """
    n = spec.n - 1
    if n > MOST_BITS:
        raise ValueError(f"the whole cube is for at most {MOST_BITS} bits, got n = {n}")
    strings = torch.cat((bits(n), torch.full((2**n, 1), END)), 1)
    count = len(weights["embedding"])
    with torch.no_grad():
        found = torch.cat(
            [
                transformer.forward(
                    spec, {k: w[e : e + TOGETHER] for k, w in weights.items()}, strings
                )
                for e in range(0, count, TOGETHER)
            ]
        )
    require_finite(outputs=found)
    return torch.where(found > 0, 1.0, -1.0).double()


@validated
def profiles(values: Tensor) -> Profiles:
    """Profiles of functions on the whole cube.

    Args:
        values: In {-1, 1}, shape ``(N, 2**n)``.
    """
    histograms = torch.stack([local_sensitivity(row).histogram for row in values]).double()
    return _of_shares(histograms / values.shape[-1], torch.arange(histograms.shape[-1]))


@validated
def counted_profiles(above: Tensor) -> Profiles:
    r"""Profiles of functions of the number of ones, at any number of bits.

    A string with t ones has sensitivity :math:`(n - t) [f(t) \ne f(t+1)] + t\, [f(t) \ne f(t-1)]`.

    Args:
        above: The answers at t = 0, ..., n, bool, shape ``(N, n + 1)``.

    Raises:
        ValueError: fewer than one bit.
    """
    n = above.shape[-1] - 1
    require_positive(n=n)
    t = torch.arange(n + 1, dtype=torch.float64)
    change = (above[:, 1:] != above[:, :-1]).double()
    pad = torch.nn.functional.pad
    sensitivity = (n - t) * pad(change, (0, 1)) + t * pad(change, (1, 0))
    share = torch.tensor([math.comb(n, k) / 2**n for k in range(n + 1)], dtype=torch.float64)
    return Profiles(
        (sensitivity * share).sum(1),
        ((sensitivity == 0) * share).sum(1),
        (sensitivity == 1).all(1),
    )


def _of_shares(shares: Tensor, sensitivity: Tensor) -> Profiles:
    return Profiles((shares * sensitivity).sum(1), shares[:, 0], shares[:, 1] == 1)
