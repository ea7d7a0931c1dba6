r"""What the state of a recurrent network can store: codes, quantisers, interpolants, and limits.

In the general retrieval task a token's pointer is known to the state neither before nor after it,
so the two states at token j have to hold the labels of all other tokens: N - 1 independent standard
normal variables. Here are lower bounds on the error of any such memory, memories to compare them
with, and nets that fit a few samples without any memory. Logarithms are natural.

Source: Mousavi-Hosseini et al. (2025), Propositions 8 and 35, Lemmas 36 to 38.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import (
    require_amount,
    require_finite,
    require_positive,
    require_scale,
    validated,
)
from helpers.statistics import least_integer
from papers.retrieval.attention import ReluNet

MOST_LABELS = 20
EXACT = "donot_use_mm_for_euclid_dist"


@validated
def norm_floor(N: float, reach: float) -> float:
    r"""Least mean squared error of the N - 1 other labels, by the norm of U, in any dimension.

    .. math:: \Bigl( 1 - \frac{\rho}{\sqrt{N - 1}} \Bigr)_+^2, \qquad \rho = \mathfrak L\, \|U\|_F

    Args:
        N: Tokens, above 1.
        reach: rho: Lipschitz constant of the read-out times the radius of the states times the
            Frobenius norm of U, at least 0.

    Source: the Gaussian comparison of Sudakov and Fernique.
    """
    _check_tokens(N)
    require_amount(reach=reach)
    return max(0.0, 1 - reach / math.sqrt(N - 1)) ** 2


@validated
def dimension_floor(N: float, width: float, log_reach: float) -> float:
    r"""Least mean squared error of the N - 1 other labels, by the dimension of the states.

    .. math:: \max_\tau \Bigl( e^{-\frac{2 d_h}{N-1} \log(1 + 2 \rho/\tau)} - \tau \Bigr)_+^2 ,
        \qquad \rho = \mathfrak L\, \|U\|_{op}

    Args:
        N: Tokens, above 1.
        width: d_h, numbers in each state, at least 1.
        log_reach: Logarithm of rho, which may be astronomical.

    Source: a cover of each state at scale tau over the Lipschitz constant is a code of so many
    nats; its error is at most tau above the net's, and at least Shannon's distortion.
    """
    _check_tokens(N)
    require_positive(width=width)

    def left(tau: Tensor) -> Tensor:
        nats = 2 * width * torch.logaddexp(torch.zeros(()), log_reach + (2 / tau).log())
        return (-nats / (N - 1)).exp() - tau

    tau = torch.logspace(-16, 0, 2000, dtype=torch.float64)
    best = int(left(tau).argmax())
    ends = tau[max(best - 1, 0)].item(), tau[min(best + 1, len(tau) - 1)].item()
    near = torch.linspace(*ends, 1000, dtype=torch.float64)
    return left(near).max().clamp(min=0).square().item()


class Quantiser(NamedTuple):
    """A scalar quantiser of a standard normal variable.

    Attributes:
        levels: Means of its cells, shape ``(2**bits,)``, increasing, float64.
        error: Mean squared error.
    """

    levels: Tensor
    error: float


@validated
def quantiser(bits: int) -> Quantiser:
    r"""Cells of equal width between two outer ones, each told by its mean.

    For one bit the levels are :math:`\pm\sqrt{2/\pi}` and the error is :math:`1 - 2/\pi`, the least
    possible; for more the error tends to 0.

    Args:
        bits: From 1 to 16.
    """
    if not 1 <= bits <= 16:
        raise ValueError(f"bits run from 1 to 16, got {bits}")
    far = torch.tensor([-math.inf], dtype=torch.float64)
    inner = torch.linspace(-1, 1, 2**bits - 1, dtype=torch.float64) * 0.85 * (bits - 1)
    edges = torch.cat((far, inner[: 2 ** (bits - 1)]))  # to 0: above, masses are rounded away
    mass = torch.erfc(-edges / math.sqrt(2)).diff() / 2  # ndtr loses its tail
    below = -torch.exp(-(edges**2) / 2).diff() / math.sqrt(2 * math.pi) / mass
    levels = torch.cat((below, -below.flip(0)))
    return Quantiser(levels, 1 - 2 * (mass * below**2).sum().item())


@validated
def code_distance(signs: int, bits: int) -> int:
    r"""Least number of signs in which 2**bits words can all differ, as far as is promised.

    The largest w with :math:`n \log 2 - n H(\tfrac{w - 1}n) \ge \mathrm{bits} \log 2` and
    :math:`H(p) = -p \log p - (1 - p) \log(1 - p)`, but at most n/2.

    Args:
        signs: n, of a word, at least 2.
        bits: At least 1 and below n.

    Source: Gilbert and Varshamov: whoever cannot be added is close to one that is there.
    """
    if not 1 <= bits < signs:
        raise ValueError(f"bits run from 1 to below the signs, {signs}, got {bits}")

    def too_far(w: int) -> bool:
        p = (w - 1) / signs
        entropy = -p * math.log(p) - (1 - p) * math.log1p(-p) if w > 1 else 0.0
        return w > signs // 2 or signs * (math.log(2) - entropy) < bits * math.log(2)

    return least_integer(too_far) - 1


@dataclass(frozen=True)
class CodeMemory:
    r"""A recurrent memory whose states are words of an error-correcting code, on the unit sphere.

    A label is told by its sign. A positive label of token m turns the signs of the state where row
    m of the generator has a one. States are sign vectors over :math:`\sqrt D`; two that differ are
    at least :attr:`separation` apart. So the Lipschitz constant of the read-out does not grow with
    the number of tokens.

    Attributes:
        generator: Of the code, shape ``(N, D)``, float64, of 0 and 1.
        weight: Smallest number of ones in a word other than 0.
    """

    generator: Tensor
    weight: int

    @property
    def separation(self) -> float:
        """Smallest distance between two words."""
        return 2 * math.sqrt(self.weight / self.generator.shape[1])

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of each label's read-out."""
        return 2 * math.sqrt(2 / math.pi) / self.separation

    def word(self, ones: Tensor) -> Tensor:
        """Words of N zeros and ones each, ``(*batch, N)``: ``(*batch, D)``, of length 1."""
        odd = ones.double() @ self.generator % 2
        return (1 - 2 * odd) / math.sqrt(self.generator.shape[1])

    def step(self, h: Tensor, token: Tensor) -> Tensor:
        """What a token ``(*batch, N + 1)``, one-hot position and label, adds to a state.

        A state of zeros stands for the empty memory, the word of no ones.
        """
        start = torch.where((h == 0).all(-1, keepdim=True), self.generator.shape[1] ** -0.5, h)
        turned = token[..., :-1] @ self.generator * (token[..., -1:] > 0)
        return start * (1 - 2 * turned) - h

    def read(self, h: Tensor) -> Tensor:
        r"""Labels :math:`\pm\sqrt{2/\pi}` by the distances to the words of either sign.

        .. math:: \sqrt{2/\pi}\; \mathrm{clip}\bigl( (d_-(h) - d_+(h))/s, -1, 1 \bigr)

        with s the separation: exact on words, and Lipschitz everywhere.

        Args:
            h: Any states, shape ``(M, D)``.

        Returns:
            Shape ``(M, N)``.

        Cost: ``2**N`` words a state.
        """
        N = len(self.generator)
        ones = torch.arange(2**N)[:, None] >> torch.arange(N) & 1
        near = torch.cdist(h, self.word(ones), compute_mode=EXACT)
        gaps = [near[:, k == 0].amin(1) - near[:, k == 1].amin(1) for k in ones.T]
        return math.sqrt(2 / math.pi) * (torch.stack(gaps, 1) / self.separation).clamp(-1, 1)


