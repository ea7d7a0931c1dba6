"""The transformer of Lemma 11: what its heads miss, its net, and the bounds on its error."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.retrieval import attention as construction
from papers.retrieval import random_encodings
from papers.retrieval import task as retrieval
from papers.retrieval.attention import ReluNet
from papers.retrieval.task import Prompts
from tests.draws import seeded


def instance(N, d, q, seed=0, B=2):
    """Prompts in float64, encodings that comply, and tokens at the paper's scale."""
    drawn = retrieval.prompts(B, N, d, seeded(seed), q=q)
    given_ = Prompts(drawn.x.double(), drawn.t)
    omega = random_encodings.spread(N, 80, seeded(seed + 1))
    return given_, omega, retrieval.encode(given_, omega, math.sqrt(d / q))


def random_net(inputs, units=7, seed=5):
    draws = [torch.randn(s, generator=seeded(seed + k)) for k, s in enumerate((7, (7, inputs)))]
    return ReluNet(draws[0].double(), draws[1].double(), torch.linspace(-1, 1, units).double())


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 12), st.integers(1, 3), st.floats(0, 30), st.integers(0, 10**6))
def test_missed_attention_is_what_the_head_does_not_give_to_the_target(N, q, sharpness, seed):
    d = 3
    given_, omega, tokens = instance(N, d, q, seed)
    W = construction.query_key(d, 80, sharpness * q / d, q).double()
    scores = torch.einsum("bid,hde,bje->bihj", tokens, W, tokens)
    on_target = torch.take_along_dim(scores.softmax(-1), given_.t[..., None], -1)[..., 0]
    missed = construction.missed(omega, sharpness)[given_.t]
    # alpha is float32 in the construction: a relative 6e-8 of the sharpness
    torch.testing.assert_close(1 - on_target, missed, rtol=1e-5, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 12), st.integers(1, 3), st.floats(0, 25), st.integers(0, 10**6))
def test_a_head_errs_by_no_more_than_the_bounds(N, q, sharpness, seed):
    d = 3
    given_, omega, tokens = instance(N, d, q, seed)
    W = construction.query_key(d, 80, sharpness * q / d, q).double()
    error = (construction.attend(W, tokens)[..., :d] - retrieval.retrieved(given_)).norm(dim=-1)
    longest = given_.x.norm(dim=-1).max().item()
    missed = construction.missed(omega, sharpness).max().item()
    rounding = 1e-5 * missed * longest + 1e-12
    assert error.max().item() <= 2 * missed * longest + rounding
    bound = construction.retrieval_bound(N, sharpness, longest)
    assert 2 * missed * longest <= bound * (1 + 1e-9)


@pytest.mark.parametrize("inner", [0.0, 0.5, 0.8])
def test_the_bound_is_attained_by_two_values_and_equal_products(inner):
    N, d, sharpness = 9, 2, 60.0
    x = -torch.ones(1, N, d).double()
    x[:, 4] = 1
    given_ = Prompts(x, torch.full((1, N, 1), 4))
    omega = random_encodings.equally_close(N, inner)
    tokens = retrieval.encode(given_, omega, math.sqrt(d))
    W = construction.query_key(d, N + 1, sharpness / d).double()
    error = (construction.attend(W, tokens)[0, 0, 0, :d] - 1).norm().item()
    S = (N - 1) * math.exp(-sharpness * (1 - inner))
    exact = 2 * math.sqrt(2) * S / (1 + S)
    assert error == pytest.approx(exact, rel=1e-9, abs=1e-14)
    bound = construction.retrieval_bound(N, sharpness, math.sqrt(2), inner)
    assert exact == pytest.approx(bound / (1 + S), rel=1e-12)


@given(st.integers(2, 10**6), st.floats(1e-6, 1.0), st.floats(0.1, 50), st.floats(-0.5, 0.9))
def test_the_sharpness_for_an_error_makes_the_bound_that_error(N, epsilon, longest, inner):
    level = construction.sharpness_for(N, epsilon, longest, inner)
    found = construction.retrieval_bound(N, level, longest, inner)
    assert found <= epsilon * (1 + 1e-9)
    if level:
        assert found == pytest.approx(epsilon, rel=1e-9)


def test_one_token_needs_no_sharpness():
    assert construction.sharpness_for(1, 0.1, 3.0) == 0.0


