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
# (ch-low-sensitivity-generalization)=
# # Completions of low sensitivity
#
# **Claim.** Train a transformer on part of the values of a random Boolean function. What it says of the other strings makes a function of lower average sensitivity than the truth, the lower the fewer values it saw, and a model of that function is less sharp than a model of the truth. All of this we find, at 6 bits. Before training, transformers have low average sensitivity too. That they have less than recurrent nets, which the paper quotes from a study, we find for large random weights as that study has them, and not for weights as PyTorch draws them.
#
# **Needs** {ref}`ch-average-sensitivity` and {ref}`ch-sharpness-vs-length`. **Runs in** 90 s. **Source** printed.
#
# Let $f$ be a function from the $2^n$ strings of $n$ bits to $\{-1, 1\}$. Its *average sensitivity* $\mathrm{as}(f)$ is the number of bits whose flip changes $f$, averaged over all strings. A random function, every value a fair coin, has $\mathrm{as}(f) = n/2$ on average. A *completion* of $f$ from a training set $R$ of $m$ strings is a function that agrees with $f$ on $R$. We write $T_1$ for the completion that a transformer makes, once it fits $f$ on $R$: 1 where its output is nearer to 1. The *sharpness* of a model is the mean square by which its output moves under Gaussian noise of standard deviation $\sigma = 0.02$ in all weights but the positions, times 4, as in {ref}`ch-sharpness-vs-length`.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 7.2, Figures 4 and 15
# :label: sensitive-fig4
# For random functions $f$ of 10 bits and training sets of 128, 256 and 512 strings, $T_1$ has lower average sensitivity than $f$, and lower still for smaller training sets. New transformers, trained on the whole table of $T_1$, are less sharp than those trained on the whole table of $f$. Sharpness measured on the training set alone is almost the same as on all strings.
# ```
#
# ```{prf:remark} Hahn and Rofin (2024), Section 6, random initialization
# :label: sensitive-init
# Transformers with random weights have low average sensitivity, more so than recurrent nets. (Quoted there from Bhattamishra et al., 2023.)
# ```
#
# **Why it should be so.** Theorem 6 of the paper bounds sharpness from below by a share of the average sensitivity, for long strings. If training prefers flat minima, it then prefers completions of low sensitivity. And if nearly all directions away from a sensitive transformer lead to insensitive ones, random weights rarely hit a sensitive one. Both are statements about long strings, so at 6 or 10 bits they are guesses, to be tested.
#
# **What could deceive.** Three things. The truth is not the right thing to compare with: $T_1$ agrees with $f$ on $R$, so we compare with a *random completion*, which agrees with $f$ on $R$ and tosses coins elsewhere. A completion that says $-1$ nearly everywhere outside $R$ also has low sensitivity, so we compare with $T_1$ whose values outside $R$ are shuffled. And the sign of a random net is often constant, for a trivial reason: an output far from 0. So we also measure sensitivity after the output is centred.

# %% tags=["parameters"]
n = 6  # bits of a string [5..7]
functions = 10  # random functions [8..40]
sets = 2  # training sets of each function at each size [1..10]
shares = [0.125, 0.25, 0.5, 0.75]  # training sets, in shares of all strings [0.1..0.8]
learning_rate = 2e-3  # of AdamW [1.5e-3..3e-3]
fit_below = 5e-4  # training loss at which a completion is read off [1e-5..5e-3]
steps = 400  # of every model of a whole table [400..4000]
width = 32  # columns of the model [32..64]
draws = 30  # of the noise, for each model [10..200]
init_bits = 8  # bits of a string for nets without training [5..10]
nets = 300  # random nets of each kind [200..3000]
redraws = 2000  # of the bootstrap [500..20000]
seed = 0  # of everything random [0..100000]

# %% [markdown]
# ## Learning a part
#
# The shares 1/8, 1/4 and 1/2 of all strings are those of the paper's 128, 256 and 512 strings of 10 bits; we add 3/4. The model is the paper's at a quarter of its width: two layers of two heads, layer norm after each block, output at the last token, targets in $\{0, 1\}$. Every step sees the whole training set. Training stops when the loss on it is below `fit_below`; a run that does not get there in 3000 steps has no completion, and is counted.

# %%
import functools

import torch

from helpers import cube, statistics
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.cube import average_sensitivity
from helpers.nets.transformer import forward, initial_weights
from helpers.sensitive import brittle, completions, random_nets
from helpers.statistics import ends, told
from helpers.training.train import train

ledger = Ledger("sensitive/low_sensitivity_generalization")
source = torch.Generator().manual_seed(seed)
strings, N = cube.bits(n), 2**n
model = brittle.spec(n, width)
network = functools.partial(forward, model)
shares = sorted(set(shares))
sizes = [round(share * N) for share in shares]

