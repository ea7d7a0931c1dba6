"""What the runner is to do, and for how long: executions, budgets, and the time that is left."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.book.chapters import Chapter
from helpers.book.parameters import ChapterError

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
        key = self.chapter.key(self.parameters)
        return {
            "chapter": self.chapter.name,
            "parameters": dict(self.parameters),
            "command": "python -m helpers.run " + shlex.join(sys.argv[1:]),
            "key": key,
            "checkpoints": str(self.chapter.root / "_build/checkpoints" / self.chapter.name / key),
        }

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

    def tell(self) -> str:
        """Time that has passed, and what is left if all goes on at this pace."""
        passed, rest = time.time() - self.began, list(self.left.values())
        if not rest or not self.done or None in rest:
            return f"{passed:5.0f} s"
        left = passed * sum(filter(None, rest)) / self.done
        end = time.strftime("%H:%M", time.localtime(time.time() + left))
        return f"{passed:5.0f} s, ends about {end}"


def is_done(job: Job, plain: bool = False) -> bool:
    """Whether the target holds this very execution."""
    if plain:
        if not job.target.is_file():
            return False
        text = job.target.read_text(encoding="utf-8", errors="replace")
        return text.partition("\n")[0] == plain_head(job)
    return job.chapter.is_current(job.target, job.parameters)


def plain_head(job: Job) -> str:
    """First line of a plain run's log: which execution it is."""
    return f"# {job.label} key={job.chapter.key(job.parameters)}"


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
