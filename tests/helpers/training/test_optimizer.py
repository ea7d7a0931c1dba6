"""Stacked AdamW is torch's AdamW on each model."""

import math

import pytest
import torch

from helpers.training.optimizer import StackedAdamW

E, STEPS = 3, 20
RATES = torch.tensor([0.02, 0.003, 0.05])
DECAYS = torch.tensor([0.1, 0.0, 0.4])


def weights(dtype=torch.float64):
    g = torch.Generator().manual_seed(0)
    shapes = {"a": (3, 4), "b": (4,), "c": ()}
    return {k: torch.randn(E, *shape, generator=g, dtype=dtype) for k, shape in shapes.items()}


def gradients(step):
    """Of models with gradients of very different sizes; not all lie in memory row by row."""
    g = torch.Generator().manual_seed(1 + step)
    size = torch.tensor([1.0, 30.0, 0.02], dtype=torch.float64)
    a = torch.randn(4, 3, E, generator=g, dtype=torch.float64).permute(2, 1, 0)
    b = torch.randn(E, 1, generator=g, dtype=torch.float64).expand(E, 4)
    c = torch.randn(E, generator=g, dtype=torch.float64)
    return {"a": a * size[:, None, None], "b": (b[:, :1] * size[:, None]).expand(E, 4), "c": c}


def stacked(start, steps=STEPS, schedule=lambda step: 1.0, **options):
    optimizer = StackedAdamW(start, **options)
    for step in range(1, steps + 1):
        found = gradients(step)
        optimizer.step([found[k] for k in optimizer.moving], schedule(step))
    return optimizer


def one_by_one(
    e, learning_rate, weight_decay=0.01, rate_of=None, schedule=lambda step: 1.0, clip=None,
    betas=(0.9, 0.999), eps=1e-8,
):  # fmt: skip
    """The e-th model by torch's own AdamW, its plainest form."""
    rates = [torch.as_tensor(v, dtype=torch.float64) for v in (learning_rate, weight_decay)]
    lr, decay = (rate.expand(E)[e].item() for rate in rates)
    alone = {k: v[e].clone().requires_grad_() for k, v in weights().items()}
    factors = {k: (rate_of or {}).get(k, 1.0) for k in alone}
    moving = [k for k in alone if factors[k]]
    groups = [{"params": [alone[k]], "lr": lr * factors[k]} for k in moving]
    optimizer = torch.optim.AdamW(
        groups, weight_decay=decay, betas=betas, eps=eps, foreach=False, fused=False
    )
    for step in range(1, STEPS + 1):
        for k in moving:
            alone[k].grad = gradients(step)[k][e].clone()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([alone[k] for k in moving], clip)
        for group, k in zip(optimizer.param_groups, moving, strict=True):
            group["lr"] = lr * factors[k] * schedule(step)
        optimizer.step()
    return {k: v.detach() for k, v in alone.items()}


