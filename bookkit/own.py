"""The ledger and the stored results of a reader's own book: by its register, from its folder.

A chapter of a book elsewhere writes ``from bookkit.own import Ledger, load, save``, and
``checkpoint`` if it trains for long, and is in every other way as a chapter of this one.
``templates/book`` is such a book.
"""

from __future__ import annotations

from bookkit import claims, results
from bookkit.place import find_root
from bookkit.register import find_entry
from bookkit.results import Table, checkpoint, save

__all__ = ["Ledger", "checkpoint", "load", "save"]


class Ledger(claims.Ledger):
    """The claims of one chapter of an own book, as :class:`bookkit.claims.Ledger` has them."""

    def result(self, id: str) -> claims.Result:
        """A result of the book's own register, to which claims are added by verbs.

        Raises:
            KeyError: its register has no such row or part; names the nearest. Where there is no
                register, as on a cluster without the book's folder, every id is taken.
        """
        book = find_root()
        entry = None if book is None else find_entry(id, book / "book" / "register.yml")
        return claims.Result(self, id, entry)


def load(chapter: str, name: str) -> Table | None:
    """A table that a kept run of a chapter of the own book stored; None if it was never run.

    Raises:
        ValueError: it is damaged, as :func:`bookkit.results.load` says.
    """
    book = find_root()
    return None if book is None else results.load(chapter, name, book / "results")
