"""The Walsh-Hadamard transform: the dense matrix, the algebra, bad input, the passes beneath."""

import os
import re
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types
from scipy.linalg import hadamard
from torch._subclasses.fake_tensor import FakeTensorMode

from helpers.kernels import _backends, _walsh_cpu, _walsh_gpu, _walsh_vectors, walsh
from helpers.kernels.walsh import DTYPES, walsh_hadamard, walsh_hadamard_, walsh_hadamard_reference

ROOT = Path(__file__).resolve().parents[3]
PATHS = ("torch", "numba")
FLOATS = tuple(t for t in DTYPES if t.is_floating_point)
INTEGERS = tuple(t for t in DTYPES if not t.is_floating_point)

path = pytest.mark.parametrize("backend", PATHS)
typed = pytest.mark.parametrize("dtype", DTYPES, ids=str)
law = settings(deadline=None, max_examples=60)  # the first call compiles


@st.composite
def tables(draw, n_max=6, rows=1):
    """``rows`` tables of one size, of integers small enough for every product below."""
    N = 2 ** draw(st.integers(0, n_max))
    entry = st.integers(-1000, 1000)
    row = st.lists(entry, min_size=N, max_size=N)
    drawn = [torch.tensor(draw(row)) for _ in range(rows)]
    return drawn if rows > 1 else drawn[0]


@st.composite
def tables_with_mask(draw):
    x = draw(tables())
    return x, draw(st.integers(0, len(x) - 1))


def signs(N, mask):
    """Character of ``mask``, by counting bits one at a time."""
    return torch.tensor([(-1) ** (mask & i).bit_count() for i in range(N)])


def random(shape, dtype, seed=0):
    """Random integers, for floats divided by 8: sums of them are exact in any order."""
    generator = torch.Generator().manual_seed(seed)
    whole = torch.randint(-1000, 1001, shape, generator=generator)
    return (whole / 8).to(dtype) if dtype.is_floating_point else whole.to(dtype)


@path
@typed
@pytest.mark.parametrize("n", range(11))
def test_walsh_hadamard_matches_the_dense_matrix(n, dtype, backend):
    found = walsh_hadamard(torch.eye(2**n, dtype=dtype), backend)
    assert found.dtype == dtype
    assert torch.equal(found, torch.from_numpy(hadamard(2**n)).to(dtype))


@path
@pytest.mark.parametrize("n", [12, 15, 18])
def test_a_long_transform_of_two_deltas_has_the_closed_form(n, backend):
    i, j = 2**n - 3, 2 ** (n - 1) + 5
    x = torch.zeros(2**n, dtype=torch.int64)
    x[i], x[j] = 7, -3
    S = torch.arange(2**n)
    odd = [sum((S & a) >> k & 1 for k in range(n)) % 2 for a in (i, j)]
    assert torch.equal(walsh_hadamard(x, backend), 7 * (1 - 2 * odd[0]) - 3 * (1 - 2 * odd[1]))


@path
@law
@given(tables_with_mask())
def test_each_output_is_the_sum_against_one_character(backend, given_):
    x, mask = given_
    assert walsh_hadamard(x, backend)[mask] == (signs(len(x), mask) * x).sum()


@path
@law
@given(tables())
def test_twice_is_2_to_the_n_times_the_table(backend, x):
    assert torch.equal(walsh_hadamard(walsh_hadamard(x, backend), backend), len(x) * x)


@path
@law
@given(tables())
def test_parseval(backend, x):
    assert walsh_hadamard(x, backend).square().sum() == len(x) * x.square().sum()


@path
@law
@given(tables(n_max=5, rows=2))
def test_the_transform_of_a_convolution_is_the_product(backend, pair):
    f, g = pair
    i = torch.arange(len(f))
    convolution = (f * g[i[:, None] ^ i]).sum(-1)
    product = walsh_hadamard(f, backend) * walsh_hadamard(g, backend)
    assert torch.equal(walsh_hadamard(convolution, backend), product)


