"""The second paper's learned models: targets, measures and the recipe."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import cube
from helpers.nets.spec import shapes
from helpers.nets.transformer import forward, initial_weights
from papers.sensitive import brittle


def drawn(n=4, ensemble=None, width=8, seed=0):
    model = brittle.spec(n, width)
    generator = torch.Generator().manual_seed(seed)
    return model, initial_weights(model, ensemble, generator, dtype=torch.float64)


@pytest.mark.parametrize("name", brittle.FUNCTIONS)
@pytest.mark.parametrize("n", [1, 4, 5])
def test_targets_are_the_named_functions_of_the_cube(name, n):
    """In the cube's tables a bit 1 is -1, and MAJORITY asks for more than half of +1."""
    table = (1 + cube.NAMED[name](n)) / 2
    expected = table.flip(0) if name == "MAJORITY" else 1 - table
    found = brittle.targets(name, cube.bits(n))
    torch.testing.assert_close(found.double(), expected, atol=1e-7, rtol=0)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12), st.randoms())
def test_only_first_depends_on_the_order_of_the_bits(values, random):
    shuffled = random.sample(values, len(values))
    for name in ("PARITY", "MAJORITY", "MEAN"):
        both = brittle.targets(name, torch.tensor([values, shuffled]))
        assert both[0] == both[1]


