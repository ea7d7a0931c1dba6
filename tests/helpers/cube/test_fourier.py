"""Spectra and sensitivities: brute force at small n, the laws, bad input."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.cube import (
    average_sensitivity,
    degree,
    degree_profile,
    even_parity_coefficients,
    local_sensitivity,
    sparsity,
    spectrum,
)
from helpers.kernels.sensitivity import influences
from papers.beyond.probed import aes_s_box
from tests.draws import normal

law = settings(deadline=None, max_examples=60)
EPS = torch.finfo(torch.float64).eps
EVERY = (
    spectrum,
    even_parity_coefficients,
    degree_profile,
    average_sensitivity,
    local_sensitivity,
    sparsity,
)


@st.composite
def functions(draw, n_min=0, n_max=5):
    """Tables of whole numbers, as float64: their spectra are exact."""
    N = 2 ** draw(st.integers(n_min, n_max))
    return torch.tensor(draw(st.lists(st.integers(-99, 99), min_size=N, max_size=N))).double()


@st.composite
def boolean_functions(draw, n_max=5):
    N = 2 ** draw(st.integers(0, n_max))
    return torch.tensor(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=N, max_size=N)))


def length(f):
    return f.shape[-1].bit_length() - 1


@pytest.mark.parametrize("n", range(6))
def test_the_spectrum_of_a_character_is_one_coefficient(n):
    table = torch.stack([cube.character(n, mask) for mask in range(2**n)])
    assert torch.equal(spectrum(table), torch.eye(2**n, dtype=torch.float64))


@law
@given(functions())
def test_a_coefficient_is_the_mean_of_f_times_the_character(f):
    n = length(f)
    means = torch.stack([(f * cube.character(n, mask)).mean() for mask in range(2**n)])
    assert torch.equal(spectrum(f), means)


@law
@given(functions())
def test_parseval_mean_and_variance(f):
    f_hat = spectrum(f)
    assert f_hat.square().sum() == f.square().mean()
    assert f_hat[0] == f.mean()
    assert f_hat[1:].square().sum() == f.square().mean() - f.mean().square()


@law
@given(functions())
def test_indicators_add_up_to_the_function(f):
    n = length(f)
    even = torch.tensor([[(S & x).bit_count() % 2 == 0 for x in range(2**n)] for S in range(2**n)])
    assert torch.equal(even_parity_coefficients(f) @ even.double(), f)


@law
@given(functions(n_min=1))
def test_indicator_coefficients_are_unique(a):
    f = cube.SparseFunction(length(a), torch.arange(len(a)), a, "even_parity")
    assert torch.equal(even_parity_coefficients(f.table()), a)


@law
@given(functions())
def test_the_degree_profile_sorts_the_weight_by_size(f):
    profile = degree_profile(f)
    by_size = [0.0] * (length(f) + 1)
    for mask, weight in enumerate(spectrum(f).square().tolist()):
        by_size[mask.bit_count()] += weight
    assert profile.tolist() == by_size
    assert profile.sum() == f.square().mean()


def flips_of(values, x):
    n = len(values).bit_length() - 1
    return sum(values[x] != values[x ^ (1 << i)] for i in range(n))


@law
@given(boolean_functions())
def test_sensitivity_counts_bit_flips(f):
    values = f.tolist()
    flips = [flips_of(values, x) for x in range(len(values))]
    assert local_sensitivity(f).tolist() == flips
    assert average_sensitivity(f).item() == sum(flips) / len(flips)


@law
@given(functions())
def test_average_sensitivity_is_the_mean_of_local_sensitivity(f):
    assert average_sensitivity(f) == local_sensitivity(f).mean()
    assert average_sensitivity(f) == (degree_profile(f) * torch.arange(length(f) + 1)).sum()


@law
@given(functions(), st.integers(0, 2**5 - 1), st.randoms(use_true_random=False))
def test_renaming_or_flipping_coordinates_changes_no_sensitivity(f, a, source):
    order = list(range(length(f)))
    source.shuffle(order)
    i = torch.arange(len(f))
    moved = sum(((i >> k & 1) << to for k, to in enumerate(order)), torch.zeros_like(i))
    g = f[moved ^ (a % len(f))]
    assert torch.equal(degree_profile(g), degree_profile(f))
    assert average_sensitivity(g) == average_sensitivity(f)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 11])
def test_the_four_named_functions_have_their_closed_forms(n):
    k = n // 2
    expected = {
        "PARITY": n,
        "MAJORITY": 2 * math.comb(n, k) * (n - k) / 2**n,
        "FIRST": 1,
        "MEAN": 1 / n,
    }
    for name, table in cube.NAMED.items():
        assert average_sensitivity(table(n)).item() == pytest.approx(
            expected[name], rel=n * 2**n * EPS
        )


def test_degree_and_sparsity_of_known_functions():
    assert [degree(cube.parity(n)) for n in range(5)] == [0, 1, 2, 3, 4]
    assert [degree(f) for f in (cube.first(5), cube.mean(5), cube.majority(5))] == [1, 1, 5]
    tables = torch.stack([cube.parity(5), cube.mean(5), cube.majority(5)])
    assert sparsity(tables).tolist() == [1, 5, 5 + 10 + 1]


def test_the_zero_function_has_degree_and_sparsity_zero():
    assert degree(torch.zeros(8)) == 0
    assert sparsity(torch.zeros(8)) == 0


def test_the_tolerance_decides_what_counts():
    f = cube.first(3) + 1e-6 * cube.parity(3)
    assert (degree(f), int(sparsity(f))) == (3, 2)
    assert (degree(f, tol=1e-5), int(sparsity(f, tol=1e-5))) == (1, 1)


@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("batch", [(1,), (3,), (2, 3), (5, 1, 2)])
def test_every_row_of_a_batch_stands_alone(batch, function):
    f = normal(*batch, 8)
    found = function(f)
    assert found.shape[: len(batch)] == batch
    for where in itertools.product(*map(range, batch)):
        torch.testing.assert_close(found[where], function(f[where]))


@pytest.mark.parametrize("function", EVERY[:-1], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_dtype_is_kept_and_views_are_accepted(dtype, function):
    f = normal(8, 3).to(dtype)
    before = f.clone()
    assert function(f.T).dtype == dtype
    torch.testing.assert_close(function(f.T), function(f.T.contiguous()))
    assert torch.equal(f, before)


@pytest.mark.parametrize("function", EVERY[:-1], ids=lambda f: f.__name__)
def test_gradients_are_right(function):
    assert torch.autograd.gradcheck(function, normal(2, 8).requires_grad_())


@pytest.mark.parametrize("function", [*EVERY, degree], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("f", "error", "named"),
    [
        (torch.zeros(6), ValueError, r"power of two, got shape \(6,\)"),
        (torch.tensor(0.0), ValueError, r"got shape \(\)"),
        (torch.zeros(4, dtype=torch.int64), TypeError, "float64, got torch.int64"),
        (torch.zeros(4, dtype=torch.bool), TypeError, "float64, got torch.bool"),
    ],
    ids=str,
)
def test_bad_input_is_named(function, f, error, named):
    with pytest.raises(error, match=named):
        function(f)


def test_degree_takes_one_table():
    with pytest.raises(ValueError, match=r"one table, got shape \(2, 4\)"):
        degree(torch.zeros(2, 4))


def values(n, truth):
    """The table of a function of bits in {0, 1}: -1 where it is true."""
    x = cube.bits(n).bool()
    return 1.0 - 2.0 * truth(x).double()


def sizes(n):
    """How many members each set has."""
    return cube.bits(n).sum(-1)


@pytest.mark.parametrize("n", [3, 5, 7, 11])
def test_the_spectrum_of_majority_is_that_of_titsworth(n):
    """Titsworth (1962); O'Donnell (2014), Theorem 5.19: by the size k of a set, 0 for even k."""
    h = (n - 1) // 2
    by_size = torch.zeros(n + 1, dtype=torch.float64)
    for k in range(1, n + 1, 2):
        j = (k - 1) // 2
        by_size[k] = (-1) ** j * 2 * math.comb(h, j) / math.comb(n - 1, k - 1) / 2**n
    by_size *= math.comb(n - 1, h)
    found = spectrum(cube.majority(n))
    torch.testing.assert_close(found, by_size[sizes(n)], rtol=0, atol=2**n * EPS)
    each = torch.full((n,), math.comb(n - 1, h) / 2 ** (n - 1), dtype=torch.float64)
    assert torch.equal(influences(cube.majority(n)), each)


