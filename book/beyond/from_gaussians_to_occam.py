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
# (ch-from-gaussians-to-occam)=
# # From Gaussians to Occam
#
# ```{verdict}
# Whether flatness helps a PAC-Bayes bound depends on its prior, the distribution over networks that is fixed before the data. If the prior is a mixture of Gaussians around {glue:text}`list_size` hand-written networks, one for each pair of {glue:text}`n` bits, flatness gains next to nothing. Of fourteen sizes of noise the smallest gives the best bound. Up to a logarithm of the number of examples this is the bound of Occam, which only counts the networks. If the prior is one Gaussian, wider than the noise, flatness does help. But then the bound needs up to {glue:text}`wide_over:.0f` times as many examples as Occam's.
# ```
# **Needs** {ref}`ch-three-rates`. **Read** 13 min. **Runs in** 20 s. **Source** ours; the inequality is well known.
#
# **Claim.** A PAC-Bayes bound with a Gaussian around 0 as prior grows with the norm of the network and becomes smaller with its flatness. Take instead as prior the mixture of Gaussians around all networks that could have been written by hand. Then the KL divergence is at most the logarithm of their number, whatever the norm. For the list of this chapter, one network for each pair of bits, flatness then gains next to nothing. The best bound is that of Occam, except for a logarithm of the number of examples in its numerator. The number of examples that the resulting bound needs is within a small factor of what any learner needs if it must return a network of the list. With a single Gaussian as prior that is wider than the posterior, flatness does count: twice the noise saves nearly $\log 2$ of the KL divergence for each weight in use.
#
# ## Why one should care
#
# That flat minima generalize is one of the most popular explanations in deep learning, and PAC-Bayes bounds are the usual way to make it precise. A flat minimum tolerates noise in its weights, and the noise makes the KL divergence from the prior smaller. But the size of this effect depends on the prior, which the theorem leaves free. If another prior makes the same bound much smaller without any noise, flatness explains little of what the bound can say.
#
# To decide whether this is so we need an example in which every prior of interest can be computed. A list of networks that were written by hand is such an example, because we know all the networks that the learner could have returned.
#
# ## Three priors for one weight, by hand
#
# Suppose that a weight can only be 0 or 1, that our network has 1, and that noise of deviation $s$ is added. The *cost* of this weight in a PAC-Bayes bound is the KL divergence of $N(1, s^2)$ from a prior that does not know the value. How large is this cost for three priors?
#
# * *A Gaussian around 0, as narrow as the noise.* The divergence of $N(1, s^2)$ from $N(0, s^2)$ is $1 / 2s^2$.
# * *A Gaussian around 0, wider than the noise.* With the best width, $N(0, 1 + s^2)$, the divergence is $\frac12 \log(1 + 1/s^2)$.
# * *A mixture.* Half of the prior is around each of the two values, $\frac12 N(0, s^2) + \frac12 N(1, s^2)$. Its density is at least half that of $N(1, s^2)$, so the divergence is at most $\log 2$.
#
# | KL divergence in nats, at noise $s =$ | 1 | 0.1 | 0.01 |
# |:--|:--|:--|:--|
# | narrow Gaussian | 0.50 | 50 | 5000 |
# | wide Gaussian | 0.35 | 2.3 | 4.6 |
# | mixture, at most | 0.69 | 0.69 | 0.69 |
#
# The narrow Gaussian pays for small noise with the square of $1/s$, the wide one pays with the logarithm of $1/s$, and the mixture pays one bit, $\log 2$, whatever the noise is. So with a narrow prior it matters very much how much noise a weight tolerates, with a wide one it matters a little, and with the mixture it hardly matters.
#
# ## The statement
#
# The setting is that of {ref}`ch-three-rates`. The target is the even-parity indicator of $d$ of $T$ bits, which is 1 if an even number of these bits are 1, and 0 otherwise. The network is the one written by hand in {ref}`ch-construction`, in the version that equals the target. The list has $|H| = \binom Td$ such networks, with weights $\theta_1, \dots, \theta_{|H|} \in \mathbb R^p$. The loss is the squared error with outputs clipped to $[0, 1]$.
#
# ```{prf:proposition} ours
# :label: beyond-occam-mixture
# If the prior is $\pi = \sum_h w_h\, N(\theta_h, \Sigma_h)$, with weights $w_h > 0$ that add up to 1, then
#
# $$\mathrm{KL}\bigl( N(\theta_h, \Sigma_h) \,\big\|\, \pi \bigr) \le \log \frac 1{w_h} .$$
#
# As all $\Sigma_h \to 0$, with distinct $\theta_h$, the two sides become equal.
#
# Let all $w_h = 1/|H|$ and let $K$ be the mean over $h$ of the left side. If the mean over $h$ of the risk under the noise is $R$, then, whatever the $\Sigma_h$,
#
# $$K \ge (1 - 8R) \log |H| - \log 2 .$$
# ```
#
# **The idea of the proof.** A mixture is at least as large as each of its parts, so the KL divergence of one part from the mixture is at most the logarithm of one over the share of this part. If the noise is small, the parts do not overlap, and nothing is lost. If the noise is so large that they overlap, the noisy networks can no longer be distinguished by their weights, nor by their outputs, and then they err.
#
# ````{dropdown} Proof
# The three statements are proved one after the other: the inequality, its limit, and the bound from below by Fano's inequality.
#
# *At most.* At every point the density of $\pi$ is at least $w_h$ times that of $\varphi_h$, the density of $N(\theta_h, \Sigma_h)$. So the logarithm of their quotient is at most $\log 1/w_h$, and so is its mean.
#
# *In the limit.* The two sides differ by the mean of $\log (1 + \sum_{k \ne h} w_k \varphi_k / w_h \varphi_h)$ under $\varphi_h$. As $\log(1 + u) \le \sqrt u$, and the root of a sum is at most the sum of the roots, it is at most $\sum_{k \ne h} \sqrt{w_k / w_h} \int \sqrt{\varphi_k \varphi_h}$. The integral is at most $e^{-\|\theta_h - \theta_k\|^2 / 8 \lambda}$ with $\lambda$ the largest variance in any direction.
#
# *At least.* $K$ is the mutual information between $h$, drawn uniformly, and the weights of a noisy network. To guess $h$ from it, take the indicator nearest to its outputs. Two indicators have the squared distance $\frac12$, so the guess is wrong only if the noisy network has a risk of at least $\frac18$, which has at most the chance $8R$ by Markov's inequality. By Fano's inequality a guess that is wrong with at most this probability needs at least the information that is claimed.
# ````
#
# What does the proposition say about the bound? Take equal weights $w_h$ and $\Sigma_h = \sigma^2 I$. From $m$ examples and with probability $1 - \delta$ the PAC-Bayes bound on the risk is $\mathrm{kl}^{-1}(\hat R, (K + \log \frac{2\sqrt m}\delta)/m)$, where $\hat R$ is the training risk under the noise and $K \le \log |H|$ the divergence. Here $\mathrm{kl}^{-1}(\hat R, c)$ is the largest risk $r$ for which the KL divergence between two coins, with probabilities $\hat R$ and $r$, is at most $c$.
#
# * *Without noise.* As $\sigma \to 0$ this is Occam's bound $\mathrm{kl}^{-1}(0, (\log|H| + \log \frac 1\delta)/m)$, except that its numerator has the additional summand $\log (2 \sqrt m)$.
# * *With noise.* Noise can help only by making $K$ smaller. By the proposition noise of any shape saves at most $\log 2 + 8 R \log |H|$ nats, where $R$ is the risk under the noise, because networks that cannot be distinguished have a high risk.
# * *On a finer list,* such as sums with coefficients of many digits, neighbouring networks overlap while the risk is still small, and there noise can make the bound smaller.

