"""What a Python source says, statement by statement: what each defines, mentions and calls.

A statement's tree is told in one way by every Python from 3.11 on, without comments, docstrings and
layout.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Target = tuple[str, ...]
"""A module, then a name in it and attributes of that."""
_UNCHANGING = {"TypeVar", "compile", "frozenset", "partial", "tuple"}
_PARSER = threading.Lock()
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse(text: str) -> ast.Module:
    """Parse a source, one thread at a time: Python 3.11 counts the depth of all of them at once."""
    with _PARSER:
        return ast.parse(text)


def digest(*texts: str) -> str:
    """A hash of texts, short enough to read in a diff."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def dump(node: Any) -> str:
    """A syntax tree as text that is the same for every Python: without positions and docstrings."""
    if isinstance(node, list):
        return f"[{','.join(map(dump, node))}]"
    if isinstance(node, ast.Constant):
        return ascii(node.value)
    if not isinstance(node, ast.AST):
        return ascii(node)
    told = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, _Definition):
            value = [child for child in value if not _is_text(child)]
        elif name == "values" and isinstance(node, ast.JoinedStr):
            value = list(_joined(value))
        if name not in ("ctx", "type_comment") and value is not None and value != []:
            told.append(f"{name}={dump(value)}")
    return f"{type(node).__name__}({','.join(told)})"


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, of whatever stands above it."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _joined(values: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The parts of an f-string; how its text is cut into constants depends on the Python."""
    for constant, parts in itertools.groupby(values, lambda v: isinstance(v, ast.Constant)):
        if constant:
            text = "".join(part.value for part in parts)  # type: ignore[attr-defined]
            yield from [ast.Constant(text)] if text else []
        else:
            yield from parts


@dataclass
class Source:
    """A module, or a chapter, by its statements.

    Attributes:
        name: Of the module; empty for a chapter.
        package: That relative imports start from.
        text: All of it.
        bound: By name the statements that define it, with the conditions that they stand under.
        aliases: By name what imports give it: a module, and a name in it with attributes.
        loose: The other statements: those that define nothing, or more than plain names.
        imports: Modules that importing this one imports.
        stars: Of these, those imported by ``*``.
    """

    name: str
    package: str
    text: str
    bound: dict[str, list[tuple[str, ast.AST]]] = field(default_factory=dict)
    aliases: dict[str, set[Target]] = field(default_factory=dict)
    loose: list[tuple[str, ast.AST]] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    stars: set[str] = field(default_factory=set)

    def sort(self, statements: Iterable[ast.stmt], condition: str = "") -> Source:
        """Take up statements that stand under a condition."""
        for node in statements:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.take_import(node)
            elif isinstance(node, ast.If) and _is_main(node.test):
                self.sort(node.orelse, condition)
            elif isinstance(node, ast.If):
                self.loose.append((condition, node.test))
                test = dump(node.test)
                self.sort(node.body, f"{condition} if {test}")
                self.sort(node.orelse, f"{condition} unless {test}")
            elif isinstance(node, ast.Try):
                self.sort(node.body, f"{condition} try")
                for handler in node.handlers:
                    self.sort(handler.body, f"{condition} except {dump(handler.type)}")
                self.sort(node.orelse, f"{condition} else")
                self.sort(node.finalbody, f"{condition} finally")
            elif names := _defined(node):
                for name in names:
                    self.bound.setdefault(name, []).append((condition, node))
            elif not _is_text(node):
                self.loose.append((condition, node))
        return self

    def take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Take up an import."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports.add(alias.name)
                first, (parent, _, last) = alias.name.split(".")[0], alias.name.rpartition(".")
                target = (parent, last) if parent and alias.asname else (first,)
                self.aliases.setdefault(alias.asname or first, set()).add(target)
            return
        above = self.package.split(".")[: -(node.level - 1) or None] if node.level else []
        origin = ".".join([*above, *filter(None, [node.module])])
        for alias in node.names:
            self.imports |= {origin, f"{origin}.{alias.name}"}
            if alias.name == "*":
                self.stars.add(origin)
            else:
                name = alias.asname or alias.name
                self.aliases.setdefault(name, set()).add((origin, alias.name))


