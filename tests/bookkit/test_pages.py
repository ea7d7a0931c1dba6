"""The rendered book: its buttons, and its pages in a real browser with the network cut."""

from __future__ import annotations

import functools
import http.server
import itertools
import json
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from nbclient import NotebookClient
from PIL import Image

from bookkit.chapters import ROOT, every_chapter
from bookkit.pages import add_source_buttons, adjust_nodes
from tests.browser import listened, patient
from tests.markup import RAW_ROLE, VOID, left_over

HTML = ROOT / "_build" / "html"
AXE = (Path(__file__).parents[1] / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SCHEMES = ("light", "dark")
WIDTHS = (1280, 390)
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [
    TOC["root"],
    *(
        inner["file"]
        for part in TOC["parts"]
        for entry in part["chapters"]
        for inner in (entry, *entry.get("sections", ()))
    ),
    "search",
]
CHAPTERS = [f"book/{chapter.name}" for chapter in every_chapter()]
# In a browser: every page that is made in its own way, and of those made alike the longest, which
# has most kinds of things: of each part a chapter, of the pages that begin a part one, of the
# scoreboard one, whose others have a test of their own. Of the pages of the code two.
LENGTHS = {name: (ROOT / f"{name}.py").stat().st_size for name in CHAPTERS}
PARTS = {name.rpartition("/")[0] for name in CHAPTERS}
FEW = {
    max((name for name in CHAPTERS if name.startswith(f"{part}/")), key=LENGTHS.__getitem__)
    for part in PARTS
}
ALIKE = [n for n in PAGES if n.startswith("book/code/")]
BOARDS = [n for n in PAGES if n.startswith("book/scoreboard/")]
FIRST = [n for n in PAGES if n.rpartition("/")[0] in PARTS and n.endswith("/index")]
SWEPT = [
    n
    for n in PAGES
    if n in FEW
    or n in {"book/code/index", "book/code/machinery", BOARDS[0], FIRST[0]}
    or n not in {*CHAPTERS, *ALIKE, *BOARDS, *FIRST}
]

READY = """async () => {
    await window.MathJax?.startup?.promise?.catch(error => console.error(String(error)));
    for (const fold of document.querySelectorAll("main details")) fold.open = true;
    await document.fonts.ready;
}"""
SETTLED = """async () => {
    const frame = () => new Promise(done => requestAnimationFrame(done));
    await frame();
    await Promise.all(document.getAnimations().map(motion => motion.finished));
    await frame();
}"""
# The time that axe takes grows with the page's elements. A chapter has 6,000 to 14,000, of which
# 2,000 are its own: the rest are strokes of formulas and coloured words of code. Each formula
# becomes a box of its size (all are measured first, or each would be laid out anew), and of the
# words in a colour one stands for all. A row of a table, and what a page of the code says of a
# function, stay if they show something new.
THINNED = """() => {
    const formulas = [...document.querySelectorAll("mjx-container")];
    const boxes = formulas.map(formula => formula.getBoundingClientRect());
    formulas.forEach((formula, i) => {
        const box = document.createElement("span"), {width, height} = boxes[i];
        box.textContent = "x";
        box.style = `display: inline-block; width: ${width}px; height: ${height}px`;
        formula.replaceWith(box);
    });
    const unseen = () => {
        const seen = new Set();
        return looks => looks.filter(look => !seen.has(look) && seen.add(look)).length;
    };
    const word = unseen();
    for (const e of document.querySelectorAll("pre span:not(:has(*))"))
        if (!word([`${e.className} ${e.closest("div")?.className}`])) e.replaceWith(e.textContent);
    const looks = e => [e, ...e.querySelectorAll("*")]
        .map(part => [part.parentElement.tagName, part.tagName, part.className,
            !part.textContent.trim(), ...part.getAttributeNames()].join());
    const entries = [...document.querySelectorAll("dl.py:not(:has(dl.py))")];
    const rows = [...document.querySelectorAll("tbody")].map(body => [...body.rows]);
    for (const like of [entries, ...rows]) {
        const entry = unseen();
        for (const e of like) if (!entry(looks(e))) e.remove();
    }
    document.body.normalize();
}"""
SERIOUS = """async () => {
    const found = await axe.run({resultTypes: ["violations"]});
    const where = fault => fault.nodes.map(node => node.html.slice(0, 160)).join(" | ");
    return found.violations
        .filter(fault => ["serious", "critical"].includes(fault.impact))
        .map(fault => `${fault.id}: ${where(fault)}`);
}"""
# Beyond the text column is wrong unless it scrolls in a box of its own; so is text cut off by one.
OVERFLOWING = """() => {
    const name = e => `${e.tagName.toLowerCase()}.${e.className.baseVal ?? e.className} #${e.id}`;
    const sideways = e => getComputedStyle(e).overflowX;
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth)
        found.push(`the page is ${document.documentElement.scrollWidth} wide`);
    const column = document.querySelector(".bd-article-container").getBoundingClientRect();
    for (const e of document.querySelectorAll(".bd-article-container *")) {
        const box = e.getBoundingClientRect();
        if (!box.width || !box.height || e.closest("mjx-assistive-mml, .visually-hidden")) continue;
        if (["hidden", "clip"].includes(sideways(e)) && e.scrollWidth > e.clientWidth + 1
            && getComputedStyle(e).display !== "inline")
            found.push(`${name(e)} cuts off what it holds`);
        if (box.right <= column.right + 1 && box.left >= column.left - 1) continue;
        let outer = e.parentElement;
        while (outer && !["auto", "scroll"].includes(sideways(outer))) outer = outer.parentElement;
        if (!outer || outer === document.documentElement || outer === document.body)
            found.push(`${name(e)} reaches from ${box.left} to ${box.right}`);
    }
    return found;
}"""
WEIGHT = """() => performance.getEntries()
    .reduce((sum, entry) => sum + (entry.decodedBodySize ?? 0), 0)"""
RAW_MATHEMATICS = r"""() => {
    const found = [...document.querySelectorAll(".math")]
        .filter(e => e.textContent.trim() && !e.querySelector("mjx-container svg"))
        .map(e => e.textContent.slice(0, 80));
    for (const e of document.querySelectorAll("mjx-merror, [data-mjx-error]"))
        found.push(`error: ${e.getAttribute("data-mjx-error") ?? e.textContent}`);
    const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (words.nextNode())
        if (!words.currentNode.parentElement.closest("pre, code, script, mjx-container")
            && /\\\(|\\\[|\$\$|\\[a-z]{3,}\b/.test(words.currentNode.data))
            found.push(words.currentNode.data.slice(0, 80));
    return found;
}"""
UNNAMED_IMAGES = """() => [...document.querySelectorAll("main img")]
    .filter(e => !e.alt.trim()).map(e => e.src)"""
FIGURES = """() => [...document.querySelectorAll("main figure img")].map(e => {
    const look = getComputedStyle(e);
    return [look.backgroundColor, look.filter, e.complete && e.naturalWidth > 0];
})"""


@dataclass
class Visit:
    """What a browser found on one page."""

    asked: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    serious: dict[str, list[str]] = field(default_factory=dict)
    overflowing: dict[int, list[str]] = field(default_factory=dict)
    raw: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    figures: dict[str, list[list]] = field(default_factory=dict)
    formulas: int = 0
    weight: int = 0


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site():
    """The built book, served on this machine only."""
    made = subprocess.run(["make", "html"], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    handler = functools.partial(QuietHandler, directory=HTML)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(site, browser):
    """Open a page: its path and scheme to the tab and the visit that records what it does."""
    contexts = {
        scheme: browser.new_context(color_scheme=scheme, reduced_motion="reduce")
        for scheme in SCHEMES
    }

    def opened(path: str, scheme: str = "light", block: str = ""):
        page, visit = patient(contexts[scheme].new_page()), Visit()
        guard(page, visit, block)
        return go(page, path), visit

    def guard(page, visit: Visit, block: str = "") -> None:
        def gate(route):
            address = route.request.url
            inside = address.startswith(f"{site}/") or urlsplit(address).scheme in ("data", "blob")
            if not inside:
                visit.asked.append(address)
            if inside and not (block and block in address):
                route.continue_()
            else:
                route.abort()

        page.route("**/*", gate)
        listened(page, visit.told)

    def go(page, path: str):
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.goto(f"{site}/{path}")
        page.evaluate(READY)
        page.evaluate(SETTLED)
        return page

    opened.go = go
    yield opened
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="module")
def visited(tab):
    """Visit a page once: wide, narrow, wide again and dark; all in one tab.

    What is wide and light, and only there, axe sees on one whole page, below.

    A new tab costs a fifth of a visit, the start of its processes.
    """
    kept = []

    @functools.cache
    def look(name: str) -> Visit:
        if kept:
            page, heard = kept
            heard.asked.clear()
            heard.told.clear()
            page.emulate_media(color_scheme="light")
            tab.go(page, f"{name}.html")
        else:
            kept[:] = page, heard = tab(f"{name}.html")
        visit = Visit()
        visit.raw = page.evaluate(RAW_MATHEMATICS)
        visit.unnamed = page.evaluate(UNNAMED_IMAGES)
        visit.formulas = page.locator("mjx-container svg").count()
        visit.weight = page.evaluate(WEIGHT)
        wide, narrow = WIDTHS
        visit.overflowing[wide] = page.evaluate(OVERFLOWING)
        resize(page, narrow)
        visit.overflowing[narrow] = page.evaluate(OVERFLOWING)
        page.evaluate(THINNED)
        page.evaluate(AXE)
        visit.serious["narrow"] = page.evaluate(SERIOUS)
        visit.figures["light"] = page.evaluate(FIGURES)
        resize(page, wide)
        darken(page)
        visit.serious["dark"] = page.evaluate(SERIOUS)
        visit.figures["dark"] = page.evaluate(FIGURES)
        visit.asked, visit.told = list(heard.asked), list(heard.told)
        return visit

    return look


def resize(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(SETTLED)


def darken(page):
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


on_every_page = pytest.mark.parametrize("name", SWEPT)


@on_every_page
def test_a_page_asks_for_nothing_from_outside(visited, name):
    assert visited(name).asked == []


@on_every_page
def test_a_page_leaves_the_console_silent(visited, name):
    assert visited(name).told == []


@on_every_page
def test_a_page_renders_its_mathematics(visited, name):
    assert visited(name).raw == []


@on_every_page
def test_a_page_has_an_alternative_text_for_every_image(visited, name):
    assert visited(name).unnamed == []


def test_no_page_has_raw_markup_or_a_number_that_is_none_or_raw(site):
    pages = sorted(HTML.rglob("*.html"))
    assert len(pages) >= len(PAGES)
    found = {}
    for path in pages:
        text = path.read_text(encoding="utf-8")
        if told := left_over(text, reference=path.parent.name == "code"):
            found[str(path.relative_to(HTML))] = told
    assert found == {}


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ("<p>At {glue:text}`n` bits</p>", "a raw role: At {glue:text}`n` bits"),
        (r'<span class="math notranslate">\(T = {glue:text}`n`\)</span>', "a raw role: "),
        ("<p>see {ref}`here &lt;ch-x&gt;`</p>", "a raw role: see {ref}`here <ch-x>`"),
        ("<p>At {glue:text}`n:x} bits</p>", "a raw role: At {glue"),
        ("<p>:::{note} of it</p>", "a raw role: :::{note}"),
        ("<p>```{note} of it</p>", "a raw role: ```{note}"),
        ('<table><th scope="row">$N$, all</th></table>', "a raw formula in a table: $N$, all"),
        (r"<table><td>over <b>$\gamma$</b></td></table>", "a raw formula in a table: "),
        (r"<table><caption>\frac12</caption></table>", r"a raw formula in a table: \frac12"),
        ("<table><td>over G_u</td></table>", "a formula in ASCII: over G_u"),
        ("<table><th>n = 2^10</th></table>", "a formula in ASCII: n = 2^10"),
        ("<table><caption>over gamma / 4</caption></table>", "a formula in ASCII: over gamma"),
        ("<p>between <span>nan</span> and 1</p>", "a number that is none: nan"),
        ("<table><td>-inf</td></table>", "a number that is none: -inf"),
        ("<p>so many: 3000000000000000.0</p>", "a raw number: so many: 3000000000000000.0"),
        ("<p>so many: 5.25e+10 of them</p>", "a raw number: so many: 5.25e+10 of them"),
        ("<p>so many: 0.30000000004</p>", "a raw number: so many: 0.30000000004"),
        ("<p><code class='x'><span class='pre'> </span></code></p>", "an empty box of code"),
    ],
)
def test_raw_markup_is_seen(markup, fault):
    (found,) = left_over(f"<html><body><p><br>{markup}</body></html>")
    assert found.startswith(fault)


