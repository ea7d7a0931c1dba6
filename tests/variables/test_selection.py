"""Heads that select: exact targets up to the bound of the truncation, on every string."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.variables import selection

STRINGS = cube.bits(8)
PLAIN = selection.basis(torch.eye(8))
subsets = st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True)


def signs(chosen):
    return 1 - 2 * STRINGS[:, chosen].double()


@settings(max_examples=20, deadline=None)
@given(subsets, st.sampled_from([0.1, 0.5, 1.0]))
def test_every_head_is_within_a_quarter_gamma_on_every_string(chosen, gamma):
    s, R = len(chosen), selection.sharpness(8, gamma)
    X = selection.rows("positions", PLAIN, STRINGS)
    mean = selection.forward(selection.mean_head(PLAIN, chosen, R), PLAIN, X)
    assert (mean[:, 0] - signs(chosen).mean(1)).abs().max() <= gamma / 4
    each = selection.forward(selection.sign_heads(PLAIN, chosen, R), PLAIN, X)
    assert (each[:, :s] - signs(chosen)).abs().max() <= gamma / 4
    positions, heads = selection.trained_sign_heads(PLAIN, chosen, R)
    X = selection.rows("trained", PLAIN, STRINGS, positions)
    assert (selection.forward(heads, PLAIN, X)[:, :s] - signs(chosen)).abs().max() <= gamma / 4
    bag = selection.bag_head(PLAIN, chosen, selection.sharpness(8, gamma, s))
    found = selection.forward(bag, PLAIN, selection.rows("bag", PLAIN, STRINGS))[:, :s]
    r = STRINGS[:, chosen].sum(1, keepdim=True)
    assert (found - (STRINGS[:, chosen].double() - 1) / (r + 1)).abs().max() <= gamma / 4


@pytest.mark.parametrize("s", [1, 2, 3, 5, 8])
def test_the_largest_error_is_that_of_the_opposite_string(s):
    gamma = min(1.0, 2 / s)
    R = selection.sharpness(8, gamma)
    X = selection.rows("positions", PLAIN, STRINGS)
    mean = selection.forward(selection.mean_head(PLAIN, range(s), R), PLAIN, X)[:, 0]
    found = (mean - signs(list(range(s))).mean(1)).abs().max().item()
    e = 8 * 8 / gamma
    assert found == pytest.approx((2 * (8 - s) + 1) / (s * e + 8 + 1 - s), rel=1e-12)
    each = selection.forward(selection.sign_heads(PLAIN, range(s), R), PLAIN, X)[:, :s]
    found = (each - signs(list(range(s)))).abs().max().item()
    assert found == pytest.approx((2 * 8 - 1) / (e + 8), rel=1e-12)


@pytest.mark.parametrize("s", [1, 2, 3, 5, 8])
def test_the_largest_error_of_the_bag_is_at_the_string_without_a_chosen_one(s):
    R = selection.sharpness(8, 1 / s, s)
    X = selection.rows("bag", PLAIN, STRINGS)
    r = STRINGS[:, :s].sum(1)
    out = selection.forward(selection.bag_head(PLAIN, range(s), R, scalar=True), PLAIN, X)[:, 0]
    found = (out - (r - s) / (r + 1)).abs().max().item()
    assert found == pytest.approx(s * 8 / (8 * 8 * s * s + 8), rel=1e-12)


@pytest.mark.parametrize("s", [2, 3, 4])
def test_the_margin_of_dual_keys_is_attained_on_the_opposed_basis(s):
    delta = 0.9 / (2 * s - 1)
    at = selection.basis(selection.opposed_gram(8, s, delta))
    key = selection.mean_head(at, range(s), 1.0, dual_keys=True)["WK"][0, :, 0]
    scores = at.vectors @ key
    margin = (scores[:s].min() - scores[s:].max()).item()
    assert margin == pytest.approx((1 - (2 * s - 1) * delta) / (1 - (s - 1) * delta), rel=1e-9)
    assert margin == pytest.approx(selection.margin(s, delta, dual_keys=True), rel=1e-9)


@pytest.mark.parametrize("s", [3, 4, 5])
def test_the_uneven_scores_differ_by_two_times_s_minus_two_delta(s):
    delta = 0.5 / (2 * s - 1)
    at = selection.basis(selection.uneven_gram(8, s, delta))
    scores = at.vectors @ selection.mean_head(at, range(s), 1.0)["WK"][0, :, 0]
    assert (scores[0] - scores[1]).item() == pytest.approx(2 * (s - 2) * delta, rel=1e-9)
    assert scores[s:].abs().max() < 1e-12


def test_the_scalar_bag_is_the_sum_of_the_columns():
    chosen, R = [1, 4, 6], 7.0
    X = selection.rows("bag", PLAIN, STRINGS)
    scalar = selection.forward(selection.bag_head(PLAIN, chosen, R, scalar=True), PLAIN, X)
    columns = selection.forward(selection.bag_head(PLAIN, chosen, R), PLAIN, X)
    assert torch.allclose(scalar[:, 0], columns[:, :3].sum(1), atol=1e-13)


def test_a_head_is_a_softmax_mixture_written_out():
    at = selection.basis(selection.uneven_gram(8, 3, 0.2))
    heads = selection.sign_heads(at, [0, 5], 3.0)
    X = selection.rows("positions", at, STRINGS[:17])
    found = selection.forward(heads, at, X)
    for b in range(17):
        total = torch.zeros(at.vectors.shape[1], dtype=torch.float64)
        for h in range(2):
            scores = X[b] @ heads["WK"][h] @ heads["WQ"][h].mT @ at.cls
            weights = scores.exp() / scores.exp().sum()
            total += weights @ X[b] @ heads["WV"][h] @ heads["WC"][h]
        assert torch.allclose(found[b], total, atol=1e-13)


def test_the_bases_have_the_inner_products_asked_for():
    for gram in (selection.opposed_gram(9, 4, 0.1), selection.uneven_gram(9, 4, 0.1)):
        at = selection.basis(gram)
        assert torch.allclose(at.vectors @ at.vectors.mT, gram, atol=1e-12)
        others = torch.stack([at.zero, at.one, at.cls])
        assert torch.equal(others @ others.mT, torch.eye(3, dtype=torch.float64))
        assert (at.vectors @ others.mT).abs().max() == 0
        assert at.coherence == pytest.approx(0.1)


def test_dual_vectors_undo_the_gram_matrix():
    vectors = selection.basis(selection.opposed_gram(6, 3, 0.2)).vectors[:4]
    assert torch.allclose(
        selection.dual(vectors) @ vectors.mT, torch.eye(4, dtype=torch.float64), atol=1e-12
    )


def test_dual_keys_make_the_chosen_scores_equal():
    at = selection.basis(selection.uneven_gram(8, 4, 0.15))
    for dual_keys in (False, True):
        key = selection.mean_head(at, range(4), 5.0, dual_keys=dual_keys)["WK"][0, :, 0]
        scores = at.vectors[:4] @ key
        assert torch.allclose(scores, torch.ones(4, dtype=torch.float64)) == dual_keys


def test_one_bit_and_one_position_work():
    at = selection.basis(torch.eye(1))
    bits = torch.tensor([[0], [1]])
    R = selection.sharpness(1, 1.0)
    found = selection.forward(
        selection.mean_head(at, [0], R), at, selection.rows("positions", at, bits)
    )
    assert (found[:, 0] - torch.tensor([1.0, -1.0])).abs().max() <= 0.25


def test_leading_axes_of_strings_are_kept():
    bits = STRINGS[:12].view(3, 4, 8)
    heads = selection.sign_heads(PLAIN, [2, 3], 4.0)
    found = selection.forward(heads, PLAIN, selection.rows("positions", PLAIN, bits))
    flat = selection.forward(heads, PLAIN, selection.rows("positions", PLAIN, STRINGS[:12]))
    assert torch.allclose(found.flatten(0, 1), flat, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: selection.basis(torch.eye(2, 3)), r"\(T, T\)"),
        (lambda: selection.basis(2 * torch.eye(2)), "ones on the diagonal"),
        (lambda: selection.basis(selection.opposed_gram(5, 4, 0.9)), "negative eigenvalue"),
        (lambda: selection.sharpness(0, 1.0), "T must"),
        (lambda: selection.sharpness(4, 0.0), "gamma"),
        (lambda: selection.sharpness(4, 1.0, 1.0, -0.1), "margin"),
        (lambda: selection.sharpness(4, math.nan), "gamma"),
        (lambda: selection.rows("sets", PLAIN, STRINGS), "map"),
        (lambda: selection.rows("bag", PLAIN, STRINGS[:, :5]), "T = 8"),
        (lambda: selection.rows("trained", PLAIN, STRINGS), "positions"),
        (lambda: selection.rows("bag", PLAIN, 2 * STRINGS), "0 or 1"),
        (lambda: selection.rows("bag", PLAIN, 0.5 * STRINGS), "0 or 1"),
        (lambda: selection.uneven_gram(8, 3, 2.0), "delta"),
        (lambda: selection.basis(torch.full((2, 2), math.nan)), "finite"),
        (lambda: selection.mean_head(PLAIN, [0], math.nan), "R must"),
        (lambda: selection.margin(4, 0.2), "too close"),
        (lambda: selection.margin(0, 0.2), "s must"),
        (lambda: selection.mean_head(PLAIN, [], 1.0), "at least one"),
        (lambda: selection.mean_head(PLAIN, [1, 1], 1.0), "different"),
        (lambda: selection.mean_head(PLAIN, [8], 1.0), "T - 1 = 7"),
        (lambda: selection.dual(torch.ones(2, 3, dtype=torch.float64)), "not independent"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()
