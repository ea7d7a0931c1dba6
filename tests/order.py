"""The notebooks that take longest are begun first, so that no worker ends with one of them."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest

from bookkit.chapters import STRIP


@cache
def seconds(path: Path) -> float:
    """What a notebook's strip says that it takes; 0 without one, infinite for other files."""
    if path.suffix != ".ipynb":
        return math.inf
    found = STRIP.search(path.with_suffix(".py").read_text(encoding="utf-8"))
    return float(found["number"]) * {"s": 1, "min": 60}[found["unit"]] if found else 0.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests as they come, then notebooks; needs ``--no-loadscope-reorder`` of pytest-xdist."""
    items.sort(key=lambda item: -seconds(item.path))
