r"""How much layer norms can magnify what they are given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.checks import require_amount, require_choice, validated
from helpers.nets.norm import variance

FORMS = ("paper", "code")


@validated
def layer_norm_blowup(
    inputs: Sequence[Tensor], eps: float = 1e-5, *, form: str = "paper"
) -> Tensor:
    r"""How much the layer norms of a network can magnify, one after the other.

    With :math:`Y^{(k)}_w` what layer norm k is given at token w, and :math:`s^2` the variance of
    its D numbers (divided by D),

    .. math::

        \mathrm{Blowup} = \prod_k \tau^{(k)}, \qquad
        \tau^{(k)} = \max_w \Bigl\{ 1 + \frac1{\sqrt{s^2(Y^{(k)}_w) + \varepsilon}} \Bigr\}

    The authors' code takes :math:`\max_w 1/s` instead, with the variance divided by D - 1 and
    without epsilon.

    Args:
        inputs: What each layer norm is given, shapes ``(*, T_k, D_k)``, with the same ``*``.
        eps: The epsilon of the layer norms, at least 0.
        form: ``"paper"`` or ``"code"``.

    Returns:
        Shape ``(*)``: at least 1 in the paper's form; infinite where a variance is 0 without
        epsilon.

    Raises:
        ValueError: no layer norms, no tokens, shapes that do not agree, or a number out of range.
        TypeError: inputs are not floating.

    Source: Hahn and Rofin (2024), Section 3.

    Example:
        >>> import torch
        >>> from papers.sensitive.magnification import layer_norm_blowup
        >>> layer_norm_blowup([torch.tensor([[1.0, 1.5]])], eps=0.0)  # 1 + 1 / 0.25
        tensor(5.)
    """
    require_choice("form", form, FORMS)
    require_amount(eps=eps)
    if not inputs:
        raise ValueError("expected the input of at least one layer norm, got none")
    least = 1 if form == "paper" else 2
    factors = []
    for Y in inputs:
        if not Y.is_floating_point():
            raise TypeError(f"inputs of a layer norm must be floating, got {Y.dtype}")
        if Y.ndim < 2 or Y.shape[-2] < 1 or Y.shape[-1] < least:
            raise ValueError(
                f"expected shapes (..., T, D) with T >= 1 and D >= {least}, got {tuple(Y.shape)}"
            )
        if Y.shape[:-2] != inputs[0].shape[:-2]:
            found = [tuple(y.shape) for y in inputs]
            raise ValueError(f"layer norms must agree on all axes but the last two, got {found}")
        if form == "paper":
            factors.append(1 + variance(Y, eps).rsqrt().amax(-1))
        else:
            factors.append(variance(Y, correction=1).rsqrt().amax(-1))
    return torch.stack(factors).prod(0)
