"""Chapters as pairs: what others open and save them with leaves them as they are."""

from __future__ import annotations

import shutil
import subprocess
import sys

from bookkit.chapters import BOOK, ROOT


def test_a_sync_of_jupytext_leaves_the_pairs_as_they_are(tmp_path):
    """On a copy of three pairs, in a folder with the project's settings."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    names = ("cube/fourier_walsh", "retrieval/attention_weights", "sensitive/scratchpad")
    pairs = {}
    for name in names:
        for kind in (".py", ".ipynb"):
            copy = tmp_path / "book" / f"{name}{kind}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(BOOK / f"{name}{kind}", copy)
            pairs[copy] = copy.read_bytes()
    notebooks = [str(path) for path in pairs if path.suffix == ".ipynb"]
    command = [sys.executable, "-m", "jupytext", "--sync", *notebooks]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    changed = [str(p.relative_to(tmp_path)) for p in pairs if p.read_bytes() != pairs[p]]
    assert changed == []
