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
# (ch-hierarchy-tuned)=
# # The hierarchy with every network tuned
#
# ```{verdict}
# The paper's order survives when every network is tuned: with the paper's data of 10 dimensions the transformer needs the fewest prompts, then the recurrent network, then the feedforward network. At {glue:text}`far` tokens, each of which points at a token of its own, they need {glue:text}`far_transformer`, {glue:text}`far_recurrent` and {glue:text}`far_feedforward` thousand prompts. Tuning helps the transformer most, by a factor of {glue:text}`gain_transformer:.0f` at {glue:text}`near` tokens. How fast these numbers grow with the number of tokens stays open.
# ```
# **Needs** {ref}`ch-sample-complexity-hierarchy`. **Read** 8 min. **Runs in** 40 s. **Source** quoted.
#
# **Claim.** We tune width, read-out and learning rate of each network, all by the same search, until no neighbouring setting is better. Then the transformer needs the fewest prompts on the general task and on the simple one, and with the paper's $d = 10$ the recurrent net fewer than the feedforward net, by medians. So the order of Theorem 1 survives tuning, and shows where the paper's own settings hide it. The sizes of the gaps do not survive: the paper's feedforward net has a first layer of $Nd$ units, which is a bottleneck.
#
# **The task** is that of {ref}`the chapter before <ch-sample-complexity-hierarchy>`: a prompt has $N$ tokens with data in $\mathbb R^d$; the label of token $i$ is $\langle u, x_{t_i} \rangle$, where $t_i$ is the token that it points at. In the *general* task every token has a pointer of its own, in the *simple* task all share one. A *count* is the number of prompts, none twice, until the test error is below .7 (general) or .02 (simple).
#
# ```{prf:theorem} Mousavi-Hosseini et al. (2025), Theorem 1 and Table 1, informal; with $q$ pointers a token
# :label: retrieval-thm1
# 1. A one-layer transformer with at least $q$ heads learns the task from a number of prompts that is almost independent of $N$. With fewer heads it does not.
# 2. Recurrent nets learn the simple task from a number almost independent of $N$. The general task takes them at least $N^c$ prompts, for some $c > 0$.
# 3. Feedforward nets need at least of the order of $N d$ prompts, for the simple task already.
# ```
#
# The theorem speaks of learners that minimise a risk, over nets of any width; we train by AdamW, at a few lengths. Runs can agree or disagree with it, and can neither prove nor refute it. The constants, the number $c$ and the logarithms behind "almost" are not given. Fewer heads than pointers are the subject of {ref}`ch-too-few-heads`.
#
# **Why one should expect an order.** One matrix that compares pointers with encodings serves all tokens, so a transformer has one thing to learn. A recurrent net has to carry all tokens past each other in its state, since it does not know yet who will be asked for ({ref}`ch-recurrent-lower-bound`). A feedforward net sees token 3 and token 5 as unrelated inputs: that 2 points at 5 and that 2 points at 3 are separate facts to it ({ref}`ch-feedforward-lower-bound`).

# %% tags=["parameters"]
lengths = [5]  # N of the general task, rising [4..16]
simple_lengths = [4]  # N of the simple task, rising [4..40]
d = 4  # dimensions of the data [4..10]
trials = 2  # runs at each setting of the search [2..5]
runs = 3  # new runs at the setting found [3..10]
thresholds = [
    0.7,
    0.02,
]  # mean squared errors that end a count: general task, simple task; (N - 1)/N needs no pointer [0.02..0.7]
test_prompts = 500  # of each test [500..10000]
cap = 400_000  # most prompts of a run [200000..1000000]
narrow_at = 5  # one of the lengths, at which the paper's widths are tried too [4..16]
seed = 0  # of all that is random [0..1000000]
resume = False  # go on from the runs that are stored

# %% [markdown]
# ## The search
#
# Each network starts from a setting that a few trials suggested. Its *neighbours* have twice or half the learning rate, or twice or half the width. A recurrent net's neighbours also have the other kind of units (ReLU or gated), and the other read-out: linear, or a ReLU layer of 64 units that sees both states and the token, as the paper's definition of a recurrent net allows. A feedforward net's have one hidden layer or two, the second of 1000 units. The search moves to a neighbour whose median of three runs ({glue:text}`trials` on this page) is smaller by more than 5 %, and ends where there is none. So no optimum lies at an edge of a grid. A run is stopped at the best median so far, since then it is not better. The count that is reported comes from new runs with new tasks. (The stored runs came from a tree with changes that were not committed, so that their exact code cannot be recovered; the printed command does the same search today.)

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from functools import partial

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, results, table
from helpers.rng import seed_of
from papers.retrieval.hierarchy import Net, Runs, Setting, learn, neighbours, tune
from papers.retrieval.task import new_task

