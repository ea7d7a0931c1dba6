"""Traces against dense Hessians, estimates against their own errors, blow-up by hand."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import grad, hessian

from helpers import cube
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.sharpness import (
    METHODS,
    SquaredLoss,
    direction_sharpness,
    gradients,
    hessian_trace,
    perturbation_remainder,
    perturbed_loss,
)
from papers.sharper import network as sharper
from tests.draws import normal, seeded

EPS = torch.finfo(torch.float64).eps


def forward(weights, inputs):
    hidden = (inputs @ weights["a"] + weights["b"].unsqueeze(-2)).tanh()
    return (hidden @ weights["c"].unsqueeze(-1)).squeeze(-1)


def model(seed=0, dtype=torch.float64):
    shapes = {"a": (3, 4), "b": (4,), "c": (4,)}
    return {k: normal(*v, seed=seed + i, dtype=dtype) for i, (k, v) in enumerate(shapes.items())}


def tanh_loss():
    return SquaredLoss(forward, normal(12, 3, seed=7), normal(12, seed=8))


def wavy():
    """The same net and loss at numbers that no generator decides: the residual counts there."""

    def waves(*shape, phase):
        steps = torch.arange(1, math.prod(shape) + 1, dtype=torch.float64)
        return 1.4 * (2.7 * steps + phase).sin().view(shape)

    shapes = {"a": (3, 4), "b": (4,), "c": (4,)}
    weights = {k: waves(*shape, phase=i) for i, (k, shape) in enumerate(shapes.items())}
    return SquaredLoss(forward, waves(12, 3, phase=3), waves(12, phase=4)), weights


def dense_blocks(loss, weights):
    H = hessian(loss)(weights)
    return {k: H[k][k].reshape(v.numel(), -1).trace() for k, v in weights.items()}


def dense(loss, weights):
    return sum(dense_blocks(loss, weights).values()).item()


def quadratic(P=8, rank=None, seed=3):
    """A loss w^T A w / 2 of one vector, and A."""
    B = normal(P, rank or P, seed=seed)
    signs = torch.tensor([1.0, -0.5], dtype=torch.float64).repeat(P)[: B.shape[1]]
    A = B @ (signs[:, None] * B.mT)
    return lambda w: w["w"] @ A @ w["w"] / 2, A


def built(n=4, degree=2, sparsity=3):
    """A network that equals its function, and the loss over all inputs."""
    function = cube.sparse_function(n, degree, sparsity, seeded(), basis="even_parity")
    spec, weights = sharper.construct_exact(function)
    loss = SquaredLoss(
        lambda w, bits: sharper.forward(spec, w, bits), cube.bits(n), function.table()
    )
    return loss, weights


def encoder(norm="post", ensemble=None):
    spec = TransformerSpec(n=3, width=4, hidden=4, norm=norm)
    weights = transformer.initial_weights(spec, ensemble, seeded(), dtype=torch.float64)
    inputs = cube.bits(3)
    return SquaredLoss(
        lambda w, bits: transformer.forward(spec, w, bits), inputs, cube.parity(3)
    ), weights


@pytest.mark.parametrize("case", [lambda: (tanh_loss(), model()), built, encoder])
def test_the_exact_trace_is_that_of_the_dense_hessian_block_by_block(case):
    loss, weights = case()
    found, wanted = hessian_trace(loss, weights, "exact"), dense_blocks(loss, weights)
    scale = sum(v.abs() for v in wanted.values()).item()
    assert found.blocks.keys() == weights.keys()
    for name, value in wanted.items():
        assert found.blocks[name].item() == pytest.approx(value.item(), abs=1e4 * EPS * scale)
    assert float(found) == pytest.approx(dense(loss, weights), abs=1e4 * EPS * scale)
    assert found.stderr == 0


def test_layer_norm_is_differentiated_twice_as_finite_differences_say():
    loss, weights = encoder()
    name, h = "layers.0.value", 1e-4
    value, gradient, total = weights[name], grad(loss), 0.0
    for i, step in enumerate(h * torch.eye(value.numel(), dtype=torch.float64)):
        step = step.view(value.shape)
        up, down = (gradient({**weights, name: value + s * step})[name] for s in (1, -1))
        total += ((up - down).flatten()[i] / (2 * h)).item()
    # a central difference is off by h^2 / 6 times a third derivative of the gradient
    found = hessian_trace(loss, weights, "exact", only=name)
    assert float(found) == pytest.approx(total, rel=1e-5)


def test_gauss_newton_is_the_whole_trace_at_an_interpolator():
    loss, weights = built()
    assert loss(weights) < 1e-25
    exact, newton = (hessian_trace(loss, weights, m) for m in ("exact", "gauss_newton"))
    assert float(newton) == pytest.approx(float(exact), rel=1e-11)
    for name, value in exact.blocks.items():
        assert newton.blocks[name].item() == pytest.approx(value.item(), abs=1e-11 * float(exact))


def test_gauss_newton_and_its_residual_make_up_the_trace():
    loss, weights = wavy()
    residuals = loss.residuals(weights)
    left_out = dense(lambda w: 2 * (residuals * loss.outputs(w)).mean(), weights)
    newton = hessian_trace(loss, weights)
    assert newton.residual is None
    assert float(newton) + left_out == pytest.approx(dense(loss, weights), rel=1e-12)
    assert abs(left_out) > 0.05 * float(newton)  # so that leaving it out would be seen
    measured = hessian_trace(loss, weights, draws=2000, generator=seeded())
    assert measured.value == newton.value
    assert abs(measured.residual - left_out) < 5 * measured.residual_stderr
    assert measured.residual_stderr < 0.1 * abs(left_out)


def test_gradients_are_those_of_each_input_alone():
    loss, weights = tanh_loss(), model()
    found = gradients(forward, weights, loss.inputs)
    for i, x in enumerate(loss.inputs):
        alone = grad(lambda w, x=x: forward(w, x[None])[0])(weights)
        for name, value in alone.items():
            torch.testing.assert_close(found[name][i], value, rtol=1e-13, atol=1e-14)
    total = sum(v.flatten(1).square().sum(1) for v in found.values()).mean()
    assert float(hessian_trace(loss, weights)) == pytest.approx(2 * total.item(), rel=1e-13)


def test_one_input_has_a_gradient_too():
    inputs, weights = normal(1, 3, seed=7), model()
    (found,) = gradients(forward, weights, inputs)["c"]
    hidden = (inputs[0] @ weights["a"] + weights["b"]).tanh()
    torch.testing.assert_close(found, hidden, rtol=1e-13, atol=1e-14)


def test_gradients_in_chunks_are_those_at_once_and_of_the_weights_that_move():
    inputs, weights = normal(2500, 3, seed=7), model()
    found = gradients(forward, weights, inputs, without="b")
    assert {k: v.shape for k, v in found.items()} == {"a": (2500, 3, 4), "c": (2500, 4)}
    hidden = (inputs @ weights["a"] + weights["b"]).tanh()  # the derivative in c
    torch.testing.assert_close(found["c"], hidden, rtol=1e-13, atol=1e-14)


def test_the_estimated_trace_is_unbiased_with_honest_errors():
    loss, weights = tanh_loss(), model()
    truth = dense(loss, weights)
    seeds = 150
    found = [
        hessian_trace(loss, weights, "hutchinson", draws=30, generator=seeded(s))
        for s in range(seeds)
    ]
    z = torch.tensor([(float(t) - truth) / t.stderr.item() for t in found])
    assert z.mean().abs() < 5 / math.sqrt(seeds)
    # Student's t with 29 degrees: a deviation of 1.04, whose standard error over 150 is 0.065
    assert abs(z.std() - 1.04) < 5 * 0.065


def test_signs_see_a_diagonal_hessian_exactly():
    scale = normal(9)

    def loss(w):
        return (scale * w["w"].square()).sum() / 2

    found = hessian_trace(loss, {"w": normal(9)}, "hutchinson", draws=3, generator=seeded())
    assert float(found) == pytest.approx(scale.sum().item(), rel=1e-13)
    assert found.stderr < 1e-13


def test_weights_are_chosen_by_name_or_pattern():
    loss, weights = encoder()
    blocks = dense_blocks(loss, weights)
    every = hessian_trace(loss, weights, "exact")
    chosen = {
        "layers.1.hidden": ["layers.1.hidden"],
        "layers.0.norm?.*": [f"layers.0.norm{i}.{p}" for i in (1, 2) for p in ("gain", "bias")],
    }
    for pattern, names in chosen.items():
        wanted = sum(blocks[name] for name in names).item()
        for method in ("exact", "gauss_newton"):
            part = hessian_trace(loss, weights, method, only=pattern)
            rest = hessian_trace(loss, weights, method, without=names)
            if method == "gauss_newton":
                assert set(part.blocks) == set(names)
                assert set(rest.blocks) == set(weights) - set(names)
                continue
            assert float(part) == pytest.approx(wanted, abs=1e-10)
            assert float(rest) == pytest.approx(float(every) - wanted, abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_memory_changes_nothing_but_the_chunks(method):
    loss, weights = encoder()
    one, two = (
        hessian_trace(loss, weights, method, draws=40, generator=seeded(), memory=m)
        for m in (9e5, 2**30)
    )
    assert float(one) == pytest.approx(float(two), rel=1e-11)
    assert one.stderr.item() == pytest.approx(two.stderr.item(), rel=1e-9)
    if method == "gauss_newton":
        assert one.residual.item() == pytest.approx(two.residual.item(), rel=1e-10)
    with pytest.raises(MemoryError, match="bytes, more than memory = 3,000"):
        hessian_trace(loss, weights, method, generator=seeded(), memory=3e3)


def test_a_hessian_that_does_not_fit_names_the_method_that_does():
    loss, weights = encoder()
    with pytest.raises(MemoryError, match=r"one product with the Hessian .* method='gauss_newton'"):
        hessian_trace(loss, weights, "exact", memory=5e4)
    few = hessian_trace(loss, weights, "gauss_newton", memory=2e4)  # fewer than 8 inputs at once
    assert float(few) == pytest.approx(float(hessian_trace(loss, weights)), rel=1e-12)


def test_the_memory_that_is_asked_for_is_enough_and_a_byte_less_is_not():
    loss, weights = tanh_loss(), model()
    with pytest.raises(MemoryError) as error:
        hessian_trace(loss, weights, "exact", memory=1)
    named = int(re.search("about ([0-9,]+) bytes", str(error.value))[1].replace(",", ""))
    with pytest.raises(MemoryError, match=f"about {named:,} bytes"):
        hessian_trace(loss, weights, "exact", memory=named - 1)
    found = hessian_trace(loss, weights, "exact", memory=named)
    assert float(found) == pytest.approx(float(hessian_trace(loss, weights, "exact")), rel=1e-11)


def test_memory_for_the_weights_is_counted_once_and_not_for_each_input():
    weights = {"w": normal(300, 300), "v": normal(300)}  # 0.7 MB, kept for the backward pass
    inputs = normal(100, 300)
    loss = SquaredLoss(lambda w, x: ((x @ w["w"]).tanh() @ w["w"]) @ w["v"], inputs, normal(100))
    assert hessian_trace(loss, weights, "hutchinson", draws=2, memory=8e6).value.isfinite()


def test_perturbed_losses_in_chunks_are_those_of_a_loop():
    loss, weights = tanh_loss(), model()
    found = perturbed_loss(loss, weights, 0.3, 20, seeded(), without="b")
    small = perturbed_loss(loss, weights, 0.3, 20, seeded(), without="b", memory=2e4)
    torch.testing.assert_close(found.values, small.values, rtol=1e-13, atol=0)
    generator = seeded()
    for value in found.values:
        u = torch.randn(16, generator=generator, dtype=torch.float64)
        moved = weights | {
            "a": weights["a"] + 0.3 * u[:12].view(3, 4),
            "c": weights["c"] + 0.3 * u[12:],
        }
        assert value.item() == pytest.approx(loss(moved).item(), rel=1e-13)
    assert found.mean.item() == pytest.approx(found.values.mean().item(), rel=1e-13)
    assert found.stderr.item() == pytest.approx(found.values.std().item() / 20**0.5, rel=1e-13)


def test_sigma_is_a_standard_deviation():
    loss, A = quadratic(8)
    weights = {"w": torch.zeros(8, dtype=torch.float64)}
    found = perturbed_loss(loss, weights, 0.1, 4000, seeded())
    wanted = 0.1**2 / 2 * A.trace()
    assert abs(found.mean - wanted) < 5 * found.stderr
    assert found.stderr < 0.1 * abs(wanted)
    assert perturbed_loss(loss, {"w": normal(8)}, 0, 5, seeded()).stderr < 1e-15


@settings(max_examples=30, deadline=None)
@given(sigma=st.floats(1e-3, 1e3), c=st.floats(-10, 10))
def test_the_same_directions_scale_with_sigma_and_the_trace_with_the_loss(sigma, c):
    loss, A = quadratic(8)
    at_zero = {"w": torch.zeros(8, dtype=torch.float64)}
    one, other = (perturbed_loss(loss, at_zero, s, 6, seeded()).values for s in (1, sigma))
    torch.testing.assert_close(other, sigma**2 * one, rtol=1e-9, atol=0)
    scaled = hessian_trace(lambda w: c * loss(w), at_zero, "exact")
    assert float(scaled) == pytest.approx(c * A.trace().item(), abs=1e-12)


def test_the_remainder_of_a_quadratic_is_rounding_and_of_a_quartic_is_known():
    loss, A = quadratic(8)
    weights = {"w": normal(8)}
    flat = perturbation_remainder(loss, weights, 0.3, 10, seeded())
    assert flat.values.abs().max() < 1e-12
    assert flat.loss == loss(weights)
    truth = A.trace().item()
    many = perturbation_remainder(loss, weights, 0.3, 3000, seeded()).quadratic
    assert abs(many.mean().item() - truth) < 5 * many.std().item() / 3000**0.5

    def quartic(w):
        return w["w"].pow(4).sum()  # E (w + s u)^4 = w^4 + 6 s^2 w^2 + 3 s^4

    for sigma in (0.01, 0.1, 1.0):
        found = perturbation_remainder(quartic, weights, sigma, 3000, seeded())
        assert abs(found.mean - 3 * 8 * sigma**4) < 5 * found.stderr
        assert found.stderr < 0.1 * found.mean


def test_loss_trace_and_remainder_make_up_the_perturbed_loss():
    (loss, weights), sigma = wavy(), 0.5
    parts = perturbation_remainder(loss, weights, sigma, 4000, seeded(1))
    whole = perturbed_loss(loss, weights, sigma, 4000, seeded(2))
    total = parts.loss + sigma**2 / 2 * dense(loss, weights) + parts.mean
    assert abs(total - whole.mean) < 5 * torch.hypot(parts.stderr, whole.stderr)
    assert abs(parts.mean) > 4 * torch.hypot(parts.stderr, whole.stderr)  # it is needed


def linear(weights, inputs):
    return inputs @ weights["w"] + weights["positions"].sum()


def test_a_sphere_has_its_radius_and_a_gaussian_its_deviation():
    weights = {"w": normal(6), "positions": normal(2)}
    inputs = torch.eye(6, dtype=torch.float64)
    options = {"without": "positions", "generator": seeded()}
    sphere = direction_sharpness(linear, weights, inputs, 0.7, 50, **options)
    torch.testing.assert_close(
        sphere.values, torch.full((50,), 0.7**2 / 6, dtype=torch.float64), rtol=1e-12, atol=0
    )
    gauss = direction_sharpness(linear, weights, inputs, 0.7, 5000, shape="gaussian", **options)
    assert abs(gauss.mean - 0.7**2) < 5 * gauss.stderr
    assert gauss.stderr < 0.02
    moved = direction_sharpness(linear, weights, inputs, 0.7, 50, seeded())
    assert moved.values.std() > 0.01


def test_directions_on_the_sphere_are_uniform():
    weights = {"w": torch.zeros(3, dtype=torch.float64)}
    axis = torch.tensor([[0.6, 0.0, 0.8]], dtype=torch.float64)
    found = direction_sharpness(lambda w, x: x @ w["w"], weights, axis, 2.0, 4000, seeded())
    # the square of one coordinate on the unit sphere in 3 dimensions: mean 1/3, variance 4/45
    assert found.mean.item() == pytest.approx(4 / 3, abs=5 * found.stderr.item())
    assert found.values.var().item() == pytest.approx(16 * 4 / 45, rel=0.1)


MEASURES = {
    "exact": lambda loss, w, g, **e: hessian_trace(loss, w, "exact", **e),
    "gauss_newton": lambda loss, w, g, **e: hessian_trace(loss, w, draws=4, generator=g, **e),
    "hutchinson": lambda loss, w, g, **e: hessian_trace(loss, w, "hutchinson", generator=g, **e),
    "gradients": lambda loss, w, g, **e: gradients(forward, w, tanh_loss().inputs, **e),
    "perturbed": lambda loss, w, g, **e: perturbed_loss(loss, w, 0.1, 5, g, **e),
    "remainder": lambda loss, w, g, **e: perturbation_remainder(loss, w, 0.1, 5, g, **e),
}


def leaves(result):
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else vars(result).values()
    return [leaf for part in parts if part is not None for leaf in leaves(part)]


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@pytest.mark.parametrize(("each_its_own", "E"), [(False, 3), (True, 3), (True, 1)])
def test_an_ensemble_is_a_loop_over_its_models(measure, each_its_own, E):
    models = [model(10 * e) for e in range(E)]
    stack = {k: torch.stack([m[k] for m in models]) for k in models[0]}
    shared = tanh_loss()
    losses = [SquaredLoss(forward, shared.inputs, shared.targets + e) for e in range(E)]
    together = measure(losses if each_its_own else shared, stack, seeded(), ensemble=True)
    generator = seeded()
    for e, weights in enumerate(models):
        alone = measure(losses[e] if each_its_own else shared, weights, generator)
        for one, many in zip(leaves(alone), leaves(together), strict=True):
            assert many.shape == (E, *one.shape)
            assert torch.equal(many[e], one)


def test_sharpness_and_gradients_of_an_ensemble_are_those_of_its_models():
    loss, stack = encoder(ensemble=2)
    together = direction_sharpness(
        loss.forward, stack, loss.inputs, 0.1, 3, seeded(), ensemble=True, without="positions"
    )
    slopes = gradients(loss.forward, stack, loss.inputs, ensemble=True)
    generator = seeded()
    for e in range(2):
        weights = {k: v[e] for k, v in stack.items()}
        alone = direction_sharpness(
            loss.forward, weights, loss.inputs, 0.1, 3, generator, without="positions"
        )
        assert torch.equal(together.values[e], alone.values)
        for name, value in gradients(loss.forward, weights, loss.inputs).items():
            assert torch.equal(slopes[name][e], value)


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_enough_for_a_trace(method):
    loss, weights = tanh_loss(), model()
    single = SquaredLoss(forward, loss.inputs.float(), loss.targets)
    cast = {k: v.float() for k, v in weights.items()}
    found = hessian_trace(single, cast, method, generator=seeded())
    wanted = hessian_trace(loss, weights, method, generator=seeded())
    assert found.value.dtype == single(cast).dtype == torch.float32
    assert float(found) == pytest.approx(float(wanted), rel=1e-4)


def test_weights_of_several_kinds_and_shapes_mix():
    weights = {"s": torch.tensor(0.5), "w": normal(3), "i": torch.arange(3)}

    def loss(w):
        return (w["s"].double() * w["w"] * w["i"]).square().sum()

    wanted = 2 * ((weights["w"] * weights["i"]).square().sum() + 0.25 * 5).item()
    found = hessian_trace(loss, weights, "exact", without="i")
    assert float(found) == pytest.approx(wanted, rel=1e-6)


def test_a_squared_loss_of_stacked_weights_is_one_number_a_model():
    loss, models = tanh_loss(), [model(0), model(5)]
    stacked = {k: torch.stack([m[k] for m in models]) for k in models[0]}
    torch.testing.assert_close(loss(stacked), torch.stack([loss(m) for m in models]))


def test_weights_are_left_as_they_are():
    loss, weights = tanh_loss(), {k: v.requires_grad_() for k, v in model().items()}
    before = {k: v.detach().clone() for k, v in weights.items()}
    for measure in MEASURES.values():
        assert not any(leaf.requires_grad for leaf in leaves(measure(loss, weights, seeded())))
    assert all(torch.equal(weights[k], before[k]) and weights[k].grad is None for k in before)


BAD = [
    (lambda: SquaredLoss(forward, torch.zeros(0, 3), torch.zeros(0)), "at least one input"),
    (lambda: SquaredLoss(forward, torch.tensor(1.0), torch.zeros(1)), r"one input, got shape \(\)"),
    (lambda: SquaredLoss(forward, torch.zeros(4, 3), torch.zeros(3)), r"shape \(4,\), got \(3,\)"),
    (lambda: SquaredLoss(forward, torch.zeros(4, 3), torch.zeros(4, 1)), "a target for each input"),
    (
        lambda: SquaredLoss(lambda w, x: x, torch.zeros(4, 3), torch.zeros(4))(model()),
        r"one number an input, 4 in all, got shape \(4, 3\)",
    ),
    (lambda: hessian_trace(tanh_loss(), model(), "lanczos"), "choose one of exact, gauss_newton"),
    (lambda: hessian_trace(lambda w: w["b"], model(), "exact"), r"one number, got shape \(4,\)"),
    (lambda: hessian_trace(tanh_loss(), model(), "hutchinson", draws=1), "at least 2, got 1"),
    (lambda: hessian_trace(tanh_loss(), model(), draws=0), "at least 2, got 0"),
    (lambda: hessian_trace(tanh_loss(), model(), without=["a", "?"]), "no weights left"),
    (lambda: hessian_trace(tanh_loss(), model(), only="d"), "no weight matches 'd'; there are a,"),
    (lambda: hessian_trace(tanh_loss(), {}), "no weights left"),
    (lambda: hessian_trace(tanh_loss(), model(), ensemble=True), "share a leading axis"),
    (
        lambda: hessian_trace(
            tanh_loss(), {k: v[None][:0] for k, v in model().items()}, ensemble=True
        ),
        "leading axis of at least 1 model, got {'a': 0, 'b': 0, 'c': 0}",
    ),
    (
        lambda: hessian_trace(
            [tanh_loss()],
            {k: v[None].repeat(2, *[1] * v.ndim) for k, v in model().items()},
            ensemble=True,
        ),
        "each of 2 models, got 1",
    ),
    (lambda: gradients(forward, model(), torch.zeros(0, 3)), "at least one input"),
    (
        lambda: gradients(lambda w, x: x @ w["a"], model(), normal(2, 3)),
        r"one number an input, got shape \(1, 4\)",
    ),
    (lambda: perturbed_loss(tanh_loss(), model(), -1, 5), "sigma must be .* got -1"),
    (lambda: perturbed_loss(tanh_loss(), model(), math.nan, 5), "sigma must be .* got nan"),
    (lambda: perturbed_loss(tanh_loss(), model(), 1, 5, memory=math.nan), "memory must be .* nan"),
    (lambda: perturbed_loss(tanh_loss(), model(), 0.1, 1), "draws must be at least 2, got 1"),
    (lambda: perturbation_remainder(tanh_loss(), model(), -0.5, 5), "sigma must be .* got -0.5"),
    (lambda: perturbation_remainder(tanh_loss(), model(), 0.5, 0), "draws must be at least 2"),
    (lambda: direction_sharpness(forward, model(), normal(2, 3), -1, 5), "rho must be .* got -1"),
    (lambda: direction_sharpness(forward, model(), normal(2, 3), 1, 1), "draws must be at least"),
    (lambda: direction_sharpness(forward, model(), normal(0, 3), 1, 2), "at least one input"),
    (
        lambda: direction_sharpness(forward, model(), normal(2, 3), 1, 2, shape="ball"),
        "'ball'; choose one of sphere, gaussian",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_numbers_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hessian_trace(tanh_loss().__call__, model()), "SquaredLoss.forward, inputs, tar"),
        (lambda: hessian_trace([tanh_loss()], model()), "needs ensemble=True"),
        (
            lambda: hessian_trace(tanh_loss(), {"a": torch.arange(3)}),
            "a is torch.int64; hold it fixed by without='a'",
        ),
        (
            lambda: hessian_trace(tanh_loss(), model() | {"a": [1.0]}),
            r"a must be a torch.Tensor, got",
        ),
        (
            lambda: hessian_trace(tanh_loss(), model(), memory="1GB"),
            "memory must be a number, got '1",
        ),
        (
            lambda: hessian_trace(tanh_loss(), model(), memory=None),
            "memory must be a number, got None",
        ),
        (lambda: gradients(forward, model(), [1.0]), r"inputs must be a torch.Tensor, got list"),
        (
            lambda: perturbed_loss(lambda w: w["a"].sum().item(), model(), 0.1, 4),
            r"the loss must return a tensor, got [-.\d]+; an item\(\)",
        ),
        (
            lambda: hessian_trace(tanh_loss(), model(), "hutchinson", generator=0),
            "generator must be a torch.Generator, got 0",
        ),
        (lambda: hessian_trace(tanh_loss(), model(), onyl="a"), "unknown argument onyl"),
    ],
)
def test_bad_kinds_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def centred(weights, inputs):
    """A model behind a norm over the batch: each output depends on all inputs."""
    hidden = inputs @ weights["a"]
    return (hidden - hidden.mean(0)).tanh() @ weights["c"]


def normed(weights, inputs):
    hidden = inputs @ weights["a"]
    spread = (hidden - hidden.mean(0)).square().mean(0).sqrt()
    return ((hidden - hidden.mean(0)) / spread).tanh() @ weights["c"]


def compared(weights, inputs):
    return forward(weights, inputs) * (1 + 1e-3 * (inputs == inputs.amax(0)).any(-1))


@pytest.mark.parametrize("mixing", [centred, normed, compared])
@pytest.mark.parametrize("memory", [2**30, 3e3])  # all inputs at once, and one by one
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_outputs_that_depend_on_the_batch_are_refused(mixing, memory, dtype):
    weights, x = model(dtype=dtype), normal(12, 3, seed=7, dtype=dtype)
    loss = SquaredLoss(mixing, x, mixing(weights, x))
    message = (
        "its own input alone, .* by itself and .* among the others; for a trace use method='ex"
    )
    for draws in (None, 2):
        with pytest.raises(ValueError, match=message):
            hessian_trace(loss, weights, draws=draws, memory=memory)
    with pytest.raises(ValueError, match=message):
        gradients(mixing, weights, x, memory=memory)
    assert hessian_trace(loss, weights, "exact").value.isfinite()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("width", [4, 300])
def test_rounding_that_depends_on_the_batch_is_let_through(dtype, width):
    """Outputs are differences of numbers 1e6 times as large, so that rounding is most of them."""
    weights = {"a": normal(width, 64, dtype=dtype), "c": normal(64, seed=1, dtype=dtype)}
    x = normal(700, width, seed=2, dtype=dtype)

    def cancelling(weights, inputs):
        hidden = 1e6 * (inputs @ weights["a"])
        return ((hidden + inputs[:, :1]) - hidden) @ weights["c"]

    loss = SquaredLoss(cancelling, x, torch.zeros(700, dtype=dtype))
    assert hessian_trace(loss, weights).value.isfinite()


def test_outputs_that_are_not_numbers_are_no_sign_of_a_batch():
    weights, x = model(), normal(5, 3)
    x[1] = torch.nan
    assert hessian_trace(SquaredLoss(forward, x, torch.zeros(5)), weights).value.isnan()


@pytest.mark.parametrize("method", METHODS)
def test_the_name_of_a_weight_is_no_pattern(method):
    def loss(weights):
        return 3 * weights["h[0]"].square().sum() + 20 * weights["h0"].square().sum()

    weights = {name: torch.ones(2, dtype=torch.float64) for name in ("h[0]", "h0")}
    if method == "gauss_newton":
        loss = SquaredLoss(
            lambda w, x: x @ (w["h[0]"] + 2 * w["h0"]), torch.eye(2).double(), torch.zeros(2)
        )
    one, other = (12, 80) if method != "gauss_newton" else (2, 8)
    options = {"draws": 40, "generator": seeded()}
    for choice, wanted in (
        ({"only": "h[0]"}, one),
        ({"only": ["h[0]", "h0"]}, one + other),
        ({"without": "h[0]"}, other),
        ({"only": "h[0-9]"}, other),
    ):
        found = hessian_trace(loss, weights, method, **options, **choice)
        assert float(found) == pytest.approx(wanted, rel=1e-5)


def test_the_residual_of_one_weight_is_not_that_of_another():
    x = normal(4, 3)

    def output(weights, inputs):
        return (inputs @ weights["h[0]"]) ** 2 + 5 * (inputs @ weights["h0"]) ** 2

    weights = {"h[0]": normal(3, seed=1), "h0": normal(3, seed=2)}
    loss = SquaredLoss(output, x, torch.zeros(4))
    options = {"draws": 3000, "generator": seeded(), "only": "h[0]"}
    found, exact = (
        hessian_trace(loss, weights, **options),
        hessian_trace(loss, weights, "exact", only="h[0]"),
    )
    assert abs(float(found) + found.residual - float(exact)) <= 5 * found.residual_stderr


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_kept(dtype):
    loss, weights = tanh_loss(), model()
    narrow = SquaredLoss(forward, loss.inputs.to(dtype), loss.targets.to(dtype))
    exact = float(hessian_trace(loss, weights, "exact"))
    scale = sum(abs(v.item()) for v in dense_blocks(loss, weights).values())
    weights = {k: v.to(dtype) for k, v in weights.items()}
    found = hessian_trace(narrow, weights, "hutchinson", draws=90, generator=seeded())
    assert found.value.dtype == found.stderr.dtype == dtype
    slack = 5 * found.stderr.item() + 8 * torch.finfo(dtype).eps * scale
    assert abs(float(found) - exact) <= slack
