r"""Retrieval learned from one labelled token a prompt, as the point-wise risk has it.

The model is that of :mod:`papers.retrieval.task`, with one pointer a token. Where one token is
asked, the others are never written out: attention to a token needs the inner products of one query
with its three parts, and positions and pointers have one table of encodings for all prompts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize

from helpers.checks import require_positive, validated
from helpers.training import batches
from helpers.training.batches import Resumable
from helpers.weights import Evaluate, Weights
from papers.retrieval import task as retrieval
from papers.retrieval.task import Prompts


class Batch(NamedTuple):
    """Prompts of which one token is asked.

    Attributes:
        x: Data, shape ``(E, B, N, d)``.
        t: Pointers, shape ``(E, B, N)``, int64.
        at: Number of the token asked, shape ``(E, B)``, int64.
        omega: Encodings of the positions, shape ``(E, N, d_e)``.
    """

    x: Tensor
    t: Tensor
    at: Tensor
    omega: Tensor


@dataclass(frozen=True)
class PointwiseTask:
    """Instances of the task with a linear g, one a model, asked at one token or at all.

    Attributes:
        omega: Encodings, shape ``(E, N, d_e)``.
        u: Directions of g, shape ``(E, 1, d)``, of length 1.
        generators: One an instance.
        every: Whether all tokens of a prompt are labelled.
    """

    omega: Tensor
    u: Tensor
    generators: list[Generator]
    every: bool

    def draw(self, model: int, B: int) -> tuple[Tensor, Tensor]:
        """New prompts of one model: data ``(B, N, d)``; pointers, and the token asked.

        The second has shape ``(B, N + 1, 1)``; its last row is the number of the token.
        """
        N, d = self.omega.shape[1], self.u.shape[-1]
        generator = self.generators[model]
        x, t = retrieval.prompts(B, N, d, generator)
        asked = torch.randint(N, (B, 1, 1), generator=generator)
        return x, torch.cat((t, asked), 1)

    def examples(self, models: Tensor, x: Tensor, t: Tensor) -> tuple[Batch, Tensor]:
        """Prompts of these models, of which one token is asked, and its label ``(A, B)``."""
        asked = Batch(x, t[..., :-1, 0], t[..., -1, 0], self.omega[models])
        target = asked.t.gather(-1, asked.at[..., None])
        row = x.take_along_dim(target[..., None], -2)[..., 0, :]
        return asked, torch.einsum("abd,aqd->ab", row, self.u[models])

    def written(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens ``(E, B, N, D)`` and labels ``(E, B, N)`` of prompts of all models."""
        given = Prompts(x, t[..., :-1, :])
        return retrieval.encode(given, self.omega), retrieval.labels(given, self.u)

    def test(self, B: int) -> Evaluate:
        """The mean squared error on ``B`` new prompts a model."""
        x, t = self._draw([B] * len(self.generators))
        if self.every:
            tokens, labels = self.written(x, t)

        def error(weights: Weights, models: Tensor) -> Tensor:
            if self.every:
                found, wanted = retrieval.forward(weights, tokens[models]), labels[models]
            else:
                given, wanted = self.examples(models, x[models], t[models])
                found = forward(weights, given)
            return (found - wanted).square().flatten(1).mean(1)

        return error

    def fixed(self, sizes: Sequence[int], B: int) -> Resumable:
        """Batches from a fixed set of prompts a model, of a size of its own.

        Smaller sets are repeated, so that all models go through equally many batches.

        Args:
            sizes: Prompts of each model, at least 1, all dividing the largest.
            B: Prompts in a batch.
        """
        if len(sizes) != len(self.generators) or min(sizes, default=0) < 1:
            raise ValueError(f"{len(self.generators)} sizes of at least 1, got {list(sizes)}")
        top = max(sizes)
        if any(top % n for n in sizes):
            raise ValueError(f"sizes must divide the largest, got {sorted(set(sizes))}")
        x, t = self._draw(sizes)
        if self.every:
            return batches.fixed(*self.written(x, t), B, self.generators)
        prepare: Any = self.examples  # the model reads what it makes, no one else
        return batches.fixed(x, t, B, self.generators, prepare)

    def _draw(self, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Prompts of all models, repeated up to the largest of the sizes."""
        drawn = [
            [v.repeat(max(sizes) // B, 1, 1) for v in self.draw(e, B)] for e, B in enumerate(sizes)
        ]
        x, t = (torch.stack(v) for v in zip(*drawn, strict=True))
        return x, t


@validated
def question(
    E: int, N: int, d: int, d_e: int, generator: Generator, *, every: bool = False
) -> PointwiseTask:
    """Random instances; sizes as for :func:`papers.retrieval.task.new_task`."""
    require_positive(E=E, N=N, d=d)
    omega = retrieval.encodings(N, d_e, generator, E)
    u = normalize(torch.randn(E, 1, d, generator=generator), dim=-1)
    return PointwiseTask(omega, u, batches.spawn(E, generator), every)


def forward(weights: Weights, given: Batch) -> Tensor:
    r"""Label of the token asked, as :func:`papers.retrieval.task.forward` has it, ``(E, B)``.

    With the query's three parts :math:`r`, a token's logit is
    :math:`\langle r_x, x_j \rangle + \langle r_p, \omega_j \rangle
    + \langle r_t, \omega_{t_j} \rangle`, and what attention puts out has three such parts too.

    Cost: about B N (2 d + 4 d_e) operations a model, beside those of its matrices.
    """
    x, t, at, omega = given
    d, d_e = x.shape[-1], omega.shape[-1]
    here, there = (
        omega.take_along_dim(v[..., None], -2) for v in (at, t.gather(-1, at[..., None])[..., 0])
    )
    own = x.take_along_dim(at[..., None, None], -2)[..., 0, :]
    token = torch.cat((own, here, there), -1)  # (E, B, D)
    moved = torch.einsum("...kd,...k->...d", weights["key"], weights["query_bias"])
    rows = token @ retrieval.query_key(weights) + moved.unsqueeze(-2)
    data, position, pointer = rows.split((d, d_e, d_e), -1)
    scores = (x @ data.unsqueeze(-1)).squeeze(-1) + position @ omega.mT
    scores = scores + (pointer @ omega.mT).gather(-1, t)
    attention = (scores / math.sqrt(token.shape[-1])).softmax(-1)
    pointed = torch.zeros_like(attention).scatter_add(-1, t, attention)
    average = (attention.unsqueeze(-2) @ x).squeeze(-2)
    mixed = torch.cat((average, attention @ omega, pointed @ omega), -1).unsqueeze(-2)
    return retrieval.predict(weights, mixed, torch.zeros_like(mixed[..., :1]))[..., 0]


@validated
def pointing(weights: Weights, d: int, d_e: int, sharpness: float) -> Weights:
    r"""The same weights, but with the construction's query-key matrix.

    Keys keep the position and queries the pointer, so that the logits are
    :math:`a \langle \omega_t, \omega_j \rangle`.

    Args:
        weights: As of :func:`papers.retrieval.task.initial_weights`, shape ``(E, D, D)`` for the
            matrices with D = d + 2 d_e.
        d: Dimensions of the data.
        d_e: Dimensions of an encoding.
        sharpness: The a, at least 0.
    """
    D = weights["query"].shape[-1]
    if d + 2 * d_e != D or sharpness < 0:
        raise ValueError(
            f"tokens of {D} numbers are not d + 2 d_e = {d + 2 * d_e}, or sharpness "
            f"{sharpness} is below 0"
        )
    part = retrieval.parts(d, d_e)
    query, key = torch.zeros_like(weights["query"]), torch.zeros_like(weights["key"])
    size = math.sqrt(sharpness * math.sqrt(D))
    query[..., part["position"], part["pointer"]] = size * torch.eye(d_e)
    key[..., part["position"], part["position"]] = size * torch.eye(d_e)
    return weights | {"query": query, "key": key}


@validated
def needed(sizes: Sequence[int], errors: Tensor, level: float = 0.5) -> Tensor:
    """Sample size at which the error falls below a level, on a logarithmic scale.

    Between the last size at or above the level and the next, the error's logarithm is
    interpolated linearly.

    Args:
        sizes: Increasing, K of them.
        errors: Positive, shape ``(K, *runs)``.
        level: Positive.

    Returns:
        Shape ``(*runs,)``; the smallest size where all errors are below the level, infinite where
        the last is not.
    """
    if len(sizes) != len(errors) or list(sizes) != sorted(set(sizes)):
        raise ValueError(f"{len(errors)} increasing sizes are needed, got {list(sizes)}")
    if errors.isnan().any():
        raise ValueError("errors must not be NaN")
    at = torch.tensor(sizes, dtype=torch.float64).log()
    flat = errors.double().flatten(1)
    found = []
    for column in flat.T:
        above = (column >= level).nonzero()
        k = int(above[-1]) if len(above) else -1
        if k == len(sizes) - 1:
            found.append(math.inf)
        elif k < 0:
            found.append(float(sizes[0]))
        else:
            high, low = (column[k] / level).log(), (column[k + 1] / level).log()
            found.append(float((at[k] + (at[k + 1] - at[k]) * high / (high - low)).exp()))
    return torch.tensor(found, dtype=torch.float64).view(errors.shape[1:])
