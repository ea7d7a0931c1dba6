r"""What a feedforward net can know when its first layer stays in the span of the data.

Mousavi-Hosseini et al. (2025), Section 4. The task is simple 1-sparse token regression: inputs x in
R^{Nd}, a pointer t in {1..N}, a label :math:`\langle e_t \otimes u, x \rangle` with a unit vector u
in R^d. A net is f(t, Wx). Matrices W stand as in :mod:`helpers.nets.baselines`, (in, out), so their
columns are directions in the space of x. Functions take any leading ensemble axes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot

from helpers.checks import require_positive
from helpers.nets import baselines
from helpers.nets.baselines import FeedforwardSpec
from helpers.retrieval.task import labels, prompts
from helpers.weights import Weights

FIRST = "layers.0.weight"


def sample(n: int, N: int, u: Tensor, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Samples of the task.

    Args:
        n: How many, at least 1.
        N: Tokens, at least 1.
        u: Direction, shape ``(d,)``, floating.
        generator: Source of randomness.

    Returns:
        Inputs ``(n, N d)``, pointers ``(n,)`` counted from 0, labels ``(n,)``; dtype of ``u``.
    """
    given = prompts(n, N, u.shape[-1], generator, simple=True)
    given = given._replace(x=given.x.to(u.dtype))
    return given.x.flatten(1), given.t[:, 0, 0], labels(given, u[None])[:, 0]


def with_pointer(x: Tensor, t: Tensor, N: int) -> Tensor:
    """Inputs of a feedforward net: x, then the pointer as one of N units; ``(..., N d + N)``."""
    if x.shape[:-1] != t.shape:
        raise ValueError(f"inputs {tuple(x.shape)} need pointers {tuple(x.shape[:-1])}")
    return torch.cat((x, one_hot(t, N).to(x.dtype)), -1)


def basis(x: Tensor) -> Tensor:
    """Orthonormal basis of the span of the rows, as columns.

    Args:
        x: Shape ``(n, D)``, floating, at least one row.

    Returns:
        Shape ``(D, rank)``.
    """
    if x.ndim != 2 or not x.is_floating_point() or not len(x):
        raise ValueError(
            f"expected floating rows (n, D), n at least 1, got {tuple(x.shape)}, {x.dtype}"
        )
    _, sizes, rows = torch.linalg.svd(x, full_matrices=False)
    cut = sizes[0] * max(x.shape) * torch.finfo(x.dtype).eps
    return rows[sizes > cut].mT


def outside(W: Tensor, spanned: Tensor) -> Tensor:
    """The part of the columns of W, ``(..., D, h)``, orthogonal to a basis ``(..., D, r)``."""
    return W - spanned @ (spanned.mT @ W)


def seen(x: Tensor, N: int) -> Tensor:
    r"""How much of each direction u the samples span, summed over the tokens.

    .. math:: M = \sum_{t=1}^N \Pi_{tt}, \qquad
        u^\top M u = \sum_t \| \Pi (e_t \otimes u) \|^2

    Args:
        x: Inputs, shape ``(n, N d)``.
        N: Tokens.

    Returns:
        Shape ``(d, d)``; its trace is the rank of the samples.
    """
    require_positive(N=N)
    if x.shape[-1] % N:
        raise ValueError(f"inputs of {x.shape[-1]} numbers are not {N} tokens of one size")
    blocks = basis(x).unflatten(0, (N, -1))  # (N, d, rank)
    return torch.einsum("tar,tbr->ab", blocks, blocks)


def span_floor(M: Tensor, u: Tensor, N: int) -> Tensor:
    r"""Least risk of a predictor that reads the pointer and the span, :math:`1 - u^\top M u / N`.

    Args:
        M: As of :func:`seen`, shape ``(..., d, d)``.
        u: Unit vector, shape ``(..., d)``.
        N: Tokens.

    Source: Mousavi-Hosseini et al. (2025), proof of Theorem 6.
    """
    return 1 - torch.einsum("...a,...ab,...b->...", u, M, u) / N


