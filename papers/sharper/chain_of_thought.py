r"""PARITY by a chain of thought: a two-attention transformer run n times, with weights set by hand.

The string starts with n bits and one scratch bit, 0, and grows by one scratch bit at each step.
Position j and position n + j have the same code :math:`e_j`, a unit vector of k columns: one-hot,
or shorter. So the token at n + t finds input bit t beside scratch bit t. One step averages the two,
turns the average into their even parity by the MLP of :func:`papers.sharper.network.trapezoid`,
and writes the next scratch bit: 1 if the output is below 1/2. After step t the scratch holds the
parity of t bits.

The weights are those of :mod:`papers.sharper.network` for one set of two bits, except that both
score matrices hold a multiple of the identity on the codes: all steps share them, and one forward
pass takes strings of every length. With D = k + 1 columns and 12 hidden units: WKQ1, WV1, WKQ2
(D, D), G (12, D), b (12,), F (D, 12), v2 (D,).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.checks import require_amount, require_bits, require_positive, require_whole, validated
from helpers.rng import Rng
from helpers.sharpness import gradients
from helpers.weights import Weights
from papers.sharper.network import mlp, parity_values, trapezoid

OTHER_BLOCKS = 2 + 12 + 5 + 15 / 16 + 128
"""Squared norm of all blocks but the score matrices: WV1 and v2, G, b, F."""
_CHUNK = 2**9  # strings whose attention stays in cache


@validated
def construct(
    n: int, scale: float | None = None, codes: Tensor | None = None
) -> tuple[Tensor, Weights]:
    r"""Weights that compute the parity of n bits in n steps.

    .. math:: W_{KQ}^{(1)} = W_{KQ}^{(2)} = \frac{L}{1 - \mu} \, I_k, \qquad
        \mu = \max_{j \ne l} \langle e_j, e_l \rangle

    Every code then scores itself at least L higher than any other. One-hot codes have mu = 0.

    Args:
        n: Bits, at least 1.
        scale: L, finite, at least 0; None: :math:`2 \log 2n`, with 2n the longest string.
        codes: Shape ``(n, k)``, float64, different rows of length 1; None: one-hot.

    Returns:
        The codes, and the weights, float64.

    Raises:
        ValueError: n, a scale or the codes are out of range.

    Source: Lintilhac and Shaikh (2026), Appendix G.
    """
    L = _scale(n, scale)
    codes = torch.eye(n, dtype=torch.float64) if codes is None else codes
    if codes.ndim != 2 or len(codes) != n or (codes.norm(dim=1) - 1).abs().max() > 1e-9:
        raise ValueError(f"expected {n} codes of length 1, got shape {tuple(codes.shape)}")
    room = 1 - overlap(codes)
    if room < 1e-9:
        raise ValueError("the codes must differ, two are the same")
    value = torch.zeros(codes.shape[1] + 1, dtype=torch.float64)
    value[-1] = 1
    scores = L / room * torch.diag(1 - value)
    G, b, F = trapezoid(parity_values(2, "even_parity"))
    weights = {"WKQ1": scores, "WV1": torch.outer(value, value), "WKQ2": scores, "v2": value}
    return codes, weights | {"G": G * value, "b": b, "F": value[:, None] * F}


def forward(codes: Tensor, weights: Weights, strings: Tensor) -> tuple[Tensor, Weights]:
    r"""One step: the network's output at the last token; a pure function of the weights.

    With X the cyclic codes beside the bits, and P that clears the value column:

    .. math::

        Y = \mathrm{softmax}(X W_{KQ}^{(1)} X^\top)\, X W_V^{(1)}, \quad
        Z = X P + \mathrm{relu}(Y G^\top + b)\, F^\top, \quad
        f = \mathrm{softmax}(z_{\text{last}}^\top W_{KQ}^{(2)} Z^\top)\, Z v_2

    Args:
        codes: Of the positions, shape ``(n, k)``; n is also the period of the positions.
        weights: As made by :func:`construct`, each with any leading ensemble axes ``*``.
        strings: Shape ``(*, B, m)``, m from 1 to 2 n, in {0, 1}, integer or bool.

    Returns:
        Outputs, shape ``(*, B)``, dtype of the weights, and what happens inside: ``attention1`` of
        shape ``(*, B, m, m)``, ``means`` (the value column of Y) and ``attention2``, ``(*, B, m)``.

    Raises:
        ValueError: strings of another length or other values, or weights for other codes.
        TypeError: strings are floating.

    Source: Lintilhac and Shaikh (2026), Appendices B and G.
    """
    n, k = codes.shape
    if weights["WKQ1"].shape[-1] != k + 1:
        found = weights["WKQ1"].shape[-1] - 1
        raise ValueError(f"the weights are for codes of {found} columns, not {k}")
    require_whole(strings=strings)
    if strings.ndim < 2 or not 1 <= strings.shape[-1] <= 2 * n:
        expected = f"(..., B, m) with m from 1 to {2 * n}"
        raise ValueError(f"expected strings of shape {expected}, got {tuple(strings.shape)}")
    require_bits(strings)
    at, bits = torch.arange(strings.shape[-1]) % n, strings.to(weights["v2"].dtype)
    own = codes[at].to(bits).expand(*bits.shape, -1)
    X = torch.cat((own, bits[..., None]), -1)  # (*, B, m, k + 1)
    matrix = {k: v if v.ndim < 3 else v.unsqueeze(-3) for k, v in weights.items()}  # room for B
    attention1 = (X @ matrix["WKQ1"] @ X.mT).softmax(-1)
    Y = attention1 @ X @ matrix["WV1"]
    M = mlp(Y, matrix["G"], weights["b"][..., None, None, :], matrix["F"])
    Z = torch.nn.functional.pad(own, (0, 1)) + M
    attention2 = (Z[..., -1:, :] @ matrix["WKQ2"] @ Z.mT).squeeze(-2).softmax(-1)
    output = (attention2 * (Z @ weights["v2"][..., None, :, None]).squeeze(-1)).sum(-1)
    return output, {"attention1": attention1, "means": Y[..., -1], "attention2": attention2}


def generate(codes: Tensor, weights: Weights, bits: Tensor) -> tuple[Tensor, Tensor]:
    """Run the whole chain: n steps, each of which reads what the steps before it wrote.

    Args:
        codes: Of the positions, shape ``(n, k)``.
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
    n, outputs = len(codes), []
    if bits.ndim != 2 or bits.shape[-1] != n:
        raise ValueError(f"expected bits of shape (B, {n}), got {tuple(bits.shape)}")
    require_whole(bits=bits)
    strings = torch.nn.functional.pad(bits.long(), (0, 1))
    for _ in range(n):
        parts = [forward(codes, weights, part)[0] for part in strings.split(_CHUNK)]
        outputs.append(torch.cat(parts))
        strings = torch.cat((strings, (outputs[-1] < 0.5).long()[:, None]), -1)
    return strings[:, n + 1 :], torch.stack(outputs, -1)


