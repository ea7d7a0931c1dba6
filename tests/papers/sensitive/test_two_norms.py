"""Two norms in a layer: the model against its formula, chances and means against random steps."""

import itertools
import math

import pytest
import torch

from helpers import cube
from papers.sensitive import steps, two_norms
from papers.sensitive.isolation import moved
from papers.sensitive.parity import PostNormSpec, parity_transformer, shapes
from tests.draws import seeded


def model(n, layers, seed=0, size=1.0, **options):
    spec = PostNormSpec(n, layers=layers, **({"width": 4, "hidden": 3} | options))
    source = seeded(seed)
    drawn = {
        k: size * torch.randn(shape, generator=source, dtype=torch.float64)
        for k, shape in shapes(spec).items()
    }
    return spec, drawn, torch.randint(0, 2, (3, n), generator=source)


def normed(Y, eps):
    return (Y - Y.mean(-1, keepdim=True)) / (Y.var(-1, correction=0, keepdim=True) + eps).sqrt()


def by_hand(spec, W, x):
    """Output, and each layer's deviations behind attention and behind the block, one string."""
    y, inside = W["embedding"][x] + W["positions"], ([], [])
    for k in range(spec.layers):
        query, key, value, hidden, bias, output, last = (
            W[f"layers.{k}.{name.removeprefix('layers.0.')}"]
            for name in shapes(spec)
            if name.startswith("layers.0.")
        )
        z = y
        for h in range(spec.heads):
            z = z + ((y @ query[h]) @ (y @ key[h]).T).softmax(-1) @ y @ value[h]
        inside[0].append(z.std(-1, correction=0))
        z = normed(z, spec.norm_eps)
        Y = z + (z @ hidden + bias).relu() @ output + last
        inside[1].append(Y.std(-1, correction=0))
        y = normed(Y, spec.norm_eps)
    return y[-1] @ W["readout"], inside


@pytest.mark.parametrize("options", [{}, {"heads": 2}, {"heads": 3, "width": 5}, {"norm_eps": 0.1}])
@pytest.mark.parametrize("layers", [1, 2])
def test_forward_is_the_formula(layers, options):
    spec, W, x = model(5, layers, **options)
    expected = torch.stack([by_hand(spec, W, row)[0] for row in x])
    assert torch.allclose(two_norms.forward(spec, W, x), expected, atol=1e-12)


def test_deviations_are_what_the_norms_divide_by():
    spec, W, x = model(4, 2, 1, heads=2)
    _, inside = by_hand(spec, W, x[0])
    for found, expected in zip(two_norms.deviations(spec, W, x[:1]), inside, strict=True):
        assert torch.allclose(found[0][0], expected[0])
        assert torch.allclose(found[1][0, -1], expected[1][-1])


def test_models_after_steps_run_side_by_side():
    spec, W, x = model(4, 2, 2, heads=2)
    stepped = moved(W, 0.3, 5, seeded())
    found = two_norms.forward(spec, stepped, x)
    for e in range(5):
        member = {k: v if k == "positions" else v[e] for k, v in stepped.items()}
        assert torch.allclose(found[e], two_norms.forward(spec, member, x))


def test_value_norms_are_of_all_heads_side_by_side():
    spec, W, _ = model(3, 2, 9, heads=3)
    for k, found in enumerate(two_norms.value_norms(spec, W)):
        squares = sum(V.T @ V for V in W[f"layers.{k}.value"])
        assert found.square().item() == pytest.approx(torch.linalg.eigvalsh(squares)[-1].item())


@pytest.mark.parametrize("n", [1, 4, 9])
def test_parity_by_hand_is_exact_with_both_norms(n):
    spec, W = parity_transformer(n)
    x = cube.bits(n)
    expected = 1 - 2.0 * (x.sum(-1) % 2).double()
    assert torch.allclose(two_norms.forward(spec, W, x), expected, atol=1e-12)


def test_chances_of_small_parts_are_those_of_random_steps():
    lengths = steps.centred_parts(4, 60, 2, 100_000, seeded(3)).norm(dim=-1) * 0.5
    for s in (0.03, 0.05, 0.1):
        for found, seen in (
            (two_norms.small_chance(0.5, 4, 60, s, 0.5), lengths[:, 0] < s),
            (two_norms.small_product(s / 2, 3, 60, 0.5), lengths.prod(-1) < s / 2),
        ):
            error = math.sqrt(found * (1 - found) / 100_000)
            assert abs(seen.double().mean() - found) <= 5 * error + 1e-12
    assert two_norms.small_product(1.0, 3, 60, 0.5) == pytest.approx(1, abs=1e-8)


