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
# (ch-sparse-parities)=
# # A parity of three bits is found suddenly, and ever later
#
# **Claim.** A one-layer transformer learns the parity of three hidden bits from fresh random strings. Its loss stays at that of guessing for most of the run and then falls to zero, as the third paper reports. When this happens is a matter of chance: runs that differ in nothing but their draws wait several times longer than others. And the mean waiting time grows steeply with the length $T$ of the strings, far more so than for an AND of three bits, though less than the number of sets of three positions. So learning is not blind search, and it does not follow a gradient that points the way from the start either.
# **Needs** {ref}`ch-sample-complexity-of-and`. **Runs in** 90 s.
#
# A run hides a set $I$ of $s = 3$ positions among $T$. Every step draws new strings $x \in \{0, 1\}^T$ of fair bits, with labels $y = \sum_{i \in I} x_i \bmod 2$. Nothing returns, so there is no training set to overfit, and the loss on a batch is an estimate of the loss on all strings. Guessing has a cross entropy of $\log 2 = 0.69$.
#
# ```{prf:remark} Edelman, Goel, Kakade and Zhang (2022), Section 5 and Figure 3
# :label: variables-fig3
# Transformers learn parities of $s = 3$ bits at $T = 10$, 15 and 20. Ten loss curves for each length stay at the level of guessing, and then fall abruptly. At lengths above 50 no run succeeds.
# ```
#
# **Why it should be hard.** At the start the gradient of the loss hardly depends on $I$: any two different parities are uncorrelated over uniform strings, so what a network computes before it knows $I$ is uncorrelated with nearly all of the $\binom T3$ candidates. Learners that see the labels through averages only need a number of steps that grows with $\binom T3$. Gradient descent on batches is such a learner, up to its noise.
#
# **What could deceive.** A run that has not learned yet when it is stopped may have been about to. Such a run is *censored*: we know that its waiting time is longer. Leaving censored runs out makes long waits look short. So we count the steps at risk: if $k$ of the runs learned, and all runs together took $N$ steps before they learned or were stopped, the *rate* is $k / N$, and the mean waiting time is estimated by $N / k$. For waiting times without memory this is the maximum-likelihood estimate, and an interval comes from the $\chi^2$ distribution with $2k$ degrees of freedom. Waiting times that vary less than that make the interval too wide, not too narrow.

# %% tags=["parameters"]
lengths = [6, 8, 10, 12, 14]  # T, bits of a string, increasing, each from 6 to 30
runs = 12  # of each length [8..40]
max_steps = 1200  # of a run [500..20000]
batch_size = 256  # strings in a step [64..2048]
width = 32  # columns of the transformer [16..64]
heads = 4  # its heads, a divisor of the width [1..16]
learning_rate = 1e-3  # of AdamW [5e-4..2e-3]
threshold = 0.05  # mean cross entropy at which a run has learned [0.02..0.1]
seed = 0  # of everything random [0..1000000]

# %% [markdown]
# ## Loss curves
#
# The model and its start are those of {ref}`ch-sample-complexity-of-and`. The loss is averaged over ten steps at a time. All runs of one length train side by side, and a run that has learned leaves.
#
# Two comparisons go with it. The AND of three bits, by the same model with the same batches, shows what a curve looks like where the gradient points the way. And the parity of half of the bits, at the middle length, shows that it is the small number of hidden bits that makes the parity learnable.

# %%
import functools
import math

import torch
from scipy import stats

from helpers.book import figures, results
from helpers.book.claims import Ledger, glue
from helpers.nets import transformer
from helpers.statistics import wilson
from helpers.training.batches import fresh
from helpers.training.train import cross_entropy, train
from helpers.variables import planted

ledger = Ledger("variables/sparse_parities")
EVERY = 10  # steps over which a loss is averaged
GUESSING = {"parity": math.log(2), "and": -math.log(1 / 8) / 8 - 7 * math.log(7 / 8) / 8}


