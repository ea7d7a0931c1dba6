r"""Layer norm behind attention as well: the second paper's model with two norms in each layer.

The weights are those of :mod:`papers.sensitive.parity`, and no norm has a gain or a bias. So the
scores, the values and the block are the same, and there is one more norm between them:

.. math:: z_j = y_j + \sum_h V_h \eta^h_j, \qquad \eta^h_j = \sum_w \hat a^h_{jw} y_w, \qquad
    \tilde z_j = \mathrm{norm}(z_j), \qquad
    y_j \leftarrow \mathrm{norm}\bigl(\tilde z_j + \mathrm{block}(\tilde z_j)\bigr)

No bias stands before the first of the two. What keeps it from magnifying much after a random step
is the step of the value matrices, and the token that the skip connection carries past them.
"""

from __future__ import annotations

import itertools
import math

import torch
from scipy import integrate, special, stats
from torch import Tensor

from helpers.checks import require_probability, require_scale, validated
from helpers.nets import transformer
from helpers.nets.norm import variance
from helpers.nets.spec import TransformerSpec
from helpers.weights import Weights
from papers.sensitive import steps
from papers.sensitive.parity import PostNormSpec


def dressed(spec: PostNormSpec, weights: Weights) -> tuple[TransformerSpec, Weights]:
    """The same sizes and weights as a transformer with a norm after attention and one after blocks.

    Each head is as wide as a token, scores are not scaled, and heads add up as they are. Gains are
    1, and biases that the model does not have 0.

    Args:
        spec: The model.
        weights: As :func:`papers.sensitive.parity.shapes` says, with any leading axes.
    """
    D, ones = spec.width, torch.ones(spec.width, dtype=weights["readout"].dtype)
    found = {}
    for name, weight in weights.items():
        heads = name.endswith(("query", "key", "value"))
        found[name] = weight.transpose(-3, -2).flatten(-2) if heads else weight
    for k in range(spec.layers):
        found[f"layers.{k}.project"] = torch.eye(D, dtype=ones.dtype).repeat(spec.heads, 1)
        for norm in ("norm1", "norm2"):
            found |= {f"layers.{k}.{norm}.gain": ones, f"layers.{k}.{norm}.bias": 0 * ones}
    found |= {"readout": weights["readout"][..., None], "readout_bias": 0 * ones[:1]}
    model = TransformerSpec(
        *(spec.n, D, spec.layers, spec.heads, spec.hidden),
        head_width=D,
        logit_scale=1.0,
        bias=False,
        norm_eps=spec.norm_eps,
    )
    return model, found


def forward(spec: PostNormSpec, weights: Weights, bits: Tensor) -> Tensor:
    """Run the model with two norms a layer; a pure function of the weights.

    Args:
        spec: The model.
        weights: As :func:`papers.sensitive.parity.shapes` says, with any leading axes ``*``.
        bits: Shape ``(*, B, n)`` or ``(B, n)``, integers in {0, 1} or bool.

    Returns:
        Outputs, shape ``(*, B)``.

    Raises:
        ValueError: weights or bits of another shape, or entries other than 0 and 1.
        TypeError: bits are floating.

    Source: Hahn and Rofin (2024), the remark that ends Appendix C.
    """
    model, given = dressed(spec, weights)
    return transformer.forward(model, given, bits)


def deviations(spec: PostNormSpec, weights: Weights, bits: Tensor) -> tuple[list[Tensor], ...]:
    """What the norms divide by: behind attention, and behind the block, one tensor a layer.

    Each has the shape ``(*, B, n)``, of the last layer ``(*, B, 1)``: there only the token that is
    read exists. Arguments are those of :func:`forward`; gradients flow.
    """
    model, given = dressed(spec, weights)
    _, seen = transformer.forward(model, given, bits, intermediates=True)
    return tuple(
        [
            variance(seen[f"layers.{k}.{norm}.input"], spec.norm_eps).sqrt()
            for k in range(spec.layers)
        ]
        for norm in ("norm1", "norm2")
    )


def value_norms(spec: PostNormSpec, weights: Weights) -> Tensor:
    """Norm of each layer's value matrices, all heads side by side: shape ``(L,)``."""
    each = [weights[f"layers.{k}.value"].flatten(0, 1) for k in range(spec.layers)]
    return torch.stack([torch.linalg.matrix_norm(w, 2) for w in each])


