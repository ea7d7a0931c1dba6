r"""Prompts that three architectures need to learn sparse token regression.

One task, one interface: a transformer, bidirectional recurrent nets and a feedforward net, each as
an ensemble of runs; and a search for the width, the read-out and the learning rate that suit each.
A count may be *censored*: a run that was stopped before it came below an error needs more prompts
than it saw, and how many more is not known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import torch
from torch import Generator, Tensor

from helpers.checks import require_amount, require_choice, require_positive, validated
from helpers.statistics import Estimate
from helpers.training.train import squared_error, train
from helpers.weights import Forward, Weights
from papers.retrieval import baselines
from papers.retrieval import task as retrieval
from papers.retrieval.baselines import FeedforwardSpec, RecurrentSpec
from papers.retrieval.task import Task

KINDS = ("transformer", "recurrent", "gated", "feedforward")
SCREEN = 500  # test prompts in a part
SECOND = {"recurrent": 64, "gated": 64, "feedforward": 1000}  # a second width that may be tried


class Counts(NamedTuple):
    """Prompts that runs needed, or saw in vain.

    Attributes:
        prompts: Shape ``(E,)``, int64.
        reached: Whether the run reached the error; if not, it is censored. Shape ``(E,)``, bool.
    """

    prompts: Tensor
    reached: Tensor


@dataclass(frozen=True)
class Net:
    """A network for the task.

    Attributes:
        kind: One of :data:`KINDS`. ``"transformer"``: one attention head and a ReLU layer on every
            token, :func:`papers.retrieval.task.forward`. ``"recurrent"``: ReLU units in both
            directions. ``"gated"``: the same with gated units (GRU). ``"feedforward"``: all tokens
            at once.
        widths: Of a transformer the layer's. Of a recurrent net the states of a direction; a second
            number, above 1, makes the read-out a ReLU layer of that width, which sees both states
            and the token, where it else is linear. Of a feedforward net, its layers'.

    Raises:
        ValueError: an unknown kind, or widths that do not fit it.
    """

    kind: str
    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        require_choice("kind", self.kind, KINDS)
        most = {"transformer": 1, "feedforward": len(self.widths)}.get(self.kind, 2)
        if not 1 <= len(self.widths) <= most:
            raise ValueError(f"a {self.kind} net cannot have the widths {self.widths}")
        require_positive(**{f"widths[{i}]": width for i, width in enumerate(self.widths)})


def learner(net: Net, task: Task, generator: Generator) -> tuple[Forward, Weights]:
    """A network for the task: a function of weights and tokens, and random weights of E of them.

    Args:
        net: Its kind and widths.
        task: What it is for; gives the sizes of its inputs, and E.
        generator: Source of randomness.

    Returns:
        ``forward(weights, tokens)`` that takes ``(*E, B, N, D)`` to labels ``(*E, B, N)``, and
        weights, each ``(E, ...)``.

    Raises:
        ValueError: prompts of one token.
    """
    (E, N, d_e), (q, d) = task.omega.shape, task.u.shape[-2:]
    D, width = d + (1 + q) * d_e, net.widths[0]
    if N < 2:
        raise ValueError(f"a prompt needs at least 2 tokens, got {N}")
    if net.kind == "transformer":
        return retrieval.forward, retrieval.initial_weights(D, width, generator, E)
    if net.kind == "feedforward":
        layers = FeedforwardSpec(N * D, net.widths, N)
        start = baselines.initial_weights(layers, E, generator)
        return functools.partial(_all_at_once, layers), start
    outputs = net.widths[1] if len(net.widths) == 2 else 1
    cells = RecurrentSpec(D, width, outputs)
    start = baselines.initial_weights(cells, E, generator)
    forward: Forward = functools.partial(baselines.forward, cells)
    if net.kind == "recurrent":
        gates = [name for name in start if not name.startswith("readout")]
        start |= {name: start[name][..., :width].clone() for name in gates}  # of three, one
        forward = _recurrent
    if outputs == 1:
        return forward, start
    last = baselines.initial_weights(FeedforwardSpec(D, (outputs,), 1), E, generator)
    return functools.partial(_read_twice, forward), start | last


@validated
def learn(
    net: Net,
    task: Task,
    tests: Mapping[str, Task],
    generator: Generator,
    *,
    learning_rate: float,
    steps: int,
    stop: float,
    weight_decay: float = 0.1,
    B: int = 64,
    check_every: int = 10,
    test_prompts: int = 1000,
) -> dict[str, Counts]:
    """Train E runs on prompts of which none returns, until each is below an error in every test.

    Args:
        net: The network.
        task: Instances, one a run.
        tests: Tasks that test prompts are drawn from, before training, by name; with the encodings
            and directions of ``task``.
        generator: Of the initial weights.
        learning_rate: Of AdamW.
        steps: Most steps of a run.
        stop: Mean squared error below which a run ends.
        weight_decay: Of AdamW.
        B: Prompts in a step.
        check_every: Steps between two tests.
        test_prompts: Prompts of one test. They are gone through in parts of :data:`SCREEN`, and
            the rest is left out once the error on k parts is above 1 + 0.3/sqrt(k) times ``stop``,
            some four standard errors, in every run.

    Returns:
        By test, the prompts that each run had seen when its error first was found below ``stop``.

    Raises:
        ValueError: no tests, or a number outside its range.

    Cost: the steps, and at least :data:`SCREEN` forward passes of each test every ``check_every``.
    """
    if not tests:
        raise ValueError("at least one test is needed")
    require_positive(test_prompts=test_prompts, B=B)
    forward, start = learner(net, task, generator)
    models = torch.arange(len(task.omega))
    given = [each.examples(models, each.prompts(models, test_prompts)) for each in tests.values()]
    found: list[Tensor] = []  # at each check, (tests, E)

    def error(weights: Weights, tokens: Tensor, targets: Tensor) -> Tensor:
        total = torch.zeros(len(tokens), dtype=torch.float64)
        for at in range(0, test_prompts, SCREEN):
            x, y = tokens[:, at : at + SCREEN], targets[:, at : at + SCREEN]
            total += squared_error(forward(weights, x), y).double() * x.shape[1]
            mean = total / min(at + SCREEN, test_prompts)
            if (mean > stop * (1 + 0.3 / math.sqrt(at / SCREEN + 1))).all():
                break
        return mean

    def examine(weights: Weights, alive: Tensor) -> Tensor:
        row = torch.full((len(given), len(models)), math.nan, dtype=torch.float64)
        row[:, alive] = torch.stack([error(weights, x[alive], y[alive]) for x, y in given])
        found.append(row)
        return row[:, alive].amax(0)

    trained = train(
        forward,
        start,
        task.fresh(B),
        steps=steps,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        check_every=check_every,
        threshold=stop,
        evaluate=examine,
    )
    errors = torch.stack(found)  # (C, tests, E); NaN once a run has stopped
    below, last = errors < stop, (errors.isfinite().sum(0) - 1).clamp(min=0)
    first = torch.where(below.any(0), below.int().argmax(0), last)
    seen = B * torch.tensor(trained.checks)[first]
    return {name: Counts(seen[i], below.any(0)[i]) for i, name in enumerate(tests)}


class Setting(NamedTuple):
    """A network and the learning rate that it is trained at."""

    net: Net
    rate: float


def neighbours(setting: Setting) -> list[Setting]:
    """The settings one step away.

    Twice and half the rate; twice and half the first width; with and without a second width, of
    :data:`SECOND`; and of a recurrent net the other kind of units.
    """
    (kind, (first, *rest)), rate = (setting.net.kind, setting.net.widths), setting.rate
    nets = [Net(kind, (width, *rest)) for width in (2 * first, max(1, first // 2))]
    if kind in SECOND:
        nets.append(Net(kind, (first,) if rest else (first, SECOND[kind])))
    if kind in ("recurrent", "gated"):
        nets.append(Net("gated" if kind == "recurrent" else "recurrent", setting.net.widths))
    return [Setting(setting.net, v * rate) for v in (2, 0.5)] + [Setting(n, rate) for n in nets]


@validated
def tune(
    count: Callable[[Setting, int], Counts],
    start: Setting,
    cap: int,
    near: Callable[[Setting], list[Setting]] = neighbours,
    gain: float = 0.05,
) -> tuple[Setting, dict[Setting, Counts]]:
    """Go from setting to better neighbour until no neighbour is better.

    Args:
        count: Prompts that runs at a setting need; each is stopped after a number of them, which
            is ``cap`` at first, then the median of the best setting so far.
        start: Where to begin.
        cap: Most prompts of a run.
        near: The neighbours of a setting.
        gain: A neighbour is better if its median is smaller by more than this share.

    Returns:
        The last setting, none of whose neighbours is better; and all that was tried.
    """
    require_positive(cap=cap)
    require_amount(gain=gain)
    best, tried = start, {start: count(start, cap)}
    while True:
        least = median(tried[best])
        for other in near(best):
            if other not in tried:
                tried[other] = count(other, int(min(cap, least)))
            if median(tried[other]) < (1 - gain) * least:
                best = other
                break
        else:
            return best, tried


def median(counts: Counts) -> float:
    """The median of counts, the lower one of two; infinite if it is censored."""
    if not len(counts.prompts) or counts.prompts.shape != counts.reached.shape:
        raise ValueError(
            f"expected (E,) counts of at least one run, got {tuple(counts.prompts.shape)} "
            f"and {tuple(counts.reached.shape)}"
        )
    needed = counts.prompts.double().where(counts.reached, torch.tensor(math.inf).double())
    return float(needed.sort().values[(len(needed) - 1) // 2])


@dataclass(frozen=True)
class Runs:
    """Counts of many runs.

    Attributes:
        frame: A row a run, with the columns ``task``, ``net``, ``N``, ``prompts`` and ``reached``.
    """

    frame: pd.DataFrame

    def counts(self, task: str, net: str, N: int) -> Counts:
        """Of the runs of one net, task and length; there may be none."""
        here = self.frame.query("task == @task and net == @net and N == @N")
        prompts, reached = (torch.tensor(here[k].to_list()) for k in ("prompts", "reached"))
        return Counts(prompts, reached > 0)

    def median(self, task: str, net: str, N: int) -> float:
        """The :func:`median` of these counts."""
        return median(self.counts(task, net, N))

    def told(self, task: str, net: str, N: int) -> str:
        """The median in thousands, and the range; empty if there are no runs."""
        found = self.counts(task, net, N)
        if len(found.prompts) < 2:
            return "".join(f"{n / 1000:.1f}" for n in found.prompts)
        ends = found.prompts.min() / 1000, found.prompts.max() / 1000
        return f"{Estimate(median(found) / 1000, *map(float, ends)):.1f}"

    def lengths(self, task: str, *nets: str) -> list[int]:
        """The lengths of a task at which each of these nets has runs, rising."""
        here = self.frame.query("task == @task")
        each = [set(here.query("net == @net")["N"].tolist()) for net in nets]
        return sorted(set.intersection(*each))

    def lead(self, task: str, N: int, fast: str, *slow: str) -> float:
        """Logarithm of the least of some nets' counts over the most of the fast one's.

        Above 0, every run of them needs more. Two ratios of counts are multiples of each other by
        accident, as counts are multiples of a batch; their logarithms are not.
        """
        least = min(float(self.counts(task, net, N).prompts.min()) for net in slow)
        return math.log(least / float(self.counts(task, fast, N).prompts.max()))

    def power(self, task: str, net: str, first: int, last: int) -> Estimate:
        """Power of N from one length to another: of the medians, and of the runs farthest apart."""
        a, b = (self.counts(task, net, N) for N in (first, last))
        ratios = median(b) / median(a), b.prompts.min() / a.prompts.max()
        value, low, high = (
            math.log(r) / math.log(last / first)
            for r in (*ratios, b.prompts.max() / a.prompts.min())
        )
        return Estimate(value, low, high)


def _all_at_once(spec: FeedforwardSpec, weights: Weights, tokens: Tensor) -> Tensor:
    return baselines.forward(spec, weights, tokens.flatten(-2))


def _recurrent(weights: Weights, tokens: Tensor) -> Tensor:
    """ReLU units in both directions, side by side, and a linear map of both states of a token."""
    names = ("input", "input_bias", "state", "state_bias")
    into, shift, matrix, bias = (
        torch.stack((weights[f"forward.{k}"], weights[f"backward.{k}"]), -v)
        for k, v in zip(names, (3, 2, 3, 2), strict=True)
    )
    both = torch.stack((tokens, tokens.flip(-2)), -4)  # (*E, 2, B, N, D)
    given = both.flatten(-3, -2) @ into + (shift + bias)[..., None, :]
    given = given.unflatten(-2, both.shape[-3:-1])
    h = torch.relu(given[..., 0, :])
    states = [h]
    for i in range(1, given.shape[-2]):
        h = torch.relu(given[..., i, :] + h @ matrix)
        states.append(h)
    ahead, back = torch.stack(states, -2).unbind(-4)
    read = torch.cat((ahead, back.flip(-2)), -1)  # (*E, B, N, 2 states)
    outputs = read.flatten(-3, -2) @ weights["readout"] + weights["readout_bias"][..., None, :]
    return outputs.unflatten(-2, read.shape[-3:-1]).squeeze(-1)


def _read_twice(forward: Forward, weights: Weights, tokens: Tensor) -> Tensor:
    """A read-out with a hidden layer, which sees the token beside the states."""
    first, last = (
        {k: w for k, w in weights.items() if k.startswith("layers.") == own}
        for own in (False, True)
    )
    flat = tokens.flatten(-3, -2)
    seen = flat @ last["layers.0.weight"] + last["layers.0.bias"][..., None, :]
    hidden = (forward(first, tokens) + seen.unflatten(-2, tokens.shape[-3:-1])).relu()
    outputs = hidden.flatten(-3, -2) @ last["layers.1.weight"] + last["layers.1.bias"][..., None, :]
    return outputs.unflatten(-2, tokens.shape[-3:-1]).squeeze(-1)
