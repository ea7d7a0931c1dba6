"""One bit's influence on attention: the closed form, the identity, the bounds, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward, initial_weights
from papers.sensitive import influence
from tests.draws import normal

law = settings(deadline=None, max_examples=40)
EPS = torch.finfo(torch.float64).eps


def gap_of(*values):
    return torch.tensor(values, dtype=torch.float64)


def mean_and_preference(scores, gap):
    """Of one row over all inputs: the mean flip by flip, and the mean of M_+ - M_-."""
    x = cube.bits(scores.shape[-1])
    rows = (scores + gap * x).softmax(-1)
    mean = influence.bit_influences(rows[..., None]).sum(-1).mean(-1).sum()
    return mean.item(), (rows * (2 * x - 1) * gap.sign()).sum(-1).mean().item()


def row_by_hand(scores, gap, bits):
    weights = [
        math.exp(s + g * b) for s, g, b in zip(scores, itertools.cycle(gap), bits, strict=False)
    ]
    return [w / sum(weights) for w in weights]


def sum_by_hand(scores, gap, bits):
    """Every flip, every weight."""
    total = 0.0
    here = row_by_hand(scores, gap, bits)
    for q in range(len(bits)):
        there = row_by_hand(scores, gap, [b ^ (j == q) for j, b in enumerate(bits)])
        total += sum(abs(a - b) for a, b in zip(here, there, strict=True))
    return total


@pytest.mark.parametrize("columns", [1, 5])
def test_the_closed_form_and_the_enumeration_are_the_definition(columns):
    scores, gap = normal(5, seed=columns), 2 * normal(columns, seed=9)
    sums = influence.summed_influence(scores, gap, cube.bits(5))
    by_hand = [sum_by_hand(scores.tolist(), gap.tolist(), b) for b in cube.bits(5).tolist()]
    assert sums.tolist() == pytest.approx(by_hand, abs=200 * EPS)
    assert mean_and_preference(scores, gap)[0] == pytest.approx(sum(by_hand) / 32, abs=200 * EPS)


@law
@given(st.integers(1, 7), st.floats(-40, 40), st.floats(0, 30), st.integers(0, 10**6))
def test_the_mean_is_four_preferences_and_below_its_limit(n, g, steep, seed):
    scores = steep * normal(n, seed=seed)
    mean, preference = mean_and_preference(scores, gap_of(g))
    tol = 100 * n**2 * EPS
    assert mean == pytest.approx(4 * preference, abs=tol)
    assert -tol <= mean <= 4 - 2.0 ** (3 - n) + tol


def test_gaps_of_both_signs_obey_the_same_identity():
    scores, gap = normal(6), 5 * normal(6, seed=1)
    assert (gap < 0).any()
    mean, preference = mean_and_preference(scores, gap)
    assert mean == pytest.approx(4 * preference, abs=1e-13)
    assert mean == pytest.approx(mean_and_preference(scores + gap, -gap)[0], abs=1e-13)


def test_the_limit_is_approached_for_every_row_and_by_no_biased_bits():
    for n in (2, 5, 9):
        found = influence.summed_influence(normal(n, seed=n), gap_of(60.0), cube.bits(n)).mean()
        assert found.item() == pytest.approx(4 - 2.0 ** (3 - n), abs=1e-12)
    zero = torch.zeros(9, dtype=torch.float64)
    assert influence.summed_influence(zero, gap_of(60.0), zero).item() == pytest.approx(16)


def test_extreme_scores_neither_overflow_nor_cancel():
    order = -1e3 * torch.arange(6, dtype=torch.float64)
    sums = influence.summed_influence(order, gap_of(1e6), cube.bits(6))
    first = [b.index(1) + 1 for b in cube.bits(6)[2:].tolist()]  # but for 0 and the first alone
    assert sums[2:].tolist() == [2.0 * j for j in first]
    tiny = influence.summed_influence(gap_of(0.0, -60.0), gap_of(0.0, 1.0), torch.zeros(2))
    assert tiny.item() == pytest.approx(2 * math.exp(-60) * (math.e - 1), rel=1e-9)


def test_a_row_is_moved_as_in_the_first_layer_of_a_transformer():
    spec = TransformerSpec(5, 8, 1, 1, 0, "none", readout="every", bias=False)
    generator = torch.Generator().manual_seed(3)
    weights = initial_weights(spec, None, generator, dtype=torch.float64)
    _, seen = forward(spec, weights, cube.bits(5), intermediates=True)
    rows = seen["layers.0.attention"][:, 0]  # (2**n, n, n)
    tokens = weights["embedding"][:, None] + weights["positions"]
    keys = tokens @ weights["layers.0.key"]
    flips = torch.arange(32)[:, None] ^ (1 << torch.arange(5))  # (2**n, n)
    for i in range(5):
        query = spec.scale * tokens[:, i] @ weights["layers.0.query"]  # by the own bit
        own = query[cube.bits(5)[:, i]]
        scores, gap = own @ keys[0].T, own @ (keys[1] - keys[0])[:1].T
        moved = (rows[:, i][:, None] - rows[:, i][flips]).abs().sum(-1)  # by input and bit
        others = [q for q in range(5) if q != i]
        one_row = influence.summed_influence(scores, gap, cube.bits(5))
        a = (scores + gap * cube.bits(5)).softmax(-1)
        b = cube.bits(5)[:, i, None]
        there = (scores + gap * torch.where(torch.arange(5) == i, 1 - b, cube.bits(5))).softmax(-1)
        by_own = (a - there).abs().sum(-1)  # the own bit as one that leaves the query as it is
        assert torch.allclose(moved[:, others].sum(-1) + by_own, one_row, rtol=1e-11)


def test_one_bit_has_nothing_to_take_attention_from():
    found = influence.summed_influence(gap_of(3.0), gap_of(5.0), cube.bits(1))
    assert found.tolist() == [0.0, 0.0]


def test_batches_and_single_precision_are_kept():
    scores, gap = normal(3, 1, 4).float(), normal(2, 1).float()
    found = influence.summed_influence(scores, gap, cube.bits(4)[:, None, None])
    assert found.shape == (16, 3, 2)
    assert found.dtype == torch.float32
    alone = influence.summed_influence(scores[2, 0], gap[1], cube.bits(4))
    assert torch.allclose(found[:, 2, 1], alone, atol=1e-6)


def test_the_bound_has_the_constants_of_its_statement():
    assert influence.tail_bound(512, 3.0) == pytest.approx(12 * math.log(512) + 9)


def test_influence_on_vectors_is_the_distance_to_the_neighbour():
    values = normal(2, 8, 3, 4)
    found = influence.bit_influences(values)
    assert found.shape == (3, 2, 8, 3)
    by_hand = (values[1, 5, 2] - values[1, 7, 2]).square().sum().sqrt()  # bit 1 of index 5
    assert found[1, 1, 5, 2].item() == pytest.approx(by_hand.item(), rel=4 * EPS)
    parities = influence.bit_influences(cube.parity(4)[:, None, None])
    assert (parities == 2).all()


def test_the_head_is_a_softmax_head():
    y, (query, key, value) = normal(4, 3, 5), normal(3, 5, 5, seed=1)
    found = influence.through_head(y, query, key, value)
    outputs, rows = [], []
    for x in y:
        row = ((x @ query) @ (x @ key).T).softmax(-1)
        rows.append(row)
        outputs.append(row @ x @ value)
    assert torch.allclose(
        found.output[1, 2], (outputs[2] - outputs[0]).norm(dim=-1), rtol=1e-11, atol=1e-13
    )
    moved = (rows[2] - rows[0]).abs()
    assert torch.allclose(found.row_sums[1, 2], moved.sum(-1), rtol=1e-11, atol=1e-13)
    C_V = torch.linalg.svdvals(value)[0]
    assert found.value_norm.item() == pytest.approx(C_V.item())
    C_A = 5 * torch.linalg.svdvals(query @ key.T)[0]
    assert found.score_bound.item() == pytest.approx(C_A.item())
    assert torch.allclose(found.carried[1, 2], C_V * rows[2] @ found.tokens[1, 2])
    assert torch.allclose(found.moved[1, 2], C_V * y[0].norm(dim=-1).max() * moved.sum(-1))
    assert torch.allclose(found.moved_here[1, 2], C_V * y[2].norm(dim=-1).max() * moved.sum(-1))


def test_ensembles_of_heads_are_heads():
    y, (query, key, value) = normal(6, 4, 3, 5), normal(3, 6, 5, 5, seed=1)
    together = influence.through_head(y, query, key, value)
    alone = influence.through_head(y[4], query[4], key[4], value[4])
    for name in ("tokens", "output", "row_sums", "carried", "moved", "moved_here"):
        assert torch.allclose(getattr(together, name)[:, 4], getattr(alone, name), rtol=1e-10)


@law
@given(st.integers(2, 5), st.integers(2, 6), st.floats(1e-3, 4), st.integers(0, 10**6))
def test_lemma_9_holds_with_the_lengths_at_the_neighbour(tokens, d, size, seed):
    y = normal(1, tokens, d, seed=seed) + 0.3 * normal(8, tokens, d, seed=seed + 1)
    query, key, value = size * normal(3, d, d, seed=seed + 2)
    h = influence.through_head(y, query, key, value)
    assert (h.output <= (1 + 1e-9) * (h.carried + h.moved) + 1e-12).all()


ROW, GAP, BITS = gap_of(0.0, 1.0), gap_of(1.0), torch.tensor([0, 1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: influence.summed_influence(BITS, GAP, BITS), TypeError, "scores must be floating"),
        (
            lambda: influence.summed_influence(ROW, BITS[:1], BITS),
            TypeError,
            "gap must be floating",
        ),
        (lambda: influence.summed_influence(ROW, GAP.float(), BITS), TypeError, "one dtype"),
        (lambda: influence.summed_influence(ROW / 0, GAP, BITS), ValueError, "finite"),
        (lambda: influence.summed_influence(ROW[:0], GAP, BITS[:0]), ValueError, "0 scores need"),
        (lambda: influence.summed_influence(ROW, GAP[0], BITS), ValueError, "gap = a tensor"),
        (lambda: influence.summed_influence(ROW, gap_of(1, 1, 1), BITS), ValueError, "1 gap"),
        (lambda: influence.summed_influence(ROW, GAP, BITS[:1]), ValueError, "as many bits"),
        (lambda: influence.summed_influence(ROW, GAP, BITS - 1), ValueError, "got -1"),
        (lambda: influence.tail_bound(0, 3.0), ValueError, "n must be at least 1, got 0"),
        (lambda: influence.tail_bound(4, 0.0), ValueError, "delta must be (positive|finite)"),
        (lambda: influence.tail_bound(4, math.nan), ValueError, "delta must be (positive|finite)"),
        (lambda: influence.bit_influences(torch.zeros(4)), ValueError, "2\\*\\*n"),
        (lambda: influence.bit_influences(torch.zeros(3, 2, 2)), ValueError, "2\\*\\*n"),
        (lambda: influence.bit_influences(torch.zeros(1, 2, 2)), ValueError, "one bit"),
        (lambda: influence.bit_influences(torch.zeros(4, 2, 2).long()), TypeError, "floating"),
        (
            lambda: influence.through_head(normal(4, 3, 2), normal(3, 2), *normal(2, 2, 2)),
            ValueError,
            "query = a tensor of shape",
        ),
        (
            lambda: influence.through_head(
                normal(4, 3, 2), normal(2, 3), normal(2, 2), normal(2, 2)
            ),
            ValueError,
            "key = a tensor of shape",
        ),
        (
            lambda: influence.through_head(
                normal(4, 3, 2), *normal(2, 2, 2), torch.zeros(2, 2).long()
            ),
            TypeError,
            "value must be floating",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
