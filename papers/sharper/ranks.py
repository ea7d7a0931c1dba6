"""Orders of runs: how often the run at the higher level has the larger value."""

from __future__ import annotations

import torch
from torch import Tensor


def concordance(
    levels: Tensor, values: Tensor, strata: Tensor | None = None, losses: Tensor | None = None
) -> Tensor:
    r"""How often the run at the higher level has the larger value.

    .. math:: C = \Pr(v_i < v_j) + \tfrac12 \Pr(v_i = v_j), \qquad \ell_i < \ell_j

    over all pairs of runs of one stratum at different levels: 1 if all rise, 1/2 for no trend.

    Args:
        levels: Of the runs, shape ``(E,)``.
        values: Shape ``(*batch, E)``.
        strata: Runs are compared within one of these only, shape ``(E,)``; None: all with all.
        losses: Only pairs count in which the run at the higher level has no higher loss, shape of
            ``values``; None: all pairs.

    Returns:
        Shape ``(*batch,)``, float64; nan where losses leave no pair.

    Raises:
        ValueError: shapes that do not fit, a nan, or no pair to compare.

    Example:
        >>> import torch
        >>> from papers.sharper.ranks import concordance
        >>> concordance(torch.tensor([1, 2, 3]), torch.tensor([0.1, 0.3, 0.2])).item()
        0.6666666666666666

    Cost: E**2 / 2 at most. Source: Harrell's C; for two levels Mann-Whitney's U, a pair.
    """
    if strata is None:
        strata = torch.zeros_like(levels)
    if levels.ndim != 1 or strata.shape != levels.shape or values.shape[-1:] != levels.shape:
        shapes = ", ".join(str(tuple(v.shape)) for v in (levels, strata, values))
        raise ValueError(f"levels and strata must be (E,) and values (..., E), got {shapes}")
    if losses is not None and losses.shape != values.shape:
        shapes = f"{tuple(losses.shape)} and {tuple(values.shape)}"
        raise ValueError(f"losses must have the shape of values, got {shapes}")
    given = {"levels": levels, "values": values, "strata": strata}
    for name, v in (given | ({} if losses is None else {"losses": losses})).items():
        if v.isnan().any():
            raise ValueError(f"{name} must not be nan, {int(v.isnan().sum())} are")
    below = (levels[:, None] < levels) & (strata[:, None] == strata)
    low, high = below.nonzero(as_tuple=True)
    if not len(low):
        raise ValueError("concordance needs two runs of one stratum at different levels")
    more = ((values[..., high] - values[..., low]).sign().double() + 1) / 2
    if losses is None:
        return more.mean(-1)
    fair = losses[..., high] <= losses[..., low]
    return (more * fair).sum(-1) / fair.sum(-1)
