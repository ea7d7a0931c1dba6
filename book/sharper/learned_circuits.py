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
# # Attention rows single out the members of a parity
#
# ```{verdict}
# In most cases some row of a trained transformer's scores is largest exactly at the bits of a parity. At the paper's size this holds for {glue:text}`scores` of the {glue:text}`of` parities with coefficients of at least 0.3, and for {glue:text}`by_chance` of as many random sets. But the row of attention that contributes most of a parity is strongest exactly at its bits in only {glue:text}`exact` cases. In {glue:text}`others` cases it is strongest exactly at the parity's other bits, if its own column is left out. Open are Figures 6 and 7, a caption, whether the smallest coefficient is harder to find, and whether the true share, estimated here by {glue:text}`exact` of {glue:text}`of`, is below one half.
# ```
# **Needs** {ref}`ch-construction`. **Read** 16 min. **Runs in** 28 s. **Source** printed; the words on the net are quoted from a caption.
#
# **Claim.** Small transformers that learn a sum of parities have, in most cases, a row of the matrix of scores that is largest at the bits of a parity (its *members*), as the paper says.
#
# We ask in addition which row of attention contributes most of the parity to the output. Each row belongs to the position of one token, the one that attends, and for this row it is usually the position of one of the members. If the row's own column is left out, its strongest columns are in most cases the parity's other members. The member to which the row belongs often gets little attention, because its bit enters through the query. Such a row computes part of the parity in its attention, so the MLP behind it, the *net*, need not oscillate, that is, rise and fall again. If bits are removed from queries and keys, all members stand out in most cases, and the net oscillates as it does in the hand-written network.
#
# Four things are not decided. The paper's Figures 6 and 7 could not be judged, and neither could the caption that calls the net of one model cyclical. Two questions of ours are open as well: is the parity with the smallest coefficient harder to find in general, as it is in the one model that the paper shows, and does the row that contributes most single out all members of its parity in less than half of the cases?
#
# ## Why one should care
#
# The paper's bounds are about a network that was written by hand. In this network each parity has a *row* of attention, the weights that one token gives to all tokens, and the row averages exactly the bits of the parity. If trained networks find the same solution, the hand-written network explains how transformers compute sparse functions, and the bounds are about a solution that training can reach. If trained networks find another solution, the bounds may still be valid, but they say less about what is learned.
#
# Pictures of attention seem to answer the question, because bright spots at the right bits are easy to see. But a matrix with many rows has bright spots somewhere by chance, and a row that looks right need not be the one that computes the parity.
#
# ## Two bits by hand
#
# How can a row of attention compute the parity of the bits $b_1$ and $b_2$, that is $b_1 + b_2$ modulo 2? There are two ways, and only one of them needs a net that oscillates.
#
# *By the mean.* The row attends to the tokens 1 and 2 equally, whatever the bits are, and receives the mean of their bits. A net, that is, an MLP of one input and one output, then maps the means 0, $\frac12$ and 1 to 0, 1 and 0. As a function of the mean the net has to go up and down again, so it *oscillates*. This is the way of the construction, as we call the paper's hand-written network.
#
# *By attention.* The row belongs to token 1, and its query contains $b_1$. For some number $L$ it gives itself the score $\frac12 L$, and token 2 the score $L b_2$ if $b_1 = 0$ and $L (1 - b_2)$ if $b_1 = 1$. Such a score is a bilinear form in the two tokens, so queries and keys can produce it. For a large $L$ nearly all attention goes to the token with the larger score. If token 1 has the value 0 and token 2 the value 1, whatever their bits are, the row returns the parity itself:
#
# | $b_1$ | $b_2$ | mean | score of token 2 | attends to | returns |
# |:--|:--|:--|:--|:--|:--|
# | 0 | 0 | 0 | 0 | token 1 | 0 |
# | 0 | 1 | $\frac12$ | $L$ | token 2 | 1 |
# | 1 | 0 | $\frac12$ | $L$ | token 2 | 1 |
# | 1 | 1 | 1 | 0 | token 1 | 0 |
#
# In the second way no net is needed, because the attention itself computes the exclusive or. Both ways give rows with bright spots at members of the parity, but they are different solutions, and only the first one is that of the construction. To distinguish the two we ask three things: which columns are bright, to which position the row belongs, and whether the net oscillates.
#
# ## The statement
#
# The paper's construction ({ref}`ch-construction`) gives each parity of the target a row of attention that is uniform over the parity's members. Section 2.4 of the paper asks whether training finds such rows. For this it trains the smallest model that could have them, with one attention layer on $n$ tokens. Token $x_j$ is the one-hot vector of its position $j$ with the bit $b_j \in \{0, 1\}$ appended. The scores are $x_i^\top W_Q W_K^\top x_j$, with a matrix $W_Q$ of queries and a matrix $W_K$ of keys, and the row of attention $a_i$ is the softmax over $j$ of the scores of token $i$.
#
# The rest of the model uses one number $y_i$ for each token,
#
# $$y_i = \sum_{j=1}^n a_{ij} \langle v, x_j \rangle, \qquad f_\theta(x) = c_0 + \sum_{i=1}^n c_i\, g(y_i), \qquad g(y) = \sum_{h=1}^{32} F_h\, (G_h y + b_h)_+ ,$$
#
# with values $v \in \mathbb R^{n+1}$ and a net $g$ of one input and one output. Row $i$ adds $c_i\, g(y_i)$ to the output, and has no other effect. At $n = 20$ the model has 1020 weights, and that of the paper has just over 1000.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), Section 2.4 and Figure 5
# :label: sharper-fig5
# In most cases, a matrix of the trained model ($\bar W^{(1)}$ by a public note on the paper) contains rows with "bright spots" in the columns of the bits of a component. In the model of Figure 5 two components are clear, by the note those of the bits 9, 14, 17 and 3, 8, 11, and the third, with the smallest coefficient, is less identifiable. Of this model the caption says that its net $g$ is cyclical, and it warns: "The learned solutions are often qualitatively different than our construction. This experiment is merely meant to support the feasibility of our construction - not to argue that it is the norm. Close matches like this are rare." (In the paper's picture a bright cell means much attention, and in ours a dark cell does.)
# ```
#
# A *component* is one of the parities in the target, and its *members* are its $d$ bits.
#
# The remark is about *some* row. We take the matrix that the authors plot, the part of $W_Q W_K^\top$ that belongs to the positions, and ask for how many components the $d$ largest scores of some row are exactly at the members. With many rows this may happen by chance, so we ask the same for random sets of the same size.
#
# But we can ask more, namely how much of a component each row contributes, because the output is a sum over rows. Let $\chi_U$ be the character, that is, the parity with values $\pm 1$, of a set $U \subseteq \{1, \dots, n\}$ of bits. The coefficient of the output at $\chi_U$ is the sum over rows $i$ of $\mathbb E_x\, c_i\, g(y_i)\, \chi_U(x)$. We say that the row with the largest term in this sum, in absolute value, *carries* $U$. For the second question, whether the model works like the construction, we look at the attention of that row and of no other.

