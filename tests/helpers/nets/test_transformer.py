"""The functional transformer against PyTorch's and the construction."""

import dataclasses
import inspect
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.nets.spec import TransformerSpec, shapes
from helpers.nets.transformer import (
    embed,
    forward,
    initial_weights,
    position_table,
)
from papers.sharper import lean, learnable
from papers.sharper import network as sharper
from tests.draws import seeded
from tests.torch_encoder import encoder_weights

PAPER = TransformerSpec(
    6,
    width=15,
    hidden=(20, 0),
    norm="none",
    positions="onehot",
    join="concat",
    readout="cls",
    zero_cls=True,
    bias=False,
    project=False,
    logit_scale=0.3,
)


def drawn(spec, ensemble=None, seed=0):
    """Weights with no zero in them, so that a dropped bias or gain is seen."""
    weights = initial_weights(spec, ensemble, seeded(seed), dtype=torch.float64)
    return {
        k: v + 0.3 * torch.randn(v.shape, generator=seeded(seed + 1), dtype=v.dtype)
        for k, v in weights.items()
    }


def bits(*shape, seed=0):
    return torch.randint(0, 2, shape, generator=seeded(seed))


def by_the_book(spec, weights, tokens):
    """PyTorch's encoder on the same weights, and the read-out; one model."""
    layer = torch.nn.TransformerEncoderLayer(
        spec.width,
        spec.heads,
        spec.hiddens[0],
        dropout=0.0,
        activation=spec.activation,
        layer_norm_eps=spec.norm_eps,
        batch_first=True,
        norm_first=spec.norm == "pre",
        dtype=torch.float64,
    )
    norm = torch.nn.LayerNorm(spec.width, dtype=torch.float64) if spec.final_norm else None
    encoder = torch.nn.TransformerEncoder(layer, spec.layers, norm, enable_nested_tensor=False)
    with torch.no_grad():
        for i, block in enumerate(encoder.layers):
            w = {k.split(".", 2)[2]: v for k, v in weights.items() if k.startswith(f"layers.{i}.")}
            names = ("query", "key", "value")
            block.self_attn.in_proj_weight.copy_(torch.cat([w[k].mT for k in names]))
            block.self_attn.in_proj_bias.copy_(torch.cat([w[f"{k}_bias"] for k in names]))
            for module, name in (
                (block.self_attn.out_proj, "project"),
                (block.linear1, "hidden"),
                (block.linear2, "output"),
            ):
                module.weight.copy_(w[name].mT)
                module.bias.copy_(w[f"{name}_bias"])
            for name in ("norm1", "norm2"):
                getattr(block, name).weight.copy_(w[f"{name}.gain"])
                getattr(block, name).bias.copy_(w[f"{name}.bias"])
        if norm is not None:
            norm.weight.copy_(weights["norm.gain"])
            norm.bias.copy_(weights["norm.bias"])
    X = weights["embedding"][tokens.long()]
    if spec.readout == "cls":
        X = torch.cat((X, weights["cls"].expand(len(X), 1, -1)), 1)
    place = position_table(spec, weights)
    X = X + place if spec.join == "add" else torch.cat((place.expand(len(X), -1, -1), X), -1)
    mask = torch.ones(spec.tokens, spec.tokens).triu(1).bool() if spec.causal else None
    Z = encoder(X, mask=mask)
    Z = Z if spec.readout == "every" else Z[:, -1]
    return (Z @ weights["readout"] + weights["readout_bias"]).squeeze(-1)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("readout", ["last", "cls", "every"])
def test_forward_is_the_encoder_of_torch(layers, heads, norm, readout):
    spec = TransformerSpec(5, 12, layers, heads, 7, norm, readout=readout)
    weights = drawn(spec)
    tokens = bits(9, 5)
    torch.testing.assert_close(forward(spec, weights, tokens), by_the_book(spec, weights, tokens))


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_positions_beside_tokens_take_half_of_the_width(positions):
    spec = TransformerSpec(n=5, width=12, join="concat", positions=positions)
    assert (spec.columns_of_positions, spec.token_width) == (6, 6)
    assert shapes(spec)["embedding"] == (2, 6)


