r"""Losses and outputs when the weights move at random: means, remainders, direction sharpness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor

from helpers.checks import require_amount, require_choice, validated
from helpers.sharpness.point import (
    Generator,
    Loss,
    LossAtWeights,
    ParameterSelection,
    SquaredLoss,
    for_each_model,
    mean_and_error,
    require_draws,
    require_inputs,
)
from helpers.weights import Forward, Weights

SHAPES = ("sphere", "gaussian")


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over draws, its standard error, and the drawn values, shape ``(draws,)``."""

    mean: Tensor
    stderr: Tensor
    values: Tensor


@dataclass(frozen=True, eq=False)
class Remainder:
    r"""Terms of E L(theta + sigma U) = L + sigma^2/2 tr H + remainder.

    Attributes:
        loss: L, at the weights themselves.
        mean: The remainder, estimated without bias.
        stderr: Standard error of ``mean``.
        values: What was averaged, shape ``(draws,)``.
        quadratic: :math:`U^\top H U` of each draw, shape ``(draws,)``, of mean tr H.
    """

    loss: Tensor
    mean: Tensor
    stderr: Tensor
    values: Tensor
    quadratic: Tensor


@validated
@for_each_model
def perturbed_loss(
    loss: Loss,
    weights: Weights,
    sigma: float,
    draws: int,
    generator: Generator = None,
    **choice: Unpack[ParameterSelection],
) -> Estimate:
    r"""Mean loss when every chosen weight gets independent Gaussian noise.

    .. math:: \mathbb E_{U \sim N(0, I)}\, L(\theta + \sigma U)

    Args:
        loss: Any function of the weights that returns one number; for an ensemble also one a model.
        weights: As for :func:`helpers.sharpness.hessian_trace`.
        sigma: Standard deviation, not variance, at least 0.
        draws: Evaluations of the loss, at least 2.
        generator: Source of randomness; None: torch's own. The same seed gives the same
            directions whatever sigma.
        choice: Which weights move, ensembles, memory: see :class:`ParameterSelection`.

    Returns:
        Unbiased mean, its standard error, and the losses drawn.

    Raises:
        ValueError: a number outside its range, no weights chosen, a pattern without a match, or a
            loss that is not one number.
        TypeError: weights that are not floating.
        MemoryError: one evaluation would take more than ``memory``.

    Cost: ``draws`` evaluations, vectorised.

    Example:
        >>> import torch
        >>> from helpers.sharpness import perturbed_loss
        >>> square = lambda weights: weights["a"].square().sum()
        >>> start = {"a": torch.zeros(4, dtype=torch.float64)}
        >>> found = perturbed_loss(square, start, 0.1, 1000, torch.Generator().manual_seed(0))
        >>> bool((found.mean - 0.04).abs() < 4 * found.stderr)  # 4 sigma^2
        True
    """
    require_amount(sigma=sigma)
    require_draws(draws)
    point = LossAtWeights(loss, weights, choice)
    return _estimate(point.losses(sigma * U for U in point.normal(draws, generator)))