def test_a_net_is_the_sum_over_its_units():
    net, x = random_net(4), torch.randn(5, 4, generator=seeded()).double()
    for row, found in zip(x, net(x), strict=True):
        units = [a * max(0.0, float(w @ row + b)) for a, w, b in zip(*net, strict=True)]
        assert found.item() == pytest.approx(float(sum(units)), rel=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_a_net_moves_no_more_than_its_lipschitz_constant_says(seed):
    net = random_net(4, seed=seed)
    x, y = torch.randn(2, 200, 4, generator=seeded(seed)).double()
    assert bool(((net(x) - net(y)).abs() <= net.lipschitz * (x - y).norm(dim=1) + 1e-12).all())


def test_on_heads_reads_the_data_of_each_head_and_nothing_else():
    d, D, q = 2, 5, 2
    net, outputs = random_net(q * d), torch.randn(3, q, D, generator=seeded()).double()
    wide = construction.on_heads(net, d, D, q)
    expected = net(outputs[..., :d].flatten(-2))
    torch.testing.assert_close(wide(outputs.flatten(-2)), expected, rtol=1e-12, atol=1e-12)
    outputs[..., d:] += 1
    torch.testing.assert_close(wide(outputs.flatten(-2)), expected, rtol=1e-12, atol=1e-12)


def test_on_heads_of_tokens_without_positions_is_the_net_itself():
    net = random_net(4)
    assert all(map(torch.equal, construction.on_heads(net, 2, 2, 2), net))


def test_a_sharp_transformer_computes_g_of_what_is_pointed_at():
    d, q = 3, 2
    given_, _, tokens = instance(10, d, q)
    net, D = random_net(q * d), tokens.shape[-1]
    W = construction.query_key(d, 80, 60 * q / d, q).double()
    found = construction.transformer(W, construction.on_heads(net, d, D, q), tokens)
    expected = net(retrieval.retrieved(given_).flatten(-2))
    longest = given_.x.norm(dim=-1).max().item()
    moved = math.sqrt(q) * construction.retrieval_bound(10, 60, longest)
    assert (found - expected).abs().max().item() <= net.lipschitz * moved + 1e-10


@pytest.mark.parametrize(("d", "q", "pieces"), [(1, 1, 1), (2, 1, 4), (2, 3, 5)])
def test_the_chords_are_too_high_by_no_more_than_they_say_and_attain_it(d, q, pieces):
    radius = 2.0
    net = construction.centred_squares(d, q, radius, pieces)
    h, scale = radius / pieces, math.sqrt(q * d)
    assert net.a.shape == (2 * q * d * pieces + 1,)
    x = radius * (2 * torch.rand(2000, q * d, generator=seeded()).double() - 1)
    excess = net(x) - (x.square() - 1).sum(-1) / scale
    assert bool((excess >= -1e-12).all())
    assert excess.max().item() <= scale * h**2 / 4 + 1e-12
    halfway = torch.full((1, q * d), h / 2, dtype=torch.float64)
    steps = torch.randint(-pieces, pieces + 1, (50, q * d), generator=seeded())
    knots = h * steps.double()
    top = net(halfway) - (halfway.square() - 1).sum(-1) / scale
    assert top.item() == pytest.approx(scale * h**2 / 4, rel=1e-12)
    torch.testing.assert_close(net(knots), (knots.square() - 1).sum(-1) / scale)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: random_net(4)(torch.ones(3).double()), "the net takes 4 numbers"),
        (lambda: construction.on_heads(random_net(4), 3, 5, 2), "a net on q d = 6 numbers"),
        (lambda: construction.on_heads(random_net(4), 2, 1, 2), "got 4 and D = 1"),
        (lambda: construction.centred_squares(0, 1, 1.0, 1), "d must be at least 1, got 0"),
        (lambda: construction.centred_squares(1, 1, 0.0, 1), "radius must be positive"),
        (lambda: construction.centred_squares(1, 1, 1.0, 0), "pieces must be at least 1, got 0"),
        (lambda: construction.missed(torch.ones(1, 3), 1.0), "N at least 2, got"),
        (lambda: construction.retrieval_bound(0, 1.0, 1.0), "expected N >= 1"),
        (lambda: construction.retrieval_bound(3, 1.0, 1.0, inner=1.0), "inner < 1"),
        (lambda: construction.sharpness_for(3, 0.0, 1.0), "epsilon must be positive, got 0.0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
