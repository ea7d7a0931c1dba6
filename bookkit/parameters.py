"""The parameters of a chapter: literals of one cell, with their ranges, checked by runner and page.

The runner reads them in the source before any kernel starts. A notebook that is executed by other
means (papermill by hand, JupyterLab) reads them in its own cells, when it asks for its ledger.
"""

from __future__ import annotations

import ast
import contextlib
import math
import re
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

_RANGE = re.compile(r"\[([^\[\]]*?)\.\.([^\[\]]*)\]")
_INJECTED = "# Parameters\n"  # how the cell begins that papermill puts after the parameters cell


class ChapterError(Exception):
    """A chapter, parameter or preset that does not exist or does not fit."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of it: one line, as on the command line."""
        return [f"error: {self}"]


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
        if type(self.value) is float and type(value) is int:
            value = float(value)
        if not _fits(value, self.value):
            raise ChapterError(self._refusal(repr(value)))
        for entry in _leaves(value):
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


def _fits(value: Any, default: Any) -> bool:
    """Whether a value is of the default's type; in a list, every entry as one of the default's.

    An int passes for a float. A list is not empty where the default is not, and lists within have
    the length of the default's, where these have one.
    """
    if type(default) not in (list, tuple):
        return type(value) is type(default) or (type(default) is float and type(value) is int)
    if type(value) is not type(default) or (default and not value):
        return False
    lengths = {len(entry) for entry in default if isinstance(entry, list | tuple)}
    if len(lengths) == 1 and any(
        len(entry) not in lengths for entry in value if isinstance(entry, list | tuple)
    ):
        return False
    return not default or all(any(_fits(entry, like) for like in default) for entry in value)


def _leaves(value: Any) -> list[Any]:
    """What lists hold in the end; of another value itself."""
    if not isinstance(value, list | tuple):
        return [value]
    return [leaf for entry in value for leaf in _leaves(entry)]


def read_parameters(text: str, name: str) -> dict[str, Parameter]:
    """Parse the one cell tagged ``parameters`` of a py:percent source: literals only."""
    return parse_parameters("\n".join(text.splitlines()[slice(*parameters_span(text, name))]), name)


def parse_parameters(cell: str, name: str) -> dict[str, Parameter]:
    """The parameters that a cell assigns; ChapterError if it holds anything but literals."""
    lines = cell.splitlines()
    found = {}
    for node in ast.parse(cell).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            raise ChapterError(f"{name}: the parameters cell holds more than assignments")
        if len(node.targets) > 1:
            raise ChapterError(
                f"{name}: {ast.unparse(node)!r} names several parameters: give each a line"
            )
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            raise ChapterError(f"{name}: {node.targets[0].id} is not a literal") from None
        comment = lines[node.end_lineno - 1][node.end_col_offset :].partition("#")[2].strip()  # type: ignore[operator]
        key = node.targets[0].id
        found[key] = Parameter(key, value, comment, *_limits(comment, f"{name}: {key}"))
        try:
            found[key].checked(value)
        except ChapterError as error:
            raise ChapterError(f"{name}: the default of {error}") from None
    return found


def _limits(comment: str, name: str) -> tuple[float, float]:
    """The range that a comment gives in brackets; without one all numbers."""
    span = _RANGE.search(comment)
    if span is None:
        return -math.inf, math.inf
    try:
        low, high = float(span[1]), float(span[2])
    except ValueError:
        low, high = math.nan, math.nan
    if not low <= high:
        raise ChapterError(f"{name} has the range {span[0]}, which is no [low..high] of numbers")
    return low, high


def parameters_span(text: str, name: str) -> tuple[int, int]:
    """First line after the head of the parameters cell and first line of the next cell, from 0."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    tagged = [i for i in heads if '"parameters"' in lines[i]]
    if len(tagged) != 1:
        raise ChapterError(f"{name}: expected one cell tagged 'parameters', found {len(tagged)}")
    return tagged[0] + 1, min((i for i in heads if i > tagged[0]), default=len(lines))


def named(parameters: Mapping[str, Parameter], name: str, chapter: str) -> Parameter:
    """A parameter by name; ChapterError names those allowed."""
    if name not in parameters:
        allowed = ", ".join(parameters) or "none"
        raise ChapterError(f"{chapter} has no parameter {name!r}; it has: {allowed}")
    return parameters[name]


def check_notebook(chapter: str) -> None:
    """Refuse what the runner refuses, in the notebook that calls this; elsewhere do nothing.

    Raises:
        ChapterError: a parameter is out of its range or of another type, or papermill was given a
            name that is no parameter.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        check_cells(shell.user_ns["In"], shell.user_ns, chapter)


def check_cells(cells: Sequence[str], values: MutableMapping[str, Any], chapter: str) -> None:
    """Check the values of the parameters that cells assign; in place, an int made a float.

    Args:
        cells: What was executed so far. Cells of literals alone are the parameters, but for those
            that papermill wrote: their names must be known already.
        values: The notebook's variables.
        chapter: Its name.

    Raises:
        ChapterError: as :func:`check_notebook` says.
    """
    known: dict[str, Parameter] = {}
    for cell in cells:
        if cell.startswith(_INJECTED):
            for name in _assigned(cell):
                named(known, name, chapter)
            continue
        with contextlib.suppress(ChapterError, SyntaxError):
            known |= parse_parameters(cell, chapter)
    for name, parameter in known.items():
        if name in values:
            values[name] = parameter.checked(values[name])


def _assigned(cell: str) -> list[str]:
    """The names that a cell assigns, whatever their values are."""
    targets = [t for node in ast.parse(cell).body for t in getattr(node, "targets", [])]
    return [target.id for target in targets if isinstance(target, ast.Name)]
