r"""Attention heads, written by hand, that read s chosen bits among T: sparse variable creation.

A string b of T bits becomes T + 1 rows of d numbers, a class token last, by one of three maps::

    positions   row t is v_t + e_{b_t}      with given vectors v_t, nearly orthogonal
    trained     row t is p_t + e_{b_t}      the same, p_t chosen for the task: :func:`marked`
    bag         row t is b_t v_t

Every head scores the rows against the class token, :math:`z_t = c^\top W_Q W_K^\top x_t`, mixes
them by a softmax and maps the mixture by :math:`W_V W_C`. Heads add up. Rows are given as they are
and one query reads them: no embedding, stream or norm of :mod:`helpers.nets.transformer` is used.

Source: Edelman, Goel, Kakade and Zhang (2022), Appendix B.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers import cube
from helpers.checks import require_bits, require_choice, require_positive, require_scale, validated
from helpers.rng import Rng
from helpers.weights import Weights

MAPS = ("positions", "trained", "bag")


@dataclass(frozen=True)
class Basis:
    r"""Vectors of the positions and of the tokens.

    Attributes:
        vectors: :math:`v_1, \dots, v_T`, shape ``(T, d)``.
        zero: Embedding of the bit 0, shape ``(d,)``, orthogonal to all others, as are these two:
        one: Embedding of the bit 1.
        cls: The class token.
    """

    vectors: Tensor
    zero: Tensor
    one: Tensor
    cls: Tensor

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
    rounding = 4096 * torch.finfo(gram.dtype if gram.is_floating_point() else torch.float64).eps
    gram = gram.double()
    if gram.ndim != 2 or gram.shape != gram.mT.shape or not torch.allclose(gram, gram.mT):
        raise ValueError(f"gram must be finite, (T, T) and symmetric, got {tuple(gram.shape)}")
    if not torch.allclose(gram.diagonal(), gram.new_ones(())):
        raise ValueError("gram must have ones on the diagonal")
    values, axes = torch.linalg.eigh(gram)
    if values[0] < -rounding * len(gram):
        raise ValueError(f"gram has the negative eigenvalue {values[0].item():.3g}")
    values = torch.where(values > rounding * len(gram), values, 0.0)  # the root magnifies rounding
    vectors = torch.nn.functional.pad(axes * values.sqrt(), (0, 3))
    return Basis(vectors, *torch.eye(len(gram) + 3, dtype=torch.float64)[-3:])


@validated
def marked(T: int, chosen: Sequence[int], *, apart: bool = False) -> Basis:
    """Trained positions (Lemma B.3): a mark at the chosen rows, zero at the others.

    Args:
        T: Bits.
        chosen: I, positions 0 to T - 1.
        apart: Whether each chosen row has a mark of its own, or all have the same.
    """
    _check_subset(T, chosen)
    s = len(chosen) if apart else 1
    tokens = torch.eye(s + 3, dtype=torch.float64)
    vectors = tokens.new_zeros(T, s + 3)
    vectors[list(chosen)] = tokens[:s]
    return Basis(vectors, *tokens[s:])


@validated
def opposed_gram(T: int, s: int, delta: float, among: float | None = None) -> Tensor:
    r"""Inner products :math:`-\Delta` within the first s vectors, :math:`\Delta` to the others.

    The worst case for the scores of the chosen rows against the others.

    Args:
        T: Vectors.
        s: The first ones.
        delta: :math:`\Delta`.
        among: Inner products among the others; None: :math:`\Delta`.
    """
    require_positive(s=s)
    _check_subset(T, range(s))
    gram = torch.full((T, T), delta, dtype=torch.float64)
    gram[s:, s:] = delta if among is None else among
    gram[:s, :s] = -delta
    return gram.fill_diagonal_(1)


@validated
def random_gram(T: int, delta: float, generator: torch.Generator) -> Tensor:
    r"""Inner products drawn from :math:`[-\Delta, \Delta]`, all or none at its ends."""
    require_positive(T=T)
    while True:
        noise = 2 * torch.rand(T, T, generator=generator, dtype=torch.float64) - 1
        noise = noise.sign() if torch.rand((), generator=generator) < 0.5 else noise
        gram = (delta * noise).triu(1)
        gram = (gram + gram.mT).fill_diagonal_(1)
        if torch.linalg.eigvalsh(gram)[0] > 1e-6:
            return gram


@validated
def harder_gram(
    gram: Tensor, delta: float, loss: Callable[[Tensor], float], rng: Rng, steps: int = 100
) -> Tensor:
    r"""A hill climb of the loss: one inner product at a time moved within :math:`\pm\Delta`."""
    top = loss(gram)
    for _ in range(steps):
        i, j = torch.randperm(len(gram), generator=rng.generator)[:2].tolist()
        moved = gram.clone()
        to = rng.uniform(-2, 2)  # beyond an end every other time
        moved[i, j] = moved[j, i] = delta * max(-1.0, min(1.0, to))
        if torch.linalg.eigvalsh(moved)[0] > 1e-9 and (found := loss(moved)) > top:
            gram, top = moved, found
    return gram


@validated
def margin(s: int, delta: float) -> float:
    r"""Least score of a chosen row minus the largest of another, with dual keys at R = 1.

    .. math:: \mu = 1 - \frac{s \Delta}{1 - (s - 1) \Delta}

    It is attained by :func:`opposed_gram`.

    Args:
        s: Chosen rows, at least 1.
        delta: :math:`\Delta`, at least 0.

    Raises:
        ValueError: a number out of range: no margin, the vectors are too close.
    """
    if s < 1 or not 0 <= delta < 1 / (2 * s - 1):
        raise ValueError(f"s >= 1 vectors need Delta from 0 to 1 / (2s - 1), got {s}, {delta}")
    return 1 - s * delta / (1 - (s - 1) * delta)


@validated
def sharpness(T: int, gamma: float, factor: float = 1.0, margin: float = 1.0) -> float:
    r"""Scale of the scores, :math:`R = \log(8 T \cdot \text{factor} / \gamma) / \text{margin}`.

    The factor is s for a bag of vectors. ValueError for a number that is not positive.
    """
    require_scale(T=T, gamma=gamma, factor=factor, margin=margin)
    return math.log(8 * T * factor / gamma) / margin


def rows(kind: str, at: Basis, bits: Tensor) -> Tensor:
    """The input map: strings to T + 1 rows.

    Args:
        kind: One of :data:`MAPS`.
        at: Vectors.
        bits: Shape ``(*, T)`` in {0, 1}.

    Returns:
        Shape ``(*, T + 1, d)``, float64, the class token last.

    Raises:
        ValueError: an unknown map, or another T.
    """
    require_choice("map", kind, MAPS)
    if bits.shape[-1:] != (len(at.vectors),):
        raise ValueError(f"strings must end in T = {len(at.vectors)} bits, got {bits.shape}")
    require_bits(bits)
    b = bits.double()[..., None]
    X = b * at.vectors if kind == "bag" else at.vectors + at.zero + b * (at.one - at.zero)
    return torch.cat([X, at.cls.expand(*X.shape[:-2], 1, -1)], -2)


def forward(heads: Weights, at: Basis, X: Tensor) -> Tensor:
    """Sum of all heads at the class token.

    Args:
        heads: ``WQ``, ``WK``, ``WV`` of shape ``(H, d, k)`` and ``WC`` of shape ``(H, k, k)``.
        at: Vectors, for the class token.
        X: As of :func:`rows`.

    Returns:
        Shape ``(*, k)``: the columns that are not zero.
    """
    query = at.cls @ heads["WQ"]
    keys = torch.einsum("hk,hdk->hd", query, heads["WK"])
    mixture = (X @ keys.mT).softmax(-2).mT @ X
    values = torch.einsum("...hd,hdk->...hk", mixture, heads["WV"])
    return torch.einsum("...hk,hke->...e", values, heads["WC"])


@validated
def mean_head(at: Basis, chosen: Sequence[int], R: float, *, dual_keys: bool = True) -> Weights:
    r"""One head for the mean of signs, :math:`g = \frac1s \sum_{i \in I} (-1)^{b_i}`.

    Args:
        at: Vectors.
        chosen: I, positions 0 to T - 1.
        R: Scale of the scores.
        dual_keys: Whether the key is the vector in the span of the chosen ones that has the inner
            product 1 with each, or :math:`\sum_{i \in I} v_i`, as in the proof of Lemma B.2.
    """
    keys = _chosen(at, chosen, dual_keys)
    return _heads(at, keys.sum(0, keepdim=True), (at.zero - at.one)[None, None], R)


@validated
def sign_heads(at: Basis, chosen: Sequence[int], R: float) -> Weights:
    r"""One head for each chosen bit: column h is :math:`(-1)^{b_{i_h}}` (Lemmas B.2 and B.3)."""
    keys = _chosen(at, chosen, False)
    return _heads(at, keys, torch.eye(len(keys)).double()[..., None] * (at.zero - at.one), R)


@validated
def bag_head(
    at: Basis, chosen: Sequence[int], R: float, *, scalar: bool = False, dual_keys: bool = True
) -> Weights:
    r"""The head of Lemma B.4 on a bag of vectors, with :math:`r = \sum_{i \in I} b_i`.

    Column h is :math:`(b_{i_h} - 1)/(r + 1)`; with ``scalar``, the one column is their sum,
    :math:`(r - s)/(r + 1)`.

    Args:
        at: Vectors.
        chosen: I, positions 0 to T - 1.
        R: Scale of the scores.
        scalar: Whether the columns are added up.
        dual_keys: Dual vectors in place of :math:`v_i`, in keys and in values.
    """
    vectors = _chosen(at, chosen, dual_keys)
    heads = _heads(at, vectors.sum(0, keepdim=True) + at.cls, (vectors - at.cls)[None], R)
    return heads | {"WC": heads["WC"].sum(2, keepdim=True)} if scalar else heads


@validated
def at_norms(heads: Weights, query: float, key: float) -> Weights:
    """The same heads with these Frobenius norms of each ``WQ`` and ``WK``."""
    norms = {"WQ": query, "WK": key}
    scaled = {k: v * heads[k] / heads[k].norm(dim=(1, 2), keepdim=True) for k, v in norms.items()}
    return heads | scaled


def targets(kind: str, bits: Tensor, *, symmetric: bool = False) -> tuple[Tensor, float]:
    r"""The functions of the chosen bits that heads approximate, and their gap :math:`\gamma`.

    Signs :math:`(-1)^{b_i}` or, of a bag, :math:`(b_i - 1)/(r + 1)`; of symmetric functions the
    mean of the signs, or the sum :math:`(r - s)/(r + 1)`. Values of different bits are at least
    :math:`\gamma` apart in a column.

    Args:
        kind: Input map.
        bits: Chosen bits, shape ``(*, s)``.
        symmetric: Whether one column is enough.

    Returns:
        Shape ``(*, s)`` or ``(*, 1)``, and :math:`\gamma`, at most 1.
    """
    s, b = bits.shape[-1], bits.double()
    columns = (b - 1) / (b.sum(-1, keepdim=True) + 1) if kind == "bag" else 1 - 2 * b
    if not symmetric:
        return columns, 1 / s if kind == "bag" else 1.0
    total = columns.sum(-1, keepdim=True)
    return (total, 1 / s) if kind == "bag" else (total / s, min(1.0, 2 / s))


def error(kind: str, at: Basis, heads: Weights, chosen: Sequence[int], bits: Tensor) -> float:
    """Largest distance of the heads' columns from :func:`targets` over strings ``(*, T)``."""
    found = forward(heads, at, rows(kind, at, bits))
    symmetric = found.shape[-1] == 1
    return (
        (found - targets(kind, bits[..., list(chosen)], symmetric=symmetric)[0]).abs().max().item()
    )


