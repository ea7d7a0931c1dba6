"""Why a chapter is stale: the pieces of its key, and where they are kept.

The key of a chapter is all that its outputs depend on, in pieces: its code, its parameters, the
definitions of the package that it reaches, the versions of the packages that compute, the rows of
the register that it names and the stored results that it loads. Not its prose, no comment and no
docstring; line ends do not count. The pieces of the book's own notebooks stand in one lock file
beside them, ``book/keys.json``; a notebook elsewhere carries its own.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from bookkit.definitions import graph, of_chapter
from bookkit.parameters import ChapterError
from bookkit.results import write_atomically
from bookkit.syntax import digest, dotted, dump, parse

Pieces = dict[str, dict[str, str]]
"""By kind, or by module, the names of pieces and a hash of each; of a package its version."""
COMPUTES = ("torch", "triton", "numpy", "scipy", "numba", "llvmlite", "pandas", "matplotlib")
"""The packages of which a version counts, beside those that a chapter imports itself."""
CELL_METADATA = ("tags", "mystnb")
"""What the runner leaves of a cell's metadata."""
LOCK = "keys.json"
TEXT, NOTEBOOK = "text", "notebook"
"""Two pieces of an entry that are not of its key: the source as it was taken, and the outputs."""
SHOWN = 3
_LOADS = {("bookkit.results", "load"), ("bookkit.own", "load")}
_ACTING_TAGS = ("parameters", "raises-exception", "skip-execution")
_HEADER = re.compile(r"\A# ---\n.*?\n# ---\n", re.DOTALL)
_STRINGS = re.compile(r"""["']([\w.-]+)["']""")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def pieces(
    text: str, name: str, root: Path, parameters: Mapping[str, Any], *, keeps: bool = False
) -> Pieces:
    """All that the outputs of a chapter depend on, and the hash of its text.

    Args:
        text: Its source.
        name: Of the chapter.
        root: Folder of its book.
        parameters: Of the run.
        keeps: Whether the run stores its tables. Then its own are no input of it, and of others
            their numbers are, not when and where they were made.
    """
    results = root / "results"
    files = sorted(f for of in loaded(text, name) | {name} for f in results.glob(f"{of}.*"))
    own = f"{name}.".rpartition("/")[2]
    stored = [f for f in files if not keeps or (f.suffix == ".csv" and not f.name.startswith(own))]
    found = {
        "code": {"": digest(*_code(text))},
        "parameters": {"": digest(json.dumps(dict(parameters), sort_keys=True))},
        "environment.yml": _versions(read(root / "environment.yml"), text),
        "register": {
            id: digest(json.dumps(row, sort_keys=True)) for id, row in _rows(text, root).items()
        },
        "results": {f.relative_to(results).as_posix(): digest(read(f)) for f in stored},
        **graph().reached(text),
        TEXT: {"": digest(text)},
    }
    return {kind: named for kind, named in found.items() if named}


def combined(of: Pieces) -> str:
    """One hash of a key, where there is no place for its pieces."""
    key = {kind: named for kind, named in of.items() if kind not in (TEXT, NOTEBOOK)}
    return digest(json.dumps(key, sort_keys=True))


def differences(old: Pieces, new: Pieces) -> list[str]:
    """What of a key changed, in words; first what is in both, then what came and what went."""
    changes: list[tuple[int, int, str]] = []
    order = ("code", "parameters", "environment.yml", "register", "results")
    for kind in (old.keys() | new.keys()) - {TEXT, NOTEBOOK}:
        before, after = old.get(kind, {}), new.get(kind, {})
        for name in before.keys() | after.keys():
            was, now = before.get(name), after.get(name)
            if was == now:
                continue
            word = "changed" if was and now else "added" if now else "gone"
            words = {
                "code": "its code changed",
                "parameters": "parameters changed",
                "environment.yml": f"environment.yml: {name} {was or 'none'} -> {now or 'none'}",
                "register": f"register row {name} {word}",
                "results": f"results/{name} {word}",
            }.get(kind, f"{f'{kind}.{name}'.rstrip('.')} {word}")
            place = order.index(kind) if kind in order else len(order)
            changes.append((word != "changed" and kind not in order, place, words))
    return [words for *_, words in sorted(changes)]


