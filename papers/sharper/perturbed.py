r"""The hand-written network of :mod:`papers.sharper.network` under Gaussian noise: our bounds.

Every weight gets an independent normal variable of standard deviation sigma. Bounds with every
constant derived here, exact quantiles where the law is known, and the noise itself. The bounds are
for the basis of even-parity indicators, and proved in the chapters on the perturbed network; those
to first order are in units of sigma. The closed forms of the authors' notebook are in
:mod:`papers.sharper.tabulated`, whose n, degree and sparsity are meant here too. ``failure`` is
the probability with which a bound may fail, above 0 and below 1. A number out of its range raises
ValueError.
"""

from __future__ import annotations

import math

import torch
from scipy import stats
from torch import Tensor

from helpers.checks import require_amount, require_positive, require_probability, validated
from helpers.rng import Rng
from helpers.weights import Weights
from papers.sharper.network import (
    ConstructionSpec,
    assemble,
    parity_values,
    trapezoid,
)
from papers.sharper.tabulated import require_sizes


@validated
def chi_tail(freedom: int, failure: float, count: int = 1) -> float:
    r"""A level that ``count`` chi variables all stay below, except with probability ``failure``.

    .. math:: \sqrt{k + 2\sqrt{k t} + 2t}, \qquad t = \log\frac{M}{\delta}

    ``freedom`` is k, ``failure`` :math:`\delta`, ``count`` M; the variables may depend on each
    other. The level is that of standard normal components: multiply by sigma.

    Source: Lintilhac and Shaikh (2026), Lemmas 19 and 20, which cite the tail of the chi-squared
    law; the constants are those of Laurent and Massart (2000), Lemma 1.
    """
    _check_tail(freedom, failure, count)
    t = math.log(count / failure)
    return math.sqrt(freedom + 2 * math.sqrt(freedom * t) + 2 * t)


@validated
def chi_quantile(freedom: int, failure: float, count: int = 1) -> float:
    """The least level of which the union bound alone gives what :func:`chi_tail` promises.

    Arguments as there; a chi variable exceeds the result with probability ``failure / count``.

    Source: ours; the quantile is scipy's.
    """
    _check_tail(freedom, failure, count)
    return float(stats.chi.isf(failure / count, freedom))


@validated
def first_attention_noise(n: int, failure: float) -> float:
    r"""Change of a row of Y, in units of sigma: at every position, input and sigma at once.

    .. math::

        |y'_i - y_i| \le \sigma \Bigl( \sqrt2\, \bar\chi_D + \bar\chi_1 \Bigr)

    The first term: a row of attention adds up to 1, so the noise of the value matrix is averaged
    over rows of length at most :math:`\sqrt2`. The second: a score moves by at most
    :math:`2 \sigma \bar\chi_1`, the l1 norm of a softmax by no more than the largest score, and
    the mean of bits by half of that. The two levels :math:`\bar\chi` hold for all positions and
    bits, each but with probability ``failure / 2``.

    Source: the argument of Lemma 21; constants ours.
    """
    require_sizes(n, 1, 1)
    require_probability(failure=failure)
    rows, scores = 2 * (n + 1), 4 * (n + 1) ** 2
    return math.sqrt(2) * chi_quantile(n + 2, failure / 2, rows) + chi_quantile(
        1, failure / 2, scores
    )


@validated
def active_margin(n: int, degree: int) -> float:
    r"""Distance of an active unit from its kink, at least, :math:`1/(4d) - \varepsilon`.

    The leak :math:`\varepsilon` is that of :func:`papers.sharper.network.leaks` at the paper's
    scale, :math:`2 \log n`. It is at most 1/(4d) from n = 3 on.
    """
    others = n + 1 - degree
    return 1 / (4 * degree) - others / (degree * n**2 + others)


