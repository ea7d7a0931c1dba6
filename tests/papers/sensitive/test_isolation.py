"""Isolation in weight space: steps and what they change, bad input."""

import math

import pytest
import torch

from helpers import cube
from helpers.sharpness import direction_sharpness
from papers.sensitive.isolation import climb, fitted_parity, moved, parity_of, parity_sharpness
from papers.sensitive.parity import forward, parity_transformer
from tests.draws import seeded


def test_steps_have_their_length_and_leave_the_positions():
    _, weights = parity_transformer(6)
    stepped = moved(weights, 0.3, 5, seeded())
    assert stepped["positions"] is weights["positions"]
    squares = [
        (stepped[k] - weights[k]).flatten(1).square().sum(1) for k in weights if k != "positions"
    ]
    assert torch.allclose(sum(squares), torch.full((5,), 0.09, dtype=torch.float64))
    one = moved(weights, 0.3, 5, seeded(), only=["readout"])
    assert all(one[k] is weights[k] for k in weights if k != "readout")
    assert torch.allclose(
        (one["readout"] - weights["readout"]).norm(dim=1), torch.tensor(0.3).double()
    )


def test_all_weights_move_if_all_are_named():
    _, weights = parity_transformer(6)
    stepped = moved(weights, 0.3, 5, seeded(), only=list(weights))
    squares = [(stepped[k] - weights[k]).flatten(1).square().sum(1) for k in weights]
    assert all(parts.all() for parts in squares)
    assert torch.allclose(sum(squares), torch.full((5,), 0.09, dtype=torch.float64))


def test_steps_and_sharpness_are_those_of_direction_sharpness():
    spec, weights = parity_transformer(12)
    x = torch.randint(0, 2, (7, 12), generator=seeded(3))
    known = direction_sharpness(
        lambda w, x: forward(spec, w, x), weights, x, 0.1, 6, seeded(), without="positions"
    )
    ours = forward(spec, moved(weights, 0.1, 6, seeded()), x)
    values = (ours - forward(spec, weights, x)).square().mean(-1)
    assert torch.allclose(known.values, values, rtol=1e-9, atol=1e-12)


def test_the_sharpness_of_parity_uses_each_step_with_its_own_strings(monkeypatch):
    draws, strings, n, rho = 5, 3, 10, 0.2
    source = seeded(1)
    spec, weights = parity_transformer(n)
    stepped = moved(weights, rho, draws, source)
    x = torch.randint(0, 2, (draws, strings, n), generator=source, dtype=torch.uint8)
    still = 1 - 2.0 * (x.sum(-1) % 2)
    wanted = (forward(spec, stepped, x) - still).square().mean(-1)
    found = parity_sharpness(spec, weights, rho, draws, strings, seeded(1))
    assert torch.allclose(found.values, wanted, rtol=1e-9, atol=1e-12)
    assert found.mean == found.values.mean()
    assert found.stderr == pytest.approx(found.values.std().item() / math.sqrt(draws))
    monkeypatch.setattr("papers.sensitive.isolation.MEMORY", 1)
    in_pieces = parity_sharpness(spec, weights, rho, draws, strings, seeded(1))
    assert torch.allclose(in_pieces.values, wanted, rtol=1e-9, atol=1e-12)


def test_an_error_needs_two_steps():
    found = parity_sharpness(*parity_transformer(6), 0.1, 2, 3, seeded())
    assert len(found.values) == 2
    assert math.isfinite(found.stderr)
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        parity_sharpness(*parity_transformer(6), 0.1, 1, 3, seeded())


def test_without_a_step_nothing_moves():
    assert parity_sharpness(*parity_transformer(9), 0.0, 3, 4, seeded()).mean < 1e-12


def test_longer_strings_turn_a_small_step_into_a_large_one():
    short, long = (
        parity_sharpness(*parity_transformer(n), 0.05, 40, 4, seeded()) for n in (6, 128)
    )
    assert short.mean < 0.05
    assert long.mean > 1 - 4 * long.stderr


