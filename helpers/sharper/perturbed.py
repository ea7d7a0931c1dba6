r"""The hand-written network of :mod:`helpers.sharper.network` under Gaussian noise: our bounds.

Every weight gets an independent normal number of standard deviation sigma. Bounds with every
constant derived here, exact quantiles where the law is known, and the noise itself. The closed
forms of the authors' notebook are in :mod:`helpers.sharper.tabulated`.
"""

from __future__ import annotations

import math

import torch
from scipy import stats
from torch import Tensor

from helpers.checks import require_amount, require_positive, require_probability
from helpers.cube import SparseFunction
from helpers.sharper.network import ConstructionSpec, construct_exact
from helpers.sharper.tabulated import require_sizes
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
    require_sizes(n, 1, 1)
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
    require_sizes(n, degree, sparsity)
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
    require_amount(sigma=sigma)
    require_positive(count=count)
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
    require_positive(freedom=freedom, count=count)
    require_probability(failure=failure)
