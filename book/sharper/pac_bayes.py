# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---
# %% [markdown]
# (ch-pac-bayes)=
# # A PAC-Bayes bound, taken apart and put together
#
# ```{verdict}
# The algebra is right: it gives all four numbers quoted from the paper's example, such as $\sigma^* = {glue:text}`sigma_star:.5f`$. With a clipped output the theorem holds for posteriors chosen after the sample: the share of samples in which it fails is {glue:text}`fail_right:g`, and {glue:text}`fail_free:.2f` without its divergence.
# ```
# **Needs** {ref}`ch-construction`. **Read** 7 min. **Runs in** 10 s. **Source** quoted (the theorem), restored (its derivation).
#
# **Claim.** A network that fits its sample, is flat and has a small norm generalizes. Theorem 2 bounds its risk by a term with its sharpness and a term with its norm. At the best noise the bound falls like the inverse cube root of the number of examples. The algebra is right. But the derivation uses its constant $\Sigma$ for the spread of the loss at networks drawn from the prior, and there it is larger than where it was measured; clipping the output repairs that.
#
# ## The statement
#
# The *target* is $f = \sum_{i \le W} c_i\, p_{U_i}$ on strings $x$ of $T$ bits. Here $p_U(x)$ is 1 if the bits of $x$ in $U$ have an even sum, else 0; each set $U_i$ has $d$ members; $c_i > 0$ and $\sum_i c_i^2 = 1$. A network $f_\theta$ has the loss $\ell_\theta(x) = (f_\theta(x) - f(x))^2$. Its *risk* $R(\theta)$ is the mean loss over all strings, and $r(\theta)$ the mean over a sample of $m$ random ones. $\theta^*$ is the hand-written network of {ref}`ch-construction`. The paper bounds $\|\theta^*\|^2$ by $L$ and half the trace of its Hessian by $G_u$ (on the second see {ref}`ch-gradients-and-trace`), where
#
# $$L = 1 + W + 16d^2(d+1) + 8(d+1) + 4 (d + 1) W \log^2 T, \qquad G_u = 4 + 4W(2 + d + 32d^2 + 32d^3) .$$
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 2
# :label: sharper-thm2
# *(As quoted; its derivation is repaired below.)* Let $\hat\theta$ fit a sample of $m$ strings exactly, with norm and mean perturbed sharpness no larger than those of $\theta^*$. Let its loss be sub-Gaussian with constant $\Sigma$: for fixed $\theta$, $\mathbb E_x\, e^{\lambda (R(\theta) - \ell_\theta(x))} \le e^{\lambda^2 \Sigma^2/2}$ for all $\lambda > 0$. With $u$ a vector of independent standard normal numbers, with probability $1 - \delta$
#
# $$\mathbb E_u R(\hat\theta + \sigma u) \le \sigma^2 \bigl( G_u + P(\sigma) \bigr) + \Sigma \sqrt{\frac 2m \left( \frac{L}{2 \sigma^2} + \log \frac1\delta \right)} .$$
# ```
#
# $P(\sigma)$ is what the Hessian gains by the noise ({ref}`ch-semi-analytic-bound` measures it); without it and without $\log \frac1\delta$ the bound is called *truncated*. In the text that we could read the displayed formulas are missing. This one is quoted by a public reading note on the paper. What stands around it is restored from the words of the derivation.

# %% tags=["parameters"]
delta = 0.05  # probability with which the bounds may fail [0.01..0.2]
toy_bits = 8  # bits of the exact example [7..11]
toy_points = 64  # size of its samples [32..400]
draws = 4000  # samples drawn for each share of failures [1000..20000]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch
from torch.distributions import Normal

from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.book.table import table
from helpers.cube import index_of
from helpers.draws import Draws
from helpers.kernels.walsh import walsh_hadamard
from helpers.sharper import pac_bayes as pb
from helpers.sharper.network import construct, forward
from helpers.sharper.semi_analytic import tiling
from helpers.sharper.tabulated import gradient_bound
from helpers.statistics import power

ledger, source = Ledger("sharper/pac_bayes"), Draws(seed)
thm2 = ledger.result("sharper.thm2")
best_sigma, best_lambda = ledger.result("sharper.e2.sigma"), ledger.result("sharper.e2.lambda")
rate, divergence = ledger.result("sharper.e2.rate"), ledger.result("sharper.e2.kl")
PROVED = {"about": "statement", "evidence": "proved"}
ATTAINED = PROVED | {"evidence": "attained"}
SMALL = 0.01  # the constant with which the paper instantiates its bound
glue(delta=delta, toy_bits=toy_bits, toy_points=toy_points, draws=draws)

