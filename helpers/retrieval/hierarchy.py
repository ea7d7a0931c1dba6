r"""Prompts that three architectures need to learn sparse token regression.

One task, one interface: a transformer, a bidirectional recurrent net and a feedforward net, each as
an ensemble of runs. Counts of prompts may be *censored*: a run that was stopped before it came
below an error needs more prompts than it saw, and how many more is not known.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from scipy import stats
from torch import Generator, Tensor

from helpers.checks import require_choice, require_positive, require_scale
from helpers.nets import baselines
from helpers.nets.baselines import FeedforwardSpec, RecurrentSpec
from helpers.retrieval import task as retrieval
from helpers.retrieval.task import Prompts, Task
from helpers.training.train import squared_error, train
from helpers.weights import Forward, Weights

ARCHITECTURES = ("transformer", "recurrent", "feedforward")
MOST_POOLED = 20  # runs of two groups together, whose splits are all gone through


class Counts(NamedTuple):
    """Prompts that runs needed, or saw in vain.

    Attributes:
        prompts: Shape ``(E,)``, int64.
        reached: Whether the run reached the error; if not, it is censored. Shape ``(E,)``, bool.
    """

    prompts: Tensor
    reached: Tensor


@dataclass(frozen=True)
class Record:
    """Test errors of an ensemble of runs.

    Attributes:
        prompts: Prompts seen at each test, repeats included, rising, shape ``(C,)``, int64.
        errors: Mean squared errors by test, shape ``(C, E)``; NaN once a run has stopped.
    """

    prompts: Tensor
    errors: dict[str, Tensor]

    def count(self, level: float, test: str) -> Counts:
        """Prompts until the error of a test is first found below a level."""
        require_choice("test", test, tuple(self.errors))
        require_scale(level=level)
        errors = self.errors[test]
        below = errors < level
        reached = below.any(0)
        last = (errors.isfinite().sum(0) - 1).clamp(min=0)
        at = torch.where(reached, below.int().argmax(0), last)
        return Counts(self.prompts[at], reached)


class FixedPointers(Task):
    """The task without its dynamics: token i always points at token i + 1, the last at the first.

    What varies from prompt to prompt is the data alone.
    """

    def _draw(self, model: int, B: int, generator: Generator) -> Prompts:
        x, t = super()._draw(model, B, generator)
        return Prompts(x, torch.arange(t.shape[-2]).roll(-1)[:, None].expand_as(t))


def with_fixed_pointers(task: Task) -> FixedPointers:
    """The same encodings and directions, with pointers that never change.

    Raises:
        ValueError: the task is simple, so its tokens share their pointers.
    """
    if task.simple:
        raise ValueError("tokens of the simple task share their pointers, which cannot be fixed")
    return FixedPointers(task.omega, task.pointers, task.u, task.generators, simple=False)


def without_pointers(task: Task) -> Task:
    """The same task with every pointer shown as zeros. The least error then is 1 - 1/N."""
    return replace(task, pointers=torch.zeros_like(task.pointers))


def learner(
    architecture: str, task: Task, widths: tuple[int, ...], generator: Generator
) -> tuple[Forward, Weights]:
    """A network for the task: a function of weights and tokens, and random weights of E of them.

    Args:
        architecture: One of :data:`ARCHITECTURES`. ``"transformer"``: one attention head and a
            feedforward layer, :func:`helpers.retrieval.task.forward`. ``"recurrent"``: gated units
            in both directions, read at every token. ``"feedforward"``: all tokens at once.
        task: What it is for; gives the sizes of its inputs, and E.
        widths: Of the hidden layers: one number, or of a feedforward net one or more.
        generator: Source of randomness.

    Returns:
        ``forward(weights, tokens)`` that takes ``(*E, B, N, D)`` to labels ``(*E, B, N)``, and
        weights, each ``(E, ...)``.

    Raises:
        ValueError: an unknown architecture, widths that do not fit it, or prompts of one token.
    """
    require_choice("architecture", architecture, ARCHITECTURES)
    if not widths or (architecture != "feedforward" and len(widths) != 1):
        raise ValueError(f"a {architecture} net cannot have the widths {widths}")
    require_positive(**{f"widths[{i}]": width for i, width in enumerate(widths)})
    (E, N, d_e), (q, d) = task.omega.shape, task.u.shape[-2:]
    D = d + (1 + q) * d_e
    if N < 2:
        raise ValueError(f"a prompt needs at least 2 tokens, got {N}")
    if architecture == "transformer":
        return retrieval.forward, retrieval.initial_weights(D, widths[0], generator, E)
    if architecture == "recurrent":
        cells = RecurrentSpec(D, widths[0])
        start = baselines.initial_weights(cells, E, generator)
        return functools.partial(baselines.forward, cells), start
    layers = FeedforwardSpec(N * D, widths, N)
    start = baselines.initial_weights(layers, E, generator)
    return functools.partial(_all_at_once, layers), start


def learn(
    architecture: str,
    task: Task,
    tests: Mapping[str, Task],
    generator: Generator,
    *,
    widths: tuple[int, ...],
    learning_rate: float,
    steps: int,
    stop: float,
    B: int = 64,
    samples: int = 0,
    check_every: int = 10,
    test_prompts: int = 400,
) -> Record:
    """Train E runs until each is below an error in every test, or has used up its steps.

    Args:
        architecture: One of :data:`ARCHITECTURES`.
        task: Instances, one a run.
        tests: Tasks that test prompts are drawn from, before training, by name; with the encodings
            and directions of ``task``.
        generator: Of the initial weights.
        widths: Of the network, as for :func:`learner`.
        learning_rate: Of AdamW, with weight decay 0.01.
        steps: Most steps of a run.
        stop: Mean squared error below which a run ends.
        B: Prompts in a step; all of them if there are fewer.
        samples: Distinct prompts of a run, shuffled anew in every epoch; 0: none returns.
        check_every: Steps between two tests.
        test_prompts: Prompts of one test.

    Raises:
        ValueError: no tests, or a number outside its range.

    Cost: the steps, and ``test_prompts`` forward passes for each test every ``check_every`` steps.
    """
    if not tests:
        raise ValueError("at least one test is needed")
    if samples < 0:
        raise ValueError(f"samples must be at least 0, got {samples}")
    require_positive(test_prompts=test_prompts, B=B)
    forward, start = learner(architecture, task, widths, generator)
    models = torch.arange(len(task.omega))
    given = [each.examples(models, each.prompts(models, test_prompts)) for each in tests.values()]
    found: list[Tensor] = []  # at each check, (tests, E)

    def examine(weights: Weights, alive: Tensor) -> Tensor:
        errors = [squared_error(forward(weights, x[alive]), y[alive]) for x, y in given]
        row = torch.full((len(given), len(models)), math.nan, dtype=torch.float64)
        row[:, alive] = torch.stack(errors).double()
        found.append(row)
        return row[:, alive].amax(0)

    trained = train(
        forward,
        start,
        task.fixed(samples, min(B, samples)) if samples else task.fresh(B),
        steps=steps,
        learning_rate=learning_rate,
        check_every=check_every,
        threshold=stop,
        evaluate=examine,
    )
    errors = torch.stack(found, 1)  # (tests, C, E)
    B = min(B, samples) if samples else B
    return Record(B * torch.tensor(trained.checks), dict(zip(tests, errors, strict=True)))


def median(counts: Counts) -> tuple[float, bool]:
    """Median of counts by the estimate of Kaplan and Meier.

    Returns:
        The first count at which the share of runs still waiting is at most one half, and True; the
        largest count and False, if there is none: then the median is larger.

    Source: Kaplan and Meier (1958).
    """
    _require_runs(counts)
    data = stats.CensoredData.right_censored(counts.prompts.numpy(), ~counts.reached.numpy())
    waiting = stats.ecdf(data).sf
    for count, share in zip(waiting.quantiles, waiting.probabilities, strict=True):
        if share <= 0.5 + 1e-12:
            return float(count), True
    return float(counts.prompts.max()), False


def later(first: Counts, second: Counts) -> float:
    r"""Chance that runs without a difference would look as if the second group needed more.

    Every pair of runs scores 1 if the first run surely needed less, -1 if it surely needed more,
    and 0 if that is open: a censored run surely needs more than one that reached the error with no
    more prompts than the censored one saw. Gehan's statistic is the sum over pairs of one run of
    each group. The chance is exact: the share of all ways to split the runs into two such groups
    whose statistic is at least as large.

    Returns:
        From one over the number of splits to 1.

    Raises:
        ValueError: a group without runs, or more than :data:`MOST_POOLED` runs.

    Source: Gehan (1965).
    """
    _require_runs(first, second)
    prompts = torch.cat((first.prompts, second.prompts))
    reached = torch.cat((first.reached, second.reached))
    count = len(prompts)
    if count > MOST_POOLED:
        raise ValueError(f"at most {MOST_POOLED} runs are compared, got {count}")
    ahead = prompts[:, None] < prompts
    tied = (prompts[:, None] == prompts) & ~reached
    sooner = (reached[:, None] & (ahead | tied)).int()
    scores = (sooner - sooner.T).sum(1).tolist()  # pairs inside a group cancel
    sums = [sum(split) for split in itertools.combinations(scores, len(first.prompts))]
    return sum(each >= sums[0] for each in sums) / len(sums)


def fewest(succeeds: Callable[[int], bool], guess: int, top: int) -> tuple[int, bool]:
    """Smallest of ``guess`` times powers of two that succeeds, if larger ones do too.

    Args:
        succeeds: Asked once for a number.
        guess: Where to begin, from 1 to ``top``; decides only what the search costs.
        top: The search goes up while it does not exceed this.

    Returns:
        The number, half of which fails or is no whole number, and True; or the largest that was
        tried, and False.
    """
    if not 1 <= guess <= top:
        raise ValueError(f"guess runs from 1 to top = {top}, got {guess}")
    n = guess
    if succeeds(n):
        while n % 2 == 0 and succeeds(n // 2):
            n //= 2
        return n, True
    while 2 * n <= top:
        n *= 2
        if succeeds(n):
            return n, True
    return n, False


def _all_at_once(spec: FeedforwardSpec, weights: Weights, tokens: Tensor) -> Tensor:
    return baselines.forward(spec, weights, tokens.flatten(-2))


def _require_runs(*groups: Counts) -> None:
    for counts in groups:
        if not len(counts.prompts) or counts.prompts.shape != counts.reached.shape:
            raise ValueError(
                f"expected (E,) counts of at least one run, got {tuple(counts.prompts.shape)} "
                f"and {tuple(counts.reached.shape)}"
            )
