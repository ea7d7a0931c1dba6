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
# (ch-training-dynamics)=
# # Sharpness and blow-up while PARITY is learned
#
# ```{verdict}
# In part. A transformer becomes sharp, sensitive to noise in its weights, just when it learns PARITY: on {glue:text}`bits` bits the sharpness jumps by a factor of {glue:text}`jump:.1f` when the loss falls, if weight decay is at most 0.1. Decay then makes the blow-up, the factor by which layer norms magnify, grow exponentially, as the paper says. Two questions stay open: whether the blow-up changes the sharpness, and whether decay makes PARITY sharper in the end. Both answers change with the width and the learning rate, which we changed together, and with the length of the runs. On {glue:text}`long_bits` bits without decay, PARITY stays sharper than insensitive functions become early in training, again as in the paper.
# ```
# **Needs** {ref}`ch-sharpness-vs-length`, {ref}`ch-norm-blowup-tradeoff`. **Read** 24 min. **Runs in** 70 s. **Source** printed.
#
# **Claim.** When a transformer learns PARITY, its loss falls suddenly, and at that time its sharpness jumps. Afterwards weight decay makes the parameter norm fall and the layer-norm blow-up rise exponentially. We find both observations of the paper at {glue:text}`bits` bits, where the paper has 25. Three more sentences of the paper are about what comes later:
#
# * *The rise of the blow-up has no significant effect on the sharpness.* This stays open. In our models of the paper's width and learning rate the sharpness ends lower than it began, although at decay 0.3 it rises again after a fall. In narrower models with a larger rate it rises in the end at decay 0.3, and at 6 bits in longer runs also at decay 0.1.
# * *After long training PARITY is sharper with decay than without.* This stays open too, because in our long runs the order depends on which of the last steps one looks at, and at the paper's width and rate it is the opposite one after 20,000 steps.
# * *Even without decay PARITY stays sharper than insensitive functions become early in training.* This is reproduced at {glue:text}`long_bits` bits.
#
# ## Why one should care
#
# The theory of this part is about minima: a transformer that computes PARITY lies in a sharp one, and needs large weights or layer norms that magnify. But the theory does not say how training gets there. If it describes what happens in practice, one should see three things. The sharpness should rise at the moment when the function is found, and not before. After that, layer norms should magnify more and more, to make up for the weight decay, which shrinks the weights. And the sharpness should stay above that of insensitive functions. So we follow these quantities through training.
#
# ## One model by hand
#
# Suppose that a model computes PARITY and that weight decay alone acts on it. With the learning rate $\eta = 0.003$ and decay $\lambda = 0.1$ each step multiplies all weights by $1 - \eta\lambda = 1 - 0.0003$, so $t = 1000$ steps multiply them by about $e^{-0.3} = 0.74$. Suppose that the input of a layer norm shrinks by the same factor. Then the output of the layer norm hardly changes, because a layer norm divides by the deviation of its input. But it now magnifies differences in its input $\frac1{0.74} = 1.35$ times as much as before. If this happens at all four layer norms, their product, the blow-up, has grown by the factor $1.35^4 = 3.3$. In other words, the logarithm of the blow-up rises by 4 for each unit of $\eta \lambda t$.
#
# Meanwhile noise of a fixed size has become larger in comparison with the weights, which could make the model sharper. All of this is a rough picture, because products of several weights shrink faster than one weight, so that the function would change if the gradient did not correct it.
#
# **The four numbers.** PARITY of a string of $n$ bits is 1 if the number of ones is odd, else 0. We follow four numbers through training:
#
# * the *loss*, which is the mean squared error over all strings, for targets in $\{0, 1\}$;
# * the *sharpness*, which is 4 times the mean squared change of the outputs under Gaussian noise of standard deviation 0.02 in all weights except the vectors of the positions (the factor 4 stands there because the theory has values $\pm 1$, which are twice as far apart as 0 and 1);
# * the *norm* $N$, which is the Euclidean norm of all weights except the vectors of the positions;
# * the *blow-up* $B$. If the columns of a token have the standard deviation $s$, a layer norm magnifies this token by $1/s$. On one string we take the largest factor of each layer norm and multiply these factors over the layer norms. $B$ is the mean of the product over all strings.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 7.2, Figures 3, 12 and 13
# :label: sensitive-fig3
# In training on PARITY of 25 bits, "sharpness always increases dramatically at the same time as training loss falls to 0", at every weight decay from 0 to 0.3. It falls again later and approaches a level that is not 0. After learning, with positive weight decay, the norm falls and the blow-up rises exponentially, without a significant effect on the sharpness. After 100 000 steps the sharpness is lower without decay.
# ```
#
# **Why it should be so.** Before learning the model is nearly constant, and a constant can be flat, whereas no function is more sensitive than PARITY. So one expects a jump when PARITY is learned. The paper's Corollary 5 says that a product of two factors is at least as large as the sensitivity demands: one factor grows exponentially with the norm, the other is the mean squared blow-up. Decay shrinks the norm by a factor of about $1 - \eta\lambda$ in each step. If the function is to stay, the blow-up has to make up for this. But as the example shows, the blow-up grows for every function whose weights all shrink, so its growth alone is no evidence for the corollary.
#
# The remark bundles several sentences, and two more are quoted where they are tested. In short, the jump of the sharpness, the trade of norm for blow-up and the level without decay are reproduced, and so is a later fall of the sharpness, if decay is weak. What decay does to the sharpness in the end is open, and one sentence is not judged. A table in the section "What we found" has our number and verdict for each sentence.
#
# **Three sets of runs.** The short runs of this page show the jump and the trade. Two stored series go on for longer, to test the sentences about what comes later. The first column has the numbers of the stored run of this page, which is the one that is shown; with other parameters they would be different:
#
# | | runs of this page | stored *long series*: five times longer | stored *wide series*: the paper's width and rate |
# |:--|:--|:--|:--|
# | what they test | jump; later fall; norm against blow-up | order and level of Figure 13 | effect of the blow-up on the sharpness |
# | bits | {glue:text}`bits` | {glue:text}`long_bits` | 5 |
# | columns of the model, learning rate $\eta$ | 32, 0.003 | 32, 0.003 | 128, 0.0003 |
# | steps | 2000 | 10,000 | 20,000 |
# | decays of PARITY | 0, 0.1, 0.2, 0.3 | 0, 0.1 | 0, 0.1, 0.3 |
# | runs of each decay | 9 | 6 | 6 |
#
# The long series has two runs each of FIRST and MAJORITY, too. Each set was also made with other seeds: the runs of this page three more times, and each stored series once before. The *first seeds* of a stored series are those of that earlier time, whose numbers are quoted in the text, and the *second seeds* are those of the runs that are shown. (Two tables below, of how the wide series was made and of the settings, call the wide series the *second series* or *second stored series*.) Numbers in brackets are the ends of 95 % intervals. Changes of sharpness are given as logarithms, in which 0.7 is about a factor of 2 and 1.4 about a factor of 4.

# %% tags=["parameters"]
n = 5  # bits of a string [5..7]
runs = 9  # of each weight decay [9..40]
decays = [0.0, 0.1, 0.2, 0.3]  # weight decays: 0, others >= 0.05, last >= 0.2 [0..0.3]
steps = 2000  # of every run [2000..3000]
learning_rate = 3e-3  # of AdamW [2e-3..3.5e-3]
width = 32  # columns of the model [32..64]
seed = 0  # of everything random [0..100000]
long_steps = 0  # of each run of a stored series; 0: none is made [0..100000]
wide_steps = 0  # the same of one at the paper's width and rate [0..100000]

