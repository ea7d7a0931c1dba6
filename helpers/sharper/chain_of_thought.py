r"""PARITY by a chain of thought: a two-attention transformer run n times, with weights set by hand.

The string starts with n bits and one scratch bit, 0, and grows by one scratch bit at each step.
Position j and position n + j have the same code, the one-hot vector e_j, so the token at n + t
finds input bit t beside scratch bit t. One step averages the two, turns the average into their
even parity by the MLP of :func:`helpers.sharper.network.trapezoid`, and writes the next
scratch bit: 1 if the output is below 1/2. After step t the scratch holds the parity of t bits.

The weights are those of :mod:`helpers.sharper.network` for one set of two bits, except that
both score matrices hold a multiple of the identity on the codes: all steps share them, and one
forward pass takes strings of every length, where that module's has one length. With
D = n + 1 columns and 12 hidden units: WKQ1, WV1, WKQ2 (D, D), G (12, D), b (12,), F (D, 12),
v2 (D,).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_amount, require_bits, require_whole
from helpers.sharper.network import mlp, parity_values, trapezoid
from helpers.weights import Weights

_CHUNK = 2**9  # strings whose attention stays in cache


@dataclass(frozen=True)
class ChainSpec:
    """Sizes of the network.

    Attributes:
        n: Bits of the input, which is also the period of the positions and the number of steps.
    """

    n: int

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise ValueError(f"n must be an integer of at least 1, got {self.n!r}")

    @property
    def longest(self) -> int:
        """Tokens at the last step."""
        return 2 * self.n

    @property
    def width(self) -> int:
        """Columns of a token: one for each code, and the value."""
        return self.n + 1

    @property
    def hidden(self) -> int:
        """Hidden units of the MLP, for two bits."""
        return 12


def construct(
    n: int, logit_scale: float | Sequence[float] | None = None
) -> tuple[ChainSpec, Weights]:
    r"""Weights that compute the parity of n bits in n steps.

    .. math:: W_{KQ}^{(1)} = L_1 \sum_{j=1}^n e_j e_j^\top, \qquad
        W_{KQ}^{(2)} = L_2 \sum_{j=1}^n e_j e_j^\top

    Args:
        n: Bits, at least 1.
        logit_scale: None: :math:`2 \log 2n` in both layers, with 2n the longest string. A number:
            that scale in both. A pair: one for each layer. Finite, at least 0.

    Returns:
        The sizes, and the weights, float64.

    Raises:
        ValueError: n or a scale is out of range.

    Source: Lintilhac and Shaikh (2026), Appendix G, where the first matrix has one entry; see the
    chapter on chain of thought.
    """
    spec = ChainSpec(n)
    first, second = _scales(n, logit_scale)
    D = spec.width
    codes = torch.eye(D, dtype=torch.float64)
    codes[-1, -1] = 0
    value = torch.zeros(D, dtype=torch.float64)
    value[-1] = 1
    G, b, F = trapezoid(parity_values(2, "even_parity"))
    weights = {
        "WKQ1": first * codes,
        "WV1": torch.outer(value, value),
        "G": G * value,
        "b": b,
        "F": value[:, None] * F,
        "WKQ2": second * codes,
        "v2": value,
    }
    return spec, weights


def tokens(spec: ChainSpec, strings: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """The input matrix X: cyclic one-hot codes beside the bits.

    Args:
        spec: Sizes.
        strings: Bits read and written so far, shape ``(*, B, k)`` with k from 1 to 2 n, in {0, 1},
            integer or bool.
        dtype: Of the result.

    Returns:
        Shape ``(*, B, k, n + 1)``.

    Raises:
        ValueError: another length, or a number other than 0 and 1.
        TypeError: strings are floating.
    """
    require_whole(strings=strings)
    if strings.ndim < 2 or not 1 <= strings.shape[-1] <= spec.longest:
        raise ValueError(
            f"expected strings of shape (..., B, k) with k from 1 to {spec.longest}, got "
            f"{tuple(strings.shape)}"
        )
    require_bits(strings)
    at = torch.arange(strings.shape[-1], device=strings.device) % spec.n
    codes = torch.nn.functional.one_hot(at, spec.n).to(dtype)
    return torch.cat((codes.expand(*strings.shape, -1), strings.to(dtype)[..., None]), -1)


def forward(spec: ChainSpec, weights: Weights, strings: Tensor) -> tuple[Tensor, Weights]:
    r"""One step: the network's output at the last token; a pure function of the weights.

    With X of :func:`tokens` and P that clears the value column:

    .. math::

        Y = \mathrm{softmax}(X W_{KQ}^{(1)} X^\top)\, X W_V^{(1)}, \quad
        Z = X P + \mathrm{relu}(Y G^\top + b)\, F^\top, \quad
        f = \mathrm{softmax}(z_{\text{last}}^\top W_{KQ}^{(2)} Z^\top)\, Z v_2

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`, each with any leading ensemble axes ``*``.
        strings: Shape ``(*, B, k)``, as for :func:`tokens`.

    Returns:
        Outputs, shape ``(*, B)``, dtype of the weights, and what happens inside: ``attention1`` of
        shape ``(*, B, k, k)``, ``means`` (the value column of Y), ``parities`` (that of Z) and
        ``attention2``, each ``(*, B, k)``.

    Raises:
        ValueError: strings of another length or other values, or weights for another n.
        TypeError: strings are floating.

    Source: Lintilhac and Shaikh (2026), Appendices B and G.
    """
    if weights["WKQ1"].shape[-1] != spec.width:
        found = weights["WKQ1"].shape[-1] - 1
        raise ValueError(f"the weights are for {found} bits, the sizes for {spec.n}")
    matrix = {k: v if v.ndim < 3 else v.unsqueeze(-3) for k, v in weights.items()}  # room for B
    X = tokens(spec, strings, weights["v2"].dtype)
    attention1 = (X @ matrix["WKQ1"] @ X.mT).softmax(-1)
    Y = attention1 @ X @ matrix["WV1"]
    M = mlp(Y, matrix["G"], weights["b"][..., None, None, :], matrix["F"])
    Z = torch.cat((X[..., :-1], torch.zeros_like(X[..., -1:])), -1) + M
    attention2 = (Z[..., -1:, :] @ matrix["WKQ2"] @ Z.mT).squeeze(-2).softmax(-1)
    output = (attention2 * (Z @ weights["v2"][..., None, :, None]).squeeze(-1)).sum(-1)
    return output, {
        "attention1": attention1,
        "means": Y[..., -1],
        "parities": Z[..., -1],
        "attention2": attention2,
    }


def generate(spec: ChainSpec, weights: Weights, bits: Tensor) -> tuple[Tensor, Tensor]:
    """Run the whole chain: n steps, each of which reads what the steps before it wrote.

    Args:
        spec: Sizes.
        weights: As made by :func:`construct`, without ensemble axes.
        bits: Inputs, shape ``(B, n)`` in {0, 1}, integer or bool.

    Returns:
        What was written, shape ``(B, n)``, int64: entry t is the parity of bits 1 to t + 1 if all
        went well, and the last is the answer; and the outputs before rounding, shape ``(B, n)``.

    Raises:
        ValueError: bits of another shape or other values.
        TypeError: bits are floating.

    Cost: 512 strings are run at a time, with about 9 n**2 numbers for each.
    """
    if bits.ndim != 2 or bits.shape[-1] != spec.n:
        raise ValueError(f"expected bits of shape (B, {spec.n}), got {tuple(bits.shape)}")
    require_whole(bits=bits)
    parts = [_generate(spec, weights, part) for part in bits.long().split(_CHUNK)]
    written, outputs = zip(*parts, strict=True)
    return torch.cat(written), torch.cat(outputs)


def leaks(n: int, logit_scale: float | Sequence[float] | None = None) -> tuple[float, float]:
    r"""Largest shares of attention that miss the pair with the right code, at the last step.

    .. math:: \varepsilon = \frac{n - 1}{e^{L_1} + n - 1}, \qquad
        \lambda = \frac{n - 1}{e^{L_2} + n - 1}

    The chain is right for every string if :math:`\varepsilon \le \frac18`, the half-width of the
    plateaus, and :math:`\lambda < \frac12`, what rounding forgives.

    Args:
        n: Bits, at least 1.
        logit_scale: As for :func:`construct`.

    Source: ours.
    """
    ChainSpec(n)
    first, second = (math.exp(-s) * (n - 1) for s in _scales(n, logit_scale))
    return first / (1 + first), second / (1 + second)


def least_scores(n: int, margin: float) -> Tensor:
    r"""The smallest score matrix that lets every one of n codes find itself by a margin.

    .. math:: W = L \Bigl(I - \frac1n \mathbf 1 \mathbf 1^\top\Bigr), \qquad
        \|W\|_F^2 = (n - 1) L^2

    No matrix with :math:`W_{tt} - W_{tj} \ge L` for all :math:`j \ne t` has a smaller norm: this
    one is a sum of the constraints' normals with multipliers L/n, all positive.

    Args:
        n: Codes, at least 1.
        margin: L, at least 0 and finite.

    Returns:
        Shape ``(n, n)``, float64.

    Source: ours.
    """
    ChainSpec(n)
    require_amount(margin=margin)
    return margin * (torch.eye(n, dtype=torch.float64) - 1 / n)


def _generate(spec: ChainSpec, weights: Weights, bits: Tensor) -> tuple[Tensor, Tensor]:
    strings = torch.nn.functional.pad(bits, (0, 1))
    outputs = []
    for _ in range(spec.n):
        output, _ = forward(spec, weights, strings)
        outputs.append(output)
        strings = torch.cat((strings, (output < 0.5).long()[:, None]), -1)
    return strings[:, spec.n + 1 :], torch.stack(outputs, -1)


def _scales(n: int, logit_scale: float | Sequence[float] | None) -> tuple[float, float]:
    if logit_scale is None:
        logit_scale = 2 * math.log(2 * n)
    pair = tuple(logit_scale) if isinstance(logit_scale, Sequence) else (logit_scale,) * 2
    if len(pair) != 2:
        raise ValueError(f"logit_scale takes one scale or a pair, got {len(pair)} numbers")
    for scale in pair:
        if not 0 <= scale < math.inf:
            raise ValueError(f"a scale must be finite and at least 0, got {scale}")
    return float(pair[0]), float(pair[1])
