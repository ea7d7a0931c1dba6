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
# **Claim.** One attention layer learns a majority of nine hidden bits among $T$ from 300 strings. The sum of its absolute weights does not rise with $T$, as the fourth paper reports of its model. In ours, which differs from the authors' program, the mean gap rises with $T$ and the accuracy falls; the paper plots the largest of five runs, and for that statistic our longer run shows no discernible trend of the gap. So the paper's figures are not redone here, and not contradicted. No such plot could decide between a bound that is free of $T$ and one that grows like $\sqrt{\log T}$.
# **Needs** {ref}`ch-capacity` and {ref}`the bound for one layer <ch-single-layer-bound>`. **Runs in** 90 s. **Source** printed.
#
# A data set hides a set $I$ of nine positions among $T$. A string $S \in \{0, 1\}^T$ of fair bits has the label $y = \mathbf 1[\sum_{i \in I} S_i > \frac92]$. A model sees 300 such strings and is judged on new ones, the validation set. Its *gap* is the validation loss minus the training loss, both mean cross entropies in nats. Both are taken at the *best epoch*: the one with the least validation loss.
#
# ```{prf:remark} Trauger and Tewari (2024), Section 6, Figures 1 to 3
# :label: lengthfree-fig1
# For $T = 20, 40, \dots, 200$ a layer with two heads and 64 columns is trained on five data sets for 200 000 epochs. The largest sum of absolute weights among the five does not increase with $T$. The largest gap has no discernible trend. The largest accuracy reaches a plateau.
# ```
#
# **Why it should be so.** The paper bounds the gap by norms of the weights, by the width and by the number $m$ of samples, and $T$ does not occur. An earlier bound contains $\sqrt{\log(mT)}$. If the norms do not grow with $T$ either, the first bound is the same for all lengths.
#
# **What could deceive.** A bound that is free of $T$ does not say that the gap is. It says that the gap stays below some number, and it may vary below it. "No trend" can mean that there is none, or that the data are too few to show it: an interval tells the two apart. The sum of absolute weights is not zero before training, and a large start can hide what training adds. And a model that has not learned has a small gap for the wrong reason.

# %% tags=["parameters"]
lengths = [20, 60, 200]  # T, bits of a string, increasing [20..200]
data_sets = 36  # of each length, each with its own model [5..60]
samples = 300  # m, training strings of a data set [200..400]
validation = 2000  # new strings of a data set [1000..10000]
epochs = 500  # of training [400..200000]
check_every = 10  # epochs between two looks at the validation loss [5..200]
batch = 128  # strings in a step [64..200]
learning_rate = 1e-3  # of Adam [5e-4..2e-3]
token_norm = 1.0  # length of the vectors for 0, 1 and the class token [0.5..3]
head_width = 64  # columns of each of the two heads [32..64]
variants = 8  # data sets on which other choices are tried [5..24]
variant_epochs = 300  # of their training, at most as many as above [300..2000]
seed = 0  # of everything random [0..1000000]

# %% [markdown]
# ## Model and training
#
# The model is our own, after the paper's text. The authors' public program was found later and differs from it in what the text leaves open (see *What the authors' code does differently*).
#
# A token is one of two orthogonal vectors, for 0 and for 1, plus the encoding of its place by sines and cosines. A class token with a third vector stands at place 0. Its row of the attention is mapped linearly to two logits. Two heads, 64 columns, cross entropy, batches of 128: this is what the paper says. What it leaves open we choose: Adam with rate $10^{-3}$, torch's usual random start, vectors of length 1, two heads of 64 columns each. Some other choices follow further down. Whether the class token's row is added to the attention's output, the *residual*, makes no difference to what can be computed. That row is the same for every string, so adding it is one more bias.
#
# The class token's query does not depend on the string either. So a head weighs token $k$ by a number $z_k$ and adds a vector $u_k$ to the logits, both from a table, and its output is $\sum_k z_k u_k / \sum_k z_k$ over the tokens of the string: a ratio of two linear functions. This makes training fast. All data sets of one length train side by side.

# %%
import functools
import math

import torch
from scipy import stats

from helpers import statistics
from helpers.book import figures, results
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.draws import f64
from helpers.lengthfree import majority_task as task
from helpers.lengthfree import single_layer
from helpers.statistics import average, difference, middle
from helpers.training.batches import fixed
from helpers.training.train import cross_entropy, train

ledger = Ledger("lengthfree/sparse_majority")
HIDDEN, WIDTH, HEADS = 9, 64, 2
lengths = sorted(set(lengths))
variants = min(variants, data_sets)
variant_epochs = min(variant_epochs, epochs)
if len(lengths) < 3 or lengths[-1] < 4 * lengths[0]:
    raise ValueError(f"a trend needs three lengths over a factor of 4, got {lengths}")
if data_sets * len(lengths) < (80 if epochs < 2000 else 50):
    raise ValueError(
        f"{data_sets * len(lengths)} models are too few to decide on a slope; take at least 80, "
        "or 50 from 2000 epochs on"
    )
