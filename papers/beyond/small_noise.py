r"""What small Gaussian noise on the weights costs, and the rates at which certificates then fall.

At a network that fits its data, noise of standard deviation s_i on weight i gives the risk
:math:`R \approx \sum_i s_i^2 g_i` with :math:`g_i = \mathbb E_x (\partial_i f_\theta(x))^2`. From
the prior N(0, s_i^2) it is :math:`K = \sum_i \theta_i^2 / (2 s_i^2)` nats away. Weights of a group
share their s. With the group's sums N of the squares and G of the g, at the best choice of the s

.. math:: R K = \frac C2, \qquad C = \Bigl( \sum_{\text{groups}} \sqrt{N G} \Bigr)^2 .

Certificates follow from C alone: see :func:`sample_sizes`. Losses are squared errors in [0, b],
logarithms natural.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from helpers.checks import require_positive, require_scale, validated
from helpers.sharpness import gradients
from helpers.weights import Weights
from papers.sharper.network import ConstructionSpec, forward
from papers.sharper.rivals import binary_kl


@dataclass(frozen=True)
class Groups:
    """A partition of the weights, fixed by the sizes of a network alone.

    Attributes:
        names: One a group.
        index: Shaped like the weights: the number of each weight's group, int64.
    """

    names: tuple[str, ...]
    index: Weights

    def sums(self, values: Weights) -> Tensor:
        """Sum of ``values`` over each group, shape ``(groups,)``."""
        total = torch.zeros(len(self.names), dtype=torch.float64)
        for name, v in values.items():
            total.index_add_(0, self.index[name].flatten(), v.double().flatten())
        return total

    @property
    def counts(self) -> Tensor:
        """Weights in each group, shape ``(groups,)``, float64."""
        return self.sums({name: torch.ones(index.shape) for name, index in self.index.items()})

    def spread(self, values: Tensor) -> Weights:
        """One value a group, shape ``(groups,)``, handed to its weights."""
        return {name: values[index] for name, index in self.index.items()}


def whole(spec: ConstructionSpec) -> Groups:
    """All weights in one group: isotropic noise."""
    return Groups(("all",), {k: torch.zeros(s, dtype=torch.int64) for k, s in _shapes(spec)})


def blocks(spec: ConstructionSpec) -> Groups:
    """The blocks of the construction, each split into entries that some function uses, and others.

    Which entries those are follows from n, d and W. No set of bits is used to draw the groups, so
    a prior may have a variance for each.
    """
    n, W, D, H = spec.n, spec.sparsity, spec.width, spec.hidden
    used: dict[str, dict[str, Any]] = {
        "WKQ1": {"scores 1": (slice(0, W), slice(0, n)), "scores 1, idle": (slice(W, n + 1), n)},
        "WV1": {"value": (D - 1, D - 1)},
        "G": {"G": (slice(0, H), D - 1)},
        "b": {"b": (slice(0, H),)},
        "F": {"F": (D - 1, slice(0, H))},
        "WKQ2": {"scores 2": (n, slice(0, W))},
        "v2": {"read-out": (D - 1,), "read-out, idle": (slice(W, n + 1),)},
    }
    names = ["never used"]
    index = {k: torch.zeros(s, dtype=torch.int64) for k, s in _shapes(spec)}
    for block, parts in used.items():
        for name, where in parts.items():
            index[block][where] = len(names)
            names.append(name)
    return Groups(tuple(names), index)


def each(spec: ConstructionSpec) -> Groups:
    """Every weight a group: no prior can have these variances without knowing the sets of bits."""
    index: Weights = {}
    start = 0
    for name, shape in _shapes(spec):
        count = math.prod(shape)
        index[name] = torch.arange(start, start + count).reshape(shape)
        start += count
    return Groups(tuple(map(str, range(start))), index)


def mean_squared_gradient(spec: ConstructionSpec, weights: Weights, bits: Tensor) -> Weights:
    r"""For each weight :math:`g_i`, the mean over inputs of the squared derivative of the output.

    Args:
        spec: Sizes.
        weights: Of the construction, float64.
        bits: Shape ``(B, n)``, at least one.

    Returns:
        Shaped like the weights.

    Cost: one gradient an input; 256 inputs at a time.
    """
    if not len(bits):
        raise ValueError("a mean needs at least one input, got 0")
    total = {k: torch.zeros_like(v) for k, v in weights.items()}
    for some in bits.split(256):
        found = gradients(lambda w, x: forward(spec, w, x), weights, some)
        for name, gradient in found.items():
            total[name] += gradient.square().sum(0)
    return {k: v / len(bits) for k, v in total.items()}


def constant(norms: Tensor, sharpness: Tensor) -> float:
    r"""The constant of a partition, :math:`C = (\sum_g \sqrt{N_g G_g})^2`.

    Args:
        norms: Squared norms N of the groups, shape ``(groups,)``, at least 0.
        sharpness: Sums G of their squared gradients, the same.

    Source: Cauchy and Schwarz: :math:`(\sum_g s_g^2 G_g)(\sum_g N_g / s_g^2)` is at least that.
    """
    _check(norms, sharpness)
    return float((norms * sharpness).sqrt().sum() ** 2)


@validated
def best_deviations(
    norms: Tensor, sharpness: Tensor, kl: float, largest: float = math.inf
) -> Tensor:
    r"""Standard deviations with the least small-noise risk at a given KL.

    .. math:: s_g^2 = \sqrt{\frac{N_g}{G_g}}\; \frac{\sum_h \sqrt{N_h G_h}}{2 K}

    Args:
        norms: As for :func:`constant`.
        sharpness: As there.
        kl: K, nats, positive; without the cap it is attained.
        largest: Cap on every s; where the squared gradient is 0 it is attained.

    Returns:
        Shape ``(groups,)``; 0 for groups without norm, which add nothing to K.
    """
    _check(norms, sharpness)
    require_scale(kl=kl)
    if not largest > 0:
        raise ValueError(f"largest must be positive, got {largest}")
    scale = (norms * sharpness).sqrt().sum() / (2 * kl)
    s = ((norms / sharpness).sqrt() * scale).sqrt()
    return torch.where(norms > 0, s.clamp(max=largest), 0.0)


def kl(norms: Tensor, deviations: Tensor) -> float:
    r""":math:`K = \sum_g N_g / (2 s_g^2)` over groups with a norm; inf if one of them has s = 0."""
    own = norms > 0
    return float((norms[own] / (2 * deviations[own].square())).sum())


@validated
def wide_deviations(
    norms: Tensor, sharpness: Tensor, counts: Tensor, price: float, largest: float = math.inf
) -> Tensor:
    r"""Standard deviations with the least risk plus price times :func:`wide_kl`.

    .. math:: 2 G n u^2 + 2 G N u = \mu n N, \qquad u = s^2

    Args:
        norms: N of each group, shape ``(groups,)``, at least 0.
        sharpness: G, the same.
        counts: Weights n in each group, the same.
        price: :math:`\mu`, risk for a nat, positive.
        largest: Cap on every s; where the squared gradient is 0 it is attained.

    Returns:
        Shape ``(groups,)``; 0 for groups without norm.
    """
    _check(norms, sharpness)
    _check(norms, counts)
    require_scale(price=price)
    if not largest > 0:
        raise ValueError(f"largest must be positive, got {largest}")
    a, b = 2 * sharpness * counts, 2 * sharpness * norms
    c = price * counts * norms
    u = 2 * c / (b + (b.square() + 4 * a * c).sqrt())  # the root that does not cancel
    return torch.where(norms > 0, u.sqrt().clamp(max=largest), 0.0)


def wide_kl(norms: Tensor, counts: Tensor, deviations: Tensor) -> float:
    r"""Nats from a prior that is wider than the posterior, at its best width.

    With the prior N(0, tau^2) on a group of n weights and the posterior's s,

    .. math:: \min_\tau \frac12 \Bigl[ n \Bigl( \frac{s^2}{\tau^2} - 1 - \log \frac{s^2}{\tau^2}
        \Bigr) + \frac{N}{\tau^2} \Bigr] = \frac n2 \log \Bigl( 1 + \frac{N}{n s^2} \Bigr),
        \qquad \tau^2 = s^2 + \frac Nn .

    It grows with the logarithm of 1/s, where :func:`kl` grows with its square.

    Args:
        norms: N of each group, shape ``(groups,)``.
        counts: n of each group.
        deviations: s of each group; where N is 0 it does not matter.

    Returns:
        Nats, at most :func:`kl`; inf if a group with norm has s = 0.
    """
    _check(norms, counts)
    own = norms > 0
    ratio = norms[own] / (counts[own] * deviations[own].square())
    return float((counts[own] / 2 * ratio.log1p()).sum())


@validated
def mixture_kl(
    centres: Tensor, chosen: int, sigma: float, draws: int, generator: Generator
) -> tuple[float, float]:
    r"""Nats from a mixture of Gaussians, one around each centre, to one of its components.

    .. math:: \mathrm{KL}\Bigl( N(\theta_h, \sigma^2 I) \,\Big\|\, \frac1H \sum_{k=1}^H
        N(\theta_k, \sigma^2 I) \Bigr)
        = \log H - \mathbb E \log \Bigl( 1 + \sum_{k \ne h}
        e^{-\|\Delta_k\|^2 / 2\sigma^2 - \langle \Delta_k, z \rangle / \sigma} \Bigr)

    with :math:`\Delta_k = \theta_h - \theta_k` and z standard normal. At most log H.

    Args:
        centres: Weights of the members, flattened, shape ``(H, p)``, float64.
        chosen: h, 0 to H - 1.
        sigma: Standard deviation, positive.
        draws: Of z, at least 2.
        generator: Source of randomness.

    Returns:
        Estimate and its standard error.

    Cost: draws times H times p.
    """
    require_scale(sigma=sigma)
    if centres.ndim != 2 or not 0 <= chosen < len(centres) or draws < 2:
        raise ValueError(
            f"expected centres (H, p), chosen from 0 to H - 1 and 2 or more draws, got "
            f"{tuple(centres.shape)}, {chosen} and {draws}"
        )
    apart = (centres[chosen] - centres) / sigma  # (H, p), row h is 0
    z = torch.randn(draws, centres.shape[1], generator=generator, dtype=torch.float64)
    exponents = -apart.square().sum(1) / 2 - z @ apart.T
    values = math.log(len(centres)) - exponents.logsumexp(1)
    return float(values.mean()), float(values.std() / math.sqrt(draws))


@validated
def perturbed_risk(
    spec: ConstructionSpec,
    weights: Weights,
    deviations: Weights,
    targets: Tensor,
    bits: Tensor,
    generator: Generator,
    loss_range: float | None = None,
) -> tuple[float, float]:
    r"""Mean squared error under noise, with one draw of the weights for each input.

    Args:
        spec: Sizes.
        weights: Without an ensemble axis, float64.
        deviations: Shaped like the weights.
        targets: Values at the inputs, shape ``(B,)``.
        bits: Shape ``(B, n)``, at least two; draw them at random for an estimate over the cube.
        generator: Source of randomness; the same state gives the same directions of noise.
        loss_range: b, positive: outputs are clipped to :math:`[0, \sqrt b]`. None: not clipped.

    Returns:
        Mean over the B pairs, and its standard error.
    """
    if loss_range is not None:
        require_scale(loss_range=loss_range)
    if len(bits) < 2 or len(targets) != len(bits):
        raise ValueError(f"expected two or more inputs, got {len(bits)} and {len(targets)} targets")
    losses = []
    for some, y in zip(bits.split(512), targets.split(512), strict=True):
        noisy = {
            k: v
            + deviations[k]
            * torch.randn(len(some), *v.shape, generator=generator, dtype=torch.float64)
            for k, v in weights.items()
        }
        output = forward(spec, noisy, some[:, None]).squeeze(1)
        if loss_range is not None:
            output = output.clamp(0, math.sqrt(loss_range))
        losses.append((output - y).square())
    found = torch.cat(losses)
    return float(found.mean()), float(found.std() / math.sqrt(len(found)))


@validated
def sample_sizes(C: float, level: float, loss_range: float = 1.0) -> tuple[float, float]:
    r"""Samples at which the two forms, with noise on the law R K = C/2, come down to ``level``.

    .. math:: \frac{27\, b^2 C}{16\, q^3}, \qquad
        \min_{0 < R < q} \frac{C}{2 R\; \mathrm{kl}(R/b,\, q/b)}

    for the form with the root and the kl form, at b the range of the loss and q the level. For b =
    1 and q = 1/4 they are 108 C and 64.3 C.

    Raises:
        ValueError: an argument that is not positive, or a level that is not below the range.
    """
    require_scale(C=C, level=level, loss_range=loss_range)
    if not level < loss_range:
        raise ValueError(f"level must lie below the range {loss_range} of the loss, got {level}")
    q = level / loss_range
    r = torch.linspace(0, q, 20_001, dtype=torch.float64)[1:-1]
    most = (r * binary_kl(r, torch.full_like(r, q))).max().item()
    return 27 * loss_range**2 * C / (16 * level**3), C / (2 * loss_range * most)


def _shapes(spec: ConstructionSpec) -> list[tuple[str, tuple[int, ...]]]:
    require_positive(n=spec.n, degree=spec.degree, sparsity=spec.sparsity)
    D, H = spec.width, spec.hidden
    square = [("WKQ1", (D, D)), ("WV1", (D, D)), ("WKQ2", (D, D))]
    return [*square, ("G", (H, D)), ("b", (H,)), ("F", (D, H)), ("v2", (D,))]


def _check(norms: Tensor, sharpness: Tensor) -> None:
    if norms.ndim != 1 or norms.shape != sharpness.shape or not len(norms):
        raise ValueError(
            f"expected one norm and one sharpness a group, got shapes {tuple(norms.shape)} and "
            f"{tuple(sharpness.shape)}"
        )
    for name, values in (("norms", norms), ("sharpness", sharpness)):
        if not (values >= 0).all():
            raise ValueError(f"{name} must be at least 0, got {values.min().item()}")
