r"""Retrieval learned from one labelled token a prompt, as the point-wise risk has it.

The model is that of :mod:`helpers.retrieval.task`. The token that is asked stands last: positions
are encoded in the tokens, so their order in the array does not matter to attention. There is one
pointer a token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize

from helpers.checks import door, require_positive
from helpers.retrieval import task as retrieval
from helpers.retrieval.task import Prompts
from helpers.training import batches
from helpers.training.batches import Resumable
from helpers.weights import Weights


@dataclass(frozen=True)
class Question:
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

    def examples(self, models: Tensor, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens, the asked one last, and its label ``(A, B, 1)``; all labels if so wished."""
        given, asked = Prompts(x, t[..., :-1, :]), t[..., -1:, :]
        tokens = retrieval.encode(given, self.omega[models])
        labels = retrieval.labels(given, self.u[models])
        return (tokens, labels) if self.every else last(tokens, labels, asked)

    def test(self, B: int) -> tuple[Tensor, Tensor]:
        """Examples of ``B`` new prompts a model."""
        drawn = [self.draw(e, B) for e in range(len(self.generators))]
        x, t = (torch.stack(v) for v in zip(*drawn, strict=True))
        return self.examples(torch.arange(len(drawn)), x, t)

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
        kept = []
        for e, n in enumerate(sizes):
            kept.append([v.repeat(top // n, 1, 1) for v in self.draw(e, n)])
        x, t = (torch.stack(v) for v in zip(*kept, strict=True))
        return batches.fixed(x, t, B, self.generators, self.examples)


@door
def question(
    E: int, N: int, d: int, d_e: int, generator: Generator, *, every: bool = False
) -> Question:
    """Random instances; sizes as for :func:`helpers.retrieval.task.new_task`."""
    require_positive(E=E, N=N, d=d)
    omega = retrieval.encodings(N, d_e, generator, E)
    u = normalize(torch.randn(E, 1, d, generator=generator), dim=-1)
    return Question(omega, u, batches.spawn(E, generator), every)


def last(tokens: Tensor, labels: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
    """The asked token moved to the end, the last one to its place; and the asked one's label.

    Args:
        tokens: Shape ``(*batch, N, D)``.
        labels: Shape ``(*batch, N)``.
        asked: Numbers of tokens, shape ``(*batch, 1, 1)``, int64.
    """
    D = tokens.shape[-1]
    row = asked.expand(*asked.shape[:-1], D)
    chosen = tokens.gather(-2, row)
    moved = tokens.scatter(-2, row, tokens[..., -1:, :])
    moved = torch.cat((moved[..., :-1, :], chosen), -2)
    return moved, labels.gather(-1, asked[..., 0])


def forward(weights: Weights, tokens: Tensor) -> Tensor:
    """Label of the last token, as :func:`helpers.retrieval.task.forward` has it, ``(*, B, 1)``."""
    query = tokens[..., -1:, :]
    moved = torch.einsum("...kd,...k->...d", weights["key"], weights["query_bias"])
    rows = query @ retrieval.query_key(weights).unsqueeze(-3) + moved[..., None, None, :]
    scores = rows @ tokens.mT / math.sqrt(tokens.shape[-1])
    return retrieval.predict(weights, tokens, scores)


def pointing(weights: Weights, d: int, d_e: int, sharpness: float) -> Weights:
    r"""The same weights, but with the construction's query-key matrix.

    Keys keep the position and queries the pointer, so that the logits are
    :math:`a \langle \omega_t, \omega_j \rangle`.

    Args:
        weights: As of :func:`helpers.retrieval.task.initial_weights`, shape ``(E, D, D)`` for the
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
