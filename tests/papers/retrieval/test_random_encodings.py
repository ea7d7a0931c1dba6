"""Random encodings: chances by counting, bounds from both sides, and sets made on purpose."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.retrieval import random_encodings
from papers.retrieval import task as retrieval
from tests.draws import seeded


def too_alike(rows):
    """Whether some two rows of signs have an inner product beyond half of their length."""
    return any(
        abs(sum(a * b for a, b in zip(v, w, strict=True))) > len(v) / 2
        for v, w in itertools.combinations(rows, 2)
    )


@pytest.mark.parametrize("d_e", range(1, 11))
def test_the_chance_of_a_pair_is_that_of_all_signs(d_e):
    first = (1,) * d_e
    bad = sum(too_alike((first, signs)) for signs in itertools.product((-1, 1), repeat=d_e))
    assert random_encodings.pair_probability(d_e) == pytest.approx(bad / 2**d_e, rel=1e-12)
    steep = 2 * math.exp(-random_encodings.rate() * d_e)
    assert random_encodings.pair_probability(d_e) <= steep


@pytest.mark.parametrize(("N", "d_e"), [(2, 4), (3, 3), (3, 4), (4, 3)])
def test_the_chance_of_a_set_lies_between_the_bounds(N, d_e):
    rows = list(itertools.product((-1, 1), repeat=d_e))
    sets = list(itertools.product(rows, repeat=N))
    share = sum(not too_alike(chosen) for chosen in sets) / len(sets)
    low, high = random_encodings.share_bounds(N, d_e)
    assert low - 1e-12 <= share <= high + 1e-12


def test_both_sides_of_the_example_are_those_by_hand():
    assert random_encodings.share_bounds(4, 4) == pytest.approx((1 / 4, 7 / 13), rel=1e-12)


def test_pairs_that_share_a_row_are_independent():
    d_e, rows = 3, list(itertools.product((-1, 1), repeat=3))
    both = sum(
        too_alike((a, b)) and too_alike((a, c)) for a, b, c in itertools.product(rows, repeat=3)
    )
    p = random_encodings.pair_probability(d_e)
    assert both / len(rows) ** 3 == pytest.approx(p**2, rel=1e-12)


def test_the_rate_is_that_of_the_tail():
    found = -math.log(
        random_encodings.pair_probability(4000) / random_encodings.pair_probability(2000)
    )
    # the factor of order d_e^(-1/2) adds at most log(2)/2 over 2000 dimensions
    assert found / 2000 == pytest.approx(random_encodings.rate(), abs=math.log(2) / 2 / 2000 + 1e-6)
    assert random_encodings.rate() > 1 / 8


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 30), st.integers(0, 10**6))
def test_spread_sets_comply_and_have_unit_rows(N, seed):
    omega = random_encodings.spread(N, random_encodings.dimensions(20, N) + 20, seeded(seed))
    assert random_encodings.within(omega)
    torch.testing.assert_close(omega.norm(dim=1), torch.ones(N).double(), rtol=0, atol=1e-14)


def test_within_compares_each_set_with_one_half():
    far, near = random_encodings.equally_close(4, 0.5), random_encodings.equally_close(4, 0.51)
    assert random_encodings.within(torch.stack((far, near))).tolist() == [True, False]


@given(st.integers(1, 9), st.floats(0, 1))
def test_equally_close_rows_have_the_inner_product_asked_for(N, inner):
    omega = random_encodings.equally_close(N, inner)
    expected = torch.full((N, N), inner, dtype=torch.float64).fill_diagonal_(1)
    torch.testing.assert_close(omega @ omega.mT, expected, rtol=0, atol=1e-14)


def test_dimensions_are_rounded_down_as_in_the_code():
    assert random_encodings.dimensions(5, 100) == 23
    assert random_encodings.dimensions(0.1, 2) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: random_encodings.dimensions(5, 1), "N at least 2, got c = 5, N = 1"),
        (lambda: random_encodings.dimensions(0, 9), "c must be positive"),
        (lambda: random_encodings.pair_probability(0), "d_e must be at least 1, got 0"),
        (lambda: random_encodings.share_bounds(1, 4), "N must be at least 2, got 1"),
        (lambda: random_encodings.rate(1.0), "limit must lie between 0 and 1, got 1.0"),
        (lambda: random_encodings.spread(1, 4, seeded()), "N must be at least 2, got 1"),
        (lambda: random_encodings.spread(8, 3, seeded()), "none of 1000 draws of 8 rows"),
        (lambda: random_encodings.equally_close(3, 1.5), "inner must lie in"),
        (lambda: retrieval.coherence(torch.ones(1, 4)), "at least 2 encodings"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_encodings_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="omega must be finite, got nan"):
        random_encodings.within(torch.full((3, 4), math.nan))
