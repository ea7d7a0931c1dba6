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
# (ch-sparse-majority)=
# # Weights, gap and accuracy against length
#
# ```{verdict}
# Figures 1 to 3 are not judged: with the settings of the authors' program none of our models has learned at $T =$ {glue:text}`none` after {glue:text}`most_epochs` epochs (the paper takes 200 000). And no such plot could decide: Figure 2 can show a growth of {glue:text}`visible:.0f` % per doubling, $\sqrt{\log(mT)}$ has {glue:text}`older:.1f` %.
# ```
# **Needs** {ref}`ch-capacity`, {ref}`ch-single-layer-bound`. **Read** 8 min. **Runs in** 45 s. **Source** printed; settings by the authors' program.
#
# **Claim.** One attention layer learns a majority of nine hidden bits among $T$ from 300 strings. The paper reports that weights and gap show no trend in $T$, and takes this as support of a bound that is free of $T$. With the authors' settings models of longer strings wait longer before they learn, so that a figure at too few epochs shows how fast they learn. Our runs are too short to redo the figures. At any length of training such a plot could not tell a level bound from one that grows like $\sqrt{\log T}$.
#
# ## The statement
#
# A data set hides a set $I$ of nine positions among $T$. A string $S \in \{0, 1\}^T$ of fair bits has the label $y = \mathbf 1[\sum_{i \in I} S_i > \frac92]$. A model with one attention layer sees 300 such strings and is judged on 10 000 new ones, the validation set. Its *gap* is the validation loss minus the training loss, in nats. Both are taken at the *best epoch*: the one with the least validation loss.
#
# ```{prf:remark} Trauger and Tewari (2024), Section 6, Figures 1 to 3
# :label: lengthfree-fig1
# For $T = 20, 40, \dots, 200$ a layer with two heads and 64 columns is trained on five data sets. The largest sum of absolute weights among the five shows no increasing trend (Figure 1). The largest gap has "no discernible trend" (Figure 2). The largest accuracy "does plateau" (Figure 3).
# ```
#
# **Why it should be so.** The paper bounds the gap by norms of the weights, by the width and by the number $m$ of samples, and $T$ does not occur ({prf:ref}`lengthfree-thm4-1`). An earlier bound contains $\sqrt{\log(mT)}$. If the norms do not grow with $T$ either, the first bound is the same for all lengths.
#
# **What could deceive.** A bound that is free of $T$ does not say that the gap is. "No trend" can mean that there is none, or that the data are too few to show it: an interval tells the two apart. The sum of absolute weights is not zero before training, and a large start can hide what training adds. And a model that has not learned has a small gap for the wrong reason.

# %% tags=["parameters"]
lengths = [20, 60, 100]  # T, bits of the strings of the curves, increasing [9..200]
epochs = 16000  # of their training, with the factor 0.99995 [2000..40000]
slow_epochs = 60000  # of the shortest, at the rate of the authors' program [20000..200000]
seed = 0  # of everything random [0..1000000]
series = ""  # name under which a large run is stored; empty: no large run
big_lengths = [20, 40, 60]  # T of the large run [9..200]
big_data_sets = 5  # of each length, each with its own model [1..20]
big_epochs = 40000  # most epochs of a run [100..200000]
big_decay = 0.99995  # factor of the learning rate in every epoch [0.99..1]
big_folder = ""  # folder from which a large run that was killed goes on; empty: none

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from pathlib import Path

import pandas as pd
import torch

from helpers.book import figures, results
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.book.table import table
from helpers.lengthfree import majority_task as task
from helpers.statistics import redrawn, slope

ledger = Ledger("lengthfree/sparse_majority")
figures_of_paper = ("lengthfree.fig1", "lengthfree.fig2", "lengthfree.fig3")
weights, gap, accuracy = map(ledger.result, figures_of_paper)
PROGRAM, COMMENT = 0.999, 0.99995

# %% mystnb={"code_prompt_hide": "A run at the paper's size", "code_prompt_show": "A run at the paper's size"} tags=["hide-cell"]
if series:
    rows = []
    for k in range(big_data_sets):
        for T in big_lengths:
            run = task.Run(T, 1000 * seed + k, decay=big_decay)
            path = Path(big_folder).expanduser() / f"{T}-{k}.pt" if big_folder else None
            run.train(big_epochs, checkpoint=path)
            found = {name: float(f"{v:.5g}") for name, v in run.best.items()}
            done = {
                "T": T,
                "run": k,
                "epochs": min(run.epoch, big_epochs),
                "stopped": int(run.stopped),
            }
            rows.append(done | found | {"epoch": int(found["epoch"])})
    results.save(series, pd.DataFrame(rows).to_dict("list"))

