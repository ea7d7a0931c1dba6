"""Signed sums of a function over subcubes, given by a base point and the directions that span it.

Public functions, torch reference, CPU path, GPU path. With directions D_1, ..., D_m, bit masks, the
sum over A of (-1)^{|A|} f(x xor (xor of D_j, j in A)) is 2^m times the part of f at x on those
characters chi_U for which every |U & D_j| is odd. So it vanishes for every f of degree below m
whenever the directions are disjoint: single coordinates or blocks of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from helpers.checks import door, require_tensors
from helpers.kernels._backends import chosen, numba, triton
from helpers.kernels.flips import PackedTable
from helpers.kernels.parity import MAX_BITS, MAX_TABLE_BITS, popcount

MAX_DIRECTIONS = 30
MAX_VERTICES = 1 << 24  # points of one call that an oracle is asked at most
FLOATS = (torch.float32, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)
CHUNK = 1 << 22  # vertices that the reference holds at once

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


def signed_sums(
    table: Tensor | PackedTable, bases: Tensor, directions: Tensor, backend: str = "auto"
) -> Tensor:
    r"""Signed sum of a function over each of Q subcubes.

    .. math:: s_q = \sum_{A \subseteq [m]} (-1)^{|A|} f\Bigl(x_q \oplus
        \bigoplus_{j \in A} D_{qj}\Bigr)

    Args:
        table: Values, shape ``(2**n,)``, n from 0 to 30, float32, float64 or a signed integer
            type; or a :class:`helpers.kernels.flips.PackedTable`.
        bases: The x_q as indices, shape ``(Q,)``, Q at least 1, int64, below 2**n.
        directions: The D_qj as bit masks, shape ``(Q, m)``, m from 0 to 30, int64, below 2**n.
        backend: ``"auto"``, ``"torch"`` (the reference, any device, differentiable in the table),
            ``"numba"`` (CPU) or ``"triton"`` (CUDA). Auto takes torch for a table that requires a
            gradient.

    Returns:
        Shape ``(Q,)``; the dtype of a floating table, int64 for integers and packed bits.

    Raises:
        TypeError: a dtype.
        ValueError: a shape, an empty set of subcubes, a base or direction outside the cube, or an
            unknown backend.
        OverflowError: an int64 sum could leave its dtype.
        RuntimeError: an explicit backend that cannot run here, or that records no gradient.

    Cost: Q 2**m reads, in the order of a Gray code, and no memory; the torch path holds 4 Mi
    vertices at once. Floats are summed in float64; NaN gives NaN in the subcubes that hold it. The
    triton path has been run in Triton's interpreter only, never on a GPU.
    """
    _check_table(table)
    words = table.words if isinstance(table, PackedTable) else table
    n = table.n if isinstance(table, PackedTable) else len(table).bit_length() - 1
    _check_subcubes(bases, directions, n)
    m = directions.shape[1]
    _refuse_overflow(words if words is table else None, m)
    path = chosen(backend, words, bases, directions)
    if words.requires_grad and torch.is_grad_enabled() and path != "torch":
        if backend != "auto":
            raise RuntimeError(f"backend {backend!r} records no gradient of the table; use 'torch'")
        path = "torch"
    if path == "torch":
        return signed_sums_reference(table, bases, directions)
    kind = torch.float64 if words.is_floating_point() else torch.int64
    out = torch.empty(len(bases), dtype=kind, device=bases.device)
    inputs = (words.detach().contiguous(), bases.contiguous(), directions.contiguous(), out)
    packed = words is not table
    if path == "numba":
        walk = _walk_bits if packed else _walk
        walk(*(v.numpy() for v in inputs))
    else:
        _launch(*inputs, packed)
    return out.to(words.dtype) if words.is_floating_point() else out


@door
def oracle_signed_sums(
    oracle: Oracle, bases: Tensor, directions: Tensor, batch: int = 1 << 16
) -> OracleSums:
    """The signed sums of a function that can only be asked: each distinct vertex once, in batches.

    Args:
        oracle: Values at indices, ``(M,)``, int64 -> ``(M,)``, floating or integer; a model.
        bases: As for :func:`signed_sums`, below 2**62.
        directions: As for :func:`signed_sums`, below 2**62; Q 2**m at most 2**24.
        batch: Points that the oracle is asked at once, at least 1.

    Raises:
        TypeError, ValueError: as :func:`signed_sums`, too many vertices, or an oracle that answers
            in another shape or dtype.

    Cost: at most Q 2**m values of the oracle, and sorting them.
    """
    _check_subcubes(bases, directions, MAX_BITS)
    if len(bases) << directions.shape[1] > MAX_VERTICES:
        raise ValueError(
            f"Q * 2**m is at most {MAX_VERTICES}, got {len(bases)} * 2**{directions.shape[1]}"
        )
    values, queries = ask_once(oracle, vertices(bases, directions), batch)
    sums = values.double() @ _signs(directions.shape[1], values.device)
    largest = float(values.abs().max())
    return OracleSums(sums, queries, largest, torch.finfo(values.dtype).eps)


@door
def ask_once(oracle: Oracle, points: Tensor, batch: int = 1 << 16) -> tuple[Tensor, int]:
    """Values at points of any shape, each distinct one asked once; and how many were asked.

    Integer answers become float64.
    """
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    distinct, where = points.unique(return_inverse=True)
    parts = [_answer(oracle, part) for part in distinct.split(batch)]
    return torch.cat(parts)[where], len(distinct)


def signed_sums_reference(table: Tensor | PackedTable, bases: Tensor, directions: Tensor) -> Tensor:
    """Plain torch: every vertex, then one gather."""
    m = directions.shape[1]
    rows = max(1, CHUNK >> m)
    parts = [
        _gathered(table, vertices(base, direction))
        for base, direction in zip(bases.split(rows), directions.split(rows), strict=True)
    ]
    values = [v.double() if v.is_floating_point() else v.long() for v in parts]
    sums = torch.cat([(v * _signs(m, v.device).to(v.dtype)).sum(1) for v in values])
    return sums.to(table.dtype) if sums.is_floating_point() else sums  # type: ignore[union-attr]


def vertices(bases: Tensor, directions: Tensor) -> Tensor:
    """All vertices of each subcube, shape ``(Q, 2**m)``; bit j of the column says if D_j is in."""
    found = bases[:, None]
    for j in range(directions.shape[1]):
        found = torch.cat((found, found ^ directions[:, j : j + 1]), 1)
    return found


@door
def coordinate_directions(n: int, m: int, count: int, generator: torch.Generator) -> Tensor:
    """Single random coordinates, m distinct ones a row: shape ``(count, m)``, int64."""
    _check_draw(n, m, count)
    if m > n:
        raise ValueError(f"there are {n} coordinates, so m is at most {n}, got {m}")
    order = torch.rand(count, n, generator=generator).argsort(1)
    return torch.ones_like(order[:, :m]) << order[:, :m]


@door
def block_directions(n: int, m: int, count: int, generator: torch.Generator) -> Tensor:
    """Disjoint random blocks: each coordinate joins one of m blocks or none, uniformly.

    Returns:
        Shape ``(count, m)``, int64; a block may be empty, and its subcube then sums to 0.
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


