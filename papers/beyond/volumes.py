r"""How large a share of the weights of a one-layer model computes a function exactly.

The model is the one of Zhu and Chiang (2026): softmax attention with scores times log n, values
that depend on the bit alone, and an MLP of one hidden layer; every weight is uniform on [-B, B].
What attention hands on is :math:`v_0 + p (v_1 - v_0)`, where p is the attention that the ones get.
So the MLP is a piecewise linear function H of p, here called a reader, and the last bias decides
where H is cut. That bias is integrated exactly, everything else is drawn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from helpers.checks import require_positive, require_scale, validated

DENSITY_AT_ZERO = 5 / 6
"""Density of the score contrast at 0, for weights of size 1; by 1 / B**2 for weights of size B."""


class Readers(NamedTuple):
    r"""MLPs along the segment of values: :math:`H(p) = \sum_u w_u \max(0, o_u + s_u p)`.

    Attributes:
        offset: o, of the hidden units at p = 0, shape ``(N, h)``.
        slope: s, shape ``(N, h)``.
        weight: w, differences of the two rows of output weights, shape ``(N, h)``.
        bound: B; the cut, a difference of two biases, lies in [-2B, 2B].
    """

    offset: Tensor
    slope: Tensor
    weight: Tensor
    bound: float


class Positions(NamedTuple):
    """Weights of the attention by position, with what each draw counts.

    Attributes:
        a: Of the query, times the index. b: Its bias. r: Of the key, times the position.
        s: Of the key, times the square of the position; all ``(N, 2)``.
        weight: Density under uniform weights over that of the draw, ``(N,)``.
    """

    a: Tensor
    b: Tensor
    r: Tensor
    s: Tensor
    weight: Tensor


def _uniform(bound: float, generator: Generator, *shape: int) -> Tensor:
    return bound * (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1)


@validated
def draw_readers(count: int, hidden: int, bound: float, generator: Generator) -> Readers:
    """Readers with all their weights, those of the value map included, uniform on [-B, B].

    Args:
        count: N, at least 1.
        hidden: h, at least 1.
        bound: B, positive.
        generator: Source of randomness.
    """
    require_positive(count=count, hidden=hidden)
    require_scale(bound=bound)
    maps, bias = _uniform(bound, generator, count, 2, 2), _uniform(bound, generator, count, 2)
    zero, one = maps[:, :, 0] + bias, maps[:, :, 1] + bias
    first = _uniform(bound, generator, count, hidden, 2)
    offset = (first * zero[:, None]).sum(-1) + _uniform(bound, generator, count, hidden)
    slope = (first * (one - zero)[:, None]).sum(-1)
    rows = _uniform(bound, generator, 2, count, hidden)
    return Readers(offset, slope, rows[1] - rows[0], bound)


def logits(readers: Readers, p: Tensor) -> Tensor:
    """H at the points p, ``(N, K)`` or ``(K,)``: shape ``(N, K)``."""
    given = p.expand(len(readers.offset), -1) if p.ndim == 1 else p
    units = readers.offset[:, None] + readers.slope[:, None] * given[..., None]
    return (units.clamp(min=0) * readers.weight[:, None]).sum(-1)


def cut_share(zeros: Tensor, ones: Tensor, bound: float) -> Tensor:
    """Chance that the cut lies above ``zeros`` and below ``ones``; 0 where these are in disorder.

    The cut is a difference of two independent biases, so its law on [-2B, 2B] is a triangle.
    """

    def below(x: Tensor) -> Tensor:
        t = (x / (2 * bound)).clamp(-1, 1)
        return torch.where(t < 0, (1 + t).square() / 2, 1 - (1 - t).square() / 2)

    return (below(ones) - below(zeros)).clamp(min=0)


def knots(readers: Readers) -> Tensor:
    """Where H can bend, between 0 and 1: shape ``(N, h)``; units that do not bend give an end."""
    return (-readers.offset / readers.slope).nan_to_num(0).clamp(0, 1)


def step_share(readers: Readers) -> Tensor:
    """Chance of the cut that H crosses it on [0, 1] exactly once, and upwards: shape ``(N,)``.

    Between two neighbouring knots H is linear. A cut in its range there is crossed once if and only
    if it is above H at all knots before and below H at all knots behind.
    """
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64).expand(len(readers.offset), 2)
    values = logits(readers, torch.cat((knots(readers), ends), 1).sort(1).values)
    before = values.cummax(1).values[:, :-1]
    behind = values.flip(1).cummin(1).values.flip(1)[:, 1:]
    return cut_share(before, behind, readers.bound).sum(1)


@validated
def draw_contrasts(
    count: int, bound: float, generator: Generator, width: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Scores of a one less those of a zero, before the factor log n, and the weights of the draws.

    A tenth is drawn as it is, the others uniformly up to ``width``, where MAJORITY is possible.

    Args:
        count: N, at least 1.
        bound: B, positive.
        generator: Source of randomness.
        width: Positive.

    Returns:
        Two tensors ``(N,)``: means with these weights are means over uniform weights of the model.
    """
    require_positive(count=count)
    require_scale(bound=bound, width=width)
    query, keys = _uniform(bound, generator, count, 2), _uniform(bound, generator, 2, count, 2)
    step = keys[1] - keys[0]
    i = query.abs().argmax(1, keepdim=True)
    large, rest = query.gather(1, i)[:, 0], (query * step).sum(1)
    rest = rest - large * step.gather(1, i)[:, 0]
    near = width * _uniform(1.0, generator, count)
    plain = torch.rand(count, generator=generator) < 0.1
    chosen = torch.where(plain, step.gather(1, i)[:, 0], (near - rest) / large)
    contrast = rest + large * chosen
    own = (1 - chosen.abs() / (2 * bound)).clamp(min=0) / (2 * bound)
    inside = (contrast.abs() <= width) * large.abs() / (2 * width)
    return contrast, own / (0.1 * own + 0.9 * inside)


