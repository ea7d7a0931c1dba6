r"""Rivals of the paper's bound: the kl form of PAC-Bayes, and Occam's bound.

Losses are squared errors in [0, b], logarithms natural, n the number of bits. The functions take
numbers or tensors that broadcast, see :func:`papers.sharper.elementwise.elementwise`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers import statistics
from papers.sharper.elementwise import (
    FIVE_PERCENT,
    ONE,
    ZERO,
    elementwise,
    plain,
    require_above_zero,
    require_failure,
    require_integers,
    require_sample,
    require_within,
)


@elementwise
def binary_kl(p: Tensor, q: Tensor) -> Tensor:
    r"""KL between coins, :math:`p \log\frac pq + (1-p) \log\frac{1-p}{1-q}`, nats.

    Args:
        p: From 0 to 1.
        q: From 0 to 1; infinite result at 0 or 1 unless p is the same.
    """
    require_within("p", p, 0, 1)
    require_within("q", q, 0, 1)
    return _kl(p, q)


@elementwise
def kl_inverse(p: Tensor, budget: Tensor) -> Tensor:
    """The largest q from p to 1 with ``binary_kl(p, q) <= budget``, rounded up.

    Args:
        p: From 0 to 1.
        budget: Nats, at least 0.

    Returns:
        :func:`helpers.statistics.kl_inverse` of each element.
    """
    require_within("p", p, 0, 1)
    require_within("budget", budget, 0)
    p, budget = torch.broadcast_tensors(p, budget)
    pairs = zip(p.flatten().tolist(), budget.flatten().tolist(), strict=True)
    found = [statistics.kl_inverse(*pair) for pair in pairs]
    return torch.tensor(found, dtype=torch.float64).reshape(p.shape)


@elementwise
def occam(
    risk: Tensor,
    log_size: Tensor,
    m: Tensor,
    delta: Tensor = FIVE_PERCENT,
    loss_range: Tensor = ONE,
) -> Tensor:
    r"""Bound on the risk of any member of a countable set of predictors.

    .. math:: R \le b\, \mathrm{kl}^{-1}\Bigl( \frac rb,\;
        \frac{\log|H| + \log(1/\delta)}{m} \Bigr)

    It holds for all members at once with probability 1 - delta, for losses in [0, b].

    Args:
        risk: Training risk r of the predictor, from 0 to b.
        log_size: Log of the number of predictors, or of 1 over the weight of this one, at least 0.
        m: Sample size, at least 1.
        delta: Probability of failure, between 0 and 1.
        loss_range: b, positive.

    Source: Chernoff's bound and a union over the set.
    """
    require_above_zero(loss_range=loss_range)
    require_within("risk", risk, 0, loss_range)
    require_within("log_size", log_size, 0)
    require_sample(log_size, m, delta)
    return loss_range * kl_inverse(risk / loss_range, (log_size - delta.log()) / m)


@elementwise
def occam_sample_size(
    log_size: Tensor,
    delta: Tensor = FIVE_PERCENT,
    level: Tensor = ONE,
    loss_range: Tensor = ONE,
) -> Tensor:
    r"""Least number of points at which :func:`occam` is at most ``level``, at training risk 0.

    .. math:: m^* = \Bigl\lceil \frac{\log|H| + \log(1/\delta)}{-\log(1 - q/b)} \Bigr\rceil

    Args:
        log_size: As in :func:`occam`.
        delta: As there.
        level: q, above 0 and below ``loss_range``.
        loss_range: As there.
    """
    q, b = level, loss_range
    require_failure(delta)
    require_within("log_size", log_size, 0)
    if not ((q > 0) & (q < b)).all():
        raise ValueError(f"level must lie between 0 and {plain(b)}, got {plain(q)}")
    return ((log_size - delta.log()) / -torch.log1p(-q / b)).ceil().clamp(min=1)


@elementwise
def pac_bayes_kl(
    risk: Tensor,
    kl: Tensor,
    m: Tensor,
    delta: Tensor = FIVE_PERCENT,
    loss_range: Tensor = ONE,
) -> Tensor:
    r"""PAC-Bayes bound in the kl form, for losses in [0, b]; no lambda to choose.

    .. math:: \operatorname{E}_\rho R \le b\, \mathrm{kl}^{-1}\Bigl( \frac{\operatorname{E}_\rho
        r}{b},\; \frac{\mathrm{KL} + \log(2\sqrt m/\delta)}{m} \Bigr), \qquad m \ge 8

    Args:
        risk: Mean training risk of the posterior, from 0 to b.
        kl: KL of the posterior from the prior, nats, at least 0.
        m: Sample size, at least 8.
        delta: Probability of failure, between 0 and 1.
        loss_range: b, positive.

    Source: Maurer (2004), Theorem 5, after Seeger (2002).
    """
    require_sample(kl, m, delta)
    require_within("m", m, 8)
    return occam(risk, kl + (2 * m.sqrt()).log(), m, delta, loss_range)


@elementwise
def log_constructions(
    n: Tensor,
    degree: Tensor,
    sparsity: Tensor,
    classes: Tensor = ONE,
    coefficient_bits: Tensor = ZERO,
) -> Tensor:
    r"""Log of the number of hand-written networks that a learner chooses from.

    .. math:: \log \binom{\binom nd}{W} + \log(\text{classes}) + W \,\text{bits}\, \log 2

    Args:
        n: Bits, at least 1.
        degree: d, from 1 to n.
        sparsity: W, from 1 to the number of subsets.
        classes: Pairs (d, W) that were possible before the sample was seen, at least 1.
        coefficient_bits: Bits that describe each coefficient, at least 0.

    Returns:
        Nats.

    Source: ours.
    """
    require_integers(n=n, degree=degree, sparsity=sparsity)
    require_within("n", n, 1)
    require_within("degree", degree, 1, n)
    subsets = _log_choose(n, degree).exp().round()
    require_within("sparsity", sparsity, 1, subsets)
    require_within("classes", classes, 1)
    require_within("coefficient_bits", coefficient_bits, 0)
    described = sparsity * coefficient_bits * math.log(2)
    return _log_choose(subsets, sparsity) + classes.log() + described


def _kl(p: Tensor, q: Tensor) -> Tensor:
    return (
        torch.special.xlogy(p, p)
        - torch.special.xlogy(p, q)
        + torch.special.xlogy(1 - p, 1 - p)
        - torch.special.xlog1py(1 - p, -q)
    ).clamp(min=0)


def _log_choose(a: Tensor, b: Tensor) -> Tensor:
    """Log binomial as a sum of logs: log-gammas would cancel for large a."""
    fewer = torch.minimum(b, a - b)
    k = torch.arange(int(fewer.max()) if fewer.numel() else 0, dtype=torch.float64)
    ratio = (a[..., None] - k).clamp(min=1) / (k + 1)
    return torch.where(k < fewer[..., None], ratio.log(), 0.0).sum(-1)