ledger = Ledger("retrieval/hierarchy_tuned")
COLUMNS = ("task", "net", "N", "kind", "widths", "rate", "prompts", "reached")
START = {
    "transformer": Setting(Net("transformer", (128,)), 0.02),
    "recurrent": Setting(Net("gated", (64, 64)), 0.01),
    "feedforward": Setting(Net("feedforward", (2048,)), 0.002),
}
glue(trials=trials)


# %%
def needed(setting, most, task, N, count, purpose):
    """Prompts that runs need at a setting, each stopped after a number of them."""
    generator = torch.Generator().manual_seed(seed_of(purpose, task == "simple", N, seed))
    given = new_task(count, N, d, int(5 * math.log(N)), generator, simple=task == "simple")
    found = learn(
        setting.net,
        given,
        {"own": given},
        generator,
        learning_rate=setting.rate,
        weight_decay=0.1,
        steps=max(1, most // 64),
        stop=thresholds[task == "simple"],
        check_every=2 if setting.net.kind == "transformer" else 10,
        test_prompts=test_prompts,
    )
    return found["own"]


# %% [markdown]
# All networks have the task, the thresholds, the batches of 64 prompts and the weight decay of .1 of the paper. Transformers are tested at every second step, since they need so few, and the others at every tenth. Two more are the *narrow* feedforward net, with the paper's widths $Nd$ and 1000, of which only the rate is tuned; and the *untuned* transformer, with the paper's layer and rate.

# %% mystnb={"code_prompt_hide": "The runs", "code_prompt_show": "The runs"} tags=["hide-input"]
tuned = results.load("retrieval/hierarchy_tuned", "runs")
trail = results.load("retrieval/hierarchy_tuned", "search")
rows, searched = (
    list(zip(*(stored[c] for c in COLUMNS), strict=True)) if resume and stored else []
    for stored in (tuned, trail)
)
places = [("general", N) for N in lengths] + [("simple", N) for N in simple_lengths]
cases = [(*place, net, start, neighbours) for place in places for net, start in START.items()]
if narrow_at not in lengths:
    raise ValueError(f"narrow_at is one of the lengths {lengths}, got {narrow_at}")
narrow = Setting(Net("feedforward", (narrow_at * d, 1000)), 0.002)
untuned = Setting(Net("transformer", (100,)), 0.001)
cases.append(("general", narrow_at, "narrow", narrow, lambda s: neighbours(s)[:2]))
cases.append(("general", narrow_at, "untuned", untuned, lambda s: []))
for task, N, net, start, near in cases:
    if (task, net, N) in {row[:3] for row in rows}:
        continue
    count = partial(needed, task=task, N=N, count=trials, purpose="search")
    best, tried = tune(count, start, cap, near)
    fresh = needed(best, cap, task, N, runs, "fresh")
    done = [(s, c, searched) for s, c in tried.items()]
    for setting, found, into in [*done, (best, fresh, rows)]:
        what = setting.net.kind, " ".join(map(str, setting.net.widths)), setting.rate
        ends = zip(found.prompts.tolist(), found.reached.int().tolist(), strict=True)
        into += [(task, net, N, *what, *end) for end in ends]
    for name, into in (("runs", rows), ("search", searched)):
        results.save(name, dict(zip(COLUMNS, zip(*into, strict=True), strict=True)))

paper = results.load("retrieval/sample_complexity_hierarchy", "runs")
own, own_trail = (pd.DataFrame(v, columns=COLUMNS) for v in (rows, searched))
take_own = resume or tuned is None
kept, ours = (Runs(v) for v in (own if take_own else pd.DataFrame(tuned.columns), own))
before = Runs(pd.DataFrame(paper.columns).query("task == test") if paper else own.iloc[:0])

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Prompts seen until the test error is below the threshold, on logarithmic axes. Solid, with filled markers: each network tuned. Dotted, with hollow markers: the paper's settings. Every run is a marker, lines join medians. Left, the general task; right, the simple one.", "name": "fig-hierarchy-tuned"}, "image": {"alt": "Two panels, each with three solid lines one above the other, the transformer's lowest, then the recurrent net's, then the feedforward net's. Dotted lines of the paper's settings lie above the solid ones of the same colour. In the left panel the dotted line of the feedforward net rises far above all. In the right panel the dotted line of the transformer lies on top at 8 and 16 tokens and lowest at 25; at 8 it is about twenty times above its solid one."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.4, sharey=True)
HOLLOW = {"linestyle": ":", "markerfacecolor": "white", "alpha": 0.6}
for ax, task in zip(axes, ("general", "simple"), strict=True):
    for source, style in ((before, HOLLOW), (kept, {})):
        for i, net in enumerate(START):
            at = source.lengths(task, net)
            middle = [source.median(task, net, N) for N in at]
            ax.plot(at, middle, **(figures.series_style(i) | style | {"marker": "", "label": net}))
            for N in at:
                found = source.counts(task, net, N).prompts
                ax.plot(
                    [N] * len(found), found, **(figures.series_style(i) | style | {"linestyle": ""})
                )
    ax.set(xscale="log", yscale="log", xlabel="tokens in a prompt, $N$", title=f"{task} task")
    figures.ticks(ax, sorted({N for r in (before, kept) for N in r.lengths(task, "transformer")}))
axes[0].set_ylabel("prompts seen")
axes[0].legend(*(v[3:] for v in axes[0].get_legend_handles_labels()))
figures.show()

# %% [markdown]
# ## What the search found

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]