tables = (2 * torch.randint(0, 2, (functions, N), generator=source) - 1).float()
parent = torch.arange(functions).repeat_interleave(sets)
truth = tables[parent]


def learn(targets, rows, steps, threshold=0.0):
    """Fit each model to its own table, on its own strings only."""
    inputs = strings[rows]
    values = ((1 + targets) / 2).gather(1, rows)

    def loss_now(weights, models):
        return (network(weights, inputs[models]) - values[models]).square().mean(1)

    return train(
        network,
        initial_weights(model, len(rows), source),
        lambda models: (inputs[models], values[models]),
        steps=steps,
        learning_rate=learning_rate,
        weight_decay=brittle.RECIPE["weight_decay"],
        evaluate=loss_now,
        threshold=threshold,
        check_every=10,
    )


rows, learned, fitted = {}, {}, {}
for m in sizes:
    rows[m] = completions.training_sets(len(parent), N, m, source)
    trained = learn(truth, rows[m], 3000, fit_below)
    with torch.no_grad():
        outputs = network(trained.weights, strings)
    learned[m] = torch.where(outputs > 0.5, 1.0, -1.0)
    agrees = (learned[m] == truth).gather(1, rows[m]).all(1)
    fitted[m] = trained.finished & agrees
print(f"{functions} functions of {n} bits, {sets} training sets each of {sizes} strings")

# %% [markdown]
# ## How sensitive the completions are
#
# The mean average sensitivity of all completions of $f$ from $R$ needs no sampling. A pair of strings that differ in one bit and both lie in $R$ differs as in $f$; any other pair differs in half of all completions. So
#
# $$\mathbb E\,\mathrm{as}(h) = 2^{-n} \sum_x \sum_{i=1}^n c_i(x), \qquad c_i(x) = \begin{cases} \mathbf 1[f(x) \ne f(x^{\oplus i})] & \text{if } x, x^{\oplus i} \in R \\ \tfrac12 & \text{otherwise,} \end{cases}$$
#
# where $h$ is a random completion and $x^{\oplus i}$ is $x$ with bit $i$ flipped. We subtract it from $\mathrm{as}(T_1)$. Intervals are 95 % bootstrap intervals: functions are redrawn with replacement, each with all its training sets.

# %% tags=["nbval-ignore-output"]
bootstrap = torch.Generator().manual_seed(seed)
picks = statistics.redrawn(torch.zeros(functions, dtype=torch.int64), redraws, bootstrap)


def by_function(values, kept):
    """Mean over the training sets of a function that were fitted; nan if none was."""
    sums = torch.zeros(functions, dtype=torch.float64).index_add_(0, parent, values * kept)
    counts = torch.zeros(functions, dtype=torch.float64).index_add_(0, parent, kept.double())
    return sums / counts


def redrawn_mean(each):
    """Mean over functions, and then over redrawn functions: (1 + redraws,)."""
    return torch.cat((each.nanmean()[None], each[picks].nanmean(1)))


def sensitivity(table):
    return average_sensitivity(table.double())


f_sensitivity = sensitivity(tables)
found = {name: {} for name in ("learned", "random", "shuffled", "excess", "against f", "structure")}
coins = {}
for m in sizes:
    if not fitted[m].any():
        raise ValueError(f"no run fitted its {m} strings; raise fit_below from {fit_below}")
    own, kept = learned[m], fitted[m]
    mixed = [completions.shuffled_outside(own, rows[m], source) for _ in range(20)]
    shuffled = torch.stack([sensitivity(table) for table in mixed]).mean(0)
    expected = completions.expected_sensitivity(truth, rows[m])
    coins[m] = [
        sensitivity(completions.random_completion(truth, rows[m], source)) for _ in range(25)
    ]
    for name, values in {
        "learned": sensitivity(own),
        "random": expected,
        "shuffled": shuffled,
        "excess": sensitivity(own) - expected,
        "against f": sensitivity(own) - f_sensitivity[parent],
        "structure": sensitivity(own) - shuffled,
    }.items():
        found[name][m] = by_function(values, kept)
print(f"average sensitivity of f: {told(redrawn_mean(f_sensitivity))}")
print(
    "strings   fitted      T_1                     random   shuffled   T_1 minus random completion"
)
for m in sizes:
    cells = (told(redrawn_mean(found[name][m])) for name in ("learned", "excess"))
    plain = (f"{found[name][m].nanmean():8.3f}" for name in ("random", "shuffled"))
    fits = f"{int(fitted[m].sum())} of {len(fitted[m])}"
    mine, difference = cells
    print(f"{m:7}   {fits}  {mine}  {'  '.join(plain)}   {difference}")


