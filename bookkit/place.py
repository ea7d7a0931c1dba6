"""Finding the folder of a book: the one that is named, else the one around the current folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

VARIABLE = "BOOK_ROOT"
"""In the environment, the folder of a book; the runner sets it for the chapters that it runs."""
LONGEST = 60
"""Letters of a folder: a path to a socket in it holds 107, and a kernel adds its own."""
PACKAGE = Path(__file__).resolve().parents[1]
"""The folder that holds this package: a checkout, or where it was installed."""


def find_root() -> Path | None:
    """The folder that :data:`VARIABLE` names, else one around the current folder with a register.

    None if none of the folders above the current one holds ``book/register.yml``.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    try:
        here = Path.cwd()
    except OSError:  # the current folder is gone
        return None
    return next((f for f in (here, *here.parents) if (f / "book" / "register.yml").is_file()), None)


def short_folder() -> str:
    """The folder for temporary files, or ``/tmp`` where a socket in it had too long a path."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= LONGEST else "/tmp"
