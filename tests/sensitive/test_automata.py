"""Finite automata: runs, codes, the sensitivity of a step and of the last state."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import average_sensitivity
from helpers.sensitive import automata
from helpers.sensitive.automata import Automaton

TWO = automata.code(2)
ROUNDING = 1e-10  # of sums of at most some thousand terms of order ten


def random(q, s, seed, kind="any"):
    return automata.random_automaton(q, s, torch.Generator().manual_seed(seed), kind)


def table_of_step(machine):
    """Output bits of the step on the whole cube, letters low: sizes are powers of two."""
    q, s = machine.states, machine.letters
    letter, state = torch.arange(q * s) % s, torch.arange(q * s) // s
    bits = automata.code(q)[machine.transitions[state, letter]]
    return 1.0 - 2 * bits.T.double()


def run(machine, words):
    """Last states of one automaton after words (*, n)."""
    state = torch.full(words.shape[:-1], machine.start)
    for letter in words.unbind(-1):
        state = machine.transitions[state, letter]
    return state


def table_of_word(machine, n):
    """Bits of the last state on all words, by listing them."""
    letters = automata.code(machine.letters)
    a = letters.shape[-1]
    strings = cube.bits(n * a).view(-1, n, a)
    word = (strings << torch.arange(a)).sum(-1)
    last = automata.code(machine.states)[run(machine, word)]
    return 1.0 - 2 * last.T.double()


@given(st.integers(1, 40))
def test_code_words_are_distinct_and_as_long_as_promised(count):
    words = automata.code(count)
    assert words.shape == (count, math.ceil(math.log2(count)))
    assert len({tuple(w) for w in words.tolist()}) == count


@pytest.mark.parametrize("kind", automata.KINDS)
def test_random_automata_are_of_their_kind(kind):
    T = random(6, 3, 0, kind).transitions
    assert T.shape == (6, 3)
    assert (kind == "reset") == (len(T.unique(dim=0)) == 1)
    sorted_columns = (T.sort(0).values == torch.arange(6)[:, None]).all()
    assert bool(sorted_columns) == (kind == "permutation")


def test_every_automaton_lists_each_once():
    T = automata.every_automaton(3, 2).transitions
    assert T.shape == (729, 3, 2)
    assert len(T.flatten(1).unique(dim=0)) == 729


@given(st.sampled_from([(2, 2), (4, 2), (2, 4), (8, 4)]), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_flips_of_a_step_are_its_sensitivity_where_all_words_are_codes(sizes, seed):
    q, s = sizes
    machine = random(q, s, seed)
    flips = automata.step_flips(machine, automata.code(q), automata.code(s))
    expected = average_sensitivity(table_of_step(machine))
    torch.testing.assert_close(flips.double().mean((0, 1)), expected, atol=ROUNDING, rtol=0)


def test_flips_between_codes_are_counted_by_hand_for_three_states():
    """Words 00, 10, 01; from 00 a flip leads to either other state, from these only back."""
    machine = Automaton(torch.tensor([[0], [1], [2]]))
    flips = automata.step_flips(machine, automata.code(3), automata.code(1))
    assert flips[:, 0].tolist() == [[1, 1], [1, 0], [0, 1]]


@given(st.integers(2, 8), st.integers(1, 8), st.integers(3, 6), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_mean_of_the_flips_is_at_most_the_logarithm_of_the_sizes(q, s, bits, seed):
    """Whatever the codes: random words, of as few bits as can be or of more."""
    generator = torch.Generator().manual_seed(seed)
    words = [cube.bits(bits)[torch.randperm(2**bits, generator=generator)[:k]] for k in (q, s)]
    flips = automata.step_flips(random(q, s, seed), *words)
    assert flips.double().mean((0, 1)).max() <= math.log2(q * s) + ROUNDING


def test_a_batch_of_automata_is_taken_one_by_one():
    batch = automata.every_automaton(2, 2)
    one = [Automaton(T) for T in batch.transitions]
    assert torch.equal(
        automata.step_flips(batch, TWO, TWO),
        torch.stack([automata.step_flips(m, TWO, TWO) for m in one]),
    )
    assert torch.equal(
        automata.final_sensitivity(batch, 5, TWO, TWO),
        torch.stack([automata.final_sensitivity(m, 5, TWO, TWO) for m in one]),
    )
    assert automata.grows(batch, TWO).tolist() == [bool(automata.grows(m, TWO)) for m in one]


@pytest.mark.parametrize(("q", "s", "n"), [(2, 2, 9), (3, 2, 9), (5, 4, 4), (4, 8, 3)])
@pytest.mark.parametrize("kind", automata.KINDS)
def test_the_sensitivity_of_the_last_state_matches_listed_words(q, s, n, kind):
    machine = random(q, s, 3, kind)
    found = automata.final_sensitivity(machine, n, automata.code(q), automata.code(s))
    expected = [average_sensitivity(table_of_word(machine, m)).sum().item() for m in (1, n)]
    torch.testing.assert_close(found[[0, -1]].tolist(), expected, atol=ROUNDING, rtol=0)


def test_the_last_state_of_parity_has_sensitivity_n():
    found = automata.final_sensitivity(automata.parity_automaton(), 50, TWO, TWO)
    torch.testing.assert_close(found, torch.arange(1.0, 51).double(), atol=ROUNDING, rtol=0)


def test_one_bit_of_the_answer_may_be_asked_for():
    """Count modulo 4: the low bit is PARITY, the high bit is more than that is told of."""
    machine = Automaton((torch.arange(4)[:, None] + torch.arange(2)) % 4)
    low = automata.final_sensitivity(machine, 6, torch.tensor([[0], [1], [0], [1]]), TWO)
    torch.testing.assert_close(low, torch.arange(1.0, 7).double(), atol=ROUNDING, rtol=0)


def test_growth_is_foretold_for_all_automata_with_three_states():
    machine = automata.every_automaton(3, 2)
    curve = automata.final_sensitivity(machine, 128, automata.code(3), TWO)
    rising = (curve[:, -1] - curve[:, 63]) / 64 > 0.1
    assert torch.equal(automata.grows(machine, TWO), rising)


def test_growth_depends_on_where_the_run_starts():
    """States 0 and 1 count ones; state 2 stays where it is."""
    T = torch.tensor([[0, 1], [1, 0], [2, 2]])
    assert automata.grows(Automaton(T), TWO)
    assert not automata.grows(Automaton(T, start=2), TWO)


def test_a_state_that_is_left_for_good_lets_nothing_grow():
    """FIRST: the first letter decides, and the run then stays."""
    T = torch.tensor([[1, 2], [1, 1], [2, 2]])
    machine = Automaton(T)
    assert not automata.grows(machine, TWO)
    found = automata.final_sensitivity(machine, 20, torch.tensor([[0], [0], [1]]), TWO)
    torch.testing.assert_close(found, torch.ones(20).double(), atol=ROUNDING, rtol=0)


T3 = torch.zeros(3, 2, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Automaton(T3.float()), TypeError, "int64"),
        (lambda: Automaton(T3 + 3), ValueError, "got 3 to 3"),
        (lambda: Automaton(T3 - 1), ValueError, "got -1"),
        (lambda: Automaton(T3[0]), ValueError, "(2,)"),
        (lambda: Automaton(T3[:0]), ValueError, "(0, 2)"),
        (lambda: Automaton(T3, start=3), ValueError, "got 3"),
        (lambda: automata.code(0), ValueError, "got 0"),
        (lambda: automata.every_automaton(8, 8), ValueError, "listed"),
        (lambda: random(0, 2, 0), ValueError, "got 0"),
        (lambda: random(2, 2, 0, "group"), ValueError, "group"),
        (lambda: automata.step_flips(Automaton(T3), TWO, TWO), ValueError, "3 code words"),
        (lambda: automata.step_flips(Automaton(T3), T3, TWO), ValueError, "distinct"),
        (lambda: automata.step_flips(Automaton(T3), T3 + 2, TWO), ValueError, "got 2"),
        (lambda: automata.final_sensitivity(Automaton(T3), 0, T3, TWO), ValueError, "got 0"),
    ],
)
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