def test_set_markup_code_and_words_are_no_fault():
    formula = r'<span class="math notranslate">\(\inf_x {\rm c} f\)</span>'
    code = "<pre>{glue:text}`n` nan $x$ </pre><code>inf</code><script>NaN</script>"
    page = f"<table><td>{formula}, $ 5, ∞, no information</td></table>{code}"
    assert left_over(page) == []
    assert left_over("<p>1.3 × 10¹³, or 0.25</p><pre>5e+10</pre><div class='cell'>1e-9</div>") == []
    assert left_over("<td>NaN gives NaN, 1e-5 is small</td>", reference=True) == []


@on_every_page
def test_a_page_weighs_little_more_than_three_megabytes_with_all_that_it_loads(visited, name):
    assert 3e5 < visited(name).weight < 3.6e6


@on_every_page
def test_a_page_keeps_everything_inside_its_column(visited, name):
    assert visited(name).overflowing == {width: [] for width in WIDTHS}


@on_every_page
def test_a_page_has_no_serious_fault_that_axe_finds(visited, name):
    assert visited(name).serious == {"narrow": [], "dark": []}


@on_every_page
def test_a_page_shows_figures_on_white_and_dims_them_in_the_dark(visited, name):
    for scheme, dimmed in (("light", "none"), ("dark", "brightness(0.85)")):
        for look in visited(name).figures[scheme]:
            assert look == ["rgb(255, 255, 255)", dimmed, True]


