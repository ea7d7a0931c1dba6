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
# (ch-norm-blowup-tradeoff)=
# # Parameter norm against layer-norm blow-up
#
# ```{verdict}
# Yes, trained transformers trade large weights for layer norms that magnify strongly: for all four functions the blow-up, the factor of this magnification, decreases as the norm grows. From {glue:text}`smallest` to {glue:text}`largest` bits the line of PARITY moves up, by {glue:text}`shift_PARITY:.1f` in the logarithm, and the others far less, as the paper reports for longer strings and wider networks. Whether they move at all stays open. So does whether PARITY behaves like them at 5 bits, as the paper remarks: with its width, steps, rates and decays PARITY lies above them by about as much as they lie apart.
# ```
# **Needs** {ref}`ch-average-sensitivity`, {ref}`ch-sharpness-vs-length`. **Read** 15 min. **Runs in** 90 s. **Source** printed.
#
# **Claim.** The paper says that trained transformers have either a large parameter norm or layer norms that magnify strongly. If the logarithm of the blow-up is drawn against the norm, trained models lie along a falling line. For PARITY this line moves up with the length of the strings, whereas for the other functions it does not. We train networks on strings of {glue:text}`smallest` to {glue:text}`largest` bits. Their lines fall, and that of PARITY moves up with the length. Those of the others move far less, but at some seeds they move by more than chance, so it stays open whether they move at all. These networks are a quarter as wide as the paper's and learn with about ten times its rate.
#
# The paper also says that at 5 bits PARITY behaves similarly to the others. For this sentence we use the paper's width, steps, rates and decays. PARITY then lies a little above the others, and it stays open whether this is similar in our reading of the word. Lengths of 10 and more were not run.
#
# ## Why one should care
#
# Attention dilutes the influence of a single bit, because it averages over all tokens. A transformer that computes PARITY therefore has to restore this influence somewhere. The theory of this part says that there are two ways: large weights, or layer norms that divide by a small deviation and so magnify small differences. Each has its price. Weight decay punishes large weights, and magnification makes a network sensitive to noise in its weights. If trained networks really use these two ways, norm and magnification should lie on a line on which one decreases as the other increases. For a function that needs more influence of single bits, the whole line should lie higher. An experiment can show this where the theorem, with its very loose constants, cannot.
#
# ## Four coordinates by hand
#
# Let a token have the coordinates $(0.5, -0.5, 0.5, -0.5)$. Their mean is 0 and their deviation is $s = 0.5$, so layer norm divides by $0.5$ and returns $(1, -1, 1, -1)$. A second input leads to $(0.6, -0.5, 0.4, -0.5)$, which layer norm turns into about $(1.2, -1, 0.8, -1)$. So differences of $0.1$ have become differences of $0.2$: this layer norm magnifies by $1/s = 2$. If all weights before the layer norm are halved, the token is $(0.25, -0.25, 0.25, -0.25)$ and the layer norm magnifies by 4, but its output is the same.
#
# So halving the weights doubles the magnification of this layer norm and leaves its output as it is. With four layer norms, one after the other, the product of their factors grows from $2^4 = 16$ to $4^4 = 256$, that is, its logarithm from $2.8$ to $5.5$. Call the product of the factors the *blow-up*. In the plane of norm and log blow-up such networks lie on a falling line, which has nothing to do with the function.
#
# The function determines the *height* of the line, that is, how much magnification there is at the same norm. This is why the experiment has to compare lines.
#
# **Norm and blow-up.** Layer norm divides the residual stream of a token by its standard deviation $s$ over the $d$ columns. Where $s$ is small, small differences between inputs become large. The *blow-up* of a transformer on a string $x$ is the product of the factors by which its layer norms magnify, one after the other,
#
# $$B(x) = \prod_k \max_w \frac1{s\bigl(Y^{(k)}_w(x)\bigr)} ,$$
#
# where $Y^{(k)}_w$ is the input of layer norm $k$ at token $w$. This is the form of the paper's experiments; its theory adds 1 to every factor. The model has two layers with two layer norms each. In the last layer, only the token that is read counts in the maximum. We write $B$ for the mean of $B(x)$ over all strings, and $N$ for the Euclidean norm of all weights but the positions. (In {ref}`ch-layer-norm-blowup` and {ref}`ch-layer-norm-links` the letter $N$ is the deviation by which layer norm divides.) The functions PARITY, MAJORITY, FIRST and MEAN are those of {ref}`ch-sharpness-vs-length`.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 7.2, Figures 2, 9, 10 and 14
# :label: sensitive-fig2
# Models trained with different learning rates and weight decays lie along lines in the plane of $N$ and $\log B$. For PARITY the line is higher for longer strings. For MAJORITY, FIRST and MEAN no dependence on the length is visible. At length 5 PARITY behaves similarly to the other functions; at 10, 15 and 20 it lies above them. While one model trains on, weight decay makes $N$ fall and $\log B$ rise along such a line.
# ```
#
# **Why it should be so.** Let $\mathrm{as}_n(f)$ be the average sensitivity of the function on $n$ bits, which for a function with the values $\pm 1$ is the mean number of bits whose flip changes the value. Corollary 5 of the paper says
#
# $$C\, \mathbb E\, B_1^2 \ge \frac{\mathrm{as}_n(f)}{\sqrt{n \log n}} - \frac Hn ,$$
#
# where $H$ is the number of heads, $B_1$ the blow-up with 1 added to each factor, and $C$ a constant that grows exponentially with the norms of the weights. In words: if the function is sensitive, then either the weights or the blow-up must be large. For $\log C + \log \mathbb E\, B_1^2$ this gives a lower bound, which grows with $n$ if $\mathrm{as}_n(f)$ outgrows $\sqrt{n \log n}$, as that of PARITY does. But in models such as ours the two sides of the inequality differ by many powers of ten, so the inequality suggests the picture but does not imply it.
#
# **What could deceive.** As the example shows, there is a second reason for the trade-off, which has nothing to do with sensitivity: if all weights become smaller by one factor, the blow-up grows while the function stays nearly the same. So the falling line alone is weak evidence (first exercise). The real test is whether the line moves with $n$, and for which functions. Besides, runs that have not converged must be left out, because they compute another function.

