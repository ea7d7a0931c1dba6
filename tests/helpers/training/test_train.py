"""Training a stack of models is training each of them."""

import inspect
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec, shapes
from helpers.training import checkpoints
from helpers.training.batches import fixed, fresh, spawn
from helpers.training.batches import whole as every_time
from helpers.training.checkpoints import CheckpointError, Paused
from helpers.training.train import DEVICE, cross_entropy, squared_error, train
from papers.sensitive import brittle
from papers.sharper import samples

STEP = {"learning_rate": 0.02, "weight_decay": 0.1, "check_every": 5}


@pytest.fixture(autouse=True)
def written_after_every_step(monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 0)


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


def test_a_threshold_of_zero_never_stops():
    def evaluate(weights, models):
        return torch.zeros(len(models))

    out = train(forward, start(2), stream(2), steps=10, evaluate=evaluate, **STEP)
    assert out.steps.tolist() == [10, 10]
    assert not out.finished.any()


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


def broken(batch, model, start):
    """The same batches, but one model's targets are NaN from some step on."""
    calls = []

    def changed(models):
        calls.append(1)
        inputs, targets = batch(models)
        targets[models == model] = math.nan if len(calls) >= start else 1.0
        return inputs, targets

    return changed


def same_bits(a, b):
    return torch.equal(a.nan_to_num(-1.0), b.nan_to_num(-1.0))


@pytest.mark.parametrize(("start_at", "before"), [(1, "none"), (4, r"\d.*")])
def test_a_failure_names_model_step_and_last_loss(start_at, before):
    words = rf"model 1: the loss is nan at step {start_at}; the last finite loss was {before}"
    batch = broken(stream(3), 1, start_at)
    with pytest.raises(ArithmeticError, match=words):
        train(forward, start(3), batch, steps=10, on_failure="raise", **STEP)


@pytest.mark.parametrize("at", [11, 13, 15])
def test_the_others_go_on_when_a_model_fails(at):
    batch = broken(stream(3), 1, at)
    losses = []

    def watched(outputs, targets):
        losses.append(squared_error(outputs, targets))
        return losses[-1]

    out = train(forward, start(3), batch, steps=20, loss=watched, **STEP)
    (failure,) = out.failed
    assert (failure.model, failure.step, failure.what) == (1, at, "the loss is nan")
    assert failure.last_loss == losses[at - 2][1].item()
    assert str(failure).startswith(
        f"model 1: the loss is nan at step {at}; the last finite loss was"
    )
    assert out.steps.tolist() == [20, 10, 20]
    assert out.finished.tolist() == [False] * 3
    assert out.losses.isnan().tolist() == [[False] * 3] * 2 + [[False, True, False]] * 2
    for e in (0, 2):
        one = {k: v[e : e + 1] for k, v in start(3).items()}
        single = train(forward, one, alone(e, stream(3)), steps=20, **STEP)
        for name, value in single.weights.items():
            torch.testing.assert_close(out.weights[name][e], value[0], rtol=1e-4, atol=1e-5)
    before = train(forward, start(3), broken(stream(3), 1, at), steps=10, **STEP)
    for name, value in before.weights.items():
        assert torch.equal(out.weights[name][1], value[1])


def test_a_failed_evaluation_is_a_failure_and_names_the_model_of_the_whole_stack():
    def evaluate(weights, models):
        found = torch.where(models == 0, 0.0, 1.0)
        return found if 0 in models else torch.where(models == 1, math.inf, found)

    options = {"steps": 15, "threshold": 0.5, "evaluate": evaluate} | STEP
    out = train(forward, start(3), stream(3), **options)
    assert out.steps.tolist() == [5, 5, 15]
    assert [(f.model, f.step, f.what) for f in out.failed] == [(1, 10, "the loss is inf")]
    assert out.losses[:, 1].isnan().tolist() == [False, True, True]
    with pytest.raises(ArithmeticError, match="model 1: the loss is inf at step 10"):
        train(forward, start(3), stream(3), on_failure="raise", **options)


