"""The recurrent construction: squares and products, exact zeros, layers, states, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.retrieval import random_encodings, recurrent, task
from tests.draws import seeded

law = settings(deadline=None, max_examples=50)
D, D_E, Q, N = 2, 40, 2, 7


def rotated(seed=0):
    """Encodings that satisfy Assumption 3 and have no two coordinates alike."""
    omega = random_encodings.spread(N, D_E, seeded(seed))
    Z = torch.randn(D_E, D_E, generator=seeded(seed), dtype=torch.float64)
    return omega @ torch.linalg.qr(Z)[0]


def tokens_of(omega, reach=5.0, simple=True, seed=0):
    given_prompts = task.prompts(30, N, D, seeded(seed), q=Q, simple=simple)
    given_prompts = given_prompts._replace(x=given_prompts.x.double().clamp(-reach, reach))
    return given_prompts, task.encode(given_prompts, omega)


def net_for(omega):
    return recurrent.ClippedNet(D, omega.shape[1], Q, largest=omega.abs().max().item())


@law
@given(st.floats(-3, 3), st.floats(0.01, 2))
def test_the_two_squares_enclose_the_square_within_a_quarter_step_squared(u, step):
    knots = math.ceil(3 / step)
    value = torch.tensor(u, dtype=torch.float64)
    above = recurrent.chord(value, step, knots).item() - u * u
    below = u * u - recurrent.tangent(value, step, knots).item()
    slack = 1e-13  # sums of numbers of size at most 9 * 4
    assert -slack <= above <= step**2 / 4 + slack
    assert -slack <= below <= step**2 / 4 + slack


def test_the_squares_bounds_are_attained():
    half = torch.tensor(0.5, dtype=torch.float64)
    assert recurrent.chord(half, 1.0, 4).item() - 0.25 == 0.25
    assert 0.25 - recurrent.tangent(half, 1.0, 4).item() == 0.25


def test_the_squares_are_sums_of_units():
    u, h, K = torch.linspace(-4, 4, 401, dtype=torch.float64), 0.5, 6
    both = torch.stack((u, -u))
    at = [h * both.relu().sum(0)]
    at += [2 * h * (both - k * h).relu().sum(0) for k in range(1, K)]
    torch.testing.assert_close(recurrent.chord(u, h, K), sum(at))
    at = [2 * h * (both - (k + 0.5) * h).relu().sum(0) for k in range(K)]
    torch.testing.assert_close(recurrent.tangent(u, h, K), sum(at))


@pytest.mark.parametrize("square", [recurrent.chord, recurrent.tangent])
def test_a_square_is_linear_beyond_its_knots(square):
    far = square(torch.tensor([4.0, 5.0, 6.0]).double(), 0.5, 3)
    assert far[2] - far[1] == far[1] - far[0]


@law
@given(st.floats(-2, 2), st.floats(-1, 1), st.floats(0.01, 1))
def test_a_product_is_never_too_small_and_at_most_an_eighth_step_squared_too_large(u, v, step):
    knots = math.ceil(3 / step)
    pair = [torch.tensor(w, dtype=torch.float64) for w in (u, v)]
    excess = recurrent.product(*pair, step, knots).item() - u * v
    assert -1e-13 <= excess <= step**2 / 8 + 1e-13


def test_the_ideal_update_adds_the_token_pointed_at_and_nothing_else():
    for omega in (rotated(), random_encodings.equally_close(N)):
        given_prompts, tokens = tokens_of(omega)
        found = recurrent.ideal(tokens, D, omega.shape[1], Q)
        here = given_prompts.t == torch.arange(N)[:, None]
        wanted = given_prompts.x[..., None, :] * here[..., None]
        assert (found - wanted).abs().max() < 1e-13


def test_the_clipped_update_is_exact():
    for omega in (rotated(), *(random_encodings.equally_close(N, a) for a in (0.5, 0.575))):
        given_prompts, tokens = tokens_of(omega)
        here = given_prompts.t == torch.arange(N)[:, None]
        found = net_for(omega)(tokens)
        assert (found[~here] == 0).all()
        assert (found - given_prompts.x[..., None, :])[here].abs().max() < 1e-13


def test_the_clipped_net_needs_no_more_units_for_more_tokens_but_by_its_encodings():
    sizes = [recurrent.ClippedNet(D, d_e, Q, largest=1 / math.sqrt(d_e)) for d_e in (16, 256)]
    assert [net.knots for net in sizes] == [2, 2]


def test_data_beyond_the_reach_leak_through_a_closed_gate():
    omega = rotated()
    net = net_for(omega)
    given_prompts, _ = tokens_of(omega)
    far = given_prompts._replace(x=10 + 0 * given_prompts.x)
    here = far.t == torch.arange(N)[:, None]
    assert (net(task.encode(far, omega))[~here] != 0).all()


def test_every_token_retrieves_what_all_point_at():
    omega = rotated()
    given_prompts, tokens = tokens_of(omega)
    found = recurrent.retrieve(net_for(omega), tokens, radius=100.0)
    assert (found - task.retrieved(given_prompts)).abs().max() <= 1e-12


def test_the_general_task_is_not_solved():
    omega = rotated()
    given_prompts, tokens = tokens_of(omega, simple=False)
    found = recurrent.retrieve(net_for(omega), tokens)
    assert (found - task.retrieved(given_prompts)).square().mean() > 0.5


def test_states_have_seen_the_tokens_before_and_not_the_token_itself():
    tokens = torch.arange(1.0, 6.0)[:, None]
    forward, backward = recurrent.both_states(lambda h, z: z, tokens, 1)
    assert forward.squeeze(-1).tolist() == [0, 1, 3, 6, 10]
    assert backward.squeeze(-1).tolist() == [14, 12, 9, 5, 0]


def test_states_stay_in_the_ball_and_projections_do_not_expand():
    tokens = torch.randn(20, 30, 3, generator=seeded())
    found = recurrent.states(lambda h, z: z, tokens, 3, radius=1.0)
    assert found.norm(dim=-1).max() <= 1 + 1e-6
    a, b = torch.randn(2, 1000, 3, generator=seeded())
    moved = (recurrent.project(a, 1.0) - recurrent.project(b, 1.0)).norm(dim=-1)
    assert (moved <= (a - b).norm(dim=-1) + 1e-6).all()
    assert recurrent.project(torch.zeros(3), 0.0).tolist() == [0, 0, 0]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"reach must be positive and finite, got 0"):
        recurrent.ClippedNet(1, 4, reach=0)
    with pytest.raises(ValueError, match=r"largest must lie in \(0, 1\], got 2"):
        recurrent.ClippedNet(1, 4, largest=2)
    with pytest.raises(ValueError, match=r"q must be at least 1, got 0"):
        recurrent.ClippedNet(1, 4, 0)
    net = recurrent.ClippedNet(1, 4)
    with pytest.raises(ValueError, match=r"have 9 numbers, got shape \(3, 8\)"):
        net(torch.zeros(3, 8))
    with pytest.raises(ValueError, match=r"step must be positive and finite, got 0"):
        recurrent.chord(torch.zeros(1), 0, 1)
    with pytest.raises(ValueError, match=r"knots must be at least 1, got 0"):
        recurrent.product(torch.zeros(1), torch.zeros(1), 1, 0)
    with pytest.raises(ValueError, match=r"N >= 1, got \(0, 2\)"):
        recurrent.states(lambda h, z: z, torch.zeros(0, 2), 2)
    with pytest.raises(ValueError, match=r"radius must be at least 0, got -1"):
        recurrent.project(torch.zeros(2), -1)