# %% tags=["parameters"]
n = 10  # bits [8..20]
degrees = [2, 3]  # sizes of the parities, each from [2..4]
sparsity = 3  # parities in a target [2..4]
models = 12  # targets and models for each degree [4..40]
strings = 512  # training strings of a model [256..16384]
batch_size = 128  # strings in a step [32..256]
learning_rate = 1e-2  # of AdamW [1e-3..2e-2]
max_steps = 1200  # most steps of a model [500..20000]
threshold = 0.02  # mean squared error at which a model stops; targets have variance 1 [0.005..0.1]
visible = 0.3  # coefficients from which a component counts as visible [0.15..0.6]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from statistics import median_high

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, results, table
from helpers import cube
from helpers.rng import Rng
from helpers.statistics import difference, wilson
from helpers.training.batches import fixed
from helpers.training.train import train
from papers.sharper import circuits, samples

ledger, rng = Ledger("sharper/learned_circuits"), Rng(seed + 1)
fig5, row_claims = ledger.result("sharper.fig5"), ledger.result("sharper.fig5.rows")
net_claims = ledger.result("sharper.fig5.mlp")
KINDS = {"free": False, "positional": True}
glue(sparsity=sparsity)

# %% [markdown]
# ## Training
#
# Each target is a sum of {glue:text}`sparsity` parities of one size, with positive coefficients whose squares sum to 1, so that predicting 0 has a mean squared error of 1. Two kinds of models learn the same targets from the same strings:
#
# | kind | queries and keys read | attention | ways of the example that are left |
# |:--|:--|:--|:--|
# | *free* | position and bit, as in the paper | depends on the input | both |
# | *positional* | the position only, as in the construction | one matrix, the same for every input | the first |
#
# The training of a model stops when its mean error over an epoch is below the threshold, and we then say that the model has *converged*. Models that never reach the threshold are kept, and the tables count them too. On this page we train small models, in the column *here* of the next table. The *stored run* is a longer run of the same code at the paper's length, whose results are kept with the book.

# %%
classes = [(d, sparsity) for d in degrees for _ in range(models)]
seeds = [1000 * seed + k % models for k in range(len(classes))]
data = samples.draw(n, classes, strings, seeds)


