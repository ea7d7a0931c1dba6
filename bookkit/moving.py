"""Moving figures: a slider and a drawing over numbers that the chapter computed and stored.

A chapter says what is drawn, and what is said of it in words, at each place of one or two sliders.
The page keeps these frames as JSON among the cell's outputs, and ``book/_static/moving.js`` draws
the one that is chosen; it computes nothing. Without JavaScript, and in print, nothing is shown: the
figure above stands alone.
"""

from __future__ import annotations

import html
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.ticker import MaxNLocator

from bookkit.output import SUPERSCRIPT, display, in_prose

LARGEST = 30_000
"""Bytes of one figure's numbers and words."""
LOOKS = 6
"""Series that can be told apart."""
KINDS = ("grey", "bars", "lines", "dots")

Points = Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Axis:
    """One axis, the same in every frame.

    Attributes:
        label: What it measures, in words and letters; formulas in TeX are not drawn.
        low: Its lower end; above 0 if the axis is logarithmic.
        high: Its upper end.
        log: Whether it is logarithmic.
        ticks: Where numbers stand, or how each is written; None: at round ones.

    Raises:
        ValueError: no label, ends that are no interval, or a tick beyond them.
    """

    label: str
    low: float
    high: float
    log: bool = False
    ticks: Sequence[float] | Mapping[float, str] | None = None

    def __post_init__(self) -> None:
        if not self.label.strip():
            raise ValueError("an axis has a label")
        if not -math.inf < self.low < self.high < math.inf or (self.log and self.low <= 0):
            above = " above 0" if self.log else ""
            raise ValueError(f"axis {self.label!r} runs from {self.low} to {self.high}{above}")
        odd = [t for t in self.ticks or () if not self.low <= t <= self.high]
        if odd:
            raise ValueError(f"axis {self.label!r} has no place for a tick at {odd[0]:g}")

    def marks(self) -> list[tuple[float, str]]:
        """Each tick, and how it is written.

        >>> Axis("x", 0, 1).marks()[:2], Axis("m", 1e4, 1e6, log=True).marks()[-1]
        ([(0.0, '0'), (0.2, '0.2')], (1000000.0, '10⁶'))
        """
        if isinstance(self.ticks, Mapping):
            return list(self.ticks.items())
        if self.ticks is not None:
            return [(t, written(t)) for t in self.ticks]
        if not self.log:
            places = [round(float(t), 12) for t in MaxNLocator(5).tick_values(self.low, self.high)]
            return [(t, f"{t:g}".replace("-", "−")) for t in places if self.low <= t <= self.high]
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        plain = first >= -2 and last <= 3
        return [
            (10.0**k, f"{10.0**k:g}" if plain or k == 0 else f"10{str(k).translate(SUPERSCRIPT)}")
            for k in range(first, last + 1)
        ]


@dataclass(frozen=True)
class Frame:
    """What is drawn, and said, at one place of the sliders.

    Attributes:
        says: The values in words, such as "σ = 0.002: bound 0.24"; read aloud.
        lines: Name to (x, y), sequences or tensors of one length.
        dots: The same, drawn as marks; of one colour with the line of their name.
        bars: The same, bars from 0 on a linear axis, x evenly apart.
        grey: Lines in the background; a name that is not empty stands at the last point.
    """

    says: str
    lines: Points = field(default_factory=dict)
    dots: Points = field(default_factory=dict)
    bars: Points = field(default_factory=dict)
    grey: Points = field(default_factory=dict)


