"""Signed sums over subcubes: summing in Python, the algebra, the door."""

import functools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.kernels import subcubes
from helpers.kernels.flips import pack
from helpers.kernels.subcubes import (
    ask_once,
    block_directions,
    coordinate_directions,
    oracle_signed_sums,
    signed_sums,
    vertices,
)
from tests.interpreter import interpreted, needs_triton

BACKENDS = ("torch", "numba")
every_backend = pytest.mark.parametrize("backend", BACKENDS)
DTYPES = (torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64)
law = settings(deadline=None, max_examples=40)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(n, m, count, seed=0, dtype=torch.float64):
    """A table of whole numbers and any bases and directions."""
    g = seeded(seed)
    table = torch.randint(-50, 51, (2**n,), generator=g).to(dtype)
    bases = torch.randint(0, 2**n, (count,), generator=g)
    return table, bases, torch.randint(0, 2**n, (count, m), generator=g)


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


@every_backend
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("n", "m"), [(0, 0), (0, 1), (1, 1), (3, 0), (3, 2), (6, 3), (8, 5), (9, 9)]
)
def test_every_path_equals_the_definition(backend, dtype, n, m):
    table, bases, directions = drawn(n, m, 9, n + m, dtype)
    found = signed_sums(table, bases, directions, backend)
    assert found.dtype == (dtype if dtype.is_floating_point else torch.int64)
    f = table.tolist()
    expected = [summed(f, b, d) for b, d in zip(bases.tolist(), directions.tolist(), strict=True)]
    assert found.tolist() == expected


@every_backend
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_every_subcube_of_a_small_cube(backend, n):
    table = torch.tensor([3, -1, 4, 1, -5, 9, 2, -6])[: 2**n]
    all_pairs = torch.cartesian_prod(*[torch.arange(2**n)] * 3).view(-1, 3)
    found = signed_sums(table, all_pairs[:, 0], all_pairs[:, 1:], backend)
    assert found.tolist() == [summed(table.tolist(), x, d) for x, *d in all_pairs.tolist()]


@every_backend
@pytest.mark.parametrize("n", [0, 3, 6, 7, 10])
@pytest.mark.parametrize("m", [0, 1, 2, 4])
def test_packed_bits_give_the_same_as_their_table(backend, n, m):
    table, bases, directions = drawn(n, m, 50, n + m)
    table = torch.where(table > 0, 1.0, -1.0)
    found = signed_sums(pack(table), bases, directions, backend)
    assert found.dtype == torch.int64
    assert torch.equal(found.float(), signed_sums(table, bases, directions))


@every_backend
@law
@given(st.integers(1, 8), st.integers(0, 5), st.integers(0, 2**31))
def test_a_subcube_is_odd_along_each_direction(backend, n, m, seed):
    table, bases, directions = drawn(n, m, 7, seed)
    here = signed_sums(table, bases, directions, backend)
    for j in range(m):
        there = signed_sums(table, bases ^ directions[:, j], directions, backend)
        assert torch.equal(there, -here)


@every_backend
@law
@given(st.integers(1, 8), st.integers(0, 2**31))
def test_one_more_direction_is_a_difference(backend, n, seed):
    table, bases, directions = drawn(n, 4, 7, seed)
    less = directions[:, :3]
    one, other = (signed_sums(table, b, less, backend) for b in (bases, bases ^ directions[:, 3]))
    assert torch.equal(signed_sums(table, bases, directions, backend), one - other)


@every_backend
@law
@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**31))
def test_a_character_survives_iff_it_meets_every_direction_oddly(backend, n, m, seed):
    g = seeded(seed)
    U = int(torch.randint(0, 2**n, (1,), generator=g))
    _, bases, directions = drawn(n, m, 20, seed)
    odd = [all((U & d).bit_count() % 2 for d in row) for row in directions.tolist()]
    chi = cube.character(n, U)
    expected = [2**m * chi[x].item() * o for x, o in zip(bases.tolist(), odd, strict=True)]
    assert signed_sums(chi, bases, directions, backend).tolist() == expected


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


@every_backend
def test_nan_stays_in_the_subcubes_that_hold_it(backend):
    table, bases, directions = drawn(7, 3, 300)
    table[5] = torch.nan
    held = (vertices(bases, directions) == 5).any(1)
    assert 0 < held.sum() < 300
    assert torch.equal(signed_sums(table, bases, directions, backend).isnan(), held)


@every_backend
def test_float32_is_summed_in_float64(backend):
    table = torch.tensor([2.0**25, 2.0**25, 1.0, 2.0**-20])
    found = signed_sums(table, torch.tensor([0]), torch.tensor([[1, 2]]), backend)
    assert found.item() == 2.0**-20 - 1.0


def test_views_are_accepted():
    table, bases, directions = drawn(6, 4, 40)
    whole = signed_sums(table, bases[::2], directions[::2, ::2])
    spread = table.repeat_interleave(3)[::3]
    assert torch.equal(signed_sums(spread, bases[::2], directions.T[::2, ::2].T), whole)


@pytest.mark.parametrize("chunk", [1, 8, 20])
def test_chunks_of_any_size_give_the_same(chunk, monkeypatch):
    table, bases, directions = drawn(6, 3, 23)
    whole = signed_sums(table, bases, directions, "numba")
    monkeypatch.setattr(subcubes, "CHUNK", chunk)
    assert torch.equal(signed_sums(table, bases, directions, "torch"), whole)


