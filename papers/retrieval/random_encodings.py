r"""Encodings of positions that are far from each other: how likely random signs are to be so.

Assumption 3 of Mousavi-Hosseini et al. (2025) asks for N vectors of length 1 with
:math:`|\langle \omega_i, \omega_j \rangle| \le \frac12` for all :math:`i \ne j`. Rows of random
signs over :math:`\sqrt{d_e}` satisfy it or not; here is the chance, from both sides. Probabilities
are of signs drawn once, as in the paper. Logarithms are natural.
"""

from __future__ import annotations

import math

import torch
from scipy import stats
from torch import Generator, Tensor

from helpers.checks import require_finite, require_positive, require_probability, validated
from papers.retrieval.task import coherence, encodings

LIMIT = 0.5
"""Largest inner product that Assumption 3 allows."""
ROUNDING = 1e-6  # of sums of float32 signs; inner products are multiples of 2 / d_e
MAX_DRAWS = 1000


@validated
def dimensions(c: float, N: int) -> int:
    """Dimensions of the encodings, ``int(c log N)``; at least 1."""
    if N < 2 or not 0 < c < math.inf:
        raise ValueError(f"c must be positive and N at least 2, got c = {c}, N = {N}")
    return max(1, int(c * math.log(N)))


def within(omega: Tensor) -> Tensor:
    """Whether sets of encodings ``(*batch, N, d_e)`` satisfy Assumption 3, ``(*batch,)``, bool."""
    require_finite(omega=omega)
    return coherence(omega) <= LIMIT + ROUNDING


@validated
def pair_probability(d_e: int) -> float:
    r"""Chance that two rows of random signs are too alike, exactly.

    .. math:: p = \Pr\bigl[\,|S| > \tfrac{d_e}2\,\bigr], \qquad S \text{ a sum of } d_e
        \text{ random signs}

    Args:
        d_e: Dimensions, at least 1.

    Source: a tail of the binomial distribution; Assumption 3 of Mousavi-Hosseini et al. (2025).
    """
    require_positive(d_e=d_e)
    least = math.floor(3 * d_e / 4) + 1  # number of equal signs k with 2k - d_e > d_e / 2
    return 2 * float(stats.binom.sf(least - 1, d_e, 0.5))


@validated
def share_bounds(N: int, d_e: int) -> tuple[float, float]:
    r"""Lower and upper bound on the chance that N random rows satisfy Assumption 3.

    .. math:: 1 - M p \;\le\; \Pr \;\le\; \frac{1 - p}{1 - p + M p}, \qquad M = \binom N2

    The first is the union bound over pairs. The second is the second moment's: whether one pair is
    too alike is independent of whether another is, even if they share a row, so the number of such
    pairs has variance M p (1 - p).

    Args:
        N: Rows, at least 2.
        d_e: Dimensions, at least 1.

    Returns:
        Both in [0, 1], for rows drawn independently.
    """
    if N < 2:
        raise ValueError(f"N must be at least 2, got {N}")
    p, M = pair_probability(d_e), math.comb(N, 2)
    return max(0.0, 1 - M * p), (1 - p) / (1 - p + M * p)


@validated
def rate(limit: float = LIMIT) -> float:
    r"""How fast :func:`pair_probability` falls, :math:`-\lim \frac1{d_e} \log p`.

    .. math:: \tfrac12 \bigl[(1+a) \log(1+a) + (1-a) \log(1-a)\bigr], \qquad a = \mathrm{limit}

    With :math:`d_e = c \log N` there are about :math:`N^{2 - c \cdot \mathrm{rate}}` pairs too
    alike: none if :math:`c > 2/\mathrm{rate}`, and some if c is smaller.

    Source: Cramer's theorem for random signs.
    """
    require_probability(limit=limit)
    return ((1 + limit) * math.log1p(limit) + (1 - limit) * math.log1p(-limit)) / 2


@validated
def spread(N: int, d_e: int, generator: Generator) -> Tensor:
    """Random encodings that satisfy Assumption 3: drawn until they do.

    Returns:
        Shape ``(N, d_e)``, float64, rows of length 1.

    Raises:
        ValueError: N below 2, d_e below 1, or none found in :data:`MAX_DRAWS` draws.
    """
    if N < 2:
        raise ValueError(f"N must be at least 2, got {N}")
    for _ in range(MAX_DRAWS):
        omega = encodings(N, d_e, generator)
        if within(omega):
            return omega.sign().double() / math.sqrt(d_e)
    raise ValueError(f"none of {MAX_DRAWS} draws of {N} rows in {d_e} dimensions is spread enough")


@validated
def equally_close(N: int, inner: float = LIMIT) -> Tensor:
    r"""Unit vectors any two of which have the same inner product; N + 1 dimensions, float64.

    .. math:: \omega_i = \sqrt{a}\, e_0 + \sqrt{1 - a}\, e_i, \qquad a = \mathrm{inner}

    Args:
        N: At least 1.
        inner: In [0, 1].
    """
    require_positive(N=N)
    if not 0 <= inner <= 1:
        raise ValueError(f"inner must lie in [0, 1], got {inner}")
    omega = torch.zeros(N, N + 1, dtype=torch.float64)
    omega[:, 0] = math.sqrt(inner)
    omega[:, 1:] = math.sqrt(1 - inner) * torch.eye(N, dtype=torch.float64)
    return omega
