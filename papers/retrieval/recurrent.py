r"""A bidirectional recurrent net that solves the simple retrieval task, with weights by hand.

A token is :math:`z_i = (x_i, \omega_i, \omega_{t_1}, \dots, \omega_{t_q})` as in
:mod:`papers.retrieval.task`. Block l of the forward state before token i is to be :math:`x_{t_l}`
if :math:`t_l < i` and 0 if not. So the net must add :math:`x_i` to block l at the one token
:math:`i = t_l`, and nothing elsewhere. Inner products and products are made of ReLU units only:
:math:`4uv = (u + v)^2 - (u - v)^2`, with piecewise linear squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_positive, require_scale, validated

LOW, HIGH = 0.7, 0.9
"""Inner products from which the gate begins to open, and from which it is open."""

Step = Callable[[Tensor, Tensor], Tensor]


@validated
def chord(u: Tensor, step: float, knots: int) -> Tensor:
    r"""Piecewise linear square from above: equal to :math:`u^2` at multiples of ``step``.

    .. math:: h \sigma(\pm u) + 2h \sum_{k=1}^{K-1} \sigma(\pm u - kh), \qquad
        0 \le \mathrm{chord}(u) - u^2 \le h^2/4 \quad (|u| \le Kh)

    Args:
        u: Any shape, floating.
        step: h, positive.
        knots: K, at least 1; linear from K h on.

    Returns:
        Shape of ``u``.
    """
    _check_grid(step, knots)
    k = (u.abs() / step).floor().clamp(max=knots - 1)
    return (2 * k + 1) * step * u.abs() - k * (k + 1) * step**2


@validated
def tangent(u: Tensor, step: float, knots: int) -> Tensor:
    r"""Piecewise linear square from below: tangent to :math:`u^2` at multiples of ``step``.

    .. math:: 2h \sum_{k=0}^{K-1} \sigma(\pm u - (k + \tfrac12) h), \qquad
        0 \le u^2 - \mathrm{tangent}(u) \le h^2/4 \quad (|u| \le (K + \tfrac12) h)

    Args and Returns as of :func:`chord`.
    """
    _check_grid(step, knots)
    k = (u.abs() / step + 0.5).floor().clamp(max=knots)
    return 2 * k * step * u.abs() - k**2 * step**2


@validated
def product(u: Tensor, v: Tensor, step: float, knots: int) -> Tensor:
    r"""A product made of two piecewise linear squares, never too small.

    .. math:: 0 \le \tfrac14 \bigl[\mathrm{chord}(u + v) - \mathrm{tangent}(u - v)\bigr] - uv
        \le h^2/8 \quad (|u \pm v| \le Kh)

    Its error does not vanish where v = 0, as that of an approximation need not.

    Source: Mousavi-Hosseini et al. (2025), Lemma 22, with this net in place of theirs.
    """
    return (chord(u + v, step, knots) - tangent(u - v, step, knots)) / 4


@validated
@dataclass(frozen=True)
class ClippedNet:
    r"""A ReLU net for the update of the state, exact for encodings far enough from each other.

    1. Squares of :math:`\omega_{ik} \pm \omega_{t_l k}` with step :math:`1/\sqrt{d_e}`: inner
       products, too large by at most 1/8.
    2. Gates, 0 up to an inner product of :data:`LOW` and 1 from :data:`HIGH` on.
    3. :math:`\sigma(x - r(1 - g)) - \sigma(-x - r(1 - g))`, which is :math:`x g` for g in {0, 1}.

    Widths: ``2 d + 4 q d_e K`` with K knots, ``2 d + 2 q``, ``2 q d``; squares are evaluated by
    knots in place of units.

    Attributes:
        d: Dimensions of the data.
        d_e: Dimensions of an encoding.
        q: Pointers.
        reach: r, largest size of a coordinate of the data, positive.
        largest: Largest size of a coordinate of an encoding, in (0, 1].

    Source: ours, in place of the net of Mousavi-Hosseini et al. (2025), Proposition 26.
    """

    d: int
    d_e: int
    q: int = 1
    reach: float = 5.0
    largest: float = 1.0

    def __post_init__(self) -> None:
        require_positive(d=self.d, d_e=self.d_e, q=self.q)
        require_scale(reach=self.reach)
        if not 0 < self.largest <= 1:
            raise ValueError(f"largest must lie in (0, 1], got {self.largest}")

    @property
    def step(self) -> float:
        """Step of the squares."""
        return 1 / math.sqrt(self.d_e)

    @property
    def knots(self) -> int:
        """Their number on each side of 0."""
        return max(1, math.ceil(2 * self.largest / self.step * (1 - 1e-12)))

    def __call__(self, tokens: Tensor) -> Tensor:
        """Updates of the state by tokens ``(*batch, d + (1 + q) d_e)``: ``(*batch, q, d)``."""
        x, position, pointers = split(tokens, self.d, self.d_e, self.q)
        inner = product(position.unsqueeze(-2), pointers, self.step, self.knots).sum(-1)
        gate = ((inner - LOW).relu() - (inner - HIGH).relu()) / (HIGH - LOW)
        closed = self.reach * (1 - gate.unsqueeze(-1))
        return (x.unsqueeze(-2) - closed).relu() - (-x.unsqueeze(-2) - closed).relu()


@validated
def ideal(tokens: Tensor, d: int, d_e: int, q: int) -> Tensor:
    r"""The update itself, :math:`x_i\, \sigma(2 \langle \omega_i, \omega_{t_l} \rangle - 1)`.

    Where encodings have length 1 and inner products of at most 1/2 this is :math:`x_i` if
    :math:`t_l = i` and 0 if not.

    Args:
        tokens: Shape ``(*batch, d + (1 + q) d_e)``.
        d: Dimensions of the data.
        d_e: Dimensions of an encoding.
        q: Pointers.

    Returns:
        Shape ``(*batch, q, d)``.

    Source: Mousavi-Hosseini et al. (2025), Appendix C.
    """
    x, position, pointers = split(tokens, d, d_e, q)
    gate = (2 * (position.unsqueeze(-2) * pointers).sum(-1) - 1).relu()
    return x.unsqueeze(-2) * gate.unsqueeze(-1)


@validated
def project(h: Tensor, radius: float) -> Tensor:
    """Nearest point of the ball of this radius about 0, for vectors on the last axis."""
    if not radius >= 0:
        raise ValueError(f"radius must be at least 0, got {radius}")
    length = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
    return torch.where(length > radius, h * (radius / length.clamp(min=1e-300)), h)


@validated
def states(step: Step, tokens: Tensor, width: int, radius: float = math.inf) -> Tensor:
    r"""States before each token, :math:`h_{i+1} = \Pi_r(h_i + f(h_i, z_i))`, :math:`h_1 = 0`.

    Args:
        step: f, from a state ``(*batch, width)`` and a token ``(*batch, inputs)`` to what is added,
            ``(*batch, width)``.
        tokens: Shape ``(*batch, N, inputs)``, N at least 1.
        width: Numbers in a state.
        radius: r; infinite: no projection.

    Returns:
        Shape ``(*batch, N, width)``: entry i has seen the tokens before i, and not token i.

    Source: Mousavi-Hosseini et al. (2025), Section 5.1.
    """
    if tokens.ndim < 2 or not tokens.shape[-2]:
        raise ValueError(f"expected tokens (*batch, N, inputs), N >= 1, got {tuple(tokens.shape)}")
    h = tokens.new_zeros(*tokens.shape[:-2], width)
    seen = [h]
    for z in tokens.unbind(-2)[:-1]:
        h = h + step(h, z)
        h = h if radius == math.inf else project(h, radius)
        seen.append(h)
    return torch.stack(seen, -2)


@validated
def both_states(
    step: Step, tokens: Tensor, width: int, radius: float = math.inf
) -> tuple[Tensor, Tensor]:
    """Forward and backward states at each token; neither has seen the token itself."""
    backward = states(step, tokens.flip(-2), width, radius).flip(-2)
    return states(step, tokens, width, radius), backward


@validated
def retrieve(
    update: Callable[[Tensor], Tensor], tokens: Tensor, radius: float = math.inf
) -> Tensor:
    r"""What the read-out gets: :math:`h^\to_i + h^\gets_i` and the token's own update.

    Args:
        update: From tokens ``(*batch, inputs)`` to ``(*batch, q, d)``, such as an
            :class:`ClippedNet`; it does not look at the state.
        tokens: Shape ``(*batch, N, inputs)``.
        radius: Of the projection.

    Returns:
        Shape ``(*batch, N, q, d)``; in the simple task, ideally the q data pointed at, everywhere.

    Source: Mousavi-Hosseini et al. (2025), Appendix C and Proposition 28.
    """
    added = update(tokens)
    q, d = added.shape[-2:]

    def step(_: Tensor, z: Tensor) -> Tensor:
        return z

    forward, backward = both_states(step, added.flatten(-2), q * d, radius)
    return (forward + backward).unflatten(-1, (q, d)) + added


@validated
def split(tokens: Tensor, d: int, d_e: int, q: int) -> tuple[Tensor, Tensor, Tensor]:
    """Data ``(*batch, d)``, position ``(*batch, d_e)`` and pointers ``(*batch, q, d_e)`` of tokens.

    Raises:
        ValueError: tokens of another length than ``d + (1 + q) d_e``.
    """
    if tokens.shape[-1:] != (d + (1 + q) * d_e,):
        raise ValueError(
            f"tokens of d = {d}, d_e = {d_e}, q = {q} have {d + (1 + q) * d_e} numbers, got shape "
            f"{tuple(tokens.shape)}"
        )
    x, position, pointers = tokens.split((d, d_e, q * d_e), -1)
    return x, position, pointers.unflatten(-1, (q, d_e))


def _check_grid(step: float, knots: int) -> None:
    require_positive(knots=knots)
    require_scale(step=step)
