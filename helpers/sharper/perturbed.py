r"""The hand-written network of :mod:`helpers.sharper.network` under Gaussian noise: bounds.

Every weight gets an independent normal number of standard deviation sigma. Two kinds of bounds:

*As tabulated.* The closed forms of Theorems 18, 24, 30 and 31 and of the perturbation term P, as
the notebook ``generate_plots.ipynb`` of ``paullintilhac/boolean_function_sensitivity`` evaluates
them. n is the number of bits, d the degree, W the sparsity, D the width of a token, k = D - 1, and
:math:`\ell = \log n`, half the scale of the scores.

*Ours.* Bounds with every constant derived here, and exact quantiles where the law is known.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from scipy import stats
from torch import Tensor

from helpers.cube import SparseFunction
from helpers.sharper.network import ConstructionSpec, construct_exact
from helpers.weights import Weights


def chi_tail(freedom: int, failure: float, count: int = 1) -> float:
    r"""A level that ``count`` chi variables all stay below, except with probability ``failure``.

    .. math:: \sqrt{k + 2\sqrt{k t} + 2t}, \qquad t = \log\frac{M}{\delta}

    Args:
        freedom: Degrees of freedom k of each variable, at least 1.
        failure: :math:`\delta`, above 0 and below 1.
        count: M, at least 1; the variables may depend on each other.

    Returns:
        The level, for standard normal components: multiply by sigma.

    Source: Lintilhac and Shaikh (2026), Lemmas 19 and 20, which cite the tail of the chi-squared
    law; the constants are those of Laurent and Massart (2000), Lemma 1.
    """
    _check_tail(freedom, failure, count)
    t = math.log(count / failure)
    return math.sqrt(freedom + 2 * math.sqrt(freedom * t) + 2 * t)


def chi_quantile(freedom: int, failure: float, count: int = 1) -> float:
    """The least level of which the union bound alone gives what :func:`chi_tail` promises.

    Args:
        freedom: As in :func:`chi_tail`.
        failure: As there.
        count: As there.

    Returns:
        The point that a chi variable exceeds with probability ``failure / count``.

    Source: ours; the quantile is scipy's.
    """
    _check_tail(freedom, failure, count)
    return float(stats.chi.isf(failure / count, freedom))


def parity_noise(degree: int, sigma: float) -> float:
    r"""Change of a parity at a position that holds a component: :math:`32 \sigma d^2`.

    Source: Lemma 22, as it enters the tabulated :func:`output_term`.
    """
    _check(degree, degree, 1, sigma)
    return 32 * sigma * degree**2


def attention_noise(n: int, degree: int, sparsity: int, sigma: float) -> float:
    r"""Change of the second attention in the l1 norm: :math:`128 \sigma d^2 \sqrt W \ell`.

    It is :func:`parity_noise` times the norm :math:`2 \ell \sqrt W` of the scores times 2, the
    paper's constant of the softmax.

    Source: Lemma 27, as it enters the tabulated :func:`output_term`.
    """
    _check(n, degree, sparsity, sigma)
    return 2 * (2 * math.sqrt(sparsity) * math.log(n)) * parity_noise(degree, sigma)


def output_term(
    n: int, degree: int, sparsity: int, sigma: float, width: int | None = None
) -> float:
    r"""Change of the output, :math:`T_p`.

    .. math:: T_p = \sigma \bigl(128 d^2 W \ell + \sqrt{2k} + 32 \sqrt W d^2 \bigr)

    Args:
        n: Bits, at least 1.
        degree: d, from 1 to n.
        sparsity: W, from 1 to n.
        sigma: Standard deviation of the noise, at least 0.
        width: D, columns of a token, at least 2; None is n + 2.

    Source: Theorem 24, as tabulated.
    """
    _check(n, degree, sparsity, sigma)
    k = _width(n, width) - 1
    root = math.sqrt(sparsity)
    scores = root * attention_noise(n, degree, sparsity, sigma)
    return scores + sigma * math.sqrt(2 * k) + root * parity_noise(degree, sigma)


def gradient_term(
    n: int,
    degree: int,
    sparsity: int,
    sigma: float,
    width: int | None = None,
    as_tabulated: bool = False,
) -> float:
    r"""Change of the gradient of the output, in the 2-norm, :math:`G_p`.

    .. math::

        G_p = \sigma \bigl( 128\sqrt2\, d^2 \sqrt W \ell + 192 \sqrt W d^2
        + 128 \sqrt2\, d^2 W^2 \ell + 64 \sqrt2\, k d^2 W^2 \ell + 128 k W^2 \ell d^{3/2}
        + 1024 d^{7/2} W^{3/2} \ell + 8 \sqrt{dW} \ell k + 256 d^{5/2} W^2 k
        + 32 \sqrt d\, W^2 k^2 \bigr)

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        sparsity: As there.
        sigma: As there.
        width: As there.
        as_tabulated: Leave the third and the fourth term without their factor sigma, as the
            notebook has them; the sum then has a positive limit at sigma = 0.

    Source: Theorem 30, as tabulated.
    """
    _check(n, degree, sparsity, sigma)
    k, d, W, log = _width(n, width) - 1, degree, sparsity, math.log(n)
    middle = (128 + 64 * k) * math.sqrt(2) * d**2 * W**2 * log
    others = (
        128 * math.sqrt(2) * d**2 * W**0.5 * log
        + 192 * W**0.5 * d**2
        + 128 * k * W**2 * log * d**1.5
        + 1024 * d**3.5 * W**1.5 * log
        + 8 * math.sqrt(d * W) * log * k
        + 256 * d**2.5 * W**2 * k
        + 32 * math.sqrt(d) * W**2 * k**2
    )
    return sigma * others + (middle if as_tabulated else sigma * middle)


def hessian_at_construction(n: int, degree: int, sparsity: int, width: int | None = None) -> float:
    r"""Operator norm of the Hessian of the output at the construction, :math:`H_u`.

    .. math::

        H_u = 8(d+1) + 6(d+1)\sqrt W + 2\sqrt{3n(d+1)} + \sqrt{48 n d (d+1)} + 3d\sqrt{12n(d+1)}
        + 8\sqrt2\, d \sqrt{kn} + 2d\sqrt{kn} + 8\sqrt2\, k d \sqrt W + 6\sqrt2\, k^{3/2} d

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        sparsity: As there.
        width: As there.

    Source: Theorem 18, as tabulated. It contains no scale of the scores.
    """
    _check(n, degree, sparsity, 0.0)
    k, d, W = _width(n, width) - 1, degree, sparsity
    return (
        8 * (d + 1)
        + 6 * (d + 1) * math.sqrt(W)
        + 2 * math.sqrt(3 * n * (d + 1))
        + math.sqrt(48 * n * d * (d + 1))
        + 3 * d * math.sqrt(12 * n * (d + 1))
        + 8 * math.sqrt(2) * d * math.sqrt(k * n)
        + 2 * d * math.sqrt(k * n)
        + 8 * math.sqrt(2) * k * d * math.sqrt(W)
        + 6 * math.sqrt(2) * k**1.5 * d
    )


def hessian_term(
    n: int, degree: int, sparsity: int, sigma: float, width: int | None = None
) -> float:
    r"""Change of the Hessian of the output, in the operator norm, :math:`H_p`.

    .. math::

        H_p = \sigma \bigl( 768\sqrt2\, d^2 W^{3/2} k \ell + 256 W^{3/2} k^2 d^{3/2} \ell
        + 1024 d^{7/2} W^{3/2} \ell + 512 d^{5/2} W^{3/2} k^2 \ell
        + 1536 d^{7/2} W^{5/2} \sqrt k\, \ell^2 + 768 d^2 W^{5/2} k \ell^2
        + 16 W^2 k^{5/2} \ell \bigr)

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        sparsity: As there.
        sigma: As there.
        width: As there.

    Source: Theorem 31, as tabulated.
    """
    _check(n, degree, sparsity, sigma)
    k, d, W, log = _width(n, width) - 1, degree, sparsity, math.log(n)
    return (
        sigma
        * log
        * (
            768 * math.sqrt(2) * d**2 * W**1.5 * k
            + 256 * W**1.5 * k**2 * d**1.5
            + 1024 * d**3.5 * W**1.5
            + 512 * d**2.5 * W**1.5 * k**2
            + 1536 * d**3.5 * W**2.5 * math.sqrt(k) * log
            + 768 * d**2 * W**2.5 * k * log
            + 16 * W**2 * k**2.5
        )
    )


def parameter_count(n: int, degree: int, width: int | None = None) -> int:
    r"""Number of weights, :math:`3 D^2 + D + (8D + 4)(d + 1)`.

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        width: As there.

    Source: ours: three score and value matrices, the read-out, and G, F, b with 4(d + 1) units.
    """
    _check(n, degree, 1, 0.0)
    D = _width(n, width)
    return 3 * D**2 + D + (8 * D + 4) * (degree + 1)


def tabulated_parameter_count(n: int, degree: int, width: int | None = None) -> int:
    r""":math:`\Theta = 3(k+1)^2 + (k+1) + (8k + 6)(d+1)`: the weights, but 6(d + 1) of them.

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        width: As there.

    Source: Theorem 17, as tabulated.
    """
    _check(n, degree, 1, 0.0)
    D = _width(n, width)
    return 3 * D**2 + D + (8 * (D - 1) + 6) * (degree + 1)


def gradient_formula(d: Any, W: Any) -> Any:
    """The formula of :func:`gradient_bound` alone, for numbers or tensors, unchecked."""
    return 4 + 4 * W * (2 + d + 32 * d**2 + 32 * d**3)


def gradient_bound(degree: int, sparsity: int) -> float:
    r"""Squared norm of the gradient at the construction, :math:`G_u`.

    .. math:: G_u = 4 + 4W(2 + d + 32 d^2 + 32 d^3)

    Args:
        degree: d, at least 1.
        sparsity: W, at least 1.

    Source: Theorem 14, as tabulated.
    """
    _check(max(degree, sparsity), degree, sparsity, 0.0)
    return gradient_formula(degree, sparsity)


def perturbation_term(
    n: int,
    degree: int,
    sparsity: int,
    sigma: float,
    width: int | None = None,
    as_tabulated: bool = False,
) -> float:
    r"""What noise adds to the sharpness :math:`G_u` in the analytic bound.

    .. math:: P = 2 G_p \bigl(2\sqrt{G_u} + G_p\bigr) + T_p (H_u + H_p)\, \Theta

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        sparsity: As there.
        sigma: As there.
        width: As there.
        as_tabulated: As in :func:`gradient_term`.

    Source: Theorem 17 and Eq. (9), as tabulated.
    """
    gradient = gradient_term(n, degree, sparsity, sigma, width, as_tabulated)
    hessian = hessian_at_construction(n, degree, sparsity, width)
    hessian += hessian_term(n, degree, sparsity, sigma, width)
    return 2 * gradient * (
        2 * math.sqrt(gradient_bound(degree, sparsity)) + gradient
    ) + output_term(n, degree, sparsity, sigma, width) * hessian * tabulated_parameter_count(
        n, degree, width
    )


def perturbed_trace_bound(
    n: int, degree: int, sparsity: int, sigma: float, width: int | None = None
) -> float:
    r"""Trace of the Hessian of the squared loss at the perturbed construction.

    .. math:: 2\bigl(\sqrt{G_u} + G_p\bigr)^2 + 2 T_p (H_u + H_p)\, \Theta

    with the exact number of weights for :math:`\Theta`.

    Args:
        n: As in :func:`output_term`.
        degree: As there.
        sparsity: As there.
        sigma: As there.
        width: As there.

    Source: Theorem 17, with :func:`parameter_count`.
    """
    gradient = math.sqrt(gradient_bound(degree, sparsity))
    gradient += gradient_term(n, degree, sparsity, sigma, width)
    hessian = hessian_at_construction(n, degree, sparsity, width)
    hessian += hessian_term(n, degree, sparsity, sigma, width)
    error = output_term(n, degree, sparsity, sigma, width)
    return 2 * gradient**2 + 2 * error * hessian * parameter_count(n, degree, width)


def first_attention_noise(n: int, failure: float) -> float:
    r"""Change of a row of Y, in units of sigma: at every position, input and sigma at once.

    .. math::

        |y'_i - y_i| \le \sigma \Bigl( \sqrt2\, \bar\chi_D + \bar\chi_1 \Bigr)

    The first term: a row of attention adds up to 1, so the noise of the value matrix is averaged
    over rows of length at most :math:`\sqrt2`. The second: a score moves by at most
    :math:`2 \sigma \bar\chi_1`, the l1 norm of a softmax by no more than the largest score, and
    the mean of bits by half of that. The two levels :math:`\bar\chi` hold for all positions and
    bits, each but with probability ``failure / 2``.

    Args:
        n: Bits, at least 1.
        failure: Probability that the bound fails, above 0 and below 1.

    Source: the argument of Lemma 21; constants ours.
    """
    _check(n, 1, 1, 0.0)
    rows, scores = 2 * (n + 1), 4 * (n + 1) ** 2
    return math.sqrt(2) * chi_quantile(n + 2, failure / 2, rows) + chi_quantile(
        1, failure / 2, scores
    )


def no_flip_sigma(n: int, degree: int, sparsity: int, failure: float, leak: float = 0.0) -> float:
    r"""A sigma up to which no hidden unit flips at a position with a component, at any input.

    A unit of the MLP is at least :math:`1/(4d) - \varepsilon` from its kink. Noise moves it by

    .. math::

        |\Delta y_D| + |\Delta G_h y_i + \Delta b_h| + |\Delta G_h| |\Delta y_i|
        \le \sigma (\bar\chi_1 + \sqrt2 \bar\chi_1 + \sqrt2 \bar\chi_1)
        + \sigma^2 \bar\chi_D (\sqrt2 \bar\chi_D + \bar\chi_1),

    and the result is the sigma at which the two are equal.

    Args:
        n: Bits.
        degree: d, from 1 to n.
        sparsity: W, from 1 to n.
        failure: Probability that a unit flips all the same, above 0 and below 1.
        leak: :math:`\varepsilon`, how far a mean is from its grid point before the noise, at
            least 0 and below 1/(4d); see :func:`helpers.sharper.network.leaks`.

    Source: the condition of Lemmas 22 and 25; constants ours.
    """
    _check(n, degree, sparsity, 0.0)
    margin = 1 / (4 * degree) - leak
    if not 0 < margin <= 1 / (4 * degree):
        raise ValueError(f"leak must lie in [0, 1/(4d)) = [0, {1 / (4 * degree):.6g}), got {leak}")
    units, part = 4 * (degree + 1), failure / 4
    linear = (
        chi_quantile(1, part, 4 * sparsity * (n + 1))  # half of a score, whose sd is at most 2
        + math.sqrt(2) * chi_quantile(1, part, 2 * (n + 1))  # last column of the value matrix
        + math.sqrt(2) * chi_quantile(1, part, 2 * units)  # G and b
    )
    quadratic = chi_quantile(n + 2, part / 2, units) * first_attention_noise(n, part / 2)
    return 2 * margin / (linear + math.sqrt(linear**2 + 4 * quadratic * margin))


def construct_smooth(function: SparseFunction) -> tuple[ConstructionSpec, Weights]:
    r"""The mended network with its idle positions inside their plateau, away from every kink.

    :func:`helpers.sharper.network.construct_exact` lets an idle position reach the end of
    the plateau, :math:`1/(4d)`, at the input of all ones, where the output has no gradient. Here

    .. math:: (W_{KQ}^{(1)})_{j,\, n+1} = \log((8d - 1)\, n), \qquad W < j \le n + 1

    stops it at :math:`1/(8d)`. The output is the same function, without error.

    Args:
        function: As for :func:`helpers.sharper.network.construct`, of at least 4 bits, so
            that the active positions are inside their plateaus too.

    Returns:
        Sizes and weights, float64.

    Source: ours.
    """
    spec, weights = construct_exact(function)
    if spec.n < 4:
        raise ValueError(f"the function needs at least 4 bits, got {spec.n}")
    weights["WKQ1"][spec.sparsity : spec.n + 1, spec.n] = math.log((8 * spec.degree - 1) * spec.n)
    return spec, weights


def perturb(weights: Weights, sigma: float, count: int, generator: torch.Generator) -> Weights:
    """An ensemble of copies with independent normal noise of standard deviation ``sigma``.

    Args:
        weights: Floating tensors, without an ensemble axis.
        sigma: At least 0.
        count: Copies E, at least 1.
        generator: Source of randomness; the same state gives the same noise whatever sigma.

    Returns:
        The same names, each with a leading axis E.
    """
    if not 0 <= sigma < math.inf:
        raise ValueError(f"sigma must be finite and at least 0, got {sigma}")
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    return {
        name: block
        + sigma * torch.randn(count, *block.shape, generator=generator, dtype=block.dtype)
        for name, block in weights.items()
    }


def hidden_units(weights: Weights, inside: Weights) -> tuple[Tensor, Tensor]:
    r"""The first attention's output Y in all columns, and what the MLP's units see, Y G^T + b.

    Args:
        weights: As given to :func:`helpers.sharper.network.forward`.
        inside: The intermediates that it returned.

    Returns:
        Y of shape ``(*, B, n + 1, D)``, and units of shape ``(*, B, n + 1, H)``.
    """
    value, G = weights["WV1"].unsqueeze(-3), weights["G"].unsqueeze(-3)
    Y = inside["attention1"] @ inside["X"] @ value
    return Y, Y @ G.mT + weights["b"][..., None, None, :]


def kink_margin(spec: ConstructionSpec, weights: Weights, inside: Weights) -> Tensor:
    """Least distance of a hidden unit from its kink, per position: ``(*, B, n + 1)``.

    Args:
        spec: Sizes.
        weights: As in :func:`hidden_units`.
        inside: As there.
    """
    if weights["b"].shape[-1] != spec.hidden:
        raise ValueError(f"the MLP has {weights['b'].shape[-1]} units, not {spec.hidden}")
    return hidden_units(weights, inside)[1].abs().amin(-1)


def _check_tail(freedom: int, failure: float, count: int) -> None:
    if freedom < 1:
        raise ValueError(f"degrees of freedom must be at least 1, got {freedom}")
    if not 0 < failure < 1:
        raise ValueError(f"failure must lie between 0 and 1, got {failure}")
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")


def _check(n: int, degree: int, sparsity: int, sigma: float) -> None:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    for name, value in (("degree", degree), ("sparsity", sparsity)):
        if not 1 <= value <= n:
            raise ValueError(f"{name} must lie between 1 and n = {n}, got {value}")
    if not 0 <= sigma < math.inf:
        raise ValueError(f"sigma must be finite and at least 0, got {sigma}")


def _width(n: int, width: int | None) -> int:
    if width is None:
        return n + 2
    if width < 2:
        raise ValueError(f"width must be at least 2, got {width}")
    return width
