r"""Bounds on the risk of networks near the hand-written one: PAC-Bayes, Occam, and their rivals.

The posterior is N(theta, sigma**2 I), the prior N(0, sigma**2 I) with the same sigma, fixed before
the sample is seen. With N = \|theta\|**2, sharpness G (half the trace of the loss Hessian), a
perturbation term P and a sub-Gaussian constant Sigma, the bound on a sample of m points is

.. math:: B(\sigma) = \sigma^2 (G + P(\sigma))
    + \Sigma \sqrt{\frac2m \Bigl( \frac{N}{2\sigma^2} + \log\frac1\delta \Bigr)} .

Every function takes numbers or tensors that broadcast. It returns a float if all it was given are
numbers, and a float64 tensor otherwise. Losses are squared errors, logarithms natural, and n is
the number of bits, which the paper calls T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.covers.linear import bound_l1_entries
from helpers.sharper import perturbed

NORMS = ("ours", "length_free", "tabulated", "sinks")
"""Readings of Theorem 10, see :func:`norm_squared`."""
_NO_PERTURBATION = (0.0, 0.0, 0.0)
_HALVINGS = 66  # of an interval of 200: below the rounding of float64


def norm_squared(n: Any, degree: Any, sparsity: Any, reading: str = "ours") -> Any:
    r"""Squared 2-norm of all weights of the construction, in closed form.

    With :math:`M = 16 d^2 (d+1) + 8 (d+1)` for the MLP and :math:`\ell = 4 \log^2 n`:

    ================  =====================================  ====================================
    reading           formula                                source
    ================  =====================================  ====================================
    ``ours``          :math:`1 + W + M + \ell (dW + W)`      sum of bounds on every block
    ``length_free``   :math:`21 + M + \ell dW`               no score but those of the first layer
    ``tabulated``     :math:`21 + M + \ell (dW + n)`         ``generate_plots.ipynb``, newest
    ``sinks``         :math:`21 + M + \ell (dW+n+1-W)`       ``generate_plots.ipynb``, older
    ================  =====================================  ====================================

    ``ours`` is an upper bound if every coefficient lies between n**-4 and 1 and their squares add
    up to at most 1, in both bases and at the scale 2 log n. The 21 is 1 + W at W = 20.

    Args:
        n: Bits, at least 2.
        degree: d, from 1 to n.
        sparsity: W, from 1 to n.
        reading: One of :data:`NORMS`.

    Raises:
        ValueError: a number is outside its range, or an unknown reading.

    Source: Lintilhac and Shaikh (2026), Theorem 10, as tabulated by
    ``paullintilhac/boolean_function_sensitivity``.
    """
    if reading not in NORMS:
        raise ValueError(f"unknown reading {reading!r}; choose one of {', '.join(NORMS)}")
    T, d, W = _tensors(n=n, degree=degree, sparsity=sparsity)
    _whole(n=T, degree=d, sparsity=W)
    _within("n", T, 2, math.inf)
    _within("degree", d, 1, T)
    _within("sparsity", W, 1, T)
    blocks = 16 * d**2 * (d + 1) + 8 * (d + 1)
    scores = 4 * T.log() ** 2
    total = {
        "ours": 1 + W + blocks + scores * (d * W + W),
        "length_free": 21 + blocks + scores * d * W,
        "tabulated": 21 + blocks + scores * (d * W + T),
        "sinks": 21 + blocks + scores * (d * W + T + 1 - W),
    }[reading]
    return _give(total, n, degree, sparsity)


def sharpness(degree: Any, sparsity: Any) -> Any:
    r"""Bound on the squared gradient of the network, half the trace of the loss Hessian.

    .. math:: G_u = 4 + 4 W (2 + d + 32 d^2 + 32 d^3)

    It leaves out the positional rows of F, see the chapter on gradients; it is what the paper's
    bound uses.

    Args:
        degree: d, at least 1.
        sparsity: W, at least 1.

    Source: Lintilhac and Shaikh (2026), Theorems 5 and 14, as tabulated.
    """
    d, W = _tensors(degree=degree, sparsity=sparsity)
    _whole(degree=d, sparsity=W)
    _within("degree", d, 1, math.inf)
    _within("sparsity", W, 1, math.inf)
    return _give(perturbed.gradient_formula(d, W), degree, sparsity)


def perturbation(
    n: int, degree: int, sparsity: int, as_tabulated: bool = False
) -> tuple[float, float, float]:
    r"""Coefficients of the analytic perturbation term, :math:`P = p_0 + p_1 \sigma + p_2 \sigma^2`.

    Args:
        n: Bits, at least 1.
        degree: d, from 1 to n.
        sparsity: W, from 1 to n.
        as_tabulated: With the two terms of the gradient that lack their factor sigma in the
            authors' notebook; then :math:`p_0 > 0`. Otherwise :math:`p_0 = 0`.

    Returns:
        The three coefficients, as :func:`bound` takes them.

    Source: Lintilhac and Shaikh (2026), Theorem 17 and Eq. (9), as tabulated; see
    :func:`helpers.sharper.perturbed.perturbation_term`, of which this is the expansion.
    """
    at_zero = perturbed.gradient_term(n, degree, sparsity, 0.0, as_tabulated=as_tabulated)
    slope = perturbed.gradient_term(n, degree, sparsity, 1.0, as_tabulated=as_tabulated) - at_zero
    base = 2 * math.sqrt(perturbed.gradient_bound(degree, sparsity))
    output = perturbed.output_term(n, degree, sparsity, 1.0)
    output *= perturbed.tabulated_parameter_count(n, degree)
    hessian = perturbed.hessian_at_construction(n, degree, sparsity)
    change = perturbed.hessian_term(n, degree, sparsity, 1.0)
    return (
        2 * at_zero * (base + at_zero),
        2 * slope * (base + 2 * at_zero) + output * hessian,
        2 * slope**2 + output * change,
    )


def gaussian_kl(norm_squared: Any, sigma: Any) -> Any:
    r"""KL of N(theta, sigma**2 I) from N(0, sigma**2 I), :math:`\|\theta\|^2 / (2 \sigma^2)`, nats.

    Args:
        norm_squared: :math:`\|\theta\|^2`, at least 0.
        sigma: Standard deviation of both, positive.
    """
    N, s = _tensors(norm_squared=norm_squared, sigma=sigma)
    _within("norm_squared", N, 0, math.inf)
    _positive(sigma=s)
    return _give(N / (2 * s**2), norm_squared, sigma)


def optimal_lambda(kl: Any, m: Any, delta: Any, subgaussian: Any) -> Any:
    r"""The :math:`\lambda` at which :func:`alquier` is least.

    .. math:: \lambda = \frac{\sqrt{2 m (\mathrm{KL} + \log(1/\delta))}}{\Sigma}

    Legitimate only if the KL is known before the sample is seen.

    Args:
        kl: As in :func:`alquier`.
        m: As there.
        delta: As there.
        subgaussian: As there.
    """
    K, size, d, S = _tensors(kl=kl, m=m, delta=delta, subgaussian=subgaussian)
    _check_kl(K, size, d)
    _positive(subgaussian=S)
    return _give((2 * size * (K - d.log())).sqrt() / S, kl, m, delta, subgaussian)


def alquier(risk: Any, kl: Any, m: Any, delta: Any, subgaussian: Any, lam: Any = None) -> Any:
    r"""PAC-Bayes bound on the mean risk of a posterior, for a sub-Gaussian loss.

    .. math:: \operatorname{E}_\rho R \le \operatorname{E}_\rho r + \frac{\lambda \Sigma^2}{2m}
        + \frac{\mathrm{KL}(\rho\|\pi) + \log(1/\delta)}{\lambda}

    With probability 1 - delta it holds for all posteriors at once, for a lambda fixed before, if
    :math:`\operatorname{E} e^{\lambda (R - \ell)/m} \le e^{\lambda^2 \Sigma^2 / (2 m^2)}` for
    almost every network of the **prior**.

    Args:
        risk: Mean training risk of the posterior, at least 0.
        kl: KL of the posterior from the prior, nats, at least 0.
        m: Sample size, at least 1.
        delta: Probability of failure, between 0 and 1.
        subgaussian: Sigma, in the unit of the loss, at least 0.
        lam: Positive; None is :func:`optimal_lambda`.

    Raises:
        ValueError: a number is outside its range.

    Source: Alquier (2024), Section 2.1, after Catoni (2007); Lintilhac and Shaikh (2026), E.2.
    """
    r, K, size, d, S = _tensors(risk=risk, kl=kl, m=m, delta=delta, subgaussian=subgaussian)
    _within("risk", r, 0, math.inf)
    _check_kl(K, size, d)
    _within("subgaussian", S, 0, math.inf)
    nats = K - d.log()
    if lam is None:
        return _give(r + S * (2 * nats / size).sqrt(), risk, kl, m, delta, subgaussian)
    (weight,) = _tensors(lam=lam)
    _positive(lam=weight)
    total = r + weight * S**2 / (2 * size) + nats / weight
    return _give(total, risk, kl, m, delta, subgaussian, lam)


def bound(
    norm_squared: Any,
    sharpness: Any,
    sigma: Any,
    m: Any,
    subgaussian: Any,
    delta: Any = 0.05,
    perturbation: Sequence[Any] = _NO_PERTURBATION,
) -> Any:
    r"""The bound of Theorem 2 at one sigma.

    .. math:: B(\sigma) = \sigma^2 (G + p_0 + p_1 \sigma + p_2 \sigma^2)
        + \Sigma \sqrt{\frac2m \Bigl( \frac{N}{2\sigma^2} + \log\frac1\delta \Bigr)}

    Args:
        norm_squared: N, positive: *squared*; see :func:`norm_squared`.
        sharpness: G, positive; see :func:`sharpness`.
        sigma: Standard deviation of the noise, positive.
        m: Sample size, at least 1.
        subgaussian: Sigma, at least 0. The paper uses 0.01; a loss in [0, b] has b/2.
        delta: Probability of failure, between 0 and 1.
        perturbation: :math:`(p_0, p_1, p_2)`, each at least 0; see :func:`perturbation`.

    Returns:
        Bound on the risk, in squared output units.

    Raises:
        ValueError: a number is outside its range.

    Source: Lintilhac and Shaikh (2026), Theorem 2 and Appendix E.2.
    """
    N, G, s, size, S, d, *P = _tensors(
        norm_squared=norm_squared,
        sharpness=sharpness,
        sigma=sigma,
        m=m,
        subgaussian=subgaussian,
        delta=delta,
        **_named(perturbation),
    )
    _check_class(N, G, P)
    _positive(sigma=s)
    _within("subgaussian", S, 0, math.inf)
    _check_kl(torch.zeros(()), size, d)
    given = (norm_squared, sharpness, sigma, m, subgaussian, delta, *perturbation)
    nats = N / (2 * s**2) - d.log()
    return _give(_sharp(s, G, P) + S * (2 * nats / size).sqrt(), *given)


def optimal_sigma(
    norm_squared: Any,
    sharpness: Any,
    m: Any,
    subgaussian: Any,
    delta: Any = None,
    perturbation: Sequence[Any] = _NO_PERTURBATION,
) -> Any:
    r"""The sigma at which :func:`bound` is least.

    Without delta and P, the paper's truncated bound :math:`G \sigma^2 + \Sigma \sqrt{N/m}/\sigma`,
    it is

    .. math:: \sigma^* = \Bigl( \frac{\Sigma}{2 G} \sqrt{N/m} \Bigr)^{1/3} .

    Otherwise it is found by bisection: the bound is convex in log sigma.

    Args:
        norm_squared: As in :func:`bound`.
        sharpness: As there.
        m: As there.
        subgaussian: Sigma, positive.
        delta: As there; None leaves log(1/delta) out.
        perturbation: As there.

    Returns:
        Standard deviation; exact up to rounding.

    Source: Lintilhac and Shaikh (2026), Appendix E.2; the bisection is ours.
    """
    N, G, size, S, *P = _tensors(
        norm_squared=norm_squared,
        sharpness=sharpness,
        m=m,
        subgaussian=subgaussian,
        **_named(perturbation),
    )
    confidence = torch.zeros(()) if delta is None else _log_inverse(delta)
    _check_class(N, G, P)
    _positive(subgaussian=S)
    _within("m", size, 1, math.inf)
    given = (norm_squared, sharpness, m, subgaussian, delta, *perturbation)
    closed = (S * (N / size).sqrt() / (2 * G)) ** (1 / 3)
    if not confidence.any() and not any(p.any() for p in P):
        return _give(closed, *given)

    def rising(t: Tensor) -> Tensor:
        s = t.exp()
        norm = N / s**2
        return _sharp_slope(s, G, P) - S * norm / (size * (norm + 2 * confidence)).sqrt()

    shape = torch.broadcast_shapes(*(v.shape for v in (N, G, size, S, confidence, *P)))
    top = closed.log().expand(shape)  # log(1/delta) and P only lower the optimum
    return _give(_zero(rising, top - 200, top).exp(), *given)


def truncated_optimum(norm_squared: Any, sharpness: Any, m: Any, subgaussian: Any) -> Any:
    r"""Least value of the bound without delta and P.

    .. math:: B^* = 3 \Bigl( \frac{\Sigma^2 G N}{4 m} \Bigr)^{1/3}

    The norm term is two thirds of it, the sharpness one third.

    Args:
        norm_squared: As in :func:`optimal_sigma`.
        sharpness: As there.
        m: As there.
        subgaussian: As there.

    Source: the minimum of Lintilhac and Shaikh (2026), Eq. (9); they state the rate m**(-1/3).
    """
    N, G, size, S = _tensors(
        norm_squared=norm_squared, sharpness=sharpness, m=m, subgaussian=subgaussian
    )
    _check_class(N, G, [])
    _positive(subgaussian=S)
    _within("m", size, 1, math.inf)
    value = 3 * (S**2 * G * N / (4 * size)) ** (1 / 3)
    return _give(value, norm_squared, sharpness, m, subgaussian)


def sample_size(
    norm_squared: Any,
    sharpness: Any,
    subgaussian: Any,
    delta: Any = 0.05,
    level: Any = 1.0,
    perturbation: Sequence[Any] = _NO_PERTURBATION,
) -> Any:
    r"""Least number of points at which the bound, at its best sigma, is at most ``level``.

    .. math:: m^* = \min_\sigma \frac{\Sigma^2 (N/\sigma^2 + 2\log(1/\delta))}
        {(q - \sigma^2 (G + P(\sigma)))^2} \approx \frac{27\, \Sigma^2 G N}{4 q^3}

    Args:
        norm_squared: As in :func:`bound`.
        sharpness: As there.
        subgaussian: Sigma, positive.
        delta: As there.
        level: q, positive: 1, or the risk of the best constant, 1/4 for functions whose squared
            coefficients of even-parity indicators add up to 1.
        perturbation: As there.

    Returns:
        At least 1, rounded up to a whole number.

    Source: ours; the logarithm of the fraction is convex in log sigma.
    """
    N, G, S, q, *P = _tensors(
        norm_squared=norm_squared,
        sharpness=sharpness,
        subgaussian=subgaussian,
        level=level,
        **_named(perturbation),
    )
    confidence = _log_inverse(delta)
    _check_class(N, G, P)
    _positive(subgaussian=S, level=q)

    def rising(t: Tensor) -> Tensor:
        s = t.exp()
        norm, room = N / s**2, q - _sharp(s, G, P)
        gain = _sharp_slope(s, G, P) / room - norm / (norm + 2 * confidence)
        return torch.where(room > 0, gain, torch.inf)

    shape = torch.broadcast_shapes(*(v.shape for v in (N, G, S, q, confidence, *P)))
    top = (q / G).sqrt().log().expand(shape)
    s = _zero(rising, top - 200, top).exp()
    needed = S**2 * (N / s**2 + 2 * confidence) / (q - _sharp(s, G, P)) ** 2
    given = (norm_squared, sharpness, subgaussian, delta, level, *perturbation)
    return _give(needed.ceil().clamp(min=1), *given)


def first_sample_size(curve: Callable[[float], float], level: float, largest: float = 1e60) -> int:
    """Least whole m at which a decreasing bound is at most ``level``, by bisection.

    Args:
        curve: The bound as a function of m, not increasing.
        level: Finite.
        largest: Where the search ends.

    Returns:
        m, at least 1; beyond 2**53 exact to 16 digits only.

    Raises:
        ValueError: the curve is still above the level at ``largest``.
    """
    if not math.isfinite(level):
        raise ValueError(f"level must be finite, got {level}")
    if not 1 <= largest < math.inf:
        raise ValueError(f"largest must be finite and at least 1, got {largest}")
    low, high = 0, 1
    while not curve(float(high)) <= level:
        if high >= largest:
            raise ValueError(f"the bound is {curve(float(high)):.6g} > {level} at m = {high:g}")
        low, high = high, min(4 * high, int(largest))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if curve(float(middle)) <= level else (middle, high)
    return high


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

    Raises:
        ValueError: no losses, a value that is not finite, or trial values that are not positive.
        TypeError: losses are not floating.

    Source: Lintilhac and Shaikh (2026), Appendix A, describe such an estimate at trained networks.
    """
    if not losses.is_floating_point():
        raise TypeError(f"losses must be floating, got {losses.dtype}")
    if losses.ndim < 1 or losses.shape[-1] < 1:
        raise ValueError(f"expected losses of shape (..., K), K >= 1, got {tuple(losses.shape)}")
    if not losses.isfinite().all():
        raise ValueError("losses must be finite, found one that is not")
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


