r"""Models that compute PARITY with a scratchpad: they write each state down before the next step.

They are causal transformers on 2n tokens: the n bits of the input, tokens 0 and 1, then the
scratchpad 0, t_1, ..., t_{n-1}, tokens 2 and 3. Token n + i is followed by the guess of t_i, the
parity of the first i bits. Targets lie in [0, 1]; sharpness is in the unit of functions into
{-1, 1}, as in :mod:`papers.sensitive.brittle`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.checks import (
    require_amount,
    require_bits,
    require_positive,
    require_whole,
    validated,
)
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward as run_transformer
from helpers.sharpness import Estimate, perturbed_loss
from helpers.training.batches import Pair, fresh
from helpers.training.train import train
from helpers.weights import Weights
from papers.sensitive.brittle import FIXED, RECIPE, SIGMA, seeded


@validated
def spec(n: int, width: int = 32) -> TransformerSpec:
    """The model that writes n states: causal, two layers of two heads, as wide as in the paper.

    Args:
        n: Bits, at least 1.
        width: Columns, even.
    """
    require_positive(n=n)
    kind: dict[str, Any] = {"join": "concat", "vocabulary": 4, "causal": True, "readout": "every"}
    return TransformerSpec(2 * n, width, heads=2, hidden=width, **kind)


def tokens(bits: Tensor, *, blank: bool = False) -> Tensor:
    """Bits and the states before each of them: what a model is given by teacher forcing.

    Args:
        bits: Shape ``(*, n)``, n at least 1, integers in {0, 1}; else an error.
        blank: Leave the scratchpad empty, all 0.

    Returns:
        Shape ``(*, 2 n)``, int64.
    """
    written = states(bits)[..., :-1] * (not blank)
    return torch.cat((bits.long(), torch.nn.functional.pad(written, (1, 0)) + 2), -1)


def states(bits: Tensor) -> Tensor:
    """Parities of the first 1, ..., n bits, shape ``(*, n)``, int64; as :func:`tokens` checks."""
    require_whole(bits=bits)
    if not bits.ndim or not bits.shape[-1]:
        raise ValueError(f"expected bit strings (*, n), n >= 1, got {tuple(bits.shape)}")
    require_bits(bits)
    return bits.long().cumsum(-1) % 2


def forward(model: TransformerSpec, weights: Weights, given: Tensor) -> Tensor:
    """The guesses of the n states, each from the tokens up to it: ``(*, B, 2 n) -> (*, B, n)``."""
    return run_transformer(model, weights, given)[..., model.n // 2 :]


@validated
def study(
    n: int,
    seeds: Sequence[int],
    steps: int,
    *,
    B: int,
    draws: int,
    seed: int = 0,
    sigma: float = SIGMA,
    blank: bool = False,
    **options: Any,
) -> tuple[Weights, dict[str, Tensor]]:
    """Train models to write the states of PARITY, and measure them on strings of their own.

    Bit i and the token that asks for its state begin with one position vector, as in an encoder and
    decoder that share positions.

    Args:
        n: Bits.
        seeds: One a model, at least one, each at least 0.
        steps: Most steps of AdamW.
        B: Fresh strings in a step.
        draws: Of the noise, at least 2.
        seed: Of the strings and of the noise by which models are measured.
        sigma: Standard deviation of the noise.
        blank: With an empty scratchpad.
        options: Of :func:`helpers.training.train.train`, in place of
            :data:`papers.sensitive.brittle.RECIPE`.

    Returns:
        The weights, and by name what is measured, shape ``(E,)``, float64: ``n``, ``steps`` taken,
        the mean squared error ``mse`` on 128 strings by teacher forcing, ``sharpness`` and its
        ``stderr`` on 32 of them.
    """
    model = spec(n)
    generators, weights = seeded(model, seeds)
    weights["positions"][:, n:] = weights["positions"][:, :n]

    def draw(_: int, size: int, generator: torch.Generator) -> Pair:
        bits = torch.randint(0, 2, (size, n), generator=generator)
        return tokens(bits, blank=blank), states(bits).float()

    network, batches = functools.partial(forward, model), fresh(draw, B, generators)
    trained = train(network, weights, batches, steps=steps, **(RECIPE | options))
    bits, noise = (torch.Generator().manual_seed(seed + n) for _ in range(2))
    strings = torch.randint(0, 2, (128, n), generator=bits)
    with torch.no_grad():
        guesses = network(trained.weights, tokens(strings, blank=blank))
    sharp = sharpness(model, trained.weights, strings[:32], draws, noise, sigma=sigma, blank=blank)
    found = {
        "n": torch.full((len(seeds),), n),
        "steps": trained.steps,
        "mse": (guesses - states(strings)).square().mean((-2, -1)),
        "sharpness": sharp.mean,
        "stderr": sharp.stderr,
    }
    return trained.weights, {name: values.double() for name, values in found.items()}


def roll_out(
    model: TransformerSpec, weights: Weights, bits: Tensor, *, blank: bool = False
) -> Tensor:
    """The states that a model writes when it reads its own scratchpad, not a teacher's.

    Args:
        model: As of :func:`spec`.
        weights: With any leading axes ``*``.
        bits: Shape ``(B, n)``, at least one string of integers in {0, 1}; else an error.
        blank: Rub the scratchpad out before each step.

    Returns:
        Shape ``(*, B, n)``, int64.

    Cost: n passes of :func:`forward`.
    """
    n = _steps(model, bits)
    lead = weights["readout"].shape[:-2]
    given = tokens(bits, blank=True).expand(*lead, -1, -1).clone()
    written = []
    for i in range(n):
        with torch.no_grad():
            guess = (forward(model, weights, given)[..., i] > 0.5).long()
        written.append(guess)
        if i + 1 < n and not blank:
            given[..., n + i + 1] = guess + 2
    return torch.stack(written, -1)


@validated
def sharpness(
    model: TransformerSpec,
    weights: Weights,
    bits: Tensor,
    draws: int,
    generator: torch.Generator | None = None,
    *,
    sigma: float = SIGMA,
    blank: bool = False,
) -> Estimate:
    """How far the steps move under noise, as of :func:`papers.sensitive.brittle.sharpness`.

    Args:
        model: As of :func:`spec`.
        weights: Of an ensemble, each ``(E, ...)``.
        bits: Shape ``(B, n)``, at least one string; the scratchpad is the right one.
        draws: Of the noise, at least 2.
        generator: Source of the noise.
        sigma: Its standard deviation in every weight but the positions.
        blank: With an empty scratchpad.

    Returns:
        The mean over all steps, in the unit of functions into {-1, 1}, with an axis ``(E,)`` in
        front.

    Source: Hahn and Rofin (2024), Section 7.2 and Figure 11.
    """
    _steps(model, bits)
    given = tokens(bits, blank=blank)

    def moved(still: Tensor) -> Callable[[Weights], Tensor]:
        return lambda w: 4 * (forward(model, w, given) - still).square().mean()

    with torch.no_grad():
        losses: Any = [moved(still) for still in forward(model, weights, given)]
    return perturbed_loss(losses, weights, sigma, draws, generator, without=FIXED, ensemble=True)


@validated
@torch.no_grad()
def sharpness_by_step(
    model: TransformerSpec,
    weights: Weights,
    bits: Tensor,
    draws: int,
    generator: torch.Generator | None = None,
    *,
    sigma: float = SIGMA,
    blank: bool = False,
) -> Tensor:
    """The :func:`sharpness` of each step, shape ``(E, n)``, all under the same noise.

    Arguments and errors are those of :func:`sharpness`; one draw is enough.
    """
    _steps(model, bits)
    require_positive(draws=draws)
    require_amount(sigma=sigma)
    given = tokens(bits, blank=blank)
    still = forward(model, weights, given)  # (E, B, n)
    total = torch.zeros_like(still[:, 0])
    for _ in range(draws):
        moved = {
            name: w
            if name == FIXED
            else w + sigma * torch.randn(w.shape, generator=generator, dtype=w.dtype)
            for name, w in weights.items()
        }
        total += (forward(model, moved, given) - still).square().mean(1)
    return 4 * total / draws


def _steps(model: TransformerSpec, bits: Tensor) -> int:
    """Steps n of a model, after checking that it is given strings of as many bits."""
    n = model.n // 2
    if bits.ndim != 2 or bits.shape[-1] != n or not len(bits):
        raise ValueError(
            f"expected strings of {n} bits, shape (B, {n}), B >= 1, got {tuple(bits.shape)}"
        )
    return n
