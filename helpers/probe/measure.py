"""The measures themselves: of the outputs on strings, and of the loss around the weights."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from helpers import cube
from helpers.checks import require_choice, require_positive, validated
from helpers.kernels.sensitivity import influences as exact_influences
from helpers.kernels.sensitivity import local_sensitivity, pack
from helpers.probe.report import Measured, Report
from helpers.sharpness import SquaredLoss, direction_sharpness, hessian_trace
from helpers.statistics import average, upper_limit, wilson

EXACT = 20
"""Bits up to which every string is gone through."""
ENCODINGS = ("signs", "bits", "tokens")
TARGETS: dict[str, Callable[[Tensor], Tensor]] = {
    "parity": lambda bits: 1 - 2 * (bits.sum(-1) % 2),
    "majority": lambda bits: torch.where(2 * bits.sum(-1) > bits.shape[-1], -1, 1),
    "first": lambda bits: 1 - 2 * bits[..., 0],
}
"""Targets by name, of bits ``(B, n)`` in {0, 1}; a bit 1 counts as -1, as in all the book."""
BATCH = 1 << 10  # larger batches are no faster and leave the heap in pieces
NORMS: tuple[type, ...] = (nn.LayerNorm, *filter(None, (getattr(nn, "RMSNorm", None),)))


@contextlib.contextmanager
def _plain_attention() -> Iterator[None]:
    """Attention by its formula: fused forms have no second derivative, or look at the batch."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@validated
@_plain_attention()
def probe(
    model: Callable[[Tensor], Tensor],
    n: int,
    target: str | Callable[[Tensor], Tensor] | None = None,
    *,
    encoding: str | Callable[[Tensor], Tensor] = "signs",
    samples: int = 2048,
    steps: tuple[float, ...] = (0.01, 0.1, 1.0),
    draws: int = 32,
    trained_on: int = 0,
    bits_stored: int = 32,
    seed: int = 0,
    progress: Callable[[str], None] = lambda stage: None,
) -> Report:
    """Measure a model of n-bit strings.

    Args:
        model: From a batch ``(B, n)`` to ``(B,)``, ``(B, 1)`` or two logits ``(B, 2)``, of which
            the first stands for +1. A module is copied, and the copy put into evaluation mode.
        n: Bits, at least 1.
        target: A name in :data:`TARGETS`, or a function from bits ``(B, n)`` in {0, 1} to numbers.
        encoding: What the model is given: ``"signs"``, floats where a bit 1 is -1; ``"bits"``,
            floats 0 and 1; ``"tokens"``, whole numbers 0 and 1; or a function of the bits.
        samples: Strings drawn where not all are tried.
        steps: Lengths of the random steps of all weights.
        draws: Steps of each length, and vectors for the trace's residual part.
        trained_on: Strings that the model was fitted to without an error, for Occam's bound.
        bits_stored: Bits of each weight, for the same.
        seed: Of all that is random.
        progress: Told what begins.

    Raises:
        ValueError: a model whose outputs are neither one number nor two logits, are not finite, or
            depend on the other strings of the batch; a number out of range; an unknown name.
        TypeError: a model that is not callable.

    Cost: ``2**n`` outputs to 20 bits, in batches, and less than 1 GiB beside the model. The part
    with weights takes about ``samples`` gradients.

    Example:
        >>> import torch
        >>> from helpers.probe import probe
        >>> report = probe(lambda signs: signs.prod(-1), 4, "parity")
        >>> report.average_sensitivity.value, report.weight_by_degree
        (4.0, (0.0, 0.0, 0.0, 0.0, 1.0))
    """
    require_positive(n=n, samples=samples, draws=draws, bits_stored=bits_stored)
    if not callable(model):
        raise TypeError(f"model must be a module or a function, got {type(model).__name__}")
    notes: list[str] = []
    still = _still(model, notes)
    encode = _encoder(encoding, still)
    truth = TARGETS[target] if isinstance(target, str) and target in TARGETS else target
    if isinstance(truth, str):
        raise ValueError(f"target must be one of {', '.join(TARGETS)} or a function, got {truth!r}")
    generator = torch.Generator().manual_seed(seed)
    strings = torch.randint(0, 2, (samples, n), generator=generator)
    outputs = _Outputs(still, encode)
    outputs.refuse_what_cannot_be_probed(strings[:8])
    exact = n <= EXACT
    progress("all strings" if exact else "strings drawn and their neighbours")
    if exact:
        table = outputs.of_all(n)
        signs = torch.where(table > 0, 1, -1).to(torch.int8)
        packed = pack(signs)
        inf, local = exact_influences(packed), local_sensitivity(packed)
        weight = tuple(cube.degree_profile(signs.double()).tolist()) if n else ()
        sensitivity, largest = Measured(inf.sum().item()), int(local.maximum)
    else:
        flips = _flips(outputs, strings)
        inf, weight = flips.double().mean(0), ()
        found = average(flips.sum(1).double())
        sensitivity = Measured(found.value, (found.high - found.low) / 3.92)
        largest = int(flips.sum(1).max())
    progress("loss")
    loss, rate = None, None
    held_out = n > 10  # of fewer bits the drawn strings are all of them, several times
    certificates: dict[str, float] = {}
    if truth is not None:
        wanted = truth(strings).double().reshape(-1)
        got = outputs(strings)
        off = average((got - wanted).square())
        loss = Measured(off.value, (off.high - off.low) / 3.92)
        wrong = int(((got > 0) != (wanted > 0)).sum())
        share = wilson(wrong, samples)
        rate = share.value, share.low, share.high
        if held_out:
            certificates[f"held out, {samples} strings"] = upper_limit(wrong, samples)
    module = still if isinstance(still, nn.Module) else None
    count = sum(p.numel() for p in module.parameters()) if module else 0
    if trained_on and count:
        certificates[f"Occam, {bits_stored} bits a weight"] = _occam(
            count * bits_stored, trained_on
        )
    sharp: dict[float, Measured] = {}
    trace: dict[str, Measured] = {}
    if module is not None and count:
        few = strings[: min(samples, 256)]
        try:
            progress("steps in the weights")
            weights, forward = _functional(module, encode)
            for rho in steps:
                moved = direction_sharpness(forward, weights, few, rho, max(draws, 2), generator)
                sharp[rho] = Measured(moved.mean.item(), moved.stderr.item())
            progress("curvature")
            goal = truth(few).double().reshape(-1) if truth is not None else outputs(few)
            trace = _trace(SquaredLoss(forward, few, goal), weights, max(draws, 2), generator)
        except (ValueError, NotImplementedError) as error:  # an operation that torch.func lacks
            why = str(error).strip().splitlines()[-1][-200:]
            notes.append(
                f"sharpness and trace are missing, torch.func cannot take the model: {why}"
            )
            sharp, trace = {}, {}
    progress("layer norms")
    return Report(
        n,
        count,
        exact,
        sensitivity,
        largest,
        tuple(inf.tolist()),
        weight,
        loss,
        rate,
        sharp,
        trace,
        _norms(module),
        _magnifications(module, encode, strings[: min(samples, 256)]),
        certificates,
        _not_applicable(module),
        tuple(notes),
    )


