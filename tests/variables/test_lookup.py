"""Lookup nets and whole representations: exact, and exact only within their tolerance."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.variables import lookup, selection


def grid_points(n, d, spacing, generator):
    """Points of a grid, so at least ``spacing`` apart."""
    cells = torch.randperm(4**d, generator=generator)[:n]
    return spacing * torch.stack([cells // 4**j % 4 for j in range(d)], -1).double()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6), st.sampled_from([3.0, 4.0]))
def test_it_is_exact_on_boxes_of_radius_delta(n, d, seed, spacing):
    generator = torch.Generator().manual_seed(seed)
    delta = 0.1
    points = grid_points(n, d, spacing * delta, generator)
    values = torch.randn(n, generator=generator, dtype=torch.float64)
    net = lookup.lookup_net(points, values, delta)
    z = delta * (2 * torch.rand(50, 1, d, generator=generator, dtype=torch.float64) - 1)
    corner = delta * (2 * torch.randint(0, 2, (50, 1, d), generator=generator).double() - 1)
    for shift in (z, corner, torch.zeros(1, 1, d)):
        assert (lookup.evaluate(net, points + shift) - values).abs().max() <= 1e-12


def test_beyond_twice_the_tolerance_it_is_zero():
    net = lookup.lookup_net(torch.zeros(1, 2), torch.ones(1), 0.5)
    assert lookup.evaluate(net, torch.tensor([[1.0, 0.0], [0.0, -1.0]]).double()).abs().max() == 0
    assert lookup.evaluate(net, torch.tensor([[0.75, 0.0]]).double()).item() == pytest.approx(0.5)


def test_the_net_has_the_sizes_of_the_paper():
    net = lookup.lookup_net(grid_points(5, 3, 1.0, torch.Generator()), torch.zeros(5), 0.2)
    assert net["W1"].shape == (4, 4 * 5 * 3)
    assert net["W2"].shape == (4 * 5 * 3 + 1, 2 * 5)
    assert net["w"].shape == (10,)


@pytest.mark.parametrize("kind", selection.MAPS)
@pytest.mark.parametrize(("T", "s"), [(1, 1), (6, 1), (6, 3), (5, 5)])
def test_every_function_of_the_chosen_bits_is_represented_on_every_string(kind, T, s):
    generator = torch.Generator().manual_seed(10 * T + s)
    chosen = torch.randperm(T, generator=generator)[:s].tolist()
    bits, at = cube.bits(T), selection.basis(torch.eye(T))
    index = (bits[:, chosen] << torch.arange(s)).sum(1)
    for values in (torch.randn(2**s, generator=generator).double(), torch.full((2**s,), 3.0)):
        found = lookup.construct(values, chosen, at, kind)(bits)
        assert (found - values.double()[index]).abs().max() <= 1e-12


@pytest.mark.parametrize("kind", ["positions", "bag"])
def test_it_is_exact_on_nearly_orthogonal_vectors_too(kind):
    at = selection.basis(selection.uneven_gram(8, 3, 0.1))
    values = torch.randn(8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    bits = cube.bits(8)
    index = (bits[:, :3] << torch.arange(3)).sum(1)
    found = lookup.construct(values, [0, 1, 2], at, kind)(bits)
    assert (found - values[index]).abs().max() <= 1e-12


def test_half_the_tolerance_is_not_enough():
    at, bits = selection.basis(torch.eye(8)), cube.bits(8)
    values = torch.ones(4, dtype=torch.float64)
    found = lookup.construct(values, [0, 1], at, form="printed")(bits)
    assert (found - 1).abs().max() > 0.1


@pytest.mark.parametrize(("form", "share"), [("printed", 1 / 8), ("repaired", 1 / 4)])
@pytest.mark.parametrize("kind", selection.MAPS)
def test_the_tolerance_of_the_net_is_the_share_of_gamma_that_it_should_be(kind, form, share):
    s = 3
    model = lookup.construct(
        torch.zeros(2**s), range(s), selection.basis(torch.eye(6)), kind, form=form
    )
    gamma = 1 / s if kind == "bag" else 1.0
    assert model.net["W1"][0].abs().max().item() == pytest.approx(1 / (share * gamma), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: lookup.lookup_net(torch.zeros(3), torch.zeros(3), 0.1), "points"),
        (lambda: lookup.lookup_net(torch.zeros(0, 2), torch.zeros(0), 0.1), "points"),
        (lambda: lookup.lookup_net(torch.zeros(2, 1), torch.zeros(3), 0.1), "points"),
        (lambda: lookup.lookup_net(torch.zeros(1, 1), torch.zeros(1), 0.0), "delta"),
        (lambda: lookup.lookup_net(torch.full((1, 1), math.nan), torch.zeros(1), 0.1), "finite"),
        (lambda: lookup.lookup_net(torch.zeros(4096, 9), torch.zeros(4096), 0.1), "weights"),
        (lambda: lookup.evaluate(_plain_net(), torch.zeros(3, 2)), "end in 1"),
        (lambda: lookup.lookup_net(torch.tensor([[0.0], [0.2]]), torch.zeros(2), 0.1), "apart"),
        (lambda: lookup.construct(torch.zeros(4), [0], _plain()), "2\\*\\*s = 2"),
        (lambda: lookup.construct(torch.zeros(2), [0], _plain(), "sets"), "map"),
        (lambda: lookup.construct(torch.zeros(2), [0], _plain(), form="loose"), "form"),
        (lambda: lookup.construct(torch.zeros(2), [0], _plain(), gamma=1.5), "gamma"),
        (lambda: lookup.construct(torch.zeros(2), [9], _plain()), "chosen"),
        (lambda: lookup.construct(torch.zeros(8), [0, 1, 2], _close(), "bag"), "too close"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def _plain():
    return selection.basis(torch.eye(4))


def _close():
    return selection.basis(torch.full((4, 4), 0.4).fill_diagonal_(1))


def test_the_norm_of_the_query_grows_with_the_logarithm_of_the_length():
    norms = []
    for T in (8, 64, 512):
        at = selection.basis(torch.eye(T))
        heads = lookup.construct(torch.zeros(4), [0, 1], at).heads
        norms.append(heads["WQ"][0].norm().item())
    assert norms == pytest.approx([math.log(8 * T) for T in (8, 64, 512)])


def _plain_net():
    return lookup.lookup_net(torch.zeros(1, 1), torch.zeros(1), 0.1)
