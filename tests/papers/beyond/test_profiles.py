"""Profiles: the kernel against the definition, counts against the cube, and an ensemble."""

import itertools

import pytest
import torch

from helpers import cube
from helpers.nets.transformer import initial_weights
from papers.beyond import profiles


def by_definition(f):
    """Sensitivity of every string, from the strings themselves."""
    n = len(f).bit_length() - 1
    found = torch.zeros(len(f))
    for index, string in enumerate(cube.bits(n)):
        for i in range(n):
            flipped = string.clone()
            flipped[i] = 1 - flipped[i]
            found[index] += f[cube.index_of(flipped[None])[0]] != f[index]
    return found


def test_profiles_of_random_functions_are_those_of_the_definition():
    values = 2.0 * torch.randint(0, 2, (5, 16), generator=torch.Generator().manual_seed(0)) - 1
    found = profiles.profiles(values.double())
    for i, row in enumerate(values):
        own = by_definition(row)
        assert found.average[i] == pytest.approx(own.mean().item())
        assert found.insensitive[i] == pytest.approx((own == 0).float().mean().item())
        assert found.single[i] == bool((own == 1).all())


def test_the_functions_of_the_book():
    n = 5
    values = torch.stack((cube.parity(n), cube.majority(n), cube.first(n))).double()
    found = profiles.profiles(values)
    assert found.average.tolist() == pytest.approx(
        [5, cube.average_sensitivity(values[1]).item(), 1]
    )
    assert found.insensitive.tolist() == pytest.approx([0, 12 / 32, 0])
    assert found.single.tolist() == [False, False, True]


def test_counted_profiles_agree_with_the_cube():
    n = 4
    every = torch.tensor(list(itertools.product((False, True), repeat=n + 1)))
    counted = profiles.counted_profiles(every)
    values = torch.where(every[:, cube.bits(n).sum(1)], 1.0, -1.0).double()
    on_cube = profiles.profiles(values)
    torch.testing.assert_close(counted.average, on_cube.average)
    torch.testing.assert_close(counted.insensitive, on_cube.insensitive)
    assert (counted.single == on_cube.single).all()


def test_an_ensemble_is_evaluated_network_by_network():
    spec = profiles.model(3, 2, 8)
    weights = initial_weights(spec, 10, torch.Generator().manual_seed(0))
    together = profiles.answers(spec, weights)
    assert together.shape == (10, 8)
    for e in (0, 9):
        alone = profiles.answers(spec, {k: w[e : e + 1] for k, w in weights.items()})
        assert (alone[0] == together[e]).all()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="at most 16 bits, got n = 17"):
        profiles.answers(profiles.model(17, 1), {})
    with pytest.raises(ValueError, match="layers must be at least 1"):
        profiles.model(3, 0)
    with pytest.raises(ValueError, match="n must be at least 1"):
        profiles.counted_profiles(torch.ones(2, 1, dtype=torch.bool))