def test_the_climb_finds_the_top_of_a_hill_and_leaves_the_start():
    start = {"a": torch.tensor([3.0, -2.0], dtype=torch.float64), "b": torch.zeros(())}
    best, found = climb(start, lambda w: 1 / (1 + w["a"].square().sum() + w["b"] ** 2), 0.1, 200)
    assert best == pytest.approx(1, abs=1e-3)
    assert found["a"].norm() < 0.1
    assert not found["a"].requires_grad
    assert start["a"].tolist() == [3.0, -2.0]


def test_the_climb_keeps_the_best_it_saw():
    values = iter((1.0, 5.0, 2.0))
    best, found = climb({"a": torch.ones(1)}, lambda w: next(values) * w["a"][0] ** 0, 1.0, 3)
    assert best == 5
    assert found["a"].shape == (1,)


def test_another_network_is_measured_with_the_same_steps_and_strings():
    given = (*parity_transformer(10), 0.2, 4, 3)
    one = parity_sharpness(*given, seeded(1))
    half = parity_sharpness(*given, seeded(1), network=lambda *a: (forward(*a) + 1) / 2)
    source = seeded(1)
    stepped = moved(given[1], 0.2, 4, source)
    x = torch.randint(0, 2, (4, 3, 10), generator=source, dtype=torch.uint8)
    wanted = ((forward(given[0], stepped, x) + 1) / 2 - parity_of(x)).square().mean(-1)
    assert torch.allclose(half.values, wanted)
    assert not torch.allclose(one.values, wanted)


def test_a_narrower_transformer_is_measured_too():
    found = parity_sharpness(*parity_transformer(64, 9), 0.1, 20, 2, seeded())
    assert found.mean > 1 - 4 * found.stderr


def test_bad_input_is_named():
    spec, weights = parity_transformer(3)
    with pytest.raises(ValueError, match="rho must be finite and at least 0, got -1"):
        moved(weights, -1, 2, seeded())
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        moved(weights, 1, 0, seeded())
    with pytest.raises(ValueError, match=r"got \['head'\]"):
        moved(weights, 1, 1, seeded(), only=["head"])
    with pytest.raises(ValueError, match=r"expected names among .*; got \[\]"):
        moved(weights, 1, 1, seeded(), only=[])
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        parity_sharpness(spec, weights, 0.1, 1, 1, seeded())
    with pytest.raises(ValueError, match="strings must be at least 1, got 0"):
        parity_sharpness(spec, weights, 0.1, 2, 0, seeded())


@pytest.mark.parametrize(("m", "n", "first"), [(1, 2, 1), (3, 9, 4), (5, 11, 8)])
def test_a_fitted_network_is_parity_off_the_first_bits_of_its_strings(m, n, first):
    strings = torch.randint(0, 2, (m, n), generator=seeded(m))
    x = cube.bits(n)
    outputs = forward(*fitted_parity(strings, first), x)
    assert torch.allclose(outputs.abs(), torch.ones(2**n).double())
    same = (x[:, None, :first] == strings[:, :first]).all(-1)
    assert torch.allclose(outputs[~same.any(1)], parity_of(x)[~same.any(1)].double())
    votes = (same * parity_of(strings)).sum(1)
    clear = same.any(1) & (votes != 0)
    assert clear.any()
    assert torch.allclose(outputs[clear], votes[clear].sign().double())


def test_a_fitted_network_is_flat_on_its_strings_and_steep_elsewhere():
    n, source = 96, seeded(2)
    strings = torch.randint(0, 2, (3, n), generator=source)
    spec, weights = fitted_parity(strings, 6)
    others = strings.clone()
    others[:, 0] ^= 1
    x = torch.cat((strings, others))
    with torch.no_grad():
        before = forward(spec, weights, x)
        loss = (forward(spec, moved(weights, 0.01, 20, source), x) - before).square().mean(0)
    assert torch.equal(before.round(), parity_of(x).double())
    assert loss[:3].max() < 0.01 < 0.3 < loss[3:].min()


def test_strings_to_be_fitted_are_checked():
    with pytest.raises(ValueError, match="1 <= first <= n"):
        fitted_parity(torch.zeros(2, 3, dtype=torch.int64), 4)
    with pytest.raises(ValueError, match="expected strings"):
        fitted_parity(torch.zeros(3, dtype=torch.int64), 1)
