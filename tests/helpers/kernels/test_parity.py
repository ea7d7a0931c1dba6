"""Sums of characters at points: counting bits in Python, the algebra, bad input."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

from helpers.kernels import _backends, parity
from helpers.kernels.parity import evaluate, evaluate_reference, popcount
from helpers.kernels.walsh import walsh_hadamard
from tests.draws import seeded
from tests.interpreter import interpreted, needs_triton

law = settings(deadline=None, max_examples=100)
MASK = st.integers(0, 2**62 - 1)
MASKS = st.lists(MASK, min_size=1, max_size=8)
EDGES = [0, 1, 2, 2**31 - 1, 2**31, 2**32, 2**61, 2**62 - 1, 2**62, 2**63 - 1]


def sign(mask, point):
    return (-1) ** (mask & point).bit_count()


def one(*masks):
    """The product of characters with coefficient one, at every point."""
    return lambda points: torch.stack(
        [evaluate(torch.tensor([m]), torch.ones(1).double(), points) for m in masks]
    ).prod(0)


@law
@given(st.lists(st.integers(0, 2**63 - 1), max_size=20))
def test_popcount_counts_ones(numbers):
    assert popcount(torch.tensor(EDGES + numbers)).tolist() == [
        x.bit_count() for x in EDGES + numbers
    ]


@pytest.mark.parametrize("S", [1, 7, 8, 9, 64, 65, 130])
@pytest.mark.parametrize("bits", [1, 8, 9, 40, 62])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tables_of_bytes_are_the_counted_way(S, bits, dtype):
    g = torch.Generator().manual_seed(S * bits)
    masks, points = (torch.randint(0, 2**bits, (k,), generator=g) for k in (S, 50))
    masks[0], points[0] = 2**bits - 1, 2**bits - 1
    coefficients, found = torch.randn(S, generator=g, dtype=dtype), torch.empty(50, dtype=dtype)
    parity._by_bytes(*(v.numpy() for v in (masks, coefficients, points, found)))
    exact = evaluate_reference(masks, coefficients.double(), points)
    allowed = (S + 1) * torch.finfo(dtype).eps * coefficients.abs().sum()
    assert (found - exact).abs().max() <= allowed


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(("S", "M"), [(64, 2048), (63, 2048), (64, 2047)])
def test_tables_are_taken_where_they_pay(counts, S, M, monkeypatch):
    taken = []
    monkeypatch.setattr(parity, "COUNTS_IN_VECTORS", counts)
    monkeypatch.setattr(parity, "_by_bytes", lambda *_: taken.append("tables"))
    monkeypatch.setattr(parity, "_direct", lambda *_: taken.append("counts"))
    evaluate(torch.arange(S), torch.ones(S), torch.arange(M), "direct", "numba")
    assert taken == ["tables" if not counts and (S, M) == (64, 2048) else "counts"]


@pytest.mark.parametrize(
    "dtype", [torch.int32, torch.uint8, torch.int16, torch.bool, torch.float64]
)
def test_only_int64_is_counted(dtype):
    ones, narrow = torch.ones(3), torch.tensor([1, 2, 3]).to(dtype)
    wide = narrow.long()
    for name, count in (
        ("x", lambda: popcount(narrow)),
        ("masks", lambda: evaluate_reference(narrow, ones, wide)),
        ("points", lambda: evaluate_reference(wide, ones, narrow)),
    ):
        with pytest.raises(TypeError, match=f"{name} must be int64, got {dtype}"):
            count()


def test_popcount_keeps_the_shape():
    assert popcount(torch.arange(12).view(3, 4)).tolist() == [
        [0, 1, 1, 2],
        [1, 2, 2, 3],
        [1, 2, 2, 3],
    ]


@law
@given(MASKS, MASKS, st.data())
def test_evaluate_sums_signs_up_to_62_bits(masks, points, data):
    whole = st.lists(st.integers(-1000, 1000), min_size=len(masks), max_size=len(masks))
    c = data.draw(whole)
    found = evaluate(torch.tensor(masks), torch.tensor(c).double(), torch.tensor(points))
    assert found.dtype == torch.float64
    assert found.tolist() == [
        sum(a * sign(m, x) for a, m in zip(c, masks, strict=True)) for x in points
    ]


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_evaluate_on_the_whole_cube_is_the_transform(n):
    generator = torch.Generator().manual_seed(n)
    f_hat = torch.randint(-50, 51, (2**n,), generator=generator).double()
    everything = torch.arange(2**n)
    assert torch.equal(evaluate(everything, f_hat, everything), walsh_hadamard(f_hat))


@law
@given(MASK, MASK, MASKS)
def test_characters_multiply_like_their_masks(a, b, points):
    x = torch.tensor(points)
    assert torch.equal(one(a, b)(x), one(a ^ b)(x))


@law
@given(MASK, MASK, MASK)
def test_a_character_of_a_sum_is_the_product_of_its_values(mask, x, y):
    at_x, at_y, at_both = one(mask)(torch.tensor([x, y, x ^ y]))
    assert at_both == at_x * at_y


@pytest.mark.parametrize("chunk", [1, 3, 7, 20, 10**6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_chunks_of_any_size_give_the_same(chunk, dtype, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    masks, points = (torch.randint(0, 2**62, (size,), generator=generator) for size in (5, 23))
    c = torch.randint(-50, 51, (5,), generator=generator).to(dtype)
    monkeypatch.setattr(parity, "CHUNK", chunk)
    found = evaluate(masks, c, points, backend="torch")
    assert found.dtype == dtype
    assert torch.equal(found, evaluate_reference(masks, c, points))


def test_a_repeated_mask_counts_twice():
    masks, c = torch.tensor([5, 5]), torch.tensor([1.0, 2.0]).double()
    assert evaluate(masks, c, torch.tensor([0, 1, 5])).tolist() == [3.0, -3.0, 3.0]


def test_views_are_accepted():
    masks, points = torch.arange(12)[::3], torch.arange(40).view(5, 8).T[2]
    c = torch.arange(8).double()[1::2]
    whole = evaluate(masks.clone(), c.clone(), points.clone())
    assert torch.equal(evaluate(masks, c, points), whole)


BACKENDS = ("torch", "numba")
WAYS = [(method, backend) for method in ("direct", "transform") for backend in BACKENDS]
every_way = pytest.mark.parametrize(("method", "backend"), WAYS)


def whole_numbers(shape, generator, dtype=torch.float64):
    return torch.randint(-50, 51, shape, generator=generator).to(dtype)


@every_way
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("terms", [1, 2, 3, 4, 5, 7, 8, 31])
@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 2050])
def test_every_way_equals_the_reference_at_odd_shapes(method, backend, dtype, terms, count):
    g = seeded(terms + count)
    masks, points = (torch.randint(0, 2**9, (size,), generator=g) for size in (terms, count))
    c = whole_numbers((terms,), g, dtype)
    found = evaluate(masks, c, points, method, backend)
    assert found.dtype == dtype
    assert torch.equal(found, evaluate_reference(masks, c, points))


@every_way
@pytest.mark.parametrize("n", range(7))
def test_every_mask_at_every_point(method, backend, n):
    everything = torch.arange(2**n)
    for mask in range(2**n):
        found = evaluate(torch.tensor([mask]), torch.ones(1), everything, method, backend)
        assert found.tolist() == [sign(mask, x) for x in range(2**n)]


@law
@given(MASKS, MASKS)
def test_the_direct_way_reads_all_62_bits(masks, points):
    m, x = torch.tensor(masks), torch.tensor(points)
    c = torch.arange(1, len(masks) + 1).double()
    expected = [sum(a * sign(s, y) for a, s in enumerate(masks, 1)) for y in points]
    for backend in BACKENDS:
        assert evaluate(m, c, x, "direct", backend).tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_rounding_stays_below_the_bound(dtype):
    g = seeded()
    masks, points = (torch.randint(0, 2**14, (size,), generator=g) for size in (301, 4001))
    c = torch.randn(301, generator=g).to(dtype)
    exact = evaluate_reference(masks, c.double(), points)
    slack = 302 * torch.finfo(dtype).eps * c.double().abs().sum()
    for method, backend in WAYS:
        found = evaluate(masks, c, points, method, backend).double()
        assert (found - exact).abs().max() <= slack


@every_way
def test_nan_and_infinity_are_not_lost(method, backend):
    masks, points = torch.tensor([0, 3, 5, 6, 7]), torch.arange(8)
    nan = torch.tensor([0.0, 1.0, 2.0, 0.0, torch.nan])
    assert evaluate(masks, nan, points, method, backend).isnan().all()
    infinite = torch.tensor([0.0, 1.0, 2.0, torch.inf, 3.0])
    found = evaluate(masks, infinite, points, method, backend)
    assert found.tolist() == [sign(6, x) * torch.inf for x in range(8)]


def test_the_measured_rule_chooses_the_way(monkeypatch):
    taken = []

    def counted(*arguments):
        taken.append(arguments[2])
        return scattered(*arguments)

    scattered = parity._scattered
    monkeypatch.setattr(parity, "_scattered", counted)
    for terms, count, n, transform in (
        (32, 8704, 10, True),  # 32 * 8704 = 16 * (2**10 + 2**14)
        (32, 8703, 10, False),
        (31, 20000, 10, False),
        (8704, 32, 10, True),
        (32, 8704, 11, False),
        (32, 9216, 11, True),
    ):
        taken.clear()
        masks = torch.full((terms,), 2**n - 1)
        points = torch.zeros(count, dtype=torch.int64)
        evaluate(masks, torch.ones(terms), points)
        assert taken == ([n] if transform else []), (terms, count, n)
    taken.clear()
    evaluate(torch.full((32,), 3), torch.ones(32), torch.full((20000,), 2**31))
    assert taken == []


@needs_triton
def test_the_triton_path_equals_the_reference_in_the_interpreter():
    interpreted("""
