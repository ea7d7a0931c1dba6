r"""Word masking: cross entropy over K words, its contraction, and a source to learn from.

A *score* is given to each of K words, and the loss is :math:`-\log \mathrm{softmax}(v)_y` at the
true word y. Complexities here are sums over the sample, m times those of
:mod:`helpers.covers.capacity`. Functions take any leading axes; logarithms are natural.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn import functional

from helpers.checks import require_choice, require_floating, require_positive, require_scale
from helpers.covers import capacity
from helpers.covers.lipschitz import Sides
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.training import batches
from helpers.training.train import cross_entropy, train
from helpers.weights import Weights

LIPSCHITZ = {"max": 2.0, "euclidean": math.sqrt(2)}
"""Least Lipschitz constants of the loss in the largest and in the Euclidean norm, for any K > 1."""
MAX_WORDS = 12
_ROWS = ("free", "shared")


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
    if K < 2:
        raise ValueError(f"K must be at least 2, got {K}")
    require_scale(B=B)
    low, high = (math.log1p((K - 1) * math.exp(v)) for v in (-B, B))
    own = mean_absolute_sum(copies)
    return K * own * (high - low) / 2, B * own, B * mean_absolute_sum(K * copies)


def small_linear(
    inputs: Tensor, words: Tensor, K: int, draws: int, generator: Generator, rows: str = "free"
) -> tuple[Tensor, Tensor]:
    r"""Draws of the complexities of linear classes with small weights, per unit of their norm.

    The classes are :math:`x \mapsto W x` with rows :math:`\|w_s\|_1 \le B`, each ``"free"``, or all
    alike up to a sign that alternates with the word, ``"shared"``. With
    :math:`c_{is} = 1/K - 1[y_i = s]`, the gradient at equal scores, the means of

    .. math:: \sum_s \Bigl\| \sum_i \epsilon_i c_{is} x_i \Bigr\|_\infty , \qquad
        \Bigl\| \sum_i \epsilon_i x_i \Bigr\|_\infty

    are the limits of the two complexities over B as B falls to 0. At B, a complexity of the loss
    differs from B times the first by at most :math:`m B^2 \max_i \|x_i\|_\infty^2 / 2`, since the
    Hessian of the loss has norm at most 1 from the largest entry to the sum.

    Args:
        inputs: Shape ``(m, d)``, floating.
        words: The true words, shape ``(m,)``.
        K: Words, at least 2.
        draws: Of the signs, at least 1.
        generator: Source of randomness.
        rows: ``"free"`` or ``"shared"``.

    Returns:
        One value a draw, each ``(draws,)``: for the loss and for the scores of one word.
    """
    require_choice("rows", rows, _ROWS)
    require_positive(draws=draws)
    if K < 2 or inputs.ndim != 2 or words.shape != inputs.shape[:1]:
        raise ValueError(
            f"expected K of at least 2, inputs (m, d) and words (m,), got {K}, "
            f"{tuple(inputs.shape)} and {tuple(words.shape)}"
        )
    c = gradient(inputs.new_zeros(len(words), K), words)  # (m, K)
    if rows == "shared":
        c = c @ (1.0 - 2.0 * (torch.arange(K) % 2)).to(c)[:, None]
    signs = torch.randint(2, (draws, len(words)), generator=generator).to(inputs) * 2 - 1
    word = (signs @ inputs).abs().amax(-1)
    loss = sum(((signs * c[:, s]) @ inputs).abs().amax(-1) for s in range(c.shape[1]))
    return torch.as_tensor(loss), word


@dataclass(frozen=True)
class Sentences:
    r"""Sentences with one name among fillers, and a masked word that mostly repeats the name.

    The words 0 to K - 1 are names, then come fillers, then the mask. A sentence of T tokens has a
    uniform name at a uniform place, fillers elsewhere, and the mask as its last token. The masked
    word is that name with probability :math:`1 - \eta`, otherwise any of the K, that name included.

    Attributes:
        K: Names, at least 2.
        T: Tokens, at least 2.
        fillers: At least 1.
        noise: :math:`\eta`, from 0 up to, but not including, 1.
    """

    K: int
    T: int
    fillers: int = 8
    noise: float = 0.3

    def __post_init__(self) -> None:
        require_positive(fillers=self.fillers)
        for name, size in (("K", self.K), ("T", self.T)):
            if size < 2:
                raise ValueError(f"{name} must be at least 2, got {size}")
        if not 0 <= self.noise < 1:
            raise ValueError(f"noise must lie in [0, 1), got {self.noise}")

    @property
    def vocabulary(self) -> int:
        """Kinds of tokens: names, fillers and the mask."""
        return self.K + self.fillers + 1

    @property
    def entropy(self) -> float:
        r"""Least cross entropy of any predictor, in nats; it does not depend on T.

        .. math:: -p \log p - (K - 1)\, q \log q , \qquad q = \eta/K, \quad p = 1 - \eta + q
        """
        q = self.noise / self.K
        p = 1 - self.noise + q
        return -p * math.log(p) - ((self.K - 1) * q * math.log(q) if q else 0.0)

    def draw(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Sentences ``(count, T)`` and masked words ``(count,)``, int64."""
        require_positive(count=count)
        name = torch.randint(self.K, (count,), generator=generator)
        other = torch.randint(self.K, (count,), generator=generator)
        place = torch.randint(self.T - 1, (count, 1), generator=generator)
        tokens = self.K + torch.randint(self.fillers, (count, self.T), generator=generator)
        tokens.scatter_(1, place, name[:, None])
        tokens[:, -1] = self.vocabulary - 1
        noisy = torch.rand(count, generator=generator, dtype=torch.float64) < self.noise
        return tokens, torch.where(noisy, other, name)

    def probabilities(self, tokens: Tensor) -> Tensor:
        """Exact probabilities of the masked word, ``(*batch, T)`` to ``(*batch, K)``, float64.

        Raises:
            ValueError: sentences of another length, or without exactly one name.
        """
        names = tokens < self.K
        if tokens.shape[-1:] != (self.T,) or not bool((names.sum(-1) == 1).all()):
            raise ValueError(
                f"a sentence has {self.T} tokens with exactly one name below {self.K}, got "
                f"shape {tuple(tokens.shape)}"
            )
        name = torch.where(names, tokens, 0).sum(-1)
        known = functional.one_hot(name, self.K).double()
        return (1 - self.noise) * known + self.noise / self.K


