"""The blow-up of layer norms: numbers by hand, batches, and what is refused."""

import math

import pytest
import torch

from helpers import cube
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from papers.sensitive.magnification import layer_norm_blowup
from tests.draws import normal


def test_blow_up_is_the_product_of_the_largest_factors():
    first = torch.tensor([[1.0, 3.0], [0.0, 0.0], [5.0, 9.0]]).double()  # deviations 1, 0, 2
    second = torch.tensor([[0.0, 8.0]]).double()  # 4
    assert layer_norm_blowup([first[[0, 2]], second], 0.0).item() == pytest.approx(2 * 1.25)
    assert layer_norm_blowup([first], 0.25).item() == pytest.approx(3)
    assert layer_norm_blowup([first], 0.0) == math.inf
    still = torch.zeros(1, 2).double()
    assert layer_norm_blowup([still]).item() == pytest.approx(1 + 1e5**0.5)  # epsilon of torch
    code = layer_norm_blowup([first[[0, 2]], second], form="code")
    assert code.item() == pytest.approx(1 / 2**0.5 / 32**0.5)


def test_blow_up_of_a_batch_is_that_of_each():
    stream = [normal(2, 5, 3, 4, seed=i) for i in range(2)] + [normal(2, 5, 1, 4, seed=2)]
    found = layer_norm_blowup(stream)
    assert found.shape == (2, 5)
    for i in range(2):
        for j in range(5):
            alone = layer_norm_blowup([Y[i, j] for Y in stream])
            assert found[i, j].item() == pytest.approx(alone.item(), rel=1e-13)


def test_blow_up_reads_the_intermediates_of_a_transformer():
    spec = TransformerSpec(n=3, width=4, hidden=4)
    weights = transformer.initial_weights(spec, None, torch.Generator().manual_seed(1))
    _, seen = transformer.forward(spec, weights, cube.bits(3), intermediates=True)
    inputs = [v for name, v in seen.items() if "norm" in name and name.endswith("input")]
    assert len(inputs) == 4
    found = layer_norm_blowup(inputs, spec.norm_eps)
    assert found.shape == (8,)
    assert (found > 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: layer_norm_blowup([]), "at least one layer norm"),
        (lambda: layer_norm_blowup([normal(2, 3)], -1), "eps must be"),
        (lambda: layer_norm_blowup([normal(2, 3)], form="both"), "choose one of paper, code"),
        (lambda: layer_norm_blowup([normal(3)]), r"\(..., T, D\)"),
        (lambda: layer_norm_blowup([normal(0, 3)]), "T >= 1"),
        (lambda: layer_norm_blowup([normal(2, 1)], form="code"), "D >= 2"),
        (lambda: layer_norm_blowup([normal(2, 2, 3), normal(1, 2, 3)]), "must agree on all axes"),
    ],
)
def test_bad_numbers_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_inputs_that_are_not_floating_are_named():
    with pytest.raises(TypeError, match=r"floating, got torch\.int64"):
        layer_norm_blowup([torch.ones(2, 3).long()])