@pytest.mark.parametrize(("width", "tribes"), [(1, 3), (2, 2), (2, 3), (3, 3), (3, 4)])
def test_the_spectrum_of_tribes_is_a_product_over_tribes(width, tribes):
    """Of Ben-Or and Linial (1985): true if some tribe is all true."""
    n = width * tribes
    table = values(n, lambda x: x.unflatten(-1, (tribes, width)).all(-1).any(-1))
    inside = cube.bits(n).unflatten(-1, (tribes, width)).sum(-1)
    factors = torch.where(inside == 0, 1 - 2.0**-width, -(2.0**-width) * (-1.0) ** inside)
    expected = 2 * factors.double().prod(-1)
    expected[0] -= 1
    torch.testing.assert_close(spectrum(table), expected, rtol=0, atol=8 * EPS)
    influence = 2.0 ** (1 - width) * (1 - 2.0**-width) ** (tribes - 1)
    assert influences(table).tolist() == [influence] * n
    assert average_sensitivity(table).item() == pytest.approx(n * influence, rel=1e-14)


@pytest.mark.parametrize("half", [1, 2, 3, 4, 5])
def test_the_inner_product_is_bent_and_its_own_dual(half):
    """Rothaus (1976): every coefficient is 2^-m up to sign, m half the bits."""
    table = values(2 * half, lambda x: (x[:, :half] & x[:, half:]).sum(-1) % 2 == 1)
    assert torch.equal(spectrum(table), table * 2.0**-half)
    assert influences(table).tolist() == [0.5] * (2 * half)
    assert degree(table) == 2 * half
    assert sparsity(table) == 4**half


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_address_function_reads_one_of_its_data_bits(k):
    """Degree k + 1, 4^k coefficients of size 2^-k; an address bit matters at half of the inputs."""
    n, powers = k + 2**k, 2 ** torch.arange(k)
    table = values(n, lambda x: x[:, k:].gather(1, (x[:, :k] * powers).sum(-1)[:, None])[:, 0])
    found = spectrum(table)
    assert found.abs().unique().tolist() == [0.0, 2.0**-k]
    assert sparsity(table) == 4**k
    assert degree(table) == k + 1
    assert influences(table).tolist() == [0.5] * k + [2.0**-k] * 2**k
    assert local_sensitivity(table).max() == k + 1


