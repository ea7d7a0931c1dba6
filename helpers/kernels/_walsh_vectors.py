# mypy: ignore-errors
"""Compiled passes of the Walsh-Hadamard transform on the CPU, by explicit LLVM vectors.

A row of N numbers is a block of memory, its index bits the bits of an address. One function,
``_butterflies``, loads 2**r vectors, transforms the r bits that tell them apart and, where asked,
the bits within a vector, and stores them. Everything else says in which order:

    base    up to 16 KiB: all bits within a vector and r more at once, then r at a time
    sweep   r bits of rows above the base, column by column

Sweeps go depth first: one is done as soon as its block is complete, while that block is in cache.
What the processor would not fetch by itself in time, across pages, is asked for a little ahead.
Addresses are integers. Element type and vector width are types of two arguments (``z``, ``w``), so
that each pair is compiled, and cached on disk, on its own.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from helpers.kernels import compiled

BASE = 14  # log2 of the bytes of a base block
FAR = 18  # log2 of the bytes between rows from which a sweep fetches ahead
TILES_AHEAD = 8192  # bytes ahead of the tiles, of the columns of a far sweep
COLUMNS_AHEAD = 1024

TAGS: dict[int, Any] = {8: types.uint8, 16: types.int8, 32: types.int16, 64: types.int32}
BYTES = {tag: width for width, tag in TAGS.items()}

_inner = functools.partial(njit, error_model="numpy")
_entry = compiled.njit()
_U = np.uintp


@intrinsic
def _vector_bytes(context, w):
    """The vector width that the type of ``w`` stands for."""

    def build(context, builder, signature, arguments):
        return context.get_constant(types.uintp, BYTES[w])

    return types.uintp(w), build


@intrinsic
def _element_bytes(context, z):
    """The size of a number of the type of ``z``."""

    def build(context, builder, signature, arguments):
        return context.get_constant(types.uintp, z.bitwidth // 8)

    return types.uintp(z), build


@intrinsic(prefer_literal=True)
def _butterflies(context, z, w, p, step, length, advance, bits, lane_bits, ahead):
    """Transform ``bits`` bits between vectors and ``lane_bits`` within, ``length / advance`` times.

    Vector i of time t lies at ``p + t advance + i step``, for i below ``2**bits``; unless 0,
    ``ahead`` is how many bytes behind it are fetched into the cache meanwhile. The last three are
    literals; ``lane_bits`` may exceed what a vector has. A bit between vectors follows each bit
    within, since the processor adds and shuffles in different units, at once if it finds both.
    """
    count = 1 << bits.literal_value
    lanes = BYTES[w] * 8 // z.bitwidth
    lane_end = min(1 << lane_bits.literal_value, lanes)

    def build(context, builder, signature, arguments):
        _, _, p, step, length, advance, *_ = arguments
        vector = ir.VectorType(context.get_value_type(z), lanes)
        arithmetic = (
            _Floats(builder, vector) if z in types.real_domain else _Integers(builder, vector)
        )

        def pointer(i, offset, kind=vector):
            address = builder.add(builder.add(p, builder.mul(step, step.type(i))), offset)
            return builder.inttoptr(address, kind.as_pointer())

        with cgutils.for_range_slice(builder, length.type(0), length, advance) as (offset, _):
            v = [builder.load(pointer(i, offset), align=z.bitwidth // 8) for i in range(count)]
            for i in range(count if ahead.literal_value else 0):
                later = builder.add(offset, offset.type(ahead.literal_value))
                _fetch(builder, pointer(i, later, ir.IntType(8)))
            for h in (1, 2, 4, 8):
                if h < lane_end:
                    v = [arithmetic.across(x, h) for x in v]
                for i in (i for i in range(count) if h < count and not i & h):
                    v[i], v[i | h] = arithmetic.between(v[i], v[i | h])
            for i, x in enumerate(v):
                builder.store(x, pointer(i, offset), align=z.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(z, w, *[types.uintp] * 4, bits, lane_bits, ahead), build


def _fetch(builder: Any, pointer: Any) -> None:
    """Ask for the cache line at ``pointer``; an address outside the table does no harm."""
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(prefetch, [pointer, flag(0), flag(3), flag(1)])  # to read, into the first cache


class _Floats:
    """Butterflies of float vectors."""

    def __init__(self, builder: Any, vector: Any) -> None:
        self.builder, self.vector = builder, vector

    def between(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The sum and the difference of two vectors."""
        return self.builder.fadd(a, b), self.builder.fsub(a, b)

    def across(self, x: Any, h: int) -> Any:
        """Sums in lanes without h, differences in those with it: one fused multiply-add."""
        signs = [-1.0 if i & h else 1.0 for i in range(self.vector.count)]
        product = self.builder.fmul(x, ir.Constant(self.vector, signs), flags=["contract"])
        return self.builder.fadd(product, self.swapped(x, h), flags=["contract"])

    def swapped(self, x: Any, h: int) -> Any:
        """Each lane i replaced by lane i ^ h."""
        order = ir.VectorType(ir.IntType(32), self.vector.count)
        return self.builder.shuffle_vector(
            x, x, ir.Constant(order, [i ^ h for i in range(self.vector.count)])
        )


