"""Small noise: groups of weights, the constant of a partition, and the rates that follow."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.beyond import small_noise as noise
from papers.sharper import rivals
from papers.sharper.network import construct_exact, forward

SIZES = [(4, 1, 1), (5, 2, 3), (6, 3, 6)]
POSITIVE = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6)


def made(n=5, d=2, W=3, seed=0):
    f = cube.sparse_function(n, d, W, torch.Generator().manual_seed(seed), "even_parity")
    return f, *construct_exact(f)


@pytest.mark.parametrize("size", SIZES)
def test_every_weight_has_one_group_and_used_entries_hold_all_the_norm(size):
    for seed in range(5):
        _, spec, weights = made(*size, seed=seed)
        squares = {k: v.square() for k, v in weights.items()}
        total = sum(v.sum() for v in squares.values())
        for groups in (noise.whole(spec), noise.blocks(spec), noise.each(spec)):
            assert {k: v.shape for k, v in groups.index.items()} == {
                k: v.shape for k, v in weights.items()
            }
            torch.testing.assert_close(groups.sums(squares).sum(), total)
        assert noise.blocks(spec).sums(squares)[0] == 0
        counts = dict(zip(noise.blocks(spec).names, noise.blocks(spec).counts, strict=True))
        one_column = {counts[name].item() for name in ("G", "b", "F")}
        assert one_column == {spec.hidden}  # one entry a unit: idle entries would add gradient
        assert noise.each(spec).sums(squares).shape == (sum(v.numel() for v in weights.values()),)


def test_values_are_spread_to_their_groups():
    _, spec, weights = made()
    groups = noise.blocks(spec)
    spread = groups.spread(torch.arange(len(groups.names), dtype=torch.float64))
    assert (spread["b"] == groups.names.index("b")).all()
    assert spread["WV1"][-1, -1] == groups.names.index("value")
    assert spread["WV1"][0, 0] == 0
    assert spread["v2"].shape == weights["v2"].shape


def test_mean_squared_gradients_are_those_of_automatic_differentiation():
    _, spec, weights = made()
    bits = cube.bits(5)[3:9]
    found = noise.mean_squared_gradient(spec, weights, bits)
    for name, block in weights.items():

        def output(value, name=name):
            return forward(spec, weights | {name: value}, bits)

        expected = torch.autograd.functional.jacobian(output, block).square().mean(0)
        torch.testing.assert_close(found[name], expected, rtol=1e-10, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(POSITIVE, st.integers(0, 1000))
def test_a_finer_partition_has_a_smaller_constant_and_no_deviations_beat_the_best(values, seed):
    N = torch.tensor(values, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    G = torch.rand(len(N), generator=generator, dtype=torch.float64) + 1e-3
    C = noise.constant(N, G)
    assert noise.constant(N.sum()[None], G.sum()[None]) >= C * (1 - 1e-12)
    s = noise.best_deviations(N, G, kl=50.0)
    assert noise.kl(N, s) == pytest.approx(50)
    assert float(s.square() @ G) * 50 == pytest.approx(C / 2)
    other = s * torch.randn(len(N), generator=generator, dtype=torch.float64).exp()
    assert float(other.square() @ G) * noise.kl(N, other) >= C / 2 * (1 - 1e-12)


def test_groups_without_norm_are_still_and_groups_without_gradient_are_capped():
    N, G = torch.tensor([0.0, 2.0, 3.0]).double(), torch.tensor([5.0, 0.0, 1.0]).double()
    s = noise.best_deviations(N, G, kl=10.0, largest=0.25)
    assert s[0] == 0
    assert s[1] == 0.25
    assert noise.kl(N, s) == pytest.approx(2 / (2 * 0.0625) + 3 / (2 * float(s[2]) ** 2))
    assert noise.kl(N, torch.tensor([1.0, 0.0, 1.0]).double()) == math.inf


def test_the_risk_under_small_noise_is_the_weighted_sharpness():
    f, spec, weights = made(6, 2, 2)
    generator = torch.Generator().manual_seed(1)
    bits = torch.randint(0, 2, (4000, 6), generator=generator)
    y = f(cube.index_of(bits))
    G = noise.whole(spec).sums(noise.mean_squared_gradient(spec, weights, cube.bits(6)))
    spread = noise.whole(spec).spread(torch.tensor([1e-5]).double())
    risk, error = noise.perturbed_risk(spec, weights, spread, y, bits, generator)
    assert abs(risk - 1e-10 * G.item()) < 5 * error  # five standard errors
    assert error < 0.1 * risk
    still = {k: torch.zeros_like(v) for k, v in weights.items()}
    assert noise.perturbed_risk(spec, weights, still, y, bits, generator)[0] < 1e-28
    wild = {k: torch.ones_like(v) for k, v in weights.items()}
    assert noise.perturbed_risk(spec, weights, wild, y, bits, generator, loss_range=2.0)[0] <= 2


@pytest.mark.parametrize("b", [1.0, 5.0])
def test_the_two_forms_come_down_to_the_level_at_their_sample_sizes(b):
    C, q = 3000.0, b / 4
    first, second = noise.sample_sizes(C, q, b)
    K = torch.logspace(1, 9, 200_001, dtype=torch.float64)
    root = C / (2 * K) + b * (K / (2 * first)).sqrt()
    assert root.min().item() == pytest.approx(q, rel=1e-6)
    K = torch.logspace(3, 5, 4001, dtype=torch.float64)
    form = b * rivals.kl_inverse((C / (2 * K * b)).clamp(max=1), K / second)
    assert form.min().item() == pytest.approx(q, rel=1e-4)
    assert second == pytest.approx(64.3 * C / b, rel=1e-3)
    t = torch.linspace(0.001, 0.999, 10_001, dtype=torch.float64)
    peak = (t * (t * t.log() + 1 - t)).max().item()  # the law for small levels
    small = noise.sample_sizes(C, 1e-4 * b, b)[1]
    assert small == pytest.approx(C / (2 * peak * b * 1e-8), rel=1e-3)


def risk_of(inputs, targets):
    """Under no noise, with the targets 2 above what is computed at the first, and 0 elsewhere."""
    f, spec, weights = made()
    still = {k: torch.zeros_like(v) for k, v in weights.items()}
    y = f.table()[:targets]
    y[:1] += 2
    return noise.perturbed_risk(spec, weights, still, y, cube.bits(5)[:inputs], torch.Generator())


def test_two_inputs_are_enough_for_a_mean_and_its_error():
    assert risk_of(2, 2) == pytest.approx((2.0, 2.0))  # of 4 and 0


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: noise.constant(torch.ones(2), torch.ones(3)), r"\(2,\) and \(3,\)"),
        (lambda: noise.constant(torch.ones(0), torch.ones(0)), r"\(0,\)"),
        (lambda: noise.constant(torch.ones(1, 2), torch.ones(1, 2)), r"\(1, 2\) and \(1, 2\)"),
        (lambda: noise.constant(-torch.ones(1), torch.ones(1)), "norms must be at least 0"),
        (lambda: noise.best_deviations(torch.ones(1), torch.ones(1), 0.0), "kl must be positive"),
        (lambda: noise.best_deviations(-torch.ones(1), torch.ones(1), 1.0), "norms must be at"),
        (lambda: noise.best_deviations(torch.ones(1), torch.ones(1), 1, -1.0), "largest must be"),
        (lambda: noise.sample_sizes(-1.0, 0.1), "C must be positive"),
        (lambda: noise.sample_sizes(1.0, 0.0), "level must be positive"),
        (lambda: noise.sample_sizes(1.0, 2.0), "level must lie below the range 1.0"),
        (lambda: noise.mean_squared_gradient(*made()[1:], cube.bits(5)[:0]), "got 0"),
        (lambda: risk_of(1, 1), "two or more inputs, got 1 and 1 targets"),
        (lambda: risk_of(3, 2), "got 3 and 2 targets"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


@settings(max_examples=60, deadline=None)
@given(POSITIVE, st.integers(0, 1000))
def test_a_wider_prior_costs_no_more_and_its_deviations_are_the_best(values, seed):
    N = torch.tensor(values, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    G = torch.rand(len(N), generator=generator, dtype=torch.float64) + 1e-3
    n = torch.randint(1, 9, (len(N),), generator=generator).double()
    price = 10.0 ** (seed % 7 - 5)

    def objective(s):
        return float(s.square() @ G) + price * noise.wide_kl(N, n, s)

    s = noise.wide_deviations(N, G, n, price)
    assert noise.wide_kl(N, n, s) <= noise.kl(N, s)
    other = s * torch.randn(len(N), generator=generator, dtype=torch.float64).exp()
    assert objective(other) >= objective(s) * (1 - 1e-12)


def test_the_wide_kl_is_that_of_the_best_width():
    N, n, s = 3.0, 5.0, 0.2
    tau2 = torch.linspace(0.05, 3, 20_001, dtype=torch.float64)
    form = (n * (s**2 / tau2 - 1 - (s**2 / tau2).log()) + N / tau2) / 2
    found = noise.wide_kl(*(torch.tensor([v], dtype=torch.float64) for v in (N, n, s)))
    assert found == pytest.approx(form.min().item(), rel=1e-6)
    assert tau2[form.argmin()].item() == pytest.approx(s**2 + N / n, rel=1e-3)


def test_kl_from_a_mixture_lies_between_0_and_its_limit():
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    assert noise.mixture_kl(centres, 2, 1e-3, 50, generator)[0] == pytest.approx(math.log(6))
    assert abs(noise.mixture_kl(centres, 2, 1e4, 2000, generator)[0]) < 1e-2
    two = torch.tensor([[0.0], [1.0]], dtype=torch.float64)  # one dimension: by quadrature
    x = torch.linspace(-9, 9, 20_001, dtype=torch.float64)
    p, q = ((-((x - c) ** 2) / 2).exp() / math.sqrt(2 * math.pi) for c in (0.0, 1.0))
    exact = torch.trapezoid(p * (2 * p / (p + q)).log(), x).item()
    found, error = noise.mixture_kl(two, 0, 1.0, 20_000, generator)
    assert abs(found - exact) < 5 * error
    assert error < 0.1 * exact
    with pytest.raises(ValueError, match="from 0 to H - 1"):
        noise.mixture_kl(two, 2, 1.0, 10, generator)
    with pytest.raises(ValueError, match=r"2 or more draws, got \(2, 1\), 0 and 1"):
        noise.mixture_kl(two, 0, 1.0, 1, generator)
    with pytest.raises(ValueError, match="sigma must be positive"):
        noise.mixture_kl(two, 0, 0.0, 10, generator)
