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
# (ch-five-bounds)=
# # One network under the papers' bounds
#
# ```{verdict}
# None of the bounds that three of the papers prove certifies a small network that has clearly learned its task. After {glue:text}`strings` strings a trained one-layer network has a risk of at most {glue:text}`largest_risk:.3f`, measured on fresh strings. But all these bounds are at least {glue:text}`least_here:.2f` (the first paper's for the network with noise), and ignoring the input has the risk $\frac14$. Counting 32 bits for each weight gives {glue:text}`bits_here:.2f`, also of no use. Counting the possible target pairs of bits gives at most {glue:text}`occam_here:.3f`, but for the pair that fits the sample, not for the network.
# ```
# **Needs** {ref}`ch-pac-bayes`, {ref}`ch-three-rates`, {ref}`ch-single-layer-bound`, {ref}`ch-longer-tokens`. **Read** 14 min. **Runs in** 30 s. **Source** ours; of the papers' bounds, see their chapters.
#
# **Claim.** A transformer of one layer learns the parity of two bits from a thousand strings and errs almost nowhere. We evaluate every bound of the five papers that applies to it, with its own weights and with every constant proved, and for the first paper also the sharper *kl form* of a PAC-Bayes bound. Three papers have such a bound, and none of these bounds certifies the network at this sample.
#
# We also evaluate the bounds with constants that are more favourable to the papers than what is proved. With them the bounds from norms are still *vacuous*, that is, no better than a predictor that ignores the input. The first paper's bound contains a constant $\Sigma$, which says how much the loss varies. In the paper's form this bound falls below $\frac14$ at this sample only with a value of $\Sigma$ that no proof covers here.
#
# By comparison, a bound that counts needs some thirty strings if the learner knows that the target is one of the pairs, and tens of thousands if it counts 32 bits for each weight.
#
# ## Why one should care
#
# A bound can be true and still be of no use, because it exceeds the error of a predictor that ignores the input. Whether the bounds of the five papers are of use is hard to see from their formulas, since each paper measures something different, such as noise that a network tolerates, norms of its matrices, or heads and weights. So we put all of them on the same axis, for the same trained network and with all constants.
#
# The network is as favourable as possible: it is small, its task is among the easiest that the papers treat, and it has learned the task almost without error. If a bound is vacuous here, it will hardly be better for a larger network.
#
# ## What 1024 strings can pay for, by hand
#
# A bound turns a number of strings into a budget, and asks whether the network is cheap enough. Suppose that a network makes no error on $m = 1024$ strings. In all bounds by counting, its risk is then at most $1 - e^{-K/m}$. Here $K$ is a price in nats (units of the natural logarithm): the price of the network plus $\log \frac1\delta = 3.0$ for a probability $\delta = 0.05$ of failure. The risk is below $\frac14$ if $K$ is below $1024 \cdot \log \frac43 = 295$ nats. What do 295 nats pay for?
#
# | what is counted | price of the network | bound |
# |:--|:--|:--|
# | the pairs of 16 bits, 120 of them | $\log 120 = 4.8$ | 0.008 |
# | 13 weights of 32 bits | $13 \cdot 32 \log 2 = 288$ | 0.248 |
# | the 659 weights of the network below for strings of 16 bits | $659 \cdot 32 \log 2 = 14\,617$ | 1.00 |
# | a squared norm of 67, at noise of deviation $\sigma$ | $67 / 2 \sigma^2$ | below $\frac14$ if $\sigma \ge 0.34$ |
#
# In words, 295 nats pay for a choice among 120 pairs with much to spare, but only for 13 weights of 32 bits, and the network has 659. So counting digits fails here by a factor of about fifty.
#
# The last line of the table pays in another way, by noise. Put a Gaussian of width $\sigma$ around the network, and another one of the same width around zero. The price is the KL divergence of the first from the second, a measure of how much the two differ, and it is the squared norm over $2 \sigma^2$. So the more noise the network tolerates, the cheaper it is. By this count, which leaves out smaller terms of such a bound, it would have to tolerate noise of 0.34 in every weight without losing its function. But with a squared norm of 67 over 659 weights a typical weight is itself about 0.3. The trained networks for strings of 16 bits are of this size, after an exact rewriting that makes their norm small, and they do not tolerate such noise.

