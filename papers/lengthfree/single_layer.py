r"""One attention layer with a linear read-out: its class, and bounds on its Rademacher complexity.

.. math:: h(X) = w^\top W_c^\top \sigma\bigl( W_v^\top X^\top \mathrm{softmax}(s) \bigr), \qquad
    s_t = x_{[CLS]}^\top W_{QK}\, x_t

Tokens are the rows of X, shape ``(T, d)``; :math:`W_v` is ``(d, k)``, :math:`W_c` is ``(k, d)``.
The class has a cover constant C if, for every :math:`\epsilon`, some :math:`e^{C/\epsilon^2}` of
its matrices :math:`W_{QK}` come within :math:`\epsilon` of any other at every query allowed. Bounds
are on the complexity with the factor 1/m. Logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_floating, require_positive, require_scale, validated
from helpers.covers.attention import HeadNorms, heads_bound
from helpers.covers.blocks import Activation, longest, mix
from helpers.covers.capacity import DUDLEY, dudley_power, rademacher
from helpers.covers.lipschitz import SOFTMAX_PRINTED
from helpers.statistics import least_integer
from papers.lengthfree import linear_maps

CONSTANT = 2 * DUDLEY
"""What the O of Theorem 4.1 may hide: 2 for dropping a sign, and Dudley's constant."""

FRESH = 2048
"""Sign patterns at most over which a search's finds are judged."""


@validated
@dataclass(frozen=True)
class Norms:
    r"""Bounds on one layer, each positive; for H heads take the largest and multiply by H.

    Attributes:
        w: l1 norm of the read-out, :math:`\|w\|_1`.
        W_c: Largest l1 norm of a column of :math:`W_c`, :math:`\|W_c\|_{1,\infty}`; the paper
            prints the transpose.
        W_v: The same of :math:`W_v`.
        x: Largest l2 norm of a token, the query included.
        W_qk: Sum of all absolute entries, :math:`\|W_{QK}\|_{1,1}`.
        lipschitz: Of the activation, which keeps 0.
    """

    w: float
    W_c: float
    W_v: float
    x: float
    W_qk: float
    lipschitz: float = 1.0

    def __post_init__(self) -> None:
        require_scale(**vars(self))

    @property
    def product(self) -> float:
        """What multiplies every bound, the paper's B: ``w W_c lipschitz W_v``."""
        return self.w * self.W_c * self.lipschitz * self.W_v

    @property
    def largest(self) -> float:
        """No output exceeds this; nor does the complexity."""
        return self.product * self.x


@validated
def measured_norms(
    w: Tensor, W_c: Tensor, W_v: Tensor, W_qk: Tensor, X: Tensor, lipschitz: float = 1.0
) -> Norms:
    """The norms of one set of weights, and of the tokens it is given.

    Args:
        w: Read-out, shape ``(d,)``.
        W_c: Shape ``(k, d)``.
        W_v: Shape ``(d, k)``.
        W_qk: Shape ``(d, d)``, queries times keys.
        X: Tokens of all inputs, queries included, shape ``(*inputs, T, d)``.
        lipschitz: Of the activation.

    Raises:
        ValueError: shapes do not fit, or a norm is 0 or not finite.
        TypeError: not floating.
    """
    require_floating(w=w, W_c=W_c, W_v=W_v, W_qk=W_qk, X=X)
    d = w.shape[-1] if w.ndim == 1 else -1
    k = W_v.shape[-1] if W_v.ndim == 2 else -1
    wanted = {"W_c": (k, d), "W_v": (d, k), "W_qk": (d, d)}
    if d == 0 or k == 0:
        raise ValueError(f"no width is 0, got w {tuple(w.shape)} and W_v {tuple(W_v.shape)}")
    for name, W in (("W_c", W_c), ("W_v", W_v), ("W_qk", W_qk)):
        if min(d, k) < 1 or tuple(W.shape) != wanted[name]:
            raise ValueError(
                f"{name} must have shape {wanted[name]} beside w {tuple(w.shape)} and W_v "
                f"{tuple(W_v.shape)}, got {tuple(W.shape)}"
            )
    if X.ndim < 2 or X.shape[-1] != d or not X.numel():
        raise ValueError(f"X must have shape (..., T, {d}) and a token, got {tuple(X.shape)}")
    return Norms(
        w=float(w.abs().sum()),
        W_c=float(linear_maps.matrix_norm(W_c, 1, math.inf)),
        W_v=float(linear_maps.matrix_norm(W_v, 1, math.inf)),
        x=float(longest(X).max()),
        W_qk=float(W_qk.abs().sum()),
        lipschitz=lipschitz,
    )


