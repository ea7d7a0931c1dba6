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
# The paper's bound on the risk has the right form, but a step of its proof fails with the paper's value of one constant. The constant says how much the loss varies from string to string; the paper measures it at trained networks, but the proof needs it at random weights. At their centre, all weights zero, the theorem's constant is at least about {glue:text}`times_10:.0f` times that value. There even the weaker condition of the proof makes the bound at least {glue:text}`least_centre:.2f` in the paper's example of a million strings, where a constant output has the risk 0.25. If outputs are clipped, a valid constant is known.
# ```
# **Needs** {ref}`ch-construction`. **Read** 21 min. **Runs in** 10 s. **Source** quoted (the theorem), restored (its derivation).
#
# **Claim.** A network that fits its sample, is flat and has a small norm generalizes. Theorem 2 bounds its *risk*, the mean loss on new strings, by a term for its sharpness and a term for its norm. At the best size of the noise the bound falls like the inverse cube root of the number of examples.
#
# We find that the algebra is right. But the bound contains a constant $\Sigma$ for the variation of the loss, and the paper measures it at trained networks. The derivation uses $\Sigma$ at networks that are drawn from the *prior*, a distribution of weights that is fixed before the sample is seen, and there it is larger. This remains so if we ask only for what the derivation uses, and not for all that the theorem states. So the proof has a gap, while the theorem, which contains no value for $\Sigma$, may hold.
#
# If outputs are clipped, a constant is known that holds for all networks. The bound with this constant holds even if the *posterior*, the law of the noisy weights, depends on the sample. We tested it on a model problem in which an adversary chooses the posterior. The largest share of the samples drawn on which it failed is {glue:text}`fail_right:.0%`.

# %% tags=["parameters"]
delta = 0.05  # probability with which the bounds may fail [0.01..0.2]
toy_bits = 8  # bits of the exact example [7..11]
toy_points = 64  # size of its samples, and a quarter and four times that [32..400]
draws = 4000  # samples drawn for each share of failures [1000..20000]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch
from torch import Generator
from torch.distributions import Binomial, Normal, kl_divergence

from bookkit import Ledger, figures, glue, table
from bookkit.moving import Axis, Frame, moving, written
from helpers.cube import index_of
from helpers.kernels.walsh import walsh_hadamard
from helpers.rng import Rng
from helpers.statistics import power
from papers.sharper import pac_bayes as pb
from papers.sharper.network import construct, forward
from papers.sharper.semi_analytic import tiling
from papers.sharper.tabulated import gradient_bound

ledger, source = Ledger("sharper/pac_bayes"), Rng(seed)
thm2 = ledger.result("sharper.thm2")
best_sigma, best_lambda = ledger.result("sharper.e2.sigma"), ledger.result("sharper.e2.lambda")
rate, divergence = ledger.result("sharper.e2.rate"), ledger.result("sharper.e2.kl")
PROVED = {"about": "statement", "evidence": "proved"}
SMALL = 0.01  # the constant with which the paper instantiates its bound
G, L = gradient_bound(2, 10), pb.norm_squared(20, 2, 10)  # of the paper's example
sigma_star = pb.optimal_sigma(L, G, 1e6, SMALL)
spec, weights = construct(tiling(20))
glue(delta=delta, toy_bits=toy_bits, sigma_star=sigma_star)
glue(value=pb.truncated_optimum(L, G, 1e6, SMALL), nats=f"{pb.gaussian_kl(L, sigma_star):.1e}")
unseen = (1 - 2.0**-20) ** 1e6  # share of the strings of 20 bits, after a million examples
glue(met=1 - unseen, table_risk=unseen / 4)

# %% [markdown]
# ## Why one should care
#
# Suppose that a network has been trained on a sample and fits it without error, and that we want to know how large its error is on new strings. A *PAC-Bayes* bound answers with two numbers of the network. The first is its *sharpness*: how much its error grows if every weight is moved by a little random noise. The second is the length of its weight vector, because the bound grows with the network's distance from the centre of the prior, which is the network with all weights zero. The paper computes both numbers for a network written by hand, and so turns a bound on networks in general into a bound on the functions that such networks compute.
#
# But there is a third number in the bound, a constant $\Sigma$ that multiplies the term for the norm. The paper takes $\Sigma = 0.01$, and this is what makes the result small. In its example the KL divergence that the norm causes is {glue:text}`nats` nats (units of the natural logarithm). The paper has a million examples there, so this is more than a hundred nats for each. So we have to know for which networks $\Sigma$ must hold. Is it enough to measure it at networks that have been trained?
#
# ## One weight by hand
#
# We begin with a network that has a single weight. The input is a fair bit $x \in \{0, 1\}$, the target is $f(x) = x$, and the network computes $f_\theta(x) = \theta x$. So the weight $\theta^* = 1$ computes the target exactly. At a weight $\theta$ the squared error is $\ell_\theta(x) = (\theta - 1)^2 x$, that is, $(\theta - 1)^2$ at $x = 1$ and $0$ at $x = 0$. The three numbers of the bound are
#
# * **sharpness**: if noise $\sigma u$ with a standard normal $u$ is added to the weight $\theta^*$, the mean loss is $\sigma^2\, \mathbb E_x x = \frac12 \sigma^2$. The factor in front of $\sigma^2$ is called $G_u$, so $G_u = \frac12$;
# * **norm**: the squared length of the weights is $L = \theta^{*2} = 1$. The KL divergence measures how much two laws differ, and that of $\mathcal N(1, \sigma^2)$ from the prior $\mathcal N(0, \sigma^2)$ is $\frac{L}{2 \sigma^2}$;
# * **constant**: the loss takes two values, each with chance $\frac12$, and $\Sigma$ is half of their distance, $\Sigma = \frac12 (\theta - 1)^2$. This is the constant of Hoeffding's lemma, and for a loss with two equally likely values no smaller one is right.
#
# The constant depends on the weight: at the solution $\theta = 1$ it is 0, at $\theta = 1.1$ it is $0.005$, and at the centre of the prior, $\theta = 0$, it is $\frac12$. Let $m$ be the number of examples. Without the small term $\log \frac1\delta$, which is the price of being wrong with probability at most $\delta$, the bound is the least value over $\sigma$ of
#
# $$G_u \sigma^2 + \frac{\Sigma \sqrt{L/m}}\sigma .$$
#
# In words, more noise makes the first term, the sharpness, larger, and the second term, that of the norm, smaller.

