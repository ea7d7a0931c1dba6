"""Shares of weights that compute a function: against whole networks, closed forms and SciPy."""

import math

import pytest
import torch
from scipy import integrate, stats

from helpers import cube
from papers.beyond import volumes
from tests.draws import seeded


def uniform(bound, g, *shape):
    return bound * (2 * torch.rand(shape, generator=g, dtype=torch.float64) - 1)


def whole_network(count, n, hidden, bound, g, positional):
    """Every weight of the model drawn as it is: predictions (N, indices, 2**n) and the strings."""
    bits = cube.bits(n)
    token = torch.nn.functional.one_hot(bits, 2).double()
    value, value_bias = uniform(bound, g, count, 2, 2), uniform(bound, g, count, 2)
    values = torch.einsum("ned,xjd->nxje", value, token) + value_bias[:, None, None]
    j = torch.arange(1.0, n + 1, dtype=torch.float64)
    if positional:
        a, b, r, s, c = (uniform(bound, g, count, 2) for _ in range(5))
        query = a[:, None] * j[:, None] + b[:, None]
        key = r[:, None] * j[:, None] + s[:, None] * j[:, None] ** 2 + c[:, None]
        scores = torch.einsum("nke,nje->nkj", query, key)[:, :, None]
    else:
        query = uniform(bound, g, count, 2)
        key = torch.einsum("ned,xjd->nxje", uniform(bound, g, count, 2, 2), token)
        key = key + uniform(bound, g, count, 2)[:, None, None]
        scores = torch.einsum("ne,nxje->nxj", query, key)[:, None]
    attention = (math.log(n) * scores).softmax(-1)
    mean = torch.einsum("nkxj,nxje->nkxe", attention.expand(-1, -1, 2**n, -1), values)
    first, first_bias = uniform(bound, g, count, hidden, 2), uniform(bound, g, count, hidden)
    second, second_bias = uniform(bound, g, count, 2, hidden), uniform(bound, g, count, 2)
    inner = torch.einsum("nhe,nkxe->nkxh", first, mean) + first_bias[:, None, None]
    out = torch.einsum("nch,nkxh->nkxc", second, inner.clamp(min=0)) + second_bias[:, None, None]
    return out[..., 1] > out[..., 0], bits


def within_five_errors(hits, count, low, high=None):
    found = hits / count
    error = math.sqrt(low / count)
    return low - 5 * error <= found <= (high or low) + 5 * error