def test_bad_targets_are_named():
    good = cube.bits(3)
    with pytest.raises(ValueError, match="unknown function 'OR'"):
        brittle.targets("OR", good)
    with pytest.raises(TypeError, match="float32"):
        brittle.targets("MEAN", good.float())
    with pytest.raises(ValueError, match="got 2"):
        brittle.targets("FIRST", good + 1)
    with pytest.raises(ValueError, match=r"n >= 1, got \(5, 0\)"):
        brittle.targets("PARITY", torch.zeros(5, 0, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"n >= 1, got \(\)"):
        brittle.targets("PARITY", torch.tensor(1))


def test_strings_are_the_cube_or_a_sample_of_it():
    assert torch.equal(brittle.strings_of(4, 16), cube.bits(4))
    some = brittle.strings_of(30, 17, torch.Generator().manual_seed(0))
    assert some.shape == (17, 30)
    assert 0.4 < some.double().mean() < 0.6  # 510 bits: 4.5 standard errors
    for n, most in ((0, 5), (5, 0)):
        with pytest.raises(ValueError, match="must be at least 1, got 0"):
            brittle.strings_of(n, most)


def test_the_model_is_the_papers():
    model = brittle.spec(6, 16)
    found = shapes(model)
    assert (model.layers, model.heads, model.norm, model.readout) == (2, 2, "post", "last")
    assert found["embedding"] == (2, 8)  # beside 8 columns of position
    assert found["positions"] == (6, 8)
    assert found["layers.1.hidden"] == (16, 16)
    assert model.norm_eps == 1e-5


def test_the_norm_counts_every_weight_but_the_positions():
    model, weights = drawn(ensemble=3)
    flat = torch.cat([v.flatten(1) for k, v in weights.items() if k != "positions"], 1)
    torch.testing.assert_close(brittle.parameter_norm(model, weights), flat.norm(dim=1))
    moved = {**weights, "positions": 5 * weights["positions"]}
    assert torch.equal(brittle.parameter_norm(model, moved), brittle.parameter_norm(model, weights))
    one = {k: v[0] for k, v in weights.items()}
    torch.testing.assert_close(brittle.parameter_norm(model, one), flat[0].norm())


def test_sharpness_is_four_times_the_mean_square_of_what_the_noise_moves():
    model, weights = drawn()
    strings = cube.bits(4)
    found = brittle.sharpness(model, weights, strings, 5, torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(3)
    still = forward(model, weights, strings)
    sizes = {k: v.numel() for k, v in weights.items() if k != "positions"}
    for value in found.values:
        noise = torch.randn(sum(sizes.values()), generator=generator, dtype=torch.float64)
        parts = dict(zip(sizes, noise.split(list(sizes.values())), strict=True))
        there = {
            k: v + 0.02 * parts[k].view(v.shape) if k in parts else v for k, v in weights.items()
        }
        moved = forward(model, there, strings) - still
        torch.testing.assert_close(value, 4 * moved.square().mean())
    torch.testing.assert_close(found.mean, found.values.mean())
    torch.testing.assert_close(found.stderr, found.values.std() / math.sqrt(5))


def test_an_ensemble_is_measured_as_its_models_are():
    model, weights = drawn(ensemble=2)
    together = brittle.sharpness(
        model, weights, cube.bits(4), 400, torch.Generator().manual_seed(0)
    )
    for e in range(2):
        own = {k: v[e] for k, v in weights.items()}
        alone = brittle.sharpness(model, own, cube.bits(4), 400, torch.Generator().manual_seed(e))
        error = math.hypot(together.stderr[e], alone.stderr)
        assert abs(together.mean[e] - alone.mean) < 5 * error
    assert together.values.shape == (2, 400)


def test_blowup_is_the_product_over_layer_norms_of_the_largest_factor():
    model, weights = drawn(ensemble=2)
    strings = cube.bits(4)[:7]
    _, seen = forward(model, weights, strings, intermediates=True)
    expected = torch.ones(2, 7)
    for layer in (0, 1):
        for norm in (1, 2):
            Y = seen[f"layers.{layer}.norm{norm}.input"]
            assert Y.shape[-2] == (4 if layer == 0 else 1)  # the token that is read
            expected = expected * (1 / Y.std(-1)).amax(-1)
    torch.testing.assert_close(brittle.blowup(model, weights, strings), expected.mean(-1))


def test_the_risk_is_the_mean_squared_error():
    model, weights = drawn(ensemble=2)
    strings = cube.bits(4)
    values = brittle.targets("MEAN", strings).double()
    expected = (forward(model, weights, strings) - values).square().mean(-1)
    torch.testing.assert_close(brittle.squared_risk(model, weights, strings, values), expected)
    both = brittle.squared_risk(model, weights, strings, values.expand(2, -1))
    torch.testing.assert_close(both, expected)
    with pytest.raises(ValueError, match=r"got \(3,\)"):
        brittle.squared_risk(model, weights, strings, values[:3])


@pytest.mark.parametrize("B", [4, 8])
def test_a_model_is_trained_on_its_own_function(B, monkeypatch):
    """On the cube where it fits in a batch, else on fresh strings from its own generator."""

    def trained(network, weights, batches, **options):
        return batches(torch.tensor([0, 1])), batches(torch.tensor([1]))

    monkeypatch.setattr(brittle, "train", trained)
    (strings, values), (_, alone) = brittle.learn(
        brittle.spec(3, 8), ["PARITY", "MEAN"], [5, 6], 1, B=B
    )
    strings = strings.expand(2, -1, -1) if strings.ndim == 2 else strings
    assert strings.shape == (2, B, 3)
    assert B == 4 or torch.equal(strings[0], cube.bits(3))
    for e, name in enumerate(("PARITY", "MEAN")):
        assert torch.equal(values[e], brittle.targets(name, strings[e]))
    assert alone.shape == (1, B)


def test_models_begin_as_their_seeds_say():
    model = brittle.spec(3, 8)
    generators, weights = brittle.seeded(model, [5, 6])
    own = torch.Generator().manual_seed(6)
    for name, values in initial_weights(model, None, own).items():
        assert torch.equal(weights[name][1], values)
    assert torch.equal(generators[1].get_state(), own.get_state())


def test_the_recipe_learns_and_a_model_does_not_know_its_neighbours():
    model = brittle.spec(3, 16)
    names = ["PARITY", "MEAN", "FIRST"]
    trained = brittle.learn(model, names, [5, 6, 7], 300, B=8)
    found = brittle.measure(model, trained.weights, names, 5, torch.Generator().manual_seed(0))
    assert (found.mse <= brittle.CONVERGED).all(), found.mse
    assert (found.sharpness > 0).all()
    assert (found.stderr > 0).all()
    alone = brittle.learn(model, names[1:2], [6], 20, B=8)
    among = brittle.learn(model, names, [5, 6, 7], 20, B=8)
    strings = cube.bits(3)  # outputs, as a key's bias changes none and drifts with rounding
    together = forward(model, among.weights, strings)[1:2]
    torch.testing.assert_close(
        forward(model, alone.weights, strings), together, atol=1e-3, rtol=1e-3
    )


def test_bad_calls_are_named():
    model, weights = drawn(ensemble=2)
    with pytest.raises(ValueError, match="1 functions need as many seeds, got 2"):
        brittle.learn(model, ["MEAN"], [1, 2], 1)
    with pytest.raises(ValueError, match="unknown function 'AND'"):
        brittle.learn(model, ["AND"], [1], 1)
    with pytest.raises(ValueError, match="at least 1 example, got 0"):
        brittle.learn(model, ["MEAN"], [1], 1, B=0)
    with pytest.raises(ValueError, match="at least 1 model, got 0"):
        brittle.learn(model, [], [], 1)
    with pytest.raises(ValueError, match="expected the weights of 3 models, got an axis of 2"):
        brittle.measure(model, weights, ["MEAN"] * 3)
    alone = {name: w[0] for name, w in weights.items()}
    names = ["MEAN"] * len(next(iter(alone.values())))
    with pytest.raises(ValueError, match="expected the weights of 2 models"):
        brittle.measure(model, alone, names)
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        brittle.sharpness(model, weights, cube.bits(4), 1)


def test_only_settings_that_differ_are_listed():
    found = brittle.differing(
        {"lengths": ("4 to 30", "4, 6"), "weight decay": 0.1, "steps": (9, 9)}
    )
    assert found == {"setting": ["lengths"], "paper": ["4 to 30"], "here": ["4, 6"]}
    with pytest.raises(KeyError, match="depth"):
        brittle.differing({"depth": 3})


def test_an_unclean_tree_is_told():
    made = {"commit": "0123456789abc-dirty", "date": "2026-01-01", "seconds": 3.2, "device": "CPU"}
    made |= {"versions": {"torch": "2"}, "parameters": {"series": "x", "big_steps": 5}}
    found = brittle.provenance(made)
    assert found["program"] == "commit 0123456789, with changes not committed; torch 2"
    assert found["steps"] == "5"
    assert "series" not in found
    clean = brittle.provenance(made | {"commit": "0123456789abc"})
    assert clean["program"] == "commit 0123456789; torch 2"


def test_shuffling_keeps_the_strata():
    strata = torch.tensor([0, 0, 0, 1, 1])
    values = torch.tensor([1.0, 2.0, 3.0, 10.0, 20.0])
    g = torch.Generator().manual_seed(0)
    assert brittle.by_chance(lambda v: v[:3].sum(), values, strata, g) == 6
    several = {brittle.by_chance(lambda v: v[0], values, strata, g, times=1) for _ in range(50)}
    assert several == {1.0, 2.0, 3.0}


@pytest.mark.parametrize(("start", "stop"), [(-3, 2), (2, 5), (2, 2)])
def test_a_window_is_refused_that_is_empty_or_leaves_its_run(start, stop):
    values = torch.tensor([[4.0, 3, 1, 0], [5, 5, 5, 5]])
    with pytest.raises(ValueError, match=rf"window \[{start}, {stop}\) of run 1 .* its 4 looks"):
        brittle.window(values, torch.tensor([0, start]), torch.tensor([2, stop]))


def test_looks_are_found_averaged_and_aligned():
    values = torch.tensor([[4.0, 3, 1, 0], [5, 5, 5, 5]])
    assert brittle.first_below(values, 2).tolist() == [2, 4]
    assert brittle.first_below(values, 5).tolist() == [0, 4]
    start, stop = torch.tensor([0, 1]), torch.tensor([2, 4])
    assert brittle.window(values, start, stop).tolist() == [3.5, 5]
    found = brittle.aligned(values, torch.tensor([0, 3]), 1, 2)
    expected = torch.tensor([[math.nan, 4, 3], [5, 5, math.nan]])
    torch.testing.assert_close(found, expected, equal_nan=True)