@pytest.mark.parametrize(
    "change",
    [
        {"activation": "gelu"},
        {"causal": True},
        {"causal": True, "readout": "every"},
        {"causal": True, "readout": "cls"},
        {"positions": "sinusoidal"},
        {"positions": "onehot", "width": 14},
        {"positions": "onehot", "width": 5, "heads": 1},
        {"join": "concat"},
        {"join": "concat", "positions": "onehot"},
        {"vocabulary": 3},
        {"vocabulary": 3, "readout": "cls"},
        {"outputs": 3},
        {"outputs": 3, "readout": "every"},
        {"final_norm": True, "norm": "pre"},
        {"norm_eps": 0.1},
        {"logit_scale": 1 / 6**0.5},
    ],
    ids=str,
)
def test_every_option_is_that_of_torch(change):
    spec = dataclasses.replace(TransformerSpec(5, 12, 2, 2, 7), **change)
    weights = drawn(spec)
    tokens = torch.randint(0, spec.vocabulary, (6, 5), generator=seeded())
    torch.testing.assert_close(forward(spec, weights, tokens), by_the_book(spec, weights, tokens))


def test_one_head_of_width_1_is_a_wider_one_whose_second_column_is_zero():
    spec = TransformerSpec(5, 12, 2, 1, 7, head_width=1)
    wide = dataclasses.replace(spec, head_width=2, logit_scale=1.0)
    weights, sizes = drawn(spec), shapes(wide)
    padded = {name: torch.zeros(sizes[name], dtype=w.dtype) for name, w in weights.items()}
    for name, w in weights.items():
        padded[name][tuple(map(slice, w.shape))] = w
    assert sum(w.shape != padded[name].shape for name, w in weights.items()) == 14
    torch.testing.assert_close(
        forward(spec, weights, bits(9, 5)), forward(wide, padded, bits(9, 5))
    )


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("final", [False, True])
def test_weights_are_taken_over_from_torch(norm_first, final):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 5, 0.0, batch_first=True, norm_first=norm_first)
    norm = torch.nn.LayerNorm(8) if final else None
    encoder = torch.nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False)
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter)
    spec = TransformerSpec(
        3, 8, 2, 2, 5, "pre" if norm_first else "post", readout="every", final_norm=final
    )
    weights = initial_weights(spec, None, seeded()) | encoder_weights(encoder)
    tokens = bits(4, 3)
    expected = encoder(embed(spec, weights, tokens)) @ weights["readout"]
    found = forward(spec, weights, tokens)
    torch.testing.assert_close(found, expected.squeeze(-1) + weights["readout_bias"])


