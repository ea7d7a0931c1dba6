r"""Fourier-Walsh analysis of functions given as tables, in the conventions of :mod:`helpers.cube`.

Every function here takes tables of shape ``(*batch, 2**n)``, float32 or float64, and keeps dtype.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.checks import require_amount, require_finite, require_tensors, validated
from helpers.kernels.parity import popcount
from helpers.kernels.walsh import walsh_hadamard


def spectrum(f: Tensor) -> Tensor:
    r"""Fourier-Walsh coefficients.

    .. math:: \hat f(S) = 2^{-n} \sum_x f(x)\, \chi_S(x), \qquad f = \sum_S \hat f(S)\, \chi_S

    Args:
        f: Values, shape ``(*batch, 2**n)``.

    Returns:
        Same shape; entry S, a bit mask, is the coefficient of chi_S.

    Raises:
        ValueError: the last axis is no power of two.
        TypeError: not float32 or float64.

    Cost: n 2**n additions. Source: Lintilhac and Shaikh (2026), Eq. (1), in the +-1 basis.

    Example:
        >>> from helpers import cube
        >>> cube.spectrum(cube.majority(3))
        tensor([ 0.0000,  0.5000,  0.5000,  0.0000,  0.5000,  0.0000,  0.0000, -0.5000],
               dtype=torch.float64)
    """
    return walsh_hadamard(_floating(f)) / f.shape[-1]


def even_parity_coefficients(f: Tensor) -> Tensor:
    r"""Coefficients in the basis of the even-parity indicators, :math:`p_S = (1 + \chi_S)/2`.

    .. math::

        f = \sum_S a_S\, p_S, \qquad a_S = 2 \hat f(S) \; (S \ne \emptyset), \qquad
        a_\emptyset = 2 \hat f(\emptyset) - f(1, \dots, 1)

    Args:
        f: Values, shape ``(*batch, 2**n)``.

    Returns:
        Same shape; entry S, a bit mask, is the coefficient of p_S. Unique, but p is no orthogonal
        basis: the constant reads one single value of f.

    Raises:
        ValueError: the last axis is no power of two.
        TypeError: not float32 or float64.

    Cost: as :func:`spectrum`. Source: Lintilhac and Shaikh (2026), Eq. (1), in their own basis.

    Example:
        >>> from helpers import cube
        >>> cube.even_parity_coefficients(cube.parity(2))  # chi = 2 p - 1
        tensor([-1.,  0.,  0.,  2.], dtype=torch.float64)
    """
    a = 2 * spectrum(f)
    a[..., 0] -= f[..., 0]
    return a


def degree_profile(f: Tensor) -> Tensor:
    r"""Fourier weight by degree, :math:`d_i = \sum_{|S| = i} \hat f(S)^2`.

    Returns:
        Shape ``(*batch, n + 1)``, non-negative; sums to E f^2 (Parseval).

    Cost: as :func:`spectrum`. Source: Hahn and Rofin (2024), Section 2.

    Example:
        >>> from helpers import cube
        >>> cube.degree_profile(cube.majority(3))
        tensor([0.0000, 0.7500, 0.0000, 0.2500], dtype=torch.float64)
    """
    weights = spectrum(f).square()
    sizes = _set_sizes(f)
    profile = weights.new_zeros(*f.shape[:-1], f.shape[-1].bit_length())
    return profile.index_add_(-1, sizes, weights)


def average_sensitivity(f: Tensor) -> Tensor:
    r"""Average sensitivity, that is, total influence.

    .. math::

        \mathrm{as}(f) = \sum_{S \subseteq [n]} |S|\, \hat f(S)^2
        = 2^{-n} \sum_x \tfrac14 \sum_i |f(x) - f(x^{\oplus i})|^2

    Args:
        f: Values, shape ``(*batch, 2**n)``.

    Returns:
        Shape ``(*batch,)``; for f in {-1, 1} between 0 and n, in expected bit flips.

    Raises:
        ValueError: the last axis is no power of two.
        TypeError: not float32 or float64.

    Cost: n 2**n additions. Source: Hahn and Rofin (2024), Definition 3 and Eq. (17).

    Example:
        >>> from helpers import cube
        >>> cube.average_sensitivity(cube.majority(3)).item()  # 0.75 + 3 * 0.25
        1.5
    """
    return (spectrum(f).square() * _set_sizes(f)).sum(-1)


def local_sensitivity(f: Tensor) -> Tensor:
    r"""Sensitivity at each point, :math:`s(x, f) = \frac14 \sum_i |f(x) - f(x^{\oplus i})|^2`.

    Returns:
        Same shape as ``f``; for f in {-1, 1} the number of flips that change f at x.

    Raises:
        ValueError: the last axis is no power of two, or the batch is empty.
        TypeError: not float32 or float64.

    Cost: n 2**n, from the table itself and not from the spectrum. Source: as above, Eq. (1).

    Example:
        >>> from helpers import cube
        >>> cube.local_sensitivity(cube.majority(3))
        tensor([0., 2., 2., 2., 2., 2., 2., 0.], dtype=torch.float64)
    """
    require_tensors(f=f)
    _set_sizes(f)  # checks the shape
    if not f.numel():
        raise ValueError(f"the batch is empty: shape {tuple(f.shape)}")
    i = torch.arange(f.shape[-1], device=f.device)
    total = torch.zeros_like(_floating(f))
    for k in range(f.shape[-1].bit_length() - 1):
        total += (f - f[..., i ^ (1 << k)]).square()
    return total / 4


@validated
def degree(f: Tensor, tol: float | None = None) -> int:
    """Largest |S| with a coefficient above ``tol`` in absolute value; 0 if there is none.

    Args:
        f: Values, shape ``(2**n,)``.
        tol: Largest coefficient taken for rounding, at least 0; None: sqrt(machine eps) of the
            dtype times the largest |value|, so that a multiple of f has the degree of f.

    Raises:
        ValueError: not one table, or an entry that is not finite; as :func:`spectrum` further.

    Example:
        >>> from helpers import cube
        >>> cube.degree(cube.majority(3)), cube.degree(cube.first(3))
        (3, 1)
    """
    if _floating(f).ndim != 1:
        raise ValueError(f"degree takes one table, got shape {tuple(f.shape)}")
    found = _set_sizes(f)[_above(f, tol)]
    return int(found.max()) if found.numel() else 0


@validated
def sparsity(f: Tensor, tol: float | None = None) -> Tensor:
    """Number of coefficients above ``tol`` in absolute value, shape ``(*batch,)``, int64.

    Args:
        f: Values, shape ``(*batch, 2**n)``.
        tol: As for :func:`degree`; the largest |value| is that of each table.

    Raises:
        ValueError: an entry that is not finite; as :func:`spectrum` further.

    Example:
        >>> from helpers import cube
        >>> cube.sparsity(cube.majority(3)).item()
        4
    """
    return _above(f, tol).sum(-1)


def _above(f: Tensor, tol: float | None) -> Tensor:
    """Which coefficients exceed ``tol``; NaN would exceed nothing, and is refused."""
    found = spectrum(f)
    require_finite(f=f)
    if tol is not None:
        require_amount(tol=tol)
        return found.abs() > tol
    largest = f.abs().amax(-1, keepdim=True)
    return found.abs() > math.sqrt(torch.finfo(f.dtype).eps) * largest


def _set_sizes(f: Tensor) -> Tensor:
    """|S| for every mask S, shape ``(2**n,)``, int64."""
    N = _floating(f).shape[-1] if f.ndim else 0
    if N < 1 or N & (N - 1):
        raise ValueError(f"the last axis must be a power of two, got shape {tuple(f.shape)}")
    return popcount(torch.arange(N, device=f.device))


def _floating(f: Tensor) -> Tensor:
    require_tensors(f=f)
    if f.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"expected float32 or float64, got {f.dtype}")
    return f
