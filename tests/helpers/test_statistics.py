"""Statistics of many runs: laws, oracles in loops or in scipy, coverage, refusals, examples."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from helpers import statistics
from helpers.rng import f64
from helpers.statistics import (
    Estimate,
    kl_inverse,
    least_integer,
    power,
    trend,
    upper_limit,
    wilson,
)
from tests.draws import normal, seeded
from tests.exact import exact_kl_inverse


def agrees(count, trials, p):
    """Whether as many of the trials are counted as a share p gives, but for a chance of 1e-6."""
    low, high = stats.binom.interval(1 - 1e-6, trials, p)
    return low <= count <= high


def test_an_estimate_is_a_number_with_its_interval():
    found = Estimate(0.0123, 0.0101, 0.0150)
    assert str(found) == "0.0123 [0.0101, 0.0150]"
    assert f"{found:.2e}" == "1.23e-02 [1.01e-02, 1.50e-02]"
    assert float(found) == found[0] == found.value
    value, low, high = found
    assert (value, low, high) == found


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((12345.0, 11000.0, 14000.0), "12345 [11000, 14000]"),
        ((2.5, 1.0, 4.0), "2.5 [1.0, 4.0]"),
        ((1e-9, 5e-10, 2e-9), "1e-09 [5e-10, 2e-09]"),
        ((1.0, 1.0, 1.0), "1 [1, 1]"),
        ((1.0, -math.inf, 2.0), "1 [-inf, 2]"),
        ((math.nan, math.nan, math.nan), "nan [nan, nan]"),
    ],
)
def test_its_text_has_the_decimals_that_the_interval_asks_for(numbers, text):
    assert str(Estimate(*numbers)) == text


@settings(max_examples=30)
@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(2, 9))
def test_the_slope_of_a_line_is_its_slope(a, b, N):
    x = torch.arange(N, dtype=torch.float64)
    found = statistics.slope(x, a * x + b)
    assert abs(found - a) < 1e-13 * N * (abs(a) * N + abs(b) + 1)


def test_slopes_come_in_batches_and_need_two_places():
    x = torch.tensor([4.0, 4, 6, 8], dtype=torch.float64)
    y = torch.stack((x.square(), torch.ones(4).double()))
    torch.testing.assert_close(statistics.slope(x, y)[1].item(), 0.0)
    centred = x - x.mean()
    expected = (centred * y[0]).sum() / (centred * centred).sum()
    torch.testing.assert_close(statistics.slope(x, y)[0], expected)
    torch.testing.assert_close(statistics.slope(torch.stack((x, 2 * x)), x).tolist(), [1.0, 0.5])
    with pytest.raises(ValueError, match="two different x"):
        statistics.slope(torch.ones(3), torch.ones(3))
    with pytest.raises(ValueError, match="share N"):
        statistics.slope(torch.ones(3), torch.ones(4))
    with pytest.raises(ValueError, match=r"share N, got \(\) and \(3,\)"):
        statistics.slope(torch.tensor(1.0), torch.ones(3))
    with pytest.raises(ValueError, match=r"share N, got \(3,\) and \(\)"):
        statistics.slope(torch.ones(3), torch.tensor(1.0))


@settings(max_examples=30)
@given(st.floats(-3, 3), st.floats(0.1, 10), st.integers(2, 9))
def test_the_power_of_a_law_is_its_exponent(b, a, N):
    x = list(range(1, N + 1))
    found = power(x, [[a * v**b for v in x], [v**-b for v in x]])
    assert found.tolist() == pytest.approx([b, -b], abs=1e-10)


def test_a_trend_is_that_of_least_squares_by_matrices():
    x, y = normal(9), normal(9, seed=1)
    design = torch.stack((torch.ones(9), x), -1).double()
    solution = torch.linalg.lstsq(design, y[:, None]).solution[:, 0]
    residual = (y - design @ solution).square().sum() / 7
    error = (residual * torch.linalg.inv(design.mT @ design)[1, 1]).sqrt().item()
    found = trend(x, y, 0.9)
    assert found.value == pytest.approx(solution[1].item(), rel=1e-12)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.95, 7) * error, rel=1e-10)
    assert found.value - found.low == pytest.approx(found.high - found.value, rel=1e-10)


def test_a_law_without_scatter_has_its_power_and_an_interval_of_no_length():
    N = torch.tensor([4, 6, 8, 8])
    found, low, high = trend(N, 3 * N.double() ** 2, log=True)
    assert found == pytest.approx(2, abs=1e-9)
    assert high - low < 1e-6


def test_values_that_are_all_alike_have_no_trend():
    assert trend([1, 2, 3], [5.0, 5.0, 5.0]) == (0, 0, 0)


def test_the_interval_of_a_power_covers_as_often_as_it_says():
    N = torch.tensor([4, 6, 8]).repeat_interleave(4)
    source, trials = seeded(3), 400
    covered = 0
    for _ in range(trials):
        noise = 0.3 * torch.randn(12, generator=source, dtype=torch.float64)
        _, low, high = trend(N, N.double() ** 1.5 * noise.exp(), log=True)
        covered += low <= 1.5 <= high
    assert agrees(covered, trials, 0.95)


def test_means_and_their_differences_have_the_intervals_of_student_and_welch():
    a, b = normal(8), 3 * normal(5, seed=1) + 1
    one = statistics.average(a)
    low, high = stats.t.interval(0.95, 7, a.mean().item(), a.std().item() / 8**0.5)
    assert one == pytest.approx((a.mean().item(), low, high), rel=1e-12)
    apart = statistics.difference(a, b, 0.9)
    va, vb = a.var().item() / 8, b.var().item() / 5
    half = stats.t.ppf(0.95, (va + vb) ** 2 / (va**2 / 7 + vb**2 / 4)) * math.sqrt(va + vb)
    assert apart.value == pytest.approx(a.mean().item() - b.mean().item())
    assert apart.high - apart.value == pytest.approx(half, rel=1e-10)
    assert apart.value - apart.low == pytest.approx(half, rel=1e-10)
    other = statistics.difference(b, a, 0.9)
    assert other == pytest.approx((-apart.value, -apart.high, -apart.low))


@pytest.mark.filterwarnings("error")
def test_a_group_without_spread_differs_by_the_interval_of_the_other():
    a, b = torch.ones(50), (torch.arange(50) < 1).double()
    apart = statistics.difference(a, b)
    half = stats.t.ppf(0.975, 49) * b.std().item() / 50**0.5
    assert apart == pytest.approx((0.98, 0.98 - half, 0.98 + half))


def test_intervals_of_means_cover_as_often_as_they_say():
    trials, one, two = 300, 0, 0
    for seed in range(trials):
        a, b = normal(5, seed=seed), 4 * normal(9, seed=trials + seed)
        one += statistics.average(a).low <= 0 <= statistics.average(a).high
        apart = statistics.difference(a, b)
        two += apart.low <= 0 <= apart.high
    for covered in (one, two):
        assert agrees(covered, trials, 0.95)


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
    ("successes", "count", "level"), [(0, 1, 0.95), (3, 40, 0.9), (39, 40, 0.5)]
)
def test_at_the_upper_limit_so_few_successes_are_as_rare_as_said(successes, count, level):
    p = upper_limit(successes, count, level)
    few = sum(math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(successes + 1))
    assert few == pytest.approx(1 - level, rel=1e-6)
    assert upper_limit(count, count, level) == 1


@pytest.mark.parametrize("count", [30, 10**6, 10**9, 10**12])
def test_the_upper_limit_of_no_success_is_right_to_the_last_digits_however_small(count):
    assert upper_limit(0, count) == pytest.approx(-math.expm1(math.log(0.05) / count), rel=1e-12)


def test_a_level_next_to_one_still_has_an_interval():
    assert wilson(5, 10, math.nextafter(1, 0)) == (0.5, 0.0, 1.0)


def test_redrawn_runs_stay_in_their_group():
    groups = torch.tensor([4, 7, 4, 4, 7, 9])
    again = statistics.resampled(groups, 500, torch.Generator().manual_seed(0))
    mixed = statistics.resampled(groups, 500, torch.Generator().manual_seed(0), replace=False)
    assert torch.equal(groups[again], groups.expand(500, 6))
    assert torch.equal(groups[mixed], groups.expand(500, 6))
    assert torch.equal(mixed.sort(1).values, torch.arange(6).expand(500, 6))
    assert (again[:, 0] == again[:, 2]).any(), "with replacement a run comes twice"
    for draws in (again, mixed):
        for run in (0, 2, 3):  # each of the three with one third: five standard errors
            share = (draws[:, 0] == run).double().mean().item()
            assert abs(share - 1 / 3) < 5 * math.sqrt(2 / 9 / 500)


def test_ends_are_quantiles_and_let_nan_through():
    values = normal(101)
    expected = values.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    assert list(statistics.percentile_interval(values)) == expected
    whole = torch.cat((torch.tensor([5.0]).double(), values))
    assert statistics.bootstrap_interval(whole) == (5.0, *expected)
    values[3] = math.nan
    assert all(map(math.isnan, statistics.percentile_interval(values)))


@given(st.integers(-5, 10**12), st.integers(-5, 100))
def test_the_first_number_is_found_with_few_questions(needed, start):
    asked = []
    found = least_integer(lambda m: asked.append(m) or m >= needed, start)
    assert found == max(needed, start)
    assert len(asked) == len(set(asked)) <= 3 + 1.5 * math.log2(found - start + 1) + 1
    assert min(asked) >= start


def test_the_search_ends_where_it_is_told():
    assert least_integer(lambda m: m >= 100, 1, 100) == 100
    assert least_integer(lambda m: True, 5, 5) == 5
    asked = []
    with pytest.raises(ValueError, match="not met up to 100"):
        least_integer(lambda m: asked.append(m) or False, 1, 100)
    assert max(asked) == 100


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: wilson(1, 0), "count"),
        (lambda: wilson(-1, 5), "successes"),
        (lambda: wilson(6, 5), "successes"),
        (lambda: wilson(1, 5, 1.0), "level"),
        (lambda: upper_limit(1, 5, 0.0), "level"),
        (lambda: power([0, 1], [1, 2]), "positive finite numbers, got 0"),
        (lambda: power([1, 2], [1, math.inf]), "got inf"),
        (lambda: trend([1, 2], [1, 2]), "N > 2"),
        (lambda: trend([1, 2, 3], [1, 2]), "3 and 2"),
        (lambda: trend([4, 4, 4], [1, 2, 3]), "two different x"),
        (lambda: trend([1, 2, 3], [1, 2, math.nan]), "finite, got nan"),
        (lambda: trend([1, 2, 3], [1, 2, 0], log=True), "positive finite numbers, got 0"),
        (lambda: trend([1, 2, 3], [1, 2, 3], 1), "level"),
        (lambda: statistics.average([1.0]), "at least 2"),
        (lambda: statistics.average(torch.ones(2, 2)), r"\(E,\), E at least 2, got \(2, 2\)"),
        (lambda: statistics.average([1.0, 2.0], 2.0), "level"),
        (lambda: statistics.difference([1.0, 2.0], [1.0]), "at least 2"),
        (lambda: statistics.percentile_interval(torch.ones(2, 2)), r"\(2, 2\)"),
        (lambda: statistics.percentile_interval(torch.ones(0)), "R at least 1"),
        (lambda: statistics.percentile_interval(f64([1, math.inf])), "must not be infinite, 1 are"),
        (lambda: statistics.bootstrap_interval(torch.ones(1)), "R at least 1"),
        (lambda: wilson(1, 2**63), r"below 2\*\*63, got 9223372036854775808"),
        (lambda: statistics.resampled(torch.ones(0), 3, seeded()), "E at least 1"),
        (lambda: statistics.resampled(torch.ones(2, 2), 1, seeded()), r"least 1, got \(2, 2\)"),
        (lambda: statistics.resampled(torch.arange(2), 0, seeded()), "got 0"),
        (
            lambda: statistics.resampled(f64([math.nan, 1]), 1, seeded()),
            "groups must be finite, got nan",
        ),
        (lambda: least_integer(bool, 5, 4), "ends at 4 before it starts at 5"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1.0, 1e160, 1e200])
def test_the_slope_of_huge_and_tiny_numbers_is_right(size):
    x, y = f64([1, 2, 3]), f64([1, 3, 8])
    torch.testing.assert_close((statistics.slope(size * x, y) * size).item(), 3.5)
    torch.testing.assert_close((statistics.slope(x, size * y) / size).item(), 3.5)
    torch.testing.assert_close(statistics.slope(size * x, size * y).item(), 3.5)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-160, 1e160, 1e200, 1e307])
def test_intervals_of_huge_and_tiny_numbers_are_those_of_ordinary_ones(size):
    x, y = f64([0.2, 0.5, 0.6, 0.9]), f64([0.3, 0.1, 1.0, 0.8])
    rel = 1e-9 if size > 1e-300 else 1e-6  # subnormal variables have fewer digits
    wanted = statistics.average(y)
    assert [v / size for v in statistics.average(size * y)] == pytest.approx(list(wanted), rel=rel)
    wanted = trend(x, y)
    assert [v / size for v in trend(x, size * y)] == pytest.approx(list(wanted), rel=rel)
    if size > 1e-300:
        assert [v * size for v in trend(size * x, y)] == pytest.approx(list(wanted), rel=rel)


def test_numbers_that_are_none_are_named():
    with pytest.raises(TypeError, match="values must be numbers, got 'abc'"):
        statistics.average("abc")
    with pytest.raises(TypeError, match="b must be numbers, got NoneType None"):
        statistics.difference([1.0, 2.0], None)
    with pytest.raises(TypeError, match=r"values must be real, got torch\.complex64"):
        statistics.average(torch.tensor([1j, 2j]))
    weights = torch.rand(4, requires_grad=True)
    assert statistics.average(weights) == statistics.average(weights.detach())


def test_the_slope_of_ordinary_numbers_is_the_formula_to_the_last_bit():
    x, y = torch.randn(4, 9), torch.randn(5, 1, 9)
    dx, dy = x - x.mean(-1, keepdim=True), y - y.mean(-1, keepdim=True)
    assert torch.equal(statistics.slope(x, y), (dx * dy).sum(-1) / dx.square().sum(-1))
    assert statistics.slope(f64([0.1] * 3 + [0.2]), f64([5] * 4)).item() == 0


def test_slope_names_what_it_does_not_take():
    with pytest.raises(ValueError, match="two different x"):
        statistics.slope(f64([0.1] * 3), f64([1, 2, 4]))
    with pytest.raises(ValueError, match="x must be finite, got nan"):
        statistics.slope(f64([1, math.nan, 3]), f64([1, 2, 4]))
    with pytest.raises(TypeError, match="y must be floating"):
        statistics.slope(f64([1, 2]), torch.tensor([1, 2]))


@pytest.mark.parametrize(("successes", "count"), [(0, 7), (7, 7), (3, 11), (40, 1000)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_upper_limit_is_that_of_scipy_s_exact_test(successes, count, level):
    one_sided = stats.binomtest(successes, count, alternative="less").proportion_ci(level)
    assert upper_limit(successes, count, level) == pytest.approx(one_sided.high, rel=1e-9)


def test_slopes_are_those_of_scipy():
    x, y = normal(3, 12), normal(3, 12, seed=1)
    for at, values, found in zip(x, y, statistics.slope(x, y), strict=True):
        line = stats.linregress(at.numpy(), values.numpy())
        assert found.item() == pytest.approx(line.slope, rel=1e-12)


SHARES = [0.0, 5e-324, 1e-310, 1e-300, 1e-15, 1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-12, 1 - 2**-53]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("budget", [1e-18, 1e-14, 1e-6, 0.003, 0.7, 12.0, 36.0, 900.0])
def test_kl_inverse_is_that_of_sixty_digits_rounded_up(share, budget):
    found, truth = kl_inverse(share, budget), exact_kl_inverse(share, budget)
    assert truth <= found <= min(1, truth * (1 + 1e-14))


def test_kl_inverse_at_its_ends_and_beyond():
    assert kl_inverse(0.3, 0.0) == 0.3
    assert kl_inverse(1.0, 2.0) == 1.0
    with pytest.raises(ValueError, match=r"share must lie from 0 to 1, got 1.1"):
        kl_inverse(1.1, 1.0)
    with pytest.raises(ValueError, match=r"budget must be finite and at least 0, got -1"):
        kl_inverse(0.1, -1.0)
