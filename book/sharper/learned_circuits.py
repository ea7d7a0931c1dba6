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
# (ch-learned-circuits)=
# # Attention rows light up the other members of a parity
#
# **Claim.** Small transformers that learn a sum of parities do give each parity a row of attention, and in most cases the bright columns of that row are the parity's members, as the first paper says. One member is often dark: the row sits *at* a member, and that bit enters through the query. Such a row computes part of the parity in its attention, so that the net behind it turns less often than one that sees averages only. Take the bits out of queries and keys, and in most cases all members light up, wherever the row sits, and the net turns as often as it must.
#
# **Needs** {ref}`ch-construction`. **Runs in** 50 s. **Source** printed.
#
# The paper's construction ({ref}`ch-construction`) gives each parity of the target a row of attention that is uniform over the parity's members. Section 2.4 of the paper asks whether training finds such rows. It trains the smallest model that could: $n$ tokens, each a one-hot position beside its bit $b_j \in \{0, 1\}$; one attention layer with scores $x_i^\top W_Q W_K^\top x_j$ and rows $a_i = \mathrm{softmax}_j$; and then one number a token,
#
# $$y_i = \sum_{j=1}^n a_{ij} \langle v, x_j \rangle, \qquad f_\theta(x) = c_0 + \sum_{i=1}^n c_i\, g(y_i), \qquad g(y) = \sum_{h=1}^{32} F_h\, (G_h y + b_h)_+ ,$$
#
# with $v \in \mathbb R^{n+1}$ and a net $g$ of one input and one output. There is no second attention: row $i$ adds $c_i\, g(y_i)$ to the output, and that is all it does. At $n = 20$ these are 1020 weights, as in the paper.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), Section 2.4 and Figure 5
# :label: sharper-fig5
# In most cases, a trained model has rows of attention whose bright columns are the members of a component of its target. The component with the smallest coefficient is harder to see.
# ```
#
# Looking is not enough: with many rows, some row resembles a given pair by chance (Exercise 2). Because rows add up, we can ask each row what it carries. The coefficient of the output at the character $\chi_U$, $U \subseteq \{1, \dots, n\}$, is the sum over rows $i$ of $\mathbb E_x\, c_i\, g(y_i)\, \chi_U(x)$. The row with the largest share in absolute value *carries* $U$. Then we look at the columns of that row and of no other.

# %% tags=["parameters"]
n = 10  # bits [8..20]
degrees = [2, 3]  # sizes of the parities, each from 2 to 4
sparsity = 3  # parities in a target [1..4]
models = 12  # targets and models for each degree [4..40]
strings = 512  # training strings of a model [256..16384]
batch_size = 128  # strings in a step [32..256]
learning_rate = 1e-2  # of AdamW [1e-3..2e-2]
max_steps = 4000  # most steps of a model [500..20000]
threshold = 0.02  # mean squared error at which a model stops; targets have variance 1 [0.005..0.1]
visible = 0.3  # coefficients from which a component counts as visible [0.1..0.6]
seed = 0  # of all that is random [0..1000000]

# %%
import math

import torch

from helpers import cube
from helpers.book import figures, results
from helpers.book.claims import Ledger
from helpers.sharper import circuits, samples
from helpers.statistics import wilson
from helpers.training.batches import fixed
from helpers.training.train import train

ledger = Ledger("sharper/learned_circuits")
HIDDEN = 32
if not set(degrees) <= {2, 3, 4}:
    raise ValueError(f"degrees run from 2 to 4, got {degrees}")

# %% [markdown]
# ## Training
#
# Each target is a sum of a few parities of one size, with positive coefficients whose squares sum to 1, so that predicting 0 errs by 1. We train two kinds of models on the same targets and strings. In the *free* ones queries and keys read position and bit, as in the paper. In the *positional* ones they read the position only, as in the construction; then attention is one matrix, the same for every input. A model stops when its mean error over an epoch is below the threshold. Models that never get there are counted, and kept.

# %%
classes = [(d, sparsity) for d in degrees for _ in range(models)]
seeds = [1000 * seed + k for _ in degrees for k in range(models)]
data = samples.draw(n, classes, strings, seeds)