def test_second_derivatives_are_slopes_of_slopes():
    weights = drawn(PAPER)
    value = weights["layers.0.hidden"]

    def loss(hidden):
        return forward(PAPER, weights | {"layers.0.hidden": hidden}, bits(4, 6)).square().mean()

    direction = torch.randn(value.shape, generator=seeded(5), dtype=value.dtype)
    step = 1e-5
    slope = torch.func.grad(loss)
    _, curved = torch.func.jvp(slope, (value,), (direction,))
    differences = (slope(value + step * direction) - slope(value - step * direction)) / (2 * step)
    torch.testing.assert_close(curved, differences, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("spec", [TransformerSpec(5, 12, 2, 3, 7), PAPER], ids=["post", "none"])
def test_an_ensemble_is_its_models(spec):
    weights, n = drawn(spec, 4), spec.n
    own, shared = bits(4, 8, n), bits(8, n)
    for tokens in (own, shared):
        together = forward(spec, weights, tokens)
        for e in range(4):
            alone = {k: v[e] for k, v in weights.items()}
            given = tokens if tokens.ndim == 2 else tokens[e]
            torch.testing.assert_close(together[e], forward(spec, alone, given))


@pytest.mark.parametrize("spec", [TransformerSpec(5, 12, 2, 3, 7), PAPER], ids=["post", "none"])
def test_two_ensemble_axes_and_vmap_agree_with_one(spec):
    weights, tokens = drawn(spec, 6), bits(6, 8, spec.n)
    expected = forward(spec, weights, tokens)
    folded = {k: v.unflatten(0, (2, 3)) for k, v in weights.items()}
    found = forward(spec, folded, tokens.unflatten(0, (2, 3)))
    torch.testing.assert_close(found.flatten(0, 1), expected)
    mapped = torch.vmap(lambda w, x: forward(spec, w, x))(weights, tokens)
    torch.testing.assert_close(mapped, expected)


def test_layer_ten_is_not_taken_for_layer_one():
    spec = TransformerSpec(3, 4, 11, 1, 3)
    weights = drawn(spec)
    found = forward(spec, weights, bits(5, 3))
    torch.testing.assert_close(found, by_the_book(spec, weights, bits(5, 3)))


def test_later_tokens_do_not_reach_earlier_ones_in_a_causal_model():
    spec = TransformerSpec(6, 8, 2, 2, 5, causal=True, readout="every")
    weights, tokens = drawn(spec), bits(5, 6)
    flipped = tokens.clone()
    flipped[:, 4] = 1 - flipped[:, 4]
    difference = (forward(spec, weights, tokens) - forward(spec, weights, flipped)).abs()
    assert difference[:, :4].max() < 1e-14
    assert (difference[:, 4:] > 1e-6).all()


def test_intermediates_are_what_the_output_is_made_of():
    spec = TransformerSpec(5, 12, 2, 3, 7, readout="cls")
    weights, tokens = drawn(spec, 2), bits(2, 8, 5)
    output, seen = forward(spec, weights, tokens, intermediates=True)
    torch.testing.assert_close(output, forward(spec, weights, tokens))
    torch.testing.assert_close(seen["stream"], embed(spec, weights, tokens))
    assert seen["layers.0.attention"].shape == (2, 8, 3, 6, 6)
    assert seen["layers.1.attention"].shape == (2, 8, 3, 1, 6)
    for layer in range(2):
        scores, attention = (seen[f"layers.{layer}.{k}"] for k in ("scores", "attention"))
        torch.testing.assert_close(scores.softmax(-1), attention)
        given = seen[f"layers.{layer}.norm2.input"]
        normed = torch.nn.functional.layer_norm(given, (12,), eps=spec.norm_eps)
        gain, bias = (weights[f"layers.{layer}.norm2.{k}"] for k in ("gain", "bias"))
        expected = normed * gain[:, None, None] + bias[:, None, None]
        torch.testing.assert_close(seen[f"layers.{layer}.stream"], expected)
    last = seen["layers.1.stream"].squeeze(-2)
    read = (last @ weights["readout"]).squeeze(-1) + weights["readout_bias"]
    torch.testing.assert_close(read, output)


def test_dropout_drops_its_share_and_keeps_the_mean():
    spec = TransformerSpec(5, 12, 1, 2, 0, norm="none", readout="cls")
    weights, tokens = drawn(spec), bits(1, 5)
    whole = forward(spec, weights, tokens)
    draws = forward(spec, weights, tokens.expand(40000, 5), dropout=0.4, generator=seeded(3))
    error = draws.std() / 200
    assert abs(draws.mean() - whole) < 5 * error
    assert draws.std() > 0.01
    again = forward(spec, weights, tokens.expand(40000, 5), dropout=0.4, generator=seeded(3))
    assert torch.equal(draws, again)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(2, 6),
    data=st.data(),
    basis=st.sampled_from(cube.BASES),
    scale=st.sampled_from([0.7, 3.0]),
    exact=st.booleans(),
)
def test_the_construction_is_a_learnable_transformer(n, data, basis, scale, exact):
    degree = data.draw(st.integers(1, n))
    sparsity = data.draw(st.integers(1, min(n, math.comb(n, degree))))
    f = cube.sparse_function(n, degree, sparsity, generator=seeded(n), basis=basis)
    make = sharper.construct_exact if exact else sharper.construct
    built = make(f)
    spec, weights = learnable.sharper(*built, value_width=6, hidden=40, logit_scale=scale)
    every = cube.bits(n)
    expected = sharper.forward(*built, every)
    for run in (forward, lean.forward):
        found = run(spec, weights, every)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    if exact:
        torch.testing.assert_close(found, f.table(), rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value_width": 3}, "value_width must be at least 4, got 3"),
        ({"hidden": 11}, "hidden must be at least 12, got 11"),
        ({"logit_scale": 0.0}, "logit_scale must be positive and finite, got 0.0"),
    ],
    ids=str,
)
def test_a_model_too_small_for_the_construction_is_refused(options, message):
    built = sharper.construct(cube.sparse_function(4, 2, 2, generator=seeded()))
    with pytest.raises(ValueError, match=message):
        learnable.sharper(*built, **options)


