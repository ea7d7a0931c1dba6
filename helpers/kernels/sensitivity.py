"""What flipping bits does to a function with values -1 and 1, from its table packed 64 to a word.

Public functions, torch reference, CPU path, GPU path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from helpers.checks import readable, require_tensors, validated
from helpers.kernels._backends import (
    chosen,
    is_differentiated,
    numba,
    require_readable,
    triton,
)
from helpers.kernels.parity import ones

MAX_BITS = 30
DTYPES = (torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64)
BLOCK_OF_VALUES = 1 << 18
WORD = 6  # log2 of the entries in a word
LOWER = (  # mask k: those bits of a word whose index has bit k = 0
    0x5555555555555555,
    0x3333333333333333,
    0x0F0F0F0F0F0F0F0F,
    0x00FF00FF00FF00FF,
    0x0000FFFF0000FFFF,
    0x00000000FFFFFFFF,
)


@validated
@dataclass(frozen=True, eq=False)
class PackedTable:
    """A function {-1, 1}^n -> {-1, 1}, one bit an entry.

    Attributes:
        n: Number of bits, 0 to 30.
        words: Shape ``(max(1, 2**n / 64),)``, int64. Bit b of word w is 1 iff f(64 w + b) = -1;
            below n = 6 the bits from 2**n on are 0.

    Example:
        >>> import torch
        >>> from helpers.kernels.sensitivity import PackedTable
        >>> PackedTable(2, torch.tensor([0b1001])).words  # -1 at the indices 0 and 3
        tensor([9])
    """

    n: int
    words: Tensor

    def __post_init__(self) -> None:
        if not 0 <= self.n <= MAX_BITS:
            raise ValueError(f"a packed table has 0 to {MAX_BITS} bits, got n = {self.n}")
        if self.words.dtype != torch.int64:
            raise TypeError(f"words must be int64, got {self.words.dtype}")
        size = 1 << max(0, self.n - WORD)
        if self.words.shape != (size,):
            raise ValueError(
                f"n = {self.n} takes words of shape ({size},), got {tuple(self.words.shape)}"
            )
        if self.n < WORD and readable(self.words) and int(self.words) >> (1 << self.n):
            raise ValueError(f"n = {self.n} leaves the bits of a word from {1 << self.n} on at 0")


@dataclass(frozen=True, eq=False)
class LocalSensitivity:
    """How many flips change a function, over all points of the cube.

    Attributes:
        histogram: Entry s is the number of points with exactly s such flips, int64; exact.

    Example:
        >>> import torch
        >>> from helpers.kernels.sensitivity import LocalSensitivity
        >>> found = LocalSensitivity(torch.tensor([2, 0, 6]))  # majority of three bits
        >>> found.maximum, found.mean
        (2, 1.5)
    """

    histogram: Tensor

    @property
    def maximum(self) -> int:
        """The largest number at any point."""
        return int(self.histogram.nonzero().max())

    @property
    def mean(self) -> float:
        """The mean over all points: for single bits the average sensitivity."""
        s = torch.arange(len(self.histogram), device=self.histogram.device)
        return float((s * self.histogram).sum()) / float(self.histogram.sum())


def pack(table: Tensor) -> PackedTable:
    """Pack a table of -1 and 1.

    Args:
        table: Shape ``(2**n,)``, n from 0 to 30, float32, float64 or a signed integer type.

    Raises:
        TypeError: another dtype.
        ValueError: the length is no power of two or too large, or a value is not -1 or 1.
        RuntimeError: a gradient of the table is being recorded, in either mode, or its values
            cannot be read: inside a transform of torch.func, on the device meta, or fake.

    Cost: two passes over the table.

    Example:
        >>> import torch
        >>> from helpers.kernels.sensitivity import pack
        >>> pack(torch.tensor([-1, 1, 1, -1]))
        PackedTable(n=2, words=tensor([9]))
    """
    require_tensors(table=table)
    N = len(table) if table.ndim == 1 else 0
    if N < 1 or N & (N - 1) or N > 1 << MAX_BITS:
        raise ValueError(
            f"a table has shape (2**n,) with n from 0 to {MAX_BITS}, got {tuple(table.shape)}"
        )
    if table.dtype not in DTYPES:
        raise TypeError(f"expected floats or signed integers, got {table.dtype}")
    if is_differentiated(table):
        raise RuntimeError(
            "counts of flips have no gradient; detach the table, outside of a transform of torch"
        )
    require_readable(table=table)
    n = N.bit_length() - 1
    if table.device.type == "cpu":
        filled = np.zeros(max(8, N // 8), dtype=np.uint8)
        for start in range(0, N, BLOCK_OF_VALUES):  # in blocks that a cache holds
            values = table[start : start + BLOCK_OF_VALUES].numpy(force=True)
            _require_signs(table, bool((np.abs(values) == 1).all()))
            packed = np.packbits(values < 0, bitorder="little")
            filled[start // 8 : start // 8 + len(packed)] = packed
        return PackedTable(n, torch.from_numpy(filled.view(np.int64)))
    _require_signs(table, bool((table.abs() == 1).all()))
    minus = table < 0
    lanes = torch.arange(min(64, N), device=table.device)
    return PackedTable(n, (minus.view(-1, len(lanes)).long() << lanes).sum(-1))


def _require_signs(table: Tensor, met: bool) -> None:
    if not met:
        wrong = table[table.abs() != 1][0].item()
        raise ValueError(f"the values of the function must be -1 or 1, found {wrong}")


def unpack(packed: PackedTable) -> Tensor:
    """The table again, shape ``(2**n,)``, int8.

    Example:
        >>> import torch
        >>> from helpers.kernels.sensitivity import pack, unpack
        >>> unpack(pack(torch.tensor([-1, 1, 1, -1])))
        tensor([-1,  1,  1, -1], dtype=torch.int8)
    """
    lanes = torch.arange(min(64, 1 << packed.n), device=packed.words.device)
    ones = (packed.words[:, None] >> lanes) & 1
    return (1 - 2 * ones).to(torch.int8).view(-1)


def influences(table: Tensor | PackedTable, backend: str = "auto") -> Tensor:
    r"""Influence of every coordinate on a function with values -1 and 1.

    .. math:: \mathrm{Inf}_k(f) = \Pr_x \bigl[ f(x) \ne f(x^{\oplus k}) \bigr]

    Args:
        table: As :func:`pack` takes it, or packed.
        backend: ``"auto"``, ``"torch"`` (the reference, any device), ``"numba"`` (CPU) or
            ``"triton"`` (CUDA).

    Returns:
        Shape ``(n,)``, float64, between 0 and 1, exact; entry k - 1 belongs to coordinate k.

    Raises:
        TypeError: the dtype of the table.
        ValueError: its length or a value in it, or an unknown backend.
        RuntimeError: an explicit backend that cannot run here.

    Cost: n 2**n / 64 words read, of which all but n - 18 sweeps in cache. The triton path has been
    run in Triton's interpreter only, never on a GPU. Source: O'Donnell (2014), Definition 2.13.

    Example:
        >>> from helpers.cube import majority
        >>> from helpers.kernels.sensitivity import influences
        >>> influences(majority(3))
        tensor([0.5000, 0.5000, 0.5000], dtype=torch.float64)
    """
    packed = _packed(table)
    path = chosen(backend, packed.words)
    if path == "torch":
        counts = influence_counts_reference(packed)
    else:
        counts = packed.words.new_zeros(packed.n)
        if path == "numba":
            _count_flips(packed.words.resolve_neg().contiguous().numpy(), counts.numpy())
        else:
            _launch_influences(packed, counts)
    return counts.double() / (1 << packed.n)


def local_sensitivity(table: Tensor | PackedTable, backend: str = "auto") -> LocalSensitivity:
    """Number of single flips that change f at a point, over all points.

    Args:
        table: As :func:`pack` takes it, or packed.
        backend: As for :func:`influences`.

    Returns:
        A histogram of n + 1 entries with its maximum and mean; exact.

    Raises:
        TypeError, ValueError, RuntimeError: as :func:`influences`.

    Cost: n 2**n / 64 words and their counters: 5 bits a point, held for 256 words at a time.

    Example:
        >>> from helpers.cube import majority
        >>> from helpers.kernels.sensitivity import local_sensitivity
        >>> local_sensitivity(majority(3)).histogram  # two points with no such flip, six with two
        tensor([2, 0, 6, 0])
    """
    packed = _packed(table)
    path = chosen(backend, packed.words)
    if path == "torch":
        return LocalSensitivity(histogram_reference(packed))
    histogram = packed.words.new_zeros(packed.n + 1)
    if path == "numba":
        _histogram(packed.words.resolve_neg().contiguous().numpy(), histogram.numpy())
    else:
        _launch_histogram(packed, histogram)
    if packed.n < WORD:
        histogram[0] -= 64 - (1 << packed.n)  # the unused bits of the word never change
    return LocalSensitivity(histogram)


def influence_counts_reference(packed: PackedTable) -> Tensor:
    """Plain torch: number of points whose value changes, for each coordinate.

    Example:
        >>> from helpers.cube import majority
        >>> from helpers.kernels.sensitivity import influence_counts_reference, pack
        >>> influence_counts_reference(pack(majority(3)))
        tensor([4, 4, 4])
    """
    f = unpack(packed)
    counts = [
        (pair[:, 0] != pair[:, 1]).sum() * 2
        for pair in (f.view(-1, 2, 1 << k) for k in range(packed.n))
    ]
    return torch.stack(counts) if counts else packed.words.new_zeros(0)


def histogram_reference(packed: PackedTable) -> Tensor:
    """Plain torch, one flip of the whole table after another.

    Example:
        >>> from helpers.cube import majority
        >>> from helpers.kernels.sensitivity import histogram_reference, pack
        >>> histogram_reference(pack(majority(3)))
        tensor([2, 0, 6, 0])
    """
    f = unpack(packed)
    i = torch.arange(len(f), device=f.device)
    changed = torch.zeros_like(i)
    for k in range(packed.n):
        changed += f != f[i ^ (1 << k)]
    return torch.bincount(changed, minlength=packed.n + 1)


def _packed(table: Tensor | PackedTable) -> PackedTable:
    if not isinstance(table, PackedTable):
        return pack(table)
    require_tensors(words=table.words)  # whose memory may have been freed since it was packed
    return table


if numba is not None:
    from numba import int64, uintp, void

    from helpers.kernels._backends import count_ones
    from helpers.kernels.compiled import njit

    BLOCK = 256  # words whose counters are held at once
    CACHED = 4096  # words of a sweep that stay in the nearest cache
    PLANES = 5  # bits of a counter: at most 30 flips

    @njit(void(int64[::1], int64[::1]))
    def _count_flips(words, counts):  # type: ignore[no-untyped-def]
        """Add to ``counts[k]`` the entries that differ from their neighbour along bit k."""
        n, size = len(counts), uintp(len(words))
        for start in range(uintp(0), size, uintp(CACHED)):
            stop = min(start + uintp(CACHED), size)
            for k in range(min(n, WORD)):
                mask, total = LOWER[k], 0
                for j in range(start, stop):
                    total += count_ones((words[j] ^ (words[j] >> (1 << k))) & mask)
                counts[k] += 2 * total  # a pair that differs does so seen from either end
            for k in range(WORD, n):
                half, total = uintp(1) << uintp(k - WORD), 0
                if uintp(2) * half > stop - start:
                    break
                for pair in range(start, stop, uintp(2) * half):
                    for j in range(pair, pair + half):
                        total += count_ones(words[j] ^ words[j + half])
                counts[k] += 2 * total
        for k in range(WORD, n):  # the pairs too far apart for one piece of the cache
            half, total = uintp(1) << uintp(k - WORD), 0
            if uintp(2) * half > uintp(CACHED):
                for pair in range(uintp(0), size, uintp(2) * half):
                    for j in range(pair, pair + half):
                        total += count_ones(words[j] ^ words[j + half])
                counts[k] += 2 * total

    @njit(void(int64[::1], int64[::1]))
    def _histogram(words, histogram):  # type: ignore[no-untyped-def]
        """Count, bit by bit in parallel, the flips that change each of 64 entries.

        Bit b of plane p is bit p of the counter of entry b; a changed entry is added with carry.
        """
        size = uintp(len(words))
        planes = np.empty((PLANES, BLOCK), np.int64)
        length = min(uintp(BLOCK), size)  # a power of two divides the larger one
        for start in range(uintp(0), size, length):
            planes[:] = 0
            for k in range(len(histogram) - 1):
                high = uintp(0) if k < WORD else uintp(1) << uintp(k - WORD)
                for j in range(length):
                    word = words[(start + j) ^ high]
                    for i in range(WORD):  # unrolled: the compiler vectorises each case
                        if i == k:
                            word = ((word >> (1 << i)) & LOWER[i]) | ((word & LOWER[i]) << (1 << i))
                    carry = word ^ words[start + j]
                    for p in range(PLANES):  # 64 counters plus one: XOR is the sum, AND the carry
                        planes[p, j], carry = planes[p, j] ^ carry, planes[p, j] & carry
            for s in range(len(histogram)):
                total = 0
                for j in range(length):
                    equal = -1  # then the entries whose counter reads s in every plane
                    for p in range(PLANES):
                        equal &= planes[p, j] if s >> p & 1 else ~planes[p, j]
                    total += count_ones(equal)
                histogram[s] += total


if triton is not None:
    import triton.language as tl

    TILE = 256
    _ones = triton.jit(ones)

    @triton.jit
    def _swap(x, mask: tl.constexpr, shift: tl.constexpr):  # type: ignore[no-untyped-def]
        return ((x >> shift) & mask) | ((x & mask) << shift)

    @triton.jit
    def _flip(words, j, inside, block):  # type: ignore[no-untyped-def]
        """The words j of the table whose points are flipped by the block."""
        x = tl.load(words + (j ^ (block >> 6)), mask=inside, other=0)
        x = tl.where((block & 1) == 1, _swap(x, 0x5555555555555555, 1), x)
        x = tl.where(((block >> 1) & 1) == 1, _swap(x, 0x3333333333333333, 2), x)
        x = tl.where(((block >> 2) & 1) == 1, _swap(x, 0x0F0F0F0F0F0F0F0F, 4), x)
        x = tl.where(((block >> 3) & 1) == 1, _swap(x, 0x00FF00FF00FF00FF, 8), x)
        x = tl.where(((block >> 4) & 1) == 1, _swap(x, 0x0000FFFF0000FFFF, 16), x)
        return tl.where(((block >> 5) & 1) == 1, _swap(x, 0x00000000FFFFFFFF, 32), x)

    @triton.jit
    def _influences_triton(words, counts, size, bits, TILE: tl.constexpr):  # type: ignore[no-untyped-def]
        j = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
        inside = j < size
        own = tl.load(words + j, mask=inside, other=0)
        for k in range(bits):
            block = tl.full((1,), 1, tl.int64) << k
            differs = tl.where(inside, own ^ _flip(words, j, inside, block), 0)
            tl.atomic_add(counts + k, tl.sum(_ones(differs), 0))

    @triton.jit
    def _histogram_triton(words, histogram, size, bits, TILE: tl.constexpr):  # type: ignore[no-untyped-def]
        j = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
        inside = j < size
        own = tl.load(words + j, mask=inside, other=0)
        p0 = tl.zeros((TILE,), tl.int64)
        p1, p2, p3, p4 = p0, p0, p0, p0
        for k in range(bits):
            carry = own ^ _flip(words, j, inside, tl.full((1,), 1, tl.int64) << k)
            p0, carry = p0 ^ carry, p0 & carry
            p1, carry = p1 ^ carry, p1 & carry
            p2, carry = p2 ^ carry, p2 & carry
            p3, carry = p3 ^ carry, p3 & carry
            p4 = p4 ^ carry
        for s in range(bits + 1):
            equal = tl.where((s & 1) == 1, p0, ~p0) & tl.where((s & 2) == 2, p1, ~p1)
            equal &= tl.where((s & 4) == 4, p2, ~p2) & tl.where((s & 8) == 8, p3, ~p3)
            equal = tl.where(inside, equal & tl.where((s & 16) == 16, p4, ~p4), 0)
            tl.atomic_add(histogram + s, tl.sum(_ones(equal), 0))


def _launch_influences(packed: PackedTable, counts: Tensor) -> None:
    words = packed.words.resolve_neg().contiguous()
    grid = (triton.cdiv(len(words), TILE),)
    _influences_triton[grid](words, counts, len(words), packed.n, TILE=TILE)


def _launch_histogram(packed: PackedTable, histogram: Tensor) -> None:
    words = packed.words.resolve_neg().contiguous()
    grid = (triton.cdiv(len(words), TILE),)
    _histogram_triton[grid](words, histogram, len(words), packed.n, TILE=TILE)
