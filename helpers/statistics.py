"""What is said of many runs: slopes, shares, orders, and runs drawn anew."""

from __future__ import annotations

import math

import torch
from scipy import stats
from torch import Tensor


def slope(x: Tensor, y: Tensor) -> Tensor:
    r"""Slope of the least-squares line of y on x.

    .. math:: \sum_i (x_i - \bar x)(y_i - \bar y) / \sum_i (x_i - \bar x)^2

    Args:
        x: Shape ``(*batch, N)``, not all alike.
        y: Shape ``(*batch, N)``.

    Returns:
        Shape ``(*batch,)``.

    Raises:
        ValueError: shapes that differ in N, or x all alike.
    """
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-1]:
        raise ValueError(f"x and y must share N, got {tuple(x.shape)} and {tuple(y.shape)}")
    dx = x - x.mean(-1, keepdim=True)
    spread = dx.square().sum(-1)
    if not (spread > 0).all():
        raise ValueError("a slope needs two different x")
    return (dx * (y - y.mean(-1, keepdim=True))).sum(-1) / spread


def concordance(levels: Tensor, values: Tensor, strata: Tensor | None = None) -> Tensor:
    r"""How often the run at the higher level has the larger value.

    .. math:: C = \Pr(v_i < v_j) + \tfrac12 \Pr(v_i = v_j), \qquad \ell_i < \ell_j

    over all pairs of runs of one stratum whose levels differ: 1 for a trend without exception, one
    half for none, 0 for the opposite trend.

    Args:
        levels: Of the runs, shape ``(E,)``.
        values: Shape ``(*batch, E)``.
        strata: Runs are compared within one of these only, shape ``(E,)``; None: all with all.

    Returns:
        Shape ``(*batch,)``, float64.

    Raises:
        ValueError: shapes that do not fit, values that are nan, or no pair to compare.

    Cost: at most E**2 / 2 comparisons. Source: the C of Harrell, for two levels Mann-Whitney's U
    over the number of pairs.
    """
    if strata is None:
        strata = torch.zeros_like(levels)
    if levels.ndim != 1 or strata.shape != levels.shape or values.shape[-1:] != levels.shape:
        raise ValueError(
            "levels and strata must be (E,) and values (..., E), got "
            f"{tuple(levels.shape)}, {tuple(strata.shape)} and {tuple(values.shape)}"
        )
    if values.isnan().any():
        raise ValueError(f"values must not be nan, {int(values.isnan().sum())} are")
    below = (levels[:, None] < levels) & (strata[:, None] == strata)
    low, high = below.nonzero(as_tuple=True)
    if not len(low):
        raise ValueError("concordance needs two runs of one stratum at different levels")
    more = values[..., high] - values[..., low]
    return (more.sign().double().mean(-1) + 1) / 2


def redrawn(
    groups: Tensor, count: int, generator: torch.Generator, *, replace: bool = True
) -> Tensor:
    """Runs drawn anew, each from its own group: for intervals and for controls.

    Args:
        groups: Of the runs, shape ``(E,)``, integers.
        count: Number of redraws, at least 1.
        generator: Source of randomness.
        replace: With replacement, as the bootstrap does; without, the runs of a group are shuffled.

    Returns:
        Numbers of runs, shape ``(count, E)``, int64: entry i is of the group of i.

    Raises:
        ValueError: no runs, or ``count`` below 1.
    """
    if groups.ndim != 1 or not len(groups):
        raise ValueError(f"groups must be (E,) with E at least 1, got {tuple(groups.shape)}")
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    drawn = torch.empty(count, len(groups), dtype=torch.int64)
    for group in groups.unique():
        own = (groups == group).nonzero().flatten()
        if replace:
            pick = torch.randint(len(own), (count, len(own)), generator=generator)
        else:
            pick = torch.rand(count, len(own), generator=generator).argsort(1)
        drawn[:, own] = own[pick]
    return drawn


def wilson(successes: int, count: int, level: float = 0.95) -> tuple[float, float, float]:
    r"""A share and its interval by Wilson's score.

    The ends are the shares p at which the one found is :math:`z` standard deviations away:

    .. math:: (\hat p - p)^2 = z^2\, p (1 - p) / N

    Args:
        successes: From 0 to ``count``.
        count: N, at least 1.
        level: Of the interval, between 0 and 1.

    Returns:
        Share, lower end and upper end.

    Raises:
        ValueError: a number outside its range.

    Source: Wilson (1927).
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if not 0 <= successes <= count:
        raise ValueError(f"successes must lie between 0 and {count}, got {successes}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    z2 = float(stats.norm.ppf((1 + level) / 2)) ** 2
    share, middle = successes / count, (successes + z2 / 2) / (count + z2)
    half = math.sqrt(share * (1 - share) * count * z2 + z2**2 / 4) / (count + z2)
    return share, max(middle - half, 0.0), min(middle + half, 1.0)