def test_the_gradient_of_a_table_is_its_signs():
    table, bases, directions = drawn(5, 2, 6)
    table.requires_grad_()
    assert torch.autograd.gradcheck(lambda f: signed_sums(f, bases, directions), table)
    with pytest.raises(RuntimeError, match="'numba' records no gradient"):
        signed_sums(table, bases, directions, "numba")
    with torch.no_grad():
        found = signed_sums(table, bases, directions, "numba")
    assert torch.equal(found, signed_sums(table.detach(), bases, directions, "torch"))


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


@needs_triton
def test_the_triton_path_equals_the_reference_in_the_interpreter():
    interpreted("""
import torch
from helpers.kernels.flips import pack
from helpers.kernels.subcubes import signed_sums
g = torch.Generator().manual_seed(0)
whole = torch.randint(-50, 51, (128,), generator=g)
tables = [whole.to(t) for t in (torch.float32, torch.float64, torch.int8, torch.int64)]
for table in (*tables, pack(torch.where(whole > 0, 1, -1))):
    for m in (0, 1, 2, 4):
        bases = torch.randint(0, 128, (259,), generator=g)
        directions = torch.randint(0, 128, (259, m), generator=g)
        found, expected = (signed_sums(table, bases, directions, p) for p in ("triton", "torch"))
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected), m
holed = tables[1].index_fill(0, torch.tensor([5]), torch.nan)
a, b = (signed_sums(holed, bases, directions, p).isnan() for p in ("triton", "torch"))
assert torch.equal(a, b) and 0 < a.sum() < 259
""")


B2, D2 = torch.tensor([0, 1]), torch.tensor([[1, 2], [2, 3]])


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ((torch.ones(3), B2, D2), ValueError, r"n from 0 to 30, got \(3,\)"),
        ((torch.ones(2, 2), B2, D2), ValueError, r"got \(2, 2\)"),
        ((torch.ones(0), B2, D2), ValueError, r"got \(0,\)"),
        ((torch.ones(1).expand(2**31), B2, D2), ValueError, r"got \(2147483648,\)"),
        ((torch.ones(4).half(), B2, D2), TypeError, "got torch.float16"),
        ((torch.ones(4).bool(), B2, D2), TypeError, "got torch.bool"),
        ((torch.ones(4), B2.int(), D2), TypeError, "bases must be int64, got torch.int32"),
        ((torch.ones(4), B2, D2.double()), TypeError, "directions must be int64"),
        ((torch.ones(4), B2[:1], D2), ValueError, r"got \(1,\) and \(2, 2\)"),
        ((torch.ones(4), B2[:, None], D2), ValueError, r"got \(2, 1\) and \(2, 2\)"),
        ((torch.ones(4), B2[:0], D2[:0]), ValueError, r"Q at least 1, got \(0,\) and \(0, 2\)"),
        ((torch.ones(4), B2, D2[0]), ValueError, r"got \(2,\) and \(2,\)"),
        ((torch.ones(4), B2 + 3, D2), ValueError, r"bases lie between 0 and 2\*\*2 - 1, found 4"),
        ((torch.ones(4), B2 - 1, D2), ValueError, "found -1"),
        ((torch.ones(4), B2 * 4, D2), ValueError, "bases lie between .* found 4"),
        ((torch.ones(4), B2, D2 + 1), ValueError, "directions lie between .* found 4"),
        ((torch.ones(4), B2, D2[:, :1].expand(2, 31)), ValueError, "m is at most 30, got 31"),
        ((torch.ones(4).long() << 61, B2, D2), OverflowError, r"2\*\*2 \* 2305843009213693952"),
        ((torch.ones(4), B2, D2, "cuda"), ValueError, "unknown backend 'cuda'"),
        ((torch.ones(4), B2, D2, "triton"), RuntimeError, "needs a CUDA tensor, got cpu"),
        ((torch.ones(4, device="meta"), B2, D2), ValueError, "one device, found cpu, meta"),
    ],
    ids=str,
)
def test_bad_input_is_named(arguments, error, named):
    with pytest.raises(error, match=named):
        signed_sums(*arguments)


def test_integers_up_to_the_limit_are_exact():
    top = 2**61 - 1
    table = torch.tensor([top, -top, -top, top])
    for backend in BACKENDS:
        found = signed_sums(table, torch.tensor([0, 1]), torch.tensor([[1, 2]] * 2), backend)
        assert found.tolist() == [4 * top, -4 * top]


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


def test_the_largest_table_is_taken_and_one_twice_as_long_is_not():
    one = torch.zeros(1)
    subcubes._check_table(one.expand(1 << subcubes.MAX_TABLE_BITS))
    with pytest.raises(ValueError, match=r"with n from 0 to \d+, got"):
        subcubes._check_table(one.expand(2 << subcubes.MAX_TABLE_BITS))


def test_the_most_directions_and_vertices_are_taken_and_more_refused(monkeypatch):
    monkeypatch.setattr(subcubes, "MAX_DIRECTIONS", 2)
    monkeypatch.setattr(subcubes, "MAX_VERTICES", 8)
    table = torch.arange(4.0)
    expected = [summed(table.tolist(), b, d) for b, d in zip([0, 1], D2.tolist(), strict=True)]
    assert signed_sums(table, B2, D2).tolist() == expected
    assert oracle_signed_sums(lambda x: table[x], B2, D2).sums.tolist() == expected
    assert block_directions(3, 2, 1, seeded()).shape == (1, 2)
    with pytest.raises(ValueError, match="m is at most 2, got 3"):
        signed_sums(table, B2, D2[:, [0, 0, 1]])
    with pytest.raises(ValueError, match="m runs from 0 to 2, got 3"):
        block_directions(3, 3, 1, seeded())
    with pytest.raises(ValueError, match=r"at most 8, got 3 \* 2\*\*2"):
        oracle_signed_sums(lambda x: table[x], B2[[0, 0, 1]], D2[[0, 0, 1]])
