"""The public functions of numbers, by inspection, and values for what they take.

A new function is found without being told: its arguments are made from their annotations.
"""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import functools
import importlib
import inspect
import itertools
import pkgutil
import signal
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

import helpers
from helpers import cube
from helpers.checks import OrInfinite
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.rng import Rng, f64
from helpers.sharpness import SquaredLoss
from helpers.weights import Weights

TRIED = ("statistics", "weights", "kernels", "cube", "nets", "sharpness", "training", "covers")
ERRORS = (ValueError, TypeError, OverflowError, KeyError)
SECONDS = 2.0  # of the processor, for one call

EYE = torch.eye(3, dtype=torch.float64)
SPEC = TransformerSpec(n=4, width=8, hidden=8)
NUMBERS = (0.5, 0.1, 2.0, 1.0, 10.0)


def sum_of_squares(weights: Weights) -> Tensor:
    """A loss of any weights."""
    return torch.stack([w.square().sum() for w in weights.values()]).sum()


def linear(weights: Weights, inputs: Tensor) -> Tensor:
    """Outputs of one model, or of each of an ensemble, for inputs ``(*, B, 3)``."""
    return (weights["w"].unsqueeze(-2) * inputs).sum(-1)


def examples(models: Tensor) -> tuple[Tensor, Tensor]:
    """A batch of the same four inputs for each model."""
    return torch.ones(len(models), 4, 3), torch.zeros(len(models), 4)


VALUES: dict[Any, tuple[Any, ...]] = {
    int: (2, 3, 4, 1, 5, 8, 20),
    float: NUMBERS,
    OrInfinite: NUMBERS,
    bool: (False, True),
    str: ("name",),
    Tensor: (
        *(cube.parity(3), f64([0.1, 0.2, 0.4, 0.3]), EYE, cube.bits(3), cube.parity(3) > 0),
        *(torch.stack((EYE, EYE)), EYE[None], f64([0, 1, 2]), f64([4, 2, 1]), cube.bits(4)),
        *(torch.tensor([1, 2, 5]), torch.tensor([[1, 2], [2, 4], [1, 4]]), torch.tensor([3])),
    ),
    torch.Generator: (torch.Generator,),
    Rng: (Rng,),
    Weights: (
        {"w": torch.ones(2, 3)},
        {"w": f64([1, 2, 4])},
        transformer.initial_weights(SPEC, 2, torch.Generator().manual_seed(0)),
    ),
    TransformerSpec: (SPEC,),
    Callable[[int], bool]: (lambda k: k >= 5,),
    Callable[[Tensor], Tensor]: (
        lambda x: x.double(),
        lambda x: x.double().flatten(1).sum(1),
    ),
    Callable[[Weights], Tensor]: (sum_of_squares, SquaredLoss(linear, EYE, f64([0, 1, 2]))),
    Callable[[Weights, Tensor], Tensor]: (linear,),
    Callable[[], Weights]: (lambda: {"w": f64([1, 2, 4])},),
    Callable[[Tensor], tuple[Tensor, Tensor]]: (examples,),
    Callable[[int, int, torch.Generator], tuple[Tensor, Tensor]]: (
        lambda model, B, generator: (torch.ones(B, 3), torch.ones(B)),
    ),
}
"""By an annotation, what is tried in the place of an argument that has it; a type stands for a
fresh source of randomness."""

Taken = dict[str, tuple[Any, inspect.Parameter]]


class Hang(BaseException):
    """A call that did not come back."""


def kind_of(hint: Any) -> Any:
    """The annotation without None."""
    return typing.get_args(hint)[0] if type(None) in typing.get_args(hint) else hint


def needed(taken: Taken) -> dict[str, Any]:
    """Annotations of the arguments without a default."""
    return {name: kind for name, (kind, p) in taken.items() if p.default is p.empty}


def taken_by(function: Callable[..., Any]) -> Taken:
    """The kind of each argument of a function, or a class, and the argument; not of ``*args``."""
    made = function.__init__ if inspect.isclass(function) else function
    hints = typing.get_type_hints(made, include_extras=True)
    given = inspect.signature(function).parameters.items()
    return {
        k: (kind_of(hints.get(k)), p)
        for k, p in given
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }


