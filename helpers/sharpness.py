r"""How sharp a loss is around given weights: Hessian traces, perturbed losses, blow-up.

A loss is a function of the weights, a flat dict of tensors, that returns one number:
:class:`SquaredLoss`, which knows the model's outputs too, or any callable. The functions here
measure one model, or each of an ensemble, see :class:`Choice`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fnmatch import filter as matching
from functools import reduce, wraps
from itertools import islice
from typing import Any, TypedDict, TypeVar, Unpack, cast

import torch
from torch import Tensor
from torch.func import grad, vjp, vmap

from helpers.weights import Forward, Weights

Loss = Callable[[Weights], Tensor]
Names = str | Sequence[str]
Generator = torch.Generator | None
Measure = TypeVar("Measure", bound=Callable[..., Any])

METHODS = ("exact", "gauss_newton", "hutchinson", "hutch++")
SHAPES = ("sphere", "gaussian")
FORMS = ("paper", "code")
MEMORY = 2**30
"""Bytes that a computation here may take, about, unless told otherwise."""
DIRECTIONS, INPUTS = 128, 1024
"""How many one vectorised call takes at most; more are no faster on a processor."""
PRODUCT = 3
"""Memory of a product with the Hessian, in units of what a backward pass keeps, about."""


class Choice(TypedDict, total=False):
    """What every measure here can be told beside its own arguments.

    Attributes:
        only: Names of the weights that move, or patterns as in a shell, ``"layers.1.*"``; None,
            which is meant if it is left out: all. The others are held fixed.
        without: Names or patterns of weights that are held fixed; none if left out.
        ensemble: Every weight has a leading axis of E models. The loss is shared, or a sequence of
            one a model. Results get that axis in front. The models are taken one after the other,
            and the generator serves them in that order: the same as a loop, for every measure.
        memory: Bytes to stay within, about; 2**30 if left out. Directions and inputs are taken in
            chunks of which the results do not depend, up to rounding.
    """

    only: Names | None
    without: Names
    ensemble: bool
    memory: float


def _for_each_model(measure: Measure) -> Measure:
    """Make ``measure(loss, weights, ...)`` take an ensemble, one model after the other."""

    @wraps(measure)
    def measured(what: Any, weights: Weights, *given: Any, **options: Any) -> Any:
        if not options.get("ensemble"):
            if isinstance(what, Sequence):
                raise TypeError("a sequence of losses needs ensemble=True")
            return measure(what, weights, *given, **options)
        sizes = {name: v.shape[0] if v.ndim else 0 for name, v in weights.items()}
        E = next(iter(sizes.values()), 0)
        if not E or set(sizes.values()) != {E}:
            raise ValueError(f"weights must share a leading axis of at least 1 model, got {sizes}")
        each = what if isinstance(what, Sequence) else [what] * E
        if len(each) != E:
            raise ValueError(f"expected one loss for each of {E} models, got {len(each)}")
        models = ({name: v[e] for name, v in weights.items()} for e in range(E))
        options["ensemble"] = False
        return _stack([measure(o, w, *given, **options) for o, w in zip(each, models, strict=True)])

    return cast(Measure, measured)


def _stack(results: Sequence[Any]) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        return torch.stack(list(results))
    if isinstance(first, dict):
        return {name: _stack([r[name] for r in results]) for name in first}
    if first is None:
        return None
    names = [f.name for f in fields(first)]
    return type(first)(**{name: _stack([getattr(r, name) for r in results]) for name in names})


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """Mean squared error over inputs, without 1/2, as a function of the weights.

    Attributes:
        forward: ``forward(weights, inputs) -> outputs (B,)``, a pure function.
        inputs: Shape ``(B, ...)``, at least one input.
        targets: Shape ``(B,)``.

    Raises:
        ValueError: no inputs, or another number of targets.
    """

    forward: Forward
    inputs: Tensor
    targets: Tensor

    def __post_init__(self) -> None:
        _check_inputs(self.inputs)
        if self.targets.shape != self.inputs.shape[:1]:
            raise ValueError(
                f"expected a target for each input, shape {tuple(self.inputs.shape[:1])}, "
                f"got {tuple(self.targets.shape)}"
            )

    def outputs(self, weights: Weights) -> Tensor:
        """The model's outputs, shape ``(B,)``."""
        outputs = self.forward(weights, self.inputs)
        if outputs.shape[-1:] != self.targets.shape:
            raise ValueError(
                f"the model must give one number an input, {len(self.targets)} in all, "
                f"got shape {tuple(outputs.shape)}"
            )
        return outputs

    def residuals(self, weights: Weights) -> Tensor:
        """Outputs minus targets, shape ``(B,)``, in the dtype of the outputs."""
        outputs = self.outputs(weights)
        return outputs - self.targets.to(outputs)

    def __call__(self, weights: Weights) -> Tensor:
        """The loss, a number."""
        return self.residuals(weights).square().mean(-1)


