r"""Layer norm's magnification of one bit, in transformers as Hahn and Rofin (2024) define them.

The model is :class:`papers.sensitive.parity.PostNormSpec`: layer k gives
:math:`Y^{(k)}_w` to a layer norm without gain and bias, whose deviation at token w is
:math:`N^{(k)}_w = \sqrt{\sigma^2(Y^{(k)}_w) + \varepsilon}`. Tables over the cube have the index
convention of :mod:`helpers.cube`, so a run on ``cube.bits(n)`` is a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from helpers import cube
from helpers.checks import require_amount, require_scale, validated
from helpers.cube import local_sensitivity
from helpers.nets.norm import variance
from helpers.rng import f64
from helpers.weights import Weights, check_weights
from papers.sensitive.influence import at_neighbours, tail_bound
from papers.sensitive.magnification import layer_norm_blowup
from papers.sensitive.parity import PostNormSpec, forward, shapes


class Run(NamedTuple):
    r"""What happens inside a transformer.

    Attributes:
        outputs: :math:`v \cdot y^{(L)}_n`, shape ``(*, B)``.
        tokens: :math:`y^{(0)}, \dots, y^{(L)}`, each ``(*, B, n, D)``.
        given: :math:`Y^{(1)}, \dots, Y^{(L)}`, what each layer norm is given.
        blowup: The paper's :math:`\prod_k \max_w (1 + 1/N^{(k)}_w)`, shape ``(*, B)``.
        magnification: The same without the ones, :math:`\prod_k \max_w 1/N^{(k)}_w`.
    """

    outputs: Tensor
    tokens: list[Tensor]
    given: list[Tensor]
    blowup: Tensor
    magnification: Tensor


def run(spec: PostNormSpec, weights: Weights, strings: Tensor) -> Run:
    """Run a transformer and keep what its layer norms are given, at every token of every layer.

    Args:
        spec: The model.
        weights: Of :func:`papers.sensitive.parity.shapes`, with any leading axes ``*``.
        strings: Bits, shape ``(B, n)``, integers in {0, 1} or bool.

    Raises:
        ValueError: weights or strings that do not fit, or entries other than 0 and 1.
        TypeError: floating strings.

    Cost: that of :func:`papers.sensitive.parity.forward` with ``every``.
    """
    outputs, seen = forward(spec, weights, strings, every=True, intermediates=True)
    layers = [f"layers.{k}" for k in range(spec.layers)]
    tokens = [seen["stream"], *(seen[f"{layer}.stream"] for layer in layers)]
    given = [seen[f"{layer}.norm.input"] for layer in layers]
    factors = torch.stack([variance(Y, spec.norm_eps).rsqrt().amax(-1) for Y in given])
    return Run(outputs, tokens, given, layer_norm_blowup(given, spec.norm_eps), factors.prod(0))


@dataclass(frozen=True)
class Constants:
    r"""The constants (22) to (32) of a model, and those of our bound.

    Attributes:
        spec: The model: n bits, width D, H heads.
        step: :math:`\|e(1) - e(0)\|`.
        token: :math:`C_P`, largest length of a first token.
        values: Largest spectral norm of a value matrix, by layer.
        scores: :math:`C_A = D \max_h \|K_h^\top Q_h\|`, by layer.
        slopes: Lipschitz constant of the ReLU block, by layer.
        readout: Length of v.
        longest: Largest length of :math:`Y^{(1)}_w` at the inputs seen.
        top: Largest output in absolute value, at the inputs seen.
    """

    spec: PostNormSpec
    step: float
    token: float
    values: tuple[float, ...]
    scores: tuple[float, ...]
    slopes: tuple[float, ...]
    readout: float
    longest: float
    top: float

    @property
    def slope(self) -> float:
        r""":math:`L_f` of (27), at least 1, over all of space rather than a ball."""
        return max(1.0, *self.slopes)

    def layer(self, k: int) -> float:
        r""":math:`C^{(k)}`, (28) to (30), for k of 0 to L; ValueError for another."""
        if not 0 <= k <= self.spec.layers:
            raise ValueError(f"constants of layers run from 0 to {self.spec.layers}, got {k}")
        value, H = max(1.0, *self.values), self.spec.heads  # C_V of (22)
        if k == 0:
            return 150 * self.slope * value**2 * max(1.0, self.token) * H
        if k == 1:
            return 2 * max(1.0, self.longest) * self.slope
        exponential = f64(4 * max(1.0, self.scores[k - 1])).exp().item()
        return 48 * self.slope * (H + 1) * value * math.sqrt(self.spec.width) * exponential

    def theorem4(self, power: int = 1) -> float:
        r"""(32), :math:`C = 25 \sqrt D\, H (1 + \|v\|^p) \prod_{k=0}^L C^{(k)}`; printed: p = 1."""
        layers = math.prod(self.layer(k) for k in range(self.spec.layers + 1))
        readout = 1 + self.readout**power
        return 25 * math.sqrt(self.spec.width) * self.spec.heads * readout * layers

    def first_sum(self, A: float) -> float:
        r""":math:`S(A) = L_1 \bigl(g + H C_V (g + C_P A)\bigr)`.

        It bounds :math:`\sum_i I_i[Y^{(1)}_j]` where A bounds what all flips do to a row.
        """
        mixed = self.spec.heads * self.values[0] * (self.step + self.token * A)
        return self.slopes[0] * (self.step + mixed)

    @property
    def growths(self) -> tuple[float, ...]:
        r""":math:`G_k = L_k \bigl(1 + H C_V (C_A + (1 + 2 C_A) e^{2 C_A})\bigr)`, k at least 2."""
        later = zip(self.slopes[1:], self.values[1:], self.scores[1:], strict=True)
        H = self.spec.heads
        return tuple(
            L * (1 + H * V * (C + (1 + 2 * C) * f64(2 * C).exp().item())) for L, V, C in later
        )

    @property
    def ours(self) -> float:
        r""":math:`K = 2^{L-1} \max |f|\, \|v\|\, S \prod_{k \ge 2} G_k`, of the sharper law.

        S is :meth:`first_sum` at :math:`\min\{16 \log n + 9,\ 2n\}`: with probability
        :math:`1 - H/n^2`.
        """
        S = self.first_sum(min(tail_bound(self.spec.n, 4), 2 * self.spec.n))
        sides = 2.0 ** (self.spec.layers - 1) * self.top * self.readout
        return sides * S * math.prod(self.growths)


def constants(spec: PostNormSpec, weights: Weights, seen: Run) -> Constants:
    """The constants of one model.

    Args:
        spec: The model.
        weights: Its weights, without leading axes.
        seen: Its run, on all inputs.

    Raises:
        ValueError: weights of another shape, with leading axes, or another model's run.
    """
    check_weights(weights, shapes(spec))
    if weights["readout"].ndim != 1 or seen.tokens[0].shape[-2:] != (spec.n, spec.width):
        raise ValueError(
            f"expected one model of {spec.n} tokens and its own run, got readout "
            f"{tuple(weights['readout'].shape)} and tokens {tuple(seen.tokens[0].shape)}"
        )
    Q, K, V, W, U = (
        [weights[f"layers.{k}.{part}"] for k in range(spec.layers)]
        for part in ("query", "key", "value", "hidden", "output")
    )
    e = weights["embedding"]
    return Constants(
        spec=spec,
        step=float((e[1] - e[0]).norm()),
        token=float((e[:, None] + weights["positions"]).norm(dim=-1).max()),
        values=tuple(map(_spectral, V)),
        scores=tuple(spec.width * _spectral(q @ k.mT) for q, k in zip(Q, K, strict=True)),
        slopes=tuple(map(lipschitz, W, U)),
        readout=float(weights["readout"].norm()),
        longest=float(seen.given[0].norm(dim=-1).max()),
        top=float(seen.outputs.abs().max()),
    )


@validated
def lipschitz(hidden: Tensor, output: Tensor) -> float:
    r"""A Lipschitz constant of :math:`z \mapsto z + \mathrm{relu}(z W + b) W' + b'`.

    With at most 12 units the largest norm of :math:`I + W \mathrm{diag}(s) W'` over all
    :math:`s \in \{0, 1\}^F`. With more, :math:`1 + \|W\| \|W'\|`.

    Args:
        hidden: W, shape ``(D, F)``.
        output: W', shape ``(F, D)``.

    Raises:
        ValueError: shapes that do not fit.
    """
    D, F = hidden.shape
    if F > 12:
        return 1 + _spectral(hidden) * _spectral(output)
    on = ((torch.arange(2**F)[:, None] >> torch.arange(F)) & 1).to(hidden)
    return _spectral(torch.eye(D).to(hidden) + (hidden * on[:, None]) @ output)


@dataclass(frozen=True, eq=False)
class Sides:
    r"""What Theorem 4 and the sharper law compare, at some inputs of one model.

    Attributes:
        s: :math:`s(f, x)`, shape ``(B,)``.
        magnification: :math:`B(x)`.
        squares: :math:`\mathrm{Blowup}(x)^2 + \frac1n \sum_i \mathrm{Blowup}(x^{\oplus i})^2`.
        constants: Of the model.
    """

    s: Tensor
    magnification: Tensor
    squares: Tensor
    constants: Constants

    @property
    def law(self) -> float:
        r"""Largest :math:`s / (K B)`: at most 1. Source: the chapter on layer norm's blow-up."""
        return float((self.s / (self.constants.ours * self.magnification)).max())

    def theorem4(self, C: float) -> Tensor:
        r"""Left over right side of (12), :math:`s / (C \sqrt{n \log n}\, \cdot` ``squares``)."""
        n = self.constants.spec.n
        return self.s / (C * math.sqrt(n * math.log(n)) * self.squares)

    def corollary5(self, C: float) -> float:
        """Right over left side of (13), where ``s`` and ``squares`` are of all inputs."""
        n, H = self.constants.spec.n, self.constants.spec.heads
        asked = float(self.s.mean()) / math.sqrt(n * math.log(n)) - H / n
        return asked / (C * float(self.squares.mean()) / 2)

    def with_readout(self, factor: float) -> Sides:
        """The same model with its read-out multiplied by a factor."""
        c = self.constants
        longer = replace(c, readout=abs(factor) * c.readout, top=abs(factor) * c.top)
        return replace(self, s=factor**2 * self.s, constants=longer)


