"""Train many independent models at once: one step moves a whole stack of them.

A model is a pure function of a flat dict of tensors. Stacking E models along a leading axis makes
one step one batched matrix product, while AdamW works on each number alone, so no model knows of
the others: each ends where it would have ended alone, up to rounding. A model that is done, or
whose loss is no longer finite, leaves the stack, and the others go on faster.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from helpers.checks import require_amount, require_positive, validated
from helpers.training.batches import Batches
from helpers.training.checkpoints import Checkpoint
from helpers.training.ensemble import Failure, Options, Run, Trained, require_one_each
from helpers.training.optimizer import StackedAdamW
from helpers.weights import Evaluate, Forward, Weights

__all__ = [
    "Failure",
    "Loss",
    "Trained",
    "cross_entropy",
    "squared_error",
    "train",
]

Loss = Callable[[Tensor, Tensor], Tensor]
DEVICE = "BOOK_DEVICE"
"""In the environment, where steps are taken that name no device; the runner's --device sets it."""


def squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean squared error of each model: two ``(A, ...)`` of one shape give ``(A,)``.

    Example:
        >>> import torch
        >>> from helpers.training.train import squared_error
        >>> squared_error(torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0, 1.0]]))  # of one model
        tensor([2.])
    """
    if outputs.shape != targets.shape:
        raise ValueError(
            f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)} differ in shape"
        )
    return (outputs - targets).square().flatten(1).mean(1)


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross entropy of each model, in nats.

    Args:
        outputs: Logits, shape ``(A, *batch, classes)``.
        targets: Classes, shape ``(A, *batch)``, int64.

    Returns:
        Shape ``(A,)``.

    Example:
        >>> import torch
        >>> from helpers.training.train import cross_entropy
        >>> cross_entropy(torch.zeros(1, 5, 2), torch.zeros(1, 5, dtype=torch.int64))  # log 2
        tensor([0.6931])
    """
    if outputs.shape[:-1] != targets.shape:
        raise ValueError(
            f"logits {tuple(outputs.shape)} need targets {tuple(outputs.shape[:-1])}, "
            f"got {tuple(targets.shape)}"
        )
    each = functional.cross_entropy(outputs.flatten(0, -2), targets.flatten(), reduction="none")
    return each.view(len(targets), -1).mean(1)


