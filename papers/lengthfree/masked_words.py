r"""Word masking: cross entropy over K words, and what K scores cost in place of one.

A *score* is given to each of K words, and the loss is :math:`-\log \mathrm{softmax}(v)_y` at the
true word y. Complexities here are sums over the sample, m times those of
:mod:`helpers.covers.capacity`. Functions take any leading axes; logarithms are natural.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from helpers.checks import (
    require_choice,
    require_floating,
    require_positive,
    require_scale,
    validated,
)
from helpers.covers import capacity
from helpers.covers.lipschitz import Sides

LIPSCHITZ = {"max": 2.0, "euclidean": math.sqrt(2)}
"""Least Lipschitz constants of the loss in the largest and in the Euclidean norm, for any K > 1."""
MAX_WORDS = 12


def losses(scores: Tensor, words: Tensor) -> Tensor:
    """Cross entropy of each example, in nats.

    Args:
        scores: Shape ``(*batch, K)``, floating.
        words: The true words, 0 to K - 1, int64, of a shape that broadcasts with ``(*batch,)``.

    Returns:
        Shape ``(*batch,)``.

    Raises:
        ValueError: no words to choose from, or a true word out of range.
        TypeError: scores that are not floating, or words that are not int64.
    """
    _check(scores, words)
    chosen = words.expand(scores.shape[:-1])[..., None]
    return -scores.log_softmax(-1).gather(-1, chosen)[..., 0]


def gradient(scores: Tensor, words: Tensor) -> Tensor:
    r"""Gradient of :func:`losses` in the scores, :math:`p - e_y`, shape ``(*batch, K)``.

    Its entries have absolute sum :math:`2 (1 - p_y)` and squares that add up to at most twice
    :math:`(1 - p_y)^2`. Source: Trauger and Tewari (2024), Appendix G.
    """
    _check(scores, words)
    K = scores.shape[-1]
    return scores.softmax(-1) - functional.one_hot(words, K).to(scores.dtype)


def loss_sides(scores: Tensor, other: Tensor, words: Tensor, norm: str = "max") -> Sides:
    r"""Difference of two losses, and of their scores.

    .. math:: |\ell(a, y) - \ell(b, y)| , \qquad \|a - b\|

    Args:
        scores: Shape ``(*batch, K)``.
        other: The same.
        words: As for :func:`losses`.
        norm: A key of :data:`LIPSCHITZ`, which holds the largest ratio of the sides.

    Source: Trauger and Tewari (2024), Appendix G.
    """
    require_choice("norm", norm, tuple(LIPSCHITZ))
    left = (losses(scores, words) - losses(other, words)).abs()
    step = scores - other
    return Sides(left, step.abs().amax(-1) if norm == "max" else step.norm(dim=-1))


class Complexities(NamedTuple):
    """Rademacher complexities of one class, as sums over the sample.

    Attributes:
        loss: Of cross entropy of the class, shape ``(*batch,)``.
        word: Of the scores of each single word, shape ``(*batch, K)``.
    """

    loss: Tensor
    word: Tensor


def complexities(scores: Tensor, words: Tensor) -> Complexities:
    r"""Complexities of a finite class, over all signs.

    .. math:: \operatorname{E}_\epsilon \max_f \sum_i \epsilon_i \ell(f(x_i), y_i) , \qquad
        \operatorname{E}_\epsilon \max_f \sum_i \epsilon_i f_s(x_i)

    Args:
        scores: Of every function on every input, shape ``(*batch, F, m, K)``, m from 1 to 20.
        words: The true words, shape ``(m,)``.

    Cost: F m 2**m (K + 1) multiplications.
    """
    _check(scores, words)
    if scores.ndim < 3:
        raise ValueError(f"expected scores (..., F, m, K), got {tuple(scores.shape)}")
    m = scores.shape[-2]
    word = capacity.rademacher(scores.movedim(-1, -3).contiguous())
    return Complexities(m * capacity.rademacher(losses(scores, words)), m * word)


def product_class(pairs: Tensor) -> Tensor:
    """All functions whose scores for each word are one of two given.

    Args:
        pairs: Two lists of scores a word, shape ``(*batch, 2, m, K)``, K from 1 to 12.

    Returns:
        Shape ``(*batch, 2**K, m, K)``: member i takes list ``i >> s & 1`` for word s.

    Raises:
        ValueError: another number of lists, or too many words.
    """
    if pairs.ndim < 3 or pairs.shape[-3] != 2 or not 1 <= pairs.shape[-1] <= MAX_WORDS:
        raise ValueError(
            f"expected pairs (..., 2, m, K) with K from 1 to {MAX_WORDS}, got {tuple(pairs.shape)}"
        )
    K = pairs.shape[-1]
    choice = (torch.arange(2**K)[:, None] >> torch.arange(K) & 1).bool()[:, None]  # (2**K, 1, K)
    return torch.where(choice, pairs[..., 1:, :, :], pairs[..., :1, :, :])


@validated
def mean_absolute_sum(n: int) -> float:
    r"""Mean absolute value of a sum of n random signs.

    .. math:: \operatorname{E} |\epsilon_1 + \dots + \epsilon_n|
        = 2^{1 - n}\, \lceil n/2 \rceil \binom{n}{\lceil n/2 \rceil}
        \approx \sqrt{2n/\pi}

    Raises:
        ValueError: n below 1.
    """
    require_positive(n=n)
    top = (n + 1) // 2
    if n <= 1000:
        return top * math.comb(n, top) / 2 ** (n - 1)
    log_binomial = math.lgamma(n + 1) - math.lgamma(top + 1) - math.lgamma(n - top + 1)
    return math.exp(math.log(top) + log_binomial - (n - 1) * math.log(2))


@validated
def own_word(K: int, B: float, copies: int = 1) -> tuple[float, float, float]:
    r"""Complexities of a class in which each sentence has a word of its own.

    Sentence i has the one-hot input :math:`e_{y_i}` and each of K words is the true one of
    ``copies`` sentences. The functions are :math:`x \mapsto \operatorname{diag}(\pm B)\, x`: each
    word's score is :math:`\pm B` on its own sentences and 0 elsewhere.

    Args:
        K: Words, at least 2.
        B: Size of the scores, positive.
        copies: Sentences of each word, at least 1.

    Returns:
        Complexity of the loss; of one word's scores on this sample; and on the worst sample of as
        many sentences, which repeats that word's. Sums over the sample.

    Source: the chapter on word masking. The rows have :math:`\|w\|_1 \le B`, and the class of all
    such rows has the same complexity of single words on this sample if ``copies`` is 1.
    """
    require_positive(copies=copies)
    _require_words(K)
    require_scale(B=B)
    low, high = (math.log1p((K - 1) * math.exp(v)) for v in (-B, B))
    own = mean_absolute_sum(copies)
    return K * own * (high - low) / 2, B * own, B * mean_absolute_sum(K * copies)


@validated
def every_input_alike(K: int, copies: int) -> float:
    r"""Complexity of the loss over that of one word, for small constant scores.

    The functions are the constants :math:`w \in [-B, B]^K`, so that every sample is the worst one,
    and each of K words is the true one of n = ``copies`` sentences. Loss and scores differ by the
    gradient at equal scores, :math:`1/K - 1[y_i = s]`, and as B falls to 0 the ratio tends to

    .. math:: \frac{\operatorname{E} |R - (K - 1) S|}{\operatorname{E} |R + S|} \to \sqrt{K - 1} ,

    the second limit for growing n; R and S are sums of (K - 1) n and of n random signs.

    Args:
        K: Words, at least 2.
        copies: Sentences of each word, at least 1.

    Cost: K copies**2 additions.
    """
    require_positive(copies=copies)
    _require_words(K)
    (s, p), (r, q) = (_sign_sums(n) for n in (copies, (K - 1) * copies))
    apart = (r - (K - 1) * s[:, None]).abs()
    return (p @ apart @ q).item() / mean_absolute_sum(K * copies)


def _sign_sums(n: int) -> tuple[Tensor, Tensor]:
    """Values of a sum of n random signs, and their probabilities, both ``(n + 1,)``, float64."""
    k = torch.arange(n + 1, dtype=torch.float64)
    logs = math.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
    return n - 2 * k, (logs - n * math.log(2)).exp()


def _require_words(K: int) -> None:
    if K < 2:
        raise ValueError(f"K must be at least 2, got {K}")


def _check(scores: Tensor, words: Tensor) -> None:
    require_floating(scores=scores)
    if words.dtype != torch.int64:
        raise TypeError(f"words must be int64, got {words.dtype}")
    if not scores.ndim or not scores.shape[-1]:
        raise ValueError(f"scores need an axis of at least one word, got {tuple(scores.shape)}")
    K = scores.shape[-1]
    if words.numel() and not 0 <= int(words.min()) <= int(words.max()) < K:
        raise ValueError(
            f"words must lie between 0 and {K - 1}, got {int(words.min())} to {int(words.max())}"
        )
