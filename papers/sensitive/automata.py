r"""Finite automata, and how sensitive a step of one and its last state are.

An automaton reads letters and moves between states. It is simulated *in one go* if the last state
is asked for, and *with a scratchpad* if each state is written down before the next letter is read.
States and letters are numbers, and a run starts in state 0. An automaton is its table of
transitions: the next state by state and letter, shape ``(*, states, letters)``, int64, with any
batch axes ``*``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.checks import require_positive, validated

PARITY = torch.tensor([[0, 1], [1, 0]])
"""Two states, two letters: the state is the parity of the ones read."""


@validated
def every_automaton(states: int, letters: int) -> Tensor:
    """All automata of a size, one batch of ``states ** (states * letters)``; at most 2**20."""
    require_positive(states=states, letters=letters)
    count = states ** (states * letters)
    if count > 2**20:
        raise ValueError(f"at most {2**20} automata are listed, there are {count}")
    digits = states ** torch.arange(states * letters)
    return (torch.arange(count)[:, None] // digits % states).view(count, states, letters)


@validated
def code(count: int) -> Tensor:
    r"""The numbers 0 to count - 1 in base 2, lowest bit first: ``(count, bits)``, int64.

    Args:
        count: At least 1; there are :math:`\lceil \log_2 \text{count} \rceil` bits.
    """
    require_positive(count=count)
    return torch.arange(count)[:, None] >> torch.arange((count - 1).bit_length()) & 1


def step_flips(T: Tensor) -> Tensor:
    r"""How many flips of one input bit change each output bit of the step, in binary code.

    The step maps the codes of t and x to that of T(t, x). A flip counts if it leads to a valid
    code. The mean over t and x is the average sensitivity of an output bit as a function into
    {-1, 1}; where every code is valid, in the sense of
    :func:`helpers.cube.fourier.average_sensitivity`.

    Args:
        T: Transitions, shape ``(*, states, letters)``; else ValueError.

    Returns:
        Shape ``(*, states, letters, b)`` for b bits of a state, int64, from 0 to the number of
        bits of a state and a letter.

    Source: Hahn and Rofin (2024), Theorem 7, for codes with words to spare.
    """
    q, s = _sizes(T)
    written = code(q)[T]  # (*, states, letters, b)
    by_state = (written[..., :, None, :, :] != written[..., None, :, :, :]).long()
    by_letter = (written[..., :, None, :] != written[..., None, :, :]).long()
    changed = (by_state * (_distances(q) == 1)[:, :, None, None]).sum(-4)
    return changed + (by_letter * (_distances(s) == 1)[:, :, None]).sum(-3)


@validated
def final_sensitivity(T: Tensor, n: int) -> Tensor:
    r"""Average sensitivity of the last state as a function of the whole word, at every length.

    .. math:: \mathrm{as}_n = \sum_{i, x \to x'} \mathbb E\, |c(t_n) - c(t'_n)|_1

    over the positions i and the flips of one bit of letter i, letters uniform and independent;
    summed over the bits of the binary code c of the state. The pair of states with and without the
    flip is a Markov chain, so that no word is listed.

    Args:
        T: Transitions, shape ``(*, states, letters)``.
        n: Longest length, at least 1.

    Returns:
        Shape ``(*, n)``, float64: at lengths 1 to n.

    Raises:
        ValueError: n below 1, or no automaton.

    Cost: n states**2 letters additions an automaton. Source: ours; the definition is that of Hahn
    and Rofin (2024), Definition 3.
    """
    require_positive(n=n)
    q, s = _sizes(T)
    apart = _distances(q).double().flatten()
    injected, target = _flipped_pairs(T), _pair_moves(T)  # (*, q, flips), (*, q * q, s)
    p = torch.zeros(*T.shape[:-2], q, dtype=torch.float64)
    p[..., 0] = 1
    W = torch.zeros(*T.shape[:-2], q * q, dtype=torch.float64)  # mass of pairs parted so far
    found = []
    for _ in range(n):
        spread = (p[..., None] / s).expand(injected.shape)
        W = _push(W, target).scatter_add(-1, injected.flatten(-2), spread.flatten(-2))
        p = _push(p, T)
        found.append((W * apart).sum(-1))
    return torch.stack(found, -1)


def grows(T: Tensor) -> Tensor:
    r"""Whether the sensitivity of the last state grows without bound; then it grows linearly.

    It does iff some state that is visited for ever has a flip of one bit of its letter's binary
    code after which the two runs can reach a pair of states from which they can never meet again.
    Otherwise it is bounded.

    Args:
        T: Transitions, shape ``(*, states, letters)``.

    Returns:
        Shape ``(*)``, bool.

    Cost: :math:`O(q^6 \log q)` for q states. Source: ours.
    """
    q, _ = _sizes(T)
    pairs, states, injected = _closure(_pair_moves(T)), _closure(T), _flipped_pairs(T)
    meets = pairs[..., torch.arange(q) * (q + 1)].any(-1)  # (*, q * q)
    lasting = (pairs & ~meets[..., None, :]).any(-1)
    forever = (states <= states.mT).all(-1) & states[..., 0, :]
    kept = lasting.gather(-1, injected.flatten(-2)).view(injected.shape).any(-1)
    return (kept & forever).any(-1)


def _sizes(T: Tensor) -> tuple[int, int]:
    """Numbers of states and letters, after checking a table of transitions."""
    if T.ndim < 2 or not T.numel():
        raise ValueError(f"expected transitions (*, states, letters), got {tuple(T.shape)}")
    q, s = T.shape[-2:]
    low, high = (int(v) for v in T.aminmax())
    if not 0 <= low <= high < q:
        raise ValueError(f"states run from 0 to {q - 1}, got {low} to {high}")
    return q, s


def _distances(count: int) -> Tensor:
    """Hamming distances between the words of :func:`code`, ``(count, count)``."""
    return (code(count)[:, None] != code(count)).sum(-1)


def _flipped_pairs(T: Tensor) -> Tensor:
    """Pairs of states after a flip, by state before it and flip: ``(*, q, flips)``."""
    q, s = T.shape[-2:]
    near = (_distances(s) == 1).nonzero()
    return T[..., near[:, 0]] * q + T[..., near[:, 1]]


def _pair_moves(T: Tensor) -> Tensor:
    """Where each pair of states goes, ``(*, q * q, letters)``, pairs numbered q a + b."""
    q = T.shape[-2]
    return (T[..., :, None, :] * q + T[..., None, :, :]).flatten(-3, -2)


def _push(mass: Tensor, moves: Tensor) -> Tensor:
    """Mass after one uniform letter: ``(*, N)`` along moves ``(*, N, letters)``."""
    spread = (mass / moves.shape[-1])[..., None].expand(moves.shape)
    return torch.zeros_like(mass).scatter_add(-1, moves.flatten(-2), spread.flatten(-2))


def _closure(moves: Tensor) -> Tensor:
    """What can be reached from what, itself included: ``(*, N, letters) -> (*, N, N)``, bool."""
    N = moves.shape[-2]
    reached = torch.eye(N).expand(*moves.shape[:-1], N).scatter(-1, moves, 1.0)
    for _ in range(N.bit_length()):
        reached = ((reached @ reached) > 0).float()
    return reached.bool()