@validated
def train(
    forward: Forward,
    weights: Weights,
    batch: Batches,
    *,
    steps: int,
    learning_rate: float | Tensor,
    weight_decay: float | Tensor = 0.01,
    rate_of: Mapping[str, float] | None = None,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    clip: float | None = None,
    schedule: Callable[[int], float] | None = None,
    loss: Loss = squared_error,
    check_every: int = 100,
    threshold: float = 0.0,
    evaluate: Evaluate | None = None,
    metrics: Mapping[str, Evaluate] | None = None,
    metrics_every: int | None = None,
    on_failure: Literal["record", "raise"] = "record",
    checkpoint: Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> Trained:
    r"""Minimise the losses of E models by AdamW; each stops on its own.

    Every ``check_every`` steps, and after the last, each model's loss :math:`\ell_e` is compared
    with the threshold. A model with :math:`\ell_e <` ``threshold`` is taken out of the stack, with
    its weights as they are. So is one whose loss or weights are no longer finite, as they were at
    the check before: it is recorded, and the others go on.

    Args:
        forward: ``forward(weights, inputs)``, with one leading axis of models throughout; a
            function of these alone.
        weights: Initial weights, each ``(E, ...)``, floating; left as they are.
        batch: Given the numbers of the models still in training, shape ``(A,)``, their next
            inputs and targets, each ``(A, ...)``, inputs also as tuples of such tensors; as of
            :mod:`helpers.training.batches`.
        steps: Most steps that a model takes, at least 1.
        learning_rate: Of AdamW, above 0; a number, or one a model, shape ``(E,)``.
        weight_decay: Of AdamW, at least 0; likewise.
        rate_of: Factor of the learning rate, by weight; 0 freezes it, decay included.
        betas: Of AdamW.
        eps: Of AdamW.
        clip: Largest norm of a model's gradient over all its weights; None: any.
        schedule: Factor of the learning rate at a step, the first of which is 1.
        loss: ``loss(outputs, targets) -> (A,)``, to be minimised.
        check_every: Steps between two checks, at least 1.
        threshold: Where to stop; 0 never stops early.
        evaluate: The loss to compare, ``evaluate(weights, models) -> (A,)``, computed without
            gradients. None: the mean training loss since the last check.
        metrics: ``metric(weights, models) -> (A,)`` by name, computed like ``evaluate``.
        metrics_every: Steps between two computations of them; None: as ``check_every``.
        on_failure: ``"record"`` a model that is no longer finite, or ``"raise"`` at the first.
        checkpoint: A file to go on from when this call is made again after the process was killed:
            it then ends with the same bits as if it had not been. Needs batches with a state, as
            those of :mod:`helpers.training.batches`; ``evaluate`` and ``metrics`` must have none.
            It is written once a minute, and at the end holds the end, which the next call returns;
            delete it to train anew.
        device: Where the steps are taken; weights come back to where they were, which is where
            ``evaluate`` and ``metrics`` see them. None: the device that the environment names
            (:data:`DEVICE`), else where the weights are.
        progress: Draw a bar, where standard error is a terminal.

    Raises:
        ValueError: no models, tensors of different E, a number outside its range, a loss that is
            not ``(A,)``, a device that is not here, or a checkpoint that is damaged or of another
            run (:class:`helpers.training.checkpoints.CheckpointError`).
        Paused: the time that the environment gives to runs with a checkpoint is up
            (:data:`helpers.training.checkpoints.DEADLINE`); the file is written.
        ArithmeticError: every model failed, or the first one if so asked; says which, when, and
            its last finite loss.

    Cost: ``steps`` times a forward and a backward pass of the models still in training. Memory: the
    weights five times, and once more where rates differ between models.

    Example:
        >>> import torch
        >>> from helpers.training.batches import fixed, spawn
        >>> from helpers.training.train import train
        >>> generator = torch.Generator().manual_seed(0)
        >>> inputs = torch.randn(1, 64, 3, generator=generator).expand(2, -1, -1)  # of two models
        >>> targets = inputs @ torch.tensor([1.0, -2.0, 0.5])
        >>> batch = fixed(inputs, targets, 16, spawn(2, generator))
        >>> forward = lambda weights, x: (x @ weights["w"][..., None])[..., 0]
        >>> start = {"w": torch.zeros(2, 3)}
        >>> found = train(forward, start, batch, steps=400, learning_rate=0.05, weight_decay=0.0)
        >>> (found.weights["w"] * 10).round() / 10
        tensor([[ 1.0000, -2.0000,  0.5000],
                [ 1.0000, -2.0000,  0.5000]])
    """
    options = Options(
        check_every,
        threshold,
        evaluate,
        dict(metrics or {}),
        check_every if metrics_every is None else metrics_every,
        on_failure,
    )
    _check(weights, steps, options)
    home = next(iter(weights.values())).device
    there = _device(device, home)
    live = {
        k: v.detach().to(there, copy=True, memory_format=torch.contiguous_format)
        for k, v in weights.items()
    }
    optimizer = StackedAdamW(
        live, learning_rate, weight_decay, rate_of=rate_of, betas=betas, eps=eps, clip=clip
    )
    for name in optimizer.moving:
        live[name].requires_grad_()
    run = Run(optimizer, options, home)
    file = None
    if checkpoint is not None:
        factors = [schedule(s) for s in (1, -(-steps // 2), steps)] if schedule else None
        settings = {"steps": steps, "schedule": factors, **run.settings()}
        file = Checkpoint(checkpoint, settings, run, batch)
        before = file.source.state()
        with torch.no_grad():
            first = _losses(forward, loss, run, batch)
        file.source.restore(before)
        file.resume(first)
    bar = _bar(progress, steps)

    while run.step < steps and len(run.models):
        step = run.step + 1
        losses = _losses(forward, loss, run, batch)
        leaves = [run.live[name] for name in optimizer.moving]
        factor = 1.0 if schedule is None else _factor(schedule, step)
        optimizer.step(torch.autograd.grad(losses.sum(), leaves, allow_unused=True), factor)
        run.take(losses.detach())
        if step % options.metrics_every == 0:
            run.measure()
        if step % check_every == 0 or step == steps:
            run.check()
            if bar is not None:
                _advance(bar, run)
        if file is not None and run.step < steps and len(run.models):
            file.write_if_due()

    if bar is not None:
        bar.close()
    if file is not None:
        file.write()
    return run.trained()


def _losses(forward: Forward, loss: Loss, run: Run, batch: Batches) -> Tensor:
    """The losses of the models in training on their next batch."""
    there = next(iter(run.live.values())).device
    inputs, targets = (_moved(v, there) for v in batch(run.models))
    losses = loss(forward(run.live, inputs), targets)
    require_one_each("loss", losses, len(run.models))
    return losses


def _moved(given: Any, device: torch.device) -> Any:
    """A tensor, or tensors in tuples, on a device."""
    if isinstance(given, Tensor):
        return given.to(device)
    parts = [_moved(part, device) for part in given]
    return type(given)(*parts) if hasattr(given, "_fields") else tuple(parts)


def _device(asked: torch.device | str | None, home: torch.device) -> torch.device:
    """Where to train; ValueError if that is not here."""
    named = os.environ.get(DEVICE)
    try:
        there = torch.device(asked or named or home)
    except RuntimeError as error:
        source = "device" if asked else f"the environment's {DEVICE}"
        raise ValueError(f"{source} {asked or named!r} is unknown to torch: {error}") from None
    if there.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"training on {there} was asked for, and no GPU is here; use 'cpu'")
    return there


def _factor(schedule: Callable[[int], float], step: int) -> float:
    factor = schedule(step)
    if not 0 <= factor < math.inf:
        raise ValueError(f"schedule({step}) must be finite and at least 0, got {factor}")
    return factor


def _bar(wanted: bool, steps: int) -> Any:
    """A progress bar; None unless someone sees it, so that none is stored with a notebook."""
    if not wanted or not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=steps, unit="step", leave=False)


def _advance(bar: Any, run: Run) -> None:
    bar.n = run.step
    bar.set_postfix(
        training=len(run.models), finished=int(run.finished.sum()), failed=len(run.failed)
    )


def _check(weights: Weights, steps: int, options: Options) -> None:
    sizes = {k: v.shape[0] if v.ndim else 0 for k, v in weights.items()}
    if len(set(sizes.values())) != 1 or 0 in sizes.values():
        raise ValueError(f"weights must share one leading axis of at least one model, got {sizes}")
    for name, tensor in weights.items():
        if not tensor.is_floating_point():
            raise ValueError(f"weights must be floating, {name} is {tensor.dtype}")
    require_positive(
        steps=steps, check_every=options.check_every, metrics_every=options.metrics_every
    )
    require_amount(threshold=options.threshold)
    if options.on_failure not in ("record", "raise"):
        raise ValueError(f"on_failure is 'record' or 'raise', got {options.on_failure!r}")
