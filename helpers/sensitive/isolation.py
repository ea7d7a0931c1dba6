r"""Random steps in weight space, and what they do to the transformer that computes PARITY.

The transformer is that of :mod:`helpers.sensitive.parity`; the positions stay where they are. Why a
step does so much is in :mod:`helpers.sensitive.steps`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.checks import door, require_amount, require_positive
from helpers.sensitive.parity import HALF, PostNormSpec, forward, parity_transformer, shapes
from helpers.sharpness import Estimate
from helpers.weights import Weights

FIXED = "positions"
"""The weight that no step moves, as in the paper."""
MEMORY = 2**28
"""Bytes that the scores of one evaluation may take, about; one step is always evaluated whole."""


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


@door
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
    size = max(1, MEMORY // (8 * strings * n * n))
    with torch.no_grad():
        outputs = torch.cat(
            [
                forward(spec, members(spec, stepped, at), x[at])
                for at in torch.arange(draws).split(size)
            ]
        )
    found = (outputs - (1 - 2.0 * (x.sum(-1) % 2))).square().mean(-1)
    return Estimate(found.mean(), found.std() / math.sqrt(draws), found)


def members(spec: PostNormSpec, stepped: Weights, at: Tensor | int) -> Weights:
    """Some of the models that :func:`moved` makes; what did not move has no axis of them."""
    return {
        name: stepped[name][at] if stepped[name].ndim > len(shape) else stepped[name]
        for name, shape in shapes(spec).items()
    }
