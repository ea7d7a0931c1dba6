"""Seeded draws: their ranges, what they take from the generator, and literals in float64."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.rng import Rng, f64, seed_of


def test_draws_are_those_of_the_generator_in_their_order():
    source, plain = Rng(7), torch.Generator().manual_seed(7)
    doubles = {"generator": plain, "dtype": torch.float64}
    assert torch.equal(source.normal(2, 3), torch.randn(2, 3, **doubles))
    assert source.uniform(-1, 3) == -1 + 4 * torch.rand((), **doubles).item()
    assert source.whole(2, 9) == int(torch.randint(2, 10, (), generator=plain))
    shares = torch.rand(4, **doubles)
    torch.testing.assert_close(
        source.log_uniform(0.1, 100, 4), (math.log(0.1) + shares * math.log(1000)).exp()
    )
    later = torch.randint(0, 2, (6, 5), generator=plain)[2:]
    assert torch.equal(source.strings(5, 6)[2:], later)
    assert source.normal().item() == torch.randn((), **doubles).item()
    assert torch.equal(source.generator.get_state(), plain.get_state())


@given(st.integers(0, 2**32), st.integers(-9, 9), st.integers(0, 9))
def test_draws_stay_in_their_range(seed, low, length):
    source = Rng(seed)
    assert low <= source.whole(low, low + length) <= low + length
    assert low <= source.uniform(low, low + length) <= low + length
    found = source.log_uniform(0.5, 0.5 + length, 20)
    assert found.dtype == torch.float64
    assert found.min() >= 0.5 * (1 - 1e-12)
    assert found.max() <= (0.5 + length) * (1 + 1e-12)


def test_whole_numbers_reach_both_ends_equally_often():
    source = Rng(0)
    found = torch.tensor([source.whole(1, 3) for _ in range(3000)]).bincount()[1:]
    assert (found - 1000).abs().max() < 5 * math.sqrt(3000 * 2 / 9)


def test_strings_hold_both_constants_first():
    strings = Rng(0).strings(40, 5)
    assert strings.dtype == torch.int64
    assert strings.sum(1)[:2].tolist() == [0, 40]
    assert all(0 < ones < 40 for ones in strings.sum(1)[2:].tolist())
    assert Rng(0).strings(3, 1).tolist() == [[0, 0, 0]]
    assert Rng(0).strings(3, 0).shape == (0, 3)


def test_literals_are_the_nearest_float64():
    assert f64([[2.1, 0.1], [1, 2]]).tolist() == [[2.1, 0.1], [1.0, 2.0]]
    assert f64(0.1).item() == 0.1
    assert f64(torch.tensor([1, 2])).dtype == torch.float64
    kept = torch.tensor([0.1], dtype=torch.float64)
    assert torch.equal(f64(kept), kept)


def test_whole_numbers_of_numpy_and_torch_are_seeds():
    for seed in (np.int64(3), torch.tensor(3)):
        assert Rng(seed).normal() == Rng(3).normal()
    assert Rng(2**64 - 1).normal() == Rng(-1).normal()
    assert f64(np.arange(2)).tolist() == [0.0, 1.0]
    assert f64(np.float64(0.1)).item() == 0.1


def test_seeds_depend_on_every_part_and_on_nothing_else():
    assert seed_of("and", 20, 3, 0) == 473216815
    found = {
        seed_of(g, T, s, k)
        for g in ("and", "parity")
        for T in (8, 9)
        for s in (1, 2)
        for k in range(99)
    }
    assert len(found) == 2 * 2 * 2 * 99
    assert all(0 <= seed < 2**32 for seed in found)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Rng(0.5), TypeError, "whole number, got 0.5"),
        (lambda: Rng(True), TypeError, "whole number, got True"),
        (lambda: Rng(0).normal(2, -1), ValueError, r"at least 0, got \(2, -1\)"),
        (lambda: Rng(0).strings(-1, 2), ValueError, "at least 0"),
        (lambda: Rng(0).uniform(2, 1), ValueError, "in order, got 2 and 1"),
        (lambda: Rng(0).uniform(0, math.inf), ValueError, "finite"),
        (lambda: Rng(0).uniform(-math.inf, 0), ValueError, "finite and in order, got -inf and 0"),
        (lambda: Rng(0).uniform(math.nan, 1), ValueError, "finite"),
        (lambda: Rng(0).whole(2, 1), ValueError, "in order, got 2 and 1"),
        (lambda: Rng(0).whole(0, 1.5), ValueError, "whole ends, got 0 and 1.5"),
        (lambda: Rng(0).whole(0.5, 2), ValueError, "whole ends, got 0.5 and 2"),
        (lambda: Rng(0).log_uniform(0, 1), ValueError, "positive ends, got 0 and 1"),
        (lambda: Rng(0).log_uniform(1, 2, -3), ValueError, "at least 0"),
        (lambda: Rng(2**64), ValueError, "seed must lie between .* got 18446744073709551616"),
        (lambda: Rng(0).uniform(-1.7e308, 1.7e308), ValueError, "distance of the ends .* 1.7e.308"),
        (lambda: Rng(0).log_uniform(1e-200, 1e200), ValueError, "ratio of the ends .* 1e.200"),
        (
            lambda: Rng(0).whole(1, 2**63),
            ValueError,
            r"between -2\*\*63 and 2\*\*63 - 2, got 1 and",
        ),
        (lambda: f64(torch.tensor([0.1])), TypeError, "got torch.float32"),
        (lambda: f64(np.array([0.1], np.float32)), TypeError, "got float32"),
        (lambda: f64(np.float16(0.1)), TypeError, "got float16"),
        (lambda: f64(torch.tensor([1j])), TypeError, "got torch.complex64"),
        (lambda: seed_of(), ValueError, "at least one part"),
    ],
)
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()
