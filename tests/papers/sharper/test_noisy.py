"""Near the hand-written network: its Hessian against autograd, and its bounds attacked."""

import math

import pytest
import torch

from helpers import cube
from helpers.cube import SparseFunction
from helpers.rng import Rng, f64
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.sharper import noisy
from papers.sharper.gradients import (
    flat_function,
    hidden_square,
    largest,
    repair_terms,
    squared_gradients,
)
from papers.sharper.network import construct, forward
from papers.sharper.perturbed import hidden_units
from papers.sharper.tabulated import gradient_bound, parameter_count, perturbed_trace_bound

SIZES = ((4, 1, 4), (4, 2, 3), (5, 3, 2))


def networks(n, d, W, second=None):
    f = flat_function(n, d, W, Rng(n + d))
    return f, noisy.construct_smooth(f, (None, second))  # None: 2 log n


@pytest.mark.parametrize("size", SIZES)
def test_the_smooth_network_is_exact_at_every_scale_and_away_from_kinks(size):
    n, d, W = size
    for second in (0.0, None, 30.0):
        f, (spec, weights) = networks(*size, second)
        output, inside = forward(spec, weights, cube.bits(n), intermediates=True)
        assert (output - f.table()).abs().max() < 1e-11
        margin = hidden_units(weights, inside)[1].abs().amin(-1)
        assert margin[:, W:].min().item() == pytest.approx(1 / (8 * d), rel=1e-9)
        assert margin.min() > 0
    with pytest.raises(ValueError, match="needs at least 4 bits, got 3"):
        noisy.construct_smooth(flat_function(3, 1, 1, Rng(0)))


def test_singletons_are_the_smooth_network_of_the_singletons():
    c = f64([1.1, 0.3, 0.7, 1e-30, 0.5])
    f = SparseFunction(5, 2 ** torch.arange(5), c, "even_parity")
    for second in (None, 3.0):
        spec, weights = noisy.singletons(c, second)
        known, other = noisy.construct_smooth(f, (None, second))
        assert spec == known
        assert all(torch.allclose(weights[k], other[k], rtol=1e-13) for k in noisy.MATRICES)
    for wrong in (-0.3, 0.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"must be positive and finite, found {wrong:g}"):
            noisy.singletons(f64([1.0, 1.0, wrong, 1.0, 1.0]))


@pytest.mark.parametrize("size", SIZES)
def test_hessians_are_those_of_differences_and_lanczos_finds_their_norm(size):
    _, network = networks(*size)
    x = cube.bits(size[0])[5:6]
    H = noisy.hessians(network, x)
    places = noisy.places(network[1])
    u = torch.randn(H.shape[-1], generator=Rng(0).generator, dtype=torch.float64)
    step = 1e-4 / u.norm().item()
    values = [
        forward(network[0], noisy.shifted(network, u, t * 1e-4), x).item() for t in (-1.0, 0.0, 1.0)
    ]
    curvature = (values[0] - 2 * values[1] + values[2]) / step**2
    assert curvature == pytest.approx((u @ H[0] @ u).item(), rel=1e-4)
    norm = noisy.norms(H)[0].item()
    assert noisy.hessian_norm(network, x[0]) == pytest.approx(norm, rel=1e-3)
    keep = torch.ones(H.shape[-1], dtype=torch.bool)
    start = places["F"].start
    keep[start : start + (size[0] + 1) * network[0].hidden] = False
    frozen = noisy.norms(H[:, keep][:, :, keep])[0].item()
    assert noisy.hessian_norm(network, x[0], frozen=True) == pytest.approx(frozen, rel=1e-3)
    moved = noisy.shifted(network, u, 1e-3)
    turned = noisy.norms(noisy.hessians((network[0], moved), x) - H)[0].item()
    assert noisy.hessian_norm(network, x[0], moved) == pytest.approx(turned, rel=1e-3)


