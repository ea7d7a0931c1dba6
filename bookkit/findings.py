"""Findings: statements that failed, steps that have a gap, constants that are loose; their page.

A ``{finding}`` of a chapter is Markdown whose numbers come from the chapter's run. Its group agrees
with the verdict on its result, as a test requires.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bookkit.chapters import REGISTER, ROOT, Chapter, every_chapter
from bookkit.output import in_prose
from bookkit.register import every_entry, full_refs, load_register

CERTIFICATES = ROOT / "counterexamples"
GROUPS = {
    "false statement": "False statements",
    "condition": "Conditions that are not printed",
    "misprint": "Misprints",
    "proof": "Proofs that fail while the statement stands or is open",
    "constant": "Constants",
    "restored form": "Restored forms that fail",
    "not judged": "What could not be judged",
    "code": "Slips of the authors' code",
}
_FINDING = re.compile(r"^```\{finding\} (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^:(\w+): (.*)\n", re.MULTILINE)
_GLUE = re.compile(r"\{glue:?\w*\}`([^`:]+)(?::([^`]*))?`")
_POWER = re.compile(r"(?<![\w.])-?\d+\.?\d*e[+-]?\d+(?!\w)")
_WHOLE = re.compile(r"^(-?\d{5,})\.0$")


@dataclass(frozen=True)
class Finding:
    """A ``{finding}`` of a chapter, its numbers filled in from the chapter's run.

    Attributes:
        id: Of the result. also: Other results that it tells of.
        title: In words. group: One of :data:`GROUPS`. body: Markdown. chapter: Where it stands.
        number: 1, or more where a result has several.
    """

    id: str
    title: str
    group: str
    body: str
    chapter: str
    also: tuple[str, ...] = ()
    number: int = 1

    @property
    def about(self) -> tuple[str, ...]:
        """Every result that it tells of."""
        return (self.id, *self.also)

    @property
    def label(self) -> str:
        """Its address on the page of findings."""
        more = f"-{self.number}" if self.number > 1 else ""
        return "f-" + self.id.replace(".", "-").replace("_", "-").lower() + more


def load_findings() -> list[Finding]:
    """Every finding of every chapter, in the order of the chapters."""
    return [f for c in every_chapter() for f in findings_of(c)]


def findings_of(chapter: Chapter) -> list[Finding]:
    """The findings of one chapter.

    Raises:
        ValueError: a finding without a title, of an unknown group, or with a number that the run
            did not glue.
    """
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in _prose(chapter.text))
    found: list[Finding] = []
    for match in _FINDING.finditer(text):
        options = dict(_OPTION.findall(match[2]))
        body = _OPTION.sub("", match[2]).strip()
        name = f"{chapter.name}: finding {match[1]}"
        if "title" not in options:
            raise ValueError(f"{name} has no title")
        if options.get("group") not in GROUPS:
            raise ValueError(f"{name}: group must be one of {', '.join(GROUPS)}")
        body = filled(body, glued(chapter.notebook), name)
        words = options["title"], options["group"], body, chapter.name
        also, number = options.get("also", "").split(), 1 + sum(f.id == match[1] for f in found)
        found.append(Finding(match[1], *words, tuple(also), number))
    return found


def glued(notebook: Path) -> dict[str, str]:
    """What an executed notebook glued: name to text."""
    if not notebook.exists():
        return {}
    return _glued(notebook, notebook.stat().st_mtime_ns)


@functools.lru_cache(maxsize=128)
def _glued(notebook: Path, changed: int) -> dict[str, str]:
    found = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                text = output["data"].get("application/papermill.record/text/plain", "")
                found[name] = text if isinstance(text, str) else "".join(text)
    return found


def filled(text: str, values: Mapping[str, str], name: str) -> str:
    """The text with every glued number written out, inside formulas too."""

    def number(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise ValueError(f"{name} wants the number {match[1]!r}, which the run did not glue")
        value = values[match[1]]
        return written_out(f"{float(value):{match[2]}}" if match[2] else value)

    return _GLUE.sub(number, text)


def written_out(text: str) -> str:
    """A glued text with its numbers as a sentence has them, also those between words."""
    return in_prose(powers_written_out(_WHOLE.sub(r"\1", text)))


def powers_written_out(text: str) -> str:
    """A text with every number such as 1e-12 as a power of ten."""
    return _POWER.sub(lambda m: in_prose(m[0]), text)


def findings(part: str, found: Iterable[Finding]) -> str:
    """The findings of one section by group, in MyST Markdown."""
    pages = []
    for group, title in GROUPS.items():
        own = [f for f in found if f.group == group and f.id.startswith(f"{part}.")]
        if own:
            pages.append(f"## {title}\n")
        pages += [f"({f.label})=\n### {f.title}\n\n{f.body}\n\n{_where(f)}\n" for f in own]
    return "\n".join(pages) or "None yet."


def in_one_line(found: Sequence[Finding]) -> str:
    """Every finding in one line, by group, with links to where it is told."""
    lines = []
    for group, title in GROUPS.items():
        own = [f for f in found if f.group == group]
        if own:
            lines += [f"## {title}", ""]
            lines += [f"* {_ref(f)}: [{f.title}](#{f.label})" for f in own]
            lines.append("")
    return "\n".join(lines)


def _ref(finding: Finding) -> str:
    """What its result is called, such as "P2, Theorem 6"."""
    entry = every_entry(REGISTER)[finding.id]
    number = next(paper.number for paper in load_register(REGISTER) if paper.key == entry.section)
    name = full_refs(REGISTER)[finding.id]
    return f"{number}, {name}" if number else name


def _where(finding: Finding) -> str:
    address = f"{{doc}}`/book/{finding.chapter}`"
    programs = [  # of the statement itself first, then of what else the finding is about
        path.name
        for id in sorted(finding.about, key=lambda id: (id != finding.id, id))
        for pattern in (f"{id}.py", f"{id}.*.py")
        for path in sorted(CERTIFICATES.glob(pattern))
    ]
    programs = list(dict.fromkeys(programs))
    links = ", ".join(f"{{download}}`{name} </counterexamples/{name}>`" for name in programs)
    certified = f" Certified, without this book, by {links}." if links else ""
    return f"Shown in {address}.{certified}"


def _prose(text: str) -> list[str]:
    """The lines of the Markdown cells of a py:percent source."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("# %%"):
            inside = "[markdown]" in line
        elif inside and line.startswith("#"):
            lines.append(line)
    return lines
