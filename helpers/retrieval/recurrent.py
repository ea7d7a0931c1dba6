r"""A bidirectional recurrent net that solves the simple retrieval task, with weights by hand.

A token is :math:`z_i = (x_i, \omega_i, \omega_{t_1}, \dots, \omega_{t_q})` as in
:mod:`helpers.retrieval.task`. Block l of the forward state before token i is to be :math:`x_{t_l}`
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

from helpers.checks import require_amount, require_choice, require_positive, require_scale

FORMS = ("plain", "threshold", "clipped")
LOW, HIGH = 0.7, 0.9
"""Inner products from which the clipped gate begins to open, and from which it is open."""

Step = Callable[[Tensor, Tensor], Tensor]
Layers = list[tuple[Tensor, Tensor]]


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


def tangent(u: Tensor, step: float, knots: int) -> Tensor:
    r"""Piecewise linear square from below: tangent to :math:`u^2` at multiples of ``step``.

    .. math:: 2h \sum_{k=0}^{K-1} \sigma(\pm u - (k + \tfrac12) h), \qquad
        0 \le u^2 - \mathrm{tangent}(u) \le h^2/4 \quad (|u| \le (K + \tfrac12) h)

    Args and Returns as of :func:`chord`.
    """
    _check_grid(step, knots)
    k = (u.abs() / step + 0.5).floor().clamp(max=knots)
    return 2 * k * step * u.abs() - k**2 * step**2


def product(u: Tensor, v: Tensor, step: float, knots: int) -> Tensor:
    r"""A product made of two piecewise linear squares, never too small.

    .. math:: 0 \le \tfrac14 \bigl[\mathrm{chord}(u + v) - \mathrm{tangent}(u - v)\bigr] - uv
        \le h^2/8 \quad (|u \pm v| \le Kh)

    Its error does not vanish where v = 0, as that of an approximation need not.

    Source: Mousavi-Hosseini et al. (2025), Lemmas 22 and 24, with this net in place of theirs.
    """
    return (chord(u + v, step, knots) - tangent(u - v, step, knots)) / 4


@dataclass(frozen=True)
class UpdateNet:
    """A ReLU net for the update of the state; made by :func:`plan`.

    Attributes:
        form: One of :data:`FORMS`. ``"threshold"``: four layers, the last a soft threshold, as in
            the paper; ``"plain"``: the same without the last; ``"clipped"``: three layers, a gate
            that is exactly 0 or 1.
        d: Dimensions of the data.
        d_e: Dimensions of an encoding.
        q: Pointers.
        reach: Largest size of a coordinate of the data.
        gate_step: Step of the squares in the inner products.
        gate_knots: Their number.
        product_step: Step of the squares in the products; not used by ``"clipped"``.
        product_knots: Their number.
        cut: Soft threshold; 0 without one.
    """

    form: str
    d: int
    d_e: int
    q: int
    reach: float
    gate_step: float
    gate_knots: int
    product_step: float = 1.0
    product_knots: int = 1
    cut: float = 0.0

    @property
    def inputs(self) -> int:
        """Numbers in a token."""
        return self.d + (1 + self.q) * self.d_e

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each layer, the last without."""
        first = 2 * self.d + 4 * self.q * self.d_e * self.gate_knots
        blocks = 2 * self.q * self.d
        if self.form == "clipped":
            return first, 2 * self.d + 2 * self.q, blocks
        found = first, 2 * self.d + self.q, 2 * blocks * self.product_knots
        return (*found, blocks) if self.form == "threshold" else found

    def __call__(self, tokens: Tensor) -> Tensor:
        """Updates of the state by tokens ``(*batch, inputs)``: ``(*batch, q, d)``.

        The net of :func:`layers`, evaluated by knots in place of units.
        """
        x, position, pointers = _split(tokens, self.d, self.d_e, self.q)
        inner = product(position.unsqueeze(-2), pointers, self.gate_step, self.gate_knots).sum(-1)
        x = x.unsqueeze(-2)
        if self.form == "clipped":
            gate = ((inner - LOW).relu() - (inner - HIGH).relu()) / (HIGH - LOW)
            closed = self.reach * (1 - gate.unsqueeze(-1))
            return (x - closed).relu() - (-x - closed).relu()
        gate = (2 * inner - 1).relu().unsqueeze(-1)
        z = product(x, gate, self.product_step, self.product_knots)
        return (z - self.cut).relu() - (-z - self.cut).relu()


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
    x, position, pointers = _split(tokens, d, d_e, q)
    gate = (2 * (position.unsqueeze(-2) * pointers).sum(-1) - 1).relu()
    return x.unsqueeze(-2) * gate.unsqueeze(-1)