def slope(values):
    """Of the mean over training sets on the share of strings, function by function."""
    return statistics.slope(torch.tensor(shares, dtype=torch.float64), values)


each = torch.stack([found["learned"][m] for m in sizes], 1)
print(f"slope of as(T_1) on the share of strings: {told(redrawn_mean(slope(each)))}")
unfitted = sum(int((~fitted[m]).sum()) for m in sizes)
glue(
    unfitted=unfitted,
    runs=len(parent) * len(sizes),
    as_f=f_sensitivity.mean().item(),
    learned_words=", ".join(f"{found['learned'][m].nanmean():.2f}" for m in sizes),
    sizes_words=", ".join(map(str, sizes)),
    random_words=", ".join(f"{found['random'][m].nanmean():.2f}" for m in sizes),
    shuffled_words=", ".join(f"{found['shuffled'][m].nanmean():.2f}" for m in sizes),
)

# %% [markdown]
# The functions have average sensitivity {glue:text}`as_f:.2f`. From {glue:text}`sizes_words` strings the models make completions of {glue:text}`learned_words`, where random completions have {glue:text}`random_words`. With the values outside $R$ shuffled, the completions would have {glue:text}`shuffled_words`: most of the difference is in where the values lie, not in how many there are of each ({numref}`fig-completions`). {glue:text}`unfitted` of {glue:text}`runs` runs did not fit their strings.

# %% mystnb={"figure": {"caption": "Average sensitivity of completions against the share of strings trained on. Lines: means over random functions, with 95 % bootstrap intervals over functions; small marks: single functions, each the mean of its training sets.", "name": "fig-completions"}, "image": {"alt": "Average sensitivity against the share of strings. The line of learned completions starts far below the others and rises towards them as the share grows. The lines of random completions, of shuffled completions and of the functions themselves lie near half the number of bits."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
lines = {
    "learned, $T_1$": [found["learned"][m] for m in sizes],
    "$T_1$ shuffled outside": [found["shuffled"][m] for m in sizes],
    "random completion": [found["random"][m] for m in sizes],
    "the function $f$": [f_sensitivity for _ in sizes],
}
for i, (label, values) in enumerate(lines.items()):
    look = {"color": figures.COLOURS[i], "marker": figures.MARKERS[i]}
    means = [redrawn_mean(v) for v in values]
    ax.plot(shares, [v[0] for v in means], linestyle=figures.DASHES[i], label=label, **look)
    bounds = [ends(v[1:]) for v in means]
    figures.interval(
        ax, shares, [b[0] for b in bounds], [b[1] for b in bounds], color=look["color"]
    )
    if i == 0:
        for share, v in zip(shares, values, strict=True):
            ax.plot([share] * functions, v, linestyle="none", markersize=3, alpha=0.5, **look)
ax.set(xlabel="share of all strings in the training set", ylabel="average sensitivity, bits")
ax.set(ylim=(0, None), xticks=shares)
ax.legend(loc="lower right")
figures.show()

# %% [markdown]
# ## How sharp they are
#
# Now new models are trained on whole tables, of every fitted $T_1$ and of every $f$, all for the same number of steps. A model has converged if its mean squared error over all strings is at most 0.001; the others are left out, as in the paper, and counted. Sharpness is measured string by string, so that one set of noise gives both the mean over all strings and that over the training set. Models of $f$ have as many seeds as it has training sets.

# %% tags=["nbval-ignore-output"]
labels = torch.cat([torch.full((len(parent),), m) for m in [0, *sizes]])
whole = torch.cat([truth, *(learned[m] for m in sizes)])
wanted = torch.cat([torch.ones(len(parent), dtype=torch.bool), *(fitted[m] for m in sizes)])
owner = parent.repeat(1 + len(sizes))[wanted]
place = torch.arange(len(parent)).repeat(1 + len(sizes))[wanted]
labels, whole = labels[wanted], whole[wanted]
models = learn(whole, torch.arange(N).expand(len(whole), -1), steps)
risk = brittle.squared_risk(model, models.weights, strings, (1 + whole) / 2)
converged = risk <= brittle.CONVERGED
noise = torch.Generator().manual_seed(seed + 1)
each_string = completions.string_sharpness(model, models.weights, strings, draws, noise)
sharp = each_string.mean(1)


def class_mean(values, m):
    """Mean by function over the converged models of a class; 0 stands for the truth."""
    own = converged & (labels == m)
    sums = torch.zeros(functions, dtype=torch.float64).index_add_(0, owner[own], values[own])
    counts = torch.zeros(functions, dtype=torch.float64).index_add_(
        0, owner[own], torch.ones(int(own.sum()), dtype=torch.float64)
    )
    return sums / counts


