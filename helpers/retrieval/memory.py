r"""What the state of a recurrent net can hold: codes, quantisers, interpolants, and what none can.

In the general retrieval task a token's pointer is known to the state neither before nor after it,
so the two states at token j have to hold the labels of all other tokens: N - 1 independent standard
normal numbers. Here are lower bounds on the error of any such memory, and memories to compare them
with. Logarithms are natural; "nats" count the log of the number of states that can be told apart.

Source: Mousavi-Hosseini et al. (2025), Propositions 8 and 35, Lemmas 36 to 38.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from scipy import optimize, stats
from torch import Tensor

from helpers.checks import require_positive, require_scale
from helpers.retrieval.attention import ReluNet
from helpers.retrieval.packings import SUDAKOV

MOST_WORDS = 2**20
EXACT = "donot_use_mm_for_euclid_dist"


def distortion(nats: float, numbers: int) -> float:
    r"""Least mean squared error of standard normal numbers told in so many nats.

    .. math:: e^{-2 \mathrm{nats}/\mathrm{numbers}}

    Args:
        nats: Log of the number of messages, at least 0.
        numbers: Independent numbers, at least 1.

    Source: Shannon's rate-distortion function of a normal source; it bounds every code.
    """
    require_positive(numbers=numbers)
    if not nats >= 0:
        raise ValueError(f"nats must be at least 0, got {nats}")
    return math.exp(-2 * nats / numbers)


def quantised_floor(N: int, bits: float) -> float:
    r"""Least risk of a recurrent net in the general task, with states of so many bits each way.

    .. math:: \frac1{N^2} \sum_{j=1}^N \bigl[ (j-1)\, 4^{-b/(j-1)} + (N-j)\, 4^{-b/(N-j)} \bigr]

    Args:
        N: Tokens, at least 1.
        bits: b, of each of the two states, at least 0.

    Source: :func:`distortion` for the tokens on each side; the token itself costs nothing.
    """
    require_positive(N=N)
    one_way = sum(m * distortion(bits * math.log(2), m) for m in range(1, N))
    return 2 * one_way / N**2


def linear_floor(N: int, width: int) -> float:
    r"""Least risk in the general task of linear states of a given width, read out linearly or not.

    .. math:: \Bigl(1 - \frac dN\Bigr) \Bigl(1 - \frac{d+1}N\Bigr) \qquad (0 \le d < N)

    The state before token j has at most d of the j - 1 dimensions of what it has to hold; the rest
    is independent of it. Likewise from the other side.

    Args:
        N: Tokens, at least 1.
        width: d, numbers in each state, at least 0.
    """
    require_positive(N=N)
    if width < 0:
        raise ValueError(f"width must be at least 0, got {width}")
    left = max(0, N - width)
    return left * max(0, left - 1) / N**2


def dimension_floor(N: int, width: int, reach: float) -> float:
    r"""Least mean squared error of the N - 1 labels, by the dimension of the states.

    .. math:: \max_\tau \Bigl( e^{-\frac{2 d_h}{N-1} \log(1 + 2 \sqrt 2\, \rho/\tau)} - \tau
        \Bigr)_+^2 , \qquad \rho = \mathfrak L\, \|U\|_{op}

    Args:
        N: Tokens, at least 2.
        width: d_h, numbers in each state, at least 1.
        reach: rho: Lipschitz constant of the read-out times the radius of the states times the
            operator norm of U.

    Source: a cover of the states at scale tau over the Lipschitz constant makes a code of
    2 d_h log(1 + ...) nats; its error is at most tau above the net's, and :func:`distortion` below.
    """
    require_positive(width=width)
    require_scale(reach=reach)
    return _best_scale(N, lambda tau: 2 * width * math.log1p(2 * math.sqrt(2) * reach / tau))


def norm_floor(N: int, reach: float) -> float:
    r"""Least mean squared error of the N - 1 labels, by the norm of U, in any dimension.

    .. math:: \max_\tau \Bigl( e^{-\frac{4 \pi \log 2}{N-1} (\rho/\tau)^2} - \tau \Bigr)_+^2 ,
        \qquad \rho = \mathfrak L\, \|U\|_F

    Args:
        N: Tokens, at least 2.
        reach: rho, as in :func:`dimension_floor` but with the Frobenius norm.

    Source: as there, with :func:`ellipsoid_log_packing` for both states at once.
    """
    require_scale(reach=reach)
    return _best_scale(N, lambda tau: 2 * SUDAKOV * (reach / tau) ** 2)


def norm_needed(N: float, error: float) -> float:
    r"""Least :math:`(\mathfrak L \|U\|_F)^2` for a mean squared error, :math:`\kappa (N - 1)`.

    .. math:: \kappa = \max_\tau \frac{\tau^2}{4 \pi \log 2} \log \frac1{\sqrt{\mathrm{error}}
        + \tau}

    Args:
        N: Tokens, above 1; a float, since it may be astronomical.
        error: In (0, 1).

    Source: :func:`norm_floor`, solved for the norm.
    """
    if not 1 < N < math.inf or not 0 < error < 1:
        raise ValueError(f"N must be above 1 and error in (0, 1), got {N} and {error}")
    root = math.sqrt(error)

    def rate(tau: float) -> float:
        return tau**2 * math.log(1 / (root + tau)) / (2 * SUDAKOV)

    best = optimize.minimize_scalar(lambda t: -rate(t), bounds=(0, 1 - root), method="bounded")
    return float(rate(best.x)) * (N - 1)


class Quantiser(NamedTuple):
    """A scalar quantiser: cells between edges, one level each.

    Attributes:
        edges: Inner edges, increasing, shape ``(levels - 1,)``.
        levels: Shape ``(levels,)``, increasing.
        error: Mean squared error of a standard normal number.
    """

    edges: Tensor
    levels: Tensor
    error: float

    def cells(self, numbers: Tensor) -> Tensor:
        """Cell of each number, int64, from 0."""
        return torch.bucketize(numbers.contiguous(), self.edges)


def lloyd_max(bits: int) -> Quantiser:
    """The best scalar quantiser of a standard normal number with ``2**bits`` levels.

    Each level is the mean of its cell and each edge half way between levels; repeated until both
    hold. ``bits`` from 0 to 6.

    Source: Lloyd and Max; unique for a log-concave density.
    """
    if not 0 <= bits <= 6:
        raise ValueError(f"bits run from 0 to 6, got {bits}")
    count = 2**bits
    levels = torch.from_numpy(stats.norm.ppf((torch.arange(count) + 0.5).numpy() / count))
    far = torch.tensor([math.inf], dtype=torch.float64)
    for _ in range(20_000):
        inner = (levels[1:] + levels[:-1]) / 2
        edges = torch.cat((-far, inner, far))
        mass = torch.special.ndtr(edges).diff()
        density = torch.exp(-(edges**2) / 2) / math.sqrt(2 * math.pi)
        before, levels = levels, -density.diff() / mass
        if (levels - before).abs().max() < 1e-15:
            break
    return Quantiser((levels[1:] + levels[:-1]) / 2, levels, 1 - (mass * levels**2).sum().item())


@dataclass(frozen=True)
class CodeMemory:
    r"""A recurrent memory whose states are words of an error-correcting code, on the unit sphere.

    The bits of the labels seen so far, each label quantised, are encoded by a linear code: bit m
    turns the signs of the state where row m of the generator has a one. States are sign vectors
    over :math:`\sqrt D`; states that differ are at least :attr:`separation` apart. So a read-out
    that knows the labels' levels has a Lipschitz constant that does not grow with N.

    Attributes:
        generator: Of the code, shape ``(N * bits, D)``, of 0 and 1.
        quantiser: Of one label.
        weight: Smallest number of ones in a word other than 0.
    """

    generator: Tensor
    quantiser: Quantiser
    weight: int

    @property
    def bits(self) -> int:
        """Bits a label."""
        return len(self.quantiser.levels).bit_length() - 1

    @property
    def separation(self) -> float:
        """Smallest distance between two words."""
        return 2 * math.sqrt(self.weight / self.generator.shape[1])

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the best extension of the labels' levels from the words."""
        levels = self.quantiser.levels
        return (levels[-1] - levels[0]).item() / self.separation

    def word(self, cells: Tensor) -> Tensor:
        """Words of cells ``(*batch, N)``: ``(*batch, D)``, of length 1."""
        odd = _binary(cells, self.bits).flatten(-2) @ self.generator % 2
        return (1 - 2 * odd) / math.sqrt(self.generator.shape[1])

    def step(self, h: Tensor, token: Tensor) -> Tensor:
        """What a token ``(*batch, N + 1)``, one-hot position and label, adds to a state.

        A state of zeros stands for the empty memory, the word of no ones.
        """
        turned = self._turned(token[..., :-1], token[..., -1])
        empty = (h == 0).all(-1, keepdim=True)
        start = torch.where(empty, 1 / math.sqrt(h.shape[-1]), h)
        return start * turned - h

    def read(self, h: Tensor) -> Tensor:
        r"""Labels by the extension of the levels, :math:`\min_w y(w) + \ell\, |h - w|`, clipped.

        Args:
            h: Any states, shape ``(*batch, D)``.

        Returns:
            Shape ``(*batch, N)``; on words the levels; each entry :attr:`lipschitz`-Lipschitz.

        Cost: ``2**(N * bits)`` words a state.
        """
        words, levels = self._words()
        near = torch.cdist(h.reshape(-1, h.shape[-1]), words, compute_mode=EXACT)
        top = self.quantiser.levels[-1]
        rows = [(levels + self.lipschitz * row[:, None]).amin(0) for row in near]
        found = torch.stack(rows).clamp(max=top)
        return found.reshape(*h.shape[:-1], -1)

    def _turned(self, position: Tensor, label: Tensor) -> Tensor:
        """Signs by which a label multiplies the state, ``(*batch, D)``."""
        ones = _binary(self.quantiser.cells(label), self.bits)  # (*batch, bits)
        rows = self.generator.unflatten(0, (-1, self.bits))  # (N, bits, D)
        odd = torch.einsum("...n,...b,nbd->...d", position, ones, rows) % 2
        return 1 - 2 * odd

    def _words(self) -> tuple[Tensor, Tensor]:
        """All words ``(M, D)`` and the levels that they stand for ``(M, N)``."""
        total = len(self.generator)
        cells = _binary(torch.arange(2**total), total).unflatten(-1, (-1, self.bits))
        powers = 2 ** torch.arange(self.bits - 1, -1, -1, dtype=torch.float64)
        numbers = (cells @ powers).long()
        return self.word(numbers), self.quantiser.levels[numbers]


