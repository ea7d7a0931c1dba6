"""Softmax, heads, blocks and read-outs: by hand, on random and extreme instances, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks, lipschitz
from helpers.covers.blocks import Layer
from helpers.covers.lipschitz import SOFTMAX_PRINTED
from helpers.rng import f64
from tests.draws import normal

law = settings(deadline=None, max_examples=60)
EPS = torch.finfo(torch.float64).eps


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def layer_of(d, k, seed, scale=1.0, batch=()):
    shapes = ((d, k), (d, d), (k, d))
    return Layer(*[scale * normal(*batch, *s, seed=seed + i) for i, s in enumerate(shapes)])


@law
@given(st.integers(1, 9), st.floats(1e-3, 30), st.integers(0, 10**6))
def test_softmax_moves_by_at_most_the_largest_difference(T, size, seed):
    a, b = 3 * normal(T, seed=seed), 3 * normal(T, seed=seed) + size * normal(T, seed=seed + 1)
    assert lipschitz.softmax_sides(a, b).ratio <= 1 + 40 * T * EPS / size


def test_two_logits_reach_the_constant_and_equal_logits_give_zero():
    h = 1e-3
    sides = lipschitz.softmax_sides(tensor([h, -h]), tensor([-h, h]))
    assert sides.ratio.item() == pytest.approx(math.tanh(h) / h, rel=1e-11)
    same = lipschitz.softmax_sides(tensor([h, -h]), tensor([h, -h]))
    assert same.ratio.item() == 0.0


def test_attention_is_every_token_asking():
    Z, layer = normal(2, 4, 3), layer_of(3, 2, 5, batch=(2,))
    together = blocks.attention(Z, layer.W_V, layer.W_QK)
    for t in range(4):
        alone = blocks.mix(Z, Z[:, t], layer.W_V, layer.W_QK)
        assert torch.allclose(together[:, t], alone, rtol=0, atol=100 * EPS)


def test_a_head_is_its_definition():
    X, W_V, W_QK = normal(3, 2), normal(2, 2, seed=1), normal(2, 2, seed=2)
    query = normal(2, seed=3)
    logits = [float(query @ W_QK @ x) for x in X]
    weights = [math.exp(a) / sum(map(math.exp, logits)) for a in logits]
    by_hand = sum(w * (x @ W_V) for w, x in zip(weights, X, strict=True))
    assert torch.allclose(blocks.mix(X, query, W_V, W_QK), by_hand, rtol=0, atol=50 * EPS)
    summed = blocks.mix(X, query, W_V, W_QK, normalise=lambda s: s)
    by_hand = sum(a * (x @ W_V) for a, x in zip(logits, X, strict=True))
    assert torch.allclose(summed, by_hand, rtol=0, atol=200 * EPS)


def test_a_block_projects_before_the_activation_and_at_the_end():
    layer = Layer(*[tensor([[v]]) for v in (3.0, 1.0, 4.0)])
    for z, inside, out in ((0.1, 0.3, 1.0), (-2.0, -1.0, -1.0), (0.02, 0.06, 4 * math.tanh(0.06))):
        Z = tensor([[z], [z]])
        hidden = math.tanh(inside)
        assert blocks.hidden(Z, layer).flatten().tolist() == pytest.approx([hidden, hidden])
        assert blocks.block(Z, layer).flatten().tolist() == pytest.approx([out, out])
    Z, many = normal(2, 4, 3), layer_of(3, 2, 5, batch=(2,))
    for i, out in enumerate(blocks.block(Z, many)):
        alone = blocks.block(Z[i], Layer(*[W[i] for W in many]))
        assert torch.allclose(out, alone, rtol=0, atol=100 * EPS)
    wide = layer_of(3, 2, 0, 5.0)
    states = blocks.blocks(normal(4, 3), [wide, wide], torch.relu)
    assert len(states) == 3
    assert torch.equal(states[2], blocks.block(states[1], wide, torch.relu))
    assert blocks.longest(states[1]) <= 1 + 4 * EPS


@law
@given(st.integers(1, 6), st.floats(0.01, 10), st.floats(0.1, 5), st.integers(0, 10**6))
def test_the_projection_shortens_what_is_too_long_and_nothing_else(d, size, radius, seed):
    u, v = size * normal(d, seed=seed), size * normal(d, seed=seed + 1)
    pu, pv = blocks.to_ball(u, radius), blocks.to_ball(v, radius)
    assert pu.norm() <= radius * (1 + 4 * EPS)
    if u.norm() <= radius:
        assert torch.equal(pu, u)
    else:
        assert torch.allclose(pu / pu.norm(), u / u.norm(), rtol=0, atol=8 * EPS)
    assert (pu - pv).norm() <= (u - v).norm() + 16 * EPS * (size + radius)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="constant must be positive"):
        lipschitz.softmax_sides(torch.ones(3), torch.ones(3), constant=0)
    with pytest.raises(ValueError, match="radius must be positive and finite, got -1"):
        blocks.to_ball(torch.ones(2, 2), -1)
    for tokens in (torch.ones(0, 2), torch.ones(2, 0)):
        d = tokens.shape[1]
        with pytest.raises(ValueError, match="at least one token"):
            blocks.attention(tokens, torch.ones(d, 2), torch.ones(d, d))
    with pytest.raises(ValueError, match=r"shape \(2, k\), got \(2,\)"):
        blocks.attention(torch.ones(3, 2), torch.ones(2), torch.ones(2, 2))
    with pytest.raises(ValueError, match=r"W_V must end in the shape \(2, k\)"):
        blocks.attention(torch.ones(3, 2), torch.ones(3, 2), torch.ones(2, 2))
    with pytest.raises(ValueError, match=r"W_QK must end in the shape \(2, 2\)"):
        blocks.attention(torch.ones(3, 2), torch.ones(2, 3), torch.ones(2, 3))
    with pytest.raises(TypeError, match="X must be floating"):
        blocks.attention(torch.ones(3, 2, dtype=torch.int64), torch.ones(2, 2), torch.ones(2, 2))
    with pytest.raises(ValueError, match=r"W_C must end in the shape \(2, 3\), got \(3, 2\)"):
        blocks.block(torch.ones(4, 3), Layer(torch.ones(3, 2), torch.eye(3), torch.ones(3, 2)))
    with pytest.raises(ValueError, match="factors must be finite and at least 0, found -1"):
        lipschitz.later_factors(torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"B_V must be at least 0, got -1.0"):
        lipschitz.layer_factor(f64(1), f64([2, -1]), f64(1))
    for factors in (torch.ones(0), torch.ones(2, 0), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="at least one layer"):
            lipschitz.later_factors(factors)


def test_a_read_out_is_bounded_by_its_own_error_and_its_token_s():
    read = lipschitz.readout_sides(tensor([2.0]), tensor([3.0]), tensor([4.0]), tensor([4.5]))
    assert (read.left.item(), read.right.item()) == (5.5, 5.5)


def test_errors_are_multiplied_by_later_layers():
    found = lipschitz.later_factors(tensor([10.0, 0.1, 3.0]))
    assert found.tolist() == pytest.approx([0.3, 3.0, 1.0])


def test_a_layer_s_factor_is_what_is_printed():
    B = f64(1.5), f64(2.5), f64(0.5)
    assert lipschitz.layer_factor(*B).item() == pytest.approx(1.5 * 2.5 * (1 + 2 * 0.5))
    printed = lipschitz.layer_factor(*B, SOFTMAX_PRINTED, lipschitz=3.0)
    assert printed.item() == pytest.approx(3 * 1.5 * 2.5 * (1 + 4 * 0.5))


def test_softmax_has_its_own_constant_unless_told():
    logits, more = normal(5), normal(5, seed=1)
    plain = lipschitz.softmax_sides(logits, more).right
    assert plain == (logits - more).abs().amax()
    assert lipschitz.softmax_sides(logits, more, SOFTMAX_PRINTED).right == 2 * plain
