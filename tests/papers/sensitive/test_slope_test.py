"""The p-value of a correlation against SciPy, and the numbers of points that two ranges leave."""

import numpy as np
import pytest
from scipy import stats

from papers.sensitive.slope_test import fitting_points, rounded, slope_p


@pytest.mark.parametrize("points", [3, 10, 270])
@pytest.mark.parametrize("slope", [0.0, -0.05, 0.4])
def test_p_is_that_of_a_regression(points, slope):
    source = np.random.default_rng(points)
    x = source.normal(size=points)
    found = stats.linregress(x, slope * x + source.normal(size=points))
    assert slope_p(found.rvalue, points) == pytest.approx(found.pvalue, rel=1e-9)


@pytest.mark.parametrize("r", [0.16, -0.07, 0.88])
def test_the_numbers_that_fit_are_those_that_a_list_finds(r):
    for points in (40, 213, 270):
        size, p = rounded(r, 0.01), slope_p(r, points)
        given = (0.99 * p, 1.01 * p)
        listed = [
            k
            for k in range(3, 600)
            if slope_p(size[1], k) <= given[1] and slope_p(size[0], k) >= given[0]
        ]
        least, largest = fitting_points(size, given)
        assert least <= points <= largest
        assert listed == list(range(least, min(largest, 599) + 1))


def test_no_number_fits_a_p_between_those_of_two_numbers_of_points():
    between = (slope_p(0.5, 20) + slope_p(0.5, 21)) / 2
    least, largest = fitting_points((0.5, 0.5), (between, between))
    assert (least, largest) == (21, 20)


def test_three_points_are_the_fewest():
    r, p = 0.5, slope_p(0.5, 3)
    assert fitting_points((r, r), (p, p)) == (3, 3)


def test_rounding_goes_half_a_digit_to_both_sides():
    assert rounded(-0.07, 0.01) == pytest.approx((0.065, 0.075))


def test_bad_input_is_named():
    for r, points, message in ((1.0, 5, "r must lie"), (0.5, 2, "points must be at least 3")):
        with pytest.raises(ValueError, match=message):
            slope_p(r, points)
    with pytest.raises(ValueError, match=r"got digit = 0\.01 and value = 0\.001"):
        rounded(0.001, 0.01)
    with pytest.raises(ValueError, match=r"got digit = 1\.7e\+308 and value = 1\.7e\+308"):
        rounded(1.7e308, 1.7e308)
    with pytest.raises(ValueError, match="p must be an interval"):
        fitting_points((0.1, 0.2), (0.3, 0.2))
    with pytest.raises(ValueError, match=r"r must be an interval within \(0, 1\), got 0"):
        fitting_points((0.0, 0.2), (0.1, 0.2))
    with pytest.raises(ValueError, match=r"p must be an interval within \(0, 1\), got 0\.1 to 1"):
        fitting_points((0.1, 0.2), (0.1, 1.0))
