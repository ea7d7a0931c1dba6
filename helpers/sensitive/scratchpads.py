r"""Models that compute PARITY with a scratchpad: they write each state down before the next step.

They are causal transformers on 2n tokens: the n bits of the input, tokens 0 and 1, then the
scratchpad 0, t_1, ..., t_{n-1}, tokens 2 and 3. Token n + i is followed by the guess of t_i, the
parity of the first i bits. Targets lie in [0, 1]; sharpness is in the unit of functions into
{-1, 1}, as in :mod:`helpers.sensitive.brittle`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.checks import require_bits, require_positive, require_whole
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward as run_transformer
from helpers.nets.transformer import initial_weights
from helpers.sensitive.brittle import FIXED, RECIPE, SIGMA
from helpers.sharpness import Estimate, perturbed_loss
from helpers.training.batches import fresh
from helpers.training.train import Trained, train
from helpers.weights import Weights


def spec(n: int, width: int = 32, **options: Any) -> TransformerSpec:
    """The model that writes n states: causal, two layers of two heads, as wide as in the paper.

    Args:
        n: Bits, at least 1.
        width: Columns, even.
        options: Fields of :class:`helpers.nets.transformer.TransformerSpec` to change.
    """
    require_positive(n=n)
    fields: dict[str, Any] = {"heads": 2, "hidden": width, "join": "concat", "vocabulary": 4}
    return TransformerSpec(
        2 * n, width, **(fields | {"causal": True, "readout": "every"} | options)
    )


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


def learn(
    model: TransformerSpec,
    seeds: Sequence[int],
    steps: int,
    *,
    B: int,
    blank: bool = False,
    **options: Any,
) -> Trained:
    """Train one model a seed to write the states of PARITY, side by side.

    Bit i and the token that asks for its state begin with one position vector, as in an encoder and
    decoder that share positions.

    Args:
        model: As of :func:`spec`.
        seeds: At least one, each at least 0.
        steps: Of AdamW.
        B: Fresh strings in a step.
        blank: With an empty scratchpad.
        options: Of :func:`helpers.training.train.train`, in place of
        :data:`helpers.sensitive.brittle.RECIPE`.
    """
    n = model.n // 2
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    if not generators:
        raise ValueError("expected at least one seed")
    drawn = [initial_weights(model, None, g) for g in generators]
    weights = {name: torch.stack([w[name] for w in drawn]) for name in drawn[0]}
    weights["positions"][:, n:] = weights["positions"][:, :n]

    def draw(_: int, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        bits = torch.randint(0, 2, (size, n), generator=generator)
        return tokens(bits, blank=blank), states(bits).float()

    return train(
        functools.partial(forward, model),
        weights,
        fresh(draw, B, generators),
        steps=steps,
        **(RECIPE | options),
    )


def study(
    n: int,
    seeds: Sequence[int],
    steps: int,
    *,
    B: int,
    draws: int,
    seed: int = 0,
    sigma: float = SIGMA,
    **options: Any,
) -> tuple[Weights, dict[str, Tensor]]:
    """Train models of one length, and measure them on strings that no training drew.

    Args:
        n: Bits.
        seeds: One a model.
        steps: Most steps of training.
        B: Fresh strings in a step.
        draws: Of the noise, at least 2.
        seed: Of the strings and of the noise.
        sigma: Standard deviation of the noise.
        options: As for :func:`learn`.

    Returns:
        The weights, and by name what is measured, shape ``(E,)``, float64: ``n``, ``steps`` taken,
        the mean squared error ``mse`` on 128 strings, ``sharpness`` and its ``stderr``, and
        ``broken``, the share of chains that noise breaks, on 32 of them.
    """
    model = spec(n)
    trained = learn(model, seeds, steps, B=B, **options)
    bits = torch.randint(0, 2, (128, n), generator=torch.Generator().manual_seed(seed + n))
    noise = [torch.Generator().manual_seed(seed + n) for _ in range(2)]
    sharp = sharpness(model, trained.weights, bits[:32], draws, noise[0], sigma=sigma)
    broken = broken_chains(model, trained.weights, bits[:32], draws, noise[1], sigma=sigma)
    found = {
        "n": torch.full((len(seeds),), n),
        "steps": trained.steps,
        "mse": errors(model, trained.weights, bits),
        "sharpness": sharp.mean,
        "stderr": sharp.stderr,
        "broken": broken.mean,
    }
    return trained.weights, {name: values.double() for name, values in found.items()}


def errors(
    model: TransformerSpec, weights: Weights, bits: Tensor, *, blank: bool = False
) -> Tensor:
    """Mean squared error over strings ``(B, n)`` and steps, by teacher forcing: shape ``(*)``."""
    with torch.no_grad():
        guesses = forward(model, weights, tokens(bits, blank=blank))
    return (guesses - states(bits)).square().mean((-2, -1))


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


def sharpness(
    model: TransformerSpec,
    weights: Weights,
    bits: Tensor,
    draws: int,
    generator: torch.Generator | None = None,
    *,
    sigma: float = SIGMA,
    step: int | None = None,
    blank: bool = False,
) -> Estimate:
    """How far a step moves under noise, as of :func:`helpers.sensitive.brittle.sharpness`.

    Args:
        model: As of :func:`spec`.
        weights: Of one model, or of an ensemble ``(E, ...)``.
        bits: Shape ``(B, n)``, at least one string; the scratchpad is the right one.
        draws: Of the noise, at least 2.
        generator: Source of the noise.
        sigma: Its standard deviation in every weight but the positions.
        step: From 1 to n, else ValueError; None: the mean over all steps.
        blank: With an empty scratchpad.

    Returns:
        In the unit of functions into {-1, 1}; with an axis ``(E,)`` in front for an ensemble.

    Source: Hahn and Rofin (2024), Section 7.2 and Figure 11.
    """
    n = _steps(model, bits)
    if step is not None and not 1 <= step <= n:
        raise ValueError(f"step must lie between 1 and {n}, got {step}")
    asked = slice(None) if step is None else slice(step - 1, step)

    def moved(outputs: Tensor, still: Tensor) -> Tensor:
        return 4 * (outputs - still)[:, asked].square().mean()

    return _under_noise(model, weights, bits, moved, draws, generator, sigma, blank)


def broken_chains(
    model: TransformerSpec,
    weights: Weights,
    bits: Tensor,
    draws: int,
    generator: torch.Generator | None = None,
    *,
    sigma: float = SIGMA,
) -> Estimate:
    """Share of strings on which a model with noise in its weights writes a wrong state.

    A chain that reads its own scratchpad errs for the first time where the one that reads the right
    one does. So one pass by teacher forcing counts the strings with an error.

    Args:
        model: As of :func:`spec`.
        weights: Of one model, or of an ensemble ``(E, ...)``.
        bits: Shape ``(B, n)``, at least one string.
        draws: Of the noise, at least 2.
        generator: Source of the noise.
        sigma: Its standard deviation in every weight but the positions.
    """
    _steps(model, bits)
    right = states(bits).bool()

    def broken(outputs: Tensor, _: Tensor) -> Tensor:
        return ((outputs > 0.5) != right).any(-1).to(outputs).mean()

    return _under_noise(model, weights, bits, broken, draws, generator, sigma, False)


def _under_noise(
    model: TransformerSpec,
    weights: Weights,
    bits: Tensor,
    measure: Callable[[Tensor, Tensor], Tensor],
    draws: int,
    generator: torch.Generator | None,
    sigma: float,
    blank: bool,
) -> Estimate:
    """Mean of ``measure(outputs, outputs without noise)`` over draws of the noise."""
    given = tokens(bits, blank=blank)
    ensemble = weights["readout"].ndim > 2
    with torch.no_grad():
        still = forward(model, weights, given)

    def loss_at(own: Tensor) -> Callable[[Weights], Tensor]:
        return lambda w: measure(forward(model, w, given), own)

    losses: Any = [loss_at(own) for own in still] if ensemble else loss_at(still)
    return perturbed_loss(
        losses, weights, sigma, draws, generator, without=FIXED, ensemble=ensemble
    )


def _steps(model: TransformerSpec, bits: Tensor) -> int:
    """Steps n of a model, after checking that it is given strings of as many bits."""
    n = model.n // 2
    if bits.ndim != 2 or bits.shape[-1] != n or not len(bits):
        raise ValueError(
            f"expected strings of {n} bits, shape (B, {n}), B >= 1, got {tuple(bits.shape)}"
        )
    return n
