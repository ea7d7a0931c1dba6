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
# (ch-three-rates)=
# # Three rates
#
# ```{verdict}
# A bound from flatness adds Gaussian noise to the weights of a network and compares the result with a prior, a Gaussian around zero. If noise and prior have the same variances, the bound falls more slowly with the number $m$ of examples than a bound that counts networks, which falls like $1/m$. The bound of the first paper falls like $m$ to the power {glue:text}`slope_hoeffding:.2f`, and its sharper form, with the KL divergence between coins, like $m$ to the power {glue:text}`slope_kl:.2f`. The reason is that less noise means a smaller risk but a larger divergence from the prior.
# ```
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`, {ref}`ch-pac-bayes`. **Read** 14 min. **Runs in** 20 s. **Source** ours.
#
# **Claim.** Put small Gaussian noise on the weights of a network that fits its data. The distribution of the noisy weights is the *posterior*. As *prior* take a Gaussian around 0 with the same variances, which we then call *tied*. Choose the variances so that the risk is least for a given KL divergence of the posterior from the prior; with one variance for all weights there is nothing to choose. Then, as the noise vanishes, the risk that it causes times the divergence tends to a constant. Together with the form of the bound this constant decides what a PAC-Bayes bound with tied variances can guarantee.
#
# How small can the constant be? One variance for each kind of weight, a way forward that {cite:t}`sharper` names, makes the constant many times smaller. The bound still does not come near one that counts networks. A prior that is wider than the posterior does better, in the next chapter.
#
# ## Why one should care
#
# A bound is often judged by its value at one sample size. Its *rate* says more: how many more samples are needed to halve it? A bound for a finite list of predictors, which counts the list, falls like $\frac1m$ if the training error is 0, so twice as many samples halve it. If a bound falls like $m^{-1/3}$, halving it takes eight times as many. The rate therefore decides whether a bound can ever be of use.
#
# If a rate is slow, one would like to know whether this is due to the network, to the noise, or to the form of the bound. For Gaussian noise around a network that fits its data all of this can be computed.
#
# ## Two weights by hand
#
# Let a network have two weights, $\theta_1 = 2$ and $\theta_2 = 1$, that fit the data exactly. Let the derivative of its output be 1 in the first weight and 2 in the second, at every input. Noise $\varepsilon_1, \varepsilon_2$ with standard deviations $s_1, s_2$ moves the output by $\varepsilon_1 + 2 \varepsilon_2$, so it causes the mean squared error $R = s_1^2 + 4 s_2^2$, the risk. The KL divergence $K$ from a Gaussian around 0 with the same deviations is $K = \frac4{2 s_1^2} + \frac1{2 s_2^2}$.
#
# | deviations | $R$ | $K$ | $R K$ |
# |:--|:--|:--|:--|
# | $s_1 = s_2 = 0.1$ | $0.05$ | $250$ | $12.5$ |
# | $s_1 = s_2 = 0.01$ | $0.0005$ | $25\,000$ | $12.5$ |
# | $s_1 = 0.2,\; s_2 = 0.1$ | $0.08$ | $100$ | $8$ |
#
# If all noise is divided by 10, as from the first line to the second, the risk is divided by 100 and the divergence is multiplied by 100, so the product stays the same. It depends only on how the noise is distributed between the weights. The first weight is large, and the output depends on it only weakly. If there is more noise in this weight and less in the second, as in the third line, the product falls from 12.5 to 8. No choice gives less than 8, because by Cauchy and Schwarz $(s_1^2 + 4 s_2^2) \bigl(\frac4{s_1^2} + \frac1{s_2^2}\bigr) \ge (2 + 2)^2 = 16$, and $R K$ is half of the left side.
#
# What does a constant product mean for a bound? Put it into a bound of the form $R + \sqrt{K / 2m}$ with $R K = 8$. If we insert $K = \frac8R$, the bound is $R + 2/\sqrt{m R}$. A small $R$ makes the second term large, and a large $R$ the first. The best compromise is $R = m^{-1/3}$, and then the bound is $3\, m^{-1/3}$. So the rate follows from the product.
#
# ## The statement
#
# The network $f_\theta$ is the repaired one of {ref}`ch-construction`, which equals its target. The target is a sum of $W$ even-parity indicators of sets of $d$ out of $T$ bits, with coefficients $c_i$ and $\sum_i c_i^2 = 1$. The loss is the squared error. If outputs are clipped to $[0, \sqrt W]$, the losses lie in $[0, b]$ with $b = W$. The best constant predictor has risk $\frac14$, so a bound that is not below $\frac14$ is *vacuous*: it guarantees no more than a predictor that ignores its input.
#
# The posterior adds to weight $i$ independent Gaussian noise of standard deviation $s_i$. The prior has mean 0 and the same $s_i$. Weights belong to *groups*, which are fixed before the sample is seen, and all weights of a group $g$ share one deviation $s_g$. Let $N_g$ be the squared norm of the weights of a group. Then the divergence of the posterior from the prior is $K = \sum_g N_g / 2 s_g^2$ nats. We write $R$ for the risk under noise. The first proposition is the law that the example shows.
#
# ```{prf:proposition} ours
# :label: beyond-rates-law
# Let $f_\theta$ have a derivative in $\theta$ at every input, and let $G_g = \mathbb E_x \sum_{i \in g} (\partial_i f_\theta(x))^2$ be the mean squared gradient of a group.
#
# *(i)* As all $s_g \to 0$ the risk is $R = \sum_g s_g^2 G_g$ up to higher order.
#
# *(ii)* Among all choices of $s$ with the same $K$ the least value of this sum obeys
#
# $$R\, K = \frac C2, \qquad C = \Bigl( \sum_g \sqrt{N_g G_g} \Bigr)^2 .$$
#
# *(iii)* Finer groups have no larger $C$. With one group for all weights together $C = N G$, and with every weight on its own $C = (\sum_i |\theta_i| \sqrt{g_i})^2$, where $g_i = \mathbb E_x (\partial_i f_\theta(x))^2$.
# ```
#
# In the example there are two groups of one weight each, with $N = (4, 1)$ and $G = (1, 4)$, so $C = (2 + 2)^2 = 16$, whereas with one group $C = 5 \cdot 5 = 25$.
#
# **The idea of the proof** is that of the example. To first order the errors that the single weights cause are independent, so their mean squares add up, and the inequality of Cauchy and Schwarz finds the best distribution of the noise.
#
# ````{dropdown} Proof of the law
# *(i)* By Taylor's formula, at a perfect fit the error is $\sum_i \varepsilon_i \partial_i f$ to first order. The $\varepsilon_i$ are independent with mean 0, so the mean of the square is $\sum_i s_i^2 (\partial_i f)^2$. (The output grows no faster than a power of the weights, so rare large noise does not matter in the limit.)
#
# *(ii)* By Cauchy and Schwarz $\bigl(\sum_g s_g^2 G_g\bigr) \bigl(\sum_g N_g / s_g^2\bigr) \ge C$. The first factor is $R$, and the second is $2K$. There is equality at $s_g^2 \propto \sqrt{N_g / G_g}$, and if an $N_g$ or a $G_g$ is 0, the least value is a limit.
#
# *(iii)* If a group is divided into parts $h$, then $\sum_h \sqrt{N_h G_h} \le \sqrt{N_g G_g}$ by the same inequality, since $\sum_h N_h = N_g$ and $\sum_h G_h = G_g$.
#
# (In our network the string of all ones puts the positions without a term at the end of a plateau, where only one side has the derivative 0. We take that side, since the string has a share of $2^{-T}$ in $R$.)
# ````
#
# The optimum over variances is close to the *normalized sharpness* of {cite:t}`tsuzuku2020`, who also minimise a PAC-Bayes bound over variances. What we add are the rates that follow from the optimum. The second proposition inserts the law into three forms of a bound.
#
# ```{prf:proposition} ours
# :label: beyond-rates-rates
# At $R K = C/2$, for $m$ samples, and as long as the result is small against $b$, the three forms of a bound have these least values:
#
# | form of the bound | least value | samples for $\frac14$, $b = 1$ |
# |:--|:--|:--|
# | $R + b \sqrt{K / 2m}$, the paper's | $3\, (b^2 C / 16 m)^{1/3}$ | $108\, C$ |
# | $b\, \mathrm{kl}^{-1}(R/b,\, K/m)$ | $2.2\, \sqrt{b C / m}$ | $64\, C$ |
# | Occam, training error 0, $\ell$ nats | $b\, (1 - e^{-\ell/m})$ | $3.5\, \ell$ |
# ```
#
# Here $\mathrm{kl}(q, p)$ is the KL divergence between coins with the probabilities $q$ and $p$, and $\mathrm{kl}^{-1}(q, u)$ is the largest $p$ with $\mathrm{kl}(q, p) \le u$. In *Occam's bound*, the last line, the predictors are counted, and $\ell$ is the length of a description of the predictor in nats. So the three forms fall like $m^{-1/3}$, $m^{-1/2}$ and $m^{-1}$. (The last column is computed from kl itself, whereas $2.2 \sqrt{bC/m}$ approximates it, so the $64\, C$ of the second line does not follow from that formula.)
#
# ````{dropdown} Proof of the three least values
# In each form we replace the divergence by the product and look for the best $R$.
#
# *The paper's form.* Insert $K = C/2R$, so that the bound is $R + b \sqrt{C/4mR}$. Its derivative in $R$ vanishes at $R = (b^2 C/16m)^{1/3}$, where the second term is $2R$.
#
# *The kl form.* Let $q$ be the bound over $b$, and let $R/b = tq$ with $0 < t < 1$. Then $K/m = \mathrm{kl}(tq, q) \approx q\,(t \log t + 1 - t)$ and $K = C / (2tqb)$, so $q^2 = C / \bigl(2 b m\, t (t \log t + 1 - t)\bigr)$. The bound is least if $t (t \log t + 1 - t)$ is largest, and its largest value is 0.1018.
#
# *Occam's form* is $\mathrm{kl}^{-1}(0, u) = 1 - e^{-u}$ with $u = \ell/m$.
#
# The logarithm of $1/\delta$ is left out of the first two, because with small noise $K$ is thousands of nats.
# ````

