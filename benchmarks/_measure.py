"""What every benchmark here shares: interleaved timing, a table, a record, peers kept apart.

A result is checked before it is timed, by the benchmark itself. Times are CPU seconds, so that a
busy machine disturbs them little; peers are called in turn, so that what disturbs one disturbs all.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from bookkit.results import write_atomically

ROOT = Path(__file__).resolve().parents[1]
RECORDS = Path(__file__).resolve().parent / "records"
LIBRARIES = ("llvmlite", "numba", "numpy", "scipy", "torch", "triton")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Stats:
    """Seconds of one call over all rounds: median and quartiles."""

    median: float
    low: float
    high: float
    rounds: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Stats:
        """Summary of at least one measurement."""
        if len(seconds) == 1:
            return cls(seconds[0], seconds[0], seconds[0], 1)
        low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
        return cls(median, low, high, len(seconds))


class Remote:
    """A case that another Python runs and times, because its library may not be installed here.

    Args:
        python: The interpreter, as ``PEERS`` names it.
        setup: Source run once there; it must define ``call()``.
    """

    LOOP = """
import sys, time
for line in sys.stdin:
    start = time.process_time()
    for _ in range(int(line)):
        call()
    print(time.process_time() - start, flush=True)
"""

    def __init__(self, python: str, setup: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", setup + self.LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self) -> None:
        self.seconds(1)

    def seconds(self, repeats: int) -> float:
        """CPU seconds of that many calls, measured over there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{repeats}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the peer stopped with status {self.process.wait()}")
        return float(answer)

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.communicate()


def peers_python(library: str) -> str | None:
    """The interpreter that ``PEERS`` names, if ``library`` can be imported there; else None."""
    python = os.environ.get("PEERS", "")
    if not python:
        return None
    found = subprocess.run([python, "-c", f"import {library}"], capture_output=True, check=False)
    return python if found.returncode == 0 else None


def compare(
    cases: Mapping[str, Callable[[], object]],
    rounds: int = 11,
    at_least: float = 2e-3,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Stats]:
    """Time all cases in turn, in an order that rotates from round to round.

    Args:
        cases: Name to a call without arguments, already checked; or a :class:`Remote`.
        rounds: Measurements of each case, after one that warms up and is not counted.
        at_least: Seconds one measurement should last: a short call is repeated within it.
        clock: ``time.process_time`` (CPU seconds of all threads) or ``time.perf_counter``.

    Returns:
        Name to seconds of one call.
    """
    repeats = {name: _repeats(case, at_least, clock) for name, case in cases.items()}
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    names = list(cases)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                total = _seconds(cases[name], repeats[name], clock)
                seconds[name].append(total / repeats[name])
    finally:
        if collecting:
            gc.enable()
    return {name: Stats.of(values) for name, values in seconds.items()}


def _seconds(case: Callable[[], object], repeats: int, clock: Callable[[], float]) -> float:
    if isinstance(case, Remote):
        return case.seconds(repeats)
    start = clock()
    for _ in range(repeats):
        case()
    return clock() - start


def _repeats(case: Callable[[], object], at_least: float, clock: Callable[[], float]) -> int:
    case()
    once = max(_seconds(case, 1, clock), 1e-9)
    return max(1, min(100_000, round(at_least / once)))


def table(rows: Sequence[Row]) -> str:
    """Aligned text, one column a key of the first row; floats to three significant digits."""
    head = list(rows[0])
    body = [[_shown(row.get(key, "")) for key in head] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [
        "  ".join(cell.rjust(w) for cell, w in zip(r, widths, strict=True)) for r in [head, *body]
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:#.3g}".rstrip(".") if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def record(name: str, rows: Sequence[Row], folder: Path = RECORDS, **more: Any) -> Path:
    """Store rows as ``<name>.json``, whole or not at all, with what they were measured on.

    Args:
        name: Of the kernel.
        rows: Sizes, dtype, threads, seconds or what is derived from them.
        folder: Where, if not with the other records.
        more: Further entries, such as the libraries of peers or a remark.
    """
    path = folder / f"{name}.json"
    content = {"environment": environment(), **more, "rows": [dict(row) for row in rows]}
    write_atomically(path, json.dumps(content, indent=1) + "\n")
    return path


def environment() -> dict[str, Any]:
    """Processor, threads, versions, date and commit of this run."""
    return {
        "command": " ".join(["python", "-m", *_module(), *sys.argv[1:]]),
        "commit": _output("git", "rev-parse", "HEAD"),
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
        "load": round(os.getloadavg()[0], 2),
        "clock": "CPU seconds",
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {library: _version(library) for library in LIBRARIES},
    }


def processor() -> str:
    """Model, family and caches, as far as the system tells."""
    shown = {}
    for line in _output("lscpu").splitlines():
        key, _, value = line.partition(":")
        shown[key.strip()] = value.strip()
    if "Model name" not in shown:
        return platform.processor() or platform.machine()
    caches = ", ".join(f"{key} {shown[key]}" for key in shown if key.endswith(" cache"))
    family = f"family {shown.get('CPU family')} model {shown.get('Model')}"
    return f"{shown['Model name']} ({family}; {caches})"


def _module() -> list[str]:
    spec = sys.modules["__main__"].__spec__
    return [spec.name] if spec else [Path(sys.argv[0]).name]


def _version(library: str) -> str | None:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except OSError:
        return ""
    return done.stdout.strip()