# %%
by_hand = pd.DataFrame(index=pd.Index([1, 100], name="examples"))
for where, S in (("at the centre of the prior, 1/2", 0.5), ("near the solution, 0.01", 0.01)):
    by_hand[where] = [pb.truncated_optimum(1.0, 0.5, m, S) for m in by_hand.index]
table(by_hand, "One weight: the bound with two values of the constant", form=".3f")
glue(one_example=by_hand.iloc[0, 1])

# %% [markdown]
# With $\Sigma = \frac12$ a hundred examples give a bound below $\frac14$, the risk of the constant output $\frac12$. With $\Sigma = 0.01$ a *single* example would give {glue:text}`one_example:.2f`, which cannot be right. To see this, note that with chance $\frac12$ the single example is $x = 0$. Then every weight fits it, and a learner that returns $\theta = 0$ has fitted the sample, has a smaller norm than $\theta^*$, and is perfectly flat on the sample, but its risk is $\frac12$. So if the constant is measured at weights that have learned the target, the bound can be wrong for weights that have not. The constant must hold for all weights that the learner could have returned.
#
# Even $\Sigma = \frac12$ does not hold for all of them: the weight $\theta = -1$ has the same norm as $\theta^*$, and there the constant is 2. So the first column shows how large the effect is, but it is not yet a valid bound. The repair below gives one.
#
# ## The statement
#
# The *target* is a sum of $W$ parities, $f = \sum_{i \le W} c_i\, p_{U_i}$, on strings $x$ of $T$ bits. Here $p_U(x)$ is 1 if the bits of $x$ in the set $U$ have an even sum, and 0 otherwise. Each set $U_i$ has $d$ members, and the coefficients satisfy $c_i > 0$ and $\sum_i c_i^2 = 1$.
#
# The loss of a network $f_\theta$ with weights $\theta$ is $\ell_\theta(x) = (f_\theta(x) - f(x))^2$. Its *risk* $R(\theta)$ is the mean loss over all strings, and its *training error* $r(\theta)$ is the mean loss over a sample of $m$ random strings.
#
# Let $\theta^*$ be the weights of the hand-written network of {ref}`ch-construction`. The paper bounds the squared norm $\|\theta^*\|^2$ by a number $L$, and half the trace of the Hessian of the loss at $\theta^*$ by a number $G_u$. (Whether the second bound is right is the question of {ref}`ch-gradients-and-trace`.) The two numbers are
#
# $$L = 1 + W + 16d^2(d+1) + 8(d+1) + 4 (d + 1) W \log^2 T, \qquad G_u = 4 + 4W(2 + d + 32d^2 + 32d^3) .$$
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 2
# :label: sharper-thm2
# *(As quoted; its derivation is repaired below.)* Let $\hat\theta$ fit a sample of $m$ strings exactly, with norm and mean perturbed sharpness (the mean increase of the loss if normal noise of standard deviation $\sigma$ is added to the weights) no larger than those of $\theta^*$. Let the loss be sub-Gaussian with constant $\Sigma$, which means that for fixed $\theta$ and all $\lambda > 0$
#
# $$\mathbb E_x\, e^{\lambda (R(\theta) - \ell_\theta(x))} \le e^{\lambda^2 \Sigma^2/2} .$$
#
# Let $u$ be a vector of independent standard normal variables. Then with probability $1 - \delta$ over the sample
#
# $$\mathbb E_u R(\hat\theta + \sigma u) \le \sigma^2 \bigl( G_u + P(\sigma) \bigr) + \Sigma \sqrt{\frac 2m \left( \frac{L}{2 \sigma^2} + \log \frac1\delta \right)} .$$
# ```
#
# In words, the risk of the network under noise is at most a term for its sharpness plus a term for its norm. The first contains $P(\sigma)$, the amount by which the Hessian term grows under the noise ({ref}`ch-semi-analytic-bound` measures it). If we leave out $P(\sigma)$ and $\log \frac1\delta$, the bound is called *truncated*. The displayed formulas are missing in the text that we could read. This one is quoted by a public reading note on the paper, and we restored the conditions around it from the words of the derivation.
#
# The paper's example (Appendix E.3) has $T = 20$ bits in ten pairs, so $d = 2$ and $W = 10$, with $c_i = W^{-1/2}$, a million examples and $\Sigma = 0.01$. A constant output has the risk $\frac14$ on this target without any learning.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The paper's example: the least value of the truncated bound against the number of examples, with the paper's $\\Sigma$, with the least that it can be under the prior, and with the one that is valid for every clipped network.", "name": "fig-pac-bayes-example"}, "image": {"alt": "Three parallel falling lines of slope minus one third on log-log axes: the line for Sigma 0.01 crosses one quarter near a million examples, the two others cross it four and five decades later."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
sizes = torch.logspace(4, 14, 41, dtype=torch.float64)
constants = {"$\\Sigma = 0.01$": SMALL, "prior": pb.square_spread(10), "$W/2$": 5.0}
for i, (label, S) in enumerate(constants.items()):
    ax.plot(sizes, pb.truncated_optimum(L, G, sizes, S), **figures.line_style(i, label=label))
figures.level(ax, 0.25, "1/4")
ax.set(xscale="log", yscale="log", xlabel="examples $m$", ylabel="bound on the risk")
ax.legend(fontsize=8)
figures.show()

# %% mystnb={"code_prompt_hide": "Moving figure", "code_prompt_show": "Moving figure"} tags=["hide-input", "nbval-ignore-output"]
noises = (sigma_star * 10 ** (torch.arange(-13, 8).double() / 12)).tolist()


