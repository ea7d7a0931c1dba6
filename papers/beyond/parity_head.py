r"""One attention layer that learns the parity of two bits, small enough to be in every bound.

It is the class of :mod:`papers.lengthfree.single_layer` and nothing else: no residual, no norm, no
bias.

.. math:: h(x) = w^\top W_c^\top \mathrm{relu}\bigl( W_v^\top X^\top \mathrm{softmax}(s) \bigr)

A string of T bits is shown as T + 1 tokens of width T + 3: a one-hot position, then one column for
a bit 0 and one for a bit 1. The last token is the query; it has no bit. So tokens have length at
most the root of 2. Weights are a flat dict with a leading axis of models E.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Generator, Tensor

from helpers.checks import require_amount, require_positive, validated
from helpers.weights import Weights
from papers.lengthfree import single_layer


def tokens(bits: Tensor) -> Tensor:
    """Tokens of strings, shape ``(*, T)`` in {0, 1} -> ``(*, T + 1, T + 3)``, float32."""
    T = bits.shape[-1]
    require_positive(T=T)
    positions = torch.eye(T + 1).expand(*bits.shape[:-1], -1, -1)
    values = torch.stack((1 - bits, bits), -1).float()
    values = torch.cat((values, values.new_zeros(*bits.shape[:-1], 1, 2)), -2)
    return torch.cat((positions, values), -1)


@validated
def initial_weights(T: int, width: int, E: int, generator: Generator) -> Weights:
    """Random weights: normal, of size 1 over the root of the inputs; scores nearly 0.

    Args:
        T: Bits, at least 1.
        width: Hidden units k, at least 1.
        E: Models, at least 1.
        generator: Source of randomness.

    Returns:
        ``w`` ``(E, d)``, ``W_c`` ``(E, k, d)``, ``W_v`` ``(E, d, k)``, ``W_qk`` ``(E, d, d)``,
        with d = T + 3, float32.
    """
    require_positive(T=T, width=width, E=E)
    d = T + 3

    def normal(*shape: int, size: float) -> Tensor:
        return size * torch.randn(E, *shape, generator=generator)

    return {
        "w": normal(d, size=1 / math.sqrt(d)),
        "W_c": normal(width, d, size=1 / math.sqrt(width)),
        "W_v": normal(d, width, size=1 / math.sqrt(2)),
        "W_qk": normal(d, d, size=0.02),
    }


def forward(weights: Weights, X: Tensor) -> Tensor:
    """Outputs of each model on its own tokens, ``(E, B, T + 1, d)`` -> ``(E, B)``.

    As :func:`papers.lengthfree.single_layer.outputs` with the last token as query, whose only
    entry picks a row of ``W_qk``: so no product of tokens with matrices.
    """
    keys = weights["W_qk"][..., -3, :]  # (E, d): the row of the last position
    scores = torch.einsum("ebtd,ed->ebt", X, keys)
    mixed = torch.einsum("ebt,ebtd->ebd", scores.softmax(-1), X)
    return ((mixed @ weights["W_v"]).relu() @ weights["W_c"] @ weights["w"][..., None])[..., 0]


def targets(bits: Tensor, pairs: Tensor) -> Tensor:
    """1 where an even number of the two bits is 1, else 0.

    Args:
        bits: Shape ``(E, B, T)``.
        pairs: Positions from 0, shape ``(E, 2)``, int64.

    Returns:
        Shape ``(E, B)``, float32.
    """
    chosen = bits.gather(-1, pairs.unsqueeze(-2).expand(*bits.shape[:-1], 2))
    return 1 - (chosen.sum(-1) % 2).float()


def clipped_errors(weights: Weights, X: Tensor, y: Tensor) -> Tensor:
    """Squared error of outputs clipped to [0, 1], which lies in [0, 1]; shape ``(E, B)``."""
    return (forward(weights, X).clamp(0, 1) - y).square()


@validated
def noisy_risks(
    weights: Weights, sigmas: list[float], bits: Tensor, pairs: Tensor, generator: Generator
) -> Tensor:
    """Mean clipped error of each model, with Gaussian noise on all weights, fresh for each string.

    Args:
        weights: E models.
        sigmas: As in :func:`noisy_outputs`.
        bits: As there.
        pairs: The two positions of each model, ``(E, 2)``.
        generator: Source of randomness.

    Returns:
        Shape ``(S, E)``.
    """
    outputs = noisy_outputs(weights, sigmas, bits, generator)
    return (outputs.clamp(0, 1) - targets(bits, pairs)).square().mean(-1)


@validated
def noisy_outputs(
    weights: Weights, sigmas: list[float], bits: Tensor, generator: Generator
) -> Tensor:
    r"""Outputs with Gaussian noise on all weights, fresh for each string.

    Most of the noise is not drawn but replaced by what it does. A matrix of independent noise times
    a vector v is a vector of independent normals of size :math:`\|v\|`. So one normal for each
    hidden unit does for the noise of ``W_v``, and a single one for that of ``W_c``, after that of
    ``w``. All sizes of noise use the same normals: the outputs at one size are independent, those
    at two sizes are not.

    Args:
        weights: E models.
        sigmas: S standard deviations, each at least 0.
        bits: Strings, shape ``(E, B, T)``.
        generator: Source of randomness.

    Returns:
        Shape ``(S, E, B)``.

    Cost: 2 d + k + 1 normals a string, for all sizes together.
    """
    for sigma in sigmas:
        require_amount(sigma=sigma)
    E, B, T = bits.shape
    found = torch.empty(len(sigmas), E, B)
    shapes = (T + 3,), (weights["W_c"].shape[1],), (T + 3,), ()
    for e, start in itertools.product(range(E), range(0, B, 4096)):
        w, W_c, W_v, W_qk = (weights[name][e] for name in ("w", "W_c", "W_v", "W_qk"))
        part = slice(start, start + 4096)
        some = bits[e, part]
        normals = [torch.randn(len(some), *shape, generator=generator) for shape in shapes]
        z_keys, z_v, z_w, z_c = normals
        score, z_score = _scores(W_qk[-3], some), _scores(z_keys, some)
        read, z_read = W_c @ w, z_w @ W_c.T
        square, along, z_square = w.square().sum(), z_w @ w, z_w.square().sum(1)
        for i, sigma in enumerate(sigmas):
            mixed = _mixed(score + sigma * z_score, some)
            h = (mixed @ W_v + sigma * mixed.norm(dim=1, keepdim=True) * z_v).relu()
            size = (square + 2 * sigma * along + sigma**2 * z_square).clamp(min=0).sqrt()  # of w
            found[i, e, part] = (h * (read + sigma * z_read)).sum(1)
            found[i, e, part] += sigma * h.norm(dim=1) * size * z_c
    return found


def _scores(keys: Tensor, bits: Tensor) -> Tensor:
    """Products of keys ``(*, d)`` with the tokens of strings ``(B, T)``, shape ``(B, T + 1)``."""
    found = keys[..., :-2].expand(len(bits), -1).clone()
    found[:, :-1] += torch.where(bits > 0, keys[..., -1:], keys[..., -2:-1])
    return found


def _mixed(scores: Tensor, bits: Tensor) -> Tensor:
    """The average of the tokens of strings ``(B, T)``, weighted by the softmax, ``(B, d)``."""
    mass = scores.softmax(-1)
    one = (mass[:, :-1] * bits).sum(1)
    zero = mass[:, :-1].sum(1) - one
    return torch.cat((mass, zero[:, None], one[:, None]), 1)


def rewritten(weights: Weights) -> Weights:
    r"""The same functions with smaller norms, for bounds that are products of norms.

    Only the query's row of ``W_qk`` is read. Of its entries, those of all positions may be shifted
    together; and, as a string's positions have the mass of its bits, these positions against the
    bits, as each column of ``W_v`` may. Both are shifted to their least l1 norm. ``W_c w`` moves
    into one column of ``W_c``, and every unit of relu is scaled so that its column of ``W_v`` has
    l1 norm 1: what is left of :math:`\|w\|_1 \|W_c\|_{1,\infty} \|W_v\|_{1,\infty}` is
    :math:`\sum_j |W_c w|_j \|W_v^j\|_1`, the least over such scalings.

    Returns:
        Shaped like ``weights``, float64; :func:`forward` gives the same outputs.
    """
    old = {name: v.double() for name, v in weights.items()}
    keys = old["W_qk"][:, -3].clone()  # (E, d)
    keys[:, :-2] -= keys[:, :-3].median(1, keepdim=True)[0]
    keys[:, -3:] -= keys[:, -3:].median(1, keepdim=True)[0]
    sign = torch.ones(keys.shape[1], 1, dtype=torch.float64)
    sign[-3], sign[-2:] = 0, -1
    V = old["W_v"]
    V = V - sign * (sign * V)[:, sign[:, 0] != 0].median(1, keepdim=True)[0]
    size = V.abs().sum(1)  # (E, k)
    read = (old["W_c"] @ old["w"][..., None])[..., 0] * size
    new = {name: torch.zeros_like(v) for name, v in old.items()}
    new["w"][:, 0] = 1
    new["W_c"][..., 0] = read
    new["W_v"] = V / torch.where(size > 0, size, 1.0)[:, None]
    new["W_qk"][:, -3] = keys
    return new


def balanced(weights: Weights) -> Weights:
    r"""The same functions with a small sum of squares, for bounds that contain it.

    The constants of :func:`rewritten` are added so that the squares add up to the least. ``W_c w``
    moves into one column of ``W_c``. Then each unit of relu is scaled so that its column of ``W_v``
    is as long as what it is read with, and so are the two factors of ``W_c w``.

    Returns:
        Shaped like ``weights``, float64; :func:`forward` gives the same outputs.
    """
    old = {name: v.double() for name, v in weights.items()}
    d = old["w"].shape[-1]
    free = torch.zeros(d, 2, dtype=torch.float64)
    free[:-2, 0] = 1  # all positions together
    free[:-3, 1], free[-2:, 1] = 1, -1  # positions of a string against its bits
    keys = old["W_qk"][:, -3] - old["W_qk"][:, -3] @ free @ torch.linalg.pinv(free)
    sign = free[:, 1:]
    V = old["W_v"] - sign @ (sign.mT @ old["W_v"]) / (d - 1)
    size = V.norm(dim=1)  # (E, k)
    read = (old["W_c"] @ old["w"][..., None])[..., 0]
    scale = torch.where((size > 0) & (read != 0), (read.abs() / size).sqrt(), 1.0)
    read = read / scale
    root = read.norm(dim=1, keepdim=True).sqrt()
    root = torch.where(root > 0, root, 1.0)
    new = {name: torch.zeros_like(v) for name, v in old.items()}
    new["w"][:, :1] = root
    new["W_c"][..., 0] = read / root
    new["W_v"] = V * scale[:, None]
    new["W_qk"][:, -3] = keys
    return new


@validated
def norms(weights: Weights, e: int) -> single_layer.Norms:
    """What the bounds of the third and the fourth paper ask of model ``e``."""
    own = {name: v[e].double() for name, v in weights.items()}
    T = own["w"].shape[-1] - 3
    X = tokens(torch.ones(1, T, dtype=torch.int64)).double()
    return single_layer.measured_norms(own["w"], own["W_c"], own["W_v"], own["W_qk"], X)


def squared_norm(weights: Weights) -> Tensor:
    """Sum of the squares of the weights that are read, shape ``(E,)``; of ``W_qk`` one row."""
    read = {**weights, "W_qk": weights["W_qk"][:, -3]}
    return torch.stack([v.flatten(1).square().sum(1) for v in read.values()]).sum(0)