# %% [markdown]
# The paper's example (Appendix E.3) has $T = 20$ bits in ten pairs, so $d = 2$ and $W = 10$, with $c_i = W^{-1/2}$, a million examples and $\Sigma = 0.01$. {numref}`fig-pac-bayes-example` has its truncated bound. A constant has the risk $\frac14$ on this target without any learning.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The paper's example. Left: the truncated bound at a million examples and $\\Sigma = 0.01$ against $\\sigma$, its two terms, and the quoted $\\sigma^*$ (dotted). Right: its least value against the number of examples, with the paper's $\\Sigma$, with the least that it can be under the prior, and with the one that is valid for every clipped network.", "name": "fig-pac-bayes-example"}, "image": {"alt": "Two log-log plots. Left, the sharpness term rises with sigma, the norm term falls, and their sum has its least value, about one quarter, at the dotted line. Right, three parallel falling lines of slope minus one third: the line for Sigma 0.01 crosses one quarter near a million, the two others cross it four and five decades later."}} tags=["hide-input"]
G, L = gradient_bound(2, 10), pb.norm_squared(20, 2, 10)
fig, axes = figures.new(1, 2, height=3.0)
sigmas = torch.logspace(-3.5, -1.9, 60, dtype=torch.float64)
flat, norm = G * sigmas**2, SMALL * (L / 1e6) ** 0.5 / sigmas
for i, (y, label) in enumerate(((flat + norm, "bound"), (flat, "sharpness"), (norm, "norm"))):
    axes[0].plot(sigmas, y, **figures.line(i, label=label))
axes[0].axvline(2.27e-3, color=figures.GREY, linestyle=":", marker="")
axes[0].set(xscale="log", yscale="log", xlabel="noise $\\sigma$", ylabel="bound on the risk")
sizes = torch.logspace(4, 14, 41, dtype=torch.float64)
for i, (S, label) in enumerate(
    ((SMALL, "$\\Sigma = 0.01$"), (pb.square_spread(10), "prior"), (5.0, "$W/2$"))
):
    axes[1].plot(sizes, pb.truncated_optimum(L, G, sizes, S), **figures.line(i, label=label))
axes[1].set(xscale="log", yscale="log", xlabel="examples $m$")
for ax in axes:
    figures.level(ax, 0.25, "1/4")
    ax.legend(fontsize=8)
figures.show()

# %% [markdown]
# The reading note quotes four numbers of this example. We recompute them, with the norm as it stands and with its square left out.

# %%
QUOTED = pd.Series([15524, 1303.93, 2.27e-3, 0.24], ["G_u", "L", "best sigma", "truncated bound"])
HALF = [0.5, 0.005, 5e-6, 0.005]  # units of the last digit


def example(N):
    """The four numbers with N for the squared norm in the bound."""
    return [G, L, pb.optimal_sigma(N, G, 1e6, SMALL), pb.truncated_optimum(N, G, 1e6, SMALL)]


sigma_star, value = example(L)[2:]
numbers = pd.DataFrame({"quoted": QUOTED, "recomputed": example(L), "no square": example(L**0.5)})
far = numbers[["recomputed", "no square"]].sub(QUOTED, axis=0).abs().div(HALF, axis=0).max()
table(numbers.rename_axis("quantity"), "The paper's example at a million examples", form=".6g")
text = "the four quoted numbers, largest distance in half units of the last digit"
best_sigma.holds(text, far["recomputed"], at_most=1, control=far["no square"], **ATTAINED)
glue(sigma_star=sigma_star, value=value, nats=f"{L / (2 * sigma_star**2):.1e}")

