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
# (ch-from-flatness-to-counting)=
# # From flatness to counting, step by step
#
# ```{verdict}
# Yes, bounds by flatness and by counting are the ends of one chain of ten proved bounds, and we measure how many samples each step saves. For one network on {glue:text}`T` bits and a guaranteed risk of $\frac14$, the first paper's form, with a proved constant and with the risk under noise measured, needs {glue:text}`m_first:.0e` samples, and the bound at the other end {glue:text}`m_last:.0f`. Knowing in which directions the network is flat saves a factor of {glue:text}`flat_tied:.0f` if the prior is as narrow as the noise, and of {glue:text}`flat:.1f` if it is not.
# ```
# **Needs** {ref}`ch-pac-bayes`, {ref}`ch-three-rates`, {ref}`ch-from-gaussians-to-occam`. **Read** 12 min. **Runs in** 40 s. **Source** ours.
#
# **Claim.** A bound from flatness and a bound from counting are two ends of one ladder. All its rungs are PAC-Bayes bounds for the same network: they compare the law of the network with noise (at the last rung without), the *posterior*, with a law that is fixed before the sample, the *prior*. Only the prior, the noise and the form of the bound change from rung to rung.
#
# The largest steps are a variance of the noise for each block of weights, and a prior with a width of its own. What then still separates a Gaussian prior from counting is that it pays for weights that could be known beforehand, and that it does not know the two values that a score of the first attention can have. In the end, only the sets of bits contribute to the divergence.
#
# ## Why one should care
#
# In {ref}`ch-from-gaussians-to-occam` a bound from flatness needs many times as many samples as a bound that counts: some fifty times as many with one prior, and many thousand times as many with another. Such a comparison does not say where the difference comes from. Is it the Gaussian prior, its width, the form of the bound, or that one does not know where the network is flat?
#
# If we change little at a time, each change saves a certain factor, and the factors say where an effort to improve such bounds would be worth most. The target here is harder than the target of that chapter, because it is a sum of ten parities, so that the learner has much to learn.
#
# ## What a weight costs, by hand
#
# Let $T = 20$ scores of a network say which pair of bits it reads: exactly $d = 2$ of them are 1, and the others are 0. Suppose that the network tolerates Gaussian noise of standard deviation $s = 0.01$ on each score. What does it cost, in nats of KL divergence from a prior, to communicate the pair? Here are four ways to pay.
#
# 1. *A Gaussian prior around 0, as narrow as the noise.* The divergence is $\frac1{2 s^2} = 5000$ nats for each score of 1, so $10\,000$ nats for the two.
# 2. *A Gaussian prior around 0, as wide as one likes.* If all twenty scores have the same width, the divergence is at best $\frac{20}2 \log\bigl(1 + \frac2{20 s^2}\bigr) = 69$ nats, since the scores of 0 pay as well.
# 3. *A prior that knows the two possible values, and how often each occurs.* It costs $\log 10 = 2.30$ nats for a score of 1 and $\log \frac{20}{18} = 0.105$ nats for a score of 0. The sum over all twenty scores is $2 \cdot 2.30 + 18 \cdot 0.105 = 6.5$ nats.
# 4. *A list.* To name the pair among the $\binom{20}2 = 190$ pairs takes $\log 190 = 5.2$ nats.
#
# From the first way to the second the cost decreases by a factor of more than a hundred, from there to the third by a factor of ten, and after that hardly. So most is gained by a wide prior, and then by a prior that knows the two values. The chapter makes the same comparison for a whole network with measured noise. There the four ways come back as rungs 1, 4, 8 and 10 of a ladder.
#
# ## The setting
#
# *The target and the network.* The target is that of the paper's comparison of bounds ({ref}`ch-bound-comparison`): the $T$ bits are divided into $W = T/2$ disjoint pairs (the *tiling*), and $f = W^{-1/2} \sum_i p_{\{2i-1, 2i\}}$. Here $p_U(x)$ is 1 if the bits of $x$ in $U$ hold an even number of ones, else 0. The network is the repaired one of {ref}`ch-construction`, which equals $f$, so its training error is 0. Outputs are clipped to $[0, \sqrt W]$. The loss, a squared error, therefore lies in $[0, b]$ with $b = W$. The best constant predictor has the risk $\frac14$, so this is the risk that a bound has to get below.
#
# *What the learner knows.* A learner knows $T$, $d = 2$, $W$ and the coefficients, but not the pairs. The networks for all choices of $W$ pairs form a *list*. The learner may return the network with Gaussian noise of standard deviation $s_g$ on the weights of group $g$, where a group is a block or the whole network.
#
# *The two forms of the bound.* Let $R$ be the mean loss of the noisy network on the sample. Let $K$ be the KL divergence of its law, the *posterior*, from a prior that was fixed before the sample. With probability $1 - \delta$ the noisy network has a risk of at most
#
# $$R + b \sqrt{\frac{K + \log(1/\delta)}{2m}} \qquad \text{or} \qquad b\, \mathrm{kl}^{-1}\Bigl( \frac Rb,\; \frac{K + \log(2 \sqrt m / \delta)}m \Bigr) :$$ (eq-ladder-forms)
#
# The first is the paper's form, which we call *root*, with Hoeffding's constant $\frac b2$ in place of the paper's $\Sigma$. The second is the *kl* form, where $\mathrm{kl}^{-1}(u, v)$ is the largest $q$ such that a coin of mean $u$ has a KL divergence of at most $v$ from a coin of mean $q$. In both, the bound grows with $K$ and decreases with the number $m$ of samples, so a smaller $K$ at the same $R$ means fewer samples.
#
# *The ladder* has ten rungs. In the formulas for $K$, $n_g$ is the number of weights in a group, $N_g$ their squared norm and $s_g$ their noise; $n$, $N$ and $s$ are those of the whole network.
#
# | | prior | form | $K$ |
# |:--|:--|:--|:--|
# | 1 | around 0, the posterior's variance, one for all weights | root | $N / 2 s^2$ |
# | 2 | the same | kl | the same |
# | 3 | the same, a variance for each block | kl | $\sum_g N_g / 2 s_g^2$ |
# | 4 | one variance, a width of its own | kl | $\frac n2 \log\bigl(1 + \frac{N}{n s^2}\bigr)$ |
# | 5 | one variance, widths by block | kl | $\sum_g \frac{n_g}2 \log\bigl(1 + \frac{N_g}{n_g s^2}\bigr)$ |
# | 6 | variances and widths by block | kl | the same with $s_g$ |
# | 7 | around what all networks of the list share | kl | the term of the first scores alone |
# | 8 | for each first score a mixture around its two values | kl | $W \bigl( d \log \frac Td + (T - d) \log \frac T{T-d} \bigr)$ |
# | 9 | a mixture over the list | kl | $\log \binom{\binom T2}{W} + \log W$, as if $W$ were to be chosen |
# | 10 | the list, no noise | Occam | the same |
#
# Rungs 1 to 3 have a prior as narrow as the noise, rungs 4 to 6 a wide one, and rungs 7 to 10 use that the network is on the list. Rung 4 goes back to one variance, so its step is to be read from rung 2, and from rung 8 on the noise vanishes.
#
# **The idea of the proof.** Every rung but the last is one of these two bounds with another prior. So one only has to check that the prior can be written down before the sample is seen, and to compute the divergence of the noisy network from it. Rungs 3 to 10 use more and more of what follows from $T$, $d$, $W$ and the coefficients, which the learner knows.
#
# ````{dropdown} Proof that each is a bound
# We go through the rungs in order, and then say how the noise is chosen and how the risk under noise is estimated.
#
# * *Rungs 1 to 3* have the divergence of two Gaussians with the same variances, which is the squared distance of their centres over twice the variance. The blocks of rung 3 follow from $T$, $d$, $W$ and the coefficients. The root form needs in addition that $K$ is known before the sample. This condition holds, because all networks of the list have the same norms.
# * *Rungs 4 to 6.* Here the prior of group $g$ has the variance $\tau_g^2 = s_g^2 + N_g / n_g$, which follows from the same numbers. This width gives the formula in the table ({eq}`eq-wide-prior`).
# * *Rung 7.* In all networks of the list the MLP, the values, the idle positions, the read-out and the second scores are equal. So a prior centred there pays nothing for them, with noise or without, and we give noise to the first scores alone.
# * *Rung 8.* A score of the first attention is $L$ at the $d$ members of a set and 0 elsewhere. Let the prior of each score be the mixture $\frac dT N(L, s^2) + (1 - \frac dT) N(0, s^2)$. By {prf:ref}`beyond-occam-mixture` a score costs at most the logarithm of one over the share of its value in the mixture. For one set this adds up to $d \log \frac Td + (T - d) \log \frac T{T - d}$, and there are $W$ sets.
# * *Rung 9* follows from {prf:ref}`beyond-occam-mixture` with the list itself. The summand $\log W$ is paid as if the number of sets had to be chosen too.
# * *Rung 10* follows from a union bound over the list.
#
# *The choice of the noise.* We try {glue:text}`choices` settings and add $\log$ of their number to $K$. The settings are fixed beforehand. To choose them one needs the sharpness of each block, but the sharpness is measured at the tiling, at strings that are not in the sample. (For sets that overlap the sharpness is a little different, but the bound holds for any settings.)
#
# *The risk under noise.* Since $R$ is not known, we draw {glue:text}`pairs` pairs of a string of the sample and a noise. Let $\hat R$ be the mean loss over the pairs. In place of $R$ we use $b\, \mathrm{kl}^{-1}(\hat R / b, \log(\text{choices} / \delta_2) / \text{pairs})$. This number is too small for one of the settings with probability at most $\delta_2 = \delta / 10$, and the bounds have the other nine tenths of $\delta$. (The strings of the pairs are different members of the sample, so the sample has to be larger than the number of pairs. At every rung with noise it is larger, and a run stops if it is not. Strings drawn without replacement obey the same inequality as strings drawn with replacement: Hoeffding 1963.)
# ````

