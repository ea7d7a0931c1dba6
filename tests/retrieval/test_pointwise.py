"""One labelled token a prompt: the batches, the model at the token asked, and prompts needed."""

import math

import pytest
import torch

from helpers.retrieval import attention as construction
from helpers.retrieval import pointwise
from helpers.retrieval import task as retrieval


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_asked_token_is_moved_to_the_end_and_its_label_kept():
    tokens = torch.arange(24.0).view(2, 4, 3)
    labels = torch.arange(8.0).view(2, 4)
    asked = torch.tensor([[[1]], [[3]]])
    moved, label = pointwise.last(tokens, labels, asked)
    assert torch.equal(moved[0], tokens[0, [0, 3, 2, 1]])
    assert torch.equal(moved[1], tokens[1])
    assert label.tolist() == [[1.0], [7.0]]


@pytest.mark.parametrize("every", [False, True])
def test_examples_are_those_of_the_task(every):
    E, N, d, d_e = 2, 5, 3, 6
    task = pointwise.question(E, N, d, d_e, generator(), every=every)
    x, t = (torch.stack(v) for v in zip(*[task.draw(e, 7) for e in range(E)], strict=True))
    assert x.shape == (E, 7, N, d)
    assert t.shape == (E, 7, N + 1, 1)
    tokens, labels = task.examples(torch.arange(E), x, t)
    given = retrieval.Prompts(x, t[..., :-1, :])
    all_labels = retrieval.labels(given, task.u)
    plain = retrieval.encode(given, task.omega)
    if every:
        assert torch.equal(tokens, plain)
        assert torch.equal(labels, all_labels)
    else:
        for e in range(E):
            for b in range(7):
                j = int(t[e, b, -1, 0])
                assert torch.equal(tokens[e, b, -1], plain[e, b, j])
                assert labels[e, b, 0] == all_labels[e, b, j]


def test_the_model_at_the_last_token_is_the_model():
    weights = retrieval.initial_weights(9, 7, generator(1), 2)
    weights = {k: v.double() + 0.1 for k, v in weights.items()}
    tokens = torch.randn(2, 3, 5, 9, generator=generator(3), dtype=torch.float64)
    expected = retrieval.forward(weights, tokens)[..., -1:]
    torch.testing.assert_close(pointwise.forward(weights, tokens), expected, rtol=1e-12, atol=1e-12)


def test_a_model_sees_only_its_own_prompts_as_often_as_the_others_see_theirs():
    task = pointwise.question(2, 3, 2, 4, generator())
    batch = task.fixed([4, 8], 8)
    first, second = batch(torch.arange(2))[1]  # one epoch: labels (8, 1) of each model
    assert len(first.unique()) <= 4
    assert sorted(first.flatten().tolist())[::2] == sorted(first.flatten().tolist())[1::2]
    assert len(second.unique()) > 4


def test_pointing_puts_the_construction_in_the_logits():
    d, d_e, a = 3, 8, 7.0
    weights = retrieval.initial_weights(d + 2 * d_e, 5, generator(), 2)
    start = pointwise.pointing(weights, d, d_e, a)
    tokens = torch.randn(2, 4, 6, d + 2 * d_e, generator=generator(1))
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
        (lambda: pointwise.question(0, 3, 2, 4, generator()), "E must be at least 1, got 0"),
        (lambda: pointwise.question(1, 30, 2, 4, generator()), "N runs from 1 to 2"),
        (lambda: pointwise.question(2, 3, 2, 4, generator()).fixed([4], 2), "2 sizes of at least"),
        (lambda: pointwise.question(1, 3, 2, 4, generator()).fixed([0], 2), "1 sizes of at least"),
        (lambda: pointwise.question(2, 3, 2, 4, generator()).fixed([3, 4], 2), "must divide"),
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
