"""Functions learned from a part of the cube: how sensitive, and how sharp where.

A table of n bits holds 2**n values in the order of :mod:`helpers.cube`. A completion of f is a
table that agrees with f on a training set, given by the numbers of its points.
"""

from __future__ import annotations

import functools
from pathlib import Path

import torch
from torch import Tensor

from helpers.checks import require_amount, require_positive, validated
from helpers.cube import bits
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward, initial_weights
from helpers.training.batches import whole
from helpers.training.ensemble import Trained
from helpers.training.train import train
from helpers.weights import Weights
from papers.sensitive.brittle import FIXED, RECIPE, SIGMA


@validated
def learn(
    model: TransformerSpec,
    tables: Tensor,
    rows: Tensor,
    steps: int,
    generator: torch.Generator,
    *,
    learning_rate: float,
    threshold: float = 0.0,
    checkpoint: Path | None = None,
) -> Trained:
    """Fit one model to each table, on its own training set only, all of it in every step.

    Args:
        model: As of :func:`papers.sensitive.brittle.spec`.
        tables: Into {-1, 1}, shape ``(E, 2**n)``; targets are 0 where they say -1.
        rows: Training sets, shape ``(E, m)``.
        steps: Of AdamW, at most.
        generator: Source of the first weights.
        learning_rate: Of AdamW; its weight decay is that of the paper.
        threshold: Mean squared error on the training set below which a model stops.
        checkpoint: As of :func:`helpers.training.train.train`.

    Raises:
        ValueError: values other than -1 and 1, or shapes that do not fit.
    """
    _outside(tables, rows)
    network = functools.partial(forward, model)
    inputs = bits(model.n)[rows]  # (E, m, n)
    values = ((1 + tables) / 2).gather(1, rows)

    def error(weights: Weights, models: Tensor) -> Tensor:
        return (network(weights, inputs[models]) - values[models]).square().mean(1)

    return train(
        network,
        initial_weights(model, len(rows), generator),
        whole(inputs, values),
        steps=steps,
        learning_rate=learning_rate,
        weight_decay=RECIPE["weight_decay"],
        evaluate=error,
        threshold=threshold,
        check_every=10,
        checkpoint=checkpoint,
    )


def completed(model: TransformerSpec, weights: Weights) -> Tensor:
    """What each model says of every string: 1 where its output is above 1/2, else -1.

    Args:
        model: As of :func:`papers.sensitive.brittle.spec`.
        weights: Of an ensemble, each ``(E, ...)``.

    Returns:
        Tables, shape ``(E, 2**n)``, float32.
    """
    with torch.no_grad():
        return torch.where(forward(model, weights, bits(model.n)) > 0.5, 1.0, -1.0)


def shuffled_outside(f: Tensor, rows: Tensor, generator: torch.Generator) -> Tensor:
    """Agrees with f on the training set; elsewhere f's own values in random order.

    Args:
        f: Tables into {-1, 1}, shape ``(E, 2**n)``.
        rows: Training sets, shape ``(E, m)``.
        generator: Source of the order.

    Returns:
        Shape and dtype of ``f``; as many points of each value as f.

    Raises:
        ValueError: values other than -1 and 1, or shapes that do not fit.
    """
    outside = _outside(f, rows)
    # Ranks of random keys: those of the training set come first and stay in place.
    keys = torch.rand(f.shape, generator=generator)
    order = torch.where(outside, 1 + keys, 0.0).argsort(-1)[..., rows.shape[-1] :]
    places = outside.nonzero()[:, -1].view_as(order)
    return f.scatter(-1, places, f.gather(-1, order))