def trained(positional):
    """Weights of every model, and which of them reached the threshold."""
    sources = [
        torch.Generator().manual_seed(97 * s + d) for s, (d, _) in zip(seeds, classes, strict=True)
    ]
    drawn = [circuits.initial_weights(n, 32, g) for g in sources]
    run = train(
        lambda w, b: circuits.forward(w, b, positional),
        {k: torch.stack([w[k] for w in drawn]) for k in drawn[0]},
        fixed(data.bits, data.targets, batch_size, sources),
        steps=max_steps,
        learning_rate=learning_rate,
        weight_decay=1e-4,
        check_every=math.ceil(strings / batch_size),
        threshold=threshold,
        checkpoint=results.checkpoint(f"positional {positional}"),
    )
    return run.weights, run.finished


kinds = {kind: trained(positional) for kind, positional in KINDS.items()}

# %% mystnb={"code_prompt_hide": "Settings", "code_prompt_show": "Settings"} tags=["hide-input"]
SETTINGS = {
    "bits n": ("20", f"{n}", "20"),
    "models of each degree and kind": ("one model shown", f"{models}", "8"),
    "training strings": ("8192", f"{strings}", "8192"),
    "targets": (
        "of the model shown, three parities, two of them known to have three bits",
        *["three parities of degree 2 or 3"] * 2,
    ),
    "batch size": ("not legible", f"{batch_size}", "128"),
    "learning rate": ("not legible", f"{learning_rate:g}", "0.005"),
    "dropout": ("yes, rate not legible", "none", "none"),
    "factor of the scores": ("2 log n over the root of the columns (code)", "1", "1"),
    "input of the net": ("added to its output (code)", *["not added"] * 2),
    "runs that do not converge": ("not said", *["kept, and shown separately"] * 2),
    "what is looked at": ("one matrix of scores", *["scores, and mean attention"] * 2),
}
settings = pd.DataFrame(SETTINGS, ["paper", "here", "stored run"]).T.rename_axis("setting")
table(settings, "Settings of the training that differ from the paper's")
if not all(finished.any() for _, finished in kinds.values()):
    raise ValueError(f"no model learned; give more steps than {max_steps}")

# %% [markdown]
# ## Some row, and the row that carries
#
# A component is *visible* if its coefficient is at least 0.3. For every component we ask two kinds of questions.
#
# The first is the paper's: does some row of scores, or of attention, have its $d$ strongest columns exactly at the members? If random sets had such a row equally often, bright spots at the members would be no more than an accident.
#
# The second kind is about one row only, the row that carries the component. Does it sit at a member, that is, does it belong to the position of one? Are its *strongest* columns, those that get most attention, exactly the members? If the row's own column is left out, are they exactly the *other* members? The attention is averaged over the inputs. As a control we ask the last question about *strangers* too, that is, about random sets of the same size. If it had the answer yes for strangers as often, the answers would be no evidence about the component.

# %%
inputs = cube.bits(n) if n <= 12 else torch.randint(0, 2, (4096, n), generator=rng.generator)


def model(kind, e):
    """Weights of one model."""
    return {k: v[e] for k, v in kinds[kind][0].items()}


def read(kind, e, mask):
    """What any row, and the row that carries a component, have to say of it."""
    net = model(kind, e)
    kept = circuits.attention(net, inputs, KINDS[kind])
    members = (mask >> torch.arange(n) & 1).bool()
    shares = circuits.carried(circuits.written(net, inputs, kept), inputs, members)
    i = int(shares.abs().argmax())
    mean, scores = kept.mean(0), (net["query"] @ net["key"].T)[:n, :n]
    row, scores = mean[i], scores - scores.min()
    stranger = members
    while torch.equal(stranger, members):
        stranger = members[torch.randperm(n, generator=rng.generator)]

    return {
        "row": i,
        "own": bool(members[i]),
        "exact": circuits.strongest_are(row, members),
        "others": circuits.strongest_are(row, members, i),
        "stranger": circuits.strongest_are(row, stranger, i),
        "scores": any(circuits.strongest_are(r, members) for r in scores),
        "attention": any(circuits.strongest_are(r, members) for r in mean),
        "by_chance": any(circuits.strongest_are(r, stranger) for r in scores),
    }


# %% mystnb={"code_prompt_hide": "Every component", "code_prompt_show": "Every component"} tags=["hide-input"]
records = []
for kind, (_, finished) in kinds.items():
    for e, (degree, _) in enumerate(classes):
        f = data.functions[e]
        ranks = f.coefficients.argsort(descending=True).argsort().tolist()
        for mask, c, rank in zip(f.masks, f.coefficients.tolist(), ranks, strict=True):
            about = {"kind": kind, "degree": degree, "model": e, "finished": bool(finished[e])}
            about |= {"coefficient": c, "rank": rank, "mask": int(mask)}
            records.append(about | read(kind, e, mask))
records = pd.DataFrame(records)
kept = records.drop(columns=["row", "mask"]).round(6)
results.save("components", {k: kept[k].tolist() for k in kept})
seen = records[records["coefficient"] >= visible]
free, positional = (seen[seen["kind"] == kind] for kind in KINDS)


