"""Traces and products beside curvlinops, a library of others for curvature matrices.

curvlinops multiplies by the Hessian and by the generalized Gauss-Newton matrix of a torch module; a
product with each column of the identity is the matrix itself. What is drawn is held by an interval
for many seeds: the probability of a false alarm is below 1e-6 for each.
"""

import math

import curvlinops
import pytest
import torch
from curvlinops._torch_base import PyTorchLinearOperator

from helpers import cube
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.sharpness import SquaredLoss, hessian_trace
from helpers.sharpness.point import LossAtWeights, products
from tests.draws import normal, seeded

SIGMAS = 5  # of a normal mean: 6e-7 are beyond
HESSIAN, GAUSS_NEWTON = curvlinops.HessianLinearOperator, curvlinops.GGNLinearOperator


def waves(*shape, phase):
    """Numbers without a pattern that no generator decides."""
    steps = torch.arange(1, math.prod(shape) + 1, dtype=torch.float64)
    return 1.4 * (2.7 * steps + phase).sin().view(shape)


def tanh_net():
    shapes = {"a": (3, 4), "b": (4,), "c": (4,)}
    weights = {k: waves(*shape, phase=i) for i, (k, shape) in enumerate(shapes.items())}

    def forward(weights, inputs):
        return (inputs @ weights["a"] + weights["b"]).tanh() @ weights["c"]

    return SquaredLoss(forward, waves(12, 3, phase=3), waves(12, phase=4)), weights


def encoder():
    """Without biases: curvlinops stops at a weight that changes nothing, as a key's bias."""
    spec = TransformerSpec(n=3, width=4, hidden=4, bias=False)
    weights = transformer.initial_weights(spec, None, seeded(), dtype=torch.float64)
    inputs = cube.bits(3)
    return SquaredLoss(
        lambda w, bits: transformer.forward(spec, w, bits), inputs, cube.parity(3)
    ), weights


CASES = pytest.mark.parametrize("case", [tanh_net, encoder])


def matrix(kind, loss, weights, fixed=()):
    """What curvlinops multiplies by, the weights that are not fixed one after the other."""
    live = {k: v.clone() for k, v in weights.items() if k not in fixed}

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList(live.values())

        def forward(self, inputs):
            return loss.forward({**weights, **dict(zip(live, self.parts, strict=True))}, inputs)

    model = Model()
    data = [(loss.inputs, loss.targets)]
    operator = kind(model, torch.nn.MSELoss(), list(model.parameters()), data)
    return operator @ torch.eye(operator.shape[1], dtype=torch.float64)


def of_blocks(found, weights):
    """The trace of the part of each weight."""
    sizes = [v.numel() for v in weights.values()]
    return dict(zip(weights, (d.sum() for d in found.diagonal().split(sizes)), strict=True))


def require_mean(values, truth):
    """Their mean is the truth, up to as many standard errors as are told above."""
    error = (values.mean() - truth).item()
    assert abs(error) < SIGMAS * values.std().item() / len(values) ** 0.5


def variance(H):
    """Of u^T H u for random signs u; for normal u it is 2 |H|_F^2."""
    return 2 * (H.square().sum() - H.diagonal().square().sum())


@CASES
def test_products_with_the_hessian_are_those_of_curvlinops(case):
    loss, weights = case()
    H = matrix(HESSIAN, loss, weights)
    directions = normal(6, len(H), seed=4)
    parts = directions.split([v.numel() for v in weights.values()], 1)
    stacked = {
        k: part.reshape(6, *v.shape) for (k, v), part in zip(weights.items(), parts, strict=True)
    }
    found = products(loss, weights)(stacked)
    flat = torch.cat([found[k].flatten(1) for k in weights], 1)
    torch.testing.assert_close(flat, directions @ H, rtol=1e-9, atol=1e-9 * H.norm().item())


@CASES
@pytest.mark.parametrize(("method", "kind"), [("exact", HESSIAN), ("gauss_newton", GAUSS_NEWTON)])
def test_traces_are_those_of_curvlinops_block_by_block(case, method, kind):
    loss, weights = case()
    theirs, ours = matrix(kind, loss, weights), hessian_trace(loss, weights, method)
    size = theirs.diagonal().abs().sum().item()
    assert float(ours) == pytest.approx(theirs.trace().item(), abs=1e-11 * size)
    for name, value in of_blocks(theirs, weights).items():
        assert ours.blocks[name].item() == pytest.approx(value.item(), abs=1e-11 * size)


