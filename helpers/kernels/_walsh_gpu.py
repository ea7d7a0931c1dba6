"""Walsh-Hadamard transform in place on a GPU, by Triton; run so far in its interpreter only.

One pass does the low bits of contiguous tiles, so all of them up to 13 bits; each further pass does
up to 9 bits of rows, a stripe of adjacent columns at a time: at most three passes to 30 bits.
Butterflies are additions, never matrix products, so nothing is rounded to fewer digits.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

TILE = 13  # bits of the contiguous pass
STRIPE = 5  # log2 of the columns of a row that a program reads at once
HELD = 14  # log2 of the numbers that a program holds at most


@triton.jit
def _bits(v, count: tl.constexpr, first: tl.constexpr, size: tl.constexpr):  # type: ignore[no-untyped-def]
    """Transform index bits ``first`` to ``first + count`` of a flat tile of 2**size numbers."""
    for k in tl.static_range(count):
        inner: tl.constexpr = 1 << (first + k)
        outer: tl.constexpr = 1 << (size - first - k - 1)
        pairs = tl.permute(tl.reshape(v, (outer, 2, inner)), (0, 2, 1))
        a, b = tl.split(pairs)
        v = tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), (1 << size,))
    return v


@triton.jit
def _tiles(x, total, bits: tl.constexpr, size: tl.constexpr):  # type: ignore[no-untyped-def]
    """Transform the ``bits`` low bits of 2**size contiguous numbers; the last tile may overrun."""
    i = tl.program_id(0).to(tl.int64) * (1 << size) + tl.arange(0, 1 << size)
    v = tl.load(x + i, mask=i < total, other=0)
    tl.store(x + i, _bits(v, bits, 0, size), mask=i < total)


@triton.jit
def _stripes(x, total, done: tl.constexpr, bits: tl.constexpr, columns: tl.constexpr):  # type: ignore[no-untyped-def]
    """Transform ``bits`` bits above ``done`` for 2**columns adjacent columns."""
    program = tl.program_id(0).to(tl.int64)
    block, stripe = program >> (done - columns), program & ((1 << (done - columns)) - 1)
    i = tl.arange(0, 1 << (bits + columns)).to(tl.int64)
    row, column = i >> columns, i & ((1 << columns) - 1)
    i = (block << (done + bits)) + (row << done) + (stripe << columns) + column
    v = tl.load(x + i, mask=i < total, other=0)
    tl.store(x + i, _bits(v, bits, columns, bits + columns), mask=i < total)


def passes(n: int, tile: int = TILE, stripe: int = STRIPE, held: int = HELD) -> list[int]:
    """Bits that each pass over the table does; three passes at most to n = 30."""
    plan, left = [min(n, tile)], n - min(n, tile)
    rounds = -(-left // (held - stripe))
    for k in range(rounds):
        plan.append(-(-left // (rounds - k)))
        left -= plan[-1]
    return plan


def transform_(x: Tensor, tile: int = TILE, stripe: int = STRIPE, held: int = HELD) -> None:
    """Transform the last axis of a contiguous tensor in place; smaller tiles serve the tests."""
    n, total = x.shape[-1].bit_length() - 1, x.numel()
    if n == 0:
        return
    first, *others = passes(n, tile, stripe, held)
    _tiles[(-(-total >> tile),)](x, total, first, tile, num_warps=8)
    done = first
    for bits in others:
        columns = min(stripe, done)
        _stripes[(total >> (bits + columns),)](x, total, done, bits, columns, num_warps=16)
        done += bits
