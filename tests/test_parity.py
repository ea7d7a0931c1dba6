"""Sums of characters at points: counting bits in Python, the algebra, the door."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.kernels import parity
from helpers.kernels.parity import evaluate, evaluate_reference, popcount
from helpers.kernels.walsh import walsh_hadamard

law = settings(deadline=None, max_examples=100)
MASK = st.integers(0, 2**62 - 1)
MASKS = st.lists(MASK, min_size=1, max_size=8)
EDGES = [0, 1, 2, 2**31 - 1, 2**31, 2**32, 2**61, 2**62 - 1, 2**62, 2**63 - 1]


def sign(mask, point):
    return (-1) ** (mask & point).bit_count()


def one(*masks):
    """The product of characters with coefficient one, at every point."""
    return lambda points: torch.stack(
        [evaluate(torch.tensor([m]), torch.ones(1).double(), points) for m in masks]
    ).prod(0)


@law
@given(st.lists(st.integers(0, 2**63 - 1), max_size=20))
def test_popcount_counts_ones(numbers):
    assert popcount(torch.tensor(EDGES + numbers)).tolist() == [
        x.bit_count() for x in EDGES + numbers
    ]


def test_popcount_keeps_the_shape():
    assert popcount(torch.arange(12).view(3, 4)).tolist() == [
        [0, 1, 1, 2],
        [1, 2, 2, 3],
        [1, 2, 2, 3],
    ]


@law
@given(MASKS, MASKS, st.data())
def test_evaluate_sums_signs_up_to_62_bits(masks, points, data):
    whole = st.lists(st.integers(-1000, 1000), min_size=len(masks), max_size=len(masks))
    c = data.draw(whole)
    found = evaluate(torch.tensor(masks), torch.tensor(c).double(), torch.tensor(points))
    assert found.dtype == torch.float64
    assert found.tolist() == [
        sum(a * sign(m, x) for a, m in zip(c, masks, strict=True)) for x in points
    ]


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_evaluate_on_the_whole_cube_is_the_transform(n):
    generator = torch.Generator().manual_seed(n)
    f_hat = torch.randint(-50, 51, (2**n,), generator=generator).double()
    everything = torch.arange(2**n)
    assert torch.equal(evaluate(everything, f_hat, everything), walsh_hadamard(f_hat))


@law
@given(MASK, MASK, MASKS)
def test_characters_multiply_like_their_masks(a, b, points):
    x = torch.tensor(points)
    assert torch.equal(one(a, b)(x), one(a ^ b)(x))


@law
@given(MASK, MASK, MASK)
def test_a_character_of_a_sum_is_the_product_of_its_values(mask, x, y):
    at_x, at_y, at_both = one(mask)(torch.tensor([x, y, x ^ y]))
    assert at_both == at_x * at_y


@pytest.mark.parametrize("chunk", [1, 3, 7, 20, 10**6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_chunks_of_any_size_give_the_same(chunk, dtype, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    masks, points = (torch.randint(0, 2**62, (size,), generator=generator) for size in (5, 23))
    c = torch.randint(-50, 51, (5,), generator=generator).to(dtype)
    monkeypatch.setattr(parity, "CHUNK", chunk)
    found = evaluate(masks, c, points)
    assert found.dtype == dtype
    assert torch.equal(found, evaluate_reference(masks, c, points))


def test_a_repeated_mask_counts_twice():
    masks, c = torch.tensor([5, 5]), torch.tensor([1.0, 2.0]).double()
    assert evaluate(masks, c, torch.tensor([0, 1, 5])).tolist() == [3.0, -3.0, 3.0]


def test_views_are_accepted():
    masks, points = torch.arange(12)[::3], torch.arange(40).view(5, 8).T[2]
    c = torch.arange(8).double()[1::2]
    whole = evaluate(masks.clone(), c.clone(), points.clone())
    assert torch.equal(evaluate(masks, c, points), whole)


def test_no_terms_give_zero_and_no_points_give_nothing():
    none, c = torch.zeros(0, dtype=torch.int64), torch.zeros(0)
    assert evaluate(none, c, torch.arange(3)).tolist() == [0.0, 0.0, 0.0]
    assert evaluate(torch.arange(3), torch.ones(3), none).shape == (0,)


def test_the_gradient_of_a_coefficient_is_its_character():
    masks, points = torch.tensor([0, 3, 2**61]), torch.tensor([0, 1, 2**61 + 3, 2**62 - 1])
    c = torch.tensor([0.5, -1.0, 2.0]).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: evaluate(masks, v, points), c)
    (gradient,) = torch.autograd.grad(evaluate(masks, c, points)[2], c)
    assert gradient.tolist() == [sign(m, 2**61 + 3) for m in masks.tolist()]


I3, C3 = torch.arange(3), torch.ones(3)


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ((I3.int(), C3, I3), TypeError, "masks must be int64, got torch.int32"),
        ((I3, C3, I3.double()), TypeError, "points must be int64, got torch.float64"),
        ((I3, I3, I3), TypeError, "coefficients must be float32 or float64, got torch.int64"),
        ((I3, C3.half(), I3), TypeError, "coefficients .* got torch.float16"),
        ((I3 - 1, C3, I3), ValueError, "masks must be non-negative, found -1"),
        ((I3, C3, I3 - 2), ValueError, "points must be non-negative, found -2"),
        ((I3, C3[:2], I3), ValueError, r"got \(3,\), \(2,\), \(3,\)"),
        ((I3[None], C3[None], I3), ValueError, r"got \(1, 3\), \(1, 3\), \(3,\)"),
        ((I3, C3, I3[None]), ValueError, r"got \(3,\), \(3,\), \(1, 3\)"),
    ],
    ids=str,
)
def test_bad_input_is_named(arguments, error, named):
    with pytest.raises(error, match=named):
        evaluate(*arguments)
