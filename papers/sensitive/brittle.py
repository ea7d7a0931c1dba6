r"""The second paper's learned models: four functions of one length, and how brittle a fit is.

Targets lie in [0, 1], as in the authors' code, so that squared differences are a quarter of those
between functions into [-1, 1]; :func:`sharpness` is in the unit of the theory, four times larger.
Positions are left out of the norm and of the noise, as in the paper.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from statistics import median_high
from typing import Any, NamedTuple

import torch
from torch import Tensor

from helpers.checks import (
    require_bits,
    require_choice,
    require_finite,
    require_positive,
    require_whole,
    validated,
)
from helpers.cube import bits
from helpers.nets.spec import TransformerSpec, shapes
from helpers.nets.transformer import forward, initial_weights
from helpers.sharpness import Estimate, direction_sharpness
from helpers.statistics import resampled
from helpers.training.batches import Pair, fresh, whole
from helpers.training.train import Trained, train
from helpers.weights import Weights, ensemble_of
from papers.sensitive.magnification import layer_norm_blowup

FUNCTIONS = ("PARITY", "MAJORITY", "FIRST", "MEAN")
RECIPE = {"learning_rate": 2e-3, "weight_decay": 0.1}
"""Settings with which PARITY of up to 10 bits is learned at width 32 in some thousand steps."""
BATCH = 128
CONVERGED = 1e-3
"""A run counts as converged if its mean squared error, for targets in [0, 1], is at most this."""
SIGMA = 0.02
"""Standard deviation of the noise in every weight with which the paper measures sharpness."""
FIXED = "positions"
"""The weight that gets no noise and does not count in the norm."""
TABLE_1 = {
    "columns of the model": "128",
    "strings in a step": "1024, drawn anew",
    "steps of a run": "10000",
    "learning rate": "0.0003",
    "weight decay": "0.1",
}
"""Settings in the paper's Table 1 that a chapter may change; its own choices count as text."""


@validated
def spec(n: int, width: int = 32) -> TransformerSpec:
    """The second paper's model: two layers of two heads, norm after each block, last token read.

    The feedforward blocks are as wide as the stream, and half of its columns are a learned
    position beside the token, as in the authors' code. The paper has width 128.

    Args:
        n: Bits, at least 1.
        width: Columns, even.
    """
    return TransformerSpec(n, width, layers=2, heads=2, hidden=width, join="concat")


def targets(name: str, strings: Tensor) -> Tensor:
    r"""What a function says of bit strings, in [0, 1].

    PARITY is 1 iff the number of ones is odd, MAJORITY iff more than half of the bits are one.
    FIRST is the first bit, MEAN the share of ones.

    Args:
        name: One of :data:`FUNCTIONS`.
        strings: Bits, shape ``(*, n)``, integers in {0, 1}, n at least 1.

    Returns:
        Shape ``(*)``, float32.

    Raises:
        ValueError: another name, no bits, or entries other than 0 and 1.
        TypeError: strings are floating.

    Source: Hahn and Rofin (2024), Section 2.
    """
    require_choice("function", name, FUNCTIONS)
    require_whole(bits=strings)
    if not strings.ndim or not strings.shape[-1]:
        raise ValueError(f"expected bit strings (..., n), n >= 1, got {tuple(strings.shape)}")
    require_bits(strings)
    ones, n = strings.sum(-1), strings.shape[-1]
    if name == "PARITY":
        return (ones % 2).float()
    if name == "MAJORITY":
        return (2 * ones > n).float()
    return strings[..., 0].float() if name == "FIRST" else ones.float() / n


@validated
def strings_of(n: int, most: int = 4096, generator: torch.Generator | None = None) -> Tensor:
    """All strings of n bits if there are at most ``most``, else so many random ones.

    Returns:
        Shape ``(min(2**n, most), n)``, int64.

    Raises:
        ValueError: n or ``most`` below 1.
    """
    require_positive(n=n, most=most)
    if 2**n <= most:
        return bits(n)
    return torch.randint(0, 2, (most, n), generator=generator)


def seeded(model: TransformerSpec, seeds: Sequence[int]) -> tuple[list[torch.Generator], Weights]:
    """One generator a seed, and initial weights ``(E, ...)``, those of a model from its own.

    Raises:
        ValueError: no seeds.
    """
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    own = iter(generators)
    return generators, ensemble_of(len(seeds), lambda: initial_weights(model, None, next(own)))


