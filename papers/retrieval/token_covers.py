r"""Sizes behind the guarantee for retrieval: lengths of tokens, covers of query-key matrices.

Losses that are cut off, and the terms of the guarantee, are here too. Tokens are those of
:mod:`papers.retrieval.task` at the paper's scale. A head has a query-key matrix W, D by D, and
puts out an average of tokens; a ReLU net :math:`a^\top \sigma(V u + b)` reads all heads. Covers are
in the largest difference over all tokens of length at most R. Logarithms are natural.

Source: Mousavi-Hosseini et al. (2025), Lemmas 12 to 20 and Theorem 10. Their displayed formulas are
not available to us; every constant here is derived in the chapters that use it. Lemma 16 bounds the
sum of the 2-norms of the columns of W; :func:`norm_log_size` is for the sum of absolute entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats

from helpers.checks import (
    require_amount,
    require_positive,
    require_probability,
    require_scale,
    validated,
)
from papers.retrieval.random_encodings import dimensions


@validated
def moment_radius(count: int, d: int, delta: float, C_x: float = 1.0) -> float:
    r"""Radius that ``count`` data exceed with probability at most delta, by their moments.

    .. math:: \sqrt{2 e\, C_x\, d \log(\mathrm{count}/\delta)}

    Args:
        count: Data in all, nN for n prompts of N tokens; they may depend on each other.
        d: Dimensions, at least 1.
        delta: In (0, 1), at most :math:`\mathrm{count} / \sqrt e`: an order of at least 1.
        C_x: Of Assumption 1; 1 serves for standard normal data.

    Raises:
        ValueError: a number outside its range.

    Source: Mousavi-Hosseini et al. (2025), Lemma 12.
    """
    require_positive(count=count, d=d)
    require_probability(delta=delta)
    require_scale(C_x=C_x)
    if delta > count / math.sqrt(math.e):
        raise ValueError(f"delta is at most count / sqrt(e) = 0.607 for one datum, got {delta}")
    return math.sqrt(2 * math.e * C_x * d * math.log(count / delta))


@validated
def exceedance(count: int, d: int, radius: float) -> float:
    r"""Chance that some of ``count`` independent normal data are longer than ``radius``, exactly.

    .. math:: 1 - \bigl(1 - \Pr[\chi^2_d > r^2]\bigr)^{\mathrm{count}}
    """
    require_positive(count=count, d=d)
    require_amount(radius=radius)
    tail = float(stats.chi2.sf(radius**2, d))
    return 1.0 if tail >= 1 else -math.expm1(count * math.log1p(-tail))


@validated
def norm_log_size(D: int, B_1: float, epsilon: float) -> float:
    r"""Log size of a cover of matrices with absolute entries that sum to at most B_1.

    .. math:: \Bigl\lceil \frac{B_1^2}{2 \epsilon^2} \Bigr\rceil \log(2 D^2 + 1)

    In the Frobenius norm, so also in the 2-norm: averages of k matrices out of 0 and
    :math:`\pm B_1 E_{ij}` come as near as :math:`B_1/\sqrt{2k}`; see
    :func:`papers.lengthfree.linear_maps.covering_radius`. No dimension but under the logarithm.
    """
    require_positive(D=D)
    require_scale(B_1=B_1, epsilon=epsilon)
    if epsilon >= B_1:
        return 0.0
    return math.ceil((B_1 / epsilon) ** 2 / 2 * (1 - 1e-12)) * math.log(2 * D**2 + 1)


@validated
def dimension_log_size(numbers: int, radius: float, epsilon: float) -> float:
    r"""Log size of a cover of a ball of so many numbers, :math:`k \log(1 + 2r/\epsilon)`.

    In the Euclidean norm; by volume. The radius stands only under the logarithm.
    """
    require_positive(numbers=numbers)
    require_scale(radius=radius, epsilon=epsilon)
    return 0.0 if epsilon >= radius else numbers * math.log1p(2 * radius / epsilon)


@dataclass(frozen=True)
class Transformers:
    r"""Transformers of one layer with bounded weights, on tokens of bounded length.

    Attributes:
        D: Numbers of a token.
        H: Heads.
        m: Units of the net.
        K: Bound on :math:`\|a\| \|(V, b)\|_F`.
        B_1: Bound on the sum of the absolute entries of a head's query-key matrix.
        B_F: Bound on its Frobenius norm.
        R: Length of the longest token.
    """

    D: int
    H: int
    m: int
    K: float
    B_1: float
    B_F: float
    R: float

    def log_sizes(self, epsilon: float) -> dict[str, float]:
        r"""Log sizes of covers: ``net``, and the heads by ``norm`` or by ``counting``.

        One of the net and one of the heads make a cover of the class to ``epsilon``, half of which
        is for the net. There
        :math:`m (HD + 2) \log(1 + 8 K \sqrt{1 + H R^2}/\epsilon)` is enough; a head's matrix may
        move by :math:`\epsilon / (2 K \sqrt H R^3)`.
        """
        require_scale(epsilon=epsilon)
        reach = epsilon / (2 * self.K * math.sqrt(self.H) * self.R**3)
        largest = self.K * math.sqrt(1 + self.H * self.R**2)  # of what the net puts out
        return {
            "net": dimension_log_size(self.m * (self.H * self.D + 2), 2 * largest, epsilon / 2),
            "norm": self.H * norm_log_size(self.D, self.B_1, reach),
            "counting": self.H * dimension_log_size(self.D**2, self.B_F, reach),
        }


@validated
def retrieving(
    N: int, n: int, d: int, *, q: int = 1, m: int = 2, K: float = 2.0, factor: float = 20.0
) -> Transformers:
    r"""The class that just contains the construction of Lemma 11, for standard normal data.

    The sharpness is such that the construction errs by at most :math:`n^{-1/4}` more than its net
    on the tokens pointed at, if no datum is longer than Lemma 12 says with chance
    :math:`(nN)^{-1/2}`.

    Args:
        N: Tokens of a prompt, at least 2.
        n: Prompts, at least 2.
        d: Dimensions of the data.
        q: Pointers, and heads.
        m: Units of the net; two are enough for a linear label and q = 1.
        K: Of the net; 2 for a linear label of variance 1.
        factor: d_e over log N.
    """
    if N < 2 or n < 2:
        raise ValueError(f"N and n must be at least 2, got N = {N}, n = {n}")
    require_positive(q=q, m=m)
    require_scale(K=K)
    d_e = dimensions(factor, N)
    data = moment_radius(n * N, d, (n * N) ** -0.5)
    alpha = 2 * q / d * math.log(2 * K * math.sqrt(q) * (N - 1) * data * n**0.25)
    R = math.sqrt(data**2 + (1 + q) * d / q)
    return Transformers(d + (1 + q) * d_e, q, m, K, alpha * d_e, alpha * math.sqrt(d_e), R)


@validated
def truncation(N: int, d: int, q: int, K: float, delta: float) -> tuple[float, float]:
    r"""Where losses are cut off, and what that changes at most, for C_x = C_y = s = 1.

    .. math:: \tau = 4e \log\tfrac1\delta + 2 K^2 \bigl(1 + (1 + q) d
        + 2 e\, q d \log\tfrac N\delta\bigr), \qquad 8e\, (1 + K^2 q d)\, \delta

    Returns:
        tau, and the bound on the mean of a squared error's excess over it.

    Source: the chapter ``retrieval/transformer_guarantee``, after Lemma 20.
    """
    require_positive(N=N, d=d, q=q)
    require_probability(delta=delta)
    data = moment_radius(N, d, delta) ** 2
    tau = 4 * math.e * math.log(1 / delta) + 2 * K**2 * (1 + (1 + q) * d + q * data)
    return tau, 8 * math.e * (1 + K**2 * q * d) * delta


@validated
def guarantee(
    N: int, n: int, d: int, *, q: int = 1, m: int = 2, K: float = 2.0, delta: float = 0.1
) -> dict[str, float]:
    r"""Terms of a bound on the risk, for labels that the net computes exactly; they add up.

    It holds with probability at least :math:`1 - \delta - (nN)^{-1/2}`; ``q``, ``m`` and ``K`` as
    for :func:`retrieving`.

    Returns:
        ``construction``, ``cover``, ``class``, ``length``, ``chance`` and ``truncation``.

    Source: the chapter ``retrieval/transformer_guarantee``, after Theorem 10.
    """
    require_probability(delta=delta)
    sizes = retrieving(N, n, d, q=q, m=m, K=K).log_sizes(n**-0.5)
    log_size = sizes["net"] + sizes["counting"]  # a ball of all weights bounds no other norm
    tau, excess = truncation(N, d, q, K, 1 / ((1 + K**2 * q * d) * math.sqrt(n)))
    return {
        "construction": 1 / math.sqrt(n),
        "cover": 4 * math.sqrt(tau / n),
        "class": 2 * tau * math.sqrt(2 * log_size / n),
        "length": 2 * tau / math.sqrt(n * N),
        "chance": tau * math.sqrt(math.log(1 / delta) / (2 * n)),
        "truncation": excess,
    }
