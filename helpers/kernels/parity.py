"""Sums of characters at given points: public functions, torch reference, CPU path, GPU path."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from helpers.checks import require_choice, require_tensors
from helpers.kernels._backends import chosen, in_memory, numba, require_readable, triton
from helpers.kernels.walsh import walsh_hadamard

MAX_BITS = 62
MAX_TABLE_BITS = 30
METHODS = ("auto", "direct", "transform")
CHUNK = 1 << 22  # signs that the reference holds at once
# The measured rule (benchmarks/parity.py): an entry of a table costs as much as 5 to 14 pairs at
# n = 16 to 20 and 30 to 40 at n = 24, where its memory is fresh; a call as much as 2**14 entries.
PAIRS_PER_ENTRY = 16
ENTRIES_PER_CALL = 1 << 14
FEWEST_TABLED = 64  # masks, and points, from which tables of bytes pay
FEWEST_POINTS = 2048
FEWEST_MASKS = 32  # below, reading the table costs more than the signs


def evaluate(
    masks: Tensor,
    coefficients: Tensor,
    points: Tensor,
    method: str = "auto",
    backend: str = "auto",
) -> Tensor:
    r"""Values of a sparse Walsh polynomial.

    .. math:: f(x) = \sum_S c_S\, \chi_S(x), \qquad \chi_S(x) = (-1)^{|S \wedge x|}

    Args:
        masks: Subsets S as bit masks, shape ``(S,)``, S at least 1, int64, 0 to 2**62 - 1; a
            repeated mask counts as often as it stands there.
        coefficients: Shape ``(S,)``, float32 or float64. Differentiable.
        points: Indices of cube points, shape ``(M,)``, M at least 1, int64, 0 to 2**62 - 1.
        method: ``"direct"`` counts the bits of every mask and point; ``"transform"`` scatters the
            coefficients over a table of 2**n entries, transforms it and reads it at the points,
            where n is the highest bit among masks and points, at most 30; ``"auto"`` takes the
            transform iff S M >= 16 * (2**n + 2**14), S >= 32 and n <= 30, a rule measured by
            ``benchmarks/parity.py``.
        backend: ``"auto"``, ``"torch"`` (the reference, any device), ``"numba"`` (CPU) or
            ``"triton"`` (CUDA); the transform passes it on to
            :func:`helpers.kernels.walsh.walsh_hadamard`.

    Returns:
        Shape ``(M,)``, dtype of ``coefficients``.

    Raises:
        TypeError: masks or points are not int64, or coefficients not float32 or float64.
        ValueError: shapes differ or are empty, a mask or point is outside its range, n is too
            large for an explicit transform, tensors on two devices, an unknown method or backend.
        RuntimeError: an explicit backend that cannot run here, or masks or points whose numbers
            cannot be read: inside a transform of torch.func, on the device meta, or fake ones.

    Cost: S M bit counts and no memory, or n 2**n additions and one table. On a processor that does
    not count bits in vectors, 64 masks and 2048 points or more are looked up byte by byte, in
    tables of 32 S ceil(n / 8) bytes. The torch path holds
    4 Mi signs at once. Errors: at most (S + 1) eps times the l1 norm of the coefficients, summed
    in their dtype; NaN in a coefficient gives NaN everywhere. The triton path has been run in
    Triton's interpreter only, never on a GPU.

    Example:
        >>> import torch
        >>> from helpers.kernels.parity import evaluate
        >>> masks, coefficients = torch.tensor([0b01, 0b11]), torch.tensor([1.0, 0.5])
        >>> evaluate(masks, coefficients, torch.arange(4))
        tensor([ 1.5000, -1.5000,  0.5000, -0.5000])
    """
    _check(masks, coefficients, points)
    # torch's own indexing reads a view with its sign turned as it lies in memory
    masks, points = (v.resolve_neg() if v.is_neg() else v for v in (masks, points))
    require_choice("method", method, METHODS)
    path = chosen(backend, masks, coefficients, points)
    n = max(int(masks.max()), int(points.max())).bit_length()
    if method == "transform" and n > MAX_TABLE_BITS:
        raise ValueError(f"a transform takes at most {MAX_TABLE_BITS} bits, found {n}; use direct")
    if method == "auto":
        method = "transform" if _transform_pays(n, len(masks), len(points)) else "direct"
    if method == "transform":
        return _scattered(masks, coefficients, n, backend)[points]
    if path == "torch":
        return _in_chunks(masks, coefficients, points)
    return _Evaluate.apply(masks, coefficients, points, path)


def evaluate_reference(masks: Tensor, coefficients: Tensor, points: Tensor) -> Tensor:
    """Plain torch, the whole table of signs at once; masks and points as for :func:`evaluate`.

    Example:
        >>> import torch
        >>> from helpers.kernels.parity import evaluate_reference
        >>> evaluate_reference(torch.tensor([0b11]), torch.tensor([1.0]), torch.arange(4))
        tensor([ 1., -1., -1.,  1.])
    """
    _require_int64(masks=masks, points=points)
    odd = popcount(masks & points[:, None]) & 1  # (M, S)
    return (1 - 2 * odd).to(coefficients.dtype) @ coefficients


def ones(x):  # type: ignore[no-untyped-def]  # Triton refuses annotations
    """Number of ones of int64 numbers: one text for torch, and for Triton to compile."""
    # Pairs of bits, then fours, then bytes come to hold their own counts; the product adds up all
    # eight bytes in the topmost.
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101) >> 56


def popcount(x: Tensor) -> Tensor:
    """Number of ones of int64 numbers in two's complement; same shape, int64.

    Raises:
        TypeError: another dtype, in which the shifts would lose bits.

    Example:
        >>> import torch
        >>> from helpers.kernels.parity import popcount
        >>> popcount(torch.tensor([0, 7, -1]))
        tensor([ 0,  3, 64])
    """
    if x.dtype is not torch.int64:
        _require_int64(x=x)
    return cast(Tensor, ones(x))


def _require_int64(**given: Tensor) -> None:
    for name, v in given.items():
        if v.dtype != torch.int64:
            raise TypeError(f"{name} must be int64, got {v.dtype}")


def _check(masks: Tensor, coefficients: Tensor, points: Tensor) -> None:
    require_tensors(masks=masks, coefficients=coefficients, points=points)
    require_readable(masks=masks, points=points)
    _require_int64(masks=masks, points=points)
    if coefficients.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"coefficients must be float32 or float64, got {coefficients.dtype}")
    if masks.ndim != 1 or masks.shape != coefficients.shape or points.ndim != 1:
        raise ValueError(
            f"expected masks and coefficients of one shape (S,) and points (M,), got "
            f"{tuple(masks.shape)}, {tuple(coefficients.shape)}, {tuple(points.shape)}"
        )
    for name, v in (("masks", masks), ("points", points)):
        if not len(v):
            raise ValueError(f"expected at least one of {name}, got shape {tuple(v.shape)}")
        low, high = (int(end) for end in v.aminmax())
        if low < 0 or high >= 1 << MAX_BITS:
            raise ValueError(
                f"{name} lie between 0 and 2**{MAX_BITS} - 1, found {low if low < 0 else high}"
            )


def _transform_pays(n: int, masks: int, points: int) -> bool:
    return (
        n <= MAX_TABLE_BITS
        and masks >= FEWEST_MASKS
        and masks * points >= PAIRS_PER_ENTRY * ((1 << n) + ENTRIES_PER_CALL)
    )


def _scattered(masks: Tensor, coefficients: Tensor, n: int, backend: str) -> Tensor:
    f_hat = coefficients.new_zeros(1 << n).index_add(0, masks, coefficients)
    return walsh_hadamard(f_hat, backend=backend)


def _in_chunks(masks: Tensor, coefficients: Tensor, points: Tensor) -> Tensor:
    rows = max(1, CHUNK // len(masks))
    return torch.cat([evaluate_reference(masks, coefficients, p) for p in points.split(rows)])


def _again(masks: Tensor, coefficients: Tensor, points: Tensor, path: str) -> Tensor:
    """The sums for a derivative; of what is in no memory, as rows of the older vmap, by torch."""
    if in_memory(coefficients):
        return _Evaluate.apply(masks, coefficients, points, path)
    return _in_chunks(masks, coefficients, points)


class _Evaluate(torch.autograd.Function):
    """The paths outside torch; masks and points change places in the derivative."""

    @staticmethod
    def forward(masks: Tensor, coefficients: Tensor, points: Tensor, path: str) -> Tensor:
        out = torch.empty(len(points), dtype=coefficients.dtype, device=points.device)
        m, c, p = (v.resolve_neg().contiguous() for v in (masks, coefficients.detach(), points))
        if path == "numba":
            _counted(*(v.numpy() for v in (m, c, p, out)))
        else:
            _launch(m, c, p, out)
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.masks, _, ctx.points, ctx.path = inputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, None, None]:
        return None, _again(ctx.points, gradients[0], ctx.masks, ctx.path), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        return _again(ctx.masks, tangents[1], ctx.points, ctx.path)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> tuple[Tensor, int]:
        rows = []
        for k in range(info.batch_size):
            row = [v if d is None else v.select(d, k) for v, d in zip(inputs, in_dims, strict=True)]
            rows.append(_Evaluate.apply(*row))
        return torch.stack(rows), 0


if numba is not None:
    from numba import float32, float64, int64, uint64, uintp, void

    from helpers.kernels._backends import count_ones, has_feature
    from helpers.kernels.compiled import njit

    COUNTS_IN_VECTORS = has_feature("avx512vpopcntdq")
    """Whether the processor counts the ones of a vector's numbers in one instruction."""

    @njit([void(int64[::1], f[::1], int64[::1], f[::1]) for f in (float32, float64)])
    def _direct(masks, coefficients, points, out):  # type: ignore[no-untyped-def]
        """Four masks at a time over blocks of points that stay in the nearest cache.

        Indices are unsigned: a signed one is tested for being negative, and nothing vectorises.
        """
        four = uintp(len(masks) // 4 * 4)
        for start in range(uintp(0), uintp(len(points)), uintp(1024)):
            stop = min(start + uintp(1024), uintp(len(points)))
            for i in range(start, stop):
                out[i] = 0
            for s in range(uintp(0), four, uintp(4)):
                m0, c0 = masks[s], coefficients[s]
                m1, c1 = masks[s + uintp(1)], coefficients[s + uintp(1)]
                m2, c2 = masks[s + uintp(2)], coefficients[s + uintp(2)]
                m3, c3 = masks[s + uintp(3)], coefficients[s + uintp(3)]
                for i in range(start, stop):
                    x = points[i]
                    a0 = -c0 if count_ones(x & m0) & 1 else c0
                    a1 = -c1 if count_ones(x & m1) & 1 else c1
                    a2 = -c2 if count_ones(x & m2) & 1 else c2
                    a3 = -c3 if count_ones(x & m3) & 1 else c3
                    out[i] += (a0 + a1) + (a2 + a3)
            for s in range(four, uintp(len(masks))):
                m, c = masks[s], coefficients[s]
                for i in range(start, stop):
                    out[i] += -c if count_ones(points[i] & m) & 1 else c

    _ROWS = [void(int64[::1], f[::1], uint64[:, :, ::1], f[:, ::1]) for f in (float32, float64)]
    _READ = [void(uint64[:, :, ::1], f[:, ::1], int64[::1], f[::1]) for f in (float32, float64)]

    @njit(_ROWS)
    def _fill(masks, coefficients, odd, sums):  # type: ignore[no-untyped-def]
        """``odd``: of each byte of a point and its value, a bit for each mask that it meets oddly.

        ``sums``: of eight masks, what they add up to by which of them are met oddly.
        """
        for s in range(len(masks)):
            bit = uint64(1) << uint64(s & 63)
            for j in range(len(odd)):
                for b in range(8):
                    if masks[s] >> (8 * j + b) & 1:
                        odd[j, 1 << b, s >> 6] |= bit
        for j in range(len(odd)):  # of two bits together: odd where just one of them is met oddly
            for b in range(8):
                for v in range(1, 1 << b):
                    for w in range(odd.shape[2]):
                        odd[j, v | 1 << b, w] = odd[j, v, w] ^ odd[j, 1 << b, w]
        for s in range(len(masks)):  # a mask that is met oddly has the character -1
            row, half = sums[s >> 3], 1 << (s & 7)
            for v in range(half):
                row[v + half] = row[v] - coefficients[s]
                row[v] += coefficients[s]

    @njit(_READ)
    def _look_up(odd, sums, points, out):  # type: ignore[no-untyped-def]
        """Per point a word of parities for 64 masks, then its bytes' sums, in four of them."""
        byte = uint64(255)
        for i in range(uintp(len(points))):
            x = uint64(points[i])
            t0 = t1 = t2 = t3 = out.dtype.type(0)
            for w in range(uintp(odd.shape[2])):
                met = uint64(0)
                for j in range(uintp(len(odd))):
                    met ^= odd[j, x >> uint64(8) * j & byte, w]
                g = uintp(8) * w
                t0 += sums[g, met & byte] + sums[g + uintp(4), met >> uint64(32) & byte]
                t1 += sums[g + uintp(1), met >> uint64(8) & byte]
                t2 += sums[g + uintp(2), met >> uint64(16) & byte]
                t3 += sums[g + uintp(3), met >> uint64(24) & byte]
                t1 += sums[g + uintp(5), met >> uint64(40) & byte]
                t2 += sums[g + uintp(6), met >> uint64(48) & byte]
                t3 += sums[g + uintp(7), met >> uint64(56) & byte]
            out[i] = (t0 + t1) + (t2 + t3)

    def _by_bytes(masks: Any, coefficients: Any, points: Any, out: Any) -> None:
        """Tables of 2048 words a byte for 64 masks each, and eight reads for 64 pairs."""
        bits = max(int(masks.max()), int(points.max())).bit_length()
        words = -(-len(masks) // 64)
        odd = np.zeros((max(1, -(-bits // 8)), 256, words), np.uint64)
        sums = np.zeros((8 * words, 256), out.dtype)
        _fill(masks, coefficients, odd, sums)
        _look_up(odd, sums, points, out)

    def _counted(masks: Any, coefficients: Any, points: Any, out: Any) -> None:
        """The faster of two ways, by benchmarks/parity.py: tables, unless vectors count bits."""
        many = len(masks) >= FEWEST_TABLED and len(points) >= FEWEST_POINTS
        path = _by_bytes if many and not COUNTS_IN_VECTORS else _direct
        path(masks, coefficients, points, out)


if triton is not None:
    import triton.language as tl

    BLOCK = 1024

    @triton.jit
    def _direct_triton(  # type: ignore[no-untyped-def]
        masks, coefficients, points, out, terms, total, BLOCK: tl.constexpr
    ):
        """One program a block of points; sums in the dtype of the coefficients."""
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(points + i, mask=i < total, other=0)
        acc = tl.zeros((BLOCK,), out.dtype.element_ty)
        for s in range(terms):
            # The parity of a word is that of its halves' XOR: fold to four bits, for which the bits
            # of 0x6996 list the parities of 0 to 15.
            v = x & tl.load(masks + s)
            v ^= v >> 32
            v ^= v >> 16
            v ^= v >> 8
            v ^= v >> 4
            c = tl.load(coefficients + s)
            acc += tl.where(((0x6996 >> (v & 15)) & 1) == 1, -c, c)
        tl.store(out + i, acc, mask=i < total)


def _launch(masks: Tensor, coefficients: Tensor, points: Tensor, out: Tensor) -> None:
    grid = (triton.cdiv(len(points), BLOCK),)
    _direct_triton[grid](masks, coefficients, points, out, len(masks), len(points), BLOCK=BLOCK)