def share(frame, key):
    """Share of components with that property, with its interval."""
    return wilson(int(frame[key].sum()), len(frame))


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Mean attention of free models (above) and positional models (below) that learned the same two targets, one of each degree. Each row of a matrix belongs to the token that attends, each column to a token attended to. Squares mark the members of a component in the row that carries it; a cross marks the row's own position. The darker a cell, the more attention.", "name": "fig-attention-rows"}, "image": {"alt": "Four square matrices of attention. Most cells are pale, and most that have a square are darker. In the upper two, of free models, a square with a cross is often pale; in the lower two, of positional models, a few squares are pale at degree 3. A bar gives the attention from white, 0, to black, 0.7."}} tags=["hide-input"]
both = kinds["free"][1] & kinds["positional"][1]
chosen = {}
for d in degrees:
    fits = [e for e, (k, _) in enumerate(classes) if k == d]
    chosen[d] = min(fits, key=lambda e: (not both[e], -float(data.functions[e].coefficients.min())))
fig, axes = figures.new(2, len(degrees), height=6.2, squeeze=False)
for across, (kind, fixed_rows) in zip(axes, KINDS.items(), strict=True):
    for ax, (d, e) in zip(across, chosen.items(), strict=True):
        mean = circuits.attention(model(kind, e), inputs, fixed_rows).mean(0)
        image = ax.imshow(mean, cmap="Greys", vmin=0, vmax=0.7)
        for r in seen[(seen["kind"] == kind) & (seen["model"] == e)].itertuples():
            at = [j for j in range(n) if r.mask >> j & 1]
            ax.plot(
                at, [r.row] * len(at), **figures.marker_style(1, markersize=9, fillstyle="none")
            )
            ax.plot(r.row, r.row, marker="x", color=figures.COLOURS[0], linestyle="none")
        ticks = range(0, n, 2)
        ax.set_title(f"{kind}, degree {d}")
        figures.ticks(ax, ticks, [str(t + 1) for t in ticks])
        ax.set_yticks(ticks, [t + 1 for t in ticks])
        ax.grid(visible=False)
fig.colorbar(image, ax=axes, shrink=0.5, label="mean attention")
axes[1][0].set(xlabel="token attended to", ylabel="token that attends")
figures.show()

# %% mystnb={"code_prompt_hide": "The shares for each length, kind and degree", "code_prompt_show": "The shares for each length, kind and degree"} tags=["hide-cell", "nbval-ignore-output"]
stored = results.load("sharper/learned_circuits", "components")
if stored is None:
    raise FileNotFoundError("the stored run at the paper's length is missing")
stored.show_provenance()
every = pd.DataFrame(stored.columns).replace({"True": True, "False": False})
stored = every[every["coefficient"] >= visible]
pages = [(n, kind, frame) for kind, frame in seen.groupby("kind")]
pages += [(20, kind, frame) for kind, frame in stored.groupby("kind")]
pages += [(20, f"{kind}, all coefficients", frame) for kind, frame in every.groupby("kind")]
some = {"scores": "a row of scores", "attention": "a row of attention"}
some |= {"by_chance": "random sets, scores"}
told = {"own": "row at a member", "exact": "all members", "others": "other members"}


def told_of(frame, titles):
    """A row of a table: how many, and the shares."""
    shares = {title: f"{share(frame, key):.2f}" for key, title in titles.items()}
    return {"components": len(frame)} | shares


rows = [
    {"n": bits, "kind": kind, "models": models} | told_of(part, some)
    for bits, kind, frame in pages
    for models, part in (("all", frame), ("converged", frame[frame["finished"]]))
]
caption = "Share of components for which some row has its strongest columns exactly at the members"
table(pd.DataFrame(rows), caption)
rows = [
    {"n": bits, "kind": kind, "d": d} | told_of(part, told | {"stranger": "strangers"})
    for bits, kind, frame in pages
    for d, part in (*frame.groupby("degree"), ("all, converged", frame[frame["finished"]]))
]
caption = "Share of components by the strongest columns of the carrying row; strangers: random sets"
table(pd.DataFrame(rows), caption)

