"""Numbers as a page has them."""

import pytest

from bookkit.output import glue, in_prose, number


@pytest.mark.parametrize(
    ("x", "text"), [(3, "3"), (3.0, "3.0"), (0.0, "0.0"), (1e-17, "1e-17"), (0.123456, "0.1235")]
)
def test_numbers_that_are_not_counts_show_a_point_or_an_exponent(x, text):
    assert number(x) == text


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("-2.5e-07", "-2.5 × 10⁻⁷"),
        ("1e+16", "10¹⁶"),
        ("-1e-07", "-10⁻⁷"),
        ("1.0e+16", "1.0 × 10¹⁶"),
        ("12345678", "1.235 × 10⁷"),
        ("99999", "99,999"),
        ("10000", "10,000"),
        ("9999", "9999"),
        ("-12000", "-12,000"),
        ("0.0", "0"),
        ("-0.0", "0"),
        ("-0.00", "0.00"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("1,234", "1,234"),
        ("0.12 (0.10 to 0.14)", "0.12 (0.10 to 0.14)"),
    ],
)
def test_a_number_in_prose_has_one_form(text, prose):
    assert in_prose(text) == prose


def test_glue_without_a_notebook_leaves_no_trace_of_numpy_or_torch(monkeypatch):
    import torch

    kept = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: kept.update({name: value}))
    glue(a=torch.tensor(2.5), b=3, c="half")
    assert kept == {"a": 2.5, "b": 3, "c": "half"}
    assert type(kept["a"]) is float
    assert repr(kept["c"]) == "half"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "nan", "-inf", "0.5 (nan to 0.7)"])
def test_glue_refuses_a_number_that_is_not_finite_and_then_stores_nothing(monkeypatch, bad):
    kept = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: kept.update({name: value}))
    with pytest.raises(ValueError, match=r"'gap' is .* is no finite number; give a word where"):
        glue(known=1.0, gap=bad)
    assert kept == {}
    glue(gap="no length", tex=r"$\inf_x$", words="in info or inference")
    assert set(kept) == {"gap", "tex", "words"}


def test_glue_refuses_it_in_a_plain_run_too(monkeypatch, capsys):
    import sys

    import torch

    monkeypatch.setitem(sys.modules, "myst_nb", None)
    with pytest.raises(ValueError, match="'gap' is nan"):
        glue(gap=torch.tensor(float("nan")))
    glue(gap=torch.tensor(0.5))
    assert capsys.readouterr().out == "gap = 0.5\n"
