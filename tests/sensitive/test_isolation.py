"""Isolation in weight space: the lemma's inequality, steps and what they change, the door."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import average_sensitivity, noise_operator
from helpers.sensitive.isolation import (
    crossing,
    distance_bound,
    leading_term,
    members,
    moved,
    parity_sharpness,
)
from helpers.sensitive.parity import forward, parity_transformer
from helpers.sharpness import direction_sharpness

law = settings(deadline=None, max_examples=100)
seeds = st.integers(0, 2**31)
alphas = st.floats(1.001, 1e4)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def distance(f, g):
    return (f - g).square().mean(-1).sqrt()


@law
@given(st.integers(1, 8), seeds, alphas, st.floats(-1, 1))
def test_functions_are_as_far_apart_as_the_lemma_says(n, seed, alpha, rho):
    f, g = torch.randn(2, 2**n, generator=generator(seed), dtype=torch.float64)
    for other in (g, noise_operator(f, rho), f - f.mean(), 0 * f, 1e-3 * g):
        assert distance(f, other) - distance_bound(f, other, alpha) >= -1e-9


@pytest.mark.parametrize("n", [1, 4, 9])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 100.0])
def test_parity_against_zero_is_tight(n, alpha):
    f = cube.parity(n)
    assert distance_bound(f, torch.zeros_like(f), alpha) == pytest.approx(1, abs=1e-12)


@law
@given(st.integers(1, 7), seeds, alphas, st.floats(0.1, 10))
def test_the_bound_scales_with_the_functions(n, seed, alpha, factor):
    f, g = torch.randn(2, 2**n, generator=generator(seed), dtype=torch.float64)
    bound = distance_bound(f, g, alpha)
    assert torch.allclose(
        distance_bound(factor * f, factor * g, alpha), factor * bound, rtol=1e-9, atol=1e-9
    )


def test_the_leading_term_by_hand():
    half = torch.tensor(8.0, dtype=torch.float64)
    one = torch.tensor(1.0, dtype=torch.float64)
    assert leading_term(half, one, 16, 2.0) == pytest.approx(4 / 12)
    assert leading_term(half, one, 16, 5.0) == pytest.approx(0.8 * 8 / (16 - 1.6))
    assert leading_term(half, one, 16, math.inf) == pytest.approx(0.5)
    f = torch.stack((cube.parity(4), cube.first(4)))
    bound = distance_bound(f, torch.zeros_like(f), 2.0)
    assert torch.allclose(bound, leading_term(average_sensitivity(f), f[:, 0] ** 2, 4, 2.0).sqrt())


def test_the_loss_to_a_sensitive_neighbour_by_hand():
    f = 2 * cube.parity(4)  # A = 4 for every alpha, as(f) = 16
    g = 0.2 * cube.parity(4)  # as(g) = 0.16
    assert distance_bound(f, g, 3.0) == pytest.approx(2 - 2 * math.sqrt(3 * 0.16 / 16))


def test_steps_have_their_length_and_leave_the_positions():
    _, weights = parity_transformer(6)
    stepped = moved(weights, 0.3, 5, generator())
    assert stepped["positions"] is weights["positions"]
    squares = [
        (stepped[k] - weights[k]).flatten(1).square().sum(1) for k in weights if k != "positions"
    ]
    assert torch.allclose(sum(squares), torch.full((5,), 0.09, dtype=torch.float64))
    one = moved(weights, 0.3, 5, generator(), only=["readout"])
    assert all(one[k] is weights[k] for k in weights if k != "readout")
    assert torch.allclose(
        (one["readout"] - weights["readout"]).norm(dim=1), torch.tensor(0.3).double()
    )


def test_steps_and_sharpness_are_those_of_direction_sharpness():
    spec, weights = parity_transformer(12)
    x = torch.randint(0, 2, (7, 12), generator=generator(3))
    known = direction_sharpness(
        lambda w, x: forward(spec, w, x), weights, x, 0.1, 6, generator(), without="positions"
    )
    ours = forward(spec, moved(weights, 0.1, 6, generator()), x)
    values = (ours - forward(spec, weights, x)).square().mean(-1)
    assert torch.allclose(known.values, values, rtol=1e-9, atol=1e-12)


def test_the_sharpness_of_parity_uses_each_step_with_its_own_strings(monkeypatch):
    draws, strings, n, rho = 5, 3, 10, 0.2
    source = generator(1)
    spec, weights = parity_transformer(n)
    stepped = moved(weights, rho, draws, source)
    x = torch.randint(0, 2, (draws, strings, n), generator=source, dtype=torch.uint8)
    still = 1 - 2.0 * (x.sum(-1) % 2)
    wanted = (forward(spec, stepped, x) - still).square().mean(-1)
    found = parity_sharpness(n, rho, draws, strings, generator(1))
    assert torch.allclose(found.values, wanted, rtol=1e-9, atol=1e-12)
    assert found.mean == found.values.mean()
    assert found.stderr == pytest.approx(found.values.std().item() / math.sqrt(draws))
    monkeypatch.setattr("helpers.sensitive.isolation.MEMORY", 1)
    in_pieces = parity_sharpness(n, rho, draws, strings, generator(1))
    assert torch.allclose(in_pieces.values, wanted, rtol=1e-9, atol=1e-12)


def test_without_a_step_nothing_moves():
    assert parity_sharpness(9, 0.0, 3, 4, generator()).mean < 1e-12


def test_longer_strings_turn_a_small_step_into_a_large_one():
    short, long = (parity_sharpness(n, 0.05, 40, 4, generator()) for n in (6, 128))
    assert short.mean < 0.05
    assert long.mean > 1 - 4 * long.stderr


def test_crossings_are_interpolated_in_the_logarithm():
    values = torch.tensor([[0.0, 0.2, 0.8, 1.0], [0.6, 0.7, 0.8, 0.9], [0.0, 0.1, 0.2, 0.3]])
    found = crossing([1, 2, 8, 16], values, 0.5)
    assert found[0] == pytest.approx(4)
    assert found[1:].isnan().all()
    assert crossing([1, 2], torch.tensor([0.0, 0.5]), 0.5) == pytest.approx(2)


def test_members_are_single_models():
    spec, weights = parity_transformer(6)
    stepped = moved(weights, 0.3, 3, generator())
    x = torch.randint(0, 2, (4, 6), generator=generator(1))
    together = forward(spec, stepped, x)
    assert torch.allclose(forward(spec, members(spec, stepped, 2), x), together[2])


def test_a_narrower_transformer_is_measured_too():
    found = parity_sharpness(64, 0.1, 20, 2, generator(), half=9)
    assert found.mean > 1 - 4 * found.stderr


def test_bad_input_is_named():
    f = cube.parity(3)
    with pytest.raises(ValueError, match=r"alpha must be above 1, got 1.0"):
        distance_bound(f, f, 1.0)
    with pytest.raises(ValueError, match="above 1 and finite, got inf"):
        distance_bound(f, f, math.inf)
    with pytest.raises(ValueError, match="above 1 and finite, got nan"):
        distance_bound(f, f, math.nan)
    with pytest.raises(ValueError, match="f must not be constant"):
        distance_bound(torch.ones_like(f), f, 2.0)
    with pytest.raises(ValueError, match=r"share a shape, got \(8,\) and \(4,\)"):
        distance_bound(f, f[:4], 2.0)
    with pytest.raises(ValueError, match=r"found as\(f\) = 5.0"):
        leading_term(torch.tensor(5.0), torch.tensor(1.0), 4, 2.0)
    weights = parity_transformer(3)[1]
    with pytest.raises(ValueError, match="rho must be finite and at least 0, got -1"):
        moved(weights, -1, 2, generator())
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        moved(weights, 1, 0, generator())
    with pytest.raises(ValueError, match=r"got \['head'\]"):
        moved(weights, 1, 1, generator(), only=["head"])
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        parity_sharpness(4, 0.1, 1, 1, generator())
    with pytest.raises(ValueError, match="strings must be at least 1, got 0"):
        parity_sharpness(4, 0.1, 2, 0, generator())
    with pytest.raises(ValueError, match=r"increase, got \[2, 1\]"):
        crossing([2, 1], torch.zeros(2), 0.5)
    with pytest.raises(ValueError, match="expected 2 values"):
        crossing([1, 2], torch.zeros(3), 0.5)
