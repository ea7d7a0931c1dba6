"""The scoreboard and the findings: pages built from what the executed notebooks recorded.

A Sphinx extension with three directives: ``{scoreboard} PART`` and ``{findings} PART`` for one part
of the register, ``{scoreboard-totals}`` for all of it. Nothing is judged here: a verdict stands in
a notebook's ledger, and a result whose chapter has none is shown open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from helpers.book.chapters import BOOK, Chapter, every_chapter, read_record
from helpers.book.claims import VERDICTS, Claim, combined_verdict

REGISTER = BOOK / "register.yml"
OWN = {"beyond": "beyond the papers", "appendix": "this book's own methods"}  # no papers
BADGES = {
    "holds": "success",
    "reproduced": "success",
    "repaired": "warning",
    "refuted": "danger",
    "not reproduced": "danger",
    "open": "secondary",
}


@dataclass(frozen=True)
class Row:
    """A numbered result and what became of it.

    Attributes:
        part: Section of the register. id, ref, claim: As in the register.
        chapter: Name of the chapter that owes it. written: Whether that chapter exists.
        claims: The claims that its executed notebook recorded. findings: Its findings.
    """

    part: str
    id: str
    ref: str
    claim: str
    chapter: str
    written: bool
    claims: Sequence[Claim] = ()
    findings: Sequence[Mapping[str, str]] = field(default_factory=tuple)

    @property
    def verdict(self) -> str:
        """The verdict of all its claims together; "open" without any."""
        return combined_verdict([c.verdict for c in self.claims])

    @property
    def evidence(self) -> str:
        """The claim that decided, in numbers, and how many more were checked."""
        deciding = [c for c in self.claims if c.verdict == self.verdict]
        if not deciding:
            return ""
        more = len(self.claims) - 1
        return f"{deciding[0].found}, required {deciding[0].required}" + (
            f"; {more} more" if more else ""
        )


def load_register() -> dict[str, list[dict[str, str]]]:
    """The register: section to rows."""
    return dict(yaml.safe_load(REGISTER.read_text(encoding="utf-8")))


def load_rows() -> list[Row]:
    """Every row of the register, joined with what the executed notebooks recorded."""
    written = {c.name for c in every_chapter()}
    records = {name: read_record(Chapter(name).notebook) or {} for name in written}
    rows = []
    for part, entries in load_register().items():
        for entry in entries:
            record = records.get(entry["chapter"], {})
            claims = [Claim(**c) for c in record.get("claims", []) if c["id"] == entry["id"]]
            findings = [f for f in record.get("findings", []) if f["id"] == entry["id"]]
            keys = {key: entry[key] for key in ("id", "ref", "claim", "chapter")}
            rows.append(Row(part, **keys, written=bool(record), claims=claims, findings=findings))
    return rows


def scoreboard(rows: Sequence[Row]) -> str:
    """Table of one section, in MyST Markdown."""
    lines = ["| result | claim | verdict | measured | chapter |", "|:--|:--|:--|:--|:--|"]
    for row in rows:
        link = f"{{doc}}`/book/{row.chapter}`" if row.written else f"`{row.chapter}`"
        cells = (row.ref, _prose(row.claim), _badge(row.verdict), row.evidence, link)
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines)


def findings(rows: Sequence[Row]) -> str:
    """The findings of one section, in MyST Markdown."""
    blocks = []
    for row in rows:
        for f in row.findings:
            blocks.append(
                f":::{{admonition}} {row.ref}: {_badge(row.verdict)}\n:class: finding\n"
                f"**Printed.** {f['printed']}\n\n"
                f"**Counterexample.** {f['counterexample']}\n\n"
                f"**Why.** {f['why']}\n\n"
                f"**Repair.** {f['repair']}\n\n"
                f"**What survives.** {f['survives']}\n\n"
                f"Shown in {{doc}}`/book/{row.chapter}`.\n:::\n"
            )
    return "\n".join(blocks) or "None yet."


def totals(rows: Sequence[Row]) -> str:
    """How many results of each section have which verdict, in MyST Markdown."""
    verdicts = (*VERDICTS, "open")
    lines = [
        f"| paper | results | {' | '.join(verdicts)} |",
        "|:--|" + "--:|" * (len(verdicts) + 1),
    ]
    for part in dict.fromkeys(row.part for row in rows):
        name = OWN.get(part, f"{{cite:t}}`{part}`")
        lines.append(_counts(name, [r for r in rows if r.part == part], verdicts))
    lines.append(_counts("**all**", rows, verdicts))
    return "\n".join(lines)


def _counts(name: str, rows: Sequence[Row], verdicts: Sequence[str]) -> str:
    found = Counter(row.verdict for row in rows)
    return "| " + " | ".join([name, str(len(rows)), *(str(found[v]) for v in verdicts)]) + " |"


def _badge(verdict: str) -> str:
    return f"{{bdg-{BADGES[verdict]}}}`{verdict}`"


def _prose(text: str) -> str:
    """Protect what Markdown would take for markup in the register's plain text."""
    return re.sub(r"([*_<>\[\]$^~])", r"\\\1", text)


def setup(app: Any) -> dict[str, bool]:
    """Register the directives with Sphinx."""
    from sphinx.util.docutils import SphinxDirective

    class Page(SphinxDirective):
        """Parse the Markdown made from the rows, and depend on every file that they come from."""

        def run(self) -> list[Any]:
            rows = load_rows()
            parts = dict.fromkeys(row.part for row in rows)
            if self.arguments and self.arguments[0] not in parts:
                raise self.error(f"no part {self.arguments[0]!r}; there are: {', '.join(parts)}")
            for path in (REGISTER, *(c.notebook for c in every_chapter())):
                self.env.note_dependency(str(path))
            chosen = [r for r in rows if not self.arguments or r.part == self.arguments[0]]
            return self.parse_text_to_nodes(MAKERS[self.name](chosen))

    for name, arguments in (("scoreboard", 1), ("findings", 1), ("scoreboard-totals", 0)):
        directive = type("Page", (Page,), {"required_arguments": arguments})
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


MAKERS = {"scoreboard": scoreboard, "findings": findings, "scoreboard-totals": totals}
