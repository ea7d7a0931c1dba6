"""The page *At what scale*: each experiment's size in its paper and here, and what it cost.

A Sphinx extension. ``book/scale.yml`` says in words what each paper ran, what each stored table
holds and what was not run; times, dates and commands come from the records beside the tables, the
time of a page from its strip. The comment ``<!-- scale KEY -->`` becomes the table of a section.

Stored runs are made twice, with other seeds. Of the first time the means are kept in
``results/first_seeds.csv``, and ``<!-- replications -->`` compares them with the table of today.
Before a table is made anew, ``python -m bookkit.scale TABLE`` writes down what it says; until then
it would be compared with itself, and is left out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from scipy import stats

from bookkit.chapters import REGISTER, ROOT, STRIP, Chapter
from bookkit.output import in_prose, listed, number
from bookkit.register import Entry, every_entry, load_register
from bookkit.results import load, write_atomically

SCALE = ROOT / "book" / "scale.yml"
FAR = 3
"""Standard errors from which on the page names a difference between first and second seeds."""
FIRST = ROOT / "results" / "first_seeds.csv"
_MARK = re.compile(r"^<!-- scale (\w+) -->$", re.MULTILINE)
_REPLICATIONS = "<!-- replications -->"
_FIELDS = {"paper", "stored", "missing", "page", "compare"}


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, and what there is of it.

    Attributes:
        id: Its row in the register. paper: The paper's size, in Markdown.
        stored: Stored table, such as ``variables/sparse_parities.runs``, to what it holds; with a
            time "in all" where the record has that of the last of several calls only.
        missing: What was not run, why, and what it would cost; empty if nothing.
        page: What the page itself runs, with its parameters in braces.
        compare: Stored table to what runs with different seeds are compared by: the column of
            results (``of``), those that tell the settings apart (``by``; ``row``, counted from 1,
            may be one, and none means that all rows are of one), which rows count (``where``, as
            ``DataFrame.query`` takes it; all), and what the page calls it (``called``, Markdown
            with these columns in braces).
    """

    id: str
    paper: str
    page: str
    stored: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    compare: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


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
    return {
        f"{file.parent.name}/{file.stem}": json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.glob("*/*.json"))
    }


def took(seconds: float) -> str:
    """A time as a reader wants it: 40 s, 12 min, 1.4 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def section(key: str) -> str:
    """The table of one part of the book, then its commands, in MyST Markdown."""
    entries = every_entry(REGISTER)
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
    told = {k: listed(v) if isinstance(v, list) else v for k, v in values.items()}
    try:
        return experiment.page.format(**told)
    except KeyError as error:
        raise ValueError(f"{experiment.id}: {entry.chapter} has no parameter {error}") from None


def time_of_page(entry: Entry) -> str:
    """What the chapter's strip says that the page itself takes, on a processor."""
    found = STRIP.search(Chapter(entry.chapter).text)
    return f"{found['number']} {found['unit']}" if found else ""


def means(name: str, columns: Mapping[str, list[Any]], compare: Mapping[str, Any]) -> pd.DataFrame:
    r"""Mean, standard error and number of rows of a stored table, for each setting.

    Args:
        name: Of the table, such as ``sensitive/scratchpad.bits64``.
        columns: Its columns.
        compare: As in :class:`Experiment`.

    >>> columns = {"n": [4, 4, 6], "gap": [0.1, 0.3, 0.5]}
    >>> found = means("a/b.c", columns, {"of": "gap", "by": ["n"]})
    >>> found[["setting", "rows", "mean"]].to_string(index=False, header=False)
    'n = 4 2 0.2\nn = 6 1 0.5'
    >>> means("a/b.c", columns, {"of": "gap", "by": ["row"], "where": "row == 3"}).values.tolist()
    [['a/b.c', 'gap', 'row = 3', 1, 0.5, nan]]
    >>> means("a/b.c", columns, {"of": "gap", "by": []})[["setting", "rows"]].values.tolist()
    [['all rows', 3]]
    >>> yes = {"n": ["4", "4"], "seen": ["True", "False"]}
    >>> means("a/b.c", yes, {"of": "seen", "by": ["n"]})["mean"].tolist()
    [0.5]
    """
    of, by = compare["of"], compare["by"]
    frame = pd.DataFrame(columns)
    frame = frame.assign(row=frame.index + 1).query(compare.get("where", "index >= 0"))
    settings = [", ".join(f"{k} = {row[k]}" for k in by) for row in frame.to_dict("records")]
    setting = pd.Series(settings, frame.index, dtype=str).replace("", "all rows")
    numbers = frame[of].replace({"True": 1, "False": 0}).astype(float)
    groups = numbers.groupby(setting, sort=False)
    found = groups.agg(["size", "mean", "sem"]).reset_index(names="setting")
    found.columns = pd.Index(["setting", "rows", "mean", "error"])
    return found.assign(table=name, column=of)[["table", "column", *found.columns]]


