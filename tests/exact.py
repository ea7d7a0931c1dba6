"""Second ways to a number with more digits than the first, for tests."""

from __future__ import annotations

import mpmath
import torch


def exact_cdist(points: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Distances from differences; products of norms would lose half of the digits."""
    return torch.cdist(points, others, compute_mode="donot_use_mm_for_euclid_dist")


def exact_kl_inverse(p: float | mpmath.mpf, budget: float | mpmath.mpf) -> mpmath.mpf:
    """The largest q with kl(p, q) at most the budget, to 60 digits.

    The bisection is in 1 - q, so that it resolves q near 1.
    """
    with mpmath.workdps(60):
        p, low, high = mpmath.mpf(p), mpmath.mpf(0), 1 - mpmath.mpf(p)
        for _ in range(300):
            rest = (low + high) / 2  # 1 - q
            kl = (1 - p) * mpmath.log((1 - p) / rest)
            kl += p * mpmath.log(p / (1 - rest)) if p else 0
            low, high = (low, rest) if kl < budget else (rest, high)
        return 1 - low
