"""Learning sparse functions from random strings: data, the recipe that converges, and the gap.

One model learns one function from one data set, all drawn from its own generator, so that no
model's data depend on which others are trained beside it. The recipe is the first paper's but for
what :func:`paper_spec` and :func:`start` say of scores and embeddings, and without dropout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from helpers.checks import require_positive, validated
from helpers.cube import SparseFunction, index_of, indices, sparse_function
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.training.batches import fixed
from helpers.training.ensemble import Trained
from helpers.training.train import train
from helpers.weights import Forward, Weights
from papers.sharper import lean

SLOW = {"layers.1.query": 0.1, "layers.1.key": 0.1}
"""Rates of the second layer's queries and keys with which sparsity 7 and 14 are learned."""


@dataclass(frozen=True)
class Samples:
    """Functions and the strings from which they are learned, one of each a model.

    Attributes:
        functions: The function of each model, all on the same number of bits.
        bits: Training strings, shape ``(E, N, n)``, uint8.
        targets: Values of the functions there, shape ``(E, N)``, float32.
        generators: The source of each model's randomness from here on: order of batches, weights.
    """

    functions: tuple[SparseFunction, ...]
    bits: Tensor
    targets: Tensor
    generators: tuple[torch.Generator, ...]

    @property
    def n(self) -> int:
        """Bits of a string."""
        return self.bits.shape[-1]


@validated
def draw(n: int, classes: Sequence[tuple[int, int]], N: int, seeds: Sequence[int]) -> Samples:
    """Random functions of given degrees and sparsities, each with N uniform strings.

    Args:
        n: Bits, 1 to 62.
        classes: Degree and sparsity of each model's function, in the basis of characters.
        N: Strings a model, at least 1; drawn with replacement, as in the paper.
        seeds: One for each model; a seed and a class determine function, strings and generator. No
            two classes share a generator while seeds lie between 0 and 9999.

    Raises:
        ValueError: no models, as many seeds as classes are missing, or N below 1.
    """
    if not classes or len(seeds) != len(classes):
        raise ValueError(f"{len(classes)} classes need as many seeds, at least 1; got {len(seeds)}")
    require_positive(N=N)
    functions, bits, generators = [], [], []
    for (degree, sparsity), seed in zip(classes, seeds, strict=True):
        generator = torch.Generator().manual_seed(1_000_000 * degree + 10_000 * sparsity + seed)
        functions.append(sparse_function(n, degree, sparsity, generator))
        bits.append(torch.randint(0, 2, (N, n), generator=generator, dtype=torch.uint8))
        generators.append(generator)
    targets = [f(index_of(b)) for f, b in zip(functions, bits, strict=True)]
    return Samples(
        tuple(functions), torch.stack(bits), torch.stack(targets).float(), tuple(generators)
    )


@validated
def paper_spec(
    n: int, *, scale: float = 0.4, value_width: int = 30, hidden: int = 128, **options: Any
) -> TransformerSpec:
    r"""The first paper's learned model, in the form that the authors' newest code has.

    Two layers of one head; the second without a feedforward block; one-hot positions beside a
    learned bit; no layer norm, no biases in attention, no projection; read at an output position
    whose token is zero.

    Args:
        n: Bits.
        scale: Scores are multiplied by :math:`\text{scale} \cdot \log(n + 1) / \sqrt{D}`. The
            paper has 2; with 0.4 training is reliable.
        value_width: Columns beside the positions.
        hidden: Units of the feedforward block.
        options: Further fields of :class:`helpers.nets.transformer.TransformerSpec`, such as
            ``positional=True``: a first attention that reads positions only, as the construction's
            does. That is a sub-model of the paper's.
    """
    require_positive(n=n, value_width=value_width, hidden=hidden)
    width = n + 1 + value_width
    return TransformerSpec(
        n,
        width,
        hidden=(hidden, 0),
        norm="none",
        positions="onehot",
        join="concat",
        readout="cls",
        zero_cls=True,
        bias=False,
        project=False,
        logit_scale=scale * math.log(n + 1) / math.sqrt(width),
        **options,
    )


