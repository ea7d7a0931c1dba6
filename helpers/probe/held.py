"""What a module holds beside its weights and was made of them once, which a copy does not move.

A view of a weight, or a function of it, that ``__init__`` or an earlier call has stored keeps its
numbers when the weights of a copy are moved, so that sharpness and trace would be those of another
network. What a hook or ``forward`` makes anew at each call, such as a normalized weight, moves.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from helpers.probe.slopes import Slopes, leaves

_WEIGHTS = ("_parameters", "_buffers", "_modules")


def refuse_what_stays_behind(model: nn.Module, slopes: Slopes, few: Tensor) -> None:
    """ValueError if outputs depend on a tensor that was made of weights once and is kept.

    What was made under ``no_grad`` and has memory of its own is a constant, and measured as that.

    Args:
        model: The module that was given.
        slopes: Of its copy, which was not called yet.
        few: Strings to call the copy on.

    Raises:
        ValueError: that, or two weights in the same memory.

    Cost: two calls, and one more for each tensor that is made of weights.
    """
    made = _made_of_weights(model)
    try:
        clean = slopes(few)
    except Exception:  # of which an error says so later
        return
    if not clean.isfinite().all():
        return
    made |= _made_of_weights(slopes.module)  # what the call itself has stored
    kept = dict(_held(slopes.module))
    for name, weight in made.items():
        if name in kept and _is_read(kept[name], slopes, few):
            raise ValueError(
                f"the attribute {name!r} of the model is made of its weight {weight!r} and kept "
                "from call to call, so that it does not follow when the weights are moved; make it "
                "in forward"
            )


def _is_read(kept: Tensor, slopes: Slopes, few: Tensor) -> bool:
    """Whether outputs change if a tensor that is held is no number."""
    own = kept.data
    if not (own.is_floating_point() or own.is_complex()):
        return False
    kept.data = torch.full_like(own, torch.nan)
    try:
        return not bool(slopes(few).isfinite().all())
    except Exception:  # of a model that looks at its numbers
        return True
    finally:
        kept.data = own


def _held(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Tensors that a module holds beside its weights, also in lists and dicts, by name."""
    seen = {id(p) for p in module.parameters()}
    for path, part in module.named_modules():
        own = vars(part)
        buffers = own.get("_buffers")
        held = {**own, **(buffers if isinstance(buffers, dict) else {})}
        prefix = f"{path}." if path else ""
        todo = [(prefix + key, value) for key, value in held.items() if key not in _WEIGHTS]
        while todo:
            name, value = todo.pop()
            if not isinstance(value, Tensor | Mapping | list | tuple) or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Tensor):
                yield name, value
            elif isinstance(value, Mapping):
                todo += [(f"{name}[{key!r}]", v) for key, v in value.items()]
            else:
                todo += [(f"{name}[{i}]", v) for i, v in enumerate(value)]


def _made_of_weights(module: nn.Module) -> dict[str, str]:
    """By name of what is held, a weight that it lies in or has in its graph.

    Raises:
        ValueError: two weights in the same memory.
    """
    own = {id(p): name for name, p in module.named_parameters()}
    found = {}
    shared = _by_memory(module)
    for name, value in _held(module):
        weight = next((own[id(v)] for v in leaves(value) if id(v) in own), None)
        if weight := weight or _owner(value, shared):
            found[name] = weight
    return found


class _Cells(NamedTuple):
    """Of a storage with several tensors in it, the number of the weight in each place, or -1."""

    numbers: Tensor
    size: int  # bytes of a place
    names: list[str]

    def of(self, value: Tensor) -> Tensor:
        """The places of a tensor."""
        size = value.element_size() // self.size
        strides = [size * k for k in value.stride()]
        start = size * value.storage_offset()
        return self.numbers.as_strided((*value.shape, size), (*strides, 1), start)


def _by_memory(module: nn.Module) -> dict[int, _Cells]:
    """By storage that more than one tensor lies in, whose its places are."""
    sizes: dict[int, list[int]] = {}
    for value in (*module.parameters(), *(value for _, value in _held(module))):
        sizes.setdefault(_storage(value), []).append(value.element_size())
    cells: dict[int, _Cells] = {}
    for name, p in module.named_parameters():
        place = _storage(p)
        if not place or len(sizes[place]) < 2:
            continue
        if place not in cells:
            size = min(sizes[place])
            count = p.untyped_storage().nbytes() // size
            cells[place] = _Cells(torch.full((count,), -1, dtype=torch.int32), size, [])
        if other := _owner(p, cells):
            raise ValueError(
                f"the weights {other!r} and {name!r} of the model lie in the same memory, and a "
                "copy would move them apart; make them one parameter"
            )
        cells[place].of(p).fill_(len(cells[place].names))
        cells[place].names.append(name)
    return cells


def _owner(value: Tensor, cells: Mapping[int, _Cells]) -> str | None:
    """The weight in whose memory a tensor lies."""
    found = cells.get(_storage(value))
    last = -1 if found is None else int(found.of(value).max())
    return None if found is None or last < 0 else found.names[last]


def _storage(value: Tensor) -> int:
    """Where the memory of a tensor begins; 0 if it has none of its own."""
    with contextlib.suppress(Exception):  # sparse, quantized, of a class of its own
        if value.device.type != "meta" and value.numel():
            return value.untyped_storage().data_ptr()
    return 0
