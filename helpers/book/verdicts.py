"""From claims to verdicts: what is said of a result as its paper states it, and what is known now.

The two columns of the scoreboard follow from the claims of the ledgers by the rules here, which the
page *How to read* states in words. Nothing is judged by hand.

*As stated* looks at claims about the statement itself (of a remark, about the remark; of an
experiment, about the experiment). A refuted one makes it "false"; a refuted step of its proof
a "proof gap", a refuted constant "constant loose", whatever else holds. Otherwise it is "true"
where a claim that holds is proved, checked exhaustively or attained, and "not contradicted" where
it was searched, sampled or trained. Claims about code count for no row; our own extensions count
for rows of our own only.
"""

from __future__ import annotations

from collections.abc import Sequence

from helpers.book.claims import Claim

FIRM = ("proved", "exhaustive", "attained")
STATED = (
    "true",
    "not contradicted",
    "constant loose",
    "proof gap",
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
_OWN = {
    "remark": {"statement", "remark"},
    "caption": {"statement", "remark", "experiment"},
    "claim": {"statement", "remark", "experiment"},
    "comparison": {"statement", "experiment", "remark"},
}


def as_stated(kind: str, claims: Sequence[Claim]) -> str:
    """Verdict on a result as its source states it.

    Args:
        kind: Of the register's row.
        claims: All claims on it.
    """
    own = _about_it(kind, claims)
    trial = _of_experiments(own)
    if any(c.verdict == "refuted" for c in own):
        return "false"
    if trial:
        return trial
    for about, verdict in (("proof", "proof gap"), ("constant", "constant loose")):
        if any(c.verdict == "refuted" and c.about == about for c in claims):
            return verdict
    held = [c for c in own if c.verdict == "holds"]
    if held:
        return "true" if _firm(held) else "not contradicted"
    return "not judged"


def known_now(kind: str, claims: Sequence[Claim]) -> str:
    """Verdict on what is known of the result, repaired where it had to be."""
    own = _about_it(kind, claims)
    trial = _of_experiments(own)
    refuted = any(c.verdict == "refuted" for c in own)
    if trial and not refuted:
        return trial
    repairs = [c for c in own if c.verdict == "repaired"]
    if refuted:
        return "repaired" if _firm(repairs) else "false"
    mended = [c for c in claims if c.verdict == "repaired" and c.about in ("proof", "constant")]
    held = [c for c in own if c.verdict == "holds"] + mended
    if held:
        return "holds" if _firm(held) else "not contradicted"
    if repairs:
        return "repaired" if _firm(repairs) else "not contradicted"
    return "open"


def together(verdicts: Sequence[str]) -> str:
    """Verdict of a row from those of its parts: one if all agree, else "partly"."""
    return verdicts[0] if len(set(verdicts)) == 1 else "partly"


def deciding(kind: str, claims: Sequence[Claim]) -> Claim | None:
    """The claim to quote: one that bears the verdict as stated, the firmest first."""
    wanted = {"false": "refuted", "proof gap": "refuted", "constant loose": "refuted"}
    verdict = wanted.get(as_stated(kind, claims), "")
    own = _about_it(kind, claims)
    order = sorted(
        claims, key=lambda c: (c.verdict != verdict, c not in own, c.evidence not in FIRM)
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
