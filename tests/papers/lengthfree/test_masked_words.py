"""Word masking: the loss and its constants, complexities, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from helpers.covers import capacity
from helpers.rng import f64
from papers.lengthfree import masked_words
from papers.lengthfree.masked_words import LIPSCHITZ
from tests.draws import normal

law = settings(deadline=None, max_examples=40)
EPS = torch.finfo(torch.float64).eps


def some_words(count, K, seed=0):
    return torch.randint(K, (count,), generator=torch.Generator().manual_seed(seed))


def test_the_loss_is_minus_the_log_of_the_true_words_share():
    v, y = 3 * normal(2, 5, 4), some_words(5, 4)
    found = masked_words.losses(v, y)
    for b, i in itertools.product(range(2), range(5)):
        shares = [math.exp(s) for s in v[b, i].tolist()]
        assert found[b, i].item() == pytest.approx(-math.log(shares[y[i]] / sum(shares)), rel=1e-12)


@law
@given(st.integers(2, 30), st.floats(0.01, 30), st.integers(0, 10**6))
def test_the_gradient_is_that_of_autograd_and_has_twice_the_missing_share(K, size, seed):
    v = (size * normal(8, K, seed=seed)).requires_grad_()
    y = some_words(8, K, seed)
    (by_autograd,) = torch.autograd.grad(masked_words.losses(v, y).sum(), v)
    found = masked_words.gradient(v.detach(), y)
    assert torch.allclose(found, by_autograd, atol=10 * K * EPS, rtol=0)
    missing = 1 - v.detach().softmax(-1).gather(-1, y[:, None])[:, 0]
    assert torch.allclose(found.abs().sum(-1), 2 * missing, atol=10 * K * EPS, rtol=0)
    assert (found.norm(dim=-1) <= math.sqrt(2) * missing + 10 * K * EPS).all()


@pytest.mark.parametrize("K", [2, 3, 50])
def test_the_constants_hold_for_random_pairs_and_are_approached(K):
    a, b, y = 4 * normal(2000, K), 4 * normal(2000, K, seed=1), some_words(2000, K)
    for norm, constant in LIPSCHITZ.items():
        assert masked_words.loss_sides(a, b, y, norm).ratio.max() <= constant
    far, zero = -torch.eye(K, dtype=torch.float64)[0], torch.tensor(0)
    all_others = torch.where(far == 0, 1.0, far)
    one_rival = far + torch.eye(K, dtype=torch.float64)[1]
    for u, norm in ((all_others, "max"), (one_rival, "euclidean")):
        ratio = masked_words.loss_sides(30 * u, 31 * u, zero, norm).ratio.item()
        assert ratio == pytest.approx(LIPSCHITZ[norm], abs=1e-9)


def test_complexities_are_their_definition():
    scores, y = normal(3, 4, 2), some_words(4, 2)
    found = masked_words.complexities(scores, y)
    loss, word = 0.0, [0.0, 0.0]
    values = masked_words.losses(scores, y)
    for signs in itertools.product((-1.0, 1.0), repeat=4):
        e = torch.tensor(signs, dtype=torch.float64)
        loss += (values @ e).max().item() / 16
        for s in range(2):
            word[s] += (scores[..., s] @ e).max().item() / 16
    assert found.loss.item() == pytest.approx(loss, rel=1e-12)
    assert found.word.tolist() == pytest.approx(word, rel=1e-12)


def test_a_batch_of_classes_is_each_class_alone():
    scores, y = normal(2, 3, 5, 4, 3), some_words(4, 3)
    found = masked_words.complexities(scores, y)
    assert found.loss.shape == (2, 3)
    assert found.word.shape == (2, 3, 3)
    alone = masked_words.complexities(scores[1, 2], y)
    assert torch.allclose(found.loss[1, 2], alone.loss, rtol=1e-13)
    assert torch.allclose(found.word[1, 2], alone.word, rtol=1e-13)


def test_no_sentences_have_no_losses():
    assert masked_words.losses(normal(2, 0, 4), some_words(0, 4)).shape == (2, 0)


def test_a_product_class_of_one_word_is_its_pair_and_one_of_twelve_is_listed():
    pair = normal(2, 4, 1)
    assert torch.equal(masked_words.product_class(pair), pair)
    pairs = normal(2, 1, 12)
    members = masked_words.product_class(pairs)
    assert members.shape == (2**12, 1, 12)
    assert torch.equal(members[[0, -1]], pairs)


def test_a_product_class_holds_every_combination_once():
    pairs = torch.arange(2 * 3 * 3).double().reshape(2, 3, 3)
    members = masked_words.product_class(pairs)
    assert members.shape == (8, 3, 3)
    found = {tuple(f.T.flatten().tolist()) for f in members}
    by_hand = {
        tuple(torch.stack([pairs[c, :, s] for s, c in enumerate(choice)]).flatten().tolist())
        for choice in itertools.product((0, 1), repeat=3)
    }
    assert found == by_hand


@law
@given(st.integers(2, 5), st.integers(1, 5), st.floats(0.1, 5), st.integers(0, 10**6))
def test_the_loss_is_no_more_complex_than_twice_the_sum_over_words(K, m, size, seed):
    pairs = size * normal(2, m, K, seed=seed)
    found = masked_words.complexities(masked_words.product_class(pairs), some_words(m, K, seed))
    assert found.loss.item() <= 2 * found.word.sum().item() + 1e-12


def test_the_mean_absolute_sum_is_that_over_all_signs():
    for n in range(1, 9):
        sums = [abs(sum(e)) for e in itertools.product((-1, 1), repeat=n)]
        assert masked_words.mean_absolute_sum(n) == sum(sums) / 2**n
    for n in (1000, 1001, 1002, 10**6):
        asymptotic = math.sqrt(2 * n / math.pi)
        assert masked_words.mean_absolute_sum(n) == pytest.approx(asymptotic, rel=1 / n)
    by_logarithms = masked_words.mean_absolute_sum(1001)
    exact = 501 * math.comb(1001, 501) / 2**1000
    assert by_logarithms == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("K", "copies", "B"), [(2, 1, 1.0), (3, 2, 0.5), (5, 1, 3.0), (2, 4, 2.0)])
def test_own_words_are_those_of_the_enumerated_class(K, copies, B):
    y = torch.arange(K).repeat_interleave(copies)
    onehot = functional.one_hot(y, K).double()
    scores = masked_words.product_class(B * torch.stack((onehot, -onehot)))
    found = masked_words.complexities(scores, y)
    loss, own, worst = masked_words.own_word(K, B, copies)
    assert found.loss.item() == pytest.approx(loss, rel=1e-12)
    assert found.word.tolist() == pytest.approx([own] * K, rel=1e-12)
    repeated = B * torch.ones(2, K * copies).double() * torch.tensor([[1.0], [-1.0]])
    by_hand = K * copies * capacity.rademacher(repeated).item()
    assert worst == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(("K", "copies"), [(2, 2), (3, 2), (4, 1)])
def test_constant_scores_have_the_complexity_of_their_gradient(K, copies):
    """The loss is linear up to B**2 / 2 a sentence, and a linear one is largest at a corner."""
    B, m = 1e-4, K * copies
    y = torch.arange(K).repeat_interleave(copies)
    corners = f64(list(itertools.product((-B, B), repeat=K)))
    exact = masked_words.complexities(corners[:, None].expand(-1, m, -1), y)
    ratio = (exact.loss / exact.word[0]).item()
    slack = m * B / 2 / masked_words.mean_absolute_sum(m)
    assert masked_words.every_input_alike(K, copies) == pytest.approx(ratio, abs=slack)


@pytest.mark.parametrize("K", [2, 9, 50])
def test_constant_scores_reach_the_root_of_the_number_of_words(K):
    assert masked_words.every_input_alike(K, 64) == pytest.approx(math.sqrt(K - 1), rel=0.005)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: masked_words.losses(normal(3, 4), torch.tensor([0, 4, 1])), "between 0 and 3"),
        (lambda: masked_words.losses(normal(3, 4), torch.tensor([-1, 0, 1])), "-1 to 1"),
        (lambda: masked_words.losses(normal(3, 0), torch.tensor([0])), "at least one word"),
        (lambda: masked_words.loss_sides(normal(3), normal(3), torch.tensor(0), "l1"), "'l1'"),
        (lambda: masked_words.complexities(normal(3, 4), some_words(3, 4)), "F, m, K"),
        (lambda: masked_words.losses(normal(), some_words(1, 4)), r"one word, got \(\)"),
        (lambda: masked_words.product_class(normal(3, 4, 2)), "pairs"),
        (lambda: masked_words.product_class(normal(2, 4)), r"pairs .* got \(2, 4\)"),
        (lambda: masked_words.product_class(normal(2, 4, 0)), r"1 to 12, got \(2, 4, 0\)"),
        (lambda: masked_words.product_class(normal(2, 4, 13)), "1 to 12"),
        (lambda: masked_words.mean_absolute_sum(0), "at least 1, got 0"),
        (lambda: masked_words.own_word(1, 1.0), "K must be at least 2, got 1"),
        (lambda: masked_words.own_word(2, math.nan), "B must be finite, got nan"),
        (lambda: masked_words.own_word(2, 1.0, 0), "copies"),
        (lambda: masked_words.every_input_alike(1, 2), "K must be at least 2, got 1"),
        (lambda: masked_words.every_input_alike(2, 0), "copies"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types_are_named():
    with pytest.raises(TypeError, match="floating"):
        masked_words.losses(torch.zeros(3, 4, dtype=torch.int64), some_words(3, 4))
    with pytest.raises(TypeError, match="int64"):
        masked_words.losses(normal(3, 4), torch.zeros(3))
