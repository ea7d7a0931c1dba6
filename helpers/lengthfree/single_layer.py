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
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_choice, require_floating, require_positive, require_scale
from helpers.covers import linear as covers
from helpers.covers.attention import HeadNorms, heads_bound
from helpers.covers.blocks import Activation, longest, mix
from helpers.covers.capacity import DUDLEY, dudley_power, rademacher
from helpers.covers.lipschitz import SOFTMAX_PRINTED
from helpers.statistics import first

CONSTANT = 2 * DUDLEY
"""What the O of Theorem 4.1 may hide: 2 for dropping a sign, and Dudley's constant."""
LEMMAS = ("3.6", "3.3", "3.4")
FORMS = ("printed", "appendix", "repaired", "exact")


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
        W_c=float(covers.matrix_norm(W_c, 1, math.inf)),
        W_v=float(covers.matrix_norm(W_v, 1, math.inf)),
        x=float(longest(X).max()),
        W_qk=float(W_qk.abs().sum()),
        lipschitz=lipschitz,
    )


def cover_constant(lemma: str, d: int, B_qk: float, B_x: float) -> float:
    r"""The C of the maps :math:`x \mapsto W_{QK} x`, for bounds on columns.

    Args:
        lemma: ``"3.6"`` for :math:`\|W\|_{1,1}`, ``"3.3"`` for :math:`\|W\|_{1,\infty}` and inputs
            of l1 norm at most B_x, ``"3.4"`` for :math:`\|W\|_{2,1}` and the same inputs, which is
            printed without constants and false for columns.
        d: Width of tokens, at least 1.
        B_qk: Bound on the norm, positive.
        B_x: Bound on the inputs, positive.

    Source: Trauger and Tewari (2024), Section 3.
    """
    require_choice("lemma", lemma, LEMMAS)
    require_positive(d=d)
    bounds = (covers.bound_l1_entries, covers.bound_l1_columns, covers.bound_l2_columns)
    return bounds[LEMMAS.index(lemma)](d, d, B_qk, B_x, 1.0)


def corollary_alpha(lemma: str, d: int, B_qk: float, printed: bool = False) -> float:
    r"""The :math:`\alpha` of the corollaries, :math:`2 \sqrt C / B_x`.

    Args:
        lemma: As for :func:`cover_constant`.
        d: At least 1.
        B_qk: Positive.
        printed: As printed; then Lemma 3.6 has the factor :math:`\sqrt 2` in place of 2.

    Source: Trauger and Tewari (2024), Corollaries 4.1.1, D.0.1 and D.0.2.
    """
    factor = math.sqrt(2) if printed and lemma == "3.6" else 2.0
    return factor * math.sqrt(cover_constant(lemma, d, B_qk, 1.0))


def key_cover_log_size(
    d: int, C: float, B_x: float, epsilon: float, constant: float = SOFTMAX_PRINTED
) -> float:
    r"""Log size of a cover of the functions :math:`\pm e_j^\top X^\top \mathrm{softmax}(s)`.

    .. math:: \ln(2d) + \frac{c^2 B_x^4 C}{\epsilon^2}

    An error of :math:`\epsilon / (c B_x^2)` at the query is one of at most :math:`\epsilon` here.

    Args:
        d: At least 1.
        C: The cover constant, positive.
        B_x: Bound on the tokens' l2 norms, positive.
        epsilon: Scale, positive.
        constant: The c of softmax: 2 as printed, 1 is enough.

    Source: Trauger and Tewari (2024), Appendix C.
    """
    require_positive(d=d)
    require_scale(C=C, B_x=B_x, epsilon=epsilon, constant=constant)
    return math.log(2 * d) + (constant * B_x**2 / epsilon) ** 2 * C


