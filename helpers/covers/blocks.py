r"""Attention heads and blocks of Edelman et al. (2022) as pure functions of their weights.

One matrix ``W_QK`` stands for queries and keys, so that token t has the score
``z_tau^T W_QK z_t`` for the query tau; ``W_V`` is for values, ``W_C`` stands behind the activation.
There are no biases, and in place of layer normalisation each token is projected onto the unit ball.
Tokens are rows, shape ``(*batch, T, d)``; matrices are ``(*batch, rows, columns)``. The activation
acts on each number and keeps 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import require_floating, require_scale, validated

Activation = Callable[[Tensor], Tensor]


class Layer(NamedTuple):
    """Weights of one block.

    Attributes:
        W_V: Values, shape ``(*batch, d, k)``.
        W_QK: Queries times keys, ``(*batch, d, d)``.
        W_C: Behind the activation, ``(*batch, k, d)``.
    """

    W_V: Tensor
    W_QK: Tensor
    W_C: Tensor


@validated
def to_ball(Z: Tensor, radius: float = 1.0) -> Tensor:
    """Each row moved to the nearest point of the ball: rows that are longer are shortened.

    Source: Edelman et al. (2022), Section 4.3, in place of layer normalisation.
    """
    require_scale(radius=radius)
    return Z / (Z.norm(dim=-1, keepdim=True) / radius).clamp(min=1)


def scores(X: Tensor, query: Tensor, W_QK: Tensor) -> Tensor:
    """Score of every token for one query: ``(*batch, T, d)``, ``(*batch, d)`` to ``(*batch, T)``.

    Source: Edelman et al. (2022), Section 4.2.
    """
    return (X @ W_QK.mT @ query[..., None])[..., 0]


def mix(
    X: Tensor, query: Tensor, W_V: Tensor, W_QK: Tensor, normalise: Activation | None = None
) -> Tensor:
    """A head before its activation: values averaged by the softmax of the scores, ``(*batch, k)``.

    Args:
        X: Tokens.
        query: The token that asks, ``(*batch, d)``.
        W_V: Shape ``(*batch, d, k)``.
        W_QK: Shape ``(*batch, d, d)``.
        normalise: What turns scores into weights, along the last axis; softmax if None.
    """
    _check_shapes(X, W_V, W_QK)
    found = scores(X, query, W_QK)
    weights = found.softmax(-1) if normalise is None else normalise(found)
    return (weights[..., None, :] @ X @ W_V)[..., 0, :]


def attention(Z: Tensor, W_V: Tensor, W_QK: Tensor) -> Tensor:
    """The heads of all tokens, each its own query: ``(*batch, T, d)`` to ``(*batch, T, k)``.

    Source: Edelman et al. (2022), Section 4.3, the function f.
    """
    _check_shapes(Z, W_V, W_QK)
    return (Z @ W_QK @ Z.mT).softmax(-1) @ Z @ W_V


def hidden(Z: Tensor, layer: Layer, activation: Activation = torch.tanh) -> Tensor:
    """What W_C of a block is applied to: projected attention behind the activation."""
    return activation(to_ball(attention(Z, layer.W_V, layer.W_QK)))


def block(Z: Tensor, layer: Layer, activation: Activation = torch.tanh) -> Tensor:
    """One block, ``(*batch, T, d)`` to the same shape; its rows lie in the unit ball.

    Source: Edelman et al. (2022), Section 4.3.
    """
    d, k = layer.W_V.shape[-2:]
    if layer.W_C.shape[-2:] != (k, d):
        raise ValueError(f"W_C must end in the shape ({k}, {d}), got {tuple(layer.W_C.shape)}")
    return to_ball(hidden(Z, layer, activation) @ layer.W_C)


def blocks(X: Tensor, layers: Sequence[Layer], activation: Activation = torch.tanh) -> list[Tensor]:
    """Inputs of all blocks and the output of the last, one tensor more than there are layers."""
    states = [X]
    for layer in layers:
        states.append(block(states[-1], layer, activation))
    return states


def longest(Z: Tensor) -> Tensor:
    r"""Length of the longest row, :math:`\|Z^\top\|_{2,\infty}`, shape ``(*batch,)``."""
    return Z.norm(dim=-1).amax(-1)


def spectral(*matrices: Tensor) -> Tensor:
    """Spectral norm of a matrix, or the largest of several, shape ``(*batch,)``."""
    return torch.stack([torch.linalg.matrix_norm(W, 2) for W in matrices]).amax(0)


def _check_shapes(X: Tensor, W_V: Tensor, W_QK: Tensor) -> None:
    require_floating(X=X, W_V=W_V, W_QK=W_QK)
    d = X.shape[-1] if X.ndim >= 2 else -1
    if d < 1 or X.shape[-2] < 1:
        raise ValueError(f"expected at least one token, shape (..., T, d), got {tuple(X.shape)}")
    if W_V.ndim < 2 or W_V.shape[-2] != d:
        raise ValueError(f"W_V must end in the shape ({d}, k), got {tuple(W_V.shape)}")
    if W_QK.shape[-2:] != (d, d):
        raise ValueError(f"W_QK must end in the shape ({d}, {d}), got {tuple(W_QK.shape)}")
