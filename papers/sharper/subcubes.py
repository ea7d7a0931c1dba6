"""Signed sums of a function over subcubes, given by a base point and the directions that span it.

With directions D_1, ..., D_m, bit masks, the sum over A of (-1)^{|A|} f(x xor (xor of D_j, j in A))
is 2^m times the part of f at x on those characters chi_U for which every |U & D_j| is odd. So it
vanishes for every f of degree below m whenever the directions are disjoint: single coordinates or
blocks of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import readable, require_tensors, validated
from helpers.kernels.parity import MAX_BITS, popcount

MAX_DIRECTIONS = 30
MAX_VERTICES = 1 << 24  # points of one call that an oracle is asked at most
FLOATS = (torch.float32, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)

Oracle = Callable[[Tensor], Tensor]
"""Values at points given by index: ``(M,)``, int64 -> ``(M,)``."""


class OracleSums(NamedTuple):
    """What asking an oracle found.

    Attributes:
        sums: Shape ``(Q,)``, float64. queries: Distinct points asked. largest: Largest absolute
            value among the answers. eps: Spacing of the dtype of the answers at 1.
    """

    sums: Tensor
    queries: int
    largest: float
    eps: float


@validated
def oracle_signed_sums(
    oracle: Oracle, bases: Tensor, directions: Tensor, batch: int = 1 << 16
) -> OracleSums:
    r"""Signed sum of a function over each of Q subcubes; each distinct vertex is asked once.

    .. math:: s_q = \sum_{A \subseteq [m]} (-1)^{|A|} f\Bigl(x_q \oplus
        \bigoplus_{j \in A} D_{qj}\Bigr)

    Args:
        oracle: Values at indices, ``(M,)``, int64 -> ``(M,)``, floating or integer; a model. Its
            answers are taken as numbers: no derivative of them is kept.
        bases: The x_q as indices, shape ``(Q,)``, Q at least 1, int64, below 2**62.
        directions: The D_qj as bit masks, shape ``(Q, m)``, m from 0 to 30, int64, below 2**62;
            Q 2**m at most 2**24.
        batch: Points that the oracle is asked at once, at least 1.

    Raises:
        TypeError: bases or directions that are not int64, or an oracle that answers in another
            dtype.
        ValueError: a shape, no subcubes, a base or direction outside the cube, too many vertices,
            or an oracle that answers in another shape.
        RuntimeError: bases or directions whose numbers cannot be read, as inside vmap.

    Cost: at most Q 2**m values of the oracle, and sorting them.

    Example:
        >>> import torch
        >>> from papers.sharper.subcubes import oracle_signed_sums
        >>> square = lambda i: (i % 8).double() ** 2
        >>> found = oracle_signed_sums(square, torch.tensor([0]), torch.tensor([[1, 2]]))
        >>> found.sums, found.queries  # 0 - 1 - 4 + 9
        (tensor([4.], dtype=torch.float64), 4)
    """
    _check_subcubes(bases, directions)
    if len(bases) << directions.shape[1] > MAX_VERTICES:
        raise ValueError(
            f"Q * 2**m is at most {MAX_VERTICES}, got {len(bases)} * 2**{directions.shape[1]}"
        )
    values, queries = ask_once(oracle, vertices(bases, directions), batch)
    sums = values.double() @ _signs(directions.shape[1], values.device)
    largest = float(values.abs().max())
    return OracleSums(sums, queries, largest, torch.finfo(values.dtype).eps)


@validated
def ask_once(oracle: Oracle, points: Tensor, batch: int = 1 << 16) -> tuple[Tensor, int]:
    """Values at points of any shape, each distinct one asked once; and how many were asked.

    Integer answers become float64.

    Example:
        >>> import torch
        >>> from papers.sharper.subcubes import ask_once
        >>> values, asked = ask_once(lambda i: i.double(), torch.tensor([[5, 5], [5, 2]]))
        >>> values.tolist(), asked
        ([[5.0, 5.0], [5.0, 2.0]], 2)
    """
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    distinct, where = points.unique(return_inverse=True)
    parts = [_answer(oracle, part) for part in distinct.split(batch)]
    return torch.cat(parts)[where], len(distinct)


def vertices(bases: Tensor, directions: Tensor) -> Tensor:
    """All vertices of each subcube, shape ``(Q, 2**m)``; bit j of the column says if D_j is in.

    Example:
        >>> import torch
        >>> from papers.sharper.subcubes import vertices
        >>> vertices(torch.tensor([4]), torch.tensor([[1, 2]]))
        tensor([[4, 5, 6, 7]])
    """
    found = bases[:, None]
    for j in range(directions.shape[1]):
        found = torch.cat((found, found ^ directions[:, j : j + 1]), 1)
    return found


@validated
def coordinate_directions(n: int, m: int, count: int, generator: torch.Generator) -> Tensor:
    """Single random coordinates, m distinct ones a row: shape ``(count, m)``, int64.

    Example:
        >>> import torch
        >>> from papers.sharper.subcubes import coordinate_directions
        >>> drawn = coordinate_directions(5, 2, 1000, torch.Generator().manual_seed(0))
        >>> drawn.shape, drawn.unique().tolist(), bool((drawn[:, 0] != drawn[:, 1]).all())
        (torch.Size([1000, 2]), [1, 2, 4, 8, 16], True)
    """
    _check_draw(n, m, count)
    if m > n:
        raise ValueError(f"there are {n} coordinates, so m is at most {n}, got {m}")
    order = torch.rand(count, n, generator=generator).argsort(1)
    return torch.ones_like(order[:, :m]) << order[:, :m]


@validated
def block_directions(n: int, m: int, count: int, generator: torch.Generator) -> Tensor:
    """Disjoint random blocks: each coordinate joins one of m blocks or none, uniformly.

    Returns:
        Shape ``(count, m)``, int64; a block may be empty, and its subcube then sums to 0.

    Example:
        >>> import torch
        >>> from papers.sharper.subcubes import block_directions
        >>> drawn = block_directions(5, 2, 1000, torch.Generator().manual_seed(0))
        >>> drawn.shape, bool((drawn[:, 0] & drawn[:, 1]).any())
        (torch.Size([1000, 2]), False)
    """
    _check_draw(n, m, count)
    joined = torch.randint(0, m + 1, (count, n), generator=generator)  # block m is none
    bit = torch.ones(n, dtype=torch.int64) << torch.arange(n)
    rows = [((joined == j) * bit).sum(1) for j in range(m)]
    return torch.stack(rows, 1) if rows else bit.new_zeros(count, 0)


def _check_draw(n: int, m: int, count: int) -> None:
    if not 1 <= n <= MAX_BITS:
        raise ValueError(f"n runs from 1 to {MAX_BITS}, got {n}")
    if not 0 <= m <= MAX_DIRECTIONS:
        raise ValueError(f"m runs from 0 to {MAX_DIRECTIONS}, got {m}")
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")


def _check_subcubes(bases: Tensor, directions: Tensor) -> None:
    require_tensors(bases=bases, directions=directions)
    for name, v in (("bases", bases), ("directions", directions)):
        if not readable(v):
            raise RuntimeError(f"the numbers in {name} must be read, which vmap does not allow")
        if v.dtype != torch.int64:
            raise TypeError(f"{name} must be int64, got {v.dtype}")
    if bases.ndim != 1 or directions.ndim != 2 or len(bases) != len(directions) or not len(bases):
        raise ValueError(
            f"expected bases (Q,) and directions (Q, m) with Q at least 1, got "
            f"{tuple(bases.shape)} and {tuple(directions.shape)}"
        )
    if directions.shape[1] > MAX_DIRECTIONS:
        raise ValueError(f"m is at most {MAX_DIRECTIONS}, got {directions.shape[1]} directions")
    for name, v in (("bases", bases), ("directions", directions)):
        low, high = (int(end) for end in v.aminmax()) if v.numel() else (0, 0)
        if low < 0 or high >= 1 << MAX_BITS:
            raise ValueError(
                f"{name} lie between 0 and 2**{MAX_BITS} - 1, found {low if low < 0 else high}"
            )


def _answer(oracle: Oracle, points: Tensor) -> Tensor:
    values = oracle(points)
    if values.shape != points.shape:
        raise ValueError(
            f"the oracle was asked {len(points)} points and answered shape {tuple(values.shape)}"
        )
    if values.dtype in INTEGERS:
        return values.double()
    if values.dtype not in FLOATS:
        raise TypeError(f"the oracle answers float32, float64 or integers, got {values.dtype}")
    return values.detach()


def _signs(m: int, device: torch.device) -> Tensor:
    """(-1)^{|A|} for every A, shape ``(2**m,)``, float64."""
    return (1 - 2 * (popcount(torch.arange(1 << m, device=device)) & 1)).double()
