"""Execute chapters: ``python -m helpers.run [CHAPTER ...]``.

Without options, executes the chapters whose content key does not match, over Dask, and stores each
notebook as it arrives; a killed run, started again, executes only what is missing. Parameters are
checked before any kernel starts. DASK_SCHEDULER_ADDRESS names a cluster to use in place of a local
one.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import as_completed as completed_threads
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.book.chapters import (
    ROOT,
    Chapter,
    ChapterError,
    Parameter,
    every_chapter,
    find,
    helpers_key,
)
from helpers.book.execution import Outcome, execute_notebook, execute_plainly
from helpers.book.results import RESULTS, write_atomically

LOGS = ROOT / "_build" / "logs"


@dataclass(frozen=True)
class Job:
    """One execution: a chapter, the parameters that differ from its own, and where it goes."""

    chapter: Chapter
    parameters: Mapping[str, Any]
    target: Path
    keep: Path | None = None

    @property
    def label(self) -> str:
        """Chapter and parameters, for the report."""
        return " ".join((self.chapter.name, *(f"{k}={v}" for k, v in self.parameters.items())))

    @property
    def run(self) -> dict[str, Any] | None:
        """What the chapter's tables say of how they were made, if they are kept."""
        if self.keep is None:
            return None
        return {
            "chapter": self.chapter.name,
            "parameters": dict(self.parameters),
            "command": "python -m helpers.run " + shlex.join(sys.argv[1:]),
            "key": self.chapter.key(self.parameters),
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 if a chapter failed, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        jobs = plan(options)
        stale = [job for job in jobs if options.force or not is_done(job, options.plain)]
        if options.check:
            print("\n".join(f"stale: {job.label}" for job in stale) or "every chapter is current")
            return int(bool(stale))
        if not stale:
            print(f"{len(jobs)} current, nothing to execute")
            return 0
        return carry_out(stale, options)
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; what finished is stored, run again for the rest", file=sys.stderr)
        return 130


def plan(options: argparse.Namespace) -> list[Job]:
    """The jobs that the options ask for; every name and value is checked here."""
    if options.jobs < 1:
        raise ChapterError(f"--jobs must be at least 1, got {options.jobs}")
    chapters = [find(name) for name in options.chapters] or every_chapter()
    if options.preset and not options.chapters:
        chapters = [c for c in chapters if c.preset.exists()]
        if not chapters:
            raise ChapterError("no chapter has parameters at the paper's scale")
    if options.parameter and not options.chapters:
        raise ChapterError("-p needs the chapters that it is for")
    changed = bool(options.parameter or options.preset)
    if options.parameter and not (options.out or options.plain or options.check):
        raise ChapterError("-p changes what a page says: give --out DIR for the notebooks")
    default = ROOT / "_build" / ("paper" if options.preset else "plain")
    out = options.out or (default if changed or options.plain else None)
    keep = _where_to_keep(options, out)
    jobs = []
    for chapter in chapters:
        base = chapter.with_preset() if options.preset else {}
        grid = list(_grid(chapter, options.parameter))
        for point in grid:
            suffix = "".join(f".{k}={v}" for k, v in point.items()) if len(grid) > 1 else ""
            name = f"{chapter.name}{suffix.replace('/', '_').replace(' ', '')}"
            kind = ".log" if options.plain else ".ipynb"
            target = chapter.notebook if out is None else out / f"{name}{kind}"
            folder = keep / name if keep and suffix else keep
            jobs.append(Job(chapter, base | point, target.absolute(), folder))
    return jobs


def is_done(job: Job, plain: bool = False) -> bool:
    """Whether the target holds this very execution."""
    if plain:
        first = (
            job.target.read_text(encoding="utf-8").partition("\n")[0] if job.target.exists() else ""
        )
        return first == _plain_head(job)
    return job.chapter.is_current(job.target, job.parameters)


def carry_out(jobs: Sequence[Job], options: argparse.Namespace) -> int:
    """Execute the jobs, store each as it arrives, report; 1 if any failed."""
    print(f"executing {len(jobs)}, {min(options.jobs, len(jobs))} at once", flush=True)
    outcomes = _plainly(jobs, options.jobs) if options.plain else _over_dask(jobs, options.jobs)
    failed = []
    started = time.monotonic()
    for done, (job, outcome) in enumerate(outcomes, 1):
        error = _store(job, outcome, options.plain)
        if error:
            failed.append(job)
        _say(done, len(jobs), job, outcome, error, time.monotonic() - started)
    print(f"{len(jobs) - len(failed)} executed, {len(failed)} failed")
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m helpers.run", description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="default: all")
    parser.add_argument(
        "-p",
        dest="parameter",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="set a parameter; VALUE V1,V2,... sweeps over several",
    )
    parser.add_argument("--preset", choices=["paper"], help="parameters at the paper's scale")
    parser.add_argument("--jobs", type=int, default=2, help="kernels at once (2)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write here, not into the book")
    parser.add_argument("--force", action="store_true", help="execute current ones too")
    parser.add_argument("--check", action="store_true", help="only say which are stale")
    parser.add_argument("--plain", action="store_true", help="run as scripts, without Jupyter")
    return parser


def _where_to_keep(options: argparse.Namespace, out: Path | None) -> Path | None:
    """Folder for the tables that chapters save; None if this run keeps none."""
    if options.preset and options.out is None:
        return RESULTS
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


def _over_dask(jobs: Sequence[Job], workers: int) -> Iterator[tuple[Job, Outcome]]:
    """Map the jobs over a cluster; a task whose worker dies is run again."""
    import dask
    from distributed import Client, LocalCluster, as_completed

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    settings = {
        "distributed.worker.daemon": False,
        "distributed.scheduler.allowed-failures": 3,
        "distributed.comm.timeouts.connect": "20s",
        "distributed.admin.log-format": "%(message)s",
    }
    with tempfile.TemporaryDirectory(prefix="dask-") as scratch, dask.config.set(settings):
        if address:
            try:
                client = Client(address, timeout=20)
            except OSError as error:
                raise ChapterError(f"no Dask scheduler answers at {address}: {error}") from None
        else:
            cluster = LocalCluster(
                n_workers=min(workers, len(jobs)),
                threads_per_worker=1,
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # two runs at once
                memory_limit=0,
                local_directory=scratch,
                silence_logs=50,
            )
            client = Client(cluster)
        with client:
            futures = {
                client.submit(
                    execute_notebook,
                    job.chapter.name,
                    job.chapter.text,
                    dict(job.parameters),
                    job.chapter.key(job.parameters),
                    helpers_key(job.chapter.text),
                    job.run,
                    pure=False,
                    key=f"{job.label} {i}",
                ): job
                for i, job in enumerate(jobs)
            }
            for future in as_completed(list(futures)):
                lost = future.exception()
                outcome = Outcome("", f"worker: {lost}", 0.0) if lost else future.result()
                yield futures[future], outcome
        if not address:
            cluster.close()


def _plainly(jobs: Sequence[Job], workers: int) -> Iterator[tuple[Job, Outcome]]:
    with ThreadPoolExecutor(workers) as pool:
        futures = {
            pool.submit(
                execute_plainly, job.chapter.name, job.chapter.text, job.parameters, job.run
            ): job
            for job in jobs
        }
        for future in completed_threads(futures):
            yield futures[future], future.result()


def _store(job: Job, outcome: Outcome, plain: bool) -> str | None:
    """Write the notebook where it belongs, or the failed one beside the logs; the error, if any."""
    head = f"{_plain_head(job)}\n" if plain else ""
    log = LOGS / job.target.relative_to(job.target.parents[1])
    try:
        for name, text in outcome.files.items():
            kept = LOGS if outcome.error or job.keep is None else job.keep
            write_atomically(kept / name, text)
        if outcome.error is None:
            write_atomically(job.target, head + outcome.text)
            return None
        if outcome.text:
            write_atomically(log, outcome.text)
        write_atomically(log.with_suffix(".error.txt"), outcome.error + "\n")
    except OSError as error:
        return f"{job.target} could not be written ({error.strerror}); the old one is untouched"
    return f"{outcome.error}\nthe failed run: {log}"


def _plain_head(job: Job) -> str:
    return f"# {job.label} key={job.chapter.key(job.parameters)}"


def _say(
    done: int, total: int, job: Job, outcome: Outcome, error: str | None, since: float
) -> None:
    """One line a chapter behind a bar; the error of a failed one, shortened, below it."""
    bar = ("#" * (20 * done // total)).ljust(20, ".")
    word = "FAILED" if error else "done"
    line = f"[{bar}] {done}/{total} {since:5.0f} s  {word} {job.label} ({outcome.seconds:.1f} s)"
    print(line, flush=True)
    if error:
        lines = error.splitlines()
        shown = lines if len(lines) < 30 else [*lines[:6], "...", *lines[-20:]]
        print("    " + "\n    ".join(shown), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
