"""The scoreboard, the findings and the verdict cards: built from what the notebooks recorded.

A Sphinx extension. On a page, the comments ``<!-- scoreboard -->``, ``<!-- scoreboard PART -->``
for one section, ``<!-- totals -->``, ``<!-- findings PART -->``, and ``<!-- findings -->`` for one
line each, are replaced before the page is read. A chapter gets a verdict card under its title and
``{finding}`` blocks, whose numbers come from its own run. Beside the scoreboard lies all of it as
``scoreboard.json``. Nothing is judged here: verdicts follow from the ledgers by
:mod:`bookkit.verdicts`, and a result that no ledger names is shown open.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from bookkit.chapters import REGISTER, ROOT, Chapter, every_chapter, read_record
from bookkit.claims import Claim, claims_by_id
from bookkit.findings import (
    filled,
    findings,
    findings_of,
    glued,
    in_one_line,
    load_findings,
    written_out,
)
from bookkit.output import in_prose, number
from bookkit.register import Entry, Paper, load_register
from bookkit.verdicts import NOW, STATED, as_stated, deciding, known_now, together

FROM = {
    "printed": "",
    "quoted": "as quoted",
    "code": "from the code",
    "restored": "as restored",
}
SINCE = REGISTER.with_name("since.yml")
BOARD = "book/scoreboard"
"""The page with all sections, or with the links to those that have a page below it."""
RELATIONS = {"at_most": "at most", "at_least": "at least", "equals": ""}
_MARK = re.compile(
    r"^<!-- (scoreboard|totals|own-totals|findings|papers)(?: (\w+))? -->$", re.MULTILINE
)
_LABEL = re.compile(r"^# \(([\w-]+)\)=\n# # ", re.MULTILINE)
_THEOREM = re.compile(r"\{prf:\w+\} ([^\n]*)\n(?:# )?:label: (\S+)")


@dataclass(frozen=True)
class Row:
    """A result of the register and what became of it.

    Attributes:
        entry: As in the register. claims: Those that its chapter recorded for this very id.
        parts: Rows of the parts that it bundles. written: Whether its chapter was executed.
    """

    entry: Entry
    claims: tuple[Claim, ...]
    parts: tuple[Row, ...] = ()
    written: bool = True

    @property
    def stated(self) -> str:
        """Verdict on the statement as its source has it; of its parts if it only bundles them."""
        if self.counts:
            return as_stated(self.entry.kind, self.claims, self.entry.source)
        return together([part.stated for part in self.parts])

    @property
    def now(self) -> str:
        """Verdict on what is known now, in the same way."""
        if self.counts:
            return known_now(self.entry.kind, self.claims, self.entry.source)
        return together([part.now for part in self.parts])

    @property
    def evidence(self) -> str:
        """The deciding claim in words: how it is known and where, what was found and required."""
        claim = deciding(self.entry.kind, self.claims, self.entry.source)
        if claim is None:
            return ""
        proof = self.entry.proof if claim.evidence == "proved" else ""
        where = f" (*{proof.rstrip('.')}*)" if proof else ""
        text = re.split(r"; control:| \(control:", claim.text)[0]
        bound = f"{RELATIONS[claim.relation]} {in_prose(number(claim.bound))}".strip()
        slack = f" (± {in_prose(f'{claim.tol:.1g}')})" if claim.tol else ""
        more = len(self.claims) - 1
        rest = f" {more} more check{'s' * (more > 1)}." if more else ""
        return (
            f"**{claim.evidence.capitalize()}**{where}. {text[0].upper()}{text[1:]}: "
            f"{written_out(in_prose(claim.found))}, where {bound}{slack} is required.{rest}"
        )

    @property
    def repair(self) -> str:
        """The condition or the reading with which it holds, or what repaired it; may be empty."""
        repaired = (c.text for c in self.claims if c.verdict == "repaired")
        return self.entry.condition or self.entry.reads or "; ".join(repaired)

    @property
    def statements(self) -> list[Row]:
        """What is counted: the parts; the row itself without parts or with claims of its own."""
        return [*([self] if self.counts else []), *self.parts]

    @property
    def counts(self) -> bool:
        """Whether it stands for itself: it has no parts, or claims that are about it."""
        return not self.parts or any(c.about not in ("code", "ours") for c in self.claims)


def load_rows() -> dict[Paper, list[Row]]:
    """Every section of the register, joined with what the executed notebooks recorded."""
    register = load_register(REGISTER)
    records = {c.name: record for c in every_chapter() if (record := read_record(c.notebook))}
    claims = claims_by_id(records, register)

    def row(entry: Entry) -> Row:
        own = claims.get(entry.id, [])
        if entry.source == "ours":  # what we claim of our own result is about its statement
            own = [replace(c, about="statement") if c.about == "ours" else c for c in own]
        return Row(entry, tuple(own), tuple(map(row, entry.parts)), entry.chapter in records)

    return {p: [row(e) for e in entries] for p, entries in register.items()}


def scoreboard(rows: Mapping[Paper, Sequence[Row]], part: str | None = None) -> str:
    """All sections under their titles, or one without, in MyST Markdown."""
    labels = {id: f.label for f in reversed(load_findings()) for id in f.about}
    since = load_since()
    pages = []
    for paper, section in rows.items():
        if part not in (None, paper.key):
            continue
        lines = ["| result | statement | as stated | now | evidence | chapter |"]
        lines += ["|:--|:--|:--|:--|:--|:--|"]
        for row in section:
            lines += [_line(r, labels, r is not row, since) for r in (row, *row.parts)]
        title = f"{paper.number}: {paper.name}" if paper.number else paper.name
        about = [f"*{paper.name}.*", paper.read, granted(paper)]
        if part is None:
            about[0] = f"(s-{paper.key})=\n## {title}"
        elif paper.own:  # the page has a heading for it
            about = []
        table = ":::{div} scoreboard\n" + "\n".join(lines) + "\n:::\n"
        pages.append("\n\n".join([*filter(None, about), table]))
    return "\n".join(pages)


def board(pages: Container[str], part: str) -> str:
    """The page, of those of a book, on which the rows of a section stand."""
    own = f"{BOARD}/{part}"
    return own if own in pages else BOARD


def records(
    rows: Mapping[Paper, Sequence[Row]], address: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Every row and part, for programs; ``address`` is that of a chapter's or a section's page."""
    since = load_since()
    return [
        {name: getattr(row.entry, name) for name in ("id", "kind", "source")}
        | {"paper": paper.number, "result": row.entry.ref, "statement": row.entry.claim}
        | {"counted": row.counts, "as stated": row.stated, "now": row.now}
        | {"evidence": row.evidence, "repair": row.repair}
        | {"since": since.get(row.entry.id, ""), "chapter": address(row.entry.chapter)}
        | {"row": f"{address(paper.key)}#{anchor(row.entry.id)}"}
        for paper, section in rows.items()
        for whole in section
        for row in (whole, *whole.parts)
    ]


