"""Feedforward and recurrent nets against PyTorch's modules on the same weights."""

import pytest
import torch

from papers.retrieval.baselines import (
    FeedforwardSpec,
    RecurrentSpec,
    forward,
    initial_weights,
    shapes,
)
from tests.draws import seeded


def inputs(*shape):
    return torch.randn(shape, generator=seeded(1), dtype=torch.float64)


SPECS = [
    FeedforwardSpec(5, (7, 6), 3),
    FeedforwardSpec(5, (), 1),
    RecurrentSpec(5, 6, 2),
    RecurrentSpec(5, 6, 1, bidirectional=False, readout="last"),
]


def sample(spec, *lead):
    return inputs(*lead, 4, 5) if isinstance(spec, FeedforwardSpec) else inputs(*lead, 4, 3, 5)


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu"])
def test_the_feedforward_net_is_that_of_torch(activation):
    spec = FeedforwardSpec(5, (7, 6), 3, activation)
    weights = initial_weights(spec, None, seeded(), dtype=torch.float64)
    acts = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh, "gelu": torch.nn.GELU}
    net = torch.nn.Sequential()
    for i, (rows, columns) in enumerate(((5, 7), (7, 6), (6, 3))):
        linear = torch.nn.Linear(rows, columns, dtype=torch.float64)
        linear.weight.data = weights[f"layers.{i}.weight"].mT
        linear.bias.data = weights[f"layers.{i}.bias"]
        net.append(linear)
        if i < 2:
            net.append(acts[activation]())
    X = inputs(4, 5)
    torch.testing.assert_close(forward(spec, weights, X), net(X))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("readout", ["last", "every"])
def test_the_recurrent_net_is_that_of_torch(bidirectional, readout):
    spec = RecurrentSpec(5, 6, 2, bidirectional, readout)
    weights = initial_weights(spec, None, seeded(), dtype=torch.float64)
    net = torch.nn.GRU(5, 6, batch_first=True, bidirectional=bidirectional, dtype=torch.float64)
    for way, end in zip(spec.directions, ("l0", "l0_reverse"), strict=False):
        for ours, theirs in (("input", "ih"), ("state", "hh")):
            getattr(net, f"weight_{theirs}_{end}").data = weights[f"{way}.{ours}"].mT.contiguous()
            getattr(net, f"bias_{theirs}_{end}").data = weights[f"{way}.{ours}_bias"]
    X = inputs(4, 7, 5)
    along, last = net(X)
    read = along if readout == "every" else last.movedim(0, 1).flatten(1)
    expected = read @ weights["readout"] + weights["readout_bias"]
    torch.testing.assert_close(forward(spec, weights, X), expected)


@pytest.mark.parametrize("spec", SPECS, ids=["deep", "linear", "both", "one way"])
def test_an_ensemble_is_its_models(spec):
    weights = initial_weights(spec, 3, seeded(), dtype=torch.float64)
    own, shared = sample(spec, 3), sample(spec)
    for X in (own, shared):
        together = forward(spec, weights, X)
        for e in range(3):
            alone = {k: v[e] for k, v in weights.items()}
            torch.testing.assert_close(together[e], forward(spec, alone, X[e] if X is own else X))
    mapped = torch.vmap(lambda w, x: forward(spec, w, x))(weights, own)
    torch.testing.assert_close(mapped, forward(spec, weights, own))


@pytest.mark.parametrize("spec", SPECS, ids=["deep", "linear", "both", "one way"])
def test_a_larger_ensemble_begins_with_the_smaller(spec):
    few, many = (initial_weights(spec, E, seeded()) for E in (2, 4))
    alone = initial_weights(spec, None, seeded())
    for name, shape in shapes(spec).items():
        assert torch.equal(few[name], many[name][:2])
        assert torch.equal(few[name][0], alone[name])
        assert alone[name].shape == shape
        assert alone[name].dtype == torch.float32


def test_initial_weights_fill_the_range_of_torch():
    deep = initial_weights(FeedforwardSpec(50, (40,), 30), 20, seeded())
    for i, k in ((0, 50), (1, 40)):
        for part in ("weight", "bias"):
            top = deep[f"layers.{i}.{part}"].abs().max().item()
            assert 0.97 * k**-0.5 < top <= k**-0.5
    recurrent = initial_weights(RecurrentSpec(30, 40), 20, seeded())
    for name, value in recurrent.items():
        k = 80 if name.startswith("readout") else 40
        assert 0.8 * k**-0.5 < value.abs().max().item() <= k**-0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeedforwardSpec(0), "inputs must be at least 1, got 0"),
        (lambda: FeedforwardSpec(3, (4, 0)), r"hidden\[1\] must be at least 1, got 0"),
        (lambda: FeedforwardSpec(3, activation="sine"), "unknown activation 'sine'; choose one of"),
        (lambda: RecurrentSpec(3, 0), "hidden must be at least 1, got 0"),
        (lambda: RecurrentSpec(3, outputs=0), "outputs must be at least 1, got 0"),
        (lambda: RecurrentSpec(3, readout="cls"), "unknown readout 'cls'; choose one of last"),
    ],
    ids=["inputs", "layer", "activation", "state", "outputs", "readout"],
)
def test_a_net_that_cannot_exist_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_feedforward_net_takes_an_empty_batch():
    spec = FeedforwardSpec(5, (7, 6), 3)
    weights = initial_weights(spec, None, seeded(), dtype=torch.float64)
    assert forward(spec, weights, inputs(0, 5)).shape == (0, 3)


def test_bad_input_is_named():
    spec = RecurrentSpec(5, 6)
    weights = initial_weights(spec, None, seeded(), dtype=torch.float64)
    with pytest.raises(ValueError, match=r"\(..., B, N, 5\), got \(4, 3, 6\)"):
        forward(spec, weights, inputs(4, 3, 6))
    with pytest.raises(ValueError, match="at least 1 token, got 0"):
        forward(spec, weights, inputs(4, 0, 5))
    with pytest.raises(TypeError, match=r"inputs must be floating, got torch\.int64"):
        forward(spec, weights, torch.zeros(4, 3, 5, dtype=torch.int64))
    with pytest.raises(ValueError, match="missing or unknown: extra"):
        forward(spec, weights | {"extra": inputs(1)}, inputs(4, 3, 5))
    with pytest.raises(ValueError, match=r"forward.input must end in the shape \(5, 18\)"):
        forward(spec, weights | {"forward.input": inputs(5, 17)}, inputs(4, 3, 5))
    with pytest.raises(ValueError, match="at least 1 model, got 0"):
        initial_weights(spec, 0, seeded())