# %% [markdown]
# All four come out, and only with the square. So the theorem has been read as it was meant, and the bound at a million examples is {glue:text}`value:.3f`. The price of the norm is {glue:text}`nats` nats; what makes the bound small in spite of it is $\Sigma$ ({numref}`fig-pac-bayes-example`, right).
#
# ## How the bound arises
#
# Fix a *prior* $\pi$, a law over weights chosen before the sample is seen. For one $\theta$, the mean of $e^{\lambda(R - r)}$ over samples is at most $e^{\lambda^2 \Sigma^2/(2m)}$. Average this over $\pi$. By Markov's inequality, with probability $1-\delta$, $\log \mathbb E_\pi e^{\lambda(R-r)} \le \lambda^2\Sigma^2/(2m) + \log\frac1\delta$. A change of measure carries it to every *posterior* $\rho$ at once, at the price of the divergence $\mathrm{KL}(\rho \| \pi)$:
#
# $$\mathbb E_\rho R \le \mathbb E_\rho r + \frac{\lambda \Sigma^2}{2m} + \frac{\mathrm{KL}(\rho\|\pi) + \log(1/\delta)}{\lambda} .$$ (eq-alquier)
#
# Theorem 2 has $\rho = \mathcal N(\hat\theta, \sigma^2 I)$, $\pi = \mathcal N(0, \sigma^2 I)$ and $\mathbb E_\rho r \le \sigma^2 (G_u + P)$. The rest is three lines.
#
# * **The divergence.** $\log \frac{\rho}{\pi}$ at $\theta + \sigma u$ is $(\|\theta + \sigma u\|^2 - \|\sigma u\|^2)/2\sigma^2$, of mean $\|\theta\|^2 / 2\sigma^2$.
# * **The best $\lambda$.** The last two terms of {eq}`eq-alquier` are equal at $\lambda = \sqrt{2m(\mathrm{KL} + \log(1/\delta))}/\Sigma$. That is allowed, with $L/2\sigma^2$ for the divergence: it is known before the sample.
# * **The best $\sigma$.** The truncated bound is $G_u \sigma^2 + \Sigma \sqrt{L/m} / \sigma$. Its derivative vanishes at $\sigma^*$, where one third of it is sharpness and two thirds are norm:
#
# $$\sigma^* = \Bigl( \frac{\Sigma}{2G_u} \sqrt{L/m} \Bigr)^{1/3}, \qquad B^* = 3 \Bigl( \frac{\Sigma^2 G_u L}{4m} \Bigr)^{1/3} .$$ (eq-optimum)
#
# Each is computed without its formula: the divergence from both log densities at draws around $\theta^*$, the optima on a grid, for the twenty classes of the paper's Figure 1.

# %% mystnb={"code_prompt_hide": "Optima without formulas", "code_prompt_show": "Optima without formulas"} tags=["hide-input"]
_, weights = construct(tiling(20))
theta = torch.cat([w.flatten() for w in weights.values()])
noisy = theta + sigma_star * source.normal(200, len(theta))
ratio = (Normal(theta, sigma_star).log_prob(noisy) - Normal(0.0, sigma_star).log_prob(noisy)).sum(1)
kl = pb.gaussian_kl(theta.square().sum().item(), sigma_star)

d, W = torch.tensor([(d, W) for d in range(1, 6) for W in (1, 7, 14, 20)]).T
N, G_all, m = pb.norm_squared(20, d, W), gradient_bound(d, W), 1e5
K = pb.gaussian_kl(N, sigma_star)
factors = torch.logspace(-2, 2, 401, dtype=torch.float64)[:, None]
factors = factors[(factors - 1).abs().flatten() > 1e-9]


def excess(curve, start):
    """Least relative excess of a curve away from ``start`` over its value there, all classes."""
    return (curve(factors * start) / curve(start) - 1).min().item()


lam, sigma = pb.optimal_lambda(K, m, delta, SMALL), pb.optimal_sigma(N, G_all, m, SMALL)
by_lambda = [excess(lambda x: pb.alquier(0, K, m, delta, SMALL, x), t * lam) for t in (1, 2)]
by_sigma = [
    excess(lambda s: G_all * s**2 + SMALL * (N / m) ** 0.5 / s, t * sigma) for t in (1, 1.26)
]
best = pb.bound(L, G, pb.optimal_sigma(L, G, sizes, SMALL, delta), sizes, SMALL, delta)
slopes = [
    power(sizes, y).item() for y in (best, pb.bound(L, G, 0.003, sizes, SMALL) - G * 0.003**2)
]

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
found = {
    "divergence drawn over |θ|²/2σ²": (ratio.mean() / kl).item(),
    "least excess of other λ over the best": by_lambda[0],
    "least excess of other σ over the best": by_sigma[0],
    "slope of the best bound in m": slopes[0],
    "slope of the norm term in m, σ fixed": slopes[1],
}
table(pd.Series(found, name="found").rename_axis("quantity"), "The derivation", form=".5f")
error = (ratio.std() / kl / len(ratio) ** 0.5).item()
root = ratio.mean() / pb.gaussian_kl(theta.norm().item(), sigma_star)
text = "divergence drawn over $\\lVert \\theta \\rVert^2/(2\\sigma^2)$"
drawn = ratio.mean() / kl
divergence.holds(text, drawn, equals=1, tol=5 * error, control=root, stderr=error, **PROVED)
for result, name, (best, moved) in (
    (best_lambda, "\\lambda", by_lambda),
    (best_sigma, "\\sigma", by_sigma),
):
    text = f"least excess of 400 other ${name}$ over the closed form, 20 classes"
    result.holds(text, best, at_least=0, control=moved, **PROVED)
