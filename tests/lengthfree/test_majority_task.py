"""Sparse majority and its single attention layer."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.lengthfree import majority_task as task
from helpers.lengthfree import single_layer
from helpers.nets import transformer
from helpers.training.batches import fixed
from helpers.training.train import cross_entropy, train


def world(T=7, s=3, models=3, spread=1.0, **size):
    """A spec, weights away from their start, data sets and some of their strings, float64."""
    data = task.plant(T, s, list(range(models)))
    spec = task.probe(T, **{"width": 8, "heads": 2, "head_width": 4} | size)
    weights = task.start(spec, data)
    g = torch.Generator().manual_seed(1)
    moved = {k: v.double() for k, v in weights.items()}
    for name in moved.keys() - set(task.GIVEN):
        moved[name] += spread * torch.randn(moved[name].shape, generator=g, dtype=torch.float64)
    return spec, moved, data, data.sample(20)[0]


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12))
def test_a_majority_is_more_than_half(bits):
    assert task.majority(torch.tensor(bits)) == (sum(bits) > len(bits) / 2)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=11).filter(lambda b: len(b) % 2))
def test_an_odd_majority_changes_with_all_bits(bits):
    both = torch.tensor([bits, [1 - b for b in bits]])
    assert task.majority(both).sum() == 1


def test_labels_are_majorities_of_the_hidden_bits():
    data = task.plant(20, 9, [0, 1])
    bits, labels = data.sample(500)
    for e in range(2):
        ones = bits[e].long()[:, data.hidden[e]].sum(1)
        assert torch.equal(labels[e], (ones >= 5).long())
    # half of the labels are 1: 5 standard deviations of 1000 coins
    assert abs(labels.double().mean() - 0.5) < 5 * 0.5 / math.sqrt(1000)


def test_a_data_set_depends_on_its_own_seed_only():
    few, many = task.plant(12, 5, [3]), task.plant(12, 5, [8, 3])
    assert torch.equal(few.hidden[0], many.hidden[1])
    assert torch.equal(few.sample(4)[0][0], many.sample(4)[0][1])
    assert not torch.equal(many.hidden[0], many.hidden[1])


def test_hidden_positions_are_distinct_and_uniform():
    hidden = task.plant(10, 4, list(range(500))).hidden
    assert (hidden.diff(dim=1) > 0).all()
    counts = hidden.flatten().bincount(minlength=10).double() / 500
    # each place is hidden with chance 0.4; 5 standard deviations of 500 draws
    assert (counts - 0.4).abs().max() < 5 * math.sqrt(0.4 * 0.6 / 500)


def test_a_string_has_one_token_a_place_and_the_class_token():
    seen = task.indicators(torch.tensor([[0, 1, 1], [1, 0, 0]]))
    assert seen.tolist() == [[1, 0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 0, 0, 1]]


@settings(max_examples=20, deadline=None)
@given(T=st.integers(3, 12), heads=st.integers(1, 3), spread=st.sampled_from([0.1, 0.5]))
def test_the_ratio_is_the_transformer(T, heads, spread):
    spec, weights, _, bits = world(T, 3, 2, spread, heads=heads, head_width=3)
    found = task.forward(spec, weights, task.indicators(bits))
    expected = transformer.forward(spec, weights, bits, form="plain")
    assert found.shape == (2, 20, 2)
    # sums of a few hundred products in float64
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_gradients_are_those_of_the_transformer():
    spec, weights, data, bits = world(spread=0.3)
    _, labels = data.sample(20)
    for value in weights.values():
        value.requires_grad_()
    outputs = (
        task.forward(spec, weights, task.indicators(bits)),
        transformer.forward(spec, weights, bits, form="plain"),
    )
    leaves = [weights[k] for k in weights if k != "layers.0.key_bias"]
    short, plain = (torch.autograd.grad(cross_entropy(o, labels).sum(), leaves) for o in outputs)
    for a, b in zip(short, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)


def test_models_of_a_stack_do_not_see_each_other():
    spec, weights, _, bits = world()
    together = task.forward(spec, weights, task.indicators(bits))
    for e in range(3):
        alone = task.forward(spec, {k: v[e] for k, v in weights.items()}, task.indicators(bits[e]))
        torch.testing.assert_close(alone, together[e], rtol=1e-12, atol=1e-12)


def test_the_start_has_orthogonal_tokens_and_the_class_token_at_place_zero():
    data = task.plant(9, 3, [0, 1])
    spec = task.probe(9, width=16)
    weights = task.start(spec, data, token_norm=2.0)
    tokens = torch.cat((weights["embedding"], weights["cls"][:, None]), 1)
    gram = tokens @ tokens.mT
    torch.testing.assert_close(gram, 4 * torch.eye(3).expand_as(gram), rtol=0, atol=1e-5)
    place = weights["positions"][0]
    assert place[-1].tolist() == [0.0, 1.0] * 8
    for t in (1, 9):
        angles = t * 10000.0 ** -(torch.arange(0, 16, 2).double() / 16)
        torch.testing.assert_close(place[t - 1, ::2].double(), angles.sin(), rtol=0, atol=1e-6)
    random = task.start(spec, data, places="random")["positions"]
    torch.testing.assert_close(
        random.norm(dim=-1), torch.full((2, 10), math.sqrt(8)), rtol=1e-5, atol=0
    )


def test_the_residual_is_a_bias():
    spec, weights, _, bits = world()
    without = {k: v.clone() for k, v in weights.items()}
    cls = weights["cls"] + weights["positions"][:, -1]
    without["layers.0.project_bias"] -= cls
    change = task.forward(spec, weights, task.indicators(bits)) - task.forward(
        spec, without, task.indicators(bits)
    )
    expected = (cls[:, None] @ weights["readout"]).expand_as(change)
    torch.testing.assert_close(change, expected, rtol=1e-9, atol=1e-9)


def test_the_size_counts_what_is_learned():
    _, weights, _, _ = world()
    small = {k: v for k, v in weights.items() if k not in task.GIVEN}
    by_hand = [sum(v[e].abs().sum().item() for v in small.values()) for e in range(3)]
    torch.testing.assert_close(task.size(weights), torch.tensor(by_hand, dtype=torch.float64))


def test_norms_bound_the_margins_between_strings():
    """A margin less its constant is a sum over heads, none above its largest."""
    spec, weights, _, bits = world(spread=0.5)
    for e in range(3):
        one = {k: v[e] for k, v in weights.items()}
        logits = task.forward(spec, one, task.indicators(bits[e]))
        _, _, constant = task.token_tables(spec, one)
        margin = (logits - constant).diff(dim=-1).abs().max()
        assert 0 < margin <= spec.heads * task.margin_norms(spec, one).largest


def test_norms_are_those_of_heads_that_compute_the_margin():
    """One head without biases behind it is the layer of the paper's theorem."""
    spec, weights, _, bits = world(models=1, heads=1, head_width=6, spread=0.4)
    one = {k: v[0] for k, v in weights.items()}
    cls = one["cls"] + one["positions"][-1]
    tokens = one["embedding"][bits[0].long()] + one["positions"][:-1]
    X = torch.cat((tokens, cls.expand(20, 1, -1)), 1)
    w = one["readout"][:, 1] - one["readout"][:, 0]
    query = (
        one["layers.0.query"] + torch.outer(cls, one["layers.0.query_bias"]) / cls.square().sum()
    )
    W_qk = spec.scale * query @ one["layers.0.key"].T
    found = single_layer.outputs(
        X,
        cls.expand(20, -1),
        (w, one["layers.0.project"], one["layers.0.value"], W_qk),
        lambda v: v,
    )
    logits = task.forward(spec, one, task.indicators(bits[0]))
    _, _, constant = task.token_tables(spec, one)
    expected = (logits - constant).diff(dim=-1)[:, 0]
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    norms = task.margin_norms(spec, one)
    assert norms.W_qk == pytest.approx(W_qk.abs().sum().item(), rel=1e-12)
    assert norms.w == pytest.approx(w.abs().sum().item(), rel=1e-12)


