"""The network on random codes: the narrow network itself, laws of the codes, bounds, bad input."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from papers.sharper import network as sharper
from papers.sharper import projected as p
from tests.draws import seeded

law = settings(deadline=None, max_examples=30)
SIZES = st.tuples(st.integers(4, 8), st.integers(1, 3), st.integers(1, 3))


def function(n, d, W, seed=0):
    return cube.sparse_function(n, d, W, torch.Generator().manual_seed(seed), "even_parity")


def codes(positions, width, draws, generator):
    """The definition: independent normal entries of standard deviation width ** -0.5."""
    shape = (draws, positions, width)
    return torch.randn(shape, generator=generator, dtype=torch.float64) / math.sqrt(width)


def eye(n):
    return torch.eye(n, dtype=torch.float64)[None]


def narrow_by_hand(f, J, bits, idle=None):
    """The definition: every matrix multiplied by the codes, tokens of columns + 1 numbers.

    ``idle`` is what positions without a component say; None: what the MLP makes of their mean.
    """
    _, wide = sharper.construct(f)
    both = torch.block_diag(J, torch.ones(1, 1, dtype=torch.float64))
    scores1, values, scores2 = (both.T @ wide[k] @ both for k in ("WKQ1", "WV1", "WKQ2"))
    G, F, v2 = wide["G"] @ both, both.T @ wide["F"], both.T @ wide["v2"]
    found = []
    for x in bits.double():
        value = torch.cat((x, torch.zeros(1).double()))
        X = torch.cat((J, value[:, None]), 1)
        Y = (X @ scores1 @ X.T).softmax(-1) @ X @ values
        M = torch.relu(Y @ G.T + wide["b"]) @ F.T
        Z = torch.cat((J, torch.zeros_like(value)[:, None]), 1) + M
        if idle is not None:
            Z[f.sparsity :, -1] = idle
        found.append((Z[-1] @ scores2 @ Z.T).softmax(-1) @ Z @ v2)
    return torch.stack(found)


@law
@given(SIZES, st.integers(1, 12), st.integers(0, 99))
def test_the_errors_are_those_of_the_narrow_network(size, width, seed):
    f = function(*size, seed)
    net, bits = p.layout(f), cube.bits(f.n)[:: 2 ** (f.n - 3)]
    J = codes(f.n + 1, width, 2, seeded(seed))
    found = p.output_errors(net, J, bits)
    target = f(cube.index_of(bits))
    for i in range(2):
        own, zeros, ones = (
            (narrow_by_hand(f, J[i], bits, idle) - target).abs() for idle in (None, 0, 1)
        )
        largest = net.scale * net.sets.numel() * J[i].square().sum() ** 2  # of the scores
        tol = 1e-12 * (1 + largest) * (1 + f.coefficients.sum()) * (1 + J.square().sum())
        assert (found[i] - torch.maximum(zeros, ones)).abs().max() < tol
        assert (own < found[i] + tol).all()


@law
@given(SIZES, st.integers(0, 99))
def test_one_hot_codes_give_the_wide_network(size, seed):
    f = function(*size, seed)
    net, bits = p.layout(f), cube.bits(f.n)
    assert (net.coefficients @ net.parities(bits) - f.table()).abs().max() < 1e-12
    wide = sharper.forward(*sharper.construct(f), bits)
    assert (narrow_by_hand(f, eye(f.n + 1)[0], bits) - wide).abs().max() < 1e-12
    found = p.output_errors(net, eye(f.n + 1), bits)[0]
    assert ((wide - f.table()).abs() < found + 1e-12).all()
    assert p.pair_errors(net, eye(f.n + 1))[0].max() < 1e-12


@law
@given(SIZES, st.integers(1, 12), st.integers(0, 99))
def test_a_rotation_of_the_codes_changes_no_output(size, width, seed):
    net = p.layout(function(*size, seed))
    J = codes(net.n + 1, width, 2, seeded(seed))
    rotation = torch.linalg.qr(torch.randn(width, width, dtype=torch.float64))[0]
    before, after = (p.output_errors(net, codes, cube.bits(net.n)) for codes in (J, J @ rotation))
    scores = net.scale * net.sets.numel() * J.square().sum() ** 2  # at most
    assert (before - after).abs().max() < 1e-12 * (1 + scores) * (1 + net.coefficients.sum())


def mean_and_error(samples):
    return samples.mean(0), samples.std(0) / math.sqrt(len(samples))


def seen_as_codes(positions, width, draws, generator):
    """Codes of a network of which all four positions are special but one."""
    return p.seen_codes(p.disjoint(positions - 1, 1, 1), width, draws, generator)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("kind", [codes, p.rotated_codes, seen_as_codes])
def test_inner_products_of_codes_have_the_moments_of_normal_codes(width, kind):
    J = kind(4, width, 20_000, seeded(width))
    gram = J @ J.mT - torch.eye(4, dtype=torch.float64)
    off = gram[:, [0, 1, 3]].flatten(1)  # position 2 is not special: its own length is not seen
    mean, error = mean_and_error(off)
    assert (mean.abs() < 5 * error).all()
    squares, error = mean_and_error(off.square())
    expected = ((1 + torch.eye(4, dtype=torch.float64)) / width)[[0, 1, 3]].flatten()
    assert ((squares - expected).abs() < 5 * error).all()
    triple = gram[:, 0, 1] * gram[:, 1, 2] * gram[:, 2, 0]
    mean, error = mean_and_error(triple)
    assert (mean - 1 / width**2).abs() < 5 * error


def test_codes_are_never_wider_than_those_who_see_them():
    assert p.rotated_codes(5, 10**9, 3, seeded()).shape == (3, 5, 5)
    assert p.rotated_codes(5, 2, 3, seeded()).shape == (3, 5, 2)
    R = p.rotated_codes(5, 10**12, 3, seeded())
    assert (R @ R.mT - eye(5)).abs().max() < 1e-5
    net = p.disjoint(1000, 2, 1)
    assert net.special.tolist() == [0, 1, 2, 1000]
    assert p.seen_codes(net, 10**9, 3, seeded()).shape == (3, 1001, 4)


@pytest.mark.parametrize("size", [(9, 2, 2), (8, 3, 2), (7, 1, 3)])
def test_the_errors_of_codes_are_those_of_each_pair(size):
    """The sets and the scores against every key; who asks against the keys of the second kind."""
    net = p.layout(function(*size, seed=3))
    J = codes(net.n + 1, 6, 2, seeded(1))
    P, W = net.n + 1, len(net.sets)
    unit = torch.eye(P, dtype=torch.float64)
    asks = [sum(unit[j] for j in members) for members in net.sets.tolist()]
    by_key = [
        sum(unit[i] for i, members in enumerate(net.sets.tolist()) if j in members)
        for j in sorted(set(net.sets.flatten().tolist()))
    ]
    scores = sum(w * unit[i] for i, w in enumerate(net.scores.tolist()))
    special = net.special.tolist()

    def off(M, u, v):
        return abs((u @ M @ v).item()) / (u.norm() * v.norm()).item()

    near, far = p.pair_errors(net, J)
    for draw in range(2):
        M = J[draw] @ J[draw].T - unit
        pairs = [(u, unit[s]) for u in (*asks, scores) for s in special]
        pairs += [(unit[i], v) for i in range(W) for v in (*unit[:W], *by_key)]
        pairs.append((unit[-1], unit[-1]))
        assert near[draw].item() == pytest.approx(max(off(M, *pair) for pair in pairs))
        others = [s for s in range(P) if s not in special]
        found = [off(M, u, unit[s]) for u in (*asks, scores) for s in others]
        assert far[draw].item() == pytest.approx(max(found, default=0.0))


@law
@given(SIZES, st.integers(1, 10**7), st.integers(0, 99), st.floats(0.5, 3))
def test_no_output_is_further_off_than_the_bound(size, width, seed, factor):
    net = p.layout(function(*size, seed))
    net = replace(net, scale=factor * net.scale)
    bits = cube.bits(net.n)
    J = p.rotated_codes(net.n + 1, width, 4, seeded(seed))
    near, far = p.pair_errors(net, J)
    for i, worst in enumerate(p.output_errors(net, J, bits).amax(1).tolist()):
        bound = p.output_bound(net, near[i].item(), far[i].item())
        assert worst <= bound + 1e-12
        assert bound <= net.coefficients.sum() + 1e-12


def test_the_bound_by_hand():
    net = p.disjoint(9, 1, 1)  # S = 1, w = L = 2 log 9, ten positions
    assert p.output_bound(net, 0.0, 0.0) == pytest.approx(9 / (81 + 9))
    near, far, L = 1e-3, 2e-3, 2 * math.log(9)
    gap = (2 * near + near**2) * L + max(2 * near + near**2, (1 + near) * far) * L
    odds = 9 / 81 * math.exp(gap)
    assert p.output_bound(net, near, far) == pytest.approx(odds / (1 + odds))
    assert p.output_bound(net, 1.0, 1.0) == 1.0


@pytest.mark.parametrize(("near", "far"), [(1e-4, 3e-4), (3e-4, 1e-4), (1e-3, 0.0)])
def test_the_bound_of_unequal_terms_is_the_formula_of_the_docstring(near, far):
    n, d, W, L = 400, 2, 3, 14.0
    c = torch.tensor([0.9, 0.4, 0.1], dtype=torch.float64)
    net = replace(p.disjoint(n, d, W), coefficients=c, scale=L)
    S, w = 1.4, [L + math.log(v) for v in c.tolist()]
    length = math.sqrt(sum(v * v for v in w))
    tau_1 = L * (near * (math.sqrt(d) + math.sqrt(W)) + near**2 * W * math.sqrt(d))
    tau_2 = near * (max(w) + length) + near**2 * length
    sigma_1, sigma_2 = L * far * math.sqrt(d) * (1 + W * near), (1 + near) * far * length
    shares = []
    for targets, tau, sigma in ((d, tau_1, sigma_1), (S, tau_2, sigma_2)):
        leak = (n + 1 - (d if targets == d else W)) * math.exp(max(tau, sigma) + tau - L)
        shares.append(leak / (targets + leak))
    share_1, share_2 = shares
    assert share_1 + math.tanh(tau_1 / 2) <= 1 / (4 * d)
    expected = S * (math.tanh(tau_2 / 2) + share_2)
    assert p.output_bound(net, near, far) == pytest.approx(expected, rel=1e-9)
    assert p.output_bound(net, near, far, ties=False) == pytest.approx(S * share_2, rel=1e-9)
    assert p.output_bound(net, 0.1, far) == pytest.approx(S)  # the first attention is not proved


def test_a_broken_tie_is_what_the_bound_is_for():
    net = replace(p.disjoint(50, 1, 2), scale=30.0)  # nothing leaks
    J = eye(51).repeat(1, 1, 1)
    J[0, 0] *= 1.01
    near, far = (x.item() for x in p.pair_errors(net, J))
    worst = p.output_errors(net, J, cube.bits(4).repeat(1, 13)[:, :50]).max().item()
    assert p.output_bound(net, near, far, ties=False) < 1e-6 < 0.1 < worst
    assert worst < p.output_bound(net, near, far)


def test_the_sufficient_width_suffices_and_no_smaller_one_is_proved():
    net = p.disjoint(400, 2, 2)
    k = p.sufficient_width(net, 0.1, 0.05)
    S = net.coefficients.sum().item()
    counts = 12 * 7**2, 4 * 3 * 401  # of pairs of special vectors, and of others
    sure, fewer = (
        [math.sqrt(8 * math.log(count / 0.05) / width) for count in counts] for width in (k, k - 1)
    )
    assert p.output_bound(net, *sure) <= 0.1 * S
    assert p.output_bound(net, *fewer) > 0.1 * S
    near, far = p.pair_errors(net, p.seen_codes(net, k, 50, seeded()))
    assert (near <= sure[0]).all()
    assert (far <= sure[1]).all()


def test_sets_that_just_fit_and_draws_of_one_generator():
    assert p.disjoint(9, 2, 3).sets.tolist() == [[3, 4], [5, 6], [7, 8]]
    net = p.layout(function(5, 2, 2))
    first, second = (p.seen_codes(net, 3, 2, seeded(4)) for _ in range(2))
    assert torch.equal(first, second)


def test_bad_input_is_named():
    net, bits = p.layout(function(4, 2, 2)), cube.bits(4)
    for wrong in ({"positions": 0}, {"width": 0}, {"draws": -1}):
        sizes = {"positions": 2, "width": 2, "draws": 2} | wrong
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be at least 1"):
            p.rotated_codes(**sizes, generator=seeded())
    with pytest.raises(ValueError, match="3 disjoint sets of 2 need 9 positions, got n = 8"):
        p.disjoint(8, 2, 3)
    for J in (codes(4, 3, 2, seeded()), torch.ones(5, 3)):
        with pytest.raises(ValueError, match=r"codes of shape \(draws, 5, columns\)"):
            p.output_errors(net, J, bits)
    with pytest.raises(ValueError, match="eta must lie between 0 and 1"):
        p.sufficient_width(net, 0.1, 1.0)
    one = p.disjoint(9, 1, 1)  # S = 1
    for share in (0.05, p.output_bound(one, 0.0, 0.0), 1.0):
        with pytest.raises(ValueError, match=f"above what exact codes reach, got {share}"):
            p.sufficient_width(one, share, 0.05)
