"""Execute one chapter: as a notebook by papermill, or plainly as the script that it is.

Each execution is a child process, ``python -m bookkit.execution FOLDER``, with a folder and an
environment of its own, both handed over and never set: chapters that share a worker share nothing.
The source travels as text, so that a worker on another machine needs only the installed package.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bookkit.definitions import graph
from bookkit.key import COMPUTES, Pieces, code_of, outputs_key
from bookkit.parameters import parameters_span
from bookkit.place import VARIABLE, short_folder
from bookkit.syntax import digest

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_KEPT_CELL_METADATA = ("tags", "mystnb", "lines_to_next_cell")
_KILLED = "the process of the run was ended by"
_OVERTIME = "SIGXCPU"
_RUNNING: set[subprocess.Popen[bytes]] = set()
_ENDED = threading.Event()

KEEP_FREED_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(2**25),  # the most that glibc takes; more is ignored
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
}
"""For glibc: training frees and takes the same blocks at every step, a quarter of its time.

Over what is given, since a Dask worker has the opposite: it gives back all that is freed.
"""


class OtherCodeError(RuntimeError):
    """This worker's helpers or packages differ from the caller's: a message and its address."""

    def __str__(self) -> str:
        return str(self.args[0])


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


def code_for(source: str) -> dict[str, str]:
    """What must be the same where a chapter runs: helpers that it reaches, Python, packages."""
    return {
        "helpers": digest(json.dumps(graph().reached(source), sort_keys=True)),
        "python": platform.python_version(),
        **{name: installed(name) for name in COMPUTES if name != "triton"},  # macOS has none
    }


def execute_notebook(
    name: str,
    source: str,
    parameters: Mapping[str, Any],
    key: Pieces | None,
    code: Mapping[str, str],
    run: Mapping[str, Any] | None = None,
    book: str = "",
    variables: Mapping[str, str] | None = None,
) -> Outcome:
    """Execute a py:percent source by papermill, in a temporary folder, on this machine.

    Args:
        name: Of the chapter.
        source: Its text.
        parameters: Values that differ from the chapter's own.
        key: Pieces of the key to leave in the metadata, of a notebook that no lock file covers.
        code: What :func:`code_for` says where the caller is.
        run: What :func:`bookkit.results.save` tells of the run, if its tables are to be kept.
        book: The folder of the book, for :mod:`bookkit.own`; it need not be here.
        variables: More of its environment, such as a deadline or a device.

    Returns:
        The notebook without timing metadata, with stable cell ids.

    Raises:
        OtherCodeError: this worker has other helpers or packages; with the first that differs.
    """
    here = code_for(source)
    for what, wanted in code.items():
        if here[what] != wanted:
            raise OtherCodeError(
                f"{name}: this worker has other {what} than the caller "
                f"({here[what]} here, {wanted} there); update it",
                _address(),
            )
    return _survived("notebook", name, source, parameters, run, book, variables, key)


def execute_plainly(
    name: str,
    source: str,
    parameters: Mapping[str, Any],
    run: Mapping[str, Any] | None = None,
    book: str = "",
    variables: Mapping[str, str] | None = None,
) -> Outcome:
    """Execute a chapter as a script in a process of its own; needs no Jupyter."""
    return _survived("plain", name, source, parameters, run, book, variables)


def end_all() -> None:
    """End every execution of this process, and begin none any more: it is about to stop."""
    _ENDED.set()
    for child in list(_RUNNING):
        child.terminate()


def _survived(form: str, *task: Any) -> Outcome:
    """One execution, begun again up to twice if a signal ends it: the system may have killed it.

    What has used up its CPU time would do so again.
    """
    for _ in range(3):
        outcome = _in_a_child(form, *task)
        error = outcome.error or ""
        if _ENDED.is_set() or not error.startswith(_KILLED) or error.endswith(_OVERTIME):
            break
    return outcome


def _in_a_child(
    form: str,
    name: str,
    source: str,
    parameters: Mapping[str, Any],
    run: Mapping[str, Any] | None,
    book: str,
    variables: Mapping[str, str] | None,
    key: Pieces | None = None,
) -> Outcome:
    """One execution in a process of its own, which ends when this one does."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chapter-") as folder:
        task = {"name": name, "source": source, "parameters": dict(parameters), "key": key}
        here = Path(folder)
        (here / "task.json").write_text(json.dumps({"form": form, **task}), encoding="utf-8")
        with (here / "out").open("wb") as out, (here / "err").open("wb") as err:
            child = subprocess.Popen(
                [sys.executable, "-m", "bookkit.execution", folder],
                stdin=subprocess.PIPE,  # its end tells the child that nobody waits any more
                stdout=out,
                stderr=err,
                cwd=folder,
                env=_variables(run, folder, form, book) | dict(variables or {}),
            )
            _RUNNING.add(child)
            try:
                if _ENDED.is_set():
                    child.terminate()
                status = child.wait()
            finally:
                _RUNNING.discard(child)
                child.terminate()
                child.communicate()
        text, errors = (_text(here / pipe) for pipe in ("out", "err"))
        failed = here / "error"
        error = _text(failed) if failed.exists() else None
        if error is None and status < 0:
            error = f"{_KILLED} {signal.Signals(-status).name}"
        if error is None and status != 0:
            error = errors.strip() or f"exit {status}"
        if form == "notebook":
            text = _text(here / "chapter.ipynb") if (here / "done").exists() else ""
        return Outcome(text, error, time.monotonic() - started, _saved(here / "saved"))


