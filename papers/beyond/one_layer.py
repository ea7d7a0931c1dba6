r"""How sensitive one layer of softmax attention can be, and how it computes PARITY.

A head gives the ones of a string the share p(x) of its attention, with any scores that depend on
position and bit. Behind it stands a reader of :mod:`papers.beyond.volumes`, a piecewise linear
function of p with h kinks, or a polynomial in the shares of several heads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from helpers import cube
from helpers.checks import require_positive, validated
from papers.beyond import volumes


@validated
def most_sensitive(n: int, changes: int) -> float:
    r"""Largest average sensitivity of n bits if f changes at most so often along every chain.

    .. math:: A(n, c) = n \sum_{t \in C} \binom{n - 1}t 2^{-(n - 1)}

    with C the c counts t of the largest terms: the share of the c most likely values of a binomial.

    Args:
        n: Bits, at least 1.
        changes: c, at least 0; n and more give n.
    """
    require_positive(n=n)
    if changes < 0:
        raise ValueError(f"changes must be at least 0, got {changes}")
    terms = sorted((math.comb(n - 1, t) for t in range(n)), reverse=True)
    return float(Fraction(n * sum(terms[:changes]), 2 ** (n - 1)))


class Layer(NamedTuple):
    """Networks of one head and a reader, a leading axis of N networks.

    Attributes:
        one: Logarithms of the weights of the ones by position, ``(N, n)``.
        zero: Those of the zeros, ``(N, n)``.
        readers: The readers.
        cut: Where the readers are cut, ``(N,)``.
    """

    one: Tensor
    zero: Tensor
    readers: volumes.Readers
    cut: Tensor


def shares(one: Tensor, zero: Tensor, bits: Tensor) -> Tensor:
    """Attention that the ones of each string get: ``(N, n)`` twice and ``(M, n)``: ``(N, M)``."""
    x = bits.double()
    ones = torch.logsumexp(one[:, None] + x.log(), -1)
    zeros = torch.logsumexp(zero[:, None] + (1 - x).log(), -1)
    return (ones - zeros).sigmoid()


def values(layer: Layer) -> Tensor:
    """What each network says of all strings, -1 or 1: shape ``(N, 2**n)``."""
    bits = cube.bits(layer.one.shape[-1])
    p = shares(layer.one, layer.zero, bits)
    above = volumes.logits(layer.readers, p) > layer.cut[:, None]
    return torch.where(above, 1.0, -1.0).double()


@validated
def alternating(n: int, hidden: int) -> Layer:
    """The network of one head and h >= 3 units that attains :func:`most_sensitive` at h + 1.

    All scores are equal, so p = t / n. The reader alternates at the h + 2 counts in the middle.

    Args:
        n: Bits, at least h + 1.
        hidden: h, at least 3.

    Raises:
        ValueError: fewer units, or fewer bits than h + 1.
    """
    if not 3 <= hidden < n:
        raise ValueError(f"hidden must be from 3 to {n - 1}, got {hidden}")
    first = (n - hidden) // 2  # counts first, ..., first + h + 1 alternate
    base = volumes.parity_reader(hidden)
    stretch = n / (hidden + 1)
    offset = base.offset - base.slope * first / (hidden + 1)
    readers = base._replace(offset=offset, slope=base.slope * stretch)
    counts = torch.arange(first, first + hidden + 2).double() / n
    heights = volumes.logits(readers, counts)[0]
    cut = (heights[1::2].min() + heights[::2].max()) / 2
    level = torch.zeros(1, n, dtype=torch.float64)
    return Layer(level, level, readers, cut[None])


@validated
def climb(
    n: int, hidden: int, count: int, steps: int, generator: Generator
) -> tuple[Tensor, Layer]:
    """Search for sensitive networks: each is changed at random, and kept if not less sensitive.

    Half of the networks start at random, half near the one of :func:`alternating`.

    Args:
        n: Bits, more than ``hidden``.
        hidden: Units h, at least 3.
        count: Networks, N.
        steps: Changes that are tried for each.
        generator: Source of randomness.

    Returns:
        Average sensitivities ``(N,)``, and the networks.
    """
    require_positive(count=count, steps=steps)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    slope = torch.where(normal(count, hidden) < 0, -1.0, 1.0).double()
    kinks = torch.rand(count, hidden, generator=generator, dtype=torch.float64)
    free = (normal(count, n), normal(count, n), -slope * kinks, slope, normal(count, hidden))
    one, zero, readers, cut = alternating(n, hidden)
    known = (one, zero, readers.offset, readers.slope, readers.weight, cut[:, None])
    near = (torch.arange(count) % 2 == 0)[:, None]
    parts = [
        torch.where(near, k + 0.1 * k.abs().mean().clamp(min=1e-3) * normal(*f.shape), f)
        for k, f in zip(known, (*free, 0.1 * normal(count, 1)), strict=True)
    ]

    def network(parts: Sequence[Tensor]) -> Layer:
        one, zero, offset, slope, weight, cut = parts
        return Layer(one, zero, volumes.Readers(offset, slope, weight, 1.0), cut[:, 0])

    best = cube.average_sensitivity(values(network(parts)))
    for step in range(steps):
        size = 0.5 * 0.98**step
        tried = [p + size * p.abs().mean(1, keepdim=True) * normal(*p.shape) for p in parts]
        found = cube.average_sensitivity(values(network(tried)))
        keep = found >= best
        best = torch.where(keep, found, best)
        parts = [torch.where(keep[:, None], t, p) for t, p in zip(tried, parts, strict=True)]
    return best, network(parts)


@validated
def head_shares(n: int, factors: Sequence[Fraction]) -> list[list[Fraction]]:
    r"""Exact shares :math:`p_t = t \Gamma / (n - t + t \Gamma)` of heads, for t = 0, ..., n.

    Args:
        n: Bits, at least 1.
        factors: The Gamma of each head, positive.

    Returns:
        A list for each head.
    """
    require_positive(n=n)
    if any(g <= 0 for g in factors):
        raise ValueError(f"factors must be positive, got {min(factors)}")
    return [[t * g / (n - t + t * g) for t in range(n + 1)] for g in factors]


def alternating_sum(
    n: int, factors: Sequence[Fraction], degree: int, weights: Sequence[Fraction]
) -> Fraction:
    r"""The number that is 0 if a read-out cannot be PARITY's sign: exact.

    Let q be the polynomial in the shares with these weights on its monomials, and let D be the
    product of the heads' denominators to the power of the degree. Then q D is a polynomial in t of
    degree heads x degree, and :math:`\sum_t (-1)^t \binom nt q(t) D(t)` is 0 if that is below n.

    Args:
        n: Bits.
        factors: Of the heads.
        degree: r, of the polynomial.
        weights: Of :func:`monomials`, in their order.
    """
    columns = monomials(head_shares(n, factors), degree)
    total = Fraction(0)
    for t in range(n + 1):
        q = sum((w * c[t] for w, c in zip(weights, columns, strict=True)), Fraction(0))
        scale = math.prod((n - t + t * g for g in factors), start=Fraction(1)) ** degree
        total += (-1) ** t * math.comb(n, t) * q * scale
    return total


def monomials(columns: Sequence[Sequence[Fraction]], degree: int) -> list[list[Fraction]]:
    """Products of at most ``degree`` of the columns, entry by entry, the empty product first."""
    length = len(columns[0])
    return [
        [math.prod((c[t] for c in chosen), start=Fraction(1)) for t in range(length)]
        for d in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(columns, d)
    ]
