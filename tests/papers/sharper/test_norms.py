"""Norms of the hand-written network: closed forms against sums of squares, bounds, rescaling."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.sharper import pac_bayes as pb
from papers.sharper.network import construct, forward
from papers.sharper.norms import (
    activation_norms,
    block_bounds,
    closed_norms,
    rescaled,
)

law = settings(deadline=None, max_examples=40)
EPS = torch.finfo(torch.float64).eps
scales = st.tuples(st.floats(0, 50), st.floats(0, 50))


@st.composite
def functions(draw, n_max=9):
    """Random functions of the kind that the network computes, coefficients of any size."""
    n = draw(st.integers(1, n_max))
    d = draw(st.integers(1, n))
    W = draw(st.integers(1, min(n, math.comb(n, d))))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    f = cube.sparse_function(n, d, W, generator, draw(st.sampled_from(cube.BASES)))
    factor = draw(st.floats(1e-3, 10))
    return cube.SparseFunction(n, f.masks, factor * f.coefficients, f.basis)


def function(n, d, W, basis="even_parity"):
    return cube.sparse_function(n, d, W, torch.Generator().manual_seed(0), basis)


def squares(weights):
    return {k: v.square().sum().item() for k, v in weights.items()}


def closed(f, scales=None):
    """Of a function, at the paper's scales unless they are given."""
    scales = scales or (2 * math.log(f.n),) * 2
    found = closed_norms(f.degree, f.coefficients, scales, f.basis)
    return {k: v.item() for k, v in found.items()}


@law
@given(functions(), scales)
def test_the_closed_forms_are_the_sums_of_squares(f, scale):
    forms, found = closed(f, scale), squares(construct(f, scale)[1])
    assert list(forms) == list(found)
    for name, value in found.items():  # at most 121 squares, so 121 rounding steps, and a few more
        assert forms[name] == pytest.approx(value, rel=200 * EPS, abs=200 * EPS), name


def test_a_batch_of_coefficients_gives_a_batch_of_norms():
    c = torch.rand(3, 5, 4, dtype=torch.float64) + 0.1
    whole = closed_norms(2, c, (3.0, 7.0), "character")
    assert {v.shape for v in whole.values()} == {(3, 5)}
    one = closed_norms(2, c[1, 2], (3.0, 7.0), "character")
    assert {k: v[1, 2].item() for k, v in whole.items()} == {k: v.item() for k, v in one.items()}


def test_one_coefficient_of_a_character_meets_every_bound_but_that_on_b():
    found = closed_norms(3, torch.ones(1).double(), (2 * math.log(400),) * 2, "character")
    gap = {k: v - found[k].item() for k, v in block_bounds(400, 3, 1).items()}
    assert {k for k, v in gap.items() if v > 1e-9} == {"b"}


@law
@given(functions())
def test_a_block_is_within_its_bound_unless_a_coefficient_is_small(f):
    c = f.coefficients / f.coefficients.norm()
    assume(c.min() >= f.n**-4.0)
    unit = cube.SparseFunction(f.n, f.masks, c, f.basis)
    printed = block_bounds(f.n, f.degree, f.sparsity)
    for name, value in closed(unit).items():
        assert value <= printed[name] * (1 + 100 * EPS) + 100 * EPS, name
    if f.n > 1:
        assert sum(closed(unit).values()) <= pb.norm_squared(f.n, f.degree, f.sparsity)


def test_a_small_coefficient_breaks_the_bound_on_the_second_scores():
    c = torch.tensor([1 - 1e-4, 1e-4], dtype=torch.float64).sqrt()
    f = cube.SparseFunction(2, torch.tensor([1, 2]), c, "even_parity")
    by_hand = (0.5 * math.log(1 - 1e-4) + 2 * math.log(2)) ** 2 + (2 * math.log(0.2)) ** 2
    assert closed(f)["WKQ2"] == pytest.approx(by_hand)
    assert by_hand > 3 * block_bounds(2, 1, 2)["WKQ2"]


def test_the_block_bounds_add_up_to_the_total_of_the_pac_bayes_chapter():
    for n, d, W in ((2, 1, 1), (20, 3, 7), (40, 5, 40)):
        assert sum(block_bounds(n, d, W).values()) == pytest.approx(pb.norm_squared(n, d, W))