def test_initial_weights_have_the_spread_of_torch():
    spec = TransformerSpec(5, 64, 1, 4, 96)
    weights = initial_weights(spec, 30, seeded())
    drawn_there = []
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for _ in range(30):
            layer = torch.nn.TransformerEncoderLayer(64, 4, 96, batch_first=True)
            encoder = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
            drawn_there.append(encoder_weights(encoder))
    theirs = {k: torch.stack([w[k] for w in drawn_there]) for k in drawn_there[0]}
    for name, value in theirs.items():
        ours = weights[name]
        assert abs(ours.abs().amax() - value.abs().amax()) <= 0.02 * value.abs().amax(), name
        assert abs(ours.std() - value.std()) <= 0.05 * value.std(), name
    assert abs(weights["embedding"].std() - 1) < 0.05


def test_centred_tokens_are_opposite_and_as_far_apart():
    plain = initial_weights(PAPER, 2, seeded())["embedding"]
    centred = initial_weights(PAPER, 2, seeded(), centred=True)["embedding"]
    torch.testing.assert_close(centred[:, 0], -centred[:, 1])
    torch.testing.assert_close(centred[:, 1] - centred[:, 0], plain[:, 1] - plain[:, 0])


def test_a_larger_ensemble_begins_with_the_smaller():
    few, many = (initial_weights(PAPER, E, seeded()) for E in (2, 5))
    alone = initial_weights(PAPER, None, seeded())
    for name, value in few.items():
        assert torch.equal(value, many[name][:2])
        assert torch.equal(value[0], alone[name])
        assert value.shape == (2, *shapes(PAPER)[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": 5}, "5 heads do not divide the width 12"),
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"layers": 0}, "layers must be at least 1, got 0"),
        ({"hidden": -1}, "hidden must be at least 0, got -1"),
        ({"hidden": (1, 2, 3)}, "hidden gives 3 layers, the model has 2"),
        ({"norm": "batch"}, "unknown norm 'batch'; choose one of none, pre, post"),
        ({"readout": "first"}, "unknown readout 'first'"),
        ({"positions": "rotary"}, "unknown positions 'rotary'"),
        ({"activation": "swish"}, "unknown activation 'swish'"),
        (
            {"join": "concat", "positions": "onehot", "width": 5, "heads": 1},
            "positions of 5 columns leave no room for tokens in a width of 5",
        ),
        ({"positions": "onehot", "width": 4, "heads": 1}, "need as many columns, got 4"),
        ({"positional": True}, "needs positions that are concatenated"),
        ({"project": False, "head_width": 5}, "must fill the width 12, got 2 of 5"),
        ({"head_width": 0}, "head_width must be at least 1, got 0"),
        ({"logit_scale": float("nan")}, "logit_scale must be finite, got nan"),
        ({"norm_eps": -1.0}, "norm_eps must be finite and at least 0, got -1.0"),
    ],
    ids=str,
)
def test_a_model_that_cannot_exist_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        TransformerSpec(**({"n": 5, "width": 12, "heads": 2} | options))


