"""Syntax trees as text: the same for every Python, without comments, docstrings and layout."""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import threading
from collections.abc import Iterable, Iterator
from typing import Any

_PARSER = threading.Lock()
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@functools.lru_cache(maxsize=64)  # a key asks five times for the tree of a chapter
def parse(text: str) -> ast.Module:
    """Parse a source, one thread at a time: Python 3.11 counts the depth of all of them at once.

    Whoever asks for the same text gets the same tree, so nobody may change it.
    """
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
    fields = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, _Definition):
            value = [child for child in value if not is_text(child)]
        elif name == "values" and isinstance(node, ast.JoinedStr):
            value = list(_joined(value))
        if name not in ("ctx", "type_comment") and value is not None and value != []:
            fields.append(f"{name}={dump(value)}")
    return f"{type(node).__name__}({','.join(fields)})"


def is_text(node: ast.AST) -> bool:
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


def dotted(node: ast.AST) -> str | None:
    """A name with the attributes after it, such as ``figures.new``; None of another expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None