def binary_kl(p: Any, q: Any) -> Any:
    r"""KL between coins, :math:`p \log\frac pq + (1-p) \log\frac{1-p}{1-q}`, nats.

    Args:
        p: From 0 to 1.
        q: From 0 to 1; infinite result at 0 or 1 unless p is the same.
    """
    a, b = _tensors(p=p, q=q)
    _within("p", a, 0, 1)
    _within("q", b, 0, 1)
    return _give(_kl(a, b), p, q)


def kl_inverse(p: Any, budget: Any) -> Any:
    """The largest q from p to 1 with ``binary_kl(p, q) <= budget``.

    Args:
        p: From 0 to 1.
        budget: Nats, at least 0.

    Returns:
        Between p and 1; at p = 0 it is ``1 - exp(-budget)``.
    """
    a, c = _tensors(p=p, budget=budget)
    _within("p", a, 0, 1)
    _within("budget", c, 0, math.inf)
    a, c = torch.broadcast_tensors(a, c)
    found = _zero(lambda q: _kl(a, q) - c, a, torch.ones_like(a))
    exact = -torch.expm1(-c)  # bisection cannot resolve a tiny q beside p = 0
    return _give(torch.where(a == 0, exact, found), p, budget)


def occam(risk: Any, log_size: Any, m: Any, delta: Any = 0.05, loss_range: Any = 1.0) -> Any:
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
    r, size, count, d, b = _tensors(
        risk=risk, log_size=log_size, m=m, delta=delta, loss_range=loss_range
    )
    _check_bounded(r, b)
    _within("log_size", size, 0, math.inf)
    _check_kl(size, count, d)
    value = b * torch.as_tensor(kl_inverse(r / b, (size - d.log()) / count))
    return _give(value, risk, log_size, m, delta, loss_range)


