"""What the rendered pages add to their theme: a Sphinx extension.

The buttons that lead out of the book (Colab, Binder, the repository, its issues) hang on one
setting, ``repository.url`` in ``_config.yml``; while it is empty there are none. Beside each
notebook lies the source that it was made from. Verdicts in tables get their colour, figures a
link to their full size, formulas keep the comma behind them on their line, and markup that screen
readers stumble over is mended.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from helpers.book.claims import VERDICTS
from helpers.book.scoreboard import colour, written_out

_VERDICT_CELL = re.compile(rf"(<td[^>]*><p>)({'|'.join(VERDICTS)})(</p>)")
_PASTED = re.compile(r'(<span class="pasted-text">)([^<]*)(</span>)')
_FIGURE = re.compile(r'(<figure[^>]*>\s*)(<img[^>]*src="([^"]*)"[^>]*>)')
_FORMULA = re.compile(r'([(\[]?<span class="math[^"]*">[^<]*</span>[^\s<]{1,12})(?=[\s<])')


def follow_the_address(app: Any, config: Any) -> None:
    """Drop the buttons that need the repository's address if there is none, else add its own."""
    options = config.html_theme_options
    options["repository_url"] = (options.get("repository_url") or "").strip().rstrip("/")
    known = bool(options["repository_url"])
    options["use_repository_button"] = options["use_issues_button"] = known
    if not known:
        options.pop("launch_buttons", None)


def note_what_is_read(app: Any, env: Any, docnames: list[str]) -> None:
    """Remember whether this build read anything anew."""
    env.pages_read_anew = bool(docnames)


def write_every_page(app: Any, env: Any) -> list[str]:
    """If so, write all pages: each shows the titles of the others at its side."""
    return list(env.found_docs) if env.pages_read_anew else []


def offer_the_source(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add a button for the ``.py`` that a notebook is paired with."""
    if doctree is None or not Path(app.srcdir, f"{pagename}.py").exists():
        return
    button = {
        "type": "link",
        "url": f"{context['pathto']('_sources', 1)}/{pagename}.py",
        "text": ".py",
        "tooltip": "Download source as a script",
        "icon": "fas fa-file-code",
        "label": "download-script-button",
    }
    for group in context["header_buttons"]:
        if group.get("label") == "download-buttons":
            group["buttons"].insert(1, button)


def copy_the_sources(app: Any, exception: Exception | None) -> None:
    """Put each page's ``.py`` where its button leads, also if the page was not written again."""
    if exception is not None or app.builder.format != "html":
        return
    for pagename in app.env.found_docs:
        source = Path(app.srcdir, f"{pagename}.py")
        if source.exists():
            target = Path(app.outdir, "_sources", f"{pagename}.py")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def finish_the_body(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Apply :func:`finished` to the page's body."""
    if "body" in context:
        context["body"] = finished(context["body"])


def finished(body: str) -> str:
    """Colour verdicts, link figures, keep formulas and commas together, mend for screen readers."""
    body = _VERDICT_CELL.sub(
        lambda m: f'{m[1]}<span class="verdict verdict-{colour(m[2])}">{m[2]}</span>{m[3]}', body
    )
    body = _FIGURE.sub(r'\1<a class="full-figure" href="\3">\2</a>', body)
    body = _FORMULA.sub(r'<span class="unbroken">\1</span>', body)
    body = _PASTED.sub(lambda m: f"{m[1]}{written_out(m[2])}{m[3]}", body)
    body = with_address(body)
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    return body.replace('<summary aria-label="Toggle hidden content">', "<summary>")


def with_address(body: str) -> str:
    """The page with an address, and a sign that shows it, above its ledger."""
    inside = body.find("about, known by")
    start = body.rfind('<div class="pst-scrollable-table-container">', 0, max(inside, 0))
    start = start if start >= 0 else body.rfind("<table", 0, max(inside, 0))
    if inside < 0 or start < 0:
        return body
    sign = '<p class="address" id="ledger">Ledger <a href="#ledger">#</a></p>'
    return body[:start] + sign + body[start:]


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; a change of this file writes every page again."""
    app.add_config_value("pages_made_by", Path(__file__).read_text(encoding="utf-8"), "html")
    app.connect("config-inited", follow_the_address)
    app.connect("env-before-read-docs", note_what_is_read)
    app.connect("env-updated", write_every_page)
    app.connect("html-page-context", offer_the_source, priority=900)
    app.connect("html-page-context", finish_the_body, priority=900)
    app.connect("build-finished", copy_the_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
