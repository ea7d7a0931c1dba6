r"""Reference networks for the tests of :mod:`helpers.probe`: hand-written, and named functions.

Functions are of bits ``(B, n)`` in {0, 1}, with values 1 and -1. Each stands with its squared
Fourier coefficients by degree, which are not computed from its table but from a formula; of the
S-box of AES, for which there is none, each coefficient is a sum of whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import torch
from numpy.polynomial import Polynomial
from torch import Tensor, nn

from helpers.checks import require_positive, validated
from helpers.weights import Weights
from papers.sensitive.parity import PostNormSpec
from papers.sharper import network as construction

PARTS = ("query", "key", "value", "hidden", "hidden_bias", "output", "output_bias")
"""Of a layer of the second paper's transformer."""


class Named(NamedTuple):
    """A function that has a name.

    Attributes:
        n: Bits.
        function: From bits ``(B, n)`` to 1 and -1, ``(B,)``.
        weights: Squared Fourier coefficients by degree, n + 1 numbers that add up to 1.
    """

    n: int
    function: Callable[[Tensor], Tensor]
    weights: tuple[float, ...]

    @property
    def average_sensitivity(self) -> float:
        """The mean number of flips that change the value, by the degrees."""
        return sum(k * w for k, w in enumerate(self.weights))


@validated
def parity(n: int) -> Named:
    """1 for an even number of ones: one coefficient, at degree n."""
    require_positive(n=n)
    return Named(n, lambda bits: 1 - 2 * (bits.sum(-1) % 2), (0.0,) * n + (1.0,))