def optimal_delta(
    B_x: float, C: float, d: int, m: int, exact: bool = False, constant: float = SOFTMAX_PRINTED
) -> float:
    r"""Where Dudley's integral over :func:`key_cover_log_size` is best cut off, at most B_x.

    .. math:: \frac{c B_x^2 \sqrt C}{\sqrt m - \sqrt{\ln 2d}} \quad\text{(split)}, \qquad
        \frac{c B_x^2 \sqrt C}{\sqrt{m - \ln 2d}} \quad\text{(exact)}

    Args:
        B_x: Positive.
        C: Positive.
        d: At least 1.
        m: Sample size, at least 1.
        exact: Whether the integrand is kept, or :math:`\sqrt{a + b} \le \sqrt a + \sqrt b` used.
        constant: The c of softmax.

    Source: Trauger and Tewari (2024), Appendix C, for the split one, without the limit B_x.
    """
    rate, scale = _rate_and_scale(B_x, C, d, m, constant)
    if rate >= 1:
        return B_x
    return min(B_x, scale / (math.sqrt(1 - rate**2) if exact else 1 - rate))


def dudley_value(
    B_x: float,
    C: float,
    d: int,
    m: int,
    form: str = "repaired",
    constant: float = SOFTMAX_PRINTED,
) -> float:
    r"""Dudley's infimum for the functions of :func:`key_cover_log_size`, in several forms.

    With :math:`\rho = \sqrt{\ln(2d)/m}` and :math:`a = c B_x^2 \sqrt{C/m}`:

    * ``"printed"``: :math:`a (1 + \ln(B_x/a)) + B_x \rho`, the theorem.
    * ``"appendix"``: :math:`a (1 + \ln(B_x (1 - \rho)/a)) + B_x \rho`, needs :math:`\rho < 1`.
    * ``"repaired"``: the same if :math:`a \le B_x (1 - \rho)`, else B_x.
    * ``"exact"``: the infimum of :math:`\delta + \int_\delta^{B_x}
      \sqrt{\rho^2 + a^2/\epsilon^2}\, d\epsilon` in closed form.

    Args:
        B_x: Positive.
        C: Positive.
        d: At least 1.
        m: Sample size, at least 1.
        form: One of :data:`FORMS`.
        constant: The c of softmax.

    Returns:
        In the unit of B_x. The last two lie between 0 and B_x; the first two can be negative.

    Raises:
        ValueError: a number out of range; the form of the appendix with m at most ln(2d).

    Source: Trauger and Tewari (2024), Theorem 4.1 and Appendix C; the last two are ours.
    """
    require_choice("form", form, FORMS)
    rate, scale = _rate_and_scale(B_x, C, d, m, constant)
    if form == "printed":
        return scale * (1 + math.log(B_x / scale)) + B_x * rate
    if form == "appendix" and rate >= 1:
        raise ValueError(f"the appendix needs m > ln(2d) = {math.log(2 * d):.4g}, got {m}")
    if form == "appendix" or (form == "repaired" and scale < B_x * (1 - rate)):
        return scale * (1 + math.log(B_x * (1 - rate) / scale)) + B_x * rate
    if form == "exact" and rate**2 + (scale / B_x) ** 2 < 1:
        delta = optimal_delta(B_x, C, d, m, True, constant)
        return delta + _antiderivative(B_x, rate, scale) - _antiderivative(delta, rate, scale)
    return B_x


def enough_samples(
    B_x: float, C: float, d: int, exact: bool = False, constant: float = SOFTMAX_PRINTED
) -> float:
    r"""From which m on the infimum is below B_x.

    .. math:: \bigl(c B_x \sqrt C + \sqrt{\ln 2d}\bigr)^2 \quad\text{(split)}, \qquad
        c^2 B_x^2 C + \ln 2d \quad\text{(exact)}

    Source: the chapter on one layer; the paper asks for :math:`m > \ln 2d`.
    """
    require_positive(d=d)
    require_scale(B_x=B_x, C=C, constant=constant)
    width, noise = constant * B_x * math.sqrt(C), math.sqrt(math.log(2 * d))
    return width**2 + noise**2 if exact else (width + noise) ** 2


