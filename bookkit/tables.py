"""Tables: a real table on the page, aligned text for nbval and the terminal, by one call."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch
from tabulate import tabulate

from bookkit.output import display, in_prose, require_finite

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η"}
_GREEK |= {"theta": "θ", "lambda": "λ", "rho": "ρ", "sigma": "σ", "tau": "τ"}
_GREEK |= {"Delta": "Δ", "Sigma": "Σ"}
_LETTER = "|".join(_GREEK)
# An index or a power behind a letter or two, a number, a logarithm or a bracket.
_INDEXED = re.compile(
    rf"(?<![\w\\.])(?P<base>{_LETTER}|log|[A-Za-z]{{1,2}}|\d+(?:\.\d+)?|\([^()]*\))(?=_\w|\^[-(\w])"
    r"(?:_(?P<index>[A-Za-z0-9]+))?"
    r"(?:\^(?:\((?P<inner>[^()]+)\)|(?P<power>-?\d+(?:\.\d+)?|[A-Za-z])))?(?!\w)"
)
_SCIENTIFIC = re.compile(r"(?<![\w.])-?\d(?:\.(?P<decimals>\d+))?e(?P<power>[+-]\d+)(?!\.?\w)")
_PLAIN = re.compile(rf"\b(?:{_LETTER})\b|<=|>=")


def table(
    frame: pd.DataFrame | pd.Series | Mapping[Any, Any],
    caption: str,
    *,
    form: str | Mapping[str, str] = ".4g",
    tiny: float = 0.0,
    none: str | None = None,
    infinite: str | None = None,
) -> None:
    """Show a table; numbers in one format, or each column in its own.

    Args:
        frame: Columns by name. Row labels are shown first where they have a name. A Series, or a
            mapping to single values, is a table of two columns.
        caption: What it shows, in a few words.
        form: Format of numbers that are not whole; by column, if a mapping.
        tiny: Sizes below this, but 0, show as ``< tiny``: rounding, which differs between machines.
        none: What stands where there is no number; None: there is one everywhere.
        infinite: What stands where a number is infinite, such as ``"∞"``, behind a minus where it
            is below zero; None: all are finite.

    The page sets formulas: what stands between two dollar signs in TeX; of all other words an index
    or a power, such as ``G_u`` or ``2^10``, and the name of a Greek letter. It writes ``4.62e+01``
    as 46.2, and larger or smaller numbers with an exponent as 4.62 × 10⁸.

    Raises:
        ValueError: no rows, no caption, two columns of one name, a format for a column that does
            not exist, a missing or infinite number where ``none`` or ``infinite`` does not say what
            stands for it, or a text with such a number in it; names the column.

    >>> table({"n": [2, 4], "error": [0.25, 1e-17]}, "Errors", tiny=1e-12)
    Errors
      n    error
      2     0.25
      4  < 1e-12
    """
    frame = _as_frame(frame)
    if not caption.strip():
        raise ValueError("a table has a caption")
    if not len(frame):
        raise ValueError(f"the table {caption!r} has no rows")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"the table {caption!r} has two columns {twice!r}; give each its own name")
    if not isinstance(form, str) and (odd := set(form) - set(map(str, frame.columns))):
        columns = ", ".join(map(str, frame.columns))
        raise ValueError(f"a format for {', '.join(sorted(odd))}, but the columns are {columns}")
    for text in (caption, none, infinite, *frame.columns):
        require_finite(text, "a word of a table", "write what is meant")
    rows = [
        [
            _cell(str(k), v, form, tiny, none, infinite)
            for k, v in zip(frame.columns, row, strict=True)
        ]
        for row in frame.astype(object).itertuples(index=False)
    ]
    words = [any(isinstance(v, str) for v in frame[k]) for k in frame.columns]
    heads = [str(k) for k in frame.columns]
    sides = ["left" if w else "right" for w in words]
    plain = tabulate(rows, heads, "plain", colalign=sides, disable_numparse=True)
    display({"text/html": _html(heads, rows, words, caption), "text/plain": f"{caption}\n{plain}"})


def _as_frame(frame: pd.DataFrame | pd.Series | Mapping[Any, Any]) -> pd.DataFrame:
    if isinstance(frame, pd.DataFrame):
        return frame.reset_index() if frame.index.names != [None] else frame
    if not isinstance(frame, pd.Series):
        values = list(frame.values())
        if values and all(hasattr(v, "__len__") and not isinstance(v, str) for v in values):
            return pd.DataFrame({k: _plain(v) for k, v in frame.items()})
        frame = pd.Series(dict(frame), dtype=object)
    return pd.DataFrame({frame.index.name or "": frame.index, frame.name or "value": frame.values})


def _plain(values: Any) -> Any:
    return values.tolist() if isinstance(values, torch.Tensor) else values


def _cell(
    name: str,
    value: Any,
    form: str | Mapping[str, str],
    tiny: float,
    none: str | None,
    infinite: str | None,
) -> str:
    value = value.item() if hasattr(value, "item") else value
    if (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    ):
        if none is None:
            raise ValueError(f"column {name!r} lacks a number; say by none= what stands there")
        return none
    if not isinstance(value, float):  # a word, a count, or an estimate, which prints itself
        require_finite(value, f"a cell of column {name!r}", "write a word where there is no number")
        return str(value)
    if 0 < abs(value) < tiny:
        return f"< {tiny:g}"
    if math.isinf(value):
        if infinite is None:
            raise ValueError(
                f"column {name!r} has the number {value}; say by infinite= what stands there"
            )
        return infinite if value > 0 else f"-{infinite}"
    return format(value, form if isinstance(form, str) else form.get(name, ".4g"))


def _html(heads: list[str], rows: list[list[str]], words: list[Any], caption: str) -> str:
    """A table with a caption, and headers that say what they head."""
    look = ["" if word else ' class="number"' for word in words]
    cells = [f'<th scope="col"{c}>{_math(h)}</th>' for h, c in zip(heads, look, strict=True)]
    lines = [f"<caption>{_math(caption)}</caption>", f"<thead><tr>{''.join(cells)}</tr></thead>"]
    lines.append("<tbody>")
    for first, *rest in rows:
        others = [f"<td{c}>{_math(v)}</td>" for v, c in zip(rest, look[1:], strict=True)]
        head = f'<th scope="row"{look[0]}>{_math(first)}</th>'
        lines.append(f"<tr>{head}{''.join(others)}</tr>")
    lines.append("</tbody>")
    inner = "\n".join(lines)
    box = '<div class="pst-scrollable-table-container"><table class="table">'
    return f"{box}\n{inner}\n</table></div>"


def _math(text: str) -> str:
    r"""Escaped text, its formulas between the marks that MathJax looks for."""
    pieces = text.split("$") if text.count("$") % 2 == 0 else [text]
    return "".join(_formula(p) if i % 2 else _words(p) for i, p in enumerate(pieces))


def _written_out(found: re.Match[str]) -> str:
    """A number with an exponent as a reader writes it, to the digits that it has."""
    decimals, power = len(found["decimals"] or ""), int(found["power"])
    if -3 <= power <= max(decimals, 1):
        return f"{float(found[0]):.{max(decimals - power, 0)}f}"
    return in_prose(found[0])


def _formula(tex: str) -> str:
    return rf'<span class="math notranslate nohighlight">\({html.escape(tex)}\)</span>'


def _words(text: str) -> str:
    """Escaped words, their indices and powers as formulas."""
    signs = _GREEK | {"<=": "≤", ">=": "≥"}
    done, pieces = 0, []

    def plain(words: str) -> str:
        words = _SCIENTIFIC.sub(_written_out, words)
        return html.escape(_PLAIN.sub(lambda found: signs[found[0]], words))

    for found in _INDEXED.finditer(text):
        base, power = found["base"], found["inner"] or found["power"]
        tex = f"\\{base}" if base in _GREEK or base == "log" else base
        tex += f"_{{{found['index']}}}" if found["index"] else ""
        tex += f"^{{{power}}}" if power else ""
        pieces += [plain(text[done : found.start()]), _formula(tex)]
        done = found.end()
    return "".join((*pieces, plain(text[done:])))
