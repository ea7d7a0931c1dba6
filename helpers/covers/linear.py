r"""Covers of linear maps x -> Wx: explicit ones, greedy ones, lower bounds, and the printed bounds.

A cover of a class of matrices at scale epsilon is a finite subset such that every matrix of the
class has a member whose outputs differ by at most epsilon, on every input allowed. Logarithms are
natural. Vectors and matrices are float64 unless given otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from helpers.checks import (
    OrInfinite,
    readable,
    require_amount,
    require_floating,
    require_positive,
    require_scale,
    validated,
)

MAX_COVER, MAX_ENTRIES = 2_000_000, 64_000_000  # vectors, and numbers in them, held at once


@validated
def matrix_norm(W: Tensor, q: OrInfinite, p: OrInfinite) -> Tensor:
    r"""The p-norm of the q-norms of the columns.

    .. math:: \|W\|_{q,p} = \bigl\| (\|W_{:,1}\|_q, \dots, \|W_{:,d}\|_q) \bigr\|_p

    Args:
        W: Shape ``(*batch, k, d)``.
        q: Positive, ``math.inf`` allowed; below 1 it is no norm.
        p: The same.

    Returns:
        Shape ``(*batch,)``.

    Source: Trauger and Tewari (2024), Section 2.1, where the outer norm is printed with index r.
    """
    for name, value in (("q", q), ("p", p)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    return torch.linalg.vector_norm(torch.linalg.vector_norm(W, q, dim=-2), p, dim=-1)


@validated
def integer_points(dim: int, total: int, signed: bool = False) -> Tensor:
    """Integer vectors z with |z_1| + ... + |z_dim| <= total, only z >= 0 unless ``signed``.

    Args:
        dim: At least 0.
        total: At least 0.
        signed: Whether entries may be negative.

    Returns:
        Shape ``(count, dim)``, int64, in lexicographic order; there are
        binomial(dim + total, total), or :func:`maurey_size` if signed.

    Raises:
        ValueError: a number is negative, or there are more than two million such vectors, or than
            64 million entries in them.
    """
    _not_negative(dim=dim, total=total)
    size = maurey_size(dim, total) if signed else math.comb(dim + total, total)
    if size > MAX_COVER or size * dim > MAX_ENTRIES:
        raise ValueError(
            f"{size} points of {dim} entries; at most {MAX_COVER} points and {MAX_ENTRIES} entries "
            "are listed: choose fewer terms or dimensions"
        )
    left = torch.tensor([total])  # of the norm, behind each beginning of a vector
    entries, parents = [], []
    for _ in range(dim):  # beginnings longer by one entry, in lexicographic order as they stand
        count = 2 * left + 1 if signed else left + 1
        parent = torch.arange(len(left)).repeat_interleave(count)
        entry = torch.arange(len(parent)) - (count.cumsum(0) - count)[parent]
        entry -= left[parent] if signed else 0
        left = left[parent] - entry.abs()
        entries.append(entry)
        parents.append(parent)
    columns = torch.empty(dim, len(left), dtype=torch.int64)
    at = torch.arange(len(left))
    for k in reversed(range(dim)):
        columns[k], at = entries[k][at], parents[k][at]
    return columns.T.contiguous()


@validated
def maurey_size(dim: int, terms: int) -> int:
    r"""Number of integer vectors with l1 norm at most ``terms``.

    .. math:: \sum_j 2^j \binom{\mathrm{dim}}{j} \binom{\mathrm{terms}}{j}
        \le (2\,\mathrm{dim} + 1)^{\mathrm{terms}}

    Source: choose the j entries that are not 0, their signs, and their sizes. The bound counts
    ordered choices, as Trauger and Tewari (2024) do in the proof of Lemma 3.3.
    """
    _not_negative(dim=dim, terms=terms)
    size = term = 1
    for j in range(min(dim, terms)):  # each from the one before: a quotient without remainder
        term = term * 2 * (dim - j) * (terms - j) // (j + 1) ** 2
        size += term
    return size


@validated
def covering_radius(dim: int, radius: float, terms: int) -> float:
    r"""Largest distance from a point of the l1 ball to Maurey's cover of it, exactly.

    The cover has all averages of ``terms`` vectors out of 0 and radius times plus or minus a unit
    vector: the points radius z / terms with z integer and l1 norm at most ``terms``, which are
    :func:`maurey_size` many.

    .. math:: \mathrm{radius}\, \frac{\sqrt{\min(\mathrm{dim},\, 2\,\mathrm{terms})}}
        {2\,\mathrm{terms}} \le \frac{\mathrm{radius}}{\sqrt{2\,\mathrm{terms}}}

    Maurey's argument gives radius / sqrt(terms), larger by a factor of at least sqrt(2).

    Source: the chapter on linear covers; the cover as in Trauger and Tewari (2024), proof of Lemma
    3.3, after Maurey (Pisier, 1981); attained where min(dim, 2 terms) coordinates lie half way
    between two points of the cover, and not exceeded by :func:`round_to_cover`.
    """
    _check_ball(dim, radius, terms)
    return radius * math.sqrt(min(dim, 2 * terms)) / (2 * terms) if terms else radius


@validated
def round_to_cover(points: Tensor, radius: float, terms: int) -> Tensor:
    r"""A point of Maurey's cover within :func:`covering_radius` of each given point.

    Each coordinate is rounded towards 0; then those that lost more than half a step are rounded
    away from 0 instead, the greatest losses first, as long as the l1 norm allows.

    Args:
        points: Shape ``(*batch, dim)``, of l1 norm at most ``radius``.
        radius: Of the ball, positive.
        terms: Terms of the average, at least 0.

    Returns:
        Shape of ``points``.

    Raises:
        ValueError: a point outside the ball, by more than rounding.

    Cost: a sort for each point; the cover itself is never listed.
    """
    require_floating(points=points)
    _check_ball(points.shape[-1] if points.ndim else -1, radius, terms)
    if terms == 0:
        return torch.zeros_like(points)
    steps = points.abs() * (terms / radius)
    l1_norm = steps.sum(-1)
    rounding = math.sqrt(torch.finfo(points.dtype).eps)
    if l1_norm.numel() and l1_norm.max() > terms * (1 + rounding):
        raise ValueError(
            f"points must have l1 norm at most {radius}, found {l1_norm.max() * radius / terms:.6g}"
        )
    whole = steps.floor()
    lost = steps - whole
    rank = lost.argsort(stable=True, dim=-1, descending=True).argsort(-1)
    # Rounding all away from 0 may leave the ball: the l1 norm has so many steps to spare.
    away = (lost > 0.5) & (rank < terms - whole.sum(-1, keepdim=True))
    return points.sign() * (whole + away) * (radius / terms)


@validated
def maurey_terms(radius: float, epsilon: float) -> int:
    """Terms that Maurey's argument asks for at scale epsilon: ceil((radius / epsilon)^2), or 0."""
    require_scale(radius=radius, epsilon=epsilon)
    return 0 if epsilon >= radius else _ceil((radius / epsilon) ** 2)