def test_weights_that_break_at_the_last_step_are_a_failure():
    def rooted(weights, inputs):  # at 0 the loss is finite, its derivative is not
        return weights["w"].sqrt().unsqueeze(-1) * inputs

    def batch(models):
        return torch.ones(len(models), 4), torch.ones(len(models), 4)

    out = train(rooted, {"w": torch.tensor([1.0, 0.0])}, batch, steps=5, **STEP)
    (failure,) = out.failed
    assert (failure.model, failure.step, failure.last_loss) == (1, 2, 1.0)
    assert out.weights["w"][1] == 0
    out = train(rooted, {"w": torch.tensor([1.0, 0.0])}, batch, steps=1, **STEP)
    (failure,) = out.failed
    assert (failure.model, failure.step, failure.what) == (1, 1, "a weight is not finite")
    assert out.steps.tolist() == [1, 0]
    assert out.weights["w"][1] == 0


def test_when_every_model_fails_that_is_an_error():
    def batch(models):
        inputs, targets = stream(2)(models)
        return inputs, targets * math.nan

    with pytest.raises(ArithmeticError, match="all 2 models failed, first model 0: the loss"):
        train(forward, start(2), batch, steps=10, **STEP)


def test_rates_may_differ_from_model_to_model_and_from_weight_to_weight():
    rates, decays = torch.tensor([0.02, 0.1, 0.005]), torch.tensor([0.1, 0.0, 0.5])
    options = {"steps": 30, "check_every": 5, "clip": 0.5, "threshold": 0.05}
    options |= {"rate_of": {"a": 0.1, "b": 0}, "schedule": lambda step: min(1, step / 10)}
    together = train(
        forward, start(3), stream(3), learning_rate=rates, weight_decay=decays, **options
    )
    assert len(together.steps.unique()) > 1
    for e in range(3):
        one = {k: v[e : e + 1] for k, v in start(3).items()}
        rate, decay = rates[e].item(), decays[e].item()
        single = train(
            forward, one, alone(e, stream(3)), learning_rate=rate, weight_decay=decay, **options
        )
        assert single.steps.item() == together.steps[e].item()
        assert torch.equal(single.weights["b"], one["b"])
        for name, value in single.weights.items():
            torch.testing.assert_close(together.weights[name][e], value[0], rtol=1e-4, atol=1e-5)


def test_metrics_are_rows_with_nothing_for_the_models_gone():
    def slope(weights, models):
        def total(weights):
            return weights["a"].square().sum() / 2

        return torch.func.grad(total)(weights)["a"].flatten(1).norm(dim=1)

    def number(weights, models):
        assert not torch.is_grad_enabled()
        assert not any(v.requires_grad for v in weights.values())
        return models.double()

    def evaluate(weights, models):
        return torch.where(models == 1, 0.0, 1.0)

    metrics = {"slope": slope, "number": number}
    options = {"threshold": 0.5, "evaluate": evaluate, "metrics": metrics, "metrics_every": 4}
    out = train(forward, start(3), broken(stream(3), 2, 11), steps=16, **options, **STEP)
    assert out.metric_steps == [4, 8, 12, 16]
    gone = math.nan
    expected = [[0.0, 1, 2], [0, gone, 2], [0, gone, gone], [0, gone, gone]]
    assert same_bits(out.metrics["number"], torch.tensor(expected, dtype=torch.float64))
    last = out.weights["a"][0].norm().item()
    assert out.metrics["slope"][-1, 0].item() == pytest.approx(last, rel=1e-5)
    every = train(forward, start(1), stream(1), steps=12, metrics={"number": number}, **STEP)
    assert every.metric_steps == [5, 10]
    none = train(
        forward, start(2), stream(2), steps=3, metrics={"number": number}, metrics_every=4, **STEP
    )
    assert none.metrics["number"].shape == (0, 2)


def test_any_loss_may_be_minimised():
    def logits(weights, inputs):
        return inputs @ weights["w"]

    g = torch.Generator().manual_seed(0)
    weights = {"w": torch.randn(2, 3, 4, generator=g)}
    inputs = torch.randn(2, 16, 3, generator=g)
    targets = inputs.argmax(-1)

    def batch(models):
        return inputs[models], targets[models]

    out = train(logits, weights, batch, steps=12, loss=cross_entropy, **STEP)
    for e in range(2):
        w = weights["w"][e].clone().requires_grad_()
        optimizer = torch.optim.AdamW([w], lr=0.02, weight_decay=0.1)
        for _ in range(12):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(inputs[e] @ w, targets[e]).backward()
            optimizer.step()
        torch.testing.assert_close(out.weights["w"][e], w.detach(), rtol=1e-5, atol=1e-6)


