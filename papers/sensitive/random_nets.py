r"""Untrained nets as functions of bits: how sensitive they are, and by which draw of weights.

Two transformers, three recurrent nets and three draws, so that what belongs to the net can be told
from what belongs to the size of its weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from helpers.checks import require_choice, require_finite, require_positive, validated
from helpers.cube import average_sensitivity, bits
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec, shapes
from helpers.weights import Weights, ensemble_of
from papers.sensitive import brittle

RECURRENT: dict[str, Callable[..., nn.RNNBase]] = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN}
TRANSFORMERS = ("transformer", "deep transformer")
NETS = (*TRANSFORMERS, *RECURRENT)
DRAWS = ("PyTorch", "Xavier", "wide")
WIDE = 10.0
TIE = 1e-9
NORMAL = ("embedding", "positions")


@validated
def outputs(
    net: str,
    draw: str,
    n: int,
    count: int,
    generator: torch.Generator,
    *,
    width: int = 32,
    end_symbol: bool = True,
) -> Tensor:
    r"""Outputs of random nets on the whole cube.

    Nets: ``"transformer"`` is that of :func:`papers.sensitive.brittle.spec`; ``"deep
    transformer"`` has four layers of one head, norms before each block, positions added to tokens,
    and tokens multiplied by the root of the width, and is read at an end symbol behind the bits;
    ``"LSTM"``, ``"GRU"`` and ``"RNN"`` (tanh) have
    two layers that read embedded tokens, and their last state is read out.

    Draws: ``"PyTorch"`` as PyTorch draws the layers; ``"Xavier"``: matrices normal with variance 2
    over the sum of their two sizes; ``"wide"``: everything but biases and gains uniform from -10 to
    10. Biases are 0 in the last two, embeddings and positions standard normal in the first two.

    Args:
        net: One of :data:`NETS`.
        draw: One of :data:`DRAWS`.
        n: Bits, from 1 to 12.
        count: Number of nets, at least 1.
        generator: Source of randomness.
        width: Columns, or units of a state.
        end_symbol: Whether the deep transformer has its end symbol; else it is read at the last
            bit.

    Returns:
        Shape ``(count, 2**n)``, float64; weights are drawn in float32 and the nets run in float64.

    Raises:
        ValueError: an unknown net or draw, or a number out of range.

    Source: "wide", "Xavier" and the deep transformer as in Bhattamishra et al. (2023).
    """
    require_choice("net", net, NETS)
    require_choice("draw", draw, DRAWS)
    require_positive(n=n, count=count, width=width)
    if n > 12:
        raise ValueError(f"the whole cube is for at most 12 bits, got n = {n}")
    with torch.no_grad():
        if net in RECURRENT:
            return _recurrent(net, draw, n, count, generator, width)
        with_end = end_symbol and net == "deep transformer"
        return _transformer(net, draw, n, count, generator, width, with_end)


def sign_sensitivity(outputs: Tensor) -> Tensor:
    """Average sensitivity of the sign of real functions; zero counts as negative.

    Args:
        outputs: Shape ``(*batch, 2**n)``, finite.

    Returns:
        Shape ``(*batch,)``, float64, in expected bit flips.
    """
    require_finite(outputs=outputs)
    return average_sensitivity(torch.where(outputs > 0, 1.0, -1.0).double())


def balanced(outputs: Tensor) -> Tensor:
    """Outputs minus the lower median of their net, so that about half of the signs are 1.

    What is within :data:`TIE` of the median, in units of the net's largest output, becomes 0: where
    attention is saturated many strings have the same output, and rounding would give it a sign.

    Args:
        outputs: Shape ``(*batch, 2**n)``, finite, float64.

    Returns:
        The same shape and dtype.
    """
    require_finite(outputs=outputs)
    centred = outputs - outputs.median(-1, keepdim=True).values
    tied = centred.abs() <= TIE * outputs.abs().amax(-1, keepdim=True)
    return centred.masked_fill(tied, 0)


def drawn(shapes: Mapping[str, tuple[int, ...]], draw: str, generator: torch.Generator) -> Weights:
    """Weights of one net by "Xavier" or "wide": vectors are biases, 0, or gains, 1."""
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            weights[name] = torch.full(shape, float(name.endswith("gain")))
        elif draw == "wide":
            weights[name] = (2 * torch.rand(shape, generator=generator) - 1) * WIDE
        else:
            std = 1.0 if name in NORMAL else math.sqrt(2 / sum(shape))
            weights[name] = std * torch.randn(shape, generator=generator)
    return weights


def _transformer(
    net: str,
    draw: str,
    n: int,
    count: int,
    generator: torch.Generator,
    width: int,
    with_end: bool,
) -> Tensor:
    if net == "deep transformer":
        spec = TransformerSpec(
            n + with_end,
            width,
            layers=4,
            hidden=2 * width,
            norm="pre",
            final_norm=True,
            vocabulary=2 + with_end,
        )
    else:
        spec = brittle.spec(n, width)
    if draw == "PyTorch":
        weights = transformer.initial_weights(spec, count, generator)
    else:
        weights = ensemble_of(count, lambda: drawn(shapes(spec), draw, generator))
    if net == "deep transformer":
        weights["embedding"] = weights["embedding"] * math.sqrt(width)
    weights = {name: w.double() for name, w in weights.items()}
    strings = bits(n)
    if with_end:
        strings = torch.cat((strings, torch.full((2**n, 1), 2)), 1)
    parts = [
        transformer.forward(spec, {k: v[e : e + 16] for k, v in weights.items()}, strings)
        for e in range(0, count, 16)
    ]
    return torch.cat(parts)


def _recurrent(
    net: str, draw: str, n: int, count: int, generator: torch.Generator, width: int
) -> Tensor:
    """One net after the other, by PyTorch's own layers."""
    strings, top = bits(n), 1 / math.sqrt(width)
    cell = RECURRENT[net](width, width, 2, batch_first=True, dtype=torch.float64)
    cell_shapes = {name: tuple(v.shape) for name, v in cell.named_parameters()}
    found = []
    for _ in range(count):
        if draw == "PyTorch":
            sizes = cell_shapes | {"readout": (width, 1), "readout_bias": (1,)}
            w = {k: (2 * torch.rand(s, generator=generator) - 1) * top for k, s in sizes.items()}
            w["embedding"] = torch.randn(2, width, generator=generator)
        else:
            sizes = cell_shapes | {"embedding": (2, width), "readout": (width, 1)}
            w = drawn(sizes, draw, generator)
            w["readout_bias"] = torch.zeros(1)
        w = {name: value.double() for name, value in w.items()}
        for name, parameter in cell.named_parameters():
            parameter.copy_(w[name])
        states, _ = cell(w["embedding"][strings])
        found.append(states[:, -1] @ w["readout"][:, 0] + w["readout_bias"])
    return torch.stack(found)
