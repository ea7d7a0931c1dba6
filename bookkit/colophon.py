"""What stands below every page: the edition that it belongs to, and how to cite a chapter.

A Sphinx extension. The edition is the version of ``CITATION.cff`` with the date and the commit that
git knows; outside a repository, the date of the release alone. With ``repository.url`` set in
``_config.yml`` the commit becomes a link and a mistake can be reported.
"""

from __future__ import annotations

import html
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bookkit.chapters import ROOT

_TAG = re.compile(r"<[^>]*>")
_NUMBER = re.compile(r"^[\d.]+\s+")  # of the section, before its title


@dataclass(frozen=True)
class Edition:
    """Version of the book, its date (YYYY-MM-DD), and the commit; empty if there is none."""

    title: str
    version: str
    date: str
    commit: str


def edition(root: Path = ROOT) -> Edition:
    """The edition of the book in a folder.

    Raises:
        OSError, KeyError: no ``CITATION.cff`` there, or one without title, version or date.
    """
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    command = ["git", "-C", str(root), "log", "-1", "--format=%cs %h"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        found = ""
    date, _, commit = found.strip().partition(" ")
    released = str(cited["date-released"])
    return Edition(cited["title"], str(cited["version"]), date or released, commit)


def bibtex(chapter: str, title: str, book: Edition, address: str = "") -> str:
    """The entry of a chapter.

    >>> book = Edition("A Book", "1.0", "2026-02-03", "abc1234")
    >>> print(bibtex("part/name", "Its title", book))
    @incollection{part-name,
      author = {{The authors of A Book}},
      title = {Its title},
      booktitle = {A Book},
      edition = {1.0 of 2026-02-03, abc1234},
      year = {2026}
    }
    """
    name = f"{book.version} of {book.date}" + (f", {book.commit}" if book.commit else "")
    fields = {
        "author": f"{{The authors of {book.title}}}",
        "title": title,
        "booktitle": book.title,
        "edition": name,
        "year": book.date[:4],
    }
    if address:
        fields["url"] = address
    lines = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items())
    return f"@incollection{{{chapter.replace('/', '-')},\n{lines}\n}}"


def colophon(book: Edition, address: str = "", entry: str = "") -> str:
    """The lines below a page, as HTML; with an entry, the way to cite it."""
    commit = html.escape(book.commit)
    if commit and address:
        commit = f'<a href="{html.escape(address)}/commit/{commit}">{commit}</a>'
    parts = [f"Version {html.escape(book.version)}, {html.escape(book.date)}", commit]
    if address:
        parts.append(f'<a href="{html.escape(address)}/issues/new">Report a mistake</a>')
    line = f'<p class="edition">{" · ".join(part for part in parts if part)}</p>'
    if not entry:
        return line
    pre = f'<div class="highlight"><pre>{html.escape(entry)}\n</pre></div>'
    block = f'<div class="highlight-bibtex notranslate">{pre}</div>'
    return f'<details class="cite"><summary>Cite this chapter</summary>{block}</details>{line}'


def set_below(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add the lines to a page of the book."""
    if doctree is None or "body" not in context:
        return
    address = app.config.html_theme_options.get("repository_url") or ""
    book = edition(Path(app.srcdir)) if Path(app.srcdir, "CITATION.cff").exists() else edition()
    entry = ""
    if Path(app.srcdir, f"{pagename}.py").exists():
        title = _NUMBER.sub("", html.unescape(_TAG.sub("", context.get("title", ""))))
        entry = bibtex(pagename.removeprefix("book/"), title, book, address)
    context["body"] += colophon(book, address, entry)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; another edition writes every page again."""
    made_by = Path(__file__).read_text(encoding="utf-8")
    app.add_config_value("colophon_made_by", f"{edition()} {made_by}", "html")
    app.connect("html-page-context", set_below, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
