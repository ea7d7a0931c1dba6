r"""Attention that retrieves the tokens pointed at, with weights written by hand.

Mousavi-Hosseini et al. (2025), Eq. (A.2) in the proof of Lemma 11: head h compares the query's
pointer h with the key's position, and with nothing else.
"""

from __future__ import annotations

import torch
from torch import Tensor


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
    for name, count in (("d", d), ("d_e", d_e), ("q", q)):
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
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
    scores = torch.einsum("...id,hde,...je->...ihj", tokens, W, tokens)
    return torch.einsum("...ihj,...jd->...ihd", scores.softmax(-1), tokens)
