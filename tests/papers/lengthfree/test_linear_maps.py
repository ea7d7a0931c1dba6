"""Maurey's cover: sizes by listing, radii by search; volumes, printed bounds, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers.linear import maurey_size
from papers.lengthfree import linear_maps as covers
from tests.draws import normal, seeded
from tests.exact import exact_cdist

law = settings(deadline=None, max_examples=60)
EPS = torch.finfo(torch.float64).eps


def in_l1_ball(count, dim, radius, seed=0):
    """Random points of the ball: some inside, some on the boundary, many zeros."""
    rng = seeded(seed)
    x = torch.empty(count, dim, dtype=torch.float64).exponential_(generator=rng)
    x = x * torch.randint(-1, 2, (count, dim), generator=rng)
    x = x / x.abs().sum(-1, keepdim=True).clamp(min=1e-12)
    return x * radius * torch.rand(count, 1, generator=rng).sqrt().double()


@pytest.mark.parametrize(("q", "p"), [(1, math.inf), (2, 1), (1, 1), (2, 2), (0.5, 1)])
def test_the_matrix_norm_takes_columns_first(q, p):
    W = normal(3, 4)
    columns = [sum(abs(v) ** q for v in W[:, i].tolist()) ** (1 / q) for i in range(4)]
    by_hand = max(columns) if p == math.inf else sum(c**p for c in columns) ** (1 / p)
    assert covers.matrix_norm(W, q, p).item() == pytest.approx(by_hand, rel=20 * EPS)


def maurey_cover(dim, radius, terms):
    """The averages of ``terms`` vectors out of 0 and plus and minus ``radius`` times a unit one."""
    return covers.integer_points(dim, terms, signed=True).double() * (radius / terms)


@pytest.mark.parametrize(("dim", "total"), [(0, 3), (1, 0), (1, 5), (2, 4), (3, 3), (4, 2)])
def test_integer_points_are_all_of_them_once(dim, total):
    for signed in (False, True):
        low = -total if signed else 0
        every = itertools.product(range(low, total + 1), repeat=dim)
        wanted = [z for z in every if sum(map(abs, z)) <= total]
        assert covers.integer_points(dim, total, signed).tolist() == [list(z) for z in wanted]
        counted = maurey_size(dim, total) if signed else math.comb(dim + total, total)
        assert len(wanted) == counted


def test_points_of_many_dimensions_are_listed_too():
    """A recursion over the dimensions would end at a thousand of them."""
    found = covers.integer_points(1500, 1, signed=True)
    unit = torch.eye(1500, dtype=torch.int64)
    assert torch.equal(found[1500], torch.zeros(1500, dtype=torch.int64))
    assert torch.equal(found[:1500], -unit)
    assert torch.equal(found[1501:], unit.flip(0))
    with pytest.raises(ValueError, match="100001 points of 100000 entries; at most"):
        covers.integer_points(100_000, 1)


@law
@given(st.integers(1, 4), st.integers(1, 4), st.floats(0.1, 10), st.integers(0, 10**6))
def test_rounding_finds_a_nearest_point_of_the_cover(dim, terms, radius, seed):
    points = in_l1_ball(50, dim, radius, seed)
    rounded = covers.round_to_cover(points, radius, terms)
    to_cover = exact_cdist(points, maurey_cover(dim, radius, terms)).amin(-1)
    distance = (points - rounded).norm(dim=-1)
    assert torch.allclose(distance, to_cover, rtol=1e-12, atol=8 * EPS * radius)
    assert distance.max() <= covers.covering_radius(dim, radius, terms) * (1 + 8 * EPS)


@law
@given(st.integers(1, 200), st.integers(1, 30), st.integers(0, 10**6))
def test_rounding_stays_in_the_ball_and_within_the_radius(dim, terms, seed):
    points = in_l1_ball(20, dim, 2.0, seed)
    rounded = covers.round_to_cover(points, 2.0, terms)
    assert rounded.abs().sum(-1).max() <= 2 * (1 + dim * EPS)
    worst = (points - rounded).norm(dim=-1).max()
    assert worst <= covers.covering_radius(dim, 2.0, terms) * (1 + dim * EPS)


@pytest.mark.parametrize(("dim", "terms"), [(1, 1), (2, 1), (2, 3), (3, 1), (3, 2), (5, 2), (4, 3)])
def test_the_covering_radius_is_attained(dim, terms):
    hole = torch.zeros(dim, dtype=torch.float64)
    hole[: min(dim, 2 * terms)] = 0.5 / terms
    assert hole.sum() <= 1
    nearest = (maurey_cover(dim, 1.0, terms) - hole).norm(dim=-1).min()
    assert nearest.item() == pytest.approx(covers.covering_radius(dim, 1.0, terms), rel=4 * EPS)


@law
@given(st.integers(1, 60), st.floats(0.02, 2))
def test_the_terms_needed_are_fewest(dim, epsilon):
    terms = covers.terms_needed(dim, 1.0, epsilon)
    assert covers.covering_radius(dim, 1.0, terms) <= epsilon * (1 + 1e-11)
    assert terms == 0 or covers.covering_radius(dim, 1.0, terms - 1) > epsilon
    assert terms <= covers.maurey_terms(1.0, epsilon)
    assert terms <= epsilon**-2 + 1e-9  # no ceiling: half of it, rounded up, is at most all of it


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_distances_match_a_loop(q):
    W, V, X = normal(4, 2, 3), normal(5, 2, 3, seed=1), normal(6, 3, seed=2)
    found = covers.distances(W, V, X, q)
    for i, j in itertools.product(range(4), range(5)):
        each = [torch.linalg.vector_norm((W[i] - V[j]) @ x, q).item() for x in X]
        assert found[i, j].item() == pytest.approx(max(each), rel=50 * EPS)


def test_volumes_are_those_known():
    assert covers.volume_bound(1, 3.0, 1.0, 1) == pytest.approx(math.log(3))
    assert covers.volume_bound(2, 1.0, 1.0, 1) == pytest.approx(math.log(2 / math.pi))
    assert covers.volume_bound(3, 1.0, 0.5, 2) == pytest.approx(math.log(8))
    wanted = math.log(8 / 6 / (4 / 3 * math.pi * 0.5**3))
    assert covers.volume_bound(3, 1.0, 0.5, 1) == pytest.approx(wanted)
    wanted = math.log(8 / (4 / 3 * math.pi))  # a box
    assert covers.volume_bound(3, 1.0, 1.0, math.inf) == pytest.approx(wanted)


@law
@given(st.integers(1, 8), st.floats(0.1, 0.99))
def test_no_cover_is_smaller_than_the_volume_bound(dim, epsilon):
    size = maurey_size(dim, covers.terms_needed(dim, 1.0, epsilon))
    assert math.log(size) >= covers.volume_bound(dim, 1.0, epsilon, 1) - 1e-9


def test_a_column_forces_most_at_the_scale_e_to_the_minus_a_half():
    def forced(epsilon):
        promised = covers.bound_l2_columns(64, 64, 1.0, 1.0, epsilon)
        return covers.volume_bound(64, 1.0, epsilon, 2) / promised

    most = forced(math.exp(-0.5))
    assert most == pytest.approx(16 / (math.e * math.log(64)))
    assert most == max(most, *(forced(step / 200) for step in range(1, 200)))
    assert forced(0.5) == pytest.approx(4 / 3)  # less than the most


def test_the_printed_bounds_are_as_printed():
    scale = (3 * 2 / 0.5) ** 2
    assert covers.bound_l1_columns(5, 7, 3, 2, 0.5) == pytest.approx(7 * scale * math.log(11))
    assert covers.bound_l2_columns(5, 7, 3, 2, 0.5) == pytest.approx(scale * math.log(35))
    assert covers.bound_on_points(9, 7, 3, 2, 0.5) == pytest.approx(scale * math.log(63))
    assert covers.bound_l1_entries(5, 7, 3, 2, 0.5) == pytest.approx(scale * math.log(71))


def test_a_point_may_leave_the_ball_by_rounding_and_there_may_be_none():
    point = torch.tensor([1 + 1e-9], dtype=torch.float64)
    assert covers.round_to_cover(point, 1.0, 1).tolist() == [1]
    assert covers.round_to_cover(torch.zeros(0, 2), 1.0, 3).shape == (0, 2)


def test_the_longest_list_of_points_is_made(monkeypatch):
    monkeypatch.setattr(covers, "MAX_COVER", 6)
    assert len(covers.integer_points(2, 2)) == 6
    with pytest.raises(ValueError, match="10 points of 2 entries; at most 6 points"):
        covers.integer_points(2, 3)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="q must be positive, got 0"):
        covers.matrix_norm(torch.ones(2, 2), 0, 1)
    with pytest.raises(ValueError, match="terms must be finite and at least 0, got -1"):
        covers.covering_radius(2, 1.0, -1)
    with pytest.raises(ValueError, match="radius must be positive and finite"):
        covers.covering_radius(2, 0.0, 1)
    with pytest.raises(ValueError, match="radius must be positive and finite"):
        covers.volume_bound(2, -1.0, 0.5, 1)
    with pytest.raises(ValueError, match="dim must be finite and at least 0, got -1"):
        covers.integer_points(-1, 2)
    with pytest.raises(ValueError, match="choose fewer terms"):
        covers.integer_points(30, 10, signed=True)
    with pytest.raises(ValueError, match="points must have l1 norm"):
        covers.round_to_cover(torch.tensor([1 + 2e-8], dtype=torch.float64), 1.0, 1)
    with pytest.raises(ValueError, match="points must have l1 norm"):
        covers.round_to_cover(torch.tensor([1.0, -1.0]), 1.0, 3)
    with pytest.raises(ValueError, match="epsilon must be finite, got nan"):
        covers.terms_needed(2, 1.0, math.nan)
    with pytest.raises(TypeError, match=r"points must be floating, got torch\.int64"):
        covers.round_to_cover(torch.tensor([1, 0]), 1.0, 2)
    with pytest.raises(ValueError, match="p must be positive, got 0"):
        covers.volume_bound(2, 1.0, 0.5, 0.0)
    for bound in (
        covers.bound_l1_columns,
        covers.bound_l2_columns,
        covers.bound_on_points,
        covers.bound_l1_entries,
    ):
        with pytest.raises(ValueError, match="epsilon must be positive and finite, got -1"):
            bound(2, 3, 1.0, 1.0, -1.0)
        with pytest.raises(ValueError, match=r"[kn] must be at least 1, got -2"):
            bound(-2, 3, 1.0, 1.0, 1.0)
        with pytest.raises(ValueError, match="d must be at least 1, got -3"):
            bound(2, -3, 1.0, 1.0, 1.0)
