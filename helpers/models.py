"""What every model shares: checks of its weights, and ensembles drawn model after model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from helpers.training import Weights

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "tanh": torch.tanh,
}


def ensemble_of(count: int, draw: Callable[[], Weights]) -> Weights:
    """The weights of several draws, stacked on a leading axis.

    Models are drawn one after the other, so that the first k of a larger ensemble are the ensemble
    of k.

    Raises:
        ValueError: no models.
    """
    if count < 1:
        raise ValueError(f"an ensemble has at least 1 model, got {count}")
    models = [draw() for _ in range(count)]
    return {name: torch.stack([m[name] for m in models]) for name in models[0]}


def check_weights(weights: Weights, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Require exactly these weights, each of its shape behind any leading axes.

    Raises:
        ValueError: a weight is missing, unknown or of another shape; names it.
    """
    if weights.keys() != shapes.keys():
        odd = sorted(weights.keys() ^ shapes.keys())
        raise ValueError(f"weights missing or unknown: {', '.join(odd)}")
    for name, shape in shapes.items():
        if weights[name].shape[-len(shape) :] != shape:
            found = tuple(weights[name].shape)
            raise ValueError(f"{name} must end in the shape {shape}, got {found}")


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the choices, which it lists."""
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose one of {', '.join(choices)}")


def require_positive(**sizes: int) -> None:
    """Raise ValueError for the first size below 1, naming it."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