def shortened(reasons: list[str]) -> str:
    """The first reasons, and how many more there are."""
    more = [f"{len(reasons) - SHOWN} more"] if len(reasons) > SHOWN else []
    return "; ".join([*reasons[:SHOWN], *more])


def stale(name: str, root: Path, target: Path, now: Pieces) -> list[str]:
    """Why a notebook is not that of its inputs; nothing if it is."""
    entry = entry_of(name, root, target)
    if entry is None:
        return ["never executed"]
    content = _content(target)
    if content is None or content["metadata"]["book"]["outputs"] != outputs_key(content):
        return ["the notebook was edited after it was executed"]
    if entry[NOTEBOOK][""] != content["metadata"]["book"]["outputs"]:
        return [f"the notebook is not the one of which {LOCK} tells"]
    return differences(entry, now)


def has_stale_text(name: str, root: Path, target: Path, now: Pieces) -> bool:
    """Whether words, comments or captions of a notebook are not those of its source."""
    entry = entry_of(name, root, target)
    return entry is not None and entry[TEXT] != now[TEXT]


def entry_of(name: str, root: Path, target: Path) -> Pieces | None:
    """The pieces of the key that a notebook was executed from; None if it never was."""
    content = _content(target)
    if content is None:
        return None
    if target != own_notebook(name, root):
        made = content["metadata"]["book"]
        return {**made["key"], NOTEBOOK: {"": made["outputs"]}} if made.get("key") else None
    return _lock(root).get(name)


def store(name: str, root: Path, entry: Pieces, notebook: str) -> None:
    """Keep the pieces that a stored notebook of the book was executed from.

    After the notebook itself: a run that is killed between the two leaves an entry of another
    notebook, by which the chapter is stale. Two runs of one book wait for each other here.
    """
    outputs = json.loads(notebook)["metadata"]["book"]["outputs"]
    with _alone_in(root / "book"):
        entries = {n: e for n, e in _lock(root).items() if (root / "book" / f"{n}.py").is_file()}
        entries[name] = {**entry, NOTEBOOK: {"": outputs}}
        write_atomically(root / "book" / LOCK, written(entries))


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, which ends with this process; on Windows there is none."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a disk of a network may have no locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def written(entries: Mapping[str, Pieces]) -> str:
    """The lock file: a line for each kind, or module, of each chapter, so that a diff is short."""
    chapters = []
    for name, entry in sorted(entries.items()):
        lines = [
            f"  {json.dumps(kind)}: {json.dumps(named, sort_keys=True)}"
            for kind, named in sorted(entry.items())
        ]
        chapters.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(chapters) + "\n}\n"


def own_notebook(name: str, root: Path) -> Path:
    """Where the notebook of a chapter lies in its book."""
    return root / "book" / f"{name}.ipynb"


def _lock(root: Path) -> dict[str, Pieces]:
    path = root / "book" / LOCK
    try:
        found = path.stat()
    except FileNotFoundError:
        return {}
    return _locked(path, found.st_ino, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=4)
def _locked(path: Path, file: int, changed: int, size: int) -> dict[str, Pieces]:
    try:
        return dict(json.loads(read(path)))
    except ValueError as error:
        raise ChapterError(
            f"{path} is no JSON ({error}); settle the merge that left it so, or delete it and "
            "execute all chapters"
        ) from None


def outputs_key(content: Mapping[str, Any]) -> str:
    """Hash of what an executed notebook holds and puts out, and of how it was executed.

    Of the cells their kinds, texts, tags, captions, attachments and outputs; of what the runner
    notes all but this hash.
    """
    made = {k: v for k, v in content["metadata"]["book"].items() if k != "outputs"}
    hashed = [json.dumps(made, sort_keys=True)]
    for cell in content["cells"]:
        metadata = {k: v for k, v in cell["metadata"].items() if k in CELL_METADATA and v}
        kept = cell["cell_type"], cell["source"], metadata, cell.get("attachments", {})
        ran = cell.get("execution_count"), cell.get("outputs", [])
        hashed.append(json.dumps((kept, ran), sort_keys=True))
    return digest(*hashed)