def trained(positional):
    """Weights of every model, and which of them reached the threshold."""
    generators = [
        torch.Generator().manual_seed(97 * s + d) for s, (d, _) in zip(seeds, classes, strict=True)
    ]
    drawn = [circuits.initial_weights(n, HIDDEN, g) for g in generators]
    run = train(
        lambda w, b: circuits.forward(w, b, positional),
        {k: torch.stack([w[k] for w in drawn]) for k in drawn[0]},
        fixed(data.bits, data.targets, batch_size, generators),
        steps=max_steps,
        learning_rate=learning_rate,
        weight_decay=1e-4,
        check_every=math.ceil(strings / batch_size),
        threshold=threshold,
    )
    return run.weights, run.finished


kinds = {"free": trained(False), "positional": trained(True)}

# %% tags=["nbval-ignore-output"]
for kind, (_, finished) in kinds.items():
    if not finished.any():
        raise ValueError(f"no {kind} model learned; give more steps than {max_steps}")
    for d in degrees:
        done = sum(f for f, (k, _) in zip(finished.tolist(), classes, strict=True) if k == d)
        print(f"{kind:10}  degree {d}: {done} of {models} models reached the threshold")

# %% [markdown]
# ## Which row carries what
#
# For every model and every component we find the row that carries the component, and read four things off it: whether the row's own position is a member; whether its brightest columns are exactly the members; whether they are the *other* members, once the row's own column is left out; and how much of the component the row carries. Attention is averaged over the inputs: all of them up to 12 bits, else 4096 random ones.
#
# As a control we ask the same of *strangers*: random sets of the same size that are no component, in the same rows.

# %%
if n <= 12:
    inputs = cube.bits(n)
else:
    inputs = torch.randint(0, 2, (4096, n), generator=torch.Generator().manual_seed(seed))
strangers = torch.Generator().manual_seed(seed + 1)


def membership(mask):
    """Members of a set as bools, shape (n,)."""
    return (mask >> torch.arange(n) & 1).bool()


def brightest_are(row, members, apart=None):
    """Whether the members, but for position ``apart``, are the brightest of the other columns."""
    row, members = row.clone(), members.clone()
    if apart is not None:
        row[apart], members[apart] = -1, False
    top = row.topk(int(members.sum())).indices
    return bool(members[top].all())


def stranger(members):
    """A random other set of as many positions."""
    while True:
        other = torch.zeros(n, dtype=torch.bool)
        other[torch.randperm(n, generator=strangers)[: int(members.sum())]] = True
        if not torch.equal(other, members):
            return other


def read_rows(kind):
    """One record for each component of each model."""
    weights, finished = kinds[kind]
    for e, (degree, _) in enumerate(classes):
        own_weights = {k: v[e] for k, v in weights.items()}
        kept = circuits.attention(own_weights, inputs, kind == "positional")
        rows = circuits.written(own_weights, inputs, kept).double()  # (inputs, n)
        mean = kept.mean(0)
        function = data.functions[e]
        ranks = function.coefficients.argsort(descending=True).argsort()
        for mask, coefficient, rank in zip(
            function.masks, function.coefficients.tolist(), ranks.tolist(), strict=True
        ):
            members = membership(mask)
            signs = 1 - 2 * (inputs[:, members].sum(1) % 2).double()
            shares = (rows * signs[:, None]).mean(0)  # (n,)
            i = int(shares.abs().argmax())
            other = stranger(members)

            def carried(columns, i=i, kept=kept, signs=signs, own_weights=own_weights):
                dark = circuits.darkened(kept, columns)
                again = circuits.written(own_weights, inputs, dark)[:, i].double()
                return (again * signs).mean().item()

            at_row = torch.arange(n) == i
            yield {
                "kind": kind,
                "degree": degree,
                "model": e,
                "finished": bool(finished[e]),
                "coefficient": coefficient,
                "rank": rank,
                "row": i,
                "own": bool(members[i]),
                "exact": brightest_are(mean[i], members),
                "others": brightest_are(mean[i], members, i),
                "stranger": brightest_are(mean[i], other, i),
                "anywhere": any(brightest_are(row, members) for row in mean),
                "stranger anywhere": any(brightest_are(row, other) for row in mean),
                "share": abs(shares[i].item()) / max(abs(shares.sum().item()), 1e-9),
                "members dark": carried(members & ~at_row) / shares[i].item(),
                "rest dark": carried(~members & ~at_row) / shares[i].item(),
            }


