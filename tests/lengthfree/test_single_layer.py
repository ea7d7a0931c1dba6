"""One layer's bounds: formulas, minimisers, the chain, the door."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import blocks, capacity
from helpers.covers import linear as covers
from helpers.lengthfree import single_layer
from helpers.lengthfree.single_layer import CONSTANT, FORMS, Norms

law = settings(deadline=None, max_examples=60)
some = st.floats(0.1, 10)
widths = st.integers(1, 500)
samples = st.integers(1, 10**6)
norms = st.builds(Norms, w=some, W_c=some, W_v=some, x=some, W_qk=some, lipschitz=some)
ONES = Norms(w=1, W_c=1, W_v=1, x=1, W_qk=1)


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def objective(delta, B_x, C, d, m, c=2.0, points=4000):
    """The cut-off delta plus the integral without splitting the root, by the midpoint rule."""
    grid = torch.linspace(math.log(delta), math.log(B_x), points + 1).double()
    middle = (grid[1:] + grid[:-1]) / 2
    size = math.log(2 * d) + (c * B_x**2 / middle.exp()) ** 2 * C
    return delta + float(((size / m).sqrt() * middle.exp() * grid.diff()).sum())


def test_the_value_is_the_papers_formula():
    """B_x = 1, C = 4, d = 8, m = 1000: a = 4 / sqrt(m)."""
    a, rate = 4 / math.sqrt(1000), math.sqrt(math.log(16) / 1000)
    value = single_layer.dudley_value
    assert value(1, 4, 8, 1000, "printed") == pytest.approx(a * (1 + math.log(1 / a)) + rate)
    appendix = a + rate + a * math.log((1 - rate) / a)
    assert value(1, 4, 8, 1000, "appendix") == pytest.approx(appendix)
    assert value(1, 4, 8, 1000) == pytest.approx(appendix)
    assert single_layer.optimal_delta(1, 4, 8, 1000) == pytest.approx(a / (1 - rate))
    assert single_layer.optimal_delta(1, 4, 8, 1000, constant=1.0) == pytest.approx(
        a / 2 / (1 - rate)
    )
    assert value(3, 4, 8, 10**5, "printed") == pytest.approx(
        36 / math.sqrt(10**5) * (1 + math.log(math.sqrt(10**5) / 12))
        + 3 * math.sqrt(math.log(16) / 10**5)
    )


@pytest.mark.parametrize("case", [(1, 4, 8, 1000), (2, 9, 64, 10**5), (0.5, 30, 3, 300)])
def test_the_exact_value_is_the_least_of_the_integral(case):
    """The midpoint rule in 4000 steps is wrong by less than 1e-5 here."""
    found = single_layer.dudley_value(*case, form="exact")
    delta = single_layer.optimal_delta(*case, exact=True)
    assert found == pytest.approx(objective(delta, *case), rel=1e-5)
    around = [objective(delta * factor, *case) for factor in (0.5, 0.9, 1.1, 1.5)]
    assert found < min(around)


@law
@given(some, some, widths, samples)
def test_no_split_is_better_and_both_stay_within_the_functions(B_x, C, d, m):
    exact = single_layer.dudley_value(B_x, C, d, m, "exact")
    repaired = single_layer.dudley_value(B_x, C, d, m)
    assert 0 < exact <= repaired * (1 + 1e-12)
    assert repaired <= B_x * (1 + 1e-12)


@law
@given(some, some, widths, st.floats(0.1, 10))
def test_the_values_leave_the_top_at_the_sample_that_is_enough(B_x, C, d, factor):
    for exact, form in ((False, "repaired"), (True, "exact")):
        needed = single_layer.enough_samples(B_x, C, d, exact)
        m = max(1, round(needed * factor))
        if abs(m / needed - 1) > 1e-3:
            at_top = single_layer.dudley_value(B_x, C, d, m, form) == B_x
            assert at_top == (m < needed)
            assert (single_layer.optimal_delta(B_x, C, d, m, exact) == B_x) == (m < needed)


@law
@given(some, some, widths, samples, st.floats(0.1, 10), st.sampled_from(FORMS[2:]))
def test_the_value_scales_with_the_inputs(B_x, C, d, m, s, form):
    """Inputs times s, and C over s^2: all functions are s times larger."""
    value = single_layer.dudley_value(B_x, C, d, m, form)
    scaled = single_layer.dudley_value(s * B_x, C / s**2, d, m, form)
    assert scaled == pytest.approx(s * value, rel=1e-9)


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
@given(norms, st.integers(1, 64), st.floats(0.01, 2), st.sampled_from(FORMS[2:]))
def test_the_least_sample_meets_its_target_and_no_smaller_one_does(given_norms, d, share, form):
    target = share * given_norms.largest
    m = single_layer.least_samples(given_norms, d, target, form)
    assert single_layer.length_free_bound(given_norms, d, m, form) <= target
    smaller = m - max(1, m // 10**5)
    assert smaller < 1 or single_layer.length_free_bound(given_norms, d, smaller, form) > target


@law
@given(st.integers(1, 300), some, some, some)
def test_alpha_follows_from_the_cover_constant(d, B_qk, B_x, epsilon):
    for lemma in single_layer.LEMMAS:
        C = single_layer.cover_constant(lemma, d, B_qk, B_x)
        alpha = single_layer.corollary_alpha(lemma, d, B_qk)
        assert B_x * alpha == pytest.approx(2 * math.sqrt(C), abs=1e-12)
    printed = single_layer.corollary_alpha("3.6", d, B_qk, printed=True)
    assert printed == pytest.approx(B_qk * math.sqrt(2 * math.log(2 * d**2 + 1)))
    C = single_layer.cover_constant("3.6", d, B_qk, B_x)
    assert math.isclose(C, (B_x * B_qk) ** 2 * math.log(2 * d**2 + 1), rel_tol=1e-12)
    size = single_layer.key_cover_log_size(d, C, B_x, epsilon)
    assert size == pytest.approx(math.log(2 * d) + 4 * B_x**4 * C / epsilon**2)


def test_measured_norms_are_those_of_columns():
    w, W_c, W_v, W_qk = normal(4), normal(3, 4, seed=1), normal(4, 3, seed=2), normal(4, 4, seed=3)
    X = normal(5, 6, 4, seed=4)
    found = single_layer.measured_norms(w, W_c, W_v, W_qk, X, 2.0)
    assert found.w == pytest.approx(w.abs().sum().item())
    assert found.W_c == pytest.approx(max(W_c[:, j].abs().sum().item() for j in range(4)))
    assert found.W_v == pytest.approx(max(W_v[:, j].abs().sum().item() for j in range(3)))
    assert found.W_qk == pytest.approx(covers.matrix_norm(W_qk, 1, 1).item())
    assert found.x == pytest.approx(X.norm(dim=-1).max().item())
    assert found.lipschitz == 2
    outputs = single_layer.outputs(X, X[:, 0], (w, W_c, W_v, W_qk), lambda y: 2 * torch.tanh(y))
    assert outputs.abs().max() <= found.largest


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
    steps = [found.signed, found.unsigned, found.contracted, found.vertices]
    for step, following in itertools.pairwise(steps):
        assert step <= following * (1 + 1e-12)
    assert found.contracted == pytest.approx(found.vertices)
    class_of_u = u.mT.reshape(-1, 7)
    E = capacity.rademacher(torch.cat((class_of_u, -class_of_u))).item()
    assert found.vertices == pytest.approx(2 * 1.7 * E)
    longer = single_layer.chain(u, 2 * columns, 1.7, activation, 1.0)
    assert longer.contracted > longer.vertices


def test_the_zero_function_is_in_the_class_without_sign():
    """One function f: E |S| with the sign, and 2 E max(S, 0), the same, with 0 in place of it."""
    found = single_layer.chain(normal(1, 5, 2), normal(1, 2, seed=3), 1.0, torch.tanh, 1.0)
    assert found.signed > 0
    assert found.unsigned == pytest.approx(found.signed)
    assert found.contracted > 0


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
        bound = single_layer.length_free_bound(Norms(1, 1, 1, 1, scale), d, m, "exact")
        assert capacity.rademacher(values).item() <= bound


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
        with pytest.raises(ValueError, match=f"{name} must be positive and finite, got"):
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
        ("d", lambda: single_layer.cover_constant("3.6", bad, 1, 1)),
        ("d", lambda: single_layer.key_cover_log_size(bad, 1, 1, 1)),
        ("d", lambda: single_layer.enough_samples(1, 1, bad)),
    ):
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got"):
            call()


def test_other_bad_input_is_named():
    value = single_layer.dudley_value
    with pytest.raises(ValueError, match=r"unknown form 'best'; choose one of printed"):
        value(1, 1, 4, 10, "best")
    with pytest.raises(ValueError, match=r"needs m > ln\(2d\)"):
        value(1, 1, 64, 4, "appendix")
    with pytest.raises(ValueError, match="C must be positive"):
        value(1, 0, 4, 10)
    with pytest.raises(ValueError, match=r"unknown lemma '3\.5'"):
        single_layer.cover_constant("3.5", 4, 1, 1)
    with pytest.raises(ValueError, match="m T must be at least 2"):
        single_layer.length_bound(ONES, 4, 1, 1)
    with pytest.raises(ValueError, match="unknown form 'printed'"):
        single_layer.least_samples(ONES, 4, 1.0, "printed")
    with pytest.raises(ValueError, match="target must be positive"):
        single_layer.least_samples(ONES, 4, 0.0)
    with pytest.raises(ValueError, match=r"not met up to 1e\+60"):
        single_layer.least_samples(ONES, 4, 1e-40)
    u, columns = normal(2, 4, 3), normal(2, 3)
    with pytest.raises(ValueError, match=r"got \(2, 4, 3\) and \(2, 2\)"):
        single_layer.chain(u, columns[:, :2], 1.0, torch.tanh, 1.0)
    with pytest.raises(TypeError, match="averages must be floating"):
        single_layer.chain(u.long(), columns, 1.0, torch.tanh, 1.0)
    w, square, X = normal(3), normal(3, 3), normal(2, 3)
    with pytest.raises(ValueError, match=r"W_c must have shape \(3, 3\)"):
        single_layer.measured_norms(w, normal(3, 2), square, square, X)
    with pytest.raises(ValueError, match=r"W_qk must have shape \(3, 3\)"):
        single_layer.measured_norms(w, square, square, normal(3, 2), X)
    with pytest.raises(ValueError, match="X must have shape"):
        single_layer.measured_norms(w, square, square, square, X[:, :2])
    with pytest.raises(TypeError, match="X must be floating"):
        single_layer.measured_norms(w, square, square, square, X.long())
    with pytest.raises(ValueError, match="W_qk must be positive"):
        single_layer.measured_norms(w, square, square, 0 * square, X)