# %% tags=["parameters"]
n = 10  # bits, the paper's T [8..12]
degree = 2  # size of the sets [1..2]
far = 20  # bits of the second case [16..24]
pairs = 2000  # draws of noise and input for each risk [1000..20000]
draws = 2000  # of noise for a divergence [500..20000]
level = 0.25  # risk to certify; a quarter is the risk of the best constant [0.05..0.25]
confidence = 0.05  # probability that a bound fails [0.01..0.1]
seed = 0  # of noise, inputs and samples [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import itertools
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, in_prose, table
from helpers import cube, statistics
from helpers.rng import Rng, f64
from papers.beyond import small_noise
from papers.sharper import pac_bayes, rivals
from papers.sharper.network import construct_exact
from papers.sharper.tabulated import gradient_bound

ledger, source = Ledger("beyond/from_gaussians_to_occam"), Rng(seed)
occam = ledger.result("beyond.occam")


class Parity:
    """The network of one parity of n bits, its blocks, and what noise does to it."""

    def __init__(self, n, members=range(degree)):
        mask = torch.tensor([cube.mask_of([k + 1 for k in members])])
        self.f = cube.SparseFunction(n, mask, f64([1.0]), "even_parity")
        self.spec, self.weights = construct_exact(self.f)

    def measure(self):
        """Blocks with norms, sharpness and counts; strings with targets."""
        n, self.groups = self.spec.n, small_noise.blocks(self.spec)
        self.bits = torch.randint(0, 2, (pairs, n), generator=source.generator)
        slopes = small_noise.mean_squared_gradient(self.spec, self.weights, self.bits[:1024])
        self.N = self.groups.sums({k: v.square() for k, v in self.weights.items()})
        self.G, self.counts = self.groups.sums(slopes), self.groups.counts
        return self

    def risk(self, groups, s):
        """Mean clipped loss under noise of these deviations; the same directions each time."""
        noise, spread = torch.Generator().manual_seed(seed + 1), groups.spread(s)
        y = self.f(cube.index_of(self.bits))
        found, _ = small_noise.perturbed_risk(
            self.spec, self.weights, spread, y, self.bits, noise, 1.0
        )
        return min(found, 1.0)


