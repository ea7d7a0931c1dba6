"""Batches for a stack of models, each drawn from the model's own generator.

No model's data depend on which others are in the stack, and what comes next can be saved: a run
that was killed goes on with the batch that it would have seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Generator, Tensor

from helpers.checks import require_positive, validated

Pair = tuple[Tensor, Tensor]
Batches = Callable[[Tensor], Pair]
Prepare = Callable[[Tensor, Tensor, Tensor], Pair]
Draw = Callable[[int, int, Generator], Pair]


@runtime_checkable
class Resumable(Protocol):
    """Batches whose next draws can be saved and taken up again."""

    def __call__(self, models: Tensor) -> Pair:
        """The next inputs and targets of these models, each ``(A, ...)``."""

    def state(self) -> dict[str, Tensor]:
        """All that the next batches depend on and that changes from batch to batch."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state."""


@validated
def spawn(E: int, generator: Generator) -> list[Generator]:
    """One generator a model, seeded by this one."""
    require_positive(E=E)
    seeds = torch.randint(2**62, (E,), generator=generator).tolist()
    return [Generator().manual_seed(seed) for seed in seeds]


@validated
def fixed(
    inputs: Tensor,
    targets: Tensor,
    B: int,
    generators: Sequence[Generator],
    prepare: Prepare | None = None,
) -> Resumable:
    """Batches from a fixed set of examples a model, shuffled anew in every epoch.

    The models go through their epochs side by side; the last batch of an epoch is the smaller one
    if B does not divide N.

    Args:
        inputs: Shape ``(E, N, ...)``; one set for all may be expanded along the first axis.
        targets: Shape ``(E, N, ...)``.
        B: Examples in a batch, from 1 to N.
        generators: One a model, on the CPU, for the order.
        prepare: ``prepare(models, inputs, targets)`` turns the rows chosen, each ``(A, B, ...)``,
            into what the model is given. None: they are given as they are.

    Raises:
        ValueError: a batch larger than the data, or shapes that do not fit.
    """
    return _Fixed(inputs, targets, B, generators, prepare)


@validated
def fresh(
    draw: Draw, B: int, generators: Sequence[Generator], prepare: Prepare | None = None
) -> Resumable:
    """Batches in which no example returns.

    Args:
        draw: ``draw(model, B, generator)`` gives new inputs and targets of one model, each
            ``(B, ...)``, from the generator alone.
        B: Examples in a batch, at least 1.
        generators: One a model, on the CPU.
        prepare: As for :func:`fixed`; what can be done for all models at once is faster here.

    Raises:
        ValueError: B below 1.
    """
    return _Fresh(draw, B, generators, prepare)


@validated
def whole(inputs: Tensor, targets: Tensor, *, shared: bool = False) -> Resumable:
    """Batches that are all the examples, every time.

    Args:
        inputs: Shape ``(E, N, ...)``; if shared ``(N, ...)``, the same for all models.
        targets: Shape ``(E, N, ...)``, those of each model.
        shared: Whether the models have their inputs in common.

    Raises:
        ValueError: shapes that do not fit.
    """
    axes = targets.shape[1:2] if shared else targets.shape[:2]
    if targets.ndim < 2 or inputs.shape[: len(axes)] != axes:
        raise ValueError(
            f"expected inputs ({'' if shared else 'E, '}N, ...) and targets (E, N, ...), got "
            f"{tuple(inputs.shape)} and {tuple(targets.shape)}"
        )
    return _Whole(inputs, targets, shared)


class _Whole:
    def __init__(self, inputs: Tensor, targets: Tensor, shared: bool) -> None:
        self.inputs, self.targets, self.shared = inputs, targets, shared

    def __call__(self, models: Tensor) -> Pair:
        asked = models.to(self.targets.device)
        return self.inputs if self.shared else self.inputs[asked], self.targets[asked]

    def state(self) -> dict[str, Tensor]:
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        pass


class _Fresh:
    def __init__(
        self, draw: Draw, B: int, generators: Sequence[Generator], prepare: Prepare | None
    ) -> None:
        if B < 1:
            raise ValueError(f"a batch holds at least 1 example, got {B}")
        self.draw, self.B, self.prepare = draw, B, prepare
        self.generators = list(generators)

    def __call__(self, models: Tensor) -> Pair:
        drawn = [self.draw(m, self.B, self.generators[m]) for m in models.tolist()]
        inputs, targets = (torch.stack(rows) for rows in zip(*drawn, strict=True))
        return self.prepare(models, inputs, targets) if self.prepare else (inputs, targets)

    def state(self) -> dict[str, Tensor]:
        return {"generators": torch.stack([g.get_state() for g in self.generators])}

    def restore(self, state: dict[str, Tensor]) -> None:
        for generator, saved in zip(self.generators, state["generators"], strict=True):
            generator.set_state(saved.clone())


class _Fixed:
    def __init__(
        self,
        inputs: Tensor,
        targets: Tensor,
        B: int,
        generators: Sequence[Generator],
        prepare: Prepare | None,
    ) -> None:
        if inputs.ndim < 2 or inputs.shape[:2] != targets.shape[:2]:
            raise ValueError(
                "inputs and targets must share their axes (E, N), got "
                f"{tuple(inputs.shape)} and {tuple(targets.shape)}"
            )
        E, N = inputs.shape[:2]
        if len(generators) != E:
            raise ValueError(f"{E} models need as many generators, got {len(generators)}")
        if not 1 <= B <= N:
            raise ValueError(f"a batch of {B} cannot be taken from {N} samples")
        self.inputs, self.targets = (
            v if v.stride(0) == 0 else v.contiguous() for v in (inputs, targets)
        )
        self.B, self.prepare = B, prepare
        self.generators = list(generators)
        self.orders, self.at = torch.empty(E, N, dtype=torch.int64), N

    def __call__(self, models: Tensor) -> Pair:
        N = self.orders.shape[1]
        if self.at >= N:
            orders = [torch.randperm(N, generator=g) for g in self.generators]
            self.orders, self.at = torch.stack(orders).to(self.inputs.device), 0
        asked = models.to(self.orders.device)
        rows = self.orders[asked, self.at : self.at + self.B]
        self.at += self.B
        inputs, targets = (_rows(v, asked, rows) for v in (self.inputs, self.targets))
        return self.prepare(models, inputs, targets) if self.prepare else (inputs, targets)

    def state(self) -> dict[str, Tensor]:
        return {
            "generators": torch.stack([g.get_state() for g in self.generators]),
            "orders": self.orders.cpu() if self.at < self.orders.shape[1] else torch.empty(0),
            "at": torch.tensor(self.at),
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        for generator, saved in zip(self.generators, state["generators"], strict=True):
            generator.set_state(saved.clone())
        self.at = int(state["at"])
        if self.at < self.orders.shape[1]:
            self.orders = state["orders"].to(self.inputs.device, copy=True)


def _rows(values: Tensor, models: Tensor, rows: Tensor) -> Tensor:
    """Some rows of each model's values ``(E, N, ...)``, which may be expanded from one model's."""
    shared = values.stride(0) == 0
    flat = values[0] if shared else values.flatten(0, 1)
    if not shared:
        rows = rows + values.shape[1] * models[:, None]
    return flat.index_select(0, rows.flatten()).unflatten(0, rows.shape)
