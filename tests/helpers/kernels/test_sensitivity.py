"""Bit flips: counting one by one, the algebra, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

from helpers import cube
from helpers.cube import spectrum
from helpers.kernels import sensitivity
from helpers.kernels.sensitivity import (
    LocalSensitivity,
    PackedTable,
    influences,
    local_sensitivity,
    pack,
    unpack,
)
from tests.interpreter import interpreted, needs_triton

BACKENDS = ("torch", "numba")
every_backend = pytest.mark.parametrize("backend", BACKENDS)
law = settings(deadline=None, max_examples=40)


def random_table(n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 1 - 2 * torch.randint(0, 2, (2**n,), generator=generator)


def counted(table, blocks):
    """How many blocks change the table at each point, one point and one block at a time."""
    f = table.tolist()
    return [sum(f[x] != f[x ^ block] for block in blocks) for x in range(len(f))]


def histogram_of(counts, length):
    return [counts.count(s) for s in range(length)]


@st.composite
def functions(draw):
    n = draw(st.integers(1, 10))
    return random_table(n, draw(st.integers(0, 2**31)))


@every_backend
@pytest.mark.parametrize("n", range(5))
def test_every_function_of_few_bits(backend, n):
    singles = [1 << k for k in range(n)]
    step = 1 if n < 4 else 997
    for number in range(0, 1 << (1 << n), step):
        table = torch.tensor([1 - 2 * (number >> x & 1) for x in range(1 << n)])
        assert int(pack(table).words) & (1 << (1 << n)) - 1 == number
        each = [sum(counted(table, [block])) / 2**n for block in singles]
        assert influences(table, backend).tolist() == each
        found = local_sensitivity(table, backend).histogram.tolist()
        assert found == histogram_of(counted(table, singles), n + 1)


@every_backend
@pytest.mark.parametrize("n", [5, 6, 7, 8, 9, 11])
def test_words_of_all_sizes_equal_counting(backend, n):
    table = random_table(n, n)
    singles = [1 << k for k in range(n)]
    each = [sum(counted(table, [block])) / 2**n for block in singles]
    found = influences(table, backend)
    assert found.dtype == torch.float64
    assert found.tolist() == each
    local = local_sensitivity(table, backend)
    counts = counted(table, singles)
    assert local.histogram.tolist() == histogram_of(counts, n + 1)
    assert (local.maximum, local.mean) == (max(counts), sum(counts) / 2**n)


@pytest.mark.parametrize("n", [14, 17, 18, 19, 20])
def test_sweeps_beyond_a_block_equal_the_reference(n):
    words = torch.randint(-(2**63), 2**63 - 1, (2 ** (n - 6),), generator=torch.Generator())
    packed = PackedTable(n, words & (words << 7) & (words >> 3))
    assert torch.equal(influences(packed, "numba"), influences(packed, "torch"))
    a, b = local_sensitivity(packed, "numba"), local_sensitivity(packed, "torch")
    assert torch.equal(a.histogram, b.histogram)


@pytest.mark.parametrize("n", range(1, 14))
def test_one_coordinate_and_the_product_of_all(n):
    for k in range(n):
        x_k = cube.character(n, 1 << k)
        assert influences(x_k).tolist() == [float(j == k) for j in range(n)]
    assert influences(cube.parity(n)).tolist() == [1.0] * n
    assert local_sensitivity(cube.parity(n)).histogram.tolist() == [0] * n + [2**n]


@every_backend
@law
@given(functions())
def test_influences_are_the_weights_of_the_spectrum(backend, table):
    n = len(table).bit_length() - 1
    weights = spectrum(table.double()).square()
    members = cube.bits(n).double()
    expected = weights @ members
    slack = 2 * (n + 2) * 2**n * torch.finfo(torch.float64).eps
    assert (influences(table, backend) - expected).abs().max() <= slack


@every_backend
@law
@given(functions(), st.integers(0, 2**10 - 1))
def test_a_shift_or_a_sign_changes_no_count(backend, table, shift):
    moved = -table[torch.arange(len(table)) ^ shift % len(table)]
    assert torch.equal(influences(moved, backend), influences(table, backend))
    a, b = local_sensitivity(moved, backend), local_sensitivity(table, backend)
    assert torch.equal(a.histogram, b.histogram)


@every_backend
@law
@given(functions())
def test_the_mean_is_the_sum_of_influences(backend, table):
    local = local_sensitivity(table, backend)
    assert int(local.histogram.sum()) == len(table)
    assert math.isclose(local.mean, influences(table, backend).sum().item(), rel_tol=1e-14)
    assert local.mean <= local.maximum


def test_the_counters_reach_n():
    """Parity changes with every single bit, at every point."""
    n = 21
    words = pack(cube.parity(6)).words
    for _ in range(n - 6):
        words = torch.cat((words, ~words))
    found = local_sensitivity(PackedTable(n, words), "numba")
    assert found.histogram.tolist() == [0] * n + [2**n]
    assert influences(PackedTable(n, words), "numba").tolist() == [1.0] * n


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64]
)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7, 10])
def test_packing_keeps_every_value(dtype, n):
    table = random_table(n, n).to(dtype)
    packed = pack(table)
    assert (packed.n, packed.words.dtype) == (n, torch.int64)
    assert torch.equal(unpack(packed), table.to(torch.int8))
    for x in range(2**n):
        assert int(packed.words[x >> 6]) >> (x & 63) & 1 == (table[x] == -1)


def test_views_are_packed_too():
    table = random_table(7)
    assert torch.equal(pack(table.repeat_interleave(2)[::2]).words, pack(table).words)
    words = torch.stack((pack(table).words, pack(-table).words), 1)
    strided = PackedTable(7, words[:, 0])
    for backend in BACKENDS:
        assert torch.equal(influences(strided, backend), influences(table))
        a, b = local_sensitivity(strided, backend), local_sensitivity(table)
        assert torch.equal(a.histogram, b.histogram)


def test_a_summary_reads_its_histogram():
    found = LocalSensitivity(torch.tensor([1, 0, 3, 0]))
    assert (found.maximum, found.mean) == (2, 1.5)


@needs_triton
def test_the_triton_paths_equal_the_references_in_the_interpreter():
    interpreted("""