class _Outputs:
    """A model as a function from bits to one float64 number each."""

    def __init__(self, model: Callable[[Tensor], Tensor], encode: Callable[[Tensor], Tensor]):
        self.model, self.encode = model, encode

    @torch.no_grad()
    def __call__(self, bits: Tensor) -> Tensor:
        found = [_number(self.model(self.encode(part)), len(part)) for part in bits.split(BATCH)]
        values = torch.cat(found).double().cpu()
        if not values.isfinite().all():
            bad = values[~values.isfinite()][0].item()
            raise ValueError(f"the model puts out {bad}, at a string of {bits.shape[-1]} bits")
        return values

    def of_all(self, n: int) -> Tensor:
        """At every string, in the order of the book's tables."""
        size = min(BATCH, 1 << n)
        index = torch.arange(n)
        parts = [
            self(torch.arange(start, start + size)[:, None] >> index & 1)
            for start in range(0, 1 << n, size)
        ]
        return torch.cat(parts)

    def refuse_what_cannot_be_probed(self, bits: Tensor) -> None:
        """Raise ValueError if outputs depend on the batch that a string is in."""
        together = self(bits)
        alone = torch.cat([self(bits[i : i + 1]) for i in range(len(bits))])
        off = (together - alone).abs().max().item()
        if off > 1e-3 * (1 + together.abs().max().item()):
            raise ValueError(
                f"an output moves by {off:.3g} with the other strings of its batch; the model must "
                "treat each string alone (batch norm in training mode does not)"
            )


def _number(found: Any, batch: int) -> Tensor:
    if not isinstance(found, Tensor):
        kind = type(found).__name__
        raise ValueError(f"the model must put out a tensor, got {kind}; wrap it in a function")
    if found.shape == (batch, 2):
        return found[:, 0] - found[:, 1]
    if found.shape not in ((batch,), (batch, 1)):
        raise ValueError(
            f"for {batch} strings the model must put out shape ({batch},), ({batch}, 1) or two "
            f"logits ({batch}, 2), got {tuple(found.shape)}; choose an output in a function"
        )
    return found.reshape(batch)


def _still(model: Callable[[Tensor], Tensor], notes: list[str]) -> Callable[[Tensor], Tensor]:
    """A copy of a module in evaluation mode and at least float32; a function as it is."""
    if not isinstance(model, nn.Module):
        return model
    if any(m.training and isinstance(m, nn.Dropout) and m.p > 0 for m in model.modules()):
        notes.append("dropout was on; the copy that was measured has it off")
    still = copy.deepcopy(model).eval().cpu().requires_grad_(True)
    if any(p.dtype in (torch.float16, torch.bfloat16) for p in still.parameters()):
        notes.append("half precision was measured in float32")
        still = still.float()
    return still


