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
# **Claim.** When a transformer learns PARITY, its loss falls suddenly, and at that time its sharpness jumps. Afterwards weight decay makes the parameter norm fall and the layer-norm blow-up rise exponentially; without decay neither happens. We find all of this at 6 bits for no and weak decay. Two sentences of the caption of Figure 12 we do not find at the strongest decay, with a few runs of 6 bits where the paper has 25: that the sharpness always jumps, and that the rising blow-up leaves it alone.
#
# **Needs** {ref}`ch-sharpness-vs-length` and {ref}`ch-norm-blowup-tradeoff`. **Runs in** 90 s. **Source** printed.
#
# PARITY of a string of $n$ bits is 1 if the number of ones is odd, else 0. Flipping any bit changes it, so no function is more sensitive. We follow four numbers through training: the *loss*, the mean squared error over all strings, for targets in $\{0, 1\}$; the *sharpness*, the mean square by which outputs move under Gaussian noise of standard deviation 0.02 in all weights but the positions, times 4; the *norm* $N$, Euclidean, of all weights but the positions; and the *blow-up* $B$, the product over layer norms of the largest factor $1/s$ by which they magnify a token whose columns have standard deviation $s$, averaged over strings.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 7.2, Figures 3, 12 and 13
# :label: sensitive-fig3
# In training on PARITY of 25 bits, the sharpness rises dramatically at the time when the loss falls to 0. It falls again later, to a level well above 0. The blow-up makes a small sharp step during learning. After that, with positive weight decay, the norm falls and the blow-up rises exponentially, without much effect on the sharpness. Without decay sharpness ends lower.
# ```
#
# **Why it should be so.** A constant output has no sensitivity and can be flat. PARITY has average sensitivity $n$, and Corollary 5 of the paper bounds a product of two factors from below by it: one grows exponentially with the norm, the other is the mean squared blow-up. So on learning one of them must grow. Once PARITY is learned, decay shrinks the norm by a constant factor per step, about $1 - \eta\lambda$ for learning rate $\eta$ and decay $\lambda$, and if the function is to stay, the blow-up has to make up for it.
#
# **What could deceive.** The second half has a reason without PARITY in it: shrink all weights by one factor, and the blow-up grows, whatever the function. Exercise 1 compares. And a mean over runs that learn at different times shows a slow fall where each run has a sudden one, so curves must be aligned.

# %% tags=["parameters"]
n = 6  # bits of a string [5..7]
runs = 6  # of each weight decay [5..40]
decays = [0.0, 0.1, 0.2, 0.3]  # weight decays: 0, others >= 0.05, last >= 0.2 [0..0.3]
steps = 2000  # of every run [1800..3000]
learning_rate = 3e-3  # of AdamW [2e-3..4e-3]
width = 32  # columns of the model [32..64]
draws = 10  # of the noise, at every look [5..100]
redraws = 2000  # of the bootstrap [500..20000]
seed = 0  # of everything random [0..100000]

# %% [markdown]
# ## Training
#
# The model and its training are those of {ref}`ch-sharpness-vs-length`: two layers of two heads, width 32 where the paper has 128, every step on all $2^n$ strings. The same seeds serve every decay, so that runs of different decays start alike. Learning rate times steps is that of the paper's 20 000 steps at 0.0003, and this product times $\lambda$ is the logarithm of the shrinking. All runs train in one stack, and all four numbers are taken every 25 steps, with the same noise each time.

# %%
import math

import torch

from helpers import statistics
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.sensitive import brittle, completions
from helpers.statistics import ends, told

ledger = Ledger("sensitive/training_dynamics")
decays = sorted(set(decays))
if decays[0] != 0 or len(decays) < 2 or decays[1] < 0.05 or decays[-1] < 0.2:
    raise ValueError(f"decays must be 0, others from 0.05 on, the last from 0.2 on; got {decays}")
every = 25
model, strings = brittle.spec(n, width), brittle.strings_of(n)
parity = brittle.targets("PARITY", strings)
decay = torch.tensor(decays, dtype=torch.float64).repeat_interleave(runs)


