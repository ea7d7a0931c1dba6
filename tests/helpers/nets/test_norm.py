"""One layer norm: its formula, its two conventions, and that every model uses it."""

import pytest
import torch

from helpers.nets import norm, transformer
from helpers.nets.spec import TransformerSpec
from papers.sensitive import blowup, parity
from papers.sensitive.magnification import layer_norm_blowup
from tests.draws import normal


@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.3])
def test_a_row_is_centred_and_divided_by_the_root_of_its_variance(eps):
    Y = normal(3, 5, 7)
    by_hand = (Y - Y.mean(-1, keepdim=True)) / norm.variance(Y, eps).sqrt()[..., None]
    torch.testing.assert_close(norm.layer_norm(Y, eps), by_hand, rtol=1e-13, atol=1e-13)


def test_the_variance_divides_by_D_and_by_D_minus_1_on_request():
    Y = normal(4, 6)
    squares = (Y - Y.mean(-1, keepdim=True)).square().sum(-1)
    torch.testing.assert_close(norm.variance(Y, 0.1), squares / 6 + 0.1)
    torch.testing.assert_close(norm.variance(Y, correction=1), squares / 5)


@pytest.mark.parametrize("of", [norm.layer_norm, norm.variance])
def test_a_negative_epsilon_is_named(of):
    with pytest.raises(ValueError, match=r"eps must be finite and at least 0, got -1.0"):
        of(normal(3), -1.0)


def test_every_layer_norm_of_a_transformer_is_this_one():
    spec = TransformerSpec(4, width=6, layers=2, heads=2, hidden=5, norm="post")
    generator = torch.Generator().manual_seed(1)
    weights = transformer.initial_weights(spec, None, generator, dtype=torch.float64)
    bits = torch.randint(2, (9, 4), generator=generator)
    _, seen = transformer.forward(spec, weights, bits, intermediates=True)
    given = seen["layers.1.norm2.input"]
    torch.testing.assert_close(seen["layers.1.stream"], norm.layer_norm(given, spec.norm_eps))
    inputs = [v for k, v in seen.items() if k.endswith("input")]
    taus = [1 + (1 / norm.variance(Y, spec.norm_eps).sqrt()).amax(-1) for Y in inputs]
    torch.testing.assert_close(layer_norm_blowup(inputs, spec.norm_eps), torch.stack(taus).prod(0))


def test_the_post_norm_transformer_and_its_blow_up_use_it_too():
    spec = parity.PostNormSpec(4, width=5, layers=2, heads=2, hidden=3, norm_eps=1e-3)
    weights = {k: normal(*s, seed=i) for i, (k, s) in enumerate(parity.shapes(spec).items())}
    bits = torch.tensor([[0, 1, 1, 0], [1, 1, 1, 0]])
    _, seen = parity.forward(spec, weights, bits, every=True, intermediates=True)
    Y = seen["layers.0.norm.input"]
    torch.testing.assert_close(seen["layers.0.stream"], norm.layer_norm(Y, 1e-3))
    given = [seen[f"layers.{k}.norm.input"] for k in range(2)]
    factors = [norm.variance(Y, 1e-3).rsqrt().amax(-1) for Y in given]
    torch.testing.assert_close(
        blowup.run(spec, weights, bits).magnification, factors[0] * factors[1]
    )
