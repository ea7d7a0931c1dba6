"""Models that write the states of PARITY down."""

import math

import pytest
import torch

from helpers import cube
from helpers.nets.transformer import initial_weights
from papers.sensitive import automata, brittle, scratchpads

N = 4


def drawn(ensemble=None, n=N, width=8, seed=0):
    model = scratchpads.spec(n, width)
    generator = torch.Generator().manual_seed(seed)
    return model, initial_weights(model, ensemble, generator, dtype=torch.float64)


def random_bits(count, n=N, seed=1):
    return torch.randint(0, 2, (count, n), generator=torch.Generator().manual_seed(seed))


SETTINGS = {"B": 64, "draws": 5, "learning_rate": 5e-3, "check_every": 25, "progress": False}


@pytest.fixture(scope="module")
def learned():
    return scratchpads.study(N, [0, 1], 500, threshold=1e-2, **SETTINGS)


def test_the_states_are_those_of_the_automaton():
    bits, moves = cube.bits(6), automata.PARITY
    states, before = scratchpads.states(bits), torch.zeros(64, dtype=torch.int64)
    for i in range(6):
        before = moves[before, bits[:, i]]
        assert torch.equal(states[:, i], before)


def test_the_scratchpad_holds_the_state_before_each_bit():
    assert scratchpads.tokens(torch.tensor([1, 1, 0, 1])).tolist() == [1, 1, 0, 1, 2, 3, 2, 2]
    assert scratchpads.tokens(torch.tensor([1, 0]), blank=True).tolist() == [1, 0, 2, 2]
    assert scratchpads.tokens(torch.tensor([[True]])).tolist() == [[1, 2]]


def test_a_bit_and_its_scratch_token_decide_the_next_state():
    bits = cube.bits(5)
    given = scratchpads.tokens(bits)
    assert torch.equal(given[:, :5] ^ (given[:, 5:] - 2), scratchpads.states(bits))


def test_a_guess_does_not_depend_on_what_is_written_later():
    model, weights = drawn()
    given = scratchpads.tokens(random_bits(8))
    later = given.clone()
    later[:, N + 2 :] = 5 - later[:, N + 2 :]
    before, after = (scratchpads.forward(model, weights, g) for g in (given, later))
    torch.testing.assert_close(before[:, :2], after[:, :2], atol=1e-12, rtol=0)
    assert (before[:, 2:] - after[:, 2:]).abs().max() > 1e-3


def test_models_learn_the_step_and_read_their_own_scratchpad(learned):
    model, weights, bits = scratchpads.spec(N), learned[0], cube.bits(N)
    assert torch.equal(
        scratchpads.roll_out(model, weights, bits), scratchpads.states(bits).expand(2, -1, -1)
    )
    rubbed = scratchpads.roll_out(model, weights, bits, blank=True)
    assert ((rubbed != scratchpads.states(bits)).any(-1).sum(-1) >= 8).all()


def test_a_roll_out_errs_first_where_teacher_forcing_does():
    """Of untrained models, that err everywhere."""
    model, weights = drawn(3)
    bits = random_bits(32)
    right = scratchpads.states(bits)
    own = scratchpads.roll_out(model, weights, bits) != right
    taught = (scratchpads.forward(model, weights, scratchpads.tokens(bits)) > 0.5) != right.bool()
    assert torch.equal(own.any(-1), taught.any(-1))
    assert torch.equal(own.long().argmax(-1), taught.long().argmax(-1))
    assert own.any()
    assert not torch.equal(own, taught)


def test_sharpness_is_four_times_the_mean_squared_move():
    model, weights = drawn(1)
    bits = random_bits(6)
    given = scratchpads.tokens(bits)
    found = scratchpads.sharpness(
        model, weights, bits, 3, torch.Generator().manual_seed(5), sigma=0.1
    )
    weights = {name: values[0] for name, values in weights.items()}
    draws = torch.Generator().manual_seed(5)
    still = scratchpads.forward(model, weights, given)
    names = [name for name in weights if name != brittle.FIXED]
    values = []
    for _ in range(3):
        count = sum(weights[name].numel() for name in names)
        noise = 0.1 * torch.randn(count, generator=draws, dtype=torch.float64)
        parts = noise.split([weights[name].numel() for name in names])
        moved = dict(weights)
        for name, part in zip(names, parts, strict=True):
            moved[name] = weights[name] + part.view_as(weights[name])
        values.append(4 * (scratchpads.forward(model, moved, given) - still).square().mean())
    torch.testing.assert_close(found.values[0], torch.stack(values), rtol=1e-9, atol=0)


def test_sharpness_is_the_mean_over_steps():
    """Each step under 2,000 draws of its own noise: within five standard errors."""
    model, weights = drawn(2)
    bits = random_bits(6)
    steps = scratchpads.sharpness_by_step(
        model, weights, bits, 2000, torch.Generator().manual_seed(5)
    )
    assert steps.shape == (2, N)
    mean = scratchpads.sharpness(model, weights, bits, 2000, torch.Generator().manual_seed(6))
    assert ((steps.mean(1) - mean.mean).abs() < 5 * math.sqrt(2) * mean.stderr).all()