@pytest.mark.parametrize("second", [0.0, None, 40.0, 400.0])
@pytest.mark.parametrize("size", SIZES)
def test_each_block_of_the_hessian_is_below_its_bound(size, second):
    _, network = networks(*size, second)
    H, places = noisy.hessians(network, cube.bits(size[0])[::3]), noisy.places(network[1])
    for frozen in (False, True):
        B = noisy.block_bounds(network, frozen=frozen)
        G = H.clone()
        if frozen:
            rows = slice(places["F"].start, places["F"].stop - network[0].hidden)
            G[:, rows], G[:, :, rows] = 0, 0
        for a, b in noisy.PAIRS:
            block = torch.linalg.matrix_norm(G[:, places[a], places[b]], 2).max().item()
            assert block <= B.loc[a, b] * (1 + 1e-9) + 1e-9, (a, b)
        assert noisy.norms(G).max() <= noisy.norm_bound(network, frozen=frozen)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_matrix_of_bounds_is_the_quadratic_form_of_the_proof(size, frozen):
    """The second derivative along a step, put together as the chapter's proof has it."""
    _, network = networks(*size, 3.0)
    spec, weights = network
    d, w = spec.degree, noisy.second_scores(network)
    V, v = weights["v2"][-1].item(), weights["v2"].norm().item()
    rho, phi = math.sqrt(hidden_square(d)), weights["F"][-1].norm().item()
    whole, R = (0, 0) if frozen else (w.norm().item(), (max(0, w.max()) - min(0, w.min())).item())
    B = noisy.block_bounds(network, frozen=frozen)
    for seed in range(5):
        u = torch.rand(7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        of = dict(zip(B.index, u.tolist(), strict=True))
        psi, alpha, nu, G_b = of["F"], of["WKQ2"], of["v2"], of["G"] + of["b"]
        eta = math.sqrt(6) / 4 * of["WKQ1"] + math.sqrt(2) * of["WV1"]
        hidden = G_b + math.sqrt(4 * (d + 1)) * eta
        token = rho * psi + phi * G_b
        read = math.sqrt(3) * nu + v * rho * psi + 2 * V * phi * G_b
        read_twice = 2 * nu * token + 2 * v * psi * hidden + 2 * V * phi * of["G"] * eta
        score = math.sqrt(6) * alpha + rho * (whole + R) * psi
        score_twice = 2 * math.sqrt(3) * alpha * token
        score_twice += 2 * math.sqrt(2) * alpha * (rho * psi + 2 * phi * G_b)
        score_twice += 2 * rho**2 * whole * psi**2 + 2 * (2 * whole + R) * psi * hidden
        form = read_twice + score * read / 2 + score_twice * V / 4 + 3 / 16 * V * score**2
        assert (u @ f64(B.to_numpy().copy()) @ u).item() == pytest.approx(form, rel=1e-12)


def test_the_part_that_grows_is_a_part_and_nearly_all_of_long_networks():
    _, network = networks(4, 1, 4, 6.0)
    norm = noisy.norms(noisy.hessians(network, cube.bits(4)))
    part = noisy.positions_norm(network, cube.bits(4))
    assert (part <= norm * (1 + 1e-12)).all()
    long = noisy.singletons(torch.full((60,), 60**-0.5).double())
    x = (torch.arange(60) < 47).long()
    assert noisy.positions_norm(long, x[None]).item() > 0.95 * noisy.hessian_norm(long, x)


def test_the_gradient_s_bound_is_the_repaired_one_for_the_paper_s_network():
    f = flat_function(8, 2, 3, Rng(0))
    known = float(gradient_bound(2, 3)) + sum(repair_terms(f, 2 * math.log(8)))
    assert noisy.gradient_square(construct(f)) == pytest.approx(known, rel=1e-12)
    assert noisy.gradient_square(construct(f), 0.0) == float(gradient_bound(2, 3))


@pytest.mark.parametrize("second", [0.0, 3.0])
@pytest.mark.parametrize("size", SIZES)
def test_the_gradient_s_bound_is_the_formula_of_the_docstring(size, second):
    n, d, W = size
    f, network = networks(*size, second)
    w, V = noisy.second_scores(network), network[1]["v2"][-1].item()
    ratio = (V / f.coefficients.sum().item()) ** 2  # of V and S, squared
    assert ratio > 1.001, "the idle positions have a share"
    rows = (w**2).sum().item() / 16 + (noisy.spread(w) / 4 + 1) ** 2 + n - W
    for new_term in (1.0, 0.25):
        expected = ratio * float(gradient_bound(d, W)) + new_term * V**2 * hidden_square(d) * rows
        assert noisy.gradient_square(network, new_term) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("second", [0.0, None, 40.0])
@pytest.mark.parametrize("size", SIZES)
def test_the_whole_gradient_of_the_smooth_network_is_below_its_bound(size, second):
    _, network = networks(*size, second)
    found = largest(squared_gradients(network, cube.bits(size[0])))
    assert found <= noisy.gradient_square(network)


@pytest.mark.parametrize(("distance", "error"), [(0.0, 0.3), (1e-4, 0.0), (0.05, 0.2)])
def test_the_bound_on_a_moved_trace_is_the_formula_of_the_docstring(distance, error):
    _, network = networks(4, 2, 3)
    slope, r = math.sqrt(noisy.gradient_square(network)), 0.125
    K = noisy.norm_bound(network) + 12 * network[1]["v2"].norm().item() * distance / r**3
    off = error + slope * distance + K * distance**2 / 2
    expected = 2 * (slope + K * distance) ** 2 + 2 * off * K * parameter_count(4, 2)
    found = noisy.trace_bound(network, r, distance, error=error)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_within_the_safe_radius_the_output_stays_near_and_the_trace_below_its_bound(size):
    f, network = networks(*size)
    spec, weights = network
    bits = cube.bits(size[0])
    radius = noisy.safe_radius(network, bits)
    for k, direction in enumerate(
        (Rng(1).normal(parameter_count(*size[:2])), noisy.steepest(network, bits[3]))
    ):
        whole = noisy.shifted(network, direction, radius)
        far = sum((whole[k] - weights[k]).square().sum() for k in weights).sqrt()
        assert far.item() == pytest.approx(radius, rel=1e-9)
        drift = (forward(spec, whole, bits) - f.table()).abs().max()
        assert drift <= weights["v2"].norm() / 4
        for share in (0.5, 1e-6):
            moved = noisy.shifted(network, direction, share * radius)
            loss = SquaredLoss(lambda w, x: forward(spec, w, x), bits, f.table())
            trace = abs(float(hessian_trace(loss, moved, "exact")))
            assert trace <= noisy.trace_bound(network, radius, share * radius), k
    with pytest.raises(ValueError, match="the distance must be at most r/2"):
        noisy.trace_bound(network, radius, 0.6 * radius)


def test_the_steepest_direction_beats_random_ones():
    _, network = networks(4, 1, 4)
    x = cube.bits(4)[5]
    step = 1e-4
    directions = [noisy.steepest(network, x)] + [
        Rng(k).normal(parameter_count(4, 1)) for k in range(5)
    ]
    grown = [
        largest(squared_gradients((network[0], noisy.shifted(network, u, step)), x[None]))
        for u in directions
    ]
    assert max(grown) == grown[0]


def test_another_gradient_may_stand_in_the_formula_of_theorem_17():
    size = (20, 2, 10, 1e-8)
    assert perturbed_trace_bound(*size, squared_gradient=15524.0) == perturbed_trace_bound(*size)
    assert perturbed_trace_bound(*size, squared_gradient=20000.0) > perturbed_trace_bound(*size)


@pytest.mark.parametrize(
    ("matrices", "named"),
    [
        (torch.ones(3), r"matrices \(\*, P, P\), P >= 1, got \(3,\)"),
        (torch.ones(2, 3), r"got \(2, 3\)"),
        (torch.ones(2, 0, 0), r"got \(2, 0, 0\)"),
        (torch.full((2, 2), math.nan), "matrices must be finite, got nan"),
        (torch.full((2, 2), math.inf), "matrices must be finite, got inf"),
    ],
)
def test_what_has_no_operator_norm_is_named(matrices, named):
    with pytest.raises(ValueError, match=named):
        noisy.norms(matrices)
