r"""The book's measures on any model of bits: sensitivity, spectrum, curvature, magnification.

:func:`probe` takes a ``torch.nn.Module``, or any callable, from a batch of n-bit strings to one
number or two logits each. As a command: ``python -m helpers.probe MODULE:FACTORY --bits 16``.

To 20 bits all strings are gone through, so that sensitivity and spectrum are exact. Beyond, and for
loss and curvature where there are more strings than may be drawn, strings are drawn, and a number
stands with its standard error or an interval.
"""

from helpers.probe.measure import EXACT, TARGETS, probe
from helpers.probe.outputs import ENCODINGS
from helpers.probe.report import Measured, Report

__all__ = ["ENCODINGS", "EXACT", "TARGETS", "Measured", "Report", "probe"]