def terms(s, m):
    """The bound without P: its sharpness, its norm term."""
    return G * s**2, pb.bound(L, G, s, m, SMALL, delta) - G * s**2


def at(s, m):
    (sharp, norm), (every_sharp, every_norm) = terms(s, m), terms(torch.tensor(noises), m)
    value, best = sharp + norm, pb.optimal_sigma(L, G, m, SMALL, delta)
    return Frame(
        f"At m = {written(m)} and σ = {s:.2g}: sharpness {sharp:.3g} + norm {norm:.3g} = bound {value:.3g}. "
        f"The best σ is {best:.2g}.",
        lines={
            "bound": (noises, every_sharp + every_norm),
            "sharpness": (noises, every_sharp),
            "norm": (noises, every_norm),
        },
        dots={"bound": ([s], [value]), "sharpness": ([s], [sharp]), "norm": ([s], [norm])},
        grey={"1/4, a constant": (noises[::-1], [0.25] * len(noises))},
    )


moving(
    "noise",
    {"noise σ": noises, "examples m": [10.0**k for k in range(4, 11)]},
    at,
    (
        Axis("noise σ", noises[0], noises[-1], log=True, ticks=(2e-4, 5e-4, 1e-3, 2e-3, 5e-3)),
        Axis("bound on the risk", 1e-3, 30, log=True),
    ),
    caption="The bound and its two terms in the paper's example, Σ = 0.01. More noise costs sharpness "
    "and saves norm; at the best noise one third of the bound is sharpness. With ten times the examples "
    "the norm term falls, and the best noise moves to the left.",
    alt="Log-log plot against the noise: a rising line, the sharpness, a falling one, the norm term, "
    "and above both their sum, a valley. A mark on each line stands at the chosen noise.",
    start=(sigma_star, 1e6),
)

# %% [markdown]
# In {numref}`fig-pac-bayes-example` the lines are parallel, since all three fall like $m^{-1/3}$; only their height differs. The bound falls below $\frac14$
#
# * near a million examples with $\Sigma = 0.01$;
# * with more than $10^4$ times as many with the least constant that is possible at the centre of the prior;
# * with more than $10^5$ times as many with the constant that is valid for every clipped network.
#
# These sample sizes compare constants and are no sizes of real samples, because there are only $2^{20} \approx 10^6$ strings of 20 bits. A million random examples already contain {glue:text}`met:.0%` of them, and a table of these, with the best constant elsewhere, has a risk of {glue:text}`table_risk:.2f` without any theory.
#
# The reading note quotes three numbers of this example: $G_u$, $L$ and the best $\sigma$. We recompute all three, and our best $\sigma$ agrees with the quoted one only if the norm is squared and $\Sigma = 0.01$ ({ref}`ch-bound-comparison`), so we have read the theorem as it was meant. The note quotes no value of the truncated bound itself. At a million examples this value is {glue:text}`value:.3f`. The KL divergence is {glue:text}`nats` nats there, and the bound is small all the same because $\Sigma$ is small.
#
# ## How the bound arises
#
# **The idea.** For a network that was fixed before the sample, the mean loss on the sample is close to the risk, except with a small probability. If the network is chosen after the sample, that is no longer true, because one can search for a network that looks better on this sample than it is. The way out is to average over all networks first, with weights given by the prior, so that nothing has been chosen yet. A change from the prior to any other law over networks, the *posterior*, then costs no more than the KL divergence between the two. We now go through the steps.
#
# 1. *One network.* Fix a number $\lambda > 0$ and a prior $\pi$, a law over weights that is chosen before the sample is seen. The $m$ strings of the sample are independent, and $R - r$ is the mean of the $m$ differences $R - \ell_\theta(x)$. So we multiply the condition on $\Sigma$, with $\frac\lambda m$ in place of $\lambda$, over the $m$ strings: for a fixed $\theta$ the mean of $e^{\lambda(R - r)}$ over samples is at most $e^{\lambda^2 \Sigma^2/(2m)}$.
# 2. *All networks, with weights from the prior.* The mean over $\theta$ drawn from $\pi$ obeys the same bound. By Markov's inequality a positive variable exceeds $\frac1\delta$ times its mean with probability at most $\delta$. So with probability $1-\delta$ we have $\log \mathbb E_\pi e^{\lambda(R-r)} \le \lambda^2\Sigma^2/(2m) + \log\frac1\delta$.
# 3. *Any posterior.* For every posterior $\rho$ at once, the formula of Donsker and Varadhan bounds $\lambda\, \mathbb E_\rho (R - r)$ by $\mathrm{KL}(\rho \| \pi) + \log \mathbb E_\pi e^{\lambda(R-r)}$. We insert step 2 and divide by $\lambda$:
#
# $$\mathbb E_\rho R \le \mathbb E_\rho r + \frac{\lambda \Sigma^2}{2m} + \frac{\mathrm{KL}(\rho\|\pi) + \log(1/\delta)}{\lambda} .$$ (eq-alquier)
#
# In Theorem 2 the posterior is $\rho = \mathcal N(\hat\theta, \sigma^2 I)$, the prior is $\pi = \mathcal N(0, \sigma^2 I)$, and the training error satisfies $\mathbb E_\rho r \le \sigma^2 (G_u + P)$. To get from {eq}`eq-alquier` to Theorem 2, three computations are left.
#
# * **The divergence.** At the point $\theta + \sigma u$ the logarithm of the ratio of the two densities is $(\|\theta + \sigma u\|^2 - \|\sigma u\|^2)/2\sigma^2$. Since $u$ has mean 0, the mean of this logarithm, which is the divergence, is $\|\theta\|^2 / 2\sigma^2$.
# * **The best $\lambda$.** The last two terms of {eq}`eq-alquier` have a constant product, so their sum is smallest where they are equal, at $\lambda = \sqrt{2m(\mathrm{KL} + \log(1/\delta))}/\Sigma$. But $\lambda$ has to be fixed before the sample, and the divergence depends on the sample. So we replace the divergence by its bound $L/2\sigma^2$, which is known beforehand.
# * **The best $\sigma$.** As in the example with one weight, the truncated bound is $G_u \sigma^2 + \Sigma \sqrt{L/m} / \sigma$. Its derivative vanishes at $\sigma^*$. There the bound has the value $B^*$, of which one third is sharpness and two thirds are norm:
#
# $$\sigma^* = \Bigl( \frac{\Sigma}{2G_u} \sqrt{L/m} \Bigr)^{1/3}, \qquad B^* = 3 \Bigl( \frac{\Sigma^2 G_u L}{4m} \Bigr)^{1/3} .$$ (eq-optimum)
#
# **The check.** If there were a slip in this algebra, some value would be better than the closed form. So the divergence is compared with the general formula for two Gaussians, and the optima with 400 other values of $\lambda$ and $\sigma$ in the example. It is enough to do this for one choice of $m$, $L$ and $G_u$, because at $t$ times the optimum the two curves are $\frac12(t + \frac1t)$ and $\frac13(t^2 + \frac2t)$ times their least value.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
theta = torch.cat([w.flatten() for w in weights.values()])
rho, pi = Normal(theta, sigma_star), Normal(torch.zeros_like(theta), sigma_star)
general = kl_divergence(rho, pi).sum().item()
text = (
    "ratio of the divergence by the general formula to $\\lVert \\theta \\rVert^2/(2\\sigma^2)$; "
    "control: the norm in place of its square"
)
square = theta.square().sum().item()
found, rooted = (general / pb.gaussian_kl(N, sigma_star) for N in (square, square**0.5))
divergence.holds(text, found, equals=1, tol=1e-12, control=rooted, **PROVED)