def _encoder(
    encoding: str | Callable[[Tensor], Tensor], model: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    if callable(encoding):
        return encoding
    require_choice("encoding", encoding, ENCODINGS)
    first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    dtype = torch.float32 if first is None else first.dtype
    if encoding == "tokens":
        return lambda bits: bits
    if encoding == "bits":
        return lambda bits: bits.to(dtype)
    return lambda bits: (1 - 2 * bits).to(dtype)


def _flips(outputs: _Outputs, strings: Tensor) -> Tensor:
    """Which flip of which drawn string changes the sign, ``(samples, n)``."""
    here = outputs(strings) > 0
    found = []
    for k in range(strings.shape[1]):
        moved = strings.clone()
        moved[:, k] ^= 1
        found.append((outputs(moved) > 0) != here)
    return torch.stack(found, 1)


def _functional(
    module: nn.Module, encode: Callable[[Tensor], Tensor]
) -> tuple[dict[str, Tensor], Callable[[Mapping[str, Tensor], Tensor], Tensor]]:
    """Weights as a flat dict, tied ones once, and the model as a function of them and of bits."""
    weights = {name: p.detach() for name, p in module.named_parameters() if p.is_floating_point()}

    def forward(weights: Mapping[str, Tensor], bits: Tensor) -> Tensor:
        found = torch.func.functional_call(module, dict(weights), (encode(bits),))
        return _number(found, len(bits))

    return weights, forward


def _group(name: str) -> str:
    """The module that a parameter belongs to, two levels deep."""
    return ".".join(name.split(".")[:-1][:2]) or name


def _trace(
    loss: SquaredLoss, weights: dict[str, Tensor], draws: int, generator: torch.Generator
) -> dict[str, Measured]:
    """Gauss-Newton part by group, exact on the strings drawn; the rest by Hutchinson."""
    part = hessian_trace(loss, weights)
    whole = hessian_trace(loss, weights, "hutchinson", draws=draws, generator=generator)
    groups: dict[str, float] = {}
    for name, value in part.blocks.items():
        groups[_group(name)] = groups.get(_group(name), 0.0) + value.item()
    found = {name: Measured(value) for name, value in groups.items()}
    found["Gauss-Newton, all"] = Measured(part.value.item())
    found["whole Hessian"] = Measured(whole.value.item(), whole.stderr.item())
    return found


def _norms(module: nn.Module | None) -> dict[str, float]:
    if module is None:
        return {}
    squares: dict[str, float] = {}
    for name, p in module.named_parameters():
        size = p.detach().double().square().sum().item()
        squares[_group(name)] = squares.get(_group(name), 0.0) + size
    return {name: math.sqrt(v) for name, v in squares.items()} | {
        "all": math.sqrt(sum(squares.values()))
    }


@torch.no_grad()
def _magnifications(
    module: nn.Module | None, encode: Callable[[Tensor], Tensor], strings: Tensor
) -> dict[str, tuple[float, float]]:
    """Largest and mean 1/s of what each layer norm is given, by forward hooks."""
    if module is None:
        return {}
    found: dict[str, list[Tensor]] = {}

    def hook(name: str) -> Callable[..., None]:
        def seen(norm: nn.Module, given: tuple[Tensor, ...]) -> None:
            x, eps = given[0].double(), getattr(norm, "eps", None) or 0.0
            square = (
                x.var(-1, correction=0) if isinstance(norm, nn.LayerNorm) else x.square().mean(-1)
            )
            found.setdefault(name, []).append((square + eps).rsqrt().reshape(-1))

        return seen

    hooks = [
        part.register_forward_pre_hook(hook(name or "norm"))
        for name, part in module.named_modules()
        if isinstance(part, NORMS) or _is_own_norm(part)
    ]
    try:
        module(encode(strings))
    finally:
        for handle in hooks:
            handle.remove()
    return {
        name: (all_.max().item(), all_.mean().item())
        for name, parts in found.items()
        for all_ in (torch.cat(parts),)
    }


def _is_own_norm(part: nn.Module) -> bool:
    """Whether a module of a class of its own is a layer norm, by the name of the class."""
    return "norm" in type(part).__name__.lower() and not list(part.children())


def _occam(stored: int, strings: int) -> float:
    """Occam's bound on the error rate of a network that fits its strings, 95 % confidence."""
    nats = (stored * math.log(2) + math.log(20)) / strings
    return -math.expm1(-nats)


def _not_applicable(module: nn.Module | None) -> dict[str, str]:
    """Bounds of the five papers that do not apply to this model, each with the reason."""
    layers = sum(isinstance(m, nn.MultiheadAttention) for m in module.modules()) if module else 0
    what = f"a model with {layers} attention layers" if layers else "a model of another form"
    return {
        "P1, Theorem 2": "it compares with a network written by hand for one sparse function",
        "P2, Theorem 6": "it is about a family of networks as the length grows, not one network",
        "P3, P4, covers": f"their class has no residual connections; this is {what}",
    }
