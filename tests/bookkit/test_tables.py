"""Tables: what is shown, and what is refused."""

import pandas as pd
import pytest
import torch

from bookkit import tables as module
from bookkit.tables import table


@pytest.fixture
def shown(monkeypatch):
    bundles = []
    monkeypatch.setattr(module, "display", bundles.append)
    return bundles


def test_a_table_is_text_for_nbval_and_has_scope_and_caption_on_the_page(shown):
    frame = pd.DataFrame({"$n$": [2, 4], "error": [0.25, 1e-17]})
    table(frame, "Errors & more", tiny=1e-12)
    (bundle,) = shown
    assert bundle["text/plain"].splitlines() == [
        "Errors & more",
        "  $n$    error",
        "    2     0.25",
        "    4  < 1e-12",
    ]
    page = bundle["text/html"]
    assert "<caption>Errors &amp; more</caption>" in page
    assert r'<th scope="col" class="number"><span class="math' in page
    assert '<th scope="row" class="number">2</th>' in page
    assert '<td class="number">&lt; 10⁻¹²</td>' in page


def test_rows_keep_their_names_and_columns_their_formats(shown):
    frame = pd.DataFrame({"a": [1.0, 2.0]}, pd.Index(["x", "y"], name="net"))
    table(frame, "Two", form={"a": ".1f"})
    assert shown[0]["text/plain"].splitlines()[1:] == ["net      a", "x      1.0", "y      2.0"]
    table({"one": 1, "two": 0.5}, "Values")
    assert "two" in shown[1]["text/plain"]
    table({"n": [1, 2], "v": torch.tensor([0.5, 0.25])}, "Tensor")
    assert "0.25" in shown[2]["text/plain"]


def test_text_is_never_markup(shown):
    table({"<b>": ["<script>alert(1)</script>"]}, "<i>")
    assert "<script>" not in shown[0]["text/html"]
    assert "<i>" not in shown[0]["text/html"]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        ({"a": [1.0, float("nan")]}, {}, "column 'a' lacks a number; say by none="),
        ({"a": [1.0]}, {"form": {"b": ".1f"}}, "a format for b, but the columns are a"),
        ({"a": []}, {}, "has no rows"),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            {},
            "'caption' has two columns 'a'; give each its own name",
        ),
        ({"a": [pd.NaT]}, {}, "column 'a' lacks a number"),
        ({"a": [1.0, float("inf")]}, {}, "column 'a' has the number inf; say by infinite="),
        ({"a": [1.0, -float("inf")]}, {"none": "-"}, "column 'a' has the number -inf"),
        ({"a": [1.0, float("nan")]}, {"infinite": "∞"}, "column 'a' lacks a number"),
        ({"a": ["0.1", "nan"]}, {"none": "-"}, "a cell of column 'a' is nan"),
        ({"a": ["0.1 ± inf"]}, {}, "column 'a' is 0.1 ± inf, and inf is no finite number"),
        ({"a": [1.0], float("inf"): [2.0]}, {}, "a word of a table is inf"),
        ({"a": [None]}, {"none": "nan"}, "a word of a table is nan"),
    ],
)
def test_bad_input_is_named(shown, frame, options, message):
    with pytest.raises(ValueError, match=message):
        table(frame, "caption", **options)
    with pytest.raises(ValueError, match="has a caption"):
        table({"a": [1]}, " ")


def test_words_of_few_kinds_are_words(shown):
    table(pd.DataFrame({"word": pd.Categorical(["odd"])}), "caption")
    assert shown[0]["text/plain"] == "caption\nword\nodd"


def test_a_missing_number_is_what_one_says_it_is(shown):
    table({"a": [1.0, float("nan"), None]}, "caption", none="-")
    assert shown[0]["text/plain"].count("-") == 2


def test_an_infinite_number_is_what_one_says_it_is(shown):
    table({"a": [1.0, float("inf"), -float("inf")]}, "caption", infinite="∞")
    assert shown[0]["text/plain"].splitlines()[2:] == ["  1", "  ∞", " -∞"]


def test_formulas_are_set_wherever_they_stand(shown):
    labels = ["$N$, general", "a $ b", "$x < y$ and $T_1$"]
    frame = pd.DataFrame({"$n$": labels, "b": ["$z$", 1, 2]})
    table(frame, "At $m$")
    page = shown[0]["text/html"]
    mark = r'<span class="math notranslate nohighlight">\({}\)</span>'
    for formula in ("n", "N", "m", "z", "x &lt; y", "T_1"):
        assert mark.format(formula) in page
    assert page.count("$") == 1, "a lone dollar is a dollar"
    assert f'<th scope="row">{mark.format("N")}, general</th>' in page
    assert f"<td>{mark.format('z')}</td>" in page


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("over 2 G_u", "over 2 [G_{u}]"),
        ("n = 2^150", "n = [2^{150}]"),
        ("8 log T / 0.5^2", "8 log T / [0.5^{2}]"),
        ("rows of Z W_KQ2^T", "rows of Z [W_{KQ2}^{T}]"),
        ("units / d_e^1.5, T^-4", "units / [d_{e}^{1.5}], [T^{-4}]"),
        ("(1 + d_e/N)^(-1/2)", "[(1 + d_e/N)^{-1/2}]"),
        ("over log^10", r"over [\log^{10}]"),
        ("alpha_g, delta <= 1", r"[\alpha_{g}], δ ≤ 1"),
        ("C_1 / epsilon^2 over gamma / 4", r"[C_{1}] / [\epsilon^{2}] over γ / 4"),
        ("$G_u$ and H_p", "[G_u] and [H_{p}]"),
        ("average_sensitivity, a.b_c, deltas, learning_rate", None),
        ("10-20, x < y, 3 ^ 4, _a, p^, 0x1e+05, e-4", None),
        ("1e-06, -2.50e+13 to 3e+02", "10⁻⁶, -2.50 × 10¹³ to 3 × 10²"),
        ("4.617e+01, 6.1e+01, 2.60e-03, 1.638e+04", "46.17, 61, 0.00260, 1.638 × 10⁴"),
    ],
)
def test_an_index_a_power_and_a_greek_letter_are_set_in_words(words, page):
    found = module._math(words).replace('<span class="math notranslate nohighlight">\\(', "[")
    expected = page if page is not None else words.replace("<", "&lt;")
    assert found.replace("\\)</span>", "]") == expected
