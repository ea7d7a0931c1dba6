"""PARITY by two votes and by a transformer: all short strings, long ones, each part, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.sensitive import parity
from papers.sensitive.parity import (
    PostNormSpec,
    forward,
    inner_votes,
    nested_majority,
    parity_circuit,
    parity_transformer,
    run_circuit,
    shapes,
)

law = settings(deadline=None, max_examples=100)
strings = st.lists(st.integers(0, 1), max_size=60).map(lambda bits: torch.tensor(bits).long())


def odd(x):
    return x.sum(-1) % 2 == 1


@pytest.mark.parametrize("n", range(13))
def test_a_string_is_odd_iff_the_nested_majority_says_so(n):
    x = cube.bits(n)
    assert torch.equal(nested_majority(x), odd(x))


@law
@given(strings)
def test_zeros_change_no_vote(x):
    assert nested_majority(x) == nested_majority(x[x == 1]) == odd(x)


@law
@given(strings)
def test_the_outer_vote_is_won_by_one_or_tied(x):
    won = (inner_votes(x) & (x == 1)).sum()
    assert 2 * won - x.sum() == x.sum() % 2


@law
@given(strings)
def test_inner_votes_count_by_hand(x):
    bits = x.tolist()
    for i, vote in enumerate(inner_votes(x).tolist()):
        assert vote == (sum(bits[: i + 1]) > sum(bits[i + 1 :]))


@pytest.mark.parametrize("n", range(1, 11))
def test_each_broken_vote_is_a_function_without_parity(n):
    x = cube.bits(n)
    assert torch.equal(nested_majority(x, inner_strict=False), x.any(-1))
    assert nested_majority(x, outer_strict=False).all()
    assert not nested_majority(x, inclusive=False).any()


@pytest.mark.parametrize("n", range(1, 13))
def test_the_circuit_computes_parity_on_every_string(n):
    x = cube.bits(n)
    assert torch.equal(run_circuit(parity_circuit(n), x), odd(x))


@pytest.mark.parametrize("n", [30, 201])
def test_the_circuit_computes_parity_on_long_strings(n):
    x = torch.randint(0, 2, (40, n), generator=torch.Generator().manual_seed(0))
    assert torch.equal(run_circuit(parity_circuit(n), x), odd(x))


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_the_circuit_has_the_size_it_claims_and_no_tie(n):
    layers = parity_circuit(n)
    assert [tuple(wires.shape) for wires in layers] == [(n, n + 1), (1, 2 * n + 1)]
    assert sum(int(wires.abs().sum()) for wires in layers) == 2 * n**2 + 3 * n - 1
    for wires in layers:
        assert (wires.abs().sum(-1) % 2 == 1).all()


def test_an_inner_gate_is_a_one_with_its_vote():
    x = cube.bits(7)
    inner, _ = parity_circuit(7)
    for i in range(7):
        fired = run_circuit([inner[i : i + 1]], x)
        assert torch.equal(fired, inner_votes(x)[:, i] & (x[:, i] == 1))


@pytest.mark.parametrize(("layer", "column"), [(0, 0), (0, 3), (1, 0), (1, 2), (1, 8)])
def test_a_missing_wire_breaks_the_circuit(layer, column):
    layers = parity_circuit(6)
    layers[layer][0, column] = 0
    x = cube.bits(6)
    assert not torch.equal(run_circuit(layers, x), odd(x))


def test_batches_keep_their_shape():
    x = cube.bits(6).reshape(4, 16, 6)
    assert nested_majority(x).shape == run_circuit(parity_circuit(6), x).shape == (4, 16)
    assert inner_votes(x).shape == x.shape


EPS = torch.finfo(torch.float64).eps


def rounding(n):
    """The transformer's error: a few last roundings, and noise at right angles to the answer.

    What layer norm is given last is at least TIE-reduced 1/(4 n^2) in the answer's channel. Each of
    the 32 columns carries noise of at most some 16 roundings of numbers up to 4.
    """
    return 8 * EPS + (16 * 4 * math.sqrt(32) * EPS * 4 * n**2) ** 2


def random_strings(count, n, seed=0):
    return torch.randint(0, 2, (count, n), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n", range(1, 15))
def test_the_transformer_computes_parity_on_every_string(n):
    for half in (16, 9):
        outputs = forward(*parity_transformer(n, half), cube.bits(n))
        assert (outputs - cube.parity(n)).abs().max() <= rounding(n)


@pytest.mark.parametrize("n", [101, 1000, 4096])
def test_the_transformer_computes_parity_on_long_strings(n):
    x = random_strings(2, n)
    x[1, :] = 0
    x[1, : n // 3] = 1
    x = torch.cat((x, x, torch.zeros_like(x[:1])))
    x[2:4, n // 2] ^= 1
    assert (forward(*parity_transformer(n), x) - (1 - 2.0 * odd(x))).abs().max() <= rounding(n)


def test_the_transformer_has_the_size_it_claims():
    spec, weights = parity_transformer(9)
    assert (spec.width, spec.layers, spec.heads, spec.hidden, spec.norm_eps) == (32, 2, 1, 32, 0)
    assert spec.width > 12 * spec.layers
    assert {name: tuple(v.shape) for name, v in weights.items()} == shapes(spec)
    moving = sum(v.numel() for name, v in weights.items() if name != "positions")
    assert moving == 64 + 2 * (3 * 32**2 + 2 * (32 * 32 + 32)) + 32


def test_only_the_positions_depend_on_the_length():
    short, long = parity_transformer(5)[1], parity_transformer(50)[1]
    assert all(torch.equal(short[k], long[k]) for k in short if k != "positions")


def test_the_channels_hold_what_they_are_named_for():
    n = 7
    x = cube.bits(n)
    _, seen = forward(*parity_transformer(n), x, every=True, intermediates=True)
    k, i = x.sum(-1, keepdim=True).double(), torch.arange(1, n + 1).double()
    Y = seen["layers.0.norm.input"]
    wanted = {
        parity.BIT: x,
        parity.ONE: 1,
        parity.PLACE: i / n,
        parity.SIGN: (-1.0) ** i,
        parity.SHARE: k / n,
        parity.SPIKE: (i == k) * (-1.0) ** k / n,
        parity.STEP: 1 / n,
        parity.OUT: 0,
        parity.TINY: 1 / n**2,
    }
    for channel, value in wanted.items():
        value = torch.as_tensor(value, dtype=torch.float64).expand(2**n, n)
        assert torch.allclose(Y[..., channel], value, rtol=0, atol=32 * EPS), channel
        assert torch.allclose(Y[..., parity.HALF + channel], -value, rtol=0, atol=32 * EPS)
    last = seen["layers.1.norm.input"][:, -1]
    others = [c for c in range(32) if c % parity.HALF != parity.OUT]
    assert last[:, others].abs().max() <= 64 * EPS
    assert (last[:, parity.OUT] * cube.parity(n) * n**2).min() > 0.25


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("positions", (2, parity.SIGN)),
        ("layers.0.value", (0, parity.BIT, parity.SHARE)),
        ("layers.0.output", (1, parity.SPIKE)),
        ("layers.1.value", (0, parity.SPIKE, parity.OUT)),
        ("layers.1.output", (2, parity.ONE)),
        ("layers.1.output", (14, parity.OUT)),
    ],
)
def test_each_part_of_the_transformer_is_needed(name, at):
    spec, weights = parity_transformer(6)
    weights[name][at] = 0
    assert (forward(spec, weights, cube.bits(6)) - cube.parity(6)).abs().max() > 0.1


def loop_forward(spec, weights, string):
    """The paper's equations, one string, one token and one head at a time."""
    w = weights
    y = [w["embedding"][int(b)] + p for b, p in zip(string, w["positions"], strict=True)]
    for layer in range(spec.layers):
        block = {k.rsplit(".", 1)[1]: v for k, v in w.items() if k.startswith(f"layers.{layer}.")}
        new = []
        for token in y:
            z = token.clone()
            for Q, K, V in zip(block["query"], block["key"], block["value"], strict=True):
                scores = torch.stack([(token @ Q) @ (other @ K) for other in y])
                share = scores.exp() / scores.exp().sum()
                z += sum(a * (other @ V) for a, other in zip(share, y, strict=True))
            Y = z + (z @ block["hidden"] + block["hidden_bias"]).clamp(min=0) @ block["output"]
            Y = Y + block["output_bias"]
            centred = Y - Y.mean()
            new.append(centred / (centred.square().mean() + spec.norm_eps).sqrt())
        y = new
    return y[-1] @ w["readout"]