@pytest.mark.parametrize("name", sorted(FEW))
def test_a_chapter_has_formulas_and_figures(visited, name):
    visit = visited(name)
    assert visit.formulas > 5
    assert visit.figures["light"]


def test_the_stored_figures_are_opaque(site):
    folder = HTML / "_images"
    drawn = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.svg"))]
    grounds = [svg.partition("<path")[2].partition("/>")[0] for svg in drawn if "figure_1" in svg]
    assert grounds
    assert [ground for ground in grounds if 'style="fill: #ffffff"' not in ground] == []
    for path in sorted(folder.glob("*.png")):
        with Image.open(path) as image:
            assert image.convert("RGBA").getextrema()[3] == (255, 255), path.name


def test_the_search_finds_majority(tab):
    page, visit = tab("search.html?q=majority")
    # The results come one after the other.
    page.wait_for_selector("#search-results ul.search li a:text-matches('sensitive', 'i')")
    page.wait_for_selector("#search-results p.context, #search-results .search-summary")
    assert (visit.asked, visit.told) == ([], [])
    page.close()


def test_the_search_does_not_find_what_is_not_there(tab):
    page, _ = tab("search.html?q=zyzzyva")
    page.wait_for_selector(".search-summary:has-text('did not match')")
    assert page.locator("#search-results ul.search li a").count() == 0
    page.close()