def overview(runs, trail, caption):
    """The settings found, and what they need."""
    lines = []
    for (task, N, net), here in runs.frame.groupby(["task", "N", "net"]):
        first, tries = here.iloc[0], trail.query("task == @task and net == @net and N == @N")
        units = {"gated": "gated, ", "recurrent": "ReLU, "}.get(first["kind"], "")
        lines.append(
            {
                "task": task,
                "N": N,
                "network": net,
                "widths": units + str(first["widths"]).replace(" ", ", "),
                "rate": first["rate"],
                "tried": len(tries.groupby(["kind", "widths", "rate"])),
                "prompts, thousands": runs.told(task, net, N),
            }
            | ({"paper's settings": before.told(task, net, N)} if runs is kept else {})
        )
    table(pd.DataFrame(lines), caption)


if not take_own:
    overview(kept, pd.DataFrame(trail.columns), "The paper's task, tuned: median, range of prompts")
    print(tuned.provenance_line())
overview(ours, own_trail, f"This page's own run, with data in {d} dimensions")

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-input"]
NETS = list(START)
(near, *_, far), (short, *_, long) = (kept.lengths(task, *NETS) for task in ("general", "simple"))
ENDS = {"general": (near, far), "simple": (short, long)}
at_narrow = kept.lengths("general", "narrow")[-1]


def power(task, net):
    return kept.power(task, net, *ENDS[task])


OF_LOG = math.log(math.log(far) / math.log(near)) / math.log(far / near)
LOG_SQUARED = 2 * OF_LOG  # (log N)^2 grows like this power of N
glue(near=near, far=far, short=short, long=long, narrow_at=at_narrow)
glue(log_squared=LOG_SQUARED, log_cubed=3 * OF_LOG)
for net in NETS:
    glue(**{f"far_{net}": f"{kept.median('general', net, far) / 1000:.1f}"})
    glue(**{f"long_{net}": f"{kept.median('simple', net, long) / 1000:.1f}"})
    glue(**{f"{task}_power_{net}": f"{power(task, net):.1f}" for task in ENDS})
    gain = before.median("general", net, near) / kept.median("general", net, near)
    glue(**{f"gain_{net}": gain})

papers = {
    N: before.median("simple", "transformer", N)
    > max(before.median("simple", net, N) for net in NETS[1:])
    for N in before.lengths("simple", *NETS)
}
for name, last in (("behind", True), ("ahead", False)):  # at which lengths the transformer is
    glue(**{name: " and ".join(str(N) for N, most in papers.items() if most == last)})
glue(far_steps=kept.median("general", "transformer", far) / 64)

# %% [markdown]
# ## The order
#
# At $N =$ {glue:text}`far` of the general task the transformer needs {glue:text}`far_transformer` thousand prompts, the recurrent net {glue:text}`far_recurrent`, the feedforward net {glue:text}`far_feedforward`; at $N =$ {glue:text}`long` of the simple task {glue:text}`long_transformer`, {glue:text}`long_recurrent` and {glue:text}`long_feedforward` ({numref}`fig-hierarchy-tuned`). With the paper's settings the transformer is behind the recurrent net on short prompts, and behind both on the simple task at {glue:text}`behind` tokens, though not at {glue:text}`ahead`. Its rate of $10^{-3}$ is to blame: the search ends at rates twenty to forty times as large. The check asks that at every length of the general task each run of the others needs more than every transformer. Its control exchanges transformer and recurrent net. (At the paper's rate and width it would fail: there some runs of the others need fewer than some transformers.)

