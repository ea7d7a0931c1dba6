"""What states can hold: packings and their bounds, floors, quantisers, codes, interpolants."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from helpers.covers import linear as covers
from helpers.retrieval import memory, packings, recurrent

law = settings(deadline=None, max_examples=50)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def test_the_closest_pair_is_that_of_all_pairs():
    points = normal(30, 4)
    by_hand = min((points[i] - points[j]).norm().item() for i in range(30) for j in range(i))
    assert packings.closest(points) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("separation", [0.5, 1.0, 1.3])
def test_close_label_vectors_are_as_rare_as_the_rate_says(separation):
    rate = packings.normal_packing_rate(separation)
    for numbers in (10, 100, 1000):
        exact = stats.chi2.logcdf(separation**2 * numbers / 2, numbers)
        assert exact <= -2 * rate * numbers
    numbers = int(300 / rate)  # Chernoff is right on the log scale, up to half a log of this
    exact = stats.chi2.logcdf(separation**2 * numbers / 2, numbers)
    assert -exact / (2 * numbers) == pytest.approx(rate, rel=0.02)


def test_packings_of_the_ball_stay_below_the_bound_by_volume():
    for dim, eps in ((1, 0.1), (2, 0.3), (3, 0.5)):
        points = normal(800, dim)
        points = points / points.norm(dim=-1, keepdim=True).clamp(min=1)
        found = covers.packing(torch.cdist(points, points), eps)
        assert math.log(len(found)) <= packings.ball_log_packing(dim, eps)
    # 21 points of [-1, 1] at distance 0.1: the bound is attained in one dimension
    assert packings.ball_log_packing(1, 0.1) == pytest.approx(math.log(21))


@pytest.mark.parametrize("count", [2, 3, 10, 1000, 10**6])
def test_the_largest_of_normal_numbers_is_what_the_packing_bound_takes(count):
    def tail(x):
        return -math.expm1(count * stats.norm.logcdf(x)) - stats.norm.cdf(-x) ** count

    mean = integrate.quad(tail, 0, 12, limit=200)[0]
    least = math.sqrt(math.log(count) / (math.pi * math.log(2)))
    assert mean >= least - 1e-8
    if count == 2:
        assert mean == pytest.approx(least, rel=1e-7)


@law
@given(st.integers(1, 6), st.floats(0.05, 1.0), st.integers(0, 1000))
def test_packings_of_ellipsoids_stay_below_the_bound_by_the_frobenius_norm(dim, eps, seed):
    U = normal(dim, dim, seed=seed)
    points = normal(200, dim, seed=seed + 1)
    image = (points / points.norm(dim=-1, keepdim=True)) @ U.mT
    found = covers.packing(torch.cdist(image, image), eps)
    frobenius = U.norm().item()
    assert math.log(len(found)) <= packings.ellipsoid_log_packing(frobenius, eps)


def test_the_constant_of_the_frobenius_bound_is_needed_up_to_a_factor():
    # two opposite points are 2 apart on a ball of dimension 1
    assert math.log(2) / packings.ellipsoid_log_packing(1.0, 2.0) == pytest.approx(2 / math.pi)


def test_codes_are_as_large_as_gilbert_and_varshamov_promise():
    for n in (8, 10):
        words = (torch.arange(2**n)[:, None] >> torch.arange(n) & 1).double()
        apart = torch.cdist(words, words, p=1)
        for weight in range(1, n // 2 + 2):
            exact = n * math.log(2) - math.log(sum(math.comb(n, k) for k in range(weight)))
            found = math.log(len(covers.packing(apart, weight - 0.5)))
            assert packings.code_log_size(n, weight) <= exact + 1e-12 <= found + 2e-12


def test_rate_distortion_halves_the_error_by_half_a_bit_a_number():
    assert memory.distortion(math.log(2), 1) == pytest.approx(0.25)
    assert memory.distortion(0, 7) == 1
    assert memory.distortion(7 * math.log(2) / 2, 7) == pytest.approx(0.5)


@pytest.mark.parametrize("bits", range(5))
def test_the_best_scalar_quantiser_is_above_the_floor_and_known(bits):
    known = {0: 1.0, 1: 1 - 2 / math.pi, 2: 0.117482, 3: 0.034548, 4: 0.009501}
    quantiser = memory.lloyd_max(bits)
    assert quantiser.error == pytest.approx(known[bits], abs=1e-6)
    assert quantiser.error >= memory.distortion(bits * math.log(2), 1) - 1e-15
    y = normal(200_000)
    measured = (y - quantiser.levels[quantiser.cells(y)]).square()
    error = measured.std().item() / math.sqrt(len(y))
    assert abs(measured.mean().item() - quantiser.error) < 5 * error


def test_the_quantised_floor_is_the_sum_over_tokens():
    N, bits = 7, 5
    by_hand = 0.0
    for j in range(1, N + 1):
        for m in (j - 1, N - j):
            by_hand += m * 4 ** (-bits / m) / N**2 if m else 0
    assert memory.quantised_floor(N, bits) == pytest.approx(by_hand, rel=1e-12)
    assert memory.quantised_floor(N, 0) == pytest.approx(1 - 1 / N)
    assert memory.quantised_floor(1, 3) == 0


@law
@given(st.integers(1, 30), st.integers(0, 40))
def test_the_linear_floor_counts_what_does_not_fit(N, width):
    lost = sum(max(0, j - width) + max(0, N - 1 - j - width) for j in range(N))
    assert memory.linear_floor(N, width) == pytest.approx(lost / N**2, abs=1e-12)


def test_the_floors_fall_as_states_grow_and_are_1_less_a_little_for_none():
    by_width = [memory.dimension_floor(400, w, 3.0) for w in (1, 5, 20, 100)]
    assert by_width == sorted(by_width, reverse=True)
    assert by_width[0] > 0.9
    by_norm = [memory.norm_floor(10_000, r) for r in (0.5, 1.0, 3.0, 10.0)]
    assert by_norm == sorted(by_norm, reverse=True)
    assert by_norm[0] > 0.7


def test_the_dimension_floor_is_the_formula_at_the_best_scale():
    tau = 0.25
    nats = 2 * 4 * math.log(1 + 2 * math.sqrt(2) * 2.0 / tau)
    at_tau = (math.exp(-nats / 99) - tau) ** 2
    assert memory.dimension_floor(100, 4, 2.0) >= at_tau
    nats = 4 * math.pi * math.log(2) * (0.5 / tau) ** 2
    assert memory.norm_floor(100, 0.5) >= (math.exp(-nats / 99) - tau) ** 2


@pytest.mark.parametrize("error", [0.1, 0.25, 0.5])
def test_the_norm_needed_is_where_the_floor_by_norm_is_the_error(error):
    N = 100_001
    needed = math.sqrt(memory.norm_needed(N, error))
    assert memory.norm_floor(N, needed) == pytest.approx(error, rel=0.02)  # a grid of scales
    assert memory.norm_needed(2 * N - 1, error) == pytest.approx(2 * needed**2, rel=1e-9)


@pytest.fixture(scope="module")
def code():
    return memory.code_memory(4, 2, generator())


def test_a_code_memory_holds_the_cells_of_all_labels_before_a_token(code):
    y = normal(50, 4)
    tokens = torch.cat((torch.eye(4).double().expand(50, -1, -1), y[..., None]), -1)
    width = code.generator.shape[1]
    forward, backward = recurrent.both_states(code.step, tokens, width)
    cells = code.quantiser.cells(y)
    for i in range(1, 4):
        seen = cells * (torch.arange(4) < i)
        assert torch.equal(forward[:, i], code.word(seen))
        exact = code.quantiser.levels[cells[:, :i]]
        assert (code.read(forward[:, i])[:, :i] - exact).abs().max() < 1e-12
        assert torch.equal(backward[:, i - 1], code.word(cells * (torch.arange(4) >= i)))


def test_words_are_as_far_apart_as_said_and_the_read_out_as_steep(code):
    words, _ = code._words()
    assert packings.closest(words) == pytest.approx(code.separation, rel=1e-12)
    assert (words.norm(dim=-1) - 1).abs().max() < 1e-14
    u, v = normal(2, 200, words.shape[1])
    u, v = u / u.norm(dim=-1, keepdim=True), v / v.norm(dim=-1, keepdim=True)
    steep = (code.read(u) - code.read(v)).abs().amax(-1) / (u - v).norm(dim=-1)
    assert steep.max() <= code.lipschitz * (1 + 1e-9)


def test_a_code_keeps_the_read_out_from_growing_steeper():
    plain = [2 / math.sqrt(N) for N in (4, 12)]  # no code: signs over the root of N
    coded = [memory.code_memory(N, 1, generator()).separation for N in (4, 12)]
    assert coded[1] / coded[0] > 0.75 > plain[1] / plain[0]


@law
@given(st.integers(1, 60), st.integers(0, 1000))
def test_the_interpolant_goes_through_the_points_with_n_balanced_units(n, seed):
    z, y = normal(2, n, seed=seed)
    net = memory.interpolant(z, y)
    terms = ((z[:, None] @ net.W.mT).abs() + net.b.abs()) @ net.a.abs()
    allowed = 2 * (n + 1) * torch.finfo(torch.float64).eps * terms.max()
    assert (net(z[:, None]) - y).abs().max() <= allowed
    assert net.a.shape == (n,)
    inner = net.W.square().sum() + net.b.square().sum()
    assert net.a.square().sum().item() == pytest.approx(inner.item(), rel=1e-9)
    if n > 1:
        assert memory.squared_norm(net) <= memory.interpolant_bound(z, y)


def test_the_interpolant_is_linear_between_the_points():
    net = memory.interpolant(torch.tensor([2.0, 0.0]), torch.tensor([5.0, 1.0]))
    assert net(torch.tensor([[0.0], [1.0], [2.0], [3.0]]).double()).tolist() == pytest.approx(
        [1, 3, 5, 7]
    )


def test_zero_labels_are_interpolated_by_zero():
    net = memory.interpolant(torch.tensor([0.0, 1.0]), torch.zeros(2))
    assert net(torch.tensor([[0.5]]).double()).item() == 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"at least 2 points \(M, D\), got \(1, 3\)"):
        packings.closest(torch.zeros(1, 3))
    with pytest.raises(ValueError, match=r"separation must lie between 0 and sqrt\(2\), got 2"):
        packings.normal_packing_rate(2)
    with pytest.raises(ValueError, match=r"epsilon must be positive and finite, got 0"):
        packings.ball_log_packing(3, 0)
    with pytest.raises(ValueError, match=r"frobenius must be positive and finite, got -1"):
        packings.ellipsoid_log_packing(-1, 1)
    with pytest.raises(ValueError, match=r"weight runs from 1 to n/2 \+ 1 = 5, got 6"):
        packings.code_log_size(8, 6)
    with pytest.raises(ValueError, match=r"nats must be at least 0, got -1"):
        memory.distortion(-1, 2)
    with pytest.raises(ValueError, match=r"nats must be at least 0, got nan"):
        memory.distortion(math.nan, 2)
    with pytest.raises(ValueError, match=r"width must be at least 0, got -1"):
        memory.linear_floor(4, -1)
    with pytest.raises(ValueError, match=r"N must be at least 2, got 1"):
        memory.norm_floor(1, 1.0)
    with pytest.raises(ValueError, match=r"error in \(0, 1\), got 10 and 1"):
        memory.norm_needed(10, 1)
    with pytest.raises(ValueError, match=r"bits run from 0 to 6, got 7"):
        memory.lloyd_max(7)
    with pytest.raises(ValueError, match=r"N \* bits must be at most 20, got 24"):
        memory.code_memory(12, 2, generator())
    with pytest.raises(ValueError, match=r"points must be distinct, smallest gap 0.0"):
        memory.interpolant(torch.ones(2), torch.ones(2))
    with pytest.raises(ValueError, match=r"z and y \(n,\), got \(0,\) and \(0,\)"):
        memory.interpolant(torch.zeros(0), torch.zeros(0))
    with pytest.raises(ValueError, match=r"n >= 2, got \(1,\)"):
        memory.interpolant_bound(torch.zeros(1), torch.zeros(1))
