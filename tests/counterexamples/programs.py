"""Certificates run with a planted change."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bookkit.findings import CERTIFICATES
from tests.small_book import PATIENCE

STANDS = ""
"""In place of a hypothesis: all of them hold, and so does the statement."""


@dataclass(frozen=True)
class Mutant:
    """A program with one passage exchanged.

    Attributes:
        program: Its name without the ending. old: A passage that it has once. new: What stands in
            its place. fails: Words of the hypothesis that then fails, or :data:`STANDS`.
    """

    program: str
    old: str
    new: str
    fails: str

    def __str__(self) -> str:
        return f"{self.program}: {self.fails or 'the statement stands'}"


def run(program: str, old: str, new: str) -> subprocess.CompletedProcess[str]:
    """Run a certificate alone, with a passage exchanged."""
    text = (CERTIFICATES / f"{program}.py").read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{program} has {old!r} {text.count(old)} times"
    text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-I", str(path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )


def hypotheses(output: str) -> dict[str, bool]:
    """What a program prints of each hypothesis: whether it holds."""
    found = re.findall(r"^hypothesis  (.*): (holds|fails)$", output, re.MULTILINE)
    return {name: word == "holds" for name, word in found}