def occam_sample_size(
    log_size: Any, delta: Any = 0.05, level: Any = 1.0, loss_range: Any = 1.0, risk: Any = 0.0
) -> Any:
    r"""Least number of points at which :func:`occam` is at most ``level``.

    .. math:: m^* = \Bigl\lceil \frac{\log|H| + \log(1/\delta)}{\mathrm{kl}(r/b, q/b)} \Bigr\rceil

    Args:
        log_size: As in :func:`occam`.
        delta: As there.
        level: q, above the training risk and below ``loss_range``.
        loss_range: As there.
        risk: As there.
    """
    size, q, b, r = _tensors(log_size=log_size, level=level, loss_range=loss_range, risk=risk)
    confidence = _log_inverse(delta)
    _check_bounded(r, b)
    _within("log_size", size, 0, math.inf)
    if not ((q > r) & (q < b)).all():
        raise ValueError(
            f"level must lie between the training risk {_plain(r)} and the range {_plain(b)} of "
            f"the loss, got {_plain(q)}"
        )
    needed = ((size + confidence) / _kl(r / b, q / b)).ceil().clamp(min=1)
    return _give(needed, log_size, delta, level, loss_range, risk)


def pac_bayes_kl(risk: Any, kl: Any, m: Any, delta: Any = 0.05, loss_range: Any = 1.0) -> Any:
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
    r, K, count, d, b = _tensors(risk=risk, kl=kl, m=m, delta=delta, loss_range=loss_range)
    _check_bounded(r, b)
    _check_kl(K, count, d)
    _within("m", count, 8, math.inf)
    nats = K + (2 * count.sqrt()).log() - d.log()
    value = b * torch.as_tensor(kl_inverse(r / b, nats / count))
    return _give(value, risk, kl, m, delta, loss_range)