def test_cross_entropy_is_the_mean_over_all_positions_of_each_model():
    g = torch.Generator().manual_seed(0)
    outputs = torch.randn(3, 5, 7, 4, generator=g)
    targets = torch.randint(4, (3, 5, 7), generator=g)
    expected = -outputs.log_softmax(-1).gather(-1, targets[..., None]).mean((1, 2, 3))
    torch.testing.assert_close(cross_entropy(outputs, targets), expected)


def test_the_same_call_ends_with_the_same_bits():
    one, other = (train(forward, start(3), stream(3), steps=23, **STEP) for _ in range(2))
    assert all(torch.equal(one.weights[k], other.weights[k]) for k in one.weights)
    assert same_bits(one.losses, other.losses)


def resumable(path=None, **changes):
    """A run in which one model finishes, one fails, and much is recorded on the way."""
    g = torch.Generator().manual_seed(5)
    inputs = torch.randn(4, 50, 3, generator=g)
    batch = fixed(inputs, inputs[..., 0] * 0.3, 16, spawn(4, g))
    options = {
        "steps": 60,
        "learning_rate": torch.tensor([0.02, 0.01, 1e30, 1e-3]),
        "weight_decay": 0.1,
        "clip": 1.0,
        "schedule": lambda step: min(1, step / 20),
        "check_every": 7,
        "threshold": 0.03,
        "metrics": {"size": lambda weights, models: weights["a"].flatten(1).norm(dim=1)},
        "metrics_every": 5,
        "checkpoint": path,
    }
    return train(changes.pop("forward", forward), start(4), batch, **(options | changes))


def killed(path, where):
    """The same run, whose process kills itself in a step, or in the middle of writing."""
    checkpoints.EVERY = 0  # of this process alone

    def last_words(calls=[]):  # noqa: B006
        calls.append(1)
        if len(calls) == 47:
            os.kill(os.getpid(), signal.SIGKILL)

    if where == "step":

        def stopping(weights, inputs):
            last_words()
            return forward(weights, inputs)

        resumable(path, forward=stopping)
    else:
        os.fsync = lambda file: last_words()
        resumable(path)


@pytest.mark.parametrize("where", ["step", "write"])
def test_a_killed_run_ends_with_the_bits_of_one_that_was_not(tmp_path, where):
    path = tmp_path / "run"
    code = f"from tests.helpers.training.test_train import killed; killed({str(path)!r}, {where!r})"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False
    )
    assert process.returncode == -signal.SIGKILL
    assert path.exists()
    assert len(list(tmp_path.iterdir())) == (1 if where == "step" else 2)
    for half in tmp_path.glob(".*"):
        os.utime(half, (0, 0))  # as an hour later
    steps_left = []

    def counted(weights, inputs):
        steps_left.append(1)
        return forward(weights, inputs)

    out, whole = resumable(path, forward=counted), resumable()
    assert len(steps_left) == 1 + (15 if where == "step" else 14)  # the first is not a step
    assert list(tmp_path.iterdir()) == [path]
    steps_left.clear()
    again = resumable(path, forward=counted)
    assert len(steps_left) == 1  # and the end is read, not trained for
    assert all(torch.equal(again.weights[k], out.weights[k]) for k in out.weights)
    assert same_bits(again.losses, out.losses)
    assert repr(again.failed) == repr(out.failed)
    assert [f.model for f in whole.failed] == [2]
    assert whole.finished.tolist() == [True, True, False, False]
    assert whole.failed[0].step < 45  # so both kinds had left the stack before the kill
    assert whole.steps[whole.finished].min() < 45
    assert repr(out.failed) == repr(whole.failed)
    assert out.checks == whole.checks
    assert out.metric_steps == whole.metric_steps
    for name in ("steps", "finished", "losses"):
        assert same_bits(getattr(out, name), getattr(whole, name))
    assert same_bits(out.metrics["size"], whole.metrics["size"])
    assert all(torch.equal(out.weights[k], whole.weights[k]) for k in out.weights)


class StoppedError(Exception):
    """A run was stopped from outside."""


