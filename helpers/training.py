"""Train many independent models at once: one step moves a whole stack of them.

A model is a pure function of a flat dict of tensors. Stacking E models along a leading axis makes
one step one batched matrix product, while AdamW works on each number alone, so no model knows of
the others: each ends where it would have ended alone, up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Weights = dict[str, Tensor]
Forward = Callable[[Weights, Tensor], Tensor]


@dataclass(frozen=True)
class Trained:
    """What came of training E models.

    Attributes:
        weights: The weights of each model at its own last step, every tensor ``(E, ...)``.
        steps: Steps that each model took, shape ``(E,)``, int64.
        finished: Whether it reached the threshold, shape ``(E,)``, bool.
        checks: Steps after which losses were compared with the threshold.
        losses: The losses compared, shape ``(len(checks), E)``; NaN once a model has finished.
    """

    weights: Weights
    steps: Tensor
    finished: Tensor
    checks: list[int]
    losses: Tensor


def train(
    forward: Forward,
    weights: Weights,
    batch: Callable[[Tensor], tuple[Tensor, Tensor]],
    *,
    steps: int,
    learning_rate: float,
    weight_decay: float = 0.01,
    check_every: int = 100,
    threshold: float = 0.0,
    evaluate: Callable[[Weights, Tensor], Tensor] | None = None,
) -> Trained:
    r"""Minimise the mean squared error of E models by AdamW; each stops on its own.

    Every ``check_every`` steps each model's loss, :math:`\ell_e`, is compared with the threshold. A
    model with :math:`\ell_e <` ``threshold`` is taken out of the stack, with its weights as they
    are.

    Args:
        forward: ``forward(weights, inputs)``, with one leading axis of models throughout.
        weights: Initial weights, each ``(E, ...)``, floating; left as they are.
        batch: Given the numbers of the models still in training, shape ``(A,)``, their next
            inputs and targets, each ``(A, ...)``.
        steps: Most steps that a model takes, at least 1.
        learning_rate: Of AdamW, above 0.
        weight_decay: Of AdamW, at least 0.
        check_every: Steps between two checks, at least 1.
        threshold: Where to stop; 0 never stops early.
        evaluate: The loss to compare, ``evaluate(weights, models) -> (A,)``, computed without
            gradients. None: the mean training loss since the last check.

    Raises:
        ValueError: no models, tensors of different E, or a number outside its range.
        ArithmeticError: a loss is no longer finite; says which model's, when, and the last
            finite one.

    Cost: ``steps`` times a forward and a backward pass of the models still in training.
    """
    E = _check(weights, steps, learning_rate, weight_decay, check_every, threshold)
    models = torch.arange(E)
    live = {k: v.detach().clone().requires_grad_() for k, v in weights.items()}
    optimizer = torch.optim.AdamW(
        live.values(), lr=learning_rate, weight_decay=weight_decay, fused=True
    )
    final = {k: v.detach().clone() for k, v in weights.items()}
    taken, finished = torch.full((E,), steps), torch.zeros(E, dtype=torch.bool)
    checks: list[int] = []
    compared: list[Tensor] = []
    last, window, since = None, torch.zeros(E), 0

    for step in range(1, steps + 1):
        inputs, targets = batch(models)
        losses = (forward(live, inputs) - targets).square().flatten(1).mean(1)  # (A,)
        _require_finite(losses, last, models, step)
        optimizer.zero_grad()
        losses.sum().backward()
        optimizer.step()
        last = losses.detach()
        window, since = window + last.cpu(), since + 1
        if step % check_every and step < steps:
            continue

        with torch.no_grad():
            found = window / since if evaluate is None else evaluate(live, models).cpu()
        _require_finite(found, last, models, step)
        row = torch.full((E,), math.nan)
        row[models] = found.float()
        checks.append(step)
        compared.append(row)
        done = found < threshold
        finished[models[done]] = True
        taken[models[done]] = step
        if done.any():
            _put(final, live, models)
            models = models[~done]
            if not len(models):
                break
            live, optimizer = _keep(live, optimizer, ~done)
            last = last[~done.to(last.device)]
        window, since = torch.zeros(len(models)), 0

    if len(models):
        _put(final, live, models)
    return Trained(final, taken, finished, checks, torch.stack(compared))


def _put(final: Weights, live: Weights, models: Tensor) -> None:
    """Copy the weights of the models in training to their places among all."""
    for name, tensor in live.items():
        final[name][models.to(tensor.device)] = tensor.detach()


def _keep(
    live: Weights, optimizer: torch.optim.AdamW, kept: Tensor
) -> tuple[Weights, torch.optim.AdamW]:
    """The stack without the models that are done, with what AdamW remembers of the others."""
    smaller = {k: v.detach()[kept.to(v.device)].clone().requires_grad_() for k, v in live.items()}
    group = optimizer.param_groups[0]
    successor = torch.optim.AdamW(
        smaller.values(), lr=group["lr"], weight_decay=group["weight_decay"], fused=True
    )
    for name, tensor in smaller.items():
        at = kept.to(tensor.device)
        old = optimizer.state[live[name]].items()  # none for a weight that got no gradient
        successor.state[tensor] = {k: v[at] if v.ndim else v for k, v in old}
    return smaller, successor


def _require_finite(losses: Tensor, last: Tensor | None, models: Tensor, step: int) -> None:
    bad = (~losses.isfinite()).nonzero().flatten().tolist()
    if bad:
        i = bad[0]
        before = "none" if last is None else f"{last[i]:.4g}"
        raise ArithmeticError(
            f"model {int(models[i])}: the loss is {losses[i].item()} at step {step}; "
            f"the last finite one was {before}"
        )


def _check(
    weights: Weights,
    steps: int,
    learning_rate: float,
    weight_decay: float,
    check_every: int,
    threshold: float,
) -> int:
    sizes = {k: v.shape[0] if v.ndim else 0 for k, v in weights.items()}
    if len(set(sizes.values())) != 1 or 0 in sizes.values():
        raise ValueError(f"weights must share one leading axis of at least one model, got {sizes}")
    for name, count in (("steps", steps), ("check_every", check_every)):
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
    if not 0 < learning_rate < math.inf:
        raise ValueError(f"learning_rate must be positive and finite, got {learning_rate}")
    for name, value in (("weight_decay", weight_decay), ("threshold", threshold)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value}")
    return next(iter(sizes.values()))
