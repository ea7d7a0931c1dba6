r"""Certificates of trained networks: diagonal Gaussians over their weights, fitted to a kl bound.

A *certificate* is a number that exceeds the risk of a predictor with probability 1 - delta over
the sample. All E members of an ensemble are fitted at once. Losses are squared errors in [0, 1],
logarithms natural. Whether a certificate keeps its promise is counted in
:mod:`papers.beyond.audit`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from helpers.checks import validated
from helpers.training.batches import Batches
from helpers.training.train import train
from helpers.weights import Forward, Weights
from papers.sharper import rivals

WIDTHS = 100
"""Widths that a prior may have: exp(-j / 10) for j from 0 to 99."""


@validated
def certificate(
    sampled: Any,
    draws: Any,
    kl: Any,
    m: Any,
    delta: float = 0.05,
    *,
    choices: float = 1,
) -> Any:
    r"""Certificate of a posterior whose training risk was itself estimated.

    .. math:: \mathrm{kl}^{-1}\Bigl( \hat r,\; \frac{\mathrm{KL} + \log(\text{choices})
        + \log(2 \sqrt m / (1 - s) \delta)}{m} \Bigr), \qquad
        \hat r = \mathrm{kl}^{-1}\Bigl( \text{sampled},\; \frac{\log(1/s\delta)}{\text{draws}}
        \Bigr), \quad s = \frac15

    Args:
        sampled: Mean over ``draws`` of the loss of a network drawn from the posterior, on one or
            more training examples drawn with it; from 0 to 1.
        draws: Independent draws, at least 1.
        kl: Of the posterior from the prior, nats, at least 0.
        m: Training examples that the prior does not depend on, at least 8.
        delta: Probability of failure, between 0 and 1.
        choices: Number of priors from which one was chosen with the sample in hand, at least 1.

    Returns:
        Bound on the mean risk of the posterior, and on that of its mean prediction.

    Raises:
        ValueError: a number is outside its range.

    Source: Langford and Caruana (2001), for the correction, which is Chernoff's bound; Dziugaite
    and Roy (2017), for the choice of the prior.
    """
    if not 1 <= choices < math.inf:
        raise ValueError(f"choices must be finite and at least 1, got {choices}")
    corrected = rivals.occam(sampled, 0.0, draws, delta / 5)
    return rivals.pac_bayes_kl(corrected, kl + math.log(choices), m, 0.8 * delta)


def price(risk: Tensor, nats: Tensor) -> Tensor:
    r"""Risk that a nat is worth: the slope of the kl bound in nats over its slope in the risk.

    .. math:: \mu = \Bigl[ \log \frac qr - \log \frac{1-q}{1-r} \Bigr]^{-1}, \qquad
        q = \mathrm{kl}^{-1}(r, \text{nats})

    So a step that lowers :math:`r + \mu \cdot \text{nats}` lowers the bound.

    Args:
        risk: r, between 0 and 1, both excluded.
        nats: Per example, positive.

    Source: implicit differentiation of kl(r, q) = nats.
    """
    if not ((risk > 0) & (risk < 1)).all():
        raise ValueError(f"risk must lie between 0 and 1, both excluded, got {risk.tolist()}")
    if not (nats > 0).all():
        raise ValueError(f"nats must be positive, got {nats.tolist()}")
    q = torch.as_tensor(rivals.kl_inverse(risk, nats)).clamp(max=1 - 1e-12)
    return 1 / ((q / risk).log() - ((1 - q) / (1 - risk)).log())


@dataclass(frozen=True)
class Posterior:
    r"""E diagonal Gaussians over weights, each with the prior that it is charged against.

    Attributes:
        mean: Every weight ``(E, ...)``.
        deviation: Standard deviations, shaped like it, positive.
        centre: Mean of the prior, shaped like it.
        width: Standard deviation of the prior, shape ``(E,)``, positive.
    """

    mean: Weights
    deviation: Weights
    centre: Weights
    width: Tensor

    def kl(self) -> Tensor:
        r"""Nats from the prior, shape ``(E,)``, float64.

        .. math:: \sum_i \log \frac{\lambda}{s_i} + \frac{s_i^2 + (\mu_i - c_i)^2}{2 \lambda^2}
            - \frac12
        """
        logs = {name: s.double().log() for name, s in self.deviation.items()}
        means = {name: v.double() for name, v in self.mean.items()}
        return _kl(means, logs, self.centre, self.width.double().log())

    def against(self, centre: Weights) -> Posterior:
        """The same Gaussians, charged against a prior around another centre, at its best width."""
        spread = [
            (s.square() + (self.mean[k] - centre[k]).square()).reshape(len(s), -1)
            for k, s in self.deviation.items()
        ]
        width = nearest_width(torch.cat(spread, 1).mean(1).sqrt())
        return replace(self, centre=dict(centre), width=width)

    def draw(self, generator: Generator) -> Weights:
        """One network from each."""
        return _perturbed(self.mean, self.deviation, generator)


def nearest_width(width: Tensor) -> Tensor:
    """The nearest of the :data:`WIDTHS` widths that a prior may have, in logarithm."""
    if not (width > 0).all():
        raise ValueError(f"width must be positive, got {width.tolist()}")
    return (-(-10 * width.log()).round().clamp(0, WIDTHS - 1) / 10).exp()


@validated
def fit(
    forward: Forward,
    start: Weights,
    centre: Weights,
    batch: Batches,
    m: int,
    *,
    steps: int,
    generator: Generator,
) -> Posterior:
    r"""Diagonal Gaussians whose kl bound is small, by gradient descent on means and deviations.

    A step lowers :math:`r + \mu K / m` with the risk r of one network a model, drawn anew, on a
    batch, and the :func:`price` :math:`\mu` at the running mean of r, refreshed every 25 steps.
    Learning rates start at 0.003 for the means and at ten times that for logarithms of deviations,
    which start at 0.03, and of widths, which start at 0.1; all rates fall linearly to 0. Outside
    [0, 1] the predictions in the loss have the slope 0.1, so that a gradient is left there. At the
    end widths are rounded by :func:`nearest_width`.

    Args:
        forward: ``forward(weights, inputs) -> (E, B)``, predictions before clipping to [0, 1].
        start: First means, each ``(E, ...)``.
        centre: Means of the priors, shaped like it; fixed before the m examples are seen.
        batch: Batches of the m examples, as of :mod:`helpers.training.batches`.
        m: Examples of each model, at least 8.
        steps: At least 1.
        generator: Source of the noise.

    Returns:
        The posteriors. No examples but those of ``batch`` were used.

    Raises:
        ValueError: shapes that do not fit, or a number outside its range.

    Cost: ``steps`` times a forward and a backward pass.

    Source: after Dziugaite and Roy (2017); the price is ours.
    """
    if {k: v.shape for k, v in start.items()} != {k: v.shape for k, v in centre.items()}:
        raise ValueError("start and centre must have weights of the same names and shapes")
    if m < 8:
        raise ValueError(f"m must be at least 8, got {m}")
    means = torch.cat([v.flatten(1) for v in start.values()], 1)  # (E, weights): fewer operations
    centres = torch.cat([centre[k].flatten(1) for k in start], 1)
    sizes = [v[0].numel() for v in start.values()]
    E = len(means)

    def apart(flat: Tensor) -> Weights:
        pieces = flat.split(sizes, 1)
        return {k: v.view_as(start[k]) for k, v in zip(start, pieces, strict=True)}

    live = {"mean": means, "log": torch.full_like(means, math.log(0.03))}
    live["width"] = torch.full((E,), math.log(0.1))
    extra = math.log(WIDTHS * 2 * math.sqrt(m) / 0.05)
    running = torch.full((E,), 0.1, dtype=torch.float64)
    worth = torch.ones(E)
    taken = 0

    def objective(weights: Weights, inputs: Tensor) -> Tensor:
        means, logs = ({"": weights[k]} for k in ("mean", "log"))
        drawn = _perturbed(means, {"": logs[""].exp()}, generator)[""]
        K = _kl(means, logs, {"": centres}, weights["width"])
        return torch.cat((forward(apart(drawn), inputs), K[:, None]), 1)

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        nonlocal taken
        predicted, K = outputs[:, :-1], outputs[:, -1]
        inside = predicted.clamp(0, 1)
        risk = (inside.detach() - targets).square().mean(1).double()
        memory = 0.98 if taken >= 20 else 0.5
        running.mul_(memory).add_(risk, alpha=1 - memory)
        if taken % 25 == 0:
            nats = (K.detach().double() + extra) / m
            worth.copy_(price(running.clamp(1e-4, 0.99), nats))
        taken += 1
        leaky = inside + 0.1 * (predicted - inside)
        return (leaky - targets).square().mean(1) + worth * K / m

    fitted = train(
        objective,
        live,
        batch,
        steps=steps,
        learning_rate=3e-3,
        weight_decay=0.0,
        rate_of={"log": 10.0, "width": 10.0},
        schedule=lambda step: 1 - (step - 1) / steps,
        loss=loss,
        check_every=steps,
        on_failure="raise",
        progress=False,
    ).weights
    return Posterior(
        *(apart(fitted["mean"]), apart(fitted["log"].exp()), dict(centre)),
        nearest_width(fitted["width"].exp()),
    )


@validated
@torch.no_grad()
def gibbs_risk(
    forward: Forward,
    posterior: Posterior,
    batch: Batches,
    draws: int,
    generator: Generator,
) -> tuple[Tensor, Tensor]:
    """Mean squared error of networks drawn from each posterior, outputs clipped to [0, 1].

    Args:
        forward: As for :func:`fit`.
        posterior: E of them.
        batch: Examples for a draw, independent from draw to draw.
        draws: Networks of each, at least 2.
        generator: Source of the noise.

    Returns:
        Mean and its standard error, each ``(E,)``, float64. Unbiased.
    """
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws}")
    models = torch.arange(len(posterior.width))
    found = []
    for _ in range(draws):
        inputs, targets = batch(models)
        outputs = forward(posterior.draw(generator), inputs).clamp(0, 1)
        found.append((outputs - targets).square().mean(1).double())
    values = torch.stack(found)
    return values.mean(0), values.std(0) / math.sqrt(draws)


def _kl(means: Weights, logs: Weights, centre: Weights, log_width: Tensor) -> Tensor:
    """KL of diagonal Gaussians from isotropic ones, shape ``(E,)``."""
    total = torch.zeros_like(log_width)
    inverse = (-2 * log_width).exp()[:, None] / 2
    for name, log_s in logs.items():
        shift = (means[name] - centre[name]).reshape(len(log_s), -1)
        log_s = log_s.reshape(len(log_s), -1)
        terms = log_width[:, None] - log_s + ((2 * log_s).exp() + shift.square()) * inverse - 0.5
        total = total + terms.sum(1)
    return total


def _perturbed(means: Weights, deviations: Weights, generator: Generator) -> Weights:
    return {
        k: v + deviations[k] * torch.randn(v.shape, generator=generator, dtype=v.dtype)
        for k, v in means.items()
    }
