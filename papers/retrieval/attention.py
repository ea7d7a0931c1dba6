r"""Attention that retrieves the tokens pointed at, with weights written by hand.

Mousavi-Hosseini et al. (2025), Eq. (A.2) in the proof of Lemma 11: head h compares the query's
pointer h with the key's position, and with nothing else. A two-layer ReLU net then computes g from
the tokens retrieved.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.checks import require_positive, require_scale, validated


@validated
def query_key(d: int, d_e: int, alpha: float, q: int = 1) -> Tensor:
    r"""Query-key matrices of the heads: :math:`\alpha I` in block (pointer h, position), else 0.

    Args:
        d: Dimensions of the data, at least 1.
        d_e: Dimensions of an encoding, at least 1.
        alpha: Sharpness; the larger, the closer attention comes to the one token.
        q: Pointers, and so heads, at least 1.

    Returns:
        Shape ``(q, D, D)`` with D = d + (1 + q) d_e, rows for the query, float32.

    Source: Mousavi-Hosseini et al. (2025), Eq. (A.2).
    """
    require_positive(d=d, d_e=d_e, q=q)
    D = d + (1 + q) * d_e
    W = torch.zeros(q, D, D)
    for h in range(q):
        pointer = d + (1 + h) * d_e
        W[h, pointer : pointer + d_e, d : d + d_e] = alpha * torch.eye(d_e)
    return W


def attend(W: Tensor, tokens: Tensor) -> Tensor:
    r"""What each head puts out, :math:`\sum_j \mathrm{softmax}_j(z_i^\top W^{(h)} z_j)\, z_j`.

    Args:
        W: Query-key matrices, shape ``(q, D, D)``.
        tokens: Shape ``(*batch, N, D)``.

    Returns:
        Shape ``(*batch, N, q, D)``.

    Source: Mousavi-Hosseini et al. (2025), Section 3, with the value matrix left to the layer
    that follows.
    """
    queries = torch.einsum("...id,hde->...ihe", tokens, W)
    scores = torch.einsum("...ihe,...je->...ihj", queries, tokens)
    return torch.einsum("...ihj,...jd->...ihd", scores.softmax(-1), tokens)


class ReluNet(NamedTuple):
    r"""A two-layer ReLU net :math:`x \mapsto a^\top \sigma(W x + b)`.

    Attributes:
        a: Read-out, shape ``(m,)``.
        W: First layer, shape ``(m, inputs)``.
        b: Biases, shape ``(m,)``.
    """

    a: Tensor
    W: Tensor
    b: Tensor

    def __call__(self, inputs: Tensor) -> Tensor:
        """Shape ``(*batch, inputs)`` to ``(*batch,)``."""
        if inputs.shape[-1:] != self.W.shape[1:]:
            raise ValueError(
                f"the net takes {self.W.shape[1]} numbers, got shape {tuple(inputs.shape)}"
            )
        return (inputs @ self.W.mT + self.b).relu() @ self.a

    @property
    def lipschitz(self) -> float:
        r"""A Lipschitz constant in the 2-norm, :math:`\|a\|_2\, \|W\|_2`."""
        return (self.a.norm() * torch.linalg.matrix_norm(self.W, 2)).item()


@validated
def on_heads(g: ReluNet, d: int, D: int, q: int) -> ReluNet:
    """The net on q retrieved data, as a net on what q heads put out: zeros for all but the data.

    Args:
        g: On ``q d`` numbers.
        d: Dimensions of the data, the first of a token.
        D: Dimensions of a token, at least d.
        q: Heads.

    Returns:
        A net on ``q D`` numbers.

    Source: Mousavi-Hosseini et al. (2025), proof of Lemma 11.
    """
    m, inputs = g.W.shape
    if inputs != q * d or d > D:
        raise ValueError(f"a net on q d = {q * d} numbers, D >= d, got {inputs} and D = {D}")
    W = g.W.new_zeros(m, q, D)
    W[..., :d] = g.W.unflatten(1, (q, d))
    return g._replace(W=W.flatten(1))


def transformer(W: Tensor, net: ReluNet, tokens: Tensor) -> Tensor:
    """The one-layer transformer: heads side by side, then the net on every token.

    Args:
        W: Query-key matrices, shape ``(H, D, D)``.
        net: On ``H D`` numbers.
        tokens: Shape ``(*batch, N, D)``.

    Returns:
        Shape ``(*batch, N)``.

    Source: Mousavi-Hosseini et al. (2025), Section 3.
    """
    return net(attend(W, tokens).flatten(-2))


@validated
def centred_squares(d: int, q: int, radius: float, pieces: int) -> ReluNet:
    r"""A ReLU net close to :math:`g(x) = \frac1{\sqrt{qd}} \sum_{h,k} (x_{hk}^2 - 1)`.

    Each square is interpolated at equally spaced points, h apart. Between two of them the chord is
    too high by at most h^2/4, so the net is too high by at most
    :math:`\sqrt{qd}\, h^2/4` with h = radius / pieces, if all coordinates lie within the radius.

    Args:
        d: Dimensions of the data, at least 1.
        q: Pointers, at least 1.
        radius: Positive; beyond it the last chords go on.
        pieces: Chords on either side of 0, at least 1.

    Returns:
        A net with 2 q d pieces + 1 units, float64; the last one is the constant.
    """
    require_positive(d=d, q=q, pieces=pieces)
    require_scale(radius=radius)
    h = radius / pieces
    knots = h * torch.arange(pieces, dtype=torch.float64)
    slopes = torch.full((pieces,), 2 * h, dtype=torch.float64)
    slopes[0] = h  # chords of u^2 have slopes h, 3h, 5h, ...
    units = torch.eye(q * d, dtype=torch.float64)
    W = torch.cat([sign * units.repeat_interleave(pieces, 0) for sign in (1, -1)])
    scale = math.sqrt(q * d)
    return ReluNet(
        a=torch.cat(
            (slopes.repeat(2 * q * d) / scale, torch.tensor([-scale], dtype=torch.float64))
        ),
        W=torch.cat((W, torch.zeros(1, q * d).double())),
        b=torch.cat((-knots.repeat(2 * q * d), torch.ones(1).double())),
    )


@validated
def missed(omega: Tensor, sharpness: float) -> Tensor:
    r"""Attention that a head does not give to the token pointed at, exactly.

    .. math:: \frac{S_t}{1 + S_t}, \qquad
        S_t = \sum_{j \ne t} e^{-a (\|\omega_t\|^2 - \langle \omega_t, \omega_j \rangle)}

    Args:
        omega: Encodings, shape ``(N, d_e)``, N at least 2.
        sharpness: The a; for :func:`query_key` and tokens of scale s it is ``alpha * s**2``, that
            is alpha d/q for the paper's scale.

    Returns:
        Shape ``(N,)``, for each target t. The error of a head in retrieving x_t is at most this
        times the distance from x_t to the farthest other data, and is that if all others agree.
    """
    if omega.ndim != 2 or len(omega) < 2:
        raise ValueError(f"omega must be (N, d_e) with N at least 2, got {tuple(omega.shape)}")
    gram = omega @ omega.mT
    away = sharpness * (gram - gram.diagonal()[:, None])
    S = away.fill_diagonal_(-math.inf).exp().sum(1)
    return S / (1 + S)


@validated
def retrieval_bound(N: int, sharpness: float, longest: float, inner: float = 0.5) -> float:
    r"""Bound on the error of a head, from the largest inner product of two encodings alone.

    .. math:: \|f_i - x_{t_i}\| \le 2 (N - 1)\, e^{-(1 - \mu) a} \max_j \|x_j\|

    Args:
        N: Tokens, at least 1.
        sharpness: The a of :func:`missed`, at least 0; alpha d/q in the paper.
        longest: :math:`\max_j \|x_j\|`, at least 0.
        inner: The mu, below 1; 1/2 under Assumption 3.

    Source: Mousavi-Hosseini et al. (2025), Lemma 11 and its proof; constant derived in the chapter
    ``retrieval/pointer_heads``.
    """
    if N < 1 or not inner < 1 or sharpness < 0 or longest < 0:
        raise ValueError(
            f"expected N >= 1, inner < 1, sharpness >= 0 and longest >= 0, got {N}, {inner}, "
            f"{sharpness} and {longest}"
        )
    return 2 * (N - 1) * math.exp(-(1 - inner) * sharpness) * longest


@validated
def sharpness_for(N: int, epsilon: float, longest: float, inner: float = 0.5) -> float:
    r"""Sharpness a at which :func:`retrieval_bound` is epsilon.

    .. math:: a = \frac1{1 - \mu} \log \frac{2 (N - 1) \max_j \|x_j\|}{\epsilon}

    It grows with log N; 0 if no sharpness is needed. Then :math:`\alpha = a q/d`.
    """
    if epsilon <= 0:
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    start = retrieval_bound(N, 0.0, longest, inner)
    return max(0.0, math.log(start / epsilon) / (1 - inner)) if start > 0 else 0.0