def trained(T=9, steps=60):
    data = task.plant(T, 3, [0, 1])
    spec = task.probe(T, width=16, head_width=8)
    weights = task.start(spec, data)
    fit, new = ((task.indicators(b), y) for b, y in (data.sample(40), data.sample(60)))
    watch = task.BestEpoch(spec, new, fit)
    run = train(
        lambda w, x: task.forward(spec, w, x),
        weights,
        fixed(*fit, 20, data.generators),
        steps=steps,
        learning_rate=1e-2,
        loss=cross_entropy,
        evaluate=watch,
        check_every=5,
    )
    return spec, watch, run, new, fit


def test_the_best_epoch_is_that_of_least_validation_loss():
    spec, watch, run, new, fit = trained()
    best = watch.best()
    assert torch.equal(best["loss"], run.losses.amin(0))
    assert best["call"].tolist() == (run.losses.argmin(0) + 1).tolist()
    again = cross_entropy(task.forward(spec, watch.weights, new[0]), new[1])
    torch.testing.assert_close(again.double(), best["loss"], rtol=1e-6, atol=1e-7)
    known = cross_entropy(task.forward(spec, watch.weights, fit[0]), fit[1])
    torch.testing.assert_close(best["gap"], (again - known).double(), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(best["size"], task.size(watch.weights))
    first = watch.best(1)
    assert first["call"].tolist() == [1, 1]
    assert torch.equal(first["loss"], run.losses[0])


def test_a_model_that_left_keeps_its_place():
    spec, weights, _, bits = world(models=3)
    labels = torch.zeros(3, 20, dtype=torch.int64)
    watch = task.BestEpoch(spec, (task.indicators(bits), labels), (task.indicators(bits), labels))
    watch(weights, torch.arange(3))
    first = {k: v.clone() for k, v in watch.weights.items()}
    moved = {k: v[[0, 2]] for k, v in weights.items()}
    moved["readout_bias"] = moved["readout_bias"] + torch.tensor([5.0, 0.0])
    watch(moved, torch.tensor([0, 2]))
    assert watch.best()["call"].tolist() == [2, 1, 2]
    assert torch.equal(watch.weights["readout"][1], first["readout"][1])
    assert watch.rows("loss")[1].isnan().tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: task.majority(torch.empty(3, 0, dtype=torch.int64)), "at least 1 bit"),
        (lambda: task.majority(torch.tensor([0, 2])), "got 2"),
        (lambda: task.indicators(torch.tensor([-1, 0])), "got -1"),
        (lambda: task.plant(5, 6, [0]), "between 1 and T = 5, got 6"),
        (lambda: task.plant(5, 0, [0]), "got 0"),
        (lambda: task.plant(5, 3, []), "at least one data set"),
        (lambda: task.plant(5, 3, [0]).sample(0), "count must be at least 1"),
        (lambda: task.start(task.probe(6), task.plant(5, 3, [0])), "strings of 5 bits"),
        (
            lambda: task.start(task.probe(5, width=2), task.plant(5, 3, [0])),
            "width of 3, got 2",
        ),
        (
            lambda: task.start(task.probe(5), task.plant(5, 3, [0]), token_norm=0.0),
            "positive and finite, got 0",
        ),
        (
            lambda: task.start(task.probe(5), task.plant(5, 3, [0]), places="learned"),
            "unknown places 'learned'",
        ),
        (
            lambda: task.forward(task.probe(5), {}, torch.zeros(2, 10)),
            "11 tokens, got 10",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
    with pytest.raises(TypeError, match="bits must be integer or bool"):
        task.majority(torch.tensor([0.5]))


def test_nothing_measured_has_no_best_epoch():
    spec, _, _, bits = world()
    pair = task.indicators(bits), torch.zeros(3, 20, dtype=torch.int64)
    with pytest.raises(ValueError, match="nothing was measured"):
        task.BestEpoch(spec, pair, pair).best()
