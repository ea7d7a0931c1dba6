"""The PAC-Bayes, Occam and rival bounds."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube, statistics
from papers.sharper import pac_bayes as pb
from papers.sharper import rivals, tabulated
from papers.sharper.network import construct
from papers.sharper.semi_analytic import tiling
from papers.sharper.tabulated import gradient_bound

positive = st.floats(1e-3, 1e6)
confidence = st.floats(1e-6, 0.999)
PRINTED = 2.376740233010865  # by the authors' notebook: the norm term, not squared


def squared(weights):
    return sum(w.square().sum().item() for w in weights.values())


@pytest.mark.parametrize("basis", cube.BASES)
@pytest.mark.parametrize(("n", "d", "W"), [(6, 1, 1), (6, 1, 6), (20, 3, 14), (20, 5, 20)])
def test_our_norm_covers_the_network_and_is_less_than_twice_it(n, d, W, basis):
    function = cube.sparse_function(n, d, W, torch.Generator().manual_seed(n + W), basis)
    actual = squared(construct(function)[1])
    assert actual <= pb.norm_squared(n, d, W) <= 2.5 * actual


def test_the_readings_of_the_norm_differ_by_their_idle_positions():
    scores = 4 * math.log(20) ** 2
    norm = {r: pb.norm_squared(20, 2, 7, r) for r in pb.NORMS}
    assert norm["tabulated"] == pytest.approx(21 + 192 + 24 + 34 * scores, rel=1e-14)
    assert norm["tabulated"] - norm["sinks"] == pytest.approx(6 * scores, rel=1e-12)
    assert norm["tabulated"] - norm["ours"] == pytest.approx(13 * scores + 13, rel=1e-12)


def test_the_authors_printed_number_is_the_bound_with_the_norm_not_squared():
    N, G = pb.norm_squared(50, 1, 1, "sinks"), gradient_bound(1, 1)
    coded = pb.bound(math.sqrt(N), G, 1e-5, 1e7, 0.01, 0.01) - 1e-10 * G
    assert coded == pytest.approx(PRINTED, rel=1e-13)
    assert pb.bound(N, G, 1e-5, 1e7, 0.01, 0.01) == pytest.approx(17.863, abs=5e-4)


@pytest.mark.parametrize(("d", "W", "value"), [(1, 1, 272), (2, 25, 38804), (5, 20, 384564)])
def test_the_sharpness_is_the_printed_sum(d, W, value):
    assert gradient_bound(d, W) == value
    assert gradient_bound(torch.tensor([d, d]), W).tolist() == [value, value]


@pytest.mark.parametrize("as_tabulated", [False, True])
@pytest.mark.parametrize("sigma", [0.0, 1e-5, 3e-3, 0.5])
def test_the_perturbation_is_the_quadratic_it_is_expanded_into(as_tabulated, sigma):
    p0, p1, p2 = pb.perturbation(20, 3, 7, as_tabulated)
    whole = tabulated.perturbation_term(20, 3, 7, sigma, as_tabulated=as_tabulated)
    assert p0 + p1 * sigma + p2 * sigma**2 == pytest.approx(whole, rel=1e-12)
    assert (p0 > 0) == as_tabulated


def test_weights_are_counted_down_to_one_bit():
    assert tabulated.parameter_count(1, 1) == 3 * 9 + 3 + (8 * 3 + 4) * 2
    assert tabulated.parameter_count(1, 1, as_tabulated=True) == 3 * 9 + 3 + (8 * 2 + 6) * 2


def test_the_divergence_is_that_of_torch():
    theta = torch.tensor([0.3, -2.0, 1.1], dtype=torch.float64)
    rho, pi = (torch.distributions.Normal(mean, 0.2) for mean in (theta, torch.zeros(3)))
    truth = torch.distributions.kl_divergence(rho, pi).sum().item()
    assert pb.gaussian_kl(theta.square().sum().item(), 0.2) == pytest.approx(truth, rel=1e-6)


def test_the_example_of_the_paper_has_the_quoted_numbers():
    L, G = pb.norm_squared(20, 2, 10), gradient_bound(2, 10)
    assert pytest.approx(1303.93, abs=0.005) == L
    assert G == 15524
    assert pb.optimal_sigma(L, G, 1e6, 0.01) == pytest.approx(2.27e-3, abs=5e-6)
    assert pb.truncated_optimum(L, G, 1e6, 0.01) == pytest.approx(0.239, abs=5e-4)


@given(N=positive, sigma=st.floats(1e-3, 10), D=st.integers(1, 5000), off=st.floats(0.1, 10))
def test_no_width_of_the_prior_is_better_than_its_own(N, sigma, D, off):
    def divergence(tau_squared):
        ratio = sigma**2 / tau_squared
        return N / (2 * tau_squared) + D / 2 * (ratio - 1 - math.log(ratio))

    best = sigma**2 + N / D
    found = pb.own_width_kl(N, sigma, D)
    assert found == pytest.approx(divergence(best), rel=1e-9, abs=1e-9 * D)
    assert divergence(off * best) >= found * (1 - 1e-9) - 1e-9 * D
    assert found <= pb.gaussian_kl(N, sigma) * (1 + 1e-12)


@pytest.mark.parametrize("W", [1, 2, 5])
def test_the_spread_of_the_square_is_that_of_the_table(W):
    squares = tiling(2 * W).table().square()
    assert pb.square_spread(W) == pytest.approx(squares.std(correction=0).item(), rel=1e-12)


@given(kl=positive, m=st.floats(1, 1e9), delta=confidence, S=positive, off=st.floats(0.1, 10))
def test_no_lambda_is_better_than_the_closed_form(kl, m, delta, S, off):
    best = pb.alquier(0.0, kl, m, delta, S)
    lam = math.sqrt(2 * m * (kl - math.log(delta))) / S
    assert pb.alquier(0.0, kl, m, delta, S, lam) == pytest.approx(best, rel=1e-12)
    assert pb.alquier(0.0, kl, m, delta, S, off * lam) >= best * (1 - 1e-12)


@given(N=positive, G=positive, m=st.floats(1, 1e9), S=st.floats(1e-3, 1e2), delta=confidence)
def test_the_bound_is_sharpness_plus_the_best_lambda(N, G, m, S, delta):
    kl = pb.gaussian_kl(N, 0.1)
    expected = pb.alquier(0.01 * G, kl, m, delta, S)
    assert pb.bound(N, G, 0.1, m, S, delta) == pytest.approx(expected, rel=1e-12)


@given(
    N=positive,
    G=positive,
    m=st.floats(1, 1e9),
    S=st.floats(1e-3, 1e2),
    P=st.tuples(*[st.sampled_from([0.0, 1.0, 1e3, 1e9])] * 3),
    off=st.floats(0.05, 20),
)
@settings(deadline=None, max_examples=50)
def test_no_sigma_is_better_than_the_optimum(N, G, m, S, P, off):
    sigma = pb.optimal_sigma(N, G, m, S, 0.05, P)
    best = pb.bound(N, G, sigma, m, S, 0.05, P)
    assert pb.bound(N, G, off * sigma, m, S, 0.05, P) >= best * (1 - 1e-12)


@pytest.mark.parametrize("P", [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 50.0, 0.0), (0.0, 0, 90)])
@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-9])
def test_the_bound_is_flat_at_the_optimum_when_every_term_counts(P, delta):
    N, G, m, S, h = 0.3, 2.0, 40.0, 1.0, 1e-4
    sigma = pb.optimal_sigma(N, G, m, S, delta, P)
    low, high = (pb.bound(N, G, sigma * math.exp(s), m, S, delta, P) for s in (-h, h))
    assert abs(high - low) / (2 * h) < 1e-6
    away = pb.bound(N, G, 1.01 * sigma, m, S, delta, P)
    assert away > pb.bound(N, G, sigma, m, S, delta, P)
    level = 0.9 * G * sigma**2
    grid = torch.logspace(-4, 1, 4001, dtype=torch.float64)
    sharp = pb.bound(N, G, grid, m, 0.0, delta, P)  # Sigma = 0 leaves the sharpness
    numerator = S**2 * (N / grid**2 + 2 * math.log(1 / delta))
    by_grid = (numerator / (level - sharp) ** 2)[sharp < level].min().item()
    assert pb.sample_size(N, G, S, delta, level, P) == pytest.approx(by_grid, rel=1e-4, abs=1)


def test_the_closed_form_is_the_limit_of_the_bisection_and_has_the_truncated_value():
    N, G, m, S = 4833.0, 38804.0, 1e5, 0.01
    closed = pb.optimal_sigma(N, G, m, S)
    assert pb.optimal_sigma(N, G, m, S, 1 - 1e-15) == pytest.approx(closed, rel=1e-9)
    value = G * closed**2 + S * math.sqrt(N / m) / closed
    assert pb.truncated_optimum(N, G, m, S) == pytest.approx(value, rel=1e-13)
    assert G * closed**2 == pytest.approx(value / 3, rel=1e-12)
    assert pb.truncated_optimum(N, G, 1000 * m, S) == pytest.approx(value / 10, rel=1e-12)


@pytest.mark.parametrize("P", [(0.0, 0.0, 0.0), (0.0, 7e12, 9e18), (4e15, 3e16, 9e18)])
@pytest.mark.parametrize("level", [1.0, 0.25])
def test_the_sample_size_is_the_first_at_which_the_bound_is_reached(P, level):
    N, G, S, delta = 4833.0, 38804.0, 0.01, 0.05

    def best(m):
        return pb.bound(N, G, pb.optimal_sigma(N, G, m, S, delta, P), m, S, delta, P)

    m = pb.sample_size(N, G, S, delta, level, P)
    assert best(m) <= level * (1 + 1e-12)
    assert best(m * (1 - 1e-4)) > level
    assert pb.first_sample_size(best, level) == pytest.approx(m, rel=1e-9, abs=1)


def test_the_sample_size_grows_with_the_square_of_the_constant_and_the_cube_of_the_level():
    base = pb.sample_size(1e4, 1e4, 0.1, 0.5)
    assert base == pytest.approx(27 * 0.01 * 1e8 / 4, rel=1e-3)
    assert pb.sample_size(1e4, 1e4, 1.0, 0.5) == pytest.approx(100 * base, rel=1e-5)
    assert pb.sample_size(1e4, 1e4, 0.1, 0.5, 0.25) == pytest.approx(64 * base, rel=1e-3)


def test_the_first_sample_size_is_found_exactly():
    assert pb.first_sample_size(lambda m: 10 / m, 0.1) == 100
    assert pb.first_sample_size(lambda m: 0.0, 1.0) == 1
    assert pb.first_sample_size(lambda m: 1.0, 1.0) == 1
    with pytest.raises(ValueError, match=r"still above the level 1\.0 at 10\*\*60"):
        pb.first_sample_size(lambda m: 2.0, 1.0)


@given(p=st.floats(0, 1), budget=st.floats(0, 30))
@settings(deadline=None, max_examples=50)
def test_the_inverse_of_the_binary_divergence_spends_the_budget(p, budget):
    q = rivals.kl_inverse(p, budget)
    assert p <= q <= 1
    if q == 1:
        return
    # q is rounded up, by four roundings at most, and the divergence is steep there
    rounding = 1e-15 * (1 + budget) + 2e-15 / (1 - q)
    assert rivals.binary_kl(p, q) <= budget + rounding
    beyond = q + 1e-6 * (1 - q) + 1e-9
    assert beyond >= 1 or rivals.binary_kl(p, beyond) >= budget - rounding


def test_the_binary_divergence_is_known_at_its_ends():
    assert rivals.binary_kl(0.0, 0.01) == pytest.approx(-math.log(0.99), rel=1e-14)
    assert rivals.binary_kl(0.5, 0.25) == pytest.approx(0.5 * math.log(4 / 3), rel=1e-13)
    assert rivals.binary_kl(1.0, 0.0) == math.inf
    assert rivals.binary_kl(0.3, 0.3) == 0
    assert rivals.kl_inverse(0.0, 1e-12) == pytest.approx(1e-12, rel=1e-9)


def test_the_inverse_is_taken_of_each_element():
    shares, budgets = torch.tensor([[0.0], [0.3], [1.0]]), torch.tensor([0.0, 0.1, 2.0])
    found = rivals.kl_inverse(shares.double(), budgets)
    assert found.shape == (3, 3)
    assert found.dtype == torch.float64
    for k, share in enumerate((0.0, float(shares[1]), 1.0)):
        for n, budget in enumerate(budgets.tolist()):
            assert found[k, n] == statistics.kl_inverse(share, budget)


def test_the_bound_of_dziugaite_and_roy_is_the_one_of_their_table():
    """Dziugaite and Roy (2017), Table 1, 600 units: risk 0.028, 5144 nats, m = 55000; 0.161."""
    assert rivals.pac_bayes_kl(0.028, 5144.0, 55_000, 0.035) == pytest.approx(0.161, abs=5e-4)


@given(log_size=st.floats(0, 1e6), level=st.floats(0.01, 0.9), delta=confidence)
@settings(deadline=None, max_examples=50)
def test_occams_sample_size_is_the_first_that_suffices(log_size, level, delta):
    m = rivals.occam_sample_size(log_size, delta, level, 2.0)
    assert rivals.occam(0.0, log_size, m, delta, 2.0) <= level * (1 + 1e-9)
    if m > 1:
        assert rivals.occam(0.0, log_size, m - 1, delta, 2.0) > level * (1 - 1e-9)


def test_occam_with_one_predictor_covers_a_coin():
    """The Chernoff bound fails in at most a share delta of samples, exactly."""
    R, m, delta = 0.3, 40, 0.1
    fails = sum(
        math.comb(m, k) * R**k * (1 - R) ** (m - k)
        for k in range(m + 1)
        if rivals.occam(k / m, 0.0, m, delta) < R
    )
    assert 0 < fails <= delta


def test_the_kl_form_pays_for_its_missing_lambda():
    nats = math.log(2 * math.sqrt(100) / 0.05)
    assert rivals.pac_bayes_kl(0.0, 3.0, 100, 0.05) == pytest.approx(
        1 - math.exp(-(3 + nats) / 100), rel=1e-12
    )
    assert rivals.pac_bayes_kl(0.1, 3.0, 100, 0.05) > rivals.occam(0.1, 3.0, 100, 0.05)


@pytest.mark.parametrize(("n", "d", "W"), [(4, 2, 3), (10, 2, 1), (62, 31, 1), (50, 2, 25)])
def test_constructions_are_counted(n, d, W):
    exact = math.log(math.comb(math.comb(n, d), W))
    assert rivals.log_constructions(n, d, W) == pytest.approx(exact, rel=1e-12)
    more = rivals.log_constructions(n, d, W, classes=100, coefficient_bits=5)
    assert more == pytest.approx(exact + math.log(100) + 5 * W * math.log(2), rel=1e-12)


def test_the_constant_of_a_fair_coin_is_a_half_and_of_a_rare_loss_smaller():
    coin = pb.subgaussian_constant(torch.tensor([0.0, 1.0]))
    assert coin.item() == pytest.approx(0.5, rel=1e-12)
    frequent_loss = torch.tensor([1.0] * 9 + [0.0]).double()
    sd = frequent_loss.std(unbiased=False).item()
    assert pb.subgaussian_constant(frequent_loss).item() > 1.05 * sd
    rare_loss = 1 - frequent_loss  # light on the side that a bound on the risk needs
    assert pb.subgaussian_constant(rare_loss).item() == pytest.approx(sd, rel=1e-12)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30))
def test_the_constant_lies_between_the_spread_and_half_the_range(values):
    losses = torch.tensor(values, dtype=torch.float64)
    constant = pb.subgaussian_constant(losses).item()
    assert constant >= losses.std(unbiased=False).item() * (1 - 1e-9)
    assert constant <= (losses.max() - losses.min()).item() / 2 * (1 + 1e-6) + 1e-12


def test_the_constant_scales_and_ignores_a_shift():
    losses = torch.randn(3, 4, 50, generator=torch.Generator().manual_seed(0)).double()
    constant = pb.subgaussian_constant(losses)
    assert constant.shape == (3, 4)
    torch.testing.assert_close(pb.subgaussian_constant(7 * losses + 3), 7 * constant)
    assert pb.subgaussian_constant(torch.full((5,), 2.0)).item() == 0
    assert pb.subgaussian_constant(torch.zeros(0, 3)).shape == (0,)


def test_tensors_broadcast_and_numbers_give_numbers():
    d, W = torch.arange(1, 6), torch.tensor([[1], [7], [14], [20]])
    N, G = pb.norm_squared(20, d, W), gradient_bound(d, W)
    m = torch.tensor([1e4, 1e6], dtype=torch.float64)[:, None, None]
    sigma = pb.optimal_sigma(N, G, m, 0.01, 0.2)
    best = pb.bound(N, G, sigma, m, 0.01, 0.2)
    assert best.shape == sigma.shape == (2, 4, 5)
    assert best.dtype == torch.float64
    alone = pb.optimal_sigma(pb.norm_squared(20, 3, 7), gradient_bound(3, 7), 1e6, 0.01, 0.2)
    assert isinstance(alone, float)
    assert sigma[1, 1, 2].item() == pytest.approx(alone, rel=1e-12)
    assert pb.bound(N[:0], G[:0], 0.1, 10, 0.5).shape == (0, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pb.bound(0.0, 1.0, 0.1, 10, 0.5), "norm_squared must be positive, got 0"),
        (lambda: pb.bound(1.0, -1.0, 0.1, 10, 0.5), "sharpness must be positive, got -1"),
        (lambda: pb.bound(1.0, 1.0, 0.0, 10, 0.5), "sigma must be positive, got 0"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 0, 0.5), "m must be at least 1, got 0"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 10, -0.5), "subgaussian must be at least 0, got -0.5"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 10, 0.5, 1.0), "delta must lie between 0 and 1"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 10, 0.5, 0.0), "delta must lie .* got 0"),
        (lambda: pb.bound(1.0, 1.0, math.nan, 10, 0.5), "sigma must be finite, got nan"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 10, 0.5, 0.1, (0.0, 1.0)), "three coefficients, got 2"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 10, 0.5, 0.1, (-1, 0, 0)), r"perturbation\[0\] must be"),
        (lambda: pb.optimal_sigma(1.0, 1.0, 0.5, 0.5), "m must be at least 1, got 0.5"),
        (lambda: pb.optimal_sigma(1.0, 1.0, 10, 0.0), "subgaussian must be positive, got 0"),
        (lambda: pb.optimal_sigma(1.0, 1.0, 10, 0.5, 2.0), "delta must lie .* got 2"),
        (lambda: pb.truncated_optimum(1.0, 0.0, 10, 0.5), "sharpness must be positive"),
        (lambda: pb.sample_size(1.0, 1.0, 0.5, level=0.0), "level must be positive, got 0"),
        (lambda: pb.first_sample_size(lambda m: 1 / m, math.nan), "level must be finite"),
        (lambda: pb.norm_squared(20, 21, 1), "degree must be from 1 to 20, got 21"),
        (lambda: pb.norm_squared(20, 2, 21), "sparsity must be from 1 to 20, got 21"),
        (lambda: pb.norm_squared(20, 1.5, 1), "degree must be a whole number, got 1.5"),
        (lambda: pb.norm_squared(1, 1, 1), "n must be at least 2, got 1"),
        (lambda: pb.norm_squared(20, 2, 7, "mine"), "unknown reading 'mine'; choose one of ours"),
        (lambda: gradient_bound(0, 1), "degree must be at least 1, got 0"),
        (lambda: pb.own_width_kl(1.0, 1.0, 0), "weights must be at least 1, got 0"),
        (lambda: pb.own_width_kl(1.0, 0.0, 5), "sigma must be positive, got 0"),
        (lambda: pb.square_spread(0), "sparsity must be at least 1, got 0"),
        (lambda: pb.gaussian_kl(-1.0, 1.0), "norm_squared must be at least 0, got -1"),
        (lambda: pb.alquier(-0.1, 1.0, 10, 0.1, 0.5), "risk must be at least 0, got -0.1"),
        (lambda: pb.alquier(0.1, -1.0, 10, 0.1, 0.5), "kl must be at least 0, got -1"),
        (lambda: pb.alquier(0.1, 1.0, 10, 0.1, 0.5, 0.0), "lam must be positive, got 0"),
        (lambda: rivals.binary_kl(1.1, 0.5), "p must be from 0 to 1, got 1.1"),
        (lambda: rivals.kl_inverse(0.5, -1.0), "budget must be at least 0, got -1"),
        (lambda: rivals.occam(2.0, 1.0, 10, 0.1), "risk must be from 0 to 1, got 2"),
        (lambda: rivals.occam(0.0, -1.0, 10, 0.1), "log_size must be at least 0, got -1"),
        (lambda: rivals.occam_sample_size(1.0, level=1.0), "level must lie between 0 and 1, got 1"),
        (lambda: rivals.occam_sample_size(1.0, level=0.0), "level must lie between 0 and 1, got 0"),
        (lambda: rivals.pac_bayes_kl(0.1, 1.0, 7), "m must be at least 8, got 7"),
        (lambda: rivals.log_constructions(4, 2, 7), "sparsity must be from 1 to 6, got 7"),
        (lambda: pb.subgaussian_constant(torch.zeros(0)), "K >= 1"),
        (lambda: pb.subgaussian_constant(torch.zeros(3, 0)), r"K >= 1, got \(3, 0\)"),
        (lambda: pb.subgaussian_constant(torch.tensor(1.0)), r"K >= 1, got \(\)"),
        (lambda: pb.subgaussian_constant(torch.tensor([math.inf])), "losses must be finite"),
        (lambda: pb.subgaussian_constant(torch.ones(2), -torch.ones(1)), "lambdas must be"),
        (lambda: pb.subgaussian_constant(torch.ones(2), torch.zeros(1)), "lambdas must be pos"),
        (lambda: pb.subgaussian_constant(torch.ones(2), torch.ones(2, 2)), "lambdas .* one axis"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pb.bound("1", 1.0, 0.1, 10, 0.5), "norm_squared must be a number or a tensor"),
        (lambda: pb.bound(1.0, 1.0, True, 10, 0.5), "sigma must be a number or a tensor"),
        (lambda: pb.bound(1.0, 1.0, 0.1, 10, None), "subgaussian must be a number or a tensor"),
        (lambda: gradient_bound(torch.tensor([True]), 1), "degree must be real"),
        (lambda: gradient_bound(torch.tensor([1j]), 1), "degree must be real"),
        (lambda: pb.subgaussian_constant(torch.tensor([1, 2])), "losses must be floating"),
    ],
)
def test_input_of_the_wrong_type_is_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_the_inverse_of_no_budget_is_where_it_starts():
    for p in (0.0, 1e-15, 0.3, 1.0):
        assert rivals.kl_inverse(p, 0.0) == p
    assert rivals.kl_inverse(1.0, 2.0) == 1
    assert mpmath.mpf(rivals.kl_inverse(0.0, 1e-18)) >= -mpmath.expm1(mpmath.mpf(-1e-18))