# %% [markdown]
# ## Training
#
# The model and its training are those of {ref}`ch-sharpness-vs-length`. Every step sees all $2^n$ strings, and runs of different decays start from the same weights. We compute all four numbers every 25 steps, with the same noise each time, and call such a step a *measurement*. Two moments of a run matter:
#
# * The loss *falls* at the first measurement at which it is below 1/8, half of the loss of the best constant.
# * The run *converges* at the first measurement with a loss below 0.01, as in the authors' code. We align the curves there.
#
# A run is left out of the means if its loss has fallen by step 50, or if it has not converged 300 steps before the end, and the number of such runs is given.

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from statistics import median_high

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, results, table
from helpers import statistics
from helpers.statistics import average, difference
from papers.sensitive import brittle, completions

ledger = Ledger("sensitive/training_dynamics")
leap, trade = ledger.result("sensitive.fig3.jump"), ledger.result("sensitive.fig3.trade")
always, effect = ledger.result("sensitive.fig3.always"), ledger.result("sensitive.fig3.effect")
order, level = ledger.result("sensitive.fig13.order"), ledger.result("sensitive.fig13.level")
TRAINED = {"about": "experiment", "evidence": "trained"}
decays = sorted(set(decays))
if decays[0] != 0 or len(decays) < 2 or decays[1] < 0.05 or decays[-1] < 0.2:
    raise ValueError(f"decays must be 0, others from 0.05 on, the last from 0.2 on; got {decays}")
EVERY = 25  # steps from one look to the next
model, strings = brittle.spec(n, width), brittle.strings_of(n)


# %% mystnb={"code_prompt_hide": "Training", "code_prompt_show": "Training"} tags=["hide-input"]
def follow(names, seeds, decay, steps, every, model=model, rate=learning_rate, checkpoint=None):
    """Train models side by side; each of the four numbers, of every model at every look."""
    values = torch.stack([brittle.targets(name, strings) for name in names])

    def sharpness(weights, _):
        noise = torch.Generator().manual_seed(seed)
        return completions.string_sharpness(model, weights, strings, 10, noise).mean(1)

    return brittle.learn(
        model,
        names,
        seeds,
        steps,
        learning_rate=rate,
        weight_decay=decay,
        metrics={
            "loss": lambda w, which: brittle.squared_risk(model, w, strings, values[which]),
            "sharpness": sharpness,
            "norm": lambda w, _: brittle.parameter_norm(model, w),
            "log_blowup": lambda w, _: brittle.blowup(model, w, strings).log(),
        },
        metrics_every=every,
        checkpoint=checkpoint,
    )


decay = torch.tensor(decays, dtype=torch.float64).repeat_interleave(runs)
seeds = [10_000 * seed + k for _ in decays for k in range(runs)]
trained = follow(["PARITY"] * len(decay), seeds, decay, steps, EVERY)

