"""What a chapter asserts: claims that can fail, each with the control that makes it fail.

A chapter keeps one :class:`Ledger` and asks it for the results of the register that it owes. The
verbs of a :class:`Result` (``holds``, ``refuted``, ``repaired``, ``reproduced``,
``not_reproduced``) compare a measured number with what is stated and, in the same breath, with a
control: the same quantity measured where the outcome must be the opposite. A check that the control
does not turn round could not have failed, and is an error. Every claim says what it is about and
how it is known. The ledger's record travels in the executed notebook; the scoreboard is built
from it by the rules of :mod:`bookkit.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partialmethod
from typing import Any, SupportsFloat

from bookkit.output import display, number, require_finite
from bookkit.parameters import ChapterError, check_notebook
from bookkit.register import Entry, Paper, find_entry

MIME = "application/vnd.sharper-picture.claims+json"
VERDICTS = ("holds", "repaired", "refuted", "reproduced", "not reproduced")
ABOUT = (
    *("statement", "condition", "misprint", "proof", "constant", "remark", "experiment"),
    *("code", "ours"),
)
EVIDENCE = ("proved", "exhaustive", "attained", "searched", "sampled", "trained")
RELATIONS = {"at_most": "≤", "at_least": "≥", "equals": "="}


class ClaimError(Exception):
    """A check that cannot decide anything, or a verdict other than the one declared."""


@dataclass(frozen=True)
class Claim:
    """One checked sentence.

    Attributes:
        id: Key of the result in ``book/register.yml``.
        text: What is compared, in words.
        measured: The number found; finite.
        relation: ``"at_most"``, ``"at_least"`` or ``"equals"``.
        bound: The number it is compared with; same unit.
        tol: Absolute slack of the comparison, from an error bound or an interval.
        control: The same quantity where the outcome must be the opposite; finite.
        verdict: One of :data:`VERDICTS`.
        stderr: Standard error of ``measured``; None if it is exact up to rounding.
        about: What the sentence is about, one of :data:`ABOUT`.
        evidence: How it is known, one of :data:`EVIDENCE`.
    """

    id: str
    text: str
    measured: float
    relation: str
    bound: float
    tol: float
    control: float
    verdict: str
    stderr: float | None = None
    about: str = "statement"
    evidence: str = "sampled"

    @property
    def satisfied(self) -> bool:
        """Whether the measured number meets the bound."""
        return meets(self.measured, self.relation, self.bound, self.tol)

    @property
    def decisive(self) -> bool:
        """Whether the control has the opposite outcome."""
        return meets(self.control, self.relation, self.bound, self.tol) != self.satisfied

    @property
    def found(self) -> str:
        """The measured number, with its standard error if it is an estimate."""
        error = f" ± {number(self.stderr)}" if self.stderr is not None else ""
        return self._shown(self.measured) + error

    @property
    def turned(self) -> str:
        """The control's number."""
        return self._shown(self.control)

    def _shown(self, value: float) -> str:
        """A number, but of a residue of rounding only that it is below the tolerance."""
        if self.tol and value != self.bound and abs(value - self.bound) <= self.tol <= 1e-6:
            return (
                f"{number(self.bound)} within {self.tol:.1g}" if self.bound else f"< {self.tol:.1g}"
            )
        return number(value)

    @property
    def required(self) -> str:
        """The relation, such as ``≤ 1`` or ``= 0 ± 1e-12``."""
        slack = f" ± {self.tol:.1g}" if self.tol else ""
        return f"{RELATIONS[self.relation]} {number(self.bound)}{slack}"


