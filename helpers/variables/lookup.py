r"""ReLU nets that look values up, and whole transformers for any function of s hidden bits.

A net with two hidden layers is constant on a box around each of n points. Behind the heads of
:mod:`helpers.variables.selection` it makes a transformer that equals a given s-sparse Boolean
function on every string.

Source: Edelman, Goel, Kakade and Zhang (2022), Lemmas B.5, B.6 and B.8, Proposition B.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_choice, require_scale
from helpers.variables import selection
from helpers.weights import Weights

FORMS = ("printed", "repaired")
MOST_WEIGHTS = 2**26


def lookup_net(points: Tensor, values: Tensor, delta: float) -> Weights:
    r"""A ReLU net equal to ``values[i]`` wherever :math:`\|x - x_i\|_\infty \le \delta`.

    A coordinate passes a trapezoid, 1 up to :math:`\delta` from :math:`x_{ij}` and 0 from
    :math:`2\delta` on; the second layer asks that all coordinates of a point pass:

    .. math::

        h_i = \sum_j \psi\Bigl(\frac{x_j - x_{ij}}\delta\Bigr) - d, \qquad
        f(x) = \sum_i v_i \bigl[ (h_i + 1)_+ - (h_i)_+ \bigr]

    with :math:`\psi(u) = (u + 2)_+ - (u + 1)_+ - (u - 1)_+ + (u - 2)_+`.

    Args:
        points: Shape ``(n, d)``, any two at least :math:`3\delta` apart in some coordinate.
        values: Shape ``(n,)``.
        delta: Above 0.

    Returns:
        ``W1`` of shape ``(d + 1, 4 n d)`` and ``W2`` of shape ``(4 n d + 1, 2 n)``, biases in the
        last row, and ``w`` of shape ``(2 n,)``; float64.

    Raises:
        ValueError: shapes that do not fit, or points too close for the boxes to be apart.
    """
    if points.ndim != 2 or not points.numel() or values.shape != points.shape[:1]:
        raise ValueError(
            f"expected points (n, d) and values (n,), got {tuple(points.shape)} and "
            f"{tuple(values.shape)}"
        )
    require_scale(delta=delta)
    points, values = points.double(), values.double()
    if not (points.isfinite().all() and values.isfinite().all()):
        raise ValueError("points and values must be finite")
    n, d = points.shape
    if 8 * n * n * d > MOST_WEIGHTS:
        raise ValueError(
            f"a net for {n} points of {d} coordinates has {8 * n * n * d} weights in its second "
            f"layer, more than {MOST_WEIGHTS}"
        )
    if n > 1:
        apart = (points[:, None] - points).abs().amax(-1) + torch.diag(points.new_full((n,), 1e300))
        least = apart.min().item()
        if least < 3 * delta * (1 - 1e-12):
            raise ValueError(
                f"points must be at least 3 delta = {3 * delta:.6g} apart, got {least}"
            )
    corners = torch.tensor([2.0, 1.0, -1.0, -2.0], dtype=torch.float64)
    signs = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=torch.float64)
    W1 = points.new_zeros(d + 1, n, d, 4)
    for j in range(d):
        W1[j, :, j] = 1 / delta
    W1[d] = corners - points[..., None] / delta
    W2 = points.new_zeros(n, d, 4, 2, n)
    for i in range(n):
        W2[i, :, :, :, i] = signs[:, None]
    biases = torch.tensor([1.0 - d, -float(d)], dtype=torch.float64)[:, None].expand(2, n)
    return {
        "W1": W1.reshape(d + 1, 4 * n * d),
        "W2": torch.cat([W2.reshape(4 * n * d, 2 * n), biases.reshape(1, 2 * n)]),
        "w": torch.cat([values, -values]),
    }


def evaluate(net: Weights, x: Tensor) -> Tensor:
    """The net of :func:`lookup_net` at points ``(*, d)``: ``(*,)``.

    Raises:
        ValueError: points of another dimension.
    """
    if x.shape[-1:] != (net["W1"].shape[0] - 1,):
        raise ValueError(f"points must end in {net['W1'].shape[0] - 1}, got {tuple(x.shape)}")
    for name in ("W1", "W2"):
        W = net[name]
        x = (x @ W[:-1] + W[-1]).relu()
    return x @ net["w"]


@dataclass(frozen=True)
class Representation:
    """A transformer that equals a sparse Boolean function.

    Attributes:
        kind: Input map, one of :data:`helpers.variables.selection.MAPS`.
        at: Its vectors.
        positions: Trained positions ``(T, d)``, or None.
        heads: As of :func:`helpers.variables.selection.forward`.
        net: As of :func:`lookup_net`.
        inputs: Columns of the heads' output that the net reads.
    """

    kind: str
    at: selection.Basis
    positions: Tensor | None
    heads: Weights
    net: Weights
    inputs: int

    def features(self, bits: Tensor) -> Tensor:
        """What the heads make of strings ``(*, T)``: ``(*, inputs)``."""
        X = selection.rows(self.kind, self.at, bits, self.positions)
        return selection.forward(self.heads, self.at, X)[..., : self.inputs]

    def __call__(self, bits: Tensor) -> Tensor:
        """Outputs at strings ``(*, T)``: ``(*,)``, float64."""
        return evaluate(self.net, self.features(bits))


def construct(
    values: Tensor,
    chosen: Sequence[int],
    at: selection.Basis,
    kind: str = "positions",
    *,
    form: str = "repaired",
    gamma: float = 1.0,
) -> Representation:
    r"""A transformer for an s-sparse Boolean function: Proposition B.1.

    Heads approximate the chosen bits up to :math:`\gamma/4`, as signs or, for a bag of vectors,
    as :math:`(b_i - 1)/(r + 1)`, and a lookup net of tolerance :math:`\delta` makes them exact.

    Args:
        values: The function by its chosen bits, shape ``(2**s,)``; bit h of an index is the bit at
            ``chosen[h]``.
        chosen: I, positions 0 to T - 1.
        at: Vectors.
        kind: Input map.
        form: ``"printed"``: :math:`\delta = \gamma/8` and the scores of the paper.
            ``"repaired"``: :math:`\delta = \gamma/4`, keys and values dual to the chosen vectors.
        gamma: :math:`\gamma`, at most 1; for a bag of vectors 1/s is taken, whatever is given.

    Raises:
        ValueError: an unknown map or form, a size that does not fit, or vectors so close that the
            chosen rows have no margin.

    Cost: :math:`4 s\, 2^s` hidden units.
    """
    require_choice("map", kind, selection.MAPS)
    require_choice("form", form, FORMS)
    s = len(chosen)
    if values.shape != (2**s,):
        raise ValueError(f"{s} chosen bits need 2**s = {2**s} values, got {tuple(values.shape)}")
    if not 0 < gamma <= 1:
        raise ValueError(f"gamma must lie in (0, 1], got {gamma}")
    repaired, coherence = form == "repaired", at.coherence
    bits = (torch.arange(2**s)[:, None] >> torch.arange(s) & 1).double()
    positions = None
    if kind == "bag":
        gamma = 1 / s
        targets = (bits - 1) / (bits.sum(-1, keepdim=True) + 1)
        room = (
            selection.margin(s, coherence, dual_keys=True) if repaired else _printed(s, coherence)
        )
        R = selection.sharpness(at.length, gamma, s, room)
        heads = selection.bag_head(at, chosen, R, dual_keys=repaired)
    elif kind == "trained":
        targets = 1 - 2 * bits
        R = selection.sharpness(at.length, gamma)
        positions, heads = selection.trained_sign_heads(at, chosen, R)
    else:
        targets = 1 - 2 * bits
        room = selection.margin(1, coherence) if repaired else _printed(s, coherence)
        heads = selection.sign_heads(at, chosen, selection.sharpness(at.length, gamma, 1, room))
    net = lookup_net(targets, values, gamma / 4 if repaired else gamma / 8)
    return Representation(kind, at, positions, heads, net, s)


def _printed(s: int, coherence: float) -> float:
    if s * coherence >= 1:
        raise ValueError(f"the vectors are too close to choose {s}: Delta must be below 1/s")
    return 1 - s * coherence