@validated
def theorem_value(B_x: float, C: float, d: int, m: int) -> float:
    r"""What stands in the brackets of Theorem 4.1; negative for small m.

    .. math:: a \Bigl( 1 + \ln \frac{B_x}{a} \Bigr) + B_x \rho, \qquad
        a = 2 B_x^2 \sqrt{C/m}, \quad \rho = \sqrt{\ln(2d)/m}

    Args:
        B_x: Bound on the tokens' l2 norms, positive.
        C: The cover constant of the matrices, positive.
        d: Width of tokens, at least 1.
        m: Sample size, at least 1.

    Source: Trauger and Tewari (2024), Theorem 4.1.
    """
    rate, scale = _rate_and_scale(B_x, C, d, m, SOFTMAX_PRINTED)
    return scale * (1 + math.log(B_x / scale)) + B_x * rate


@validated
def dudley_value(B_x: float, C: float, d: int, m: int, constant: float = SOFTMAX_PRINTED) -> float:
    r"""Least value of Dudley's bound for the coordinates of the softmax average.

    .. math:: \min_{0 < \delta \le B_x} \Bigl( \delta + (B_x - \delta) \rho
        + a \ln \frac{B_x}\delta \Bigr), \qquad a = c B_x^2 \sqrt{C/m}

    It is attained at :math:`\delta = a / (1 - \rho)` if that is at most :math:`B_x`, else at
    :math:`B_x`, where the value is :math:`B_x`.

    Args:
        B_x: As for :func:`theorem_value`.
        C: The same.
        d: The same.
        m: The same.
        constant: The c of softmax: 2 as printed, 1 is enough.

    Returns:
        In the unit of B_x; above 0 and at most B_x.

    Source: Trauger and Tewari (2024), Appendix C, without the limit B_x on delta.
    """
    rate, scale = _rate_and_scale(B_x, C, d, m, constant)
    if scale >= B_x * (1 - rate):
        return B_x
    return scale * (1 + math.log(B_x * (1 - rate) / scale)) + B_x * rate


@validated
def length_free_bound(
    norms: Norms,
    d: int,
    m: int,
    constant: float = CONSTANT,
    softmax: float = SOFTMAX_PRINTED,
) -> float:
    r"""Bound on the Rademacher complexity of one layer that does not contain T.

    .. math:: \mathrm{constant} \cdot B \cdot \mathrm{value}, \qquad
        C = B_x^2 \|W_{QK}\|_{1,1}^2 \ln(2d^2 + 1)

    The value is :func:`dudley_value`, B is ``norms.product``.

    Args:
        norms: Bounds on the weights and tokens.
        d: Width of tokens, at least 1.
        m: Sample size, at least 1.
        constant: :data:`CONSTANT` makes it a true bound; 1 gives what stands inside the O.
        softmax: 2 as printed; 1 is enough.

    Returns:
        In the unit of the output. It says something only below ``norms.largest``.

    Source: Trauger and Tewari (2024), Corollary 4.1.1.
    """
    require_scale(constant=constant)
    C = linear_maps.bound_l1_entries(d, d, norms.W_qk, norms.x, 1.0)
    return constant * norms.product * dudley_value(norms.x, C, d, m, softmax)


