"""Second ways to a number with more digits than the first, for tests."""

from __future__ import annotations

import torch


def exact_cdist(points: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Distances from differences; products of norms would lose half of the digits."""
    return torch.cdist(points, others, compute_mode="donot_use_mm_for_euclid_dist")