# %% tags=["parameters"]
lengths = [3, 5, 7]  # bits of a string, at least two, 4 apart [3..20]
runs_each = 6  # runs of each function at each length [6..200]
steps = 1200  # of every run [1200..10000]
rates = [2.5e-3, 4e-3]  # least and largest learning rate [1e-4..5e-3]
decays = [0.0, 0.3]  # least and largest weight decay [0..0.4]
width = 32  # columns of the model [32..128]
batch = 128  # strings in a step; the whole cube if it has no more [128..1024]
seed = 0  # of everything random [0..100000]
series = ""  # name under which a large run is stored; empty: no large run
big_lengths = [5]  # its lengths [3..30]
big_runs = 12  # its runs of each function at each length [2..200]
big_steps = 10000  # steps of each of its runs [100..100000]
big_rates = [1e-4, 5e-4]  # its least and largest learning rate [1e-4..5e-3]
big_decays = [0.0, 0.4]  # its least and largest weight decay [0..0.4]
big_width = 128  # columns of its models [8..256]
big_batch = 1024  # strings in a step of it [64..4096]

# %% [markdown]
# ## Training
#
# As in the paper, weight decay and learning rate are drawn from intervals, and everything else is as in {ref}`ch-sharpness-vs-length`. A *class* is the set of runs of one function at one length. So that classes can be compared, the settings of the first run, of the second run and so on are drawn once and then used in every class. The interval of weight decays is cut into as many parts as a class has runs, and one decay is drawn from each part. A run has converged if its mean squared error over all strings is at most 0.001. Norm and blow-up are recorded every hundred steps.

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, results, table
from helpers import statistics
from helpers.statistics import bootstrap_interval
from papers.sensitive import brittle

ledger = Ledger("sensitive/norm_blowup_tradeoff")
falling = ledger.result("sensitive.fig2.line")
moving = ledger.result("sensitive.fig2.shift")
level = ledger.result("sensitive.fig2.shift_others")
above = ledger.result("sensitive.fig2.fig10")
at_five = ledger.result("sensitive.fig2.fig10_short")
training = ledger.result("sensitive.fig2.fig14")
TRAINED = {"about": "experiment", "evidence": "trained"}
functions = brittle.FUNCTIONS
lengths = sorted(set(lengths))
if lengths[-1] - lengths[0] < 4:
    raise ValueError(f"a shift needs lengths at least 4 apart, got {lengths}")
smallest, largest = lengths[0], lengths[-1]
bootstrap = torch.Generator().manual_seed(seed)