@pytest.mark.parametrize(("method", "kind"), [("exact", HESSIAN), ("gauss_newton", GAUSS_NEWTON)])
def test_the_trace_in_chosen_weights_is_that_of_curvlinops_with_the_others_fixed(method, kind):
    loss, weights = encoder()
    fixed = [name for name in weights if name.startswith("layers.0.")]
    theirs = matrix(kind, loss, weights, fixed).trace().item()
    assert fixed
    assert float(hessian_trace(loss, weights, method, without="layers.0.*")) == pytest.approx(
        theirs, rel=1e-11
    )
    moving = [name for name in weights if name not in fixed]
    assert float(hessian_trace(loss, weights, method, only=moving)) == pytest.approx(
        theirs, rel=1e-11
    )


@pytest.mark.parametrize("choice", [{}, {"only": "a"}, {"without": "c"}])
def test_the_residual_is_what_the_hessian_has_beyond_gauss_newton(choice):
    loss, weights = tanh_net()
    fixed = {"only": ["b", "c"], "without": ["c"]}.get(next(iter(choice), ""), [])
    H, G = (matrix(kind, loss, weights, fixed) for kind in (HESSIAN, GAUSS_NEWTON))
    left_out = (H - G).trace()
    found = [
        hessian_trace(loss, weights, draws=16, generator=seeded(s), **choice) for s in range(150)
    ]
    assert {t.value.item() for t in found} == {hessian_trace(loss, weights, **choice).value.item()}
    residuals = torch.stack([t.residual for t in found])
    require_mean(residuals, left_out)
    assert 2 * SIGMAS * residuals.std() / 150**0.5 < left_out.abs()  # it would be missed
    require_mean(torch.stack([t.residual_stderr for t in found]) ** 2, variance(H - G) / 16)


def test_hutchinson_has_the_variance_of_random_signs():
    loss, weights = tanh_net()
    H = matrix(HESSIAN, loss, weights)
    draws, seeds = 16, 600
    wanted = variance(H) / draws
    found = [
        hessian_trace(loss, weights, "hutchinson", draws=draws, generator=seeded(s))
        for s in range(seeds)
    ]
    values, errors = (torch.stack([getattr(t, k) for t in found]) for k in ("value", "stderr"))
    require_mean(values, H.trace())
    require_mean((values - H.trace()).square(), wanted)
    require_mean(errors.square(), wanted)
    of_normals = 2 * H.square().sum() / draws
    assert (of_normals - wanted) > 2 * SIGMAS * errors.square().std() / seeds**0.5  # told apart


class OurProducts(PyTorchLinearOperator):
    """Our products with the Hessian as an operator of curvlinops, which counts them."""

    SELF_ADJOINT = True

    def __init__(self, loss, weights):
        self.point, self.count = LossAtWeights(loss, weights, {}), 0
        self.product = self.point.hessian()
        super().__init__(*2 * ([tuple(v.shape) for v in weights.values()],))

    dtype = property(lambda self: self.point.dtype)
    device = property(lambda self: self.point.device)

    def _matmat(self, X):
        columns = torch.cat([x.flatten(0, -2) if x.ndim > 1 else x[None] for x in X])
        self.count += columns.shape[1]
        rows = self.product(columns.mT).mT.split(self.point.sizes)
        return [row.reshape(x.shape) for row, x in zip(rows, X, strict=True)]


def test_hutchinson_has_mean_and_spread_of_that_of_curvlinops_on_the_same_products():
    loss, weights = tanh_net()
    operator, seeds, draws = OurProducts(loss, weights), 80, 12
    dense = matrix(HESSIAN, loss, weights)
    torch.testing.assert_close(operator @ torch.eye(len(dense)).double(), dense)
    operator.count = 0
    torch.manual_seed(0)
    theirs = torch.stack([curvlinops.hutchinson_trace(operator, draws) for _ in range(seeds)])
    assert operator.count == draws * seeds
    ours = torch.stack(
        [
            hessian_trace(loss, weights, "hutchinson", draws=draws, generator=seeded(s)).value
            for s in range(seeds)
        ]
    )
    for found in (ours, theirs):
        require_mean(found, dense.trace())
    assert 1 / 3 < ours.std() / theirs.std() < 3


def test_an_estimate_takes_96_products_unless_told():
    loss, weights = tanh_net()
    default, told = (
        hessian_trace(loss, weights, "hutchinson", generator=seeded(), **given)
        for given in ({}, {"draws": 96})
    )
    assert torch.equal(default.value, told.value)
    assert torch.equal(default.stderr, told.stderr)


def test_a_gibibyte_is_the_memory_unless_told():
    point = LossAtWeights(lambda w: w["w"].square().sum(), {"w": torch.zeros(2)}, {})
    assert point.memory == 2**30
