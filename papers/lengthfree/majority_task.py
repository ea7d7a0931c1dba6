r"""Sparse majority: the task, and the one-layer model of Trauger and Tewari's public program.

A string has T bits, nine of them hidden; its label is 1 if most of the hidden bits are. A token is
one of two vectors, for 0 and 1, plus a code of its place; the class token comes last. The model is
one multi-head attention, a ReLU and two linear maps, read at the class token. Its query is the same
for every string, so a head averages tokens with weights :math:`z_{jb}` from a table over places j
and bits b. :mod:`papers.lengthfree.majority_steps` trains by that; :func:`outputs` is the plain
form. Settings here are those of the program, ``run_experiment.py`` of
``traugerjacob/Transformer-Gen-Bounds``, and of TensorFlow's layers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special
import scipy.stats
import torch
from torch import Tensor
from torch.nn import functional

from helpers.checks import (
    require_bits,
    require_positive,
    require_probability,
    require_whole,
    validated,
)
from helpers.rng import seed_of
from helpers.training import checkpoints
from helpers.weights import Weights
from papers.lengthfree import majority_steps as steps

HIDDEN, WIDTH, HEADS, HEAD_WIDTH = 9, 64, 2, 64
COLUMNS = ("epoch", "loss", "accuracy", "training", "size", "start")
LEARNED = (
    *("query", "query_bias", "key", "value", "value_bias", "project", "project_bias"),
    *("dense", "dense_bias", "readout", "readout_bias"),
)
"""Weights in their order. A bias of the keys is left out: it stays 0, since softmax ignores it."""


def majority(bits: Tensor) -> Tensor:
    r"""Whether more than half of the bits are 1, :math:`\mathbf 1[\sum_i b_i > s/2]`.

    Args:
        bits: Shape ``(*, s)``, 0 or 1, integer or bool, s at least 1.

    Returns:
        Shape ``(*)``, int64. A tie is 0.

    Raises:
        ValueError: no bits, or numbers other than 0 and 1.
        TypeError: bits are floating.

    Source: Trauger and Tewari (2024), Section 6.
    """
    if not bits.ndim or not bits.shape[-1]:
        raise ValueError(f"a majority needs at least 1 bit, got shape {tuple(bits.shape)}")
    require_whole(bits=bits)
    require_bits(bits)
    return (2 * bits.long().sum(-1) > bits.shape[-1]).long()


@validated
def places(T: int, width: int = WIDTH) -> Tensor:
    r"""Codes of places 0 to T, shape ``(T + 1, width)``, float64.

    Column i is :math:`\sin(j\, 10000^{-i/w})` for even i and the cosine for odd i: unlike
    Vaswani et al., no two columns share a frequency. Source: the authors' program.
    """
    require_positive(T=T, width=width)
    i = torch.arange(width, dtype=torch.float64)
    angles = torch.arange(T + 1, dtype=torch.float64)[:, None] * 10000 ** (-i / width)
    return torch.where(i % 2 == 0, angles.sin(), angles.cos())


@validated
def tokens(generator: torch.Generator, width: int = WIDTH) -> Tensor:
    """Vectors for 0, 1 and the class token: orthogonal, of 1-norm 1, ``(3, width)``, float64."""
    require_positive(width=width)
    rows = 2 * torch.rand(3, width, generator=generator, dtype=torch.float64) - 1
    for k in (1, 2):
        for other in rows[:k]:
            rows[k] -= rows[k] @ other / (other @ other) * other
    return functional.normalize(rows, p=1, dim=-1)


def initial_weights(generator: torch.Generator) -> Weights:
    """Keras' start, float64: Glorot's uniform for kernels, 0 for biases, normal for the read-out.

    A kernel of heads has the fans of its shape ``(width, heads, head_width)``: it starts small.
    """
    inner = HEADS * HEAD_WIDTH
    spread = math.sqrt(6 / (WIDTH * (HEADS + HEAD_WIDTH)))
    shapes = dict.fromkeys(("query", "key", "value"), (WIDTH, inner, spread))
    shapes["project"] = inner, WIDTH, math.sqrt(6 / (HEADS * (HEAD_WIDTH + WIDTH)))
    shapes["dense"] = WIDTH, WIDTH, math.sqrt(3 / WIDTH)
    found = {
        name: limit * (2 * torch.rand(a, b, generator=generator, dtype=torch.float64) - 1)
        for name, (a, b, limit) in shapes.items()
    }
    found["readout"] = 0.05 * torch.randn(WIDTH, 2, generator=generator, dtype=torch.float64)
    for name, n in (("query", inner), ("value", inner), ("project", WIDTH), ("dense", WIDTH)):
        found[f"{name}_bias"] = torch.zeros(n, dtype=torch.float64)
    found["readout_bias"] = torch.zeros(2, dtype=torch.float64)
    return {name: found[name] for name in LEARNED}


def outputs(weights: Weights, rows: Tensor) -> Tensor:
    """The model on embedded strings ``(B, T + 1, width)``, class token last: logits ``(B, 2)``."""
    query, key, value = (
        (rows @ weights[n] + weights.get(f"{n}_bias", 0)).unflatten(-1, (HEADS, -1)).movedim(-2, -3)
        for n in ("query", "key", "value")
    )  # (B, heads, T + 1, head_width)
    scores = query[..., -1:, :] @ key.mT / math.sqrt(HEAD_WIDTH)
    read = (scores.softmax(-1) @ value).squeeze(-2).flatten(-2)
    hidden = (read @ weights["project"] + weights["project_bias"]).relu()
    between = hidden @ weights["dense"] + weights["dense_bias"]
    return between @ weights["readout"] + weights["readout_bias"]


@validated
class Run:
    """One data set of a length and the model that learns it; can be saved and taken up again.

    Training works in an orthonormal basis of the span of all tokens, since the attention's kernels
    do not move in the directions that no token has; ``outside`` holds these parts of the start.

    Args:
        T: Bits of a string, at least 9.
        seed: Of the data set, the start and the order of batches.
        samples: Training strings, m.
        validation: New strings.
        decay: Factor of the learning rate in every epoch, until it is at its least.

    Attributes:
        epoch: Epochs done.
        stopped: Whether an epoch had training accuracy 1; then training is over.
        best: At the look with the least validation loss, by name of :data:`COLUMNS`.
        history: Epoch, validation loss and training loss of each look.
        fit: Training strings ``(m, T)``, float32, and labels ``(m,)``; ``new``: the same, new ones.
        flat: The weights, and ``speed``, what the last step added to them, float32.
        basis: Of the span of all tokens, orthonormal rows, ``(r, width)``.
    """

    def __init__(
        self,
        T: int,
        seed: int,
        *,
        samples: int = 300,
        validation: int = 10000,
        decay: float = 0.999,
    ) -> None:
        require_positive(samples=samples, validation=validation)
        if T < HIDDEN:
            raise ValueError(f"{HIDDEN} bits are hidden, so T must be at least that, got {T}")
        self.T, self.decay, self.seed = T, decay, seed_of("sparse majority", T, seed)
        g = torch.Generator().manual_seed(self.seed)
        hidden = torch.randperm(T, generator=g)[:HIDDEN]
        self.bits = torch.randint(0, 2, (samples + validation, T), generator=g, dtype=torch.uint8)
        self.labels = majority(self.bits[:, hidden])
        self.given = tokens(g)
        self.at = places(T)
        tokens_of = [self.at[:-1] + bit for bit in (0, self.given[:1], self.given[1:2])]
        rows = torch.cat((*tokens_of, self.given[:2], self.at[-1:] + self.given[2:]))
        values, directions = torch.linalg.svd(rows, full_matrices=False)[1:]
        self.basis = directions[values > 1e-7 * values[0]]  # (r, width)
        start = initial_weights(g)
        inside = self.basis.mT @ self.basis
        self.outside = {n: start[n] - inside @ start[n] for n in ("query", "key", "value")}
        self.flat = self.flattened(start)
        self.speed = np.zeros_like(self.flat)
        coordinates = torch.cat((self.given[:2], self.at[-1:] + self.given[2:])) @ self.basis.mT
        self._tokens = coordinates.float().numpy()
        self._places = (self.at[:-1] @ self.basis.mT).float().numpy()
        x, y = self.bits.float().numpy(), self.labels.numpy()
        self.fit, self.new = (x[:samples], y[:samples]), (x[samples:], y[samples:])
        self._kept = dict.fromkeys(COLUMNS, math.inf) | {"start": size(start)}
        self.epoch, self.stopped = 0, False
        self.history: list[list[float]] = []
        self.best_flat = self.flat.copy()

    @property
    def best(self) -> dict[str, float]:
        """What was found at the look with the least validation loss, and the gap there."""
        return self._kept | {"gap": self._kept["loss"] - self._kept["training"]}

    def train(self, epochs: int, look_every: int = 100, checkpoint: Path | None = None) -> None:
        """Go on until so many epochs are done, or one has training accuracy 1; look now and then.

        Args:
            epochs: In all, a multiple of ``look_every``.
            look_every: Epochs between two looks at the validation loss; the last is always one.
            checkpoint: A file to go on from, and to write every forty looks and at the end.

        Raises:
            ValueError: epochs that are no such multiple, or a file of another run.
            Paused: as of :func:`helpers.training.train.train`.
        """
        if epochs % look_every:
            raise ValueError(f"epochs must be a multiple of {look_every}, got {epochs}")
        if checkpoint is not None:
            self.restore(checkpoint)
        while self.epoch < epochs and not self.stopped:
            order = np.random.default_rng([self.seed, self.epoch])
            every = np.tile(np.arange(len(self.fit[1])), (look_every, 1))
            done, self.stopped = steps.epochs(
                *(self.flat, self.speed, *self.fit, order.permuted(every, axis=1)),
                *(self.epoch, self.decay, *self.table),
            )
            self.epoch += done
            self._look()
            over = self.stopped or self.epoch == epochs
            late = checkpoint is not None and not over and checkpoints.time_is_up()
            if checkpoint is not None and (over or late or self.epoch % (40 * look_every) == 0):
                self.save(checkpoint)
            if late:
                raise checkpoints.Paused(f"time is up, {checkpoint} holds the run")

    def weights(self, best: bool = False) -> Weights:
        """The weights as :func:`outputs` takes them, float64: as they are, or at the best look."""
        flat = self.best_flat if best else self.flat
        parts = steps.parts(flat, len(self.basis), *steps.SIZES)
        found = {n: torch.from_numpy(p).double() for n, p in zip(LEARNED, parts, strict=True)}
        for name in ("query", "key", "value"):
            whole = self.basis.mT @ found[name]  # (heads, width, head_width)
            found[name] = whole.movedim(0, 1).flatten(1) + self.outside[name]
        found["project"] = found["project"].flatten(0, 1)
        return {n: v.flatten() if n.endswith("bias") else v for n, v in found.items()}

    def rows(self, bits: Tensor) -> Tensor:
        """Strings ``(B, T)`` as :func:`outputs` takes them, ``(B, T + 1, width)``, float64."""
        cls = self.given[2].expand(len(bits), 1, -1)
        return torch.cat((self.given[bits.long()], cls), 1) + self.at

    def save(self, path: Path) -> None:
        """Write all that changes into a file."""
        arrays = {n: torch.from_numpy(getattr(self, n)) for n in ("flat", "speed", "best_flat")}
        rest = {"epoch": self.epoch, "stopped": self.stopped, "kept": self._kept}
        checkpoints.write(path, self._settings, arrays | rest | {"history": self.history})

    def restore(self, path: Path) -> None:
        """Go on from a file, if there is one; CheckpointError if it is of another run."""
        found = checkpoints.read(path, self._settings)
        if found is not None:
            for name in ("flat", "speed", "best_flat"):
                setattr(self, name, found[name].numpy())
            self.epoch, self.stopped = found["epoch"], found["stopped"]
            self._kept, self.history = found["kept"], found["history"]
            training = steps.measure(self.flat, *self.fit, *self.table)[0]
            if abs(training - self.history[-1][2]) > 1e-3:
                raise checkpoints.CheckpointError(f"{path} was written in another basis")

    @property
    def _settings(self) -> dict[str, Any]:
        counts = len(self.fit[1]), len(self.new[1])
        found = {"T": self.T, "seed": self.seed, "samples": counts[0], "validation": counts[1]}
        return found | {"decay": self.decay}

    @property
    def table(self) -> tuple[Any, Any]:
        """Codes of places and the three vectors in the basis, float32: see the steps."""
        return self._places, self._tokens

    def _look(self) -> None:
        loss, accuracy = steps.measure(self.flat, *self.new, *self.table)
        training, _ = steps.measure(self.flat, *self.fit, *self.table)
        self.history.append([self.epoch, loss, training])
        if loss < self._kept["loss"]:
            found = self.epoch, loss, accuracy, training, size(self.weights()), self._kept["start"]
            self._kept = dict(zip(COLUMNS, found, strict=True))
            self.best_flat = self.flat.copy()

    def flattened(self, weights: Weights) -> Any:
        """The weights, or a gradient in them, as the steps take them, without what lies outside."""
        found = dict(weights)
        for name in ("query", "key", "value"):
            inside = self.basis @ weights[name]
            found[name] = inside.unflatten(1, (HEADS, -1)).movedim(1, 0)  # (heads, r, head_width)
        return torch.cat([found[n].flatten() for n in LEARNED]).float().numpy()


def size(weights: Weights) -> float:
    """Sum of the absolute values of all weights: the quantity of the paper's Figure 1."""
    return sum(v.abs().sum().item() for v in weights.values())


@validated
def detectable_trend(points: int, level: float = 0.05, chance: float = 0.8) -> float:
    """Slope, in its standard errors, that a two-sided t-test of a trend finds with this chance.

    Args:
        points: Of the line, at least 3; the scatter is estimated from them.
        level: Of the test, between 0 and 1.
        chance: That it finds the slope, with its sign, from 1/2 to below 1.

    Raises:
        ValueError: a number out of its range.

    Example:
        >>> from papers.lengthfree.majority_task import detectable_trend
        >>> round(detectable_trend(10), 2), round(detectable_trend(10_000), 2)
        (3.2, 2.8)

    Source: the noncentral t distribution with N - 2 degrees of freedom, by ``scipy.special``.
    """
    require_probability(level=level)
    if points < 3 or not 0.5 <= chance < 1:
        raise ValueError(f"a trend needs 3 points and a chance in [1/2, 1): {points}, {chance}")
    cut = scipy.stats.t.ppf(1 - level / 2, points - 2)
    return float(scipy.special.nctdtrinc(points - 2, 1 - chance, cut))
