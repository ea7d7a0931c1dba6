"""Deep covers: the printed bound, its slips, the networks that refute it, packing, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.lengthfree import deep_covers
from papers.lengthfree.deep_covers import PRINTED, PROOF, SLIPS, DeepNorms
from papers.variables.depth_covers import LayerNorms, depth_parts

law = settings(deadline=None, max_examples=60)
some = st.floats(0.1, 10)
networks = st.builds(
    DeepNorms, depth=st.integers(1, 5), C=some, V=some, QK=some, w=some, x=some, lipschitz=some
)


@law
@given(networks, some, some, some)
def test_the_printed_formula_is_the_best_split_with_all_slips(norms, epsilon, C_1, C_x):
    found = deep_covers.log_size(norms, epsilon, C_1, C_x, PRINTED)
    assert deep_covers.printed_bound(norms, epsilon, C_1, C_x) == pytest.approx(found, rel=1e-12)


def test_with_norms_1_one_layer_has_the_numbers_done_by_hand():
    power = 2 ** (2 / 3)
    one = DeepNorms(1)
    assert deep_covers.printed_bound(one) == pytest.approx((power + 2) ** 3)
    assert deep_covers.log_size(one) == pytest.approx((power + 3) ** 3)
    assert deep_covers.log_size(one, constant=1.0) == pytest.approx(64)
    assert deep_covers.log_size(one, 0.5, 3.0) == pytest.approx(12 * (power + 3) ** 3)


def test_every_term_is_its_formula_in_two_layers():
    """The factor L C V (1 + 4 QK) = 0.5 * 3 * 2 * (1 + 4 * 5) is 63; C_1 = 13."""
    norms = DeepNorms(2, C=3.0, V=2.0, QK=5.0, w=7.0, x=11.0, lipschitz=0.5)
    names, C, beta = deep_covers.parts(norms, 13.0)
    found = dict(zip(names, zip(C.tolist(), beta.tolist(), strict=True), strict=True))
    long = 13.0 * 11**2
    expected = {
        ("W_C", 1): (13 * 0.25, 7 * 63),
        ("W_QK", 1): (long, 7 * 63 * 2 * 0.5 * 6 * 11**2),
        ("W_V", 1): (long, 7 * 63 * 0.5 * 3),
        ("W_C", 2): (13 * 0.25, 7),
        ("W_QK", 2): (13.0, 7 * 2 * 0.5 * 6),
        ("W_V", 2): (13.0, 7 * 0.5 * 3),
        ("w", 0): (13.0, 1.0),
    }
    assert found.keys() == expected.keys()
    for name, pair in expected.items():
        assert found[name] == pytest.approx(pair, rel=1e-12)


def test_each_slip_changes_what_it_says():
    norms = DeepNorms(2, C=3.0, V=2.0, QK=5.0, w=7.0, x=11.0, lipschitz=0.5)

    def table(*slips):
        names, C, beta = deep_covers.parts(norms, 13.0, None, slips)
        return dict(zip(names, zip(C.tolist(), beta.tolist(), strict=True), strict=True))

    right = table()
    changes = {
        slip: {name for name in right if table(slip).get(name) != right[name]} for slip in SLIPS
    }
    assert changes == {
        "norm": {("W_V", 1), ("W_V", 2)},
        "output": {("W_C", 1)},
        "factor": {("W_V", 1)},
        "values": {("W_V", 1)},
        "scores": {("W_QK", 1)},
        "slope": {("W_C", 1), ("W_C", 2)},
    }
    assert ("W_C", 1) not in table("output")
    assert table("norm")["W_V", 2][1] == pytest.approx(right["W_V", 2][1] * 2 / 3)
    assert table("factor")["W_V", 1][1] == pytest.approx(right["W_V", 1][1] / 63)
    assert table("values")["W_V", 1][0] == pytest.approx(right["W_V", 1][0] / 121)
    assert table("scores")["W_QK", 1][1] == pytest.approx(right["W_QK", 1][1] / 121)
    assert table("slope")["W_C", 2][0] == pytest.approx(13)


@law
@given(networks)
def test_the_scale_of_inputs_can_be_moved_into_the_weights_of_one_layer(norms):
    """Tokens of length R are unit tokens with R W_v and R^2 W_QK: (2) sees the same class."""
    one = DeepNorms(1, norms.C, norms.V, norms.QK, norms.w, norms.x, norms.lipschitz)
    names, C, beta = deep_covers.parts(one)
    R = norms.x
    unit = DeepNorms(1, norms.C, R * norms.V, norms.QK, norms.w, 1.0, norms.lipschitz)
    _, C_unit, beta_unit = deep_covers.parts(unit)
    grown = {"W_V": R, "W_QK": R**2}
    for i, (name, _) in enumerate(names):
        size = (C[i].sqrt() * beta[i]).item()
        same = (C_unit[i].sqrt() * beta_unit[i]).item() * grown.get(name, 1.0)
        assert size == pytest.approx(same, rel=1e-12)


@law
@given(st.integers(1, 4), some, some, some, some)
def test_the_sister_theorem_multiplies_errors_by_the_same_numbers(depth, C, V, QK, w):
    layers = [LayerNorms(V=V, V_columns=1, QK_columns=1, QK=QK, C=C, C_columns=1)] * depth
    theirs = depth_parts(1, 1, layers, w, 3.0)[1]
    ours = deep_covers.parts(DeepNorms(depth, C, V, QK, w, 3.0)).beta
    assert torch.allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("slip", SLIPS)
def test_one_slip_alone_falls_below_the_truth_and_the_repair_does_not(slip):
    for stretch in (20.0, 57.0, 300.0):
        w = deep_covers.witness(slip, stretch)
        scale = 0.999 * w.spread
        wrong = deep_covers.log_size(w.norms, scale, w.cover_constant, slips=(slip,))
        right = deep_covers.log_size(w.norms, scale, w.cover_constant, constant=1.0)
        assert wrong < 0.3 * math.log(2) < math.log(2) < right
        wider = deep_covers.witness(slip, 2 * stretch)
        scale = 0.999 * wider.spread
        less = deep_covers.log_size(wider.norms, scale, wider.cover_constant, slips=(slip,))
        assert less < wrong / 2


@pytest.mark.parametrize("slip", SLIPS)
def test_witnesses_meet_their_bounds_and_have_the_spread_of_their_formula(slip):
    s = 10.0
    w = deep_covers.witness(slip, s)
    bound = {"W_V": w.norms.V, "W_C": w.norms.C, "W_QK": w.norms.QK}[w.matrix]
    assert w.size <= bound * (1 + 1e-12)
    expected = dict.fromkeys(SLIPS, 1.0)
    expected |= {"values": s**-2, "scores": math.tanh(1 / s), "slope": 1 / s}
    assert w.spread == pytest.approx(expected[slip], rel=1e-12)


@pytest.mark.parametrize("slip", SLIPS)
def test_the_least_stretch_stays_within_the_bounds(slip):
    w = deep_covers.witness(slip, 5.0 if slip == "scores" else 2.0)
    bound = {"W_V": w.norms.V, "W_C": w.norms.C, "W_QK": w.norms.QK}[w.matrix]
    assert w.size <= bound * (1 + 1e-12)


@pytest.mark.parametrize("s", [2.0, 1e4])
def test_the_least_and_the_largest_stretch_are_taken(s):
    w = deep_covers.witness("norm", s)
    assert (w.norms.C, w.norms.V, w.size) == (s, 1 / s, 1 / s)
    assert w.spread == pytest.approx(1, rel=1e-12)


def test_the_cover_constant_of_an_interval_is_the_least():
    w = deep_covers.witness("norm", 4.0)
    V = w.size
    scales = [V * (0.001 + j / 5000) for j in range(4990)]
    needed = [math.log(math.ceil(V / x)) * x**2 for x in scales]
    assert max(needed) <= w.cover_constant
    assert max(needed) == pytest.approx(w.cover_constant, rel=1e-2)


def test_the_proof_is_what_the_theorem_should_have_been():
    assert set(PROOF) < set(PRINTED) == set(SLIPS)
    norms = DeepNorms(3)
    assert deep_covers.log_size(norms, slips=PROOF) == deep_covers.log_size(norms)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="depth must be at least 1, got 0"):
        DeepNorms(0)
    with pytest.raises(TypeError, match=r"depth must be a whole number, got 1\.5"):
        DeepNorms(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="QK must be positive and finite, got 0"):
        DeepNorms(1, QK=0.0)
    norms = DeepNorms(2)
    with pytest.raises(ValueError, match="unknown slips 'spelling'"):
        deep_covers.parts(norms, slips=("spelling",))
    with pytest.raises(ValueError, match="C_1 must be positive"):
        deep_covers.log_size(norms, C_1=-1.0)
    with pytest.raises(ValueError, match="epsilon must be positive"):
        deep_covers.printed_bound(norms, 0.0)
    with pytest.raises(ValueError, match="total must be positive"):
        deep_covers.log_size(norms, 0.0)
    with pytest.raises(ValueError, match="unknown slip 'all'"):
        deep_covers.witness("all", 10.0)
    with pytest.raises(ValueError, match="stretch must be finite, got nan"):
        deep_covers.witness("norm", math.nan)
    for stretch in (1.9, 10001.0):
        with pytest.raises(ValueError, match=f"between 2 and 10000, got {stretch}"):
            deep_covers.witness("norm", stretch)
    with pytest.raises(ValueError, match=r"between 5 and 10000, got 4\.9"):
        deep_covers.witness("scores", 4.9)


@pytest.mark.parametrize("length", [2.0, 10.0, 1e4])
def test_a_marked_pair_has_the_attention_of_a_score_of_5(length):
    logistic = 1 / (1 + math.exp(-5))
    assert deep_covers.marked_output(length, True) == pytest.approx(logistic, rel=1e-12)
    assert deep_covers.marked_output(length, False) == pytest.approx(0.5, rel=1e-12)


def test_the_choices_of_marks_are_a_binomial_coefficient():
    for places, marks in ((1, 0), (5, 5), (60, 7), (10_000, 1000)):
        exact = math.log(math.comb(places, marks))
        assert deep_covers.log_choices(places, marks) == pytest.approx(exact, rel=1e-11, abs=1e-12)
    with pytest.raises(ValueError, match="unmarked must be finite and at least 0, got -1"):
        deep_covers.log_choices(3, 4)


def test_a_short_query_of_a_marked_pair_is_refused():
    with pytest.raises(ValueError, match="length must be at least 2"):
        deep_covers.marked_output(1.9, True)