def moving(
    name: str,
    sliders: Mapping[str, Sequence[float]],
    frame: Callable[..., Frame],
    axes: tuple[Axis, Axis],
    *,
    caption: str,
    alt: str,
    start: Sequence[float] | None = None,
) -> None:
    """Show a moving figure; a cell with one is tagged ``nbval-ignore-output``.

    Args:
        name: Its address on the page is ``#moving-NAME``; letters, digits and hyphens.
        sliders: What each of one or two sliders is called, and its values. One that has a single
            value is not shown.
        frame: What is drawn at given values, one for each slider, in their order.
        axes: Horizontal and vertical.
        caption: What it shows, and what to look for.
        alt: What is seen, for readers who do not see it; at least 40 characters.
        start: The values that are shown first; None: those in the middle.

    Raises:
        TypeError: what ``frame`` returns is no :class:`Frame`.
        ValueError: anything that cannot be drawn, or above :data:`LARGEST`; names what and where.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"a moving figure's name has small letters, digits, hyphens; got {name!r}")
    if not caption.strip() or len(alt.strip()) < 40:
        raise ValueError(f"{name}: a caption and an alternative text of 40 characters are needed")
    if len(sliders) not in (1, 2) or not all(len(values) for values in sliders.values()):
        raise ValueError(f"{name}: one or two sliders with values, got {dict(sliders)}")
    begin = [v[len(v) // 2] for v in sliders.values()] if start is None else list(start)
    if len(begin) != len(sliders):
        raise ValueError(f"{name}: {len(sliders)} sliders start at {len(begin)} values")
    described = []
    for (label, values), first in zip(sliders.items(), begin, strict=True):
        if first not in values:
            raise ValueError(f"{name}: the slider {label!r} has no value {first}")
        words = [written(v) for v in values]
        described.append((label, words, list(values).index(first)))
    kept = _Kept(name, axes)
    frames = [
        kept.frame(frame(*at), ", ".join(f"{k} = {v:g}" for k, v in zip(sliders, at, strict=True)))
        for at in itertools.product(*sliders.values())
    ]
    both = [
        {"label": a.label, "low": a.low, "high": a.high, "log": a.log, "ticks": a.marks()}
        for a in axes
    ]
    stored = {
        "sliders": [dict(zip(("label", "values", "start"), one, strict=True)) for one in described],
        "axes": both,
        "names": list(kept.names),
        "numbers": list(kept.numbers),
        "series": list(kept.series),
    }
    text = json.dumps(stored | {"frames": frames}, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c")
    if (size := len(text.encode())) > LARGEST:
        raise ValueError(f"{name}: {size} bytes, at most {LARGEST}; fewer frames or points")
    runs = [f"{label} from {words[0]} to {words[-1]}" for label, words, _ in described]
    display(
        {
            "text/html": f'<figure class="moving" id="moving-{name}" hidden data-alt="'
            f'{html.escape(alt)}">\n<script type="application/json">{text}</script>\n'
            f"<figcaption>{html.escape(caption)}</figcaption>\n</figure>",
            "text/plain": f"Moving figure: {caption}\n{len(frames)} frames, {', '.join(runs)}",
        }
    )


def written(value: float) -> str:
    """A value of a slider, or a tick: whole numbers up to 9999 as they are, others in three digits.

    >>> written(4096), written(0.0022705), written(1e6), written(2.5e-5)
    ('4096', '0.00227', '10⁶', '2.5 × 10⁻⁵')
    """
    if float(value).is_integer() and abs(value) < 1e4:
        return str(int(value))
    return in_prose(f"{value:.3g}")


class _Kept:
    """Numbers and names of all frames; what two frames share is kept once."""

    def __init__(self, name: str, axes: tuple[Axis, Axis]) -> None:
        self.name, self.axes = name, axes
        self.names: dict[str, int] = {}
        self.numbers: dict[tuple[float, ...], int] = {}
        self.series: dict[tuple[int | str, ...], int] = {}

    def frame(self, frame: Frame, at: str) -> list[Any]:
        """What is said, and the places of what is drawn: kind, name, x and y of each series."""
        if not isinstance(frame, Frame):
            raise TypeError(f"{self.name} at {at}: expected a Frame, got {type(frame).__name__}")
        if not frame.says.strip():
            raise ValueError(f"{self.name} at {at}: nothing is said in words")
        drawn = []
        for kind in KINDS:
            for name, (x, y) in getattr(frame, kind).items():
                where = f"{self.name} at {at}: {name or kind}"
                across, up = (
                    self._short(v, axis, f"{where}, {axis.label}")
                    for v, axis in zip((x, y), self.axes, strict=True)
                )
                if len(across) != len(up) or not up:
                    raise ValueError(f"{where} has {len(across)} places for {len(up)} values")
                if kind == "bars" and (self.axes[1].low > 0 or any(a.log for a in self.axes)):
                    raise ValueError(f"{where}: bars stand on the 0 of linear axes")
                if kind == "bars" and len(up) < 2:
                    raise ValueError(f"{where}: one bar has no width")
                shown = name if kind == "grey" else self.names.setdefault(name, len(self.names))
                places = (self.numbers.setdefault(v, len(self.numbers)) for v in (across, up))
                one = (KINDS.index(kind), shown, *places)
                drawn.append(self.series.setdefault(one, len(self.series)))
        if not drawn:
            raise ValueError(f"{self.name} at {at}: nothing is drawn")
        if len(self.names) > LOOKS:
            raise ValueError(f"{self.name}: {len(self.names)} series; {LOOKS} can be told apart")
        return [frame.says, drawn]

    def _short(self, values: Any, axis: Axis, where: str) -> tuple[float, ...]:
        """Four digits of each; whole numbers without a point."""
        plain = values.tolist() if hasattr(values, "tolist") else list(values)
        for value in plain:
            if not math.isfinite(value) or (axis.log and value <= 0):
                raise ValueError(f"{where}: {value} has no place on the axis")
        short = (float(f"{value:.4g}") for value in plain)
        return tuple(int(v) if v.is_integer() and abs(v) < 1e5 else v for v in short)
