"""Completions of functions on the cube, and sharpness by string."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import average_sensitivity
from helpers.nets.transformer import initial_weights
from papers.sensitive import brittle, completions
from tests.draws import seeded


def coins(E, n, seed=0):
    return (2 * torch.randint(0, 2, (E, 2**n), generator=seeded(seed)) - 1).double()


def training_sets(count, N, m, generator):
    return torch.stack([torch.randperm(N, generator=generator)[:m] for _ in range(count)])


def test_a_model_learns_its_training_set_and_completes_it():
    """3 bits, 5 of 8 strings: both tables are fitted there."""
    model, f = brittle.spec(3, 16), coins(2, 3, 1).float()
    rows = training_sets(2, 8, 5, seeded())
    trained = completions.learn(model, f, rows, 2000, seeded(), learning_rate=3e-3, threshold=5e-3)
    assert trained.finished.all()
    h = completions.completed(model, trained.weights)
    assert torch.equal(h.abs(), torch.ones(2, 8))
    assert torch.equal(h.gather(1, rows), f.gather(1, rows))


@given(st.integers(1, 5), st.data())
@settings(max_examples=30, deadline=None)
def test_completions_agree_on_the_training_set(n, data):
    m, seed = data.draw(st.integers(1, 2**n)), data.draw(st.integers(0, 99))
    f = coins(4, n, seed)
    rows = training_sets(4, 2**n, m, seeded(seed))
    h = completions.shuffled_outside(f, rows, seeded(seed + 1))
    assert h.dtype == f.dtype
    assert torch.equal(h.abs(), torch.ones_like(f))
    assert torch.equal(h.gather(1, rows), f.gather(1, rows))
    assert torch.equal(h.sum(1), f.sum(1)), "a shuffle keeps how many values of each kind there are"


def test_a_function_of_no_bits_is_its_own_completion():
    f, nothing = coins(2, 0), torch.empty(2, 0, dtype=torch.int64)
    assert f.shape == (2, 1)
    assert torch.equal(completions.shuffled_outside(f, nothing, seeded()), f)


def test_a_shuffle_moves_values_outside_evenly():
    """One minus among 5 free points of 8: each place gets it in a fifth of 5000 shuffles."""
    f = torch.ones(5000, 8)
    f[:, 2] = -1
    rows = torch.tensor([[0, 4, 7]]).expand(5000, -1)
    found = (completions.shuffled_outside(f, rows, seeded()) < 0).double().mean(0)
    assert found[[0, 4, 7]].sum() == 0
    assert (found[[1, 2, 3, 5, 6]] - 0.2).abs().max() < 5 * (0.2 * 0.8 / 5000) ** 0.5


def test_the_expected_sensitivity_is_the_mean_over_all_completions():
    f = coins(1, 3, 5)
    rows = torch.tensor([[0, 1, 3, 6]])
    free = torch.tensor([2, 4, 5, 7])
    every = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=len(free))))
    h = f.expand(len(every), -1).clone()
    h[:, free] = every.double()
    expected = average_sensitivity(h).mean()
    found = completions.expected_sensitivity(f, rows)
    torch.testing.assert_close(found[0], expected, atol=1e-12, rtol=0)


def test_the_expected_sensitivity_of_nothing_known_and_of_all_known():
    f = coins(3, 4)
    everything = torch.arange(16).expand(3, -1)
    torch.testing.assert_close(
        completions.expected_sensitivity(f, everything), average_sensitivity(f)
    )
    nothing = torch.empty(3, 0, dtype=torch.int64)
    torch.testing.assert_close(
        completions.expected_sensitivity(f, nothing), torch.full((3,), 2.0).double()
    )


def test_sharpness_by_string_has_the_sharpness_as_its_mean():
    """For one model both draw the same numbers only in law: compare means."""
    model = brittle.spec(3, 8)
    weights = initial_weights(model, 2, seeded(), dtype=torch.float64)
    strings = cube.bits(3)
    each = completions.string_sharpness(model, weights, strings, 300, seeded(1))
    whole = brittle.sharpness(model, weights, strings, 300, seeded(2))
    assert each.shape == (2, 8)
    # both means have that standard error; 5 of them for the difference
    assert ((each.mean(1) - whole.mean).abs() < 5 * 2**0.5 * whole.stderr).all()


def test_sharpness_by_string_vanishes_without_noise_and_grows_as_its_square():
    model = brittle.spec(3, 8)
    weights = initial_weights(model, 2, seeded(), dtype=torch.float64)
    strings = cube.bits(3)

    def at(sigma):
        return completions.string_sharpness(model, weights, strings, 4, seeded(), sigma=sigma)

    assert not at(0.0).any()
    torch.testing.assert_close(at(2e-6), 4 * at(1e-6), rtol=1e-3, atol=0)


def test_positions_get_no_noise(monkeypatch):
    model = brittle.spec(3, 8)
    weights = initial_weights(model, 2, seeded())

    def measured():
        return completions.string_sharpness(model, weights, cube.bits(3), 2, seeded(), sigma=0.1)

    without = measured()
    monkeypatch.setattr(completions, "FIXED", "none of them")
    assert not torch.allclose(measured(), without)


def test_bad_input_is_named():
    f, rows = coins(2, 3), torch.tensor([[0, 1], [2, 3]])
    with pytest.raises(ValueError, match="points run from 0 to 1, found 0 to 3"):
        completions.shuffled_outside(f[:, :2], rows, seeded())
    with pytest.raises(TypeError, match=r"int64, got torch\.int32"):
        completions.expected_sensitivity(f, rows.int())
    with pytest.raises(ValueError, match="values of tables are -1 or 1, got 0"):
        completions.expected_sensitivity(f.clamp(min=0), rows)
    with pytest.raises(ValueError, match=r"tables \(E, 2\*\*n\), got \(2, 7\)"):
        completions.expected_sensitivity(f[:, :7], rows)
    with pytest.raises(ValueError, match="2 tables need training sets"):
        completions.shuffled_outside(f, rows[:1], seeded())
    with pytest.raises(ValueError, match=r"training sets \(E, m\), got \(2,\)"):
        completions.shuffled_outside(f, rows[:, 0], seeded())
    with pytest.raises(ValueError, match="holds a point twice"):
        completions.shuffled_outside(f, torch.zeros_like(rows), seeded())
    model = brittle.spec(3, 8)
    weights = initial_weights(model, 2, seeded())
    with pytest.raises(ValueError, match="at least one, got"):
        completions.string_sharpness(model, weights, cube.bits(3)[:0], 2)
    with pytest.raises(ValueError, match=r"expected strings \(B, n\), at least one, got \(3,\)"):
        completions.string_sharpness(model, weights, cube.bits(3)[0], 2)
    with pytest.raises(ValueError, match="draws must be at least 1"):
        completions.string_sharpness(model, weights, cube.bits(3), 0)
    with pytest.raises(ValueError, match="sigma must be finite"):
        completions.string_sharpness(model, weights, cube.bits(3), 2, sigma=-1.0)
    alone = initial_weights(model, None, seeded())
    with pytest.raises(ValueError, match="of an ensemble"):
        completions.string_sharpness(model, alone, cube.bits(3), 2)


def test_targets_are_0_and_1_and_the_loss_is_the_mean_square():
    """The loss at the last look, 10 steps on, is that of the weights that are given back."""
    model, f = brittle.spec(3, 16), coins(2, 3, 1).float()
    rows = training_sets(2, 8, 5, seeded())
    trained = completions.learn(model, f, rows, 10, seeded(), learning_rate=3e-3, threshold=5e-3)
    outputs = brittle.forward(model, trained.weights, cube.bits(3))
    errors = (outputs - (f > 0).float()).square().gather(1, rows).mean(1)
    torch.testing.assert_close(trained.losses[-1].float(), errors, atol=1e-5, rtol=1e-4)


def test_noise_has_the_deviation_of_the_paper_unless_told():
    """Hahn and Rofin (2024) measure sharpness under noise of standard deviation 0.02."""
    model = brittle.spec(3, 8)
    weights = initial_weights(model, 2, seeded(), dtype=torch.float64)
    at, paper = (
        completions.string_sharpness(model, weights, cube.bits(3), 2, seeded(), **given)
        for given in ({}, {"sigma": 0.02})
    )
    assert torch.equal(at, paper)
