"""The Walsh-Hadamard transform: the dense matrix, the algebra, the door."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from helpers.kernels import walsh
from helpers.kernels.walsh import DTYPES, walsh_hadamard

PATHS = ("torch", "numba")
FLOATS = tuple(t for t in DTYPES if t.is_floating_point)
INTEGERS = tuple(t for t in DTYPES if not t.is_floating_point)

path = pytest.mark.parametrize("backend", PATHS)
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
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
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
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
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


def test_an_unknown_backend_is_named():
    with pytest.raises(ValueError, match="unknown backend 'cuda'; choose one of auto"):
        walsh_hadamard(torch.ones(4), "cuda")


def test_an_explicit_backend_never_falls_back(monkeypatch):
    with pytest.raises(RuntimeError, match="CPU tensor, got meta"):
        walsh_hadamard(torch.ones(4, device="meta"), "numba")
    monkeypatch.setattr(walsh, "numba", None)
    with pytest.raises(RuntimeError, match="numba is not installed"):
        walsh_hadamard(torch.ones(4), "numba")


def test_auto_works_without_numba(monkeypatch):
    x = random((3, 8), torch.float64)
    before = walsh_hadamard(x)
    monkeypatch.setattr(walsh, "numba", None)
    torch.testing.assert_close(walsh_hadamard(x), before)