# %% tags=["parameters"]
n = 10  # bits, the paper's T, of the network that is perturbed [6..14]
degree = 2  # size of its set [1..3]
pairs = 2048  # draws of noise and input for each risk [1000..20000]
inputs = 1024  # strings for mean squared gradients [256..4096]
level = 0.25  # risk to beat, that of the best constant [0.05..0.25]
confidence = 0.05  # probability that a bound fails [0.01..0.1]
seed = 0  # of functions, noise and inputs [0..1000000]

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

ledger, source = Ledger("beyond/three_rates"), Rng(seed)
rates = ledger.result("beyond.rates")
GROUPS = {
    "one variance": small_noise.whole,
    "by block": small_noise.blocks,
    "by weight": small_noise.each,
}


def network(n, degree, sparsity):
    """A random function, its network, and (groups, N, G) by each way to group."""
    own = torch.Generator().manual_seed(1000 * seed + 100 * n + 10 * degree + sparsity)
    f = cube.sparse_function(n, degree, sparsity, own, "even_parity")
    spec, weights = construct_exact(f, (2 * math.log(n),) * 2)
    strings = torch.randint(0, 2, (inputs, n), generator=own)
    slopes = small_noise.mean_squared_gradient(spec, weights, strings)
    squares = {name: v.square() for name, v in weights.items()}
    made = {name: make(spec) for name, make in GROUPS.items()}
    return f, spec, weights, {k: (g, g.sums(squares), g.sums(slopes)) for k, g in made.items()}


