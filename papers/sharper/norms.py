r"""Sizes of the hand-written network of :mod:`papers.sharper.network`, and its balance.

Every block of weights has a squared norm that can be written down, and every activation a largest
norm. The MLP computes the same function when G and b are multiplied by a positive number and F is
divided by it; which number is best depends on what is to be small.
"""

from __future__ import annotations

import math

from torch import Tensor

from helpers.checks import require_choice, require_positive, require_scale, validated
from helpers.cube import BASES
from helpers.weights import Weights
from papers.sharper.network import ConstructionSpec, forward


@validated
def closed_norms(
    degree: int, coefficients: Tensor, scales: tuple[float, float], basis: str
) -> dict[str, Tensor]:
    r"""Squared norm of every block of weights, in closed form, for strings of any length.

    With the scales :math:`L_1, L_2`, :math:`S = \sum_i c_i`, and h the number of heights of the MLP
    that are not 0 (d + 1 for characters, :math:`\lfloor d/2 \rfloor + 1` for indicators):

    .. math::

        |W_{KQ}^{(1)}|^2 = d W L_1^2, \quad |W_V^{(1)}|^2 = 1, \quad |G|^2 = 4(d + 1), \quad
        |F|^2 = 16 d^2 h,

        |b|^2 = \frac{2(d+1)(2d+1)}{3d} + \frac{5(d+1)}{4d^2}, \quad
        |W_{KQ}^{(2)}|^2 = \sum_i (L_2 + \log c_i)^2, \quad |v_2|^2 = S^2.

    Args:
        degree: d, at least 1.
        coefficients: Shape ``(*, W)``, positive, float64.
        scales: Both, as numbers.
        basis: ``"character"`` or ``"even_parity"``.

    Returns:
        Block -> shape ``(*,)``, in the order of the weights; their sum is that of the network.

    Source: ours; Lintilhac and Shaikh (2026), Theorem 10, gives bounds.
    """
    require_choice("basis", basis, BASES)
    require_positive(degree=degree)
    d, W = degree, coefficients.shape[-1]
    one = coefficients.new_ones(coefficients.shape[:-1])
    heights = d + 1 if basis == "character" else d // 2 + 1
    return {
        "WKQ1": d * W * scales[0] ** 2 * one,
        "WV1": one,
        "G": 4 * (d + 1) * one,
        "b": (2 * (d + 1) * (2 * d + 1) / (3 * d) + 5 * (d + 1) / (4 * d**2)) * one,
        "F": 16 * d**2 * heights * one,
        "WKQ2": (scales[1] + coefficients.log()).square().sum(-1),
        "v2": coefficients.sum(-1) ** 2,
    }


@validated
def block_bounds(n: int, degree: int, sparsity: int) -> dict[str, float]:
    r"""The paper's bound on the squared norm of every block, at the scale :math:`2 \log n`.

    Args:
        n: Bits, at least 1.
        degree: d, from 1 to n.
        sparsity: W, from 1 to n.

    Returns:
        Block -> bound. That on WKQ2 needs :math:`n^{-4} \le c_i \le 1`, that on v2 needs
        :math:`\sum_i c_i^2 \le 1`.

    Source: Lintilhac and Shaikh (2026), Theorem 10; their sum is the total that a public note
    quotes.
    """
    for name, value in (("degree", degree), ("sparsity", sparsity)):
        if not 1 <= value <= n:
            raise ValueError(f"{name} must lie between 1 and n = {n}, got {value}")
    score = 4 * math.log(n) ** 2
    return {
        "WKQ1": score * degree * sparsity,
        "WV1": 1.0,
        "G": 4.0 * (degree + 1),
        "b": 4.0 * (degree + 1),
        "F": 16.0 * degree**2 * (degree + 1),
        "WKQ2": score * sparsity,
        "v2": float(sparsity),
    }


def activation_norms(spec: ConstructionSpec, weights: Weights, bits: Tensor) -> dict[str, Tensor]:
    r"""Norms of what the network computes on the way, for each input.

    Args:
        spec: Sizes.
        weights: As made by :func:`papers.sharper.network.construct`; no ensemble axes.
        bits: Shape ``(B, n)`` in {0, 1}.

    Returns:
        Name -> shape ``(B,)``, in the order of the theorem: largest 2-norms of rows and columns,
        largest absolute entries, and for single vectors the 2-norm; ``z_out`` is the row of the
        output token.

    Source: the list is that of Lintilhac and Shaikh (2026), Theorem 11.
    """
    _, inside = forward(spec, weights, bits, intermediates=True)
    X, Z, second = inside["X"], inside["Z"], weights["WKQ2"]
    return {
        "rows of X": X.norm(dim=-1).amax(-1),
        "rows of Y": inside["prefix_sums"].abs().amax(-1),
        "rows of Z": Z.norm(dim=-1).amax(-1),
        "columns of Z": Z.norm(dim=-2).amax(-1),
        "entries of Z v2": (Z @ weights["v2"]).abs().amax(-1),
        "rows of Z W_KQ2^T": (Z @ second.mT).norm(dim=-1).amax(-1),
        "W_KQ2^T z_out": (Z[..., -1, :] @ second).norm(dim=-1),
        "z_out": Z[..., -1, :].norm(dim=-1),
    }


@validated
def rescaled(weights: Weights, alpha: float) -> Weights:
    r"""The same function with another balance of its MLP.

    .. math:: G \to \alpha G, \quad b \to \alpha b, \quad F \to F / \alpha

    Args:
        weights: With any leading axes.
        alpha: Positive and finite.

    Source: Lintilhac and Shaikh (2026), Appendix D.
    """
    require_scale(alpha=alpha)
    return weights | {
        "G": alpha * weights["G"],
        "b": alpha * weights["b"],
        "F": weights["F"] / alpha,
    }
