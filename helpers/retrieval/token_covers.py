r"""Sizes behind the guarantee for retrieval: lengths of tokens, covers of query-key matrices.

Tokens are those of :mod:`helpers.retrieval.task` at the paper's scale. A head is determined by its
query-key matrix W, D by D, and puts out an average of tokens. Covers of heads are in the largest
2-norm of a difference over all tokens of length at most R. Logarithms are natural.

Source: Mousavi-Hosseini et al. (2025), Lemmas 12 to 17. Their formulas are not available to us;
every constant here is derived.
"""

from __future__ import annotations

import itertools
import math

import torch
from scipy import stats
from torch import Tensor

from helpers.checks import require_amount, require_positive, require_probability, require_scale
from helpers.covers.linear import MAX_COVER
from helpers.retrieval.random_encodings import dimensions


def moment_radius(count: int, d: int, delta: float, C_x: float = 1.0) -> float:
    r"""Radius that ``count`` data exceed with probability at most delta, by their moments.

    .. math:: \sqrt{2 e\, C_x\, d \log(\mathrm{count}/\delta)}

    Args:
        count: Data in all, nN for n prompts of N tokens; they may depend on each other.
        d: Dimensions, at least 1.
        delta: In (0, 1).
        C_x: Of Assumption 1; 1 serves for standard normal data.

    Source: Mousavi-Hosseini et al. (2025), Lemma 12; Markov's inequality for the moment of order
    2 log(count/delta).
    """
    _check(count, d, delta)
    require_scale(C_x=C_x)
    return math.sqrt(2 * math.e * C_x * d * math.log(count / delta))


def chi_square_radius(count: int, d: int, delta: float) -> float:
    r"""The same for standard normal data, by the tail of the chi-square distribution.

    .. math:: \sqrt{d + 2 \sqrt{dL} + 2L}, \qquad L = \log(\mathrm{count}/\delta)

    Source: Laurent and Massart (2000), Lemma 1, and a union bound.
    """
    _check(count, d, delta)
    L = math.log(count / delta)
    return math.sqrt(d + 2 * math.sqrt(d * L) + 2 * L)


def exact_radius(count: int, d: int, delta: float) -> float:
    """The radius that independent standard normal data exceed with probability delta exactly."""
    _check(count, d, delta)
    return math.sqrt(stats.chi2.isf(-math.expm1(math.log1p(-delta) / count), d))


def exceedance(count: int, d: int, radius: float) -> float:
    r"""Chance that some of ``count`` independent normal data are longer than ``radius``, exactly.

    .. math:: 1 - \bigl(1 - \Pr[\chi^2_d > r^2]\bigr)^{\mathrm{count}}
    """
    require_positive(count=count, d=d)
    require_amount(radius=radius)
    tail = float(stats.chi2.sf(radius**2, d))
    return 1.0 if tail >= 1 else -math.expm1(count * math.log1p(-tail))


def token_radius(data: float, d: int, q: int) -> float:
    r"""Length of a token whose data have length ``data``, :math:`\sqrt{r^2 + (1 + q) d/q}`."""
    require_positive(d=d, q=q)
    require_scale(data=data)
    return math.sqrt(data**2 + (1 + q) * d / q)


def head_constant(R: float, c: float = 1.0) -> float:
    r"""How far a head moves at most, over how far its query-key matrix moves in the 2-norm.

    .. math:: \|f_i - \hat f_i\| \le c R \max_j |z_i^\top (W - \hat W) z_j|
        \le c R^3\, \|W - \hat W\|_2

    Args:
        R: Length of the longest token.
        c: Of softmax from the largest to the summed difference: 1 is true, 2 is printed.

    Source: Mousavi-Hosseini et al. (2025), Lemma 15, which goes back to Edelman et al. (2022).
    """
    require_scale(R=R, c=c)
    return c * R**3


def norm_log_size(D: int, B_1: float, epsilon: float, H: int = 1) -> float:
    r"""Log size of a cover of H matrices with absolute entries that sum to at most B_1.

    .. math:: H \Bigl\lceil \frac{B_1^2}{2 \epsilon^2} \Bigr\rceil \log(2 D^2 + 1)

    In the Frobenius norm, so also in the 2-norm: averages of k matrices out of 0 and
    :math:`\pm B_1 E_{ij}` come as near as :math:`B_1/\sqrt{2k}`; see
    :func:`helpers.covers.linear.covering_radius`. No dimension but under the logarithm.
    """
    require_positive(D=D, H=H)
    require_scale(B_1=B_1, epsilon=epsilon)
    if epsilon >= B_1:
        return 0.0
    return H * math.ceil((B_1 / epsilon) ** 2 / 2 * (1 - 1e-12)) * math.log(2 * D**2 + 1)


def dimension_log_size(D: int, B_F: float, epsilon: float, H: int = 1) -> float:
    r"""Log size of a cover of H matrices of Frobenius norm at most B_F.

    .. math:: H D^2 \log\Bigl(1 + \frac{2 B_F}{\epsilon}\Bigr)

    In the Frobenius norm; by volume. The norm stands only under the logarithm.
    """
    require_positive(D=D, H=H)
    require_scale(B_F=B_F, epsilon=epsilon)
    return 0.0 if epsilon >= B_F else H * D**2 * math.log1p(2 * B_F / epsilon)