@pytest.mark.parametrize(
    "options",
    [
        {"learning_rate": 0.02, "weight_decay": 0.1},
        {"learning_rate": torch.full((E,), 0.02), "weight_decay": 0.1},
        {"learning_rate": RATES, "weight_decay": DECAYS},
        {"learning_rate": RATES},
        {"learning_rate": 0.02, "weight_decay": DECAYS},
        {"learning_rate": 0.02, "rate_of": {"a": 0.1, "c": 2.0}},
        {"learning_rate": RATES, "weight_decay": DECAYS, "rate_of": {"a": 0.1, "b": 0}},
        {"learning_rate": 0.02, "betas": (0.5, 0.9), "eps": 0.1},
        {"learning_rate": 0.02, "betas": (0.0, 0.9)},
        {"learning_rate": 0.02, "clip": 3.0},
        {"learning_rate": RATES, "clip": 3.0, "rate_of": {"b": 0}},
        {"learning_rate": 0.02, "schedule": lambda step: min(step / 5, 1)},
        {"learning_rate": RATES, "schedule": lambda step: math.cos(step / STEPS)},
    ],
    ids=lambda options: "-".join(options),
)
def test_each_model_moves_as_torch_moves_it_alone(options):
    start = weights()
    options = {k: v.double() if isinstance(v, torch.Tensor) else v for k, v in options.items()}
    found = stacked(start, **options).weights
    for e in range(E):
        for name, expected in one_by_one(e, **options).items():
            # A step makes a few roundings of at most 2e-16, relative to weights of about 1.
            torch.testing.assert_close(found[name][e], expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("learning_rate", [0.02, RATES])
def test_a_weight_with_rate_zero_keeps_its_bits_and_is_asked_no_gradient(learning_rate):
    start = weights()
    optimizer = stacked(start, learning_rate=learning_rate, weight_decay=0.5, rate_of={"b": 0})
    assert optimizer.moving == ["a", "c"]
    assert torch.equal(optimizer.weights["b"], weights()["b"])
    assert not torch.equal(optimizer.weights["a"], weights()["a"])


@pytest.mark.parametrize("learning_rate", [0.02, RATES])
def test_a_weight_without_gradient_waits_and_its_clock_too(learning_rate):
    late = StackedAdamW(weights(), learning_rate, 0.3)
    for step in range(1, 4):
        late.step([gradients(step)["a"], gradients(step)["b"], None])
    assert torch.equal(late.weights["c"], weights()["c"])
    new = StackedAdamW(weights(), learning_rate, 0.3)
    for optimizer in (late, new):
        optimizer.step([None, None, gradients(9)["c"]])
    assert torch.equal(late.weights["c"], new.weights["c"])
    assert not torch.equal(new.weights["c"], weights()["c"])


@pytest.mark.parametrize("learning_rate", [0.02, RATES])
def test_the_models_kept_go_on_as_before(learning_rate):
    kept = torch.tensor([True, False, True])
    whole = stacked(weights(), 5, learning_rate=learning_rate, weight_decay=DECAYS, clip=2.0)
    part = stacked(weights(), 5, learning_rate=learning_rate, weight_decay=DECAYS, clip=2.0)
    part.keep(kept)
    for step in range(6, 12):
        found = gradients(step).values()
        whole.step(list(found))
        part.step([g[kept] for g in found])
    for name in part.weights:
        expected = whole.weights[name][kept]
        torch.testing.assert_close(part.weights[name], expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("learning_rate", [0.02, RATES])
def test_a_restored_state_goes_on_with_the_same_bits(learning_rate):
    one = stacked(weights(), 5, learning_rate=learning_rate)
    saved = {k: {n: t.clone() for n, t in v.items()} for k, v in one.state().items()}
    other = StackedAdamW(weights(), learning_rate)
    other.restore(saved)
    for step in (6, 7):
        one.step(list(gradients(step).values()))
        other.step(list(gradients(step).values()))
    assert all(torch.equal(one.weights[k], other.weights[k]) for k in one.weights)


def test_weights_of_32_bits_follow_those_of_64():
    single = {k: v.float() for k, v in weights().items()}
    options = {"learning_rate": RATES, "weight_decay": DECAYS}
    optimizer = StackedAdamW(single, **options)
    for step in range(1, STEPS + 1):
        optimizer.step([g.float() for g in gradients(step).values()])
    expected = stacked(weights(), **options).weights
    for name, tensor in optimizer.weights.items():
        assert tensor.dtype == torch.float32
        # 20 steps, each of a few roundings of 6e-8.
        torch.testing.assert_close(tensor.double(), expected[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be positive and finite, got 0"),
        ({"learning_rate": torch.tensor([0.1, -1.0, 0.1])}, "learning_rate must be positive"),
        ({"learning_rate": torch.ones(2)}, r"a number or of shape \(3,\), got \(2,\)"),
        ({"weight_decay": torch.tensor([0.1, math.nan, 0])}, "weight_decay must be finite"),
        ({"betas": (0.9, 1.0)}, r"betas must be two numbers in \[0, 1\), got \(0.9, 1.0\)"),
        ({"betas": (-0.5, 0.9)}, r"betas must be two numbers in \[0, 1\), got \(-0.5, 0.9\)"),
        ({"betas": (0.9, 0.99, 0.5)}, "betas must be two numbers"),
        ({"betas": (0.9,)}, "betas must be two numbers"),
        ({"eps": 0.0}, "eps must be positive and finite, got 0"),
        ({"clip": 0.0}, "clip must be positive and finite, got 0"),
        ({"rate_of": {"q": 1.0}}, r"rate_of names \['q'\]; the weights are \['a', 'b', 'c'\]"),
        ({"rate_of": {"a": -1.0}}, r"rate_of\['a'\] must be finite and at least 0, got -1"),
        ({"rate_of": {"a": math.inf}}, r"rate_of\['a'\] must be finite and at least 0, got inf"),
        ({"rate_of": dict.fromkeys("abc", 0.0)}, "rate_of freezes every weight"),
    ],
)
def test_bad_settings_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        StackedAdamW(weights(), **({"learning_rate": 0.1} | options))