# %% [markdown]
# The next table has the answers at the paper's size of 20 bits. It counts the visible components in all models of each kind, {glue:text}`of` in the free ones and {glue:text}`of_positional` in the positional ones. (The folded tables above have the shares for each length, kind and degree.) The first line is the paper's question, and the other three are ours.
#
# | question | free | positional | random sets, free models |
# |:--|--:|--:|--:|
# | Is some row of scores largest exactly at the members? | {glue:text}`scores` | {glue:text}`scores_positional` | {glue:text}`by_chance` |
# | Does the carrying row sit at a member? | {glue:text}`own` | {glue:text}`own_positional` | a share $d/n$, 0.10 or 0.15 |
# | Are its strongest columns exactly the members? | {glue:text}`exact` | {glue:text}`exact_positional` | not counted |
# | Its own column left out, are they exactly the other members? | {glue:text}`others` | {glue:text}`others_positional` | {glue:text}`strangers` |
#
# The first line says that the paper's sentence is right: rows with bright spots at the members are common, and they are not an accident. In the free models, all of which converged, the share of components with such a row of scores is {glue:text}`scores_20`, whereas the share of random sets is {glue:text}`chance_20`. The brackets are confidence intervals, here and below. (They treat components as independent, even if they belong to the same model.)
#
# How stable is this share? We trained the models of 20 bits twice. The *second seeds* are the stored run, which the page shows, and the *first seeds* are an earlier run, of which we give counts only. The next table compares the two with each other and with this page's own models. The last three rows also count the components with a coefficient below 0.3. For the first seeds we add the lower end of the interval, because it is close to one half.
#
# | free models | components | a row of scores | a row of mean attention |
# |:--|:--|--:|--:|
# | 20 bits, second seeds (the stored run) | visible | {glue:text}`scores_20` | {glue:text}`attention_all` |
# | 20 bits, first seeds | visible | 24 of 35, lower end 0.52 | 22 of 35, lower end 0.46 |
# | {glue:text}`n` bits, converged | visible | {glue:text}`scores_here` | |
# | {glue:text}`n` bits, all models | visible | {glue:text}`scores_here_all` | |
# | 20 bits, second seeds (the stored run) | all | {glue:text}`small_all` | |
# | 20 bits, first seeds, converged | all | 30 of 45, lower end 0.52 | |
# | 20 bits, first seeds, all models | all | 30 of 48, lower end 0.48 | |
#
# Of the visible components at 20 bits more than half have such a row of scores in both runs. But for mean attention the interval of the first seeds reaches below one half, and in all models of {glue:text}`n` bits a majority is not certain. If components with a smaller coefficient count as well, the result is weaker, and it is open whether the share exceeds one half. However, the paper's sentence is about bright spots that one can see, and in the one model that the paper shows the component with the smallest coefficient is the one that is less identifiable.
#
# The other three lines of the table of questions say which solution is learned. Positional models, whose attention does not depend on the bits, attend to all members in most cases, as the construction does. In free models the carrying row sits at a member, and its own column is then often not among the strongest.
#
# {numref}`fig-attention-rows` shows the difference at four models of {glue:text}`n` bits. The upper two matrices are of free models. In such models the row that carries a component nearly always sits at one of its members, at 20 bits in {glue:text}`own` of {glue:text}`of` cases, whereas a row chosen at random would do so in a share $d/n$ of the cases. In most cases its strongest columns, apart from its own, are the other members. But its own column, the square with a cross, is often weak. Such a row can still compute the whole parity, because its query holds its own bit. When this bit flips, the row can change its attention, as in the second way of the example.
#
# The lower two matrices are of positional models, where the query holds no bit. In such models the row sits at a member no more often than by chance, and in most cases all members are strong. Among this page's own models, of {glue:text}`n` bits, the share of components of degree {glue:text}`most_degree` whose members are all strong is {glue:text}`positional_three`.

# %% mystnb={"code_prompt_hide": "What the checks compare", "code_prompt_show": "What the checks compare"} tags=["hide-input"]
of_20 = dict(list(stored.groupby("kind")))
learned = of_20["free"][of_20["free"]["finished"]]
dealt = stored.sample(frac=1, random_state=seed)


def more_exact(these, those):
    """Difference of two shares of components with all members strongest, with its interval."""
    sides = (torch.tensor(frame["exact"].tolist()).double() for frame in (these, those))
    return difference(*sides)


# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
row_claims.reproduced(
    "stored run at 20 bits, queries that read the bits: share of components for which a row"
    " of scores is largest exactly at the members, lower end of its interval; control: "
    "random sets",
    share(learned, "scores").low,
    at_least=0.5,
    control=share(learned, "by_chance").low,
    about="experiment",
    evidence="trained",
)
# of fewer components, or where most models did not converge, nothing is claimed
many = len(free) >= 30 and free["finished"].mean() >= 0.5
own_models = [(f"{n} bits", free)] if many else []
for name, frame in (*own_models, ("stored, 20 bits", of_20["free"])):
    fig5.holds(
        f"{name}, free models: share of components whose carrying row is strongest exactly at "
        "the other members, lower end of its interval; control: random sets of the same size",
        share(frame, "others").low,
        at_least=0.5,
        control=share(frame, "stranger").low,
        about="ours",
        evidence="trained",
    )
