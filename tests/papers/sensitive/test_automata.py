"""Finite automata: codes, the sensitivity of a step and of the last state."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import average_sensitivity
from papers.sensitive import automata

ROUNDING = 1e-10  # of sums of at most some thousand terms of order ten


def random(q, s, seed):
    return torch.randint(0, q, (q, s), generator=torch.Generator().manual_seed(seed))


def table_of_step(T):
    """Output bits of the step on the whole cube, letters low: sizes are powers of two."""
    q, s = T.shape
    letter, state = torch.arange(q * s) % s, torch.arange(q * s) // s
    return 1.0 - 2 * automata.code(q)[T[state, letter]].T.double()


def table_of_word(T, n):
    """Bits of the last state on all words, by listing them."""
    q, s = T.shape
    a = automata.code(s).shape[-1]
    words = (cube.bits(n * a).view(-1, n, a) << torch.arange(a)).sum(-1)
    state = torch.zeros(len(words), dtype=torch.int64)
    for letter in words.unbind(-1):
        state = T[state, letter]
    return 1.0 - 2 * automata.code(q)[state].T.double()


@given(st.integers(1, 40))
def test_code_words_are_distinct_and_as_long_as_promised(count):
    words = automata.code(count)
    assert words.shape == (count, math.ceil(math.log2(count)))
    assert len({tuple(w) for w in words.tolist()}) == count


def test_every_automaton_lists_each_once():
    T = automata.every_automaton(3, 2)
    assert T.shape == (729, 3, 2)
    assert len(T.flatten(1).unique(dim=0)) == 729


@given(st.sampled_from([(2, 2), (4, 2), (2, 4), (8, 4)]), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_flips_of_a_step_are_its_sensitivity_where_all_words_are_codes(sizes, seed):
    q, s = sizes
    T = random(q, s, seed)
    flips = automata.step_flips(T)
    expected = average_sensitivity(table_of_step(T))
    torch.testing.assert_close(flips.double().mean((0, 1)), expected, atol=ROUNDING, rtol=0)


def test_flips_between_codes_are_counted_by_hand_for_three_states():
    """Words 00, 10, 01; from 00 a flip leads to either other state, from these only back."""
    T = torch.tensor([[0], [1], [2]])
    flips = automata.step_flips(T)
    assert flips[:, 0].tolist() == [[1, 1], [1, 0], [0, 1]]


@given(st.integers(2, 8), st.integers(1, 8), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_mean_of_the_flips_is_at_most_the_logarithm_of_the_sizes(q, s, seed):
    flips = automata.step_flips(random(q, s, seed))
    assert flips.double().mean((0, 1)).max() <= math.log2(q * s) + ROUNDING


def test_a_step_extended_to_strings_that_are_no_code_can_exceed_the_bound_for_codes():
    """Three states 00, 10, 01: bit 0 of the next state is the parity of all three bits."""
    T = torch.tensor([[0, 1], [1, 0], [1, 0]])
    parity = (automata.code(3).sum(-1)[:, None] + torch.arange(2)) % 2
    assert torch.equal(automata.code(3)[T][..., 0], parity)
    assert automata.step_flips(T)[..., 0].double().mean() <= math.log2(6)
    assert average_sensitivity(cube.parity(3)) == 3 > math.log2(6)


def test_a_step_that_reads_two_letters_exceeds_the_bound_for_one():
    twice = automata.PARITY[automata.PARITY].flatten(1)
    assert (automata.step_flips(twice) == 3).all()


def test_parity_that_returns_after_k_ones_is_bounded_by_the_time_until_they_come():
    """The runs meet at the latest at a zero and k ones, 2**(k + 1) letters on average."""
    k = 4
    state = torch.arange(2 * k)
    T = torch.stack((state % 2, (state ^ 1) + 2), -1)
    T[-2:, 1] = 0
    assert not automata.grows(T)
    ones = torch.stack((torch.zeros(k, dtype=torch.int64), torch.arange(1, k + 1) % k), -1)
    found = automata.final_sensitivity(T, 512) - automata.final_sensitivity(ones, 512)
    assert 2**k < found[-1] < 2 ** (k + 1)  # the bit of the parity
    assert found[-1] - found[-2] < 1e-3


def test_a_batch_of_automata_is_taken_one_by_one():
    batch = automata.every_automaton(2, 2)
    for found in (automata.step_flips, automata.grows):
        assert torch.equal(found(batch), torch.stack([found(T) for T in batch]))
    each = torch.stack([automata.final_sensitivity(T, 5) for T in batch])
    assert torch.equal(automata.final_sensitivity(batch, 5), each)


@pytest.mark.parametrize(("q", "s", "n"), [(2, 2, 9), (3, 2, 9), (5, 4, 4), (4, 8, 3)])
def test_the_sensitivity_of_the_last_state_matches_listed_words(q, s, n):
    T = random(q, s, 3)
    found = automata.final_sensitivity(T, n)
    expected = [average_sensitivity(table_of_word(T, m)).sum().item() for m in (1, n)]
    torch.testing.assert_close(found[[0, -1]].tolist(), expected, atol=ROUNDING, rtol=0)


def test_the_last_state_of_parity_has_sensitivity_n():
    found = automata.final_sensitivity(automata.PARITY, 50)
    torch.testing.assert_close(found, torch.arange(1.0, 51).double(), atol=ROUNDING, rtol=0)


def test_growth_is_foretold_for_all_automata_with_three_states():
    T = automata.every_automaton(3, 2)
    curve = automata.final_sensitivity(T, 128)
    assert torch.equal(automata.grows(T), (curve[:, -1] - curve[:, 63]) / 64 > 0.1)


def test_growth_depends_on_where_the_run_starts():
    """Two states count ones, the third stays where it is; a run starts in state 0."""
    assert automata.grows(torch.tensor([[0, 1], [1, 0], [2, 2]]))
    assert not automata.grows(torch.tensor([[0, 0], [1, 2], [2, 1]]))


def test_a_state_that_is_left_for_good_lets_nothing_grow():
    """FIRST: the first letter decides, and the run then stays; states 1 and 2 are 10 and 01."""
    T = torch.tensor([[1, 2], [1, 1], [2, 2]])
    assert not automata.grows(T)
    found = automata.final_sensitivity(T, 20)
    torch.testing.assert_close(found, torch.full((20,), 2.0).double(), atol=ROUNDING, rtol=0)


def test_letters_that_permute_the_states_give_linear_growth_or_none_at_all():
    """Runs that differ never meet; where no flip makes them differ, nothing depends on the word."""
    T = automata.every_automaton(3, 2)
    T = T[(T.sort(-2).values == torch.arange(3)[:, None]).all((-2, -1))]
    grows = automata.grows(T)
    assert (len(T), int(grows.sum())) == (36, 28)
    found = automata.final_sensitivity(T, 24)
    assert found[~grows].abs().max() == 0
    assert (found[grows, -1] > found[grows, 11] + 5).all()


def test_as_many_automata_are_listed_as_are_allowed():
    with torch.device("meta"):  # shapes alone: they would take 168 MB
        assert automata.every_automaton(2, 10).shape == (2**20, 2, 10)


T3 = torch.zeros(3, 2, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: automata.grows(T3 + 3), "got 3 to 3"),
        (lambda: automata.final_sensitivity(T3 - 1, 2), "got -1"),
        (lambda: automata.grows(T3[0]), "(2,)"),
        (lambda: automata.grows(T3[:0]), "(0, 2)"),
        (lambda: automata.code(0), "got 0"),
        (lambda: automata.every_automaton(8, 8), "listed"),
        (lambda: automata.every_automaton(2, 11), "at most 1048576 automata are listed"),
        (lambda: automata.every_automaton(0, 2), "got 0"),
        (lambda: automata.step_flips(T3 + 3), "got 3 to 3"),
        (lambda: automata.final_sensitivity(T3, 0), "got 0"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        call()
