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
# Yes, the paper's values are right: PARITY of $n$ bits has the average sensitivity $n$, MAJORITY about $\sqrt{2n/\pi}$, FIRST 1 and MEAN $1/n$. We compute it in two ways, by counting flips and from the Fourier weights times their degrees. Both agree to rounding on {glue:text}`random_functions` random functions of each length up to {glue:text}`n_random` bits, and exactly on three functions of {glue:text}`n_packed` bits.
# ```
#
# **Needs** {ref}`ch-fourier-walsh`. **Read** 7 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** The average sensitivity of a function counts the bit flips that change it. It equals the Fourier weight of the function times its degree. Parity has the most, $n$; majority has about $\sqrt{2n/\pi}$; a single bit has 1; the mean of all bits has $1/n$. What the paper says of single inputs is the subject of {ref}`ch-sensitive-inputs`.

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
# ## The idea
#
# Why do transformers find it so hard to learn the parity of a string? Hahn and Rofin answer: because it is sensitive. This page says what that is, and counts it.
#
# Write $n$ bits as signs, $x_i = -1$ for a bit of 1 and $x_i = 1$ for a bit of 0. Then an input is a corner of a cube, and to flip a bit is to walk along an edge. A function is *sensitive* where many of the edges at a corner change its value. {numref}`fig-three-bits` shows the four functions that the paper compares. PARITY is the product of the signs, and every edge changes it. MAJORITY is their vote, FIRST is the first sign, and MEAN is their mean.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Four functions of three bits. A corner is an input: black where the function is 1, white where it is $-1$, grey between. An edge is the flip of a bit, as thick as it counts, and dotted where it changes nothing. Below each name: what the edges at a corner add up to, on average.", "name": "fig-three-bits"}, "image": {"alt": "Four cubes. PARITY: corners alternate between black and white, and all twelve edges are thick. MAJORITY: six edges are thick, those between corners with one and with two minus signs. FIRST: the four horizontal edges are thick. MEAN: corners fade from black over grey to white, and all edges are thin."}} tags=["hide-input"]
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
# ```{prf:definition} Hahn and Rofin (2024), Definition 3
# :label: sensitive-def3
# Let $f : \{-1,1\}^n \to \mathbb R$, and let $x^{\oplus i}$ be $x$ with its $i$-th sign flipped. The *sensitivity* of $f$ at $x$ is
#
# $$s(x, f) = \frac14 \sum_{i=1}^n \bigl|f(x) - f(x^{\oplus i})\bigr|^2 ,$$
#
# and the *average sensitivity* $\mathrm{as}_n(f)$ is its mean over all $2^n$ inputs.
# ```
#
# The factor $\frac14$ makes one flip count 1 when $f$ takes the values $\pm1$. Other books call $\mathrm{as}_n$ the *total influence*. In code a function is the table of its $2^n$ values, and an input is its place in the table, a number whose binary digits are the bits. To flip bit $k$ is to flip one digit, which is `x ^ 2**k`.


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
# Each of the four has an average sensitivity in closed form:
#
# | function | value at $x$ | $\mathrm{as}_n$ | why |
# |:--|:--|:--|:--|
# | PARITY | $\prod_i x_i$ | $n$ | every flip changes it |
# | MAJORITY | $1$ if most $x_i$ are $1$, else $-1$ | $2\binom nk (n-k)/2^n$ | see below |
# | FIRST | $x_1$ | $1$ | one flip changes it |
# | MEAN | $\frac1n \sum_i x_i$ | $\frac1n$ | $n$ flips count $\frac14 (\frac2n)^2$ |
#
# Here $k = \lfloor n/2 \rfloor$; "most" is more than half, so a tie is $-1$. MAJORITY changes along those edges of the cube that cross its threshold. There are $\binom nk$ inputs with $k$ signs at $1$, and each of the other $n - k$ signs tips the vote. Each such edge is seen from both of its ends, hence the 2. By Stirling's formula $\binom nk$ is about $2^n \sqrt{2/(\pi n)}$, which makes $\sqrt{2n/\pi}$ of the whole.


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
    "largest error of the closed forms of $\\mathrm{as}_n$, all $n$",
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
# The counts agree with the closed forms to rounding, at every length. On logarithmic axes the four are straight lines, of slopes $1$, $\frac12$, $0$ and $-1$ ({numref}`fig-average-sensitivity`). At $n =$ {glue:text}`n_max` MAJORITY has {glue:text}`majority_last:.3f`, and its limit says {glue:text}`majority_limit:.3f`.

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
# Every function on the cube is a sum of characters, $f = \sum_S \hat f(S)\, \chi_S$ with $\chi_S(x) = \prod_{i \in S} x_i$, one for each set $S$ of bits ({ref}`ch-fourier-walsh`). Its *weight* at degree $i$ is $d_i = \sum_{|S|=i} \hat f(S)^2$.
#
# ```{prf:proposition} Hahn and Rofin (2024), Eq. (17)
# :label: sensitive-eq17
# For every $f : \{-1,1\}^n \to \mathbb R$,
#
# $$\mathrm{as}_n(f) = \sum_{S} |S|\, \hat f(S)^2 = \sum_{i=0}^n i\, d_i .$$
# ```
#
# **Why it holds.** Flipping bit $i$ changes the sign of exactly those characters $\chi_S$ with $i \in S$. So $\frac12\bigl(f(x) - f(x^{\oplus i})\bigr)$ is the part of $f$ on those $S$. By Parseval its mean square is $\sum_{S \ni i} \hat f(S)^2$. Summed over $i$, each $S$ is counted $|S|$ times.
#
# The two sides share no code: one reads flips from the table, the other weights from the spectrum. We compare them on {glue:text}`random_functions` random functions of each length.

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
    "flips against weights, largest relative difference",
    gap,
    at_most=0,
    tol=1e-12,
    control=control,
    about="statement",
    evidence="proved",
)
glue(random_functions=random_functions, n_random=n_random, off=1 + control)

