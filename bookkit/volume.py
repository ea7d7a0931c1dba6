"""The whole book as one document to print, put together from the rendered pages.

The articles follow one another in the order of ``_toc.yml``, behind a title page and the contents.
Addresses within the book become addresses within the document; navigation stays behind. Code that a
page folds is named, not printed, unless it solves an exercise; what else is folded is opened.
"""

from __future__ import annotations

import html
import importlib.util
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import yaml

from bookkit.chapters import ROOT
from bookkit.colophon import Edition, edition

DPI = 200
"""Least dots per inch of a figure in print."""
LEFT_OUT = ("The code",)
"""Parts that are for looking up beside the code, not for reading: links to them become text."""
_FURNITURE = (
    "a.headerlink, p.edition, details.cite, .toctree-wrapper, script, style, button, "
    ".backrefs, .sd-summary-state-marker, .hide > summary .expanded"
)
_PLAIN = re.compile(r'<span class="(?:n[a-z]?|[pow]|m[a-z]|bp|pre)">([^<]*)</span>')
"""Words of code that print in black; each in a span of its own would double the size of the PDF."""
_FONTS = {
    "Book": ("STIXGeneral.ttf", "STIXGeneralItalic.ttf", "STIXGeneralBol.ttf"),
    "Code": ("DejaVuSansMono.ttf", "DejaVuSansMono-Oblique.ttf", "DejaVuSansMono-Bold.ttf"),
    "Signs": ("DejaVuSans.ttf", "DejaVuSans-Oblique.ttf", "DejaVuSans-Bold.ttf"),
}
_LOOKS = (("normal", 400), ("italic", 400), ("normal", 700))
_MATHJAX = {
    "loader": {"load": ["core", "input/tex", "output/svg"]},
    "startup": {"typeset": False},
    "svg": {"fontCache": "none"},
    "options": {
        "processHtmlClass": "tex2jax_process|mathjax_process|math|output_area",
    },
}


@dataclass(frozen=True)
class Page:
    """A page of the book: its name, the caption of its part, and 1 for a part, 2 for a chapter."""

    name: str
    caption: str
    level: int

    @property
    def key(self) -> str:
        """What its addresses begin with, such as ``cube-capacity``."""
        return plain(self.name.removeprefix("book/"))


class NoSuchTargetError(ValueError):
    """A link of the book that leads to no place in it."""


def plain(address: str) -> str:
    """An address in letters that every reader of a PDF takes.

    >>> plain("book/cube_solution 1")
    'book-cube_solution-1'
    """
    return re.sub(r"[^A-Za-z0-9_.-]", "-", address)


def pdf_name(title: str) -> str:
    """The file that a book with this title is printed to.

    >>> pdf_name("A Sharper Picture, Executed")
    'a-sharper-picture-executed.pdf'
    """
    return "-".join(re.findall(r"[a-z0-9]+", title.lower())) + ".pdf"


def pages(toc: dict[str, Any]) -> list[Page]:
    """The pages that ``_toc.yml`` lists, in their order, without the parts that are left out."""
    found = [Page(toc["root"], "", 1)]
    for part in (part for part in toc["parts"] if part["caption"] not in LEFT_OUT):
        for entry in part["chapters"]:
            found.append(Page(entry["file"], part["caption"], 1))
            found += [Page(e["file"], part["caption"], 2) for e in entry.get("sections", ())]
    return found


