r"""How far attention moves when its weights or its inputs move: both sides of each inequality.

Heads and blocks are those of :mod:`helpers.covers.blocks`. A difference of two sets of tokens is
measured by its longest row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.checks import require_floating, require_scale, validated
from helpers.covers.blocks import (
    Activation,
    Layer,
    attention,
    block,
    hidden,
    longest,
    mix,
    scores,
    spectral,
)
from helpers.covers.lipschitz import SOFTMAX, Sides, later_factors, layer_factor


def softmax_jacobian(logits: Tensor) -> Tensor:
    """Jacobian of softmax, diag(p) - p p^T: shape ``(*batch, T)`` to ``(*batch, T, T)``."""
    require_floating(logits=logits)
    p = logits.softmax(-1)
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


@validated
def head_sides(
    X: Tensor,
    query: Tensor,
    weights: tuple[Tensor, Tensor],
    others: tuple[Tensor, Tensor],
    constant: float = SOFTMAX,
    activation: Activation = torch.tanh,
    lipschitz: float = 1.0,
) -> Sides:
    r"""A head with two sets of weights, on the same tokens and the same query.

    .. math:: \|f(\theta) - f(\hat\theta)\|_2 \le L \bigl( c\, \|W_V\|_2 B_X
        \|s - \hat s\|_\infty + \|(W_V - \hat W_V)^\top X^\top\|_{2,\infty} \bigr)

    Here s are the scores and :math:`B_X` is the length of the longest token.

    Args:
        X: Tokens.
        query: Shape ``(*batch, d)``.
        weights: W_V and W_QK.
        others: The same, perturbed.
        constant: The c of the normalisation, positive.
        activation: Behind the head.
        lipschitz: Its constant L, positive.

    Source: Edelman et al. (2022), Lemma 4.3, with linear values and bilinear scores.
    """
    require_scale(constant=constant, lipschitz=lipschitz)
    (W_V, W_QK), (V_hat, QK_hat) = weights, others
    left = activation(mix(X, query, W_V, W_QK)) - activation(mix(X, query, V_hat, QK_hat))
    moved = (scores(X, query, W_QK) - scores(X, query, QK_hat)).abs().amax(-1)
    right = constant * spectral(W_V) * longest(X) * moved + longest(X @ (W_V - V_hat))
    return Sides(left.norm(dim=-1), lipschitz * right)


@validated
def weight_sides(
    Z: Tensor, layer: Layer, other: Layer, constant: float = SOFTMAX, radius: float = 1.0
) -> Sides:
    r"""Attention with two sets of weights, on the same tokens.

    .. math:: \|(f(Z; W) - f(Z; \hat W))^\top\|_{2,\infty} \le
        c\, B \|W_V\|_2 \|(W_{QK} - \hat W_{QK}) Z^\top\|_{2,\infty}
        + \|(W_V - \hat W_V)^\top Z^\top\|_{2,\infty}, \qquad B = \mathrm{radius}^2

    Args:
        Z: Tokens of length at most ``radius``; not checked, so that longer ones can be tried.
        layer: Weights; W_C does not matter here.
        other: Perturbed weights.
        constant: The c of softmax, positive.
        radius: Positive. Printed for 1.

    Source: Edelman et al. (2022), Lemma A.13, with c = 2.
    """
    require_scale(constant=constant, radius=radius)
    left = attention(Z, layer.W_V, layer.W_QK) - attention(Z, other.W_V, other.W_QK)
    moved = longest(Z @ (layer.W_QK - other.W_QK).mT)
    values = longest(Z @ (layer.W_V - other.W_V))
    return Sides(longest(left), constant * radius**2 * spectral(layer.W_V) * moved + values)


@validated
def input_sides(
    Z: Tensor, other: Tensor, layer: Layer, constant: float = SOFTMAX, radius: float = 1.0
) -> Sides:
    r"""Attention with the same weights, on two sets of tokens.

    .. math:: \|(f(Z) - f(\hat Z))^\top\|_{2,\infty} \le
        \|W_V\|_2 (1 + 2 c B \|W_{QK}\|_2) \|(Z - \hat Z)^\top\|_{2,\infty},
        \qquad B = \mathrm{radius}^2

    Arguments as for :func:`weight_sides`. Source: Edelman et al. (2022), Lemma A.14, with c = 2.
    """
    require_scale(constant=constant, radius=radius)
    left = attention(Z, layer.W_V, layer.W_QK) - attention(other, layer.W_V, layer.W_QK)
    factor = spectral(layer.W_V) * (1 + 2 * constant * radius**2 * spectral(layer.W_QK))
    return Sides(longest(left), factor * longest(Z - other))


@validated
def layer_error(
    Z: Tensor,
    layer: Layer,
    other: Layer,
    constant: float = SOFTMAX,
    activation: Activation = torch.tanh,
    lipschitz: float = 1.0,
) -> Tensor:
    r"""Error that a block adds by itself, if its weights move and its input Z does not.

    .. math:: \|\Delta W_C^\top h^\top\|_{2,\infty}
        + c L B_C B_V \|\Delta W_{QK} Z^\top\|_{2,\infty}
        + L B_C \|\Delta W_V^\top Z^\top\|_{2,\infty}

    Here h is what :func:`helpers.covers.blocks.hidden` gives for the other weights, and B are the
    larger spectral norms.

    Source: Edelman et al. (2022), Lemma A.15, with c = 2; Z is the perturbed network's input.
    """
    require_scale(constant=constant, lipschitz=lipschitz)
    B_C, B_V = spectral(layer.W_C, other.W_C), spectral(layer.W_V, other.W_V)
    of_output = longest(hidden(Z, other, activation) @ (layer.W_C - other.W_C))
    of_scores = longest(Z @ (layer.W_QK - other.W_QK).mT)
    of_values = longest(Z @ (layer.W_V - other.W_V))
    return of_output + lipschitz * B_C * (constant * B_V * of_scores + of_values)


@validated
def block_sides(
    Z: Tensor,
    other_Z: Tensor,
    layer: Layer,
    other: Layer,
    constant: float = SOFTMAX,
    activation: Activation = torch.tanh,
    lipschitz: float = 1.0,
) -> Sides:
    """One block with two sets of weights on two sets of tokens of length at most 1.

    The right side is :func:`helpers.covers.lipschitz.layer_factor` times the difference of the
    tokens, plus :func:`layer_error`. Source: Edelman et al. (2022), Lemma A.15.
    """
    left = longest(block(Z, layer, activation) - block(other_Z, other, activation))
    B_V, B_QK, B_C = (spectral(W, V) for W, V in zip(layer, other, strict=True))
    factor = layer_factor(B_C, B_V, B_QK, constant, lipschitz)
    added = layer_error(other_Z, layer, other, constant, activation, lipschitz)
    return Sides(left, factor * longest(Z - other_Z) + added)


def earlier_factors(factors: Tensor) -> Tensor:
    r"""The printed :math:`\prod_{j < i} a_j`, a product over earlier layers."""
    return later_factors(factors.flip(-1)).flip(-1)