kl, factors = pb.gaussian_kl(L, sigma_star), torch.logspace(-2, 2, 400, dtype=torch.float64)
lam = math.sqrt(2 * 1e6 * (kl - math.log(delta))) / SMALL
OPTIMA = {
    "\\lambda": (best_lambda, lambda x: pb.alquier(0.0, kl, 1e6, delta, SMALL, x), lam),
    "\\sigma": (best_sigma, lambda s: G * s**2 + SMALL * (L / 1e6) ** 0.5 / s, sigma_star),
}
for name, (result, curve, start) in OPTIMA.items():
    text = (
        f"least amount by which 400 other values of ${name}$ give more than the closed form; "
        "control: twice the closed form"
    )
    least, moved = ((curve(factors * x) / curve(x) - 1).min() for x in (start, 2 * start))
    result.holds(text, least, at_least=0, control=moved, **PROVED)

best_sigmas = pb.optimal_sigma(L, G, sizes, SMALL)
best_norm, fixed_norm = (SMALL * (L / sizes).sqrt() / s for s in (best_sigmas, sigma_star))
best, fixed = G * best_sigmas**2 + best_norm, G * sigma_star**2 + fixed_norm
best, fixed, best_norm, fixed_norm = (
    power(sizes, y).item() for y in (best, fixed, best_norm, fixed_norm)
)
text = (
    "power of $m$ with which the truncated bound at the best $\\sigma$ falls, $10^4 \\le m \\le "
    "10^{14}$; control: the bound at fixed $\\sigma$"
)
rate.holds(text, best, equals=-1 / 3, tol=1e-9, control=fixed, **PROVED)
text = "power of $m$ with which the norm term falls at fixed $\\sigma$; control: at the best $\\sigma$ of each $m$"
rate.holds(text, fixed_norm, equals=-1 / 2, tol=1e-9, control=best_norm, **PROVED)

# %% [markdown]
# None of the 400 values is better for $\lambda$ or for $\sigma$, so the algebra is confirmed.
#
# ## The step that asks for more
#
# We now ask at which networks the derivation needs the constant $\Sigma$. Step 2 averages over the prior. So **the condition on $\Sigma$ is used at networks drawn from the prior**, as in the example with one weight. Theorem 2 states the condition "for fixed" $\theta$. If this means every $\theta$, the derivation is complete wherever $G_u$ bounds half the trace of the Hessian at $\theta^*$. (In the paper's example $G_u$ does, but {ref}`ch-gradients-and-trace` shows that it does not for all $T$, $W$ and $d$.)
#
# But if the condition is meant for every $\theta$, then $\Sigma$ cannot be 0.01. This is the value with which the paper instantiates the bound, and it was measured at trained networks. To see why it is too small, look at the centre of the prior, the network with all weights zero. It outputs 0, so its loss is $f(x)^2$. A sub-Gaussian constant is never below the standard deviation, so $\Sigma$ is at least the standard deviation of $f(x)^2$. For $W$ disjoint sets and equal coefficients, $\sqrt W f$ is the number of heads in $W$ tosses of a fair coin, and the standard deviation of $f^2$ is $\sqrt{(W + 1)(2W - 1)/(8W)}$.

# %%
bits = source.strings(20, 4000)
there = (forward(spec, weights, bits) - tiling(20)(index_of(bits))).square()

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
thm2.refuted(
    "where the derivation averages: standard deviation of the loss at the centre of the "
    "prior, which $\\Sigma$ is never below, against 0.1, in the example of E.3; control: "
    "$\\Sigma$ at the hand-written network",
    pb.square_spread(10),
    at_most=0.1,
    control=pb.subgaussian_constant(there),
    about="proof",
    evidence="proved",
)
glue(spread_10=pb.square_spread(10))
glue(**{f"times_{W}": pb.square_spread(W) / SMALL for W in (1, 10, 25)})

