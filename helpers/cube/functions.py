r"""The cube {-1, 1}^n: points, characters, named functions, random sparse functions.

A function on the cube is stored as its table, a tensor of 2**n values. Bit k of index i is 1 iff
x_{k+1} = -1, so x_{k+1} = (-1)^{bit k}. A subset S of the coordinates is a bit mask in the same
order, and its character is chi_S(i) = (-1)^{popcount(S & i)}.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import (
    require_bits,
    require_choice,
    require_positive,
    require_tensors,
    require_whole,
    validated,
    whole,
)
from helpers.kernels.parity import MAX_BITS, MAX_TABLE_BITS, evaluate, popcount
from helpers.kernels.walsh import walsh_hadamard

MAX_MATRIX_BITS = 12
BASES = ("character", "even_parity")


@validated
def indices(n: int) -> Tensor:
    """All indices of the cube, shape ``(2**n,)``, int64; ValueError unless 0 <= n <= 30.

    Example:
        >>> from helpers import cube
        >>> cube.indices(2)
        tensor([0, 1, 2, 3])
    """
    if not 0 <= n <= MAX_TABLE_BITS:
        raise ValueError(f"a table needs an integer n from 0 to {MAX_TABLE_BITS}, got {n}")
    return torch.arange(2**n)


@validated
def bits(n: int) -> Tensor:
    """All bit strings, shape ``(2**n, n)``, int64 in {0, 1}; row i holds the bits of index i.

    Example:
        >>> from helpers import cube
        >>> cube.bits(2).tolist()  # the first bit changes fastest
        [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return (indices(n)[:, None] >> torch.arange(n)) & 1


@validated
def points(n: int) -> Tensor:
    """All points, shape ``(2**n, n)``, float64 in {-1, 1}: ``1 - 2 * bits(n)``.

    Example:
        >>> from helpers import cube
        >>> cube.points(2).tolist()
        [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    return (1 - 2 * bits(n)).double()


def index_of(strings: Tensor) -> Tensor:
    """Index of bit strings ``(*batch, n)`` of 0s and 1s, n at most 62: shape ``(*batch,)``.

    Example:
        >>> from helpers import cube
        >>> cube.index_of(cube.bits(2))
        tensor([0, 1, 2, 3])
    """
    require_tensors(strings=strings)
    n = strings.shape[-1] if strings.ndim else -1
    if not 0 <= n <= MAX_BITS:
        raise ValueError(
            f"an index holds at most {MAX_BITS} bits, got shape {tuple(strings.shape)}"
        )
    require_bits(strings)
    return (strings.long() << torch.arange(n, device=strings.device)).sum(-1)


def mask_of(coordinates: list[int]) -> int:
    """Bit mask of a list of coordinates counted from 1, as the papers do.

    Example:
        >>> from helpers import cube
        >>> cube.mask_of([1, 3])
        5
    """
    given = {whole("a coordinate", k) for k in coordinates}
    for k in given:
        if not 1 <= k <= MAX_BITS:
            raise ValueError(f"coordinates run from 1 to {MAX_BITS}, got {k}")
    return sum(1 << (k - 1) for k in given)


@validated
def members(mask: int) -> list[int]:
    """Coordinates in a mask, counted from 1, in increasing order.

    Example:
        >>> from helpers import cube
        >>> cube.members(5)
        [1, 3]
    """
    if not 0 <= mask < 2**MAX_BITS:
        raise ValueError(f"a mask lies between 0 and {2**MAX_BITS - 1}, got {mask}")
    return [k + 1 for k in range(MAX_BITS) if int(mask) >> k & 1]


@validated
def character(n: int, mask: int) -> Tensor:
    """Table of chi_S, shape ``(2**n,)``, float64 in {-1, 1}.

    Example:
        >>> from helpers import cube
        >>> cube.character(2, 0b11)
        tensor([ 1., -1., -1.,  1.], dtype=torch.float64)
    """
    i = indices(n)
    if not 0 <= mask < 2**n:
        raise ValueError(f"mask {mask} is outside the cube of {n} bits (0 to {2**n - 1})")
    return (1 - 2 * (popcount(i & mask) & 1)).double()


@validated
def characters(n: int) -> Tensor:
    """All characters, shape ``(2**n, 2**n)``, float64: row S is chi_S, column i a point; n <= 12.

    Sylvester's matrix in natural order, which :mod:`helpers.cube.fourier` applies without forming
    it.

    Example:
        >>> from helpers import cube
        >>> cube.characters(1).tolist()
        [[1.0, 1.0], [1.0, -1.0]]
    """
    i = indices(n)
    if n > MAX_MATRIX_BITS:
        raise ValueError(f"a matrix of characters needs n from 0 to {MAX_MATRIX_BITS}, got {n}")
    return (1 - 2 * (popcount(i[:, None] & i) & 1)).double()


@validated
def parity(n: int) -> Tensor:
    """PARITY: +1 iff an even number of bits is 1. Average sensitivity n.

    Example:
        >>> from helpers import cube
        >>> cube.parity(2)
        tensor([ 1., -1., -1.,  1.], dtype=torch.float64)
    """
    return character(n, 2 ** max(n, 0) - 1)  # which refuses a negative n by name


@validated
def majority(n: int) -> Tensor:
    """MAJORITY: +1 iff more than half of the x_i are +1, else -1, ties too.

    Example:
        >>> from helpers import cube
        >>> cube.majority(2)  # a tie counts as -1
        tensor([ 1., -1., -1., -1.], dtype=torch.float64)
    """
    return torch.where(2 * popcount(indices(n)) < n, 1.0, -1.0).double()


@validated
def first(n: int) -> Tensor:
    """FIRST: the first coordinate x_1. Average sensitivity 1.

    Example:
        >>> from helpers import cube
        >>> cube.first(2)
        tensor([ 1., -1.,  1., -1.], dtype=torch.float64)
    """
    require_positive(n=n)
    return character(n, 1)


@validated
def mean(n: int) -> Tensor:
    """MEAN: (x_1 + ... + x_n) / n, a real-valued function. Average sensitivity 1/n.

    Example:
        >>> from helpers import cube
        >>> cube.mean(2)
        tensor([ 1.,  0.,  0., -1.], dtype=torch.float64)
    """
    require_positive(n=n)
    return 1 - 2 * popcount(indices(n)).double() / n


NAMED: dict[str, Callable[[int], Tensor]] = {
    "PARITY": parity,
    "MAJORITY": majority,
    "FIRST": first,
    "MEAN": mean,
}
"""The four functions whose sensitivity Hahn and Rofin (2024) compare."""


@validated
@dataclass(frozen=True, eq=False)
class SparseFunction:
    r"""A sum of few basis functions, f = sum_S c_S b_S, on a cube of any size up to 62 bits.

    Attributes:
        n: Number of bits.
        masks: The subsets S, shape ``(sparsity,)``, int64, distinct.
        coefficients: Their c_S, shape ``(sparsity,)``, float64.
        basis: ``"character"``: b_S = chi_S in {-1, 1}; ``"even_parity"``: b_S = (1 + chi_S) / 2
            in {0, 1}. The same f has other coefficients, and another sparsity, in the other basis.

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> f = cube.SparseFunction(3, torch.tensor([0b011, 0b100]), cube.points(1)[:, 0])
        >>> f.degree, f.sparsity, f(torch.tensor([0, 4]))  # chi_12 - chi_3 at 000 and at 001
        (2, 2, tensor([0., 2.], dtype=torch.float64))
    """

    n: int
    masks: Tensor
    coefficients: Tensor
    basis: str = "character"

    def __post_init__(self) -> None:
        require_choice("basis", self.basis, BASES)
        _check_size(self.n)
        for name, kind in (("masks", torch.int64), ("coefficients", torch.float64)):
            if getattr(self, name).dtype != kind:
                raise TypeError(f"{name} must be {kind}, got {getattr(self, name).dtype}")
        if self.masks.ndim != 1 or self.masks.shape != self.coefficients.shape:
            raise ValueError(
                f"expected masks and coefficients of one shape (S,), got "
                f"{tuple(self.masks.shape)} and {tuple(self.coefficients.shape)}"
            )
        if self.sparsity and not 0 <= int(self.masks.min()) <= int(self.masks.max()) < 2**self.n:
            low, high = (int(v) for v in self.masks.aminmax())
            raise ValueError(f"masks must lie between 0 and {2**self.n - 1}, found {low} to {high}")
        masks, times = self.masks.unique(return_counts=True)
        if (times > 1).any():
            raise ValueError(f"masks must be distinct, {int(masks[times > 1][0])} is repeated")

    @property
    def sparsity(self) -> int:
        """Number of terms, counted in ``basis``."""
        return len(self.masks)

    @property
    def degree(self) -> int:
        """Size of the largest subset; 0 without terms."""
        return int(popcount(self.masks).max()) if self.sparsity else 0

    @property
    def sets(self) -> list[list[int]]:
        """The subsets as lists of coordinates counted from 1, in the order of ``masks``."""
        return [members(m) for m in self.masks.tolist()]

    def __call__(self, points: Tensor) -> Tensor:
        """Values at cube points given by index, shape ``(M,)``, int64 -> ``(M,)``, float64."""
        require_tensors(points=points)
        if points.numel() and not 0 <= int(points.min()) <= int(points.max()) < 2**self.n:
            low, high = (int(v) for v in points.aminmax())
            raise ValueError(
                f"points must lie between 0 and {2**self.n - 1}, found {low} to {high}"
            )
        if not (self.sparsity and points.numel()):
            require_whole(points=points)
            return points.new_zeros(points.shape, dtype=torch.float64)
        masks, coefficients = self.walsh_terms()
        return evaluate(masks, coefficients, points)

    def table(self) -> Tensor:
        """All values, shape ``(2**n,)``, float64; n at most 30."""
        f_hat = torch.zeros(len(indices(self.n)), dtype=torch.float64)
        masks, coefficients = self.walsh_terms()
        return walsh_hadamard(f_hat.index_add_(0, masks, coefficients))

    def walsh_terms(self) -> tuple[Tensor, Tensor]:
        """Distinct masks and coefficients of the same function in the character basis.

        Each even-parity indicator but the constant one brings a constant 1/2: W indicators make
        W + 1 characters, or W if the empty set was among them.
        """
        if self.basis == "character":
            return self.masks, self.coefficients
        empty = self.masks == 0
        masks = torch.cat((self.masks[~empty], self.masks.new_zeros(1)))
        constant = self.coefficients.sum() / 2 + self.coefficients[empty].sum() / 2
        return masks, torch.cat((self.coefficients[~empty] / 2, constant[None]))


@validated
def sparse_function(
    n: int,
    degree: int,
    sparsity: int,
    generator: torch.Generator,
    basis: str = "character",
) -> SparseFunction:
    """Random function with ``sparsity`` distinct subsets of exactly ``degree`` coordinates.

    Coefficients are absolute values of standard normals, divided by their l2 norm: positive, with
    squares that sum to 1, as in the experiments of Lintilhac and Shaikh (2026).

    Args:
        n: Number of bits, 1 to 62.
        degree: Size of every subset, 0 to n.
        sparsity: Number of subsets, 1 to binomial(n, degree).
        generator: Source of randomness.
        basis: Which functions the coefficients multiply, see :class:`SparseFunction`.

    Raises:
        ValueError: a number is outside its range, or an unknown basis.

    Cost: sparsity draws; twice as many subsets are listed when more than half are wanted.

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> f = cube.sparse_function(10, 3, 2, torch.Generator().manual_seed(0))
        >>> f.degree, f.sparsity, round(f.coefficients.square().sum().item(), 12)
        (3, 2, 1.0)
    """
    _check_size(n)
    if not 0 <= degree <= n:
        raise ValueError(f"degree must lie between 0 and n = {n}, got {degree}")
    if not 1 <= sparsity <= math.comb(n, degree):
        raise ValueError(
            f"there are {math.comb(n, degree)} subsets of {degree} out of {n} coordinates, "
            f"so sparsity must lie between 1 and that, got {sparsity}"
        )
    coefficients = torch.randn(sparsity, generator=generator, dtype=torch.float64).abs()
    masks = _distinct_subsets(n, degree, sparsity, generator)
    return SparseFunction(n, masks, coefficients / coefficients.norm(), basis)


def _distinct_subsets(n: int, degree: int, count: int, generator: torch.Generator) -> Tensor:
    """Uniform distinct subsets; when most are wanted, those left out are drawn instead."""
    total = math.comb(n, degree)
    few = min(count, total - count)
    drawn: set[int] = set()
    while len(drawn) < few:
        chosen = torch.randperm(n, generator=generator)[:degree]
        drawn.add(int((1 << chosen).sum()) if degree else 0)
    if few != count:
        drawn = {sum(1 << k for k in S) for S in itertools.combinations(range(n), degree)} - drawn
    return torch.tensor(sorted(drawn), dtype=torch.int64)


def _check_size(n: int) -> None:
    if not 1 <= n <= MAX_BITS:
        raise ValueError(f"n runs from 1 to {MAX_BITS}, got {n}")