class _Integers(_Floats):
    """Butterflies of integer vectors."""

    def between(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The sum and the difference of two vectors."""
        return self.builder.add(a, b), self.builder.sub(a, b)

    def across(self, x: Any, h: int) -> Any:
        """Sums in lanes without h, differences in those with it."""
        odd = ir.VectorType(ir.IntType(1), self.vector.count)
        chosen = ir.Constant(odd, [bool(i & h) for i in range(self.vector.count)])
        signed = self.builder.select(chosen, self.builder.neg(x), x)
        return self.builder.add(signed, self.swapped(x, h))


@_inner
def _columns(z, w, p, step, length, bits):
    """Transform across 2**bits rows ``step`` bytes apart, the first ``length`` bytes of each."""
    v = _vector_bytes(w)
    if bits == 4:
        _butterflies(z, w, p, step, length, v, 4, 0, 0)
    elif bits == 3:
        _butterflies(z, w, p, step, length, v, 3, 0, 0)
    elif bits == 2:
        _butterflies(z, w, p, step, length, v, 2, 0, 0)
    else:
        _butterflies(z, w, p, step, length, v, 1, 0, 0)


@_inner
def _tiles(z, w, p, length, bits):
    """Transform every 2**bits vectors in a row, the bits within a vector too."""
    v = _vector_bytes(w)
    if bits == 4:
        _butterflies(z, w, p, v, length, v << _U(4), 4, 4, TILES_AHEAD)
    elif bits == 3:
        _butterflies(z, w, p, v, length, v << _U(3), 3, 4, TILES_AHEAD)
    elif bits == 2:
        _butterflies(z, w, p, v, length, v << _U(2), 2, 4, TILES_AHEAD)
    elif bits == 1:
        _butterflies(z, w, p, v, length, v << _U(1), 1, 4, TILES_AHEAD)
    else:
        _butterflies(z, w, p, v, length, v, 0, 4, TILES_AHEAD)


@_inner
def _short(z, w, p, length, row):
    """Transform rows shorter than a vector: many in one, then those left over one by one."""
    v = _vector_bytes(w)
    whole = length & ~(v - _U(1))
    n = row // _element_bytes(z)
    if n == 2:
        _butterflies(z, w, p, v, whole, v, 0, 1, 0)
    elif n == 4:
        _butterflies(z, w, p, v, whole, v, 0, 2, 0)
    else:
        _butterflies(z, w, p, v, whole, v, 0, 3, 0)
    p, left = p + whole, length - whole
    if row == 8:
        _butterflies(z, np.uint8(0), p, row, left, row, 0, 4, 0)
    elif row == 16:
        _butterflies(z, np.int8(0), p, row, left, row, 0, 4, 0)
    else:
        _butterflies(z, np.int16(0), p, row, left, row, 0, 4, 0)


@_inner
def _base(z, w, p, length, row):
    """Transform rows of at least a vector that together fit in the first cache."""
    v, end = _vector_bytes(w), p + length
    held = 4 if v == 64 else 3
    vectors = _log2(row // v)
    done = min(vectors, held)
    _tiles(z, w, p, length, done)
    while done < vectors:
        bits = min(vectors - done, held)
        step = v << _U(done)
        for q in range(p, end, step << _U(bits)):
            _columns(z, w, _U(q), step, step, bits)
        done += bits


@_inner
def _log2(x):
    k = 0
    while x >> _U(k + 1):
        k += 1
    return k


@_inner
def _sweep(z, w, p, step, bits, first, last):
    """Transform across rows ``step`` long, columns ``first`` to ``last``, cut at vectors."""
    v = _vector_bytes(w)
    skew = (_U(0) - p) & (v - _U(1))
    if skew & _U(15):
        skew = _U(0)
    if skew and last == step:  # what stands before the first vector and after the last
        last -= v
        _columns(z, np.int8(0), p, step, skew, bits)
        _columns(z, np.int8(0), p + last + skew, step, v - skew, bits)
    if bits == 3 and step >> _U(FAR):
        _butterflies(z, w, p + first + skew, step, last - first, v, 3, 0, COLUMNS_AHEAD)
    else:
        _columns(z, w, p + first + skew, step, last - first, bits)


@_inner
def _block(z, w, p, log_block, plan):
    """Transform one block above the base; the hexadecimal digits of ``plan`` are its sweeps.

    Digits beyond the block are never reached: no multiple of their size lies within it.
    """
    base = _U(1) << _U(BASE)
    end = p + (_U(1) << _U(log_block))
    start = p
    while p < end:
        _base(z, w, p, base, base)
        p += base
        done, left = BASE, plan
        while left:
            up = done + (left & 15)
            if (p - start) & ((_U(1) << _U(up)) - _U(1)):
                break
            step = _U(1) << _U(done)
            _sweep(z, w, p - (_U(1) << _U(up)), step, left & 15, _U(0), step)
            done, left = up, left >> 4


@_entry
def blocks(z, w, p, log_block, plan, first, last):
    """Transform blocks ``first`` to ``last`` of 2**log_block bytes each, the first at address p."""
    block = _U(1) << _U(log_block)
    p, end = p + first * block, p + last * block
    if block < _vector_bytes(w):
        _short(z, w, p, end - p, block)
    elif log_block <= BASE:
        while p < end:
            length = min(end - p, _U(1) << _U(BASE))
            _base(z, w, p, length, block)
            p += length
    else:
        while p < end:
            _block(z, w, p, log_block, plan)
            p += block


@_entry
def strip(z, w, p, log_step, bits, first, last):
    """Sweep 2**bits rows 2**log_step long: from base block ``first`` of each row to ``last``."""
    base = _U(1) << _U(BASE)
    _sweep(z, w, p, _U(1) << _U(log_step), bits, first * base, last * base)


@intrinsic
def _pointer(context, z, p):
    """Address p as a pointer to numbers of the type of ``z``."""

    def build(context, builder, signature, arguments):
        return builder.inttoptr(arguments[1], context.get_value_type(types.CPointer(z)))

    return types.CPointer(z)(z, types.uintp), build


@_entry
def exceeds(z, w, p, count, low):
    """Whether one of ``count`` numbers is below ``low`` or above ``z``."""
    x = carray(_pointer(z, p), (count,))
    least = greatest = x[0]
    for i in range(count):
        least = min(least, x[i])
        greatest = max(greatest, x[i])
    return least < low or greatest > z
