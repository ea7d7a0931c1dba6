"""Statistics of many runs: slopes, shares, means, resampled runs, and searches over integers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import scipy  # its parts load when they are first asked for
import torch
from torch import Tensor

from helpers import checks
from helpers.checks import validated

Numbers = Sequence[float] | Tensor


class Estimate(NamedTuple):
    """A value and the ends of its interval; a number where one is asked for.

    Its text has as many decimals as show two digits of half the interval; ``format(e, ".3f")``
    writes all three numbers so.

    Example:
        >>> found = Estimate(0.0123, 0.0101, 0.0150)
        >>> print(found, f"{found:.3f}", float(found), found.low)
        0.0123 [0.0101, 0.0150] 0.012 [0.010, 0.015] 0.0123 0.0101
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        half = (self.high - self.low) / 2
        decimals = 1 - math.floor(math.log10(half)) if 0 < half < math.inf else -1
        return format(self, f".{max(decimals, 0)}f" if half >= 1e-5 and decimals > -4 else ".4g")

    def __format__(self, form: str) -> str:
        if not form:
            return str(self)
        return f"{self.value:{form}} [{self.low:{form}}, {self.high:{form}}]"


def slope(x: Tensor, y: Tensor) -> Tensor:
    r"""Slope of the least-squares line of y on x.

    .. math:: \sum_i (x_i - \bar x)(y_i - \bar y) / \sum_i (x_i - \bar x)^2

    Args:
        x: Shape ``(*batch, N)``, finite, not all alike.
        y: Shape ``(*batch, N)``.

    Returns:
        Shape ``(*batch,)``.

    Raises:
        ValueError: shapes that differ in N, x not finite, or x all alike.

    Example:
        >>> slope(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1.0, 3.0, 5.0])).item()
        2.0
    """
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-1]:
        raise ValueError(f"x and y must share N, got {tuple(x.shape)} and {tuple(y.shape)}")
    checks.require_floating(x=x, y=y)
    checks.require_finite(x=x)
    if not (x != x[..., :1]).any(-1).all():
        raise ValueError("a slope needs two different x")
    dx, dy = (v - v.mean(-1, keepdim=True) for v in (x, y))
    unit = torch.frexp(dx.detach().abs().amax(-1, keepdim=True)).exponent.to(dx.dtype).exp2()
    dx = dx / unit  # a power of two: exact, and squares stay in range
    return (dx * dy).sum(-1) / dx.square().sum(-1) / unit.squeeze(-1)


def power(x: Numbers, y: Numbers) -> Tensor:
    r"""The power b of :math:`y \approx a x^b`: the slope of log y on log x by least squares.

    Args:
        x: Positive and finite, not all alike, shape ``(N,)``.
        y: Positive and finite, shape ``(*batch, N)``.

    Returns:
        Shape ``(*batch,)``, float64.

    Raises:
        ValueError: numbers that have no logarithm, or shapes as for :func:`slope`.

    Example:
        >>> round(power([1, 10, 100], [5, 500, 50000]).item(), 12)
        2.0
    """
    return slope(_logs(x), _logs(y))


@validated
def trend(x: Numbers, y: Numbers, level: float = 0.95, *, log: bool = False) -> Estimate:
    r"""Slope of the least-squares line of y on x, with its interval by Student's t.

    The ends are :math:`t_{N - 2}` standard errors away, those from the residuals: runs that differ
    and points off the line both widen the interval.

    Args:
        x: Finite, not all alike, shape ``(N,)``, N at least 3.
        y: Finite, shape ``(N,)``.
        level: Of the interval, between 0 and 1.
        log: Of both first, so that the slope is a power of x as in :func:`power`.

    Raises:
        ValueError: too few numbers, other shapes, or a number outside its range.

    Example:
        >>> f"{trend([1, 2, 3, 4], [1.0, 2.1, 2.9, 4.0]):.3f}"
        '0.980 [0.797, 1.163]'

    Source: ``scipy.stats.linregress``.
    """
    checks.require_probability(level=level)
    at, values = (_numbers(k, _logs(v) if log else v) for k, v in (("x", x), ("y", y)))
    if at.shape != values.shape or len(at) < 3:
        raise ValueError(f"a trend needs two (N,), N > 2, got {len(at)} and {len(values)} numbers")
    if not bool((at != at[0]).any()):
        raise ValueError("a slope needs two different x")
    if not bool((values != values[0]).any()):
        return Estimate(0.0, 0.0, 0.0)  # of which linregress knows no error
    (at, of_x), (values, of_y) = _scaled(at), _scaled(values)
    line = scipy.stats.linregress(at.numpy(), values.numpy())
    half = scipy.stats.t.ppf((1 + level) / 2, len(at) - 2) * line.stderr
    ends = line.slope, line.slope - half, line.slope + half
    return Estimate(*(float(end) / of_x * of_y for end in ends))