def test_the_sharpness_of_a_step_is_what_its_guess_moves():
    model, weights = drawn(2)
    bits = random_bits(6)
    found = scratchpads.sharpness_by_step(
        model, weights, bits, 1, torch.Generator().manual_seed(5), sigma=0.1, blank=True
    )
    noise, moved = torch.Generator().manual_seed(5), dict(weights)
    for name, values in weights.items():
        if name != brittle.FIXED:
            step = torch.randn(values.shape, generator=noise, dtype=values.dtype)
            moved[name] = values + 0.1 * step
    given = scratchpads.tokens(bits, blank=True)
    before, after = (scratchpads.forward(model, w, given) for w in (weights, moved))
    for i in range(N):
        expected = 4 * (after - before)[:, :, i].square().mean(1)
        torch.testing.assert_close(found[:, i], expected)


def test_a_study_stops_at_its_threshold_and_measures_new_strings(learned):
    weights, found = learned
    assert {"n", "steps", "mse", "sharpness", "stderr"} == set(found)
    assert found["n"].tolist() == [N, N]
    assert (found["steps"] < 500).all()
    assert (found["mse"] < 2e-2).all()
    model = scratchpads.spec(N)
    bits = torch.randint(0, 2, (128, N), generator=torch.Generator().manual_seed(N))
    noise = torch.Generator().manual_seed(N)
    again = scratchpads.sharpness(model, weights, bits[:32], 5, noise)
    torch.testing.assert_close(found["sharpness"], again.mean.double())
    guesses = scratchpads.forward(model, weights, scratchpads.tokens(bits))
    expected = (guesses - scratchpads.states(bits)).square().flatten(1).mean(1)
    torch.testing.assert_close(found["mse"], expected.double())
    assert scratchpads.sharpness(model, weights, bits, 2, sigma=0.0).mean.max() < 1e-10


def test_a_blank_study_sees_no_scratchpad():
    _, found = scratchpads.study(N, [0], 50, blank=True, **SETTINGS)
    assert found["mse"] > 0.05  # the last states are parities of three and four bits


def test_a_study_starts_from_shared_positions_and_does_not_see_its_neighbours():
    still = SETTINGS | {"B": 4, "rate_of": {"positions": 0.0}}
    alone, _ = scratchpads.study(N, [7], 3, **still)
    both, _ = scratchpads.study(N, [3, 7], 3, **still)
    place = alone["positions"][0]
    assert torch.equal(place[:N], place[N:])
    torch.testing.assert_close(alone["readout"][0], both["readout"][1])


MODEL, WEIGHTS = drawn(1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: scratchpads.spec(0), ValueError, "got 0"),
        (lambda: scratchpads.tokens(torch.tensor([0, 2])), ValueError, "got 2"),
        (lambda: scratchpads.tokens(torch.tensor([0.0])), TypeError, "float32"),
        (lambda: scratchpads.states(torch.zeros(2, 0, dtype=torch.int64)), ValueError, "(2, 0)"),
        (lambda: scratchpads.states(torch.tensor(1)), ValueError, "()"),
        (lambda: scratchpads.study(N, [], 1, B=1, draws=2), ValueError, "got 0"),
        (lambda: scratchpads.study(N, [0], 1, B=0, draws=2), ValueError, "got 0"),
        (lambda: scratchpads.roll_out(MODEL, WEIGHTS, random_bits(2, 3)), ValueError, "(2, 3)"),
        (lambda: scratchpads.roll_out(MODEL, WEIGHTS, random_bits(2)[0]), ValueError, "got (4,)"),
        (
            lambda: scratchpads.sharpness_by_step(MODEL, WEIGHTS, random_bits(2), 0),
            ValueError,
            "got 0",
        ),
        (lambda: scratchpads.sharpness(MODEL, WEIGHTS, random_bits(2), 1), ValueError, "1"),
        (lambda: scratchpads.sharpness(MODEL, WEIGHTS, random_bits(0), 2), ValueError, "(0, 4)"),
    ],
)
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


@pytest.mark.parametrize("measure", [scratchpads.sharpness, scratchpads.sharpness_by_step])
def test_noise_has_the_deviation_of_the_paper_unless_told(measure):
    """Hahn and Rofin (2024) measure sharpness under noise of standard deviation 0.02."""
    model, weights = drawn(1)
    at, paper = (
        measure(model, weights, random_bits(6), 2, torch.Generator().manual_seed(5), **given)
        for given in ({}, {"sigma": 0.02})
    )
    if measure is scratchpads.sharpness:
        at, paper = at.values, paper.values
    assert torch.equal(at, paper)