def _content(notebook: Path) -> dict[str, Any] | None:
    """A notebook that the runner wrote; None if there is none."""
    try:
        content = json.loads(notebook.read_text(encoding="utf-8"))
        return content if "outputs" in content["metadata"]["book"] and content["cells"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def code_of(cell: str) -> str:
    """What a code cell does, whatever its comments and its layout."""
    try:
        body = parse(cell).body
    except SyntaxError:
        return cell  # a command of IPython
    lines = cell.splitlines()
    end = body[-1].end_lineno or 0 if body else 0
    last = lines[end - 1].encode()[body[-1].end_col_offset :].decode() if body else ""
    quiet = any(";" in line.partition("#")[0] for line in (last, *lines[end:]))
    return f"{dump(body)}{';' if quiet else ''}"


def _code(text: str) -> Iterator[str]:
    """Of each code cell of a source what it does, with the tags that matter to an execution."""
    head, cell = "# %%", list[str]()
    for line in [*_HEADER.sub("", text).splitlines(), "# %%"]:
        if not line.startswith("# %%"):
            cell.append(line)
            continue
        written = "\n".join(cell)
        if not re.match(r"# %%+ *\[(markdown|md|raw)\]", head) and written.strip():
            yield f"{[tag for tag in _ACTING_TAGS if json.dumps(tag) in head]}{code_of(written)}"
        head, cell = line, []


@functools.lru_cache(maxsize=4)
def _pins(environment: str) -> dict[str, str]:
    """The version of each package, by its name in small letters."""
    try:
        given = list(yaml.safe_load(environment)["dependencies"])
    except (yaml.YAMLError, KeyError, TypeError):
        raise ChapterError("environment.yml has no list of dependencies") from None
    listed = [p for group in given for p in (group["pip"] if isinstance(group, dict) else [group])]
    split = [re.match(r"([\w.-]+)\s*=*(.*)", pin) for pin in listed]
    return {found[1].lower(): found[2].strip() or "any" for found in split if found}


def _versions(environment: str, text: str) -> dict[str, str]:
    """The versions of what computes."""
    imported = {name.partition(".")[0].lower() for name in of_chapter(text).imports}
    wanted = {*COMPUTES, *imported}
    return {name: version for name, version in _pins(environment).items() if name in wanted}


def _rows(text: str, root: Path) -> dict[str, Any]:
    """Of each row of the register that a source names, what a ledger looks at."""
    file = root / "book" / "register.yml"
    if not file.is_file():
        return {}
    rows = _rows_of(file, file.stat().st_mtime_ns)
    return {id: rows[id] for id in _STRINGS.findall(text) if id in rows}


@functools.lru_cache(maxsize=4)
def _rows_of(register: Path, changed: int) -> dict[str, Any]:
    """Source, chapter and kind of all rows and parts of a register, by id; of none if no list."""
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
        visit(yaml.load(read(register), Loader=_LOADER), {})
    except yaml.YAMLError as error:
        raise ChapterError(f"{register.name}: {' '.join(str(error).split())}") from None
    return found


def loaded(text: str, name: str) -> set[str]:
    """Names of the chapters whose stored results a source loads, all of them literals.

    Raises:
        ChapterError: a load of a name that is computed, or of which the call cannot be seen.
    """
    meant = set(graph().chains(text, _LOADS))
    if not meant:
        return set()
    tree, names, called = parse(text), set[str](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func) in meant:
            called.add(id(node.func))
            given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "chapter")]
            if not (given and isinstance(given[0], ast.Constant)):
                raise _unseen(name, node, "wants the chapter's name as a literal")
            names.add(str(given[0].value))
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and dotted(node) in meant and id(node) not in called:
            raise _unseen(name, node, "must be called where it is named")
    return names


def _unseen(name: str, node: ast.expr, wanted: str) -> ChapterError:
    text = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    return ChapterError(
        f"{name}, line {node.lineno}: {text} {wanted}, so that its content key can cover it"
    )


def read(path: Path) -> str:
    """A file as text; ChapterError if it is none or is not there."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ChapterError(f"{path} is not UTF-8: {error.reason}") from None
    except OSError as error:
        raise ChapterError(f"{path} could not be read: {error.strerror}") from None
