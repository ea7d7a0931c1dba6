"""A run that is restored is the run that was saved."""

import math

import torch

from helpers.training.ensemble import Options, Run
from helpers.training.optimizer import StackedAdamW


def new():
    g = torch.Generator().manual_seed(0)
    weights = {"a": torch.randn(4, 3, generator=g), "b": torch.randn(4, generator=g)}
    metrics = {"size": lambda weights, models: weights["a"].norm(dim=1)}
    rates = torch.tensor([0.1, 0.2, 0.3, 0.4])
    options = Options(2, 0.1, None, metrics, 1, "record")
    return Run(StackedAdamW(weights, rates), options, torch.device("cpu"))


def advance(run, losses):
    A = len(run.models)
    run.optimizer.step([torch.ones(A, 3), torch.ones(A)])
    run.take(torch.tensor(losses))


def same(a, b):
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a.nan_to_num(-1.0), b.nan_to_num(-1.0))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)


def test_every_attribute_of_a_run_that_changes_is_restored():
    run = new()
    advance(run, [1.0, 1.0, 1.0, 1.0])
    run.measure()
    advance(run, [1.0, 0.0, math.inf, 0.6])
    run.check()  # one model fails
    advance(run, [0.05, 0.4, 0.3])
    advance(run, [0.05, 0.4, 0.3])
    run.check()  # one is done
    advance(run, [0.4, 0.3])
    saved, other = run.state(), new()
    before = {k: repr(v) for k, v in vars(other).items()}
    other.restore(saved)
    kept = vars(run).keys() - {"optimizer", "options", "home"}
    unchanged = {name for name in kept if before[name] == repr(vars(run)[name])}
    assert unchanged == {"pending"}
    assert [name for name in kept if not same(vars(run)[name], vars(other)[name])] == []
    for each in (run, other):
        advance(each, [0.5, 0.2])
        each.check()
    assert same(vars(run.trained()), vars(other.trained()))