def attention_of_ones(ones: Tensor, n: int, contrast: Tensor, scale: float) -> Tensor:
    """Attention that so many ones among n bits get together: ``(N, K)`` from ``ones`` (K or N, K).

    It is computed from the logit, log(t / (n - t)) + scale * contrast, without overflow.
    """
    t = ones.double()
    return (t.log() - (n - t).log() + scale * contrast[:, None]).sigmoid()


def majority_share(readers: Readers, contrast: Tensor, n: int, scale: float) -> Tensor:
    """Chance of the cut that MAJORITY of n bits, n odd, is computed: shape ``(N,)``.

    A piecewise linear function on the n + 1 values of p has its extremes at the ends of a range or
    beside a knot, so that a few counts decide for all.

    Raises:
        ValueError: n is even, or below 3.
    """
    if n % 2 == 0 or n < 3:
        raise ValueError(f"n must be odd and at least 3, got {n}")
    odds = (knots(readers).logit() - scale * contrast[:, None]).sigmoid() * n
    near = [odds.floor() + k for k in (-1, 0, 1, 2)]
    ends = torch.tensor([0, n // 2, n // 2 + 1, n], dtype=torch.float64)
    counts = torch.cat((*near, ends.expand(len(odds), 4)), 1).clamp(0, n)
    values = logits(readers, attention_of_ones(counts, n, contrast, scale))
    many = counts > n / 2
    zeros = values.masked_fill(many, -torch.inf).amax(1)
    ones = values.masked_fill(~many, torch.inf).amin(1)
    return cut_share(zeros, ones, readers.bound)


def labelled_share(
    readers: Readers, contrast: Tensor, labels: Tensor, n: int, scale: float
) -> Tensor:
    """Chance of the cut that each count of ones gets its label: shape ``(N,)``.

    Args:
        readers: Of the draws.
        contrast: Of the draws.
        labels: True or False for each count 0, ..., n; both must occur.
        n: Number of bits.
        scale: Of the scores.

    Raises:
        ValueError: not n + 1 labels, or all alike.
    """
    if labels.shape != (n + 1,) or labels.all() or not labels.any():
        raise ValueError(f"labels must be {n + 1} of both kinds, got {labels.tolist()}")
    values = logits(readers, attention_of_ones(torch.arange(n + 1), n, contrast, scale))
    zeros, ones = values[:, ~labels].amax(1), values[:, labels].amin(1)
    return cut_share(zeros, ones, readers.bound)


def sharpness_shares(readers: Readers, sharpness: Tensor) -> tuple[Tensor, Tensor]:
    """Share of readers and cuts that can do with this attention on the right position, K values.

    If the least attention on the right position is c, p is at most 1 - c where the bit is 0, and at
    least c where it is 1. The first result asks that the reader is right on both intervals, which
    is enough. The second asks it at the four ends, which strings attain, so it is necessary.

    Returns:
        Two tensors ``(K,)``, means over the readers.
    """
    enough, needed = [], []
    for c in sharpness.tolist():
        ends = torch.tensor([0.0, 1 - c, c, 1.0], dtype=torch.float64)
        values = logits(readers, ends)
        zeros, ones = values[:, :2].amax(1), values[:, 2:].amin(1)
        needed.append(cut_share(zeros, ones, readers.bound).mean())
        if c <= 0.5:
            enough.append(torch.zeros((), dtype=torch.float64))
            continue
        bends = knots(readers)
        low = logits(readers, bends.clamp(max=1 - c)).amax(1)
        high = logits(readers, bends.clamp(min=c)).amin(1)
        zeros, ones = torch.maximum(zeros, low), torch.minimum(ones, high)
        enough.append(cut_share(zeros, ones, readers.bound).mean())
    return torch.stack(enough), torch.stack(needed)


def interpolate(table: Tensor, c: Tensor) -> Tensor:
    """Values at c in [0, 1] of a function that is tabulated at equal steps from 0 to 1."""
    at = c.clamp(0, 1) * (len(table) - 1)
    left = at.floor().clamp(max=len(table) - 2).long()
    return torch.lerp(table[left], table[left + 1], at - left)


@validated
def draw_positions(
    count: int,
    n: int,
    bound: float,
    generator: Generator,
    plain: float = 0.25,
    *,
    normalized: bool = False,
) -> Positions:
    r"""Position weights, drawn where INDEX at length n can succeed, with the weight of each draw.

    The drift of the scores has the coefficients :math:`\chi = a^\top s` and
    :math:`\ell = 2 b^\top s + a^\top r`, which must be of the orders 1/n**2 and 1/n. Where s and r
    are not drawn as they are, the entries of both at which a is larger make these coefficients
    small, compared with the curvature, and the sign of s makes the scores concave.

    Args:
        count: N, at least 1.
        n: Bits, at least 1.
        bound: B, positive.
        generator: Source of randomness.
        plain: Share of the draws that are uniform as they are, above 0; at 1 all weights are 1.
        normalized: For the model whose query is normalised, in which only one coefficient matters.

    Raises:
        ValueError: sizes that are not positive, or a share that is not above 0 and at most 1.
    """
    require_positive(count=count, n=n)
    require_scale(bound=bound)
    if not 0 < plain <= 1:
        raise ValueError(f"plain must be above 0 and at most 1, got {plain}")
    a, b, r, s = (_uniform(bound, generator, count, 2) for _ in range(4))
    uniform = torch.rand(count, 1, generator=generator) < plain
    i = a.abs().argmax(1, keepdim=True)
    large, small, length = a.gather(1, i), a.gather(1, 1 - i), a.norm(dim=1, keepdim=True)

    def curvature(s: Tensor) -> Tensor:
        """Of the scores, were chi exactly 0."""
        if normalized:
            return (b * s).sum(1, keepdim=True) + (a * s).sum(1, keepdim=True) / length
        other = s.gather(1, 1 - i)
        return b.gather(1, 1 - i) * other - b.gather(1, i) * small * other / large

    turned = torch.where(curvature(s) > 0, -s, s)
    s = torch.where(uniform, s, turned)
    bend = curvature(s)
    ratio = torch.where(bend < 0, 2.0, 0.0)  # of the density of the other draws to the uniform one

    def concentrate(free: Tensor, centre: Tensor, least: Tensor) -> Tensor:
        """Entry i of ``free`` near ``centre``, within one of two widths."""
        nonlocal ratio
        widths = torch.cat((least, 8 * least), 1).clamp(max=4 * bound)
        pick = (torch.rand(count, 1, generator=generator) < 0.25).long()
        near = centre + _uniform(1.0, generator, count, 1) * widths.gather(1, pick)
        chosen = torch.where(uniform, free.gather(1, i), near)
        inside = ((chosen - centre).abs() <= widths) / (2 * widths)
        shares = torch.tensor([0.75, 0.25], dtype=torch.float64)
        ratio = ratio * (2 * bound) * (inside * shares).sum(1, keepdim=True)
        return free.scatter(1, i, chosen)

    if not normalized:
        centre = -small * s.gather(1, 1 - i) / large
        s = concentrate(s, centre, 3 * bend.abs() / (n**2 * large.abs()))
    drift = 2 * (b * s).sum(1, keepdim=True) + small * r.gather(1, 1 - i)
    if normalized:
        drift = drift + 2 * (a * s).sum(1, keepdim=True) / length
    r = concentrate(r, -drift / large, 7 * bend.abs() / (n * large.abs()))
    inside = (torch.cat((r, s), 1).abs().amax(1) <= bound).double()
    return Positions(a, b, r, s, inside / (plain + (1 - plain) * ratio[:, 0]))


def own_attention(
    drawn: Positions, n: int, index: Tensor, scale: float, *, normalized: bool = False
) -> Tensor:
    """Attention on position k if the index is k, for the given indices: shape ``(N, K)``."""
    k, j = index.double(), torch.arange(1.0, n + 1, dtype=torch.float64)
    moved = drawn.a[:, None] * k[:, None]
    query = moved + drawn.b[:, None]
    square = query
    if normalized:
        square = drawn.b[:, None] + moved / (1 + moved.square().sum(-1, keepdim=True)).sqrt()
    linear = (query * drawn.r[:, None]).sum(-1, keepdim=True)
    scores = linear * j + (square * drawn.s[:, None]).sum(-1, keepdim=True) * j.square()
    share = (scale * scores).softmax(-1)
    at = (index - 1).expand(len(share), -1)[..., None]
    return share.gather(2, at).squeeze(-1)


class Bracket(NamedTuple):
    """Two estimates between which a share lies, and the standard error of the first."""

    enough: float
    needed: float
    error: float


def index_share(
    drawn: Positions,
    tables: tuple[Tensor, Tensor],
    n: int,
    scale: float,
    *,
    normalized: bool = False,
    indices: Tensor | None = None,
    chunk: int = 2_000_000,
) -> Bracket:
    """Share of the weights that compute INDEX of n bits, at every index.

    Args:
        drawn: Of :func:`draw_positions`, for this n.
        tables: Of :func:`sharpness_shares`, at equal steps of the attention from 0 to 1.
        n: Bits.
        scale: Of the scores.
        normalized: As in :func:`draw_positions`.
        indices: Of the positions that are asked for; None: all, which is INDEX.
        chunk: Scores that are held at a time.
    """
    asked = torch.arange(1, n + 1) if indices is None else indices
    few = asked[torch.linspace(0, len(asked) - 1, min(5, len(asked))).long()]
    worth = drawn.weight > 0
    sums = torch.zeros(3, dtype=torch.float64)
    for at in (few, asked):  # the first pass only drops draws that a few indices rule out
        live = worth.nonzero().flatten()
        for part in live.split(max(1, chunk // (n * len(at)))):
            own = Positions(*(v[part] for v in drawn))
            least = own_attention(own, n, at, scale, normalized=normalized).amin(1)
            if at is few and few is not asked and len(few) < len(asked):
                worth[part] = least > 1e-6
                continue
            values = [own.weight * interpolate(table, least) for table in tables]
            more = torch.stack([values[0].sum(), values[1].sum(), values[0].square().sum()])
            sums += more
        if len(few) == len(asked):
            break
    enough, needed, squares = (sums / len(drawn.weight)).tolist()
    return Bracket(enough, needed, math.sqrt(max(squares - enough**2, 0) / len(drawn.weight)))


def parabola_area(u: Tensor) -> Tensor:
    r"""Area of the (x, y) with :math:`|x t^2 + y t + u| \le 1` for all t in [0, 1].

    Args:
        u: Between -1 and 1.
    """

    def half(u: Tensor) -> Tensor:  # x > 0
        root = (1 + u).sqrt()

        def integral(x: Tensor) -> Tensor:
            return (1 - u) * x - x.square() / 2 + 4 / 3 * root * x**1.5

        low, high = root.square(), (root + math.sqrt(2)).square()
        return 2 * low + integral(high) - integral(low)

    return half(u) + half(-u)


@validated
def index_constant(count: int, generator: Generator, area: bool = True) -> tuple[float, float]:
    r"""Limit of n**3 times the share of position weights that look at k for every k, and its error.

    The joint density of :math:`\chi` and :math:`\ell` at 0, times the area of the
    :math:`(n^2 \chi, n \ell)` that keep the drift below the curvature. It is the same for every B.

    Args:
        count: Draws, at least 1.
        generator: Source of randomness.
        area: False for the density alone.
    """
    require_positive(count=count)
    a, b, r, s = (_uniform(1.0, generator, count, 2) for _ in range(4))
    i = a.abs().argmax(1, keepdim=True)
    large, small = a.gather(1, i), a.gather(1, 1 - i)
    s = s.scatter(1, i, -small * s.gather(1, 1 - i) / large)
    drift = 2 * (b * s).sum(1, keepdim=True) + small * r.gather(1, 1 - i)
    r = r.scatter(1, i, -drift / large)
    inside = (s.abs().amax(1) <= 1) & (r.abs().amax(1) <= 1)
    curvature, tilt = -(b * s).sum(1), (b * r).sum(1)
    live = inside & (tilt.abs() < curvature)
    u = torch.where(live, tilt / curvature, 0.0)
    density = 1 / (4 * large[:, 0].square())
    size = curvature.square() * parabola_area(u) / 2 if area else torch.ones_like(u)
    values = torch.where(live, density * size, 0.0)
    return values.mean().item(), values.std().item() / math.sqrt(count)


def parity_reader(hidden: int, bound: float = 1.0) -> Readers:
    r"""One reader of h >= 3 hidden units that computes PARITY of h + 1 bits at contrast 0.

    It bends at the counts 1, ..., h. All units but the third are 0 at the left, the third is 0 at
    the right; its kink must then be minus the first slope.

    Args:
        hidden: h, at least 3.
        bound: B.

    Raises:
        ValueError: h below 3, for which no reader does it.
    """
    if hidden < 3:
        raise ValueError(f"hidden must be at least 3, got {hidden}")
    n = hidden + 1
    values = [-1.0, 4.0, -1.0, 1.0, -2.0] + [(-1.0) ** (t + 1) for t in range(5, n + 1)]
    slopes = torch.tensor(values, dtype=torch.float64).diff() * n
    kinks, at = slopes.diff(), torch.arange(1, n, dtype=torch.float64) / n
    sign = torch.ones(hidden, dtype=torch.float64)
    sign[2] = -1
    kinks = kinks * (bound / kinks.abs().max())
    return Readers((-sign * at)[None], sign[None], kinks[None], bound)