everyone = [Parity(n, members) for members in itertools.combinations(range(n), degree)]
centres = torch.stack([torch.cat([v.flatten() for v in e.weights.values()]) for e in everyone])
log_size, network = math.log(len(centres)), everyone[0].measure()
norm = float(network.N.sum())
glue(n=n, degree=degree, list_size=len(centres), log_size=log_size)

# %% [markdown]
# ## What noise gains
#
# Does noise help on this list? We write down all the networks of the list, and increase the noise from almost none to so much that the networks compute nothing. At each $\sigma$ we compute the risk $R$ of the noisy network, its divergence $K$ from the mixture, and for comparison its divergence from the Gaussian around 0, $\|\theta\|^2 / 2 \sigma^2$. In the bounds the number $R$, estimated from random draws, takes the place of the training risk, so these bounds are what one would get on average, and not certificates with every error counted. If flatness helped with the mixture, some noise would make $K$ clearly smaller while the risk is still small.

# %%
sigmas = [1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 10.0]
whole = small_noise.whole(network.spec)
walk = pd.DataFrame({"σ": sigmas, "around 0": [norm / (2 * s**2) for s in sigmas]})
walk["R"] = [network.risk(whole, f64([s])) for s in sigmas]
walk["mixture"] = [
    small_noise.mixture_kl(centres, 0, s, draws, source.generator)[0] for s in sigmas
]

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: the KL divergence of the noisy network from two priors, the mixture and one Gaussian around 0, against the noise; grey line, $\\log |H|$. Right: the risk of the noisy network; grey line, that of the best constant. The divergence from the mixture decreases only where the risk is already about $\\frac12$, that of guessing by a coin.", "name": "fig-mixture"}, "image": {"alt": "Two panels against the standard deviation of the noise, from one ten-thousandth to 10. Left, the divergence from the mixture is level at 3.8 nats until a deviation near 1 and then falls; the divergence from the Gaussian around 0 falls from ten billion nats and meets it only at a deviation near 10. Right, the risk is near zero up to a hundredth, passes one quarter below a tenth, and is one half beyond."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.1)
for i, prior in enumerate(("mixture", "around 0")):
    axes[0].plot(walk["σ"], walk[prior], label=prior, **figures.series_style(i))