# %% [markdown]
# ## Model and training
#
# The paper's text leaves much open. The authors' public program, `run_experiment.py` of `traugerjacob/Transformer-Gen-Bounds`, fixes it, and we do as it does. A token is one of two orthogonal vectors, for 0 and for 1, of 1-norm 1, plus a code of its place. A third such vector, the class token, stands last. TensorFlow's `MultiHeadAttention` with two heads of 64 columns, a ReLU and a dense layer of 64 columns follow; the class token's row is mapped linearly to two logits. Each logit has a binary cross entropy of its own. Stochastic gradient descent with momentum 0.9 takes three batches an epoch. Training ends after the first epoch with training accuracy 1.
#
# The rate is 0.01 at first and is multiplied by 0.999 after each epoch until it is 0.001. So it is at its least after 2300 epochs, and nearly all of the paper's 200 000 pass there. Fifty models would take an hour or two of a free core; the stored runs had ten minutes. A comment in that line of the program has another factor, 0.99995. With it the rate stays large for longer, and learning needs fewer epochs. Here are three lengths with it, and the shortest with the program's own factor too, from the same start:

# %%
learned = {T: task.Run(T, 1000 * seed, decay=COMMENT) for T in lengths}
for run in learned.values():
    run.train(epochs)
slow = task.Run(lengths[0], 1000 * seed, decay=PROGRAM)
slow.train(slow_epochs)


def rates(run):
    """Sum of the rates up to each look, in units of one."""
    epoch = torch.arange(1, run.epoch + 1, dtype=torch.float64)
    total = (0.01 * run.decay**epoch).clamp(min=0.001).cumsum(0)
    return total[torch.tensor([int(look[0]) for look in run.history]) - 1]


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "One run each. Left: training loss (solid) and validation loss (dashed) against epochs, for three lengths, with the factor 0.99995; the mark is the best epoch. Right: the shortest length with both factors, validation loss against the sum of rates. Grey: the loss of guessing.", "name": "fig-majority-epochs"}, "image": {"alt": "Left, three pairs of curves on a logarithmic axis of epochs. Each pair stays at the grey level of guessing, longer strings for longer, and then falls with many spikes. Right, both curves fall within the first third to about one quarter; the one with the factor 0.999 then turns up again to above one half, the other stays low."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.0, sharey=True)
for i, (T, run) in enumerate(learned.items()):
    at, validation, training = zip(*run.history, strict=True)
    axes[0].plot(at, training, **figures.line(i, linestyle="-", label=f"$T = {T}$"))
    axes[0].plot(at, validation, **figures.line(i, linestyle="--"))
    axes[0].plot(run.best["epoch"], run.best["loss"], **figures.marks(i))
both = {"0.99995": learned[lengths[0]], "0.999": slow}
for i, (name, run) in enumerate(both.items()):
    axes[1].plot(rates(run), [look[1] for look in run.history], **figures.line(i, label=name))
for ax in axes:
    figures.level(ax, math.log(2))
    ax.legend(loc="lower left")
axes[0].set(xscale="log", xlabel="epochs", ylabel="loss (nats)", ylim=(0, 1))
axes[1].set(xlabel="sum of rates")
axes[1].set_title(f"$T = {lengths[0]}$")
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-cell", "nbval-ignore-output"]
curves = [(T, COMMENT, run) for T, run in learned.items()] + [(lengths[0], PROGRAM, slow)]
rows = [
    {"T": T, "factor": factor, "epochs": run.epoch, "sum of rates": rates(run)[-1].item()}
    | {name: run.best[name] for name in ("epoch", "gap", "accuracy", "size")}
    for T, factor, run in curves
]
form = {"factor": "g", "epoch": ".0f", "size": ".0f", "sum of rates": ".1f"}
table(pd.DataFrame(rows), "At the best epoch", form={"gap": ".4f", "accuracy": ".4f"} | form)
glue(best_comment=f"{learned[lengths[0]].best['gap']:.3f}", best_program=f"{slow.best['gap']:.3f}")
glue(accuracy_program=f"{slow.best['accuracy']:.2f}", epoch_program=int(slow.best["epoch"]))
glue(shortest=lengths[0], slow_epochs=slow.epoch)

