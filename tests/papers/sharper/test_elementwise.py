"""Functions of numbers or tensors: what they return, and what they refuse."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from papers.sharper.elementwise import ZERO, elementwise, zero


@elementwise
def weighed(x: Tensor, name: str, more: Sequence[Tensor] = (), at: Tensor | None = None) -> Tensor:
    """The sum, for a name that is left as it is."""
    assert isinstance(name, str)
    return sum(more, x) + (ZERO if at is None else at)


def test_numbers_give_a_float_and_a_tensor_anywhere_gives_a_tensor():
    assert weighed(1, "a") == 1.0
    assert isinstance(weighed(1, "a", (2, 3.5), at=4), float)
    one = torch.tensor(1)
    for found in (
        weighed(one, "a", (2, 3)),
        weighed(1, "a", (2, torch.tensor(3))),
        weighed(1, "a", at=one),
    ):
        assert isinstance(found, Tensor)
        assert found.dtype == torch.float64
    assert weighed([0.1, 0.2], "a").tolist() == [0.1, 0.2]
    assert weighed(0.1, "a") == 0.1


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: weighed(True, "a"), TypeError, "x must be a number or a tensor, got True"),
        (lambda: weighed(None, "a"), TypeError, "x must be a number or a tensor, got None"),
        (lambda: weighed("1", "a"), TypeError, "x must be a number or a tensor, got '1'"),
        (lambda: weighed(torch.zeros(1, dtype=torch.bool), "a"), TypeError, "x must be real"),
        (lambda: weighed(1, "a", (1, float("nan"))), ValueError, r"more\[1\] must be finite, got"),
        (lambda: weighed(1, "a", at=float("inf")), ValueError, "at must be finite, got inf"),
        (lambda: weighed(1), TypeError, "missing a required argument: 'name'"),
    ],
)
def test_what_is_no_number_is_named(call, error, named):
    with pytest.raises(error, match=named):
        call()


def test_a_zero_is_found_for_every_element():
    roots = torch.tensor([0.3, 1.0, 199.0], dtype=torch.float64)
    found = zero(
        lambda x: x**3 - roots**3, torch.zeros(3).double(), torch.full((3,), 200.0).double()
    )
    torch.testing.assert_close(found, roots, rtol=0, atol=1e-13)