@path
@law
@given(tables_with_mask())
def test_a_shift_multiplies_by_a_character(backend, given_):
    x, a = given_
    shifted = walsh_hadamard(x[torch.arange(len(x)) ^ a], backend)
    assert torch.equal(shifted, signs(len(x), a) * walsh_hadamard(x, backend))


@path
@law
@given(tables_with_mask())
def test_a_character_shifts_the_spectrum(backend, given_):
    x, mask = given_
    shifted = walsh_hadamard(x * signs(len(x), mask), backend)
    assert torch.equal(shifted, walsh_hadamard(x, backend)[torch.arange(len(x)) ^ mask])


@path
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("n", [1, 6, 11])
def test_rounding_stays_below_n_eps_times_the_l1_norm(n, dtype, backend):
    whole = random((20, 2**n), torch.int64)
    x = (whole.double() / 3).to(dtype)
    exact = x.double() @ torch.from_numpy(hadamard(2**n)).double()
    dense = 2**n * torch.finfo(torch.float64).eps  # what the product itself may be wrong by
    bound = (n * torch.finfo(dtype).eps + dense) * x.double().abs().sum(-1, keepdim=True)
    assert ((walsh_hadamard(x, backend).double() - exact).abs() <= bound).all()


@path
@typed
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 3), (5, 1, 7), (1, 1, 1, 2)])
def test_every_row_of_a_batch_is_transformed_alone(batch, dtype, backend):
    x = random((*batch, 8), dtype)
    found = walsh_hadamard(x, backend)
    assert found.shape == x.shape
    for row, image in zip(x.reshape(-1, 8), found.reshape(-1, 8), strict=True):
        assert torch.equal(image, walsh_hadamard(row, backend))


VIEWS = {
    "transposed": lambda: random((8, 5), torch.float64).T,
    "every other entry": lambda: random((3, 16), torch.float64)[:, ::2],
    "one row repeated": lambda: random((1, 8), torch.float64).expand(4, 8),
    "one number repeated": lambda: random((3, 1), torch.float64).expand(3, 8),
    "batch axes swapped": lambda: random((2, 3, 8), torch.float64).transpose(0, 1),
    "from the middle": lambda: random((50,), torch.float64)[13:29],
}


@path
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_transformed_like_its_copy(view, backend):
    x = VIEWS[view]()
    assert torch.equal(walsh_hadamard(x, backend), walsh_hadamard(x.clone().contiguous(), backend))


@path
@pytest.mark.parametrize("n", [0, 1, 5])
def test_the_input_is_left_alone(n, backend):
    x = random((3, 2**n), torch.float64)
    before = x.clone()
    walsh_hadamard(x, backend).fill_(torch.nan)
    assert torch.equal(x, before)


@path
def test_nan_reaches_every_output_of_its_row_and_no_other(backend):
    x = torch.ones(2, 8)
    x[0, 5] = torch.nan
    assert torch.equal(walsh_hadamard(x, backend).isnan().sum(-1), torch.tensor([8, 0]))


@path
def test_gradients_of_first_and_second_order_are_right(backend):
    x = random((2, 3, 8), torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: walsh_hadamard(v, backend), x)
    assert torch.autograd.gradgradcheck(lambda v: walsh_hadamard(v, backend).pow(3), x)


@path
def test_the_gradient_is_the_transform_itself(backend):
    x = random((3, 8), torch.float32).requires_grad_()
    weights = random((3, 8), torch.float32, seed=1)
    (gradient,) = torch.autograd.grad((weights * walsh_hadamard(x, backend)).sum(), x)
    assert torch.equal(gradient, walsh_hadamard(weights, backend))


@path
@pytest.mark.parametrize("derivative", ["grad", "hessian", "jacfwd", "jacrev"])
def test_function_transforms_agree_with_the_dense_matrix(derivative, backend):
    H = torch.from_numpy(hadamard(8)).double()
    x = random((8,), torch.float64)
    of = getattr(torch.func, derivative)
    found = of(lambda v: walsh_hadamard(v, backend).pow(3).sum())(x)
    torch.testing.assert_close(found, of(lambda v: (H @ v).pow(3).sum())(x))


