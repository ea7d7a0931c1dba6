"""Untrained nets on the cube."""

import math

import pytest
import torch

from helpers import cube
from helpers.nets.spec import TransformerSpec, shapes
from papers.sensitive import random_nets
from tests.draws import seeded


@pytest.mark.parametrize("draw", random_nets.DRAWS)
@pytest.mark.parametrize("net", random_nets.NETS)
def test_every_net_gives_finite_outputs_that_its_generator_determines(net, draw):
    one, two = (random_nets.outputs(net, draw, 3, 4, seeded(7), width=8) for _ in range(2))
    assert one.shape == (4, 8)
    assert one.dtype == torch.float64
    assert one.isfinite().all()
    assert torch.equal(one, two)
    other = random_nets.outputs(net, draw, 3, 4, seeded(8), width=8)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("net", random_nets.NETS)
def test_the_first_nets_of_more_are_the_fewer(net):
    few, many = (
        random_nets.outputs(net, "Xavier", 3, count, seeded(), width=8) for count in (2, 18)
    )
    torch.testing.assert_close(many[:2], few, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("draw", "std"), [("wide", 10 / math.sqrt(3)), ("Xavier", 0.05)])
def test_matrices_are_drawn_at_their_scale(draw, std):
    """400 x 400: Xavier's variance is 2/800; the deviation of 160000 entries is within 2 %."""
    shapes = {"query": (400, 400), "norm1.gain": (5,), "query_bias": (5,), "embedding": (2, 4000)}
    weights = random_nets.drawn(shapes, draw, seeded())
    assert weights["query"].std().item() == pytest.approx(std, rel=0.02)
    assert weights["query"].mean().item() == pytest.approx(0, abs=5 * std / 400)
    assert torch.equal(weights["norm1.gain"], torch.ones(5))
    assert not weights["query_bias"].any()
    spread = std if draw == "wide" else 1.0
    assert weights["embedding"].std().item() == pytest.approx(spread, rel=0.05)


def test_a_last_token_reaches_the_read_out_of_a_recurrent_net():
    for net in random_nets.RECURRENT:
        T = random_nets.outputs(net, "PyTorch", 3, 5, seeded(), width=8)
        x = torch.arange(8)
        for k in range(3):
            assert (T[:, x ^ (1 << k)] != T).any(), f"{net} ignores bit {k}"


def test_the_whole_cube_of_twelve_bits_is_listed():
    T = random_nets.outputs("RNN", "PyTorch", 12, 1, seeded(), width=8)
    assert T.shape == (1, 2**12)
    x = torch.arange(2**12)
    assert all((T[:, x ^ (1 << k)] != T).any() for k in range(12)), "every bit is read"


def test_sign_sensitivity_counts_the_flips_of_the_sign():
    T = torch.stack((cube.parity(4) * 5, cube.first(4) / 100, torch.full((16,), 3.0).double()))
    assert random_nets.sign_sensitivity(T).tolist() == [4.0, 1.0, 0.0]
    assert random_nets.sign_sensitivity(torch.zeros(8)) == 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="unknown net 'CNN'"):
        random_nets.outputs("CNN", "wide", 3, 2, seeded())
    with pytest.raises(ValueError, match="unknown draw 'He'"):
        random_nets.outputs("GRU", "He", 3, 2, seeded())
    with pytest.raises(ValueError, match="at most 12 bits, got n = 13"):
        random_nets.outputs("GRU", "wide", 13, 2, seeded())
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        random_nets.outputs("GRU", "wide", 3, 0, seeded())
    with pytest.raises(ValueError, match="power of two"):
        random_nets.sign_sensitivity(torch.zeros(3))


@pytest.mark.parametrize("net", random_nets.RECURRENT)
def test_pytorch_draws_recurrent_nets_within_one_over_the_root_of_their_width(net):
    """A read-out of 64 small states by at most 1/8 each; drawn eight times wider it is tens."""
    found = random_nets.outputs(net, "PyTorch", 4, 6, seeded(), width=64)
    assert 0.01 < found.abs().max() < 1


def test_the_deep_transformer_is_that_of_its_description(monkeypatch):
    """Four layers, norms before each block, tokens multiplied by the root of the width."""
    n, width, seen = 3, 8, []
    run = random_nets.transformer.forward
    monkeypatch.setattr(
        random_nets.transformer,
        "forward",
        lambda spec, weights, bits: seen.append((spec, weights)) or run(spec, weights, bits),
    )
    random_nets.outputs("deep transformer", "Xavier", n, 2, seeded(5), width=width)
    ((spec, weights),) = seen
    look = {"layers": 4, "hidden": 16, "norm": "pre", "final_norm": True}
    assert spec == TransformerSpec(n + 1, width, **look, vocabulary=3)
    source = seeded(5)
    drawn = random_nets.ensemble_of(2, lambda: random_nets.drawn(shapes(spec), "Xavier", source))
    assert torch.equal(weights["embedding"], drawn["embedding"] * math.sqrt(width))
    assert all(torch.equal(weights[k], v) for k, v in drawn.items() if k != "embedding")


def test_a_balanced_net_is_zero_where_its_outputs_tie_with_the_median():
    """Of 0, 1, 1 and 5 the lower median is 1; a difference by rounding is a tie, a real one not."""
    T = torch.tensor([[0, 1, 1 + 1e-13, 5], [0, 1, 1 + 1e-7, 5]], dtype=torch.float64)
    found = random_nets.balanced(T)
    assert found[0].tolist() == [-1, 0, 0, 4]
    assert (found[1] > 0).tolist() == [False, False, True, True]
    assert torch.equal(random_nets.balanced(1e20 * T) > 0, found > 0), "in units of the net"


def test_rounding_decides_no_sign_of_a_saturated_net():
    """Noise of 1e-14 of the largest output, as of another order of summation, moves none."""
    T = random_nets.outputs("deep transformer", "wide", 6, 64, seeded(), width=16)
    noise = torch.rand(T.shape, generator=seeded(1), dtype=torch.float64) - 0.5
    moved = T + 1e-14 * noise * T.abs().amax(-1, keepdim=True)
    assert torch.equal(random_nets.balanced(moved) > 0, random_nets.balanced(T) > 0)
    raw = [v - v.median(-1, keepdim=True).values > 0 for v in (T, moved)]
    assert not torch.equal(*raw), "without ties rounding decides"


def test_outputs_without_a_sign_are_refused():
    with pytest.raises(ValueError, match="outputs must be finite, got nan"):
        random_nets.sign_sensitivity(torch.full((8,), math.nan))


@pytest.mark.parametrize("draw", random_nets.DRAWS)
def test_an_end_symbol_is_one_more_token_with_an_embedding_of_its_own(draw):
    """At the last bit its token reaches the output past all layers; at the end symbol none does."""
    given = ("deep transformer", draw, 4, 6)
    end = random_nets.outputs(*given, seeded(), width=8)
    last = random_nets.outputs(*given, seeded(), width=8, end_symbol=False)
    assert end.shape == last.shape == (6, 16)
    x = torch.arange(16)
    for T in (end, last):
        assert all((T[:, x ^ (1 << k)] != T).any() for k in range(4))
    assert not torch.equal(end, last)
    moved = [(T[:, x ^ 8] - T).abs().mean() / T.std() for T in (end, last)]
    if draw == "PyTorch":  # the last bit's own token counts most
        assert moved[0] < moved[1]
