"""Sharpness and trace of every kind of network, beside torch.func, closed forms and differences."""

import copy
import functools
import threading

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from helpers.probe import probe
from helpers.probe.slopes import Landscape, Slopes
from helpers.sharpness import SquaredLoss, direction_sharpness, hessian_trace
from papers.sensitive.parity import forward, parity_transformer
from tests.draws import seeded

N = 4
FEW = {"samples": 16, "draws": 2}


class Made(nn.Module):
    """A layer, something done with it on the input, and a linear map to one number."""

    def __init__(self, layer, done, width=6):
        super().__init__()
        self.layer, self.done, self.out = layer, done, nn.Linear(width, 1)

    def forward(self, x):
        """One number a string."""
        return self.out(self.done(self.layer, x))


def signs(bits):
    return (1 - 2 * bits).double()


def tanh(layer, x):
    return layer(x).tanh()


def around(model, encode=signs, m=24):
    """A landscape, and the same loss for torch.func."""
    bits = torch.randint(0, 2, (m, N), generator=seeded())
    goal = 1.0 - 2 * (bits.sum(1) % 2)

    def pure(weights, bits):
        return torch.func.functional_call(model, weights, (encode(bits),)).reshape(-1)

    return Landscape(Slopes(model, encode), bits, goal), SquaredLoss(pure, bits, goal.double())


class Encoder(nn.Module):
    """PyTorch's encoder, as in the chapter."""

    def __init__(self):
        super().__init__()
        self.token, self.out = nn.Embedding(2, 8), nn.Linear(8, 1)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, bits):
        """At the last token."""
        return self.out(self.layers(self.token(bits))[:, -1])


class Written(nn.Module):
    """The PARITY transformer that is written by hand."""

    def __init__(self):
        super().__init__()
        self.spec, weights = parity_transformer(N)
        self.names = {name.replace(".", "_"): name for name in weights}
        for short, name in self.names.items():
            self.register_parameter(short, nn.Parameter(weights[name]))

    def forward(self, bits):
        """One number a string."""
        return forward(self.spec, {v: getattr(self, k) for k, v in self.names.items()}, bits)


@pytest.mark.parametrize("kind", [Encoder, Written])
def test_networks_of_the_book_get_the_numbers_of_torch_func(kind):
    torch.manual_seed(0)
    model = kind().double()
    here, loss = around(model, encode=lambda bits: bits)
    weights = here.model.weights
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        moved = direction_sharpness(loss.forward, weights, loss.inputs, 0.1, 3, seeded(1))
        part = hessian_trace(loss, weights)
        whole = hessian_trace(loss, weights, "hutchinson", draws=3, generator=seeded(2))
        assert here.sharpness(0.1, 3, seeded(1)) == pytest.approx(
            (moved.mean.item(), moved.stderr.item()), rel=1e-9
        )
        found = {k: v.mean().item() for k, v in here.gauss_newton().items()}
        assert found == pytest.approx(
            {k: v.item() for k, v in part.blocks.items()}, rel=1e-9, abs=1e-18
        )
        assert here.whole_hessian(3, seeded(2)) == pytest.approx(
            (whole.value.item(), whole.stderr.item()), rel=1e-9
        )


def test_little_memory_changes_nothing(monkeypatch):
    torch.manual_seed(0)
    here, _ = around(Made(nn.Linear(N, 6), tanh).double())
    wanted = torch.stack([*here.gauss_newton().values()]), here.whole_hessian(4, seeded())
    monkeypatch.setattr("helpers.probe.slopes.MEMORY", 1)
    again = torch.stack([*here.gauss_newton().values()])
    torch.testing.assert_close(again, wanted[0], rtol=1e-12, atol=0)
    assert here.whole_hessian(4, seeded()) == pytest.approx(wanted[1], rel=1e-12)


def recurrent(kind):
    layer = getattr(nn, kind)(1, 6, batch_first=True)
    return Made(layer, lambda f, x: f(x[..., None])[0][:, -1])


def stepwise(model, x):
    """The same outputs of a recurrent net, by its equations."""
    f = model.layer
    h = c = torch.zeros(len(x), 6, dtype=x.dtype)
    for t in range(x.shape[1]):
        gates = [
            nn.functional.linear(v, w, b)
            for v, w, b in (
                (x[:, t : t + 1], f.weight_ih_l0, f.bias_ih_l0),
                (h, f.weight_hh_l0, f.bias_hh_l0),
            )
        ]
        if isinstance(f, nn.LSTM):
            i, forget, g, o = (gates[0] + gates[1]).chunk(4, 1)
            c = forget.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        elif isinstance(f, nn.GRU):
            (r, z, new), (hr, hz, hn) = gates[0].chunk(3, 1), gates[1].chunk(3, 1)
            mixed, z = (new + (r + hr).sigmoid() * hn).tanh(), (z + hz).sigmoid()
            h = (1 - z) * mixed + z * h
        else:
            h = (gates[0] + gates[1]).tanh()
    return model.out(h)


