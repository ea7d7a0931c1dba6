"""The edition of the book for the foot of each page: a Sphinx extension.

It gives the templates ``edition.html`` and ``cite.html`` what they show. The edition is the version
of ``CITATION.cff`` with the date and the commit that git knows; outside a repository, the date of
the release alone.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Edition:
    """Version of the book, its date (YYYY-MM-DD), and the commit; empty if there is none."""

    title: str
    version: str
    date: str
    commit: str


def edition(root: Path) -> Edition:
    """The edition of the book in a folder.

    Raises:
        OSError, KeyError: no ``CITATION.cff`` there, or one without title, version or date.
    """
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    top = _git(root, "rev-parse", "--show-toplevel")
    # A book that was unpacked within the repository of something else has no commit of its own.
    own = bool(top) and Path(top).resolve() == root.resolve()
    found = _git(root, "log", "-1", "--format=%cs %h") if own else ""
    date, _, commit = found.partition(" ")
    released = str(cited["date-released"])
    return Edition(cited["title"], str(cited["version"]), date or released, commit)


def _git(root: Path, *words: str) -> str:
    """What git says of a folder; nothing outside a repository, or without git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def load_edition(app: Any, config: Any) -> None:
    """Look it up once a build; another edition writes every page again."""
    config.book_edition = vars(edition(Path(app.srcdir)))


def add_edition(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give a page its edition and, if it is a chapter, its name and title to be cited by."""
    context["edition"] = app.config.book_edition
    if Path(app.srcdir, f"{pagename}.py").exists():
        title = app.env.titles[pagename].astext()
        context["cited"] = {"key": pagename.removeprefix("book/").replace("/", "-"), "title": title}


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_config_value("book_edition", {}, "html", [dict])
    app.connect("config-inited", load_edition)
    app.connect("html-page-context", add_edition)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
