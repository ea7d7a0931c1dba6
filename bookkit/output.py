"""What a cell leaves on the page: numbers for the prose, and outputs in more than one form."""

from __future__ import annotations

import io
import math
import re
import sys
from collections.abc import Iterable
from typing import Any

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOT_FINITE = re.compile(r"(?<![\w.\\])[-+]?(?:nan|NaN|inf|Infinity)(?!\w)")
"""What Python, NumPy and JSON write for a number that is none or has no end; not TeX's infimum."""


def require_finite(text: object, what: str, remedy: str) -> None:
    """Refuse a text in which a number that is not finite stands; it names the number.

    >>> require_finite("0.5 (nan to 0.7)", "the gap", "say what is missing")
    Traceback (most recent call last):
    ValueError: the gap is 0.5 (nan to 0.7), and nan is no finite number; say what is missing
    """
    found = NOT_FINITE.search(str(text))
    if found:
        raise ValueError(f"{what} is {text}, and {found[0]} is no finite number; {remedy}")


def number(x: float) -> str:
    """Four significant digits; integers as they are, other numbers always with a point.

    >>> number(12), number(0.123456), number(1.0), number(5e10)
    ('12', '0.1235', '1.0', '5e+10')
    """
    if isinstance(x, int):
        return str(x)
    text = f"{x:.4g}"
    return text if not math.isfinite(x) or "." in text or "e" in text else text + ".0"


def in_prose(text: str) -> str:
    """A number as a sentence has it, from its text in Python; any other text as it is.

    Powers of ten are written out, and so are numbers from ten million on; from five digits on,
    whole numbers are grouped; a float with all its digits is cut to four.

    >>> in_prose("5e+10"), in_prose("3000000000000000.0"), in_prose("1.50e-07"), in_prose("1e-09")
    ('5 × 10¹⁰', '3 × 10¹⁵', '1.50 × 10⁻⁷', '10⁻⁹')
    >>> in_prose("130000"), in_prose("0.30000000000000004"), in_prose("12.0"), in_prose("0.25")
    ('130,000', '0.3', '12', '0.25')
    >>> in_prose("a half"), in_prose("2.500")
    ('a half', '2.500')
    """
    try:
        value = float(text)
    except ValueError:
        return text
    mantissa, _, power = text.lower().partition("e")
    written = len(mantissa.lstrip("+-0.").replace(".", "")) <= 7  # by a format, not by repr
    if not math.isfinite(value) or text != text.strip():
        return text
    if power or abs(value) >= 1e7:
        if not (power and written):
            mantissa, _, power = f"{value:.3e}".partition("e")
            mantissa = mantissa.rstrip("0").rstrip(".")
        times = {"1": "", "-1": "-"}.get(mantissa, f"{mantissa} × ")
        return f"{times}10{str(int(power)).translate(SUPERSCRIPT)}"
    if "." in mantissa:
        shown = (mantissa if written else number(value)).removesuffix(".0")
        return shown if value else shown.lstrip("-")
    return f"{int(value):,}" if abs(value) >= 10_000 else text


def listed(values: Iterable[object], form: str = "") -> str:
    """Values as a sentence lists them, each in the format ``form``.

    >>> listed([2, 3, 5]), listed([0.25, 0.5], ".2f"), listed(["one"])
    ('2, 3 and 5', '0.25 and 0.50', 'one')

    Raises:
        ValueError: no values.
    """
    words = [format(v, form) for v in values]
    if not words:
        raise ValueError("there is nothing to list; name at least one value")
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def glue(**values: object) -> None:
    """Make numbers of this run available to the prose as ``{glue:text}`name```, by name.

    A machine without myst-nb prints them instead. The page writes a number out as
    :func:`in_prose` does. Where there is no number, give the word that the sentence has instead.

    Raises:
        ValueError: a value, or a number in its text, is not finite; nothing is stored then.
    """
    plain = {k: v.item() if hasattr(v, "item") else v for k, v in values.items()}
    for name, value in plain.items():
        require_finite(value, f"{name!r}", "give a word where there is no number")
    try:
        from myst_nb import glue as to_page
    except ImportError:
        for name, value in plain.items():
            print(f"{name} = {value}")
        return
    for name, value in plain.items():
        to_page(name, _Bare(value) if isinstance(value, str) else value, display=False)


def display(bundle: dict[str, Any]) -> None:
    """Show a MIME bundle in a notebook; print its text where there is none."""
    try:
        from IPython import get_ipython
        from IPython.display import display as show
    except ImportError:
        print(bundle["text/plain"])
        return
    if get_ipython() is None:
        print(bundle["text/plain"])
    else:
        show(bundle, raw=True)


def print_anywhere() -> None:
    """Print what a terminal has no letter for by its code, as Python's ``ascii`` does, and go on.

    For programs with long work behind what they print: a terminal may speak Latin-1 or ASCII.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Bare(str):
    """A string that shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__