def code_memory(
    N: int, bits: int, generator: torch.Generator, *, redundancy: int = 4, draws: int = 20
) -> CodeMemory:
    """The best of some random codes, judged by their smallest weight.

    Args:
        N: Tokens, at least 1.
        bits: Bits a label, from 1 to 6; ``N * bits`` at most 20.
        generator: Source of randomness.
        redundancy: Signs of a state for each bit, at least 1.
        draws: Codes tried, at least 1.

    Raises:
        ValueError: a number out of its range.
    """
    require_positive(N=N, bits=bits, redundancy=redundancy, draws=draws)
    total = N * bits
    if 2**total > MOST_WORDS:
        raise ValueError(f"N * bits must be at most {MOST_WORDS.bit_length() - 1}, got {total}")
    best, most = torch.empty(0), -1
    for _ in range(draws):
        code = torch.randint(2, (total, redundancy * total), generator=generator).double()
        weight = _smallest_weight(code)
        if weight > most:
            best, most = code, weight
    if most < 1:
        raise ValueError(f"no code of {total} bits with distinct words in {draws} draws")
    return CodeMemory(best, lloyd_max(bits), most)


def interpolant(z: Tensor, y: Tensor) -> ReluNet:
    r"""A ReLU net of n units through n points of the line, its layers balanced.

    .. math:: y_{(1)} \sigma(z - z_{(1)} + 1) + \sum_{i=2}^n (s_i - s_{i-1}) \sigma(z - z_{(i-1)})

    with the z in increasing order, slopes :math:`s_i` from point i - 1 to i, and
    :math:`s_1 = y_{(1)}`.

    Args:
        z: Distinct numbers, shape ``(n,)``, n at least 1.
        y: Values, shape ``(n,)``.

    Returns:
        A net on one number, the squares of :attr:`a` summing to those of W and b.

    Raises:
        ValueError: shapes that do not fit, or two equal z.

    Source: Mousavi-Hosseini et al. (2025), proof of Lemma 38.
    """
    if z.ndim != 1 or z.shape != y.shape or not len(z):
        raise ValueError(f"expected z and y (n,), got {tuple(z.shape)} and {tuple(y.shape)}")
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