f, spec, weights, parts = network(n, degree, 1)
constants = {name: small_noise.constant(N, G) for name, (_, N, G) in parts.items()}
bits = torch.randint(0, 2, (pairs, n), generator=source.generator)
targets = f(cube.index_of(bits))


def noisy(spec, weights, groups, s, count=pairs, clip=None):
    """Risk under noise and its standard error; the same directions at every call."""
    noise = torch.Generator().manual_seed(seed + 1)
    spread = groups.spread(s)
    return small_noise.perturbed_risk(
        spec, weights, spread, targets[:count], bits[:count], noise, clip
    )


# %% [markdown]
# ## The law
#
# Does $R K$ tend to $C/2$? To see this, we perturb the network of one parity, estimate $R$ from {glue:text}`pairs` pairs of noise and input, and divide $R K$ by $C/2$. If the law is right, the quotient tends to 1 as the noise vanishes, for each of three ways to group the weights: one variance for all of them, one for each block, and one for each weight. A group without gradient would get infinite noise, so we cap its $s$ at 0.01, which adds a fixed number of nats to $K$.

# %%
budgets = [10.0**k for k in range(5, 11)]
law = {}
for name, (groups, N, G) in parts.items():
    for K in budgets:
        s = small_noise.best_deviations(N, G, K, largest=0.01)
        unit = small_noise.kl(N, s) / (constants[name] / 2)
        law[name, K] = [v * unit for v in noisy(spec, weights, groups, s)]

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Risk under noise times KL, over half the constant $C$, as the noise gets smaller from left to right. Bars: two standard errors. At the left the first scores, whose noise is capped, still make up most of the KL.", "name": "fig-small-noise-law"}, "image": {"alt": "Three curves against the KL from one hundred thousand to ten billion nats. The one for a single variance is level at 1. The ones for variances by block and by weight start above 10 and come down to 1."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for i, name in enumerate(parts):
    ratio, error = torch.tensor([law[name, K] for K in budgets]).T
    at = [K * 1.12 ** (i - 1) for K in budgets]
    ax.errorbar(at, ratio, yerr=2 * error, label=name, **figures.series_style(i, capsize=2))
