"""Training a stack of models is training each of them."""

import math

import pytest
import torch

from helpers.training import train

STEP = {"learning_rate": 0.02, "weight_decay": 0.1, "check_every": 5}


def forward(weights, inputs):
    hidden = (inputs @ weights["a"] + weights["b"].unsqueeze(-2)).tanh()
    return (hidden @ weights["c"].unsqueeze(-1)).squeeze(-1)


def start(E, seed=0):
    g = torch.Generator().manual_seed(seed)
    shapes = {"a": (3, 4), "b": (4,), "c": (4,)}
    return {k: torch.randn(E, *shape, generator=g) / 2 for k, shape in shapes.items()}


def stream(E, inspect=lambda models: None):
    """Batches whose rows depend on the model and on how often it was asked, on nothing else."""
    generators = [torch.Generator().manual_seed(100 + e) for e in range(E)]

    def batch(models):
        inspect(models)
        inputs = torch.stack([torch.randn(16, 3, generator=generators[m]) for m in models.tolist()])
        return inputs, inputs[..., 0] * (0.2 + models[:, None])

    return batch


def alone(e, batch):
    """Batches for the e-th model by itself."""
    return lambda models: batch(torch.tensor([e]))


def test_a_stack_trains_each_model_as_if_it_were_alone():
    E, options = 3, STEP | {"steps": 60, "threshold": 0.05}
    together = train(forward, start(E), stream(E), **options)
    assert together.finished.any()
    assert len(together.steps.unique()) > 1  # so some models left the stack before others
    for e in range(E):
        one = {k: v[e : e + 1] for k, v in start(E).items()}
        single = train(forward, one, alone(e, stream(E)), **options)
        assert single.steps.item() == together.steps[e].item()
        for name, value in single.weights.items():
            torch.testing.assert_close(together.weights[name][e], value[0], rtol=1e-4, atol=1e-5)


def test_a_step_is_adamw():
    weights = {k: v[0].clone().requires_grad_() for k, v in start(1).items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=0.02, weight_decay=0.1)
    batch = stream(1)
    for _ in range(12):
        inputs, targets = batch(torch.tensor([0]))
        optimizer.zero_grad()
        (forward(weights, inputs[0]) - targets[0]).square().mean().backward()
        optimizer.step()
    found = train(forward, start(1), stream(1), steps=12, **STEP).weights
    for name, value in weights.items():
        torch.testing.assert_close(found[name][0], value.detach(), rtol=1e-5, atol=1e-6)


def test_a_finished_model_is_left_as_it_is_and_asked_for_no_more():
    asked = []
    batch = stream(2, lambda models: asked.append(models.tolist()))
    seen = {}

    def evaluate(weights, models):
        seen[len(asked)] = {k: v.detach().clone() for k, v in weights.items()}
        return torch.where(models == 1, 0.0 if len(asked) >= 10 else 1.0, 1.0)

    out = train(forward, start(2), batch, steps=20, threshold=0.5, evaluate=evaluate, **STEP)
    assert out.steps.tolist() == [20, 10]
    assert out.finished.tolist() == [False, True]
    assert asked == [[0, 1]] * 10 + [[0]] * 10
    assert out.checks == [5, 10, 15, 20]
    assert out.losses[:, 0].tolist() == [1.0] * 4
    assert out.losses[:2, 1].tolist() == [1.0, 0.0]
    assert out.losses[2:, 1].isnan().all()
    for name in out.weights:
        assert torch.equal(out.weights[name][1], seen[10][name][1])
        assert torch.equal(out.weights[name][0], seen[20][name][0])


def test_training_ends_when_every_model_has_finished():
    def evaluate(weights, models):
        return torch.zeros(len(models))

    out = train(forward, start(3), stream(3), steps=50, threshold=0.1, evaluate=evaluate, **STEP)
    assert out.steps.tolist() == [5, 5, 5]
    assert out.checks == [5]


def test_without_an_evaluation_the_mean_training_loss_is_compared():
    losses = []

    def watched(weights, inputs):
        found = forward(weights, inputs)
        losses.append(found.detach())
        return found

    out = train(watched, start(1), stream(1), steps=10, **STEP)
    batch = stream(1)
    targets = [batch(torch.tensor([0]))[1] for _ in range(10)]
    errors = [(p - y).square().mean().item() for p, y in zip(losses, targets, strict=True)]
    expected = [sum(errors[:5]) / 5, sum(errors[5:]) / 5]
    assert out.losses[:, 0].tolist() == pytest.approx(expected, rel=1e-5)


def test_the_last_steps_are_compared_too():
    out = train(forward, start(1), stream(1), steps=7, **STEP)
    assert out.checks == [5, 7]
    assert out.steps.tolist() == [7]


def test_the_initial_weights_and_unused_ones_stay():
    weights = start(2) | {"unused": torch.ones(2, 3)}
    before = {k: v.clone() for k, v in weights.items()}
    out = train(forward, weights, stream(2), steps=6, threshold=100.0, **STEP)
    assert all(torch.equal(weights[k], before[k]) for k in weights)
    assert torch.equal(out.weights["unused"], before["unused"])
    assert not torch.equal(out.weights["a"], before["a"])


@pytest.mark.parametrize(("broken_from", "before"), [(1, "none"), (4, r"\d.*")])
def test_a_loss_that_is_not_finite_names_model_step_and_last_loss(broken_from, before):
    calls = []
    clean = stream(3)

    def batch(models):
        calls.append(1)
        inputs, targets = clean(models)
        targets[1] = math.nan if len(calls) >= broken_from else targets[1]
        return inputs, targets

    words = rf"model 1: the loss is nan at step {broken_from}; the last finite one was {before}"
    with pytest.raises(ArithmeticError, match=words):
        train(forward, start(3), batch, steps=10, **STEP)


def test_the_model_named_is_the_one_in_the_whole_stack():
    def batch(models):
        inputs, targets = stream(3)(models)
        return inputs, targets if 0 in models else targets * math.inf

    def evaluate(weights, models):
        return models.float()

    with pytest.raises(ArithmeticError, match="model 1: the loss is inf at step 6"):
        train(forward, start(3), batch, steps=9, threshold=0.5, evaluate=evaluate, **STEP)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"check_every": 0}, "check_every must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive and finite, got 0"),
        ({"learning_rate": math.nan}, "learning_rate must be positive and finite, got nan"),
        ({"weight_decay": -1.0}, "weight_decay must be finite and at least 0, got -1"),
        ({"threshold": math.inf}, "threshold must be finite and at least 0, got inf"),
    ],
)
def test_bad_numbers_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        train(forward, start(1), stream(1), **({"steps": 1} | STEP | change))


@pytest.mark.parametrize("bad", [{}, {"a": torch.zeros(2, 3), "b": torch.zeros(3)}])
def test_weights_without_one_leading_axis_are_named(bad):
    with pytest.raises(ValueError, match="share one leading axis"):
        train(forward, bad, stream(1), steps=1, **STEP)
