"""Walks to centres of covers of linear layers: their count, error and class; bad input."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks
from helpers.rng import Rng
from papers.variables.attention_covers import walk

law = settings(deadline=None, max_examples=40)


def clipped(V):
    return blocks.to_ball(V.mT).mT


@law
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.floats(0.2, 1))
def test_a_walk_is_short_and_ends_near_its_matrix_inside_the_class(seed, d_1, d_2, share):
    rng = Rng(seed)
    W, x = clipped(rng.normal(7, d_1, d_2)), rng.uniform(0.1, 10) * rng.normal(7, 6, d_1)
    longest = blocks.longest(x)
    epsilon = share * longest.max().item()
    end = walk(W, x, epsilon, clipped)
    assert (blocks.longest(x @ (W - end.centre)) <= epsilon * (1 + 1e-9)).all()
    assert (end.steps <= d_2 * (W.square().sum((-2, -1)) * longest**2) / epsilon**2).all()
    assert (end.centre.norm(dim=-2) <= 1 + 1e-12).all()


def test_walks_of_a_batch_are_those_of_each_matrix_alone():
    rng = Rng(1)
    W, x = rng.normal(5, 6, 2), rng.normal(5, 4, 6)
    together = walk(W, x, 0.5)
    for k in range(5):
        alone = walk(W[k], x[k], 0.5)
        assert alone.steps == together.steps[k] > 0
        torch.testing.assert_close(alone.centre, together.centre[k], rtol=1e-12, atol=1e-14)


@law
@given(st.integers(-80, 80))
def test_a_walk_does_not_depend_on_the_unit_of_the_weights(power):
    """The steps are the same, and the centre scales."""
    rng, unit = Rng(3), 2.0**power
    W, x = rng.normal(4, 3), rng.normal(5, 4)
    one, other = walk(W, x, 0.5), walk(W * unit, x, 0.5 * unit)
    assert one.steps == other.steps
    assert torch.allclose(one.centre * unit, other.centre, rtol=1e-12, atol=0)


def test_orthonormal_inputs_need_one_step_each():
    end = walk(torch.full((30, 1), 1.0001).double(), torch.eye(30).double(), 1.0)
    assert end.steps == 30
    assert torch.equal(end.centre, torch.ones(30, 1).double())


def test_a_step_moves_the_worst_output_along_its_input_by_what_the_proof_takes():
    """Epsilon over the root of four outputs, over the squared length of the longest input."""
    W, x = torch.tensor([[3.0, 0, 0, -2], [0, 0, 0, 0]]).double(), torch.eye(2).double() * 2
    end = walk(W, x, 1.0, most=1)
    assert torch.equal(end.centre, torch.tensor([[0.25, 0, 0, 0], [0, 0, 0, 0]]).double())


def test_a_walk_is_given_up_where_it_is_told_to():
    assert walk(torch.ones(2, 1).double(), torch.eye(2).double(), 0.01, most=3).steps == 3


def test_bad_input_is_named():
    W, x = torch.ones(2, 1).double(), torch.eye(2).double()
    with pytest.raises(ValueError, match="epsilon"):
        walk(W, x, 0.0)
    with pytest.raises(ValueError, match="stride"):
        walk(W, x, 1.0, stride=0)
    with pytest.raises(TypeError):
        walk(W.long(), x, 1.0)
