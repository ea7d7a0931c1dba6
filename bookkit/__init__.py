"""What makes a book of checked claims: the ledger and its verdicts, the runner, the pages.

A chapter takes what it needs by one import: ``from bookkit import Ledger, figures, glue, table``.
Each name is loaded when it is asked for, so that the runner loads neither Matplotlib nor torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookkit import figures, results
    from bookkit.claims import Ledger
    from bookkit.output import glue, in_prose, listed
    from bookkit.tables import table

__all__ = ["Ledger", "figures", "glue", "in_prose", "listed", "results", "table"]
_MODULES = {"Ledger": "claims", "table": "tables"}
_MODULES |= dict.fromkeys(("glue", "in_prose", "listed"), "output")


def __getattr__(name: str) -> Any:
    """A name of a chapter's import, from the module that has it."""
    if name not in __all__:
        raise AttributeError(f"module 'bookkit' has no attribute {name!r}")
    module = importlib.import_module(f"bookkit.{_MODULES.get(name, name)}")
    return getattr(module, name) if name in _MODULES else module
