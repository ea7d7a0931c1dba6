"""A model's weights: ensembles of draws, and the check of names and shapes."""

import pytest
import torch

from helpers.weights import check_weights, ensemble_of

SHAPES = {"matrix": (2, 3), "bias": (3,)}


def draws(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return lambda: {k: torch.randn(s, generator=generator) for k, s in SHAPES.items()}


def test_the_first_models_of_a_larger_ensemble_are_the_smaller_one():
    many, few = ensemble_of(5, draws()), ensemble_of(2, draws())
    assert {k: v.shape for k, v in many.items()} == {"matrix": (5, 2, 3), "bias": (5, 3)}
    assert all(torch.equal(many[k][:2], few[k]) for k in SHAPES)
    one, alone = draws()(), ensemble_of(1, draws())
    assert all(torch.equal(many[k][0], one[k]) for k in SHAPES)
    assert all(torch.equal(many[k][:1], alone[k]) for k in SHAPES)


def test_an_ensemble_of_none_is_named():
    with pytest.raises(ValueError, match="at least 1 model, got 0"):
        ensemble_of(0, draws())


def test_weights_pass_with_any_leading_axes():
    check_weights(draws()(), SHAPES)
    check_weights(ensemble_of(4, draws()), SHAPES)
    check_weights({"matrix": torch.zeros(7, 2, 3), "bias": torch.zeros(5, 1, 3)}, SHAPES)


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ({"matrix": torch.zeros(2, 3)}, "missing or unknown: bias"),
        (
            {"matrix": torch.zeros(2, 3), "bias": torch.zeros(3), "b": torch.zeros(3)},
            "missing or unknown: b$",
        ),
        (
            {"matrix": torch.zeros(3, 2), "bias": torch.zeros(3)},
            r"matrix must end in the shape \(2, 3\), got \(3, 2\)",
        ),
        ({"matrix": torch.zeros(3), "bias": torch.zeros(3)}, r"shape \(2, 3\), got \(3,\)"),
    ],
)
def test_weights_that_do_not_fit_are_named(weights, named):
    with pytest.raises(ValueError, match=named):
        check_weights(weights, SHAPES)
