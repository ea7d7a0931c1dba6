"""Which definitions of the package a source reaches, and a hash of each.

A definition is what the statements of a module that bind one name say: a function, a class, a
variable. Their syntax trees are hashed without comments, docstrings and layout. Names are followed
through imports and re-exports, and attributes through modules. Where a name cannot be followed (a
module as a value, ``import *``, ``globals``), all of the module counts. The statements that bind no
name count as soon as their module is imported, since they may do anything.

One thing is not followed: a decorator of the package that keeps what it decorates, so that another
function finds it there. None does; tests/bookkit/test_definitions.py lists the decorators.
"""

from __future__ import annotations

import ast
import functools
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bookkit.place import PACKAGE
from bookkit.syntax import digest, dotted, dump, is_text, parse

PACKAGES = ("helpers", "papers", "bookkit")
"""The packages whose definitions are followed, below :data:`bookkit.place.PACKAGE`."""
Name = tuple[str, str]
"""A module and a name in it; :data:`ACTS` is what it does when imported, :data:`ALL` all of it."""
ACTS, ALL = "", "*"
BUILTINS = {"eval", "exec", "globals", "__import__", "builtins"}
UNTRACEABLE = {"import_module"}
"""Names by which code reaches what it does not name: then all of its module counts. The builtins do
so by themselves only; as an attribute, ``model.eval()`` is another thing."""


@dataclass
class Module:
    """A module, or a chapter, by its statements.

    Attributes:
        name: Of the module; empty for a chapter.
        package: That its relative imports start from.
        bound: By name the statements that bind it.
        acts: The statements that bind no name.
        aliases: By name what imports bind it to: a module, then a name in it, or none.
        imports: The modules that it imports.
    """

    name: str
    package: str
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    acts: list[ast.AST] = field(default_factory=list)
    aliases: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, text: str, name: str = "", package: str = "") -> Module:
        """Read a source."""
        tree, made = parse(text), cls(name, package)
        if name:
            made._sort(tree.body)
        for node in ast.walk(tree):  # also the imports within functions
            if isinstance(node, ast.Import | ast.ImportFrom):
                made._take_import(node)
        return made

    def _sort(self, statements: Iterable[ast.stmt]) -> None:
        for node in statements:
            if isinstance(node, ast.If) and ast.unparse(node.test) in _NEVER:
                self._sort(node.orelse)
            elif isinstance(node, ast.If | ast.Try):
                blocks = [getattr(node, block, []) for block in ("body", "orelse", "finalbody")]
                blocks += [handler.body for handler in getattr(node, "handlers", [])]
                for block in blocks:
                    self._sort(block)
                # Which names stand under which condition; what they are is hashed by name.
                under = [sorted(name for s in block for name in _binds(s)) for block in blocks]
                self.acts += [getattr(node, "test", ast.Pass()), ast.Constant(repr(under))]
            elif names := _binds(node):
                for name in names:
                    self.bound.setdefault(name, []).append(node)
            elif not (is_text(node) or isinstance(node, ast.Import | ast.ImportFrom)):
                self.acts.append(node)

    def _take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports.add(alias.name)
                name = alias.name if alias.asname else alias.name.split(".")[0]
                self.aliases.setdefault(alias.asname or name, set()).add((name,))
            return
        above = self.package.split(".")[: -(node.level - 1) or None] if node.level else []
        origin = ".".join([*above, *filter(None, [node.module])])
        for alias in node.names:
            self.imports |= {origin, f"{origin}.{alias.name}"}
            self.aliases.setdefault(alias.asname or alias.name, set()).add((origin, alias.name))


@functools.lru_cache(maxsize=8)
def of_chapter(text: str) -> Module:
    """The module that a chapter is; every piece of its key asks for it."""
    return Module.of(text)


_DOTTED = re.compile(r"\w+(\.\w+)+")
_NEVER = ("__name__ == '__main__'", "TYPE_CHECKING", "typing.TYPE_CHECKING")


