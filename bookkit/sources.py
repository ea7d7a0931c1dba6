"""What the sources of ``helpers`` say of themselves: public names, signatures, docstrings.

Sources are parsed and never imported, so that what reads them waits for no kernel.
"""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bookkit.chapters import ROOT

PACKAGE = ROOT / "helpers"
WIDEST = 84
"""Characters of a signature on one line; a longer one has a line for each argument."""
_SECTION = re.compile(
    r"((?:Args|Attributes|Returns|Raises|Example|Source|Cost|Errors)"
    r"(?: of [a-z ]+|, [a-z ]+)?):(?: (.*))?"
)
_LISTS = ("Args", "Attributes", "Raises")
_ITEM = re.compile(r"(\*{0,2}[A-Za-z_][\w.]*(?:(?:, | and )\*{0,2}[A-Za-z_][\w.]*)*): +(\S.*)")
_ROLE = re.compile(r":(func|data|class|mod|meth|attr):`~?([\w.]+)`")
_KEPT = re.compile(  # literals, roles, formulas and examples; the bars elsewhere are bars
    r"``.+?``|:[\w:]+:`[^`]+`"
    r"|^( *)\.\. math::[^\n]*(?:\n(?:\1 +[^\n]*|[ ]*(?=\n)))*"
    r"|^ *>>> [^\n]*(?:\n *[^\s][^\n]*)*",
    re.M | re.S,
)
_FLOOR = re.compile(r"^([A-Z][^\n]*)::\n\n((?:    [^\n]*\n?)+)", re.M)


@dataclass(frozen=True)
class Entry:
    """A public name.

    Attributes:
        module: Its module, below ``helpers``, such as ``cube.fourier``.
        name: As in the module; of a method, with its class: ``Draws.normal``.
        kind: ``"function"``, ``"class"``, ``"exception"``, ``"data"``, ``"method"`` or
            ``"property"``.
        signature: What follows the name: arguments and result, or a value.
        doc: The docstring, empty where there is none.
        members: Public methods and properties of a class.
    """

    module: str
    name: str
    kind: str
    signature: str
    doc: str
    members: tuple[Entry, ...] = ()

    @property
    def full(self) -> str:
        """The name with its module, as in an import."""
        return f"helpers.{self.module}.{self.name}"


@dataclass(frozen=True)
class Module:
    """A module: its name below ``helpers``, its file, its docstring and its public names.

    Attributes:
        passed_on: Names that it passes on from modules below it, each with where it is from.
        imported: Every name that it imports from the package, with where it is from.
    """

    name: str
    path: Path
    doc: str
    entries: tuple[Entry, ...]
    passed_on: Mapping[str, str] = field(default_factory=dict)
    imported: Mapping[str, str] = field(default_factory=dict)


def modules_of(room: str) -> list[str]:
    """Names of a room's public modules, the room's own first.

    Raises:
        ValueError: no such room.
    """
    if (file := PACKAGE / f"{room}.py").is_file():
        return [file.stem]
    if not room.isidentifier() or not (PACKAGE / room / "__init__.py").is_file():
        raise ValueError(f"helpers has no room {room!r}")
    inner = sorted(path.stem for path in (PACKAGE / room).glob("[a-z]*.py"))
    return [room, *(f"{room}.{name}" for name in inner)]


def rooms() -> list[str]:
    """Every room, by name."""
    return sorted(
        path.stem
        for path in PACKAGE.iterdir()
        if re.match(r"[a-z]", path.name)
        and (path.suffix == ".py" or (path / "__init__.py").exists())
    )


@functools.cache
def read(module: str) -> Module:
    """What a module offers; each is read once."""
    path = _file(module)
    text = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    listed = _listed(tree)
    imported = _imported(tree)
    entries = []
    for node in tree.body:
        entries += [e for e in _entries(node, lines, module) if _is_public(e.name, listed)]
    entries = list({entry.name: entry for entry in entries}.values())  # the last of overloads
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        entries = [_with_words(entry, node, after) for entry in entries]
    passed_on = {}
    for name in sorted(listed or ()):
        source = imported.get(name, "").removeprefix("helpers.").rpartition(".")[0]
        if source.rpartition(".")[2].startswith("_"):  # a private module's name has its door here
            found = [e for e in read(source).entries if e.name == name]
            entries += [Entry(module, e.name, e.kind, e.signature, e.doc, e.members) for e in found]
        elif source:
            passed_on[name] = imported[name]
    doc = ast.get_docstring(tree) or ""
    return Module(module, path, doc, tuple(entries), passed_on, imported)


