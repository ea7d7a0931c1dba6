"""What a probe found, as a table and as plain data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tabulate import tabulate


class Measured(NamedTuple):
    """A number with its standard error; 0 where it is exact."""

    value: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.4g}" + (f" ± {self.error:.2g}" if self.error else "")


@dataclasses.dataclass(frozen=True)
class Report:
    """What :func:`probe` found. Sensitivity and spectrum are those of the sign of the output.

    Attributes:
        bits: n. weights: How many numbers the model holds. exact: Whether all strings were tried.
        average_sensitivity: Mean number of flips that change the sign, of n.
        largest_sensitivity: The most at one string; among the drawn ones, if not exact.
        influences: Chance for each position that its flip changes the sign.
        weight_by_degree: Squares of the Fourier coefficients by degree, n + 1 numbers that add up
            to 1; empty if not exact.
        loss: Mean squared error against the target, None without one. error_rate: Share of wrong
            signs, with its 95 % interval.
        direction_sharpness: By length of the step, mean squared change of the output.
        trace: Of the Hessian of the loss, or without a target of the mean squared output about
            itself: its Gauss-Newton part by group of parameters, and ``"residual"``.
        norms: Euclidean norm by group of parameters.
        blow_up: By layer norm, the largest and the mean factor 1/s by which it magnifies.
        certificates: What is guaranteed of the error rate on new strings, with 95 % confidence.
        not_applicable: Bounds of the book, each with the reason.
        notes: What was done to the model, such as switching dropout off.
    """

    bits: int
    weights: int
    exact: bool
    average_sensitivity: Measured
    largest_sensitivity: int
    influences: tuple[float, ...]
    weight_by_degree: tuple[float, ...]
    loss: Measured | None
    error_rate: tuple[float, float, float] | None
    direction_sharpness: Mapping[float, Measured]
    trace: Mapping[str, Measured]
    norms: Mapping[str, float]
    blow_up: Mapping[str, tuple[float, float]]
    certificates: Mapping[str, float]
    not_applicable: Mapping[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[tuple[str, str]]:
        """The report as pairs of words, in order."""
        rows = [
            ("bits, weights", f"{self.bits}, {self.weights:,}"),
            ("average sensitivity", f"{self.average_sensitivity} of {self.bits}"),
            ("largest sensitivity", f"{self.largest_sensitivity}" + "+" * (not self.exact)),
            ("largest influences", _largest(self.influences)),
        ]
        if self.weight_by_degree:
            shares = enumerate(self.weight_by_degree)
            told = [f"{k}: {w:.3f}" for k, w in shares if w >= 0.0005]
            rows.append(("weight by degree", ", ".join(told)))
        if self.loss is not None and self.error_rate is not None:
            value, low, high = self.error_rate
            rows.append(("mean squared error", str(self.loss)))
            rows.append(("error rate", f"{value:.4g} [{low:.4g}, {high:.4g}]"))
        rows += [(f"sharpness, step {r:g}", str(m)) for r, m in self.direction_sharpness.items()]
        rows += [(f"trace, {name}", str(m)) for name, m in self.trace.items()]
        rows += [(f"norm, {name}", f"{v:.4g}") for name, v in self.norms.items()]
        for name, (largest, mean) in self.blow_up.items():
            rows.append((f"magnification, {name}", f"largest {largest:.4g}, mean {mean:.4g}"))
        rows += [(f"guaranteed error, {k}", f"{v:.4g}") for k, v in self.certificates.items()]
        rows += [(f"does not apply: {k}", why) for k, why in self.not_applicable.items()]
        return rows + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        return tabulate(self.rows(), tablefmt="plain")

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, texts, lists and dicts, for JSON or a pandas Series."""
        return json.loads(json.dumps(dataclasses.asdict(self)))


def _largest(influences: tuple[float, ...]) -> str:
    order = sorted(range(len(influences)), key=lambda k: -influences[k])[:4]
    return ", ".join(f"x{k + 1}: {influences[k]:.3g}" for k in order)
