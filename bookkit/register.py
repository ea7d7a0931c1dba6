"""The register: every result of the papers, where its statement comes from, who owes the check.

``book/register.yml`` has a section for each part of the book: what is known of its paper, and its
rows. A row that bundles several statements lists its parts; a claim of a chapter names a row or a
part by its id. Reads text only; imports neither torch nor Jupyter.
"""

from __future__ import annotations

import difflib
import functools
import graphlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

REGISTER = Path(__file__).resolve().parents[1] / "book" / "register.yml"
SOURCES = ("printed", "quoted", "code", "restored", "ours")
KINDS = {
    *("algorithm", "caption", "claim", "comparison", "construction", "corollary", "definition"),
    *("derivation", "equation", "experiment", "fact", "identity", "law", "lemma", "proposition"),
    *("remark", "theorem"),
}
_ID = re.compile(r"[a-z]+(\.[A-Za-z0-9_]+)+")


@dataclass(frozen=True)
class Paper:
    """What a section is about.

    Attributes:
        key: Name of the section, of its folder of chapters, and of the paper in ``references.bib``.
        number: ``P1`` and so on; empty for the book's own sections.
        name: A short one. read: What could be read of the paper, in Markdown.
        granted: What all its statements are granted, in Markdown; empty if nothing is.
    """

    key: str
    number: str
    name: str
    read: str
    granted: str = ""

    @property
    def own(self) -> bool:
        """Whether the results are this book's and not a paper's."""
        return not self.number


@dataclass(frozen=True)
class Entry:
    """A row of the register, or a part of one.

    Attributes:
        id: Key. ref: The paper's own number. kind: One of :data:`KINDS`.
        chapter: Name of the chapter that owes it.
        source: Where the statement comes from, one of :data:`SOURCES`.
        claim: A proposition, in Markdown with TeX.
        known: What was found about it before; may be empty.
        section: Key of the section. parts: Entries of a row that bundles several.
        condition: Of a statement that is true with a condition: the condition that is not printed.
        reads: Of a misprint: how the statement should read.
        slip: Name of a slip; all entries of one slip have one verdict.
        proof: Where it is proved on the page: the heading, the bold words or the title of the box.
        rests_on: Ids of the results that its own proof uses.
        implies: Ids of the results that follow from it as stated.
    """

    id: str
    ref: str
    kind: str
    chapter: str
    source: str
    claim: str
    known: str
    section: str
    parts: tuple[Entry, ...] = ()
    condition: str = ""
    reads: str = ""
    slip: str = ""
    proof: str = ""
    rests_on: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()


class RegisterError(ValueError):
    """A register that does not say what it must."""


def load_register(path: Path = REGISTER) -> dict[Paper, tuple[Entry, ...]]:
    """Every section with its rows, in order.

    Raises:
        RegisterError: a field is missing, unknown or of no known kind, an id stands twice, a result
            rests on or implies one that is not there, or in the end itself.
    """
    text = path.read_text(encoding="utf-8")
    return _parsed(text)


@functools.lru_cache(maxsize=4)
def _parsed(text: str) -> dict[Paper, tuple[Entry, ...]]:
    found: dict[Paper, tuple[Entry, ...]] = {}
    seen: set[str] = set()
    for key, section in yaml.load(
        text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    ).items():
        about = section["paper"]
        notes = about["read"].strip(), about.get("granted", "").strip()
        paper = Paper(key, about.get("number", ""), about["name"], *notes)
        rows = tuple(_entry(row, paper) for row in section["rows"])
        for entry in (e for row in rows for e in (row, *row.parts)):
            if entry.id in seen:
                raise RegisterError(f"{entry.id} stands twice")
            seen.add(entry.id)
        found[paper] = rows
    _check_edges([e for rows in found.values() for row in rows for e in (row, *row.parts)])
    return found


def _check_edges(entries: Sequence[Entry]) -> None:
    for name in ("rests_on", "implies"):
        edges = {e.id: set(getattr(e, name)) for e in entries}
        for id, others in edges.items():
            if gone := sorted(others - set(edges)):
                raise RegisterError(f"{id}: {name} {gone[0]}, which is no row of the register")
        try:
            tuple(graphlib.TopologicalSorter(edges).static_order())
        except graphlib.CycleError as error:
            circle = " -> ".join(error.args[1])
            raise RegisterError(f"{name} goes in a circle: {circle}") from None


def _entry(row: dict[str, Any], paper: Paper, whole: dict[str, Any] | None = None) -> Entry:
    inherited = whole or {}
    known = {"id", "ref", "kind", "chapter", "source", "claim", "known", "parts"}
    optional = {"condition", "reads", "slip", "proof", "rests_on", "implies"}
    if odd := sorted(set(row) - known - optional):
        raise RegisterError(f"{row.get('id')}: unknown field {', '.join(odd)}")
    values = {"known": ""} | {
        k: inherited[k] for k in ("kind", "chapter", "source") if k in inherited
    }
    values |= {k: v for k, v in row.items() if k != "parts"}
    for name in ("rests_on", "implies"):
        if name in values:
            if not isinstance(values[name], list):
                raise RegisterError(f"{row.get('id')}: {name} is a list of ids")
            values[name] = tuple(values[name])
    if missing := sorted(known - {"parts"} - set(values)):
        raise RegisterError(f"{row.get('id')}: it lacks {', '.join(missing)}")
    start = f"{inherited['id']}." if whole else f"{paper.key}."
    if not (_ID.fullmatch(values["id"]) and values["id"].startswith(start)):
        raise RegisterError(f"{values['id']}: an id begins with {start}")
    for name, choices in (("source", SOURCES), ("kind", KINDS)):
        if values[name] not in choices:
            allowed = ", ".join(sorted(choices))
            raise RegisterError(f"{values['id']}: {name} {values[name]!r} is none of {allowed}")
    if paper.own != (values["source"] == "ours"):
        raise RegisterError(f"{values['id']}: only the book's own results have the source 'ours'")
    parts = tuple(_entry(part, paper, values) for part in row.get("parts", ()))
    return Entry(**values, section=paper.key, parts=parts)


def every_entry(path: Path = REGISTER) -> dict[str, Entry]:
    """Rows and parts by id."""
    rows = [row for rows in load_register(path).values() for row in rows]
    return {e.id: e for row in rows for e in (row, *row.parts)}


def full_refs(path: Path = REGISTER) -> dict[str, str]:
    """What rows and parts are called where they stand alone, by id.

    A part without a number of its own, such as "smaller norm", has its row's name before it.
    """
    found = {}
    for row in (row for rows in load_register(path).values() for row in rows):
        found[row.id] = row.ref
        for part in row.parts:
            found[part.id] = f"{row.ref}: {part.ref}" if part.ref[0].islower() else part.ref
    return found


def find_entry(id: str, path: Path = REGISTER) -> Entry | None:
    """The row or part of an id; None where there is no register, as on a bare cluster.

    Raises:
        KeyError: the register has no such id; names the nearest.
    """
    if not path.exists():
        return None
    entries = every_entry(path)
    if id not in entries:
        near = difflib.get_close_matches(id, entries, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {len(entries)} others"
        raise KeyError(f"book/register.yml has no result {id!r}; {hint}")
    return entries[id]
