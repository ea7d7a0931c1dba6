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
# (ch-sharpness-vs-length)=
# # Sharpness grows with length for PARITY
#
# **Claim.** A transformer that has learned PARITY sits in a sharper minimum the longer its strings are. One that has learned MAJORITY, FIRST or MEAN does not. We find both on strings of 4 to 8 bits: PARITY is the sharpest at every length, and the only one with a slope to speak of. The two orders of magnitude between the functions, which the paper sees at 30 bits, are not there yet at 8.
#
# **Needs** {ref}`ch-average-sensitivity` and {ref}`ch-sharpness`. **Runs in** 90 s. **Source** printed.
#
# A function $f$ on strings of $n$ bits is *sensitive* if flipping one bit often changes it. Its average sensitivity $\mathrm{as}_n(f)$ is $n$ for PARITY, of order $\sqrt n$ for MAJORITY, 1 for FIRST and $1/n$ for MEAN. Let $T_\theta$ be a transformer with weights $\theta$. Its *average direction sharpness* is the mean square by which its output moves when all weights but the positions get random noise,
#
# $$L_{\rho, n}(T_\theta) = \mathbb E_x\, \mathbb E_\Delta\, (T_{\theta + \Delta}(x) - T_\theta(x))^2 , \qquad x \in \{0, 1\}^n \text{ uniform.}$$
#
# In the paper's theory $\Delta$ is uniform on the sphere of radius $\rho$ and outputs lie in $[-1, 1]$. In its experiments $\Delta$ is Gaussian with standard deviation $\sigma = 0.02$ in every weight, and targets lie in $[0, 1]$. We do as in the experiments and multiply by 4, which brings the theory's unit back. In that unit a model of PARITY that noise turns into the constant $\frac12$ has sharpness 1.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 7.2, Figures 1, 5, 6 and Table 2
# :label: sensitive-fig1
# Transformers are trained on each function at lengths 4 to 30, ten times each. The regression slope of sharpness on $n$ is $5.0 \cdot 10^{-2}$ for PARITY, $1.8 \cdot 10^{-3}$ for MAJORITY, $6.4 \cdot 10^{-5}$ for FIRST and $-1.9 \cdot 10^{-5}$ for MEAN. At $n \approx 30$ the sharpness of PARITY is near 1, and that of the others is orders of magnitude lower.
# ```
#
# **Why it should be so.** The paper's Theorem 6 bounds sharpness from below by about $\mathrm{as}_n(f) / 2n$ for long strings, whatever $\rho$. For PARITY this is a constant, for the other functions it tends to 0. The theorem says nothing about a fixed $n$: how long strings must be depends on $\rho$. So whether eight bits show anything is a question for experiment.
#
# **What could deceive.** Runs that have not learned their function are flat for another reason, so they are left out, as in the paper, but counted. Noise of a fixed size is relatively larger for smaller weights, and weight decay makes weights smaller with every step. So all functions are trained for the same number of steps, and we also compare them at equal norm.

# %% tags=["parameters"]
lengths = [4, 6, 8]  # bits of a string, at least two lengths [3..8]
parity_runs = 6  # runs of PARITY at each length [6..20]
other_runs = 3  # runs of each other function at each length [3..20]
steps = 1300  # of every run [1200..4000]
learning_rate = 3e-3  # of AdamW [2e-3..4e-3]
weight_decay = 0.1  # of AdamW [0.05..0.15]
width = 32  # columns of the model [32..64]
batch = 256  # strings in a step; the whole cube if it has no more [256..1024]
sigma = 0.02  # standard deviation of the noise in a weight [0.01..0.03]
draws = 40  # of the noise, for each model [20..500]
redraws = 2000  # of the bootstrap [500..20000]
seed = 0  # of everything random [0..100000]
series = ""  # name under which a large run is stored; empty: no large run
big_lengths = [4, 6, 8, 10]  # its lengths [3..30]
big_runs = 4  # its runs of each function at each length [2..20]
big_steps = 3000  # steps of each of its runs [100..100000]
big_rate = 2e-3  # its learning rate [1e-4..1e-2]
big_width = 32  # columns of its models [8..256]
big_batch = 256  # strings in a step of it [64..4096]

