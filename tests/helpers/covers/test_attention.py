"""Capacity of a sum of heads: closed form, scaling law, defaults, bad input."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers.attention import FORMS, HeadNorms, heads_bound

law = settings(deadline=None, max_examples=60)
some = st.floats(0.1, 10)
heads = st.builds(HeadNorms, V=some, V_columns=some, QK_columns=some)


def test_the_heads_bound_is_its_formula():
    """With d L B_x / eps = 2 * 3 * 2 / 0.5 = 24 and norms 1, 8, 1: (4 + (c B_x^p)^(2/3))^3."""
    head = HeadNorms(V=1.0, V_columns=8.0, QK_columns=1.0)
    for power, form in enumerate(FORMS):
        found = heads_bound(2, [head], 2.0, 50, 0.5, lipschitz=3.0, form=form)
        inner = 4 + (2 * 2**power) ** (2 / 3)
        assert found == pytest.approx(24**2 * inner**3 * math.log(50))
    sharper = heads_bound(2, [head], 2.0, 50, 0.5, 3.0, 1.0, "text")
    assert sharper == pytest.approx(24**2 * 5**3 * math.log(50))


@law
@given(heads, st.floats(0.1, 10))
def test_only_the_repaired_form_follows_the_scale_of_the_inputs(norms, s):
    """Inputs times s are weights times s and s squared: the class is the same."""
    same = HeadNorms(norms.V * s, norms.V_columns * s, norms.QK_columns * s**2)
    scaled = heads_bound(3, [norms], s, 10, 1.0)
    assert scaled == pytest.approx(heads_bound(3, [same], 1.0, 10, 1.0), rel=1e-12)
    for power, form in ((2, "text"), (1, "proof")):
        printed = heads_bound(3, [norms], s, 10, 1.0, form=form)
        moved = HeadNorms(norms.V, norms.V_columns, norms.QK_columns / s**power)
        repaired = heads_bound(3, [moved], s, 10, 1.0)
        assert printed == pytest.approx(repaired, rel=1e-12)


def test_equal_heads_cost_their_number_cubed():
    head = HeadNorms(V=1.5, V_columns=0.5, QK_columns=2.0)
    one = heads_bound(3, [head], 1.2, 10, 0.3)
    assert heads_bound(3, [head] * 5, 1.2, 10, 0.3) == pytest.approx(125 * one)


def test_the_bound_is_as_edelman_et_al_print_it_unless_told():
    """A 1-Lipschitz activation, softmax's constant 2, the repaired form."""
    head, printed = HeadNorms(V=1.5, V_columns=8.0, QK_columns=3.0), (1.0, 2.0, "repaired")
    plain = heads_bound(2, [head], 3.0, 50, 0.5)
    assert plain == heads_bound(2, [head], 3.0, 50, 0.5, *printed)
    for k, other in enumerate((1.5, 3.0, "text")):
        changed = (*printed[:k], other, *printed[k + 1 :])
        assert heads_bound(2, [head], 3.0, 50, 0.5, *changed) != plain


def test_bad_input_is_named():
    head = HeadNorms(1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="V must be positive and finite, got 0"):
        HeadNorms(0, 1, 1)
    with pytest.raises(ValueError, match="QK_columns must be positive and finite, got -1"):
        HeadNorms(1, 1, -1)
    with pytest.raises(ValueError, match="unknown form 'print'"):
        heads_bound(2, [head], 1.0, 10, 0.1, form="print")
    with pytest.raises(ValueError, match="heads must be at least 1, got 0"):
        heads_bound(2, [], 1.0, 10, 0.1)