def on_rows(m, chosen):
    """Mean over some strings of each model of a class, in a vector of all models."""
    values = torch.full_like(sharp, torch.nan)
    own = labels == m
    values[own] = each_string[own].gather(1, chosen[place[own]]).mean(1)
    return values


sharpness = {m: class_mean(sharp, m) for m in [0, *sizes]}
for m, each in sharpness.items():
    if each.isnan().all():
        what = f"T_1 from {m} strings" if m else "f"
        raise ValueError(f"no model of {what} converged; give more steps than {steps}")
lower = {m: sharpness[m] - sharpness[0] for m in sizes}
partly, still = {}, {}
for m in sizes:
    calm = torch.full((len(parent), m), 0)
    own = labels == m
    calm[place[own]] = each_string[own].argsort(1)[:, :m]
    partly[m] = class_mean(on_rows(m, rows[m]), m) / sharpness[m]
    still[m] = class_mean(on_rows(m, calm), m) / sharpness[m]
print("models of   converged   sharpness               minus f                  training set / all")
for m in [0, *sizes]:
    own = labels == m
    line = f"{f'T_1, {m}' if m else 'f':9}   {int(converged[own].sum())} of {int(own.sum())}    "
    line += told(redrawn_mean(sharpness[m]))
    if m:
        line += f"   {told(redrawn_mean(lower[m]))}   {told(redrawn_mean(partly[m]))}"
    print(line)
sharp_slope = slope(torch.stack([sharpness[m] for m in sizes], 1))
print(f"slope of sharpness on the share of strings: {told(redrawn_mean(sharp_slope))}")
points = sensitivity(whole)[converged], sharp[converged]
glue(
    points=torch.corrcoef(torch.stack(points))[0, 1].item(),
    sharp_f=sharpness[0].nanmean().item(),
    sharp_words=", ".join(f"{sharpness[m].nanmean():.3f}" for m in sizes),
    partly_words=", ".join(f"{partly[m].nanmean():.2f}" for m in sizes),
    n_words=n,
    lost=int((~converged).sum()),
    whole=len(converged),
)

# %% [markdown]
# Models of $f$ have sharpness {glue:text}`sharp_f:.3f`, those of the completions from {glue:text}`sizes_words` strings {glue:text}`sharp_words`. Over all models, sharpness and average sensitivity correlate with {glue:text}`points:.2f` ({numref}`fig-completions-sharpness`). On the training set the sharpness is {glue:text}`partly_words` times that on all strings. {glue:text}`lost` of {glue:text}`whole` models had not converged at the end.

# %% mystnb={"figure": {"caption": "Left: sharpness of a model against the average sensitivity of its function, one mark a model. Right: sharpness of models of completions on the training set against all strings; the line is equality.", "name": "fig-completions-sharpness"}, "image": {"alt": "Two panels. Left, sharpness rises with average sensitivity: completions from few strings lie at the lower left, models of the truth at the upper right. Right, sharpness on the training set against sharpness on all strings: marks lie along the diagonal, scattered on both sides."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.6)
for i, m in enumerate([*sizes, 0]):
    own = converged & (labels == m)
    look = {
        "color": figures.COLOURS[i],
        "marker": figures.MARKERS[i],
        "linestyle": "none",
        "fillstyle": "none",
        "label": f"{m} strings" if m else "$f$",
    }
    axes[0].plot(sensitivity(whole[own]), sharp[own], **look)
    if m:
        axes[1].plot(sharp[own], on_rows(m, rows[m])[own], **look)
top = 1.05 * float(max(ax.dataLim.ymax for ax in axes))
axes[1].plot([0, top], [0, top], color=figures.GREY, linewidth=1, marker="", linestyle="-")
axes[0].set(xlabel="average sensitivity, bits", ylabel="sharpness", ylim=(0, top))
axes[1].set(xlabel="sharpness, all strings", ylabel="sharpness, training set", ylim=(0, top))
axes[0].legend()
figures.show()

# %% [markdown]
# ## Before training
#
# A random net has an output $T(x)$ for every string. We take two numbers from it. One is $\mathrm{as}(\operatorname{sign} T)$, as in the study of Bhattamishra and others (2023) that the paper cites. The other is $\mathrm{as}(T) / \mathrm{Var}(T)$, the average sensitivity of $T$ centred and scaled to variance 1. By the spectrum this is the mean degree of the characters in $T$, weighted by their squared coefficients, so it lies between 1 and $n$.
#
# The nets: the paper's transformer, with layer norms and their epsilon of $10^{-5}$; LSTM, GRU and a plain recurrent net (RNN) with tanh, all of two layers of the same width, read at the last token; and a feedforward net of two hidden layers. The weights come from three draws.
#
# * *PyTorch*: as its layers draw them, biases included; the models above start so.
# * *Xavier*: matrices normal, with variance 2 over the sum of their two sizes; no biases; embeddings standard normal.
# * *Wide*: everything uniform from $-10$ to 10, no biases. This and Xavier are what the repository `satwik77/Transformer-Simplicity` of the cited study has, whose transformer is another: four layers, one head, norms before each block, positions added to tokens, which are multiplied by the root of the width. It is in the table as "deep", with our width.