def stopped(weights, inputs, calls=[]):  # noqa: B006
    calls.append(1)
    if len(calls) % 10 == 0:
        raise StoppedError
    return forward(weights, inputs)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 61}, "its steps is 60, here it is 61"),
        ({"check_every": 8}, "its check_every is 7, here it is 8"),
        ({"rate_of": {"a": 0.5}}, "its rate_of is"),
        ({"schedule": None}, "its schedule is"),
        ({"schedule": lambda step: 0.07 if step == 1 else min(1, step / 20)}, "its schedule is"),
        ({"schedule": lambda step: 0.9 if step == 60 else min(1, step / 20)}, "its schedule is"),
        ({"forward": lambda w, x: 1.1 * forward(w, x)}, "its model, loss or data differ"),
        ({"loss": lambda a, b: 2 * squared_error(a, b)}, "its model, loss or data differ"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path, change, words):
    path = tmp_path / "run"
    with pytest.raises(StoppedError):
        resumable(path, forward=stopped)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=words):
        resumable(path, **change)
    assert path.read_bytes() == before


def test_a_checkpoint_that_began_with_other_weights_is_refused(tmp_path):
    def run(seed, function):
        data = fresh(lambda m, B, g: (torch.ones(B, 3), torch.ones(B)), 4, spawn(2, generator))
        options = {"checkpoint": tmp_path / "run"} | STEP
        train(function, start(2, seed), data, steps=20, **options)

    generator = torch.Generator()
    with pytest.raises(StoppedError):
        run(0, stopped)
    with pytest.raises(CheckpointError, match="its initial weights is"):
        run(1, forward)


def test_a_checkpoint_is_written_no_more_often_than_once_in_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 1000)
    with pytest.raises(StoppedError):
        resumable(tmp_path / "run", forward=stopped)
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_time_is_up_is_written_and_goes_on(tmp_path, monkeypatch):
    path, whole = tmp_path / "run", resumable()
    monkeypatch.setattr(checkpoints, "EVERY", 1000)
    monkeypatch.setenv(checkpoints.DEADLINE, "0")
    for _ in range(3):  # each call takes a step, so that none is in vain
        with pytest.raises(Paused, match=f"time is up, {path} holds the run"):
            resumable(path)
    monkeypatch.setenv(checkpoints.DEADLINE, str(time.time() + 3600))
    steps = []

    def counted(weights, inputs):
        steps.append(1)
        return forward(weights, inputs)

    out = resumable(path, forward=counted)
    assert len(steps) == 1 + whole.checks[-1] - 3
    assert all(torch.equal(out.weights[k], whole.weights[k]) for k in out.weights)
    monkeypatch.setenv(checkpoints.DEADLINE, "0")
    assert resumable(path).checks == whole.checks, "a run at its end needs no time"
    assert resumable().checks == whole.checks, "a run without a file is never stopped"


class Both(NamedTuple):
    """Inputs of more than one tensor."""

    left: torch.Tensor
    rest: tuple[torch.Tensor, torch.Tensor]


def test_inputs_may_be_several_tensors():
    def split(models):
        inputs, targets = several(models)
        return Both(inputs, (inputs, targets)), targets

    def joined(weights, inputs):
        assert isinstance(inputs, Both)
        return forward(weights, (inputs.left + inputs.rest[0]) / 2)

    several = stream(2)
    out = train(joined, start(2), split, steps=10, **STEP)
    plain = train(forward, start(2), stream(2), steps=10, **STEP)
    assert all(torch.equal(out.weights[k], plain.weights[k]) for k in out.weights)


def test_batches_of_all_examples_can_be_taken_up(tmp_path, monkeypatch):
    g = torch.Generator().manual_seed(0)
    inputs, targets = torch.randn(8, 3, generator=g), torch.randn(4, 8, generator=g)
    batch = every_time(inputs, targets, shared=True)
    found, rows = batch(torch.tensor([2, 0]))
    assert torch.equal(found, inputs)
    assert torch.equal(rows, targets[[2, 0]])
    own = torch.randn(4, 8, 3, generator=g)
    found, rows = every_time(own, targets)(torch.tensor([2, 0]))
    assert torch.equal(found, own[[2, 0]])
    assert torch.equal(rows, targets[[2, 0]])
    monkeypatch.setenv(checkpoints.DEADLINE, "0")
    options = STEP | {"steps": 20, "checkpoint": tmp_path / "run"}
    with pytest.raises(Paused):
        train(forward, start(4), batch, **options)
    monkeypatch.delenv(checkpoints.DEADLINE)
    out = train(forward, start(4), batch, **options)
    alike = train(forward, start(4), batch, **(options | {"checkpoint": None}))
    assert all(torch.equal(out.weights[k], alike.weights[k]) for k in out.weights)
    with pytest.raises(ValueError, match=r"expected inputs \(N, ...\) and targets \(E, N, ...\)"):
        every_time(inputs, targets[:, :7], shared=True)
    with pytest.raises(
        ValueError, match=r"expected inputs \(E, N, ...\) and targets \(E, N, ...\)"
    ):
        every_time(inputs, targets)