@dataclass
class Ledger:
    """The claims of one chapter. A notebook that asks for it has its parameters checked.

    Attributes:
        chapter: Its name, such as ``"cube/average_sensitivity"``.

    Raises:
        ChapterError: in a notebook, of a parameter as :func:`check_notebook` says.
    """

    chapter: str
    claims: list[Claim] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_notebook(self.chapter)

    def result(self, id: str) -> Result:
        """A result of the register, to which claims are added by verbs.

        Raises:
            KeyError: no row or part of the register has this id; names the nearest.
        """
        return Result(self, id, find_entry(id))

    def _check(
        self,
        entry: Entry | None,
        id: str,
        expect: str,
        text: str,
        measured: SupportsFloat,
        *,
        control: SupportsFloat,
        about: str,
        evidence: str,
        at_most: SupportsFloat | None = None,
        at_least: SupportsFloat | None = None,
        equals: SupportsFloat | None = None,
        tol: float = 0.0,
        stderr: SupportsFloat | None = None,
    ) -> None:
        relation, bound = _one_relation(at_most=at_most, at_least=at_least, equals=equals)
        for name, value, choices in (
            ("about", about, ABOUT),
            ("evidence", evidence, EVIDENCE),
            ("verdict", expect, VERDICTS),
        ):
            if value not in choices:
                raise ValueError(
                    f"{id}: unknown {name} {value!r}; choose one of {', '.join(choices)}"
                )
        if entry is not None and "as printed" in text.lower() and entry.source != "printed":
            raise ValueError(
                f"{id}: its source is {entry.source}, so no claim says 'as printed': {text!r}"
            )
        if len(text.splitlines()) != 1:
            raise ValueError(f"{id}: a claim is one line of Markdown, got {text!r}")
        if not 0 <= tol < math.inf:
            raise ValueError(f"{id}: tol must be finite and at least 0, got {tol}")
        if any((c.id, c.text) == (id, text) for c in self.claims):
            raise ValueError(f"{id}: the claim {text!r} was checked before")
        measured, bound, control = (_keep_integers(v) for v in (measured, bound, control))
        error = None if stderr is None else float(stderr)
        numbers = {"measured": measured, "bound": bound, "stderr": error, "control": control}
        for name, number_ in numbers.items():
            if number_ is not None and not math.isfinite(number_):
                raise ClaimError(f"{id}: {name} is {number_}, not a finite number")
        require_finite(text, f"{id}: a claim", "write what was found")
        claim = Claim(
            *(id, text, measured, relation, bound, tol, control),
            *(_verdict(meets(measured, relation, bound, tol), expect), error, about, evidence),
        )
        if claim.verdict != expect:
            raise ClaimError(
                f"{id}: declared {expect!r}, found {claim.verdict!r}: {text}: {claim.found}, "
                f"required {claim.required}"
            )
        if not claim.decisive:
            raise ClaimError(
                f"{id}: the control {number(control)} has the same outcome as the measured "
                f"{claim.found}, required {claim.required}, so this check cannot fail"
            )
        echo = arithmetic(measured, control)
        if echo:
            raise ClaimError(
                f"{id}: the control {number(control)} is {echo} the measured {number(measured)}: "
                f"measure it on a broken variant"
            )
        self.claims.append(claim)

    def show(self) -> None:
        """Display the table of claims and leave the record in the notebook; print elsewhere."""
        if not self.claims:
            raise ClaimError(f"{self.chapter}: the ledger is empty")
        record = self.record()
        display({"text/markdown": self.markdown(), "text/plain": self.plain(), MIME: record})

    def verdicts(self) -> None:
        """Display the verdicts without digits, for a chapter whose numbers come from training."""
        rows = [
            f"| `{c.id}` | {_cell(c.text)} | {c.verdict} | {c.about}, {c.evidence} |"
            for c in self.claims
        ]
        head = ("| result | claim | verdict | about, known by |", "|:--|:--|:--|:--|")
        table = "\n".join((*head, *rows))
        plain = "\n".join(f"{c.id}: {c.text}: {c.verdict}" for c in self.claims)
        display({"text/markdown": table, "text/plain": plain})

    def record(self) -> dict[str, Any]:
        """Everything the ledger holds, as JSON."""
        return {"chapter": self.chapter, "claims": [asdict(c) for c in self.claims]}

    def markdown(self) -> str:
        """The table of claims."""
        rows = [
            f"| `{c.id}` | {_cell(c.text)} | {c.found} | {c.required} | {c.turned} "
            f"| {c.verdict} | {c.about}, {c.evidence} |"
            for c in self.claims
        ]
        head = (
            "| result | claim | measured | required | control | verdict | about, known by |",
            "|:--|:--|:--|:--|:--|:--|:--|",
        )
        return "\n".join((*head, *rows))

    def plain(self) -> str:
        """The same as text."""
        return "\n".join(
            f"{c.id}: {c.text}: {c.found}, required {c.required}, "
            f"control {c.turned}: {c.verdict} ({c.about}, {c.evidence})"
            for c in self.claims
        )