# %% [markdown]
# ## Training
#
# The model is the paper's at a quarter of its width: two layers of two heads, layer norm after each block, a learned position beside the token, output read at the last token. AdamW takes the same number of steps for every function. Learning rate times steps is about that of the paper (0.0003 times 10 000), so that weight decay has as much time to work. A batch is the whole cube of $2^n$ strings where it has no more strings than a batch. All models of one length train in one stack.
#
# A run has *converged* if its mean squared error over all strings is at most 0.001, for targets in $[0, 1]$. At the largest length we follow sharpness and norm through training.

# %%
import functools

import torch

from helpers import statistics
from helpers.book import figures, results
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.nets.transformer import forward
from helpers.sensitive import brittle
from helpers.sharpness import SquaredLoss, perturbed_loss
from helpers.statistics import bootstrapped, ends, told

ledger = Ledger("sensitive/sharpness_vs_length")
lengths = sorted(set(lengths))
if len(lengths) < 2:
    raise ValueError(f"a slope needs two lengths, got {lengths}")
largest = lengths[-1]
functions = brittle.FUNCTIONS
followed_every = 200


def seeds_of(n, names):
    """One seed a run, the same for every function."""
    number = [names[:e].count(name) for e, name in enumerate(names)]
    return [10_000 * seed + 100 * n + k for k in number]


table = {key: [] for key in ("name", "n", "mse", "sharpness", "stderr", "blowup", "norm")}
for n in lengths:
    names = ["PARITY"] * parity_runs + [f for f in functions[1:] for _ in range(other_runs)]
    model = brittle.spec(n, width)
    strings = brittle.strings_of(n)

    def sharp_so_far(weights, _, model=model, strings=strings):
        noise = torch.Generator().manual_seed(seed)
        return brittle.sharpness(model, weights, strings, 10, noise, sigma=sigma).mean

    watch = {"norm": lambda w, _, model=model: brittle.parameter_norm(model, w)}
    trained = brittle.learn(
        model,
        names,
        seeds_of(n, names),
        steps,
        B=batch,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        metrics=watch | {"sharpness": sharp_so_far} if n == largest else {},
        metrics_every=followed_every,
    )
    noise = torch.Generator().manual_seed(seed + n)
    found = brittle.measure(model, trained.weights, names, draws, noise, sigma=sigma)
    table["name"] += names
    table["n"] += [n] * len(names)
    for key in ("mse", "sharpness", "stderr", "blowup", "norm"):
        table[key] += getattr(found, key).tolist()
runs = {k: torch.tensor(v, dtype=torch.float64) for k, v in table.items() if k != "name"}
runs["f"] = torch.tensor([functions.index(name) for name in table["name"]])
last = model, names, trained  # those of the largest length, for later
print(f"lengths {', '.join(map(str, lengths))}; width {width}; {steps} steps")

# %% [markdown]
# ## Slopes
#
# For each function we regress sharpness on $n$, over its converged runs. The intervals are 95 % bootstrap intervals: the runs of each function and length are redrawn with replacement. *Ratio* is the mean sharpness of PARITY over the largest of the three other means, at the largest length.

# %% tags=["nbval-ignore-output"]
bootstrap = torch.Generator().manual_seed(seed)


def analyse(kept, count):
    """Slopes by function and means by class: of the runs, then of ``count`` redraws of them."""
    f, n, values = kept["f"], kept["n"], kept["sharpness"]
    picks = statistics.redrawn((1000 * f + n).long(), count, bootstrap)
    both = torch.cat((values[None], values[picks]))  # (1 + count, runs)
    slopes, means = {}, {}
    for i, name in enumerate(functions):
        own = f == i
        if len(n[own].unique()) > 1:
            slopes[name] = statistics.slope(n[own], both[:, own])
        for at in n[own].unique().tolist():
            means[name, int(at)] = both[:, own & (n == at)].mean(1)
    return slopes, means


