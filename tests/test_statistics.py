"""Wilson's interval: its equation, its coverage, its door."""

import math

import pytest
from scipy import stats

from helpers.statistics import wilson


@pytest.mark.parametrize(("successes", "count"), [(0, 1), (1, 1), (0, 30), (7, 30), (29, 30)])
def test_both_ends_are_z_standard_deviations_from_the_share(successes, count):
    share, low, high = wilson(successes, count)
    assert all(type(value) is float for value in (share, low, high))
    z2 = stats.norm.ppf(0.975) ** 2
    for end in (low, high):
        assert (share - end) ** 2 == pytest.approx(z2 * end * (1 - end) / count, abs=1e-12)
    assert 0 <= low <= share <= high <= 1


def test_it_covers_about_as_often_as_it_says():
    count = 40
    for p in (0.1, 0.3, 0.5):
        covered = sum(
            math.comb(count, k) * p**k * (1 - p) ** (count - k)
            for k in range(count + 1)
            if wilson(k, count)[1] <= p <= wilson(k, count)[2]
        )
        assert 0.92 < covered < 0.98


def test_a_higher_level_is_wider():
    widths = [wilson(5, 20, level)[2] - wilson(5, 20, level)[1] for level in (0.5, 0.9, 0.99)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize(
    ("given", "text"),
    [((1, 0), "count"), ((-1, 5), "successes"), ((6, 5), "successes"), ((1, 5, 1.0), "level")],
)
def test_bad_input_is_named(given, text):
    with pytest.raises(ValueError, match=text):
        wilson(*given)