def sharp_now(weights, _):
    noise = torch.Generator().manual_seed(seed)
    return completions.string_sharpness(model, weights, strings, draws, noise).mean(1)


trained = brittle.learn(
    model,
    ["PARITY"] * len(decay),
    [10_000 * seed + k for _ in decays for k in range(runs)],
    steps,
    learning_rate=learning_rate,
    weight_decay=decay,
    metrics={
        "loss": lambda w, _: brittle.squared_risk(model, w, strings, parity),
        "sharpness": sharp_now,
        "norm": lambda w, _: brittle.parameter_norm(model, w),
        "log_blowup": lambda w, _: brittle.blowup(model, w, strings).log(),
    },
    metrics_every=every,
)
path = {name: values.T for name, values in trained.metrics.items()}  # (runs, looks)
looks = path["loss"].shape[1]
print(f"PARITY of {n} bits, {runs} runs of each weight decay in {decays}")

# %% [markdown]
# ## Two moments of a run
#
# The loss *falls* at the first look at which it is below 1/8, half of what the best constant has. The run *converges* at the first look with a loss below 0.01, as in the authors' code; this is step 0 of the aligned curves. A run that does not converge at least 300 steps before the end is left out, and counted.

# %% tags=["nbval-ignore-output"]


def first_below(values, level):
    """Look at which each run is first below a level; the number of looks if it never is."""
    below = values < level
    return torch.where(below.any(1), below.int().argmax(1), values.shape[1])


falls, converges = (first_below(path["loss"], level) for level in (1 / 8, 0.01))
kept = converges <= looks - 300 // every
groups = decay[kept]
for d in decays:
    if not (groups == d).any():
        raise ValueError(f"no run with decay {d} converged in time; give more than {steps} steps")
path = {name: values[kept] for name, values in path.items()}
falls, converges = falls[kept], converges[kept]
above = path["loss"][:, -1]
for d in decays:
    own = groups == d
    print(
        f"decay {d:.1f}: {int(own.sum())} of {runs} converged, loss falls at step "
        f"{every * (1 + falls[own]).double().median():.0f}, converges at "
        f"{every * (1 + converges[own]).double().median():.0f} (medians); "
        f"{int((above[own] > brittle.CONVERGED).sum())} above {brittle.CONVERGED} at the end"
    )
glue(lost=int((~kept).sum()), all_runs=len(kept), late=int((above > brittle.CONVERGED).sum()))

# %% [markdown]
# {glue:text}`lost` of {glue:text}`all_runs` runs did not converge in time. Of those that did, {glue:text}`late` had a loss above 0.001 at the very end: with strong decay the loss has late spikes. The authors leave such runs out; we keep them, since what comes after convergence is the subject.
#
# ## The jump
#
# *Before* is the mean sharpness from 300 to 100 steps before the loss falls, *after* the mean over the 200 steps after convergence. The jump is the mean logarithm of their ratio. If the loss falls earlier than that, *before* is as much of it as there is. For the timing, we correlate the fall of the loss over 100 steps with the rise of the sharpness over the same steps, at all looks from 300 steps before the fall to 300 after convergence. Intervals are 95 % bootstrap intervals over the runs of a decay.

# %% tags=["nbval-ignore-output"]
bootstrap = torch.Generator().manual_seed(seed)
picks = statistics.redrawn((groups * 1000).long(), redraws, bootstrap)
lag = 100 // every
WEAK = 0.1


def mean_of(values, d=None):
    """Mean over runs, of one decay or all weak ones, and over redrawn runs: (1 + redraws,)."""
    own = groups <= WEAK if d is None else groups == d
    return torch.cat((values[own].mean()[None], values[picks[:, own]].mean(1)))


def window(values, start, stop):
    """Mean of each run's looks from start to stop, at least one look, inside the run."""
    found = []
    for v, a, b in zip(values, start.tolist(), stop.tolist(), strict=True):
        a = min(max(a, 0), looks - 1)
        found.append(v[a : max(b, a + 1)].mean())
    return torch.stack(found)


