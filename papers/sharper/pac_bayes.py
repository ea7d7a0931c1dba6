r"""The paper's PAC-Bayes bound on the risk of networks near the hand-written one.

The posterior is N(theta, sigma**2 I), the prior N(0, sigma**2 I) with the same sigma, fixed before
the sample is seen. With N = \|theta\|**2, sharpness G (half the trace of the loss Hessian), a
perturbation term P and a sub-Gaussian constant Sigma, the bound on a sample of m points is

.. math:: B(\sigma) = \sigma^2 (G + P(\sigma))
    + \Sigma \sqrt{\frac2m \Bigl( \frac{N}{2\sigma^2} + \log\frac1\delta \Bigr)} .

Every function takes numbers or tensors that broadcast. It returns a float if all it was given are
numbers, and a float64 tensor otherwise; a number outside its range is a ValueError that names it.
Losses are squared errors, logarithms natural, and n is the number of bits, the paper's T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from helpers.checks import (
    require_choice,
    require_finite,
    require_floating,
    require_positive,
    validated,
)
from helpers.statistics import least_integer
from papers.sharper import tabulated
from papers.sharper.elementwise import (
    FIVE_PERCENT,
    ZERO,
    elementwise,
    require_above_zero,
    require_failure,
    require_integers,
    require_sample,
    require_within,
    zero,
)

NORMS = ("ours", "tabulated", "sinks")
"""Readings of Theorem 10, see :func:`norm_squared`."""
NO_PERTURBATION = (ZERO, ZERO, ZERO)


@validated
def square_spread(sparsity: int) -> float:
    r"""Standard deviation of :math:`f(x)^2` for a tiling with W pairs, W at least 1.

    .. math:: \sqrt{\frac{(W + 1)(2W - 1)}{8W}}

    The function is :func:`papers.sharper.semi_analytic.tiling`: :math:`\sqrt W f` is binomial, W
    trials of chance 1/2. It is the spread of the squared loss at a network that outputs 0.

    Source: ours, from the first four moments of a binomial number.
    """
    require_positive(sparsity=sparsity)
    return math.sqrt((sparsity + 1) * (2 * sparsity - 1) / (8 * sparsity))


@elementwise
def norm_squared(n: Tensor, degree: Tensor, sparsity: Tensor, reading: str = "ours") -> Tensor:
    r"""Squared 2-norm of all weights of the construction, in closed form.

    With :math:`M = 16 d^2 (d+1) + 8 (d+1)` for the MLP and :math:`\ell = 4 \log^2 n`:

    ================  =====================================  ====================================
    reading           formula                                source
    ================  =====================================  ====================================
    ``ours``          :math:`1 + W + M + \ell (dW + W)`      sum of bounds on every block
    ``tabulated``     :math:`21 + M + \ell (dW + n)`         ``generate_plots.ipynb``, newest
    ``sinks``         :math:`21 + M + \ell (dW+n+1-W)`       ``generate_plots.ipynb``, older
    ================  =====================================  ====================================

    ``ours`` is an upper bound if every coefficient lies between n**-4 and 1 and their squares add
    up to at most 1, in both bases and at the scale 2 log n. The 21 is 1 + W at W = 20.

    n is at least 2, the degree d and the sparsity W from 1 to n; the reading is in :data:`NORMS`.

    Source: Lintilhac and Shaikh (2026), Theorem 10, as tabulated by
    ``paullintilhac/boolean_function_sensitivity``.
    """
    require_choice("reading", reading, NORMS)
    T, d, W = n, degree, sparsity
    require_integers(n=T, degree=d, sparsity=W)
    require_within("n", T, 2)
    require_within("degree", d, 1, T)
    require_within("sparsity", W, 1, T)
    blocks = 16 * d**2 * (d + 1) + 8 * (d + 1)
    scores = 4 * T.log() ** 2
    return {
        "ours": 1 + W + blocks + scores * (d * W + W),
        "tabulated": 21 + blocks + scores * (d * W + T),
        "sinks": 21 + blocks + scores * (d * W + T + 1 - W),
    }[reading]


@validated
def perturbation(
    n: int, degree: int, sparsity: int, as_tabulated: bool = False, k: int | None = None
) -> tuple[float, float, float]:
    r"""Coefficients of the analytic perturbation term, :math:`P = p_0 + p_1 \sigma + p_2 \sigma^2`.

    Degree and sparsity are from 1 to n. ``as_tabulated``: two terms of the gradient lack their
    factor sigma, as in the authors' notebook; then :math:`p_0 > 0`. Otherwise :math:`p_0 = 0`.
    ``k`` is the number of positions, in the number of weights too; None is n + 1, and the
    authors' programs take n.

    Source: Lintilhac and Shaikh (2026), Theorem 17, as tabulated: the expansion of
    :func:`papers.sharper.tabulated.perturbation_term`.
    """
    at_zero, at_one = (
        tabulated.gradient_term(n, degree, sparsity, sigma, as_tabulated=as_tabulated, k=k)
        for sigma in (0.0, 1.0)
    )
    slope = at_one - at_zero
    base = 2 * math.sqrt(tabulated.gradient_bound(degree, sparsity))
    output = tabulated.output_term(n, degree, sparsity, 1.0, k=k)
    output *= tabulated.parameter_count((k or n + 1) - 1, degree, as_tabulated=True)
    hessian = tabulated.hessian_at_construction(n, degree, sparsity, k=k)
    change = tabulated.hessian_term(n, degree, sparsity, 1.0, k=k)
    return (
        2 * at_zero * (base + at_zero),
        2 * slope * (base + 2 * at_zero) + output * hessian,
        2 * slope**2 + output * change,
    )


@elementwise
def gaussian_kl(norm_squared: Tensor, sigma: Tensor) -> Tensor:
    r"""KL of N(theta, sigma**2 I) from N(0, sigma**2 I), :math:`\|\theta\|^2 / (2 \sigma^2)`, nats.

    Args:
        norm_squared: :math:`\|\theta\|^2`, at least 0.
        sigma: Standard deviation of both, positive.
    """
    require_within("norm_squared", norm_squared, 0)
    require_above_zero(sigma=sigma)
    return norm_squared / (2 * sigma**2)


@elementwise
def own_width_kl(norm_squared: Tensor, sigma: Tensor, weights: Tensor) -> Tensor:
    r"""KL of N(theta, sigma**2 I) from N(0, tau**2 I) at the best tau, nats.

    .. math:: \min_\tau\; \frac{N}{2\tau^2} + \frac D2 \Bigl( \frac{\sigma^2}{\tau^2} - 1
        - \log\frac{\sigma^2}{\tau^2} \Bigr) = \frac D2 \log\Bigl(1 + \frac{N}{D \sigma^2}\Bigr)

    at :math:`\tau^2 = \sigma^2 + N/D`, for a number D of weights, at least 1. A choice of tau
    among k costs log k nats more.

    Source: ours.
    """
    require_within("norm_squared", norm_squared, 0)
    require_within("weights", weights, 1)
    require_above_zero(sigma=sigma)
    return weights / 2 * (norm_squared / (weights * sigma**2)).log1p()


@elementwise
def alquier(
    risk: Tensor,
    kl: Tensor,
    m: Tensor,
    delta: Tensor,
    subgaussian: Tensor,
    lam: Tensor | None = None,
) -> Tensor:
    r"""PAC-Bayes bound on the mean risk of a posterior, for a sub-Gaussian loss.

    .. math:: \operatorname{E}_\rho R \le \operatorname{E}_\rho r + \frac{\lambda \Sigma^2}{2m}
        + \frac{\mathrm{KL}(\rho\|\pi) + \log(1/\delta)}{\lambda}

    With probability 1 - delta it holds for all posteriors at once, for a lambda fixed before, if
    :math:`\operatorname{E} e^{\lambda (R - \ell)/m} \le e^{\lambda^2 \Sigma^2 / (2 m^2)}` for
    almost every network of the **prior**. The best lambda, if the KL is known before, is
    :math:`\sqrt{2 m (\mathrm{KL} + \log(1/\delta))} / \Sigma`.

    Args:
        risk: Mean training risk of the posterior, at least 0.
        kl: KL of the posterior from the prior, nats, at least 0.
        m: Sample size, at least 1.
        delta: Probability of failure, between 0 and 1.
        subgaussian: Sigma, in the unit of the loss, at least 0.
        lam: Positive; None is the best.

    Source: Alquier (2024), Section 2.1, after Catoni (2007); Lintilhac and Shaikh (2026), E.2.
    """
    require_within("risk", risk, 0)
    require_sample(kl, m, delta)
    require_within("subgaussian", subgaussian, 0)
    nats = kl - delta.log()
    if lam is None:
        return risk + subgaussian * (2 * nats / m).sqrt()
    require_above_zero(lam=lam)
    return risk + lam * subgaussian**2 / (2 * m) + nats / lam


@elementwise
def bound(
    norm_squared: Tensor,
    sharpness: Tensor,
    sigma: Tensor,
    m: Tensor,
    subgaussian: Tensor,
    delta: Tensor = FIVE_PERCENT,
    perturbation: Sequence[Tensor] = NO_PERTURBATION,
) -> Tensor:
    r"""The bound of Theorem 2 at one sigma.

    .. math:: B(\sigma) = \sigma^2 (G + p_0 + p_1 \sigma + p_2 \sigma^2)
        + \Sigma \sqrt{\frac2m \Bigl( \frac{N}{2\sigma^2} + \log\frac1\delta \Bigr)}

    Args:
        norm_squared: N, positive: *squared*; see :func:`norm_squared`.
        sharpness: G, positive; see :func:`papers.sharper.tabulated.gradient_bound`.
        sigma: Standard deviation of the noise, positive.
        m: Sample size, at least 1.
        subgaussian: Sigma, at least 0. The paper uses 0.01; a loss in [0, b] has b/2.
        delta: Probability of failure, between 0 and 1.
        perturbation: :math:`(p_0, p_1, p_2)`, each at least 0; see :func:`perturbation`.

    Source: Lintilhac and Shaikh (2026), Theorem 2 and Appendix E.2.
    """
    G, P = sharpness, perturbation
    _require_class(norm_squared, G, P)
    p0, p1, p2 = P
    kl = gaussian_kl(norm_squared, sigma)
    sharp = sigma**2 * (G + p0 + sigma * (p1 + sigma * p2))  # no power overflows
    return alquier(sharp, kl, m, delta, subgaussian)


@elementwise
def optimal_sigma(
    norm_squared: Tensor,
    sharpness: Tensor,
    m: Tensor,
    subgaussian: Tensor,
    delta: Tensor | None = None,
    perturbation: Sequence[Tensor] = NO_PERTURBATION,
) -> Tensor:
    r"""The sigma at which :func:`bound` is least.

    Without delta and P, the paper's truncated bound :math:`G \sigma^2 + \Sigma \sqrt{N/m}/\sigma`,
    it is

    .. math:: \sigma^* = \Bigl( \frac{\Sigma}{2 G} \sqrt{N/m} \Bigr)^{1/3} .

    Otherwise it is found by bisection, up to rounding: the bound is convex in log sigma. Arguments
    are those of :func:`bound`; Sigma is positive, and without delta log(1/delta) is left out.

    Source: Lintilhac and Shaikh (2026), Appendix E.2; the bisection is ours.
    """
    N, G, S, P = norm_squared, sharpness, subgaussian, perturbation
    if delta is not None:
        require_failure(delta)
    confidence = ZERO if delta is None else -delta.log()
    _require_class(N, G, P)
    p0, p1, p2 = P
    require_above_zero(subgaussian=S)
    require_within("m", m, 1)
    closed = (S * (N / m).sqrt() / (2 * G)) ** (1 / 3)
    if not confidence.any() and not any(p.any() for p in P):
        return closed

    def rising(t: Tensor) -> Tensor:
        s = t.exp()
        norm = N / s**2
        sharp = s**2 * (2 * (G + p0) + s * (3 * p1 + s * 4 * p2))
        return sharp - S * norm / (m * (norm + 2 * confidence)).sqrt()

    shape = torch.broadcast_shapes(*(v.shape for v in (N, G, m, S, confidence, *P)))
    top = closed.log().expand(shape)  # log(1/delta) and P only lower the optimum
    return zero(rising, top - 200, top).exp()


@elementwise
def truncated_optimum(
    norm_squared: Tensor, sharpness: Tensor, m: Tensor, subgaussian: Tensor
) -> Tensor:
    r"""Least value of the bound without delta and P.

    .. math:: B^* = 3 \Bigl( \frac{\Sigma^2 G N}{4 m} \Bigr)^{1/3}

    The norm term is two thirds of it, the sharpness one third.

    Source: the minimum of Lintilhac and Shaikh (2026), Eq. (9); they state the rate m**(-1/3).
    """
    _require_class(norm_squared, sharpness, NO_PERTURBATION)
    require_above_zero(subgaussian=subgaussian)
    require_within("m", m, 1)
    return 3 * (subgaussian**2 * sharpness * norm_squared / (4 * m)) ** (1 / 3)


@validated
def sample_size(
    norm_squared: float,
    sharpness: float,
    subgaussian: float,
    delta: float = 0.05,
    level: float = 1.0,
    perturbation: Sequence[float] = (0.0, 0.0, 0.0),
) -> float:
    r"""Least number of points, whole, at which the bound at its best sigma is at most ``level``.

    It is about :math:`27\, \Sigma^2 G N / (4 q^3)`. Arguments are those of :func:`bound`, numbers;
    Sigma is positive, and so is the level q: 1, or the risk of the best constant, 1/4 for functions
    whose squared coefficients of even-parity indicators add up to 1.

    Source: ours.
    """
    require_above_zero(level=torch.as_tensor(level))
    N, G, S, P = norm_squared, sharpness, subgaussian, perturbation

    def best(m: float) -> float:
        return bound(N, G, optimal_sigma(N, G, m, S, delta, P), m, S, delta, P)

    return float(first_sample_size(best, level))


@validated
def first_sample_size(curve: Callable[[float], float], level: float) -> int:
    """Least whole m from 1 at which a bound is at most ``level``, by bisection.

    Args:
        curve: The bound as a function of m, not increasing; beyond 2**53 to 16 digits only.
        level: Finite; ValueError if the curve is still above it at 10**60.
    """
    most = 10**60
    if not curve(float(most)) <= level:
        raise ValueError(f"the bound is still above the level {level} at 10**60")
    return least_integer(lambda m: curve(float(m)) <= level, most=most)


def subgaussian_constant(losses: Tensor, lambdas: Tensor | None = None) -> Tensor:
    r"""Least sub-Gaussian constant of a loss that takes the given values equally often.

    .. math:: \Sigma = \sup_{\lambda > 0} \frac1\lambda
        \sqrt{2 \log \operatorname{E} e^{\lambda (\operatorname{E}\ell - \ell)}}
        \ \ge\ \mathrm{sd}(\ell)

    The sign is the one that a bound on the risk needs. The limit at 0 is the standard deviation.

    Args:
        losses: Shape ``(*batch, K)``, floating, finite, K at least 1.
        lambdas: Positive trial values, shape ``(L,)``, in units of 1 / sd; None is 61 values from
            0.001 to 1000. More values can only raise the result.

    Returns:
        Shape ``(*batch,)``: at least the standard deviation, and at most half the range of the
        losses, by Hoeffding's lemma. A lower bound as far as the trial values miss the supremum.

    Source: Lintilhac and Shaikh (2026), Appendix A, describe such an estimate at trained networks.
    """
    require_floating(losses=losses)
    if losses.ndim < 1 or losses.shape[-1] < 1:
        raise ValueError(f"expected losses of shape (..., K), K >= 1, got {tuple(losses.shape)}")
    require_finite(losses=losses)
    values = losses.double()
    trial = torch.logspace(-3, 3, 61, dtype=torch.float64) if lambdas is None else lambdas.double()
    if trial.ndim != 1 or not (trial > 0).all():
        raise ValueError("lambdas must be positive, on one axis")
    drop = values.mean(-1, keepdim=True) - values
    sd = drop.square().mean(-1).sqrt()
    unit = drop / torch.where(sd > 0, sd, 1.0)[..., None]
    mgf = torch.stack(
        [torch.logsumexp(t * unit, -1) - math.log(unit.shape[-1]) for t in trial.tolist()], -1
    )
    # below 0.02 the logarithm is rounding noise over lambda**2; the limit is the sd itself
    ratio = torch.where(trial > 0.02, (2 * mgf.clamp(min=0)).sqrt() / trial, 0.0)
    return sd * ratio.amax(-1).clamp(min=1)


def _require_class(N: Tensor, G: Tensor, P: Sequence[Tensor]) -> None:
    require_above_zero(norm_squared=N, sharpness=G)
    if len(P) != 3:
        raise ValueError(f"perturbation takes three coefficients, got {len(P)}")
    for k, p in enumerate(P):
        require_within(f"perturbation[{k}]", p, 0)
