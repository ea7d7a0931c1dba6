r"""Random members of the classes of Boolean functions that textbooks use, as tables of -1 and 1.

Bits and tables as everywhere: -1 means true, entry i of a table belongs to the point of index i.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from helpers import cube
from helpers.checks import require_positive


def threshold(n: int, generator: Generator) -> Tensor:
    r"""A weighted vote, :math:`\mathrm{sign}(\sum_k w_k x_k + w_0)` with standard normal weights.

    Args:
        n: Bits, at least 1.
        generator: Source of randomness.

    Returns:
        Shape ``(2**n,)``, float64, -1 and 1.
    """
    require_positive(n=n)
    w = torch.randn(n + 1, generator=generator, dtype=torch.float64)
    votes = cube.points(n).double() @ w[:n] + w[n]
    return torch.where(votes < 0, -1.0, 1.0).double()


def decision_tree(n: int, depth: int, generator: Generator) -> Tensor:
    """A complete binary tree of questions to single bits, with a random value at each leaf.

    No path asks a bit twice; so the degree is at most the depth.

    Args:
        n: Bits, at least 1.
        depth: Questions on a path, 0 to n.
        generator: Source of randomness.

    Returns:
        Shape ``(2**n,)``, float64, -1 and 1.
    """
    require_positive(n=n)
    if not 0 <= depth <= n:
        raise ValueError(f"depth must lie between 0 and n = {n}, got {depth}")
    bits = cube.bits(n)

    def grow(left: list[int], depth: int) -> Tensor:
        if depth == 0:
            leaf = 1 - 2 * int(torch.randint(2, (), generator=generator))
            return torch.full((2**n,), float(leaf), dtype=torch.float64)
        asked = left[int(torch.randint(len(left), (), generator=generator))]
        rest = [k for k in left if k != asked]
        sides = [grow(rest, depth - 1) for _ in range(2)]
        return torch.where(bits[:, asked] == 1, sides[1], sides[0])

    return grow(list(range(n)), depth)


def random_function(n: int, generator: Generator) -> Tensor:
    """A fair coin at every point, shape ``(2**n,)``, float64, -1 and 1."""
    require_positive(n=n)
    return 1 - 2 * torch.randint(2, (2**n,), generator=generator).double()
