"""Numba's cache on the disk: where it cannot be written, or is damaged, only time is lost."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOY = """
from numba import float64, int64
from helpers.kernels.compiled import njit

@njit([int64(int64), float64(float64)])
def at_once(x):
    return 2 * x

@njit()
def when_called(x):
    return at_once(x) + 1

assert (at_once(3), at_once(0.5), when_called(3), when_called(0.5)) == (6, 1.0, 7, 2.0)
for made in (at_once, when_called):
    assert made.targetoptions["nogil"] and made.targetoptions["error_model"] == "numpy"
"""
KERNELS = """
import torch
import helpers
from helpers.kernels.walsh import walsh_hadamard
assert walsh_hadamard(torch.ones(8)).tolist() == [8] + [0] * 7
print(helpers.__file__)
"""


def run(code, folder, **environment):
    """What a fresh process writes to standard output and to standard error."""
    given = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | environment
    command = [sys.executable, "-W", "always", *code]
    done = subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    return lambda **given: run(["toy.py"], tmp_path, PYTHONPATH=str(ROOT), **given)[1].count(
        "numba's cache fails"
    )


def test_what_is_compiled_is_kept_and_read(toy, tmp_path):
    assert toy(NUMBA_CACHE_DIR=str(tmp_path / "kept")) == 0
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "kept").rglob("*.nb?")}
    assert len(kept) == 6  # an index and two kinds of numbers of each function
    assert toy(NUMBA_CACHE_DIR=str(tmp_path / "kept")) == 0
    assert kept == {p: p.stat().st_mtime_ns for p in (tmp_path / "kept").rglob("*.nb?")}


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 20])
def test_damaged_files_are_named_once_and_replaced(toy, tmp_path, kind, left):
    kept = tmp_path / "kept"
    toy(NUMBA_CACHE_DIR=str(kept))
    for path in kept.rglob(f"*.{kind}"):
        path.write_bytes(path.read_bytes()[:left])
    assert toy(NUMBA_CACHE_DIR=str(kept)) == 1
    assert toy(NUMBA_CACHE_DIR=str(kept)) == 0


def test_kernels_run_where_no_folder_can_be_written(tmp_path):
    """A file stands where each folder would be made: then not even root can write there."""
    shutil.copytree(
        ROOT / "helpers", tmp_path / "helpers", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [p for p in (tmp_path / "helpers").rglob("*") if p.is_dir()]:
        (folder / "__pycache__").touch()
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(tmp_path / "none"))
    (tmp_path / "none").touch()
    out, errors = run(["-c", KERNELS], tmp_path, PYTHONPATH=str(tmp_path), **homes)
    assert Path(out.strip()).is_relative_to(tmp_path)
    assert errors.count("RuntimeWarning") == 1
    assert "set NUMBA_CACHE_DIR to one that can" in errors