# %% tags=["nbval-ignore-output"]
kinds = random_nets.NETS
sign, smooth = {}, {}
for draw in random_nets.DRAWS:
    for kind in kinds:
        random_source = torch.Generator().manual_seed(seed)
        T = random_nets.outputs(kind, draw, init_bits, nets, random_source, width=width)
        sign[kind, draw] = random_nets.sign_sensitivity(T)
        smooth[kind, draw] = random_nets.mean_degree(T)
each_net = statistics.redrawn(torch.zeros(nets, dtype=torch.int64), redraws, bootstrap)


def over_nets(values):
    """Mean over nets, and then over redrawn nets; constant ones have no mean degree."""
    return torch.cat((values.nanmean()[None], values[each_net].nanmean(1)))


coin_tables = 2 * torch.randint(0, 2, (nets, 2**init_bits), generator=source) - 1
coin = sensitivity(coin_tables)
print(f"{nets} nets each, {init_bits} bits; random functions: {told(over_nets(coin))}")
for title, values in (("as(sign T)", sign), ("as(T) / Var(T)", smooth)):
    print(f"\n{title:18}" + "".join(f"{draw:>24}" for draw in random_nets.DRAWS))
    for kind in kinds:
        cells = "".join(f"{told(over_nets(values[kind, d])):>24}" for d in random_nets.DRAWS)
        print(f"{kind:18}{cells}")
print("\nshare of nets whose sign is constant")
for kind in kinds:
    cells = (f"{(sign[kind, d] == 0).double().mean():24.2f}" for d in random_nets.DRAWS)
    print(f"{kind:18}{''.join(cells)}")
gated = ("LSTM", "GRU", "RNN")


def minus(kind, other, draw, values=sign):
    """One kind of net minus another, redrawn independently."""
    a, b = values[kind, draw], values[other, draw]
    again = b[statistics.redrawn(torch.zeros(nets, dtype=torch.int64), redraws, bootstrap)]
    return torch.cat(((a.nanmean() - b.nanmean())[None], a[each_net].nanmean(1) - again.nanmean(1)))


print("\nas(sign T) of the transformer minus that of")
for other in gated:
    cells = "".join(f"{told(minus('transformer', other, d)):>24}" for d in random_nets.DRAWS)
    print(f"{other:18}{cells}")
for draw in random_nets.DRAWS:
    for kind in kinds:
        glue(
            **{f"{kind}_{draw}".replace(" ", "_"): sign[kind, draw].mean().item()},
            **{f"{kind}_{draw}_smooth".replace(" ", "_"): smooth[kind, draw].nanmean().item()},
        )
glue(
    lstm_torch=told(minus("transformer", "LSTM", "PyTorch")),
    gru_wide=told(minus("transformer", "GRU", "wide")),
    constant_lstm=(sign["LSTM", "PyTorch"] == 0).double().mean().item(),
    constant_transformer=(sign["transformer", "PyTorch"] == 0).double().mean().item(),
    init_bits=init_bits,
)

# %% [markdown]
# At {glue:text}`init_bits` bits the sign of the transformer has average sensitivity {glue:text}`transformer_PyTorch:.2f` (PyTorch), {glue:text}`transformer_Xavier:.2f` (Xavier) and {glue:text}`transformer_wide:.2f` (wide), far below that of random functions in all three draws ({numref}`fig-random-nets`).
#
# The comparison with recurrent nets depends on the draw. With wide weights the transformer is far below LSTM ({glue:text}`LSTM_wide:.2f`), GRU ({glue:text}`GRU_wide:.2f`) and RNN ({glue:text}`RNN_wide:.2f`). With Xavier's it is below the RNN ({glue:text}`RNN_Xavier:.2f`) and about level with LSTM ({glue:text}`LSTM_Xavier:.2f`) and GRU ({glue:text}`GRU_Xavier:.2f`). As PyTorch draws them, it is above the LSTM ({glue:text}`LSTM_PyTorch:.2f`). One reason is trivial: PyTorch gives the LSTM's read-out a random bias that is large beside its states, so that the sign is constant in a share {glue:text}`constant_lstm:.2f` of nets, against {glue:text}`constant_transformer:.2f` of the transformers. The centred number is free of this: {glue:text}`transformer_PyTorch_smooth:.3f` for the transformer and {glue:text}`LSTM_PyTorch_smooth:.3f` for the LSTM. Both are nearly linear functions of the bits, and the order turns round again with Xavier's draw, {glue:text}`transformer_Xavier_smooth:.3f` against {glue:text}`LSTM_Xavier_smooth:.3f`.

