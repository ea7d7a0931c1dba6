"""Planted functions: labels, independence of trials, the model's start, the critical size."""

import functools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nets.spec import shapes
from helpers.nets.transformer import forward
from papers.variables import planted


@pytest.mark.parametrize("gate", ["and", "parity"])
def test_labels_are_those_of_the_hidden_bits(gate):
    trials = planted.plant(gate, 9, 3, [4, 5])
    bits, labels = trials.sample(50)
    assert bits.dtype == torch.uint8
    assert labels.dtype == torch.int64
    for e in range(2):
        for row, label in zip(bits[e].tolist(), labels[e].tolist(), strict=True):
            ones = sum(row[i] for i in trials.hidden[e].tolist())
            assert label == (ones == 3 if gate == "and" else ones % 2)


@pytest.mark.parametrize("gate", ["and", "parity"])
def test_a_gate_on_one_bit_is_that_bit(gate):
    trials = planted.plant(gate, 5, 1, [0])
    bits, labels = trials.sample(20)
    assert labels[0].tolist() == bits[0, :, trials.hidden[0, 0]].tolist()


def test_an_and_of_s_bits_is_one_on_a_share_of_two_to_the_minus_s():
    _, labels = planted.plant("and", 12, 3, [0]).sample(40_000)
    assert labels.float().mean().item() == pytest.approx(1 / 8, abs=5 * math.sqrt(7 / 64 / 40_000))


def test_a_trial_does_not_depend_on_its_neighbours():
    alone = planted.plant("and", 20, 3, [7])
    among = planted.plant("and", 20, 3, [3, 7, 9])
    assert torch.equal(alone.hidden[0], among.hidden[1])
    assert torch.equal(alone.sample(5)[0][0], among.sample(5)[0][1])
    spec = planted.probe(20)
    first, second = planted.start(spec, alone), planted.start(spec, among)
    assert all(torch.equal(first[k][0], second[k][1]) for k in first)


def test_trials_that_differ_in_one_argument_have_other_strings():
    drawn = {
        tuple(planted.plant(*given).sample(4)[0].flatten()[:60].tolist())
        for given in (
            ("and", 20, 3, [1]),
            ("parity", 20, 3, [1]),
            ("and", 20, 2, [1]),
            ("and", 21, 3, [1]),
            ("and", 20, 3, [2]),
            ("and", 20, 3, [1 + 2**32]),
        )
    }
    assert len(drawn) == 6


def test_hidden_positions_are_distinct_and_uniform():
    hidden = planted.plant("and", 5, 2, range(2000)).hidden
    assert (hidden[:, 1] > hidden[:, 0]).all()
    counts = torch.bincount(hidden.flatten(), minlength=5)
    assert ((counts - 800).abs() < 5 * math.sqrt(2000 * 0.4 * 0.6)).all()


def test_the_start_has_small_embeddings_and_the_probe_s_shapes():
    spec = planted.probe(30, width=64, heads=16)
    weights = planted.start(spec, planted.plant("and", 30, 3, range(4)))
    assert {k: tuple(v.shape[1:]) for k, v in weights.items()} == shapes(spec)
    for name in ("embedding", "positions", "cls"):
        assert weights[name].std().item() == pytest.approx(0.02, rel=0.35)


def test_matrices_can_start_normal_with_biases_0():
    spec = planted.probe(30, width=64, heads=16)
    weights = planted.start(spec, planted.plant("and", 30, 3, range(3)), matrices=0.02)
    assert all(not v.any() for name, v in weights.items() if name.endswith("bias"))
    assert (weights["norm.gain"] == 1).all()
    for part in planted.MATRICES:
        name = part if part == "readout" else f"layers.0.{part}"
        assert weights[name].std().item() == pytest.approx(0.02, rel=0.2)