def test_the_chance_in_the_first_layer_is_that_of_both_random_events():
    d, B, r = 4, 0.05, 0.02
    u, w = 0.5 * steps.centred_parts(d, 60, 2, 100_000, seeded(3)).norm(dim=-1).T
    level = 2 * math.sqrt(d) * r
    seen = (u < level).double() + (u * w < B * level).double()
    found = two_norms.small_chance(r, d, 60, B, 0.5, first=True)
    assert 0.2 < found < 0.8
    assert abs(seen.mean() - found) <= 5 * seen.std() / math.sqrt(100_000)


def test_a_product_of_two_lengths_has_a_logarithm_more_than_one():
    ratios = [two_norms.small_product(s, 3, 60) / s**3 for s in (1e-4, 1e-5, 1e-6, 1e-7)]
    rises = [b - a for a, b in itertools.pairwise(ratios)]
    assert max(rises) / min(rises) == pytest.approx(1, rel=1e-2)
    parts = [two_norms.small_chance(0.5, 4, 60, s, 1.0) / s**3 for s in (1e-5, 1e-6)]
    assert parts[0] == pytest.approx(parts[1], rel=1e-6)


@pytest.mark.parametrize(
    ("s", "expected"),  # by mpmath, to 30 digits
    [
        (4.4e-4, 0.9997307685367529),
        (4.4e-6, 8.039531661668799e-4),
        (4.4e-9, 2.896817554579135e-12),
        (4.4e-16, 7.784736705466238e-33),
        (4.4e-25, 1.406920419262214e-59),
        (4.4e-30, 1.756057501881564e-74),
        (4.4e-60, 3.850879997601539e-164),
    ],
)
def test_a_tiny_product_of_two_lengths_has_its_exact_chance(s, expected):
    assert two_norms.small_product(s, 3, 260, 0.1) == pytest.approx(expected, rel=1e-8, abs=0)


def test_the_mean_over_paths_is_that_of_random_parts():
    B, d, D, rho = torch.tensor([2.0, 0.7], dtype=torch.float64), 6, 200, 0.5
    u = rho * steps.centred_parts(d, D, 5, 200_000, seeded(4)).norm(dim=-1)
    product = (math.sqrt(d) / u[:, :3]).prod(-1) * (1 + B / u[:, 3:]).prod(-1)
    error = product.std() / math.sqrt(200_000)
    assert abs(product.mean() - two_norms.reciprocal_mean(d, D, B, rho)) < 5 * error


@pytest.mark.parametrize("size", [0.0, 0.3, 1.0])
def test_no_token_is_divided_by_little_more_often_than_its_bound(size):
    """Also where attention cancels the token, as far as random weights of a size leave it."""
    spec, W, x = model(3, 2, 5, size, hidden=2)
    for k in range(2):
        W[f"layers.{k}.value"] = W[f"layers.{k}.value"] - torch.eye(4).double()
    rho, count, D = 0.5, 20_000, steps.dimension(spec)
    stepped = moved(W, rho, count, seeded(6))
    behind, _ = two_norms.deviations(spec, stepped, x[:1].expand(count, 1, 3))
    norms = two_norms.value_norms(spec, W) + rho
    for k, N in enumerate(behind):
        for r in (0.03, 0.1, 0.3):
            bound = two_norms.small_chance(r, 4, D, norms[k].item(), rho, first=k == 0)
            error = math.sqrt(bound / count)
            assert (N[:, 0] < r).double().mean(0).max() <= bound + 4 * error


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="r must lie between 0 and 1"):
        two_norms.small_chance(1.5, 4, 60, 1.0, 0.1)
    with pytest.raises(ValueError, match="expected 2 <= d <= D"):
        two_norms.small_chance(0.1, 1, 60, 1.0, 0.1)
    with pytest.raises(ValueError, match="expected 1 <= 2 m < D"):
        two_norms.small_product(0.1, 30, 60)
    for values in (torch.zeros(2), torch.ones(2, 1), torch.ones(0)):
        with pytest.raises(ValueError, match="positive norms"):
            two_norms.reciprocal_mean(4, 60, values, 0.1)
