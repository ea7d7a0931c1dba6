r"""Sensitive functions are isolated in weight space: Lemma 21, random steps, and what is measured.

Functions that differ in average sensitivity are apart (Lemma 21). What a random step does to the
PARITY transformer of :mod:`helpers.sensitive.parity` is measured here; the positions stay where
they are. Why it does so is in :mod:`helpers.sensitive.steps`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from helpers.checks import require_amount, require_positive
from helpers.cube import average_sensitivity
from helpers.sensitive.parity import HALF, PostNormSpec, forward, parity_transformer, shapes
from helpers.sharpness import Estimate
from helpers.weights import Weights

FIXED = "positions"
"""The weight that no step moves, as in the paper."""
MEMORY = 2**28
"""Bytes that the scores of one evaluation may take, about."""


def leading_term(sensitivity: Tensor, square: Tensor, n: int, alpha: float) -> Tensor:
    r"""What Lemma 21 leaves of f where the other function is not sensitive at all.

    .. math:: A = \frac{(1 - 1/\alpha)\, \mathrm{as}(f)}{n - \mathrm{as}(f) / (\alpha \|f\|^2)}

    It is a lower bound on the weight of f at degrees of at least
    :math:`\mathrm{as}(f) / (\alpha \|f\|^2)`.

    Args:
        sensitivity: as(f), shape ``(*batch,)``, from 0 to n times ``square``.
        square: :math:`\|f\|^2 = \mathbb E f^2`, the same shape, positive.
        n: Bits, at least 1.
        alpha: Above 1; may be infinite.

    Raises:
        ValueError: a number outside its range.

    Source: Hahn and Rofin (2024), Eq. (59).
    """
    require_positive(n=n)
    _check_alpha(alpha)
    slack = 1e-9 * n * square  # rounding of the two sums
    wrong = (square <= 0) | (sensitivity < 0) | (sensitivity > n * square + slack)
    if bool(wrong.any()):
        raise ValueError(
            f"expected 0 <= as(f) <= {n} |f|^2 with |f| > 0, found as(f) = "
            f"{sensitivity.expand(wrong.shape)[wrong][0].item()} at |f|^2 = "
            f"{square.expand(wrong.shape)[wrong][0].item()}"
        )
    return (1 - 1 / alpha) * sensitivity / (n - sensitivity / square / alpha)


def distance_bound(f: Tensor, g: Tensor, alpha: float) -> Tensor:
    r"""Lower bound on the distance of two functions from their sensitivities.

    .. math:: \|f - g\| \ge \sqrt A - \|f\| \sqrt{\alpha\, \mathrm{as}(g) / \mathrm{as}(f)}

    with A of :func:`leading_term` and :math:`\|f\|^2 = \mathbb E f^2`.

    Args:
        f: Values, shape ``(*batch, 2**n)``, n at least 1, of positive sensitivity.
        g: Values, the same shape.
        alpha: Above 1, finite.

    Returns:
        Shape ``(*batch,)``; negative where the lemma says nothing.

    Raises:
        ValueError: a constant f, shapes that differ, or alpha out of range.

    Cost: two transforms. Source: Hahn and Rofin (2024), Lemma 21.
    """
    if f.shape != g.shape:
        raise ValueError(f"f and g must share a shape, got {tuple(f.shape)} and {tuple(g.shape)}")
    if not math.isfinite(alpha):
        raise ValueError(f"alpha must be above 1 and finite, got {alpha}")
    of_f, of_g, square = average_sensitivity(f), average_sensitivity(g), f.square().mean(-1)
    if not bool((of_f > 0).all()):
        raise ValueError("f must not be constant: the lemma divides by its sensitivity")
    lead = leading_term(of_f, square, f.shape[-1].bit_length() - 1, alpha)
    return lead.sqrt() - (square * alpha * of_g / of_f).sqrt()


def moved(
    weights: Weights,
    rho: float,
    draws: int,
    generator: torch.Generator,
    only: Sequence[str] | None = None,
) -> Weights:
    """Weights after random steps of length rho, uniform on the sphere.

    Args:
        weights: Of one model, floating, of one dtype.
        rho: At least 0.
        draws: Steps, at least 1.
        generator: Source of randomness; the steps are those of
            :func:`helpers.sharpness.direction_sharpness`.
        only: Names of the weights that move; None: all but the positions.

    Returns:
        The same names; those that move with a leading axis of ``draws``.

    Raises:
        ValueError: a number out of range, or no weight of a name.
    """
    require_positive(draws=draws)
    require_amount(rho=rho)
    names = [name for name in weights if name != FIXED] if only is None else list(only)
    if not names or not set(names) <= weights.keys():
        raise ValueError(f"expected names among {', '.join(weights)}; got {names}")
    sizes = [weights[name].numel() for name in names]
    dtype = weights[names[0]].dtype
    steps = torch.stack(
        [torch.randn(sum(sizes), generator=generator, dtype=dtype) for _ in range(draws)]
    )
    parts = (steps * (rho / steps.norm(dim=1, keepdim=True))).split(sizes, 1)
    return weights | {
        name: weights[name] + part.view(draws, *weights[name].shape)
        for name, part in zip(names, parts, strict=True)
    }


def parity_sharpness(
    n: int,
    rho: float,
    draws: int,
    strings: int,
    generator: torch.Generator,
    only: Sequence[str] | None = None,
    half: int = HALF,
) -> Estimate:
    r"""Average direction sharpness of the PARITY transformer, with fresh strings for each step.

    .. math:: L_{\rho, n} = \mathbb E_x \mathbb E_{|\Delta| = \rho}
        (T_{\theta + \Delta}(x) - T_\theta(x))^2

    Args:
        n: Bits, at least 1.
        rho: Length of a step, at least 0.
        draws: Steps, at least 2.
        strings: Uniform strings for each step, at least 1.
        generator: Source of randomness.
        only: Names of the weights that move; None: all but the positions.
        half: Half the width of the transformer, at least 9.

    Returns:
        Unbiased mean and its standard error, over steps and strings; the mean of each step.

    Raises:
        ValueError: a number out of range.

    Cost: draws times strings runs of about ``64 n**2`` multiplications.
    Source: Hahn and Rofin (2024), Eq. (15).
    """
    require_positive(strings=strings)
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws}")
    spec, weights = parity_transformer(n, half)
    stepped = moved(weights, rho, draws, generator, only)
    x = torch.randint(0, 2, (draws, strings, n), generator=generator, dtype=torch.uint8)
    outputs = []
    with torch.no_grad():
        for at in _chunks(draws, strings * n * n):
            some = members(spec, stepped, at)
            parts = [forward(spec, some, x[at, few]) for few in _chunks(strings, n * n)]
            outputs.append(torch.cat(parts, -1))
    found = (torch.cat(outputs) - _parity(x)).square().mean(-1)
    return Estimate(found.mean(), found.std() / math.sqrt(draws), found)


def crossing(lengths: Sequence[float], values: Tensor, level: float) -> Tensor:
    """Where values first rise through a level, by linear interpolation in the logarithm of length.

    Args:
        lengths: Increasing, positive, at least two.
        values: Shape ``(*batch, len(lengths))``.
        level: Below it at the first length.

    Returns:
        Shape ``(*batch,)``; nan where the level is not reached, or exceeded from the start.

    Raises:
        ValueError: lengths that do not increase, or another number of values.
    """
    at = torch.as_tensor(lengths, dtype=values.dtype)
    if len(at) < 2 or not bool((at > 0).all() and (at.diff() > 0).all()):
        raise ValueError(f"lengths must be positive and increase, got {list(lengths)}")
    if values.shape[-1:] != at.shape:
        raise ValueError(f"expected {len(at)} values, got shape {tuple(values.shape)}")
    above = values >= level
    right = above.int().argmax(-1, keepdim=True)
    left = (right - 1).clamp(min=0)
    low, high = values.gather(-1, left), values.gather(-1, right)
    share = (level - low) / (high - low)
    log = at.log()
    found = (log[left] + share * (log[right] - log[left])).exp().squeeze(-1)
    return torch.where(above.any(-1) & ~above[..., 0], found, math.nan)


def _parity(x: Tensor) -> Tensor:
    """+1 where the number of ones is even, -1 where it is odd."""
    return 1.0 - 2.0 * (x.sum(-1) % 2)


def members(spec: PostNormSpec, stepped: Weights, at: slice | int) -> Weights:
    """Some of the models that :func:`moved` makes; what did not move has no axis of them."""
    return {
        name: stepped[name][at] if stepped[name].ndim > len(shape) else stepped[name]
        for name, shape in shapes(spec).items()
    }


def _chunks(total: int, numbers: int) -> Iterator[slice]:
    """Slices of so many that float64 scores, ``numbers`` for each, fit in memory."""
    size = max(1, MEMORY // (8 * numbers))
    return (slice(start, start + size) for start in range(0, total, size))


def _check_alpha(alpha: float) -> None:
    if not alpha > 1:
        raise ValueError(f"alpha must be above 1, got {alpha}")
