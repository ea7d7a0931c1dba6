"""Learning a chain of XORs: against enumeration and closed forms."""

import itertools
import statistics

import pytest
import torch

from papers.beyond import chains
from tests.draws import seeded


def write(a, b, table, bits):
    """A chain by a shared rule, in plain Python."""
    z = [*bits, 0]
    for _ in bits:
        z.append(table[2 * z[-a] + z[-b]])
    return z


def test_tokens_hold_the_parities():
    z = chains.tokens(torch.tensor([[1, 0, 1, 1]]))
    assert z.tolist() == [[1, 0, 1, 1, 0, 1, 1, 0, 1]]
    assert write(1, 5, [0, 1, 1, 0], [1, 0, 1, 1]) == z[0].tolist()


def test_the_count_of_consistent_rules_is_that_of_an_enumeration():
    T = 4
    z = chains.tokens(torch.randint(0, 2, (2, T), generator=seeded(3)))
    left = 0
    for a, b in itertools.combinations(range(1, T + 2), 2):
        for table in itertools.product((0, 1), repeat=4):
            good = all(
                table[2 * row[t - a] + row[t - b]] == row[t]
                for row in z.tolist()
                for t in range(T + 1, 2 * T + 1)
            )
            left += good
    assert chains.consistent(chains.seen_cells(z, T)).sum() == left > 0
    assert chains.class_size(T) == 16 * 10


def test_consistent_with_every_step_is_to_write_the_same_chain():
    T = 5
    bits = torch.randint(0, 2, (3, T), generator=seeded(1))
    z = chains.tokens(bits)
    same = sum(
        all(write(a, b, table, row[:T]) == row for row in z.tolist())
        for a, b in itertools.combinations(range(1, T + 2), 2)
        for table in itertools.product((0, 1), repeat=4)
    )
    assert chains.consistent(chains.seen_cells(z, T)).sum() == same


def test_chains_are_what_rules_write():
    T = 4
    bits = torch.randint(0, 2, (3, T), generator=seeded(2))
    pairs = chains.rules(T)
    tables = torch.randint(0, 2, (len(pairs), 4), generator=seeded(4)).to(torch.uint8)
    found = chains.written(pairs, tables, bits)
    for c, ((a, b), table) in enumerate(zip(pairs.tolist(), tables.tolist(), strict=True)):
        assert found[:, c].T.tolist() == [write(a, b, table, row)[T + 1 :] for row in bits.tolist()]


def test_means_are_those_of_the_closed_forms():
    g = seeded()
    for T in (3, 16):
        for run, mean in (
            (chains.steps_with_chain, chains.mean_with_chain),
            (chains.steps_without_chain, chains.mean_without_chain),
        ):
            found = [run(T, g) for _ in range(1500)]
            error = statistics.stdev(found) / 1500**0.5
            assert abs(statistics.mean(found) - mean(T)) < 4.5 * error
    assert chains.mean_with_chain(1) == pytest.approx(2)
    assert chains.mean_without_chain(1) == pytest.approx(2)


def test_the_chain_teaches_the_rule_from_a_few_strings_and_the_answer_from_more():
    g = seeded()
    shown = [chains.strings_with_chain(12, g) for _ in range(20)]
    hidden = [chains.strings_without_chain(12, g) for _ in range(5)]
    assert max(shown) <= 6
    assert min(hidden) > max(shown)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: chains.rules(0), "T must be at least 1"),
        (lambda: chains.strings_with_chain(1, seeded()), "T must be at least 1"),
        (lambda: chains.strings_with_chain(8, seeded(), 0), "not learned from 0 strings"),
        (lambda: chains.strings_without_chain(8, seeded(), 2), "not learned from 2 strings"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
