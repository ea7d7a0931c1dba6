r"""Finite automata, and how sensitive a step of one and its last state are.

An automaton reads letters and moves between states. It is simulated *in one go* if the last state
is asked for, and *with a scratchpad* if each state is written down before the next letter is read.
States and letters are numbers; a code gives each its bits. A flip counts where it leads from one
valid code to another.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_choice, require_positive

KINDS = ("any", "permutation", "reset")


@dataclass(frozen=True, eq=False)
class Automaton:
    """A finite automaton, or a batch of them of one size.

    Attributes:
        transitions: Next state by state and letter, shape ``(*, states, letters)``, int64.
        start: State before the first letter.

    Raises:
        ValueError: no states or letters, or a state that does not exist.
        TypeError: transitions are not int64.
    """

    transitions: Tensor
    start: int = 0

    def __post_init__(self) -> None:
        T = self.transitions
        if T.dtype != torch.int64:
            raise TypeError(f"transitions must be int64, got {T.dtype}")
        if T.ndim < 2 or not T.numel():
            raise ValueError(f"expected transitions (*, states, letters), got {tuple(T.shape)}")
        low, high = (int(v) for v in T.aminmax())
        if not 0 <= low <= high < self.states:
            raise ValueError(f"states run from 0 to {self.states - 1}, got {low} to {high}")
        if not 0 <= self.start < self.states:
            raise ValueError(f"start must lie between 0 and {self.states - 1}, got {self.start}")

    @property
    def states(self) -> int:
        """Number of states."""
        return self.transitions.shape[-2]

    @property
    def letters(self) -> int:
        """Number of letters."""
        return self.transitions.shape[-1]


def parity_automaton() -> Automaton:
    """Two states, two letters: the state is the parity of the ones read."""
    return Automaton(torch.tensor([[0, 1], [1, 0]]))


def random_automaton(
    states: int, letters: int, generator: torch.Generator, kind: str = "any"
) -> Automaton:
    """A random automaton that starts in state 0.

    Args:
        states: At least 1.
        letters: At least 1.
        generator: Source of randomness.
        kind: ``"any"``: every next state uniform; ``"permutation"``: every letter permutes the
            states; ``"reset"``: every letter leads to one state, wherever it is read.
    """
    require_positive(states=states, letters=letters)
    require_choice("kind", kind, KINDS)
    if kind == "permutation":
        columns = [torch.randperm(states, generator=generator) for _ in range(letters)]
        return Automaton(torch.stack(columns, -1))
    rows = 1 if kind == "reset" else states
    drawn = torch.randint(0, states, (rows, letters), generator=generator)
    return Automaton(drawn.expand(states, letters).clone())


def every_automaton(states: int, letters: int) -> Automaton:
    """All automata of a size, one batch of ``states ** (states * letters)``; at most 2**20."""
    require_positive(states=states, letters=letters)
    count = states ** (states * letters)
    if count > 2**20:
        raise ValueError(f"at most {2**20} automata are listed, there are {count}")
    digits = states ** torch.arange(states * letters)
    tables = torch.arange(count)[:, None] // digits % states
    return Automaton(tables.view(count, states, letters))


def code(count: int) -> Tensor:
    r"""The numbers 0 to count - 1 in base 2, lowest bit first: ``(count, bits)``, int64.

    Args:
        count: At least 1; there are :math:`\lceil \log_2 \text{count} \rceil` bits.
    """
    require_positive(count=count)
    return torch.arange(count)[:, None] >> torch.arange((count - 1).bit_length()) & 1


def step_flips(automaton: Automaton, state_code: Tensor, letter_code: Tensor) -> Tensor:
    r"""How many flips of one input bit change each output bit of the step.

    The step maps the codes of t and x to that of T(t, x). A flip counts if it leads to a valid
    code. The mean over t and x is the average sensitivity of an output bit as a function into
    {-1, 1}; where every code is valid, in the sense of
    :func:`helpers.cube.fourier.average_sensitivity`.

    Args:
        automaton: One, or a batch.
        state_code: Distinct rows, shape ``(states, b)``.
        letter_code: Distinct rows, shape ``(letters, a)``.

    Returns:
        Shape ``(*, states, letters, b)``, int64, from 0 to a + b.

    Raises:
        ValueError: a code of another length, with equal rows, or entries other than 0 and 1.

    Source: Hahn and Rofin (2024), Theorem 7, for codes with words to spare.
    """
    T = automaton.transitions
    near_states = _distances(state_code, automaton.states) == 1
    near_letters = _distances(letter_code, automaton.letters) == 1
    written = state_code[T]  # (*, states, letters, b)
    by_state = (written[..., :, None, :, :] != written[..., None, :, :, :]).long()
    by_letter = (written[..., :, None, :] != written[..., None, :, :]).long()
    changed = (by_state * near_states[:, :, None, None]).sum(-4)
    return changed + (by_letter * near_letters[:, :, None]).sum(-3)


def final_sensitivity(
    automaton: Automaton, n: int, state_code: Tensor, letter_code: Tensor
) -> Tensor:
    r"""Average sensitivity of the last state as a function of the whole word, at every length.

    .. math:: \mathrm{as}_n = \sum_{i, x \to x'} \mathbb E\, |c(t_n) - c(t'_n)|_1

    over the positions i and the flips of one bit of letter i, letters uniform and independent;
    summed over the bits of the code c of the state. The pair of states with and without the flip
    is a Markov chain, so that no word is listed.

    Args:
        automaton: One, or a batch.
        n: Longest length, at least 1.
        state_code: Shape ``(states, b)``; rows may be equal, as for a single bit of the answer.
        letter_code: Distinct rows, shape ``(letters, a)``.

    Returns:
        Shape ``(*, n)``, float64: at lengths 1 to n.

    Raises:
        ValueError: n below 1, or a code that does not fit.

    Cost: n states**2 letters additions an automaton. Source: ours; the definition is that of Hahn
    and Rofin (2024), Definition 3.
    """
    require_positive(n=n)
    T, q = automaton.transitions, automaton.states
    apart = _distances(state_code, q, distinct=False).double().flatten()
    batch = T.shape[:-2]
    injected, weight = _flipped_pairs(automaton, letter_code)  # (*, q, F), F ordered letter flips
    target = _pair_moves(T)  # (*, q * q, s)
    p = torch.zeros(*batch, q, dtype=torch.float64)
    p[..., automaton.start] = 1
    W = torch.zeros(*batch, q * q, dtype=torch.float64)  # mass of pairs parted so far
    found = []
    for _ in range(n):
        W = _push(W, target)
        spread = (p[..., None] * weight).expand(injected.shape)
        W = W.scatter_add(-1, injected.flatten(-2), spread.flatten(-2))
        p = _push(p, T)
        found.append((W * apart).sum(-1))
    return torch.stack(found, -1)


def grows(automaton: Automaton, letter_code: Tensor) -> Tensor:
    r"""Whether the sensitivity of the last state grows without bound; then it grows linearly.

    It does iff some state that is visited for ever has a flip of one bit after which the two runs
    can reach a pair of states from which they can never meet again. Otherwise it is bounded.

    Args:
        automaton: One, or a batch.
        letter_code: Distinct rows, shape ``(letters, a)``.

    Returns:
        Shape ``(*)``, bool.

    Cost: :math:`O(q^6 \log q)` for q states. Source: ours.
    """
    T, q = automaton.transitions, automaton.states
    pairs = _closure(_pair_moves(T))  # (*, q * q, q * q)
    meets = pairs[..., torch.arange(q) * (q + 1)].any(-1)  # (*, q * q)
    lasting = (pairs & ~meets[..., None, :]).any(-1)
    states = _closure(T)
    forever = (states <= states.mT).all(-1) & states[..., automaton.start, :]
    injected, _ = _flipped_pairs(automaton, letter_code)
    kept = lasting.gather(-1, injected.flatten(-2)).view(injected.shape).any(-1)
    return (kept & forever).any(-1)


def _distances(words: Tensor, count: int, *, distinct: bool = True) -> Tensor:
    """Hamming distances between the rows of a code, ``(count, count)``, after checking it."""
    if words.ndim != 2 or len(words) != count:
        raise ValueError(f"expected {count} code words (count, bits), got {tuple(words.shape)}")
    wrong = words[(words != 0) & (words != 1)]
    if wrong.numel():
        raise ValueError(f"code words are of 0s and 1s, got {wrong[0].item()}")
    apart = (words[:, None] != words).sum(-1)
    if distinct and int((apart == 0).sum()) != count:
        raise ValueError(f"the {count} code words must be distinct")
    return apart


def _flipped_pairs(automaton: Automaton, letter_code: Tensor) -> tuple[Tensor, float]:
    """Pairs of states after a flip, by state before it and flip, and the chance of a letter."""
    T, q = automaton.transitions, automaton.states
    near = (_distances(letter_code, automaton.letters) == 1).nonzero()
    return T[..., near[:, 0]] * q + T[..., near[:, 1]], 1 / automaton.letters


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
