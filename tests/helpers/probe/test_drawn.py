"""Errors of drawn sensitivities and weights, by repetition on functions with known spectra."""

import math

import pytest
import torch

from helpers.probe import probe
from helpers.probe.drawn import drawn_mean, drawn_weights

N, M, REPEATS = 22, 400, 80


def parity(bits):
    return 1 - 2 * (bits.sum(-1) % 2)


def both(bits):
    return 1 - 2 * bits[:, 0] * bits[:, 1]


def rare(bits):
    """-1 at one string of 256, which few samples of 400 have often."""
    return 1 - 2 * bits[:, :8].prod(-1)


def half_bent(bits):
    return 1 - 2 * ((bits[:, 0] * bits[:, 1] + bits[:, 2] * bits[:, 3]) % 2)


def odd_majority(bits):
    return 1 - 2 * (bits[:, :21].sum(-1) > 10).long()


first = math.comb(20, 10) / 2**20  # a coefficient of the majority of 21 at degree 1
SPECTRA = [
    (parity, {N: 1.0, 0: 0.0, 1: 0.0, 2: 0.0, N - 1: 0.0, N - 2: 0.0}, N),
    (lambda b: parity(b[:, :1]), {0: 0.0, 1: 1.0, 2: 0.0}, 1.0),
    (lambda b: torch.ones(len(b)), {0: 1.0, 1: 0.0, 2: 0.0}, 0.0),
    (both, {0: 1 / 4, 1: 1 / 2, 2: 1 / 4, N: 0.0}, 1.0),
    (rare, {0: (1 - 2**-7) ** 2, 1: 8 * 2**-14, 2: 28 * 2**-14}, 8 * 2**-7),
    (half_bent, {k: math.comb(4, k) / 16 for k in range(3)}, 2.0),
    (odd_majority, {0: 0.0, 1: 21 * first**2, 2: 0.0}, 21 * first),
]


@pytest.mark.parametrize(("f", "weights", "mean"), SPECTRA)
def test_intervals_hold_the_truth_as_often_as_they_say(f, weights, mean):
    missed, missed_mean, sums = dict.fromkeys(weights, 0), 0, dict.fromkeys(weights, 0.0)
    error = dict.fromkeys(weights, 0.0)
    for seed in range(REPEATS):
        generator = torch.Generator().manual_seed(seed)
        bits = torch.randint(0, 2, (M, N), generator=generator)
        here = f(bits).double()
        found = drawn_weights(bits, here)
        for k, truth in weights.items():
            missed[k] += abs(found[k].value - truth) > 1.96 * found[k].error
            sums[k] += found[k].value / REPEATS
            error[k] += found[k].error / REPEATS
        flips = torch.stack([f(bits ^ (torch.arange(N) == k)) != here for k in range(N)], 1)
        average = drawn_mean(flips.sum(1).double(), N)
        missed_mean += abs(average.value - mean) > 1.96 * average.error
    allowed = 0.05 * REPEATS + 2.6 * math.sqrt(0.05 * 0.95 * REPEATS)
    assert max(missed.values()) <= allowed
    assert missed_mean <= allowed
    for k, truth in weights.items():  # without bias
        assert abs(sums[k] - truth) <= 4 * error[k] / math.sqrt(REPEATS)


def test_beyond_twenty_bits_every_number_has_its_error():
    report = probe(lambda x: torch.where(x.sum(-1) > 0, 1, -1), 25, samples=2000)
    assert list(report.weight_drawn) == [0, 1, 2, 3, 22, 23, 24, 25]
    at = report.weight_drawn[1]
    assert abs(at.value - 25 * (math.comb(24, 12) / 2**24) ** 2) < 4 * at.error < 0.2
    inside = [
        low < found < high
        for found, (low, high) in zip(report.influences, report.influence_intervals, strict=True)
    ]
    assert inside == [True] * 25
    text = str(report)
    assert "weight at degree 1" in text
    assert dict(report.rows())["largest influences"].count("[") == 4
    assert report.series()["influence intervals, x1, low"] == report.influence_intervals[0][0]


def test_alike_strings_are_no_proof():
    """All drawn strings have the sensitivity 0, or 25, and others may not have been seen."""
    for f, value in ((lambda x: x[:, 0] ** 2, 0), (lambda x: x.prod(-1), 25)):
        found = probe(f, 25, samples=1000).average_sensitivity
        assert found.value == value
        assert 3 * 25 / 1000 > 1.96 * found.error > 2 * 25 / 1000


def test_an_exact_report_has_no_intervals():
    report = probe(lambda x: x[:, 0], 5)
    assert report.influence_intervals == ()
    assert report.weight_drawn == {}
