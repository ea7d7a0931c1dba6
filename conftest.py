"""Plugins of every pytest run here: the comparison of notebooks, and fixtures."""

import pytest
import torch
from hypothesis import HealthCheck, settings

pytest_plugins = ["bookkit.tolerance", "tests.small_book", "tests.browser", "tests.order"]

# A law holds or not whatever the clock says, and for the same examples on every machine.
settings.register_profile(
    "book", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("book")


@pytest.fixture(autouse=True)
def _same_first_weights() -> None:
    """Give a test the same random numbers in whatever order and by whichever worker it is run."""
    torch.manual_seed(0)
