"""The gradient of the hand-written network by blocks: differences, closed form, search."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import SparseFunction
from helpers.rng import Rng, f64
from papers.sharper.gradients import (
    BLOCKS,
    LEFT_OUT,
    LISTED,
    flat_function,
    hidden_square,
    largest,
    random_network,
    repair_terms,
    search,
    squared_gradients,
    traces,
)
from papers.sharper.network import construct, construct_exact, forward
from papers.sharper.tabulated import gradient_bound

law = settings(deadline=None, max_examples=30)


def quoted_blocks(d, W):
    """The split of G_u by blocks that the chapter shows."""
    mlp = 64.0 * W * d**2 * (d + 1)
    return dict(zip(LISTED, (4.0, 4.0 * W, 4.0 * W * (d + 1), mlp, mlp, 0.0, 0.0), strict=True))


def position_terms(f, scales, bits):
    """The two terms of the squared gradient of the positional rows, by the chapter's formula."""
    spec, weights = construct(f, scales)
    _, inside = forward(spec, weights, bits, intermediates=True)
    a, p = inside["attention2"], inside["parities"]
    r = torch.relu(inside["prefix_sums"][..., None] + weights["b"])  # (B, n + 1, H)
    w = torch.zeros(spec.positions, dtype=torch.float64)
    w[: spec.sparsity] = f.coefficients.log() + scales[1]
    tilt = a * (p - (a * p).sum(-1, keepdim=True))
    u, q = (tilt[..., None] * r).sum(-2), tilt @ w
    S2 = f.coefficients.sum() ** 2
    return S2 * w.square().sum() * u.square().sum(-1), S2 * (q * r[:, -1].norm(dim=-1)) ** 2


def test_the_blocks_of_the_bound_sum_to_the_one_formula_of_the_house():
    for d, W in ((1, 1), (2, 10), (5, 7)):
        assert sum(quoted_blocks(d, W).values()) == gradient_bound(d, W)
    assert gradient_bound(2, 10) == 15_524, "quoted for the paper's instance"


def test_squared_gradients_are_those_of_differences():
    f = flat_function(4, 2, 3, Rng(1))
    spec, weights = construct(f, (2.0, 1.5))
    bits = Rng(2).strings(4, 3)
    found = squared_gradients((spec, weights), bits)
    assert list(found) == list(BLOCKS)
    assert len(found) == 3
    step = 1e-6
    for name, part in (
        ("v2", "v2"),
        ("WKQ2", "WKQ2"),
        ("F", "F, last row"),
        ("F", LEFT_OUT),
        ("WKQ1", "WKQ1"),
    ):
        total = torch.zeros(3, dtype=torch.float64)
        for i in range(weights[name].numel()):
            row = i // weights[name].shape[-1] if weights[name].ndim > 1 else 0
            if name == "F" and (row == spec.width - 1) != (part == "F, last row"):
                continue
            slope = 0
            for sign in (1, -1):
                moved = weights[name].clone()
                moved.view(-1)[i] += sign * step
                slope = slope + sign * forward(spec, {**weights, name: moved}, bits) / (2 * step)
            total += slope**2
        torch.testing.assert_close(
            torch.tensor(found[part].to_numpy()), total, rtol=1e-5, atol=1e-6
        )


def test_largest_is_that_of_the_sum_at_one_input():
    found = squared_gradients(construct(flat_function(5, 1, 4, Rng(0)), 20.0), cube.bits(5))
    assert largest(found) == pytest.approx(found.sum(axis=1).max())
    assert largest(found) <= found.max().sum()
    assert largest(found, LISTED) < largest(found)


@law
@given(st.integers(0, 10**6))
def test_the_positional_rows_have_their_formula(seed):
    rng = Rng(seed)
    f, scales = random_network(rng, 40.0)
    assert (f.coefficients > 0).all()
    assert f.coefficients.square().sum().item() == pytest.approx(1)
    bits = rng.strings(f.n, 4)
    found = squared_gradients(construct(f, scales), bits)[LEFT_OUT].to_numpy()
    torch.testing.assert_close(
        sum(position_terms(f, scales, bits)), torch.tensor(found), rtol=1e-9, atol=1e-9
    )


def test_hidden_square_is_that_of_the_hidden_units_where_they_are_largest():
    for d in (1, 2, 5):
        _, weights = construct(flat_function(6, d, 2, Rng(d)))
        units = torch.relu(1.0 + weights["b"])
        assert hidden_square(d) == pytest.approx(units.square().sum().item())
    with pytest.raises(ValueError, match="degree"):
        hidden_square(0)


@law
@given(st.integers(0, 10**6))
def test_the_terms_of_the_repair_bound_those_of_the_gradient(seed):
    rng = Rng(seed)
    f, scales = random_network(rng, 40.0)
    found = position_terms(f, scales, rng.strings(f.n, 8))
    for part, bound in zip(found, repair_terms(f, scales[1]), strict=True):
        assert part.max() <= bound * (1 + 1e-9)


def test_the_trace_is_twice_the_mean_square_where_the_network_fits():
    f = flat_function(4, 2, 3, Rng(3))
    trace, by_block = traces(construct_exact(f), f)
    assert trace == pytest.approx(by_block.sum(), rel=1e-11)
    trace, by_block = traces(construct(f), f)
    assert abs(trace / by_block.sum() - 1) > 1e-6, "at 2 log T it does not fit"


def test_one_tiny_coefficient_passes_every_bound_in_the_sizes():
    equal = math.sqrt(0.5)
    ratios = []
    for c in (1e-40, 1e-100, 1e-250):
        f = SparseFunction(4, torch.tensor([1, 2, 4]), f64([equal, equal, c]), "even_parity")
        network = construct_exact(f)
        assert (forward(*network, cube.bits(4)) - f.table()).abs().max() < 1e-14
        ratios.append(largest(squared_gradients(network, cube.bits(4))) / gradient_bound(1, 3))
    assert 1 < ratios[0] < ratios[1] < ratios[2]


def test_flat_functions_have_the_total_that_is_asked_for():
    f = flat_function(6, 2, 5, Rng(0), total=4.0)
    assert f.coefficients.square().sum().item() == pytest.approx(4)
    assert (f.n, f.degree, f.sparsity) == (6, 2, 5)


def test_a_longer_search_finds_no_less():
    f = flat_function(4, 1, 3, Rng(0))
    found = [
        search(lambda g, s: -g.coefficients.log().min().item() - s[1], f, (1.0, 1.0), Rng(1), k)[0]
        for k in range(12)
    ]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_a_search_climbs_within_the_class():
    f = flat_function(4, 1, 3, Rng(0))
    start = f.coefficients[0].item()
    best, found, scales = search(
        lambda g, s: -g.coefficients.log().min().item() + s[1], f, (1.0, 1.0), Rng(1), 60
    )
    assert best > 1 - math.log(start)
    assert found.coefficients.square().sum().item() == pytest.approx(1)
    assert found.coefficients.min() >= 1e-280
    assert all(0 <= s <= 400 for s in scales)
    assert best == -found.coefficients.log().min().item() + scales[1]
