"""Attention's Lipschitz inequalities: by hand, on random and extreme instances, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks, lipschitz
from helpers.covers.blocks import Layer
from helpers.covers.lipschitz import SOFTMAX, SOFTMAX_PRINTED
from helpers.rng import f64

law = settings(deadline=None, max_examples=60)
EPS = torch.finfo(torch.float64).eps


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def layer_of(d, k, seed, scale=1.0, batch=()):
    shapes = ((d, k), (d, d), (k, d))
    return Layer(*[scale * normal(*batch, *s, seed=seed + i) for i, s in enumerate(shapes)])


def moved(layer, size, seed):
    return Layer(*[W + size * normal(*W.shape, seed=seed + i) for i, W in enumerate(layer)])


def test_the_jacobian_of_softmax_is_its_derivative():
    logits = normal(5)
    by_torch = torch.func.jacrev(lambda a: a.softmax(-1))(logits)
    assert torch.allclose(lipschitz.softmax_jacobian(logits), by_torch, rtol=0, atol=10 * EPS)


def infinity_to_one(A):
    """Operator norm from the largest entry to the sum: a convex function peaks at a corner."""
    T = A.shape[-1]
    signs = 1 - 2 * (torch.arange(2**T)[:, None] >> torch.arange(T) & 1)
    return (A @ signs.T.to(A.dtype)).abs().sum(-2).amax(-1)


def test_the_norm_of_the_jacobian_is_four_p_times_one_minus_p():
    logits = normal(200, 6)
    p = logits.softmax(-1)
    signs = torch.arange(64)[:, None] >> torch.arange(6) & 1
    P = p @ signs.double().T
    norm = infinity_to_one(lipschitz.softmax_jacobian(logits))
    assert torch.allclose(norm, (4 * P * (1 - P)).amax(-1), rtol=0, atol=40 * EPS)
    assert norm.max() <= 1 + 40 * EPS


def test_the_norm_is_the_largest_column_for_one_column_and_below_the_sum_of_entries():
    A = normal(3, 4, 1)
    assert torch.allclose(infinity_to_one(A), A.abs().sum(-2)[..., 0], rtol=4 * EPS)
    B = normal(10, 4, 7)
    h = normal(10, 7, 1, seed=1).clamp(-1, 1)
    norm = infinity_to_one(B)
    assert ((B @ h).abs().sum((-2, -1)) <= norm * (1 + 40 * EPS)).all()
    assert (norm <= B.abs().sum((-2, -1)) * (1 + 40 * EPS)).all()


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


@law
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_every_inequality_holds_with_the_true_constant(T, d, k, seed):
    size = [1e-3, 0.1, 1.0][seed % 3]
    scale = [0.3, 1.0, 4.0][seed // 3 % 3]
    layer = layer_of(d, k, seed, scale)
    other = moved(layer, size, seed + 10)
    Z = blocks.to_ball(normal(T, d, seed=seed + 20))
    hat = blocks.to_ball(Z + size * normal(T, d, seed=seed + 30))

    def holds(sides):
        """Up to rounding: a sum of at most a hundred terms, none above a hundred."""
        return sides.left <= sides.right + 100 * 100 * 10 * EPS

    heads = lipschitz.head_sides(Z, hat[0], layer[:2], other[:2])
    assert holds(heads)
    assert holds(lipschitz.weight_sides(Z, layer, other))
    assert holds(lipschitz.input_sides(Z, hat, layer))
    assert holds(lipschitz.block_sides(Z, hat, layer, other))
    w, w_hat = normal(d, seed=seed + 40), normal(d, seed=seed + 41)
    assert holds(lipschitz.readout_sides(Z[0], hat[0], w, w_hat))


def test_the_right_sides_are_what_is_printed():
    """For one token and d = k = 1, where every norm is an absolute value."""
    layer = Layer(*[tensor([[v]]) for v in (0.5, 3.0, 2.0)])
    other = Layer(*[tensor([[v]]) for v in (0.6, 3.5, 2.25)])
    Z, hat = tensor([[0.5]]), tensor([[0.75]])
    at = lipschitz.weight_sides(Z, layer, other, SOFTMAX_PRINTED)
    assert at.right.item() == pytest.approx(2 * 0.5 * 0.5 * 0.5 + 0.1 * 0.5)
    assert at.left.item() == pytest.approx(0.1 * 0.5)
    longer = lipschitz.weight_sides(Z, layer, other, SOFTMAX_PRINTED, radius=3.0)
    assert longer.right.item() == pytest.approx(9 * 0.25 + 0.05)
    at = lipschitz.input_sides(Z, hat, layer, SOFTMAX_PRINTED)
    assert at.right.item() == pytest.approx(0.5 * (1 + 4 * 3.0) * 0.25)
    assert at.left.item() == pytest.approx(0.5 * 0.25)
    longer = lipschitz.input_sides(Z, hat, layer, SOFTMAX_PRINTED, radius=3.0)
    assert longer.right.item() == pytest.approx(0.5 * (1 + 4 * 9 * 3.0) * 0.25)
    added = lipschitz.layer_error(hat, layer, other, SOFTMAX_PRINTED, lipschitz=1.5)
    h = math.tanh(0.6 * 0.75)
    by_hand = 0.25 * h + 1.5 * 2.25 * (2 * 0.6 * 0.5 * 0.75 + 0.1 * 0.75)
    assert added.item() == pytest.approx(by_hand)
    at = lipschitz.block_sides(Z, hat, layer, other, SOFTMAX_PRINTED, lipschitz=1.5)
    factor = 1.5 * 2.25 * 0.6 * (1 + 4 * 3.5)
    assert at.right.item() == pytest.approx(factor * 0.25 + by_hand)
    heads = lipschitz.head_sides(
        Z, tensor([0.3]), layer[:2], other[:2], SOFTMAX_PRINTED, lipschitz=1.5
    )
    score = 0.3 * 0.5 * 0.5
    assert heads.right.item() == pytest.approx(1.5 * (2 * 0.5 * 0.5 * score + 0.1 * 0.5))
    assert heads.left.item() == pytest.approx(math.tanh(0.3) - math.tanh(0.25))
    read = lipschitz.readout_sides(tensor([2.0]), tensor([3.0]), tensor([4.0]), tensor([4.5]))
    assert (read.left.item(), read.right.item()) == (5.5, 5.5)
    both = lipschitz.readout_sides(*tensor([[[2.0]] * 2, [[3.0]] * 2, [[4.0]] * 2, [[4.5]] * 2]))
    assert both.right.tolist() == [5.5, 5.5]


def test_equal_weights_leave_both_sides_of_a_head_zero():
    X, query, weights = normal(4, 3), normal(3, seed=1), layer_of(3, 2, 2)[:2]
    sides = lipschitz.head_sides(X, query, weights, weights)
    assert (sides.left.item(), sides.right.item()) == (0.0, 0.0)


def test_two_opposite_tokens_reach_the_constant_of_a_head():
    X, query = tensor([[1.0, 0.0], [-1.0, 0.0]]), tensor([1.0, 0.0])
    h = 1e-3
    nudge = tensor([[h, 0.0], [0.0, 0.0]])
    weights, others = (torch.eye(2).double(), 0 * nudge), (torch.eye(2).double(), nudge)
    sides = lipschitz.head_sides(X, query, weights, others, SOFTMAX, lambda y: y)
    assert sides.ratio.item() == pytest.approx(1, abs=h**2)
    printed = lipschitz.head_sides(X, query, weights, others, SOFTMAX_PRINTED, lambda y: y)
    assert printed.ratio.item() == pytest.approx(0.5, abs=h**2)


def test_errors_are_multiplied_by_later_layers():
    factors, errors = tensor([10.0, 0.1, 3.0]), tensor([1.0, 2.0, 5.0])
    assert lipschitz.radii(factors, errors).tolist() == pytest.approx([1.0, 2.1, 11.3])
    assert lipschitz.later_factors(factors).tolist() == pytest.approx([0.3, 3.0, 1.0])
    assert lipschitz.earlier_factors(factors).tolist() == pytest.approx([1.0, 10.0, 1.0])


@law
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_the_last_radius_is_the_sum_over_later_products(L, seed):
    factors, errors = normal(4, L, seed=seed).abs(), normal(4, L, seed=seed + 1).abs()
    total = (lipschitz.later_factors(factors) * errors).sum(-1)
    assert torch.allclose(lipschitz.radii(factors, errors)[..., -1], total, rtol=1e-12)


@law
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_a_real_network_stays_within_its_radii(L, seed):
    layers = [layer_of(3, 2, seed + 7 * i, 0.8) for i in range(L)]
    others = [moved(v, 0.1, seed + 100 + 7 * i) for i, v in enumerate(layers)]
    X = blocks.to_ball(normal(4, 3, seed=seed))
    states, perturbed = blocks.blocks(X, layers), blocks.blocks(X, others)
    norms = [
        [blocks.spectral(*pair) for pair in zip(*both, strict=True)]
        for both in zip(layers, others, strict=True)
    ]
    factors = torch.stack([lipschitz.layer_factor(C, V, QK) for V, QK, C in norms])
    errors = torch.stack(
        [lipschitz.layer_error(*v) for v in zip(perturbed, layers, others, strict=False)]
    )
    found = torch.stack(
        [blocks.longest(a - b) for a, b in zip(states[1:], perturbed[1:], strict=True)]
    )
    assert (found <= lipschitz.radii(factors, errors) + 1e-12).all()


def test_bad_input_is_named():
    with pytest.raises(TypeError, match="logits must be floating"):
        lipschitz.softmax_jacobian(torch.ones(3, dtype=torch.int64))
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
    with pytest.raises(ValueError, match="errors must be finite and at least 0, found -1"):
        lipschitz.radii(torch.ones(2), torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"B_V must be at least 0, got -1.0"):
        lipschitz.layer_factor(f64(1), f64([2, -1]), f64(1))
    for factors in (torch.ones(0), torch.ones(2, 0), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="at least one layer"):
            lipschitz.later_factors(factors)
    with pytest.raises(ValueError, match="at least one layer"):
        lipschitz.radii(torch.ones(2), torch.ones(3))


def test_right_hand_sides_take_softmax_s_own_constant_and_a_one_lipschitz_activation_unless_told():
    Z, layer = normal(4, 3), layer_of(3, 3, 1)
    other = moved(layer, 0.3, 5)
    logits, more = normal(5), normal(5, seed=1)
    same = [
        (lipschitz.softmax_sides, (logits, more), {"constant": 1.0}),
        (lipschitz.head_sides, (normal(4, 3), normal(3), layer[:2], other[:2]), {"constant": 1.0}),
        (lipschitz.layer_factor, (f64(1.5), f64(2.5), f64(0.5)), {"constant": 1.0}),
        (lipschitz.layer_error, (Z, layer, other), {"constant": 1.0}),
        (lipschitz.block_sides, (Z, Z + 0.1, layer, other), {"constant": 1.0}),
    ]
    for bound, known, named in same:
        for name, value in named.items():
            assert str(bound(*known)) == str(bound(*known, **named))
            assert str(bound(*known)) != str(bound(*known, **{name: 2 * value})), bound.__name__
        if bound is not lipschitz.softmax_sides:
            assert str(bound(*known)) == str(bound(*known, lipschitz=1.0))
            assert str(bound(*known)) != str(bound(*known, lipschitz=2.0)), bound.__name__
