r"""The two-attention transformer on random codes of its positions, to make it narrower.

The one-hot code of position j is replaced by row j of a random matrix J of shape
``(positions, width)``, with independent normal entries of standard deviation
:math:`1/\sqrt{\text{width}}`; the value column is kept beside it. Of a matrix of scores the network
then sees :math:`\Gamma W_{KQ} \Gamma` with :math:`\Gamma = J J^\top`. Its rows and columns that are
not zero belong to few *special* positions, so only inner products with their codes count.

The basis is that of the even-parity indicators. Source: Lintilhac and Shaikh (2026), Appendix B.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from scipy.special import expit
from torch import Tensor

from helpers.checks import require_positive, require_probability, validated
from helpers.cube import SparseFunction
from helpers.statistics import least_integer
from papers.sharper.network import mlp, parity_values, trapezoid


@dataclass(frozen=True)
class Layout:
    r"""The network, by where it looks and not by its weights, so that it may be long.

    Attributes:
        n: Bits, T.
        sets: The sets :math:`U_i`, positions counted from 0, shape ``(W, d)``, int64.
        coefficients: :math:`c_i`, positive, shape ``(W,)``, float64.
        scale: L, of the scores of both layers.
    """

    n: int
    sets: Tensor
    coefficients: Tensor
    scale: float

    @property
    def scores(self) -> Tensor:
        r"""Scores of the second attention, :math:`w_i = L + \log c_i`, shape ``(W,)``."""
        return self.coefficients.log() + self.scale

    @property
    def special(self) -> Tensor:
        """Positions that hold a component, are in a set, or are the output, in order, int64."""
        own = torch.arange(len(self.sets))
        return torch.cat((own, self.sets.flatten(), torch.tensor([self.n]))).unique()

    def parities(self, bits: Tensor) -> Tensor:
        """1 where the bits in a set have an even sum, else 0; ``(B, n)`` -> ``(W, B)``."""
        return 1.0 - (bits[:, self.sets].sum(-1) % 2).double().T


@validated
def layout(function: SparseFunction, scale: float | None = None) -> Layout:
    r"""The network of a function; a scale of None is the paper's, :math:`2 \log n`."""
    sets = torch.tensor(function.sets) - 1
    n = function.n
    return Layout(n, sets, function.coefficients, 2 * math.log(n) if scale is None else scale)


@validated
def disjoint(n: int, degree: int, sparsity: int) -> Layout:
    r"""Disjoint sets off the first W positions, equal coefficients, the scale :math:`2 \log n`.

    Raises:
        ValueError: they do not fit into n positions.
    """
    require_positive(degree=degree, sparsity=sparsity)
    d, W = degree, sparsity
    if W * (d + 1) > n:
        raise ValueError(f"{W} disjoint sets of {d} need {W * (d + 1)} positions, got n = {n}")
    sets = torch.arange(W, W + W * d).reshape(W, d)
    c = torch.full((W,), W**-0.5, dtype=torch.float64)
    return Layout(n, sets, c, 2 * math.log(n))


@validated
def rotated_codes(positions: int, width: int, draws: int, generator: torch.Generator) -> Tensor:
    r"""The codes up to a rotation: never more columns than ``positions``.

    Of codes J with independent entries :math:`\mathcal N(0, 1/k)`, J = R Q with R lower triangular
    and the rows of Q orthonormal. A network on the codes R has the outputs of the network on J,
    because only :math:`J J^\top = R R^\top` enters. The entries of R are independent:

    .. math::

        \sqrt{k}\, R_{ii} \sim \chi_{k - i + 1}, \qquad
        \sqrt{k}\, R_{ij} \sim \mathcal N(0, 1) \quad (i > j), \qquad i \le k.

    Args:
        positions: Rows of J, at least 1.
        width: Columns of J, k, at least 1.
        draws: Independent matrices, at least 1.
        generator: Of the draws.

    Returns:
        Shape ``(draws, positions, min(positions, width))``, float64, lower triangular.

    Raises:
        ValueError: a size below 1.

    Cost: ``positions ** 2`` numbers a draw, whatever the width. Source: Bartlett (1933).
    """
    require_positive(positions=positions, width=width, draws=draws)
    columns = min(positions, width)
    shape = (draws, positions, columns)
    R = torch.randn(shape, generator=generator, dtype=torch.float64).tril(-1)
    freedom = width - torch.arange(columns, dtype=torch.float64)
    squares = 2 * torch._standard_gamma((freedom / 2).expand(draws, -1), generator=generator)
    R.diagonal(dim1=-2, dim2=-1).copy_(squares.sqrt())
    return R / math.sqrt(width)


