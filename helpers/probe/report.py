"""What a probe found, as a table and as plain data."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tabulate import tabulate

if TYPE_CHECKING:  # each loads when it is asked for
    from matplotlib.figure import Figure
    from pandas import Series


class Measured(NamedTuple):
    """A number with its standard error; 0 where it is exact."""

    value: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.4g}" + (
            f" ± {self.error:.2g}" if self.error > 1e-6 * abs(self.value) else ""
        )


@dataclasses.dataclass(frozen=True)
class Report:
    """What :func:`probe` found. Sensitivity and spectrum are those of the sign of the output.

    Attributes:
        bits: n. weights: How many numbers the model holds. exact: Whether all strings were tried.
        average_sensitivity: Mean number of flips that change the sign, of n.
        largest_sensitivity: The most at one string; among the drawn ones, if not exact.
        influences: Chance for each position that its flip changes the sign.
        influence_intervals: Of the drawn ones, with 95 % confidence each; empty if exact.
        weight_by_degree: Squares of the Fourier coefficients by degree, n + 1 numbers that add up
            to 1; empty if not exact.
        weight_drawn: The same from drawn strings, unbiased, at the degrees that can be told.
        loss: Mean squared error against the target, None without one. error_rate: Share of wrong
            signs, with its 95 % interval, of no length if all strings were among them.
        direction_sharpness: By length of the step, mean squared change of the output.
        trace: Of the Hessian of the loss, or without a target of the mean squared output about
            itself: its Gauss-Newton part by group of parameters, and ``"whole Hessian"``. Each is
            there only if differences confirm it, of a group at 64 strings; if not, a note says why
            and what would help. All strings or 256 drawn ones; the error of the Gauss-Newton part
            is over the drawn ones, those of sharpness and of the whole Hessian are over the steps
            and vectors there.
        norms: Euclidean norm by group of parameters, and of ``"all weights"``.
        blow_up: By layer norm, the largest and the mean factor 1/s by which it magnifies, but for
            its gain and for any other factor that is the same at all strings.
        certificates: Bounds on the error rate on new strings, each with 95 % confidence: by strings
            held out, by the bits that hold the weights (Occam), and by PAC-Bayes-kl, which is about
            the mean error of networks whose weights get Gaussian noise, not about the network
            itself. From 1/2 on a bound is vacuous.
        not_applicable: Bounds of the book, each with the reason and with what can be said in
            numbers; see :mod:`helpers.probe.bounds`.
        notes: What was done to the model, such as switching dropout off.
    """

    bits: int
    weights: int
    exact: bool
    average_sensitivity: Measured
    largest_sensitivity: int
    influences: tuple[float, ...]
    influence_intervals: tuple[tuple[float, float], ...]
    weight_by_degree: tuple[float, ...]
    weight_drawn: Mapping[int, Measured]
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
            ("largest influences", _largest(self.influences, self.influence_intervals)),
        ]
        if self.weight_by_degree:
            shares = enumerate(self.weight_by_degree)
            told = [f"{k}: {w:.3f}" for k, w in shares if w >= 0.0005]
            rows.append(("weight by degree", ", ".join(told)))
        rows += [(f"weight at degree {k}", str(m)) for k, m in self.weight_drawn.items()]
        if self.loss is not None and self.error_rate is not None:
            value, low, high = self.error_rate
            rows.append(("mean squared error", str(self.loss)))
            interval = f" [{low:.4g}, {high:.4g}]" if low < high else ""
            rows.append(("error rate", f"{value:.4g}{interval}"))
        rows += [(f"sharpness, step {r:g}", str(m)) for r, m in self.direction_sharpness.items()]
        rows += [(f"trace, {name}", str(m)) for name, m in self.trace.items()]
        rows += [(f"norm, {name}", f"{v:.4g}") for name, v in self.norms.items()]
        for name, (largest, mean) in self.blow_up.items():
            rows.append((f"magnification, {name}", f"largest {largest:.4g}, mean {mean:.4g}"))
        for name, bound in self.certificates.items():
            vacuous = " (vacuous)" * (bound >= 0.5)
            rows.append((f"guaranteed error, {name}", f"{bound:.4g}{vacuous}"))
        rows += [(f"does not apply: {k}", why) for k, why in self.not_applicable.items()]
        return rows + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        return tabulate(self.rows(), tablefmt="plain")

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, texts, lists and dicts, for JSON.

        A number that is not finite, which JSON has not, is its text, such as ``"inf"``.
        """
        return _plain(json.loads(json.dumps(dataclasses.asdict(self))))

    def series(self) -> Series:
        """The numbers as a pandas Series: ``"trace, out"``, ``"influence, x3"``, errors apart."""
        from pandas import Series

        found: dict[str, float] = {}
        for field in dataclasses.fields(self):
            _flatten(field.name.replace("_", " "), getattr(self, field.name), found)
        return Series(found, dtype=float, name="probe")

    def figure(self) -> Figure:
        """Influence of each position, weight by degree, and sharpness over the steps, if measured.

        A new figure of pyplot, in the style that is set there. A sharpness of 0 has no place on a
        logarithmic axis; the title then says so.

        Raises:
            ValueError: an influence, weight or sharpness that is not finite, by name.
        """
        import matplotlib.pyplot as plt

        sharp = {rho: m for rho, m in self.direction_sharpness.items() if m.value != 0 and rho > 0}
        values = [self.influences, self.weight_by_degree, [x for m in sharp.values() for x in m]]
        for name, numbers in zip(("influences", "weights", "sharpness"), values, strict=True):
            if odd := [v for v in numbers if not math.isfinite(v)]:
                raise ValueError(f"{name} must be finite to be drawn, got {odd[0]}")
        panels = [True, bool(self.weight_by_degree), bool(sharp)]
        fig, axes = plt.subplots(
            1, sum(panels), figsize=(6.8, 2.6), squeeze=False, layout="constrained"
        )
        left = iter(axes[0])
        ax = next(left)
        ax.bar(range(1, self.bits + 1), self.influences)
        ax.set(xlabel="position", ylabel="influence", ylim=(0, 1.05 * max(*self.influences, 0.01)))
        ax.set_axisbelow(True)
        ax.locator_params("x", integer=True)
        if self.weight_by_degree:
            ax = next(left)
            ax.bar(range(self.bits + 1), self.weight_by_degree)
            ax.set(xlabel="degree", ylabel="share of weight", ylim=(0, 1.05))
            ax.set_axisbelow(True)
            ax.locator_params("x", integer=True)
        if sharp:
            ax = next(left)
            value = [m.value for m in sharp.values()]
            below = [min(2 * m.error, 0.9 * m.value) for m in sharp.values()]  # a log has no 0
            above = [2 * m.error for m in sharp.values()]
            ax.errorbar(list(sharp), value, yerr=(below, above), fmt="o", color="C0")
            ax.set(xscale="log", yscale="log", xlabel="step in the weights", ylabel="sharpness")
            if gone := len(self.direction_sharpness) - len(sharp):
                ax.set_title(f"{gone} of {len(self.direction_sharpness)} are 0", fontsize=8)
        return fig


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _flatten(name: str, value: Any, found: dict[str, float]) -> None:
    """The numbers of a field under names that say which they are; words are left out."""
    if isinstance(value, Measured):
        found[name] = value.value
        if value.error:
            found[f"{name}, error"] = value.error
    elif isinstance(value, Mapping):
        for key, v in value.items():
            _flatten(f"{name}, {key}", v, found)
    elif isinstance(value, tuple):
        ends: tuple[str, ...] | None = None
        if name == "error rate":
            ends = ("found", "low", "high")
        if name.startswith("blow up"):
            ends = ("largest", "mean")
        if name.startswith("influence intervals, "):
            ends = ("low", "high")
        first = 1 if name in ("influences", "influence intervals") else 0
        for k, v in enumerate(value):
            which = ends[k] if ends else f"x{k + first}" if first else str(k)
            _flatten(f"{name}, {which}", v, found)
    elif isinstance(value, bool | int | float):
        found[name] = float(value)


def _largest(influences: tuple[float, ...], ends: tuple[tuple[float, float], ...]) -> str:
    order = sorted(range(len(influences)), key=lambda k: -influences[k])[:4]
    return ", ".join(
        f"x{k + 1}: {influences[k]:.3g}"
        + (f" [{ends[k][0]:.3g}, {ends[k][1]:.3g}]" if ends else "")
        for k in order
    )
