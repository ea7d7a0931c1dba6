"""By how much each layer norm of a model magnifies what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

NORMS: tuple[type, ...] = (nn.LayerNorm, *filter(None, (getattr(nn, "RMSNorm", None),)))


@torch.no_grad()
def magnifications(
    module: nn.Module | None, encode: Callable[[Tensor], Tensor], strings: Tensor
) -> dict[str, tuple[float, float]]:
    """Largest and mean 1/s of what each layer norm is given, by forward hooks."""
    if module is None:
        return {}
    seen: dict[str, list[Tensor]] = {}

    def hook(name: str) -> Callable[..., None]:
        def keep(norm: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
            x = next(iter((*given, *named.values())), None)
            if isinstance(x, Tensor):
                seen.setdefault(name, []).append(x.detach().clone())

        return keep

    norms = {
        name: part
        for name, part in module.named_modules()
        if isinstance(part, NORMS) or _may_be_a_norm(part)
    }
    hooks = [
        part.register_forward_pre_hook(hook(name), with_kwargs=True) for name, part in norms.items()
    ]
    try:
        module(encode(strings))
    finally:
        for handle in hooks:
            handle.remove()
    found: dict[str, tuple[float, float]] = {}
    for name, given in seen.items():
        centred = _centred(norms[name], given[0])
        if centred is not None:
            factors = torch.cat([_magnified(norms[name], x, centred) for x in given])
            found[name or "norm"] = factors.max().item(), factors.mean().item()
    return found


def _magnified(norm: nn.Module, x: Tensor, centred: bool) -> Tensor:
    """1/s at each place that is normalized."""
    axes = tuple(range(-len(getattr(norm, "normalized_shape", (0,))), 0))
    names = "eps", "variance_epsilon", "epsilon"
    eps = next((v for v in (getattr(norm, k, None) for k in names) if isinstance(v, float)), None)
    if eps is None:  # torch's RMSNorm then takes this
        eps = torch.finfo(x.dtype).eps if isinstance(norm, NORMS) else 0.0
    x = x.double()
    square = x.var(axes, correction=0) if centred else x.square().mean(axes)
    return (square + eps).rsqrt().reshape(-1)


def _may_be_a_norm(part: nn.Module) -> bool:
    """Whether a class that is not torch's has the name of a norm."""
    own = not type(part).__module__.startswith("torch.")
    return own and "norm" in type(part).__name__.lower() and not list(part.children())


def _centred(norm: nn.Module, x: Tensor) -> bool | None:
    """Whether a norm subtracts the mean, seen by what it does; None if it is no norm of a row."""
    if isinstance(norm, NORMS):
        return isinstance(norm, nn.LayerNorm)
    if not x.is_floating_point():
        return None
    x = x[:8] / x[:8].abs().max().clamp(min=torch.finfo(x.dtype).tiny)
    rows = x[..., :1]  # each gets a factor of its own, so that a norm over other axes is seen
    factors = torch.logspace(4, 3, rows.numel(), dtype=x.dtype).reshape(rows.shape)
    try:
        here, longer, moved = norm(1e3 * x), norm(factors * x), norm(1e3 * (x + 1))
    except Exception:  # it takes more than a row, or looks at it
        return None
    if not isinstance(here, Tensor):
        return None
    off = 1e-2 * here.abs().max().item()
    if not torch.allclose(here, longer, rtol=1e-2, atol=off):
        return None
    return torch.allclose(here, moved, rtol=1e-2, atol=off)