# %% [markdown]
# All stay at the loss of guessing at first, longer strings longer ({numref}`fig-majority-epochs`). Then both losses fall. Small steps follow the gradient, so one could expect that the sum of the rates alone says where a run is. The fall comes at similar sums. Later it does not hold: with the small rate the validation loss soon turns up again, with the large one it hops about and stays low. So the factor matters, and the text does not say it. At $T =$ {glue:text}`shortest` the gap at the best epoch is {glue:text}`best_program` with the program's factor, after {glue:text}`epoch_program` epochs, and {glue:text}`best_comment` with the other one.
#
# **What differs from the paper's runs.** The stored runs are five data sets at five of the ten lengths. (They were taken up again several times; the seconds in the line are those of the last call, in all it was about ten minutes of one core.)

# %% mystnb={"code_prompt_hide": "Settings", "code_prompt_show": "Settings"} tags=["hide-input"]
stored = results.load("lengthfree/sparse_majority", "runs")
if stored is None:
    raise FileNotFoundError("results/lengthfree/sparse_majority.runs.csv is missing")
print(stored.provenance_line())
kept = pd.DataFrame(stored.columns).sort_values(["T", "run"])
each = kept.groupby("T").size().min()
kept_lengths = sorted(set(kept["T"]))
most_epochs = int(kept["epochs"].max())
total = sum(max(0.01 * COMMENT ** (n + 1), 0.001) for n in range(most_epochs))
SETTINGS = {
    "lengths T": ("20, 40, ..., 200", ", ".join(map(str, kept_lengths))),
    "data sets of each length": ("5", str(each)),
    "most epochs of a run": ("200,000", f"{most_epochs:,}"),
    "sum of their rates": ("207, in the program", f"{total:.0f}"),
    "factor of the rate, an epoch": (
        "not said; 0.999 in the program",
        f"{COMMENT}, a comment there",
    ),
    "looks at the validation loss": (
        "every epoch, in the program",
        "every 100 epochs and the last",
    ),
    "numbers": ("TensorFlow, a GPU", "float32, a CPU; other random numbers"),
    "biases of the keys": ("in the program", "left out; softmax ignores them, they stay 0"),
}
paper, here = zip(*SETTINGS.values(), strict=True)
table(
    {"setting": list(SETTINGS), "paper": paper, "stored runs": here}, "Every setting that differs"
)

# %% [markdown]
# ## The three figures

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "At the best epoch, against length, stored runs: sum of absolute weights, gap, accuracy. Small marks are single models, the solid line joins means, the dashed line the largest of each length, which is what the paper plots. Dotted: the sum before training; the accuracies of majorities of 3, 5, 7 and all 9 of the hidden bits.", "name": "fig-majority-trends"}, "image": {"alt": "Three panels against length. The sum of weights falls from about 3000 to the dotted level of the start. The largest gap is near 0.07 to 0.1 at short lengths and falls towards zero at the long ones. The largest accuracy falls from near 1 at the shortest length to one half at the longest; single models lie near the dotted levels."}} tags=["hide-input"]
fig, axes = figures.new(1, 3, height=2.9)
labels = {"size": "sum of |weights|", "gap": "gap (nats)", "accuracy": "accuracy"}
for ax, (name, label) in zip(axes, labels.items(), strict=True):
    ax.plot(kept["T"], kept[name], ".", color=figures.GREY, markersize=4, alpha=0.6)
    by = kept.groupby("T")[name]
    ax.plot(by.mean().index, by.mean(), **figures.look(0, linestyle="-", label="mean"))
    ax.plot(by.max().index, by.max(), **figures.look(1, linestyle="--", label="largest"))
    ax.set(xlabel="length $T$", ylabel=label)
for ax, levels in ((axes[0], [kept["start"].mean()]), (axes[2], [0.7148, 0.7852, 0.8633, 1])):
    for value in levels:
        ax.axhline(value, color="black", linewidth=0.7, linestyle=":", marker="")
for ax in axes[:2]:
    ax.set_ylim(0, None)
