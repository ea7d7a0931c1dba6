"""By how much each layer norm of a model magnifies what it is given."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

SHORT, LONG = 1e-12, 1e6  # deviations of a row beside which epsilon is all, and nothing
NORMS: tuple[type[nn.Module], ...] = (nn.LayerNorm, *filter(None, (getattr(nn, "RMSNorm", None),)))


@torch.no_grad()
def magnifications(
    module: nn.Module | None,
    encode: Callable[[Tensor], Tensor],
    strings: Tensor,
    notes: list[str],
) -> dict[str, tuple[float, float]]:
    """Largest and mean 1/s of what each layer norm is given, by forward hooks.

    Of a class that is not torch's own it is seen by what the norm makes of short and of long rows.
    Notes are added on torch's norms whose subclass does something else.
    """
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
        norm = norms[name]
        with contextlib.suppress(Exception):  # of a norm of the reader's own that looks at numbers
            centred = _centred(norm, given[0])
            if centred is not None:
                factors = torch.cat([_magnified(norm, x, centred) for x in given])
                found[name or "norm"] = factors.max().item(), factors.mean().item()
        if isinstance(norm, NORMS) and (name or "norm") not in found:
            notes.append(
                f"the magnification of {name or 'norm'} is missing: {type(norm).__name__} is not "
                "the layer norm that it inherits from, and does not norm the last axis alone"
            )
    return found


def _axes(norm: nn.Module) -> tuple[int, ...]:
    """Over which a norm goes."""
    return tuple(range(-len(getattr(norm, "normalized_shape", (0,))), 0))


def _plain(norm: nn.Module) -> bool:
    """Whether a norm does what torch's own does; a subclass may do something else."""
    return type(norm).forward in {part.forward for part in NORMS}


def _magnified(norm: nn.Module, x: Tensor, centred: bool) -> Tensor:
    """1/s at each place that is normalized."""
    axes, rows = _axes(norm), x.double()
    if centred:
        rows = rows - rows.mean(axes, keepdim=True)
    s = rows.square().mean(axes, keepdim=True).sqrt()
    if not _plain(norm):
        try:  # a bias must not hide what is made of a short row
            return _by_what_it_does(copy.deepcopy(norm).double(), rows, s, rows.dtype).reshape(-1)
        except Exception:  # of a norm of the reader's own, which may insist on its precision
            return _by_what_it_does(norm, rows, s, x.dtype).reshape(-1)
    eps = getattr(norm, "eps", None)
    if eps is None:  # torch's RMSNorm then takes this
        eps = torch.finfo(x.dtype).eps
    return (s.square() + eps).rsqrt().reshape(-1)


def _by_what_it_does(norm: nn.Module, rows: Tensor, s: Tensor, dtype: torch.dtype) -> Tensor:
    """The same of a norm whose epsilon may stand anywhere, as it counts for nothing at long rows.

    A factor that is the same at all rows counts as gain, such as that of a sample's deviation. At a
    row of zeros the factor is that of a very short row.
    """
    axes, zero = _axes(norm), s == 0
    if rows.shape[-1] > 1:
        short = SHORT * torch.linspace(-1, 1, rows.shape[-1], dtype=torch.float64)
        rows = torch.where(zero, short, rows)
        s = rows.square().mean(axes, keepdim=True).sqrt()

    def length(v: Tensor) -> Tensor:
        """Of what the norm makes of each row, but for its bias."""
        v = v.to(dtype)
        return (norm(v).double() - norm(-v).double()).square().sum(axes, keepdim=True).sqrt()

    share = length(rows) / length(LONG / s * rows)
    if share.isnan().any():
        raise ValueError("a gain of 0 hides what a norm divides by")
    return torch.where(zero & (share > 0.99), torch.inf, share / s)


def _may_be_a_norm(part: nn.Module) -> bool:
    """Whether a class that is not torch's has the name of a norm."""
    own = not type(part).__module__.startswith("torch.")
    return own and "norm" in type(part).__name__.lower() and not list(part.children())


def _centred(norm: nn.Module, x: Tensor) -> bool | None:
    """Whether a norm subtracts the mean, seen by what it does; None if it is no norm of a row."""
    if _plain(norm):
        return isinstance(norm, nn.LayerNorm)
    if not x.is_floating_point():
        return None
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(x[:8].shape, generator=generator, dtype=torch.float64).to(x.dtype)
    rows = x.mean(_axes(norm), keepdim=True)  # each gets a factor of its own
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
