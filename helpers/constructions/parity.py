r"""PARITY out of two nested majority votes: as a function of bit strings, and as a circuit.

Hahn and Rofin (2024), Lemma 8. The inner vote is taken at a position i: are more than half of the
ones at or before i? The outer vote is taken among the positions that hold a one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def inner_votes(strings: Tensor, *, strict: bool = True, inclusive: bool = True) -> Tensor:
    r"""At each position: are more than half of the ones at or before it?

    .. math:: g_i(x) = \Bigl[\, 2 \sum_{j \le i} x_j > \sum_j x_j \,\Bigr]

    Args:
        strings: Bits, shape ``(*batch, n)``, in {0, 1}.
        strict: False counts exactly half as a majority.
        inclusive: False counts only the ones before the position.

    Returns:
        Shape ``(*batch, n)``, bool; also at positions that hold a zero.

    Raises:
        ValueError: no axis of positions, or an entry other than 0 and 1.

    Cost: n additions a string. Source: Hahn and Rofin (2024), proof of Lemma 8.
    """
    ones = _bits(strings)
    seen = ones.cumsum(-1)
    return _majority(seen if inclusive else seen - ones, ones.sum(-1, keepdim=True), strict)


def nested_majority(
    strings: Tensor,
    *,
    inner_strict: bool = True,
    outer_strict: bool = True,
    inclusive: bool = True,
) -> Tensor:
    r"""Whether most of the ones have most of the ones at or before them: exactly if odd many.

    .. math:: 2 \sum_i x_i\, g_i(x) > \sum_i x_i

    Args:
        strings: Bits, shape ``(*batch, n)``, in {0, 1}; without a one the answer is False.
        inner_strict: False takes exactly half for a majority in the inner vote; then it is OR.
        outer_strict: The same for the outer vote; then it is constant.
        inclusive: False leaves the position itself out of the inner vote; then it is constant.

    Returns:
        Shape ``(*batch,)``, bool: PARITY, as long as all three options are True.

    Raises:
        ValueError: no axis of positions, or an entry other than 0 and 1.

    Cost: n additions a string. Source: Hahn and Rofin (2024), Lemma 8.
    """
    ones = _bits(strings)
    votes = inner_votes(ones, strict=inner_strict, inclusive=inclusive)
    return _majority((votes & ones.bool()).sum(-1), ones.sum(-1), outer_strict)


@dataclass(frozen=True, eq=False)
class MajorityCircuit:
    r"""Layers of majority gates; a gate fires iff more than half of its wires carry a one.

    Attributes:
        layers: Wire counts, int64. Layer l has shape ``(gates, nodes)``: a row is a gate; column 0
            is the constant 1, then come the inputs, then the gates of all earlier layers. An entry
            w means \|w\| wires from that node, negated on the way if w is negative.
    """

    layers: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError("a circuit needs at least one layer")
        nodes = self.layers[0].shape[-1]
        for wires in self.layers:
            if wires.dtype != torch.int64:
                raise TypeError(f"wire counts must be int64, got {wires.dtype}")
            if wires.ndim != 2 or wires.shape[1] != nodes or not len(wires):
                raise ValueError(f"expected (gates, {nodes}) wire counts, got {tuple(wires.shape)}")
            nodes += len(wires)

    @property
    def inputs(self) -> int:
        """Number of input bits."""
        return self.layers[0].shape[1] - 1

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.layers)

    @property
    def gates(self) -> int:
        """Number of gates."""
        return sum(len(wires) for wires in self.layers)

    @property
    def wires(self) -> int:
        """Number of wires, with their multiplicity."""
        return sum(int(wires.abs().sum()) for wires in self.layers)

    def __call__(self, strings: Tensor) -> Tensor:
        """Outputs of the last gate on bits ``(*batch, inputs)``: shape ``(*batch,)``, bool."""
        ones = _bits(strings)
        if ones.shape[-1] != self.inputs:
            raise ValueError(f"this circuit takes {self.inputs} bits, got {ones.shape[-1]}")
        signs = torch.cat((torch.ones_like(ones[..., :1]), 2 * ones - 1), -1).double()
        for wires in self.layers:
            fired = signs @ wires.double().T > 0  # (*batch, gates)
            signs = torch.cat((signs, 2.0 * fired - 1), -1)
        return fired[..., -1]


def parity_circuit(n: int) -> MajorityCircuit:
    r"""A majority circuit of depth 2 with n + 1 gates for PARITY: Lemma 8, gate by gate.

    Inner gate i has i wires from x_i, one from each x_j before it, one from each negated x_j after
    it, and n - i zeros: of these 2n - 1 wires at least n carry a one iff x_i = 1 and g_i(x) holds.
    The outer gate has two wires from each inner gate, one from each negated x_j, and n - 1 ones.

    Args:
        n: Number of bits, at least 1.

    Returns:
        Depth 2, n + 1 gates, 2n^2 + 3n - 1 wires, an odd number at every gate: no vote can tie.

    Raises:
        ValueError: n is less than 1.

    Source: Hahn and Rofin (2024), Fact 1, which names such circuits without building one.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    i = torch.arange(1, n + 1)
    before = (i[:, None] > i).long()
    inner = torch.cat(((i - n)[:, None], before - before.T + torch.diag(i)), 1)
    outer = torch.cat((torch.tensor([n - 1]), torch.full((n,), -1), torch.full((n,), 2)))
    return MajorityCircuit((inner, outer[None]))


def _majority(part: Tensor, whole: Tensor, strict: bool) -> Tensor:
    return 2 * part > whole if strict else 2 * part >= whole


def _bits(strings: Tensor) -> Tensor:
    if strings.ndim < 1:
        raise ValueError("expected bit strings of shape (*batch, n), got a scalar")
    wrong = strings[(strings != 0) & (strings != 1)]
    if wrong.numel():
        raise ValueError(f"bits are 0 or 1, got {wrong[0].item()}")
    return strings.long()