@validated
def detectable_trend(points: int, level: float = 0.05, chance: float = 0.8) -> float:
    """Slope, in its standard errors, that a two-sided t-test of a trend finds with this chance.

    Args:
        points: Of the line, at least 3; the scatter is estimated from them.
        level: Of the test, between 0 and 1.
        chance: That it finds the slope, with its sign, from 1/2 to below 1.

    Raises:
        ValueError: a number out of its range.

    Example:
        >>> round(detectable_trend(10), 2), round(detectable_trend(10_000), 2)
        (3.2, 2.8)

    Source: the noncentral t distribution with N - 2 degrees of freedom, by ``scipy.special``.
    """
    checks.require_probability(level=level)
    if points < 3 or not 0.5 <= chance < 1:
        raise ValueError(f"a trend needs 3 points and a chance in [1/2, 1): {points}, {chance}")
    cut = scipy.stats.t.ppf(1 - level / 2, points - 2)
    return float(scipy.special.nctdtrinc(points - 2, 1 - chance, cut))


@validated
def average(values: Numbers, level: float = 0.95) -> Estimate:
    """Mean, with its interval by Student's t.

    Args:
        values: Finite, shape ``(E,)``, E at least 2; else ValueError.
        level: Of the interval, between 0 and 1; else ValueError.

    Example:
        >>> f"{average([1.0, 2.0, 3.0]):.2f}"
        '2.00 [-0.48, 4.48]'

    Source: Student (1908), by ``scipy.stats``.
    """
    checks.require_probability(level=level)
    given, unit = _scaled(_numbers("values", values, least=2))
    half = scipy.stats.t.ppf((1 + level) / 2, len(given) - 1) * scipy.stats.sem(given.numpy())
    mean = given.mean().item()
    return Estimate(mean * unit, (mean - float(half)) * unit, (mean + float(half)) * unit)


@validated
def difference(a: Numbers, b: Numbers, level: float = 0.95) -> Estimate:
    """Mean of a minus mean of b, with its interval by Welch: the variances may differ.

    Args:
        a: Finite, shape ``(E,)``, E at least 2; else ValueError.
        b: Finite, shape ``(F,)``, F at least 2; else ValueError.
        level: Of the interval, between 0 and 1; else ValueError.

    Example:
        >>> f"{difference([3.0, 4.0, 5.0], [1.0, 2.0]):.2f}"
        '2.50 [0.01, 4.99]'

    Source: Welch (1947), by ``scipy.stats.ttest_ind``.
    """
    checks.require_probability(level=level)
    first, second = _numbers("a", a, least=2), _numbers("b", b, least=2)
    with warnings.catch_warnings():  # one of the two may be constant, as a share of 1 is
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        test = scipy.stats.ttest_ind(first.numpy(), second.numpy(), equal_var=False)
    low, high = test.confidence_interval(level)
    return Estimate((first.mean() - second.mean()).item(), float(low), float(high))


@validated
def wilson(successes: int, count: int, level: float = 0.95) -> Estimate:
    r"""A share and its interval by Wilson's score.

    The ends are the shares p at which the one found is :math:`z` standard deviations away:

    .. math:: (\hat p - p)^2 = z^2\, p (1 - p) / N

    Args:
        successes: From 0 to ``count``; else ValueError.
        count: N, at least 1; else ValueError.
        level: Of the interval, between 0 and 1; else ValueError.

    Example:
        >>> f"{wilson(7, 30):.3f}"
        '0.233 [0.118, 0.409]'

    Source: Wilson (1927), by ``scipy.stats.binomtest``.
    """
    _check_counts(successes, count, level)
    found = scipy.stats.binomtest(successes, count)
    if (1 + level) / 2 == 1:  # to scipy z is infinite, and the ends are nan
        return Estimate(successes / count, 0.0, 1.0)
    low, high = found.proportion_ci(level, "wilson")
    return Estimate(successes / count, float(low), float(high))


