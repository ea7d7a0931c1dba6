"""The transformer for every function: exact, dealt out in any way, within its bounds."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.beyond import boolean_classes, signed

BITS = st.integers(1, 6)
SEEDS = st.integers(0, 10_000)


def some_function(n, seed, terms=None):
    generator = torch.Generator().manual_seed(seed)
    count = 1 + seed % 2**n if terms is None else terms
    masks = torch.randperm(2**n, generator=generator)[:count]
    c = torch.randn(count, generator=generator, dtype=torch.float64)
    return cube.SparseFunction(n, masks, c)


@settings(max_examples=40, deadline=None)
@given(BITS, SEEDS)
def test_every_function_is_computed_at_every_input(n, seed):
    f = some_function(n, seed)
    spec, weights = signed.construct(f)
    # rounding of a sum of at most 64 terms of size below 5
    torch.testing.assert_close(
        signed.forward(spec, weights, cube.bits(n)), f.table(), rtol=0, atol=1e-11
    )


@settings(max_examples=20, deadline=None)
@given(BITS, SEEDS, st.integers(1, 6))
def test_how_terms_are_dealt_out_does_not_change_the_function(n, seed, per_head):
    f = some_function(n, seed)
    spec, weights = signed.construct(f, per_head=min(per_head, n))
    found = signed.forward(spec, weights, cube.bits(n))
    torch.testing.assert_close(found, f.table(), rtol=0, atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), SEEDS)
def test_the_one_transformer_has_the_outputs_and_the_norm_of_the_heads(n, seed):
    spec, weights = signed.construct(some_function(n, seed))
    wide = signed.as_transformer(spec, weights)
    bits = cube.bits(n)
    torch.testing.assert_close(
        signed.run(spec, wide, bits), signed.forward(spec, weights, bits), rtol=0, atol=1e-11
    )
    torch.testing.assert_close(signed.squared_norm(wide), signed.squared_norm(weights))


def test_heads_have_one_sign_and_at_most_n_terms_and_hold_every_term_once():
    f = some_function(5, 7, terms=32)
    heads = signed.deal(f)
    plus = int((f.coefficients > 0).sum())
    assert len(heads) == math.ceil(plus / 5) + math.ceil((32 - plus) / 5)
    assert all(len(h.masks) <= 5 and (h.sizes > 0).all() for h in heads)
    found = {
        m: h.sign * c
        for h in heads
        for m, c in zip(h.masks.tolist(), h.sizes.tolist(), strict=True)
    }
    assert found == dict(zip(f.masks.tolist(), f.coefficients.tolist(), strict=True))


@pytest.mark.parametrize("per_head", [1, 3, None])
def test_norm_and_gradient_stay_below_their_bounds(per_head):
    generator = torch.Generator().manual_seed(3)
    for n in (1, 2, 4, 6):
        f = signed.from_table(boolean_classes.random_function(n, generator))
        most = None if per_head is None else min(per_head, n)
        spec, weights = signed.construct(f, per_head=most)
        heads = signed.deal(f, most)
        norm = float(signed.squared_norm(weights))
        assert 0.7 * signed.norm_bound(n, heads) < norm <= signed.norm_bound(n, heads) * (1 + 1e-12)
        largest = float(signed.squared_gradients(spec, weights, cube.bits(n)).max())
        assert largest <= signed.sharpness_bound(n, heads)


def test_squared_gradients_are_those_of_automatic_differentiation():
    f = some_function(3, 5, terms=7)
    spec, weights = signed.construct(f)
    live = {k: v.clone().requires_grad_() for k, v in weights.items()}
    x = cube.bits(3)[5:6]
    grads = torch.autograd.grad(signed.forward(spec, live, x).sum(), list(live.values()))
    expected = sum(g.square().sum() for g in grads)
    torch.testing.assert_close(signed.squared_gradients(spec, weights, x)[0], expected)


def test_the_sharpness_bound_does_not_grow_with_full_heads():
    """Terms of size W**-0.5 in full heads: the squares of S add up to n."""
    bounds = []
    for W in (12, 24, 48):
        masks = torch.tensor([m for m in range(64) if m.bit_count() in (2, 3, 4)][:W])
        heads = signed.deal(cube.SparseFunction(6, masks, torch.full((W,), W**-0.5).double()))
        assert sum(float(h.sizes.sum()) ** 2 for h in heads) == pytest.approx(6)
        bounds.append(len(heads))
    assert bounds == [2, 4, 8]


def test_bad_input_is_named():
    f = some_function(4, 1)
    with pytest.raises(TypeError, match="SparseFunction, got int"):
        signed.deal(3)
    with pytest.raises(ValueError, match="between 1 and n = 4, got 5"):
        signed.deal(f, 5)
    with pytest.raises(ValueError, match=r"at least .*, got 0\.1"):
        signed.construct(f, logit_scale=0.1)
    with pytest.raises(ValueError, match=r"got \(3,\)"):
        signed.from_table(torch.ones(3))
    with pytest.raises(ValueError, match="the function is 0"):
        signed.from_table(torch.zeros(8))
    with pytest.raises(ValueError, match="not finite"):
        signed.from_table(torch.tensor([1.0, math.nan]))
    with pytest.raises(ValueError, match="no terms"):
        signed.deal(cube.SparseFunction(2, torch.tensor([1]), torch.zeros(1).double()))