text = "slope of the best bound against $m$ on log axes, $10^4 \\le m \\le 10^{14}$"
rate.holds(text, slopes[0], equals=-1 / 3, tol=1e-3, control=slopes[1], **PROVED)
text = "slope of the norm term at fixed $\\sigma$"
rate.holds(text, slopes[1], equals=-1 / 2, tol=1e-9, control=slopes[0], **PROVED)

# %% [markdown]
# ## The step that asks for more
#
# The average over $\pi$ matters: **the condition on $\Sigma$ is used at networks drawn from the prior.** Theorem 2 states it "for fixed" $\theta$. If that means every $\theta$, the derivation is complete. But then $\Sigma$ cannot be 0.01, the value with which the paper instantiates the bound, measured at trained networks. The centre of the prior is the network with all weights zero. It outputs 0, so its loss is $f(x)^2$, and a sub-Gaussian constant is never below the standard deviation. That is a binomial sum, since $\sqrt W f$ is binomial.

# %%
bits = source.strings(20, 4000)
spec, weights = construct(tiling(20))
there = (forward(spec, weights, bits) - tiling(20)(index_of(bits))).square()
at_network = pb.subgaussian_constant(there).item()
spread = {W: pb.square_spread(W) for W in (1, 10, 25)}
column = {"T": [20, 20, 50], "W": spread.keys(), "$\\Sigma$ at least": spread.values()}
table(column, "The constant at the centre of the prior, pairs", form=".3f")
thm2.refuted(
    "where the derivation averages: $\\Sigma \\le 0.1$ at the prior's centre, example of E.3",
    spread[10],
    at_most=0.1,
    control=at_network,
    about="proof",
    evidence="proved",
)
glue(times_1=spread[1] / SMALL, times_25=spread[25] / SMALL, spread_10=spread[10])
glue(times_10=spread[10] / SMALL)

# %% [markdown]
# At the hand-written network itself $\Sigma$ is below 0.1, as the paper finds at trained ones. At the prior's centre it is at least {glue:text}`spread_10:.2f` for the paper's example. Larger weights make it larger without end, and a Gaussian reaches them all. What $\Sigma = 0.01$ says at a trained network, and when the inequality holds all the same, is the subject of {ref}`ch-loss-constant`.
#
# ```{prf:theorem} Repaired (ours)
# :label: pac-bayes-repaired
# Clip every output to $[0, \sqrt W]$, where $f$ has its values. Let $\|\theta\|^2 \le L$ hold for a $\theta$ that may depend on the sample. Then with probability $1 - \delta$, for all such $\theta$ at once,
#
# $$\mathbb E_u R(\theta + \sigma u) \le \mathbb E_u r(\theta + \sigma u) + \frac W2 \sqrt{\frac 2m \left( \frac{L}{2 \sigma^2} + \log \frac1\delta \right)} .$$
# ```
#
# ```{dropdown} Proof
# The clipped loss lies in $[0, W]$ for every network, so Hoeffding's lemma gives the condition with $\Sigma = W/2$ for every network, those of the prior included. For independent strings $\mathbb E_S\, e^{\lambda (R - r)} \le e^{\lambda^2 W^2 / 8m}$. Average over $\pi$, exchange the two means, and use Markov's inequality. For any $\rho$, $\lambda\, \mathbb E_\rho (R - r) \le \mathrm{KL}(\rho \| \pi) + \log \mathbb E_\pi e^{\lambda (R - r)}$ (Donsker and Varadhan). The divergence is at most $L/2\sigma^2$; take the best $\lambda$ for that number. It does not depend on the sample. Clipping raises no loss, since $f$ lies in the interval; so where $\mathbb E_u r \le \sigma^2 (G_u + P)$ held before, it still does. $\square$
# ```
#
# ## Is every piece needed?
#
# A posterior fixed before the sample would say nothing here: no divergence would be needed. So it must be chosen **after** the sample, to flatter. The functions with values 0 and $\sqrt W$ that go by the parity of a set of bits are $2^n$ on strings of $n =$ {glue:text}`toy_bits` bits. One is the target, the other $K = 2^n - 1$ are predictors. The loss of a predictor is 0 or $W$, each for half of all strings, which is the spread that Hoeffding's lemma allows. A weight vector $\theta \in \mathbb R^K$ picks the predictor of its largest entry. The posterior $\mathcal N(a e_k, \sigma^2 I)$ has $a = 5\sigma$, so that it mostly picks $k$, and a divergence of 12.5 nats. For every sample, here of {glue:text}`toy_points` strings, $k$ is the predictor with the largest $R - r$.
#
# $W = 10$, as in the paper's example, and the unit of the weights is such that $a$ is the paper's norm, $\sqrt L = 36.1$. Each of three variants breaks one piece.