def sides(spec: PostNormSpec, weights: Weights, at: Tensor | None = None) -> Sides:
    """Both sides at all inputs, or at one input of any length.

    Args:
        spec: The model, at least two bits.
        weights: Its weights, without leading axes.
        at: Bits of the one input, shape ``(n,)``; None: all inputs, in the order of the cube.

    Raises:
        ValueError: one bit, or what :func:`run` and :func:`constants` refuse.

    Cost: that of 2**n inputs, or of n + 1, by 32.
    """
    if spec.n < 2:
        raise ValueError(f"both sides need at least two bits, got {spec.n}")
    if at is None:
        seen = run(spec, weights, cube.bits(spec.n))
        squares = seen.blowup.square()
        squares = squares + at_neighbours(squares[:, None, None]).mean(0)[:, 0, 0]
        s, B = local_sensitivity(seen.outputs), seen.magnification
        return Sides(s, B, squares, constants(spec, weights, seen))
    ball = torch.cat((at[None], at ^ torch.eye(spec.n, dtype=at.dtype)))
    runs = [run(spec, weights, part) for part in ball.split(32)]
    f, squares = torch.cat([r.outputs for r in runs]), torch.cat([r.blowup.square() for r in runs])
    here = replace(constants(spec, weights, runs[0]), top=float(f.abs().max()))
    s = (f[1:] - f[0]).square().sum()[None] / 4
    return Sides(s, runs[0].magnification[:1], squares[:1] + squares[1:].mean(), here)