def slope_of_parity(slopes, _):
    return slopes["PARITY"]


def excess(slopes, _):
    """PARITY's slope minus the largest other slope."""
    return slopes["PARITY"] - torch.stack([slopes[name] for name in functions[1:]]).amax(0)


def ratio(_, means):
    """PARITY's sharpness over the largest other, at the largest length."""
    return means["PARITY", largest] / torch.stack(
        [means[name, largest] for name in functions[1:]]
    ).amax(0)


def lower_end(values):
    """Of the 95 % interval."""
    return bootstrapped(values).low


def estimate(values):
    """The value itself."""
    return bootstrapped(values).value


def shuffled(kept, column, what, read=lower_end):
    """The same with lengths shuffled in each function, or functions in each length: median."""
    strata = kept["n" if column == "f" else "f"].long()
    found = []
    for _ in range(25):
        order = statistics.redrawn(strata, 1, bootstrap, replace=False)[0]
        mixed = {**kept, column: kept[column][order]}
        found.append(read(what(*analyse(mixed, redraws // 5))))
    return statistics.middle(found)


done = runs["mse"] <= brittle.CONVERGED
kept = {k: v[done] for k, v in runs.items()}
for i, name in enumerate(functions):
    for n in lengths:
        if not ((kept["f"] == i) & (kept["n"] == n)).any():
            raise ValueError(
                f"no run of {name} with n = {n} converged; give more steps than {steps}"
            )
slopes, means = analyse(kept, redraws)
paper = {"PARITY": 5.0e-2, "MAJORITY": 1.8e-3, "FIRST": 6.4e-5, "MEAN": -1.9e-5}
print("function   " + "".join(f"{f'n = {n}':>27}" for n in lengths))
converged = {}
for i, name in enumerate(functions):
    cells = []
    for n in lengths:
        own = (runs["f"] == i) & (runs["n"] == n)
        converged[name, n] = int((runs["mse"][own] <= brittle.CONVERGED).sum()), int(own.sum())
        cells.append(told(means[name, n], 4))
    print(f"{name:10} " + "".join(f"{cell:>27}" for cell in cells))
    counts = (f"{c} of {all_} converged" for c, all_ in (converged[name, n] for n in lengths))
    print(f"{'':10} " + "".join(f"{cell:>27}" for cell in counts))
print("\nfunction    slope per bit [95 %]              Pearson r   the paper's slope, n = 4 to 30")
pearson = {}
for i, name in enumerate(functions):
    own = kept["f"] == i
    pair = torch.stack((kept["n"][own], kept["sharpness"][own]))
    pearson[name] = torch.corrcoef(pair)[0, 1].item()
    print(f"{name:10} {told(slopes[name], 4):>32} {pearson[name]:10.2f} {paper[name]:18.6f}")
    low, high = ends(slopes[name][1:])
    glue(
        **{f"slope_{name}": f"{slopes[name][0]:.4f} ({low:.4f} to {high:.4f})"},
        **{f"sharp_{name}": means[name, largest][0].item()},
    )
print(f"\nratio at n = {largest}: {told(ratio(slopes, means), 4)}")
print(f"slope of PARITY minus the largest other slope: {told(excess(slopes, means), 4)}")
lost = sum(all_ - c for c, all_ in converged.values())
glue(
    lost=lost,
    all_runs=len(runs["n"]),
    largest=largest,
    smallest=lengths[0],
    ratio=ratio(slopes, means)[0].item(),
    pearson=pearson["PARITY"],
    stderr_share=(runs["stderr"] / runs["sharpness"]).median().item() * 100,
)

# %% [markdown]
# PARITY's slope is {glue:text}`slope_PARITY` per bit. The paper's 0.05 is an average up to 30 bits, where the curve is steeper. The other slopes are {glue:text}`slope_MAJORITY` for MAJORITY, {glue:text}`slope_FIRST` for FIRST and {glue:text}`slope_MEAN` for MEAN. At $n = ${glue:text}`largest` the mean sharpness of PARITY is {glue:text}`sharp_PARITY:.3f`, against {glue:text}`sharp_MAJORITY:.3f`, {glue:text}`sharp_FIRST:.3f` and {glue:text}`sharp_MEAN:.3f`: {glue:text}`ratio:.1f` times the largest of the others ({numref}`fig-sharpness-length`). {glue:text}`lost` of {glue:text}`all_runs` runs did not converge and are not in these means; the figure shows them as open marks. The noise itself is averaged over {glue:text}`draws` draws, which leaves an error of {glue:text}`stderr_share:.0f` % in the median run; runs differ by more.

# %% mystnb={"figure": {"caption": "Sharpness of trained models against the length of their strings. Lines join the means of converged runs; shades are their 95 % bootstrap intervals. Small marks are single runs, open ones those that did not converge.", "name": "fig-sharpness-length"}, "image": {"alt": "Sharpness against length, four lines. PARITY is highest at every length and rises, with single runs that spread more the longer the strings are. MAJORITY, FIRST and MEAN lie close together below it and are almost level."}} tags=["hide-input"]
glue(draws=draws)
fig, ax = figures.new(height=3.6)
for i, name in enumerate(functions):
    look = {"color": figures.COLOURS[i], "marker": figures.MARKERS[i]}
    ax.plot(
        lengths,
        [means[name, n][0] for n in lengths],
        linestyle=figures.DASHES[i],
        label=f"{name}, slope {slopes[name][0]:.4f}",
        **look,
    )
    bounds = [ends(means[name, n][1:]) for n in lengths]
    figures.interval(
        ax, lengths, [b[0] for b in bounds], [b[1] for b in bounds], color=look["color"]
    )
    for good in (True, False):
        own = (runs["f"] == i) & (done == good)
        ax.plot(
            runs["n"][own] + 0.08 * (i - 1.5),
            runs["sharpness"][own],
            linestyle="none",
            markersize=3,
            alpha=0.6,
            fillstyle="full" if good else "none",
            **look,
        )
ax.set(xlabel="bits of a string, $n$", ylabel="sharpness", xticks=lengths, ylim=(0, None))
ax.legend()
figures.show()

# %% [markdown]
# ## At equal norm
#
# PARITY is learned later and keeps a larger norm. Noise of a fixed size is then relatively smaller, and the comparison above makes PARITY look less sharp than it is. To take the norm out, we read off the sharpness of the other functions' runs when their norm passed the mean final norm of PARITY's converged runs, at the largest length. Between two looks we interpolate.

# %% tags=["nbval-ignore-output"]
model, names, trained = last
own = runs["n"] == largest
good = {name: (own & done & (runs["f"] == i)) for i, name in enumerate(functions)}
norm = runs["norm"][good["PARITY"]].mean().item()


def at_norm(e):
    """Sharpness of run e of the largest length when its norm fell to that of PARITY."""
    norms, sharp = (trained.metrics[k][:, e] for k in ("norm", "sharpness"))
    below = (norms <= norm).nonzero().flatten()
    if not len(below):
        return sharp[-1].item()
    k = int(below[0])
    if k == 0:
        return sharp[0].item()
    share = (norms[k - 1] - norm) / (norms[k - 1] - norms[k])
    return (sharp[k - 1] + share * (sharp[k] - sharp[k - 1])).item()


equal = {k: v[own & done] for k, v in runs.items()}
chosen = done[own].nonzero().flatten().tolist()
equal["sharpness"] = torch.tensor(
    [runs["sharpness"][own][e].item() if names[e] == "PARITY" else at_norm(e) for e in chosen],
    dtype=torch.float64,
)
_, equal_means = analyse(equal, redraws)
print(f"n = {largest}: final norm, blow-up, and sharpness at the norm {norm:.2f} of PARITY")
for name in functions:
    print(
        f"{name:10} {runs['norm'][good[name]].mean():8.2f} {runs['blowup'][good[name]].mean():8.2f}"
        f" {told(equal_means[name, largest], 4):>28}"
    )
print(f"ratio: {told(ratio(None, equal_means), 4)}")
glue(equal_norm=norm, equal_ratio=ratio(None, equal_means)[0].item())
for name in functions:
    glue(**{f"norm_{name}": runs["norm"][good[name]].mean().item()})

# %% [markdown]
# PARITY ends at a norm of {glue:text}`norm_PARITY:.1f`, MAJORITY at {glue:text}`norm_MAJORITY:.1f`, FIRST at {glue:text}`norm_FIRST:.1f` and MEAN at {glue:text}`norm_MEAN:.1f`. At the norm {glue:text}`equal_norm:.1f` the sharpness of PARITY is {glue:text}`equal_ratio:.1f` times the largest of the others ({numref}`fig-sharpness-norm`).

# %% mystnb={"figure": {"caption": "Sharpness against parameter norm through training, at the largest length; one line a run that converged in the end. Training goes from right to left, the large mark is its end. The vertical line is the norm at which functions are compared.", "name": "fig-sharpness-norm"}, "image": {"alt": "Sharpness against norm. Lines of MAJORITY, FIRST and MEAN run from right to left at low sharpness, slightly falling. Lines of PARITY start low as well, jump to several times that when PARITY is learned, and end higher and further to the right than the others."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
for i, name in enumerate(functions):
    look = {"color": figures.COLOURS[i]}
    chosen = good[name][own].nonzero().flatten().tolist()
    for j, e in enumerate(chosen):
        path = trained.metrics["norm"][:, e], trained.metrics["sharpness"][:, e]
        ax.plot(*path, linewidth=1, alpha=0.7, marker="", linestyle=figures.DASHES[i], **look)
        ax.plot(
            path[0][-1],
            path[1][-1],
            marker=figures.MARKERS[i],
            linestyle="none",
            label=name if j == 0 else None,
            **look,
        )
ax.axvline(norm, color=figures.GREY, linewidth=1, linestyle=":", marker="")
ax.set(xlabel="parameter norm, positions left out", ylabel="sharpness (10 draws)", ylim=(0, None))
ax.legend()
figures.show()

# %% [markdown]
# ## Longer strings
#
# The paper's setting, with `--preset paper`, has lengths 4 to 30, width 128, batches of 1024, 10 000 steps and ten runs; that takes a GPU and has not been run here. A part of it has: longer strings than above, at our width, with more steps. It is stored with the command that made it.

# %%
if series:
    big = {key: [] for key in ("function", "n", "run", "mse", "sharpness", "stderr", "norm")}
    big["blowup"] = []
    for n in big_lengths:
        names_there = [f for f in functions for _ in range(big_runs)]
        model_there = brittle.spec(n, big_width)
        trained_there = brittle.learn(
            model_there,
            names_there,
            seeds_of(n, names_there),
            big_steps,
            B=big_batch,
            learning_rate=big_rate,
        )
        noise = torch.Generator().manual_seed(seed + n)
        there = brittle.measure(model_there, trained_there.weights, names_there, draws, noise)
        big["function"] += names_there
        big["n"] += [n] * len(names_there)
        big["run"] += [names_there[:e].count(f) for e, f in enumerate(names_there)]
        for key in ("mse", "sharpness", "stderr", "norm", "blowup"):
            big[key] += [float(f"{v:.5g}") for v in getattr(there, key).tolist()]
        results.save(series, big)
stored = {}
for file in sorted((results.RESULTS / "sensitive").glob("sharpness_vs_length.*.csv")):
    name = file.name.split(".")[1]
    stored[name] = results.load("sensitive/sharpness_vs_length", name)
    print(f"{name}: {stored[name].provenance_line()}")
if not stored:
    print("No larger run is stored here.")

# %% tags=["nbval-ignore-output"]
larger = {}
for series_name, table_there in stored.items():
    big = {
        k: torch.tensor(table_there[k], dtype=torch.float64)
        for k in ("n", "mse", "sharpness", "norm")
    }
    big["f"] = torch.tensor([functions.index(name) for name in table_there["function"]])
    converged_there = big["mse"] <= brittle.CONVERGED
    larger[series_name] = analyse({k: v[converged_there] for k, v in big.items()}, redraws)
    print(f"{series_name}: sharpness, mean and 95 % interval (converged); slope")
    for i, name in enumerate(functions):
        for n in sorted(set(table_there["n"])):
            mask = (big["f"] == i) & (big["n"] == n)
            count = f"({int(converged_there[mask].sum())} of {int(mask.sum())})"
            mean = larger[series_name][1].get((name, n))
            print(f"{name:10} n = {n:2} {told(mean, 4) if mean is not None else '-':>28} {count}")
        if name in larger[series_name][0]:
            print(f"{name:10} slope  {told(larger[series_name][0][name], 4):>28}")
big_slopes = [
    f"{name} {found[name][0]:.4f} ({ends(found[name][1:])[0]:.4f} to {ends(found[name][1:])[1]:.4f})"
    for found, _ in larger.values()
    for name in functions
    if name in found
]
glue(big_slopes=", ".join(big_slopes) or "(not run)")
endings = []
for series_name, (_, found) in larger.items():
    at = max(n for _, n in found)
    if all((name, at) in found for name in functions):
        most = max(found[name, at][0].item() for name in functions[1:])
        rows = [k for k, n in enumerate(stored[series_name]["n"]) if n == at]
        rows = [k for k in rows if stored[series_name]["function"][k] == "PARITY"]
        fitted = sum(stored[series_name]["mse"][k] <= brittle.CONVERGED for k in rows)
        endings.append(
            f"{found['PARITY', at][0] / most:.1f} times the largest of the others at {at} bits, "
            f"where {fitted} of {len(rows)} runs of PARITY converged"
        )
glue(big_ending="; ".join(endings) or "(not run)")

# %% [markdown]
# Slopes per bit of the stored runs: {glue:text}`big_slopes`. With more steps the norms are smaller, the other functions have become flatter, and PARITY keeps its slope. Its mean sharpness is {glue:text}`big_ending` ({numref}`fig-sharpness-stored`).

# %% mystnb={"figure": {"caption": "Sharpness against length: stored runs with more steps (lines, with 95 % bootstrap intervals) and, in grey, the runs of this page. Dotted: a straight line with the paper's slope for PARITY, 0.05 per bit, from PARITY's first grey mark on.", "name": "fig-sharpness-stored"}, "image": {"alt": "Sharpness against length on a logarithmic axis. The stored line of PARITY rises well above the three others, which are level and a little below the grey marks of the short runs. A dotted line shows the paper's steeper slope for PARITY."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
for i, name in enumerate(functions):
    ax.plot(
        lengths,
        [means[name, n][0] for n in lengths],
        color=figures.GREY,
        marker=figures.MARKERS[i],
        fillstyle="none",
        linestyle="none",
        label=f"{name}, this page",
    )
for _, found in larger.values():
    for i, name in enumerate(functions):
        at = sorted(n for each, n in found if each == name)
        middle = torch.stack([found[name, n][0] for n in at])
        bounds = torch.tensor([ends(found[name, n][1:]) for n in at])
        ax.errorbar(
            torch.tensor(at) + 0.05 * (i - 1.5),
            middle,
            torch.stack((middle - bounds[:, 0], bounds[:, 1] - middle)).clamp(min=0),
            color=figures.COLOURS[i],
            marker=figures.MARKERS[i],
            linestyle=figures.DASHES[i],
            capsize=3,
            label=f"{name}, stored",
        )
top = max([*lengths, *(n for _, found in larger.values() for _, n in found)])
base = means["PARITY", lengths[0]][0].item()
ax.plot(
    [lengths[0], top],
    [base, base + 0.05 * (top - lengths[0])],
    color="black",
    linestyle=":",
    marker="",
    label="the paper's slope for PARITY",
)
ax.set_yscale("log")
ax.set(xlabel="bits of a string, $n$", ylabel="sharpness", xticks=range(lengths[0], top + 1))
fig.legend(ncols=2, loc="outside upper center")
figures.show()

# %% [markdown]
# ## What would falsify this
#
# PARITY no sharper than the others at the largest length, a slope that its interval does not tell from 0, or another function with a larger slope. The lower ends of 95 % intervals decide, but for the difference of slopes, where the estimate does. As a control the same numbers come from shuffled labels: functions among the runs of a length, or lengths among the runs of a function (medians over 25 shuffles).

# %% tags=["nbval-ignore-output"]
ledger.result("sensitive.fig1.others").reproduced(
    "largest length: PARITY's sharpness over the largest other, lower end; control: shuffled",
    lower_end(ratio(slopes, means)),
    at_least=1,
    control=shuffled(kept, "f", ratio),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig1.parity").reproduced(
    "slope of PARITY, lower end; control: lengths shuffled",
    lower_end(slopes["PARITY"]),
    at_least=0,
    control=shuffled(kept, "n", slope_of_parity),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig1.others").reproduced(
    "slope of PARITY minus the largest other slope, estimate; control: functions shuffled",
    estimate(excess(slopes, means)),
    at_least=0,
    control=shuffled(kept, "f", excess, estimate),
    stderr=excess(slopes, means)[1:].std(),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig1.others").reproduced(
    "largest length, at the norm of PARITY: the same ratio, lower end; control: shuffled",
    lower_end(ratio(None, equal_means)),
    at_least=1,
    control=shuffled(equal, "f", ratio),
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
# * **The model.** The text adds positions to tokens; the code puts them beside each other, half of the columns each. The theory has one layer norm a layer, without gains; the code has PyTorch's encoder, with two a layer and with gains, and the noise moves these gains too. Here it is as in the code.
# * **The measure.** The code takes the loss under noise minus the loss without, against labels in {0, 1}. That differs from the definition above only by what the model's residual adds, and the next table has both.
# * **One set of noise.** The final measurement makes a random generator and does not give it the seed of the run. A new generator of torch starts from a fixed number. So the same ten draws of $\Delta$ serve every batch. A thousand batches then average over inputs, not over noise. Since positions get no noise, models of all lengths have noise of one shape, and every model of the paper's figure gets the same ten. As far as these ten hit all models alike, their error is common to all points, and the spread over runs does not show it.
#
# We repeat the last point on our converged models of PARITY at the largest length: the mean of ten draws, with the same ten for all models, and with ten of their own for each.

# %% tags=["nbval-ignore-output"]
parity_weights = {k: v[good["PARITY"][own]] for k, v in trained.weights.items()}
models = len(parity_weights["readout"])
strings = brittle.strings_of(largest)
alone = [{k: v[e] for k, v in parity_weights.items()} for e in range(models)]
common, separate = [], []
for repeat in range(16):
    noise = torch.Generator().manual_seed(seed + 1000 + repeat)
    each = brittle.sharpness(model, parity_weights, strings, 10, noise, sigma=sigma)
    separate.append(each.mean.mean().item())
    same = []
    for weights in alone:
        noise = torch.Generator().manual_seed(seed + 2000 + repeat)
        same.append(brittle.sharpness(model, weights, strings, 10, noise, sigma=sigma).mean.item())
    common.append(sum(same) / models)
common, separate = (torch.tensor(v, dtype=torch.float64) for v in (common, separate))
print(f"mean sharpness of {models} models, its standard deviation over 16 repetitions")
print(f"the same ten draws for all: {common.mean():.4f} ± {common.std():.4f}")
print(f"ten draws for each:         {separate.mean():.4f} ± {separate.std():.4f}")


def noisy(weights, gains):
    """Sharpness by outputs, and 4 times the rise of the loss, with the same noise."""
    truth = brittle.targets("PARITY", strings)
    still = SquaredLoss(network, strings, network(weights, strings))
    labels = SquaredLoss(network, strings, truth)
    fixed = ["positions"] if gains else ["positions", "*.gain"]
    found = []
    for loss in (still, labels):
        noise = torch.Generator().manual_seed(seed)
        moved = perturbed_loss(loss, weights, sigma, draws, noise, without=fixed)
        found.append(4 * (moved.mean - loss(weights)).item())
    return found


network = functools.partial(forward, model)
both = torch.tensor([noisy(w, gains=True) for w in alone], dtype=torch.float64)
frozen = torch.tensor([noisy(w, gains=False) for w in alone], dtype=torch.float64)
print(f"\nby outputs {both[:, 0].mean():.4f}, by the loss {both[:, 1].mean():.4f}")
print(f"by outputs with gains held fixed {frozen[:, 0].mean():.4f}")
glue(
    common=common.std().item() / common.mean().item() * 100,
    separate=separate.std().item() / separate.mean().item() * 100,
    by_loss=both[:, 1].mean().item() / both[:, 0].mean().item(),
    no_gains=frozen[:, 0].mean().item() / both[:, 0].mean().item(),
)

# %% [markdown]
# The mean over models varies by {glue:text}`common:.0f` % from one set of ten draws to another if all models share them, and by {glue:text}`separate:.0f` % if each has its own. Either way that is small beside the difference between functions. By the loss the sharpness is {glue:text}`by_loss:.2f` times that by the outputs, and without noise in the gains {glue:text}`no_gains:.2f` times.
#
# ## What we found
#
# * The order of Figure 1 is there at eight bits: PARITY is sharper than the other functions, also at equal norm, and its sharpness is the only one that grows much with the length.
# * The size is not. At $n = ${glue:text}`largest` the ratio is {glue:text}`ratio:.1f`, not a hundred. The paper's ratio is one of strings of 30 bits and of models four times as wide; our run does not test it.
# * Figures 7 and 8, with up to 512 bits and models of width 4, are not repeated here, and the p-values of Table 2 are not either: they stay open.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Noise turns a model of $f$ into the best constant. What is its sharpness, in the unit of the theory, for each of the four functions? Why can MEAN not become sharp at large $n$ in this way?
# ```

# %% tags=["hide-cell"]
# The mean square of the change is the variance of f, times 4 for targets in [0, 1]. MEAN varies little: its variance is 1/n.
for n in (4, 8, 16):
    every = brittle.strings_of(n, 2**16)
    print(
        f"n = {n:2}: "
        + ", ".join(
            f"{name} {4 * brittle.targets(name, every).double().var(correction=0):.4f}"
            for name in functions
        )
    )

# %% [markdown]
# ```{admonition} Exercise 2
# Why is the sharpness of a well fitted model by the loss nearly that by the outputs? Write $r = T_\theta - f$ and $\delta = T_{\theta + \Delta} - T_\theta$.
# ```

# %% [markdown] tags=["hide-cell"]
# The rise of the loss is $\mathbb E (r + \delta)^2 - \mathbb E r^2 = \mathbb E \delta^2 + 2\, \mathbb E\, r \delta$. The last term is at most $2 \sqrt{\mathbb E r^2\, \mathbb E \delta^2}$ in absolute value. With $\mathbb E r^2 = 10^{-5}$ and $4\, \mathbb E \delta^2 = 0.1$ it is at most $10^{-3}$, before the factor 4, against $\mathbb E \delta^2 = 0.025$.

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiment is from {cite:t}`sensitive`.
