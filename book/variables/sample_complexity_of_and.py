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
# **Claim.** A one-layer transformer learns the AND of three hidden bits among $T$ from far fewer than $T$-proportional samples: from $T = 10$ to 80 the sample size at which half of the trials succeed grows more slowly than $T$, as the third paper reports for $T$ from 100 to 800. A linear classifier trained on the same task, which could represent the AND too, needs samples in proportion to $T$. Whether the transformer's growth is a power or a logarithm, the experiment cannot tell, here or in the paper.
# **Needs** {ref}`ch-capacity`. **Runs in** 150 s. **Source** printed.
#
# A *trial* hides a set $I$ of $s = 3$ positions among $T$, uniformly at random. It draws $m$ strings $x \in \{0, 1\}^T$ of independent fair bits, with labels $y = \prod_{i \in I} x_i$, and trains a transformer on these $m$ pairs. One label in eight is 1. The trial is a *success* if at some time the network is right on more than 99 % of new strings. The *critical sample size* $m^*(T)$ is where half of the trials succeed.
#
# ```{prf:remark} Edelman, Goel, Kakade and Zhang (2022), Section 5, Figures 2 and 4
# :label: variables-fig2
# For $T$ from 100 to 800 the critical sample size grows sublinearly with $T$. Between failure and success there is no sharp threshold. Every run fits its training set.
# ```
#
# **Why it should be so.** There are $\binom T3$ sets to choose from, and a label carries at most $h(\frac18) = 0.54$ bits. So no learner can do with fewer than $\log_2 \binom T3 / 0.54$ samples, and one that goes through all sets hardly needs more. That number grows like $3 \log_2 T$. The paper's capacity bounds for attention heads also grow with $\log T$ only. A learner whose capacity is that of $T$ free weights needs of the order of $T$.
#
# **What could deceive.** With few trials the share of successes is a noisy number, and its crossing of one half noisier. We fit a nondecreasing curve to the shares before we read off $m^*$, and redraw the trials for intervals. And a power below 1 proves little if *any* learner would show it. So a linear classifier takes the same test.

# %% tags=["parameters"]
lengths = [10, 20, 40, 80]  # T, bits of a string, increasing, each from 10 to 800
sizes = [16, 23, 32, 45, 64, 91, 128, 181]  # m, samples, increasing, each from 8 to 1000
trials = 20  # of each length and size [8..50]
steps = 140  # of a trial, each on all of its samples [120..1000]
width = 32  # columns of the transformer [16..64]
heads = 4  # its heads, a divisor of the width [1..16]
learning_rate = 1e-3  # of AdamW [5e-4..3e-3]
fresh = 1000  # new strings on which a trial is judged [500..10000]
linear_multiples = [2, 3, 4, 6, 8, 12, 16]  # samples of the linear classifier, over T
redraws = 1000  # of the bootstrap [200..10000]
seed = 0  # of all trials [0..1000000]

# %% [markdown]
# ## Training
#
# The transformer is the paper's, smaller: one layer, 4 heads, 32 columns, layer norm before each block, a feedforward block of 128 units, learned positions, and two logits read at a class token that is appended to the string. All embeddings start at a standard deviation of 0.02. AdamW with rate $10^{-3}$ and weight decay $10^{-4}$ takes steps on the whole sample. Every ten steps the new strings are scored; a success leaves the stack. All trials of one length and size train side by side.
#
# The linear classifier has the bits as $\pm1$, one weight a bit and a bias for each label, and the same loss and optimiser with rate 0.03. Its sizes are multiples of $T$.

# %%
import functools
import itertools
import math

import torch

from helpers.book import figures, results
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.nets import baselines, transformer
from helpers.statistics import ends, wilson
from helpers.training.batches import fixed
from helpers.training.train import cross_entropy, train
from helpers.variables import planted

ledger = Ledger("variables/sample_complexity_of_and")
S = 3


def plant(T, m, kind):
    """Trials of their own for each length, size and learner."""
    first = 1000 * seed + (500_000_000 if kind == "linear" else 0)
    return planted.plant("and", T, S, [1_000_000_000 * m + first + k for k in range(trials)])


