r"""The sensitivity of a transformer after a random step in weight space.

The transformer is that of :mod:`papers.sensitive.parity`. The last thing that is added before a
layer norm is a bias; its part of a random step keeps the norm from magnifying much, on average
over steps and over tokens. :func:`chain` follows one input through the layers, link by link;
:func:`sensitivity_bound` is what the links make together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import require_amount, require_positive, require_scale, validated
from helpers.nets.norm import variance
from helpers.weights import Weights
from papers.sensitive.isolation import FIXED
from papers.sensitive.parity import PostNormSpec, forward, shapes

OWN_SUM = 6.0
"""Above the mean over inputs of how far the weights of one first-layer query move, summed over all
flips, the query's own bit included: chapter on influence through attention."""


def dimension(spec: PostNormSpec) -> int:
    """D, the numbers in a step: all weights but the encodings of positions."""
    return sum(math.prod(s) for name, s in shapes(spec).items() if name != FIXED)


@validated
def centred_parts(d: int, D: int, layers: int, count: int, generator: torch.Generator) -> Tensor:
    """The parts of several biases in uniform unit vectors of R^D, each less its mean.

    Returns:
        Shape ``(count, layers, d)``, float64.

    Raises:
        ValueError: d is less than 2, or no number is left over.
    """
    require_positive(count=count, layers=layers)
    if d < 2 or d * layers >= D:
        raise ValueError(f"expected 2 <= d and d L < D, got d = {d}, L = {layers}, D = {D}")
    part = torch.randn(count, layers, d, generator=generator, dtype=torch.float64)
    half = torch.full((count,), (D - d * layers) / 2, dtype=torch.float64)
    rest = 2 * torch._standard_gamma(half, generator)
    part = part / (part.square().sum((1, 2)) + rest).sqrt()[:, None, None]
    return part - part.mean(-1, keepdim=True)


@validated
def reciprocal_mean(d: int, D: int, layers: int, rho: float = 1.0) -> float:
    r"""Above the mean over steps of :math:`\prod_k 1 / N^{(k)}_{j_k}`, at any token of each layer.

    .. math:: Q = \Bigl( \frac{\sqrt d\; \Gamma(\frac d2 - 1)}{\rho\; \Gamma(\frac{d - 1}2)}
        \Bigr)^L \frac{\Gamma(D / 2)}{\Gamma((D - L) / 2)}

    It is attained where all that enters the layer norms is the step's own bias.

    Args:
        d: Columns of a token, at least 3.
        D: Numbers in a step.
        layers: L, at least 1.
        rho: Length of the step.

    Raises:
        ValueError: a number out of range.

    Source: the chapter on brittleness at every width.
    """
    require_positive(layers=layers)
    require_scale(rho=rho)
    if d < 3 or (d + 1) * layers > D:
        raise ValueError(f"expected d >= 3 and (d + 1) L <= D, got d = {d}, L = {layers}, D = {D}")
    each = math.lgamma(d / 2 - 1) - math.lgamma((d - 1) / 2) + math.log(math.sqrt(d) / rho)
    return math.exp(layers * each + math.lgamma(D / 2) - math.lgamma((D - layers) / 2))


class Sizes(NamedTuple):
    r"""Norms of a model, each at its largest over all steps up to a given length.

    Attributes:
        first: :math:`\bar S = L_1 (g + H C_V (g + 6\, C_P))`.
        own: :math:`L_k (1 + H C_V C_A)` for the later layers k, shape ``(L - 1,)``.
        mean: :math:`L_k H C_V (1 + 2 C_A) e^{2 C_A}`, the same shape.
        readout: Length of v.
    """

    first: Tensor
    own: Tensor
    mean: Tensor
    readout: Tensor


@validated
def sizes(spec: PostNormSpec, weights: Weights, rho: float = 0.0) -> Sizes:
    r"""The norms that bound how a bit travels; the first layer's scores are not among them.

    Args:
        spec: The model.
        weights: Of one model; gradients flow through.
        rho: Longest step allowed for, at least 0.

    Raises:
        ValueError: rho out of range.

    Source: the chapters on influence through attention and on layer norm's blow-up.
    """
    require_amount(rho=rho)

    def norms(part: str) -> Tensor:
        """Of each layer, the largest of the heads, shape ``(L,)``."""
        each = [weights[f"layers.{k}.{part}"] for k in range(spec.layers)]
        return torch.stack([torch.linalg.matrix_norm(w, 2).amax() for w in each])

    scores = [
        torch.linalg.matrix_norm(
            weights[f"layers.{k}.query"] @ weights[f"layers.{k}.key"].mT, 2
        ).amax()
        for k in range(spec.layers)
    ]
    spread = torch.stack(scores) + rho * (norms("query") + norms("key") + rho)
    C = spec.width * spread[1:]
    V = spec.heads * (norms("value") + rho)
    slope = 1 + (norms("hidden") + rho) * (norms("output") + rho)
    e = weights["embedding"]
    step = (e[1] - e[0]).norm() + 2 * rho
    token = (e[:, None] + weights[FIXED]).norm(dim=-1).amax() + rho
    return Sizes(
        slope[0] * (step + V[0] * (step + OWN_SUM * token)),
        slope[1:] * (1 + V[1:] * C),
        slope[1:] * V[1:] * (1 + 2 * C) * (2 * C).exp(),
        weights["readout"].norm() + rho,
    )


