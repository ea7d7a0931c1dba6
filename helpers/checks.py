"""Checks of what comes in by a public door: each error names the value and what is allowed."""

from __future__ import annotations

import math

from torch import Tensor


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the choices, which it lists."""
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose one of {', '.join(choices)}")


def require_positive(**sizes: int) -> None:
    """Raise ValueError for the first size below 1, naming it."""
    for name, size in sizes.items():
        if size < 1:
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
