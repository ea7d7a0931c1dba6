"""nbval compares decimals with a tolerance, and everything else exactly.

Integers, words and layout (up to runs of blanks) must match; numbers with a point or an exponent
must agree within 1e-5 relative or 1e-12 absolute. Kernels speak over sockets of their own, so that
parallel workers cannot race for one TCP port.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from typing import Any

import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager
from nbval.plugin import IPyNbCell

DECIMAL = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?(?![\w.])"
)


class TolerantText(str):
    """Text that equals another if its words do, and its decimals within a tolerance."""

    __slots__ = ()
    rel = 1e-5
    abs = 1e-12

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        mine, theirs = (" ".join(DECIMAL.sub("#", str(s)).split()) for s in (self, other))
        if mine != theirs:
            return False
        pairs = zip(DECIMAL.findall(str(self)), DECIMAL.findall(str(other)), strict=True)
        return all(
            math.isclose(float(a), float(b), rel_tol=self.rel, abs_tol=self.abs) for a, b in pairs
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class IpcKernelManager(KernelManager):
    """A kernel over sockets in a folder of its own, removed with it."""

    def __init__(self, **options: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="kernel-")
        super().__init__(transport="ipc", ip=f"{self.folder.name}/socket", **options)


def as_text(value: object) -> object:
    """What nbval compares: text and JSON tolerantly, the rest as it is."""
    if isinstance(value, dict | list):
        return TolerantText(json.dumps(value, sort_keys=True))
    return TolerantText(value) if isinstance(value, str) else value


def pytest_configure(config: pytest.Config) -> None:
    """Put the comparison and the kernels in nbval's place."""
    exact = IPyNbCell.sanitize
    IPyNbCell.sanitize = lambda self, s: as_text(exact(self, s))
    nbval.kernel.KernelManager = IpcKernelManager
