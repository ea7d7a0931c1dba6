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
# (ch-recurrent-lower-bound)=
# # A small norm fits the samples, not the task
#
# ```{verdict}
# Theorem 9 is true: on long prompts the recurrent net that fits its training samples with the smallest weights fails on fresh prompts. The number of samples may grow with the prompt length $N$ like $N^{c_1}$, for any $c_1$ below both $\frac16$ and $1 - c$, if the width is at most $e^{N^c}$. With a read-out of two layers it takes, in half of the draws, smaller weights to fit {glue:text}`few` samples than to reach an error of $\frac14$ if prompts have more than about {glue:text}`from_few:.1e` tokens; for {glue:text}`many` samples this is so from about {glue:text}`from_many:.1e` on.
# ```
# **Needs** {ref}`ch-state-norms`. **Read** 16 min. **Runs in** 10 s. **Source** quoted (the hypotheses, Lemmas 36 and 37, the parts of Lemma 38), restored (the displays).
#
# **Claim.** Among all recurrent nets that fit $n$ samples of the general retrieval task, take one with the smallest weights. If $n$ is less than a certain power of the length $N$ of the prompts, then the error of this net on fresh prompts is large. The reason is that the task itself needs weights whose norm grows with $N$, whereas $n$ samples can be fitted with a norm that does not depend on $N$.
#
# We find that every step of the argument holds. The argument rests on a lower bound on the weights that the task needs, {prf:ref}`retrieval-prop8`, which we state in three forms in another chapter ({ref}`ch-state-norms`). One of them is false as we restore it, but the argument needs only the other two.

# %% tags=["parameters"]
few = 8  # samples that a small net fits [4..12]
many = 64  # samples, for gaps and large nets [40..100]
draws = 2000  # random sets of samples, for the gaps [500..5000]
repeats = 200  # random sets of samples, for norms [100..500]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.rng import Rng, f64
from helpers.statistics import power
from papers.retrieval import memory

ledger, source = Ledger("retrieval/recurrent_lower_bound"), Rng(seed)
thm9, lem36 = ledger.result("retrieval.thm9"), ledger.result("retrieval.thm9.lem36")
search = ledger.result("retrieval.thm9.search")
lem37, lem38 = ledger.result("retrieval.thm9.lem37"), ledger.result("retrieval.thm9.lem38")
normal = source.normal

# %% [markdown]
# ## Why one should care
#
# A learner that prefers small weights is usually a good learner, because small weights mean a simple function, and many generalization bounds reward them. So one may hope that a recurrent net that fits the training samples, and does so with the smallest possible weights, has also learned the task. The theorem says that on this task this hope is not fulfilled.
#
# In every prompt, each token points at a token of its own, and its label is computed from the data of the token that it points at. A net that solves the task must carry the labels of all $N$ tokens in its state, which takes a norm that grows with $N$ ({ref}`ch-state-norms`). But a training sample asks for the label at one position only, and $n$ such labels can be produced without any memory, by a curve through $n$ points. If the prompts are long, the curve needs the smaller norm. So the smallest weights are those of a net that has memorized its samples.
#
# A transformer does not have this problem, because the norm of the matrix that follows a pointer grows only with logarithms of $N$ ({ref}`ch-transformer-guarantee`). This is the paper's separation between transformers and recurrent nets.
#
# ## Three samples by hand
#
# Which norm does a net need whose output is a curve through three points? Suppose that the training set consists of three prompts, and that in each of them one token is labelled. Let one coordinate of this token's own data be $z = 0$ in the first prompt, $z = 1$ in the second and $z = 2$ in the third. Let the labels be $y = 1, -1, 1$, which are unrelated to $z$, because they come from the tokens that are pointed at. Nevertheless, the following sum of three ReLU units $\sigma(t) = \max(t, 0)$ passes through all three points:
#
# | unit | at $z = 0$ | at $z = 1$ | at $z = 2$ |
# |:--|--:|--:|--:|
# | $1 \cdot \sigma(z + 1)$ | $1$ | $2$ | $3$ |
# | $-3 \cdot \sigma(z)$ | $0$ | $-3$ | $-6$ |
# | $4 \cdot \sigma(z - 1)$ | $0$ | $0$ | $4$ |
# | sum | $1$ | $-1$ | $1$ |
#
# The squares of the outer weights $1, -3, 4$ add up to 26. The inner weights are all 1 and the biases are $1, 0, -1$, so their squares add up to 5. A ReLU net does not change if its outer weights are multiplied and its inner weights and biases divided by the same positive number. We choose this number such that the norm is least. The product of the two sums is always $26 \cdot 5$, so their total is least if both are $\sqrt{26 \cdot 5}$. The squared norm of the net is then $2 \sqrt{26 \cdot 5} = 22.8$. We call it the *cost* of the curve.
#
# For the cost of the task, take prompts of $N$ tokens. We will show that every net with a two-layer read-out and a mean squared error of $\frac14$ over pointers to other tokens has a squared norm of at least $\sqrt{N - 1}$, see {eq}`eq-task-needs`. (A net that predicts 0 everywhere has an error of 1.) The number $\sqrt{N - 1}$ exceeds $2 \sqrt{130}$ as soon as $N > 1 + 4 \cdot 130 = 521$. So on prompts of more than 521 tokens the curve through our three points is cheaper than any net that has learned a substantial part of the task.