class Volume:
    """The pages of a rendered book, and what is known of them all.

    Args:
        site: Folder with the rendered pages.
        listed: The pages to take, in their order.

    Raises:
        FileNotFoundError: a page is not rendered.
    """

    def __init__(self, site: Path, listed: list[Page]) -> None:
        from bs4 import BeautifulSoup

        self.site, self.pages = site.resolve(), listed
        self.articles: dict[str, Any] = {}
        self.ids: dict[str, set[str]] = {}
        self.numbers: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        for page in listed:
            text = (site / f"{page.name}.html").read_text(encoding="utf-8")
            inside = text[text.index("<article") : text.rindex("</article>") + len("</article>")]
            article = BeautifulSoup(_PLAIN.sub(r"\1", inside), "html.parser").article
            self._read(page, article)
            self.articles[page.name] = article

    def _read(self, page: Page, article: Any) -> None:
        for extra in article.select(_FURNITURE):
            extra.decompose()
        for figure in article.select("figure.moving"):
            figure.name, figure["class"] = "span", "moved"
            figure.clear()
        for sign in [a for a in article.select("a[href]") if a.get_text(strip=True) == "#"]:
            sign.decompose()
        seen: set[str] = set()
        for element in article.find_all(id=True):
            if element["id"] in seen:
                del element["id"]  # a browser goes to the first, and so do we
            else:
                seen.add(element["id"])
        self.ids[page.name] = seen
        title = article.h1
        number = title.select_one(".section-number")
        self.numbers[page.name] = number.get_text(strip=True).rstrip(".") if number else ""
        self.titles[page.name] = title.get_text().removeprefix(number.get_text() if number else "")

    def article(self, page: Page) -> str:
        """One page as a part of the document.

        Raises:
            NoSuchTargetError: a link leads to no place in the book.
        """
        article = self.articles[page.name]
        _unfold(article)
        for calculator in article.select("div.calculator"):
            calculator.string = "Fields and picture are on the book's page; here are five examples."
        for link in article.select("a[href]"):
            self._lead(page, link)
        for element in article.find_all(id=True):
            element["id"] = f"{page.key}--{plain(element['id'])}"
        for element in article.select("[aria-labelledby], [aria-describedby]"):
            del element["aria-labelledby"], element["aria-describedby"]
        self._size_figures(page, article)
        for depth in (4, 3, 2, 1) if page.level == 2 else ():
            for heading in article.find_all(f"h{depth}"):
                heading.name = f"h{depth + 1}"
        return (
            f'<article id="{page.key}" class="bd-article level-{page.level}" '
            f'style="page: {self.sheet(page)}">{article.decode_contents()}</article>'
        )

    def sheet(self, page: Page) -> str:
        """Name of the page's paper, which carries its title at the head."""
        return f"sheet-{self.pages.index(page)}"

    def _lead(self, page: Page, link: Any) -> None:
        """Turn a link into one within the document; what the document lacks becomes text."""
        address, fragment = urldefrag(link["href"])
        if urlsplit(address).scheme:
            return
        if address:
            target = (self.site / page.name).parent.joinpath(unquote(address)).resolve()
            name = target.relative_to(self.site).as_posix()
            if name.removesuffix(".html") not in self.ids or target.suffix != ".html":
                link.unwrap()
                return
            name = name.removesuffix(".html")
        else:
            name = page.name
        fragment = unquote(fragment)
        if fragment and fragment not in self.ids[name]:
            raise NoSuchTargetError(
                f"{page.name} links to {link['href']}, which is nowhere in the book"
            )
        key = plain(name.removeprefix("book/"))
        link["href"] = f"#{key}--{plain(fragment)}" if fragment else f"#{key}"
        link.attrs.pop("title", None)
        said = link.get_text(" ", strip=True)
        if name != page.name and self.numbers[name] and said == self.titles[name].strip():
            from bs4 import BeautifulSoup

            number = f' <span class="at">[{self.numbers[name]}]</span>'
            link.append(BeautifulSoup(number, "html.parser"))

    def _size_figures(self, page: Page, article: Any) -> None:
        from PIL import Image

        for narrow in article.select("picture source, .when-narrow"):
            narrow.decompose()
        for around in article.select("a.full-figure, picture, .when-wide"):
            around.unwrap()
        for image in article.select("img[src]"):
            path = (self.site / page.name).parent.joinpath(unquote(image["src"])).resolve()
            image["src"] = path.as_uri()
            if path.suffix == ".png":
                with Image.open(path) as picture:
                    image["style"] = f"width: {picture.width / DPI:.3f}in"

    def contents(self) -> str:
        """The list of the pages, with room for the number of the sheet that each begins on."""
        lines, caption = ['<nav class="contents"><h1 id="contents">Contents</h1>'], ""
        for page in self.pages:
            if page.caption != caption:
                caption = page.caption
                lines.append(f'<p class="caption">{html.escape(caption)}</p>')
            number = f'<span class="number">{self.numbers[page.name]}</span> '
            title = html.escape(self.titles[page.name])
            lines.append(
                f'<p class="entry level-{page.level}"><a href="#{page.key}">'
                f"{number if self.numbers[page.name] else ''}<span>{title}</span>"
                '<span class="dots"></span>'
                f'<span class="page" data-of="{page.key}">000</span></a></p>'
            )
        return "\n".join([*lines, "</nav>"])

    def sheets(self) -> Iterator[str]:
        """For each page the rule that puts its title at the head of its paper."""
        for page in self.pages:
            title = " ".join(f"{self.numbers[page.name]}  {self.titles[page.name]}".split())
            said = json.dumps(title, ensure_ascii=False)
            yield f"@page {self.sheet(page)} {{ @top-left {{ content: {said} }} }}"


