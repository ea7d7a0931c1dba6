r"""Random steps in weight space, and their effect on the transformer that computes PARITY.

The transformer is that of :mod:`papers.sensitive.parity`; the positions stay where they are. Why a
step does so much is in :mod:`papers.sensitive.steps`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from helpers.checks import require_amount, require_bits, require_positive, validated
from helpers.sharpness import Estimate
from helpers.weights import Weights
from papers.sensitive.parity import BIT, ONE, OUT, PostNormSpec, forward, parity_transformer, shapes

FIXED = "positions"
"""The weight that no step moves, as in the paper."""
MEMORY = 2**28
"""Bytes that the scores of one evaluation may take, about; one step is always evaluated whole."""


@validated
def moved(
    weights: Weights,
    rho: float,
    draws: int,
    generator: torch.Generator,
    only: Sequence[str] | None = None,
) -> Weights:
    """Weights after random steps of length rho, uniform on the sphere.

    Args:
        weights: Of one model, floating, of one dtype.
        rho: At least 0.
        draws: Steps, at least 1.
        generator: Source of randomness; the steps are those of
            :func:`helpers.sharpness.direction_sharpness`.
        only: Names of the weights that move; None: all but the positions.

    Returns:
        The same names; those that move with a leading axis of ``draws``.

    Raises:
        ValueError: a number out of range, or no weight of a name.
    """
    require_positive(draws=draws)
    require_amount(rho=rho)
    names = [name for name in weights if name != FIXED] if only is None else list(only)
    if not names or not set(names) <= weights.keys():
        raise ValueError(f"expected names among {', '.join(weights)}; got {names}")
    sizes = [weights[name].numel() for name in names]
    dtype = weights[names[0]].dtype
    steps = torch.stack(
        [torch.randn(sum(sizes), generator=generator, dtype=dtype) for _ in range(draws)]
    )
    parts = (steps * (rho / steps.norm(dim=1, keepdim=True))).split(sizes, 1)
    return weights | {
        name: weights[name] + part.view(draws, *weights[name].shape)
        for name, part in zip(names, parts, strict=True)
    }


def parity_of(strings: Tensor) -> Tensor:
    """+1 for an even number of ones and -1 for an odd one, of bits ``(*, n)``: shape ``(*)``."""
    return 1 - 2.0 * (strings.sum(-1) % 2)


@validated
def parity_sharpness(
    spec: PostNormSpec,
    weights: Weights,
    rho: float,
    draws: int,
    strings: int,
    generator: torch.Generator,
    *,
    only: Sequence[str] | None = None,
    network: Callable[[PostNormSpec, Weights, Tensor], Tensor] = forward,
) -> Estimate:
    r"""Average direction sharpness of a network that computes PARITY, fresh strings for each step.

    .. math:: L_{\rho, n} = \mathbb E_x \mathbb E_{|\Delta| = \rho}
        (T_{\theta + \Delta}(x) - T_\theta(x))^2

    Args:
        spec: The model.
        weights: With which its outputs are those of :func:`parity_of`, which is not checked.
        rho: Length of a step, at least 0.
        draws: Steps, at least 2.
        strings: Uniform strings for each step, at least 1.
        generator: Source of randomness.
        only: Names of the weights that move; None: all but the positions.
        network: The model's outputs; :func:`papers.sensitive.two_norms.forward` is another.

    Returns:
        Unbiased mean and its standard error, over steps and strings; the mean of each step.

    Raises:
        ValueError: a number out of range.

    Cost: draws times strings runs of about ``64 n**2`` multiplications.
    Source: Hahn and Rofin (2024), Eq. (15).
    """
    require_positive(strings=strings)
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws}")
    stepped = moved(weights, rho, draws, generator, only)
    x = torch.randint(0, 2, (draws, strings, spec.n), generator=generator, dtype=torch.uint8)
    outputs = []
    with torch.no_grad():
        for at in torch.arange(draws).split(max(1, MEMORY // (8 * strings * spec.n**2))):
            some = {k: w if w is weights[k] else w[at] for k, w in stepped.items()}
            outputs.append(network(spec, some, x[at]))
    found = (torch.cat(outputs) - parity_of(x)).square().mean(-1)
    return Estimate(found.mean(), found.std() / math.sqrt(draws), found)


@validated
def fitted_parity(strings: Tensor, first: int = 8) -> tuple[PostNormSpec, Weights]:
    r"""PARITY again, but flat on given strings: it knows these by their first bits.

    The network of :func:`papers.sensitive.parity.parity_transformer` with one head more for each of
    the first bits. These heads have the score :math:`4 \log n` on their own position, so that every
    token knows the first bits after the first layer. For each string a hidden unit of the second
    block is about 1 where they are those of the string, and 0 elsewhere, and adds the string's
    PARITY to the answer. There the last layer norm is given a number of order 1; elsewhere it is
    given :math:`\pm 1/n^2` as before.

    Args:
        strings: Bits, shape ``(m, n)``, integers.
        first: How many bits are read, at least 1, at most n.

    Returns:
        A spec and float64 weights. The output is PARITY at all inputs whose first bits are
        not those of a string, and at the strings if no two of them share their first bits.

    Raises:
        ValueError: other shapes, numbers out of range or entries other than 0 and 1.
    """
    require_bits(strings)
    if strings.ndim != 2 or not 1 <= first <= strings.shape[1]:
        raise ValueError(f"expected strings (m, n), 1 <= first <= n; got {strings.shape}, {first}")
    m, n = strings.shape
    half = 9 + 2 * first  # the channels of the paper's network, a mark and a bit for each head
    _, exact = parity_transformer(n, half)
    units = exact["layers.0.hidden"].shape[1]
    spec = PostNormSpec(n, 2 * half, heads=1 + first, hidden=units + 4 * first + m)
    weights = {k: torch.zeros(size, dtype=torch.float64) for k, size in shapes(spec).items()}
    for name, part in exact.items():
        weights[name][tuple(slice(size) for size in part.shape)] = part

    def write(row: Tensor, channel: int, value: float) -> None:
        row[channel] += value
        row[half + channel] -= value

    hidden, output = weights["layers.1.hidden"], weights["layers.1.output"]
    for head in range(1, 1 + first):
        mark, seen = 8 + head, 8 + first + head
        write(weights["positions"][head - 1], mark, 1)
        weights["layers.0.query"][head, ONE, 0] = 4 * math.log(n)
        weights["layers.0.key"][head, mark, 0] = 1
        write(weights["layers.0.value"][head, BIT], seen, 1)
    cleared = [(channel, side) for channel in range(9, half) for side in (1, -1)]
    for unit, (channel, side) in enumerate(cleared, units):
        hidden[channel, unit] = side
        write(output[unit], channel, -side)
    for unit, (string, label) in enumerate(
        zip(strings.long(), parity_of(strings).tolist(), strict=True), units + len(cleared)
    ):
        hidden[9 + first : half, unit] = 2.0 * (2 * string[:first] - 1)
        hidden[ONE, unit] = 1.0 - 2 * string[:first].sum()
        write(output[unit], OUT, label)
    return spec, weights


@validated
def climb(
    start: Weights, ratio: Callable[[Weights], Tensor], rate: float, count: int
) -> tuple[float, Weights]:
    """The largest ratio on a path of Adam up its logarithm, and the weights there.

    Args:
        start: Weights at which the path begins; they stay what they are.
        ratio: A number above 0, through which gradients flow; it may differ from call to call.
        rate: Learning rate.
        count: Steps, at least 1.
    """
    weights = {name: weight.clone().requires_grad_() for name, weight in start.items()}
    optimizer = torch.optim.Adam(weights.values(), lr=rate, maximize=True)
    best, found = -math.inf, start
    for _ in range(count):
        value = ratio(weights)
        if value > best:
            best, found = value.item(), {k: v.detach().clone() for k, v in weights.items()}
        optimizer.zero_grad()
        value.log().backward()
        optimizer.step()
    return best, found
