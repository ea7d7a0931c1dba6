"""Signed sums over subcubes: summing in Python, the algebra, bad input."""

import functools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.sharper.subcubes import (
    ask_once,
    block_directions,
    coordinate_directions,
    oracle_signed_sums,
    vertices,
)
from tests.draws import seeded

DTYPES = (torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64)
law = settings(deadline=None, max_examples=40)


def drawn(n, m, count, seed=0, dtype=torch.float64):
    """A table of whole numbers and any bases and directions."""
    g = seeded(seed)
    table = torch.randint(-50, 51, (2**n,), generator=g).to(dtype)
    bases = torch.randint(0, 2**n, (count,), generator=g)
    return table, bases, torch.randint(0, 2**n, (count, m), generator=g)


def signed_sums(table, bases, directions):
    return oracle_signed_sums(lambda points: table[points], bases, directions).sums


def summed(f, base, directions):
    """The definition, one subset after another."""
    total = 0
    for subset in range(2 ** len(directions)):
        x = base
        for j, direction in enumerate(directions):
            if subset >> j & 1:
                x ^= direction
        total += (-1) ** subset.bit_count() * f[x]
    return total


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("n", "m"), [(0, 0), (0, 1), (1, 1), (3, 0), (3, 2), (6, 3), (8, 5), (9, 9)]
)
def test_sums_equal_the_definition(dtype, n, m):
    table, bases, directions = drawn(n, m, 9, n + m, dtype)
    found = signed_sums(table, bases, directions)
    assert found.dtype == torch.float64
    f = table.tolist()
    expected = [summed(f, b, d) for b, d in zip(bases.tolist(), directions.tolist(), strict=True)]
    assert found.tolist() == expected


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_every_subcube_of_a_small_cube(n):
    table = torch.tensor([3, -1, 4, 1, -5, 9, 2, -6])[: 2**n]
    all_pairs = torch.cartesian_prod(*[torch.arange(2**n)] * 3).view(-1, 3)
    found = signed_sums(table, all_pairs[:, 0], all_pairs[:, 1:])
    assert found.tolist() == [summed(table.tolist(), x, d) for x, *d in all_pairs.tolist()]


@law
@given(st.integers(1, 8), st.integers(0, 5), st.integers(0, 2**31))
def test_a_subcube_is_odd_along_each_direction(n, m, seed):
    table, bases, directions = drawn(n, m, 7, seed)
    here = signed_sums(table, bases, directions)
    for j in range(m):
        there = signed_sums(table, bases ^ directions[:, j], directions)
        assert torch.equal(there, -here)


@law
@given(st.integers(1, 8), st.integers(0, 2**31))
def test_one_more_direction_is_a_difference(n, seed):
    table, bases, directions = drawn(n, 4, 7, seed)
    less = directions[:, :3]
    one, other = (signed_sums(table, b, less) for b in (bases, bases ^ directions[:, 3]))
    assert torch.equal(signed_sums(table, bases, directions), one - other)


@law
@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**31))
def test_a_character_survives_iff_it_meets_every_direction_oddly(n, m, seed):
    g = seeded(seed)
    U = int(torch.randint(0, 2**n, (1,), generator=g))
    _, bases, directions = drawn(n, m, 20, seed)
    odd = [all((U & d).bit_count() % 2 for d in row) for row in directions.tolist()]
    chi = cube.character(n, U)
    expected = [2**m * chi[x].item() * o for x, o in zip(bases.tolist(), odd, strict=True)]
    assert signed_sums(chi, bases, directions).tolist() == expected


@pytest.mark.parametrize("draw", [block_directions, coordinate_directions])
@pytest.mark.parametrize("degree", range(5))
def test_disjoint_directions_see_no_lower_degree(draw, degree):
    f = cube.sparse_function(10, degree, 5 if degree > 0 else 1, seeded())
    directions = draw(10, degree + 1, 200, seeded(1))
    bases = torch.randint(0, 1024, (200,), generator=seeded(2))
    # 2**(degree + 1) values, each within (W + 1) eps of its sum of at most sqrt(W) in l1 norm
    slack = 2 ** (degree + 1) * 12 * 2**-52 * math.sqrt(5)
    assert signed_sums(f.table(), bases, directions).abs().max() <= slack
    assert oracle_signed_sums(f, bases, directions).sums.abs().max() <= slack


def test_nan_stays_in_the_subcubes_that_hold_it():
    table, bases, directions = drawn(7, 3, 300)
    table[5] = torch.nan
    held = (vertices(bases, directions) == 5).any(1)
    assert 0 < held.sum() < 300
    assert torch.equal(signed_sums(table, bases, directions).isnan(), held)


def test_float32_is_summed_in_float64():
    table = torch.tensor([2.0**25, 2.0**25, 1.0, 2.0**-20])
    found = signed_sums(table, torch.tensor([0]), torch.tensor([[1, 2]]))
    assert found.item() == 2.0**-20 - 1.0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("batch", [1, 5, 1000])