@dataclass(frozen=True)
class Result:
    """A result of the register, to whose claims a chapter adds.

    Each verb declares a verdict and finds it: a relation that is met gives "holds" ("repaired" for
    a repaired statement, "reproduced" for an experiment), one that is not met "refuted" ("not
    reproduced"). Another verdict than the one declared stops the chapter.

    ``result.holds(text, measured, at_most=1, control=..., about="statement", evidence="proved")``

    Args:
        text: The sentence, one line of Markdown; "as printed" only where the source is printed.
        measured: The number found; finite.
        at_most, at_least, equals: Exactly one: what is stated of ``measured``.
        control: The same quantity measured on a deliberately broken variant, or, for a claim that
            is refuted, on the repaired one: its outcome must be the opposite. Finite.
        about: What the sentence is about: one of :data:`ABOUT`. Code and ours count for no row.
        evidence: How it is known: one of :data:`EVIDENCE`.
        tol: Absolute slack; derive it, do not widen it until green.
        stderr: Standard error of ``measured``, if it is an estimate.

    Raises:
        ClaimError: the control does not have the opposite outcome or is the measured number by
            arithmetic, a number is not finite, or the verdict found is not the one declared.
        ValueError: not exactly one relation, an unknown ``about`` or ``evidence``, "as printed" of
            what was not, negative ``tol``, a repeated claim, a number in its text not finite.
    """

    ledger: Ledger
    id: str
    entry: Entry | None = None

    def _claim(self, expect: str, text: str, measured: SupportsFloat, **given: Any) -> None:
        self.ledger._check(self.entry, self.id, expect, text, measured, **given)

    holds = partialmethod(_claim, "holds")
    refuted = partialmethod(_claim, "refuted")
    repaired = partialmethod(_claim, "repaired")
    reproduced = partialmethod(_claim, "reproduced")
    not_reproduced = partialmethod(_claim, "not reproduced")


def arithmetic(measured: float, control: float) -> str:
    """How the control follows from the measured number alone, or "" where that cannot be seen.

    Sign, reciprocal, and twice and ten times either way are seen. Of fractions with denominators up
    to 20 000, such as shares of draws, nothing is said: two honest ones may stand in any ratio.

    >>> found = math.sqrt(2)
    >>> arithmetic(found, -found), arithmetic(found, 10 * found), arithmetic(found, 3 * found)
    ('minus', '10 times', '')
    >>> arithmetic(19 / 4000, 38 / 4000)
    ''
    """
    if not math.isfinite(control) or not measured or not control:
        return ""
    if _is_fraction(measured) or _is_fraction(control):
        return ""
    for ratio, how in (
        (-control / measured, "minus"),
        (control * measured, "one over"),
        (control / measured / 2, "twice"),
        (measured / control / 2, "half of"),
        (control / measured / 10, "10 times"),
        (measured / control / 10, "a tenth of"),
    ):
        if math.isclose(ratio, 1, rel_tol=1e-12):
            return how
    return ""


def _is_fraction(value: float) -> bool:
    """Whether a number is a fraction of small denominator up to rounding, as from a count.

    Of other numbers one in 50 is taken for one: the first rule allows 1e-5 about each k/1024. The
    second adds one in 4000, as there are 1.2e8 such fractions in [0, 1].
    """
    if abs(value * 1024 - round(value * 1024)) < 1e-2:
        return True
    return abs(value - Fraction(value).limit_denominator(20_000)) < 1e-12


def meets(value: float, relation: str, bound: float, tol: float) -> bool:
    """Whether ``value`` satisfies the relation to ``bound`` within ``tol``; NaN never does."""
    gap = {"at_most": value - bound, "at_least": bound - value, "equals": abs(value - bound)}
    return gap[relation] <= tol


def _one_relation(**given: SupportsFloat | None) -> tuple[str, SupportsFloat]:
    chosen = [(name, v) for name, v in given.items() if v is not None]
    if len(chosen) != 1:
        names = " and ".join(name for name, _ in chosen) or "none"
        raise ValueError(f"give exactly one of at_most, at_least, equals; got {names}")
    return chosen[0]


def _keep_integers(value: SupportsFloat) -> float:
    """The value as int if it is one (a count is shown without a point), else as float."""
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, int) else float(value)


def _verdict(met: bool, expect: str) -> str:
    if expect in ("reproduced", "not reproduced"):
        return "reproduced" if met else "not reproduced"
    return ("repaired" if expect == "repaired" else "holds") if met else "refuted"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def claims_by_id(
    records: Mapping[str, Mapping[str, Any]], register: Mapping[Paper, Sequence[Entry]]
) -> dict[str, list[Claim]]:
    """The claims of all ledgers, by the row that they are about.

    Args:
        records: By chapter, what its notebook recorded.
        register: Every row.

    Raises:
        ChapterError: a record is of another chapter, or a claim of no row.
    """
    known = {e.id for rows in register.values() for top in rows for e in (top, *top.parts)}
    found: dict[str, list[Claim]] = {}
    for name, record in records.items():
        if record["chapter"] != name:
            raise ChapterError(f"{name} holds the ledger of {record['chapter']}")
        for given in record.get("claims", []):
            if given["id"] not in known:
                raise ChapterError(
                    f"{name} has a claim on {given['id']}, which is no row of the register; run "
                    "it again"
                )
            found.setdefault(given["id"], []).append(Claim(**given))
    return found