def replications() -> str:
    """What the stored tables said with their first seeds and say today, in MyST Markdown."""
    first = pd.read_csv(FIRST)
    listed = load_scale()
    compare = {name: by for e in listed for name, by in e.compare.items()}
    refs = {row.id: row.ref for rows in load_register(REGISTER).values() for row in rows}
    of = {name: refs.get(e.id, e.id) for e in listed for name in e.compare}
    lines = [
        "| experiment | what is compared | first seeds | second seeds | apart by |",
        "|:--|:--|:--|:--|:--|",
    ]
    judged, far = 0, []
    for name, rows in first.groupby("table", sort=False):
        chapter, table = str(name).split(".")
        stored = load(chapter, table)
        if stored is None or str(name) not in compare:
            raise ValueError(f"{FIRST.name} tells of {name}, which is not stored or not compared")
        now = means(str(name), stored.columns, compare[str(name)])
        both = rows.merge(now, on=["table", "column", "setting"], suffixes=("_1", "_2"))
        if (both["mean_1"] - both["mean_2"]).abs().le(1e-5 * both["mean_1"].abs()).all():
            continue  # written down for a second run that is not stored yet
        for row in both.to_dict("records"):
            error = (row["error_1"] ** 2 + row["error_2"] ** 2) ** 0.5
            apart = abs(row["mean_1"] - row["mean_2"]) / error if error > 0 else float("nan")
            called = compare[str(name)]["called"].format(**_settings(row["setting"]))
            judged += apart == apart
            if apart >= FAR:
                chance = _chance(row, apart)
                far.append(f"{called} ({apart:.1f} standard errors, $p$ = {chance:.2g})")
            cells = (
                f"{{doc}}`{of[str(name)]} </book/{chapter}>`",
                called,
                _told(row, 1),
                _told(row, 2),
                f"{apart:.1f} standard errors" if apart == apart else "no standard error",
            )
            lines.append("| " + " | ".join(cells) + " |")
    told = f"Of {judged} settings with several runs, {len(far)} differ by {FAR} or more."
    if far:
        told += " By Welch's test, which counts the few runs, their differences have these $p$:\n\n"
        told += "\n".join(f"- {setting}" for setting in far)
    table = ":::{div} scale again\n" + "\n".join(lines) + "\n:::"
    return f"{told}\n\n::::{{dropdown}} All {len(lines) - 2} settings\n{table}\n::::"


def _chance(row: Mapping[str, Any], apart: float) -> float:
    """Two-sided p of Welch's test, from both means, standard errors and numbers of rows."""
    squares = row["error_1"] ** 2, row["error_2"] ** 2
    parts = (v**2 / (row[f"rows_{k}"] - 1) for k, v in enumerate(squares, 1))
    return float(2 * stats.t.sf(apart, sum(squares) ** 2 / sum(parts)))


def _settings(text: str) -> dict[str, str]:
    """Of "n = 4, decay = 0.0" each name with its value as a sentence has it."""
    pairs = (part.split(" = ") for part in text.split(", ") if " = " in part)
    return {k: in_prose(number(float(v)) if "." in v else v) for k, v in pairs}


def _told(row: Mapping[str, Any], time: int) -> str:
    rows, mean = row[f"rows_{time}"], f"{row[f'mean_{time}']:.3g}"
    whole = "e+" in mean and abs(float(mean)) < 1e7
    shown = in_prose(f"{float(mean):.0f}" if whole else mean)
    return f"{shown} ({rows})"


def main(arguments: list[str] | None = None) -> int:
    """Write down what a stored table says, before it is made anew with other seeds."""
    parser = argparse.ArgumentParser("python -m bookkit.scale", description=main.__doc__)
    parser.add_argument("table", help="such as sensitive/scratchpad.bits64; scale.yml compares it")
    name = parser.parse_args(arguments).table
    compare = {table: by for e in load_scale() for table, by in e.compare.items()}
    chapter, _, part = name.partition(".")
    stored = load(chapter, part)
    if name not in compare or stored is None:
        print(f"error: no stored table {name!r} that scale.yml compares", file=sys.stderr)
        return 2
    kept = pd.read_csv(FIRST) if FIRST.exists() else pd.DataFrame({"table": []})
    new = means(name, stored.columns, compare[name])
    whole = pd.concat([kept[kept["table"] != name], new]) if len(kept) else new
    write_atomically(FIRST, whole.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    return 0


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx what fills the comments of the page."""

    def fill(app: Any, docname: str, source: list[str]) -> None:
        if docname == "book/at_what_scale":
            for path in (SCALE, FIRST, *sorted((ROOT / "results").glob("*/*.json"))):
                app.env.note_dependency(str(path))
            source[0] = _MARK.sub(lambda m: section(m[1]), source[0])
            source[0] = source[0].replace(_REPLICATIONS, replications())

    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    sys.exit(main())
