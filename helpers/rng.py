"""Seeded random numbers, float64 where they are not whole, and float64 tensors from literals."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from helpers.checks import whole


class Rng:
    """One generator and the draws that are taken from it, one after the other.

    Args:
        seed: A whole number of 64 bits, from -2**63 to 2**64 - 1.

    Attributes:
        generator: For functions that take a ``torch.Generator``; it is shared with the draws.

    Raises:
        TypeError: a seed that is no whole number.
        ValueError: a seed of more bits.

    Example:
        >>> source = Rng(0)
        >>> source.normal(2, 3).shape, source.normal(2, 3).dtype
        (torch.Size([2, 3]), torch.float64)
        >>> 1 <= source.whole(1, 6) <= 6
        True
    """

    def __init__(self, seed: int) -> None:
        seed = whole("seed", seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"seed must lie between -2**63 and 2**64 - 1, got {seed}")
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal variables of that shape, float64; without one, a single number."""
        _require_shape(shape)
        return torch.randn(shape, generator=self.generator, dtype=torch.float64)

    def uniform(self, low: float, high: float) -> float:
        """A number from ``low`` to ``high``; ValueError unless finite, in order and that far."""
        _require_order(low, high)
        if math.isinf(high - low):
            raise ValueError(f"the distance of the ends must be finite, got {low} and {high}")
        return low + (high - low) * self._shares(()).item()

    def log_uniform(self, low: float, high: float, *shape: int) -> Tensor:
        r"""Numbers whose logarithms are uniform, :math:`a (b / a)^u` with u uniform on [0, 1).

        Args:
            low: a, above 0.
            high: b, finite and at least a.
            shape: Of the result.

        Raises:
            ValueError: ends that are not positive, finite and in order, whose ratio is above the
                largest float, or a negative size.
        """
        _require_order(low, high)
        if not low > 0:
            raise ValueError(f"logarithms need positive ends, got {low} and {high}")
        if math.isinf(high / low):
            raise ValueError(f"the ratio of the ends must be finite, got {low} and {high}")
        return low * (high / low) ** self._shares(shape)

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included; ValueError if out of order."""
        _require_order(low, high)
        if low != int(low) or high != int(high):
            raise ValueError(f"whole numbers lie between whole ends, got {low} and {high}")
        if not -(2**63) <= int(low) <= int(high) < 2**63 - 1:
            raise ValueError(f"ends must lie between -2**63 and 2**63 - 2, got {low} and {high}")
        return int(torch.randint(int(low), int(high) + 1, (), generator=self.generator))

    def strings(self, n: int, count: int) -> Tensor:
        """Bit strings ``(count, n)``, int64: all zeros, all ones, then independent fair bits."""
        _require_shape((n, count))
        bits = torch.randint(0, 2, (count, n), generator=self.generator)
        bits[:1], bits[1:2] = 0, 1
        return bits

    def _shares(self, shape: tuple[int, ...]) -> Tensor:
        _require_shape(shape)
        return torch.rand(shape, generator=self.generator, dtype=torch.float64)


def f64(values: float | Sequence[Any] | Tensor) -> Tensor:
    """A float64 tensor of literals, each the float64 nearest to what is written.

    ``torch.tensor([2.1]).double()`` is 2.0999999: the literal is rounded to float32 first.

    Args:
        values: A number, numbers in lists of any depth, or a tensor or array of whole numbers or
            float64.

    Returns:
        The shape of ``values``.

    Raises:
        TypeError: a tensor or an array of another dtype, whose numbers are rounded already.

    Example:
        >>> f64([2.1]).item(), torch.tensor([2.1]).double().item()
        (2.1, 2.0999999046325684)
    """
    if isinstance(values, Tensor):
        if values.is_complex() or (values.is_floating_point() and values.dtype != torch.float64):
            raise TypeError(f"f64 takes literals, integers and float64, got {values.dtype}")
        return values.to(torch.float64)
    kind = values.dtype if isinstance(values, np.ndarray | np.generic) else None
    if kind is not None and kind != np.float64 and kind.kind not in "biu":
        raise TypeError(f"f64 takes literals, integers and float64, got {kind}")
    return torch.tensor(values, dtype=torch.float64)


def seed_of(*parts: object) -> int:
    """A seed of 32 bits for several things together, by BLAKE2 over their texts.

    A generator uses 32 bits of a seed, so that seeds built by adding or shifting soon coincide.

    Args:
        parts: Whatever has a text that tells it apart, without blanks, which stand between the
            parts; at least one.

    Returns:
        From 0 to 2**32 - 1: the same in every process.

    Raises:
        ValueError: no parts.

    Example:
        >>> seed_of("parity", 20, 3, 0) == seed_of("parity", 20, 3, 1)
        False
    """
    if not parts:
        raise ValueError("a seed needs at least one part, got none")
    text = " ".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest())


def _require_shape(shape: Sequence[int]) -> None:
    if any(size < 0 for size in shape):
        raise ValueError(f"sizes must be at least 0, got {tuple(shape)}")


def _require_order(low: float, high: float) -> None:
    if not -math.inf < low <= high < math.inf:
        raise ValueError(f"ends must be finite and in order, got {low} and {high}")
