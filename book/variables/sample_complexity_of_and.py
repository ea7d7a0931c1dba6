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
# (ch-sample-complexity-of-and)=
# # How many samples does a hidden AND take?
#
# ```{verdict}
# Without dropout, the number of samples that a transformer needs for the AND of three hidden bits grows more slowly than the length of the strings, as the paper reports. From {glue:text}`shortest` to {glue:text}`longest` bits the number of samples grows by a factor of {glue:text}`factor`. The length grows by a factor of {glue:text}`factor_T:.0f`, and the logarithm of the number of possible sets of three positions by a factor of {glue:text}`factor_floor:.1f`. The paper's runs have dropout, and with it our trials are too few to tell.
# ```
# **Needs** {ref}`ch-capacity`. **Read** 17 min. **Runs in** 40 s. **Source** printed.
#
# **Claim.** A one-layer transformer learns the AND of three hidden bits among $T$ from a number of samples that grows more slowly than $T$, as Edelman et al. report for $T$ from 100 to 800. A linear classifier trained by the same optimizer, at a rate of its own, needs more samples, and their number grows as fast as $T$. With an $\ell_1$ penalty, however, a linear classifier needs fewer samples than the transformer.
#
# The paper takes its curve as the main verification of a dependence on $\log T$. We ran four of its eleven lengths at its width, without its dropout. Our curve grows much faster than in proportion to a logarithm, and every doubling of $T$ costs about the same factor, as it does for a power of $T$. Dropout lowers the curve, but we cannot tell whether it changes the shape of the curve. So all statements of the paper on this experiment are judged on runs without dropout: what these show counts as reproduced in this setting, and what they do not show is not held against the paper.

# %% tags=["parameters"]
lengths = [50, 200]  # T, bits of a string, increasing, each from [50..800]
multiples = [7, 10, 14, 19.8]  # samples over the root of T, rounded to tens, increasing
trials = 8  # of each length and size [8..50]
steps = 1000  # most of a trial, each on its whole sample [300..1000]
width = 64  # columns of the transformer [32..64]
heads = 16  # its heads, a divisor of the width [4..16]
fresh = 10_000  # new strings on which a trial is judged [2000..10000]
redraws = 500  # of the bootstrap [200..5000]
seed = 0  # of all trials [0..1000000]
dropout_trials = 0  # of the three least sizes of each length with the paper's dropout [0..50]
resume = False  # go on from the trials that are stored

# %% [markdown]
# ## Why one should care
#
# The theorems of this paper say that an attention head has a capacity that grows with the logarithm of the length. If training found the right function as soon as the capacity allows it, then a transformer would learn a function of three bits from a number of samples of the order of $\log T$, and longer inputs would cost hardly anything. But the theorems only bound the capacity from above, for networks of bounded norm, and training may need more samples than the capacity requires.
#
# So the paper measures how many samples a trained transformer needs, and calls the result "the main empirical verification" of the dependence on $\log T$. The measurement is worth checking, because a curve over less than one decade of $T$ can easily be taken for a logarithm.
#
# ## Three of five bits by hand
#
# To see how much a sample tells, hide three of five positions, so that there are $\binom53 = 10$ possible sets, and let the label be 1 if all three hidden bits are 1.
#
# * The string 11101 has the label 1, so the hidden set lies within the ones, $\{1, 2, 3, 5\}$, and $\binom43 = 4$ sets remain.
# * The string 11100 has the label 0, which excludes a single set, $\{1, 2, 3\}$, so that 3 sets remain.
# * The string 10101 has the label 1 again, and now only the set $\{1, 3, 5\}$ remains.
#
# A label 1 tells much, but only one label in eight is 1, and a label 0 tells little. In any case a label has only two values, so on average a label can at best halve the number of sets that remain. It therefore takes about $\log_2 \binom T3$ labels to single out one of $\binom T3$ sets. This is 17.3 for $T = 100$, where there are 161,700 sets, and 26.3 for $T = 800$, where there are 85 million. So for eight times as many bits one needs only 1.5 times as many labels, *if the learner makes full use of them*. The question is how close a trained transformer comes to this.
#
# ## The task, and what the paper says
#
# A *trial* hides a set $I$ of 3 positions among $T$. It draws $m$ strings $x$ of $T$ independent fair bits. The label of a string is $y = 1$ if all three hidden bits are 1, and $y = 0$ otherwise. Then a transformer is trained on these $m$ pairs. The trial is a *success* if at some check the network is right on more than 99 % of 10,000 new strings. The *critical size* $m^*(T)$ is the sample size at which half of the trials succeed.
#
# (The published version of the paper is reported to reject samples that fit more than one set. We reject none, but near the critical sizes there is hardly anything to reject. At $T = 100$ with 115 samples the expected number of wrong sets that fit is below 0.0001, and at the critical sizes of longer strings it is still smaller.)
#
# ```{prf:remark} Edelman, Goel, Kakade and Zhang (2022), Sections 5 and 6, Figures 2 and 4, Appendix C.1
# :label: variables-fig2
# 1. "With hyperparameters typical of Transformer setups used for natural data, we indeed observe that the empirical sample complexity scales sublinearly with $T$." The experiment is "the main empirical verification of the $\log T$ dependence".
# 2. There is no sharp threshold, and every run fits its training set. At $T = 400$ a run with 100 samples overfits and a run with 200 learns.
# 3. For $s$ hidden bits every learner needs $\Omega(s \log T)$ samples.
# ```
#
# ## Four lengths, eightfold in all
#
# Transformers were trained at $T = 100$, 200, 400 and 800 with five sample sizes each, and from the shares of successes we read off the critical size of each length. These trials are stored; this page itself trains a few at {glue:text}`here` bits. If $m^*$ grew eightfold, like the length, the paper's first statement would not be reproduced. If it grew no more than the logarithm of the number of sets, our statement against a logarithm would be refuted.
#
# Our trials end when they succeed, or when their training loss is below 0.001, mostly before step 200, whereas the paper goes on to step 1000.
#
# All trials were run twice, with different seeds. Those of the second run are stored, and the results of the first are reported where they differ. All trials of one length and size train side by side. On another processor, or with today's code, a single stored trial cannot be reproduced exactly, but the shares of successes can be reproduced.
#
# **Why 1,000 trials can be run on one processor.** Only the class token, whose output is read, has a query, and this query is the same for all strings. So each of the $2T$ pairs of a position and a bit has one score and one value, whatever the rest of the string is, and a string selects $T$ of these pairs. Attention is then one matrix product with the indicators of the bits. This computes the same network, but where we measured it, at $T = 800$, a step of training took at most a few percent of the usual time. An exercise counts the multiplications ({ref}`ex-and-table`).

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import itertools
import math
from functools import partial

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, results, table
from helpers.rng import Rng
from helpers.statistics import bootstrap_interval, difference, least_integer, resampled, wilson
from helpers.training.train import cross_entropy, train
from papers.variables import planted

