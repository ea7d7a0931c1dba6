r"""What a feedforward network can learn if its first layer stays in the span of the data.

Mousavi-Hosseini et al. (2025), Section 4. The task is simple 1-sparse token regression: inputs x in
R^{Nd}, a pointer t in {1..N}, a label :math:`\langle e_t \otimes u, x \rangle` with a unit vector u
in R^d. A net is f(t, Wx). Matrices W stand as in
:mod:`papers.retrieval.baselines`, (in, out), so their columns are directions in the space of x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize, one_hot

from helpers.checks import require_choice, require_finite, require_positive, validated
from helpers.weights import Weights
from papers.retrieval import baselines
from papers.retrieval.baselines import FeedforwardSpec
from papers.retrieval.task import prompts

FIRST = "layers.0.weight"
KINDS = ("gated", "tanh")


class Samples(NamedTuple):
    """Samples of E tasks, float64.

    Attributes:
        u: Directions, shape ``(E, d)``. x: Inputs, ``(E, n, N d)``. t: Pointers from 0, ``(E, n)``.
        y: Labels, ``(E, n)``.
        inputs: What a net is given, ``(E, n, N d + N)``: x, then the pointer as one of N units.
    """

    u: Tensor
    x: Tensor
    t: Tensor
    y: Tensor
    inputs: Tensor


@validated
def samples(n: int, N: int, u: Tensor, generator: Generator) -> Samples:
    """Draw n samples with N tokens for each direction of ``u``, shape ``(E, d)``."""
    drawn = [prompts(n, N, u.shape[-1], generator, simple=True) for _ in u]
    tokens = torch.stack([given.x for given in drawn]).to(u.dtype)  # (E, n, N, d)
    t = torch.stack([given.t[:, 0, 0] for given in drawn])
    y = (torch.einsum("entd,ed->ent", tokens, u)).gather(-1, t[..., None])[..., 0]
    x = tokens.flatten(-2)
    return Samples(u, x, t, y, torch.cat((x, one_hot(t, N).to(x.dtype)), -1))


@validated
def directions(count: int, d: int, generator: Generator) -> Tensor:
    """Random unit vectors, shape ``(count, d)``."""
    return normalize(_normal((count, d), generator), dim=-1)


@validated
def targets(u: Tensor, N: int) -> Tensor:
    r"""The vectors :math:`e_t \otimes u`, shape ``(N, N d)``, for one u of shape ``(d,)``."""
    return torch.kron(torch.eye(N, dtype=u.dtype), u[None])


def basis(x: Tensor) -> Tensor:
    """Orthonormal basis of the span of the rows, as columns.

    Args:
        x: Shape ``(n, D)``, floating and finite, n and D at least 1.

    Returns:
        Shape ``(D, rank)``.
    """
    if x.ndim != 2 or not x.is_floating_point() or not x.numel():
        raise ValueError(
            f"expected floating rows x (n, D), n and D at least 1, got {tuple(x.shape)}, {x.dtype}"
        )
    require_finite(x=x)
    _, sizes, rows = torch.linalg.svd(x, full_matrices=False)
    cut = sizes[0] * max(x.shape) * torch.finfo(x.dtype).eps
    return rows[sizes > cut].mT


def outside(W: Tensor, spanned: Tensor) -> Tensor:
    """The part of the columns of W, ``(..., D, h)``, orthogonal to a basis ``(..., D, r)``."""
    return W - spanned @ (spanned.mT @ W)


@validated
def seen(x: Tensor, N: int) -> Tensor:
    r"""How much of each direction u the samples span, summed over the tokens.

    .. math:: M = \sum_{t=1}^N \Pi_{tt}, \qquad
        u^\top M u = \sum_t \| \Pi (e_t \otimes u) \|^2

    Args:
        x: Inputs, shape ``(n, N d)``.
        N: Tokens.

    Returns:
        Shape ``(d, d)``; its trace is the rank of the samples.

    Source: Mousavi-Hosseini et al. (2025), proof of Theorem 6.
    """
    require_positive(N=N)
    if x.shape[-1] % N:
        raise ValueError(f"inputs of {x.shape[-1]} numbers are not {N} tokens of one size")
    blocks = basis(x).unflatten(0, (N, -1))  # (N, d, rank)
    return torch.einsum("tar,tbr->ab", blocks, blocks)


@validated
def separate_risk(n: int, N: int, d: int) -> float:
    r"""Mean risk of minimum-norm least squares, done for each pointer by itself.

    .. math:: \mathbb E \max\Bigl( 0, 1 - \frac{n_t}{N d} \Bigr), \qquad
        n_t \sim \mathrm{Bin}(n, 1/N)

    Args:
        n: Samples of all pointers together, at least 1.
        N: Tokens.
        d: Their dimensions.

    Source: a vector keeps the share k / D of its squared length on k of D random dimensions.
    """
    require_positive(n=n, N=N, d=d)
    D = N * d
    chance = ((k, math.comb(n, k) * (N - 1) ** (n - k) / N**n) for k in range(min(n + 1, D)))
    return sum(p * (1 - k / D) for k, p in chance)


@validated
def initial_weights(
    kind: str, N: int, d: int, ensemble: int, generator: Generator, size: float = 0.5
) -> Weights:
    r"""Weights whose part that meets x is normal, so that no direction is special; float64.

    Args:
        kind: ``"tanh"``: a layer of 32 tanh units, told the pointer by N inputs. ``"gated"``: 24
            linear units with a gate for each pointer, :math:`f(t, Wx) = \langle g_t, Wx \rangle`.
        N: Tokens.
        d: Their dimensions.
        ensemble: Number of models.
        generator: Source of randomness.
        size: Standard deviation of that part, times the root of N d.
    """
    require_choice("kind", kind, KINDS)
    require_positive(N=N, d=d, ensemble=ensemble)
    D = N * d
    if kind == "gated":
        first = size * _normal((ensemble, D, 24), generator) / D**0.5
        return {FIRST: first, "gate": _normal((ensemble, N, 24), generator) / 24**0.5}
    weights = baselines.initial_weights(_tanh(D + N, 32), ensemble, generator, dtype=torch.float64)
    weights[FIRST][:, :D] = size * _normal((ensemble, D, 32), generator) / D**0.5
    return weights


def outputs(weights: Weights, inputs: Tensor) -> Tensor:
    """Outputs ``(*, B)`` of nets of :func:`initial_weights` at inputs of :class:`Samples`."""
    first = weights[FIRST]
    if "gate" not in weights:
        return baselines.forward(_tanh(*first.shape[-2:]), weights, inputs)
    D = first.shape[-2]
    return ((inputs[..., :D] @ first) * (inputs[..., D:] @ weights["gate"])).sum(-1)


@validated
def descend(
    losses: Callable[[Weights], Tensor],
    weights: Weights,
    steps: int,
    learning_rate: float,
    decay: float = 0.0,
    watch: Callable[[Weights], object] | None = None,
    every: int = 1,
) -> tuple[Weights, list]:
    r"""Gradient descent on a loss with an L2 penalty on all weights.

    .. math:: w \leftarrow w - \eta\, (\nabla \hat L(w) + 2 \lambda w)

    Args:
        losses: Loss of each model of a stack, shape ``(E,)``.
        weights: Where to start, each ``(E, ...)``; left as they are.
        steps: At least 1.
        learning_rate: eta, above 0.
        decay: lambda, at least 0.
        watch: Called with the weights before the first step and after every ``every``-th.
        every: Steps between two calls, at least 1.

    Returns:
        The last weights, and what ``watch`` returned.

    Raises:
        ValueError: a number outside its range.
        ArithmeticError: the loss is no longer finite; names the step.
    """
    require_positive(steps=steps, every=every)
    if not learning_rate > 0 or not decay >= 0:
        raise ValueError(f"learning_rate {learning_rate} must be above 0, decay {decay} at least 0")
    live = {name: w.detach().clone().requires_grad_() for name, w in weights.items()}
    noted = [] if watch is None else [watch(_still(live))]
    for step in range(1, steps + 1):
        loss = losses(live).sum()
        if not torch.isfinite(loss):
            raise ArithmeticError(f"the loss is {loss.item()} at step {step}")
        gradients = torch.autograd.grad(loss, list(live.values()))
        with torch.no_grad():
            for w, gradient in zip(live.values(), gradients, strict=True):
                w -= learning_rate * (gradient + 2 * decay * w)
        if watch is not None and step % every == 0:
            noted.append(watch(_still(live)))
    return _still(live), noted


def _tanh(inputs: int, hidden: int) -> FeedforwardSpec:
    return FeedforwardSpec(inputs, (hidden,), activation="tanh")


def _normal(shape: tuple[int, ...], generator: Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _still(live: Weights) -> Weights:
    return {name: w.detach().clone() for name, w in live.items()}