@validated
def majority(n: int) -> Named:
    r"""-1 where more than half of an odd number of bits are ones.

    .. math:: W_k = \binom nk \Bigl( \frac{1}{2^{n-1}} \binom{n-1}{\frac{n-1}2}
        \binom{\frac{n-1}2}{\frac{k-1}2} \Big/ \binom{n-1}{k-1} \Bigr)^2 \quad \text{for odd } k

    Raises:
        ValueError: n is even or below 1.

    Source: O'Donnell (2014), Theorem 5.19.
    """
    if n < 1 or n % 2 == 0:
        raise ValueError(f"n must be odd and at least 1, got {n}")
    half, found = (n - 1) // 2, [0.0] * (n + 1)
    for k in range(1, n + 1, 2):
        ratio = math.comb(half, (k - 1) // 2) / math.comb(n - 1, k - 1)
        found[k] = math.comb(n, k) * (math.comb(n - 1, half) * ratio / 2 ** (n - 1)) ** 2
    return Named(n, lambda bits: torch.where(2 * bits.sum(-1) > n, -1, 1), tuple(found))


@validated
def tribes(width: int, count: int) -> Named:
    r"""-1 where all bits of some tribe are ones.

    .. math:: \sum_k W_k z^k = 4 \bigl( (1 - q)^2 + q^2 ((1 + z)^w - 1) \bigr)^m
        + (2 (1 - q)^m - 1)^2 - 4 (1 - q)^{2m}, \qquad q = 2^{-w}

    Args:
        width: w, bits of a tribe, at least 1.
        count: m, tribes, at least 1.
    """
    require_positive(width=width, count=count)
    q = 2.0**-width
    inside = Polynomial([1.0, 1.0]) ** width - 1
    found = 4 * ((1 - q) ** 2 + q**2 * inside) ** count
    found = found + (2 * (1 - q) ** count - 1) ** 2 - 4 * (1 - q) ** (2 * count)

    def function(bits: Tensor) -> Tensor:
        return torch.where(bits.unflatten(-1, (count, width)).all(-1).any(-1), -1, 1)

    return Named(width * count, function, tuple(found.coef.tolist()))


@validated
def address(width: int) -> Named:
    r"""The first bits are the number of one of the ``2**width`` others, which is the value.

    .. math:: W_{1 + j} = 2^{-w} \binom wj
    """
    require_positive(width=width)
    n, places = width + 2**width, 2 ** torch.arange(width)

    def function(bits: Tensor) -> Tensor:
        which = (bits[:, :width] * places).sum(-1)
        return 1 - 2 * bits[:, width:].gather(1, which[:, None])[:, 0]

    found = [math.comb(width, k - 1) / 2**width if k else 0.0 for k in range(n + 1)]
    return Named(n, function, tuple(found))


@validated
def inner_product(half: int) -> Named:
    r"""The parity of the products of bit i and bit ``half`` + i, which is bent.

    All ``4**half`` coefficients have the same square, so that :math:`W_k = 4^{-h} \binom{2h}k`.
    """
    require_positive(half=half)
    n = 2 * half

    def function(bits: Tensor) -> Tensor:
        return 1 - 2 * ((bits[:, :half] * bits[:, half:]).sum(-1) % 2)

    return Named(n, function, tuple(math.comb(n, k) / 2**n for k in range(n + 1)))


@cache
def aes_s_box() -> tuple[int, ...]:
    """The S-box of AES: the inverse in GF(2^8), then an affine map. Source: FIPS 197, 5.1.1."""

    def times(a: int, b: int) -> int:
        product = 0
        while b:
            product ^= a * (b & 1)
            a, b = (a << 1) ^ (0x11B if a & 0x80 else 0), b >> 1
        return product

    box, inverse, power = [], {0: 0, 1: 1}, 1
    powers = [power := times(power, 3) for _ in range(255)]  # 3 generates the group
    inverse |= {a: powers[253 - k] for k, a in enumerate(powers[:254])}
    for a in range(256):
        b, turned = inverse[a], 0x63
        for shift in range(5):
            turned ^= (b << shift | b >> (8 - shift)) & 0xFF
        box.append(turned)
    return tuple(box)


@validated
def aes_coordinate(which: int) -> Named:
    """One bit of the S-box of AES, of which no formula for the coefficients is known to us.

    Raises:
        ValueError: there is no such bit, of 0 to 7.
    """
    if not 0 <= which <= 7:
        raise ValueError(f"which must lie between 0 and 7, got {which}")
    signs = [1 - 2 * (v >> which & 1) for v in aes_s_box()]
    table, places, squares = torch.tensor(signs), 2 ** torch.arange(8), [0] * 9
    for S in range(256):
        total = sum(-v if (S & i).bit_count() % 2 else v for i, v in enumerate(signs))
        squares[S.bit_count()] += total**2
    return Named(8, lambda bits: table[(bits * places).sum(-1)], tuple(s / 2**16 for s in squares))


class PostNorm(nn.Module):
    """The transformer of :func:`papers.sensitive.parity.forward`, layer norms as PyTorch has them.

    The encodings of positions are a buffer, so that they do not move.
    """

    def __init__(self, spec: PostNormSpec, weights: Weights) -> None:
        super().__init__()
        self.norms = nn.ModuleList(
            nn.LayerNorm(spec.width, spec.norm_eps, elementwise_affine=False)
            for _ in range(spec.layers)
        )
        for name, value in weights.items():
            if name == "positions":
                self.register_buffer(name, value.clone())
            else:
                self.register_parameter(name.replace(".", "_"), nn.Parameter(value.clone()))

    def forward(self, bits: Tensor) -> Tensor:
        """One number a string."""
        X = self.get_parameter("embedding")[bits] + self.get_buffer("positions")
        for k, norm in enumerate(self.norms):
            query, key, value, *mlp = (self.get_parameter(f"layers_{k}_{part}") for part in PARTS)
            hidden, hidden_bias, output, output_bias = mlp
            rows = X[:, None]  # (B, 1, n, D), for all heads
            attention = (rows @ (query @ key.mT) @ rows.mT).softmax(-1)  # (B, H, n, n)
            Z = X + (attention @ rows @ value).sum(1)
            X = norm(Z + (Z @ hidden + hidden_bias).relu() @ output + output_bias)
        return X[:, -1] @ self.get_parameter("readout")


class Construction(nn.Module):
    """The network of the first paper, :func:`papers.sharper.network.forward`, all of it weights."""

    def __init__(self, spec: construction.ConstructionSpec, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.spec = spec
        self.weights = nn.ParameterDict({k: v.clone() for k, v in weights.items()})

    def forward(self, bits: Tensor) -> Tensor:
        """One number a string."""
        return construction.forward(self.spec, dict(self.weights.items()), bits)
