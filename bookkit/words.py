"""The words of a chapter, by one import: ledger, tables, numbers in prose, figures, stored runs."""

from helpers.book import figures, results
from helpers.book.claims import Ledger
from helpers.book.output import glue, in_prose
from helpers.book.table import table

__all__ = ["Ledger", "figures", "glue", "in_prose", "results", "table"]