def jumps(moved=0):
    """Log ratio of sharpness after and before, with both windows moved by some looks."""
    before = window(
        path["sharpness"], falls + moved - 300 // every, falls + moved - 100 // every
    ).log()
    after = window(path["sharpness"], converges + moved, converges + moved + 200 // every).log()
    return after - before


def timing(moved=0):
    """Correlation of the fall of the loss with the rise of the sharpness, some looks later."""
    found = []
    for e in range(len(groups)):
        a, b = max(int(falls[e]) - 300 // every, 0), int(converges[e]) + 300 // every
        b = min(b, looks - moved)
        loss, sharp = path["loss"][e, a:b], path["sharpness"][e, a + moved : b + moved]
        change = torch.stack((loss[:-lag] - loss[lag:], sharp[lag:] - sharp[:-lag]))
        found.append(torch.corrcoef(change)[0, 1])
    return torch.stack(found)


def step_of(values):
    """Rise of a quantity from 100 steps before the loss falls to convergence."""
    e = torch.arange(len(falls))
    return values[e, converges] - values[e, (falls - lag).clamp(min=0)]


together = timing()
jump, later = jumps(), jumps(500 // every)
blow_step = step_of(path["log_blowup"])
print("decay   log ratio of sharpness   500 steps later          fall with rise           log B")
for d in decays:
    cells = (told(mean_of(v, d)) for v in (jump, later, together, blow_step))
    print(f"{d:5.1f}   {'   '.join(cells)}")
weak = groups <= WEAK
glue(
    jump=math.exp(jump[weak].mean().item()),
    jump_top=told(mean_of(jump, decays[-1])),
    together=together[weak].mean().item(),
    together_top=told(mean_of(together, decays[-1])),
    blow_step=told(mean_of(blow_step, decays[1])),
    blow_step_0=told(mean_of(blow_step, 0.0)),
    one_decay=decays[1],
    bits=n,
    top_decay=decays[-1],
)

# %% [markdown]
# We call a decay weak if it is at most 0.1, which is the paper's usual value. Without decay and with weak decay the sharpness rises by a factor of {glue:text}`jump:.1f` (geometric mean), and its rise correlates with the fall of the loss by {glue:text}`together:.2f` within a run ({numref}`fig-dynamics-jump`). With decay {glue:text}`top_decay:.1f` the log ratio is {glue:text}`jump_top` and the correlation {glue:text}`together_top`: runs differ, and some learn PARITY with little change of sharpness. In the 100 steps before the fall and up to convergence the log blow-up rises by {glue:text}`blow_step` with decay {glue:text}`one_decay:.1f`, and by {glue:text}`blow_step_0` without decay.

# %% mystnb={"figure": {"caption": "Loss and sharpness around convergence for the smallest positive decay. Thin lines: single runs, aligned at convergence; thick lines: their means.", "name": "fig-dynamics-jump"}, "image": {"alt": "Two panels above each other over steps from convergence. Above, the loss stays near one quarter, then falls to zero within one or two hundred steps. Below, the sharpness is low, jumps in the same steps to several times its level, and slowly falls afterwards."}} tags=["hide-input"]


def aligned(values, d, before, after):
    """Looks of each run from convergence on, nan where it has none: (runs, before + after)."""
    own = (groups == d).nonzero().flatten().tolist()
    table = torch.full((len(own), before + after), math.nan, dtype=torch.float64)
    for row, e in enumerate(own):
        c = int(converges[e])
        a, b = max(c - before, 0), min(c + after, looks)
        table[row, a - c + before : b - c + before] = values[e, a:b]
    return table


before, after = 300 // every, 600 // every
fig, axes = figures.new(2, 1, height=5.0, sharex=True)
x = every * (torch.arange(before + after) - before)
for i, (ax, name) in enumerate(zip(axes, ("loss", "sharpness"), strict=True)):
    table = aligned(path[name], decays[1], before, after)
    look = {"color": figures.COLOURS[i], "linestyle": figures.DASHES[i], "marker": ""}
    for row in table:
        ax.plot(x, row, linewidth=0.8, alpha=0.5, **look)
    ax.plot(x, table.nanmean(0), linewidth=2.4, label=f"mean of {len(table)} runs", **look)
    ax.axvline(0, color=figures.GREY, linestyle=":", linewidth=1, marker="")
    ax.set(ylabel=name, ylim=(0, None))
    ax.legend()
axes[1].set_xlabel("steps after convergence")
figures.show()

# %% [markdown]
# ## After convergence
#
# From 200 steps after convergence to the end, or until a spike lifts the loss above 1/8 again, we fit straight lines to each run: of $N$, of $\log B$ and, for comparison, of $B$ itself, on the step. $R^2$ is the share of variance that a line explains. If $\log B$ is linear in the step, the blow-up grows exponentially.

# %% tags=["nbval-ignore-output"]


def line(values):
    """Slope per 1000 steps, and R squared, of each run after convergence."""
    slopes, shares = [], []
    for e, (v, c) in enumerate(zip(values, converges.tolist(), strict=True)):
        start = min(c + 200 // every, looks - 4)
        lost = (path["loss"][e, start:] > 1 / 8).nonzero().flatten().tolist()
        stop = start + max(lost[0], 4) if lost else looks
        y = v[start:stop]
        t = every * torch.arange(len(y), dtype=torch.float64) / 1000
        slopes.append(statistics.slope(t, y))
        shares.append(torch.corrcoef(torch.stack((t, y)))[0, 1].square())
    return torch.stack(slopes), torch.stack(shares)


norm_slope, _ = line(path["norm"])
unit = 1000 * learning_rate * groups.clamp(min=decays[1])  # eta lambda t, of 1000 steps
shrink = line(path["norm"].log())[0] / unit
log_slope, log_share = line(path["log_blowup"])
power = log_slope / unit
_, raw_share = line(path["log_blowup"].exp())
tail = 200 // every
last = torch.full_like(converges, looks)
peak = window(path["sharpness"], converges, converges + tail).log()
final = window(path["sharpness"], last - tail, last).log()
change = final - peak
print("decay   norm per 1000 steps       log B per 1000 steps      R2 of log B, of B (medians)")
for d in decays:
    own = groups == d
    print(
        f"{d:5.1f}   {told(mean_of(norm_slope, d)):24}  {told(mean_of(log_slope, d)):24}"
        f"  {log_share[own].median():.2f}, {raw_share[own].median():.2f}"
    )
print("\ndecay   log N per eta lambda t     log B per eta lambda t")
for d in decays:
    print(f"{d:5.1f}   {told(mean_of(shrink, d)):24}  {told(mean_of(power, d)):24}")
print("\ndecay   final log B   final norm   log of final sharpness over that after convergence")
for d in decays:
    own = groups == d
    print(
        f"{d:5.1f}   {path['log_blowup'][own, -1].mean():11.2f}   {path['norm'][own, -1].mean():10.2f}"
        f"   {told(mean_of(change, d))}"
    )
for i, d in enumerate(decays):
    for name, values in (("norm", norm_slope), ("log", log_slope), ("change", change)):
        glue(**{f"{name}_{i}": told(mean_of(values, d))})
    glue(**{f"final_{i}": final[groups == d].exp().mean().item()})
positive = groups > 0
ordered = statistics.concordance(groups[positive], log_slope[positive]).item()
glue(ordered=ordered)
powers = [mean_of(power, d)[0].item() for d in decays[1:]]
glue(
    power_mean=sum(powers) / len(powers),
    powers=", ".join(f"{value:.1f}" for value in powers),
    positive_words=", ".join(f"{d:g}" for d in decays[1:]),
    log_top=told(mean_of(log_slope, decays[-1])),
    change_top=told(mean_of(change, decays[-1])),
    final_top=final[groups == decays[-1]].exp().mean().item(),
    worst_share=min(log_share[groups == d].median().item() for d in decays[1:]),
)

# %% [markdown]
# Without decay the norm changes by {glue:text}`norm_0` and the log blow-up by {glue:text}`log_0` in 1000 steps: next to nothing. With decay {glue:text}`one_decay:.1f` it is {glue:text}`norm_1` and {glue:text}`log_1`, with decay {glue:text}`top_decay:.1f` the log blow-up rises by {glue:text}`log_top`. In units of $\eta\lambda t$, the logarithm of the shrinking that decay alone would do in $t$ steps, $\log B$ rises by {glue:text}`powers` for the decays {glue:text}`positive_words`. There are four layer norms: were the input of each shrunk by decay alone, it would be 4. A line explains {glue:text}`worst_share:.2f` of the variance of $\log B$ in the median run of the worst decay.
#
# The sharpness of the last 200 steps, against that of the 200 steps after convergence, has a log ratio of {glue:text}`change_0` without decay and {glue:text}`change_1` with decay {glue:text}`one_decay:.1f`: it falls again, as in the paper. With decay {glue:text}`top_decay:.1f` the log ratio is {glue:text}`change_top`: here the sharpness rises with the blow-up, to {glue:text}`final_top:.2f`; a model that noise turns into the constant $\frac12$ would have 1 ({numref}`fig-dynamics-aligned`). Without decay it ends at {glue:text}`final_0:.3f`, with decay {glue:text}`one_decay:.1f` at {glue:text}`final_1:.3f`. The paper finds the opposite order after 100 000 steps, which we did not run.

# %% mystnb={"figure": {"caption": "Loss, sharpness, log blow-up and norm from convergence on, by weight decay: means over runs with 95 % bootstrap intervals, where at least half of the runs have a look.", "name": "fig-dynamics-aligned"}, "image": {"alt": "Four panels over steps from convergence, one line a weight decay. The loss falls to zero for all. Sharpness jumps at step 0, then stays level without decay, falls for weak decay and rises late for the strongest. Log blow-up is level without decay and rises in nearly straight lines, steeper for stronger decay; the norm is level without decay and falls in curves otherwise."}} tags=["hide-input"]
before, after = 300 // every, looks - int(converges.double().median()) - 1
x = every * (torch.arange(before + after) - before)
fig, axes = figures.new(2, 2, height=5.8, sharex=True)
titles = {
    "loss": "loss",
    "sharpness": "sharpness",
    "log_blowup": r"log blow-up, $\log B$",
    "norm": "parameter norm, $N$",
}
for ax, (name, title) in zip(axes.flatten(), titles.items(), strict=True):
    for i, d in enumerate(decays):
        table = aligned(path[name], d, before, after)
        table = table[:, (seen := (~table.isnan()).double().mean(0) >= 0.5)]
        again = statistics.redrawn(torch.zeros(len(table), dtype=torch.int64), 400, bootstrap)
        spread = table[again].nanmean(1)
        look = {"color": figures.COLOURS[i % len(figures.COLOURS)]}
        ax.plot(
            x[seen],
            table.nanmean(0),
            linestyle=figures.DASHES[i % len(figures.DASHES)],
            marker=figures.MARKERS[i % len(figures.MARKERS)],
            markevery=12,
            label=f"decay {d:g}",
            **look,
        )
        ax.fill_between(
            x[seen],
            spread.nanquantile(0.025, 0),
            spread.nanquantile(0.975, 0),
            alpha=0.18,
            linewidth=0,
            **look,
        )
    ax.axvline(0, color=figures.GREY, linestyle=":", linewidth=1, marker="")
    ax.set_ylabel(title)
for ax in axes[1]:
    ax.set_xlabel("steps after convergence")
axes[1][0].legend()
figures.show()

# %% [markdown]
# ## What would falsify this
#
# *The jump*: without decay and with weak decay, a sharpness after convergence that is not above that before the fall by a fifth or more ($\log$ ratio 0.2); a fall of the loss that does not go with a rise of the sharpness in the same hundred steps. *The trade*: a norm that does not fall with decay, by 0.1 in $\log N$ per unit of $\eta\lambda t$, or a blow-up that does not rise, by 1 in $\log B$, or that a line in $\log B$ describes no better than a line in $B$, by 0.05 of the variance; a rise that is not steeper for stronger decay. The ends of 95 % intervals decide; after convergence, over all runs with decay. The two sentences on the strongest decay: a jump whose interval reaches below 0.5 (with weak decay it is above that), and a sharpness that rises after convergence by more than 0.2; with so few runs this says *not shown*, rather than shown to be otherwise. Controls: the same windows 500 steps later; the sharpness 300 steps later; the runs without decay, in the unit of the smallest positive one; decays shuffled (median of 25); weak decay in place of the strongest.


# %% tags=["nbval-ignore-output"]
gain = log_share - raw_share


def with_decay(values, end):
    """Upper (end = 1) or lower end (0) of the mean over all runs with decay."""
    return ends(values[picks][:, groups > 0].mean(1))[end]


def steepness(values):
    """Slope on the decay, over runs with decay, and over redraws of the runs of a decay."""
    own = groups > 0
    redrawn = torch.cat((values[own][None], values[picks[:, own]]))
    return statistics.slope(groups[own], redrawn)


def steepness_shuffled():
    """Median over 25 shuffles of decays among the runs with decay: lower end."""
    found = []
    for _ in range(25):
        mixed = log_slope.clone()
        own = (groups > 0).nonzero().flatten()
        mixed[own] = log_slope[own[torch.randperm(len(own), generator=bootstrap)]]
        found.append(ends(steepness(mixed)[1:])[0])
    return statistics.middle(found)


ledger.result("sensitive.fig3.jump").reproduced(
    "log ratio of sharpness after and before, decay at most 0.1, lower end; control: 500 steps later",
    ends(mean_of(jump)[1:])[0],
    at_least=0.2,
    control=ends(mean_of(later)[1:])[0],
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig3.jump").reproduced(
    "loss's fall with sharpness's rise, decay at most 0.1, lower end; control: sharpness 300 steps later",
    ends(mean_of(together)[1:])[0],
    at_least=0.5,
    control=ends(mean_of(timing(300 // every))[1:])[0],
    about="experiment",
    evidence="trained",
)
if decays[-1] >= 0.3:
    ledger.result("sensitive.fig3.always").not_reproduced(
        "log ratio of sharpness after and before, strongest decay, lower end; control: at most 0.1",
        ends(mean_of(jump, decays[-1])[1:])[0],
        at_least=0.5,
        control=ends(mean_of(jump)[1:])[0],
        about="experiment",
        evidence="trained",
    )
    ledger.result("sensitive.fig3.effect").not_reproduced(
        "log of final sharpness over that after convergence, strongest decay, lower end; "
        f"control: decay {decays[1]:g}",
        ends(mean_of(change, decays[-1])[1:])[0],
        at_most=0.2,
        control=ends(mean_of(change, decays[1])[1:])[0],
        about="experiment",
        evidence="trained",
    )
ledger.result("sensitive.fig3.trade").reproduced(
    "log norm per unit of eta lambda t, all with decay, upper end, at most -0.1; control: no decay",
    with_decay(shrink, 1),
    at_most=-0.1,
    control=ends(mean_of(shrink, 0.0)[1:])[1],
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig3.trade").reproduced(
    "log blow-up per unit of eta lambda t, all with decay, lower end, at least 1; control: no decay",
    with_decay(power, 0),
    at_least=1,
    control=ends(mean_of(power, 0.0)[1:])[0],
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig3.trade").reproduced(
    "R2 of log B minus R2 of B, all runs with decay, lower end, at least 0.05; control: no decay",
    with_decay(gain, 0),
    at_least=0.05,
    control=ends(mean_of(gain, 0.0)[1:])[0],
    about="experiment",
    evidence="trained",
)
if len(decays) > 2:
    ledger.result("sensitive.fig3.trade").reproduced(
        "slope of the rise of log B on the decay, lower end; control: decays shuffled",
        ends(steepness(log_slope)[1:])[0],
        at_least=0,
        control=steepness_shuffled(),
        about="ours",
        evidence="trained",
    )
ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# We read the repository `lacoco-lab/sensitivity-hardness`.
#
# * **Noise.** At each look it has 500 draws of the noise and one batch of strings, and takes the rise of the loss. We have ten draws, the same at every look, on all strings, and take the change of outputs. A common set of draws makes changes over time visible with few draws, but the level of a single run then has the error of ten draws.
# * **Which runs count.** Runs that end with a loss of 0.001 or more are dropped: the paper's Figure 3 has 39 runs of 101. We drop only runs that have not converged 300 steps before the end.
# * **Alignment.** Both align curves at the first look with a loss below 0.01. The authors average over the steps that at least a quarter of the runs reach, so that the mean changes its members along the axis; we ask for half, and take slopes within runs.
# * **Blow-up.** It is the product over all four layer norms of $\max_w 1/s$, without the 1 of the theory, as here.
#
# ## What we found
#
# * The jump and its timing are there at {glue:text}`bits` bits without decay and with weak decay. For the strongest decay our runs do not show that the sharpness always rises, as the caption of Figure 12 has it.
# * So is the trade of norm for blow-up, exponential in the step, at a rate of {glue:text}`power_mean:.1f` times $\eta\lambda$ on average. Its rate rises with the decay: of two runs, the one with more decay has the steeper rise in a share {glue:text}`ordered:.2f` of pairs.
# * For strong decay, the late rise of sharpness is at odds with the remark that blow-up leaves it alone. The paper's runs have 25 bits, four times the width, and a learning rate ten times smaller; which of these matters we cannot say.
# * Six bits are few: loss and sharpness here change within some hundred steps of the start, where the paper has a long plateau. Runs of 25 bits take a GPU and were not made.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Suppose training only shrinks all weights but the positions by the factor $e^{-\eta\lambda}$ per step. Measure how $\log B$ changes when the final models without decay are shrunk as much as those with decay were, and compare it with the rise of $\log B$ in training. Does PARITY survive the shrinking?
# ```

# %% tags=["hide-cell", "nbval-ignore-output"]
# Shrink the models that had no decay until their norm is that of the models with decay.
calm = (decay == 0) & kept
for d in decays[1:]:
    goal = path["norm"][groups == d, -1].mean()
    stack = {k: v[calm] for k, v in trained.weights.items()}
    factor = (goal / brittle.parameter_norm(model, stack).mean()).item()
    shrunk = {k: v if k == brittle.FIXED else factor * v for k, v in stack.items()}
    rise = (
        brittle.blowup(model, shrunk, strings).log() - brittle.blowup(model, stack, strings).log()
    )
    left = brittle.squared_risk(model, shrunk, strings, parity)
    trained_rise = (
        path["log_blowup"][groups == d, -1].mean() - path["log_blowup"][groups == 0, -1].mean()
    )
    print(
        f"decay {d:.1f}: factor {factor:.2f}, log B rises by {rise.mean():.2f}, loss {left.mean():.3f};"
        f" training: {trained_rise:.2f}"
    )

# %% [markdown]
# ```{admonition} Exercise 2
# With decay $\lambda$ and learning rate $\eta$, and gradients that are negligible, the norm after $t$ steps is $N_0\, (1 - \eta\lambda)^t$. Which half-life does that give for each decay, and how much faster than in training is it?
# ```

# %% tags=["hide-cell", "nbval-ignore-output"]
# AdamW divides a gradient by its own size, so that even small gradients push back.
for d in decays[1:]:
    own = groups == d
    start = window(path["norm"], converges, converges + 1)[own]
    t = (looks - 1 - converges[own]) * every
    in_training = (t * math.log(2) / (start / path["norm"][own, -1]).log()).median()
    print(
        f"decay {d:.1f}: {math.log(2) / (learning_rate * d):.0f} steps by decay alone, "
        f"{in_training:.0f} steps in training"
    )

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`sensitive`.
