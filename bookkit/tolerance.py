"""A pytest plugin: nbval compares decimals with a tolerance, and everything else exactly.

Where this package is installed, pytest loads it by itself, and it acts where ``--nbval`` is given;
``-p no:bookkit.tolerance`` leaves it out.

Integers, words and layout (up to runs of blanks) must match; numbers with decimals or an exponent
must agree within 1e-5 relative or 1e-12 absolute. An integer before a full stop is an integer, and
an output with a number that is not finite equals no other, itself included.

A residue of rounding differs from processor to processor in every digit: where a claim states its
own tolerance, a number that meets the bound within it is compared as the bound, and what a table
shows as ``< 1e-09`` as the 0 that it may be elsewhere. Kernels speak over sockets of their own, so
that parallel workers cannot race for one TCP port, and on Linux they are forks of a server that has
the packages imported (:mod:`bookkit.kernels`).
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
from typing import Any

import pytest

from bookkit.output import NOT_FINITE
from bookkit.place import short_folder

FORMS_OF_A_FIGURE = ("image/svg+xml", "text/csv")  # as PNG: their last digits differ by processor
DECIMAL = re.compile(r"(?<![\w.])[-+]?(?:\d*\.\d+|\d+\.?(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?(?!\.?\w)")
# What tables and ledgers show of a residue of rounding, which on another processor may be none.
_SMALL = r"\d(?:\.\d+)?e-(?:0[6-9]|[1-9]\d+)(?!\.?\w)"
_SMALL_ON_A_PAGE = r"(?:\d(?:\.\d+)? × )?10⁻(?:[⁶-⁹]|[¹²³⁴-⁹][⁰¹²³⁴-⁹]+)(?!\w)"
BELOW = re.compile(rf"(?:<|&lt;) (?:{_SMALL}|{_SMALL_ON_A_PAGE})")
ZERO = re.compile(r"(?<![\w.])0(?!\.?\w)")
# A line of the ledger: "measured, required = bound ± tolerance, control number: verdict", and the
# same as a row of its table, between bars. Of a number that is the bound up to rounding it says
# "bound within tolerance".
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_REQUIRED = rf"(?:, required| \|) [≤≥=] (?P<bound>{_NUMBER}) ± (?P<tol>{_NUMBER})(?:, control| \|) "
NEARLY_MEASURED = re.compile(
    rf"(?<![\w.])(?P<near>{_NUMBER}) within (?P<by>{_SMALL})"
    rf"(?=(?: ± {_NUMBER})?(?:, required| \|) [≤≥=] (?P=near) ± (?P=by)(?:, control| \|) )"
)
NEARLY_CONTROL = re.compile(rf"(?P<before>{_REQUIRED}(?P=bound)) within (?P=tol)(?=: | \|)")
CLAIM = re.compile(
    rf"(?P<measured>{_NUMBER})(?P<middle>{_REQUIRED})(?P<control>{_NUMBER})(?=: | \|)"
)


def without_residues(text: str) -> str:
    """The text with each claim's residue of rounding replaced by the bound that it meets."""

    def settle(found: re.Match[str]) -> str:
        bound, tol = float(found["bound"]), float(found["tol"])
        measured, control = (
            found["bound"] if abs(float(found[name]) - bound) <= tol else found[name]
            for name in ("measured", "control")
        )
        return f"{measured}{found['middle']}{control}"

    return CLAIM.sub(settle, text)


def comparable(*texts: str) -> list[str]:
    """Texts whose residues of rounding are as they would be without: 0, or the bound itself."""
    if any(BELOW.search(text) for text in texts):
        texts = tuple(ZERO.sub("0.0", BELOW.sub("0.0", text)) for text in texts)
    texts = tuple(NEARLY_CONTROL.sub(r"\g<before>", text) for text in texts)
    return [without_residues(NEARLY_MEASURED.sub(r"\g<near>", text)) for text in texts]


def without_residue(claim: dict[str, Any]) -> dict[str, Any]:
    """The same for a claim of a ledger's record."""
    settled = {
        name: claim["bound"]
        for name in ("measured", "control")
        if abs(claim[name] - claim["bound"]) <= claim["tol"]
    }
    return claim | settled


class TolerantText(str):
    """Text that equals another if its words do, and its decimals within a tolerance.

    A text with a number that is not finite equals nothing: such a number was not meant to be shown,
    and where one is missing, a table or a sentence has the word that its author chose.
    """

    __slots__ = ()
    rel = 1e-5
    abs = 1e-12

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        if NOT_FINITE.search(self) or NOT_FINITE.search(other):
            return False
        texts = comparable(str(self), str(other))
        mine, theirs = (" ".join(DECIMAL.sub("#", s).split()) for s in texts)
        if mine != theirs:
            return False
        pairs = zip(*(DECIMAL.findall(s) for s in texts), strict=True)
        return all(
            math.isclose(float(a), float(b), rel_tol=self.rel, abs_tol=self.abs) for a, b in pairs
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def as_text(value: object) -> object:
    """What nbval compares: text and JSON tolerantly, the rest as it is."""
    if isinstance(value, dict) and isinstance(value.get("claims"), list):
        value = value | {"claims": [without_residue(claim) for claim in value["claims"]]}
    if isinstance(value, dict | list):
        return TolerantText(json.dumps(value, sort_keys=True))
    return TolerantText(value) if isinstance(value, str) else value


def pytest_configure(config: pytest.Config) -> None:
    """Put the comparison and the kernels in nbval's place, where notebooks are compared."""
    if not (config.getoption("nbval", False) or config.getoption("nbval_lax", False)):
        return
    import nbval.kernel
    from jupyter_client.manager import KernelManager
    from nbval.plugin import IPyNbCell

    from bookkit.kernels import ForkingProvisioner

    class IpcKernelManager(KernelManager):
        """A kernel over sockets in a folder of its own, removed with it."""

        def __init__(self, **options: Any) -> None:
            self.folder = tempfile.TemporaryDirectory(prefix="kernel-", dir=short_folder())
            super().__init__(transport="ipc", ip=f"{self.folder.name}/socket", **options)
            if sys.platform == "linux":  # elsewhere a fork with these packages may crash
                self.provisioner = ForkingProvisioner(
                    kernel_id="", kernel_spec=self.kernel_spec, parent=self
                )

    exact = IPyNbCell.sanitize
    IPyNbCell.sanitize = lambda self, s: as_text(exact(self, s))
    compare = IPyNbCell.compare_outputs
    IPyNbCell.compare_outputs = lambda self, test, ref, skip_compare=(): compare(
        self, test, ref, (*(skip_compare or self.parent.skip_compare), *FORMS_OF_A_FIGURE)
    )
    if os.name == "posix":
        nbval.kernel.KernelManager = IpcKernelManager