def log_constructions(
    n: Any, degree: Any, sparsity: Any, classes: Any = 1, coefficient_bits: Any = 0
) -> Any:
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
    T, d, W, k, bits = _tensors(
        n=n, degree=degree, sparsity=sparsity, classes=classes, coefficient_bits=coefficient_bits
    )
    _whole(n=T, degree=d, sparsity=W)
    _within("n", T, 1, math.inf)
    _within("degree", d, 1, T)
    subsets = _log_choose(T, d).exp().round()
    _within("sparsity", W, 1, subsets)
    _within("classes", k, 1, math.inf)
    _within("coefficient_bits", bits, 0, math.inf)
    total = _log_choose(subsets, W) + k.log() + W * bits * math.log(2)
    return _give(total, n, degree, sparsity, classes, coefficient_bits)


def edelman(
    m: Any,
    n: Any,
    width: Any,
    weight_norm: Any,
    input_norm: Any,
    readout_norm: Any,
    depth_factor: Any = 1.0,
) -> Any:
    r"""Leading term of the norm bound of Edelman et al., without its constant.

    .. math:: B_X B_w C_{2,1} \sqrt{\frac{c \log(D m n)}{m}}

    It is the square root of their log covering number at :math:`\epsilon = 1`, over m. The depth
    factor :math:`c = (C_2 L_\sigma)^{O(L)}`, with the spectral norms :math:`C_2`, is 1 unless
    given. So this is no bound, but what a bound of this kind cannot be below.

    Args:
        m: Sample size, at least 1.
        n: Length, at least 1.
        width: D, columns of a token, at least 1.
        weight_norm: Largest (2, 1) norm of a weight matrix, positive.
        input_norm: Largest 2-norm of a token, positive.
        readout_norm: 2-norm of the read-out vector, positive.
        depth_factor: c, positive.

    Source: Edelman et al. (2022), Theorem 4.6; Lintilhac and Shaikh (2026), Eq. (12).
    """
    size, T, D, C, X, w, c = _tensors(
        m=m,
        n=n,
        width=width,
        weight_norm=weight_norm,
        input_norm=input_norm,
        readout_norm=readout_norm,
        depth_factor=depth_factor,
    )
    for name, value in (("m", size), ("n", T), ("width", D)):
        _within(name, value, 1, math.inf)
    _positive(weight_norm=C, input_norm=X, readout_norm=w, depth_factor=c)
    value = X * w * C * (c * (D * size * T).log() / size).sqrt()
    return _give(value, m, n, width, weight_norm, input_norm, readout_norm, depth_factor)


