r"""q-sparse token regression, and the one-layer attention model that learns it.

A prompt has N tokens. Token i carries data x_i in R^d and q pointers t_i1..t_iq, which are
positions in the same prompt, counted from 0. Its label is g(x_{t_i1}, ..., x_{t_iq}), here with a
linear g. Position j is shown to a model as a vector omega_j in R^{d_e}. In the simple task all
tokens of a prompt share their pointers. Every function takes any leading ensemble axes.

The model is not :mod:`helpers.nets.transformer`, which embeds words of a vocabulary and adds to a
residual stream: here tokens are vectors of real numbers, and nothing is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from helpers.checks import require_positive, validated
from helpers.training import batches
from helpers.training.batches import Resumable
from helpers.weights import Weights

MAX_DRAWS = 1000


class Prompts(NamedTuple):
    """Data, shape ``(*ensemble, B, N, d)``, and pointers, ``(*ensemble, B, N, q)``, int64."""

    x: Tensor
    t: Tensor


@validated
def encodings(N: int, d_e: int, generator: torch.Generator, ensemble: int | None = None) -> Tensor:
    r"""Random signs over :math:`\sqrt{d_e}`, one row a position, no two rows equal.

    Two positions with one encoding cannot be told apart, so such a row is drawn again. That the
    :func:`coherence` is at most 1/2, as the paper assumes, is *not* enforced.

    Args:
        N: Positions, from 1 to ``2**d_e``.
        d_e: Dimensions, at least 1.
        generator: Source of randomness.
        ensemble: Number of independent sets; None: one set, without that axis.

    Returns:
        Shape ``(ensemble, N, d_e)`` or ``(N, d_e)``, float32, rows of length 1.

    Raises:
        ValueError: ``d_e`` leaves no room for N distinct rows.

    Source: Mousavi-Hosseini et al. (2025), after Assumption 3.
    """
    if d_e < 1 or not 1 <= N <= 2**d_e:
        raise ValueError(f"N runs from 1 to 2**d_e, got N = {N} with d_e = {d_e}")
    if ensemble is not None:
        return torch.stack([encodings(N, d_e, generator) for _ in range(ensemble)])
    signs = _signs(N, d_e, generator)
    for _ in range(MAX_DRAWS):
        repeated = (signs @ signs.mT).triu(1).eq(d_e).any(0)
        if not repeated.any():
            return signs / math.sqrt(d_e)
        signs[repeated] = _signs(int(repeated.sum()), d_e, generator)
    raise ValueError(f"no {N} distinct encodings of d_e = {d_e} signs in {MAX_DRAWS} draws")


def coherence(omega: Tensor) -> Tensor:
    r"""Largest :math:`|\langle \omega_i, \omega_j \rangle|`, :math:`i \ne j`.

    Args:
        omega: Encodings, shape ``(*ensemble, N, d_e)``, N at least 2.

    Returns:
        Shape ``(*ensemble,)``. Assumption 3 asks for at most 1/2.

    Source: Mousavi-Hosseini et al. (2025), Assumption 3.
    """
    N = omega.shape[-2]
    if N < 2:
        raise ValueError(f"coherence compares at least 2 encodings, got {N}")
    gram = (omega @ omega.mT).abs()
    return gram.masked_fill(torch.eye(N, dtype=torch.bool), 0).flatten(-2).amax(-1)


@validated
def prompts(
    B: int, N: int, d: int, generator: torch.Generator, *, q: int = 1, simple: bool = False
) -> Prompts:
    """Standard normal data and uniform pointers; ``simple``: one set of pointers a prompt."""
    require_positive(B=B, N=N, d=d, q=q)
    x = torch.randn(B, N, d, generator=generator)
    t = torch.randint(N, (B, 1 if simple else N, q), generator=generator)
    return Prompts(x, t.expand(B, N, q))


def retrieved(given: Prompts) -> Tensor:
    """The data pointed at, x_{t_ih}: shape ``(*ensemble, B, N, q, d)``."""
    return _rows(given.x, given.t)


def labels(given: Prompts, u: Tensor) -> Tensor:
    r"""Labels of a linear g, :math:`y_i = \sum_h \langle u_h, x_{t_{ih}} \rangle`.

    Args:
        given: Prompts.
        u: Directions, shape ``(*ensemble, q, d)``.

    Returns:
        Shape ``(*ensemble, B, N)``; variance ``|u|**2``.

    Source: Mousavi-Hosseini et al. (2025), Definition 2.
    """
    if u.shape[-2:] != (given.t.shape[-1], given.x.shape[-1]):
        raise ValueError(
            f"u must end in (q, d) = {(given.t.shape[-1], given.x.shape[-1])}, got {tuple(u.shape)}"
        )
    return torch.einsum("...bnqd,...qd->...bn", retrieved(given), u)


@validated
def encode(
    given: Prompts, omega: Tensor, scale: float = 1.0, pointers: Tensor | None = None
) -> Tensor:
    r"""Tokens :math:`z_i = (x_i,\ s\,\omega_i,\ s\,\omega_{t_{i1}}, \dots, s\,\omega_{t_{iq}})`.

    Args:
        given: Prompts.
        omega: Encodings, shape ``(*ensemble, N, d_e)``.
        scale: The s; the paper has sqrt(d/q), its code 1.
        pointers: Encodings that pointers are shown by, if not ``omega``; same shape.

    Returns:
        Shape ``(*ensemble, B, N, d + (1 + q) d_e)``; :func:`parts` says what stands where.

    Source: Mousavi-Hosseini et al. (2025), Section 3.
    """
    *batch, N, _ = given.x.shape
    if omega.shape[-2] != N:
        raise ValueError(f"{N} tokens need as many encodings, got {omega.shape[-2]}")
    shown = omega if pointers is None else pointers
    here, there = ((scale * v).unsqueeze(-3).expand(*batch, -1, -1) for v in (omega, shown))
    return torch.cat((given.x, here, _rows(there, given.t).flatten(-2)), -1)


@validated
def parts(d: int, d_e: int, q: int = 1) -> dict[str, slice]:
    """Where data, position and pointers stand in a token, in this order."""
    pointers = ["pointer"] if q == 1 else [f"pointer {h}" for h in range(1, q + 1)]
    ends = [d + k * d_e for k in range(q + 2)]
    starts = [0, *ends[:-1]]
    return dict(zip(("x", "position", *pointers), map(slice, starts, ends), strict=True))


@dataclass(frozen=True)
class Task:
    """Independent instances of the task with a linear g, one a model, and their data.

    Attributes:
        omega: Encodings of the positions, shape ``(E, N, d_e)``.
        pointers: Encodings that the pointers are shown by, same shape; ``omega`` in the paper.
        u: Directions of g, shape ``(E, q, d)``, of length 1, so that labels have variance 1.
        generators: One an instance: no instance's data depend on which others are in use.
        simple: Whether a prompt has one set of pointers.
    """

    omega: Tensor
    pointers: Tensor
    u: Tensor
    generators: list[torch.Generator]
    simple: bool

    def prompts(self, models: Tensor, B: int) -> Prompts:
        """New prompts for these models, each from its own generator, shape ``(A, B, ...)``."""
        drawn = [self._draw(m, B, self.generators[m]) for m in models.tolist()]
        x, t = (torch.stack(rows) for rows in zip(*drawn, strict=True))
        return Prompts(x, t.expand(*x.shape[:-1], -1))

    def examples(self, models: Tensor, given: Prompts) -> tuple[Tensor, Tensor]:
        """Tokens and labels of prompts, one row of prompts a model."""
        tokens = encode(given, self.omega[models], pointers=self.pointers[models])
        return tokens, labels(given, self.u[models])

    def fresh(self, B: int) -> Resumable:
        """Batches for :func:`helpers.training.train.train` in which no prompt returns."""
        return batches.fresh(self._draw, B, self.generators, self._examples)

    def fixed(self, samples: int, B: int) -> Resumable:
        """Batches from a fixed set of prompts a model, shuffled anew in every epoch."""
        kept = [self._draw(m, samples, g) for m, g in enumerate(self.generators)]
        x, t = (torch.stack(rows) for rows in zip(*kept, strict=True))
        return batches.fixed(x, t, B, self.generators, self._examples)

    def _draw(self, _: int, B: int, generator: torch.Generator) -> Prompts:
        """New prompts of one model; if they are simple, with one token's pointers only."""
        N, (q, d) = self.omega.shape[-2], self.u.shape[-2:]
        drawn = prompts(B, N, d, generator, q=q, simple=self.simple)
        return Prompts(drawn.x, drawn.t[:, :1]) if self.simple else drawn

    def _examples(self, models: Tensor, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        return self.examples(models, Prompts(x, t.expand(*x.shape[:-1], -1)))


@validated
def new_task(
    E: int,
    N: int,
    d: int,
    d_e: int,
    generator: torch.Generator,
    *,
    q: int = 1,
    simple: bool = False,
    shifted: bool = False,
) -> Task:
    """Random instances of the task.

    Args:
        E: How many.
        N: Tokens in a prompt.
        d: Dimensions of their data.
        d_e: Dimensions of an encoding.
        generator: Source of randomness.
        q: Pointers of a token.
        simple: Whether a prompt has one set of pointers.
        shifted: Show a pointer to position j by the encoding of position j - 1: the information is
            the same, but a pointer no longer resembles what it points at.
    """
    omega = encodings(N, d_e, generator, E)
    u = normalize(torch.randn(E, q * d, generator=generator), dim=-1).unflatten(-1, (q, d))
    generators = batches.spawn(E, generator)
    return Task(omega, omega.roll(1, -2) if shifted else omega, u, generators, simple)


@validated
def initial_weights(D: int, hidden: int, generator: torch.Generator, ensemble: int) -> Weights:
    r"""Random weights of the attention model, distributed as torch's layers draw them.

    Query, key and value: uniform within :math:`\sqrt{6/(4D)}` (Xavier, all three stacked), their
    biases and the output bias 0. Any other layer: uniform within one over the root of its inputs.

    Args:
        D: Token dimension.
        hidden: Width of the feedforward layer.
        generator: Source of randomness.
        ensemble: Number of independent models.

    Returns:
        ``query``, ``key``, ``value``, ``output`` ``(ensemble, D, D)``, ``hidden``
        ``(ensemble, hidden, D)``, ``readout`` ``(ensemble, 1, hidden)``; and the bias of each,
        ``<name>_bias``, with one axis less. float32.
    """
    require_positive(D=D, hidden=hidden, ensemble=ensemble)
    shapes = dict.fromkeys(("query", "key", "value", "output"), (D, D))
    shapes |= {"hidden": (hidden, D), "readout": (1, hidden)}
    weights = {}
    for name, (rows, columns) in shapes.items():
        attention = name in ("query", "key", "value")
        bound = math.sqrt(6 / (4 * D)) if attention else 1 / math.sqrt(columns)
        drawn = 2 * torch.rand(ensemble, rows, columns, generator=generator) - 1
        bias = 2 * torch.rand(ensemble, rows, generator=generator) - 1
        weights[name] = bound * drawn
        weights[f"{name}_bias"] = 0 * bias if attention or name == "output" else bound * bias
    return weights


def forward(weights: Weights, tokens: Tensor) -> Tensor:
    """Predicted labels of the attention model.

    One head with separate query, key, value and output projections, each with a bias, then a
    two-layer ReLU network on every token; no residual connection, no normalisation.

    Args:
        weights: As of :func:`initial_weights`.
        tokens: Shape ``(*ensemble, B, N, D)``.

    Returns:
        Shape ``(*ensemble, B, N)``.

    Cost: about B N (2 D^2 + 4 N D + 2 D hidden) operations a model: the projections are multiplied
    with each other before they meet a token.
    Source: the model of Mousavi-Hosseini et al. (2025), Figure 2, as in their repository.
    """
    return predict(weights, tokens, logits(weights, tokens))


def logits(weights: Weights, tokens: Tensor) -> Tensor:
    r"""Attention before the softmax, up to a constant for each query.

    .. math:: \tfrac1{\sqrt D} \langle W_Q z_i + b_Q, W_K z_j + b_K \rangle
        = \tfrac1{\sqrt D} \bigl(z_i^\top W_Q^\top W_K z_j + b_Q^\top W_K z_j\bigr) + c_i

    Returns:
        Shape ``(*ensemble, B, N, N)``, the query's axis before the key's, without the c_i, which
        the softmax does not see. So the key's bias is without effect.
    """
    moved = torch.einsum("...kd,...k->...d", weights["key"], weights["query_bias"])
    query = _apply(query_key(weights).mT, moved, tokens)
    return query @ tokens.mT / math.sqrt(tokens.shape[-1])


def bilinear_logits(matrix: Tensor, tokens: Tensor) -> Tensor:
    r"""Attention of a query-key matrix alone, :math:`z_i^\top M z_j / \sqrt D`.

    Args:
        matrix: M, shape ``(*ensemble, D, D)``, rows for the query.
        tokens: Shape ``(*ensemble, B, N, D)``.

    Returns:
        Shape ``(*ensemble, B, N, N)``.
    """
    return tokens @ matrix.unsqueeze(-3) @ tokens.mT / math.sqrt(tokens.shape[-1])


def predict(weights: Weights, tokens: Tensor, scores: Tensor) -> Tensor:
    """The rest of the model, given attention logits ``(*ensemble, B, N, N)`` from anywhere."""
    mixed = scores.softmax(-1) @ tokens
    into = weights["hidden"] @ weights["output"]
    bias = torch.einsum("...hd,...d->...h", into, weights["value_bias"]) + weights["hidden_bias"]
    bias = bias + torch.einsum("...hd,...d->...h", weights["hidden"], weights["output_bias"])
    hidden = _apply(into @ weights["value"], bias, mixed).relu()
    return _apply(weights["readout"], weights["readout_bias"], hidden).squeeze(-1)


def query_key(weights: Weights) -> Tensor:
    r"""The query-key matrix :math:`W_Q^\top W_K`, shape ``(*ensemble, D, D)``, rows for the query.

    It leaves out the biases. The query's adds :math:`\langle b_Q, W_K z_j \rangle` to the logits,
    which moves attention; the key's adds the same to every key, which the softmax does not see.
    """
    return weights["query"].mT @ weights["key"]


def covariance(omega: Tensor, pointers: Tensor | None = None) -> Tensor:
    r"""Covariance of what points with what is pointed at.

    .. math:: \Sigma = \frac1N \sum_t \omega'_t (\omega_t - \bar\omega)^\top, \qquad
        \bar\omega = \frac1N \sum_j \omega_j

    Args:
        omega: Encodings of the positions, shape ``(*ensemble, N, d_e)``.
        pointers: Encodings omega' of the pointers, if not ``omega``; same shape.

    Returns:
        Shape ``(*ensemble, d_e, d_e)``. From uniform attention and a read-out of
        :math:`\langle u, x_j \rangle`, the first gradient step moves the (pointer, position) block
        along it.
    """
    shown = omega if pointers is None else pointers
    return shown.mT @ (omega - omega.mean(-2, keepdim=True)) / omega.shape[-2]


def block_summary(
    matrix: Tensor, omega: Tensor, pointers: Tensor | None = None
) -> dict[str, Tensor]:
    """What a query-key matrix has in the block (pointer, position), for one pointer a token.

    *Energy* is the sum of squared entries. Cosines are between the block and the matrix named.

    Args:
        matrix: Shape ``(E, D, D)``, rows for the query, D = d + 2 d_e.
        omega: Encodings of the positions, shape ``(E, N, d_e)``, E at least 2.
        pointers: Encodings of the pointers, if not ``omega``; same shape.

    Returns:
        One value a model, ``(E,)`` each: ``block_share`` of the matrix's energy; ``diagonal_share``
        of the block's; ``positive_share`` of the diagonal; ``mean_diagonal``; ``mean_beside``, the
        mean size of the block's other entries; ``mean_elsewhere``, the largest mean size of another
        of the nine blocks; ``cosine_identity``; ``cosine_covariance`` of the encodings;
        ``cosine_foreign``, of the next model's; ``cosine_pointers``, of pointers with positions.

    Raises:
        ValueError: shapes that do not fit.
    """
    E, D, d_e = *matrix.shape[:2], omega.shape[-1]
    d = D - 2 * d_e
    if matrix.shape != (E, D, D) or omega.shape[:-2] != (E,) or E < 2 or d < 1:
        raise ValueError(
            f"expected (E, D, D) and (E, N, d_e) with E > 1 and D > 2 d_e, got "
            f"{tuple(matrix.shape)} and {tuple(omega.shape)}"
        )
    places = parts(d, d_e).values()
    blocks = [matrix[:, rows, columns] for rows in places for columns in places]
    block = blocks.pop(7)  # rows of the pointer, columns of the position
    diagonal = block.diagonal(dim1=1, dim2=2)
    beside = block.abs().sum((1, 2)) - diagonal.abs().sum(1)
    energy, sigma = block.square().sum((1, 2)), covariance(omega)
    return {
        "block_share": energy / matrix.square().sum((1, 2)),
        "diagonal_share": diagonal.square().sum(1) / energy,
        "positive_share": (diagonal > 0).to(matrix.dtype).mean(1),
        "mean_diagonal": diagonal.mean(1),
        "mean_beside": beside / max(1, d_e**2 - d_e),
        "mean_elsewhere": torch.stack([v.abs().mean((1, 2)) for v in blocks]).amax(0),
        "cosine_identity": cosine(block, torch.eye(d_e).to(block).expand_as(block)),
        "cosine_covariance": cosine(block, sigma),
        "cosine_foreign": cosine(block, sigma.roll(1, 0)),
        "cosine_pointers": cosine(block, covariance(omega, pointers)),
    }


def cosine(A: Tensor, B: Tensor) -> Tensor:
    r"""Cosine between matrices, :math:`\langle A, B \rangle_F / \|A\|_F \|B\|_F`.

    Args:
        A: Shape ``(*ensemble, rows, columns)``.
        B: The same.

    Returns:
        Shape ``(*ensemble,)``, in [-1, 1]; its square is the share of A's energy along B.
    """
    return (A * B).sum((-2, -1)) / (A.norm(dim=(-2, -1)) * B.norm(dim=(-2, -1)))


def _apply(matrix: Tensor, bias: Tensor, tokens: Tensor) -> Tensor:
    """``matrix @ z + bias`` for every token z of ``(*ensemble, B, N, inputs)``."""
    flat = tokens.flatten(-3, -2)  # (*ensemble, B N, inputs)
    return (flat @ matrix.mT + bias.unsqueeze(-2)).unflatten(-2, tokens.shape[-3:-1])


def _rows(table: Tensor, t: Tensor) -> Tensor:
    """Rows ``t`` of ``(*batch, N, k)``: for ``(*batch, M, q)`` the shape ``(*batch, M, q, k)``."""
    flat = t.flatten(-2).unsqueeze(-1)
    return torch.take_along_dim(table, flat, -2).unflatten(-2, t.shape[-2:])


def _signs(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    return 2.0 * torch.randint(2, (rows, columns), generator=generator) - 1