def learn(T, m, kind):
    """Train all trials of one length and size; one record each, in the order of COLUMNS."""
    planned = plant(T, m, kind)
    new, sample = planned.sample(fresh), planned.sample(m)
    if kind == "linear":
        spec = baselines.FeedforwardSpec(T, (), 2)
        starts = [baselines.initial_weights(spec, None, g) for g in planned.generators]
        weights = {name: torch.stack([w[name] for w in starts]) for name in starts[0]}
        forward = lambda w, x: baselines.forward(spec, w, 1 - 2 * x.float())  # noqa: E731
    else:
        spec = planted.probe(T, width=width, heads=heads)
        weights = planted.start(spec, planned)
        forward = functools.partial(transformer.forward, spec)
    trained = train(
        forward,
        weights,
        fixed(*sample, m, planned.generators),
        steps=steps,
        learning_rate=0.03 if kind == "linear" else learning_rate,
        weight_decay=1e-4,
        loss=cross_entropy,
        evaluate=planted.errors(forward, *new),
        check_every=10,
        threshold=0.01,
    )
    everyone = torch.arange(trials)
    with torch.no_grad():
        wrong = [planted.errors(forward, *of)(trained.weights, everyone) for of in (sample, new)]
    records = trained.finished, trained.steps, *wrong
    return [(kind, T, m, *r) for r in zip(*(v.tolist() for v in records), strict=True)]


COLUMNS = ("learner", "T", "m", "success", "steps", "wrong", "wrong_new")
runs = []
for T in lengths:
    for m in sizes:
        runs += learn(T, m, "transformer")
    for multiple in linear_multiples:
        runs += learn(T, multiple * T, "linear")
results.save("trials", dict(zip(COLUMNS, map(list, zip(*runs, strict=True)), strict=True)))
print(f"{len(runs)} trials")

# %% [markdown]
# ## The critical size

# %% tags=["nbval-ignore-output"]
generator = torch.Generator().manual_seed(seed)


def outcomes(records, learner, T):
    """Sizes, and successes as 0 and 1, one row of trials a size."""
    rows = {}
    for name, length, m, done, *_ in records:
        if (name, length) == (learner, T):
            rows.setdefault(m, []).append(float(done))
    tried = sorted(rows)
    return tried, torch.tensor([rows[m] for m in tried], dtype=torch.float64)


def redrawn(successes):
    """Shares of successes, the trials of each size drawn anew, (redraws, sizes)."""
    M, E = successes.shape
    picks = torch.randint(E, (redraws, M, E), generator=generator)
    return successes.expand(redraws, M, E).gather(-1, picks).mean(-1)


def critical(records, learner, T):
    """m* and its redraws, (redraws,)."""
    tried, successes = outcomes(records, learner, T)
    again = [planted.critical_size(tried, shares) for shares in redrawn(successes)]
    found = planted.critical_size(tried, successes.mean(1))
    return found, torch.tensor(again, dtype=torch.float64)


def power(values, at):
    """Slope of log m* over log T by least squares, for rows (*, lengths), where m* may be inf."""
    x = torch.tensor(at, dtype=torch.float64).log()
    x = x - x.mean()
    return (values.log() @ x) / x.square().sum()


def summary(records, learner, at):
    """m* and interval of each length, power and interval."""
    found = [critical(records, learner, T) for T in at]
    values = torch.tensor([m for m, _ in found], dtype=torch.float64)
    draws = torch.stack([again for _, again in found], -1)
    intervals = [ends(again) for _, again in found]
    return values.tolist(), intervals, power(values, at).item(), ends(power(draws, at))


def floor(T):
    """Fewest samples that can tell the sets apart, in bits of labels."""
    entropy = -(math.log2(1 / 8) / 8 + math.log2(7 / 8) * 7 / 8)
    return math.log2(math.comb(T, S)) / entropy


critical_sizes = {}
for learner in ("transformer", "linear"):
    critical_sizes[learner] = summary(runs, learner, lengths)
    if not math.isfinite(critical_sizes[learner][2]):
        raise ValueError(
            f"half of the {learner} trials succeed at no size for some length, m* = "
            f"{critical_sizes[learner][0]}; give more steps than {steps}, or larger sizes"
        )
    print(learner)
    for T, value, (low, high) in zip(lengths, *critical_sizes[learner][:2], strict=True):
        tried, successes = outcomes(runs, learner, T)
        shares = " ".join(f"{m}:{v:.2f}" for m, v in zip(tried, successes.mean(1), strict=True))
        print(
            f"  T = {T:3}  m* {value:6.1f} [{low:.1f}, {high:.1f}]   floor {floor(T):.1f}   {shares}"
        )
    print(
        "  power {:.2f} [{:.2f}, {:.2f}]".format(
            *critical_sizes[learner][2:3], *critical_sizes[learner][3]
        )
    )
