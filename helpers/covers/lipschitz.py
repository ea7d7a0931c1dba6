"""How far the outputs of softmax, blocks and a read-out move when their inputs move."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import readable, require_floating, require_scale, validated

SOFTMAX = 1.0
"""Lipschitz constant of softmax from the largest to the summed difference."""
SOFTMAX_PRINTED = 2.0
"""The constant of Edelman et al. (2022), Corollary A.7."""


@dataclass(frozen=True)
class Sides:
    """Both sides of an inequality, each of shape ``(*batch,)``."""

    left: Tensor
    right: Tensor

    @property
    def ratio(self) -> Tensor:
        """Left over right; 0 where both are 0, infinite where only the right is."""
        return torch.where(self.left == 0, torch.zeros_like(self.left), self.left / self.right)


@validated
def softmax_sides(logits: Tensor, other: Tensor, constant: float = SOFTMAX) -> Sides:
    r"""Difference of softmax against a constant times the difference of the logits.

    .. math:: \|\mathrm{softmax}(a) - \mathrm{softmax}(b)\|_1 \le c\, \|a - b\|_\infty

    Source: Edelman et al. (2022), Corollary A.7, with c = 2; true with c = 1.
    """
    require_floating(logits=logits, other=other)
    require_scale(constant=constant)
    left = (logits.softmax(-1) - other.softmax(-1)).abs().sum(-1)
    return Sides(left, constant * (logits - other).abs().amax(-1))


@validated
def layer_factor(
    B_C: Tensor,
    B_V: Tensor,
    B_QK: Tensor,
    constant: float = SOFTMAX,
    lipschitz: float = 1.0,
) -> Tensor:
    r"""Bound on how much a block magnifies errors of its input, :math:`L B_C B_V (1 + 2c B_{QK})`.

    Args:
        B_C: Spectral norm of W_C, or a bound on it, at least 0.
        B_V: The same of W_V.
        B_QK: The same of W_QK.
        constant: The c of softmax, positive.
        lipschitz: L of the activation, positive.

    Source: Edelman et al. (2022), Lemma A.15, with c = 2.
    """
    require_scale(constant=constant, lipschitz=lipschitz)
    for name, bound in (("B_C", B_C), ("B_V", B_V), ("B_QK", B_QK)):
        if readable(bound) and not bool((bound >= 0).all()):
            raise ValueError(f"{name} must be at least 0, got {bound.min().item()}")
    return lipschitz * B_C * B_V * (1 + 2 * constant * B_QK)


def readout_sides(g: Tensor, other: Tensor, w: Tensor, w_hat: Tensor) -> Sides:
    r"""A linear read-out of one token with two sets of weights.

    .. math:: |w^\top g - \hat w^\top \hat g| \le \|w\|_2 \|g - \hat g\|_2
        + |(w - \hat w)^\top \hat g|

    Args:
        g: The token that is read, ``(*batch, d)``.
        other: The perturbed network's.
        w: Weights, ``(*batch, d)``.
        w_hat: Perturbed weights.

    Source: Edelman et al. (2022), Lemma A.16.
    """
    left = ((w * g).sum(-1) - (w_hat * other).sum(-1)).abs()
    right = w.norm(dim=-1) * (g - other).norm(dim=-1) + ((w - w_hat) * other).sum(-1).abs()
    return Sides(left, right)


def later_factors(factors: Tensor) -> Tensor:
    r"""What layer i's own error is multiplied by in the end, :math:`\prod_{j > i} a_j`.

    Args:
        factors: The a, shape ``(*batch, L)``, at least 0.

    Source: Edelman et al. (2022), Theorem A.17, where the product runs over j < i.
    """
    if factors.ndim == 0 or factors.shape[-1] == 0:
        found = tuple(factors.shape)
        raise ValueError(f"expected one number for each of at least one layer, got shape {found}")
    require_floating(factors=factors)
    bad = factors[~((factors >= 0) & factors.isfinite())]
    if bad.numel():
        raise ValueError(f"factors must be finite and at least 0, found {bad[0].item()}")
    ones = torch.ones_like(factors[..., :1])
    return torch.cat((ones, factors.flip(-1)[..., :-1]), -1).cumprod(-1).flip(-1)
