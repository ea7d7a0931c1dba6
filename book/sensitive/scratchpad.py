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
# (ch-scratchpad)=
# # A scratchpad makes each step insensitive
#
# ```{verdict}
# Yes, a transformer with a scratchpad learns PARITY step by step and stays flat, at all lengths tried, {glue:text}`smallest` to {glue:text}`longest` bits. If answers are counted as $\pm 1$, the mean squared change of its outputs under a small random change of the weights is {glue:text}`sharp_smallest:.3f` at {glue:text}`smallest` bits and {glue:text}`sharp_longest:.3f` at {glue:text}`longest` bits. A change that turned the model into a constant would give 1 or more. Whether all states are right when a model reads its own scratchpad was tested only up to {glue:text}`largest` bits.
# ```
# **Needs** {ref}`ch-automaton-steps`, {ref}`ch-sharpness-vs-length`. **Read** 10 min. **Runs in** 30 s. **Source** printed.
#
# **Claim.** Asked for the states of PARITY one after the other, a model needs two bits at each step ({ref}`ch-automaton-steps`). Transformers that learn PARITY in this way are no sharper on long strings than on short ones, and about as sharp at a late step as at an early one. If the scratchpad is blanked, the same model becomes sharper as a step depends on more bits.
#
# ## Why one should care
#
# PARITY of a long string is hard for a transformer, because every network that computes it is brittle: small changes of its weights destroy the function. Theorem 7 says that each step with a scratchpad is an insensitive function, so that this obstacle is gone ({ref}`ch-automaton-steps`). But the theorem does not say what a trained model does. A model that sees the right scratchpad in training could learn to ignore it and to compute the parity of the whole prefix, which fits the same strings. It could also use the scratchpad and still be sharp, because low sensitivity makes flat solutions possible and does not make training find them. So we train models and measure what they do.
#
# ## Five bits by hand
#
# Take the string 1, 1, 0, 1, 0. The model writes the parities of its prefixes, so the scratchpad is 1, 0, 0, 1, 1, and the last entry is the answer. At the fourth step it has read the string and what it wrote before, $0, 1, 0, 0$ with a leading 0, and it has to write $t_4$. Two functions give the right value:
#
# * *Use the scratchpad.* The new state is the sum modulo 2 of the last entry and the fourth bit, $0 \oplus 1 = 1$. Flips of these two bits matter, and of no others.
# * *Ignore it.* The new state is the parity of the first four bits, $1 \oplus 1 \oplus 0 \oplus 1 = 1$. Flips of four bits matter, and at step $i$ flips of $i$ bits.
#
# On every correct scratchpad the two agree. To find out which of them a model computes, we show it a wrong one. If the last entry is changed from 0 to 1, the first function answers $1 \oplus 1 = 0$, and the second still answers 1. And to see what the scratchpad is worth, we compare with a model whose scratchpad is *blank*, so that it has only the second function to learn.
#
# ## The statement
#
# ```{prf:remark} Hahn and Rofin (2024), Section 7.2 and Figure 11
# :label: sensitive-fig11
# An encoder-decoder transformer of width 32, with two layers of two heads, writes the parities $t_i$ of the first $i$ bits. Its sharpness "stays low even at hundreds of bits and shows no clear increase with length".
# ```
#
# We train a causal transformer of the same size on $x_1 \dots x_n$ followed by $0, t_1, \dots, t_{n-1}$. A token attends to itself and to those before it. Training shows the right scratchpad (*teacher forcing*) and asks for all $n$ states, with targets in $\{0, 1\}$ and a squared loss. A run stops once its loss is below $3 \cdot 10^{-4}$, so that all lengths are compared at one loss.
#
# *Sharpness* is 4 times the mean squared change of an output under Gaussian noise of standard deviation $\sigma$ in all weights but the position vectors. For a model of PARITY that the noise turns into a constant, the sharpness is 1, if the constant is $\frac12$, and more otherwise, in the mean over all strings ({ref}`ch-sharpness-vs-length`). In this chapter it is a mean over the $n$ steps.
#
# Before the runs we fixed what counts as reproduced:
#
# * *Learned*: models that read what they themselves wrote get all states of at least 99 % of strings right.
# * *Low*: the sharpness is at most 0.25, a quarter of what the paper's Theorem 6 predicts for PARITY without a scratchpad.
# * *Flat*: the sharpness at most doubles from the shortest to the longest strings.
#
# For *low* and *flat* the upper end of the 95 % interval decides. Runs with a mean squared error above 0.001 on new strings are left out and counted.

