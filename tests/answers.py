"""What every public function answered when this was last stored, on arguments drawn by its name.

Whether an answer is right is for the other tests to say, which know a formula or a second way to
it. Here only a change is seen, of any of them, that nobody meant::

    python -m tests.answers            # store what is new, and drop what is gone
    python -m tests.answers NAME …     # store anew what was meant to change

An answer is stored as one line for each number, tensor or text in it: the shape, a sum with fixed
weights and the sum of absolute values. Beside the answers stand the plain defaults of functions and
the plain constants of modules.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import json
import random
import sys
import time
import typing
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from helpers import cube
from helpers.checks import OrInfinite
from helpers.draws import Draws, f64
from tests.fuzz_given import given as given_to
from tests.public import ERRORS, FIRST, PUBLIC, Hang, call, has_nan, leaves

STORED = Path(__file__).with_suffix(".json")
ANSWERS, REFUSALS, TRIES = 10, 3, 160  # stored of each function, and how many calls are tried
SLOW = 8  # calls that take longer than this, after which no more are tried
SHORT = 0.2  # seconds that a call may take when it is stored
LEAVES = 12  # of one answer
DOUBLE, SINGLE = 1e-5, 1e-3  # parts of the sum of absolute values by which sums may differ
RESIDUE = 1e-9  # numbers so small are of rounding
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
    for key, (kind, parameter) in PUBLIC[name][1].items():
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
            found[key] = rng.choice(NUMBERS + WHOLE if scalar else options)
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
    """A line for each of the first numbers, tensors and texts in an answer."""
    plain = bool | int | float | str | slice | Tensor
    return [line(leaf) for leaf in leaves(answer) if isinstance(leaf, plain)][:LEAVES]


def line(leaf: Any) -> list[Any]:
    """Kind or shape, a sum with weights that have no pattern, the sum of absolute values."""
    if isinstance(leaf, str | slice):
        return [str(leaf)[:40]]
    values = torch.as_tensor(leaf).detach()
    flat = (torch.view_as_real(values) if values.is_complex() else values).double().flatten()
    finite = flat.isfinite()
    ends = f" and {int((~finite).sum())} not finite" if not finite.all() else ""
    flat = torch.where(finite, flat, flat.nan_to_num(0.0, 1.0, -1.0))
    weights = (torch.arange(len(flat), dtype=torch.float64) * 0.7).cos()
    kind = str(values.dtype).removeprefix("torch.") + str(list(values.shape)).replace(" ", "")
    return [kind + ends, f"{(weights * flat).sum().item():.8g}", f"{flat.abs().sum().item():.8g}"]


def agree(found: Any, stored: Any) -> bool:
    """Whether two outcomes agree: errors by name, sums to a part of that of absolute values."""
    if isinstance(found, str) or isinstance(stored, str) or found is None:
        return bool(found == stored)
    if [entry[0] for entry in found] != [entry[0] for entry in stored]:
        return False
    for one, other in zip(found, stored, strict=True):
        tol = SINGLE if other[0].startswith("float32") else DOUBLE
        room = tol * (float(other[2]) + RESIDUE) if len(other) > 1 else 0.0
        if any(abs(float(a) - float(b)) > room for a, b in zip(one[1:], other[1:], strict=True)):
            return False
    return True


def outcome(name: str, index: int, seconds: float) -> Any:
    """The digest of one call, or the name of the error that it ends with; None where it has NaN."""
    given = drawn(name, index)
    if given is None:
        return None
    torch.manual_seed(0)
    try:
        answer = call(PUBLIC[name][0], given, seconds)
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
        plain = {key: v for key, v in values.items() if key.isupper() and is_plain(v)}
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
