"""Magnifications of norms that are not torch's own: by what they do, wherever epsilon stands."""

import math

import pytest
import torch
from torch import nn

from helpers import cube
from helpers.probe import probe

CHEAP = {"samples": 16, "draws": 2}


class AnnotatedNorm(nn.Module):
    """The LayerNorm of the Annotated Transformer: epsilon beside a sample's deviation."""

    eps = 1e-6

    def __init__(self):
        super().__init__()
        self.a_2 = nn.Parameter(torch.tensor([1.0, 2.0, 3.0, -1.0]))
        self.b_2 = nn.Parameter(torch.tensor([0.5, -1.0, 2.0, 0.0]))

    def forward(self, x):
        """Rows over their deviation."""
        away = x - x.mean(-1, keepdim=True)
        return self.a_2 * away / (x.std(-1, keepdim=True) + self.eps) + self.b_2


class HardNorm(nn.Module):
    """Epsilon is no attribute."""

    def forward(self, x):
        """Centred rows of nearly unit variance."""
        away = x - x.mean(-1, keepdim=True)
        return away / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()


class SingleNorm(nn.LayerNorm):
    """As in CLIP: torch's own, in single precision."""

    def forward(self, x):
        """In the dtype of the input."""
        weights = self.weight.float(), self.bias.float()
        return nn.functional.layer_norm(x.float(), (4,), *weights, self.eps).to(x.dtype)


class RootNorm(nn.Module):
    """A root mean square."""

    def forward(self, x):
        """Rows of nearly unit mean square."""
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


def of_sample(rows):
    """One over a sample's deviation and epsilon; its constant factor counts as gain."""
    return math.sqrt(4 / 3) / (rows.std(-1) + AnnotatedNorm.eps)


def of_variance(rows):
    return (rows.var(-1, correction=0) + 1e-5).rsqrt()


def of_square(rows):
    return (rows.square().mean(-1) + 1e-6).rsqrt()


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-7])
@pytest.mark.parametrize(
    ("kind", "wanted", "rounding"),
    [
        (AnnotatedNorm, of_sample, 1e-9),
        (HardNorm, of_variance, 1e-9),
        (lambda: SingleNorm(4), of_variance, 1e-5),
        (lambda: nn.LayerNorm(4), of_variance, 1e-9),
        (RootNorm, of_square, 1e-9),
    ],
)
def test_the_factor_of_a_norm_of_ones_own_has_its_epsilon(kind, wanted, rounding, scale):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), kind(), nn.Linear(4, 1)).double()
    with torch.no_grad():
        for p in model[0].parameters():
            p *= scale
        factors = wanted(model[0]((1 - 2 * cube.bits(4)).double()))
    found = probe(model, 4, **CHEAP).blow_up
    assert found == {
        "1": pytest.approx((factors.max().item(), factors.mean().item()), rel=rounding)
    }


def test_a_bias_does_not_hide_a_short_row_in_single_precision():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), AnnotatedNorm(), nn.Linear(4, 1))
    with torch.no_grad():
        for p in model[0].parameters():
            p *= 1e-9
        factor = of_sample(model[0](1 - 2.0 * cube.bits(4)).double()).max().item()
    assert probe(model, 4, **CHEAP).blow_up["1"][0] == pytest.approx(factor, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "factor"),
    [(HardNorm, 1e5**0.5), (RootNorm, 1e3), (AnnotatedNorm, math.sqrt(4 / 3) * 1e6)],
)
def test_the_factor_of_a_row_of_zeros_is_that_of_a_short_row(kind, factor):
    model = nn.Sequential(nn.Linear(4, 4), kind(), nn.Linear(4, 1)).double()
    nn.init.zeros_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    assert probe(model, 4, **CHEAP).blow_up == {"1": pytest.approx((factor, factor), rel=2e-6)}


def test_a_subclass_that_turns_the_axes_is_not_measured_and_that_is_said():
    class Turned(nn.LayerNorm):
        def forward(self, x):
            return super().forward(x.transpose(1, 2)).transpose(1, 2)

    body = nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 3, 3, padding=1), Turned(3), nn.Flatten()
    report = probe(nn.Sequential(*body, nn.Linear(12, 1)).double(), 4, **CHEAP)
    assert report.blow_up == {}
    assert any("magnification of 2 is missing: Turned is not" in note for note in report.notes)
