"""Capacity: complexity by definition, chaining bounds above it, the optimal split, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.covers import capacity
from helpers.covers import linear as covers
from helpers.rng import f64
from tests.draws import normal

law = settings(deadline=None, max_examples=40)
EPS = torch.finfo(torch.float64).eps


@pytest.mark.parametrize(("F", "m"), [(1, 1), (1, 5), (3, 4), (7, 6)])
def test_the_complexity_is_its_definition(F, m):
    values = normal(F, m, seed=F)
    total = 0.0
    for signs in itertools.product((-1, 1), repeat=m):
        sums = [sum(s * v for s, v in zip(signs, row, strict=True)) for row in values.tolist()]
        total += max(sums)
    by_hand = total / (m * 2**m)
    assert capacity.rademacher(values).item() == pytest.approx(by_hand, abs=20 * m * EPS)


def test_all_signs_fit_every_noise():
    for m in (1, 3, 7):
        assert capacity.rademacher(cube.points(m)).item() == 1.0


def test_the_longest_sample_whose_signs_are_tried_is_taken(monkeypatch):
    monkeypatch.setattr(capacity, "MAX_SIGNS", 3)
    assert capacity.rademacher(torch.eye(3)).item() == pytest.approx(1 / 4)  # (7 - 1) / 8 / 3
    with pytest.raises(ValueError, match="m from 1 to 3 inputs, got 4"):
        capacity.rademacher(torch.eye(4))


def test_an_empty_batch_has_no_bounds():
    assert capacity.massart(torch.ones(0, 2, 3)).shape == (0,)


def test_a_batch_and_small_portions_give_the_same(monkeypatch):
    values = normal(2, 3, 4, 6)
    together = capacity.rademacher(values)
    assert together.shape == (2, 3)
    monkeypatch.setattr(capacity, "_AT_ONCE", 7)
    assert torch.allclose(capacity.rademacher(values), together, rtol=1e-13, atol=1e-15)
    assert torch.allclose(capacity.rademacher(values[1, 2]), together[1, 2], rtol=1e-13)


@law
@given(st.integers(1, 6), st.integers(1, 6), st.floats(-3, 3), st.integers(0, 10**6))
def test_the_complexity_scales_ignores_shifts_and_grows_with_the_class(F, m, factor, seed):
    values, shift = normal(F, m, seed=seed), normal(m, seed=seed + 1)
    R = capacity.rademacher(values).item()
    tol = 100 * EPS * (1 + abs(factor))
    assert capacity.rademacher(values + shift).item() == pytest.approx(R, abs=tol)
    scaled = capacity.rademacher(factor * values).item()
    mirrored = R if factor >= 0 else capacity.rademacher(-values).item()
    assert scaled == pytest.approx(abs(factor) * mirrored, abs=tol)
    assert mirrored == pytest.approx(R, abs=tol)  # the signs are symmetric
    smaller = capacity.rademacher(values[: max(1, F - 1)]).item()
    assert smaller <= R + tol


@law
@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 10**6))
def test_massart_and_the_integral_lie_above_the_complexity(F, m, seed):
    values = normal(F, m, seed=seed)
    R = capacity.rademacher(values).item()
    assert capacity.massart(values).item() + 10 * EPS >= R
    top = values.abs().max().item()
    scales = torch.cat((torch.zeros(1), top * 2 ** torch.linspace(-4, 1, 11))).double()
    log_sizes = capacity.greedy_log_sizes(capacity.sample_distances(values), scales)
    assert capacity.DUDLEY * capacity.dudley(scales, log_sizes, m, top) + 10 * EPS >= R


def test_the_covers_cover_and_do_not_grow_with_the_scale():
    values = normal(30, 5)
    distance = capacity.sample_distances(values)
    by_hand = (values[:, None] - values[None]).abs().amax(-1)
    assert torch.allclose(distance, by_hand, rtol=1e-14)
    scales = torch.tensor([0.0, 0.5, 1.0, 2.0, 10.0], dtype=torch.float64)
    found = capacity.greedy_log_sizes(distance, scales)
    assert found[0].item() == pytest.approx(math.log(30))
    assert found[-1].item() == 0
    assert (found.diff() <= 0).all()


def test_the_integral_of_steps_is_the_sum_of_rectangles():
    scales = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)
    log_sizes = torch.tensor([16.0, 4.0, 1.0], dtype=torch.float64)
    # square roots of log N / m: 4, 2, 1 for m = 1; delta + integral is 8 at 0, 6.5 at 0.5, 5 at 2
    assert capacity.dudley(scales, log_sizes, 1, 5.0) == pytest.approx(5.0)
    # for m = 64: 1/2, 1/4, 1/8, and delta = 0 is best: 1/4 + 3/8 + 3/8
    assert capacity.dudley(scales, log_sizes, 64, 5.0) == pytest.approx(1.0)
    assert capacity.dudley(scales, log_sizes, 64, 1.0) == pytest.approx(0.25 + 0.125)
    assert capacity.dudley(scales, 0 * log_sizes, 64, 5.0) == 0


@law
@given(st.floats(0.01, 100), st.integers(1, 300), st.floats(0.1, 10))
def test_the_closed_form_is_the_least_over_delta(C, m, top):
    scale = math.sqrt(C / m)
    deltas = top * torch.linspace(-14, 0, 8001, dtype=torch.float64).exp()
    least = (deltas + scale * (top / deltas).log()).min().item()
    h = 14 / 8000  # step of log delta
    closed = capacity.dudley_power(C, m, top)
    assert closed * (1 - 1e-12) <= least <= closed + scale * h**2
    assert 0 < closed <= top


@law
@given(st.integers(1, 6), st.floats(0.1, 5), st.integers(0, 10**6))
def test_the_split_spends_the_budget_and_no_other_is_better(parts, total, seed):
    alpha, beta = normal(2, parts, seed=seed).exp()
    x, least = capacity.allocate(alpha, beta, total)
    assert (beta * x).sum().item() == pytest.approx(total, rel=1e-13)
    assert (alpha / x**2).sum().item() == pytest.approx(least.item(), rel=1e-13)
    other = x * (0.1 * normal(50, parts, seed=seed + 1)).exp()
    other *= total / (other @ beta)[:, None]
    assert ((alpha / other**2).sum(-1) >= least * (1 - 1e-13)).all()


def test_the_split_takes_batches():
    alpha, beta = normal(3, 4).exp(), normal(4, seed=1).exp()
    x, least = capacity.allocate(alpha, beta, 2.0)
    assert x.shape == (3, 4)
    for i in range(3):
        alone, value = capacity.allocate(alpha[i], beta, 2.0)
        assert torch.allclose(x[i], alone, rtol=1e-14)
        assert least[i].item() == pytest.approx(value.item(), rel=1e-14)


def test_the_bound_of_zhang_is_its_formula():
    assert capacity.zhang_bound(10, 1.0, 2.0, 0.5) == pytest.approx(
        36 * 16 * math.log(2 * 18 * 10 + 1)
    )
    assert capacity.zhang_bound(100, 1, 1, 0.1) == pytest.approx(3600 * math.log(84 * 100 + 1))


@pytest.mark.parametrize(("N", "ratio"), [(2, 1.5), (3, 2.0), (4, 2.5), (5, 3.0)])
def test_the_orthogonal_cover_counts_all_roundings(N, ratio):
    v = normal(4000, N)
    v *= ratio / v.norm(dim=-1, keepdim=True)  # in units of epsilon
    v = torch.cat((v, ratio * torch.eye(N).double(), v / 2))
    z = (v / 2).round()
    assert (v - 2 * z).abs().max() <= 1
    assert z.abs().sum(-1).max() <= ratio**2
    size = capacity.orthogonal_cover_log_size(N, ratio, 1.0, 1.0)
    assert size == pytest.approx(math.log(covers.maurey_size(N, math.floor(ratio**2))))
    assert math.log(len(z.unique(dim=0))) <= size
    assert size <= ratio**2 * math.log(2 * N + 1)


def test_the_orthogonal_packing_is_below_the_covers():
    for N in (1, 5, 64, 4096):
        for ratio in (1.0, 2.0, 3.0, 4.0, 7.3):
            low = capacity.orthogonal_packing_log_size(N, ratio, 1.0, 1.0)
            assert 0 <= low <= capacity.orthogonal_cover_log_size(N, 1.0, ratio, 1.0)
            assert low <= capacity.zhang_bound(N, ratio, 1.0, 1.0)
    # k < 9/4: two of six entries, four signs
    assert capacity.orthogonal_packing_log_size(6, 3.0, 1.0, 1.0) == pytest.approx(math.log(60))
    # 25/16: one of six entries, two signs
    assert capacity.orthogonal_packing_log_size(6, 2.5, 1.0, 1.0) == pytest.approx(math.log(12))
    # k h^2 = 4 with h > 2 does not fit: k = 0
    assert capacity.orthogonal_packing_log_size(6, 2.0, 1.0, 1.0) == 0


def test_the_best_packing_is_found_at_once_among_all():
    for N in (1, 2, 7, 40):
        for ratio in (3.0, 6.5, 20.0):
            most = min(N, math.ceil((ratio / 2) ** 2 * (1 - 1e-12)) - 1)
            every = [math.log(2**k * math.comb(N, k)) for k in range(1, most + 1)]
            assert capacity.orthogonal_packing_log_size(N, ratio, 1.0, 1.0) == max(every)
    assert capacity.orthogonal_packing_log_size(20_000, 300.0, 1.0, 1.0) > 20_000


def test_scales_from_which_no_finite_cover_is_needed_add_nothing_to_the_integral():
    scales, sizes = f64([0, 0.5, 2]), f64([math.inf, 3, math.inf])
    assert capacity.dudley(scales, sizes, 3, 1.0) == capacity.dudley(scales[:2], sizes[:2], 3, 1.0)
    assert capacity.dudley(scales, sizes, 3, 1.0) == pytest.approx(1.0)
    whole = torch.tensor([0, 1]), torch.tensor([4, 0])
    assert capacity.dudley(*whole, 16, 1.0) == capacity.dudley(
        *(v.double() for v in whole), 16, 1.0
    )


def test_bad_input_is_named():
    with pytest.raises(TypeError, match=r"floating, got torch\.int64"):
        capacity.rademacher(torch.ones(2, 3, dtype=torch.int64))
    assert capacity.rademacher(torch.zeros(0, 2, 3)).shape == (0,)
    for shape in ((3,), (0, 3), (3, 0)):
        with pytest.raises(ValueError, match="at least one function and one input"):
            capacity.rademacher(torch.zeros(shape))
        with pytest.raises(ValueError, match="at least one function and one input"):
            capacity.massart(torch.zeros(shape))
    with pytest.raises(ValueError, match="m from 1 to 20 inputs, got 21"):
        capacity.rademacher(torch.zeros(2, 21))
    with pytest.raises(ValueError, match=r"increase from at least 0, got \[-0.5, 1.0\]"):
        capacity.greedy_log_sizes(torch.zeros(2, 2), torch.tensor([-0.5, 1.0]))
    good = torch.tensor([0.0, 1.0])
    with pytest.raises(ValueError, match="scales must increase"):
        capacity.greedy_log_sizes(torch.zeros(2, 2), good.flip(0))
    with pytest.raises(ValueError, match="expected scales on one axis"):
        capacity.greedy_log_sizes(torch.zeros(2, 2), torch.zeros(0))
    with pytest.raises(ValueError, match="scales start at 0"):
        capacity.dudley(good + 1, good, 3, 1.0)
    with pytest.raises(ValueError, match="scales start at 0"):
        capacity.dudley(good, torch.zeros(3), 3, 1.0)
    with pytest.raises(ValueError, match="log sizes must be at least 0, found -1"):
        capacity.dudley(good, -good, 3, 1.0)
    with pytest.raises(ValueError, match="log sizes must be at least 0, found nan"):
        capacity.dudley(good, good * math.nan, 3, 1.0)
    with pytest.raises(ValueError, match="scales must increase"):
        capacity.dudley(torch.tensor([0.0, math.nan]), good, 3, 1.0)
    with pytest.raises(ValueError, match="m must be positive and finite, got 0"):
        capacity.dudley(good, good, 0, 1.0)
    with pytest.raises(ValueError, match="C must be positive and finite, got -1"):
        capacity.dudley_power(-1.0, 3, 1.0)
    with pytest.raises(ValueError, match="m must be positive and finite, got 0"):
        capacity.dudley_power(1.0, 0, 1.0)
    with pytest.raises(ValueError, match="alpha must be positive and finite, found 0"):
        capacity.allocate(torch.tensor([0.0, 1.0]), torch.ones(2), 1.0)
    with pytest.raises(ValueError, match="beta must be positive and finite, found inf"):
        capacity.allocate(torch.ones(2), torch.tensor([math.inf, 1.0]), 1.0)
    with pytest.raises(ValueError, match="alpha must be positive and finite, found none"):
        capacity.allocate(torch.ones(0), torch.ones(0), 1.0)
    with pytest.raises(ValueError, match="total must be positive and finite, got 0"):
        capacity.allocate(torch.ones(2), torch.ones(2), 0.0)
    for bound in (
        capacity.zhang_bound,
        capacity.orthogonal_cover_log_size,
        capacity.orthogonal_packing_log_size,
    ):
        with pytest.raises(ValueError, match="epsilon must be positive and finite, got 0"):
            bound(10, 1.0, 1.0, 0.0)
        with pytest.raises(ValueError, match="N must be positive and finite, got 0"):
            bound(0, 1.0, 1.0, 0.5)


def test_sample_distances_do_not_lose_nan():
    with pytest.raises(ValueError, match="values must be finite, got nan"):
        capacity.sample_distances(torch.tensor([[0.0, math.nan], [1.0, 2.0]]))
