"""The smallest model of the first paper against a token by token account of it."""

import math

import pytest
import torch

from helpers import cube
from papers.sharper import circuits


def drawn(n=5, hidden=7, ensemble=None, seed=0):
    generator = torch.Generator().manual_seed(seed)
    models = [circuits.initial_weights(n, hidden, generator) for _ in range(ensemble or 1)]
    weights = {k: torch.stack([m[k] for m in models]).double() + 0.1 for k in models[0]}
    return weights if ensemble else {k: v[0] for k, v in weights.items()}


def token_by_token(w, bits, positional=False):
    n = len(w["head"])
    total = w["head_bias"].clone()
    tokens = [torch.cat((torch.eye(n)[j].double(), bits[j : j + 1].double())) for j in range(n)]
    seen = [torch.cat((t[:n], 0 * t[n:])) for t in tokens] if positional else tokens
    for i in range(n):
        scores = torch.stack([(seen[i] @ w["query"]) @ (seen[j] @ w["key"]) for j in range(n)])
        a = scores.softmax(0)
        y = sum(a[j] * (tokens[j] @ w["value"]) for j in range(n))
        total = total + w["head"][i] * ((w["G"] * y + w["b"]).relu() @ w["F"])
    return total


@pytest.mark.parametrize("positional", [False, True])
def test_forward_is_the_model_written_out(positional):
    w = drawn()
    every = cube.bits(5)
    expected = torch.stack([token_by_token(w, b, positional) for b in every])
    torch.testing.assert_close(circuits.forward(w, every, positional), expected)


@pytest.mark.parametrize("positional", [False, True])
def test_an_ensemble_is_its_models(positional):
    w = drawn(ensemble=3)
    own = torch.randint(0, 2, (3, 9, 5), generator=torch.Generator().manual_seed(1))
    for bits in (own, own[0]):
        together = circuits.forward(w, bits, positional)
        for e in range(3):
            alone = {k: v[e] for k, v in w.items()}
            given = bits if bits.ndim == 2 else bits[e]
            torch.testing.assert_close(together[e], circuits.forward(alone, given, positional))


def test_rows_add_up_to_the_output():
    w, every = drawn(), cube.bits(5)
    rows = circuits.written(w, every, circuits.attention(w, every))
    assert rows.shape == (32, 5)
    torch.testing.assert_close(rows.sum(-1) + w["head_bias"], circuits.forward(w, every))


def test_positional_attention_is_one_matrix():
    w, every = drawn(), cube.bits(5)
    kept = circuits.attention(w, every, positional=True)
    assert (kept == kept[:1]).all()
    assert (circuits.attention(w, every).std(0) > 1e-3).any()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"shape \(..., B, 5\), got \(4, 6\)"):
        circuits.forward(drawn(), torch.zeros(4, 6, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"shape \(..., B, 5\), got \(5,\)"):
        circuits.forward(drawn(), torch.zeros(5, dtype=torch.int64))
    generator = torch.Generator()
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        circuits.initial_weights(0, 4, generator)
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        circuits.initial_weights(4, 0, generator)


def test_what_rows_carry_adds_up_to_the_coefficient_of_the_output():
    w, every = drawn(), cube.bits(5)
    members = torch.tensor([True, False, True, False, False])
    rows = circuits.written(w, every, circuits.attention(w, every))
    total = circuits.carried(rows, every, members).sum()
    coefficients = cube.spectrum(circuits.forward(w, every))
    torch.testing.assert_close(total, coefficients[cube.mask_of([1, 3])])


def test_the_strongest_columns_are_found_with_and_without_the_rows_own():
    row = torch.tensor([0.0, 0.5, 0.3, 0.2])
    members = torch.tensor([True, True, True, False])
    assert not circuits.strongest_are(row, members)
    assert circuits.strongest_are(row, members, apart=0)
    assert circuits.strongest_are(row, torch.tensor([False, True, True, False]))
    assert members.tolist() == [True, True, True, False]


def test_turns_are_counted_and_small_ones_are_not():
    x = torch.linspace(0, 1, 400)
    assert [circuits.turns(torch.cos(math.pi * d * x)) for d in (1, 2, 3)] == [0, 1, 2]
    assert circuits.turns(x + 0.02 * torch.cos(60 * x)) == 0
    with pytest.raises(ValueError, match="values must be finite, got nan"):
        circuits.turns(torch.tensor([0.0, math.nan, 1.0]))


def test_weights_begin_uniform_within_their_scale():
    w = circuits.initial_weights(24, 400, torch.Generator().manual_seed(0))
    tops = {"query": math.sqrt(3 / 25), "key": math.sqrt(3 / 25), "value": 1 / 5, "G": 1, "b": 1}
    tops |= {"F": 1 / 20, "head": 1 / math.sqrt(24)}
    for name, top in tops.items():
        assert 0.75 * top < w[name].abs().max() <= top, name  # 24 numbers or more
    assert w["head_bias"] == 0
