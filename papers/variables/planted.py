r"""Planted functions: a gate on s hidden bits among T, learned by the third paper's small model.

Each trial plants its own bits, draws its own strings and starts from its own weights, all from one
generator, so that no trial depends on which others run beside it. Then what is said of the trials:
the sample size that they need, and how long they wait before they learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor
from torch.nn import functional

from helpers.checks import require_choice, require_probability, validated
from helpers.nets.norm import layer_norm
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import initial_weights
from helpers.rng import seed_of
from helpers.statistics import resampled
from helpers.weights import Weights

GATES: dict[str, Callable[[Tensor], Tensor]] = {
    "and": lambda bits: bits.all(-1).long(),
    "parity": lambda bits: bits.sum(-1) % 2,
}
"""Label of the hidden bits, shape ``(*, s)`` to ``(*)``, int64."""

MATRICES = ("query", "key", "value", "project", "hidden", "output", "readout")


@dataclass(frozen=True)
class Trials:
    """E trials of one size.

    Attributes:
        gate: A key of :data:`GATES`.
        hidden: The planted positions, 0 to T - 1, shape ``(E, s)``, increasing.
        T: Bits of a string.
        generators: The source of each trial's strings, weights and order, from here on.
    """

    gate: str
    hidden: Tensor
    T: int
    generators: tuple[torch.Generator, ...]

    def label(self, trial: int, bits: Tensor) -> Tensor:
        """Labels of strings ``(*, T)`` in {0, 1} under one trial's function: ``(*)``, int64."""
        if bits.shape[-1:] != (self.T,):
            raise ValueError(f"strings must end in T = {self.T} bits, got {tuple(bits.shape)}")
        return GATES[self.gate](bits[..., self.hidden[trial]])

    def draw(self, trial: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Uniform strings ``(count, T)``, uint8, and their labels ``(count,)``, int64."""
        bits = torch.randint(0, 2, (count, self.T), generator=generator, dtype=torch.uint8)
        return bits, self.label(trial, bits)

    def sample(self, count: int) -> tuple[Tensor, Tensor]:
        """The next strings of every trial, ``(E, count, T)``, and labels ``(E, count)``.

        Raises:
            ValueError: no strings.
        """
        if count < 1:
            raise ValueError(f"a sample has at least 1 string, got {count}")
        drawn = [self.draw(e, count, g) for e, g in enumerate(self.generators)]
        bits, labels = zip(*drawn, strict=True)
        return torch.stack(bits), torch.stack(labels)


@validated
def plant(gate: str, T: int, s: int, seeds: Sequence[int]) -> Trials:
    """Hide a gate on s of T bits, anew for each seed.

    Args:
        gate: ``"and"``, which is 1 if all hidden bits are, or ``"parity"``, their sum modulo 2.
        T: Bits of a string.
        s: Hidden bits, from 1 to T.
        seeds: Integers, one a trial. A generator takes 32 bits of a seed, so the four arguments
            together are hashed to that.

    Raises:
        ValueError: no trials, an unknown gate, or a number outside its range.
    """
    require_choice("gate", gate, tuple(GATES))
    if not 1 <= s <= T:
        raise ValueError(f"s must lie between 1 and T = {T}, got {s}")
    if not seeds:
        raise ValueError("at least one trial is needed, got no seeds")
    generators = tuple(torch.Generator().manual_seed(seed_of(gate, T, s, seed)) for seed in seeds)
    hidden = [torch.randperm(T, generator=g)[:s].sort().values for g in generators]
    return Trials(gate, torch.stack(hidden), T, generators)


@validated
def probe(T: int, *, width: int = 32, heads: int = 4) -> TransformerSpec:
    """The third paper's model: one layer, norms first, read at a class token, two logits.

    Args:
        T: Bits of a string.
        width: Columns; the paper has 64.
        heads: The paper has 16.

    Source: Edelman et al. (2022), Appendix C.1, and the defaults of minGPT, without dropout.
    """
    return TransformerSpec(
        T,
        width,
        layers=1,
        heads=heads,
        hidden=4 * width,
        norm="pre",
        activation="gelu",
        readout="cls",
        outputs=2,
        final_norm=True,
    )


@validated
def start(
    spec: TransformerSpec, trials: Trials, *, std: float = 0.02, matrices: float | None = None
) -> Weights:
    """Initial weights of every trial, from its own generator, float32.

    Args:
        spec: As of :func:`probe`.
        trials: E trials.
        std: Standard deviation of token and position embeddings.
        matrices: Standard deviation of normal matrices, with biases 0; 0.02 in minGPT. None:
            uniform, as PyTorch draws them.
    """
    models = [initial_weights(spec, None, g, position_std=std) for g in trials.generators]
    for weights, generator in zip(models, trials.generators, strict=True):
        weights["embedding"] *= std
        weights["cls"] *= std
        if matrices is None:
            continue
        for name, weight in weights.items():
            if name.endswith("bias"):
                weight.zero_()
            elif name.split(".")[-1] in MATRICES:
                weight.normal_(0, matrices, generator=generator)
    return {name: torch.stack([m[name] for m in models]) for name in models[0]}


@validated
def logits(
    spec: TransformerSpec,
    weights: Weights,
    bits: Tensor,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""Logits of :func:`probe`; without dropout from tables that no string enters.

    The class token alone asks, and its query is the same for all strings. So a position t with bit
    b has one score :math:`s_{tb}` a head and one value :math:`v_{tb}`, and a head writes

    .. math:: \sum_t e^{s_{t x_t}} v_{t x_t} \Big/ \sum_t e^{s_{t x_t}} ,

    two sums linear in the indicators of :math:`x_t = b`: one matrix product a model, in place of
    keys and values for each string. With dropout every string has its own.

    Args:
        spec: As of :func:`probe`.
        weights: Of E trials.
        bits: Shape ``(E, B, T)``, of 0 and 1.
        dropout: Share of what is dropped from tokens, attention and the output of both blocks, as
            in minGPT; the rest grows.
        generator: Source of randomness of dropout.

    Returns:
        Shape ``(E, B, 2)``; without dropout :func:`helpers.nets.transformer.forward` up to
        rounding. Where all scores of a string are 104 below others (745 in float64) it is nan, and
        its gradient already from 88 (709) on.

    Cost: about 2 T D^2 + 2 B T (D + H) multiplications a model for D columns and H heads; with
    dropout 2 B T D H.
    """
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    block = {k[9:]: v for k, v in weights.items() if k.startswith("layers.0.")}

    def drop(Y: Tensor) -> Tensor:
        kept = torch.rand(Y.shape, generator=generator) >= dropout if dropout else 1.0
        return Y * kept / (1 - dropout)

    def linear(of: Weights, matrix: str, Y: Tensor) -> Tensor:
        return torch.baddbmm(of[f"{matrix}_bias"][:, None], Y, of[matrix])

    def norm(of: Weights, name: str, Y: Tensor) -> Tensor:
        Y = layer_norm(Y, spec.norm_eps)
        return torch.addcmul(of[f"{name}.bias"][:, None], Y, of[f"{name}.gain"][:, None])

    zero, one = (w + weights["positions"][:, :-1] for w in weights["embedding"].split(1, 1))
    stream = (weights["cls"] + weights["positions"][:, -1])[:, None]  # (E, 1, D)
    ones = bits.to(zero.dtype)
    if dropout:
        tokens = torch.addcmul(zero[:, None], ones[..., None], (one - zero)[:, None])
        last = stream[:, None].expand(-1, tokens.shape[1], -1, -1)
        tokens = drop(torch.cat((tokens, last), 2))  # (E, B, T + 1, D)
        every, stream = layer_norm(tokens, spec.norm_eps), tokens[:, :, -1]
    else:
        every = layer_norm(torch.cat((one, zero, stream), 1), spec.norm_eps)  # (E, 2T + 1, D)
    query = spec.scale * linear(block, "query", norm(block, "norm1", stream))
    heads = (spec.heads, -1)
    gain = block["norm1.gain"][..., None]
    key = (gain * block["key"]).unflatten(-1, heads).permute(0, 2, 3, 1)  # (E, H, D / H, D)
    asked = (query.unflatten(-1, heads).transpose(1, 2) @ key).transpose(1, 2)  # (E, 1 or B, H, D)
    value, value_bias = gain * block["value"], linear(block, "value", block["norm1.bias"][:, None])
    if dropout:
        attention = drop((asked @ every.mT).softmax(-1))  # (E, B, H, T + 1)
        of_heads = value.unflatten(-1, heads).transpose(1, 2)
        mixed = ((attention @ every).transpose(1, 2) @ of_heads).transpose(1, 2)
        mixed = mixed + attention.sum(-1, keepdim=True) * value_bias.unflatten(-1, heads)
    else:
        scores = every @ asked[:, 0].mT  # (E, 2T + 1, H)
        weight = (scores - scores.detach().amax(1, keepdim=True)).exp()
        written = (every @ value + value_bias).unflatten(-1, heads) * weight[..., None]
        table = torch.cat((written.flatten(-2), weight), -1)
        sums = torch.baddbmm(table[:, -1:], torch.cat((ones, 1 - ones), -1), table[:, :-1])
        of_values, of_weights = sums.split((spec.width, spec.heads), -1)
        mixed = of_values.unflatten(-1, heads) / of_weights[..., None]
    mixed = mixed.flatten(-2)
    stream = stream + drop(linear(block, "project", mixed))
    units = functional.gelu(linear(block, "hidden", norm(block, "norm2", stream)))
    stream = stream + drop(linear(block, "output", units))
    return linear(weights, "readout", norm(weights, "norm", stream))


@validated
def errors(
    forward: Callable[[Weights, Tensor], Tensor], bits: Tensor, labels: Tensor, chunk: int = 64
) -> Callable[[Weights, Tensor], Tensor]:
    """Share of wrong answers on strings, as :func:`helpers.training.train.train` evaluates it.

    Args:
        forward: ``forward(weights, bits) -> (A, B, 2)``, logits.
        bits: Shape ``(E, B, T)``.
        labels: Shape ``(E, B)``.
        chunk: Strings a forward pass takes.

    Returns:
        ``evaluate(weights, models) -> (A,)``, float32.
    """

    def evaluate(weights: Weights, models: Tensor) -> Tensor:
        parts = zip(bits[models].split(chunk, 1), labels[models].split(chunk, 1), strict=True)
        wrong = [forward(weights, b).argmax(-1) != y for b, y in parts]
        return torch.cat(wrong, 1).float().mean(1)

    return evaluate


def nondecreasing(shares: Tensor) -> Tensor:
    """The nondecreasing sequence nearest to the shares in squares, shape ``(M,)``, float64."""
    return torch.as_tensor(isotonic_regression(shares.double().numpy()).x)


@validated
def critical_size(sizes: Sequence[int], successes: Tensor, level: float = 0.5) -> float:
    r"""Sample size at which the share of successes passes a level.

    The shares are first made :func:`nondecreasing`. Between the two sizes where they pass the
    level, the share is linear in the logarithm of the size.

    Args:
        sizes: Increasing, positive.
        successes: Shares of successful trials, one a size, shape ``(M,)``.
        level: Between 0 and 1, exclusive.

    Returns:
        The size; the first one if the share is above the level there already, infinity if it is
        nowhere.

    Raises:
        ValueError: shares of another shape, outside [0, 1] or nan, sizes that do not increase.
    """
    m = torch.as_tensor(sizes, dtype=torch.float64)
    if successes.shape != m.shape or not len(m):
        raise ValueError(f"{len(m)} sizes need as many shares, got {tuple(successes.shape)}")
    if not bool((m > 0).all() and (m.diff() > 0).all()):
        raise ValueError(f"sizes must be positive and increase, got {list(sizes)}")
    if not bool(((successes >= 0) & (successes <= 1)).all()):
        raise ValueError(f"successes must lie in [0, 1], got {successes.tolist()}")
    require_probability(level=level)
    share = nondecreasing(successes)
    k = int((share <= level).sum())
    if k in (0, len(m)):
        return math.inf if k else m[0].item()
    around = slice(k - 1, k + 1)
    return math.exp(np.interp(level, share[around], m[around].log()))


@validated
def onsets(checks: Sequence[int], losses: Tensor, level: float) -> Tensor:
    """Steps after which the loss of each run stays at or below a level.

    Args:
        checks: Steps at which the loss was looked at, increasing, C of them.
        losses: Shape ``(C, E)``; nan once a run is over.
        level: Of the loss.

    Returns:
        The last check at which the loss was above the level, 0 if it never was: ``(E,)``, int64.

    Raises:
        ValueError: another number of checks.
    """
    if losses.ndim != 2 or len(losses) != len(checks):
        raise ValueError(f"{len(checks)} checks need losses (C, E), got {tuple(losses.shape)}")
    return (torch.tensor(checks)[:, None] * (losses > level)).amax(0)


@validated
def redrawn_medians(values: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Median of the runs as they are, then of runs drawn anew.

    Of waits, a median says nothing of how long the slower half would have taken, so it is known
    although some runs were stopped before they learned.

    Args:
        values: One a run, shape ``(E,)``; else ValueError.
        count: Number of redraws, at least 1; else ValueError.
        generator: Source of randomness.

    Returns:
        Shape ``(1 + count,)``, float64; of an even number of runs the mean of the middle two.
    """
    if values.ndim != 1 or not len(values):
        raise ValueError(f"values must be (E,), E at least 1, got {tuple(values.shape)}")
    values = values.double()
    again = values[resampled(torch.zeros(len(values)), count, generator)]
    return torch.cat((values[None], again)).quantile(0.5, dim=1)
