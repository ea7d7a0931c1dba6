"""The Dask cluster that chapters are mapped over: the one that is named, or one of our own."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from bookkit.parameters import ChapterError


@contextlib.contextmanager
def cluster_client(workers: int) -> Iterator[Any]:
    """A client of the cluster that DASK_SCHEDULER_ADDRESS names, else of one made here.

    Args:
        workers: Processes of the cluster made here, one thread each.

    Raises:
        ChapterError: nothing answers at the address.
    """
    import dask
    from distributed import Client, LocalCluster
    from distributed.utils import silence_logging_cmgr

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")  # exported empty, it names none
    settings: dict[str, Any] = {
        "distributed.worker.daemon": False,
        "distributed.scheduler.allowed-failures": 3,
        "distributed.comm.timeouts.connect": "20s",
        "distributed.admin.log-format": "%(message)s",
    }
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="dask-", ignore_cleanup_errors=True)
        )
        settings["temporary-directory"] = scratch
        stack.enter_context(dask.config.set(settings))
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # of what is lost, we tell
        if not address:
            stack.enter_context(_silent_children())
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # two runs at once
                    memory_limit=0,
                    local_directory=scratch,
                    env={"TMPDIR": scratch},  # what a killed worker leaves goes with the folder
                    silence_logs=50,
                )
            )
            yield stack.enter_context(Client(cluster))
            return
        try:
            client = Client(address, timeout=20)
        except (OSError, ValueError) as error:
            raise ChapterError(f"no Dask scheduler answers at {address}: {error}") from None
        yield stack.enter_context(client)


@contextlib.contextmanager
def _silent_children() -> Iterator[None]:
    """Processes started inside tell nothing of their end: what failed comes as an outcome."""
    kept = os.dup(2)
    sink = os.open(os.devnull, os.O_WRONLY)
    own = sys.stderr
    try:
        os.dup2(sink, 2)
        encoding = getattr(own, "encoding", None) or "utf-8"
        sys.stderr = os.fdopen(os.dup(kept), "w", 1, encoding, errors="backslashreplace")
        yield
    finally:
        sys.stderr.close()
        sys.stderr = own
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)
