"""Sparse majority: the task, the start, the compiled steps against the plain model, bad input."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch.nn import functional

from helpers.statistics import slope
from helpers.training.checkpoints import CheckpointError
from papers.lengthfree import majority_steps as steps
from papers.lengthfree import majority_task as task


def loss_of(weights, run, chosen):
    logits = task.outputs(weights, run.rows(run.bits[chosen]))
    labels = functional.one_hot(run.labels[chosen], 2).double()
    return functional.binary_cross_entropy_with_logits(logits, labels), logits


@pytest.mark.parametrize("s", [1, 2, 3, 5])
def test_the_majority_is_more_than_half(s):
    bits = torch.cartesian_prod(*[torch.arange(2)] * s).reshape(-1, s)
    assert task.majority(bits).tolist() == [int(sum(row) > s / 2) for row in bits.tolist()]


def test_places_are_sines_in_even_columns_and_cosines_in_odd_ones():
    found = task.places(7, width=6)
    assert found.shape == (8, 6)
    for j, i in ((0, 0), (3, 2), (7, 5), (5, 1)):
        angle = j / 10000 ** (i / 6)
        expected = math.cos(angle) if i % 2 else math.sin(angle)
        assert found[j, i].item() == pytest.approx(expected, rel=1e-12)


def test_the_three_vectors_are_orthogonal_and_have_1_norm_1():
    rows = task.tokens(torch.Generator().manual_seed(0))
    assert torch.allclose(rows.abs().sum(1), torch.ones(3).double())
    gram = rows @ rows.mT
    assert torch.allclose(gram, gram.diag().diag(), atol=1e-15)


def test_the_start_is_that_of_keras():
    weights = task.initial_weights(torch.Generator().manual_seed(0))
    assert tuple(weights) == task.LEARNED
    limits = {"query": 4224, "key": 4224, "value": 4224, "project": 256, "dense": 128}
    for name, fans in limits.items():
        limit = math.sqrt(6 / fans)
        assert 0.99 * limit < weights[name].abs().max() <= limit
    assert weights["readout"].std().item() == pytest.approx(0.05, rel=0.2)
    assert not any(v.any() for name, v in weights.items() if name.endswith("bias"))


@pytest.fixture
def moved():
    """A run whose weights, biases too, are away from the start."""
    run = task.Run(12, 3, samples=40, validation=60)
    run.flat += 0.03 * np.random.default_rng(0).standard_normal(len(run.flat)).astype("float32")
    return run


def test_the_compiled_gradient_is_that_of_the_plain_model(moved):
    weights = {name: v.requires_grad_() for name, v in moved.weights().items()}
    loss, logits = loss_of(weights, moved, slice(0, 40))
    slopes = torch.autograd.grad(loss, list(weights.values()))
    by_name = dict(zip(weights, slopes, strict=True))
    found = np.full_like(moved.flat, np.nan)
    right = steps.gradient(moved.flat, found, *moved.fit, *moved.table)
    np.testing.assert_allclose(found, moved.flattened(by_name), rtol=1e-4, atol=1e-6)
    assert right == (logits.argmax(-1) == moved.labels[:40]).sum()
    for name in ("query", "key", "value"):  # no slope where no token points
        outside = by_name[name] - moved.basis.mT @ (moved.basis @ by_name[name])
        assert outside.abs().max() < 1e-6 * by_name[name].abs().max()


def test_the_compiled_loss_is_that_of_the_plain_model(moved):
    loss, logits = loss_of(moved.weights(), moved, slice(0, 40))
    found, accuracy = steps.measure(moved.flat, *moved.fit, *moved.table)
    assert found == pytest.approx(loss.item(), rel=1e-5)
    assert accuracy == (logits.argmax(-1) == moved.labels[:40]).double().mean()


def test_scores_of_several_hundred_do_not_overflow(moved):
    grown = {k: v * (60 if k in ("query", "key") else 1) for k, v in moved.weights().items()}
    asks = (moved.at[-1:] + moved.given[2:]) @ grown["query"] + grown["query_bias"]
    scores = torch.stack([moved.at[:-1], moved.at[:-1] + moved.given[:1]]) @ grown["key"] * asks
    by_head = scores.unflatten(-1, (task.HEADS, -1)).sum(-1) / math.sqrt(task.HEAD_WIDTH)
    assert (by_head.amax((0, 1)) - by_head.amin((0, 1))).max() > 100  # e^100 is infinite in float32
    moved.flat = moved.flattened(grown)
    loss, _ = loss_of(moved.weights(), moved, slice(0, 40))
    found, _ = steps.measure(moved.flat, *moved.fit, *moved.table)
    assert found == pytest.approx(loss.item(), rel=1e-3)


def test_an_epoch_is_gradient_descent_with_momentum_at_a_falling_rate():
    run = task.Run(10, 0, samples=300, validation=5)
    weights = {n: v.clone().requires_grad_() for n, v in run.weights().items()}
    speed = {n: torch.zeros_like(v) for n, v in weights.items()}
    orders = np.stack([np.arange(300), np.arange(299, -1, -1)])
    for epoch, order in enumerate(orders):
        for chosen in np.split(order, [128, 256]):
            loss, _ = loss_of(weights, run, torch.from_numpy(chosen))
            slopes = torch.autograd.grad(loss, list(weights.values()))
            with torch.no_grad():
                for (name, w), g in zip(weights.items(), slopes, strict=True):
                    speed[name] = 0.9 * speed[name] - 0.01 * 0.999 ** (epoch + 1) * g
                    w += speed[name]
    done, stopped = steps.epochs(run.flat, run.speed, *run.fit, orders, 0, 0.999, *run.table)
    assert (done, stopped) == (2, False)
    expected = run.flattened({n: w.detach() for n, w in weights.items()})
    np.testing.assert_allclose(run.flat, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.speed, run.flattened(speed), rtol=1e-3, atol=1e-7)


def test_the_rate_ends_at_its_least():
    run = task.Run(10, 0, samples=20, validation=5)
    before, g = run.flat.copy(), np.empty_like(run.flat)
    steps.gradient(run.flat, g, *run.fit, *run.table)
    steps.epochs(run.flat, run.speed, *run.fit, np.arange(20)[None], 10**5, 0.999, *run.table)
    np.testing.assert_allclose(run.flat, before - np.float32(0.001) * g, rtol=0, atol=1e-7)


def test_training_stops_when_every_string_is_right_and_keeps_the_best_look(tmp_path):
    run = task.Run(9, 1, samples=6, validation=50)
    run.train(60000, look_every=50)
    assert run.stopped
    assert run.epoch < 60000
    assert run.epoch == run.history[-1][0]
    epoch, loss, training = min(run.history, key=lambda look: look[1])
    best = run.best
    assert (best["epoch"], best["loss"], best["training"]) == (epoch, loss, training)
    assert best["gap"] == loss - training
    assert best["size"] == pytest.approx(task.size(run.weights(best=True)), rel=1e-12)
    assert loss_of(run.weights(best=True), run, slice(6, 56))[0].item() == pytest.approx(
        loss, rel=1e-4
    )
    was = run.epoch
    run.train(10**6, look_every=50)
    assert run.epoch == was


def test_a_run_goes_on_from_its_file(tmp_path):
    path = tmp_path / "run.pt"
    whole, first, second = (task.Run(10, 2, samples=30, validation=40) for _ in range(3))
    whole.train(60, 20)
    first.train(20, 20, path)
    second.train(60, 20, path)
    assert np.array_equal(whole.flat, second.flat)
    assert whole.history == second.history
    assert whole.best == second.best
    with pytest.raises(CheckpointError, match="seed"):
        task.Run(10, 3, samples=30, validation=40).train(60, 20, path)


def test_a_run_goes_on_only_if_its_last_training_loss_comes_out_again(tmp_path):
    path = tmp_path / "run.pt"
    run, again = (task.Run(10, 2, samples=30, validation=40) for _ in range(2))
    run.train(40, 20)
    epoch, loss, training = run.history[-1]
    assert abs(run.history[0][2] - training) > 0.005
    run.history[-1] = [epoch, loss, training + 0.0008]
    run.save(path)
    again.restore(path)
    assert again.history == run.history
    assert np.array_equal(again.flat, run.flat)
    run.history[-1] = [epoch, loss, training + 0.0012]
    run.save(path)
    with pytest.raises(CheckpointError, match=r"run\.pt was written in another basis"):
        again.restore(path)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: task.majority(torch.empty(3, 0, dtype=torch.int64)), "at least 1 bit"),
        (lambda: task.majority(torch.tensor(1)), r"at least 1 bit, got shape \(\)"),
        (lambda: task.majority(torch.tensor([0, 2])), "got 2"),
        (lambda: task.Run(8, 0), "at least that, got 8"),
        (lambda: task.Run(9, 0, samples=0), "samples must be at least 1"),
        (lambda: task.Run(9, 0, validation=10).train(150), "multiple of 100, got 150"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
    with pytest.raises(TypeError, match="bits must be integer or bool"):
        task.majority(torch.tensor([0.5]))


def test_the_model_has_the_sizes_and_the_start_of_the_authors_program():
    """Width 64, two heads of 64, nine hidden bits; Keras' Glorot limits, fans by its rule."""
    weights = task.initial_weights(torch.Generator().manual_seed(0))
    glorot = {"query": (64, 128, 64 * 2, 64 * 64), "project": (128, 64, 2 * 64, 2 * 64)}
    for name, (rows, columns, fan_in, fan_out) in glorot.items():
        limit = math.sqrt(6 / (fan_in + fan_out))
        found = weights[name]
        assert found.shape == (rows, columns)
        assert 0.999 * limit < found.abs().max() <= limit
    assert weights["dense"].shape == (64, 64)
    assert 0.99 * math.sqrt(6 / 128) < weights["dense"].abs().max() <= math.sqrt(6 / 128)
    assert weights["readout"].shape == (64, 2)
    assert weights["readout"].std().item() == pytest.approx(0.05, rel=5 / math.sqrt(2 * 128))
    with pytest.raises(ValueError, match="9 bits are hidden, so T must be at least that, got 8"):
        task.Run(8, 0)


def test_a_detectable_trend_is_found_as_often_as_it_says():
    points, trials = 10, 20_000
    x = torch.arange(points, dtype=torch.float64)
    shift = task.detectable_trend(points)
    noise = torch.randn(trials, points, generator=torch.Generator().manual_seed(3)).double()
    y = noise + shift * x / (x - x.mean()).norm()
    b = slope(x, y)
    left = y - y.mean(-1, keepdim=True) - b[:, None] * (x - x.mean())
    error = (left.square().sum(-1) / (points - 2)).sqrt() / (x - x.mean()).norm()
    found = (b / error).abs() > stats.t.ppf(0.975, points - 2)
    assert abs(found.double().mean().item() - 0.8) < 5 * (0.16 / trials) ** 0.5
    assert task.detectable_trend(10**6) == pytest.approx(1.95996 + 0.84162, abs=1e-4)
    with pytest.raises(ValueError, match="needs 3 points"):
        task.detectable_trend(2)
    with pytest.raises(ValueError, match="a chance in"):
        task.detectable_trend(9, chance=0.01)
