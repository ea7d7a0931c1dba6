"""Execute chapters: ``python -m bookkit.run [CHAPTER ...]``.

Without options, executes the chapters whose key does not match, each in a process of its own, and
stores each notebook as it arrives; a killed run, started again, executes only what is missing.
Parameters are checked before any kernel starts. A run that is to be kept goes on from its last
checkpoint, after a kill or when --budget was over. With DASK_SCHEDULER_ADDRESS the chapters go to
that Dask cluster. The book is the one that --book names, else the one around the current folder. In
a folder that has a package bookkit of its own, python -P -m bookkit.run finds this one.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import itertools
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from bookkit import cluster, results
from bookkit.chapters import Chapter, every_chapter, find, read_record, record_of
from bookkit.execution import (
    Outcome,
    code_for,
    end_all,
    execute_notebook,
    execute_plainly,
    installed,
)
from bookkit.jobs import (
    Clock,
    Job,
    report_stale,
    require_device,
    require_elsewhere,
    require_writable,
    seconds,
    stale,
)
from bookkit.key import COMPUTES
from bookkit.output import print_anywhere
from bookkit.parameters import ChapterError, Parameter
from bookkit.place import PACKAGE, find_root
from bookkit.storing import must_run, store, written

_PAUSED = re.compile(r"^(?:cell \[\d+\]: |helpers\.training\.checkpoints\.)Paused: ", re.MULTILINE)
STOPPED = 130
"""Exit status after an interrupt, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 if a chapter failed, 2 for bad input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    print_anywhere()
    with contextlib.suppress(ValueError):  # only the main thread may ask for signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _require_text(given)
        given, pairs = _parameters_apart(given)
        options = _parser().parse_args(given)
        options.parameter = pairs
        jobs = plan(options)
        if options.check:
            return report_stale(jobs, options.plain)
        todo = [job for job in jobs if options.force or must_run(job, options.plain)]
        if not todo:
            print(f"{len(jobs)} current, nothing to execute")
            return 0
        for job in todo:
            if job.in_the_book:
                _require_pins(job)
        return carry_out(todo, options)
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; what finished is stored, run again for the rest", file=sys.stderr)
        return STOPPED


def plan(options: argparse.Namespace) -> list[Job]:
    """The jobs that the options ask for; every name and value is checked here."""
    if options.jobs < 1:
        raise ChapterError(f"--jobs must be at least 1, got {options.jobs}")
    seconds(options.budget)
    require_device(options.device, here=not options.check)
    root = _book(options.book)
    if options.out is not None:
        require_elsewhere(options.out, root)
    chapters = [find(name, root) for name in options.chapters] or every_chapter(root)
    if options.preset and not options.chapters:
        chapters = [c for c in chapters if c.preset.exists()]
        if not chapters:
            raise ChapterError("no chapter has parameters at the paper's scale")
    if options.parameter and not options.chapters:
        raise ChapterError("-p needs the chapters that it is for")
    changed = bool(options.parameter or options.preset)
    if options.parameter and not (options.out or options.plain or options.check):
        raise ChapterError("-p changes what a page says: give --out DIR for the notebooks")
    default = root / "_build" / ("paper" if options.preset else "plain")
    out = Path(options.out) if options.out else (default if changed or options.plain else None)
    keep = _where_to_keep(options, out, root)
    jobs: dict[Path, Job] = {}
    for chapter in chapters:
        base = chapter.with_preset() if options.preset else {}
        grid = list(_grid(chapter, options.parameter))
        for point in grid:
            suffix = "".join(f".{k}={v}" for k, v in point.items()) if len(grid) > 1 else ""
            name = f"{chapter.name}{suffix.replace('/', '_').replace(' ', '')}"
            kind = ".log" if options.plain else ".ipynb"
            target = chapter.notebook if out is None else out / f"{name}{kind}"
            folder = keep / name if keep and suffix else keep
            job = Job(chapter, base | point, target.absolute(), folder)
            other = jobs.setdefault(job.target, job)
            if other != job:
                raise ChapterError(
                    f"{other.label} and {job.label} would both be written to {target}; run them "
                    "one by one, with an --out each"
                )
    if not options.check:
        require_writable(jobs)
    return list(jobs.values())


