"""Paper-scale results: a CSV beside a JSON that says how it was made.

A chapter calls :func:`save` where its runs are done. It writes only under the runner, when a run is
meant to be kept (``python -m bookkit.run --preset paper`` or ``--plain``), and does nothing
otherwise. The page draws what :func:`load` finds, with :meth:`Table.show_provenance` under it.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookkit.output import display

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
Value = float | int | str
_STARTED = time.time()


@dataclass(frozen=True)
class Table:
    """A stored result.

    Attributes:
        columns: Name to values, all of one length; numbers where they parse as numbers.
        provenance: Chapter, parameters, command, device, commit, versions, date, seconds, and the
            number of rows and the hash of the CSV.
    """

    columns: dict[str, list[Any]]
    provenance: dict[str, Any]

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def provenance_line(self) -> str:
        """One sentence for the page: what ran where, when, for how long."""
        p = self.provenance | {"command": self.provenance["command"].replace("`", "'")}
        changed = " with changes not committed" if p["commit"].endswith("-dirty") else ""
        return (
            f"Stored run of {p['date']} on {p['device']}: {p['seconds']:.0f} s, "
            f"commit {p['commit'][:10]}{changed}, torch {p['versions']['torch']}; `{p['command']}`."
        )

    def show_provenance(self) -> None:
        """Show :meth:`provenance_line` on the page."""
        line = self.provenance_line()
        display({"text/markdown": line, "text/plain": line})


def save(name: str, columns: Mapping[str, Sequence[Value]]) -> Path | None:
    """Store a table of the chapter being run, if this run is to be kept.

    Args:
        name: Of the table within the chapter, such as ``"seeds"``; letters, digits, underscores.
        columns: Name to values, all of one length.

    Returns:
        Path of the CSV, or None when nothing is kept.

    Raises:
        ValueError: columns of different lengths, or a bad name.
    """
    if not name.isidentifier():
        raise ValueError(f"a table's name holds letters, digits and underscores, got {name!r}")
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"columns must have one length, got {lengths}")
    run = json.loads(os.environ.get("BOOK_RUN") or "null")
    if run is None:
        return None
    path = Path(run["folder"]) / f"{run['chapter']}.{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = zip(*columns.values(), strict=True)
    text = _csv([list(columns), *map(list, rows)])
    write_atomically(path, text)
    made = _provenance(run) | fingerprint(text)
    write_atomically(path.with_suffix(".json"), json.dumps(made, indent=1) + "\n")
    return path


def load(chapter: str, name: str, folder: Path = RESULTS) -> Table | None:
    """Read a stored table; None if it was never run.

    Raises:
        ValueError: the CSV has no provenance beside it, or is not the table that it tells of.
    """
    path = folder / f"{chapter}.{name}.csv"
    if not path.exists():
        return None
    beside = path.with_suffix(".json")
    if not beside.exists():
        raise ValueError(f"{path} has no {beside.name} beside it to say how it was made")
    try:
        provenance = json.loads(beside.read_text(encoding="utf-8"))
        wanted = {key: provenance[key] for key in ("rows", "sha256")}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{beside} is damaged: it does not tell the rows and the hash") from None
    try:
        found = fingerprint(path.read_text(encoding="utf-8", errors="replace"))
    except csv.Error as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if found != wanted:
        raise ValueError(
            f"{path} is damaged: {found['rows']} rows of {wanted['rows']}, hash "
            f"{found['sha256'][:8]} in place of {str(wanted['sha256'])[:8]}; restore it or run its "
            "chapter again"
        )
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    columns = {name: [_parse(row[i]) for row in rows] for i, name in enumerate(head)}
    return Table(columns, provenance)


def checkpoint(name: str) -> Path | None:
    """The file from which a part of this run goes on, if it was begun before and stopped.

    The runner gives every kept run a folder of its own by chapter, parameters and code, and deletes
    it when the run is stored; so no file is ever found by another run. None when nothing is kept,
    or where the folder cannot be made, as on a worker that shares no disk.

    Args:
        name: Of the part within the run, such as ``"20 bits"``.
    """
    run = json.loads(os.environ.get("BOOK_RUN") or "null")
    if run is None or not run.get("checkpoints"):
        return None
    folder = Path(run["checkpoints"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / f"{name.replace('/', '_')}.pt"


def fingerprint(text: str) -> dict[str, Any]:
    """Rows below the head of a CSV, and its hash, whatever ends its lines."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    rows = sum(1 for _ in csv.reader(io.StringIO(plain))) - 1
    return {"rows": rows, "sha256": hashlib.sha256(plain.encode()).hexdigest()}


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or nothing: into a neighbour first, then renamed over ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    neighbour = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with neighbour.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        neighbour.replace(path)
    finally:
        neighbour.unlink(missing_ok=True)


def _csv(rows: list[list[Value]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _parse(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _provenance(run: dict[str, Any]) -> dict[str, Any]:
    import torch

    named = torch.device(os.environ.get("BOOK_DEVICE") or "cpu")  # as helpers.training.train has it
    cuda = named.type == "cuda"
    device = torch.cuda.get_device_name(named) if cuda else f"{os.cpu_count()} CPU cores"
    return {
        **{key: run[key] for key in ("chapter", "parameters", "command", "key")},
        "device": device,
        "processor": platform.machine(),
        "commit": commit_of(ROOT),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": round(time.time() - _STARTED, 1),
        "versions": {"python": sys.version.split()[0], "torch": torch.__version__},
    }


def commit_of(root: Path) -> str:
    """Hash of the commit, with ``-dirty`` if files differ from it; "unknown" outside of git."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--match="]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