@validated
def code_memory(
    N: int, generator: torch.Generator, *, redundancy: int = 4, draws: int = 20
) -> CodeMemory:
    """The best of some random codes, judged by their smallest weight.

    Args:
        N: Tokens, from 1 to :data:`MOST_LABELS`.
        generator: Source of randomness.
        redundancy: Signs of a state for each token, at least 1.
        draws: Codes tried, at least 1.

    Raises:
        ValueError: a number out of its range, or no code with distinct words.
    """
    require_positive(N=N, redundancy=redundancy, draws=draws)
    if N > MOST_LABELS:
        raise ValueError(f"N must be at most {MOST_LABELS}, got {N}")
    codes = [torch.randint(2, (N, redundancy * N), generator=generator) for _ in range(draws)]
    weight, best = max(((_smallest_weight(c), c) for c in codes), key=lambda found: found[0])
    if weight < 1:
        raise ValueError(f"no code of {N} bits with distinct words in {draws} draws")
    return CodeMemory(best.double(), weight)


def interpolant(z: Tensor, y: Tensor) -> ReluNet:
    r"""A ReLU net of n units through n points of the line, its layers balanced.

    .. math:: y_{(1)} \sigma(z - z_{(1)} + 1) + \sum_{i=2}^n (s_i - s_{i-1}) \sigma(z - z_{(i-1)})

    with the z in increasing order, slopes :math:`s_i` from point i - 1 to i, and
    :math:`s_1 = y_{(1)}`.

    Args:
        z: Distinct numbers, shape ``(n,)``, n at least 1, finite.
        y: Values, shape ``(n,)``, finite.

    Returns:
        A net on one number, the squares of :attr:`a` summing to those of W and b.

    Raises:
        ValueError: shapes that do not fit, or two equal z.

    Source: Mousavi-Hosseini et al. (2025), proof of Lemma 38.
    """
    _check_points(z, y, 1)
    z, order = z.double().sort()
    y = y.double()[order]
    gaps = z.diff()
    if len(gaps) and not gaps.min() > 0:
        raise ValueError(f"the points must be distinct, smallest gap {gaps.min().item()}")
    slopes = torch.cat((y[:1], y.diff() / gaps))
    a = torch.cat((slopes[:1], slopes.diff()))
    b = torch.cat((1 - z[:1], -z[:-1]))
    inner = math.sqrt(len(z) + b.square().sum().item())
    scale = math.sqrt(inner / a.norm().item()) if a.norm() > 0 else 1.0
    return ReluNet(scale * a, torch.full((len(z), 1), 1 / scale, dtype=torch.float64), b / scale)