ledger, rng = Ledger("variables/sample_complexity_of_and"), Rng(seed)
sublinear, right = map(ledger.result, ("variables.fig2", "variables.fig2_right"))
shares_row, fit_row = map(ledger.result, ("variables.fig2.shares", "variables.fig2.fit"))
log_row, floor_row = map(ledger.result, ("variables.fig2.log", "variables.fig2.floor"))
S, CELL = 3, ["T", "m"]
COLUMNS = ("T", "m", "dropout", "trial", "success", "steps", "wrong", "wrong_new")
like_paper = partial(
    train, learning_rate=1e-3, weight_decay=1e-4, loss=cross_entropy, clip=1.0, check_every=10
)


def plant(T, m, numbers, new=fresh):
    """Trials, their samples and their new strings."""
    planned = planted.plant("and", T, S, [10**9 * m + 1000 * seed + k for k in numbers])
    return planned, planned.sample(m), planned.sample(new)


# %% mystnb={"code_prompt_hide": "How a trial is trained and judged", "code_prompt_show": "How a trial is trained and judged"} tags=["hide-input"]
def learn(T, m, dropout, numbers, most=steps):
    """Train trials until their verdicts are known; a row of each."""
    planned, (bits, labels), new = plant(T, m, numbers)
    model = partial(planted.logits, planted.probe(T, width=width, heads=heads))
    few, every = (planted.errors(model, *(v[:, :n] for v in new), 1000) for n in (500, fresh))
    best = torch.ones(len(numbers))

    def undecided(weights, models):
        """1 until a trial succeeds or has fit its sample."""
        wrong = few(weights, models)
        near = (wrong < 0.03).nonzero().flatten()
        if len(near):
            wrong[near] = every({k: v[near] for k, v in weights.items()}, models[near])
        best[models] = torch.minimum(best[models], wrong)
        loss = cross_entropy(model(weights, bits[models]), labels[models])
        return ((wrong >= 0.01) & (loss >= (2.5e-4 if dropout else 1e-3))).float()

    trained = like_paper(
        partial(model, dropout=dropout, generator=planned.generators[0]),
        planted.start(planted.probe(T, width=width, heads=heads), planned, matrices=0.02),
        lambda models: (bits[models], labels[models]),
        steps=most,
        evaluate=undecided,
        threshold=0.5,
    )
    wrong = planted.errors(model, bits, labels)(trained.weights, torch.arange(len(numbers)))
    found = numbers, (best < 0.01).int(), trained.steps, wrong, best
    return [(T, m, dropout, *map(float, row)) for row in zip(*found, strict=True)]


# %% mystnb={"code_prompt_hide": "The trials", "code_prompt_show": "The trials"} tags=["hide-input"]
stored = results.load("variables/sample_complexity_of_and", "trials")
rows = list(zip(*(stored[c] for c in COLUMNS), strict=True)) if stored and resume else []
known = {row[:4] for row in rows}
stacks = [(lengths, multiples, 0.0, range(k, min(k + 10, trials))) for k in range(0, trials, 10)]
stacks += [(lengths, multiples[:3], 0.1, [k]) for k in range(dropout_trials)]
for at, sizes, dropout, numbers in stacks:
    for T, k in itertools.product(at, sizes):
        cell = T, round(k * math.sqrt(T) / 10) * 10, dropout
        missing = [number for number in numbers if (*cell, number) not in known]
        rows += learn(*cell, missing) if missing else []
own = pd.DataFrame(rows, columns=COLUMNS)
results.save("trials", own.to_dict("list"))
every = pd.DataFrame(stored.columns) if stored and not resume else own
kept, own = (frame[frame["dropout"] == 0] for frame in (every, own))


def learn_linear(T, m):
    """The same trials, AdamW, for a linear classifier of the bits as plus and minus 1."""
    _, (bits, labels), (new, truth) = plant(T, m, range(10), 2000)
    X, fresh_X = (2 * b.float() - 1 for b in (bits, new))

    def opposite(w, x):
        """Two logits that start at 0 stay opposite, so one slope has both."""
        score = torch.baddbmm(w["offset"], w["slope"], x.mT).mT
        return torch.cat((-score, score), -1)

    trained = like_paper(
        opposite,
        {"slope": torch.zeros(10, 1, T), "offset": torch.zeros(10, 1, 1)},
        lambda models: (X if len(models) == len(X) else X[models], labels[models]),
        learning_rate=0.3,
        clip=math.sqrt(2),  # the gradient of both logits has norm 1
        steps=150,
        evaluate=planted.errors(opposite, fresh_X, truth, 2000),
        threshold=0.01,
    )
    return [(T, m, float(done)) for done in trained.finished]