def plan(
    form: str,
    d: int,
    d_e: int,
    q: int = 1,
    *,
    error: float = 1e-2,
    reach: float = 5.0,
    largest: float = 1.0,
) -> UpdateNet:
    r"""Choose steps and knots so that the net meets Proposition 26.

    With :math:`\delta = d_e h_1^2 / 8` the inner products are within :math:`[0, \delta]` above the
    true ones, and before the last layer the update is within
    :math:`\eta = 2 \delta r + h_2^2 / 8` of the ideal one. Both terms are set to a quarter of the
    error, and the threshold to :math:`\eta`: then the update is within :math:`2 \eta` on target and
    exactly 0 off target. The clipped form has :math:`\delta = 1/8` and no error.

    Args:
        form: One of :data:`FORMS`.
        d: Dimensions of the data, at least 1.
        d_e: Dimensions of an encoding, at least 1.
        q: Pointers, at least 1.
        error: Largest error of a coordinate on target, positive; not used by ``"clipped"``.
        reach: r, largest size of a coordinate of the data, positive.
        largest: Largest size of a coordinate of an encoding, in (0, 1].

    Raises:
        ValueError: an unknown form or a number out of its range.

    Source: Mousavi-Hosseini et al. (2025), proof of Proposition 26.
    """
    require_choice("form", form, FORMS)
    require_positive(d=d, d_e=d_e, q=q)
    require_scale(error=error, reach=reach)
    if not 0 < largest <= 1:
        raise ValueError(f"largest must lie in (0, 1], got {largest}")
    if form == "clipped":
        step = 1 / math.sqrt(d_e)
        return UpdateNet(form, d, d_e, q, reach, step, _knots(2 * largest, step))
    gate_step, step = math.sqrt(error / (reach * d_e)), math.sqrt(2 * error)
    top = reach + 1 + error / (4 * reach)
    cut = error / 2 * (1 + 1e-9) if form == "threshold" else 0.0  # 1e-9: rounding
    return UpdateNet(
        *(form, d, d_e, q, reach, gate_step, _knots(2 * largest, gate_step)),
        *(step, _knots(top, step), cut),
    )


def layers(net: UpdateNet) -> Layers:
    """The net's weights, layer by layer; ReLU stands between them and not after the last.

    Returns:
        Pairs of a matrix ``(out, in)`` and a bias ``(out,)``, float64. The first takes a token;
        the last gives ``q d`` numbers, block after block. Small weights of ReLU units and large
        ones behind them are not balanced.

    Cost: ``(2 d + 4 q d_e K) (d + (1 + q) d_e)`` numbers in the first layer, K knots.
    """
    d, d_e, q = net.d, net.d_e, net.q
    eye_x, eye_q = torch.eye(d).double(), torch.eye(q).double()
    along, squares = _square_units(net.gate_step, net.gate_knots)
    W1 = torch.zeros(q, d_e, along.shape[0], net.inputs, dtype=torch.float64)
    for k in range(d_e):
        W1[:, k, :, d + k] = along[:, 0]
        for h in range(q):
            W1[h, k, :, d + (1 + h) * d_e + k] = along[:, 1]
    W1 = torch.cat((_signed(torch.eye(d, net.inputs).double()), W1.flatten(0, 2)))
    b1 = torch.cat((torch.zeros(2 * d).double(), along[:, 2].repeat(q * d_e)))
    back = _unsigned(eye_x)  # what σ(x), σ(-x) make x of again
    inner = torch.block_diag(back, torch.kron(eye_q, squares.repeat(d_e)[None]))
    if net.form == "clipped":
        W2, b2 = _clipped_gates(inner, d, q)
        open_gate = torch.tensor([[1.0, -1.0]], dtype=torch.float64) / (HIGH - LOW)
        gate = torch.block_diag(back, torch.kron(eye_q, open_gate))
        x_rows, g_rows = gate[:d].repeat(q, 1), gate[d:].repeat_interleave(d, 0)
        W3 = torch.cat((x_rows + net.reach * g_rows, -x_rows + net.reach * g_rows))
        return [
            (W1, b1),
            (W2, b2),
            (W3, W3.new_full((2 * q * d,), -net.reach)),
            (_unsigned(torch.eye(q * d).double()), torch.zeros(q * d).double()),
        ]
    W2 = torch.cat((_signed(inner[:d]), 2 * inner[d:]))
    b2 = torch.cat((torch.zeros(2 * d), -torch.ones(q))).double()
    gate = torch.block_diag(back, eye_q)
    x_rows, g_rows = gate[:d].repeat(q, 1), gate[d:].repeat_interleave(d, 0)
    along, squares = _square_units(net.product_step, net.product_knots)
    W3 = along[:, :1] * x_rows[:, None] + along[:, 1:2] * g_rows[:, None]  # (q d, units, in)
    found = [(W1, b1), (W2, b2), (W3.flatten(0, 1), along[:, 2].repeat(q * d))]
    out = torch.kron(torch.eye(q * d).double(), squares[None])
    if net.form == "threshold":
        found.append((_signed(out), torch.full((2 * q * d,), -net.cut, dtype=torch.float64)))
        out = _unsigned(torch.eye(q * d).double())
    return [*found, (out, torch.zeros(q * d).double())]


