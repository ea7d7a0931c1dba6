r"""A loss at given weights: which of them move, its products with the Hessian, what memory holds.

What every measure of :mod:`helpers.sharpness` stands on, and no chapter needs to know.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import reduce, wraps
from itertools import islice
from typing import Any, TypedDict, TypeVar, cast

import torch
from torch import Tensor
from torch.func import grad, vjp, vmap

from helpers.checks import format_value, number, require_tensors, validated
from helpers.weights import Forward, Weights

Loss = Callable[[Weights], Tensor]
Names = str | Sequence[str]
Generator = torch.Generator | None
Measure = TypeVar("Measure", bound=Callable[..., Any])

MEMORY = 2**30
"""Bytes that a computation here may take, about, unless ``memory`` says otherwise."""
DIRECTIONS, INPUTS = 128, 1024
"""How many one vectorised call takes at most; more are no faster on a processor."""
PRODUCT = 3
"""Memory of a product with the Hessian, in units of what a backward pass keeps, about."""


class ParameterSelection(TypedDict, total=False):
    """Arguments that every measure here takes beside its own.

    Attributes:
        only: Names of the weights that move, or patterns as in a shell, ``"layers.1.*"``; what is
            the name of a weight is no pattern. None, which is meant if it is left out: all. The
            others are held fixed.
        without: Names or patterns of weights that are held fixed; none if left out.
        ensemble: Every weight has a leading axis of E models. The loss is shared, or a sequence of
            one a model. Results get that axis in front. The models are taken one after the other,
            and the generator serves them in that order: the same as a loop, for every measure.
        memory: Bytes to stay within, about; 2**30 if left out. Directions and inputs are taken in
            chunks of which the results do not depend, up to rounding.
    """

    only: Names | None
    without: Names
    ensemble: bool
    memory: float


def for_each_model(measure: Measure) -> Measure:
    """Make ``measure(loss, weights, ...)`` take an ensemble, one model after the other."""
    signature = inspect.signature(measure)

    @wraps(measure)
    def measured(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        what, weights, *given = bound.args
        options = bound.kwargs
        if not options.get("ensemble"):
            if isinstance(what, Sequence):
                raise TypeError("a sequence of losses needs ensemble=True")
            return measure(what, weights, *given, **options)
        sizes = {name: v.shape[0] if v.ndim else 0 for name, v in weights.items()}
        E = next(iter(sizes.values()), 0)
        if not E or set(sizes.values()) != {E}:
            raise ValueError(f"weights must share a leading axis of at least 1 model, got {sizes}")
        each = what if isinstance(what, Sequence) else [what] * E
        if len(each) != E:
            raise ValueError(f"expected one loss for each of {E} models, got {len(each)}")
        models = ({name: v[e] for name, v in weights.items()} for e in range(E))
        options["ensemble"] = False
        return _stack([measure(o, w, *given, **options) for o, w in zip(each, models, strict=True)])

    return cast(Measure, measured)


def _stack(results: Sequence[Any]) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        return torch.stack(list(results))
    if isinstance(first, dict):
        return {name: _stack([r[name] for r in results]) for name in first}
    if first is None:
        return None
    names = [f.name for f in fields(first)]
    return type(first)(**{name: _stack([getattr(r, name) for r in results]) for name in names})


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """Mean squared error over inputs, without 1/2, as a function of the weights.

    Attributes:
        forward: ``forward(weights, inputs) -> outputs (B,)``, a pure function. Gauss-Newton and
            gradients run it on one input at a time, so each output must depend on its own input
            alone, not on the batch; they refuse a model in which it does not.
        inputs: Shape ``(B, ...)``, at least one input.
        targets: Shape ``(B,)``.

    Raises:
        ValueError: no inputs, or another number of targets.

    Example:
        >>> import torch
        >>> from helpers.sharpness import SquaredLoss
        >>> forward = lambda weights, x: x @ weights["a"]
        >>> loss = SquaredLoss(forward, torch.ones(2, 1), torch.tensor([0.0, 1.0]))
        >>> loss({"a": torch.zeros(1)})
        tensor(0.5000)
    """

    forward: Forward
    inputs: Tensor
    targets: Tensor

    def __post_init__(self) -> None:
        require_inputs(self.inputs)
        if self.targets.shape != self.inputs.shape[:1]:
            raise ValueError(
                f"expected a target for each input, shape {tuple(self.inputs.shape[:1])}, "
                f"got {tuple(self.targets.shape)}"
            )

    def outputs(self, weights: Weights) -> Tensor:
        """The model's outputs, shape ``(B,)``."""
        outputs = self.forward(weights, self.inputs)
        if outputs.shape[-1:] != self.targets.shape:
            raise ValueError(
                f"the model must give one number an input, {len(self.targets)} in all, "
                f"got shape {tuple(outputs.shape)}"
            )
        return outputs

    def residuals(self, weights: Weights) -> Tensor:
        """Outputs minus targets, shape ``(B,)``, in the dtype of the outputs."""
        outputs = self.outputs(weights)
        return outputs - self.targets.to(outputs)

    def __call__(self, weights: Weights) -> Tensor:
        """The loss, a number."""
        return self.residuals(weights).square().mean(-1)