def trauger(m: Any, width: int, weight_norm: float, input_norm: float, readout_norm: float) -> Any:
    r"""Leading term of the length-free norm bound of Trauger and Tewari, without its constant.

    .. math:: B_X B_w C_{1,1} \sqrt{\frac{\log(2 D^2 + 1)}{m}}

    Args:
        m: Sample size, at least 1.
        width: D, columns of a token, at least 1.
        weight_norm: Largest l1 norm of the entries of a weight matrix, positive.
        input_norm: Largest 2-norm of a token, positive.
        readout_norm: 2-norm of the read-out vector, positive.

    Source: Trauger and Tewari (2024), Lemma 3.6; :func:`helpers.covers.linear.bound_l1_entries`.
    """
    (size,) = _tensors(m=m)
    _within("m", size, 1, math.inf)
    if not 1 <= width < math.inf:
        raise ValueError(f"width must be finite and at least 1, got {width}")
    log_size = bound_l1_entries(width, width, readout_norm * weight_norm, input_norm, 1.0)
    return _give((log_size / size).sqrt(), m)


def _sharp(s: Tensor, G: Tensor, P: Sequence[Tensor]) -> Tensor:
    """sigma**2 (G + P), in the order in which no power overflows."""
    p0, p1, p2 = P
    return s**2 * (G + p0 + s * (p1 + s * p2))


