"""The transformer for every function: exact, within its bounds."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.beyond import signed
from papers.sharper.network import parity_values, trapezoid

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


@pytest.mark.parametrize("tiny", [1.0, 1e-100])
def test_norm_and_gradient_stay_below_their_bounds(tiny):
    for n in (1, 2, 4, 6):
        f = some_function(n, 3, terms=2**n)
        f.coefficients[::2] *= tiny
        spec, weights = signed.construct(f)
        norm, gradient = signed.bounds(n, signed.deal(f))
        assert 0.7 * norm < float(signed.squared_norm(weights)) <= norm * (1 + 1e-12)
        found = signed.squared_gradients(spec, weights, cube.bits(n))
        assert 1e-4 * gradient < float(found.max()) <= gradient
        assert weights["WKQ1"].max() <= max(2 * math.log(n), math.log(4 * n)) + math.log(n) + 1e-12


def test_squared_gradients_are_those_of_automatic_differentiation():
    f = some_function(3, 5, terms=7)
    spec, weights = signed.construct(f)
    live = {k: v.clone().requires_grad_() for k, v in weights.items()}
    x = cube.bits(3)[5:6]
    grads = torch.autograd.grad(signed.forward(spec, live, x).sum(), list(live.values()))
    expected = sum(g.square().sum() for g in grads)
    torch.testing.assert_close(signed.squared_gradients(spec, weights, x)[0], expected)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"shape \(2\*\*n,\), got \(2, 2\)"):
        signed.from_table(torch.ones(2, 2))
    with pytest.raises(ValueError, match=r"got \(1,\)"):
        signed.from_table(torch.ones(1))
    with pytest.raises(ValueError, match="no terms"):
        signed.deal(signed.from_table(torch.zeros(8)))
    with pytest.raises(ValueError, match="not finite"):
        signed.from_table(torch.tensor([1.0, math.nan]))
    with pytest.raises(ValueError, match="no terms"):
        signed.deal(cube.SparseFunction(2, torch.tensor([1]), torch.zeros(1).double()))


def test_the_bounds_of_one_head_are_the_formulas_of_the_docstring():
    n, d, sizes = 4, 2, torch.tensor([0.6, 0.3]).double()
    f = cube.SparseFunction(n, torch.tensor([0b0011, 0b0110]), sizes)
    (head,) = signed.deal(f)
    L, k = max(2 * math.log(n), math.log(4 * n)), 2
    units = 4 * (d + 1)
    _, b, F = trapezoid(parity_values(d, "character"))
    assert len(b) == units
    lam = (L + sizes.log()).abs()
    S = sizes.sum().item() + (n + 1 - k) * math.exp(-L)
    N = 1 + units + b.square().sum().item() + F.square().sum().item() + L**2 * 4
    N += k * (L + math.log(d)) ** 2 + (n + 1 - k) * math.log(4 * d * n) ** 2
    N += lam.square().sum().item() + (n + 2 - k) * S**2
    h = units * (1 + 3 / (4 * d)) ** 2
    rows = 1 + n - k + lam.square().sum().item() + (1 + lam.max().item()) ** 2
    G = 2 + S**2 * (4 + 32 * d**2 * (d + 1) + h * rows)
    assert signed.bounds(n, [head]) == pytest.approx((N, G), rel=1e-12)


@pytest.mark.parametrize("size", [1e-30, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_terms_of_a_table_do_not_depend_on_its_size_or_dtype(size, dtype):
    f = cube.sparse_function(8, 3, 5, torch.Generator().manual_seed(1))
    found = signed.from_table((size * f.table()).to(dtype))
    assert torch.equal(found.masks, f.masks)
    eps = torch.finfo(dtype).eps
    assert (found.coefficients / size - f.coefficients).abs().max() <= 20 * eps
    assert not len(signed.from_table(torch.zeros(8)).masks)
