"""The hand-written transformer: its MLP, its function, its error in closed form, bad input."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.sharper.network import (
    assemble,
    construct,
    construct_exact,
    forward,
    leaks,
    mlp,
    parity_values,
    plateau_scale,
    tokens,
    trapezoid,
)

law = settings(deadline=None, max_examples=40)
EPS = torch.finfo(torch.float64).eps
# At most 4(d + 1) = 32 hidden units with slopes up to 2d = 14 on values up to S + n < 20.
ROUNDING = 32 * 14 * 20 * EPS
LARGE = 40.0


@st.composite
def functions(draw, n_max=7, n_min=1):
    """Random functions of the kind that the network computes, coefficients not normalised."""
    n = draw(st.integers(n_min, n_max))
    d = draw(st.integers(1, n))
    W = draw(st.integers(1, min(n, math.comb(n, d))))
    basis = draw(st.sampled_from(cube.BASES))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    f = cube.sparse_function(n, d, W, generator, basis)
    factor = draw(st.floats(0.1, 3.0))
    return cube.SparseFunction(n, f.masks, factor * f.coefficients, basis)


def function(n, d, W, basis="even_parity", seed=0):
    return cube.sparse_function(n, d, W, torch.Generator().manual_seed(seed), basis)


def every_class(n_max):
    for n in range(1, n_max + 1):
        for d in range(1, n + 1):
            for W in sorted({1, 2, n}):
                if min(n, math.comb(n, d)) >= W:
                    for basis in cube.BASES:
                        yield function(n, d, W, basis)


def error(f, spec, weights):
    return (forward(spec, weights, cube.bits(f.n)) - f.table()).abs().max().item()


def on_the_curve(values, y):
    return mlp(y[:, None], *trapezoid(values))[:, 0]


# The MLP of Theorem 9


@law
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=9))
def test_the_trapezoid_is_flat_around_the_grid_and_straight_between(values):
    values = torch.tensor(values).double()
    d = len(values) - 1
    corners = [k / d + side / (4 * d) for k in range(d + 1) for side in (-1, 1)]
    y = torch.cat((torch.linspace(0, 1, 301).double(), torch.tensor(corners, dtype=torch.float64)))
    expected = np.interp(y, corners, values.repeat_interleave(2))
    tol = 4 * (d + 1) * 2 * d * 2 * 9 * 4 * EPS  # terms of size 2d * 2 * 9, four roundings each
    np.testing.assert_allclose(on_the_curve(values, y), expected, rtol=0, atol=tol)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 12])
def test_parity_is_interpolated_on_the_grid_and_nowhere_wider_than_the_plateau(d):
    for basis in cube.BASES:
        values, grid = parity_values(d, basis), torch.arange(d + 1).double() / d
        inside = on_the_curve(values, grid[1:] - 0.999 / (4 * d)) - values[1:]
        outside = on_the_curve(values, grid[1:] - 1.001 / (4 * d)) - values[1:]
        assert (on_the_curve(values, grid) - values).abs().max() < 300 * d * d * EPS
        assert inside.abs().max() < 300 * d * d * EPS
        assert (outside.abs() > 4e-4).all()


def test_the_bumps_vanish_far_from_the_grid():
    y = torch.tensor([-2.0, -0.26, 1.26, 3.0], dtype=torch.float64)
    assert on_the_curve(torch.ones(4).double(), y).abs().max() < 1e3 * EPS


def test_parity_values_alternate():
    assert parity_values(4, "even_parity").tolist() == [1, 0, 1, 0, 1]
    assert parity_values(3, "character").tolist() == [1, -1, 1, -1]


def test_the_trapezoid_keeps_the_dtype():
    assert {w.dtype for w in trapezoid(torch.tensor([1.0, 0.0]))} == {torch.float32}


# The weights are those of Appendix B


@pytest.mark.parametrize("basis", cube.BASES)
def test_every_block_has_the_entries_of_the_paper(basis):
    n, d, W = 7, 3, 4
    f = function(n, d, W, basis)
    spec, w = construct(f)
    L, S = 2 * math.log(n), f.coefficients.sum()
    assert (spec.n, spec.degree, spec.sparsity, spec.basis) == (n, d, W, basis)
    assert (spec.positions, spec.width, spec.hidden) == (n + 1, n + 2, 4 * (d + 1))
    assert {v.dtype for v in w.values()} == {torch.float64}
    for i, members in enumerate(f.sets):
        row = torch.zeros(n + 2).double()
        row[[m - 1 for m in members]] = L
        assert torch.equal(w["WKQ1"][i], row)
    assert not w["WKQ1"][W:].any()
    assert w["WV1"].nonzero().tolist() == [[n + 1, n + 1]]
    assert w["WV1"].sum() == 1
    assert torch.equal(w["G"].sum(0), torch.tensor([0.0] * (n + 1) + [16.0]).double())
    assert torch.equal(w["WKQ2"][n, :W], f.coefficients.log() + L)
    assert int((w["WKQ2"] != 0).sum()) == W
    assert torch.equal(w["v2"], torch.cat((torch.zeros(n + 1).double(), S[None])))


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_mlp_has_its_closed_form_norms(d):
    _, w = construct(function(6, d, 1))
    square = {k: v.square().sum().item() for k, v in w.items()}
    assert square["F"] == pytest.approx(16 * d**2 * (d // 2 + 1))
    assert square["G"] == 4 * (d + 1)
    bias = 2 * (d + 1) * (2 * d + 1) / (3 * d) + 5 * (d + 1) / (4 * d**2)
    assert square["b"] == pytest.approx(bias)
    _, w = construct(function(6, d, 1, "character"))
    assert w["F"].square().sum().item() == pytest.approx(16 * d**2 * (d + 1))


def test_a_scale_may_be_one_number_a_pair_or_the_papers():
    f, paper = function(5, 2, 3), 2 * math.log(5)

    def scales(logit_scale):
        _, w = construct(f, logit_scale)
        return w["WKQ1"].max().item(), (w["WKQ2"][5, :3] - f.coefficients.log()).mean().item()

    assert scales(None) == pytest.approx((paper, paper))
    assert scales(7) == pytest.approx((7, 7))
    assert scales((3.0, 11.0)) == pytest.approx((3, 11))
    assert scales((None, 11.0)) == pytest.approx((paper, 11))
    assert scales(torch.tensor(7.0)) == pytest.approx((7, 7))
    assert scales([4.0, None]) == pytest.approx((4, paper))


# What the network computes


def naive(f, first, second, bits):
    """One input, loops and numbers only, independent of the tensors."""
    n, d, c = f.n, f.degree, f.coefficients.tolist()
    values = parity_values(d, f.basis).tolist()
    read, scores = [], []
    for i in range(n + 1):
        members = f.sets[i] if i < f.sparsity else []
        weight = [math.exp(first) if j + 1 in members else 1.0 for j in range(n + 1)]
        y = sum(w * b for w, b in zip(weight, [*bits, 0], strict=True)) / sum(weight)
        corners = [k / d + side / (4 * d) for k in range(d + 1) for side in (-1, 1)]
        read.append(float(np.interp(y, corners, np.repeat(values, 2))))
        scores.append(c[i] * math.exp(second) if i < f.sparsity else 1.0)
    return sum(c) * sum(a * r for a, r in zip(scores, read, strict=True)) / sum(scores)


@law
@given(functions(n_max=5), st.floats(0, 4), st.floats(0, 4))
def test_the_network_is_the_one_written_out_in_loops(f, first, second):
    bits = cube.bits(f.n)
    expected = [naive(f, first, second, row) for row in bits.tolist()]
    found = forward(*construct(f, (first, second)), bits)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)


def test_with_a_large_second_scale_the_network_is_exact_at_every_input():
    fails = {
        (f.n, f.degree) for f in every_class(7) if error(f, *construct(f, (None, LARGE))) > 1e-9
    }
    assert fails == {(1, 1), (2, 1)}
    exact = [f for f in every_class(7) if (f.n, f.degree) not in fails]
    assert max(error(f, *construct(f, (None, LARGE))) for f in exact) < ROUNDING


def test_a_missing_member_is_seen():
    f = function(5, 3, 2)
    spec, w = construct(f, LARGE)
    w["WKQ1"][0, f.sets[0][0] - 1] = 0
    assert error(f, spec, w) > 0.1


@law
@given(functions(), st.floats(0, 6), st.floats(0, 3))
def test_the_output_is_the_function_and_a_known_leak(f, second, above):
    scales = (plateau_scale(f.n, f.degree) + above, second)
    spec, w = construct(f, scales)
    output, inside = forward(spec, w, cube.bits(f.n), intermediates=True)
    lost, S = leaks(f, scales)[1], f.coefficients.sum()
    table = f.table()
    formula = (1 - lost) * table + lost * S * inside["parities"][:, -1]
    assert (output - formula).abs().max() < ROUNDING
    bound = lost * S * (1 if f.basis == "even_parity" else 2)
    assert (output - table).abs().max() < bound + ROUNDING


@law
@given(functions(), st.floats(0, 6))
def test_a_mean_is_as_far_from_its_grid_point_as_the_leak_says(f, first):
    _, inside = forward(*construct(f, first), cube.bits(f.n), intermediates=True)
    members = [m - 1 for m in f.sets[0]]
    k = cube.bits(f.n)[:, members].sum(-1)
    offset = (inside["prefix_sums"][:, 0] - k / f.degree).abs().max().item()
    assert offset == pytest.approx(leaks(f, first)[0], abs=20 * EPS)


@pytest.mark.parametrize("n", range(3, 9))
def test_one_term_misses_by_one_over_n_plus_one_at_the_papers_scale(n):
    for d in range(1, n + 1):
        f = function(n, d, 1)
        assert error(f, *construct(f)) == pytest.approx(1 / (n + 1), abs=ROUNDING)
        assert error(f, *construct(f, (None, 3 * math.log(n)))) == pytest.approx(1 / (n**2 + 1))


def test_the_plateau_scale_is_the_least():
    for f in every_class(6):
        least = plateau_scale(f.n, f.degree)
        assert error(f, *construct(f, (least, LARGE))) < ROUNDING
        assert error(f, *construct(f, (least - 1e-3, LARGE))) > 1e-6


def test_four_hundred_bits_are_as_six():
    n, d, W = 400, 3, 4
    generator = torch.Generator().manual_seed(0)
    members = torch.zeros(W, n).long()
    for row in members:
        row[torch.randperm(n, generator=generator)[:d]] = 1
    c = torch.tensor([0.8, 0.5, 0.3, 1e-200], dtype=torch.float64)
    bits = torch.randint(0, 2, (8, n), generator=generator)
    bits[0], bits[1] = 0, 1
    f = (1 - (bits @ members.T) % 2).double() @ c
    spec = dataclasses.replace(construct(function(6, d, W))[0], n=n)
    L = 2 * math.log(n)
    left = (n + 1 - W) / n**2
    off = forward(spec, assemble(spec, members, c, (L, L)), bits) - f
    assert off.abs().max() <= left * c.sum() / (c.sum() + left) + ROUNDING
    for second in (0.0, L, 400.0):
        exact = assemble(spec, members, c, (L, second), exact=True)
        assert (forward(spec, exact, bits) - f).abs().max() < 401 * ROUNDING


@law
@given(functions(), st.floats(0, 6), st.floats(0, 3))
def test_the_repaired_network_is_exact_at_every_scale(f, second, above):
    first = plateau_scale(f.n, f.degree) + above
    # the read-out is at most S + n + 1 - W, here up to 16, and so is what cancels
    assert error(f, *construct_exact(f, (first, second))) < 2 * ROUNDING
    assert error(f, *construct_exact(f)) < 2 * ROUNDING


# The forward pass


def test_an_ensemble_gives_what_its_members_give():
    fs = [function(5, 2, 3, seed=s) for s in range(4)]
    spec, _ = construct(fs[0])
    each = [construct(f)[1] for f in fs]
    bits = cube.bits(5)
    expected = torch.stack([forward(spec, w, bits) for w in each])
    stacked = {k: torch.stack([w[k] for w in each]) for k in each[0]}
    torch.testing.assert_close(forward(spec, stacked, bits), expected, rtol=0, atol=ROUNDING)
    grid = {k: v.unflatten(0, (2, 2)) for k, v in stacked.items()}
    found, inside = forward(spec, grid, bits, intermediates=True)
    torch.testing.assert_close(found, expected.unflatten(0, (2, 2)), rtol=0, atol=ROUNDING)
    assert inside["attention2"].shape == (2, 2, 32, 6)
    own = torch.stack([bits[:8] for _ in fs])  # each member its own inputs
    torch.testing.assert_close(forward(spec, stacked, own), expected[:, :8], rtol=0, atol=ROUNDING)


def test_intermediates_are_what_they_are_called():
    f = function(5, 2, 3)
    spec, w = construct(f, LARGE)
    output, inside = forward(spec, w, cube.bits(5), intermediates=True)
    assert torch.equal(output, forward(spec, w, cube.bits(5)))
    for name in ("attention1", "attention2"):
        assert (inside[name].sum(-1) - 1).abs().max() < 10 * EPS
    assert torch.equal(inside["scores1"].softmax(-1), inside["attention1"])
    assert torch.equal(inside["X"], tokens(spec, cube.bits(5)))
    assert torch.equal(inside["Z"][..., -1], inside["parities"])
    assert torch.equal(inside["Z"][..., :-1], inside["X"][..., :-1])
    one = cube.SparseFunction(5, f.masks[:1], torch.ones(1).double(), "even_parity").table()
    assert (inside["parities"][:, 0] - one).abs().max() < ROUNDING
    share = f.coefficients / f.coefficients.sum()
    assert (inside["attention2"][:, :3] - share).abs().max() < 10 * EPS


def test_the_output_is_differentiable_and_maps_over_inputs():
    f = function(4, 2, 2)
    spec, w = construct(f)
    bits = cube.bits(4)

    def one(weights, row):
        return forward(spec, weights, row[None])[0]

    gradients = torch.func.vmap(torch.func.grad(one), (None, 0))(w, bits)
    step = 1e-6
    moved = w | {"v2": w["v2"] + step * torch.eye(6).double()[-1]}
    slope = (forward(spec, moved, bits) - forward(spec, w, bits)) / step
    assert (gradients["v2"][:, -1] - slope).abs().max() < 1e-8
    assert all(g.isfinite().all() for g in gradients.values())


def test_float32_weights_give_float32():
    f = function(6, 2, 3)
    spec, w = construct(f)
    single = forward(spec, {k: v.float() for k, v in w.items()}, cube.bits(6))
    assert single.dtype == torch.float32
    assert (single - forward(spec, w, cube.bits(6))).abs().max() < 1e-4


# Arguments


def sparse(n, masks, coefficients, basis="even_parity"):
    return cube.SparseFunction(
        n, torch.tensor(masks), torch.tensor(coefficients, dtype=torch.float64), basis
    )


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (sparse(4, [3, 7], [1.0, 1.0]), r"one size, found sizes \[2, 3\]"),
        (sparse(4, [0], [1.0]), "empty set"),
        (sparse(4, [3, 5], [1.0, -0.5]), "positive and finite, found -0.5"),
        (sparse(4, [3, 5], [1.0, 0.0]), "positive and finite, found 0"),
        (sparse(4, [3, 5], [1.0, math.nan]), "positive and finite, found nan"),
        (sparse(3, [1, 2, 4], [1.0] * 3), None),
        (sparse(4, [3, 5, 6, 9, 10], [1.0] * 5), "between 1 and n = 4, got 5"),
        (
            cube.SparseFunction(4, torch.zeros(0, dtype=torch.int64), torch.zeros(0).double()),
            "between 1 and n = 4, got 0",
        ),
    ],
)
def test_a_function_of_another_kind_is_refused_by_name(f, words):
    if words is None:
        construct(f)
        return
    for build in (construct, construct_exact, leaks):
        with pytest.raises(ValueError, match=words):
            build(f)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (-1.0, "first logit_scale must be finite and at least 0, got -1"),
        ((1.0, math.inf), "second logit_scale must be finite"),
        (math.nan, "first logit_scale must be a number, got nan"),
        ((1.0, 2.0, 3.0), "a pair, got 3"),
    ],
)
def test_a_bad_scale_is_named(scale, words):
    with pytest.raises(ValueError, match=words):
        construct(function(4, 2, 2), scale)


def test_the_repaired_network_wants_its_plateaus():
    with pytest.raises(ValueError, match=r"must be at least 2\.35138, got 2\.3"):
        construct_exact(function(4, 2, 2), (2.3, 5.0))


@pytest.mark.parametrize(
    ("bits", "kind", "words"),
    [
        (torch.zeros(3, 5, dtype=torch.int64), ValueError, r"\(\.\.\., B, 4\), got \(3, 5\)"),
        (torch.zeros(4, dtype=torch.int64), ValueError, r"got \(4,\)"),
        (torch.tensor([[1, -1, 1, 1]]), ValueError, "bits are 0 or 1, got -1"),
        (torch.zeros(3, 4), TypeError, "integer or bool, got torch.float32"),
    ],
)
def test_bad_bits_are_named(bits, kind, words):
    with pytest.raises(kind, match=words):
        forward(*construct(function(4, 2, 2)), bits)


def test_other_bad_input_is_named():
    spec, _ = construct(function(4, 2, 2))
    with pytest.raises(ValueError, match="weights are for 5 bits, the sizes for 4"):
        forward(spec, construct(function(5, 2, 2))[1], cube.bits(4))
    with pytest.raises(ValueError, match=r"d \+ 1 >= 2 values on one axis, got \(1,\)"):
        trapezoid(torch.ones(1))
    with pytest.raises(ValueError, match=r"d \+ 1 >= 2 values on one axis, got \(2, 2\)"):
        trapezoid(torch.ones(2, 2))
    with pytest.raises(TypeError, match=r"floating, got torch\.int64"):
        trapezoid(torch.tensor([1, 0]))
    with pytest.raises(ValueError, match="unknown basis 'parity'"):
        parity_values(3, "parity")
    with pytest.raises(ValueError, match="degree must be at least 1, got 0"):
        parity_values(0, "character")
    with pytest.raises(ValueError, match="between 1 and n = 3, got 4"):
        plateau_scale(3, 4)
    with pytest.raises(TypeError, match="expected a SparseFunction, got Tensor"):
        construct(function(4, 2, 2).table())
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.n = 5


def test_bool_bits_are_bits():
    f = function(4, 2, 2)
    spec, w = construct(f)
    assert torch.equal(forward(spec, w, cube.bits(4).bool()), forward(spec, w, cube.bits(4)))
