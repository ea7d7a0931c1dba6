r"""How a model's outputs change with its weights: by finite steps, and by automatic derivatives.

:mod:`torch.func`, by which :mod:`helpers.sharpness` differentiates, needs a model that is a pure
function. Recurrent layers of PyTorch, scripted modules, checkpoints, changes in place and Python
that looks at numbers are none. Therefore the parameters of the module itself are moved and
differentiated here; where both ways are open they give the same numbers, at about 1.3 times the
cost. Autograd gives a wrong derivative without a word where a model rounds, detaches a part of
itself, or hides a part from the second derivative, so that each is compared with differences.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from helpers.probe.outputs import one_number
from helpers.probe.report import Measured
from helpers.sharpness import SquaredLoss
from helpers.sharpness.point import PRODUCT, LossAtWeights, mean_and_error
from helpers.weights import Weights

AT_ONCE = 16  # outputs, at most, whose gradients are taken together; more are no faster
MEMORY = 2**29  # bytes for gradients, and for a graph with second derivatives, about
OFF = 0.01  # of a derivative, by which differences may miss it
SHORT = tuple(10.0**-k for k in range(1, 9))  # steps of differences, in units of the weights
COMPARED = 8  # strings at which second derivatives are; at many some unit is about to bend
APART = 64  # strings at which first derivatives in one block of weights are; in all, at every one
ROUNDED = 50  # roundings that the shortest of them must exceed
CONTRADICTED = (
    "autograd contradicts differences of the {}, as behind rounding, detach or a reentrant "
    "checkpoint, at the kink of a ReLU, where outputs are saturated, or in float32 if only "
    "model.double() is exact enough"
)
HIDDEN = (
    "differences do not tell whether it is right, as it is small beside the outputs, or near a "
    "kink; model.double() may do"
)


class Slopes:
    """A module of strings whose weights are moved and differentiated, and come back as they were.

    Attributes:
        weights: The floating parameters by name, tied ones once; of a complex one the real and
            the imaginary parts, on a last axis.
    """

    def __init__(self, module: nn.Module, encode: Callable[[Tensor], Tensor]) -> None:
        self.module, self.encode = module, encode
        named = module.named_parameters()
        self.live = {k: p for k, p in named if p.is_floating_point() or p.is_complex()}
        self.weights: Weights = {name: real(p.detach()) for name, p in self.live.items()}

    def __call__(self, bits: Tensor) -> Tensor:
        """One number a string, at the module's weights."""
        return one_number(self.module(self.encode(bits)), len(bits))

    @contextlib.contextmanager
    def moved(self, weights: Mapping[str, Tensor]) -> Iterator[None]:
        """The module at other weights; its own tensors come back, also after an error."""
        own = {name: p.data for name, p in self.live.items()}
        try:
            for name, p in self.live.items():
                w = weights[name].detach()
                p.data = torch.view_as_complex(w) if p.is_complex() else w
            yield
        finally:
            for name, p in self.live.items():
                p.data = own[name]

    def at(self, weights: Mapping[str, Tensor], bits: Tensor) -> Tensor:
        """One number a string, at other weights."""
        with self.moved(weights):
            return self(bits)

    def gradients(self, values: Tensor) -> Tensor:
        """Of each of k values in all weights, ``(k, P)``; together, if every part allows that."""
        rows = torch.eye(len(values), dtype=values.dtype)
        if len(values) > 1:
            with contextlib.suppress(RuntimeError, ValueError):
                return self.gradient(values, rows, is_grads_batched=True, retain_graph=True)
        return torch.cat([self.gradient(values, row, retain_graph=True) for row in rows])

    def gradient(self, values: Tensor, along: Tensor | None = None, **how: Any) -> Tensor:
        """Of the values, weighed by each row of ``along``, in all weights, ``(k, P)``."""
        live = list(self.live.values())
        found: tuple[Tensor | None, ...] = (None,) * len(live)
        if values.requires_grad:
            found = torch.autograd.grad(values, live, along, allow_unused=True, **how)
        k = len(along) if how.get("is_grads_batched") and along is not None else 1
        parts = zip(found, self.weights.values(), strict=True)
        return torch.cat(
            [
                (w.new_zeros(k, w.numel()) if g is None else real(g).reshape(k, -1))
                for g, w in parts
            ],
            1,
        )


