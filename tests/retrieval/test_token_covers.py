"""Lengths of tokens, covers of matrices, and the sizes that the guarantee is made of."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks
from helpers.covers import linear as covers
from helpers.retrieval import token_covers


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


COUNTS, WIDTHS, DELTAS = st.integers(1, 10**9), st.integers(1, 300), st.floats(1e-6, 0.9)


@settings(deadline=None)
@given(COUNTS, WIDTHS, DELTAS)
def test_normal_data_exceed_each_radius_with_no_more_than_its_chance(count, d, delta):
    for radius in (
        token_covers.moment_radius(count, d, delta),
        token_covers.chi_square_radius(count, d, delta),
    ):
        assert token_covers.exceedance(count, d, radius) <= delta * (1 + 1e-9)


@settings(deadline=None)
@given(COUNTS, WIDTHS, DELTAS)
def test_the_exact_radius_is_exceeded_with_exactly_its_chance(count, d, delta):
    radius = token_covers.exact_radius(count, d, delta)
    assert token_covers.exceedance(count, d, radius) == pytest.approx(delta, rel=1e-6)


def test_the_chance_is_that_of_a_simulation():
    radius = token_covers.exact_radius(50, 3, 0.4)
    longest = torch.randn(20000, 50, 3, generator=generator()).norm(dim=-1).amax(-1)
    share = (longest > radius).float().mean().item()
    assert share == pytest.approx(0.4, abs=5 * math.sqrt(0.24 / 20000))


def test_nothing_is_shorter_than_nothing():
    assert token_covers.exceedance(3, 2, 0.0) == 1.0


def test_the_moment_radius_is_the_best_that_markov_gives():
    count, d, delta = 1000, 5, 0.05
    radius = token_covers.moment_radius(count, d, delta)
    bounds = [count * (d * r / radius**2) ** (r / 2) for r in (x / 10 for x in range(10, 1000))]
    assert min(bounds) == pytest.approx(delta, rel=1e-4)


def test_a_token_is_as_long_as_its_parts():
    d, q, data = 6, 3, 2.5
    parts = [data**2] + [d / q] * (1 + q)
    assert token_covers.token_radius(data, d, q) == pytest.approx(math.sqrt(sum(parts)))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.1, 3))
def test_a_head_moves_no_more_than_its_constant_says(seed, R):
    g = generator(seed)
    Z = R * torch.nn.functional.normalize(torch.randn(20, 5, 3, generator=g).double(), dim=-1)
    W, step = torch.randn(2, 20, 3, 3, generator=g).double()
    eye = torch.eye(3).double().expand(20, 3, 3)
    moved = blocks.longest(blocks.attention(Z, eye, W) - blocks.attention(Z, eye, W + step))
    assert bool((moved <= token_covers.head_constant(R) * blocks.spectral(step) + 1e-12).all())


@pytest.mark.parametrize("terms", [1, 2, 5, 9])
def test_sparsification_is_counted_by_its_own_cover(terms):
    B_1, D = 3.0, 2
    scale = B_1 / math.sqrt(2 * terms)
    assert covers.covering_radius(D * D, B_1, terms) <= scale * (1 + 1e-12)
    bound = token_covers.norm_log_size(D, B_1, scale, H=3)
    assert 3 * math.log(covers.maurey_size(D * D, terms)) <= bound
    assert bound == pytest.approx(3 * terms * math.log(2 * D**2 + 1))


@pytest.mark.parametrize(("dim", "scale"), [(1, 0.3), (2, 0.4), (3, 0.5), (4, 0.7)])
def test_the_lattice_covers_the_ball_and_is_counted(dim, scale):
    radius = 2.0
    points = token_covers.lattice_cover(dim, radius, scale)
    v = torch.randn(20000, dim, generator=generator()).double()
    v = radius * torch.nn.functional.normalize(v, dim=1)
    v[::2] *= torch.rand(10000, 1, generator=generator()).double() ** (1 / dim)
    gap = torch.cdist(v, points).amin(1).max().item()
    assert gap <= scale * (1 + 1e-12)
    if dim <= 2:
        assert gap > 0.9 * scale
    if dim in (1, 4):  # a matrix of D = 1 or 2
        bound = token_covers.dimension_log_size(math.isqrt(dim), radius, scale)
        assert math.log(len(points)) <= bound


def test_one_matrix_is_enough_at_a_scale_as_large_as_the_class():
    assert token_covers.norm_log_size(5, 2.0, 2.0) == 0.0
    assert token_covers.dimension_log_size(5, 2.0, 2.0) == 0.0


def test_counting_grows_with_the_weights_and_the_logarithm():
    one = token_covers.dimension_log_size(3, 2.0, 0.5)
    assert one == pytest.approx(9 * math.log(9))
    assert token_covers.dimension_log_size(6, 2.0, 0.5, H=2) == pytest.approx(8 * one)


def test_all_tokens_at_once_cost_their_number():
    one = token_covers.over_all_tokens_log_size(4, 2.0, 100, 1.5, 0.5)
    assert one == pytest.approx(3600 * math.log(32))
    assert token_covers.over_all_tokens_log_size(4, 2.0, 200, 1.5, 0.5) == pytest.approx(2 * one)


def test_the_sizes_of_the_class_are_those_of_the_construction():
    N, n, d, q, m = 50, 200, 8, 2, 10
    s = token_covers.class_sizes(N, n, d, q=q, m=m)
    assert s["d_e"] == 78
    assert s["D"] == d + 3 * 78
    assert s["B_1"] == pytest.approx(math.sqrt(s["d_e"]) * s["B_F"])
    data = token_covers.chi_square_radius(n * N, d, 0.1)
    retrieved = 2 * (N - 1) * math.exp(-s["alpha"] * d / (2 * q)) * data
    assert retrieved == pytest.approx(1 / n)
    assert s["R"] == pytest.approx(math.sqrt(data**2 + 3 * d / 2))
    reach = 1 / (2 * n) / (s["R"] ** 3 * math.sqrt(q * m))
    assert s["dimension"] == pytest.approx(2 * s["D"] ** 2 * math.log1p(2 * s["B_F"] / reach))
    assert s["total"] == s["net"] + s["dimension"]
    assert s["norm"] > s["dimension"]
    fine = 1 / (2 * n) / ((1 + math.sqrt(m)) * (1 + math.sqrt(q) * s["R"]))
    expected = m * (q * s["D"] + 2) * math.log1p(2 * math.sqrt(1 + m) / fine)
    assert s["net"] == pytest.approx(expected)


def test_the_net_of_the_class_moves_no_more_than_its_cover_allows():
    m, inputs, X, g = 6, 4, 3.0, generator()
    x = X * torch.nn.functional.normalize(torch.randn(500, inputs, generator=g).double(), dim=1)

    def draw():
        a = torch.nn.functional.normalize(torch.randn(m, generator=g).double(), dim=0)
        rows = torch.nn.functional.normalize(torch.randn(m, inputs + 1, generator=g).double())
        return a, rows

    def value(a, rows):
        return (x @ rows[:, :-1].T + rows[:, -1]).relu() @ a

    for _ in range(50):
        (a, rows), (b, others) = draw(), draw()
        eta = math.sqrt((a - b).square().sum() + (rows - others).square().sum())
        moved = (value(a, rows) - value(b, others)).abs().max().item()
        assert moved <= eta * (1 + math.sqrt(m)) * (1 + X) + 1e-12


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: token_covers.moment_radius(0, 2, 0.1), "count must be at least 1, got 0"),
        (lambda: token_covers.moment_radius(5, 2, 0.1, C_x=0.0), "C_x must be positive"),
        (lambda: token_covers.chi_square_radius(5, 0, 0.1), "d must be at least 1, got 0"),
        (lambda: token_covers.exact_radius(5, 2, 1.0), "delta must lie between 0 and 1, got 1.0"),
        (lambda: token_covers.exceedance(5, 2, -1.0), "radius must be finite and at least 0"),
        (lambda: token_covers.token_radius(0.0, 2, 1), "data must be positive"),
        (lambda: token_covers.token_radius(1.0, 2, 0), "q must be at least 1, got 0"),
        (lambda: token_covers.head_constant(0.0), "R must be positive"),
        (lambda: token_covers.norm_log_size(0, 1.0, 0.1), "D must be at least 1, got 0"),
        (lambda: token_covers.norm_log_size(2, 1.0, 0.0), "epsilon must be positive"),
        (lambda: token_covers.dimension_log_size(2, -1.0, 0.1), "B_F must be positive"),
        (lambda: token_covers.over_all_tokens_log_size(2, 1.0, 0, 1.0, 0.1), "count must be at"),
        (lambda: token_covers.lattice_cover(7, 1.0, 0.5), "dim must be from 1 to 6, got 7"),
        (lambda: token_covers.lattice_cover(6, 1.0, 0.01), "at most 2000000 are looked through"),
        (lambda: token_covers.class_sizes(1, 100, 3), "at least 2, got N = 1"),
        (lambda: token_covers.class_sizes(8, 100, 0), "d must be at least 1, got 0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