@validated
def reciprocal_mean(d: int, D: int, values: Tensor, rho: float) -> Tensor:
    r"""Above the mean over steps of the product of all 1/N, at one token of each layer.

    .. math:: Q' = \mathbb E\, \frac{\sqrt d}{\|u_0\|}
        \prod_{k=1}^L \frac{\sqrt d}{\|u_k\|} \Bigl(1 + \frac{B_k}{\|w_k\|}\Bigr)

    Here :math:`u_k, w_k` are disjoint parts of the step, of d - 1 numbers each.

    Args:
        d: Columns of a token, at least 3.
        D: Numbers in a step.
        values: Each layer's B, shape ``(L,)``, above 0: norms of the values at their largest within
            rho.
        rho: Length of the step.

    Returns:
        A number, through which gradients flow.

    Raises:
        ValueError: a number out of range.

    Source: the chapter on two layer norms.
    """
    require_scale(rho=rho)
    if values.ndim != 1 or not len(values) or not (values > 0).all():
        raise ValueError(f"expected positive norms of shape (L,), got {values}")
    symmetric = [torch.ones_like(values[0])]  # sums of products of s of them
    for B in values:
        pairs = zip([*symmetric, 0 * B], [0 * B, *symmetric], strict=True)
        symmetric = [stays + B * grows for stays, grows in pairs]
    L = len(values)
    terms = [
        e * d ** (-s / 2) * steps.reciprocal_mean(d, D, L + 1 + s, rho)
        for s, e in enumerate(symmetric)
    ]
    return torch.stack(terms).sum()


@validated
def small_product(s: float, m: int, D: int, rho: float = 1.0) -> float:
    """Chance that the lengths of two disjoint parts, of m coordinates each, have a product below s.

    The step is uniform, of length rho in R^D. The relative error is below 1e-8, for tiny s too.
    """
    require_scale(s=s, rho=rho)
    if not 1 <= 2 * m < D:
        raise ValueError(f"expected 1 <= 2 m < D, got m = {m}, D = {D}")
    level = s / rho**2
    own, other = (m / 2, (D - m) / 2), (m / 2, (D - 2 * m) / 2)  # of the first and second share

    def given(a: float) -> float:  # a: logarithm of the first part's squared length
        share = math.exp(a)
        density = own[0] * a + (own[1] - 1) * math.log1p(-share) - special.betaln(*own)
        rest = min(1.0, level**2 / (share * (1 - share)))
        return float(math.exp(density) * special.betainc(*other, rest))

    # nearly level from log(level**2) to the usual share, and falling on either side
    middle = math.log(m / D)
    low = min(2 * math.log(level), middle)
    steps_up = (low + k * (middle - low) / 6 for k in range(6))
    ends = sorted({low - 80, low - 10, *steps_up, middle - 1, middle, middle / 2, -1e-12})
    return sum(
        integrate.quad(given, start, end, epsabs=0, epsrel=1e-9, limit=200)[0]
        for start, end in itertools.pairwise(ends)
    )


@validated
def small_chance(r: float, d: int, D: int, B: float, rho: float, *, first: bool = False) -> float:
    r"""Above the chance over steps that the norm behind attention divides one token by less than r.

    .. math:: P\Bigl(\|w\| \le \frac{B r}{1 - r}\Bigr) \quad \text{in a layer } k \ge 2, \qquad
        P(\|u\| \le 2 \sqrt d\, r) + P(\|u\|\, \|w\| \le 2 B \sqrt d\, r)
        \quad \text{in the first}

    for disjoint parts u and w of the step, of d - 1 numbers each. It holds at every input.

    Args:
        r: Between 0 and 1.
        d: Columns of a token, at least 2.
        D: Numbers in a step.
        B: Norm of the layer's value matrices, all heads side by side, plus rho.
        rho: Length of the step.
        first: Of the first layer, where a token is the sum of an embedding and an encoding.

    Source: the chapter on two layer norms.
    """
    require_probability(r=r)
    require_scale(B=B, rho=rho)
    if not 2 <= d <= D:
        raise ValueError(f"expected 2 <= d <= D, got d = {d}, D = {D}")
    share = stats.beta((d - 1) / 2, (D - d + 1) / 2)  # of d - 1 numbers in the squared length
    if not first:
        return float(share.cdf(min(1.0, (B * r / (1 - r) / rho) ** 2)))
    own = float(share.cdf(min(1.0, 4 * d * (r / rho) ** 2)))
    return min(1.0, own + small_product(2 * B * math.sqrt(d) * r, d - 1, D, rho))