def _file(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _is_public(name: str, listed: set[str] | None) -> bool:
    return name in listed if listed is not None else not name.startswith("_")


def _listed(tree: ast.Module) -> set[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def _imported(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "helpers"
        for alias in node.names
    }


def _entries(node: ast.stmt, lines: list[str], module: str) -> Iterator[Entry]:
    """What one statement of a module names; statements inside an ``if`` count."""
    if isinstance(node, ast.If):
        for inner in (*node.body, *node.orelse):
            yield from _entries(inner, lines, module)
    elif isinstance(node, ast.FunctionDef):
        doc = ast.get_docstring(node) or ""
        yield Entry(module, node.name, "function", signature(node, lines), doc)
    elif isinstance(node, ast.ClassDef):
        yield _class(node, lines, module)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and target.id != "__all__":
            value = _segment(lines, node.value)
            shown = value if len(value) <= WIDEST else f"{value[: WIDEST - 4]} ..."
            yield Entry(module, target.id, "data", f" = {shown}", "")


def _with_words(entry: Entry, node: ast.stmt, after: ast.stmt) -> Entry:
    """A constant with the string behind it as its docstring."""
    target = getattr(node, "target", None) or next(iter(getattr(node, "targets", [])), None)
    if entry.kind != "data" or not isinstance(target, ast.Name) or target.id != entry.name:
        return entry
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return Entry(entry.module, entry.name, "data", entry.signature, str(after.value.value))
    return entry


def _class(node: ast.ClassDef, lines: list[str], module: str) -> Entry:
    bases = {ast.unparse(base) for base in node.bases}
    decorated = any("dataclass" in ast.unparse(d) for d in node.decorator_list)
    shown, members = "", []
    if decorated or "NamedTuple" in bases:
        shown = _laid_out([_segment(lines, part) for part in node.body if _is_field(part)], "")
    for part in node.body:
        if not isinstance(part, ast.FunctionDef):
            continue
        if part.name == "__init__":
            shown = signature(part, lines, bound=True)
        if part.name.startswith("_") and part.name != "__call__":
            continue
        decorators = {ast.unparse(d).rpartition(".")[2] for d in part.decorator_list}
        name, doc = f"{node.name}.{part.name}", ast.get_docstring(part) or ""
        if decorators & {"property", "cached_property"}:
            result = f": {_segment(lines, part.returns)}" if part.returns else ""
            members.append(Entry(module, name, "property", result, doc))
        else:
            bound = "staticmethod" not in decorators
            members.append(Entry(module, name, "method", signature(part, lines, bound=bound), doc))
    kind = "exception" if any(b.endswith(("Error", "Exception")) for b in bases) else "class"
    doc = ast.get_docstring(node) or ""
    return Entry(module, node.name, kind, shown, doc, tuple(members))


def _is_field(part: ast.stmt) -> bool:
    if not isinstance(part, ast.AnnAssign) or not isinstance(part.target, ast.Name):
        return False
    hidden = part.value is not None and "init=False" in ast.unparse(part.value)
    return not hidden and not part.target.id.startswith("_")


def signature(node: ast.FunctionDef, lines: list[str], bound: bool = False) -> str:
    """A function's arguments and result, as written.

    Args:
        node: The function.
        lines: Of the source that it is from.
        bound: The first argument is the object, and is left out.
    """
    of, parts = node.args, []
    placed = [*of.posonlyargs, *of.args]
    defaults = [None] * (len(placed) - len(of.defaults)) + of.defaults
    for k, (argument, default) in enumerate(zip(placed, defaults, strict=True)):
        parts.append(_argument(lines, argument, default))
        if of.posonlyargs and k == len(of.posonlyargs) - 1:
            parts.append("/")
    if of.vararg:
        parts.append(f"*{_argument(lines, of.vararg, None)}")
    elif of.kwonlyargs:
        parts.append("*")
    named = zip(of.kwonlyargs, of.kw_defaults, strict=True)
    parts += [_argument(lines, argument, default) for argument, default in named]
    if of.kwarg:
        parts.append(f"**{_argument(lines, of.kwarg, None)}")
    result = _segment(lines, node.returns) if node.returns else ""
    return _laid_out(parts[1:] if bound else parts, result)


def _argument(lines: list[str], argument: ast.arg, default: ast.expr | None) -> str:
    shown = _segment(lines, argument)
    if default is None:
        return shown
    return f"{shown}{' = ' if argument.annotation else '='}{_segment(lines, default)}"


def _segment(lines: list[str], node: ast.expr | ast.stmt | ast.arg) -> str:
    """The source of a node on one line; as :func:`ast.get_source_segment`, which splits it anew."""
    last = node.end_lineno or node.lineno
    taken = [line.encode() for line in lines[node.lineno - 1 : last]]
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return " ".join(b"".join(taken).decode().split())


def _laid_out(parts: list[str], result: str) -> str:
    arrow = f" -> {result}" if result else ""
    line = f"({', '.join(parts)}){arrow}"
    if len(line) <= WIDEST:
        return line
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){arrow}"


@functools.cache
def known() -> dict[str, str]:
    """Full name of all that is documented, and by which role it is linked."""
    found = {}
    for room in rooms():
        for module in modules_of(room):
            found[f"helpers.{module}"] = "mod"
            for entry in read(module).entries:
                for one in (entry, *entry.members):
                    found[one.full] = {"function": "func", "method": "meth"}.get(one.kind, "obj")
    return found


def documented(full: str) -> str | None:
    """The name under which ``full`` is documented, wherever a module passes it on; None if not.

    >>> documented("helpers.cube.spectrum"), documented("helpers.cube.nothing")
    ('helpers.cube.fourier.spectrum', None)
    """
    for _ in range(4):
        package, _, last = full.rpartition(".")
        if full in known() or known().get(package) != "mod":
            break
        module = read(package.removeprefix("helpers."))
        full = module.imported.get(last, "")
    return full if full in known() else None


def resolved(name: str, module: Module, owner: str = "") -> str | None:
    """Full name of what a docstring calls ``name``; None where that is not documented.

    Args:
        name: As in the docstring.
        module: Whose docstring it is.
        owner: The class, of a class's docstring or a method's.
    """
    head, _, tail = name.partition(".")
    near = f"helpers.{module.name}"
    tried = [name, f"{near}.{name}", f"{near}.{owner}.{name}"]
    if head in module.imported:
        tried.append(f"{module.imported[head]}.{tail}".rstrip("."))
    return next((full for one in tried if (full := documented(one))), None)


def as_rst(doc: str, module: Module, owner: str = "") -> str:
    """A docstring in reStructuredText: its sections become fields, its links full names.

    Args:
        doc: The docstring, its indentation taken off.
        module: Whose docstring it is.
        owner: The class that it belongs to.
    """

    def link(found: re.Match[str]) -> str:
        full = resolved(found[2], module, owner)
        if full is None:
            return f"``{found[2]}``"
        return f":py:{known()[full]}:`{'' if found[1] == 'mod' else '~'}{full}`"

    lines = _plain(_ROLE.sub(link, doc)).splitlines()
    made: list[str] = []
    while lines:
        line = lines.pop(0)
        section = _SECTION.fullmatch(line)
        before = not made or not made[-1].strip() or made[-1].startswith((" ", ":"))
        if not section or not before:
            made.append(line)
            continue
        body = []
        while lines and (not lines[0].strip() or lines[0].startswith(" ") or section[2]):
            if section[2] and not lines[0].strip():
                break
            body.append(lines.pop(0))
        made += ["", *_field(section[1], section[2], body), ""]
    return "\n".join(made)


def _plain(text: str) -> str:
    """The text with its bars escaped, such as those of ``|S|``: they refer to nothing."""
    made, end = [], 0
    for kept in _KEPT.finditer(text):
        made += [text[end : kept.start()].replace("|", r"\|"), kept[0]]
        end = kept.end()
    return "".join([*made, text[end:].replace("|", r"\|")])


def _field(name: str, first: str | None, body: list[str]) -> list[str]:
    inner = textwrap.dedent("\n".join(body)).strip("\n").splitlines()
    if first is not None:
        inner = [first, *(line.strip() for line in inner)]
    elif name.startswith(_LISTS):
        inner = _items(inner)
    return [f":{name}:", *(f"    {line}" if line.strip() else "" for line in inner)]


def _items(lines: list[str]) -> list[str]:
    """Lines ``name: text`` as a list of definitions."""
    made: list[str] = []
    for line in lines:
        found = _ITEM.fullmatch(line)
        if found:
            made += ["", f"``{found[1]}``", f"    {found[2]}"]
        else:
            made.append(f"    {line.strip()}" if made else line)
    return made


def floors() -> dict[str, list[tuple[str, str]]]:
    """The map of the package: each floor's modules, with the first line of each."""
    doc = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))) or ""
    found = {}
    for floor in _FLOOR.finditer(f"{doc}\n"):
        lines = [line.split(maxsplit=1) for line in floor[2].splitlines() if line.strip()]
        found[floor[1]] = [(name, words) for name, words in lines]
    return found