# %%
def search(n, count, steps, width, B, rates, decays, seed, checkpoint=None):
    """Train every function at as many settings; the settings, and what was found at every look."""
    names = [name for name in functions for _ in range(count)]
    drawn = torch.rand(2, count, generator=torch.Generator().manual_seed(seed)).double()
    drawn[1] = (drawn[1] + torch.arange(count)) / count
    rate, decay = (
        (low + (high - low) * share).repeat(len(functions))
        for (low, high), share in zip((rates, decays), drawn, strict=True)
    )
    model, strings = brittle.spec(n, width), brittle.strings_of(n)
    values = torch.stack([brittle.targets(name, strings) for name in names])
    metrics = {
        "mse": lambda w, which: brittle.squared_risk(model, w, strings, values[which]),
        "norm": lambda w, _: brittle.parameter_norm(model, w),
        "log_blowup": lambda w, _: brittle.blowup(model, w, strings).log(),
    }
    seeds = [10_000 * seed + 100 * n + e % count for e in range(len(names))]
    given = {"B": B, "learning_rate": rate, "weight_decay": decay, "checkpoint": checkpoint}
    found = brittle.learn(model, names, seeds, steps, metrics=metrics, metrics_every=100, **given)
    looks = {name: of.double() for name, of in found.metrics.items()}
    ends = {name: of[-1] for name, of in looks.items()}
    return pd.DataFrame({"function": names, "rate": rate, "decay": decay, "n": n} | ends), looks


given = (runs_each, steps, width, batch, rates, decays, seed)
trained = {n: search(n, *given) for n in lengths}
runs = pd.concat([ends for ends, _ in trained.values()], ignore_index=True)
runs["done"] = runs["mse"] <= brittle.CONVERGED
kept = runs[runs["done"]]

# %% [markdown]
# ## The lines
#
# To compare lines, we read each of them at one common norm. For each function $f$ we fit one curve to its converged runs, moved up or down for each length $n$,
#
# $$\log B = a_{f,n} + b_f\,(N - \bar N) + c_f\,(N - \bar N)^2 ,$$
#
# by least squares. Here $\bar N$ is the mean norm of all converged runs. The fit gives three numbers to look at:
#
# * The *slope* $b_f$ at this common norm says whether there is a trade-off. A slope that is not negative would speak against it.
# * The *height* $a_{f,n}$ is the log blow-up of the class at the common norm.
# * The *shift* of a function is its height at the largest length minus its height at the smallest. It says whether the line moves.
#
# The term with $c_f$ allows the curve to bend. Numbers in brackets are the ends of 95 % bootstrap intervals, for which the runs of each class are resampled.


# %%
def fit(f, n_of, x, y, count=200, picks=None):
    """Heights (shifts at None), slopes and bends: of the runs, then of runs drawn anew."""
    if picks is None:
        picks = statistics.resampled((1000 * f + n_of).long(), count, bootstrap)
    picks = torch.cat((torch.arange(len(f))[None], picks))
    height, slope, curvature = {}, {}, {}
    for i, name in enumerate(functions):
        own = picks[:, f == i]  # (1 + count, runs)
        at, member = n_of[f == i].unique(return_inverse=True)
        length = torch.nn.functional.one_hot(member).to(x).expand(len(own), -1, -1)
        powers = torch.stack((x[own], x[own].square()), -1)
        found = torch.linalg.lstsq(torch.cat((length, powers), -1), y[own][..., None]).solution
        *levels, slope[name], curvature[name] = found[..., 0].unbind(-1)
        height |= {(name, int(n)): level for n, level in zip(at, levels, strict=True)}
        height[name, None] = levels[-1] - levels[0]
    return height, slope, curvature


# %%
f = torch.tensor([functions.index(name) for name in kept["function"]])
n_of, x, y = (torch.tensor(kept[k].to_numpy()) for k in ("n", "norm", "log_blowup"))
x = x - kept["norm"].mean()
height, slope, curvature = fit(f, n_of, x, y, 2000)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Log blow-up against parameter norm at the end of training, one mark a run with its own learning rate and weight decay. Open marks have not converged. Lines: the curve of the function at the height of each length.", "name": "fig-norm-blowup"}, "image": {"alt": "Four panels, one a function. In each, log blow-up falls as the norm grows, along a slightly bent line. In the panel of PARITY the marks and lines of longer strings lie clearly above those of the shortest; in the other three panels the lines of all lengths nearly coincide, lower down."}} tags=["hide-input"]
fig, axes = figures.new(2, 2, height=4.8, sharex=True, sharey=True)
for ax, name in zip(axes.flatten(), functions, strict=True):
    for j, n in enumerate(lengths):
        for done, fill in ((True, "full"), (False, "none")):
            own = runs.query("function == @name and n == @n and done == @done")
            label = f"$n = {n}$" if done else None
            ax.plot(
                own["norm"],
                own["log_blowup"],
                **figures.marker_style(j, fillstyle=fill, label=label),
            )
        own = kept.query("function == @name and n == @n")["norm"]
        grid = torch.linspace(own.min(), own.max(), 50)
        at = grid - kept["norm"].mean()
        curve = height[name, n][0] + slope[name][0] * at + curvature[name][0] * at.square()
        ax.plot(grid, curve, **figures.line_style(j))
    ax.set_title(name)