# %%
theorem = ledger.result("retrieval.thm1.order")
theorem.reproduced(
    "general task, every length: log of the least of the others over the most of the transformer's; control: the recurrent net in its place",
    min(kept.lead("general", N, *NETS) for N in kept.lengths("general", *NETS)),
    at_least=0,
    control=max(
        kept.lead("general", N, "recurrent", "transformer", "feedforward")
        for N in kept.lengths("general", *NETS)
    ),
    about="statement",
    evidence="trained",
)
theorem.reproduced(
    "the page's own run, general task: the same; control: the recurrent net in its place",
    ours.lead("general", narrow_at, *NETS),
    at_least=0,
    control=ours.lead("general", narrow_at, "recurrent", "transformer", "feedforward"),
    about="statement",
    evidence="trained",
)

# %% [markdown]
# ## The bottleneck
#
# The first layer of the paper's feedforward net has $Nd$ units, behind $N(d + 2\lfloor 5 \log N \rfloor)$ inputs: it is narrower than the prompt. At $N =$ {glue:text}`narrow_at` and the best rate it needs {glue:text}`narrow` thousand prompts, the tuned net {glue:text}`wide`: {glue:text}`factor:.1f` times as many. The tuned one has a single wide layer.

# %%
narrow_count, wide = (kept.median("general", k, at_narrow) for k in ("narrow", "feedforward"))
glue(narrow=f"{narrow_count / 1000:.0f}", wide=f"{wide / 1000:.0f}", factor=narrow_count / wide)
ledger.result("retrieval.thm1.ffn").holds(
    "log of the least of the narrow feedforward nets, at the best rate, over the most of the tuned ones; control: recurrent nets in place of the narrow ones",
    kept.lead("general", at_narrow, "feedforward", "narrow"),
    at_least=0,
    control=kept.lead("general", at_narrow, "feedforward", "recurrent"),
    about="ours",
    evidence="trained",
)

# %% [markdown]
# ## Growth
#
# From $N =$ {glue:text}`near` to {glue:text}`far` of the general task the powers of $N$ are {glue:text}`general_power_transformer` for the transformer, {glue:text}`general_power_recurrent` for the recurrent net and {glue:text}`general_power_feedforward` for the feedforward net, in brackets from the runs farthest apart. From $N =$ {glue:text}`short` to {glue:text}`long` of the simple task they are {glue:text}`simple_power_transformer`, {glue:text}`simple_power_recurrent` and {glue:text}`simple_power_feedforward`.
#
# * *Recurrent nets, general task, at least $N^c$.* Open. The count grows faster than $(\log N)^2$, which between these lengths is like $N$ to the power {glue:text}`log_squared:.2f`, by the runs farthest apart too. But $(\log N)^3$ is like $N$ to the power {glue:text}`log_cubed:.2f`, and two lengths cannot tell a power of $\log N$ from one of $N$.
# * *Feedforward nets, simple task, at least of the order of $Nd$.* Open. Between medians the power of $N$ is above 1, and the runs farthest apart leave room for less. So this agrees with the theorem and does not establish it. The bound itself asks for little: $Nd$ is below 100 here, and the counts are thousands.
# * *Transformers, general task, and recurrent nets, simple task: almost independent of $N$.* Open. Both counts grow, and at these lengths no faster than $(\log N)^2$, which tells little: so would one that is proportional to $N$. And {glue:text}`far_transformer` thousand prompts are {glue:text}`far_steps:.0f` steps of training. Counts so small depend on the optimizer as much as on the number of samples.

# %%
ledger.result("retrieval.thm1.rnn_general").holds(
    "general task: power of $N$ of the tuned recurrent net, from the runs farthest apart, less that of $(\\log N)^2$; control: transformer",
    power("general", "recurrent").low - LOG_SQUARED,
    at_least=0,
    control=power("general", "transformer").low - LOG_SQUARED,
    about="ours",
    evidence="trained",
)
ledger.result("retrieval.thm1.ffn").holds(
    "simple task: power of $N$ of the tuned feedforward net, from medians; control: transformer",
    power("simple", "feedforward").value,
    at_least=1,
    control=power("simple", "transformer").value,
    about="ours",
    evidence="trained",
)
ledger.result("retrieval.thm1.transformer").holds(
    "general task: power of $N$ of the tuned transformer, from the runs farthest apart, less that of $(\\log N)^2$; control: recurrent net",
    power("general", "transformer").low - LOG_SQUARED,
    at_most=0,
    control=power("general", "recurrent").low - LOG_SQUARED,
    about="ours",
    evidence="trained",
)

