"""Probing a model: closed forms, hand-written and foreign networks, dense Hessians, bad input."""

import math

import pytest
import torch
from torch import nn

from helpers import cube
from helpers.probe import TARGETS, Measured, probe
from helpers.rng import seed_of
from papers.beyond import probed
from papers.sensitive.parity import parity_transformer


def plain(bits):
    return bits


@pytest.mark.parametrize(
    ("named", "influence", "largest"),
    [
        (probed.parity(9), 1.0, 9),
        (probed.majority(9), math.comb(8, 4) / 2**8, 5),
        (probed.tribes(3, 3), (1 / 4) * (7 / 8) ** 2, 3),
    ],
)
def test_a_symmetric_function_has_its_influences(named, influence, largest):
    report = probe(named.function, named.n, encoding=plain)
    assert report.exact
    assert report.influences == pytest.approx([influence] * named.n, abs=1e-12)
    assert report.average_sensitivity == Measured(pytest.approx(named.n * influence))
    assert report.largest_sensitivity == largest


def test_the_s_box_of_aes_is_its_own_table():
    """Of a coordinate: flips counted one by one, and a spectrum from the sum over all strings."""
    box, places = torch.tensor(probed.aes_s_box()), torch.arange(8)

    def coordinate(bits):
        return 1 - 2 * (box[(bits << places).sum(-1)] & 1)

    report = probe(coordinate, 8, encoding=plain)
    signs = [1 - 2 * (v & 1) for v in box.tolist()]
    flips = [sum(signs[i] != signs[i ^ (1 << k)] for i in range(256)) / 256 for k in range(8)]
    assert report.influences == pytest.approx(flips, abs=1e-12)
    weight = [0.0] * 9
    for S in range(256):
        coefficient = sum(v * (-1) ** (S & i).bit_count() for i, v in enumerate(signs)) / 256
        weight[S.bit_count()] += coefficient**2
    assert report.weight_by_degree == pytest.approx(weight, abs=1e-12)
    assert report.weight_by_degree[0] == pytest.approx(0, abs=1e-12), "it is balanced"


def test_beyond_twenty_bits_strings_are_drawn():
    report = probe(TARGETS["majority"], 25, "majority", encoding=plain, samples=4000)
    mean = 25 * math.comb(24, 12) / 2**24
    assert not report.exact
    assert report.weight_by_degree == ()
    found = report.average_sensitivity
    assert 0 < found.error < 0.2
    assert abs(found.value - mean) < 5 * found.error
    assert report.influences == pytest.approx([mean / 25] * 25, abs=5 * math.sqrt(0.25 / 4000))
    assert report.largest_sensitivity == 13
    assert report.error_rate[0] == 0
    assert 0 < report.certificates["held out, 4000 strings"] < 0.001


def test_the_error_of_drawn_strings_is_that_of_a_mean():
    """Of the AND of two bits a string has sensitivity 0, 1, 1 or 2: variance one half."""
    report = probe(lambda x: x[:, 0] * x[:, 1] - 0.5, 25, encoding=plain, samples=4000)
    error = math.sqrt(0.5 / 4000)
    assert report.average_sensitivity.error == pytest.approx(error, rel=0.05)
    assert abs(report.average_sensitivity.value - 1) < 5 * error


def test_the_hand_written_parity_transformer_has_the_numbers_of_its_chapters():
    report = probe(
        probed.PostNorm(*parity_transformer(6)), 6, "parity", encoding="tokens", samples=64, draws=8
    )
    assert report.average_sensitivity.value == 6
    assert report.weight_by_degree[6] == pytest.approx(1)
    assert report.loss.value < 1e-20
    assert report.trace["Gauss-Newton, all"].value == pytest.approx(64, rel=1e-6)
    assert report.direction_sharpness[0.1].value > 0
    assert "held out" not in " ".join(report.certificates), "64 strings are all of them, and seen"