def test_the_s_box_of_aes_has_nonlinearity_112():
    """All 255 sums of its output bits: balanced, and at distance 112 from all affine functions."""
    box = torch.tensor(aes_s_box())
    sums = 1.0 - 2.0 * (sizes(8)[torch.arange(1, 256)[:, None] & box] % 2)
    found = spectrum(sums.double()) * 256
    assert not found[:, 0].any()
    assert (128 - found.abs().amax(1) / 2).unique().tolist() == [112]


SIZES = (1e-30, 1e-9, 1e-3, 1.0, 1e8, 1e30)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [1, 6, 10, 14])
def test_degree_and_sparsity_know_the_dtype_and_the_size_of_a_table(n, size, dtype):
    f = (size * cube.mean(n)).to(dtype)
    assert (cube.degree(f), cube.sparsity(f).item()) == (1, n)
    g = cube.sparse_function(max(n, 3), 3, 1 if n < 4 else 5, torch.Generator().manual_seed(1))
    f = (size * g.table()).to(dtype)
    assert (cube.degree(f), cube.sparsity(f).item()) == (3, g.sparsity)


def test_each_table_of_a_batch_has_its_own_size():
    batch = torch.stack((1e9 * cube.first(5), 1e-9 * cube.parity(5), 0 * cube.parity(5)))
    assert cube.sparsity(batch).tolist() == [1, 1, 0]
    assert cube.degree(torch.zeros(8)) == 0


def test_a_tolerance_that_is_given_is_absolute():
    f = cube.first(4) + 1e-3 * cube.parity(4)
    assert (cube.degree(f, 0.0), cube.degree(f, 1e-2), cube.degree(f, 2.0)) == (4, 1, 0)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="tol must be finite"):
            cube.sparsity(f, wrong)


@pytest.mark.parametrize(
    "function",
    [
        cube.spectrum,
        cube.even_parity_coefficients,
        cube.degree_profile,
        cube.average_sensitivity,
        cube.local_sensitivity,
        cube.degree,
        cube.sparsity,
    ],
)
def test_all_refuse_what_one_refuses(function):
    for wrong in (torch.float16, torch.bfloat16, torch.int64, torch.bool):
        with pytest.raises(TypeError, match="float32 or float64, got"):
            function(torch.ones(8).to(wrong))
    for shape in ((0, 8), (3,), ()):
        with pytest.raises(ValueError, match=r"shape|got 0"):
            function(torch.ones(shape))
    with pytest.raises(TypeError, match=r"f must be a torch\.Tensor, got list"):
        function([1.0, -1.0])
    with pytest.raises(TypeError, match="f must be dense"):
        function(torch.ones(8).to_sparse())
