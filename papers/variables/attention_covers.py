r"""Covers of linear layers by members of the class: each is the end of a short walk from 0.

A layer maps x to :math:`W^\top x`; matrices are ``(*batch, d_1, d_2)``, the N inputs are rows,
``(*batch, N, d_1)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import require_finite, require_floating, require_scale, validated


class Walk(NamedTuple):
    """Where a walk ended.

    Attributes:
        centre: The last matrix, shape of the one that was looked for.
        steps: Steps taken, shape ``(*batch,)``, int64.
    """

    centre: Tensor
    steps: Tensor


@validated
def walk(
    W: Tensor,
    inputs: Tensor,
    epsilon: float,
    project: Callable[[Tensor], Tensor] | None = None,
    *,
    stride: float = 1.0,
    most: int = 10_000,
) -> Walk:
    r"""Walk from 0 until the outputs on all inputs are those of W, up to epsilon in the 2-norm.

    While :math:`\|(W - V)^\top x_n\|_2 > \epsilon` for an input, some output i of some input n is
    off by more than :math:`\epsilon / \sqrt{d_2}`. The worst of these moves column i:

    .. math:: V \leftarrow \Pi\Bigl( V \pm \frac{\epsilon}{\sqrt{d_2} B_x^2}\, x_n e_i^\top \Bigr),
        \qquad B_x = \max_n \|x_n\|_2

    Each step lowers :math:`\|W - V\|_F^2` by more than :math:`\epsilon^2 / d_2 B_x^2`, so there
    are at most :math:`d_2 \|W\|_F^2 B_x^2 / \epsilon^2`. The list of n, i and signs determines the
    centre.

    Args:
        W: Floating.
        inputs: Not all 0.
        epsilon: Scale, positive.
        project: Onto the class, nearest in the Frobenius norm; None: all matrices.
        stride: Length of a step over the one above, positive; 1 in the proof.
        most: Where a walk is given up.

    Cost: N d_1 d_2 for each step. Source: the chapter on linear layers; the mistakes of a
    perceptron are counted so.
    """
    require_finite(W=W, inputs=inputs)
    require_floating(W=W, inputs=inputs)
    require_scale(epsilon=epsilon, stride=stride)
    share, length = epsilon / math.sqrt(W.shape[-1]), inputs.norm(dim=-1).amax(-1)
    centre, steps = torch.zeros_like(W), torch.zeros(W.shape[:-2], dtype=torch.int64)
    for _ in range(most):
        off = inputs @ (W - centre)  # (*batch, N, d_2)
        going = off.norm(dim=-1).amax(-1) > epsilon * (1 + 1e-12)
        if not bool(going.any()):
            break
        worst = off.abs().flatten(-2).argmax(-1, keepdim=True)
        chosen = torch.zeros_like(off).flatten(-2).scatter(-1, worst, 1.0).reshape(off.shape)
        step = stride * share / length[..., None, None] ** 2
        moved = centre + step * (inputs.mT @ (chosen * off.sign()))
        moved = moved if project is None else project(moved)
        centre = torch.where(going[..., None, None], moved, centre)
        steps += going
    return Walk(centre, steps)
