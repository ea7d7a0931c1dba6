"""A copy of the package with a book of tiny chapters, to run the runner on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from bookkit.chapters import ROOT
from bookkit.definitions import PACKAGES

HEAD = """\
# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A small chapter

# %% tags=["parameters"]
size = 3  # how many [1..20]
scale = 0.5  # a factor [0..10]
word = "odd"  # any text
pause = 0.0  # seconds [0..60]

# %%
import time
"""
# A key follows what stands in a function too; called, the imports would take seconds of each run.
CHAPTERS = {
    "part/plain": "time.sleep(pause)\nprint(word, size * scale)\n",
    "part/spectral": (
        "def needed(f):\n    from helpers.cube.fourier import spectrum\n\n"
        "    return spectrum(f)\n\n\n"
        "print(size)\n"
    ),
    "part/kernel": (
        "def needed(f):\n    from helpers.kernels import _backends\n\n"
        '    return _backends.chosen("auto", f)\n\n\nprint(size)\n'
    ),
    "part/stored": (
        "from bookkit.results import load, save\n\n"
        'save("runs", {"seed": list(range(size)), "loss": [scale] * size})\n'
        'print(load("part/stored", "runs") is not None)\n'
    ),
}
PATIENCE = 600
"""Seconds until a test gives up: what takes 5 on an idle machine has taken 130 on a busy one."""
HELD = f"""\
from pathlib import Path

Path("{{begun}}").touch()
for _ in range({200 * PATIENCE}):
    if Path("{{go}}").exists():
        break
    time.sleep(0.05)
print(word, size * scale)
"""
Found = TypeVar("Found")


def until(found: Callable[[], Found], missing: str) -> Found:
    """Ask again and again until the answer is true; give up after much patience."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < deadline, missing
        time.sleep(0.1)
    return answer


def copy_machine_code(checkout: Path) -> None:
    """Give a copy of the package what Numba has compiled here, which depends on no path.

    The indices first: what they name is there before them, and another test may be compiling.
    """
    for kind in ("nbi", "nbc"):
        for package in PACKAGES:
            for file in (ROOT / package).rglob(f"*.{kind}"):
                target = checkout / file.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, target)


def copy_packages(checkout: Path) -> None:
    """Copy the sources of all packages, without what Python has compiled."""
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, checkout / package, ignore=ignored)


class SmallBook:
    """A temporary checkout: where it is, and how to run things in it."""

    def __init__(self, root: Path, like: SmallBook | None = None) -> None:
        self.root = root
        if like is None:
            self._make()
        else:
            shutil.copytree(like.root, root)
        package = f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        self.environment = os.environ | {"PYTHONPATH": package, "PYTHONUNBUFFERED": "1"}

    def _make(self) -> None:
        copy_packages(self.root)
        shutil.copy(ROOT / "environment.yml", self.root)
        (self.root / "results").mkdir()
        (self.root / "book" / "part").mkdir(parents=True)
        for name, body in CHAPTERS.items():
            self.write(name, body)

    def write(self, name: str, body: str) -> Path:
        """Write a chapter: the common head, then ``body``."""
        path = self.root / "book" / f"{name}.py"
        path.write_text(HEAD + body, encoding="utf-8")
        return path

    def hold(self, name: str) -> tuple[Path, Path]:
        """Write a chapter that makes the first file and waits until the second is there."""
        begun, go = self.root / "begun", self.root / "go"
        self.write(name, HELD.format(begun=begun, go=go))
        return begun, go

    def notebook(self, name: str) -> Path:
        """Where a chapter's notebook is stored."""
        return self.root / "book" / f"{name}.ipynb"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start the runner in a process group of its own, where an interrupt is not ignored."""
        return subprocess.Popen(
            [sys.executable, "-m", "bookkit.run", *arguments],
            cwd=self.root,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the runner to its end."""
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def small_book(tmp_path):
    """A fresh small book."""
    return SmallBook(tmp_path / "checkout")


@pytest.fixture(scope="session")
def first_run(tmp_path_factory):
    """A small book whose four chapters were executed, and what the run said; to copy, no more."""
    book = SmallBook(tmp_path_factory.mktemp("executed") / "checkout")
    return book, book.run()


@pytest.fixture
def executed_book(first_run, tmp_path):
    """A copy of the small book after its first run."""
    return SmallBook(tmp_path / "checkout", like=first_run[0])