def over_all_tokens_log_size(D: int, B_1: float, count: int, R: float, epsilon: float) -> float:
    r"""Sparsification on a matrix of all tokens at once, in its Frobenius norm.

    .. math:: \Bigl\lceil \frac{B_1^2\, \mathrm{count}\, R^2}{\epsilon^2} \Bigr\rceil \log(2 D^2)

    A cover for the sum over tokens of squared differences. It serves for the largest difference
    too, at the price of the number of tokens.

    Args:
        D: Rows and columns.
        B_1: Bound on the sum of the lengths of the rows.
        count: Tokens in all.
        R: Their largest length.
        epsilon: Scale.

    Source: Bartlett, Foster and Telgarsky (2017), Lemma 3.2, with p = 2 and s = 1.
    """
    require_positive(D=D, count=count)
    require_scale(B_1=B_1, R=R, epsilon=epsilon)
    return math.ceil((B_1 * R / epsilon) ** 2 * count) * math.log(2 * D**2)


def lattice_cover(dim: int, radius: float, epsilon: float) -> Tensor:
    r"""Points of a cubic lattice that cover a ball of :math:`\mathbb R^{\dim}` to ``epsilon``.

    The lattice has the step :math:`2\epsilon/\sqrt{\dim}`; points farther than radius + epsilon
    from the origin are left out.

    Args:
        dim: From 1 to 6.
        radius: Of the ball.
        epsilon: Scale.

    Returns:
        Shape ``(count, dim)``, float64.

    Raises:
        ValueError: a number outside its range, or more than two million points to look through.
    """
    require_scale(radius=radius, epsilon=epsilon)
    if not 1 <= dim <= 6:
        raise ValueError(f"dim must be from 1 to 6, got {dim}")
    step = 2 * epsilon / math.sqrt(dim)
    most = math.floor((radius + epsilon) / step)
    if (2 * most + 1) ** dim > MAX_COVER:
        raise ValueError(f"{(2 * most + 1) ** dim} points; at most {MAX_COVER} are looked through")
    side = range(-most, most + 1)
    points = step * torch.tensor(list(itertools.product(side, repeat=dim)), dtype=torch.float64)
    return points[points.norm(dim=1) <= radius + epsilon]


def class_sizes(
    N: int, n: int, d: int, *, q: int = 1, m: int = 20, factor: float = 20.0, delta: float = 0.1
) -> dict[str, float]:
    r"""What the guarantee is made of, for the class that holds the construction of Lemma 11.

    The sharpness is the one at which retrieval errs by at most 1/n, and the cover's scale is 1/n,
    half of it for the heads and half for the net. The net has m units with weights and bias of
    length at most 1 together, and a read-out of length at most 1, so it is Lipschitz with
    :math:`\sqrt m`. If its weights move by eta in the 2-norm of all, it moves by at most
    :math:`\eta (1 + \sqrt m)(1 + \sqrt q R)`.

    Args:
        N: Tokens of a prompt, at least 2.
        n: Prompts, at least 2.
        d: Dimensions of the data.
        q: Pointers, and heads.
        m: Units.
        factor: d_e over log N.
        delta: Chance that some token is longer than R.

    Returns:
        ``d_e``, ``D``, ``R``, ``alpha``, ``B_1``, ``B_F`` (of one head's matrix), and log sizes:
        ``norm``, ``dimension`` and ``all_tokens`` of the heads, ``net`` of the net, and ``total``
        of net and heads with the smaller of the first two.
    """
    if N < 2 or n < 2:
        raise ValueError(f"N and n must be at least 2, got N = {N}, n = {n}")
    require_positive(q=q, m=m)
    d_e = dimensions(factor, N)
    D = d + (1 + q) * d_e
    data = chi_square_radius(n * N, d, delta)
    R = token_radius(data, d, q)
    alpha = 2 * q / d * math.log(2 * (N - 1) * data * n)
    B_1, B_F = alpha * d_e, alpha * math.sqrt(d_e)
    scale = 1 / (2 * n)
    reach = scale / (head_constant(R) * math.sqrt(q * m))  # of a query-key matrix
    fine = scale / ((1 + math.sqrt(m)) * (1 + math.sqrt(q) * R))  # of the net's weights
    net = m * (q * D + 2) * math.log1p(2 * math.sqrt(1 + m) / fine)
    sizes = {
        "norm": norm_log_size(D, B_1, reach, q),
        "dimension": dimension_log_size(D, B_F, reach, q),
        "all_tokens": q * over_all_tokens_log_size(D, B_1, n * N, R, reach * R),
        "net": net,
    }
    sizes["total"] = net + min(sizes["norm"], sizes["dimension"])
    return {"d_e": d_e, "D": D, "R": R, "alpha": alpha, "B_1": B_1, "B_F": B_F, **sizes}


def _check(count: int, d: int, delta: float) -> None:
    require_positive(count=count, d=d)
    require_probability(delta=delta)