# %%
LEAD, WIDE = 5.0, 10.0  # a over sigma, and W
PIECES = {
    "the bound": (LEAD**2 / 2, WIDE / 2),
    "no divergence": (0.0, WIDE / 2),
    "norm not squared": (pb.gaussian_kl(L**0.5, L**0.5 / LEAD), WIDE / 2),
    "constant 0.01": (LEAD**2 / 2, SMALL),
}


def flattery(m, count):
    """R - r of every predictor on random samples, (count, 2^n); column 0 is the target."""
    at = torch.randint(0, 2**toy_bits, (count, m), generator=source.generator)
    counts = torch.zeros(count, 2**toy_bits, dtype=torch.float64)
    counts.scatter_add_(1, at, torch.ones_like(at, dtype=torch.float64))
    found = WIDE / 2 * walsh_hadamard(counts) / m
    found[:, 0] = 0
    return found


def chosen(found, lead):
    """R - r of the posterior around the most flattering predictor, by sample."""
    K, z = found.shape[1] - 1, torch.linspace(-6, lead + 8, 20001, dtype=torch.float64)
    wins = Normal(lead, 1.0).log_prob(z) + (K - 1) * Normal(0.0, 1.0).cdf(z).log()
    q, top = torch.trapezoid(wins.exp(), z), found.max(1).values  # q: it picks k
    return q * top + (1 - q) * (found.sum(1) - top) / (K - 1)


# %%
samples = flattery(toy_points, draws)
gap = chosen(samples, LEAD)
levels = {k: pb.alquier(0.0, *v[:1], toy_points, delta, v[1]) for k, v in PIECES.items()}
fails = {k: (gap > level).double().mean().item() for k, level in levels.items()}
rows = {"variant": fails.keys(), "right side": levels.values(), "fails": fails.values()}
table(rows, f"Share of {draws} samples in which the inequality fails", form=".4g")
for name in list(PIECES)[1:]:
    thm2.repaired(
        f"clipped, $\\Sigma = W/2$, posterior chosen after the sample: failures; control: {name}",
        fails["the bound"],
        at_most=delta,
        control=fails[name],
        **PROVED,
    )
glue(fail_right=fails["the bound"], fail_free=fails["no divergence"])
glue(fail_norm=fails["norm not squared"], fail_small=fails["constant 0.01"])

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Share of samples in which $\\mathbb E_\\rho R - \\mathbb E_\\rho r$ exceeds the value on the horizontal axis, the posterior chosen after the sample. Vertical lines: the right side of the bound and of its three broken variants. Horizontal: the share $\\delta$ that is allowed.", "name": "fig-pac-bayes-pieces"}, "image": {"alt": "A falling curve of the share of samples against the gap, from one to zero. The vertical line of the bound lies to the right of the whole curve. The lines without divergence and with the norm not squared cross it high above the allowed share, and the line of the constant 0.01 lies at the left edge, where the share is one."}} tags=["hide-input"]
fig, ax = figures.new(height=2.7)
ax.plot(gap.sort().values, torch.linspace(1, 0, draws), marker="", color="black")
for i, (name, level) in enumerate(levels.items()):
    ax.axvline(level, ymax=0.97, label=name, **figures.line(i))
