r"""The test of slope 0 behind a correlation: from r and the number of points to p, and back.

A printed r and a printed p are rounded, so that each stands for an interval. Together they leave an
interval of numbers of points. It says how many runs can have entered a table.
"""

from __future__ import annotations

import math

from scipy import stats

from helpers.checks import validated, whole
from helpers.statistics import least_integer

Interval = tuple[float, float]


@validated
def slope_p(r: float, points: int) -> float:
    r"""The p-value of a correlation, in Student's test of slope 0, on both sides.

    .. math:: t = |r| \sqrt{\frac{k - 2}{1 - r^2}}, \qquad
        p = 2\, P(\text{Student's } t_{k - 2} > t)

    Args:
        r: Pearson's, above -1 and below 1.
        points: k, at least 3.

    Raises:
        ValueError: a number out of range.
    """
    if not -1 < r < 1:
        raise ValueError(f"r must lie between -1 and 1, got {r}")
    if whole("points", points) < 3:
        raise ValueError(f"points must be at least 3, got {points}")
    t = abs(r) * math.sqrt((points - 2) / (1 - r * r))
    return float(2 * stats.t.sf(t, points - 2))


@validated
def rounded(value: float, digit: float) -> Interval:
    """Sizes that round to a printed number: half a unit of its last digit to both sides.

    Args:
        value: As printed; its sign is left out.
        digit: One unit of the last digit that is printed, above 0.

    Raises:
        ValueError: a digit that is not positive, or an interval that reaches 0.
    """
    low, high = abs(value) - digit / 2, abs(value) + digit / 2
    if not 0 < low < high < math.inf:
        raise ValueError(
            f"expected 0 < digit / 2 < |value| with a finite sum, got digit = {digit} and "
            f"value = {value}"
        )
    return low, high


def fitting_points(r: Interval, p: Interval) -> tuple[int, int]:
    """Numbers of points for which some r and some p of two intervals belong together.

    As p falls with the size of r and with the number of points, these numbers have no gap.

    Args:
        r: Sizes of the correlation, within (0, 1).
        p: Within (0, 1).

    Returns:
        The least and the largest; the least is above the largest if none fits.

    Raises:
        ValueError: an interval out of range or order.
    """
    for name, (low, high) in {"r": r, "p": p}.items():
        if not 0 < low <= high < 1:
            raise ValueError(f"{name} must be an interval within (0, 1), got {low} to {high}")
    least = least_integer(lambda k: slope_p(r[1], k) <= p[1], 3)
    return least, least_integer(lambda k: slope_p(r[0], k) < p[0], 3) - 1