def squared_norm(net: ReluNet) -> float:
    """Sum of the squares of all weights and biases."""
    return sum(part.square().sum().item() for part in net)


@validated
def interpolant_bound(z: Tensor, y: Tensor, gap: float | None = None) -> float:
    r"""Bound on :func:`squared_norm` of :func:`interpolant`, for gaps of at least epsilon <= 1.

    .. math:: 2 \sqrt{19\, (n + 2 + 3 |z|^2)}\; |y| / \epsilon

    Args:
        z: Shape ``(n,)``, n at least 2.
        y: Shape ``(n,)``.
        gap: epsilon; None: the smallest gap of z, or 1 if that is larger.

    Source: Mousavi-Hosseini et al. (2025), Lemma 38, with the constants worked out.
    """
    _check_points(z, y, 2)
    epsilon = min(1.0, z.sort().values.diff().min().item()) if gap is None else gap
    require_scale(gap=epsilon)
    inner = 19 * (len(z) + 2 + 3 * z.square().sum().item())
    return 2 * math.sqrt(inner) * y.norm().item() / epsilon


def _smallest_weight(code: Tensor) -> int:
    """Smallest weight of a word other than 0 of the code that the rows generate."""
    rows = torch.zeros(1, code.shape[1], dtype=torch.bool)
    for row in code.bool():
        rows = torch.cat((rows, rows ^ row))
    return int(rows[1:].sum(-1).min())


def _check_tokens(N: float) -> None:
    if not 1 < N < math.inf:
        raise ValueError(f"N must be above 1 and finite, got {N}")


def _check_points(z: Tensor, y: Tensor, least: int) -> None:
    if z.ndim != 1 or z.shape != y.shape or len(z) < least:
        got = f"{tuple(z.shape)} and {tuple(y.shape)}"
        raise ValueError(f"expected z and y (n,), n >= {least}, got {got}")
    require_finite(z=z, y=y)