def learn(gate, T, s, count=runs):
    """Train all runs of one kind; their loss curves, and who learned when."""
    planned = planted.plant(gate, T, s, [1000 * seed + k for k in range(count)])
    spec = planted.probe(T, width=width, heads=heads)
    return train(
        functools.partial(transformer.forward, spec),
        planted.start(spec, planned),
        fresh(planned.draw, batch_size, planned.generators),
        steps=max_steps,
        learning_rate=learning_rate,
        weight_decay=1e-4,
        loss=cross_entropy,
        check_every=EVERY,
        threshold=threshold,
    )


def onset(curve, guessing):
    """Steps until the loss is below nine tenths of guessing for good."""
    above = (curve > 0.9 * guessing).nonzero()
    return EVERY * (int(above[-1]) + 1) if len(above) else 0


records, curves = [], {}
for T in lengths:
    for gate in ("parity", "and"):
        trained = learn(gate, T, 3)
        curves[gate, T] = trained.losses
        for e in range(runs):
            steps, done = int(trained.steps[e]), bool(trained.finished[e])
            curve = trained.losses[: steps // EVERY, e]
            records.append((gate, T, e, done, steps, onset(curve, GUESSING[gate])))
middle = lengths[len(lengths) // 2]
half = learn("parity", middle, middle // 2, 6)
COLUMNS = ("gate", "T", "run", "learned", "steps", "onset")
results.save("runs", dict(zip(COLUMNS, map(list, zip(*records, strict=True)), strict=True)))
print(f"{len(records)} runs of three hidden bits")


def of(kept, gate, T):
    """Records of one gate and length."""
    return [r for r in kept if (r[0], r[1]) == (gate, T)]


def waiting(kept, gate, T):
    """Number that learned, mean waiting time and its 95 % interval, steps."""
    rows = of(kept, gate, T)
    k, total = sum(r[3] for r in rows), sum(r[4] for r in rows)
    if k == 0:
        return 0, math.inf, 2 * total / stats.chi2.ppf(0.95, 2), math.inf
    low, high = (2 * total / stats.chi2.ppf(q, 2 * k) for q in (0.975, 0.025))
    return k, total / k, low, high


# %% tags=["nbval-ignore-output"]
print("                    learned   steps: mean waiting time [95 %]     least   largest")
for gate in ("parity", "and"):
    for T in lengths:
        k, mean, low, high = waiting(records, gate, T)
        steps = [r[4] for r in of(records, gate, T)]
        print(
            f"{gate:6}  T = {T:2}    {k:6} of {runs}    {mean:8.0f} [{low:.0f}, {high:.0f}]"
            f"          {min(steps):7} {max(steps):9}"
        )
print(f"parity of {middle // 2} of {middle}: {int(half.finished.sum())} of 6")
k_all = sum(r[3] for r in records if r[0] == "parity")
glue("learned", k_all)
glue("all_runs", runs * len(lengths))
glue("first_mean", f"{waiting(records, 'parity', lengths[0])[1]:.0f}")
glue("last_mean", f"{waiting(records, 'parity', lengths[-1])[1]:.0f}")
glue("shortest", lengths[0])
glue("longest", lengths[-1])
glue("and_last", f"{waiting(records, 'and', lengths[-1])[1]:.0f}")
glue("half_learned", int(half.finished.sum()))
glue("half_bits", middle // 2)
glue("middle", middle)

# %% [markdown]
# {glue:text}`learned` of {glue:text}`all_runs` runs learned their parity within the steps allowed. The mean waiting time goes from {glue:text}`first_mean` steps at $T =$ {glue:text}`shortest` to {glue:text}`last_mean` at $T =$ {glue:text}`longest`, where the AND takes {glue:text}`and_last`. Of six runs on a parity of {glue:text}`half_bits` of {glue:text}`middle` bits, {glue:text}`half_learned` learned it ({numref}`fig-parity-curves`).

# %% mystnb={"figure": {"caption": "Cross entropy against steps, mean over ten steps, one line a run: parity of three bits (colour) and AND of three bits (grey). The dashed lines are the losses of guessing. Curves end where a run has learned, or at the last step allowed.", "name": "fig-parity-curves"}, "image": {"alt": "Panels, one for each length. Grey curves of the AND fall smoothly to zero within the first hundred steps. Coloured curves of the parity lie on the upper dashed line and then drop to zero within a few dozen steps, at times that are scattered widely and later on average in longer strings; some never drop."}} tags=["hide-input"]
rows = -(-len(lengths) // 2)
fig, axes = figures.new(rows, 2, height=2.3 * rows, sharey=True, squeeze=False)
for ax in axes.flatten()[len(lengths) :]:
    ax.set_visible(False)
for ax, T in zip(axes.flatten(), lengths, strict=False):
    for gate, colour in (("and", figures.GREY), ("parity", figures.COLOURS[0])):
        for e in range(runs):
            curve = curves[gate, T][:, e]
            curve = curve[curve.isfinite()]
            at = [EVERY * (k + 1) for k in range(len(curve))]
            ax.plot(at, curve, color=colour, linestyle="-", marker="", linewidth=0.9)
        ax.axhline(GUESSING[gate], color="black", linestyle="--", linewidth=0.8, marker="")
    ax.set(xscale="log", title=f"$T = {T}$", ylim=(-0.02, 0.8))
    ax.set_xlim(EVERY, max_steps)
for ax in axes[-1]:
    ax.set_xlabel("step")
for ax in axes[:, 0]:
    ax.set_ylabel("cross entropy")
figures.show()

# %% [markdown]
# ## How sudden, and how random?
#
# The *onset* of a run is the step from which its loss stays below nine tenths of guessing. The share of its time that a run spends before its onset says how sudden learning is. For the randomness we plot the share of runs that have not learned yet, with censored runs counted while they last (the estimate of Kaplan and Meier), against time divided by the mean. A process without memory has the curve $e^{-t}$.


# %%
def plateau(kept, gate):
    """Shares of time before the onset, of the runs that learned."""
    return torch.tensor([r[5] / r[4] for r in kept if r[0] == gate and r[3]], dtype=torch.float64)


def survival(rows):
    """Times, and the share that has not learned after each, censored runs at risk until they end."""
    at, share, times, shares = len(rows), 1.0, [0.0], [1.0]
    for _, _, _, done, steps, _ in sorted(rows, key=lambda r: (r[4], not r[3])):
        if done:
            share *= 1 - 1 / at
            times.append(float(steps))
            shares.append(share)
        at -= 1
    return times, shares


def variation(kept, gate, at):
    """Standard deviation of the waiting times over their mean, pooled over lengths where all learned."""
    found = []
    for T in at:
        steps = torch.tensor([r[4] for r in of(kept, gate, T) if r[3]], dtype=torch.float64)
        if len(steps) == len(of(kept, gate, T)):
            found.append((steps.var() / steps.mean() ** 2).item())
    return math.sqrt(sum(found) / len(found)) if found else math.nan


def growth(kept, gate, at, draws, generator):
    """Power of T in the mean waiting time, and its 95 % interval by redrawing runs."""
    x = torch.tensor(at, dtype=torch.float64).log()
    x = x - x.mean()

    def slope(groups):
        done = torch.tensor([[float(r[3]) for r in g] for g in groups])
        steps = torch.tensor([[float(r[4]) for r in g] for g in groups])
        mean = steps.sum(1) / done.sum(1).clamp(min=0.5)
        return ((mean.double().log() @ x) / x.square().sum()).item()

    groups = [of(kept, gate, T) for T in at]
    again = []
    for _ in range(draws):
        picks = [torch.randint(len(g), (len(g),), generator=generator).tolist() for g in groups]
        again.append(slope([[g[i] for i in p] for g, p in zip(groups, picks, strict=True)]))
    ends = torch.tensor(again).quantile(torch.tensor([0.025, 0.975])).tolist()
    return slope(groups), *ends


# %% tags=["nbval-ignore-output"]
generator = torch.Generator().manual_seed(seed)
power = {gate: growth(records, gate, lengths, 500, generator) for gate in ("parity", "and")}
shares = {gate: plateau(records, gate) for gate in ("parity", "and")}
sets = math.log(math.comb(lengths[-1], 3) / math.comb(lengths[0], 3)) / math.log(
    lengths[-1] / lengths[0]
)
for gate in ("parity", "and"):
    quartiles = shares[gate].quantile(torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)).tolist()
    print(
        f"{gate:6}  time before the onset, quartiles: "
        + " ".join(f"{v:.2f}" for v in quartiles)
        + f"   power of T {power[gate][0]:.2f} [{power[gate][1]:.2f}, {power[gate][2]:.2f}]"
        + f"   standard deviation over mean {variation(records, gate, lengths):.2f}"
    )
print(f"number of sets of three: power {sets:.2f} between these lengths")
glue("plateau", f"{100 * shares['parity'].median():.0f}")
glue("plateau_and", f"{100 * shares['and'].median():.0f}")
glue("power", f"{power['parity'][0]:.1f}")
glue("power_low", f"{power['parity'][1]:.1f}")
glue("power_high", f"{power['parity'][2]:.1f}")
glue("power_and", f"{power['and'][0]:.1f}")
glue("sets_power", f"{sets:.1f}")
glue("spread", f"{variation(records, 'parity', lengths):.1f}")
glue("ten", f"{100 * variation(records, 'parity', lengths) / math.sqrt(10):.0f}")
glue("batch", batch_size)
glue("spread_and", f"{variation(records, 'and', lengths):.1f}")

# %% [markdown]
# In the median a run that learns its parity spends {glue:text}`plateau` % of its time before the onset, and {glue:text}`plateau_and` % with the AND. Where all runs learned, the standard deviation of the waiting times is {glue:text}`spread` of their mean; it would be 1 for a process without memory, such as drawing sets at random until the right one comes, and it is {glue:text}`spread_and` for the AND. The mean waiting time grows like $T$ to the power {glue:text}`power` (95 %: {glue:text}`power_low` to {glue:text}`power_high`), the number of sets of three like {glue:text}`sets_power` between these lengths, the waiting time of the AND like {glue:text}`power_and`.

# %% mystnb={"figure": {"caption": "Left: share of runs that have not learned yet, against time over the mean waiting time of their length; dashed, a process without memory. Right: mean waiting time against length, with 95 % intervals, for the parity and the AND; dashed, proportional to the number of sets of three positions.", "name": "fig-parity-waiting"}, "image": {"alt": "Left, stepped curves, one a length, fall from one around the dashed exponential curve. Right, on logarithmic axes, the parity's waiting time rises steeply, about parallel to the dashed line, while that of the AND is almost flat."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.3)
for i, T in enumerate(lengths):
    times, left = survival(of(records, "parity", T))
    mean = waiting(records, "parity", T)[1]
    axes[0].step(
        [t / mean for t in times],
        left,
        where="post",
        color=figures.COLOURS[i % 7],
        linestyle=figures.DASHES[i % 7],
        label=f"$T = {T}$",
    )
grid = torch.linspace(0, 3, 60)
axes[0].plot(grid, (-grid).exp(), "--", color=figures.GREY, marker="", label="no memory")
axes[0].set(xlabel="steps / mean", ylabel="share not yet learned", ylim=(-0.02, 1.02))
axes[0].legend(fontsize=8)
for i, gate in enumerate(("parity", "and")):
    rows = [waiting(records, gate, T)[1:] for T in lengths]
    error = torch.tensor([[m - a, b - m] for m, a, b in rows]).T.clamp(0, 1e9)
    axes[1].errorbar(
        lengths,
        [m for m, _, _ in rows],
        error,
        color=figures.COLOURS[i],
        marker=figures.MARKERS[i],
        linestyle="-",
        capsize=3,
        label=gate.upper() if gate == "and" else gate,
    )
first = waiting(records, "parity", lengths[0])[1] / math.comb(lengths[0], 3)
axes[1].plot(lengths, [first * math.comb(T, 3) for T in lengths], "--", color="black", marker="")
axes[1].set(xscale="log", yscale="log", xlabel="length $T$", ylabel="mean waiting time (steps)")
axes[1].set_xticks(lengths, [str(T) for T in lengths])
axes[1].minorticks_off()
axes[1].legend()
figures.show()

# %% [markdown]
# ## Longer strings
#
# The paper has $T = 10, 15, 20$, 64 columns, 16 heads and batches of 2048. `--preset paper` runs such lengths. What is stored of it:

# %%
stored = results.load("variables/sparse_parities", "runs")
if stored is None:
    print("No longer run is stored here.")
else:
    kept = [
        (gate, T, e, done == "True", steps, start)
        for gate, T, e, done, steps, start in zip(*(stored[c] for c in COLUMNS), strict=True)
    ]
    tall = sorted(set(stored["T"]))
    for T in tall:
        k, mean, low, high = waiting(kept, "parity", T)
        print(
            f"T = {T:2}: {k} of {len(of(kept, 'parity', T))} learned, mean waiting time {mean:.0f} [{low:.0f}, {high:.0f}]"
        )
    slope = growth(kept, "parity", tall, 500, torch.Generator().manual_seed(0))
    print("power of T {:.2f} [{:.2f}, {:.2f}]".format(*slope))
    print(stored.provenance_line())

# %% [markdown]
# ## What would falsify this
#
# Parities that are not learned: the control has more hidden bits. A loss that falls gradually: the control is the AND. A waiting time that does not grow: the control is again the AND. The first two claims are about the two shortest lengths, where nearly all runs end in time.

# %% tags=["nbval-ignore-output"]
short = [r for T in lengths[:2] for r in of(records, "parity", T)]
ledger.check(
    "variables.fig3",
    "share of runs that learn, two shortest lengths, lower end of 95 %; control: more hidden bits",
    measured=wilson(sum(r[3] for r in short), len(short))[1],
    at_least=0.5,
    control=wilson(int(half.finished.sum()), 6)[1],
    expect="reproduced",
)
ledger.check(
    "variables.fig3",
    "share of a run's time before its onset, median; control: AND",
    measured=shares["parity"].median(),
    at_least=0.5,
    control=shares["and"].median(),
    expect="reproduced",
)
ledger.check(
    "variables.fig3",
    "power of $T$ in the mean waiting time, lower end of 95 %; control: AND",
    measured=power["parity"][1],
    at_least=1,
    control=power["and"][1],
)
ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# No code of these experiments is published. The paper's model is wider, its batches are eight times larger, and it uses dropout. It shows ten curves a length and gives no distribution and no growth: "rather than to measure any particular trend".
#
# ## What we found
#
# * Abrupt transitions are real: {glue:text}`plateau` % of a run is spent at the level of guessing.
# * They come at random times: the standard deviation is {glue:text}`spread` of the mean. Ten curves of one length give its mean to no better than {glue:text}`ten` %.
# * The mean waiting time grows like $T$ to the power {glue:text}`power` ({glue:text}`power_low` to {glue:text}`power_high`); the number of candidates grows with the power {glue:text}`sets_power` between these lengths, the waiting time of the AND with {glue:text}`power_and`. The paper leaves open why local search succeeds where theory asks for exhaustive search. Part of the answer is that it does not succeed quickly: the price in steps is a high power of $T$ too, and a step here sees {glue:text}`batch` strings.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Waiting times without memory: what is the chance that none of ten runs learns within twice the mean waiting time? And that all ten learn within half of it?
# ```

# %% tags=["hide-cell"]
# None within twice the mean: e^-2 for each. All within half of it: 1 - e^(-1/2) for each.
print(f"none: {math.exp(-2) ** 10:.1e}; all: {(1 - math.exp(-0.5)) ** 10:.1e}")

# %% [markdown]
# ```{admonition} Exercise 2
# Let $g$ be a function of $x$ with values in $[-1, 1]$. Show that its correlations with the $\binom T3$ parities of three bits have squares that add up to at most 1. What does this say about a step of gradient descent before $I$ is known?
# ```

# %% [markdown] tags=["hide-cell"]
# The correlations are Fourier coefficients of $g$ ({ref}`ch-fourier-walsh`), so their squares add up to at most $\mathbb E g^2 \le 1$. For a random $I$ the expected square is at most $1 / \binom T3$. The part of a gradient that depends on $I$ is such a correlation, with $g$ the derivative of the loss's labels-free part, scaled. So its size is of the order of $\binom T3^{-1/2}$, and a batch of $B$ strings, whose noise is of the order of $B^{-1/2}$, hides it unless $B$ is of the order of $\binom T3$.

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`variables`.
