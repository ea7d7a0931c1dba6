"""Greedy covers and packings, the size of Maurey's cover, a search, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import linear as covers
from tests.draws import normal, seeded
from tests.exact import exact_cdist

law = settings(deadline=None, max_examples=60)
EPS = torch.finfo(torch.float64).eps


def test_the_size_of_a_large_cover_comes_at_once():
    n = 3000
    assert covers.maurey_size(n, n) == sum(2**j * math.comb(n, j) ** 2 for j in range(n + 1))


@law
@given(st.integers(1, 40), st.integers(0, 40))
def test_the_size_is_below_the_number_of_ordered_choices(dim, terms):
    assert 1 <= covers.maurey_size(dim, terms) <= (2 * dim + 1) ** terms


@law
@given(st.integers(1, 40), st.floats(0.05, 3), st.integers(0, 10**6))
def test_packing_and_cover_enclose_the_covering_number(size, epsilon, seed):
    points = normal(size, 2, seed=seed)
    distance = exact_cdist(points, points)
    cover = covers.greedy_cover(distance, epsilon)
    assert distance[:, cover].amin(-1).max() <= epsilon
    apart = covers.packing(distance, 2 * epsilon)
    pairs = distance[apart][:, apart] + torch.eye(len(apart)) * 99
    assert pairs.min() > 2 * epsilon
    assert len(apart) <= len(cover) <= len(covers.packing(distance, epsilon)) * (1 + math.log(size))
    assert distance[:, covers.packing(distance, epsilon)].amin(-1).max() <= epsilon


def test_greedy_takes_the_centre_of_a_star():
    distance = torch.tensor([[0.0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    assert covers.greedy_cover(distance, 1) == [0]
    assert covers.packing(distance, 1) == [0]
    assert covers.packing(distance, 0.5) == [0, 1, 2, 3]


def test_climbing_finds_the_hole_of_a_cover_and_never_descends():
    grid = itertools.product(range(-3, 4), repeat=2)
    thirds = [z for z in grid if abs(z[0]) + abs(z[1]) <= 3]
    cover = torch.tensor(thirds, dtype=torch.float64) / 3

    def distance(points):
        return exact_cdist(points, cover).amin(-1)

    def project(points):
        return points / points.abs().sum(-1, keepdim=True).clamp(min=1)

    start = project(normal(30, 2))
    found = covers.climb(distance, project, start, seeded())
    assert (distance(found) >= distance(start)).all()
    assert found.abs().sum(-1).max() <= 1 + 4 * EPS
    radius = math.sqrt(2) / 6  # half the diagonal of a square of the grid
    assert 0.999 * radius <= distance(found).max() <= radius * (1 + 4 * EPS)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="terms must be finite and at least 0, got -1"):
        covers.maurey_size(2, -1)
    with pytest.raises(ValueError, match="separation must be finite and at least 0, got -1"):
        covers.packing(torch.zeros(2, 2), -1.0)
    with pytest.raises(ValueError, match="steps must be finite and at least 0, got -1"):
        covers.climb(torch.sum, torch.abs, torch.ones(1, 2), seeded(), steps=-1)
    with pytest.raises(ValueError, match="expected square distances"):
        covers.greedy_cover(torch.ones(2, 3), 1)