def test_first_and_index_agree_with_whole_networks_on_every_string():
    n, bound, count = 3, 3.0, 60_000
    g = seeded()
    right, hits = [], 0
    for _ in range(4):
        said, bits = whole_network(count // 4, n, 4, bound, g, positional=True)
        agrees = said == bits.T.bool()
        right.append(agrees[:, 0].all(1))
        hits += int(agrees.all(2).all(1).sum())
    readers = volumes.draw_readers(40_000, 4, bound, seeded(1))
    tables = volumes.sharpness_shares(readers, torch.linspace(0, 1, 101, dtype=torch.float64))
    plain = volumes.draw_positions(40_000, n, bound, seeded(2), 1.0)
    first = volumes.index_share(plain, tables, n, math.log(n), indices=torch.tensor([1]))
    assert within_five_errors(int(torch.cat(right).sum()), count, first.enough, first.needed)
    drawn = volumes.draw_positions(100_000, n, bound, seeded(3))
    index = volumes.index_share(drawn, tables, n, math.log(n))
    assert within_five_errors(hits, count, index.enough, index.needed)
    assert index.enough <= index.needed


def test_majority_agrees_with_whole_networks_on_every_string():
    n, bound, count = 5, 2.0, 40_000
    said, bits = whole_network(count, n, 4, bound, seeded(), positional=False)
    hits = int((said[:, 0] == (bits.sum(1) > n / 2)).all(1).sum())
    readers = volumes.draw_readers(40_000, 4, bound, seeded(1))
    contrast, weight = volumes.draw_contrasts(40_000, bound, seeded(2), 3.0)
    share = (weight * volumes.majority_share(readers, contrast, n, math.log(n))).mean().item()
    assert within_five_errors(hits, count, share)
    labels = torch.arange(n + 1) > n / 2
    direct = volumes.labelled_share(readers, contrast, labels, n, math.log(n))
    torch.testing.assert_close(
        direct, volumes.majority_share(readers, contrast, n, math.log(n)), atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("normalized", [False, True])
def test_concentrated_draws_have_the_mean_of_plain_ones(normalized):
    n, bound = 4, 3.0
    table = torch.linspace(0, 1, 11, dtype=torch.float64)  # any function of the attention
    values = []
    for plain, count in ((1.0, 400_000), (0.25, 100_000)):
        drawn = volumes.draw_positions(count, n, bound, seeded(), plain, normalized=normalized)
        sharp = torch.where(table > 0.45, table, 0.0)
        values.append(
            volumes.index_share(drawn, (sharp, sharp), n, math.log(n), normalized=normalized)
        )
    error = math.hypot(values[0].error, values[1].error)
    assert abs(values[0].enough - values[1].enough) < 5 * error
    assert values[1].error < 0.15 * values[1].enough


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("n", [1, 3, 16])
def test_the_weights_of_concentrated_draws_have_mean_1(n, normalized):
    """Density over density: a wrong share or width of the proposals moves the mean."""
    drawn = volumes.draw_positions(200_000, n, 3.0, seeded(), normalized=normalized)
    error = drawn.weight.std().item() / math.sqrt(len(drawn.weight))
    assert abs(drawn.weight.mean().item() - 1) < 5 * error < 0.03


def test_contrasts_have_the_density_of_the_closed_form_at_0():
    for bound in (1.0, 2.0):
        contrast, weight = volumes.draw_contrasts(400_000, bound, seeded(), 0.002)
        near = (weight * (contrast.abs() < 0.002)).mean().item() / 0.004
        assert near == pytest.approx(volumes.DENSITY_AT_ZERO / bound**2, rel=0.03)
        assert weight.mean().item() == pytest.approx(1, abs=0.05)


def test_the_cut_has_the_law_of_a_triangle():
    x = torch.linspace(-5, 5, 21, dtype=torch.float64)
    law = stats.triang(0.5, loc=-3, scale=6)
    found = volumes.cut_share(torch.full_like(x, -9), x, 1.5)
    torch.testing.assert_close(found, torch.as_tensor(law.cdf(x.numpy())))
    assert volumes.cut_share(x, x - 1, 1.5).max() == 0


def test_a_step_is_a_majority_at_every_length():
    """The exact formula: for a reader that is a straight line, shares are differences of a law."""
    straight = volumes.Readers(*(torch.ones(1, 1, dtype=torch.float64) for _ in range(3)), 2.0)
    assert volumes.step_share(straight).item() == pytest.approx(
        volumes.cut_share(torch.tensor(1.0), torch.tensor(2.0), 2.0).item()
    )
    n, zero = 9, torch.zeros(1, dtype=torch.float64)
    by_count = sum(
        volumes.labelled_share(straight, zero, torch.arange(n + 1) > t, n, 1.0) for t in range(n)
    )
    torch.testing.assert_close(by_count, volumes.step_share(straight))


def test_more_attention_on_the_right_position_serves_more_readers():
    readers = volumes.draw_readers(2000, 3, 1.0, seeded())
    enough, needed = volumes.sharpness_shares(
        readers, torch.linspace(0, 1, 21, dtype=torch.float64)
    )
    assert (enough <= needed + 1e-12).all()
    assert (enough.diff() >= 0).all()
    assert (enough[:11] == 0).all()
    assert enough[-1] == needed[-1] > 0
    fine = torch.linspace(0, 0.2, 1001, dtype=torch.float64)
    dense = volumes.logits(readers, torch.cat((fine, 1 - fine)))
    zeros, ones = dense[:, :1001].amax(1), dense[:, 1001:].amin(1)
    share = volumes.cut_share(zeros, ones, 1.0).mean()
    assert enough[16] <= share + 1e-12
    assert share == pytest.approx(enough[16].item(), rel=1e-2)


def test_the_area_is_that_of_a_quadrature():
    for u in (-0.7, 0.0, 0.4):

        def width(x, u=u):
            t = torch.linspace(1e-4, 1, 4001, dtype=torch.float64)
            top = ((1 - u) / t - x * t).min()
            bottom = (-(1 + u) / t - x * t).max()
            return max((top - bottom).item(), 0.0)

        area, _ = integrate.quad(width, -8, 8, limit=200)
        assert volumes.parabola_area(torch.tensor(u, dtype=torch.float64)).item() == pytest.approx(
            area, rel=1e-4
        )


@pytest.mark.parametrize("hidden", [3, 4, 7, 12])
def test_h_units_compute_parity_of_h_plus_1_bits_also_after_a_small_change(hidden):
    n, zero = hidden + 1, torch.zeros(1, dtype=torch.float64)
    reader = volumes.parity_reader(hidden)
    odd = torch.arange(n + 1) % 2 == 1
    assert volumes.labelled_share(reader, zero, odd, n, 1.0).item() > 0
    g = seeded()
    for _ in range(20):
        moved = [v * (1 + uniform(1e-3, g, *v.shape)) for v in reader[:3]]
        near = volumes.Readers(*moved, 1.0)
        assert volumes.labelled_share(near, uniform(1e-3, g, 1), odd, n, 1.0).item() > 0


def test_two_units_do_not_compute_parity_of_three_bits():
    readers = volumes.draw_readers(50_000, 2, 1.0, seeded())
    contrast, _ = volumes.draw_contrasts(50_000, 1.0, seeded(1))
    for n, possible in ((2, True), (3, False)):
        odd = torch.arange(n + 1) % 2 == 1
        found = volumes.labelled_share(readers, contrast, odd, n, 1.0).max().item() > 0
        assert found is possible
    with pytest.raises(ValueError, match="hidden must be at least 3, got 2"):
        volumes.parity_reader(2)


def test_between_the_entries_of_a_table_a_function_is_a_line_and_beyond_them_it_stays():
    table = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64)
    at = torch.tensor([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0], dtype=torch.float64)
    assert volumes.interpolate(table, at).tolist() == [0, 0, 0.5, 1, 2.5, 4, 4]


def test_the_constant_of_index_is_the_limit_of_the_share():
    constant, error = volumes.index_constant(100_000, seeded())
    assert error < 0.02 * constant
    tables = tuple((torch.linspace(0, 1, 101) > 0.5).double() for _ in range(2))
    n = 65
    drawn = volumes.draw_positions(60_000, n, 6.0, seeded(1))  # large weights: sharp early
    found = volumes.index_share(drawn, tables, n, math.log(n))
    assert found.enough * n**3 == pytest.approx(constant, abs=0.25 * constant)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: volumes.draw_readers(0, 2, 1.0, seeded()), "count must be at least 1"),
        (lambda: volumes.draw_readers(2, 2, 0.0, seeded()), "bound must be positive"),
        (lambda: volumes.draw_positions(2, 3, 1.0, seeded(), 0.0), "plain must be above 0"),
        (lambda: volumes.draw_contrasts(2, 1.0, seeded(), -1.0), "width must be positive"),
        (
            lambda: volumes.majority_share(
                volumes.draw_readers(2, 2, 1.0, seeded()), torch.zeros(2).double(), 4, 1.0
            ),
            "n must be odd and at least 3, got 4",
        ),
        (
            lambda: volumes.labelled_share(
                volumes.draw_readers(2, 2, 1.0, seeded()),
                torch.zeros(2).double(),
                torch.ones(5).bool(),
                4,
                1.0,
            ),
            "labels must be 5 of both kinds",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