@validated
def length_bound(
    norms: Norms,
    d: int,
    T: int,
    m: int,
    constant: float = CONSTANT,
    softmax: float = SOFTMAX_PRINTED,
) -> float:
    r"""The same complexity by covers that count all mT tokens, of order :math:`\sqrt{\log(mT)}`.

    .. math:: \mathrm{constant} \cdot B_w B_{W_c} \sqrt{C/m}\, (1 + \log(A \sqrt{m/C})), \qquad
        C = (L B_x)^2 \bigl(B_{W_v}^{2/3} + (c B_{QK} B_{W_v} B_x^2)^{2/3}\bigr)^3 \log(mT)

    with :math:`A = L B_{W_v} B_x`. A column of :math:`W_v` is no longer than its l1 norm, and the
    rows of :math:`W_{QK}` together no longer than :math:`\|W_{QK}\|_{1,1}`, so both classes lie in
    those of the cover. Its own constant, left open in print, is taken as 1: this favours it.

    Args:
        norms: Bounds on the weights and tokens.
        d: Width of tokens; does not enter, except that it must be at least 1.
        T: Tokens of each input, at least 1; mT at least 2.
        m: Sample size, at least 1.
        constant: As for :func:`length_free_bound`.
        softmax: The c of softmax.

    Source: Edelman et al. (2022), Corollaries 4.4 and A.3, one value for each head.
    """
    require_positive(d=d, T=T, m=m)
    if m * T < 2:
        raise ValueError(f"m T must be at least 2, got {m * T}")
    require_scale(constant=constant)
    head = HeadNorms(V=norms.W_v, V_columns=norms.W_v, QK_columns=norms.W_qk)
    C = heads_bound(1, [head], norms.x, m * T, 1.0, norms.lipschitz, softmax)
    top = norms.lipschitz * norms.W_v * norms.x
    return constant * norms.w * norms.W_c * dudley_power(C, m, top)


@validated
def least_samples(
    norms: Norms,
    d: int,
    target: float,
    constant: float = CONSTANT,
    softmax: float = SOFTMAX_PRINTED,
) -> int:
    """Fewest examples from which :func:`length_free_bound` meets a target.

    Args:
        norms: Bounds on the weights and tokens.
        d: At least 1.
        target: Positive, in the unit of the output.
        constant: As for :func:`length_free_bound`.
        softmax: The c of softmax.

    Raises:
        ValueError: more than 10^60 examples.

    Beyond 2**53 the bound tells numbers apart to 16 digits only.
    """
    require_scale(target=target)
    return least_integer(lambda m: length_free_bound(norms, d, m, constant, softmax) <= target)


def outputs(
    X: Tensor, query: Tensor, weights: tuple[Tensor, Tensor, Tensor, Tensor], activation: Activation
) -> Tensor:
    """The layer's scalar output for each input.

    Args:
        X: Tokens, shape ``(*batch, T, d)``.
        query: The token that is read, ``(*batch, d)``.
        weights: w, W_c, W_v and W_qk, with axes that broadcast in front.
        activation: Acts on each number.

    Returns:
        Shape ``(*batch,)``.

    Source: Trauger and Tewari (2024), Section 4.1.
    """
    w, W_c, W_v, W_qk = weights
    hidden = activation(mix(X, query, W_v, W_qk))  # (*batch, k)
    return (hidden[..., None, :] @ W_c @ w[..., None])[..., 0, 0]


@validated
def chain(
    averages: Tensor, columns: Tensor, B_v: float, activation: Activation, lipschitz: float
) -> tuple[float, ...]:
    r"""Complexities along the proof, over all signs; each is at most the next.

    Those of :math:`\pm \sigma(v^\top u)`; of :math:`\sigma(v^\top u)` and 0, twice; of
    :math:`v^\top u` and 0, 2L times; of :math:`\pm u_j`, :math:`2 L B_v` times.

    Args:
        averages: The :math:`u = X^\top \mathrm{softmax}(s)` of each matrix :math:`W_{QK}` of a
            finite class on each input, shape ``(M, m, d)``, floating, m from 1 to 20.
        columns: The columns v that :math:`W_v` may have, shape ``(F, d)``.
        B_v: Bound on their l1 norms; not checked, so that longer ones can be tried.
        activation: Acts on each number, keeps 0.
        lipschitz: Its constant L; not checked either.

    Source: Trauger and Tewari (2024), Appendix C.
    """
    require_floating(averages=averages, columns=columns)
    require_scale(B_v=B_v, lipschitz=lipschitz)
    if averages.ndim != 3 or columns.ndim != 2 or averages.shape[-1] != columns.shape[-1]:
        raise ValueError(
            f"expected averages (M, m, d) and columns (F, d), got {tuple(averages.shape)} and "
            f"{tuple(columns.shape)}"
        )
    linear, coordinates = (
        values.mT.reshape(-1, values.shape[1]) for values in (averages @ columns.T, averages)
    )
    curved, zero = activation(linear), linear.new_zeros(1, linear.shape[-1])
    classes = ((curved, -curved), (curved, zero), (linear, zero), (coordinates, -coordinates))
    factors = (1.0, 2.0, 2 * lipschitz, 2 * lipschitz * B_v)
    found = (float(rademacher(torch.cat(members))) for members in classes)
    return tuple(f * value for f, value in zip(factors, found, strict=True))