# %% tags=["parameters"]
T = 20  # bits, even [12..50]
pairs = 4000  # of a string and a noise, for each risk [1000..5000]
delta = 0.05  # probability with which a bound may fail [0.01..0.2]
seed = 0  # of the strings and the noise [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, in_prose, results, table
from helpers import cube
from helpers.rng import Rng, f64
from papers.beyond import small_noise
from papers.sharper import pac_bayes as pb
from papers.sharper import rivals
from papers.sharper.network import construct_exact
from papers.sharper.semi_analytic import tiling
from papers.sharper.tabulated import gradient_bound, parameter_count

ledger, source = Ledger("beyond/from_flatness_to_counting"), Rng(seed)
ladder = ledger.result("beyond.ladder")
if T % 2:
    raise ValueError(f"the pairs cover all bits, so T must be even, got {T}")
d, W, LEVEL = 2, T // 2, 0.25
spec, weights = construct_exact(tiling(T))
bits = torch.randint(0, 2, (pairs, T), generator=source.generator)
targets = tiling(T)(cube.index_of(bits))
squares = {name: v.square() for name, v in weights.items()}
own = torch.randint(0, 2, (512, T), generator=source.generator)  # no strings of the sample
slopes = small_noise.mean_squared_gradient(spec, weights, own)
glue(T=T, pairs=pairs)