def test_the_scheme_can_be_switched(tab):
    page, _ = tab("book/index.html", "dark")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    seen = set()
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        seen.add(page.evaluate(theme))
    assert seen == {"light", "dark"}
    page.close()


def test_the_overflow_check_can_fail(tab):
    page, _ = tab(f"{TOC['root']}.html")
    page.evaluate(
        """() => {
            const wide = document.createElement("div");
            wide.style = "width: 2000px; height: 5px";
            document.querySelector("article").append(wide);
        }"""
    )
    assert any("2000" in fault or "div" in fault for fault in page.evaluate(OVERFLOWING))
    page.close()


def test_the_check_of_text_cut_off_can_fail(tab):
    page, _ = tab(f"{TOC['root']}.html")
    assert page.evaluate(OVERFLOWING) == []
    page.evaluate(
        """() => { const box = document.querySelector("article p");
        box.style = "overflow: hidden; white-space: nowrap; width: 50px"; }"""
    )
    assert any("cuts off" in fault for fault in page.evaluate(OVERFLOWING))
    page.close()


def test_axe_can_fail(tab):
    page, _ = tab(f"{CHAPTERS[0]}.html")
    page.evaluate("() => document.querySelector('main img').removeAttribute('alt')")
    page.evaluate("() => document.querySelector('main p').style = 'color: #888; background: #777'")
    page.add_style_tag(content="pre span.n { color: #888 !important; background: #777 }")
    assert page.evaluate(UNNAMED_IMAGES) != []
    page.evaluate(THINNED)
    page.evaluate(AXE)
    found = page.evaluate(SERIOUS)
    assert any(fault.startswith("image-alt") for fault in found)
    (colours,) = [fault for fault in found if fault.startswith("color-contrast")]
    assert "<p" in colours
    assert '<span class="n"' in colours, "a colour of code is seen, though thinned"
    page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_whole_page_with_its_formulas_has_no_serious_fault(tab, scheme):
    page, visit = tab(f"{CHAPTERS[0]}.html", scheme)
    page.evaluate(AXE)
    assert page.evaluate(SERIOUS) == []
    assert (visit.asked, visit.told) == ([], [])
    page.close()


def test_a_figure_opens_at_full_size_and_scrolls_on_a_phone(tab):
    page, _ = tab("book/cube/sharpness.html")
    image = page.locator("figure > a.full-figure > img").first
    assert page.locator("figure > a.full-figure").first.get_attribute("href").endswith(".svg")
    for width, scrolls in zip(WIDTHS, (False, True), strict=True):
        resize(page, width)
        figure = "e => e.closest('figure').scrollWidth > e.closest('figure').clientWidth + 1"
        assert image.evaluate(figure) == scrolls
        assert image.bounding_box()["width"] > 600
    page.close()


def test_the_check_of_mathematics_can_fail(tab):
    page, visit = tab(f"{CHAPTERS[0]}.html", block="mathjax")
    assert page.evaluate(RAW_MATHEMATICS) != []
    assert visit.told != []
    page.close()


def test_a_request_to_the_outside_is_seen_and_stopped(tab):
    page, visit = tab(f"{TOC['root']}.html")
    reached = page.evaluate("() => fetch('http://example.org/').then(() => true, () => false)")
    assert (reached, visit.asked) == (False, ["http://example.org/"])
    page.close()