def _binds(node: ast.AST) -> list[str]:
    """The names that a statement binds, if it does nothing else."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    flat = [t for target in targets for t in getattr(target, "elts", [target])]
    simple = isinstance(node, ast.Assign | ast.AnnAssign)
    return [t.id for t in flat if isinstance(t, ast.Name)] if simple and _all_names(flat) else []


def _all_names(targets: list[ast.AST]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def mentioned(tree: ast.AST) -> Iterator[list[str]]:
    """Every name in a statement with the attributes behind it, every text, every attribute."""
    todo = [tree]
    while todo:
        node = todo.pop()
        chain = dotted(node)
        if chain is not None:
            yield chain.split(".")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield [node.value]
        else:
            if isinstance(node, ast.Attribute):
                yield ["", node.attr]
            todo += ast.iter_child_nodes(node)


class Graph:
    """The definitions of the packages below a folder, and what each reaches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules: dict[str, Module | None] = {}
        self._next: dict[Name, set[Name]] = {}
        self._hashes: dict[Name, str] = {}

    def module(self, name: str) -> Module | None:
        """A module of the packages by name; None if there is none."""
        if name not in self._modules:
            path = self.folder.joinpath(*name.split("."))
            files = [f for f in (path / "__init__.py", path.with_suffix(".py")) if f.is_file()]
            made = None
            if files and name.partition(".")[0] in PACKAGES:
                package = name if files[0].name == "__init__.py" else name.rpartition(".")[0]
                made = Module.of(files[0].read_text(encoding="utf-8"), name, package)
            self._modules[name] = made
        return self._modules[name]

    def reached(self, text: str) -> dict[str, dict[str, str]]:
        """By module the definitions that a source reaches, each with a hash."""
        chapter = of_chapter(text)
        todo = self._references(chapter, parse(text)) | self._imported(chapter)
        names: set[Name] = set()
        while todo:
            name = todo.pop()
            names.add(name)
            todo |= self._reaches(name) - names
        found: dict[str, dict[str, str]] = {}
        for of in sorted(names):
            if text := self._hash(of):
                found.setdefault(of[0], {})[of[1]] = text
        return found

    def chains(self, text: str, wanted: set[Name]) -> set[str]:
        """The names, with their attributes, by which a source means one of some definitions."""
        chapter = of_chapter(text)
        chains = {".".join(chain) for chain in mentioned(parse(text)) if chain[0]}
        return {c for c in chains if self._meant(chapter, c.split(".")) & wanted}

    def _reaches(self, name: Name) -> set[Name]:
        """What a definition reaches directly."""
        if name not in self._next:
            module = self._known(name[0])
            found = self._imported(module)
            if name[1] == ALL:
                found |= {(module.name, own) for own in module.bound}
                found |= {(inner, ALL) for inner in self._below(module) if self.module(inner)}
                for target in set[tuple[str, ...]]().union(*module.aliases.values()):
                    found |= self._resolve(target)
            for tree in self._statements(name):
                found |= self._references(module, tree)
            self._next[name] = found
        return self._next[name]

    def _hash(self, name: Name) -> str:
        """Of a definition's statements and of what imports make of their names; empty if none."""
        if name not in self._hashes:
            statements, aliases = self._statements(name), self._known(name[0]).aliases
            roots = {name[1]} | {chain[0] for tree in statements for chain in mentioned(tree)}
            hashed = [*map(dump, statements)]
            hashed += [f"{root}={sorted(aliases[root])}" for root in sorted(roots & aliases.keys())]
            self._hashes[name] = digest(*hashed) if hashed else ""
        return self._hashes[name]

    def _statements(self, name: Name) -> list[ast.AST]:
        module = self._known(name[0])
        return module.acts if name[1] == ACTS else module.bound.get(name[1], [])

    def _references(self, module: Module, tree: ast.AST) -> set[Name]:
        """The definitions that a statement of a module names."""
        found: set[Name] = set()
        for chain in mentioned(tree):
            found |= self._meant(module, chain)
            if _DOTTED.fullmatch(chain[0]) and self.module(chain[0]):  # a text that names a module
                found.add((chain[0], ALL))
            if chain[0] in BUILTINS or not UNTRACEABLE.isdisjoint(chain):
                found |= {(m, ALL) for m in (module.name, *module.imports) if self.module(m)}
        return found

    def _meant(self, module: Module, chain: list[str]) -> set[Name]:
        """The definitions that a name with attributes stands for in a module."""
        found = {(module.name, chain[0])} if chain[0] in module.bound else set[Name]()
        for target in module.aliases.get(chain[0], ()):
            found |= self._resolve((*target, *chain[1:]))
        return found

    def _resolve(self, target: tuple[str, ...], seen: frozenset[Name] = frozenset()) -> set[Name]:
        """The definitions that a module, a name in it and attributes of that stand for."""
        name, *rest = target
        module = self.module(name)
        if module is None:
            return set()
        if not rest or rest[0] == ALL:
            return {(name, ALL)}
        here = name, rest[0]
        aliases = module.aliases.get(rest[0], set()) if here not in seen else set()
        found = {here} if rest[0] in module.bound else set[Name]()
        for alias in aliases:
            found |= self._resolve((*alias, *rest[1:]), seen | {here})
        if found or aliases:
            return found or {here}  # of another package
        inner = f"{name}.{rest[0]}"
        return self._resolve((inner, *rest[1:])) if self.module(inner) else {(name, ALL)}

    def _imported(self, module: Module) -> set[Name]:
        """What importing the modules that a module imports does, and the packages around them."""
        parts = [name.split(".") for name in (*module.imports, module.package)]
        names = {".".join(p[:k]) for p in parts for k in range(1, len(p) + 1)}
        found = {(name, ACTS) for name in names if self.module(name)}
        return found.union(*map(self._resolve, module.aliases.get(ALL, ())))

    def _below(self, module: Module) -> set[str]:
        """The names of the modules in a package."""
        if module.package != module.name:
            return set()
        folder = self.folder.joinpath(*module.name.split("."))
        names = {path.stem for path in folder.iterdir()} - {"__init__"}
        return {f"{module.name}.{name}" for name in names}

    def _known(self, name: str) -> Module:
        module = self.module(name)
        assert module is not None, name
        return module


def graph(folder: Path = PACKAGE) -> Graph:
    """The graph of the packages below a folder, made anew when one of their files changed."""
    stamps = []
    for at, _, names in itertools.chain(*(os.walk(folder / package) for package in PACKAGES)):
        for name in (n for n in names if n.endswith(".py")):
            found = os.stat(os.path.join(at, name))
            stamps.append((at, name, found.st_mtime_ns, found.st_size))
    return _graph(folder, tuple(sorted(stamps)))


@functools.lru_cache(maxsize=2)
def _graph(folder: Path, stamps: tuple[tuple[str, str, int, int], ...]) -> Graph:
    return Graph(folder)
