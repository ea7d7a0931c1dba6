"""A model of bits as a function with one number for each string; which models are refused."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checks import readable, require_choice

ENCODINGS = ("signs", "bits", "tokens")
IN_SINGLE = "half precision or less was measured in float32"
_FAILURES = (RuntimeError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError)
APART = 1e-3  # of the largest output, by which one may move with the other strings of its batch
AGAIN = 100  # roundings of the largest output, by which one may move from call to call
BATCH = 1 << 10  # larger batches are no faster and leave the heap in pieces


@contextlib.contextmanager
def plain_modes() -> Iterator[None]:
    """Gradients on, full precision, torch's random numbers kept, nothing compiled or fused.

    Fused forms of attention have no second derivative, or look at the batch; compiled code has no
    second derivative either.
    """
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with contextlib.ExitStack() as modes:
            modes.enter_context(torch.inference_mode(False))
            modes.enter_context(torch.enable_grad())
            modes.enter_context(torch.autocast("cpu", enabled=False))
            modes.enter_context(torch.random.fork_rng(devices=[]))
            modes.enter_context(torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH))
            if "torch._dynamo" in sys.modules:  # without which nothing is compiled
                modes.enter_context(torch.compiler.set_stance("force_eager"))
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


class Outputs:
    """A model as a function from bits to one float64 number each.

    Attributes:
        eps: Of the precision in which the model put out its last numbers.
    """

    def __init__(self, model: Callable[[Tensor], Tensor], encode: Callable[[Tensor], Tensor]):
        self.model, self.encode, self.eps = model, encode, torch.finfo(torch.float64).eps

    @torch.no_grad()
    def __call__(self, bits: Tensor) -> Tensor:
        """One number a string; ValueError if one is not finite."""
        found = [one_number(self.model(self.encode(part)), len(part)) for part in bits.split(BATCH)]
        self.eps = torch.finfo(found[0].dtype).eps
        values = torch.cat(found).double().cpu()
        if not values.isfinite().all():
            at = int((~values.isfinite()).nonzero()[0])
            string = "".join(map(str, bits[at].tolist()[:64])) + "..." * (bits.shape[1] > 64)
            raise ValueError(
                f"the model puts out {values[at].item()} at the string {string}; it must be finite "
                "at every string"
            )
        return values

    def of_all(self, n: int) -> Tensor:
        """At every string, in the order of the book's tables."""
        size = min(BATCH, 1 << n)
        index = torch.arange(n)
        table = torch.empty(1 << n, dtype=torch.float64)  # small parts leave holes in the heap
        for start in range(0, 1 << n, size):
            strings = torch.arange(start, start + size)[:, None] >> index & 1
            table[start : start + size] = self(strings)
        return table

    def refuse_what_cannot_be_probed(self, bits: Tensor, converted: bool = False) -> None:
        """Raise ValueError if outputs depend on the batch that a string is in, or on chance.

        Args:
            bits: Strings to try, at least 2.
            converted: Whether weights are not in the precision that they were given in.
        """
        crowd, bits = bits[:BATCH].flip(0), bits[:8]  # those few, and at the end of a batch
        try:
            together, first = self(bits), self(crowd)
            again = self(bits), self(crowd)
        except _FAILURES as error:
            why = shortened(str(error).strip().split("\n", 1)[0]) or type(error).__name__
            cast = (
                " (its weights were made float32; if it needs less, give a function that calls it)"
            )
            raise ValueError(
                f"the model cannot take n = {bits.shape[1]} bits as it is given them: {why}"
                f"{cast * converted}; encoding = {', '.join(ENCODINGS)} or a function of the bits "
                "says how, and it must take any number of strings at once"
            ) from error
        size = first.abs().max().item()
        off = max((a - b).abs().max().item() for a, b in zip(again, (together, first), strict=True))
        if off > min(APART, AGAIN * self.eps) * size:  # what is left to sums in another order
            raise ValueError(
                f"the model's output at one string moves by {off:.3g} from call to call; take what "
                "is random out of it, or fix it"
            )
        try:
            alone = torch.cat([self(bits[i : i + 1]) for i in range(len(bits))])
        except (RuntimeError, ValueError) as error:
            why = str(error).strip().split("\n", 1)[0]
            raise ValueError(
                f"the model takes {len(bits)} strings but not one alone: {why}; it must treat each "
                "string alone (batch norm without running statistics does not)"
            ) from error
        crowded, size = first[-len(bits) :].flip(0), together.abs().max().item()
        off = torch.maximum((together - alone).abs(), (crowded - alone).abs()).max().item()
        if off > APART * size:
            raise ValueError(
                f"an output moves by {off:.3g} with the other strings of its batch; the model must "
                "treat each string alone (batch norm without running statistics does not)"
            )


def shortened(text: str, most: int = 400) -> str:
    """The first so many letters of a text, cut between words."""
    if len(text) <= most:
        return text
    head = text[: most - 3]
    return (head.rpartition(" ")[0] or head).rstrip(" ,;:") + "..."


