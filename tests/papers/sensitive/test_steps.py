"""What a random step leaves of sensitivity: each number of the proof, each link, bad input."""

import math

import pytest
import torch

from papers.sensitive import steps
from papers.sensitive.isolation import moved
from papers.sensitive.parity import PostNormSpec, forward, parity_transformer, shapes
from tests.draws import seeded


def model(n, layers, seed=0, width=3, size=1.0, **options):
    spec = PostNormSpec(n, width=width, layers=layers, hidden=2, **options)
    source = seeded(seed)
    drawn = {
        k: size * torch.randn(shape, generator=source, dtype=torch.float64)
        for k, shape in shapes(spec).items()
    }
    return spec, drawn, torch.randint(0, 2, (n,), generator=source)


def sensitivity(spec, weights, x):
    ball = torch.cat((x[None], x ^ torch.eye(spec.n, dtype=x.dtype)))
    T = forward(spec, weights, ball)
    return (T[1:] - T[0]).square().sum() / 4


@pytest.mark.parametrize(("d", "D", "layers"), [(2, 9, 1), (3, 24, 3), (5, 400, 2)])
def test_centred_parts_are_those_of_unit_vectors(d, D, layers):
    parts = steps.centred_parts(d, D, layers, 20_000, seeded())
    assert parts.shape == (20_000, layers, d)
    assert parts.mean(-1).abs().max() < 1e-12
    squares = parts.square().sum((1, 2))  # Beta, of mean L (d - 1) / D
    assert abs(squares.mean() - layers * (d - 1) / D) < 5 * squares.std() / math.sqrt(20_000)
    assert squares.max() <= 1


@pytest.mark.parametrize(("d", "layers"), [(4, 1), (5, 2), (6, 3)])
def test_the_mean_of_reciprocals_is_attained_without_shifts_and_lower_with_them(d, layers):
    D = 2 * d * (layers + 1)
    u = steps.centred_parts(d, D, layers, 100_000, seeded(2))
    Q = steps.reciprocal_mean(d, D, layers, rho=0.5)
    product = (math.sqrt(d) / (0.5 * u.norm(dim=-1))).prod(-1)
    assert abs(product.mean() - Q) < 5 * product.std() / math.sqrt(100_000)
    before = torch.cat((u[:, :1] * 0 + u[:, :1].mean(0), u[:, :-1]), 1)
    shifted = (math.sqrt(d) / (0.5 * (u - before).norm(dim=-1))).prod(-1)
    assert shifted.mean() < Q + 5 * shifted.std() / math.sqrt(100_000)


def test_for_wide_tokens_a_layer_norm_divides_by_the_step_in_one_number():
    assert steps.reciprocal_mean(400, 10**6, 1) == pytest.approx(1000, rel=0.01)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("size", [0.2, 1.0])
def test_every_link_holds_on_random_models(layers, size):
    for seed in range(5):
        spec, weights, x = model(9, layers, seed, size=size)
        c = steps.chain(spec, weights, x)
        assert c.last <= c.bound * (1 + 1e-9)
        v = weights["readout"].norm()
        assert sensitivity(spec, weights, x) <= math.sqrt(3) * v**2 * c.last / 2 * (1 + 1e-9)


def test_a_chain_counts_flips_by_hand():
    spec, weights, x = model(5, 2, 3, width=4, norm_eps=0.1)
    c = steps.chain(spec, weights, x)
    _, seen = forward(spec, weights, x[None], every=True, intermediates=True)
    first, last = torch.zeros(5, dtype=torch.float64), 0.0
    for i in range(5):
        y = x.clone()
        y[i] = 1 - y[i]
        _, other = forward(spec, weights, y[None], every=True, intermediates=True)
        first += (other["layers.0.norm.input"] - seen["layers.0.norm.input"])[0].norm(dim=-1)
        last += (other["layers.1.stream"] - seen["layers.1.stream"])[0, -1].norm()
    assert torch.allclose(c.first, first)
    assert torch.allclose(c.last, last)
    z, size = [seen[f"layers.{k}.norm.input"][0] for k in (0, 1)], steps.sizes(spec, weights)
    norm = [2 / (Y.var(-1, correction=0) + 0.1).sqrt() for Y in z]
    u = norm[0] * first
    assert torch.allclose(c.without_mean, (norm[1] * size.own * u)[-1])
    assert torch.allclose(c.bound, (norm[1] * (size.own * u + size.mean * u.mean()))[-1])


