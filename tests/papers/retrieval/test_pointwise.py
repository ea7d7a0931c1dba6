"""One labelled token a prompt: the batches, the model at the token asked, and prompts needed."""

import dataclasses
import math

import pytest
import torch

from papers.retrieval import attention as construction
from papers.retrieval import pointwise
from papers.retrieval import task as retrieval
from tests.draws import seeded


def drawn(task, B):
    """Prompts of every model, as its batches hold them."""
    each = [task.draw(e, B) for e in range(len(task.generators))]
    return tuple(torch.stack(v) for v in zip(*each, strict=True))


def test_examples_are_those_of_the_task():
    E, N, d, d_e = 2, 5, 3, 6
    task = pointwise.question(E, N, d, d_e, seeded())
    x, t = drawn(task, 7)
    assert x.shape == (E, 7, N, d)
    assert t.shape == (E, 7, N + 1, 1)
    given = retrieval.Prompts(x, t[..., :-1, :])
    expected = retrieval.labels(given, task.u)
    tokens, labels = task.written(x, t)
    assert torch.equal(tokens, retrieval.encode(given, task.omega))
    assert torch.equal(labels, expected)
    asked, label = task.examples(torch.tensor([1]), x[1:], t[1:])
    assert torch.equal(asked.at, t[1:, :, -1, 0])
    wanted = expected[1:].gather(-1, asked.at[..., None])[..., 0]
    torch.testing.assert_close(label, wanted)


def test_the_model_at_the_token_asked_is_the_model():
    task = pointwise.question(2, 5, 3, 4, seeded())
    weights = retrieval.initial_weights(11, 7, seeded(1), 2)
    weights = {k: (v.double() + 0.1).requires_grad_() for k, v in weights.items()}
    x, t = drawn(task, 30)
    task = dataclasses.replace(task, omega=task.omega.double(), u=task.u.double())
    given, _ = task.examples(torch.arange(2), x.double(), t)
    found = pointwise.forward(weights, given)
    tokens, _ = task.written(x.double(), t)
    expected = retrieval.forward(weights, tokens).gather(-1, given.at[..., None])[..., 0]
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    names = [k for k in weights if k != "key_bias"]  # which has no effect
    for pair in zip(
        *(
            torch.autograd.grad(v.square().sum(), [weights[k] for k in names])
            for v in (found, expected)
        ),
        strict=True,
    ):
        torch.testing.assert_close(*pair, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("every", [False, True])
def test_the_test_error_is_that_of_the_models_asked_for(every):
    task = pointwise.question(3, 4, 2, 5, seeded(), every=every)
    weights = retrieval.initial_weights(12, 6, seeded(1), 3)
    error = task.test(20)
    everyone = error(weights, torch.arange(3))
    alone = error({k: v[[2, 0]] for k, v in weights.items()}, torch.tensor([2, 0]))
    torch.testing.assert_close(alone, everyone[[2, 0]])
    silent = weights | {k: 0 * weights[k] for k in ("readout", "readout_bias")}
    assert 0.5 < error(silent, torch.arange(3)).mean() < 1.5  # labels have variance 1
    x, t = pointwise.question(3, 4, 2, 5, seeded(), every=every)._draw([20] * 3)  # the same
    if every:
        tokens, labels = task.written(x, t)
        off = retrieval.forward(weights, tokens) - labels
    else:
        asked, labels = task.examples(torch.arange(3), x, t)
        off = pointwise.forward(weights, asked) - labels
    torch.testing.assert_close(everyone, off.square().flatten(1).mean(1))


def test_a_model_sees_only_its_own_prompts_as_often_as_the_others_see_theirs():
    task = pointwise.question(2, 3, 2, 4, seeded())
    batch = task.fixed([4, 8], 8)
    first, second = batch(torch.arange(2))[1]  # one epoch: labels (8,) of each model
    assert len(first.unique()) <= 4
    assert sorted(first.flatten().tolist())[::2] == sorted(first.flatten().tolist())[1::2]
    assert len(second.unique()) > 4


def test_a_set_may_be_a_single_prompt():
    task = pointwise.question(2, 3, 2, 4, seeded())
    labels = task.fixed([1, 2], 2)(torch.arange(2))[1]
    assert [len(own.unique()) for own in labels] == [1, 2]


def test_pointing_puts_the_construction_in_the_logits():
    d, d_e, a = 3, 8, 7.0
    weights = retrieval.initial_weights(d + 2 * d_e, 5, seeded(), 2)
    start = pointwise.pointing(weights, d, d_e, a)
    tokens = torch.randn(2, 4, 6, d + 2 * d_e, generator=seeded(1))
    W = construction.query_key(d, d_e, a)[0]
    expected = tokens @ W @ tokens.mT
    torch.testing.assert_close(retrieval.logits(start, tokens), expected, rtol=1e-4, atol=1e-4)
    assert torch.equal(start["value"], weights["value"])


def test_prompts_needed_are_interpolated_where_the_error_last_falls_below_the_level():
    errors = torch.tensor([[1.0, 1.0, 0.1, 1.0], [1.0, 0.25, 0.1, 0.1], [0.25, 0.1, 0.1, 0.9]])
    found = pointwise.needed([10, 20, 40], errors)
    # 1 and 0.25 are as far from a half on a logarithmic scale
    expected = [20 * math.sqrt(2), 10 * math.sqrt(2), 10.0, math.inf]
    assert found.tolist() == pytest.approx(expected)
    assert pointwise.needed([10, 20, 40], errors.view(3, 2, 2)).shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pointwise.question(0, 3, 2, 4, seeded()), "E must be at least 1, got 0"),
        (lambda: pointwise.question(1, 30, 2, 4, seeded()), "N runs from 1 to 2"),
        (lambda: pointwise.question(2, 3, 2, 4, seeded()).fixed([4], 2), "2 sizes of at least"),
        (lambda: pointwise.question(1, 3, 2, 4, seeded()).fixed([0], 2), "1 sizes of at least"),
        (
            lambda: dataclasses.replace(
                pointwise.question(1, 3, 2, 4, seeded()), generators=[]
            ).fixed([], 2),
            r"0 sizes of at least 1, got \[\]",
        ),
        (lambda: pointwise.question(2, 3, 2, 4, seeded()).fixed([3, 4], 2), "must divide"),
        (lambda: pointwise.needed([2, 1], torch.ones(2, 1)), "increasing sizes"),
        (lambda: pointwise.needed([1, 2], torch.ones(3, 1)), "increasing sizes"),
        (
            lambda: pointwise.pointing({"query": torch.ones(1, 5, 5)}, 2, 2, 1.0),
            "tokens of 5 numbers",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
