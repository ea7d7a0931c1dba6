"""Sparse token regression, the attention model, and the attention written by hand."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.training.train import train
from papers.retrieval import attention as construction
from papers.retrieval import task as retrieval
from papers.retrieval.task import Prompts
from tests.draws import seeded


def doubled(weights):
    return {k: v.double() for k, v in weights.items()}


@pytest.fixture
def model():
    """Two models in float64, whose biases are not zero, and tokens for them."""
    weights = doubled(retrieval.initial_weights(9, 7, seeded(1), 2))
    for name in ("query", "key", "value", "output"):
        noise = torch.randn(2, 9, generator=seeded(2), dtype=torch.float64)
        weights[f"{name}_bias"] = noise + len(name)
    return weights, torch.randn(2, 3, 5, 9, generator=seeded(3), dtype=torch.float64)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(0, 10**6), st.data())
def test_encodings_are_distinct_signs_of_length_one(d_e, seed, data):
    N = data.draw(st.integers(1, 2**d_e))
    omega = retrieval.encodings(N, d_e, seeded(seed), ensemble=2)
    assert omega.shape == (2, N, d_e)
    torch.testing.assert_close(omega.abs() * math.sqrt(d_e), torch.ones(2, N, d_e))
    assert all(len(rows.sign().unique(dim=0)) == N for rows in omega)


def test_coherence_is_the_largest_inner_product_of_two_rows():
    omega = retrieval.encodings(6, 8, seeded(), ensemble=3)
    for found, rows in zip(retrieval.coherence(omega), omega, strict=True):
        pairs = [abs(float(a @ b)) for a, b in itertools.combinations(rows, 2)]
        assert found.item() == pytest.approx(max(pairs), abs=1e-6)


@pytest.mark.parametrize("simple", [True, False])
def test_labels_and_tokens_follow_the_pointers_entry_by_entry(simple):
    B, N, d, d_e, q = 4, 5, 3, 6, 2
    drawn = retrieval.prompts(B, N, d, seeded(), q=q, simple=simple)
    omega = retrieval.encodings(N, d_e, seeded(1))
    other = retrieval.encodings(N, d_e, seeded(2))
    u = torch.randn(q, d, generator=seeded(3))
    found = retrieval.labels(drawn, u)
    tokens = retrieval.encode(drawn, omega, scale=1.5, pointers=other)
    for b, i in itertools.product(range(B), range(N)):
        targets = drawn.t[b, i].tolist()
        expected = sum(float(u[h] @ drawn.x[b, t]) for h, t in enumerate(targets))
        assert found[b, i].item() == pytest.approx(expected, abs=1e-5)
        pieces = [drawn.x[b, i], 1.5 * omega[i], *(1.5 * other[t] for t in targets)]
        torch.testing.assert_close(tokens[b, i], torch.cat(pieces))
    assert bool((drawn.t == drawn.t[:, :1]).all()) == simple


def test_the_parts_of_a_token_are_where_encode_puts_them():
    drawn = retrieval.prompts(2, 4, 3, seeded(), q=2)
    omega = retrieval.encodings(4, 5, seeded())
    tokens, part = retrieval.encode(drawn, omega), retrieval.parts(3, 5, q=2)
    assert list(part) == ["x", "position", "pointer 1", "pointer 2"]
    assert torch.equal(tokens[..., part["x"]], drawn.x)
    assert torch.equal(tokens[0, :, part["position"]], omega)
    assert torch.equal(tokens[..., part["pointer 2"]], omega[drawn.t[..., 1]])
    assert list(retrieval.parts(3, 5)) == ["x", "position", "pointer"]


def test_the_model_is_attention_and_feedforward_as_torch_has_them(model):
    weights, tokens = model
    found = retrieval.forward(weights, tokens)
    for e in range(2):
        one = {k: v[e] for k, v in weights.items()}
        attention = torch.nn.MultiheadAttention(9, 1, batch_first=True).double()
        attention.load_state_dict(
            {
                "in_proj_weight": torch.cat([one[k] for k in ("query", "key", "value")]),
                "in_proj_bias": torch.cat([one[f"{k}_bias"] for k in ("query", "key", "value")]),
                "out_proj.weight": one["output"],
                "out_proj.bias": one["output_bias"],
            }
        )
        heads, shares = attention(tokens[e], tokens[e], tokens[e])
        hidden = (heads @ one["hidden"].mT + one["hidden_bias"]).relu()
        expected = (hidden @ one["readout"].mT + one["readout_bias"]).squeeze(-1)
        torch.testing.assert_close(found[e], expected, rtol=1e-10, atol=1e-10)
        scores = retrieval.logits(weights, tokens)[e]
        torch.testing.assert_close(scores.softmax(-1), shares, rtol=1e-10, atol=1e-10)


def test_a_model_alone_computes_what_it_computes_in_an_ensemble(model):
    weights, tokens = model
    together = retrieval.forward(weights, tokens)
    alone = retrieval.forward({k: v[1] for k, v in weights.items()}, tokens[1])
    torch.testing.assert_close(alone, together[1], rtol=1e-10, atol=1e-10)


def test_initial_weights_are_spread_as_torch_spreads_them():
    D, hidden = 40, 60
    weights = retrieval.initial_weights(D, hidden, seeded(), 20)
    attention = torch.nn.MultiheadAttention(D, 1)
    bounds = {
        "query": attention.in_proj_weight.abs().max().item(),
        "output": attention.out_proj.weight.abs().max().item(),
        "hidden": 1 / math.sqrt(D),
        "hidden_bias": 1 / math.sqrt(D),
        "readout": 1 / math.sqrt(hidden),
        "readout_bias": 1 / math.sqrt(hidden),
    }
    for name, bound in bounds.items():
        # The largest of n uniform sizes falls short of the bound by about bound / n.
        assert weights[name].abs().max().item() == pytest.approx(
            bound, rel=0.15 if "_" in name else 0.01
        )
        assert abs(weights[name].mean().item()) < 5 * bound / math.sqrt(3 * weights[name].numel())
    for name in ("query", "key", "value", "output"):
        assert not weights[f"{name}_bias"].any()
        assert weights[name].shape == (20, D, D)


def test_the_key_bias_has_no_effect_and_the_query_bias_has_one(model):
    weights, tokens = model
    before = retrieval.forward(weights, tokens)
    for name, moves in (("key", False), ("query", True)):
        changed = weights | {f"{name}_bias": weights[f"{name}_bias"] + torch.arange(9.0)}
        gap = (retrieval.forward(changed, tokens) - before).abs().max()
        assert (gap > 1e-3) == moves


def test_without_a_query_bias_the_query_key_matrix_is_the_attention(model):
    weights, tokens = model
    matrix = retrieval.query_key(weights)
    torch.testing.assert_close(matrix[1], weights["query"][1].T @ weights["key"][1])
    bilinear = retrieval.bilinear_logits(matrix, tokens)
    expected = tokens[0, 2, 4] @ matrix[0] @ tokens[0, 2, 1] / 3
    assert bilinear[0, 2, 4, 1].item() == pytest.approx(expected.item(), abs=1e-10)
    plain = weights | {"query_bias": torch.zeros(2, 9, dtype=torch.float64)}
    torch.testing.assert_close(bilinear, retrieval.logits(plain, tokens), rtol=1e-10, atol=1e-10)


def test_an_instance_draws_the_same_prompts_whoever_else_is_asked():
    made = [retrieval.new_task(3, 6, 2, 5, seeded(), simple=True) for _ in range(2)]
    everyone = [made[0].prompts(torch.arange(3), 4) for _ in range(2)]
    for k in range(2):
        one = made[1].prompts(torch.tensor([1]), 4)
        assert torch.equal(one.x[0], everyone[k].x[1])
        assert torch.equal(one.t[0], everyone[k].t[1])
    assert not torch.equal(everyone[0].x, everyone[1].x)


def test_a_new_task_has_labels_of_variance_one():
    task = retrieval.new_task(4, 6, 3, 5, seeded(), q=2)
    torch.testing.assert_close(task.u.flatten(1).norm(dim=1), torch.ones(4))
    tokens, labels = task.examples(torch.arange(4), task.prompts(torch.arange(4), 4000))
    assert tokens.shape == (4, 4000, 6, 3 + 3 * 5)
    # Two pointers meet with probability 1/6, which makes the labels' variance 1 + 2 <u_1, u_2> / 6.
    expected = 1 + 2 * (task.u[:, 0] * task.u[:, 1]).sum(-1) / 6
    torch.testing.assert_close(labels.square().mean((1, 2)), expected, rtol=0, atol=0.1)


def test_a_shifted_task_shows_the_position_before_the_one_meant():
    plain, shifted = (
        retrieval.new_task(2, 6, 2, 5, seeded(), simple=True, shifted=s) for s in (False, True)
    )
    models = torch.arange(2)
    drawn = plain.prompts(models, 3)
    (a, label_a), (b, label_b) = plain.examples(models, drawn), shifted.examples(models, drawn)
    assert torch.equal(label_a, label_b)
    pointer = retrieval.parts(2, 5)["pointer"]
    assert torch.equal(a[..., : pointer.start], b[..., : pointer.start])
    before = Prompts(drawn.x, (drawn.t - 1) % 6)
    assert torch.equal(retrieval.encode(before, plain.omega)[..., pointer], b[..., pointer])


def test_a_fixed_set_returns_whole_in_every_epoch_in_another_order():
    task = retrieval.new_task(2, 4, 1, 3, seeded(), simple=True)
    batch = task.fixed(10, 4)
    epochs = []
    for _ in range(2):
        tokens = [batch(torch.arange(2))[0] for _ in range(3)]
        assert [t.shape[1] for t in tokens] == [4, 4, 2]
        epochs.append(torch.cat(tokens, 1)[..., 0, 0])
    assert torch.equal(epochs[0].sort(1).values, epochs[1].sort(1).values)
    assert not torch.equal(epochs[0], epochs[1])
    assert batch(torch.tensor([1]))[0].shape[0] == 1


def test_the_construction_fills_the_block_of_its_head_and_nothing_else():
    W = construction.query_key(3, 4, 2.5, q=2)
    part = retrieval.parts(3, 4, q=2)
    for h in (1, 2):
        block = W[h - 1, part[f"pointer {h}"], part["position"]].clone()
        assert torch.equal(block, 2.5 * torch.eye(4))
        assert W[h - 1].count_nonzero() == 4


@settings(deadline=None, max_examples=25)
@given(st.floats(0.0, 60.0), st.integers(1, 3), st.integers(0, 10**6))
def test_the_construction_retrieves_as_well_as_lemma_11_says(alpha, q, seed):
    N, d, d_e = 12, 4, 64
    drawn = retrieval.prompts(3, N, d, seeded(seed), q=q)
    omega = retrieval.encodings(N, d_e, seeded(seed + 1))
    gap = 1 - (omega @ omega.mT).masked_fill(torch.eye(N, dtype=torch.bool), -1).max().item()
    scale = math.sqrt(d / q)
    tokens = retrieval.encode(drawn, omega, scale=scale).double()
    heads = construction.attend(construction.query_key(d, d_e, alpha, q).double(), tokens)
    error = (heads[..., :d] - retrieval.retrieved(drawn)).norm(dim=-1).max().item()
    # The softmax leaves at most (N - 1) exp(-alpha scale^2 gap) for the tokens not pointed at.
    bound = 2 * N * math.exp(-alpha * scale**2 * gap) * drawn.x.norm(dim=-1).max().item()
    assert error <= bound + 1e-5  # labels are float32
    if alpha == 0:
        torch.testing.assert_close(heads[:, 0, 0], tokens.mean(1))


def test_covariance_is_that_of_the_rows():
    omega = retrieval.encodings(9, 5, seeded()).double()
    found = retrieval.covariance(omega)
    torch.testing.assert_close(found, omega.T.cov(correction=0))
    other = retrieval.encodings(9, 5, seeded(1)).double()
    pairs = torch.cat((other, omega), 1).T.cov(correction=0)
    torch.testing.assert_close(retrieval.covariance(omega, other), pairs[:5, 5:])


def test_cosine_squared_is_the_share_of_the_energy_along_a_matrix():
    A = torch.randn(3, 4, 4, generator=seeded(), dtype=torch.float64)
    B = torch.randn(3, 4, 4, generator=seeded(1), dtype=torch.float64)
    along = (A * B).sum((1, 2), keepdim=True) / B.square().sum((1, 2), keepdim=True) * B
    share = along.square().sum((1, 2)) / A.square().sum((1, 2))
    torch.testing.assert_close(retrieval.cosine(A, B).square(), share)
    torch.testing.assert_close(retrieval.cosine(A, -2 * A), -torch.ones(3, dtype=torch.float64))


def test_a_block_is_summed_up_for_data_of_one_dimension_and_of_no_less():
    omega = retrieval.encodings(5, 3, seeded(), 2)
    found = retrieval.block_summary(torch.eye(7).expand(2, 7, 7), omega)
    assert found["block_share"].tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"D > 2 d_e"):
        retrieval.block_summary(torch.eye(6).expand(2, 6, 6), omega)


def test_the_summary_of_a_block_says_what_was_put_there():
    d, d_e, E = 2, 3, 2
    omega = retrieval.encodings(5, d_e, seeded(), E)
    part = retrieval.parts(d, d_e)
    matrix = torch.zeros(E, 8, 8)
    matrix[:, part["position"], part["pointer"]] = 0.5
    matrix[:, part["pointer"], part["position"]] = 4 * torch.eye(d_e) - 1
    found = retrieval.block_summary(matrix, omega)
    energy = 3 * 9 + 6
    expected = {
        "block_share": energy / (energy + 9 * 0.25),
        "diagonal_share": 27 / energy,
        "positive_share": 1.0,
        "mean_diagonal": 3.0,
        "mean_beside": 1.0,
        "mean_elsewhere": 0.5,
        "cosine_identity": 9 / math.sqrt(energy * 3),
    }
    for name, value in expected.items():
        torch.testing.assert_close(found[name], torch.full((E,), value))
    torch.testing.assert_close(found["cosine_pointers"], found["cosine_covariance"])
    matrix[:, part["pointer"], part["position"]] = -2 * retrieval.covariance(omega)
    found = retrieval.block_summary(matrix, omega)
    torch.testing.assert_close(found["cosine_covariance"], -torch.ones(E))
    expected = -retrieval.cosine(retrieval.covariance(omega), retrieval.covariance(omega.flip(0)))
    torch.testing.assert_close(found["cosine_foreign"], expected)
    shown = omega.roll(1, -2)
    matrix[:, part["pointer"], part["position"]] = retrieval.covariance(omega, shown)
    found = retrieval.block_summary(matrix, omega, shown)
    torch.testing.assert_close(found["cosine_pointers"], torch.ones(E))


def test_training_finds_the_block():
    N, d, d_e = 8, 2, 6
    task = retrieval.new_task(2, N, d, d_e, seeded(), simple=True)
    start = retrieval.initial_weights(d + 2 * d_e, 50, seeded(), 2)
    options = {"steps": 600, "learning_rate": 4e-3, "check_every": 50, "threshold": 0.1}
    out = train(retrieval.forward, start, task.fresh(64), **options)
    assert out.finished.all()
    found = retrieval.block_summary(retrieval.query_key(out.weights), task.omega)
    before = retrieval.block_summary(retrieval.query_key(start), task.omega)
    assert (found["block_share"] > 0.8).all()
    assert (before["block_share"] < 0.5).all()
    assert (found["cosine_covariance"] > 0.8).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: retrieval.encodings(9, 3, seeded()), r"N runs from 1 to 2\*\*d_e, got N = 9"),
        (lambda: retrieval.encodings(0, 3, seeded()), "got N = 0"),
        (lambda: retrieval.encodings(1, 0, seeded()), "got N = 1 with d_e = 0"),
        (lambda: retrieval.coherence(torch.ones(1, 4)), "at least 2 encodings, got 1"),
        (lambda: retrieval.prompts(0, 4, 2, seeded()), "B must be at least 1, got 0"),
        (lambda: retrieval.prompts(1, 4, 2, seeded(), q=0), "q must be at least 1, got 0"),
        (
            lambda: retrieval.labels(retrieval.prompts(1, 4, 2, seeded()), torch.ones(1, 3)),
            r"must end in \(q, d\) = \(1, 2\), got \(1, 3\)",
        ),
        (
            lambda: retrieval.encode(retrieval.prompts(1, 4, 2, seeded()), torch.ones(3, 5)),
            "4 tokens need as many encodings, got 3",
        ),
        (lambda: retrieval.initial_weights(0, 3, seeded(), 1), "D must be at least 1, got 0"),
        (
            lambda: retrieval.new_task(1, 4, 2, 3, seeded()).fixed(5, 6),
            "a batch of 6 cannot be taken from 5 samples",
        ),
        (
            lambda: retrieval.block_summary(torch.ones(1, 8, 8), torch.ones(1, 5, 3)),
            r"E > 1 and D > 2 d_e, got \(1, 8, 8\) and \(1, 5, 3\)",
        ),
        (
            lambda: retrieval.block_summary(torch.ones(2, 8, 9), torch.ones(2, 5, 3)),
            r"got \(2, 8, 9\) and \(2, 5, 3\)",
        ),
        (
            lambda: retrieval.block_summary(torch.ones(2, 8, 8), torch.ones(3, 5, 3)),
            r"got \(2, 8, 8\) and \(3, 5, 3\)",
        ),
        (lambda: construction.query_key(0, 3, 1.0), "d must be at least 1, got 0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
