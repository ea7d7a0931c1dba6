"""Chapters on a Dask cluster, where DASK_SCHEDULER_ADDRESS names one."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bookkit.execution import OtherCodeError, Outcome, code_for, execute_notebook
from bookkit.jobs import Clock, Job
from bookkit.parameters import ChapterError

_SETTINGS = {
    "distributed.scheduler.allowed-failures": 3,
    "distributed.comm.timeouts.connect": "20s",
    "distributed.admin.log-format": "%(message)s",
    # At its own, it takes a tenth of a core to watch what only waits.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}


def address() -> str:
    """Of the scheduler that is named; empty if none is."""
    return os.environ.get("DASK_SCHEDULER_ADDRESS", "")


@contextlib.contextmanager
def _client() -> Iterator[Any]:
    """A client of the cluster at :func:`address`; ChapterError if nothing answers there."""
    import dask
    from distributed import Client
    from distributed.utils import silence_logging_cmgr

    with dask.config.set(_SETTINGS), silence_logging_cmgr(logging.CRITICAL):
        try:
            client = Client(address(), timeout=20)
        except (OSError, ValueError) as error:
            raise ChapterError(f"no Dask scheduler answers at {address()}: {error}") from None
        with client:
            yield client


def executed_on_the_cluster(
    jobs: Sequence[Job], clock: Clock, variables: Mapping[str, str]
) -> Iterator[tuple[Job, Outcome]]:
    """Map the jobs over a cluster; a task whose worker dies, or has other code, goes to another.

    Only as many tasks are handed over as the cluster has threads: Dask would queue the others on
    the workers at once, and a chapter queued behind one of an hour waits for it while others idle.
    """
    from distributed import CancelledError, as_completed

    with _client() as client:
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
