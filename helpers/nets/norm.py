r"""Layer norm, one formula for every model: a row minus its mean, over its deviation."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from helpers.checks import require_amount, validated


@validated
def layer_norm(Y: Tensor, eps: float) -> Tensor:
    r"""Rows normalised, without gain and bias: :math:`(Y - \bar Y) / \sqrt{s^2 + \varepsilon}`.

    Args:
        Y: Shape ``(*, D)``.
        eps: Added to the variance, at least 0; without it a row of equal columns gives nan.

    Returns:
        Shape of ``Y``; what divides a row is the root of its :func:`variance`.

    Example:
        >>> import torch
        >>> from helpers.nets.norm import layer_norm
        >>> layer_norm(torch.tensor([3.0, 5.0]), 0.0)
        tensor([-1.,  1.])
    """
    require_amount(eps=eps)
    return functional.layer_norm(Y, Y.shape[-1:], eps=eps)


@validated
def variance(Y: Tensor, eps: float = 0.0, *, correction: int = 0) -> Tensor:
    r"""What layer norm divides by, squared: the variance of each row, plus epsilon.

    Args:
        Y: Shape ``(*, D)``, floating.
        eps: Added, at least 0.
        correction: 0 divides by D, as layer norm and the papers do. 1 divides by D - 1: so does
            the code of Hahn and Rofin (2024) where it measures blow-up, and nothing else.

    Returns:
        Shape ``(*)``.

    Example:
        >>> import torch
        >>> from helpers.nets.norm import variance
        >>> variance(torch.tensor([3.0, 5.0])), variance(torch.tensor([3.0, 5.0]), correction=1)
        (tensor(1.), tensor(2.))
    """
    require_amount(eps=eps)
    return Y.var(-1, correction=correction) + eps