axes[1].legend(fontsize=8)
figures.show()

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
names = ("size", "gap", "accuracy")
rows = []
for T, group in kept.groupby("T"):
    row = {"T": T, "training accuracy 1": int(group["stopped"].sum())}
    row |= {"best epoch, mean": group["epoch"].mean(), "validation loss": group["loss"].mean()}
    for name in names:
        row |= {f"{name}, mean": group[name].mean(), f"{name}, largest": group[name].max()}
    rows.append(row)
form = {"best epoch, mean": ".0f", "validation loss": ".3f"}
form |= {f"{n}, {w}": ".0f" if n == "size" else ".3f" for n in names for w in ("mean", "largest")}
table(
    pd.DataFrame(rows),
    "Stored runs at the best epoch: how many stopped, means, largest of each length",
    form=form,
)

# %% [markdown]
# **What can be read from them.** A model counts as *learned* if its validation loss is below nine tenths of the loss of guessing, $\log 2$. After so many epochs those are, of {glue:text}`each` at each length: {glue:text}`learned`. A model that has not learned has hardly a gap, an accuracy of one half and the weights of its start. So at the long end the three curves show that training was too short, and nothing else. The paper says itself that its 200 000 epochs were "needed to allow for the larger sequence lengths to start to overfit".
#
# How steep would the curves be if length had nothing to do with them? Shuffle the lengths among all runs, and take the slope of the largest per doubling of $T$ again, 4000 times.


