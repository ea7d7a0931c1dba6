r"""Property tests: the least degree, or sparsity, that questions do not refute.

Both sweep a level up from 0 and return the first that the test accepts. Neither ever rejects a
level that the function meets, so on every run the answer is at most the truth; how far below it may
stay is what eps and delta say. Both work for real values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_amount, require_positive, require_probability, validated
from helpers.kernels.parity import MAX_BITS
from helpers.kernels.walsh import walsh_hadamard
from papers.sharper.subcubes import (
    MAX_DIRECTIONS,
    MAX_VERTICES,
    Oracle,
    ask_once,
    block_directions,
    coordinate_directions,
    oracle_signed_sums,
)

DIRECTIONS = {"blocks": block_directions, "coordinates": coordinate_directions}


@dataclass(frozen=True, eq=False)
class FirstAccepted:
    """What a sweep found.

    Attributes:
        accepted: The first level accepted; None if the sweep ended before.
        queries: Points asked in all, each distinct one once a level (degree) or once (sparsity).
        rejections: Entry k is the fraction of repetitions that rejected level k, float64; the last
            one belongs to the last level tested.
        repetitions: Subcubes drawn for a level, or restrictions drawn in all.
    """

    accepted: int | None
    queries: int
    rejections: Tensor
    repetitions: int


@validated
def first_accepted_degree(
    oracle: Tensor | Oracle,
    n: int,
    *,
    generator: torch.Generator,
    directions: str = "blocks",
    eps: float = 0.02,
    delta: float = 0.05,
    tol: float | None = None,
    max_degree: int | None = None,
    batch: int = 1 << 16,
) -> FirstAccepted:
    r"""First degree that signed sums over random subcubes do not refute.

    .. math:: s = 2^{-(k+1)} \sum_{A \subseteq [k+1]} (-1)^{|A|}
        f\Bigl(x \oplus \bigcup_{j \in A} V_j\Bigr)

    Level k rejects iff |s| > tol for one of its R subcubes, each with a uniform x and k + 1
    disjoint sets V_j. A character chi_U contributes to s iff every |U and V_j| is odd, so a
    function of degree k or less is never rejected. Level n needs no test.

    Args:
        oracle: A table of shape ``(2**n,)``; a :class:`helpers.cube.SparseFunction`; or any
            callable, such as a model, from indices ``(M,)``, int64, to values ``(M,)``.
        n: Number of bits, 1 to 62.
        generator: Source of randomness, on the CPU.
        directions: ``"blocks"``: each coordinate joins one of the k + 1 sets or none, uniformly;
            ``"coordinates"``: the sets are single random coordinates.
        eps: Least probability, of one subcube, that is to be found; in (0, 1).
        delta: Probability of missing it, in (0, 1). R = ceil(ln(1/delta) / eps).
        tol: Largest |s| taken for rounding; by default sqrt(machine eps) times the largest
            |value| asked at that level, with the eps of the answers' dtype.
        max_degree: Last level tested; by default the last with R 2**(k+1) at most 2**24, or n.
        batch: Points that the oracle is asked at once.

    Returns:
        ``accepted`` is at most the degree, on every run. If one subcube of level k rejects with
        probability eps or more, level k is accepted with probability delta or less. For a single
        character of degree k + 1 that probability is (k+1)! / (k+2)^(k+1) with blocks (one half,
        .22, .094, .038, .015 for k = 0 to 4) and 1 / binomial(n, k+1) with coordinates: so small
        that the degrees found wilt.

    Raises:
        ValueError: a number outside its range, too many queries for ``max_degree``, or an oracle
            that answers NaN, or infinity, or in a wrong shape.
        TypeError: the oracle is neither a tensor nor callable, or answers in a wrong dtype.

    Cost: at most R 2**(k+1) queries at level k, each distinct point asked once. Source: Lintilhac
    and Shaikh (2026), Appendix H; blocks are not in the paper. Real degrees are tested in
    questions that do not grow with the length by Srinivasan and Sudan (2018).

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> from papers.sharper import testers
        >>> generator = torch.Generator().manual_seed(0)
        >>> testers.first_accepted_degree(cube.majority(5), 5, generator=generator).accepted
        5
    """
    ask = _as_oracle(oracle, n)
    if directions not in DIRECTIONS:
        raise ValueError(f"unknown directions {directions!r}; choose {' or '.join(DIRECTIONS)}")
    repetitions = degree_repetitions(eps, delta)
    last = _last_degree(n, repetitions, max_degree)
    if tol is not None:
        require_amount(tol=tol)
    queries, rejections = 0, []
    for k in range(min(last, n - 1) + 1):
        bases = torch.randint(0, 1 << n, (repetitions,), generator=generator)
        spanned = DIRECTIONS[directions](n, k + 1, repetitions, generator)
        found = oracle_signed_sums(ask, bases, spanned, batch)
        slack = math.sqrt(found.eps) * found.largest if tol is None else tol
        queries += found.queries
        rejections.append(float((found.sums.abs() / 2 ** (k + 1) > slack).double().mean()))
        if rejections[-1] == 0:
            return FirstAccepted(k, queries, torch.tensor(rejections).double(), repetitions)
    accepted = n if last == n else None
    return FirstAccepted(accepted, queries, torch.tensor(rejections).double(), repetitions)


@validated
def first_accepted_sparsity(
    oracle: Tensor | Oracle,
    n: int,
    *,
    generator: torch.Generator,
    free: int = 14,
    eps: float = 1e-3,
    delta: float = 0.05,
    batch: int = 1 << 16,
) -> FirstAccepted:
    r"""First number of characters that random restrictions do not refute.

    A restriction fixes all but ``free`` random coordinates to random bits. The transform of the
    restricted function gives its energies, the squares of its coefficients, in falling order
    :math:`e_1 \ge e_2 \ge \dots`; level s rejects iff for one of R restrictions

    .. math:: \sum_{j > s} e_j > \varepsilon \sum_j e_j .

    Characters that agree on the free coordinates merge, so a restriction of a function of s
    characters has at most s: level s never rejects it, and collisions only lower the answer.

    Args:
        oracle: As for :func:`first_accepted_degree`.
        n: Number of bits, 1 to 62.
        generator: Source of randomness, on the CPU.
        free: Coordinates left free, 0 to 20; all of them if n is smaller. R 2**free is at most
            2**24.
        eps: Share of the energy that may lie beyond the first s characters, 1e-9 to 1.
        delta: Probability of a miss, in (0, 1). R = ceil(log2(1/delta)).
        batch: Points that the oracle is asked at once.

    Returns:
        ``accepted`` is at most the sparsity in the basis of characters, on every run. If one
        restriction rejects level s with probability one half or more, level s is accepted with
        probability delta or less.

    Raises:
        ValueError, TypeError: as :func:`first_accepted_degree`.

    Cost: at most R 2**free queries and R transforms of that length. Source: Lintilhac and Shaikh
    (2026), Appendix H.

    Example:
        >>> import torch
        >>> from helpers import cube
        >>> from papers.sharper import testers
        >>> generator = torch.Generator().manual_seed(0)
        >>> testers.first_accepted_sparsity(cube.majority(3), 3, generator=generator).accepted
        4
    """
    ask = _as_oracle(oracle, n)
    if not 0 <= free <= 20:
        raise ValueError(f"free coordinates run from 0 to 20, got {free}")
    if not 1e-9 <= eps < 1:
        raise ValueError(f"eps must lie between 1e-9 (rounding) and 1, got {eps}")
    require_probability(delta=delta)
    repetitions = math.ceil(math.log2(1 / delta))
    if repetitions << min(free, n) > MAX_VERTICES:
        raise ValueError(
            f"R * 2**free is at most {MAX_VERTICES}, got {repetitions} * 2**{min(free, n)}"
        )
    points = random_restrictions(n, min(free, n), repetitions, generator)
    values, queries = ask_once(ask, points, batch)
    needed = _sparsities(walsh_hadamard(values.double() / points.shape[1]), eps)
    accepted = int(needed.max())
    levels = torch.arange(accepted + 1)
    rejections = (needed[:, None] > levels).double().mean(0)
    return FirstAccepted(accepted, queries, rejections, repetitions)


@validated
def degree_repetitions(eps: float, delta: float) -> int:
    """R with (1 - eps)^R <= delta: ceil(ln(1/delta) / eps).

    Example:
        >>> from papers.sharper import testers
        >>> testers.degree_repetitions(0.02, 0.05)
        150
    """
    require_probability(eps=eps)
    require_probability(delta=delta)
    return math.ceil(math.log(1 / delta) / eps)


@validated
def random_restrictions(n: int, free: int, count: int, generator: torch.Generator) -> Tensor:
    """Points of random subcubes with ``free`` free coordinates: ``(count, 2**free)``, int64.

    Bit j of the column is the j-th free coordinate of the row.

    Example:
        >>> import torch
        >>> from papers.sharper.testers import random_restrictions
        >>> random_restrictions(8, 3, 10, torch.Generator().manual_seed(0)).shape
        torch.Size([10, 8])
    """
    require_positive(count=count)
    if not 0 <= free <= n:
        raise ValueError(f"free coordinates run from 0 to n = {n}, got {free}")
    spanned = torch.ones(count, free, dtype=torch.int64)
    spanned <<= torch.rand(count, n, generator=generator).argsort(1)[:, :free]
    found = torch.randint(0, 1 << n, (count, 1), generator=generator)
    found &= ~spanned.sum(1, keepdim=True)
    for j in range(free):
        found = torch.cat((found, found | spanned[:, j : j + 1]), 1)
    return found


def _sparsities(f_hat: Tensor, eps: float) -> Tensor:
    """Least s with a tail beyond s of at most eps times the total energy, for each row."""
    energies = f_hat.square().sort(-1).values  # rising: sums begin with the smallest
    tails = energies.cumsum(-1)
    return (tails > eps * tails[:, -1:]).sum(-1)


def _as_oracle(oracle: Tensor | Oracle, n: int) -> Oracle:
    if not 1 <= n <= MAX_BITS:
        raise ValueError(f"n must lie between 1 and {MAX_BITS}, got {n}")
    if isinstance(oracle, Tensor):
        if oracle.shape != (1 << n,):
            raise ValueError(
                f"a table of {n} bits has shape ({1 << n},), got {tuple(oracle.shape)}"
            )
        return _finite(lambda points: oracle[points])
    if not callable(oracle):
        raise TypeError(f"the oracle must be a table or a callable, got {type(oracle).__name__}")
    size = getattr(oracle, "n", n)
    if size != n:
        raise ValueError(f"the oracle is a function of {size} bits, got n = {n}")
    return _finite(oracle)


def _finite(oracle: Oracle) -> Oracle:
    def ask(points: Tensor) -> Tensor:
        values = oracle(points)
        wrong = ~values.isfinite()
        if values.shape == points.shape and bool(wrong.any()):
            raise ValueError(
                f"the oracle answers {values[wrong][0].item()} at point {points[wrong][0].item()}"
            )
        return values

    return ask


def _last_degree(n: int, repetitions: int, max_degree: int | None) -> int:
    affordable = min(MAX_DIRECTIONS, (MAX_VERTICES // repetitions).bit_length() - 1) - 1
    if affordable < 0:
        raise ValueError(f"{repetitions} repetitions of level 0 exceed {MAX_VERTICES} queries")
    if max_degree is None:
        return n if n - 1 <= affordable else affordable
    if not 0 <= max_degree <= n:
        raise ValueError(f"max_degree runs from 0 to n = {n}, got {max_degree}")
    if min(max_degree, n - 1) > affordable:
        raise ValueError(
            f"{repetitions} repetitions allow degrees up to {affordable}, got {max_degree}"
        )
    return max_degree
