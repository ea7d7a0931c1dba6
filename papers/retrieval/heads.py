r"""How much of q tokens H attention heads transmit, when the label is a sum of squares.

Mousavi-Hosseini et al. (2025), Section 3.1 and Appendix A.2. The first half of a prompt holds
standard normal data, the second half zeros, and each token of the second half points at the first q
tokens. Its label is :math:`y = \frac{1}{\sqrt{qd}} \sum_{j \le q} (\|x_j\|^2 - d)`, of variance 2.
An *error* is the mean squared error over all tokens when the first half is predicted without error:
half of that of the second half, so between 0 and 1. Functions take any leading axes. The model has
a whole query-key matrix a head and no value matrices, on tokens of real numbers, so it is neither
:mod:`helpers.nets.transformer` nor that of :mod:`papers.retrieval.task`.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from helpers.checks import require_positive, validated
from helpers.weights import Weights
from papers.retrieval.task import Prompts, parts


@validated
def hard_prompts(B: int, N: int, d: int, q: int, generator: Generator) -> Prompts:
    """Prompts of the hard distribution: data in the first half, pointers (1..q) in the second.

    Args:
        B: Prompts, at least 1.
        N: Tokens, even, at least 2 q.
        d: Dimensions of the data, at least 1.
        q: Pointers of a token, at least 1.
        generator: Source of randomness.

    Returns:
        Pointers count from 0; those of the first half, which the proofs leave free, are uniform and
        independent of the data.

    Raises:
        ValueError: a number outside its range.

    Source: Mousavi-Hosseini et al. (2025), proofs of Propositions 3 and 21.
    """
    require_positive(B=B, d=d, q=q)
    if N % 2 or 2 * q > N:
        raise ValueError(f"N must be even and at least 2 q = {2 * q}, got {N}")
    x = torch.zeros(B, N, d, dtype=torch.float64)
    x[:, : N // 2] = torch.randn(B, N // 2, d, generator=generator).double()
    t = torch.arange(q).repeat(B, N, 1)
    t[:, : N // 2] = torch.randint(N, (B, N // 2, q), generator=generator)
    return Prompts(x, t)


@validated
def label(x: Tensor, q: int) -> Tensor:
    r"""Label of a token that points at the first q, :math:`\sum_{j \le q}(\|x_j\|^2-d)/\sqrt{qd}`.

    Args:
        x: Data, shape ``(*batch, M, d)``, M at least q.
        q: Tokens pointed at, at least 1.

    Returns:
        Shape ``(*batch,)``; mean 0 and variance 2 for standard normal data.
    """
    _require_targets(q, x.shape[-2])
    d = x.shape[-1]
    return _centred(x[..., :q, :].square().sum((-2, -1)), q, d)


@validated
def floor(q: int, H: int, d: int | None = None) -> float:
    r"""Least error of any function of what H heads put out.

    .. math:: 1 - \tfrac Hq \quad\text{or, with free weights,}\quad
        \bigl(1 - \tfrac Hd\bigr)\bigl(1 - \tfrac Hq\bigr)

    Args:
        q: Tokens pointed at, at least 1.
        H: Heads, at least 0; from q on the floor is 0.
        d: Dimensions of the data, if a head may compare them with positions; from d heads on the
            floor is 0. None: it may not.

    Source: Mousavi-Hosseini et al. (2025), Proposition 21; the second is sharper than Proposition 3
    and derived in the chapter ``retrieval/too_few_heads``.
    """
    require_positive(q=q, **({} if d is None else {"d": d}))
    if H < 0:
        raise ValueError(f"H must be at least 0, got {H}")
    left = max(0.0, 1 - H / q)
    return left if d is None else left * max(0.0, 1 - H / d)


@validated
def mixture_error(mixing: Tensor, q: int) -> Tensor:
    r"""Error of the best predictor that is given H mixtures of the tokens, exactly.

    .. math:: 1 - \tfrac1q \|S Q S\|_F^2

    Q projects on the row space of the mixing weights, and S keeps the q tokens pointed at. It does
    not depend on d.

    Args:
        mixing: Weights of the tokens in each mixture, shape ``(*batch, H, M)``, floating, H >= 0.
        q: Tokens pointed at, the first ones, from 1 to M.

    Returns:
        Shape ``(*batch,)``, in [1 - rank/q, 1].

    Source: derived in the chapter ``retrieval/too_few_heads``.
    """
    seen = _projector(mixing, q)[..., :q, :q]
    return 1 - seen.square().sum((-2, -1)) / q


@validated
def expected_squares(mixed: Tensor, mixing: Tensor, q: int) -> Tensor:
    r"""Conditional mean of :math:`\sum_{j \le q} \|x_j\|^2`, given mixtures of normal x.

    .. math:: \|S A^+ m\|_F^2 + k\, \mathrm{tr}\, S (I - Q)

    Args:
        mixed: The mixtures m = A x, shape ``(*batch, H, k)``.
        mixing: Their weights A, shape ``(*batch, H, M)``, floating.
        q: Tokens summed over, the first ones, from 1 to M.

    Returns:
        Shape ``(*batch,)``.
    """
    Q = _projector(mixing, q)
    if mixed.shape[-2] != mixing.shape[-2]:
        raise ValueError(f"{mixing.shape[-2]} rows of weights mix {mixed.shape[-2]} vectors")
    known = (torch.linalg.pinv(mixing) @ mixed)[..., :q, :]
    hidden = q - Q.diagonal(dim1=-2, dim2=-1)[..., :q].sum(-1)
    return known.square().sum((-2, -1)) + mixed.shape[-1] * hidden


@validated
def best_prediction(mixed: Tensor, mixing: Tensor, q: int) -> Tensor:
    """Conditional mean of the label, given mixtures ``(*batch, H, d)``; shape ``(*batch,)``."""
    return _centred(expected_squares(mixed, mixing, q), q, mixed.shape[-1])


@validated
def reading_heads(u: Tensor, b: Tensor, omega: Tensor, q: int) -> Tensor:
    r"""Query-key matrices whose logits hold the data: :math:`\langle u_h, x_j \rangle + b_h(j)`.

    They compare the first pointer of a token of the second half with data and positions at once.

    Args:
        u: A direction for each head, shape ``(H, d)``.
        b: Logits of the positions, shape ``(H, N)``.
        omega: Encodings, shape ``(N, d_e)``, of rank N, so that any ``b`` can be had.
        q: Pointers of a token.

    Returns:
        Shape ``(H, D, D)``, D = d + (1 + q) d_e, rows for the query; for tokens encoded with
        scale 1.

    Raises:
        ValueError: encodings that are linearly dependent.
    """
    require_positive(q=q)
    H, d = u.shape
    dual = _dual(omega)
    part = parts(d, omega.shape[1], q)
    pointer = "pointer" if q == 1 else "pointer 1"
    D = list(part.values())[-1].stop
    W = torch.zeros(H, D, D, dtype=u.dtype)
    shown = (omega[0] / omega[0].square().sum())[:, None]  # product 1 with the first pointer
    W[:, part[pointer], part["x"]] = shown * u[:, None]
    W[:, part[pointer], part["position"]] = shown * (b @ dual)[:, None]
    return W


@validated
def read(outputs: Tensor, omega: Tensor, u: Tensor, b: Tensor, q: int) -> Tensor:
    r"""The best prediction from what :func:`reading_heads` put out, and from nothing else.

    The mean of the encodings tells the attention weights, these tell the logits up to a constant,
    and the last token, whose data are zero, tells the constant. So :math:`\langle u_h, x_j \rangle`
    is known for every token and head. What is left of the data, orthogonal to every u_h, is known
    by H mixtures.

    Args:
        outputs: Of the heads at a token of the second half, shape ``(B, H, D)``.
        omega: Encodings ``(N, d_e)``, as of :func:`reading_heads`, like all that follows.
        u: Directions ``(H, d)``.
        b: Logits of the positions ``(H, N)``.
        q: Tokens pointed at.

    Returns:
        Predicted labels, shape ``(B,)``.
    """
    d = u.shape[-1]
    M = omega.shape[0] // 2
    part = parts(d, omega.shape[1], q)
    attention = outputs[..., part["position"]] @ _dual(omega).mT  # (B, H, N)
    logits = attention.log() - b
    products = (logits - logits[..., -1:])[..., :q]  # <u_h, x_j>: (B, H, q)
    basis = torch.linalg.pinv(u)  # (d, H)
    along = basis @ products
    rest = outputs[..., part["x"]] @ (torch.eye(d).to(u) - basis @ u)
    rank = int(torch.linalg.matrix_rank(u))
    across = expected_squares(rest, attention[..., :M], q)
    excess = rank * _hidden(attention[..., :M], q)  # directions that `rest` does not have
    return _centred(along.square().sum((-2, -1)) + across - excess, q, d)


@validated
def initial_weights(E: int, D: int, H: int, hidden: int, generator: Generator) -> Weights:
    r"""Random weights of E attention models with H heads and a ReLU layer on top.

    Query-key matrices are normal, with variance 1/D; the two layers as torch draws them.

    Args:
        E: Models, at least 1.
        D: Columns of a token.
        H: Heads, at least 1.
        hidden: Width of the layer on top.
        generator: Source of randomness.

    Returns:
        ``query_key`` ``(E, H, D, D)``, ``hidden`` ``(E, H D, hidden)``, ``readout``
        ``(E, hidden, 1)`` and the biases of the last two; float32.
    """
    require_positive(E=E, D=D, H=H, hidden=hidden)
    weights = {"query_key": torch.randn(E, H, D, D, generator=generator) / math.sqrt(D)}
    for name, rows, columns in (("hidden", H * D, hidden), ("readout", hidden, 1)):
        for part, shape in ((name, (rows, columns)), (f"{name}_bias", (columns,))):
            drawn = 2 * torch.rand(E, *shape, generator=generator) - 1
            weights[part] = drawn / math.sqrt(rows)
    return weights


def outputs(query_key: Tensor, tokens: Tensor, queries: Tensor) -> Tensor:
    r"""What heads put out, :math:`\sum_j \mathrm{softmax}_j(z_i^\top W^{(h)} z_j)\, z_j`.

    Args:
        query_key: The matrices, shape ``(*ensemble, H, D, D)``.
        tokens: Shape ``(*ensemble, B, N, D)``.
        queries: The tokens z_i, shape ``(*ensemble, B, M, D)``.

    Returns:
        Shape ``(*ensemble, B, M, H, D)``.

    Source: the model of Mousavi-Hosseini et al. (2025), Section 3, with value matrices absorbed by
    the layer on top.
    """
    asked = torch.einsum("...bmd,...hde->...bmhe", queries, query_key)
    return (asked @ tokens.mT.unsqueeze(-3)).softmax(-1) @ tokens.unsqueeze(-3)


def forward(weights: Weights, tokens: Tensor, queries: Tensor | None = None) -> Tensor:
    """Predicted labels: the heads of a token side by side, then a two-layer ReLU net.

    Args:
        weights: As of :func:`initial_weights`.
        tokens: Shape ``(E, B, N, D)``.
        queries: Tokens whose labels are asked for, shape ``(E, B, M, D)``; None: all.

    Returns:
        Shape ``(E, B, M)``.
    """
    asked = tokens if queries is None else queries
    put_out = outputs(weights["query_key"], tokens, asked).flatten(-2)
    flat = put_out.flatten(1, 2)  # (E, B M, H D)
    inner = torch.baddbmm(weights["hidden_bias"][:, None], flat, weights["hidden"])
    read_out = torch.baddbmm(weights["readout_bias"][:, None], inner.relu(), weights["readout"])
    return read_out.squeeze(-1).unflatten(1, put_out.shape[1:3])


def _centred(squares: Tensor, q: int, d: int) -> Tensor:
    return (squares - q * d) / math.sqrt(q * d)


def _projector(mixing: Tensor, q: int) -> Tensor:
    """Projector on the row space, shape ``(*batch, M, M)``."""
    if mixing.ndim < 2 or not mixing.is_floating_point():
        raise ValueError(
            f"mixing weights are floating and (..., H, M), got {tuple(mixing.shape)}, "
            f"{mixing.dtype}"
        )
    _require_targets(q, mixing.shape[-1])
    return torch.linalg.pinv(mixing) @ mixing


def _hidden(mixing: Tensor, q: int) -> Tensor:
    """How many of the q tokens' dimensions the mixtures leave open: tr S (I - Q)."""
    return q - _projector(mixing, q).diagonal(dim1=-2, dim2=-1)[..., :q].sum(-1)


def _dual(omega: Tensor) -> Tensor:
    """Vectors, one a row, whose products with the encodings are 1 and else 0."""
    if int(torch.linalg.matrix_rank(omega)) < len(omega):
        raise ValueError(f"{len(omega)} encodings of rank {int(torch.linalg.matrix_rank(omega))}")
    return torch.linalg.pinv(omega).mT


def _require_targets(q: int, M: int) -> None:
    if not 1 <= q <= M:
        raise ValueError(f"q runs from 1 to the number of tokens, {M}, got {q}")
