"""What the rendered pages add to their theme: a Sphinx extension.

The buttons that lead out of the book (Colab, Binder, the repository, its issues) hang on one
setting, ``repository.url`` in ``_config.yml``; while it is empty there are none. Beside each
notebook lie the source that it was made from and the tables that its long runs stored. The head of
a page says what it is about. Verdicts on a card get their colour, and formulas
keep the comma behind them on their line.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

from bookkit.claims import VERDICTS
from bookkit.findings import powers_written_out, written_out
from bookkit.scoreboard import colour

_SHOW_CODE = '<button class="show-all-code" type="button">Show all code</button>'
_LEDGER = "about, known by"
_POWER_OF_TEN = re.compile(r"(?<=\d) × (?=10)")  # of a number that a line may not cut
_OPENING = re.compile(r"[(\[]$")
_CLOSING = re.compile(r"\S{1,12}(?=\s|$)")


def set_repository_buttons(app: Any, config: Any) -> None:
    """Drop the buttons that need the repository's address if there is none, else add its own."""
    options = config.html_theme_options
    options["repository_url"] = (options.get("repository_url") or "").strip().rstrip("/")
    known = bool(options["repository_url"])
    options["use_repository_button"] = options["use_issues_button"] = known
    if not known:
        options.pop("launch_buttons", None)


def add_source_buttons(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add buttons for the ``.py`` that a notebook is paired with, and for its stored tables."""
    files = beside(app, pagename)
    if doctree is None or files[:1] != [f"{pagename}.py"]:
        return
    buttons = [
        {
            "type": "link",
            "url": f"{context['pathto']('_sources', 1)}/{file}",
            "text": Path(file).name.removeprefix(Path(pagename).name),
            "tooltip": "Download a stored table" if file.endswith("csv") else "Download the script",
            "icon": "fas fa-table" if file.endswith("csv") else "fas fa-file-code",
            "label": "download-script-button",
        }
        for file in files
    ]
    for group in context["header_buttons"]:
        if group.get("label") == "download-buttons":
            group["buttons"][1:1] = buttons


def beside(app: Any, pagename: str) -> list[str]:
    """The files that a chapter offers: its script, and the tables that its long runs stored."""
    chapter = pagename.removeprefix("book/")
    patterns = f"{pagename}.py", f"results/{chapter}.*.csv"
    root = Path(app.srcdir)
    return [f.relative_to(root).as_posix() for p in patterns for f in sorted(root.glob(p))]


def copy_source_files(app: Any, exception: Exception | None) -> None:
    """Put these files where the buttons lead, also if the page was not written again."""
    if exception is not None or app.builder.format != "html":
        return
    for file in (f for pagename in app.env.found_docs for f in beside(app, pagename)):
        target = Path(app.outdir, "_sources", file)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(app.srcdir, file), target)


def add_page_scripts(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Load what the calculator and moving figures need on their pages, and on no other."""
    if pagename == "book/calculator":
        app.add_css_file("calculator.css")
        for name in ("calculator_bounds.js", "calculator_chart.js", "calculator.js"):
            app.add_js_file(name)
    if '<figure class="moving"' in context.get("body", ""):
        app.add_css_file("moving.css")
        app.add_js_file("moving.js")


def describe(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Say in a page's head what it is about: its verdict, or its first paragraph."""
    from docutils import nodes

    if context.get("title") == context["docstitle"]:
        context["docstitle"] = ""  # the first page has the book's title, once
    if app.config.html_baseurl:
        context["card"] = f"{app.config.html_baseurl.rstrip('/')}/_static/page.png"
    if doctree is not None:
        above = (nodes.section, nodes.admonition)
        first = (n for n in doctree.findall(nodes.paragraph) if isinstance(n.parent, above))
        words, formula, _ = next((n.astext() for n in first), "").partition("\\")
        ends = f"{words.rpartition(' ')[0]} …" if formula else words
        context["description"] = textwrap.shorten(ends, 200, placeholder=" …")


def adjust_nodes(app: Any, doctree: Any, docname: str) -> None:
    """Colour the verdicts of a card, keep formulas whole, set numbers, and mark the ledger."""
    from docutils import nodes

    for cell in doctree.findall(nodes.entry):
        badge = any("verdict" in inner["classes"] for inner in cell.findall(nodes.inline))
        head = isinstance(cell.parent.parent, nodes.thead)
        if cell.astext() in VERDICTS and not (badge or head):
            cell[0]["classes"] += ["verdict", f"verdict-{colour(cell.astext())}"]
        for text in list(cell.findall(nodes.Text)):
            if not isinstance(text.parent, (nodes.math, nodes.literal)):
                text.parent.replace(text, nodes.Text(powers_written_out(text)))
    for pasted in [n for n in doctree.findall(nodes.inline) if "pasted-text" in n["classes"]]:
        pasted[:] = [nodes.Text(written_out(pasted.astext()))]
    kept = nodes.math, nodes.literal, nodes.FixedTextElement  # formulas and code stay as they are
    for text in list(doctree.findall(nodes.Text)):
        whole = _POWER_OF_TEN.sub("\u00a0×\u00a0", text)
        if whole != text and not isinstance(text.parent, kept):
            text.parent.replace(text, nodes.Text(whole))
    for formula in list(doctree.findall(nodes.math)):
        keep_unbroken(formula)
    for ledger in [n for n in doctree.findall(nodes.table) if _LEDGER in n.astext()][:1]:
        sign = nodes.paragraph("", "Ledger ", ids=["ledger"], classes=["address"])
        sign += nodes.reference("", "#", refuri="#ledger")
        ledger.replace_self([sign, ledger])
    folds = any("hide" in tag for n in doctree.findall(nodes.container) for tag in n["classes"])
    title = next(iter(doctree.findall(nodes.title)), None)
    if folds and title is not None:  # in its place from the first; book.js gives it its work
        button = nodes.raw("", _SHOW_CODE, format="html")
        title.replace_self([title, button])


def keep_unbroken(formula: Any) -> None:
    """Put a formula and what stands right before and behind it, such as a comma, on one line."""
    from docutils import nodes

    above, at = formula.parent, formula.parent.index(formula)
    before, behind = above[at - 1 : at], above[at + 1 : at + 2]
    opening = _OPENING.search(before[0]) if before and isinstance(before[0], nodes.Text) else None
    closing = _CLOSING.match(behind[0]) if behind and isinstance(behind[0], nodes.Text) else None
    if not closing:
        return
    whole = nodes.inline("", "", classes=["unbroken"])
    rest = [nodes.Text(behind[0][closing.end() :])]
    if opening:
        rest.insert(0, whole)
        above[at - 1 : at + 2] = [nodes.Text(before[0][: opening.start()]), *rest]
        whole += nodes.Text(opening[0])
    else:
        above[at : at + 2] = [whole, *rest]
    whole += [formula, nodes.Text(closing[0])]


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("config-inited", set_repository_buttons)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", add_page_scripts)
    app.connect("html-page-context", add_source_buttons, priority=900)
    app.connect("doctree-resolved", adjust_nodes)
    app.connect("build-finished", copy_source_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