class Stepwise(nn.Module):
    """A recurrent net as plain operations, which torch.func takes."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        """One number a string."""
        return stepwise(self.model, x)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_recurrent_layer_has_the_numbers_of_its_equations(kind):
    torch.manual_seed(1)
    model = recurrent(kind).double()
    here, _ = around(model)
    _, loss = around(Stepwise(model))
    weights = {f"model.{k}": v for k, v in here.model.weights.items()}
    part = hessian_trace(loss, weights)
    whole = hessian_trace(loss, weights, "hutchinson", draws=2, generator=seeded(2))
    found = sum(here.gauss_newton().values()).mean().item()
    assert found == pytest.approx(part.value.item(), rel=1e-9)
    assert here.whole_hessian(2, seeded(2)).value == pytest.approx(whole.value.item(), rel=1e-9)


class Count(nn.Linear):
    """It counts its calls in a buffer, looks at numbers, and changes a tensor in place."""

    def __init__(self, n, width):
        super().__init__(n, width)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        """As a linear map."""
        self.calls += 1
        y = torch.zeros(len(x), self.out_features).to(x)
        y[:] = super().forward(x)
        return y.mul_(1) if y.isfinite().all().item() else y


class Own(torch.autograd.Function):
    """A tanh of the reader's own, without a rule for torch.func."""

    @staticmethod
    def forward(ctx, x):
        """Tanh."""
        ctx.save_for_backward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx, slope):
        """Its derivative."""
        return slope * (1 - ctx.saved_tensors[0].tanh() ** 2)


class Once(Own):
    """The same, with its second derivative hidden."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, slope):
        """Its derivative."""
        return slope * (1 - ctx.saved_tensors[0].tanh() ** 2)


keep = functools.partial(checkpoint, use_reentrant=False)
AS_PLAIN = {
    "checkpoint": lambda layer, x: keep(layer, x).tanh(),
    "own": lambda layer, x: Own.apply(layer(x)),
    "logits in a dict": tanh,
    "counting, branching, in place": tanh,
    "scripted": tanh,
    "compiled": tanh,
    "frozen": tanh,
    "transposed": tanh,
}


def plain(done=tanh, kind=nn.Linear):
    torch.manual_seed(3)
    return Made(kind(N, 6), done)


class InDict(nn.Module):
    """Its outputs under the name logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        """A dict."""
        return {"loss": None, "logits": self.model(x)}


@pytest.mark.parametrize("name", AS_PLAIN)
def test_what_torch_func_cannot_take_has_the_numbers_of_the_plain_network(name):
    model = plain(AS_PLAIN[name], Count if name.startswith("counting") else nn.Linear)
    if name == "scripted":
        model = torch.jit.trace(model, torch.ones(2, N))
    if name == "compiled":
        model = torch.compile(model, backend=refuses_to_compile)
    if name == "frozen":
        model.requires_grad_(False)
    if name == "transposed":
        model.layer.weight.data = model.layer.weight.data.T.contiguous().T
    if name == "logits in a dict":
        model = InDict(model)
    wanted, found = probe(plain(), N, "parity", **FEW), probe(model, N, "parity", **FEW)
    for key in ("Gauss-Newton, all", "whole Hessian"):
        assert found.trace[key] == pytest.approx(wanted.trace[key], rel=1e-4)
    for rho, value in wanted.direction_sharpness.items():
        assert found.direction_sharpness[rho] == pytest.approx(value, rel=1e-3)
    assert found.notes == ()


def refuses_to_compile(graph, inputs):
    """A backend of torch.compile that must not be needed."""
    raise AssertionError("a model was compiled in order to be probed")


def straight_through(layer, x):
    y = layer(x)
    return y + (y.round() - y).detach()


@pytest.mark.parametrize(
    ("done", "has", "words"),
    [
        (lambda f, x: checkpoint(f, x, use_reentrant=True), (), "reentrant checkpoint"),
        (straight_through, (), "autograd contradicts differences of the outputs"),
        (lambda f, x: f(x).tanh().detach(), (), "autograd contradicts differences of the outputs"),
        (lambda f, x: Once.apply(f(x)), ("Gauss-Newton, all",), "differences of the gradient"),
    ],
)
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_a_derivative_that_is_none_is_no_number(done, has, words):
    report = probe(plain(done), N, "parity", **FEW)
    assert all(m.value > 0 for m in report.direction_sharpness.values())
    assert {"Gauss-Newton, all", "whole Hessian"} & report.trace.keys() == set(has)
    assert words in report.notes[-1]
    assert "differentiates " + ("twice" if has else "once") in report.notes[-1]


