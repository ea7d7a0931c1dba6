"""Learning sparse functions: the data, the recipe's model, the gap, and trends over runs."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from helpers.cube import bits, index_of
from helpers.nets.spec import shapes
from helpers.nets.transformer import forward
from papers.sharper import samples

CLASSES = [(1, 1), (2, 3), (3, 1)]


@pytest.fixture
def data():
    return samples.draw(5, CLASSES, 40, [0, 1, 2])


def measured(forward, weights, data, **options):
    """Columns of the table of gaps as tensors, and the risk."""
    none = torch.zeros(len(data.functions))
    trained = SimpleNamespace(weights=weights, steps=none, finished=none)
    rows = samples.gap_table(data, forward, trained, **options)
    found = {k: torch.tensor(rows[k], dtype=torch.float64) for k in ("train", "gap", "stderr")}
    return found["train"], found["train"] + found["gap"], found["stderr"]


def answer(value):
    """A network that answers one number, whatever its input."""
    return lambda weights, tokens: torch.full(
        (len(weights["w"]), tokens.shape[-2]), value, dtype=torch.float32
    )


def reader(functions):
    """A network that knows the first len(w) functions and errs by its weight on odd strings."""

    def run(weights, tokens):
        tokens = tokens if tokens.ndim == 3 else tokens.expand(len(weights["w"]), *tokens.shape)
        true = torch.stack([f(index_of(t)) for f, t in zip(functions, tokens, strict=True)])
        return (true + weights["w"][:, None] * (tokens.sum(-1) % 2)).float()

    return run


def test_targets_are_the_functions_on_the_strings(data):
    assert data.n == 5
    assert data.bits.shape == (3, 40, 5)
    assert data.bits.dtype == torch.uint8
    for f, b, y, (degree, sparsity) in zip(
        data.functions, data.bits, data.targets, CLASSES, strict=True
    ):
        assert (f.degree, f.sparsity) == (degree, sparsity)
        assert {len(s) for s in f.sets} == {degree}
        # unit sum of squares, so values of at most sqrt(3): float32 rounds by 2**-24 of that
        assert (y.double() - f.table()[index_of(b)]).abs().max() <= math.sqrt(3) * 2**-23


def test_a_model_does_not_know_of_the_others():
    alone = samples.draw(6, [(2, 3)], 16, [5])
    among = samples.draw(6, [(1, 1), (2, 3)], 16, [0, 5])
    assert torch.equal(alone.bits[0], among.bits[1])
    assert torch.equal(alone.targets[0], among.targets[1])
    spec = samples.paper_spec(6)
    first, second = samples.start(spec, alone), samples.start(spec, among)
    assert all(torch.equal(first[name][0], second[name][1]) for name in first)


def test_another_seed_or_class_is_another_sample():
    drawn = samples.draw(8, [(2, 1), (2, 1), (2, 2), (3, 1)], 64, [0, 1, 0, 0])
    for i in range(4):
        for j in range(i):
            assert not torch.equal(drawn.bits[i], drawn.bits[j])
    assert len({g.initial_seed() for g in drawn.generators}) == 4


def test_bits_are_fair():
    drawn = samples.draw(12, [(1, 1)] * 4, 4096, range(4))
    share = drawn.bits.double().mean((0, 1))
    assert (share - 0.5).abs().max() < 5 * 0.5 / math.sqrt(4 * 4096)  # five standard errors


@pytest.mark.parametrize(
    ("classes", "N", "seeds", "named"),
    [([], 4, [], "at least 1"), ([(1, 1)], 4, [0, 1], "1 classes"), ([(1, 1)], 0, [0], "got 0")],
)
def test_bad_samples_are_named(classes, N, seeds, named):
    with pytest.raises(ValueError, match=named):
        samples.draw(4, classes, N, seeds)


def test_the_model_is_that_of_the_paper():
    spec = samples.paper_spec(20)
    assert (spec.width, spec.hiddens, spec.tokens) == (51, (128, 0), 21)
    assert spec.scale == pytest.approx(0.4 * math.log(21) / math.sqrt(51), rel=1e-15)
    free, bound = shapes(spec), shapes(samples.paper_spec(20, positional=True))
    assert free["layers.0.query"] == (51, 51)
    assert bound["layers.0.query"] == (21, 51)
    assert set(samples.SLOW) <= set(free)
    assert not any("layers.1.hidden" in name or "project" in name for name in free)


def test_a_run_starts_with_opposite_bits(data):
    weights = samples.start(samples.paper_spec(5), data)
    assert weights["embedding"].shape == (3, 2, 30)
    assert weights["embedding"].dtype == torch.float32
    # the mean is subtracted in float32: a rounding of numbers below 5 in each of the two rows
    assert weights["embedding"].sum(1).abs().max() <= 5 * 2**-22


def test_the_gap_of_a_constant_answer_is_that_of_the_sample(data):
    weights = {"w": torch.zeros(3)}
    train, test, stderr = measured(answer(0.0), weights, data)
    risks = torch.stack([f.table().square().mean() for f in data.functions])
    assert torch.allclose(test, risks, rtol=1e-12)  # 32 additions in float64
    assert torch.allclose(test, torch.ones(3, dtype=torch.float64), rtol=1e-12)
    mean = data.targets.double().square().mean(1)
    assert torch.allclose(train, mean, rtol=1e-12)
    assert torch.equal(stderr, torch.zeros(3, dtype=torch.float64))


def test_the_risk_of_a_known_error_is_counted(data):
    weights = {"w": torch.tensor([0.0, 1.0, 2.0])}
    train, test, _ = measured(reader(data.functions), weights, data, chunk=7)
    odd = (data.bits.sum(-1) % 2).double().mean(1)
    error = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64)
    slack = (
        4e-6  # answers are float32 of size 4: an error of 2 is off by at most 5e-7, squared 2e-6
    )
    assert (test - error / 2).abs().max() < slack
    assert (train - error * odd).abs().max() < slack


def test_a_real_network_and_the_chunks_agree(data):
    spec = samples.paper_spec(5)
    weights = samples.start(spec, data)

    def network(w, tokens):
        return forward(spec, w, tokens)

    _, whole, _ = measured(network, weights, data, chunk=32)
    _, parts, _ = measured(network, weights, data, chunk=5)
    outputs = network(weights, bits(5)).double()
    targets = torch.stack([f.table() for f in data.functions])
    # float32 sums in another order: a few hundred roundings of numbers of order 1
    assert torch.allclose(whole, (outputs - targets).square().mean(1), rtol=1e-4)
    assert torch.allclose(whole, parts, rtol=1e-4)


def test_fresh_strings_estimate_the_risk_with_their_error():
    data = samples.draw(12, [(2, 1)], 4, [0])
    known = reader(data.functions)
    weights = {"w": torch.tensor([1.0])}
    scores = []
    for seed in range(150):
        g = torch.Generator().manual_seed(seed)
        _, test, stderr = measured(known, weights, data, fresh=400, generator=g)
        # errors are 0 or 1 with equal chance: a standard deviation of 1/2
        assert stderr.item() == pytest.approx(0.5 / math.sqrt(400), rel=0.05)
        scores.append((test.item() - 0.5) / stderr.item())
    z = torch.tensor(scores)
    assert abs(z.mean().item()) < 5 / math.sqrt(150)
    assert abs(z.std().item() - 1) < 5 / math.sqrt(300)  # standard errors of both: five


@pytest.mark.parametrize("fresh", [1, 0, -3])
def test_too_few_fresh_strings_are_named(data, fresh):
    with pytest.raises(ValueError, match=f"at least 2, got {fresh}"):
        measured(answer(0.0), {"w": torch.zeros(3)}, data, fresh=fresh)


def test_outputs_of_another_shape_are_named(data):
    with pytest.raises(ValueError, match=r"\(3, 40\), got \(2, 40\)"):
        measured(answer(0.0), {"w": torch.zeros(2)}, data)


def test_a_cube_that_is_too_large_is_named():
    data, weights = samples.draw(21, [(1, 1)], 4, [0]), {"w": torch.zeros(1)}
    with pytest.raises(ValueError, match="up to n = 20, got 21"):
        measured(answer(0.0), weights, data)
    drawn = measured(answer(0.0), weights, data, fresh=8, generator=torch.Generator())
    assert all(part.isfinite().all() for part in drawn)
    cube = samples.draw(20, [(1, 1)], 4, [0])
    _, risk, stderr = measured(answer(0.0), weights, cube, chunk=2**20)
    assert risk.item() == pytest.approx(1, rel=1e-12)
    assert stderr.item() == 0


def test_a_model_learns_and_its_row_says_what_it_measures():
    data = samples.draw(5, [(1, 1), (1, 2)], 32, [0, 1])
    spec = samples.paper_spec(5, value_width=6, hidden=8)
    trained = samples.learn(data, spec, steps=400, batch_size=16)
    rows = samples.gap_table(data, partial(forward, spec), trained)
    assert rows["finished"].tolist() == [1, 1]
    assert rows["steps"].tolist() == trained.steps.tolist()
    assert rows[["degree", "sparsity"]].to_numpy().tolist() == [[1, 1], [1, 2]]
    assert (rows["train"] < 0.1).all()


def test_the_recipe_of_many_characters_slows_the_second_attention_by_ten():
    assert samples.SLOW == {"layers.1.query": 0.1, "layers.1.key": 0.1}