def _check_table(table: Tensor | PackedTable) -> None:
    if isinstance(table, PackedTable):
        return
    require_tensors(table=table)
    N = len(table) if table.ndim == 1 else 0
    if N < 1 or N & (N - 1) or N > 1 << MAX_TABLE_BITS:
        raise ValueError(
            f"a table has shape (2**n,) with n from 0 to {MAX_TABLE_BITS}, got {tuple(table.shape)}"
        )
    if table.dtype not in FLOATS + INTEGERS:
        raise TypeError(f"expected float32, float64 or signed integers, got {table.dtype}")


def _check_subcubes(bases: Tensor, directions: Tensor, n: int) -> None:
    require_tensors(bases=bases, directions=directions)
    for name, v in (("bases", bases), ("directions", directions)):
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
        if low < 0 or high >= 1 << n:
            raise ValueError(
                f"{name} lie between 0 and 2**{n} - 1, found {low if low < 0 else high}"
            )


def _refuse_overflow(table: Tensor | None, m: int) -> None:
    if table is None or table.dtype != torch.int64:
        return
    low, high = (int(v) for v in table.aminmax())
    if max(-low, high) << m >= 1 << 63:
        raise OverflowError(f"2**m * max|f| = 2**{m} * {max(-low, high)} does not fit in int64")


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


def _gathered(table: Tensor | PackedTable, points: Tensor) -> Tensor:
    if isinstance(table, PackedTable):
        return 1 - 2 * ((table.words[points >> 6] >> (points & 63)) & 1)
    return table[points]


def _signs(m: int, device: torch.device) -> Tensor:
    """(-1)^{|A|} for every A, shape ``(2**m,)``, float64."""
    return (1 - 2 * (popcount(torch.arange(1 << m, device=device)) & 1)).double()