# %%
def steepness(name):
    """Slope of the largest per doubling of T, and the shares of shuffles that are as steep."""
    T = torch.tensor(kept_lengths, dtype=torch.float64)
    values = torch.tensor(kept[name].to_numpy(), dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    shuffled = redrawn(torch.zeros(len(values)), 4000, generator, replace=False)
    largest = values[shuffled].unflatten(1, (len(T), -1)).amax(-1)
    found = slope(T.log2(), values.unflatten(0, (len(T), -1)).amax(-1))
    others = slope(T.log2(), largest)
    up, down = (others >= found).double().mean(), (others <= found).double().mean()
    return {"slope": found.item(), "as steep upward": up.item(), "as steep downward": down.item()}


trends = {name: steepness(name) for name in ("size", "gap", "accuracy", "start", "loss")}

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
table(
    pd.DataFrame(trends).T.rename_axis("largest"),
    "Slope per doubling of T, and the share of shuffles that are as steep",
    form={"slope": ".3g", "as steep upward": ".3f", "as steep downward": ".3f"},
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
weights.holds(
    "stored runs: share of shuffles whose largest sum of absolute weights rises as steeply with $T$; control: validation loss",
    trends["size"]["as steep upward"],
    at_least=0.05,
    control=trends["loss"]["as steep upward"],
    about="ours",
    evidence="trained",
)
accuracy.holds(
    "stored runs: share of shuffles whose largest accuracy falls as steeply with $T$; control: weights at the start",
    trends["accuracy"]["as steep downward"],
    at_most=0.05,
    control=trends["start"]["as steep downward"],
    about="ours",
    evidence="trained",
)

# %% [markdown]
# After equally many epochs the accuracy falls with the length, and the sum of absolute weights, of which {glue:text}`start:.0f` are there before training, does not rise. Both say how fast models learn, which is not what the figures are about. So the three figures are *not judged* here.
#
# ## What such a plot can decide
#
# The question behind Figure 2 is whether a gap grows like $\sqrt{\log(mT)}$ or not at all. From $T = 20$ to 200, with $m = 300$, this root grows by 12 % in all, {glue:text}`older:.1f` % per doubling. How large a growth can the figure show? Within one length the gaps of learned models have a standard deviation $s$, of {glue:text}`scatter:.3f` nats here. The largest of five scatters by $0.67\, s$. A slope through ten of them, whose $\log_2 T$ have the standard deviation $v$, has the standard error $0.67\, s / (\sqrt{10}\, v)$, and a trend of 2.8 standard errors is found four times in five.

# %%
done = kept[kept["loss"] < 0.9 * math.log(2)]
full = [T for T, group in done.groupby("T") if len(group) == each]
at_full = done[done["T"].isin(full)].groupby("T")["gap"]
scatter = math.sqrt(at_full.var().mean())
v = torch.arange(20, 201, 20).double().log2().std(correction=0).item()
visible = 2.8 * 0.67 * scatter / (math.sqrt(10) * v) / at_full.max().mean()
older = math.sqrt(math.log(300 * 200) / math.log(300 * 20)) ** (1 / math.log2(10)) - 1

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
gap.holds(
    "least growth per doubling that Figure 2 can show, over that of $\\sqrt{\\log(mT)}$; control: over that of $\\sqrt T$",
    visible / older,
    at_least=1,
    control=visible / (math.sqrt(2) - 1),
    about="ours",
    evidence="trained",
)
counts = done.groupby("T").size().reindex(kept_lengths, fill_value=0)
glue(learned=", ".join(f"{n} at T = {T}" for T, n in counts.items()), each=int(each))
glue(older=100 * older, visible=100 * visible, scatter=scatter, start=kept["start"].mean())
glue(most_epochs=most_epochs, none=", ".join(str(T) for T, n in counts.items() if not n))
glue(full=" and ".join(map(str, full)), least_gap=at_full.max().min(), most_gap=at_full.max().max())

# %% [markdown]
# That is {glue:text}`visible:.0f` % of the largest gap per doubling: enough to see a growth like $\sqrt T$, and several times too coarse for the root of a logarithm. So Figure 2 cannot tell the two bounds apart, whichever way it comes out. And a gap is not its bound: it may rise under a level bound, or stay level under a rising one.
#
# ## What we found
#
# * The three figures are not judged. With the settings of the authors' program and the larger of the two factors that it names, {glue:text}`most_epochs` epochs are enough for short strings only; the program's own factor takes longer still. The paper's size is within reach: an hour or two of a core.
# * The wait before a model learns grows with the length of the strings. That is a matter of optimization, of which the bound says nothing, and it decides what a figure at a fixed number of epochs shows.
# * Where all models learned, at $T =$ {glue:text}`full`, the largest gaps lie between {glue:text}`least_gap:.3f` and {glue:text}`most_gap:.3f` nats.
# * A plot of the largest of five at ten lengths cannot tell a bound that is free of $T$ from one with $\sqrt{\log(mT)}$.
#
# ## What would falsify this
#
# Figures 1 to 3, by their own statistic, once models of all lengths have learned: a largest sum of weights that rises, or a largest gap that rises or falls, or a largest accuracy that falls from $T = 60$ on, more steeply than 95 % of the shuffles. The yaml file beside this chapter has the paper's size. For what is claimed here: a sum of weights that rises after equally many epochs (the control is the validation loss, which does); an accuracy that does not fall (the control is the sum of weights at the start); a scatter small enough to see a root of a logarithm (the control is $\sqrt T$).

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# The model here is that of `run_experiment.py`, which we read; what differs is in the table of settings. From the text alone one would do otherwise: it names neither the ReLU nor the dense layer, neither optimizer nor rate nor the end of training, and cites the encoding of places of Vaswani et al., where a sine and a cosine share a frequency; in the program column $i$ has the exponent $i/64$ and is a sine for even, a cosine for odd $i$. The program prints the losses and norms of one run; the one that draws the figures is not public. Which factor of the rate drew the figures we do not know.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-majority-part
# A model has found $k$ of the nine hidden bits and answers by their majority. How often is it right? Why does it gain nothing from an even $k$ over $k - 1$, if it breaks ties by a coin?
# ```
#
# ```{solution} ex-majority-part
# :class: dropdown
# Count the strings on which both majorities agree: 0.637, 0.715, 0.785, 0.863 and 1 for $k = 1, 3, 5, 7, 9$. An even $k$-th bit changes the answer only by making a tie, and on a tie both answers are right equally often, by symmetry. The coin is as good as the majority of the first $k - 1$.
# ```
#
# ```{exercise}
# :label: ex-majority-largest
# Gaps of one length scatter about their mean by a standard deviation $s$, the same for all lengths. Figure 2 shows the largest of five. By how much does it lie above the mean, if the scatter is normal? What would a scatter that grows with $T$ do to the figure, at a level mean?
# ```
#
# ```{solution} ex-majority-largest
# :class: dropdown
# The largest of five standard normal numbers has the mean 1.16, so it lies $1.16\, s$ above. If $s$ grows with $T$, the figure rises though the mean does not. The largest also scatters less than a single gap, by a factor of 0.67, but more than the mean of five, whose factor is 0.45.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment and the bound are from {cite:t}`lengthfree`, the earlier bound from {cite:t}`variables`.
