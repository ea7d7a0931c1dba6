"""The calculator: its formulas against helpers, in a real browser, and its fields."""

from __future__ import annotations

import functools
import math
import random
import re
from unittest.mock import Mock
from urllib.parse import urlsplit

import nbformat
import pytest
import torch

from bookkit.chapters import BOOK
from bookkit.pages import add_page_scripts
from papers.beyond import certificates, small_noise
from papers.lengthfree import single_layer
from papers.sharper import chain_of_thought as chain
from papers.sharper import pac_bayes as pb
from papers.sharper import rivals
from papers.sharper.network import construct_exact
from papers.sharper.semi_analytic import tiling
from papers.sharper.tabulated import gradient_bound, parameter_count
from tests.browser import listened, patient, served

STATIC = BOOK / "_static"
SCRIPTS = ("calculator_bounds.js", "calculator_chart.js", "calculator.js")
HOST = "http://calculator.test"
PAGE = (
    '<!doctype html><html lang="en" data-theme="light"><head><title>Calculator</title>'
    '<link rel="stylesheet" href="/book.css"><link rel="stylesheet" href="/calculator.css">'
    + "".join(f'<script src="/{name}"></script>' for name in SCRIPTS)
    + '</head><body><main class="bd-article"><div class="calculator">Static.</div></main>'
    "</body></html>"
)
POINTS = 300
TOLERANCE = 1e-9
EVALUATE = """points => points.map(values => {
    const v = Bounds.complete(values);
    return Bounds.CURVES.map(curve => curve.missing(v) ? null : curve.value(v, v.m));
})"""


# What helpers say


def completed(values):
    """The numbers with what follows from T, d and W where a field is empty."""
    v = dict(values)
    T, d, W = v["T"], v["d"], v["W"]
    norm = math.sqrt(T + 2) * 2 * math.log(T) * math.sqrt(d * W)
    usual = {"b": W, "classes": W, "N": pb.norm_squared(T, d, W), "G": gradient_bound(d, W)}
    usual |= {"Theta": parameter_count(T, d), "D": T + 3, "C21": norm}
    v = {k: usual.get(k) if x is None else x for k, x in v.items()}
    v["C"] = v["N"] * v["G"] if v["C"] is None else v["C"]
    return v


def poisson_peak():
    """Largest t (t log t + 1 - t), where 2 t log t - t + 1 is 0; see the chapter on three rates."""
    low, high = 0.01, 0.5
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if 2 * t * math.log(t) - t + 1 > 0 else (low, t)
    return t * (t * math.log(t) + 1 - t)


def by_flatness(v, m):
    """The curves of P1 and its kl forms."""
    T, d, W, N, G, S, b, delta = (v[k] for k in ("T", "d", "W", "N", "G", "Sigma", "b", "delta"))
    cut = pb.truncated_optimum(N, G, m, S)
    if v["sigma"] is not None:
        cut = v["sigma"] ** 2 * G + S * math.sqrt(2 * pb.gaussian_kl(N, v["sigma"]) / m)

    def theorem(constant, P):
        sigma = v["sigma"] or pb.optimal_sigma(N, G, m, constant, delta, P)
        return v["r"] + pb.bound(N, G, sigma, m, constant, delta, P)

    ends = math.log10(3e-4), math.log10((0.5 / G) ** 0.5)
    sigma = torch.logspace(ends[0], max(ends), 400, dtype=torch.float64)
    if v["sigma"] is not None:
        sigma = torch.tensor([v["sigma"]], dtype=torch.float64)
    risk = (v["r"] + sigma**2 * G).clamp(max=b)
    wide = pb.own_width_kl(N, sigma, v["Theta"]) + math.log(1e4)
    one_pass = 2 + (T + 1) * (8 + 16 * T**2 + 4 * math.log(T) ** 2)
    chained = min(chain.squared_norm(T, codes) for codes in ("one-hot", "random signs"))
    parity = {
        "pass": 4 * pb.truncated_optimum(one_pass, gradient_bound(T, 1), m, S),
        "chain": 4 * T * pb.truncated_optimum(chained, gradient_bound(2, 1), m, S),
    }
    return (parity if (d, W) == (T, 1) else dict.fromkeys(parity)) | {
        "thm2": v["r"] + cut,
        "analytic": theorem(S, pb.perturbation(T, d, W)),
        "hoeffding": theorem(b / 2, pb.NO_PERTURBATION),
        "tied": rivals.pac_bayes_kl(risk, pb.gaussian_kl(N, sigma), max(m, 8), delta, b).min(),
        "wide": rivals.pac_bayes_kl(risk, wide, max(m, 8), delta, b).min(),
        "rootrate": None if v["r"] else pb.truncated_optimum(v["C"], 1.0, m, b / 2),
        "klrate": None if v["r"] else math.sqrt(b * v["C"] / (2 * poisson_peak() * m)),
    }


