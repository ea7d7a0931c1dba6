r"""Gradients of a model's output at each input, in each weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import torch
from torch import Tensor
from torch.func import grad, vmap

from helpers.sharpness.point import INPUTS, Choice, Point, SquaredLoss, for_each_model
from helpers.weights import Forward, Weights


@for_each_model
def gradients(
    forward: Forward,
    weights: Weights,
    inputs: Tensor,
    **choice: Unpack[Choice],
) -> Weights:
    r"""Gradient of the output with respect to each weight, at each input.

    The Gauss-Newton trace is twice the mean over inputs of the sum of their squares.

    Args:
        forward: ``forward(weights, inputs) -> outputs (B,)``.
        weights: As for :func:`helpers.sharpness.hessian_trace`.
        inputs: Shape ``(B, ...)``, at least one, the same for all models.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        By name, shape ``(B, *shape)`` of the weight, or ``(E, B, *shape)`` for an ensemble.

    Raises:
        ValueError, TypeError, MemoryError: as :func:`helpers.sharpness.hessian_trace`.

    Cost: one gradient an input, vectorised.
    """
    loss = SquaredLoss(forward, inputs, torch.zeros(inputs.shape[:1]))
    parts = list(of_each_input(Point(loss, weights, choice), loss))
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def of_each_input(point: Point, loss: SquaredLoss) -> Iterator[Weights]:
    """Gradients of the output in the live weights, as many inputs at once as memory holds."""

    def output(live: Weights, x: Tensor) -> Tensor:
        return loss.forward({**point.frozen, **live}, x[None])

    with torch.no_grad():
        shape = output(point.live, loss.inputs[0]).shape
    if shape != (1,):
        raise ValueError(f"the model must give one number an input, got shape {tuple(shape)}")
    slopes = vmap(grad(lambda live, x: output(live, x)[0]), (None, 0))
    each = 2 * point.vector_bytes + 2 * point.loss_bytes() // len(loss.inputs)
    at_once = point.fits(each, "the gradient at one input", "only= for fewer weights", INPUTS)
    for some in loss.inputs.split(at_once):
        yield slopes(point.live, some)
