"""Checks of what comes in by a public door: each error names the value and what is allowed."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the choices, which it lists."""
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose one of {', '.join(choices)}")


def require_positive(**sizes: float) -> None:
    """Raise ValueError for the first size below 1 or not finite, naming it."""
    for name, size in sizes.items():
        if not 1 <= size < math.inf:
            raise ValueError(f"{name} must be at least 1, got {size}")


def require_floating(**given: Tensor) -> None:
    """Raise TypeError for the first tensor that is not floating, naming it."""
    for name, value in given.items():
        if not value.is_floating_point():
            raise TypeError(f"{name} must be floating, got {value.dtype}")


def require_scale(**values: float) -> None:
    """Raise ValueError for the first number that is not positive and finite, naming it."""
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value}")


def require_amount(**values: float) -> None:
    """Raise ValueError for the first number that is negative or not finite, naming it."""
    for name, value in values.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value}")


def require_probability(**values: float) -> None:
    """Raise ValueError for the first number that is not above 0 and below 1, naming it."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {value}")


def require_bits(bits: Tensor) -> None:
    """Raise ValueError for a number that is neither 0 nor 1, whatever the dtype, naming it.

    Inside ``vmap`` no value can be read, and nothing is checked.
    """
    if readable(bits):
        wrong = bits[(bits != 0) & (bits != 1)]
        if wrong.numel():
            raise ValueError(f"bits are 0 or 1, got {wrong[0].item()}")


def require_whole(**given: Tensor) -> None:
    """Raise TypeError for the first tensor that is floating or complex, naming it."""
    for name, value in given.items():
        if value.is_floating_point() or value.is_complex():
            raise TypeError(f"{name} must be integer or bool, got {value.dtype}")


def readable(values: Tensor) -> bool:
    """Whether numbers can be read from a tensor; not inside the transforms of torch.func."""
    return not torch._C._functorch.is_functorch_wrapped_tensor(values)