def test_an_oracle_gives_the_sums_of_its_table_and_is_asked_once(dtype, batch):
    table, bases, directions = drawn(5, 3, 40, dtype=dtype)
    asked = []

    def oracle(points):
        asked.extend(points.tolist())
        assert len(points) <= batch
        return table[points]

    found = oracle_signed_sums(oracle, bases, directions, batch)
    assert torch.equal(found.sums, signed_sums(table.double(), bases, directions))
    assert len(asked) == len(set(asked)) == found.queries
    assert set(asked) == set(vertices(bases, directions).flatten().tolist())
    assert found.largest == table[asked].double().abs().max()
    assert found.eps == torch.finfo(dtype if dtype.is_floating_point else torch.float64).eps


def test_an_oracle_of_62_bits_is_asked():
    f = cube.SparseFunction(62, torch.tensor([3 << 60]), torch.ones(1).double())
    bases = torch.tensor([0, 1 << 61])
    directions = torch.tensor([[1 << 60, 1 << 61], [1 << 61, 1]])
    assert oracle_signed_sums(f, bases, directions).sums.tolist() == [4.0, 0.0]


@pytest.mark.parametrize(
    ("answer", "error", "named"),
    [
        (lambda x: x[:1].double(), ValueError, r"asked 2 points and answered shape \(1,\)"),
        (lambda x: x > 0, TypeError, "float32, float64 or integers, got torch.bool"),
        (lambda x: x.half(), TypeError, "got torch.float16"),
    ],
)
def test_a_bad_oracle_is_named(answer, error, named):
    with pytest.raises(error, match=named):
        ask_once(answer, torch.tensor([4, 7, 4]))


@pytest.mark.parametrize("n", [1, 5, 62])
def test_coordinates_are_distinct_and_uniform(n):
    m = min(n, 3)
    found = coordinate_directions(n, m, 4000, seeded())
    assert found.shape == (4000, m)
    for row in found.tolist():
        assert len(set(row)) == m
        assert all(d.bit_count() == 1 and d < 2**n for d in row)
    share = torch.bincount(torch.log2(found[:, 0].double()).long(), minlength=n) / 4000
    assert (share - 1 / n).abs().max() <= 5 * math.sqrt(1 / n / 4000)  # five standard errors


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (62, 4), (20, 0)])
def test_blocks_are_disjoint_and_uniform(n, m):
    found = block_directions(n, m, 4000, seeded())
    assert found.shape == (4000, m)
    rows = found.tolist()
    assert all(sum(row) == functools.reduce(int.__or__, row, 0) for row in rows)
    for j in range(m):
        share = sum(row[j].bit_count() for row in rows) / (4000 * n)
        p = 1 / (m + 1)
        assert abs(share - p) <= 5 * math.sqrt(p / 4000 / n)


B2, D2 = torch.tensor([0, 1]), torch.tensor([[1, 2], [2, 3]])


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ((B2.int(), D2), TypeError, "bases must be int64, got torch.int32"),
        ((B2, D2.double()), TypeError, "directions must be int64"),
        ((B2[:1], D2), ValueError, r"got \(1,\) and \(2, 2\)"),
        ((B2[:, None], D2), ValueError, r"got \(2, 1\) and \(2, 2\)"),
        ((B2[:0], D2[:0]), ValueError, r"Q at least 1, got \(0,\) and \(0, 2\)"),
        ((B2, D2[0]), ValueError, r"got \(2,\) and \(2,\)"),
        ((B2 - 1, D2), ValueError, "found -1"),
        ((B2 << 62, D2), ValueError, r"bases lie between 0 and 2\*\*62 - 1, found 4611"),
        ((B2, D2 << 61), ValueError, r"directions lie between 0 and 2\*\*62 - 1, found 69175"),
        ((B2, D2[:, :1].expand(2, 31)), ValueError, "m is at most 30, got 31"),
    ],
    ids=str,
)
def test_bad_input_is_named(arguments, error, named):
    with pytest.raises(error, match=named):
        oracle_signed_sums(torch.neg, *arguments)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda g: coordinate_directions(3, 4, 1, g), "m is at most 3, got 4"),
        (lambda g: coordinate_directions(63, 1, 1, g), "n runs from 1 to 62, got 63"),
        (lambda g: block_directions(3, 31, 1, g), "m runs from 0 to 30, got 31"),
        (lambda g: block_directions(3, 2, 0, g), "count must be at least 1, got 0"),
        (lambda g: ask_once(torch.neg, B2, 0), "batch must be at least 1, got 0"),
        (
            lambda g: oracle_signed_sums(torch.neg, B2, D2[:, :1].expand(2, 24)),
            r"at most 16777216, got 2 \* 2\*\*24",
        ),
        (lambda g: oracle_signed_sums(torch.neg, B2 - 1, D2), "found -1"),
    ],
)
def test_bad_draws_and_questions_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call(seeded())


@pytest.mark.parametrize("place", [0, 1])
def test_subcubes_that_cannot_be_read_are_named(place):
    given = [B2.clone(), D2.clone()]
    given[place].untyped_storage().resize_(0)
    with pytest.raises(ValueError, match=f"{('bases', 'directions')[place]} = .* has no memory"):
        oracle_signed_sums(torch.neg, *given)
    with pytest.raises(ValueError, match="numbers in bases must be read"):
        oracle_signed_sums(torch.neg, B2.to("meta"), D2.to("meta"))