@validated
@for_each_model
def perturbation_remainder(
    loss: Loss,
    weights: Weights,
    sigma: float,
    draws: int,
    generator: Generator = None,
    **choice: Unpack[ParameterSelection],
) -> Remainder:
    r"""What the trace leaves out of the mean perturbed loss.

    .. math::

        \mathbb E\, L(\theta + \sigma U) = L(\theta) + \tfrac{\sigma^2}2 \operatorname{tr} H + R,
        \qquad R = \mathbb E \Bigl[ \tfrac12 L(\theta + \sigma U) + \tfrac12 L(\theta - \sigma U)
        - L(\theta) - \tfrac{\sigma^2}2 U^\top H U \Bigr]

    Each bracket is of order :math:`\sigma^4` where the loss is smooth, so that R is resolved at
    any sigma down to where rounding of the loss takes over. Where ReLUs have kinks within reach of
    sigma, H does not see the change of slope across them, and a bracket is of order
    :math:`\sigma |f - y|`: away from an interpolator R may be as large as the term of the trace.

    Args:
        loss: Any function of the weights that returns one number; for an ensemble also one a model.
        weights: As for :func:`helpers.sharpness.hessian_trace`.
        sigma: Standard deviation, at least 0.
        draws: Of U, at least 2.
        generator: Source of randomness; None: torch's own. The same seed gives the same U whatever
            sigma.
        choice: Which weights move, ensembles, memory: see :class:`ParameterSelection`.

    Returns:
        The loss, R without bias, its standard error, the brackets, and each :math:`U^\top H U`.

    Raises:
        ValueError, TypeError, MemoryError: as :func:`perturbed_loss`.

    Cost: two evaluations and one product with the Hessian a draw, vectorised. Source: ours; the
    identity is that of Lintilhac and Shaikh (2026), Theorem 12.

    Example:
        >>> import torch
        >>> from helpers.sharpness import perturbation_remainder
        >>> square = lambda weights: weights["a"].square().sum()
        >>> start = {"a": torch.ones(4, dtype=torch.float64)}
        >>> found = perturbation_remainder(square, start, 0.1, 10, torch.Generator().manual_seed(0))
        >>> bool(found.mean.abs() < 1e-12)  # a quadratic has no remainder
        True
    """
    require_amount(sigma=sigma)
    require_draws(draws)
    point = LossAtWeights(loss, weights, choice)
    U = list(point.normal(draws, generator))
    pairs = point.losses(sign * sigma * u for u in U for sign in (1, -1)).view(-1, 2)
    here = point.value(point.live)
    forms = point.quadratic_forms(iter(U))
    values = (pairs - here).mean(1) - sigma**2 / 2 * forms
    return Remainder(here, *mean_and_error(values), values, forms)


@validated
@for_each_model
def direction_sharpness(
    forward: Forward,
    weights: Weights,
    inputs: Tensor,
    rho: float,
    draws: int,
    generator: Generator = None,
    *,
    shape: str = "sphere",
    **choice: Unpack[ParameterSelection],
) -> Estimate:
    r"""Average direction sharpness: how far outputs move when the weights move by rho.

    .. math:: L_\rho = \mathbb E_x \mathbb E_{|\Delta| = \rho} (T_{\theta + \Delta}(x) - T(x))^2

    Args:
        forward: ``forward(weights, inputs) -> outputs (B,)``.
        weights: As for :func:`helpers.sharpness.hessian_trace`. The paper moves all but the
            positional encodings.
        inputs: The x, shape ``(B, ...)``, at least one, the same for all models.
        rho: At least 0. Of ``"sphere"`` the length of Delta, all chosen weights together; of
            ``"gaussian"`` the standard deviation of each number in it, so that its length is about
            rho times the root of how many there are.
        draws: Of Delta, each used for all inputs, at least 2.
        generator: Source of randomness; None: torch's own.
        shape: ``"sphere"``, uniform on it, or ``"gaussian"``.
        choice: Which weights move, ensembles, memory: see :class:`ParameterSelection`.

    Returns:
        Unbiased mean over Delta, its standard error given the inputs, and the mean over inputs of
        each draw.

    Raises:
        ValueError: an unknown shape, and as :func:`perturbed_loss`.
        TypeError, MemoryError: as :func:`perturbed_loss`.

    Source: Hahn and Rofin (2024), Eq. (15).

    Example:
        >>> import torch
        >>> from helpers.sharpness import direction_sharpness
        >>> forward = lambda weights, x: x @ weights["a"]
        >>> start, generator = {"a": torch.zeros(1)}, torch.Generator().manual_seed(0)
        >>> direction_sharpness(forward, start, torch.ones(3, 1), 0.5, 10, generator).mean  # rho^2
        tensor(0.2500)
    """
    require_choice("shape", shape, SHAPES)
    require_amount(rho=rho)
    require_draws(draws)
    require_inputs(inputs)
    with torch.no_grad():
        still = forward(weights, inputs)
    point = LossAtWeights(SquaredLoss(forward, inputs, still), weights, choice)
    U = point.normal(draws, generator)
    return _estimate(point.losses(rho * (u / u.norm() if shape == "sphere" else u) for u in U))


def _estimate(values: Tensor) -> Estimate:
    return Estimate(*mean_and_error(values), values)
