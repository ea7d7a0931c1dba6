"""The order of runs against a loop over pairs and scipy."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from helpers.rng import f64
from papers.sharper.ranks import concordance


def brute(levels, values, strata):
    """Concordance by its definition, in a loop."""
    wins = pairs = 0.0
    for i in range(len(levels)):
        for j in range(len(levels)):
            if levels[i] < levels[j] and strata[i] == strata[j]:
                pairs += 1
                wins += 1.0 if values[i] < values[j] else 0.5 if values[i] == values[j] else 0.0
    return wins / pairs


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.integers(-2, 2)), min_size=2, max_size=12))
def test_concordance_counts_pairs(runs):
    levels, strata, values = (list(column) for column in zip(*runs, strict=True))
    tensors = [torch.tensor(v, dtype=torch.float64) for v in (levels, values, strata)]
    if not any(a[0] != b[0] and a[1] == b[1] for a in runs for b in runs):
        with pytest.raises(ValueError, match="two runs of one stratum"):
            concordance(*tensors)
        return
    found = concordance(*tensors).item()
    assert found == pytest.approx(brute(levels, values, strata), abs=1e-12)
    turned = concordance(tensors[0], -tensors[1], tensors[2]).item()
    assert found + turned == pytest.approx(1, abs=1e-12)
    stretched = concordance(tensors[0], tensors[1].exp(), tensors[2]).item()
    assert stretched == pytest.approx(found, abs=1e-12)  # only the order matters


def test_concordance_takes_batches_and_needs_no_strata():
    levels = torch.tensor([1, 1, 2, 3])
    values = torch.tensor([[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    assert concordance(levels, values).tolist() == [1.0, 0.0, 0.5]


def test_losses_leave_the_pairs_whose_upper_run_lost_no_more():
    levels, values = f64([1, 2, 3]), f64([[3, 1, 2], [3, 1, 2]])
    losses = f64([[2, 1, 2], [1, 2, 3]])  # of the first row two pairs are left, of the second none
    found = concordance(levels, values, losses=losses)
    assert found[0].item() == 0  # 1 against 2 and 1 against 3; 2 against 3 would be won
    assert found[1].isnan()
    equal = torch.zeros(2, 3)
    assert (
        concordance(levels, values, losses=equal).tolist() == concordance(levels, values).tolist()
    )


def test_bad_runs_are_named():
    levels = torch.tensor([1, 2])
    with pytest.raises(ValueError, match="nan, 1 are"):
        concordance(levels, torch.tensor([0.0, math.nan]))
    with pytest.raises(ValueError, match=r"\(2,\), \(2,\), \(3,\)"):
        concordance(levels, torch.zeros(3))
    with pytest.raises(ValueError, match=r"\(2,\), \(3,\), \(2,\)"):
        concordance(levels, torch.zeros(2), torch.ones(3))
    with pytest.raises(ValueError, match=r"losses must have the shape of values, got \(3,\) and"):
        concordance(levels, torch.zeros(2), losses=torch.zeros(3))
    with pytest.raises(ValueError, match=r"\(\), \(\), \(\)"):
        concordance(torch.tensor(1), torch.tensor(0.0))
    with pytest.raises(ValueError, match="different levels"):
        concordance(torch.ones(3), torch.zeros(3))
    with pytest.raises(ValueError, match="different levels"):
        concordance(torch.ones(0), torch.zeros(0))


@pytest.mark.parametrize("name", ["levels", "values", "strata", "losses"])
def test_concordance_names_where_there_is_nan(name):
    given = {"levels": f64([1, 2]), "values": f64([3, 4]), "strata": f64([0, 0])}
    given["losses"] = f64([1, 1])
    assert concordance(**given).item() == 1
    given[name] = f64([math.nan, 1])
    with pytest.raises(ValueError, match=f"{name} must not be nan, 1 are"):
        concordance(**given)


def test_concordance_of_two_levels_is_the_u_of_mann_and_whitney():
    levels = torch.tensor([1.0] * 6 + [2.0] * 9)
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(15, generator=generator, dtype=torch.float64).mul(2).round()
    assert len(values.unique()) < 12  # with ties
    U = stats.mannwhitneyu(values[6:].numpy(), values[:6].numpy()).statistic
    assert concordance(levels, values).item() == pytest.approx(U / (6 * 9), rel=1e-14)