# %% [markdown]
# They agree to rounding. If each $S$ counted $|S|^2$ times in place of $|S|$, they would differ by a factor of up to {glue:text}`off:.1f`. The weights, in the table, say *where* a function is sensitive. Parity has all of its weight at the top. Majority keeps most of it at degree 1, with a long thin tail over the odd degrees. Multiply each weight by its degree and add up: MAJORITY gives {glue:text}`majority_weighted:.3f`, its average sensitivity at $n =$ {glue:text}`n_odd`.

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
n_odd = n_max - 1 + n_max % 2  # the largest odd length
profiles = pd.DataFrame({k: degree_profile(f(n_odd)).tolist() for k, f in cube.NAMED.items()})
profiles = profiles.round(12).rename_axis("degree")
table(profiles.iloc[1::2], f"Weight by degree, {n_odd} bits; no weight at even degrees", form=".4f")
glue(majority_weighted=(profiles["MAJORITY"] * profiles.index).sum(), n_odd=n_odd)

# %% [markdown]
# **Weight at high degrees makes a transformer brittle.** The paper draws this conclusion from Eq. (17). If the weight at degrees of at least $k$ is $w$, then $\mathrm{as}_n(f) \ge k w$, because each of these characters is counted at least $k$ times. For $k = cn$ the average sensitivity is therefore at least $cwn$. By {prf:ref}`brittle-repaired`, the sharpened Theorem 6, a transformer that computes such functions moves by at least $cw$ in mean square, on long strings, after a random step of any fixed length. We compare the two sides for all functions of three bits with values $\pm 1$ and every $k$; a ratio below 1 would refute the first step.

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
f = 1.0 - 2 * torch.cartesian_prod(*[torch.arange(2)] * 8).double()  # all 256 functions
profile, k = degree_profile(f), torch.arange(1, 4)
high = profile.flip(-1).cumsum(-1).flip(-1)[:, 1:]  # weight at degrees of at least k
counted = sensitivity(f).mean(-1, keepdim=True) / k
degrees.holds(
    "all functions of 3 bits: $\\mathrm{as}_n$ over $k$ times the weight at degrees of at least $k$, least; "
    "control: the weight at all degrees but 0",
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
# On tables of $\pm1$ neither side needs rounding. Pack a table into one bit an entry. Then one exclusive or compares 64 inputs with their neighbours at once, and adding up the results bit by bit gives $s(x, f)$ for all $x$. On the other side $2^n \hat f(S)$ is an integer, and so is $4^n \sum_S |S|\, \hat f(S)^2$. At $n =$ {glue:text}`n_packed` we count both for parity, for a majority of the first bits (an odd number of them), and for random signs.

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
    f"flips against weights as integers, $n = {n_packed}$, three functions",
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
# Of the flips of random signs half change the value: {glue:text}`random_mean:.3f` on average, and {glue:text}`random_max` at the most sensitive input. Far from its threshold the majority feels no flip at all, and that is so at {glue:text}`no_flip:.0f` % of the inputs.

# %% [markdown]
# ## What we found
#
# * Definition, identity and closed forms hold: as integers, and so without rounding, on three functions of {glue:text}`n_packed` bits.
# * An average hides where it comes from: a majority of that many bits feels no flip at {glue:text}`no_flip:.0f` % of its inputs, and random signs feel between none and {glue:text}`random_max`.
#
# ## What would falsify this
#
# Each check has a *control*: the same number where the outcome must be the opposite. One function whose flips and weights disagree would end Eq. (17); its control weighs by $|S|^2$. So would a function with more weight at high degrees than its flips allow; there the control takes the weight at all degrees but 0. The closed forms would fail with any other normalisation; their control drops the factor $\frac14$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` trains on targets in $\{0, 1\}$, not $\{-1, 1\}$: on $(1 - f)/2$ in place of $f$. That multiplies every sensitivity and every mean squared error by $\frac14$; counted, the ratio is {glue:text}`ratio:.2f` for each of the four functions. Numbers from the two scales must not be mixed.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-sensitivity-of-and
# AND is $-1$ iff all signs are $-1$, else $1$. What is its average sensitivity, and at which $n$ is it largest?
# ```
#
# ```{solution} ex-sensitivity-of-and
# :class: dropdown
# One input has the value $-1$. Each of its $n$ edges changes $f$ and is seen from both ends, so $\mathrm{as}_n = 2n/2^n$. It is largest, 1, at $n = 1$ and $n = 2$.
# ```
#
# ```{exercise}
# :label: ex-least-sensitive
# Among all functions with values $\pm1$ and mean 0, which has the smallest average sensitivity? Use the identity.
# ```
#
# ```{solution} ex-least-sensitive
# :class: dropdown
# Mean 0 puts all weight, which is $\mathbb E f^2 = 1$, at degree 1 or more. So $\mathrm{as}_n \ge 1$, with equality iff all weight is at degree 1: a single bit or its negation.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The definition is from {cite:t}`sensitive`; on total influence see {cite:t}`odonnell2014`.
