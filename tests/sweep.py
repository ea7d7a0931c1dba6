"""Every chapter at the ends of its parameters' ranges: ``make sweep``, ``python -m tests.sweep``.

A parameter at a time takes the least and the largest value of the range in its comment, the others
at their defaults, and ``seed`` takes three values. A chapter must come to its end with the verdicts
that it declares. A refusal that names two parameters of the chapter is none of its faults: these
two do not fit together. A run that needs more than the limit of CPU time is stopped and named.
What was run is kept in ``_build/sweep`` by the chapter's key, so that a sweep that was killed goes
on, and one that is started again runs only what has changed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookkit.chapters import ROOT, Chapter, every_chapter, find
from bookkit.key import combined
from bookkit.parameters import ChapterError, Parameter
from bookkit.results import write_atomically

RESULTS = ROOT / "_build" / "sweep"
SEEDS = (4, 5, 1_000_000)
"""Of a chapter, where its range has them; the last becomes the end of a shorter range."""
LIMIT = 600
"""Seconds of CPU time that one run may take."""
KINDS = ("seed", "low", "high")
ENDINGS = ("passed", "refused", "verdict changed", "error", "too long")
_FAILURES = ("verdict changed", "error")
_WAIT = 10  # times the limit, on the clock: for a run that sleeps, or a machine that is very busy
_LARGE_RUN = "big_"  # parameters of stored runs at the paper's size, unused where none is asked for
_RUNNING: set[subprocess.Popen[str]] = set()
_RAISED = re.compile(r"^ {4}(?:\w+\.)*(\w*(?:Error|Exception|Exit))(?:: (.*))?$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Run:
    """A chapter with one parameter that is not at its default; two runs are never equal.

    Attributes:
        chapter: The chapter. name: Of the parameter. value: Its value. kind: One of :data:`KINDS`.
    """

    chapter: Chapter
    name: str
    value: Any
    kind: str

    @property
    def words(self) -> list[str]:
        """What the runner is asked."""
        return [self.chapter.name, "--plain", "-p", self.name, str(self.value)]

    @property
    def label(self) -> str:
        """The chapter and the parameter."""
        return f"{self.chapter.name} {self.name}={self.value}"

    @property
    def path(self) -> Path:
        """Where its result is kept; named by all that its outputs depend on."""
        key = combined(self.chapter.pieces({self.name: self.value}))
        return RESULTS / f"{self.chapter.name.replace('/', '.')}.{self.name}.{key}.json"


@dataclass(frozen=True)
class Result:
    """How a run came to its end: one of :data:`ENDINGS`, and what it said, if that was no pass."""

    ending: str
    told: str
    seconds: float
    limit: float


def runs_of(chapter: Chapter, seeds: Sequence[int] = SEEDS) -> list[Run]:
    """The runs of one chapter, without those at a default, which ``make test`` has."""
    found = []
    for name, parameter in chapter.parameters.items():
        if name == "seed":
            values = dict.fromkeys(int(min(seed, parameter.high)) for seed in seeds)
            found += [Run(chapter, name, seed, "seed") for seed in values]
        elif not name.startswith(_LARGE_RUN):
            found += [Run(chapter, name, value, kind) for kind, value in ends(parameter)]
    return [run for run in found if run.value != chapter.parameters[run.name].value]


def ends(parameter: Parameter) -> Iterator[tuple[str, Any]]:
    """The default with its least number at the low end of the range, and its largest at the high.

    Of a list the other entries stay, so that one that has to increase does so.
    """
    numbers = _numbers(parameter.value)
    if not numbers:
        return
    for kind, end, number in (
        ("low", parameter.low, min(numbers)),
        ("high", parameter.high, max(numbers)),
    ):
        if math.isfinite(end):
            whole = math.ceil(end) if kind == "low" else math.floor(end)
            kept = whole if isinstance(number, int) else end
            yield kind, parameter.checked(_replaced(parameter.value, number, kept))


def _numbers(value: Any) -> list[float]:
    """The numbers that a default holds, however deep."""
    if isinstance(value, list | tuple):
        return [number for entry in value for number in _numbers(entry)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _replaced(value: Any, old: float, new: float) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_replaced(entry, old, new) for entry in value)
    return new if value == old else value


def in_order(runs: Sequence[Run]) -> list[Run]:
    """The seeds of all chapters, then low ends, then high ones; quick chapters first."""
    return sorted(
        runs,
        key=lambda run: (KINDS.index(run.kind), run.chapter.seconds or 0.0, run.chapter.name),
    )


def shard(runs: Sequence[Run], which: str) -> list[Run]:
    """One part of several of about the same time; ``which`` is such as ``"2/8"``."""
    found = re.fullmatch(r"(\d+)/(\d+)", which)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ChapterError(f"--shard wants a part such as 1/8 to 8/8, got {which!r}")
    return list(runs[int(found[1]) - 1 :: int(found[2])])


def known(run: Run, limit: float) -> Result | None:
    """The result that is kept, unless the run was stopped after less time than is allowed now."""
    try:
        kept = json.loads(run.path.read_text(encoding="utf-8"))
        result = Result(**kept["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None if result.ending == "too long" and result.limit < limit else result


def execute(run: Run, limit: float) -> Result:
    """Run a chapter as a script, and say how it came to its end."""
    path, started = run.path, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sweep-") as folder:
        command = [sys.executable, "-m", "bookkit.run", *run.words, "--out", folder]
        process = subprocess.Popen(
            ["sh", "-c", f'ulimit -S -t {math.ceil(limit)}; exec "$@"', "sh", *command],
            cwd=run.chapter.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        _RUNNING.add(process)
        try:
            _, told = process.communicate(timeout=_WAIT * limit)
            ending, reason = judged(run.chapter, process.returncode, told)
        except subprocess.TimeoutExpired:
            ending, reason = "too long", ""
        finally:
            _RUNNING.discard(process)
            _end(process)
            process.communicate()
    result = Result(ending, reason, round(time.monotonic() - started, 1), limit)
    write_atomically(path, json.dumps({"run": run.label, "result": vars(result)}, indent=1) + "\n")
    return result


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def judged(chapter: Chapter, status: int, told: str) -> tuple[str, str]:
    """The ending that the runner's exit status and standard error amount to, and the reason."""
    if status == 0:
        return "passed", ""
    if status in (130, -signal.SIGTERM):
        raise KeyboardInterrupt
    if "SIGXCPU" in told:
        return "too long", ""
    raised = _RAISED.findall(told)
    if not raised:
        return "error", " ".join(told.split())[-300:]
    kind, message = raised[-1]
    if kind == "ClaimError":
        return "verdict changed", message
    named = [name for name in chapter.parameters if re.search(rf"\b{name}\b", message)]
    if kind in ("ChapterError", "ValueError") and len(named) > 1:
        return "refused", message
    return "error", f"{kind}: {message}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 1 if a chapter failed, 2 for bad input, 130 if it was stopped."""
    with contextlib.suppress(ValueError):  # only the main thread may ask for signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        given = _parser().parse_args(arguments)
        chapters = [find(name) for name in given.chapters.split()] or every_chapter()
        seeds = _whole(given.seeds) or SEEDS
        kinds = given.kinds.split() or KINDS
        if given.jobs < 1:
            raise ChapterError(f"--jobs must be at least 1, got {given.jobs}")
        if given.limit < 1:
            raise ChapterError(f"--limit must be at least 1 second, got {given.limit:g}")
        if unknown := sorted(set(kinds) - set(KINDS)):
            raise ChapterError(f"no kind {unknown[0]!r}; there are: {', '.join(KINDS)}")
        runs = in_order([r for c in chapters for r in runs_of(c, seeds) if r.kind in kinds])
        runs = shard(runs, given.shard)
        if given.list:
            return tell_plan(runs, given.limit)
        return sweep(runs, given.limit, given.jobs)
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; what finished is kept, run again for the rest", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.sweep", description=__doc__)
    parser.add_argument("--chapters", default="", help="names apart by blanks; default: all")
    parser.add_argument("--seeds", default="", help=f"values of seed; default: {SEEDS}")
    parser.add_argument("--kinds", default="", help=f"some of: {' '.join(KINDS)}")
    parser.add_argument("--shard", default="1/1", help="one part of several, such as 2/8")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds of a run (600)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once (2)")
    parser.add_argument("--list", action="store_true", help="only say what would be run")
    return parser