for ax in axes[:, 0]:
    ax.set_ylabel(r"log blow-up, $\log B$")
for ax in axes[1]:
    ax.set_xlabel("parameter norm, $N$")
axes[0][0].legend()
figures.show()

# %% [markdown]
# In every panel of {numref}`fig-norm-blowup` the log blow-up falls as the norm grows, along a slightly bent line. In the panel of PARITY the lines of longer strings lie higher, whereas in the other three panels the lines of all lengths nearly coincide. Open marks are runs that did not converge. With the first seed one of them lies far below all lines of PARITY, but such runs are not in the fit.
#
# To compare PARITY with the rest, we subtract the shift of each other function from that of PARITY. Of the three differences we report the least favourable one, which is the one whose interval has the lowest lower end. If the line of PARITY moved no more than the others, this lower end would be below 0.


# %%
def lead(height, n):
    """PARITY's height at a length, or its shift, minus each other's: the one of least lower end."""
    parity, *rest = (height[name, n] for name in functions)
    return min((bootstrap_interval(parity - other) for other in rest), key=lambda found: found.low)


def share(height):
    """The largest shift of another function, up or down, over PARITY's, in size."""
    parity, *rest = (abs(height[name, None][0].item()) for name in functions)
    return max(rest) / parity


leads = {n: lead(height, n) for n in (*lengths, None)}

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
shifts = {name: bootstrap_interval(height[name, None]) for name in functions}
rows = []
for name in functions:
    row = {"function": name, "slope": f"{bootstrap_interval(slope[name]):.2f}"}
    for n in lengths:
        own = runs.query("function == @name and n == @n")["done"]
        row[f"height, n = {n}"] = (
            f"{bootstrap_interval(height[name, n]):.2f} ({own.sum()} of {len(own)})"
        )
    rows.append(row | {"shift": f"{shifts[name]:.2f}"})
table(pd.DataFrame(rows), "Slope, heights at the common norm (runs that converged), shift")
glue(
    common=kept["norm"].mean(),
    smallest=smallest,
    largest=largest,
    lost=int((~runs["done"]).sum()),
    all_runs=len(runs),
    gaps=", ".join(f"{leads[n]:.2f} at {n} bits" for n in lengths),
    lead_shift=f"{leads[None]:.2f}",
    narrow_lead=f", in which PARITY lies {leads[5]:.2f} higher," if 5 in leads else "",
    factor=math.exp(leads[largest].value),
    shift_PARITY=shifts["PARITY"].value,
    **{f"slope_{name}": slope[name][0].item() for name in functions},
    **{f"told_{name}": f"{shifts[name]:.2f}" for name in functions},
)


# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
def flattest(slope):
    return max(bootstrap_interval(values).high for values in slope.values())


falling.reproduced(
    "slope of the log blow-up on the parameter norm, largest over the functions, upper end "
    "of its interval; control: blow-ups shuffled",
    flattest(slope),
    at_most=0,
    control=brittle.by_chance(lambda v: flattest(fit(f, n_of, x, v)[1]), y, f, bootstrap),
    **TRAINED,
)
moving.reproduced(
    "shift of PARITY's line with the length less that of each other function, least lower "
    "end of the intervals; control: functions shuffled",
    leads[None].low,
    at_least=0,
    control=brittle.by_chance(lambda v: lead(fit(v, n_of, x, y)[0], None).low, f, n_of, bootstrap),
    **TRAINED,
)
moving.reproduced(
    "largest shift of another function's line with the length, up or down, in units of that"
    " of PARITY; control: functions shuffled",
    share(height),
    at_most=0.5,
    control=brittle.by_chance(lambda v: share(fit(v, n_of, x, y)[0]), f, n_of, bootstrap),
    **TRAINED,
)


def farthest(height):
    """The farthest end of the intervals of the other functions' shifts, over PARITY's shift."""
    parity, *rest = (height[name, None] for name in functions)
    ends = (bootstrap_interval(other) for other in rest)
    return max(max(-found.low, found.high) for found in ends) / abs(parity[0].item())


level.holds(
    "farthest end of the intervals of the other functions' shifts, up or down, in units of "
    "PARITY's shift; control: functions shuffled",
    farthest(height),
    at_most=1,
    control=brittle.by_chance(lambda v: farthest(fit(v, n_of, x, y)[0]), f, n_of, bootstrap),
    about="ours",
    evidence="trained",
)

