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
# (ch-average-sensitivity)=
# # How sensitive is a function on the cube?
#
# ```{verdict}
# Yes, the values of the average sensitivity that the second paper gives are right. Of the $n$ ways to flip one of $n$ bits, all change PARITY, which says whether the number of ones is even. On average over all inputs, about $\sqrt{2n/\pi}$ flips change MAJORITY, and one flip changes FIRST, the first bit. Every flip changes MEAN, the mean of the bits, by a little, and the changes together count $1/n$. Counting flips and summing Fourier weights times their degrees agree to rounding on {glue:text}`random_functions` random functions of each length up to {glue:text}`n_random` bits, and exactly on three functions of {glue:text}`n_packed` bits.
# ```
#
# **Needs** {ref}`ch-fourier-walsh`. **Read** 9 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** The average sensitivity of a function with values $\pm1$ is the number of bit flips that change it, on average over all inputs. It equals the sum of the function's Fourier weights, each multiplied by its degree. Among these functions parity has the largest value, $n$. Majority has about $\sqrt{2n/\pi}$, a single bit has 1, and the mean of all bits has $1/n$. What the paper says of single inputs is the subject of {ref}`ch-sensitive-inputs`.

# %% tags=["parameters"]
n_max = 14  # longest cube, in bits [4..22]
random_functions = 20  # random real functions for each n up to 10 [1..1000]
n_packed = 20  # length at which flips are counted on packed tables, in bits [3..24]
seed = 0  # of the random functions [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.cube import average_sensitivity, degree_profile, spectrum
from helpers.kernels.parity import popcount
from helpers.kernels.sensitivity import local_sensitivity as count_flips
from helpers.kernels.sensitivity import pack
from helpers.kernels.walsh import walsh_hadamard
from helpers.rng import Rng, f64

ledger, rng = Ledger("cube/average_sensitivity"), Rng(seed)
def3, eq17 = ledger.result("sensitive.def3"), ledger.result("sensitive.eq17")
degrees = ledger.result("sensitive.degrees")

# %% [markdown]
# ## Why one should care
#
# Why do transformers find it so hard to learn the parity of a string? Hahn and Rofin answer that it is because parity is sensitive, and they build a theory on this answer: a transformer that computes a sensitive function must magnify small differences strongly, so a small change of its weights destroys the function. For this theory one needs a number that says how sensitive a function is. A natural one is the number of bit flips that change the value, but it depends on the input, and so one takes the mean over all inputs. There is a second reason for this choice, which is less obvious. The same number can be read off the Fourier expansion of the function, where it measures how much of the function consists of parities of many bits.
#
# ## Three bits by hand
#
# Write $n$ bits as signs, $x_i = -1$ for a bit of 1 and $x_i = 1$ for a bit of 0. Then an input is a corner of a cube, and flipping a bit means walking along an edge. A function is *sensitive* at a corner if its value changes along many of the edges there. {numref}`fig-three-bits` shows the four functions that the paper compares. PARITY is the product of the signs, so it changes along every edge. MAJORITY is the vote of the signs, and half of the twelve edges change it. FIRST is the first sign, which only the edges in one direction change. MEAN is the mean of the signs; every edge changes it, but only by a little.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Four functions of three bits. A corner is an input: black where the function is 1, white where it is $-1$, grey between. An edge is the flip of a bit: the more the flip counts, the thicker the edge, and it is dotted where the flip changes nothing. Below each name: the sum over the edges at a corner, on average over corners.", "name": "fig-three-bits"}, "image": {"alt": "Four cubes. PARITY: corners alternate between black and white, and all twelve edges are thick. MAJORITY: six edges are thick, those between corners with one and with two minus signs. FIRST: the four horizontal edges are thick. MEAN: corners fade from black over grey to white, and all edges are thin."}} tags=["hide-input"]
fig, axes = figures.new(1, 4, height=1.9)
corners = cube.points(3) @ f64([[1.0, -0.15], [0.0, 1.0], [0.55, 0.35]])
edges = [(x, x + 2**k) for k in range(3) for x in range(8) if not x >> k & 1]
for ax, (name, function) in zip(axes, cube.NAMED.items(), strict=True):
    f = function(3)
    for x, y in edges:
        counts = (f[x] - f[y]).square().item() / 4
        look = {"color": figures.COLOURS[1], "linestyle": "-"} if counts else {}
        look = {"color": figures.GREY, "linestyle": ":", "linewidth": 0.8 + 2.8 * counts} | look
        ax.plot(*corners[[x, y]].T, marker="", zorder=1, **look)
    ax.scatter(*corners.T, c=f, cmap="gray_r", vmin=-1, vmax=1, edgecolors="black", s=45)
    ax.set_title(f"{name}\n{average_sensitivity(f).item():.3g}", loc="center", fontsize=11)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