# %% [markdown]
# ## The risk under noise
#
# First we measure how much risk each setting of the noise causes, since more noise makes $K$ smaller and the risk $R$ larger. The settings are these:
#
# * If all weights have one variance, we try twelve variances.
# * If each block has its own, we try eight trade-offs between the risk and the divergence in nats, and take the best noise for each of them. For priors with widths of their own a trade-off is given by the price of a nat in risk ({ref}`ch-from-gaussians-to-occam`). For priors with the posterior's widths it is given by the number of nats ({ref}`ch-three-rates`). Some blocks have weights at which noise causes no risk. There we limit the noise by one of three upper limits.
# * At rung 7 only the first scores have noise, and we try seven standard deviations.

# %% mystnb={"code_prompt_hide": "The risk of each setting", "code_prompt_show": "The risk of each setting"} tags=["hide-input"]
CAPS, PRICES = (0.03, 0.06, 0.12), [10 ** (k / 2) for k in range(-13, -5)]
BUDGETS = [10 ** (k / 2) for k in range(7, 15)]
ALONE = (0.1, 0.125, 0.16, 0.2, 0.25, 0.32, 0.4)  # of the first scores
one, blocks = small_noise.whole(spec), small_noise.blocks(spec)
N, n = blocks.sums(squares), blocks.counts


