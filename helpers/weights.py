"""A model's weights: a flat dict of tensors, each behind any leading ensemble axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from helpers.checks import validated

Weights = dict[str, Tensor]
Evaluate = Callable[[Weights, Tensor], Tensor]
Forward = Callable[[Weights, Tensor], Tensor]


@validated
def ensemble_of(count: int, draw: Callable[[], Weights]) -> Weights:
    """The weights of several draws, stacked on a leading axis.

    Models are drawn one after the other, so that the first k of a larger ensemble are the ensemble
    of k.

    Raises:
        ValueError: no models.

    Example:
        >>> import torch
        >>> from helpers.weights import ensemble_of
        >>> generator = torch.Generator().manual_seed(0)
        >>> stack = ensemble_of(5, lambda: {"w": torch.randn(3, 2, generator=generator)})
        >>> stack["w"].shape
        torch.Size([5, 3, 2])
    """
    if count < 1:
        raise ValueError(f"an ensemble has at least 1 model, got {count}")
    models = [draw() for _ in range(count)]
    return {name: torch.stack([m[name] for m in models]) for name in models[0]}


def check_weights(weights: Weights, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Require exactly these weights, each of its shape behind any leading axes.

    Raises:
        ValueError: a weight is missing, unknown or of another shape; names it.

    Example:
        >>> import torch
        >>> from helpers.weights import check_weights
        >>> check_weights({"w": torch.zeros(5, 3, 2)}, {"w": (3, 2)})
        >>> check_weights({"w": torch.zeros(2, 3)}, {"w": (3, 2)})
        Traceback (most recent call last):
        ValueError: w must end in the shape (3, 2), got (2, 3)
    """
    if weights.keys() != shapes.keys():
        odd = sorted(weights.keys() ^ shapes.keys())
        raise ValueError(f"weights missing or unknown: {', '.join(odd)}")
    for name, shape in shapes.items():
        if weights[name].shape[-len(shape) :] != shape:
            found = tuple(weights[name].shape)
            raise ValueError(f"{name} must end in the shape {shape}, got {found}")
