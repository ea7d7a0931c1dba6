"""Certificates: their terms, the Gaussians that they are fitted with, and the audit by counting."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Normal, kl_divergence

from helpers import cube
from papers.beyond import audit
from papers.beyond import certificates as cert
from papers.sharper import rivals
from papers.sharper.network import construct_exact, forward


def gaussian(E=2, seed=0):
    g = torch.Generator().manual_seed(seed)
    mean = {"a": torch.randn(E, 3, 2, generator=g), "b": torch.randn(E, generator=g)}
    deviation = {k: torch.rand(v.shape, generator=g) + 0.1 for k, v in mean.items()}
    centre = {k: torch.randn(v.shape, generator=g) for k, v in mean.items()}
    return cert.Posterior(mean, deviation, centre, torch.rand(E, generator=g) + 0.2)


def test_chernoff_covers_a_coin():
    g = torch.Generator().manual_seed(0)
    heads = torch.binomial(torch.full((4000,), 50.0), torch.full((4000,), 0.3), generator=g)
    failed = (rivals.occam(heads / 50, 0.0, 50, 0.05) < 0.3).double().mean().item()
    assert 0 < failed <= 0.05  # Chernoff's bound is proved, so no slack for chance above 0.05


def test_a_certificate_pays_each_of_its_terms():
    N, K, m, delta, s, k = 500, 40.0, 1000, 0.05, 0.2, 7
    corrected = 1 - (s * delta) ** (1 / N)
    nats = K + math.log(k) + math.log(2 * math.sqrt(m) / ((1 - s) * delta))
    found = cert.certificate(0.0, N, K, m, delta, choices=k)
    assert rivals.binary_kl(corrected, found) == pytest.approx(nats / m, rel=1e-6)
    assert found > corrected


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 0.5), st.floats(0, 300), st.integers(8, 10_000))
def test_a_certificate_grows_with_risk_divergence_and_choices_and_falls_with_draws(r, K, m):
    base = cert.certificate(r, 100, K, m)
    assert r <= base <= 1
    assert cert.certificate(r, 10_000, K, m) <= base
    assert cert.certificate(r, 100, K + 5, m) >= base
    assert cert.certificate(r, 100, K, m, choices=100) >= base
    assert cert.certificate(min(r + 0.1, 1), 100, K, m) >= base


@pytest.mark.parametrize(("r", "u"), [(0.05, 0.1), (0.2, 0.3), (0.01, 0.02)])
def test_the_price_of_a_nat_is_the_ratio_of_the_slopes(r, u):
    h = 1e-5  # central differences: error of order h^2
    of_risk = (rivals.kl_inverse(r + h, u) - rivals.kl_inverse(r - h, u)) / (2 * h)
    of_nats = (rivals.kl_inverse(r, u + h) - rivals.kl_inverse(r, u - h)) / (2 * h)
    found = cert.price(torch.tensor(r).double(), torch.tensor(u).double()).item()
    assert found == pytest.approx(of_nats / of_risk, rel=1e-4)


def test_the_divergence_is_that_of_torch():
    p = gaussian(E=3)
    expected = torch.zeros(3)
    for k in p.mean:
        wide = p.width.view(3, *[1] * (p.mean[k].ndim - 1)).expand_as(p.mean[k])
        terms = kl_divergence(Normal(p.mean[k], p.deviation[k]), Normal(p.centre[k], wide))
        expected += terms.reshape(3, -1).sum(1)
    torch.testing.assert_close(p.kl(), expected.double(), rtol=1e-5, atol=1e-5)  # float32
    prior = {k: torch.full_like(v, 0.5) for k, v in p.centre.items()}
    same = cert.Posterior(p.centre, prior, p.centre, torch.full((3,), 0.5))
    assert same.kl().abs().max() < 1e-12


def test_no_other_width_charges_less_for_another_centre():
    p = gaussian(E=3)
    mean, deviation = ({k: 0.1 * v for k, v in w.items()} for w in (p.mean, p.deviation))
    p = cert.Posterior(mean, deviation, p.centre, p.width)
    found = p.against({k: torch.zeros_like(v) for k, v in mean.items()})
    for factor in (math.exp(-0.1), math.exp(0.1)):
        other = cert.Posterior(found.mean, found.deviation, found.centre, found.width * factor)
        assert (found.kl() <= other.kl()).all()
    torch.testing.assert_close(cert.nearest_width(found.width), found.width)


def test_widths_are_on_the_grid_that_is_paid_for():
    width = torch.tensor([3.0, 1.0, 0.3, 1e-2, 1e-9])
    j = -10 * cert.nearest_width(width).log()
    torch.testing.assert_close(j, j.round(), atol=1e-4, rtol=0)
    assert j.round().tolist() == [0, 0, 12, 46, 99]


def test_networks_drawn_have_the_posterior_s_mean_and_deviation():
    p, g = gaussian(), torch.Generator().manual_seed(1)
    drawn = torch.stack([p.draw(g)["b"] for _ in range(4000)])
    error = p.deviation["b"] / math.sqrt(4000)
    assert ((drawn.mean(0) - p.mean["b"]).abs() < 5 * error).all()
    assert ((drawn.std(0) / p.deviation["b"] - 1).abs() < 5 / math.sqrt(8000)).all()


def test_the_gibbs_risk_of_a_constant_is_its_bias_and_its_variance():
    E = 2
    mean, s = torch.tensor([[0.5], [0.6]]), torch.full((E, 1), 0.05)
    p = cert.Posterior({"c": mean}, {"c": s}, {"c": mean}, torch.ones(E))
    g = torch.Generator().manual_seed(0)

    def batch(models):
        return torch.zeros(E, 4), torch.full((E, 4), 0.4)

    found, error = cert.gibbs_risk(lambda w, x: w["c"].expand(E, 4), p, batch, 4000, g)
    expected = (mean[:, 0].double() - 0.4).square() + 0.05**2  # outputs stay within [0, 1]
    assert ((found - expected).abs() < 5 * error).all()
    far = cert.Posterior({"c": mean + 90}, {"c": s}, {"c": mean}, torch.ones(E))
    clipped, _ = cert.gibbs_risk(lambda w, x: w["c"].expand(E, 4), far, batch, 2, g)
    torch.testing.assert_close(clipped, torch.full((E,), 0.36).double())


def test_a_fit_lowers_the_bound_and_keeps_the_prior():
    E, d, m = 3, 8, 500
    g = torch.Generator().manual_seed(0)
    truth = torch.zeros(d)
    truth[0] = 0.5

    def batch(models):
        x = torch.randint(0, 2, (E, 64, d), generator=g).float() * 2 - 1
        return x, x @ truth + 0.5

    def linear(w, x):
        return (x @ w["v"][..., None]).squeeze(-1) + 0.5

    start = {"v": truth.expand(E, d) + 0.05 * torch.randn(E, d, generator=g)}
    centre = {"v": torch.zeros(E, d)}

    def bound(p):
        r, _ = cert.gibbs_risk(linear, p, batch, 200, g)
        return cert.certificate(r, 200, p.kl(), m, choices=cert.WIDTHS)

    spread = {"v": torch.full((E, d), 0.03)}
    before = cert.Posterior(start, spread, centre, torch.full((E,), 0.1))
    fitted = cert.fit(linear, start, centre, batch, m, steps=400, generator=g)
    assert (bound(fitted) < bound(before) - 0.005).all()
    assert (fitted.kl() < before.kl()).all()
    assert torch.equal(fitted.centre["v"], centre["v"])
    assert (fitted.deviation["v"][:, 1:] > fitted.deviation["v"][:, :1] * 0.3).all()


def test_samples_hold_m_inputs():
    counts = audit.sample_counts(16, 50, 300, torch.Generator().manual_seed(0))
    assert counts.shape == (300, 16)
    assert (counts.sum(1) == 50).all()
    assert abs(counts.mean().item() - 50 / 16) < 1e-12


def test_failures_are_those_of_a_loop():
    g = torch.Generator().manual_seed(0)
    losses = torch.rand(5, 16, generator=g, dtype=torch.float64)
    counts = audit.sample_counts(16, 10, 200, g)

    def certify(r):
        return r + 0.1

    worst = least = 0
    for row in counts:
        r, R = losses @ row / 10, losses.mean(1)
        worst += bool((R - r > 0.1).any())
        least += bool(R[r.argmin()] - r.min() > 0.1)
    found = audit.failures(losses, counts, certify, g)
    assert found == (worst, least)
    assert 0 < found.erm < found.any < 200
    assert audit.failures(losses, counts, torch.ones_like, g)[:2] == (0, 0)


def test_ties_of_the_least_training_risk_are_broken_at_random():
    losses = torch.tensor([[0.0, 0, 0, 0], [0, 0, 1, 1]]).double()
    counts = torch.tensor([[2.0, 2, 0, 0]]).repeat(2000, 1)
    g = torch.Generator().manual_seed(0)
    found = audit.failures(losses, counts, lambda r: r, g)
    assert found.any == 2000
    assert abs(found.erm - 1000) < 5 * math.sqrt(500)  # five standard deviations
    preferred = torch.tensor([[0.0] * 4, [1.0] * 4])
    assert audit.failures(losses, counts, lambda r: r, g, preferred).erm == 0


def test_a_valid_certificate_fails_rarely_and_one_without_its_count_does_not():
    g = torch.Generator().manual_seed(0)
    losses = audit.noisy_losses(8, 2, 2 * math.log(8), {}, 1, g)
    counts = audit.sample_counts(256, 16, 2000, g)
    H = math.log(len(losses))
    valid = audit.failures(losses, counts, lambda r: rivals.occam(r, H, 16), g)
    broken = audit.failures(losses, counts, lambda r: rivals.occam(r, 0.0, 16), g)
    assert valid.any <= 0.05 * 2000 < broken.any


@pytest.mark.parametrize(("n", "d"), [(4, 1), (5, 2), (5, 4), (6, 3)])
def test_without_noise_losses_are_disagreements_of_parities(n, d):
    found = audit.noisy_losses(n, d, 40.0, {}, 1, torch.Generator().manual_seed(0))
    sets = list(itertools.combinations(range(n), d))
    parity = torch.stack([cube.bits(n)[:, list(U)].sum(1) % 2 for U in sets])
    torch.testing.assert_close(found, (parity != parity[0]).double(), atol=1e-9, rtol=0)


def test_inputs_of_one_kind_share_their_loss_under_noise():
    n, d, scale, draws = 5, 2, 2 * math.log(5) + 1, 4000

    names = ("WV1", "G", "b", "F", "WKQ2", "v2")
    # in the scores, so that the bit of the querying position matters: the first one
    noise = dict.fromkeys(names, 0.03) | {"WKQ1": 2.0}
    g = torch.Generator().manual_seed(0)
    found = audit.noisy_losses(n, d, scale, noise, draws, g)
    sets = list(itertools.combinations(range(n), d))
    target = 1 - cube.bits(n)[:, list(sets[0])].sum(1) % 2
    for h in (0, 3, 9):
        mask = torch.tensor([cube.mask_of([k + 1 for k in sets[h]])])
        f = cube.SparseFunction(n, mask, torch.ones(1, dtype=torch.float64), "even_parity")
        spec, weights = construct_exact(f, scale)
        noisy = {
            k: v + noise[k] * torch.randn(draws, *v.shape, generator=g, dtype=torch.float64)
            for k, v in weights.items()
        }
        direct = (forward(spec, noisy, cube.bits(n)).clamp(0, 1) - target).square()
        # both are means of `draws` values: five standard errors of their difference, 32 inputs
        error = direct.std(0) * math.sqrt(2 / draws)
        assert ((direct.mean(0) - found[h]).abs() < 5 * error + 1e-6).all()


ONES = {"v": torch.ones(2, 3)}


def refit(**changed):
    given = {"steps": 1, "generator": torch.Generator(), "m": 10} | changed
    m = given.pop("m")
    centre = given.pop("centre", ONES)
    return cert.fit(lambda w, x: x, ONES, centre, lambda a: (x, x), m, **given)


x = torch.zeros(2, 4)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: cert.certificate(1.5, 10, 1.0, 100), "risk must be from 0 to 1"),
        (lambda: cert.certificate(0.1, 10, 1.0, 100, choices=0.5), "choices must be"),
        (lambda: cert.certificate(0.1, 10, 1.0, 5), "m must be at least 8"),
        (lambda: cert.certificate(0.1, 0, 1.0, 50), "m must be at least 1"),
        (lambda: cert.price(torch.tensor([0.0]), torch.tensor([1.0])), "risk must lie"),
        (lambda: cert.price(torch.tensor([1.0]), torch.tensor([1.0])), r"risk must .* \[1.0\]"),
        (lambda: cert.price(torch.tensor([0.1]), torch.tensor([0.0])), "nats must be positive"),
        (lambda: cert.nearest_width(torch.tensor([0.0])), "width must be positive"),
        (lambda: refit(m=7), "m must be at least 8"),
        (lambda: refit(centre={"v": torch.ones(2, 4)}), "same names and shapes"),
        (
            lambda: cert.gibbs_risk(
                lambda w, b: b, gaussian(), lambda a: (x, x), 1, torch.Generator()
            ),
            "draws",
        ),
        (lambda: audit.sample_counts(0, 5, 5, torch.Generator()), "inputs must be at least 1"),
        (
            lambda: audit.failures(torch.ones(2, 4), torch.ones(3, 5), lambda r: r, None),
            r"\(2, 4\), \(3, 5\) and \(2, 4\)",
        ),
        (
            lambda: audit.failures(
                torch.ones(2, 4), torch.ones(3, 4), lambda r: r, None, ONES["v"]
            ),
            r"\(2, 4\), \(3, 4\) and \(2, 3\)",
        ),
        (
            lambda: audit.failures(torch.ones(2, 4), torch.ones(0, 4), lambda r: r, None),
            r"\(2, 4\), \(0, 4\) and \(2, 4\)",
        ),
        (
            lambda: audit.noisy_losses(4, 4, 9.0, {}, 1, torch.Generator()),
            "degree must be from 1 to n - 1",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_eight_examples_are_enough_for_a_fit():
    found = refit(m=8)
    assert torch.equal(found.centre["v"], ONES["v"])
    assert (found.kl() > 0).all()


def test_a_fit_takes_the_steps_of_adam_on_the_risk_and_the_priced_divergence():
    """Written out with torch.optim for one model: the price is refreshed at steps 25, 50 and 75."""
    m, d, steps = 40, 5, 100
    g = torch.Generator().manual_seed(3)
    x = torch.randint(0, 2, (1, 16, d), generator=g).float() * 2 - 1
    y = x[..., 0] * 0.5 + 0.5
    start, centre = torch.randn(1, d, generator=g), torch.zeros(1, d)

    def linear(w, x):
        return (x @ w["v"][..., None]).squeeze(-1) + 0.5

    found = cert.fit(
        *(linear, {"v": start}, {"v": centre}, lambda models: (x, y), m),
        steps=steps,
        generator=torch.Generator().manual_seed(9),
    )
    noise = torch.Generator().manual_seed(9)
    mean = start.clone().requires_grad_()
    log_s = torch.full((1, d), math.log(0.03), requires_grad=True)
    log_w = torch.full((1,), math.log(0.1), requires_grad=True)
    own = [{"params": [mean], "lr": 3e-3}, {"params": [log_s, log_w], "lr": 3e-2}]
    optimizer = torch.optim.Adam(own)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda taken: 1 - taken / steps)
    running, mu = 0.1, 0.0
    for taken in range(steps):
        drawn = mean + log_s.exp() * torch.randn(1, d, generator=noise)
        outputs = linear({"v": drawn}, x)
        K = kl_divergence(Normal(mean, log_s.exp()), Normal(centre, log_w.exp())).sum()
        inside = outputs.clamp(0, 1)
        memory = 0.5 if taken < 20 else 0.98
        running = memory * running + (1 - memory) * (inside - y).square().mean().item()
        if taken % 25 == 0:
            nats = (K.item() + math.log(cert.WIDTHS) + math.log(2 * math.sqrt(m) / 0.05)) / m
            risk = torch.tensor(min(max(running, 1e-4), 0.99)).double()
            mu = cert.price(risk, torch.tensor(nats).double()).item()
        leaky = 0.9 * inside + 0.1 * outputs
        optimizer.zero_grad()
        ((leaky - y).square().mean() + mu * K / m).backward()
        optimizer.step()
        falling.step()
    torch.testing.assert_close(found.mean["v"], mean.detach(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.deviation["v"], log_s.detach().exp(), atol=0, rtol=1e-4)
    torch.testing.assert_close(found.width, cert.nearest_width(log_w.detach().exp()))