records = [r for kind in kinds for r in read_rows(kind)]
seen = [r for r in records if r["coefficient"] >= visible]


def share_of(key, kind, among=None, degree=None):
    """Share of records with that property, and its interval."""
    chosen = [
        r[key]
        for r in (seen if among is None else among)
        if r["kind"] == kind and degree in (None, r["degree"])
    ]
    return wilson(sum(chosen), len(chosen))


stored_keys = ("kind", "degree", "finished", "own", "exact", "others", "stranger")
results.save("components", {key: [r[key] for r in seen] for key in stored_keys})

# %% tags=["nbval-ignore-output"]
print(f"components with a coefficient of at least {visible}: share, 95 % interval")
lines = {
    "row at a member": "own",
    "brightest = members": "exact",
    "brightest others = other members": "others",
    "the same for strangers": "stranger",
    "members bright in some row": "anywhere",
    "the same for strangers in some row": "stranger anywhere",
}
for kind in kinds:
    for title, key in lines.items():
        cells = [share_of(key, kind, degree=d) for d in degrees]
        text = "   ".join(
            f"d = {d}: {s:.2f} ({low:.2f} to {high:.2f})"
            for d, (s, low, high) in zip(degrees, cells, strict=True)
        )
        print(f"{kind:10}  {title:34}  {text}")

# %% [markdown]
# In free models the row that carries a component nearly always sits at one of its members, where chance would put it one time in three or less. Its other members are its brightest other columns. The row's own column is often dark, so that the whole set of members is the brightest less often. Nothing is missing: the query of row $i$ holds bit $b_i$, so the row can change its attention when its own bit flips. That flips the parity as well as a share of the average would.
#
# In positional models the query holds no bit. There the row sits at a member no more often than chance, and all members are bright. {numref}`fig-attention-rows` shows both kinds.

# %% mystnb={"figure": {"caption": "Mean attention of two models of each kind that learned the same two targets, one of each degree. Every row belongs to a token. A box marks the members of a component in the row that carries it; a cross marks the row's own position.", "name": "fig-attention-rows"}, "image": {"alt": "Four square matrices of attention. In each, most rows are dark, and the rows with boxes have bright cells at the boxed columns. In the upper two, of free models, a boxed cell with a cross is often dark; in the lower two all boxed cells are bright."}} tags=["hide-input"]
degrees_shown = (degrees * 2)[:2]
both = kinds["free"][1] & kinds["positional"][1]
chosen = []
for column, d in enumerate(degrees_shown):
    fits = [e for e, (k, _) in enumerate(classes) if k == d]
    fits.sort(key=lambda e: (not both[e], -float(data.functions[e].coefficients.min())))
    chosen.append(fits[column if degrees_shown[0] == degrees_shown[1] else 0])
fig, axes = figures.new(2, 2, height=6.4)
for row, kind in enumerate(kinds):
    for ax, e, d in zip(axes[row], chosen, degrees_shown, strict=True):
        own_weights = {k: v[e] for k, v in kinds[kind][0].items()}
        mean = circuits.attention(own_weights, inputs, kind == "positional").mean(0)
        ax.imshow(mean, cmap="Greys", vmin=0, vmax=0.7)
        for r in seen:
            if (r["kind"], r["model"]) != (kind, e):
                continue
            function = data.functions[e]
            at = (function.coefficients - r["coefficient"]).abs().argmin()
            for j in membership(function.masks[at]).nonzero().flatten().tolist():
                ax.add_patch(
                    figures.plt.Rectangle(
                        (j - 0.5, r["row"] - 0.5), 1, 1, fill=False, ec=figures.COLOURS[1], lw=1.6
                    )
                )
            ax.plot(r["row"], r["row"], marker="x", color=figures.COLOURS[0], linestyle="none")
        ticks = range(0, n, 2)
        ax.set(
            title=f"{kind}, degree {d}",
            xticks=ticks,
            yticks=ticks,
            xticklabels=[t + 1 for t in ticks],
            yticklabels=[t + 1 for t in ticks],
        )
        ax.grid(visible=False)
axes[1][0].set(xlabel="token attended to", ylabel="token that attends")
figures.show()