# %% [markdown]
# The table confirms what the figure shows: every line falls, and that of PARITY moves by far the most.
#
# * *The trade-off.* All slopes are negative. At the common norm of {glue:text}`common:.1f` the slope is {glue:text}`slope_PARITY:.2f` for PARITY, {glue:text}`slope_MAJORITY:.2f` for MAJORITY, {glue:text}`slope_FIRST:.2f` for FIRST and {glue:text}`slope_MEAN:.2f` for MEAN.
# * *The shift of PARITY.* From $n =$ {glue:text}`smallest` to {glue:text}`largest` the height of PARITY shifts by {glue:text}`told_PARITY`. This is {glue:text}`lead_shift` more than the function that comes nearest.
# * *The shifts of the others.* MAJORITY shifts by {glue:text}`told_MAJORITY`, FIRST by {glue:text}`told_FIRST` and MEAN by {glue:text}`told_MEAN`. These shifts are far smaller than that of PARITY. Are they 0? At the default seed each interval contains 0. But at two of three other seeds one does not: MAJORITY shifted by 0.24 [0.10, 0.35] where PARITY shifted by 1.16, and MEAN by 0.20 [0.09, 0.31] where PARITY shifted by 0.81. So it stays open whether the lines of these functions depend on the length a little.
# * *Runs left out.* {glue:text}`lost` of {glue:text}`all_runs` runs did not converge and are not in the fit. The table shows to which function and length they belong.
#
# **PARITY against the others.** In Figure 10 the paper compares functions at one length. So we now subtract the height of each other function from that of PARITY at the same length, and again report the difference whose interval has the lowest lower end. If PARITY lay no higher than some other function, this lower end would be below 0.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
above.reproduced(
    "height of PARITY's line less that of each other function at our largest length, least "
    "lower end of the intervals; control: functions shuffled",
    leads[largest].low,
    at_least=0,
    control=brittle.by_chance(
        lambda v: lead(fit(v, n_of, x, y)[0], largest).low, f, n_of, bootstrap
    ),
    about="ours",
    evidence="trained",
)

# %% [markdown]
# At the largest length PARITY lies above every other function, and above the nearest of them by a factor of {glue:text}`factor:.1f` in the blow-up itself. In the logarithm the differences between PARITY and the nearest other function are {glue:text}`gaps`. The paper's 10, 15 and 20 bits were not run.
#
# ## Five bits with the paper's width, steps, rates and decays
#
# Of 5 bits the paper says that PARITY behaves similarly to the other functions. We read "similarly" as saying that PARITY lies no farther above the others than they lie apart. The sentence would be contradicted if PARITY clearly lay farther above them.
#
# At this length we ran the paper's width of 128 columns, its 10,000 steps and its intervals of learning rate and decay. Two things differ: every step sees all 32 strings once, where the paper draws 1024, and the weights at the start are drawn as in our other runs (see the table of settings below). So the number 1024 in the table of the stored run is only an upper limit. There are {glue:text}`wide_runs` runs of each function, and of all {glue:text}`wide_all` runs {glue:text}`wide_done` converged. A setting at which a run did not converge is left out for all functions.

# %% mystnb={"code_prompt_hide": "Stored run", "code_prompt_show": "Stored run"} tags=["hide-input"]
if series:
    given = (big_runs, big_steps, big_width, big_batch, big_rates, big_decays, seed)
    parts = [(n, *given, results.checkpoint(f"{n} bits")) for n in big_lengths]
    made = pd.concat([search(*part)[0] for part in parts])
    results.save(
        series,
        {
            k: [float(f"{v:.5g}") if made[k].dtype == float else v for v in made[k].tolist()]
            for k in made
        },
    )
stored = results.load("sensitive/norm_blowup_tradeoff", "width128")
if stored is None:
    raise FileNotFoundError("the stored run with the paper's width is missing")
table(brittle.provenance(stored.provenance), "How the stored run was made")
wide = pd.DataFrame(stored.columns)
wide["done"] = wide["mse"] <= brittle.CONVERGED
wide["number"] = wide.groupby("function").cumcount()
good = wide.groupby("number").filter(lambda runs: runs["done"].all())
own = [torch.tensor(good[k].to_numpy()) for k in ("n", "norm", "log_blowup")]
own[1] = own[1] - own[1].mean()
whose = torch.tensor([functions.index(name) for name in good["function"]])
# A number has the same rate and decay for every function, so numbers are drawn anew, not runs.
each = len(good) // len(functions)
numbers = torch.zeros(each, dtype=torch.int64)
numbers = statistics.resampled(numbers, 2000, torch.Generator().manual_seed(0))
numbers = torch.cat([numbers + each * i for i in range(len(functions))], 1)
levels, slopes, _ = fit(whose, *own, picks=numbers)
wide_lead = lead(levels, 5)


