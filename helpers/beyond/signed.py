r"""The hand-written transformer for every function of n bits: any signs, any degrees, any sparsity.

:mod:`helpers.sharper.network` computes a sum of at most n characters, all of one degree, with
positive coefficients. Here the terms of a function are dealt out to *heads*. A head is a network of
that kind, with its own attention in both layers and its own value column, for at most n terms of
one sign; the read-out adds the heads up. Degrees mix within a head, because a small set attends to
the output position, whose bit is 0, for the members that it lacks.

Weights are those of :mod:`helpers.sharper.network`, each with a leading axis of heads. A head
of lower degree than the largest has hidden units that are 0. :func:`as_transformer` writes the
heads out as one transformer of two layers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.cube import SparseFunction, spectrum
from helpers.kernels.parity import popcount
from helpers.sharper import network as sharper
from helpers.sharpness import gradients
from helpers.weights import Weights

MAX_TABLE_BITS = 12


@dataclass(frozen=True)
class SignedSpec:
    """Sizes of the network.

    Attributes:
        n: Bits of the input.
        degree: Largest degree of a term, at least 1; sets the hidden units of every head.
        heads: Heads in each layer, H.
    """

    n: int
    degree: int
    heads: int

    @property
    def head(self) -> sharper.ConstructionSpec:
        """Sizes of one head."""
        return sharper.ConstructionSpec(self.n, self.degree, self.n, "character")


@dataclass(frozen=True, eq=False)
class Head:
    """The terms that one head computes.

    Attributes:
        masks: Their sets, shape ``(k,)``, int64.
        sizes: Coefficients without their common sign, shape ``(k,)``, float64, positive.
        sign: 1.0 or -1.0.
        degree: Largest size of a set, at least 1.
    """

    masks: Tensor
    sizes: Tensor
    sign: float
    degree: int


def from_table(table: Tensor, tol: float = 1e-12) -> SparseFunction:
    """The function with these values, as a sum of its characters.

    Args:
        table: Real values at all points of the cube, shape ``(2**n,)``, n from 1 to 12.
        tol: Terms whose coefficient is at most this in size are left out.

    Raises:
        ValueError: another shape, values that are not finite, or no term is left.

    Cost: a Walsh-Hadamard transform.
    """
    n = len(table).bit_length() - 1 if table.ndim == 1 else 0
    if not 1 <= n <= MAX_TABLE_BITS or len(table) != 2**n:
        raise ValueError(
            f"expected a table of shape (2**n,), n from 1 to {MAX_TABLE_BITS}, got "
            f"{tuple(table.shape)}"
        )
    if not table.isfinite().all():
        raise ValueError("the table holds values that are not finite")
    f_hat = spectrum(table.double())
    masks = (f_hat.abs() > tol).nonzero().flatten()
    if not len(masks):
        raise ValueError(f"no coefficient is larger than {tol:g}: the function is 0")
    return SparseFunction(n, masks, f_hat[masks])


def deal(function: SparseFunction, per_head: int | None = None) -> list[Head]:
    """Deal the terms of a function out to heads: of one sign each, of like degrees.

    Args:
        function: In either basis; it is computed in the basis of characters.
        per_head: Most terms of a head, 1 to n; None: n, which makes the fewest heads.

    Returns:
        Heads, positive ones first, by degree within a sign.

    Raises:
        TypeError: not a :class:`helpers.cube.SparseFunction`.
        ValueError: no terms, a coefficient that is not finite, or ``per_head`` outside its range.

    Source: ours. Lintilhac and Shaikh (2026) say in Section 2 that heads can be added.
    """
    if not isinstance(function, SparseFunction):
        raise TypeError(f"expected a SparseFunction, got {type(function).__name__}")
    most = function.n if per_head is None else per_head
    if not 1 <= most <= function.n:
        raise ValueError(f"per_head must lie between 1 and n = {function.n}, got {per_head}")
    masks, coefficients = function.walsh_terms()
    if not coefficients.isfinite().all():
        raise ValueError("the coefficients must be finite")
    heads = []
    for sign in (1.0, -1.0):
        own = (sign * coefficients > 0).nonzero().flatten()
        own = own[popcount(masks[own]).argsort(stable=True)]
        for terms in own.split(most):
            degree = max(1, int(popcount(masks[terms]).max())) if len(terms) else 1
            if len(terms):
                heads.append(Head(masks[terms], coefficients[terms].abs(), sign, degree))
    if not heads:
        raise ValueError("the function has no terms other than 0")
    return heads


def construct(
    function: SparseFunction,
    logit_scale: float | None = None,
    per_head: int | None = None,
) -> tuple[SignedSpec, Weights]:
    r"""Weights that compute a function of n bits at every input, at finite attention scores.

    In head h, with degree d and terms :math:`U_1, \dots, U_k`, position i attends to the members of
    :math:`U_i` with score L, and to the output position with score
    :math:`L + \log(d - |U_i|)` if members are lacking: the mean of the bits is then
    :math:`|x \cap U_i| / d`, up to a leak that the MLP undoes. Positions without a term attend to
    the output position, so the MLP writes 1 there, and the read-out takes it back, as in
    :func:`helpers.sharper.network.construct_exact`. The sign of a head stands in its
    read-out.

    Args:
        function: Any; see :func:`from_table` for one that is given by its values.
        logit_scale: Scale of both layers; None: the larger of the paper's 2 log n and what the
            first layer needs, :math:`\log((4d - 1) n / d)`, for each head.
        per_head: Most terms of a head, as for :func:`deal`.

    Returns:
        Sizes, and the weights, each with a leading axis of heads, float64.

    Raises:
        ValueError: as :func:`deal`, or the scale is smaller than the first layer needs.

    Cost: about 3 n**2 + 12 d n numbers a head; W / n heads, rounded up for each sign, for W terms.
    Source: ours.
    """
    heads = deal(function, per_head)
    spec = SignedSpec(function.n, max(h.degree for h in heads), len(heads))
    made = [_head(function.n, spec.degree, head, logit_scale) for head in heads]
    return spec, {name: torch.stack([w[name] for w in made]) for name in made[0]}


def forward(spec: SignedSpec, weights: Weights, bits: Tensor) -> Tensor:
    r"""Run the network, :math:`f(x) = \sum_h f_h(x)`; a pure function of the weights.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`.
        bits: Shape ``(B, n)`` in {0, 1}, integer or bool.

    Returns:
        Shape ``(B,)``.

    Cost: that of :func:`helpers.sharper.network.forward`, for each head.
    """
    return sharper.forward(spec.head, weights, bits).sum(0)


def squared_norm(weights: Weights) -> Tensor:
    """Sum of the squares of all weights."""
    return torch.stack([w.square().sum() for w in weights.values()]).sum()


def squared_gradients(spec: SignedSpec, weights: Weights, bits: Tensor) -> Tensor:
    r"""Squared norm of the gradient in all weights at each input, :math:`\|\nabla_\theta f\|^2`.

    Heads share no weight, so it is the sum of theirs; they are taken one by one.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`.
        bits: Shape ``(B, n)``.

    Returns:
        Shape ``(B,)``. Its mean over all inputs is half the trace of the Hessian of the squared
        error, if the network equals its target.
    """
    total = weights["v2"].new_zeros(len(bits))
    for h in range(spec.heads):
        head = {name: v[h] for name, v in weights.items()}
        found = gradients(lambda w, x: sharper.forward(spec.head, w, x), head, bits)
        for gradient in found.values():
            total += gradient.flatten(1).square().sum(1)
    return total


def as_transformer(spec: SignedSpec, weights: Weights) -> Weights:
    """The heads written out as one transformer, with n + 1 columns of positions and one a head.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`.

    Returns:
        With D = n + 1 + heads columns and M = heads * 4 (degree + 1) hidden units: ``WKQ1``,
        ``WV1``, ``WKQ2`` of shape ``(heads, D, D)``, ``v2`` ``(heads, D)``, ``G`` ``(M, D)``, ``b``
        ``(M,)``, ``F`` ``(D, M)``. The norm is that of ``weights``; see :func:`run`.
    """
    H, P, units = spec.heads, spec.n + 1, weights["b"].shape[-1]
    D, one = P + H, weights["v2"].new_zeros
    wide = {name: one(H, D, D) for name in ("WKQ1", "WV1", "WKQ2")}
    wide |= {"v2": one(H, D), "G": one(H * units, D), "F": one(D, H * units)}
    for h in range(H):
        own, hidden = [*range(P), P + h], slice(h * units, (h + 1) * units)
        first = [*range(P), P]  # the bits stand in the first value column
        for name, rows, columns in (
            ("WKQ1", first, first),
            ("WV1", first, own),
            ("WKQ2", own, own),
        ):
            wide[name][h, torch.tensor(rows)[:, None], torch.tensor(columns)] = weights[name][h]
        wide["v2"][h, own] = weights["v2"][h]
        wide["G"][hidden, own] = weights["G"][h]
        wide["F"][own, hidden] = weights["F"][h]
    return wide | {"b": weights["b"].flatten()}


def run(spec: SignedSpec, wide: Weights, bits: Tensor) -> Tensor:
    r"""Run the one transformer of :func:`as_transformer`.

    .. math::

        Y = \sum_h \mathrm{softmax}(X K_h X^\top) X V_h, \qquad
        Z = X P + \mathrm{relu}(Y G^\top + b) F^\top, \qquad
        f = \sum_h \mathrm{softmax}(z_{n+1}^\top Q_h Z^\top) Z v_h

    P clears the value columns.

    Args:
        spec: Sizes.
        wide: As made by :func:`as_transformer`.
        bits: Shape ``(B, n)``.

    Returns:
        Shape ``(B,)``.
    """
    P = spec.n + 1
    X = torch.nn.functional.pad(sharper.tokens(spec.head, bits), (0, spec.heads - 1))
    X = X[:, None]  # room for the heads: (B, 1, P, D)
    Y = ((X @ wide["WKQ1"] @ X.mT).softmax(-1) @ X @ wide["WV1"]).sum(1)
    kept = torch.arange(X.shape[-1]) < P
    Z = X[:, 0] * kept + sharper.mlp(Y, wide["G"], wide["b"], wide["F"])
    scores = torch.einsum("bd,hde,bje->bhj", Z[:, -1], wide["WKQ2"], Z)
    return torch.einsum("bhj,bje,he->b", scores.softmax(-1), Z, wide["v2"])


def norm_bound(n: int, heads: list[Head]) -> float:
    r"""Bound on :func:`squared_norm` at the default scale.

    With L the scale of a head, d its degree, k its terms, and S the sum of their sizes:

    .. math::

        \sum_h \Bigl[ 1 + M(d) + L^2 \textstyle\sum_i |U_i| + k (L + \log d)^2
        + (n + 1 - k) \log^2((4d-1) n) + \sum_i (L + \log c_i)^2
        + (n + 2 - k) \bigl(S + (n + 1 - k) e^{-L}\bigr)^2 \Bigr]

    with :math:`M(d) = 4 (d + 1) + \|b\|^2 + 16 d^2 (d + 1)` for the MLP.

    Source: ours: every block of :func:`construct`, with :math:`\log(d - |U|) \le \log d`.
    """
    total = 0.0
    for head in heads:
        d, k = head.degree, len(head.masks)
        L, S = _scale(n, d, None), head.sizes.sum().item()
        _, b, F = sharper.trapezoid(sharper.parity_values(d, "character"))
        idle = n + 1 - k
        members = int(popcount(head.masks).sum())
        total += 1 + len(b) + (b.square().sum() + F.square().sum()).item()
        total += L**2 * members + k * (L + math.log(d)) ** 2
        total += idle * math.log((4 * d - 1) * n) ** 2
        total += (L + head.sizes.log()).square().sum().item()
        total += (S + idle * math.exp(-L)) ** 2 * (1 + idle)
    return total


def sharpness_bound(n: int, heads: list[Head]) -> float:
    r"""Bound on :func:`squared_gradients` at every input, at the default scale.

    With the letters of :func:`norm_bound`, :math:`S' = S + (n + 1 - k) e^{-L}`, the scores
    :math:`\Lambda_i = |L + \log c_i|`, the largest of them :math:`\Lambda`, and
    :math:`h = 4 (d+1) (1 + \frac3{4d})^2`, which bounds the squared hidden layer:

    .. math::

        \sum_h \Bigl[ 2 + S'^2 \Bigl( 4 + 32 d^2 (d+1) + h \bigl( 1 + n - k
        + \textstyle\sum_i \Lambda_i^2 + (1 + \Lambda)^2 \bigr) \Bigr) \Bigr]

    The terms are, from the left: the read-out, the second scores, G and b, the value row of F, and
    its rows for positions. Values and first scores have no gradient: every mean is on a plateau.

    Source: ours. If the squared coefficients add up to 1, the squares of S add up to at most n
    over heads of n terms, so that the bound does not grow with the sparsity but by its 2.
    """
    total = 0.0
    for head in heads:
        d, k = head.degree, len(head.masks)
        L = _scale(n, d, None)
        scores = (L + head.sizes.log()).abs()
        read = head.sizes.sum().item() + (n + 1 - k) * math.exp(-L)
        hidden = 4 * (d + 1) * (1 + 3 / (4 * d)) ** 2
        rows = 1 + n - k + scores.square().sum().item() + (1 + scores.max().item()) ** 2
        total += 2 + read**2 * (4 + 32 * d**2 * (d + 1) + hidden * rows)
    return total


def _head(n: int, widest: int, head: Head, logit_scale: float | None) -> Weights:
    """Weights of one head, with the hidden units of the ``widest`` degree."""
    d, k, D = head.degree, len(head.masks), n + 2
    L = _scale(n, d, logit_scale)
    inclusion = (head.masks[:, None] >> torch.arange(n) & 1).double()
    lacking = d - inclusion.sum(1)
    scores = torch.zeros(D, D, dtype=torch.float64)
    scores[:k, :n] = L * inclusion
    scores[:k, n] = torch.where(lacking > 0, L + lacking.clamp(min=1).log(), 0.0)
    scores[k : n + 1, n] = math.log((4 * d - 1) * n)
    value = torch.zeros(D, D, dtype=torch.float64)
    value[-1, -1] = 1
    G, b, F = sharper.trapezoid(sharper.parity_values(d, "character"))
    unused = 4 * (widest - d)
    hidden = torch.zeros(len(b) + unused, D, dtype=torch.float64)
    hidden[: len(b), -1:] = G
    written = torch.zeros(D, len(b) + unused, dtype=torch.float64)
    written[-1:, : len(b)] = F
    weigh = torch.zeros(D, D, dtype=torch.float64)
    weigh[n, :k] = head.sizes.log() + L
    total = head.sizes.sum()
    idle = (n + 1 - k) * math.exp(-L)
    read = torch.zeros(D, dtype=torch.float64)
    read[-1] = head.sign * (total + idle)  # S / (1 - lambda)
    read[k : n + 1] = -read[-1]
    return {
        "WKQ1": scores,
        "WV1": value,
        "G": hidden,
        "b": torch.nn.functional.pad(b, (0, unused)),
        "F": written,
        "WKQ2": weigh,
        "v2": read,
    }


def _scale(n: int, degree: int, logit_scale: float | None) -> float:
    """The scale of a head; ValueError if it is too small for its plateaus."""
    needed = math.log((4 * degree - 1) * n / degree)
    if logit_scale is None:
        return max(2 * math.log(n), needed)
    if not needed <= logit_scale < math.inf:
        raise ValueError(
            f"with n = {n} and degree {degree} the scale must be finite and at least "
            f"{needed:.6g}, got {logit_scale}"
        )
    return float(logit_scale)