def large_weights(spec, trials):
    """Weights at which no term of the model is negligible, float64."""
    generator = torch.Generator().manual_seed(1)
    return {
        k: (v + 0.3 * torch.randn(v.shape, generator=generator)).double().requires_grad_()
        for k, v in planted.start(spec, trials).items()
    }


@pytest.mark.parametrize("dropout", [0.0, 1e-12])
@pytest.mark.parametrize(("T", "width", "heads"), [(7, 8, 2), (12, 16, 16), (3, 6, 1)])
def test_logits_and_gradients_are_those_of_the_transformer(T, width, heads, dropout):
    trials = planted.plant("and", T, 3, [0, 1])
    spec = planted.probe(T, width=width, heads=heads)
    weights, (bits, _) = large_weights(spec, trials), trials.sample(9)
    found = planted.logits(spec, weights, bits, dropout=dropout)
    expected = forward(spec, weights, bits)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    names = [name for name in weights if not name.endswith("key_bias")]  # softmax ignores it
    of = [weights[name] for name in names]
    slopes = (torch.autograd.grad(v.square().sum(), of) for v in (found, expected))
    for name, a, b in zip(names, *slopes, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, msg=name)


def test_scores_far_apart_leave_the_logits_as_they_are():
    trials = planted.plant("and", 5, 3, [0])
    spec = planted.probe(5, width=8, heads=2)
    weights = {k: v.detach() for k, v in large_weights(spec, trials).items()}
    weights["layers.0.query"] *= 60
    bits = trials.sample(6)[0]
    expected, inside = forward(spec, weights, bits, intermediates=True)
    scores = inside["layers.0.scores"]
    assert (scores.amax(-1) - scores.amin(-1)).max() > 80
    torch.testing.assert_close(planted.logits(spec, weights, bits), expected)


def test_dropout_leaves_the_heads_right_on_average():
    trials = planted.plant("and", 6, 3, [0])
    spec = planted.probe(6, width=8, heads=2)
    weights = {k: v.detach() for k, v in large_weights(spec, trials).items()}
    bits = trials.sample(1)[0].expand(1, 4000, 6)
    generator = torch.Generator().manual_seed(0)
    noisy = planted.logits(spec, weights, bits, dropout=0.01, generator=generator)[0]
    clean = planted.logits(spec, weights, bits)[0, :1]
    assert (noisy != clean).any(1).double().mean() > 0.5
    error = noisy.std(0) / math.sqrt(4000)
    assert ((noisy.mean(0) - clean[0]).abs() < 0.1 * noisy.std(0) + 5 * error).all()


def test_errors_are_the_share_of_wrong_answers():
    trials = planted.plant("and", 6, 2, [0, 1, 2])
    bits, labels = trials.sample(40)
    spec = planted.probe(6, width=8, heads=2)
    weights = planted.start(spec, trials)
    evaluate = planted.errors(functools.partial(forward, spec), bits, labels)
    models = torch.tensor([2, 0])
    found = evaluate({k: v[models] for k, v in weights.items()}, models)
    for e, value in zip(models.tolist(), found.tolist(), strict=True):
        one = forward(spec, {k: v[e] for k, v in weights.items()}, bits[e])
        wrong = (one[:, 1] > one[:, 0]).long() != labels[e]
        assert value == pytest.approx(wrong.float().mean().item(), abs=1e-6)


def test_the_critical_size_of_a_line_in_the_logarithm_is_where_it_passes():
    sizes = [10, 20, 40, 80]
    assert planted.critical_size(sizes, torch.tensor([0.0, 0.25, 0.75, 1.0])) == pytest.approx(
        20 * math.sqrt(2)
    )
    assert planted.critical_size(sizes, torch.tensor([0.6, 0.7, 0.8, 1.0])) == 10
    assert planted.critical_size(sizes, torch.tensor([0.0, 0.1, 0.2, 0.5])) == math.inf
    assert planted.critical_size(
        sizes, torch.tensor([0.0, 0.25, 0.75, 1.0]), 0.25
    ) == pytest.approx(20)


