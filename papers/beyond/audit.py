r"""How often does a certificate fail? A simulation in which every risk is known.

A learner chooses among the hand-written networks of all sets of d out of n bits, with or without
noise on their weights. Samples are drawn by the thousand, and counted are those on which a
certificate is below the risk that it should exceed. Losses are squared errors in [0, 1].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from helpers import cube
from helpers.checks import require_finite, require_positive, validated
from papers.sharper import network as sharper


class Failures(NamedTuple):
    """On how many samples a certificate was wrong.

    Attributes:
        any: For at least one member of the family.
        erm: For the member that a learner takes: one drawn from those with the least training risk.
    """

    any: int
    erm: int


@validated
def sample_counts(inputs: int, m: int, draws: int, generator: Generator) -> Tensor:
    """How often each of the equally likely inputs is in each sample, ``(draws, inputs)``."""
    require_positive(inputs=inputs, m=m, draws=draws)
    at = torch.randint(inputs, (draws, m), generator=generator)
    counts = torch.zeros(draws, inputs, dtype=torch.float64)
    return counts.scatter_add_(1, at, torch.ones(draws, m, dtype=torch.float64))


def failures(
    losses: Tensor,
    counts: Tensor,
    certify: Callable[[Tensor], Tensor],
    generator: Generator,
    chosen_by: Tensor | None = None,
) -> Failures:
    """Count the samples on which a certificate is below the risk.

    Args:
        losses: Expected loss of each member of a family on each input, shape ``(H, inputs)``,
            floating. Inputs are equally likely.
        counts: Of :func:`sample_counts`.
        certify: Turns training risks, in any shape, into certificates; never below the risks, and
            never smaller for a larger risk.
        generator: Breaks ties of the least training risk.
        chosen_by: Losses by which the learner compares the members, shaped like ``losses``; None:
            these. With those of networks without noise, members that fit equally well are tied.

    Raises:
        ValueError: shapes that do not fit, losses that are not finite, no samples, or one that is
            empty.
    """
    if chosen_by is None:
        chosen_by = losses
    fit = losses.ndim == counts.ndim == 2 and losses.shape == chosen_by.shape
    if not fit or losses.shape[1] != counts.shape[1] or not (losses.numel() and counts.numel()):
        raise ValueError(
            f"expected losses (H, inputs), counts (draws, inputs) and chosen_by (H, inputs), got "
            f"{tuple(losses.shape)}, {tuple(counts.shape)} and {tuple(chosen_by.shape)}"
        )
    require_finite(losses=losses, counts=counts, chosen_by=chosen_by)
    if not (counts.sum(1) > 0).all():
        raise ValueError(f"counts of a sample must sum to 1 or more, got {counts.sum(1).min()}")
    losses, counts = losses.double(), counts.double()
    empirical = counts @ losses.T / counts.sum(1, keepdim=True)
    wrong = _wrong(losses.mean(1), empirical, certify)
    compared = counts @ chosen_by.double().T / counts.sum(1, keepdim=True)
    eps = torch.finfo(chosen_by.dtype if chosen_by.is_floating_point() else losses.dtype).eps
    ties = math.sqrt(eps) * compared.abs().amax(1, keepdim=True)  # apart by rounding only
    least = compared <= compared.amin(1, keepdim=True) + ties
    chosen = torch.multinomial(least.double(), 1, generator=generator)
    return Failures(int(wrong.any(1).sum()), int(wrong.gather(1, chosen).sum()))


def _wrong(risk: Tensor, empirical: Tensor, certify: Callable[[Tensor], Tensor]) -> Tensor:
    """Which certificates are below the risks ``(H,)``, shaped like ``empirical``, ``(draws, H)``.

    A member's certificate grows with its training risk, so it fails up to some training risk, which
    is found by bisection: a certificate may cost more than all else.
    """
    ordered, samples = empirical.sort(0)
    failing, rest = torch.zeros(len(risk), dtype=torch.int64), (empirical < risk).sum(0)
    while (failing < rest).any():
        middle = (failing + rest) // 2
        at = ordered.gather(0, middle.clamp(max=len(ordered) - 1)[None])[0]
        fails = (middle < rest) & (risk > certify(at.minimum(risk)))
        failing = torch.where(fails, middle + 1, failing)
        rest = torch.where(fails, rest, middle)
    return torch.zeros(empirical.shape, dtype=torch.bool).scatter_(
        0, samples, torch.arange(len(ordered))[:, None] < failing
    )


@validated
def noisy_losses(
    n: int,
    degree: int,
    scale: float,
    deviation: Mapping[str, float],
    draws: int,
    generator: Generator,
) -> Tensor:
    r"""Expected loss of the hand-written network of every set, under noise, at every input.

    The target is the even-parity indicator of the first set, outputs are clipped to [0, 1]. The
    law of an output depends on the set U and the input x through four numbers: whether the first
    bit is in U, its value, and the ones that x has inside U and outside. Only one input of each
    kind is run.

    Args:
        n: Bits, at least 2.
        degree: Size d of the sets, from 1 to n - 1.
        scale: Of the scores, as in :func:`papers.sharper.network.construct_exact`.
        deviation: Standard deviation of the noise on every entry of a weight, by its name; the
            others have none.
        draws: Of the noise, the same for all inputs, at least 1.
        generator: Source of randomness.

    Returns:
        Shape ``(H, 2**n)``, the H sets in lexicographic order, float64.
    """
    require_positive(n=n, degree=degree, draws=draws)
    if degree >= n:
        raise ValueError(f"degree must be from 1 to n - 1 = {n - 1}, got {degree}")
    sets = list(itertools.combinations(range(n), degree))
    bits = cube.bits(n)
    target = 1 - bits[:, list(sets[0])].sum(1) % 2
    first = torch.empty(len(sets), 2**n, dtype=torch.float64)
    second = torch.empty_like(first)
    for home in (True, False):
        alike = [h for h, U in enumerate(sets) if (0 in U) == home]
        kinds = torch.stack([_kind(bits, sets[h]) for h in alike])
        shown, kind = kinds[0].unique(return_inverse=True)
        rows = torch.stack([(kind == k).nonzero()[0, 0] for k in range(len(shown))])
        outputs = _noisy_outputs(n, sets[alike[0]], scale, deviation, bits[rows], draws, generator)
        place = torch.searchsorted(shown, kinds)
        first[alike] = outputs.mean(0)[place]
        second[alike] = outputs.square().mean(0)[place]
    return second - 2 * target * first + target


def _kind(bits: Tensor, members: tuple[int, ...]) -> Tensor:
    """Code of the kind of each input for a set: first bit, ones inside, ones outside."""
    inside = bits[:, list(members)].sum(1)
    n = bits.shape[1]
    return bits[:, 0] * (n + 1) ** 2 + inside * (n + 1) + bits.sum(1) - inside


def _noisy_outputs(
    n: int,
    members: tuple[int, ...],
    scale: float,
    deviation: Mapping[str, float],
    bits: Tensor,
    draws: int,
    generator: Generator,
) -> Tensor:
    """Clipped outputs ``(draws, inputs)`` of one network under noise."""
    mask = torch.tensor([cube.mask_of([k + 1 for k in members])])
    f = cube.SparseFunction(n, mask, torch.ones(1, dtype=torch.float64), "even_parity")
    spec, weights = sharper.construct_exact(f, scale)
    noisy = {k: v.expand(draws, *v.shape) for k, v in weights.items()}
    for k, sigma in deviation.items():
        shape = noisy[k].shape
        noisy[k] = noisy[k] + sigma * torch.randn(shape, generator=generator, dtype=torch.float64)
    return sharper.forward(spec, noisy, bits).clamp(0, 1)
