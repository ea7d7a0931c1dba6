"""Feedforward and recurrent nets in the form of :mod:`helpers.nets.transformer`: pure functions.

A net is a spec and a flat dict of weights, each with any leading ensemble axes. Inputs are real
numbers: bits are converted by the caller, as signs or as embeddings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.checks import require_choice, require_floating, require_positive, validated
from helpers.nets.spec import ACTIVATIONS
from helpers.weights import Weights, check_weights, ensemble_of

READOUTS = ("last", "every")


@validated
@dataclass(frozen=True)
class FeedforwardSpec:
    """A feedforward net.

    Attributes:
        inputs: Numbers given, at least 1.
        hidden: Units of each hidden layer, in order; empty: a linear map.
        outputs: Numbers computed, at least 1.
        activation: ``"relu"``, ``"gelu"`` or ``"tanh"``.

    Raises:
        ValueError: a net that cannot exist, naming the field.

    Example:
        >>> from papers.retrieval.baselines import FeedforwardSpec, shapes
        >>> shapes(FeedforwardSpec(inputs=3, hidden=(5,)))["layers.1.weight"]
        (5, 1)
    """

    inputs: int
    hidden: tuple[int, ...] = (128,)
    outputs: int = 1
    activation: str = "relu"

    def __post_init__(self) -> None:
        require_positive(inputs=self.inputs, outputs=self.outputs)
        require_positive(**{f"hidden[{i}]": h for i, h in enumerate(self.hidden)})
        require_choice("activation", self.activation, tuple(ACTIVATIONS))


@validated
@dataclass(frozen=True)
class RecurrentSpec:
    """A recurrent net with gated units (GRU), read by a linear map.

    Attributes:
        inputs: Numbers a token, at least 1.
        hidden: Units of the state, in each direction, at least 1.
        outputs: Numbers read out a token, at least 1.
        bidirectional: A second net runs from the last token to the first.
        readout: From the state at ``"every"`` token, or from the ``"last"`` state of each
            direction.

    Raises:
        ValueError: a net that cannot exist, naming the field.

    Example:
        >>> import torch
        >>> from papers.retrieval.baselines import RecurrentSpec, forward, initial_weights
        >>> spec = RecurrentSpec(inputs=3, hidden=4)
        >>> weights = initial_weights(spec, None, torch.Generator().manual_seed(0))
        >>> forward(spec, weights, torch.zeros(2, 7, 3)).shape  # 2 strings of 7 tokens
        torch.Size([2, 7])
    """

    inputs: int
    hidden: int = 64
    outputs: int = 1
    bidirectional: bool = True
    readout: str = "every"

    def __post_init__(self) -> None:
        require_positive(inputs=self.inputs, hidden=self.hidden, outputs=self.outputs)
        require_choice("readout", self.readout, READOUTS)

    @property
    def directions(self) -> tuple[str, ...]:
        """Names of the nets: one for each direction."""
        return ("forward", "backward") if self.bidirectional else ("forward",)


Spec = FeedforwardSpec | RecurrentSpec


def shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    """Shape of every weight of one net, by name. Matrices stand as (in, out).

    Example:
        >>> from papers.retrieval.baselines import FeedforwardSpec, shapes
        >>> list(shapes(FeedforwardSpec(inputs=3, hidden=())))
        ['layers.0.weight', 'layers.0.bias']
    """
    if isinstance(spec, FeedforwardSpec):
        sizes = (spec.inputs, *spec.hidden, spec.outputs)
        return {
            name: shape
            for i in range(len(sizes) - 1)
            for name, shape in (
                (f"layers.{i}.weight", sizes[i : i + 2]),
                (f"layers.{i}.bias", sizes[i + 1 : i + 2]),
            )
        }
    gates = 3 * spec.hidden  # reset, update, new: PyTorch's order
    found: dict[str, tuple[int, ...]] = {}
    for way in spec.directions:
        found |= {f"{way}.input": (spec.inputs, gates), f"{way}.input_bias": (gates,)}
        found |= {f"{way}.state": (spec.hidden, gates), f"{way}.state_bias": (gates,)}
    read = len(spec.directions) * spec.hidden
    return found | {"readout": (read, spec.outputs), "readout_bias": (spec.outputs,)}


@validated
def initial_weights(
    spec: Spec,
    ensemble: int | None,
    generator: torch.Generator,
    *,
    dtype: torch.dtype = torch.float32,
) -> Weights:
    r"""Random weights, as PyTorch draws them: uniform up to :math:`1/\sqrt{k}`.

    k is the number of inputs of a linear map, biases included, and of units in a recurrent net.
    Models are drawn one after the other: the first k of a larger ensemble are the ensemble of k.

    Args:
        spec: The net.
        ensemble: Number of models; None: one model, without that axis.
        generator: Source of randomness.
        dtype: Of the weights.

    Raises:
        ValueError: no models.

    Example:
        >>> import torch
        >>> from papers.retrieval.baselines import FeedforwardSpec, initial_weights
        >>> weights = initial_weights(FeedforwardSpec(3), 10, torch.Generator().manual_seed(0))
        >>> {len(each) for each in weights.values()}  # an ensemble of 10
        {10}
    """
    if ensemble is not None:
        return ensemble_of(ensemble, lambda: initial_weights(spec, None, generator, dtype=dtype))
    weights, fan_in = {}, 1
    for name, shape in shapes(spec).items():
        fan_in = shape[0] if len(shape) == 2 else fan_in
        recurrent = isinstance(spec, RecurrentSpec) and not name.startswith("readout")
        top = 1 / math.sqrt(spec.hidden if recurrent else fan_in)  # type: ignore[arg-type]
        weights[name] = (2 * torch.rand(shape, generator=generator, dtype=dtype) - 1) * top
    return weights


def forward(spec: Spec, weights: Weights, inputs: Tensor) -> Tensor:
    """Run the net; a pure function of the weights.

    Args:
        spec: The net.
        weights: As :func:`shapes` says, each with any leading ensemble axes ``*``.
        inputs: Floating, shape ``(*, B, inputs)``, or ``(*, B, N, inputs)`` for a recurrent net of
            N tokens, at least 1; ``*`` may be absent.

    Returns:
        Shape ``(*, B)``, with one more axis N if every token is read, and one more if there are
        several outputs.

    Raises:
        ValueError: weights or inputs of another shape.
        TypeError: inputs are not floating.

    Cost: the products of the shapes, for each input, and for each token of a recurrent net.

    Example:
        >>> import torch
        >>> from papers.retrieval.baselines import FeedforwardSpec, forward, initial_weights
        >>> spec = FeedforwardSpec(3)
        >>> weights = initial_weights(spec, 10, torch.Generator().manual_seed(0))
        >>> forward(spec, weights, torch.zeros(10, 6, 3)).shape
        torch.Size([10, 6])
    """
    _check(spec, weights, inputs)
    if isinstance(spec, FeedforwardSpec):
        outputs = _feedforward(spec, weights, inputs)
    else:
        outputs = _recurrent(spec, weights, inputs)
    return outputs.squeeze(-1) if spec.outputs == 1 else outputs


def _feedforward(spec: FeedforwardSpec, weights: Weights, X: Tensor) -> Tensor:
    for i in range(len(spec.hidden) + 1):
        X = X @ weights[f"layers.{i}.weight"] + weights[f"layers.{i}.bias"][..., None, :]
        X = ACTIVATIONS[spec.activation](X) if i < len(spec.hidden) else X
    return X


def _recurrent(spec: RecurrentSpec, weights: Weights, X: Tensor) -> Tensor:
    B, N = X.shape[-3:-1]
    states = []  # of each direction, in the order of the tokens: (*, B, N, hidden)
    for way in spec.directions:
        tokens = X if way == "forward" else X.flip(-2)
        given = tokens.flatten(-3, -2) @ weights[f"{way}.input"]
        given = (given + weights[f"{way}.input_bias"][..., None, :]).unflatten(-2, (B, N))
        matrix, bias = weights[f"{way}.state"], weights[f"{way}.state_bias"][..., None, :]
        h = given.new_zeros(*given.shape[:-2], spec.hidden)
        passed = []
        for t in range(N):
            h = _gru(given[..., t, :], h @ matrix + bias, h)
            passed.append(h)
        along = torch.stack(passed, -2)
        states.append(along if way == "forward" or spec.readout == "last" else along.flip(-2))
    every = torch.cat(states, -1)  # (*, B, N, directions * hidden)
    read = every[..., -1, :] if spec.readout == "last" else every.flatten(-3, -2)
    outputs = read @ weights["readout"] + weights["readout_bias"][..., None, :]
    return outputs if spec.readout == "last" else outputs.unflatten(-2, (B, N))


def _gru(given: Tensor, kept: Tensor, h: Tensor) -> Tensor:
    """The next state from the three gates' inputs, of the token and of the state."""
    reset, update, new = given.chunk(3, -1)
    reset_h, update_h, new_h = kept.chunk(3, -1)
    update = torch.sigmoid(update + update_h)
    new = torch.tanh(new + torch.sigmoid(reset + reset_h) * new_h)
    return new + update * (h - new)


def _check(spec: Spec, weights: Weights, inputs: Tensor) -> None:
    check_weights(weights, shapes(spec))
    require_floating(inputs=inputs)
    recurrent = isinstance(spec, RecurrentSpec)
    if inputs.ndim < 2 + recurrent or inputs.shape[-1] != spec.inputs:
        tokens = "N, " if recurrent else ""
        raise ValueError(
            f"expected inputs of shape (..., B, {tokens}{spec.inputs}), got {tuple(inputs.shape)}"
        )
    if recurrent and not inputs.shape[-2]:
        raise ValueError("a recurrent net needs at least 1 token, got 0")