# %% tags=["parameters"]
lengths = [4, 8, 16]  # bits of the strings learned [4..1024]
runs = 3  # models of each length [2..10]
steps = 1500  # most steps of their training [1500..100000]
step_bits = 256  # bits of all strings in a step of it, at least 8 strings [256..131072]
pair_length = 6  # bits for the models with a blank scratchpad [5..7]
learning_rate = 3e-3  # of AdamW [2e-3..4e-3]
sigma = 0.02  # standard deviation of the noise in a weight [0.01..0.025]
draws = 20  # of the noise, for each model [20..200]
seed = 0  # of everything random [0..100000]
series = ""  # name under which the runs of all lengths are stored; empty: none

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import functools
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, results, table
from helpers import cube
from helpers.rng import Rng
from helpers.sharpness import direction_sharpness
from helpers.statistics import Estimate, average, difference, trend
from papers.sensitive import brittle, parity, scratchpads

ledger, draw = Ledger("sensitive/scratchpad"), Rng(seed)
level, hundreds = map(ledger.result, ("sensitive.fig11.level", "sensitive.fig11.hundreds"))
reproduced = functools.partial(level.reproduced, about="experiment", evidence="trained")
lengths = sorted(set(lengths))
rule = {"learning_rate": learning_rate, "check_every": 25, "threshold": 3e-4}


def by_hand(n, scale):
    """Sharpness of the transformer written by hand for PARITY without a scratchpad."""
    hand, weights = parity.parity_transformer(n)
    forward = functools.partial(parity.forward, hand)
    noise = scale, 20, Rng(seed).generator
    strings = Rng(seed).strings(n, 16)
    return direction_sharpness(
        forward, weights, strings, *noise, shape="gaussian", without="positions"
    ).mean.item()