def by_block(G):
    """The best noise at each cap and price, for blocks with sharpness G."""
    return [small_noise.wide_deviations(N, G, n, price, cap) for cap in CAPS for price in PRICES]


G = blocks.sums(slopes)
own = by_block(G)
tied = [small_noise.best_deviations(N, G, K, 2 * cap) for cap in CAPS for K in BUDGETS]
walk = [f64([10 ** (k / 5 - 3.5)]) for k in range(12)]
known = torch.tensor([name == "scores 1" for name in blocks.names])
alone = [torch.where(known, f64([s]), 0.0) for s in ALONE]
choices = len(own) + len(tied) + len(walk) + len(alone)


def risk(groups, s):
    """Upper limit of the mean clipped loss under noise."""
    noise, spread = torch.Generator().manual_seed(seed + 1), groups.spread(s)
    mean, _ = small_noise.perturbed_risk(spec, weights, spread, targets, bits, noise, float(W))
    return W * float(rivals.kl_inverse(mean / W, math.log(10 * choices / delta) / pairs))


limits = {
    "one": f64([risk(one, s) for s in walk]),
    "block": f64([risk(blocks, s) for s in own]),
    "tied": f64([risk(blocks, s) for s in tied]),
    "alone": f64([risk(blocks, s) for s in alone]),
}

# %% [markdown]
# Then we compute how many samples each rung needs for a bound of $\frac14$, with the best setting. If flatness decided the bound, the largest steps would be those that only add knowledge of the flatness, from rung 2 to 3 and from rung 5 to 6.


# %% mystnb={"code_prompt_hide": "Samples needed", "code_prompt_show": "Samples needed"} tags=["hide-input"]
def least(R, K, root=False):
    """Fewest samples for the level over settings with these risks and nats; the best setting."""
    K = torch.as_tensor(K, dtype=torch.float64) + math.log(choices)

    def bounds(m):
        if root:
            return R + W * ((K - math.log(0.9 * delta)) / (2 * m)).sqrt()
        return rivals.pac_bayes_kl(R.clamp(max=W), K, max(m, 8.0), 0.9 * delta, float(W))

    m = float(pb.first_sample_size(lambda m: float(bounds(m).min()), LEVEL))
    return m, int(bounds(m).argmin())


def no_noise(nats):
    """Fewest samples in the kl form at vanishing noise, and no setting."""
    return least(torch.zeros(1, dtype=torch.float64), f64([nats - math.log(choices)]))[0], None


