"""Random numbers that a seed gives, for tests."""

from __future__ import annotations

import torch


def seeded(seed: int = 0) -> torch.Generator:
    """A generator of its own, on the processor."""
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Independent standard normal numbers; the same shape and seed give the same numbers."""
    return torch.randn(shape, generator=seeded(seed), dtype=dtype)
