r"""What noise on the hand-written network costs, in the closed forms of the authors' notebook.

Theorems 14, 17, 18, 24, 30 and 31 and the perturbation term P, as the notebook
``generate_plots.ipynb`` of ``paullintilhac/boolean_function_sensitivity`` evaluates them. n is the
number of bits, at least 1, d the degree and W the sparsity, both from 1 to n, k = n + 1 one less
than the width of a token, and :math:`\ell = \log n` half the scale of the scores. Every weight gets
an independent normal variable of standard deviation sigma, at least 0. Functions of these numbers
raise ValueError for one out of its range.
"""

from __future__ import annotations

import math

from torch import Tensor

from helpers.checks import require_amount, require_positive, validated
from papers.sharper.elementwise import elementwise, require_integers, require_within


@validated
def parity_noise(degree: int, sigma: float) -> float:
    r"""Change of a parity at a position that holds a component: :math:`32 \sigma d^2`.

    Source: Lemma 22, as it enters the tabulated :func:`output_term`.
    """
    require_sizes(degree, degree, 1, sigma)
    return 32 * sigma * degree**2


@validated
def attention_noise(n: int, degree: int, sparsity: int, sigma: float) -> float:
    r"""Change of the second attention in the l1 norm: :math:`128 \sigma d^2 \sqrt W \ell`.

    It is :func:`parity_noise` times the norm :math:`2 \ell \sqrt W` of the scores times 2, the
    paper's constant of the softmax.

    Source: Lemma 27, as it enters the tabulated :func:`output_term`.
    """
    require_sizes(n, degree, sparsity, sigma)
    return 2 * (2 * math.sqrt(sparsity) * math.log(n)) * parity_noise(degree, sigma)


@validated
def output_term(n: int, degree: int, sparsity: int, sigma: float, k: int | None = None) -> float:
    r"""Change of the output, :math:`T_p`.

    .. math:: T_p = \sigma \bigl(128 d^2 W \ell + \sqrt{2k} + 32 \sqrt W d^2 \bigr)

    Source: Theorem 24, as tabulated.
    """
    require_sizes(n, degree, sparsity, sigma)
    k = k or n + 1
    root = math.sqrt(sparsity)
    scores = root * attention_noise(n, degree, sparsity, sigma)
    return scores + sigma * math.sqrt(2 * k) + root * parity_noise(degree, sigma)


@validated
def gradient_term(
    n: int,
    degree: int,
    sparsity: int,
    sigma: float,
    as_tabulated: bool = False,
    k: int | None = None,
) -> float:
    r"""Change of the gradient of the output, in the 2-norm, :math:`G_p`.

    .. math::

        G_p = \sigma \bigl( 128\sqrt2\, d^2 \sqrt W \ell + 192 \sqrt W d^2
        + 128 \sqrt2\, d^2 W^2 \ell + 64 \sqrt2\, k d^2 W^2 \ell + 128 k W^2 \ell d^{3/2}
        + 1024 d^{7/2} W^{3/2} \ell + 8 \sqrt{dW} \ell k + 256 d^{5/2} W^2 k
        + 32 \sqrt d\, W^2 k^2 \bigr)

    ``as_tabulated`` leaves the third and the fourth term without their factor sigma, as the
    notebook has them; the sum then has a positive limit at sigma = 0.

    Source: Theorem 30, as tabulated.
    """
    require_sizes(n, degree, sparsity, sigma)
    k, d, W, log = k or n + 1, degree, sparsity, math.log(n)
    middle = (128 + 64 * k) * math.sqrt(2) * d**2 * W**2 * log
    others = (
        128 * math.sqrt(2) * d**2 * W**0.5 * log
        + 192 * W**0.5 * d**2
        + 128 * k * W**2 * log * d**1.5
        + 1024 * d**3.5 * W**1.5 * log
        + 8 * math.sqrt(d * W) * log * k
        + 256 * d**2.5 * W**2 * k
        + 32 * math.sqrt(d) * W**2 * k**2
    )
    return sigma * others + (middle if as_tabulated else sigma * middle)


@validated
def hessian_at_construction(n: int, degree: int, sparsity: int, k: int | None = None) -> float:
    r"""Operator norm of the Hessian of the output at the construction, :math:`H_u`.

    .. math::

        H_u = 8(d+1) + 6(d+1)\sqrt W + 2\sqrt{3n(d+1)} + \sqrt{48 n d (d+1)} + 3d\sqrt{12n(d+1)}
        + 8\sqrt2\, d \sqrt{kn} + 2d\sqrt{kn} + 8\sqrt2\, k d \sqrt W + 6\sqrt2\, k^{3/2} d

    Source: Theorem 18, as tabulated. It contains no scale of the scores.
    """
    require_sizes(n, degree, sparsity)
    k, d, W = k or n + 1, degree, sparsity
    return (
        8 * (d + 1)
        + 6 * (d + 1) * math.sqrt(W)
        + 2 * math.sqrt(3 * n * (d + 1))
        + math.sqrt(48 * n * d * (d + 1))
        + 3 * d * math.sqrt(12 * n * (d + 1))
        + 8 * math.sqrt(2) * d * math.sqrt(k * n)
        + 2 * d * math.sqrt(k * n)
        + 8 * math.sqrt(2) * k * d * math.sqrt(W)
        + 6 * math.sqrt(2) * k**1.5 * d
    )


