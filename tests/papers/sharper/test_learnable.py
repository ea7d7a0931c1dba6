"""Changes of scale that leave a network's function as it is."""

import math

import pytest
import torch

from helpers import cube
from helpers.nets.spec import shapes
from helpers.nets.transformer import forward
from papers.sharper import learnable, network, samples


@pytest.fixture
def net():
    """A random learned model, float64, and its spec."""
    spec = samples.paper_spec(5, value_width=6, hidden=9)
    generator = torch.Generator().manual_seed(0)
    return spec, {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes(spec).items()
    }


def outputs(spec, weights):
    return forward(spec, weights, cube.bits(spec.n))


def test_every_form_of_the_construction_is_one_function():
    f = cube.sparse_function(8, 2, 3, torch.Generator().manual_seed(1))
    forms = learnable.forms(f)
    values = {name: run(weights, cube.bits(8)) for name, (run, weights) in forms.items()}
    for name in ("separate", "model", "balanced"):
        torch.testing.assert_close(values[name], values["paper"], rtol=0, atol=1e-12)
    torch.testing.assert_close(values["exact"], f.table(), rtol=0, atol=1e-12)


def test_stretched_units_and_another_factor_leave_the_outputs(net):
    spec, weights = net
    before = outputs(spec, weights)
    alpha = torch.linspace(0.1, 3, 9, dtype=torch.float64)
    torch.testing.assert_close(outputs(spec, learnable.stretched(weights, alpha)), before)
    wider = samples.paper_spec(5, scale=2.0, value_width=6, hidden=9)
    torch.testing.assert_close(outputs(wider, learnable.at_factor(weights, 5.0)), before)


def test_balanced_weights_have_the_least_norm_of_their_function(net):
    spec, weights = net
    least = learnable.balanced(weights)
    torch.testing.assert_close(outputs(spec, least), outputs(spec, weights))
    norm = learnable.squared_norm(least)
    assert norm < learnable.squared_norm(weights)
    for alpha in (0.9, 1.1):
        assert learnable.squared_norm(learnable.stretched(least, alpha)) > norm
    for layer in (0, 1):
        product = weights[f"layers.{layer}.query"] @ weights[f"layers.{layer}.key"].mT
        both = [least[f"layers.{layer}.{k}"].square().sum() for k in ("query", "key")]
        nuclear = torch.linalg.svdvals(product).sum()
        torch.testing.assert_close(torch.stack(both), torch.stack((nuclear, nuclear)))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_steeper_trapezoids_have_the_same_plateaus_and_meet_at_zero(d):
    f = cube.sparse_function(6, d, 1, torch.Generator().manual_seed(2))
    weights = learnable.forms(f)["separate"][1]
    after = learnable.steeper(weights, d)

    def written(net, y):
        units = torch.relu(y[:, None] + net["layers.0.hidden_bias"])
        return (units @ net["layers.0.output"]).sum(1)

    grid = torch.arange(d + 1, dtype=torch.float64) / d
    parity = 1 - 2.0 * (torch.arange(d + 1) % 2)
    for y in (grid, grid - 1 / (4 * d), grid + 1 / (4 * d)):
        torch.testing.assert_close(written(weights, y), parity.double(), rtol=0, atol=1e-12)
        torch.testing.assert_close(written(after, y), parity.double(), rtol=0, atol=1e-12)
    middle = grid + 1 / (2 * d)
    torch.testing.assert_close(written(after, middle), 0 * middle, rtol=0, atol=1e-12)
    slope = (written(after, grid + 3 / (8 * d)) - parity) * 8 * d
    torch.testing.assert_close(slope, -4 * d * parity.double(), rtol=0, atol=1e-10)


def test_size_is_norm_and_trace_of_a_linear_read_out():
    """Of f = <w, x> the squared gradient at x is |x|^2."""
    weights = {"w": torch.tensor([3.0, 4.0], dtype=torch.float64)}
    bits = torch.tensor([[0, 1], [1, 1]])
    net = (lambda w, b: b.double() @ w["w"], weights)
    found = learnable.sizes({"linear": net}, bits, torch.zeros(2))
    assert found == {"linear_norm2": 25.0, "linear_trace": 3.0}


def test_bad_scales_are_named(net):
    for alpha in (-1.0, 0.0):
        with pytest.raises(ValueError, match=f"alpha must be above 0, got {alpha}"):
            learnable.stretched(net[1], alpha)
    with pytest.raises(ValueError, match="ratio"):
        learnable.at_factor(net[1], 0.0)


def test_targets_that_are_not_finite_are_refused():
    targets = torch.full((64,), math.nan).double()
    function = cube.sparse_function(6, 2, 3, torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="targets must be finite, got nan"):
        learnable.sizes(learnable.forms(function), cube.bits(6), targets)


def test_the_smallest_model_that_holds_the_construction_is_made_unless_told():
    """Four columns beside the positions, and four units for each value of a sum of d bits."""
    function = cube.sparse_function(6, 2, 3, torch.Generator().manual_seed(0))
    spec, weights = learnable.sharper(*network.construct(function))
    assert (spec.width, spec.hidden[0], spec.logit_scale) == (7 + 4, 4 * (2 + 1), 1.0)
    with pytest.raises(ValueError, match="hidden"):
        learnable.sharper(*network.construct(function), hidden=4 * (2 + 1) - 1)
    assert outputs(spec, weights).isfinite().all()


def test_the_paper_s_form_has_its_scale_and_its_widths():
    """Lintilhac and Shaikh (2026): scores times 2, 30 columns beside positions, 128 units."""
    function = cube.sparse_function(6, 2, 3, torch.Generator().manual_seed(0))
    assert learnable.PAPER_SCALE == 2.0
    _, weights = learnable.forms(function)["model"]
    assert weights["layers.0.hidden"].shape[-1] == 128