@validated
def learn(
    model: TransformerSpec,
    names: Sequence[str],
    seeds: Sequence[int],
    steps: int,
    *,
    B: int = BATCH,
    **options: Any,
) -> Trained:
    """Train one model on each function, all side by side.

    Args:
        model: As of :func:`spec`.
        names: The function of each model, of :data:`FUNCTIONS`.
        seeds: One for each model, at least 0; it determines initial weights and strings, whatever
            else is in the stack.
        steps: Of AdamW, at least 1; all are taken unless ``threshold`` is among the options.
        B: Fresh random strings in a step, at least 1. If ``2**n <= B`` every batch is the cube
            itself: the gradient then has no noise.
        options: Of :func:`helpers.training.train.train`, in place of :data:`RECIPE`:
            ``learning_rate`` and ``weight_decay`` may be one a model, ``metrics`` are functions of
            weights and models.

    Raises:
        ValueError: an unknown name, as many seeds missing, a number out of range, and as of
            :func:`helpers.training.train.train`.
    """
    if len(seeds) != len(names):
        raise ValueError(f"{len(names)} functions need as many seeds, got {len(seeds)}")
    generators, weights = seeded(model, seeds)
    if 2**model.n <= B:
        cube = bits(model.n)
        batches = whole(cube, torch.stack([targets(name, cube) for name in names]), shared=True)
    else:

        def draw(e: int, size: int, generator: torch.Generator) -> Pair:
            strings = torch.randint(0, 2, (size, model.n), generator=generator)
            return strings, targets(names[e], strings)

        batches = fresh(draw, B, generators)
    network = functools.partial(forward, model)
    return train(network, weights, batches, steps=steps, **(RECIPE | options))


@validated
def sharpness(
    model: TransformerSpec,
    weights: Weights,
    strings: Tensor,
    draws: int = 10,
    generator: torch.Generator | None = None,
) -> Estimate:
    r"""Average direction sharpness in the unit of the theory, for a model with outputs in [0, 1].

    .. math:: 4\, \mathbb E_x \mathbb E_\Delta (T_{\theta + \Delta}(x) - T_\theta(x))^2, \qquad
        \Delta \sim N(0, \sigma^2 I)

    with sigma = :data:`SIGMA`, noise in every weight but the positions, and the mean over the given
    strings. It is 1 for a model into {-1, 1} of which the noise makes 0, that is 1/2 here.

    Args:
        model: As of :func:`spec`.
        weights: Of one model, or of an ensemble ``(E, ...)``.
        strings: Shape ``(B, n)``, at least one, the same for all models.
        draws: Of the noise, at least 2; each is used for all strings.
        generator: Source of the noise; None: torch's own.

    Returns:
        Mean over draws, its standard error given the strings, and the draws; each with an axis
        ``(E,)`` in front for an ensemble.

    Raises:
        ValueError: numbers out of range, or weights of other shapes.

    Source: Hahn and Rofin (2024), Eq. (15) and Section 7.1.
    """
    found = direction_sharpness(
        functools.partial(forward, model),
        weights,
        strings,
        SIGMA,
        draws,
        generator,
        shape="gaussian",
        without=FIXED if FIXED in weights else (),
        ensemble=_is_ensemble(model, weights),
    )
    return Estimate(4 * found.mean, 4 * found.stderr, 4 * found.values)


def blowup(model: TransformerSpec, weights: Weights, strings: Tensor) -> Tensor:
    r"""Mean over strings of the product of what the layer norms magnify.

    As in the paper's experiments: its theory adds 1 to every factor, see
    :func:`papers.sensitive.magnification.layer_norm_blowup`. In the last layer only the token
    that is read counts.

    Args:
        model: As of :func:`spec`.
        weights: With any leading axes ``*``.
        strings: Shape ``(B, n)``.

    Returns:
        Shape ``(*)``.

    Raises:
        ValueError: shapes that do not fit.
    """
    with torch.no_grad():
        _, seen = forward(model, weights, strings, intermediates=True)
    inputs = [Y for name, Y in seen.items() if name.endswith((".norm1.input", ".norm2.input"))]
    return layer_norm_blowup(inputs, model.norm_eps, form="code").mean(-1)


def parameter_norm(model: TransformerSpec, weights: Weights) -> Tensor:
    r"""Euclidean norm of all weights but the positions, shape ``(*)`` of their leading axes.

    Positions are left out so that models of different lengths compare. Source: Hahn and Rofin
    (2024), Section 7.1.
    """
    squares = [
        weights[name].square().flatten(-len(shape)).sum(-1)
        for name, shape in shapes(model).items()
        if name != FIXED
    ]
    return torch.stack(squares).sum(0).sqrt()


def squared_risk(
    model: TransformerSpec, weights: Weights, strings: Tensor, values: Tensor
) -> Tensor:
    """Mean squared error on given strings, shape ``(*)`` of the weights' leading axes.

    Args:
        model: As of :func:`spec`.
        weights: With any leading axes ``*``.
        strings: Shape ``(B, n)``.
        values: What they should give, shape ``(B,)`` or ``(*, B)``.
    """
    with torch.no_grad():
        outputs = forward(model, weights, strings)
    if values.shape not in (outputs.shape, outputs.shape[-1:]):
        raise ValueError(
            f"expected values of shape {tuple(outputs.shape[-1:])} or {tuple(outputs.shape)}, "
            f"got {tuple(values.shape)}"
        )
    return (outputs - values).square().mean(-1)