# %% mystnb={"figure": {"caption": "Sensitivity of random nets by draw of their weights: mean over nets with 95 % bootstrap intervals. Above, of the sign; below, of the centred output at variance 1. The dotted line is that of random functions.", "name": "fig-random-nets"}, "image": {"alt": "Two panels with three groups of marks, one group a draw of weights. Above, transformers lie low in all groups; LSTM lies lowest with PyTorch's draw, LSTM and GRU are level with the transformer with Xavier's, and all recurrent nets lie far above it with wide weights. Below, all nets but the feedforward one are near 1 in the first two groups."}} tags=["hide-input"]
fig, axes = figures.new(2, 1, height=6.0, sharex=True)
for ax, values in zip(axes, (sign, smooth), strict=True):
    for i, kind in enumerate(kinds):
        means = [over_nets(values[kind, d]) for d in random_nets.DRAWS]
        bounds = torch.tensor([ends(v[1:]) for v in means])
        middle = torch.stack([v[0] for v in means])
        ax.errorbar(
            torch.arange(3) + 0.12 * (i - 2.5),
            middle,
            torch.stack((middle - bounds[:, 0], bounds[:, 1] - middle)).clamp(min=0),
            color=figures.COLOURS[i],
            marker=figures.MARKERS[i],
            linestyle="none",
            capsize=3,
            label=kind,
        )
    ax.axhline(
        init_bits / 2,
        color=figures.GREY,
        linestyle=":",
        linewidth=1,
        marker="",
        label="random function",
    )
axes[0].set(ylabel=r"$\mathrm{as}(\mathrm{sign}\, T)$, bits", ylim=(0, None))
axes[1].set(ylabel=r"$\mathrm{as}(T) / \mathrm{Var}(T)$", xlabel="draw of the weights")
axes[1].set_xticks(range(3), random_nets.DRAWS)
axes[0].legend(loc="center left", bbox_to_anchor=(0, 0.72), ncols=2)
figures.show()

# %% [markdown]
# ## What would falsify this
#
# *Completions*: learned completions as sensitive as random ones or as their own shuffled values, at any size of the training set; no rise with that size; models of $T_1$ as sharp as models of $f$; a sharpness on the training set that differs from the whole by more than a quarter. The ends of 95 % intervals decide, at the worst size; for the sharpness, at the worst of the paper's sizes, up to half of all strings. Controls: random completions in place of the learned (medians of 25); sizes shuffled within a function, and truth and completion swapped at random within a function (medians of 25 shuffles); as many strings as the training set has, but those that move least.
#
# *Random nets*: a sensitivity above half that of random functions, in any draw. "Lower than recurrent nets" is checked twice: for weights as PyTorch draws them, against the LSTM, and for wide weights, against the least sensitive of the three.

# %% tags=["nbval-ignore-output"]


def worst(values, end):
    """Largest upper end (end = 1) or least lower end (0) over sizes."""
    found_ends = [ends(redrawn_mean(v)[1:])[end] for v in values]
    return max(found_ends) if end else min(found_ends)


def coin_end(base, chosen):
    """Median over 25 random completions in place of T_1: worst upper end over some sizes."""
    results = []
    for k in range(25):
        instead = [by_function(coins[m][k] - base[m], fitted[m]) for m in chosen]
        results.append(worst(instead, 1))
    return statistics.middle(results)


def sign_flips():
    """Median over 25 shuffles of the worst upper end, with truth and completion swapped."""
    results = []
    for _ in range(25):
        swap = 2 * torch.randint(0, 2, (functions,), generator=bootstrap) - 1
        results.append(worst([lower[m] * swap for m in up_to_half], 1))
    return statistics.middle(results)


def slope_shuffled(values):
    """Median over 25 shuffles of sizes within a function: lower end of the slope."""
    results = []
    for _ in range(25):
        order = torch.rand(values.shape, generator=bootstrap).argsort(1)
        results.append(ends(redrawn_mean(slope(values.gather(1, order)))[1:])[0])
    return statistics.middle(results)


