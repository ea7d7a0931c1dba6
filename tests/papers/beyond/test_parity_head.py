"""The one-layer network that learns a parity: its class, its tokens, its risks."""

import math

import pytest
import torch
from scipy import stats

from helpers import cube
from papers.beyond import parity_head
from papers.lengthfree import single_layer


def made(T=5, width=7, E=3, seed=0):
    return parity_head.initial_weights(T, width, E, torch.Generator().manual_seed(seed))


def test_tokens_name_position_and_bit_and_are_no_longer_than_the_root_of_two():
    X = parity_head.tokens(torch.tensor([[1, 0]]))
    expected = [[1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 0, 1, 0, 0]]
    assert X.tolist() == [expected]
    assert X.norm(dim=-1).max().item() == pytest.approx(math.sqrt(2))


def test_a_model_is_a_member_of_the_single_layer_class():
    weights = made()
    bits = cube.bits(5)
    X = parity_head.tokens(bits).expand(3, -1, -1, -1)
    found = parity_head.forward(weights, X)
    for e in range(3):
        own = tuple(weights[name][e] for name in ("w", "W_c", "W_v", "W_qk"))
        expected = single_layer.outputs(X[e], X[e][:, -1], own, torch.relu)
        torch.testing.assert_close(found[e], expected, rtol=1e-5, atol=1e-5)
    norms = parity_head.norms(weights, 1)
    assert norms.W_qk == pytest.approx(float(weights["W_qk"][1].abs().sum()), rel=1e-5)
    assert norms.x == pytest.approx(math.sqrt(2))
    read = {**weights, "W_qk": weights["W_qk"][:, -3]}
    total = sum(float(v[2].square().sum()) for v in read.values())
    assert parity_head.squared_norm(weights)[2].item() == pytest.approx(total, rel=1e-5)


def test_rewritten_models_have_the_same_outputs_and_norms_that_no_shift_lowers():
    weights, bits = made(), cube.bits(5).expand(3, -1, -1)
    other = parity_head.rewritten(weights)
    X = parity_head.tokens(bits)
    before = parity_head.forward({k: v.double() for k, v in weights.items()}, X.double())
    torch.testing.assert_close(parity_head.forward(other, X.double()), before)
    products = [parity_head.norms(w, 0).product for w in (weights, other)]
    assert products[1] < 0.5 * products[0]
    keys, V = other["W_qk"][0, -3], other["W_v"][0]
    positions = torch.tensor([1.0] * 6 + [0, 0], dtype=torch.float64)
    against = torch.tensor([1.0] * 5 + [0, -1, -1], dtype=torch.float64)
    for shift in (positions, against, positions - against, positions + against):
        for step in (-0.01, 0.01):
            assert (keys + step * shift).abs().sum() >= keys.abs().sum() - 1e-12
    for step in (-0.01, 0.01):
        assert ((V + step * against[:, None]).abs().sum(0) >= V.abs().sum(0) - 1e-12).all()
    torch.testing.assert_close(V.abs().sum(0), torch.ones(7, dtype=torch.float64))


def test_balanced_models_have_the_same_outputs_and_squares_that_no_shift_or_scale_lowers():
    weights, bits = made(), cube.bits(5).expand(3, -1, -1)
    other = parity_head.balanced(weights)
    X = parity_head.tokens(bits)
    before = parity_head.forward({k: v.double() for k, v in weights.items()}, X.double())
    torch.testing.assert_close(parity_head.forward(other, X.double()), before)
    least = parity_head.squared_norm(other)
    assert (least < 0.5 * parity_head.squared_norm(weights)).all()
    read = (other["W_c"] @ other["w"][..., None])[..., 0].abs()
    torch.testing.assert_close(other["W_v"].norm(dim=1), read)  # of each unit
    positions = torch.tensor([1.0] * 6 + [0, 0], dtype=torch.float64)
    against = torch.tensor([1.0] * 5 + [0, -1, -1], dtype=torch.float64)
    for step in (-0.01, 0.01):
        for shift in (positions, against, positions + against):
            keys = other["W_qk"] + step * shift
            assert (parity_head.squared_norm(other | {"W_qk": keys}) > least).all()
        V = other["W_v"] + step * against[:, None]
        assert (parity_head.squared_norm(other | {"W_v": V}) > least).all()
        factor = 1 + step
        units = other | {"W_v": other["W_v"] * factor, "W_c": other["W_c"] / factor}
        read = other | {"w": other["w"] * factor, "W_c": other["W_c"] / factor}
        for changed in (units, read):
            torch.testing.assert_close(parity_head.forward(changed, X.double()), before)
        assert (parity_head.squared_norm(read) > least).all()