fig5.holds(
    "stored run at 20 bits: share of components whose carrying row is strongest exactly at "
    "all members, positional models less free ones, lower end of its interval; control: "
    "kinds shuffled",
    more_exact(of_20["positional"], of_20["free"]).low,
    at_least=0,
    control=more_exact(dealt[::2], dealt[1::2]).low,
    about="ours",
    evidence="trained",
)
chance, carriers = seen["degree"].mean() / n, torch.tensor(free["row"].to_numpy())
dealt_own = []  # shares if the rows are dealt out anew among the components
for _ in range(25):
    at = carriers[torch.randperm(len(carriers), generator=rng.generator)]
    hits = torch.tensor(free["mask"].to_numpy()) >> at & 1
    dealt_own.append(wilson(int(hits.sum()), len(free)).low / chance)
if many:
    fig5.holds(
        "free models: how much more often than by chance the carrying row sits at a member, "
        "lower end of its interval; control: rows shuffled among the components",
        share(free, "own").low / chance,
        at_least=1,
        control=median_high(dealt_own),
        about="ours",
        evidence="trained",
    )

# %% [markdown]
# ## The smallest coefficient, and the turns of the net
#
# Two sentences of the paper remain, one on the smallest coefficient and one on the net.
#
# In the model of Figure 5 the component with the smallest coefficient is less identifiable. Is it so in general? This is our question and not a sentence of the paper. We compare the shares of components for which some row of scores is largest exactly at the members: the largest {glue:text}`larger` components of each target against the smallest. A difference whose interval is below 0 would speak against it, and one that contains 0 decides nothing.
#
# Does the net oscillate? The parity of $d$ bits alternates as the number of ones goes through its $d + 1$ values from 0 to $d$. So the graph of a net that sees only the mean of the bits must turn $d - 1$ times: once for two bits, where the parities are 0, 1, 0. A *turn* of the net $g$ is a peak or a dip that stands out by 5 % of its range, and we count turns between the smallest and the largest $y$ that occurs. If free and positional nets turned equally often, this would speak against what we say of the two ways.

# %%
of_free = records[records["kind"] == "free"]
last = torch.tensor((of_free["rank"] == sparsity - 1).to_numpy())
lit = torch.tensor(of_free["scores"].to_numpy()).double()
gap = difference(lit[~last], lit[last])
far = every[every["kind"] == "free"]
sides = [far[of]["scores"].tolist() for of in (far["rank"] < 2, far["rank"] == 2)]
gap_20 = difference(*(torch.tensor(side).double() for side in sides))


def turns_of(net, fixed_rows):
    """Turns of the net between the smallest and the largest number that it is fed."""
    y = circuits.averages(net, inputs, circuits.attention(net, inputs, fixed_rows))
    return circuits.turns(
        circuits.net(net, torch.linspace(y.min().item(), y.max().item(), 400)[None])[0]
    )


rows = []
for kind, fixed_rows in KINDS.items():
    for e in kinds[kind][1].nonzero().flatten().tolist():
        found = turns_of(model(kind, e), fixed_rows)
        rows.append({"kind": kind, "degree": classes[e][0], "turns": found})
turned = pd.DataFrame(rows)
turned["enough"] = turned["turns"] >= turned["degree"] - 1

# %% mystnb={"code_prompt_hide": "Tables", "code_prompt_show": "Tables"} tags=["hide-input", "nbval-ignore-output"]
ranks = [f"{share(group, 'scores'):.2f}" for _, group in of_free.groupby("rank")]
table(
    {"rank of the coefficient, 1 is the largest": range(1, sparsity + 1), "share": ranks},
    "Free models: share of components with a row of scores largest exactly at the members",
)
by = turned.groupby(["kind", "degree"])
shown = by["turns"].agg(["count", "min", "mean", "max"]).reset_index()
shown["models with d - 1 turns or more"] = by["enough"].sum().tolist()
heads = {"count": "models", "degree": "degree d"}
heads |= {name: f"{name} of turns" for name in ("min", "mean", "max")}
table(shown.rename(columns=heads), "Turns of the net in models that converged", form=".1f")

# %% mystnb={"code_prompt_hide": "What the checks compare", "code_prompt_show": "What the checks compare"} tags=["hide-input"]
oscillate = {kind: share(turned[turned["kind"] == kind], "enough") for kind in KINDS}


def apart(kinds):
    """Lower end of the share of positional nets that turn enough, less the upper of free ones."""
    positional, free = (share(turned[kinds == kind], "enough") for kind in ("positional", "free"))
    return positional.low - free.high


kinds_of = turned["kind"].to_numpy()
orders = [torch.randperm(len(kinds_of), generator=rng.generator) for _ in range(25)]

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
if many:
    net_claims.reproduced(
        "share of nets that turn $d - 1$ times or more: lower end of the interval for "
        "positional models less upper end for free ones; control: kinds shuffled",
        apart(kinds_of),
        at_least=0,
        control=median_high([apart(kinds_of[order]) for order in orders]),
        about="ours",
        evidence="trained",
    )