up_to_half = [m for m in sizes if 2 * m <= N] or sizes[:1]
expected = {m: completions.expected_sensitivity(truth, rows[m]) for m in sizes}
each = torch.stack([found["learned"][m] for m in sizes], 1)
each_sharp = torch.stack([sharpness[m] for m in sizes], 1)
ledger.result("sensitive.fig4.sensitivity").reproduced(
    "as(T_1) minus the mean of random completions, worst size, upper end; control: random ones",
    worst([found["excess"][m] for m in sizes], 1),
    at_most=0,
    control=coin_end(expected, sizes),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig4.sensitivity").reproduced(
    "as(T_1) minus as(f), worst size, upper end; control: random completions",
    worst([found["against f"][m] for m in sizes], 1),
    at_most=0,
    control=coin_end(dict.fromkeys(sizes, f_sensitivity[parent]), sizes),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig4.sensitivity").reproduced(
    "as(T_1) minus its shuffled values, smallest size, upper end; control: random completions minus their mean",
    ends(redrawn_mean(found["structure"][sizes[0]])[1:])[1],
    at_most=0,
    control=coin_end(expected, sizes[:1]),
    about="ours",
    evidence="trained",
)
ledger.result("sensitive.fig4.sensitivity").reproduced(
    "slope of as(T_1) on the share of strings, lower end; control: shares shuffled",
    ends(redrawn_mean(slope(each))[1:])[0],
    at_least=0,
    control=slope_shuffled(each),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig4.sharpness").reproduced(
    "sharpness of models of T_1 minus those of f, worst size up to half; control: swapped at random",
    worst([lower[m] for m in up_to_half], 1),
    at_most=0,
    control=sign_flips(),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig4.sharpness").reproduced(
    "slope of sharpness on the share of strings, lower end; control: shares shuffled",
    ends(redrawn_mean(slope(each_sharp))[1:])[0],
    at_least=0,
    control=slope_shuffled(each_sharp),
    about="experiment",
    evidence="trained",
)
ledger.result("sensitive.fig4.fig15").reproduced(
    "sharpness on the training set over that on all, farthest from 1; control: calmest strings",
    max(abs(partly[m].nanmean().item() - 1) for m in sizes),
    at_most=0.25,
    control=max(abs(still[m].nanmean().item() - 1) for m in sizes),
    about="experiment",
    evidence="trained",
)
half = init_bits / 2
ledger.result("sensitive.init.low").reproduced(
    "as(sign T) of transformers over n/2, worst draw, upper end; control: random functions",
    max(ends(over_nets(sign["transformer", d])[1:])[1] for d in random_nets.DRAWS) / half,
    at_most=0.5,
    control=coin.mean() / half,
    about="experiment",
    evidence="sampled",
)
wide = max(ends(minus("transformer", other, "wide")[1:])[1] for other in gated)
plain = ends(minus("transformer", "LSTM", "PyTorch")[1:])[1]
ledger.result("sensitive.init.recurrent").not_reproduced(
    "as(sign T), transformer minus LSTM, PyTorch's draw, upper end; control: wide weights",
    plain,
    at_most=0,
    control=ends(minus("transformer", "LSTM", "wide")[1:])[1],
    about="experiment",
    evidence="sampled",
)
ledger.result("sensitive.init.recurrent").reproduced(
    "as(sign T), transformer minus each recurrent net, wide weights, upper end; control: PyTorch's",
    wide,
    at_most=0,
    control=plain,
    about="experiment",
    evidence="sampled",
)
ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# We read the repository `lacoco-lab/sensitivity-hardness`.
#
# * **What "random function" is.** In the figure the models of a "random function" are not models of $f$. The script that saves the functions makes a new random function, and gives it $f$'s values on the training set: a random completion, from 256 strings. It has the law of a uniform random function, as $f$ has, so little depends on it; the caption speaks of the actual function.
# * **Runs that are dropped.** A run whose model disagrees with $f$ on one training string is skipped, and so are second models with a loss of 0.001 or more. Their number is not in the paper.
# * **Sizes.** Training sets of 1024 strings, the whole cube, are among the runs; the plots leave them out.
# * **As it stands, the script does not run.** `generalization_save_predictions.py` uses a name `SWEEP` that is defined nowhere, and never calls its `main`.
# * **Training-set sharpness** has 100 draws of the noise and is measured with the labels of $T_1$: a rise of the loss. The other sharpness has ten draws. We use one set of draws for both, so that their ratio has no noise of this kind.
# * **Length of training.** Its models train 10 000 steps on batches of 1024. Ours stop at a training loss, and second models take the same number of steps.
# * **Average sensitivity.** The code multiplies the table of a function with a matrix of all characters, $2^n$ rows of $2^n$ numbers, and then weighs the squared coefficients by their degrees. Here the coefficients come from the Walsh-Hadamard transform, which needs the table alone. The next cell computes both for the random functions above, and says how much memory each would take for longer strings.

