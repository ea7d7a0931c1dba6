"""Walsh-Hadamard transform in place on the CPU: in which passes, and on how many threads.

The passes themselves are compiled in :mod:`helpers.kernels._walsh_vectors`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from typing import Any

import torch
from numba import types
from torch import Tensor

from helpers.kernels._backends import has_feature
from helpers.kernels._walsh_vectors import BASE, TAGS, blocks, exceeds, strip

THREADED = 24  # log2 of the bytes from which threads pay
HUGE = 25  # log2 of the bytes from which a new table asks for huge pages
PIECES = 4  # of work for each thread, so that one that is interrupted delays the others little
ELEMENTS: dict[torch.dtype, Any] = {
    torch.float32: types.float32,
    torch.float64: types.float64,
    torch.int32: types.int32,
    torch.int64: types.int64,
}


def _widest() -> int:
    """Bytes of the widest vectors that compiled code may use."""
    return 64 if has_feature("avx512f") else 32 if has_feature("avx2") else 16


WIDTH = _widest()


_U, _I = types.uintp, types.int64
# Arguments of each entry after z and w; None is one of the type of z.
ENTRIES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "blocks": (blocks, (_U, _I, _I, _U, _U)),
    "strip": (strip, (_U, _I, _I, _U, _U)),
    "exceeds": (exceeds, (_U, _I, None)),
}


@cache
def _compiled(name: str, dtype: torch.dtype, width: int) -> Callable[..., Any]:
    """Machine code of an entry point, compiled or read from the disk."""
    function, arguments = ENTRIES[name]
    z = ELEMENTS[dtype]
    signature = (z, TAGS[width], *(z if a is None else a for a in arguments))
    function.compile(signature)
    return function.get_overload(signature)


KNOWN: dict[tuple[int, torch.dtype], tuple[Callable[..., None], int, int, int, int]] = {}
"""For rows of floats met before: code, its constant arguments, and the most rows of one thread."""


@cache
def plan(log_row: int) -> tuple[int, ...]:
    """Bits of each sweep above the base, the smaller ones first.

    Three at most: the rows of one sweep lie a power of two apart, so they compete for one set of
    the cache, which has eight ways or a few more.
    """
    above = max(log_row - BASE, 0)
    if above == 1:
        return (1,)
    first = ((), (2, 2), (2,))[above % 3]
    return first + (3,) * ((above - sum(first)) // 3)


def _digits(log_row: int) -> int:
    return sum(bits << 4 * k for k, bits in enumerate(plan(log_row)))


def transform_(x: Tensor, width: int = WIDTH) -> None:
    """Transform the last axis of a contiguous CPU tensor in place."""
    N, count = x.shape[-1], x.numel()
    if N == 1:
        return
    code, log_row, digits = machine_code(N, x.dtype, width)
    if x.dtype.is_floating_point and width == WIDTH:
        KNOWN[N, x.dtype] = code, width, log_row, digits, (1 << max(THREADED - log_row, 0)) - 1
    if (count // N) << log_row >> THREADED and (threads := torch.get_num_threads()) > 1:
        _threaded(x, log_row, width, threads)
    else:
        code(0, width, x.data_ptr(), log_row, digits, 0, count // N)


@cache
def machine_code(N: int, dtype: torch.dtype, width: int) -> tuple[Callable[..., None], int, int]:
    """Machine code for rows of N numbers, and its constant arguments."""
    log_row = (N * dtype.itemsize).bit_length() - 1
    return _compiled("blocks", dtype, width), log_row, _digits(log_row)


def _threaded(x: Tensor, log_row: int, width: int, threads: int) -> None:
    """Low bits by blocks, a few for each thread; then the sweeps left by ranges of columns."""
    p, length = x.data_ptr(), x.numel() * x.element_size()
    done, sweeps = _common(log_row, length, PIECES * threads)
    code = _compiled("blocks", x.dtype, width)
    in_threads(threads, partial(code, 0, width, p, done, _digits(log_row)), length >> done)
    strip = _compiled("strip", x.dtype, width)
    for bits in sweeps:
        for start in range(p, p + length, 1 << done + bits):
            in_threads(threads, partial(strip, 0, width, start, done, bits), 1 << done - BASE)
        done += bits


def _common(log_row: int, length: int, pieces: int) -> tuple[int, tuple[int, ...]]:
    """Log2 of the largest complete blocks of which there are enough, and the sweeps above them."""
    sweeps = plan(log_row)
    for k in range(len(sweeps), -1, -1):
        whole = log_row - sum(sweeps[k:])
        if length >> whole >= pieces:
            break
    return whole, sweeps[k:]


def in_threads(threads: int, work: Callable[[int, int], None], count: int) -> None:
    """Call ``work(i, j)`` on pieces of the range up to ``count``, here and in other threads."""
    pieces = min(count, PIECES * threads)
    ends = [count * k // pieces for k in range(pieces + 1)]
    left = iter([*pairwise(ends)])

    def drain() -> None:
        for i, j in left:
            work(i, j)

    others = [_pool(threads - 1, os.getpid()).submit(drain) for _ in range(threads - 1)]
    drain()
    for other in others:
        if not other.cancel():  # one that never came to run has left nothing undone
            other.result()


@cache
def _pool(others: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process; a forked one has another number, and makes its own."""
    return ThreadPoolExecutor(others, "walsh")


def clone(x: Tensor) -> Tensor:
    """A contiguous copy; a large one in huge pages where Linux gives them, in half the time."""
    if not x.numel() * x.element_size() >> HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return x.clone() if x.is_contiguous() else x.clone(memory_format=torch.contiguous_format)
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    start = -(-y.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
    length = ctypes.c_size_t(y.data_ptr() + y.numel() * y.element_size() - start)
    ctypes.CDLL(None).madvise(ctypes.c_void_p(start), length, mmap.MADV_HUGEPAGE)
    return y.copy_(x)


def overflows(x: Tensor) -> bool:
    """Whether an entry of a contiguous CPU tensor of integers is too large for its row."""
    code, limit = _limited(x.shape[-1], x.dtype)
    return code(limit, WIDTH, x.data_ptr(), x.numel(), -limit)


@cache
def _limited(N: int, dtype: torch.dtype) -> tuple[Callable[..., bool], int]:
    """Machine code for rows of N integers, and the largest of which N add up to one."""
    return _compiled("exceeds", dtype, WIDTH), torch.iinfo(dtype).max // N
