"""What can be known of a chapter without running it: its parameters, its key, its record.

Reads text only; imports neither torch nor Jupyter, so that the runner answers at once.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bookkit import key
from bookkit.claims import MIME
from bookkit.key import Pieces
from bookkit.parameters import ChapterError, Parameter, named, read_parameters
from bookkit.place import PACKAGE, find_root
from bookkit.syntax import parse

ROOT = find_root() or PACKAGE
BOOK = ROOT / "book"
REGISTER = BOOK / "register.yml"
STRIP = re.compile(r"\*\*Runs in\*\* (?P<number>[\d.]+) (?P<unit>s|min)\b")
"""As at the top of every chapter."""


@dataclass(frozen=True)
class Chapter:
    """A chapter by its name, such as ``"cube/average_sensitivity"``, of the book in a folder."""

    name: str
    root: Path = ROOT

    @property
    def source(self) -> Path:
        """The file that is edited by hand."""
        return self.root / "book" / f"{self.name}.py"

    @property
    def notebook(self) -> Path:
        """The executed notebook."""
        return key.own_notebook(self.name, self.root)

    @property
    def preset(self) -> Path:
        """The parameters at the paper's scale."""
        return self.root / "book" / f"{self.name}.paper.yaml"

    @functools.cached_property
    def text(self) -> str:
        """The source."""
        text = key.read(self.source)
        if fault := _fault(text):
            raise ChapterError(f"{self.name}, {fault}")
        return text

    @functools.cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters cell, in order."""
        return read_parameters(self.text, self.name)

    def with_preset(self) -> dict[str, Any]:
        """The values of ``<chapter>.paper.yaml``, checked."""
        if not self.preset.exists():
            raise ChapterError(f"{self.name} has no parameters at the paper's scale")
        try:
            values = yaml.safe_load(key.read(self.preset)) or {}
        except yaml.YAMLError as error:
            raise ChapterError(f"{self.preset.name}: {' '.join(str(error).split())}") from None
        if not isinstance(values, dict):
            raise ChapterError(f"{self.preset.name} must map names to values, got {values!r}")
        return {name: self.parameter(name).checked(value) for name, value in values.items()}

    @property
    def seconds(self) -> float | None:
        """What its strip says that it takes on one core; None without a strip."""
        found = STRIP.search(self.text)
        return float(found["number"]) * {"s": 1, "min": 60}[found["unit"]] if found else None

    @property
    def stored_seconds(self) -> float | None:
        """What the longest of its stored runs took; None if there is none.

        Raises:
            ChapterError: a record is damaged.
        """
        longest = None
        for file in (self.root / "results").glob(f"{self.name}.*.json"):
            try:
                took = float(json.loads(key.read(file))["seconds"])
            except (ValueError, KeyError, TypeError):
                raise ChapterError(
                    f"{file} is damaged: it is no JSON with a number of seconds; "
                    "restore it, or delete it and its table"
                ) from None
            longest = max(took, longest or 0.0)
        return longest

    def parameter(self, name: str) -> Parameter:
        """A parameter by name; ChapterError names those allowed."""
        return named(self.parameters, name, self.name)

    def pieces(self, parameters: Mapping[str, Any], *, keeps: bool = False) -> Pieces:
        """All that the outputs of a run depend on, as :func:`bookkit.key.pieces` says."""
        return key.pieces(self.text, self.name, self.root, parameters, keeps=keeps)

    def stale(self) -> list[str]:
        """Why the notebook in the book is not that of its source; nothing if it is."""
        return key.stale(self.name, self.root, self.notebook, self.pieces({}))


@functools.lru_cache(maxsize=256)  # the scoreboard asks for the text of a chapter 740 times
def _fault(text: str) -> str:
    """What is no Python in a source, and where; empty if all of it is."""
    try:
        parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return ""


def every_chapter(root: Path = ROOT) -> list[Chapter]:
    """All chapters of the book in a folder, by name."""
    book = root / "book"
    paths = sorted(book.glob("*/*.py"))
    return [Chapter(str(path.relative_to(book).with_suffix("")), root) for path in paths]


def find(name: str, root: Path = ROOT) -> Chapter:
    """A chapter by name, or by the path of one of its files."""
    names = [c.name for c in every_chapter(root)]
    wanted = re.sub(r"(\.py|\.ipynb|\.paper\.yaml)$", "", name).removeprefix("./")
    wanted = wanted.removeprefix(f"{root.absolute()}/").removeprefix("book/")
    if wanted in names:
        return Chapter(wanted, root)
    tails = [n for n in names if n.split("/")[1] == wanted]
    if len(tails) == 1:
        return Chapter(tails[0], root)
    near = difflib.get_close_matches(wanted, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
    raise ChapterError(f"no chapter {name!r}; {hint}")


def read_record(notebook: Path) -> dict[str, Any] | None:
    """The ledger's record in an executed notebook; None if it was not executed or has none."""
    return _record(notebook, notebook.stat().st_mtime_ns) if notebook.exists() else None


@functools.lru_cache(maxsize=128)
def _record(notebook: Path, changed: int) -> dict[str, Any] | None:
    return record_of(notebook.read_text(encoding="utf-8"))


def record_of(text: str) -> dict[str, Any] | None:
    """The same of a notebook's text; None also where the text is no notebook, as of a plain run."""
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, TypeError, KeyError):
        return None
    for cell in cells:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                return dict(output["data"][MIME])
    return None
