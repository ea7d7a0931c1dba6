r"""The semi-analytic bound: what noise on the hand-written network costs, measured by drawing it.

Theorem 2 of the first paper asks for a number P with :math:`\operatorname{E} L(\theta + \sigma U)
\le \sigma^2 (G_u + P)`, where L is the mean squared error, :math:`\theta` the network of
:mod:`papers.sharper.network` and U standard normal. A network is the pair that
:func:`papers.sharper.network.construct` returns.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import grad, vmap

from helpers import cube
from helpers.checks import require_positive, validated
from helpers.cube import SparseFunction
from helpers.rng import f64
from helpers.weights import Weights
from papers.sharper.gradients import Network
from papers.sharper.network import forward
from papers.sharper.perturbed import perturb


@validated
def tiling(n: int) -> SparseFunction:
    r"""Disjoint 2-parities that cover all bits.

    .. math:: f = W^{-1/2} \sum_{i=1}^{W} p_{\{2i - 1, 2i\}}, \qquad W = n / 2

    Args:
        n: Bits, even, from 2 to 62.

    Returns:
        In the basis of even-parity indicators; squared coefficients add up to 1.

    Raises:
        ValueError: n is odd or outside its range.

    Source: Lintilhac and Shaikh (2026), Appendix E.3.
    """
    if n % 2 or not 2 <= n <= 62:
        raise ValueError(f"n must be even, from 2 to 62, got {n}")
    masks = torch.tensor([3 << 2 * i for i in range(n // 2)])
    return SparseFunction(n, masks, f64([(n // 2) ** -0.5] * (n // 2)), "even_parity")


@validated
def perturbed_losses(
    network: Network,
    function: SparseFunction,
    sigma: float,
    draws: int,
    strings: int,
    generator: torch.Generator,
) -> Tensor:
    r"""Mean squared error of noisy copies of a network, each on random strings of its own.

    Args:
        network: Sizes and weights.
        function: What the network is to compute.
        sigma: Standard deviation of the noise on every weight, at least 0.
        draws: Noisy copies, at least 1.
        strings: For each copy, at least 1.
        generator: Source of randomness; the same state gives the same noise whatever sigma.

    Returns:
        Shape ``(draws,)``; their mean is an unbiased estimate of :math:`\operatorname{E} L`.

    Raises:
        ValueError: a number outside its range.
    """
    require_positive(draws=draws, strings=strings)
    spec, weights = network
    found = []
    for start in range(0, draws, 20):  # so many copies at once: what memory holds
        count = min(20, draws - start)
        copies = perturb(weights, sigma, count, generator)
        bits = torch.randint(0, 2, (count, strings, spec.n), generator=generator)
        target = function(cube.index_of(bits).flatten()).view(count, strings)
        wrong = forward(spec, copies, bits) - target
        found.append(wrong.square().mean(-1))
    return torch.cat(found)


@validated
def trace_changes(
    network: Network, sigma: float, draws: int, strings: int, generator: torch.Generator
) -> tuple[float, Tensor]:
    r"""Gauss-Newton trace of the loss Hessian, and how much noise changes it relative to that.

    It is :math:`2\, \mathbb E_x |\nabla f_\theta(x)|^2`, exact, by a gradient at each string. The
    part of the trace with residuals is left out.

    Arguments are those of :func:`perturbed_losses`; the strings are the same for all copies.

    Returns:
        The trace at the network, and :math:`(\operatorname{tr} H' - \operatorname{tr} H) /
        \operatorname{tr} H` of each copy, shape ``(draws,)``.

    Source: the quantity of ``perturbation_experiment.py`` in
    ``paullintilhac/boolean_function_sensitivity``, there by Hutchinson's estimator.
    """
    require_positive(draws=draws, strings=strings)
    spec, weights = network
    bits = torch.randint(0, 2, (strings, spec.n), generator=generator)

    def squared(moved: Weights, x: Tensor) -> Tensor:
        slopes = grad(lambda w: forward(spec, w, x[None])[0])(moved)
        return torch.stack([slope.square().sum() for slope in slopes.values()]).sum()

    at_each = vmap(squared, (None, 0), chunk_size=128)  # so many at once: what memory holds
    copies = perturb(weights, sigma, draws, generator)
    noisy = vmap(at_each, (0, None), chunk_size=16)(copies, bits).mean(1)
    trace = at_each(weights, bits).mean()
    return 2 * trace.item(), noisy / trace - 1
