"""Networks built by hand as weights of learned models: one function, one parameter space.

Norms and traces of a construction and of a trained net compare only where both are weights of the
same :class:`helpers.nets.transformer.TransformerSpec`. Even there they depend on scale: here are
the changes of scale that leave every output as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from helpers.checks import require_finite, require_positive, require_scale, validated
from helpers.cube import SparseFunction
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec, shapes
from helpers.sharpness import SquaredLoss, hessian_trace
from helpers.weights import Weights
from papers.sharper import network
from papers.sharper.network import ConstructionSpec
from papers.sharper.samples import paper_spec

Network = tuple[Callable[[Weights, Tensor], Tensor], Weights]
PAPER_SCALE = 2.0
"""The paper's factor of the scores; that of the recipe in :mod:`papers.sharper.samples` is 0.4."""


@validated
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
        weights: As made by :func:`papers.sharper.network.construct`, or its exact form,
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


def forms(function: SparseFunction) -> dict[str, Network]:
    """The construction for one function in the forms that are compared: forward and weights.

    All but the last compute the same function, up to rounding:

    * ``"paper"``: the paper's own form, with merged queries and keys;
    * ``"separate"``: queries and keys apart, keys the identity, as in the authors' repository;
    * ``"model"``: weights of the paper's learned model, its factor of the scores included;
    * ``"balanced"``: the same by :func:`balanced`;
    * ``"exact"``: the paper's form of :func:`papers.sharper.network.construct_exact`.
    """
    spec, weights = network.construct(function)
    exact_spec, exact = network.construct_exact(function)
    model = paper_spec(function.n, scale=PAPER_SCALE)
    place = partial(sharper, value_width=30, hidden=128, logit_scale=model.scale)
    placed = place(spec, weights)[1]
    apart_spec, apart = sharper(spec, weights)
    run = partial(transformer.forward, model)
    return {
        "paper": (partial(network.forward, spec), weights),
        "separate": (partial(transformer.forward, apart_spec), apart),
        "model": (run, placed),
        "balanced": (run, balanced(placed)),
        "exact": (partial(network.forward, exact_spec), exact),
    }


def sizes(nets: dict[str, Network], bits: Tensor, targets: Tensor) -> dict[str, float]:
    """Of each network the squared norm of all weights, and the Gauss-Newton trace of its loss.

    Args:
        nets: By name, forward and weights, float64, without ensemble axes.
        bits: Inputs, shape ``(B, n)``.
        targets: Shape ``(B,)``.

    Returns:
        ``name_norm2`` and ``name_trace`` of each, the latter for the squared loss.

    Raises:
        ValueError: targets that are not finite, or not one for each input.
    """
    require_finite(targets=targets)
    found = {}
    for name, (forward, weights) in nets.items():
        found[f"{name}_norm2"] = squared_norm(weights)
        trace = hessian_trace(SquaredLoss(forward, bits, targets), weights)
        found[f"{name}_trace"] = float(trace)
    return found


def squared_norm(weights: Weights) -> float:
    """Sum of the squares of all weights."""
    return sum(v.square().sum().item() for v in weights.values())


@validated
def at_factor(weights: Weights, ratio: float) -> Weights:
    """The same function in a model whose factor of the scores is ``ratio`` times larger."""
    require_scale(ratio=ratio)
    names = [f"layers.{layer}.{part}" for layer in (0, 1) for part in ("query", "key")]
    return weights | {name: weights[name] / math.sqrt(ratio) for name in names}


def stretched(weights: Weights, alpha: float | Tensor) -> Weights:
    """The same function with each hidden unit's input times ``alpha``, its output over it.

    Args:
        weights: Of the learned model, without ensemble axes.
        alpha: Above 0, a number, or one a unit, shape ``(hidden,)``.
    """
    factor = torch.as_tensor(alpha, dtype=weights["layers.0.hidden"].dtype)
    if not bool((factor > 0).all()):
        raise ValueError(f"alpha must be above 0, got {factor.min().item()}")
    first, bias, last = (f"layers.0.{k}" for k in ("hidden", "hidden_bias", "output"))
    return weights | {
        first: weights[first] * factor,
        bias: weights[bias] * factor,
        last: weights[last] / factor[..., None],
    }


@validated
def steeper(weights: Weights, degree: int) -> Weights:
    r"""The construction with trapezoids twice as steep, equal to it on the grid 0, 1/d, ..., 1.

    A trapezoid is then flat for :math:`|y - k/d| \le 1/(4d)` as before, but zero already beyond
    :math:`1/(2d)`: the outer corners move in by :math:`1/(4d)`, the outgoing weights double.

    Args:
        weights: As made by :func:`sharper`, without ensemble axes.
        degree: d of its function, at least 1.

    Source: a later version of ``hardcoded_transformer.py`` in the authors' repository.
    """
    require_positive(degree=degree)
    bias, output = weights["layers.0.hidden_bias"].clone(), weights["layers.0.output"] * 2
    corners = bias[: 4 * (degree + 1)].view(-1, 4)
    corners[:, 0] -= 1 / (4 * degree)
    corners[:, 3] += 1 / (4 * degree)
    return weights | {"layers.0.hidden_bias": bias, "layers.0.output": output}


def balanced(weights: Weights) -> Weights:
    r"""The same function with the least norm over two symmetries.

    Queries and keys enter as :math:`W_Q W_K^\top = U \Sigma V^\top`, of which
    :math:`U \Sigma^{1/2}` and :math:`V \Sigma^{1/2}` have the least norm. A hidden unit with
    weights g in, its bias included, and r out is stretched by :math:`\alpha^2 = |r| / |g|`.

    Args:
        weights: Of the learned model, without ensemble axes.
    """
    out = dict(weights)
    for layer in (0, 1):
        q, k = f"layers.{layer}.query", f"layers.{layer}.key"
        U, S, Vh = torch.linalg.svd(weights[q] @ weights[k].mT)
        out[q], out[k] = U * S.sqrt(), Vh.mT * S.sqrt()
    inward = weights["layers.0.hidden"].square().sum(0) + weights["layers.0.hidden_bias"].square()
    outward = weights["layers.0.output"].square().sum(1)
    idle = (inward == 0) | (outward == 0)
    return stretched(out, torch.where(idle, 1.0, outward / inward).pow(0.25))