figures.level(axes[0], log_size)
axes[0].set(xscale="log", yscale="log", xlabel=r"noise $\sigma$", ylabel="KL, nats")
axes[0].set(ylim=(0.05, 1e11))
axes[0].legend()
axes[1].plot(walk["σ"], walk["R"], **figures.series_style(0))
figures.level(axes[1], 0.25)
axes[1].set(xscale="log", xlabel=r"noise $\sigma$", ylabel="risk $R$")
figures.show()

# %%
rows = []
for m in (16, 100, 1000, 10_000, 1_000_000):
    row = {"samples": m}
    for prior in ("mixture", "around 0"):
        bound = rivals.pac_bayes_kl(*f64(walk[["R", prior]].to_numpy().T.tolist()), m, confidence)
        row |= {f"{prior}, best σ": sigmas[int(bound.argmin())], f"{prior}, bound": bound.min()}
        row[f"{prior}, gain"] = bound.min() / bound[0]
    rows.append(row | {"Occam": rivals.occam(0.0, log_size, m, confidence)})
gains = pd.DataFrame(rows).map(float).astype({"samples": int})
caption = "Bounds on the risk with the best noise σ for two priors, and Occam's bound"
told = gains.drop(columns=["mixture, gain", "around 0, gain"])
told = told.set_index("samples").map(lambda v: in_prose(f"{v:.4g}"))
table(told, caption)
twice = torch.cat((centres[:1], centres[:1], centres[2:]))
fresh = torch.Generator().manual_seed(seed + 2)
without = []  # control: a mixture around all the other networks, ours left out
for s in sigmas:
    apart = (centres[0] - centres[1:]) / s
    z = torch.randn(draws, centres.shape[1], generator=fresh, dtype=torch.float64)
    exponents = -apart.square().sum(1) / 2 - z @ apart.T
    without.append(math.log(len(apart)) - exponents.logsumexp(1).mean().item())
left_out = [
    rivals.pac_bayes_kl(*f64([walk["R"].tolist(), without]), m, confidence)
    for m in gains["samples"]
]
occam.holds(
    "ratio of the divergence from the mixture to $\\log |H|$ at the least noise; control: "
    "one network stands twice in the list",
    walk["mixture"].iloc[0] / log_size,
    equals=1,
    tol=1e-9,
    control=small_noise.mixture_kl(twice, 0, sigmas[0], draws, source.generator)[0] / log_size,
    about="ours",
    evidence="sampled",
)
occam.holds(
    "mixture as prior: ratio of the bound with the best noise to that with the least noise,"
    " least over $m$; control: a mixture without our network",
    gains["mixture, gain"].min(),
    at_least=0.95,
    control=min((bound.min() / bound[0]).item() for bound in left_out),
    about="ours",
    evidence="sampled",
)
glue(norm_nats=walk["around 0"][3], mixture_gain=gains["mixture, gain"].min())

# %% [markdown]
# In the left panel of {numref}`fig-mixture` the divergence from the mixture stays level at $\log |H|$ until $\sigma$ is near 1. In the right panel the risk has passed $\frac14$ long before. So at none of the noises that we tried is the divergence from the mixture smaller while the network still works. At $\sigma = 0.01$, where the risk is small, the divergence is {glue:text}`norm_nats:.0f` nats from the Gaussian around 0, and {glue:text}`log_size:.1f` from the mixture.
#
# The table says the same of the bounds. With the mixture the best noise at every $m$ is the smallest, whereas with the Gaussian around 0 the bound is vacuous unless there is much noise.
#
# ## How good is Occam?
#
# How many examples does any learner need, whatever its bound? A learner that must return one of the $|H|$ networks has to name the right set, since any other errs on half of all strings and has the risk $\frac12$. Each label is a bit, so $m$ labels distinguish at most $2^m$ of the functions, and nobody names the right one with probability above $2^m / |H|$ if all are equally likely. On the other side, a wrong parity agrees with the truth on $m$ random strings with probability $2^{-m}$, so with $m \ge \log_2 (|H| / \delta)$ the only consistent one is the right one, with probability $1 - \delta$.
#
# This lower limit, $\log_2 |H|$ labels if the learner is never to fail, is for learners that must return a network of the list. A learner that may return any function can have a small risk without naming a set. For example, the mean of all $|H|$ indicators needs no sample at all. Two indicators differ on half of the strings, so its risk is $\frac{|H| - 1}{4 |H|}$ whichever is the truth, and this is already below $\frac14$. The folded cell computes it.

