"""Three architectures on one task, counts of prompts, and the search for what suits each."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from papers.retrieval import hierarchy
from papers.retrieval.hierarchy import Counts, Net, Runs, Setting
from papers.retrieval.task import new_task
from tests.draws import seeded

NETS = [
    Net("transformer", (7,)),
    Net("recurrent", (5,)),
    Net("recurrent", (5, 4)),
    Net("gated", (5,)),
    Net("gated", (5, 4)),
    Net("feedforward", (6, 8)),
]


def counts(prompts, censored=()):
    reached = torch.tensor([i not in censored for i in range(len(prompts))])
    return Counts(torch.tensor(prompts), reached)


@pytest.mark.parametrize("N", [2, 4])
@pytest.mark.parametrize("net", NETS, ids=str)
def test_every_network_takes_tokens_to_one_label_each(net, N):
    task = new_task(3, N, 2, 5, seeded())
    forward, weights = hierarchy.learner(net, task, seeded(1))
    tokens, targets = task.examples(torch.arange(3), task.prompts(torch.arange(3), 9))
    assert forward(weights, tokens).shape == targets.shape == (3, 9, N)
    assert {len(w) for w in weights.values()} == {3}


@pytest.mark.parametrize("net", NETS, ids=str)
def test_every_label_can_depend_on_the_token_pointed_at_wherever_it_stands(net):
    task = new_task(1, 4, 2, 5, seeded())
    forward, weights = hierarchy.learner(net, task, seeded(1))
    tokens = task.examples(torch.arange(1), task.prompts(torch.arange(1), 30))[0].requires_grad_()
    for i in range(4):
        outputs = forward(weights, tokens)[0, :, i].sum()
        gradient = torch.autograd.grad(outputs, tokens)[0][0]  # (B, N, D)
        assert (gradient.abs().sum((0, 2)) > 0).all()


def test_relu_units_are_those_of_torch():
    task = new_task(1, 6, 2, 5, seeded())
    forward, weights = hierarchy.learner(Net("recurrent", (5,)), task, seeded(1))
    cells = nn.RNN(12, 5, batch_first=True, bidirectional=True, nonlinearity="relu")
    names = {"input": "weight_ih", "state": "weight_hh", "input_bias": "bias_ih"}
    names |= {"state_bias": "bias_hh"}
    with torch.no_grad():
        for way, end in (("forward", "_l0"), ("backward", "_l0_reverse")):
            for ours, theirs in names.items():
                getattr(cells, theirs + end).copy_(weights[f"{way}.{ours}"][0].t())
        tokens, _ = task.examples(torch.arange(1), task.prompts(torch.arange(1), 9))
        expected = cells(tokens[0])[0] @ weights["readout"][0] + weights["readout_bias"][0]
        torch.testing.assert_close(forward(weights, tokens)[0], expected.squeeze(-1))


@pytest.mark.parametrize("net", ["transformer", "recurrent", "gated", "feedforward"])
def test_one_network_alone_gives_what_it_gives_among_others(net):
    task = new_task(2, 6, 2, 5, seeded())
    forward, weights = hierarchy.learner(Net(net, (5,)), task, seeded(1))
    tokens, _ = task.examples(torch.arange(2), task.prompts(torch.arange(2), 3))
    alone = forward({k: w[1] for k, w in weights.items()}, tokens[1])
    torch.testing.assert_close(alone, forward(weights, tokens)[1])


def test_a_second_width_reads_states_and_token_through_a_hidden_layer():
    task = new_task(1, 4, 2, 5, seeded())
    forward, weights = hierarchy.learner(Net("gated", (5, 3)), task, seeded(1))
    states_only, _ = hierarchy.learner(Net("gated", (5,)), task, seeded(1))
    tokens, _ = task.examples(torch.arange(1), task.prompts(torch.arange(1), 9))
    parts = []
    for k in range(3):  # each hidden unit reads the states linearly
        one = {n: w for n, w in weights.items() if not n.startswith("layers.")}
        one["readout"], one["readout_bias"] = (
            one[n][..., k : k + 1] for n in ("readout", "readout_bias")
        )
        parts.append(states_only(one, tokens))
    seen = tokens @ weights["layers.0.weight"] + weights["layers.0.bias"]
    hidden = (torch.stack(parts, -1) + seen).relu()
    expected = (hidden @ weights["layers.1.weight"]).squeeze(-1) + weights["layers.1.bias"]
    torch.testing.assert_close(forward(weights, tokens), expected)


def test_a_count_is_the_first_test_below_the_error_or_the_last_test(monkeypatch):
    nan = math.nan
    own = [[0.9, 0.9, 0.4], [0.4, 0.8, 0.6], [0.6, 0.7, nan], [0.2, 0.5, nan]]
    other = [[0.9, 0.9, 0.4], [0.9, 0.9, 0.4], [0.9, 0.9, nan], [0.4, 0.9, nan]]
    errors = iter(torch.tensor(v) for pair in zip(own, other, strict=True) for v in pair)
    alive = [[0, 1, 2], [0, 1, 2], [0, 1], [0, 1]]

    def train(*_, evaluate, **__):
        for models in alive:
            evaluate({}, torch.tensor(models))
        return SimpleNamespace(checks=[1, 2, 3, 4])

    def squared_error(outputs, targets):
        error = next(errors)
        return error[error.isfinite()]

    monkeypatch.setattr(hierarchy, "train", train)
    monkeypatch.setattr(hierarchy, "squared_error", squared_error)
    monkeypatch.setattr(hierarchy, "learner", lambda *_: (lambda _, x: x, {}))
    task = new_task(3, 3, 2, 5, seeded())
    options = {"learning_rate": 1.0, "steps": 4, "stop": 0.5, "B": 10, "test_prompts": 5}
    found = hierarchy.learn(NETS[0], task, {"own": task, "other": task}, seeded(), **options)
    assert found["own"].prompts.tolist() == [20, 40, 10]
    assert found["own"].reached.tolist() == [True, False, True]  # 0.5 is not below 0.5
    assert found["other"].prompts.tolist() == [40, 40, 10]
    assert found["other"].reached.tolist() == [True, False, True]


def test_training_stops_when_every_test_is_passed():
    task = new_task(2, 3, 2, 5, seeded())
    tests = {"general": task, "simple": new_task(2, 3, 2, 5, seeded(), simple=True)}
    options = {"learning_rate": 1e-2, "stop": 0.2, "B": 32, "check_every": 5, "test_prompts": 200}
    net = Net("transformer", (20,))
    found = hierarchy.learn(net, task, tests, seeded(1), steps=400, **options)
    assert set(found) == {"general", "simple"}
    assert all(counts.reached.all() for counts in found.values())
    assert all((counts.prompts % (32 * 5) == 0).all() for counts in found.values())
    assert all((counts.prompts < 32 * 400).all() for counts in found.values())
    few = hierarchy.learn(net, task, tests, seeded(1), steps=10, **options)
    assert not any(counts.reached.any() for counts in few.values())
    assert few["general"].prompts.tolist() == [320, 320]


def test_all_test_prompts_are_looked_at_only_near_the_threshold(monkeypatch):
    monkeypatch.setattr(hierarchy, "SCREEN", 50)
    sizes = []
    original = hierarchy.squared_error

    def noted(outputs, targets):
        sizes.append((targets.shape[1], original(outputs, targets).min().item()))
        return original(outputs, targets)

    monkeypatch.setattr(hierarchy, "squared_error", noted)
    task = new_task(1, 3, 2, 5, seeded())
    options = {"learning_rate": 1e-2, "steps": 300, "stop": 0.4, "test_prompts": 120}
    hierarchy.learn(Net("transformer", (20,)), task, {"own": task}, seeded(1), **options)
    assert sizes[0][0] == 50
    assert sizes[0][1] > 0.5
    assert sizes[1][0] == 50, "the first error is far from the threshold"
    assert [size for size, _ in sizes[-3:]] == [50, 50, 20]


@pytest.mark.parametrize(("error", "parts"), [(1.31, 1), (1.25, 2), (1.2, 3), (1.16, 4), (1.1, 5)])
def test_a_test_ends_above_its_margin_over_the_root_of_the_parts(error, parts, monkeypatch):
    monkeypatch.setattr(hierarchy, "SCREEN", 50)
    looked = []

    def constant(outputs, targets):
        looked.append(targets.shape[1])
        return torch.full((len(targets),), error, dtype=torch.float64)

    monkeypatch.setattr(hierarchy, "squared_error", constant)
    task = new_task(2, 3, 2, 5, seeded())
    options = {"learning_rate": 1e-2, "steps": 1, "stop": 1.0, "test_prompts": 250}
    hierarchy.learn(Net("transformer", (20,)), task, {"own": task}, seeded(1), **options)
    assert looked == [50] * parts


def test_the_median_is_the_lower_one_and_infinite_if_it_is_censored():
    assert hierarchy.median(counts([5, 1, 3])) == 3
    assert hierarchy.median(counts([4, 1, 3, 2])) == 2
    assert hierarchy.median(counts([1, 2, 9, 9], censored=(2, 3))) == 2
    assert hierarchy.median(counts([1, 9, 9], censored=(1, 2))) == math.inf


def test_runs_are_compared_by_task_net_and_length():
    rows = [("a", "x", 2, 10, 1), ("a", "x", 2, 30, 1), ("a", "x", 4, 90, 1), ("a", "y", 2, 60, 1)]
    rows += [("a", "y", 4, 80, 0), ("b", "y", 8, 5, 1)]
    runs = Runs(pd.DataFrame(rows, columns=["task", "net", "N", "prompts", "reached"]))
    assert runs.counts("a", "x", 2).prompts.tolist() == [10, 30]
    assert runs.counts("a", "y", 4).reached.tolist() == [False]
    assert len(runs.counts("b", "x", 8).prompts) == 0
    assert runs.median("a", "x", 2) == 10
    assert runs.median("a", "y", 4) == math.inf
    assert runs.told("a", "x", 2) == "0.0 [0.0, 0.0]"
    assert runs.told("a", "x", 4) == "0.1"
    assert runs.told("b", "x", 8) == ""
    assert runs.lengths("a", "x", "y") == [2, 4]
    assert runs.lengths("b", "y") == [8]
    assert runs.lengths("b", "x", "y") == []
    assert runs.lead("a", 2, "x", "y") == math.log(2)
    assert runs.lead("a", 2, "y", "x", "y") == math.log(10 / 60)
    assert runs.power("a", "x", 2, 4) == pytest.approx(tuple(math.log2(r) for r in (9, 3, 9)))


def test_neighbours_are_one_step_away_and_go_both_ways():
    for net in (*NETS, Net("gated", (8, 64)), Net("feedforward", (16, 1000))):
        start = Setting(net, 0.5)
        for other in hierarchy.neighbours(start):
            assert other != start
            widths = (*net.widths, 0)[:2]
            if widths[1] in (0, *hierarchy.SECOND.values()) and net.widths[0] % 2 == 0:
                assert start in hierarchy.neighbours(other)
    assert len(hierarchy.neighbours(Setting(Net("transformer", (8,)), 1.0))) == 4
    assert len(hierarchy.neighbours(Setting(Net("feedforward", (8,)), 1.0))) == 5
    assert len(hierarchy.neighbours(Setting(Net("gated", (8,)), 1.0))) == 6


@given(st.integers(-3, 3), st.integers(0, 7))
def test_the_search_ends_where_no_neighbour_is_better(rate, width):
    asked = []

    def count(setting, most):
        asked.append(setting)
        away = abs(math.log2(setting.rate) - rate) + abs(math.log2(setting.net.widths[0]) - width)
        needed = round(100 * 1.5**away)
        return counts([min(needed, most)] * 3, censored=(0, 1, 2) if needed > most else ())

    start = Setting(Net("transformer", (8,)), 1.0)
    best, tried = hierarchy.tune(count, start, 10_000)
    assert best == Setting(Net("transformer", (2**width,)), 2.0**rate)
    assert len(asked) == len(set(asked)) == len(tried)
    assert set(hierarchy.neighbours(best)) - {best} <= set(tried)


def test_a_search_that_begins_where_nothing_arrives_goes_to_what_does():
    def count(setting, most):
        return counts([most] * 2, censored=() if setting.rate > 1 else (0, 1))

    start = Setting(Net("transformer", (8,)), 1.0)
    assert hierarchy.tune(count, start, 1000)[0].rate == 2.0


def test_bad_input_is_named():
    task = new_task(2, 3, 2, 5, seeded())
    with pytest.raises(ValueError, match="unknown kind 'lstm'"):
        Net("lstm", (5,))
    with pytest.raises(ValueError, match=r"widths \(5, 5\)"):
        Net("transformer", (5, 5))
    with pytest.raises(ValueError, match=r"widths \(\)"):
        Net("feedforward", ())
    with pytest.raises(ValueError, match=r"widths\[1\] must be at least 1, got 0"):
        Net("feedforward", (5, 0))
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        hierarchy.learner(NETS[1], new_task(1, 1, 2, 5, seeded()), seeded())
    options = {"learning_rate": 1e-2, "steps": 1, "stop": 0.5}
    with pytest.raises(ValueError, match="at least one test"):
        hierarchy.learn(NETS[0], task, {}, seeded(), **options)
    with pytest.raises(ValueError, match="at least one run"):
        hierarchy.median(counts([]))
    with pytest.raises(ValueError, match=r"got \(2,\) and \(1,\)"):
        hierarchy.median(Counts(torch.tensor([1, 2]), torch.tensor([True])))
