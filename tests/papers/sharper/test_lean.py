"""The merged form of the first paper's transformer: the plain one is the judge."""

import dataclasses
import itertools

import pytest
import torch

from helpers.nets.transformer import forward, initial_weights
from papers.sharper import lean, samples
from tests.draws import seeded

PAPER = samples.paper_spec(6, value_width=8, hidden=20)


def drawn(spec, ensemble=None):
    """Weights with no zero in them, so that a dropped bias is seen."""
    weights = initial_weights(spec, ensemble, seeded(), dtype=torch.float64)
    return {
        k: v + 0.3 * torch.randn(v.shape, generator=seeded(1), dtype=v.dtype)
        for k, v in weights.items()
    }


def bits(*shape):
    return torch.randint(0, 2, shape, generator=seeded())


def lean_specs():
    """Every spec the lean form covers, by the options that it treats apart."""
    for positional, zero, second, readout in itertools.product(
        (False, True), (False, True), (0, 9), ("cls", "last")
    ):
        yield dataclasses.replace(
            PAPER, positional=positional, zero_cls=zero, hidden=(20, second), readout=readout
        )


@pytest.mark.parametrize("case", range(16))
@pytest.mark.parametrize("ensemble", [None, 3])
def test_lean_form_is_the_plain_form_in_outputs_and_gradients(case, ensemble):
    spec = list(lean_specs())[case]
    weights = {k: v.requires_grad_() for k, v in drawn(spec, ensemble).items()}
    tokens = bits(7, 6) if ensemble is None else bits(ensemble, 7, 6)
    found = {}
    for form, run in (("plain", forward), ("lean", lean.forward)):
        output = run(spec, weights, tokens)
        found[form] = output, torch.autograd.grad(output.sin().sum(), tuple(weights.values()))
    torch.testing.assert_close(found["lean"][0], found["plain"][0])
    torch.testing.assert_close(found["lean"][1], found["plain"][1])


def test_lean_form_is_level_in_float32():
    weights = initial_weights(PAPER, 4, seeded())
    tokens = bits(4, 50, 6)
    plain, merged = (run(PAPER, weights, tokens) for run in (forward, lean.forward))
    assert (plain - merged).abs().max() < 1e-6


def test_lean_form_in_parts_is_the_whole(monkeypatch):
    weights, tokens = drawn(PAPER, 5), bits(5, 7, 6)
    found = []
    for cache in (1, 2 * 7 * 7 * 20 * 8, 2**30):
        monkeypatch.setattr(lean, "CACHE", cache)
        leaves = {k: v.clone().requires_grad_() for k, v in weights.items()}
        output = lean.forward(PAPER, leaves, tokens)
        found.append((output, *torch.autograd.grad(output.sum(), tuple(leaves.values()))))
    torch.testing.assert_close(found[1], found[0])
    torch.testing.assert_close(found[2], found[0])


def test_lean_form_refuses_a_second_derivative():
    weights = {k: v.requires_grad_() for k, v in drawn(PAPER).items()}
    loss = lean.forward(PAPER, weights, bits(4, 6)).sum()
    (slope,) = torch.autograd.grad(loss, weights["layers.0.hidden"], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"heads": 3}, "one head"),
        ({"layers": 3, "hidden": 4}, "two layers"),
        ({"norm": "post"}, "no layer norm"),
        ({"readout": "every"}, "one position"),
        ({"outputs": 2}, "one output"),
        ({"vocabulary": 3}, "bits"),
        ({"positions": "learned"}, "one-hot"),
        ({"activation": "gelu"}, "ReLU"),
        ({"bias": True}, "biases"),
        ({"project": True}, "projection"),
        ({"causal": True}, "all tokens"),
        ({"hidden": (0, 3)}, "feedforward"),
    ],
    ids=str,
)
def test_lean_form_says_why_it_does_not_apply(change, reason):
    spec = dataclasses.replace(PAPER, **change)
    weights = drawn(spec)
    tokens = bits(2, 6)
    with pytest.raises(ValueError, match=f"lean form does not apply: .*{reason}"):
        lean.forward(spec, weights, tokens)


def test_the_fastest_form_is_the_plain_one_where_there_is_no_other():
    spec = samples.paper_spec(4, value_width=3, hidden=16)
    normed = dataclasses.replace(spec, norm="pre")
    assert lean.fastest(spec).func is lean.forward
    assert lean.fastest(normed).func is forward