def anchor(id: str) -> str:
    """Where a row stands on the scoreboard."""
    return "r-" + id.replace(".", "-").replace("_", "-").lower()


def granted(paper: Paper) -> str:
    """What all statements of a paper are granted, as a paragraph."""
    return f"**Granted to every statement.** {paper.granted}" if paper.granted else ""


def load_since() -> dict[str, str]:
    """What later work claims about rows of the register, by id, in Markdown."""
    return yaml.safe_load(SINCE.read_text(encoding="utf-8")) if SINCE.is_file() else {}


def statement(entry: Entry, since: str = "") -> str:
    """What an entry says, with what it needs to be true and what came later, in Markdown."""
    more = [("With the condition", entry.condition), ("Read", entry.reads)]
    more += [("Since then", since)]
    return " ".join([entry.claim, *(f"**{head}:** {text}" for head, text in more if text)])


def _line(row: Row, labels: Mapping[str, str], part: bool, since: Mapping[str, str]) -> str:
    entry = row.entry
    label = theorem_label(Chapter(entry.chapter), entry.ref) if row.written else ""
    ref = f"{{prf:ref}}`{entry.ref} <{label}>`" if label else entry.ref
    place = anchor(entry.id)
    kind = f".{'part' if part else 'whole'} .{'counted' if row.counts else 'bundle'}"
    sign = f"[{ref}]{{#{place} {kind} .kind-{entry.kind}}} [#](#{place})"
    stated = f"{badge(row.stated)} {FROM.get(entry.source, '')}".rstrip()
    if entry.id in labels:
        stated += f" {{ref}}`finding <{labels[entry.id]}>`"
    link = chapter_link(Chapter(entry.chapter)) if row.written else f"`{entry.chapter}`"
    cells = (
        sign,
        statement(entry, since.get(entry.id, "")),
        stated,
        badge(row.now),
        row.evidence,
        link,
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def chapter_link(chapter: Chapter) -> str:
    """A link of one line: the number of a chapter where they have numbers, else its name."""
    label = _LABEL.search(chapter.text)
    if label and "numbered: true" in (ROOT / "_toc.yml").read_text(encoding="utf-8"):
        return f"{{numref}}`{{number}} <{label[1]}>`"
    return f"{{doc}}`{chapter.source.stem} </book/{chapter.name}>`"


def theorem_label(chapter: Chapter, ref: str) -> str:
    """Label of the theorem box of a chapter whose title names the result; "" if none does."""
    first = re.split(r"\s*(?:/|,| and |-)\s*", ref)[0]
    if (
        not re.fullmatch(r"[A-Z][a-z]+\.? [A-Z]?\.?\d+(\.\d+)*", first)
        or not chapter.source.exists()
    ):
        return ""
    for title, label in _THEOREM.findall(chapter.text):
        if re.search(rf"{re.escape(first)}(?![\d.]*\d)", title):
            return str(label)
    return ""


def totals(
    rows: Mapping[Paper, Sequence[Row]],
    own: bool = False,
    address: Callable[[str], str] | None = None,
) -> str:
    """How many statements of each section have which verdict, in MyST Markdown.

    With the address of each section's page, a number leads to the statements that it counts.
    """
    chosen = {p: [s for r in section for s in r.statements] for p, section in rows.items()}
    chosen = {p: section for p, section in chosen.items() if p.own == own}
    tables = []
    for head, asks, verdicts, of in (
        ("as stated", "stated", STATED, lambda r: r.stated),
        ("now", "now", NOW, lambda r: r.now),
    ):
        used = [v for v in verdicts if any(of(r) == v for s in chosen.values() for r in s)]
        lines = [
            f"| {head} | statements | {' | '.join(used)} |",
            "|:--|" + "--:|" * (len(used) + 1),
        ]
        for paper, section in chosen.items():
            found = Counter(map(of, section))
            counts = [str(found[v]) for v in used]
            if address:
                to = [f"{address(paper.key)}?{urlencode({asks: v})}" for v in used]
                counts = [f"[{n}]({at}){{.external}}" for n, at in zip(counts, to, strict=True)]
            name = paper.number or paper.name
            lines.append(f"| {name} | {len(section)} | {' | '.join(counts)} |")
        found = Counter(of(r) for s in chosen.values() for r in s)
        counts = [str(n) for n in (found.total(), *(found[v] for v in used))]
        lines.append(f"| **all** | {' | '.join(counts)} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def papers(rows: Mapping[Paper, Sequence[Row]]) -> str:
    """What could be read of each paper, in MyST Markdown."""
    return "\n".join(f"{p.number}, {{cite:t}}`{p.key}`\n: {p.read}\n" for p in rows if not p.own)


def card(chapter: Chapter, rows: Mapping[Paper, Sequence[Row]]) -> str:
    """The verdicts of the results that a chapter owes, in MyST Markdown."""
    here, whole = chapter.name, [row for section in rows.values() for row in section]
    own = [row for row in whole if row.entry.chapter == here]
    own += [p for row in whole if row not in own for p in row.parts if p.entry.chapter == here]
    lines = ["| result | as stated | now |", "|:--|:--|:--|"]
    for row in own:
        source = FROM.get(row.entry.source, "")
        ref = f"[{row.entry.ref}]{{.row-link .{anchor(row.entry.id)}}}"
        lines.append(f"| {ref} | {badge(row.stated)} {source} | {badge(row.now)} |")
    return "\n".join(lines)


def badge(verdict: str) -> str:
    """A verdict in its colour."""
    return f"[{verdict}]{{.verdict .verdict-{colour(verdict)}}}"


def colour(verdict: str) -> str:
    """Which of the four looks a verdict has."""
    looks = {
        "good": ("holds", "true", "reproduced"),
        "mended": (
            *("repaired", "true with a condition", "misprint", "proof gap", "constant loose"),
            *("partly", "not contradicted"),
        ),
        "bad": ("false", "refuted", "not reproduced"),
    }
    return next((look for look, words in looks.items() if verdict in words), "open")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx the directives of chapters and what fills the comments of pages."""
    from docutils import nodes
    from docutils.parsers.rst import directives
    from sphinx.util.docutils import SphinxDirective

    def fill(app: Any, docname: str, source: list[str]) -> None:
        if app.env.doc2path(docname).endswith(".md") and _MARK.search(source[0]):
            for path in (REGISTER, SINCE, *(c.notebook for c in every_chapter())):
                app.env.note_dependency(str(path))

            def address(part: str) -> str:
                to = board(app.env.found_docs, part)
                return str(app.builder.get_relative_uri(docname, to))

            source[0] = _MARK.sub(lambda m: made(m[1], m[2], address), source[0])

    texts = dict.fromkeys(("title", "group", "also"), directives.unchanged_required)

    class Verdict(SphinxDirective):
        """The card under a chapter's title; its content is one sentence."""

        has_content = True

        def run(self) -> list[Any]:
            chapter = Chapter(self.env.docname.removeprefix("book/"))
            self.env.note_dependency(str(REGISTER))
            text = filled("\n".join(self.content), glued(chapter.notebook), chapter.name)
            parts = [card(chapter, load_rows()), text]
            made = self.parse_text_to_nodes(
                "::::{admonition} Verdict\n:class: verdict-card\n\n" + "\n\n".join(parts) + "\n::::"
            )
            for node in [n for top in made for n in top.findall(nodes.inline)]:
                if "row-link" in node["classes"]:
                    at = node["classes"][-1]
                    place = board(self.env.found_docs, at.split("-")[1])
                    page = self.env.app.builder.get_relative_uri(self.env.docname, place)
                    target = f"{page}#{at}"
                    node.parent.replace(node, nodes.reference("", node.astext(), refuri=target))
            return made

    class FindingBlock(SphinxDirective):
        """A finding where it was found."""

        required_arguments = 1
        has_content = True
        option_spec = texts

        def run(self) -> list[Any]:
            chapter = Chapter(self.env.docname.removeprefix("book/"))
            try:
                found = {f.title: f for f in findings_of(chapter)}[self.options["title"]]
            except (KeyError, ValueError) as error:  # a title in quotes is no title to MyST
                raise self.error(f"finding {self.arguments[0]}: {error}") from error
            return self.parse_text_to_nodes(
                f"::::{{admonition}} {found.title}\n:class: finding\n:name: {found.label}-here\n\n"
                f"{found.body}\n\n{{ref}}`Among the findings <{found.label}>`.\n::::"
            )

    def write_records(app: Any, exception: Exception | None) -> None:
        if exception is None and app.builder.name == "html" and BOARD in app.env.found_docs:

            def address(name: str) -> str:
                page = f"book/{name}" if "/" in name else board(app.env.found_docs, name)
                return str(app.builder.get_target_uri(page))

            text = json.dumps(records(load_rows(), address), ensure_ascii=False, indent=1)
            Path(app.outdir, f"{BOARD}.json").write_text(text, encoding="utf-8")

    app.add_directive("verdict", Verdict)
    app.add_directive("finding", FindingBlock)
    app.connect("source-read", fill)
    app.connect("build-finished", write_records)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def made(what: str, part: str | None, address: Callable[[str], str] | None = None) -> str:
    """What stands in place of a page's comment; ``address`` is that of a section's page."""
    rows = load_rows()
    if what == "findings":
        found = load_findings()
        return findings(part, found) if part else in_one_line(found)
    if what in ("totals", "own-totals"):
        return totals(rows, own=what == "own-totals", address=address)
    return papers(rows) if what == "papers" else scoreboard(rows, part)
