"""The room that a formula is given before it is set."""

import pytest

from bookkit.formulas import width


@pytest.mark.parametrize(
    ("formula", "measured"),  # by MathJax 3, in ex
    [
        (r"\(x\)", 1.294),
        (r"\(T = 20\)", 6.872),
        (r"\(c_i \ge T^{-4}\)", 8.688),
        (r"\(f = \sum_{i \le W} c_i\, p_{U_i}\)", 15.727),
        (r"\(\|\nabla \ell\|_2 \le \sqrt 2\, (1 - p_y)\)", 19.39),
        (r"\(\pm 2 \log T\)", 8.13),
        (r"\(W \in \mathbb R^{d_1 \times d_2}\)", 11.263),
    ],
)
def test_a_width_is_near_to_what_is_measured(formula, measured):
    assert width(formula) == pytest.approx(measured, rel=0.07, abs=0.3)
    assert width(formula[2:-2]) == width(formula)


@pytest.mark.parametrize(
    "formula", ["", "x^", r"\frac{a", r"\sqrt", "}", r"\unknown{x}", "{{x}", "é"]
)
def test_any_text_has_a_width(formula):
    assert 0 <= width(formula) < 10


def test_indices_above_each_other_count_once():
    assert width("x_i^2") == pytest.approx(width("x_i"), abs=0.3)
    assert width(r"\frac{abc}{d}") < width("abcd")


def test_a_sign_with_nothing_before_it_has_no_space_around_it():
    assert width("a - b") - width("ab") > 2
    assert width("(-b)") - width("(b)") < 2
