"""Why no main bound of the five papers applies to a given model, and numbers to give instead."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import nn

from helpers.checks import require_amount, require_probability, validated
from helpers.probe.report import Measured

RESIDUAL = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
RANGE = 4.0  # of the squared error of outputs clipped to [-1, 1], at labels 1 and -1


@validated
def strings_asked(squared_norm: float, trace: float, delta: float = 0.05) -> float:
    r"""Strings from which the right side of P1, Theorem 2, is below 1, to leading order in sigma.

    .. math:: \min_\sigma \frac{\Sigma^2 (N / \sigma^2 + 2 \log(1/\delta))}{(1 - \sigma^2 G)^2},
        \qquad G = \tfrac12 \operatorname{tr} H, \quad \Sigma = 2

    This is no certificate: the theorem has N and G of a network that does not depend on the sample.

    Args:
        squared_norm: N, of all weights, at least 0.
        trace: Of the Hessian of the mean squared error, at least 0.
        delta: Probability of failure, between 0 and 1.

    Example:
        >>> from helpers.probe.bounds import strings_asked
        >>> round(strings_asked(100.0, 64.0))
        86454
    """
    require_amount(squared_norm=squared_norm, trace=trace)
    require_probability(delta=delta)
    cost, chance = squared_norm * trace / 2, -math.log(delta)
    spread = (RANGE / 2) ** 2  # Hoeffding's lemma
    if not cost:
        return spread * 2 * chance
    x = 2 * cost / (3 * cost + math.sqrt(9 * cost**2 + 16 * chance * cost))  # sigma**2 G, the best
    return spread * (cost / x + 2 * chance) / (1 - x) ** 2


def not_applicable(
    module: nn.Module | None,
    n: int,
    sensitivity: Measured,
    norms: Mapping[str, float],
    trace: Mapping[str, Measured],
    sharpness: Mapping[float, Measured],
    blow_up: Mapping[str, tuple[float, float]],
) -> dict[str, str]:
    """By bound of the papers, the reason, with what this model has in place of its hypotheses."""
    flips = sensitivity.value
    if module is None:
        of_one = of_many = curved = normed = "this is a function without weights"
    else:
        found = _attention(module)
        off = _departures(module, found, len(blow_up))
        of_one = "; ".join([f"not one layer but {len(found)}"] * (len(found) > 1) + off)
        of_many = "; ".join(off)
        curved = "without a trace nothing can be put into it"
        if "Gauss-Newton, all" in trace:
            asked = strings_asked(
                norms["all weights"] ** 2, max(0.0, trace["Gauss-Newton, all"].value)
            )
            curved = (
                "with this model's in their place, to leading order and for outputs clipped to "
                f"[-1, 1], its right side is below 1 from {asked:.2g} strings on, which is no "
                "guarantee"
            )
        normed = f"this model has {len(blow_up)}, and where they stand is not seen from outside"
        if not blow_up:
            normed = (
                "this model has none that is seen from outside; scripts and functions do not show"
            )
    least = f"{flips / math.sqrt(n * math.log(n)):.3g}" if n > 1 else "infinite"
    told = ", ".join(f"{m} at step {rho:g}" for rho, m in sharpness.items())
    return {
        "P1, Theorem 2": "its norm and sharpness are those of a network written by hand for a "
        f"sparse function, and must not depend on the sample; {curved}",
        "P1, Theorems 7, 8": "they are about PARITY by the networks written by hand, in steps or "
        "in one pass, not about another network",
        "P2, Theorem 4, Corollary 5": "their C is for one layer norm in a layer, behind the block, "
        f"and made of the weights of that form; {normed}. In that form C times the mean squared "
        f"blow-up, plus H/n for H heads, would be at least as/sqrt(n log n) = {least}",
        "P2, Theorem 6": "it is about the limit of a family of networks as the length grows. A "
        "family of outputs 1 and -1 that has this sensitivity at every length has there a "
        f"sharpness of at least as/n = {flips / n:.3g}; here it is {told or 'not measured'}",
        "P3, Corollary 4.4": f"covers of one layer of heads, up to a constant: {of_one}",
        "P3, Theorem 4.6": "covers of several layers; as printed its exponent of the tokens' norm "
        f"is not legible, and Theorem A.17 behind it has another class: {of_many}",
        "P4, Theorem 4.1": f"one layer, read at [CLS] by w W_c: {of_one}",
        "P4, Theorem 4.2": f"false as printed; as repaired it has another class: {of_many}",
        "P4, Theorem 5.1": "it bounds the cross entropy of a masked word, and here one number is "
        "put out",
        "P5, Theorems 4, 7": "they bound how many prompts a minimiser in a ball of norms needs to "
        "average tokens that a prompt points to, not the error of one network on bits",
        "P5, Theorems 6, 9, Proposition 3": "they are lower bounds for learners of that same task, "
        "so that no number of theirs is about one network",
    }


def _attention(module: nn.Module) -> list[nn.Module]:
    """The outermost parts that are called attention."""
    if "attention" in type(module).__name__.lower():
        return [module]
    return [part for child in module.children() for part in _attention(child)]


def _departures(module: nn.Module, found: list[nn.Module], norms: int) -> list[str]:
    """How this model differs from the class of P3 and P4, as far as it can be seen."""
    if not found:
        return ["their class has attention, and no part of this model is called that"]
    off = []
    if any(isinstance(part, RESIDUAL) for part in module.modules()):
        off.append("it has residual connections, and their class has none")
    if any(k.endswith("bias") and p.numel() for part in found for k, p in part.named_parameters()):
        off.append("its attention has biases, and theirs has none")
    if norms:
        off.append(f"it has {norms} layer norms, where theirs projects onto a ball or has none")
    return off or [
        "which matrices are W_QK, W_V and W_C, and whether anything goes round them, is not seen "
        "from outside"
    ]
