"""The span of the data: projections, floors, the law of forgetting, blind learners."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize

from helpers.nets import baselines
from helpers.nets.baselines import FeedforwardSpec
from helpers.retrieval import span

law = settings(deadline=None, max_examples=30)
some_seed = st.integers(0, 10_000)
EPS = torch.finfo(torch.float64).eps


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def unit(d, seed=0):
    return normalize(normal(d, seed=seed), dim=-1)


def test_samples_are_labelled_by_the_token_pointed_at():
    u = unit(3)
    x, t, y = span.sample(40, 5, u, generator(1))
    assert (x.shape, t.shape, y.shape) == ((40, 15), (40,), (40,))
    assert x.dtype == y.dtype == torch.float64
    assert set(t.tolist()) == set(range(5))
    for i in range(40):
        assert y[i].item() == pytest.approx((x[i, 3 * t[i] : 3 * t[i] + 3] @ u).item(), rel=1e-12)


def test_the_pointer_is_one_of_the_last_inputs():
    found = span.with_pointer(normal(2, 3, 4), torch.tensor([[0, 1, 2], [2, 2, 0]]), 3)
    assert found.shape == (2, 3, 7)
    assert torch.equal(found[1, 0, 4:], torch.tensor([0.0, 0.0, 1.0]).double())


def test_the_basis_is_orthonormal_and_spans_the_rows():
    x = normal(4, 9)
    x = torch.cat((x, x[:1] + x[1:2]))
    spanned = span.basis(x)
    assert spanned.shape == (9, 4)
    torch.testing.assert_close(spanned.mT @ spanned, torch.eye(4).double(), rtol=0, atol=1e-13)
    assert span.outside(x.mT, spanned).abs().max() < 1e-13


@law
@given(some_seed)
def test_what_is_outside_meets_no_sample(seed):
    x, W = normal(3, 8, seed=seed), normal(2, 8, 5, seed=seed + 1)
    left = span.outside(W, span.basis(x))
    assert (x @ left).abs().max() < 1e-12
    torch.testing.assert_close(span.outside(left, span.basis(x)), left, rtol=0, atol=1e-13)


@law
@given(some_seed, st.integers(1, 6), st.integers(1, 4), st.integers(1, 30))
def test_the_mean_floor_is_that_of_the_theorem(seed, N, d, n):
    M = span.seen(normal(n, N * d, seed=seed), N)
    each = span.span_floor(M, torch.eye(d).double(), N)
    assert each.mean().item() == pytest.approx(span.span_bound(n, N, d), abs=1e-12)


@law
@given(some_seed)
def test_the_floor_is_the_distance_from_the_span(seed):
    """By least squares: what of e_t x u the samples cannot combine."""
    N, d, n = 4, 3, 5
    x, u = normal(n, N * d, seed=seed), unit(d, seed + 1)
    left = 0.0
    for t in range(N):
        target = torch.zeros(N, d).double()
        target[t] = u
        target = target.flatten()
        combined = x.mT @ torch.linalg.lstsq(x.mT, target[:, None]).solution[:, 0]
        left += (target - combined).square().sum().item() / N
    floor = span.span_floor(span.seen(x, N), u, N)
    assert floor.item() == pytest.approx(left, abs=1e-12)


def test_the_bounds_are_their_formulas():
    assert span.span_bound(9, 6, 3) == 0.5
    assert span.span_bound(18, 6, 3) == span.span_bound(100, 6, 3) == 0
    assert span.equivariant_bound(39, 6, 3) == 0.5
    assert span.equivariant_bound(0, 6, 3) == 1
    assert span.equivariant_bound(80, 6, 3) == 0


@law
@given(st.integers(1, 20), st.integers(1, 9), st.integers(0, 500))
def test_a_blind_learner_needs_more_than_a_reader_of_the_span(N, d, n):
    assert span.equivariant_bound(n, N, d) >= span.span_bound(n, N, d) - 1e-12


def test_separate_least_squares_leaves_what_its_samples_miss():
    N, u = 2, torch.tensor([1.0, 0.0]).double()
    x = torch.tensor([[1.0, 0, 0, 0], [0, 0, 3, 0], [0, 0, 0, 1]]).double()
    both = torch.tensor([0, 1, 1])
    assert span.separate_risk(x, both, u, N).item() == pytest.approx(0, abs=1e-14)
    swapped = torch.tensor([1, 0, 1])
    assert span.separate_risk(x, swapped, u, N).item() == pytest.approx(1, abs=1e-14)
    assert span.separate_risk(x[:1], both[:1], u, N).item() == pytest.approx(0.5, abs=1e-14)


def test_the_mean_risk_of_separate_least_squares():
    """1 - n/(N^2 d) while no pointer has more than N d samples; 400 sets, 4.5 standard errors."""
    N, d, n = 3, 3, 6
    risks = []
    for seed in range(400):
        u = unit(d, seed)
        x, t, _ = span.sample(n, N, u, generator(seed))
        risks.append(span.separate_risk(x, t, u, N))
    risks = torch.stack(risks)
    assert abs(risks.mean() - (1 - n / (N * N * d))) < 4.5 * risks.std() / 20


def net(E=2, N=3, d=2, n=4):
    spec = FeedforwardSpec(N * d + N, (5,), activation="tanh")
    weights = span.initial_weights(spec, N * d, E, generator())
    drawn = [span.sample(n, N, unit(d), generator(k)) for k in range(E)]
    x, t, y = (torch.stack(part) for part in zip(*drawn, strict=True))
    inputs = span.with_pointer(x, t, N)
    return weights, x, lambda w: (baselines.forward(spec, w, inputs) - y).square().mean(-1)


def test_descent_forgets_by_the_law():
    weights, x, losses = net()
    eta, penalty, steps = 0.05, 0.1, 80
    kept = {name: w.clone() for name, w in weights.items()}
    last, noted = span.descend(losses, weights, steps, eta, penalty, lambda w: w[span.FIRST], 40)
    assert len(noted) == 3
    assert torch.equal(noted[0], weights[span.FIRST])
    assert torch.equal(noted[2], last[span.FIRST])
    assert all(torch.equal(weights[name], kept[name]) for name in kept)
    for e in range(2):
        spanned = span.basis(x[e])
        before, after = (span.outside(w[span.FIRST][e, :6], spanned) for w in (weights, last))
        law = (1 - 2 * eta * penalty) ** steps * before
        assert (after - law).norm() < 10 * 6 * EPS * steps * before.norm()


def test_a_step_of_descent_is_its_formula():
    start = {"w": torch.tensor([[1.0, -2.0], [0.5, 3.0]]).double()}
    last, _ = span.descend(lambda w: w["w"].square().sum(-1) / 2, start, 1, 0.1, 0.25)
    torch.testing.assert_close(last["w"], start["w"] * (1 - 0.1 * (1 + 0.5)))


def test_the_first_layer_is_normal_where_it_meets_the_data():
    spec = FeedforwardSpec(20 + 4, (500,))
    first = span.initial_weights(spec, 20, 1, generator(), size=2.0)[span.FIRST][0]
    assert first[:20].std().item() == pytest.approx(2 / 20**0.5, rel=0.05)
    assert first[20:].abs().max() <= 1 / 24**0.5


def test_a_gated_net_multiplies():
    weights = span.gated_weights(3, 6, 4, 2, generator())
    x, t = normal(2, 5, 6), torch.tensor([[0, 1, 2, 0, 1]] * 2)
    found = span.gated(weights, span.with_pointer(x, t, 3))
    by_hand = (x[1, 2] @ weights[span.FIRST][1]) @ weights["gate"][1, 2]
    assert found.shape == (2, 5)
    assert found[1, 2].item() == pytest.approx(by_hand.item(), rel=1e-12)


def test_bad_input_is_named():
    g = generator()
    with pytest.raises(ValueError, match="n at least 1, got"):
        span.basis(torch.zeros(0, 3))
    with pytest.raises(ValueError, match=r"torch\.int64"):
        span.basis(torch.ones(2, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="7 numbers are not 3 tokens"):
        span.seen(normal(2, 7), 3)
    with pytest.raises(ValueError, match="N must be at least 1, got 0"):
        span.seen(normal(2, 6), 0)
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        span.span_bound(-1, 2, 2)
    with pytest.raises(ValueError, match="d must be at least 1, got 0"):
        span.equivariant_bound(1, 2, 0)
    with pytest.raises(ValueError, match="need pointers"):
        span.with_pointer(normal(2, 3), torch.zeros(3, dtype=torch.int64), 2)
    with pytest.raises(ValueError, match="D = 9 of 6 inputs"):
        span.initial_weights(FeedforwardSpec(6), 9, 1, g)
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        span.gated_weights(2, 4, 0, 1, g)
    start = {"w": normal(1, 2)}
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        span.descend(lambda w: w["w"].sum(-1), start, 0, 0.1)
    with pytest.raises(ValueError, match=r"learning_rate -1\.0 must be above 0"):
        span.descend(lambda w: w["w"].sum(-1), start, 1, -1.0)
    with pytest.raises(ArithmeticError, match="at step 2"):
        span.descend(lambda w: w["w"].square().sum(-1).square(), start, 9, 1e200)
