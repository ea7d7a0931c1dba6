r"""How many strings it takes to learn a chain of XORs, with the chain shown and without.

The tokens are the T bits of a string, a scratch bit 0, and then the bits that the chain writes, so
that bit t of the chain is the parity of the first t bits. Two classes of generators are learned by
choosing any that is consistent with the sample. In the *shared* class one rule writes every bit: a
function of the tokens a and b places back. In the class *by step* a weight of each step says
whether its bit counts.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from helpers.checks import require_positive, validated


@validated
def tokens(bits: Tensor) -> Tensor:
    """Strings with their chains of thought: ``(m, T)`` in {0, 1} -> ``(m, 2 T + 1)``, int64."""
    scratch = torch.nn.functional.pad(bits.long().cumsum(-1) % 2, (1, 0))
    return torch.cat((bits.long(), scratch), -1)


@validated
def rules(T: int) -> Tensor:
    """Places back of the two tokens that a shared rule reads: ``(P, 2)``, a < b up to T + 1."""
    require_positive(T=T)
    return torch.combinations(torch.arange(1, T + 2), 2)


@validated
def class_size(T: int) -> int:
    """Shared rules: pairs of places times the 16 functions of two bits."""
    return 16 * len(rules(T))


def every_rule(T: int) -> tuple[Tensor, Tensor]:
    """All shared rules: places ``(C, 2)`` and tables ``(C, 4)``, the 16 of a pair together."""
    tables = (torch.arange(16)[:, None] >> torch.arange(4) & 1).to(torch.uint8)
    return rules(T).repeat_interleave(16, 0), tables.repeat(len(rules(T)), 1)


def seen_cells(z: Tensor, T: int) -> Tensor:
    """What each pair of places has shown: ``(P, 4, 2)``, whether a cell was followed by 0 or by 1.

    Args:
        z: Tokens of strings with their chains, ``(m, 2 T + 1)``.
        T: Bits.
    """
    pairs, at = rules(T), torch.arange(T + 1, 2 * T + 1)
    read = z[:, at - pairs[..., None]]  # (m, P, 2, T)
    cell = (2 * read[:, :, 0] + read[:, :, 1]).permute(1, 0, 2).flatten(1)
    case = 2 * cell + z[:, at].flatten()
    return torch.zeros(len(pairs), 8, dtype=torch.bool).scatter_(1, case, True).view(-1, 4, 2)


def consistent(seen: Tensor) -> Tensor:
    """Number of the 16 functions of each pair that agree with all that was seen: ``(P,)``."""
    return torch.where(seen.all(-1).any(-1), 0, 2 ** (~seen.any(-1)).sum(-1))


def _draw(m: int, T: int, generator: Generator) -> Tensor:
    return tokens(torch.randint(0, 2, (m, T), generator=generator))


@validated
def strings_with_chain(T: int, generator: Generator, most: int = 1000) -> int:
    """Strings with their chains until only the right shared rule is consistent.

    Args:
        T: Bits, at least 2.
        generator: Source of randomness.
        most: Strings, at most.

    Raises:
        ValueError: T below 2, or another rule is still consistent after ``most`` strings.
    """
    require_positive(T=T - 1)
    seen = torch.zeros(len(rules(T)), 4, 2, dtype=torch.bool)
    for m in range(1, most + 1):
        seen |= seen_cells(_draw(1, T, generator), T)
        if consistent(seen).sum() == 1:
            return m
    raise ValueError(f"not learned from {most} strings")


def written(pairs: Tensor, tables: Tensor, bits: Tensor) -> Tensor:
    """Chains that rules write: ``(T, C, m)`` in {0, 1}, the last bit is the answer.

    Each rule reads what it wrote itself.

    Args:
        pairs: Places back, ``(C, 2)``.
        tables: Functions of the two tokens, ``(C, 4)``.
        bits: Strings, ``(m, T)``.
    """
    m, T = bits.shape
    z = torch.zeros(2 * T + 1, len(pairs), m, dtype=torch.uint8)
    z[:T] = bits.T[:, None].to(torch.uint8)
    rows = torch.arange(len(pairs))
    for t in range(T + 1, 2 * T + 1):
        first, second = (z[t - pairs[:, k], rows] for k in (0, 1))
        z[t] = tables.gather(1, (2 * first + second).long())
    return z[T + 1 :]


@validated
def strings_without_chain(T: int, generator: Generator, most: int = 256, block: int = 4) -> int:
    """Strings with their answers alone until every consistent shared rule answers a test rightly.

    Args:
        T: Bits, at least 2.
        generator: Source of randomness.
        most: Strings, at most.
        block: Strings after which inconsistent rules are dropped.

    Raises:
        ValueError: T below 2, or not learned from ``most`` strings.
    """
    require_positive(T=T - 1, block=block)
    pairs, tables = every_rule(T)
    test = torch.randint(0, 2, (64, T), generator=generator)
    wanted = (test.sum(1) % 2).to(torch.uint8)
    wrong = torch.ones(len(pairs), dtype=torch.bool)  # on the test; unknown until few are left
    learned_at = 0
    for start in range(0, most, block):
        bits = torch.randint(0, 2, (block, T), generator=generator)
        right = (bits.sum(1) % 2).to(torch.uint8)
        parts = zip(pairs.split(8192), tables.split(8192), strict=True)
        agrees = torch.cat([written(p, f, bits)[-1] == right for p, f in parts])
        if len(pairs) <= 20_000:
            parts = zip(pairs.split(2048), tables.split(2048), strict=True)
            wrong = torch.cat([(written(p, f, test)[-1] != wanted).any(1) for p, f in parts])
        upto = agrees.int().cumprod(1).bool()
        for i in range(block):
            if not (upto[:, i] & wrong).any():
                learned_at = start + i + 1
                break
        if learned_at:
            return learned_at
        pairs, tables, wrong = (v[upto[:, -1]] for v in (pairs, tables, wrong))
    raise ValueError(f"not learned from {most} strings")


@validated
def steps_with_chain(T: int, generator: Generator) -> int:
    """Strings with their chains until every step has seen a one, so that its weight is known."""
    require_positive(T=T)
    known, m = torch.zeros(T, dtype=torch.bool), 0
    while not known.all():
        known |= torch.randint(0, 2, (T,), generator=generator).bool()
        m += 1
    return m


@validated
def steps_without_chain(T: int, generator: Generator) -> int:
    """Strings with their answers until the weights are known: T independent strings modulo 2."""
    require_positive(T=T)
    basis: dict[int, int] = {}
    m = 0
    while len(basis) < T:
        m += 1
        bits = torch.randint(0, 2, (T,), generator=generator).tolist()
        row = int("".join(map(str, bits)), 2)
        while row and row.bit_length() in basis:
            row ^= basis[row.bit_length()]
        if row:
            basis[row.bit_length()] = row
    return m


@validated
def mean_with_chain(T: int) -> float:
    r"""Mean of :func:`steps_with_chain`, :math:`\sum_{k \ge 0} (1 - (1 - 2^{-k})^T)`."""
    require_positive(T=T)
    return sum(1 - (1 - 2.0**-k) ** T for k in range(200))


@validated
def mean_without_chain(T: int) -> float:
    r"""Mean of :func:`steps_without_chain`, :math:`T + \sum_{i=1}^T 1 / (2^i - 1)`."""
    require_positive(T=T)
    return T + sum(1 / (2.0**i - 1) for i in range(1, T + 1))
