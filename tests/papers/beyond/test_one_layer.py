"""Sensitivity of one layer: the bound against every threshold, the network, exact fractions."""

import itertools
import math
from fractions import Fraction

import pytest
import torch
from sympy import Matrix

from bookkit.chapters import find
from helpers import cube
from papers.beyond import one_layer


def symmetric(n, pattern):
    return torch.tensor(pattern).double()[cube.bits(n).sum(1)]


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_no_symmetric_function_with_so_many_changes_is_more_sensitive_and_one_is_as_much(n):
    best = {}
    for pattern in itertools.product((-1.0, 1.0), repeat=n + 1):
        changes = sum(a != b for a, b in itertools.pairwise(pattern))
        found = cube.average_sensitivity(symmetric(n, pattern)).item()
        best[changes] = max(best.get(changes, 0.0), found)
    for changes, found in best.items():
        assert found == pytest.approx(one_layer.most_sensitive(n, changes))
    assert one_layer.most_sensitive(n, n) == one_layer.most_sensitive(n, n + 3) == n


def test_no_chain_of_thresholds_with_any_weights_is_more_sensitive():
    generator = torch.Generator().manual_seed(0)
    n = 6
    for changes in (1, 2, 3):
        for _ in range(200):
            one, zero = torch.randn(2, 1, n, generator=generator, dtype=torch.float64)
            p = one_layer.shares(one, zero, cube.bits(n))[0]
            cuts = p[torch.randint(2**n, (changes,), generator=generator)]
            f = 1.0 - 2 * ((p[:, None] > cuts).sum(1) % 2).double()
            found = cube.average_sensitivity(f).item()
            assert found <= one_layer.most_sensitive(n, changes) + 1e-12


def test_shares_are_those_of_a_softmax():
    generator = torch.Generator().manual_seed(0)
    one, zero = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
    bits = cube.bits(4)
    scores = torch.where(bits.bool(), one[:, None], zero[:, None])
    direct = (scores.softmax(-1) * bits).sum(-1)
    torch.testing.assert_close(one_layer.shares(one, zero, bits), direct)


@pytest.mark.parametrize(("n", "hidden"), [(4, 3), (7, 3), (8, 4), (9, 8), (10, 5)])
def test_the_network_attains_the_bound(n, hidden):
    f = one_layer.values(one_layer.alternating(n, hidden))
    assert cube.average_sensitivity(f).item() == pytest.approx(
        one_layer.most_sensitive(n, hidden + 1)
    )
    if n == hidden + 1:
        parity = 1 - 2 * (cube.bits(n).sum(1) % 2).double()
        assert (f[0] == -parity).all()


def test_the_climb_improves_and_stays_below_the_bound():
    generator = torch.Generator().manual_seed(0)
    first, _ = one_layer.climb(5, 3, 64, 1, generator)
    best, layer = one_layer.climb(5, 3, 64, 60, generator)
    assert best.mean() > first.mean()
    assert best.max().item() > 0.8 * one_layer.most_sensitive(5, 4)
    assert best.max().item() <= one_layer.most_sensitive(5, 4) + 1e-12
    torch.testing.assert_close(cube.average_sensitivity(one_layer.values(layer)), best)


def test_no_function_of_four_bits_with_so_many_changes_on_a_walk_is_more_sensitive():
    n, every = 4, torch.arange(2**16)[:, None] >> torch.arange(16) & 1
    changes = torch.zeros(len(every), dtype=torch.int64)
    for order in itertools.permutations(range(n)):
        walk = [sum(1 << bit for bit in order[:k]) for k in range(n + 1)]
        on_it = every[:, walk]
        changes = torch.maximum(changes, (on_it[:, 1:] != on_it[:, :-1]).sum(1))
    found = cube.average_sensitivity(1.0 - 2.0 * every.double())
    for most in range(n + 1):
        largest = found[changes <= most].max().item()
        assert largest == pytest.approx(one_layer.most_sensitive(n, most), abs=1e-12)


def test_wherever_the_chapter_searches_its_bound_lies_below_parity():
    ranges = find("beyond/one_layer_parity").parameters
    n, hidden = int(ranges["n"].low), int(ranges["hidden"].high)
    assert one_layer.most_sensitive(n, hidden + 1) < n  # else its control could not exceed it


@pytest.mark.parametrize(("heads", "degree"), [(1, 1), (2, 1), (5, 1), (2, 2), (3, 2), (1, 4)])
def test_heads_times_degree_counts_the_values_that_can_be_chosen(heads, degree):
    n = 8
    factors = [Fraction(k + 1, 2) for k in range(heads)]
    columns = one_layer.monomials(one_layer.head_shares(n, factors), degree)
    assert Matrix(columns).rank() == min(n + 1, heads * degree + 1)
    dense = torch.tensor([[float(v) for v in c] for c in columns], dtype=torch.float64)
    assert torch.linalg.matrix_rank(dense, tol=1e-9).item() == Matrix(columns).rank()


def test_the_alternating_sum_vanishes_below_n():
    factors, weights = [Fraction(1, 3), Fraction(2)], [Fraction(k * k - 7) for k in range(6)]
    assert one_layer.alternating_sum(5, factors, 2, weights) == 0
    assert one_layer.alternating_sum(4, factors, 2, weights) != 0


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: one_layer.most_sensitive(3, -1), "changes must be at least 0, got -1"),
        (lambda: one_layer.most_sensitive(0, 1), "n must be at least 1"),
        (lambda: one_layer.alternating(5, 2), "hidden must be from 3 to 4, got 2"),
        (lambda: one_layer.alternating(5, 5), "hidden must be from 3 to 4, got 5"),
        (lambda: one_layer.head_shares(3, [Fraction(0)]), "factors must be positive, got 0"),
        (
            lambda: one_layer.climb(3, 3, 0, 1, torch.Generator()),
            "count must be at least 1",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_the_bound_grows_like_a_root():
    for changes in (1, 4):
        ratio = one_layer.most_sensitive(1000, changes) / (changes * math.sqrt(2000 / math.pi))
        assert ratio == pytest.approx(1, abs=0.01)