@dataclass(frozen=True, eq=False)
class Trace:
    """A trace of the Hessian.

    Attributes:
        value: The trace, or its estimate.
        stderr: Standard error of the estimate; 0 where nothing is drawn.
        blocks: Its part in each weight, by name; empty where the method does not tell them apart.
        residual: Of ``"gauss_newton"`` with ``draws``: the part that ``value`` leaves out.
        residual_stderr: Standard error of that.
    """

    value: Tensor
    stderr: Tensor
    blocks: Weights
    residual: Tensor | None = None
    residual_stderr: Tensor | None = None

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over draws, its standard error, and the drawn values, shape ``(draws,)``."""

    mean: Tensor
    stderr: Tensor
    values: Tensor


@dataclass(frozen=True, eq=False)
class Remainder:
    r"""Terms of E L(theta + sigma U) = L + sigma^2/2 tr H + remainder.

    Attributes:
        loss: L, at the weights themselves.
        mean: The remainder, estimated without bias.
        stderr: Standard error of ``mean``.
        values: What was averaged, shape ``(draws,)``.
        quadratic: :math:`U^\top H U` of each draw, shape ``(draws,)``, of mean tr H.
    """

    loss: Tensor
    mean: Tensor
    stderr: Tensor
    values: Tensor
    quadratic: Tensor


@dataclass(frozen=True, eq=False)
class Eigenvalue:
    """An eigenvalue of the Hessian lies within ``error`` of ``value``; its unit eigenvector."""

    value: Tensor
    error: Tensor
    vector: Weights


@_for_each_model
def hessian_trace(
    loss: Loss,
    weights: Weights,
    method: str = "gauss_newton",
    *,
    draws: int | None = None,
    generator: Generator = None,
    **choice: Unpack[Choice],
) -> Trace:
    r"""Trace of the Hessian H of the loss, with respect to the chosen weights.

    For the squared loss over inputs x, with f the output and y the target,

    .. math::

        \operatorname{tr} H = \underbrace{2\, \mathbb E_x |\nabla f|^2}_{\text{Gauss-Newton}}
        + \underbrace{2\, \mathbb E_x (f - y) \operatorname{tr} \nabla^2 f}_{\text{residual}},

    and the residual is 0 where f = y. The methods, with P weights chosen:

    - ``"gauss_newton"``: the first term, exactly. With ``draws``, the second by Hutchinson, apart.
    - ``"exact"``: the diagonal, by P products of vectors with H, one weight's block at a time.
    - ``"hutchinson"``: the mean of :math:`u^\top H u` over ``draws`` vectors of random signs.
      Unbiased.
    - ``"hutch++"``: the trace on the range of H applied to ``draws // 3`` vectors of signs, by as
      many products, and Hutchinson with the same number on its complement. Unbiased; exact if
      the rank of H is at most ``draws // 3``.

    Args:
        loss: A :class:`SquaredLoss`; except for ``"gauss_newton"`` any function that returns one
            number. For an ensemble also one a model.
        weights: Flat dict of tensors; those that move are floating.
        method: As above.
        draws: Products with H, at least 2, for ``"hutch++"`` at least 6. None: 96, and for
            ``"gauss_newton"`` no residual.
        generator: Source of randomness; None: torch's own.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        Numbers of shape ``()``, or ``(E,)`` for an ensemble, in the dtype of the loss. ``blocks``
        with ``"exact"`` and ``"gauss_newton"``. The standard error is that over draws, given the
        inputs; that of ``"hutch++"`` comes from its last third.

    Raises:
        ValueError: an unknown method, too few draws, no weights chosen, a pattern without a match,
            or a loss that is not one number.
        TypeError: weights that are not floating, or ``"gauss_newton"`` without a SquaredLoss.
        MemoryError: one step would take more than ``memory``.

    Cost: a product is about a gradient of the loss, half that or less when many are vectorised;
    Gauss-Newton is one or two such gradients in all, as all inputs are taken at once.
    Source: Meyer et al. (2021) for Hutch++.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose one of {', '.join(METHODS)}")
    if draws is not None:
        _check_draws(draws, 6 if method == "hutch++" else 2)
    point = _Point(loss, weights, choice)
    if method == "gauss_newton":
        return _gauss_newton(point, draws, generator)
    if method == "exact":
        blocks = {name: _block_trace(point, name) for name in point.live}
        value = torch.stack(list(blocks.values())).sum()
        return Trace(value, torch.zeros_like(value), blocks)
    if method == "hutchinson":
        forms = point.quadratic_forms(point.signs(draws or 96, generator))
        return Trace(*_mean(forms), {})
    return _hutch_plus_plus(point, (draws or 96) // 3, generator)


@_for_each_model
def top_eigenvalue(
    loss: Loss,
    weights: Weights,
    generator: Generator = None,
    *,
    tolerance: float = 1e-6,
    steps: int = 200,
    **choice: Unpack[Choice],
) -> Eigenvalue:
    r"""Largest eigenvalue of the Hessian, by Lanczos' iteration.

    Stops when :math:`|H v - \lambda v| \le \text{tolerance} \cdot |H|` for a unit vector v. Some
    eigenvalue is then that near; that it is the largest is all but certain, as the start is
    random, but is not proved by the error. The least is minus the largest of the loss negated.

    Args:
        loss: Any function of the weights that returns one number; for an ensemble also one a model.
        weights: As for :func:`hessian_trace`.
        generator: Source of the start; None: torch's own.
        tolerance: Above 0.
        steps: Most products with the Hessian, at least 1; the error tells how far they led.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        The value, :math:`|H v - \lambda v|`, and v as a dict of the chosen weights.

    Raises:
        ValueError, TypeError, MemoryError: as :func:`hessian_trace`.
    """
    if not 0 < tolerance < math.inf:
        raise ValueError(f"tolerance must be positive and finite, got {tolerance}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    point = _Point(loss, weights, choice)
    steps = min(steps, point.size)
    point.fits(steps * point.vector_bytes, f"{steps} vectors of Lanczos", "fewer steps")
    hessian = point.hessian()
    q = next(point.normal(1, generator))
    basis = (q / q.norm())[None]  # (j, P)
    alphas: list[float] = []
    betas: list[float] = []
    while True:
        w = hessian(basis[-1:])[0]
        alphas.append(float(basis[-1] @ w))
        for _ in range(2):  # twice is enough to stay orthogonal
            w = w - basis.mT @ (basis @ w)
        betas.append(float(w.norm()))
        T = torch.diag(torch.tensor(alphas, dtype=torch.float64))
        off = torch.tensor(betas[:-1], dtype=torch.float64)
        values, vectors = torch.linalg.eigh(T + off.diag(1) + off.diag(-1))
        error = betas[-1] * float(vectors[-1, -1].abs())
        if error <= tolerance * float(values.abs().max()) or len(alphas) == steps:
            break
        basis = torch.cat((basis, (w / betas[-1])[None]))
    v = vectors[:, -1].to(basis) @ basis
    v = v / v.norm()
    Hv = hessian(v[None])[0]
    value = v @ Hv
    vector = {name: part[0] for name, part in point.unflatten(v[None]).items()}
    return Eigenvalue(value, (Hv - value * v).norm(), vector)


@_for_each_model
def gradient_norms(
    forward: Forward,
    weights: Weights,
    inputs: Tensor,
    **choice: Unpack[Choice],
) -> Weights:
    r"""Norm of the output's gradient with respect to each weight, at each input.

    The Gauss-Newton trace is twice the mean over inputs of the sum of their squares.

    Args:
        forward: ``forward(weights, inputs) -> outputs (B,)``.
        weights: As for :func:`hessian_trace`.
        inputs: Shape ``(B, ...)``, at least one, the same for all models.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        By name, shape ``(B,)``, or ``(E, B)`` for an ensemble: Euclidean norms.

    Raises:
        ValueError, TypeError, MemoryError: as :func:`hessian_trace`.

    Cost: one gradient an input, vectorised.
    """
    _check_inputs(inputs)
    loss = SquaredLoss(forward, inputs, torch.zeros(len(inputs)))
    squares = _squared_gradients(_Point(loss, weights, choice), loss)
    return {name: v.sqrt() for name, v in squares.items()}


@_for_each_model
def perturbed_loss(
    loss: Loss,
    weights: Weights,
    sigma: float,
    draws: int,
    generator: Generator = None,
    **choice: Unpack[Choice],
) -> Estimate:
    r"""Mean loss when every chosen weight gets independent Gaussian noise.

    .. math:: \mathbb E_{U \sim N(0, I)}\, L(\theta + \sigma U)

    Args:
        loss: Any function of the weights that returns one number; for an ensemble also one a model.
        weights: As for :func:`hessian_trace`.
        sigma: Standard deviation, not variance, at least 0.
        draws: Evaluations of the loss, at least 2.
        generator: Source of randomness; None: torch's own. The same seed gives the same
            directions whatever sigma.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        Unbiased mean, its standard error, and the losses drawn.

    Raises:
        ValueError: a number outside its range, no weights chosen, a pattern without a match, or a
            loss that is not one number.
        TypeError: weights that are not floating.
        MemoryError: one evaluation would take more than ``memory``.

    Cost: ``draws`` evaluations, vectorised.
    """
    _check_amount("sigma", sigma)
    _check_draws(draws, 2)
    point = _Point(loss, weights, choice)
    return _estimate(point.losses(sigma * U for U in point.normal(draws, generator)))


@_for_each_model
def perturbation_remainder(
    loss: Loss,
    weights: Weights,
    sigma: float,
    draws: int,
    generator: Generator = None,
    **choice: Unpack[Choice],
) -> Remainder:
    r"""What the trace leaves out of the mean perturbed loss.

    .. math::

        \mathbb E\, L(\theta + \sigma U) = L(\theta) + \tfrac{\sigma^2}2 \operatorname{tr} H + R,
        \qquad R = \mathbb E \Bigl[ \tfrac12 L(\theta + \sigma U) + \tfrac12 L(\theta - \sigma U)
        - L(\theta) - \tfrac{\sigma^2}2 U^\top H U \Bigr]

    Each bracket is of order :math:`\sigma^4` where the loss is smooth, so that R is resolved at
    any sigma down to where rounding of the loss takes over. Where ReLUs have kinks within reach of
    sigma, H does not see the change of slope across them, and a bracket is of order
    :math:`\sigma |f - y|`: away from an interpolator R may be as large as the term of the trace.

    Args:
        loss: Any function of the weights that returns one number; for an ensemble also one a model.
        weights: As for :func:`hessian_trace`.
        sigma: Standard deviation, at least 0.
        draws: Of U, at least 2.
        generator: Source of randomness; None: torch's own. The same seed gives the same U whatever
            sigma.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        The loss, R without bias, its standard error, the brackets, and each :math:`U^\top H U`.

    Raises:
        ValueError, TypeError, MemoryError: as :func:`perturbed_loss`.

    Cost: two evaluations and one product with the Hessian a draw, vectorised. Source: ours; the
    identity is that of Lintilhac and Shaikh (2026), Theorem 12.
    """
    _check_amount("sigma", sigma)
    _check_draws(draws, 2)
    point = _Point(loss, weights, choice)
    U = list(point.normal(draws, generator))
    pairs = point.losses(sign * sigma * u for u in U for sign in (1, -1)).view(-1, 2)
    here = point.value(point.live)
    forms = point.quadratic_forms(iter(U))
    values = (pairs - here).mean(1) - sigma**2 / 2 * forms
    return Remainder(here, *_mean(values), values, forms)


@_for_each_model
def direction_sharpness(
    forward: Forward,
    weights: Weights,
    inputs: Tensor,
    rho: float,
    draws: int,
    generator: Generator = None,
    *,
    shape: str = "sphere",
    **choice: Unpack[Choice],
) -> Estimate:
    r"""Average direction sharpness: how far outputs move when the weights move by rho.

    .. math:: L_\rho = \mathbb E_x \mathbb E_{|\Delta| = \rho} (T_{\theta + \Delta}(x) - T(x))^2

    Args:
        forward: ``forward(weights, inputs) -> outputs (B,)``.
        weights: As for :func:`hessian_trace`. The paper moves all but the positional encodings.
        inputs: The x, shape ``(B, ...)``, at least one, the same for all models.
        rho: At least 0. Of ``"sphere"`` the length of Delta, all chosen weights together; of
            ``"gaussian"`` the standard deviation of each number in it, so that its length is about
            rho times the root of how many there are.
        draws: Of Delta, each used for all inputs, at least 2.
        generator: Source of randomness; None: torch's own.
        shape: ``"sphere"``, uniform on it, or ``"gaussian"``.
        choice: Which weights move, ensembles, memory: see :class:`Choice`.

    Returns:
        Unbiased mean over Delta, its standard error given the inputs, and the mean over inputs of
        each draw.

    Raises:
        ValueError: an unknown shape, and as :func:`perturbed_loss`.
        TypeError, MemoryError: as :func:`perturbed_loss`.

    Source: Hahn and Rofin (2024), Eq. (15).
    """
    if shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}; choose one of {', '.join(SHAPES)}")
    _check_amount("rho", rho)
    _check_draws(draws, 2)
    _check_inputs(inputs)
    with torch.no_grad():
        still = forward(weights, inputs)
    point = _Point(SquaredLoss(forward, inputs, still), weights, choice)
    U = point.normal(draws, generator)
    return _estimate(point.losses(rho * (u / u.norm() if shape == "sphere" else u) for u in U))


def layer_norm_blowup(
    inputs: Sequence[Tensor], eps: float = 1e-5, *, form: str = "paper"
) -> Tensor:
    r"""How much the layer norms of a network can magnify, one after the other.

    With :math:`Y^{(k)}_w` what layer norm k is given at token w, and :math:`s^2` the variance of
    its D numbers (divided by D),

    .. math::

        \mathrm{Blowup} = \prod_k \tau^{(k)}, \qquad
        \tau^{(k)} = \max_w \Bigl\{ 1 + \frac1{\sqrt{s^2(Y^{(k)}_w) + \varepsilon}} \Bigr\}

    The authors' code takes :math:`\max_w 1/s` instead, with the variance divided by D - 1 and
    without epsilon.

    Args:
        inputs: What each layer norm is given, shapes ``(*, T_k, D_k)``, with the same ``*``.
        eps: The epsilon of the layer norms, at least 0.
        form: ``"paper"`` or ``"code"``.

    Returns:
        Shape ``(*)``: at least 1 in the paper's form; infinite where a variance is 0 without
        epsilon.

    Raises:
        ValueError: no layer norms, no tokens, shapes that do not agree, or a number out of range.
        TypeError: inputs are not floating.

    Source: Hahn and Rofin (2024), Section 3.
    """
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}; choose one of {', '.join(FORMS)}")
    _check_amount("eps", eps)
    if not inputs:
        raise ValueError("expected the input of at least one layer norm, got none")
    least = 1 if form == "paper" else 2
    factors = []
    for Y in inputs:
        if not Y.is_floating_point():
            raise TypeError(f"inputs of a layer norm must be floating, got {Y.dtype}")
        if Y.ndim < 2 or Y.shape[-2] < 1 or Y.shape[-1] < least:
            raise ValueError(
                f"expected shapes (..., T, D) with T >= 1 and D >= {least}, got {tuple(Y.shape)}"
            )
        if Y.shape[:-2] != inputs[0].shape[:-2]:
            found = [tuple(y.shape) for y in inputs]
            raise ValueError(f"layer norms must agree on all axes but the last two, got {found}")
        if form == "paper":
            factors.append(1 + (Y.var(-1, correction=0) + eps).rsqrt().amax(-1))
        else:
            factors.append(Y.var(-1, correction=1).rsqrt().amax(-1))
    return torch.stack(factors).prod(0)


