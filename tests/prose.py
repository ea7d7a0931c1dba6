"""How the prose of a page reads, in three numbers.

``python -m tests.prose retrieval/state_norms how_to_read`` prints for each page the share of its
sentences with at most eight words, the share of those that say how they follow from the last
(*so, because, but, for example ...*), the median length in words, and the minutes that reading
takes; without names it measures all pages. A formula, a number from the run and a reference count
as one word each. Headings, tables, code, captions and the line of requirements under a card are
not prose.
"""

from __future__ import annotations

import argparse
import re
import statistics
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
SHORT = 8
A_MINUTE = 200
"""Words that are read in a minute, of a text with formulas."""
CONNECTIVES = (
    "so|because|but|since|then|therefore|although|hence|whereas|thus|however|instead|otherwise|"
    "for example|for instance|in other words|in particular|that is|to see|this is why|"
    "as a result|on the other hand|the reason is|after all|for this"
)
HOUSE = (
    "comes out|come out|came out|told apart|turned round|knows nothing|in the middle|nats that|"
    "wilts?|will do|says nothing|hold still|put back|by medians|stands in our text|asked so"
)

_CONNECTIVE = re.compile(rf"\b(?:{CONNECTIVES})\b", re.IGNORECASE)
_HOUSE = re.compile(rf"\b(?:{HOUSE})\b", re.IGNORECASE)
_CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|:{3,})\s*(\{[^}]*\})?(.*)$")
_QUIET = {"bibliography", "map", "glossary", "mermaid", "rubric", "code-block", "figure", "image"}
_OPTION = re.compile(r"^:[a-z-]+:")
_SKIPPED = re.compile(r"^(#|\||\*\*Needs\*\*|\([\w-]+\)=$|<!--)")
_ENDS = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*$]*[A-Z0-9\x00])")
_WORD = "\x00"
_LABEL = re.compile(r"^(\*{1,2})[^*]{1,70}[.:]\1\s*")
_ROLE = re.compile(r"\{[a-z:]+\}`[^`]*`")
_FOLDED = re.compile(
    r"^(`{3,}|:{3,})\{dropdown\}.*?^\1\s*$|^`{3,}\{solution-start\}.*?\{solution-end\}.*?^`{3,}\s*$",
    re.DOTALL | re.MULTILINE,
)
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|al|Eq|Thm|cf|vs)\.")


class Level(NamedTuple):
    """What was measured of a text."""

    sentences: int
    short: float
    connected: float
    median: float


def markdown(path: Path) -> str:
    """The words of a page: a Markdown file, or the Markdown cells of a chapter."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    cells = _CELL.split(text)[1:]
    words = [body for head, body in zip(cells[::2], cells[1::2], strict=True) if "markdown" in head]
    return "\n\n".join(re.sub(r"^# ?", "", cell, flags=re.MULTILINE) for cell in words)


def _display(found: re.Match[str]) -> str:
    """A formula on lines of its own: a word, with the full stop that it may end in."""
    return _WORD + ("." if re.search(r"\.\s*(\$\$|```)$", found[0]) else "")


def paragraphs(text: str) -> list[str]:
    """Running text, each paragraph or item on one line; formulas and roles are one word each."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\*\([^()*]*(?:\([^()]*\))?[^()*]*\)\*", "", text)  # where a statement is from
    text = re.sub(r"\$\$ \([a-z0-9-]+\)$", "$$", text, flags=re.MULTILINE)
    for display in (r"^\s*\$\$.*?\$\$", r"^```\{math\}.*?^```$"):
        text = re.sub(display, _display, text, flags=re.DOTALL | re.MULTILINE)
    text = _ROLE.sub(_WORD, text)
    text = re.sub(r"\$[^$\n]+\$", _WORD, text)
    text = re.sub(r"`[^`\n]+`", _WORD, text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = _ABBREVIATION.sub(r"\1", text)
    found: list[list[str]] = [[]]
    quiet: list[tuple[str, bool]] = []
    for line in text.splitlines():
        bare = line.strip()
        fence = _FENCE.match(bare)
        if fence and (fence[2] or fence[3] or not quiet or bare[:3] == quiet[-1][0][:3]):
            if fence[2] or not quiet or (fence[3] and not fence[2]):
                name = (fence[2] or "{}")[1:-1]
                still = bool(quiet and quiet[-1][1])
                code = not fence[2] and bare.startswith("`")
                if name not in ("solution-start", "solution-end") or not bare.startswith("`"):
                    quiet.append((fence[1], still or code or name in _QUIET))
                else:
                    quiet.append((fence[1], still))
            else:
                quiet.pop()
            found.append([])
        elif not bare or _SKIPPED.match(bare) or _OPTION.match(bare):
            found.append([])
        elif not (quiet and quiet[-1][1]):
            if re.match(r"([*+-]|\d+\.|:)\s", bare):
                found.append([])
            if not bare.startswith(": "):  # an entry of a list of terms is no running text
                found[-1].append(re.sub(r"^([*+-]|\d+\.)\s+", "", bare))
    # a display belongs to the sentence before it
    joined: list[str] = []
    for lines in found:
        paragraph = _LABEL.sub("", " ".join(lines).strip())
        if not paragraph:
            continue
        if joined and (paragraph.strip(" .,;") == _WORD or joined[-1].endswith(_WORD)):
            joined[-1] += " " + paragraph
        else:
            joined.append(paragraph)
    return joined


def sentences(text: str) -> list[str]:
    """The sentences of a page; what has no verb-like end (a label, a name) is left out."""
    parts = [part for line in paragraphs(text) for part in _ENDS.split(line)]
    return [
        part for part in parts if re.search(r"[A-Za-z]{2}", part) and re.search(r"[.!?:]", part)
    ]


def words(sentence: str) -> int:
    """Its number of words."""
    return len([w for w in sentence.split() if re.search(rf"[\w{_WORD}]", w)])


def measure(text: str) -> Level:
    """The level of a page."""
    all_of_it = sentences(text)
    lengths = [words(s) for s in all_of_it]
    return Level(
        len(lengths),
        sum(n <= SHORT for n in lengths) / len(lengths),
        sum(bool(_CONNECTIVE.search(s)) for s in all_of_it) / len(lengths),
        statistics.median(lengths),
    )


def minutes(text: str) -> int:
    """The time for which a page is read, without what is folded: proofs and solutions."""
    read = sum(words(s) for s in sentences(_FOLDED.sub("", text)))
    return max(1, round(read / A_MINUTE))


def house_words(text: str) -> list[str]:
    """Words of this house for which the field has others."""
    return [m[0] for line in paragraphs(text) for m in _HOUSE.finditer(line)]


def page(name: str) -> Path:
    """The source of a page of the book."""
    source = BOOK / f"{name}.py"
    return source if source.exists() else BOOK / f"{name}.md"


def main(names: list[str]) -> None:
    """Print the level of each page."""
    found = [*BOOK.glob("*/*.py"), *BOOK.glob("*.md"), *BOOK.glob("*/*.md")]
    everything = sorted(str(p.relative_to(BOOK).with_suffix("")) for p in found)
    for name in names or everything:
        text = markdown(page(name))
        if not sentences(text):  # a page that only names the modules that it lists
            print(f"{name:45s}    0")
            continue
        level = measure(text)
        house = ", ".join(sorted(set(house_words(text))))
        print(
            f"{name:45s} {level.sentences:4d} {level.short:5.0%} {level.connected:5.0%} "
            f"{level.median:4.0f} {minutes(text):4d} min  {house}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="such as cube/capacity (all)")
    main(parser.parse_args().pages)
