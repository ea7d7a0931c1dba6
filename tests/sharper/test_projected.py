"""The network on random codes: the narrow network itself, laws of the codes, bounds, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.sharper import network as sharper
from helpers.sharper import projected as p

law = settings(deadline=None, max_examples=30)
SIZES = st.tuples(st.integers(4, 8), st.integers(1, 3), st.integers(1, 3))


def network(n, d, W, seed=0, make=sharper.construct):
    f = cube.sparse_function(n, d, W, torch.Generator().manual_seed(seed), "even_parity")
    return make(f)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def narrow_by_hand(weights, J, bits):
    """The network as written, on tokens of columns + 1 numbers; one draw, one input at a time."""
    found = []
    for x in bits.double():
        value = torch.cat((x, torch.zeros(1).double()))
        X = torch.cat((J, value[:, None]), 1)
        Y = (X @ weights["WKQ1"] @ X.T).softmax(-1) @ X @ weights["WV1"]
        M = torch.relu(Y @ weights["G"].T + weights["b"]) @ weights["F"].T
        Z = torch.cat((J, torch.zeros_like(value)[:, None]), 1) + M
        a = (Z[-1] @ weights["WKQ2"] @ Z.T).softmax(-1)
        found.append(a @ Z @ weights["v2"])
    return torch.stack(found)


@law
@given(SIZES, st.integers(1, 12), st.integers(0, 99), st.booleans())
def test_the_outputs_are_those_of_the_narrow_network(size, width, seed, mended):
    make = sharper.construct_exact if mended else sharper.construct
    spec, weights = network(*size, seed, make)
    J = p.codes(spec.positions, width, 2, seeded(seed))
    bits = cube.bits(spec.n)[:: 2 ** (spec.n - 3)]
    found, narrow = p.forward(spec, weights, J, bits), p.project(weights, J)
    for i in range(2):
        by_hand = narrow_by_hand(
            {k: v[i] if k != "b" else v for k, v in narrow.items()}, J[i], bits
        )
        largest = max(p.projected_scores(weights[k], J).abs().max() for k in ("WKQ1", "WKQ2"))
        tol = 1e-12 * (1 + largest) * (1 + weights["v2"].abs().sum()) * (1 + J.square().sum())
        assert (found[i] - by_hand).abs().max() < tol


@law
@given(SIZES, st.integers(0, 99))
def test_one_hot_codes_give_the_wide_network(size, seed):
    spec, weights = network(*size, seed)
    bits = cube.bits(spec.n)
    one_hot = torch.eye(spec.positions, dtype=torch.float64)[None]
    gap = p.forward(spec, weights, one_hot, bits)[0] - sharper.forward(spec, weights, bits)
    assert gap.abs().max() < 1e-12
    assert torch.equal(p.project(weights, one_hot)["WKQ1"][0], weights["WKQ1"])


@law
@given(SIZES, st.integers(1, 12), st.integers(0, 99))
def test_a_rotation_of_the_codes_changes_no_score(size, width, seed):
    spec, weights = network(*size, seed)
    J = p.codes(spec.positions, width, 2, seeded(seed))
    rotation = torch.linalg.qr(torch.randn(width, width, dtype=torch.float64))[0]
    before, after = (p.projected_scores(weights["WKQ1"], c) for c in (J, J @ rotation))
    assert (before - after).abs().max() < 1e-12 * (1 + before.abs().max())


def mean_and_error(samples):
    return samples.mean(0), samples.std(0) / math.sqrt(len(samples))


@pytest.mark.parametrize("width", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("kind", [p.codes, p.rotated_codes])
def test_inner_products_of_codes_have_the_moments_of_normal_codes(width, kind):
    J = kind(4, width, 20_000, seeded(width))
    off = (J @ J.mT - torch.eye(4, dtype=torch.float64)).flatten(1)
    mean, error = mean_and_error(off)
    assert (mean.abs() < 5 * error).all()
    squares, error = mean_and_error(off.square())
    expected = (1 + torch.eye(4, dtype=torch.float64).flatten()) / width
    assert ((squares - expected).abs() < 5 * error).all()
    triple = (J @ J.mT)[:, 0, 1] * (J @ J.mT)[:, 1, 2] * (J @ J.mT)[:, 2, 0]
    mean, error = mean_and_error(triple)
    assert (mean - 1 / width**2).abs() < 5 * error


def test_rotated_codes_are_never_wider_than_the_positions():
    assert p.rotated_codes(5, 10**9, 3, seeded()).shape == (3, 5, 5)
    assert p.rotated_codes(5, 2, 3, seeded()).shape == (3, 5, 2)
    assert p.code_error(p.rotated_codes(5, 10**12, 3, seeded())).max() < 1e-5


@pytest.mark.parametrize("width", [1, 2, 7])
def test_the_mean_square_norm_and_the_mean_scores_are_the_formulas(width):
    W = torch.randn(5, 5, generator=seeded(1), dtype=torch.float64)
    W = W - 0.5 * W.T + 2 * torch.eye(5)
    padded = torch.nn.functional.pad(W, (0, 1, 0, 1))
    J = p.codes(5, width, 40_000, seeded(2))
    mean, error = mean_and_error((J.mT @ W @ J).square().sum((-2, -1)))
    assert abs(mean - p.expected_square_norm(W, width)) < 4 * error
    assert abs(mean - W.square().sum()) > 10 * error
    mean, error = mean_and_error(p.projected_scores(padded, J))
    expected = W + (W.T + W.trace() * torch.eye(5)) / width
    assert ((mean - expected).abs() < 5 * error).all()


@law
@given(SIZES, st.integers(1, 1000), st.integers(0, 99))
def test_no_score_is_further_off_than_the_bound(size, width, seed):
    spec, weights = network(*size, seed)
    J = p.rotated_codes(spec.positions, width, 5, seeded(seed))
    for name in ("WKQ1", "WKQ2"):
        error = (p.projected_scores(weights[name], J) - weights[name][:-1, :-1]).abs()
        assert (error <= p.score_error_bound(weights[name], J) * (1 + 1e-9)).all()


def test_the_bound_is_attained_by_two_positions():
    W = torch.zeros(3, 3, dtype=torch.float64)
    W[0, 0] = 7.0
    J = torch.tensor([[[1.1, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    error = (p.projected_scores(W, J) - W[:-1, :-1]).abs().max().item()
    assert error == pytest.approx(7 * (1.21**2 - 1), rel=1e-12)
    assert p.score_error_bound(W, J).max().item() == pytest.approx(error, rel=1e-12)


def test_the_width_is_that_of_the_lemma():
    assert p.width_for(20, 0.1) == 2397
    assert p.width_for(20, 1.0) == 24
    assert p.width_for(3, 2.0) == 3


def test_bad_input_is_named():
    spec, weights = network(4, 2, 2)
    J, bits = p.codes(5, 3, 2, seeded()), cube.bits(4)
    for wrong in ({"positions": 0}, {"width": 0}, {"draws": -1}):
        sizes = {"positions": 2, "width": 2, "draws": 2} | wrong
        for kind in (p.codes, p.rotated_codes):
            with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be at least 1"):
                kind(**sizes, generator=seeded())
    with pytest.raises(ValueError, match="n must be at least 2, got 1"):
        p.width_for(1, 0.1)
    for eps in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="eps must be above 0"):
            p.width_for(5, eps)
    for call in (lambda: p.project(weights, J[:, 1:]), lambda: p.project(weights, J[0])):
        with pytest.raises(ValueError, match=r"codes of shape \(draws, 5, columns\)"):
            call()
    with pytest.raises(ValueError, match="square block"):
        p.projected_scores(weights["WKQ1"][1:], J)
    with pytest.raises(ValueError, match="must not depend on the values"):
        p.projected_scores(torch.ones(6, 6), J)
    with pytest.raises(ValueError, match=r"shape \(B, 4\)"):
        p.forward(spec, weights, J, bits[0])
    with pytest.raises(TypeError, match="bits must be integer"):
        p.forward(spec, weights, J, bits.double())
    with pytest.raises(ValueError, match="G must read and write"):
        p.forward(spec, weights | {"G": torch.ones_like(weights["G"])}, J, bits)
    with pytest.raises(ValueError, match="square matrix"):
        p.expected_square_norm(torch.ones(2, 3), 2)
    with pytest.raises(ValueError, match="width must be at least 1"):
        p.expected_square_norm(torch.ones(2, 2), 0)
