"""From claims to verdicts: what is said of a result as its paper states it, and what is known now.

The two columns of the scoreboard follow from the claims of the ledgers by the rules here, which the
page *How to read* states in words. Nothing is judged by hand.

*As stated* looks at claims about the statement itself (of a remark, about the remark; of an
experiment, about the experiment). A refuted one makes it "false" where the statement is printed or
quoted, "restored form fails" where the formula is a restored one or that of a program: such a
failure is no failure of the authors. A statement that fails without a condition that is not printed
(a refuted claim about its *condition*) is "true with a condition"; one that fails as printed while
its own proof or another formula has the right form (a refuted claim about a *misprint*) is a
"misprint"; both only where the statement so read holds. A refuted step of its proof is a "proof
gap", a refuted constant "constant loose". Otherwise it is "true" where a claim that holds is
proved, checked exhaustively or attained, and "not contradicted" where it was searched, sampled or
trained. Claims about code count for no row; our own extensions count for rows of our own only.
"""

from __future__ import annotations

from collections.abc import Sequence

from bookkit.claims import Claim

FIRM = ("proved", "exhaustive", "attained")
STATED = (
    "true",
    "true with a condition",
    "misprint",
    "constant loose",
    "proof gap",
    "not contradicted",
    "restored form fails",
    "false",
    "reproduced",
    "partly",
    "not reproduced",
    "not judged",
)
NOW = (
    "holds",
    "not contradicted",
    "repaired",
    "false",
    "reproduced",
    "partly",
    "not reproduced",
    "open",
)
_SIDE = {
    "misprint": "misprint",
    "true with a condition": "condition",
    "proof gap": "proof",
    "constant loose": "constant",
}
"""Of each verdict that a refuted claim beside the statement brings: what that claim is about."""
_OWN = {
    "remark": {"statement", "remark"},
    "caption": {"statement", "remark", "experiment"},
    "claim": {"statement", "remark", "experiment"},
    "comparison": {"statement", "experiment", "remark"},
}


def as_stated(kind: str, claims: Sequence[Claim], source: str = "printed") -> str:
    """Verdict on a result as its source states it.

    Args:
        kind: Of the register's row.
        claims: All claims on it.
        source: Where its statement comes from; a restored form or one from a program is not called
            false.
    """
    own = _about_it(kind, claims)
    trial = _of_experiments(own)
    if any(c.verdict == "refuted" for c in own):
        return "restored form fails" if source in ("restored", "code") else "false"
    if trial:
        return trial
    held = [c for c in own if c.verdict == "holds"]
    for verdict, about in _SIDE.items():
        if any(c.verdict == "refuted" and c.about == about for c in claims):
            if about in ("misprint", "condition") and not _firm(held):
                return "not contradicted" if held else "not judged"
            return verdict
    if held:
        return "true" if _firm(held) else "not contradicted"
    return "not judged"


def known_now(kind: str, claims: Sequence[Claim], source: str = "printed") -> str:
    """Verdict on what is known of the result, repaired where it had to be."""
    own = _about_it(kind, claims)
    trial = _of_experiments(own)
    refuted = any(c.verdict == "refuted" for c in own)
    if trial and not refuted:
        return trial
    repairs = [c for c in own if c.verdict == "repaired"]
    if refuted:
        failed = "open" if source in ("restored", "code") else "false"
        return "repaired" if _firm(repairs) else failed
    mended = [c for c in claims if c.verdict == "repaired" and c.about in _SIDE.values()]
    held = [c for c in own if c.verdict == "holds"] + mended
    if held:
        return "holds" if _firm(held) else "not contradicted"
    if repairs:
        return "repaired" if _firm(repairs) else "not contradicted"
    return "open"


def together(verdicts: Sequence[str]) -> str:
    """Verdict of a row from those of its parts: one if all agree, else "partly"."""
    return verdicts[0] if len(set(verdicts)) == 1 else "partly"


def deciding(kind: str, claims: Sequence[Claim], source: str = "printed") -> Claim | None:
    """The claim to quote: one that bears the verdict as stated, the firmest first."""
    verdict = as_stated(kind, claims, source)
    own = _about_it(kind, claims)
    beside = _SIDE.get(verdict, "")
    refuted = beside or verdict in ("false", "restored form fails")
    order = sorted(
        claims,
        key=lambda c: (
            c.verdict != "refuted" if refuted else False,
            c.about != beside if beside else c not in own,
            c.evidence not in FIRM,
        ),
    )
    return order[0] if order else None


def _about_it(kind: str, claims: Sequence[Claim]) -> list[Claim]:
    about = _OWN.get(kind, {"statement", "experiment"})
    return [c for c in claims if c.about in about]


def _of_experiments(own: Sequence[Claim]) -> str:
    found = {c.verdict for c in own} & {"reproduced", "not reproduced"}
    return "partly" if len(found) == 2 else next(iter(found), "")


def _firm(claims: Sequence[Claim]) -> bool:
    return any(c.evidence in FIRM for c in claims)