@pytest.mark.parametrize("basis", cube.BASES)
def test_activations_are_as_long_as_they_can_be_and_no_longer(basis):
    n, d, W = 6, 2, 3
    f = function(n, d, W, basis)
    spec, weights = construct(f)
    found = activation_norms(spec, weights, cube.bits(n))
    assert {v.shape for v in found.values()} == {(2**n,)}
    top = {k: v.max().item() for k, v in found.items()}
    S, log = f.coefficients.sum().item(), 2 * math.log(n)
    most = {
        "rows of X": math.sqrt(2),
        "rows of Z": math.sqrt(2),
        "columns of Z": math.sqrt(n + 1),
        "entries of Z v2": S,
        "z_out": math.sqrt(2),
        "rows of Z W_KQ2^T": (log + f.coefficients.log()).abs().max().item(),
        "W_KQ2^T z_out": (log + f.coefficients.log()).norm().item(),
    }
    assert top.pop("rows of Y") <= 1
    assert top == pytest.approx(most)


def test_each_norm_is_the_largest_of_its_input():
    spec, weights = construct(function(6, 2, 3))
    found = activation_norms(spec, weights, cube.bits(6))
    _, inside = forward(spec, weights, cube.bits(6), intermediates=True)
    for i in range(0, 64, 5):
        Z, second = inside["Z"][i], weights["WKQ2"]
        assert found["rows of X"][i] == max(row.norm() for row in inside["X"][i])
        assert found["rows of Y"][i] == max(inside["prefix_sums"][i].abs().flatten())
        assert found["rows of Z"][i] == max(row.norm() for row in Z)
        assert found["columns of Z"][i] == max(column.norm() for column in Z.mT)
        read = [(row @ weights["v2"]).abs().item() for row in Z]
        assert found["entries of Z v2"][i].item() == pytest.approx(max(read), rel=1e-12)
        turned = [(second @ row).norm().item() for row in Z]
        assert found["rows of Z W_KQ2^T"][i].item() == pytest.approx(max(turned), rel=1e-12)


def test_the_row_of_the_output_token_is_longest_at_the_input_of_zeros():
    for n, d in ((3, 1), (8, 5), (30, 2)):
        found = activation_norms(*construct(function(n, d, 1)), torch.zeros(1, n).long())
        assert found["z_out"].item() == pytest.approx(math.sqrt(2))


@law
@given(functions(n_max=5), st.floats(1e-3, 1e3))
def test_rescaling_keeps_the_function_and_moves_the_norm(f, alpha):
    spec, weights = construct(f)
    again = rescaled(weights, alpha)
    bits = cube.bits(f.n)
    # 4(d + 1) <= 24 units with slopes up to 2d = 10 on values up to 2, times S
    tol = 24 * 10 * 2 * 4 * EPS * f.coefficients.sum().item()
    assert (forward(spec, again, bits) - forward(spec, weights, bits)).abs().max() < tol
    old, new = squares(weights), squares(again)
    assert new["G"] + new["b"] == pytest.approx(alpha**2 * (old["G"] + old["b"]))
    assert new["F"] == pytest.approx(old["F"] / alpha**2)
    assert {k for k in weights if torch.equal(weights[k], again[k])} >= {"WKQ1", "WV1", "v2"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: closed_norms(0, torch.ones(1).double(), (1.0, 1.0), "character"), "degree must"),
        (lambda: closed_norms(2, torch.ones(1).double(), (1.0, 1.0), "odd"), "unknown basis 'odd'"),
        (lambda: block_bounds(4, 5, 1), "degree must lie between 1 and n = 4, got 5"),
        (lambda: block_bounds(4, 2, 0), "sparsity must lie between 1 and n = 4, got 0"),
        (lambda: rescaled(construct(function(4, 2, 2))[1], 0.0), "alpha must be positive"),
        (lambda: rescaled(construct(function(4, 2, 2))[1], math.inf), "finite, got inf"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_row_of_the_output_is_the_last_one():
    f = cube.sparse_function(6, 2, 6, torch.Generator().manual_seed(3))  # a term at every position
    spec, weights = construct(f)
    bits = cube.bits(6)
    rows = forward(spec, weights, bits, intermediates=True)[1]["Z"].norm(dim=-1)
    assert not torch.allclose(rows[:, -1], rows[:, -2])
    found = activation_norms(spec, weights, bits)
    torch.testing.assert_close(found["z_out"], rows[:, -1])
    torch.testing.assert_close(found["rows of Z"], rows.amax(-1))