# %% mystnb={"code_prompt_hide": "Two moments of a run", "code_prompt_show": "Two moments of a run"} tags=["hide-input"]
path = {name: values.T for name, values in trained.metrics.items()}  # (runs, looks)
looks = path["loss"].shape[1]
falls, converges = (brittle.first_below(path["loss"], level) for level in (1 / 8, 0.01))
kept = (falls >= 2) & (converges <= looks - 300 // EVERY)
path = {name: values[kept] for name, values in path.items()}
groups, falls, converges = decay[kept], falls[kept], converges[kept]
starts = torch.arange(runs).repeat(len(decays))[kept]  # runs with one number share their weights

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Loss, sharpness, log blow-up and norm around convergence and after it, by weight decay: single runs (thin) and their means, where at least half of the runs have a measurement.", "name": "fig-dynamics-aligned"}, "image": {"alt": "Four panels over steps from convergence, one thick line a weight decay among thin lines of its runs. The loss falls to zero for all. Sharpness jumps at step 0, then falls slowly without decay and for weak decay, and rises late for the strongest. Log blow-up is level without decay and rises in nearly straight lines, steeper for stronger decay; the norm is level without decay and falls in curves otherwise."}} tags=["hide-input"]
for d in decays:
    if (groups == d).sum() < 2:
        raise ValueError(f"too few runs with decay {d} converged; give more than {steps} steps")
before, after = 300 // EVERY, looks - int(converges.double().median()) - 1
x = EVERY * (torch.arange(before + after) - before)
fig, axes = figures.new(2, 2, height=4.4, sharex=True)
NAMES = {
    "loss": "loss",
    "sharpness": "sharpness",
    "log_blowup": r"log blow-up, $\log B$",
    "norm": "parameter norm, $N$",
}
for ax, (name, title) in zip(axes.flatten(), NAMES.items(), strict=True):
    for i, d in enumerate(decays):
        own = groups == d
        curves = brittle.aligned(path[name][own], converges[own], before, after)
        seen = (~curves.isnan()).double().mean(0) >= 0.5
        ax.plot(x, figures.gaps(curves.T), **figures.line_style(i % 7, linewidth=0.4, alpha=0.4))
        look = figures.series_style(i % 7, markevery=12, label=f"decay {d:g}")
        ax.plot(x[seen], curves[:, seen].nanmean(0), **look)
    ax.axvline(0, color=figures.GREY, linestyle=":", linewidth=1, marker="")
    ax.set_ylabel(title)
for ax in axes[1]:
    ax.set_xlabel("steps after convergence")
axes[1][0].legend()
figures.show()

# %% [markdown]
# ## The jump
#
# {numref}`fig-dynamics-aligned` shows all runs, moved so that they converge at step 0. In the upper two panels the loss falls to 0, and the sharpness jumps at the same time. In the lower two panels one sees what follows: with decay the norm falls, and the logarithm of the blow-up rises along nearly straight lines, which are steeper for stronger decay. Without decay norm and blow-up stay nearly constant. The rest of this section measures the jump.
#
# The loss falls early, at step {glue:text}`first_fall` to {glue:text}`last_fall`. To measure the jump we compare two windows of each run:
#
# * *Before* is the mean sharpness at steps 25 and 50. No run has begun to learn there, because every loss is still at least {glue:text}`least_loss:.2f`, and that of the best constant is 0.25.
# * *After* is the mean sharpness over the 200 steps after convergence.
#
# The *jump* is the logarithm of the ratio of *after* to *before*. If learning PARITY left the sharpness as it was, the jump would be near 0. As a control we compare step 50 with step 25, between which nothing should happen.
#
# Does the sharpness rise *at the time* when the loss falls? For this we correlate, within each run, the fall of the loss over 100 steps with the rise of the sharpness over the same steps. A correlation near 0 would speak against the paper's "at the same time". The steps go from 300 steps before the loss falls (or from step 25, if that is later) to 300 steps after convergence.
#
# Means over runs have 95 % intervals by Student's t. Runs of different decays share their first weights. So where decays are taken together, we first average over the runs that start from the same weights.


# %%
def rise(before, after):
    """Log ratio of each run's mean sharpness in two windows of looks, the later over the earlier."""
    early, late = (brittle.window(path["sharpness"], *window) for window in (before, after))
    return (late / early).log()


def around(moment, start, stop):
    """Window of looks from some steps after a moment of each run to others."""
    return moment + start // EVERY, moment + stop // EVERY


at_25 = torch.zeros_like(falls)  # the first look of each run
jump = rise(around(at_25, 0, 50), around(converges, 0, 200))
calm = rise(around(at_25, 0, 25), around(at_25, 25, 50))  # a control


# %% mystnb={"code_prompt_hide": "Timing and means", "code_prompt_show": "Timing and means"} tags=["hide-input"]
WEAK = 0.1  # the paper's usual decay


def mean_of(values, low=0.0, high=WEAK):
    """Mean over runs with decay from low to high, by default weak; with its 95 % interval."""
    inside = (groups >= low) & (groups <= high)
    return average(
        torch.stack([values[inside & (starts == k)].mean() for k in starts[inside].unique()])
    )


def timing(later=0, lag=100 // EVERY):
    """Correlation of the fall of the loss with the rise of the sharpness, some looks later."""
    found = []
    for e, (a, b) in enumerate(zip(falls - 300 // EVERY, converges + 300 // EVERY, strict=True)):
        a, b = max(int(a), 0), min(int(b), looks - later)
        loss, sharp = path["loss"][e, a:b], path["sharpness"][e, a + later : b + later]
        change = torch.stack((loss[:-lag] - loss[lag:], sharp[lag:] - sharp[:-lag]))
        found.append(torch.corrcoef(change)[0, 1])
    return torch.stack(found)


def by_decay(columns):
    """Columns of a table with a row a decay: means with their intervals."""
    cells = {k: [f"{mean_of(v, d, d):.2f}" for d in decays] for k, v in columns.items()}
    return {"decay": [f"{d:g}" for d in decays]} | cells


together = timing()
STRONG = {"low": WEAK + 1e-9, "high": 1.0}

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
counts = {"runs": [f"{int((groups == d).sum())} of {runs}" for d in decays]}
levels = [
    brittle.window(path["log_blowup"], *window)
    for window in (around(at_25, 0, 50), around(converges, 0, 200))
]
magnify = levels[1] - levels[0]
columns = {"jump": jump, "step 25 to 50": calm, "fall with rise": together}
columns |= {"rise of log blow-up": magnify}
least = min((mean_of(jump, d, d) for d in decays), key=lambda found: found.value)
table(
    by_decay(columns) | counts,
    "Log ratio of sharpness, after to before and step 50 to 25; timing; blow-up; runs that count",
)
glue(
    bits=n,
    first_fall=EVERY * int(falls.min() + 1),
    last_fall=EVERY * int(falls.max() + 1),
    least_loss=path["loss"][:, :2].min().item(),
    jump=math.exp(mean_of(jump).value),
    together=mean_of(together).value,
    jump_strong=math.exp(mean_of(jump, **STRONG).value),
    jump_told=f"{mean_of(jump, **STRONG):.2f}",
    jump_least=f"{least:.2f}",
    together_strong=mean_of(together, **STRONG).value,
    all_decays=len(decays),
    top_decay=decays[-1],
    magnify_none=f"{mean_of(magnify, 0, 0):.2f}",
    magnify_top=f"{mean_of(magnify, decays[-1], 1):.2f}",
)

# %% mystnb={"code_prompt_hide": "Checks of the jump", "code_prompt_show": "Checks of the jump"} tags=["hide-input"]
leap.reproduced(
    "decay at most 0.1: rise of the log sharpness while the loss falls, lower end of its "
    "interval; control: from step 25 to step 50",
    mean_of(jump).low,
    at_least=math.log(1.1),
    control=mean_of(calm).low,
    **TRAINED,
)
leap.reproduced(
    "decay at most 0.1: correlation of the fall of the loss with the rise of the sharpness,"
    " lower end of its interval; control: the rise 300 steps later",
    mean_of(together).low,
    at_least=0,
    control=mean_of(timing(300 // EVERY)).low,
    **TRAINED,
)
always.reproduced(
    "decay above 0.1: rise of the log sharpness while the loss falls, lower end of its "
    "interval; control: from step 25 to step 50",
    mean_of(jump, **STRONG).low,
    at_least=0,
    control=mean_of(calm, **STRONG).low,
    **TRAINED,
)
always.reproduced(
    "decay above 0.1: correlation of the fall of the loss with the rise of the sharpness, "
    "lower end of its interval; control: the rise 300 steps later",
    mean_of(together, **STRONG).low,
    at_least=0,
    control=mean_of(timing(300 // EVERY), **STRONG).low,
    **TRAINED,
)
always.reproduced(
    "mean rise of the log sharpness while the loss falls, least of the weight decays; "
    "control: from step 25 to step 50",
    least.value,
    at_least=math.log(1.05),
    control=min(mean_of(calm, d, d).value for d in decays),
    **TRAINED,
)

# %% [markdown]
# **The sharpness jumps while the loss falls.** In the table this is so in the mean at each decay, and step 50 hardly differs from step 25:
#
# * *Weak decay.* Without decay and with decay 0.1, the paper's usual one, the sharpness rises by a factor of {glue:text}`jump:.1f` (geometric mean). Within a run, its rise and the fall of the loss have a correlation of {glue:text}`together:.2f`.
# * *Stronger decay.* The factor is {glue:text}`jump_strong:.1f`, because the mean jump is {glue:text}`jump_told`, and the correlation is {glue:text}`together_strong:.2f`.
# * *Each decay.* Of the {glue:text}`all_decays` decays the one with the smallest mean jump has {glue:text}`jump_least`.
#
# Each decay alone has few runs, and runs differ, because some learn PARITY with little change of sharpness. So each single decay is judged by its mean alone, and not by its interval. At decay 0.3, for example, the interval contains 0 with one of three other seeds. But the 36 runs of the four seeds together have a mean jump of 0.57 [0.38, 0.75], so the increase at this decay is hardly due to chance either. With a larger learning rate, however, the jump at strong decay becomes smaller: for the decays above 0.1 together the lower end of the interval of the mean jump is 0.07 at the rate 0.0035, and at 0.004 it is $-0.05$, so that there an increase is no longer certain. (The paper's rate is 0.0003.)
#
# ```{dropdown} The jump at decay 0.3 with other seeds
# With three other seeds the mean jump at decay 0.3 was 0.78 [0.27, 1.28], 0.27 [$-0.05$, 0.59] and 0.71 [0.21, 1.21].
# ```
#
# The paper says that the sharpness increases "dramatically". What is reproduced is that it increases while the loss falls, in the mean at each decay. Whether a factor of this size is dramatic we leave to the reader.
#
# **Whether the blow-up increases during learning is not judged.** The paper says that during learning "there is a small but sharp increase in the blowup which makes the high sensitivity of the model possible". To test this sentence we compare the same two windows, steps 25 and 50 and the 200 steps after convergence. Without decay the log blow-up rises by {glue:text}`magnify_none` from the first window to the second, an interval that contains 0. With decay {glue:text}`top_decay:.1f` it rises by {glue:text}`magnify_top`. But most of this rise is what decay alone does in these steps, so the sentence is not judged.
#
# ## After convergence
#
# Does decay trade norm for blow-up, and is the growth of the blow-up exponential? We follow each run from 200 steps after convergence to the end. If a spike lifts the loss above 1/8 again, the run no longer computes PARITY, and we follow it only up to this point.
#
# We fit straight lines to $\log N$ and $\log B$ of each run and, for comparison, to $B$ itself. The slopes are measured per unit of $\eta\lambda t$, as in the example by hand, because decay alone would shrink the weights by the factor $e^{-\eta\lambda t}$ in $t$ steps. For runs without decay we take the unit of the smallest positive decay. Let $R^2$ be the share of the variance that a line explains. If $R^2$ is larger for $\log B$ than for $B$, an exponential describes the growth better than a straight line. So two outcomes would speak against the paper: a norm that does not fall with decay, or an $R^2$ that is no larger for $\log B$.


# %% mystnb={"code_prompt_hide": "Lines", "code_prompt_show": "Lines"} tags=["hide-input"]
start = (converges + 200 // EVERY).clamp(max=looks - 4)
spikes = (path["loss"] > 1 / 8) & (torch.arange(looks) >= start[:, None])
until = torch.where(spikes.any(1), spikes.int().argmax(1), looks).maximum(start + 4)


def line(values):
    """Slope on the time eta lambda t, and R squared, of each run after convergence."""
    slopes, shares = [], []
    unit = EVERY * learning_rate * groups.clamp(min=decays[1])
    for y, a, b, step in zip(values, start, until, unit, strict=True):
        t = step * torch.arange(b - a)
        slopes.append(statistics.slope(t, y[a:b]))
        shares.append(torch.corrcoef(torch.stack((t, y[a:b])))[0, 1].square())
    return torch.stack(slopes), torch.stack(shares)


POSITIVE = decays[1], 1.0
final = brittle.window(path["sharpness"], *around(until, -200, 0))
# %%
shrink, _ = line(path["norm"].log())
grow, share = line(path["log_blowup"])
_, raw_share = line(path["log_blowup"].exp())
change = rise(around(converges, 0, 200), around(until, -200, 0))

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
medians = {d: [v[groups == d].median() for v in (share, raw_share)] for d in decays}
fits = {"R² of log B, of B": ["{:.2f}, {:.2f}".format(*medians[d]) for d in decays]}
columns = {"slope of log N": shrink, "slope of log B": grow}
columns |= {"change of log sharpness": change, "final sharpness": final}
table(
    by_decay(columns) | fits,
    "After convergence, by decay: means with 95 % intervals, medians of R²",
)
glue(
    grow=mean_of(grow, *POSITIVE).value,
    grow_0=f"{mean_of(grow, 0, 0):.2f}",
    worst_share=min(medians[d][0].item() for d in decays[1:]),
    change_weak=f"{mean_of(change):.2f}",
    change_top=f"{mean_of(change, decays[-1], 1):.2f}",
    change_none=f"{mean_of(change, 0, 0):.2f}",
    top_factor=math.exp(mean_of(change, decays[-1], 1).value),
    final_top=mean_of(final, decays[-1], 1).value,
    eta_t=learning_rate * steps,
    lost=int((~kept).sum()),
    all_runs=len(kept),
    spiked=int(spikes.any(1).sum()),
)


# %% mystnb={"code_prompt_hide": "Checks after convergence", "code_prompt_show": "Checks after convergence"} tags=["hide-input"]
def shuffled_lead(a, b):
    """Lower end of the mean of a minus that of b, with their runs shuffled: a median."""
    a, b = (torch.as_tensor(v, dtype=torch.float64) for v in (a, b))
    first = torch.arange(len(a) + len(b)) < len(a)
    return brittle.by_chance(
        lambda v: difference(v[first], v[~first]).low,
        *(torch.cat((a, b)), torch.zeros(len(first)), torch.Generator().manual_seed(seed)),
    )


trade.reproduced(
    "all runs with decay: change of the log norm per unit of $\\eta \\lambda t$, upper end "
    "of its interval; control: no decay",
    mean_of(shrink, *POSITIVE).high,
    at_most=-0.1,
    control=mean_of(shrink, 0, 0).high,
    **TRAINED,
)
trade.reproduced(
    "all runs with decay: change of the log blow-up per unit of $\\eta \\lambda t$, lower "
    "end of its interval; control: no decay",
    mean_of(grow, *POSITIVE).low,
    at_least=1,
    control=mean_of(grow, 0, 0).low,
    **TRAINED,
)
trade.reproduced(
    "all runs with decay: how much better a line fits the log blow-up than the blow-up, "
    "difference of $R^2$, lower end of its interval; control: no decay",
    mean_of(share - raw_share, *POSITIVE).low,
    at_least=0.05,
    control=mean_of(share - raw_share, 0, 0).low,
    **TRAINED,
)

# %% [markdown]
# **With decay the blow-up grows exponentially, at about the rate of the example.** Its logarithm rises by {glue:text}`grow:.1f` per unit of $\eta\lambda t$, where the example has 4. Without decay it changes by {glue:text}`grow_0` in as many steps as such a unit has at the smallest decay, that is, it falls a little. With decay a straight line describes $\log B$ well: even at the positive decay at which it fits worst, it explains a share of {glue:text}`worst_share:.2f` of the variance in the median run. But the norm falls more slowly than in the example, because its logarithm falls by less than 1 per unit (the table has the slopes). So only the rate of the blow-up agrees with the example, and not the whole picture.
#
# The number of runs left out, because they did not converge in time or had learned by step 50, is {glue:text}`lost` of {glue:text}`all_runs`. A further {glue:text}`spiked` runs lost PARITY again, and they are counted up to that point.
#
# **The sharpness falls again up to decay 0.2, and rises at decay 0.3.** To see this we compare the 200 steps after convergence with the last 200 steps that we follow:
#
# * Up to decay 0.1 the log sharpness changes by {glue:text}`change_weak`, so the sharpness falls again, as in the paper.
# * With decay {glue:text}`top_decay:.1f` the log sharpness changes by {glue:text}`change_top`, and the sharpness ends at {glue:text}`final_top:.2f`. (For comparison, a model that noise turns into the constant $\frac12$ has sharpness 1.)
# * Without decay, where the blow-up is nearly constant, the log sharpness changes by {glue:text}`change_none`.
#
# So in these models the sharpness rises together with the blow-up if decay is strong. Nine runs hardly suffice to see this, since at decay 0.3 the interval contains 0 with two of three other seeds. But the 36 runs of the four seeds together have a mean change of 0.59 [0.34, 0.84].
#
# ```{dropdown} The change at decay 0.3 with other seeds
# With three other seeds the log sharpness changed by 0.83 [0.50, 1.16], 0.61 [$-0.07$, 1.30] and 0.36 [$-0.42$, 1.13] at decay 0.3.
# ```

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
leap.reproduced(
    "decay at most 0.1: change of the log sharpness after convergence, upper end of its "
    "interval; control: the change before it",
    mean_of(change).high,
    at_most=0,
    control=mean_of(jump).high,
    **TRAINED,
)

# %% [markdown]
# ## Five times longer
#
# Figure 13 follows PARITY for 100 000 steps. Two sentences of the paper are tested here:
#
# * *The order.* In the end PARITY is sharper with decay than without. In our figure, lines of PARITY with decay that end below those without would speak against this sentence.
# * *The level.* Even without decay PARITY is sharper than insensitive functions become early in training. Lines without decay that end as low as those of insensitive functions lie early on would speak against this one.
#
# We measure the length of training by $\eta t$, learning rate times steps. The paper's figure ends at $\eta t = 30$, whereas the runs above end at {glue:text}`eta_t:.0f`. The long series goes to 30, at six bits, without decay and with decay 0.1. For comparison it contains two insensitive functions with decay 0.1: FIRST, which is the first bit, and MAJORITY, which is 1 if more than half of the bits are one. We say that a run *knows* its function at the measurements at which its loss is below 0.01.

# %% mystnb={"code_prompt_hide": "Stored run", "code_prompt_show": "Stored run"} tags=["hide-input"]
if long_steps:
    kinds = [("PARITY", 0.0), ("PARITY", 0.1)] * 6 + [("FIRST", 0.1), ("MAJORITY", 0.1)] * 2
    number = [kinds[:e].count(kind) for e, kind in enumerate(kinds)]
    names, lambdas = zip(*kinds, strict=True)
    every = 10 * EVERY
    seeds = [10_000 * seed + k for k in number]
    kept = {"checkpoint": results.checkpoint("longer")}
    found = follow(names, seeds, torch.tensor(lambdas).double(), long_steps, every, **kept).metrics
    rows = [
        {"function": name, "decay": d, "run": k, "step": every * (look + 1)}
        | {key: float(f"{values[look, e]:.5g}") for key, values in found.items()}
        for e, ((name, d), k) in enumerate(zip(kinds, number, strict=True))
        for look in range(len(found["loss"]))
    ]
    results.save("longer", pd.DataFrame(rows).to_dict("list"))
stored = results.load("sensitive/training_dynamics", "longer")
if stored is None:
    raise FileNotFoundError("the stored series of longer runs is missing")
table(brittle.provenance(stored.provenance), "How the stored series was made")
longer = pd.DataFrame(stored.columns)
knows = longer[longer["loss"] < 0.01].sort_values("step")  # looks at runs that know theirs

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Sharpness in the stored runs, one line a run, as long as the run knows its function (loss below 0.01); against learning rate times steps. The paper's Figure 13 ends at 30.", "name": "fig-dynamics-longer"}, "image": {"alt": "Two panels on a common logarithmic axis. Left, lines of PARITY without decay stay between 0.05 and 0.4, most of them near 0.1; those with decay 0.1 fall further at first, then rise above the others, and most break off. Right, lines of FIRST and MAJORITY start lower and fall to about 0.01, and then rise to peaks of up to 0.7 and drop again."}} tags=["hide-input"]
rate = stored.provenance["parameters"].get("learning_rate", 3e-3)  # theirs, not this page's
fig, axes = figures.new(1, 2, height=2.8, sharey=True)
for i, ((name, d), kind) in enumerate(knows.groupby(["function", "decay"])):
    ax = axes[0 if name == "PARITY" else 1]
    for run, looks_of in kind.groupby("run"):
        label = f"{name}, decay {d:g}" if run == 0 else None
        time = rate * looks_of["step"]
        ax.plot(time, looks_of["sharpness"], **figures.line_style(i, linewidth=1, label=label))
for ax in axes:
    ax.set(xlabel=r"$\eta t$", yscale="log")
    ax.legend()
axes[0].set_ylabel("sharpness")
figures.show()


# %% mystnb={"code_prompt_hide": "The last 1000 steps", "code_prompt_show": "The last 1000 steps"} tags=["hide-input"]
kinds = ["decayed" if d else "without" for d in knows["decay"]]
knows["kind"] = pd.Series(kinds, knows.index).where(knows["function"] == "PARITY", "flat")


def last_known(until, steps=1000):
    """By kind, each run's mean sharpness over its last steps that know the function."""
    runs_of = knows[knows["step"] <= until].groupby(["kind", "function", "run"])["sharpness"]
    found = runs_of.apply(lambda values: values.tail(steps // 250).mean())
    return {kind: found[kind] for kind in ("without", "decayed", "flat")}


def logs(values):
    return values.map(math.log)


def paired(a, b):
    """Mean of a minus b over runs from the same first weights, with its 95 % interval."""
    return average((a - b).dropna().to_list())


early, late = last_known(3000), last_known(math.inf)
ENDS = (500, 1000, 1500, 2000, 2500, 3000)
windows_of = {steps: last_known(math.inf, steps) for steps in ENDS}
plain_ends = {k: paired(v["without"], v["decayed"]) for k, v in windows_of.items()}
ends_of = {k: paired(logs(v["without"]), logs(v["decayed"])) for k, v in windows_of.items()}
low_level = logs(early["flat"])
known_at_end = knows[knows["step"] == longer["step"].max()]
at_last_look = known_at_end[known_at_end["kind"] == "without"]["sharpness"]


# %% mystnb={"code_prompt_hide": "Checks of Figure 13", "code_prompt_show": "Checks of Figure 13"} tags=["hide-input"]
def log_lead(a, b):
    return difference(logs(a).to_list(), b.to_list())


def least_over_largest(values):
    """Of values, as many first as runs know PARITY at the last look: least less largest other."""
    return (values[: len(at_last_look)].min() - values[len(at_last_look) :].max()).item()


order.holds(
    "log sharpness of PARITY without decay less that with 0.1, over the last 500 to 3000 known "
    "steps, largest mean; control: FIRST and MAJORITY in place of PARITY with decay",
    max(found.value for found in ends_of.values()),
    at_most=0,
    control=max(log_lead(v["without"], low_level).value for v in windows_of.values()),
    about="ours",
    evidence="trained",
)
level.reproduced(
    "log sharpness of PARITY without decay in the last 1000 known steps less that of FIRST and "
    "MAJORITY early on, lower end of its interval; control: runs shuffled",
    log_lead(late["without"], low_level).low,
    at_least=math.log(1.5),
    control=shuffled_lead(logs(late["without"]).to_list(), low_level.to_list()),
    **TRAINED,
)
pooled = torch.tensor([*logs(at_last_look), *low_level])
level.reproduced(
    "least log sharpness, at the last look, of runs without decay that know PARITY, less the "
    "largest mean of a run of FIRST and MAJORITY up to step 3000; control: runs shuffled",
    least_over_largest(pooled),
    at_least=0,
    control=brittle.by_chance(
        *(least_over_largest, pooled, torch.zeros(len(pooled))),
        torch.Generator().manual_seed(seed),
    ),
    **TRAINED,
)

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
table(
    {
        "runs": ["PARITY, no decay", "PARITY, decay 0.1", "FIRST, MAJORITY, decay 0.1"],
        "up to step 3000": [f"{average(v.to_list()):.3f}" for v in early.values()],
        "last known": [f"{average(v.to_list()):.3f}" for v in late.values()],
    },
    "Stored runs: sharpness over 1000 steps that know the function, mean and 95 % interval",
)
table(
    {
        "last known steps": list(ends_of),
        "log sharpness": [f"{found:.2f}" for found in ends_of.values()],
        "sharpness": [f"{found:.2f}" for found in plain_ends.values()],
    },
    "PARITY without decay minus with decay 0.1, by the length of the end, mean and 95 % interval",
)
at_end = known_at_end["kind"].value_counts()
glue(
    median_end=knows[knows["kind"] == "decayed"].groupby("run")["step"].max().median(),
    longest=longer["step"].max(),
    open_from=min(steps for steps, found in ends_of.items() if found.high >= 0),
    end_without=int(at_end["without"]),
    end_decayed=int(at_end["decayed"]),
    peak_flat=knows.loc[knows["kind"] == "flat", "sharpness"].max(),
    long_bits=stored.provenance["parameters"]["n"],
    level_window=f"{log_lead(late['without'], low_level):.2f}",
    level_factor=math.exp(log_lead(late["without"], low_level).value),
    level_end=f"{log_lead(at_last_look, low_level):.2f}",
    level_plain=f"{difference(late['without'].to_list(), early['flat'].to_list()):.3f}",
    level_end_plain=f"{difference(at_last_look.to_list(), early['flat'].to_list()):.3f}",
    end_largest=at_last_look.max(),
    order_window=f"{ends_of[1000]:.2f}",
    **{f"early_{k}": v.mean() for k, v in early.items()},
    **{f"late_{k}": late[k].mean() for k in ("without", "decayed")},
)

# %% [markdown]
# **The order stays open: it depends on which steps one compares.** In the left panel of {numref}`fig-dynamics-longer` the lines with decay first lie below those without, and later above them. The mean sharpness of PARITY shows the same change of order:
#
# | over 1000 steps in which a run knows PARITY | without decay | with decay 0.1 |
# |:--|:--|:--|
# | up to step 3000, where $\eta t = 9$ | {glue:text}`early_without:.2f` | {glue:text}`early_decayed:.2f` |
# | the last ones | {glue:text}`late_without:.2f` | {glue:text}`late_decayed:.2f` |
#
# The first row is the opposite of what Figure 13 shows at its end. In the second row the order is reversed, because with decay the sharpness rises with the blow-up. This is the paper's order, but it does not confirm the paper's sentence, for four reasons:
#
# * *The window was chosen afterwards.* We chose these last 1000 steps after seeing that runs with the first seeds lose PARITY. (The runs shown here have the second seeds.) Whether the difference between the two decays is beyond chance depends on the window and on the unit. In log sharpness it is beyond chance over the last 500 steps with the first and with the second seeds, but over the last 1000 steps with the second seeds only. In plain sharpness, over the last 1000 steps, its interval just contains 0 even with the second seeds.
# * *Longer windows do not show the difference.* If we take the last {glue:text}`open_from` steps or more in place of 1000, the interval contains 0 with these seeds as well. The second table above has each length, and the plain differences too.
# * *Runs lose PARITY early*, perhaps because our learning rate is ten times the paper's. In the median, the last step at which a run with decay knows PARITY is step {glue:text}`median_end:.0f` of {glue:text}`longest`. At the last measurement {glue:text}`end_decayed` of 6 runs with decay still know it, and {glue:text}`end_without` of 6 without.
# * *At the paper's width and rate the order is the opposite one.* There, at five bits, PARITY is still flatter with decay 0.1 at the end of the next section's 20,000 steps. The log sharpness without decay minus that with decay is {glue:text}`wide_order`, and with the first seeds it was 1.06 [0.75, 1.37].
#
# ```{dropdown} The difference with first and second seeds, with intervals
# Here is the log sharpness of PARITY without decay minus that with decay 0.1, where runs that start from the same weights are compared with each other. Over the last 1000 steps in which a run knows PARITY it is {glue:text}`order_window` with the second seeds, which are shown here, and $-0.94$ [$-2.17$, 0.30] with the first. Over the last 500 steps it is $-1.19$ [$-2.35$, $-0.03$] with the first seeds, and the second table above has it for the second.
# ```
#
# **The level is reproduced.** The paper says of the runs *without* decay that even after 100 000 steps their sharpness remains substantially higher than the low sharpness that insensitive functions reach quickly. We tested this sentence at {glue:text}`long_bits` bits. The level that FIRST and MAJORITY reach quickly, in the 1000 steps up to step 3000, is {glue:text}`early_flat:.3f`, and we compare PARITY without decay with it:
#
# * *Over the last 1000 steps in which a run knows PARITY*, its log sharpness is higher than this level by {glue:text}`level_window`, a factor of {glue:text}`level_factor:.1f`. It is higher whichever of the last 250 to 4000 steps are taken, with the first and with the second seeds.
# * *At the last measurement*, for the runs that still know PARITY, it is higher by {glue:text}`level_end`. With the first seeds the interval just contains 0.
# * *Run by run.* Three runs with the second seeds and four with the first still know PARITY at the last measurement. Each of them is sharper than the mean of every run of FIRST and MAJORITY over the 1000 steps up to step 3000. (Over the 1000 steps before these, one of those means is slightly above the smallest of the four with the first seeds.)
#
# Plain differences of sharpness agree over the last 1000 steps, but at the last measurement they leave it open whether PARITY is sharper, because one of the three runs is in a spike. Strings of 25 bits were not run.
#
# ```{dropdown} The first seeds, and plain differences
# With the first seeds the log sharpness is higher than the level by 1.32 [0.57, 2.07] over the last 1000 steps, and by 0.97 [$-0.01$, 1.95] at the last measurement. With the seeds shown, the plain difference of sharpness is {glue:text}`level_plain` over the last 1000 steps and {glue:text}`level_end_plain` at the last measurement, where the run in a spike is at {glue:text}`end_largest:.2f`.
# ```
#
# The low level itself does not last. With decay, the sharpness of single runs of FIRST and MAJORITY rises as high as {glue:text}`peak_flat:.1f` on the way, because their weights have become so small that noise of 0.02 is large. Sharpness at a fixed noise compares functions only at similar norms.
#
# ## At the paper's width and rate
#
# Does the late rise of the sharpness depend on our width and rate? The wide series has the paper's width of 128 columns, its rate of $3 \cdot 10^{-4}$, and the 20,000 steps of the authors' repository. The strings have five bits, and there are six runs each of decay 0, 0.1 and 0.3. If decay raises the sharpness here as well, the late rise is no effect of our settings alone. (Width and rate are changed together, so their effects cannot be separated.)

# %% mystnb={"code_prompt_hide": "Stored run", "code_prompt_show": "Stored run"} tags=["hide-input"]
if wide_steps:
    kinds = [(d, k) for d in (0.0, 0.1, 0.3) for k in range(6)]
    lambdas, number = zip(*kinds, strict=True)
    every, lambdas = 200, torch.tensor(lambdas).double()
    large = {"model": brittle.spec(n, 128), "rate": 3e-4, "checkpoint": results.checkpoint("wide")}
    seeds = [10_000 * seed + k for k in number]
    found = follow(["PARITY"] * len(kinds), seeds, lambdas, wide_steps, every, **large).metrics
    rows = [
        {"decay": d, "run": k, "step": every * (look + 1)}
        | {key: float(f"{values[look, e]:.5g}") for key, values in found.items()}
        for e, (d, k) in enumerate(kinds)
        for look in range(len(found["loss"]))
    ]
    results.save("wide", pd.DataFrame(rows).to_dict("list"))
stored = results.load("sensitive/training_dynamics", "wide")
if stored is None:
    raise FileNotFoundError("the stored series at the paper's width is missing")
table(brittle.provenance(stored.provenance), "How the second series was made")
wide = pd.DataFrame(stored.columns)
last = wide["step"].max()
knows_wide = wide[wide["loss"] < 0.01]


def over(name, start, stop):
    """Mean of a number over some steps of each run, by decay."""
    part = knows_wide[(knows_wide["step"] > start) & (knows_wide["step"] <= stop)]
    found = part.groupby(["decay", "run"])[name].mean()
    return {d: found[d] for d in (0.0, 0.1, 0.3)}


STARTS = (0, 2000, 4000, 6000, 8000, 10_000, 12_000)
windows = {
    name: {k: over(name, k, k + 2000) for k in (*STARTS, last - 2000)}
    for name in ("sharpness", "log_blowup", "norm")
}
sharp, at_last = windows["sharpness"], windows["sharpness"][last - 2000]
from_start = {k: {d: logs(at_last[d] / sharp[k][d]) for d in at_last} for k in STARTS}
drift, later = from_start[0], from_start[10_000]
climb = {d: windows["log_blowup"][last - 2000][d] - windows["log_blowup"][0][d] for d in drift}
table(
    {
        "decay": [f"{d:g}" for d in drift],
        "log blow-up rises by": [f"{average(climb[d].to_list()):.2f}" for d in drift],
        "log sharpness changes by": [f"{average(drift[d].to_list()):.2f}" for d in drift],
        "the same minus no decay": [
            f"{paired(drift[d], drift[0.0]):.2f}" if d else "" for d in drift
        ],
        "sharpness at first": [f"{sharp[0][d].mean():.3f}" for d in drift],
        "after 10,000": [f"{sharp[10_000][d].mean():.3f}" for d in drift],
        "at last": [f"{at_last[d].mean():.3f}" for d in drift],
        "norm at first, at last": [
            f"{windows['norm'][0][d].mean():.0f}, {windows['norm'][last - 2000][d].mean():.0f}"
            for d in drift
        ],
    },
    "The paper's width and rate: means over the first 2000 steps, the last, and 10,000 to 12,000",
)
table(
    {
        "2000 steps from": [f"{k}" for k in STARTS],
        **{
            f"decay {d:g} minus none": [
                f"{paired(change_of[d], change_of[0.0]):.2f}" for change_of in from_start.values()
            ]
            for d in (0.1, 0.3)
        },
    },
    "Change of log sharpness to the last 2000 steps, decay minus none, by where it is counted from",
)
glue(
    wide_climb=climb[0.3].mean(),
    wide_drift=f"{average(drift[0.3].to_list()):.2f}",
    wide_drift_none=f"{average(drift[0.0].to_list()):.2f}",
    wide_more=f"{paired(drift[0.3], drift[0.0]):.2f}",
    wide_drift_some=f"{average(drift[0.1].to_list()):.2f}",
    wide_more_some=f"{paired(drift[0.1], drift[0.0]):.2f}",
    wide_order=f"{paired(logs(at_last[0.0]), logs(at_last[0.1])):.2f}",
    wide_norm=windows["norm"][0][0.3].mean(),
    wide_norm_last=windows["norm"][last - 2000][0.3].mean(),
    wide_later_more=f"{paired(later[0.3], later[0.0]):.2f}",
)
flips = torch.randint(0, 2, (25, 6), generator=torch.Generator().manual_seed(seed)) * 2.0 - 1
flips = flips.double().numpy()
effect.reproduced(
    "the paper's width and rate: change of the log sharpness with decay, upper end of its "
    "interval; control: first and last look exchanged at random",
    max(average(drift[d].to_list()).high for d in (0.1, 0.3)),
    at_most=0,
    control=median_high(
        [
            max(average((f[: len(drift[d])] * drift[d]).to_list()).high for d in (0.1, 0.3))
            for f in flips
        ]
    ),
    about="ours",
    evidence="trained",
)
lead = (later[0.3] - later[0.0]).dropna()
effect.not_reproduced(
    "the paper's width and rate, from step 10,000 on: change of the log sharpness with "
    "decay 0.3 less that with none, lower end of its interval; control: the two exchanged at random",
    average(lead.to_list()).low,
    at_most=0,
    control=median_high([average((f[: len(lead)] * lead).to_list()).low for f in flips]),
    about="ours",
    evidence="trained",
)

# %% [markdown]
# The first table compares the first 2000 steps with the last 2000. The second repeats this comparison for later starts. Differences are taken between runs that start from the same weights. In short, the sharpness falls more with decay 0.1 than without, whereas with decay 0.3 it falls and then rises again:
#
# * **Decay 0.1 lowers the sharpness.** The log sharpness changes by {glue:text}`wide_drift_some` with this decay, and by {glue:text}`wide_drift_none` without decay. The difference is {glue:text}`wide_more_some`, so decay has an effect here, and this effect is a lower sharpness.
# * **No effect of decay 0.3 is seen from first to last.** The log blow-up rises by {glue:text}`wide_climb:.1f`. But the log sharpness changes by {glue:text}`wide_drift`, which cannot be distinguished from the change without decay (the difference is {glue:text}`wide_more`).
# * **But the change at decay 0.3 is the sum of a fall and a rise.** So the answer depends on where we start to count. From step 2000 or before, the interval of the difference from no decay contains 0. From step 4000 or later, decay 0.3 raises the log sharpness compared with no decay, from step 10,000 on by {glue:text}`wide_later_more`. We chose the later starts after seeing the curves of the first seeds, in which the mean was smallest near step 10,000. With those seeds, too, decay 0.3 raised the sharpness from step 10,000 on compared with no decay. The runs shown here were made afterwards, and they confirm the rise.
#
# ```{dropdown} The first seeds at the paper's width and rate
# Over all steps the difference of the change of log sharpness from no decay was $-1.07$ [$-1.48$, $-0.66$] at decay 0.1 and $-0.20$ [$-0.70$, 0.31] at decay 0.3. From step 10,000 on, the rise at decay 0.3 compared with no decay was 0.84 [0.35, 1.32].
# ```
#
# So from the first 2000 steps to the last 2000 the sharpness rises at none of the three decays. At decay 0.1 it falls more than without decay, and this is so from each start in the table. At decay 0.3 it falls first and then rises. The first seeds led to the same answers, except that there a rise at decay 0.3 compared with no decay is seen from step 6000 on.
#
# All of this is about the effect of *decay* at 5 bits. The effect of the blow-up itself is not isolated, because decay also shrinks the norm while the noise keeps its size: at decay 0.3 the norm falls from {glue:text}`wide_norm:.0f` to {glue:text}`wide_norm_last:.0f`. The paper's sentence is in the caption of Figure 12, which is about 25 bits, and it stays open.
#
# **What differs from the paper.** The paper's settings are those of its Table 1, Section 7.2 and Figures 12 and 13, whereas the number of runs, of measurements, of noise draws and the 20,000 steps are read in the authors' repository (Table 1 has 10,000).

# %% mystnb={"code_prompt_hide": "Settings", "code_prompt_show": "Settings"} tags=["hide-input"]
table(
    brittle.differing(
        {
            "bits": ("25", f"{n}; stored: 6 and 5"),
            "runs of each decay": ("101; at 0.1 39 count", f"{runs}; stored: 6"),
            "columns of the model": f"{width}; second stored series: 128",
            "strings in a step": f"all {2**n}",
            "first weights": (
                "two equal layers, the read-out's bias drawn",
                "layers drawn apart, that bias 0",
            ),
            "steps of a run": ("20000; Figure 13: 100000", f"{steps}; stored: 10000 and 20000"),
            "learning rate": f"{learning_rate:g}; second stored series: 0.0003",
            "measured every": ("100 steps", f"{EVERY} steps"),
            "noise at a measurement": ("500 draws, on one batch", "10 draws, on all strings"),
            "sharpness by": ("the rise of the loss", "the change of outputs"),
            "runs that count": (
                "final loss below 0.001",
                "converged 300 steps before the end, loss not fallen by step 50",
            ),
        }
    ),
    "Every setting that differs from the paper's",
)

# %% [markdown]
# The rest is as in the paper: layers, heads, no dropout, AdamW, the four decays, the size of the noise. PARITY of so few bits is learned at once: loss and sharpness change within some hundred steps of the start, where the paper has a long plateau. Runs of 25 bits were not made; for all four decays they would take some 550 hours on one core.
#
# ## What we found
#
# The table has our verdict on each sentence of the paper, and the list below it says what stands behind each verdict.
#
# | the paper's sentence | our number | verdict |
# |:--|:--|:--|
# | The sharpness increases as the loss falls, at every decay. | by a factor of {glue:text}`jump:.1f` up to decay 0.1, of {glue:text}`jump_strong:.1f` above; at each decay in the mean | reproduced |
# | It falls again later. | log sharpness changes by {glue:text}`change_weak` up to decay 0.1, but by {glue:text}`change_top` at decay {glue:text}`top_decay:.1f` | reproduced up to 0.1 (at 0.2 it falls, too); that it then levels off was not tested, and at six bits with decay 0.1 it rises again |
# | With decay the norm falls and the blow-up rises exponentially. | $\log B$ rises by {glue:text}`grow:.1f` per unit of $\eta\lambda t$ | reproduced |
# | The blow-up has no significant effect on the sharpness. | change of log sharpness at the paper's width and rate, decay minus none: {glue:text}`wide_more_some` at 0.1, {glue:text}`wide_more` at 0.3 | open |
# | After 100 000 steps the sharpness is lower without decay. | sharpness over the last 1000 steps with a loss below 0.01: {glue:text}`late_without:.2f` without decay, {glue:text}`late_decayed:.2f` with decay; over longer final windows the two cannot be distinguished | open |
# | Even without decay it stays above that of insensitive functions. | log sharpness higher by {glue:text}`level_window` over the same steps, by {glue:text}`level_end` at the last step | reproduced at six bits |
# | During learning the blow-up makes a small but sharp increase. | $\log B$ rises by {glue:text}`magnify_none` without decay | not judged |
#
# * *The jump is reproduced.* At {glue:text}`bits` bits the sharpness jumps when the loss falls, by a factor of {glue:text}`jump:.1f` with decay up to 0.1 and of {glue:text}`jump_strong:.1f` with stronger decay, in all such runs taken together. PARITY of so few bits is learned at once, without the long plateau of the paper's 25 bits, which were not run.
# * *The trade is reproduced.* After learning, decay trades norm for blow-up: the blow-up is exponential in the step, at a rate of {glue:text}`grow:.1f` times $\eta\lambda$. Whether the blow-up makes a small but sharp increase *during* learning was not judged. Without decay its logarithm rises by {glue:text}`magnify_none` there.
# * *Whether the blow-up changes the sharpness is open* (the caption of Figure 12). At the paper's width and rate, on five bits, the sharpness ends lower than it began while the blow-up rises. At decay 0.1 this fall is larger than without decay, and at 0.3 it is a fall and then a rise. In narrower models at ten times the rate the sharpness rises with the blow-up in the end, at decay {glue:text}`top_decay:.1f` and in the stored runs of six bits at decay 0.1 as well. How much of this is due to the blow-up is not isolated.
# * *The order of Figure 13 is open*, because it depends on the window. With decay PARITY is flatter at first. Over the last 1000 steps in which a run knows PARITY it is sharper with decay in the mean, beyond chance with the second seeds but not with the first, and over the last 500 steps with both, if one compares logarithms. Over the last {glue:text}`open_from` steps or more the difference cannot be distinguished from chance with either, and at the paper's width and rate decay 0.1 still makes PARITY flatter after 20,000 steps.
# * *The level of Figure 13 is reproduced* at {glue:text}`long_bits` bits. Without decay PARITY is sharper than FIRST and MAJORITY were early, by {glue:text}`level_window` in the logarithm over the last 1000 steps in which a run knows PARITY, and by {glue:text}`level_end` at the last measurement, where the interval of the first seeds just contains 0.
#
# ## What would falsify this
#
# * *The jump* would not be reproduced if the sharpness did not rise by a tenth as the loss falls at weak decay, or did not rise at all at strong decay. It would not be reproduced either if the fall of the loss were not correlated with the rise of the sharpness, or if at some decay the sharpness rose by less than a twentieth in the mean.
# * *The trade* of norm for blow-up would not be reproduced if the norm did not fall with decay, or if an exponential described the blow-up no better than a straight line.
# * *The level* would not be reproduced if PARITY without decay were less than 1.5 times as sharp as FIRST and MAJORITY were early, over the last 1000 steps in which a run knows PARITY. It would not be reproduced either if a run that still knows PARITY at the last measurement were not sharper than each run of FIRST and MAJORITY was early.
#
# Most checks compare the ends of 95 % intervals. The exceptions are the check of each decay by itself, that of the order and that of the level at the last measurement. Each check has a control:
#
# * *Jump*: the change from step 25 to step 50, and the sharpness 300 steps later.
# * *Later fall*: the rise during learning in place of the change after it.
# * *Trade*: the runs without decay.
# * *Open sentences and level*: the numbers that the checks below have for the open sentences describe only these runs. There, and for the level, the controls shuffle the runs, exchange first and last or two decays at random, or put FIRST and MAJORITY in place of PARITY with decay.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# We read the repository `lacoco-lab/sensitivity-hardness`, which differs from our runs in three ways.
#
# * **Noise.** At each measurement it has 500 draws of the noise and one batch of strings, and takes the rise of the loss, whereas we have ten draws, the same at every measurement. So the level of a single run has the error of ten draws.
# * **Which runs count.** The authors drop runs that end with a loss of 0.001 or more, whereas we drop only runs that have not converged 300 steps before the end, and those whose loss falls by step 50.
# * **Alignment.** Both align curves at the first measurement with a loss below 0.01. The authors average over the steps that at least a quarter of the runs reach, so that the mean changes its members along the axis; we ask for half, and take slopes within runs.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-dynamics-half
# *By hand.* With decay $\lambda$ and learning rate $\eta$, and gradients that are negligible, what is the norm after $t$ steps, and its half-life for each decay here?
# ```
#
# ```{solution} ex-dynamics-half
# :class: dropdown
# From the norm $N_0$ at the start it becomes $N_0\, (1 - \eta\lambda)^t$ after $t$ steps. The half-life is $\log 2 / \eta\lambda$, which is about 2310, 1155 and 770 steps for decay 0.1, 0.2 and 0.3 at the learning rate 0.003. In training the norm falls more slowly, since the slopes of $\log N$ above are smaller in size than 1. The reason is that AdamW divides a gradient by its own size, so that even small gradients counteract the decay.
# ```
#
# ```{exercise}
# :label: ex-dynamics-flat
#
# *With the computer.* Train longer, by `python -m bookkit.run sensitive/training_dynamics -p steps 3000 --out my_run`, and see how far the blow-up of PARITY rises. In the stored runs, which go on for much longer, FIRST and MAJORITY become sharper late, although they are insensitive. Is this because of their small norm? List norm, log blow-up and sharpness of the runs that know their function at $\eta t = 3$, 9 and 30, and compare with PARITY without decay. Which of the two, the function or the size of the weights, decides the sharpness at a fixed noise?
# ```
#
# ```{solution-start} ex-dynamics-flat
# :class: dropdown
# ```

# %%
runs_of = longer[longer["decay"].gt(0) & longer["function"].ne("PARITY") | longer["decay"].eq(0)]
looked = runs_of[runs_of["step"].isin([1000, 3000, 10_000]) & runs_of["loss"].lt(0.01)]
answer = looked.groupby(["function", "step"])[["norm", "log_blowup", "sharpness"]].median()
answer = answer.rename(columns={"log_blowup": "log blow-up"})
table(
    answer,
    "Runs that know their function, medians: FIRST and MAJORITY with decay 0.1, PARITY without",
    form=".2f",
)

# %% [markdown]
# The norm of FIRST and MAJORITY falls by a factor of two, their blow-up rises, and their sharpness falls at first and then rises again, for MAJORITY above that of PARITY, although both functions are insensitive. The norm of PARITY rises without decay, and its sharpness hardly changes. So at a fixed noise the size of the weights matters as much as the function does. A comparison of functions is fair only at similar norms, or with noise that is measured in units of the weights.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-dynamics-units
#
# *To think about.* Suppose that all weights of a model are divided by 2 and its layer norms restore the outputs. By which factor does its sharpness change under small noise of a fixed size, and by which under noise that is measured in units of the weights? Which of the two would you use to compare runs with different weight decay, and what would the theory of this part then have to say about the blow-up?
# ```
#
# ```{solution} ex-dynamics-units
# :class: dropdown
#
# Noise of a fixed size is twice as large in comparison with the weights. If the outputs depend smoothly on the weights, their mean squared change, the sharpness, is therefore larger by a factor of 4. In units of the weights nothing changes. So the second measure compares functions, and the first compares functions and norms together. With the second measure a rise of the blow-up that only undoes the shrinking of the weights would not be counted. The theory would have to bound the part of the blow-up that the function needs at a given norm. This is the height of the line in {ref}`ch-norm-blowup-tradeoff`.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`sensitive`.
