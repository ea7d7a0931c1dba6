"""What a chapter asserts: claims that can fail, each with the control that makes it fail.

A chapter keeps one :class:`Ledger`. ``check`` compares a measured number with the bound that a
paper states and, in the same breath, with a control: the same quantity measured where the outcome
must be the opposite. A check that the control does not turn round could not have failed, and is an
error. The ledger's record travels in the executed notebook; the scoreboard is built from it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, SupportsFloat

MIME = "application/vnd.sharper-picture.claims+json"
VERDICTS = ("holds", "repaired", "refuted", "reproduced", "not reproduced")
PASSING = ("holds", "repaired", "reproduced")
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
        control: The same quantity where the outcome must be the opposite.
        verdict: One of :data:`VERDICTS`.
        stderr: Standard error of ``measured``; None if it is exact up to rounding.
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
        return number(self.measured) + error

    @property
    def required(self) -> str:
        """The relation, such as ``≤ 1`` or ``= 0 ± 1e-12``."""
        slack = f" ± {self.tol:.1g}" if self.tol else ""
        return f"{RELATIONS[self.relation]} {number(self.bound)}{slack}"


@dataclass(frozen=True)
class Finding:
    """What went wrong with a printed statement, for the page of findings; Markdown throughout."""

    id: str
    printed: str
    counterexample: str
    why: str
    repair: str
    survives: str


@dataclass
class Ledger:
    """The claims of one chapter.

    Attributes:
        chapter: Its name, such as ``"cube/average_sensitivity"``.
    """

    chapter: str
    claims: list[Claim] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def check(
        self,
        id: str,
        text: str,
        *,
        measured: SupportsFloat,
        control: SupportsFloat,
        at_most: SupportsFloat | None = None,
        at_least: SupportsFloat | None = None,
        equals: SupportsFloat | None = None,
        tol: float = 0.0,
        expect: str = "holds",
        stderr: SupportsFloat | None = None,
    ) -> Claim:
        """Compare, record, and stop if the verdict is not the declared one.

        Exactly one of ``at_most``, ``at_least``, ``equals`` states what the paper says of
        ``measured``. The verdict is found, not chosen: ``expect`` only declares it. A relation
        that is met gives "holds" ("repaired" for a mended statement, "reproduced" for an
        experiment); one that is not met gives "refuted" ("not reproduced").

        Args:
            id: Key in the register, ``paper.result``.
            text: The sentence, one line of Markdown.
            measured: The number found; finite.
            control: The same quantity measured on a deliberately broken variant, or, for a claim
                that is refuted, on the repaired one: its outcome must be the opposite.
            at_most: Upper bound.
            at_least: Lower bound.
            equals: Exact value.
            tol: Absolute slack; derive it, do not widen it until green.
            expect: The declared verdict, one of :data:`VERDICTS`.
            stderr: Standard error of ``measured``, if it is an estimate.

        Raises:
            ClaimError: the control does not have the opposite outcome, a number is not finite, or
                the verdict found is not the one declared.
            ValueError: not exactly one relation, unknown verdict, negative ``tol``, a repeated
                claim.
        """
        relation, bound = _one_relation(at_most=at_most, at_least=at_least, equals=equals)
        if expect not in VERDICTS:
            raise ValueError(f"unknown verdict {expect!r}; choose one of {', '.join(VERDICTS)}")
        if not 0 <= tol < math.inf:
            raise ValueError(f"{id}: tol must be finite and at least 0, got {tol}")
        if any((c.id, c.text) == (id, text) for c in self.claims):
            raise ValueError(f"{id}: the claim {text!r} was checked before")
        measured, bound, control = (_keep_integers(v) for v in (measured, bound, control))
        error = None if stderr is None else float(stderr)
        for name, value in (("measured", measured), ("bound", bound), ("stderr", error)):
            if value is not None and not math.isfinite(value):
                raise ClaimError(f"{id}: {name} is {value}, not a finite number")
        if math.isnan(control):
            raise ClaimError(f"{id}: control is nan")
        met = meets(measured, relation, bound, tol)
        claim = Claim(
            id, text, measured, relation, bound, tol, control, _verdict(met, expect), error
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
        self.claims.append(claim)
        return claim

    def finding(
        self, id: str, *, printed: str, counterexample: str, why: str, repair: str, survives: str
    ) -> None:
        """Tell what is wrong with a refuted claim, in Markdown whose numbers come from the run.

        Args:
            id: Key of a claim checked before.
            printed: The statement, in our words.
            counterexample: The smallest one, with its numbers.
            why: Where the argument breaks.
            repair: The statement that holds, or that there is none.
            survives: What remains of the paper's message.
        """
        if not any(c.id == id for c in self.claims):
            raise ValueError(f"{id}: a finding needs a claim that was checked before")
        self.findings.append(Finding(id, printed, counterexample, why, repair, survives))

    def show(self) -> None:
        """Display the table of claims and leave the record in the notebook; print elsewhere."""
        unexplained = {c.id for c in self.claims if c.verdict not in ("holds", "reproduced")}
        unexplained -= {f.id for f in self.findings}
        if unexplained:
            raise ClaimError(f"no finding explains {', '.join(sorted(unexplained))}")
        if not self.claims:
            raise ClaimError(f"{self.chapter}: the ledger is empty")
        record = self.record()
        _display({"text/markdown": self.markdown(), "text/plain": self.plain(), MIME: record})
        store = os.environ.get("BOOK_CLAIMS")
        if store:
            Path(store).parent.mkdir(parents=True, exist_ok=True)
            Path(store).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")

    def verdicts(self) -> None:
        """Display the verdicts without digits, for a chapter whose numbers come from training."""
        rows = [f"| `{c.id}` | {_cell(c.text)} | {c.verdict} |" for c in self.claims]
        table = "\n".join(("| result | claim | verdict |", "|:--|:--|:--|", *rows))
        plain = "\n".join(f"{c.id}: {c.text}: {c.verdict}" for c in self.claims)
        _display({"text/markdown": table, "text/plain": plain})

    def record(self) -> dict[str, Any]:
        """Everything the ledger holds, as JSON."""
        return {
            "chapter": self.chapter,
            "claims": [asdict(c) for c in self.claims],
            "findings": [asdict(f) for f in self.findings],
        }

    def markdown(self) -> str:
        """The table of claims."""
        rows = [
            f"| `{c.id}` | {_cell(c.text)} | {c.found} | {c.required} | {number(c.control)} "
            f"| {c.verdict} |"
            for c in self.claims
        ]
        head = (
            "| result | claim | measured | required | control | verdict |",
            "|:--|:--|:--|:--|:--|:--|",
        )
        return "\n".join((*head, *rows))

    def plain(self) -> str:
        """The same as text."""
        return "\n".join(
            f"{c.id}: {c.text}: {c.found}, required {c.required}, "
            f"control {number(c.control)}: {c.verdict}"
            for c in self.claims
        )


def meets(value: float, relation: str, bound: float, tol: float) -> bool:
    """Whether ``value`` satisfies the relation to ``bound`` within ``tol``; NaN never does."""
    gap = {"at_most": value - bound, "at_least": bound - value, "equals": abs(value - bound)}
    return gap[relation] <= tol


def combined_verdict(verdicts: Sequence[str]) -> str:
    """Verdict of a result from those of its claims; "open" if there are none."""
    found = set(verdicts)
    if "repaired" in found:
        return "repaired"
    for verdict in ("refuted", "not reproduced", "reproduced", "holds"):
        if verdict in found:
            return verdict
    return "open"


def number(x: float) -> str:
    """Four significant digits; integers as they are, other numbers always with a point."""
    if isinstance(x, int):
        return str(x)
    text = f"{x:.4g}"
    return text if not math.isfinite(x) or "." in text or "e" in text else text + ".0"


def glue(name: str, value: object) -> None:
    """Make a number of this run available to the prose as ``{glue:text}`name```.

    A machine without myst-nb prints it instead.
    """
    try:
        from myst_nb import glue as to_page
    except ImportError:
        print(f"{name} = {value}")
        return
    to_page(name, _Bare(value) if isinstance(value, str) else value, display=False)


class _Bare(str):
    """A string that shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


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


def _display(bundle: dict[str, Any]) -> None:
    """Show a MIME bundle in a notebook; print its text where there is none."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(bundle["text/plain"])
        return
    if get_ipython() is None:
        print(bundle["text/plain"])
    else:
        display(bundle, raw=True)