@validated
def no_flip_sigma(n: int, degree: int, sparsity: int, failure: float) -> float:
    r"""A sigma up to which no hidden unit flips at a position with a component, at any input.

    A unit of the MLP is at least :func:`active_margin` from its kink. Noise moves it by

    .. math::

        |\Delta y_D| + |\Delta G_h y_i + \Delta b_h| + |\Delta G_h| |\Delta y_i|
        \le \sigma (\bar\chi_1 + \sqrt2 \bar\chi_1 + \sqrt2 \bar\chi_1)
        + \sigma^2 \bar\chi_D (\sqrt2 \bar\chi_D + \bar\chi_1),

    and the result is the sigma at which the two are equal.

    ValueError also for strings so short that the leak of attention reaches the kink.

    Source: the condition of Lemmas 22 and 25; constants ours.
    """
    require_sizes(n, degree, sparsity)
    require_probability(failure=failure)
    margin = active_margin(n, degree)
    if margin <= 0:
        raise ValueError(f"at n = {n} and d = {degree} the leak of attention reaches the kink")
    units, part = 4 * (degree + 1), failure / 4
    linear = (
        chi_quantile(1, part, 4 * sparsity * (n + 1))  # half of a score, whose sd is at most 2
        + math.sqrt(2) * chi_quantile(1, part, 2 * (n + 1))  # last column of the value matrix
        + math.sqrt(2) * chi_quantile(1, part, 2 * units)  # G and b
    )
    quadratic = chi_quantile(n + 2, part / 2, units) * first_attention_noise(n, part / 2)
    return 2 * margin / (linear + math.sqrt(linear**2 + 4 * quadratic * margin))