def interpolant_bound(z: Tensor, y: Tensor, gap: float | None = None) -> float:
    r"""Bound on :func:`squared_norm` of :func:`interpolant`, for gaps of at least epsilon <= 1.

    .. math:: 2 \sqrt{19\, (n + 2 + 3 |z|^2)}\; |y| / \epsilon

    Args:
        z: Shape ``(n,)``, n at least 2.
        y: Shape ``(n,)``.
        gap: epsilon; None: the smallest gap of z, or 1 if that is larger.

    Source: Mousavi-Hosseini et al. (2025), Lemma 38, with the constants worked out.
    """
    if z.ndim != 1 or z.shape != y.shape or len(z) < 2:
        raise ValueError(f"expected z and y (n,), n >= 2, got {tuple(z.shape)}, {tuple(y.shape)}")
    epsilon = min(1.0, z.sort().values.diff().min().item()) if gap is None else gap
    require_scale(gap=epsilon)
    inner = 19 * (len(z) + 2 + 3 * z.square().sum().item())
    return 2 * math.sqrt(inner) * y.norm().item() / epsilon


def _binary(cells: Tensor, bits: int) -> Tensor:
    """Binary digits, most significant first, ``(*batch, bits)``, float64."""
    places = torch.arange(bits - 1, -1, -1)
    return (cells[..., None] >> places & 1).double()


def _smallest_weight(code: Tensor) -> int:
    """Smallest weight of a word other than 0 of the code that the rows generate."""
    rows = torch.zeros(1, code.shape[1], dtype=torch.bool)
    for row in code.bool():
        rows = torch.cat((rows, rows ^ row))
    return int(rows[1:].sum(-1).min())


def _best_scale(N: int, nats: Callable[[float], float]) -> float:
    """Largest value of (exp(-nats(tau)/(N - 1)) - tau)_+^2 over a grid of tau: a lower bound."""
    if N < 2:
        raise ValueError(f"N must be at least 2, got {N}")
    grid = [k / 1000 for k in range(1, 1000)]
    found = (math.exp(-nats(tau) / (N - 1)) - tau for tau in grid)
    return max(0.0, max(found)) ** 2