def carry_out(jobs: Sequence[Job], options: argparse.Namespace) -> int:
    """Execute the jobs, store each as it arrives, report; 1 if any failed."""
    on_cluster = bool(cluster.address()) and not options.plain
    where = "on the cluster" if on_cluster else f"{min(options.jobs, len(jobs))} at once"
    print(f"executing {len(jobs)}, {where}", flush=True)
    clock = Clock(jobs, seconds(options.budget))
    variables = {"BOOK_DEVICE": options.device} if options.device else {}
    if clock.deadline is not None:
        variables["BOOK_DEADLINE"] = str(clock.deadline)
    failed, paused, done = [], [], 0
    if on_cluster:
        arriving = cluster.executed_on_the_cluster(jobs, clock, variables)
    else:
        arriving = _executed_here(jobs, options, clock, variables)
    for done, (job, outcome) in enumerate(arriving, 1):
        clock.take(job)
        if outcome.error and _PAUSED.search(outcome.error):
            paused.append(job)
            _report_progress(done, len(jobs), job, outcome, "paused", None, clock)
            continue
        kept = job.run
        outcome = _with_own_ledger(job, outcome)
        error = store(job, outcome, options.plain)
        if error:
            failed.append(job)
        elif kept:
            shutil.rmtree(kept["checkpoints"], ignore_errors=True)
        _report_progress(done, len(jobs), job, outcome, "FAILED" if error else "done", error, clock)
    summary = f"{done - len(failed) - len(paused)} executed, {len(failed)} failed"
    if options.budget or paused:
        summary += f", {len(paused)} paused, {len(jobs) - done} not begun"
        summary += "; run again to go on" if len(jobs) > done or paused else ""
    print(summary)
    if options.parameter and options.out and not options.plain:
        _report_sweep(plan(options), Path(options.out))
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bookkit.run", description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="default: all")
    parser.add_argument(
        "-p",
        dest="parameter",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="set a parameter, also as NAME=VALUE; VALUE V1,V2,... sweeps over several",
    )
    parser.add_argument(
        "--book", metavar="DIR", help="a book elsewhere: the folder that holds book/"
    )
    parser.add_argument("--preset", choices=["paper"], help="parameters at the paper's scale")
    parser.add_argument("--jobs", type=int, default=2, help="kernels at once (2)")
    parser.add_argument("--out", metavar="DIR", help="write here, not into the book")
    parser.add_argument("--force", action="store_true", help="execute current ones too")
    parser.add_argument("--check", action="store_true", help="only say which are stale, and why")
    parser.add_argument(
        "--budget", metavar="TIME", help="such as 45min or 2h: begin no more, and pause, after it"
    )
    parser.add_argument("--device", help="where training takes its steps, such as cuda (the CPU)")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="run as scripts, without Jupyter: logs go to _build/plain, no notebook changes",
    )
    return parser


def _require_text(given: Sequence[str]) -> None:
    """Refuse an argument with bytes that the encoding of this terminal does not have."""
    for word in given:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ChapterError(
                f"the argument {word!r} is no text in this terminal's letters "
                f"({sys.getfilesystemencoding()}); set PYTHONUTF8=1 if it sends UTF-8"
            ) from None