def test_a_checkpoint_needs_batches_with_a_state(tmp_path):
    words = r"needs batches with state\(\) and restore\(\).*cannot be saved"
    with pytest.raises(ValueError, match=words):
        train(forward, start(1), stream(1), steps=5, checkpoint=tmp_path / "run", **STEP)


def test_a_schedule_is_asked_for_steps_of_its_run_alone(tmp_path):
    asked = set()
    batch = every_time(torch.ones(1, 4, 3), torch.ones(1, 4))
    options = {"schedule": lambda step: asked.add(step) or 1.0, "checkpoint": tmp_path / "run"}
    train(forward, start(1), batch, steps=5, **options, **STEP)
    assert asked == {1, 2, 3, 4, 5}


def test_the_bar_is_drawn_on_a_terminal_and_nowhere_else(capsys, monkeypatch):
    train(forward, start(2), stream(2), steps=10, **STEP)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    train(forward, start(2), stream(2), steps=10, threshold=100.0, **STEP)
    assert "failed=0, finished=2, training=0" in capsys.readouterr().err
    train(forward, start(2), stream(2), steps=10, progress=False, **STEP)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loss": lambda a, b: (a - b).square()}, r"loss must give one number a model, \(2,\)"),
        ({"evaluate": lambda w, m: torch.ones(3)}, r"evaluate must give .* got \(3,\)"),
        ({"metrics": {"odd": lambda w, m: torch.ones(())}}, r"odd must give .* got \(\)"),
        ({"schedule": lambda step: 3.0 - step}, r"schedule\(4\) must be finite and at least 0"),
        ({"schedule": lambda step: math.inf}, r"schedule\(1\) must be finite .* got inf"),
    ],
)
def test_functions_that_give_something_else_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        train(forward, start(2), stream(2), steps=9, **(STEP | change))


def test_outputs_that_would_broadcast_against_their_targets_are_refused():
    with pytest.raises(ValueError, match=r"outputs \(2, 4\) and targets \(2, 4, 1\) differ"):
        squared_error(torch.ones(2, 4), torch.ones(2, 4, 1))
    with pytest.raises(ValueError, match=r"logits \(2, 4, 3\) need targets \(2, 4\), got \(2,\)"):
        cross_entropy(torch.ones(2, 4, 3), torch.ones(2, dtype=torch.int64))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"check_every": 0}, "check_every must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive and finite, got 0"),
        ({"learning_rate": math.nan}, "learning_rate must be positive and finite, got nan"),
        ({"weight_decay": -1.0}, "weight_decay must be finite and at least 0, got -1"),
        ({"threshold": math.inf}, "threshold must be finite, got inf"),
        ({"metrics_every": 0}, "metrics_every must be at least 1, got 0"),
        ({"on_failure": "ignore"}, "on_failure is 'record' or 'raise', got 'ignore'"),
    ],
)
def test_bad_numbers_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        train(forward, start(1), stream(1), **({"steps": 1} | STEP | change))


@pytest.mark.parametrize(
    "bad", [{}, {"a": torch.zeros(0, 3)}, {"a": torch.zeros(2, 3), "b": torch.zeros(3)}]
)
def test_weights_without_one_leading_axis_are_named(bad):
    with pytest.raises(ValueError, match="share one leading axis"):
        train(forward, bad, stream(1), steps=1, **STEP)


def test_weights_of_whole_numbers_are_named():
    with pytest.raises(ValueError, match=r"must be floating, a is torch.int64"):
        train(forward, {"a": torch.ones(2, 3, dtype=torch.int64)}, stream(2), steps=1, **STEP)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("rate", [0.02, torch.tensor([0.02, 0.01, 0.005, 1e-3])])