figures.level(ax, 1.0)
ax.set(xscale="log", yscale="log", xlabel="KL without the capped groups, nats")
ax.set(ylabel="$R\\,K / (C/2)$")
ax.legend()
figures.show()

# %%
last = budgets[-1]
groups, N, G = parts["by block"]
s = small_noise.best_deviations(N, G, last, largest=0.01)
common = torch.where(N > 0, s[N > 0].mean(), 0.0)  # control: all groups share one deviation
equal = noisy(spec, weights, groups, common)[0] * small_noise.kl(N, common)
error = law["by block", last][1]
rates.holds(
    "product of risk and divergence at the least noise against $C/2$, in three groupings of"
    " the weights: largest distance of their ratio from 1, in units of four standard "
    "errors; control: one deviation for all blocks",
    max(abs(law[name, last][0] - 1) / (4 * law[name, last][1]) for name in parts),
    at_most=1,
    control=abs(equal / (constants["by block"] / 2) - 1) / (4 * error),
    about="ours",
    evidence="sampled",
)
one = small_noise.best_deviations(*parts["one variance"][1:], last)
free, _ = noisy(spec, weights, parts["one variance"][0], one)
clipped, _ = noisy(spec, weights, parts["one variance"][0], one, clip=1.0)
glue(pairs=pairs, n=n, degree=degree, level=level, clipped=clipped / free)

# %% [markdown]
# In {numref}`fig-small-noise-law` the noise becomes smaller from left to right. With one variance the quotient is 1 throughout. With variances by block and by weight it starts above 10, because there the capped groups make up most of the divergence, and comes down to 1 as well. So for this network the law agrees with what we measure. One more number is needed later: with outputs clipped to $[0, 1]$ the risk of a single parity is {glue:text}`clipped:.2f` times the risk without clipping. The reason is that its values 0 and 1 are the ends of the interval, so that half of all errors are cut off.
#
# ## Which weights pay
#
# Which weights make the constant large? To see this, we split each block of weights into the entries that some function uses and those that none does, which can be done knowing $T$, $d$ and $W$ alone. The groups are:
#
# * *scores 1* and *scores 2*, the entries of the score matrices of the first and the second attention,
# * *value*, the one entry of the first value matrix, which passes the bits on,
# * *G*, *b* and *F*, the first weights of the MLP, its biases and its second weights (not to be confused with the squared gradient $G_g$ and the largest loss $b$),
# * *read-out*, the entry of the read-out that belongs to the output of the MLP,
# * with the word *idle*, the entries of *scores 1* and of the read-out that belong to positions without a term,
# * *never used*, all entries that are 0 in the network of every set of bits.
#
# In the last column stands $\sqrt{N_g G_g}$, the product of the group's norm and the root of its mean squared gradient. The sum of this column is $\sqrt C$.

# %%
groups, N, G = parts["by block"]
shares = pd.DataFrame({"weights": groups.counts.long(), "squared norm": N, "squared gradient": G})
shares["root of the product"] = (N * G).sqrt()
shares = shares.set_index(pd.Index(groups.names, name="group"))
table(shares, f"One parity of {degree} out of {n} bits", form=".3f", tiny=1e-12)
glue(scores_share=100 * (N[1:3].sum() / N.sum()).item())
glue(gain_block=constants["one variance"] / constants["by block"])
merged = (N.sum() - N[1:3].sum()) * (G.sum() - G[0])  # one variance for all but these groups
glue(gain_alone=constants["one variance"] / merged, gain_rest=merged / constants["by block"])
glue(gain_weight=constants["by block"] / constants["by weight"])

