"""Walsh-Hadamard transform along the last axis: public function, torch reference, CPU path."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

try:
    import numba
except ImportError:  # a machine that has torch alone still runs the reference
    numba = None  # type: ignore[assignment]

BACKENDS = ("auto", "torch", "numba")
DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)


def walsh_hadamard(x: Tensor, backend: str = "auto") -> Tensor:
    r"""Unnormalised Walsh-Hadamard transform in natural order; never in place.

    .. math:: y_S = \sum_{i=0}^{2^n-1} (-1)^{|S \wedge i|}\, x_i

    Args:
        x: Shape ``(*batch, 2**n)``, float32, float64, int32 or int64. Differentiable for floats:
            the transform is its own transpose.
        backend: ``"auto"``, ``"torch"`` (the reference, any device) or ``"numba"`` (CPU). Auto
            takes numba for a CPU tensor where numba is installed, else torch.

    Returns:
        Shape and dtype of ``x``; ``walsh_hadamard(walsh_hadamard(x)) == 2**n * x``.

    Raises:
        ValueError: the last axis is no power of two, the batch is empty, or an unknown backend.
        TypeError: another dtype.
        OverflowError: an integer result could leave its dtype.
        RuntimeError: ``"numba"`` was asked for and cannot run here.

    Cost: n 2**n additions a row; the torch path allocates 3 tables, the numba path one.
    Errors: exact for integers; floats carry at most n eps times the row's l1 norm.
    """
    _check(x, backend)
    if backend == "torch" or (backend == "auto" and (numba is None or x.device.type != "cpu")):
        return walsh_hadamard_reference(x)
    if numba is None:
        raise RuntimeError("backend 'numba' was asked for and numba is not installed; use 'torch'")
    if x.device.type != "cpu":
        raise RuntimeError(f"backend 'numba' needs a CPU tensor, got {x.device}; use 'torch'")
    if x.is_floating_point():
        return _Transform.apply(x)
    return _numba(x)


def walsh_hadamard_reference(x: Tensor) -> Tensor:
    """Plain torch, any device: what is right for every other path."""
    shape, h = x.shape, 1
    while h < shape[-1]:
        a, b = x.reshape(*shape[:-1], -1, 2, h).unbind(-2)
        x, h = torch.stack((a + b, a - b), -2), 2 * h
    return x.reshape(shape).clone()


def _check(x: Tensor, backend: str) -> None:
    N = x.shape[-1] if x.ndim else 0
    if N < 1 or N & (N - 1):
        raise ValueError(f"the last axis must be a power of two, got shape {tuple(x.shape)}")
    if x.numel() == 0:
        raise ValueError(f"the batch is empty: shape {tuple(x.shape)}")
    if x.dtype not in DTYPES:
        raise TypeError(f"expected float32, float64, int32 or int64, got {x.dtype}")
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; choose one of {', '.join(BACKENDS)}")
    if not x.is_floating_point():
        low, high = (int(v) for v in x.aminmax())
        largest = max(-low, high)
        if largest * N > torch.iinfo(x.dtype).max:
            raise OverflowError(f"2**n * max|x| = {N} * {largest} does not fit in {x.dtype}")


def _numba(x: Tensor) -> Tensor:
    y = x.detach().clone(memory_format=torch.contiguous_format)
    _butterflies(y.view(-1, x.shape[-1]).numpy())
    return y


class _Transform(torch.autograd.Function):
    """The CPU path, with itself as its derivative."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return _numba(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        """Nothing to keep: the transform is linear."""

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return walsh_hadamard(gradients[0])

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return walsh_hadamard(tangents[0])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int], x: Tensor) -> tuple[Tensor, int]:
        return walsh_hadamard(x.movedim(in_dims[0], 0)), 0


if numba is not None:

    @numba.njit(cache=True)
    def _butterflies(rows):  # type: ignore[no-untyped-def]
        """Transform each row of a C-contiguous matrix in place."""
        n_rows, N = rows.shape
        for r in range(n_rows):
            h = 1
            while h < N:
                for start in range(0, N, 2 * h):
                    for i in range(start, start + h):
                        a, b = rows[r, i], rows[r, i + h]
                        rows[r, i] = a + b
                        rows[r, i + h] = a - b
                h *= 2
