r"""Capacity of a class of functions: Rademacher complexity, Dudley's integral, Zhang's cover.

A finite class is given by its values on a sample, a matrix with one row for each function and one
column for each of m inputs. Covers are taken in the largest difference over the sample, and their
centres are members of the class. Logarithms are natural.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.checks import require_finite, require_floating, require_scale, validated
from helpers.covers.linear import greedy_cover, maurey_size

MAX_SIGNS = 20
_AT_ONCE = 2**22  # numbers held for one batch of sign patterns
DUDLEY = 4 * math.sqrt(2)
"""A constant that suffices in :func:`dudley` for covers by members; see the chapter on capacity."""


def rademacher(values: Tensor) -> Tensor:
    r"""Empirical Rademacher complexity of a finite class, over all sign patterns.

    .. math:: \hat R = \frac1m \operatorname{E}_{\epsilon \in \{-1, 1\}^m}
        \max_f \sum_{i=1}^m \epsilon_i f(z_i)

    Args:
        values: The :math:`f(z_i)`, shape ``(*batch, F, m)``, floating, F at least 1, m from 1
            to 20.

    Returns:
        Shape ``(*batch,)``, dtype of ``values``, in the unit of the functions; at least 0.

    Raises:
        ValueError: fewer than two axes, an empty class, or m outside its range.
        TypeError: values are not floating.

    Cost: F m 2**m multiplications. Source: Edelman et al. (2022), Definition A.1.
    """
    _check_values(values)
    m = values.shape[-1]
    if not 1 <= m <= MAX_SIGNS:
        raise ValueError(f"all signs are tried for m from 1 to {MAX_SIGNS} inputs, got {m}")
    total = values.new_zeros(values.shape[:-2])
    columns = torch.arange(m, device=values.device)
    together = max(1, _AT_ONCE // max(1, values.numel() // m))
    for patterns in torch.arange(2**m, device=values.device).split(together):
        signs = (1 - 2 * (patterns[:, None] >> columns & 1)).to(values.dtype)  # (patterns, m)
        total += (values @ signs.T).amax(-2).sum(-1)
    return total / (m * 2**m)


def massart(values: Tensor) -> Tensor:
    r"""Massart's bound on :func:`rademacher`, from the number of functions alone.

    .. math:: \hat R \le \max_f \|f\|_2 \, \frac{\sqrt{2 \log F}}{m}

    Args:
        values: As for :func:`rademacher`, any m.

    Source: the moment generating function of a sum of signs; a step of every chaining proof.
    """
    _check_values(values)
    F, m = values.shape[-2:]
    return values.norm(dim=-1).amax(-1) * math.sqrt(2 * math.log(F)) / m


def sample_distances(values: Tensor) -> Tensor:
    """Largest difference over the sample, ``(F, m)`` -> ``(F, F)``, float64 if values are."""
    _check_values(values)
    require_finite(values=values)
    return torch.cdist(values, values, p=math.inf)


def greedy_log_sizes(distance: Tensor, scales: Tensor) -> Tensor:
    """Log sizes of covers by members at several scales: upper bounds on covering numbers.

    Args:
        distance: Pairwise distances, shape ``(F, F)``.
        scales: Increasing, at least 0, shape ``(K,)``.

    Returns:
        Shape ``(K,)``, float64, not increasing: a cover at one scale serves at all larger ones.

    Raises:
        ValueError: scales are not increasing from at least 0.

    Cost: F**2 for each member of each cover.
    """
    _check_scales(scales)
    sizes = [len(greedy_cover(distance, s)) for s in scales.tolist()]
    return torch.tensor(sizes, dtype=torch.float64).log().cummin(0).values


@validated
def dudley(scales: Tensor, log_sizes: Tensor, m: int, top: float) -> float:
    r"""Dudley's entropy integral for log covering numbers that are constant between scales.

    .. math:: \inf_{0 \le \delta \le A} \Bigl( \delta +
        \int_\delta^A \sqrt{\frac{\log N(\epsilon)}{m}} \, d\epsilon \Bigr)

    The Rademacher complexity is at most a constant times this, if all functions are at most A in
    absolute value; :data:`DUDLEY` is such a constant for covers by members.

    Args:
        scales: Increasing from 0, shape ``(K,)``; log N is ``log_sizes[k]`` from ``scales[k]`` on.
        log_sizes: Not negative, infinite where no finite cover is known, shape ``(K,)``.
        m: Sample size, at least 1.
        top: The upper limit A, positive.

    Raises:
        ValueError: scales do not increase from 0, shapes differ, a number is out of range.

    Source: Edelman et al. (2022), Lemma A.2, after Dudley (1967).
    """
    _check_scales(scales)
    if scales.shape != log_sizes.shape or float(scales[0]) != 0:
        raise ValueError(
            f"scales start at 0 and there is a log size for each, got first scale "
            f"{float(scales[0])}, shapes {tuple(scales.shape)} and {tuple(log_sizes.shape)}"
        )
    if not bool((log_sizes >= 0).all()):
        raise ValueError(f"log sizes must be at least 0, found {float(log_sizes.min())}")
    require_scale(m=m, top=top)
    edges = torch.cat((scales.double(), scales.new_full((1,), math.inf, dtype=torch.float64)))
    edges = edges.clamp(max=top)
    lengths = edges.diff()
    # An infinite covering number beyond A, or on no length, adds nothing.
    pieces = torch.where(lengths > 0, (log_sizes.double() / m).sqrt() * lengths, 0.0)
    # Between two scales the sum is linear in delta, so it is least at one of them, or at A.
    beyond = pieces.flip(0).cumsum(0).flip(0)  # the integral from each scale to A
    return min(float((edges[:-1] + beyond).min()), top)


@validated
def dudley_power(C: float, m: int, top: float) -> float:
    r"""Dudley's integral when :math:`\log N(\epsilon) = C/\epsilon^2`, minimised over delta.

    .. math:: \sqrt{C/m}\, \bigl(1 + \log(A \sqrt{m/C})\bigr)
        \quad \text{if } m A^2 \ge C, \text{ else } A

    The minimiser is :math:`\delta = \min(\sqrt{C/m}, A)`. The first formula alone, as printed,
    falls below zero when :math:`m A^2 < C/e^2`.

    Args:
        C: Positive.
        m: Sample size, at least 1.
        top: The bound A on the functions, positive.

    Source: Edelman et al. (2022), Corollary A.3; the second case is ours.
    """
    require_scale(C=C, m=m, top=top)
    scale = math.sqrt(C / m)
    return scale * (1 + math.log(top / scale)) if top >= scale else top


@validated
def allocate(alpha: Tensor, beta: Tensor, total: float) -> tuple[Tensor, Tensor]:
    r"""Split an error budget among several covers so that their log sizes add up to the least.

    .. math:: \min \Bigl\{ \sum_i \frac{\alpha_i}{x_i^2} : x_i > 0,\ \sum_i \beta_i x_i = C \Bigr\}
        = \frac{\gamma^3}{C^2}, \qquad
        x_i = \frac C\gamma \Bigl(\frac{\alpha_i}{\beta_i}\Bigr)^{1/3}, \qquad
        \gamma = \sum_i \alpha_i^{1/3} \beta_i^{2/3}

    Args:
        alpha: Positive, shape ``(*batch, n)``, floating.
        beta: Positive, of a shape that broadcasts with ``alpha``.
        total: The budget C, positive.

    Returns:
        The radii x, shape ``(*batch, n)``, and the least value, shape ``(*batch,)``.

    Raises:
        ValueError: a number is not positive and finite; then nothing attains the infimum.

    Source: Edelman et al. (2022), Lemma A.8.
    """
    for name, given in (("alpha", alpha), ("beta", beta)):
        bad = given[~((given > 0) & given.isfinite())]
        if given.numel() == 0 or bad.numel():
            found = bad[0].item() if bad.numel() else "none"
            raise ValueError(f"{name} must be positive and finite, found {found}")
    require_scale(total=total)
    gamma = (alpha.pow(1 / 3) * beta.pow(2 / 3)).sum(-1)
    return total / gamma[..., None] * (alpha / beta).pow(1 / 3), gamma.pow(3) / total**2


@validated
def zhang_bound(N: int, B_v: float, B_x: float, epsilon: float) -> float:
    r"""Zhang's bound on the log size of a cover of linear functions on N inputs.

    .. math:: 36\, \frac{B_v^2 B_x^2}{\epsilon^2}\,
        \log\Bigl(2 \Bigl\lceil \frac{4 B_v B_x}{\epsilon} + 2 \Bigr\rceil N + 1\Bigr)

    The functions are :math:`x \mapsto v^\top x` with :math:`\|v\|_2 \le B_v`, the inputs have
    :math:`\|x\|_2 \le B_x`, and any number of dimensions.

    Source: Edelman et al. (2022), Lemma A.10, from Zhang (2002), Theorem 4.
    """
    require_scale(N=N, B_v=B_v, B_x=B_x, epsilon=epsilon)
    ratio = B_v * B_x / epsilon
    return 36 * ratio**2 * math.log(2 * math.ceil(4 * ratio + 2) * N + 1)


@validated
def orthogonal_cover_log_size(N: int, B_v: float, B_x: float, epsilon: float) -> float:
    r"""Log size of an explicit cover of linear functions on N orthogonal inputs of length B_x.

    The value at each input is rounded to the nearest multiple of :math:`2 \epsilon`. The multiples
    z that occur have :math:`\sum_i |z_i| \le \sum_i z_i^2 \le a = (B_v B_x/\epsilon)^2`, so there
    are at most :func:`helpers.covers.linear.maurey_size` of them, and
    :math:`\log N_\infty \le a \log(2N + 1)`.

    Source: the chapter on capacity. The centres need not lie in the class.
    """
    require_scale(N=N, B_v=B_v, B_x=B_x, epsilon=epsilon)
    budget = math.floor((B_v * B_x / epsilon) ** 2 * (1 + 1e-12))
    return math.log(maurey_size(N, budget))


@validated
def orthogonal_packing_log_size(N: int, B_v: float, B_x: float, epsilon: float) -> float:
    r"""Log of a lower bound on any cover of linear functions on N orthogonal inputs.

    Functions whose values are 0 but for k inputs, where they are :math:`\pm h` with h just above
    :math:`2 \epsilon`, lie pairwise more than :math:`2 \epsilon` apart. The class holds all
    :math:`2^k \binom Nk` of them if :math:`k h^2 \le B_v^2 B_x^2`, and the best such k up to that
    limit is taken.

    Returns:
        At least 0; 0 if not even one input can be told apart.

    Source: the chapter on capacity.
    """
    require_scale(N=N, B_v=B_v, B_x=B_x, epsilon=epsilon)
    limit = (B_v * B_x / (2 * epsilon)) ** 2
    most = min(N, math.ceil(limit * (1 - 1e-12)) - 1)  # strictly below the limit: h > 2 epsilon
    k = min(most, (2 * N + 1) // 3)  # one more input multiplies by 2 (N - k) / (k + 1)
    return math.log(2**k * math.comb(N, k)) if k > 0 else 0.0


def _check_values(values: Tensor) -> None:
    require_floating(values=values)
    if values.ndim < 2 or 0 in values.shape[-2:]:
        raise ValueError(
            f"expected at least one function and one input, shape (..., F, m), got "
            f"{tuple(values.shape)}"
        )


def _check_scales(scales: Tensor) -> None:
    if scales.ndim != 1 or not len(scales):
        raise ValueError(f"expected scales on one axis, got shape {tuple(scales.shape)}")
    if not (float(scales[0]) >= 0 and bool((scales.diff() > 0).all())):
        raise ValueError(f"scales must increase from at least 0, got {scales.tolist()[:8]}")