def _whole(text: str) -> list[int]:
    if wrong := [word for word in text.split() if not re.fullmatch(r"\d+", word)]:
        raise ChapterError(f"--seeds wants whole numbers, got {wrong[0]!r}")
    return [int(word) for word in text.split()]


def tell_plan(runs: Sequence[Run], limit: float) -> int:
    """Print the runs, each with what is kept of it or the time that its chapter takes."""
    left = 0.0
    for run in runs:
        result = known(run, limit)
        left += 0.0 if result else run.chapter.seconds or 0.0
        told = result.ending if result else f"about {run.chapter.seconds or 0:.0f} s"
        print(f"{run.kind:<6}{run.label}: {told}")
    print(f"{len(runs)} runs; those to come take about {left / 60:.0f} min, at their defaults")
    return 0


def sweep(runs: Sequence[Run], limit: float, jobs: int) -> int:
    """Execute what is not kept, and print the table; 1 if a chapter failed."""
    results = {run: result for run in runs if (result := known(run, limit))}
    pool = ThreadPoolExecutor(jobs)
    waiting = {pool.submit(execute, run, limit): run for run in runs if run not in results}
    try:
        for future in as_completed(waiting):
            run = waiting[future]
            results[run] = future.result()
            print(f"{results[run].seconds:7.1f} s  {results[run].ending}: {run.label}", flush=True)
    except BaseException:  # an interrupt waits for nothing
        pool.shutdown(wait=False, cancel_futures=True)
        for process in list(_RUNNING):
            _end(process)
        raise
    finally:
        print_table(results)
    return int(any(result.ending in _FAILURES for result in results.values()))


def print_table(results: dict[Run, Result]) -> None:
    """By chapter how its runs ended, then each that did not pass with what repeats it."""
    by_chapter: dict[str, Counter[str]] = {}
    for run, result in results.items():
        by_chapter.setdefault(run.chapter.name, Counter())[result.ending] += 1
    print(f"{'chapter':<40}{'runs':>6}" + "".join(f"{ending:>17}" for ending in ENDINGS))
    for name, counts in [*sorted(by_chapter.items()), ("all", _total(by_chapter))]:
        row = "".join(f"{counts[ending]:>17}" for ending in ENDINGS)
        print(f"{name:<40}{sum(counts.values()):>6}{row}")
    for run, result in results.items():
        if result.ending != "passed":
            again = shlex.join(["python", "-m", "bookkit.run", *run.words])
            print(f"{result.ending}: {again}\n    {result.told or f'over {result.limit:g} s'}")


def _total(by_chapter: dict[str, Counter[str]]) -> Counter[str]:
    return sum(by_chapter.values(), Counter())


if __name__ == "__main__":
    sys.exit(main())
