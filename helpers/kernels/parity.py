"""Sums of characters at given points: public function and torch reference."""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 1 << 22  # sign table entries held at once


def evaluate(masks: Tensor, coefficients: Tensor, points: Tensor) -> Tensor:
    r"""Values of a sparse Walsh polynomial.

    .. math:: f(x) = \sum_S c_S\, \chi_S(x), \qquad \chi_S(x) = (-1)^{|S \wedge x|}

    Args:
        masks: Subsets S as bit masks, shape ``(S,)``, int64, non-negative (at most 62 bits).
        coefficients: Shape ``(S,)``, float32 or float64.
        points: Indices of cube points, shape ``(M,)``, int64, non-negative.

    Returns:
        Shape ``(M,)``, dtype of ``coefficients``.

    Raises:
        TypeError: masks or points are not int64, or coefficients not floating.
        ValueError: shapes differ, or a mask or point is negative.

    Cost: S M sign evaluations, in chunks of at most 32 MiB.
    """
    for name, v in (("masks", masks), ("points", points)):
        if v.dtype != torch.int64:
            raise TypeError(f"{name} must be int64, got {v.dtype}")
        if v.numel() and int(v.min()) < 0:
            raise ValueError(f"{name} must be non-negative, found {int(v.min())}")
    if coefficients.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"coefficients must be float32 or float64, got {coefficients.dtype}")
    if masks.ndim != 1 or masks.shape != coefficients.shape or points.ndim != 1:
        raise ValueError(
            f"expected masks and coefficients of one shape (S,) and points (M,), got "
            f"{tuple(masks.shape)}, {tuple(coefficients.shape)}, {tuple(points.shape)}"
        )
    rows = max(1, CHUNK // max(1, len(masks)))
    parts = [evaluate_reference(masks, coefficients, p) for p in points.split(rows)]
    return torch.cat(parts) if parts else coefficients.new_zeros(0)


def evaluate_reference(masks: Tensor, coefficients: Tensor, points: Tensor) -> Tensor:
    """Plain torch, the whole table of signs at once."""
    odd = popcount(masks & points[:, None]) & 1  # (M, S)
    return (1 - 2 * odd).to(coefficients.dtype) @ coefficients


def popcount(x: Tensor) -> Tensor:
    """Number of ones of non-negative int64 numbers; same shape, int64."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101) >> 56