@validated
def terms_needed(dim: int, radius: float, epsilon: float) -> int:
    """Fewest terms whose :func:`covering_radius` is at most epsilon; 0 if the origin will do."""
    require_scale(radius=radius, epsilon=epsilon, dim=dim)
    if epsilon >= radius:
        return 0
    ratio = radius / epsilon  # the covering radius solved for terms, in each of its two cases
    return min(_ceil(ratio**2 / 2), _ceil(math.sqrt(dim) * ratio / 2))


@validated
def distances(W: Tensor, V: Tensor, inputs: Tensor, q: OrInfinite) -> Tensor:
    r"""How far linear maps differ on given inputs, :math:`\max_i \|(W - V)\, x_i\|_q`.

    Args:
        W: Shape ``(M, k, d)``.
        V: Shape ``(C, k, d)``.
        inputs: Shape ``(N, d)``.
        q: Positive, ``math.inf`` allowed.

    Returns:
        Shape ``(M, C)``.

    Cost: M C N k numbers, C N k of them held at once. Source: Trauger and Tewari (2024),
    Section 2.4.
    """
    outputs = V @ inputs.T  # (C, k, N)
    rows = [torch.linalg.vector_norm(w @ inputs.T - outputs, q, dim=1).amax(-1) for w in W]
    return torch.stack(rows)


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
def volume_bound(dim: int, radius: float, epsilon: float, p: OrInfinite) -> float:
    r"""Lower bound by volume on the log size of any cover of an l_p ball by l_2 balls.

    .. math:: \log \mathrm{vol}\, B_p(\mathrm{radius}) - \log \mathrm{vol}\, B_2(\epsilon)

    Args:
        dim: At least 1.
        radius: Of the l_p ball, positive.
        epsilon: Of the l_2 balls, positive.
        p: Positive, ``math.inf`` allowed.

    Source: covering balls must have the volume of what they cover.
    """
    require_scale(dim=dim, radius=radius, epsilon=epsilon)
    if not p > 0:
        raise ValueError(f"p must be positive, got {p}")
    return _log_volume(dim, radius, p) - _log_volume(dim, epsilon, 2)


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
    _not_negative(steps=steps)
    require_amount(reach=reach)
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