def by_counting(v, m):
    """Lists, bits, held-out examples, and the certificate of a posterior."""
    T, d, W, b, delta = (v[k] for k in ("T", "d", "W", "b", "delta"))
    listed = rivals.log_constructions(T, d, W, classes=v["classes"])
    two = W * (d * math.log(T / d) + (T - d) * (math.log(T / (T - d)) if d < T else 0))
    own = None
    if v["K"] is not None:
        at = v["rhat"] / b, v["draws"], v["K"], max(m, 8), delta
        own = b * certificates.certificate(*at)
    return {
        "occam": rivals.occam(0.0, listed, m, delta, b),
        "heldout": rivals.occam(0.0, 0.0, max(m / 2, 1), delta, b),
        "mixture": rivals.pac_bayes_kl(0.0, listed, max(m, 8), delta, b),
        "two": rivals.pac_bayes_kl(0.0, two, max(m, 8), delta, b),
        "bits": rivals.occam(v["r"], v["Theta"] * v["bits"] * math.log(2), m, delta, b),
        "certificate": own,
    }


def by_norms(v, m):
    """The bounds of P3 and P4 for one layer, as in the chapter on five bounds."""
    T, d = v["T"], v["D"]
    leading = v["C21"] * math.sqrt(2 * v["W"] * math.log((T + 2) * m * T) / m)
    if v["Wqk"] is None or v["b"] != 1:
        return dict.fromkeys(("long", "free", "long1", "free1")) | {"edelman": leading}
    sizes = {"w": v["w"], "W_c": v["Wc"], "W_v": v["Wv"], "x": v["x"], "W_qk": v["Wqk"]}
    norms = single_layer.Norms(**sizes, lipschitz=v["lip"])
    chance = 3 * math.sqrt(-math.log(v["delta"]) / (2 * m))
    tokens, constant = (2 * d + 1) * (T + 1), single_layer.CONSTANT
    long = single_layer.length_bound(norms, d, tokens, int(m), constant, 1.0)
    free = single_layer.length_free_bound(norms, d, int(m), constant, 1.0)
    return {
        "edelman": leading,
        "long": v["r"] + 4 * long + chance,
        "free": v["r"] + 4 * free + chance,
        "long1": v["r"] + single_layer.length_bound(norms, d, T + 1, int(m), 1.0, 1.0),
        "free1": v["r"] + single_layer.length_free_bound(norms, d, int(m), 1.0, 1.0),
    }


def expected(values, m=None):
    """Every curve at one point, by helpers; None where there is none."""
    v = completed(values)
    m = v["m"] if m is None else m
    found = by_flatness(v, m) | by_counting(v, m) | by_norms(v, m)
    return {name: None if x is None else float(x) for name, x in found.items()}


def drawn_points(count, seed=20261122):
    """Settings at random, by factors, over the domain; an empty field every second time."""
    draw = random.Random(seed)

    def between(low, high):
        return math.exp(draw.uniform(math.log(low), math.log(high)))

    def perhaps(value):
        return value if draw.random() < 0.5 else None

    points = []
    for _ in range(count):
        T = round(between(2, 100))
        d = draw.choice((draw.randint(1, T), min(2, T), T))
        v = {"T": T, "d": d, "W": draw.randint(1, min(T, math.comb(T, d)))}
        v |= {"m": round(between(10, 1e14)), "delta": between(1e-6, 0.5), "trivial": 0.25}
        v["b"] = draw.choice((None, 1, 1, between(0.1, 100)))
        b = v["W"] if v["b"] is None else v["b"]
        v |= {"r": draw.choice((0, b * between(1e-4, 1))), "rhat": b * between(1e-4, 1)}
        v |= {"N": perhaps(between(1, 1e9)), "G": perhaps(between(0.1, 1e9))}
        v |= {"sigma": perhaps(between(1e-5, 0.1)), "Sigma": between(1e-3, 100)}
        v |= {"C": perhaps(between(1, 1e14)), "Theta": perhaps(round(between(1, 1e9)))}
        v |= {"bits": draw.randint(1, 64), "classes": perhaps(round(between(1, 1e6)))}
        v |= {"K": perhaps(between(0.01, 1e7)), "draws": round(between(1, 1e7))}
        v |= {"Wqk": perhaps(between(1e-3, 1e4)), "D": perhaps(round(between(2, 1e5)))}
        v |= {name: between(1e-2, 1e3) for name in ("w", "Wc", "Wv", "lip")}
        points.append(v | {"x": between(0.1, 10), "C21": perhaps(between(0.1, 1e5))})
    return points


