"""The count of failures: which predictors are chosen, and what it does not take."""

import math

import pytest
import torch
from scipy.stats import binom

from papers.beyond import audit

LOSSES, COUNTS = torch.tensor([[0.1, 0.2], [0.3, 0.4]]), torch.tensor([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"losses": LOSSES[0]}, r"losses \(H, inputs\), .* got \(2,\)"),
        ({"losses": LOSSES[:0]}, r"got \(0, 2\)"),
        ({"losses": LOSSES[:, :0], "counts": COUNTS[:, :0]}, r"got \(2, 0\), \(1, 0\)"),
        ({"counts": COUNTS[0]}, r"got \(2, 2\), \(2,\)"),
        ({"counts": COUNTS * 0}, "counts of a sample must sum to 1 or more, got 0"),
        ({"counts": COUNTS * math.nan}, "counts must be finite, got nan"),
        ({"losses": LOSSES * math.nan}, "losses must be finite, got nan"),
        ({"chosen_by": LOSSES * math.inf}, "chosen_by must be finite, got inf"),
    ],
)
def test_losses_and_counts_that_do_not_fit_are_named(changed, named):
    given = {"losses": LOSSES, "counts": COUNTS, "generator": torch.Generator()} | changed
    with pytest.raises(ValueError, match=named):
        audit.failures(certify=lambda risk: risk + 1, **given)


@pytest.mark.parametrize(
    ("behind", "chosen"), [(0.0, "either"), (1e-12, "either"), (1e-8, "first"), (1e-4, "first")]
)
def test_the_least_risk_is_shared_only_by_what_rounding_tells_apart(behind, chosen):
    """The second's certificate fails always, the first's never: how often is the second taken?"""
    samples = 200
    losses = torch.tensor([[0.5, 0.5], [0.4, 0.6]], dtype=torch.float64)
    counts = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(samples, -1)
    chosen_by = torch.tensor([[0.3, 0.3], [0.3 + behind, 0.3]], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    found = audit.failures(losses, counts, lambda risk: risk, generator, chosen_by)
    assert found.any == samples
    low, high = binom.interval(1 - 1e-6, samples, 0.5) if chosen == "either" else (0, 0)
    assert low <= found.erm <= high


@pytest.mark.parametrize("draws", [1, 2, 7, 300])
def test_the_search_finds_the_failures_that_looking_at_all_finds(draws):
    generator = torch.Generator().manual_seed(draws)
    losses = torch.rand(9, 32, generator=generator, dtype=torch.float64)
    losses = torch.cat((losses, losses.round(), losses[:1] * 0, losses[:1] * 0 + 1))
    counts = audit.sample_counts(32, 5, draws, generator)
    risk, empirical = losses.mean(1), counts @ losses.T / 5
    for gap in (0.0, 0.05, 0.2, 2.0):
        wrong = (empirical < risk) & (risk > empirical + gap)
        found = audit.failures(losses, counts, lambda r, gap=gap: r + gap, generator)
        assert found.any == int(wrong.any(1).sum())
        for h in range(len(losses)):  # of each alone
            alone = audit.failures(losses[h : h + 1], counts, lambda r, g=gap: r + g, generator)
            assert alone == (wrong[:, h].sum(), wrong[:, h].sum())