def _variables(run: Mapping[str, Any] | None, folder: str, form: str, book: str) -> dict[str, str]:
    """Environment of a run: this package, one thread, its figures, where results are saved."""
    package = str(Path(__file__).resolve().parents[1])
    # The first two would lead results or the choice of the kernel elsewhere.
    foreign = ("BOOK_RUN", "JUPYTER_PATH", "MPLBACKEND")
    given = {name: value for name, value in os.environ.items() if name not in foreign}
    own = {
        "PYTHONPATH": os.pathsep.join(filter(None, (package, given.get("PYTHONPATH")))),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONUTF8": "1",  # what it prints is read as UTF-8, whatever a terminal speaks
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "TMPDIR": folder,
        VARIABLE: book,
    }
    if form == "plain":
        own["MPLBACKEND"] = "agg"
    if run is not None:
        own["BOOK_RUN"] = json.dumps({**run, "folder": str(Path(folder) / "saved")})
    return {"OMP_NUM_THREADS": "1"} | given | KEEP_FREED_MEMORY | own


def _address() -> str:
    """Of the Dask worker that this is; empty elsewhere."""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return ""


def installed(package: str) -> str:
    """The version of a package in this environment, or "none"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _saved(base: Path) -> dict[str, str]:
    """What the chapter saved, by path below the results."""
    return {
        str(path.relative_to(base)): path.read_text(encoding="utf-8")
        for path in sorted(base.rglob("*"))
        if path.is_file()
    }


def _run_as_notebook(
    name: str, source: str, parameters: Mapping[str, Any], key: Pieces | None
) -> None:
    """Run the source by papermill in this process's folder; leave the notebook and any error."""
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    path = Path("chapter.ipynb")
    nbformat.write(jupytext.reads(source, fmt="py:percent"), path)
    with tempfile.TemporaryDirectory(prefix="ipc-", dir=short_folder()) as sockets:
        # A socket path of its own: two kernels racing for one TCP port kill a parallel run.
        ipc = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                papermill.execute_notebook(
                    str(path),
                    str(path),
                    dict(parameters),
                    kernel_name="python3",
                    progress_bar=False,
                    config=Config({"KernelManager": ipc, "AsyncKernelManager": ipc}),
                    extra_arguments=["--log-level=CRITICAL"],
                )
        except PapermillExecutionError as failure:
            trace = "\n".join(_ANSI.sub("", line) for line in failure.traceback)
            error = f"cell [{failure.exec_count}]: {failure.ename}: {failure.evalue}\n{trace}"
            Path("error").write_text(error, encoding="utf-8")
    notebook = nbformat.read(path, 4)
    _clean(notebook, name, parameters, key)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    Path("done").touch()


def with_text_of(source: str, notebook: Path, key: Pieces | None) -> str | None:
    """A notebook with the prose, comments and metadata of its source, and the outputs that it has.

    Args:
        source: Of the chapter.
        notebook: As it was stored.
        key: Pieces of its key, for one that no lock file covers.

    Returns:
        None if the code of a cell is not what was executed.
    """
    import jupytext
    import nbformat

    stored = nbformat.read(notebook, 4)
    made = jupytext.reads(source, fmt="py:percent")
    old = [cell for cell in stored.cells if cell.cell_type == "code"]
    injected = [cell for cell in stored.cells if "injected-parameters" in _tags(cell)]
    behind = next((i for i, c in enumerate(made.cells, 1) if "parameters" in _tags(c)), 0)
    made.cells[behind:behind] = injected  # as papermill does
    new = [cell for cell in made.cells if cell.cell_type == "code"]
    if [code_of(cell.source) for cell in old] != [code_of(cell.source) for cell in new]:
        return None
    for cell, ran in zip(new, old, strict=True):
        cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    made.nbformat, made.nbformat_minor = stored.nbformat, stored.nbformat_minor
    book = stored.metadata["book"]
    _clean(made, book["chapter"], book["parameters"], key)
    return str(nbformat.writes(made)) + "\n"


def _clean(notebook: Any, name: str, parameters: Mapping[str, Any], key: Pieces | None) -> None:
    """Strip what differs from run to run; in place."""
    import nbformat

    notebook.cells = [c for c in notebook.cells if "papermill-error-cell-tag" not in _tags(c)]
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i}"
        cell.metadata = {
            k: v
            for k, v in cell.metadata.items()
            if k in _KEPT_CELL_METADATA and v not in ([], {}, "")
        }
        if cell.cell_type == "code":
            cell.outputs = _merged_streams(cell.outputs)
        for output in cell.get("outputs", []):
            output.pop("transient", None)
    pairing = notebook.metadata.get("jupytext", {})
    notebook.metadata = {
        "jupytext": {k: v for k, v in pairing.items() if k != "text_representation"},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        "book": {"chapter": name, "outputs": "", "parameters": dict(parameters)},
    }
    if key is not None:
        notebook.metadata["book"]["key"] = key
    written = json.loads(nbformat.writes(notebook))
    notebook.metadata["book"]["outputs"] = outputs_key(written)


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


def _run_as_script(
    name: str, source: str, parameters: Mapping[str, Any], key: Pieces | None
) -> None:
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


def _end_with_the_caller() -> None:
    """Leave at once when the process that asked is gone; the kernel follows by itself."""

    def wait() -> None:
        os.read(0, 1)  # not through sys.stdin, whose lock an exit would wait for
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _main(folder: str) -> None:
    _end_with_the_caller()
    task = json.loads((Path(folder) / "task.json").read_text(encoding="utf-8"))
    {"notebook": _run_as_notebook, "plain": _run_as_script}[task.pop("form")](**task)


if __name__ == "__main__":
    _main(sys.argv[1])