def public() -> dict[str, tuple[Callable[..., Any], Taken]]:
    """Functions, and classes that check what they are given, that take a number, by name."""
    found = {}
    for module in pkgutil.walk_packages(helpers.__path__, "helpers."):
        name = module.name.removeprefix("helpers.")
        if name.split(".")[0] not in TRIED or "._" in name:
            continue
        for key, value in vars(importlib.import_module(module.name)).items():
            own = getattr(value, "__module__", None) == module.name and not key.startswith("_")
            checked = inspect.isclass(value) and hasattr(value, "__post_init__")
            if own and (inspect.isfunction(value) or checked):
                taken = taken_by(value)
                if {kind for kind, _ in taken.values()} & {int, float, OrInfinite}:
                    found[f"{name}.{key}"] = value, taken
    return found


def values_of(hint: Any) -> list[Any]:
    """What is tried for an annotation; a sequence or a record is made of what its parts have."""
    if hint in VALUES:
        return list(VALUES[hint])
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return [value for part in parts for value in values_of(part)]
    if origin in (abc.Sequence, abc.Iterator, list) or (origin is tuple and parts[1:] == (...,)):
        inner = values_of(parts[0])
        rising = sorted(inner)[1:4] if parts[0] in (int, float) else []
        whole = [*[rising] * bool(rising), *([value] for value in inner)]
        return [value * 2 for value in whole] + whole if origin is list else whole
    if origin is tuple:
        columns = [values_of(part) for part in parts]
        return [tuple(row) for row in zip(*columns, strict=False)]
    if inspect.isclass(hint) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        fields = hasattr(hint, "_fields")
        need = typing.get_type_hints(hint) if fields else needed(taken_by(hint))
        columns = [values_of(kind) for kind in need.values()]
        return list(itertools.islice(_records(hint, list(need), columns), 3))
    return []


def _records(hint: Any, names: Sequence[str], columns: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """Those that can be made, each of values that stand at one place in their lists."""
    for row in zip(*columns, strict=False):
        try:
            yield hint(**dict(zip(names, row, strict=True)))
        except ERRORS:
            continue


@functools.cache
def good_call(name: str) -> dict[str, Any] | None:
    """Arguments that are answered; None where none of the first few thousand is."""
    function, taken = PUBLIC[name]
    need = needed(taken)
    lists = [values_of(kind) for kind in need.values()]
    places = [range(min(len(each), 4 if len(lists) > 5 else 13)) for each in lists]
    for place in itertools.islice(sorted(itertools.product(*places), key=sum), 4000):
        given = {key: each[i] for key, each, i in zip(need, lists, place, strict=True)}
        try:
            if not has_nan(call(function, given)):
                return given
        except (*ERRORS, RuntimeError, IndexError):
            continue
    return None


def fresh(value: Any) -> Any:
    """A source of randomness from its beginning where its type stands; anything else as it is."""
    if isinstance(value, list):
        return [fresh(entry) for entry in value]
    if value is torch.Generator:
        return torch.Generator().manual_seed(0)
    return Rng(0) if value is Rng else value


def call(function: Callable[..., Any], given: dict[str, Any], seconds: float = SECONDS) -> Any:
    """What a call gives, within its time."""

    def stop(*_: Any) -> None:
        raise Hang

    given = {key: fresh(value) for key, value in given.items()}
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(**given)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def leaves(answer: Any) -> Iterator[Any]:
    """The entries of tuples, lists, dictionaries and dataclasses, down to what is none of them."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        answer = vars(answer)
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, tuple | list):
        for entry in answer:
            yield from leaves(entry)
    else:
        yield answer


def has_nan(answer: Any) -> bool:
    """Whether a float, or one in a tensor or an array, in an answer is NaN."""
    return any(
        bool(found.isnan().any())
        if isinstance(found, Tensor)
        else isinstance(found, float | np.ndarray | np.generic)
        and bool(np.any(np.asarray(found) != np.asarray(found)))
        for found in leaves(answer)
    )


PUBLIC = public()