untrained = [
    turns_of(circuits.initial_weights(n, 32, torch.Generator().manual_seed(97 * s + d)), True)
    >= d - 1
    for s, (d, _) in zip(seeds, classes, strict=True)
]
if many:
    net_claims.reproduced(
        "positional models: share of nets that turn $d - 1$ times or more, lower end of its "
        "interval; control: models before training",
        oscillate["positional"].low,
        at_least=0.5,
        control=wilson(sum(untrained), len(untrained)).low,
        about="ours",
        evidence="trained",
    )

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-cell", "nbval-ignore-output"]
whole, here = of_20["free"], free[free["finished"]]
three = positional[positional["degree"] == max(degrees)]
of_least = turned[(turned["kind"] == "free") & (turned["degree"] == min(degrees))]
oscillating = turned[turned["kind"] == "positional"]["enough"]
asked = ("scores", "own", "exact", "others")
glue(
    **{key: int(whole[key].sum()) for key in ("scores", "by_chance", "exact", "others")},
    of=len(whole),
    own=int(whole["own"].sum()),
    **{f"{key}_positional": int(of_20["positional"][key].sum()) for key in asked},
    of_positional=len(of_20["positional"]),
    strangers=int(whole["stranger"].sum()),
    apart=f"{more_exact(of_20['positional'], of_20['free']):.2f}",
    scores_20=f"{share(learned, 'scores'):.2f}",
    chance_20=f"{share(learned, 'by_chance'):.2f}",
    attention_all=f"{share(whole, 'attention'):.2f}",
    scores_here=f"{share(here, 'scores'):.2f}",
    scores_here_all=f"{share(free, 'scores'):.2f}",
    small_all=f"{share(far, 'scores'):.2f}",
    n=n,
    positional_three=f"{share(three, 'exact'):.2f}",
    larger=sparsity - 1,
    gap=f"{gap:.2f}",
    gap_20=f"{gap_20:.2f}",
    cyclical=int(turned[turned["kind"] == "free"]["enough"].sum()),
    free_models=int((turned["kind"] == "free").sum()),
    least_degree=min(degrees),
    most_degree=max(degrees),
    straight=int((of_least["turns"] == 0).sum()),
    of_least=len(of_least),
    positional_models=oscillating.size,
    positional_turn=int(oscillating.sum()),
)

