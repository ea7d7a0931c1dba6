"""Execute chapters: ``python -m bookkit.run [CHAPTER ...]``.

Without options, executes the chapters whose key does not match, over Dask, and stores each
notebook as it arrives; a killed run, started again, executes only what is missing. Parameters are
checked before any kernel starts. A run that is to be kept goes on from its last checkpoint, after a
kill or when --budget was over. DASK_SCHEDULER_ADDRESS names a cluster to use in place of a local
one. The book is the one that --book names, else the one around the current folder. In a folder
that has a package helpers of its own, python -P -m bookkit.run finds this one.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import itertools
import os
import re
import shutil
import signal
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import as_completed as completed_threads
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from bookkit.chapters import Chapter, every_chapter, find, read_record, record_of
from bookkit.cluster import cluster_client
from bookkit.execution import (
    OtherCodeError,
    Outcome,
    code_for,
    end_all,
    execute_notebook,
    execute_plainly,
)
from bookkit.jobs import (
    Clock,
    Job,
    require_device,
    require_elsewhere,
    require_writable,
    seconds,
    stale,
    tell_stale,
)
from bookkit.output import print_anywhere
from bookkit.parameters import ChapterError, Parameter
from bookkit.place import PACKAGE, found
from bookkit.storing import must_run, store, written

_PAUSED = re.compile(r"^(?:cell \[\d+\]: |helpers\.training\.checkpoints\.)Paused: ", re.MULTILINE)
STOPPED = 130
"""Exit status after an interrupt, as shells have it."""
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
"""For Dask: at its own, runner and workers take a tenth of a core to watch what only waits."""


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
            return tell_stale(jobs, options.plain)
        todo = [job for job in jobs if options.force or must_run(job, options.plain)]
        if not todo:
            print(f"{len(jobs)} current, nothing to execute")
            return 0
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
    print(f"executing {len(jobs)}, {min(options.jobs, len(jobs))} at once", flush=True)
    clock = Clock(jobs, seconds(options.budget))
    variables = {"BOOK_DEVICE": options.device} if options.device else {}
    if clock.deadline is not None:
        variables["BOOK_DEADLINE"] = str(clock.deadline)
    execute = _plainly if options.plain else _over_dask
    failed, paused, done = [], [], 0
    for done, (job, outcome) in enumerate(execute(jobs, options.jobs, clock, variables), 1):
        clock.take(job)
        if outcome.error and _PAUSED.search(outcome.error):
            paused.append(job)
            _say(done, len(jobs), job, outcome, "paused", None, clock)
            continue
        kept = job.run
        outcome = _own(job, outcome)
        error = store(job, outcome, options.plain)
        if error:
            failed.append(job)
        elif kept:
            shutil.rmtree(kept["checkpoints"], ignore_errors=True)
        _say(done, len(jobs), job, outcome, "FAILED" if error else "done", error, clock)
    told = f"{done - len(failed) - len(paused)} executed, {len(failed)} failed"
    if options.budget or paused:
        told += f", {len(paused)} paused, {len(jobs) - done} not begun"
        told += "; run again to go on" if len(jobs) > done or paused else ""
    print(told)
    if options.parameter and options.out and not options.plain:
        _tell_sweep(plan(options), Path(options.out))
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
    parser.add_argument("--plain", action="store_true", help="run as scripts, without Jupyter")
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
    root = found() if named is None else Path(named).absolute()
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


def _over_dask(
    jobs: Sequence[Job], workers: int, clock: Clock, variables: Mapping[str, str]
) -> Iterator[tuple[Job, Outcome]]:
    """Map the jobs over a cluster; a task whose worker dies, or has other code, goes to another.

    Only as many tasks are handed over as the cluster has threads: Dask would queue the others on
    the workers at once, and a chapter queued behind one of an hour waits for it while others idle.
    """
    import dask
    from distributed import CancelledError, as_completed

    with dask.config.set(_QUIET), cluster_client(min(workers, len(jobs))) as client:
        unfit: set[str] = set()
        waiting = deque(enumerate(jobs))
        futures: dict[Any, tuple[int, Job]] = {}
        arriving, attempt = as_completed([]), itertools.count()

        def submit(i: int, job: Job, where: Sequence[str] | None = None) -> None:
            future = client.submit(
                execute_notebook,
                job.chapter.name,
                job.chapter.text,
                dict(job.parameters),
                None if job.in_the_book else job.pieces,
                code_for(job.chapter.text),
                job.run,
                str(job.chapter.root),
                dict(variables),
                pure=False,
                key=f"{job.label} {i} {next(attempt)}",  # Dask takes the same key for the same task
                workers=where,
            )
            futures[future] = i, job
            arriving.add(future)

        def fill() -> None:
            fit = {k: n for k, n in client.nthreads().items() if k not in unfit}
            while waiting and len(futures) < max(sum(fit.values()), 1):
                i, job = waiting.popleft()
                if clock.allows(job):
                    submit(i, job, sorted(fit) if unfit and fit else None)

        fill()
        for future in arriving:
            i, job = futures.pop(future)
            try:
                lost = future.exception()
                outcome = Outcome("", f"worker: {lost}", 0.0) if lost else future.result()
                if isinstance(lost, OtherCodeError):
                    unfit.add(lost.args[1])
                    fit = sorted(set(client.nthreads()) - unfit)
                    if fit:
                        submit(i, job, fit)
                        continue
                fill()
            except (CancelledError, OSError) as error:
                raise ChapterError(
                    "the Dask scheduler is gone; what finished is stored, run again for the rest "
                    f"({type(error).__name__})"
                ) from None
            yield job, outcome


def _plainly(
    jobs: Sequence[Job], workers: int, clock: Clock, variables: Mapping[str, str]
) -> Iterator[tuple[Job, Outcome]]:
    def execute(job: Job) -> Outcome | None:
        if not clock.allows(job):
            return None
        chapter = job.chapter
        given = chapter.name, chapter.text, job.parameters, job.run, str(chapter.root), variables
        return execute_plainly(*given)

    pool = ThreadPoolExecutor(workers)
    futures = {pool.submit(execute, job): job for job in jobs}
    try:
        for future in completed_threads(futures):
            outcome = future.result()
            if outcome is not None:
                yield futures[future], outcome
    except BaseException:  # an interrupt waits for nothing
        end_all()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _own(job: Job, outcome: Outcome) -> Outcome:
    """The outcome, as a failure where its ledger names another chapter."""
    record = None if outcome.error else record_of(outcome.text)
    if record is None or record["chapter"] == job.chapter.name:
        return outcome
    wrong = f'its ledger is that of {record["chapter"]}: write Ledger("{job.chapter.name}")'
    return replace(outcome, error=wrong)


def _tell_sweep(jobs: Sequence[Job], out: Path) -> None:
    """A table of parameters by verdicts, and every claim of the sweep as a CSV."""
    rows: list[list[str]] = []
    for job in jobs:
        if stale(job):
            continue
        claims = (read_record(job.target) or {}).get("claims", [])
        kinds = Counter(claim["verdict"] for claim in claims)
        told = ", ".join(f"{n} {verdict}" for verdict, n in sorted(kinds.items()))
        print(f"  {job.label}: {told or 'no claims'}")
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


def _say(
    done: int, total: int, job: Job, outcome: Outcome, word: str, error: str | None, clock: Clock
) -> None:
    """One line a chapter behind a bar; the error of a failed one, shortened, below it."""
    bar = ("#" * (20 * done // total)).ljust(20, ".")
    line = f"[{bar}] {done}/{total} {clock.tell()}  {word} {job.label} ({outcome.seconds:.1f} s)"
    print(line, flush=True)
    if error:
        lines = error.splitlines()
        shown = lines if len(lines) < 30 else [*lines[:6], "...", *lines[-20:]]
        print("    " + "\n    ".join(shown), file=sys.stderr, flush=True)


def _exit(status: int) -> NoReturn:
    """Leave; after an interrupt in silence, as a cluster half made would tell of its end."""
    if status == STOPPED:
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(status)


if __name__ == "__main__":
    _exit(main())
