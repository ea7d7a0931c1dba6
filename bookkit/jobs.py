"""The runner's list of jobs: executions, what each of them needs, and the time that is left."""

from __future__ import annotations

import functools
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookkit import key
from bookkit.chapters import Chapter
from bookkit.key import Pieces
from bookkit.parameters import ChapterError

_CHECKPOINT = re.compile(r"\bcheckpoint\(")
_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h)")


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
        place = self.chapter.root / "_build/checkpoints" / self.chapter.name / self.key
        return {
            "chapter": self.chapter.name,
            "parameters": dict(self.parameters),
            "command": "python -m bookkit.run " + shlex.join(sys.argv[1:]),
            "key": self.key,
            "checkpoints": str(place),
        }

    @functools.cached_property
    def pieces(self) -> Pieces:
        """All that the execution depends on, as it was when first asked for."""
        return self.chapter.pieces(self.parameters, keeps=self.keep is not None)

    @property
    def key(self) -> str:
        """One hash of it."""
        return key.combined(self.pieces)

    @property
    def in_the_book(self) -> bool:
        """Whether it makes the notebook of the book itself."""
        return self.target == self.chapter.notebook.absolute()

    @property
    def seconds(self) -> float | None:
        """What it takes by the records; None if they do not tell."""
        kept = self.keep is not None
        return (self.chapter.stored_seconds if kept else None) or self.chapter.seconds

    @property
    def can_pause(self) -> bool:
        """Whether it keeps checkpoints, so that it may be begun without the time to end."""
        return self.keep is not None and bool(_CHECKPOINT.search(self.chapter.text))


class Clock:
    """What a call may take, and what it will.

    Args:
        jobs: All that is to be done.
        budget: Seconds; None: without limit.
    """

    def __init__(self, jobs: Sequence[Job], budget: float | None = None) -> None:
        self.began, self.budget = time.time(), budget
        self.started = time.monotonic()  # a clock that is set anew changes no duration
        self.left = {job.target: job.seconds for job in jobs}
        self.done = 0.0  # seconds that the records have for what is done

    @property
    def deadline(self) -> float | None:
        """When runs with checkpoints stop, in seconds since 1970."""
        return None if self.budget is None else self.began + self.budget

    def allows(self, job: Job) -> bool:
        """Whether the job may be begun: there is time for it, or until its first checkpoint."""
        if self.deadline is None:
            return True
        needed = 0.0 if job.can_pause else job.seconds or 0.0
        return time.time() + needed < self.deadline

    def take(self, job: Job) -> None:
        """Count a job that has come to its end."""
        self.done += self.left.pop(job.target) or 0.0

    def progress(self) -> str:
        """Time that has passed, and what is left if all goes on at this pace."""
        passed, rest = time.monotonic() - self.started, list(self.left.values())
        if not rest or not self.done or None in rest:
            return f"{passed:5.0f} s"
        left = passed * sum(filter(None, rest)) / self.done
        end = time.strftime("%H:%M", time.localtime(time.time() + left))
        return f"{passed:5.0f} s, ends about {end}"


def stale(job: Job, plain: bool = False) -> list[str]:
    """Why the target does not hold this very execution; nothing if it does."""
    if not plain:
        return key.stale(job.chapter.name, job.chapter.root, job.target, job.pieces)
    if not job.target.is_file():
        return ["never executed"]
    text = job.target.read_text(encoding="utf-8", errors="replace")
    return [] if text.partition("\n")[0] == plain_head(job) else ["its inputs changed"]


def report_stale(jobs: Sequence[Job], plain: bool) -> int:
    """Say which of the targets are not those of their inputs, and why; 1 if any."""
    lines = []
    for job in jobs:
        if reasons := stale(job, plain):
            lines.append(f"stale: {job.label} ({key.shortened(reasons)})")
        elif not plain and key.has_stale_text(
            job.chapter.name, job.chapter.root, job.target, job.pieces
        ):
            lines.append(f"stale text: {job.label}")
    print("\n".join(lines) or "every chapter is current")
    return int(bool(lines))


def plain_head(job: Job) -> str:
    """First line of a plain run's log: which execution it is."""
    return f"# {job.label} key={job.key}"


def seconds(budget: str | None) -> float | None:
    """A time such as 90s, 45min or 2h, in seconds."""
    if budget is None:
        return None
    found = _BUDGET.fullmatch(budget.strip())
    if not found or not float(found[1]):
        raise ChapterError(
            f"--budget wants a time above 0 such as 90s, 45min or 2h, got {budget!r}"
        )
    return float(found[1]) * {"s": 1, "min": 60, "h": 3600}[found[2]]


def require_device(name: str | None, *, here: bool) -> None:
    """Refuse a device that torch does not know or, for a run on this machine, that it has not."""
    if name is None:
        return
    import torch

    try:
        kind = torch.device(name).type
    except RuntimeError:
        raise ChapterError(f"--device wants a device such as cpu or cuda, got {name!r}") from None
    there = kind == "cpu" or (kind == "cuda" and torch.cuda.is_available())
    if here and not there and not os.environ.get("DASK_SCHEDULER_ADDRESS"):
        raise ChapterError(f"--device {name} is not on this machine")


def require_elsewhere(out: str, root: Path) -> None:
    """Refuse a folder that is none, or is the book itself."""
    if not out.strip():
        raise ChapterError("--out wants the name of a folder, got an empty one")
    folder = Path(out).resolve()
    for part, words in (("book", "the book"), ("results", "the results of the book")):
        whole = (root / part).resolve()
        if folder == whole or whole in folder.parents:
            raise ChapterError(
                f"--out {out} lies in {words}, which other parameters must not change"
            )


def require_writable(targets: Iterable[Path]) -> None:
    """Refuse, before the long work, a target that could not be written after it."""
    for target in targets:
        longest = 230  # of 255 bytes; a neighbour with a longer name is written first
        if len(target.name.encode()) > longest:
            raise ChapterError(f"the name of a file is too long, shorten the value: {target.name}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target.parent):
                pass
            if target.is_dir():
                raise IsADirectoryError(21, "a folder of this name is there")
        except OSError as error:
            raise ChapterError(f"{target} could not be written: {error.strerror}") from None
