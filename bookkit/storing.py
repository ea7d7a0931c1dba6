"""Storing a run: its notebook with its key, its tables, or the reason why it failed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

from bookkit import key
from bookkit.execution import Outcome, with_text_of
from bookkit.jobs import Job, plain_head, stale
from bookkit.results import write_atomically


def store(job: Job, outcome: Outcome, plain: bool) -> str | None:
    """Write the notebook where it belongs, or the failed one beside the logs; the error, if any.

    A chapter's own error comes first. Each file that could not be written is named, with where it
    stands instead. Without its tables a run is not done, and its notebook replaces no other.
    """
    head = f"{plain_head(job)}\n" if plain else ""
    logs = job.chapter.root / "_build" / "logs"
    kept = logs if outcome.error or job.keep is None else job.keep
    lost = [written(kept / name, text) for name, text in outcome.files.items()]
    if outcome.error is None:
        if any(lost):
            new = _stand_in(job.target, head + outcome.text)
            lost.append(f"the new {job.target.name} is {new}")
        else:
            lost.append(written(job.target, head + outcome.text))
            if job.in_the_book and not lost[-1]:
                lost.append(_with_its_key(job, outcome.text))
        return "\n".join(filter(None, lost)) or None
    log = logs / job.target.relative_to(job.target.parents[1])
    cause = log.with_suffix(".error.txt")
    with contextlib.suppress(OSError):
        log.unlink(missing_ok=True)
    lost.append(written(cause, outcome.error + "\n"))
    if outcome.text:
        lost.append(written(log, outcome.text))
    if not lost[-1]:
        lost.append(f"the failed run: {log if outcome.text else cause}")
    return "\n".join((outcome.error, *filter(None, lost)))


def _with_its_key(job: Job, notebook: str) -> str:
    """Keep what a stored notebook was executed from; what to say of it, "" if all is well."""
    try:
        key.store(job.chapter.name, job.chapter.root, job.pieces, notebook)
    except OSError as error:
        return f"{key.LOCK} could not be written ({error.strerror}): {job.label} stays stale"
    return ""


def written(path: Path, text: str) -> str:
    """Write a file, or a stand-in for it; what to say of it, "" if all is well."""
    try:
        write_atomically(path, text)
    except OSError as error:
        old = "; the old one is untouched" if path.exists() else ""
        new = f"; the new one is {_stand_in(path, text)}"
        return f"{path} could not be written ({error.strerror}){old}{new}"
    return ""


def _stand_in(path: Path, text: str) -> str:
    """A file of the same name in a folder for temporary files; where it is, in words."""
    folder = tempfile.mkdtemp(prefix="not-stored-")
    try:
        Path(folder, path.name).write_text(text, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"lost, as {tempfile.gettempdir()} could not be written either ({error.strerror})"
    return str(Path(folder, path.name))


def must_run(job: Job, plain: bool) -> bool:
    """Whether a job has to be executed; if only its text changed, that is taken over."""
    if stale(job, plain):
        return True
    if plain or not key.has_stale_text(job.chapter.name, job.chapter.root, job.target, job.pieces):
        return False
    if not take_over_text(job):
        return True
    print(f"text taken over: {job.label}", flush=True)
    return False


def take_over_text(job: Job) -> bool:
    """Put the source's prose, comments and captions into the notebook, without a run.

    Of a notebook that is stale in other ways too, these stay as they are.

    Returns:
        False, and nothing is done, if the code of a cell is not what was executed.
    """
    chapter = job.chapter
    entry = key.entry_of(chapter.name, chapter.root, job.target)
    if entry is None or entry["code"] != job.pieces["code"]:
        return False
    entry = {k: v for k, v in entry.items() if k != key.NOTEBOOK} | {key.TEXT: job.pieces[key.TEXT]}
    text = with_text_of(chapter.text, job.target, None if job.in_the_book else entry)
    if text is None:
        return False
    write_atomically(job.target, text)
    if job.in_the_book:
        key.store(chapter.name, chapter.root, entry, text)
    return True