def _sharp_slope(s: Tensor, G: Tensor, P: Sequence[Tensor]) -> Tensor:
    """Its derivative in log sigma."""
    p0, p1, p2 = P
    return s**2 * (2 * (G + p0) + s * (3 * p1 + s * 4 * p2))


def _zero(rising: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> Tensor:
    """Where an increasing function changes sign: bisection, elementwise."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = rising(middle) > 0
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    return low


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


def _log_inverse(delta: Any) -> Tensor:
    (d,) = _tensors(delta=delta)
    _confidence(d)
    return -d.log()


def _tensors(**named: Any) -> list[Tensor]:
    """Float64 tensors; ValueError names an argument that holds no finite numbers."""
    found = []
    for name, value in named.items():
        if isinstance(value, bool | str) or value is None:
            raise TypeError(f"{name} must be a number or a tensor, got {value!r}")
        if isinstance(value, Tensor) and (value.is_complex() or value.dtype == torch.bool):
            raise TypeError(f"{name} must be real, got {value.dtype}")
        tensor = torch.as_tensor(value, dtype=torch.float64)  # without it 0.1 is a float32
        if not tensor.isfinite().all():
            raise ValueError(f"{name} must be finite, got {_plain(tensor)}")
        found.append(tensor)
    return found


def _give(value: Tensor, *given: Any) -> Any:
    """A float for numbers, a tensor as soon as one was given."""
    return value if value.ndim or any(isinstance(v, Tensor) for v in given) else value.item()


def _named(coefficients: Sequence[Any]) -> dict[str, Any]:
    if len(coefficients) != 3:
        raise ValueError(f"perturbation takes three coefficients, got {len(coefficients)}")
    return {f"perturbation[{k}]": p for k, p in enumerate(coefficients)}


def _check_class(N: Tensor, G: Tensor, P: Sequence[Tensor]) -> None:
    _positive(norm_squared=N, sharpness=G)
    for k, p in enumerate(P):
        _within(f"perturbation[{k}]", p, 0, math.inf)


def _check_kl(kl: Tensor, m: Tensor, delta: Tensor) -> None:
    _within("kl", kl, 0, math.inf)
    _within("m", m, 1, math.inf)
    _confidence(delta)


def _check_bounded(risk: Tensor, loss_range: Tensor) -> None:
    _positive(loss_range=loss_range)
    _within("risk", risk, 0, loss_range)


def _confidence(delta: Tensor) -> None:
    if not ((delta > 0) & (delta < 1)).all():
        raise ValueError(f"delta must lie between 0 and 1, both excluded, got {_plain(delta)}")


def _positive(**named: Tensor) -> None:
    for name, value in named.items():
        if not (value > 0).all():
            raise ValueError(f"{name} must be positive, got {_plain(value)}")


def _within(name: str, value: Tensor, low: float, high: float | Tensor) -> None:
    if not ((value >= low) & (value <= high)).all():
        top = _plain(torch.as_tensor(high))
        span = f"at least {low}" if top == "inf" else f"from {low} to {top}"
        raise ValueError(f"{name} must be {span}, got {_plain(value)}")


def _whole(**named: Tensor) -> None:
    for name, value in named.items():
        if not (value == value.round()).all():
            raise ValueError(f"{name} must be a whole number, got {_plain(value)}")


def _plain(value: Tensor) -> str:
    """A number, or the ends of a tensor's range."""
    if value.ndim == 0:
        return f"{value.item():.10g}"
    if not value.numel():
        return "none"
    return f"{value.min().item():.6g} to {value.max().item():.6g}"