def test_a_dip_is_averaged_out():
    found = planted.critical_size([10, 20, 40], torch.tensor([0.0, 0.8, 0.6]))
    level = planted.critical_size([10, 20, 40], torch.tensor([0.0, 0.7, 0.7]))
    assert found == pytest.approx(level)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=4, max_size=4), st.integers(0, 3))
def test_one_more_success_never_raises_the_critical_size(counts, k):
    sizes = [8, 16, 32, 64]
    shares = torch.tensor(counts, dtype=torch.float64) / 8
    more = shares.clone()
    more[k] = min(more[k] + 1 / 8, 1.0)
    before, after = (planted.critical_size(sizes, v) for v in (shares, more))
    assert after <= before * (1 + 1e-12)


def waits_without_memory(mean, runs, seed):
    return torch.empty(runs).exponential_(1 / mean, generator=torch.Generator().manual_seed(seed))


def test_redrawn_medians_begin_with_the_runs_as_they_are():
    waits = waits_without_memory(100, 400, 0)
    medians = planted.redrawn_medians(waits, 500, torch.Generator().manual_seed(0))
    assert medians.shape == (501,)
    assert (waits < medians[0]).sum() == 200
    assert medians[1:].std().item() == pytest.approx(100 / math.sqrt(400), rel=0.35)


def test_a_median_does_not_know_where_the_slower_runs_were_stopped():
    waits = waits_without_memory(100, 401, 0)
    stopped = planted.redrawn_medians(waits.clamp(max=150), 1, torch.Generator())
    assert stopped[0] == waits.median()


def test_the_onset_is_the_last_check_above_the_level():
    nan = math.nan
    losses = torch.tensor([[0.7, 0.7, 0.1], [0.5, 0.2, 0.1], [0.7, nan, 0.1], [0.2, nan, 0.1]])
    assert planted.onsets([10, 20, 30, 40], losses, 0.6).tolist() == [30, 10, 0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: planted.onsets([1, 2], torch.zeros(3, 1), 0.5), "2 checks"),
        (lambda: planted.onsets([1, 2], torch.zeros(2), 0.5), r"\(C, E\), got \(2,\)"),
        (lambda: planted.redrawn_medians(torch.ones(2, 2), 5, torch.Generator()), "values"),
        (lambda: planted.redrawn_medians(torch.ones(2), 0, torch.Generator()), "count"),
        (lambda: planted.plant("or", 5, 2, [0]), "gate"),
        (lambda: planted.plant("and", 5, 6, [0]), "s must lie"),
        (lambda: planted.plant("and", 5, 0, [0]), "s must lie"),
        (lambda: planted.plant("and", 5, 2, []), "at least one trial"),
        (lambda: planted.plant("and", 5, 2, [0]).sample(0), "at least 1 string"),
        (lambda: planted.plant("and", 5, 2, [0]).label(0, torch.zeros(3, 4)), "T = 5"),
        (lambda: planted.critical_size([1, 2], torch.tensor([0.5])), "as many shares"),
        (lambda: planted.critical_size([], torch.tensor([])), "as many shares"),
        (lambda: planted.critical_size([2, 1], torch.tensor([0.5, 0.6])), "increase"),
        (lambda: planted.critical_size([2, 2], torch.tensor([0.5, 0.6])), r"increase, got \[2, 2"),
        (lambda: planted.critical_size([0, 1], torch.tensor([0.5, 0.6])), r"positive .* \[0, 1\]"),
        (lambda: planted.critical_size([1, 2], torch.tensor([0.5, 1.6])), "lie in"),
        (lambda: planted.critical_size([1, 2], torch.tensor([-0.5, 0.6])), r"lie in .* got \[-0.5"),
        (lambda: planted.critical_size([1, 2], torch.tensor([0.5, math.nan])), "lie in"),
        (lambda: planted.critical_size([1, 2], torch.tensor([0.5, 0.6]), 1.0), "level"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()