if numba is not None:
    from numba import float32, float64, int8, int16, int32, int64, uint64, void

    from helpers.kernels._backends import count_ones, njit

    _FLOATS = ((float32, float64), (float64, float64))
    _INTEGERS = ((int8, int64), (int16, int64), (int32, int64), (int64, int64))

    def _read(words, x):  # type: ignore[no-untyped-def]
        return words[x >> uint64(6)] >> int64(x & uint64(63)) & 1

    _bit: Any = njit(_read)

    @njit([void(v[::1], int64[::1], int64[:, ::1], out[::1]) for v, out in (*_FLOATS, *_INTEGERS)])
    def _walk(table, bases, directions, out):  # type: ignore[no-untyped-def]
        """Eight vertices a step, over D_1 to D_3; then along the direction a Gray code flips."""
        wide, m = out.dtype.type, directions.shape[1]

        def square(x, a, b):  # type: ignore[no-untyped-def]
            y = x ^ b
            return (wide(table[x]) - wide(table[x ^ a])) - (wide(table[y]) - wide(table[y ^ a]))

        for q in range(len(bases)):
            x, total = uint64(bases[q]), wide(0)
            if m == 0:
                total = wide(table[x])
            elif m == 1:
                total = wide(table[x]) - wide(table[x ^ uint64(directions[q, 0])])
            elif m == 2:
                total = square(x, uint64(directions[q, 0]), uint64(directions[q, 1]))
            else:
                a, b = uint64(directions[q, 0]), uint64(directions[q, 1])
                c = uint64(directions[q, 2])
                for step in range(1 << (m - 3)):
                    part = square(x, a, b) - square(x ^ c, a, b)
                    total += -part if step & 1 else part
                    turn = min(count_ones(step ^ (step + 1)) + 2, m - 1)
                    x ^= uint64(directions[q, turn])
            out[q] = total

    @njit(void(int64[::1], int64[::1], int64[:, ::1], int64[::1]))
    def _walk_bits(words, bases, directions, out):  # type: ignore[no-untyped-def]
        """The same over packed bits, a 1 for each -1, four vertices a step: eight were slower."""
        m = directions.shape[1]
        for q in range(len(bases)):
            x, ones = uint64(bases[q]), 0
            if m == 0:
                out[q] = 1 - 2 * _bit(words, x)
                continue
            if m == 1:
                ones = _bit(words, x) - _bit(words, x ^ uint64(directions[q, 0]))
            else:
                a, b = uint64(directions[q, 0]), uint64(directions[q, 1])
                for step in range(1 << (m - 2)):
                    y = x ^ b
                    square = (_bit(words, x) - _bit(words, x ^ a)) - (
                        _bit(words, y) - _bit(words, y ^ a)
                    )
                    ones += -square if step & 1 else square
                    turn = min(count_ones(step ^ (step + 1)) + 1, m - 1)
                    x ^= uint64(directions[q, turn])
            out[q] = -2 * ones


if triton is not None:
    import triton.language as tl

    BLOCK = 256

    @triton.jit
    def _walk_triton(  # type: ignore[no-untyped-def]
        table, bases, directions, out, total, m: tl.constexpr, packed: tl.constexpr, B: tl.constexpr
    ):
        """One subcube a lane; every lane takes the same Gray code."""
        q = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
        inside = q < total
        x = tl.load(bases + q, mask=inside, other=0)
        acc = tl.zeros((B,), out.dtype.element_ty)
        for step in range(1 << m):
            if packed:
                word = tl.load(table + (x >> 6), mask=inside, other=0)
                value = 1 - 2 * ((word >> (x & 63)) & 1)
            else:
                value = tl.load(table + x, mask=inside, other=0).to(out.dtype.element_ty)
            acc += tl.where((step & 1) == 1, -value, value)
            turn = 0
            for k in tl.static_range(m):
                turn += tl.where(((step + 1) & ((2 << k) - 1)) == 0, 1, 0)
            flipped = tl.load(directions + q * m + turn, mask=inside & (turn < m), other=0)
            x ^= flipped
        tl.store(out + q, acc, mask=inside)


def _launch(table: Tensor, bases: Tensor, directions: Tensor, out: Tensor, packed: bool) -> None:
    grid = (triton.cdiv(len(bases), BLOCK),)
    m = directions.shape[1]
    _walk_triton[grid](table, bases, directions, out, len(bases), m=m, packed=packed, B=BLOCK)