def beyond_others(height, n):
    """How far PARITY lies above the highest other, less how far the others lie apart."""
    parity, *rest = (height[name, n] for name in functions)
    top, bottom = torch.stack(rest).amax(0), torch.stack(rest).amin(0)
    return bootstrap_interval(parity - top - (top - bottom)), (top - bottom)[0].item()


wide_beyond, wide_spread = beyond_others(levels, 5)
table(
    {
        "function": list(functions),
        "slope": [f"{bootstrap_interval(slopes[name]):.3f}" for name in functions],
        "height": [f"{bootstrap_interval(levels[name, 5]):.2f}" for name in functions],
        "PARITY minus it": [
            f"{bootstrap_interval(levels['PARITY', 5] - levels[name, 5]):.2f}" for name in functions
        ],
    },
    f"5 bits, the paper's width, steps, rates and decays, at the common norm of {good['norm'].mean():.1f}",
)
at_five.holds(
    "5 bits, with the paper's width, steps, rates and decays: PARITY's blow-up less the "
    "highest other, less the spread of the others, lower end of its interval; control: the "
    "spread is not subtracted",
    wide_beyond.low,
    at_most=0,
    control=bootstrap_interval(
        levels["PARITY", 5] - torch.stack([levels[k, 5] for k in functions[1:]]).amax(0)
    ).low,
    about="ours",
    evidence="trained",
)
glue(
    wide_runs=len(wide) // len(functions),
    wide_spread=wide_spread,
    wide_beyond=f"{wide_beyond:.2f}",
    wide_done=int(wide["done"].sum()),
    wide_all=len(wide),
    wide_lead=f"{wide_lead:.2f}",
    wide_span=good["log_blowup"].max() - good["log_blowup"].min(),
)

# %% [markdown]
# It stays open whether PARITY is similar to the others in this sense, because it lies above them by about as much as they lie apart. The runs were made twice, with different settings and seeds, and the conclusion is the same both times:
#
# | difference of heights | these runs | first series |
# |:--|:--|:--|
# | PARITY above the nearest other function | {glue:text}`wide_lead` | 0.18 [0.05, 0.26] |
# | the three other functions apart | {glue:text}`wide_spread:.2f` | 0.22 |
# | the first of these minus the second | {glue:text}`wide_beyond` | $-0.04$ [$-0.33$, 0.15] |
#
# Because the same settings were drawn for all functions, even the small difference in the first row can be distinguished from 0. But both intervals in the last row contain 0. For comparison, the log blow-ups of all these runs span {glue:text}`wide_span:.1f`. The models trained on this page at 5 bits{glue:text}`narrow_lead` are a quarter as wide and learn with ten times the rate.
#
# ## Along one run
#
# So far each run was one point in the plane. The paper also says that a single run moves along such a line while it trains on, because weight decay makes its norm fall. To see this we follow whole runs in the same plane, at the largest length.
#
# If decay is what moves them, the blow-up should rise more in runs with more decay. So we take the converged runs of all functions, and fit the rise of the log blow-up in the second half of training by a line in $\eta\lambda$, the product of the learning rate $\eta$ and the weight decay $\lambda$. If the interval of the slope contained 0, the sentence would not be reproduced.

