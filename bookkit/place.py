"""Where a book lies: the folder that is named, else the one around the current folder."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "BOOK_ROOT"
"""In the environment, the folder of a book; the runner sets it for the chapters that it runs."""
PACKAGE = Path(__file__).resolve().parents[1]
"""The folder that holds this package: a checkout, or where it was installed."""


def root_around(folder: Path) -> Path | None:
    """The nearest folder, at or above this one, that holds ``book/register.yml``; None if none."""
    here = folder.absolute()
    return next((f for f in (here, *here.parents) if (f / "book" / "register.yml").is_file()), None)


def find_root() -> Path | None:
    """The folder that :data:`VARIABLE` names, else the one around the current folder, if any."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    try:
        return root_around(Path.cwd())
    except OSError:  # the current folder is gone
        return None
