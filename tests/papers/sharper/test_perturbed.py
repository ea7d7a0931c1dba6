"""The hand-written network under noise: tabulated terms by hand, tails, no flips, our bounds."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from helpers import cube
from helpers.rng import Rng
from papers.sharper import perturbed as p
from papers.sharper import tabulated as t
from papers.sharper.gradients import hidden_square
from papers.sharper.network import construct, forward, leaks

law = settings(deadline=None, max_examples=30)
EPS = torch.finfo(torch.float64).eps
SIZES = st.tuples(st.integers(2, 40), st.integers(1, 2), st.integers(1, 2))
sigmas = st.floats(1e-9, 1.0)
root2 = math.sqrt(2)


def function(n, d, W, seed=0):
    return cube.sparse_function(n, d, W, torch.Generator().manual_seed(seed), "even_parity")


def close(found, by_hand):
    return found == pytest.approx(by_hand, rel=1e-12)


def test_the_output_term_is_the_tabulated_one():
    log = math.log(20)
    assert close(t.output_term(20, 1, 1, 1.0), 128 * log + math.sqrt(42) + 32)
    assert close(t.output_term(20, 3, 4, 0.1), 0.1 * (4608 * log + math.sqrt(42) + 576))


def test_the_output_term_is_made_of_its_lemmas():
    n, d, W, s = 12, 2, 5, 1e-3
    scores = 2 * math.log(n) * math.sqrt(W)
    assert close(t.parity_noise(d, s), 128 * s)
    assert close(t.attention_noise(n, d, W, s), 2 * scores * t.parity_noise(d, s))
    whole = math.sqrt(W) * (t.attention_noise(n, d, W, s) + t.parity_noise(d, s))
    assert close(t.output_term(n, d, W, s), whole + s * math.sqrt(2 * 13))


def test_each_term_of_the_gradient_is_the_tabulated_one():
    log, k = math.log(6), 7
    by_hand = (128 * root2 * log + 192 + 128 * root2 * log + 64 * root2 * k * log) + (
        128 * k * log + 1024 * log + 8 * log * k + 256 * k + 32 * k**2
    )
    assert close(t.gradient_term(6, 1, 1, 1.0), by_hand)
    d, W = 4, 4  # roots are whole
    by_hand = (
        128 * root2 * 16 * 2 * log
        + 192 * 2 * 16
        + 128 * root2 * 16 * 16 * log
        + 64 * root2 * k * 16 * 16 * log
        + 128 * k * 16 * log * 8
        + 1024 * 128 * 8 * log
        + 8 * 4 * log * k
        + 256 * 32 * 16 * k
        + 32 * 2 * 16 * k**2
    )
    assert close(t.gradient_term(6, d, W, 1.0), by_hand)


def test_as_tabulated_two_terms_of_the_gradient_do_not_vanish():
    n, d, W = 9, 4, 4
    rest = (128 + 64 * 10) * root2 * 256 * math.log(n)
    assert close(t.gradient_term(n, d, W, 0.0, as_tabulated=True), rest)
    assert t.gradient_term(n, d, W, 0.0) == 0
    both = t.gradient_term(n, d, W, 1e-3, as_tabulated=True)
    assert close(both - (1 - 1e-3) * rest, t.gradient_term(n, d, W, 1e-3))
    assert close(t.gradient_term(n, d, W, 1.0, as_tabulated=True), t.gradient_term(n, d, W, 1.0))


def test_the_hessian_at_the_construction_is_the_tabulated_one():
    # n = 8, so k = 9; d = 1, W = 4.
    root = math.sqrt(72)
    by_hand = 16 + 24 + 2 * math.sqrt(48) + math.sqrt(768) + 3 * math.sqrt(192)
    by_hand += 8 * root2 * root + 2 * root + 8 * root2 * 9 * 2 + 6 * root2 * 27
    assert close(t.hessian_at_construction(8, 1, 4), by_hand)
    by_hand = 32 + 48 + 2 * math.sqrt(96) + math.sqrt(4608) + 9 * math.sqrt(384)
    by_hand += 24 * root2 * root + 6 * root + 24 * root2 * 18 + 18 * root2 * 27
    assert close(t.hessian_at_construction(8, 3, 4), by_hand)


def test_each_term_of_the_hessian_is_the_tabulated_one():
    n, d, W, k = 8, 4, 4, 9
    log = math.log(n)
    by_hand = (
        768 * root2 * 16 * 8 * k * log
        + 256 * 8 * 81 * 8 * log
        + 1024 * 128 * 8 * log
        + 512 * 32 * 8 * 81 * log
        + 1536 * 128 * 32 * 3 * log**2
        + 768 * 16 * 32 * 9 * log**2
        + 16 * 16 * 243 * log
    )
    assert close(t.hessian_term(n, d, W, 1.0), by_hand)


def test_the_sharpness_is_the_tabulated_one():
    assert t.gradient_bound(1, 1) == 272
    assert t.gradient_bound(2, 25) == 38804


@law
@given(SIZES)
def test_the_weights_are_counted(size):
    n, d, _ = size
    weights = construct(function(n, d, 1))[1]
    assert t.parameter_count(n, d) == sum(block.numel() for block in weights.values())
    tabulated = t.parameter_count(n, d, as_tabulated=True)
    assert t.parameter_count(n, d) - tabulated == 6 * (d + 1)
    assert tabulated == 3 * (n + 2) ** 2 + n + 2 + (8 * n + 14) * (d + 1)


@law
@given(SIZES, sigmas)
def test_the_terms_are_multiples_of_the_noise(size, sigma):
    for term in (t.output_term, t.gradient_term, t.hessian_term):
        assert close(term(*size, 2 * sigma), 2 * term(*size, sigma))


@law
@given(SIZES, sigmas)
def test_the_perturbation_term_is_put_together_from_its_parts(size, sigma):
    n, d, W = size
    for tabulated in (False, True):
        G = t.gradient_term(*size, sigma, as_tabulated=tabulated)
        H = t.hessian_at_construction(*size) + t.hessian_term(*size, sigma)
        second = t.output_term(*size, sigma) * H * t.parameter_count(n, d, as_tabulated=True)
        first = 2 * G * (2 * math.sqrt(t.gradient_bound(d, W)) + G)
        assert close(t.perturbation_term(*size, sigma, as_tabulated=tabulated), first + second)
    G = math.sqrt(t.gradient_bound(d, W)) + t.gradient_term(*size, sigma)
    second = t.output_term(*size, sigma) * H * t.parameter_count(n, d)
    assert close(t.perturbed_trace_bound(*size, sigma), 2 * G**2 + 2 * second)


def test_the_paper_s_example_has_the_known_value():
    assert t.perturbation_term(50, 2, 25, 1e-3) == pytest.approx(9.106e12, rel=1e-3)
    assert t.perturbation_term(50, 2, 25, 1e-9, as_tabulated=True) == pytest.approx(
        4.402e15, rel=1e-3
    )


@law
@given(st.integers(1, 400), st.floats(1e-12, 0.99), st.integers(1, 10**6))
def test_chi_variables_stay_below_their_tail(freedom, failure, count):
    level = p.chi_tail(freedom, failure, count)
    t = math.log(count / failure)
    assert close(level**2, freedom + 2 * math.sqrt(freedom * t) + 2 * t)
    assert stats.chi.sf(level, freedom) <= failure / count
    quantile = p.chi_quantile(freedom, failure, count)
    assert quantile <= level
    assert stats.chi.sf(quantile, freedom) == pytest.approx(failure / count, rel=1e-6)


def test_the_first_attention_moves_less_than_its_bound():
    n, failure, sigma, generator = 5, 0.02, 0.02, torch.Generator().manual_seed(1)
    chi, normal = p.chi_quantile(7, 0.01, 12), p.chi_quantile(1, 0.01, 144)
    assert close(p.first_attention_noise(n, failure), root2 * chi + normal)
    spec, weights = construct(function(n, 1, 5))
    bits = cube.bits(n)
    noisy = p.perturb(weights, sigma, 100, generator)
    before = p.hidden_units(weights, forward(spec, weights, bits, intermediates=True)[1])[0]
    after = p.hidden_units(noisy, forward(spec, noisy, bits, intermediates=True)[1])[0]
    largest = (after - before).norm(dim=-1).flatten(1).amax(1)
    assert (largest > sigma * p.first_attention_noise(n, failure)).double().mean() <= failure
    assert largest.max() > 0.3 * sigma * p.first_attention_noise(n, failure), "not vacuous"


@pytest.mark.parametrize(("n", "d", "W"), [(4, 1, 4), (6, 3, 2), (7, 2, 1)])
def test_no_active_unit_flips_where_it_must_not(n, d, W):
    f = function(n, d, W)
    spec, weights = construct(f)
    safe, margin = p.no_flip_sigma(n, d, W, 0.05), p.active_margin(n, d)
    assert close(margin, 1 / (4 * d) - leaks(f)[0])

    def flipping(sigma):
        noisy = p.perturb(weights, sigma, 200, torch.Generator().manual_seed(2))
        units = [
            p.hidden_units(w, forward(spec, w, cube.bits(n), intermediates=True)[1])[1] > 0
            for w in (weights, noisy)
        ]
        return (units[0] != units[1])[..., :W, :].flatten(1).any(1).double().mean()

    assert flipping(safe) <= 0.05
    assert flipping(30 * safe) > 0.9
    linear = p.chi_quantile(1, 0.0125, 4 * W * (n + 1)) + root2 * (
        p.chi_quantile(1, 0.0125, 2 * (n + 1)) + p.chi_quantile(1, 0.0125, 8 * (d + 1))
    )
    square = p.chi_quantile(n + 2, 0.00625, 4 * (d + 1)) * p.first_attention_noise(n, 0.00625)
    assert close(linear * safe + square * safe**2, margin)


def test_hidden_units_are_those_of_the_forward_pass():
    spec, weights = construct(function(5, 2, 3))
    noisy = p.perturb(weights, 0.1, 3, torch.Generator().manual_seed(0))
    _, inside = forward(spec, noisy, cube.bits(5), intermediates=True)
    Y, units = p.hidden_units(noisy, inside)
    assert (Y[..., -1] - inside["prefix_sums"]).abs().max() <= 100 * EPS
    written = units.relu() @ noisy["F"][:, None].mT
    assert (written[..., -1] - inside["parities"]).abs().max() <= 1000 * EPS


def test_a_random_network_is_that_of_its_function_and_goes_beyond_62_bits():
    f = cube.SparseFunction(5, torch.tensor([1, 2, 4]), torch.full((3,), 3**-0.5).double())
    f = cube.SparseFunction(5, f.masks, f.coefficients, "even_parity")
    spec, weights = p.random_network(5, 1, 3, Rng(0))
    by_function = construct(f)
    assert spec == by_function[0]
    for name, block in by_function[1].items():
        assert (weights[name] - block).abs().max() < 1e-7, name  # 3**-0.5 of a float32
    spec, weights = p.random_network(70, 3, 9, Rng(0), 70**-4.0)
    assert (weights["WKQ1"][:9, :70] > 0).sum(1).tolist() == [3] * 9
    c = (weights["WKQ2"][70, :9] - 2 * math.log(70)).exp()
    assert close(c.square().sum().item(), 1)
    assert close((c[0] / c[-1]).item(), 70**-4.0)


def moves(noise, n, d, W, sigma):
    """First-order moves: parity at position 1, MLP Jacobian there, attention 2; and w, R."""
    spec, weights = p.random_network(n, d, W, Rng(0))
    bits = cube.bits(n)
    found = []
    for each in (weights, {k: v + sigma * noise(k, v) for k, v in weights.items()}):
        _, inside = forward(spec, each, bits, intermediates=True)
        on = (p.hidden_units(each, inside)[1][:, 0] > 0).double()
        jacobian = (each["F"] * on[:, None, :]) @ each["G"]
        found.append((inside["parities"], jacobian, inside["attention2"]))
    p_, j_, a_ = ((y - x) / sigma for x, y in zip(*found, strict=True))
    return p_, j_.norm(dim=-2).max().item(), a_.abs().sum(-1).max().item(), weights


def test_an_active_parity_has_the_spread_of_its_formula():
    rng, found = Rng(1), []
    for _ in range(400):
        p_, _, _, weights = moves(lambda k, v: rng.normal(*v.shape), 4, 2, 1, 1e-6)
        found.append(p_[-1, 0])  # both bits of its subset are ones
    spread = p.parity_spread(weights, torch.ones(()).double()).item()
    # The standard deviation of 400 numbers has the relative error 1 / sqrt(800).
    assert torch.stack(found).std().item() == pytest.approx(spread, rel=5 / math.sqrt(800))


@pytest.mark.parametrize(("n", "d", "W"), [(4, 1, 4), (6, 2, 3), (6, 3, 1)])
def test_drawn_noise_stays_below_the_bounds_of_first_order(n, d, W):
    rng = Rng(2)
    for _ in range(20):
        _, j_, a_, weights = moves(lambda k, v: rng.normal(*v.shape), n, d, W, 1e-6)
        w = weights["WKQ2"][n]
        R = (w.max().clamp(min=0) - w.min().clamp(max=0)).item()

        assert j_ <= p.mlp_jacobian_noise(n, d, 1e-3)
        assert a_ <= p.second_attention_noise(n, d, 1e-3, w.norm().item(), R)


def test_the_bounds_of_first_order_are_put_together_as_written():
    n, d, f = 9, 2, 0.03
    phi, rho = 4 * d * math.sqrt(d // 2 + 1), math.sqrt(hidden_square(d))
    b = construct(function(n, d, 1))[1]["b"]
    reach = ((1 + b).relu() - b.relu()).norm().item()

    def chi(k, part, count=1):
        return p.chi_quantile(k, part, count)

    attention = 2 * chi(1, f / 3, 40) + (reach * 5 + rho * 7) / 2 * chi(12, f / 3)
    assert close(p.second_attention_noise(n, d, f, 5, 7), attention)
    jacobian = phi * chi(12, f / 2, 11) + math.sqrt(12) * chi(11, f / 2, 3)
    assert close(p.mlp_jacobian_noise(n, d, f), jacobian)
    alpha = p.second_attention_noise(n, d, f / 4, 5, 7)
    beta = 4 * (root2 * chi(1, f / 12, 20) + chi(1, f / 12, 400))
    beta += (root2 * phi + rho) * chi(12, f / 12, 3)
    row, gamma = chi(11, f / 4, 23), 2 * (1.5 * alpha + beta) + root2 * chi(1, f / 4, 20)
    slopes = 2 * alpha + row + (5 + 3.5) * gamma + 2 * root2 * row
    slopes += 2 * (rho / 2 + reach / 4) * 5 * chi(12, f / 12)
    assert close(p.output_gradient_noise(n, d, f, 2, 5, 7), slopes)


def test_noise_is_normal_scaled_and_repeatable():
    weights = {"a": torch.ones(300, 400).double(), "b": torch.zeros(3).double()}
    first, double = (p.perturb(weights, s, 2, torch.Generator().manual_seed(4)) for s in (0.1, 0.2))
    assert first["a"].shape == (2, 300, 400)
    assert torch.allclose(2 * (first["a"] - 1), double["a"] - 1, atol=1e-12)
    # The standard deviation of 240000 numbers has the relative error 1 / sqrt(480000).
    assert first["a"].std().item() == pytest.approx(0.1, rel=5 / math.sqrt(480_000))
    assert first["a"][0].ne(first["a"][1]).any()
    assert torch.equal(p.perturb(weights, 0.0, 1, torch.Generator())["a"][0], weights["a"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: t.output_term(0, 1, 1, 0.1), "n must be at least 1, got 0"),
        (lambda: t.output_term(5, 6, 1, 0.1), "degree must lie between 1 and n = 5, got 6"),
        (lambda: t.gradient_term(5, 1, 0, 0.1), "sparsity must lie between 1 and n = 5, got 0"),
        (lambda: t.hessian_term(5, 1, 1, -0.1), "sigma must be finite and at least 0, got -0.1"),
        (lambda: t.hessian_term(5, 1, 1, math.nan), "sigma must be finite"),
        (lambda: t.parameter_count(5, 0), "degree must lie between"),
        (lambda: t.gradient_bound(0, 1), "degree must be at least 1, got 0"),
        (lambda: p.chi_tail(0, 0.1), "freedom must be at least 1, got 0"),
        (lambda: p.chi_tail(1, 0.0), "failure must lie between 0 and 1, got 0.0"),
        (lambda: p.chi_quantile(1, 1.0), "failure must lie between 0 and 1"),
        (lambda: p.chi_quantile(1, 0.1, 0), "count must be at least 1, got 0"),
        (lambda: p.first_attention_noise(3, 2.0), "failure must lie between 0 and 1"),
        (lambda: p.no_flip_sigma(3, 1, 1, 0.1), "at n = 3 and d = 1 the leak of attention reaches"),
        (lambda: p.perturb({}, -1.0, 1, torch.Generator()), "sigma must be finite"),
        (lambda: p.perturb({}, 1.0, 0, torch.Generator()), "count must be at least 1, got 0"),
        (lambda: p.mlp_jacobian_noise(3, 1, 0.0), "failure must lie between"),
        (lambda: p.second_attention_noise(0, 1, 0.1, 1, 1), "n must be at least 1"),
        (lambda: p.output_gradient_noise(3, 1, 2.0, 1, 1, 1), "failure must lie between"),
        (lambda: p.random_network(3, 1, 4, Rng(0)), "sparsity must lie between"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