def test_at_the_kink_of_a_relu_there_is_no_trace():
    model = plain(lambda f, x: f(x).relu()).double()
    assert "whole Hessian" in probe(model, N, "parity", **FEW).trace
    with torch.no_grad():
        model.layer.weight.fill_(1)  # the sum of four signs is often 0
        model.layer.bias.zero_()
    report = probe(model, N, "parity", **FEW)
    assert report.trace == {}
    assert "at the kink of a ReLU" in report.notes[-1]


def test_without_a_graph_there_is_the_sharpness():
    class Whole(nn.Linear):
        def forward(self, x):
            with torch.no_grad():
                return super().forward(x)

    report = probe(Whole(N, 1), N, **FEW)
    assert len(report.direction_sharpness) == 3
    assert report.trace == {}
    assert report.notes == (
        "the trace is missing: the outputs have no graph (whole numbers, detach, no_grad and numpy "
        "do that); use operations that torch differentiates once",
    )


def test_a_second_derivative_of_pytorch_that_is_wrong_is_noticed():
    """By torch.autograd.gradgradcheck that of the fused weight norm is, in PyTorch 2.13."""
    model = plain().double()
    nn.utils.parametrizations.weight_norm(model.layer)
    v = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    g = torch.randn(3, 1, dtype=torch.float64, requires_grad=True)
    right = torch.autograd.gradgradcheck(
        lambda v, g: torch._weight_norm(v, g, 0), (v, g), raise_exception=False
    )
    report = probe(model, N, "parity", **FEW)
    assert report.trace["Gauss-Newton, all"].value > 0
    assert ("whole Hessian" in report.trace) == right


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_older_norms_of_weights_are_copied():
    for norm in (nn.utils.weight_norm, nn.utils.spectral_norm):
        model = plain().double()
        norm(model.layer)
        model(torch.ones(2, N).double())
        assert probe(model, N, "parity", **FEW).trace["Gauss-Newton, all"].value > 0


def test_the_token_that_stands_for_padding_is_a_token_here():
    torch.manual_seed(0)
    wanted = None
    for given in ({}, {"padding_idx": 0}, {"sparse": True}):
        model = Made(nn.Embedding(2, 6, **given), lambda f, x: f(x).sum(1).tanh()).double()
        wanted = wanted or copy.deepcopy(model.state_dict())
        model.load_state_dict(wanted)
        trace = probe(model, N, "parity", encoding="tokens", samples=64, draws=2).trace
        if not given:
            found = trace
        assert trace == found


def test_complex_weights_are_moved_in_both_parts():
    class Phase(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.full((N,), 1 + 2j, dtype=torch.complex128))

        def forward(self, x):
            return (x.to(self.w) @ self.w).imag + (x.to(self.w) @ self.w).real

    report = probe(Phase(), N, encoding=signs, **FEW)
    assert report.weights == 2 * N
    assert report.norms["all weights"] == pytest.approx((5 * N) ** 0.5)
    assert report.trace["Gauss-Newton, all"].value == pytest.approx(2 * 2 * N)


HALF = functools.partial(torch.autocast, "cpu", dtype=torch.bfloat16)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, HALF])
def test_the_mode_that_a_reader_is_in_does_not_matter(mode):
    wanted = probe(plain(), N, **FEW)
    model = plain()
    with mode():
        assert probe(model, N, **FEW) == wanted


def state(model):
    """All that a probe must leave as it is."""
    return (
        {k: v.clone() for k, v in model.state_dict().items()},
        {k: (p.requires_grad, p.data_ptr(), p.grad) for k, p in model.named_parameters()},
        [(part.training, len(part._forward_hooks)) for part in model.modules()],
        torch.get_rng_state(),
        torch.backends.mha.get_fastpath_enabled(),
        torch.is_grad_enabled(),
    )