# %%
z, y = f64([0.0, 1.0, 2.0]), f64([1.0, -1.0, 1.0])
curve = memory.interpolant(z, y)
by_hand = memory.squared_norm(curve)
glue(by_hand=by_hand, tokens_by_hand=1 + by_hand**2, repeats=repeats)

# %% [markdown]
# The code builds the same net: its squared norm is {glue:text}`by_hand:.2f`, and the length above which the curve is cheaper is {glue:text}`tokens_by_hand:.0f` tokens.
#
# With more samples the points of the curve come closer together, so its slopes, and with them the outer weights, become larger. To see how fast, we draw for each number $n$ of samples {glue:text}`repeats` random sets of points and labels and compute the squared norm of the curve; the next figure shows the outcome.

# %% mystnb={"code_prompt_hide": "Norms of fitted nets", "code_prompt_show": "Norms of fitted nets"} tags=["hide-input"]


def norms(n, degree=1):
    """Squared norms of two-layer nets through n random points; degree 3 crowds them near 0."""
    points = ((normal(n) ** degree, normal(n)) for _ in range(repeats))
    return torch.tensor([memory.squared_norm(memory.interpolant(*p)) for p in points])


def layered(S, layers):
    """Squared norm, balanced, of a net with more layers, from that of two layers."""
    passing = 1 if layers == 2 else 2 ** ((layers - 1) / 2)
    return layers * (S / 2 * passing) ** (2 / layers)


def needed(N, layers=2, error=0.25):
    """Squared norm that every net with this error has at least."""
    return layers * ((1 - math.sqrt(error)) ** 2 * (N - 1)) ** (1 / layers)


def length(S, layers):
    """Prompts from which fitting, at two-layer norm S, is cheaper than an error of 1/4."""
    return 1 + 4 * (layered(S, layers) / layers) ** layers


sizes = sorted({4, few, 16, 32, many, 128})
found = {n: norms(n) for n in sizes}
S = pd.Series({n: v.median().item() for n, v in found.items()})

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: squared norm of two-layer nets through $n$ samples (median, and the range of the middle nine tenths of the draws), and the proved bound $166\\, n^3$. Grey lines: the squared norm that an error of $\\frac14$ needs on prompts of three lengths. Right: the length of the prompts from which fitting is cheaper, for read-outs of two, three and four layers.", "name": "fig-fit-or-learn"}, "image": {"alt": "Left, on logarithmic axes: a line rises from about 60 at 4 samples to about 400 thousand at 128, with a band around it; a dashed line with slope three lies a hundred times higher at the left and more at the right. Three level lines at about one thousand, 32 thousand and one million. Right: three parallel rising lines, from some thousand tokens at 4 samples to some 10 to the 11 to 10 to the 12 at 128; that of two layers is lowest."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=3.1)
ends = torch.tensor([0.05, 0.95])
low, high = zip(*[v.quantile(ends).tolist() for v in found.values()], strict=True)
left.plot(sizes, S, label="fitted nets", **figures.series_style(0))
figures.interval(left, sizes, low, high)
left.plot(sizes, [166 * n**3 for n in sizes], label="$166\\, n^3$", **figures.line_style(1))
for k in (6, 9, 12):
    figures.level(left, needed(10.0**k), f"$N = 10^{{{k}}}$")
left.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="squared norm")
left.legend()
for i, layers in enumerate((2, 3, 4)):
    lengths = [length(v, layers) for v in S]
    right.plot(sizes, lengths, label=f"$L_y = {layers}$", **figures.series_style(i))
right.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="tokens $N$")
right.legend()
for ax in (left, right):
    figures.ticks(ax, sizes)
figures.show()