def errors(codes: Tensor, weights: Weights, bits: Tensor) -> tuple[int, float]:
    """Bits that the chain of :func:`generate` writes wrong, and the largest error of its output."""
    written, outputs = generate(codes, weights, bits)
    parity = bits.long().cumsum(-1) % 2
    return int((written != parity).sum()), float((outputs - (1 - parity)).abs().max())


def squared_gradient(codes: Tensor, weights: Weights, strings: Tensor) -> Tensor:
    """Squared gradient of a step's output in all weights at each string ``(B, m)``: ``(B,)``."""
    found = gradients(lambda w, s: forward(codes, w, s)[0], weights, strings)
    return torch.stack([g.flatten(1).square().sum(1) for g in found.values()]).sum(0)


@validated
def leak(n: int, scale: float | None = None) -> float:
    r"""Largest share of attention that misses the pair with the right code: at the last step.

    .. math:: \lambda = \frac{n - 1}{e^L + n - 1}

    The chain is right for every string if it is at most 1/8, the half-width of the plateaus. With
    one-hot codes the largest error of the output is lambda; with other codes it is at most that.

    Args:
        n: Bits, at least 1.
        scale: L, as for :func:`construct`.

    Source: ours.
    """
    astray = math.exp(-_scale(n, scale)) * (n - 1)
    return astray / (1 + astray)


def overlap(codes: Tensor) -> float:
    """Largest inner product of two different rows, ``(n, k)``; 0 for a single row."""
    if len(codes) < 2:
        return 0.0
    inner = codes @ codes.mT
    return float(inner.fill_diagonal_(-math.inf).max())


@validated
def sign_codes(n: int, rng: Rng) -> Tensor:
    r"""Random signs, no inner product above 1/2: ``(n, k)``, drawn anew until that is so.

    With :math:`k = \lceil 16 \log n \rceil` columns a draw fails with probability below 1/2, by
    Hoeffding's inequality and the number of pairs.

    Args:
        n: Codes, at least 1.
        rng: Source of randomness.

    Source: ours.
    """
    require_positive(n=n)
    k = max(1, math.ceil(16 * math.log(n)))
    while True:
        codes = rng.normal(n, k).sign() / math.sqrt(k)
        if overlap(codes) <= 0.5:
            return codes


@validated
def score_norms(n: float) -> dict[str, float]:
    r"""Squared norm of a score matrix that gives n unit codes a margin of 1, by kind of code.

    ``one-hot``: the identity. ``one-hot, least``: the identity minus 1/n in every entry, than which
    no matrix is smaller. ``random signs``: of :func:`sign_codes` (twice the identity). ``any``: no
    unit codes of any width, with any matrix, have less than half the squared
    :func:`normal_maximum`.

    Args:
        n: Codes, at least 2; may be far beyond what fits in memory.

    Source: ours.
    """
    require_positive(n=n / 2)
    return {
        "one-hot": n,
        "one-hot, least": n - 1,
        "random signs": 4.0 * math.ceil(16 * math.log(n)),
        "any": normal_maximum(n) ** 2 / 2,
    }


@validated
def squared_norm(n: int, codes: str, scale: float | None = None) -> float:
    """Squared norm of all weights of the chain for n bits; for random signs an upper bound.

    Args:
        n: Bits, at least 2.
        codes: A kind of code of :func:`score_norms`.
        scale: L, as for :func:`construct`.
    """
    return OTHER_BLOCKS + 2 * score_norms(n)[codes] * _scale(n, scale) ** 2


@validated
def normal_maximum(n: float) -> float:
    r"""Mean of the largest of n independent standard normals, about :math:`\sqrt{2 \log n}`.

    .. math:: \int_0^\infty (1 - \Phi(x)^n)\, dx - \int_{-\infty}^0 \Phi(x)^n\, dx

    Args:
        n: At least 1. By the trapezoidal rule, to ten digits up to n = 2**60.
    """
    require_positive(n=n)
    x = torch.linspace(0, 14, 28001, dtype=torch.float64)
    above = -torch.expm1(n * torch.special.log_ndtr(x))
    below = (n * torch.special.log_ndtr(-x)).exp()
    return float(torch.trapezoid(above - below, x))


def _scale(n: int, scale: float | None) -> float:
    require_positive(n=n)
    L = 2 * math.log(2 * n) if scale is None else float(scale)
    require_amount(scale=L)
    return L