@validated
def best_head(at: Basis, s: int, starts: int, rng: Rng, steps: int = 500) -> float:
    r"""Least error that a search by gradient finds for the mean of the first s signs, or its minus.

    All keys and all values of length at most 2: no head with :math:`\|W_V\|_F \|W_C\|_F \le 2` does
    anything else. The p-norm of the error over all strings is lowered, with p from 2 to 40.

    Args:
        at: Few vectors, with positions as their map.
        s: The first ones are chosen.
        starts: Random starts, side by side.
        rng: Of the starts.
        steps: Of Adam.
    """
    bits = cube.bits(len(at.vectors))
    X, target = rows("positions", at, bits), targets("positions", bits[:, :s], symmetric=True)[0]
    given = (3 * rng.normal(2, X.shape[-1], starts)).requires_grad_()
    optimizer, best = torch.optim.Adam([given], lr=0.05), math.inf
    for step in range(steps):
        key, value = given
        value = value / (value.norm(dim=0) / 2).clamp(min=1)
        off = (((X @ key).softmax(1) * (X @ value)).sum(1) - target).abs()  # (strings, starts)
        best = min(best, off.amax(0).min().item())
        p = 2 + 38 * step / steps
        optimizer.zero_grad()
        ((off + 1e-9) ** p).mean(0).pow(1 / p).sum().backward()
        optimizer.step()
    return best