@path
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_vmap_over_any_axis_is_a_batch(axis, backend):
    x = random((4, 3, 8), torch.float64).movedim(0, axis)
    found = torch.func.vmap(lambda v: walsh_hadamard(v, backend), in_dims=axis)(x)
    assert torch.equal(found, walsh_hadamard(x.movedim(axis, 0), backend))


@path
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_are_exact_up_to_the_limit_and_refused_beyond(sign, dtype, backend):
    N = 16
    limit = torch.iinfo(dtype).max // N
    x = torch.full((2, N), sign * limit, dtype=dtype)
    assert walsh_hadamard(x, backend)[:, 0].tolist() == [sign * limit * N] * 2
    x[1, 3] += sign
    with pytest.raises(OverflowError, match=rf"{N} \* {limit + 1} does not fit in {dtype}"):
        walsh_hadamard(x, backend)


@path
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_one_number_is_its_own_transform_however_large(dtype, backend):
    x = torch.tensor([torch.iinfo(dtype).max], dtype=dtype)
    assert torch.equal(walsh_hadamard(x, backend), x)


@path
@pytest.mark.parametrize(
    ("x", "error", "named"),
    [
        (torch.zeros(3), ValueError, r"power of two, got shape \(3,\)"),
        (torch.zeros(4, 6), ValueError, r"power of two, got shape \(4, 6\)"),
        (torch.zeros(4, 0), ValueError, r"power of two, got shape \(4, 0\)"),
        (torch.tensor(1.0), ValueError, r"power of two, got shape \(\)"),
        (torch.zeros(1).expand(2**31), ValueError, r"at most 2\*\*30 entries, got 2147483648"),
        (torch.zeros(0, 4), ValueError, r"batch is empty: shape \(0, 4\)"),
        (torch.zeros(4, dtype=torch.float16), TypeError, "got torch.float16"),
        (torch.zeros(4, dtype=torch.bool), TypeError, "got torch.bool"),
        (torch.zeros(4, dtype=torch.int16), TypeError, "got torch.int16"),
        (torch.zeros(4, dtype=torch.complex64), TypeError, "got torch.complex64"),
    ],
    ids=str,
)
def test_bad_input_is_named(x, error, named, backend):
    with pytest.raises(error, match=named):
        walsh_hadamard(x, backend)


@path
def test_the_longest_row_is_taken_and_a_longer_one_refused(backend, monkeypatch):
    monkeypatch.setattr(walsh, "MAX_BITS", 3)
    assert walsh_hadamard(torch.ones(8), backend).tolist() == [8] + [0] * 7
    with pytest.raises(ValueError, match=r"at most 2\*\*3 entries, got 16"):
        walsh_hadamard(torch.ones(16), backend)


def test_every_device_has_its_paths(monkeypatch):
    found = walsh_hadamard(torch.ones(4, device="meta"), "torch")
    assert (found.device.type, found.shape) == ("meta", (4,))
    monkeypatch.setattr(_backends, "triton", "installed")
    monkeypatch.setattr(_backends, "in_memory", lambda x: True)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    on_gpu = SimpleNamespace(device=torch.device("cuda"))
    assert [_backends.chosen(b, on_gpu) for b in ("auto", "torch", "triton")] == [
        *("triton", "torch", "triton")
    ]


def test_an_unknown_backend_is_named():
    with pytest.raises(ValueError, match="unknown backend 'cuda'; choose one of auto"):
        walsh_hadamard(torch.ones(4), "cuda")


