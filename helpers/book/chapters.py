"""What can be known of a chapter without running it: its parameters, its content key, its record.

Reads text only; imports neither torch nor Jupyter, so that the runner answers at once.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from helpers.book.claims import MIME

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
_RANGE = re.compile(r"\[\s*(-?[\d.e+-]+)\s*\.\.\s*(-?[\d.e+-]+)\s*\]")


class ChapterError(Exception):
    """A chapter, parameter or preset that does not exist or does not fit."""


@dataclass(frozen=True)
class Parameter:
    """One literal of a chapter's parameters cell.

    Attributes:
        name: Its name. value: Its default. comment: What it is, as written beside it.
        low: Least value allowed. high: Largest; both from ``[low..high]`` in the comment.
    """

    name: str
    value: Any
    comment: str
    low: float = -math.inf
    high: float = math.inf

    def parse(self, text: str) -> Any:
        """The value that a command-line word stands for, of the default's type."""
        if isinstance(self.value, str):
            return self.checked(text)
        try:
            return self.checked(ast.literal_eval(text))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise ChapterError(self._refusal(repr(text))) from None

    def checked(self, value: Any) -> Any:
        """The value itself, an int made a float where the default is one; or ChapterError."""
        kind = type(self.value)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ChapterError(self._refusal(repr(value)))
        for entry in value if kind in (list, tuple) else [value]:
            numeric = isinstance(entry, int | float) and not isinstance(entry, bool)
            if numeric and not self.low <= entry <= self.high:
                raise ChapterError(self._refusal(repr(value)))
        return value

    def _refusal(self, found: str) -> str:
        kind = type(self.value).__name__
        span = "" if math.isinf(self.low) else f" from {self.low:g} to {self.high:g}"
        return (
            f"parameter {self.name!r} takes {kind}{span}, such as {self.value!r}; got {found}"
            + (f" ({self.comment})" if self.comment else "")
        )


@dataclass(frozen=True)
class Chapter:
    """A chapter by its name, such as ``"cube/average_sensitivity"``."""

    name: str

    @property
    def source(self) -> Path:
        """The file that is edited by hand."""
        return BOOK / f"{self.name}.py"

    @property
    def notebook(self) -> Path:
        """The executed notebook."""
        return BOOK / f"{self.name}.ipynb"

    @property
    def preset(self) -> Path:
        """The parameters at the paper's scale."""
        return BOOK / f"{self.name}.paper.yaml"

    @functools.cached_property
    def text(self) -> str:
        """The source."""
        text = _read(self.source)
        try:
            _tree(text)
        except SyntaxError as error:
            raise ChapterError(f"{self.name}, line {error.lineno}: {error.msg}") from None
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
            values = yaml.safe_load(_read(self.preset)) or {}
        except yaml.YAMLError as error:
            raise ChapterError(f"{self.preset.name}: {' '.join(str(error).split())}") from None
        if not isinstance(values, dict):
            raise ChapterError(f"{self.preset.name} must map names to values, got {values!r}")
        return {name: self.parameter(name).checked(value) for name, value in values.items()}

    def parameter(self, name: str) -> Parameter:
        """A parameter by name; ChapterError names those allowed."""
        if name not in self.parameters:
            allowed = ", ".join(self.parameters) or "none"
            raise ChapterError(f"{self.name} has no parameter {name!r}; it has: {allowed}")
        return self.parameters[name]

    def key(self, parameters: Mapping[str, Any]) -> str:
        """Hash of all that the outputs depend on.

        The source, the parameters, the pins, exactly the helper modules that the source reaches by
        import, and the stored results of this chapter and of those that it loads.
        """
        digest = hashlib.sha256()
        read = {self.name, *loaded(self.text, self.name)}
        stored = sorted(f for name in read for f in (ROOT / "results").glob(f"{name}.*"))
        pieces = {
            "source": self.text,
            "parameters": json.dumps(dict(parameters), sort_keys=True),
            "pins": _pins(_read(ROOT / "environment.yml")),
            "helpers": helpers_key(self.text),
            **{file.name: _read(file) for file in stored},
        }
        for name, piece in pieces.items():
            digest.update(f"{name}\0{piece}\0".encode())
        return digest.hexdigest()[:16]

    def is_current(self, notebook: Path, parameters: Mapping[str, Any]) -> bool:
        """Whether the notebook was executed from these very inputs."""
        return bool(stored_key(notebook) == self.key(parameters)) and not is_damaged(notebook)


def every_chapter() -> list[Chapter]:
    """All chapters, by name."""
    found = sorted(BOOK.glob("*/*.py"))
    return [Chapter(str(path.relative_to(BOOK).with_suffix(""))) for path in found]


