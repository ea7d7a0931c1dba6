r"""How sharp a loss is around given weights: Hessian traces, perturbed losses.

A loss is a function of the weights, a flat dict of tensors, that returns one number:
:class:`SquaredLoss`, which knows the model's outputs too, or any callable. The functions here
measure one model, or each of an ensemble, see :class:`ParameterSelection`.
"""

from helpers.sharpness.gradients import gradients
from helpers.sharpness.perturbed import (
    SHAPES,
    Estimate,
    Remainder,
    direction_sharpness,
    perturbation_remainder,
    perturbed_loss,
)
from helpers.sharpness.point import ParameterSelection, SquaredLoss
from helpers.sharpness.traces import METHODS, Trace, hessian_trace

__all__ = [
    "METHODS",
    "SHAPES",
    "Estimate",
    "ParameterSelection",
    "Remainder",
    "SquaredLoss",
    "Trace",
    "direction_sharpness",
    "gradients",
    "hessian_trace",
    "perturbation_remainder",
    "perturbed_loss",
]
