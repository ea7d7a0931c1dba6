"""Walsh-Hadamard transform along the last axis: public functions, torch reference, CPU, GPU.

The CPU path is :mod:`helpers.kernels._walsh_cpu`, the GPU path :mod:`helpers.kernels._walsh_gpu`.
Where numba is installed, the parts of the CPU path can be had from here too, to count its passes or
time them: ``plan``, ``machine_code``, ``in_threads`` and ``WIDTH``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from helpers.checks import bytes_missing, readable, require_tensors
from helpers.kernels._backends import chosen, in_memory, is_differentiated, numba, triton

if numba is not None:
    from helpers.kernels import _walsh_cpu
    from helpers.kernels._walsh_cpu import WIDTH, in_threads, machine_code, plan
if triton is not None:
    from helpers.kernels import _walsh_gpu

__all__ = [
    "DTYPES",
    "MAX_BITS",
    "WIDTH",
    "in_threads",
    "machine_code",
    "plan",
    "walsh_hadamard",
    "walsh_hadamard_",
    "walsh_hadamard_reference",
]

DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)
MAX_BITS = 30


def walsh_hadamard(x: Tensor, backend: str = "auto") -> Tensor:
    r"""Unnormalised Walsh-Hadamard transform in natural order; never in place.

    .. math:: y_S = \sum_{i=0}^{2^n-1} (-1)^{|S \wedge i|}\, x_i

    Args:
        x: Shape ``(*batch, 2**n)``, n from 0 to 30, float32, float64, int32 or int64.
            Differentiable for floats: the transform is its own transpose.
        backend: ``"auto"``, ``"torch"`` (the reference, any device), ``"numba"`` (CPU) or
            ``"triton"`` (CUDA). Auto takes numba for a CPU tensor and triton for a CUDA tensor
            where they are installed, else torch, and so for a tensor without memory: a fake one,
            one on the device meta, and many rows of the older vmap.

    Returns:
        Shape and dtype of ``x``; ``walsh_hadamard(walsh_hadamard(x)) == 2**n * x``.

    Raises:
        ValueError: the last axis is no power of two or too long, the batch is empty, memory that
            was freed, or an unknown backend.
        TypeError: another dtype, or no dense tensor.
        OverflowError: an integer result could leave its dtype.
        RuntimeError: ``"numba"`` or ``"triton"`` was asked for and cannot run here.

    Cost: n 2**n additions a row. The torch path allocates 3 tables, the others one and no buffer.
        The CPU path uses ``torch.get_num_threads()`` threads from 16 MiB; its first call for a
        dtype compiles for about two seconds, once on a machine.

    Errors: exact for integers; floats carry at most n eps times the row's l1 norm. NaN spreads to
    its whole row. The triton path has been run in Triton's interpreter only, never on a GPU.

    Example:
        >>> import torch
        >>> from helpers.kernels.walsh import walsh_hadamard
        >>> walsh_hadamard(torch.tensor([1, -1, -1, 1]))  # the parity of two bits
        tensor([0, 0, 0, 4])
    """
    backend = _checked(x, backend)
    if backend == "torch":
        _refuse_overflow(x, backend)
        return walsh_hadamard_reference(x)
    if is_differentiated(x):
        return _Transform.apply(x, backend)
    return _transformed(x, backend)


def walsh_hadamard_(x: Tensor, backend: str = "auto") -> Tensor:
    """The transform of :func:`walsh_hadamard` written over its input.

    Args:
        x: As there, but contiguous, and no gradient is recorded.
        backend: As there.

    Returns:
        ``x`` itself.

    Raises:
        ValueError: further, if ``x`` is not contiguous.
        RuntimeError: further, if a gradient of ``x`` is being recorded.

    Cost: as there, without the table.

    Example:
        >>> import torch
        >>> from helpers.kernels.walsh import walsh_hadamard_
        >>> x = torch.tensor([1.0, 1.0])
        >>> walsh_hadamard_(x) is x, x
        (True, tensor([2., 0.]))
    """
    if backend == "auto" and _written_at_once(x):
        return x
    backend = _checked(x, backend)
    if is_differentiated(x):
        raise RuntimeError(
            "an in-place transform records no gradient and takes no part in torch.func; "
            "use walsh_hadamard"
        )
    if not x.is_contiguous():
        raise ValueError(
            f"an in-place transform needs a contiguous tensor, got shape {tuple(x.shape)} with "
            f"strides {x.stride()}; use walsh_hadamard"
        )
    _refuse_overflow(x, backend)
    _write(x, backend)
    if not x.is_inference():
        torch.autograd.graph.increment_version(x)
    return x


def walsh_hadamard_reference(x: Tensor) -> Tensor:
    """Plain torch, any device: what is right for every other path.

    Raises:
        TypeError, ValueError: as :func:`walsh_hadamard`; sums that leave the dtype are not looked
            for.

    Example:
        >>> import torch
        >>> from helpers.kernels.walsh import walsh_hadamard, walsh_hadamard_reference
        >>> x = torch.arange(16)
        >>> bool((walsh_hadamard(x) == walsh_hadamard_reference(x)).all())
        True
    """
    _checked(x, "torch")
    shape, h = x.shape, 1
    while h < shape[-1]:  # one bit of the index after another: (a, b) becomes (a + b, a - b)
        a, b = x.reshape(*shape[:-1], -1, 2, h).unbind(-2)
        x, h = torch.stack((a + b, a - b), -2), 2 * h
    return x.reshape(shape).clone()


def _checked(x: Tensor, backend: str) -> str:
    """Refuse what cannot be transformed; name the path that will do it."""
    require_tensors(x=x)
    N = x.shape[-1] if x.ndim else 0
    if N < 1 or N & (N - 1):
        raise ValueError(f"the last axis must be a power of two, got shape {tuple(x.shape)}")
    if N >> MAX_BITS > 1:
        raise ValueError(f"the last axis holds at most 2**{MAX_BITS} entries, got {N}")
    if x.numel() == 0:
        raise ValueError(f"the batch is empty: shape {tuple(x.shape)}")
    if x.dtype not in DTYPES:
        raise TypeError(f"expected float32, float64, int32 or int64, got {x.dtype}")
    plain = type(x) is Tensor and not torch._C._functorch.is_legacy_batchedtensor(x)
    if backend == "auto" and plain and x.is_cpu and numba is not None:
        return "numba"  # as chosen() says, and sooner: half of a small transform is its checks
    return chosen(backend, x)


def _written_at_once(x: Tensor) -> bool:
    """Whether it was a small table of floats as there was one before, which costs no further check.

    Of a call on 2**8 numbers the checks are half the time; each look at a tensor is 50 ns of it.
    """
    if type(x) is not Tensor or not x.is_cpu or numba is None:
        return False
    shape = x.shape
    known = _walsh_cpu.KNOWN.get((shape[-1] if shape else 0, x.dtype))
    if known is None or not x.is_contiguous() or is_differentiated(x):
        return False
    code, width, log_row, digits, most = known
    rows = x.numel() // shape[-1]
    if not 0 < rows <= most or bytes_missing(x):
        return False
    code(0, width, x.data_ptr(), log_row, digits, 0, rows)
    torch.autograd.graph.increment_version(x)
    return True


def _refuse_overflow(x: Tensor, backend: str) -> None:
    if x.dtype.is_floating_point or not readable(x):
        return
    if backend == "numba" and not _walsh_cpu.overflows(x):
        return
    N = x.shape[-1]
    low, high = map(int, x.aminmax())
    largest = max(-low, high)
    if largest * N > torch.iinfo(x.dtype).max:
        raise OverflowError(f"2**n * max|x| = {N} * {largest} does not fit in {x.dtype}")


def _transformed(x: Tensor, backend: str) -> Tensor:
    y = (
        _walsh_cpu.clone(x)
        if backend == "numba"
        else x.clone(memory_format=torch.contiguous_format)
    )
    _refuse_overflow(y, backend)
    _write(y, backend)
    return y


def _write(x: Tensor, backend: str) -> None:
    if backend == "numba":
        _walsh_cpu.transform_(x)
    elif backend == "triton":
        _walsh_gpu.transform_(x)
    else:
        x.copy_(walsh_hadamard_reference(x))


def _again(backend: str, x: Tensor) -> str:
    """The path for a derivative: what is in no memory, as many rows of the older vmap, by torch."""
    return backend if in_memory(x) else "torch"


class _Transform(torch.autograd.Function):
    """A path outside torch, with itself as its derivative."""

    @staticmethod
    def forward(x: Tensor, backend: str) -> Tensor:
        # what a transform of torch.func wraps may be fake
        return _transformed(x.detach(), backend) if readable(x) else walsh_hadamard_reference(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, str], output: Tensor) -> None:
        """The transform is linear: only the path is kept."""
        ctx.backend = inputs[1]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return walsh_hadamard(gradients[0], _again(ctx.backend, gradients[0])), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return walsh_hadamard(tangents[0], _again(ctx.backend, tangents[0]))

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int, None], x: Tensor, backend: str) -> tuple[Tensor, int]:
        rows = x.movedim(in_dims[0], 0)
        return walsh_hadamard(rows, _again(backend, rows)), 0
