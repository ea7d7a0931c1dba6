r"""The gradient of the hand-written network, block by block: measured, in closed form, searched.

Of F the last row writes the parities, the rows above it write into the columns of the positions.
Theorem 14 of Lintilhac and Shaikh (2026) lists the last row only; so do :data:`LISTED` here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import torch
from torch import Tensor

from helpers import cube
from helpers.checks import require_positive, validated
from helpers.cube import SparseFunction
from helpers.rng import Rng
from helpers.sharpness import SquaredLoss, gradients, hessian_trace
from helpers.weights import Weights
from papers.sharper.network import ConstructionSpec, forward

Network = tuple[ConstructionSpec, Weights]
Scales = tuple[float, float]

LISTED = ("v2", "WKQ2", "F, last row", "G", "b", "WV1", "WKQ1")
LEFT_OUT = "F, positions"
BLOCKS = (*LISTED, LEFT_OUT)


def squared_gradients(network: Network, bits: Tensor) -> pd.DataFrame:
    """Squared norm of each block's gradient at each input, F in its two parts.

    Args:
        network: Sizes and weights, as made by :func:`papers.sharper.network.construct`.
        bits: Shape ``(B, n)`` in {0, 1}.

    Returns:
        A row for each input, a column for each of :data:`BLOCKS`. A hidden unit at its kink counts
        as off.

    Raises:
        ValueError, TypeError: bits of another length or kind.
    """
    spec, weights = _beside_kinks(network)
    found = gradients(partial(forward, spec), weights, bits)
    F = found.pop("F")
    found |= {"F, last row": F[:, -1], LEFT_OUT: F[:, :-1]}
    return pd.DataFrame({k: found[k].flatten(1).square().sum(1).numpy() for k in BLOCKS})


def _beside_kinks(network: Network) -> Network:
    """The network with its hidden units 2 ** -40 lower.

    At the string of ones some units of the exact network are fed 0, up to rounding: without this,
    the processor would decide whether they are on.
    """
    spec, weights = network
    return spec, weights | {"b": weights["b"] - 2.0**-40}


def largest(found: pd.DataFrame, blocks: Sequence[str] = BLOCKS) -> float:
    """Largest squared gradient of these blocks together, over the inputs."""
    return float(found[list(blocks)].sum(axis=1).max())


def traces(network: Network, function: SparseFunction) -> tuple[float, pd.Series]:
    r"""Trace of the whole Hessian of the loss, and twice the mean squared gradient by block.

    Both over all ``2**n`` inputs; the trace from products with the Hessian, one for each weight.
    """
    spec, weights = _beside_kinks(network)
    inputs = cube.bits(function.n)
    loss = SquaredLoss(partial(forward, spec), inputs, function.table())
    trace = float(hessian_trace(loss, weights, "exact"))
    return trace, 2 * squared_gradients(network, inputs).mean()


@validated
def hidden_square(degree: int) -> float:
    r"""Squares of the MLP's hidden units summed at their largest, where the mean it is fed is 1.

    .. math:: \rho^2 = \frac{2 (d + 1)(2 d + 1)}{3 d} + \frac{5}{4 d} + \frac{5}{8 d^2}

    Args:
        degree: d, at least 1.

    Source: ours.
    """
    require_positive(degree=degree)
    d = degree
    return 2 * (d + 1) * (2 * d + 1) / (3 * d) + 5 / (4 * d) + 5 / (8 * d**2)


@validated
def repair_terms(function: SparseFunction, second_scale: float) -> tuple[float, float]:
    r"""What the repaired bound on the squared gradient adds to that of Theorem 14, in two parts.

    .. math:: \frac{S^2 \rho^2}{16} \|w\|^2, \quad \frac{S^2 \rho^2}{16} R^2

    with S the sum of the coefficients, :math:`w_i = L_2 + \log c_i`, R the range of w and 0, and
    :math:`\rho^2` of :func:`hidden_square`.

    Args:
        function: As for :func:`papers.sharper.network.construct`.
        second_scale: :math:`L_2`.

    Source: ours.
    """
    c = function.coefficients
    w = torch.cat((c.log() + second_scale, c.new_zeros(1)))
    factor = float(c.sum()) ** 2 * hidden_square(function.degree) / 16
    return factor * float(w.square().sum()), factor * float(w.max() - w.min()) ** 2


@validated
def flat_function(
    n: int, degree: int, sparsity: int, rng: Rng, total: float = 1.0
) -> SparseFunction:
    """Random sets of one size, equal coefficients whose squares sum to ``total``."""
    f = cube.sparse_function(n, degree, sparsity, rng.generator, "even_parity")
    c = torch.full((sparsity,), math.sqrt(total / sparsity), dtype=torch.float64)
    return SparseFunction(n, f.masks, c, "even_parity")


@validated
def random_network(rng: Rng, largest_scale: float) -> tuple[SparseFunction, Scales]:
    """A function of 1 to 24 bits and degree 1 to 6, and two scales, the second often large."""
    n = rng.whole(1, 24)
    d = rng.whole(1, min(n, 6))
    most = math.comb(n, d)
    W = n if rng.whole(0, 2) == 0 and most >= n else rng.whole(1, min(n, most))
    f = cube.sparse_function(n, d, W, rng.generator, "even_parity")
    c = f.coefficients.clamp(min=1e-6) ** rng.uniform(0, 2)
    f = SparseFunction(n, f.masks, c / c.norm(), "even_parity")
    return f, (rng.uniform(0, 10), rng.uniform(0, 12 if rng.whole(0, 1) else largest_scale))


@validated
def search(
    height: Callable[[SparseFunction, Scales], float],
    function: SparseFunction,
    scales: Scales,
    rng: Rng,
    steps: int,
) -> tuple[float, SparseFunction, Scales]:
    """Local search for coefficients and scales at which a number is large.

    Coefficients go down to 1e-280, their squares sum to 1; scales go up to 400.

    Args:
        height: What is to be made large.
        function: Where the search starts.
        scales: The same.
        rng: Source of randomness.
        steps: Trials, of a reach drawn anew for each.

    Returns:
        The largest height found, and where.
    """
    best = height(function, scales), function, scales
    for _ in range(steps):
        reach = rng.log_uniform(0.01, 100).item()
        log_c = best[1].coefficients.log()
        log_c = log_c + reach * rng.normal(len(log_c))
        c = (log_c - log_c.max()).exp()
        c = (c / c.norm()).clamp(min=1e-280)
        first, second = (min(abs(s + reach * rng.normal().item()), 400.0) for s in best[2])
        trial = SparseFunction(function.n, function.masks, c, function.basis)
        found = height(trial, (first, second))
        if found > best[0]:
            best = found, trial, (first, second)
    return best