class Read(HTMLParser):
    """What the tests below ask of a page, in one pass: a tree of elements takes five times as long.

    Attributes:
        links: Addresses of all links. ids: All names of places. beside: Titles at the side.
        neighbours: Pages that are named as next and previous. downloads: What the menu offers.
        about: What the head says, by name. cites: Whether it says how it is cited.
    """

    REGIONS = frozenset({"bd-docs-nav", "prev-next-area", "dropdown-download-buttons"})

    def __init__(self, text: str, path: Path) -> None:
        super().__init__()
        self.path, self.ids, self.cites = path, set(), False
        self.links, self.downloads, self.titles = [], [], []
        self.neighbours, self.about = {}, {}
        self._open, self._side = [("", frozenset())], []
        self.feed(text)
        self.close()
        self.beside = " | ".join(title.strip() for title in self._side)

    def handle_starttag(self, tag, attrs):
        """Keep what it names, and what region it opens."""
        given = {name: value or "" for name, value in attrs}
        classes, within = {*given.get("class", "").split()}, self._open[-1][1]
        within |= (classes & self.REGIONS) | ({tag} & {"head"})
        if tag not in VOID:
            self._open.append((tag, within))
        self.ids |= {given["id"]} if "id" in given else set()
        self.cites |= "cite" in classes
        if tag == "title" and "head" in within:
            self.titles.append("")
        if tag == "meta" and "content" in given and "head" in within:
            self.about[given.get("name") or given.get("property")] = given["content"]
        if tag == "a":
            self._link(given.get("href"), given.get("class", ""), within)

    def _link(self, address, classes, within):
        if "bd-docs-nav" in within:
            self._side.append("")
        if address is None:
            return
        self.links.append(address)
        if "dropdown-download-buttons" in within:
            self.downloads.append(address)
        if "prev-next-area" in within:
            side = "next" if "next" in classes else "prev"
            self.neighbours[side] = self.path.parent.joinpath(address).resolve()

    def handle_endtag(self, tag):
        """Close an element, and all in it that were left open."""
        if any(tag == name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        """Keep a text by what it stands in."""
        tag, within = self._open[-1]
        if "bd-docs-nav" in within and "a" in [name for name, _ in self._open]:
            self._side[-1] += data
        if tag == "title" and "head" in within:
            self.titles[-1] += data


@functools.cache
def read(path):
    return Read(path.read_text(encoding="utf-8"), path)


def built(name):
    return read(HTML / f"{name}.html")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_words_and_no_heading_twice(site, name):
    text = (HTML / f"{name}.html").read_text(encoding="utf-8")
    article = text.partition("<article")[2].partition("</article>")[0]
    headings = re.findall(r"<h[1-4][^>]*>(.*?)<a ", article, re.DOTALL)
    assert len(set(headings)) == len(headings)
    assert name == "search" or (headings and len(re.sub(r"<[^>]*>", "", article)) > 200)


def test_no_page_names_the_folder_in_which_it_was_built(site):
    pages = [path for path in HTML.rglob("*.html") if "_static" not in path.parts]
    assert [path.name for path in pages if str(ROOT) in path.read_text(encoding="utf-8")] == []


def test_every_link_within_the_book_leads_somewhere(site):
    paths = {path for path in HTML.rglob("*.html") if "_static" not in path.parts}
    assert len(paths) > len(PAGES)
    for path in paths:
        for link in read(path).links:
            if urlsplit(link).scheme:
                continue
            address, fragment = urldefrag(urljoin(path.as_uri(), link))
            target = Path(unquote(urlsplit(address).path))
            assert target.is_file(), f"{path.name} links to {link}"
            if fragment and target in paths:
                assert unquote(fragment) in read(target).ids, f"{path.name} links to {link}"


def test_a_second_build_has_nothing_to_do_until_a_source_changes(site):
    def asked(*changed):
        what = [f"--what-if={name}" for name in changed]
        return subprocess.run(["make", "-q", *what, "_build/html/.rendered"], cwd=ROOT).returncode

    assert asked() == 0
    assert asked("book/index.md") == 1
    assert asked("helpers/rng.py") == 1


def test_the_root_leads_to_the_first_page(site):
    assert f"url={TOC['root']}.html" in (HTML / "index.html").read_text(encoding="utf-8")


def test_each_page_names_the_previous_and_the_next(site):
    order = [name for name in PAGES if name != "search"]
    for here, there in itertools.pairwise(order):
        assert built(here).neighbours["next"] == HTML / f"{there}.html"
        assert built(there).neighbours["prev"] == HTML / f"{here}.html"


def test_every_page_shows_the_same_titles_at_its_side(site):
    assert len({built(name).beside for name in PAGES}) == 1
    assert built("search").beside.count(" | ") > len(CHAPTERS)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_can_be_downloaded_as_script_with_its_stored_tables(site, name):
    page = built(name)
    tables = sorted((ROOT / "results").glob(f"{name.removeprefix('book/')}.*.csv"))
    for suffix, files in ((".py", [ROOT / f"{name}.py"]), (".csv", tables)):
        offered = [page.path.parent / link for link in page.downloads if link.endswith(suffix)]
        assert [f.read_bytes() for f in offered] == [f.read_bytes() for f in files]


def downloaded(name):
    """The notebook that the download menu of a chapter offers."""
    page = built(name)
    (link,) = [link for link in page.downloads if link.endswith(".ipynb")]
    return nbformat.read(page.path.parent / link, as_version=4)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_can_be_downloaded_as_a_notebook_in_plain_markdown(site, name):
    plain, stored = downloaded(name), nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    nbformat.validate(plain)
    code, own = ([c.source for c in n.cells if c.cell_type == "code"] for n in (plain, stored))
    assert code == own
    words = "\n".join(c.source for c in plain.cells if c.cell_type == "markdown")
    assert words.startswith("# ")
    assert "> **Verdict**" in words
    assert not [line for line in words.splitlines() if RAW_ROLE.search(line)]
    assert not re.search(r"^>? ?(:::|\([\w-]+\)=)|\*{4}", words, re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"\$[^$]*\$", "", words)):
        if not urlsplit(link).scheme:
            assert (ROOT / name).parent.joinpath(link).is_file(), link