def _heads(at: Basis, keys: Tensor, values: Tensor, R: float) -> Weights:
    """Heads with keys ``(H, d)`` and value columns ``(H, k, d)``, each column sent to itself."""
    if not math.isfinite(R):
        raise ValueError(f"R must be finite, got {R}")
    H, k, d = values.shape
    first = torch.eye(k, dtype=torch.float64)[0]
    return {
        "WQ": (R * at.cls[:, None] * first).expand(H, d, k),
        "WK": keys[..., None] * first,
        "WV": values.mT,
        "WC": torch.diag_embed((values != 0).any(-1).double()),
    }


def _chosen(at: Basis, chosen: Sequence[int], dual_keys: bool) -> Tensor:
    """The chosen vectors, or those in their span that are 1 on one of them and 0 on the others.

    Of vectors that are not independent, the pseudo-inverse: equal ones share what one would have.
    """
    _check_subset(len(at.vectors), chosen)
    vectors = at.vectors[list(chosen)]
    return torch.linalg.pinv(vectors, rtol=1e-9).mT if dual_keys else vectors


def _check_subset(T: int, chosen: Sequence[int]) -> None:
    if not chosen or len(set(chosen)) != len(chosen):
        raise ValueError(f"chosen must hold different positions, at least one, got {list(chosen)}")
    if not all(0 <= i < T for i in chosen):
        raise ValueError(f"chosen must lie between 0 and T - 1 = {T - 1}, got {list(chosen)}")