# %% [markdown]
# ## Do the bright columns do the work?
#
# A bright column might be idle. So we darken columns in the row that carries a component, scale the row back to sum 1, and see how much of the component the row still carries. We darken the other members, or everything but the members; the row's own column stays as it is.


# %%
def median_kept(key, kind):
    values = torch.tensor([r[key] for r in seen if r["kind"] == kind]).abs()
    return values.median().item()


# %% tags=["nbval-ignore-output"]
for kind in kinds:
    print(
        f"{kind:10}  carried with the members dark: median {median_kept('members dark', kind):.2f}, "
        f"with the rest dark: {median_kept('rest dark', kind):.2f}"
    )

# %% [markdown]
# ## Coefficients and turns
#
# The paper adds that the component with the smallest coefficient is harder to see, and hopes to find oscillations in $g$. The parity of $d$ bits alternates over $d + 1$ counts of ones, so that a net that sees only their mean must turn $d - 1$ times. We count the turns of $g$ between the smallest and the largest $y$ that occurs ({numref}`fig-narrow-net`).


# %%
def curve(kind, e, points=400):
    """The net between the smallest and the largest number that any row gives it."""
    own_weights = {k: v[e] for k, v in kinds[kind][0].items()}
    kept = circuits.attention(own_weights, inputs, kind == "positional")
    numbers = circuits.averages(own_weights, inputs, kept)
    y = torch.linspace(numbers.min().item(), numbers.max().item(), points)
    return y, circuits.net(own_weights, y[None])[0]


def turns(g):
    """Changes of direction that are larger than 5 % of the range."""
    count, direction, extreme = 0, 0, g[0].item()
    tolerance = 0.05 * (g.max() - g.min()).item()
    for value in g.tolist():
        if abs(value - extreme) <= tolerance and direction * (value - extreme) <= 0:
            continue
        step = 1 if value > extreme else -1
        count += direction not in (0, step)
        direction, extreme = step, value
    return count


def fewer_turns(kind):
    """Share of the models that learned whose net turns less than a mean would need."""
    counts = [(d, t) for (k, d), found in turned.items() if k == kind for t in found]
    return sum(t < d - 1 for d, t in counts) / max(len(counts), 1)


turned = {
    (kind, d): [
        turns(curve(kind, e)[1])
        for e, (k, _) in enumerate(classes)
        if k == d and bool(kinds[kind][1][e])
    ]
    for kind in kinds
    for d in degrees
}

# %% tags=["nbval-ignore-output"]
for (kind, d), counts in turned.items():
    mean = sum(counts) / max(len(counts), 1)
    print(
        f"{kind:10}  degree {d}: g turns {min(counts, default=0)} to {max(counts, default=0)} times, mean {mean:.1f}"
    )
ranked = {
    place: wilson(sum(r["others"] for r in at), len(at))
    for place in range(sparsity)
    if (at := [r for r in records if r["kind"] == "free" and r["rank"] == place])
}
for place, (share, low, high) in ranked.items():
    print(
        f"free, coefficient of rank {place + 1}: others lit {share:.2f} ({low:.2f} to {high:.2f})"
    )

# %% [markdown]
# Free models need fewer turns than that. At degree 2 their $g$ is monotone: the row's own bit decides *which* token is attended to, so that attention itself computes the exclusive or. Positional models, which have only the mean, turn at least $d - 1$ times. So the oscillation of the construction is there when attention is the construction's, and is not needed when it is free.

# %% mystnb={"figure": {"caption": "The narrow net $g$ of the models in {numref}`fig-attention-rows`, between the smallest and the largest average that any row gives it, each divided by its range.", "name": "fig-narrow-net"}, "image": {"alt": "Two panels, one for each target, with the learned function of one number for the free and the positional model. The curves rise and fall: once or twice for the smaller degree, more often for the larger one."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=2.6, sharey=True)
for ax, e, d in zip(axes, chosen, degrees_shown, strict=True):
    for kind, dash, colour in zip(kinds, figures.DASHES[:2], figures.COLOURS[:2], strict=True):
        y, g = curve(kind, e)
        place = (y - y[0]) / (y[-1] - y[0])
        ax.plot(
            place, (g - g.min()) / (g.max() - g.min()), label=kind, ls=dash, color=colour, marker=""
        )
    ax.set(title=f"degree {d}", xlabel="average $y$, smallest to largest")
