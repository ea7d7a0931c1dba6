"""Networks built by hand as weights of learned models: one function, one parameter space.

Norms and traces of a construction and of a trained net compare only where both are weights of the
same :class:`helpers.nets.transformer.TransformerSpec`.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from helpers.checks import require_scale
from helpers.nets.spec import TransformerSpec, shapes
from helpers.sharper.network import ConstructionSpec
from helpers.sharper.samples import paper_spec
from helpers.weights import Weights


def sharper(
    spec: ConstructionSpec,
    weights: Weights,
    *,
    value_width: int = 4,
    hidden: int | None = None,
    logit_scale: float = 1.0,
) -> tuple[TransformerSpec, Weights]:
    """The construction as weights of the learned model: the same function, one parameter space.

    The learned model has no clipped skip connection and no merged matrices. Its residual stream
    holds the one-hot position and then four columns for the bit, the mean over a subset, the
    parity and the output. The first layer's value matrix copies the bit to the mean, the
    feedforward block the mean to the parity, the second layer's value matrix weighs the parity
    into the output. Keys are the identity on positions, so each query matrix is the construction's
    merged one. What remains of a wider model is zero.

    Args:
        spec: Sizes of the construction.
        weights: As made by :func:`helpers.sharper.network.construct`, or its exact form,
            without ensemble axes.
        value_width: Columns beside the positions, at least 4; the paper's models have 30.
        hidden: Units of the feedforward block, at least 4 (d + 1), its default; the paper has 128.
        logit_scale: Factor of the scores in the learned model, above 0; queries are divided by it.

    Returns:
        A :class:`helpers.nets.transformer.TransformerSpec` and its weights.

    Raises:
        ValueError: too few columns or units, or a scale that is not positive.
    """
    H = spec.hidden if hidden is None else hidden
    if value_width < 4:
        raise ValueError(f"value_width must be at least 4, got {value_width}")
    if spec.hidden > H:
        raise ValueError(f"hidden must be at least {spec.hidden}, got {H}")
    require_scale(logit_scale=logit_scale)
    P = spec.positions
    model = paper_spec(spec.n, value_width=value_width, hidden=H)
    target = replace(model, logit_scale=logit_scale)
    bit, mean, parity, output = range(P, P + 4)
    made = {k: weights["v2"].new_zeros(shape) for k, shape in shapes(target).items()}
    made["embedding"][1, 0] = 1
    for layer, scores in enumerate((weights["WKQ1"], weights["WKQ2"])):
        made[f"layers.{layer}.query"][:P, :P] = scores[:P, :P] / logit_scale
        made[f"layers.{layer}.key"][:P, :P] = torch.eye(P)
    made["layers.0.value"][bit, mean] = weights["WV1"][-1, -1]
    made["layers.0.hidden"][mean, : spec.hidden] = weights["G"][:, -1]
    made["layers.0.hidden_bias"][: spec.hidden] = weights["b"]
    made["layers.0.output"][: spec.hidden, parity] = weights["F"][-1]
    made["layers.1.value"][:P, output] = weights["v2"][:P]
    made["layers.1.value"][parity, output] = weights["v2"][-1]
    made["readout"][output, 0] = 1
    return target, made
