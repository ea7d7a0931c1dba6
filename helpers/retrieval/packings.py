r"""How many points can be far apart: label vectors, balls, ellipsoids, sign vectors.

A packing is a set of points that are pairwise at least epsilon apart. Its log size is how much a
state can tell apart, see :mod:`helpers.retrieval.memory`. Logarithms are natural.

Source: Mousavi-Hosseini et al. (2025), Proposition 35, Lemma 41.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.checks import require_positive, require_scale

SUDAKOV = 2 * math.pi * math.log(2)
"""A constant that suffices in :func:`ellipsoid_log_packing`."""


def closest(points: Tensor) -> float:
    """Smallest distance between two rows of ``(M, D)``, M at least 2, from their differences."""
    if points.ndim != 2 or len(points) < 2:
        raise ValueError(f"expected at least 2 points (M, D), got {tuple(points.shape)}")
    return torch.nn.functional.pdist(points).min().item()


def normal_packing_rate(separation: float) -> float:
    r"""How many random label vectors are far apart: :math:`e^{\mathrm{rate} \cdot N}`.

    .. math:: \mathrm{rate} = \tfrac14 (a - 1 - \log a), \qquad a = c^2/2

    Of M independent standard normal vectors in N dimensions some two are closer than
    :math:`c \sqrt N` with probability at most :math:`\frac{M^2}2 e^{-2 \mathrm{rate} N}`: a squared
    distance is twice a chi-square, whose lower tail Chernoff's bound gives.

    Args:
        separation: c, in (0, sqrt 2); random vectors are about sqrt(2 N) apart.

    Source: the event E_1 in the proof of Mousavi-Hosseini et al. (2025), Proposition 35.
    """
    if not 0 < separation < math.sqrt(2):
        raise ValueError(f"separation must lie between 0 and sqrt(2), got {separation}")
    a = separation**2 / 2
    return (a - 1 - math.log(a)) / 4


def ball_log_packing(dim: int, epsilon: float) -> float:
    r"""Bound by volume on the log packing number of the unit ball, :math:`D \log(1 + 2/\epsilon)`.

    Source: Mousavi-Hosseini et al. (2025), Lemma 41, first half.
    """
    require_positive(dim=dim)
    require_scale(epsilon=epsilon)
    return dim * math.log1p(2 / epsilon)


def maurey_log_packing(dim: int, epsilon: float) -> float:
    r"""The other bound, as restored, constant 1: :math:`\epsilon^{-2} \log(1 + D \epsilon^2)`.

    True, with a constant, for the l1 ball. False for the Euclidean ball with any constant.

    Source: Mousavi-Hosseini et al. (2025), Lemma 41, second half; its formula is not legible.
    """
    require_positive(dim=dim)
    require_scale(epsilon=epsilon)
    return math.log1p(dim * epsilon**2) / epsilon**2


def ellipsoid_log_packing(frobenius: float, epsilon: float) -> float:
    r"""Bound on the log packing number of the image of the unit ball under a matrix U.

    .. math:: \log P \le 2 \pi \log 2\; \frac{\|U\|_F^2}{\epsilon^2}

    P points, pairwise at least :math:`\epsilon` apart, have
    :math:`\frac\epsilon{\sqrt 2} \operatorname{E} \max_{i \le P} g_i
    \le \operatorname{E} \max_x \langle g, x \rangle \le \|U\|_F` (Sudakov and Fernique), and the
    largest of P standard normal numbers is at least :math:`\sqrt{\log P/(\pi \log 2)}` on average.

    Args:
        frobenius: Frobenius norm of U.
        epsilon: Separation.
    """
    require_scale(frobenius=frobenius, epsilon=epsilon)
    return SUDAKOV * (frobenius / epsilon) ** 2


def code_log_size(n: int, weight: int) -> float:
    r"""Log of how many sign vectors have pairwise Hamming distance ``weight`` or more, at least.

    .. math:: n \bigl(\log 2 - H(\tfrac{\mathrm{weight} - 1}n)\bigr)
        \le n \log 2 - \log \sum_{k < \mathrm{weight}} \binom nk

    with the entropy :math:`H(p) = -p \log p - (1 - p) \log(1 - p)`.

    Args:
        n: Signs, at least 1.
        weight: From 1 to n/2 + 1.

    Source: Gilbert and Varshamov: whoever cannot be added is close to one that is there.
    """
    if n < 1 or not 1 <= weight <= n // 2 + 1:
        raise ValueError(f"weight runs from 1 to n/2 + 1 = {n // 2 + 1}, got {weight}")
    p = (weight - 1) / n
    entropy = -p * math.log(p) - (1 - p) * math.log1p(-p) if p > 0 else 0.0
    return n * (math.log(2) - entropy)
