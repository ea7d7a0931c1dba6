r"""A decorator for functions of numbers or of tensors that broadcast, range checks, a bisection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, get_type_hints

import torch
from torch import Tensor

ZERO, ONE = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
FIVE_PERCENT = torch.tensor(0.05, dtype=torch.float64)
_HALVINGS = 66  # of an interval of 200: below the rounding of float64


def elementwise(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """Let a function of float64 tensors take numbers too.

    Whatever is given for an argument of type ``Tensor``, ``Tensor | None`` or ``Sequence[Tensor]``
    becomes a float64 tensor, or several. The result is a float if all of them were numbers, and a
    tensor as soon as one was a tensor. Other arguments are left as they are.

    Raises:
        TypeError: for the first of them that is no number and no real tensor, naming it.
        ValueError: for the first that is not finite, naming it.
    """
    form, kinds = signature(function), get_type_hints(function)

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        given = form.bind(*args, **named)
        seen: list[Any] = []
        for name, value in given.arguments.items():
            if kinds[name] == Sequence[Tensor]:
                seen += value
                each = (_tensor(f"{name}[{k}]", v) for k, v in enumerate(value))
                given.arguments[name] = tuple(each)
            elif kinds[name] is Tensor or (kinds[name] == Tensor | None and value is not None):
                seen.append(value)
                given.arguments[name] = _tensor(name, value)
        result = function(*given.args, **given.kwargs)
        return result if result.ndim or any(isinstance(v, Tensor) for v in seen) else result.item()

    return called


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, bool | str) or value is None:
        raise TypeError(f"{name} must be a number or a tensor, got {value!r}")
    if isinstance(value, Tensor) and (value.is_complex() or value.dtype == torch.bool):
        raise TypeError(f"{name} must be real, got {value.dtype}")
    tensor = torch.as_tensor(value, dtype=torch.float64)  # without it 0.1 is a float32
    if not tensor.isfinite().all():
        raise ValueError(f"{name} must be finite, got {plain(tensor)}")
    return tensor


def zero(rising: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> Tensor:
    """Where an increasing function changes sign: bisection, for every element."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = rising(middle) > 0
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    return low


def require_above_zero(**given: Tensor) -> None:
    """Raise ValueError for the first tensor with an element that is not positive, naming it."""
    for name, value in given.items():
        if not (value > 0).all():
            raise ValueError(f"{name} must be positive, got {plain(value)}")


def require_within(name: str, value: Tensor, low: float, high: float | Tensor = math.inf) -> None:
    """Raise ValueError for an element below ``low`` or above ``high``, naming all three."""
    if not ((value >= low) & (value <= high)).all():
        top = plain(torch.as_tensor(high))
        span = f"at least {low}" if top == "inf" else f"from {low} to {top}"
        raise ValueError(f"{name} must be {span}, got {plain(value)}")


def require_integers(**given: Tensor) -> None:
    """Raise ValueError for the first tensor with an element that is no whole number, naming it."""
    for name, value in given.items():
        if not (value == value.round()).all():
            raise ValueError(f"{name} must be a whole number, got {plain(value)}")


def require_sample(kl: Tensor, m: Tensor, delta: Tensor) -> None:
    """Raise ValueError for nats, a sample size or a probability of failure out of range."""
    require_within("kl", kl, 0)
    require_within("m", m, 1)
    require_failure(delta)


def require_failure(delta: Tensor) -> None:
    """Raise ValueError unless a probability of failure lies between 0 and 1."""
    if not ((delta > 0) & (delta < 1)).all():
        raise ValueError(f"delta must lie between 0 and 1, both excluded, got {plain(delta)}")


def plain(value: Tensor) -> str:
    """A number, or the ends of a tensor's range."""
    if value.ndim == 0:
        return f"{value.item():.10g}"
    if not value.numel():
        return "none"
    return f"{value.min().item():.6g} to {value.max().item():.6g}"