figures.level(ax, delta, "$\\delta$")
ax.set(xlabel="risk less training risk, mean over the posterior", ylabel="share of samples")
ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(0.04, 0.5))
figures.show()

# %% [markdown]
# The share of samples in which the bound fails is {glue:text}`fail_right:g`. Without its divergence it is {glue:text}`fail_free:.2f`, with the norm in place of its square {glue:text}`fail_norm:.2f`, and with $\Sigma = 0.01$ {glue:text}`fail_small:.2f`, where {glue:text}`delta` is allowed.
#
# Two adversaries go further. One varies the sample size and $a/\sigma$. The other takes **all** posteriors: for fixed $\lambda$ the largest $\lambda\, \mathbb E_\rho(R - r) - \mathrm{KL}(\rho \| \pi)$ is $\log \mathbb E_\pi e^{\lambda(R - r)}$, and under this prior that is a mean over $K$ predictors.

# %% mystnb={"code_prompt_hide": "Two adversaries", "code_prompt_show": "Two adversaries"} tags=["hide-input"]
rows = []
for m in (toy_points // 4, toy_points, 4 * toy_points):
    found = flattery(m, draws // 2)
    lam = pb.optimal_lambda(math.log(found.shape[1] - 1), m, delta, WIDE / 2)
    moment = torch.logsumexp(lam * found[:, 1:], 1) - math.log(found.shape[1] - 1)
    allowed = lam**2 * (WIDE / 2) ** 2 / (2 * m) - math.log(delta)
    row = {"m": m, "any posterior fails": (moment > allowed).double().mean().item()}
    free = found.max(1).values > pb.alquier(0.0, 0.0, m, delta, WIDE / 2)
    row["no divergence"] = free.double().mean().item()
    for lead in (4.0, 5.0, 7.0):
        level = pb.alquier(0.0, lead**2 / 2, m, delta, WIDE / 2)
        row[f"gap over bound, a = {lead:g}σ"] = (chosen(found, lead) / level).max().item()
    rows.append(row)
hunted = pd.DataFrame(rows)
table(hunted, "Largest over the samples, and the share in which any posterior fails", form=".3g")
ledger.result("sharper.e2.alquier").holds(
    "share of samples in which the inequality fails for any posterior at all, largest of three sizes",
    hunted["any posterior fails"].max(),
    at_most=delta,
    control=hunted["no divergence"].min(),
    **PROVED,
)
closest = hunted.filter(like="over").max().max()
thm2.repaired(
    "gap over the bound's right side, largest over three sizes and three leads",
    closest,
    at_most=1,
    control=(gap / levels["no divergence"]).max(),
    about="statement",
    evidence="searched",
)
glue(closest=closest, any_fails=hunted["any posterior fails"].max())

# %% [markdown]
# The largest gap is {glue:text}`closest:.2f` of the bound, and a posterior of any kind violates {eq}`eq-alquier` in at most {glue:text}`any_fails:.3f` of the samples.
#
# ## What would falsify this
#
# One of the four quoted numbers off by more than its last digit; the control leaves the square out. A divergence, $\lambda$ or $\sigma$ better than the closed form, or another slope; the controls are optima shifted by a factor, and each slope for the other. For the proof gap: a constant of at most 0.1 at the prior's centre, as at the hand-written network. For the repaired theorem: more failures than $\delta$ allows; each control drops one piece, and fails often.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
coded = [
    pb.bound(N, gradient_bound(1, 1), 1e-5, 1e7, 0.01, 0.01) - 1e-10 * gradient_bound(1, 1)
    for N in (pb.norm_squared(50, 1, 1, "sinks") ** p for p in (0.5, 1.0))
]
PRINTED = 2.376740233010865  # by the authors' notebook
thm2.holds(
    "a 2025 plotting notebook: its norm term has $\\lVert \\theta \\rVert$, relative gap",
    abs(coded[0] / PRINTED - 1),
    at_most=0,
    tol=1e-12,
    control=abs(coded[1] / PRINTED - 1),
    about="code",
    evidence="attained",
)
glue(printed=PRINTED, with_square=coded[1])
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# We read the formulas of `generate_plots.ipynb`, a plotting notebook of 2025 in `paullintilhac/boolean_function_sensitivity`. A variable holds the *root* of the bound on $\|\theta\|^2$, and the divergence uses it as if it were the square. It prints one norm term, for $T = 50$, $m = 10^7$, $d = W = 1$, $\sigma = 10^{-5}$ and $\delta = \Sigma = 0.01$: {glue:text}`printed:.6f`, the value with the root to twelve digits. With the square it is {glue:text}`with_square:.4f`. This says nothing about Theorem 2, whose quoted numbers have the square, and we do not know whether a figure of the paper was made with that notebook.
#
# ## What we found
#
# * The algebra of the bound is right, and gives the numbers quoted from Appendix E.3: divergence, best $\lambda$, best $\sigma$, rate $m^{-1/3}$.
# * $\Sigma$ is used under the prior. There it is at least {glue:text}`times_1:.0f` to {glue:text}`times_25:.0f` times 0.01 for the paper's kind of target.
# * With a clipped output and $\Sigma = W/2$ the theorem is true, also for posteriors chosen after the sample. Each of its pieces is needed.
#
# ```{finding} sharper.thm2
# :title: The sub-Gaussian constant is needed under the prior
# :group: proof
#
# **Statement.** As quoted: with a loss that is $\Sigma$-sub-Gaussian for fixed $\theta$, the risk is at most sharpness plus norm term. The paper measures $\Sigma$ at trained networks (Appendix A) and takes 0.01.
#
# **Counterexample.** To the step, not to the inequality. The derivation averages the condition over the prior. At the prior's centre $\Sigma$ is at least {glue:text}`spread_10:.2f` for the paper's example, {glue:text}`times_10:.0f` times 0.01.
#
# **Why.** A network drawn from the prior outputs nearly 0, so its loss is nearly $f(x)^2$, which varies.
#
# **Repair.** Clip the output to $[0, \sqrt W]$ and take $\Sigma = W/2$, by Hoeffding's lemma. With posteriors chosen after the sample the share of samples in which the bound fails is then {glue:text}`fail_right:g`, where {glue:text}`delta` is allowed; with $\Sigma = 0.01$ it is {glue:text}`fail_small:.2f`.
#
# **What survives.** The form of the bound, the closed-form $\sigma$ and the rate $m^{-1/3}$. If $\Sigma$ is meant at the networks near $\hat\theta$, the inequality holds in the paper's example for every sample, by an argument that needs no prior ({ref}`ch-loss-constant`).
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-pac-bayes-centre
#
# The prior is centred at 0. Let it be centred at a network that is known before the sample. What replaces $\|\theta\|^2$, and what remains of the bound if the learner ends there?
# ```
#
# ```{solution} ex-pac-bayes-centre
# :class: dropdown
#
# The squared distance. At distance 0 the divergence vanishes, $\sigma$ may be tiny, and $\Sigma \sqrt{2 \log(1/\delta) / m}$ remains.
# ```
#
# ```{exercise}
# :label: ex-pac-bayes-width
#
# Give the prior a width $\tau$ of its own. For $D$ weights the divergence is $\frac{N}{2\tau^2} + \frac D2\bigl(\frac{\sigma^2}{\tau^2} - 1 - \log\frac{\sigma^2}{\tau^2}\bigr)$ with $N = \|\theta\|^2$. Is $\tau = \sigma$ a good choice?
# ```
#
# ```{solution} ex-pac-bayes-width
# :class: dropdown
#
# No. The best $\tau^2$ is $\sigma^2 + N / D$, and the divergence becomes $\frac D2 \log(1 + \frac{N}{D \sigma^2})$: it grows like a logarithm as $\sigma$ falls, not like $\sigma^{-2}$. The table has the network of the paper's example. {ref}`ch-loss-constant` says what that saves in examples.
# ```

# %% mystnb={"code_prompt_hide": "Solution", "code_prompt_show": "Solution"} tags=["hide-cell"]
at = torch.tensor([0.1, 0.01, sigma_star, 0.001], dtype=torch.float64)
size = theta.square().sum().item()
rows = {"sigma": at, "tau = sigma": pb.gaussian_kl(size, at)}
rows["best tau"] = pb.own_width_kl(size, at, len(theta))
table(rows, f"Divergence in nats, {len(theta)} weights", form=".4g")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem is from {cite:t}`sharper`, after a bound in the survey of {cite:t}`alquier2024`.
