"""Property tests: completeness on every run, soundness as documented, questions counted."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from helpers import cube
from helpers.cube import SparseFunction, sparse_function
from papers.sharper import testers
from papers.sharper.testers import (
    degree_repetitions,
    first_accepted_degree,
    first_accepted_sparsity,
    random_restrictions,
)
from tests.draws import seeded

law = settings(deadline=None, max_examples=40)
VARIANTS = ("blocks", "coordinates")
every_variant = pytest.mark.parametrize("directions", VARIANTS)


def monomial(n, degree):
    return SparseFunction(n, torch.tensor([2**degree - 1]), torch.ones(1).double())


@st.composite
def functions(draw):
    n = draw(st.integers(1, 10))
    d = draw(st.integers(0, n))
    W = draw(st.integers(1, min(8, math.comb(n, d))))
    g = seeded(draw(st.integers(0, 2**31)))
    lower = draw(st.integers(0, d))
    f, h = sparse_function(n, d, W, g), sparse_function(n, lower, 1, g)
    masks = torch.cat((f.masks, h.masks)).unique()
    return SparseFunction(n, masks, torch.rand(len(masks), generator=g).double() - 0.5), g


@every_variant
@law
@given(functions())
def test_no_degree_is_accepted_above_the_truth(directions, drawn):
    f, g = drawn
    found = first_accepted_degree(f, f.n, generator=g, directions=directions, eps=0.2)
    assert 0 <= found.accepted <= f.degree


@law
@given(functions(), st.integers(0, 10), st.sampled_from([1e-9, 1e-3, 0.3]))
def test_no_sparsity_is_accepted_above_the_truth(drawn, free, eps):
    f, g = drawn
    found = first_accepted_sparsity(f, f.n, generator=g, free=free, eps=eps)
    assert 0 <= found.accepted <= f.sparsity


@pytest.mark.parametrize("degree", range(7))
def test_blocks_find_the_degree_of_one_character(degree):
    for seed in range(5):
        found = first_accepted_degree(
            monomial(12, degree), 12, generator=seeded(seed), eps=0.005, delta=1e-3
        )
        assert found.accepted == degree
        assert len(found.rejections) == degree + 1


@pytest.mark.parametrize("n", [1, 4, 7])
@every_variant
def test_parity_has_full_degree_and_level_n_needs_no_question(n, directions):
    found = first_accepted_degree(
        cube.parity(n), n, generator=seeded(), directions=directions, eps=1e-3
    )
    assert found.accepted == n
    assert len(found.rejections) == n
    assert (found.rejections > 0).all()


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_one_subcube_rejects_as_often_as_documented(m):
    """One character of degree m, level m - 1: m! / (m+1)^m with blocks, 1 / C(n, m) with bits."""
    n, eps, delta = 8, 1e-3, 1e-3
    R = degree_repetitions(eps, delta)
    chance = {"blocks": math.factorial(m) / (m + 1) ** m, "coordinates": 1 / math.comb(n, m)}
    for directions, p in chance.items():
        fractions = []
        for seed in range(10):
            found = first_accepted_degree(
                monomial(n, m),
                n,
                generator=seeded(seed),
                directions=directions,
                eps=eps,
                delta=delta,
            )
            fractions.append(float(found.rejections[m - 1]) if len(found.rejections) > m - 1 else 0)
        error = math.sqrt(p * (1 - p) / (10 * R))
        assert abs(sum(fractions) / 10 - p) <= 5 * error  # five standard errors


def test_a_miss_is_no_more_likely_than_delta():
    """x_1 is found at level 0 by half of the block subcubes, so eps = 1/2 promises delta."""
    delta, runs = 0.1, 600
    misses = sum(
        first_accepted_degree(
            monomial(5, 1), 5, generator=seeded(seed), eps=0.5, delta=delta
        ).accepted
        == 0
        for seed in range(runs)
    )
    R = degree_repetitions(0.5, delta)
    expected = 0.5**R  # of missing it R times
    assert expected <= delta
    low, high = binom.interval(1 - 1e-6, runs, expected)
    assert low <= misses <= high


def test_repetitions_keep_their_promise():
    assert (degree_repetitions(0.02, 0.05), degree_repetitions(0.1, 0.1)) == (150, 24)
    f = sparse_function(4, 2, 2, seeded())
    for delta, R in {0.6: 1, 0.5: 1, 0.25: 2, 0.1: 4, 0.05: 5}.items():
        found = first_accepted_sparsity(f, 4, generator=seeded(), delta=delta)
        assert found.repetitions == R
    for eps in (0.5, 0.1, 0.01):
        for delta in (0.5, 0.05, 1e-4):
            assert (1 - eps) ** degree_repetitions(eps, delta) <= delta


@pytest.mark.parametrize("free", [10, 14])
def test_a_whole_transform_counts_every_character(free):
    for sparsity in (1, 3, 20):
        f = sparse_function(10, 3, sparsity, seeded(sparsity))
        found = first_accepted_sparsity(f, 10, generator=seeded(), free=free, eps=1e-9)
        assert found.accepted == sparsity
        assert found.queries == 1024
        assert found.rejections.tolist() == [1.0] * sparsity + [0.0]


def test_fourteen_coordinates_are_free_unless_told():
    found = first_accepted_sparsity(lambda at: at * 0.0 + 1.0, 20, generator=seeded())
    assert found.accepted == 1
    assert found.repetitions << 13 < found.queries <= found.repetitions << 14


def test_a_tail_below_eps_is_not_counted():
    energies = torch.tensor([0.9, 0.09, 0.009, 0.001]).double()
    f = SparseFunction(6, torch.arange(4), energies.sqrt())
    for eps, count in ((0.2, 1), (0.05, 2), (0.005, 3), (1e-5, 4)):
        for size in (1, 8, 0.125):  # a tail is a part of the whole energy
            oracle = f if size == 1 else lambda at, size=size: size * f(at)
            found = first_accepted_sparsity(oracle, 6, generator=seeded(), eps=eps)
            assert found.accepted == count


def test_a_tail_counts_as_a_whole_though_each_of_its_terms_is_small():
    energies = torch.tensor([0.6, 0.13, 0.11, 0.09, 0.07]).double()
    f = SparseFunction(6, torch.arange(5), energies.sqrt())
    assert first_accepted_sparsity(f, 6, generator=seeded(), eps=0.2).accepted == 3


def test_characters_that_merge_lower_the_answer():
    """Without a free coordinate every function is a constant."""
    f = sparse_function(8, 2, 9, seeded())
    assert first_accepted_sparsity(f, 8, generator=seeded(), free=0).accepted == 1
    few = first_accepted_sparsity(f, 8, generator=seeded(), free=2).accepted
    assert few <= 4


def test_the_accepted_sparsity_is_the_first_that_no_restriction_rejects():
    mixed = 0
    for seed in range(10):
        f = sparse_function(12, 2, 9, seeded(seed))
        found = first_accepted_sparsity(f, 12, generator=seeded(seed), free=6)
        assert len(found.rejections) == found.accepted + 1
        assert found.rejections[-1] == 0
        assert (found.rejections[:-1] > 0).all()
        mixed += int((found.rejections[:-1] < 1).any())
    assert mixed > 0  # restrictions differ, so the largest of their answers was taken


def test_the_zero_function_has_degree_and_sparsity_zero():
    nothing = SparseFunction(4, torch.zeros(0, dtype=torch.int64), torch.zeros(0).double())
    for zero in (torch.zeros(16), nothing):
        assert first_accepted_degree(zero, 4, generator=seeded()).accepted == 0
        assert first_accepted_sparsity(zero, 4, generator=seeded()).accepted == 0


@pytest.mark.parametrize("test", [first_accepted_degree, first_accepted_sparsity])
def test_a_table_a_sparse_function_and_a_model_are_the_same_oracle(test):
    f = sparse_function(9, 3, 4, seeded())
    asked = []

    def model(points):
        asked.extend(points.tolist())
        return f(points).float()

    oracles = (f, f.table(), f.table().float(), model)
    found = [test(oracle, 9, generator=seeded(7)) for oracle in oracles]
    assert len({(r.accepted, r.queries, r.repetitions) for r in found}) == 1
    assert all(torch.equal(r.rejections, found[0].rejections) for r in found)
    assert len(asked) == found[0].queries


@pytest.mark.parametrize("test", [first_accepted_degree, first_accepted_sparsity])
def test_batches_of_any_size_ask_the_same(test):
    f = sparse_function(9, 2, 4, seeded())
    sizes = []

    def model(points):
        sizes.append(len(points))
        return f(points)

    found = test(model, 9, generator=seeded(7), batch=13)
    assert max(sizes) == 13
    assert sum(sizes) == found.queries == test(f, 9, generator=seeded(7)).queries


def test_queries_are_at_most_two_to_the_level():
    f = sparse_function(40, 3, 5, seeded())
    found = first_accepted_degree(f, 40, generator=seeded())
    assert found.accepted == 3
    assert found.repetitions == 150
    nominal = sum(150 * 2 ** (k + 1) for k in range(4))
    assert nominal / 2 < found.queries <= nominal


def test_integer_tables_are_accepted():
    table = cube.parity(5).to(torch.int8)
    assert first_accepted_degree(table, 5, generator=seeded(), eps=1e-3).accepted == 5
    assert first_accepted_sparsity(table, 5, generator=seeded()).accepted == 1


def test_noise_of_rounding_is_tolerated_and_more_is_not():
    g = seeded()
    f = monomial(8, 2).table()
    noisy = f + 1e-9 * torch.randn(256, generator=g, dtype=torch.float64)
    assert first_accepted_degree(noisy, 8, generator=seeded()).accepted == 2
    loud = f + 1e-3 * torch.randn(256, generator=g, dtype=torch.float64)
    assert first_accepted_degree(loud, 8, generator=seeded()).accepted > 2
    assert first_accepted_degree(loud, 8, generator=seeded(), tol=0.1).accepted == 2


def test_a_sweep_that_ends_before_accepts_nothing():
    found = first_accepted_degree(cube.parity(8), 8, generator=seeded(), eps=1e-3, max_degree=2)
    assert found.accepted is None
    assert len(found.rejections) == 3


@law
@given(st.integers(1, 62), st.integers(0, 6), st.integers(1, 5), st.integers(0, 2**31))
def test_a_restriction_is_a_subcube(n, free, count, seed):
    free = min(free, n)
    found = random_restrictions(n, free, count, seeded(seed))
    assert found.shape == (count, 2**free)
    for row in found.tolist():
        assert len(set(row)) == 2**free
        assert min(row) >= 0
        assert max(row) < 2**n
        spanned = [row[1 << j] ^ row[0] for j in range(free)]
        assert all(d.bit_count() == 1 for d in spanned)
        for x, column in zip(row, range(2**free), strict=True):
            inside = sum(d for j, d in enumerate(spanned) if column >> j & 1)
            assert x == row[0] ^ inside


NAN = torch.tensor([1.0, torch.nan, 1.0, 1.0])


@pytest.mark.parametrize(
    ("oracle", "n", "options", "error", "named"),
    [
        (torch.ones(4), 0, {}, ValueError, "between 1 and 62, got 0"),
        (torch.ones(4), 63, {}, ValueError, "between 1 and 62, got 63"),
        (torch.ones(4), 2.0, {}, TypeError, "n must be a whole number, got 2.0"),
        (torch.ones(4), 3, {}, ValueError, r"table of 3 bits has shape \(8,\), got \(4,\)"),
        ("f", 3, {}, TypeError, "a table or a callable, got str"),
        (monomial(5, 2), 6, {}, ValueError, "a function of 5 bits, got n = 6"),
        (torch.ones(4), 2, {"eps": 0.0}, ValueError, "eps must lie between .*, got 0.0"),
        (torch.ones(4), 2, {"eps": 1.0}, ValueError, "eps must lie between .*, got 1.0"),
        (torch.ones(4), 2, {"delta": 0.0}, ValueError, "delta must lie between .*, got 0.0"),
        (torch.ones(4), 2, {"delta": 1.5}, ValueError, "delta must lie between .*, got 1.5"),
        (torch.ones(4), 2, {"batch": 0}, ValueError, "batch must be at least 1, got 0"),
        (NAN, 2, {}, ValueError, "the oracle answers nan at point 1"),
        (NAN.nan_to_num(torch.inf), 2, {}, ValueError, "the oracle answers inf at point 1"),
        (lambda x: x[:1].double(), 2, {}, ValueError, r"answered shape \(1,\)"),
        (lambda x: x[:1] * math.nan, 2, {}, ValueError, r"answered shape \(1,\)"),
        (lambda x: x > 0, 2, {}, TypeError, "got torch.bool"),
    ],
)
def test_bad_input_is_named(oracle, n, options, error, named):
    for test in (first_accepted_degree, first_accepted_sparsity):
        with pytest.raises(error, match=named):
            test(oracle, n, generator=seeded(), **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"directions": "lines"}, "unknown directions 'lines'; choose blocks or coordinates"),
        ({"tol": -1.0}, "tol must be finite and at least 0, got -1.0"),
        ({"tol": math.nan}, "got nan"),
        ({"max_degree": -1}, "max_degree runs from 0 to n = 20, got -1"),
        ({"max_degree": 21}, "got 21"),
        ({"max_degree": 19}, "150 repetitions allow degrees up to 15, got 19"),
        ({"eps": 1e-8}, "repetitions of level 0 exceed 16777216 queries"),
    ],
)
def test_bad_options_of_the_degree_test_are_named(options, named):
    with pytest.raises(ValueError, match=named):
        first_accepted_degree(monomial(20, 2), 20, generator=seeded(), **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"free": -1}, "from 0 to 20, got -1"),
        ({"free": 21}, "from 0 to 20, got 21"),
        ({"free": 20, "delta": 1e-6}, r"at most 16777216, got 20 \* 2\*\*20"),
        ({"eps": 1e-10}, r"between 1e-9 \(rounding\) and 1, got 1e-10"),
    ],
)
def test_bad_options_of_the_sparsity_test_are_named(options, named):
    with pytest.raises(ValueError, match=named):
        first_accepted_sparsity(monomial(20, 2), 20, generator=seeded(), **options)


def test_the_last_degree_that_questions_can_pay_for():
    """A function of n bits has degree n iff it is not refuted at n - 1."""
    most = testers._last_degree(60, 1000, None)
    assert 1000 * 2 ** (most + 1) <= testers.MAX_VERTICES < 1000 * 2 ** (most + 2)
    assert testers._last_degree(most + 1, 1000, None) == most + 1
    assert testers._last_degree(most + 1, 1000, most + 1) == most + 1
    assert testers._last_degree(60, 1000, most) == most
    for n in (most + 2, 60):
        with pytest.raises(ValueError, match=f"allow degrees up to {most}, got {most + 1}"):
            testers._last_degree(n, 1000, most + 1)


def test_level_0_is_paid_for_by_two_questions_a_repetition():
    half = testers.MAX_VERTICES // 2
    assert testers._last_degree(60, half, None) == 0
    with pytest.raises(ValueError, match=f"{half + 1} repetitions of level 0 exceed"):
        testers._last_degree(60, half + 1, None)


def test_the_most_restrictions_that_questions_can_pay_for(monkeypatch):
    """Two of them, with four free coordinates each."""
    options = {"free": 4, "delta": 0.25}
    monkeypatch.setattr(testers, "MAX_VERTICES", 32)
    found = first_accepted_sparsity(monomial(20, 2), 20, generator=seeded(), **options)
    assert (found.accepted, found.repetitions) == (1, 2)
    monkeypatch.setattr(testers, "MAX_VERTICES", 31)
    with pytest.raises(ValueError, match=r"at most 31, got 2 \* 2\*\*4"):
        first_accepted_sparsity(monomial(20, 2), 20, generator=seeded(), **options)


def test_functions_of_62_bits_are_tested():
    f = monomial(62, 2)
    assert first_accepted_degree(f, 62, generator=seeded()).accepted == 2
    assert first_accepted_sparsity(f, 62, generator=seeded(), free=4).accepted == 1


@pytest.mark.parametrize(("degree", "size"), [(0, 0.5), (1, 0.5)])
def test_the_tolerance_is_compared_with_a_mean_over_the_subcube(degree, size):
    """At degree k + 1 the sums of one character are its coefficient, or 0."""
    f = size * cube.character(3, (1 << (degree + 1)) - 1)
    for tol, accepted in ((0.9 * size, degree + 1), (1.1 * size, degree)):
        found = first_accepted_degree(f, 3, generator=seeded(), tol=tol)
        assert found.accepted >= accepted if tol < size else found.accepted <= accepted