# %% [markdown]
# With one variance for all weights the constant is $N G$, the *whole* squared norm times the *whole* squared gradient. So a group with a large norm is multiplied by the gradient of all others, and this is where most of the constant comes from:
#
# * *Groups that have only one of the two.* The first scores hold {glue:text}`scores_share:.0f` % of the squared norm and have no gradient, because every mean of bits lies on a plateau of the MLP. The entries that no function uses have a gradient but no norm. With a variance of their own both kinds contribute 0. Variances of their own for these groups alone make the constant smaller by a factor of {glue:text}`gain_alone:.1f`.
# * *The MLP.* Its second weights $F$ are large and flat, and its first weights and biases are small and steep. If they no longer share a variance, the constant becomes smaller by another, larger factor of {glue:text}`gain_rest:.1f`.
#
# Both together make the constant by block smaller by a factor of {glue:text}`gain_block:.0f`.
#
# A variance for every weight would save another factor of {glue:text}`gain_weight:.1f`. But a prior whose variances depend on which weights are 0 depends on the set of bits. To pay for this dependence one has to count the sets, and the result is Occam's bound.
#
# ## The constants, and how many samples
#
# How do the constants grow with the problem, and how many samples do they cost? The next two tables are for a grid of the length $T$, the degree $d$ and the number $W$ of terms.
#
# 1. The first table has the constant $C$ for the three ways to group the weights. We expect from our explanation that the constant by block does not grow with $T$.
# 2. The second table has the numbers of samples from which on each certificate is below {glue:text}`level`, by the laws of {prf:ref}`beyond-rates-rates` with $b = W$.
#
# The numbers of samples are orders of magnitude and not digits, because at this level the best noise is not small. Take, for example, the kl form by block for the network of {numref}`fig-three-rates`. Measured, it needs {glue:text}`found_need:.2e` samples. The law gives {glue:text}`law_need:.2e` with the constant $C$ of this network. For small noise half of this constant would be right, because clipping cuts off half of the errors, and then the law gives {glue:text}`law_half:.2e`.
#
# Occam's bound chooses among all sets of bits, five degrees and twenty sparsities, and pays five bits for each coefficient if there are several. It is taken at training error 0, although coefficients rounded to five bits do not fit exactly. If the error of rounding is included, the numbers for several terms rise, by up to a half at the worst coefficients.

# %%
grid = [(8, 2, 1), (20, 1, 1), (20, 2, 1), (20, 3, 1), (50, 2, 1)]
grid += [(20, 2, 5), (20, 2, 20), (20, 3, 20), (50, 2, 20)]
rows, unsplit = [], {}
for T, d, W in grid:
    own = network(T, d, W)[3]
    alone, *sums = own["by weight"]
    by_matrix = [f64([v[i].sum().item() for i in alone.index.values()]) for v in sums]
    unsplit[T, d, W] = small_noise.constant(*by_matrix)  # control: used and unused entries together
    C = {name: small_noise.constant(N, G) for name, (_, N, G) in own.items()}
    counted = rivals.log_constructions(T, d, W, classes=100, coefficient_bits=5 * (W > 1))
    hoeffding, kl_one = small_noise.sample_sizes(C["one variance"], level, W)
    samples = {
        "paper's form": hoeffding,
        "kl, one variance": kl_one,
        "kl, by block": small_noise.sample_sizes(C["by block"], level, W)[1],
        "Occam": float(rivals.occam_sample_size(counted, confidence, level, W)),
    }
    rows.append({"T": T, "d": d, "W": W} | {f"C, {k}": v for k, v in C.items()} | samples)
found = pd.DataFrame(rows)
table(found.iloc[:, :6], "The constant C", form=".0f")
told = found.iloc[:, [0, 1, 2, 6, 7, 8, 9]]
told = told.assign(**{k: told[k].map(lambda v: in_prose(f"{v:.2e}")) for k in told.columns[3:6]})
table(told, f"Samples for a risk of {level}", form={"Occam": ".0f"})