@validated
def bound_l1_columns(k: int, d: int, B_w: float, B_x: float, epsilon: float) -> float:
    r"""Printed log size for columns of l1 norm at most B_w and inputs of l1 norm at most B_x.

    .. math:: \frac{d\, B_w^2 B_x^2}{\epsilon^2} \log(2k + 1)

    Source: Trauger and Tewari (2024), Lemma 3.3; W is (k, d), outputs are compared in l2.
    """
    require_positive(k=k, d=d)
    return d * _scale(B_w, B_x, epsilon) * math.log(2 * k + 1)


@validated
def bound_l2_columns(k: int, d: int, B_w: float, B_x: float, epsilon: float) -> float:
    r"""Printed log size, up to a constant, if the columns' l2 norms sum to at most B_w.

    .. math:: \frac{B_w^2 B_x^2}{\epsilon^2} \log(dk)

    Inputs have l1 norm at most B_x. False as printed, with no constant; true for rows.

    Source: Trauger and Tewari (2024), Lemma 3.4.
    """
    require_positive(k=k, d=d)
    return _scale(B_w, B_x, epsilon) * math.log(d * k)


@validated
def bound_on_points(n: int, d: int, B_w: float, B_x: float, epsilon: float) -> float:
    r"""Printed log size, up to a constant, of the same class on n inputs of l2 norm at most B_x.

    .. math:: \frac{B_w^2 B_x^2}{\epsilon^2} \log(dn)

    Source: Trauger and Tewari (2024), Lemma 3.5, from Edelman et al. (2022).
    """
    require_positive(n=n, d=d)
    return _scale(B_w, B_x, epsilon) * math.log(d * n)


@validated
def bound_l1_entries(k: int, d: int, B_w: float, B_x: float, epsilon: float) -> float:
    r"""Printed log size for entries of l1 norm at most B_w and inputs of l2 norm at most B_x.

    .. math:: \frac{B_w^2 B_x^2}{\epsilon^2} \log(2dk + 1)

    Source: Trauger and Tewari (2024), Lemma 3.6.
    """
    require_positive(d=d, k=k)
    return _scale(B_w, B_x, epsilon) * math.log(2 * d * k + 1)


def _log_volume(dim: int, radius: float, p: float) -> float:
    unit = dim * math.log(2 * math.gamma(1 + 1 / p)) - math.lgamma(1 + dim / p)
    return unit + dim * math.log(radius)


def _scale(B_w: float, B_x: float, epsilon: float) -> float:
    require_scale(B_w=B_w, B_x=B_x, epsilon=epsilon)
    return (B_w * B_x / epsilon) ** 2


def _ceil(x: float) -> int:
    """Ceiling that forgives rounding: 4 + 1e-15 is 4."""
    return math.ceil(x * (1 - 1e-12))


def _square(distance: Tensor) -> Tensor:
    if distance.ndim != 2 or distance.shape[0] != distance.shape[1]:
        raise ValueError(f"expected square distances (M, M), got {tuple(distance.shape)}")
    if distance.isnan().any():
        raise ValueError("distance must be finite, got nan")
    return distance


def _check_ball(dim: int, radius: float, terms: int) -> None:
    _not_negative(terms=terms)
    require_scale(dim=dim, radius=radius)


def _not_negative(**values: float) -> None:
    for name, value in values.items():
        if value < 0:
            raise ValueError(f"{name} must be at least 0, got {value}")
