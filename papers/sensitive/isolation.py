r"""Random steps in weight space, and what they do to the transformer that computes PARITY.

The transformer is that of :mod:`papers.sensitive.parity`; the positions stay where they are. Why a
step does so much is in :mod:`papers.sensitive.steps`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from helpers.checks import require_amount, require_positive, validated
from helpers.sharpness import Estimate
from helpers.weights import Weights
from papers.sensitive.parity import PostNormSpec, forward

FIXED = "positions"
"""The weight that no step moves, as in the paper."""
MEMORY = 2**28
"""Bytes that the scores of one evaluation may take, about; one step is always evaluated whole."""


@validated
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


def parity_of(strings: Tensor) -> Tensor:
    """+1 for an even number of ones and -1 for an odd one, of bits ``(*, n)``: shape ``(*)``."""
    return 1 - 2.0 * (strings.sum(-1) % 2)


@validated
def parity_sharpness(
    spec: PostNormSpec,
    weights: Weights,
    rho: float,
    draws: int,
    strings: int,
    generator: torch.Generator,
    *,
    only: Sequence[str] | None = None,
    network: Callable[[PostNormSpec, Weights, Tensor], Tensor] = forward,
) -> Estimate:
    r"""Average direction sharpness of a network that computes PARITY, fresh strings for each step.

    .. math:: L_{\rho, n} = \mathbb E_x \mathbb E_{|\Delta| = \rho}
        (T_{\theta + \Delta}(x) - T_\theta(x))^2

    Args:
        spec: The model.
        weights: With which its outputs are those of :func:`parity_of`, which is not checked.
        rho: Length of a step, at least 0.
        draws: Steps, at least 2.
        strings: Uniform strings for each step, at least 1.
        generator: Source of randomness.
        only: Names of the weights that move; None: all but the positions.
        network: The model's outputs; :func:`papers.sensitive.two_norms.forward` is another.

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
    stepped = moved(weights, rho, draws, generator, only)
    x = torch.randint(0, 2, (draws, strings, spec.n), generator=generator, dtype=torch.uint8)
    outputs = []
    with torch.no_grad():
        for at in torch.arange(draws).split(max(1, MEMORY // (8 * strings * spec.n**2))):
            some = {k: w if w is weights[k] else w[at] for k, w in stepped.items()}
            outputs.append(network(spec, some, x[at]))
    found = (torch.cat(outputs) - parity_of(x)).square().mean(-1)
    return Estimate(found.mean(), found.std() / math.sqrt(draws), found)


@validated
def climb(
    start: Weights, ratio: Callable[[Weights], Tensor], rate: float, count: int
) -> tuple[float, Weights]:
    """The largest ratio on a path of Adam up its logarithm, and the weights there.

    Args:
        start: Weights at which the path begins; they stay what they are.
        ratio: A number above 0, through which gradients flow; it may differ from call to call.
        rate: Learning rate.
        count: Steps, at least 1.
    """
    weights = {name: weight.clone().requires_grad_() for name, weight in start.items()}
    optimizer = torch.optim.Adam(weights.values(), lr=rate, maximize=True)
    best, found = -math.inf, start
    for _ in range(count):
        value = ratio(weights)
        if value > best:
            best, found = value.item(), {k: v.detach().clone() for k, v in weights.items()}
        optimizer.zero_grad()
        value.log().backward()
        optimizer.step()
    return best, found