values, intervals, exponent, (low, high) = critical_sizes["transformer"]
glue(
    power=f"{exponent:.2f}",
    power_low=f"{low:.2f}",
    power_high=f"{high:.2f}",
    linear_power=f"{critical_sizes['linear'][2]:.2f}",
    linear_low=f"{critical_sizes['linear'][3][0]:.2f}",
    linear_high=f"{critical_sizes['linear'][3][1]:.2f}",
)
middle = math.sqrt(lengths[0] * lengths[-1])
glue(
    log_power=f"{1 / math.log(middle):.2f}",
    shortest=lengths[0],
    longest=lengths[-1],
    first=f"{values[0]:.0f}",
    last=f"{values[-1]:.0f}",
    linear_last=f"{critical_sizes['linear'][0][-1]:.0f}",
    floor_last=f"{floor(lengths[-1]):.0f}",
    local_powers=", ".join(
        f"{math.log(b / a) / math.log(v / u):.2f}"
        for (a, b), (u, v) in zip(
            itertools.pairwise(values), itertools.pairwise(lengths), strict=True
        )
    ),
)

# %% [markdown]
# From $T =$ {glue:text}`shortest` to {glue:text}`longest` the transformer's critical size goes from {glue:text}`first` to {glue:text}`last` samples: a power of {glue:text}`power` of $T$, with a 95 % interval of {glue:text}`power_low` to {glue:text}`power_high`. The linear classifier's power is {glue:text}`linear_power` ({glue:text}`linear_low` to {glue:text}`linear_high`), and at $T =$ {glue:text}`longest` it needs {glue:text}`linear_last` samples. No learner at all can do with fewer than {glue:text}`floor_last` there. A quantity proportional to $\log T$ would show a power of about {glue:text}`log_power` between these lengths.

# %% mystnb={"figure": {"caption": "Left: share of successful trials against the number of samples, one curve a length, with 95 % intervals (Wilson); thin lines are the nondecreasing fits. Right: the sample size at which half of the trials succeed, with 95 % bootstrap intervals, for the transformer and for a linear classifier. Dashed: a multiple of $T$. Dotted: the fewest samples that can tell the sets apart.", "name": "fig-and-critical"}, "image": {"alt": "Left, three rising curves of the share of successes, from near zero at sixteen samples to near one at 181, those of longer strings further to the right. Right, on logarithmic axes, the transformer's critical size rises slowly, close to parallel to the dotted floor, while that of the linear classifier rises along a dashed line of slope one, far above."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.5)
for i, T in enumerate(lengths):
    tried, successes = outcomes(runs, "transformer", T)
    rows = [wilson(int(row.sum()), len(row)) for row in successes]
    look = {"color": figures.COLOURS[i % 7], "marker": figures.MARKERS[i % 7]}
    axes[0].plot(tried, [r[0] for r in rows], linestyle="none", label=f"$T = {T}$", **look)
    figures.interval(
        axes[0], tried, [r[1] for r in rows], [r[2] for r in rows], color=look["color"]
    )
    fitted = planted.nondecreasing(successes.mean(1))
    axes[0].plot(tried, fitted, color=look["color"], marker="", linestyle=figures.DASHES[i % 7])
axes[0].axhline(0.5, color=figures.GREY, linewidth=1, linestyle="--", marker="")
axes[0].set_xscale("log", base=2)
axes[0].set(xlabel="samples $m$", ylabel="share of successes", ylim=(-0.03, 1.03))
axes[0].set_xticks(sizes[::2], [str(m) for m in sizes[::2]])
axes[0].legend(loc="upper left")
for i, (learner, (found, spread, *_)) in enumerate(critical_sizes.items()):
    error = [[v - a for v, (a, _) in zip(found, spread, strict=True)]]
    error += [[b - v for v, (_, b) in zip(found, spread, strict=True)]]
    axes[1].errorbar(
        lengths,
        found,
        torch.tensor(error).clamp(0, 1e6),
        color=figures.COLOURS[i],
        marker=figures.MARKERS[i],
        linestyle="-",
        capsize=3,
        label=learner,
    )
