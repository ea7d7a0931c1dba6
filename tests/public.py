"""The public functions of numbers, by inspection, and how a test calls one.

A new function is found without being told; ``tests/fuzz_given.py`` has the arguments that cannot be
guessed from an annotation.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import signal
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

import helpers
from helpers.draws import Draws

LEFT_OUT = {  # modules whose functions are given no numbers from outside
    "book": "the book's machinery takes names, files and claims; tests/book tries it",
    "run": "the command line; tests/book/test_run.py tries it",
    "checks": "the doors themselves; tests/test_checks.py tries them",
    "nets.feedforward": "a layer of transformer.forward, which checks; tests/nets/test_fused.py",
    "nets.fused": "pieces of such a layer; tests/nets/test_fused.py tries them",
    "sharper.elementwise": "the doors of one room; its own tests try them",
}
FIRST = {  # what an argument of this name is tried with first
    **{"n": (4, 6, 8, 3), "N": (5, 8, 20), "d": (3,), "T": (4, 6), "d_e": (6, 8, 40)},
    **{"degree": (2,), "width": (8, 32), "level": (0.5, 0.95)},
}
ERRORS = (ValueError, TypeError, OverflowError, KeyError)
NOISE = re.compile(r"\bkey_bias$")
SECONDS = 2.0  # of the processor, for one call

Taken = dict[str, tuple[Any, inspect.Parameter]]


class Hang(BaseException):
    """A call that did not come back."""


def kind_of(hint: Any) -> Any:
    """The annotation without None."""
    return typing.get_args(hint)[0] if type(None) in typing.get_args(hint) else hint


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Its arguments but *args and **named."""
    given = inspect.signature(function).parameters.items()
    return {k: p for k, p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def needed(taken: Taken) -> dict[str, Any]:
    """Annotations of the arguments without a default."""
    return {name: kind for name, (kind, p) in taken.items() if p.default is p.empty}


def taken_by(function: Callable[..., Any]) -> Taken:
    """What a function, or a class, takes: the kind of each argument, and the argument."""
    made = function.__init__ if inspect.isclass(function) else function
    hints = typing.get_type_hints(made, include_extras=True)
    return {k: (kind_of(hints.get(k)), p) for k, p in parameters(function).items()}


def public() -> dict[str, tuple[Callable[..., Any], Taken]]:
    """Functions, and classes that check what they are given, with what they take, by name."""
    found = {}
    for module in pkgutil.walk_packages(helpers.__path__, "helpers."):
        name = module.name.removeprefix("helpers.")
        if name.startswith(tuple(LEFT_OUT)) or "._" in name:
            continue
        for key, value in vars(importlib.import_module(module.name)).items():
            own = getattr(value, "__module__", None) == module.name and not key.startswith("_")
            checked = inspect.isclass(value) and hasattr(value, "__post_init__")
            if own and (inspect.isfunction(value) or checked):
                found[f"{name}.{key}"] = value, taken_by(value)
    return found


PUBLIC = public()


def call(function: Callable[..., Any], given: dict[str, Any], seconds: float = SECONDS) -> Any:
    """What a call gives, within its time; a type stands for a fresh source of randomness."""

    def stop(*_: Any) -> None:
        raise Hang

    made = {torch.Generator: lambda: torch.Generator().manual_seed(0), Draws: lambda: Draws(0)}
    given = {k: made[v]() if isinstance(v, type) else v for k, v in given.items()}
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
    """The entries of tuples, lists, dictionaries and dataclasses, down to what is none of them.

    The bias of keys is left out: softmax ignores it, its gradient is a residue of rounding, and
    Adam makes that a step like any other.
    """
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        answer = vars(answer)
    if isinstance(answer, pd.DataFrame):
        answer = answer.to_dict("list")
    if isinstance(answer, dict):
        answer = [entry for key, entry in answer.items() if not NOISE.search(str(key))]
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