# %%
models, found = {}, []
for n in lengths:
    seeds = [10_000 * seed + 100 * n + k for k in range(runs)]
    B = max(step_bits // n, 8)
    measured = {"draws": draws, "seed": seed, "sigma": sigma}
    kept = {"checkpoint": results.checkpoint(f"{n} bits")}
    models[n], seen = scratchpads.study(n, seeds, steps, B=B, **measured, **rule, **kept)
    found.append(pd.DataFrame({name: values.numpy() for name, values in seen.items()}))
here = pd.concat(found).astype({"n": int, "steps": int})
if series:
    results.save(series, here.to_dict("list"))
names = [f.name.split(".")[1] for f in (results.RESULTS / "sensitive").glob("scratchpad.*.csv")]
stored = [results.load("sensitive/scratchpad", name) for name in sorted(names)]
stored = [run for run in stored if run.provenance["parameters"].get("sigma", 0.02) == sigma]
trained = pd.concat([here, *(pd.DataFrame(run.columns) for run in stored)])
kept = trained[trained["mse"] <= brittle.CONVERGED]  # converged on new strings
if kept.empty:
    raise ValueError(f"no run of {lengths} bits converged in {steps} steps; give more")
smallest, far = int(kept["n"].min()), int(kept["n"].max())
learned = here[here["mse"] <= brittle.CONVERGED]["n"]
largest = max(lengths if learned.empty else learned.to_list())
# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Sharpness against the length. With a scratchpad: runs of this page and stored ones; small marks are runs, the line their means. Without a scratchpad: the transformer set by hand, under the same noise and under a smaller one. Grey line: 0.25, up to which the sharpness counts as low.", "name": "fig-scratchpad"}, "image": {"alt": "Logarithmic axes. Models with a scratchpad lie low at all lengths, on a line that falls slowly. The transformer set by hand lies near one at every length under the same noise, and rises steeply towards one under the smaller noise."}} tags=["hide-input"]
summary = kept.groupby("n")["sharpness"].agg(["size", "min", "mean", "max"])
summary.columns = ["runs", "least", "mean", "largest"]
summary["by hand"] = [by_hand(n, sigma) for n in summary.index]
summary["by hand, small noise"] = [by_hand(n, sigma / smallest**2) for n in summary.index]
fig, ax = figures.new(height=2.9)
for k, name in enumerate(("mean", "by hand", "by hand, small noise")):
    label = "learned, scratchpad" if name == "mean" else name
    ax.plot(summary.index, summary[name], **figures.series_style(k, label=label))
ax.plot(kept["n"], kept["sharpness"], **figures.marker_style(0, markersize=2.5, alpha=0.6))
figures.level(ax, 0.25, "criterion")
ax.set(xscale="log", yscale="log", xlabel="bits of a string, $n$", ylabel="sharpness")
figures.ticks(ax, summary.index)
ax.legend()
figures.show()

# %% [markdown]
# In {numref}`fig-scratchpad` the models with a scratchpad lie on a line that falls slowly with the length, below the level of the criterion *low*. A transformer that computes PARITY without a scratchpad, with weights set by hand (see below), is near 1 at every length under the same noise. (Its numbers in the table below are means over 16 strings and 20 draws of the noise only. At 4 bits the table has 0.878; with more draws this becomes 0.95, which is closer to 1 but still below it.) Under a smaller noise, which it tolerates on the shortest strings, it rises steeply towards 1.
#
# Strings of hundreds of bits, of which the paper speaks ("around 300"), take minutes a run. So these runs are stored, with the same model, the same rule and the same noise, and {doc}`/book/at_what_scale` has the commands that make them. As a control the same noise is given to the transformer of {ref}`ch-brittle-transformers`, whose weights are set by hand so that it computes PARITY without a scratchpad, exactly at every length. For the criterion *flat* this network gets a smaller noise, because under the full noise its sharpness is near 1 from the start.

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
shown = summary.assign(steps=kept.groupby("n")["steps"].mean())
form = dict.fromkeys(shown.columns[1:-1], ".3f") | {"steps": ".0f"}
table(shown, "Sharpness: learned with a scratchpad, and set by hand without one", form=form)
made = [
    {"bits": run.columns["n"][0], "runs": len(run.columns["n"]), "made": run.provenance["date"]}
    for run in stored
]
if made:
    made = pd.DataFrame(made).sort_values(["bits", "runs"], ascending=[True, False])
    table(made, f"Stored runs, on {stored[0].provenance['device']}")
growth = Estimate(1.0, 1.0, 1.0)  # where there is one length only
if far > smallest:
    line = trend(kept["n"].to_list(), kept["sharpness"].to_list(), log=True)
    growth = Estimate(*((far / smallest) ** power for power in line))
glue(smallest=smallest, sharp_smallest=summary["mean"][smallest], growth=f"{growth:.2f}")
glue(longest=far, sharp_longest=summary["mean"][far], wrong=400 * kept["mse"].max())
lost, lost_here = len(trained) - len(kept), len(here) - len(learned)
if lost:
    glue(lost=f"{lost - lost_here} stored runs and {lost_here} of this page did not learn.")
else:
    glue(lost="All runs learned, the stored ones and those of this page.")

# %% mystnb={"code_prompt_hide": "Two checks", "code_prompt_show": "Two checks"} tags=["hide-input"]
if far > 100:  # of shorter strings nothing is claimed about hundreds of bits
    hundreds.reproduced(
        f"mean sharpness at {far} bits, upper end of its 95 % interval; control: the network set"
        " by hand that computes PARITY without a scratchpad",
        average(torch.tensor(kept.loc[kept["n"] == far, "sharpness"].to_list())).high,
        at_most=0.25,
        control=summary["by hand"][far],
        about="experiment",
        evidence="trained",
    )
if far > smallest:  # of one length no growth is claimed
    reproduced(
        f"factor by which the sharpness grows from {smallest} to {far} bits, upper end of its 95 % "
        "interval; control: the network set by hand",
        growth.high,
        at_most=2,
        control=summary["by hand, small noise"][far] / summary["by hand, small noise"][smallest],
    )

# %% [markdown]
# The mean sharpness is {glue:text}`sharp_smallest:.3f` at {glue:text}`smallest` bits and {glue:text}`sharp_longest:.3f` at {glue:text}`longest`. A power of $n$ that is fitted to all runs says that the sharpness changes by a factor of {glue:text}`growth` from {glue:text}`smallest` to {glue:text}`longest` bits. So Figure 11 is reproduced at hundreds of bits, although in few runs. The paper's lengths beyond {glue:text}`longest` were not tried.
#
# * *Which runs count.* {glue:text}`lost` Two earlier runs of 256 bits, which are not among these, had four strings in a step and 1500 steps and did not learn, whereas all that had eight strings and up to 4000 steps did.
# * *Made twice.* The runs of 64, 128 and 256 bits were made twice, with other seeds. The first time their mean sharpness was 0.039, 0.029 and 0.019, so that it does not rise with the length in either set; {doc}`/book/at_what_scale` compares them.
#
# Whether the models get all states right when they read their own scratchpad is tested below, but only at the longest strings of this page, because the weights of the stored runs were not kept. For the stored runs we still know something. A wrong output has a squared error of at least $\frac14$, so the mean squared error implies that, given the right scratchpad, at most {glue:text}`wrong:.2f` % of the outputs of any run used here are wrong.
#
# ## Which function do the models compute?
#
# As in the example, a wrong scratchpad shows which function a model computes. We let the models of the longest strings of this page read their own scratchpad, and a *blank* one. Then we hand them a scratchpad of random bits $s_1 \dots s_n$, with $s_1 = 0$, of a kind that does not occur in training, and compare their answers with $x_i \oplus s_i$ and with the parity of $x_1 \dots x_i$. If most answers were the parity of the prefix, the models would not use their scratchpad.

# %%
model = scratchpads.spec(largest)
fits = torch.tensor((here[here["n"] == largest]["mse"] <= brittle.CONVERGED).to_list())
fits |= not fits.any()  # if none has learned, all are shown and nothing is claimed
fitted = {name: values[fits] for name, values in models[largest].items()}
bits, pad = draw.strings(largest, 64), draw.strings(largest, 64)
right, pad[:, 0] = scratchpads.states(bits), 0
alone, rubbed = (
    (scratchpads.roll_out(model, fitted, bits, blank=blank) == right).all(-1).double().mean().item()
    for blank in (False, True)
)
with torch.no_grad():
    guesses = scratchpads.forward(model, fitted, torch.cat((bits, 2 + pad), -1)) > 0.5
follows, ignores = ((guesses == v.bool()).double().mean().item() for v in (bits ^ pad, right))

# %% mystnb={"code_prompt_hide": "Table, and two checks", "code_prompt_show": "Table, and two checks"} tags=["hide-input", "nbval-ignore-output"]
shares = {
    "own scratchpad: strings with all states right": alone,
    "blank scratchpad: strings with all states right": rubbed,
    "random scratchpad: outputs that are the bit combined with the entry beside it": follows,
    "random scratchpad: outputs that are the parity of the prefix": ignores,
}
table(
    pd.Series(shares, name="share").rename_axis("the model reads"),
    f"Shares at {largest} bits",
    form=".3f",
)
if len(learned):
    reproduced(
        f"share of the strings of {largest} bits for which all states are right with the model's own "
        "scratchpad; control: a blank scratchpad",
        alone,
        at_least=0.99,
        control=rubbed,
    )
    level.reproduced(
        "random scratchpad: share of outputs that are $x_i \\oplus s_i$, the bit combined with "
        "the entry beside it; control: share that ignores the entry",
        follows,
        at_least=0.95,
        control=ignores,
        about="ours",
        evidence="trained",
    )
glue(follows=100 * follows, ignores=100 * ignores, rubbed=100 * rubbed, largest=largest)

# %% [markdown]
# With a random scratchpad {glue:text}`follows:.1f` % of the outputs are $x_i \oplus s_i$: the models do compute the step of two bits, even on inputs that do not occur in the training data. The parity of the prefix is their output in {glue:text}`ignores:.0f` % of all cases, which is near chance, because a random $s_i$ agrees with the parity before it about half of the time. The second row of the table shows that these models depend on their scratchpad: if it is blank, they get all states right on only {glue:text}`rubbed:.1f` % of the strings.
#
# ## The same model with a blank scratchpad
#
# A network set by hand may be sharper than one that is learned, so a fairer comparison changes one thing only. We train the same model on the same strings for the same states, with all scratch tokens blank. Step $i$ then has to be the parity of $i$ bits. At {glue:text}`pair_length` bits such models can still be trained. If the scratchpad is what makes the models flat, the blank model must be sharper at the last step, and equally sharp at the first.

# %%
pair, pair_bits = scratchpads.spec(pair_length), cube.bits(pair_length)
seeds = [10_000 * seed + 50 + k for k in range(2 * runs)]
by_step = {}
for name, blank in (("scratchpad", False), ("blank", True)):
    noise = {"sigma": sigma, "blank": blank}
    there, seen = scratchpads.study(pair_length, seeds, 2 * steps, B=42, draws=2, **noise, **rule)
    there = {k: v[seen["mse"] <= brittle.CONVERGED] for k, v in there.items()}
    given = pair_bits, 2 * draws, Rng(seed).generator
    by_step[name] = scratchpads.sharpness_by_step(pair, there, *given, **noise).double()

# %% mystnb={"code_prompt_hide": "Table, and a check", "code_prompt_show": "Table, and a check"} tags=["hide-input", "nbval-ignore-output"]
means = {name: [average(column) for column in rows.T] for name, rows in by_step.items()}
at = pd.Index(range(1, pair_length + 1), name="step")
table(pd.DataFrame(means, at, dtype=object), "Mean sharpness by step, with 95 % intervals")
first, last = (
    difference(by_step["blank"][:, i].log(), by_step["scratchpad"][:, i].log()) for i in (0, -1)
)
level.reproduced(
    f"{pair_length} bits, last step: ratio of the sharpness with a blank scratchpad to that "
    "with a filled one, lower end of its 95 % interval; control: at the first step",
    math.exp(last.low),
    at_least=1,
    control=math.exp(first.low),
    about="ours",
    evidence="trained",
)
ends = [by_step[name][:, -1].mean().item() for name in ("blank", "scratchpad")]
glue(pair_length=pair_length, blank_ratio=ends[0] / ends[1])

# %% [markdown]
# With a scratchpad a late step is about as sharp as an early one, whereas the blank model is sharper at the late steps than at the early ones. At the last step the blank model is {glue:text}`blank_ratio:.1f` times as sharp.
#
# **What differs from the paper.**

# %% mystnb={"code_prompt_hide": "Settings", "code_prompt_show": "Settings"} tags=["hide-input"]
of_stored = [""] * 3  # what the stored runs had, where some were read
if stored:
    of_stored = [
        f"; stored {summary['runs'][far]} that learned",
        "; stored 8 to 32",
        ", stored: at most 4000",
    ]
settings = {
    "model": ("encoder-decoder", "one causal transformer"),
    "lengths": ("about 30, from 4 to 1024", ", ".join(map(str, summary.index))),
    "runs of each length": ("10", f"{runs}{of_stored[0]}"),
    "strings in a step": ("128", f"{step_bits}/n, at least 8{of_stored[1]}"),
    "learning rate": learning_rate,
    "steps of a run": f"until the loss is below {rule['threshold']:g}{of_stored[2]}",
}
table(brittle.differing(settings), "Settings that differ")

# %% [markdown]
# The paper's learning rate and steps are those of its Table 1, "unless stated otherwise"; lengths, runs and batch are those of its code. As in its other experiments half of the width holds positions. The token that is to give $t_i$ is the scratch token with the entry $t_{i-1}$ (0 for $i = 1$). Its position vector starts equal to that of bit $i$, as in an encoder and a decoder that share positions.
#
# ## What would falsify this
#
# The remark of the paper would not be reproduced if the sharpness rose with the length, or if the upper end of its interval reached 0.25, a quarter of what Theorem 6 predicts without a scratchpad. A blank scratchpad must behave differently, and it is the control wherever such a model can be trained. PARITY without a scratchpad cannot be trained at the larger lengths, so there the control is the network set by hand.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# The authors' code trains an encoder-decoder and keeps runs whose own scratchpad gives more than 99.9 % of the answers right, whereas we keep runs by their squared error. The comparisons with a random and with a blank scratchpad are ours.
#
# ## What we found
#
# * Sharpness with a scratchpad is low, and does not rise with the length up to {glue:text}`longest` bits. It even falls with the length, but longer strings also took more steps of training, so we cannot say which of the two lowers it. At {glue:text}`pair_length` bits, where each step was measured by itself, it does not clearly rise with the step either.
# * With a blank scratchpad the sharpness rises with the number of bits that a step depends on.
# * The models learn the step of two bits, although the parity of the prefix fits the same strings.
# * Strings beyond {glue:text}`longest` bits were not tried, nor long training with weight decay, where norms shrink.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-scratchpad-chain
#
# *By hand.* Noise makes one step wrong with a small probability $p$, independently of the others. How likely is a wrong state in a chain of $n$ steps, and what does low sharpness of each step say about the chain?
# ```
#
# ```{solution} ex-scratchpad-chain
# :class: dropdown
#
# The probability is $1 - (1 - p)^n$, which is about $n p$ as long as $n p$ is small. So low sharpness of a step does not make a long chain robust, because all states of the chain are right only if all its steps are.
# ```
#
# ```{exercise}
# :label: ex-scratchpad-noise
#
# *With the computer.* What does the noise have to do with the result? Measure with less of it, by `python -m bookkit.run sensitive/scratchpad -p sigma 0.015 --out my_run`. By which factor do you expect the sharpness of the learned models to change, and that of the network set by hand? Why does the page then leave out the stored runs?
# ```
#
# ```{solution-start} ex-scratchpad-noise
# :class: dropdown
# ```
#
# Noise with three quarters of the standard deviation moves the outputs by about three quarters, as long as it is small, so the mean square should fall by a factor of $0.75^2 = 0.56$. It does: at 4 bits the mean sharpness of the learned models goes from {glue:text}`sharp_smallest:.3f` to 0.041. The network set by hand stays near 1, because its outputs are lost under either noise. The stored runs were measured under noise of 0.02. Beside models that were measured under less noise they would look sharper than they are, and the line would seem to rise with the length.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-scratchpad-whole
#
# *To think about.* In training the models see the right scratchpad only, and never one of their own mistakes. Suppose that a model has written one wrong state. What happens to the states after it, if the model computes the step of two bits, and what if it ignores the scratchpad? Which of the two functions would you prefer in an application?
# ```
#
# ```{solution} ex-scratchpad-whole
# :class: dropdown
#
# With the step of two bits all later states are wrong, because every state is built on the one before. A model that ignores the scratchpad makes one mistake and is right again at the next step. So robustness against its own mistakes speaks for the sensitive function, and robustness against noise in the weights for the insensitive one. A way to have both is to write each state several times, and to let a step take the majority.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`sensitive`.