@validated
def sensitivity_bound(spec: PostNormSpec, weights: Weights, rho: float) -> Tensor:
    r"""Above the mean over steps of the average sensitivity of the model after a step.

    .. math:: \mathbb E_\Delta\, \mathrm{as}_n(T_{\theta + \Delta}) \le
        2^{L - 1} \sqrt d\, \|v\|^2\, Q\, \bar S \prod_{k \ge 2} G_k

    with :func:`reciprocal_mean` for Q, and all sizes at their largest within rho of the weights. It
    depends on n only if they do. A number, through which gradients flow.

    Raises:
        ValueError: rho is not positive, or fewer than 3 columns.

    Source: the chapter on brittleness at every width.
    """
    c = sizes(spec, weights, rho)
    Q = reciprocal_mean(spec.width, dimension(spec), spec.layers, rho)
    growth = c.first * (c.own + c.mean).prod() * c.readout**2
    return 2.0 ** (spec.layers - 1) * math.sqrt(spec.width) * Q * growth


@validated
def parity_floor(K: float, n: float, alpha: float = 1000.0) -> float:
    r"""Below the direction sharpness of a transformer that computes PARITY of n bits.

    .. math:: L_{\rho, n} \ge 1 - \frac1\alpha - 2 \sqrt{\alpha K / n}

    Args:
        K: A bound on the mean average sensitivity after a step, as of :func:`sensitivity_bound`.
        n: Bits.
        alpha: Above 1; where the spectrum is cut in the comparison of both functions.

    >>> round(parity_floor(2e10, 1e20), 3)
    0.998

    Source: the chapter on brittleness at every width, (5) of the proof.
    """
    require_positive(K=K, n=n)
    if not alpha > 1:
        raise ValueError(f"expected alpha above 1, got {alpha}")
    return 1 - 1 / alpha - 2 * math.sqrt(alpha * K / n)


class Chain(NamedTuple):
    r"""How far each flip of one input moves a model, summed over the flips.

    Attributes:
        first: :math:`\sum_i I_i[Y^{(1)}_j]` at each token, shape ``(n,)``.
        last: :math:`\sum_i I_i[y^{(L)}_n]`.
        bound: What the links give for ``last``.
        without_mean: The same without the terms that come through the mean of all tokens.
    """

    first: Tensor
    last: Tensor
    bound: Tensor
    without_mean: Tensor


def chain(spec: PostNormSpec, weights: Weights, x: Tensor) -> Chain:
    r"""Follow the flips of one input through the layers.

    .. math:: u^{(1)}_j \le \frac2{N^{(1)}_j} \sum_i I_i[Y^{(1)}_j], \qquad
        u^{(k)}_j \le \frac2{N^{(k)}_j}
        \Bigl( \mathrm{own}_k\, u^{(k-1)}_j + \mathrm{mean}_k\, \frac1n \sum_w u^{(k-1)}_w \Bigr)

    for :math:`u^{(k)}_j = \sum_i I_i[y^{(k)}_j]`, with own and mean of :class:`Sizes`.

    Args:
        spec: The model.
        weights: Of one model; gradients flow through.
        x: Bits, shape ``(n,)``, integers.

    Raises:
        ValueError: weights or bits of another shape.

    Cost: n + 1 runs at all tokens.
    """
    ball = torch.cat((x[None], x ^ torch.eye(spec.n, dtype=x.dtype)))
    _, seen = forward(spec, weights, ball, every=True, intermediates=True)
    inputs = [seen[f"layers.{k}.norm.input"] for k in range(spec.layers)]
    y = seen[f"layers.{spec.layers - 1}.stream"][:, -1]
    magnified = torch.stack([variance(Y[0], spec.norm_eps).rsqrt() for Y in inputs])
    first = (inputs[0][1:] - inputs[0][0]).norm(dim=-1).sum(0)
    c = sizes(spec, weights)
    u = alone = 2 * magnified[0] * first
    for k in range(1, spec.layers):
        u = 2 * magnified[k] * (c.own[k - 1] * u + c.mean[k - 1] * u.mean())
        alone = 2 * magnified[k] * c.own[k - 1] * alone
    return Chain(first, (y[1:] - y[0]).norm(dim=-1).sum(), u[-1], alone[-1])