def find(name: str) -> Chapter:
    """A chapter by name, or by the path of one of its files."""
    names = [c.name for c in every_chapter()]
    wanted = re.sub(r"(\.py|\.ipynb|\.paper\.yaml)$", "", name).removeprefix("book/")
    if wanted in names:
        return Chapter(wanted)
    tails = [n for n in names if n.split("/")[1] == wanted]
    if len(tails) == 1:
        return Chapter(tails[0])
    near = difflib.get_close_matches(wanted, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
    raise ChapterError(f"no chapter {name!r}; {hint}")


def read_parameters(text: str, name: str) -> dict[str, Parameter]:
    """Parse the one cell tagged ``parameters`` of a py:percent source: literals only."""
    cell = "\n".join(text.splitlines()[slice(*parameters_span(text, name))])
    lines = cell.splitlines()
    found = {}
    for node in ast.parse(cell).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            raise ChapterError(f"{name}: the parameters cell holds more than assignments")
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            raise ChapterError(f"{name}: {node.targets[0].id} is not a literal") from None
        comment = lines[node.end_lineno - 1][node.end_col_offset :].partition("#")[2].strip()  # type: ignore[operator]
        span = _RANGE.search(comment)
        limits = (float(span[1]), float(span[2])) if span else (-math.inf, math.inf)
        key = node.targets[0].id
        found[key] = Parameter(key, value, comment, *limits)
    return found


def parameters_span(text: str, name: str) -> tuple[int, int]:
    """First line after the head of the parameters cell and first line of the next cell, from 0."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    tagged = [i for i in heads if '"parameters"' in lines[i]]
    if len(tagged) != 1:
        raise ChapterError(f"{name}: expected one cell tagged 'parameters', found {len(tagged)}")
    return tagged[0] + 1, min((i for i in heads if i > tagged[0]), default=len(lines))


def helpers_key(text: str) -> str:
    """Hash of the helper modules that a source reaches by import, and of nothing else."""
    digest = hashlib.sha256()
    for module in sorted(reached_modules(text)):
        digest.update(_piece(module, _changed(module)))
    return digest.hexdigest()[:16]


@functools.lru_cache(maxsize=1024)
def _piece(module: str, changed: int) -> bytes:
    """What a module adds to a key: its bytes, or nothing if it holds a docstring alone."""
    code = _module_file(module).read_bytes()
    body = ast.parse(code).body
    if len(body) <= 1 and all(ast.get_docstring(ast.Module(body, [])) for _ in body):
        return b""
    return module.encode() + b"\0" + code + b"\0"


def _changed(module: str) -> int:
    return _module_file(module).stat().st_mtime_ns


def reached_modules(text: str) -> set[str]:
    """Names of the modules of ``helpers`` that a source imports, directly or through others."""
    found: set[str] = set()
    todo = _imports(text)
    while todo:
        module = todo.pop()
        if module in found:
            continue
        found.add(module)
        todo |= _imports_of(module, _changed(module))
    return found


@functools.lru_cache(maxsize=1024)
def _imports_of(module: str, changed: int) -> frozenset[str]:
    """The same of a module's file, read once for each change of it."""
    return frozenset(_imports(_module_file(module).read_text(encoding="utf-8")))


def _imports(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    inner = {name for name in names if name.split(".")[0] == "helpers"}
    parents = {
        ".".join(name.split(".")[:k]) for name in inner for k in range(1, name.count(".") + 1)
    }
    return {name for name in inner | parents if _module_file(name).exists()}


@functools.lru_cache(maxsize=16)
def _tree(text: str) -> ast.Module:
    """The source parsed; a chapter is looked at several times in a row."""
    return ast.parse(text)


def _module_file(module: str) -> Path:
    path = ROOT / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.lru_cache(maxsize=4)
def _pins(environment: str) -> str:
    """The pins alone, so that a comment in environment.yml makes no chapter stale."""
    return json.dumps(yaml.safe_load(environment)["dependencies"], sort_keys=True)


def stored_key(notebook: Path) -> str | None:
    """The content key in a notebook's metadata; None if it has none or cannot be read."""
    try:
        metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
        return str(metadata["book"]["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def outputs_key(cells: Iterable[Mapping[str, Any]]) -> str:
    """Hash of what the cells of an executed notebook hold and put out."""
    digest = hashlib.sha256()
    for cell in cells:
        kept = cell["source"], cell.get("execution_count"), cell.get("outputs", [])
        digest.update(json.dumps(kept, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def is_damaged(notebook: Path) -> bool:
    """Whether a stored notebook was edited, or saved half-run, after its execution."""
    try:
        content = json.loads(notebook.read_text(encoding="utf-8"))
        return bool(content["metadata"]["book"]["outputs"] != outputs_key(content["cells"]))
    except (OSError, ValueError, KeyError, TypeError):
        return True


def loaded(text: str, name: str) -> set[str]:
    """Names of the chapters whose stored results a source loads, all of them literals.

    Raises:
        ChapterError: ``results.load`` of a name that is computed.
    """
    names = set()
    for node in ast.walk(_tree(text)):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        of = node.func
        if (
            isinstance(of, ast.Attribute)
            and of.attr == "load"
            and isinstance(of.value, ast.Name)
            and of.value.id == "results"
        ) or (isinstance(of, ast.Name) and of.id == "load"):
            if not isinstance(node.args[0], ast.Constant):
                raise ChapterError(
                    f"{name}, line {node.lineno}: results.load wants the chapter's name as a "
                    "literal, so that its content key can cover it"
                )
            names.add(str(node.args[0].value))
    return names


def _read(path: Path) -> str:
    """A file as text; ChapterError if it is none or is not there."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ChapterError(f"{path} is not UTF-8: {error.reason}") from None
    except OSError as error:
        raise ChapterError(f"{path} could not be read: {error.strerror}") from None


def read_record(notebook: Path) -> dict[str, Any] | None:
    """The ledger's record in an executed notebook; None if it was not executed or has none."""
    if not notebook.exists():
        return None
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                return dict(output["data"][MIME])
    return None
