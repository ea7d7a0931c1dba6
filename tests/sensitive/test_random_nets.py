"""Untrained nets on the cube."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import average_sensitivity
from helpers.sensitive import random_nets


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("draw", random_nets.DRAWS)
@pytest.mark.parametrize("net", random_nets.NETS)
def test_every_net_gives_finite_outputs_that_its_generator_determines(net, draw):
    one, two = (random_nets.outputs(net, draw, 3, 4, generator(7), width=8) for _ in range(2))
    assert one.shape == (4, 8)
    assert one.dtype == torch.float64
    assert one.isfinite().all()
    assert torch.equal(one, two)
    other = random_nets.outputs(net, draw, 3, 4, generator(8), width=8)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("net", random_nets.NETS)
def test_the_first_nets_of_more_are_the_fewer(net):
    few, many = (
        random_nets.outputs(net, "Xavier", 3, count, generator(), width=8) for count in (2, 18)
    )
    torch.testing.assert_close(many[:2], few, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("draw", "std"), [("wide", 10 / math.sqrt(3)), ("Xavier", 0.05)])
def test_matrices_are_drawn_at_their_scale(draw, std):
    """400 x 400: Xavier's variance is 2/800; the deviation of 160000 entries is within 2 %."""
    shapes = {"query": (400, 400), "norm1.gain": (5,), "query_bias": (5,), "embedding": (2, 4000)}
    weights = random_nets.drawn(shapes, draw, generator())
    assert weights["query"].std().item() == pytest.approx(std, rel=0.02)
    assert weights["query"].mean().item() == pytest.approx(0, abs=5 * std / 400)
    assert torch.equal(weights["norm1.gain"], torch.ones(5))
    assert not weights["query_bias"].any()
    spread = std if draw == "wide" else 1.0
    assert weights["embedding"].std().item() == pytest.approx(spread, rel=0.05)


def test_a_last_token_reaches_the_read_out_of_a_recurrent_net():
    for net in random_nets.RECURRENT:
        T = random_nets.outputs(net, "PyTorch", 3, 5, generator(), width=8)
        x = torch.arange(8)
        for k in range(3):
            assert (T[:, x ^ (1 << k)] != T).any(), f"{net} ignores bit {k}"


def test_sign_sensitivity_counts_the_flips_of_the_sign():
    T = torch.stack((cube.parity(4) * 5, cube.first(4) / 100, torch.full((16,), 3.0).double()))
    assert random_nets.sign_sensitivity(T).tolist() == [4.0, 1.0, 0.0]
    assert random_nets.sign_sensitivity(torch.zeros(8)) == 0


def test_balanced_nets_say_yes_on_half_of_the_cube_and_constants_stay_constant():
    T = torch.randn(5, 16, generator=generator(), dtype=torch.float64) + 9
    assert torch.equal((random_nets.balanced(T) > 0).sum(-1), torch.full((5,), 8))
    assert not random_nets.balanced(torch.full((2, 8), 3.0)).any()
    assert random_nets.sign_sensitivity(random_nets.balanced(cube.mean(5) + 7)) == pytest.approx(
        average_sensitivity(cube.majority(5)).item()
    )


@given(st.integers(1, 6), st.floats(0.1, 100), st.floats(-100, 100), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_the_mean_degree_forgets_scale_and_constant(n, scale, shift, seed):
    T = torch.randn(2**n, generator=generator(seed), dtype=torch.float64)
    degree = random_nets.mean_degree(T)
    assert 1 - 1e-9 <= degree <= n + 1e-9
    torch.testing.assert_close(
        random_nets.mean_degree(scale * T + shift), degree, rtol=1e-6, atol=1e-6
    )


def test_the_mean_degree_of_named_functions():
    assert random_nets.mean_degree(cube.parity(5)).item() == pytest.approx(5)
    assert random_nets.mean_degree(cube.mean(5)).item() == pytest.approx(1)
    f = cube.character(4, 3) * 2 + cube.character(4, 15) * 4 + 7
    assert random_nets.mean_degree(f).item() == pytest.approx((2 * 4 + 4 * 16) / 20)
    assert random_nets.mean_degree(torch.ones(2, 8) * 3).isnan().all()
    balanced = cube.first(4)
    torch.testing.assert_close(random_nets.mean_degree(balanced), average_sensitivity(balanced))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="unknown net 'CNN'"):
        random_nets.outputs("CNN", "wide", 3, 2, generator())
    with pytest.raises(ValueError, match="unknown draw 'He'"):
        random_nets.outputs("GRU", "He", 3, 2, generator())
    with pytest.raises(ValueError, match="at most 12 bits, got n = 13"):
        random_nets.outputs("GRU", "wide", 13, 2, generator())
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        random_nets.outputs("GRU", "wide", 3, 0, generator())
    with pytest.raises(ValueError, match="power of two"):
        random_nets.sign_sensitivity(torch.zeros(3))
