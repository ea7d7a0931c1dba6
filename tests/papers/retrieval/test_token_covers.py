"""Lengths of tokens, covers of a class of transformers, and the terms of its guarantee."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.covers import linear as covers
from papers.lengthfree import linear_maps
from papers.retrieval import token_covers
from papers.retrieval.token_covers import Transformers
from tests.draws import seeded

COUNTS, WIDTHS, DELTAS = st.integers(1, 10**9), st.integers(1, 300), st.floats(1e-6, 0.9)


@settings(deadline=None)
@given(COUNTS, WIDTHS, DELTAS)
def test_normal_data_exceed_the_radius_with_no_more_than_its_chance(count, d, delta):
    assume(delta <= count / math.sqrt(math.e))
    radius = token_covers.moment_radius(count, d, delta)
    assert token_covers.exceedance(count, d, radius) <= delta * (1 + 1e-9)


def test_the_chance_is_that_of_a_simulation():
    longest = torch.randn(20000, 50, 3, generator=seeded()).norm(dim=-1).amax(-1)
    share = (longest > 4.0).float().mean().item()
    chance = token_covers.exceedance(50, 3, 4.0)
    assert share == pytest.approx(chance, abs=5 * math.sqrt(chance / 20000))


def test_nothing_is_shorter_than_nothing():
    assert token_covers.exceedance(3, 2, 0.0) == 1.0


def test_the_moment_radius_is_the_best_that_markov_gives():
    count, d, delta = 1000, 5, 0.05
    radius = token_covers.moment_radius(count, d, delta)
    bounds = [count * (d * r / radius**2) ** (r / 2) for r in (x / 10 for x in range(10, 1000))]
    assert min(bounds) == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize("terms", [1, 2, 5, 9])
def test_sparsification_is_counted_by_its_own_cover(terms):
    B_1, D = 3.0, 2
    scale = B_1 / math.sqrt(2 * terms)
    assert linear_maps.covering_radius(D * D, B_1, terms) <= scale * (1 + 1e-12)
    bound = token_covers.norm_log_size(D, B_1, scale)
    assert math.log(covers.maurey_size(D * D, terms)) <= bound
    assert bound == pytest.approx(terms * math.log(2 * D**2 + 1))


def test_one_matrix_is_enough_at_a_scale_as_large_as_the_class():
    assert token_covers.norm_log_size(5, 2.0, 2.0) == 0.0
    assert token_covers.dimension_log_size(5, 2.0, 2.0) == 0.0


def test_counting_grows_with_the_weights_and_the_logarithm():
    one = token_covers.dimension_log_size(9, 2.0, 0.5)
    assert one == pytest.approx(9 * math.log(9))
    assert token_covers.dimension_log_size(36, 2.0, 0.5) == pytest.approx(4 * one)


def test_the_class_is_counted_as_proposition_17_says():
    D, H, m, K, B_1, B_F, R, epsilon = 7, 2, 5, 1.5, 3.0, 2.0, 4.0, 0.1
    sizes = Transformers(D, H, m, K, B_1, B_F, R).log_sizes(epsilon)
    rho = epsilon / (2 * K * math.sqrt(H) * R**3)
    net = m * (H * D + 2) * math.log1p(8 * K * math.sqrt(1 + H * R**2) / epsilon)
    assert sizes["net"] == pytest.approx(net)
    assert sizes["counting"] == pytest.approx(H * D**2 * math.log1p(2 * B_F / rho))
    assert sizes["norm"] == pytest.approx(
        H * math.ceil((B_1 / rho) ** 2 / 2) * math.log(2 * D**2 + 1)
    )


def test_the_class_holds_the_construction():
    N, n, d, q, K = 50, 200, 8, 2, 3.0
    c = token_covers.retrieving(N, n, d, q=q, m=10, K=K)
    d_e = 78
    assert d + 3 * d_e == c.D
    assert pytest.approx(math.sqrt(d_e) * c.B_F) == c.B_1
    alpha = c.B_1 / d_e
    data = token_covers.moment_radius(n * N, d, (n * N) ** -0.5)
    missed = 2 * (N - 1) * math.exp(-alpha * d / (2 * q)) * data
    assert K * math.sqrt(q) * missed == pytest.approx(n**-0.25)
    assert pytest.approx(math.sqrt(data**2 + 3 * d / 2)) == c.R


def test_losses_exceed_where_they_are_cut_off_by_no_more_than_said():
    """A label of variance 1 against the largest output that the class has, normal data."""
    N, d, K, delta = 6, 2, 1.0, 0.3
    tau, excess = token_covers.truncation(N, d, 1, K, delta)
    x = torch.randn(100_000, N, d, generator=seeded()).square().sum(-1).amax(-1)
    y = torch.randn(100_000, generator=seeded(1)).abs()
    loss = (y + K * (1 + 2 * d + x).sqrt()).square()
    assert (loss - tau).clamp(min=0).mean().item() <= excess
    assert (loss > tau).float().mean().item() <= 2 * delta


def test_the_terms_of_the_guarantee_are_those_of_its_proof():
    N, n, d, delta = 64, 10**12, 5, 0.1
    terms = token_covers.guarantee(N, n, d, delta=delta)
    d_e, root, K = 83, 10**6, 2.0  # floor(20 log 64), sqrt(n), and the net's K; one pointer
    cut = math.log((1 + K**2 * d) * root)  # log 1/delta'
    tau = 4 * math.e * cut + 2 * K**2 * (1 + 2 * d + 2 * math.e * d * (math.log(N) + cut))
    longest = math.sqrt(3 * math.e * d * math.log(n * N))
    R = math.sqrt(longest**2 + 2 * d)
    alpha = 2 / d * math.log(2 * K * (N - 1) * longest * n**0.25)
    D = d + 2 * d_e
    net = 2 * (D + 2) * math.log1p(8 * K * math.sqrt(1 + R**2) * root)
    heads = D**2 * math.log1p(2 * alpha * math.sqrt(d_e) * 2 * K * R**3 * root)
    assert terms == pytest.approx(
        {
            "construction": 1 / root,
            "cover": 4 * math.sqrt(tau) / root,
            "class": 2 * tau * math.sqrt(2 * (net + heads)) / root,
            "length": 2 * tau / root / math.sqrt(N),
            "chance": tau * math.sqrt(math.log(1 / delta) / 2) / root,
            "truncation": 8 * math.e / root,
        }
    )


def test_a_guarantee_falls_with_the_prompts_and_depends_little_on_their_length():
    few, many = (sum(token_covers.guarantee(64, n, 5).values()) for n in (10**16, 10**18))
    assert 8 < few / many < 10
    longer = sum(token_covers.guarantee(64**2, 10**16, 5).values())
    assert longer < 2**2.5 * few


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: token_covers.moment_radius(0, 2, 0.1), "count must be at least 1, got 0"),
        (lambda: token_covers.moment_radius(5, 2, 0.1, C_x=0.0), "C_x must be positive"),
        (lambda: token_covers.moment_radius(1, 2, 0.61), r"at most count / sqrt\(e\).*got 0.61"),
        (lambda: token_covers.exceedance(5, 2, -1.0), "radius must be finite and at least 0"),
        (lambda: token_covers.norm_log_size(0, 1.0, 0.1), "D must be at least 1, got 0"),
        (lambda: token_covers.norm_log_size(2, 1.0, 0.0), "epsilon must be positive"),
        (lambda: token_covers.dimension_log_size(2, -1.0, 0.1), "radius must be positive"),
        (lambda: token_covers.retrieving(1, 100, 3), "at least 2, got N = 1"),
        (lambda: token_covers.retrieving(8, 1, 3), "at least 2, got N = 8, n = 1"),
        (lambda: token_covers.retrieving(8, 100, 0), "d must be at least 1, got 0"),
        (lambda: token_covers.truncation(8, 2, 1, 1.0, 1.0), "delta must lie between 0 and 1"),
        (lambda: token_covers.guarantee(8, 100, 2, delta=0.0), "delta must lie between 0 and 1"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_guarantee_counts_by_volume_also_where_sparsification_would_be_less(monkeypatch):
    sizes = {"net": 1.0, "norm": 2.0, "counting": 8.0}
    monkeypatch.setattr(Transformers, "log_sizes", lambda self, epsilon: sizes)
    tau, _ = token_covers.truncation(8, 10, 1, 2.0, 1 / (41 * 10))
    terms = token_covers.guarantee(8, 100, 10)
    assert terms["class"] == pytest.approx(2 * tau * math.sqrt(2 * 9 / 100))
