"""Every model has its own data, in its own order, whoever else is in the stack."""

import pytest
import torch

from helpers.training.batches import Resumable, fixed, fresh, spawn, whole

E, N = 3, 10


def generators(seed=0):
    return spawn(E, torch.Generator().manual_seed(seed))


def numbered():
    """Inputs that say whose they are and which, and targets that go with them."""
    which = torch.arange(E)[:, None] * 100 + torch.arange(N)  # (E, N)
    return torch.stack((which, -which), -1), 2 * which


def normal(model, B, generator):
    return torch.randn(B, 2, generator=generator), torch.full((B,), model)


def makers():
    return {"fixed": fixed(*numbered(), 4, generators()), "fresh": fresh(normal, 4, generators())}


def test_a_fixed_set_returns_whole_in_every_epoch_in_another_order():
    batch, models = fixed(*numbered(), 4, generators()), torch.tensor([0, 2])
    orders = []
    for _ in range(3):
        drawn = [batch(models) for _ in range(3)]
        assert [inputs.shape for inputs, _ in drawn] == [(2, 4, 2), (2, 4, 2), (2, 2, 2)]
        inputs, targets = (torch.cat(rows, 1) for rows in zip(*drawn, strict=True))
        assert torch.equal(targets, 2 * inputs[..., 0])
        assert torch.equal(targets.sort(1).values, numbered()[1][models])
        orders += [inputs[0, :, 0], inputs[1, :, 0] - 200]
    assert len({tuple(order.tolist()) for order in orders}) == 6


def test_one_set_may_be_shared_without_a_copy():
    inputs, targets = (v[:1].expand(E, *v.shape[1:]) for v in numbered())
    shared = fixed(inputs, targets, 4, generators())
    own = fixed(inputs.contiguous(), targets.contiguous(), 4, generators())
    for _ in range(5):
        for a, b in zip(shared(torch.tensor([1, 2])), own(torch.tensor([1, 2])), strict=True):
            assert torch.equal(a, b)
    assert shared.inputs.data_ptr() == inputs.data_ptr()


@pytest.mark.parametrize("name", ["fixed", "fresh"])
def test_a_model_sees_the_same_whoever_else_is_asked_for(name):
    everyone, one = makers()[name], makers()[name]
    for _ in range(7):
        whole = everyone(torch.arange(E))
        for a, b in zip(whole, one(torch.tensor([1])), strict=True):
            assert torch.equal(a[1:2], b)


@pytest.mark.parametrize("name", ["fixed", "fresh"])
def test_a_model_sees_in_the_stack_what_it_would_see_alone(name):
    (inputs, targets), own = numbered(), generators()[1:2]
    alone = {
        "fixed": fixed(inputs[1:2], targets[1:2], 4, own),
        "fresh": fresh(lambda m, B, g: normal(1, B, g), 4, own),
    }[name]
    stack = makers()[name]
    for _ in range(7):
        for a, b in zip(stack(torch.arange(E)), alone(torch.tensor([0])), strict=True):
            assert torch.equal(a[1:2], b)


@pytest.mark.parametrize("name", ["fixed", "fresh"])
@pytest.mark.parametrize("before", [0, 1, 3, 5])
def test_a_restored_state_goes_on_with_the_same_batch(name, before):
    one, other = makers()[name], makers()[name]
    other(torch.arange(E))
    for _ in range(before):
        one(torch.arange(E))
    saved = one.state()
    expected = [one(torch.arange(E)) for _ in range(6)]
    other.restore(saved)
    for row in expected:
        for a, b in zip(row, other(torch.arange(E)), strict=True):
            assert torch.equal(a, b)
    assert isinstance(one, Resumable)


def test_a_batch_may_hold_one_example_and_an_example_one_number():
    _, numbers = numbered()
    batch = fixed(numbers, numbers, 1, generators())
    drawn = [batch(torch.arange(E)) for _ in range(N)]
    assert {inputs.shape for inputs, _ in drawn} == {(E, 1)}
    assert torch.equal(torch.cat([inputs for inputs, _ in drawn], 1).sort(1).values, numbers)
    inputs, targets = fresh(normal, 1, generators())(torch.tensor([2, 0]))
    assert inputs.shape == (2, 1, 2)
    assert targets.tolist() == [[2], [0]]


def test_fresh_examples_do_not_return():
    batch = fresh(normal, 5, generators())
    drawn = torch.cat([batch(torch.arange(E))[0] for _ in range(4)], 1)
    assert len(drawn.flatten().unique()) == drawn.numel()


@pytest.mark.parametrize("name", ["fixed", "fresh"])
def test_rows_are_prepared_for_all_models_at_once(name):
    def prepare(models, inputs, targets):
        return inputs + models[:, None, None], targets.sum(1)

    plain = makers()[name]
    made = {
        "fixed": lambda: fixed(*numbered(), 4, generators(), prepare),
        "fresh": lambda: fresh(normal, 4, generators(), prepare),
    }[name]()
    models = torch.tensor([0, 2])
    (a, y), (b, z) = plain(models), made(models)
    assert torch.equal(b, a + models[:, None, None])
    assert torch.equal(z, y.sum(1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fixed(*numbered(), 11, generators()), "batch of 11 cannot be taken from 10"),
        (lambda: fixed(*numbered(), 0, generators()), "batch of 0 cannot be taken from 10"),
        (lambda: fixed(*numbered(), 4, generators()[:2]), "3 models need as many generators, got"),
        (
            lambda: fixed(torch.ones(3, 5, 2), torch.ones(3, 4), 1, generators()),
            r"share their axes \(E, N\), got \(3, 5, 2\) and \(3, 4\)",
        ),
        (lambda: fixed(torch.ones(3), torch.ones(3), 1, generators()), r"\(E, N\), got \(3,\)"),
        (lambda: fresh(normal, 0, generators()), "at least 1 example, got 0"),
        (
            lambda: whole(torch.ones(3, 5, 2), torch.ones(3)),
            r"targets \(E, N, ...\), got \(3, 5, 2\) and \(3,\)",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