def test_an_explicit_backend_never_falls_back(monkeypatch):
    with pytest.raises(RuntimeError, match="CPU tensor, got meta"):
        walsh_hadamard(torch.ones(4, device="meta"), "numba")
    with pytest.raises(RuntimeError, match="CUDA tensor, got cpu"):
        walsh_hadamard(torch.ones(4), "triton")
    monkeypatch.setattr(_backends, "triton", None)
    with pytest.raises(RuntimeError, match="triton is not installed"):
        walsh_hadamard(torch.ones(4), "triton")
    monkeypatch.setattr(_backends, "numba", None)
    with pytest.raises(RuntimeError, match="numba is not installed"):
        walsh_hadamard(torch.ones(4), "numba")


def test_auto_works_without_numba(monkeypatch):
    x = random((3, 8), torch.float64)
    before = walsh_hadamard(x)
    monkeypatch.setattr(walsh, "numba", None)
    torch.testing.assert_close(walsh_hadamard(x), before)


def character(n, mask):
    """Table of a character by doubling; int8."""
    table = torch.ones(1, dtype=torch.int8)
    for k in range(n):
        table = torch.cat((table, -table if mask >> k & 1 else table))
    return table


@typed
@pytest.mark.parametrize("n", range(13, 25))
def test_three_deltas_have_the_closed_form_up_to_24_bits(n, dtype):
    places = {0: 1, 2**n - 1: -4, (2**n - 1) // 3 + 1: 16}
    x = torch.zeros(2**n, dtype=dtype)
    for i, height in places.items():
        x[i] = height
    expected = sum(height * character(n, i) for i, height in places.items())
    assert torch.equal(walsh_hadamard_(x, "numba"), expected.to(dtype))


@pytest.fixture(scope="module", params=[19, 24])
def table_of_signs(request):
    """Random signs, and their sums against five characters, one entry at a time."""
    n = request.param
    signs = random((2**n,), torch.int64).remainder(2).mul(2).sub(1)
    generator = torch.Generator().manual_seed(1)
    masks = torch.randint(2**n, (5,), generator=generator).tolist()
    return n, signs, {mask: (signs * character(n, mask)).sum() for mask in masks}


@typed
def test_a_table_of_signs_is_transformed_exactly(table_of_signs, dtype):
    n, signs, sums = table_of_signs
    x = walsh_hadamard_(signs.to(dtype, copy=True), "numba")
    for mask, expected in sums.items():
        assert x[mask] == expected
    back = walsh_hadamard(x.long(), "numba")  # the sum of squares is 2**(2 n): int64 holds it
    assert torch.equal(back, 2**n * signs)


@typed
@pytest.mark.parametrize("offset", [0, 4, 8, 12, 16, 24, 48])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_vectors_of_every_width_start_anywhere(width, offset, dtype):
    skip = offset // dtype.itemsize
    for n in range(17):
        for rows in (1, 2, 3, 5, 8, 21) if n < 12 else (1, 2):
            memory = random((skip + rows * 2**n + skip,), dtype, seed=n)
            before = memory.clone()
            x = memory[skip : skip + rows * 2**n].view(rows, 2**n)
            expected = walsh_hadamard_reference(x)
            _walsh_cpu.transform_(x, width)
            assert torch.equal(x, expected), (n, rows)
            assert torch.equal(memory[:skip], before[:skip]), "written before the table"
            assert torch.equal(memory[len(memory) - skip :], before[len(memory) - skip :])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.bool, torch.float16])
def test_the_reference_takes_no_other_dtype(dtype):
    with pytest.raises(TypeError, match=f"expected float32, .* got {dtype}"):
        walsh_hadamard_reference(torch.ones(4, dtype=dtype))


@pytest.mark.parametrize("shape", [(), (3,), (0, 4)])
def test_the_reference_names_a_wrong_shape(shape):
    with pytest.raises(ValueError, match="shape"):
        walsh_hadamard_reference(torch.ones(shape))


