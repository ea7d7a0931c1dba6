"""What the count of failures does not take."""

import math

import pytest
import torch

from helpers.beyond import audit

LOSSES, COUNTS = torch.tensor([[0.1, 0.2], [0.3, 0.4]]), torch.tensor([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"losses": LOSSES[0]}, r"losses \(H, inputs\), .* got \(2,\)"),
        ({"losses": LOSSES[:0]}, r"got \(0, 2\)"),
        ({"losses": LOSSES[:, :0], "counts": COUNTS[:, :0]}, r"got \(2, 0\), \(1, 0\)"),
        ({"counts": COUNTS[0]}, r"got \(2, 2\), \(2,\)"),
        ({"counts": COUNTS * 0}, "counts of a sample must sum to 1 or more, got 0"),
        ({"counts": COUNTS * math.nan}, "counts must be finite, got nan"),
        ({"losses": LOSSES * math.nan}, "losses must be finite, got nan"),
        ({"chosen_by": LOSSES * math.inf}, "chosen_by must be finite, got inf"),
    ],
)
def test_losses_and_counts_that_do_not_fit_are_named(changed, named):
    given = {"losses": LOSSES, "counts": COUNTS, "generator": torch.Generator()} | changed
    with pytest.raises(ValueError, match=named):
        audit.failures(certify=lambda risk: risk + 1, **given)