def test_sizes_hold_within_a_step_and_leave_out_the_first_scores():
    spec, weights, _ = model(6, 2, 4)
    wide = steps.sizes(spec, weights, 0.5)
    for seed in range(20):
        stepped = {
            k: v if k == "positions" else v[0]
            for k, v in moved(weights, 0.5, 1, seeded(seed)).items()
        }
        near = steps.sizes(spec, stepped)
        for name in ("first", "own", "mean", "readout"):
            assert (getattr(near, name) <= getattr(wide, name) + 1e-12).all()
    louder = weights | {"layers.0.query": 100 * weights["layers.0.query"]}
    bound = steps.sensitivity_bound(spec, weights, 0.5)
    assert steps.sensitivity_bound(spec, louder, 0.5) == bound
    louder = weights | {"layers.1.query": 2 * weights["layers.1.query"]}
    assert steps.sensitivity_bound(spec, louder, 0.5) > bound


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_sizes_are_the_formulas_of_the_docstring(rho):
    """Of two heads that differ, the larger norms count."""
    spec, weights, _ = model(4, 3, 1, width=4, heads=2)
    weights["layers.1.query"][1] *= 5
    weights["layers.2.query"][0] *= 5
    found = steps.sizes(spec, weights, rho)

    def norm(layer, part):
        of = weights[f"layers.{layer}.{part}"].reshape(
            -1, *weights[f"layers.{layer}.{part}"].shape[-2:]
        )
        return max(torch.linalg.svdvals(W)[0].item() for W in of)

    tokens = weights["embedding"]
    step = (tokens[1] - tokens[0]).norm().item() + 2 * rho
    longest = max((e + p).norm().item() for e in tokens for p in weights["positions"]) + rho
    for layer in range(3):
        both = zip(weights[f"layers.{layer}.query"], weights[f"layers.{layer}.key"], strict=True)
        spread = max(torch.linalg.svdvals(Q @ K.T)[0].item() for Q, K in both)
        spread += rho * (norm(layer, "query") + norm(layer, "key") + rho)
        slope = 1 + (norm(layer, "hidden") + rho) * (norm(layer, "output") + rho)
        V, C = 2 * (norm(layer, "value") + rho), 4 * spread
        if layer == 0:
            first = slope * (step + V * (step + steps.OWN_SUM * longest))
            assert found.first.item() == pytest.approx(first, rel=1e-12)
            continue
        mean = slope * V * (1 + 2 * C) * math.exp(2 * C)
        assert found.own[layer - 1].item() == pytest.approx(slope * (1 + V * C), rel=1e-12)
        assert found.mean[layer - 1].item() == pytest.approx(mean, rel=1e-9)
    assert found.readout.item() == pytest.approx(weights["readout"].norm().item() + rho)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_mean_sensitivity_after_a_step_is_below_its_bound(layers):
    spec, weights, _ = model(8, layers, 5, size=0.1)
    stepped = moved(weights, 0.1, 50, seeded())
    found = []
    for e in range(50):
        member = {k: v if k == "positions" else v[e] for k, v in stepped.items()}
        x = torch.randint(0, 2, (8,), generator=seeded(e))
        found.append(sensitivity(spec, member, x))
    assert torch.stack(found).mean() < steps.sensitivity_bound(spec, weights, 0.1)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_bound_on_the_sensitivity_is_that_of_its_links(layers):
    """2 / N at each layer norm, and s is at most half of sqrt d |v| times what moves the output."""
    spec, weights, _ = model(6, layers)
    c = steps.sizes(spec, weights, 0.1)
    Q = steps.reciprocal_mean(3, steps.dimension(spec), layers, 0.1)
    moved_by = 2.0**layers * Q * c.first * (c.own + c.mean).prod()
    expected = math.sqrt(3) * c.readout**2 * moved_by / 2
    torch.testing.assert_close(steps.sensitivity_bound(spec, weights, 0.1), expected)


def test_the_floor_of_parity_by_hand():
    """It is 1 - 1/4 - 2 sqrt(4 / 64)."""
    assert steps.parity_floor(1.0, 64.0, alpha=4.0) == 0.25


def test_the_bound_does_not_grow_with_the_length():
    bounds = {n: steps.sensitivity_bound(*parity_transformer(n), 0.1).item() for n in (16, 1024)}
    assert bounds[1024] <= bounds[16] * (1 + 1e-9)
    assert steps.dimension(parity_transformer(4)[0]) == steps.dimension(parity_transformer(64)[0])


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="expected d >= 3"):
        steps.reciprocal_mean(2, 30, 1)
    with pytest.raises(ValueError, match="got d = 3, L = 4, D = 15"):
        steps.reciprocal_mean(3, 15, 4)
    assert steps.reciprocal_mean(3, 16, 4) > 0
    with pytest.raises(ValueError, match="got d = 3, L = 2, D = 6"):
        steps.centred_parts(3, 6, 2, 10, seeded())
    with pytest.raises(ValueError, match="got d = 1, L = 1, D = 6"):
        steps.centred_parts(1, 6, 1, 10, seeded())
    with pytest.raises(ValueError, match="got d = 1, L = 2, D = 6"):
        steps.centred_parts(1, 6, 2, 10, seeded())
    spec, weights, _ = model(4, 1)
    with pytest.raises(ValueError, match="rho must be"):
        steps.sensitivity_bound(spec, weights, 0.0)
