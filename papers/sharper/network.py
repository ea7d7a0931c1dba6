r"""The two-attention transformer that computes a sparse sum of parities, with weights set by hand.

A function of n bits is shown as n + 1 tokens: token j is a one-hot vector of its position beside
one value column that holds bit j; the last token is the output position, with bit 0. Component i
of the function lives at position i. The first attention averages the bits of its subset, an MLP
turns the average into a parity, the second attention, read at the output position, weighs the
parities by the coefficients.

This is the form of the paper's proofs: they count the norms of whole score matrices, which
:mod:`helpers.nets.transformer` has as products. :mod:`papers.sharper.learnable` writes the network
as weights of that one.

Weights are a flat dict of tensors. With D = n + 2 columns and H = 4(d + 1) hidden units:

====  =======  =========================================================================
WKQ1  (D, D)   scores of attention 1 are X WKQ1 X^T, rows for the query
WV1   (D, D)   copies the value column
G, b  (H, D)   and (H,): hidden units of the MLP, which read the value column
F     (D, H)   writes the parity into the value column
WKQ2  (D, D)   scores of attention 2, as in the first
v2    (D,)     reads the value column, times the sum of the coefficients
====  =======  =========================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, overload

import torch
from torch import Tensor

from helpers.checks import (
    number,
    require_bits,
    require_choice,
    require_floating,
    require_positive,
    require_whole,
    validated,
)
from helpers.cube import BASES, SparseFunction
from helpers.kernels.parity import popcount
from helpers.weights import Weights

LogitScale = float | Sequence[float | None] | None


@dataclass(frozen=True)
class ConstructionSpec:
    """Sizes of the network.

    Attributes:
        n: Bits of the input.
        degree: Size of every subset, d.
        sparsity: Number of subsets, W.
        basis: ``"even_parity"`` or ``"character"``, see :class:`helpers.cube.SparseFunction`.
    """

    n: int
    degree: int
    sparsity: int
    basis: str

    @property
    def positions(self) -> int:
        """Tokens: the bits and the output position."""
        return self.n + 1

    @property
    def width(self) -> int:
        """Columns of a token, D: one for each position and the value."""
        return self.n + 2

    @property
    def hidden(self) -> int:
        """Hidden units of the MLP, H: four for each possible count."""
        return 4 * (self.degree + 1)


@validated
def construct(
    function: SparseFunction, logit_scale: LogitScale = None
) -> tuple[ConstructionSpec, Weights]:
    r"""Weights that compute a sparse sum of parities, up to the leak of attention.

    With the scales :math:`L_1, L_2`, the positions i counted from 1 to W, and e the value column:

    .. math::

        (W_{KQ}^{(1)})_{ij} = L_1 [j \in U_i], \qquad
        (W_{KQ}^{(2)})_{n+1,\,i} = \log c_i + L_2, \qquad
        W_V^{(1)} = e e^\top, \qquad v_2 = \Bigl(\sum_i c_i\Bigr) e,

    with the MLP of :func:`trapezoid`. At finite :math:`L_2` the output is *not* the function: see
    :func:`leaks` for the error, and :func:`construct_exact` for a network without it.

    Args:
        function: Subsets all of one size d, 1 to n; coefficients positive; sparsity 1 to n.
        logit_scale: None: the paper's :math:`2 \log n` in both layers, which is 0 at n = 1. A
            number: that scale in both layers. A pair: one for each layer, where None is again the
            paper's. Finite, at least 0; 40 is beyond the rounding of float64.

    Returns:
        The sizes, and the weights listed at the top of this module, float64.

    Raises:
        ValueError: the function is not of this kind, or a scale is negative or not finite.
        TypeError: not a :class:`helpers.cube.SparseFunction`.

    Cost: 3 D**2 + 2 H D numbers. Source: Lintilhac and Shaikh (2026), Appendix B.
    """
    spec = _spec(function)
    scales = _scales(spec.n, logit_scale)
    return spec, assemble(spec, _members(function), function.coefficients, scales)


@validated
def construct_exact(
    function: SparseFunction, logit_scale: LogitScale = None
) -> tuple[ConstructionSpec, Weights]:
    r"""The same network, repaired: it equals the function at every second scale.

    The positions without a component attend to the output position in the first layer, which puts
    them on the plateau of count 0, so that the MLP writes 1 there whatever the input. The read-out
    takes that 1 away, and undoes the normalisation of the second softmax:

    .. math::

        (W_{KQ}^{(1)})_{j,\,n+1} = \log((4d - 1)\, n), \qquad
        v_2 = \bigl(S + (n + 1 - W)\, e^{-L_2}\bigr) \Bigl(e - \sum_{j > W} e_j\Bigr), \qquad
        W < j \le n + 1, \quad S = \sum_i c_i.

    Args:
        function: As for :func:`construct`.
        logit_scale: As for :func:`construct`; the first scale at least :func:`plateau_scale`, and
            None is the larger of that and the paper's.

    Returns:
        As :func:`construct`.

    Raises:
        ValueError: as :func:`construct`, or the first scale is too small.

    Source: ours.
    """
    spec = _spec(function)
    first, second = _scales(spec.n, logit_scale)
    needed = plateau_scale(spec.n, spec.degree)
    if _pair(logit_scale)[0] is None:
        first = max(first, needed)
    elif first < needed:
        of = f"the first logit_scale for n = {spec.n} and degree {spec.degree}"
        raise ValueError(f"{of} must be at least {needed:.6g}, got {first:.6g}")
    scales = first, second
    return spec, assemble(spec, _members(function), function.coefficients, scales, exact=True)


def assemble(
    spec: ConstructionSpec,
    members: Tensor,
    coefficients: Tensor,
    scales: tuple[float, float],
    exact: bool = False,
) -> Weights:
    """Weights of :func:`construct`, or of :func:`construct_exact`, for strings of any length.

    A :class:`helpers.cube.SparseFunction` ends at 62 bits; here the subsets are rows of a matrix.

    Args:
        spec: Sizes.
        members: Shape ``(W, n)``, 1 where a bit is in the subset, else 0; d ones in each row.
        coefficients: Shape ``(W,)``, positive, float64.
        scales: Both, as numbers.
        exact: The repaired network.

    Raises:
        ValueError: a coefficient that is not positive and finite.
    """
    _check_coefficients(coefficients)
    n, W, D, H = spec.n, spec.sparsity, spec.width, spec.hidden
    (first, second), total = scales, coefficients.sum()
    shapes = {"WKQ1": (D, D), "WV1": (D, D), "G": (H, D), "b": (H,), "F": (D, H), "WKQ2": (D, D)}
    shapes["v2"] = (D,)
    weights = {k: torch.zeros(shape, dtype=torch.float64) for k, shape in shapes.items()}
    weights["WKQ1"][:W, :n] = first * members.double()
    weights["WV1"][-1, -1] = 1
    G, weights["b"], F = trapezoid(parity_values(spec.degree, spec.basis))
    weights["G"][:, -1:] = G
    weights["F"][-1:] = F
    weights["WKQ2"][n, :W] = coefficients.log() + second
    weights["v2"][-1] = total
    if exact:
        weights["WKQ1"][W : n + 1, n] = math.log((4 * spec.degree - 1) * n)
        weights["v2"][-1] = total + (n + 1 - W) * math.exp(-second)
        weights["v2"][W : n + 1] = -weights["v2"][-1]
    return weights


def trapezoid(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""A one-dimensional MLP that takes given values on the grid 0, 1/d, ..., 1, and plateaus.

    .. math::

        g(y) = F \,\mathrm{relu}(G y + b) = \sum_{k=0}^{d} v_k\, 2d \Bigl[
        (y - \tfrac kd + \tfrac3{4d})_+ - (y - \tfrac kd + \tfrac1{4d})_+
        - (y - \tfrac kd - \tfrac1{4d})_+ + (y - \tfrac kd - \tfrac3{4d})_+ \Bigr]

    Each term is a trapezoid of height v_k: flat for :math:`|y - k/d| \le 1/(4d)`, zero beyond
    :math:`3/(4d)`, straight between. So g is v_k on a plateau around k/d, and between two
    plateaus it is the straight line that joins them.

    Args:
        values: The v_k, shape ``(d + 1,)`` with d at least 1, floating.

    Returns:
        G, b, F, of shapes ``(H, 1)``, ``(H,)`` and ``(1, H)`` with H = 4(d + 1); see :func:`mlp`.

    Raises:
        ValueError: fewer than two values, or not one axis.
        TypeError: values are not floating.

    Source: Lintilhac and Shaikh (2026), Theorem 9.
    """
    require_floating(values=values)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"expected d + 1 >= 2 values on one axis, got {tuple(values.shape)}")
    d = len(values) - 1
    corners = values.new_tensor([3.0, 1.0, -1.0, -3.0]) / (4 * d)
    signs = values.new_tensor([1.0, -1.0, -1.0, 1.0])
    grid = torch.arange(d + 1, dtype=values.dtype, device=values.device) / d
    b = (corners - grid[:, None]).flatten()
    F = (2 * d * signs * values[:, None]).flatten()
    return torch.ones_like(b)[:, None], b, F[None]