class LossAtWeights:
    """A loss at given weights, with those that move (``live``) apart from the others."""

    def __init__(self, loss: Loss, weights: Weights, choice: ParameterSelection) -> None:
        unknown = choice.keys() - ParameterSelection.__annotations__
        if unknown:
            raise TypeError(f"unknown argument {', '.join(sorted(unknown))}")
        self.loss, self.memory = loss, number("memory", choice.get("memory", MEMORY))
        names = _chosen(weights, choice.get("only"), choice.get("without", ()))
        self.live = {k: v.detach() for k, v in weights.items() if k in names}
        self.frozen = {k: v.detach() for k, v in weights.items() if k not in names}
        self.sizes = [v.numel() for v in self.live.values()]
        self.size = sum(self.sizes)
        kinds = [v.dtype for v in self.live.values()]
        self.dtype = reduce(torch.promote_types, kinds)
        self.device = next(iter(self.live.values())).device
        self.vector_bytes = self.size * self.dtype.itemsize

    def value(self, live: Weights) -> Tensor:
        """The loss with these in place of the live weights."""
        found = self.loss({**self.frozen, **live})
        if not isinstance(found, Tensor):
            raise TypeError(
                f"the loss must return a tensor, got {format_value(found)}; an item() or float() "
                "in it would hide how it depends on the weights"
            )
        if found.ndim:
            raise ValueError(f"the loss must be one number, got shape {tuple(found.shape)}")
        return found

    def unflatten(self, vectors: Tensor) -> Weights:
        """Rows ``(k, P)`` as a dict of ``(k, ...)``, each in the dtype of its weight."""
        parts = vectors.split(self.sizes, -1)
        return {
            name: part.reshape(len(vectors), *v.shape).to(v)
            for part, (name, v) in zip(parts, self.live.items(), strict=True)
        }

    def hessian(self) -> Callable[[Tensor], Tensor]:
        """Products of the Hessian with rows ``(k, P)``."""
        product = products(self.value, self.live)

        def apply(vectors: Tensor) -> Tensor:
            rows = product(self.unflatten(vectors)).values()
            return torch.cat([v.reshape(len(vectors), -1).to(self.dtype) for v in rows], 1)

        return apply

    def quadratic_forms(self, vectors: Iterator[Tensor]) -> Tensor:
        """What the Hessian makes of each vector ``(P,)``: u^T H u, shape ``(draws,)``."""
        hessian, at_once = self.hessian(), self.products_at_once()
        return torch.cat([(U * hessian(U)).sum(1) for U in chunks(vectors, at_once)])

    def losses(self, steps: Iterator[Tensor]) -> Tensor:
        """The loss after each step ``(P,)`` away, shape ``(draws,)``."""
        each = self.vector_bytes + self.loss_bytes()
        at_once = self.fits(each, "one evaluation of the loss", "fewer inputs")
        at = vmap(self.value)
        found = []
        with torch.no_grad():
            for chunk in chunks(steps, at_once):
                moved = self.unflatten(chunk)
                found.append(at({name: v + moved[name] for name, v in self.live.items()}))
        return torch.cat(found)

    def normal(self, draws: int, generator: Generator) -> Iterator[Tensor]:
        """Standard normal vectors ``(P,)``; one call each, so that chunks do not change them."""
        device = generator.device if generator else self.device
        for _ in range(draws):
            yield torch.randn(self.size, generator=generator, dtype=self.dtype, device=device).to(
                self.device
            )

    def signs(self, draws: int, generator: Generator) -> Iterator[Tensor]:
        """Vectors of independent signs."""
        device = generator.device if generator else self.device
        for _ in range(draws):
            drawn = torch.randint(2, (self.size,), generator=generator, device=device)
            yield (1 - 2 * drawn).to(self.device, self.dtype)

    def loss_bytes(self) -> int:
        """Bytes that a backward pass of the loss keeps, besides the weights.

        Of a SquaredLoss they are those of one input, times the inputs.
        """
        live = {name: v.clone().requires_grad_() for name, v in self.live.items()}
        kept: dict[int, int] = {}

        def pack(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes()
            return tensor

        loss, times = self.loss, 1
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            if isinstance(loss, SquaredLoss):
                times = len(loss.inputs)
                result = loss.forward({**self.frozen, **live}, loss.inputs[:1].clone())
            else:
                result = self.value(live)
        for weight in (*live.values(), *self.frozen.values()):
            kept.pop(weight.untyped_storage().data_ptr(), None)
        del result  # it held what was kept, so that no two had one address
        return times * sum(kept.values())

    def products_at_once(self) -> int:
        """How many products with the Hessian fit in memory together."""
        instead = "method='gauss_newton' for a trace, or fewer inputs"
        each = 2 * self.vector_bytes + PRODUCT * self.loss_bytes()
        return self.fits(each, "one product with the Hessian", instead)

    def fits(self, each: int, what: str, instead: str, most: int = DIRECTIONS) -> int:
        """How many at once, or MemoryError if not even one."""
        if each > self.memory:
            raise MemoryError(
                f"{what} takes about {each:,} bytes, more than memory = {self.memory:,.0f}; "
                f"use {instead}, or raise memory"
            )
        return int(min(most, self.memory // max(each, 1)))


def products(value: Loss, live: Weights) -> Callable[[Weights], Weights]:
    """Products of the Hessian with stacked directions: the second backward pass, vectorised."""
    pull = vjp(grad(value), live)[1]  # v to v^T H, which is H v: the Hessian is symmetric
    return vmap(lambda direction: pull(direction)[0])


@validated
def chunks(vectors: Iterator[Tensor], size: int) -> Iterator[Tensor]:
    """Vectors stacked, that many at a time."""
    while chunk := list(islice(vectors, size)):
        yield torch.stack(chunk)


def mean_and_error(values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and its standard error.

    Example:
        >>> import torch
        >>> from helpers.sharpness.point import mean_and_error
        >>> mean_and_error(torch.tensor([1.0, 3.0]))
        (tensor(2.), tensor(1.))
    """
    return values.mean(), values.std() / math.sqrt(len(values))


def require_inputs(inputs: Tensor) -> None:
    """Raise ValueError unless there is at least one input, TypeError of what is no tensor."""
    require_tensors(inputs=inputs)
    if not inputs.ndim or not len(inputs):
        raise ValueError(f"expected at least one input, got shape {tuple(inputs.shape)}")


@validated
def require_draws(draws: int) -> None:
    """Raise ValueError if there are too few draws for a standard error."""
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws}")


def _matching(weights: Weights, pattern: str) -> list[str]:
    return [name for name in weights if fnmatchcase(name, pattern)]


def _chosen(weights: Weights, only: Names | None, without: Names) -> set[str]:
    """Names of the weights that move."""

    def matched(patterns: Names) -> set[str]:
        found: set[str] = set()
        for pattern in (patterns,) if isinstance(patterns, str) else patterns:
            hits = [pattern] if pattern in weights else _matching(weights, pattern)
            if not hits:
                raise ValueError(f"no weight matches {pattern!r}; there are {', '.join(weights)}")
            found.update(hits)
        return found

    names = set(weights) if only is None else matched(only)
    names -= matched(without)
    if not names:
        raise ValueError(f"no weights left to move: only={only!r}, without={without!r}")
    for name in names:
        require_tensors(**{name: weights[name]})
        if not weights[name].is_floating_point():
            raise TypeError(
                f"weights that move must be floating, {name} is {weights[name].dtype}; "
                f"hold it fixed by without={name!r}"
            )
    return names
