r"""Guarantees on the error of a network, from a sample that was drawn independently.

Occam's bound is on the error of the network itself. The bound of PAC-Bayes-kl is on the mean error
of the networks around it, whose weights get Gaussian noise; of the network itself it says nothing.
Both have probability 1 - delta over samples of independent strings of one distribution, and are
about new strings of that distribution. The form of the network, what it holds beside weights, and
the start at which a prior is centred must not depend on the sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from helpers.checks import (
    readable,
    require_amount,
    require_positive,
    require_probability,
    require_tensors,
    validated,
)
from helpers.statistics import kl_inverse

SIGMAS = tuple(2.0**-j for j in range(12))
"""Noise in the weights, in units of their root mean square, that is tried."""
WIDTHS = tuple(math.exp(j / 20) for j in range(-160, 81))
"""Standard deviations of the prior, fixed before any sample, of which the best is taken."""
SAMPLING = 0.2
"""Share of delta that is spent on the error of the noisy networks, which is itself estimated."""
AT_ONCE = 64  # strings, at most, that one drawn network is tried on

Forward = Callable[[Mapping[str, Tensor], Tensor], Tensor]


class Randomized(NamedTuple):
    """A bound on the mean error of networks with noisy weights, and where it was least.

    Attributes:
        bound: With the given confidence; 1 where nothing is certified.
        sigma: Standard deviation of the noise in each weight. nats: KL from the prior.
        seen: Mean error of the drawn networks on the sample.
    """

    bound: float
    sigma: float
    nats: float
    seen: float


@validated
def occam(stored: float, wrong: float, m: int, delta: float = 0.05) -> float:
    r"""Bound on the error of a network that takes ``stored`` bits to write down.

    .. math:: \mathrm{kl}^{-1}\Bigl( \hat r,\; \frac{\text{stored} \log 2 + \log(1/\delta)}{m}
        \Bigr)

    Args:
        stored: Bits of all weights, at least 0.
        wrong: Share of the sample on which the sign is wrong.
        m: Strings in the sample, at least 1.
        delta: Probability of failure, between 0 and 1.

    Raises:
        ValueError: a number out of range.

    Example:
        >>> from helpers.probe.certificates import occam
        >>> round(occam(100, 0.0, 1000), 4)
        0.0698
    """
    require_amount(stored=stored)
    require_positive(m=m)
    require_probability(delta=delta)
    return kl_inverse(wrong, (stored * math.log(2) - math.log(delta)) / m)


@validated
def gaussian_nats(size: int, distance_squared: float, sigma: float, width: float) -> float:
    r"""KL of N(w, sigma**2 I) from N(c, width**2 I), with \|w - c\|**2 given, nats.

    Example:
        >>> from helpers.probe.certificates import gaussian_nats
        >>> gaussian_nats(3, 4.0, 1.0, 1.0)
        2.0
    """
    ratio = (sigma / width) ** 2
    nats = size / 2 * (ratio - 1 - math.log(ratio)) + distance_squared / (2 * width**2)
    return max(nats, 0.0)


@validated
def randomized_bound(seen: float, draws: int, nats: float, m: int, delta: float = 0.05) -> float:
    r"""PAC-Bayes-kl, with the training error of the posterior itself estimated from draws.

    .. math:: \mathrm{kl}^{-1}\Bigl( \hat r,\; \frac{\text{nats} + \log|\mathrm{widths}|
        + \log(2 \sqrt m / 0.8 \delta)}{m} \Bigr), \qquad
        \hat r = \mathrm{kl}^{-1}\Bigl( \text{seen},\;
        \frac{\log(|\mathrm{sigmas}| / 0.2 \delta)}{\text{draws}} \Bigr)

    PAC-Bayes holds for all posteriors at once, so that only the prior's width is paid for there. An
    estimate holds for one posterior, so that each noise that may be tried is paid for.

    Args:
        seen: Mean over the draws of a network's error on strings of the sample.
        draws: Independent networks, at least 1.
        nats: KL of the posterior from the prior, at least 0.
        m: Strings in the sample, at least 1.
        delta: Probability of failure, between 0 and 1.

    Raises:
        ValueError: a number out of range.

    Source: Langford and Seeger (2001), Maurer (2004) for the constant, Langford and Caruana (2001)
    for the estimate.

    Example:
        >>> from helpers.probe.certificates import randomized_bound
        >>> round(randomized_bound(0.01, 1000, 50.0, 5000), 3)
        0.061
    """
    require_positive(draws=draws, m=m)
    require_amount(nats=nats)
    require_probability(delta=delta)
    estimated = math.log(len(SIGMAS) / (SAMPLING * delta))
    chosen = math.log(len(WIDTHS)) + math.log(2 * math.sqrt(m) / ((1 - SAMPLING) * delta))
    return kl_inverse(kl_inverse(seen, estimated / draws), (nats + chosen) / m)


@torch.no_grad()
def randomized(
    forward: Forward,
    weights: Mapping[str, Tensor],
    start: Mapping[str, Tensor] | None,
    sample: tuple[Tensor, Tensor],
    draws: int,
    generator: torch.Generator,
    delta: float = 0.05,
) -> Randomized:
    """The least bound over :data:`SIGMAS`; a noise that cannot improve it is not tried."""
    bits, labels = sample
    values = torch.cat([w.double().reshape(-1) for w in weights.values()])
    moved = values
    if start is not None:
        moved = values - torch.cat([start[k].double().reshape(-1) for k in weights])
    size, distance = len(values), moved.square().sum().item()
    scale = values.square().mean().sqrt().item() or 1.0
    best = Randomized(1.0, math.nan, math.nan, math.nan)
    for sigma in (scale * unit for unit in SIGMAS):
        near = math.sqrt(sigma**2 + distance / size)
        width = min(WIDTHS, key=lambda s: abs(math.log(s / near)))
        nats = gaussian_nats(size, distance, sigma, width)
        if randomized_bound(0.0, draws, nats, len(bits), delta) >= best.bound:
            continue
        seen = _mean_error(forward, weights, sigma, bits, labels, draws, generator)
        bound = randomized_bound(seen, draws, nats, len(bits), delta)
        if bound < best.bound:
            best = Randomized(bound, sigma, nats, seen)
    return best


def _mean_error(
    forward: Forward,
    weights: Mapping[str, Tensor],
    sigma: float,
    bits: Tensor,
    labels: Tensor,
    draws: int,
    generator: torch.Generator,
) -> float:
    """Mean error of noisy networks, each on strings drawn from the sample with it."""
    total = 0.0
    for _ in range(draws):
        noisy = {
            k: w + sigma * torch.randn(w.shape, generator=generator, dtype=w.dtype)
            for k, w in weights.items()
        }
        pick = torch.randint(len(bits), (min(len(bits), AT_ONCE),), generator=generator)
        total += wrong_signs(forward(noisy, bits[pick]), labels[pick]).double().mean().item()
    return min(total / draws, 1.0)


def wrong_signs(outputs: Tensor, labels: Tensor) -> Tensor:
    """Where a sign is wrong; an output that is not finite is wrong anyway."""
    return ((outputs > 0) != (labels > 0)) | ~outputs.isfinite()


def require_labelled(sample: object, n: int) -> tuple[Tensor, Tensor]:
    """The bits and labels of a sample; ValueError or TypeError, by name, if they are no such."""
    if not (isinstance(sample, tuple | list) and len(sample) == 2):
        raise TypeError("sample must be a pair of tensors, bits (m, n) and labels (m,)")
    bits, labels = sample
    if not (isinstance(bits, Tensor) and isinstance(labels, Tensor)):
        raise TypeError("sample must be a pair of tensors, bits (m, n) and labels (m,)")
    for name, value in {"bits": bits, "labels": labels}.items():
        require_tensors(**{f"the {name} of sample": value})
        if not readable(value):
            raise ValueError(f"the {name} of sample have no numbers, on {value.device}; load them")
        if value.is_complex():
            raise ValueError(f"the {name} of sample must be real numbers, got {value.dtype}")
    if bits.ndim != 2 or bits.shape[1] != n or labels.shape not in ((len(bits),), (len(bits), 1)):
        raise ValueError(
            f"sample must have bits (m, {n}) and labels (m,), got {tuple(bits.shape)} and "
            f"{tuple(labels.shape)}"
        )
    if not len(bits):
        raise ValueError("sample must have at least one string, got m = 0")
    wrong = bits[(bits != 0) & (bits != 1)]
    if wrong.numel():
        raise ValueError(f"the bits of sample are 0 or 1, got {wrong[0].item()}")
    if labels.dtype == torch.bool:
        raise ValueError("the labels of sample must be numbers of which the sign counts, got bool")
    labels = labels.reshape(-1).double()
    if not labels.isfinite().all():
        bad = labels[~labels.isfinite()][0].item()
        raise ValueError(f"the labels of sample must be finite, got {bad}")
    return bits.long().cpu(), labels.cpu()


def require_start(start: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> None:
    """ValueError, by name, unless each weight has its value before training."""
    for name, w in weights.items():
        if name not in start:
            raise ValueError(f"start lacks the weight {name!r}; it is a state_dict before training")
        given = start[name]
        if not readable(given):
            raise ValueError(f"start[{name!r}] has no numbers, on {given.device}; load it")
        if given.shape != w.shape or not given.double().isfinite().all():
            raise ValueError(
                f"start[{name!r}] must be finite and of shape {tuple(w.shape)}, got shape "
                f"{tuple(given.shape)}"
            )


def refuse_own_weights(start: Mapping[str, Tensor], model: nn.Module) -> None:
    """ValueError if a start is the weights themselves, as a state_dict without a copy is."""
    if not isinstance(start, Mapping):
        raise TypeError(f"start must be a state_dict before training, got {type(start).__name__}")
    for name, p in model.named_parameters():
        w = start.get(name, p.new_zeros(0))
        if not isinstance(w, Tensor):
            raise TypeError(f"start[{name!r}] must be a tensor, got {type(w).__name__}")
        if w.numel() and w.data_ptr() == p.data_ptr():
            raise ValueError(
                f"start[{name!r}] is the weight of the model itself, which training has moved; "
                "take copy.deepcopy(model.state_dict()) before training"
            )


def depends_on_the_sample(module: nn.Module) -> bool:
    """Whether the module holds what training strings leave behind beside weights."""
    return any(getattr(part, "running_mean", None) is not None for part in module.modules())