# %% mystnb={"code_prompt_hide": "A check", "code_prompt_show": "A check"} tags=["hide-input"]
values = torch.stack([each.f(torch.arange(2**n)) for each in everyone])
mean_risk = (values - values.mean(0)).square().mean(1).max().item()
occam.holds(
    "largest risk of the mean of all indicators, which uses no sample; control: risk of "
    "another indicator",
    mean_risk,
    at_most=0.25,
    control=(values[0] - values[1]).square().mean().item(),
    about="ours",
    evidence="exhaustive",
)
glue(mean_risk=mean_risk)

# %% [markdown]
# ## What survives of flatness
#
# The prior around 0 with the posterior's own variance is a poor choice even among Gaussians, as the example with one weight shows. So let the prior be wider. We divide the weights into groups, such as the blocks of the network. On group $g$ of $n_g$ weights with squared norm $N_g$ the prior has the variance $\tau_g^2$, and the posterior has $s_g^2$. At the best width $\tau_g$ the divergence is
#
# ```{math}
# :label: eq-wide-prior
# K = \sum_g \frac{n_g}2 \log \Bigl( 1 + \frac{N_g}{n_g s_g^2} \Bigr) .
# ```
#
# This divergence is never more than $\sum_g N_g / 2 s_g^2$, that of the narrow prior, since $\log(1 + u) \le u$, and it grows only with the logarithm of $1/s_g$. Groups that no function uses have $N_g = 0$ and cost nothing. Let $P$ be the number of used weights, those in groups with $N_g > 0$. If the noise has the size that is best for $m$ samples, $K$ is about $\frac P2 \log m$. So the *certificate*, that is, the bound on the risk, falls as $\frac{\log m}m$, not as $m^{-1/2}$.
#
# A prior must not depend on the target, and this one does not. Its widths follow from the norms $N_g$ and the deviations $s_g$, and the $s_g$ are chosen from the mean squared gradients. For one term ($W = 1$), as here, the norms depend only on the sizes $T$ and $d$, and by symmetry so do the mean squared gradients.
#
# With this prior flatness counts, because twice the noise at the same risk saves nearly $\log 2$ nats for each used weight. This is known as the description length of a network {cite:p}`hinton1993,hochreiter1997`: a flat minimum can be written down with fewer digits. We compute four certificates for the same network: with this wider prior, with the narrow one for the same posteriors, with the mixture, and by counting (Occam).


# %%
def wide_pairs(network, caps=(0.03, 0.06, 0.1), prices=range(-18, -3)):
    """Risk, nats from the wider and from the tied prior, over caps and prices of a nat."""
    found = []
    for cap, k in itertools.product(caps, prices):
        s = small_noise.wide_deviations(network.N, network.G, network.counts, 10 ** (k / 2), cap)
        wide = small_noise.wide_kl(network.N, network.counts, s)
        found.append((network.risk(network.groups, s), wide, small_noise.kl(network.N, s)))
    return f64(found).T


def certificate(risk, K, m):
    """The best pair at m samples, with log 100 for the choice."""
    return rivals.pac_bayes_kl(risk, K + math.log(100), max(m, 8), confidence).min().item()