def length_free_bound(
    norms: Norms,
    d: int,
    m: int,
    form: str = "repaired",
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
        form: As for :func:`dudley_value`.
        constant: :data:`CONSTANT` makes it a true bound; 1 gives what stands inside the O.
        softmax: 2 as printed; 1 is enough.

    Returns:
        In the unit of the output. It says something only below ``norms.largest``.

    Source: Trauger and Tewari (2024), Corollary 4.1.1.
    """
    require_scale(constant=constant)
    C = cover_constant("3.6", d, norms.W_qk, norms.x)
    return constant * norms.product * dudley_value(norms.x, C, d, m, form, softmax)


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


def least_samples(
    norms: Norms,
    d: int,
    target: float,
    form: str = "repaired",
    constant: float = CONSTANT,
    softmax: float = SOFTMAX_PRINTED,
) -> int:
    """Fewest examples from which :func:`length_free_bound` meets a target.

    Args:
        norms: Bounds on the weights and tokens.
        d: At least 1.
        target: Positive, in the unit of the output.
        form: ``"repaired"`` or ``"exact"``, which do not increase with m.
        constant: As for :func:`length_free_bound`.
        softmax: The c of softmax.

    Raises:
        ValueError: a form that can be negative; more than 10^60 examples.

    Beyond 2**53 the bound tells numbers apart to 16 digits only.
    """
    require_choice("form", form, FORMS[2:])
    require_scale(target=target)
    return first(lambda m: length_free_bound(norms, d, m, form, constant, softmax) <= target)


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


@dataclass(frozen=True)
class Chain:
    r"""Complexities along the proof, each at most the next; all with the factor 1/m.

    Attributes:
        signed: Of :math:`\pm \sigma(v^\top u)`.
        unsigned: Twice that of :math:`\sigma(v^\top u)` and 0.
        contracted: Twice L times that of :math:`v^\top u` and 0.
        vertices: Twice :math:`L B_v` times that of :math:`\pm e_j^\top u`, the paper's E.
    """

    signed: float
    unsigned: float
    contracted: float
    vertices: float


def chain(
    averages: Tensor, columns: Tensor, B_v: float, activation: Activation, lipschitz: float
) -> Chain:
    r"""Each link of the proof between the read-out and the cover, over all sign patterns.

    Args:
        averages: The :math:`u = X^\top \mathrm{softmax}(s)` of each matrix :math:`W_{QK}` of a
            finite class on each input, shape ``(M, m, d)``, floating, m from 1 to 20.
        columns: The columns v that :math:`W_v` may have, shape ``(F, d)``.
        B_v: Bound on their l1 norms; not checked, so that longer ones can be tried.
        activation: Acts on each number, keeps 0.
        lipschitz: Its constant; not checked either.

    Source: Trauger and Tewari (2024), Appendix C.
    """
    require_floating(averages=averages, columns=columns)
    require_scale(B_v=B_v, lipschitz=lipschitz)
    if averages.ndim != 3 or columns.ndim != 2 or averages.shape[-1] != columns.shape[-1]:
        raise ValueError(
            f"expected averages (M, m, d) and columns (F, d), got {tuple(averages.shape)} and "
            f"{tuple(columns.shape)}"
        )
    linear = _as_class(averages @ columns.T)
    curved = activation(linear)
    coordinates = _as_class(averages)
    zero = linear.new_zeros(1, linear.shape[-1])
    found = [torch.cat((curved, -curved)), torch.cat((curved, zero)), torch.cat((linear, zero))]
    found.append(torch.cat((coordinates, -coordinates)))
    values = [float(rademacher(members)) for members in found]
    factors = (1.0, 2.0, 2 * lipschitz, 2 * lipschitz * B_v)
    return Chain(*(factor * value for factor, value in zip(factors, values, strict=True)))


def _as_class(values: Tensor) -> Tensor:
    """Values (M, m, F) as a class of M F functions on m inputs."""
    return values.mT.reshape(-1, values.shape[1])


def _rate_and_scale(B_x: float, C: float, d: int, m: int, constant: float) -> tuple[float, float]:
    require_positive(d=d, m=m)
    require_scale(B_x=B_x, C=C, constant=constant)
    return math.sqrt(math.log(2 * d) / m), constant * B_x**2 * math.sqrt(C / m)


def _antiderivative(x: float, rate: float, scale: float) -> float:
    """Of sqrt(rate^2 + scale^2 / x^2)."""
    root = math.hypot(rate * x, scale)
    return root - scale * math.asinh(scale / (rate * x))
