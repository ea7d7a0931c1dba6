r"""The hand-written transformer for every function of n bits: any signs, any degrees, any sparsity.

:mod:`papers.sharper.network` computes a sum of at most n characters, all of one degree, with
positive coefficients. Here the terms of a function are dealt out to *heads*. A head is a network of
that kind, with its own attention in both layers and its own value column, for at most n terms of
one sign; the read-out adds the heads up. Degrees mix within a head, because a small set attends to
the output position, whose bit is 0, for the members that it lacks.

Weights are those of :mod:`papers.sharper.network`, each with a leading axis of heads. A head
of lower degree than the largest has hidden units that are 0. All heads have the scale
:math:`L = \max(2 \log n, \log 4n)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_amount, validated
from helpers.cube import SparseFunction, spectrum
from helpers.kernels.parity import popcount
from helpers.sharpness import gradients
from helpers.weights import Weights
from papers.sharper import network as sharper


@dataclass(frozen=True, eq=False)
class Head:
    """The terms that one head computes.

    Attributes:
        masks: Their sets, shape ``(k,)``, int64.
        sizes: Coefficients without their common sign, shape ``(k,)``, float64, positive.
        sign: 1.0 or -1.0.
        degree: Largest size of a set, at least 1.
    """

    masks: Tensor
    sizes: Tensor
    sign: float
    degree: int


@validated
def from_table(table: Tensor, tol: float | None = None) -> SparseFunction:
    """The function with these values, as a sum of its characters.

    Args:
        table: Real values at all points of the cube, shape ``(2**n,)``, n at least 1, floating.
        tol: Terms whose coefficient is at most this in size are left out, at least 0; None: 4096
            times machine eps of the dtype, times the largest |value|.

    Raises:
        ValueError: another shape, or values that are not finite.

    Cost: a Walsh-Hadamard transform.
    """
    if table.ndim != 1 or len(table) < 2:
        raise ValueError(f"expected a table of shape (2**n,), got {tuple(table.shape)}")
    if not table.isfinite().all():
        raise ValueError("the table holds values that are not finite")
    if tol is None:
        tol = 4096 * torch.finfo(table.dtype).eps * table.abs().max().item()
    require_amount(tol=tol)
    f_hat = spectrum(table.double())
    masks = (f_hat.abs() > tol).nonzero().flatten()
    return SparseFunction(len(table).bit_length() - 1, masks, f_hat[masks])


def deal(function: SparseFunction) -> list[Head]:
    """Deal the terms of a function out to heads: up to n of one sign each, of like degrees.

    Args:
        function: In either basis; it is computed in the basis of characters.

    Returns:
        Heads, positive ones first, by degree within a sign.

    Raises:
        ValueError: no terms other than 0, or a coefficient that is not finite.

    Source: ours. Lintilhac and Shaikh (2026) say before Section 1 that heads can be added.
    """
    masks, coefficients = function.walsh_terms()
    if not coefficients.isfinite().all():
        raise ValueError("the coefficients must be finite")
    heads = []
    for sign in (1.0, -1.0):
        own = (sign * coefficients > 0).nonzero().flatten()
        own = own[popcount(masks[own]).argsort(stable=True)]
        for terms in own.split(function.n) if len(own) else ():
            degree = max(1, int(popcount(masks[terms]).max()))
            heads.append(Head(masks[terms], coefficients[terms].abs(), sign, degree))
    if not heads:
        raise ValueError("the function has no terms other than 0")
    return heads


def construct(function: SparseFunction) -> tuple[sharper.ConstructionSpec, Weights]:
    r"""Weights that compute a function of n bits at every input, at finite attention scores.

    In head h, with degree d and terms :math:`U_1, \dots, U_k`, position i attends to the members of
    :math:`U_i` with score L, and to the output position with score
    :math:`L + \log(d - |U_i|)` if members are lacking: the mean of the bits is then
    :math:`|x \cap U_i| / d`, up to a leak of less than :math:`1/(4d)` that the MLP undoes.
    Positions without a term attend to the output position, so the MLP writes 1 there, and the
    read-out takes it back, as in :func:`papers.sharper.network.construct_exact`. The sign of a
    head stands in its read-out.

    Args:
        function: Any; see :func:`from_table` for one that is given by its values.

    Returns:
        Sizes of a head, and the weights, each with a leading axis of heads, float64.

    Raises:
        ValueError: as :func:`deal`.

    Cost: about 3 n**2 + 12 d n numbers a head; W / n heads, rounded up for each sign, for W terms.
    Source: ours.
    """
    heads = deal(function)
    n = function.n
    spec = sharper.ConstructionSpec(n, max(h.degree for h in heads), n, "character")
    made = [_head(n, spec.degree, head) for head in heads]
    return spec, {name: torch.stack([w[name] for w in made]) for name in made[0]}


def forward(spec: sharper.ConstructionSpec, weights: Weights, bits: Tensor) -> Tensor:
    r"""Run the network, :math:`f(x) = \sum_h f_h(x)`; a pure function of the weights.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`.
        bits: Shape ``(B, n)`` in {0, 1}, integer or bool.

    Returns:
        Shape ``(B,)``.

    Cost: that of :func:`papers.sharper.network.forward`, for each head.
    """
    return sharper.forward(spec, weights, bits).sum(0)


def squared_norm(weights: Weights) -> Tensor:
    """Sum of the squares of all weights."""
    return torch.stack([w.square().sum() for w in weights.values()]).sum()


def squared_gradients(spec: sharper.ConstructionSpec, weights: Weights, bits: Tensor) -> Tensor:
    r"""Squared norm of the gradient in all weights at each input, :math:`\|\nabla_\theta f\|^2`.

    Heads share no weight, so it is the sum of theirs; they are taken one by one.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`.
        bits: Shape ``(B, n)``.

    Returns:
        Shape ``(B,)``. Its mean over all inputs is half the trace of the Hessian of the squared
        error, if the network equals its target.
    """
    total = weights["v2"].new_zeros(len(bits))
    for h in range(len(weights["v2"])):
        head = {name: v[h] for name, v in weights.items()}
        for gradient in gradients(lambda w, x: sharper.forward(spec, w, x), head, bits).values():
            total += gradient.flatten(1).square().sum(1)
    return total


@validated
def bounds(n: int, heads: list[Head]) -> tuple[float, float]:
    r"""Bounds on :func:`squared_norm`, and on :func:`squared_gradients` at every input.

    For each head with degree d and k terms of sizes c let S be the sum of the sizes,
    :math:`S' = S + (n + 1 - k) e^{-L}`, :math:`\Lambda_i = |L + \log c_i|`, the largest of them
    :math:`\Lambda`, :math:`M = 4 (d + 1) + \|b\|^2 + 16 d^2 (d + 1)` for the MLP, and
    :math:`h = 4 (d + 1) (1 + \frac3{4d})^2`, which bounds the squared hidden layer. Then

    .. math::

        N &\le \sum \Bigl[ 1 + M + L^2 \textstyle\sum_i |U_i| + k (L + \log d)^2
        + (n + 1 - k) \log^2(4dn) + \sum_i \Lambda_i^2 + (n + 2 - k) S'^2 \Bigr], \\
        G &\le \sum \Bigl[ 2 + S'^2 \Bigl( 4 + 32 d^2 (d+1) + h \bigl( 1 + n - k
        + \textstyle\sum_i \Lambda_i^2 + (1 + \Lambda)^2 \bigr) \Bigr) \Bigr] .

    The terms of G are, from the left: the read-out, the second scores, G and b of the MLP, the
    value row of its F, and its rows for positions. Values and first scores have no gradient: every
    mean is inside a plateau.

    Source: ours.
    """
    norm = gradient = 0.0
    L = _scale(n)
    for head in heads:
        d, k = head.degree, len(head.masks)
        scores, idle = (L + head.sizes.log()).abs(), n + 1 - k
        read = head.sizes.sum().item() + idle * math.exp(-L)
        _, b, F = sharper.trapezoid(sharper.parity_values(d, "character"))
        norm += 1 + len(b) + (b.square().sum() + F.square().sum()).item()
        norm += L**2 * int(popcount(head.masks).sum()) + k * (L + math.log(d)) ** 2
        norm += idle * math.log(4 * d * n) ** 2 + scores.square().sum().item()
        norm += (1 + idle) * read**2
        hidden = 4 * (d + 1) * (1 + 3 / (4 * d)) ** 2
        rows = idle + scores.square().sum().item() + (1 + scores.max().item()) ** 2
        gradient += 2 + read**2 * (4 + 32 * d**2 * (d + 1) + hidden * rows)
    return norm, gradient


def _head(n: int, widest: int, head: Head) -> Weights:
    """Weights of one head, with the hidden units of the ``widest`` degree."""
    d, k, D, L = head.degree, len(head.masks), n + 2, _scale(n)
    units, all_units = 4 * (d + 1), 4 * (widest + 1)
    inclusion = (head.masks[:, None] >> torch.arange(n) & 1).double()
    lacking = d - inclusion.sum(1)
    shapes = {"WKQ1": (D, D), "WV1": (D, D), "G": (all_units, D), "b": (all_units,)}
    shapes |= {"F": (D, all_units), "WKQ2": (D, D), "v2": (D,)}
    weights = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes.items()}
    weights["WKQ1"][:k, :n] = L * inclusion
    weights["WKQ1"][:k, n] = torch.where(lacking > 0, L + lacking.clamp(min=1).log(), 0.0)
    weights["WKQ1"][k : n + 1, n] = math.log(4 * d * n)
    weights["WV1"][-1, -1] = 1
    G, b, F = sharper.trapezoid(sharper.parity_values(d, "character"))
    weights["G"][:units, -1:], weights["b"][:units], weights["F"][-1:, :units] = G, b, F
    weights["WKQ2"][n, :k] = head.sizes.log() + L
    read = head.sign * (head.sizes.sum() + (n + 1 - k) * math.exp(-L))
    weights["v2"][-1], weights["v2"][k : n + 1] = read, -read
    return weights


def _scale(n: int) -> float:
    """The scale at which every leak stays below 1 / (4 d)."""
    return max(2 * math.log(n), math.log(4 * n))
