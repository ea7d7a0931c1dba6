r"""Sensitivity and Fourier weights of a sign from random strings, with errors not too small.

The weight at degree k is a mean over pairs of independent strings, of the product of their signs
and of a Krawtchouk polynomial in how many bits they differ in:

.. math:: W_k = \operatorname{E}_{x, y}\, f(x) f(y) \sum_{|S| = k} \chi_S(x) \chi_S(y) .
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.probe.report import Measured
from helpers.statistics import average

PAIRED = 1 << 12  # strings, at most, of which all pairs are looked at
USEFUL = 0.1  # a weight with a larger standard error is not told
UNSEEN = math.sqrt(2)
"""Standard errors of a share times the strings drawn, by Agresti and Coull, if none was seen."""


def drawn_mean(sensitivities: Tensor, n: int) -> Measured:
    """Mean of numbers from 0 to n, with an error even if all that were drawn are alike."""
    found = average(sensitivities)
    return Measured(
        found.value, max((found.high - found.low) / 3.92, UNSEEN * n / len(sensitivities))
    )


def drawn_weights(strings: Tensor, signs: Tensor) -> dict[int, Measured]:
    """Weights at the degrees next to 0 and to n that can be told from so many strings.

    The estimates are unbiased, and so may fall below 0. Their errors are those of the jackknife,
    whose square is in the mean at least the variance (Efron and Stein 1981).

    Args:
        strings: Bits, ``(samples, n)``, drawn independently.
        signs: Of the outputs, 1.0 or -1.0, ``(samples,)``.
    """
    strings, signs = strings[:PAIRED], signs[:PAIRED]
    (m, n), found = strings.shape, {}
    x = (1 - 2 * strings).double()
    same = x @ x.T  # n less twice the bits in which two strings differ
    before, here, k = torch.zeros_like(same), torch.ones_like(same), 0
    while 2 * k <= n and m > 2 and 2 * math.sqrt(math.comb(n, k)) / m <= USEFUL:
        for degree, f in {k: signs, n - k: signs * x.prod(1)}.items():
            found[degree] = _pairs(here, f, math.comb(n, k))
        before, here = here, (same * here - (n - k + 1) * before) / (k + 1)
        k += 1
    return dict(sorted(found.items()))


def _pairs(kernel: Tensor, f: Tensor, own: int) -> Measured:
    """Mean of f f' times the kernel over pairs of different strings, and its error."""
    m = len(f)
    sums = f * (kernel @ f) - own
    value = sums.sum().item() / (m * (m - 1))
    spread = (sums - sums.mean()).square().sum().item()
    error = 2 / (m - 2) * math.sqrt(spread / (m * (m - 1)))
    return Measured(value, max(error, 4 * UNSEEN / m))  # W_0 moves by 4 of a share at most