@validated
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
        weights: As given to :func:`papers.sharper.network.forward`.
        inside: The intermediates that it returned.

    Returns:
        Y of shape ``(*, B, n + 1, D)``, and units of shape ``(*, B, n + 1, H)``.
    """
    value, G = weights["WV1"].unsqueeze(-3), weights["G"].unsqueeze(-3)
    Y = inside["attention1"] @ inside["X"] @ value
    return Y, Y @ G.mT + weights["b"][..., None, None, :]


@validated
def random_network(
    n: int, degree: int, sparsity: int, rng: Rng, least: float | None = None
) -> tuple[ConstructionSpec, Weights]:
    r"""The paper's network at its own scale, 2 log n in both layers, for strings of any length.

    Args:
        n: Bits, at least 2.
        degree: d, from 1 to n.
        sparsity: W, from 1 to n.
        rng: Source of randomness.
        least: None: equal coefficients. A number up to 1: log-uniform ones from it to 1, the first
            exactly that, before all are divided by their norm.

    Returns:
        Sizes and weights; the squares of the coefficients sum to 1, component 1 reads the first d
        bits, and if d is 1 component i reads bit i.
    """
    require_sizes(n, degree, sparsity)
    spec = ConstructionSpec(n, degree, sparsity, "even_parity")
    order = rng.normal(sparsity, n).argsort(1).argsort(1)
    order[0] = torch.arange(n)
    members = torch.eye(n, dtype=torch.int64)[:sparsity] if degree == 1 else (order < degree).long()
    c = torch.ones(sparsity, dtype=torch.float64)
    if least is not None:
        c = rng.log_uniform(least, 1, sparsity)
        c[-1:], c[:1] = 1, least
    scale = 2 * math.log(n)
    return spec, assemble(spec, members, c / c.norm(), (scale, scale))


def parity_spread(weights: Weights, y: Tensor) -> Tensor:
    r"""Standard deviation of what noise on G, b and F changes at a fixed mean y, over sigma.

    .. math:: \Bigl( (1 + y^2) \sum_h F_{Dh}^2\, [u_h > 0] + \sum_h u_h^2 \Bigr)^{1/2}

    Args:
        weights: Of the network, for b and the last row of F.
        y: Means, shape ``(*,)``.

    Source: ours; to first order in sigma.
    """
    u = torch.relu(y[..., None] + weights["b"])
    slopes = (weights["F"][-1] ** 2 * (u > 0)).sum(-1)
    return ((1 + y**2) * slopes + u.square().sum(-1)).sqrt()


@validated
def mlp_jacobian_noise(n: int, degree: int, failure: float) -> float:
    r"""Change of a column of the MLP's Jacobian without flips, to first order, over sigma.

    .. math:: \varphi\, \bar\chi_H + \sqrt H\, \bar\chi_D, \qquad H = 4(d + 1), \quad D = n + 2

    with :math:`\varphi` the norm of the last row of F.

    Source: the argument of Lemma 25; constants ours.
    """
    require_sizes(n, degree, 1)
    require_probability(failure=failure)
    hidden, part = 4 * (degree + 1), failure / 2
    columns = _mlp_sizes(degree)[0] * chi_quantile(hidden, part, n + 2)
    return columns + math.sqrt(hidden) * chi_quantile(n + 2, part, degree + 1)


@validated
def second_attention_noise(
    n: int, degree: int, failure: float, size: float, spread: float
) -> float:
    r"""Change of the second attention in the l1 norm, to first order, over sigma.

    .. math:: 2 \bar\chi_1 + \tfrac12 \bigl( \rho_1 |w| + \rho R \bigr) \bar\chi_H

    ``size`` is :math:`|w|`, the norm of the second scores, ``spread`` R, the range of w and 0. Of
    the hidden units :math:`u_h(y) = (y + b_h)_+`, :math:`\rho = |u(1)|`, :math:`\rho_1 = |u(1) -
    u(0)|`.

    Source: the argument of Lemma 27; constants ours.
    """
    require_sizes(n, degree, 1)
    require_probability(failure=failure)
    (_, rho, reach), part = _mlp_sizes(degree), failure / 3
    turned = (reach * size + rho * spread) / 2 * chi_quantile(4 * (degree + 1), part)
    return 2 * chi_quantile(1, part, 4 * (n + 1)) + turned


@validated
def output_gradient_noise(
    n: int, degree: int, failure: float, total: float, size: float, spread: float
) -> float:
    r"""Change of :math:`\sum_i |\partial f / \partial z_i|`, to first order, over sigma.

    With :math:`\alpha` of :func:`second_attention_noise`, and :math:`\beta` for the output of the
    MLP at any position, flips allowed: its slope times the change of the mean, and its own noise,

    .. math::

        \beta = 2d (\sqrt2 + 1)\, \bar\chi_1 + (\sqrt2\, \varphi + \rho)\, \bar\chi_H, \qquad
        \gamma = \tfrac32 S \alpha + S \beta + \sqrt2\, \bar\chi_1, \\
        S \alpha + \bar\chi_D + \bigl( |w| + \tfrac12 R \bigr) \gamma
        + S \bigl( \sqrt2\, \bar\chi_D + ( \tfrac12 \rho + \tfrac14 \rho_1) |w|\, \bar\chi_H \bigr)

    ``total`` is S, the sum of the coefficients.

    Source: the arguments of Remark 23 and Lemma 28; constants ours.
    """
    require_sizes(n, degree, 1)
    require_probability(failure=failure)
    (phi, rho, reach), part = _mlp_sizes(degree), failure / 4
    alpha = second_attention_noise(n, degree, part, size, spread)
    mean = math.sqrt(2) * chi_quantile(1, part / 3, 2 * (n + 1))
    mean += chi_quantile(1, part / 3, 4 * (n + 1) ** 2)
    units = chi_quantile(4 * (degree + 1), part / 3, 3)
    beta = 2 * degree * mean + (math.sqrt(2) * phi + rho) * units
    row = chi_quantile(n + 2, part, 2 * n + 5)
    gamma = total * (1.5 * alpha + beta) + math.sqrt(2) * chi_quantile(1, part, 2 * (n + 1))
    turned = (rho / 2 + reach / 4) * size * chi_quantile(4 * (degree + 1), part / 3)
    own = total * alpha + row + total * (math.sqrt(2) * row + turned)
    return own + (size + spread / 2) * gamma


def _mlp_sizes(degree: int) -> tuple[float, float, float]:
    """Norms: of the last row of F, of u(1), and of u(1) - u(0)."""
    _, b, F = trapezoid(parity_values(degree, "even_parity"))
    top, low = torch.relu(1 + b), torch.relu(b)
    return F.norm().item(), top.norm().item(), (top - low).norm().item()


def _check_tail(freedom: int, failure: float, count: int) -> None:
    require_positive(freedom=freedom, count=count)
    require_probability(failure=failure)
