r"""Sparse majority: the task, and the single attention layer that learns it.

A string has T bits, of which s are hidden; its label is 1 if more than half of the hidden bits
are. The model is one multi-head attention read at a class token, without layer norm and without a
feedforward block: a :class:`helpers.nets.transformer.TransformerSpec`. The class token's query is
the same for every string, so each head's output is a ratio of two linear functions of the string.
:func:`forward` uses that. Every function of weights takes any leading ensemble axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from helpers.checks import (
    require_bits,
    require_choice,
    require_positive,
    require_scale,
    require_whole,
)
from helpers.draws import seed_of
from helpers.lengthfree.single_layer import Norms, measured_norms
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.training.train import cross_entropy
from helpers.weights import Weights

GIVEN = ("embedding", "cls", "positions")
"""Weights that are given and not learned."""
PLACES = ("sinusoidal", "random")
HISTORY = ("loss", "accuracy", "training", "size")


@dataclass(frozen=True)
class DataSets:
    """E data sets of one length, each with hidden positions and randomness of its own.

    Attributes:
        T: Bits of a string.
        hidden: The hidden positions, 0 to T - 1, shape ``(E, s)``, increasing.
        generators: The source of each data set's strings, weights and order, from here on.
    """

    T: int
    hidden: Tensor
    generators: tuple[torch.Generator, ...]

    def sample(self, count: int) -> tuple[Tensor, Tensor]:
        """The next uniform strings of every data set, and their labels.

        Args:
            count: Strings of each, at least 1.

        Returns:
            Bits, shape ``(E, count, T)``, uint8, and labels ``(E, count)``, int64.
        """
        require_positive(count=count)
        drawn = [
            torch.randint(0, 2, (count, self.T), generator=g, dtype=torch.uint8)
            for g in self.generators
        ]
        labels = [majority(b[:, i]) for b, i in zip(drawn, self.hidden, strict=True)]
        return torch.stack(drawn), torch.stack(labels)


def majority(bits: Tensor) -> Tensor:
    r"""Whether more than half of the bits are 1, :math:`\mathbf 1[\sum_i b_i > s/2]`.

    Args:
        bits: Shape ``(*, s)``, 0 or 1, integer or bool, s at least 1.

    Returns:
        Shape ``(*)``, int64. A tie is 0.

    Raises:
        ValueError: no bits, or numbers other than 0 and 1.
        TypeError: bits are floating.

    Source: Trauger and Tewari (2024), Section 6.
    """
    if not bits.ndim or not bits.shape[-1]:
        raise ValueError(f"a majority needs at least 1 bit, got shape {tuple(bits.shape)}")
    require_whole(bits=bits)
    require_bits(bits)
    return (2 * bits.long().sum(-1) > bits.shape[-1]).long()


def plant(T: int, s: int, seeds: Sequence[int]) -> DataSets:
    """Hide s of T positions, anew for each seed.

    Args:
        T: Bits of a string, at least s.
        s: Hidden bits, at least 1.
        seeds: Integers, one a data set. A generator takes 32 bits of a seed, so T, s and the seed
            together are hashed to that.

    Raises:
        ValueError: no seeds, or s outside 1 to T.
    """
    if not seeds:
        raise ValueError("at least one data set is needed, got no seeds")
    if not 1 <= s <= T:
        raise ValueError(f"s must lie between 1 and T = {T}, got {s}")
    generators = tuple(torch.Generator().manual_seed(seed_of(T, s, seed)) for seed in seeds)
    hidden = [torch.randperm(T, generator=g)[:s].sort().values for g in generators]
    return DataSets(T, torch.stack(hidden), generators)


def indicators(bits: Tensor) -> Tensor:
    """Which of 2 T + 1 tokens a string has: a 0 at each place, a 1 at each, the class token.

    Args:
        bits: Shape ``(*, T)``, 0 or 1, integer or bool.

    Returns:
        Shape ``(*, 2 T + 1)``, uint8: T marks for the zeros, T for the ones, and a 1.
    """
    require_whole(bits=bits)
    require_bits(bits)
    ones = bits.to(torch.uint8)
    return torch.cat((1 - ones, ones, torch.ones_like(ones[..., :1])), -1)


def probe(T: int, *, width: int = 64, heads: int = 2, head_width: int = 64) -> TransformerSpec:
    """One multi-head attention, and a linear map of the class token's row to two logits.

    The spec's residual adds the class token's own vector, the same for every string. So it is
    nothing but another bias, and leaving it out would not change which functions can be computed.

    Args:
        T: Bits of a string.
        width: Columns of a token; the paper has 64.
        heads: The paper has 2.
        head_width: Columns of a head. The paper gives one number, 64.

    Source: Trauger and Tewari (2024), Section 6.
    """
    return TransformerSpec(
        T,
        width,
        layers=1,
        heads=heads,
        head_width=head_width,
        hidden=0,
        norm="none",
        positions="learned",  # a table among the weights, which training leaves alone
        readout="cls",
        outputs=2,
    )


def start(
    spec: TransformerSpec,
    data: DataSets,
    *,
    token_norm: float = 1.0,
    places: str = "sinusoidal",
) -> Weights:
    r"""Weights of every model before training, each from its data set's generator, float32.

    The two bits and the class token are orthogonal vectors of one length, in random directions.
    The class token stands at place 0 and the string at places 1 to T.

    Args:
        spec: As of :func:`probe`, at least 3 wide.
        data: E data sets with ``spec.n`` bits.
        token_norm: Length of the three vectors, above 0.
        places: ``"sinusoidal"`` encodings or ``"random"`` directions, both of length
            :math:`\sqrt{\text{width} / 2}`.

    Returns:
        The weights of :func:`helpers.nets.transformer.shapes`, each with a leading axis E.

    Raises:
        ValueError: another length, a width that is too small, or an argument out of range.
    """
    require_choice("places", places, PLACES)
    if spec.n != data.T:
        raise ValueError(f"strings of {data.T} bits do not fit a model of {spec.n}")
    if spec.width < 3:
        raise ValueError(f"three orthogonal vectors need a width of 3, got {spec.width}")
    require_scale(token_norm=token_norm)
    models = []
    for g in data.generators:
        weights = transformer.initial_weights(spec, None, g)
        drawn = torch.randn(spec.width, 3, generator=g)
        bits_and_cls = torch.linalg.qr(drawn).Q.mT * token_norm
        weights["embedding"], weights["cls"] = bits_and_cls[:2].clone(), bits_and_cls[2].clone()
        if places == "sinusoidal":
            weights["positions"] = _waves(spec).roll(-1, 0)  # the class token's row is the last
        else:
            drawn = torch.randn(spec.tokens, spec.width, generator=g)
            length = math.sqrt(spec.width / 2)
            weights["positions"] = length * torch.nn.functional.normalize(drawn, dim=-1)
        models.append(weights)
    return {name: torch.stack([m[name] for m in models]) for name in models[0]}


def forward(spec: TransformerSpec, weights: Weights, seen: Tensor) -> Tensor:
    r"""Logits of the model, from the tokens that a string has.

    With :math:`z_k = e^{s_k}`, where :math:`s_k` is the score of token k under the class token's
    query, and :math:`u_k` what its value adds to the logits,

    .. math:: f(x) = c + \sum_h \frac{\sum_k x_k z_{hk} u_{hk}}{\sum_k x_k z_{hk}},
        \qquad x \in \{0, 1\}^{2T + 1} .

    Args:
        spec: As of :func:`probe`.
        weights: As of :func:`helpers.nets.transformer.shapes`, each ``(*, ...)``.
        seen: Shape ``(*, B, 2 T + 1)``, as of :func:`indicators`, of any dtype.

    Returns:
        Shape ``(*, B, 2)``, dtype of the weights: those of :func:`helpers.nets.transformer.forward`
        on the bits, up to rounding. Scores that are spread over more than 87 (float32) may
        leave a string without attention: NaN.

    Raises:
        ValueError: another number of tokens.

    Cost: about 12 B T multiplications for two heads, where the plain form has 4 B T width.
    """
    if seen.shape[-1] != 2 * spec.n + 1:
        raise ValueError(f"{spec.n} bits have {2 * spec.n + 1} tokens, got {seen.shape[-1]}")
    scores, values, constant = token_tables(spec, weights)
    z = (scores - scores.detach().amax(-2, keepdim=True)).exp()  # (*, K, H)
    columns = torch.cat((z, (z[..., None] * values).flatten(-2)), -1)  # (*, K, 3 H)
    under, over = (seen.to(z.dtype) @ columns).split((spec.heads, 2 * spec.heads), -1)
    average = over.unflatten(-1, (spec.heads, 2)) / under[..., None]  # (*, B, H, 2)
    return average.sum(-2) + constant[..., None, :]


def token_tables(spec: TransformerSpec, weights: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """What each of the K = 2 T + 1 tokens does, in the order of :func:`indicators`.

    Returns:
        Scores under the class token's query, ``(*, K, heads)``, up to a constant of each head;
        what values add to the logits, ``(*, K, heads, 2)``; the logits' constant, ``(*, 2)``.
    """
    w = _layer(weights)
    H = spec.heads
    cls = (w["cls"] + w["positions"][..., -1, :])[..., None, :]  # (*, 1, D)
    query = cls @ w["query"] + w["query_bias"][..., None, :]  # (*, 1, A)
    key = (w["key"] * query * spec.scale).unflatten(-1, (H, -1)).sum(-1)  # (*, D, H)
    out = w["project"] @ w["readout"]  # (*, A, 2)
    value = w["value"].unflatten(-1, (H, -1)).movedim(-2, -3) @ out.unflatten(-2, (H, -1))
    maps = torch.cat((key, value.movedim(-3, -2).flatten(-2)), -1)  # (*, D, 3 H)
    places = w["positions"][..., :-1, :] @ maps
    bits = (w["embedding"] @ maps)[..., :, None, :] + places[..., None, :, :]  # (*, 2, T, 3 H)
    tables = torch.cat((bits.flatten(-3, -2), cls @ maps), -2)  # (*, K, 3 H)
    constant = w["value_bias"][..., None, :] @ out
    constant = constant + (w["project_bias"][..., None, :] + cls) @ w["readout"]
    scores, values = tables.split((H, 2 * H), -1)
    return scores, values.unflatten(-1, (H, 2)), constant.squeeze(-2) + w["readout_bias"]


def size(weights: Weights) -> Tensor:
    """Sum of the absolute values of all learned weights, one a model.

    Args:
        weights: Each with one leading axis E.

    Returns:
        Shape ``(E,)``, float64: the quantity of the paper's Figure 1.
    """
    learned = [w.abs().flatten(1).sum(1).double() for k, w in weights.items() if k not in GIVEN]
    return torch.stack(learned).sum(0)


@dataclass
class BestEpoch:
    """Validation loss for :func:`helpers.training.train.train`, which keeps each model at its best.

    Attributes:
        spec: As of :func:`probe`.
        validation: Tokens ``(E, B, 2 T + 1)`` and labels ``(E, B)``.
        training: The same of the training set.
        weights: Of each model where its validation loss was least so far.
        history: What was found at each call, by a name of :data:`HISTORY`, ``(E,)`` each: loss
            and accuracy on the validation set, loss on the training set, :func:`size`.
    """

    spec: TransformerSpec
    validation: tuple[Tensor, Tensor]
    training: tuple[Tensor, Tensor]
    weights: Weights = field(default_factory=dict)
    history: dict[str, list[Tensor]] = field(default_factory=lambda: {k: [] for k in HISTORY})

    @torch.no_grad()
    def __call__(self, weights: Weights, models: Tensor) -> Tensor:
        """The validation losses of these models, ``(A,)``."""
        E = len(self.validation[1])
        seen, labels = (v[models] for v in self.validation)
        logits = forward(self.spec, weights, seen)
        loss = cross_entropy(logits, labels)
        fitted, known = (v[models] for v in self.training)
        found = {
            "loss": loss,
            "accuracy": (logits.argmax(-1) == labels).double().mean(1),
            "training": cross_entropy(forward(self.spec, weights, fitted), known),
            "size": size(weights),
        }
        least = self.rows("loss").nan_to_num(math.inf).amin(0) if self.history["loss"] else None
        better = loss.new_ones(len(models), dtype=torch.bool)
        better = better if least is None else loss.double() < least[models]
        for name, values in found.items():
            row = torch.full((E,), math.nan, dtype=torch.float64)
            row[models] = values.double()
            self.history[name].append(row)
        for name, value in weights.items():
            whole = self.weights.setdefault(name, value.new_zeros(E, *value.shape[1:]))
            whole[models[better]] = value[better]
        return loss

    def rows(self, name: str) -> Tensor:
        """One line of the history, shape ``(calls, E)``."""
        return torch.stack(self.history[name])

    def best(self, calls: int | None = None) -> dict[str, Tensor]:
        """The history at each model's least validation loss, among the first calls.

        Returns:
            The names of :data:`HISTORY`; ``gap``, validation minus training loss; and ``call``,
            the number of the call, from 1. Shape ``(E,)`` each.
        """
        if not self.history["loss"]:
            raise ValueError("nothing was measured yet")
        if calls is not None:
            require_positive(calls=calls)
        at = self.rows("loss")[:calls].nan_to_num(math.inf).argmin(0)
        found = {name: self.rows(name).gather(0, at[None])[0] for name in HISTORY}
        return found | {"gap": found["loss"] - found["training"], "call": at + 1}


def margin_norms(spec: TransformerSpec, weights: Weights) -> Norms:
    r"""Norms of one trained model, as a class of margins :math:`f_1 - f_0`.

    Cross entropy with two classes is a function of the margin, and 1-Lipschitz in it. The read-out
    is the difference of the two columns, the activation the identity. A head's query-key matrix
    takes in the factor of the scores, and the query's bias b too: the query token c is the same
    for all strings, and :math:`W + c b^\top / |c|^2` gives what W and b give. The biases behind
    the attention add a constant and are left out.

    Args:
        spec: As of :func:`probe`.
        weights: Of one model, without leading axes.

    Returns:
        The largest of each norm over the heads.
    """
    w = _layer({k: v.double() for k, v in weights.items()})
    H = spec.heads
    cls = w["cls"] + w["positions"][-1]
    bits = w["embedding"][:, None] + w["positions"][:-1]
    tokens = torch.cat((bits.flatten(0, 1), cls[None]))
    query = w["query"] + torch.outer(cls, w["query_bias"]) / cls.square().sum()
    margin = w["readout"][:, 1] - w["readout"][:, 0]
    found = []
    for q, k, v, out in zip(
        query.chunk(H, 1),
        w["key"].chunk(H, 1),
        w["value"].chunk(H, 1),
        w["project"].chunk(H, 0),
        strict=True,
    ):
        found.append(measured_norms(margin, out, v, spec.scale * q @ k.mT, tokens))
    names = ("w", "W_c", "W_v", "x", "W_qk")
    return Norms(**{name: max(getattr(n, name) for n in found) for name in names})


def _layer(weights: Weights) -> Weights:
    return {name.removeprefix("layers.0."): value for name, value in weights.items()}


def _waves(spec: TransformerSpec) -> Tensor:
    """Sines and cosines of places 0 to T, shape ``(T + 1, width)``."""
    plain = TransformerSpec(spec.n, spec.width, positions="sinusoidal", readout="cls")
    return transformer.position_table(plain, {"embedding": torch.empty(0)})