def random_model(spec, lead=(), seed=0):
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(*lead, *shape, generator=generator, dtype=torch.float64) / 3
        for name, shape in shapes(spec).items()
    }


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_the_forward_pass_is_that_of_the_paper(eps):
    spec = PostNormSpec(5, width=6, layers=3, heads=2, hidden=4, norm_eps=eps)
    weights, x = random_model(spec), random_strings(6, 5)
    found = forward(spec, weights, x)
    one_by_one = torch.stack([loop_forward(spec, weights, string) for string in x])
    assert torch.allclose(found, one_by_one, rtol=1e-9, atol=1e-9)
    every, seen = forward(spec, weights, x, every=True, intermediates=True)
    assert torch.allclose(every, found, rtol=1e-9, atol=1e-9)
    assert seen["layers.2.norm.input"].shape == (6, 5, 6)
    assert seen["layers.2.attention"].shape == (6, 2, 5, 5)
    last = forward(spec, weights, x, intermediates=True)[1]["layers.2.norm.input"]
    assert torch.allclose(last[:, 0], seen["layers.2.norm.input"][:, -1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lead", [(3,), (2, 3)])
def test_an_ensemble_is_its_members(lead):
    spec = PostNormSpec(4, width=6, layers=2, heads=2, hidden=3)
    weights = random_model(spec, lead)
    shared, own = random_strings(5, 4), random_strings(math.prod(lead) * 5, 4).view(*lead, 5, 4)
    for x in (shared, own):
        found = forward(spec, weights, x)
        assert found.shape == (*lead, 5)
        for at in torch.cartesian_prod(*map(torch.arange, lead)).view(-1, len(lead)).tolist():
            member = {name: v[tuple(at)] for name, v in weights.items()}
            one = forward(spec, member, x[tuple(at)] if x is own else x)
            assert torch.allclose(found[tuple(at)], one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*shapes(PostNormSpec(4))])
def test_one_weight_may_differ_between_members_alone(name):
    spec, weights = parity_transformer(4)
    x = random_strings(3, 4)
    step = random_model(spec, (2,))[name]
    found = forward(spec, weights | {name: weights[name] + step}, x)
    for e in range(2):
        one = forward(spec, weights | {name: weights[name] + step[e]}, x)
        assert torch.allclose(found[e], one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [1, 6, 100])
def test_the_transformer_is_flat_but_for_its_read_out(n):
    spec, weights = parity_transformer(n)
    x = random_strings(5, n)
    loss = SquaredLoss(lambda w, x: forward(spec, w, x), x, 1 - 2.0 * odd(x))
    trace = hessian_trace(loss, weights, without="positions")
    assert trace.blocks["readout"] == pytest.approx(2 * spec.width)
    assert float(trace) == pytest.approx(2 * spec.width, rel=1e-9)


def test_the_transformer_is_built_for_as_many_bits_as_are_allowed():
    with torch.device("meta"):  # shapes alone: they would take 150 MB
        spec, weights = parity_transformer(2**20, 9)
    assert weights["positions"].shape == (2**20, spec.width)
    with pytest.raises(ValueError, match="n must lie between 1 and 1048576, got 1048577"):
        parity_transformer(2**20 + 1, 9)


def test_bad_input_of_the_transformer_is_named():
    spec, weights = parity_transformer(4)
    with pytest.raises(ValueError, match="n must lie between 1 and 1048576, got 0"):
        parity_transformer(0)
    with pytest.raises(ValueError, match="half must be at least 9, got 8"):
        parity_transformer(4, 8)
    with pytest.raises(ValueError, match="bits are 0 or 1, got 2"):
        forward(spec, weights, torch.tensor([[0, 1, 2, 0]]))
    with pytest.raises(TypeError, match="bits must be integer or bool"):
        forward(spec, weights, torch.zeros(1, 4))
    with pytest.raises(ValueError, match=r"expected bits of shape \(..., B, 4\)"):
        forward(spec, weights, torch.zeros(4).long())
    with pytest.raises(ValueError, match=r"shape \(..., B, 4\), got \(2, 3\)"):
        forward(spec, weights, torch.zeros(2, 3).long())
    with pytest.raises(ValueError, match="missing or unknown: readout"):
        forward(spec, {k: v for k, v in weights.items() if k != "readout"}, cube.bits(4))
    with pytest.raises(ValueError, match="heads must be at least 1, got 0"):
        PostNormSpec(4, heads=0)
    with pytest.raises(ValueError, match="norm_eps must be finite"):
        PostNormSpec(4, norm_eps=-1.0)
    assert forward(spec, weights, cube.bits(4)[:0]).shape == (0,)
    assert torch.equal(
        forward(spec, weights, cube.bits(4).bool()), forward(spec, weights, cube.bits(4))
    )


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="bits are 0 or 1, got 2"):
        nested_majority(torch.tensor([0, 2]))
    with pytest.raises(ValueError, match="got a scalar"):
        inner_votes(torch.tensor(1))
    with pytest.raises(ValueError, match=r"expected \(gates, 5\) wires, got \(3, 4\)"):
        run_circuit(parity_circuit(3), cube.bits(4))
    with pytest.raises(ValueError, match="at least 1, got 0"):
        parity_circuit(0)