def mlp(y: Tensor, G: Tensor, b: Tensor, F: Tensor) -> Tensor:
    """One hidden layer, ``relu(y G^T + b) F^T``, shape ``(*, in)`` -> ``(*, out)``.

    Args:
        y: Shape ``(*, in)``.
        G: Shape ``(*, H, in)``.
        b: Shape ``(*, 1, H)`` or ``(H,)``.
        F: Shape ``(*, out, H)``.
    """
    return torch.relu(y @ G.mT + b) @ F.mT


@validated
def parity_values(degree: int, basis: str) -> Tensor:
    """What the MLP must say of k ones among ``degree`` bits, shape ``(degree + 1,)``, float64.

    1, 0, 1, ... in the basis ``"even_parity"``; 1, -1, 1, ... in ``"character"``.
    """
    require_choice("basis", basis, BASES)
    require_positive(degree=degree)
    odd = (torch.arange(degree + 1) % 2).double()
    return 1 - odd if basis == "even_parity" else 1 - 2 * odd


def tokens(spec: ConstructionSpec, bits: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """The input matrix X: one-hot positions beside the bits, the output position last, bit 0.

    Args:
        spec: Sizes.
        bits: Shape ``(*, B, n)`` in {0, 1}, integer or bool.
        dtype: Of the result.

    Returns:
        Shape ``(*, B, n + 1, n + 2)``.

    Raises:
        ValueError: another number of bits, or a number other than 0 and 1.
        TypeError: bits are floating.
    """
    require_whole(bits=bits)
    if bits.ndim < 2 or bits.shape[-1] != spec.n:
        raise ValueError(f"expected bits of shape (..., B, {spec.n}), got {tuple(bits.shape)}")
    require_bits(bits)
    values = torch.nn.functional.pad(bits.to(dtype), (0, 1))[..., None]  # (*, B, n + 1, 1)
    positions = torch.eye(spec.positions, dtype=dtype, device=bits.device)
    return torch.cat((positions.expand(*values.shape[:-1], -1), values), -1)


@overload
def forward(
    spec: ConstructionSpec, weights: Weights, bits: Tensor, intermediates: Literal[False] = False
) -> Tensor: ...
@overload
def forward(
    spec: ConstructionSpec, weights: Weights, bits: Tensor, intermediates: Literal[True]
) -> tuple[Tensor, Weights]: ...
def forward(
    spec: ConstructionSpec, weights: Weights, bits: Tensor, intermediates: bool = False
) -> Tensor | tuple[Tensor, Weights]:
    r"""Run the network; a pure function of the weights.

    .. math::

        Y = \mathrm{softmax}(X W_{KQ}^{(1)} X^\top)\, X W_V^{(1)}, \qquad
        Z = X P + \mathrm{relu}(Y G^\top + b)\, F^\top, \qquad
        f = \mathrm{softmax}(z_{n+1}^\top W_{KQ}^{(2)} Z^\top)\, Z v_2

    P clears the value column: the skip connection brings back the positions and not the bits.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`, each with any leading ensemble axes.
        bits: Shape ``(*, B, n)`` in {0, 1}, integer or bool; ``*`` broadcasts with the axes of
            the ensemble.
        intermediates: Also return what happens inside.

    Returns:
        Outputs, shape ``(*, B)``, in the dtype of the weights. With ``intermediates`` also a dict:
        ``X``, ``Z`` of shape ``(*, B, n + 1, n + 2)``; ``scores1``, ``attention1`` of shape
        ``(*, B, n + 1, n + 1)``, rows for the query; ``prefix_sums`` (the value column of Y),
        ``parities`` (that of Z), ``scores2``, ``attention2``, each ``(*, B, n + 1)``.

    Raises:
        ValueError: bits of another length or other values.
        TypeError: bits are floating.

    Cost: (D + H) (n + 1) D multiplications an input, about. Source: Lintilhac and Shaikh (2026),
    Appendix B.
    """
    if weights["WKQ1"].shape[-1] != spec.width:
        raise ValueError(
            f"the weights are for {weights['WKQ1'].shape[-1] - 2} bits, the sizes for {spec.n}"
        )
    matrix = {k: v if v.ndim < 3 else v.unsqueeze(-3) for k, v in weights.items()}  # room for B
    X = tokens(spec, bits, weights["v2"].dtype)
    scores1 = X @ matrix["WKQ1"] @ X.mT
    attention1 = scores1.softmax(-1)
    Y = attention1 @ X @ matrix["WV1"]
    M = mlp(Y, matrix["G"], weights["b"][..., None, None, :], matrix["F"])
    Z = torch.cat((X[..., :-1], torch.zeros_like(X[..., -1:])), -1) + M
    scores2 = (Z[..., -1:, :] @ matrix["WKQ2"] @ Z.mT).squeeze(-2)
    attention2 = scores2.softmax(-1)
    read = (Z @ weights["v2"][..., None, :, None]).squeeze(-1)  # (*, B, n + 1)
    output = (attention2 * read).sum(-1)
    if not intermediates:
        return output
    return output, {
        "X": X,
        "scores1": scores1,
        "attention1": attention1,
        "prefix_sums": Y[..., -1],
        "Z": Z,
        "parities": Z[..., -1],
        "scores2": scores2,
        "attention2": attention2,
    }


@validated
def leaks(function: SparseFunction, logit_scale: LogitScale = None) -> tuple[float, float]:
    r"""Shares of attention that miss their target: :math:`\varepsilon` and :math:`\lambda`.

    .. math::

        \varepsilon = \frac{n + 1 - d}{d\, e^{L_1} + n + 1 - d}, \qquad
        \lambda = \frac{n + 1 - W}{S\, e^{L_2} + n + 1 - W}, \qquad S = \sum_i c_i

    A prefix sum is at most :math:`\varepsilon` away from its grid point. If that is at most
    :math:`1/(4d)`, the MLP undoes it, and the output is :math:`(1 - \lambda) f + \lambda S m`,
    where m(x) is what the MLP makes of the share of ones among all n + 1 bits.

    Args:
        function: As for :func:`construct`.
        logit_scale: As for :func:`construct`.

    Returns:
        Both, between 0 and 1.

    Source: ours.
    """
    spec = _spec(function)
    first, second = _scales(spec.n, logit_scale)
    others, idle = spec.n + 1 - spec.degree, spec.n + 1 - spec.sparsity
    total = function.coefficients.sum().item()
    astray1, astray2 = others * math.exp(-first), idle * math.exp(-second)
    return astray1 / (astray1 + spec.degree), astray2 / (astray2 + total)


@validated
def plateau_scale(n: int, degree: int) -> float:
    r"""Least scale of the first layer whose leak the plateaus absorb at every input.

    .. math:: L_1 = \log \frac{(4d - 1)(n + 1 - d)}{d}

    Args:
        n: Bits, at least 1.
        degree: d, from 1 to n.

    Returns:
        At least log 3. The paper's :math:`2 \log n` reaches it for all n >= 2 if d >= 2, and for
        n >= 3 if d = 1.

    Source: ours.
    """
    if not 1 <= degree <= n:
        raise ValueError(f"degree must lie between 1 and n = {n}, got {degree}")
    return math.log((4 * degree - 1) * (n + 1 - degree) / degree)


def _spec(function: SparseFunction) -> ConstructionSpec:
    """Sizes of the network of a function; ValueError if it has none."""
    if not isinstance(function, SparseFunction):
        raise TypeError(f"expected a SparseFunction, got {type(function).__name__}")
    n, W = function.n, function.sparsity
    if not 1 <= W <= n:
        raise ValueError(f"the sparsity must lie between 1 and n = {n}, got {W}")
    sizes = popcount(function.masks).unique().tolist()
    if len(sizes) > 1:
        raise ValueError(f"the subsets must all have one size, found sizes {sizes}")
    if sizes[0] < 1:
        raise ValueError("the subsets must have at least one member, found the empty set")
    _check_coefficients(function.coefficients)
    return ConstructionSpec(n, sizes[0], W, function.basis)


def _check_coefficients(c: Tensor) -> None:
    """Raise ValueError for a coefficient without a logarithm, naming it."""
    wrong = c[~(c.isfinite() & (c > 0))]
    if wrong.numel():
        raise ValueError(f"the coefficients must be positive and finite, found {wrong[0]:.6g}")


def _members(function: SparseFunction) -> Tensor:
    """Rows of 0 and 1, one for each subset, shape ``(W, n)``."""
    return (function.masks[:, None] >> torch.arange(function.n)) & 1


def _pair(logit_scale: LogitScale) -> tuple[float | None, float | None]:
    pair = tuple(logit_scale) if isinstance(logit_scale, Sequence) else (logit_scale,) * 2
    if len(pair) != 2:
        raise ValueError(f"logit_scale takes one scale or a pair, got {len(pair)} numbers")
    return pair


def _scales(n: int, logit_scale: LogitScale) -> tuple[float, float]:
    """Both scales as numbers; None is the paper's."""
    for layer, scale in zip(("first", "second"), _pair(logit_scale), strict=True):
        name = f"the {layer} logit_scale"
        if scale is not None and not 0 <= number(name, scale) < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {scale}")
    first, second = (2 * math.log(n) if s is None else float(s) for s in _pair(logit_scale))
    return first, second
