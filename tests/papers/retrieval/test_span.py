"""The span of the data: projections, floors, the law of forgetting, blind learners."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.retrieval import span
from tests.draws import normal, seeded

law = settings(deadline=None, max_examples=30)
some_seed = st.integers(0, 10_000)
EPS = torch.finfo(torch.float64).eps


def unit(d, seed=0):
    return span.directions(1, d, seeded(seed))[0]


def test_samples_are_labelled_by_the_token_pointed_at():
    u = span.directions(2, 3, seeded())
    found = span.samples(40, 5, u, seeded(1))
    assert (found.x.shape, found.t.shape, found.y.shape) == ((2, 40, 15), (2, 40), (2, 40))
    assert found.x.dtype == found.y.dtype == torch.float64
    assert set(found.t[1].tolist()) == set(range(5))
    for i in range(40):
        start = 3 * found.t[1, i]
        by_hand = found.x[1, i, start : start + 3] @ u[1]
        assert found.y[1, i].item() == pytest.approx(by_hand.item(), rel=1e-12)
        pointer = torch.arange(5) == found.t[1, i]
        assert torch.equal(found.inputs[1, i], torch.cat((found.x[1, i], pointer.double())))


def test_the_targets_give_the_labels():
    found = span.samples(9, 4, unit(3)[None], seeded())
    labels = found.x[0] @ span.targets(found.u[0], 4).mT
    torch.testing.assert_close(labels[torch.arange(9), found.t[0]], found.y[0])


def test_the_basis_is_orthonormal_and_spans_the_rows():
    x = normal(4, 9)
    x = torch.cat((x, x[:1] + x[1:2]))
    spanned = span.basis(x)
    assert spanned.shape == (9, 4)
    torch.testing.assert_close(spanned.mT @ spanned, torch.eye(4).double(), rtol=0, atol=1e-13)
    assert span.outside(x.mT, spanned).abs().max() < 1e-13


def test_a_direction_below_rounding_is_none_by_the_rule_of_numpy():
    for small in (500 * EPS, 2000 * EPS):
        x = torch.zeros(1000, 2, dtype=torch.float64)
        x[0, 0], x[1, 1] = 1, small
        assert span.basis(x).shape[1] == np.linalg.matrix_rank(x.numpy())


@law
@given(some_seed)
def test_what_is_outside_meets_no_sample(seed):
    x, W = normal(3, 8, seed=seed), normal(2, 8, 5, seed=seed + 1)
    left = span.outside(W, span.basis(x))
    assert (x @ left).abs().max() < 1e-12
    torch.testing.assert_close(span.outside(left, span.basis(x)), left, rtol=0, atol=1e-13)


@law
@given(some_seed, st.integers(1, 6), st.integers(1, 4), st.integers(1, 30))
def test_the_samples_see_as_much_as_their_rank(seed, N, d, n):
    M = span.seen(normal(n, N * d, seed=seed), N)
    assert M.trace().item() == pytest.approx(min(n, N * d), abs=1e-11)


@law
@given(some_seed)
def test_the_floor_is_the_distance_from_the_span(seed):
    """By least squares: what of e_t x u the samples cannot combine."""
    N, d, n = 4, 3, 5
    x, u = normal(n, N * d, seed=seed), unit(d, seed + 1)
    wanted = span.targets(u, N).mT
    left = wanted - x.mT @ torch.linalg.lstsq(x.mT, wanted).solution
    floor = 1 - u @ span.seen(x, N) @ u / N
    assert floor.item() == pytest.approx(left.square().sum().item() / N, abs=1e-12)


def test_separate_least_squares_have_the_risk_of_the_dimensions_they_see():
    for n in (1, 2, 7, 18):  # up to N d samples
        assert span.separate_risk(n, 6, 3) == pytest.approx(1 - n / (6 * 18))
    assert span.separate_risk(19, 6, 3) > 1 - 19 / (6 * 18)
    assert span.separate_risk(40, 1, 40) == 0
    rng, found = np.random.default_rng(5), []
    for _ in range(400):  # N = 2, d = 2, n = 5
        t, x = rng.integers(2, size=5), rng.normal(size=(5, 4))
        wanted = np.eye(4)[[0, 2]]
        seen = [np.linalg.pinv(x[t == k]) @ x[t == k] @ wanted[k] for k in (0, 1)]
        found.append(((np.array(seen) - wanted) ** 2).sum() / 2)
    noise = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - span.separate_risk(5, 2, 2)) < 5 * noise


def test_descent_forgets_by_the_law():
    N, d = 3, 2
    data = span.samples(4, N, span.directions(2, d, seeded()), seeded(1))
    eta, penalty, steps = 0.05, 0.1, 80
    for kind in span.KINDS:
        weights = span.initial_weights(kind, N, d, 2, seeded())
        kept = {name: w.clone() for name, w in weights.items()}
        last, noted = span.descend(
            lambda w: (span.outputs(w, data.inputs) - data.y).square().mean(-1),
            *(weights, steps, eta, penalty, lambda w: w[span.FIRST], 40),
        )
        assert len(noted) == 3
        assert torch.equal(noted[0], weights[span.FIRST])
        assert torch.equal(noted[2], last[span.FIRST])
        assert all(torch.equal(weights[name], kept[name]) for name in kept)
        for e in range(2):
            spanned = span.basis(data.x[e])
            before, after = (
                span.outside(w[span.FIRST][e, : N * d], spanned) for w in (weights, last)
            )
            shrunk = (1 - 2 * eta * penalty) ** steps * before
            assert (after - shrunk).norm() < 10 * 6 * EPS * steps * before.norm()


def test_a_step_of_descent_is_its_formula():
    start = {"w": torch.tensor([[1.0, -2.0], [0.5, 3.0]]).double()}
    last, _ = span.descend(lambda w: w["w"].square().sum(-1) / 2, start, 1, 0.1, 0.25)
    torch.testing.assert_close(last["w"], start["w"] * (1 - 0.1 * (1 + 0.5)))


def test_the_first_layer_is_normal_where_it_meets_the_data():
    first = span.initial_weights("tanh", 50, 10, 1, seeded(), size=2.0)[span.FIRST][0]
    assert first[:500].std().item() == pytest.approx(2 / 500**0.5, rel=0.05)
    assert first[500:].abs().max() <= 1 / 550**0.5


def test_a_gated_net_multiplies():
    weights = span.initial_weights("gated", 3, 2, 2, seeded())
    data = span.samples(5, 3, span.directions(2, 2, seeded()), seeded())
    by_hand = (data.x[1, 2] @ weights[span.FIRST][1]) @ weights["gate"][1, data.t[1, 2]]
    found = span.outputs(weights, data.inputs)
    assert found.shape == (2, 5)
    assert found[1, 2].item() == pytest.approx(by_hand.item(), rel=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="n and D at least 1, got"):
        span.basis(torch.zeros(0, 3))
    with pytest.raises(ValueError, match=r"torch\.int64"):
        span.basis(torch.ones(2, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="7 numbers are not 3 tokens"):
        span.seen(normal(2, 7), 3)
    with pytest.raises(ValueError, match="N must be at least 1, got 0"):
        span.seen(normal(2, 6), 0)
    with pytest.raises(ValueError, match="unknown kind 'relu'"):
        span.initial_weights("relu", 2, 2, 1, seeded())
    with pytest.raises(ValueError, match="ensemble must be at least 1, got 0"):
        span.initial_weights("gated", 2, 4, 0, seeded())
    start = {"w": normal(1, 2)}
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        span.descend(lambda w: w["w"].sum(-1), start, 0, 0.1)
    with pytest.raises(ValueError, match=r"learning_rate -1\.0 must be above 0"):
        span.descend(lambda w: w["w"].sum(-1), start, 1, -1.0)
    with pytest.raises(ArithmeticError, match="at step 2"):
        span.descend(lambda w: w["w"].square().sum(-1).square(), start, 9, 1e200)


@pytest.mark.parametrize(
    ("x", "named"),
    [
        (torch.ones(3, 0), r"D at least 1, got \(3, 0\)"),
        (torch.full((2, 2), math.nan), "x must be finite, got nan"),
        (torch.tensor([[1.0, math.inf]]), "x must be finite, got inf"),
    ],
)
def test_rows_without_a_span_are_named(x, named):
    with pytest.raises(ValueError, match=named):
        span.basis(x)