def _parameters_apart(given: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The other words, and every ``-p NAME VALUE`` or ``-p NAME=VALUE``.

    By hand, because a value such as -1e-3 would be taken for an option.
    """
    rest, pairs = [], []
    words = iter(given)
    for word in words:
        if word != "-p":
            rest.append(word)
            continue
        name, equals, value = next(words, "").partition("=")
        if not equals:
            value = next(words, "")
        if not name or not (value or equals):
            raise ChapterError("-p wants a name and a value: -p NAME VALUE, or -p NAME=VALUE")
        pairs.append((name, value))
    return rest, pairs


def _book(named: str | None) -> Path:
    """The folder of the book that is meant; ChapterError if it holds none."""
    root = find_root() if named is None else Path(named).absolute()
    if root is None and Path.cwd().is_relative_to(PACKAGE):
        root = PACKAGE
    if root is None:
        raise ChapterError(
            f"no book around {Path.cwd()}; go where a book is, or name it: --book DIR"
        )
    if not (root / "book").is_dir():
        raise ChapterError(f"no folder book in {root}; go where a book is, or name it: --book DIR")
    return root


def _where_to_keep(options: argparse.Namespace, out: Path | None, root: Path) -> Path | None:
    """Folder for the tables that chapters save; None if this run keeps none."""
    if options.preset and options.out is None:
        if not options.check and results.commit_of(root).endswith("-dirty"):
            raise ChapterError(
                "a run is stored from a committed tree, and this one has changes; commit them, or "
                "give --out DIR, which keeps the run out of results/"
            )
        return root / "results"
    if options.preset or options.plain:
        return (out / "results").absolute() if out else None
    return None


def _grid(chapter: Chapter, given: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Every combination of the values given for each parameter."""
    values: dict[str, list[Any]] = {}
    for name, text in given:
        if name in values:
            raise ChapterError(f"parameter {name!r} is given twice; a sweep is -p {name} V1,V2")
        parameter = chapter.parameter(name)
        values[name] = [parameter.parse(word) for word in _words(text, parameter)]
    for point in itertools.product(*values.values()):
        yield dict(zip(values, point, strict=True))


def _words(text: str, parameter: Parameter) -> list[str]:
    """Split at commas outside brackets, unless the whole is one value of a list parameter."""
    depth, words = 0, [""]
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            words.append("")
        else:
            words[-1] += letter
    if len(words) > 1 and not all(word.strip() for word in words):
        raise ChapterError(f"parameter {parameter.name!r}: an empty value in {text!r}")
    return [word.strip() for word in words]


def _require_pins(job: Job) -> None:
    """Refuse where the key would name another version of what computes than the one that ran."""
    for name, pinned in job.pieces.get("environment.yml", {}).items():
        pin, here = pinned.partition(";")[0].strip(), installed(name).partition("+")[0]
        if name in COMPUTES and pin not in ("any", here) and here != "none":
            raise ChapterError(
                f"{name} {here} is installed, but environment.yml has {pin}, which the stored key "
                "would name; `make run` sets up again first"
            )


def _executed_here(
    jobs: Sequence[Job], options: argparse.Namespace, clock: Clock, variables: Mapping[str, str]
) -> Iterator[tuple[Job, Outcome]]:
    """Each job in a process of its own, as many at once as the options say."""

    def execute(job: Job) -> Outcome | None:
        if not clock.allows(job):
            return None
        chapter = job.chapter
        given = job.run, str(chapter.root), variables
        if options.plain:
            return execute_plainly(chapter.name, chapter.text, job.parameters, *given)
        key, code = None if job.in_the_book else job.pieces, code_for(chapter.text)
        return execute_notebook(chapter.name, chapter.text, job.parameters, key, code, *given)

    pool = ThreadPoolExecutor(options.jobs)
    futures = {pool.submit(execute, job): job for job in jobs}
    try:
        for future in as_completed(futures):
            outcome = future.result()
            if outcome is not None:
                yield futures[future], outcome
    except BaseException:  # an interrupt waits for nothing
        end_all()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _with_own_ledger(job: Job, outcome: Outcome) -> Outcome:
    """The outcome, as a failure where its ledger names another chapter."""
    record = None if outcome.error else record_of(outcome.text)
    if record is None or record["chapter"] == job.chapter.name:
        return outcome
    wrong = f'its ledger is that of {record["chapter"]}: write Ledger("{job.chapter.name}")'
    return replace(outcome, error=wrong)


def _report_sweep(jobs: Sequence[Job], out: Path) -> None:
    """A table of parameters by verdicts, and every claim of the sweep as a CSV."""
    rows: list[list[str]] = []
    for job in jobs:
        if stale(job):
            continue
        claims = (read_record(job.target) or {}).get("claims", [])
        kinds = Counter(claim["verdict"] for claim in claims)
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(kinds.items()))
        print(f"  {job.label}: {verdicts or 'no claims'}")
        rows += [
            [job.label, *(str(claim[k]) for k in ("id", "text", "measured", "verdict"))]
            for claim in claims
        ]
    if len(jobs) > 1 and rows:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [["run", "result", "claim", "measured", "verdict"], *rows]
        )
        lost = written(out / "sweep.csv", text.getvalue())
        print(lost or f"every claim: {out / 'sweep.csv'}", file=sys.stderr if lost else sys.stdout)


def _report_progress(
    done: int, total: int, job: Job, outcome: Outcome, word: str, error: str | None, clock: Clock
) -> None:
    """One line a chapter behind a bar; the error of a failed one, shortened, below it."""
    bar = ("#" * (20 * done // total)).ljust(20, ".")
    line = (
        f"[{bar}] {done}/{total} {clock.progress()}  {word} {job.label} ({outcome.seconds:.1f} s)"
    )
    print(line, flush=True)
    if error:
        lines = error.splitlines()
        shown = lines if len(lines) < 30 else [*lines[:6], "...", *lines[-20:]]
        print("    " + "\n    ".join(shown), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
