"""Named functions have the spectra of their formulas, modules the outputs of the book's nets."""

import pytest
import torch

from helpers import cube
from helpers.rng import Rng
from papers.beyond import probed
from papers.sensitive import blowup
from papers.sensitive.parity import PostNormSpec, forward, parity_transformer
from papers.sharper.gradients import flat_function
from papers.sharper.network import construct
from papers.sharper.network import forward as run

NAMED = {
    "parity": probed.parity(5),
    "majority": probed.majority(9),
    "a single vote": probed.majority(1),
    "tribes": probed.tribes(3, 3),
    "one tribe": probed.tribes(4, 1),
    "wide": probed.tribes(1, 4),
    "address": probed.address(2),
    "longer address": probed.address(3),
    "inner product": probed.inner_product(4),
    **{f"bit {k} of the S-box": probed.aes_coordinate(k) for k in range(8)},
}


@pytest.mark.parametrize("name", NAMED)
def test_the_formula_is_that_of_the_table(name):
    n, function, weights = NAMED[name]
    table = function(cube.bits(n)).double()
    assert weights == pytest.approx(cube.degree_profile(table).tolist(), abs=1e-12)
    sensitivity = cube.average_sensitivity(table).item()
    assert NAMED[name].average_sensitivity == pytest.approx(sensitivity, abs=1e-12)


def test_the_s_box_is_that_of_the_standard():
    box = probed.aes_s_box()
    assert [box[a] for a in (0x00, 0x01, 0x53, 0xFF)] == [0x63, 0x7C, 0xED, 0x16]
    assert sorted(box) == list(range(256))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: probed.majority(4), "n must be odd and at least 1, got 4"),
        (lambda: probed.aes_coordinate(8), "which must lie between 0 and 7, got 8"),
        (lambda: probed.tribes(0, 3), "width"),
    ],
)
def test_what_is_none_is_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def random():
    spec = PostNormSpec(4, width=6, layers=2, heads=3, hidden=5, norm_eps=0.01)
    return spec, blowup.random_weights(spec, torch.Generator().manual_seed(1), 2.0)


@pytest.mark.parametrize(
    "network",
    [parity_transformer(6), blowup.majority_transformer(5), random()],
    ids=["PARITY", "MAJORITY", "random"],
)
def test_a_module_has_the_outputs_of_the_function(network):
    strings = cube.bits(network[0].n)
    module = probed.PostNorm(*network)
    assert torch.allclose(module(strings), forward(*network, strings), rtol=1e-12, atol=1e-12)
    assert "positions" not in dict(module.named_parameters())


def test_the_network_of_the_first_paper_too():
    network = construct(flat_function(5, 2, 3, Rng(0)))
    module = probed.Construction(*network)
    assert torch.equal(module(cube.bits(5)), run(*network, cube.bits(5)))
    assert sum(p.numel() for p in module.parameters()) == sum(
        w.numel() for w in network[1].values()
    )
