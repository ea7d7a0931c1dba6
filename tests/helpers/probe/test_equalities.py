"""The probe's numbers are those of closed forms, of the book's networks, of other precisions."""

import math

import pytest
import torch
from torch import nn

from helpers import cube
from helpers.kernels.walsh import walsh_hadamard
from helpers.probe import probe
from helpers.rng import Rng
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.beyond import probed
from papers.sensitive import blowup
from papers.sensitive.parity import forward, parity_transformer
from papers.sharper.gradients import flat_function, traces
from papers.sharper.network import construct, construct_exact
from papers.sharper.tabulated import gradient_bound

TOKENS = {"encoding": "tokens", "samples": 512, "draws": 2}
NAMED = {
    "parity": probed.parity(9),
    "majority": probed.majority(9),
    "tribes": probed.tribes(3, 3),
    "address": probed.address(2),
    "longer address": probed.address(3),
    "inner product": probed.inner_product(4),
    "a bit of the S-box": probed.aes_coordinate(0),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_function_has_its_closed_form(name):
    n, function, weights = NAMED[name]
    report = probe(function, n, function, encoding="tokens")
    assert report.weight_by_degree == pytest.approx(weights, abs=1e-12)
    wanted = NAMED[name].average_sensitivity
    assert report.average_sensitivity.value == pytest.approx(wanted, abs=1e-12)
    assert report.error_rate == (0, 0, 0)


def test_the_address_has_the_influences_of_its_two_parts():
    """A bit of the number counts where two of the others differ, one of the others if named."""
    for width in (1, 2, 3):
        n, function, _ = probed.address(width)
        found = probe(function, n, encoding="tokens").influences
        assert found == (0.5,) * width + (2.0**-width,) * 2**width


@pytest.mark.parametrize("half", range(1, 7))
def test_a_bent_function_has_half_the_sensitivity_and_a_flat_spectrum(half):
    """Those of Maiorana and McFarland: a bijection of the first half, and any function of it."""
    size, generator = 2**half, torch.Generator().manual_seed(half)
    places = 2 ** torch.arange(half)
    bijection = torch.randperm(size, generator=generator)
    any_function = torch.randint(0, 2, (size,), generator=generator)

    def bent(bits):
        first = (bits[:, :half] * places).sum(-1)
        inner = (cube.bits(half)[bijection[first]] * bits[:, half:]).sum(-1)
        return 1 - 2 * ((inner + any_function[first]) % 2)

    n = 2 * half
    for function in (bent, probed.inner_product(half).function):
        report = probe(function, n, encoding="tokens")
        assert report.average_sensitivity.value == n / 2
        assert report.influences == (0.5,) * n
        flat = [math.comb(n, k) / 2**n for k in range(n + 1)]
        assert report.weight_by_degree == pytest.approx(flat, abs=1e-12)
        each = walsh_hadamard(function(cube.bits(n)).double()) / 2**n
        assert each.square() == pytest.approx(torch.full((2**n,), 2.0**-n), abs=1e-12)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_the_magnification_of_majority_is_that_of_its_chapter(n):
    """2 / |m| where m is the mean of the signs: at most 2 n, and its mean is one over counts."""
    report = probe(probed.PostNorm(*blowup.majority_transformer(n)), n, "majority", **TOKENS)
    mean = sum(math.comb(n, k) * 2 * n / abs(n - 2 * k) for k in range(n + 1)) / 2**n
    assert report.blow_up["norms.0"] == pytest.approx((2 * n, mean), rel=1e-12)
    assert report.average_sensitivity.value == probed.majority(n).average_sensitivity


def test_the_magnifications_of_parity_multiply_to_the_blow_up_of_the_law():
    n = 6
    network = parity_transformer(n)
    report = probe(probed.PostNorm(*network), n, "parity", **TOKENS)
    run = blowup.run(*network, cube.bits(n))
    for k, given in enumerate(run.given):
        factor = given.var(-1, correction=0).rsqrt()
        wanted = factor.max().item(), factor.mean().item()
        assert report.blow_up[f"norms.{k}"] == pytest.approx(wanted, rel=1e-9)
    product = math.prod(largest for largest, _ in report.blow_up.values())
    assert run.magnification.max().item() <= product * (1 + 1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-3])