@pytest.mark.parametrize("hidden", [[7, 7], 7.0, True, (7, 1.5), None, "77"])
def test_hidden_units_that_are_no_whole_numbers_are_named(hidden):
    with pytest.raises(TypeError, match="hidden must be a whole number or a tuple of them, got"):
        TransformerSpec(5, 12, 2, 2, hidden)


def test_bad_input_is_named():
    spec = TransformerSpec(5, 12, 2, 2, 7)
    weights = drawn(spec, 2)
    with pytest.raises(ValueError, match=r"tokens of shape \(..., B, 5\), got \(3, 4\)"):
        forward(spec, weights, bits(3, 4))
    with pytest.raises(TypeError, match=r"integer or bool, got torch\.float32"):
        forward(spec, weights, bits(3, 5).float())
    with pytest.raises(ValueError, match="tokens run from 0 to 1, got 7"):
        forward(spec, weights, bits(3, 5) + 7 * (bits(3, 5) == 0))
    with pytest.raises(ValueError, match=r"dropout must lie in \[0, 1\), got 1"):
        forward(spec, weights, bits(3, 5), dropout=1.0)
    with pytest.raises(ValueError, match="missing or unknown: readout"):
        forward(spec, {k: v for k, v in weights.items() if k != "readout"}, bits(3, 5))
    odd = weights | {"readout": torch.zeros(2, 11, 1)}
    with pytest.raises(ValueError, match=r"readout must end in the shape \(12, 1\)"):
        forward(spec, odd, bits(3, 5))
    with pytest.raises(ValueError, match="at least 1 model, got 0"):
        initial_weights(spec, 0, seeded())
    with pytest.raises(ValueError, match="position_std must be finite and at least 0"):
        initial_weights(spec, 1, seeded(), position_std=-1.0)


def test_bool_tokens_and_an_empty_batch_are_fine():
    spec = TransformerSpec(5, 12, 2, 2, 7)
    weights = drawn(spec)
    torch.testing.assert_close(
        forward(spec, weights, bits(3, 5).bool()), forward(spec, weights, bits(3, 5))
    )
    assert forward(spec, weights, bits(0, 5)).shape == (0,)


def test_nan_weights_give_nan():
    weights = drawn(PAPER)
    weights["layers.0.output"][0, 0] = float("nan")
    for run in (forward, lean.forward):
        assert run(PAPER, weights, bits(3, 6)).isnan().all()


def test_what_a_model_is_unless_told():
    spec = TransformerSpec(5)
    fields = dataclasses.asdict(spec) | {"n": 5}
    wanted = {"width": 32, "layers": 2, "heads": 1, "hidden": 128, "norm": "post"}
    assert {name: fields[name] for name in wanted} == wanted


@pytest.mark.parametrize("width", [6, 7])
def test_sinusoidal_positions_are_those_of_vaswani(width):
    """Sines and cosines in turn; their wave lengths grow to 10000 * 2 pi."""
    spec = TransformerSpec(5, width, positions="sinusoidal")
    found = position_table(spec, {"embedding": torch.zeros(2, width).double()})
    for i in range(5):
        for k in range(width):
            angle = i / 10000 ** ((k - k % 2) / width)
            wave = math.cos(angle) if k % 2 else math.sin(angle)
            assert found[i, k].item() == pytest.approx(wave, abs=1e-14)


def test_a_layer_is_built_as_torch_s_own_unless_told():
    torch_s = inspect.signature(torch.nn.TransformerEncoderLayer).parameters
    spec = TransformerSpec(3)
    assert spec.norm_eps == torch_s["layer_norm_eps"].default
    assert spec.activation == torch_s["activation"].default.__name__
    assert (spec.norm == "pre") == torch_s["norm_first"].default
    assert spec.bias == torch_s["bias"].default
    assert spec.head_width is None
    assert shapes(spec)["layers.0.query"] == (spec.width, spec.width)
