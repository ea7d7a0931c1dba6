"""The description of a transformer apart from its weights, and the weights that it needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from helpers.checks import require_amount, require_choice, require_positive, validated

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "tanh": torch.tanh,
}
NORMS = ("none", "pre", "post")
POSITIONS = ("onehot", "learned", "sinusoidal")
JOINS = ("add", "concat")
READOUTS = ("last", "cls", "every")


@validated
@dataclass(frozen=True)
class TransformerSpec:
    r"""What a transformer is, apart from its weights.

    Attributes:
        n: Tokens of an input, at least 1.
        width: D, columns of the residual stream.
        layers: At least 1.
        heads: Heads a layer, at least 1.
        hidden: Units of the feedforward block, one number for all layers or one a layer; 0: none.
        norm: Layer norm: ``"none"``, ``"pre"`` each block or ``"post"`` its residual sum.
        activation: ``"relu"`` or ``"gelu"``.
        positions: ``"onehot"``, ``"learned"`` or ``"sinusoidal"``.
        join: ``"add"`` positions to tokens, or ``"concat"``, the position's columns first: as many
            as positions if they are one-hot, else half the width.
        readout: Linear, from the ``"last"`` token, from an output position ``"cls"`` appended
            after the input, or from ``"every"`` token.
        outputs: Numbers read out, at least 1.
        vocabulary: Number of tokens; bits have 2.
        zero_cls: The output position's token is zero rather than learned.
        head_width: Columns of a head; None: ``width / heads``, which must be whole.
        logit_scale: Factor of the scores; None: :math:`1/\sqrt{\text{head width}}`.
        bias: Whether queries, keys, values and projection have biases.
        project: Whether the heads' outputs pass a projection; without it they must fill the width.
        causal: Tokens attend to themselves and earlier ones only.
        positional: The first layer's queries and keys read the position's columns only.
        final_norm: A last layer norm, before the read-out.
        norm_eps: Added to the variance by layer norm.

    Raises:
        ValueError: a model that cannot exist, naming the field.

    Example:
        >>> from helpers.nets.spec import TransformerSpec
        >>> TransformerSpec(n=10, width=16, heads=3)
        Traceback (most recent call last):
        ValueError: 3 heads do not divide the width 16
    """

    n: int
    width: int = 32
    layers: int = 2
    heads: int = 1
    hidden: int | tuple[int, ...] = 128
    norm: str = "post"
    activation: str = "relu"
    positions: str = "learned"
    join: str = "add"
    readout: str = "last"
    outputs: int = 1
    vocabulary: int = 2
    zero_cls: bool = False
    head_width: int | None = None
    logit_scale: float | None = None
    bias: bool = True
    project: bool = True
    causal: bool = False
    positional: bool = False
    final_norm: bool = False
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        sizes = ("n", "width", "layers", "heads", "outputs", "vocabulary")
        require_positive(**{name: getattr(self, name) for name in sizes})
        require_choice("norm", self.norm, NORMS)
        require_choice("positions", self.positions, POSITIONS)
        require_choice("join", self.join, JOINS)
        require_choice("readout", self.readout, READOUTS)
        require_choice("activation", self.activation, tuple(ACTIVATIONS))
        listed = self.hidden if isinstance(self.hidden, tuple) else (self.hidden,)
        for each in listed:
            if isinstance(each, bool) or not isinstance(each, int):
                raise TypeError(
                    f"hidden must be a whole number or a tuple of them, got {self.hidden!r}"
                )
        if isinstance(self.hidden, tuple) and len(listed) != self.layers:
            raise ValueError(f"hidden gives {len(listed)} layers, the model has {self.layers}")
        if min(self.hiddens) < 0:
            raise ValueError(f"hidden must be at least 0, got {self.hidden}")
        if self.head_width is None and self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide the width {self.width}")
        if self.attention_width < 1:
            raise ValueError(f"head_width must be at least 1, got {self.head_width}")
        if not self.project and self.attention_width != self.width:
            raise ValueError(
                f"without a projection the heads must fill the width {self.width}, "
                f"got {self.heads} of {self.attention_width // self.heads}"
            )
        self._check_positions()
        if self.logit_scale is not None and not math.isfinite(self.logit_scale):
            raise ValueError(f"logit_scale must be finite, got {self.logit_scale}")
        require_amount(norm_eps=self.norm_eps)

    def _check_positions(self) -> None:
        if self.join == "add":
            if self.positional:
                raise ValueError("positional needs positions that are concatenated")
            if self.positions == "onehot" and self.width < self.tokens:
                raise ValueError(
                    f"{self.tokens} one-hot positions need as many columns, got {self.width}"
                )
        elif self.token_width < 1:
            raise ValueError(
                f"positions of {self.columns_of_positions} columns leave no room for tokens in a "
                f"width of {self.width}"
            )

    @property
    def tokens(self) -> int:
        """Positions P: the input's, and the output position if there is one."""
        return self.n + (self.readout == "cls")

    @property
    def hiddens(self) -> tuple[int, ...]:
        """Hidden units of every layer."""
        return (self.hidden,) * self.layers if isinstance(self.hidden, int) else self.hidden

    @property
    def attention_width(self) -> int:
        """A, columns of all heads together."""
        return self.width if self.head_width is None else self.heads * self.head_width

    @property
    def scale(self) -> float:
        """Factor of the scores."""
        if self.logit_scale is not None:
            return self.logit_scale
        return 1 / math.sqrt(self.attention_width // self.heads)

    @property
    def columns_of_positions(self) -> int:
        """Columns that a position's encoding has."""
        if self.join == "add":
            return self.width
        return self.tokens if self.positions == "onehot" else self.width // 2

    @property
    def token_width(self) -> int:
        """Columns that a token's embedding has."""
        return self.width - (self.columns_of_positions if self.join == "concat" else 0)


@cache
def shapes(spec: TransformerSpec) -> dict[str, tuple[int, ...]]:
    """Shape of every weight of one model, by name, in the order in which they are drawn.

    Example:
        >>> from helpers.nets.spec import TransformerSpec, shapes
        >>> shapes(TransformerSpec(n=10, width=16))["positions"]
        (10, 16)
    """
    D, A = spec.width, spec.attention_width
    found: dict[str, tuple[int, ...]] = {"embedding": (spec.vocabulary, spec.token_width)}
    if spec.readout == "cls" and not spec.zero_cls:
        found["cls"] = (spec.token_width,)
    if spec.positions == "learned":
        found["positions"] = (spec.tokens, spec.columns_of_positions)
    for layer, hidden in enumerate(spec.hiddens):
        seen = spec.columns_of_positions if spec.positional and layer == 0 else D
        block: dict[str, tuple[int, ...]] = {"query": (seen, A), "key": (seen, A), "value": (D, A)}
        if spec.project:
            block["project"] = (A, D)
        if spec.bias:
            block |= {f"{name}_bias": shape[1:] for name, shape in block.items()}
        if hidden:
            block |= {"hidden": (D, hidden), "hidden_bias": (hidden,)}
            block |= {"output": (hidden, D), "output_bias": (D,)}
        if spec.norm != "none":
            for norm in ("norm1", "norm2")[: 1 + bool(hidden)]:
                block |= {f"{norm}.gain": (D,), f"{norm}.bias": (D,)}
        found |= {f"layers.{layer}.{name}": shape for name, shape in block.items()}
    if spec.final_norm:
        found |= {"norm.gain": (D,), "norm.bias": (D,)}
    return found | {"readout": (D, spec.outputs), "readout_bias": (spec.outputs,)}