@validated
def random_weights(
    spec: PostNormSpec, generator: torch.Generator, score_bound: float = 1.0
) -> Weights:
    r"""Random weights, float64, with a given :math:`C_A` in every layer.

    Entries are normal, of variance 1/width, or 1/hidden in the block's second matrix; biases are a
    tenth as large. :math:`D \max_h \|K_h^\top Q_h\|` is ``score_bound``.

    Raises:
        ValueError: a bound that is negative or infinite.
    """
    require_amount(score_bound=score_bound)
    weights: Weights = {}
    for name, shape in shapes(spec).items():
        fan = spec.hidden if name.endswith(".output") else spec.width
        size = (0.1 if name.endswith("bias") else 1.0) / math.sqrt(fan)
        weights[name] = size * torch.randn(shape, generator=generator, dtype=torch.float64)
    for k in range(spec.layers):
        query, key = weights[f"layers.{k}.query"], weights[f"layers.{k}.key"]
        query *= score_bound / (spec.width * _spectral(query @ key.mT))
    return weights


@validated
def majority_transformer(n: int) -> tuple[PostNormSpec, Weights]:
    r"""One layer that computes MAJORITY of an odd number of bits exactly, without epsilon.

    Attention is uniform. The block cancels the token's own bit: every token is
    :math:`Y = \frac m{\sqrt2} (0, 0, -1, 1)`, m the mean of the signs, and :math:`1/N = 2/|m|`.
    What enters K: the value matrix's norm, :math:`C_P` and the block's slope are 1, the embeddings
    are 2 apart, and :math:`\|v\| = \frac12`.

    Raises:
        ValueError: n is even or below 1: a tie has no majority.
    """
    if n < 1 or n % 2 == 0:
        raise ValueError(f"n must be odd and at least 1, got {n}")
    spec = PostNormSpec(n, width=4, layers=1, hidden=2)
    weights = {k: torch.zeros(v, dtype=torch.float64) for k, v in shapes(spec).items()}
    bit = f64([1.0, -1.0, 0.0, 0.0]) / math.sqrt(2)
    mean = bit.flip(0)
    weights["embedding"] = torch.stack((bit, -bit))
    weights["layers.0.value"] = (bit[:, None] * mean)[None]
    weights["layers.0.hidden"] = torch.stack((bit, -bit), 1)
    weights["layers.0.output"] = torch.stack((-bit, bit))
    weights["readout"] = mean / 2
    return spec, weights


@validated
def last_bit_transformer(n: int, short: float = 1e-3) -> tuple[PostNormSpec, Weights]:
    r"""One layer that returns its last bit and attains the sharper law, :math:`K = 1 + t`.

    No attention, no block. A zero is the token :math:`(1, -1)`, a one is -t times that, with t =
    ``short`` above 0; :math:`v = (\frac12, -\frac12)`. At the input of zeros :math:`s = B = 1`.
    """
    require_scale(short=short)
    spec = PostNormSpec(n, width=2, layers=1, hidden=1)
    weights = {k: torch.zeros(v, dtype=torch.float64) for k, v in shapes(spec).items()}
    zero = f64([1.0, -1.0])
    weights["embedding"] = torch.stack((zero, -short * zero))
    weights["readout"] = zero / 2
    return spec, weights


def _spectral(matrices: Tensor) -> float:
    """Largest spectral norm of a stack."""
    return float(torch.linalg.matrix_norm(matrices, 2).max())