@pytest.mark.parametrize("fails", [False, True])
def test_a_model_is_left_as_it_was_also_after_an_error(fails):
    calls = []

    def done(layer, x):
        calls.append(torch.rand(()))
        if fails and len(calls) > 15:  # among the steps in the weights
            raise KeyError("of the reader's own")
        return layer(x).tanh()

    torch.manual_seed(5)
    model = nn.Sequential(Made(Count(N, 6), done), nn.Dropout(0.1), nn.BatchNorm1d(1))
    model[0].layer.bias.requires_grad_(False)
    model[0].layer.weight.grad = torch.ones(6, N)
    model.register_forward_hook(lambda *_: None)
    before = state(model)
    if fails:
        with pytest.raises(KeyError, match="of the reader's own"):
            probe(model, N, "parity", **FEW)
    else:
        probe(model, N, "parity", **FEW)
    torch.testing.assert_close(state(model)[0], before[0], rtol=0, atol=0)
    assert state(model)[1].keys() == before[1].keys()
    for name, (wants, place, grad) in state(model)[1].items():
        assert (wants, place) == before[1][name][:2]
        assert grad is before[1][name][2]
    assert state(model)[2] == before[2]
    assert torch.equal(state(model)[3], before[3])
    assert state(model)[4:] == before[4:]


def test_weights_come_back_after_an_error_at_a_step():
    model = plain().double()
    slopes = Slopes(model, signs)
    held = [p.data_ptr() for p in model.parameters()]
    other = {name: torch.zeros_like(w) for name, w in slopes.weights.items()}

    def broken(layer, x):
        raise RuntimeError("broken")

    model.done = broken
    with pytest.raises(RuntimeError, match="broken"):
        slopes.at(other, torch.zeros(2, N, dtype=torch.int64))
    assert [p.data_ptr() for p in model.parameters()] == held


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: nn.LazyLinear(1), "the weight 'weight' of the model has no numbers yet"),
        (lambda: nn.Linear(N, 1, device="meta"), "no numbers yet; load them, or call the model"),
        (lambda: plain(lambda f, x: f(x) - f(x).mean(0)), "the other strings of its batch"),
        (lambda: plain(lambda f, x: f(x) * float("nan")), "the model puts out nan at the string"),
    ],
)
def test_what_cannot_be_measured_is_refused(model, words):
    with pytest.raises(ValueError, match=words):
        probe(model(), N, **FEW)


@pytest.mark.parametrize("holds", [threading.Lock, lambda: [torch.ones(1, requires_grad=True) * 2]])
def test_a_module_that_cannot_be_copied_is_refused_and_its_function_taken(holds):
    model = plain()
    model.holds = holds()
    with pytest.raises(ValueError, match=r"cannot be copied: .*; drop what it holds beside its"):
        probe(model, N, **FEW)
    assert probe(lambda x: model(x), N, **FEW).influences == probe(plain(), N, **FEW).influences


def test_a_module_without_weights_says_so():
    report = probe(nn.Sequential(nn.Flatten(), nn.AdaptiveAvgPool1d(1)), N, **FEW)
    assert report.trace == {}
    assert "no weights that are floats" in report.notes[-1]


class Shrunk(nn.Module):
    """The gradient of its first layer is made a tenth, as in the training of GLM-130B."""

    def __init__(self, kept, small=1e-3):
        super().__init__()
        torch.manual_seed(0)
        self.emb, self.out, self.kept = nn.Linear(N, 6, bias=False), nn.Linear(6, 1), kept
        nn.init.constant_(self.out.weight, small)

    def forward(self, x):
        """One number a string."""
        h = self.emb(x)
        return self.out((h * self.kept + h.detach() * (1 - self.kept)).tanh())


def test_a_block_that_matters_little_is_compared_too():
    right, wrong = (probe(Shrunk(k).double(), N, **FEW) for k in (1.0, 0.1))
    assert not any("missing" in note for note in right.notes)
    assert wrong.trace == {k: m for k, m in wrong.trace.items() if k != "emb"}
    assert right.trace["emb"].value < 1e-4 * right.trace["out"].value
    for name in ("out", "Gauss-Newton, all"):
        assert wrong.trace[name].value == pytest.approx(right.trace[name].value, rel=1e-4)
    words = "the trace of emb is missing: autograd contradicts differences of the outputs, as"
    assert wrong.notes[-1].startswith(words)


def test_a_block_that_rounding_hides_is_said_to_be_hidden():
    right, wrong = (probe(Shrunk(k, 1e-9), N, **FEW) for k in (1.0, 0.1))
    for report in (right, wrong):
        assert "emb" not in report.trace
        assert "out" in report.trace
        assert "the trace of emb is missing: differences do not tell" in report.notes[-1]
        assert "model.double() may do" in report.notes[-1]
    assert "emb" in probe(Shrunk(1.0, 1e-9).double(), N, **FEW).trace


def test_a_layer_that_is_detached_and_small_is_said():
    class Detached(Shrunk):
        def forward(self, x):
            return self.out(self.emb(x).detach().tanh())

    report = probe(Detached(1.0).double(), N, **FEW)
    assert "emb" not in report.trace
    assert any(note.startswith("the trace of emb is missing: autograd") for note in report.notes)
