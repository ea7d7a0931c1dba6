"""A file from which a run that was stopped goes on: tensors and numbers, no code in it is run."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from helpers.training.batches import Batches, Resumable

FORMAT = 1
EVERY = 60.0
"""Seconds between two writings of a file."""
LEFT_BEHIND = 3600.0
"""Age in seconds from which a half-written neighbour is that of a process that was killed."""
DEADLINE = "BOOK_DEADLINE"
"""In the environment, when runs with a file stop: seconds since 1970; the runner sets it."""


class Paused(Exception):  # noqa: N818  what was asked for, no error
    """Time was up: the run is in its file, and the next call goes on from there."""


class CheckpointError(ValueError):
    """A file that this run cannot go on from; says why."""


class Stateful(Protocol):
    """A run that can be saved and taken up again."""

    def state(self) -> dict[str, Any]:
        """All of it that changes, in plain tensors, numbers and words."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""


class Checkpoint:
    """The file of one run.

    Args:
        path: The file; its folder is made if need be.
        settings: What the run must share with the one that goes on, as numbers and words.
        run: What is saved.
        batch: Its batches, which are saved too.

    Raises:
        ValueError: batches without a state.
        CheckpointError: a file that could not be written, before the work that would be lost.
    """

    def __init__(
        self, path: Path, settings: Mapping[str, Any], run: Stateful, batch: Batches
    ) -> None:
        if not isinstance(batch, Resumable):
            raise ValueError(
                "a checkpoint needs batches with state() and restore(), such as those of "
                f"helpers.training.batches: what {batch!r} would give next cannot be saved"
            )
        self.path, self.run = Path(path), run
        _require_writable(self.path)
        self.source: Resumable = batch
        self.settings = {**settings, "torch": str(torch.__version__)}
        self.probe = torch.empty(0)
        self.written = time.monotonic()

    def resume(self, probe: Tensor) -> None:
        """Go on from the file, if there is one.

        Args:
            probe: Numbers that come out as they did, up to rounding, if this is the same run.

        Raises:
            CheckpointError: the file is damaged, or of another run; names what differs.
        """
        self.probe = probe.double().cpu()
        found = read(self.path, self.settings)
        if found is None:
            return
        theirs = found["probe"]
        if theirs.shape != self.probe.shape or not torch.allclose(
            theirs, self.probe, rtol=1e-3, equal_nan=True
        ):
            raise CheckpointError(
                f"{self.path} is of another run: its model, loss or data differ, for the first "
                f"losses there are {theirs.tolist()}, here {self.probe.tolist()}"
            )
        self.run.restore(found["run"])
        self.source.restore(found["batch"])

    def write_if_due(self) -> None:
        """Write the file, if the time has come; Paused if no time is left at all."""
        late = time_is_up()
        if late or time.monotonic() - self.written >= EVERY:
            self.write()
        if late:
            raise Paused(f"time is up, {self.path} holds the run; call again to go on")

    def write(self) -> None:
        """Write the file now."""
        state = {"probe": self.probe, "run": self.run.state(), "batch": self.source.state()}
        write(self.path, self.settings, state)
        self.written = time.monotonic()


def time_is_up() -> bool:
    """Whether the moment that :data:`DEADLINE` names has passed; never if it names none."""
    named = os.environ.get(DEADLINE) or "inf"
    try:
        return time.time() >= float(named)
    except ValueError:
        raise ValueError(f"{DEADLINE} must be seconds since 1970, got {named!r}") from None


def write(path: Path, settings: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Write the whole file or nothing: into a neighbour first, then renamed over ``path``.

    The neighbour is of this process alone, so that two that train the same run do not mix.

    Args:
        path: The file; its folder is made if need be.
        settings: What the run must share with the one that goes on, as numbers and words.
        run: Its state: tensors, numbers and words in dicts and lists.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    neighbour = _neighbour(path)
    try:
        with neighbour.open("wb") as file:
            content = {"format": FORMAT, "settings": _text(settings), "run": dict(run)}
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        neighbour.replace(path)
    finally:
        neighbour.unlink(missing_ok=True)
    for other in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):  # another process may be as quick
            if time.time() - other.stat().st_mtime > LEFT_BEHIND:
                other.unlink()


def read(path: Path, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The state of the run in the file; None if there is no file.

    Raises:
        CheckpointError: the file is damaged, or of another run; names what differs.
    """
    if not path.exists():
        return None
    if path.is_dir():
        raise CheckpointError(
            f"{path} is a folder; a checkpoint is a file, such as {path / 'run.pt'}"
        )
    try:
        with zipfile.ZipFile(path) as parts:
            damaged = parts.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"the checksum of {damaged} does not match")
        found = torch.load(path, map_location="cpu", weights_only=True)
        version, run, saved = found["format"], found["run"], json.loads(found["settings"])
        if not (isinstance(run, dict) and isinstance(saved, dict)):
            raise TypeError("its run and its settings are no dictionaries")
    except Exception as error:  # a damaged file can fail in any of torch's ways
        raise CheckpointError(f"{path} is no whole checkpoint, delete it: {error}") from error
    if version != FORMAT:
        raise CheckpointError(f"{path} has format {version}, this program reads {FORMAT}")
    now = json.loads(_text(settings))
    for name in sorted({*saved, *now}):
        theirs, ours = saved.get(name), now.get(name)
        if theirs != ours:
            raise CheckpointError(
                f"{path} is of another run: its {name} is {theirs}, here it is {ours}"
            )
    return run


def _require_writable(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise CheckpointError(f"{path} could not be written: {error.strerror}") from error


def _text(settings: Mapping[str, Any]) -> str:
    return json.dumps(dict(settings), default=float)  # numpy's numbers become plain ones


def _neighbour(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