def expected_sensitivity(f: Tensor, rows: Tensor) -> Tensor:
    r"""Mean average sensitivity of all completions of f.

    A pair of neighbours with both points in the training set R differs as in f; every other pair
    differs in half of all completions:

    .. math::

        \mathbb E\, \mathrm{as}(h) = 2^{-n} \sum_x \sum_i \begin{cases}
            \mathbf 1[f(x) \ne f(x^{\oplus i})] & x, x^{\oplus i} \in R \\
            1/2 & \text{otherwise} \end{cases}

    Args:
        f: Tables into {-1, 1}, shape ``(E, 2**n)``; only values on the training set count.
        rows: Training sets, shape ``(E, m)``.

    Returns:
        Shape ``(E,)``, float64, in expected bit flips.

    Raises:
        ValueError: values other than -1 and 1, or shapes that do not fit.

    Cost: n 2**n.
    """
    outside = _outside(f, rows)
    N = f.shape[-1]
    i = torch.arange(N)
    total = torch.zeros(len(f), dtype=torch.float64)
    for k in range(N.bit_length() - 1):
        j = i ^ (1 << k)
        free = outside | outside[:, j]
        total += torch.where(free, 0.5, (f != f[:, j]).double()).mean(-1)
    return total


@validated
def string_sharpness(
    model: TransformerSpec,
    weights: Weights,
    strings: Tensor,
    draws: int = 10,
    generator: torch.Generator | None = None,
    *,
    sigma: float = SIGMA,
) -> Tensor:
    r"""What each string contributes to :func:`papers.sensitive.brittle.sharpness`.

    .. math:: 4\, \mathbb E_\Delta (T_{\theta + \Delta}(x) - T_\theta(x))^2, \qquad
        \Delta \sim N(0, \sigma^2 I)

    with noise in every weight but the positions, the same for all strings, other for each model.

    Args:
        model: As of :func:`papers.sensitive.brittle.spec`.
        weights: Of an ensemble, each ``(E, ...)``.
        strings: Shape ``(B, n)``, at least one.
        draws: Of the noise, at least 1.
        generator: Source of the noise; None: torch's own.
        sigma: Standard deviation, at least 0.

    Returns:
        Shape ``(E, B)``, float64: the mean over draws.

    Raises:
        ValueError: numbers out of range, no strings, or weights of other shapes.

    Source: Hahn and Rofin (2024), Eq. (15) and Section 7.1.
    """
    require_positive(draws=draws)
    require_amount(sigma=sigma)
    if strings.ndim != 2 or not len(strings):
        raise ValueError(f"expected strings (B, n), at least one, got {tuple(strings.shape)}")
    with torch.no_grad():
        still = forward(model, weights, strings)
        if still.ndim != 2:
            raise ValueError(f"expected the weights of an ensemble, got outputs {still.ndim}-axis")
        total = torch.zeros(still.shape, dtype=torch.float64)
        for _ in range(draws):
            moved = {
                name: v
                if name == FIXED
                else v + sigma * torch.randn(v.shape, generator=generator, dtype=v.dtype)
                for name, v in weights.items()
            }
            total += (forward(model, moved, strings) - still).double().square()
    return 4 * total / draws


def _outside(f: Tensor, rows: Tensor) -> Tensor:
    """Which points are not in the training sets, after a check of both."""
    N = f.shape[-1] if f.ndim == 2 else 0
    if N < 1 or N & (N - 1):
        raise ValueError(f"expected tables (E, 2**n), got {tuple(f.shape)}")
    if rows.ndim != 2 or len(rows) != len(f):
        raise ValueError(f"{len(f)} tables need training sets (E, m), got {tuple(rows.shape)}")
    wrong = f[(f != 1) & (f != -1)]
    if wrong.numel():
        raise ValueError(f"values of tables are -1 or 1, got {wrong[0].item():g}")
    if rows.dtype != torch.int64:
        raise TypeError(f"points are int64, got {rows.dtype}")
    if rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < N:
        low, high = int(rows.min()), int(rows.max())
        raise ValueError(f"points run from 0 to {N - 1}, found {low} to {high}")
    outside = torch.ones(f.shape, dtype=torch.bool).scatter_(1, rows, value=False)
    if not bool((outside.sum(-1) == N - rows.shape[-1]).all()):
        raise ValueError("a training set holds a point twice")
    return outside