def seen_codes(net: Layout, width: int, draws: int, generator: torch.Generator) -> Tensor:
    """The codes as the special positions see them: rotated, and cut to as many columns.

    Inner products with the code of a special position are right, all others are not. The network
    uses no others, so its outputs have the law of those on random codes.

    Args:
        net: The network.
        width: Columns of J, k, at least 1.
        draws: Independent matrices, at least 1.
        generator: Of the draws.

    Returns:
        Shape ``(draws, n + 1, min(special, width))``, float64.

    Cost: the size of the result.
    """
    special = net.special
    R = rotated_codes(len(special), width, draws, generator)
    shape = (draws, net.n + 1, R.shape[-1])
    J = torch.randn(shape, generator=generator, dtype=torch.float64) / math.sqrt(width)
    J[:, special] = R
    return J


def output_errors(net: Layout, J: Tensor, bits: Tensor) -> Tensor:
    r"""How far the output of the narrow network is from the function, at most.

    Scores are entries of :math:`\Gamma W_{KQ} \Gamma`. Positions without a component say what is
    worst, anything in [0, 1]; so a long network costs no square of its length.

    Args:
        net: The network.
        J: Codes, shape ``(draws, n + 1, columns)``; the identity gives the wide network.
        bits: Shape ``(B, n)`` in {0, 1}.

    Returns:
        Absolute errors, shape ``(draws, B)``, float64.

    Raises:
        ValueError: the codes are of other positions.
    """
    if J.ndim != 3 or J.shape[1] != net.n + 1:
        shape = f"(draws, {net.n + 1}, columns)"
        raise ValueError(f"expected codes of shape {shape}, got {tuple(J.shape)}")
    W, S = len(net.sets), float(net.coefficients.sum())
    members = J[:, net.sets].sum(2) @ J.mT  # (draws, W, n + 1)
    first_layer = net.scale * (J[:, :W] @ J[:, :W].mT) @ members
    read = J @ (net.scores @ J[:, :W])[..., None]  # (draws, n + 1, 1)
    second_layer = J[:, -1:].square().sum(-1) * read.squeeze(-1)
    values = torch.nn.functional.pad(bits.double(), (0, 1))  # (B, n + 1)
    y = first_layer.softmax(-1) @ values.T  # (draws, W, B)
    p = mlp(y[..., None], *trapezoid(parity_values(net.sets.shape[1], "even_parity"))).squeeze(-1)
    a = second_layer.softmax(-1)
    low = S * (a[:, None, :W] @ p).squeeze(1) - net.coefficients @ net.parities(bits)
    high = low + S * a[:, W:].sum(-1, keepdim=True)
    return torch.maximum(low.abs(), high.abs())


def pair_errors(net: Layout, J: Tensor) -> tuple[Tensor, Tensor]:
    r"""How far the codes are off where :func:`output_bound` uses them: near and far.

    The largest :math:`|u^\top (J J^\top - I) v| / (\|u\| \|v\|)` over the pairs of its proof: with
    special positions on both sides, and with any other position on one.

    Args:
        net: The network.
        J: Codes, shape ``(draws, n + 1, columns)``.

    Returns:
        Both ``(draws,)``; far is 0 where every position is special.
    """
    W, d, P = *net.sets.shape, net.n + 1
    eye = torch.eye(P, dtype=torch.float64)
    inclusion = torch.zeros(W, P, dtype=torch.float64).scatter_(1, net.sets, 1.0)
    w = torch.nn.functional.pad(net.scores, (0, P - W))[None]
    u = torch.cat((inclusion / math.sqrt(d), w / w.norm().clamp(min=1e-300)))
    across = (u @ J) @ J.mT - u  # (draws, W + 1, P)
    by_key = inclusion.T[inclusion.any(0)]  # which sets a key is in
    by_key = torch.nn.functional.pad(by_key / by_key.norm(dim=1, keepdim=True), (0, P - W))
    v = torch.cat((eye[:W], by_key))
    inner = (eye[:W] @ J) @ (v @ J).mT - eye[:W] @ v.T
    own = J[:, -1].square().sum(-1) - 1
    special = torch.zeros(P, dtype=torch.bool)
    special[net.special] = True
    sides = (across[..., special].flatten(1), inner.flatten(1), own[:, None])
    near = torch.cat(sides, 1).abs().amax(1)
    far = across[..., ~special].abs().flatten(1)
    return near, far.amax(1) if far.shape[1] else torch.zeros_like(near)