risk, wide, tied = wide_pairs(network)
grid = [10.0**k for k in range(2, 9)]
curves = {
    "Gaussian, by block": [certificate(risk, tied, m) for m in grid],
    "wider prior, by block": [certificate(risk, wide, m) for m in grid],
    "mixture": [rivals.pac_bayes_kl(0.0, log_size, m, confidence) for m in grid],
    "Occam": [rivals.occam(0.0, log_size, m, confidence) for m in grid],
}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Four bounds on the risk for one parity with training error 0, against the number of samples. *By block*: the noise has its own size in each block of weights. Grey line: the risk of the best constant.", "name": "fig-from-gaussians"}, "image": {"alt": "Four falling curves. The Gaussian form with the posterior's variance lies highest, with slope one half at the right. The wider prior crosses the grey line near a thousand samples and then falls almost with slope one. The mixture and Occam's bound lie about two decades below it, almost on each other."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
for i, (name, values) in enumerate(curves.items()):
    ax.plot(grid, values, label=name, **figures.series_style(i))
figures.level(ax, 0.25)
ax.set(xscale="log", yscale="log", xlabel="samples $m$", ylabel="certified risk")
ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.27))
figures.show()

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
slope = {k: statistics.power(grid[-3:], v[-3:]).item() for k, v in curves.items()}
occam.holds(
    "power of $m$ with which the certificate with the wider prior falls; control: the "
    "narrow prior with the same posteriors",
    slope["wider prior, by block"],
    at_most=-0.75,  # nearer to a rate of 1 than to one of 1/2
    control=slope["Gaussian, by block"],
    about="ours",
    evidence="sampled",
)
glue(list_bits=n, used=int(network.counts[network.N > 0].sum()))
glue(wide_slope=slope["wider prior, by block"])

# %% [markdown]
# In {numref}`fig-from-gaussians` the narrow prior (*Gaussian, by block*) gives the highest curve, which decreases most slowly. The wider prior crosses the grey line near a thousand samples. From then on it falls almost as fast as the two lowest curves, those of the mixture and of Occam, which lie about two decades below.
#
# ## How many samples each bound needs
#
# How many samples are needed until a risk below {glue:text}`level` is certain? We answer for {glue:text}`n` and for {glue:text}`far` bits, and {numref}`fig-yardsticks` has a row for each answer:
#
# * *To name one of the list* is the lower limit of the section *How good is Occam?*, $\log_2 |H|$ samples. It is no limit for learners that may return anything: the mean of all {glue:text}`list_size` indicators has the risk {glue:text}`mean_risk:.3f` without a sample.
# * *Identification* is the number of samples at which the only consistent set is the right one, with probability $1 - \delta$.
# * *Held out* is the plain bound on a test set, where half of the samples are not used to train and the predictor makes no mistake on them.
# * *Occam*, *mixture* and *wider prior, by block* are the bounds of this page.
# * *Gaussian, by block* and *Gaussian, one variance* have a prior around 0 with the posterior's variance, as in {ref}`ch-three-rates`: at small noise and without the term for the confidence, which changes them by a few per cent.
# * *The paper's form, proved constant* has the constant that is proved for a loss in $[0, 1]$, and the measured norm and gradient of our network.
# * *The paper's form, its constant* is the PAC-Bayes bound of the first paper, its Theorem 2, truncated, that is, without its term for the growth of the sharpness under noise. It has the paper's bounds on norm and gradient, and the paper's own constant for the spread of the loss, $\Sigma = 0.01$ (a number, and not one of the covariances $\Sigma_h$). No proof covers this constant for these networks ({ref}`ch-loss-constant`).


# %%
def yardsticks(network, risk, wide):
    """Samples for the level, by each way to bound the risk of one parity."""
    size = math.log(math.comb(network.spec.n, degree))
    total = small_noise.sample_sizes(float(network.N.sum() * network.G.sum()), level)
    by_block = small_noise.sample_sizes(small_noise.constant(network.N, network.G), level)

    G, N = gradient_bound(degree, 1), pac_bayes.norm_squared(network.spec.n, degree, 1)

    def needed(curve):
        return float(pac_bayes.first_sample_size(curve, level))

    return {
        "to name one of the list": size / math.log(2),
        "identification": float(math.ceil((size - math.log(confidence)) / math.log(2))),
        "held out": 2.0 * math.ceil(math.log(confidence) / math.log(1 - level)),
        "Occam": float(rivals.occam_sample_size(size, confidence, level)),
        "mixture": needed(lambda m: rivals.pac_bayes_kl(0.0, size, max(m, 8), confidence)),
        "wider prior, by block": needed(lambda m: certificate(risk, wide, m)),
        "Gaussian, by block": by_block[1],
        "Gaussian, one variance": total[1],
        "the paper's form, proved constant": total[0],
        "the paper's form, its constant": float(27e-4 * G * N / (4 * level**3)),
    }


