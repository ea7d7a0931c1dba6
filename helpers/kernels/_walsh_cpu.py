"""Walsh-Hadamard transform in place on the CPU: in which passes, and on how many threads.

The passes themselves are compiled in :mod:`helpers.kernels._walsh_vectors`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import torch
from numba import types
from torch import Tensor

from helpers.kernels._walsh_vectors import BASE, SEGMENT, TAGS, blocks, extremes, strip

CACHED = 24  # log2 of the bytes beyond which a row lives in main memory
BUFFER = SEGMENT << 7  # bytes a thread needs besides the table, beyond 2**CACHED
THREADED = 22  # log2 of the bytes from which threads pay
ELEMENTS: dict[torch.dtype, Any] = {
    torch.float32: types.float32,
    torch.float64: types.float64,
    torch.int32: types.int32,
    torch.int64: types.int64,
}


def _widest() -> int:
    features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


WIDTH = _widest()


_U, _I = types.uintp, types.int64
ENTRIES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "blocks": (blocks, (_U, _U, _I, _I, _U)),
    "strip": (strip, (_U, _I, _I, _U, _U, _U)),
    "extremes": (extremes, (_U, _I)),
}


@functools.cache
def _compiled(name: str, dtype: torch.dtype, width: int) -> Callable[..., Any]:
    """Machine code of an entry point, compiled or read from the disk."""
    function, arguments = ENTRIES[name]
    signature = (ELEMENTS[dtype], TAGS[width], *arguments)
    function.compile(signature)
    return function.get_overload(signature)


@functools.cache
def _plan(log_row: int, width: int) -> tuple[int, ...]:
    """Bits of each sweep above the base; with three, eight rows fill one set of an 8-way cache."""
    above = max(log_row - BASE, 0)
    last: tuple[int, ...] = ()
    if log_row > CACHED:
        last = (7 if above % 3 == 1 else 6,)
    elif above == 10 and width == 64:
        last = (4,)
    above -= sum(last)
    return ((above % 3,) if above % 3 else ()) + (3,) * (above // 3) + last


def _digits(plan: Iterable[int]) -> int:
    return sum(bits << 4 * k for k, bits in enumerate(plan))


def transform_(x: Tensor, width: int = WIDTH) -> None:
    """Transform the last axis of a contiguous CPU tensor in place."""
    size = x.element_size()
    row = x.shape[-1] * size
    if row == size:
        return
    log_row = row.bit_length() - 1
    length = x.numel() * size
    code = _compiled("blocks", x.dtype, width)
    if log_row <= BASE:
        code(0, width, x.data_ptr(), length, log_row, 0, 0)
        return
    buffer = np.empty(BUFFER + 64, np.uint8) if log_row > CACHED else None
    start = 0 if buffer is None else buffer.ctypes.data + 63 & ~63
    code(0, width, x.data_ptr(), length, log_row, _digits(_plan(log_row, width)), start)


def range_of(x: Tensor) -> tuple[int, int]:
    """The least and the greatest entry of a CPU tensor of integers."""
    x = x.contiguous()
    return _compiled("extremes", x.dtype, WIDTH)(0, WIDTH, x.data_ptr(), x.numel())
