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
# Yes, Theorem 9 holds, with $c_1$ any number that is at most $\frac16$ and below $1 - c$, and with $c_2 = \frac12$. For a read-out of two layers its bounds show that fitting {glue:text}`few` samples is cheaper than an error of $\frac14$ from {glue:text}`from_few:.0e` tokens on, and fitting {glue:text}`many` samples from {glue:text}`from_many:.0e` tokens on.
# ```
# **Needs** {ref}`ch-state-norms`. **Read** 7 min. **Runs in** 10 s. **Source** quoted (the hypotheses and Lemmas 36 to 38), restored (the displays).
#
# **Claim.** Among all recurrent nets that fit $n$ samples of the general task take one with the smallest weights. If $n$ is less than a power of the length $N$ of the prompts, its error on fresh prompts is large. The reason is that the task itself needs a norm that grows with $N$, while $n$ samples can be fitted at a norm that does not depend on $N$. All steps hold, and need only those forms of {prf:ref}`retrieval-prop8` that are true.
#
# ## The statement
#
# Task and nets are those of {ref}`ch-state-norms`, with states of length at most 1. The read-out is a ReLU net of $L_y$ layers of width $d_h$. As in the paper, $U$ stands inside its first layer: $f_y = W_{L_y} \sigma(\cdots W_2\, \sigma(U h + W_y z + b_y) \cdots)$ for a state $h$ and the token's own data $z$. The vector $\mathrm{vec}\, \Theta$ holds their entries, the biases, and $U$; transitions are not counted. A training sample is a prompt of which *one* random position counts: the *point-wise* empirical risk.
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
# Which $c_1$, $c_2$, $c_3$ the paper has is not known. We say which values the argument gives.

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
from helpers.draws import Draws
from helpers.statistics import power
from papers.retrieval import memory

ledger, source = Ledger("retrieval/recurrent_lower_bound"), Draws(seed)
thm9, lem36 = ledger.result("retrieval.thm9"), ledger.result("retrieval.thm9.lem36")
lem37, lem38 = ledger.result("retrieval.thm9.lem37"), ledger.result("retrieval.thm9.lem38")
normal = source.normal

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

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: squared norm of two-layer nets through $n$ samples, median and the middle nine tenths, and the bound $166\\, n^3$; grey lines: what an error of $\\frac14$ needs at three lengths. Right: the length of the prompts from which fitting is cheaper, for read-outs of two, three and four layers.", "name": "fig-fit-or-learn"}, "image": {"alt": "Left, on logarithmic axes: a line rises from about 60 at 4 samples to about 400 thousand at 128, with a band around it; a dashed line with slope three lies a hundred times higher at the left and more at the right. Three level lines at a thousand, some thirty thousand and a million. Right: three rising lines, from some thousand to ten thousand tokens at 4 samples to between 10 to the 11 and 10 to the 12 at 128."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=3.1)
ends = torch.tensor([0.05, 0.95])
low, high = zip(*[v.quantile(ends).tolist() for v in found.values()], strict=True)
left.plot(sizes, S, label="fitted nets", **figures.look(0))
figures.interval(left, sizes, low, high)
left.plot(sizes, [166 * n**3 for n in sizes], label="$166\\, n^3$", **figures.line(1))
for k in (6, 9, 12):
    figures.level(left, needed(10.0**k), f"$N = 10^{{{k}}}$")
left.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="squared norm")
left.legend()
for i, layers in enumerate((2, 3, 4)):
    lengths = [length(v, layers) for v in S]
    right.plot(sizes, lengths, label=f"$L_y = {layers}$", **figures.look(i))
right.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="tokens $N$")
right.legend()
for ax in (left, right):
    figures.ticks(ax, sizes)
figures.show()