def start(spec: TransformerSpec, samples: Samples) -> Weights:
    """Initial weights, each model's from its own generator, tokens centred, float32.

    Centring decides whether degree 3 and more are learned at n = 20: the part of the embedding
    that both bits share only feeds noise into queries.
    """
    models = [transformer.initial_weights(spec, None, g, centred=True) for g in samples.generators]
    return {name: torch.stack([m[name] for m in models]) for name in models[0]}


@validated
def learn(
    samples: Samples,
    spec: TransformerSpec,
    *,
    steps: int,
    batch_size: int,
    threshold: float = 0.02,
    **options: Any,
) -> Trained:
    """Train a model on each sample until its mean loss over an epoch is below the threshold.

    Args:
        samples: Data of E models, which learn side by side.
        spec: Of all models.
        steps: Most steps of a model.
        batch_size: Strings in a step, at most N.
        threshold: Where a model stops, looked at after each epoch, but every 16 steps at most.
        options: Further arguments of :func:`helpers.training.train.train`.

    Source: Lintilhac and Shaikh (2026), Appendix A; rate 0.003 and weight decay 0.0001.
    """
    N = samples.bits.shape[1]
    size = min(batch_size, N)
    return train(
        partial(lean.forward, spec),
        start(spec, samples),
        fixed(samples.bits, samples.targets, size, samples.generators),
        steps=steps,
        learning_rate=3e-3,
        weight_decay=1e-4,
        check_every=max(16, -(-N // size)),
        threshold=threshold,
        **options,
    )


@validated
def gap_table(
    samples: Samples,
    forward: Forward,
    trained: Trained,
    *,
    fresh: int | None = None,
    generator: torch.Generator | None = None,
    chunk: int = 1024,
) -> pd.DataFrame:
    """One row a model: its class, its training, and its gap at the end.

    Args:
        samples: What the models were trained on.
        forward: ``forward(weights, bits) -> (E, B)``.
        trained: By :func:`learn`.
        fresh: Number of uniform strings on which the risk is estimated, at least 2, the same for
            all models; None: every string of the cube, n at most 20, which is exact.
        generator: Source of the fresh strings.
        chunk: Strings a forward pass takes.

    Returns:
        Columns ``degree, sparsity, steps, finished, train, gap, stderr``: ``train`` is the mean
        squared error of the final weights on the training strings, ``gap`` that on uniform strings
        less ``train``, ``stderr`` the standard error of the risk, 0 if all strings were taken.

    Raises:
        ValueError: ``fresh`` below 2, the whole cube of more than 20 bits, or outputs of another
            shape.

    Cost: ``N + fresh`` forward passes a model.
    """
    n, weights = samples.n, trained.weights
    if fresh is None and n > 20:
        raise ValueError(f"the whole cube is taken up to n = 20, got {n}; say how many fresh ones")
    if fresh is not None and fresh < 2:
        raise ValueError(f"fresh must be at least 2, got {fresh}")
    points = indices(n) if fresh is None else torch.randint(2**n, (fresh,), generator=generator)
    strings = (points[:, None] >> torch.arange(n) & 1).to(torch.uint8)
    targets = torch.stack([f(points) for f in samples.functions])

    def errors(bits: Tensor, targets: Tensor) -> Tensor:
        device = next(iter(weights.values())).device
        with torch.no_grad():
            parts = [forward(weights, part.to(device)).cpu() for part in bits.split(chunk, -2)]
        outputs = torch.cat(parts, -1).double()
        if outputs.shape != targets.shape:
            found, needed = tuple(outputs.shape), tuple(targets.shape)
            raise ValueError(f"forward gives one number a model and string, {needed}, got {found}")
        return (outputs - targets).square()

    train = errors(samples.bits, samples.targets.double()).mean(1)
    test = errors(strings, targets)
    columns = {
        "degree": [f.degree for f in samples.functions],
        "sparsity": [f.sparsity for f in samples.functions],
        "steps": trained.steps.tolist(),
        "finished": trained.finished.int().tolist(),
        "train": train.tolist(),
        "gap": (test.mean(1) - train).tolist(),
        "stderr": (test.std(1) / math.sqrt(len(points)) * (fresh is not None)).tolist(),
    }
    return pd.DataFrame(columns)
