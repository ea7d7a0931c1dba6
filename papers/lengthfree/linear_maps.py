r"""Covers of linear maps x -> Wx: Maurey's cover of an l1 ball, and the printed bounds.

A cover of a class of matrices at scale epsilon is a finite subset such that every matrix of the
class has a member whose outputs differ by at most epsilon, on every input allowed. Logarithms are
natural. Vectors and matrices are float64 unless given otherwise.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.checks import (
    OrInfinite,
    require_amount,
    require_floating,
    require_positive,
    require_scale,
    validated,
)
from helpers.covers.linear import maurey_size

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
        binomial(dim + total, total), or :func:`helpers.covers.linear.maurey_size` if signed.

    Raises:
        ValueError: a number is negative, or there are more than two million such vectors, or than
            64 million entries in them.
    """
    require_amount(dim=dim, total=total)
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
def covering_radius(dim: int, radius: float, terms: int) -> float:
    r"""Largest distance from a point of the l1 ball to Maurey's cover of it, exactly.

    The cover has all averages of ``terms`` vectors out of 0 and radius times plus or minus a unit
    vector: the points radius z / terms with z integer and l1 norm at most ``terms``, which are
    :func:`helpers.covers.linear.maurey_size` many.

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


def _check_ball(dim: int, radius: float, terms: int) -> None:
    require_amount(terms=terms)
    require_scale(dim=dim, radius=radius)