def span_bound(n: int, N: int, d: int) -> float:
    """Theorem 6: 1 - n / (N d), or 0 where that is negative."""
    _check_sizes(n, N, d)
    return max(0.0, 1 - n / (N * d))


def equivariant_bound(n: int, N: int, d: int) -> float:
    r"""Least mean risk of a learner that does not see how inputs are turned.

    .. math:: 1 - \frac{n}{N\,(N(d-1) + 1)}

    or 0 where that is negative.

    Source: derived in the chapter ``retrieval/feedforward_lower_bound``.
    """
    _check_sizes(n, N, d)
    return max(0.0, 1 - n / (N * (N * (d - 1) + 1)))


def separate_risk(x: Tensor, t: Tensor, u: Tensor, N: int) -> Tensor:
    r"""Risk of least squares of least norm, done for each pointer by itself, exactly.

    .. math:: \frac1N \sum_t \bigl\| (I - \Pi_t)(e_t \otimes u) \bigr\|^2

    where :math:`\Pi_t` projects on the span of the samples whose pointer is t.

    Args:
        x: Inputs, shape ``(n, N d)``.
        t: Pointers, shape ``(n,)``.
        u: Unit vector, shape ``(d,)``.
        N: Tokens.
    """
    risk = x.new_zeros(())
    for token in range(N):
        target = x.new_zeros(N, len(u))
        target[token] = u
        rows = x[t == token]
        left = target.flatten()[:, None]
        risk = risk + (outside(left, basis(rows)) if len(rows) else left).square().sum() / N
    return risk


def initial_weights(
    spec: FeedforwardSpec, D: int, ensemble: int, generator: Generator, size: float = 1.0
) -> Weights:
    r"""Weights whose part that meets x is normal, so no direction is special; float64.

    Args:
        spec: A net with at least one hidden layer.
        D: Numbers of x, the first of the inputs.
        ensemble: Number of models.
        generator: Source of randomness.
        size: Standard deviation of that part, times the root of D.
    """
    if not 1 <= D <= spec.inputs or not spec.hidden:
        raise ValueError(f"D = {D} of {spec.inputs} inputs, hidden layers {spec.hidden}")
    weights = baselines.initial_weights(spec, ensemble, generator, dtype=torch.float64)
    weights[FIRST][:, :D] = size * _normal((ensemble, D, spec.hidden[0]), generator) / D**0.5
    return weights


def gated_weights(
    N: int, D: int, hidden: int, ensemble: int, generator: Generator, size: float = 0.1
) -> Weights:
    """Weights of :func:`gated`: the first layer as in :func:`initial_weights`, then the gates.

    Args:
        N: Tokens.
        D: Numbers of x.
        hidden: Units.
        ensemble: Number of models.
        generator: Source of randomness.
        size: Standard deviation of the first layer, times the root of D.
    """
    require_positive(N=N, D=D, hidden=hidden, ensemble=ensemble)
    return {
        FIRST: size * _normal((ensemble, D, hidden), generator) / D**0.5,
        "gate": _normal((ensemble, N, hidden), generator) / hidden**0.5,
    }


def gated(weights: Weights, inputs: Tensor) -> Tensor:
    r"""A net with a gate for each pointer, :math:`f(t, Wx) = \langle g_t, Wx \rangle`.

    Args:
        weights: As of :func:`gated_weights`.
        inputs: As of :func:`with_pointer`, shape ``(*, B, D + N)``.

    Returns:
        Shape ``(*, B)``.
    """
    D = weights[FIRST].shape[-2]
    return ((inputs[..., :D] @ weights[FIRST]) * (inputs[..., D:] @ weights["gate"])).sum(-1)


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


def _normal(shape: tuple[int, ...], generator: Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _still(live: Weights) -> Weights:
    return {name: w.detach().clone() for name, w in live.items()}


def _check_sizes(n: int, N: int, d: int) -> None:
    require_positive(N=N, d=d)
    if n < 0:
        raise ValueError(f"n must be at least 0, got {n}")