@validated
def upper_limit(successes: int, count: int, level: float = 0.95) -> float:
    """Largest chance that so few successes do not contradict: the exact one-sided limit.

    Args:
        successes: From 0 to ``count``; else ValueError.
        count: At least 1; else ValueError.
        level: Of the limit, between 0 and 1; else ValueError.

    Returns:
        The chance at which ``successes`` or fewer have probability ``1 - level``; 1 if all succeed.

    Example:
        >>> round(upper_limit(0, 100), 4)
        0.0295

    Source: Clopper and Pearson (1934), by ``scipy.stats.beta``, whose quantile it is.
    ``scipy.stats.binomtest`` finds it by a search to an absolute 2e-12, too coarse for small ones.
    """
    _check_counts(successes, count, level)
    if successes == count:
        return 1.0
    return float(scipy.stats.beta.ppf(level, successes + 1, count - successes))


@validated
def kl_inverse(share: float, budget: float) -> float:
    r"""Largest chance that a budget of KL divergence allows beside a share, rounded up.

    .. math:: \sup \Bigl\{ q : p \log\frac pq + (1 - p) \log\frac{1 - p}{1 - q} \le B \Bigr\}

    A share p of N independent numbers in [0, 1] contradicts every chance above the one for
    :math:`B = \log(1/\delta)/N` (Chernoff), and bounds of the PAC-Bayes-kl form end with it too.

    Args:
        share: p, from 0 to 1.
        budget: B, nats, at least 0.

    Returns:
        From p to 1. Never below the true q, and above it by a few roundings at most.

    Raises:
        ValueError: a number out of range.

    Cost: a hundred halvings at most. Source: Langford (2005); in d = q - p, where nothing cancels.

    Example:
        >>> round(kl_inverse(0.0, 0.1), 12), round(kl_inverse(0.25, 0.1), 3)
        (0.095162581964, 0.467)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie from 0 to 1, got {share}")
    checks.require_amount(budget=budget)
    if budget == 0 or share == 1:
        return float(share)
    rest, slack = 1 - share, 4 * math.ulp(1.0)  # of each term, more than its rounding

    def beyond(d: float) -> bool:
        """Whether the divergence, rounded down, is above the budget, rounded up."""
        if d >= rest or d / rest >= 1:
            return True
        ratio = d / share
        gain = math.log1p(ratio) if ratio < math.inf else math.log(d) - math.log(share)
        gained = (1 + slack) * share * gain
        return -gained - (1 - slack) * rest * math.log1p(-d / rest) > (1 + slack) * budget

    if share == 0:
        found = -math.expm1(-budget)
    else:
        low, high = 0.0, min(rest, math.sqrt(2 * share) * math.sqrt(budget) + 2 * budget)
        for _ in range(100):
            between = (low + high) / 2
            low, high = (low, between) if beyond(between) else (between, high)
        found = share + high * (1 + slack)
    return min(math.nextafter(found, 2), 1.0)


@validated
def resampled(
    groups: Tensor, count: int, generator: torch.Generator, *, replace: bool = True
) -> Tensor:
    """Resampled runs, each from its own group: for bootstrap intervals and permutation controls.

    Args:
        groups: Of the runs, shape ``(E,)``, finite; equal numbers are one group.
        count: Number of redraws, at least 1.
        generator: Source of randomness.
        replace: With replacement, as the bootstrap does; without, the runs of a group are shuffled.

    Returns:
        Numbers of runs, shape ``(count, E)``, int64: entry i is of the group of i.

    Raises:
        ValueError: no runs, or ``count`` below 1.

    Example:
        >>> values, groups = torch.tensor([1.0, 2.0, 10.0]), torch.tensor([0, 0, 1])
        >>> again = values[resampled(groups, 1000, torch.Generator().manual_seed(0))]
        >>> again.shape, again[:, 2].unique().item()
        (torch.Size([1000, 3]), 10.0)
    """
    checks.require_finite(groups=groups)
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


@validated
def percentile_interval(redraws: Tensor, level: float = 0.95) -> tuple[float, float]:
    """Ends of the percentile interval of resampled values.

    Args:
        redraws: Floating, shape ``(R,)``, R at least 1, none infinite; else ValueError. A nan makes
            both ends nan.
        level: Of the interval, between 0 and 1; else ValueError.

    Example:
        >>> percentile_interval(torch.arange(101.0, dtype=torch.float64), 0.9)
        (5.0, 95.0)

    Source: Efron (1979).
    """
    checks.require_probability(level=level)
    if redraws.ndim != 1 or not len(redraws):
        raise ValueError(f"redraws must be (R,), R at least 1, got {tuple(redraws.shape)}")
    if redraws.isinf().any():  # a quantile between it and a number would be nan
        raise ValueError(f"redraws must not be infinite, {int(redraws.isinf().sum())} are")
    tail = round((1 - level) / 2, 15)
    at = torch.tensor([tail, 1 - tail], dtype=redraws.dtype)
    low, high = redraws.quantile(at).tolist()
    return low, high


@validated
def bootstrap_interval(values: Tensor, level: float = 0.95) -> Estimate:
    """A quantity and its percentile interval, from the runs as they are and drawn anew.

    Args:
        values: Of all runs first, then of each redraw, shape ``(1 + R,)``; else ValueError.
        level: Of the interval, between 0 and 1; else ValueError.

    Example:
        >>> runs = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
        >>> again = runs[resampled(0 * runs, 1000, torch.Generator().manual_seed(0))].mean(1)
        >>> f"{bootstrap_interval(torch.cat((runs.mean()[None], again))):.1f}"
        '2.5 [1.5, 3.5]'
    """
    return Estimate(values[0].item(), *percentile_interval(values[1:], level))


@validated
def least_integer(met: Callable[[int], bool], start: int = 1, most: int = 10**60) -> int:
    """Least whole number from which a condition is met.

    Args:
        met: Asked for whole numbers; once true, it must stay so.
        start: Where the search begins.
        most: Where it ends.

    Raises:
        ValueError: ``most`` below ``start``, or the condition is not met at ``most``.

    Cost: about 3/2 log2 of the distance from ``start`` in questions: the distance grows fourfold,
    then is halved.

    Example:
        >>> least_integer(lambda m: m * m >= 1000)
        32
    """
    if most < start:
        raise ValueError(f"the search ends at {most} before it starts at {start}")
    before, high = start - 1, start
    low = before
    while not met(high):
        if high >= most:
            raise ValueError(f"the condition is not met up to {most:.6g}")
        low, high = high, min(before + 4 * (high - before), most)
    while high - low > 1:
        between = (low + high) // 2
        low, high = (low, between) if met(between) else (between, high)
    return high


def _numbers(name: str, values: Numbers, least: int = 1) -> Tensor:
    try:
        given = torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be numbers, got {checks.format_value(values)}") from None
    if given.is_complex():
        raise TypeError(f"{name} must be real, got {given.dtype}")
    given = torch.as_tensor(values, dtype=torch.float64).detach()  # a list is rounded once
    if given.ndim != 1 or len(given) < least:
        raise ValueError(f"{name} must be (E,), E at least {least}, got {tuple(given.shape)}")
    checks.require_finite(**{name: given})
    return given


def _scaled(values: Tensor) -> tuple[Tensor, float]:
    """Numbers over a power of two near the largest, so that squares stay in range; and that power.

    A power of two changes no digit of a result.
    """
    exponent = math.frexp(values.abs().max().item())[1] - 1
    unit = math.ldexp(1.0, min(max(exponent, -1000), 1000))
    return values / unit, unit


def _logs(values: Numbers) -> Tensor:
    given = torch.as_tensor(values, dtype=torch.float64)
    if (odd := given[~((given > 0) & given.isfinite())]).numel():
        raise ValueError(f"a power needs positive finite numbers, got {odd[0].item()}")
    return given.log()


def _check_counts(successes: int, count: int, level: float) -> None:
    if not 1 <= count < 2**63:  # scipy counts in 64 bits
        raise ValueError(f"count must be at least 1 and below 2**63, got {count}")
    if not 0 <= successes <= count:
        raise ValueError(f"successes must lie between 0 and {count}, got {successes}")
    checks.require_probability(level=level)