class _Point:
    """A loss at given weights, with those that move (``live``) apart from the others."""

    def __init__(self, loss: Loss, weights: Weights, choice: Choice) -> None:
        unknown = choice.keys() - Choice.__annotations__
        if unknown:
            raise TypeError(f"unknown argument {', '.join(sorted(unknown))}")
        self.loss, self.memory = loss, choice.get("memory", MEMORY)
        names = _chosen(weights, choice.get("only"), choice.get("without", ()))
        self.live = {k: v.detach() for k, v in weights.items() if k in names}
        self.frozen = {k: v.detach() for k, v in weights.items() if k not in names}
        self.sizes = [v.numel() for v in self.live.values()]
        self.size = sum(self.sizes)
        kinds = [v.dtype for v in self.live.values()]
        self.dtype = reduce(torch.promote_types, kinds)
        self.device = next(iter(self.live.values())).device
        self.vector_bytes = self.size * self.dtype.itemsize

    def value(self, live: Weights) -> Tensor:
        """The loss with these in place of the live weights."""
        found = self.loss({**self.frozen, **live})
        if found.ndim:
            raise ValueError(f"the loss must be one number, got shape {tuple(found.shape)}")
        return found

    def unflatten(self, vectors: Tensor) -> Weights:
        """Rows ``(k, P)`` as a dict of ``(k, ...)``, each in the dtype of its weight."""
        parts = vectors.split(self.sizes, -1)
        return {
            name: part.reshape(len(vectors), *v.shape).to(v)
            for part, (name, v) in zip(parts, self.live.items(), strict=True)
        }

    def hessian(self) -> Callable[[Tensor], Tensor]:
        """Products of the Hessian with rows ``(k, P)``."""
        product = _products(self.value, self.live)

        def apply(vectors: Tensor) -> Tensor:
            rows = product(self.unflatten(vectors)).values()
            return torch.cat([v.reshape(len(vectors), -1).to(self.dtype) for v in rows], 1)

        return apply

    def quadratic_forms(self, vectors: Iterator[Tensor]) -> Tensor:
        """What the Hessian makes of each vector ``(P,)``: u^T H u, shape ``(draws,)``."""
        hessian, at_once = self.hessian(), self.products_at_once()
        return torch.cat([(U * hessian(U)).sum(1) for U in _chunks(vectors, at_once)])

    def losses(self, steps: Iterator[Tensor]) -> Tensor:
        """The loss after each step ``(P,)`` away, shape ``(draws,)``."""
        each = self.vector_bytes + self.loss_bytes()
        at_once = self.fits(each, "one evaluation of the loss", "fewer inputs")
        at = vmap(self.value)
        found = []
        with torch.no_grad():
            for chunk in _chunks(steps, at_once):
                moved = self.unflatten(chunk)
                found.append(at({name: v + moved[name] for name, v in self.live.items()}))
        return torch.cat(found)

    def normal(self, draws: int, generator: Generator) -> Iterator[Tensor]:
        """Standard normal vectors ``(P,)``; one call each, so that chunks do not change them."""
        device = generator.device if generator else self.device
        for _ in range(draws):
            yield torch.randn(self.size, generator=generator, dtype=self.dtype, device=device).to(
                self.device
            )

    def signs(self, draws: int, generator: Generator) -> Iterator[Tensor]:
        """Vectors of independent signs."""
        device = generator.device if generator else self.device
        for _ in range(draws):
            drawn = torch.randint(2, (self.size,), generator=generator, device=device)
            yield (1 - 2 * drawn).to(self.device, self.dtype)

    def loss_bytes(self) -> int:
        """Bytes that a backward pass of the loss keeps, besides the weights.

        Of a SquaredLoss they are those of one input, times the inputs.
        """
        live = {name: v.clone().requires_grad_() for name, v in self.live.items()}
        kept: dict[int, int] = {}

        def pack(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes()
            return tensor

        loss, times = self.loss, 1
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            if isinstance(loss, SquaredLoss):
                times = len(loss.inputs)
                result = loss.forward({**self.frozen, **live}, loss.inputs[:1].clone())
            else:
                result = self.value(live)
        for weight in (*live.values(), *self.frozen.values()):
            kept.pop(weight.untyped_storage().data_ptr(), None)
        del result  # it held what was kept, so that no two had one address
        return times * sum(kept.values())

    def products_at_once(self) -> int:
        """How many products with the Hessian fit in memory together."""
        instead = "method='gauss_newton' for a trace, or fewer inputs"
        each = 2 * self.vector_bytes + PRODUCT * self.loss_bytes()
        return self.fits(each, "one product with the Hessian", instead)

    def fits(self, each: int, what: str, instead: str, most: int = DIRECTIONS) -> int:
        """How many at once, or MemoryError if not even one."""
        if each > self.memory:
            raise MemoryError(
                f"{what} takes about {each:,} bytes, more than memory = {self.memory:,.0f}; "
                f"use {instead}, or raise memory"
            )
        return int(min(most, self.memory // max(each, 1)))


def _gauss_newton(point: _Point, draws: int | None, generator: Generator) -> Trace:
    if not isinstance(point.loss, SquaredLoss):
        raise TypeError(
            "method 'gauss_newton' needs the model's outputs: pass "
            "SquaredLoss(forward, inputs, targets), or choose another method for a plain "
            f"{type(point.loss).__name__}"
        )
    loss = point.loss
    squares = _squared_gradients(point, loss)
    blocks = {name: 2 * v.mean() for name, v in squares.items()}
    value = torch.stack(list(blocks.values())).sum()
    if draws is None:
        return Trace(value, torch.zeros_like(value), blocks)
    with torch.no_grad():
        residuals = loss.residuals({**point.frozen, **point.live})

    def weighed(weights: Weights) -> Tensor:
        return 2 * (residuals * loss.outputs(weights)).mean()

    choice = Choice(only=list(point.live), memory=point.memory)
    left_out = _Point(weighed, {**point.frozen, **point.live}, choice)
    forms = left_out.quadratic_forms(left_out.signs(draws, generator))
    return Trace(value, torch.zeros_like(value), blocks, *_mean(forms))


def _squared_gradients(point: _Point, loss: SquaredLoss) -> Weights:
    """Squared norm of the output's gradient in each live weight, at each input, ``(B,)``."""

    def output(live: Weights, x: Tensor) -> Tensor:
        return loss.forward({**point.frozen, **live}, x[None])

    with torch.no_grad():
        shape = output(point.live, loss.inputs[0]).shape
    if shape != (1,):
        raise ValueError(f"the model must give one number an input, got shape {tuple(shape)}")
    gradients = vmap(grad(lambda live, x: output(live, x)[0]), (None, 0))
    each = 2 * point.vector_bytes + 2 * point.loss_bytes() // len(loss.inputs)
    at_once = point.fits(each, "the gradient at one input", "only= for fewer weights", INPUTS)
    found: dict[str, list[Tensor]] = {name: [] for name in point.live}
    for x in loss.inputs.split(at_once):
        for name, v in gradients(point.live, x).items():
            found[name].append(v.reshape(len(x), -1).square().sum(1))
    return {name: torch.cat(parts) for name, parts in found.items()}


def _block_trace(point: _Point, name: str) -> Tensor:
    """Trace of the Hessian's diagonal block of one weight."""
    weight = point.live[name]
    product = _products(lambda live: point.value({**point.live, **live}), {name: weight})
    total = weight.new_zeros(())
    at_once = point.products_at_once()
    for start in range(0, weight.numel(), at_once):
        size = min(at_once, weight.numel() - start)
        basis = weight.new_zeros(size, weight.numel())
        basis.diagonal(start).fill_(1)
        columns = product({name: basis.view(size, *weight.shape)})[name].reshape(size, -1)
        total = total + columns.diagonal(start).sum()
    return total


def _hutch_plus_plus(point: _Point, third: int, generator: Generator) -> Trace:
    sketched = min(third, point.size)
    need = 4 * sketched * point.vector_bytes
    point.fits(need, f"a sketch of {sketched} vectors", "method='hutchinson' or fewer draws")
    hessian, at_once = point.hessian(), point.products_at_once()
    sketch = torch.cat([hessian(S) for S in _chunks(point.signs(sketched, generator), at_once)])
    Q = torch.linalg.qr(sketch.mT).Q.mT  # (k, P), orthonormal rows
    on_range = torch.cat([(hessian(q) * q).sum(1) for q in Q.split(at_once)]).sum()
    rest = (u - (Q @ u) @ Q for u in point.signs(third, generator))
    mean, stderr = _mean(point.quadratic_forms(rest))
    return Trace(on_range + mean, stderr, {})


def _products(value: Loss, live: Weights) -> Callable[[Weights], Weights]:
    """Products of the Hessian with stacked directions: the second backward pass, vectorised."""
    pull = vjp(grad(value), live)[1]
    return vmap(lambda direction: pull(direction)[0])


def _chunks(vectors: Iterator[Tensor], size: int) -> Iterator[Tensor]:
    while chunk := list(islice(vectors, size)):
        yield torch.stack(chunk)


def _mean(values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and its standard error."""
    return values.mean(), values.std() / math.sqrt(len(values))


def _estimate(values: Tensor) -> Estimate:
    return Estimate(*_mean(values), values)


def _chosen(weights: Weights, only: Names | None, without: Names) -> set[str]:
    """Names of the weights that move."""

    def matched(patterns: Names) -> set[str]:
        found: set[str] = set()
        for pattern in (patterns,) if isinstance(patterns, str) else patterns:
            hits = matching(weights, pattern)
            if not hits:
                raise ValueError(f"no weight matches {pattern!r}; there are {', '.join(weights)}")
            found.update(hits)
        return found

    names = set(weights) if only is None else matched(only)
    names -= matched(without)
    if not names:
        raise ValueError(f"no weights left to move: only={only!r}, without={without!r}")
    for name in names:
        if not weights[name].is_floating_point():
            raise TypeError(f"weights must be floating, {name} is {weights[name].dtype}")
    return names


def _check_inputs(inputs: Tensor) -> None:
    if not inputs.ndim or not len(inputs):
        raise ValueError(f"expected at least one input, got shape {tuple(inputs.shape)}")


def _check_draws(draws: int, least: int) -> None:
    if draws < least:
        raise ValueError(f"draws must be at least {least}, got {draws}")


def _check_amount(name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be finite and at least 0, got {value}")