longer = Parity(far).measure()
rows = {
    f"T = {n}": yardsticks(network, risk, wide),
    f"T = {far}": yardsticks(longer, *wide_pairs(longer, (0.06, 0.1), range(-9, -3))[:2]),
}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Samples until a risk below a quarter is certain, for one parity of $T$ bits. The top row, to name one of the list, is a lower limit for learners that must return one of its networks, and for no others: the mean of all of them has a risk below a quarter without a sample.", "name": "fig-yardsticks"}, "image": {"alt": "Ten rows of two marks each on a logarithmic axis from 1 to one hundred million samples. From the top: to name one of the list, about 6; identification, about 10; held out, 22; Occam and the mixture, about 25 to 40; the wider prior, about a thousand; the Gaussian by block, a quarter of a million; the Gaussian with one variance and the paper's form with the proved constant, several millions; the paper's form with its own constant, some twenty thousand."}} tags=["hide-input"]
fig, ax = figures.new(height=3.7)
samples = pd.DataFrame(rows)
for i, name in enumerate(samples):
    ax.plot(samples[name], range(len(samples)), **figures.marker_style(i, label=f"${name}$"))
ax.set_yticks(range(len(samples)), list(samples.index))
ax.invert_yaxis()
ax.set(xscale="log", xlabel="samples $m$")
ax.legend()
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers, and a check", "code_prompt_show": "The numbers, and a check"} tags=["hide-input"]
told = samples.map(math.ceil).astype(float).rename_axis("bound")
table(told, f"Samples until a risk of {level} is certain, rounded up", form=",.0f")
over = samples / samples.loc["Occam"]
free = pac_bayes.first_sample_size(lambda m: certificate(risk, 0 * tied, m), level)
occam.holds(
    "least ratio of the samples that the Gaussian by block needs to those that Occam's "
    "bound needs; control: the Gaussian without its divergence",
    over.loc["Gaussian, by block"].min(),
    at_least=100,
    control=free / samples.loc["Occam"].min(),
    about="ours",
    evidence="sampled",
)
glue(far=far, level=level, wide_over=over.loc["wider prior, by block"].max())
glue(premise=samples.loc["the paper's form, its constant"].max())
glue(occam_over=(samples.loc["Occam"] / samples.iloc[0]).max())
glue(block_over=over.loc["Gaussian, by block"].max())