# %% [markdown]
# At the hand-written network itself $\Sigma$ is below 0.1, as the paper finds at trained ones. At the prior's centre it is at least {glue:text}`spread_10:.2f` for the paper's example. For larger weights it grows without limit, and a Gaussian prior gives weights of every size some probability. The chapter {ref}`ch-loss-constant` treats what $\Sigma = 0.01$ means at a trained network, and when the inequality holds although this constant is not valid under the prior.
#
# **One $\lambda$ is enough for the proof.** The theorem asks for the condition at all $\lambda$, but step 1 of the derivation uses it only at $t = \frac\lambda m$, for the $\lambda$ that was fixed. So a smaller $\Sigma$ may be enough for the proof. But it cannot make the bound small in the paper's example, because a small $\Sigma$ is enough only at a large $\lambda$, and there the middle term of {eq}`eq-alquier` is large all the same. To see this, look at the two terms of {eq}`eq-alquier` that contain $\lambda$:
#
# * *The last term* is the divergence and $\log \frac1\delta$, divided by $\lambda$, so a small $\lambda$ makes it large.
# * *The middle term* is $\frac12 t\, \Sigma^2$. A large $\lambda$ permits a small $\Sigma$, but the condition then keeps this product from becoming small.
#
# The second point can be seen with one weight. At the centre $R - \ell$ is $\frac12$ or $-\frac12$, each with chance $\frac12$. All $\lambda$ together ask there for $\Sigma = \frac12$, whereas at $t = 100$ alone $\Sigma = 0.1$ is enough. But with it the middle term is $\frac12 \cdot 100 \cdot 0.1^2 = \frac12$, which is the whole risk at the centre.
#
# In general let $h(t) = \frac1t \log \mathbb E_x\, e^{t (R - \ell(x))}$ at the centre of the prior, where $x$ is a random string. The condition at this $\lambda$ says that $\frac12 t \Sigma^2 \ge h(t)$. The middle term of {eq}`eq-alquier` is then at least $h(t)$, which does not depend on $\Sigma$, and for every $\lambda$ and $\sigma$ the bound is at least
#
# $$G_u \sigma^2 + h(t) + \frac{1}{m t} \Bigl( \frac{L}{2 \sigma^2} + \log \frac1\delta \Bigr) \ge h(t) + \sqrt{\frac{2 G_u L}{m t}} + \frac{\log(1/\delta)}{m t} ,$$
#
# where $\sigma$ has its best value on the right. It remains to minimise over $t$. By Jensen's inequality $h$ is not negative, and it increases with $t$, whereas the two other terms decrease. So between two neighbours of a grid the sum is at least $h$ at the left one plus the other terms at the right one. If the least value were below $\frac14$, the weaker condition at the centre would be no obstacle to the paper's result.

# %%
heads = torch.arange(11, dtype=torch.float64)  # of 10 tosses; the loss is heads**2 / 10
chance = Binomial(10, torch.tensor(0.5, dtype=torch.float64)).log_prob(heads)
drop = (chance.exp() * heads**2).sum() / 10 - heads**2 / 10  # R - loss
t = torch.logspace(-6, 8, 140001, dtype=torch.float64)  # lambda / m
at_centre = torch.logsumexp(chance + t[:, None] * drop, -1) / t


def least_bound(m, middle=at_centre):
    """No lambda and no sigma gives less, if the middle term of the bound is this one."""
    rest = (2 * G * L / (m * t)).sqrt() - math.log(delta) / (m * t)
    between = (middle[:-1] + rest[1:]).min().item()
    return min(between, rest[0].item(), middle[-1].item())


needed = (2 * at_centre / t).sqrt()  # the Sigma that the centre asks for at t
own = {}
for name, s in (("paper", sigma_star), ("best", pb.optimal_sigma(L, G, 1e6, needed))):
    nats = L / (2 * s**2) - math.log(delta)
    own[name] = needed[needed * t <= (2 * nats / 1e6) ** 0.5].min()  # enough at its own lambda
used = lam / 1e6  # at which the paper's numbers use the condition
there_needed = needed[(t - used).abs().argmin()].item()
with_it = G * sigma_star**2 + pb.alquier(0.0, kl, 1e6, delta, there_needed, lam)

# Networks drawn from the prior, at the noise whose sharpness alone is the least bound.
width = math.sqrt(least_bound(1e6) / G)
drawn = Generator().manual_seed(seed)
strings = torch.randint(0, 2, (1000, 20), generator=drawn)
f = tiling(20)(index_of(strings)).double()
outputs = torch.stack(
    [
        forward(
            spec,
            {k: width * torch.randn(v.shape, generator=drawn).double() for k, v in weights.items()},
            strings,
        )
        for _ in range(100)
    ]
)
more = (f - outputs).square() - f.square()  # loss over that of the centre
shifted = (more.mean(1, keepdim=True) - more).abs().max().item()  # R - loss
glue(prior_output=math.ceil(100 * outputs.abs().max().item()) / 100)
glue(prior_shift=math.ceil(100 * shifted) / 100)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
thm2.refuted(
    "least value, over all $\\lambda$ and $\\sigma$, that the bound can have in the example of "
    "E.3 if $\\Sigma$ is right at this one $\\lambda$ at the centre of the prior, against the "
    "risk of a constant; control: with the moment of $\\Sigma = 0.01$",
    least_bound(1e6),
    at_most=0.25,
    control=least_bound(1e6, t * SMALL**2 / 2),
    about="proof",
    evidence="proved",
)
glue(used=used, there_needed=there_needed, with_it=with_it, least_centre=least_bound(1e6))
glue(own_paper=own["paper"].item(), own_best=own["best"].item())
glue(m_one=float(pb.first_sample_size(least_bound, 0.25)))
glue(m_all=pb.sample_size(L, G, pb.square_spread(10), delta, 0.25))

