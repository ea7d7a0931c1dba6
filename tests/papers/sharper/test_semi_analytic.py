"""Noise on the hand-written network: its loss against the trace, what stands still, bad input."""

from functools import partial

import pytest
import torch

from helpers import cube
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.sharper.network import construct, construct_exact, forward
from papers.sharper.semi_analytic import perturbed_losses, tiling, trace_changes
from tests.draws import seeded


def test_the_tiling_counts_even_pairs():
    bits = torch.tensor([[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 1], [1, 0, 0, 1]])
    values = tiling(4)(cube.index_of(bits))
    assert values.tolist() == pytest.approx([2**0.5, 2**0.5, 2**-0.5, 0.0], abs=1e-15)
    assert tiling(20).coefficients.square().sum().item() == pytest.approx(1, abs=1e-15)
    assert tiling(62).sets == [[i, i + 1] for i in range(1, 62, 2)]


def test_without_noise_an_exact_network_has_no_loss_and_the_papers_has_its_leak():
    f = tiling(8)
    assert perturbed_losses(construct_exact(f), f, 0.0, 3, 50, seeded()).max() < 1e-28
    leak = perturbed_losses(construct(f), f, 0.0, 3, 50, seeded())
    assert leak.shape == (3,)
    assert leak.min() > 1e-8


def test_the_mean_loss_is_half_the_trace_times_the_variance():
    f, sigma = tiling(4), 1e-5
    network = construct_exact(f, (3.0, 3.0))
    trace, _ = trace_changes(network, sigma, 1, 4000, seeded())
    losses = perturbed_losses(network, f, sigma, 4000, 8, seeded(1)) / sigma**2
    error = losses.std() / len(losses) ** 0.5
    assert abs(losses.mean() - trace / 2) < 5 * error + 0.02 * trace  # the strings of the trace
    assert error < 0.05 * trace


def test_the_change_of_the_trace_is_linear_in_small_noise():
    f = tiling(6)
    trace, none = trace_changes(construct(f), 0.0, 3, 40, seeded())
    spec, weights = construct(f)
    bits = torch.randint(0, 2, (40, 6), generator=seeded())
    loss = SquaredLoss(partial(forward, spec), bits, f(cube.index_of(bits)))
    assert trace == pytest.approx(float(hessian_trace(loss, weights)), rel=1e-12)
    assert none.abs().max() < 1e-12
    small, larger = (trace_changes(construct(f), s, 8, 40, seeded())[1] for s in (1e-7, 1e-6))
    assert torch.allclose(larger, 10 * small, rtol=0.02, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: tiling(7), "n must be even, from 2 to 62, got 7"),
        (lambda f: perturbed_losses(construct(f), f, -1.0, 2, 2, seeded()), "sigma"),
        (lambda f: perturbed_losses(construct(f), f, 0.1, 0, 2, seeded()), "draws"),
        (lambda f: trace_changes(construct(f), 0.1, 1, 0, seeded()), "strings"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(tiling(4))
