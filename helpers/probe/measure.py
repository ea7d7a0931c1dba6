"""The measures themselves: of the outputs on strings, and of the loss around the weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from helpers import cube
from helpers.checks import format_value, number, require_amount, require_positive, validated
from helpers.kernels.sensitivity import influences as exact_influences
from helpers.kernels.sensitivity import local_sensitivity, pack
from helpers.probe import certificates as guarantees
from helpers.probe.bounds import not_applicable
from helpers.probe.curvature import around, group_of, said
from helpers.probe.drawn import drawn_mean, drawn_weights
from helpers.probe.held import refuse_what_stays_behind
from helpers.probe.norms import magnifications
from helpers.probe.outputs import (
    IN_SINGLE,
    Outputs,
    encoder,
    labels_of,
    plain_modes,
    still_copy,
)
from helpers.probe.report import Measured, Report
from helpers.probe.slopes import Landscape, Slopes, leaves, real
from helpers.rng import seed_of
from helpers.statistics import average, upper_limit, wilson

EXACT = 20
"""Bits up to which every string is gone through."""
TARGETS: dict[str, Callable[[Tensor], Tensor]] = {
    "parity": lambda bits: 1 - 2 * (bits.sum(-1) % 2),
    "majority": lambda bits: torch.where(2 * bits.sum(-1) > bits.shape[-1], -1, 1),
    "first": lambda bits: 1 - 2 * bits[..., 0],
}
"""Targets by name, of bits ``(B, n)`` in {0, 1}; a bit 1 counts as -1, as in all the book."""
WITH_NOISE = "kl, weights with Gaussian noise"
EXCHANGED = (
    "a positive output, or a first logit above the second, stands for +1, and a bit 1 for -1, so "
    "the classes may be exchanged"
)
ROOM = 1 << 27  # bits of all drawn strings together, a GiB of whole numbers


@validated
@plain_modes()
def probe(
    model: Callable[[Tensor], Tensor],
    n: int,
    target: str | Callable[[Tensor], Tensor] | None = None,
    *,
    encoding: str | Callable[[Tensor], Tensor] = "signs",
    samples: int = 2048,
    steps: Iterable[float] = (0.01, 0.1, 1.0),
    draws: int = 32,
    trained_on: int = 0,
    bits_stored: int | None = None,
    sample: tuple[Tensor, Tensor] | None = None,
    start: Mapping[str, Tensor] | None = None,
    networks: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda stage: None,
) -> Report:
    """Measure a model of n-bit strings.

    Args:
        model: From a batch ``(B, n)`` to ``(B,)``, ``(B, 1)`` or two logits ``(B, 2)``, of which
            the first stands for +1, or an object or a dict that has them as ``logits``. A module
            is copied, and the copy put into evaluation mode, so that nothing in the module itself
            changes; hooks that it has are called. A function is called as it is.
        n: Bits, at least 1.
        target: A name in :data:`TARGETS`, or a function from bits ``(B, n)`` in {0, 1} to numbers.
        encoding: What the model is given: ``"signs"``, floats where a bit 1 is -1; ``"bits"``,
            floats 0 and 1; ``"tokens"``, whole numbers 0 and 1; or a function of the bits.
        samples: Strings drawn where not all are tried, at least 2; all, if there are no more.
        steps: Lengths of the random steps of all weights.
        draws: Steps of each length, and vectors for the trace's residual part, at least 2.
        trained_on: Strings that the model was fitted to without an error, for Occam's bound, where
            the sample itself is not at hand.
        bits_stored: Bits that hold each weight, for the same; None: as many as they have.
            Persistent buffers are counted too, as they are stored.
        sample: Bits ``(m, n)`` and labels ``(m,)`` of all strings that the model was trained on,
            drawn independently. For Occam's bound, and for one on the error of networks whose
            weights get Gaussian noise; see :mod:`helpers.probe.certificates`.
        start: Weights before training, by name, where the latter's prior is centred, and which
            must not depend on the sample; None: at 0.
        networks: Noisy networks drawn for it, at each of at most 12 sizes of the noise; None: 1000.
        seed: Of all that is random.
        progress: Told what begins.

    Raises:
        ValueError: a model whose outputs are neither one number nor two logits, are not finite,
            change from call to call, or depend on the other strings of the batch; one that cannot
            take what it is given; one that holds what was made of its weights once; a number out of
            range; an unknown name; other shapes; an argument that would do nothing.
        TypeError: a model, target or progress that is not callable, a sample that is no pair of
            tensors, steps that are no numbers.

    Cost: ``2**n`` outputs to 20 bits, in batches, and about 1 GiB beside the model. The part
    with weights takes about ``samples`` gradients.

    Example:
        >>> import torch
        >>> from helpers.probe import probe
        >>> report = probe(lambda signs: signs.prod(-1), 4, "parity")
        >>> report.average_sensitivity.value, report.weight_by_degree
        (4.0, (0.0, 0.0, 0.0, 0.0, 1.0))
        >>> report = probe(torch.nn.Linear(4, 1), 4, "first")
        >>> round(report.trace["Gauss-Newton, all"].value, 3)  # 2 (four signs and a 1)
        10.0
        >>> class Rounds(torch.nn.Linear):  # its outputs jump, and autograd calls them constant
        ...     def forward(self, signs):
        ...         return super().forward(signs).round()
        >>> rounds = Rounds(4, 1)
        >>> _ = torch.nn.init.ones_(rounds.weight)
        >>> report = probe(rounds, 4)
        >>> report.trace, report.notes[-1].split(":")[0]
        ({}, 'the trace is missing')
    """
    require_positive(n=n)
    for name, count in {"samples": samples, "draws": draws}.items():
        if count < 2:
            raise ValueError(f"{name} must be at least 2, got {count}")
    if n > ROOM // 2:
        raise ValueError(f"n must be at most {ROOM // 2}, got {n}")
    if n * samples > ROOM:
        raise ValueError(
            f"n = {n} bits of samples = {samples} strings are more than {ROOM}; take fewer samples"
        )
    lengths = _lengths(steps)
    require_amount(trained_on=trained_on)
    require_positive(
        **{
            k: v
            for k, v in {"bits_stored": bits_stored, "networks": networks}.items()
            if v is not None
        }
    )
    if trained_on and sample is not None:
        raise ValueError(f"sample has the strings; trained_on = {trained_on} is for where it lacks")
    if not callable(model):
        raise TypeError(f"model must be a module or a function, got {type(model).__name__}")
    if not callable(progress):
        raise TypeError(f"progress must be a function of a text, got {type(progress).__name__}")
    _refuse_idle(model, trained_on, sample, bits_stored=bits_stored, start=start, networks=networks)
    labelled = None if sample is None else guarantees.require_labelled(sample, n)
    notes: list[str] = []
    still = still_copy(model, notes)
    encode = encoder(encoding, still)
    truth = TARGETS[target] if isinstance(target, str) and target in TARGETS else target
    if isinstance(truth, str):
        raise ValueError(f"target must be one of {', '.join(TARGETS)} or a function, got {truth!r}")
    if truth is not None and not callable(truth):
        raise TypeError(f"target must be a name or a function, got {type(truth).__name__}")
    # hashed, as a reader who drew training strings after manual_seed(0) would meet them again
    generator = torch.Generator().manual_seed(seed_of("probe", seed))
    exact = n <= EXACT
    every = exact and 1 << n <= samples
    strings = torch.randint(0, 2, (samples, n), generator=generator)
    if every:
        strings = cube.bits(n)[torch.randperm(1 << n, generator=generator)]
    module = still if isinstance(still, nn.Module) else None
    slopes = Slopes(module, encode) if module is not None else None
    weights = {} if slopes is None else slopes.weights
    for name, w in weights.items():
        if not w.isfinite().all():
            bad = w[~w.isfinite()][0].item()
            raise ValueError(
                f"the weight {name!r} of the model holds {bad}; load it again, or make a mask a "
                "buffer"
            )
    if slopes is not None and isinstance(model, nn.Module):
        refuse_what_stays_behind(model, slopes, strings[:2])
    unlisted = slopes is not None and _unlisted(model, slopes, strings[:2])
    if unlisted:
        notes.append(
            "outputs depend on weights that the module does not list, such as layers in a plain "
            "list or an encoding; nothing that is said of weights counts them"
        )
    outputs = Outputs(still, encode)
    outputs.refuse_what_cannot_be_probed(strings, converted=IN_SINGLE in notes)
    wanted = None if truth is None else labels_of(truth, strings)
    if wanted is not None and (k := int((wanted == 0).sum())):
        notes.append(
            f"{k} labels of the target are exactly 0 and count as -1; the squared loss is against "
            "the numbers as given, so for labels 0 and 1 give 2 * label - 1"
        )
    if labelled is not None and (k := int((labelled[1] == 0).sum())):
        notes.append(f"{k} labels of the sample are exactly 0 and count as -1")
    if start is not None and isinstance(model, nn.Module):
        guarantees.refuse_own_weights(start, model)
        start = {name: real(start[name]) for name in weights if name in start}
        guarantees.require_start(start, weights)
    progress("all strings" if exact else "strings drawn and their neighbours")
    if exact:
        table = outputs.of_all(n)
        zeros = int((table == 0).sum())
        signs = torch.where(table > 0, 1, -1).to(torch.int8)
        packed = pack(signs)
        inf, local = exact_influences(packed), local_sensitivity(packed)
        weight = tuple(cube.degree_profile(signs.double()).tolist())
        sensitivity, largest = Measured(inf.sum().item()), int(local.maximum)
        ends: tuple[tuple[float, float], ...] = ()
        drawn: dict[int, Measured] = {}
    else:
        here = outputs(strings)
        zeros, signs = int((here == 0).sum()), here > 0
        flips = _flips(outputs, strings)
        inf, weight = flips.double().mean(0), ()
        ends = tuple((w.low, w.high) for w in (wilson(k, samples) for k in flips.sum(0).tolist()))
        drawn = drawn_weights(strings, torch.where(here > 0, 1.0, -1.0).double())
        sensitivity = drawn_mean(flips.sum(1).double(), n)
        largest = int(flips.sum(1).max())
    if zeros:
        notes.append(f"{zeros} outputs are exactly 0, which has no sign, and were counted as -1")
    elif (signs == signs[0]).all():
        notes.append(
            f"outputs have the same sign at every {'string' if exact else 'drawn string'}; behind "
            "a sigmoid, give what goes into it, or subtract the threshold"
        )
    progress("loss")
    loss, rate = None, None
    certificates: dict[str, float] = {}
    missing: dict[str, str] = {}
    if wanted is None:
        missing["held out"] = "it needs a target"
    else:
        got = outputs(strings)
        off = average((got - wanted).square())
        loss = Measured(off.value, 0.0 if every else (off.high - off.low) / 3.92)
        wrong = int(((got > 0) != (wanted > 0)).sum())
        share = wilson(wrong, len(strings))
        rate = (share.value,) * 3 if every else (share.value, share.low, share.high)
        if rate[1] > 0.5:
            notes.append(f"more than half of the signs are wrong; {EXCHANGED}")
        if every:
            missing["held out"] = "all strings were tried, so that the error rate is exact"
        elif n > 10:  # of fewer bits the drawn strings are nearly all of them
            certificates[f"held out, {samples} strings"] = upper_limit(wrong, samples)
        else:
            missing["held out"] = "of at most 10 bits no string is new"
    count = sum(real(p).numel() for p in module.parameters()) if module is not None else 0
    sharp: dict[float, Measured] = {}
    trace: dict[str, Measured] = {}
    if slopes is not None and not weights:
        notes.append("sharpness and trace are missing: the module has no weights that are floats")
    elif slopes is not None:
        few = strings[:256]
        goal = outputs(few) if wanted is None else wanted[: len(few)]
        landscape = Landscape(slopes, few, goal, whole=len(few) == 1 << n)
        sharp, trace = around(landscape, lengths, draws, generator, notes, progress)

    def randomized(kept: tuple[Tensor, Tensor]) -> guarantees.Randomized | None:
        if slopes is not None and weights:
            with said("bound with noise", "let the model take other weights", notes):
                return guarantees.randomized(
                    slopes.at, weights, start, kept, networks or 1000, generator
                )
        return None

    stored = _stored(model, bits_stored)
    if why := _uncertified(module, stored, unlisted):
        missing.update(dict.fromkeys(("Occam", WITH_NOISE), why))
    else:
        _guarantee(certificates, missing, notes, outputs, stored, trained_on, labelled, randomized)
    if rate is not None and any(v < rate[1] for k, v in certificates.items() if k[:5] == "Occam"):
        notes.append(
            "the error rate on uniform strings is above Occam's bound: the training strings were "
            "not uniform, not all of them were fitted, or their labels are not the target's"
        )
    if labelled is not None:
        notes.append(
            "bounds from the sample suppose that its strings were drawn independently, and that "
            "the network's form, what it holds beside weights, and start do not depend on them; "
            "each of the bounds has a confidence of 95 % of its own"
        )
    norms = _norms(module)
    progress("layer norms")
    blow_up = magnifications(module, encode, strings[:256], notes)
    return Report(
        n,
        count,
        exact,
        sensitivity,
        largest,
        tuple(inf.tolist()),
        ends,
        weight,
        drawn,
        loss,
        rate,
        sharp,
        trace,
        norms,
        blow_up,
        certificates,
        missing | not_applicable(module, n, sensitivity, norms, trace, sharp, blow_up),
        tuple(notes),
    )


def _lengths(steps: Iterable[float]) -> tuple[float, ...]:
    """The lengths of steps as plain numbers; an error by name if they are no such."""
    try:
        listed = tuple(steps)
    except TypeError:
        raise TypeError(
            f"steps must be lengths such as (0.1,), got {format_value(steps)}"
        ) from None
    lengths = {f"steps[{i}]": float(number(f"steps[{i}]", rho)) for i, rho in enumerate(listed)}
    require_amount(**lengths)
    return tuple(lengths.values())


def _refuse_idle(model: Any, trained_on: int, sample: Any, **given: Any) -> None:
    """ValueError for an argument of the bounds from a sample that would do nothing."""
    for name in (name for name, value in given.items() if value is not None):
        if not isinstance(model, nn.Module):
            raise ValueError(f"{name} is about the weights of a module, and model is a function")
        if sample is None and not (name == "bits_stored" and trained_on):
            instead = " or trained_on" * (name == "bits_stored")
            raise ValueError(
                f"{name} is for the bounds from a training sample; give sample = (bits, labels)"
                f"{instead} too"
            )


def _unlisted(model: Any, slopes: Slopes, few: Tensor) -> bool:
    """Whether outputs depend on weights that the module does not list; refuse the model's own.

    What is frozen outside of the module, and what a script holds, is not seen.
    """
    if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
        return False  # a script holds nothing of Python, and copies of it share nodes of the graph
    frozen = [
        p
        for p in model.parameters()
        if not (p.requires_grad or p.is_inference()) and (p.is_floating_point() or p.is_complex())
    ]
    try:
        for p in frozen:
            p.requires_grad_(True)
        held, again = leaves(slopes(few)), leaves(slopes(few))
    except Exception:  # of a model without derivatives, of which a note says so later
        return False
    finally:
        for p in frozen:
            p.requires_grad_(False)
    own = {id(p) for p in (*slopes.module.parameters(), *slopes.module.buffers())}
    names = {id(p): name for name, p in model.named_parameters()}
    for v in held:
        if id(v) in names:
            raise ValueError(
                f"a copy of the model still reads the weight {names[id(v)]!r} of the model itself, "
                "as a lambda, a hook or a weak reference that holds the model does; make it a "
                "method, or give a function that calls the model, whose outputs are then measured"
            )
    kept = {id(v) for v in again} - own  # what a call itself makes is in one of the two only
    return any(id(v) in kept for v in held)


def _flips(outputs: Outputs, strings: Tensor) -> Tensor:
    """Which flip of which drawn string changes the sign, ``(samples, n)``."""
    here = outputs(strings) > 0
    found = []
    for k in range(strings.shape[1]):
        moved = strings.clone()
        moved[:, k] ^= 1
        found.append((outputs(moved) > 0) != here)
    return torch.stack(found, 1)


def _stored(model: Any, each: int | None) -> int:
    """Bits of all weights, as they are stored or ``each`` of so many, and of persistent buffers."""
    if not isinstance(model, nn.Module):
        return 0
    # the class's own state_dict, since a reader's may leave weights out; packed weights are inside
    todo: list[Any] = [tuple(model.parameters()), nn.Module.state_dict(model, keep_vars=True)]
    held: dict[int, Tensor] = {}
    while todo:
        value = todo.pop()
        if isinstance(value, Tensor):
            held[id(value)] = value
        elif isinstance(value, Mapping):
            todo += value.values()
        elif isinstance(value, tuple | list):
            todo += value
    own = {id(p) for p in model.parameters()}
    return sum(
        each * real(w).numel() if each and key in own else 8 * w.element_size() * w.numel()
        for key, w in held.items()
    )


def _uncertified(module: nn.Module | None, stored: int, unlisted: bool) -> str:
    """Why a training sample guarantees nothing; empty if it may."""
    if module is None or not stored:
        return "a function has no weights to count or to move"
    if unlisted:
        return "outputs depend on weights that the module does not list, so that none counts them"
    if guarantees.depends_on_the_sample(module):
        return "the running statistics of batch norm come from the sample, and are no weights"
    return ""


def _guarantee(
    certificates: dict[str, float],
    missing: dict[str, str],
    notes: list[str],
    outputs: Outputs,
    stored: int,
    trained_on: int,
    labelled: tuple[Tensor, Tensor] | None,
    randomized: Callable[[tuple[Tensor, Tensor]], guarantees.Randomized | None],
) -> None:
    """What the training sample guarantees, or what it needs for that."""
    if labelled is None:
        if trained_on:
            certificates[f"Occam, {stored:,} bits"] = guarantees.occam(stored, 0.0, trained_on)
        else:
            missing["Occam"] = "it needs the training sample, or trained_on"
        missing[WITH_NOISE] = "it needs the training sample"
        return
    bits, labels = labelled
    wrong = guarantees.wrong_signs(outputs(bits), labels).double().mean().item()
    if wrong > 0.5:
        notes.append(f"more than half of the signs of the sample are wrong; {EXCHANGED}")
    certificates[f"Occam, {stored:,} bits"] = guarantees.occam(stored, wrong, len(bits))
    found = randomized(labelled)
    if found is not None:
        noise = f"noise {found.sigma:.3g}" if found.bound < 1 else "Gaussian noise"
        certificates[f"kl, mean of networks whose weights have {noise}"] = found.bound
    else:
        missing[WITH_NOISE] = "it needs weights that are floats and may be moved; see the notes"


def _norms(module: nn.Module | None) -> dict[str, float]:
    if module is None:
        return {}
    squares: dict[str, float] = {}
    for name, p in module.named_parameters():
        size = real(p.detach()).double().square().sum().item()
        squares[group_of(name)] = squares.get(group_of(name), 0.0) + size
    return {name: math.sqrt(v) for name, v in squares.items()} | {
        "all weights": math.sqrt(sum(squares.values()))
    }
