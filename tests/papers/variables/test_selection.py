"""Heads that select: exact targets up to the bound of the truncation, on every string."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.rng import Rng
from papers.variables import selection

STRINGS = cube.bits(8)
PLAIN = selection.basis(torch.eye(8))
subsets = st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True)


@settings(max_examples=20, deadline=None)
@given(subsets, st.sampled_from([0.1, 0.5, 1.0]))
def test_every_head_is_within_a_quarter_gamma_on_every_string(chosen, gamma):
    R = selection.sharpness(8, gamma)
    one, each = (selection.marked(8, chosen, apart=apart) for apart in (False, True))
    bag = selection.sharpness(8, gamma, len(chosen))
    for kind, at, heads in (
        ("positions", PLAIN, selection.mean_head(PLAIN, chosen, R)),
        ("positions", PLAIN, selection.sign_heads(PLAIN, chosen, R)),
        ("trained", one, selection.mean_head(one, chosen, R)),
        ("trained", each, selection.sign_heads(each, chosen, R)),
        ("bag", PLAIN, selection.bag_head(PLAIN, chosen, bag)),
        ("bag", PLAIN, selection.bag_head(PLAIN, chosen, bag, scalar=True)),
    ):
        assert selection.error(kind, at, heads, chosen, STRINGS) <= gamma / 4


@pytest.mark.parametrize("s", [1, 2, 3, 5])
def test_gamma_is_the_least_distance_between_values_of_different_bits(s):
    bits = cube.bits(s)
    for kind in selection.MAPS:
        points, gamma = selection.targets(kind, bits)
        apart = [
            (p[b == 0][:, None] - p[b == 1]).abs().min()
            for p, b in zip(points.T, bits.T, strict=True)
        ]
        assert gamma == pytest.approx(min(1, min(apart).item()))
        sums, gamma = selection.targets(kind, bits, symmetric=True)
        each = torch.stack([sums[bits.sum(1) == r][0] for r in range(s + 1)])
        assert gamma == pytest.approx(
            min(1 / s if kind == "bag" else 1, each.diff(dim=0).abs().min())
        )


@pytest.mark.parametrize("s", [1, 2, 3, 5, 8])
def test_the_largest_error_is_that_of_the_opposite_string(s):
    gamma, chosen = min(1.0, 2 / s), list(range(s))
    R, e = selection.sharpness(8, gamma), 8 * 8 / gamma
    mean = selection.mean_head(PLAIN, chosen, R)
    found = selection.error("positions", PLAIN, mean, chosen, STRINGS)
    assert found == pytest.approx((2 * (8 - s) + 1) / (s * e + 8 + 1 - s), rel=1e-12)
    each = selection.sign_heads(PLAIN, chosen, R)
    found = selection.error("positions", PLAIN, each, chosen, STRINGS)
    assert found == pytest.approx((2 * 8 - 1) / (e + 8), rel=1e-12)
    bag = selection.bag_head(PLAIN, chosen, selection.sharpness(8, 1 / s, s), scalar=True)
    found = selection.error("bag", PLAIN, bag, chosen, STRINGS)
    assert found == pytest.approx(s * 8 / (8 * 8 * s * s + 8), rel=1e-12)


@pytest.mark.parametrize("s", [2, 3, 4, 8])
def test_vectors_of_a_singular_gram_satisfy_its_relation_up_to_rounding(s):
    """A simplex with half of it reversed: both halves have the same sum, not up to root epsilon."""
    D = 1 / (2 * s - 1)
    vectors = selection.basis(selection.opposed_gram(2 * s, s, D, among=-D)).vectors
    assert (vectors[:s].sum(0) - vectors[s:].sum(0)).norm() < 1e-12


@pytest.mark.parametrize("s", [2, 3, 4])
def test_the_margin_of_dual_keys_is_attained_on_the_opposed_basis(s):
    delta = 0.9 / (2 * s - 1)
    at = selection.basis(selection.opposed_gram(8, s, delta))
    assert at.coherence == pytest.approx(delta, rel=1e-12)
    key = selection.mean_head(at, range(s), 1.0)["WK"][0, :, 0]
    scores = at.vectors @ key
    assert torch.allclose(scores[:s], torch.ones(s, dtype=torch.float64), rtol=1e-12)
    assert (1 - scores[s:].max()).item() == pytest.approx(selection.margin(s, delta), rel=1e-9)
    assert key.norm().item() ** 2 == pytest.approx(s / (1 - (s - 1) * delta), rel=1e-9)


def test_the_search_finds_a_head_where_there_is_one_and_none_on_the_simplex():
    simplex = selection.basis(selection.opposed_gram(4, 2, 1 / 3, among=-1 / 3))
    assert selection.best_head(simplex, 2, 8, Rng(0), steps=200) > 0.1
    assert selection.best_head(selection.basis(torch.eye(3)), 2, 8, Rng(0), steps=200) < 0.1


class Chosen(Rng):
    """Of three starts those that are asked for."""

    def __init__(self, starts):
        super().__init__(0)
        self.starts = starts

    def normal(self, *shape):
        """Three, of which some are taken."""
        return super().normal(*shape[:-1], 3)[..., self.starts]


def test_starts_are_searched_each_for_itself():
    def best(*starts):
        at = selection.basis(torch.eye(3))
        return selection.best_head(at, 2, len(starts), Chosen(starts), steps=40)

    assert best(0, 1, 2) == pytest.approx(min(map(best, range(3))), rel=1e-9)


def test_a_climb_does_not_go_down_and_keeps_to_delta():
    rng = Rng(3)
    start = selection.random_gram(5, 0.1, rng.generator)
    found = selection.harder_gram(start, 0.15, lambda g: g[0, 1].item(), rng, steps=60)
    assert found[0, 1] >= start[0, 1]
    assert (found - torch.eye(5)).abs().max() <= 0.15
    assert torch.linalg.eigvalsh(found)[0] > 0


def test_a_head_is_a_softmax_mixture_written_out():
    at = selection.basis(selection.opposed_gram(8, 3, 0.1))
    heads = selection.sign_heads(at, [0, 5], 3.0)
    X = selection.rows("positions", at, STRINGS[:17])
    found = selection.forward(heads, at, X)
    for b in range(17):
        total = torch.zeros(2, dtype=torch.float64)
        for h in range(2):
            scores = X[b] @ heads["WK"][h] @ heads["WQ"][h].mT @ at.cls
            weights = scores.exp() / scores.exp().sum()
            total += weights @ X[b] @ heads["WV"][h] @ heads["WC"][h]
        assert torch.allclose(found[b], total, atol=1e-13)


def test_dual_keys_undo_the_gram_matrix_and_equal_ones_share():
    near, alike = selection.basis(selection.opposed_gram(6, 3, 0.2)), selection.marked(5, [0, 1, 2])
    for at, count in ((near, 4), (alike, 3)):
        key = selection.mean_head(at, range(count), 1.0)["WK"][0, :, 0]
        assert torch.allclose(at.vectors[:count] @ key, torch.ones_like(key[:1]), atol=1e-12)
    assert torch.allclose(key, alike.vectors[0], atol=1e-12)


def test_norms_are_the_ones_asked_for():
    heads = selection.at_norms(selection.mean_head(PLAIN, [1, 4], 3.0), 2.5, 7.0)
    assert [heads[k].norm().item() for k in ("WQ", "WK")] == pytest.approx([2.5, 7.0])


def _two(inner):
    """Inner products of two vectors."""
    return torch.tensor([[1.0, inner], [inner, 1.0]], dtype=torch.float64)


def test_an_eigenvalue_below_zero_by_rounding_is_taken_for_zero():
    at = selection.basis(_two(1 + 1.6e-12))
    assert (at.vectors[0] - at.vectors[1]).abs().max() <= 1e-11


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: selection.basis(torch.eye(2, 3)), r"\(T, T\)"),
        (lambda: selection.basis(torch.eye(2).expand(2, 2, 2)), r"got \(2, 2, 2\)"),
        (lambda: selection.basis(_two(1 + 2.4e-12)), "negative eigenvalue -2.4e-12"),
        (lambda: selection.basis(2 * torch.eye(2)), "ones on the diagonal"),
        (lambda: selection.basis(selection.opposed_gram(5, 4, 0.9)), "negative eigenvalue"),
        (lambda: selection.opposed_gram(3, 4, 0.1), "between 0 and T - 1 = 2"),
        (lambda: selection.basis(torch.full((2, 2), math.nan)), "finite"),
        (lambda: selection.sharpness(4, 0.0), "gamma"),
        (lambda: selection.sharpness(4, 1.0, 1.0, -0.1), "margin"),
        (lambda: selection.rows("sets", PLAIN, STRINGS), "map"),
        (lambda: selection.rows("bag", PLAIN, STRINGS[:, :5]), "T = 8"),
        (lambda: selection.rows("bag", PLAIN, 0.5 * STRINGS), "0 or 1"),
        (lambda: selection.mean_head(PLAIN, [0], math.nan), "R must"),
        (lambda: selection.margin(4, 0.2), r"1 / \(2s - 1\)"),
        (lambda: selection.margin(2, 1 / 3), r"1 / \(2s - 1\), got 2, 0.333"),
        (lambda: selection.margin(0, 0.2), "s >= 1"),
        (lambda: selection.mean_head(PLAIN, [], 1.0), "at least one"),
        (lambda: selection.mean_head(PLAIN, [1, 1], 1.0), "different"),
        (lambda: selection.mean_head(PLAIN, [8], 1.0), "T - 1 = 7"),
        (lambda: selection.mean_head(PLAIN, [-1], 1.0), r"T - 1 = 7, got \[-1\]"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_rounding_of_a_gram_matrix_is_that_of_its_dtype():
    vectors = torch.nn.functional.normalize(
        torch.randn(8, 5, generator=torch.Generator().manual_seed(0)), dim=1
    )
    found = selection.basis(vectors @ vectors.T)  # of rank 5, in float32
    rebuilt = found.vectors @ found.vectors.T
    assert (rebuilt - (vectors @ vectors.T).double()).abs().max() <= 1e-5
