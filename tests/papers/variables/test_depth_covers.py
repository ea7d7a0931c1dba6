"""Capacity of deep networks: closed forms, splits of the error, scaling laws, bad input."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import capacity
from helpers.covers.attention import FORMS, HeadNorms, heads_bound
from papers.variables import depth_covers
from papers.variables.depth_covers import LayerNorms

EPS = torch.finfo(torch.float64).eps
law = settings(deadline=None, max_examples=60)
some = st.floats(0.1, 10)
heads = st.builds(HeadNorms, V=some, V_columns=some, QK_columns=some)
layers = st.lists(
    st.builds(LayerNorms, V=some, V_columns=some, QK_columns=some, QK=some, C=some, C_columns=some),
    min_size=1,
    max_size=5,
)
ONES = LayerNorms(V=1, V_columns=1, QK_columns=1, QK=1, C=1, C_columns=1)


@law
@given(st.lists(heads, min_size=1, max_size=4), some, some, some)
def test_the_heads_bound_is_the_best_split(norms, B_x, lipschitz, epsilon):
    for form in FORMS:
        parts = [depth_covers.head_parts(4, h, B_x, lipschitz, 2.0, form) for h in norms]
        alpha, beta = (torch.cat(side) for side in zip(*parts, strict=True))
        least = capacity.allocate(alpha, beta, epsilon)[1].item() * math.log(30)
        closed = heads_bound(4, norms, B_x, 30, epsilon, lipschitz, 2.0, form)
        assert closed == pytest.approx(least, rel=1e-12)


@law
@given(layers, some, some, some, st.sampled_from(depth_covers.ORDERS))
def test_the_depth_bound_is_the_best_split(norms, B_w, lipschitz, epsilon, order):
    alpha, beta = depth_covers.depth_parts(
        3, 2, norms, B_w, lipschitz=lipschitz, constant=2.0, order=order
    )
    assert alpha.shape == beta.shape == (3 * len(norms) + 1,)
    least = capacity.allocate(alpha, beta, epsilon)[1].item() * math.log(40)
    closed = depth_covers.depth_bound(3, 2, norms, B_w, 40, epsilon, lipschitz, 2.0, order)
    assert closed == pytest.approx(least, rel=1e-11)


def test_the_depth_bound_is_its_formula():
    one = depth_covers.depth_bound(1, 1, [ONES], 1.0, 10, 1.0)
    assert one == pytest.approx((1 + 1 + 2 ** (2 / 3) + 1) ** 3 * math.log(10))
    two = depth_covers.depth_bound(1, 1, [ONES] * 2, 1.0, 10, 1.0)
    assert two == pytest.approx((1 + (1 + 5 ** (2 / 3)) * (2 + 2 ** (2 / 3))) ** 3 * math.log(10))
    sharper = depth_covers.depth_bound(1, 1, [ONES] * 2, 1.0, 10, 1.0, constant=1.0)
    assert sharper == pytest.approx((1 + (1 + 3 ** (2 / 3)) * 3) ** 3 * math.log(10))
    narrow = depth_covers.depth_bound(16, 4, [ONES], 1.0, 10, 1.0, constant=1.0)
    assert narrow == pytest.approx((1 + 2 * 16 ** (2 / 3) + 8 ** (2 / 3)) ** 3 * math.log(10))


@law
@given(layers, some, some)
def test_a_steeper_activation_is_a_longer_output_matrix(norms, lipschitz, s):
    """Activation over s with s times W_C is the same network."""
    same = [replace(v, C=s * v.C, C_columns=s * v.C_columns) for v in norms]
    plain = depth_covers.depth_bound(3, 2, norms, 1.0, 40, 0.5, lipschitz)
    moved = depth_covers.depth_bound(3, 2, same, 1.0, 40, 0.5, lipschitz / s)
    assert moved == pytest.approx(plain, rel=1e-11)


def test_the_order_of_the_product_matters():
    quiet = LayerNorms(V=0.1, V_columns=1, QK_columns=1, QK=1e-9, C=1, C_columns=1)
    loud = LayerNorms(V=10, V_columns=1, QK_columns=1, QK=1e-9, C=1, C_columns=1)
    later = depth_covers.depth_factors([quiet, loud]).tolist()
    earlier = depth_covers.depth_factors([quiet, loud], order="earlier").tolist()
    assert later == pytest.approx([10, 1])
    assert earlier == pytest.approx([1, 0.1])


@law
@given(some)
def test_longer_inputs_are_larger_weights_of_the_first_layer(s):
    same = LayerNorms(V=s, V_columns=s, QK_columns=s**2, QK=s**2, C=1, C_columns=1)
    scaled = depth_covers.depth_parts(3, 2, [ONES, ONES], 1.0, B_x=s)
    unit = depth_covers.depth_parts(3, 2, [same, ONES], 1.0)
    costs = [alpha.sqrt() * beta for alpha, beta in (scaled, unit)]
    assert torch.allclose(costs[0], costs[1], rtol=1e-12)


def test_the_printed_shares_overspend_unless_the_lengths_sum_to_the_bound():
    full = depth_covers.printed_shares(torch.ones(7).double(), 1.0, 0.1)
    assert full.square().sum().sqrt().item() == pytest.approx(0.1 * math.sqrt(8 / 2))
    short = depth_covers.printed_shares(torch.full((7,), 1 / 7).double(), 1.0, 0.1)
    assert short.square().sum().sqrt().item() == pytest.approx(0.1)


def test_the_counted_cover_is_its_formula():
    counted = depth_covers.counting_log_size(3, 4, 2.0, 1.0, 0.5)
    assert counted == pytest.approx(12 * math.log(1 + 2 * 2 * 2 / 0.5))


def test_a_counted_cover_covers():
    """For k = 1, d = 2, B = B_x = 1: grids of each entry at eps / sqrt(2), not too many."""
    epsilon = 0.3
    step = epsilon / math.sqrt(2)
    count = math.ceil(1 / step)
    grid = torch.linspace(-1, 1, 2 * count + 1).double()[1::2]
    assert 2 * math.log(len(grid)) <= depth_covers.counting_log_size(1, 2, 1.0, 1.0, epsilon)
    w = torch.linspace(-1, 1, 401).double()
    off = (w[:, None] - grid).abs().amin(-1).max().item()
    assert math.sqrt(2) * off <= epsilon * (1 + 1e-12)


def test_the_residual_is_the_farthest_point_from_the_line():
    x = torch.tensor([0.0, 1.0, 2.0, 3.0])
    assert depth_covers.affine_residual(x, 5 - 2 * x) <= 8 * EPS
    kinked = torch.tensor([0.0, 1.0, 0.0])  # the line is constant 1/3
    assert depth_covers.affine_residual(x[:3], kinked) == pytest.approx(2 / 3)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="C_columns must be finite, got inf"):
        LayerNorms(1, 1, 1, 1, 1, math.inf)
    with pytest.raises(ValueError, match="unknown order 'both'"):
        depth_covers.depth_factors([ONES], order="both")
    with pytest.raises(ValueError, match="layers must be at least 1, got 0"):
        depth_covers.depth_bound(2, 2, [], 1.0, 10, 0.1)
    with pytest.raises(ValueError, match="epsilon must be positive"):
        depth_covers.counting_log_size(2, 2, 1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match=r"y must not be constant, all of it is 1.0"):
        depth_covers.affine_residual(torch.arange(3.0), torch.ones(3))
    with pytest.raises(ValueError, match=r"x must not be constant, all of it is 2.0"):
        depth_covers.affine_residual(torch.full((3,), 2.0), torch.arange(3.0))
    with pytest.raises(ValueError, match="y must be finite, got nan"):
        depth_covers.affine_residual(torch.arange(3.0), torch.tensor([0.0, math.nan, 1.0]))
    for x in (torch.arange(2.0), torch.arange(6.0).reshape(3, 2)):
        with pytest.raises(ValueError, match="at least three points each"):
            depth_covers.affine_residual(x, x)
    with pytest.raises(ValueError, match=r"got shapes \(3,\) and \(4,\)"):
        depth_covers.affine_residual(torch.arange(3.0), torch.arange(4.0))
    for lengths in (torch.ones(0), torch.ones(2, 0), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="at least one length"):
            depth_covers.printed_shares(lengths, 1.0, 0.1)


def test_bounds_are_as_edelman_et_al_print_them_unless_told():
    """A 1-Lipschitz activation, softmax's constant 2, later layers' factors, the repaired head."""
    head = HeadNorms(V=1.5, V_columns=8.0, QK_columns=3.0)
    first = LayerNorms(V=1.2, V_columns=2, QK_columns=3, QK=2, C=1.1, C_columns=2)
    deep = [first, replace(first, V=2.0, C=1.7), replace(first, QK=0.3)]
    printed = {"lipschitz": 1.0, "constant": 2.0}
    of_heads, of_depth = printed | {"form": "repaired"}, printed | {"order": "later"}
    same = [
        (depth_covers.head_parts, (2, head, 3.0), of_heads),
        (heads_bound, (2, [head], 3.0, 50, 0.5), of_heads),
        (depth_covers.depth_factors, (deep,), of_depth),
        (depth_covers.depth_parts, (2, 2, deep, 1.5), of_depth | {"B_x": 1.0}),
        (depth_covers.depth_bound, (2, 2, deep, 1.5, 50, 0.5), of_depth),
    ]
    for bound, known, named in same:
        torch.testing.assert_close(bound(*known), bound(*known, **named), rtol=0, atol=0)
        for name, value in named.items():
            other = {"repaired": "text", "later": "earlier"}.get(value) or 1.5 * value
            changed = bound(*known, **{**named, name: other})
            assert str(changed) != str(bound(*known)), (bound.__name__, name)
