"""Heads and mixtures: exact errors against chance, the two floors, the model."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.retrieval import attention as construction
from papers.retrieval import heads
from papers.retrieval.task import encode, encodings
from tests.draws import normal, seeded

law = settings(deadline=None, max_examples=30)
some_seed = st.integers(0, 10_000)


def test_the_hard_prompts_have_data_in_the_first_half_and_point_at_the_first_tokens():
    x, t = heads.hard_prompts(50, 10, 3, 4, seeded())
    assert x.shape == (50, 10, 3)
    assert t.shape == (50, 10, 4)
    assert (x[:, :5] != 0).all()
    assert (x[:, 5:] == 0).all()
    assert (t[:, 5:] == torch.arange(4)).all()
    assert t[:, :5].max() > 3


def test_only_the_tokens_pointed_at_count():
    x = normal(5, 4, 2)
    moved = x.clone()
    moved[:, 2:] += 1
    assert torch.equal(heads.label(x, 2), heads.label(moved, 2))
    assert not torch.equal(heads.label(x, 3), heads.label(moved, 3))


def test_the_floors_are_their_formulas():
    assert heads.floor(4, 1) == 0.75
    assert heads.floor(4, 1, 2) == 0.375
    assert heads.floor(4, 0, 2) == heads.floor(3, 0) == 1
    assert heads.floor(4, 5) == heads.floor(4, 2, 2) == heads.floor(2, 2, 9) == 0


@law
@given(some_seed, st.integers(1, 5), st.integers(0, 4), st.integers(0, 5))
def test_no_mixtures_beat_the_line(seed, q, more, H):
    assert heads.mixture_error(normal(H, q + more, seed=seed), q) >= heads.floor(q, H) - 1e-12


@law
@given(some_seed, st.integers(1, 5), st.integers(0, 5))
def test_mixtures_of_the_right_tokens_attain_the_line(seed, q, H):
    A = torch.cat((normal(H, q, seed=seed), torch.zeros(H, 2).double()), 1)
    assert heads.mixture_error(A, q).item() == pytest.approx(heads.floor(q, H), abs=1e-9)


@law
@given(some_seed)
def test_the_error_depends_on_the_row_space_only(seed):
    A, change = normal(2, 5, seed=seed), normal(2, 2, seed=seed + 1)
    change += 3 * torch.eye(2)
    turned = heads.mixture_error(change @ A, 3)
    assert turned.item() == pytest.approx(heads.mixture_error(A, 3).item(), abs=1e-8)
    copied = torch.cat((A, A[:1]))
    assert heads.mixture_error(copied, 3).item() == pytest.approx(
        heads.mixture_error(A, 3).item(), abs=1e-9
    )


def test_ensembles_of_mixtures_are_computed_one_by_one():
    A = normal(4, 3, 2, 5)
    found = heads.mixture_error(A, 3)
    assert found.shape == (4, 3)
    assert found[1, 2].item() == pytest.approx(heads.mixture_error(A[1, 2], 3).item(), rel=1e-12)


def test_the_best_prediction_has_the_error_of_the_formula():
    """Within 4.5 standard errors of 20000 draws; and its errors do not depend on the mixtures."""
    x, A, q = normal(20000, 5, 3), normal(2, 5, seed=1), 3
    left = heads.label(x, q) - heads.best_prediction(A @ x, A.expand(20000, 2, 5), q)
    squares = left.square() / 2
    noise = squares.std() / 20000**0.5
    assert abs(squares.mean() - heads.mixture_error(A, q)) < 5 * noise
    product = left * (A @ x).square().sum((-2, -1))
    assert abs(product.mean()) < 5 * product.std() / 20000**0.5


def test_reading_heads_have_the_logits_asked_for():
    omega = encodings(6, 12, seeded()).double()
    u, b = normal(2, 3), normal(2, 6, seed=1)
    prompts = heads.hard_prompts(4, 6, 3, 2, seeded(2))
    tokens = encode(prompts, omega)
    W = heads.reading_heads(u, b, omega, 2)
    logits = torch.einsum("bd,hde,bje->bhj", tokens[:, -1], W, tokens)
    asked = torch.einsum("bjd,hd->bhj", prompts.x, u) + b
    torch.testing.assert_close(logits, asked, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("d", "H"), [(1, 1), (2, 2), (3, 3)])
def test_as_many_heads_as_dimensions_tell_the_label_exactly(d, H):
    omega = encodings(8, 16, seeded()).double()
    u, b = normal(H, d) / 2, normal(H, 8, seed=1) / 2
    prompts = heads.hard_prompts(200, 8, d, 4, seeded(2))
    W = heads.reading_heads(u, b, omega, 4)
    put_out = construction.attend(W, encode(prompts, omega))[:, -1]
    predicted = heads.read(put_out, omega, u, b, 4)
    torch.testing.assert_close(predicted, heads.label(prompts.x, 4), rtol=0, atol=1e-7)


def test_fewer_heads_read_up_to_their_floor():
    omega, d, H = encodings(8, 16, seeded()).double(), 3, 2
    u, b = normal(H, d) / 2, normal(H, 8, seed=1) / 2
    prompts = heads.hard_prompts(4000, 8, d, 4, seeded(2))
    put_out = construction.attend(heads.reading_heads(u, b, omega, 4), encode(prompts, omega))
    squares = (heads.read(put_out[:, -1], omega, u, b, 4) - heads.label(prompts.x, 4)).square() / 2
    noise = squares.std() / 4000**0.5
    assert abs(squares.mean() - heads.floor(4, H, d)) < 5 * noise
    assert squares.mean() < heads.floor(4, H) - 4.5 * noise


def model(E=3, D=5, H=2):
    weights = heads.initial_weights(E, D, H, 7, seeded(1))
    return weights, torch.randn(E, 11, 6, D, generator=seeded(2))


def test_the_layer_is_that_of_the_construction():
    weights, tokens = model()
    found = heads.outputs(weights["query_key"], tokens, tokens)
    for W, given_, out in zip(weights["query_key"], tokens, found, strict=True):
        torch.testing.assert_close(out, construction.attend(W, given_), rtol=1e-4, atol=1e-5)
    last = heads.outputs(weights["query_key"], tokens, tokens[..., -1:, :])
    torch.testing.assert_close(last[:, :, 0], found[:, :, -1])


def test_a_model_is_its_two_layers_by_hand():
    weights, tokens = model()
    found = heads.forward(weights, tokens)
    assert found.shape == (3, 11, 6)
    put_out = construction.attend(weights["query_key"][2], tokens[2])[4, 3].flatten()
    inner = (put_out @ weights["hidden"][2] + weights["hidden_bias"][2]).clamp(min=0)
    by_hand = inner @ weights["readout"][2, :, 0] + weights["readout_bias"][2, 0]
    assert found[2, 4, 3].item() == pytest.approx(by_hand.item(), rel=1e-4, abs=1e-6)
    asked = heads.forward(weights, tokens, tokens[..., 3:4, :])
    torch.testing.assert_close(asked[..., 0], found[..., 3])


def test_bad_input_is_named():
    g = seeded()
    with pytest.raises(ValueError, match="N must be even and at least 2 q = 6, got 5"):
        heads.hard_prompts(1, 5, 1, 3, g)
    with pytest.raises(ValueError, match="d must be at least 1, got 0"):
        heads.hard_prompts(1, 6, 0, 3, g)
    with pytest.raises(ValueError, match="q runs from 1 to the number of tokens, 4, got 5"):
        heads.label(normal(2, 4, 2), 5)
    with pytest.raises(ValueError, match=r"q runs from 1 .* got 0"):
        heads.mixture_error(normal(2, 4), 0)
    with pytest.raises(ValueError, match=r"floating and \(..., H, M\), got \(4,\)"):
        heads.mixture_error(normal(4), 2)
    with pytest.raises(ValueError, match=r"torch\.int64"):
        heads.mixture_error(torch.ones(2, 4, dtype=torch.int64), 2)
    with pytest.raises(ValueError, match="2 rows of weights mix 3 vectors"):
        heads.best_prediction(normal(3, 2), normal(2, 4), 2)
    with pytest.raises(ValueError, match="H must be at least 0, got -1"):
        heads.floor(2, -1)
    with pytest.raises(ValueError, match="4 encodings of rank 2"):
        heads.reading_heads(normal(1, 2), normal(1, 4), normal(4, 2), 2)
    with pytest.raises(ValueError, match="H must be at least 1, got 0"):
        heads.initial_weights(2, 3, 0, 5, g)
