"""The page *At what scale*: for every experiment the paper's size, what is stored, what it cost.

A Sphinx extension. ``book/scale.yml`` says in words what each paper ran, what each stored table
holds and what was not run; times, dates and commands come from the records beside the tables, the
time of a page from its strip. The comment ``<!-- scale KEY -->`` becomes the table of a section.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bookkit.chapters import ROOT, STRIP, Chapter
from bookkit.register import Entry, load_register

SCALE = ROOT / "book" / "scale.yml"
_MARK = re.compile(r"^<!-- scale (\w+) -->$", re.MULTILINE)
_FIELDS = {"paper", "stored", "missing", "page"}


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, and what there is of it.

    Attributes:
        id: Its row in the register. paper: The paper's size, in Markdown.
        stored: Stored table, such as ``variables/sparse_parities.runs``, to what it holds; with a
            time "in all" where the record has that of the last of several calls only.
        missing: What was not run, why, and what it would cost; empty if nothing.
        page: What the page itself runs, with its parameters in braces.
    """

    id: str
    paper: str
    page: str
    stored: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""


def load_scale(path: Path = SCALE) -> list[Experiment]:
    """Every experiment of the list.

    Raises:
        ValueError: an entry without the size of the paper or of the page, or with a field that is
            not known.
    """
    found = []
    for id, given in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        unknown = set(given) - _FIELDS
        if unknown or not {"paper", "page"} <= set(given):
            raise ValueError(
                f"{path.name}: {id} needs 'paper' and 'page' and knows {sorted(_FIELDS)}, "
                f"got {sorted(given)}"
            )
        found.append(Experiment(id, **given))
    return found


def stored_tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Record of every table under ``results/``, by chapter and name."""
    files = sorted(folder.glob("*/*.json"))
    return {
        f"{file.parent.name}/{file.stem}": json.loads(file.read_text(encoding="utf-8"))
        for file in files
        if not file.name.endswith(".claims.json")
    }


def took(seconds: float) -> str:
    """A time as a reader wants it: 40 s, 12 min, 1.4 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def section(key: str) -> str:
    """The table of one part of the book, then its commands, in MyST Markdown."""
    entries = {
        e.id: e for rows in load_register().values() for row in rows for e in (row, *row.parts)
    }
    tables = stored_tables(ROOT / "results")
    lines = [
        "| experiment | the paper's size | stored here | not run | the page |",
        "|:--|:--|:--|:--|:--|",
    ]
    commands: list[str] = []
    for experiment in (e for e in load_scale() if e.id.startswith(f"{key}.")):
        entry = entries[experiment.id]
        stored = [
            text if "in all" in text else f"{text} ({took(tables[name]['seconds'])})"
            for name, text in experiment.stored.items()
        ]
        cells = (
            f"{{doc}}`{entry.ref} </book/{entry.chapter}>`",
            experiment.paper,
            "; ".join(stored) or "nothing",
            experiment.missing or "all was run",
            f"{size_of_page(experiment, entry)} ({time_of_page(entry)})",
        )
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
        commands += [f"# {name}\n{tables[name]['command']}" for name in experiment.stored]
    text = ":::{div} scale\n" + "\n".join(lines) + "\n:::"
    if commands:
        told = "\n".join(dict.fromkeys(commands))
        text += f"\n\n:::{{dropdown}} Commands of what is stored\n```console\n{told}\n```\n:::"
    return text


def size_of_page(experiment: Experiment, entry: Entry) -> str:
    """What the page runs by itself, by the parameters in its source.

    Raises:
        ValueError: it names a parameter that the chapter does not have.
    """
    values = {k: v.value for k, v in Chapter(entry.chapter).parameters.items()}
    told = {k: _listed(v) if isinstance(v, list) else v for k, v in values.items()}
    try:
        return experiment.page.format(**told)
    except KeyError as error:
        raise ValueError(f"{experiment.id}: {entry.chapter} has no parameter {error}") from None


def _listed(values: list[Any]) -> str:
    words = [str(v) for v in values]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def time_of_page(entry: Entry) -> str:
    """What the chapter's strip says that the page itself takes, on a processor."""
    found = STRIP.search(Chapter(entry.chapter).text)
    return f"{found['number']} {found['unit']}" if found else ""


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx what fills the comments of the page."""

    def fill(app: Any, docname: str, source: list[str]) -> None:
        if docname == "book/at_what_scale":
            for path in (SCALE, *sorted((ROOT / "results").glob("*/*.json"))):
                app.env.note_dependency(str(path))
            source[0] = _MARK.sub(lambda m: section(m[1]), source[0])

    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