per_epoch = -(-samples // batch)
KINDS = {
    "as above": {},
    "vectors of length 8": {"token_norm": 8.0},
    "random places": {"places": "random"},
    "start halved": {"scale": 0.5},
    "rate / 3": {"rate": 1 / 3},
}


def learn(T, m, steps, count, kinds=("as above",), every=check_every * per_epoch):
    """Train models on the first data sets of a length, once for each kind of choice."""
    spec = task.probe(T, width=WIDTH, heads=HEADS, head_width=head_width)
    parts, rates = [], []
    for kind in kinds:
        choice = {"token_norm": token_norm, "scale": 1.0, "rate": 1.0} | KINDS[kind]
        data = task.plant(T, HIDDEN, [1000 * seed + k for k in range(count)])
        strings = [*data.sample(m), *data.sample(validation)]
        scale, rate = choice.pop("scale"), choice.pop("rate")
        weights = task.start(spec, data, **choice)
        weights = {k: v if k in task.GIVEN else scale * v for k, v in weights.items()}
        parts.append((strings, weights, data.generators))
        rates += [learning_rate * rate] * count
    bits, labels, new, answers = map(torch.cat, zip(*(p[0] for p in parts), strict=True))
    fit = task.indicators(bits).float(), labels
    weights = {k: torch.cat([p[1][k] for p in parts]) for k in parts[0][1]}
    watch = task.BestEpoch(spec, (task.indicators(new).float(), answers), fit)
    train(
        functools.partial(task.forward, spec),
        weights,
        fixed(*fit, min(batch, m), [g for p in parts for g in p[2]]),
        steps=steps,
        learning_rate=torch.tensor(rates) if len(kinds) > 1 else learning_rate,
        weight_decay=0.0,
        rate_of=dict.fromkeys(task.GIVEN, 0.0),
        loss=cross_entropy,
        evaluate=watch,
        check_every=every,
        on_failure="raise",
    )
    return spec, watch, task.size(weights)


runs = {T: learn(T, samples, epochs * per_epoch, data_sets) for T in lengths}
calls = epochs // check_every
found = {T: watch.best(calls) | {"start": start} for T, (_, watch, start) in runs.items()}
COLUMNS = ("T", "run", "size", "start", "gap", "accuracy", "loss", "training", "epoch")
table = {"T": [T for T in lengths for _ in range(data_sets)]}
table["run"] = [e for _ in lengths for e in range(data_sets)]
for name in COLUMNS[2:-1]:
    table[name] = [float(f"{v:.5g}") for T in lengths for v in found[T][name].tolist()]
table["epoch"] = [check_every * c for T in lengths for c in found[T]["call"].tolist()]
results.save("runs", table)
print(
    f"{len(table['T'])} models: lengths {', '.join(map(str, lengths))}, {data_sets} data sets each"
)


def trend(at, values, level=0.95):
    """Slope of the values per doubling, by least squares, and its t-interval."""
    return statistics.trend(f64(at).log2(), values, level)


def told(values, digits=3):
    """A value and its interval in words."""
    value, low, high = (f"{v:.{digits}f}" for v in values)
    return f"{value} ({low} to {high})"


# %% [markdown]
# ## The three figures

# %% tags=["nbval-ignore-output"]
shown = {"size": 0, "gap": 3, "accuracy": 3, "loss": 3, "training": 3}
slopes = {k: trend(table["T"], table[k]) for k in shown}
added = [a - b for a, b in zip(table["size"], table["start"], strict=True)]
slopes["added"] = trend(table["T"], added)
print("mean [95 %], largest of all")
for name, digits in shown.items():
    for T in lengths:
        most = found[T][name].max().item()
        print(f"{name:9} T = {T:3}  {told(average(found[T][name]), digits)}, {most:.{digits}f}")
    print(f"{name:9} per doubling of T: {told(slopes[name], digits + 1)}")
    glue(
        **{f"{name}_slope": told(slopes[name], digits)},
        **{f"{name}_first": f"{average(found[lengths[0]][name])[0]:.{digits}f}"},
        **{f"{name}_last": f"{average(found[lengths[-1]][name])[0]:.{digits}f}"},
    )
print(f"training adds to the size, per doubling of T: {told(slopes['added'], 1)}")
at_best = {T: average(check_every * found[T]["call"])[0] for T in lengths}
print("mean best epoch: " + ", ".join(f"{T}: {v:.0f}" for T, v in at_best.items()))
glue(
    start=f"{sum(table['start']) / len(table['start']):.0f}",
    added_first=f"{average(found[lengths[0]]['size'] - found[lengths[0]]['start'])[0]:.0f}",
    added_last=f"{average(found[lengths[-1]]['size'] - found[lengths[-1]]['start'])[0]:.0f}",
    shortest=lengths[0],
    longest=lengths[-1],
)
ratio = average(found[lengths[-1]]["gap"])[0] / average(found[lengths[0]]["gap"])[0]
glue(gap_ratio=f"{ratio:.1f}")


def part_right(k):
    """Chance that the majority of k of the hidden bits, k odd, is that of all."""
    rest = HIDDEN - k
    return sum(
        math.comb(k, a) * math.comb(rest, b) / 2**HIDDEN
        for a in range(k + 1)
        for b in range(rest + 1)
        if (2 * a > k) == (2 * (a + b) > HIDDEN)
    )


part_of_hidden = {k: part_right(k) for k in (3, 5, 7, 9)}
for T, word in ((lengths[0], "first"), (lengths[-1], "last")):
    share = average(found[T]["gap"])[0] / average(found[T]["loss"])[0]
    glue(**{f"share_{word}": f"{100 * share:.0f}"})

# %% [markdown]
# {numref}`fig-majority-trends` has the paper's three quantities and, beside them, the two losses. Numbers in brackets are 95 % intervals.
#
# * **Weights.** Per doubling of $T$ the sum of absolute weights changes by {glue:text}`size_slope`: it falls. Before training it is {glue:text}`start` at every length, most of what the figure shows. Training adds {glue:text}`added_first` at $T =$ {glue:text}`shortest` and {glue:text}`added_last` at $T =$ {glue:text}`longest`.
# * **Gap.** It goes from {glue:text}`gap_first` to {glue:text}`gap_last`, a factor of {glue:text}`gap_ratio`; per doubling of $T$ by {glue:text}`gap_slope`. As a share of the validation loss it falls, from {glue:text}`share_first` % to {glue:text}`share_last` %: longer strings have more loss of both kinds.
# * **Accuracy.** It goes from {glue:text}`accuracy_first` to {glue:text}`accuracy_last`; per doubling of $T$ by {glue:text}`accuracy_slope`. The training loss rises with the length too, so longer strings are not merely harder to generalize on. They are harder to fit. Single models gather at a few levels, dotted in the figure: the accuracies of majorities of 3, 5, 7 and all 9 of the hidden bits (Exercise 1). Many models seem to miss some of the places.

# %% mystnb={"figure": {"caption": "At the best epoch, against length: sum of absolute weights, with the start in grey; gap; accuracy; training and validation loss. Small marks are single models, large ones means with 95 % intervals. Dashed: the largest of all models of a length, which is what the paper plots, out of five. Dotted in the panel of the accuracy: majorities of 3, 5, 7 and 9 of the hidden bits. Dashed in the last panel: the loss of guessing.", "name": "fig-majority-trends"}, "image": {"alt": "Four panels against length on a logarithmic axis. The sum of absolute weights falls slowly toward the grey line of the start. The mean gap rises, with single models scattered widely. Accuracy falls from above 0.9 to about 0.7, and single models gather near the dotted levels. Both losses rise, the validation loss a little faster."}} tags=["hide-input"]
fig, axes = figures.new(2, 2, height=5.2, sharex=True)
panels = {"size": "sum of |weights|", "gap": "gap (nats)", "accuracy": "accuracy"}
for ax, (name, label) in zip(axes.flatten(), panels.items(), strict=False):
    for T in lengths:
        spread = [T * 1.006 ** (e - data_sets / 2) for e in range(data_sets)]
        ax.plot(spread, found[T][name], ".", color=figures.GREY, markersize=3, alpha=0.5)
    rows = [average(found[T][name]) for T in lengths]
    error = [[m - a for m, a, _ in rows], [b - m for m, _, b in rows]]
    look = {"color": figures.COLOURS[0], "marker": figures.MARKERS[0], "capsize": 3}
    ax.errorbar(lengths, [r[0] for r in rows], error, linestyle="-", label="mean", **look)
    most = [found[T][name].max() for T in lengths]
    ax.plot(
        lengths,
        most,
        color=figures.COLOURS[1],
        marker=figures.MARKERS[1],
        linestyle="--",
        label="largest",
    )
    ax.set(ylabel=label)
axes[0, 0].plot(
    lengths,
    [found[T]["start"].mean() for T in lengths],
    color=figures.GREY,
    marker="",
    linestyle=":",
    label="start",
)
axes[0, 0].set_ylim(0, None)
for level in part_of_hidden.values():
    axes[1, 0].axhline(level, color="black", linewidth=0.7, linestyle=":", marker="")
for i, (name, label) in enumerate((("loss", "validation"), ("training", "training"))):
    rows = [average(found[T][name]) for T in lengths]
    error = [[m - a for m, a, _ in rows], [b - m for m, _, b in rows]]
    axes[1, 1].errorbar(
        lengths,
        [r[0] for r in rows],
        error,
        color=figures.COLOURS[2 + i],
        marker=figures.MARKERS[2 + i],
        linestyle=figures.DASHES[2 + i],
        capsize=3,
        label=label,
    )
axes[1, 1].axhline(math.log(2), color="black", linewidth=0.8, linestyle="--", marker="")
axes[1, 1].set(ylabel="loss (nats)", ylim=(0, 0.75))
for ax in axes.flatten():
    ax.set_xscale("log", base=2)
    ax.legend(fontsize=8)
    ax.set_xticks(lengths, [str(T) for T in lengths])
    ax.minorticks_off()
for ax in axes[1]:
    ax.set_xlabel("length $T$")
figures.show()

# %% [markdown]
# ## Training that is too short
#
# The best epoch of a run that is cut off is the best one so far. {numref}`fig-majority-epochs` shows what each number of epochs would have given. Accuracy is lower when training is shorter, at every length, so comparing lengths at few epochs compares how fast they learn. The fall with the length is there at every number of epochs. The gap's trend grows with training: short strings go on to close their gap, long ones do not.

# %% tags=["nbval-ignore-output"]
cuts = sorted({max(1, round(calls * 2**-k)) for k in range(5)})
by_cut = {c: {T: runs[T][1].best(c) for T in lengths} for c in cuts}
for c in cuts:
    words = [
        f"{T}: {by_cut[c][T]['accuracy'].mean():.3f} / {by_cut[c][T]['gap'].mean():.3f}"
        for T in lengths
    ]
    print(f"{c * check_every:6} epochs, accuracy / gap   " + "   ".join(words))
short = by_cut[cuts[-3]]
glue(
    short_epochs=cuts[-3] * check_every,
    epochs=epochs,
    short_first=f"{short[lengths[0]]['accuracy'].mean():.2f}",
    short_last=f"{short[lengths[-1]]['accuracy'].mean():.2f}",
    best_first=f"{at_best[lengths[0]]:.0f}",
    best_last=f"{at_best[lengths[-1]]:.0f}",
)

# %% [markdown]
# After {glue:text}`short_epochs` epochs the accuracy is {glue:text}`short_first` at $T =$ {glue:text}`shortest` and {glue:text}`short_last` at $T =$ {glue:text}`longest`. The best epoch is {glue:text}`best_first` on average at the short end, near the end of the run: such models are still improving. At the long end it is {glue:text}`best_last` of {glue:text}`epochs`. There the validation loss often rises again long before the end, and more epochs add little.

# %% mystnb={"figure": {"caption": "Mean over the models of a length, at the best epoch so far, against the number of epochs: accuracy, left, and gap, right.", "name": "fig-majority-epochs"}, "image": {"alt": "Two panels against epochs on a logarithmic axis, one curve a length. Left, accuracy rises for every length and is lower for longer strings throughout. Right, gaps rise from near zero, first those of the shortest strings; later that of the shortest strings falls with training while the others stay or rise, so that they fan out."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.0)
grid = sorted({max(1, round(calls ** (k / 15))) for k in range(16)})
for i, T in enumerate(lengths):
    so_far = [runs[T][1].best(c) for c in grid]
    for ax, name in zip(axes, ("accuracy", "gap"), strict=True):
        ax.plot(
            [c * check_every for c in grid],
            [b[name].mean() for b in so_far],
            color=figures.COLOURS[i % 7],
            marker=figures.MARKERS[i % 7],
            linestyle=figures.DASHES[i % 7],
            markersize=3,
            label=f"$T = {T}$",
        )
axes[0].set(xscale="log", xlabel="epochs", ylabel="accuracy", ylim=(0.45, 1))
axes[1].set(xscale="log", xlabel="epochs", ylabel="gap (nats)", ylim=(0, None))
axes[0].legend(fontsize=8)
figures.show()

# %% [markdown]
# ## Other choices
#
# The same data sets, with one choice changed at a time, at the shortest and the longest length. *Random places* are directions drawn at random in place of sines and cosines, of the same length.

# %% tags=["nbval-ignore-output"]
ends_of = lengths[0], lengths[-1]
others = {}
changed = tuple(KINDS)[1:]
for T in ends_of:
    usual = runs[T][1].best(variant_epochs // check_every)
    others["as above", T] = {k: v[:variants] for k, v in usual.items()}
    _, watch, _ = learn(T, samples, variant_epochs * per_epoch, variants, changed)
    best = watch.best()
    for i, kind in enumerate(changed):
        own = slice(i * variants, (i + 1) * variants)
        others[kind, T] = {k: v[own] for k, v in best.items()}
print(
    f"means over {variants} data sets after {variant_epochs} epochs, T = {ends_of[0]} and {ends_of[1]}"
)
for kind in KINDS:
    a, b = (others[kind, T] for T in ends_of)
    print(
        f"{kind:20}"
        + "".join(
            f"  {name} {a[name].mean():.{digits}f} {b[name].mean():.{digits}f}"
            for name, digits in (("size", 0), ("gap", 3), ("accuracy", 3), ("training", 3))
        )
    )
    print(f"{'':20}  gap, long minus short: {told(difference(b['gap'], a['gap']))}")
rank = {}
for T in ends_of:
    places = runs[T][1].weights["positions"][0, :-1].double()
    values = torch.linalg.svdvals(places - places.mean(0))
    rank[T] = int((values > 0.01 * values[0]).sum())
    print(
        f"T = {T}: {rank[T]} of {min(T, WIDTH)} directions of the places are above 1 % of the first"
    )
steady = {
    kind: difference(others[kind, ends_of[1]]["gap"], others[kind, ends_of[0]]["gap"])
    for kind in KINDS
}
size_falls = sum(
    bool(others[k, ends_of[1]]["size"].mean() < others[k, ends_of[0]]["size"].mean()) for k in KINDS
)
gap_rises = sum(v[0] > 0 for v in steady.values())
apart = difference(
    others["random places", ends_of[1]]["accuracy"], others["as above", ends_of[1]]["accuracy"]
)
glue(
    gap_rises=gap_rises,
    gap_sure=sum(v[1] > 0 for v in steady.values()),
    variants=variants,
    size_falls=size_falls,
    kinds=len(KINDS),
    random_accuracy=f"{others['random places', ends_of[1]]['accuracy'].mean():.2f}",
    wave_accuracy=f"{others['as above', ends_of[1]]['accuracy'].mean():.2f}",
    rank=rank[ends_of[1]],
    half_gaps=" and ".join(f"{others['start halved', T]['gap'].mean():.3f}" for T in ends_of),
)

# %% [markdown]
# The size is smaller at the long end in {glue:text}`size_falls` of {glue:text}`kinds` rows. The mean gap is larger there in {glue:text}`gap_rises`; with only {glue:text}`variants` data sets the interval of the difference is above 0 in {glue:text}`gap_sure`. With a halved start, which learns more slowly, the two gaps are {glue:text}`half_gaps`. So the rise of the gap is not a law of $T$. Its size depends on choices that the text leaves open, and at few epochs it points the other way ({numref}`fig-majority-epochs`).
#
# One row stands out. With random places the accuracy at $T =$ {glue:text}`longest` is {glue:text}`random_accuracy` instead of {glue:text}`wave_accuracy`. The samples were enough, and the layer was able. What fails are the sines and cosines: the table of {glue:text}`longest` places has {glue:text}`rank` directions that matter, and neighbours look alike. A layer that must treat nine places unlike their neighbours finds too little to hold on to. That is also why the training loss rises with $T$.
#
# ## The number of samples
#
# Does our test see a trend where there is one? The gap should fall with the number $m$ of samples. Some of the same data sets and as many steps, at the second length, with a third of the samples and with three times as many:

# %% tags=["nbval-ignore-output"]
second = lengths[1]
steps = epochs * per_epoch
few = min(16, data_sets)
by_m = {samples: found[second]["gap"][:few]}
for m in (samples // 3, 3 * samples):
    _, watch, _ = learn(second, m, steps, few)
    by_m[m] = watch.best()["gap"]
m_at = [m for m, gaps in by_m.items() for _ in range(len(gaps))]
m_gaps = [v for gaps in by_m.values() for v in gaps.tolist()]
m_slope = trend(m_at, m_gaps)
for m, gaps in sorted(by_m.items()):
    print(f"m = {m:4}  gap {told(average(gaps))}")
print(f"per doubling of m: {told(m_slope, 4)}")
glue(m_slope=told(m_slope), second=second)

# %% [markdown]
# The gap changes by {glue:text}`m_slope` per doubling of $m$ at $T =$ {glue:text}`second`.
#
# ## What few data sets can show
#
# The scatter of single models says how large a trend must be to be seen. A slope over $n$ models has the standard error $s / (\sqrt n\, v)$, where $s$ is the scatter about the line and $v$ the standard deviation of $\log_2 T$. A trend of $2.8$ standard errors is found four times in five.

# %%
residual = stats.linregress([math.log2(T) for T in table["T"]], table["gap"])
fitted = [residual.intercept + residual.slope * math.log2(T) for T in table["T"]]
scatter = math.sqrt(
    sum((g - f) ** 2 for g, f in zip(table["gap"], fitted, strict=True)) / (len(fitted) - 2)
)
mean_gap = sum(table["gap"]) / len(table["gap"])
paper_lengths = range(20, 201, 20)
older = math.sqrt(math.log(samples * 200) / math.log(samples * 20)) ** (1 / math.log2(10)) - 1


def visible(at, each):
    """Smallest change per doubling, as a share of the mean gap, that is found four times in five."""
    logs = torch.tensor([math.log2(T) for T in at], dtype=torch.float64)
    v = logs.std(correction=0).item()
    return 2.8 * scatter / (math.sqrt(each * len(at)) * v) / mean_gap


generator = torch.Generator().manual_seed(seed)


def seen(each, draws=300):
    """Share of redraws, that many models a length, whose slope has an interval above 0."""
    count = 0
    for _ in range(draws):
        rows = torch.stack(
            [
                found[T]["gap"][torch.randint(data_sets, (each,), generator=generator)]
                for T in lengths
            ]
        )
        at = [T for T in lengths for _ in range(each)]
        count += trend(at, rows.flatten().tolist())[1] > 0
    return count / draws


needed = 50 * (visible(paper_lengths, 5) / older) ** 2
power3, power_all = seen(3), seen(data_sets)
glue(
    visible=f"{100 * visible(paper_lengths, 5):.0f}",
    visible3=f"{100 * visible(lengths, 3):.0f}",
    older=f"{100 * older:.1f}",
    needed=f"{float(f'{needed:.1g}'):.0f}",
    power3=f"{100 * power3:.0f}",
    power_all=f"{100 * power_all:.0f}",
    own_slope=f"{100 * slopes['gap'][0] / mean_gap:.0f}",
)
print("three data sets find our own trend less often than not:", power3 < 0.5)
print(
    "the older bound's growth is visible with the paper's runs:", visible(paper_lengths, 5) < older
)

# %% [markdown]
# Three data sets at each of our lengths show a change of {glue:text}`visible3` % of the mean gap per doubling. Of random choices of three, {glue:text}`power3` % find the trend that is in our data, {glue:text}`own_slope` % per doubling; of random choices as large as ours, {glue:text}`power_all` % do. The paper's fifty runs, with all of them used and not the largest of five, would show {glue:text}`visible` % per doubling if they scatter as ours do.
#
# The question behind the figure is whether a gap grows like $\sqrt{\log(mT)}$ or not at all. Over the paper's lengths this root grows by {glue:text}`older` % per doubling. About {glue:text}`needed` runs would be needed to see that much. And a gap is not its bound, so even these would not settle it.
#
# ## The bounds at the trained weights
#
# The loss of two logits depends on their difference, the *margin*, and moves no faster than it. So the gap is at most twice the Rademacher complexity of the margins, in expectation, and for two heads that is at most twice the complexity of one. We put the norms of each trained model at its best epoch into the paper's Corollary 4.1.1, repaired, with all constants, and into the earlier bound, whose own constant is taken as 1. Both take the norms as if they had been fixed in advance, which is too kind. Cross entropy is not bounded either, so a full bound would have one more term.

# %% tags=["nbval-ignore-output"]
norms = {
    T: [
        task.margin_norms(spec, {k: v[e] for k, v in watch.weights.items()})
        for e in range(data_sets)
    ]
    for T, (spec, watch, _) in runs.items()
}


def bounds(T, m):
    """Medians over the models of a length: both bounds on the gap, and the largest margin."""
    free = [2 * HEADS * single_layer.length_free_bound(n, WIDTH, m) for n in norms[T]]
    old = [2 * HEADS * single_layer.length_bound(n, WIDTH, T + 1, m) for n in norms[T]]
    return middle(free), middle(old), middle([HEADS * n.largest for n in norms[T]])


at_m = {T: bounds(T, samples) for T in lengths}
typical = {T: sorted(norms[T], key=lambda n: n.largest)[data_sets // 2] for T in lengths}
enough = {
    T: single_layer.least_samples(typical[T], WIDTH, average(found[T]["gap"])[0] / (2 * HEADS))
    for T in lengths
}
print("medians at the best epoch")
for T in lengths:
    free, old, top = at_m[T]
    gap = average(found[T]["gap"])[0]
    print(
        f"T = {T:3}  gap {gap:.3f}  largest margin {top:9.1f}  free of T {free:11.1f}  "
        f"with T {old:11.1f}  decades {math.log10(free / gap):.1f}  samples for the gap {enough[T]:.1e}"
    )
decades = [math.log10(at_m[T][0] / average(found[T]["gap"])[0]) for T in lengths]
glue(
    decades_low=f"{min(decades):.1f}",
    decades_high=f"{max(decades):.1f}",
    enough=f"{math.log10(middle(list(enough.values()))):.0f}",
    top=f"{at_m[lengths[-1]][2]:.0f}",
    m=samples,
)

# %% [markdown]
# Both bounds are {glue:text}`decades_low` to {glue:text}`decades_high` decades above the gaps, and they coincide. At {glue:text}`m` samples neither says more than that margins are bounded at all, and by constants less: with the norms of a typical model at $T =$ {glue:text}`longest` no margin exceeds {glue:text}`top`. To bring the bound down to the gap takes about $10^k$ samples with $k =$ {glue:text}`enough` ({numref}`fig-majority-bounds`). So the theorem is not contradicted by a gap that rises, and not supported by one that does not.

# %% mystnb={"figure": {"caption": "Left: measured gap (mean), largest margin that the norms allow, and both bounds on the gap, at the trained weights, against length. Right: both bounds against the number of samples, at the norms of a typical model of the longest strings; the cross is what was measured.", "name": "fig-majority-bounds"}, "image": {"alt": "Left, on a logarithmic axis, the gaps lie below 0.1 while both bounds lie on one another far above a thousand, a little above the largest margin. Right, both bounds are level up to many millions of samples, then fall side by side on logarithmic axes; the cross of the measured gap is far below at three hundred samples."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.3)
lines = (
    ("with $T$", [at_m[T][1] for T in lengths]),
    ("free of $T$", [at_m[T][0] for T in lengths]),
    ("largest margin", [at_m[T][2] for T in lengths]),
    ("gap", [average(found[T]["gap"])[0] for T in lengths]),
)
for i, (label, values) in enumerate(lines):
    look = {"color": figures.COLOURS[i], "marker": figures.MARKERS[i]}
    axes[0].plot(lengths, values, linestyle=figures.DASHES[i], label=label, **look)
axes[0].set(xlabel="length $T$", ylabel="nats", yscale="log")
axes[0].set_xscale("log", base=2)
axes[0].set_xticks(lengths, [str(T) for T in lengths])
axes[0].minorticks_off()
grid = [10**k for k in range(2, 23)]
T = lengths[-1]
for i, (label, bound) in enumerate(
    (
        ("with $T$", lambda m: single_layer.length_bound(typical[T], WIDTH, T + 1, m)),
        ("free of $T$", lambda m: single_layer.length_free_bound(typical[T], WIDTH, m)),
    )
):
    axes[1].plot(
        grid,
        [2 * HEADS * bound(m) for m in grid],
        color=figures.COLOURS[i],
        marker="",
        linestyle=figures.DASHES[i],
        label=label,
    )
axes[1].plot(samples, average(found[T]["gap"])[0], "X", color=figures.COLOURS[3], label="gap")
axes[1].set(xscale="log", yscale="log", xlabel="samples $m$", ylabel="nats")
for ax in axes:
    ax.legend(fontsize=8)
figures.show()

# %% [markdown]
# ## All lengths of the paper
#
# `--preset paper` has the paper's ten lengths, five data sets, 10 000 validation strings and 200 000 epochs. What is stored has fewer epochs:

# %%
stored = results.load("lengthfree/sparse_majority", "runs")
if stored is None:
    print("No longer run is stored here.")
else:
    print(stored.provenance_line())
kept = table if stored is None else {name: stored[name] for name in COLUMNS}
kept_lengths = sorted(set(kept["T"]))
kept_at = {
    name: {
        T: f64([v for v, t in zip(kept[name], kept["T"], strict=True) if t == T])
        for T in kept_lengths
    }
    for name in COLUMNS[2:]
}

# %% tags=["nbval-ignore-output"]
for T in kept_lengths:
    print(
        f"T = {T:3}  "
        + "  ".join(
            f"{name} {kept_at[name][T].mean():.{d}f}, largest {kept_at[name][T].max():.{d}f}"
            for name, d in (("size", 0), ("gap", 3), ("accuracy", 3), ("epoch", 0))
        )
    )
kept_words = {}
for name, digits in (("size", 0), ("gap", 4), ("accuracy", 4)):
    all_of = trend(kept["T"], kept[name])
    extreme = trend(kept_lengths, [kept_at[name][T].max().item() for T in kept_lengths])
    kept_words[name] = told(all_of, digits), told(extreme, digits)
    print(
        f"{name:9} per doubling of T: {kept_words[name][0]}; of the largest {kept_words[name][1]}"
    )
    glue(**{f"kept_{name}": kept_words[name][0]}, **{f"kept_{name}_largest": kept_words[name][1]})
beyond = [(T, v) for T, v in zip(kept["T"], kept["accuracy"], strict=True) if T >= 60]
kept_late = trend(*zip(*beyond, strict=True))
print(f"accuracy from T = 60 on, per doubling: {told(kept_late)}")
glue(
    kept_late=told(kept_late),
    kept_each=len(kept["T"]) // len(kept_lengths),
    kept_count=len(kept_lengths),
    kept_epochs=epochs if stored is None else stored.provenance["parameters"]["epochs"],
)

# %% [markdown]
# With {glue:text}`kept_count` lengths, {glue:text}`kept_each` data sets each and {glue:text}`kept_epochs` epochs, the slopes per doubling of $T$ over all models are {glue:text}`kept_size` for the size, {glue:text}`kept_gap` for the gap and {glue:text}`kept_accuracy` for the accuracy. From the largest of each length alone, as in the paper's figures, they are {glue:text}`kept_size_largest`, {glue:text}`kept_gap_largest` and {glue:text}`kept_accuracy_largest`. From $T = 60$ on the accuracy changes by {glue:text}`kept_late` per doubling. So most of the fall is at short lengths, and in a plot of few models the rest may pass for a plateau.

# %% mystnb={"figure": {"caption": "The stored run, or this page's own where none is stored: gap and accuracy against length. Dots are single models, the dashed line joins the largest of each length as in the paper, the solid line the means.", "name": "fig-majority-stored"}, "image": {"alt": "Two panels against length from 20 to 200. Left, gaps of single models scatter between zero and 0.2; their mean rises at short lengths and then wavers, the line of the largest wavers more. Right, mean accuracy falls from above 0.9 to about 0.7, the largest from 1 to about 0.8."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.0)
for ax, name, label in zip(axes, ("gap", "accuracy"), ("gap (nats)", "accuracy"), strict=True):
    ax.plot(kept["T"], kept[name], ".", color=figures.GREY, markersize=4, alpha=0.6)
    for i, (what, pick) in enumerate((("mean", torch.mean), ("largest", torch.max))):
        ax.plot(
            kept_lengths,
            [pick(kept_at[name][T]) for T in kept_lengths],
            color=figures.COLOURS[i],
            marker=figures.MARKERS[i],
            linestyle=figures.DASHES[i],
            label=what,
        )
    ax.set(xlabel="length $T$", ylabel=label)
axes[0].set_ylim(0, None)
axes[0].legend(fontsize=8)
figures.show()

# %% [markdown]
# ## What would falsify this
#
# *No upward trend* of a quantity is false if its slope over $\log_2 T$ is above 0, and *no fall* if it is below, at a confidence of 95 % on that one side. For the size there is a sharper question: does what training adds grow as fast as $\log T$, that is, by a share $1 / \log_2 T$ per doubling, with $T$ in the middle? The controls read the same models after a number of epochs proportional to $T^2$. For the gap and the accuracy the control shuffles the lengths among the models (medians over 25 shuffles). "Plateau" is judged without the shortest length.

# %% tags=["nbval-ignore-output"]


def bounded(at, values):
    """Slope, and bounds below and above it, each at 95 %."""
    return trend(at, values, level=0.9)


def shuffled(at, values, end):
    """The bound with values shuffled, median over 25 shuffles."""
    orders = [torch.randperm(len(values), generator=generator).tolist() for _ in range(25)]
    return middle([bounded(at, [values[i] for i in order])[end] for order in orders])


def lengthened():
    """Sizes of all models after a number of epochs proportional to the square of the length."""
    looks = {T: max(1, round(calls * (T / lengths[-1]) ** 2)) for T in lengths}
    return [v for T in lengths for v in runs[T][1].rows("size")[looks[T] - 1].tolist()]


grown = lengthened()
grown_added = [v - s for v, s in zip(grown, table["start"], strict=True)]
logarithmic = 1 / math.log2(math.sqrt(lengths[0] * lengths[-1]))
mean_added, mean_grown = (sum(v) / len(v) for v in (added, grown_added))
late = [i for i, T in enumerate(table["T"]) if lengths[0] < T]
later = [[table[k][i] for i in late] for k in ("T", "accuracy")]
late_slope = trend(*later)
glue(late_slope=told(late_slope))
apart_half = difference(
    others["start halved", ends_of[1]]["accuracy"], others["as above", ends_of[1]]["accuracy"]
)
uninformative = min(
    single_layer.length_free_bound(n, WIDTH, samples) / n.largest for T in lengths for n in norms[T]
)
informed = max(
    single_layer.length_free_bound(n, WIDTH, 10 ** math.ceil(math.log10(enough[T]))) / n.largest
    for T, n in typical.items()
)
ledger.result("lengthfree.fig1").holds(
    "our model, Figure 1's quantity: slope of the sum of absolute weights, lower bound; control: epochs proportional to $T^2$",
    bounded(table["T"], table["size"])[1],
    at_most=0,
    control=bounded(table["T"], grown)[1],
    about="ours",
    evidence="trained",
)
ledger.result("lengthfree.fig1").holds(
    "our model: what training adds, slope as a share of its mean, upper bound, against growth like $\\log T$; control: epochs proportional to $T^2$",
    bounded(table["T"], added)[2] / mean_added,
    at_most=logarithmic,
    control=bounded(table["T"], grown_added)[2] / mean_grown,
    about="ours",
    evidence="trained",
)
ledger.result("lengthfree.fig2").refuted(
    "our model, all runs: no upward slope of the gap, lower bound; control: lengths shuffled",
    bounded(table["T"], table["gap"])[1],
    at_most=0,
    control=shuffled(table["T"], table["gap"], 1),
    about="ours",
    evidence="trained",
)
ledger.result("lengthfree.fig3").refuted(
    "our model, all runs: no fall of the accuracy beyond the shortest length, upper bound; control: lengths shuffled",
    bounded(*later)[2],
    at_least=0,
    control=shuffled(*later, 2),
    about="ours",
    evidence="trained",
)
ledger.result("lengthfree.fig2").holds(
    "slope of the gap over $\\log_2 m$, upper bound; control: sample sizes shuffled",
    bounded(m_at, m_gaps)[2],
    at_most=0,
    control=shuffled(m_at, m_gaps, 2),
    about="ours",
    evidence="trained",
)
ledger.result("lengthfree.fig3").holds(
    "longest length: accuracy with random places minus that with sines, lower end; control: start halved in place of random places",
    apart[1],
    at_least=0,
    control=apart_half[1],
    about="ours",
    evidence="trained",
)
ledger.result("lengthfree.fig2").holds(
    "Theorem 4.1 at the trained norms over the largest output they allow; control: at the sample size where it meets the gap",
    uninformative,
    at_least=1,
    control=informed,
    about="ours",
    evidence="trained",
)

ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# We read `run_experiment.py`, the only program of the repository `traugerjacob/Transformer-Gen-Bounds`. It fixes what the text leaves open, and differs from our model in most of it: stochastic gradient descent with momentum 0.9 and the rate 0.01, which is multiplied by 0.999 an epoch down to 0.001, where we have Adam; a ReLU and a dense layer of 64 columns between attention and read-out, so that the output is no ratio of two linear functions; the vectors for 0, 1 and the class token have 1-norm 1, ours Euclidean length 1; the class token stands last, and is not trained; a column of the places is a sine or a cosine by its parity, with the exponent $i/64$ for column $i$. Two outputs have a binary cross entropy each. Its best epoch is that of the least validation loss, as ours; but training stops at the first epoch with training accuracy 1, where ours goes on. With this program the three figures have still to be redone.
#
# ## What we found
#
# * In our model the weights do not grow with $T$, not even logarithmically. They fall, because longer strings reach their best epoch sooner. Most of the sum of absolute weights is there before training, so the part that training adds is the better thing to look at.
# * The mean gap rises with $T$ by {glue:text}`gap_slope` per doubling. Few data sets do not show it, and it depends on choices that the text leaves open. The largest gap of each length, which is what Figure 2 shows, changes by {glue:text}`kept_gap_largest` per doubling in the stored run: no discernible trend, as the paper says.
# * The accuracy falls, more slowly at the long end but without reaching a plateau: {glue:text}`late_slope` per doubling beyond $T =$ {glue:text}`shortest`. The encoding of places is to blame, not the length: with random places most of the fall is gone.
# * Bound and gap are {glue:text}`decades_low` to {glue:text}`decades_high` decades apart. Such figures neither confirm nor refute the theorem, and could not tell its bound from the one with $\log T$.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# A model has found $k$ of the nine hidden bits and answers by their majority. How often is it right? Why does it gain nothing from an even $k$ over $k - 1$, if it breaks ties by a coin?
# ```

# %% tags=["hide-cell"]
# Count the strings on which both majorities agree. An even k-th bit changes the answer only by making a tie, and on a tie both answers are right equally often, by symmetry: the coin is as good as the majority of the first k - 1.
for k in range(1, 10, 2):
    print(f"k = {k}: {part_right(k):.4f}")

# %% [markdown]
# ```{admonition} Exercise 2
# Which majorities can one head compute exactly, if it may give every place any weight $z_k$ and any $u_k$? Build it for hidden places $I$, and say what the class token is good for.
# ```

# %% tags=["hide-cell"]
# Weight 1 on the places of I and 0 elsewhere, u = 1 for a one and -1 for a zero: the average is (2 sum - |I|) / |I|, positive exactly for a majority. The class token gets weight 0; with weight 1 and u = 0 it divides by |I| + 1 instead, which changes no sign.
bits = torch.randint(0, 2, (1000, 20), generator=torch.Generator().manual_seed(seed))
inside = bits[:, :9]
for weight in (0, 1):
    margin = (2 * inside - 1).sum(1) / (9 + weight)
    print(
        f"class token's weight {weight}: wrong on {int(((margin > 0).long() != task.majority(inside)).sum())} of 1000"
    )

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment and the bound are from {cite:t}`lengthfree`, the earlier bound from {cite:t}`variables`.