def leaves(values: Tensor) -> list[Tensor]:
    """Tensors at which the graph of some values ends, and which get a gradient."""
    seen: set[Any] = set()
    todo, found = [values.grad_fn], []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        todo += [further for further, _ in node.next_functions]
        if hasattr(node, "variable"):
            found.append(node.variable)
    return found


def real(w: Tensor) -> Tensor:
    """A tensor as real numbers; of a complex one both parts, on a last axis."""
    return torch.view_as_real(w.resolve_conj()) if w.is_complex() else w


class Landscape:
    """Outputs and squared loss of a model on given strings, around its weights.

    Attributes:
        whole: Whether these are all strings, so that a mean over them has no error.
    """

    def __init__(self, model: Slopes, bits: Tensor, goal: Tensor, whole: bool = False) -> None:
        self.model, self.bits, self.goal, self.whole = model, bits, goal.double(), whole
        self.along: dict[str, Tensor] = {}  # by weight, the outputs' slopes along the direction
        self.point = LossAtWeights(SquaredLoss(model.at, bits, goal), model.weights, {})

    @cached_property
    def kept(self) -> int:
        """Bytes that the derivative at one string keeps."""
        return self.point.loss_bytes() // len(self.bits)

    @cached_property
    def direction(self) -> Tensor:
        """Along which derivatives are compared; of few weights random signs would cancel."""
        return next(self.point.normal(1, torch.Generator().manual_seed(0)))

    @torch.no_grad()
    def sharpness(self, rho: float, draws: int, generator: torch.Generator) -> Measured:
        """Mean squared change of the outputs after a random step of length rho."""
        here = self.model(self.bits).double()
        changes = []
        for u in self.point.normal(draws, generator):
            with self._after(rho * (u / u.norm())):
                changes.append((self.model(self.bits).double() - here).square().mean())
        return measured(torch.stack(changes))

    def gauss_newton(self) -> dict[str, Tensor]:
        """Twice the squared gradient of the output at each string, by weight; their mean is it."""
        each = 2 * (self.point.vector_bytes + AT_ONCE * self.kept)
        squares, along = [], []
        for part in self.bits.split(max(1, min(AT_ONCE, MEMORY // each))):
            rows = self.model.gradients(self._outputs(part))
            blocks = rows.split(self.point.sizes, 1)
            directions = self.direction.split(self.point.sizes)
            pairs = zip(blocks, directions, strict=True)
            along.append(torch.stack([block @ u for block, u in pairs]))
            squares.append(torch.stack([block.double().square().sum(1) for block in blocks]))
        self.along = dict(zip(self.model.weights, torch.cat(along, 1).double(), strict=True))
        if not self._confirmed(self.along, len(self.bits)):
            raise RuntimeError(CONTRADICTED.format("outputs"))
        return dict(zip(self.model.weights, 2 * torch.cat(squares, 1), strict=True))

    def _confirmed(self, block: Collection[str], m: int) -> bool | None:
        """Whether the first derivative in some weights is that of differences, at m strings."""
        found = torch.stack([self.along[name][:m] for name in block]).sum(0)
        parts = zip(self.model.weights, self.direction.split(self.point.sizes), strict=True)
        direction = torch.cat([u if name in block else 0 * u for name, u in parts])
        with torch.no_grad():
            unit = self._unit(block) or self._unit()
            return self._compare(lambda: self.model(self.bits[:m]), found, direction, unit)

    def _unit(self, block: Collection[str] | None = None) -> float:
        """Root mean square of some weights, or of all; 0 if there are none."""
        names = self.model.weights if block is None else block
        parts = [self.model.weights[name] for name in names]
        count = sum(w.numel() for w in parts)
        return math.sqrt(sum(w.double().square().sum().item() for w in parts) / max(1, count))

    def doubtful(self, blocks: Mapping[str, Collection[str]]) -> dict[str, str]:
        """Blocks of weights whose first derivatives are not confirmed, each with the reason.

        After :meth:`gauss_newton`, which compares all of them together, where one that matters
        little is not seen.

        Cost: for each block two outputs at each of 64 strings, and again at a shorter step until
        one confirms it.
        """
        found = {}
        for name, block in blocks.items() if len(blocks) > 1 else ():
            confirmed = self._confirmed(block, APART)
            if not confirmed:
                found[name] = HIDDEN if confirmed is None else CONTRADICTED.format("outputs")
        return found

    def whole_hessian(self, draws: int, generator: torch.Generator) -> Measured:
        """Trace of the Hessian of the mean squared error, by products with random signs."""
        few = self.bits[:COMPARED], self.goal[:COMPARED]
        found = self.model.gradient(self._slope(*few, create_graph=True) @ self.direction)[0]
        if not self._compare(lambda: self._slope(*few), found, self.direction, self._unit()):
            raise RuntimeError(CONTRADICTED.format("gradient"))
        start, forms = generator.get_state(), torch.zeros(draws).double()
        for part in self._parts():
            slope = self._slope(*part, create_graph=True)
            generator.set_state(start)  # each part meets the same directions
            for i, u in enumerate(self.point.signs(draws, generator)):
                forms[i] += self.model.gradient(slope @ u, retain_graph=True)[0] @ u
        return measured(forms)

    def _parts(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Strings and goals, as many as memory holds with second derivatives."""
        size = int(max(1, MEMORY // max(1, PRODUCT * self.kept)))
        return zip(self.bits.split(size), self.goal.split(size), strict=True)

    def _outputs(self, bits: Tensor) -> Tensor:
        """Outputs that can be differentiated."""
        values = self.model(bits)
        if not values.requires_grad:
            raise RuntimeError(
                "the outputs have no graph (whole numbers, detach, no_grad and numpy do that)"
            )
        return values

    def _slope(self, bits: Tensor, goal: Tensor, **how: Any) -> Tensor:
        """What these strings add to the gradient of the loss."""
        off = self._outputs(bits).double() - goal
        return self.model.gradient(off.square().sum() / len(self.bits), **how)[0]

    def _after(self, step: Tensor) -> contextlib.AbstractContextManager[None]:
        """The model a step away."""
        moved = self.point.unflatten(step[None])
        return self.model.moved({k: w + moved[k][0] for k, w in self.model.weights.items()})

    def _compare(
        self,
        what: Callable[[], Tensor],
        found: Tensor,
        direction: Tensor,
        unit: float,
    ) -> bool | None:
        """Whether a derivative is that of differences over some short step; None if none tells.

        Args:
            what: What was differentiated, at the weights as they are.
            found: Its derivative along the direction.
            direction: A step in all weights.
            unit: Of the steps; 0 stands for 1.
        """
        if not found.isfinite().all():
            return True  # what is beyond the range of numbers is reported as that
        here = what()
        eps = max(torch.finfo(here.dtype).eps, torch.finfo(self.point.dtype).eps)
        fit = [s for s in SHORT if s >= ROUNDED * eps] or SHORT[:1]
        before, tells = None, False
        for short in fit if found.any() else SHORT[:1]:  # outputs that jump have no slope between
            width, ends = (unit or 1.0) * short, []
            for sign in (1, -1):
                with self._after(sign * width * direction):
                    ends.append(what().double())
            slope = (ends[0] - ends[1]) / (2 * width)
            off = (slope - found).norm()
            rounding = excused = eps / width * here.double().norm()
            if found.any():  # a large offset must not excuse everything
                excused = min(rounding, 10 * OFF * found.norm())
            if off <= OFF * found.norm() + excused:
                return True
            steady = before is not None and (slope - before).norm() <= off / 2
            tells |= rounding < off and bool(steady or not found.any())
            before = slope
        return False if tells else None


def measured(values: Tensor) -> Measured:
    """Their mean and its standard error."""
    mean, error = mean_and_error(values)
    return Measured(mean.item(), error.item())