ends = 100, 400
linear = pd.DataFrame(
    [row for T in ends for k in (8, 10, 12, 14) for row in learn_linear(T, k * T // 2)],
    columns=(*CELL, "success"),
)

# %% [markdown]
# A share of successes among few trials is noisy, and so is the sample size at which the shares cross one half. So before we read off $m^*$ we replace the shares by the nearest curve that never decreases. The intervals come from a *bootstrap*, in which the trials of each size are resampled, that is, drawn again with repetition from the trials that we have.


# %% mystnb={"code_prompt_hide": "The critical size", "code_prompt_show": "The critical size"} tags=["hide-input"]
def critical(frame):
    """m* by length: as found, then with the trials of each size drawn anew, (1 + redraws, L)."""
    cell = torch.tensor(frame.groupby(CELL).ngroup().to_numpy())
    won = torch.tensor(frame["success"].to_numpy(), dtype=torch.float64)
    again = torch.cat((won[None], won[resampled(cell, redraws, rng.generator)]))
    sums = torch.zeros(len(again), int(cell.max()) + 1, dtype=torch.float64)
    shares = sums.index_add(1, cell, again) / cell.bincount()
    T, m = torch.tensor(list(frame.groupby(CELL).groups)).T
    found = [
        [planted.critical_size(m[at].tolist(), row) for row in shares[:, at]]
        for at in (length == T for length in T.unique())
    ]
    return torch.tensor(found, dtype=torch.float64).T.clamp(max=4 * int(m.max()))


def growth(frame):
    """Factor of m* from the shortest to the longest strings over that of the length."""
    found = critical(frame)
    return bootstrap_interval(found[:, -1] / found[:, 0] * (frame["T"].min() / frame["T"].max()))


tall = sorted(kept["T"].unique().tolist())
found, by_size = critical(kept), kept.groupby(CELL)["success"]
growths = {"kept": growth(kept), "own": growth(own), "linear": growth(linear)}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: share of successful trials against the number of samples, the nondecreasing fit, with 95 % intervals of the shares. Right: critical size against length with 95 % intervals, for the transformer and for a linear classifier, both trained by AdamW. Dashed: proportional to $T$. Dotted: proportional to a logarithm, $\\log_2 \\binom T3$.", "name": "fig-and-critical"}, "image": {"alt": "Left, one rising curve of the share of successes for each length, from near zero to between 0.7 and one, those of longer strings further to the right. Right, on logarithmic axes, the transformer's critical size rises along a straight line, less steep than the dashed line and much steeper than the dotted one; the linear classifier's lies far above, along a dashed line."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.4)
for i, T in enumerate(tall):
    tried = by_size.agg(["sum", "count"]).loc[T]
    share = [wilson(int(row["sum"]), int(row["count"])) for _, row in tried.iterrows()]
    low, high = [s.low for s in share], [s.high for s in share]
    figures.interval(axes[0], tried.index, low, high, color=figures.COLOURS[i], alpha=0.1)
    fitted = planted.nondecreasing(torch.tensor([s.value for s in share]))
    axes[0].plot(tried.index, fitted, **figures.series_style(i, label=f"$T = {T}$"))
figures.level(axes[0], 0.5)
axes[0].set(xscale="log", xlabel="samples $m$", ylabel="share of successes")
figures.ticks(axes[0], [50, 100, 200, 400])
curves = (("transformer", tall, found), ("linear", list(ends), critical(linear)))
for i, (name, at, sizes) in enumerate(curves):
    values = [bootstrap_interval(v) for v in sizes.T]
    error = [[v.value - v.low for v in values], [v.high - v.value for v in values]]
    axes[1].errorbar(at, sizes[0], error, capsize=3, **figures.series_style(i, label=name))
    for scale, dash in ((lambda T: T, "--"), (lambda T: math.log(math.comb(T, S)), ":")):
        guide = [values[0].value * scale(T) / scale(at[0]) for T in at]
        axes[1].plot(at, guide, dash, color=figures.GREY, marker="")
axes[1].set(xscale="log", yscale="log", xlabel="length $T$", ylabel="critical size $m^*$")
figures.ticks(axes[1], tall)
for ax in axes:
    ax.legend()
figures.show()

# %% [markdown]
# On the left of {numref}`fig-and-critical` every curve rises slowly from few successes to most or all, and longer strings need more samples. On the right the critical size of the transformer rises along a straight line. This line is less steep than the dashed line, which is proportional to $T$, but much steeper than the dotted line, which is proportional to a logarithm. The marks of the linear classifier lie far above those of the transformer, along another dashed line.
#
# **Could our early stopping matter?** The paper goes on to step 1000 and takes the best check. If our trials did so too, our critical sizes might be lower, but hardly by much. To see this, we carried on 20 failed trials to step 1000 (12 at $T = 100$ and 8 at $T = 200$), and none of them succeeded later. Nor did any of 8 others (4 at $T = 400$ with 200 samples and 4 at $T = 800$ with 400). All 28 together exclude, at 95 %, that more than an eighth of such trials would have succeeded. (These 28 trials had no dropout, were trained by AdamW like all others, and are not stored.)
#
# ## A logarithm or a power?
#
# A straight line can be fitted to any curve, so a fitted slope cannot distinguish a power from a logarithm. We therefore look at single doublings of $T$.
#
# * If $m^*$ is a power of $T$, its *local power* $\log_2 (m^*(2T) / m^*(T))$ is the same for each doubling.
# * If $m^*$ is $a + b \log T$, its *increment* $m^*(2T) - m^*(T)$ is the same for each doubling.
#
# By the *bend* of either we mean its value at the last doubling minus its value at the first. So the bend of the local power is 0 for a power, and the bend of the increment is 0 for a logarithm.

# %% mystnb={"code_prompt_hide": "Doublings, and what every learner needs", "code_prompt_show": "Doublings, and what every learner needs"} tags=["hide-input"]
doublings = torch.tensor(tall).log2().diff()
local_power, increment = found.log2().diff(dim=1) / doublings, found.diff(dim=1) / doublings
bend_power, bend_increment = (
    bootstrap_interval(v[:, -1] - v[:, 0]) for v in (local_power, increment)
)
factor = bootstrap_interval(found[:, -1] / found[:, 0])
whole = bootstrap_interval((found[:, -1] / found[:, 0]).log() / math.log(tall[-1] / tall[0]))
logs = torch.tensor([math.log2(math.comb(T, S)) for T in tall], dtype=torch.float64)


def chance_bound(T, m):
    """Bound on the chance that any learner names the set from m samples."""
    ones = [math.comb(m, j) for j in range(m + 1)]
    labels = [n / 8**j * (7 / 8) ** (m - j) for j, n in enumerate(ones)]
    return min(sum(ones[:k]) / math.comb(T, S) + sum(labels[k:]) for k in range(m + 2))


def wrong_sets(T, m):
    """Expected number of wrong sets that fit m samples."""
    sets = 3 * (T - 3), 3 * math.comb(T - 3, 2), math.comb(T - 3, 3)
    return sum(n * a**m for n, a in zip(sets, (7 / 8, 13 / 16, 25 / 32), strict=True))


def search_size(T):
    """Samples from which a search through all sets succeeds in half of all trials."""
    return least_integer(lambda m: wrong_sets(T, m) < 0.5)


# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
floors = [least_integer(lambda m, T=T: chance_bound(T, m) >= 0.5) for T in tall]
glue(floor_short=floors[0], floor_long=floors[-1])
told = {
    "trials a size": [int(by_size.count()[T].min()) for T in tall],
    "share of successes by size": [
        ", ".join(f"{m}: {v:.2f}" for m, v in by_size.mean()[T].items()) for T in tall
    ],
    "least for any learner": floors,
    "critical size": [f"{bootstrap_interval(v):.0f}" for v in found.T],
    "local power since the length above": [
        "",
        *(f"{bootstrap_interval(v):.2f}" for v in local_power.T),
    ],
    "increment": ["", *(f"{bootstrap_interval(v):.0f}" for v in increment.T)],
}
table(pd.DataFrame({"T": tall} | told), "Trials without dropout, with 95 % intervals")
if stored is not None:
    stored.show_provenance()
glue(
    shortest=tall[0],
    longest=tall[-1],
    trials_kept=int(by_size.count().min()),
    factor=f"{factor:.1f}",
    factor_T=tall[-1] / tall[0],
    factor_floor=(logs[-1] / logs[0]).item(),
    linear_growth=f"{growths['linear']:.2f}",
    own_growth=f"{growths['own']:.2f}",
    whole_power=f"{whole:.2f}",
    bend_power=f"{bend_power:.2f}",
    bend_increment=f"{bend_increment:.0f}",
    here=" and ".join(map(str, lengths)),
    zero=tall[0] * (tall[0] / tall[-1]) ** (1 / (factor.value - 1)),
)
glue(**{f"linear_{T}": size for T, size in zip(ends, critical(linear)[0].tolist(), strict=True)})

# %% [markdown]
# For both runs the next table has the factor by which $m^*$ grows from $T =$ {glue:text}`shortest` to {glue:text}`longest`, the power of $T$ that describes this growth, and the two bends, with 95 % intervals. (Empty cells are not reported. In the table above, *least for any learner* is the number of samples below which no learner that answers once succeeds half of the time, see the section on what every learner needs.)
#
# | trials | factor of $m^*$ | power of $T$ | bend of the local power | bend of the increment, samples |
# |:--|:--|:--|:--|:--|
# | stored (second run) | {glue:text}`factor` | {glue:text}`whole_power` | {glue:text}`bend_power` | {glue:text}`bend_increment` |
# | first run | 3.5 [3.0, 4.1] | 0.60 [0.53, 0.67] | | 69 [19, 125] |
# | both, 100 trials of each size | | | 0.04 [-0.18, 0.29] | 68 [31, 116] |
#
# * *In proportion to the logarithm?* The logarithm of the number of sets grows by a factor of only {glue:text}`factor_floor:.1f`. So in both runs $m^*$ grows faster than in proportion to it.
# * *A power of $T$?* A power has the bend 0 in the fourth column. Both intervals there contain 0, so a power is compatible with the trials.
#
# * *A line $a + b \log T$, with any offset $a$?* Such a line has the bend 0 in the last column. It is excluded by the first run and by both runs together, but not by the second run alone, whose interval contains 0. (The line through our critical sizes at {glue:text}`shortest` and {glue:text}`longest` bits would need no sample at all at $T =$ {glue:text}`zero:.0f`.)
#
# None of this says anything about strings longer than {glue:text}`longest` bits. A learner whose samples do grow like the logarithm is a search through all sets of three positions ({ref}`ex-and-search`).

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
sublinear.reproduced(
    "stored trials, without dropout: growth of the critical sample size in units of that of the "
    "length, upper end of its 95 % interval; control: sizes rescaled by the root of the length",
    growths["kept"].high,
    at_most=0.95,  # a linear growth has 1, up to the grid of sizes
    control=growth(kept.assign(m=kept["m"] * (kept["T"] / 100) ** 0.5)).high,
    about="experiment",
    evidence="trained",
)
sublinear.reproduced(
    "the page's own trials, which are few: growth of the critical sample size in units of "
    "that of the length, upper end of its interval; control: sizes multiplied by the length",
    growths["own"].high,
    at_most=0.95,  # a linear growth has 1, up to the grid of sizes
    control=growth(own.assign(m=own["m"] * own["T"] // own["T"].min())).high,
    about="experiment",
    evidence="trained",
)
log_row.holds(
    "without dropout: factor by which the critical sample size grows, in units of that of "
    "the logarithm of the number of sets, lower end of its interval; control: a search "
    "through all sets",
    factor.low * logs[0] / logs[-1],
    at_least=1,
    control=search_size(tall[-1]) / search_size(tall[0]) * logs[0] / logs[-1],
    about="ours",
    evidence="trained",
)

# %% [markdown]
# **The linear classifier.** To compare with growth in proportion to $T$, we divide the growth of $m^*$ by that of $T$, which gives 1 for a learner that needs samples in proportion to $T$. For the linear classifier, 150 steps of AdamW at the rate 0.3 without an $\ell_1$ penalty, this ratio is {glue:text}`linear_growth` from $T = 100$ to 400. The critical sizes at these two lengths are {glue:text}`linear_100:.0f` and {glue:text}`linear_400:.0f`, about five times $T$. For the transformers that this page trains itself, of {glue:text}`here` bits, the ratio is {glue:text}`own_growth`.
#
# (The rate of the linear classifier matters. At the rate 0.03 it has not converged after 150 steps and would seem to need more samples, about 1.3 to 1.5 times as many at both lengths. After 1000 steps at this rate it needs about as many as here at $T = 100$.)
#
# **A linear classifier that looks for few bits.** An AND of few bits is a sparse linear function, so one should also try a linear learner that prefers sparse weights. We take logistic regression with the penalty $\lambda \|w\|_1$ on the weights $w$, where $\lambda = 0.2 \sqrt{\log(T)/m}$, trained by 300 accelerated proximal steps. The offset is then put half-way between the two classes of the training strings. Trials are like the others, with 20 of each size, judged on up to 4,000 new strings. (In trials that are not part of this page the classifier was a little worse with 0.1 in place of 0.2, and a little better with 0.3.)


# %% mystnb={"code_prompt_hide": "The linear classifier with a penalty", "code_prompt_show": "The linear classifier with a penalty"} tags=["hide-input", "nbval-ignore-output"]
def learn_l1(T, m, steps=300):
    """Share of successes of logistic regression with an l1 penalty."""
    _, (bits, labels), (new, truth) = plant(T, m, range(20), 4000)
    X, y = 2 * bits.float() - 1, labels.float()
    X = torch.cat((X, torch.ones_like(X[..., :1])), -1)
    rate = 4 * m / torch.linalg.matrix_norm(X, 2)[:, None] ** 2
    shrink = rate * 0.2 * math.sqrt(math.log(T) / m)
    w = ahead = torch.zeros(len(X), T + 1)
    for step in range(steps):
        off = (ahead[:, None] @ X.mT).sigmoid() - y[:, None]  # a row: ten times as fast
        moved = ahead - rate * (off @ X)[:, 0] / m
        moved[:, :T] -= moved[:, :T].clamp(-shrink, shrink)
        ahead, w = moved + step / (step + 3) * (moved - w), moved
    score = (w[:, None, :T] @ X[..., :T].mT)[:, 0]
    least, most = score.masked_fill(y < 1, math.inf), score.masked_fill(y > 0, -math.inf)
    cut = (least.amin(1) + most.amax(1)) / 2
    said = (w[:, None, :T] @ (2 * new.float() - 1).mT)[:, 0] > cut[:, None]
    return ((said != truth.bool()).float().mean(1) < 0.01).double().mean().item()


sizes = [40, 60, 80, 100, 140]
shares = {T: [learn_l1(T, m) for m in sizes] for T in (100, 800)}
few_bits = pd.DataFrame(shares, index=sizes).T.rename_axis("T")
table(few_bits, "Shares of successes with an l1 penalty, by samples", form=".2f")
for T, found_at in shares.items():
    glue(**{f"l1_{T}": planted.critical_size(sizes, torch.tensor(found_at))})

# %% [markdown]
# The critical sizes with the penalty are about {glue:text}`l1_100:.0f` at $T = 100$ and {glue:text}`l1_800:.0f` at 800. So not every linear classifier needs samples in proportion to $T$. Whether it does depends on the objective of its training.
#
# ## Success and failure
#
# *Is there a threshold?* Shares rise slowly with the sample, as in the paper, without a threshold. At $T = 400$ nearly all trials fail with 100 samples, and with 200 many succeed, though fewer than half. The paper shows one run of each kind at this length, as examples of overfitting and of success. Without dropout a success with 200 samples is therefore possible and not typical, but the interval of its chance, {glue:text}`share_200`, contains one half.
#
# *Does every run fit its sample?* A trial that fails ends when its loss is below 0.001. No string of its sample is wrong then, because with at most 560 strings a single wrong one would add at least $\log(2)/560 = 0.0012$ to the mean loss. So it could miss its sample only if it ran out of steps, but the longest took {glue:text}`most_steps`. In other words, a failing network has found another function that agrees with the labels of its sample.
#
# A trial that succeeds, however, is stopped at its success, and some of these trials have not fitted their sample by then. So the stored trials cannot show that *every* run fits its sample. The next cell therefore trains {glue:text}`carried` trials until their loss is below $10^{-4}$, whatever they do on new strings. None of their 100 strings is wrong then, since it would add 0.0069.


# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
def least_rise(frame):
    """Share of successes at the largest size less that at the smallest: least lower end."""
    rises = []
    for _, of_length in frame.groupby("T"):
        sizes = [trials["success"].tolist() for _, trials in of_length.groupby("m")]
        rises.append(difference(sizes[-1], sizes[0]).low)
    return min(rises)


def dealt(successes):
    """The same successes, dealt out anew among the sizes of a length."""
    order = torch.randperm(len(successes), generator=rng.generator).numpy()
    return successes.to_numpy()[order]


anew = kept.assign(success=kept.groupby("T")["success"].transform(dealt))


pair = [kept.query(f"T == 400 and m == {m}")["success"].tolist() for m in (200, 100)]
together = sorted(pair[0] + pair[1])
right.reproduced(
    "share of successes at $T = 400$ with 200 samples less that with 100, lower end of its "
    "interval; control: the successes dealt out evenly",
    difference(*pair).low,
    at_least=0,
    control=difference(together[::2], together[1::2]).low,
    about="experiment",
    evidence="trained",
)
chances = [wilson(int(sum(successes)), len(successes)) for successes in pair]
right.reproduced(
    "share of successes at $T = 400$ with 200 samples, lower end of its interval, so that a success "
    "is no exception; control: the successes of both sizes put together and sorted, first half",
    chances[0].low,
    at_least=0.2,
    control=wilson(int(sum(together[: len(pair[0])])), len(pair[0])).low,
    about="experiment",
    evidence="trained",
)
glue(share_200=f"{chances[0]:.2f}")
shares_row.reproduced(
    "share of successes with the largest sample less that with the smallest, least lower "
    "end over the lengths; control: successes dealt out anew among the sizes",
    least_rise(kept),
    at_least=0.5,
    control=least_rise(anew),
    about="experiment",
    evidence="trained",
)

# %%
failed = every[every["success"] == 0]


def losses(most):
    """Training losses of four trials at the paper's width, at 1e-4 or after most steps."""
    planned, sample, _ = plant(100, 100, range(4))
    network = planted.probe(100, width=64, heads=16)
    model = partial(planted.logits, network)
    start = planted.start(network, planned, matrices=0.02)
    trained = like_paper(model, start, lambda k: [v[k] for v in sample], steps=most, threshold=1e-4)
    return cross_entropy(model(trained.weights, sample[0]), sample[1])


carried = losses(1000)
fit_row.reproduced(
    "four trials of 100 bits with 100 samples, carried on whether they succeed or not: largest "
    "training loss within 1000 steps; control: trials that are cut off after 20 steps",
    carried.max().item(),
    at_most=1e-4,
    control=losses(20).max().item(),
    about="experiment",
    evidence="trained",
)
glue(carried=len(carried))
glue(most_steps=int(failed["steps"].max()))

# %% [markdown]
# ## Dropout
#
# In training the paper drops a tenth of the tokens, of the attention weights and of the outputs. With dropout every string has its own keys, and a step costs about ten times as much. So we ran only three such trials for each of the three smallest sizes at each length.

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
with_dropout = every[every["dropout"] > 0].groupby(CELL)["success"].agg(["sum", "count"])
if len(with_dropout):
    told = {
        "with dropout": [f"{wilson(int(a), int(b)):.2f}" for a, b in with_dropout.to_numpy()],
        "trials": with_dropout["count"].tolist(),
        "without": by_size.mean()[with_dropout.index].tolist(),
    }
    table(
        pd.DataFrame(told, with_dropout.index),
        "Shares of successes, with 95 % intervals",
        form=".2f",
    )
    at_200 = {
        T: "{sum:.0f} of {count:.0f}".format(**with_dropout.loc[(T, 200)]) for T in (400, 800)
    }
    of_280 = "{sum:.0f} of {count:.0f}".format(**with_dropout.loc[(800, 280)])
    ends_of = every.query("dropout > 0 and success == 0")["steps"]
    glue(dropped_from=int(ends_of.min()), dropped_to=int(ends_of.max()))
    glue(dropped_400=at_200[400], dropped_800=at_200[800], dropped_280=of_280)
    dropped = (with_dropout["sum"] / with_dropout["count"]).mean()
    glue(dropped=f"{dropped:.2f}", undropped=f"{by_size.mean()[with_dropout.index].mean():.2f}")

# %% [markdown]
# Dropout helps: averaged over these sizes, the share of successes is {glue:text}`dropped` with it and {glue:text}`undropped` without. With the first seeds, and ten trials of most of these sizes, the two shares were 0.41 and 0.18. The shares with dropout are lower bounds for the paper's procedure, because these trials, too, stop once their sample is fitted, those that fail at step {glue:text}`dropped_from` to {glue:text}`dropped_to`, and none of them was carried on.
#
# But so few trials decide neither whether the growth is sublinear with dropout nor how it compares with a logarithm. The trials of both runs together suggest sublinear growth. Their critical sizes at the four lengths are about 77, 109, 167 and 183, so their growth is 0.30 times that of $T$. But the upper end of the interval of this ratio is above 2. Therefore both our statement on sublinear growth and that on the logarithm are about the network without dropout.
#
# ## What every learner needs
#
# How far is the transformer from the best learner? The following bound holds for every learner that answers once. The idea of its proof is that of the example: a learner that sees $m$ labels has at most $2^m$ different answers, but there are $N$ sets, one of which has to be named.
#
# ```{prf:proposition} Counting
# :label: variables-and-floor
# Let $I$ be uniform among the $N = \binom Ts$ sets of $s$ positions. From $m$ strings and labels, no learner names $I$ with a chance above $2^m / N$. So to name $I$ with chance $p$ a learner needs $m \ge s \log_2 (T/s) - \log_2 (1/p)$ samples.
# ```
#
# ```{dropdown} Proof
# *The bound.* Fix the strings. Then the answer of the learner depends only on the labels, so it names one set for each of the $2^m$ vectors of labels, and at most $2^m$ sets in all. It can be right only if $I$ is one of these sets, which has a chance of at most $2^m / N$. (If the learner tosses coins, this holds for every outcome of the coins, and so on average.)
#
# *The number of samples.* If the chance is $p$, then $2^m \ge p N$, so $m \ge \log_2 N - \log_2 (1/p)$. And $N = \binom Ts \ge (T/s)^s$.
#
# *A success names the set.* Consider the ANDs of two different sets of $s$ positions. They differ at a string if all bits of the first set are 1 and some bit of the second is 0, and also with the two sets exchanged. Each of these two cases has a share of at least $2^{-s} \cdot \frac12$ of all strings, because at least one position of the second set is not in the first. So the two ANDs differ on at least a share $2^{-s}$ of all strings. A learner that errs on a share of less than $2^{-s-1}$ is therefore closer to the AND of $I$ than to any other, and has named $I$. For $s = 3$ this share is $\frac1{16}$, and a success errs on less than 0.01.
#
# *The table's floor* is sharper for $s = 3$, because it uses that most labels are 0. A label is 1 with chance $\frac18$, so the number $K$ of labels 1 is binomial. There are only $\sum_{j < k} \binom mj$ vectors of labels with fewer than $k$ ones. So for every $k$ the chance to name $I$ is at most $\sum_{j < k} \binom mj / N + \Pr(K \ge k)$.
# ```
#
# For a fixed $p$ a learner needs $\Omega(s \log T)$ samples, as the paper says, for all $1 \le s < T$. For $s \le \sqrt T$ this is the bound of the proposition, because $\log (T/s) \ge \frac12 \log T$. For larger $s$ use the bound of the table with $k = 1$, in which $2^{-s}$ takes the place of $\frac18$: the chance is at most $\frac1N + m 2^{-s}$, and $N \ge T$. So $m \ge (p - \frac1T) 2^s$, which for $s > \sqrt T$ exceeds every multiple of $s \log T$ once $T$ is large.
#
# For few bits the best chance can be computed: for given strings it is the number of label vectors that occur, divided by $N$. The next cell computes this chance for all samples of one, two and three strings of 5 bits. A chance above the bound would refute the proposition.


# %%
def best_chance(m, T=5):
    """Over all m-tuples of strings: the mean number of label vectors that occur, over the sets."""
    bits = torch.cartesian_prod(*[torch.arange(2)] * T)
    labels = bits[:, torch.combinations(torch.arange(T), S)].all(-1).long()  # (strings, sets)
    vectors = torch.zeros(1, labels.shape[1], dtype=torch.int64)
    for _ in range(m):
        vectors = (2 * vectors[:, None] + labels).flatten(0, 1)
    occurring = 1 + (vectors.sort(1).values.diff() > 0).sum(1).double()
    return occurring.mean().item() / labels.shape[1]


chance = {m: best_chance(m) * math.comb(5, S) for m in (1, 2, 3)}
glue(best_share=max(v / 2**m for m, v in chance.items()))
floor_row.holds(
    "largest ratio of the best chance of naming the set of 3 in 5 bits from one to three "
    "samples to its bound; control: from three samples, to the bound for one",
    max(v / 2**m for m, v in chance.items()),
    at_most=1,
    control=chance[3] / 2,
    about="statement",
    evidence="proved",
)

# %% [markdown]
# The largest chance is {glue:text}`best_share:.2f` of its bound, so the proposition is not refuted.
#
# ## What differs from the paper
#
# Settings that the paper does not state are those of minGPT, a public program, in the paper as in our trials. They are weights of standard deviation 0.02, biases 0, gradients clipped to norm 1, and layer norms before each block.
#
# ```{table} Every setting that differs from the paper's
# | setting | paper | the stored trials |
# |:--|:--|:--|
# | lengths $T$ | 100 to 400 by 50, 500 to 800 by 100 | 100, 200, 400, 800 |
# | samples $m$ | 50 to 200 by 10 | 50 to 560, five sizes a length |
# | trials of each | 50 | {glue:text}`trials_kept` |
# | dropout | 0.1 | none; 0.1 in a few trials |
# | end of a trial | step 1000 | success, or training loss below 0.001 (0.00025 with dropout) |
# | new strings | 10,000 | 500, and 10,000 where these have under 3 % wrong |
# | critical size | smallest $m$ with more than half | crossing of the nondecreasing fit |
# | redraws | 50, standard errors | 500, 95 % intervals |
# | optimizer | Adam, weight decay 0.0001 | AdamW, weight decay 0.0001 of all weights |
# | bias of the read-out | none in minGPT | one |
# | other learners | none | linear classifiers, without and with an $\ell_1$ penalty |
# ```
#
# ## What we found
#
# * Without dropout, the setting in which we judge it, the critical size grows by a factor of {glue:text}`factor` from $T =$ {glue:text}`shortest` to {glue:text}`longest`. This is sublinear, as the paper says, and far from proportional to a logarithm. It does not contradict the paper's theorem, which is about transformers of bounded norm, whereas here only a weak weight decay limits the norm.
# * The growth is described by a power of $T$, with the exponent {glue:text}`whole_power`, since the local power does not visibly change. A line in $\log T$ is excluded by the first run and by both runs together, not by the second alone. But three doublings do not establish a law, and how many samples longer strings need is not known.
# * Trained by AdamW, attention needs fewer samples than a linear classifier. With an $\ell_1$ penalty, however, the linear classifier needs fewer than attention, about {glue:text}`l1_100:.0f` samples at $T = 100$ and {glue:text}`l1_800:.0f` at $T = 800$.
# * Attention and the linear classifier with the penalty both need more than the least possible number. Every learner that answers once needs at least {glue:text}`floor_short` samples at $T = 100$ and {glue:text}`floor_long` at $T = 800$, to succeed in half of all trials. (A trial of ours counts the best of at most 100 checks, so it may answer more than once. If we allow 100 sets for each vector of labels, the same count gives only 18 and 35, which is still far below the critical sizes.) A search through all sets needs less than twice as many as this floor ({ref}`ex-and-search`).
# * Dropout lowers the critical size. The paper's samples end at 200. Without dropout these are far too few at $T = 800$ and not quite enough at 400. But with dropout {glue:text}`dropped_400` trials succeed with 200 samples at $T = 400$, and {glue:text}`dropped_800` at 800 (with the first seeds 7 of 10 and 2 of 3), although only {glue:text}`dropped_280` with 280 samples. So the paper's range is plausible. (The ticks of its Figure 4, which are damaged in our text, can be read as 40 to 200 by 20. If so, its critical sizes grow by at most about 5 over eight times the length.)
# * Trials that fail have fitted their sample all the same. The paper says that every training loss falls below $10^{-4}$ within 1000 iterations. We judge this on {glue:text}`carried` trials of 100 bits, which this page carries on whether they succeed or not, and all of them do so. The others stop earlier.
#
# ## What would falsify this
#
# Sublinear growth would be refuted by a critical size that grows as fast as the length, as that of the linear classifier without a penalty does. Our statement against a logarithm would be refuted if the critical size grew, over all lengths, by no larger a factor than the logarithm. The statement on fitting would be refuted by trials whose training loss is still above $10^{-4}$ after 1000 steps, and the lower bound by a learner that names the set from fewer samples.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# We know of no published code of these experiments. What differs from the paper's text is in the table of settings above.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-and-table
# *By hand.* Show that a head whose one query is the same for all strings writes a quotient of two sums that are linear in the indicators of the bits. Count the multiplications for $m$ strings.
# ```
#
# ```{solution} ex-and-table
# :class: dropdown
# The head writes $\sum_t e^{s_t} v_t / \sum_t e^{s_t}$, and the score $s_t$ and the value $v_t$ depend only on the position $t$ and its bit $b$. So we may compute a table of all $s_{tb}$ and $v_{tb}$, and $\sum_t e^{s_t} v_t = \sum_{t, b} \mathbb 1[x_t = b] \, e^{s_{tb}} v_{tb}$ is linear in the indicators $\mathbb 1[x_t = b]$, as is $\sum_t e^{s_t}$. With $D$ columns and $H$ heads the sums take about $2 m T (D + H)$ multiplications for $m$ strings, and the tables take $2 T D^2$. If keys and values are computed for each string by itself, they alone take $2 m T D^2$.
# ```
#
# ```{exercise}
# :label: ex-and-search
# *With the computer.* A learner goes through all sets of three positions and answers with one that fits the sample. It fails only if a wrong set fits, so bound the expected number of wrong sets that fit, and compute from how many samples on this number is below $\frac12$, for $T = 100$ to 800. Compare with the floor and with the transformer. Then train more transformers yourself, `python -m bookkit.run variables/sample_complexity_of_and -p trials 16 --out my_run`, and see whether the growth over that of $T$ stays below 1.
# ```
#
# ```{solution-start} ex-and-search
# :class: dropdown
# ```
#
# The AND of a wrong set has the same value as the AND of $I$ at a random string with chance $\frac78$, $\frac{13}{16}$ or $\frac{25}{32}$, if the two sets share two positions, one or none. There are $3(T-3)$, $3\binom{T-3}2$ and $\binom{T-3}3$ such sets. The function `wrong_sets` of a cell above adds up their chances of fitting $m$ samples.

# %%
search = {
    T: {
        "labels, at least": math.log2(math.comb(T, S)),
        "least for any learner": least_integer(lambda m, T=T: chance_bound(T, m) >= 0.5),
        "a search succeeds from": search_size(T),
    }
    for T in (100, 200, 400, 800)
}
answer = pd.DataFrame(search).T.rename_axis("T")
table(answer, "Samples for a learner that goes through all sets", form=".0f")

# %% [markdown]
# At $T = 800$ and $m = 79$ the expected number is $0.06 + 0.07 + 0.29 < \frac12$. The floor there is {glue:text}`floor_long`, so the search needs less than twice as many samples, and the transformer needs several times as many. With every doubling of $T$ the search needs seven or eight samples more, which is the growth of a logarithm.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-and-linear
# *To think about.* Why does a linear classifier trained by gradient descent from 0 need of the order of $T$ samples, although the AND is $\mathbb 1[x_1 + x_2 + x_3 > \frac52]$ and three weights would be enough? Why not one with an $\ell_1$ penalty?
# ```
#
# ```{solution} ex-and-linear
# :class: dropdown
# If the inputs are rotated, the weights that gradient descent finds rotate with them. So gradient descent does not prefer three large weights to $T$ small ones of the same norm. Such a learner has to estimate a direction in $\mathbb R^T$, and the squared errors of all coordinates add up to a total proportional to $T/m$. (AdamW divides coordinate by coordinate, so its weights do not rotate with the inputs. But the number of samples that it needs in our trials grows with $T$ all the same.) The $\ell_1$ penalty does prefer few weights, because it removes those that are below the noise of a coordinate, which is of order $\sqrt{\log(T)/m}$. Attention, too, distinguishes positions: its weights are a distribution over positions, and to move weight to three of them it needs scores of the order of only $\log T$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`variables`.