# %% mystnb={"code_prompt_hide": "Two checks", "code_prompt_show": "Two checks"} tags=["hide-input"]
short, longer = (
    found[(found["d"] == 2) & (found["W"] == 1) & (found["T"] == T)].iloc[0] for T in (8, 50)
)
rates.holds(
    "one parity: factor by which the constant by block grows from $T = 8$ to 50; control: "
    "blocks that are not split",
    longer["C, by block"] / short["C, by block"],
    at_most=1,
    tol=0.05,  # of the mean of the squared gradients over the inputs
    control=unsplit[50, 2, 1] / unsplit[8, 2, 1],
    about="ours",
    evidence="sampled",
)
own = network(20, 2, 20)[3]
by_size = [v.sort().values for v in own["by weight"][1:]]  # as if large weights were steep
finer = found["C, by weight"] / found["C, by block"]
coarser = found["C, by block"] / found["C, one variance"]
rates.holds(
    "largest ratio of the constant of finer groups to that of coarser ones; control: "
    "gradients dealt out to the weights by their size",
    max(finer.max(), coarser.max()),
    at_most=1,
    control=small_noise.constant(*by_size) / small_noise.constant(*own["by block"][1:]),
    about="ours",
    evidence="proved",
)
hardest = found[(found["T"] == 20) & (found["d"] == 3) & (found["W"] == 20)].iloc[0]
glue(hardest=hardest["paper's form"], hardest_occam=hardest["Occam"])
glue(gap_least=(found["kl, by block"] / found["Occam"]).min())

# %% [markdown]
# Of the three constants only that for one variance grows with the length. That by block would grow too, if the entries that no function uses shared a variance with the used ones.
#
# The second table is best read at a small problem, twenty sets of three out of twenty bits. The first paper's form needs {glue:text}`hardest:.0e` samples for it, whereas counting needs {glue:text}`hardest_occam:.0f`. (We take this form with the constant that Hoeffding's lemma proves for losses in an interval, and without the paper's term $P(\sigma)$ for the growth of the sharpness under noise, see {ref}`ch-pac-bayes`.) Among the Gaussian certificates of the second table, none of whose priors depends on the set of bits, the kl form by block is the best. (It is favoured for several terms, because its variances may use the coefficients, for which counting pays five bits each.) Over the whole grid it needs by its law at least {glue:text}`gap_least:.0f` times as many samples as counting.
#
# ## The rates
#
# The laws are asymptotic, so we also compute certificates with measured risks, for one parity of {glue:text}`degree` out of {glue:text}`n` bits. A slope that is nearer to the rate of another form would speak against the laws.
#
# For each of three caps on the noise of groups without gradient we take a range of values of $K$ and measure $R$ with clipped outputs. At each $m$ the best pair of $R$ and $K$ enters the bound, and a term of $\log 100$ accounts for this choice. The risk $R$ is an estimate from 1000 pairs, and a real certificate would have to account for that too. In the figure the dashed lines are the laws of {prf:ref}`beyond-rates-rates`, with half the constant $C$ because of the clipping.

# %%
search = {}
for name, caps in (("one variance", (9.0,)), ("by block", (0.03, 0.06, 0.15))):
    groups, N, G = parts[name]
    search[name] = []
    for cap, k in itertools.product(caps, (2, 3, 4, 4.5, 5, 5.5, 6, 6.5, 7)):
        s = small_noise.best_deviations(N, G, 10**k, largest=cap)
        risk, _ = noisy(spec, weights, groups, s, 1000, 1.0)
        search[name].append((min(risk, 1.0), small_noise.kl(N, s) + math.log(100)))

# %%
nats = rivals.log_constructions(n, degree, 1) + math.log(100)
sizes = [10.0**k for k in range(2, 11)]


def forms(m):
    """Each form at m samples, for all pairs of risk and divergence; Occam's, for two risks."""
    risk, spent = f64(search["one variance"]).T
    found = {"paper's form": risk + ((spent - math.log(confidence)) / (2 * m)).sqrt()}
    for name in search:
        found[f"kl, {name}"] = rivals.pac_bayes_kl(*f64(search[name]).T, m, confidence)
    return found | {"Occam": f64([rivals.occam(r, nats, m, confidence) for r in (0.0, 0.01)])}


def certificates(m):
    """The best of each form at m samples."""
    return {name: values.min().item() for name, values in forms(m).items()}


