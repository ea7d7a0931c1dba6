r"""Gradients of a model's output at each input, in each weight."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Unpack

import torch
from torch import Tensor
from torch.func import grad_and_value, vmap

from helpers.checks import readable
from helpers.sharpness.point import (
    INPUTS,
    LossAtWeights,
    ParameterSelection,
    SquaredLoss,
    for_each_model,
    require_inputs,
)
from helpers.weights import Forward, Weights

COMPARED = 64
"""Inputs, at most, whose outputs together are compared with those of each by itself."""


@for_each_model
def gradients(
    forward: Forward,
    weights: Weights,
    inputs: Tensor,
    **choice: Unpack[ParameterSelection],
) -> Weights:
    r"""Gradient of the output with respect to each weight, at each input.

    The Gauss-Newton trace is twice the mean over inputs of the sum of their squares.

    Args:
        forward: ``forward(weights, inputs) -> outputs (B,)``, each of its own input alone.
        weights: As for :func:`helpers.sharpness.hessian_trace`.
        inputs: Shape ``(B, ...)``, at least one, the same for all models.
        choice: Which weights move, ensembles, memory: see :class:`ParameterSelection`.

    Returns:
        By name, shape ``(B, *shape)`` of the weight, or ``(E, B, *shape)`` for an ensemble.

    Raises:
        ValueError, TypeError, MemoryError: as :func:`helpers.sharpness.hessian_trace`; an output
            that depends on other inputs, as behind a batch norm, is a ValueError.

    Cost: one gradient an input, vectorised.

    Example:
        >>> import torch
        >>> from helpers.sharpness import gradients
        >>> gradients(lambda w, x: x @ w["a"], {"a": torch.ones(2)}, torch.eye(2))["a"]
        tensor([[1., 0.],
                [0., 1.]])
    """
    require_inputs(inputs)
    loss = SquaredLoss(forward, inputs, torch.zeros(inputs.shape[:1]))
    parts = list(of_each_input(LossAtWeights(loss, weights, choice), loss))
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def of_each_input(point: LossAtWeights, loss: SquaredLoss) -> Iterator[Weights]:
    """Gradients of the output in the live weights, as many inputs at once as memory holds.

    Each is that of the model at one input by itself, so the first outputs are compared with those
    of the inputs together.
    """

    def output(live: Weights, x: Tensor) -> Tensor:
        return loss.forward({**point.frozen, **live}, x[None])

    with torch.no_grad():
        shape = output(point.live, loss.inputs[0]).shape
    if shape != (1,):
        raise ValueError(f"the model must give one number an input, got shape {tuple(shape)}")
    slopes = vmap(grad_and_value(lambda live, x: output(live, x)[0]), (None, 0))
    each = 2 * point.vector_bytes + 2 * point.loss_bytes() // len(loss.inputs)
    at_once = point.fits(each, "the gradient at one input", "only= for fewer weights", INPUTS)
    for start in range(0, len(loss.inputs), at_once):
        found, alone = slopes(point.live, loss.inputs[start : start + at_once])
        if start == 0:
            with torch.no_grad():
                together = loss.forward({**point.frozen, **point.live}, loss.inputs[:COMPARED])
            _require_own_inputs(point, found, alone[:COMPARED], together[: len(alone)])
        yield found


def _require_own_inputs(
    point: LossAtWeights, slopes: Weights, alone: Tensor, together: Tensor
) -> None:
    """Raise ValueError if an output is another among other inputs, by more than rounding."""
    if not readable(alone) or together.shape != alone.shape:
        return
    eps = torch.finfo(alone.dtype).eps
    same = (alone == together) | (alone.isnan() & together.isnan())
    apart = torch.where(same, 0, alone - together)
    near = apart.abs() <= math.sqrt(eps) * alone.nan_to_num(0, 0, 0).abs().max()
    if near.all():
        return
    # Where outputs cancel, rounding is that of their parts: as much as eps in each weight does.
    few = {name: v[: len(alone)] for name, v in slopes.items()}
    parts = torch.stack(
        [(v * point.live[k]).reshape(len(v), -1).abs().sum(1) for k, v in few.items()]
    ).sum(0)
    near |= apart.abs() <= math.sqrt(eps) * parts
    if not near.all():
        i = int((~near).nonzero()[0])
        raise ValueError(
            "each output must depend on its own input alone, as behind a batch norm it does not: "
            f"at one input it is {alone[i].item():.6g} by itself and {together[i].item():.6g} "
            "among the others; for a trace use method='exact' or 'hutchinson'"
        )