@pytest.mark.parametrize("width", [16, 32, 64])
def test_each_pass_of_a_long_row_matches_the_reference(width):
    for n in (17, 18, 19, 20, 21):
        for skip in (0, 1, 4):
            x = random((skip + 2**n,), torch.int64, seed=n)[skip:].int()
            memory = torch.cat((x[:skip], x))[skip:]
            expected = walsh_hadamard_reference(x)
            _walsh_cpu.transform_(memory, width)
            assert torch.equal(memory, expected)


@typed
@pytest.mark.parametrize("log_step", [14, 18])
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_a_sweep_alone_transforms_across_its_rows(bits, log_step, dtype):
    x = random((2**bits, 2**log_step // dtype.itemsize), dtype)
    expected = walsh_hadamard_reference(x.T).T
    strip = _walsh_cpu._compiled("strip", dtype, _walsh_cpu.WIDTH)
    strip(0, _walsh_cpu.WIDTH, x.data_ptr(), log_step, bits, 0, 2 ** (log_step - _walsh_cpu.BASE))
    assert torch.equal(x, expected)


@pytest.mark.parametrize("log_row", range(15, 34))
def test_sweeps_cover_every_bit_once_and_hold_eight_rows_at_most(log_row):
    bits = _walsh_cpu.plan(log_row)
    assert sum(bits) == log_row - _walsh_cpu.BASE
    assert max(bits) <= 3


SHAPES = (
    (2**15,),
    (2**16,),
    (2**17,),
    (1, 2**18),
    (3, 2**15),
    (700, 2**7),
    (5, 2**16),
    (40001, 2),
    (9, 2**13),
)


@typed
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing_but_time(threads, shape, dtype, monkeypatch):
    monkeypatch.setattr(_walsh_cpu, "THREADED", 10)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    count = torch.Size(shape).numel()
    for skip in (0, 4):
        x = random((skip + count,), dtype)[skip:].view(shape)
        assert torch.equal(walsh_hadamard(x, "numba"), walsh_hadamard_reference(x))
        assert torch.equal(walsh_hadamard_(x.clone()), walsh_hadamard_reference(x))
        expected = walsh_hadamard_reference(x)
        assert torch.equal(walsh_hadamard_(x), expected)


@pytest.mark.parametrize("huge", [8, 60])
def test_the_copy_that_is_transformed_is_contiguous_and_equal(huge, monkeypatch):
    monkeypatch.setattr(_walsh_cpu, "HUGE", huge)
    for x in (random((4, 2**12), torch.float64), random((2**12, 4), torch.float64).T):
        copy = _walsh_cpu.clone(x)
        assert torch.equal(copy, x)
        assert copy.is_contiguous()
        assert copy.data_ptr() != x.data_ptr()


def test_shared_work_is_done_and_its_errors_are_raised_before_the_call_returns():
    here, done, count = threading.current_thread(), [], 100

    def work(i, j, fails=False):
        time.sleep(0.01 if threading.current_thread() is here else 0.05)
        if fails and threading.current_thread() is not here:
            raise ArithmeticError("elsewhere")
        done.extend(range(i, j))

    _walsh_cpu.in_threads(3, work, count)
    assert sorted(done) == list(range(count))
    with pytest.raises(ArithmeticError, match="elsewhere"):
        _walsh_cpu.in_threads(2, partial(work, fails=True), count)


def test_one_thread_of_torch_means_no_other_thread(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("threads were started")

    monkeypatch.setattr(_walsh_cpu, "THREADED", 10)
    monkeypatch.setattr(_walsh_cpu, "in_threads", refuse)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with pytest.raises(AssertionError, match="threads were started"):
        walsh_hadamard(torch.ones(2**12))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    walsh_hadamard(torch.ones(2**12))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_integers_that_fit_need_no_second_look(sign, dtype):
    x = torch.zeros(3, 8, dtype=dtype)
    for place in ((0, 0), (1, 3), (2, 7)):
        x.zero_()[place] = sign * (torch.iinfo(dtype).max // 8)
        assert not _walsh_cpu.overflows(x)
        x[place] += sign
        assert _walsh_cpu.overflows(x)


@path
@typed
@pytest.mark.parametrize("shape", [(1,), (3, 1), (2,), (5, 4), (2, 3, 64), (2**13,)], ids=str)
def test_in_place_writes_the_same_numbers_over_its_input(shape, dtype, backend):
    x = random(shape, dtype)
    expected = walsh_hadamard_reference(x)
    found = walsh_hadamard_(x, backend)
    assert found is x
    assert torch.equal(x, expected)


@path
@pytest.mark.parametrize("view", sorted(set(VIEWS) - {"from the middle"}))
def test_in_place_refuses_what_is_not_contiguous(view, backend):
    x = VIEWS[view]()
    before = x.clone()
    with pytest.raises(ValueError, match=r"needs a contiguous tensor, got shape .* strides"):
        walsh_hadamard_(x, backend)
    assert torch.equal(x, before)


@path
def test_in_place_refuses_gradients(backend):
    x = torch.ones(8, requires_grad=True)
    with pytest.raises(RuntimeError, match="records no gradient"):
        walsh_hadamard_(x, backend)
    with pytest.raises(RuntimeError, match="records no gradient"):
        torch.func.grad(lambda v: walsh_hadamard_(v.clone(), backend).sum())(x.detach())
    with torch.no_grad():
        assert walsh_hadamard_(x, backend)[0] == 8


@path
def test_autograd_notices_a_table_written_over(backend):
    scale = torch.ones(8, requires_grad=True)
    x = torch.ones(8)
    loss = (scale * x).sum()
    walsh_hadamard_(x, backend)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@path
def test_an_overflow_in_place_is_refused_before_anything_is_written(backend):
    x = torch.full((4,), 2**30, dtype=torch.int32)
    with pytest.raises(OverflowError, match=r"4 \* 1073741824 does not fit"):
        walsh_hadamard_(x, backend)
    assert (x == 2**30).all()


@path
def test_the_most_negative_integer_is_refused(backend):
    for dtype in INTEGERS:
        x = torch.full((1,), torch.iinfo(dtype).min, dtype=dtype)
        with pytest.raises(OverflowError, match="does not fit"):
            walsh_hadamard(x, backend)


@path
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("n", [0, 1, 3, 6, 9, 13])
def test_nan_anywhere_in_a_row_fills_it(n, dtype, backend):
    for place in {0, 2**n - 1, 2**n // 3}:
        x = torch.ones(3, 2**n, dtype=dtype)
        x[1, place] = torch.nan
        assert walsh_hadamard(x, backend).isnan().sum(-1).tolist() == [0, 2**n, 0]


def run(code, **environment):
    """Run Python here, in a process of its own; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@typed
@pytest.mark.parametrize("width", [16, 32, 64])
def test_tiles_and_far_sweeps_fetch_ahead_and_nothing_else_does(width, dtype):
    u, i = types.uintp, types.int64
    lines = {"_tiles": ((u, u, i), 1 + 2 + 4 + 8 + 16), "_sweep": ((u, u, i, u, u), 8)}
    for name, (rest, expected) in {**lines, "_columns": ((u, u, u, i), 0)}.items():
        function = getattr(_walsh_vectors, name)
        signature = (_walsh_cpu.ELEMENTS[dtype], _walsh_vectors.TAGS[width], *rest)
        function.compile(signature)
        calls = re.findall("call .*@llvm.prefetch", function.inspect_llvm(signature))
        assert len(calls) == expected, name


def test_a_second_process_reads_the_machine_code_from_the_disk(tmp_path):
    code = """
import torch
from helpers.kernels import _walsh_vectors
from helpers.kernels.walsh import walsh_hadamard
walsh_hadamard(torch.ones(8, dtype=torch.int32))
for entry in (_walsh_vectors.blocks, _walsh_vectors.exceeds):
    print(sum(entry.stats.cache_hits.values()), sum(entry.stats.cache_misses.values()))
"""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(code, **cache).split() == ["0", "1"] * 2
    assert run(code, **cache).split() == ["1", "0"] * 2


@pytest.fixture(scope="module")
def kibibytes():
    """What a transform in place needs, by threads: each measured in a fork that did nothing yet."""
    code = """
import os
import torch
from helpers.kernels.walsh import walsh_hadamard_
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
for threads in (1, 2):
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
        continue
    torch.set_num_threads(threads)
    walsh_hadamard_(torch.zeros(2**22))
    x = torch.zeros(2**24)
    before = peak()
    walsh_hadamard_(x)
    print(threads, peak() - before, flush=True)
    os._exit(0)
"""
    return dict(map(int, line.split()) for line in run(code).splitlines())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("threads", [1, 2])
def test_in_place_needs_less_than_256_kib_a_thread(threads, kibibytes):
    assert kibibytes[threads] <= 256 * threads


def test_triton_in_its_interpreter_matches_the_reference():
    code = """
import torch
from helpers.kernels import _walsh_gpu
from helpers.kernels.walsh import DTYPES, walsh_hadamard, walsh_hadamard_, walsh_hadamard_reference
CASES = (1, 3, (2, 1, 3)), (3, 5, (4, 1, 5)), (6, 2, (2, 1, 3)), (7, 1, (3, 1, 4))
for dtype in DTYPES:
    for n, rows, sizes in CASES:
        x = torch.randint(-9, 10, (rows, 2**n)).to(dtype)
        memory = torch.full((rows * 2**n + 64,), 99).to(dtype)
        y = memory[: rows * 2**n].view(rows, 2**n).copy_(x)
        _walsh_gpu.transform_(y, *sizes)
        assert torch.equal(y, walsh_hadamard_reference(x)), (dtype, n)
        assert (memory[rows * 2**n :] == 99).all(), "written behind the table"
x = torch.tensor([[1.0, torch.nan], [1.0, 2.0]])
assert walsh_hadamard(x, "triton").isnan().tolist() == [[True, True], [False, False]]
x = torch.ones(2, 4, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(lambda v: walsh_hadamard(v, "triton"), x)
assert walsh_hadamard_(torch.ones(4), "triton").tolist() == [4, 0, 0, 0]
print("equal")
"""
    assert run(code, TRITON_INTERPRET="1").strip() == "equal"


@pytest.mark.parametrize("n", range(1, 31))
def test_a_gpu_passes_over_the_table_three_times_at_most(n):
    bits = _walsh_gpu.passes(n)
    assert sum(bits) == n
    assert len(bits) <= (1 if n <= 13 else 3)
    assert all(0 < b <= _walsh_gpu.HELD - _walsh_gpu.STRIPE for b in bits[1:])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@typed
@pytest.mark.parametrize("n", [0, 1, 5, 12, 13, 14, 20, 23])
def test_a_gpu_matches_the_reference(n, dtype):
    x = random((3, 2**n), dtype).cuda()
    assert torch.equal(walsh_hadamard(x, "triton"), walsh_hadamard_reference(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_second_call_skips_checks_and_nothing_else(dtype, monkeypatch):
    x = torch.randn(3, 16, dtype=dtype, generator=torch.Generator().manual_seed(0))
    walsh_hadamard_(x.clone())
    with monkeypatch.context() as closed:
        closed.setattr(walsh, "_checked", lambda *_: pytest.fail("checked again"))
        y = x.clone()
        before = y._version
        assert walsh_hadamard_(y) is y
        assert y._version > before
        assert torch.equal(y, walsh_hadamard_(x.clone()))
    torch.testing.assert_close(y, walsh_hadamard_reference(x))
    with pytest.raises(RuntimeError, match="in-place"):
        walsh_hadamard_(x.clone().requires_grad_())
    with pytest.raises(ValueError, match="contiguous"):
        walsh_hadamard_(x.new_zeros(16, 16).mT)
    with torch.inference_mode():
        torch.testing.assert_close(walsh_hadamard_(x.clone()), y)
    assert walsh_hadamard_(x.new_ones(2, 16)).sum() == 32


def test_only_rows_of_floats_take_the_short_way_of_rows_met_before():
    """It asks nothing of the values; integers may overflow at every call."""
    N = 1 << 7
    for dtype in (torch.float32, torch.float64, torch.int32, torch.int64):
        walsh_hadamard(torch.ones(N, dtype=dtype))
        assert ((N, dtype) in _walsh_cpu.KNOWN) == dtype.is_floating_point
    with pytest.raises(OverflowError, match=r"does not fit in torch\.int32"):
        walsh_hadamard(torch.full((N,), 1 << 30, dtype=torch.int32))


def freed(x):
    """A tensor whose storage was let go, as a trainer that shards weights leaves it."""
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.parametrize("function", [walsh_hadamard, walsh_hadamard_])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_memory_that_was_freed_is_refused_by_name(function, dtype):
    function(torch.ones(16, dtype=dtype))  # a row of floats is now met before
    for x in (torch.ones(16, dtype=dtype), torch.ones(32, dtype=dtype)[16:]):
        with pytest.raises(
            ValueError, match=r"x = .* \(16,\), .* has no memory: its storage was f"
        ):
            function(freed(x))
    short = torch.ones(16, dtype=dtype)
    short.untyped_storage().resize_(8)
    with pytest.raises(ValueError, match="has no memory"):
        function(short)


@pytest.mark.parametrize("function", [walsh_hadamard, walsh_hadamard_])
@typed
def test_a_tensor_without_memory_takes_the_reference(function, dtype):
    function(torch.ones(16, dtype=dtype))
    with FakeTensorMode():
        fake = function(torch.ones(3, 16, dtype=dtype))
        assert (fake.shape, fake.dtype) == ((3, 16), dtype)
        with pytest.raises(RuntimeError, match="'numba' reads memory, and a tensor that is fake"):
            function(torch.ones(16, dtype=dtype), "numba")
    meta = function(torch.ones(3, 16, dtype=dtype, device="meta"))
    assert (meta.shape, meta.dtype, meta.is_meta) == ((3, 16), dtype, True)


def test_derivatives_and_batches_of_fake_tensors_have_their_shape():
    with FakeTensorMode():
        x = torch.ones(8)
        assert torch.func.grad(lambda v: walsh_hadamard(v)[0])(x).shape == (8,)
        assert torch.vmap(walsh_hadamard)(torch.ones(2, 8)).shape == (2, 8)


@pytest.mark.parametrize("compiler", ["eager", "aot_eager"])
def test_a_compiled_function_gives_the_same(compiler):
    x = random((8,), torch.float64)
    found = torch.compile(walsh_hadamard, backend=compiler)(x)
    assert torch.equal(found, walsh_hadamard(x))


@path
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_the_older_vmap_gives_the_matrix(backend, strategy):
    x = random((8,), torch.float64)
    found = torch.autograd.functional.jacobian(
        lambda v: walsh_hadamard(v, backend), x, vectorize=True, strategy=strategy
    )
    assert torch.equal(found, torch.from_numpy(hadamard(8)).double())
    y = x.clone().requires_grad_()
    (rows,) = torch.autograd.grad(
        walsh_hadamard(y, backend), y, torch.eye(8).double(), is_grads_batched=True
    )
    assert torch.equal(rows, found)


@pytest.mark.parametrize("function", [walsh_hadamard, walsh_hadamard_])
def test_a_sparse_table_is_refused_by_name(function):
    with pytest.raises(TypeError, match=r"x must be dense, got torch\.sparse_coo; to_dense"):
        function(torch.eye(8).to_sparse())


@pytest.mark.parametrize("function", [walsh_hadamard, walsh_hadamard_])
@typed
def test_a_view_with_its_sign_turned_is_read_as_it_reads(function, dtype):
    x = random((3, 8), dtype)
    assert torch.equal(function(torch._neg_view(x.clone())), walsh_hadamard(-x))
