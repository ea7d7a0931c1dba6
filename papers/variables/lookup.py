r"""ReLU nets that look values up, and whole transformers for any function of s hidden bits.

A net with two hidden layers is constant on a box around each of n points. Behind the heads of
:mod:`papers.variables.selection` it makes a transformer that equals a given s-sparse Boolean
function on every string.

Source: Edelman, Goel, Kakade and Zhang (2022), Lemmas B.5, B.6 and B.8, Proposition B.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_choice, require_positive, require_scale, validated
from helpers.rng import f64
from helpers.weights import Weights
from papers.variables import selection

FORMS = ("printed", "repaired")


@validated
def lookup_net(points: Tensor, values: Tensor, delta: float, *, form: str = "repaired") -> Weights:
    r"""A ReLU net equal to ``values[i]`` wherever :math:`\|x - x_i\|_\infty \le \delta`.

    A coordinate passes a trapezoid :math:`\psi_{ij}`, 1 up to :math:`\delta` from :math:`x_{ij}`
    and 0 from :math:`\delta` and a ramp on; the second layer asks that all coordinates pass:

    .. math::

        h_i = \sum_j \psi_{ij}(x_j) - d, \qquad
        f(x) = \sum_i v_i [ (\kappa h_i + 1)_+ - (\kappa h_i)_+ ]

    Args:
        points: Shape ``(n, d)``, any two at least :math:`2\delta` and a ramp apart somewhere.
        values: Shape ``(n,)``.
        delta: Above 0.
        form: ``"printed"``: ramps of width :math:`\delta` and :math:`\kappa = 1/\delta`, as in the
            proof, which needs :math:`\delta \le 1`. ``"repaired"``: ramps of :math:`2\delta`,
            :math:`\kappa = 1`, and a side of a trapezoid that no point needs stays 1: its two
            units have no weight.

    Returns:
        ``W1`` of shape ``(d + 1, 4 n d)`` and ``W2`` of shape ``(4 n d + 1, 2 n)``, biases in the
        last row, and ``w`` of shape ``(2 n,)``; float64.

    Raises:
        ValueError: shapes that do not fit, or points too close for the boxes to be apart.
    """
    require_choice("form", form, FORMS)
    if points.ndim != 2 or not points.numel() or values.shape != points.shape[:1]:
        raise ValueError(f"expected points (n, d), values (n,): {points.shape}, {values.shape}")
    require_scale(delta=delta)
    points, values = points.double(), values.double()
    if not (points.isfinite().all() and values.isfinite().all()):
        raise ValueError("points and values must be finite")
    n, d = points.shape
    ramp = 1 if form == "printed" else 2
    reach = (2 + ramp) * delta * (1 - 1e-12)
    apart = (points[:, None] - points).abs().amax(-1).fill_diagonal_(torch.inf).min().item()
    if apart < reach:
        raise ValueError(f"points must be at least {reach:.6g} apart, got {apart}")
    kinks = points[..., None] + delta * f64([-1 - ramp, -1, 1, 1 + ramp])
    needed = torch.stack([points - points.amin(0), points.amax(0) - points], -1) >= reach  # sides
    if form == "printed":
        needed = torch.ones_like(needed)
    on = needed.double().repeat_interleave(2, -1) / (ramp * delta)
    W1 = points.new_zeros(d + 1, n, d, 4)
    W1[range(d), :, range(d)] = on.transpose(0, 1)
    W1[d] = -on * kinks
    steep = 1 / delta if form == "printed" else 1.0
    W2 = steep * torch.einsum("ik,h->ihk", f64(torch.eye(n).long()), f64([1, -1, -1, 1]))
    W2 = W2.repeat_interleave(d, 0)
    idle = (~needed[..., 0]).sum(1).double()  # rising sides that stay 1
    thresholds = torch.stack([1 + steep * (idle - d), steep * (idle - d)])  # of both units
    return {
        "W1": W1.reshape(d + 1, 4 * n * d),
        "W2": torch.cat([W2.reshape(4 * n * d, n).repeat(1, 2), thresholds.reshape(1, 2 * n)]),
        "w": torch.cat([values, -values]),
    }


def evaluate(net: Weights, x: Tensor) -> Tensor:
    """The net of :func:`lookup_net` at points ``(*, d)``: ``(*,)``.

    Raises:
        ValueError: points of another dimension.
    """
    if x.shape[-1:] != (net["W1"].shape[0] - 1,):
        raise ValueError(f"points must end in {net['W1'].shape[0] - 1}, got {tuple(x.shape)}")
    for W in (net["W1"], net["W2"]):
        x = (x @ W[:-1] + W[-1]).relu()
    return x @ net["w"]


@dataclass(frozen=True)
class Representation:
    r"""A transformer that equals a sparse Boolean function.

    Attributes:
        kind: Input map, one of ``MAPS`` of :mod:`papers.variables.selection`.
        at: Its vectors.
        heads: As of :func:`papers.variables.selection.forward`.
        net: As of :func:`lookup_net`.
        tolerance: What the heads may be off by: a quarter of the gap that they are made for.
    """

    kind: str
    at: selection.Basis
    heads: Weights
    net: Weights
    tolerance: float

    def features(self, bits: Tensor) -> Tensor:
        """What the heads make of strings ``(*, T)``: ``(*, k)``."""
        return selection.forward(self.heads, self.at, selection.rows(self.kind, self.at, bits))

    def __call__(self, bits: Tensor) -> Tensor:
        """Outputs at strings ``(*, T)``: ``(*,)``, float64."""
        return evaluate(self.net, self.features(bits))


def gap(kind: str, s: int, *, symmetric: bool = False) -> float:
    r"""Least distance of values of :func:`papers.variables.selection.targets` for different bits.

    2 for signs, :math:`2/s` for their mean, :math:`1/s` for both functions of a bag, as printed in
    Lemmas B.2 to B.4.
    """
    require_choice("map", kind, selection.MAPS)
    require_positive(s=s)
    if kind == "bag":
        return 1 / s
    return 2 / s if symmetric else 2.0


def construct(
    values: Tensor,
    chosen: Sequence[int],
    at: selection.Basis,
    kind: str = "positions",
    *,
    form: str = "repaired",
    least: bool = False,
    gamma: float | None = None,
) -> Representation:
    r"""A transformer for an s-sparse Boolean function: Proposition B.1.

    Heads approximate :func:`papers.variables.selection.targets`, and a lookup net of tolerance
    :math:`\delta` makes the function exact. Heads are those of Lemmas B.2 to B.4, accurate to a
    quarter of their own :math:`\gamma \le 1`; the net is that of Lemmas B.5 and B.6 for the
    function's own gap :math:`\gamma`, :func:`gap`.

    Args:
        values: The function by its chosen bits, shape ``(2**s,)``, bit h of an index the bit at
            ``chosen[h]``; or, of a symmetric function, by the number of ones, shape ``(s + 1,)``.
        chosen: I, positions 0 to T - 1.
        at: Vectors; of trained positions only their number T is used.
        kind: Input map.
        form: ``"printed"``: the net of the proof, :math:`\delta = \gamma/8`. ``"repaired"``:
            :math:`\delta = \gamma/4`.
        least: Whether heads with positions are only as accurate as Lemmas B.5 and B.6 ask, a
            quarter of the gap, by Lemma B.7: :math:`e^R = 4T`. No change for the bag.
        gamma: Of the net; None: the gap.

    Raises:
        ValueError: an unknown map or form, a size that does not fit, or vectors so close that the
            chosen rows have no margin.

    Cost: :math:`4 s\, 2^s` hidden units, or :math:`4 (s + 1)`.
    """
    require_choice("map", kind, selection.MAPS)
    s, T = len(chosen), len(at.vectors)
    if len(values) not in (2**s, s + 1):
        raise ValueError(f"{s} chosen bits need {2**s} or {s + 1} values, got {len(values)}")
    symmetric = len(values) == s + 1
    ones = torch.arange(s + 1)
    bits = ones[:, None] > ones[:s] if symmetric else torch.arange(2**s)[:, None] >> ones[:s] & 1
    points, asked = selection.targets(kind, bits.long(), symmetric=symmetric)
    if kind == "trained":
        at = selection.marked(T, chosen, apart=not symmetric)
    if kind == "bag":
        R = selection.sharpness(T, asked, s, selection.margin(s, at.coherence))
        heads = selection.bag_head(at, chosen, R, scalar=symmetric)
    else:
        size = 1 if kind == "trained" or not symmetric else s
        room = 1.0 if kind == "trained" else selection.margin(size, at.coherence)
        make = selection.mean_head if symmetric else selection.sign_heads
        asked = gap(kind, s, symmetric=symmetric) if least else asked
        # a softmax over s rows leaks 2 T / (s e^R) of its weight, so a mean needs s times less
        eased = 1 / s if least and symmetric else 1.0
        heads = make(at, chosen, selection.sharpness(T, asked, eased, room))
    share = 1 / 8 if form == "printed" else 1 / 4
    gamma = gap(kind, s, symmetric=symmetric) if gamma is None else gamma
    net = lookup_net(points, values, share * gamma, form=form)
    return Representation(kind, at, heads, net, asked / 4)