# %% [markdown]
# The weaker condition hardly changes the result. Whatever $\lambda$, $\sigma$ and $\Sigma$ are chosen, the bound at a million examples is at least {glue:text}`least_centre:.2f` if $\Sigma$ meets the condition at the centre. This is the risk of the network at the centre itself, $2.75 = 2.5 + 0.25$, the squared mean of $f$ plus its variance, so the examples gain nothing. The following three points say what this means for a choice of $\lambda$ and $\Sigma$:
#
# * *The $\lambda$ of the paper's numbers.* It has $\frac\lambda m =$ {glue:text}`used:.0f`, and there the centre asks only for $\Sigma \ge$ {glue:text}`there_needed:.3f`. This is more than 0.01, but it lies in the range from 0.01 to 0.1 that the paper measured. It is no remedy, because with this $\Sigma$ and this $\lambda$ the bound is {glue:text}`with_it:.1f`, more than ten times the risk of a constant output.
# * *The $\lambda$ that belongs to $\Sigma$.* The theorem would take another $\lambda$, because the best $\lambda$ decreases as $\Sigma$ grows, and at a smaller $\lambda$ the centre asks for more. The least $\Sigma$ that is enough at its own $\lambda$ is {glue:text}`own_paper:.2f` at the paper's $\sigma$, and {glue:text}`own_best:.2f` at the $\sigma$ that is best for it.
# * *More examples.* The bound can be below $\frac14$ from {glue:text}`m_one:.3g` examples on, where a constant for all $\lambda$ needs {glue:text}`m_all:.3g`.
#
# Is it fair to look at the centre only? The derivation averages the condition over the prior, and in this average the centre alone has no weight. But the average asks for nearly as much, because networks drawn from the prior output nearly 0, like the one at the centre. With a $\sigma$ at which $G_u \sigma^2$ alone is {glue:text}`least_centre:.2f`, the outputs of 100 networks were at most {glue:text}`prior_output:g`, and $R - \ell$ differed from its value at the centre by at most {glue:text}`prior_shift:g`.
#
# How does the averaged condition lead back to the centre? For a single network $e^{\lambda(R - r)}$ has the mean $e^{\lambda h(t)}$ over samples, with the $h$ of this network. By Jensen's inequality the mean of $e^{\lambda h(t)}$ over the prior is at least $e^{\lambda\, \mathbb E_\pi h(t)}$, so $\frac12 t \Sigma^2$ has to be at least the mean of $h(t)$ over the prior. Hence the averaged condition lowers the least bound by a few hundredths at most.
#
# ## A repair
#
# The loss is unbounded because the outputs are. (Remark 4 of the paper assumes that something is bounded, and then argues by Hoeffding's lemma as well, see {ref}`ch-loss-constant`.) The target, however, lies in a known interval, so nothing is lost if outputs are cut off at its ends. Then the loss of *every* network lies in a known interval too, and Hoeffding's lemma gives a constant that holds under the prior as well.
#
# ```{prf:theorem} Repaired: the bound for bounded losses, after Catoni (2007)
# :label: pac-bayes-repaired
# Clip every output to $[0, \sqrt W]$, the interval in which $f$ has its values. Then with probability $1 - \delta$, for all $\theta$ with $\|\theta\|^2 \le L$ at once, and so also for one that is chosen after the sample,
#
# $$\mathbb E_u R(\theta + \sigma u) \le \mathbb E_u r(\theta + \sigma u) + \frac W2 \sqrt{\frac 2m \left( \frac{L}{2 \sigma^2} + \log \frac1\delta \right)} .$$
# ```
#
# ```{dropdown} Proof
# We follow the derivation above with the constant $\Sigma = \frac W2$.
#
# 1. *The condition holds for every network.* The clipped output and the target both lie in $[0, \sqrt W]$, so the clipped loss lies in $[0, W]$ for every network. By Hoeffding's lemma every network, those drawn from the prior included, satisfies the condition with $\Sigma = \frac W2$. Hence for a sample $S$ of independent strings $\mathbb E_S\, e^{\lambda (R - r)} \le e^{\lambda^2 W^2 / 8m}$. (From here on the proof is that of the standard PAC-Bayes bound for bounded losses, {cite:t}`catoni2007`; see Theorem 2.1 of {cite:t}`alquier2024` with $C = W$.)
# 2. *The mean over the prior.* Average over $\pi$ and exchange the two means, over samples and over networks. By Markov's inequality, with probability $1 - \delta$, $\log \mathbb E_\pi e^{\lambda (R - r)} \le \lambda^2 W^2 / 8m + \log \frac1\delta$.
# 3. *Any posterior.* By the formula of Donsker and Varadhan, $\lambda\, \mathbb E_\rho (R - r) \le \mathrm{KL}(\rho \| \pi) + \log \mathbb E_\pi e^{\lambda (R - r)}$ for any $\rho$. Here $\rho = \mathcal N(\theta, \sigma^2 I)$, whose divergence from the prior is at most $L/2\sigma^2$.
# 4. *The best $\lambda$.* Divide by $\lambda$ and take the best $\lambda$ for the number $L/2\sigma^2$, which does not depend on the sample. The result is the theorem.
#
# The training error of Theorem 2 is not lost by clipping. Clipping raises no loss, since $f$ lies in the interval, so where $\mathbb E_u r \le \sigma^2 (G_u + P)$ held before, it still does. $\square$
# ```
#
# ## Is every piece needed?
#
# Which parts of the bound could be dropped? To find out we need a problem in which a wrong bound fails often. If the posterior did not depend on the sample, no KL term would be needed, and a bound without it would be valid as well. So we let an adversary see the sample first and choose the posterior that makes the training error look best.
#
# *The predictors.* Take strings of $n =$ {glue:text}`toy_bits` bits. For each of the $2^n$ subsets of bits there is one function, which outputs 0 or $\sqrt W$ according to the parity of that subset. One of these functions is the target, and the other $K = 2^n - 1$ are predictors. The loss of a predictor is 0 or $W$, each for half of all strings, which is the largest variation that Hoeffding's lemma allows.
#
# *The posteriors.* A weight vector $\theta \in \mathbb R^K$ has one entry for each predictor, and picks the predictor of its largest entry. Let $e_k$ be the $k$-th unit vector. The posterior $\mathcal N(a e_k, \sigma^2 I)$ mostly picks predictor $k$ if $a$ is large against $\sigma$, and its divergence from the prior is $a^2/2\sigma^2$ nats. For every sample the adversary chooses as $k$ the predictor with the largest $R - r$. We vary the size of the samples and $a/\sigma$. The number $W$ is 10, as in the paper's example, and the unit of the weights is such that $a$ is the paper's norm, $\sqrt L$.
#
# We count the samples on which the bound fails. A share above $\delta$ would refute the theorem. Three variants of the bound each lack one piece: the divergence, the square of the norm, or the right constant.
#
# A last adversary may choose **any** posterior. We fix $\lambda$ at the best value for a divergence of $a^2/2\sigma^2$ nats. The largest value of $\lambda\, \mathbb E_\rho(R - r) - \mathrm{KL}(\rho \| \pi)$ over all posteriors is then $\log \mathbb E_\pi e^{\lambda(R - r)}$, again by the formula of Donsker and Varadhan. Under this prior the mean $\mathbb E_\pi$ is simply the average over the $K$ predictors, so we can compute it and need not search.