# %% [markdown]
# We read {numref}`fig-yardsticks` from the top. The first five rows need at most some forty samples, and their marks for the two lengths nearly coincide. The wider prior needs more than a thousand, and the three rows below it need between some two hundred thousand and twelve million. The last row, with the paper's constant, needs some twenty thousand, which is fewer than three rows above it, but no proof covers this constant.
#
# ## What we found
#
# * With the mixture over this list as prior a certificate does not depend on the norm of the network and gains nothing from noise. The best certificate over the noise that we tried is {glue:text}`mixture_gain:.3f` times that with the least noise. No noise of any shape saves more than $\log 2 + 8 R \log |H|$ nats, where $R$ is the risk under the noise. (For this short list the second statement says something only if $R$ is below about 0.1, since above this risk it allows a saving of all the $\log |H|$ nats.)
# * Occam's bound needs at most {glue:text}`occam_over:.1f` times as many samples as the limit for learners that must return one of the list (the limit is taken before it is rounded up). The narrow Gaussian, whose variance in each block of weights is that of the posterior (*Gaussian, by block*), needs up to {glue:text}`block_over:.0f` times as many as Occam's.
# * A prior that is wider than the posterior (*wider prior, by block*) repairs most of this. It needs up to {glue:text}`wide_over:.0f` times Occam's samples, and its certificate decreases with $m$ like a power of exponent {glue:text}`wide_slope:.2f`. Here flatness counts: if the variance of the noise grows by a factor, the divergence falls by nearly half the logarithm of this factor for each of the {glue:text}`used` used weights. {ref}`ch-from-flatness-to-counting` compares both bounds on a harder function.
# * None of the Gaussian certificates is about the learner. Occam's bound holds for every learner that returns one of these networks. Whether gradient descent returns one is another question. In {ref}`ch-learned-circuits` trained networks find the same bits, but those whose attention may depend on the bits compute the parity in another way.
#
# ## What would falsify this
#
# The claim would be false if at vanishing noise the divergence from the mixture were not $\log |H|$. It would be false if some noise made the mixture's certificate better by more than a twentieth, as it does if our network is left out of the mixture. It would also be false if the mean of all indicators had a risk above a quarter, or if the certificate with the wider prior fell no faster than $m^{-3/4}$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` evaluates one Gaussian around 0, with one variance, and with the constant $\Sigma = 0.01$ of the loss. This is the last row of the table, which needs {glue:text}`premise:.0f` samples at {glue:text}`far` bits.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-occam-where
#
# *By hand.* The prior of the wider Gaussian does not know the set of bits, and still it needs at most {glue:text}`wide_over:.0f` times as many samples as Occam's. What is most of its divergence spent on? The set is held by the {glue:text}`list_bits` first scores of one position.
# ```
#
# ```{solution} ex-occam-where
# :class: dropdown
#
# Most of the {glue:text}`used` used weights are the same for every function, namely those of the MLP, the read-out and the positions that compute no term, and each contributes a term $\frac12 \log$ in {eq}`eq-wide-prior`. A prior with these weights at their known values would save these terms, so it would be half-way to the mixture.
# ```
#
# ```{exercise}
# :label: ex-occam-longer
#
# *With the computer.* Run the chapter on longer strings, by `python -m bookkit.run beyond/from_gaussians_to_occam -p n 12 --out my_run`, and compare the two rows of the figure *Occam* and *wider prior, by block*. Then compute how many samples Occam's bound needs for the parity of $d$ out of $T$ bits, with $d$ from 1 to 4 and $T$ up to 10 000. How does the number grow with $T$ and with $d$, and what does this say about the claim that *the price of attention is a logarithm*, that is, that with attention the number of samples grows only like $\log T$?
# ```
#
# ```{solution-start} ex-occam-longer
# :class: dropdown
# ```
#
# The list has $\binom Td$ networks, so only its logarithm is needed.

# %%
answer = {
    T: {
        f"d = {d}": rivals.occam_sample_size(math.log(math.comb(T, d)), confidence, 0.25)
        for d in (1, 2, 3, 4)
    }
    for T in (10, 100, 1000, 10_000)
}
answer = pd.DataFrame.from_dict(answer, orient="index").rename_axis("T")
table(answer, "Samples by Occam's bound for a risk below a quarter", form=".0f")

# %% [markdown]
# The number grows like $d \log T$: a string that is a thousand times as long needs about two dozen samples more for each member of the set. So the logarithm of the length appears in the plainest of all bounds. It is the logarithm of the number of sets, that is, the information that selects the relevant bits, and it is not particular to attention.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-occam-double
#
# *To think about.* Suppose that all weights $w_h$ are equal. Show that equality in {prf:ref}`beyond-occam-mixture` fails by at least $\log 2$, in the limit by exactly that, if another component coincides with the chosen one.
# ```
#
# ```{solution} ex-occam-double
# :class: dropdown
#
# If another component coincides with the chosen one, the density of $\pi$ is at least $2 w_h$ times that of the component, and the proof gives $\log \frac1{2 w_h}$, with equality as the noise vanishes.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The form that is compared with, and the network, are from {cite:t}`sharper`. A mixture around a list of networks is the prior of {cite:t}`zhou2019`. Counting what a network is compressed to certifies networks of images in {cite:t}`lotfi2022`, and language models in {cite:t}`lotfi2024`. The widths of a prior are chosen as by {cite:t}`dziugaite2017`.