figures.show()

# %% [markdown]
# The numbers below the names are the sums of these changes at a corner, on average over all corners. The following definition makes this precise.
#
# ```{prf:definition} Hahn and Rofin (2024), Definition 3
# :label: sensitive-def3
# Let $f : \{-1,1\}^n \to \mathbb R$, and let $x^{\oplus i}$ be $x$ with its $i$-th sign flipped. The *sensitivity* of $f$ at $x$ is
#
# $$s(x, f) = \frac14 \sum_{i=1}^n \bigl|f(x) - f(x^{\oplus i})\bigr|^2 ,$$
#
# and the *average sensitivity* $\mathrm{as}_n(f)$ is its mean over all $2^n$ inputs.
# ```
#
# The factor $\frac14$ is chosen such that a flip which changes $f$ counts 1 if $f$ takes the values $\pm1$. Elsewhere $\mathrm{as}_n$ is often called the *total influence*. In code a function is the table of its $2^n$ values, and an input is its place in the table, a number whose binary digits are the bits. So flipping bit $k$ means flipping one digit, which is `x ^ 2**k`.


# %%
def sensitivity(f):
    """s(x, f) at every input x, from the table of f."""
    size = f.shape[-1]
    x = torch.arange(size)
    bits = range(size.bit_length() - 1)
    return sum((f - f[..., x ^ 2**k]).square() for k in bits) / 4


# %% [markdown]
# ## Four functions
#
# **Closed forms.** Each of the four functions has an average sensitivity that can be written down:
#
# | function | value at $x$ | $\mathrm{as}_n$ | why |
# |:--|:--|:--|:--|
# | PARITY | $\prod_i x_i$ | $n$ | every flip changes it |
# | MAJORITY | $1$ if most $x_i$ are $1$, else $-1$ | $2\binom nk (n-k)/2^n$ | see below |
# | FIRST | $x_1$ | $1$ | one flip changes it |
# | MEAN | $\frac1n \sum_i x_i$ | $\frac1n$ | $n$ flips count $\frac14 (\frac2n)^2$ |
#
# Here $k = \lfloor n/2 \rfloor$, and "most" is more than half, so that a tie is $-1$. MAJORITY changes along those edges of the cube that cross its threshold. How many are they? There are $\binom nk$ inputs with $k$ signs at $1$, and at each of them a flip of any of the other $n - k$ signs changes the vote. Each such edge counts at both of its ends, hence the factor 2. By Stirling's formula $\binom nk$ is about $2^n \sqrt{2/(\pi n)}$, so the average sensitivity is about $\sqrt{2n/\pi}$.


# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-output"]
closed_forms = {
    "PARITY": lambda n: n,
    "MAJORITY": lambda n: 2 * math.comb(n, n // 2) * (n - n // 2) / 2**n,
    "FIRST": lambda n: 1,
    "MEAN": lambda n: 1 / n,
}
lengths = pd.RangeIndex(1, n_max + 1, name="n")
s = {name: [sensitivity(f(n)) for n in lengths] for name, f in cube.NAMED.items()}
measured = pd.DataFrame({k: [v.mean().item() for v in s[k]] for k in s}, lengths)
closed = pd.DataFrame({k: list(map(closed_forms[k], lengths)) for k in s}, lengths)
table(measured, "Average sensitivity, over all inputs", form=".6f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
rounding = 1e-13 * n_max**2  # n**2 rounding steps on values of order 1
def3.holds(
    "largest error of the closed forms of $\\mathrm{as}_n$ over all $n$; control: the "
    "definition without its $\\frac14$",
    (measured - closed).abs().max(axis=None),
    at_most=0,
    tol=rounding,
    control=(4 * measured - closed).abs().max(axis=None),
    about="statement",
    evidence="proved",
)
in_code = {k: average_sensitivity((1 - f(n_max)) / 2).item() for k, f in cube.NAMED.items()}
(ratio,) = (pd.Series(in_code) / measured.loc[n_max]).round(12).unique()  # values 0 and 1
glue(ratio=ratio)
glue(
    n_max=n_max,
    majority_last=measured["MAJORITY"][n_max],
    majority_limit=math.sqrt(2 * n_max / math.pi),
)

# %% [markdown]
# We computed the sensitivity at every input of up to {glue:text}`n_max` bits, from the definition alone, and the counts agree with the closed forms to rounding at every length. The axes of {numref}`fig-average-sensitivity` are logarithmic, so that a power of $n$ is a straight line. The marks of PARITY, FIRST and MEAN lie on lines of slopes $1$, $0$ and $-1$. Those of MAJORITY scatter around a line of slope $\frac12$, less and less as $n$ grows, because this line is the limit for long strings: at $n =$ {glue:text}`n_max` the average sensitivity of MAJORITY is {glue:text}`majority_last:.3f`, and the limit formula gives {glue:text}`majority_limit:.3f`.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Average sensitivity of the four functions, exact on the whole cube (marks), and their closed forms (lines); for MAJORITY the line is the limit $\\sqrt{2n/\\pi}$.", "name": "fig-average-sensitivity"}, "image": {"alt": "Log-log plot against n. PARITY rises with slope one, MAJORITY with slope one half, FIRST is flat at one, MEAN falls with slope minus one. Marks lie on the lines, except that MAJORITY steps up at odd n a little above its limit."}} tags=["hide-input"]
fig, ax = figures.new(height=2.5)
lines = closed.assign(MAJORITY=[math.sqrt(2 * n / math.pi) for n in lengths])
for i, name in enumerate(measured):
    ax.plot(lengths, measured[name], **figures.marker_style(i))
    ax.plot(lengths, lines[name], **figures.line_style(i))
ax.set(xscale="log", yscale="log", xlabel="length $n$ (bits)", ylabel="average sensitivity (flips)")
figures.ticks(ax, [n for n in (1, 2, 4, 8, 16) if n <= n_max])
figures.end_labels(ax, {name: (n_max, measured[name][n_max]) for name in measured})
figures.show()

# %% [markdown]
# ## Sensitivity is weight times degree
#
# The second way to compute the average sensitivity starts from the Fourier expansion. Every function on the cube is a sum of characters, $f = \sum_S \hat f(S)\, \chi_S$ with $\chi_S(x) = \prod_{i \in S} x_i$, one for each set $S$ of bits ({ref}`ch-fourier-walsh`). The *weight* of $f$ at degree $i$ is $d_i = \sum_{|S|=i} \hat f(S)^2$.
#
# ```{prf:proposition} Hahn and Rofin (2024), Eq. (17)
# :label: sensitive-eq17
# For every $f : \{-1,1\}^n \to \mathbb R$,
#
# $$\mathrm{as}_n(f) = \sum_{S} |S|\, \hat f(S)^2 = \sum_{i=0}^n i\, d_i .$$
# ```
#
# **Why it holds.** Flipping bit $i$ changes the sign of exactly those characters $\chi_S$ with $i \in S$. So $\frac12\bigl(f(x) - f(x^{\oplus i})\bigr)$ is the part of $f$ on these sets, and by Parseval's identity its mean square is $\sum_{S \ni i} \hat f(S)^2$. If we sum this over $i$, each $S$ is counted $|S|$ times.
#
# We compute the two sides by separate programs, one from the flips in the table and the other from the weights in the spectrum. We compare them on {glue:text}`random_functions` random functions of each length. A difference beyond rounding would refute the identity.

# %%
gap = control = 0.0
n_random = min(n_max, 10)  # most bits of the random functions
for n in range(1, n_random + 1):
    f = rng.normal(random_functions, 2**n)
    flips, weights = sensitivity(f).mean(-1), spectrum(f).square()
    sizes = popcount(cube.indices(n)).double()  # |S| for every S
    gap = max(gap, (weights @ sizes / flips - 1).abs().max().item())
    control = max(control, (weights @ sizes**2 / flips - 1).abs().max().item())

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
eq17.holds(
    "largest relative difference between the average sensitivity by flips and that by "
    "Fourier weights; control: the squares of the degrees",
    gap,
    at_most=0,
    tol=1e-12,
    control=control,
    about="statement",
    evidence="proved",
)
glue(random_functions=random_functions, n_random=n_random, off=1 + control)

# %% [markdown]
# Both sides agree to rounding. If each set $S$ were counted $|S|^2$ times and not $|S|$ times, the two sides would differ by a factor of up to {glue:text}`off:.1f`. The weights, in the next table, also show which *degrees* make a function sensitive. PARITY has all of its weight at the highest degree, whereas MAJORITY has most of it at degree 1, and small weights at all other odd degrees. If we multiply each weight of MAJORITY by its degree and add the products, we get {glue:text}`majority_weighted:.3f`, which is its average sensitivity at $n =$ {glue:text}`n_odd`.

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
n_odd = n_max - 1 + n_max % 2  # the largest odd length
profiles = pd.DataFrame({k: degree_profile(f(n_odd)).tolist() for k, f in cube.NAMED.items()})
profiles = profiles.round(12).rename_axis("degree")
table(profiles.iloc[1::2], f"Weight by degree, {n_odd} bits; no weight at even degrees", form=".4f")
glue(majority_weighted=(profiles["MAJORITY"] * profiles.index).sum(), n_odd=n_odd)

# %% [markdown]
# **Weight at high degrees makes a transformer brittle.** This is a conclusion that the paper draws from Eq. (17), in two steps.
#
# 1. *From weight to sensitivity.* If the weight at degrees of at least $k$ is $w$, then $\mathrm{as}_n(f) \ge k w$, because each of these characters is counted at least $k$ times. For $k = cn$ the average sensitivity is therefore at least $cwn$.
# 2. *From sensitivity to brittleness.* Take a transformer of a fixed shape that computes such functions, whose tokens are vectors of at least three numbers, and whose encodings and weights stay bounded as $n$ grows. (The queries and keys of its first layer need not.) Let its weights make a random step of any fixed length. By {prf:ref}`brittle-repaired`, the sharpened Theorem 6, the mean square of the change of its output is then at least $cw$ in the limit of long strings.
#
# We test the first step on all functions of three bits with values $\pm 1$ and every $k$: a ratio of $\mathrm{as}_n(f)$ to $k w$ below 1 would refute it.

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
f = 1.0 - 2 * torch.cartesian_prod(*[torch.arange(2)] * 8).double()  # all 256 functions
profile, k = degree_profile(f), torch.arange(1, 4)
high = profile.flip(-1).cumsum(-1).flip(-1)[:, 1:]  # weight at degrees of at least k
counted = sensitivity(f).mean(-1, keepdim=True) / k
degrees.holds(
    "all functions of 3 bits: least ratio of $\\mathrm{as}_n$ to $k$ times the weight at "
    "degrees of at least $k$; control: the weight at all degrees but 0",
    (counted / high)[high > 1e-12].min(),
    at_least=1,
    tol=1e-12,
    control=(counted / high[:, :1])[high[:, 0] > 1e-12].min(),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# ## A million inputs, counted as integers
#
# On tables of $\pm1$ both sides can be computed without any rounding. For the flips we pack a table so that each entry takes one bit. A single exclusive-or operation then compares the values at 64 inputs with those at their neighbours along one coordinate, and gives a 1 where they differ. The sum of these ones over all coordinates is $s(x, f)$, for all $x$. For the weights we use that $2^n \hat f(S)$ is an integer, and so is $4^n \sum_S |S|\, \hat f(S)^2$. At $n =$ {glue:text}`n_packed` we count both for parity, for a majority of the first bits (an odd number of them, here 19), and for random signs. The identity is refuted if the last column of the table is not 0.

# %% mystnb={"code_prompt_hide": "Counting in integers", "code_prompt_show": "Counting in integers"} tags=["hide-input"]
odd = n_packed - 1 + n_packed % 2  # bits that the majority counts
coins = torch.randint(0, 2, (2**n_packed,), generator=rng.generator, dtype=torch.int8)
tables = {
    "PARITY": cube.parity(n_packed).to(torch.int8),
    "MAJORITY": cube.majority(odd).to(torch.int8).repeat(2 ** (n_packed - odd)),
    "random signs": 1 - 2 * coins,
}
counted, gap, by_square = {}, {}, {}
sizes = popcount(cube.indices(n_packed))
for name, f in tables.items():
    counted[name] = count_flips(pack(f))
    flips = 2**n_packed * sum(k * v for k, v in enumerate(counted[name].histogram.tolist()))
    squares = walsh_hadamard(f.int()).long().square()  # 4**n times the square of f_hat(S)
    gap[name], by_square[name] = (flips - int((by * squares).sum()) for by in (sizes, sizes**2))

summary = pd.DataFrame(
    {
        "mean s(x)": [c.mean for c in counted.values()],
        "largest s(x)": [c.maximum for c in counted.values()],
        "inputs with s(x) = 0": [int(c.histogram[0]) for c in counted.values()],
        "flips minus weights": gap.values(),
    },
    pd.Index(counted, name="function"),
)
table(summary, f"All inputs of {n_packed} bits, exactly", form=".6f")
eq17.holds(
    f"$n = {n_packed}$, three functions: difference between flips and Fourier weights as "
    "integers; control: the squares of the degrees",
    sum(map(abs, gap.values())),
    equals=0,
    control=sum(map(abs, by_square.values())),
    about="statement",
    evidence="exhaustive",
)
random_signs = counted["random signs"]
glue(n_packed=n_packed, random_mean=random_signs.mean, random_max=random_signs.maximum)
glue(no_flip=100 * int(counted["MAJORITY"].histogram[0]) / 2**n_packed)

# %% [markdown]
# Flips and weights agree exactly. Random signs change at about half of all flips, {glue:text}`random_mean:.3f` on average, and at {glue:text}`random_max` flips at the most sensitive input. The majority of 19 bits, on the other hand, is not changed by any flip at inputs that are far from its threshold, and these are {glue:text}`no_flip:.0f` % of the inputs.

# %% [markdown]
# ## What we found
#
# * The closed forms that the paper names are right at every length that was tried. The identity between flips and weights is proved, and on three functions of {glue:text}`n_packed` bits it is confirmed in integers, without rounding. The bound $\mathrm{as}_n(f) \ge k w$ was met by all functions of three bits, and parities attain it.
# * An average hides where the sensitivity comes from. The majority of the first bits of such strings, an odd number of them, is not changed by any flip at {glue:text}`no_flip:.0f` % of its inputs, whereas random signs are changed by up to {glue:text}`random_max` flips.
#
# ## What would falsify this
#
# Each check has a *control*, which is the same number computed in a case where the outcome must be the opposite. One function whose flips and weights disagree would refute Eq. (17), and its control weighs each set by $|S|^2$. A function with more weight at high degrees than its flips allow would refute the conclusion on degrees; there the control takes the weight at all degrees but 0. The closed forms would fail with any other normalisation, and their control drops the factor $\frac14$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` trains on targets in $\{0, 1\}$ instead of $\{-1, 1\}$. This multiplies every sensitivity and every mean squared error of the raw outputs by $\frac14$; if we compute it for $(1 + f)/2$, the ratio is {glue:text}`ratio:.2f` for each of the four functions. The authors take care of it: their function for the average sensitivity first maps 0 and 1 back to $\pm1$, and their plots multiply the sharpness by 4 (one axis of one plot is forgotten, see {ref}`ch-low-sensitivity-generalization`). Only a loss, or a sharpness that is read from the logs, has to be multiplied by hand. (At a tie, with even $n$, their MAJORITY has the target 0, which is the paper's $-1$ if a bit 1 is $x_i = 1$.)
#
# ## Exercises
#
# ```{exercise}
# :label: ex-sensitivity-of-and
# *By hand.* AND is $-1$ if all signs are $-1$, and $1$ otherwise. What is its average sensitivity, and at which $n$ is it largest?
# ```
#
# ```{solution} ex-sensitivity-of-and
# :class: dropdown
# Only one input has the value $-1$. Each of its $n$ edges changes $f$ and is seen from both ends, so $\mathrm{as}_n = 2n/2^n$. The largest value is 1, at $n = 1$ and $n = 2$.
# ```
#
# ```{exercise}
# :label: ex-majority-of-majorities
# *With the computer.* Elections are often held in two rounds: each of three districts with three voters sends one delegate, and the three delegates vote. Is this majority of majorities more or less sensitive than the plain majority of nine voters? Guess from the average sensitivity of three votes, then compute both, together with the weights by degree. How does the comparison continue with 27 and 81 voters in three and four rounds? For the plain majority on longer strings run `python -m bookkit.run cube/average_sensitivity -p n_max 18 --out my_run`.
# ```
#
# ```{solution-start} ex-majority-of-majorities
# :class: dropdown
# ```
#
# A voter changes the result if the district is tied without this voter and the other two districts disagree. Both events are independent, so the average sensitivities multiply: each district has $\frac32$, and two rounds have $\frac94$.

# %%
voters = cube.points(9)
elections = {
    "plain majority": voters.sum(-1).sign(),
    "majority of majorities": voters.reshape(-1, 3, 3).sum(-1).sign().sum(-1).sign(),
}
rows = {
    name: {"average sensitivity": average_sensitivity(f).item()}
    | {f"weight at degree {k}": degree_profile(f)[k].item() for k in (1, 3, 5, 7, 9)}
    for name, f in elections.items()
}
table(pd.DataFrame(rows).T.rename_axis("election"), "Nine voters", form=".3f")

# %% [markdown]
# Two rounds are a little less sensitive than one, and the gap grows: with $3^k$ voters in $k$ rounds the average sensitivity is $(\frac32)^k = n^{0.37}$, whereas that of the plain majority is about $0.8\, n^{0.5}$. But the sensitivity is distributed over the inputs in another way. The plain majority is sensitive only at the nearly balanced inputs, where $\frac{n+1}2$ voters can change the result. In $k$ rounds, on the other hand, at most $2^k$ voters can change it at any input.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-least-sensitive
# *To think about.* Among all functions with values $\pm1$ and mean 0, which have the smallest average sensitivity? Use the identity.
# ```
#
# ```{solution} ex-least-sensitive
# :class: dropdown
# A mean of 0 puts all weight, which is $\mathbb E f^2 = 1$, at degrees of at least 1. So $\mathrm{as}_n \ge 1$, with equality if and only if all weight is at degree 1, that is, for a single bit or its negation.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The definition is from {cite:t}`sensitive`; on total influence see {cite:t}`odonnell2014`.