# %% tags=["parameters"]
lengths = [8, 16, 32]  # bits of the strings, two lengths or more [8..32]
runs = 5  # networks at each length [4..10]
strings = 1024  # in the sample of each network [640..2048]
width = 32  # hidden units [24..64]
learning_rate = 3e-3  # of AdamW [2e-3..4e-3]
steps = 4000  # most steps of the training [3000..10000]
threshold = 1e-3  # training loss at which a network stops [2e-4..2e-3]
noise_pairs = 40000  # of a string and a noise, for each noisy risk [10000..100000]
confidence = 0.05  # probability that a bound fails [0.01..0.1]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, in_prose, table
from helpers.rng import f64
from helpers.statistics import power, trend
from helpers.training.batches import fixed, spawn
from helpers.training.train import train
from papers.beyond import parity_head
from papers.lengthfree import single_layer
from papers.lengthfree.single_layer import CONSTANT
from papers.sharper import pac_bayes as pb
from papers.sharper import rivals

ledger = Ledger("beyond/five_bounds")
five = ledger.result("beyond.five")
LEVEL = 0.25
NOISES = [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.4, 1.0, 3.0]
lengths = sorted(set(lengths))
middle = lengths[len(lengths) // 2]


# %% mystnb={"code_prompt_hide": "Training", "code_prompt_show": "Training"} tags=["hide-input"]
def learn(T):
    """Train the networks of one length; what the bounds need of each that learned the task."""
    own = torch.Generator().manual_seed(1000 * seed + T)
    pairs = torch.stack([torch.randperm(T, generator=own)[:2] for _ in range(runs)])
    bits = torch.randint(0, 2, (runs, strings, T), generator=own)
    first = parity_head.initial_weights(T, width, runs, own)
    y = parity_head.targets(bits, pairs)
    batches = fixed(
        bits, y, 128, spawn(runs, own), lambda _, some, y: (parity_head.tokens(some), y)
    )
    options = {"steps": steps, "learning_rate": learning_rate, "weight_decay": 1e-3}
    options |= {"threshold": threshold, "check_every": 50}
    weights = train(parity_head.forward, first, batches, **options).weights
    errors = parity_head.clipped_errors(weights, parity_head.tokens(bits), y).mean(1)
    learned = errors < LEVEL / 10  # a network that is stuck is no test of the bounds
    first, weights = ({name: v[learned] for name, v in w.items()} for w in (first, weights))
    bits, pairs = bits[learned], pairs[learned]

    def risk(weights, bits):
        y = parity_head.targets(bits, pairs)
        return parity_head.clipped_errors(weights, parity_head.tokens(bits), y).mean(1)

    fresh = torch.randint(0, 2, (runs, 4096, T), generator=own)[learned]
    drawn = bits[:, torch.randint(strings, (noise_pairs,), generator=own)]
    flat = {name: v.float() for name, v in parity_head.balanced(weights).items()}
    with torch.no_grad():
        noisy = parity_head.noisy_risks(flat, NOISES, drawn, pairs, own)
        found = {"sample": risk(weights, bits), "fresh": risk(weights, fresh)}
        found["untrained"] = risk(first, fresh)
    found |= {"weights": weights, "flat": flat, "pairs": pairs}
    return found | {"noisy": noisy.double()}


found = {T: learn(T) for T in lengths}
rewritten = {T: parity_head.rewritten(found[T]["weights"]) for T in lengths}


# %% mystnb={"code_prompt_hide": "Bounds from flatness", "code_prompt_show": "Bounds from flatness"} tags=["hide-input"]
def flatness(T, e):
    """The forms of flatness for network e of length T, as functions of m."""
    options, row = math.log(len(NOISES)), found[T]
    size = parity_head.squared_norm(row["flat"])[e].double()
    K = size / (2 * f64(NOISES).square()) + options
    limit = (options - math.log(confidence / 10)) / noise_pairs
    noisy, delta = rivals.kl_inverse(row["noisy"][:, e], limit), 0.9 * confidence

    def form(Sigma):
        return lambda m: pb.alquier(noisy, K + math.log(2 * m**0.5), m, delta, Sigma).min()

    def kl_form(K):
        return lambda m: rivals.pac_bayes_kl(noisy, K, max(m, 8.0), delta).min()

    return {
        "flatness, the paper's form": form(0.5),
        "flatness, kl form": kl_form(K),
        "flatness, $\\Sigma = 0.01$": form(0.01),
        "flatness, $\\Sigma = 0.1$": form(0.1),
        "control": kl_form(0.0 * K),
    }


# %% mystnb={"code_prompt_hide": "Bounds from norms", "code_prompt_show": "Bounds from norms"} tags=["hide-input"]
def by_norms(T, e):
    """The bounds from norms."""
    d, r = T + 3, found[T]["sample"][e].item()
    norms = parity_head.norms(rewritten[T], e)

    def long(m, constant, tokens):
        return single_layer.length_bound(norms, d, tokens, int(m), constant, 1.0)

    def free(m, constant):
        return single_layer.length_free_bound(norms, d, int(m), constant, 1.0)

    def proved(R):
        return lambda m: r + 4 * R(m) + 3 * math.sqrt(-math.log(confidence) / (2 * m))

    return {
        "norms and length": proved(lambda m: long(m, CONSTANT, (2 * d + 1) * (T + 1))),
        "norms, no length": proved(lambda m: free(m, CONSTANT)),
        "norms and length, constants 1": lambda m: r + long(m, 1.0, T + 1),
        "norms, no length, constant 1": lambda m: r + free(m, 1.0),
    }


# %% mystnb={"code_prompt_hide": "Bounds by counting", "code_prompt_show": "Bounds by counting"} tags=["hide-input"]
def by_counting(T, e):
    """What needs no paper, and our guide."""
    r, P = found[T]["sample"][e].item(), width * (T + 4) + T + 3  # numbers left by the rewriting
    pairs, bits = math.log(math.comb(T, 2)), 32 * P * math.log(2)
    return {
        "number of weights, a guide": lambda m: r + (0.1 * P * math.log(m * (T + 1)) / m) ** 0.5,
        "32 bits a weight": lambda m: rivals.occam(r, bits, m, confidence),
        "Occam": lambda m: rivals.occam(0.0, pairs, m, confidence),
        "held out": lambda m: 1 - confidence ** (2 / m),
    }


every = [(T, e) for T in lengths for e in range(len(found[T]["pairs"]))]
curves = {k: flatness(*k) | by_norms(*k) | by_counting(*k) for k in every}
PROVED = ["flatness, the paper's form", "flatness, kl form", "norms and length", "norms, no length"]
OPEN = ["norms and length, constants 1", "norms, no length, constant 1"]
UNPROVED, GUIDE = "flatness, $\\Sigma = 0.01$", "number of weights, a guide"
NAMES = [*PROVED, "32 bits a weight", "Occam", "held out", *OPEN, UNPROVED, GUIDE]

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Bounds on the risk of the same trained networks at the middle length, against the number of strings; geometric means over the networks. Thick: proved. Thin lines of the same look: with constants in favour of the paper, which no proof covers. Dotted grey: a guide of ours by the number of weights. Grey line: the risk of the best constant. Star: the sample, and the risk on fresh strings.", "name": "fig-five-bounds"}, "image": {"alt": "Curves that fall with the number of strings from ten to ten to the seventeenth, on logarithmic axes. Occam's bound and the held-out bound cross one quarter near thirty strings, thirty-two bits a weight and the kl form of flatness near fifty thousand, the first paper's form near a hundred thousand. The two bounds from norms lie far above and fall last; with constants of one they still cross far to the right of all others. Thin, the flatness form with a small constant crosses one quarter before a thousand. A star marks a thousand strings and a risk below one thousandth."}} tags=["hide-input", "nbval-ignore-output"]
grid = [10 ** (k / 2) for k in range(2, 35)]
fig, ax = figures.new(height=4.2)
like = dict(zip([*OPEN, UNPROVED], [2, 3, 0], strict=True))
for i, name in enumerate(NAMES):
    logs = f64(
        [[float(curves[middle, e][name](max(m, 9))) for m in grid] for T, e in every if T == middle]  # noqa: SIM300
    )
    thin = i >= 7
    look = figures.line_style(like.get(name, i % 7), linewidth=0.8 if thin else 1.6)
    if name == GUIDE:
        look |= {"color": figures.GREY, "linestyle": ":"}
    ax.plot(grid, logs.log().mean(0).exp(), label=None if thin else name, **look)
figures.level(ax, LEVEL)
star = found[middle]["fresh"].mean().item()
ax.plot(strings, star, marker="*", markersize=11, color="black", linestyle="none")
ax.set(xscale="log", yscale="log", xlabel="strings $m$", ylabel="bound on the risk")
ax.set_ylim(1e-4, 1e5)
fig.legend(ncols=3, loc="outside upper center")
figures.show()

# %% [markdown]
# {numref}`fig-five-bounds` shows the result, and the sections below say what the network is and what each bound is. The curves fall as the number of strings grows, some of them only after a level part, and the thick ones are proved bounds, each for what the table of the bounds below says. Read along the grey line at $\frac14$, the risk of a predictor that ignores the input, from left to right.
#
# 1. The first curves to fall below this line, near thirty strings, are Occam's bound, which counts the candidates, and the held-out bound, which uses a test set.
# 2. The next is a thin one, the first paper's form with $\Sigma = 0.01$.
# 3. The star shows the networks themselves. It stands at a thousand strings, and at a risk of about a tenth of the smallest bound at that number of strings.
# 4. The dotted guide, which is no bound of any paper, crosses the line at some ten thousand strings.
# 5. Counting 32 bits for each weight and the kl form of flatness cross it at some fifty thousand strings, close to each other, and the first paper's own form at about twice as many.
# 6. The proved bounds from norms cross it only beyond $10^{14}$ strings, and the thin ones of the same look, with constants 1, from about $10^{11}$ strings on.
#
# So of the proved bounds only Occam's and the held-out bound fall below the line before the star. If a proved bound of the papers did so, this would speak against the claim.
#
# ## The network
#
# *The task.* The target is 1 if two of $T$ fair bits are equal, and 0 otherwise. Outputs are clipped to $[0, 1]$. The loss is the squared error, so it lies in $[0, 1]$ and changes at most twice as much as the output. The best constant has the risk $\frac14$, so a bound is vacuous unless it is below $\frac14$.
#
# *The form.* The network has to belong to the classes that the bounds are about. The third and the fourth paper have one attention layer, without residual connection, norm or bias:
#
# $$h(x) = w^\top W_c^\top\, \mathrm{relu}\bigl( W_v^\top X^\top \mathrm{softmax}(s) \bigr), \qquad s_t = x_{[CLS]}^\top W_{QK}\, x_t .$$
#
# In words, the query gives each token a score $s_t$, the softmax of the scores averages the tokens, and a network with one hidden layer reads the average.
#
# *The tokens and the training.* We train a network of exactly this form. Token $t$, a row of $X$, is a one-hot vector of its position, with a single 1, beside two columns that say whether bit $t$ is 0 or 1. A last token, with a position of its own and without a bit, is the query $x_{[CLS]}$. So there are $T + 1$ tokens of width $d = T + 3$ and of length at most $\sqrt 2$. The networks for the same $T$ differ in the pair of bits, the sample and the first weights. The training of each stops when its mean training loss over fifty steps is below a fixed threshold. A network that still errs by more than a tenth of $\frac14$ on its own sample after the last step is stuck, has not learned the task, and is left out. (Here {glue:text}`learned` of {glue:text}`tried` networks learned it. With ten networks at each length, by `-p runs 10`, one of the thirty is stuck at 0.22.) If a network that learned its sample had a risk above a tenth of $\frac14$ on fresh strings, it would be no test of the bounds.

# %% mystnb={"code_prompt_hide": "The networks", "code_prompt_show": "The networks"} tags=["hide-input", "nbval-ignore-output"]
rows = {
    T: {
        "risk on the sample": row["sample"].mean().item(),
        "on fresh strings, largest": row["fresh"].max().item(),
        "before training, least": row["untrained"].min().item(),
        "squared norm": parity_head.squared_norm(row["weights"]).mean().item(),
        "the same, rewritten": parity_head.squared_norm(row["flat"]).mean().item(),
    }
    for T, row in found.items()
}
rows = pd.DataFrame(rows).T.rename_axis("bits")
some = f"{len(every)} of {runs * len(lengths)} networks, those that learned"
table(rows, f"{some}, {strings} strings each")
five.holds(
    "largest risk on fresh strings of a network that learned its sample; control: least risk "
    "before training",
    rows["on fresh strings, largest"].max(),
    at_most=LEVEL / 10,
    control=rows["before training, least"].min(),
    about="ours",
    evidence="trained",
)
glue(strings=strings, runs=runs, learned=len(every), tried=runs * len(lengths))
glue(largest_risk=math.ceil(rows["on fresh strings, largest"].max() * 1e3) / 1e3)

# %% [markdown]
# ## What each paper says of it
#
# The networks have learned their task: the table gives risks far below $\frac14$ on fresh strings, whereas before training they are about $\frac14$ or larger. What does each paper promise about such a network? A bound holds for any sample of $m$ strings, if the network found there has these norms, this risk and this flatness. So we keep the network and vary $m$. Each bound fails with probability at most $\delta$ = {glue:text}`confidence`.
#
# | source | what bounds the gap | proved here | in its favour |
# |:--|:--|:--|:--|
# | first paper, {cite:t}`sharper` | noise of deviation $\sigma$ that the network tolerates, against $K = \lVert\theta\rVert^2 / 2\sigma^2$ | its form with $\Sigma = \frac12$, and the sharper kl form, which is Maurer's; both bound the mean risk of the network with noise | $\Sigma = 0.01$, the lower end of the range from 0.01 to 0.1 that it measures at trained networks; no proof covers it here |
# | second paper, {cite:t}`sensitive` | nothing: it bounds the sharpness from below | | |
# | third paper, {cite:t}`variables` | norms, and $\log (mT)$ | repaired, with all constants | constants 1 |
# | fourth paper, {cite:t}`lengthfree` | norms, without $T$ | repaired, with all constants | constant 1 |
# | fifth paper, {cite:t}`retrieval` | nothing here: its targets point at tokens | | a guide of ours by the number of weights |
# | counting | 32 bits for each weight that is left after rewriting | yes; rounding to 32 bits changes the risk by less than $10^{-8}$ | |
# | Occam | the list of all pairs of bits | yes, for the pair that fits the sample | |
# | held out | half of the strings, if the network is trained on the other half and errs on none of them | yes, for the rounded output; a formula, not measured | |
#
# **The idea of the bounds.** The idea is the same in all rows. There is a price that is fixed before the sample is seen, and it is divided by the number of strings. The rows differ in what the price is for: how far the network is from a prior, how large its matrices are, or how much it takes to describe it.
#
# ````{dropdown} The terms, and why each is a bound
# *Flatness.* The price $K$ and the risk under noise are computed as follows.
#
# * The prior is $N(0, \sigma^2 I)$, where $\sigma$ is one of {glue:text}`noises` values, and the logarithm of their number is added to $K$.
# * The network $\theta$ is the trained one after a rewriting that makes $\lVert\theta\rVert$ small, see below. Entries of $W_{QK}$ that are never read are 0 in our posterior.
# * The risk under noise is estimated from {glue:text}`noise_pairs` draws. It is bounded by $\mathrm{kl}^{-1}$ of their mean, which takes a tenth of $\delta$. What is drawn is the noise in the scores, in the hidden units and in the output, which has the same distribution as with noise drawn for every weight.
# * The kl form is {prf:ref}`beyond-audit-kl`. By Pinsker's inequality it is at most $\hat R + \frac12 \sqrt{2 (K + \log(2\sqrt m/\delta)) / m}$, the first paper's form with Hoeffding's $\Sigma = \frac12$.
#
# *Norms.* Let $\mathcal R$ bound the Rademacher complexity of the class on any sample, and let $r$ be the training error.
#
# 1. Consider the largest gap between risk and training error in a class, minus twice the empirical complexity of the losses. If one string is exchanged, this difference moves by at most $\frac3m$, and its mean is at most 0. So by McDiarmid's inequality it exceeds $3 \sqrt{\log(1/\delta) / 2m}$ with probability at most $\delta$.
# 2. The loss has the Lipschitz constant 2. So the complexity of the losses is at most $2 \mathcal R$, and with probability $1 - \delta$ the risk is at most $r + 4 \mathcal R + 3 \sqrt{\log(1/\delta) / 2m}$ for all networks of the class. A certificate needs only this direction, for which a single term $\log(1/\delta)$ is enough.
# 3. For the fourth paper $\mathcal R$ is that of {ref}`ch-single-layer-bound`. For the third paper we use the same five steps with the cover of {prf:ref}`attention-capacity-repaired` for one value. The constant is $8\sqrt2$ in both. We take the measured norms as if they had been fixed beforehand, which favours both.
#
# *In favour.* The bound is $r + \mathcal R$ with every constant 1, which no proof covers.
#
# *The guide* is $r + \sqrt{0.1\, P \log(m (T+1)) / m}$ for $P$ weights. This is the usual form of such bounds, not one of the fifth paper.
# ````
#
# **Rewriting the network.** The norms of the matrices are not determined by the function that the network computes, because other matrices with smaller norms can have the same outputs. So before we measure the norms we rewrite each network, without any change of its outputs, in favour of the bounds.
#
# * *The unread rows.* Rows of $W_{QK}$ that are never read become 0.
# * *The scores.* A constant that is added to all scores changes no output. Neither does one that is added to the entries of all positions and subtracted from those of both bits. So we add the constants with which the $\ell_1$ norm is least.
# * *The values.* In each column of $W_v$ positions and bits can be changed against each other in the same way.
# * *The hidden units.* The product $W_c w$ becomes one column, and each hidden unit is scaled so that the product of the norms is least.
#
# The price of flatness contains the squared norm $\lVert\theta\rVert^2$ instead, so for flatness we rewrite the trained network another time. Then the same constants are chosen so that the sum of the squares is least, and the scales so that both factors of each product have the same length.
#
# ## The numbers
#
# We evaluate every bound at the size of the sample, for all networks, and look for the number of strings from which on it is below a quarter. A proved bound of the papers below $\frac14$ at the sample would speak against the claim.


# %%
def frame(number):
    """A number of each curve: a row for each network."""
    return pd.DataFrame({k: {n: float(number(c[n])) for n in NAMES} for k, c in curves.items()}).T


here = frame(lambda curve: curve(float(strings)))
needs = frame(lambda curve: pb.first_sample_size(curve, LEVEL))

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-input", "nbval-ignore-output"]
means = needs.map(math.log).groupby(level=0).mean().map(math.exp)
powers = {k: trend([T for T, _ in every], needs[k].tolist(), log=True) for k in NAMES}
shown = means.T.map(lambda m: in_prose(f"{m:.1e}")).add_prefix("m, T = ")
shown.insert(0, "least bound", here.min().map(lambda v: in_prose(f"{v:.2g}")))
shown["power of T"] = [f"{powers[k]:.1f}" for k in NAMES]
caption = f"Least bound at {strings} strings, all networks, and strings m for a bound of {LEVEL}"
table(shown.rename_axis("bound"), caption)
over = needs.div(needs["Occam"], axis=0)
least_here, fewest = here[PROVED].min().min(), over[PROVED + OPEN].min().min()
glue(least_here=math.floor(100 * least_here) / 100, occam_here=here["Occam"].max())
large = [float(c["flatness, $\\Sigma = 0.1$"](float(strings))) for c in curves.values()]
glue(small_sigma=here[UNPROVED].mean(), large_sigma=math.floor(100 * min(large)) / 100)
glue(bits_here=here["32 bits a weight"].min())
glue(norms_here=here[OPEN].min().min(), fewest=fewest, middle=middle, confidence=confidence)
times = needs[PROVED].div(needs["32 bits a weight"], axis=0)
glue(form_over=math.floor(10 * times[PROVED[0]].min()) / 10)
glue(kl_least=times[PROVED[1]].min(), kl_most=times[PROVED[1]].max())
glue(kl_need=means[PROVED[1]][middle], bits_need=means["32 bits a weight"][middle])
glue(free_power=f"{powers[PROVED[3]]:.1f}", noises=len(NOISES), noise_pairs=noise_pairs)

# %% [markdown]
# The first column of the table answers the question. All proved bounds of the papers are at least {glue:text}`least_here:.2f` at {glue:text}`strings` strings, so none of them is below $\frac14$. At this sample the best noise for the forms of flatness is so large that the noisy network has lost what was learned. Counting 32 bits for each weight gives {glue:text}`bits_here:.2f` and is vacuous there too.
#
# The next columns say how many strings would be enough. To get below a quarter the kl form needs {glue:text}`kl_need:.1e` strings at {glue:text}`middle` bits, where 32 bits for each weight need {glue:text}`bits_need:.1e`.
#
# Do the constants in favour of the papers help? With constants 1 the bounds from norms come down to {glue:text}`norms_here:.0f`. Both are equal here, because at so few strings each of them is at its largest possible value, the constant times the product of the norms. Among the constants in favour of a paper only the first paper's $\Sigma = 0.01$ gives a number below a quarter, {glue:text}`small_sigma:.2f` in the mean over the networks. If a proof covered that constant, this would be a certificate ({ref}`ch-pac-bayes`). But with 0.1, the upper end of the range that the paper measures, the bound is at least {glue:text}`large_sigma:.2f` for every network, which is vacuous.

# %% mystnb={"code_prompt_hide": "Three checks", "code_prompt_show": "Three checks"} tags=["hide-input", "nbval-ignore-output"]
five.holds(
    "least bound at the sample size that the papers prove, in units of $\\frac14$; control:"
    " the kl form of flatness without the divergence",
    least_here / LEVEL,
    at_least=1,
    control=max(float(c["control"](float(strings))) for c in curves.values()) / LEVEL,
    about="ours",
    evidence="trained",
)
five.holds(
    "least of the bounds from norms with all unknown constants set to 1, at the sample "
    "size, in units of $\\frac14$; control: the same without the complexity of the class",
    here[OPEN].min().min() / LEVEL,
    at_least=1,
    control=max(row["sample"].max().item() for row in found.values()) / LEVEL,
    about="ours",
    evidence="trained",
)
five.holds(
    "mean of the first paper's bound with $\\Sigma = 0.01$, which no proof covers here, in "
    "units of $\\frac14$; control: with $\\Sigma = \\frac12$",
    here[UNPROVED].mean() / LEVEL,
    at_most=1,
    control=here[PROVED[0]].mean() / LEVEL,
    about="ours",
    evidence="trained",
)

# %% [markdown]
# ## Against the length
#
# The bounds from norms depend on the length $T$ in different ways, so we also ask how much longer strings cost. The last column of the table is the power of $T$ by which the needed strings grow, with its 95 % interval over networks. A bound is *free of the length* at fixed norms, but training does not keep the norms fixed. The number of strings that the length-free bound needs grows like $T$ to the power {glue:text}`free_power`, because the norms of the trained networks grow with $T$. Without the rewriting the numbers would be still larger, since the rewriting lowers the product of the norms by factors from {glue:text}`saved_least:.1f` to {glue:text}`saved_most:.1f`.

# %% mystnb={"code_prompt_hide": "The same at fixed norms", "code_prompt_show": "The same at fixed norms"} tags=["hide-input", "nbval-ignore-output"]
saved = []
for T, e in every:
    old, new = (parity_head.norms(w, e) for w in (found[T]["weights"], rewritten[T]))
    saved.append(old.product * old.W_qk / (new.product * new.W_qk))
rows = rewritten[lengths[-1]]["W_v"].abs().sum(2)  # (runs, d)
read = rows.gather(1, found[lengths[-1]]["pairs"]).sum(1) + rows[:, -3:].sum(1)
short = parity_head.norms(rewritten[lengths[0]], 0)
kept = [single_layer.least_samples(short, T + 3, LEVEL / 4, softmax=1.0) for T in lengths]
five.holds(
    "length-free bound: power of $T$ with which the strings that it needs grow, lower end "
    "of its 95 % interval; control: at the norms of a network of the shortest length",
    powers[PROVED[3]].low,
    at_least=1,
    control=power(lengths, kept),
    about="ours",
    evidence="trained",
)
glue(saved_least=min(saved), saved_most=max(saved), kept_power=power(lengths, kept).item())
glue(unread=(1 - read / rows.sum(1)).mean().item(), longest=lengths[-1])

# %% [markdown]
# If instead the norms of one short network are kept, the power is {glue:text}`kept_power:.2f`, and it comes from the logarithm of the width alone. Not all of the growth of the norms is required by the task: at {glue:text}`longest` bits {glue:text}`unread:.2f` of the $\ell_1$ norm of $W_v$ is in rows of positions on which the target does not depend. These rows were drawn at the start. The network hardly reads them, so nothing but a little weight decay makes them smaller.
#
# ## Bounds of later papers
#
# Since the five papers several authors have published bounds for transformers, and one would like to see a sixth curve in {numref}`fig-five-bounds`. We looked for one whose constants can be read and whose class contains our networks, and found none. The table says what stands in the way of each.
#
# | source | what is claimed | why it has no curve here |
# |:--|:--|:--|
# | Truong (2024), [abstract read](https://arxiv.org/abs/2410.11500) | one layer, free of the length, $O(1/\sqrt m)$, with the rank of query-key in a logarithm | no constant in what we could read |
# | Li and others (2026), [abstract](https://arxiv.org/abs/2603.21541) and summaries read | excess risk of order $1/m$ by covers in ranks and norms | "up to constant factors"; an excess risk belongs to a learner and not to a given network |
# | Sakai and Imaizumi (2026), [abstract read](https://arxiv.org/abs/2605.07297) | many layers, Schatten norms chosen after training | no constant in what we could read; the authors compare proxies of the leading factors |
# | {cite:t}`yang2026`, abstract and a reading note read | VC dimension of order $L W \log(TW)$ for $W$ weights | hard attention, which our networks do not have; the constant is not known to us |
# | Honarpisheh and others (2025), [part of the text read](https://arxiv.org/abs/2502.01473) | covers as in the third and the fourth paper | for state-space models |
# | He and Xing (2026), [first page read](https://arxiv.org/abs/2512.09275) | Rademacher complexity with trained positions | for regression in context, another task and loss |
# | {cite:t}`lotfi2024`, [abstract read](https://arxiv.org/abs/2312.17173), and Lotfi, Kuang and others (2024), [summary read](https://github.com/YilunKuang/token-bounds-for-llms) | certificates from compression for language models; the second for single tokens | a method to be carried out, not a formula in the weights; see the last item of *What we found* |
#
# Two of the claims can at least be compared with the sample. Let the constant be 1, which favours them. The networks of 16 bits have $W = 659$ weights and read 17 tokens.
#
# *The VC dimension* of a class is the largest number of inputs on which it can fit all labels. For one layer the claim gives $W \log(17\, W) = 6144$. If the VC dimension is above 1024, there are 1024 strings on which the class can fit any labels. So a bound by a VC dimension of this size guarantees nothing for a sample of 1024.
#
# *Covers in ranks.* In these bounds the number of free entries takes the place of $W$, and if the ranks are small it is smaller. But our $W_v$ has full rank, because the rows of positions that are not read keep the values that they had at the start. With full ranks a bound of order $1/m$ begins at $659/1024 = 0.64$, before any norm and any logarithm, and is vacuous as well. With $W_v$ of rank one only 101 entries would be left, and 101/1024 is about 0.1. So bounds in ranks ask for a network that is compressed before it is measured, as counting does.
#
# ## What we found
#
# * On a network that has clearly learned its task every bound of the papers, as far as it is proved, is above the risk of the best constant at this sample. Counting 32 bits for each weight does not certify it there either.
# * How many strings does it take to get below a quarter? For every network and length, the smallest of the bounds that the papers prove needs over a thousand times as many strings as Occam's bound for the list of pairs; the least factor is about {glue:text}`fewest:.0f`.
# * Compared with 32 bits for each weight, the first paper's own form needs more at every network, {glue:text}`form_over:.1f` times as many or more. Its sharper kl form needs between {glue:text}`kl_least:.1f` and {glue:text}`kl_most:.1f` times as many, depending on the network.
# * Of the later bounds that we know none could be put on the same axis, because their constants could not be read or because they are about other networks.
# * These findings are about the numbers of the bounds and not about their ideas. Other chapters treat the ideas: attention picks few positions at the price of a logarithm, sensitive functions are sharp, and a flat network needs fewer digits.
# * A certificate for such a network exists: one with the prior at the start ({ref}`ch-auditing-certificates`), which goes back to {cite:t}`dziugaite2017`, or one that counts what the network can be compressed to ({cite:t}`zhou2019`, {cite:t}`lotfi2022`, and {cite:t}`lotfi2024` for language models).
#
# ## What would falsify this
#
# * The claim would be false if a trained network had a risk above a tenth of the best constant's, because then it would not have clearly learned.
# * It would also be false if at the size of the sample a bound of the papers with every constant proved were below a quarter, or if a bound from norms with all constants 1 were.
# * The statement about the length would be false if the number of strings that the length-free bound needs grew no faster than the length.
#
# Each check is decided by the network that is least favourable to it. The exceptions are the check about $\Sigma = 0.01$, which is decided by the mean, and the check about the length, which is decided by a fit to all networks.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# No repository of the five evaluates a bound at trained weights. That of the first paper plots its bound for the hand-written network, and the others plot none.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-five-known
#
# *By hand.* Which of the bounds in {numref}`fig-five-bounds` would become smaller if the learner knew the pair of bits beforehand, and how many strings would it need then?
# ```
#
# ```{solution} ex-five-known
# :class: dropdown
#
# Only Occam's, because all others look at the weights or at the test set. The list then has one member, so $\log |H| = 0$, and $\log(1/\delta) / \log \frac43$ strings are enough, that is, eleven at $\delta = 0.05$.
# ```
#
# ```{exercise}
# :label: ex-five-strings
#
# *With the computer.* Give each network twice as many strings, by `python -m bookkit.run beyond/five_bounds -p strings 2048 --out my_run`. Which of the bounds at the size of the sample become smaller, and does one of the proved bounds of the papers fall below $\frac14$? Do the numbers of strings that are needed for a quarter change, and why not by much?
# ```
#
# ```{solution-start} ex-five-strings
# :class: dropdown
# ```
#
# All bounds at the size of the sample but those from norms become smaller, because each divides its price by the number of strings. Those from norms are at or near their largest value for both samples. But none of the proved bounds of the papers falls below $\frac14$: the smallest goes from 0.58 to 0.56. Counting 32 bits for each weight remains vacuous, too. The numbers of strings that are needed for a quarter stay within a factor of two, because they depend on the norms, the flatness and the number of weights of the trained network. These change little when it is trained on more strings of the same task.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-five-describe
#
# *To think about.* By the example, 1024 strings can pay for 295 nats. How many bits are that, and how many for each of the 659 weights at 16 bits? How could one describe such a network in so few bits?
# ```
#
# ```{solution} ex-five-describe
# :class: dropdown
#
# Without the 3 nats for $\delta$ there are $292 / \log 2 = 421$ bits, less than one for each weight. So rounding is not enough: one has to leave out most of the weights, for example the rows of the positions that are not read, make others equal to each other, and describe only what is left. This is the way of {cite:t}`zhou2019` and {cite:t}`lotfi2022`. In the end the function itself has a description of 7 bits, the number of the pair in a list of 120, which is Occam's bound.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