@validated
def searched_complexity(
    shape: tuple[int, int, int],
    B_qk: float,
    norm: Callable[[Tensor], Tensor],
    generator: torch.Generator,
    *,
    order: float = 2.0,
    normalise: Activation | None = None,
    draws: int = 8,
    steps: int = 30,
) -> float:
    r"""A large Rademacher complexity of :math:`\pm u_j`, by gradient ascent on sample and weights.

    The tokens and one matrix for each of some sign patterns are moved together, with new patterns
    three times. Then the sample stays, four times as many patterns are new, and the matrices alone
    are moved. What comes back is the complexity of the finite class of these last matrices, over
    patterns that had no part in the search, and so at most that of the whole class on that sample.
    This is done from random tokens and from equal ones, and with equal ones that stay.

    Args:
        shape: Examples m, tokens T of each, width d; the first token is the query.
        B_qk: Norm of the matrices, positive.
        norm: That norm, ``(draws, d, d)`` to ``(draws,)``.
        generator: Source of randomness.
        order: Tokens have at most 1 in the norm of this order.
        normalise: What turns scores into weights; softmax if None.
        draws: Sign patterns at a time.
        steps: Steps of ascent with each set of patterns.

    Returns:
        The largest, with the factor 1/m: over all signs for m up to 11, else a mean over 2048 fresh
        patterns, the same for every start; standard error at most :math:`1/\sqrt{2048 m}`.

    Cost: 18 ``steps`` passes through ``draws`` m T d numbers, and back.
    """
    m, T, d = shape
    require_positive(m=m, T=T, d=d, draws=draws, steps=steps)
    require_scale(B_qk=B_qk)

    def normal(*size: int) -> Tensor:
        return torch.randn(size, generator=generator, dtype=torch.float64)

    def averages(X: Tensor, W: Tensor) -> Tensor:
        X = X / torch.linalg.vector_norm(X, order, dim=-1, keepdim=True).clamp(min=1)
        keys = X[:, :1] @ (W * (B_qk / norm(W))[:, None, None]).transpose(0, 1).reshape(d, -1)
        found = keys.reshape(m, len(W), d) @ X.mT  # (m, matrices, T)
        weights = found.softmax(-1) if normalise is None else normalise(found)
        return weights @ X  # (m, matrices, d)

    def climbed(X: Tensor, rounds: int) -> float:
        for left in range(rounds, -1, -1):
            count = draws if left else 4 * draws
            W, signs = normal(count, d, d).requires_grad_(), normal(count, m).sign()
            X = X.detach().requires_grad_(left > 0)
            optimizer = torch.optim.Adam([W, X] if left else [W], lr=0.2)
            for _ in range(steps):
                optimizer.zero_grad()
                found = torch.einsum("km,mkd->kd", signs, averages(X, W)).abs().amax(-1)
                (-found.sum()).backward()
                optimizer.step()
        coordinates = averages(X, W).detach().flatten(1)  # (m, matrices * d)
        return float((fresh @ coordinates).abs().amax(-1).mean()) / m

    if 2**m <= FRESH:
        fresh = 1 - 2 * (torch.arange(2**m)[:, None] >> torch.arange(m) & 1).double()
    else:
        fresh = normal(FRESH, m).sign()
    equal = torch.eye(d, dtype=torch.float64)[0].expand(m, T, d)
    starts = ((equal, 0), (equal + 0.1 * normal(m, T, d), 3), (normal(m, T, d), 3))
    return max(climbed(X, rounds) for X, rounds in starts)


def _rate_and_scale(B_x: float, C: float, d: int, m: int, constant: float) -> tuple[float, float]:
    require_positive(d=d, m=m)
    require_scale(B_x=B_x, C=C, constant=constant)
    return math.sqrt(math.log(2 * d) / m), constant * B_x**2 * math.sqrt(C / m)
