"""What a cell leaves on the page: numbers for the prose, and outputs in more than one form."""

from __future__ import annotations

import math
from typing import Any

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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

    >>> in_prose("5e+10"), in_prose("3000000000000000.0"), in_prose("1.50e-07")
    ('5 × 10¹⁰', '3 × 10¹⁵', '1.50 × 10⁻⁷')
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
        return f"{mantissa} × 10{str(int(power)).translate(_SUPERSCRIPT)}"
    if "." in mantissa:
        return (mantissa if written else number(value)).removesuffix(".0")
    return f"{int(value):,}" if abs(value) >= 10_000 else text


def glue(**values: object) -> None:
    """Make numbers of this run available to the prose as ``{glue:text}`name```, by name.

    A machine without myst-nb prints them instead. The page writes a number out as
    :func:`in_prose` does.
    """
    try:
        from myst_nb import glue as to_page
    except ImportError:
        for name, value in values.items():
            print(f"{name} = {value}")
        return
    for name, value in values.items():
        plain = value.item() if hasattr(value, "item") else value
        to_page(name, _Bare(plain) if isinstance(plain, str) else plain, display=False)


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


class _Bare(str):
    """A string that shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__
