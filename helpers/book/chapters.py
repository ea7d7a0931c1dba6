"""What can be known of a chapter without running it: its parameters, its content key, its record.

Reads text only; imports neither torch nor Jupyter, so that the runner answers at once.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from helpers.book.claims import MIME
from helpers.book.parameters import ChapterError, Parameter, named, read_parameters
from helpers.book.place import PACKAGE, found

ROOT = found() or PACKAGE
BOOK = ROOT / "book"
REGISTER = BOOK / "register.yml"
STRIP = re.compile(r"\*\*Runs in\*\* (?P<number>[\d.]+) (?P<unit>s|min)\b")
"""As at the top of every chapter."""
_STRINGS = re.compile(r"""["']([\w.-]+)["']""")
_STORES = ("helpers.book.results", "helpers.book.own")
_SHOWN = (*_STORES, "helpers.book", "helpers.book.words", "helpers.book.training")
CELL_METADATA = ("tags", "mystnb")
"""What the runner leaves of a cell's metadata."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PARSER = threading.Lock()


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
        return self.root / "book" / f"{self.name}.ipynb"

    @property
    def preset(self) -> Path:
        """The parameters at the paper's scale."""
        return self.root / "book" / f"{self.name}.paper.yaml"

    @functools.cached_property
    def text(self) -> str:
        """The source."""
        text = _read(self.source)
        try:
            _require_python(text)
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

    @property
    def seconds(self) -> float | None:
        """What its strip says that it takes on one core; None without a strip."""
        found = STRIP.search(self.text)
        return float(found["number"]) * {"s": 1, "min": 60}[found["unit"]] if found else None

    @property
    def stored_seconds(self) -> float | None:
        """What the longest of its stored runs took; None if there is none."""
        files = (self.root / "results").glob(f"{self.name}.*.json")
        records = [json.loads(_read(f)) for f in files if not f.name.endswith(".claims.json")]
        return max((float(r["seconds"]) for r in records), default=None)

    def parameter(self, name: str) -> Parameter:
        """A parameter by name; ChapterError names those allowed."""
        return named(self.parameters, name, self.name)

    def key(self, parameters: Mapping[str, Any], *, keeps: bool = False) -> str:
        """Hash of all that the outputs depend on.

        The source, the parameters, the pins, exactly the helper modules that the source reaches by
        import, the register's rows that the source names, and the stored results of this chapter
        and of those that it loads.

        Args:
            parameters: Of the run.
            keeps: Whether the run stores its tables. Then its own are no input of it, and of
                others their numbers are, not when and where they were made.
        """
        digest = hashlib.sha256()
        read = loaded(self.text, self.name) | {self.name}
        files = sorted(f for name in read for f in (self.root / "results").glob(f"{name}.*"))
        own = f"{self.name}.".rpartition("/")[2]
        stored = [
            f for f in files if not keeps or (f.suffix == ".csv" and not f.name.startswith(own))
        ]
        pieces = {
            "register": json.dumps(self._rows(), sort_keys=True),
            "source": self.text,
            "parameters": json.dumps(dict(parameters), sort_keys=True),
            "pins": _pins(_read(self.root / "environment.yml")),
            "helpers": helpers_key(self.text),
            **{file.name: _read(file) for file in stored},
        }
        for name, piece in pieces.items():
            digest.update(f"{name}\0{piece}\0".encode())
        return digest.hexdigest()[:16]

    def is_current(
        self, notebook: Path, parameters: Mapping[str, Any], *, keeps: bool = False
    ) -> bool:
        """Whether the notebook was executed from these very inputs."""
        key = self.key(parameters, keeps=keeps)
        return bool(stored_key(notebook) == key) and not is_damaged(notebook)

    def _rows(self) -> dict[str, Any]:
        """Of each row of the register that the source names, what a ledger looks at."""
        file = self.root / "book" / "register.yml"
        if not file.is_file():
            return {}
        rows = _rows_of(file, file.stat().st_mtime_ns)
        return {id: rows[id] for id in _STRINGS.findall(self.text) if id in rows}


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


@functools.lru_cache(maxsize=4)
def _rows_of(register: Path, changed: int) -> dict[str, Any]:
    """Source and chapter of every row and part of a register, by id; of none if it is no list."""
    found: dict[str, Any] = {}

    def visit(node: Any, above: dict[str, Any]) -> None:
        if isinstance(node, list):
            for entry in node:
                visit(entry, above)
        if isinstance(node, dict):
            here = above | {k: node[k] for k in ("source", "chapter", "kind") if k in node}
            if "id" in node:
                found[str(node["id"])] = here
            for entry in node.values():
                visit(entry, here)

    try:
        visit(yaml.load(_read(register), Loader=_LOADER), {})
    except yaml.YAMLError as error:
        raise ChapterError(f"{register.name}: {' '.join(str(error).split())}") from None
    return found


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
    body = _tree(code).body
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


@functools.lru_cache(maxsize=1024)
def _require_python(text: str) -> None:
    """SyntaxError unless it can be parsed; a build asks for each chapter ten times."""
    _tree(text)


@functools.lru_cache(maxsize=16)
def _tree(text: str | bytes) -> ast.Module:
    """The source parsed, one thread at a time: Python 3.11 counts the depth of all of them at once.

    A chapter is looked at several times in a row.
    """
    with _PARSER:
        return ast.parse(text)


def _module_file(module: str) -> Path:
    path = PACKAGE / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.lru_cache(maxsize=4)
def _pins(environment: str) -> str:
    """The pins alone: a comment, or the line for the package itself, makes no chapter stale."""
    try:
        pins = list(yaml.safe_load(environment)["dependencies"])
    except (yaml.YAMLError, KeyError, TypeError):
        raise ChapterError("environment.yml has no list of dependencies") from None
    for group in pins:
        if isinstance(group, dict) and "pip" in group:
            group["pip"] = [pin for pin in group["pip"] if pin != "-e ."]
    return json.dumps(pins, sort_keys=True)


def stored_key(notebook: Path) -> str | None:
    """The content key in a notebook's metadata; None if it has none or cannot be read."""
    try:
        metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
        return str(metadata["book"]["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def outputs_key(content: Mapping[str, Any]) -> str:
    """Hash of what an executed notebook holds and puts out, and of how it was executed.

    Of the cells their kinds, texts, tags, captions, attachments and outputs; of what the runner
    notes all but this hash.
    """
    made = {k: v for k, v in content["metadata"]["book"].items() if k != "outputs"}
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode())
    for cell in content["cells"]:
        metadata = {k: v for k, v in cell["metadata"].items() if k in CELL_METADATA and v}
        kept = cell["cell_type"], cell["source"], metadata, cell.get("attachments", {})
        ran = cell.get("execution_count"), cell.get("outputs", [])
        digest.update(json.dumps((kept, ran), sort_keys=True).encode())
    return digest.hexdigest()[:16]


def is_damaged(notebook: Path) -> bool:
    """Whether a stored notebook was edited, or saved half-run, after its execution."""
    try:
        content = json.loads(notebook.read_text(encoding="utf-8"))
        return bool(content["metadata"]["book"]["outputs"] != outputs_key(content))
    except (OSError, ValueError, KeyError, TypeError):
        return True


def loaded(text: str, name: str) -> set[str]:
    """Names of the chapters whose stored results a source loads, all of them literals.

    Followed are the functions ``load`` of ``helpers.book.results`` and ``helpers.book.own``, by
    whatever name the source imports them or their module.

    Raises:
        ChapterError: a load of a name that is computed.
    """
    modules, functions = _loaders(_tree(text))
    names = set()
    for node in ast.walk(_tree(text)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        of, _, last = called.rpartition(".")
        if not (called in functions or (last == "load" and of in modules)):
            continue
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "chapter")]
        if not (given and isinstance(given[0], ast.Constant)):
            raise ChapterError(
                f"{name}, line {node.lineno}: {called} wants the chapter's name as a literal, so "
                "that its content key can cover it"
            )
        names.add(str(given[0].value))
    return names


def _loaders(tree: ast.Module) -> tuple[set[str], set[str]]:
    """What a source calls the modules that load stored results, and their function."""
    modules, functions = set(_STORES), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {a.asname for a in node.names if a.name in _STORES and a.asname}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in _STORES:
                    modules.add(alias.asname or alias.name)
                elif alias.name == "load" and node.module in _SHOWN:
                    functions.add(alias.asname or alias.name)
                elif alias.name == "results" and node.module in _SHOWN:
                    modules.add(alias.asname or alias.name)
    return modules, functions


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
    return record_of(notebook.read_text(encoding="utf-8")) if notebook.exists() else None


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
