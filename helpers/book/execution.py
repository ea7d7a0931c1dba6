"""Execute one chapter: as a notebook by papermill, or plainly as the script that it is.

Both take the source as text, so that a worker on another machine needs only the installed package.
``python -m helpers.book.execution`` is the plain form's own process.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers.book.chapters import helpers_key, parameters_span

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_KEPT_CELL_METADATA = ("tags", "mystnb")


@dataclass(frozen=True)
class Outcome:
    """What came of one execution.

    Attributes:
        text: The executed notebook as JSON, up to the failing cell if one failed; a plain run's
            printed output.
        error: None, or the failing cell and its error.
        seconds: Wall time.
        files: Tables and records that the chapter saved, by path; they travel in the outcome,
            because the process that ran may share no disk with the one that asked.
    """

    text: str
    error: str | None
    seconds: float
    files: Mapping[str, str] = field(default_factory=dict)


def execute_notebook(
    name: str,
    source: str,
    parameters: Mapping[str, Any],
    key: str,
    helpers: str,
    run: Mapping[str, Any] | None = None,
) -> Outcome:
    """Execute a py:percent source by papermill, in a temporary folder, on this machine.

    Args:
        name: Of the chapter.
        source: Its text.
        parameters: Values that differ from the chapter's own.
        key: Content key to leave in the metadata.
        helpers: Hash of the helper modules reached, as the caller sees them; a worker with other
            modules refuses.
        run: What :func:`helpers.book.results.save` tells of the run, if its tables are to be kept.

    Returns:
        The notebook without timing metadata, with stable cell ids.
    """
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    if helpers_key(source) != helpers:
        raise RuntimeError(f"{name}: this worker's helpers differ from the caller's; update them")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chapter-") as folder, _environment(run, folder):
        path = Path(folder) / "chapter.ipynb"
        nbformat.write(jupytext.reads(source, fmt="py:percent"), path)
        # A socket path of its own: two kernels racing for one TCP port kill a parallel run.
        ipc = {"transport": "ipc", "ip": f"{folder}/kernel"}
        error = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                papermill.execute_notebook(
                    str(path),
                    str(path),
                    dict(parameters),
                    cwd=folder,
                    kernel_name="python3",
                    progress_bar=False,
                    config=Config({"KernelManager": ipc, "AsyncKernelManager": ipc}),
                    extra_arguments=["--log-level=CRITICAL"],
                )
        except PapermillExecutionError as failure:
            trace = "\n".join(_ANSI.sub("", line) for line in failure.traceback)
            error = f"cell [{failure.exec_count}]: {failure.ename}: {failure.evalue}\n{trace}"
        notebook, files = nbformat.read(path, 4), _saved(folder)
    _clean(notebook, name, parameters, key)
    return Outcome(nbformat.writes(notebook), error, time.monotonic() - started, files)


def execute_plainly(
    name: str, source: str, parameters: Mapping[str, Any], run: Mapping[str, Any] | None = None
) -> Outcome:
    """Execute a chapter as a script in a process of its own; needs no Jupyter."""
    started = time.monotonic()
    task = json.dumps({"name": name, "source": source, "parameters": dict(parameters)})
    with (
        tempfile.TemporaryDirectory(prefix="chapter-") as folder,
        _environment(run, folder) as variables,
    ):
        done = subprocess.run(
            [sys.executable, "-m", "helpers.book.execution"],
            input=task,
            capture_output=True,
            text=True,
            cwd=folder,
            env=variables | {"MPLBACKEND": "agg"},
            check=False,
        )
        files = _saved(folder)
    error = None if done.returncode == 0 else done.stderr.strip() or f"exit {done.returncode}"
    return Outcome(done.stdout, error, time.monotonic() - started, files)


@contextlib.contextmanager
def _environment(run: Mapping[str, Any] | None, folder: str) -> Iterator[dict[str, str]]:
    """Variables of a run: this package, one thread, inline figures, where results are saved."""
    saved = dict(os.environ)
    package = str(Path(__file__).resolve().parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (package, saved.get("PYTHONPATH"))))
    os.environ.pop("MPLBACKEND", None)  # it would switch off inline figures
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):  # glibc: keep freed memory
        os.environ.setdefault(name, str(2**28))
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    if run is not None:
        saved_here = Path(folder) / "saved"
        os.environ["BOOK_RUN"] = json.dumps({**run, "folder": str(saved_here)})
        os.environ["BOOK_CLAIMS"] = str(saved_here / f"{run['chapter']}.claims.json")
    try:
        yield dict(os.environ)
    finally:
        os.environ.clear()
        os.environ.update(saved)


def _saved(folder: str) -> dict[str, str]:
    """What the chapter saved, by path below the results."""
    base = Path(folder) / "saved"
    return {
        str(path.relative_to(base)): path.read_text(encoding="utf-8")
        for path in sorted(base.rglob("*"))
        if path.is_file()
    }


def _clean(notebook: Any, name: str, parameters: Mapping[str, Any], key: str) -> None:
    """Strip what differs from run to run; in place."""
    notebook.cells = [c for c in notebook.cells if "papermill-error-cell-tag" not in _tags(c)]
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in _KEPT_CELL_METADATA and v}
        if cell.cell_type == "code":
            cell.outputs = _merged_streams(cell.outputs)
        for output in cell.get("outputs", []):
            output.pop("transient", None)
    notebook.metadata = {
        "jupytext": notebook.metadata.get("jupytext", {}),
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        "book": {"chapter": name, "key": key, "parameters": dict(parameters)},
    }


def _tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _merged_streams(outputs: list[Any]) -> list[Any]:
    """Neighbouring pieces of one stream as one: how they were cut differs from run to run."""
    merged: list[Any] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == "stream" == last.output_type and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def _run_as_script(name: str, source: str, parameters: Mapping[str, Any]) -> None:
    """Run the source in this process, the parameters set right after their cell."""
    import matplotlib

    matplotlib.use("agg")
    warnings.filterwarnings("ignore", message=".*non-interactive.*")
    _, end = parameters_span(source, name)
    lines = source.splitlines()
    scope: dict[str, Any] = {"__name__": "__main__"}
    file = f"{name}.py"
    exec(compile("\n".join(lines[:end]), file, "exec"), scope)
    scope.update(parameters)
    exec(compile("\n" * end + "\n".join(lines[end:]), file, "exec"), scope)


if __name__ == "__main__":
    _run_as_script(**json.load(sys.stdin))
