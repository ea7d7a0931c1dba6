"""Covers and packings of finite sets by a greedy choice, the size of Maurey's cover, a search.

A cover of a set at scale epsilon is a finite subset such that every member of the set is at most
epsilon from one of them. Maurey's cover itself, and what is printed on covers of linear maps, is in
:mod:`papers.lengthfree.linear_maps`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.checks import readable, require_amount, validated


@validated
def maurey_size(dim: int, terms: int) -> int:
    r"""Number of integer vectors with l1 norm at most ``terms``.

    .. math:: \sum_j 2^j \binom{\mathrm{dim}}{j} \binom{\mathrm{terms}}{j}
        \le (2\,\mathrm{dim} + 1)^{\mathrm{terms}}

    Source: choose the j entries that are not 0, their signs, and their sizes. The bound counts
    ordered choices, as Trauger and Tewari (2024) do in the proof of Lemma 3.3.
    """
    require_amount(dim=dim, terms=terms)
    size = term = 1
    for j in range(min(dim, terms)):  # each from the one before: a quotient without remainder
        term = term * 2 * (dim - j) * (terms - j) // (j + 1) ** 2
        size += term
    return size


@validated
def greedy_cover(distance: Tensor, epsilon: float) -> list[int]:
    """Members of a finite set that cover it: again and again the one that covers most of the rest.

    Args:
        distance: Pairwise distances, shape ``(M, M)``.
        epsilon: Scale, at least 0.

    Returns:
        Indices; at most 1 + log M times as many as in the smallest cover by members.

    Raises:
        ValueError: a negative scale, or a member that is further than that from itself.

    Cost: M^2 for each member chosen.
    """
    require_amount(epsilon=epsilon)
    near = _square(distance) <= epsilon
    if readable(near) and not near.diagonal().all():
        raise ValueError(f"a distance from a member to itself is not 0: {distance.diagonal()}")
    left = torch.ones(len(near), dtype=torch.bool, device=near.device)
    chosen: list[int] = []
    while left.any():
        # At least 1/K of the rest, if K suffice for all: hence the factor 1 + log M.
        best = int((near & left).sum(-1).argmax())
        chosen.append(best)
        left &= ~near[best]
    return chosen


@validated
def packing(distance: Tensor, separation: float) -> list[int]:
    """Members of a finite set that are pairwise farther apart than ``separation``, first come.

    With separation 2 epsilon in a metric, no cover at scale epsilon, by members or not, is smaller.

    Args:
        distance: Pairwise distances, shape ``(M, M)``.
        separation: At least 0.

    Returns:
        Indices, in increasing order; no further member can be added.
    """
    require_amount(separation=separation)
    far = _square(distance) > separation
    free = torch.ones(len(far), dtype=torch.bool, device=far.device)
    chosen: list[int] = []
    while free.any():
        first = int(free.nonzero()[0])
        chosen.append(first)
        free &= far[first]
        free[first] = False
    return chosen


@validated
def climb(
    distance: Callable[[Tensor], Tensor],
    project: Callable[[Tensor], Tensor],
    start: Tensor,
    generator: torch.Generator,
    steps: int = 200,
    reach: float = 0.5,
) -> Tensor:
    """Local search for points as far from a cover as possible.

    Args:
        distance: Points ``(M, *shape)`` to numbers ``(M,)``, to be made large.
        project: Maps points back into the class.
        start: Points of the class, shape ``(M, *shape)``.
        generator: Source of randomness.
        steps: Trials for each point, at least 0; the reach shrinks by a factor 1000 over them.
        reach: Standard deviation of the first trials, at least 0.

    Returns:
        Points, same shape, each at least as far as its start. A lower bound on the farthest.
    """
    require_amount(steps=steps, reach=reach)
    points, best = start, distance(start)
    for step in range(steps):
        size = reach * 1000 ** (-step / max(steps - 1, 1))
        noise = torch.randn(start.shape, generator=generator, dtype=start.dtype)
        trial = project(points + size * noise)
        found = distance(trial)
        better = found > best
        points = torch.where(better.reshape(-1, *[1] * (start.ndim - 1)), trial, points)
        best = torch.where(better, found, best)
    return points


def _square(distance: Tensor) -> Tensor:
    if distance.ndim != 2 or distance.shape[0] != distance.shape[1]:
        raise ValueError(f"expected square distances (M, M), got {tuple(distance.shape)}")
    if distance.isnan().any():
        raise ValueError("distance must be finite, got nan")
    return distance
