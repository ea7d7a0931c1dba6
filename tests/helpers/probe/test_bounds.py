"""The papers' bounds: a reason for each that fits the model, and the numbers in it."""

import math

import pytest
import torch
from torch import nn

from helpers.probe import TARGETS, probe
from helpers.probe.bounds import strings_asked
from papers.beyond import probed
from papers.sensitive.parity import parity_transformer
from papers.sharper.pac_bayes import sample_size
from tests.helpers.probe.test_measure import Encoder

FEW = {"samples": 64, "draws": 2}
MAIN = {"P1, Theorem 2", "P1, Theorems 7, 8", "P2, Theorem 4, Corollary 5", "P2, Theorem 6"} | {
    f"P{k}, {name}"
    for k, names in {
        3: ("Corollary 4.4", "Theorem 4.6"),
        4: ("Theorem 4.1", "Theorem 4.2", "Theorem 5.1"),
        5: ("Theorems 4, 7", "Theorems 6, 9, Proposition 3"),
    }.items()
    for name in names
}


def why(model, n=4, **given):
    return probe(model, n, **FEW, **given).not_applicable


class Bare(nn.Module):
    """One layer of attention without a bias or a residual connection."""

    def __init__(self, layers=1, bias=False):
        super().__init__()
        made = [nn.MultiheadAttention(4, 1, bias=bias, batch_first=True) for _ in range(layers)]
        self.layers, self.out = nn.ModuleList(made), nn.Linear(4, 1)

    def forward(self, signs):
        """At the last sign."""
        x = signs[..., None] * torch.ones(4) + torch.arange(signs.shape[1])[:, None]
        for layer in self.layers:
            x = layer(x, x, x)[0]
        return self.out(x[:, -1])


@pytest.mark.parametrize(
    ("model", "given"),
    [(lambda x: x[:, 0], {}), (Bare(), {}), (Encoder(4), {"encoding": "tokens"})],
)
def test_each_main_bound_of_each_paper_is_named(model, given):
    assert set(why(model, **given)) >= MAIN


def test_the_reasons_are_those_of_the_model():
    assert "without weights" in why(lambda x: x[:, 0])["P3, Corollary 4.4"]
    assert "no part of this model is called" in why(nn.Linear(4, 1))["P4, Theorem 4.1"]
    assert "which matrices" in why(Bare())["P4, Theorem 4.1"]
    assert "not one layer but 2" in why(Bare(2))["P4, Theorem 4.1"]
    assert "not one layer" not in why(Bare(2))["P4, Theorem 4.2"]
    assert "model has none" in why(Bare())["P2, Theorem 4, Corollary 5"]
    assert "biases" in why(Bare(bias=True))["P4, Theorem 4.1"]
    found = why(Encoder(4), encoding="tokens")
    for name in ("P3, Theorem 4.6", "P4, Theorem 4.2"):
        assert "residual connections" in found[name]
        assert "4 layer norms" in found[name]
    assert "model has 4," in found["P2, Theorem 4, Corollary 5"]


def test_the_numbers_of_the_second_paper():
    found = why(TARGETS["parity"], 9, encoding=lambda bits: bits)
    assert f"= {9 / math.sqrt(9 * math.log(9)):.3g}" in found["P2, Theorem 4, Corollary 5"]
    assert "as/n = 1;" in found["P2, Theorem 6"]
    assert "infinite" in why(lambda x: x[:, 0], 1)["P2, Theorem 4, Corollary 5"]


@pytest.mark.parametrize(("squared", "trace"), [(100.0, 64.0), (1e-3, 1.0), (1e4, 1e5)])
def test_the_strings_asked_are_those_of_theorem_2_with_these_numbers(squared, trace):
    m = sample_size(squared, trace / 2, subgaussian=2.0)
    assert strings_asked(squared, trace) == pytest.approx(m, rel=1e-6, abs=1.01)


def test_without_curvature_or_norm_only_the_chance_is_paid_for():
    assert strings_asked(3.0, 0.0) == pytest.approx(8 * math.log(20))
    assert strings_asked(1e-9, 1e-9) == pytest.approx(8 * math.log(20), rel=1e-6)


def test_the_report_puts_its_norm_and_trace_into_it():
    squared = sum(w.square().sum().item() for w in parity_transformer(6)[1].values())
    report = probe(probed.PostNorm(*parity_transformer(6)), 6, "parity", encoding="tokens", **FEW)
    asked = strings_asked(report.norms["all weights"] ** 2, report.trace["Gauss-Newton, all"].value)
    assert 0 < report.norms["all weights"] ** 2 <= squared * (1 + 1e-9)
    assert f"{asked:.2g} strings" in report.not_applicable["P1, Theorem 2"]


def test_the_gauss_newton_part_has_the_error_of_its_strings():
    """Twice the squared gradients are 0 or 2, by halves."""

    class Ones(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1).double())

        def forward(self, bits):
            """The first bit, 0 or 1, times the weight."""
            return (self.w * bits[:, :1])[:, 0]

    report = probe(Ones(), 12, encoding="bits", samples=256, draws=2)
    found = report.trace["Gauss-Newton, all"]
    assert found.error == pytest.approx(2 * 0.5 / 16, rel=0.05)
    assert abs(found.value - 1) < 4 * found.error