curves = pd.DataFrame([certificates(m) for m in sizes], index=pd.Index(sizes, name="samples"))
t = torch.linspace(0.01, 0.99, 9801, dtype=torch.float64)
peak = (t * (t * t.log() + 1 - t)).max().item()
whole, half = constants["one variance"] / 2, constants["by block"] / 2
laws = {
    "paper's form": [3 * (whole / (16 * m)) ** (1 / 3) for m in sizes],
    "kl, one variance": [math.sqrt(whole / (2 * peak * m)) for m in sizes],
    "kl, by block": [math.sqrt(half / (2 * peak * m)) for m in sizes],
}
found_need = pac_bayes.first_sample_size(lambda m: certificates(max(m, 8.0))["kl, by block"], level)
law_need, law_half = (small_noise.sample_sizes(C, level)[1] for C in (2 * half, half))
glue(found_need=found_need, law_need=law_need, law_half=law_half)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Four certificates for one network and one parity, against the number of samples. Thin dashed lines: the laws. Grey line: the risk of the best constant, above which a certificate is vacuous.", "name": "fig-three-rates"}, "image": {"alt": "Four falling curves with logarithmic axes. The paper's form falls slowest and crosses the grey line last, at several million samples. The kl form with one variance falls with slope one half, that with a variance for each block lies lower by a factor of about four. Occam's bound falls with slope one and lies far below all, and is below the grey line from the first point on."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
for i, name in enumerate(curves):
    ax.plot(sizes, curves[name], label=name, **figures.series_style(i, linestyle="-"))
    if name in laws:
        shown = [(m, v) for m, v in zip(sizes, laws[name], strict=True) if v < 1]
        thin = {"color": figures.COLOURS[i], "linestyle": "--", "linewidth": 0.9, "marker": ""}
        ax.plot(*zip(*shown, strict=True), **thin)
figures.level(ax, level)
ax.set(xscale="log", yscale="log", xlabel="samples $m$", ylabel="certified risk")
ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.2))
figures.show()

# %%
far = curves.loc[1e7:1e9]
slopes = {k: statistics.power(list(far.index), list(far[k])).item() for k in curves}
RATES = {"paper's form": -1 / 3, "kl, one variance": -1 / 2, "kl, by block": -1 / 2, "Occam": -1}
table(
    {"form": list(RATES), "law": list(RATES.values()), "slope": [slopes[k] for k in RATES]},
    "Slope in log m from 10⁷ to 10⁹ samples",
    form=".3f",
)
kept = {f"kl, {name}": int(f64(found).T[1].argmin()) for name, found in search.items()}
kept |= {"paper's form": kept["kl, one variance"], "Occam": 1}  # the least KL; an error of 0.01
stuck = pd.DataFrame([{k: v[kept[k]].item() for k, v in forms(m).items()} for m in far.index])
for name, rate in RATES.items():
    broken = "a training error of 0.01" if name == "Occam" else "noise not adapted to m"
    rates.holds(
        f"power of $m$ with which the certificate falls, {name}; control: {broken}",
        slopes[name],
        equals=rate,
        tol=1 / 12,  # half the distance between two rates
        control=statistics.power(list(far.index), list(stuck[name])).item(),
        about="ours",
        evidence="sampled",
    )
glue(slope_hoeffding=slopes["paper's form"], slope_kl=slopes["kl, one variance"])