line = critical_sizes["linear"][0][0] / lengths[0]
axes[1].plot(lengths, [line * T for T in lengths], "--", color=figures.GREY, marker="")
axes[1].plot(lengths, [floor(T) for T in lengths], ":", color="black", marker="", label="floor")
axes[1].set(xscale="log", yscale="log", xlabel="length $T$", ylabel="critical size $m^*$")
axes[1].set_xticks(lengths, [str(T) for T in lengths])
ticks = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]
axes[1].set_yticks(ticks, [str(m) for m in ticks])
axes[1].set_ylim(0.8 * floor(lengths[0]), 3 * critical_sizes["linear"][0][-1])
axes[1].minorticks_off()
axes[1].legend(loc="upper left", fontsize=8)
figures.show()

# %% [markdown]
# ## Two regimes
#
# A trial that fails does not fail to fit. {numref}`fig-and-curves` follows eight trials in the middle length, with few samples and with many.

# %%
CURVES = ("overfitting", "correct")
T_shown = lengths[len(lengths) // 2]
shown = dict(zip(CURVES, (sizes[len(sizes) // 4], sizes[-1]), strict=True))
followed = {}
for name, m in shown.items():
    planned = planted.plant("and", T_shown, S, [seed * 100 + k for k in range(8)])
    new, sample = planned.sample(fresh), planned.sample(m)
    spec = planted.probe(T_shown, width=width, heads=heads)
    forward = functools.partial(transformer.forward, spec)
    followed[name] = train(
        forward,
        planted.start(spec, planned),
        fixed(*sample, m, planned.generators),
        steps=steps,
        learning_rate=learning_rate,
        weight_decay=1e-4,
        loss=cross_entropy,
        check_every=5,
        metrics={
            "training": planted.errors(forward, *sample),
            "new": planted.errors(forward, *new),
        },
    )
fitted = min(1 - (run.metrics["training"][-1]).max().item() for run in followed.values())
print(f"T = {T_shown}, m = {shown['overfitting']} and {shown['correct']}")
print("all sixteen fit their samples:", fitted == 1)

# %% mystnb={"figure": {"caption": "Share of wrong answers during training, eight trials each: on the sample (grey) and on new strings (colour). Answering 0 always is wrong on one string in eight (dashed).", "name": "fig-and-curves"}, "image": {"alt": "Two panels. In both the grey curves fall to zero within a hundred steps. With few samples most coloured curves stay at or above the dashed line of one eighth; with many samples all of them fall to zero together with the grey ones."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=2.9, sharey=True)
for ax, name in zip(axes, CURVES, strict=True):
    run = followed[name]
    at = [5 * (k + 1) for k in range(len(run.metrics["new"]))]
    for e in range(8):
        for key, colour in (("training", figures.GREY), ("new", figures.COLOURS[0])):
            ax.plot(at, run.metrics[key][:, e], color=colour, marker="", linestyle="-", linewidth=1)
    ax.axhline(1 / 8, color="black", linestyle="--", linewidth=1, marker="")
    ax.set(xlabel="step", title=f"{shown[name]} samples, $T = {T_shown}$", ylim=(-0.01, 0.3))
axes[0].set_ylabel("share of wrong answers")
figures.show()

# %% [markdown]
# ## Longer strings
#
# The paper has $T$ from 100 to 800, 64 columns, 16 heads, 1000 steps and 50 trials; our lengths end where the paper's begin. `--preset paper` runs the experiment at such lengths. What is stored of it:

# %%
stored = results.load("variables/sample_complexity_of_and", "trials")
if stored is None:
    print("No longer run is stored here.")
else:
    kept = [
        (name, T, m, done == "True")
        for name, T, m, done in zip(*(stored[c] for c in COLUMNS[:4]), strict=True)
    ]
    tall = sorted({T for _, T, _, _ in kept})
    for learner in ("transformer", "linear"):
        found, spread, slope, (a, b) = summary(kept, learner, tall)
        print(f"{learner}: power {slope:.2f} [{a:.2f}, {b:.2f}]")
        for T, value, (below, above) in zip(tall, found, spread, strict=True):
            share = outcomes(kept, learner, T)[1]
            print(
                f"  T = {T:3}  m* {value:7.1f} [{below:.1f}, {above:.1f}]   {share.numel()} trials"
            )
    print(stored.provenance_line())

# %% [markdown]
# ## What would falsify this
#
# A power of 1 or more: the control is the linear classifier, whose power reaches 1. Shares that do not rise with the sample: the control is the smallest sample. A trial that fails because it does not fit: the control are new strings, for the same trials.

# %% tags=["nbval-ignore-output"]


def spread_of(learner, T):
    """Sample size for eight successes in ten over that for two in ten."""
    tried, successes = outcomes(runs, learner, T)
    share = successes.mean(1)
    return planted.critical_size(tried, share, 0.8) / planted.critical_size(tried, share, 0.2)


failed = [r for r in runs if r[0] == "transformer" and not r[3]]
unfit = sum(r[5] > 0 for r in failed) / len(failed)
unknown = sum(r[6] > 0 for r in failed) / len(failed)
spreads = [spread_of("transformer", T) for T in lengths]
smallest = max(outcomes(runs, "transformer", T)[1][0].mean().item() for T in lengths)
largest = min(outcomes(runs, "transformer", T)[1][-1].mean().item() for T in lengths)
reached = [v for v in spreads if math.isfinite(v)]
glue(
    spread_low=f"{min(reached):.1f}" if reached else "more than the grid spans",
    spread_high=f"{max(reached):.1f}" if reached else "more",
)
ledger.result("variables.fig2").reproduced(
    f"power of $T$ in the critical sample size, $T$ from {lengths[0]} to {lengths[-1]}, upper end; control: linear classifier",
    critical_sizes["transformer"][3][1],
    at_most=1,
    control=critical_sizes["linear"][3][1],
    about="experiment",
    evidence="trained",
)
ledger.result("variables.fig2.shares").reproduced(
    "share of successes with the largest sample, least of all lengths; control: the smallest",
    largest,
    at_least=0.5,
    control=smallest,
    about="experiment",
    evidence="trained",
)
ledger.result("variables.fig2.fit").reproduced(
    "share of failed trials that do not fit their sample; control: new strings",
    unfit,
    at_most=0.02,
    control=unknown,
    about="experiment",
    evidence="trained",
)
ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# No code of the paper's experiments is published; Appendix C.1 describes them. The paper has 64 columns and 16 heads, drops a tenth of attention weights, embeddings and outputs in training, takes 1000 steps, judges on $10^4$ strings, and makes 50 trials of each length and size. It reads off $m^*$ as the smallest size with more than half of the trials successful, which a lucky size can lower; we fit a nondecreasing curve first. It has no other learner on the same task.
#
# ## What we found
#
# * The critical size grows with a power of {glue:text}`power` of $T$ ({glue:text}`power_low` to {glue:text}`power_high`), far below the linear classifier's {glue:text}`linear_power`.
# * That is sublinear over these lengths, from {glue:text}`shortest` to {glue:text}`longest`. Between neighbouring lengths the power is {glue:text}`local_powers`: it rises, so a straight line through all of them does not foretell longer strings. At the paper's lengths we have not redone the experiment.
# * A quantity proportional to $\log T$ would show {glue:text}`log_power` here. Lengths that span a factor of eight, here and in the paper, do not tell a small power from a logarithm.
# * There is no sharp threshold: from two successes in ten to eight the sample grows by a factor of {glue:text}`spread_low` to {glue:text}`spread_high`, depending on the length.
# * Trials that succeed do so early. Those that do not have fitted their sample by then and stay as they are.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# A learner goes through all sets of three positions and answers with the first that fits the sample. At which $m$ does half of its trials succeed?
# ```


# %% tags=["hide-cell"]
# It fails if a wrong set fits. A set that shares no position with I agrees on a string with probability 25/32.
def searched(T, m, seed):
    """Whether the hidden set is the only one that fits."""
    planned = planted.plant("and", T, S, [seed])
    bits, labels = (part[0] for part in planned.sample(m))
    sets = torch.combinations(torch.arange(T), S)
    return int((bits[:, sets].all(-1) == labels[:, None]).all(0).sum()) == 1


for T in (20, 40):
    tried = [8, 12, 16, 24, 32, 48]
    shares = torch.tensor([sum(searched(T, m, k) for k in range(40)) / 40 for m in tried])
    print(f"T = {T}: m* about {planted.critical_size(tried, shares):.0f}, floor {floor(T):.0f}")

# %% [markdown]
# ```{admonition} Exercise 2
# Why does a linear classifier need of the order of $T$ samples, although the AND is $\mathbb 1[x_1 + x_2 + x_3 > \frac52]$ and three weights would do?
# ```

# %% [markdown] tags=["hide-cell"]
# Nothing in the classifier or its training tells three large weights from $T$ small ones of the same norm: turn the inputs, and the trained weights turn with them. Such a learner has to estimate a direction in $\mathbb R^T$, and the noise in each coordinate adds up, to a total proportional to $T/m$. Attention is not indifferent to turns: its softmax weights are a distribution over positions, and moving weight to three of them costs logits of the order of $\log T$ only.

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`variables`.