# %% [markdown]
# In the left panel, follow the lower curve to the right until it crosses a grey line. To the left of the crossing, fitting is cheaper than learning at that length; to the right of it, our bound does not decide. With prompts of a million tokens, for example, fitting ten samples costs less than learning the task. The dashed line is what we can prove for at least half of all draws, and it lies far above the typical value. The right panel makes the same comparison the other way: it shows how long prompts have to be until fitting is cheaper. These lengths are large, since the cost of the task grows only like a root of $N$. Deeper read-outs need longer prompts, but the slope is the same for all three depths.
#
# ## The statement
#
# The task and the nets are those of {ref}`ch-state-norms`, with states of length at most 1. The *read-out* is a ReLU net with $L_y$ layers of width $d_h$. Its first layer reads the two states $h = (h^\to, h^\gets)$ through a matrix $U$, and the token $z$ through a matrix $W_y$ (the paper allows any encoding of the token; ours contains $x$ as it is):
#
# $$f_y(Uh, z) = W_{L_y}\, \sigma\bigl( \cdots W_2\, \sigma(U h + W_y z + b_y) \cdots \bigr) .$$
#
# So $U$ is not followed by a further matrix in the first layer. Instead, $U$ and $W_y$ are two blocks of one matrix, and there are $L_y$ matrices between the states and the prediction. Three more terms are needed.
#
# * *The weights.* The vector $\mathrm{vec}\, \Theta$ holds the entries of all matrices and biases. (The paper counts the weights of the transitions as well. This makes no difference, because these weights can be 0 in a net that ignores its states, and in any other net they only increase the norm.)
# * *The empirical risk.* A training sample is a prompt in which only *one* random position counts, and the mean squared error over these positions is the *point-wise* empirical risk.
# * *The risk* is the mean squared error at a random position of a fresh prompt.
#
# ```{prf:theorem} Mousavi-Hosseini et al. (2025), Theorem 9
# :label: retrieval-thm9
# Let $d_h \le e^{N^c}$ with $c < 1$, let $L_y \ge 2$ be bounded, and $\|\mathrm{vec}\, \Theta\| \le e^{N^c/L_y}$. There are $c_1, c_2, c_3 > 0$ such that for $n \le O(N^{c_1})$ and any $\varepsilon \ge 0$ the weights of least norm whose point-wise empirical risk is at most $\varepsilon$ have risk at least $c_3$, with probability at least $c_2$.
# ```
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemmas 36 to 38
# :label: retrieval-lem38
# * **37.** Let $x^{(1)}, \dots, x^{(n)} \in \mathbb R^d$ be standard normal. With probability at least $\frac13$ there is a unit vector $v$ for which the numbers $z_i = \langle v, x^{(i)} \rangle$ are pairwise of order $1/n^2$ apart, and $\|z\|$ is of order $\sqrt n$.
# * **38.** Through $n$ points whose $z_i$ are $\epsilon \le 1$ apart goes a two-layer ReLU net with $n$ units and a squared norm of order $\|y\| \sqrt{\|z\|^2 + n}\, / \epsilon$.
# * **36.** So $n$ samples are fitted at a squared norm of order $n^3$, with a probability that does not depend on $n$.
# ```
#
# In the theorem $c$ limits the class of nets, $c_1$ the number of samples, $c_2$ is a probability and $c_3$ a risk. We do not know which values the paper has for $c_1$, $c_2$ and $c_3$, so we state the values that the argument gives.
#
# **The idea of the proof.** As in the example, we compare two costs. On one side, any net with a small risk needs a memory, and the norm that this takes grows like a power of $N$. On the other side, a net that ignores its memory needs a steep curve. How steep? The curve is steep where two of the $n$ points are close together while their labels differ. Among $n$ random points on a line there are about $\frac12 n^2$ pairs, so the closest pair is typically at a distance of order $1/n^2$. Hence the slopes are at most of order $n^2$, up to the size of the labels. So the cost of fitting is a power of $n$ that does not contain $N$. If $n$ is a small enough power of $N$, fitting is cheaper, and the net with the smallest weights cannot be one that solves the task.
#
# ## What the task needs
#
# First we make the cost of the task precise, in three steps.
#
# 1. As a function of $Uh$, the read-out has a Lipschitz constant $\mathfrak L$ of at most $\|W_2\| \cdots \|W_{L_y}\|$. So $\mathfrak L \|U\|_F$ is at most a product of $L_y$ Frobenius norms, those of $U, W_2, \dots, W_{L_y}$.
# 2. The squares of these norms add up to at most $\|\mathrm{vec}\, \Theta\|^2$. A product of positive numbers with a given sum of squares is largest if the numbers are equal, so $\mathfrak L \|U\|_F \le (\|\mathrm{vec}\, \Theta\|^2 / L_y)^{L_y/2}$.
# 3. {prf:ref}`state-norm` bounds $\mathfrak L \|U\|_F$ from below, by $(1 - \sqrt E) \sqrt{N - 1}$.
#
# Together these steps show that every net has
#
# ```{math}
# :label: eq-task-needs
# \|\mathrm{vec}\, \Theta\|^2 \ge L_y \bigl(\mathfrak L \|U\|_F\bigr)^{2/L_y} \ge L_y \bigl((1 - \sqrt E)^2 (N - 1)\bigr)^{1/L_y} .
# ```
#
# Here $E$ is the error over pointers to other tokens, which is at most $\frac N{N-1}$ times the risk. For $L_y = 2$ and $E = \frac14$ the right side is the $\sqrt{N - 1}$ of the example.
#
# ## What the samples need
#
# We turn to the cost of fitting. A net that has to give one label of each of $n$ prompts can ignore its states and set $U = 0$. It projects the token's own data on a unit vector $v$ and draws a piecewise linear curve through the $n$ points. The three lemmas say, in turn, that the points are not too close together, what the curve costs, and what follows.
#
# **Lemma 37.** For a random $v$ the difference of two projections is a normal variable of variance 2, whose density is at most $\frac1{\sqrt{4\pi}}$, and there are at most $\frac{n^2}2$ pairs. So two of the $n$ projections are closer than $\delta$ with probability at most $\frac{n^2}2 \cdot \frac{2\delta}{\sqrt{4\pi}}$, which is $\frac16$ for $\delta = \sqrt\pi/(3n^2)$. By Markov's inequality $\|z\|^2 > 6n$ has probability at most $\frac16$, too. So neither of the two happens with probability at least $\frac23$, which is more than the $\frac13$ of the lemma.
#
# **Lemma 38.** Number the points such that the $z_i$ increase, and let $s_1 = y_1$, and $s_i$ the slope from point $i - 1$ to point $i$. As in the example, the net is $s_1 \sigma(z - z_1 + 1) + \sum_{i \ge 2} (s_i - s_{i-1}) \sigma(z - z_{i-1})$, with $n$ units.
#
# * *The slopes.* A slope is a difference of two labels over a gap of at least $\epsilon$. Since $(y_i - y_{i-1})^2 \le 2 y_i^2 + 2 y_{i-1}^2$, we have $\sum_{i \ge 2} s_i^2 \le 4 \|y\|^2/\epsilon^2$.
# * *The outer weights.* They are $s_1$ and the differences of neighbouring slopes. In the same way their squares add up to at most $3 y_1^2 + 4 \sum_{i \ge 2} s_i^2$, which is at most $19 \|y\|^2/\epsilon^2$ for $\epsilon \le 1$.
# * *The first layer.* It has $n$ weights of 1 and the biases $1 - z_1, -z_1, \dots, -z_{n-1}$, so its squares add up to at most $n + 2 + 3\|z\|^2$.
#
# If the two layers are balanced, the squared norm is therefore at most $2 \sqrt{19 (n + 2 + 3 \|z\|^2)}\, \|y\|/\epsilon$.
#
# **Lemma 36.** Each of the inequalities $\|z\|^2 \le 6n$ and $\|y\|^2 \le 6n$ fails with probability at most $\frac16$, and so does the bound on the gaps. Hence with probability at least $\frac12$ all three hold. If we insert them and the gap $\epsilon = \sqrt\pi/(3n^2)$ into Lemma 38, the squared norm is at most $166\, n^3$.
#
# The next table tests the lemmas, mostly with {glue:text}`many` samples.
#
# * For Lemma 37 it draws {glue:text}`draws` sets of points and counts how often a gap is below $\delta$. A share that is clearly above $\frac16$ would refute the constant.
# * For Lemma 38 it compares the squared norm with its bound on random samples, and on the hardest samples that we know. These are points on an even grid, $10^{-3}$ apart, whose labels alternate in sign. A ratio above 1 would refute the bound.
# * For Lemma 36 it measures how the median squared norm grows with $n$. A power above 3 would speak against the bound.