def test_a_downloaded_notebook_runs(site):
    notebook = downloaded("book/cube/average_sensitivity")
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": ROOT}})
    ran = client.execute()
    assert [cell for cell in ran.cells if cell.cell_type == "code" and cell.outputs]


@pytest.mark.parametrize("name", [n for n in PAGES if n != "search"])
def test_the_head_of_a_page_says_what_it_is_about(site, name):
    page = built(name)
    book = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    (title,) = page.titles
    assert title.count(book) == 1
    told = page.about["description"]
    assert page.about["og:description"] == told
    assert page.about["og:title"] in title
    assert 20 <= len(told) <= 200 or name in ALIKE
    assert "\\" not in told
    assert page.cites == (name in CHAPTERS)


def test_the_scoreboard_s_file_leads_to_every_row_and_chapter(site):
    found = json.loads((HTML / "book" / "scoreboard.json").read_text(encoding="utf-8"))
    assert len(found) > 300
    for row in found:
        assert (HTML / row["chapter"]).is_file()
        page, place = urldefrag(row["row"])
        assert place in read(HTML / page).ids
    (register,) = [link for link in built("book/scoreboard").links if link.endswith("register.yml")]
    stored = (HTML / "book" / register).resolve().read_bytes()
    assert stored == (ROOT / "book" / "register.yml").read_bytes()


def test_a_filter_of_the_scoreboard_stands_in_the_address(tab):
    found = json.loads((HTML / "book" / "scoreboard.json").read_text(encoding="utf-8"))
    own = [row for row in found if row["paper"] == "P1" and row["counted"]]
    failed = [row for row in own if row["as stated"] == "false"]
    lemmas = [row for row in failed if row["kind"] == "lemma"]
    page, visit = tab("book/scoreboard/sharper.html?stated=false&kind=nothing#r-sharper-thm5")
    said, shown = page.locator(".scoreboard-filters output"), ".scoreboard tbody tr:visible"
    assert said.inner_text() == f"{len(failed)} of {len(own)} statements"
    assert page.locator(shown).count() == len(failed)
    assert urlsplit(page.url)[3:] == ("stated=false", "r-sharper-thm5")
    page.locator(".scoreboard-filters select").first.select_option("lemma")
    assert page.locator(shown).count() == len(lemmas)
    assert urlsplit(page.url).query == "kind=lemma&stated=false"
    for select in page.locator(".scoreboard-filters select").all():
        select.select_option("")
    assert urlsplit(page.url)[3:] == ("", "r-sharper-thm5")
    assert page.locator(shown).count() == sum(row["paper"] == "P1" for row in found)
    assert visit.told == []
    page.close()


@pytest.mark.parametrize("name", ["book/scoreboard", *BOARDS])
def test_a_page_of_the_scoreboard_uses_the_window_and_cuts_off_no_formula(tab, name):
    page, _ = tab(f"{name}.html")
    assert page.evaluate("document.querySelectorAll('*').length") < 20_000
    assert page.evaluate(RAW_MATHEMATICS) == []
    resize(page, 1800)
    assert page.locator("article").bounding_box()["width"] > 1300
    cut = """() => [...document.querySelectorAll("td mjx-container svg")]
        .filter(e => e.getBoundingClientRect().width > e.closest("td").clientWidth + 1)
        .map(e => e.closest("tr").cells[0].textContent)"""
    for width in (1800, 1300):
        resize(page, width)
        assert page.evaluate(cut) == []
    chapters = page.locator(".scoreboard td:last-child").all()
    assert max(cell.inner_text().count("\n") for cell in chapters) == 0
    page.close()


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("which bound for my transformer", "book/calculator.html"),
        ("grokking", "book/glossary.html#term-grokking"),
        ("Hahn Rofin", "book/scoreboard/sensitive.html"),
        ("counterexample", "book/findings/index.html"),
    ],
)
def test_the_search_answers_what_readers_ask(tab, words, address):
    page, _ = tab(f"search.html?q={words}")
    first = page.locator("#search-results ul.search li a").first
    first.wait_for()
    assert first.get_attribute("href").startswith(address)
    assert page.locator(".search-help a").count() == 3
    page.close()


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
LAUNCHERS = {
    "https://colab.research.google.com/github/reader/copy/blob/main/book/part/tiny.ipynb",
    "https://mybinder.org/v2/gh/reader/copy/main?urlpath=lab/tree/book/part/tiny.ipynb",
}
REPOSITORY = {"https://github.com/reader/copy", "https://github.com/reader/copy/issues/new"}