def labels_of(truth: Callable[[Tensor], Tensor], strings: Tensor) -> Tensor:
    """What the target is at the strings; ValueError unless it is one finite number each."""
    found = truth(strings.clone())  # which may write into what it is given, as a model may
    if not isinstance(found, Tensor) or found.shape not in ((len(strings),), (len(strings), 1)):
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(f"target must give {len(strings)} strings one number each, got {shape}")
    if not readable(found):
        raise ValueError(f"target must give numbers, got a tensor on {found.device}")
    if found.dtype == torch.bool or found.is_complex() or not found.isfinite().all():
        raise ValueError(
            f"target must be finite numbers, positive for +1, got {found.dtype}"
            + " with NaN or infinity" * found.is_floating_point()
        )
    return found.double().reshape(-1).cpu()


def one_number(found: Any, batch: int) -> Tensor:
    """What a model puts out as one number a string; ValueError if it cannot be taken so."""
    inside = found.get("logits") if isinstance(found, Mapping) else getattr(found, "logits", None)
    found = found if inside is None else inside
    if not isinstance(found, Tensor):
        kind = type(found).__name__
        raise ValueError(f"the model must put out a tensor, got {kind}; wrap it in a module")
    if found.dtype == torch.bool or found.is_complex():
        raise ValueError(
            f"the model must put out real numbers, positive for +1, got {found.dtype}; a bit 1 "
            "counts as -1, so that what True stands for would be a guess"
        )
    found = found if found.is_floating_point() else found.double()
    if batch == 1 and found.shape in ((), (2,)):  # what squeeze() leaves of one string
        found = found[None]
    if found.shape == (batch, 2):
        return found[:, 0] - found[:, 1]
    if found.shape not in ((batch,), (batch, 1)):
        raise ValueError(
            f"for {batch} strings the model must put out shape ({batch},), ({batch}, 1) or two "
            f"logits ({batch}, 2), got {tuple(found.shape)}; choose an output in a module around it"
        )
    return found.reshape(batch)


def still_copy(model: Callable[[Tensor], Tensor], notes: list[str]) -> Callable[[Tensor], Tensor]:
    """A copy of a module in evaluation mode and at least float32; a function as it is."""
    if not isinstance(model, nn.Module):
        return model
    training = [part for part in model.modules() if getattr(part, "training", False)]
    if any(_drops(part) for part in training):
        notes.append("dropout was on; the copy that was measured has it off")
    if any(getattr(part, "running_mean", None) is not None for part in training):
        notes.append("batch norm was in training mode; it was measured with its running statistics")
    for name, p in model.named_parameters():
        if isinstance(p, nn.parameter.UninitializedParameter) or p.is_meta:
            raise ValueError(
                f"the weight {name!r} of the model has no numbers yet; load them, or call the "
                "model once on a batch"
            )
    derived = {  # what hooks of the older weight norm leave cannot be copied as it is
        id(held): held.detach().clone()
        for part in model.modules()
        for held in vars(part).values()
        if isinstance(held, Tensor) and held.grad_fn is not None
    }
    try:
        still = copy.deepcopy(model, derived)
        still.eval()  # a train() of the reader's own may return None
        still.cpu()
    except (RuntimeError, TypeError) as error:
        why = str(error).split("\n", 1)[0].split(".", 1)[0]
        raise ValueError(
            f"the model cannot be copied: {why}; drop what it holds beside its weights, or give a "
            "function that calls it, of which outputs alone are measured"
        ) from error
    small = [p.dtype for p in still.parameters() if p.is_floating_point() and p.itemsize < 4]
    if small:
        notes.append(IN_SINGLE)
        try:
            still = still.float()
        except (RuntimeError, TypeError) as error:
            raise ValueError(
                f"weights of {small[0]} cannot be made float32; give a function that calls the "
                "model, of which outputs alone are measured"
            ) from error
    for p in still.parameters():
        p.requires_grad_(p.is_floating_point() or p.is_complex())
    for part in still.modules():  # of the same outputs, all gradients, and such as have one more
        if isinstance(part, nn.Embedding):
            part.sparse, part.padding_idx = False, None
        elif isinstance(part, nn.EmbeddingBag):
            part.sparse = False
    return still


def _drops(part: nn.Module) -> bool:
    """Whether a module drops at random when it is trained."""
    chance = getattr(part, "p", 0) if "Dropout" in type(part).__name__ else 0
    if isinstance(part, nn.MultiheadAttention | nn.RNNBase):
        chance = part.dropout
    return isinstance(chance, int | float) and chance > 0


def encoder(
    encoding: str | Callable[[Tensor], Tensor], model: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    """What makes a model's input of bits, in the dtype of its weights."""
    if callable(encoding):
        return lambda bits: encoding(bits.clone())
    require_choice("encoding", encoding, ENCODINGS)
    given = model.parameters() if isinstance(model, nn.Module) else ()
    dtype = next((p.dtype for p in given if p.is_floating_point()), torch.float32)
    if encoding == "tokens":
        return lambda bits: bits.clone()
    if encoding == "bits":
        return lambda bits: bits.to(dtype)
    return lambda bits: (1 - 2 * bits).to(dtype)