class Brittleness(NamedTuple):
    """What is measured of E models, each tensor ``(E,)``.

    Attributes:
        mse: Mean squared error, for targets in [0, 1].
        sharpness: See :func:`sharpness`.
        stderr: Its standard error over draws of the noise.
        blowup: See :func:`blowup`, in the form of the code.
        norm: See :func:`parameter_norm`.
    """

    mse: Tensor
    sharpness: Tensor
    stderr: Tensor
    blowup: Tensor
    norm: Tensor


def measure(
    model: TransformerSpec,
    weights: Weights,
    names: Sequence[str],
    draws: int = 10,
    generator: torch.Generator | None = None,
) -> Brittleness:
    """Error, sharpness, blow-up and norm of an ensemble, on all strings or on 4,096 of them.

    Args:
        model: As of :func:`spec`.
        weights: Each ``(E, ...)``.
        names: The function of each model.
        draws: Of the noise, at least 2.
        generator: Source of the noise, and of the strings where not all are taken.

    Raises:
        ValueError: as many names missing, or as of the measures.
    """
    E = len(next(iter(weights.values())))
    if not _is_ensemble(model, weights) or len(names) != E:
        raise ValueError(f"expected the weights of {len(names)} models, got an axis of {E}")
    strings = strings_of(model.n, generator=generator)
    values = torch.stack([targets(name, strings) for name in names])
    sharp = sharpness(model, weights, strings, draws, generator)
    return Brittleness(
        squared_risk(model, weights, strings, values),
        sharp.mean,
        sharp.stderr,
        blowup(model, weights, strings),
        parameter_norm(model, weights),
    )


def differing(settings: Mapping[str, object]) -> dict[str, list[str]]:
    """Columns of a table with every setting of a chapter that differs from the paper's.

    Args:
        settings: Name to the paper's and the chapter's own, a pair; of :data:`TABLE_1` the
            chapter's own alone.

    Raises:
        KeyError: a setting without the paper's that Table 1 does not have.
    """
    pairs = {
        name: value if isinstance(value, tuple) else (TABLE_1[name], value)
        for name, value in settings.items()
    }
    rows = [(name, str(a), str(b)) for name, (a, b) in pairs.items() if str(a) != str(b)]
    return {head: [row[i] for row in rows] for i, head in enumerate(("setting", "paper", "here"))}


def provenance(made: Mapping[str, Any]) -> dict[str, str]:
    """Rows of a table that say how a stored run was made, from the JSON beside it.

    A commit that ends in ``-dirty`` is one from whose files those of the run differed.
    """
    commit = str(made["commit"])
    unclean = ", with changes not committed" if commit.endswith("-dirty") else ""
    rows = {"made": f"{made['date']}, {made['seconds']:.0f} s on {made['device']}"}
    rows["program"] = f"commit {commit[:10]}{unclean}; torch {made['versions']['torch']}"
    settings = {k.removeprefix("big_"): v for k, v in made["parameters"].items() if k != "series"}
    return rows | {name.replace("_", " "): str(value) for name, value in settings.items()}


@validated
def by_chance(
    read: Callable[[Tensor], float],
    values: Tensor,
    strata: Tensor,
    generator: torch.Generator,
    times: int = 25,
) -> float:
    """Median of what ``read`` finds in values ``(E,)`` shuffled within strata ``(E,)``.

    It is a control: the same number where labels mean nothing.
    """
    require_finite(strata=strata)
    orders = resampled(strata.long(), times, generator, replace=False)
    return median_high([float(read(values[order])) for order in orders])


@validated
def first_below(values: Tensor, level: float) -> Tensor:
    """Look ``(E,)`` at which each of the ``(E, looks)`` is first below a level; else ``looks``."""
    below = values < level
    return torch.where(below.any(1), below.int().argmax(1), values.shape[1])


def window(values: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """Mean ``(E,)`` of each run's looks from ``start`` to before ``stop``, both ``(E,)``.

    Values are ``(E, looks)``.

    Raises:
        ValueError: a window is empty or leaves its run.
    """
    looks = values.shape[1]
    for e, (a, b) in enumerate(zip(start.tolist(), stop.tolist(), strict=True)):
        if not 0 <= a < b <= looks:
            raise ValueError(f"window [{a}, {b}) of run {e} is empty or leaves its {looks} looks")
    at = torch.arange(looks)
    inside = (at >= start[:, None]) & (at < stop[:, None])
    return values.where(inside, 0).sum(1) / inside.sum(1)


@validated
def aligned(values: Tensor, at: Tensor, before: int, after: int) -> Tensor:
    """Looks of each run around one of its own, nan where it has none: ``(E, before + after)``.

    Values are ``(E, looks)``; look ``at``, of shape ``(E,)``, comes to stand at ``before``.
    """
    look = at[:, None] + torch.arange(-before, after)
    found = values.gather(1, look.clamp(0, values.shape[1] - 1))
    return found.masked_fill((look < 0) | (look >= values.shape[1]), float("nan"))


def _is_ensemble(model: TransformerSpec, weights: Weights) -> bool:
    name, shape = next(iter(shapes(model).items()))
    return weights[name].ndim > len(shape)