class Learned(NamedTuple):
    """What E models learned, each entry ``(E,)``, float64, in nats.

    Attributes:
        train: Cross entropy on the model's own training sentences.
        held_out: Mean cross entropy on new sentences, over their exact probabilities.
        luck: Cross entropy of those probabilities on the training sentences, less the entropy:
            of mean 0 over training sets.
        weight: Sum of the absolute weights.
    """

    train: Tensor
    held_out: Tensor
    luck: Tensor
    weight: Tensor

    @property
    def gap(self) -> Tensor:
        """Held-out less training cross entropy, with the luck of the draw taken out."""
        return self.held_out - self.train + self.luck


def learn(
    source: Sentences,
    m: int,
    E: int,
    seed: int,
    *,
    positions: str = "sinusoidal",
    width: int = 32,
    heads: int = 2,
    hidden: int = 0,
    steps: int = 200,
    learning_rate: float = 3e-3,
    batch: int = 64,
    new: int = 2000,
) -> Learned:
    """Train E one-layer transformers, each on m sentences of its own, by AdamW.

    Args:
        source: Of the sentences.
        m: Sentences of a training set, at least 1.
        E: Models, at least 1.
        seed: Of everything random, up to 32 bits.
        positions: ``"sinusoidal"``, which are fixed, or ``"learned"``.
        width: Columns of the model.
        heads: Heads, a divisor of the width.
        hidden: Units of the feedforward block; 0: attention alone.
        steps: At least 1.
        learning_rate: Positive.
        batch: Sentences in a step; all m if that is fewer.
        new: Sentences on which all models are evaluated, at least 1.
    """
    require_positive(m=m, E=E, new=new)
    spec = TransformerSpec(
        source.T,
        width,
        layers=1,
        heads=heads,
        hidden=hidden,
        norm="pre",
        final_norm=True,
        positions=positions,
        outputs=source.K,
        vocabulary=source.vocabulary,
    )
    generator = Generator().manual_seed(seed)
    drawn = [source.draw(m, generator) for _ in range(E)]
    tokens, words = (torch.stack(v) for v in zip(*drawn, strict=True))
    fresh = source.draw(new, generator)[0]
    start = transformer.initial_weights(spec, E, generator)
    forward = functools.partial(transformer.forward, spec)
    trained = train(
        forward,
        start,
        batches.fixed(tokens, words, min(batch, m), batches.spawn(E, generator)),
        steps=steps,
        learning_rate=learning_rate,
        loss=cross_entropy,
        check_every=steps,
        on_failure="raise",
    )
    kept = trained.weights
    return Learned(
        _mean_losses(forward, kept, tokens, functional.one_hot(words, source.K).double()),
        _mean_losses(forward, kept, fresh.expand(E, -1, -1), source.probabilities(fresh)),
        losses(source.probabilities(tokens).log(), words).mean(-1) - source.entropy,
        torch.stack([v.double().abs().flatten(1).sum(1) for v in kept.values()]).sum(0),
    )


def _mean_losses(
    forward: functools.partial[Tensor], weights: Weights, tokens: Tensor, truth: Tensor
) -> Tensor:
    """Cross entropy of each model against probabilities ``(N, K)`` or ``(E, N, K)``: ``(E,)``."""
    parts = []
    with torch.no_grad():
        for t, p in zip(tokens.split(250, 1), truth.split(250, -2), strict=True):
            parts.append(-(p * forward(weights, t).double().log_softmax(-1)).sum(-1))
    return torch.cat(parts, 1).mean(1)


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