def run(weights: Layers, tokens: Tensor) -> Tensor:
    """A ReLU net given by its layers, on ``(*batch, in)``: ``(*batch, out)``."""
    first = weights[0][0].shape[1]
    if tokens.shape[-1:] != (first,):
        raise ValueError(f"the net takes {first} numbers, got shape {tuple(tokens.shape)}")
    for W, b in weights[:-1]:
        tokens = (tokens @ W.mT + b).relu()
    W, b = weights[-1]
    return tokens @ W.mT + b


@dataclass(frozen=True)
class Size:
    """How large a net is.

    Attributes:
        width: Units of its widest layer.
        weights: Weights and biases that are not 0.
        squared_norm: Sum of their squares, the layers balanced: every layer scaled so that all
            have the same norm, which leaves a net without biases as it is.
    """

    width: int
    weights: int
    squared_norm: float


def size(weights: Layers) -> Size:
    """Count a net, and take its :attr:`Size.squared_norm` after balancing.

    Scaling layer k by s_k > 0, its bias by the product of the factors up to k, and all factors
    multiplying to 1, does not change a ReLU net. Here the factors make the matrices' norms equal.
    """
    norms = torch.stack([W.norm() for W, _ in weights])
    mean = norms.log().mean().exp()
    scales = (mean / norms).cumprod(0)  # of the biases
    squares = len(weights) * mean**2
    squares = squares + sum(
        (s * b).square().sum() for s, (_, b) in zip(scales, weights, strict=True)
    )
    return Size(
        max(len(b) for _, b in weights[:-1]),
        sum(int(W.count_nonzero() + b.count_nonzero()) for W, b in weights),
        float(squares),
    )


def project(h: Tensor, radius: float) -> Tensor:
    """Nearest point of the ball of this radius about 0, for vectors on the last axis."""
    if not radius >= 0:
        raise ValueError(f"radius must be at least 0, got {radius}")
    length = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
    return torch.where(length > radius, h * (radius / length.clamp(min=1e-300)), h)


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


def both_states(
    step: Step, tokens: Tensor, width: int, radius: float = math.inf
) -> tuple[Tensor, Tensor]:
    """Forward and backward states at each token; neither has seen the token itself."""
    backward = states(step, tokens.flip(-2), width, radius).flip(-2)
    return states(step, tokens, width, radius), backward


def retrieve(
    update: Callable[[Tensor], Tensor], tokens: Tensor, radius: float = math.inf
) -> Tensor:
    r"""What the read-out gets: :math:`h^\to_i + h^\gets_i` and the token's own update.

    Args:
        update: From tokens ``(*batch, inputs)`` to ``(*batch, q, d)``, such as an
            :class:`UpdateNet`; it does not look at the state.
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


def growth(alpha: float, N: int) -> float:
    r"""How much N transitions can enlarge a difference, :math:`(1 + \alpha)^N`.

    Transitions are :math:`h \mapsto \Pi_r(h + f(h, z))` with f :math:`\alpha`-Lipschitz in h.
    At most e for :math:`\alpha \le 1/N`. Source: Mousavi-Hosseini et al. (2025), Lemma 29.
    """
    require_positive(N=N)
    require_amount(alpha=alpha)
    return (1 + alpha) ** N


def _square_units(step: float, knots: int) -> tuple[Tensor, Tensor]:
    """Units of one product: coefficients of u, of v and a bias, ``(4 K, 3)``; and their weights."""
    k = torch.arange(knots, dtype=torch.float64)
    units = []
    for other, kinks in ((1.0, k * step), (-1.0, (k + 0.5) * step)):
        for sign in (1.0, -1.0):
            units.append(torch.stack((0 * k + sign, 0 * k + sign * other, -kinks), -1))
    weights = torch.full((4 * knots,), step / 2, dtype=torch.float64)
    weights[2 * knots :] *= -1
    weights[0] = weights[knots] = step / 4
    return torch.cat(units), weights


def _clipped_gates(inner: Tensor, d: int, q: int) -> tuple[Tensor, Tensor]:
    """Second layer of the clipped form: σ(±x), then both units of each gate."""
    W = torch.cat((_signed(inner[:d]), inner[d:].repeat_interleave(2, 0)))
    b = torch.tensor([0.0] * (2 * d) + [-LOW, -HIGH] * q, dtype=torch.float64)
    return W, b


def _signed(W: Tensor) -> Tensor:
    return torch.cat((W, -W))


def _unsigned(W: Tensor) -> Tensor:
    return torch.cat((W, -W), 1)


def _split(tokens: Tensor, d: int, d_e: int, q: int) -> tuple[Tensor, Tensor, Tensor]:
    if tokens.shape[-1:] != (d + (1 + q) * d_e,):
        raise ValueError(
            f"tokens of d = {d}, d_e = {d_e}, q = {q} have {d + (1 + q) * d_e} numbers, got shape "
            f"{tuple(tokens.shape)}"
        )
    x, position, pointers = tokens.split((d, d_e, q * d_e), -1)
    return x, position, pointers.unflatten(-1, (q, d_e))


def _knots(top: float, step: float) -> int:
    return max(1, math.ceil(top / step * (1 - 1e-12)))


def _check_grid(step: float, knots: int) -> None:
    require_positive(knots=knots)
    require_scale(step=step)
