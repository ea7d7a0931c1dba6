"""What states can hold: floors by norm and dimension, quantisers, codes, and interpolants."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.covers import linear as covers
from papers.retrieval import memory, recurrent
from tests.draws import normal, seeded

law = settings(deadline=None, max_examples=50)


def test_the_floors_fall_as_states_grow_and_are_1_less_a_little_for_none():
    by_width = [memory.dimension_floor(400, w, math.log(3.0)) for w in (1, 5, 20, 100)]
    assert by_width == sorted(by_width, reverse=True)
    assert by_width[0] > 0.9
    assert memory.norm_floor(10, 0) == 1
    assert memory.norm_floor(10, 1.5) == pytest.approx(0.25)
    assert memory.norm_floor(10, 4) == 0


def test_the_dimension_floor_is_the_formula_at_the_best_scale():
    for tau in (0.05, 0.25, 0.5):
        nats = 2 * 4 * math.log(1 + 2 * 2.0 / tau)
        at_tau = (math.exp(-nats / 99) - tau) ** 2
        assert memory.dimension_floor(100, 4, math.log(2.0)) >= at_tau - 1e-12
    rate, reach = 2 * 20 / 10**6, 3 * math.sqrt(40)  # many labels: the best scale is minute
    at_best = (1 + 2 * reach / rate) ** -rate - rate
    assert memory.dimension_floor(10**6 + 1, 20, math.log(reach)) >= at_best**2 - 1e-12
    far = memory.dimension_floor(1e8, 10, 1e6)  # a reach of e^(10^6)
    assert far == pytest.approx(math.exp(-2 * 2 * 10 * 1e6 / 1e8), abs=5e-3)


@law
@given(st.integers(1, 6), st.floats(0.01, 3.0), st.integers(0, 1000))
def test_one_number_pays_at_least_what_the_norm_floor_says(labels, reach, seed):
    """F_k = L a_k h with a_k = 1 or -1 and the best h in [-1, 1]; 1 - E is exact up to sampling."""
    y = normal(4000, labels, seed=seed)
    sums = y.sum(1)
    h = (sums / (labels * reach)).clamp(-1, 1)
    gains = (2 * reach * h * sums - labels * (reach * h) ** 2) / labels
    error = 1 - gains.mean().item()
    slack = 5 * gains.std().item() / math.sqrt(len(y))
    assert error >= memory.norm_floor(labels + 1, reach) - slack


@pytest.mark.parametrize("bits", range(1, 17))
def test_a_quantiser_is_above_the_rate_distortion_bound_and_has_the_error_it_says(bits):
    levels, error = memory.quantiser(bits)
    assert error >= 4.0**-bits
    y = normal(200_000)
    cells = torch.bucketize(y, (levels[1:] + levels[:-1]) / 2)
    nearest = (y - levels[cells]).square()
    assert (levels.diff() > 0).all()
    assert torch.equal(levels, -levels.flip(0))
    assert nearest.mean().item() <= error + 5 * nearest.std().item() / math.sqrt(len(y))
    if bits == 1:
        assert error == pytest.approx(1 - 2 / math.pi)
        assert levels.tolist() == pytest.approx([-math.sqrt(2 / math.pi), math.sqrt(2 / math.pi)])
    if bits == 8:
        assert error < 1e-3
    if bits == 16:
        assert error == pytest.approx((2 * 0.85 * 15 / (2**16 - 2)) ** 2 / 12, rel=1e-3)


@pytest.mark.parametrize(("signs", "bits"), [(8, 1), (8, 2), (10, 2), (10, 4), (10, 9)])
def test_codes_are_as_far_apart_as_gilbert_and_varshamov_promise(signs, bits):
    words = (torch.arange(2**signs)[:, None] >> torch.arange(signs) & 1).double()
    apart = torch.cdist(words, words, p=1)
    promised = memory.code_distance(signs, bits)
    assert 1 <= promised <= signs // 2
    assert len(covers.packing(apart, promised - 0.5)) >= 2**bits
    enough = sum(math.comb(signs, k) for k in range(promised)) * 2**bits
    assert enough <= 2**signs


@pytest.fixture(scope="module")
def code():
    return memory.code_memory(5, seeded())


def test_a_code_memory_holds_the_signs_of_all_labels_before_a_token(code):
    y = normal(50, 5)
    tokens = torch.cat((torch.eye(5).double().expand(50, -1, -1), y[..., None]), -1)
    forward, backward = recurrent.both_states(code.step, tokens, code.generator.shape[1])
    for i in range(1, 5):
        seen = (y > 0) & (torch.arange(5) < i)
        assert (forward[:, i] - code.word(seen)).abs().max() < 1e-14
        signs = math.sqrt(2 / math.pi) * y[:, :i].sign()
        assert (code.read(forward[:, i])[:, :i] - signs).abs().max() < 1e-12
        after = (y > 0) & (torch.arange(5) >= i)
        assert (backward[:, i - 1] - code.word(after)).abs().max() < 1e-14


def test_words_are_as_far_apart_as_said_and_the_read_out_as_steep(code):
    words = code.word(torch.arange(32)[:, None] >> torch.arange(5) & 1)
    closest = torch.nn.functional.pdist(words).min().item()
    assert closest == pytest.approx(code.separation, rel=1e-12)
    assert (words.norm(dim=-1) - 1).abs().max() < 1e-14
    u = torch.cat((words, normal(200, words.shape[1])))
    u = u / u.norm(dim=-1, keepdim=True)
    v = u + 0.1 * normal(*u.shape, seed=1)
    steep = (code.read(u) - code.read(v)).abs().amax(-1) / (u - v).norm(dim=-1)
    assert steep.max() <= code.lipschitz * (1 + 1e-9)


def test_a_code_of_one_bit_in_one_sign_is_that_sign_if_a_draw_has_it():
    """One of 40 draws has it but for a chance of 1e-12; one draw alone may not."""
    found = memory.code_memory(1, seeded(), redundancy=1, draws=40)
    assert (found.generator.tolist(), found.weight) == ([[1.0]], 1)
    has_it = [bool(torch.randint(2, (1, 1), generator=seeded(seed))) for seed in range(40)]
    assert len(set(has_it)) == 2
    with pytest.raises(ValueError, match="no code of 1 bits with distinct words in 1 draws"):
        memory.code_memory(1, seeded(has_it.index(False)), redundancy=1, draws=1)
    assert memory.code_memory(1, seeded(has_it.index(True)), redundancy=1, draws=1).weight == 1


def test_a_code_may_have_as_many_labels_as_are_allowed(monkeypatch):
    monkeypatch.setattr(memory, "MOST_LABELS", 5)
    assert memory.code_memory(5, seeded()).generator.shape == (5, 20)
    with pytest.raises(ValueError, match="N must be at most 5, got 6"):
        memory.code_memory(6, seeded())


def test_a_code_keeps_the_read_out_from_growing_steeper():
    plain = [2 / math.sqrt(N) for N in (4, 12)]  # no code: signs over the root of N
    coded = [memory.code_memory(N, seeded()).separation for N in (4, 12)]
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


def test_the_bound_on_the_interpolant_is_the_formula():
    z, y = torch.tensor([0.0, 3.0]).double(), torch.tensor([1.0, 2.0]).double()
    for gap, epsilon in ((None, 1.0), (0.5, 0.5)):
        expected = 2 * math.sqrt(19 * (2 + 2 + 3 * 9)) * math.sqrt(5) / epsilon
        assert memory.interpolant_bound(z, y, gap) == pytest.approx(expected, rel=1e-12)


def test_the_interpolant_is_linear_between_the_points():
    net = memory.interpolant(torch.tensor([2.0, 0.0]), torch.tensor([5.0, 1.0]))
    assert net(torch.tensor([[0.0], [1.0], [2.0], [3.0]]).double()).tolist() == pytest.approx(
        [1, 3, 5, 7]
    )


def test_zero_labels_are_interpolated_by_zero():
    net = memory.interpolant(torch.tensor([0.0, 1.0]), torch.zeros(2))
    assert net(torch.tensor([[0.5]]).double()).item() == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: memory.norm_floor(1, 1.0), "N must be above 1 and finite, got 1"),
        (lambda: memory.norm_floor(4, -1), "reach must be finite and at least 0, got -1"),
        (lambda: memory.dimension_floor(4, 0, 0.0), "width must be at least 1, got 0"),
        (lambda: memory.quantiser(17), "bits run from 1 to 16, got 17"),
        (lambda: memory.code_distance(8, 8), "below the signs, 8, got 8"),
        (lambda: memory.code_memory(21, seeded()), "N must be at most 20, got 21"),
        (lambda: memory.interpolant(torch.ones(2), torch.ones(2)), "distinct, smallest gap 0.0"),
        (lambda: memory.interpolant(torch.zeros(0), torch.zeros(0)), r"n >= 1, got \(0,\) and"),
        (lambda: memory.interpolant_bound(torch.zeros(1), torch.zeros(1)), r"n >= 2, got \(1,\)"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_points_that_are_not_finite_are_named(bad):
    good, wrong = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, bad, 2.0])
    with pytest.raises(ValueError, match=f"y must be finite, got {bad}"):
        memory.interpolant(good, wrong)
    with pytest.raises(ValueError, match=f"z must be finite, got {bad}"):
        memory.interpolant(wrong, good)