import torch
from helpers.kernels.sensitivity import influences, local_sensitivity, pack
g = torch.Generator().manual_seed(0)
for n in (0, 1, 5, 6, 8, 15):
    packed = pack(torch.randint(0, 2, (2**n,), generator=g) * 2 - 1)
    assert torch.equal(influences(packed, "triton"), influences(packed, "torch")), n
    a, b = (local_sensitivity(packed, path).histogram for path in ("triton", "torch"))
    assert torch.equal(a, b), n
from helpers import cube
for n in (9, 17):
    full = local_sensitivity(cube.parity(n), "triton").histogram
    assert full.tolist() == [0] * n + [2**n]
""")


@pytest.mark.parametrize(
    ("table", "error", "named"),
    [
        (torch.ones(3), ValueError, r"\(2\*\*n,\) with n from 0 to 30, got \(3,\)"),
        (torch.ones(0), ValueError, r"got \(0,\)"),
        (torch.ones(2, 2), ValueError, r"got \(2, 2\)"),
        (torch.tensor(1.0), ValueError, r"got \(\)"),
        (torch.ones(1, dtype=torch.int8).expand(2**31), ValueError, r"got \(2147483648,\)"),
        (torch.ones(4).half(), TypeError, "got torch.float16"),
        (torch.ones(4, dtype=torch.bool), TypeError, "got torch.bool"),
        (torch.ones(4, dtype=torch.uint8), TypeError, "got torch.uint8"),
        (torch.tensor([1.0, 0.0]), ValueError, "must be -1 or 1, found 0.0"),
        (torch.tensor([1.0, torch.nan]), ValueError, "must be -1 or 1, found nan"),
        (torch.tensor([1, -2]), ValueError, "must be -1 or 1, found -2"),
    ],
    ids=str,
)
def test_a_bad_table_is_named(table, error, named):
    for function in (pack, influences, local_sensitivity):
        with pytest.raises(error, match=named):
            function(table)


def test_a_gradient_is_refused():
    table = torch.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="no gradient; detach the table"):
        influences(table)
    with torch.no_grad():
        assert influences(table).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("n", "words", "error", "named"),
    [
        (31, torch.zeros(1).long(), ValueError, "0 to 30 bits, got n = 31"),
        (-1, torch.zeros(1).long(), ValueError, "got n = -1"),
        (6, torch.zeros(1).int(), TypeError, "words must be int64, got torch.int32"),
        (8, torch.zeros(3).long(), ValueError, r"words of shape \(4,\), got \(3,\)"),
        (2, torch.tensor([16]), ValueError, "bits of a word from 4 on at 0"),
        (5, torch.tensor([-1]), ValueError, "bits of a word from 32 on at 0"),
    ],
    ids=str,
)
def test_bad_words_are_named(n, words, error, named):
    with pytest.raises(error, match=named):
        PackedTable(n, words)


def test_an_explicit_backend_never_falls_back():
    for function in (influences, local_sensitivity):
        with pytest.raises(RuntimeError, match="'triton' needs a CUDA tensor, got cpu"):
            function(torch.ones(8), "triton")
        with pytest.raises(ValueError, match="unknown backend 'cuda'"):
            function(torch.ones(8), "cuda")


def test_a_table_longer_than_a_block_is_packed_whole():
    n = sensitivity.BLOCK_OF_VALUES.bit_length() + 1
    table = 1 - 2 * torch.randint(0, 2, (1 << n,), generator=torch.Generator().manual_seed(0))
    assert torch.equal(sensitivity.unpack(sensitivity.pack(table.to(torch.int8))).long(), table)
    table[-1] = 2
    with pytest.raises(ValueError, match="found 2"):
        sensitivity.pack(table)


def test_the_longest_tables_are_taken_and_longer_ones_refused(monkeypatch):
    words = torch.zeros(1).long().expand(1 << 24)
    assert PackedTable(30, words).words is words
    monkeypatch.setattr(sensitivity, "MAX_BITS", 3)
    assert pack(torch.ones(8)).n == 3
    with pytest.raises(ValueError, match=r"n from 0 to 3, got \(16,\)"):
        pack(torch.ones(16))


def test_forward_derivatives_and_transforms_are_refused():
    with forward_ad.dual_level():
        table = forward_ad.make_dual(torch.ones(4), torch.ones(4))
        with pytest.raises(RuntimeError, match="no gradient; detach the table"):
            influences(table)
    with pytest.raises(RuntimeError, match=r"outside of a transform of torch"):
        torch.vmap(influences)(torch.ones(2, 4))


def freed(x):
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.parametrize("measure", [influences, local_sensitivity])
def test_a_table_without_memory_is_refused_by_name(measure):
    with pytest.raises(ValueError, match=r"table = .* has no memory"):
        measure(freed(torch.ones(8)))
    packed = PackedTable(3, torch.zeros(1, dtype=torch.int64))
    freed(packed.words)
    with pytest.raises(ValueError, match=r"words = .* has no memory"):
        measure(packed)
    with pytest.raises(RuntimeError, match="numbers in table must be read"):
        measure(torch.ones(8, device="meta"))
    with FakeTensorMode(), pytest.raises(RuntimeError, match="numbers in table must be read"):
        measure(torch.ones(8))
    with pytest.raises(TypeError, match="table must be dense"):
        measure(torch.ones(8).to_sparse())


def test_packed_words_without_memory_give_a_shape():
    with FakeTensorMode():
        words = torch.zeros(1, dtype=torch.int64)
        assert influences(PackedTable(3, words)).shape == (3,)
    words = torch.zeros(2, dtype=torch.int64, device="meta")
    assert influences(PackedTable(7, words)).shape == (7,)


@every_backend
def test_words_with_their_sign_turned_are_read_as_they_read(backend):
    table = random_table(7)
    packed = pack(table)
    turned = PackedTable(7, torch._neg_view(-packed.words))
    assert torch.equal(influences(turned, backend), influences(packed, backend))
    one, other = (local_sensitivity(p, backend).histogram for p in (turned, packed))
    assert torch.equal(one, other)
    assert torch.equal(influences(torch._neg_view(table), backend), influences(table, backend))