# %%
delta = math.sqrt(math.pi) / (3 * many**2)
gaps = normal(draws, many).sort(-1).values.diff(dim=-1).amin(-1)
close, three_times = ((gaps < k * delta).double().mean().item() for k in (1, 3))

grid = 1e-3 * torch.arange(many).double()
sets = [(grid, (-1.0) ** torch.arange(many).double())]
sets += [(normal(many), normal(many)) for _ in range(repeats)]
ratios, typical, wrong, wrong_without = [], [], 0, 0
for z, y in sets:
    net = memory.interpolant(z, y)
    terms = ((z[:, None] @ net.W.mT).abs() + net.b.abs()) @ net.a.abs()
    rounding = 2 * many * torch.finfo(torch.float64).eps * terms.max()
    fewer = memory.ReluNet(net.a[:-1], net.W[:-1], net.b[:-1])
    wrong += int((net(z[:, None]) - y).abs().max() > rounding)
    wrong_without += int((fewer(z[:, None]) - y).abs().max() > rounding)
    ratios.append(memory.squared_norm(net) / memory.interpolant_bound(z, y))
    middle = z.sort().values.diff().median().item()
    typical.append(memory.squared_norm(net) / memory.interpolant_bound(z, y, gap=middle))
steps = {
    "Lemma 37: share of draws with a gap below it, at most 1/6": close,
    "Lemma 38: nets that miss a point": wrong,
    "Lemma 38: squared norm over its bound, even grid": ratios[0],
    "Lemma 38: the same, random samples, largest": max(ratios[1:]),
    "Lemma 36: power of n in the median squared norm, at most 3": power(sizes, S.tolist()),
}
table(steps, f"The three lemmas, {many} samples", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
error = math.sqrt(close * (1 - close) / draws)
lem37.holds(
    "share of draws in which two of the samples are closer than $\\sqrt\\pi/(3n^2)$ along a"
    " random $v$; control: closer than three times that",
    close,
    at_most=1 / 6,
    tol=4.5 * error,
    control=three_times,
    stderr=error,
    about="statement",
    evidence="sampled",
)
counts = [2, 3, 10, 100, 10**4, 10**6]
gap = {n: math.sqrt(math.pi) / (3 * n**2) for n in counts}
lem37.holds(
    "chance of such a $v$, at least: 1 less the chances of a small gap (union bound) and of"
    " $\\|z\\|^2 > 6n$ (Markov), least of $n$ up to $10^6$; control: a gap nine times as "
    "large",
    min(5 / 6 - n * (n - 1) / 2 * math.erf(gap[n] / 2) for n in counts),
    at_least=1 / 3,
    control=min(5 / 6 - n * (n - 1) / 2 * math.erf(9 * gap[n] / 2) for n in counts),
    about="statement",
    evidence="proved",
)
lem38.holds(
    "number of nets that miss a point by more than rounding; control: one unit is removed",
    wrong,
    at_most=0,
    control=wrong_without,
    about="statement",
    evidence="proved",
)
lem38.holds(
    "largest ratio of the squared norm of the net to its bound, for an even grid and random"
    " samples; control: the median gap in place of the least",
    max(ratios),
    at_most=1,
    control=max(typical),
    about="statement",
    evidence="proved",
)
crowded = [norms(n, degree=3).median().item() for n in sizes]
lem36.holds(
    "power of $n$ with which the median squared norm of the net grows; control: the cubes "
    "of the projections as points",
    power(sizes, S.tolist()),
    at_most=3,
    control=power(sizes, crowded),
    about="statement",
    evidence="sampled",
)


def fitting(n, closest):
    """Lemma 38's bound for |z|^2, |y|^2 = 6n and this gap, over n^3."""
    return 2 * math.sqrt(19 * (n + 2 + 18 * n)) * math.sqrt(6 * n) / closest / n**3


lem36.holds(
    "largest ratio of the bound of Lemma 38, at $\\|z\\|^2, \\|y\\|^2 \\le 6n$ and the gap "
    "of Lemma 37, to $n^3$, for $n$ up to $10^6$; control: a gap of order $n^{-3}$",
    max(fitting(n, gap[n]) for n in counts),
    at_most=166,
    control=max(fitting(n, gap[n] / n) for n in counts),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# Each of Lemmas 37 and 38 is nearly sharp: the share of draws is close to $\frac16$, and the even grid comes close to its bound. Their combination is not sharp, because the bound divides all $n$ labels by the smallest gap, whereas of $n$ random points only a few neighbours are nearly so close. This is why the median grows more slowly than $n^3$, about like $n^{5/2}$.
#
# ## Theorem 9, put together
#
# The comparison of the two costs has two cases, since a net with fewer than $n$ units may be too narrow for the curve. In that case the net is too narrow for the task as well.
#
# ```{dropdown} Proof, with the exponents
# We suppose that a net has a small risk, and show that a net without memory has a smaller norm, or that no net of this width can have such a risk.
#
# **Setting.** Let $c_3 < 1$ and let $E$ lie between $c_3$ and 1. Suppose that a net has risk below $c_3$. For large $N$ its error at some token, on average over pointers to the other tokens, is then at most $E$.
#
# **Case 1: $d_h \ge n$.** Here the net of Lemma 36 is in the class, since its norm is a power of $n$ and therefore below $e^{N^c/L_y}$ for large $N$. It fits the samples exactly, so it competes for every $\varepsilon \ge 0$. We compute its cost at every depth and compare.
#
# 1. *More layers.* For $L_y > 2$ each of the remaining layers passes on the number by two units, as $\sigma(s)$ and $\sigma(-s)$; for a single sample one unit is enough. Let $S$ be the squared norm with two layers. The product of the layers' norms is $\frac S2$ for two layers and $\frac S2\, 2^{(L_y - 1)/2}$ for more.
# 2. *Rescaling* makes the norms of the layers equal. This gives a squared norm of $L_y (\frac S2)^{2/L_y}$ for two layers, and of $L_y (\frac S2)^{2/L_y}\, 2^{(L_y - 1)/L_y}$ for more.
# 3. *Comparison.* The right side of {eq}`eq-task-needs` is $L_y$ times a power $2/L_y$ as well, and the two powers cancel. So at every depth fitting is cheaper than the error $E$ as soon as $\frac S2\, 2^{(L_y - 1)/2} < (1 - \sqrt E) \sqrt{N - 1}$.
# 4. *Samples.* With probability at least $\frac12$ we have $S \le 166\, n^3$. So the condition holds for $n \le O(N^{c_1})$ with $c_1 < \frac16$ and large $N$, and then the weights of least norm are not those of a net with error $E$.
#
# **Case 2: $d_h < n$.** Here no net of the class has a small error. To see this, note that by the first inequality of {eq}`eq-task-needs` we have $\mathfrak L \|U\|_{op} \le (\|\mathrm{vec}\, \Theta\|^2 / L_y)^{L_y/2} \le \frac12 e^{N^c}$, as the paper says. For every $\tau > 0$ the dimension form of {ref}`ch-state-norms` then gives $\sqrt E \ge \exp( -\frac{2n}{N - 1} \log(1 + e^{N^c}/\tau)) - \tau$. The exponent is of order $n N^{c - 1}$, so for $n \le O(N^{c_1})$ with $c_1 < 1 - c$ it tends to 0, and the exponential to 1. Since $\tau$ may be arbitrarily small, the error tends to at least 1. $\square$
# ```
#
# So $c_1$ may be any number below $\frac16$ and $1 - c$, at every depth, with $c_2 = \frac12$ and any $c_3 < 1$. The paper gives no number, and it bounds the cost of interpolation by $O(n^3)$ at every depth, although for more than two layers rescaling gives the smaller $O(n^{6/L_y})$.
#
# Two hypotheses can be dropped. First, the bound on $d_h$ is not needed in the first case, because {prf:ref}`state-norm` contains no $\log d_h$. Second, the bound on the weights is not needed if the learner may choose $d_h$, as the paper remarks. Then the first case of the proof is the only one: the least norm over all widths is at most that of a net with $d_h \ge n$ that fits the samples, and {eq}`eq-task-needs` holds at every width.
#
# The first table lists the lengths from which fitting is cheaper, for the median squared norm. A median of {glue:text}`repeats` draws varies by about a sixth from one set of draws to another, and the lengths, which are proportional to its square, by about a third. More layers should change the lengths by a constant factor only.
#
# The second table is about nets with fewer dimensions than samples: it shows the least error that such a net can have if $c = \frac12$ and $n = N^{c_1}$. According to the proof, this error should stay large for $c_1 < \frac12$ and may vanish for $c_1 = 0.6$.

# %%
rows = {n: [S[n], *(length(S[n], layers) for layers in (2, 3, 4))] for n in sizes}
heads = ["squared norm", "N, two layers", "N, three layers", "N, four layers"]
cheaper = pd.DataFrame(rows, index=heads).T.rename_axis("samples")
table(cheaper, "From which length on fitting is cheaper than an error of 1/4", form=".3g")

narrow = {}
for k in (4, 8, 12, 16):
    N = 10.0**k
    floors = {c: memory.dimension_floor(N, N**c, N**0.5 - math.log(2)) for c in (0.25, 0.45, 0.6)}
    narrow[f"10^{k}"] = {f"$c_1 = {c}$": floor for c, floor in floors.items()}
narrow = pd.DataFrame(narrow).T.rename_axis("N")
table(narrow, "Least error with fewer dimensions than samples, c = 1/2", form=".3f")


# %% mystnb={"code_prompt_hide": "Deeper nets, and checks", "code_prompt_show": "Deeper nets, and checks"} tags=["hide-input"]
def deeper(layers, units=2):
    """Largest miss of a deeper net, some units passing the label on, and its norm's from layered."""
    z, y = normal(many), normal(many)
    a, W, b = net = memory.interpolant(z, y)
    sign = torch.tensor([1.0, -1.0]).double()[:units]
    passing = [torch.eye(units).double()] * (layers - 3)
    matrices = [torch.cat((W, b[:, None]), 1), sign[:, None] * a, *passing, sign[None]]
    values = torch.cat((z[:, None], torch.ones(many, 1)), 1)
    for matrix in matrices[:-1]:
        values = (values @ matrix.mT).relu()
    miss = (values @ sign - y).abs().max().item() / a.abs().max().item()
    product = math.prod(matrix.norm().item() for matrix in matrices)
    formula = layered(memory.squared_norm(net), layers)
    return max(miss, abs(layers * product ** (2 / layers) / formula - 1))


def steepness(layers, further=0, size=4.0, width=5):
    """Measured steepness of read-outs in Uh, times |U|_F, over the bound from all their weights.

    The largest of read-outs with equal matrices of rank one and with random ones; ``further``
    matrices stand between U and the first ReLU.
    """
    ratios = []
    for random in (False, True):
        shapes = [(width, width)] * (layers - 1 + further) + [(1, width)]
        matrices = [normal(*k) if random else f64(1).expand(k) for k in shapes]
        U, *matrices = [size * matrix / matrix.norm() for matrix in matrices]
        value = Uh = (normal(200, width).abs() @ U.mT).requires_grad_()
        for i, matrix in enumerate(matrices):
            value = (value if i < further else value.relu()) @ matrix.mT
        steep = torch.autograd.grad(value.sum(), Uh)[0].norm(dim=-1).max() * U.norm()
        total = U.square().sum() + sum(matrix.square().sum() for matrix in matrices)
        ratios.append((steep / (total / layers) ** (layers / 2)).item())
    return max(ratios)


def wider(draw, times, bias=0.0):
    """Squared norm of the net of a draw with so many times its units; infinite if it misses."""
    z, y = draw
    net = memory.interpolant(z, y)
    spare = torch.zeros((times - 1) * len(z), dtype=torch.float64)
    a, b = torch.cat((net.a, spare)), torch.cat((net.b, spare + bias))
    wide = memory.ReluNet(a, torch.cat((net.W, spare[:, None])), b)
    fits = (wide(z[:, None]) - y).abs().max() <= 1e-9 * a.abs().max()
    return memory.squared_norm(wide) if fits else math.inf


def cost_of_width(bias=0.0):
    """Largest ratio, of three widths, of the median cost of fitting to that of the task."""
    medians = [
        torch.tensor([wider(draw, times, bias) for draw in few_samples]).median().item()
        for times in (1, 10, 1000)
    ]
    return max(medians) / needed(1e7)


few_samples = [(normal(few), normal(few)) for _ in range(repeats)]
thm9.holds(
    "nets of 3 to 5 layers that we build: larger of the largest error, in units of the "
    "largest weight, and of the distance of the norm from its formula; control: only one "
    "unit passes through the layers",
    max(deeper(layers) for layers in (3, 4, 5)),
    at_most=0,
    tol=1e-9,
    control=min(deeper(layers, units=1) for layers in (3, 4, 5)),
    about="proof",
    evidence="proved",
)
thm9.holds(
    "read-outs of two to four layers, random or with equal matrices of rank one: largest "
    "ratio of the measured steepness in $Uh$, times $\\|U\\|_F$, to $(\\|\\mathrm{vec}\\, "
    "\\Theta\\|^2 / L_y)^{L_y/2}$; control: a further matrix behind $U$",
    max(steepness(layers) for layers in (2, 3, 4)),
    at_most=1,
    tol=1e-9,
    control=min(steepness(layers, further=1) for layers in (2, 3, 4)),
    about="proof",
    evidence="proved",
)
thm9.holds(
    "for $n = N^{1/7}$ and $N = 10^{42}$: largest ratio of $166\\, n^3$, which bounds the "
    "norm of a fitting net, to the norm that an error of $\\frac14$ needs, with two to four"
    " layers; control: gaps of order $n^{-3}$ in Lemma 37, so $166\\, n^4$",
    max(layered(166 * 1e42 ** (3 / 7), k) / needed(1e42, k) for k in (2, 3, 4)),
    at_most=1,
    control=min(layered(166 * 1e42 ** (4 / 7), k) / needed(1e42, k) for k in (2, 3, 4)),
    about="statement",
    evidence="proved",
)
thm9.holds(
    f"share of draws in which fitting {few} samples takes a smaller norm than an error of "
    "$\\frac14$ needs at $N = 10^8$; control: a bound without $N$, that of one label",
    (found[few] < needed(1e8)).double().mean(),
    at_least=0.5,
    control=(found[few] < needed(2.0)).double().mean(),
    about="statement",
    evidence="sampled",
)
thm9.holds(
    "narrow nets, $d_h < n = N^{c_1}$, with $c = \\frac12$ and $N = 10^{16}$: least error "
    "at $c_1 = 0.25$; control: $\\mathfrak L \\|U\\|_{op} = e^{N^2}$, so no bound on the weights",
    narrow.iloc[-1, 0],
    at_least=0.25,
    control=memory.dimension_floor(1e16, 1e4, 1e32),
    about="statement",
    evidence="proved",
)
search.holds(
    f"any $d_h$: ratio of the median squared norm of nets that fit $n = {few}$ samples to the"
    " norm that an error of $\\frac14$ needs at $N = 10^7$, largest of $d_h = n$, $10 n$ and "
    "$1000 n$, the further units with weight 0; control: these units have a bias of 1",
    cost_of_width(),
    at_most=1,
    control=cost_of_width(bias=1.0),
    about="remark",
    evidence="proved",
)
glue(
    few=few,
    many=many,
    draws=draws,
    from_few=cheaper.loc[few].iloc[1],
    from_many=cheaper.loc[many].iloc[1],
)

# %% [markdown]
# Both tables agree with the proof: in the first, a read-out of three or four layers needs longer prompts, but only by a constant factor. In the second, the least error tends to 1 for the two exponents below $\frac12$, although slowly for 0.45, and it is 0 to three digits for 0.6. The folded cell builds the deeper nets, weight by weight, and confirms their norms. It also measures how steep read-outs are and compares this with the bound of step 2 above.
#
# **Lemma 42** is in the paper's list of auxiliary lemmas, cited from Bach (2017, Propositions 1 and 6). Theorem 9 does not use it, but another chapter refers to its form, so we say here what can be read of it. It says that two-layer ReLU nets of bounded weights approximate $L$-Lipschitz functions on a ball of radius $R$ in $\mathbb R^d$. Its display is missing, but four uses of it are legible, and all but the width in Lemma 25 have the same form. With $\lambda = \frac{LR}\varepsilon \log \frac{LR}\varepsilon$ they take a width of $m = O(\lambda^d)$ and outer weights $a$ with $\sqrt m\, \|a\|_2 = O(L \lambda^{(d+1)/2})$, up to powers of $R$ where $R$ is a constant.
#
# The two propositions that are cited give the same width. The first approximates within $\varepsilon$ at a norm $\gamma$ of order $LR\, (LR/\varepsilon)^{(d+1)/2}$. The second needs $m = (\gamma/\varepsilon)^{2d/(d+3)}$ units for this norm, which is $(LR/\varepsilon)^d$ up to logarithms. Since we do not prove the two propositions, we give no verdict on the lemma. The consequences of its form for Lemmas 24 and 25 are in {ref}`ch-recurrent-upper-bound`.
#
# ## What we found
#
# * Lemmas 36 to 38 hold, and their constants can be given: gaps of $\sqrt\pi/(3n^2)$ in Lemma 37, a factor of $2\sqrt{19}$ in Lemma 38, and $166\, n^3$ in Lemma 36.
# * Theorem 9 holds, since it follows from the Frobenius form and the dimension form of {prf:ref}`retrieval-prop8`, which are true. The operator form, which is false as restored, is not needed.
# * The number of samples may be any power of $N$ below both $N^{1/6}$ and $N^{1 - c}$. For {glue:text}`few` samples and a read-out of two layers, fitting is cheaper in the median draw from about {glue:text}`from_few:.1e` tokens on (and by the proved $166\, n^3$ only for far longer prompts). Both sides of the comparison are bounds, so fitting may be cheaper on shorter prompts, too.
# * The theorem does not explain the paper's experiments, because training by AdamW on fresh prompts does not find weights of least norm. (Moreover, their recurrent nets read at most 12 tokens on this task, and on prompts as short as these our bounds do not decide whether fitting is cheaper.)
#
# ## What would falsify this
#
# * *Lemma 37* would be false if gaps below $\delta$ were more frequent than one in six; gaps below three times this size are.
# * *Lemma 38* would be false if an interpolant missed a point, as it does when a unit is removed, or if it exceeded its bound, as it does when the bound is computed with the median gap in place of the smallest.
# * *The bound of Lemma 36* would be false if the median grew faster than $n^3$, as it does for cubed projections, which crowd near 0.
# * *The theorem* would be false if, at a length of $10^8$, fitting a few samples cost more than the task. In the control the task is replaced by a single label, and fitting does cost more than the norm that this label needs. The theorem would also be false if narrow nets had a small error, which is not excluded for nets with unbounded weights.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `mousavih/transformers-separation` trains recurrent nets on fresh prompts, by AdamW, and counts prompts until the test error is below a threshold. It does not minimise a norm over a fixed set of samples, and it counts all positions of a prompt.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-fit-two
#
# *By hand.* Two samples have $z = 0$ and $z = \frac12$, with labels $1$ and $-1$. Write down the curve, its squared norm, and the length of the prompts from which it is cheaper than an error of $\frac14$.
# ```
#
# ```{solution} ex-fit-two
# :class: dropdown
#
# The slope between the points is $-4$, so the curve is $\sigma(z + 1) - 5\, \sigma(z)$. Its outer weights have squares that add up to 26, and the inner ones to $1 + 1 + 1 = 3$. The squared norm is $2 \sqrt{78} = 17.7$, and the curve is cheaper for $N > 1 + 4 \cdot 78 = 313$.
# ```
#
# ```{exercise}
# :label: ex-fit-learnable
#
# *With the computer.* The labels of the task are unrelated to the token's own data, so the curve has to go up and down steeply. First run the chapter with more samples, `python -m bookkit.run retrieval/recurrent_lower_bound -p few 12 --out my_run`, and see how many more tokens the proof needs. Then suppose that the label were the token's own coordinate, $y = z$. Predict how the squared norm of the curve grows with $n$, and measure it.
# ```
#
# ```{solution-start} ex-fit-learnable
# :class: dropdown
# ```
#
# If $y = z$, all slopes are 1. Every outer weight after the second is therefore 0, and only the biases of the unused units make the norm grow. We measure both kinds of labels, the second one with the unused units left out.

# %%
fresh, answer = Rng(seed + 1), {}
for n in sizes:
    unrelated, own = [], []
    for _ in range(50):
        z = fresh.normal(n)
        unrelated.append(memory.squared_norm(memory.interpolant(z, fresh.normal(n))))
        z = z.sort().values
        first = f64([z[0].item(), 1 - z[0].item()])  # slopes s_1 = z_1, then 1
        inner = 2 + (1 - z[0]) ** 2 + z[0] ** 2
        own.append(2 * (first.norm() * inner.sqrt()).item())
    medians = [torch.tensor(v).median().item() for v in (unrelated, own)]
    answer[n] = dict(zip(("unrelated labels", "the token's own number"), medians, strict=True))
answer = pd.DataFrame(answer).T.rename_axis("samples")
table(answer, "Median squared norm of the curve", form=".4g")

# %% [markdown]
# (The medians of the first column are those of 50 draws, and so they differ from those of the table above by a third or so.) The curve through unrelated labels becomes steeper with every sample, whereas for $y = z$ two units are enough, and the norm grows only like $\log n$. So fitting is costly only if the token itself does not determine its label. If it does, a net of small norm fits the samples and solves the task.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-fit-all
#
# *To think about.* Does the argument survive if every position of each sample counts?
# ```
#
# ```{solution} ex-fit-all
# :class: dropdown
#
# No, because then $nN$ labels have to be fitted. The squared norm of the curve grows with $nN$ as that of the table above does with $n$, to a power above 2, and so far faster than the $N^{1/2}$ that the task needs. On long prompts such a curve costs more than the task is known to need, and the theorem makes no statement about the risk with all positions labelled.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The results are from {cite:t}`retrieval`, numbered as in its first version; in the next one Theorem 9 is Theorem 7.
