"""Sharpness and curvature of a network around its weights, with a note for what cannot be had."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from helpers.probe.outputs import shortened
from helpers.probe.report import Measured
from helpers.probe.slopes import Landscape, measured


def group_of(name: str) -> str:
    """The module that a parameter belongs to, two levels deep."""
    return ".".join(name.split(".")[:-1][:2]) or name


def _listed(names: list[str]) -> str:
    """At most four names."""
    return ", ".join(names[:4]) + ", ..." * (len(names) > 4)


def around(
    landscape: Landscape,
    steps: tuple[float, ...],
    draws: int,
    generator: torch.Generator,
    notes: list[str],
    progress: Callable[[str], None],
) -> tuple[dict[float, Measured], dict[str, Measured]]:
    """Sharpness and trace, the Gauss-Newton part by group; of what cannot be had a note.

    Args:
        landscape: Of the network at its strings.
        steps: Lengths of the steps in the weights.
        draws: Steps of each length, and sign vectors of the whole Hessian.
        generator: What they are drawn from.
        notes: To which a note is added for each number that is missing.
        progress: Told what begins.

    Returns:
        Sharpness by length, and traces by group of weights.

    Cost: ``draws`` calls for each length, a gradient for each string, and ``draws`` products with
    the Hessian.
    """
    sharp: dict[float, Measured] = {}
    trace: dict[str, Measured] = {}
    progress("steps in the weights")
    with said("sharpness", "let the model take other numbers in its weights", notes):
        sharp = {rho: landscape.sharpness(rho, draws, generator) for rho in steps}
    progress("curvature")
    remedy = "use operations that torch differentiates {}"
    with said("trace", remedy.format("once"), notes):
        groups: dict[str, list[str]] = {}
        squares = landscape.gauss_newton()
        for name in squares:
            groups.setdefault(group_of(name), []).append(name)
        blocks = {
            key: torch.stack([squares[name] for name in group]).sum(0)
            for key, group in groups.items()
        }
        numbers = landscape.model.weights
        idle = [k for k, value in squares.items() if numbers[k].numel() and not value.any()]
        if idle:
            notes.append(
                f"the slope of outputs in {_listed(idle)} is 0 at these strings: not used there, "
                "behind a zero, a dead unit or a step, merged into others, or read from a cache"
            )
        blocks["Gauss-Newton, all"] = torch.stack(list(blocks.values())).sum(0)
        doubts = landscape.doubtful(groups)
        for reason in dict.fromkeys(doubts.values()):
            named = [key for key in doubts if doubts[key] == reason]
            notes.append(f"the trace of {_listed(named)} is missing: {reason}")
        error = 0.0 if landscape.whole else 1.0
        found = {name: measured(v) for name, v in blocks.items() if name not in doubts}
        trace = {name: Measured(m.value, error * m.error) for name, m in found.items()}
    if trace:
        with said("trace of the whole Hessian", remedy.format("twice"), notes):
            trace["whole Hessian"] = landscape.whole_hessian(draws, generator)
    return _finite(sharp, "sharpness", notes), _finite(trace, "trace", notes)


@contextlib.contextmanager
def said(what: str, remedy: str, notes: list[str]) -> Iterator[None]:
    """A note, in place of an error, of what is missing, why, and what would give it."""
    try:
        yield
    except Exception as error:  # whatever a model that nobody here wrote may raise
        why = shortened(str(error).strip().split("\n", 1)[0]) or type(error).__name__
        notes.append(f"the {what} is missing: {why}; {remedy}")


def _finite(found: dict[Any, Measured], what: str, notes: list[str]) -> dict[Any, Measured]:
    """Those that are finite; of the others a note."""
    odd = [key for key, m in found.items() if not math.isfinite(m.value + m.error)]
    if odd:
        notes.append(
            f"{what} is missing at {', '.join(map(str, odd))}: beyond the range of the model's "
            "numbers, or without a derivative, as a root is at 0; scale its output, or give it as "
            "model.double()"
        )
    return {key: m for key, m in found.items() if key not in odd}