def test_targets_are_even_parities_of_each_models_own_pair():
    bits = cube.bits(3).expand(2, -1, -1)
    found = parity_head.targets(bits, torch.tensor([[0, 2], [1, 0]]))
    assert found[0].tolist() == [1 - (x[0] + x[2]) % 2 for x in cube.bits(3).tolist()]
    assert found[1].tolist() == [1 - (x[0] + x[1]) % 2 for x in cube.bits(3).tolist()]


def test_noise_of_size_0_leaves_the_risk_and_much_noise_spoils_it():
    weights, generator = made(), torch.Generator().manual_seed(1)
    bits = cube.bits(5).expand(3, -1, -1)
    pairs = torch.tensor([[0, 1], [2, 3], [4, 0]])
    y = parity_head.targets(bits, pairs)
    clean = parity_head.clipped_errors(weights, parity_head.tokens(bits), y).mean(1)
    found = parity_head.noisy_risks(weights, [0.0, 0.1], bits, pairs, generator)
    assert found.shape == (2, 3)
    torch.testing.assert_close(found[0], clean)
    assert clean.max() <= 1
    # noise that decides puts an output below 0 or above 1, each with a chance of 1/2
    many, bits, pairs = made(E=60), cube.bits(5).expand(60, -1, -1), pairs.repeat(20, 1)
    spoilt = parity_head.noisy_risks(many, [3.0], bits, pairs, generator)
    assert abs(spoilt.mean() - 0.5) < 0.1  # six standard errors and more


def test_noise_that_is_not_drawn_entry_by_entry_has_the_same_distribution():
    """Against noise on every entry; models whose pieces differ in size show each piece."""
    B, generator = 40_000, torch.Generator().manual_seed(2)
    first = made(E=1)
    even = {name: v.float() for name, v in parity_head.balanced(first).items()}
    models = [first, even, even | {"w": even["w"] / 2}]
    bits = torch.tensor([1, 0, 0, 1, 1]).expand(1, B, 5)
    X = parity_head.tokens(bits[0])[:, None]
    for weights in models:
        found = parity_head.noisy_outputs(weights, [0.1, 0.4], bits, generator)
        for sigma, outputs in zip([0.1, 0.4], found[:, 0], strict=True):
            drawn = {
                name: v[0] + sigma * torch.randn(B, *v.shape[1:], generator=generator)
                for name, v in weights.items()
            }
            expected = parity_head.forward(drawn, X)[:, 0]
            assert stats.ks_2samp(outputs, expected).pvalue > 1e-3


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="width must be"):
        made(width=0)
    with pytest.raises(ValueError, match="T must be"):
        parity_head.tokens(torch.zeros(2, 0, dtype=torch.int64))
    bits, pairs = cube.bits(5).expand(3, -1, -1), torch.zeros(3, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match="sigma must be finite"):
        parity_head.noisy_risks(made(), [0.1, -1.0], bits, pairs, torch.Generator())


def test_first_weights_are_drawn_at_the_scale_of_their_inputs():
    """Numbers of w and W_c one over the root of what they sum; 5 deviations of a deviation."""
    T, width, E = 6, 50, 4000
    weights = parity_head.initial_weights(T, width, E, torch.Generator().manual_seed(0))
    sizes = {"w": (T + 3) ** -0.5, "W_c": width**-0.5, "W_v": 2**-0.5, "W_qk": 0.02}
    assert weights.keys() == sizes.keys()
    for name, size in sizes.items():
        slack = 5 / math.sqrt(2 * weights[name].numel())
        assert weights[name].std().item() == pytest.approx(size, rel=slack)
        assert abs(weights[name].mean().item()) < 5 * size / math.sqrt(weights[name].numel())