axes[0].set_ylabel("$g(y)$, in its range")
axes[0].legend()
figures.show()

# %% [markdown]
# ## At the paper's length
#
# The paper's models read 20 bits. What a stored run at that length found, for components at least as large:

# %%
stored = results.load("sharper/learned_circuits", "components")
if stored is None:
    print("Not run at the paper's length here.")
else:
    for kind in kinds:
        for d in sorted(set(stored["degree"])):
            at = [
                i
                for i in range(len(stored))
                if (stored["kind"][i], stored["degree"][i]) == (kind, d)
            ]
            cells = []
            for title, key in (
                ("own", "own"),
                ("all", "exact"),
                ("others", "others"),
                ("strangers", "stranger"),
            ):
                share, low, high = wilson(sum(stored[key][i] == "True" for i in at), len(at))
                cells.append(f"{title} {share:.2f} ({low:.2f} to {high:.2f})")
            learned = sum(stored["finished"][i] == "True" for i in at)
            print(f"{kind:10} degree {d}, {len(at)} components, {learned} in models that learned")
            print(f"           {', '.join(cells)}")
    print(stored.provenance_line())

# %% [markdown]
# ## What would falsify this
#
# If rows lit up at random, strangers would fit them as often as components do: they are the control. If the row's position did not matter, rows would sit at members as often as chance says, $d/n$: they do in positional models, which are the control of that claim. If bright columns were idle, darkening them would cost nothing: darkening the rest is the control.

# %%
chance = sum(d * sum(r["degree"] == d for r in seen) for d in degrees) / len(seen) / n
ledger.result("sharper.fig5.rows").reproduced(
    "free models: the brightest other columns are the other members, lower end of the share; control: strangers",
    share_of("others", "free")[1],
    at_least=0.5,
    control=share_of("stranger", "free")[0],
    about="experiment",
    evidence="trained",
)
ledger.result("sharper.fig5.rows").holds(
    "free models: darkening the other members, share of the component that is left, median",
    median_kept("members dark", "free"),
    at_most=0.5,
    control=median_kept("rest dark", "free"),
    about="ours",
    evidence="trained",
)
ledger.result("sharper.fig5").holds(
    "the row that carries a component sits at a member, lower end of the share, times chance",
    share_of("own", "free")[1] / chance,
    at_least=2,
    control=share_of("own", "positional")[0] / chance,
    about="ours",
    evidence="trained",
)
ledger.result("sharper.fig5").holds(
    "positional models: all members are the brightest columns, lower end of the share; control: strangers",
    share_of("exact", "positional")[1],
    at_least=0.5,
    control=share_of("stranger", "positional")[0],
    about="ours",
    evidence="trained",
)
ledger.result("sharper.fig5").holds(
    "free models: $g$ turns fewer than $d - 1$ times, share of the models that learned",
    fewer_turns("free"),
    at_least=0.5,
    control=fewer_turns("positional"),
    about="ours",
    evidence="trained",
)


# %% tags=["nbval-ignore-output"]
ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` holds the model of this section but no stored figure or weights of it, so that Figure 5 can be compared in kind only. It shows the matrix of one model, picked to be legible; here every model counts. It looks at the product $W_Q W_K^\top$ between positions; we average the attention that results, which also contains what bits add.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Why can a free row at position $i$ compute the parity of $\{i, j\}$ with all its attention on $j$ or on a third token, but hardly a parity of two other positions without lighting both?
# ```

# %% [markdown] tags=["hide-cell"]
# Its average is $\langle v, x_k \rangle$ for the token $k$ attended to. If the query's bit decides which token is attended to, the average is a function of $b_i$ and of $b_j$, although position $i$ has no weight. Bits other than its own reach a row only through the weights of attention: a dark column's bit changes nothing, except by changing the score of its own key, which is dark.

# %% [markdown]
# ```{admonition} Exercise 2
# How often would the brightest two of ten columns be a given pair by chance, in one row, and in at least one of ten rows?
# ```

# %% tags=["hide-cell"]
pairs = math.comb(10, 2)
print(f"one row: {1 / pairs:.4f}; one of ten rows: {1 - (1 - 1 / pairs) ** 10:.4f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
