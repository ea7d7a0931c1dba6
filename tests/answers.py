"""What every public function answered when this was last stored, on arguments drawn by its name.

Whether an answer is right is for the other tests to say, which know a formula or a second way to
it. Here only a change is seen, of any of them, that nobody meant::

    python -m tests.answers            # store what is new, and drop what is gone
    python -m tests.answers NAME …     # store anew what was meant to change

An answer is stored as one line for each number, tensor or text in it. What floats is compared up to
rounding: of a tensor the shape, a sum with fixed weights and the sum of absolute values are stored.
Whole numbers, bools and texts are compared exactly: of a tensor of these the shape and a hash.
Beside the answers stand the plain defaults of functions and the plain constants of modules.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import importlib
import json
import math
import random
import sys
import time
import typing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from helpers import cube
from helpers.checks import OrInfinite
from helpers.draws import Draws, f64
from tests.fuzz_given import CALLED
from tests.fuzz_given import given as given_to
from tests.public import ERRORS, FIRST, PUBLIC, Hang, call, has_nan, leaves, taken_by

STORED = Path(__file__).with_suffix(".json")
ANSWERS, REFUSALS, TRIES = 10, 3, 160  # stored of each function, and how many calls are tried
SLOW = 8  # calls that take longer than this, after which no more are tried
SHORT = 0.4  # seconds that a call may take when it is stored
LEAVES = 12  # of one answer have a line each; what is beyond shares one
DOUBLE, SINGLE = 1e-5, 1e-3  # parts of the sum of absolute values by which sums may differ
RESIDUES = {"float32": 1e-12, "float64[": 1e-14, "": 1e-15}  # of sums that cancel, by kind
# Constants that tell what the processor can do:
OF_THE_MACHINE = {"kernels.parity.COUNTS_IN_VECTORS", "kernels.walsh.WIDTH"}
LEAST_RESIDUE = 1e-22  # what is smaller was meant to be so small
RATES = (0.01, 0.002)  # at larger ones training is chaotic, and answers are those of one processor


def generic(*shape: int, seed: int = 1) -> Tensor:
    """Numbers without pattern, float64."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


TENSORS = (
    *(generic(3), generic(4).abs(), generic(4).softmax(-1), generic(8), generic(2, 4).abs()),
    *(generic(3, 3), generic(3, 3) @ generic(3, 3).T, generic(4, 3), generic(2, 3, 3)),
    *(generic(2, 4, 3), generic(8).sign(), generic(16) > 0, cube.bits(3), f64([0.1, 0.2, 0.4])),
    *(torch.tensor([1, 2, 5]), torch.tensor([3, 6]), torch.tensor([[0, 2], [1, 3]])),
    *(generic(3, 3).float(), f64(0.7), generic(2, 8), generic(16, seed=2), generic(5, 3, seed=3)),
)
WHOLE, NUMBERS = (2, 3, 1, 5, 4, 8, 20, 0), (0.5, 0.1, 2.0, 1.0, 10.0, 0.3, 1.7, 0.9, 0.04, 30.0)
KINDS: dict[Any, tuple[Any, ...]] = {int: WHOLE, float: NUMBERS, OrInfinite: NUMBERS}
KINDS |= {Tensor: TENSORS, bool: (False, True), torch.Generator: (torch.Generator,)}
KINDS |= {Draws: (Draws,)}


def drawn(name: str, index: int) -> dict[str, Any] | None:
    """The arguments of one call; None where nothing is known for one that is needed."""
    rng = random.Random(f"{name} {index}")
    ready, found = given_to(name), {}
    taken = taken_by(CALLED[name]) if name in CALLED else PUBLIC[name][1]
    for key, (kind, parameter) in taken.items():
        options = KINDS.get(kind, ())
        if typing.get_origin(kind) is typing.Literal:
            options = typing.get_args(kind)
        if kind is int and key in FIRST:
            options = FIRST[key]
        if key in ("learning_rate", "sigma"):
            options = RATES
        optional = parameter.default is not parameter.empty
        if optional and (not options or rng.random() < 0.6):
            continue
        numeric = kind in (int, float, OrInfinite) or typing.get_origin(kind) is typing.Literal
        if key in ready and (not (numeric and options) or rng.random() < 0.5):
            found[key] = fresh(ready[key])
        elif options:
            scalar = kind is Tensor and rng.random() < 0.3
            found[key] = fresh(rng.choice(NUMBERS + WHOLE if scalar else options))
        else:
            return None
    return found


