"""Three architectures on one task, counts of prompts, and comparisons of censored counts."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.retrieval import hierarchy
from helpers.retrieval.hierarchy import ARCHITECTURES, Counts, Record
from helpers.retrieval.task import new_task

WIDTHS = {"transformer": (7,), "recurrent": (5,), "feedforward": (6, 8)}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def counts(prompts, censored=()):
    reached = torch.tensor([i not in censored for i in range(len(prompts))])
    return Counts(torch.tensor(prompts), reached)


some_counts = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=4).map(
    lambda rows: Counts(torch.tensor([n for n, _ in rows]), torch.tensor([r for _, r in rows]))
)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_takes_tokens_to_one_label_each(architecture):
    task = new_task(3, 4, 2, 5, generator())
    forward, weights = hierarchy.learner(architecture, task, WIDTHS[architecture], generator(1))
    tokens, targets = task.examples(torch.arange(3), task.prompts(torch.arange(3), 9))
    assert forward(weights, tokens).shape == targets.shape == (3, 9, 4)
    assert {len(w) for w in weights.values()} == {3}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_label_can_depend_on_the_token_pointed_at_wherever_it_stands(architecture):
    task = new_task(1, 4, 2, 5, generator())
    forward, weights = hierarchy.learner(architecture, task, WIDTHS[architecture], generator(1))
    tokens = task.examples(torch.arange(1), task.prompts(torch.arange(1), 1))[0].requires_grad_()
    for i in range(4):
        outputs = forward(weights, tokens)[0, 0, i]
        gradient = torch.autograd.grad(outputs, tokens)[0][0, 0]  # (N, D)
        assert (gradient.abs().sum(1) > 0).all()


def test_fixed_pointers_go_one_token_ahead_and_leave_the_data_random():
    task = new_task(2, 5, 3, 6, generator())
    fixed = hierarchy.with_fixed_pointers(task)
    x, t = fixed.prompts(torch.arange(2), 4)
    assert t.shape == (2, 4, 5, 1)
    assert torch.equal(t[..., 0], torch.tensor([1, 2, 3, 4, 0]).expand(2, 4, 5))
    assert x.unique().numel() == x.numel()
    _, targets = fixed.fresh(4)(torch.arange(2))
    assert targets.shape == (2, 4, 5)


def test_labels_of_fixed_pointers_are_those_of_the_next_token():
    fixed = hierarchy.with_fixed_pointers(new_task(1, 5, 3, 6, generator()))
    given_prompts = fixed.prompts(torch.arange(1), 4)
    _, targets = fixed.examples(torch.arange(1), given_prompts)
    expected = (given_prompts.x @ fixed.u[0, 0]).roll(-1, -1)
    torch.testing.assert_close(targets, expected)


def test_pointers_that_are_hidden_are_zeros_and_keep_the_labels():
    task = new_task(1, 5, 3, 6, generator())
    blind = hierarchy.without_pointers(task)
    drawn = task.prompts(torch.arange(1), 4)
    seen, hidden = (each.examples(torch.arange(1), drawn) for each in (task, blind))
    assert torch.equal(seen[1], hidden[1])
    assert torch.equal(seen[0][..., :9], hidden[0][..., :9])
    assert hidden[0][..., 9:].abs().max() == 0 < seen[0][..., 9:].abs().min()


def test_a_count_is_the_first_test_below_the_level_or_the_last_test():
    nan = math.nan
    errors = torch.tensor([[0.9, 0.9, 0.4], [0.4, 0.8, 0.6], [0.6, 0.7, nan], [0.2, 0.5, nan]])
    record = Record(torch.tensor([10, 20, 30, 40]), {"own": errors})
    found = record.count(0.5, "own")
    assert found.prompts.tolist() == [20, 40, 10]
    assert found.reached.tolist() == [True, False, True]  # 0.5 is not below 0.5
    found = record.count(0.3, "own")
    assert found.prompts.tolist() == [40, 40, 20]
    assert found.reached.tolist() == [True, False, False]


def test_training_records_every_test_and_stops_when_all_of_them_are_passed():
    task = new_task(2, 3, 2, 5, generator())
    tests = {"general": task, "fixed": hierarchy.with_fixed_pointers(task)}
    record = hierarchy.learn(
        "transformer",
        task,
        tests,
        generator(1),
        widths=(20,),
        learning_rate=1e-2,
        steps=400,
        stop=0.4,
        B=32,
        check_every=20,
        test_prompts=200,
    )
    assert set(record.errors) == {"general", "fixed"}
    assert record.prompts[0] == 32 * 20
    assert (record.prompts.diff() == 32 * 20).all()
    worst = torch.maximum(record.errors["general"], record.errors["fixed"])
    for e in range(2):
        ran = worst[:, e][worst[:, e].isfinite()]
        assert ran[-1] < 0.4 <= ran[:-1].min()
        assert record.count(0.4, "general").reached.all()


def test_few_prompts_that_return_do_not_teach_what_many_do():
    task = new_task(2, 4, 2, 6, generator())
    options = {"widths": (30,), "learning_rate": 1e-2, "steps": 150, "stop": 0.3}
    few, many = (
        hierarchy.learn(
            "transformer", task, {"own": task}, generator(1), samples=n, test_prompts=200, **options
        )
        for n in (8, 2000)
    )
    assert not few.count(0.3, "own").reached.any()
    assert many.count(0.3, "own").reached.all()
    assert few.prompts[0] == 8 * 10


def test_the_median_without_censoring_is_the_lower_one():
    assert hierarchy.median(counts([5, 1, 3])) == (3.0, True)
    assert hierarchy.median(counts([4, 1, 3, 2])) == (2.0, True)


def test_a_censored_run_counts_as_waiting():
    assert hierarchy.median(counts([1, 2, 9, 9], censored=(2, 3))) == (2.0, True)
    assert hierarchy.median(counts([1, 9, 9, 9], censored=(1, 2, 3))) == (9.0, False)
    # one of four gone at 2, then a censored run, then one of two: 3/4 times 1/2 is below 1/2
    assert hierarchy.median(counts([2, 3, 4, 5], censored=(1,))) == (4.0, True)


def test_groups_that_do_not_overlap_have_the_smallest_chance():
    for k in (2, 3, 4):
        early, late = counts(list(range(1, k + 1))), counts(list(range(10, 10 + k)))
        assert hierarchy.later(early, late) == pytest.approx(1 / math.comb(2 * k, k))
        assert hierarchy.later(late, early) == 1


def test_a_censored_run_is_later_only_than_runs_that_ended_before():
    assert hierarchy.later(counts([1, 2]), counts([2, 2], censored=(0, 1))) == pytest.approx(1 / 6)
    # censored before the others ended: nothing is known
    assert hierarchy.later(counts([5, 5]), counts([2, 2], censored=(0, 1))) == 1
    assert hierarchy.later(counts([5, 5], (0, 1)), counts([7, 7], (0, 1))) == 1


@settings(deadline=None, max_examples=60)
@given(some_counts, some_counts)
def test_the_chance_is_that_of_all_splits_counted_pair_by_pair(first, second):
    pooled = [
        (int(n), bool(r))
        for group in (first, second)
        for n, r in zip(group.prompts, group.reached, strict=True)
    ]

    def surely(a, b):
        return a[1] and (a[0] < b[0] or (a[0] == b[0] and not b[1]))

    def statistic(chosen):
        rest = [i for i in range(len(pooled)) if i not in chosen]
        pairs = [(pooled[i], pooled[j]) for i in chosen for j in rest]
        return sum(surely(a, b) - surely(b, a) for a, b in pairs)

    k = len(first.prompts)
    splits = list(itertools.combinations(range(len(pooled)), k))
    share = sum(statistic(s) >= statistic(tuple(range(k))) for s in splits) / len(splits)
    assert hierarchy.later(first, second) == pytest.approx(share)


@given(st.integers(1, 5000), st.integers(1, 4096))
def test_the_search_finds_the_least_doubling_that_suffices(needed, guess):
    asked = []
    n, found = hierarchy.fewest(lambda k: asked.append(k) or k >= needed, guess, 2**14)
    assert len(asked) == len(set(asked))
    assert found == (n >= needed)
    if found:
        assert n % 2 or n // 2 < needed
    else:
        assert 2 * n > 2**14


def test_bad_input_is_named():
    task = new_task(2, 3, 2, 5, generator())
    with pytest.raises(ValueError, match="unknown architecture 'lstm'"):
        hierarchy.learner("lstm", task, (5,), generator())
    with pytest.raises(ValueError, match=r"widths \(5, 5\)"):
        hierarchy.learner("transformer", task, (5, 5), generator())
    with pytest.raises(ValueError, match=r"widths\[1\] must be at least 1, got 0"):
        hierarchy.learner("feedforward", task, (5, 0), generator())
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        hierarchy.learner("recurrent", new_task(1, 1, 2, 5, generator()), (5,), generator())
    with pytest.raises(ValueError, match="share their pointers"):
        hierarchy.with_fixed_pointers(new_task(1, 3, 2, 5, generator(), simple=True))
    options = {"widths": (5,), "learning_rate": 1e-2, "steps": 1, "stop": 0.5}
    with pytest.raises(ValueError, match="at least one test"):
        hierarchy.learn("transformer", task, {}, generator(), **options)
    with pytest.raises(ValueError, match="samples must be at least 0, got -1"):
        hierarchy.learn("transformer", task, {"own": task}, generator(), samples=-1, **options)
    record = Record(torch.tensor([1]), {"own": torch.ones(1, 2)})
    with pytest.raises(ValueError, match="unknown test 'other'"):
        record.count(0.5, "other")
    with pytest.raises(ValueError, match="level must be positive and finite, got nan"):
        record.count(math.nan, "own")
    none = Counts(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.bool))
    with pytest.raises(ValueError, match="at least one run"):
        hierarchy.median(none)
    with pytest.raises(ValueError, match="at least one run"):
        hierarchy.later(counts([1]), none)
    with pytest.raises(ValueError, match="at most 20 runs are compared, got 22"):
        hierarchy.later(counts([1] * 11), counts([1] * 11))
    with pytest.raises(ValueError, match="guess runs from 1 to top = 8, got 9"):
        hierarchy.fewest(bool, 9, 8)