# %%
looks = trained[largest][1]
ends = runs.query("n == @largest")
own = torch.tensor(ends["done"].to_numpy())
names, rate, decay = (ends[k].to_numpy() for k in ("function", "rate", "decay"))
second = slice(len(looks["norm"]) // 2, None)
norms, logs = (looks[k][second][:, own] for k in ("norm", "log_blowup"))
fall, rise = norms[0] - norms[-1], logs[-1] - logs[0]
strength = torch.tensor(rate * decay)[own]
pairs = torch.stack((norms.T, logs.T), 1)  # (runs, 2, looks)
along = torch.stack([torch.corrcoef(pair)[0, 1] for pair in pairs])
order = statistics.trend(strength, rise)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Norm and log blow-up through training at the largest length, one line a converged run, a mark at its end; on the whole, training goes from right to left.", "name": "fig-tradeoff-paths"}, "image": {"alt": "Two panels of log blow-up against norm. Left, runs of PARITY start at the lower right, first move right or straight up while PARITY is learned, then run up and to the left. One run ends at the lower right, near its start. Right, runs of the three other functions go straight up and to the left from the start and all lie along one line, which at the same norm is lower than the ends of the runs of PARITY."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.0, sharex=True, sharey=True)
seen = set()
for e in own.nonzero().flatten().tolist():
    i = functions.index(names[e])
    ax = axes[min(i, 1)]
    ax.plot(
        looks["norm"][:, e], looks["log_blowup"][:, e], **figures.line_style(i, lw=1, alpha=0.7)
    )
    label = None if i in seen else functions[i]
    last = looks["norm"][-1, e], looks["log_blowup"][-1, e]
    ax.plot(*last, **figures.marker_style(i, label=label))
    seen.add(i)
for ax in axes:
    ax.set_xlabel("parameter norm, $N$")
    ax.legend()
axes[0].set_ylabel(r"log blow-up, $\log B$")
figures.show()

# %% mystnb={"code_prompt_hide": "Medians", "code_prompt_show": "Medians"} tags=["hide-input", "nbval-ignore-output"]
strong = strength > strength.median()
glue(
    fall=fall[strong].median().item(),
    rise=rise[strong].median().item(),
    along=along[strong].median().item(),
    fall_less=fall[~strong].median().item(),
    rise_less=rise[~strong].median().item(),
    order=f"{order:.0f}",
)
everyone = torch.zeros(len(rise))
training.reproduced(
    "slope of the rise of the blow-up on rate times decay, lower end of its interval; "
    "control: decays shuffled",
    order.low,
    at_least=0,
    control=brittle.by_chance(
        lambda v: statistics.trend(strength, v).low, rise, everyone, bootstrap
    ),
    **TRAINED,
)

# %% [markdown]
# In {numref}`fig-tradeoff-paths` every line ends at its mark. On the whole training goes from right to left, as the norm falls. In the left panel, runs of PARITY start at the lower right. They first move to the right or straight up, while PARITY is learned, and then up and to the left. (With the first seed one run goes hardly to the left at all and ends near its start.) In the right panel, runs of the other functions move up and to the left from the start. They all lie nearly along one line, which at the same norm is lower than the ends of the runs of PARITY.
#
# The blow-up does rise more with more decay: the slope of the rise as a function of $\eta\lambda$ is {glue:text}`order`. To see how much this is, take the first seed: there $\eta\lambda$ lies between 0.00008 and 0.00093 in these runs, and between these ends the fitted line rises by about 1.7. The table has medians, first over the runs with more decay than in the median run, then over the rest.
#
# | runs | the norm falls by | the log blow-up rises by |
# |:--|:--|:--|
# | with more decay | {glue:text}`fall:.1f` | {glue:text}`rise:.2f` |
# | with less decay | {glue:text}`fall_less:.1f` | {glue:text}`rise_less:.2f` |
#
# Within a run with more decay, the correlation of norm and log blow-up over the second half of training is {glue:text}`along:.3f` in the median, so such a run moves nearly along a line.
#
# **What differs from the paper.** The paper's settings are those of its Table 1 and Appendix E.1, and the lengths and the number of runs are read in the authors' repository.

# %% mystnb={"code_prompt_hide": "Settings", "code_prompt_show": "Settings"} tags=["hide-input"]
table(
    brittle.differing(
        {
            "lengths": ("4 to 25, drawn", ", ".join(map(str, lengths))),
            "runs": ("sweeps of up to 1000", f"{runs_each} of each function and length"),
            "columns of the model": width,
            "strings in a step": f"{batch} drawn anew; all, where there are no more",
            "first weights": (
                "two equal layers, the read-out's bias drawn",
                "layers drawn apart, that bias 0",
            ),
            "steps of a run": steps,
            "learning rate": ("0.0001 to 0.0005", f"{rates[0]} to {rates[1]}"),
            "weight decay": (
                "0 to 0.4, drawn",
                f"{decays[0]:g} to {decays[1]:g}, one in each part",
            ),
        }
    ),
    "Every setting that differs from the paper's",
)

# %% [markdown]
# At these lengths there are at most 128 strings, so that every step of this page sees all of them. The rest is as in the paper: layers, heads, no dropout, AdamW, the definitions of norm and blow-up, and which runs count.
#
# ## What we found
#
# * The trade-off is found for every function, between runs and along a run.
# * The line of PARITY moves up with the length, by {glue:text}`told_PARITY` in $\log B$ from {glue:text}`smallest` to {glue:text}`largest` bits, and more than that of every other function. Whether the lines of the others move a little stays open.
# * The falling line alone is weak evidence, because shrinking weights produce it without any change of the function. So it is the shift that supports the message. The line is also bent.
# * At 5 bits, with the paper's width, steps, rates and decays, PARITY lies {glue:text}`wide_lead` above the nearest other, and the others {glue:text}`wide_spread:.2f` apart, so it stays open whether they are similar. In narrower models with larger rates PARITY lies farther above them.
# * Figure 10 at 10, 15 and 20 bits stays open.
#
# ## What would falsify this
#
# The picture would not be reproduced if
#
# * the curve of some function did not fall,
# * the shift of PARITY could not be distinguished from that of another function, or
# * the rise of the blow-up did not increase with decay.
#
# The picture would also be contradicted by a shift of another function of more than half that of PARITY. The sentence on 5 bits is not judged. It would be contradicted if PARITY lay farther above the others than they lie apart; the control for this ignores how far the others lie apart.
#
# All checks but two compare the end of a 95 % interval with 0. The other two compare the shifts of the other functions with that of PARITY:
#
# * One of them divides the largest of these shifts, up or down, by PARITY's and requires at most one half.
# * The other divides the farthest end of their intervals by PARITY's shift and requires at most 1.
#
# Whether the others move at all is not judged. Except for the sentence on 5 bits, the controls are the same numbers with labels shuffled (medians over 25 shuffles).

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# We read the repository `lacoco-lab/sensitivity-hardness`.
#
# * **Two layer norms a layer.** The theory has one, after the feedforward block, whereas the code has PyTorch's encoder, with a second one after attention, so the product runs over all four.
# * **No 1, no epsilon.** The code takes $1/s$ with the variance divided by $d - 1$ and without the epsilon of the layer norm; the theory has $1 + 1/\sqrt{s^2 + \varepsilon}$. A footnote of the paper says that the 1 is immaterial where the blow-up is large, but at these lengths the blow-up is not large.
# * **The last layer.** In the last layer the code looks only at the last token, which is the one that is read, and so do we.
# * **Which runs count.** The code's flag for convergence is an accuracy above 0.99, but the figures filter by a loss below 0.001.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-tradeoff-scaling
#
# *By hand.* Multiply all weights but the positions of a trained model by $c$ slightly below 1. By which power of $c$ does the blow-up change?
# ```
#
# ```{solution} ex-tradeoff-scaling
# :class: dropdown
#
# The input of a layer norm is a sum of parts that change with different powers of $c$.
#
# * The residual stream has the power 1, because it comes from the gains of the last layer norm or from the embeddings. The positions beside the token are an exception: they do not change, so they have the power 0. They are part of the input of the first norm only.
# * The block before the norm adds parts with the powers 1 to 3: its last bias has 1, an inner bias 2, and its weights 3, since two weight matrices act on a stream that has the power 1.
#
# So the deviation at the first norm changes by a power between 0 and 3, and at each of the three others by a power between 1 and 3. If attention hardly changes and the parts do not cancel, the blow-up therefore changes near $c = 1$ by a power between $-3$ and $-12$.
# ```
#
# ```{exercise}
# :label: ex-tradeoff-decay
#
# *With the computer.* Train with less weight decay, by `python -m bookkit.run sensitive/norm_blowup_tradeoff -p decays '[0.0, 0.1]' --out my_run`. Which part of the plane do the runs cover now, and what happens to the intervals of the slopes and of the shifts? What does this say about the choice of the settings in such an experiment?
# ```
#
# ```{solution-start} ex-tradeoff-decay
# :class: dropdown
# ```
#
# With little decay no run has a small norm, so all runs lie in the lower right part of the plane.
#
# | | decays up to 0.3 | decays up to 0.1 |
# |:--|:--|:--|
# | heights at the common norm, which is larger now | 1.8 to 3.2 | 0.4 to 1.2 |
# | slopes | $-0.46$ to $-0.62$ | $-0.34$ to $-0.39$ |
# | shift of PARITY | {glue:text}`shift_PARITY:.2f` | 0.44 |
#
# The slopes are smaller in size, because the line is bent and we look at its flatter end. The intervals of most slopes are wider, because the norms differ less. The shift of PARITY is still the only one whose interval leaves out 0. So the signs of slope and shift do not depend on the settings, but their sizes do. One should therefore vary decay and learning rate as widely as the paper does, and compare shifts only between experiments with the same settings.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-tradeoff-jensen
#
# *To think about.* The quantity $\log B$ in the figures is the logarithm of the mean of $B(x)$ over strings. Corollary 5 has the mean of $B^2$. Which of $\log \mathbb E B$, $\mathbb E \log B$ and $\frac12 \log \mathbb E B^2$ is largest, and when are they equal?
# ```
#
# ```{solution} ex-tradeoff-jensen
# :class: dropdown
#
# By Jensen's inequality $\mathbb E \log B \le \log \mathbb E B \le \frac12 \log \mathbb E B^2$, with equality iff $B$ is the same for all strings. So a bound on $\mathbb E B^2$ from below allows a smaller $\log \mathbb E B$, if a few strings have most of the blow-up.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`sensitive`.