# %%
matrix = cube.characters(init_bits)
coefficients = coin_tables.double() @ matrix.mT / 2**init_bits
degrees = torch.tensor([mask.bit_count() for mask in range(2**init_bits)])
by_matrix = (coefficients.square() * degrees).sum(-1)
apart = (by_matrix - average_sensitivity(coin_tables.double())).abs().max().item()
print(f"{nets} functions of {init_bits} bits, both ways: apart by less than 1e-12: {apart < 1e-12}")
print("bits   numbers in the matrix   in 4-byte floats   in a table   in 4-byte floats")
for length in sorted({init_bits, 10, 15, 20}):
    sides = [
        f"{k:>{w},d} {4 * k / 2**20:14,.3f} MiB" for w, k in ((22, 4**length), (11, 2**length))
    ]
    print(f"{length:4d}   " + "  ".join(sides))
print(f"counted above: {matrix.numel()} and {coin_tables[0].numel()}")

# %% [markdown]
# ## What we found
#
# * Completions learned at {glue:text}`n_words` bits have the low sensitivity of Figure 4, by a wide margin, and shuffling shows that it lies in the arrangement of values.
# * Models of completions are less sharp than models of the truth at every size. This is a correlation at a fixed, small length. It is not evidence for the limit in Theorem 6, which is about long strings.
# * Sharpness on the training set is near that on all strings, as in Figure 15. The second model has seen all strings, so this says that a random part of the cube is like the whole. It does not say that a model which has seen only $R$ is as flat there (Exercise 2).
# * Random transformers have low sensitivity. Compared with recurrent nets this depends on the size of the weights.
# * What this page does not show: 10 bits, width 128, and whether the margin grows or shrinks with the length.
#
# ```{finding} sensitive.init.recurrent
# :title: Transformers against recurrent nets: the draw of weights decides
# :group: constant
#
# **Statement.** As printed, with a reference to Bhattamishra et al. (2023): randomly initialized transformers have low average sensitivity, more so than recurrent nets.
#
# **Counterexample.** At a size of the weights that the cited study does not have: as PyTorch draws them, with {glue:text}`init_bits` bits, the sign of the transformer has average sensitivity {glue:text}`transformer_PyTorch:.2f`, that of an LSTM {glue:text}`LSTM_PyTorch:.2f`; the difference is {glue:text}`lstm_torch`.
#
# **Why.** The sentence names no size of the weights. The study that it cites has weights uniform from -10 to 10 among its draws; there the recurrent nets are saturated and sensitive. With small weights all nets are nearly linear, and whether the sign is constant decides.
#
# **Repair.** With weights uniform from -10 to 10 the transformer is below LSTM, GRU and RNN: {glue:text}`transformer_wide:.2f` against {glue:text}`LSTM_wide:.2f`, {glue:text}`GRU_wide:.2f` and {glue:text}`RNN_wide:.2f`.
#
# **What survives.** The sentence, for the weights of the study that it quotes. Random transformers are far less sensitive than random functions in every draw tried.
# ```
#
# ## Exercises
#
# ```{admonition} Exercise 1
# The number of completions of $f$ from $R$ that are less sensitive than $T_1$ is not zero. Estimate the share of random completions with $\mathrm{as}(h) \le \mathrm{as}(T_1)$ from the mean above and a standard deviation. Hint: two different pairs of neighbours, neither of them inside $R$, differ independently of each other.
# ```

# %% tags=["hide-cell", "nbval-ignore-output"]
# Each free pair adds 2 / 2**n or nothing, with probability one half: variance 2**(-2 n) a pair. z counts standard deviations below the mean; a normal law is an approximation.
for m in sizes:
    outside = completions.off(rows[m], N)
    i = torch.arange(N)
    free = sum((outside | outside[:, i ^ (1 << k)]).sum(1) for k in range(n)) / 2
    spread = free.double().sqrt() / N
    gap = completions.expected_sensitivity(truth, rows[m]) - sensitivity(learned[m])
    z = (gap / spread)[fitted[m]]
    print(f"{m:3} strings: {z.mean():.1f} standard deviations below, least {z.min():.1f}")

# %% [markdown]
# ```{admonition} Exercise 2
# Measure the sharpness of the *first* models, which saw only $R$, on $R$ and outside. Are they equal there too?
# ```

# %% tags=["hide-cell", "nbval-ignore-output"]
# `trained` is the stack of the largest training sets.
m = sizes[-1]
first = completions.string_sharpness(model, trained.weights, strings, draws, noise)
inside = first.gather(1, rows[m]).mean(1)
outside = (first.sum(1) - inside * m) / (N - m)
print(f"on the {m} strings {inside.mean():.3f}, on the other {N - m} {outside.mean():.3f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The experiments are from {cite:t}`sensitive`. The study of random nets that it cites is {cite:t}`bhattamishra2023`.
