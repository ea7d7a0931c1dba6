"""Lookup nets and whole representations: exact, and exact only within their tolerance."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.variables import lookup, selection


def grid_points(n, d, spacing, generator):
    """Points of a grid, so at least ``spacing`` apart."""
    cells = torch.randperm(4**d, generator=generator)[:n]
    return spacing * torch.stack([cells // 4**j % 4 for j in range(d)], -1).double()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6), st.sampled_from(lookup.FORMS))
def test_it_is_exact_on_boxes_of_radius_delta(n, d, seed, form):
    generator = torch.Generator().manual_seed(seed)
    delta, ramp = 0.1, 1.0 if form == "printed" else 2.0
    points = grid_points(n, d, (2 + ramp) * delta, generator)
    values = torch.randn(n, generator=generator, dtype=torch.float64)
    net = lookup.lookup_net(points, values, delta, form=form)
    z = delta * (2 * torch.rand(50, 1, d, generator=generator, dtype=torch.float64) - 1)
    corner = delta * (2 * torch.randint(0, 2, (50, 1, d), generator=generator).double() - 1)
    for shift in (z, corner, torch.zeros(1, 1, d)):
        assert (lookup.evaluate(net, points + shift) - values).abs().max() <= 1e-12


def test_beyond_twice_the_tolerance_the_net_of_the_proof_is_zero():
    net = lookup.lookup_net(torch.zeros(1, 2), torch.ones(1), 0.5, form="printed")
    assert lookup.evaluate(net, torch.tensor([[1.0, 0.0], [0.0, -1.0]]).double()).abs().max() == 0
    assert lookup.evaluate(net, torch.tensor([[0.625, 0.0]]).double()).item() == pytest.approx(0.5)
    assert lookup.evaluate(net, torch.tensor([[0.75, 0.0]]).double()).item() == 0


def test_the_second_layer_of_the_proof_is_as_steep_as_the_first():
    points, values = torch.tensor([[0.0], [8.0]]), torch.tensor([0.0, 1.0])
    within, beyond = (lookup.lookup_net(points, values, d, form="printed") for d in (0.5, 2.0))
    assert within["W2"].abs().max().item() == 2  # d / delta, the bound of the lemma
    assert lookup.evaluate(within, points.double()).tolist() == [0, 1]
    assert lookup.evaluate(beyond, points.double()).tolist() == [0.5, 1]  # not 0 outside its box
    steep = lookup.lookup_net(points, values, 2.5, form="printed")
    assert steep["W2"].abs().max().item() > 1 / 2.5


def test_the_net_of_the_proof_is_exact_in_float64_at_a_small_tolerance():
    points, values = 4e-4 * torch.arange(6).double()[:, None], torch.arange(6).double()
    net = lookup.lookup_net(points, values, 1e-4, form="printed")
    assert (lookup.evaluate(net, points + 1e-4) - values).abs().max() <= 1e-9


@pytest.mark.parametrize("B", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("cells", [1, 2, 5])
def test_wide_ramps_keep_the_first_layer_within_half_of_its_bound(B, cells):
    delta = B / (2 * cells)
    points = 4 * delta * torch.arange(cells + 1).double()[:, None] - B
    net = lookup.lookup_net(points, torch.arange(cells + 1).double(), delta)
    assert net["W1"].abs().max().item() <= max(1, B) / (2 * delta) * (1 + 1e-12)
    assert net["W2"].abs().max().item() <= 1
    ends = torch.cat([points - delta, points + delta])
    wanted = torch.arange(cells + 1).double().repeat(2)
    assert (lookup.evaluate(net, ends) - wanted).abs().max() <= 1e-11


@pytest.mark.parametrize("gamma", [1.0, 4.0, 8.0, 16.0])
def test_behind_heads_the_net_meets_the_norms_of_b6_up_to_a_gap_of_eight(gamma):
    """The last layer has the size that is allowed, so only the first is lighter."""
    s, B = 3, gamma / 2
    points = B * (1 - 2.0 * cube.bits(s))
    values = torch.linspace(-2, 1, 2**s, dtype=torch.float64)
    net = lookup.lookup_net(points, values, gamma / 4)
    assert net["W1"].abs().max().item() <= 2 * max(1, B) / gamma * (1 + 1e-12)
    assert (net["W2"].abs().max().item() <= 8 * s / gamma) == (gamma <= 8)
    assert net["w"].abs().max().item() == 2


@pytest.mark.parametrize(("form", "widths"), [("printed", 3), ("repaired", 4)])
def test_points_are_as_near_as_the_boxes_allow_up_to_rounding(form, widths):
    reach, values = widths * 0.1 * (1 - 1e-12), torch.tensor([1.0, -2.0], dtype=torch.float64)
    points = torch.tensor([[0.0], [reach]], dtype=torch.float64)
    net = lookup.lookup_net(points, values, 0.1, form=form)
    for shift in (-0.1, 0.0, 0.1):
        assert (lookup.evaluate(net, points + shift) - values).abs().max() <= 1e-10
    with pytest.raises(ValueError, match=f"points must be at least {widths / 10:.6g} apart"):
        lookup.lookup_net(points * (1 - 1e-12), values, 0.1, form=form)


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


@pytest.mark.parametrize("kind", selection.MAPS)
@pytest.mark.parametrize("symmetric", [False, True])
def test_it_is_exact_on_nearly_orthogonal_vectors_too(kind, symmetric):
    at = selection.basis(selection.opposed_gram(8, 3, 0.15))
    values = torch.randn(4 if symmetric else 8, generator=torch.Generator().manual_seed(1)).double()
    bits = cube.bits(8)
    index = bits[:, :3].sum(1) if symmetric else (bits[:, :3] << torch.arange(3)).sum(1)
    model = lookup.construct(values, [0, 1, 2], at, kind)
    assert (model(bits) - values[index]).abs().max() <= 1e-12
    points, gamma = selection.targets(kind, bits[:, :3], symmetric=symmetric)
    assert model.tolerance == gamma / 4
    assert (model.features(bits) - points).abs().max() <= gamma / 4


@pytest.mark.parametrize("kind", selection.MAPS)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_the_gap_is_the_least_distance_of_two_values(kind, symmetric, s):
    bits = torch.arange(2**s)[:, None] >> torch.arange(s) & 1
    if symmetric:
        bits = torch.arange(s + 1)[:, None] > torch.arange(s)
    points, _ = selection.targets(kind, bits.long(), symmetric=symmetric)
    apart = (points[:, None] - points).abs().amax(-1).fill_diagonal_(math.inf).min().item()
    assert lookup.gap(kind, s, symmetric=symmetric) == pytest.approx(apart)


@pytest.mark.parametrize("kind", ["positions", "trained"])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_half_the_tolerance_is_not_enough_for_heads_that_are_a_quarter_of_the_gap_off(
    kind, symmetric, s
):
    at, bits = selection.basis(torch.eye(12)), cube.bits(12)
    values = torch.ones(s + 1 if symmetric else 2**s, dtype=torch.float64)
    proof, ours = (
        lookup.construct(values, range(s), at, kind, form=form, least=True) for form in lookup.FORMS
    )
    points, _ = selection.targets(kind, bits[:, :s], symmetric=symmetric)
    off = (ours.features(bits) - points).abs().max().item()
    assert ours.tolerance == lookup.gap(kind, s, symmetric=symmetric) / 4
    assert ours.tolerance / 2 < off <= ours.tolerance
    assert (proof(bits) - 1).abs().max() > 0.1
    assert (ours(bits) - 1).abs().max() <= 1e-12


@pytest.mark.parametrize("kind", selection.MAPS)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_the_net_of_the_proof_is_enough_for_the_gaps_that_are_printed(kind, symmetric, s):
    at, bits = selection.basis(torch.eye(12)), cube.bits(12)
    values = torch.ones(s + 1 if symmetric else 2**s, dtype=torch.float64)
    found = lookup.construct(values, range(s), at, kind, form="printed")(bits)
    assert (found - 1).abs().max() <= 1e-12


def test_it_is_not_enough_if_signs_count_as_one_apart():
    at, bits = selection.basis(torch.eye(8)), cube.bits(8)
    values = torch.ones(4, dtype=torch.float64)
    found = lookup.construct(values, [0, 1], at, form="printed", gamma=1.0)(bits)
    assert (found - 1).abs().max() > 0.1


@pytest.mark.parametrize(("form", "slope"), [("printed", 8), ("repaired", 2)])
@pytest.mark.parametrize("kind", selection.MAPS)
def test_the_tolerance_of_the_net_is_the_share_of_gamma_that_it_should_be(kind, form, slope):
    s = 3
    at = selection.basis(torch.eye(6))
    model = lookup.construct(torch.zeros(2**s), range(s), at, kind, form=form)
    gamma = lookup.gap(kind, s)
    assert model.net["W1"][0].abs().max().item() == pytest.approx(slope / gamma, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: lookup.lookup_net(torch.zeros(3), torch.zeros(3), 0.1), "points"),
        (lambda: lookup.lookup_net(torch.zeros(0, 2), torch.zeros(0), 0.1), "points"),
        (lambda: lookup.lookup_net(torch.zeros(2, 1), torch.zeros(3), 0.1), "points"),
        (lambda: lookup.lookup_net(torch.zeros(1, 1), torch.zeros(1), 0.0), "delta"),
        (lambda: lookup.lookup_net(torch.full((1, 1), math.nan), torch.zeros(1), 0.1), "finite"),
        (lambda: lookup.lookup_net(_one(), torch.zeros(1), 0.1, form="loose"), "form"),
        (lambda: lookup.evaluate(_plain_net(), torch.zeros(3, 2)), "end in 1"),
        (lambda: lookup.lookup_net(torch.tensor([[0.0], [0.2]]), torch.zeros(2), 0.1), "apart"),
        (lambda: lookup.construct(torch.zeros(5), [0, 1], _plain()), "need 4 or 3 values"),
        (lambda: lookup.construct(torch.zeros(2), [0], _plain(), "sets"), "map"),
        (lambda: lookup.construct(torch.zeros(2), [0], _plain(), form="loose"), "form"),
        (lambda: lookup.construct(torch.zeros(2), [9], _plain()), "chosen"),
        (lambda: lookup.construct(torch.zeros(8), [0, 1, 2], _close(), "bag"), r"1 / \(2s - 1\)"),
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


def _one():
    return torch.zeros(1, 1)


def _plain_net():
    return lookup.lookup_net(_one(), torch.zeros(1), 0.1)