def test_the_trace_of_parity_is_that_of_its_chapter_also_with_a_tilted_readout(tilt):
    n = 6
    spec, weights = parity_transformer(n)
    across = torch.zeros_like(weights["readout"])
    across[3], across[19] = tilt / math.sqrt(2), -tilt / math.sqrt(2)
    weights["readout"] = weights["readout"] + across
    x = cube.bits(n)
    loss = SquaredLoss(lambda w, x: forward(spec, w, x), x, 1 - 2.0 * (x.sum(1) % 2))
    wanted = hessian_trace(loss, weights, without="positions")
    found = probe(probed.PostNorm(spec, weights), n, "parity", **TOKENS).trace
    assert found["Gauss-Newton, all"].value == pytest.approx(wanted.value.item(), rel=1e-9)
    assert found["Gauss-Newton, all"].error == 0
    if tilt:
        block = wanted.blocks["layers.1.output_bias"].item()
        assert found["layers_1_output_bias"].value == pytest.approx(block, rel=1e-9)
        assert found["Gauss-Newton, all"].value > 64.1
    else:
        assert found["Gauss-Newton, all"].value == pytest.approx(64, rel=1e-12)


@pytest.mark.parametrize("name", ["paper's, scores 40", "exact"])
def test_the_trace_of_the_first_papers_network_is_that_of_its_chapter(name):
    """Over 2 G_u it is 2.731 for the paper's network and 0.085 for the exact one, as printed."""
    f = flat_function(5, 1, 5, Rng(0))
    network = construct_exact(f) if name == "exact" else construct(f, (None, 40.0))
    table = f.table()

    def target(bits):
        return table[cube.index_of(bits)]

    report = probe(probed.Construction(*network), 5, target, **TOKENS)
    found = report.trace["Gauss-Newton, all"].value
    whole, by_block = traces(network, f)
    assert found == pytest.approx(whole, rel=1e-9)
    assert found == pytest.approx(by_block.sum(), rel=1e-9)
    assert report.loss.value < 1e-20
    printed = 0.085 if name == "exact" else 2.731
    assert found / (2 * gradient_bound(1, 5)) == pytest.approx(printed, abs=5e-4)


def test_strings_are_all_taken_where_there_are_no_more_than_samples():
    model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    every, some = (probe(model, 5, "majority", samples=m, draws=2) for m in (32, 31))
    signs = (1 - 2 * cube.bits(5)).double()
    with torch.no_grad():
        off = model(signs)[:, 0] - cube.majority(5)
    assert every.loss.value == pytest.approx(off.square().mean().item(), rel=1e-12)
    assert (every.loss.error, every.trace["Gauss-Newton, all"].error) == (0, 0)
    assert every.error_rate[0] == every.error_rate[1] == every.error_rate[2]
    assert dict(every.rows())["error rate"] == f"{every.error_rate[0]:.4g}"
    assert every.trace["whole Hessian"].error > 0, "it is still over vectors"
    assert min(some.loss.error, some.trace["Gauss-Newton, all"].error) > 0
    assert some.error_rate[1] < some.error_rate[2]
    long = probe(nn.Sequential(nn.Linear(9, 1), nn.Tanh()), 9, "majority", samples=512)
    assert long.error_rate[1] == long.error_rate[2]
    assert long.trace["Gauss-Newton, all"].error > 0, "it is over half of the strings"


class Encoder(nn.Module):
    """PyTorch's encoder on tokens, with weights that are not tiny."""

    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(2, 16), nn.Embedding(6, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(16, 1)

    def forward(self, tokens):
        """At the last token."""
        X = self.token(tokens) + self.place(torch.arange(tokens.shape[1]))
        return self.out(self.layers(X)[:, -1])[:, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_has_the_numbers_of_its_weights_in_single_precision(dtype):
    """Exactly those of the weights as they are stored, and nearly those before they were cut."""
    torch.manual_seed(3)
    single = Encoder()
    half = Encoder().to(dtype)
    half.load_state_dict(single.state_dict())
    stored = Encoder()
    stored.load_state_dict({k: v.float() for k, v in half.state_dict().items()})
    found, same, before = (
        probe(m, 6, "majority", encoding="tokens", draws=4) for m in (half, stored, single)
    )
    assert found.notes[0] == "half precision or less was measured in float32"
    for report in (found, same):
        assert report.weights == before.weights
    for field in ("influences", "weight_by_degree", "trace", "direction_sharpness", "blow_up"):
        assert getattr(found, field) == getattr(same, field)
    coarse = 200 * torch.finfo(dtype).eps  # of a number made of many weights, each cut once
    for name, m in before.trace.items():
        if name != "whole Hessian":
            assert found.trace[name].value == pytest.approx(m.value, rel=coarse)
    for name, (largest, mean) in before.blow_up.items():
        assert found.blow_up[name] == pytest.approx((largest, mean), rel=coarse)
    assert found.loss.value == pytest.approx(before.loss.value, rel=coarse)
    assert found.trace["Gauss-Newton, all"] != before.trace["Gauss-Newton, all"]