class Awkward(nn.Module):
    """Tied weights, a buffer, dropout, batch norm."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 5, bias=False)
        self.b = nn.Linear(5, 5, bias=False)
        self.b.weight = self.a.weight
        self.norm, self.drop, self.out = nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Linear(5, 2)
        self.register_buffer("shift", torch.ones(5))

    def forward(self, x):
        """Two logits."""
        return self.out(self.drop(self.norm(self.b(torch.tanh(self.a(x) + self.shift)))))


def test_traces_are_those_of_a_dense_hessian():
    torch.manual_seed(0)
    model = Awkward().double()
    report = probe(model, 5, "majority", samples=24, draws=400)
    assert any("dropout was on" in note for note in report.notes)
    still = model.eval()
    strings = torch.randint(
        0, 2, (24, 5), generator=torch.Generator().manual_seed(seed_of("probe", 0))
    )
    x, y = (1 - 2 * strings).double(), TARGETS["majority"](strings).double()
    names, start = zip(*still.named_parameters(), strict=True)

    def outputs(*weights):
        found = torch.func.functional_call(still, dict(zip(names, weights, strict=True)), (x,))
        return found[:, 0] - found[:, 1]

    def loss(*weights):
        return (outputs(*weights) - y).square().mean()

    H = torch.autograd.functional.hessian(loss, tuple(start))
    trace = sum(H[i][i].reshape(w.numel(), -1).trace().item() for i, w in enumerate(start))
    J = torch.autograd.functional.jacobian(outputs, tuple(start))
    gauss = 2 * sum(j.flatten(1).square().sum(1) for j in J).mean().item()
    assert report.trace["Gauss-Newton, all"].value == pytest.approx(gauss)
    whole = report.trace["whole Hessian"]
    assert abs(whole.value - trace) < 5 * whole.error
    assert report.weights == sum(p.numel() for p in model.parameters())
    assert sum(m.value for k, m in report.trace.items() if "H" not in k and "all" not in k) == (
        pytest.approx(gauss)
    )


class Encoder(nn.Module):
    """PyTorch's own transformer on tokens."""

    def __init__(self, n, width=16):
        super().__init__()
        self.token = nn.Embedding(2, width)
        self.position = nn.Parameter(torch.randn(n, width))
        layer = nn.TransformerEncoderLayer(width, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 1)

    def forward(self, tokens):
        """At the last token."""
        return self.out(self.layers(self.token(tokens) + self.position)[:, -1])


def test_layer_norms_are_found_and_measured():
    torch.manual_seed(1)
    model = Encoder(6)
    report = probe(model, 6, encoding="tokens", samples=32, draws=4)
    assert set(report.blow_up) == {f"layers.layers.{k}.norm{j}" for k in (0, 1) for j in (1, 2)}
    seen = []
    norm = model.eval().layers.layers[0].norm1
    norm.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach().double()))
    strings = torch.randint(
        0, 2, (32, 6), generator=torch.Generator().manual_seed(seed_of("probe", 0))
    )
    model(strings)
    factor = (seen[0].var(-1, correction=0) + norm.eps).rsqrt()
    largest, mean = report.blow_up["layers.layers.0.norm1"]
    assert largest == pytest.approx(factor.max().item(), rel=1e-5)
    assert mean == pytest.approx(factor.mean().item(), rel=1e-5)
    assert report.loss is None
    assert report.trace["Gauss-Newton, all"].value > 0


class Recurrent(nn.Module):
    """PyTorch's own LSTM on signs."""

    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.LSTM(1, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, signs):
        """Two logits, at the last sign."""
        return self.out(self.inner(signs[..., None])[0][:, -1])


def test_a_recurrent_net_of_pytorch_is_probed_too():
    torch.manual_seed(2)
    report = probe(Recurrent(), 5, "parity", samples=24, draws=4)
    assert sum(report.weight_by_degree) == pytest.approx(1)
    assert report.blow_up == {}
    assert report.trace["Gauss-Newton, all"].value > 0
    assert report.notes[0].startswith("outputs have the same sign at")


def test_a_report_is_a_table_and_json():
    report = probe(Encoder(4), 4, "majority", encoding="tokens", samples=16, draws=2)
    text = str(report)
    assert "average sensitivity" in text
    assert "magnification, layers.layers.0.norm1" in text
    assert report.as_dict()["bits"] == 4
    written = probed.PostNorm(*parity_transformer(4))
    again = probe(written, 4, encoding="tokens", samples=16, draws=4)
    assert again == probe(written, 4, encoding="tokens", samples=16, draws=4)


class OfTheBatch(nn.Module):
    """Its outputs depend on the batch."""

    def forward(self, x):
        """The sum less the mean of the batch."""
        return x.sum(-1) - x.mean()


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (lambda x: torch.zeros(len(x), 3), {}, r"must put out shape .* got \(8, 3\)"),
        (lambda x: (x,), {}, "must put out a tensor, got tuple"),
        (lambda x: x.sum(-1) / 0, {}, "the model puts out"),
        (lambda x: 1 / (4 - x.sum(-1)), {}, "the model puts out inf"),  # at one of 16 strings
        (OfTheBatch(), {}, "the other strings of its batch"),
        (lambda x: x[:, 0], {"target": "cats"}, "target must be one of parity, majority, first"),
        (lambda x: x[:, 0], {"encoding": "cats"}, "encoding"),
        (lambda x: x[:, 0], {"samples": 0}, "samples"),
    ],
)
def test_what_cannot_be_probed_is_refused_by_name(model, given, words):
    with pytest.raises(ValueError, match=words):
        probe(model, 4, **given)


def test_a_model_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="model must be a module or a function, got Tensor"):
        probe(cube.majority(3), 3)