# %%
WIDE = 10.0  # W


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
rows = []
for m in (toy_points // 4, toy_points, 4 * toy_points):
    found = flattery(m, draws)
    for lead in (4.0, 5.0, 7.0):  # a over sigma
        nats, gap = lead**2 / 2, chosen(found, lead)
        pieces = {
            "the bound": (nats, WIDE / 2),
            "no divergence": (0.0, WIDE / 2),
            "norm not squared": (nats / L**0.5, WIDE / 2),
            "constant 0.01": (nats, SMALL),
        }
        levels = {k: pb.alquier(0.0, K, m, delta, S) for k, (K, S) in pieces.items()}
        lam = math.sqrt(2 * m * (nats - math.log(delta))) / (WIDE / 2)
        moment = torch.logsumexp(lam * found[:, 1:], 1) - math.log(found.shape[1] - 1)
        fails = {k: gap > level for k, level in levels.items()}
        fails["any posterior"] = moment > nats - 2 * math.log(delta)
        fails["any, no divergence"] = found.max(1).values > levels["no divergence"]
        row = {"m": m, "a over σ": lead} | {k: v.double().mean().item() for k, v in fails.items()}
        rows.append(row | {"gap over bound": (gap / levels["the bound"]).max().item()})
hunted = pd.DataFrame(rows)
table(
    hunted.drop(columns="any, no divergence"),
    f"Shares of {draws} samples in which each fails, and the largest gap",
    form=".3g",
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
for name in list(pieces)[1:]:
    thm2.repaired(
        "clipped loss, $\\Sigma = W/2$, posterior chosen after the sample: largest share of "
        f"samples in which the bound fails; control: {name}",
        hunted["the bound"].max(),
        at_most=delta,
        control=hunted[name].max(),
        **PROVED,
    )
ledger.result("sharper.e2.alquier").holds(
    "largest share of samples, over nine cases, in which the inequality fails for any "
    "posterior at all; control: the inequality without its divergence",
    hunted["any posterior"].max(),
    at_most=delta,
    control=hunted["any, no divergence"].max(),
    **PROVED,
)
glue(
    predictors=2**toy_bits - 1,
    closest=hunted["gap over bound"].max(),
    any_fails=hunted["any posterior"].max(),
)
glue(fail_right=hunted["the bound"].max(), fail_free=hunted["no divergence"].min())
glue(fail_norm=hunted["norm not squared"].min(), fail_small=hunted["constant 0.01"].min())

# %% [markdown]
# Each piece is needed, whereas the full bound holds: the largest share of samples in which it fails is {glue:text}`fail_right:g`, where {glue:text}`delta` is allowed. Each variant fails far more often: without the divergence on at least {glue:text}`fail_free:.2f`, with the norm in place of its square on {glue:text}`fail_norm:.2f`, and with $\Sigma = 0.01$ on {glue:text}`fail_small:.2f`. For the square this depends on the unit of the weights, which is here the paper's. The bound is not loose either, because in the worst of the samples the gap between risk and training error is {glue:text}`closest:.2f` times what the bound allows. A posterior of any kind violates {eq}`eq-alquier` on at most {glue:text}`any_fails:.4f` of the samples.
#
# ## What would falsify this
#
# * *The algebra* would be refuted by another value of the divergence, by a $\lambda$ or a $\sigma$ that is better than the closed form, or by a slope of the bound that is not $-\frac13$. Three controls show that the checks notice such errors. The first has a norm without its square, and the second has optima shifted by a factor of 2. The third is the bound at a fixed $\sigma$, which stops falling once the sharpness is all that is left.
# * *The finding on $\Sigma$* would be refuted if the constant were at most 0.1 at the prior's centre; the control is the hand-written network, where it is. It would also be refuted if a constant that is right at the centre for one $\lambda$ could bring the bound to $\frac14$, as 0.01 would.
# * *The repaired theorem* would be refuted if it failed on more samples than $\delta$ allows, as it does if any one piece is dropped.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
N, sharp = pb.norm_squared(50, 1, 1, "sinks"), gradient_bound(1, 1)
coded = [pb.bound(used, sharp, 1e-5, 1e7, 0.01, 0.01) - 1e-10 * sharp for used in (math.sqrt(N), N)]
PRINTED = 2.376740233010865  # by the authors' notebook
thm2.holds(
    "a plotting notebook of 2025: relative distance of its bound from the one with $\\lVert"
    " \\theta \\rVert$ in the norm term; control: from the one with $\\lVert \\theta "
    "\\rVert^2$",
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
# We read the formulas of `generate_plots.ipynb`, a plotting notebook of 2025 in `paullintilhac/boolean_function_sensitivity`. In it a variable holds the *root* of the bound on $\|\theta\|^2$, and the divergence uses it as if it were the square. The notebook prints one norm term, for $T = 50$, $m = 10^7$, $d = W = 1$, $\sigma = 10^{-5}$ and $\delta = \Sigma = 0.01$: {glue:text}`printed:.6f`, which is the value with the root to twelve digits, whereas with the square it is {glue:text}`with_square:.4f`. This is no evidence against Theorem 2, whose numbers quoted from Appendix E.3 have the square, and we do not know whether a figure of the paper was made with that notebook.
#
# ## What we found
#
# * The algebra of the bound is right: the divergence, the best $\lambda$, the best $\sigma$ and the rate $m^{-1/3}$.
# * The proof uses $\Sigma$ under the prior, but at the centre of the prior $\Sigma$, as the theorem defines it, is larger than 0.01 by a factor of at least {glue:text}`times_1:.0f` to {glue:text}`times_25:.0f`, for targets of the paper's kind.
# * The derivation needs the condition at one $\lambda$ only, but in the paper's example no $\Sigma$ that meets it at the centre brings the bound below {glue:text}`least_centre:.2f`.
# * With clipped outputs and $\Sigma = W/2$ the theorem is true wherever $G_u$ bounds the sharpness of $\theta^*$, also for posteriors that are chosen after the sample, and each of its pieces is needed.
#
# ```{finding} sharper.thm2
# :title: The proof needs the sub-Gaussian constant under the prior
# :group: proof
#
# **Statement.** As quoted: with a loss that is $\Sigma$-sub-Gaussian for fixed $\theta$, the risk is at most sharpness plus norm term. The proof averages this condition over the prior. The paper measures $\Sigma$ at trained networks (Appendix A), finds that it generally lies between 0.01 and 0.1, and takes 0.01.
#
# **Counterexample.** It concerns the proof. The theorem itself contains no value for $\Sigma$, and it is true if its condition is meant for every $\theta$ (which no finite $\Sigma$ meets while outputs are unbounded), and if $G_u$ bounds the sharpness, as it does in the paper's example ({ref}`ch-gradients-and-trace`). But the value 0.01 does not meet the condition where the proof uses it, because at the prior's centre $\Sigma$ is at least {glue:text}`spread_10:.2f` for the paper's example, about {glue:text}`times_10:.0f` times 0.01. The derivation uses the condition at one $\lambda$ only, and at the one that the paper's numbers give, {glue:text}`there_needed:.3f` would do at the centre. But with this $\Sigma$ the bound there is {glue:text}`with_it:.1f`, and no choice of $\lambda$, $\sigma$ and $\Sigma$ that is right at the centre brings it below {glue:text}`least_centre:.2f` at a million examples.
#
# **Why.** A network drawn from the prior outputs nearly 0, so its loss is nearly $f(x)^2$, which varies.
#
# **Repair.** Clip the output to $[0, \sqrt W]$ and take $\Sigma = W/2$, by Hoeffding's lemma. In a model problem with {glue:text}`predictors` predictors and posteriors chosen after the sample, the share of samples in which the bound fails is then {glue:text}`fail_right:g`, where {glue:text}`delta` is allowed; with $\Sigma = 0.01$ the bound fails on {glue:text}`fail_small:.0%` of them.
#
# **What survives.** The form of the bound, the closed-form $\sigma$ and the rate $m^{-1/3}$. If $\Sigma$ is meant at the networks near $\hat\theta$, the inequality holds in the paper's example for every sample, by an argument that needs no prior ({ref}`ch-loss-constant`).
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-pac-bayes-centre
#
# *By hand.* The prior is centred at 0; suppose that it is centred at a network that is known before the sample instead. What replaces $\|\theta\|^2$, and what remains of the bound if the learner ends there?
# ```
#
# ```{solution} ex-pac-bayes-centre
# :class: dropdown
#
# The squared distance between the two replaces it. At distance 0 the divergence vanishes, so $\sigma$ may be tiny, and $\Sigma \sqrt{2 \log(1/\delta) / m}$ remains.
# ```
#
# ```{exercise}
# :label: ex-pac-bayes-constant
#
# *With the computer.* Is Hoeffding's constant $W/2$ itself larger than it has to be? To find out, first run the chapter with other samples, by `python -m bookkit.run sharper/pac_bayes -p seed 1 --out my_run`, and see whether any bound with the right constant fails. Then multiply the constant by 0.9, 0.8 and so on, and count failures as above, at one size of the sample and $a/\sigma = 5$. From where on does the bound fail on more than a share $\delta$ of the samples?
# ```
#
# ```{solution-start} ex-pac-bayes-constant
# :class: dropdown
# ```

# %%
found = flattery(toy_points, draws)
gap, nats = chosen(found, 5.0), 5.0**2 / 2
shares = {
    f"{c:.1f} W/2": (gap > pb.alquier(0.0, nats, toy_points, delta, c * WIDE / 2)).double().mean()
    for c in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
}
table({"constant": list(shares), "share": [v.item() for v in shares.values()]}, "Share of failures")

# %% [markdown]
# The share grows steeply: with a constant a little below $W/2$ the bound was exceeded in hardly any sample, but with half of it the bound fails far more often than it may. So the constant can be too large by a small factor in this problem, but not by the factor of several hundred that lies between $W/2$ and 0.01. At which constant the share exceeds $\delta$ depends on the problem, and the theorem has to hold for all.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-pac-bayes-width
#
# *To think about.* Give the prior a width $\tau$ of its own. For $D$ weights the divergence is $\frac{N}{2\tau^2} + \frac D2\bigl(\frac{\sigma^2}{\tau^2} - 1 - \log\frac{\sigma^2}{\tau^2}\bigr)$ with $N = \|\theta\|^2$. Is $\tau = \sigma$ a good choice?
# ```
#
# ```{solution} ex-pac-bayes-width
# :class: dropdown
#
# No, because the best $\tau^2$ is $\sigma^2 + N / D$, and the divergence becomes $\frac D2 \log(1 + \frac{N}{D \sigma^2})$: as $\sigma$ falls, it grows like a logarithm, and not like $\sigma^{-2}$. How many examples this saves is computed in {ref}`ch-loss-constant`.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem is from {cite:t}`sharper`, after a bound in the survey of {cite:t}`alquier2024`.
