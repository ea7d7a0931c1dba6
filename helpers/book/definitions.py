"""Which definitions of the package a source reaches, and a hash of each.

A definition is a function, a class or a variable of a module, by its syntax tree: comments,
docstrings and layout do not count, and every Python from 3.11 on hashes it alike. Names are
followed through imports, re-exports and attributes of modules. Where they cannot be followed, more
is taken: a whole module (``import *``, a module as a value, an attribute that it does not define),
the text of all that is reached (``eval``, ``globals``), and of each imported module every statement
that may act when it is imported.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers.book.place import PACKAGE
from helpers.book.syntax import (
    Mentions,
    Source,
    Target,
    calls_at_import,
    digest,
    dotted,
    dump,
    holds_state,
    local_imports,
    parse,
    read_chapter,
)

PACKAGES = ("helpers",)
"""The packages whose definitions are followed, below :data:`helpers.book.place.PACKAGE`."""
Name = tuple[str, str]
"""A module and what it defines; the empty name is what importing the module does."""
_ALL = "*"
"""In place of a name: all names of a module and, of a package, of its modules."""
_UNTRACEABLE = {
    *("eval", "exec", "globals", "__globals__", "__import__", "import_module"),
    *("__subclasses__", "__doc__", "getdoc", "getsource", "getsourcelines"),
}
_HARMLESS_MODULES = {
    *("abc", "collections", "contextlib", "dataclasses", "enum", "functools", "itertools"),
    *("math", "operator", "pathlib", "re", "time", "typing"),
}
_HARMLESS = {
    *("cycler.cycler", "numba.njit", "numba.extending.intrinsic", "threading.Lock", "triton.jit"),
    *("numba.void", "numpy.float32", "torch.autograd.Function", "torch.nn.Module"),
    *("torch.no_grad", "torch.ones", "torch.tensor", "torch.zeros"),
}
"""What may be called at import and leaves no trace but its value; all else counts as an act."""
_ACTING = {"eval", "exec", "setattr", "delattr", "__import__", "open", "print"}
_MODULE = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+")


class Graph:
    """The definitions of the packages below a folder, and what each reaches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources: dict[str, Source | None] = {}
        self._next: dict[Name, set[Name]] = {}
        self._hashes: dict[Name, str] = {}
        self._kept: dict[Name, bool] = {}
        self._mentions: dict[int, Mentions] = {}
        self._named: dict[Name, set[Name]] = {}
        self._acting: dict[str, list[tuple[str, ast.AST]]] = {}

    def file(self, module: str) -> Path | None:
        """The file of a module of the packages."""
        if module.partition(".")[0] not in PACKAGES:
            return None
        path = self.folder.joinpath(*module.split("."))
        return next(
            (p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None
        )

    def source(self, module: str) -> Source | None:
        """A module of the packages by name; None if there is none."""
        if module not in self.sources:
            file = self.file(module)
            made = None
            if file is not None:
                package = module if file.name == "__init__.py" else module.rpartition(".")[0]
                text = file.read_text(encoding="utf-8")
                made = Source(module, package, text).sort(parse(text).body)
            self.sources[module] = made
        return self.sources[module]

    def reached(self, text: str) -> dict[str, dict[str, str]]:
        """By module the definitions that a source reaches, each with a hash of its syntax tree."""
        chapter, mentioned = read_chapter(text)
        names = self.closure(self._used(chapter, mentioned) | self._imported(chapter.imports))
        found: dict[str, dict[str, str]] = {}
        for module, name in sorted(names):
            if told := self.hash((module, name)):
                found.setdefault(module, {})[name] = told
        all_mentioned = itertools.chain([mentioned], *map(self._parts_mention, names))
        if any(not _UNTRACEABLE.isdisjoint(m.attributes) for m in all_mentioned):
            return {module: {"": digest(self._known(module).text)} for module, _ in names}
        return found

    def stands_for(self, text: str, wanted: set[Name]) -> Iterator[str]:
        """The names, with their attributes, by which a source means one of some definitions."""
        chapter, mentioned = read_chapter(text)
        for chain in mentioned.names:
            root, *rest = chain.split(".")
            targets = ((*alias, *rest) for alias in chapter.aliases.get(root, ()))
            if any(self._resolve(target) & wanted for target in targets):
                yield chain

    def closure(self, names: set[Name]) -> set[Name]:
        """These names and all that they reach."""
        found: set[Name] = set()
        todo = set(names)
        while todo:
            name = todo.pop()
            found.add(name)
            todo |= self.next(name) - found
        return found

    def next(self, name: Name) -> set[Name]:
        """What a definition reaches directly."""
        if name not in self._next:
            source = self._known(name[0])
            found = self._uses(name)
            if name[1] == _ALL:
                found |= {(source.name, own) for own in ("", *source.bound, *source.aliases)}
                found |= {(inner, _ALL) for inner in self._modules_in(source)}
                for target in set[Target]().union(*source.aliases.values()):
                    found |= self._resolve(target)
            elif name[1]:
                found |= {(source.name, "")}
                for mentioned in self._parts_mention(name):
                    found |= self._imported(local_imports(source, mentioned).imports)
            else:
                found |= self._imported(source.imports | {source.package})
            self._next[name] = found - {name}
        return self._next[name]

    def hash(self, name: Name) -> str:
        """Of a definition's statements and what imports make of its names; empty if it has none."""
        if name not in self._hashes:
            aliases = self._known(name[0]).aliases
            told = [f"{condition} {dump(tree)}" for condition, tree in self._parts(name)]
            chains = set().union(*(m.names for m in self._parts_mention(name)))
            told += sorted(
                f"{root}={':'.join(target)}"
                for root in {chain.partition(".")[0] for chain in chains} | {name[1]}
                for target in aliases.get(root, ())
            )
            self._hashes[name] = digest(*told) if told else ""
        return self._hashes[name]

    def _known(self, module: str) -> Source:
        source = self.source(module)
        assert source is not None, module
        return source

    def _parts(self, name: Name) -> list[tuple[str, ast.AST]]:
        """The statements of a definition or, without a name, those that act when imported."""
        source = self._known(name[0])
        return source.bound.get(name[1], []) if name[1] else self._acts(source)

    def _parts_mention(self, name: Name) -> list[Mentions]:
        return [self._mention(tree) for _, tree in self._parts(name)]

    def _mention(self, tree: ast.AST) -> Mentions:
        if id(tree) not in self._mentions:
            self._mentions[id(tree)] = Mentions.of(tree)
        return self._mentions[id(tree)]

    def _uses(self, name: Name) -> set[Name]:
        """The definitions that another names, without what imports do."""
        if name not in self._named:
            source = self._known(name[0])
            used = (self._used(source, mentioned) for mentioned in self._parts_mention(name))
            self._named[name] = set[Name]().union(*used)
        return set(self._named[name])

    def _used(self, source: Source, mentioned: Mentions) -> set[Name]:
        """The definitions that a statement of a source names."""
        inner = local_imports(source, mentioned)
        stars = source.stars | inner.stars
        found = {(star, _ALL) for star in stars if self.source(star)}
        for chain in mentioned.names:
            root, *rest = chain.split(".")
            for target in source.aliases.get(root, set()) | inner.aliases.get(root, set()):
                found |= self._resolve((*target, *rest))
            if root in source.bound:
                found.add((source.name, root))
        modules = {t for t in mentioned.texts if _MODULE.fullmatch(t) and self.source(t)}
        return found | {(module, _ALL) for module in modules}

    def _resolve(self, target: Target) -> set[Name]:
        """The definitions that a name stands for, and those of the imports on its way."""
        found: set[Name] = set()
        todo, seen = [target], set()
        while todo:
            target = todo.pop()
            if target in seen:
                continue
            seen.add(target)
            module, *rest = target
            source = self.source(module)
            if source is None:
                continue
            if not rest:
                found.add((module, _ALL))
            elif rest[0] in source.bound or rest[0] in source.aliases:
                found.add((module, rest[0]))
                todo += [(*alias, *rest[1:]) for alias in source.aliases.get(rest[0], ())]
                if (module, rest[0]) in source.aliases.get(rest[0], ()):  # from . import module
                    todo.append((f"{module}.{rest[0]}", *rest[1:]))
            elif self.source(inner := f"{module}.{rest[0]}"):
                todo.append((inner, *rest[1:]))
            else:
                found.add((module, _ALL))
        return found

    def _modules_in(self, source: Source) -> Iterator[str]:
        """The modules of a package."""
        if source.package == source.name:
            folder = self.folder.joinpath(*source.name.split("."))
            names = {f"{source.name}.{path.stem}" for path in folder.iterdir()}
            names.discard(f"{source.name}.__init__")
            yield from (name for name in sorted(names) if self.source(name))

    def _imported(self, modules: Iterable[str]) -> set[Name]:
        """What importing modules does, and importing the packages that they lie in."""
        parts = [module.split(".") for module in modules]
        names = {".".join(p[:k]) for p in parts for k in range(1, len(p) + 1)}
        return {(name, "") for name in names if self.source(name) is not None}

    def _acts(self, source: Source) -> list[tuple[str, ast.AST]]:
        """The statements of a module that may do more, when it is imported, than define names."""
        if source.name not in self._acting:
            parts = {id(tree): (c, tree) for of in source.bound.values() for c, tree in of}
            self._acting[source.name] = source.loose + [
                part
                for part in parts.values()
                if not all(self._is_harmless(source, called) for called in calls_at_import(part[1]))
            ]
        return self._acting[source.name]

    def _is_harmless(self, source: Source, called: ast.expr) -> bool:
        """Whether a call made at import leaves no trace but its value."""
        chain = dotted(called)
        if chain is None:
            return True  # of a value that was made in the same expression
        root, *rest = chain.split(".")
        if root not in source.bound and root not in source.aliases:
            return root not in _ACTING or not hasattr(builtins, root)
        names = {(source.name, root)} if root in source.bound else set[Name]()
        for alias in source.aliases.get(root, ()):
            target = (*alias, *rest)
            if self.source(target[0]):
                names |= self._resolve(target)
            elif target[0].split(".")[0] in _HARMLESS_MODULES or ".".join(target) in _HARMLESS:
                continue
            else:
                return False
        return not any(self._keeps(name) for name in self._definitions(names))

    def _definitions(self, names: set[Name]) -> set[Name]:
        """The same as :meth:`closure`, without what imports do."""
        found: set[Name] = set()
        todo = {name for name in names if name[1]}
        while todo:
            name = todo.pop()
            found.add(name)
            todo |= {other for other in self._uses(name) if other[1]} - found
        return found

    def _keeps(self, name: Name) -> bool:
        """Whether a definition holds, or changes, what outlives a call: a registry perhaps."""
        if name not in self._kept:
            hidden = any(
                not _UNTRACEABLE.isdisjoint(m.attributes) for m in self._parts_mention(name)
            )
            holds = any(holds_state(tree) for _, tree in self._parts(name))
            self._kept[name] = name[1] == _ALL or hidden or holds
        return self._kept[name]


def graph(folder: Path = PACKAGE) -> Graph:
    """The graph of the packages below a folder, made anew when one of their files changed."""
    stamps = []
    for package in PACKAGES:
        for at, _, names in os.walk(folder / package):
            for name in names:
                if name.endswith(".py"):
                    found = os.stat(os.path.join(at, name))
                    stamps.append((at, name, found.st_mtime_ns, found.st_size))
    return _graph(folder, tuple(sorted(stamps)))


@functools.lru_cache(maxsize=2)
def _graph(folder: Path, stamps: tuple[tuple[str, str, int, int], ...]) -> Graph:
    return Graph(folder)