def test_a_gpu_trains_what_the_processor_trains(tmp_path, rate):
    def run(where, path, function=forward, device=None):
        g = torch.Generator().manual_seed(5)
        inputs = torch.randn(4, 50, 3, generator=g).to(where)
        batch = fixed(inputs, inputs[..., 0] * 0.3, 16, spawn(4, g))
        weights = {k: v.to(where) for k, v in start(4).items()}
        options = STEP | {"learning_rate": rate, "clip": 1.0, "threshold": 0.05, "steps": 40}
        options |= {"checkpoint": path}
        options["device"] = device
        return train(function, weights, batch, **options)

    with pytest.raises(StoppedError):
        run("cuda", tmp_path / "run", stopped)
    there, here = run("cuda", tmp_path / "run"), run("cpu", tmp_path / "other")
    sent = run("cpu", tmp_path / "third", device="cuda")
    assert there.finished.any()
    assert there.steps.tolist() == here.steps.tolist() == sent.steps.tolist()
    for name, value in there.weights.items():
        assert value.is_cuda
        assert not sent.weights[name].is_cuda
        torch.testing.assert_close(value.cpu(), here.weights[name], rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(sent.weights[name], here.weights[name], rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize("named", ["by the call", "by the environment"])
def test_a_device_that_is_not_here_is_refused_before_a_step(monkeypatch, named):
    options = STEP | {"steps": 5}
    if named == "by the call":
        options["device"] = "cuda"
    else:
        monkeypatch.setenv(DEVICE, "cuda:1")
    with pytest.raises(ValueError, match=r"training on cuda.* and no GPU is here; use 'cpu'"):
        train(forward, start(2), stream(2, lambda models: pytest.fail("a step")), **options)


def test_a_checkpoint_that_could_not_be_written_is_refused_before_a_step(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "run"
    batch = every_time(torch.ones(2, 5, 3), torch.ones(2, 5))
    with pytest.raises(
        CheckpointError, match=r"file.run could not be written: .*(exists|directory)"
    ):
        train(
            lambda weights, inputs: pytest.fail("a step"),
            start(2),
            batch,
            **STEP | {"steps": 5, "checkpoint": path},
        )


def test_a_device_that_torch_does_not_know_is_named_with_where_it_was_said(monkeypatch):
    for options, words in (({"device": "gpu"}, "device 'gpu' is"), ({}, "BOOK_DEVICE 'zzz' is")):
        monkeypatch.setenv(DEVICE, "zzz")
        with pytest.raises(ValueError, match=f"{words} unknown to torch"):
            train(forward, start(2), stream(2), **STEP | {"steps": 5} | options)


MODELS = {
    "paper 1": lambda: samples.paper_spec(6),
    "paper 1, positions": lambda: samples.paper_spec(6, positional=True),
    "paper 2": lambda: brittle.spec(6, 16),
    "post-norm, output token": lambda: TransformerSpec(6, 16, heads=4, readout="cls"),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_of_a_gradient_is_on_the_device_of_the_weights(name, monkeypatch):
    """On the device without memory, which refuses tensors of another one as a GPU does."""
    monkeypatch.setattr(transformer, "readable", lambda tokens: False)
    spec, E = MODELS[name](), 3
    weights = {k: torch.empty(E, *s, device="meta") for k, s in shapes(spec).items()}
    for weight in weights.values():
        weight.requires_grad_()
    strings = torch.zeros(E, 32, spec.n, dtype=torch.int64, device="meta")
    outputs = transformer.forward(spec, weights, strings)
    losses = squared_error(outputs, torch.empty(E, 32, device="meta"))
    gradients = torch.autograd.grad(losses.sum(), list(weights.values()), allow_unused=True)
    assert all(g.is_meta for g in gradients if g is not None)
    assert sum(g is not None for g in gradients) > len(weights) / 2
    with pytest.raises(ValueError, match=r"two devices|same device|is not on the expected device"):
        transformer.forward(spec, weights, torch.zeros(E, 32, spec.n, dtype=torch.int64))


@pytest.mark.parametrize("name", ["weight_decay", "betas", "eps"])
def test_the_optimizer_is_set_as_torch_s_own_unless_told(name):
    ours, theirs = (inspect.signature(f).parameters[name] for f in (train, torch.optim.AdamW))
    assert ours.default == theirs.default