@functools.cache
def sample():
    points = drawn_points(POINTS)
    return points, [expected(point) for point in points]


def differences(page, count=POINTS):
    """The curves that differ from helpers at some point, with the largest relative difference."""
    points, wanted = (part[:count] for part in sample())
    names = page.evaluate("Bounds.CURVES.map(curve => curve.id)")
    far = {}
    for row, found in zip(wanted, page.evaluate(EVALUATE, points), strict=True):
        assert set(row) == set(names)
        for name, value in zip(names, found, strict=True):
            if (value is None) != (row[name] is None):
                far[name] = math.inf
            elif value is not None and not abs(value / row[name] - 1) <= TOLERANCE:
                far[name] = max(far.get(name, 0.0), abs(value / row[name] - 1))
    return far


# The page


@pytest.fixture
def tab(browser):
    """Open the page at an address that ends in a fragment; it must stay silent."""
    contexts, told = [], []

    def opened(fragment="", scripts=True):
        context = browser.new_context(java_script_enabled=scripts)
        contexts.append(context)

        def answer(route):
            if route.request.url.startswith(HOST):
                served(route, PAGE, STATIC)
            else:
                told.append(route.request.url)
                route.abort()

        page = patient(context.new_page())
        page.route("**/*", answer)
        listened(page, told)
        page.goto(f"{HOST}/{fragment}")
        if scripts:
            settled(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert told == []


def settled(page):
    """Wait until the numbers rest: drawn, said, and kept in the address."""
    page.wait_for_selector(".calculator[aria-busy=false]")
    assert page.locator(".calculator-status").inner_text() != ""


def cells(page, name):
    """What the table says of a curve, by the place in the list of curves."""
    at = page.evaluate("id => Bounds.CURVES.findIndex(curve => curve.id === id)", name)
    row = page.locator(".calculator-table tr:has(input)").nth(at)
    return row.locator("td").all_inner_texts()


def field(page, name):
    found = page.locator(f"#calculator-{name}")
    found.evaluate("e => { e.closest('details').open = true; }")
    return found


def state(page):
    """All that a reader sees of a setting."""
    return page.evaluate(
        """() => ({
            texts: [...document.querySelectorAll(".calculator-row input")].map(e => e.value),
            ticked: [...document.querySelectorAll(".calculator-table input")].map(e => e.checked),
            table: document.querySelector(".calculator-table").innerText,
            picture: document.querySelector(".calculator-chart svg").innerHTML,
        })"""
    )


def test_every_formula_is_that_of_helpers(tab):
    assert differences(tab()) == {}


def test_the_points_reach_every_curve_and_both_cases():
    _, wanted = sample()
    for name in wanted[0]:
        found = [row[name] for row in wanted]
        assert sum(x is not None for x in found) > POINTS / 5, name


PLANTED = {
    "32 * d ** 3)": ("31 * d ** 3)", {"analytic", "wide", "tied", "thm2", "chain", "pass"}),
    "1536 * d": ("1535 * d", {"analytic"}),
    "log(2 * sqrt(m))": ("log(sqrt(m))", {"mixture", "two", "tied", "wide", "certificate"}),
    "(4 * m));": ("(5 * m));", {"thm2", "pass", "chain"}),
    "(2 * POISSON_PEAK": ("(2.0001 * POISSON_PEAK", {"klrate"}),
    "const SHARE = 0.2": ("const SHARE = 0.1", {"certificate"}),
    "log(2 * v.D ** 2 + 1)": ("log(2 * v.D ** 2)", {"free", "free1"}),
    "min(T, 4 * ceil": ("max(T, 4 * ceil", {"chain"}),
    "W * (d * log(T / d)": ("W * (2 * log(T / d)", {"two"}),
    "D * m * v.T": ("D * m", {"edelman"}),
}


def test_an_error_planted_in_a_formula_is_seen(tab):
    page, right = tab(), (STATIC / SCRIPTS[0]).read_text(encoding="utf-8")
    for old, (new, touched) in PLANTED.items():
        assert old in right
        page.add_script_tag(content=right.replace(old, new))
        assert touched <= set(differences(page, 60)), old
    page.add_script_tag(content=right)
    assert differences(page, 60) == {}


def test_an_error_of_one_in_a_hundred_million_is_seen_in_every_curve(tab):
    page = tab()
    names = page.evaluate(
        """() => Bounds.CURVES.map(curve => {
            const right = curve.value;
            curve.value = (v, m) => right(v, m) * (1 + 1e-8);
            return curve.id;
        })"""
    )
    assert set(differences(page, 60)) == set(names)


# The numbers of the chapters


def stored(chapter, row):
    """The cells of a printed table of a chapter that begin a row, behind its name."""
    notebook = nbformat.read(BOOK / f"{chapter}.ipynb", 4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for line in output.get("data", {}).get("text/plain", "").splitlines():
                if line.strip().startswith(f"{row}  "):
                    return re.split(r"\s{2,}", line.strip())[1:]
    raise AssertionError(f"{chapter} has no row {row!r}")


def plain(text):
    """1.3 × 10¹³ or 1,676 as a number."""
    text = text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")).replace(",", "")
    return float(text.replace(" × 10", "e"))


def preset(page, at):
    """The numbers of an example."""
    given = page.evaluate("at => ({...Calculator.usual(), ...Calculator.PRESETS[at].changed})", at)
    return completed(given)


def needed(page, values, name, level):
    """First m at which a curve is at most a level, by the script."""
    return page.evaluate(
        """([values, name, level]) => {
            const v = Bounds.complete(values);
            const curve = Bounds.CURVES.find(one => one.id === name);
            return Bounds.first(m => curve.value(v, m), level);
        }""",
        [values, name, level],
    )


def at(page, values, name, m):
    return page.evaluate(
        "([values, name, m]) => Bounds.CURVES.find(one => one.id === name)"
        ".value(Bounds.complete(values), m)",
        [values, name, m],
    )


def test_the_first_example_has_the_numbers_of_appendix_e3(tab):
    page = tab()
    v = preset(page, 0)
    assert v["G"] == 15524
    assert v["N"] == pytest.approx(1303.93, abs=0.005)
    assert at(page, v, "thm2", 1e6) == pytest.approx(0.239067, abs=5e-7)
    best = page.evaluate("Bounds.optimalSigma(1303.9294225775557, 15524, 1e6, 0.01, 0, [0, 0, 0])")
    assert best == pytest.approx(2.27e-3, abs=5e-6)
    rows = {
        "PAC-Bayes, kl form": "wide",
        "Edelman et al., leading term": "edelman",
        "counting bits": "bits",
        "Occam, list of networks": "occam",
    }
    for row, name in rows.items():
        *_, million, one, quarter = stored("sharper/bound_comparison", row)
        assert at(page, v, name, 1e6) == pytest.approx(float(million), rel=5e-3)
        for level, text in ((1.0, one), (0.25, quarter)):
            assert needed(page, v, name, level) == pytest.approx(plain(text), rel=0.05)
    _, one, quarter = stored("sharper/semi_analytic_bound", "fully analytic")
    assert needed(page, v, "analytic", 1.0) == pytest.approx(plain(one), rel=5e-3)
    assert needed(page, v, "analytic", 0.25) == pytest.approx(plain(quarter), rel=5e-3)
    _, half, tied, wide, *_ = stored("sharper/loss_constant", "20")
    assert needed(page, v, "hoeffding", 0.25) == pytest.approx(float(half), rel=5e-3)
    assert needed(page, v, "tied", 0.25) == pytest.approx(float(tied), rel=5e-3)
    assert needed(page, v, "wide", 0.25) == pytest.approx(float(wide), rel=5e-3)


def test_the_last_rungs_of_the_ladder(tab):
    page = tab()
    for T, column in ((20, 0), (50, 1)):
        v = preset(page, 3) | {"T": T, "W": T // 2, "b": T // 2, "classes": T // 2}
        for row, name in (
            ("8 two values for each first score", "two"),
            ("9 mixture over the list", "mixture"),
        ):
            wanted = plain(stored("beyond/from_flatness_to_counting", row)[column])
            assert needed(page, v, name, 0.25) == wanted
        wanted = plain(stored("beyond/from_flatness_to_counting", "10 Occam")[column])
        assert needed(page, v | {"delta": 0.05}, "occam", 0.25) == wanted


def test_the_numbers_of_the_exact_network(tab):
    v = preset(tab(), 3)
    spec, weights = construct_exact(tiling(50))
    squared = sum(w.square().sum().item() for w in weights.values())
    assert v["N"] == pytest.approx(squared, abs=0.005)
    assert v["Theta"] == sum(w.numel() for w in weights.values())
    bits = torch.randint(0, 2, (200, 50), generator=torch.Generator().manual_seed(1))
    slopes = small_noise.mean_squared_gradient(spec, weights, bits)
    groups = small_noise.blocks(spec)
    sums = groups.sums({k: w.square() for k, w in weights.items()}), groups.sums(slopes)
    assert v["G"] == pytest.approx(sums[1].sum().item(), rel=0.05)
    assert v["C"] == pytest.approx(small_noise.constant(*sums), rel=0.05)


def test_the_trained_layer_needs_what_its_chapter_says(tab):
    page = tab()
    v = preset(page, 4)
    rows = {
        "norms and length": ("long", 0.05),
        "norms, no length": ("free", 0.05),
        "norms and length, constants 1": ("long1", 0.05),
        "norms, no length, constant 1": ("free1", 0.05),
        "32 bits a weight": ("bits", 0.02),
        "Occam": ("occam", 0.0),
        "held out": ("heldout", 0.0),
        "flatness, the paper's form": ("hoeffding", 1.0),  # there with noise as measured
        "flatness, kl form": ("tied", 1.0),
    }
    for row, (name, slack) in rows.items():
        wanted = plain(stored("beyond/five_bounds", row)[2])
        found = needed(page, v, name, 0.25)
        assert max(found / wanted, wanted / found) <= 1 + slack, (row, found, wanted)


def test_first_is_that_of_helpers(tab):
    page = tab()
    v = preset(page, 0)
    nats = v["Theta"] * v["bits"] * math.log(2)
    curves = {
        "bits": lambda m: rivals.occam(0.0, nats, m, v["delta"], v["b"]),
        "thm2": lambda m: pb.truncated_optimum(v["N"], v["G"], m, v["Sigma"]),
    }
    for name, curve in curves.items():
        for level in (1.0, 0.25, 0.1):
            assert needed(page, v, name, level) == pb.first_sample_size(curve, level)


# What a reader does


def test_each_example_is_one_press_away_and_said(tab):
    page = tab()
    buttons = page.get_by_role("group", name="Start from an example").get_by_role("button")
    seen = set()
    for i in range(buttons.count()):
        buttons.nth(i).focus()
        page.keyboard.press("Enter")
        settled(page)
        assert buttons.nth(i).get_attribute("aria-pressed") == "true"
        now = state(page)
        assert now["picture"].count("<path") == sum(now["ticked"]) > 3
        assert "NaN" not in now["picture"]
        seen.add(now["picture"])
        said = page.get_by_role("status").inner_text()
        least = page.evaluate(
            """at => {
                const {changed, shown} = Calculator.PRESETS[at];
                const v = Bounds.complete({...Calculator.usual(), ...changed});
                const curves = Bounds.CURVES.filter(({id}) => shown.includes(id));
                return Math.min(...curves.map(curve => curve.value(v, v.m)));
            }""",
            i,
        )
        assert said.count("curves are at or below") == 1
        assert page.evaluate("x => BoundsChart.written(x)", least) in said
    assert len(seen) == buttons.count() == 5


def test_the_table_says_what_the_first_example_is_known_for(tab):
    page = tab()
    assert cells(page, "thm2") == ["0.239", "1.09 × 10⁵", "8.74 × 10⁵", "1.37 × 10⁷"]
    assert cells(page, "occam")[2] == "1676"
    assert cells(page, "certificate") == ["–", "–", "–", "–"]
    reasons = [text for text in page.locator("p.missing").all_inner_texts() if text]
    assert "No curve: it takes K, the nats of your posterior." in reasons
    assert len(reasons) == 7


REFUSED = [
    ("d", "30", "a set of 30 bits does not fit into 20 bits"),
    ("W", "21", "at most T = 20 sets"),
    ("T", "", "a number from 2 to 100 is needed"),
    ("T", "2.5", "2.5 is not a whole number"),
    ("m", "many", "“many” is no number"),
    ("m", "1e6e", "“1e6e” is no number"),
    ("m", "5", "5 is outside 10 to"),
    ("delta", "1", "1 is outside"),
    ("Sigma", "-1", "-1 is outside"),
    ("r", "11", "11 is outside 0 to 10"),
    ("N", "0", "0 is outside"),
]


def test_a_refused_value_says_why_and_leaves_the_picture(tab):
    page = tab()
    before, where = state(page), page.url
    for name, text, why in REFUSED:
        box, error = field(page, name), page.locator(f"#calculator-{name}-error")
        usual = box.input_value()
        box.fill(text)
        settled(page)
        assert why in error.inner_text()
        assert error.is_visible()
        assert box.get_attribute("aria-invalid") == "true"
        assert f"calculator-{name}-error" in box.get_attribute("aria-describedby")
        assert page.get_by_role("status").inner_text().startswith("Not drawn.")
        after = state(page)
        assert (after["picture"], after["table"]) == (before["picture"], before["table"])
        assert page.url == where
        box.fill(usual)
        settled(page)
        assert error.inner_text() == ""
        assert box.get_attribute("aria-invalid") is None
        assert state(page) == before


def test_rules_between_fields_are_kept(tab):
    page = tab("#T=4&d=4&W=2")
    assert "only 1 sets of 4 out of 4 bits" in page.locator("#calculator-W-error").inner_text()
    page = tab("#b=1&r=2&rhat=3")
    for name in ("r", "rhat"):
        assert "range" in page.locator(f"#calculator-{name}-error").inner_text()


def test_an_address_restores_a_setting(tab):
    page = tab()
    for name, text in (("m", "10^4"), ("T", "30"), ("W", "5"), ("sigma", "0.002"), ("K", "1e3")):
        field(page, name).fill(text)
    page.get_by_role("checkbox", name="Held out").check()
    page.get_by_role("checkbox", name="Counting bits").uncheck()
    settled(page)
    before, where = state(page), urlsplit(page.url).fragment
    assert "T=30" in where
    assert "N=" not in where  # an empty field stays empty
    again = tab(f"#{where}")
    assert state(again) == before
    assert urlsplit(again.url).fragment == where
    page.evaluate("() => { location.hash = 'm=1e5&show=occam'; }")
    page.wait_for_function("document.getElementById('calculator-m').value === '1e5'")
    settled(page)
    assert field(page, "m").input_value() == "1e5"
    assert field(page, "T").input_value() == "20"
    assert sum(state(page)["ticked"]) == 1


def test_an_address_with_a_wrong_value_says_so_and_shows_the_first_example(tab):
    usual = state(tab())
    page = tab("#d=30")
    assert "does not fit" in page.locator("#calculator-d-error").inner_text()
    assert state(page)["picture"] == usual["picture"]
    page = tab("#colour=red&show=occam,nothing")
    assert "colour, nothing" in page.get_by_role("status").inner_text()
    page = tab("#what-is-left-out")  # a section, no setting
    assert urlsplit(page.url).fragment == "what-is-left-out"
    assert state(page) == usual


def test_it_works_by_keyboard(tab):
    page = tab()
    slider = page.get_by_role("slider", name="T, bits of a string, slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert field(page, "T").input_value() == "21"
    assert slider.get_attribute("aria-valuetext") == "21"
    before = float(field(page, "m").input_value())
    page.get_by_role("slider", name="m, examples, slider").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert float(field(page, "m").input_value()) == pytest.approx(before * 1.137, rel=0.02)
    box = page.get_by_role("checkbox", name="Held out")
    picture = state(page)["picture"]
    box.focus()
    page.keyboard.press("Space")
    settled(page)
    assert box.is_checked()
    assert state(page)["picture"] != picture
    assert "heldout" in page.url
    page.locator("summary", has_text="Counting").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("500")
    settled(page)
    assert field(page, "Theta").input_value() == "500"
    clear = page.get_by_role("button", name="empty the field Θ, stored weights")
    clear.focus()
    page.keyboard.press("Enter")
    settled(page)
    assert field(page, "Theta").input_value() == ""
    assert "Theta" not in page.url


def test_every_slider_comes_back_to_where_it_was_put(tab):
    page = tab()
    moved = page.evaluate(
        """() => [...document.querySelectorAll("input[type=range]")].map(slider => {
            const field = slider.previousElementSibling;
            const before = field.value;
            const place = Math.round((3 * Number(slider.min) + Number(slider.max)) / 4);
            slider.value = String(place);
            slider.dispatchEvent(new Event("input"));
            const text = field.value;
            field.dispatchEvent(new Event("input"));
            const found = [place, Number(slider.value), text];
            field.value = before;
            field.dispatchEvent(new Event("input"));
            return found;
        })"""
    )
    assert len(moved) == page.evaluate("Calculator.FIELDS.length")
    assert [row for row in moved if abs(row[0] - row[1]) > 1 or not row[2]] == []


def test_without_scripts_the_sentence_stays(tab):
    assert tab(scripts=False).locator(".calculator").inner_text() == "Static."


def test_every_curve_leads_to_its_chapter_and_names_what_it_assumes(tab):
    page = tab()
    links = page.locator(".calculator-table a")
    assert links.count() == page.evaluate("Bounds.CURVES.length")
    for i in range(links.count()):
        chapter = links.nth(i).get_attribute("href").removesuffix(".html")
        assert (BOOK / f"{chapter}.ipynb").is_file(), chapter
    assert all(len(text) > 10 for text in page.locator(".assumes").all_inner_texts())
    kinds = page.evaluate("Bounds.CURVES.map(curve => [curve.id, curve.kind])")
    unknown = {name for name, kind in kinds if kind == "unknown"}
    assert unknown == {"edelman", "long1", "free1"}
    assert "set to 1" in page.locator("th.kind").last.inner_text()


# The page of the book


def shown(value, digits=3):
    """A few digits, as the script writes them."""
    if 1e-3 <= value < 1e4:
        return f"{float(f'{value:.{digits}g}'):g}"
    front, exponent = f"{value:.2e}".split("e")
    power = str(int(exponent)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"10{power}" if float(front) == 1 else f"{float(front):g} × 10{power}"


def static_table(page):
    """The table of the five examples in Markdown, by helpers."""
    named = page.evaluate("Bounds.CURVES.map(curve => [curve.id, curve.name])")
    titles = ["E.3", "PARITY", "ten 2-parities", "exact, 50 bits", "trained, 16 bits"]
    count = page.evaluate("Calculator.PRESETS.length")
    every = [preset(page, i) for i in range(count)]
    values = [expected(v) for v in every]
    sizes = " | ".join(shown(v["m"], 6) for v in every)
    lines = [f"| bound | {' | '.join(titles)} |", f"|:--|{'--:|' * count}"]
    lines.append(f"| *examples m* | {sizes} |")
    for name, title in named:
        found = ["–" if row[name] is None else shown(row[name]) for row in values]
        if set(found) != {"–"}:
            lines.append(f"| {title} | {' | '.join(found)} |")
    return "\n".join(lines)


def test_the_page_has_the_examples_without_scripts_too(tab):
    text = (BOOK / "calculator.md").read_text(encoding="utf-8")
    assert static_table(tab()) in text
    assert ":::{div} calculator\n" in text


def loaded(page):
    """What the extension loads on a page: scripts and styles, in order."""
    app = Mock()
    add_page_scripts(app, page, "page.html", {}, None)
    return [call.args[0] for call in app.mock_calls]


def test_the_scripts_are_loaded_on_their_page_and_on_no_other():
    assert loaded("book/calculator") == ["calculator.css", *SCRIPTS]
    assert loaded("book/index") == []


def test_the_scripts_are_short_and_ask_for_nothing():
    for name in SCRIPTS:
        text = (STATIC / name).read_text(encoding="utf-8")
        assert text.count("\n") <= 450
        assert re.findall(r"https?://[^\"']*", text) in ([], ["http://www.w3.org/2000/svg"])
        assert not re.search(r"\b(fetch|import|XMLHttpRequest|eval)\b", text)