def small_book(folder, cells, address="", index="# A book\n", base=""):
    """Builds a book of one page and one chapter by the configuration of this one; its pages."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["repository"]["url"] = address
    config["html"]["baseurl"] = base
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    toc = {"format": "jb-book", "root": "book/index", "chapters": [{"file": "book/part/tiny"}]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    for needed in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / needed, folder / "book" / needed)
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    shutil.copy(ROOT / "CITATION.cff", folder)
    (folder / "vendor").mkdir()
    (folder / "book" / "part").mkdir()
    return rendered(folder, cells, index)


def rendered(folder, cells, index):
    """Builds that book with these contents."""
    (folder / "book" / "index.md").write_text(index, encoding="utf-8")
    kernel = {"name": "python3", "display_name": "Python 3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = nbformat.v4.new_notebook(metadata=metadata, cells=cells)
    nbformat.write(notebook, folder / "book" / "part" / "tiny.ipynb")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-W", "-n", "-q"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert made.returncode == 0, made.stdout + made.stderr
    pages = {
        name: folder / "_build" / "html" / "book" / f"{name}.html"
        for name in ("index", "part/tiny")
    }
    return {
        name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for name, path in pages.items()
    }


def test_what_has_a_label_may_move_to_an_earlier_page_between_two_builds(tmp_path):
    boxes = (
        "(moved)=\n## A place\n\n$$a = b$$ (eq-moved)\n\n"
        "```{exercise}\n:label: ex-moved\nWhy?\n```\n\n"
        "```{prf:lemma} One\n:label: lem-moved\nTrue.\n```\n"
    )
    tiny, code = "# Tiny\n\n", nbformat.v4.new_code_cell("1")
    small_book(tmp_path, [nbformat.v4.new_markdown_cell(tiny + boxes), code])
    pages = rendered(tmp_path, [nbformat.v4.new_markdown_cell(tiny), code], "# A book\n\n" + boxes)
    assert pages["index"].find(id="lem-moved")
    assert not pages["part/tiny"].find(id="lem-moved")


@pytest.mark.parametrize("address", ["", "https://github.com/reader/copy/"])
def test_buttons_lead_outside_once_the_address_is_set_and_not_before(tmp_path, address):
    cells = [nbformat.v4.new_markdown_cell("# Tiny"), nbformat.v4.new_code_cell("1 + 1")]
    pages = small_book(tmp_path, cells, address)

    def outside(name: str) -> set[str]:
        links = {a["href"] for a in pages[name].select(".article-header-buttons a[href]")}
        return {link.partition("?title")[0] for link in links if urlsplit(link).scheme}

    assert outside("part/tiny") == (LAUNCHERS | REPOSITORY if address else set())
    assert outside("index") == (REPOSITORY if address else set())


def test_below_each_caption_the_figure_is_offered_with_its_numbers(tmp_path):
    def figure(name, **data):
        look = {"figure": {"caption": f"Of {name}.", "name": name}, "image": {"alt": "A square"}}
        cell = nbformat.v4.new_code_cell("1", metadata={"mystnb": look})
        told = nbformat.v4.new_output("stream", text="before\n")
        cell.outputs = [told, nbformat.v4.new_output("display_data", data | {"image/png": PNG})]
        return cell

    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">\n</svg>\n'
    whole = {"image/svg+xml": svg, "text/csv": "x,y\n1,2\n", "text/plain": "<Figure>"}
    cells = [figure("fig-a", **whole), figure("fig-b", **{"text/csv": "x\n"}), figure("fig-c")]
    page = small_book(tmp_path, [nbformat.v4.new_markdown_cell("# Tiny"), *cells])["part/tiny"]
    html = tmp_path / "_build" / "html" / "book" / "part"
    offered = {
        found["id"]: {a.text: (html / a["href"]).resolve() for a in found.select(".figure-files a")}
        for found in page.select("figure")
    }
    names = {of: [file.name for file in links.values()] for of, links in offered.items()}
    assert names == {"fig-a": ["fig-a.svg", "fig-a.csv"], "fig-b": ["fig-b.csv"], "fig-c": []}
    assert offered["fig-a"]["figure as SVG"].read_text() == svg
    assert offered["fig-a"]["its numbers as CSV"].read_text() == "x,y\n1,2\n"
    assert [img["src"][-4:] for img in page.select("figure img")] == [".svg", ".png", ".png"]
    assert [img["alt"] for img in page.select("figure img")] == ["A square"] * 3
    assert "Of fig-a." in page.select_one("#fig-a figcaption").text
    plain = nbformat.read(tmp_path / "_build/html/_notebooks/book/part/tiny.ipynb", as_version=4)
    (kept,) = (o.data for o in plain.cells[1].outputs if o.output_type == "display_data")
    assert set(kept) == {*whole, "image/png"}
    assert plain.cells[2].source == "**Figure 1.** Of fig-a."


def test_a_published_book_says_its_address(tmp_path):
    text = "# Tiny\n\nSee {doc}`/book/index`, and $\\alpha$.\n"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("1 + 1")]
    base = "https://reader.github.io/copy"
    head = small_book(tmp_path, cells, base=base)["part/tiny"].head
    about = {meta.get("property"): meta["content"] for meta in head.select("meta[property]")}
    assert about["og:url"] == f"{base}/book/part/tiny.html"
    assert about["og:image"] == f"{base}/_static/page.png"
    assert about["og:description"] == "See A book, and …"
    html = tmp_path / "_build" / "html"
    assert (html / "_static" / "page.png").is_file()
    plain = nbformat.read(html / "_notebooks" / "book" / "part" / "tiny.ipynb", as_version=4)
    assert plain.cells[0].source.endswith(f"See [A book]({base}/book/index.html), and $\\alpha$.")


def test_a_tag_in_the_markdown_of_a_page_or_an_output_is_text(tmp_path):
    text = "# <b>Tiny</b>\n\n<script>planted()</script>\n\nA <script>planted()</script> too.\n"
    code = nbformat.v4.new_code_cell("1")
    data = {"text/markdown": text.replace("#", ""), "text/plain": "1"}
    code.outputs = [nbformat.v4.new_output("display_data", data)]
    pages = small_book(tmp_path, [nbformat.v4.new_markdown_cell(text), code], index=text)
    for name, page in pages.items():
        article = page.select_one("article")
        assert "planted()" in article.get_text(), name
        assert not [s for s in page.select("script") if "planted" in s.get_text()], name
        assert not article.select("h1 b"), name


def page_of(*blocks):
    """A page with a title and these blocks, as the builder resolved it; finished, then as XML."""
    document = new_document("page")
    document += nodes.section("", nodes.title("", "A"), *blocks, ids=["a"])
    adjust_nodes(None, document, "page")
    return str(document)


def test_a_verdict_gets_its_colour_on_a_card():
    def cell(words):
        return nodes.entry("", nodes.paragraph("", words))

    badge = nodes.inline("", "holds", classes=["verdict", "verdict-good"])
    made = nodes.entry("", nodes.paragraph("", "", badge))
    page = page_of(nodes.row("", cell("not reproduced"), cell("it holds"), made))
    assert '<paragraph classes="verdict verdict-bad">' in page
    assert page.count("<paragraph>") == 2, "a badge is not put into another"


def test_a_number_in_a_table_has_its_power_of_ten_written_out():
    def cell(node):
        return nodes.entry("", nodes.paragraph("", "", node))

    code, formula = nodes.literal("", "1e-5"), nodes.math("", "1e-5")
    page = page_of(nodes.row("", *map(cell, (nodes.Text("< 2.50e-11, 0.10"), code, formula))))
    page = page.replace("&lt;", "<")
    assert "<paragraph>< 2.50\u00a0×\u00a010⁻¹¹, 0.10</paragraph>" in page, "on one line"
    assert page.count("1e-5") == 2


def test_code_on_a_page_keeps_its_spaces():
    shown = nodes.Text("2.5 × 10⁻⁵")
    code = nodes.doctest_block("", "", shown), nodes.literal_block("", "", shown.copy())
    page = page_of(*code, nodes.paragraph("", "", shown.copy()))
    assert (page.count("2.5 × 10"), page.count("2.5\u00a0×\u00a010")) == (2, 1)


def test_a_ledger_has_an_address():
    def output(words):
        cell = nodes.entry("", nodes.paragraph("", words))
        return nodes.container("", nodes.table("", nodes.row("", cell)), classes=["cell"])

    page = page_of(output("other"), output("about, known by"))
    assert page.index("other") < page.index('ids="ledger"') < page.index("known by")
    assert "ledger" not in page_of(output("other"))


def test_a_page_with_folded_code_offers_to_show_it_below_its_title():
    page = page_of(*(nodes.container("", classes=["cell", "tag_hide-input"]) for _ in range(2)))
    assert page.count("<button") == 1
    assert page.index("<title") < page.index("<button") < page.index("<container")
    assert "<button" not in page_of(nodes.container("", classes=["cell"]))


@pytest.mark.parametrize("behind", [",", ".", "-th", ")."])
@pytest.mark.parametrize("before", ["A ", "A ("])
def test_a_formula_keeps_what_stands_right_before_and_behind_it(before, behind):
    def words(*parts):
        return page_of(nodes.paragraph("", "", nodes.Text(before), nodes.math("", "x"), *parts))

    kept = f"{before[2:]}<math>x</math>{behind}"
    assert f'A <inline classes="unbroken">{kept}</inline>' in words(nodes.Text(f"{behind} rest"))
    assert "unbroken" not in words(nodes.Text(" rest"))
    assert "unbroken" not in words()


def test_a_script_is_offered_among_the_downloads_alone(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.py").touch()
    groups = [{"label": f"{name}-buttons", "buttons": [{}]} for name in ("download", "launch")]
    context = {"pathto": lambda name, how: name, "header_buttons": [{"label": "help"}, *groups]}
    add_source_buttons(SimpleNamespace(srcdir=tmp_path), "book/a", "page.html", context, nodes)
    downloads, launch = (group["buttons"] for group in groups)
    assert [button.get("url") for button in downloads] == [None, "_sources/book/a.py"]
    assert launch == [{}]
