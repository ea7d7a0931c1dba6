"""The recurrent construction: squares and products, exact zeros, layers, states, the door."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.retrieval import random_encodings, recurrent, task

law = settings(deadline=None, max_examples=50)
D, D_E, Q, N = 2, 40, 2, 7


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def rotated(seed=0):
    """Encodings that satisfy Assumption 3 and have no two coordinates alike."""
    omega = random_encodings.spread(N, D_E, generator(seed))
    Z = torch.randn(D_E, D_E, generator=generator(seed), dtype=torch.float64)
    return omega @ torch.linalg.qr(Z)[0]


def tokens_of(omega, reach=5.0, simple=True, seed=0):
    given_prompts = task.prompts(30, N, D, generator(seed), q=Q, simple=simple)
    given_prompts = given_prompts._replace(x=given_prompts.x.double().clamp(-reach, reach))
    return given_prompts, task.encode(given_prompts, omega)


def net_for(form, omega, error=1e-2):
    largest = omega.abs().max().item()
    return recurrent.plan(form, D, D_E, Q, error=error, largest=largest)


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


@pytest.mark.parametrize("form", recurrent.FORMS)
def test_the_layers_compute_the_update(form):
    omega = rotated()
    net = net_for(form, omega, error=0.1)
    _, tokens = tokens_of(omega)
    layers = recurrent.layers(net)
    assert net.widths == tuple(len(b) for _, b in layers[:-1])
    by_layers = recurrent.run(layers, tokens).unflatten(-1, (Q, D))
    assert (by_layers - net(tokens)).abs().max() < 1e-10  # thousands of units of size 40


def test_the_ideal_update_adds_the_token_pointed_at_and_nothing_else():
    for omega in (rotated(), random_encodings.equally_close(N)):
        given_prompts, tokens = tokens_of(omega)
        found = recurrent.ideal(tokens, D, omega.shape[1], Q)
        here = given_prompts.t == torch.arange(N)[:, None]
        wanted = given_prompts.x[..., None, :] * here[..., None]
        assert (found - wanted).abs().max() < 1e-13


@pytest.mark.parametrize("error", [0.3, 1e-2, 1e-4])
def test_with_the_threshold_the_update_is_good_on_target_and_zero_off_it(error):
    for omega in (rotated(), random_encodings.equally_close(N)):
        net = recurrent.plan(
            "threshold", D, omega.shape[1], Q, error=error, largest=omega.abs().max().item()
        )
        given_prompts, tokens = tokens_of(omega)
        here = given_prompts.t == torch.arange(N)[:, None]
        found = net(tokens)
        assert (found[~here] == 0).all()
        on = (found - given_prompts.x[..., None, :])[here].abs().max().item()
        assert error / 20 < on <= error


def test_without_the_threshold_the_update_is_not_zero_off_target():
    omega = rotated()
    given_prompts, tokens = tokens_of(omega)
    here = given_prompts.t == torch.arange(N)[:, None]
    assert (net_for("plain", omega)(tokens)[~here] != 0).double().mean() > 0.9


def test_the_clipped_update_is_exact():
    for omega in (rotated(), random_encodings.equally_close(N)):
        net = recurrent.plan("clipped", D, omega.shape[1], Q, largest=omega.abs().max().item())
        given_prompts, tokens = tokens_of(omega)
        here = given_prompts.t == torch.arange(N)[:, None]
        found = net(tokens)
        assert (found[~here] == 0).all()
        assert (found - given_prompts.x[..., None, :])[here].abs().max() < 1e-13


def test_the_clipped_net_needs_no_more_units_for_more_tokens_but_by_its_encodings():
    sizes = [recurrent.plan("clipped", D, d_e, Q, largest=1 / math.sqrt(d_e)) for d_e in (16, 256)]
    assert [net.gate_knots for net in sizes] == [2, 2]


def test_data_beyond_the_reach_leak_through_a_closed_gate():
    omega = rotated()
    net = net_for("clipped", omega)
    given_prompts, _ = tokens_of(omega)
    far = given_prompts._replace(x=10 + 0 * given_prompts.x)
    here = far.t == torch.arange(N)[:, None]
    assert (net(task.encode(far, omega))[~here] != 0).all()


@pytest.mark.parametrize("form", ["threshold", "clipped"])
def test_every_token_retrieves_what_all_point_at(form):
    omega = rotated()
    given_prompts, tokens = tokens_of(omega)
    found = recurrent.retrieve(net_for(form, omega), tokens, radius=100.0)
    tol = 1e-2 if form == "threshold" else 1e-12
    assert (found - task.retrieved(given_prompts)).abs().max() <= tol


def test_the_general_task_is_not_solved():
    omega = rotated()
    given_prompts, tokens = tokens_of(omega, simple=False)
    found = recurrent.retrieve(net_for("clipped", omega), tokens)
    assert (found - task.retrieved(given_prompts)).square().mean() > 0.5


def test_states_have_seen_the_tokens_before_and_not_the_token_itself():
    tokens = torch.arange(1.0, 6.0)[:, None]
    forward, backward = recurrent.both_states(lambda h, z: z, tokens, 1)
    assert forward.squeeze(-1).tolist() == [0, 1, 3, 6, 10]
    assert backward.squeeze(-1).tolist() == [14, 12, 9, 5, 0]


def test_states_stay_in_the_ball_and_projections_do_not_expand():
    tokens = torch.randn(20, 30, 3, generator=generator())
    found = recurrent.states(lambda h, z: z, tokens, 3, radius=1.0)
    assert found.norm(dim=-1).max() <= 1 + 1e-6
    a, b = torch.randn(2, 1000, 3, generator=generator())
    moved = (recurrent.project(a, 1.0) - recurrent.project(b, 1.0)).norm(dim=-1)
    assert (moved <= (a - b).norm(dim=-1) + 1e-6).all()
    assert recurrent.project(torch.zeros(3), 0.0).tolist() == [0, 0, 0]


@law
@given(st.integers(1, 300))
def test_one_over_N_keeps_growth_below_e(steps):
    assert recurrent.growth(1 / steps, steps) < math.e


def test_balancing_keeps_the_net_and_makes_it_smaller():
    layers = recurrent.layers(net_for("threshold", rotated(), error=0.3))
    plain = sum((W.square().sum() + b.square().sum()).item() for W, b in layers)
    found = recurrent.size(layers)
    norms = torch.stack([W.norm() for W, _ in layers])
    scales = norms.log().mean().exp() / norms
    scaled = [
        (s * W, t * b) for s, t, (W, b) in zip(scales, scales.cumprod(0), layers, strict=True)
    ]
    tokens = tokens_of(rotated())[1]
    assert torch.allclose(recurrent.run(scaled, tokens), recurrent.run(layers, tokens), atol=1e-9)
    by_hand = sum((W.square().sum() + b.square().sum()).item() for W, b in scaled)
    assert found.squared_norm == pytest.approx(by_hand, rel=1e-12)
    assert found.squared_norm < plain
    assert found.width == max(len(b) for _, b in layers[:-1])


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"unknown form 'soft'"):
        recurrent.plan("soft", 1, 4)
    with pytest.raises(ValueError, match=r"error must be positive and finite, got 0"):
        recurrent.plan("plain", 1, 4, error=0)
    with pytest.raises(ValueError, match=r"largest must lie in \(0, 1\], got 2"):
        recurrent.plan("plain", 1, 4, largest=2)
    with pytest.raises(ValueError, match=r"q must be at least 1, got 0"):
        recurrent.plan("plain", 1, 4, 0)
    net = recurrent.plan("clipped", 1, 4)
    with pytest.raises(ValueError, match=r"have 9 numbers, got shape \(3, 8\)"):
        net(torch.zeros(3, 8))
    with pytest.raises(ValueError, match=r"the net takes 9 numbers"):
        recurrent.run(recurrent.layers(net), torch.zeros(8))
    with pytest.raises(ValueError, match=r"step must be positive and finite, got 0"):
        recurrent.chord(torch.zeros(1), 0, 1)
    with pytest.raises(ValueError, match=r"knots must be at least 1, got 0"):
        recurrent.product(torch.zeros(1), torch.zeros(1), 1, 0)
    with pytest.raises(ValueError, match=r"N >= 1, got \(0, 2\)"):
        recurrent.states(lambda h, z: z, torch.zeros(0, 2), 2)
    with pytest.raises(ValueError, match=r"radius must be at least 0, got -1"):
        recurrent.project(torch.zeros(2), -1)
    with pytest.raises(ValueError, match=r"alpha must be finite and at least 0, got -0.1"):
        recurrent.growth(-0.1, 3)
    with pytest.raises(ValueError, match=r"N must be at least 1, got 0"):
        recurrent.growth(0.1, 0)