def _unfold(article: Any) -> None:
    """Name the code that is folded, and open what else is folded."""
    from bs4 import BeautifulSoup

    for cell in article.select(".cell:has(.moved)"):
        cell.replace_with(*cell.select(".moved"))
    for fold in article.select("details.hide"):
        label = fold.summary.get_text(" ", strip=True)
        fold.summary.decompose()
        for code in fold.select(".cell_input") if not label.startswith("Solution") else ():
            lines = len(code.get_text().strip().splitlines())
            said = f"{html.escape(label)}: {lines} line{'s' * (lines != 1)} of code"
            code.replace_with(BeautifulSoup(f'<p class="folded">{said}</p>', "html.parser"))
        fold.unwrap()
    for fold in article.select("details"):
        title = fold.summary
        title.name, title["class"] = "p", "unfolded-title"
        fold.name, fold["class"] = "div", "unfolded"


def fonts() -> str:
    """The faces of print, which every machine has that has Matplotlib."""
    found = importlib.util.find_spec("matplotlib")
    folder = Path(found.origin or "").parent / "mpl-data" / "fonts" / "ttf"  # type: ignore[union-attr]
    return "\n".join(
        f'@font-face {{ font-family: "{family}"; font-style: {style}; font-weight: {weight}; '
        f"src: url({(folder / file).as_uri()}) }}"
        for family, files in _FONTS.items()
        for file, (style, weight) in zip(files, _LOOKS, strict=True)
    )


def title_page(book: Edition, about: str, licence: str, address: str = "") -> str:
    """The first sheet: title, what the book is, edition, licence, and how print differs."""
    lines = [f"Version {book.version}, {book.date}" + (f", {book.commit}" if book.commit else "")]
    if address:
        lines.append(f'<a href="{html.escape(address)}">{html.escape(address)}</a>')
    said = "".join(f"<p>{line}</p>" for line in lines)
    return (
        f'<section class="title-page"><p class="book-title">{html.escape(book.title)}</p>'
        f'<p class="about">{html.escape(about)}</p><div class="edition-of">{said}</div>'
        f'<div class="terms"><p>{html.escape(licence)}</p>'
        "<p>In print, code that a page of the book folds is named and counted, not shown; it is in "
        "the script of its chapter. Proofs and solutions are open. A number in brackets behind the "
        "title of a chapter is that chapter's number. The reference of the code is not printed.</p>"
        "</div></section>"
    )


def document(site: Path, root: Path = ROOT, listed: list[Page] | None = None) -> str:
    """The document, as HTML that a browser opens from the disk.

    Args:
        site: Folder with the rendered pages.
        root: Folder with ``_toc.yml``, ``_config.yml`` and ``CITATION.cff``.
        listed: The pages to take; without them, all that ``_toc.yml`` lists.

    Raises:
        FileNotFoundError: a page is not rendered.
        NoSuchTargetError: a link leads to no place in the book.
    """
    if listed is None:
        listed = pages(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8")))
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    volume = Volume(site, listed)
    body = "\n".join(volume.article(page) for page in listed)
    front = title_page(
        edition(root),
        cited.get("abstract", ""),
        config["html"].get("extra_footer", ""),
        config.get("repository", {}).get("url", ""),
    )
    static = volume.site / "_static"
    looks = "\n".join(
        (static / name).read_text(encoding="utf-8") for name in ("pygments.css", "print.css")
    )
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<title>{html.escape(config["title"])}</title>
<style>
{fonts()}
{looks}
{chr(10).join(volume.sheets())}
</style>
<script>window.MathJax = {json.dumps(_MATHJAX)}</script>
<script src="{(volume.site / "mathjax" / "startup.js").as_uri()}"></script>
</head>
<body>
{front}
{volume.contents()}
<main>
{body}
</main>
</body>
</html>
"""
