r"""The hand-written network near its weights: its Hessian, and the trace of a noisy copy, bounded.

Write V for the value entry of the read-out, S for the sum of the coefficients, :math:`w_i = L_2 +
\log c_i` for the second scores of the W positions that hold a component and 0 for the others, R for
the range of w and 0, :math:`\rho^2` for :func:`papers.sharper.gradients.hidden_square`,
:math:`\varphi = 4 d \sqrt{\lfloor d/2 \rfloor + 1}` for the norm of the last row of F, and H =
4(d + 1) for the hidden units. The bounds are ours, for the basis of even-parity indicators, at
inputs where every position is on a plateau of the MLP. They take a ``network`` of
:func:`construct_smooth` or the paper's, and ``bits`` of shape ``(B, n)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import accumulate, combinations_with_replacement

import numpy as np
import pandas as pd
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from helpers.checks import require_amount, require_finite, require_floating, validated
from helpers.cube import SparseFunction
from helpers.sharpness import gradients
from helpers.sharpness.point import LossAtWeights
from helpers.weights import Weights
from papers.sharper.gradients import Network, hidden_square
from papers.sharper.network import (
    ConstructionSpec,
    LogitScale,
    assemble,
    construct_exact,
    forward,
)
from papers.sharper.perturbed import hidden_units
from papers.sharper.tabulated import gradient_bound, parameter_count

Product = Callable[[Tensor], Tensor]
MATRICES = ("WKQ1", "WV1", "G", "b", "F", "WKQ2", "v2")
PAIRS = tuple(combinations_with_replacement(MATRICES, 2))


@validated
def construct_smooth(function: SparseFunction, logit_scale: LogitScale = None) -> Network:
    r"""The exact network with its idle positions inside their plateau, away from every kink.

    :func:`papers.sharper.network.construct_exact` lets an idle position reach the end of
    the plateau, :math:`1/(4d)`, at the input of all ones, where the output has no gradient. Here

    .. math:: (W_{KQ}^{(1)})_{j,\, n+1} = \log((8d - 1)\, n), \qquad W < j \le n + 1

    stops it at :math:`1/(8d)`. The output is the same function, without error.

    Args:
        function: As for :func:`papers.sharper.network.construct`, of at least 4 bits, so
            that the active positions are inside their plateaus too.
        logit_scale: As for :func:`papers.sharper.network.construct_exact`.

    Returns:
        Sizes and weights, float64.

    Raises:
        ValueError: as there, or fewer than 4 bits.

    Source: ours.
    """
    return _away_from_kinks(construct_exact(function, logit_scale))


@validated
def singletons(coefficients: Tensor, second_scale: float | None = None) -> Network:
    r""":func:`construct_smooth` for d = 1, :math:`U_i = \{i\}`, W = n, of any length from 4 on.

    :class:`helpers.cube.SparseFunction` ends at 62 bits. The function is
    :math:`\sum_i c_i (1 - x_i)`.

    Args:
        coefficients: Shape ``(n,)``, positive and finite, float64; ValueError for another.
        second_scale: :math:`L_2`; None is :math:`2 \log n`.

    Source: ours.
    """
    n = len(coefficients)
    spec, first = ConstructionSpec(n, 1, n, "even_parity"), 2 * math.log(n)
    scales = first, first if second_scale is None else second_scale
    return _away_from_kinks((spec, assemble(spec, torch.eye(n), coefficients, scales, exact=True)))


def second_scores(network: Network) -> Tensor:
    """The scores w of the second attention, shape ``(n + 1,)``, 0 at idle positions."""
    spec, weights = network
    return weights["WKQ2"][spec.n, : spec.positions]


def spread(w: Tensor) -> float:
    """R: the range of the scores and 0."""
    return (w.amax().clamp(0) - w.amin().clamp(max=0)).item()


def places(weights: Weights) -> dict[str, slice]:
    """Where each block lies in the vector ``(P,)`` of all weights."""
    ends = list(accumulate(block.numel() for block in weights.values()))
    return dict(zip(weights, map(slice, [0, *ends], ends), strict=False))


def hessians(network: Network, bits: Tensor) -> Tensor:
    """Hessian of the output in all weights at each input, ``(B, P, P)``; for short strings."""
    products = [_hessian(network[0], network[1], x) for x in bits]
    count = sum(block.numel() for block in network[1].values())
    return torch.stack([product(torch.eye(count, dtype=torch.float64)) for product in products])


def norms(matrices: Tensor) -> Tensor:
    """Operator norms of symmetric matrices ``(*, P, P)``, P at least 1, shape ``(*,)``."""
    require_floating(matrices=matrices)
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2] or not matrices.shape[-1]:
        raise ValueError(f"expected matrices (*, P, P), P >= 1, got {tuple(matrices.shape)}")
    require_finite(matrices=matrices)
    return torch.linalg.eigvalsh((matrices + matrices.mT) / 2).abs().amax(-1)


@validated
def hessian_norm(
    network: Network,
    bits: Tensor,
    moved: Weights | None = None,
    *,
    frozen: bool = False,
    tol: float = 1e-4,
) -> float:
    """Operator norm of the Hessian of the output at one input, by Lanczos: no matrix is stored.

    Args:
        network: Sizes and weights.
        bits: Shape ``(n,)``.
        moved: Other weights; then of the change of the Hessian from the network's to these.
        frozen: Leave out the rows of F that write into the columns of the positions.
        tol: Relative error of the eigenvalue.

    Cost: some dozens of products with the Hessian.
    """
    spec, weights = network
    blocks = {name: torch.ones_like(block) for name, block in weights.items()}
    if frozen:
        blocks["F"][:-1] = 0
    keep = parameters_to_vector(blocks.values())
    here = _hessian(spec, weights, bits)
    there = None if moved is None else _hessian(spec, moved, bits)

    def product(v: np.ndarray) -> np.ndarray:
        u = (keep * torch.from_numpy(np.ascontiguousarray(v).reshape(-1)))[None]
        turned = here(u) if there is None else there(u) - here(u)
        return np.asarray(keep * turned[0])

    start = np.random.default_rng(0).standard_normal(len(keep))
    operator = LinearOperator((len(keep), len(keep)), matvec=product, dtype=np.float64)
    return float(abs(eigsh(operator, 1, which="LM", v0=start, tol=tol)[0][0]))


def positions_norm(network: Network, bits: Tensor) -> Tensor:
    r"""Part of the norm of the Hessian that grows with the scores; at most all of it.

    .. math::

        V \|w\|^2 \Bigl\| \sum_j a_j (p_j - \bar p)(r_j - \bar r)(r_j - \bar r)^\top \Bigr\|

    It is the norm in directions in which row i of F grows in proportion to :math:`w_i`: with the
    second attention a, what a position is read as, p, in units of V, and the hidden units r.

    Returns:
        Shape ``(B,)``. Cost: a forward pass, at any length. Source: ours.
    """
    spec, weights = network
    _, inside = forward(spec, weights, bits, intermediates=True)
    a, q = inside["attention2"], inside["Z"] @ weights["v2"]
    r = torch.relu(inside["prefix_sums"][..., None] + weights["b"])  # (B, n + 1, H)
    tilt = a * (q - (a * q).sum(-1, keepdim=True))
    r = r - (a[..., None] * r).sum(-2, keepdim=True)
    return second_scores(network).square().sum() * norms((tilt[..., None] * r).mT @ r)


def block_bounds(network: Network, *, frozen: bool = False) -> pd.DataFrame:
    r"""A matrix B with :math:`|u^\top \nabla^2 f\, u| \le \sum_{ab} B_{ab} |u_a| |u_b|`.

    The :math:`u_a` are the seven blocks of u; so the largest eigenvalue of B bounds the operator
    norm of the Hessian of the output, at every input at which all positions are on plateaus.

    ``frozen``: for u without the rows of F that write into the columns of the positions.

    Source: ours; proved in the chapter on the Hessian.
    """
    spec, weights = network
    d, w = spec.degree, second_scores(network)
    V, v = weights["v2"][-1].item(), weights["v2"].norm().item()
    rho, phi = math.sqrt(hidden_square(d)), weights["F"][-1].norm().item()
    size, R = (0.0, 0.0) if frozen else (w.norm().item(), spread(w))
    turn = rho * (size + R)  # range of the scores' first change, by a unit change of F
    curl = V / 2 * (2 * size + R)
    root, r2, r3, r6 = math.sqrt(spec.hidden), math.sqrt(2), math.sqrt(3), math.sqrt(6)
    terms = {
        ("F", "F"): 3 / 16 * V * turn**2 + v * rho * turn / 2 + V * rho**2 * size / 2,
        ("WKQ2", "WKQ2"): 9 / 8 * V,
        ("F", "WKQ2"): (3 / 8 * V * r6 * turn) + r6 / 2 * v * rho + V / 2 * (r3 + r2) * rho,
        ("F", "v2"): r3 / 2 * turn + 2 * rho,
        ("WKQ2", "v2"): 3 / r2,
    }
    for name in ("G", "b"):
        terms[name, "F"] = V * phi * turn + 2 * v + curl
        terms[name, "WKQ2"] = V * phi * (r6 + r3 / 2 + r2)
        terms[name, "v2"] = 2 * phi
    for name, reach in (("WKQ1", r6 / 4), ("WV1", r2)):
        terms[name, "F"] = reach * root * (2 * v + curl)
        terms[name, "G"] = reach * 2 * V * phi
    B = pd.DataFrame(0.0, list(MATRICES), list(MATRICES))
    for (a, b), term in terms.items():
        B.loc[a, b] = B.loc[b, a] = term if a == b else term / 2
    return B


def norm_bound(network: Network, *, frozen: bool = False) -> float:
    """Largest eigenvalue of :func:`block_bounds`."""
    return float(np.linalg.eigvalsh(block_bounds(network, frozen=frozen).to_numpy())[-1])


@validated
def shifted(network: Network, direction: Tensor, length: float) -> Weights:
    """The weights, moved by this length along a direction ``(P,)`` over all blocks."""
    step, weights = length * direction / direction.norm(), network[1]
    return {k: weights[k] + step[place].view_as(weights[k]) for k, place in places(weights).items()}


def steepest(network: Network, bits: Tensor) -> Tensor:
    """Direction ``(P,)`` in which the squared gradient at one input ``(n,)`` grows fastest."""
    spec, weights = network
    slope = gradients(partial(forward, spec), weights, bits[None])
    return _hessian(spec, weights, bits)(parameters_to_vector(slope.values())[None])[0]


@validated
def gradient_square(network: Network, new_term: float = 1.0) -> float:
    r"""The bound on the squared gradient that counts the positional rows of F.

    .. math::

        \hat G = \frac{V^2}{S^2} G_u + V^2 \rho^2 \Bigl( \tfrac1{16} \|w\|^2
        + \bigl( \tfrac14 R + \iota \bigr)^2 + \iota\, (n - W) \Bigr)

    with :math:`\iota = 1` for :func:`construct_smooth`, whose read-out looks at idle columns, and
    0 for the paper's network, where V = S and it is the bound of the chapter on gradients.

    ``new_term`` is the share of the second summand: 1, or less for a control.

    Source: ours.
    """
    spec, weights = network
    w, v2 = second_scores(network), weights["v2"]
    looks = float(v2[spec.sparsity] != 0)
    idle = (spec.positions - spec.sparsity) * math.exp(-w[: spec.sparsity].logsumexp(0).item())
    share = (1 + looks * idle) ** 2  # V = (1 + idle) S
    rows = w.square().sum().item() / 16 + (spread(w) / 4 + looks) ** 2
    rows += looks * (spec.n - spec.sparsity)
    new = v2[-1].item() ** 2 * hidden_square(spec.degree) * rows
    return share * float(gradient_bound(spec.degree, spec.sparsity)) + new_term * new


def safe_radius(network: Network, bits: Tensor) -> float:
    r"""A radius r: the output is analytic within r of the weights, and moves by at most |v2|/4.

    .. math:: r = \min\Bigl( \tfrac{\mu}{10}, \frac1{100\, \varphi\, (\|w\| + 1)} \Bigr)

    with :math:`\mu` the least distance of a hidden unit from its kink at these inputs.

    Source: ours; proved in the chapter on the trace.
    """
    spec, weights = network
    _, inside = forward(spec, weights, bits, intermediates=True)
    margin = hidden_units(weights, inside)[1].abs().min().item()
    phi, size = weights["F"][-1].norm().item(), second_scores(network).norm().item()
    return min(margin / 10, 1 / (100 * phi * (size + 1)))


@validated
def trace_bound(
    network: Network,
    radius: float,
    distance: float,
    new_term: float = 1.0,
    error: float = 0.0,
) -> float:
    r"""Trace of the Hessian of the squared loss at weights that moved by ``distance``.

    .. math::

        2 \bigl( \sqrt{\hat G} + K N \bigr)^2 + 2 \bigl( e + \sqrt{\hat G}\, N + \tfrac12 K N^2
        \bigr) K\, \Theta, \qquad K = \|B\| + \frac{12\, |v_2|\, N}{r^3}

    Args:
        network: As everywhere.
        radius: r, from :func:`safe_radius`.
        distance: N, Euclidean, over all weights; at most r/2.
        new_term: As for :func:`gradient_square`.
        error: e, what the unmoved network is off by at these inputs.

    Raises:
        ValueError: a distance above r/2.

    Source: ours.
    """
    require_amount(distance=distance, error=error)
    if distance > radius / 2:
        raise ValueError(f"the distance must be at most r/2 = {radius / 2:.3g}, got {distance:.3g}")
    spec, weights = network
    slope = math.sqrt(gradient_square(network, new_term))
    K = norm_bound(network) + 12 * weights["v2"].norm().item() * distance / radius**3
    off = error + slope * distance + K * distance**2 / 2
    return 2 * (slope + K * distance) ** 2 + 2 * off * K * parameter_count(spec.n, spec.degree)


def _away_from_kinks(network: Network) -> Network:
    spec, weights = network
    if spec.n < 4:
        raise ValueError(f"the function needs at least 4 bits, got {spec.n}")
    weights["WKQ1"][spec.sparsity : spec.n + 1, spec.n] = math.log((8 * spec.degree - 1) * spec.n)
    return spec, weights


def _hessian(spec: ConstructionSpec, weights: Weights, bits: Tensor) -> Product:
    """Products of the Hessian of the output at one input ``(n,)`` with rows ``(k, P)``."""
    return LossAtWeights(lambda moved: forward(spec, moved, bits[None])[0], weights, {}).hessian()