# %% [markdown]
# **What differs from the paper.** Its Figure 1, by the text of its second version.

# %% mystnb={"code_prompt_hide": "Settings", "code_prompt_show": "Settings"} tags=["hide-input"]
settings = {
    "$N$, general task": ("2 to 12", f"{', '.join(map(str, lengths))}; stored: {near}, {far}"),
    "$N$, simple task": (
        "25 to 33",
        f"{', '.join(map(str, simple_lengths))}; stored: {short}, {long}",
    ),
    "dimensions of the data": ("10", f"{d}; stored: 10"),
    "runs of each network": ("5", f"{runs}; stored: 5"),
    "widths": ("transformer 100, recurrent 500, feedforward Nd and 1000", "tuned"),
    "learning rate": ("0.001", "tuned"),
    "recurrent units, read-out": ("simple, linear", "ReLU or gated, linear or 64 units: tuned"),
    "test prompts": ("10000", f"{test_prompts}; stored: 1000"),
    "a test every": ("not given", "2 steps for transformers, else 10"),
    "factor of the encodings": ("root of d", "none, as in the code"),
}
settings = [(name, *both) for name, both in settings.items() if both[0] != both[1]]
settings = pd.DataFrame(settings, columns=["setting", "paper", "here"])
table(settings, "Every setting that differs from the paper's")

# %% [markdown]
# ## What we found
#
# * Tuned alike, the transformer needs the fewest prompts on both tasks, and the recurrent net fewer than the feedforward net, by medians. On the general task every run of the two needs more than every transformer. In the page's own short run, with $d = 4$, the recurrent net is behind the feedforward net on both tasks at the seed shown; at another seed it is ahead on the general task.
# * At $N =$ {glue:text}`near` tuning divides the transformer's count by {glue:text}`gain_transformer:.0f`, the recurrent net's by {glue:text}`gain_recurrent:.1f` and the feedforward net's by {glue:text}`gain_feedforward:.1f`. A common rate of $10^{-3}$ suits the transformer least.
# * The paper's feedforward net has a bottleneck. With its widths and the best rate it needs {glue:text}`factor:.1f` times the prompts of a net with one wide layer. Its theorem is for every width; its figure is for this one.
# * A gated recurrent net with a hidden layer in its read-out learns best; a linear read-out needs more.
# * Open: every rate of growth in $N$. Prompts of 4 and 8 tokens cannot tell a power of $\log N$ from $N$.
# * Not done: longer prompts, other batch sizes, weight decays and depths, more heads.
#
# ## What would falsify this
#
# One run of another network that needs fewer prompts than a transformer on the general task. A setting of the feedforward net outside the neighbourhood searched that beats the recurrent net: the search finds a point that no neighbour beats, and cannot exclude that a distant one does. A feedforward net as narrow as the paper's that learns as fast as a wide one. The controls put another network in place of the one that a sentence is about.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# It trains all three networks at the rate $10^{-3}$, with the widths of {ref}`the chapter before <ch-sample-complexity-hierarchy>`, and searches for none. Its read-outs are linear, also for recurrent nets, where the paper's definition lets any function read both states and the token.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-hierarchy-bottleneck
# Behind a first layer of $m$ linear units, a feedforward net sees $m$ linear combinations of its inputs. How many numbers of a prompt of the general task do the labels depend on, and how many units does a linear first layer need to hand on all of them? Compare with $m = Nd$.
# ```
#
# ```{solution} ex-hierarchy-bottleneck
# :class: dropdown
# The labels depend on the $N$ numbers $\langle u, x_j \rangle$ and on $N$ pointers, which stand in the $N \lfloor 5 \log N \rfloor$ coordinates of their encodings. Handing on the pointers and the products with $u$ takes $N (1 + \lfloor 5 \log N \rfloor)$ linear units: 88 at $N = 8$ and $d = 10$, where $Nd = 80$. Before $u$ is known all $Nd$ numbers $x_j$ must be handed on beside the pointers, which takes 160. A unit that is linear hands on one number; so the layer is too narrow by a factor of 2.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem is from {cite:t}`retrieval`.
