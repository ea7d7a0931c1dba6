"""Which path a kernel takes, and the instruction that numba has no name for."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from helpers.checks import readable, require_choice

try:
    import numba
    from numba.extending import intrinsic
except ImportError:  # a machine that has torch alone still runs the references
    numba = None  # type: ignore[assignment]

try:
    import triton
except ImportError:
    triton = None

__all__ = ["BACKENDS", "chosen", "is_differentiated", "numba", "require_readable", "triton"]

BACKENDS = ("auto", "torch", "numba", "triton")


def chosen(backend: str, *tensors: Tensor) -> str:
    """The path that ``backend`` stands for.

    Args:
        backend: One of :data:`BACKENDS`; auto takes numba on the CPU and triton on a GPU where
            they are installed, else torch.
        tensors: Inputs of the kernel, on one device.

    Returns:
        ``"torch"`` for tensors whose numbers do not lie in memory, unless another one is asked for.

    Raises:
        ValueError: an unknown backend, or tensors on two devices.
        RuntimeError: an explicit backend that cannot run here.
    """
    require_choice("backend", backend, BACKENDS)
    devices = {str(t.device) for t in tensors}
    if len(devices) > 1:
        raise ValueError(f"expected tensors on one device, found {', '.join(sorted(devices))}")
    device = tensors[0].device
    if backend == "auto":
        if device.type == "cpu" and numba is not None and all(map(in_memory, tensors)):
            return "numba"
        if device.type == "cuda" and triton is not None and all(map(in_memory, tensors)):
            return "triton"
        return "torch"
    if backend != "torch" and {"numba": numba, "triton": triton}[backend] is None:
        raise RuntimeError(
            f"backend {backend!r} was asked for and {backend} is not installed; use 'torch'"
        )
    if backend == "numba" and device.type != "cpu":
        raise RuntimeError(f"backend 'numba' needs a CPU tensor, got {device}; use 'torch'")
    if backend == "triton" and device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError(f"backend 'triton' needs a CUDA tensor, got {device}; use 'torch'")
    if backend != "torch" and not all(map(in_memory, tensors)):
        raise RuntimeError(
            f"backend {backend!r} reads memory, and a tensor that is fake, on the device meta or "
            "inside the older vmap has none; use 'torch'"
        )
    return backend


def in_memory(x: Tensor) -> bool:
    """Whether machine code may read a tensor, or may once a transform of torch.func unwraps it."""
    return readable(x) or torch._C._functorch.is_functorch_wrapped_tensor(x)


def require_readable(**given: Tensor) -> None:
    """Raise RuntimeError for the first tensor whose numbers are needed and cannot be read."""
    for name, x in given.items():
        if not readable(x):
            raise RuntimeError(
                f"the numbers in {name} must be read, which a tensor inside vmap or another "
                "transform of torch.func, on the device meta, or a fake one does not allow"
            )


def is_differentiated(x: Tensor) -> bool:
    """Whether autograd or a function transform watches x; else its bookkeeping is skipped."""
    return (
        (x.requires_grad and torch.is_grad_enabled())
        or torch._C._are_functorch_transforms_active()
        or (forward_ad._current_level >= 0 and forward_ad.unpack_dual(x).tangent is not None)
    )


if numba is not None:
    import llvmlite.binding as llvm

    def has_feature(name: str) -> bool:
        """Whether compiled code may use an instruction set, such as ``"avx512f"``.

        Where ``NUMBA_CPU_FEATURES`` holds Numba to a list of them, that list decides, not what the
        processor has.
        """
        allowed = getattr(numba.config, "CPU_FEATURES")  # noqa: B009 (set when it is imported)
        if allowed is not None:
            return f"+{name}" in allowed.split(",")
        return bool(llvm.get_host_cpu_features().get(name))

    def _count_ones(context: Any, x: Any) -> Any:
        """Number of ones of an integer, by the processor's own instruction where it has one."""

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return x(x), build

    count_ones: Any = intrinsic(_count_ones)