def truncated(T):
    """Samples by the paper's truncated form with its constant 0.01."""
    sizes = pb.norm_squared(T, d, T // 2), gradient_bound(d, T // 2)
    return float(pb.sample_size(*sizes, 0.01, delta, LEVEL))


total = f64([v.square().sum().item() for v in weights.values()]).sum()[None]
narrow = [small_noise.kl(total, s) for s in walk]
wide = [small_noise.wide_kl(total, one.counts, s) for s in walk]
wide_each = [small_noise.wide_kl(N, n, s.expand(len(n))) for s in walk]
wide_blocks = [small_noise.wide_kl(N, n, s) for s in own]
two_values = W * (d * math.log(T / d) + (T - d) * math.log(T / (T - d)))
listed = rivals.log_constructions(T, d, W, classes=W)

# %%
rungs = {
    "1 the paper's form, proved constant": least(limits["one"], narrow, root=True),
    "2 kl form": least(limits["one"], narrow),
    "3 a variance for each block": least(limits["tied"], [small_noise.kl(N, s) for s in tied]),
    "4 one variance, a width of its own": least(limits["one"], wide),
    "5 one variance, widths by block": least(limits["one"], wide_each),
    "6 variances and widths by block": least(limits["block"], wide_blocks),
    "7 around what the list shares": least(
        limits["alone"], [small_noise.wide_kl(torch.where(known, N, 0.0), n, s) for s in alone]
    ),
    "8 two values for each first score": no_noise(two_values),
    "9 mixture over the list": no_noise(listed),
    "10 Occam": (float(rivals.occam_sample_size(listed, delta, LEVEL, float(W))), None),
}
samples = {name: m for name, (m, _) in rungs.items()}
if min(list(samples.values())[:7]) < pairs:
    raise ValueError(f"a sample is smaller than {pairs} pairs: {samples}")
counted = parameter_count(T, d) * 32 * math.log(2)
counting = float(rivals.occam_sample_size(counted, delta, LEVEL, float(W)))
quoted, quoted_long = truncated(T), truncated(50)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Samples until a risk below a quarter is certain, for the network of the tiling. Filled: this run. Open: the stored run at 50 bits. Dashed line: counting 32 bits for each weight, at the length of this run. Dotted lines: the paper's truncated form with the constant 0.01, which no proof covers here, the smaller one at the length of this run, the larger one at 50 bits.", "name": "fig-ladder"}, "image": {"alt": "Ten rows on a logarithmic axis of samples. The marks move to the left from rung to rung, from more than ten billion to below two thousand; the marks of the longer strings lie further to the right by one to three decades. The two largest steps are those to a variance for each block and to a width of its own."}} tags=["hide-input"]
results.save("rungs", {"samples": list(samples.values()), "bits": [T] * len(samples)})
stored = results.load("beyond/from_flatness_to_counting", "rungs")
fig, ax = figures.new(height=3.6)
rows = range(len(samples))
ax.plot(list(samples.values()), rows, **figures.marker_style(0, label=f"$T = {T}$"))
if stored is not None:
    open_ = figures.marker_style(
        1, markerfacecolor="none", label=f"$T = {stored['bits'][0]}$, stored"
    )
    ax.plot(stored["samples"], rows, **open_)
for value, dash in ((counting, "--"), (quoted, ":"), (quoted_long, ":")):
    ax.axvline(value, color=figures.GREY, linestyle=dash, linewidth=1, marker="")
ax.set_yticks(rows, list(samples))
ax.invert_yaxis()
ax.set(xscale="log", xlabel="samples $m$")
ax.legend()
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-input"]
shown = pd.DataFrame({f"T = {T}": samples}).rename_axis("rung")
if stored is not None:
    shown[f"T = {stored['bits'][0]}, stored"] = stored["samples"]
shown.loc["counting 32 bits a weight"] = [counting] + [math.nan] * (stored is not None)
table(
    shown.map(lambda m: in_prose(f"{m:.1e}" if m >= 1e5 else f"{m:.0f}"), na_action="ignore"),
    f"Samples for a risk of {LEVEL}",
    none="-",
)
m = list(samples.values())
glue(m_first=m[0], m_kl=m[1], m_last=m[-1], m_wide=m[3], m_each=m[4], m_blocks=m[5], m_centred=m[6])
glue(counting=counting, choices=choices, two_values=two_values, listed=listed, quoted=quoted)
glue(quoted_long=quoted_long)
glue(flat=m[4] / m[5], flat_tied=m[1] / m[2], wide_saves=m[1] / m[3], shared=m[5] / m[6])
far = m if stored is None else stored["samples"]
glue(flat_far=far[4] / far[5], flat_tied_far=far[1] / far[2], shared_far=far[5] / far[6])
steep = torch.tensor([name in ("G", "b") for name in blocks.names])
glue(unused=(G.sum() / G[N > 0].sum()).item(), flat_norm=100 * (N[known] / N.sum()).item())
glue(steep_norm=100 * (N[steep].sum() / N.sum()).item())
glue(steep_share=100 * (G[steep].sum() / G[N > 0].sum()).item())

# %% mystnb={"code_prompt_hide": "Two checks", "code_prompt_show": "Two checks"} tags=["hide-input"]
ladder.holds(
    "variances and widths by block: ratio of the samples needed to those of counting 32 "
    "bits a weight; control: priors as wide as the posterior",
    m[5] / counting,
    at_most=1,
    control=m[2] / counting,
    about="ours",
    evidence="sampled",
)
dealt = by_block(G.flip(0))  # the sharpness of other blocks
blind, _ = least(
    f64([risk(blocks, s) for s in dealt]), [small_noise.wide_kl(N, n, s) for s in dealt]
)
ladder.holds(
    "what flatness is worth: ratio of the samples needed with one variance to those with "
    "variances by block, widths by block in both; control: the sharpness dealt out to other"
    " blocks",
    m[4] / m[5],
    at_least=1.25,
    control=m[4] / blind,
    about="ours",
    evidence="sampled",
)
walked = [best for name, (_, best) in rungs.items() if name[0] in "1245" and best is not None]
priced = [best % len(PRICES) for name, (_, best) in rungs.items() if name[0] in "36"]
single = [best for name, (_, best) in rungs.items() if name[0] == "7"]
for found, steps in ((walked, walk), (priced, PRICES), (single, ALONE)):
    if any(k in (0, len(steps) - 1) for k in found):
        raise ValueError(f"a best noise or price lies at an end of its grid: {found}")

# %% [markdown]
# ## What each rung buys
#
# In {numref}`fig-ladder` follow the filled marks from the top to the bottom. The marks move to the left at every rung, by more than seven powers of ten in all, and most of this distance lies between rungs 2 and 5. The largest step, from rung 2 to rung 4, is not one of those that only add knowledge of the flatness. We go through the steps one by one.
#
# * **A width of its own** is the largest step. A prior as narrow as the posterior pays $N / 2 s^2$, which grows with one over the square of the noise, whereas a wide one pays half a logarithm for each weight. This step reduces the samples from {glue:text}`m_kl:.0e` (rung 2) to {glue:text}`m_wide:.0e` (rung 4).
# * **A variance for each block** with a narrow prior (rung 3) saves a factor of {glue:text}`flat_tied:.0f`. (With finer grids of the noise the factor is 39.) Only a small part of it is due to the weights that no function uses: by the law of {ref}`ch-three-rates`, to leave these without noise saves a factor of {glue:text}`unused:.1f` by itself. The rest is flatness. The first scores hold {glue:text}`flat_norm:.0f` % of the squared norm and are flat, whereas the first layer of the MLP holds {glue:text}`steep_norm:.0f` % of the norm, but {glue:text}`steep_share:.0f` % of the sharpness of the weights that are used. So the noise can be large where the norm is, and a narrow prior pays for the norm over the square of the noise.
# * **Widths by block** (rung 5) pay nothing for the weights that no network of the list uses, and reduce the number of samples to {glue:text}`m_each:.0e`.
# * **Variances by block with a wide prior** (rung 6), which the paper names as a way forward, use the flatness of the network, because the first scores are flat and the MLP is steep. Added to widths by block they reduce the number to {glue:text}`m_blocks:.0e`, by a factor of {glue:text}`flat:.1f`. For comparison, counting 32 bits for each weight needs {glue:text}`counting:.1e` samples.
# * **The shared part** (rung 7). A prior that is centred at the weights that all networks of the list share needs no noise there, and reduces the number of samples to {glue:text}`m_centred:.1e`, by a factor of {glue:text}`shared:.1f`. This is more than flatness saves with a wide prior, but at 50 bits it is less, a factor of {glue:text}`shared_far:.1f` against {glue:text}`flat_far:.1f`. What remains are the $W T$ first scores, which hold the sets of bits.
# * **Two values in place of a Gaussian** for these scores (rung 8) cost {glue:text}`two_values:.0f` nats, whereas the list (rung 9) costs {glue:text}`listed:.0f` nats. From here on the least noise is the best, so knowing where the network is flat gains nothing.
#
# How does the ladder compare with the paper's own form and constant? The dotted lines of {numref}`fig-ladder` are the paper's truncated form with $\Sigma = 0.01$, which needs {glue:text}`quoted:.1e` samples at $T = 20$ and {glue:text}`quoted_long:.1e` at $T = 50$. At $T = 20$ all rungs from 4 on need fewer samples than this, and at $T = 50$ all rungs from 5 on, although they have no unproved constant.
#
# The stored run at 50 bits was made twice, with other strings and other noise. At rung 3 the second run needs 7 % fewer samples than the first, and at every other rung the two agree to within 2 %.
#
# All of this is about one network that was written by hand and a learner that returns it. No rung implies that gradient descent returns it.
#
# ## What would falsify this
#
# A rung would be no bound if the risk of the noisy network were above it for more than a share $\delta$ of the samples. Our account of the steps would be wrong if rung 6 needed more samples than counting 32 bits a weight, or if it were no better than rung 5. In the controls we use the posterior's widths instead of wider ones, and give the blocks the sharpness of other blocks.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` evaluates the form of rung 1 with one variance and $\Sigma = 0.01$. In place of a measured risk it uses the paper's bounds on the squared norm and on the squared gradient.
#
# ## What we found
#
# * The first paper's form with a proved constant and Occam's bound differ by a factor of more than a million in the number of samples, and every rung between them is a proved bound for the same network.
# * About half of this, in powers of ten, is due to a width of its own for the prior. A wide prior with one variance for all weights already needs only {glue:text}`m_wide:.0e` samples, which is {glue:text}`wide_saves:.0f` times fewer than the narrow one at rung 2.
# * Knowing where the network is flat saves a factor of {glue:text}`flat_tied:.0f` with a narrow prior, which pays with the square of one over the noise, and a factor of {glue:text}`flat:.1f` with a wide prior, which pays with its logarithm. At 50 bits the factors are {glue:text}`flat_tied_far:.0f` and {glue:text}`flat_far:.1f`.
# * In the end the samples pay for the sets of bits, which is what the learner did not know. From rung 8 on the noise vanishes, and knowing where the network is flat gains nothing.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-ladder-bits
#
# *By hand.* At rung 6, how many bits does a used weight of a block cost, if it is $k$ times as large as its noise?
# ```
#
# ```{solution} ex-ladder-bits
# :class: dropdown
#
# It costs $\frac12 \log_2 (1 + k^2)$ bits, half the logarithm of the squared ratio, that is, about 5 bits at $k = 32$ and 10 at $k = 1000$. A weight of a block that no network uses has $N_g = 0$ and costs nothing.
# ```
#
# ```{exercise}
# :label: ex-ladder-longer
#
# *With the computer.* Run the ladder at another length, by `python -m bookkit.run beyond/from_flatness_to_counting -p T 30 --out my_run`. Then compute the nats of rung 8 and of rung 9 for $T$ from 20 to 1000. Does the quotient of the two tend to 1, and if not, what does rung 8 pay for in addition? Which of the two priors could a learner use that does not know how many sets there are?
# ```
#
# ```{solution-start} ex-ladder-longer
# :class: dropdown
# ```
#
# The formulas of both rungs stand in the table of the ladder.

# %%
answer = {}
for length in (20, 50, 100, 1000):
    sets = length // 2
    zeros = (length - d) * math.log(length / (length - d))
    answer[length] = {
        "two values": sets * (d * math.log(length / d) + zeros),
        "list": rivals.log_constructions(length, d, sets, classes=sets),
    }
answer = pd.DataFrame.from_dict(answer, orient="index").rename_axis("T")
answer["quotient"] = answer["two values"] / answer["list"]
table(answer, "Nats of rungs 8 and 9", form={"quotient": ".2f", "two values": ".0f", "list": ".0f"})

# %% [markdown]
# The quotient does not tend to 1 but rises slowly towards 2. The reason is the order of the sets. Rung 8 pays for every score separately, which adds up to $2 \log \frac T2 + 2$ nats for a set up to small terms. So it distinguishes networks that have the same sets in another order. The list has these networks only once. This saves about $\log W$ nats for each of the $W = T/2$ sets, and leaves about $\log T + 1$ nats for a set. Rung 9 adds $\log W$ as if $W$ were to be chosen, so it is also valid for a learner that does not know the number of sets, whereas the prior of rung 8 is built for a known $W$.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-ladder-learner
#
# *To think about.* All ten rungs are bounds for a learner that returns the network of the true sets with or without noise. How could a learner find this network, and does any rung depend on how long it takes? Which rungs would still hold for a network that gradient descent has found, and what would have to be measured?
# ```
#
# ```{solution} ex-ladder-learner
# :class: dropdown
#
# It could try all $\binom{\binom T2}W$ choices of sets, and no rung depends on the time. Rungs 1 to 6 are formulas in the weights of any network, so they hold for one that was trained, if the widths of the prior are fixed beforehand, and the risk under noise is measured. (The root form of rung 1 also needs a limit on $K$ that is fixed beforehand, or the logarithm of the kl form.) Rungs 7 to 10 hold only for networks of the list. A trained network that computes the same function with other weights has to be rewritten as one of these first.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The form of rung 1 and the network are from {cite:t}`sharper`. Priors with widths of their own are those of {cite:t}`dziugaite2017`; mixtures around a list of networks those of {cite:t}`zhou2019`. For drawing without replacement see {cite:t}`hoeffding1963`. The paper itself names variances by group as a way forward.
