"""Moving figures: what is stored and refused, and what a reader does, in a real browser."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from bookkit import moving as module
from bookkit.chapters import BOOK, every_chapter
from bookkit.moving import LARGEST, Axis, Frame, moving
from bookkit.pages import add_page_scripts
from tests.browser import listened, patient, served

STATIC = BOOK / "_static"
AXE = Path(__file__).parents[1] / "vendor" / "axe.min.js"
HOST = "http://moving.test"
ALT = "A rising line on logarithmic axes, a mark on it, and below two bars."
PLACES = [1.0, 10.0, 100.0]


def frame_at(step, power):
    y = [place**power for place in PLACES]
    return Frame(
        f"step {step}, power {power}",
        lines={"curve": (PLACES, y)},
        dots={"curve": ([PLACES[step]], [y[step]]), "other": ([10], [2])},
        grey={"level": (PLACES, [3.0] * 3)},
    )


AXES = Axis("place", 1, 100, log=True), Axis("height", 1, 1e4, log=True)
USUAL = {
    "name": "powers",
    "sliders": {"step": [0, 1, 2], "power": [1, 2]},
    "frame": frame_at,
    "axes": AXES,
    "caption": "Powers & <places>",
    "alt": ALT,
}


def shown(**changed):
    """What a call leaves on the page."""
    bundles, before = [], module.display
    module.display = bundles.append
    try:
        moving(**USUAL | changed)
    finally:
        module.display = before
    return bundles[0]


def stored(**changed):
    text = re.search(r'json">(.*)</script>', shown(**changed)["text/html"])[1]
    return json.loads(text)


def drawn(kept, at):
    """A stored frame as kind, name, x, y of each series."""
    kinds, numbers = module.KINDS, kept["numbers"]
    found = []
    for kind, name, x, y in (kept["series"][k] for k in kept["frames"][at][1]):
        label = name if kinds[kind] == "grey" else kept["names"][name]
        found.append((kinds[kind], label, numbers[x], numbers[y]))
    return found


# What is stored


def test_a_frame_is_stored_for_each_place_of_the_sliders():
    kept = stored()
    assert [says for says, _ in kept["frames"]] == [
        f"step {step}, power {power}" for step in range(3) for power in (1, 2)
    ]
    assert kept["sliders"] == [
        {"label": "step", "values": ["0", "1", "2"], "start": 1},
        {"label": "power", "values": ["1", "2"], "start": 1},
    ]
    assert drawn(kept, 5) == [
        ("grey", "level", [1, 10, 100], [3, 3, 3]),
        ("lines", "curve", [1, 10, 100], [1, 100, 10000]),
        ("dots", "curve", [100], [10000]),
        ("dots", "other", [10], [2]),
    ]


def test_numbers_are_cut_to_four_digits_and_kept_once():
    third = Frame("a third", lines={"a": ([1, 10], torch.tensor([1 / 3, 200 / 3]))})
    kept = stored(frame=lambda *at: third, axes=(AXES[0], Axis("y", 0, 100)))
    assert kept["numbers"] == [[1, 10], [0.3333, 66.67]]
    assert len(kept["series"]) == 1
    assert len(kept["frames"]) == 6


def test_it_is_hidden_until_the_script_shows_it_and_text_is_escaped():
    page = shown()["text/html"]
    assert page.startswith('<figure class="moving" id="moving-powers" hidden data-alt="A rising')
    assert "<figcaption>Powers &amp; &lt;places&gt;</figcaption>" in page
    sly = stored(frame=lambda *at: Frame("</script>", dots={"<b>": ([1], [1])}))
    assert sly["frames"][0][0] == "</script>"
    assert page.count("</script>") == shown(caption="</script>")["text/html"].count("</script>")
    assert "6 frames, step from 0 to 2, power from 1 to 2" in shown()["text/plain"]


def test_axes_number_themselves():
    assert [text for _, text in Axis("x", 1e-5, 1e-3, log=True).marks()] == ["10⁻⁵", "10⁻⁴", "10⁻³"]
    assert [text for _, text in Axis("x", 0.05, 20, log=True).marks()] == ["0.1", "1", "10"]
    assert [text for _, text in Axis("x", 100, 1e4, log=True).marks()] == ["10²", "10³", "10⁴"]
    assert [text for _, text in Axis("x", -1.1, 1.1).marks()] == ["−1", "−0.5", "0", "0.5", "1"]
    assert Axis("x", 1, 512, log=True, ticks=(8, 64)).marks() == [(8, "8"), (64, "64")]
    assert Axis("x", -1, 1, ticks={-1: "1", 0: "0"}).marks() == [(-1, "1"), (0, "0")]


def BARS(*at):
    return Frame("two bars", bars={"a": ([1, 2], [1, 2])})


def test_bars_take_places_beyond_0_and_an_alternative_text_may_have_40_characters():
    kept = stored(frame=BARS, axes=(Axis("x", 1, 2), Axis("y", 0, 2)), alt=ALT[:40])
    assert drawn(kept, 0) == [("bars", "a", [1, 2], [1, 2])]


def test_six_series_are_drawn():
    kept = stored(frame=lambda *at: Frame("s", dots={name: ([1], [1]) for name in "abcdef"}))
    assert kept["names"] == list("abcdef")


REFUSED = [
    ({"name": "Big Name"}, "small letters"),
    ({"caption": " "}, "a caption"),
    ({"alt": "short"}, "alternative text"),
    ({"alt": f" {ALT[:39]} "}, "alternative text of 40 characters"),
    ({"sliders": {}}, "one or two sliders"),
    ({"sliders": {"step": []}}, "one or two sliders"),
    ({"start": (1,)}, "2 sliders start at 1 values"),
    ({"start": (7, 1)}, "'step' has no value 7"),
    (
        {"frame": lambda *at: Frame(" ", dots={"a": ([1], [1])})},
        "step = 0, power = 1: nothing is said",
    ),
    ({"frame": lambda *at: Frame("empty")}, "nothing is drawn"),
    ({"frame": lambda *at: Frame("s", lines={"a": ([1, 2], [1])})}, "a has 2 places for 1 values"),
    ({"frame": lambda *at: Frame("s", lines={"a": ([], [])})}, "a has 0 places"),
    (
        {"frame": lambda *at: Frame("s", lines={"a": ([1], [math.nan])})},
        "a, height: nan has no place",
    ),
    ({"frame": lambda *at: Frame("s", lines={"a": ([0], [1])})}, "a, place: 0 has no place"),
    ({"frame": lambda *at: Frame("s", bars={"a": ([1, 2], [1, 2])})}, "the 0 of linear axes"),
    ({"frame": BARS, "axes": (Axis("x", 0, 3), Axis("y", 0.5, 2))}, "the 0 of linear axes"),
    ({"frame": BARS, "axes": (Axis("x", 1, 3, log=True), Axis("y", 0, 2))}, "the 0 of linear axes"),
    (
        {
            "frame": lambda *at: Frame("s", bars={"a": ([1], [1])}),
            "axes": (Axis("x", 0, 1), Axis("y", 0, 1)),
        },
        "one bar has no width",
    ),
    (
        {"frame": lambda *at: Frame("s", dots={name: ([1], [1]) for name in "abcdefg"})},
        "7 series; 6 can be told apart",
    ),
    (
        {
            "sliders": {"step": range(2000)},
            "frame": lambda step: Frame(f"step {step}, of many", dots={"a": ([1], [1 + step])}),
        },
        f"at most {LARGEST}",
    ),
]


@pytest.mark.parametrize(("changed", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_what_cannot_be_drawn_is_refused_by_name(changed, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        shown(**changed)


def test_a_frame_is_a_frame():
    with pytest.raises(TypeError, match="powers at step = 0, power = 1: expected a Frame, got str"):
        shown(frame=lambda *at: "frame")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((" ", 0, 1), "has a label"),
        (("x", 1, 1), "from 1 to 1"),
        (("x", 0, math.inf), "to inf"),
        (("x", 0, 1, True), "above 0"),
        (("x", 0, 1, False, (2,)), "tick at 2"),
    ],
)
def test_an_axis_is_an_interval_with_a_label(given, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        Axis(*given)


def test_a_chapter_does_not_compare_what_moves():
    users = [c for c in every_chapter() if "import Axis, Frame, moving" in c.text]
    assert users
    for chapter in users:
        for cell in chapter.text.split("\n# %% ")[1:]:
            if re.search(r"^moving\(", cell, re.MULTILINE):
                assert "nbval-ignore-output" in cell.splitlines()[0], chapter.name


def test_the_script_is_loaded_where_there_is_a_figure_and_nowhere_else():
    for body, wanted in ((shown()["text/html"], ["moving.css", "moving.js"]), ("<p>moving", [])):
        app = Mock()
        add_page_scripts(app, "book/any", "page.html", {"body": body}, None)
        assert [call.args[0] for call in app.mock_calls] == wanted


def test_the_script_is_short_and_computes_and_asks_for_nothing():
    text = (STATIC / "moving.js").read_text(encoding="utf-8")
    assert text.count("\n") <= 200
    assert re.findall(r"https?://[^\"']*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"\b(fetch|import|XMLHttpRequest|eval|setInterval|setTimeout)\b", text)
    style = (STATIC / "moving.css").read_text(encoding="utf-8")
    assert not re.search(r"\b(animation|transition|@import|url)\b", style)


# What a reader sees and does

STILL = (
    '<img alt="The static figure" width="100" height="50" src="data:image/png;base64,iVBORw0KGgo=">'
)


@pytest.fixture(scope="module")
def figure():
    return shown()["text/html"]


@pytest.fixture
def tab(browser, figure):
    """Open a page with the figure under a static one; it must stay silent."""
    contexts, told = [], []

    def opened(scripts=True, width=1280, scheme="light", body=figure):
        page = (
            f'<!doctype html><html lang="en" data-theme="{scheme}"><head><title>Page</title>'
            '<meta name="viewport" content="width=device-width"><style>html { background: '
            "var(--pst-color-background); color: var(--pst-color-text-base); font: 16px Arial }"
            ' body { margin: 0 } main { padding: 0 1rem }</style><link rel="stylesheet" '
            'href="/book.css"><link rel="stylesheet" href="/moving.css"><script src="/moving.js">'
            f'</script></head><body><main class="bd-article"><h1>Page</h1>{STILL}'
            f'<div class="cell_output"><div class="text_html">{body}</div></div>'
            "<p id='after'>After.</p></main></body></html>"
        )
        context = browser.new_context(
            java_script_enabled=scripts,
            viewport={"width": width, "height": 800},
            has_touch=width < 400,
            reduced_motion="reduce",
        )
        contexts.append(context)

        tab = patient(context.new_page())
        tab.route(f"{HOST}/**", lambda route: served(route, page, STATIC))
        listened(tab, told)
        tab.goto(HOST)
        if scripts:
            tab.wait_for_selector("figure.moving:not([hidden])")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert told == []


def picture(page):
    return page.locator(".moving-picture svg").inner_html()


def test_it_starts_in_the_middle_and_follows_the_arrow_keys(tab):
    page = tab()
    says, slider = page.get_by_role("status"), page.get_by_role("slider", name="step")
    assert says.inner_text() == "step 1, power 2"
    assert says.get_attribute("aria-live") == "polite"
    assert page.get_by_role("img", name=ALT).count() == 1
    before = picture(page)
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert says.inner_text() == "step 2, power 2"
    assert slider.get_attribute("aria-valuetext") == "2"
    assert picture(page) != before
    page.keyboard.press("ArrowLeft")
    assert (says.inner_text(), picture(page)) == ("step 1, power 2", before)
    page.keyboard.press("Home")
    assert says.inner_text() == "step 0, power 2"


def test_two_sliders_choose_one_frame(tab):
    page = tab()
    for step in range(3):
        for power in (1, 2):
            page.get_by_role("slider", name="step").fill(str(step))
            page.get_by_role("slider", name="power").fill(str(power - 1))
            assert page.get_by_role("status").inner_text() == f"step {step}, power {power}"
            assert page.locator(".moving-value").all_inner_texts() == [str(step), str(power)]


def test_a_touch_moves_a_slider(tab):
    page = tab(width=360)
    box = page.get_by_role("slider", name="step").bounding_box()
    assert box["height"] >= 32
    page.touchscreen.tap(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    assert page.get_by_role("status").inner_text() == "step 2, power 2"


def test_what_is_drawn_is_what_is_stored(tab):
    page = tab()
    number = r"-?[\d.]+"
    points = re.findall(
        rf"({number}) ({number})",
        page.locator(".moving-picture path.line").first.get_attribute("d"),
    )
    (x0, y0), (x1, y1), (x2, y2) = [(float(a), float(b)) for a, b in points]
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)  # 1, 10, 100 on a logarithmic axis
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.2)  # 1, 100, 10,000
    assert (y0, y2) == (pytest.approx(page_bottom(page), abs=0.2), 30)
    dot = page.locator(".moving-picture path.dot").first.get_attribute("transform")
    assert re.findall(number, dot) == [f"{x1:.1f}", f"{y1:.1f}"]
    assert page.locator(".moving-names li").all_inner_texts() == ["curve", "other"]
    assert page.locator("text.grey").all_text_contents() == ["level"]


def page_bottom(page):
    """Where the lower axis lies."""
    return float(page.locator("line.grid").first.get_attribute("y2"))


def test_bars_stand_on_zero(tab):
    bars = Frame("two bars", bars={"a": ([1, 2], [1, -0.5])})
    axes = Axis("x", 0, 3), Axis("y", -1, 1)
    html = shown(frame=lambda step: bars, sliders={"step": [0, 1]}, axes=axes)["text/html"]
    page = tab(body=html)
    up, down = [
        [float(rect.get_attribute(k)) for k in ("y", "height")]
        for rect in page.locator(".moving-picture g rect").all()
    ]
    assert up[0] + up[1] == pytest.approx(down[0])
    assert up[1] == pytest.approx(2 * down[1])


def test_a_slider_with_one_value_is_not_shown(tab):
    page = tab(body=shown(sliders={"step": [0], "power": [1, 2]})["text/html"])
    assert page.get_by_role("slider").count() == 1
    page.get_by_role("slider").fill("0")
    assert page.get_by_role("status").inner_text() == "step 0, power 1"


def test_without_scripts_the_static_figure_stands_alone(tab):
    page = tab(scripts=False)
    assert page.get_by_alt_text("The static figure").is_visible()
    box = page.locator("figure.moving")
    assert not box.is_visible()
    assert box.bounding_box() is None
    image = page.get_by_alt_text("The static figure").bounding_box()
    assert page.locator("#after").bounding_box()["y"] - image["y"] - image["height"] < 60


def test_it_is_not_printed(tab):
    page = tab()
    page.emulate_media(media="print")
    assert not page.locator("figure.moving").is_visible()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_overflows(tab, scheme, width):
    page = tab(width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    outside = """() => {
        const box = document.querySelector("figure.moving").getBoundingClientRect();
        return [...document.querySelectorAll("figure.moving text, figure.moving li, input")]
            .map(e => [e.getBoundingClientRect(), e.textContent])
            .filter(([{left, right}]) => left < box.left || right > box.right);
    }"""
    assert page.evaluate(outside) == []
    small = """() => [...document.querySelectorAll(".moving :is(text, label, span, li, p)")]
        .filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.textContent)"""
    assert page.evaluate(small) == []
    assert page.evaluate("document.getAnimations().length") == 0
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run('figure.moving')).violations.map(v => v.id)")
    assert found == []