# %% [markdown]
# In {numref}`fig-three-rates` follow the curves to the right, where the noise is small. The paper's form is the highest and the flattest, and it crosses the grey line last. The two kl forms are parallel lines of slope one half, and the one by block is lower because its constant is smaller. Occam's bound falls with slope one and is below the grey line from the first point on. At small $m$ the laws do not hold, because there the best noise is not small.
#
# The table has the slopes at large $m$. We say that a slope agrees with a law if this law is the nearest one. Since the rates $\frac13$ and $\frac12$ are $\frac16$ apart, a deviation of half of that is allowed, that is, of $\frac1{12}$ (0.083, which the ledger prints as 0.08).
#
# ## What we found
#
# * With tied variances flatness and norm enter a Gaussian certificate only through their product, group by group. A minimum that is flatter by a factor, with a squared norm that is larger by the same factor, gains nothing.
# * The rate $m^{-1/3}$ comes from the form of the bound and not from the network: the measured slope is {glue:text}`slope_hoeffding:.2f`, and for the kl form with the same noise it is {glue:text}`slope_kl:.2f`.
# * The norm of the attention scores contributes hardly anything to the constant if they have a variance of their own, so nearly all of the constant is due to the MLP.
# * All of this is about a network written by hand, for one function. {ref}`ch-from-gaussians-to-occam` asks whether Gaussians are the right prior at all.
#
# ## What would falsify this
#
# * *The law* would be false if the product $R K$ missed $C/2$ by more than four standard errors as the noise vanishes. It would also be false if a constant for finer groups were larger, because finer groups have more choice.
# * *The rates* would be false if a certificate fell with another power of $m$. It does so if the noise is not adapted to $m$, or if the training error for Occam's bound is not 0.
# * *Our explanation of the constant* would be false if the constant by block grew with $T$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` evaluates one form, with one variance and the sub-Gaussian constant 0.01. With this value the paper instantiates its bound; at trained networks it measures 0.01 to 0.1. This is the paper's form of the last table, with another constant, and {ref}`ch-pac-bayes` has that bound with all its terms.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-rates-scale
#
# *By hand.* Multiply $G$ and $b$, the weights of the MLP's hidden units and their biases, by $\alpha > 0$ and divide its other weights $F$ by $\alpha$, which leaves the function as it is. Which of the three constants change?
# ```
#
# ```{solution} ex-rates-scale
# :class: dropdown
#
# If a weight $\theta_i$ is multiplied by $\alpha$, its derivative is divided by $\alpha$, so by weight nothing changes. By block nothing changes either, since $G$, $b$ and $F$ are groups of their own. With one variance $N$ and the sum of the gradients change, and so does their product.
# ```
#
# ```{exercise}
# :label: ex-rates-degree
#
# *With the computer.* Run the chapter for a parity of three bits, by `python -m bookkit.run beyond/three_rates -p degree 3 --out my_run`. Then compute, for degrees 1, 2 and 3 at the same length, how $\sqrt C$ by block is divided among the blocks. Which blocks grow with the degree, and which would you try to make flatter or smaller first?
# ```
#
# ```{solution-start} ex-rates-degree
# :class: dropdown
# ```
#
# The function `network` above returns the squared norms and gradients of each group. A group whose part is below a thousandth of the sum at every degree is left out of the table.

# %%
answer = {}
for d in (1, 2, 3):
    groups, N, G = network(n, d, 1)[3]["by block"]
    root = (N * G).sqrt()
    answer[f"degree {d}"] = pd.Series(root.tolist(), index=groups.names)
answer = pd.DataFrame(answer).rename_axis("group")
answer = answer[(answer > 1e-3 * answer.sum()).any(axis=1)]
table(answer, f"Parts of the root of C by group, one parity out of {n} bits", form=".2f")

# %% [markdown]
# The three weight groups of the MLP, $G$, $b$ and $F$, have nearly all of $\sqrt C$ at every degree, and all three grow with it. The paper's MLP has $4 (d + 1)$ hidden units with slopes of size $2d$, so a flatter way to compute a parity from a count of bits would gain most. The scores of the second attention and the read-out contribute little.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-rates-tied
#
# *To think about.* Show that no choice of groups brings a Gaussian certificate with tied variances to the rate $1/m$.
# ```
#
# ```{solution} ex-rates-tied
# :class: dropdown
#
# First we bound $R K$ from below for all deviations that do not exceed some fixed bound. (If a deviation is larger, the network has a risk that does not become small, whichever group it belongs to, so such choices are of no use for a rate. But $R K$ itself can then be small, because $K$ is.) Take a group $g$ with $N_g G_g > 0$. With a probability that is bounded below the noise of the other groups is then so small that the output changes with the weights of $g$ almost as it does without this noise, and therefore $R \ge c' s_g^2$ for some $c' > 0$. (This is true with clipped outputs as well, because in our network small noise in the groups without gradient leaves the output as it is.) As $K \ge N_g / 2 s_g^2$, the product $R K$ is at least $c = c' N_g / 2$.
#
# Let $q$ be the certificate over $b$. From $K/m \le \mathrm{kl}(R/b, q)$ and $R \le b q$ it follows, as in the proof of {prf:ref}`beyond-rates-rates`, that $q \ge \mathrm{const} \cdot \sqrt{c/(b m)}$. So the certificate falls no faster than $m^{-1/2}$ unless $C = 0$, that is, unless every weight with a gradient is 0. A prior that is centred at the network leads to Occam's bound, and for one that is wider than the posterior $K$ is not $\sum_g N_g / 2 s_g^2$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The form that is compared with, and the network, are from {cite:t}`sharper`, who name variances by group as a way to tighten it.