def fresh(value: Any) -> Any:
    """The same, with sources of randomness set back and tensors of its own."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, torch.Generator):
        return torch.Generator().manual_seed(0)
    if isinstance(value, Draws):
        return Draws(0)
    if type(value) in (list, tuple):
        return type(value)(fresh(entry) for entry in value)
    if type(value) is dict:
        return {key: fresh(entry) for key, entry in value.items()}
    if hasattr(value, "_fields"):
        return type(value)(*(fresh(entry) for entry in value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for key, entry in vars(value).items():
            object.__setattr__(made, key, fresh(entry))
        return made
    return value


def digest(answer: Any) -> list[list[Any]]:
    """A line for each of the first numbers, tensors and texts in an answer, and one for the rest.

    A function or another object that is none of these has no line.
    """
    kinds = bool | int | float | str | slice | Tensor | np.ndarray | np.generic | torch.Generator
    lines = [line(leaf) for leaf in leaves(answer) if leaf is None or isinstance(leaf, kinds)]
    return lines[:LEAVES] + ([folded(lines[LEAVES:])] if lines[LEAVES:] else [])


def line(leaf: Any) -> list[Any]:
    """What is compared exactly, then what is compared up to rounding.

    Of one float these are its kind and itself; of a tensor of floats the shape, a sum with weights
    that have no pattern, and the sum of absolute values; of anything else one text.
    """
    if isinstance(leaf, torch.Generator):
        return [f"Generator {hashed(leaf.get_state().numpy().tobytes())}"]
    if isinstance(leaf, np.ndarray | np.generic) and not isinstance(leaf, float):
        if leaf.dtype.kind not in "biufc":
            return [short(str(leaf.tolist()))]
        leaf = torch.as_tensor(np.array(leaf))
    if leaf is None or isinstance(leaf, str | slice):
        return [short(str(leaf))]
    if isinstance(leaf, bool | int):
        return [f"{type(leaf).__name__} {short(hex(leaf) if abs(leaf) >> 64 else str(leaf))}"]
    if isinstance(leaf, float):
        ends = "" if math.isfinite(leaf) else f" {leaf}"
        return [f"float{ends}"] + [f"{leaf:.8g}"] * (not ends)
    values = leaf.detach().cpu()
    kind = str(values.dtype).removeprefix("torch.") + str(list(values.shape)).replace(" ", "")
    if not (values.is_floating_point() or values.is_complex()):
        single = values.numel() == 1
        return [f"{kind} {values.item() if single else hashed(values.numpy().tobytes())}"]
    flat = (torch.view_as_real(values) if values.is_complex() else values).double().flatten()
    finite = flat.isfinite()
    ends = f" and {int((~finite).sum())} not finite" if not finite.all() else ""
    flat = torch.where(finite, flat, flat.nan_to_num(0.0, 1.0, -1.0))
    return [kind + ends, *sums(flat)]


def folded(lines: list[list[Any]]) -> list[Any]:
    """Lines as one: how many, a hash of what is compared exactly, sums of the rest."""
    exact = [entry[0] for entry in lines]
    size = "float32" if any(kind.startswith("float32") for kind in exact) else "float64"
    kind = f"{size}[] in {len(lines)} more {hashed(repr(exact).encode())}"
    return [kind, *sums(f64([float(number) for entry in lines for number in entry[1:]]))]


def sums(flat: Tensor) -> list[str]:
    """A sum with weights that have no pattern, and the sum of absolute values."""
    weights = (torch.arange(len(flat), dtype=torch.float64) * 0.7).cos()
    return [f"{(weights * flat).sum().item():.8g}", f"{flat.abs().sum().item():.8g}"]


def short(text: str) -> str:
    """The text, or its beginning and a hash of the whole."""
    return text if len(text) <= 40 else f"{text[:24]} {hashed(text.encode())}"


def hashed(data: bytes) -> str:
    """Eight letters that tell the bytes apart."""
    return hashlib.blake2b(data, digest_size=4).hexdigest()


def agree(found: Any, stored: Any) -> bool:
    """Whether two outcomes agree: sums to a part of that of absolute values, the rest exactly."""
    if isinstance(found, str) or isinstance(stored, str) or found is None:
        return bool(found == stored)
    if [entry[0] for entry in found] != [entry[0] for entry in stored]:
        return False
    return all(
        abs(float(a) - float(b)) <= room_of(other)
        for one, other in zip(found, stored, strict=True)
        for a, b in zip(one[1:], other[1:], strict=True)
    )


def room_of(stored: list[Any]) -> float:
    """By how much the numbers of a stored line may be missed.

    That is a part of the sum of absolute values, which is the last of them. What is as small as
    what rounding leaves of numbers near 1 that cancel may be missed altogether.
    """
    kind, size = stored[0], abs(float(stored[-1]))
    residue = next(v for start, v in RESIDUES.items() if kind.startswith(start))
    room = (SINGLE if kind.startswith("float32") else DOUBLE) * size
    return max(room, residue) if not size or LEAST_RESIDUE <= size <= residue else room


def outcome(name: str, index: int, seconds: float) -> Any:
    """The digest of one call, or the name of the error that it ends with; None where it has NaN."""
    given = drawn(name, index)
    if given is None:
        return None
    torch.manual_seed(0)
    try:
        answer = call(CALLED.get(name, PUBLIC[name][0]), given, seconds)
    except ERRORS as error:
        return type(error).__name__
    return None if has_nan(answer) else digest(answer)


def found_for(name: str) -> dict[str, Any]:
    """Some answers and refusals of a function, by the number of the call."""
    found: dict[str, Any] = {}
    left = {list: ANSWERS, str: REFUSALS}
    slow = 0
    for index in range(TRIES):
        if slow == SLOW or not any(left.values()):
            break
        begun = time.process_time()
        try:
            got = outcome(name, index, 5 * SHORT)
        except (Hang, Exception):
            got = None
        if time.process_time() - begun > SHORT:
            slow += 1
            continue
        kind = type(got)
        if not got or not left[kind]:
            continue
        if got not in found.values() or kind is str:
            found[str(index)] = got
            left[kind] -= 1
    return found


def fixed() -> dict[str, dict[str, str]]:
    """Plain defaults of every public function, and plain constants of every module, as written."""
    found = {}
    for name, (_, taken) in PUBLIC.items():
        plain = {key: p.default for key, (_, p) in taken.items() if is_plain(p.default)}
        found[name] = {key: repr(value) for key, value in plain.items()}
    for module in sorted({name.rpartition(".")[0] for name in PUBLIC}):
        values = vars(importlib.import_module(f"helpers.{module}"))
        named = {
            key: value
            for key, value in values.items()
            if key.isupper() and f"{module}.{key}" not in OF_THE_MACHINE
        }
        plain = {key: value for key, value in named.items() if is_plain(value)}
        found[module] = {key: repr(value) for key, value in plain.items()}
    return {name: entry for name, entry in sorted(found.items()) if entry}


def is_plain(value: Any) -> bool:
    """Whether a value is a number or text, or a tuple of such."""
    if isinstance(value, tuple):
        return all(is_plain(entry) for entry in value)
    return value is None or isinstance(value, bool | int | float | str)


def stored() -> dict[str, dict[str, Any]]:
    """All that is stored, in two parts.

    ``answers``: a digest or an error by function and number of the call. ``fixed``: defaults of
    functions and constants of modules.
    """
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def store(names: list[str]) -> None:
    """Write the file anew: what is new or named is looked at, what is gone is dropped."""
    settled = fixed()
    if unknown := set(names) - PUBLIC.keys() - settled.keys():
        sys.exit(f"no public function or module {min(unknown)!r}; names are like {min(PUBLIC)}")
    before = {"answers": {}, "fixed": {}} | stored()
    after = {
        "answers": {name: before["answers"].get(name) for name in sorted(PUBLIC)},
        "fixed": {name: before["fixed"].get(name) for name in settled},
    }
    for name, entry in after["answers"].items():
        if entry is None or name in names:
            after["answers"][name] = found_for(name)
    for name, entry in after["fixed"].items():
        if entry is None or name in names:
            after["fixed"][name] = settled[name]
    parts = []
    for part, entries in after.items():
        rows = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(rows) + "\n}")
    STORED.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    store(sys.argv[1:])