def _is_main(test: ast.expr) -> bool:
    return ast.unparse(test) in ("__name__ == '__main__'", "TYPE_CHECKING", "typing.TYPE_CHECKING")


def _defined(node: ast.AST) -> list[str]:
    """The names that a statement defines, if it does nothing else."""
    if isinstance(node, _Definition):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    flat = [t for target in targets for t in getattr(target, "elts", [target])]
    return [t.id for t in flat if isinstance(t, ast.Name)] if _all_names(flat) else []


def _all_names(targets: list[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def dotted(node: ast.AST) -> str | None:
    """A name with the attributes after it, such as ``figures.new``; None of another expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


@dataclass
class Mentions:
    """What a statement mentions: names with what follows them, texts, imports, attributes."""

    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, tree: ast.AST) -> Mentions:
        """All that a tree mentions."""
        found = cls()
        todo = [tree]
        while todo:
            node = todo.pop()
            chain = dotted(node)
            if chain is not None:
                found.names.add(chain)
                found.attributes.update(chain.split("."))
                continue
            if isinstance(node, ast.Attribute):
                found.attributes.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.texts.add(node.value)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.imports.append(node)
            todo += ast.iter_child_nodes(node)
        return found


@functools.lru_cache(maxsize=2)
def read_chapter(text: str) -> tuple[Source, Mentions]:
    """A source that is no module: all its imports are at its top."""
    chapter, mentioned = Source("", "", text), Mentions.of(parse(text))
    for node in mentioned.imports:
        chapter.take_import(node)
    return chapter, mentioned


def imported(text: str) -> set[str]:
    """The first names of all modules that a source imports."""
    return {module.partition(".")[0] for module in read_chapter(text)[0].imports}


def local_imports(source: Source, mentioned: Mentions) -> Source:
    """The imports within a statement of a source."""
    inner = Source(source.name, source.package, "")
    for node in mentioned.imports:
        inner.take_import(node)
    return inner


def calls_at_import(tree: ast.AST) -> Iterator[ast.expr]:
    """What a statement calls when it is executed; not what a function in it will call."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Lambda):
            todo += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d]
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from node.decorator_list
            todo += [
                *node.decorator_list,
                *(d for d in (*node.args.defaults, *node.args.kw_defaults) if d),
            ]
            continue
        if isinstance(node, ast.ClassDef):
            yield from (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
        if isinstance(node, ast.Call):
            yield node.func
        todo += ast.iter_child_nodes(node)


def holds_state(tree: ast.AST) -> bool:
    """Whether a definition is, or has, a value that can be changed, or sets a global."""
    if isinstance(tree, ast.Assign | ast.AnnAssign):
        return tree.value is not None and _can_change(tree.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global) or getattr(node, "name", "") == "__init_subclass__":
            return True
        if isinstance(node, ast.ClassDef):
            inner = [n for n in node.body if isinstance(n, ast.Assign | ast.AnnAssign)]
            if node.keywords or any(n.value and _can_change(n.value) for n in inner):
                return True
        given = (
            node.args if hasattr(node, "args") and isinstance(node.args, ast.arguments) else None
        )
        if given and any(d and _can_change(d) for d in (*given.defaults, *given.kw_defaults)):
            return True
    return False


def _can_change(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return any(map(_can_change, value.elts))
    if isinstance(value, ast.Call):
        return (dotted(value.func) or "").rpartition(".")[2] not in _UNCHANGING
    fixed = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.UnaryOp, ast.BinOp)
    return not isinstance(value, (*fixed, ast.Lambda, ast.JoinedStr, ast.Starred))