@validated
def hessian_term(n: int, degree: int, sparsity: int, sigma: float, k: int | None = None) -> float:
    r"""Change of the Hessian of the output, in the operator norm, :math:`H_p`.

    .. math::

        H_p = \sigma \bigl( 768\sqrt2\, d^2 W^{3/2} k \ell + 256 W^{3/2} k^2 d^{3/2} \ell
        + 1024 d^{7/2} W^{3/2} \ell + 512 d^{5/2} W^{3/2} k^2 \ell
        + 1536 d^{7/2} W^{5/2} \sqrt k\, \ell^2 + 768 d^2 W^{5/2} k \ell^2
        + 16 W^2 k^{5/2} \ell \bigr)

    Source: Theorem 31, as tabulated.
    """
    require_sizes(n, degree, sparsity, sigma)
    k, d, W, log = k or n + 1, degree, sparsity, math.log(n)
    return (
        sigma
        * log
        * (
            768 * math.sqrt(2) * d**2 * W**1.5 * k
            + 256 * W**1.5 * k**2 * d**1.5
            + 1024 * d**3.5 * W**1.5
            + 512 * d**2.5 * W**1.5 * k**2
            + 1536 * d**3.5 * W**2.5 * math.sqrt(k) * log
            + 768 * d**2 * W**2.5 * k * log
            + 16 * W**2 * k**2.5
        )
    )


@validated
def parameter_count(n: int, degree: int, as_tabulated: bool = False) -> int:
    r"""Number of weights, :math:`3 D^2 + D + (8D + 4)(d + 1)`.

    ``as_tabulated`` is :math:`\Theta = 3(k+1)^2 + (k+1) + (8k + 6)(d+1)`, all but 6(d + 1) of them.

    Source: ours: three score and value matrices, the read-out, and G, F, b with 4(d + 1) units;
    :math:`\Theta` is that of Theorem 17, as tabulated.
    """
    require_sizes(n, degree, 1)
    D = n + 2
    return 3 * D**2 + D + (8 * D + 4 - 6 * as_tabulated) * (degree + 1)


@elementwise
def gradient_bound(degree: Tensor, sparsity: Tensor) -> Tensor:
    r"""Squared norm of the gradient at the construction, half the trace of the loss Hessian.

    .. math:: G_u = 4 + 4W(2 + d + 32 d^2 + 32 d^3)

    It leaves out the positional rows of F, see the chapter on gradients; it is what the paper's
    bound uses.

    Args:
        degree: d, at least 1; a number, or a tensor that broadcasts.
        sparsity: W, at least 1; the same.

    Source: Lintilhac and Shaikh (2026), Theorems 5 and 14, as tabulated.
    """
    d, W = degree, sparsity
    require_integers(degree=d, sparsity=W)
    require_within("degree", d, 1)
    require_within("sparsity", W, 1)
    return 4 + 4 * W * (2 + d + 32 * d**2 + 32 * d**3)


@validated
def perturbation_term(
    n: int,
    degree: int,
    sparsity: int,
    sigma: float,
    as_tabulated: bool = False,
) -> float:
    r"""What noise adds to the sharpness :math:`G_u` in the analytic bound.

    .. math:: P = 2 G_p \bigl(2\sqrt{G_u} + G_p\bigr) + T_p (H_u + H_p)\, \Theta

    ``as_tabulated`` is that of :func:`gradient_term`.

    Source: Theorem 17 and Eq. (9), as tabulated.
    """
    gradient = gradient_term(n, degree, sparsity, sigma, as_tabulated)
    first = 2 * gradient * (2 * math.sqrt(gradient_bound(degree, sparsity)) + gradient)
    count = parameter_count(n, degree, as_tabulated=True)
    return first + count * _residual(n, degree, sparsity, sigma)


@validated
def perturbed_trace_bound(
    n: int,
    degree: int,
    sparsity: int,
    sigma: float,
    squared_gradient: float | None = None,
) -> float:
    r"""Trace of the Hessian of the squared loss at the perturbed construction.

    .. math:: 2\bigl(\sqrt{G_u} + G_p\bigr)^2 + 2 T_p (H_u + H_p)\, \Theta

    with the exact number of weights for :math:`\Theta`, and ``squared_gradient`` in the place of
    :math:`G_u`; None is :func:`gradient_bound`.

    Source: Theorem 17, with :func:`parameter_count`.
    """
    at_rest = gradient_bound(degree, sparsity) if squared_gradient is None else squared_gradient
    gradient = math.sqrt(at_rest) + gradient_term(n, degree, sparsity, sigma)
    residual = _residual(n, degree, sparsity, sigma)
    return 2 * gradient**2 + 2 * residual * parameter_count(n, degree)


def _residual(n: int, degree: int, sparsity: int, sigma: float) -> float:
    """Change of the output times the norm of its Hessian, T_p (H_u + H_p)."""
    hessian = hessian_at_construction(n, degree, sparsity)
    hessian += hessian_term(n, degree, sparsity, sigma)
    return output_term(n, degree, sparsity, sigma) * hessian


@validated
def require_sizes(n: int, degree: int, sparsity: int, sigma: float = 0.0) -> None:
    """Raise ValueError unless d and W lie between 1 and n, and sigma is at least 0."""
    require_positive(n=n)
    for name, value in (("degree", degree), ("sparsity", sparsity)):
        if not 1 <= value <= n:
            raise ValueError(f"{name} must lie between 1 and n = {n}, got {value}")
    require_amount(sigma=sigma)
