"""Inequalities for moved weights and inputs: by hand, on random and extreme instances."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks, lipschitz
from helpers.covers.blocks import Layer
from helpers.covers.lipschitz import SOFTMAX, SOFTMAX_PRINTED
from papers.variables import moved_weights
from tests.helpers.covers.test_lipschitz import layer_of, normal, tensor

law = settings(deadline=None, max_examples=60)
EPS = torch.finfo(torch.float64).eps


def moved(layer, size, seed):
    return Layer(*[W + size * normal(*W.shape, seed=seed + i) for i, W in enumerate(layer)])


def test_the_jacobian_of_softmax_is_its_derivative():
    logits = normal(5)
    by_torch = torch.func.jacrev(lambda a: a.softmax(-1))(logits)
    assert torch.allclose(moved_weights.softmax_jacobian(logits), by_torch, rtol=0, atol=10 * EPS)


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
    norm = infinity_to_one(moved_weights.softmax_jacobian(logits))
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

    heads = moved_weights.head_sides(Z, hat[0], layer[:2], other[:2])
    assert holds(heads)
    assert holds(moved_weights.weight_sides(Z, layer, other))
    assert holds(moved_weights.input_sides(Z, hat, layer))
    assert holds(moved_weights.block_sides(Z, hat, layer, other))
    w, w_hat = normal(d, seed=seed + 40), normal(d, seed=seed + 41)
    assert holds(lipschitz.readout_sides(Z[0], hat[0], w, w_hat))


def test_the_right_sides_are_what_is_printed():
    """For one token and d = k = 1, where every norm is an absolute value."""
    layer = Layer(*[tensor([[v]]) for v in (0.5, 3.0, 2.0)])
    other = Layer(*[tensor([[v]]) for v in (0.6, 3.5, 2.25)])
    Z, hat = tensor([[0.5]]), tensor([[0.75]])
    at = moved_weights.weight_sides(Z, layer, other, SOFTMAX_PRINTED)
    assert at.right.item() == pytest.approx(2 * 0.5 * 0.5 * 0.5 + 0.1 * 0.5)
    assert at.left.item() == pytest.approx(0.1 * 0.5)
    longer = moved_weights.weight_sides(Z, layer, other, SOFTMAX_PRINTED, radius=3.0)
    assert longer.right.item() == pytest.approx(9 * 0.25 + 0.05)
    at = moved_weights.input_sides(Z, hat, layer, SOFTMAX_PRINTED)
    assert at.right.item() == pytest.approx(0.5 * (1 + 4 * 3.0) * 0.25)
    assert at.left.item() == pytest.approx(0.5 * 0.25)
    longer = moved_weights.input_sides(Z, hat, layer, SOFTMAX_PRINTED, radius=3.0)
    assert longer.right.item() == pytest.approx(0.5 * (1 + 4 * 9 * 3.0) * 0.25)
    added = moved_weights.layer_error(hat, layer, other, SOFTMAX_PRINTED, lipschitz=1.5)
    h = math.tanh(0.6 * 0.75)
    by_hand = 0.25 * h + 1.5 * 2.25 * (2 * 0.6 * 0.5 * 0.75 + 0.1 * 0.75)
    assert added.item() == pytest.approx(by_hand)
    at = moved_weights.block_sides(Z, hat, layer, other, SOFTMAX_PRINTED, lipschitz=1.5)
    factor = 1.5 * 2.25 * 0.6 * (1 + 4 * 3.5)
    assert at.right.item() == pytest.approx(factor * 0.25 + by_hand)
    heads = moved_weights.head_sides(
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
    sides = moved_weights.head_sides(X, query, weights, weights)
    assert (sides.left.item(), sides.right.item()) == (0.0, 0.0)


def test_two_opposite_tokens_reach_the_constant_of_a_head():
    X, query = tensor([[1.0, 0.0], [-1.0, 0.0]]), tensor([1.0, 0.0])
    h = 1e-3
    nudge = tensor([[h, 0.0], [0.0, 0.0]])
    weights, others = (torch.eye(2).double(), 0 * nudge), (torch.eye(2).double(), nudge)
    sides = moved_weights.head_sides(X, query, weights, others, SOFTMAX, lambda y: y)
    assert sides.ratio.item() == pytest.approx(1, abs=h**2)
    printed = moved_weights.head_sides(X, query, weights, others, SOFTMAX_PRINTED, lambda y: y)
    assert printed.ratio.item() == pytest.approx(0.5, abs=h**2)


@law
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_a_real_network_stays_within_the_errors_of_its_layers(L, seed):
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
        [moved_weights.layer_error(*v) for v in zip(perturbed, layers, others, strict=False)]
    )
    found = torch.stack(
        [blocks.longest(a - b) for a, b in zip(states[1:], perturbed[1:], strict=True)]
    )
    for i in range(1, L + 1):  # behind each layer, what the layers before it have added up to
        allowed = (lipschitz.later_factors(factors[:i]) * errors[:i]).sum(-1)
        assert found[i - 1] <= allowed + 1e-12


def test_right_hand_sides_take_softmax_s_own_constant_and_a_one_lipschitz_activation_unless_told():
    Z, layer = normal(4, 3), layer_of(3, 3, 1)
    other = moved(layer, 0.3, 5)
    same = [
        (moved_weights.head_sides, (Z, normal(3), layer[:2], other[:2])),
        (moved_weights.layer_error, (Z, layer, other)),
        (moved_weights.block_sides, (Z, Z + 0.1, layer, other)),
    ]
    for bound, known in same:
        assert str(bound(*known)) == str(bound(*known, constant=1.0))
        assert str(bound(*known)) != str(bound(*known, constant=2.0)), bound.__name__
        assert str(bound(*known)) == str(bound(*known, lipschitz=1.0))
        assert str(bound(*known)) != str(bound(*known, lipschitz=2.0)), bound.__name__


def test_the_printed_product_runs_over_earlier_layers():
    factors = tensor([10.0, 0.1, 3.0])
    assert moved_weights.earlier_factors(factors).tolist() == pytest.approx([1.0, 10.0, 1.0])


def test_the_jacobian_needs_floating_logits():
    with pytest.raises(TypeError, match="logits must be floating"):
        moved_weights.softmax_jacobian(torch.ones(3, dtype=torch.int64))