@validated
def output_bound(net: Layout, near: float, far: float, ties: bool = True) -> float:
    r"""How far the output on codes of that accuracy is from the function, at most.

    With :math:`\delta_0, \delta` the two accuracies, the scores of special keys are off by at most

    .. math::

        \tau_1 = L \bigl(\delta_0 (\sqrt d + \sqrt W) + \delta_0^2 W \sqrt d\bigr), \qquad
        \tau_2 = \delta_0 (\|w\|_\infty + \|w\|) + \delta_0^2 \|w\|,

    those of other keys by :math:`\sigma_1 = L \delta \sqrt d\,(1 + W \delta_0)` and
    :math:`\sigma_2 = (1 + \delta_0)\, \delta \|w\|`. These bound the shares
    :math:`\varepsilon, \lambda` of attention that miss their targets, and if
    :math:`\varepsilon + \tanh(\tau_1/2) \le \frac{1}{4d}` the bound is
    :math:`S (\tanh(\tau_2/2) + \lambda)`; else, and at most, it is S. A tanh is 0 where there is
    one target only.

    Args:
        net: The network.
        near: :math:`\delta_0`.
        far: :math:`\delta`.
        ties: False leaves out both tanh: what the bound is for, so a bound that must fail.

    Source: ours.
    """
    W, d, P, L = *net.sets.shape, net.n + 1, net.scale
    S, w = float(net.coefficients.sum()), net.scores
    top, length = float(w.abs().max()), float(w.norm())
    tau1 = L * (near * (math.sqrt(d) + math.sqrt(W)) + near**2 * W * math.sqrt(d))
    tau2 = near * (top + length) + near**2 * length
    sigma1 = L * far * math.sqrt(d) * (1 + W * near)
    sigma2 = (1 + near) * far * length
    astray = expit(math.log((P - d) / d) + max(tau1, sigma1) + tau1 - L)
    idle = expit(math.log((P - W) / S) + max(tau2, sigma2) + tau2 - L)
    tie1, tie2 = (math.tanh(t / 2) if ties and m > 1 else 0.0 for t, m in ((tau1, d), (tau2, W)))
    return S * min(1.0, tie2 + idle) if astray + tie1 <= 1 / (4 * d) else S


@validated
def sufficient_width(net: Layout, share: float, eta: float) -> int:
    r"""Least width at which the output is proved to be within ``share`` times S of the function.

    With probability :math:`1 - \eta` codes of k columns have the accuracies

    .. math::

        \delta_0 = \sqrt{\tfrac8k \log \tfrac{12 q^2}{\eta}}, \qquad
        \delta = \sqrt{\tfrac8k \log \tfrac{4 (W + 1)(n + 1)}{\eta}}, \qquad q = (d + 1) W + 1,

    near and far, where both are at most 1.

    Args:
        net: The network; its bound must reach ``share`` on exact codes.
        share: Above 0, below 1.
        eta: Probability of a draw for which nothing is said, between 0 and 1.

    Source: ours.
    """
    require_probability(eta=eta)
    W, d = net.sets.shape
    counts = 12 * ((d + 1) * W + 1) ** 2, 4 * (W + 1) * (net.n + 1)

    def enough(width: int) -> bool:
        near, far = (math.sqrt(8 * math.log(count / eta) / width) for count in counts)
        goal = share * float(net.coefficients.sum())
        return max(near, far) <= 1 and output_bound(net, near, far) <= goal

    if not (0 < share < 1 and output_bound(net, 0.0, 0.0) < share * float(net.coefficients.sum())):
        raise ValueError(f"share must be below 1 and above what exact codes reach, got {share}")
    return least_integer(enough)
