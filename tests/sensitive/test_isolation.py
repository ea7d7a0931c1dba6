"""Isolation in weight space: steps and what they change, the door."""

import math

import pytest
import torch

from helpers.sensitive.isolation import members, moved, parity_sharpness
from helpers.sensitive.parity import forward, parity_transformer
from helpers.sharpness import direction_sharpness


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_steps_have_their_length_and_leave_the_positions():
    _, weights = parity_transformer(6)
    stepped = moved(weights, 0.3, 5, generator())
    assert stepped["positions"] is weights["positions"]
    squares = [
        (stepped[k] - weights[k]).flatten(1).square().sum(1) for k in weights if k != "positions"
    ]
    assert torch.allclose(sum(squares), torch.full((5,), 0.09, dtype=torch.float64))
    one = moved(weights, 0.3, 5, generator(), only=["readout"])
    assert all(one[k] is weights[k] for k in weights if k != "readout")
    assert torch.allclose(
        (one["readout"] - weights["readout"]).norm(dim=1), torch.tensor(0.3).double()
    )


def test_steps_and_sharpness_are_those_of_direction_sharpness():
    spec, weights = parity_transformer(12)
    x = torch.randint(0, 2, (7, 12), generator=generator(3))
    known = direction_sharpness(
        lambda w, x: forward(spec, w, x), weights, x, 0.1, 6, generator(), without="positions"
    )
    ours = forward(spec, moved(weights, 0.1, 6, generator()), x)
    values = (ours - forward(spec, weights, x)).square().mean(-1)
    assert torch.allclose(known.values, values, rtol=1e-9, atol=1e-12)


def test_the_sharpness_of_parity_uses_each_step_with_its_own_strings(monkeypatch):
    draws, strings, n, rho = 5, 3, 10, 0.2
    source = generator(1)
    spec, weights = parity_transformer(n)
    stepped = moved(weights, rho, draws, source)
    x = torch.randint(0, 2, (draws, strings, n), generator=source, dtype=torch.uint8)
    still = 1 - 2.0 * (x.sum(-1) % 2)
    wanted = (forward(spec, stepped, x) - still).square().mean(-1)
    found = parity_sharpness(n, rho, draws, strings, generator(1))
    assert torch.allclose(found.values, wanted, rtol=1e-9, atol=1e-12)
    assert found.mean == found.values.mean()
    assert found.stderr == pytest.approx(found.values.std().item() / math.sqrt(draws))
    monkeypatch.setattr("helpers.sensitive.isolation.MEMORY", 1)
    in_pieces = parity_sharpness(n, rho, draws, strings, generator(1))
    assert torch.allclose(in_pieces.values, wanted, rtol=1e-9, atol=1e-12)


def test_without_a_step_nothing_moves():
    assert parity_sharpness(9, 0.0, 3, 4, generator()).mean < 1e-12


def test_longer_strings_turn_a_small_step_into_a_large_one():
    short, long = (parity_sharpness(n, 0.05, 40, 4, generator()) for n in (6, 128))
    assert short.mean < 0.05
    assert long.mean > 1 - 4 * long.stderr


def test_members_are_single_models():
    spec, weights = parity_transformer(6)
    stepped = moved(weights, 0.3, 3, generator())
    x = torch.randint(0, 2, (4, 6), generator=generator(1))
    together = forward(spec, stepped, x)
    assert torch.allclose(forward(spec, members(spec, stepped, 2), x), together[2])
    some = torch.tensor([2, 0])
    assert torch.allclose(forward(spec, members(spec, stepped, some), x), together[some])


def test_a_narrower_transformer_is_measured_too():
    found = parity_sharpness(64, 0.1, 20, 2, generator(), half=9)
    assert found.mean > 1 - 4 * found.stderr


def test_bad_input_is_named():
    weights = parity_transformer(3)[1]
    with pytest.raises(ValueError, match="rho must be finite and at least 0, got -1"):
        moved(weights, -1, 2, generator())
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        moved(weights, 1, 0, generator())
    with pytest.raises(ValueError, match=r"got \['head'\]"):
        moved(weights, 1, 1, generator(), only=["head"])
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        parity_sharpness(4, 0.1, 1, 1, generator())
    with pytest.raises(ValueError, match="strings must be at least 1, got 0"):
        parity_sharpness(4, 0.1, 2, 0, generator())
