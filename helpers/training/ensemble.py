"""A stack of models while they train: which still train, their results, which were removed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

import torch
from torch import Tensor

from helpers.checks import validated
from helpers.training.optimizer import StackedAdamW
from helpers.weights import Evaluate, Weights


@dataclass(frozen=True)
class Failure:
    """A model that was given up.

    Attributes:
        model: Its number in the stack.
        step: The step at which it broke; for weights, the one after which that was seen.
        what: What was found, such as ``"the loss is nan"``.
        last_loss: The last finite training loss before; NaN if there was none.
    """

    model: int
    step: int
    what: str
    last_loss: float

    def __str__(self) -> str:
        before = "none" if math.isnan(self.last_loss) else f"{self.last_loss:.4g}"
        where = f"model {self.model}: {self.what} at step {self.step}"
        return f"{where}; the last finite loss was {before}"


@dataclass(frozen=True)
class Trained:
    """What came of training E models.

    Attributes:
        weights: The weights of each model at its own last step, every tensor ``(E, ...)``. Of a
            model that failed: at the last check that found it sound, or those it began with.
        steps: Steps that these weights have taken, shape ``(E,)``, int64.
        finished: Whether the model reached the threshold, shape ``(E,)``, bool.
        checks: Steps after which losses were compared with the threshold.
        losses: The losses compared, shape ``(len(checks), E)``, float64; NaN once a model is gone.
        failed: The models given up, in the order in which that was noticed.
        metric_steps: Steps after which the metrics were computed.
        metrics: By name, shape ``(len(metric_steps), E)``, float64; NaN once a model is gone.
    """

    weights: Weights
    steps: Tensor
    finished: Tensor
    checks: list[int]
    losses: Tensor
    failed: list[Failure] = field(default_factory=list)
    metric_steps: list[int] = field(default_factory=list)
    metrics: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """What is done beside the steps."""

    check_every: int
    threshold: float
    evaluate: Evaluate | None
    metrics: dict[str, Evaluate]
    metrics_every: int
    on_failure: str


class Run:
    """All that changes while the models train; what is kept of them, and asked, is at ``home``."""

    def __init__(self, optimizer: StackedAdamW, options: Options, home: torch.device) -> None:
        self.optimizer, self.options, self.home = optimizer, options, home
        E = len(optimizer.rate)
        self.step, self.models = 0, torch.arange(E)
        self.final = {k: v.detach().to(home, copy=True) for k, v in self.live.items()}
        self.steps = torch.zeros(E, dtype=torch.int64)
        self.finished = torch.zeros(E, dtype=torch.bool)
        self.failed: list[Failure] = []
        self.pending: list[Tensor] = []  # losses on the device, each (A,), since they were read
        self.window = torch.empty(0, E, dtype=torch.float64)  # those read since the last check
        self.last = torch.full((E,), math.nan, dtype=torch.float64)  # the losses before these
        self.checks: list[int] = []
        self.losses: list[Tensor] = []
        self.metric_steps: list[int] = []
        self.metrics: dict[str, list[Tensor]] = {name: [] for name in options.metrics}

    @property
    def live(self) -> Weights:
        """The weights of the models in training."""
        return self.optimizer.weights

    def take(self, losses: Tensor) -> None:
        """Count a step that began with these losses."""
        self.step += 1
        self.pending.append(losses)

    @torch.no_grad()
    def measure(self) -> None:
        """Compute the metrics."""
        if not self.options.metrics:
            return
        self._sift()
        if not len(self.models):
            return
        self.metric_steps.append(self.step)
        for name, metric in self.options.metrics.items():
            self.metrics[name].append(self._row(self._values(name, metric)))

    @torch.no_grad()
    def check(self) -> None:
        """Compare the losses with the threshold; let go the models that are done."""
        self._sift()
        if not len(self.models):
            return
        evaluate = self.options.evaluate
        found = self.window.mean(0) if evaluate is None else self._values("evaluate", evaluate)
        sound = found.isfinite()
        self._fail(
            [
                self._failure(i, self.step, f"the loss is {found[i]}", self.window[:, i])
                for i in _places(~sound)
            ]
        )
        found = found[sound]
        self.checks.append(self.step)
        self.losses.append(self._row(found))
        _put(self.final, self.live, self.models)
        self.steps[self.models] = self.step
        self.last[self.models] = self.window[-1]
        done = found < self.options.threshold
        self.finished[self.models[done]] = True
        self._drop(done)
        self.window = self.window.new_empty(0, len(self.models))

    def trained(self) -> Trained:
        """The result; the run is not used any further."""
        if len(self.failed) == len(self.steps):
            raise ArithmeticError(f"all {len(self.steps)} models failed, first {self.failed[0]}")
        none = torch.empty(0, len(self.steps), dtype=torch.float64)
        return Trained(
            self.final,
            self.steps,
            self.finished,
            self.checks,
            torch.stack(self.losses),
            self.failed,
            self.metric_steps,
            {name: torch.stack(rows) if rows else none for name, rows in self.metrics.items()},
        )

    def settings(self) -> dict[str, Any]:
        """What a run must share with one that goes on from its state, in numbers and words."""
        digest = hashlib.sha256()
        for tensor in self.live.values():
            digest.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
        options = self.options
        return {
            **self.optimizer.settings(),
            "weights": {k: [str(v.dtype), *v.shape] for k, v in self.live.items()},
            "initial weights": digest.hexdigest(),
            "check_every": options.check_every,
            "threshold": options.threshold,
            "evaluate": options.evaluate is not None,
            "metrics": list(options.metrics),
            "metrics_every": options.metrics_every,
            "on_failure": options.on_failure,
        }

    def state(self) -> dict[str, Any]:
        """All of this in plain tensors, numbers and words."""
        self._read()
        rows = {"losses": self.losses, **{f"metrics.{k}": v for k, v in self.metrics.items()}}
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "rows": {name: torch.stack(found) for name, found in rows.items() if found},
            "failed": [astuple(failure) for failure in self.failed],
            "final": self.final,
            "optimizer": self.optimizer.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, in a run that has not begun."""
        kept = torch.zeros(len(self.steps), dtype=torch.bool)
        kept[state["models"]] = True
        self.optimizer.keep(kept)
        self.optimizer.restore(state["optimizer"])
        for name in _PLAIN:
            setattr(self, name, state[name])
        rows = {name: list(found.unbind()) for name, found in state["rows"].items()}
        self.losses = rows.get("losses", [])
        self.metrics = {name: rows.get(f"metrics.{name}", []) for name in self.metrics}
        self.failed = [Failure(*each) for each in state["failed"]]
        for name, tensor in state["final"].items():
            self.final[name].copy_(tensor)

    def _read(self) -> None:
        """Bring the losses since they were last read from the device."""
        if self.pending:
            rows = torch.stack(self.pending).double().cpu()
            self.window, self.pending = torch.cat((self.window, rows)), []

    def _sift(self) -> None:
        """Let go the models whose losses or weights are no longer finite."""
        self._read()
        finite = self.window.isfinite()  # (W, A)
        moved = [self.live[name] for name in self.optimizer.moving]
        whole = torch.stack([w.reshape(len(w), -1).isfinite().all(1) for w in moved]).all(0).cpu()
        start, failures = self.step - len(finite), []
        for i in _places(~(finite.all(0) & whole)):
            sound = int(finite[:, i].int().cumprod(0).sum())  # steps before the first bad loss
            if sound < len(finite):
                what, step = f"the loss is {self.window[sound, i]}", start + sound + 1
            else:
                what, step = "a weight is not finite", self.step
            failures.append(self._failure(i, step, what, self.window[:sound, i]))
        self._fail(failures)

    def _failure(self, i: int, step: int, what: str, before: Tensor) -> Failure:
        """That of the i-th model in the stack, whose losses since the check were these."""
        last = before[-1] if len(before) else self.last[self.models[i]]
        return Failure(int(self.models[i]), step, what, last.item())

    def _fail(self, failures: list[Failure]) -> None:
        if not failures:
            return
        found = sorted(failures, key=lambda failure: (failure.step, failure.model))
        if self.options.on_failure == "raise":
            raise ArithmeticError(str(found[0]))
        self.failed += found
        gone = torch.tensor([failure.model for failure in found], dtype=torch.int64)
        self._drop(torch.isin(self.models, gone))

    def _drop(self, gone: Tensor) -> None:
        if gone.any():
            self.models, self.window = self.models[~gone], self.window[:, ~gone]
            self.optimizer.keep(~gone)

    def _values(self, name: str, measure: Evaluate) -> Tensor:
        found = measure({k: v.detach().to(self.home) for k, v in self.live.items()}, self.models)
        require_one_each(name, found, len(self.models))
        return found.detach().double().cpu()

    def _row(self, values: Tensor) -> Tensor:
        row = torch.full((len(self.steps),), math.nan, dtype=torch.float64)
        row[self.models] = values
        return row


_PLAIN = ("step", "models", "steps", "finished", "window", "last", "checks", "metric_steps")


def _places(mask: Tensor) -> list[int]:
    return mask.nonzero().flatten().tolist()


def _put(among: Weights, tensors: Mapping[str, Tensor], models: Tensor) -> None:
    """Copy the weights of some models to their places among all."""
    for name, tensor in tensors.items():
        whole = among[name]
        if len(tensor) == len(whole):
            whole.copy_(tensor.detach())
        else:
            whole[models.to(whole.device)] = tensor.detach().to(whole.device)


@validated
def require_one_each(name: str, values: Tensor, A: int) -> None:
    """Refuse what is not one number for each of A models."""
    if values.shape != (A,):
        raise ValueError(f"{name} must give one number a model, ({A},), got {tuple(values.shape)}")
