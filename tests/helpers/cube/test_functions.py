"""Points, characters, named and sparse functions: conventions by hand, counts, bad input."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import (
    SparseFunction,
    degree,
    degree_profile,
    functions,
    sparse_function,
    sparsity,
    spectrum,
)
from tests.draws import seeded

law = settings(deadline=None, max_examples=60)
MASK = st.integers(0, 2**62 - 1)
both_bases = pytest.mark.parametrize("basis", cube.BASES)
EPS = torch.finfo(torch.float64).eps


def rounding(n, W):
    """Slack of a mean square: n steps for each value, whose size is at most sqrt(W)."""
    return 4 * n * W * EPS


@st.composite
def sparse_functions(draw, n_max=8):
    """Functions with terms of any size and any whole coefficients: exact throughout."""
    n = draw(st.integers(1, n_max))
    masks = draw(st.lists(st.integers(0, 2**n - 1), unique=True, max_size=12))
    c = draw(st.lists(st.integers(-99, 99), min_size=len(masks), max_size=len(masks)))
    basis = draw(st.sampled_from(cube.BASES))
    return SparseFunction(
        n, torch.tensor(masks, dtype=torch.int64), torch.tensor(c).double(), basis
    )


def value(f, x):
    """The value at one point, by counting bits one at a time."""
    even = [(m & x).bit_count() % 2 == 0 for m in f.masks.tolist()]
    b = [1 if e else (-1 if f.basis == "character" else 0) for e in even]
    return sum(c * v for c, v in zip(f.coefficients.tolist(), b, strict=True))


def test_bit_k_of_the_index_is_1_iff_the_coordinate_is_minus_1():
    assert cube.bits(2).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert cube.points(2).tolist() == [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    for n in range(7):
        for i, point in enumerate(cube.points(n).tolist()):
            assert point == [(-1) ** (i >> k & 1) for k in range(n)]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_index_of_inverts_bits(n):
    assert torch.equal(cube.index_of(cube.bits(n)), cube.indices(n))
    assert torch.equal(cube.index_of(cube.bits(n).double()), cube.indices(n))


def test_an_index_holds_62_bits_in_any_batch():
    strings = torch.zeros(2, 3, 62, dtype=torch.int64)
    strings[1, 2] = 1
    found = cube.index_of(strings)
    assert found.shape == (2, 3)
    assert (found[0, 0], found[1, 2]) == (0, 2**62 - 1)


@law
@given(MASK)
def test_a_mask_is_the_set_of_its_members(mask):
    assert cube.mask_of(cube.members(mask)) == mask
    assert len(cube.members(mask)) == mask.bit_count()


def test_members_are_counted_from_1():
    assert cube.members(0b1011) == [1, 2, 4]
    assert cube.mask_of([4, 2, 1, 2]) == 0b1011
    assert cube.members(0) == []


@pytest.mark.parametrize("n", range(1, 7))
def test_a_character_is_the_product_of_its_coordinates(n):
    points = cube.points(n)
    for mask in range(2**n):
        chosen = [k - 1 for k in cube.members(mask)]
        assert torch.equal(cube.character(n, mask), points[:, chosen].prod(-1))


@pytest.mark.parametrize("n", range(9))
def test_the_matrix_of_characters_has_them_as_rows(n):
    rows = torch.stack([cube.character(n, mask) for mask in range(2**n)])
    assert torch.equal(cube.characters(n), rows)


@pytest.mark.parametrize("n", range(1, 8))
def test_named_functions_are_what_their_names_say(n):
    points = cube.points(n)
    expected = {
        cube.parity: points.prod(-1),
        cube.majority: (points.sum(-1) > 0).double() * 2 - 1,
        cube.first: points[:, 0],
        cube.mean: points.mean(-1),
    }
    for table, values in expected.items():
        torch.testing.assert_close(table(n), values, rtol=0, atol=1e-15)
    assert set(cube.NAMED.values()) == set(expected)


@law
@given(sparse_functions())
def test_a_sparse_function_is_the_sum_of_its_terms(f):
    everywhere = [value(f, x) for x in range(2**f.n)]
    assert f.table().tolist() == everywhere
    assert f(cube.indices(f.n)).tolist() == everywhere


@law
@given(sparse_functions())
def test_walsh_terms_are_the_spectrum(f):
    masks, c = f.walsh_terms()
    assert len(set(masks.tolist())) == len(masks)
    f_hat = torch.zeros(2**f.n, dtype=torch.float64).index_put((masks,), c)
    assert torch.equal(f_hat, spectrum(f.table()))


@both_bases
def test_terms_of_62_bits_are_evaluated(basis):
    masks = torch.tensor([2**62 - 1, 2**61 + 1])
    f = SparseFunction(62, masks, torch.tensor([3.0, 5.0]).double(), basis)
    points = torch.tensor([0, 1, 2**61, 2**61 + 1, 2**62 - 1, 2**40 + 2**20])
    assert f(points).tolist() == [value(f, x) for x in points.tolist()]
    assert (f.degree, f.sparsity, f.sets[1]) == (62, 2, [1, 62])


def test_a_function_without_terms_is_zero():
    nothing = SparseFunction(3, torch.zeros(0, dtype=torch.int64), torch.zeros(0).double())
    assert (nothing.degree, nothing.sparsity, nothing.sets) == (0, 0, [])
    assert torch.equal(nothing.table(), torch.zeros(8).double())


CLASSES = [(6, 1, 1), (6, 1, 6), (8, 3, 20), (10, 5, 14), (10, 0, 1), (9, 9, 1), (10, 2, 45)]


@both_bases
@pytest.mark.parametrize(("n", "d", "W"), CLASSES)
def test_a_random_function_has_the_degree_and_sparsity_asked_for(n, d, W, basis):
    f = sparse_function(n, d, W, seeded(), basis)
    assert (f.n, f.degree, f.sparsity, f.basis) == (n, d, W, basis)
    assert {m.bit_count() for m in f.masks.tolist()} == {d}
    assert len(set(f.masks.tolist())) == W
    assert (f.coefficients > 0).all()
    assert f.coefficients.square().sum().item() == pytest.approx(1, abs=W * EPS)


@pytest.mark.parametrize(("n", "d", "W"), [c for c in CLASSES if c[1] > 0])
def test_w_characters_have_mean_0_and_variance_1(n, d, W):
    table = sparse_function(n, d, W, seeded()).table()
    assert (degree(table), int(sparsity(table))) == (d, W)
    assert table.mean().item() == pytest.approx(0, abs=rounding(n, W))
    assert table.var(correction=0).item() == pytest.approx(1, abs=rounding(n, W))


@pytest.mark.parametrize(("n", "d", "W"), [c for c in CLASSES if c[1] > 0])
def test_w_indicators_are_w_plus_1_characters(n, d, W):
    f = sparse_function(n, d, W, seeded(), "even_parity")
    table = f.table()
    assert (degree(table), int(sparsity(table))) == (d, W + 1)
    assert table.mean().item() == pytest.approx(f.coefficients.sum().item() / 2, abs=rounding(n, W))
    assert table.var(correction=0).item() == pytest.approx(1 / 4, abs=rounding(n, W))
    assert degree_profile(table)[d].item() == pytest.approx(1 / 4, abs=rounding(n, W))


def test_the_constant_indicator_brings_no_second_constant():
    f = SparseFunction(3, torch.tensor([0, 5]), torch.tensor([2.0, 4.0]).double(), "even_parity")
    masks, c = f.walsh_terms()
    assert dict(zip(masks.tolist(), c.tolist(), strict=True)) == {5: 2.0, 0: 4.0}


@pytest.mark.parametrize("W", [1, 3, 5, 6, 8, 9, 10])
def test_every_subset_is_drawn_equally_often(W):
    draws, total = 2000, math.comb(5, 2)
    generator = seeded(W)
    seen = Counter(
        m for _ in range(draws) for m in sparse_function(5, 2, W, generator).masks.tolist()
    )
    assert len(seen) == total
    p = W / total
    spread = math.sqrt(draws * p * (1 - p))
    assert all(abs(times - draws * p) <= 5 * spread for times in seen.values())


@pytest.mark.parametrize(("n", "d"), [(5, 2), (20, 1), (18, 9)])
def test_all_subsets_or_all_but_one_can_be_asked_for(n, d):
    total = math.comb(n, d)
    everything = set(sparse_function(n, d, total, seeded()).masks.tolist())
    assert len(everything) == total
    assert {m.bit_count() for m in everything} == {d}
    assert set(sparse_function(n, d, total - 1, seeded()).masks.tolist()) < everything


def test_coefficients_are_absolute_normals():
    generator = seeded()
    raw = torch.randn(4, generator=seeded(), dtype=torch.float64).abs()
    torch.testing.assert_close(
        sparse_function(9, 2, 4, generator).coefficients, raw / raw.square().sum().sqrt()
    )


def test_the_generator_alone_decides():
    first, again = (sparse_function(20, 3, 14, seeded(7)) for _ in range(2))
    other = sparse_function(20, 3, 14, seeded(8))
    assert torch.equal(first.masks, again.masks)
    assert torch.equal(first.coefficients, again.coefficients)
    assert not torch.equal(first.masks, other.masks)
    indicators = sparse_function(20, 3, 14, seeded(7), "even_parity")
    assert torch.equal(first.masks, indicators.masks)


def test_a_random_function_of_62_bits_can_be_drawn():
    f = sparse_function(62, 31, 5, seeded())
    assert {m.bit_count() for m in f.masks.tolist()} == {31}


def function(n=3, masks=(1, 2), coefficients=(1.0, 1.0), basis="character", kind=torch.float64):
    sets = torch.tensor(masks, dtype=torch.int64)
    return SparseFunction(n, sets, torch.tensor(coefficients, dtype=kind), basis)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: cube.indices(31), "integer n from 0 to 30, got 31"),
        (lambda: cube.indices(-1), "got -1"),
        (lambda: cube.bits(2.0), r"got 2\.0"),
        (lambda: cube.points(True), "got True"),
        (lambda: cube.index_of(torch.zeros(2, 63)), r"at most 62 bits, got shape \(2, 63\)"),
        (lambda: cube.index_of(torch.tensor(1)), r"got shape \(\)"),
        (lambda: cube.index_of(torch.tensor([0, 1, 2])), "bits are 0 or 1, got 2"),
        (lambda: cube.index_of(cube.points(2)), r"bits are 0 or 1, got -1\.0"),
        (lambda: cube.mask_of([1, 0]), "from 1 to 62, got 0"),
        (lambda: cube.mask_of([63]), "from 1 to 62, got 63"),
        (lambda: cube.members(-3), "a mask lies between 0 and .* got -3"),
        (lambda: cube.members(2**62), "a mask lies between 0 and"),
        (lambda: cube.character(3, 8), r"mask 8 is outside the cube of 3 bits \(0 to 7\)"),
        (lambda: cube.character(3, -1), "mask -1 is outside"),
        (lambda: cube.characters(13), "n from 0 to 12, got 13"),
        (lambda: cube.first(0), "n must be at least 1, got 0"),
        (lambda: cube.mean(0), "n must be at least 1, got 0"),
        (lambda: function(basis="fourier"), "unknown basis 'fourier'; choose one of character"),
        (lambda: function(n=63), "n runs from 1 to 62, got 63"),
        (lambda: function(n=2.5), r"n must be a whole number, got 2\.5"),
        (lambda: function(masks=(1, 8)), "between 0 and 7, found 1 to 8"),
        (lambda: function(masks=(-1, 2)), "between 0 and 7, found -1 to 2"),
        (lambda: function(masks=(2, 2)), "must be distinct, 2 is repeated"),
        (lambda: function(coefficients=(1.0,)), r"got \(2,\) and \(1,\)"),
        (
            lambda: function(masks=((1, 2),), coefficients=((1.0, 1.0),)),
            r"one shape \(S,\), got \(1, 2\) and \(1, 2\)",
        ),
        (lambda: function()(torch.tensor([3, 8])), "points must lie between 0 and 7, found 3 to 8"),
        (lambda: function()([3, 4]), r"points must be a torch.Tensor, got list"),
        (lambda: cube.index_of([0, 1]), "strings must be a torch.Tensor, got list"),
        (lambda: function(n=40).table(), "integer n from 0 to 30, got 40"),
        (lambda: sparse_function(63, 1, 1, seeded()), "n runs from 1 to 62, got 63"),
        (lambda: sparse_function(0, 0, 1, seeded()), "n runs from 1 to 62, got 0"),
        (lambda: sparse_function(5, 6, 1, seeded()), "between 0 and n = 5, got 6"),
        (lambda: sparse_function(5, -1, 1, seeded()), "between 0 and n = 5, got -1"),
        (lambda: sparse_function(5, 2, 0, seeded()), "there are 10 subsets .* got 0"),
        (lambda: sparse_function(5, 2, 11, seeded()), "there are 10 subsets .* got 11"),
        (lambda: sparse_function(5, 2, 3, seeded(), "odd"), "unknown basis 'odd'"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises((ValueError, TypeError), match=named):
        call()


@pytest.mark.parametrize("sets", [(), (1, 2)])
def test_at_no_points_a_function_has_no_values(sets):
    f = function(masks=sets, coefficients=(1.0,) * len(sets))
    assert f(torch.arange(0)).shape == (0,)
    with pytest.raises(TypeError, match="points must be"):
        f(torch.zeros(2))


def test_the_largest_table_and_matrix_are_made_and_larger_ones_refused(monkeypatch):
    monkeypatch.setattr(functions, "MAX_TABLE_BITS", 3)
    monkeypatch.setattr(functions, "MAX_MATRIX_BITS", 2)
    assert cube.indices(3).tolist() == list(range(8))
    assert cube.characters(2).sum(1).tolist() == [4, 0, 0, 0]
    with pytest.raises(ValueError, match="n from 0 to 3, got 4"):
        cube.indices(4)
    with pytest.raises(ValueError, match="n from 0 to 2, got 3"):
        cube.characters(3)


def test_a_wrong_dtype_is_named():
    with pytest.raises(TypeError, match=r"coefficients must be torch.float64, got torch.float32"):
        function(kind=torch.float32)
    with pytest.raises(TypeError, match=r"masks must be torch.int64, got torch.float32"):
        SparseFunction(3, torch.ones(2), torch.ones(2, dtype=torch.float64))
    with pytest.raises(TypeError, match=r"points must be int64, got torch.int32"):
        function()(torch.tensor([1], dtype=torch.int32))


def test_two_functions_can_be_compared_and_hashed():
    f, g = function(), function()
    assert f == f
    assert f != g
    assert len({f, g}) == 2


@pytest.mark.parametrize(
    "made",
    [
        cube.indices,
        cube.bits,
        cube.points,
        cube.characters,
        cube.parity,
        cube.majority,
        cube.first,
        cube.mean,
        lambda n: cube.character(3, n),
        lambda n: torch.tensor(cube.members(n)),
        lambda n: torch.tensor(cube.mask_of([n])),
        lambda n: cube.sparse_function(n, n, 1, torch.Generator().manual_seed(0)).table(),
    ],
)
def test_every_whole_number_is_taken_and_nothing_else(made):
    for three in (np.int64(3), np.uint8(3), torch.tensor(3)):
        assert torch.equal(made(three), made(3))
    for wrong in (3.0, True, "3", np.float64(3), [3]):
        with pytest.raises(TypeError, match="must be a whole number, got"):
            made(wrong)
