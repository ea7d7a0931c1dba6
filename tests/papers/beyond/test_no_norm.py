"""PARITY without layer norm: the theorem on all strings, its pieces, and where it must fail."""

import math
from fractions import Fraction

import pytest
import torch

from helpers import cube
from papers.beyond import no_norm
from papers.sensitive import parity
from papers.sensitive.isolation import parity_of


@pytest.mark.parametrize("growth", ["encodings", "weights"])
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_every_string_has_the_margin(n, growth):
    strings = cube.bits(n)
    outputs = no_norm.forward(*no_norm.parity_without_norm(n, growth), strings)
    assert (outputs * parity_of(strings)).min() >= no_norm.margin()
    assert outputs.abs().max() <= 1


@pytest.mark.parametrize("n", [100, 300])
def test_long_strings_have_it_and_lose_it_if_nothing_grows(n):
    ones = torch.arange(0, n + 1, 7)
    strings = (torch.arange(n) < ones[:, None]).long()
    strings = strings[:, torch.randperm(n, generator=torch.Generator().manual_seed(0))]
    for growth, least in (("encodings", no_norm.margin()), ("weights", no_norm.margin())):
        network = no_norm.parity_without_norm(n, growth)
        assert (no_norm.forward(*network, strings) * parity_of(strings)).min() >= least
    network = no_norm.parity_without_norm(n, "nothing")
    left = (no_norm.forward(*network, strings) * parity_of(strings)).min()
    assert left < 20 / n  # one flip changes the output by a constant over n


def test_neither_weights_nor_encodings_depend_on_the_length():
    short, long = (no_norm.parity_without_norm(n)[1] for n in (5, 9))
    for name, weight in short.items():
        if name == "positions":
            assert (weight == long[name][:6]).all()
        else:
            assert (weight == long[name]).all()


def test_the_first_layer_writes_the_differences():
    """By hand, from the weights that the docstring names."""
    n = 4
    for string in cube.bits(n):
        k = int(string.sum())
        for x in range(n + 1):
            end = Fraction(x) + Fraction(1, 8)
            numerator = end - Fraction(1, 2) * 2 * k
            expected = numerator / (n - k + 2 * k + end)
            assert no_norm.differences(n)[k, x].item() == pytest.approx(float(expected))


def test_the_output_is_the_softmax_of_the_distances():
    n, g = 9, torch.Generator().manual_seed(0)
    strings = torch.randint(0, 2, (20, n), generator=g)
    size = no_norm.differences(n)[strings.sum(1)].abs()
    attention = (-no_norm.STRENGTH * (n + 1) * size).softmax(-1)
    expected = (attention * (1 - 2 * (torch.arange(n + 1) % 2))).sum(-1)
    found = no_norm.forward(*no_norm.parity_without_norm(n), strings)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("n", [1, 2, 5, 40, 700])
def test_the_gap_of_the_proof(n):
    assert no_norm.least_gap(n) >= 1 / 4
    assert no_norm.least_gap(n, 0.4) >= (1 - 0.8) / 3  # below 1/2 in general
    if n > 2:
        assert no_norm.least_gap(n, 5 / 8) < 0


def test_the_gap_is_nearly_attained_and_the_margin_is_that_of_a_geometric_series():
    assert no_norm.least_gap(2000) == pytest.approx(1 / 4, rel=0.01)
    rest = 2 * sum(math.exp(-8 * y) for y in range(1, 50))
    assert no_norm.margin() == pytest.approx((1 - rest) / (1 + rest))
    assert 1 - no_norm.margin() < 0.0014


def test_a_crossing_is_where_the_curve_passes():
    lengths, generator = [4, 8, 16, 32, 64], torch.Generator().manual_seed(0)
    found = no_norm.crossing(
        no_norm.forward, no_norm.parity_without_norm, 0.05, lengths, 40, generator
    )
    assert 8 < found.length < 32
    assert [n for n, _ in found.curve] == lengths[: len(found.curve)]
    assert found.curve[0][1] < 1e-3
    none = no_norm.crossing(parity.forward, parity.parity_transformer, 1e-6, [4, 8], 4, generator)
    assert math.isnan(none.length)
    assert len(none.curve) == 2


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: no_norm.parity_without_norm(0), "n must be at least 1"),
        (lambda: no_norm.parity_without_norm(3, "depth"), "growth"),
        (lambda: no_norm.parity_without_norm(3, strength=0.0), "strength"),
        (lambda: no_norm.margin(-1.0), "strength"),
        (lambda: no_norm.differences(3, 0.0), "shift"),
        (
            lambda: no_norm.forward(*no_norm.parity_without_norm(3), torch.zeros(1, 4).long()),
            r"expected bits of shape \(..., B, 3\)",
        ),
        (
            lambda: no_norm.forward(*no_norm.parity_without_norm(2), torch.tensor([[0, 3]])),
            "0",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
