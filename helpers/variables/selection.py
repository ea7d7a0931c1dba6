r"""Attention heads, written by hand, that read s chosen bits among T: sparse variable creation.

A string b of T bits becomes T + 1 rows of d numbers, a class token last, by one of three maps::

    positions   row t is v_t + e_{b_t}      with nearly orthogonal vectors v_t
    trained     row t is p_t + e_{b_t}      with positions p_t chosen for the task
    bag         row t is b_t v_t

Every head scores the rows against the class token, :math:`z_t = c^\top W_Q W_K^\top x_t`, mixes
them by a softmax and maps the mixture by :math:`W_V W_C`. Heads add up. Rows are given as they are
and one query reads them: no embedding, stream or norm of :mod:`helpers.nets.transformer` is used.

Source: Edelman, Goel, Kakade and Zhang (2022), Appendix B.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_bits, require_choice, require_positive, require_scale
from helpers.weights import Weights

MAPS = ("positions", "trained", "bag")


@dataclass(frozen=True)
class Basis:
    r"""Vectors of the positions and of the tokens.

    Attributes:
        vectors: :math:`v_1, \dots, v_T`, unit vectors, shape ``(T, d)``.
        zero: Embedding of the bit 0, shape ``(d,)``, orthogonal to all others, as are these two:
        one: Embedding of the bit 1.
        cls: The class token.
    """

    vectors: Tensor
    zero: Tensor
    one: Tensor
    cls: Tensor

    @property
    def length(self) -> int:
        """Bits of a string, T."""
        return self.vectors.shape[0]

    @property
    def coherence(self) -> float:
        r"""Largest inner product of two different vectors, :math:`\Delta`."""
        gram = self.vectors @ self.vectors.mT
        return (gram - torch.diag(gram.diagonal())).abs().max().item()


def basis(gram: Tensor) -> Basis:
    """Vectors with given inner products, and three directions orthogonal to them.

    Args:
        gram: Inner products, shape ``(T, T)``, symmetric, ones on the diagonal, no negative
            eigenvalue beyond rounding. The identity gives an orthonormal basis.

    Returns:
        A basis of ``d = T + 3`` columns, float64.

    Raises:
        ValueError: no such vectors exist.
    """
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not len(gram):
        raise ValueError(f"gram must be (T, T) with T at least 1, got {tuple(gram.shape)}")
    gram = gram.double()
    if not gram.isfinite().all():
        raise ValueError("gram must be finite")
    if not torch.allclose(gram, gram.mT) or not torch.allclose(gram.diagonal(), gram.new_ones(())):
        raise ValueError("gram must be symmetric with ones on the diagonal")
    values, axes = torch.linalg.eigh(gram)
    if values[0] < -1e-12 * len(gram):
        raise ValueError(f"gram has the negative eigenvalue {values[0].item():.3g}")
    T = len(gram)
    vectors = torch.zeros(T, T + 3, dtype=torch.float64)
    vectors[:, :T] = axes * values.clamp(min=0).sqrt()
    return Basis(vectors, *torch.eye(T + 3, dtype=torch.float64)[T:])


def opposed_gram(T: int, s: int, delta: float) -> Tensor:
    r"""Inner products :math:`-\Delta` within the first s vectors, :math:`+\Delta` elsewhere.

    The worst case for the scores of the chosen rows against the others.
    """
    _check_subset(T, range(s))
    if not 0 <= delta <= 1:
        raise ValueError(f"delta must lie in [0, 1], got {delta}")
    gram = torch.full((T, T), delta, dtype=torch.float64)
    gram[:s, :s] = -delta
    return gram.fill_diagonal_(1)


def uneven_gram(T: int, s: int, delta: float) -> Tensor:
    r"""Inner products :math:`\pm\Delta` within the first s vectors, 0 elsewhere.

    The first vector is at :math:`+\Delta` to the others, which are at :math:`-\Delta` to each
    other: the worst case for equal scores within the chosen rows.
    """
    _check_subset(T, range(s))
    if not 0 <= delta <= 1:
        raise ValueError(f"delta must lie in [0, 1], got {delta}")
    gram = torch.zeros(T, T, dtype=torch.float64)
    gram[:s, :s] = -delta
    gram[0, 1:s] = gram[1:s, 0] = delta
    return gram.fill_diagonal_(1)


def dual(vectors: Tensor) -> Tensor:
    r"""The vectors in the same span with :math:`u_i^\top v_j = 1` if i = j, else 0.

    Args:
        vectors: Independent, shape ``(s, d)``.

    Raises:
        ValueError: they are not independent.
    """
    gram = vectors @ vectors.mT
    if torch.linalg.eigvalsh(gram)[0] < 1e-9:
        raise ValueError(f"the {len(vectors)} chosen vectors are not independent")
    return torch.linalg.solve(gram, vectors)


def sharpness(T: int, gamma: float, factor: float = 1.0, margin: float = 1.0) -> float:
    r"""Scale of the scores, :math:`R = \log(8 T \cdot \text{factor} / \gamma) / \text{margin}`.

    Args:
        T: Bits, at least 1.
        gamma: Four times the error allowed, above 0.
        factor: s for a bag of vectors, else 1.
        margin: Least score of a chosen row minus the largest of another, at R = 1; above 0.

    Raises:
        ValueError: a number outside its range.
    """
    require_positive(T=T)
    require_scale(gamma=gamma, factor=factor, margin=margin)
    return math.log(8 * T * factor / gamma) / margin


def margin(s: int, coherence: float, *, dual_keys: bool = False) -> float:
    r"""Least score of a chosen row minus the largest of another, at R = 1, by coherence alone.

    With the key :math:`\sum_i v_i` that is :math:`1 - (2s - 1)\Delta`. With dual keys the key is
    :math:`\sum_i \alpha_i v_i` with :math:`\|\alpha\|_1 \le s / (1 - (s - 1)\Delta)`, and it is
    :math:`1 - s \Delta / (1 - (s - 1) \Delta)`. Both are attained by :func:`opposed_gram`.

    Args:
        s: Chosen rows, at least 1.
        coherence: :math:`\Delta`, at least 0.
        dual_keys: See :func:`mean_head`.

    Raises:
        ValueError: a number out of range, or no margin: the vectors are too close.
    """
    if s < 1 or not 0 <= coherence < math.inf:
        raise ValueError(f"s must be at least 1 and coherence at least 0, got {s}, {coherence}")
    found = 1 - (2 * s - 1) * coherence
    if found <= 0:
        raise ValueError(
            f"the vectors are too close to choose {s}: 1 - (2s - 1) Delta = {found:.3g}"
        )
    return found / (1 - (s - 1) * coherence) if dual_keys else found


def rows(kind: str, at: Basis, bits: Tensor, positions: Tensor | None = None) -> Tensor:
    """The input map: strings to T + 1 rows.

    Args:
        kind: One of :data:`MAPS`.
        at: Vectors.
        bits: Shape ``(*, T)`` in {0, 1}.
        positions: For ``"trained"``, shape ``(T, d)``.

    Returns:
        Shape ``(*, T + 1, d)``, float64, the class token last.

    Raises:
        ValueError: an unknown map, another T, or positions missing.
    """
    require_choice("map", kind, MAPS)
    if bits.shape[-1:] != (at.length,):
        raise ValueError(f"strings must end in T = {at.length} bits, got {tuple(bits.shape)}")
    require_bits(bits)
    b = bits.double()[..., None]
    if kind == "bag":
        X = b * at.vectors
    else:
        P = at.vectors if kind == "positions" else positions
        if P is None:
            raise ValueError("the map 'trained' needs its positions")
        X = P + at.zero + b * (at.one - at.zero)
    return torch.cat([X, at.cls.expand(*X.shape[:-2], 1, -1)], -2)


def forward(heads: Weights, at: Basis, X: Tensor) -> Tensor:
    """Sum of all heads at the class token.

    Args:
        heads: ``WQ``, ``WK``, ``WV`` of shape ``(H, d, k)`` and ``WC`` of shape ``(H, k, d)``.
        at: Vectors, for the class token.
        X: As of :func:`rows`.

    Returns:
        Shape ``(*, d)``.
    """
    query = at.cls @ heads["WQ"]
    keys = torch.einsum("hk,hdk->hd", query, heads["WK"])
    mixture = (X @ keys.mT).softmax(-2).mT @ X
    return torch.einsum("...hd,hdk,hke->...e", mixture, heads["WV"], heads["WC"])


def mean_head(at: Basis, chosen: Sequence[int], R: float, *, dual_keys: bool = False) -> Weights:
    r"""One head for the mean of signs, :math:`g = \frac1s \sum_{i \in I} (-1)^{b_i}`, column 1.

    Its key is :math:`\sum_{i \in I} v_i` (Lemma B.2), or, with ``dual_keys``, the vector in the
    same span that has the inner product 1 with every :math:`v_i`, :math:`i \in I`.

    Args:
        at: Vectors.
        chosen: I, positions 0 to T - 1.
        R: Scale of the scores.
        dual_keys: Whether the scores of the chosen rows are made equal.
    """
    _check_subset(at.length, chosen)
    key = (dual(at.vectors[list(chosen)]) if dual_keys else at.vectors[list(chosen)]).sum(0)
    return _stack([_head(at, key, [(at.zero - at.one, 0)], R)])


def sign_heads(at: Basis, chosen: Sequence[int], R: float) -> Weights:
    r"""One head for each chosen bit: column h is :math:`(-1)^{b_{i_h}}` (Lemma B.2, s heads)."""
    _check_subset(at.length, chosen)
    return _stack(
        [_head(at, at.vectors[i], [(at.zero - at.one, h)], R) for h, i in enumerate(chosen)]
    )


def trained_mean_head(at: Basis, chosen: Sequence[int], R: float) -> tuple[Tensor, Weights]:
    """Positions ``(T, d)`` and one head for the mean of signs (Lemma B.3)."""
    _check_subset(at.length, chosen)
    positions = torch.zeros_like(at.vectors)
    mark = torch.eye(positions.shape[1], dtype=torch.float64)[0]
    positions[list(chosen)] = mark
    return positions, _stack([_head(at, mark, [(at.zero - at.one, 0)], R)])


def trained_sign_heads(at: Basis, chosen: Sequence[int], R: float) -> tuple[Tensor, Weights]:
    """Positions ``(T, d)`` and one head for each chosen bit (Lemma B.3, s heads)."""
    _check_subset(at.length, chosen)
    if len(chosen) > at.vectors.shape[1]:
        raise ValueError(f"{len(chosen)} marks need as many columns, got {at.vectors.shape[1]}")
    marks = torch.eye(at.vectors.shape[1], dtype=torch.float64)[: len(chosen)]
    positions = torch.zeros_like(at.vectors)
    positions[list(chosen)] = marks
    return positions, _stack(
        [_head(at, mark, [(at.zero - at.one, h)], R) for h, mark in enumerate(marks)]
    )


def bag_head(
    at: Basis, chosen: Sequence[int], R: float, *, scalar: bool = False, dual_keys: bool = False
) -> Weights:
    r"""The head of Lemma B.4 on a bag of vectors, with :math:`r = \sum_{i \in I} b_i`.

    Column h is :math:`(b_{i_h} - 1)/(r + 1)`; with ``scalar``, column 1 is their sum,
    :math:`(r - s)/(r + 1)`.

    Args:
        at: Vectors.
        chosen: I, positions 0 to T - 1.
        R: Scale of the scores.
        scalar: Whether the columns are added up.
        dual_keys: Dual vectors in place of :math:`v_i`, in keys and in values.
    """
    _check_subset(at.length, chosen)
    vectors = at.vectors[list(chosen)]
    vectors = dual(vectors) if dual_keys else vectors
    values = [(u - at.cls, 0 if scalar else h) for h, u in enumerate(vectors)]
    return _stack([_head(at, vectors.sum(0) + at.cls, values, R)])


def _head(at: Basis, key: Tensor, values: list[tuple[Tensor, int]], R: float) -> Weights:
    """A head with one score and ``len(values)`` value columns, each sent to an output column."""
    if not math.isfinite(R):
        raise ValueError(f"R must be finite, got {R}")
    d, k = at.vectors.shape[1], len(values)
    weights = {name: at.vectors.new_zeros(d, k) for name in ("WQ", "WK", "WV")}
    weights["WC"] = at.vectors.new_zeros(k, d)
    weights["WQ"][:, 0] = R * at.cls
    weights["WK"][:, 0] = key
    for j, (value, column) in enumerate(values):
        weights["WV"][:, j] = value
        weights["WC"][j, column] = 1
    return weights


def _stack(heads: list[Weights]) -> Weights:
    return {name: torch.stack([h[name] for h in heads]) for name in heads[0]}


def _check_subset(T: int, chosen: Sequence[int]) -> None:
    if not chosen or len(set(chosen)) != len(chosen):
        raise ValueError(f"chosen must hold different positions, at least one, got {list(chosen)}")
    if not all(0 <= i < T for i in chosen):
        raise ValueError(f"chosen must lie between 0 and T - 1 = {T - 1}, got {list(chosen)}")
