"""Intervals of shares."""

from __future__ import annotations

import math

from scipy import stats


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