import torch
from helpers.kernels.parity import evaluate, evaluate_reference
g = torch.Generator().manual_seed(0)
for dtype in (torch.float32, torch.float64):
    for terms, count in ((1, 1), (5, 1023), (2, 1030)):
        masks, points = (torch.randint(0, 2**62, (k,), generator=g) for k in (terms, count))
        c = torch.randint(-9, 10, (terms,), generator=g).to(dtype)
        found = evaluate(masks, c, points, "direct", "triton")
        assert torch.equal(found, evaluate_reference(masks, c, points)), (terms, count)
every = torch.arange(64)
for mask in range(0, 64, 7):
    masks, one = torch.tensor([mask << 56]), torch.ones(1)
    found = evaluate(masks, one, every << 56, "direct", "triton")
    assert torch.equal(found, evaluate_reference(masks, one, every << 56)), mask
masks, c = torch.tensor([1, 2]), torch.tensor([torch.nan, 1.0])
assert evaluate(masks, c, torch.arange(3), "direct", "triton").isnan().all()
""")


@every_way
def test_derivatives_of_every_way(method, backend):
    masks, points = torch.tensor([0, 3, 5]), torch.tensor([0, 1, 6, 7, 3])
    c = torch.tensor([0.5, -1.0, 2.0]).double().requires_grad_()

    def f(v):
        return evaluate(masks, v, points, method, backend)

    assert torch.autograd.gradcheck(f, c, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, c)
    jacobian = torch.func.jacrev(f)(c.detach())
    assert jacobian.tolist() == [[sign(m, x) for m in (0, 3, 5)] for x in points.tolist()]


def test_the_gradient_of_a_coefficient_is_its_character():
    masks, points = torch.tensor([0, 3, 2**61]), torch.tensor([0, 1, 2**61 + 3, 2**62 - 1])
    c = torch.tensor([0.5, -1.0, 2.0]).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: evaluate(masks, v, points), c)
    (gradient,) = torch.autograd.grad(evaluate(masks, c, points)[2], c)
    assert gradient.tolist() == [sign(m, 2**61 + 3) for m in masks.tolist()]


I3, C3 = torch.arange(3), torch.ones(3)


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ((I3.int(), C3, I3), TypeError, "masks must be int64, got torch.int32"),
        ((I3, C3, I3.double()), TypeError, "points must be int64, got torch.float64"),
        ((I3, I3, I3), TypeError, "coefficients must be float32 or float64, got torch.int64"),
        ((I3, C3.half(), I3), TypeError, "coefficients .* got torch.float16"),
        ((I3 - 1, C3, I3), ValueError, r"masks lie between 0 and 2\*\*62 - 1, found -1"),
        ((I3, C3, I3 - 2), ValueError, r"points lie between 0 and 2\*\*62 - 1, found -2"),
        ((I3, C3[:2], I3), ValueError, r"got \(3,\), \(2,\), \(3,\)"),
        ((I3[None], C3[None], I3), ValueError, r"got \(1, 3\), \(1, 3\), \(3,\)"),
        ((I3, C3, I3[None]), ValueError, r"got \(3,\), \(3,\), \(1, 3\)"),
        ((I3 + 2**62, C3, I3), ValueError, "masks lie between .* found 4611686018427387906"),
        ((I3, C3, I3 + 2**62), ValueError, "points lie between .* found 4611686018427387906"),
        ((I3, C3, I3 + 2**62 - 2), ValueError, "points lie between .* found 4611686018427387904"),
        ((I3[:0], C3[:0], I3), ValueError, r"at least one of masks, got shape \(0,\)"),
        ((I3, C3, I3[:0]), ValueError, r"at least one of points, got shape \(0,\)"),
        ((I3, C3, I3, "fast"), ValueError, "unknown method 'fast'"),
        ((I3, C3, I3 + 2**30, "transform"), ValueError, "at most 30 bits, found 31"),
        ((I3, C3, I3, "direct", "cuda"), ValueError, "unknown backend 'cuda'"),
        ((I3, C3, I3, "direct", "triton"), RuntimeError, "needs a CUDA tensor, got cpu"),
        ((I3, C3, I3, "transform", "triton"), RuntimeError, "needs a CUDA tensor, got cpu"),
        ((I3, C3.to("meta"), I3), ValueError, "one device, found cpu, meta"),
    ],
    ids=str,
)
def test_bad_input_is_named(arguments, error, named):
    with pytest.raises(error, match=named):
        evaluate(*arguments)


def test_an_explicit_backend_never_falls_back(monkeypatch):
    monkeypatch.setattr(_backends, "numba", None)
    with pytest.raises(RuntimeError, match="'numba' was asked for and numba is not installed"):
        evaluate(I3, C3, I3, "direct", "numba")
    assert evaluate(I3, C3, I3, "direct").tolist() == [3.0, 1.0, 1.0]


def test_the_largest_transform_is_made_and_a_larger_one_refused(monkeypatch):
    monkeypatch.setattr(parity, "MAX_TABLE_BITS", 2)
    assert evaluate(I3, C3, I3, "transform").tolist() == [3.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="at most 2 bits, found 3"):
        evaluate(I3, C3, I3 + 2, "transform")


M2, C2, P4 = torch.tensor([1, 3]), torch.tensor([1.0, 0.5], dtype=torch.float64), torch.arange(4)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_memory_that_was_freed_is_refused_by_name(place):
    given = [v.clone() for v in (M2, C2, P4)]
    given[place].untyped_storage().resize_(0)
    name = ("masks", "coefficients", "points")[place]
    with pytest.raises(ValueError, match=f"{name} = .* has no memory: its storage was freed"):
        evaluate(*given)
    given = [M2, C2, P4]
    given[place] = given[place].to_sparse()
    with pytest.raises(TypeError, match=f"{name} must be dense"):
        evaluate(*given)


def test_masks_and_points_that_cannot_be_read_are_named():
    with FakeTensorMode(), pytest.raises(RuntimeError, match="numbers in masks must be read"):
        evaluate(torch.ones(2).long(), torch.ones(2), torch.ones(3).long())
    with pytest.raises(RuntimeError, match="numbers in masks must be read"):
        evaluate(*(v.to("meta") for v in (M2, C2, P4)))
    with pytest.raises(RuntimeError, match="numbers in points must be read"):
        torch.vmap(lambda p: evaluate(M2, C2, p))(P4[:, None])


@every_way
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_the_older_vmap_gives_the_characters(method, backend, strategy):
    found = torch.autograd.functional.jacobian(
        lambda c: evaluate(M2, c, P4, method, backend), C2, vectorize=True, strategy=strategy
    )
    assert found.tolist() == [[1, 1], [-1, -1], [1, -1], [-1, 1]]


@every_way
def test_forward_derivatives_are_kept(method, backend):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(C2, torch.tensor([1.0, 10.0], dtype=torch.float64))
        tangent = forward_ad.unpack_dual(evaluate(M2, dual, P4, method, backend)).tangent
    assert tangent.tolist() == [11, -11, -9, 9]


@every_way
def test_views_with_their_sign_turned_are_read_as_they_read(method, backend):
    expected = evaluate(M2, -C2, P4, method, backend)
    found = evaluate(
        torch._neg_view(-M2), torch._neg_view(C2), torch._neg_view(-P4), method, backend
    )
    assert torch.equal(found, expected)
