"""Random members of classes of Boolean functions: their values, degrees and limits."""

import math

import pytest
import torch

from helpers import cube
from helpers.beyond import boolean_classes as classes
from helpers.cube import degree


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


def test_tables_hold_signs_and_repeat_with_the_seed():
    for draw in (
        lambda g: classes.threshold(5, g),
        lambda g: classes.decision_tree(5, 3, g),
        lambda g: classes.random_function(5, g),
    ):
        table = draw(drawn())
        assert table.shape == (32,)
        assert table.dtype == torch.float64
        assert (table.abs() == 1).all()
        assert torch.equal(table, draw(drawn()))
        assert any(not torch.equal(table, draw(drawn(k))) for k in range(1, 6))


def test_a_vote_never_falls_when_every_weighted_bit_rises():
    """Of a point and its opposite at most one side of the hyperplane's offset is undecided."""
    for seed in range(20):
        g = drawn(seed)
        table = classes.threshold(4, g)
        w = torch.randn(5, generator=drawn(seed), dtype=torch.float64)
        order = (cube.points(4).double() @ w[:4]).argsort()
        assert (table[order].diff() >= 0).all()


@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_a_tree_has_degree_at_most_its_depth(depth):
    for seed in range(20):
        assert degree(classes.decision_tree(6, depth, drawn(seed))) <= depth
    if depth:
        assert any(degree(classes.decision_tree(6, depth, drawn(s))) == depth for s in range(20))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: classes.threshold(0, drawn()), "n must be"),
        (lambda: classes.decision_tree(4, 5, drawn()), "n = 4, got 5"),
        (lambda: classes.random_function(-1, drawn()), "n must be"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_a_tree_over_all_bits_is_a_fair_draw_of_all_functions():
    """Ten of sixteen functions of two bits have degree 2; a bit asked twice makes them rarer."""
    count = 600
    share = sum(degree(classes.decision_tree(2, 2, drawn(s))) == 2 for s in range(count)) / count
    assert abs(share - 10 / 16) < 4 * math.sqrt(10 / 16 * 6 / 16 / count)