# %% [markdown]
# In our models the component with the smallest coefficient is identified less often. At {glue:text}`n` bits, with the seed shown, its share is smaller by {glue:text}`gap`, and at the paper's size, with fewer models, by {glue:text}`gap_20`. The second interval reaches below 0, and at other seeds the first one does so too. Therefore a difference of 0 is not excluded, and the question is open at both sizes.
#
# The table of turns above counts the models that converged. Free models need fewer turns: at degree {glue:text}`least_degree`, {glue:text}`straight` of {glue:text}`of_least` do not turn at all. (At degree {glue:text}`most_degree` few free models converged, so there the table says little about them.) This fits the second way of the example, in which the row's own bit decides *which* token is attended to, so that the attention itself computes the exclusive or. A net that sees only the mean, as in positional models, needs at least $d - 1$ turns:
#
# | models that converged | free | positional |
# |:--|--:|--:|
# | nets counted | {glue:text}`free_models` | {glue:text}`positional_models` |
# | nets with $d - 1$ turns or more | {glue:text}`cyclical` | {glue:text}`positional_turn` |
#
# The paper's caption is about one model of 20 bits, and we did not count turns at this size, so we do not judge the caption.
#
# ## What we found
#
# * At the paper's size most components have a row of scores that is largest exactly at their members, so the paper's sentence is reproduced.
# * The row that *carries* a component differs from the construction's. In free models its strongest columns are in most cases the members other than the row's own. All members are strongest less often than in positional models, and the shares differ by {glue:text}`apart`. The reason is that the row's own bit enters through the query. If it cannot, as in positional models, all members stand out in most cases.
# * In free models, do all members stand out in less than half of the cases? With our first seeds this was so: the share was 9 of 35, and the upper end of its interval was below one half. But with the second seeds, which the page shows, the interval reaches just above one half, so we leave this open.
# * It is open whether the component with the smallest coefficient is identified less often. The difference has this sign at both sizes. But its interval reaches below 0 at the paper's size, and at {glue:text}`n` bits it does so at some seeds.
# * The net oscillates like the construction's in positional models, whose attention is of the construction's kind, and need not oscillate in free models.
# * The paper's Figures 6 and 7, maps of single models, are not judged, because neither weights nor maps are public.
#
# ## What would falsify this
#
# * *Some row.* The paper's sentence would be refuted if random sets had rows that single them out as often as the true components have; "in most cases" is taken as one half.
# * *The row's own position.* What we say of it would be refuted if free models placed the carrying row at a member no more often than chance, as they do if the rows are shuffled among the components.
# * *The net.* What we say of it would be refuted if both kinds of nets turned equally often, as they do when the kinds are shuffled among the models, or if most positional nets turned less than $d - 1$ times, as they do before training.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` holds, in its branches, versions of the model of this section but no stored figure or weights of it, so that Figure 5 can be compared in kind only. In these versions the scores have a factor of their own, and the input of the net is added to its output, so that what should turn is the sum of both. Figure 5 shows the matrix of one model, picked to be legible, whereas here every model counts. The authors plot the product $W_Q W_K^\top$ between positions, which our first count uses too. The mean attention, which our other counts use, also contains what the bits add to the scores.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-circuits-chance
#
# *By hand.* How often would the strongest two of ten columns be a given pair by chance, in one row, and in at least one of ten rows?
# ```
#
# ```{solution} ex-circuits-chance
# :class: dropdown
#
# There are 45 pairs, so in one row the chance is $1/45 \approx 0.02$, and in one of ten rows $1 - (44/45)^{10} \approx 0.20$. This is why we count the rows for random sets as well.
# ```
#
# ```{exercise}
# :label: ex-circuits-own-bit
#
# *With pencil and paper.* Why can a free row at position $i$ compute the parity of $\{i, j\}$ with all its attention on $j$ or on a third token, but hardly a parity of two other positions without attending to both?
# ```
#
# ```{solution} ex-circuits-own-bit
# :class: dropdown
#
# The average in the row is $\langle v, x_k \rangle$ for the token $k$ attended to. The score of token $j$ can depend on $b_i$, through the query, and on $b_j$, through the key. If in this way both bits decide whether the row attends to $j$ or to a third token, and if the values of these two tokens do not depend on their bits, the average is a function of $b_i$ and of $b_j$, although position $i$ has no weight. Bits other than its own reach a row only through the weights of attention. So the bit of a column with little attention changes nothing, except the score of its own key, which is small.
# ```
#
# ```{exercise}
# :label: ex-circuits-by-attention
#
# *With the computer.* First train other models, by `python -m bookkit.run sharper/learned_circuits -p seed 1 --out my_run`, and compare the shares in the two folded tables. Then build the second way of the example, with ten tokens: give the tokens 3 to 10 a score of $-L$, and let the row return its attention on token 2. For $L = 2, 5, 10, 20$ and all strings, compute the coefficient of the row at the parity of $b_1$ and $b_2$, and the mean attention on tokens 1 and 2. How large has $L$ to be, and would our three questions recognize this row?
# ```
#
# ```{solution-start} ex-circuits-by-attention
# :class: dropdown
# ```
#
# The coefficient is that of a function with values between 0 and 1, so it is $-\frac12$ for the exact parity.

# %%
strings_of_ten, by_scale = cube.bits(10).double(), {}
different = (strings_of_ten[:, 0] - strings_of_ten[:, 1]).abs()  # the parity of the two bits
for L in (2.0, 5.0, 10.0, 20.0):
    scores_of_row = torch.full((1024, 10), -L, dtype=torch.float64)
    scores_of_row[:, 0], scores_of_row[:, 1] = L / 2, L * different
    attends = scores_of_row.softmax(1)
    by_scale[f"{L:g}"] = {
        "coefficient": (attends[:, 1] * (1 - 2 * different)).mean().item(),
        "attention on token 1": attends[:, 0].mean().item(),
        "attention on token 2": attends[:, 1].mean().item(),
    }
by_scale = pd.DataFrame(by_scale).T.rename_axis("L")
table(by_scale, "A row that computes a parity by its attention", form=".3f")

# %% [markdown]
# At $L = 10$ the row is nearly exact. Its mean attention is one half on each of the two tokens, so its strongest columns are exactly the members, and the row sits at a member: by its mean attention alone it cannot be distinguished from the construction's row. What distinguishes the two is that the net behind this row need not turn, and that the attention changes with the input.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-circuits-evidence
#
# *To think about.* A picture of a trained model shows a row with bright spots at the members of a parity. Which further observations would convince you that the row computes this parity, and which would speak against it?
# ```
#
# ```{solution} ex-circuits-evidence
# :class: dropdown
#
# One should ask what happens to the output if the row is changed. If the row is removed, the coefficient of the output at this parity should vanish and the others should stay; this is what it means that the row carries the parity. If its bright columns are masked, or the bits at them are replaced, the coefficient should vanish as well. It would speak against the row if random sets had bright rows as often, or if another row had a larger share in the coefficient. It would also speak against it if the row kept its share when the bright columns are masked, because then the bits reach the row in another way.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Model and experiment are from {cite:t}`sharper`.