# %% [markdown]
# ## What the task needs
#
# What follows $U$ has a Lipschitz constant $\mathfrak L$ of at most $\|W_2\| \cdots \|W_{L_y}\|$. So $\mathfrak L \|U\|_F$ is at most a product of $L_y$ Frobenius norms, that of $U$ among them, whose squares add up to at most $\|\mathrm{vec}\, \Theta\|^2$. By the inequality of arithmetic and geometric means, and {prf:ref}`state-norm`, every net with error $E$ over pointers to other tokens, at most $\frac N{N-1}$ times the risk, has
#
# ```{math}
# :label: eq-task-needs
# \|\mathrm{vec}\, \Theta\|^2 \ge L_y \bigl(\mathfrak L \|U\|_F\bigr)^{2/L_y} \ge L_y \bigl((1 - \sqrt E)^2 (N - 1)\bigr)^{1/L_y} .
# ```
#
# ## What the samples need
#
# A net that has to give one label of each of $n$ prompts can ignore its states. It projects the token's own data on a unit vector $v$, and draws a piecewise linear function through the $n$ points.
#
# **Lemma 37.** Take $v$ at random. Two projections differ by a normal number of variance 2, so two of $n$ are closer than $\delta$ with probability at most $\frac{n^2}2 \cdot \frac{2\delta}{\sqrt{4\pi}}$, which is $\frac16$ for $\delta = \sqrt\pi/(3n^2)$. With Markov's inequality for $\|z\|$ this leaves $\frac13$ and more.
#
# **Lemma 38.** With the $z_i$ in increasing order, $s_1 = y_1$ and slopes $s_i$ from point $i - 1$ to $i$, the net is $s_1 \sigma(z - z_1 + 1) + \sum_{i \ge 2} (s_i - s_{i-1}) \sigma(z - z_{i-1})$. Since $\sum_{i \ge 2} s_i^2 \le 4 \|y\|^2/\epsilon^2$, its read-out has a squared norm of at most $19 \|y\|^2/\epsilon^2$; its first layer has at most $n + 2 + 3\|z\|^2$. Balanced, the two make a squared norm of at most $2 \sqrt{19 (n + 2 + 3 \|z\|^2)}\, \|y\|/\epsilon$.
#
# **Lemma 36.** $\|z\|^2 \le 6n$ and $\|y\|^2 \le 6n$ fail with probability at most $\frac16$ each. So with probability at least $\frac12$ the squared norm is at most $166\, n^3$.
#
# The table looks for the sharpest case of each step. Labels of alternating sign on an even grid, $10^{-3}$ apart, are a hard case of Lemma 38.

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
    "share of draws with a gap below $\\sqrt\\pi/(3n^2)$; control: three times the gap",
    close,
    at_most=1 / 6,
    tol=4.5 * error,
    control=three_times,
    stderr=error,
    about="statement",
    evidence="proved",
)
lem38.holds(
    "nets that miss a point by more than rounding; control: with a unit removed",
    wrong,
    at_most=0,
    control=wrong_without,
    about="statement",
    evidence="proved",
)
lem38.holds(
    "squared norm over its bound, an even grid and random samples, largest; control: with the median gap",
    max(ratios),
    at_most=1,
    control=max(typical),
    about="statement",
    evidence="proved",
)
crowded = [norms(n, degree=3).median().item() for n in sizes]
lem36.holds(
    "power of $n$ in the median squared norm; control: cubed projections",
    power(sizes, S.tolist()),
    at_most=3,
    control=power(sizes, crowded),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# Lemmas 37 and 38 are nearly sharp. Together they are not: the smallest gap is rarely next to the largest label, and the median grows more slowly than $n^3$.
#
# ## Theorem 9, put together
#
# ```{dropdown} Proof, with the exponents
# Let $c_3 < 1$ and $E$ between $c_3$ and 1. Suppose that a net has risk below $c_3$; for large $N$ its error at some token is at most $E$, on average over the other tokens that it may be asked for.
#
# *If $d_h \ge n$*, the net of Lemma 36 is in the class. For $L_y > 2$ the remaining layers pass one number on by two units, as $\sigma(s)$ and $\sigma(-s)$. If $S$ is the squared norm with two layers, the product of the layers' norms is $\frac S2\, 2^{(L_y - 1)/2}$, and rescaling makes them equal: a squared norm of $L_y (\frac S2)^{2/L_y}\, 2^{(L_y - 1)/L_y}$. So $n$ samples are fitted at a squared norm of order $n^{6/L_y}$, with probability at least $\frac12$. If this is less than {eq}`eq-task-needs` has, which is of order $N^{1/L_y}$, the weights of least norm are not those of a net with error $E$. This is so for $n \le O(N^{c_1})$ with $c_1 \le \frac16$, at every depth, if the constant in $O$ is small enough.
#
# *If $d_h < n$*, no net of the class has a small error. By the inequality of the means the product of the norms is at most $(\|\mathrm{vec}\, \Theta\|^2 / L_y)^{L_y/2} \le \frac12 e^{N^c}$, which is the paper's step. The dimension form of {ref}`ch-state-norms` has $\sqrt E \ge \exp( -\frac{2n}{N - 1} \log(1 + e^{N^c}/\tau)) - \tau$. The exponent is of order $n N^{c - 1}$ and vanishes for $n \le O(N^{c_1})$ with $c_1 < 1 - c$; and $\tau$ may be as small as one likes. $\square$
# ```
#
# The bound on $d_h$ is not needed, as {prf:ref}`state-norm` has no $\log d_h$. With the $O(n^3)$ that the paper names for interpolation, whatever the depth, its argument gives $c_1 = \frac1{3 L_y}$; this is the same for two layers and smaller for more.

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


def left_over(n, layers, factors):
    """Error that the norm of fitting leaves, by the bound of the chapter before, at that length."""
    reach = (layered(S[n], layers) / factors) ** (factors / 2)
    return memory.norm_floor(length(S[n], layers), reach)


thm9.holds(
    "nets of 3 to 5 layers, built: largest miss over the largest weight, or distance of the norm from its formula; control: one unit passes",
    max(deeper(layers) for layers in (3, 4, 5)),
    at_most=0,
    tol=1e-9,
    control=min(deeper(layers, units=1) for layers in (3, 4, 5)),
    about="proof",
    evidence="proved",
)
thm9.holds(
    "at the lengths of the table the norm of fitting leaves an error of $\\frac14$, largest distance; control: with one factor more",
    max(abs(left_over(n, k, k) - 0.25) for n in sizes for k in (2, 3, 4)),
    at_most=0,
    tol=1e-9,
    control=min(abs(left_over(n, k, k + 1) - 0.25) for n in sizes for k in (2, 3, 4)),
    about="proof",
    evidence="proved",
)
thm9.holds(
    f"share of draws in which fitting {few} samples costs less than error $\\frac14$ needs at $N = 10^7$; control: {many} samples",
    (found[few] < needed(1e7)).double().mean(),
    at_least=0.5,
    control=(found[many] < needed(1e7)).double().mean(),
    about="statement",
    evidence="sampled",
)
thm9.holds(
    "$d_h < n = N^{c_1}$, $c = \\frac12$, $N = 10^{16}$: least error at $c_1 = 0.25$; control: at $0.6 > 1 - c$",
    narrow.iloc[-1, 0],
    at_least=0.25,
    control=narrow.iloc[-1, 2],
    about="statement",
    evidence="proved",
)
glue(few=few, many=many, from_few=cheaper.loc[few].iloc[1], from_many=cheaper.loc[many].iloc[1])

# %% [markdown]
# **Lemma 42** stands in the paper's list of auxiliary lemmas, cited from Bach (2017): two-layer ReLU nets of bounded weights approximate an $L$-Lipschitz function on a ball of radius $R$ in $d$ dimensions. Its display is missing, but the paper uses it four times, and Assumption 2 and Lemmas 22 and 24 agree on its form: a width of $O\bigl((\frac{LR}\varepsilon \log \frac{LR}\varepsilon)^d\bigr)$. The width that Lemma 25 prints has the exponent $\frac32$ where this form, with $d = 2$, gives 2. Theorem 9 does not use Lemma 42, and we do not prove it; it is not judged.
#
# ## What we found
#
# * Lemmas 36 to 38 hold, with constants: gaps of $\sqrt\pi/(3n^2)$, a factor of $2\sqrt{19}$, and $166\, n^3$.
# * Theorem 9 holds, by the Frobenius form and the dimension form, which are true. The operator form, which is not, is not needed.
# * It is a theorem about exponents. For a handful of samples its bounds speak from some ten or hundred thousand tokens on, while the paper's experiments have at most a hundred; for sixty samples they speak from billions on. Both sides are bounds, so that fitting may be cheaper earlier; but the weights of least norm are not what training by AdamW on fresh prompts finds.
#
# ## What would falsify this
#
# Gaps that are too small too often, as three times the gap is; an interpolant that misses a point, as one does with a unit removed, or is larger than its bound, as with the typical gap in place of the smallest; a median that grows faster than $n^3$, as with cubed projections; a length of $10^7$ at which fitting a few samples costs more than the task, as fitting many does; narrow nets with a small error, which $c_1 > 1 - c$ does not exclude.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `mousavih/transformers-separation` trains recurrent nets on fresh prompts, by AdamW, and counts prompts until the test error is below a threshold. It minimises no norm over a fixed set of samples, and counts all positions of a prompt.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-fit-all
#
# Let every position of each sample count. Does the argument survive?
# ```
#
# ```{solution} ex-fit-all
# :class: dropdown
#
# No. Then $nN$ labels have to be given. The squared norm of the interpolant grows with $nN$ as that of the table above does with $n$, far faster than $N^{1/3}$: this net is never cheaper than the task. The theorem says nothing about that risk.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The results are from {cite:t}`retrieval`, numbered as in its first version; in the next one Theorem 9 is Theorem 7.
