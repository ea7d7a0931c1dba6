"""One layer's bounds: formulas, minimisers, the chain, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks, capacity
from papers.lengthfree import linear_maps, single_layer
from papers.lengthfree.single_layer import CONSTANT, Norms
from tests.draws import normal

law = settings(deadline=None, max_examples=60)
some = st.floats(0.1, 10)
widths = st.integers(1, 500)
samples = st.integers(1, 10**6)
norms = st.builds(Norms, w=some, W_c=some, W_v=some, x=some, W_qk=some, lipschitz=some)
ONES = Norms(w=1, W_c=1, W_v=1, x=1, W_qk=1)


def test_the_values_are_the_papers_formulas():
    """B_x = 1, C = 4, d = 8, m = 1000: a = 4 / sqrt(m)."""
    a, rate = 4 / math.sqrt(1000), math.sqrt(math.log(16) / 1000)
    printed = single_layer.theorem_value(1, 4, 8, 1000)
    assert printed == pytest.approx(a * (1 + math.log(1 / a)) + rate)
    appendix = a + rate + a * math.log((1 - rate) / a)
    assert single_layer.dudley_value(1, 4, 8, 1000) == pytest.approx(appendix)
    assert single_layer.theorem_value(3, 4, 8, 10**5) == pytest.approx(
        36 / math.sqrt(10**5) * (1 + math.log(math.sqrt(10**5) / 12))
        + 3 * math.sqrt(math.log(16) / 10**5)
    )
    assert single_layer.theorem_value(1, 4000, 8, 20) < 0


@law
@given(some, some, widths, samples, st.sampled_from((1.0, 2.0)))
def test_the_value_is_the_least_over_cut_offs_that_are_allowed(B_x, C, d, m, c):
    rate, a = math.sqrt(math.log(2 * d) / m), c * B_x**2 * math.sqrt(C / m)
    delta = B_x * torch.linspace(-12, 0, 4001).double().exp()
    objective = delta + (B_x - delta) * rate + a * (B_x / delta).log()
    found = single_layer.dudley_value(B_x, C, d, m, c)
    assert 0 < found <= objective.min() * (1 + 1e-12)
    assert found >= objective.min() * (1 - 1e-4) or a < 1e-5 * B_x
    scaled = single_layer.dudley_value(3 * B_x, C / 9, d, m, c)
    assert scaled == pytest.approx(3 * found, rel=1e-9)


@law
@given(norms, widths, samples)
def test_the_bound_falls_with_the_sample_and_is_capped(given_norms, d, m):
    bound = single_layer.length_free_bound(given_norms, d, m)
    assert single_layer.length_free_bound(given_norms, d, 2 * m) <= bound * (1 + 1e-12)
    assert 0 < bound <= CONSTANT * given_norms.largest * (1 + 1e-12)


def test_the_bound_is_corollary_4_1_1():
    """Norms 2, 3, 5, x = 0.5, W_qk = 7, L = 1.5, d = 4, m = 10^6."""
    given_norms = Norms(w=2, W_c=3, W_v=5, x=0.5, W_qk=7, lipschitz=1.5)
    assert given_norms.product == 45
    assert given_norms.largest == 22.5
    a = 2 * 0.5**3 * 7 * math.sqrt(math.log(33)) / 1000
    rate = math.sqrt(math.log(8)) / 1000
    value = a + 0.5 * rate + a * math.log(0.5 * (1 - rate) / a)
    found = single_layer.length_free_bound(given_norms, 4, 10**6, constant=1.0)
    assert found == pytest.approx(45 * value)
    full = single_layer.length_free_bound(given_norms, 4, 10**6)
    assert full == pytest.approx(45 * value * 8 * math.sqrt(2))


def test_the_older_bound_is_its_formula():
    given_norms = Norms(w=2, W_c=3, W_v=8, x=0.5, W_qk=4, lipschitz=1.5)
    T, m = 10, 10**6
    C = (1.5 * 0.5) ** 2 * (8 ** (2 / 3) + (2 * 4 * 8 * 0.25) ** (2 / 3)) ** 3 * math.log(m * T)
    r, top = math.sqrt(C / m), 1.5 * 8 * 0.5
    expected = 6 * r * (1 + math.log(top / r))
    assert single_layer.length_bound(given_norms, 4, T, m, 1.0) == pytest.approx(expected)
    rows = [single_layer.length_bound(ONES, 4, T, 10**8) for T in (1, 10, 100, 1000)]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]
    for T, m in ((1, 2), (2, 1)):  # the fewest tokens there may be: the bound is its cap
        assert single_layer.length_bound(given_norms, 4, T, m, 1.0) == 6 * top


def test_both_bounds_grow_with_each_norm():
    for name in vars(ONES):
        doubled = Norms(**{**vars(ONES), name: 2.0})
        for bound in (
            single_layer.length_free_bound(doubled, 8, 10**6)
            / single_layer.length_free_bound(ONES, 8, 10**6),
            single_layer.length_bound(doubled, 8, 50, 10**6)
            / single_layer.length_bound(ONES, 8, 50, 10**6),
        ):
            assert bound > 1.4


@law
@given(norms, st.integers(1, 64), st.floats(0.01, 2))
def test_the_least_sample_meets_its_target_and_no_smaller_one_does(given_norms, d, share):
    target = share * given_norms.largest
    m = single_layer.least_samples(given_norms, d, target)
    assert single_layer.length_free_bound(given_norms, d, m) <= target
    smaller = m - max(1, m // 10**5)
    assert smaller < 1 or single_layer.length_free_bound(given_norms, d, smaller) > target


def test_measured_norms_are_those_of_columns():
    w, W_c, W_v, W_qk = normal(4), normal(3, 4, seed=1), normal(4, 3, seed=2), normal(4, 4, seed=3)
    X = normal(5, 6, 4, seed=4)
    found = single_layer.measured_norms(w, W_c, W_v, W_qk, X, 2.0)
    assert found.w == pytest.approx(w.abs().sum().item())
    assert found.W_c == pytest.approx(max(W_c[:, j].abs().sum().item() for j in range(4)))
    assert found.W_v == pytest.approx(max(W_v[:, j].abs().sum().item() for j in range(3)))
    assert found.W_qk == pytest.approx(linear_maps.matrix_norm(W_qk, 1, 1).item())
    assert found.x == pytest.approx(X.norm(dim=-1).max().item())
    assert found.lipschitz == 2
    outputs = single_layer.outputs(X, X[:, 0], (w, W_c, W_v, W_qk), lambda y: 2 * torch.tanh(y))
    assert outputs.abs().max() <= found.largest


def test_the_norms_of_a_layer_of_width_1_are_its_sizes():
    one = torch.ones(1, 1).double()
    found = single_layer.measured_norms(-2 * one[0], 3 * one, -4 * one, 5 * one, 6 * one)
    assert found == Norms(w=2, W_c=3, W_v=4, W_qk=5, x=6)


def test_the_output_is_the_layer_written_out():
    X, (w, W_c, W_v, W_qk) = normal(5, 3), (normal(3), normal(2, 3), normal(3, 2), normal(3, 3))
    query = X[1]
    scores = torch.stack([query @ W_qk @ x for x in X])
    u = (scores.softmax(0)[:, None] * X).sum(0)
    expected = w @ W_c.T @ torch.relu(W_v.T @ u)
    found = single_layer.outputs(X, query, (w, W_c, W_v, W_qk), torch.relu)
    assert found == pytest.approx(expected.item())


def in_l1_ball(count, dim, seed):
    v = normal(count, dim, seed=seed)
    return v / v.abs().sum(-1, keepdim=True)


@pytest.mark.parametrize("activation", [torch.relu, torch.tanh, torch.abs])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_of_the_chain_is_at_most_the_next(activation, seed):
    u = normal(3, 7, 3, seed=seed)
    corners = torch.cat((torch.eye(3), -torch.eye(3))).double()
    columns = 1.7 * torch.cat((corners, in_l1_ball(5, 3, seed + 50)))
    found = single_layer.chain(u, columns, 1.7, activation, 1.0)
    for step, following in itertools.pairwise(found):
        assert step <= following * (1 + 1e-12)
    assert found[2] == pytest.approx(found[3])
    class_of_u = u.mT.reshape(-1, 7)
    E = capacity.rademacher(torch.cat((class_of_u, -class_of_u))).item()
    assert found[3] == pytest.approx(2 * 1.7 * E)
    longer = single_layer.chain(u, 2 * columns, 1.7, activation, 1.0)
    assert longer[2] > longer[3]


def test_the_zero_function_is_in_the_class_without_sign():
    """One function f: E |S| with the sign, and 2 E max(S, 0), the same, with 0 in place of it."""
    found = single_layer.chain(normal(1, 5, 2), normal(1, 2, seed=3), 1.0, torch.tanh, 1.0)
    assert found[0] > 0
    assert found[1] == pytest.approx(found[0])
    assert found[2] > 0


def test_the_bound_holds_for_random_layers():
    """A class of random layers inside the norms, on samples small and large in the norms."""
    d, k, m, N = 3, 2, 8, 40
    for seed, scale in enumerate((0.03, 1.0, 30.0)):
        X = blocks.to_ball(normal(m, 5, d, seed=seed))
        w = in_l1_ball(N, d, seed)[:, None]
        W_c = in_l1_ball(N * d, k, seed).reshape(N, d, k).mT[:, None]
        W_v = in_l1_ball(N * k, d, seed).reshape(N, k, d).mT[:, None]
        W_qk = scale * in_l1_ball(N, d * d, seed).reshape(N, 1, d, d)
        values = single_layer.outputs(X, X[:, 0], (w, W_c, W_v, W_qk), torch.tanh)
        bound = single_layer.length_free_bound(Norms(1, 1, 1, 1, scale), d, m, softmax=1.0)
        assert capacity.rademacher(values).item() <= bound


def absolute_sum(W):
    return W.abs().sum((-2, -1))


def test_the_search_finds_what_is_known_and_nothing_above_it():
    """One input: R = B_x. Scores next to 0, d = 1: the mean of |sum of m signs|, without luck."""
    generator = torch.Generator().manual_seed(0)
    assert single_layer.searched_complexity((1, 3, 2), 1.0, absolute_sum, generator) == 1
    for m, tolerance in ((9, 1e-8), (25, 4 / math.sqrt(2048 * 25))):
        found = single_layer.searched_complexity((m, 3, 1), 1e-9, absolute_sum, generator)
        assert found == pytest.approx(math.comb(m - 1, m // 2) / 2 ** (m - 1), abs=tolerance)


def test_the_search_uses_matrices_where_they_help():
    generator = torch.Generator().manual_seed(1)
    small, large = (
        single_layer.searched_complexity((6, 8, 2), B, absolute_sum, generator) for B in (1e-9, 30)
    )
    assert small < large <= 1
    summed = single_layer.searched_complexity(
        (6, 8, 2), 30, absolute_sum, generator, normalise=torch.exp
    )
    assert summed > 1, "weights that do not sum to 1 leave the ball"


def test_a_key_cover_at_its_scale_covers_the_outputs():
    """An error of epsilon / B_x^2 at the query moves the average by epsilon at most (c = 1)."""
    X = 1.5 * blocks.to_ball(normal(50, 20, 4))
    query, step = X[:, 0], normal(4, 4, seed=2)
    W = 3 * normal(4, 4, seed=1)
    epsilon = 0.2
    step = step * epsilon / 1.5**2 / (query @ step).norm(dim=-1).max()
    eye = torch.eye(4).double()
    change = blocks.mix(X, query, eye, W) - blocks.mix(X, query, eye, W + step)
    assert change.norm(dim=-1).max() <= epsilon


@pytest.mark.parametrize("bad", [0, -1, math.inf, math.nan])
def test_a_bad_norm_is_named(bad):
    for name in vars(ONES):
        with pytest.raises(ValueError, match=f"{name} must be (positive and )?finite, got"):
            Norms(**{**vars(ONES), name: bad})


@pytest.mark.parametrize("bad", [0, -3, math.nan, math.inf])
def test_a_bad_size_is_named(bad):
    value = single_layer.dudley_value
    for name, call in (
        ("d", lambda: single_layer.length_free_bound(ONES, bad, 10)),
        ("m", lambda: single_layer.length_free_bound(ONES, 10, bad)),
        ("m", lambda: value(1, 1, 4, bad)),
        ("T", lambda: single_layer.length_bound(ONES, 4, bad, 10)),
        ("m", lambda: single_layer.length_bound(ONES, 4, 10, bad)),
        ("d", lambda: single_layer.theorem_value(1, 1, bad, 4)),
        (
            "steps",
            lambda: single_layer.searched_complexity(
                (2, 2, 2), 1.0, absolute_sum, torch.Generator(), steps=bad
            ),
        ),
    ):
        with pytest.raises((ValueError, TypeError), match=f"{name} must be (at least 1|a whole)"):
            call()


def test_other_bad_input_is_named():
    value = single_layer.dudley_value
    with pytest.raises(ValueError, match="C must be positive"):
        value(1, 0, 4, 10)
    with pytest.raises(ValueError, match="m T must be at least 2"):
        single_layer.length_bound(ONES, 4, 1, 1)
    with pytest.raises(ValueError, match="constant must be positive and finite, got -1"):
        value(1, 1, 4, 10, constant=-1.0)
    with pytest.raises(ValueError, match="target must be positive"):
        single_layer.least_samples(ONES, 4, 0.0)
    with pytest.raises(ValueError, match=r"not met up to 1e\+60"):
        single_layer.least_samples(ONES, 4, 1e-40)
    u, columns = normal(2, 4, 3), normal(2, 3)
    with pytest.raises(ValueError, match=r"got \(2, 4, 3\) and \(2, 2\)"):
        single_layer.chain(u, columns[:, :2], 1.0, torch.tanh, 1.0)
    with pytest.raises(ValueError, match=r"got \(4, 3\) and \(2, 3\)"):
        single_layer.chain(u[0], columns, 1.0, torch.tanh, 1.0)
    with pytest.raises(ValueError, match=r"got \(2, 4, 3\) and \(3,\)"):
        single_layer.chain(u, columns[0], 1.0, torch.tanh, 1.0)
    with pytest.raises(TypeError, match="averages must be floating"):
        single_layer.chain(u.long(), columns, 1.0, torch.tanh, 1.0)
    w, square, X = normal(3), normal(3, 3), normal(2, 3)
    with pytest.raises(ValueError, match=r"W_c must have shape \(3, 3\)"):
        single_layer.measured_norms(w, normal(3, 2), square, square, X)
    with pytest.raises(ValueError, match=r"W_qk must have shape \(3, 3\)"):
        single_layer.measured_norms(w, square, square, normal(3, 2), X)
    with pytest.raises(ValueError, match=r"no width is 0, got w \(0,\) and W_v"):
        single_layer.measured_norms(w[:0], X[:, :0], X.mT[:0], square[:0, :0], X[:, :0])
    for other in (X[:, :2], X[:0], X[0]):
        with pytest.raises(ValueError, match=r"X must have shape .* and a token, got"):
            single_layer.measured_norms(w, square, square, square, other)
    with pytest.raises(TypeError, match="X must be floating"):
        single_layer.measured_norms(w, square, square, square, X.long())
    with pytest.raises(ValueError, match="W_qk must be positive"):
        single_layer.measured_norms(w, square, square, 0 * square, X)
