"""Layer norm's magnification: the sharp link, the constants, the hand-built majority, bad input."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import local_sensitivity
from papers.sensitive import blowup, influence
from papers.sensitive.parity import PostNormSpec, forward, parity_transformer
from tests.draws import normal

law = settings(deadline=None, max_examples=20)
EPS = torch.finfo(torch.float64).eps
SMALL = PostNormSpec(5, width=6, layers=2, heads=2, hidden=4)


def random_model(spec=SMALL, seed=0, score_bound=1.0):
    weights = blowup.random_weights(spec, torch.Generator().manual_seed(seed), score_bound)
    seen = blowup.run(spec, weights, cube.bits(spec.n))
    return weights, seen, blowup.constants(spec, weights, seen)


def test_a_run_is_the_forward_pass_with_both_blow_ups():
    weights, seen, _ = random_model()
    bits = cube.bits(5)
    assert torch.allclose(seen.outputs, forward(SMALL, weights, bits), rtol=0, atol=1e-12)
    assert [t.shape for t in seen.tokens] == [(32, 5, 6)] * 3
    inverse = [1 / Y.var(-1, correction=0).sqrt() for Y in seen.given]
    product = inverse[0].amax(-1) * inverse[1].amax(-1)
    assert torch.allclose(seen.magnification, product, rtol=1e-12)
    ones = (1 + inverse[0].amax(-1)) * (1 + inverse[1].amax(-1))
    assert torch.allclose(seen.blowup, ones, rtol=1e-12)


def test_an_ensemble_runs_like_its_models():
    generator = torch.Generator().manual_seed(1)
    both = [blowup.random_weights(SMALL, generator) for _ in range(2)]
    stack = {name: torch.stack([w[name] for w in both]) for name in both[0]}
    seen = blowup.run(SMALL, stack, cube.bits(5))
    for k, weights in enumerate(both):
        alone = blowup.run(SMALL, weights, cube.bits(5))
        assert torch.allclose(seen.magnification[k], alone.magnification, rtol=1e-10)
    with pytest.raises(ValueError, match="one model"):
        blowup.constants(SMALL, stack, seen)


@pytest.mark.parametrize("n", [1, 3, 7])
def test_the_majority_layer_is_majority_and_magnifies_by_two_over_the_mean(n):
    spec, weights = blowup.majority_transformer(n)
    seen = blowup.run(spec, weights, cube.bits(n))
    assert torch.allclose(seen.outputs, cube.majority(n), rtol=0, atol=1e-13)
    assert torch.allclose(seen.magnification, 2 / cube.mean(n).abs(), rtol=1e-12)
    c = blowup.constants(spec, weights, seen)
    assert c.theorem4() == pytest.approx(25 * 2 * 1 * 1.5 * 150 * 2)
    assert c.theorem4(2) == pytest.approx(25 * 2 * 1 * 1.25 * 150 * 2)
    assert c.ours == pytest.approx(0.5 * (4 + min(2 * n, 16 * math.log(n) + 9)))
    assert (local_sensitivity(seen.outputs) <= c.ours * seen.magnification * (1 + 1e-12)).all()


def test_the_constants_are_those_of_the_paper():
    weights, seen, c = random_model(score_bound=0.5)
    V = max(1, *(torch.linalg.matrix_norm(weights[f"layers.{k}.value"], 2).max() for k in (0, 1)))
    L = max(1, *c.slopes)
    tokens = weights["embedding"][:, None] + weights["positions"]
    P = max(1, tokens.norm(dim=-1).max())
    first = 2 * max(1, seen.given[0].norm(dim=-1).max()) * L
    second = 12 * L * 3 * V * 4 * math.sqrt(6) * math.exp(4)  # C_A counts as at least 1
    whole = 25 * math.sqrt(6) * 2 * (1 + weights["readout"].norm()) * 150 * L * V**2 * P * 2
    assert c.scores == pytest.approx((0.5, 0.5))
    assert c.layer(1) == pytest.approx(float(first))
    assert c.layer(2) == pytest.approx(float(second))
    assert c.theorem4() == pytest.approx(float(whole * first * second), rel=1e-12)


def test_our_constant_is_the_formula_of_the_chapter():
    _, seen, c = random_model(score_bound=0.5)
    S = c.slopes[0] * (c.step + 2 * c.values[0] * (c.step + c.token * 10))
    G = c.slopes[1] * (1 + 2 * c.values[1] * (0.5 + 2 * math.exp(1)))
    assert c.first_sum(10) == pytest.approx(S)
    assert c.growths == pytest.approx((G,))
    assert c.ours == pytest.approx(2 * float(seen.outputs.abs().max()) * c.readout * S * G)
    far = replace(c, spec=replace(c.spec, n=1000)).ours
    assert far / c.ours == pytest.approx(c.first_sum(16 * math.log(1000) + 9) / S)
    assert replace(c, scores=(0.5, 1000.0)).ours == math.inf


@law
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 2.0]), st.sampled_from([0.0, 0.3]))
def test_every_link_and_the_theorem_hold_for_random_models(seed, score_bound, eps):
    spec = PostNormSpec(4, width=5, layers=3, heads=2, hidden=3, norm_eps=eps)
    weights, seen, c = random_model(spec, seed, score_bound)
    bits = [influence.bit_influences(Y) for Y in seen.given]
    tokens = [influence.bit_influences(y).sum(0) for y in seen.tokens]
    loose = 1 + 1e-9
    assert bits[0].sum(0).max() <= c.first_sum(8) * loose
    for k, growth in zip((2, 3), c.growths, strict=True):
        most = tokens[k - 1].amax(-1, keepdim=True)  # over tokens, at each input
        assert (bits[k - 1].sum(0) <= growth * most * loose + 1e-12).all()
    both = blowup.sides(spec, weights)
    assert both.law <= loose
    assert both.theorem4(c.theorem4(2)).max() <= 1
    bounded = both.with_readout(1 / c.top)
    assert bounded.theorem4(bounded.constants.theorem4()).max() <= 1


def test_the_theorem_holds_for_the_parity_transformer():
    spec, weights = parity_transformer(6)
    seen = blowup.run(spec, weights, cube.bits(6))
    c = blowup.constants(spec, weights, seen)
    assert torch.allclose(local_sensitivity(seen.outputs), torch.full((64,), 6.0).double())
    assert (c.ours * seen.magnification >= 6).all()
    assert c.scores == (0.0, 0.0)


def test_a_lipschitz_constant_is_the_largest_slope():
    generator = torch.Generator().manual_seed(3)
    W, V = (torch.randn(shape, generator=generator).double() for shape in ((3, 4), (4, 3)))
    L = blowup.lipschitz(W, V)
    x, y = 10 * normal(2, 20000, 3, seed=4)
    slopes = ((x - y) + ((x @ W).relu() - (y @ W).relu()) @ V).norm(dim=-1) / (x - y).norm(dim=-1)
    assert slopes.max() <= L * (1 + 1e-12)
    norms = [torch.linalg.matrix_norm(m, 2).item() for m in (W, V)]
    assert 1 + norms[0] * norms[1] >= L
    u = torch.tensor([[1.0], [0.0], [0.0]], dtype=torch.float64)
    assert blowup.lipschitz(u, 5 * u.mT) == pytest.approx(6)
    assert blowup.lipschitz(torch.cat((u, -u), 1), torch.cat((-u.mT, u.mT))) == pytest.approx(1)
    assert blowup.lipschitz(u.expand(3, 13), u.mT.expand(13, 3)) == pytest.approx(14)


def test_both_sides_at_one_input_are_those_of_the_table():
    weights, seen, c = random_model()
    table, C = blowup.sides(SMALL, weights), c.theorem4(2)
    squares = seen.blowup.square()
    for x in (0, 13):
        bits = cube.bits(5)[x]
        one = blowup.sides(SMALL, weights, bits)
        there = squares[[x ^ (1 << i) for i in range(5)]].mean()
        assert one.s.item() == pytest.approx(local_sensitivity(seen.outputs)[x].item())
        assert one.magnification.item() == pytest.approx(seen.magnification[x].item())
        assert one.squares.item() == pytest.approx((squares[x] + there).item())
        assert table.squares[x].item() == pytest.approx(one.squares.item())
    right = C * math.sqrt(5 * math.log(5)) * table.squares
    assert torch.allclose(table.theorem4(C), table.s / right)
    asked = table.s.mean().item() / math.sqrt(5 * math.log(5)) - 2 / 5
    expected = asked / (C * squares.mean().item())
    assert table.corollary5(C) == pytest.approx(expected)


def test_a_longer_readout_is_the_model_with_that_readout():
    weights, _, _ = random_model()
    longer = blowup.sides(SMALL, weights | {"readout": -3 * weights["readout"]})
    found = blowup.sides(SMALL, weights).with_readout(-3)
    assert torch.allclose(found.s, longer.s)
    assert found.law == pytest.approx(longer.law)
    assert found.constants.theorem4() == pytest.approx(longer.constants.theorem4())
    assert found.constants.top == pytest.approx(longer.constants.top)


@pytest.mark.parametrize("n", [2, 40])
def test_the_last_bit_attains_the_sharper_law(n):
    spec, weights = blowup.last_bit_transformer(n, 1e-3)
    assert (spec.layers, spec.hidden, spec.heads) == (1, 1, 1), "one layer, and no block"
    found = blowup.sides(spec, weights, torch.zeros(n, dtype=torch.int64))
    assert found.s.item() == pytest.approx(1)
    assert found.magnification.item() == pytest.approx(1)
    assert found.constants.ours == pytest.approx(1.001)


def test_random_weights_have_the_score_bound_and_the_seed():
    weights, _, c = random_model(score_bound=3.0)
    assert c.scores == pytest.approx((3.0, 3.0))
    again = random_model(score_bound=3.0)[0]
    assert all(torch.equal(weights[k], again[k]) for k in weights)


def test_bad_input_is_named():
    _, seen, c = random_model()
    spec, weights = blowup.majority_transformer(5)
    with pytest.raises(ValueError, match="n must be odd and at least 1, got 4"):
        blowup.majority_transformer(4)
    with pytest.raises(ValueError, match="got -1"):
        blowup.random_weights(SMALL, torch.Generator(), -1.0)
    with pytest.raises(ValueError, match="5 tokens and its own run"):
        blowup.constants(spec, weights, seen)
    with pytest.raises(ValueError, match="run from 0 to 2, got 5"):
        c.layer(5)
    with pytest.raises(ValueError, match="run from 0 to 2, got -1"):
        c.layer(-1)
    with pytest.raises(ValueError, match="at least two bits, got 1"):
        blowup.sides(*blowup.majority_transformer(1))
    with pytest.raises(ValueError, match="short must be positive"):
        blowup.last_bit_transformer(3, 0.0)
    with pytest.raises(ValueError, match="hidden = a tensor of shape"):
        blowup.lipschitz(torch.ones(2, 3), torch.ones(2, 3))


def test_theorem_4_and_corollary_5_compare_what_the_paper_does():
    """By hand at n = 5: squares 2 and 8, C = 3, and H / n taken from the mean."""
    constants = random_model()[2]
    s, squares = torch.tensor([1.5, 6.0]).double(), torch.tensor([2.0, 8.0]).double()
    found = blowup.Sides(s, torch.ones(2).double(), squares, constants)
    root = math.sqrt(5 * math.log(5))
    expected = torch.tensor([1.5 / (3 * root * 2), 6 / (3 * root * 8)]).double()
    torch.testing.assert_close(found.theorem4(3.0), expected)
    asked = 3.75 / root - SMALL.heads / 5
    assert found.corollary5(3.0) == pytest.approx(asked / (3 * 5 / 2))
