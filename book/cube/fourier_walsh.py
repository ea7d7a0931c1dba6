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
# (ch-fourier-walsh)=
# # Every function on the cube is a sum of parities
#
# ```{verdict}
# Yes, every function of bits is a sum of parities in exactly one way: all {glue:text}`functions` functions of {glue:text}`n_all` bits are recovered from their coefficients, and no two have the same ones. The first paper writes parities in two ways, with the values $\pm1$ in the program of its experiments and with the values 0 and 1 in its Eq. (1). The same random coefficients then make two functions, with different means and numbers of terms: one of variance 1, as the paper says of its experiments, and one of variance $\frac14$.
# ```
#
# **Needs** nothing but linear algebra. **Read** 12 min. **Runs in** 10 s. **Source** Eq. (1) quoted; the sentence on normalising printed.
#
# **Claim.** Every real function of $n$ bits is a sum of $2^n$ parities, in exactly one way. A parity can be written with the values $\pm1$ or with the values 0 and 1. The first paper uses both, and the same coefficients then make two functions, with other means, variances and sparsities. Its sentence that the random functions of its experiments are centred with variance 1 is true in the basis that the experiments use.

# %% tags=["parameters"]
n_all = 4  # bits; all 2**(2**n_all) functions with values -1 and 1 are taken [2..4]
n_max = 8  # longest cube whose bases are compared as whole matrices, in bits [3..10]
length = 20  # bits of the random sparse functions; the paper has 20 [20..22]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from dataclasses import replace

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from bookkit.moving import Axis, Frame, moving
from helpers import cube
from helpers.cube import even_parity_coefficients, sparsity
from helpers.rng import Rng, f64

ledger, rng = Ledger("cube/fourier_walsh"), Rng(seed)
eq1, normalised = ledger.result("sharper.eq1"), ledger.result("sharper.normalisation")
eps = torch.finfo(torch.float64).eps

# %% [markdown]
# ## Why one should care
#
# Functions of bits are tables, and it is hard to see from a table of $2^n$ numbers whether a function is simple. The first two papers of this book therefore write a function as a sum of parities, and measure how simple it is by this sum: how many parities it has, or on how many bits they depend. The third trains networks on single parities. Such a measure is only meaningful if there is one sum for each function, and if everybody writes the same one. The first is a classical theorem. The second cannot be taken for granted, because a parity can be written with the values $\pm1$ or with the values 0 and 1. If a paper defines its functions in one way and draws them at random in the other, its functions have another mean, variance and sparsity than a reader would think.
#
# ## Three votes by hand
#
# Three people vote. If we write a yes as $x_i = 1$ and a no as $x_i = -1$, then the majority of the three votes is a polynomial:
#
# $$\mathrm{MAJORITY}(x) = \tfrac12 x_1 + \tfrac12 x_2 + \tfrac12 x_3 - \tfrac12 x_1 x_2 x_3 .$$
#
# To see this, look at {numref}`fig-majority-parts`, where the coordinates of each of the eight corners of a cube are three votes. The first three parts of the sum are the votes themselves. They add up to a number that has the right sign everywhere, but is $\pm\frac32$ at the two corners where all agree, and $\pm\frac12$ at the other six. The last part is a *parity*: it asks only whether the number of noes is even. It lowers the absolute value by $\frac12$ at the two corners and raises it by $\frac12$ at the six, and so the sum is $\pm1$ at every corner.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The majority of three votes and the four parities that it is a sum of. Every corner of a cube is an input. Round and dark: positive; square and light: negative.", "name": "fig-majority-parts"}, "image": {"alt": "Five small cubes. Majority is plus one at the four corners with at most one no, and minus one at the others. Each of the next three is plus one half on one face and minus one half on the opposite face. The last one alternates between neighbouring corners."}} tags=["hide-input"]
majority, votes = cube.majority(3), cube.points(3).T / 2
shown = {"MAJORITY": majority} | {f"${'+'[i == 0 :]}x_{i + 1}/2$": votes[i] for i in range(3)}
shown["$-x_1x_2x_3/2$"] = -4 * votes.prod(0)
fig, axes = figures.new(1, 5, height=1.75)
corners = cube.points(3) @ f64([[1.0, -0.15], [0.0, 1.0], [0.55, 0.35]])
for ax, (title, values) in zip(axes, shown.items(), strict=True):
    for x, y in [(x, x + 2**k) for k in range(3) for x in range(8) if not x >> k & 1]:
        ax.plot(*corners[[x, y]].T, marker="", linestyle="-", color="#b5b5b5", linewidth=1)
    for sign, marker, colour in ((1, "o", figures.COLOURS[0]), (-1, "s", figures.COLOURS[4])):
        at = corners[values.sign() == sign]
        ax.scatter(*at.T, marker=marker, color=colour, edgecolor="black", s=42, zorder=2)
    ax.set_title(title, loc="center", fontsize=10)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
figures.show()

# %% [markdown]
# ## The statement
#
# A bit $b \in \{0,1\}$ is written as a sign, $x = (-1)^b$, so that $n$ bits are a point $x$ of the *cube* $\{-1,1\}^n$. The mean over its $2^n$ points is written $\mathbb E$. Let $S$ be a set of coordinates, that is, a subset of $[n] = \{1, \dots, n\}$. There are two ways to say whether the bits in $S$ contain an even number of ones:
#
# $$\chi_S(x) = \prod_{i \in S} x_i \in \{-1, 1\}, \qquad p_S(x) = \frac{1 + \chi_S(x)}2 \in \{0, 1\} .$$
#
# The first is the *character* of $S$, the second its *even-parity indicator*.
#
# ```{prf:proposition} Lintilhac and Shaikh (2026), Eq. (1), as quoted
# :label: sharper-eq1
# Every function $f : \{-1,1\}^n \to \mathbb R$ has exactly one set of numbers $a_S$ with
#
# $$f(x) = \sum_{S \subseteq [n]} a_S\, p_S(x).$$
#
# The *degree* of $f$ is the size $|S|$ of the largest set with $a_S \ne 0$, and its *sparsity* is the number of such sets.
# ```
#
# ```{prf:proposition} Fourier-Walsh expansion
# :label: fourier-walsh-expansion
# The same holds for the characters, and here the coefficients are means:
#
# $$f(x) = \sum_{S \subseteq [n]} \hat f(S)\, \chi_S(x), \qquad \hat f(S) = \mathbb E\, f(x)\, \chi_S(x), \qquad \mathbb E f^2 = \sum_S \hat f(S)^2 .$$
#
# The last identity is called Parseval's identity.
# ```
#
# **Why it holds.** The idea is that the characters are orthonormal, and that there are as many of them as points. First, the product of two characters is a character: $\chi_S \chi_T = \chi_{S \triangle T}$, where $S \triangle T$ holds what is in exactly one of the two sets, because $x_i^2 = 1$. Second, the mean of $\chi_S$ is 0 unless $S$ is empty, because flipping one coordinate in $S$ arranges the points in pairs of opposite sign. So $\mathbb E\, \chi_S \chi_T$ is 1 if $S = T$ and 0 otherwise, and the characters are $2^n$ orthonormal vectors in a space of dimension $2^n$, which are a basis. The indicators are a basis as well, because $p_\emptyset = 1$ and $\chi_S = 2 p_S - p_\emptyset$, so that each basis is a combination of the other. If we put this into the sum of characters, we get
#
# ```{math}
# :label: eq-two-bases
# a_S = 2 \hat f(S) \quad (S \ne \emptyset), \qquad a_\emptyset = 2 \hat f(\emptyset) - f(1, \dots, 1).
# ```
#
# The next lines apply the definition to the three votes. In code a set is a number, its *mask*: bit $k$ of the mask says whether coordinate $k + 1$ is in $S$. The points are numbered in the same way ({doc}`../notation`).

# %%
points = cube.points(3)  # the eight corners, one in each row
found = {}
for mask in range(8):
    S = [k for k in range(3) if mask >> k & 1]
    name = "{" + ",".join(map(str, cube.members(mask))) + "}"
    found[name] = (majority * points[:, S].prod(-1)).mean().item()  # the mean of f chi_S
in_both = pd.DataFrame({"characters": found}).rename_axis("S")
in_both["indicators"] = even_parity_coefficients(majority)
table(in_both, "Coefficients of the majority of three votes", form=".1f")

# %% [markdown]
# The first column has the four coefficients that we know from the example. The indicators need five terms instead of four, because the coefficient of the empty set is no longer 0. With more votes there are parities of more sizes. The next figure, which can be moved, shows how the sum comes nearer to the majority, in the mean square, as larger parities are added:

# %% mystnb={"code_prompt_hide": "Moving figure", "code_prompt_show": "Moving figure"} tags=["hide-input", "nbval-ignore-output"]
LONGEST = 11


def up_to(degree, n):
    """The parities of at most this size in the majority of n votes, by the number of noes."""
    values = cube.majority(n)
    coefficients = cube.spectrum(values)
    size = (cube.points(n) < 0).sum(-1)  # of the set, as of the noes
    kept = torch.where(size <= degree, coefficients, 0.0)
    found = cube.spectrum(kept) * 2**n  # the transform is its own inverse, up to the factor
    noes, first = range(n + 1), [2**k - 1 for k in range(n + 1)]
    return Frame(
        f"Majority of {n} votes, parities of at most {degree}: their squared coefficients add up "
        f"to {kept.square().sum():.3f} of 1.",
        bars={"sum of parities": (list(noes), found[first])},
        dots={"majority": (list(noes), values[first])},
    )


moving(
    "degrees",
    {"largest parity": list(range(1, LONGEST + 1, 2)), "votes": list(range(3, LONGEST + 1, 2))},
    up_to,
    (
        Axis("noes", -0.5, LONGEST + 0.5, ticks=range(0, LONGEST + 1, 2)),
        Axis("value", -4, 4, ticks=range(-4, 5, 2)),
    ),
    caption="The majority of n votes, put together from its parities of at most a given size. Each size lowers the "
    "mean squared distance, but where all agree the sum swings to both sides of the right value until the last is in.",
    alt="Bars against the number of noes. With single votes they fall in a straight line; with larger parities they "
    "come near the marks of the majority in the middle and swing at both ends; with all of them they meet the marks.",
    start=(1, 7),
)

# %% [markdown]
# Move the slider *largest parity*. Where the votes are nearly balanced, the bars come near to the marks of the majority. At the two ends, where all agree, the sum swings to both sides of the right value, 1 or $-1$, until the largest parity is in. With 11 votes, all of them yes, it is 2.71, $-1.80$, 3.61, $-0.26$, 1.25, and at last 1. But few inputs lie at the ends, and by Parseval's identity the mean squared distance decreases with every size on the slider.
#
# ## All Boolean functions, one by one
#
# A function of $n$ bits with the values $\pm1$ is itself a string of $2^n$ signs, so there are $2^{2^n}$ such functions, and for small $n$ we can try all of them. We ask two questions: does the sum of its parts return each function, and do two functions ever share their coefficients? A single function for which the answer is wrong would refute Eq. (1). No rounding is involved, since the coefficients are multiples of $2^{-n}$.

# %%
every = cube.points(2**n_all)  # row j: the values of function number j
chi = cube.characters(n_all)  # row S: the values of the character of S
f_hat = every @ chi / 2**n_all
a = 2 * f_hat
a[:, 0] -= every[:, 0]  # the first point is (1, ..., 1)


def not_returned(coefficients, basis):
    return int((coefficients @ basis != every).any(-1).sum())


def alike(coefficients):
    return len(coefficients) - len(coefficients.unique(dim=0))


p = (1 + chi) / 2
counted = pd.DataFrame(
    [[not_returned(f_hat, chi), alike(f_hat)], [not_returned(a, p), alike(a)]],
    pd.Index(["characters", "indicators"], name="basis"),
    ["not returned", "with coefficients of another"],
)
table(counted, f"Of all {len(every)} functions of {n_all} bits")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
all_of_them = f"all {len(every)} functions of {n_all} bits"
without_top = f_hat.clone()
without_top[:, -1] = 0  # the parity of all bits left out
eq1.holds(
    f"{all_of_them}: number that the sum of their indicators does not return; control: "
    "coefficients that are doubled",
    counted["not returned"].sum(),
    equals=0,
    control=not_returned(2 * f_hat, p),
    about="statement",
    evidence="exhaustive",
)
eq1.holds(
    f"{all_of_them}: number that share their coefficients with another; control: without the"
    " coefficient of the set of all bits",
    counted["with coefficients of another"].sum(),
    equals=0,
    control=alike(without_top),
    about="statement",
    evidence="exhaustive",
)
more_terms = (a != 0).sum(-1) - (f_hat != 0).sum(-1)
monomials = every.clone()  # coefficients of the products of bits b_i, by Moebius inversion
for k in range(n_all):
    has = (torch.arange(2**n_all) >> k & 1).bool()
    monomials[:, has] -= monomials[:, ~has]
eq1.holds(
    f"{all_of_them}: largest difference of the sparsities in the two bases; control: "
    "monomials in place of indicators",
    more_terms.abs().max(),
    at_most=1,
    control=((monomials != 0).sum(-1) - (f_hat != 0).sum(-1)).abs().max(),
    about="ours",
    evidence="exhaustive",
)
shares = [100 * (more_terms == k).double().mean().item() for k in (-1, 0, 1)]
glue(functions=len(every), n_all=n_all, fewer=shares[0], equal=shares[1], more=shares[2])

# %% [markdown]
# All functions are returned, and no two share their coefficients. The degree is the same in both bases, but the sparsity is not, since the coefficient of the empty set differs: with indicators {glue:text}`more:.0f` % of the functions need one term more, {glue:text}`fewer:.0f` % one term less, and {glue:text}`equal:.0f` % as many as with characters.
#
# ## Two bases, two geometries
#
# What distinguishes the two bases is the angle between their members. The *Gram matrix* of a basis holds the mean of the product of every two members. For characters it is the identity matrix, because they are orthonormal. Indicators, on the other hand, are never negative, so they all point into similar directions:
#
# $$\mathbb E\, p_S\, p_T = \begin{cases} 1 & S = T = \emptyset \\ \frac12 & S = T \ne \emptyset, \text{ or exactly one of them is empty} \\ \frac14 & \text{else.} \end{cases}$$
#
# How far is this matrix from the identity? We look for its eigenvalues, with $N = 2^n$. Outside the row and the column of the empty set all entries are $\frac14$, and on the diagonal another $\frac14$ is added.
#
# * *Most eigenvalues are $\frac14$.* Take a vector whose entry for the empty set is 0 and whose other entries sum to zero. The equal entries, $\frac12$ in the row of the empty set and $\frac14$ in the others, give 0 on this vector. Only the addition on the diagonal remains, so the matrix multiplies the vector by $\frac14$.
# * *Two are left.* What remains are the vectors whose other $N - 1$ entries are all equal. They form a plane, and on this plane the Gram matrix is a $2 \times 2$ matrix of trace $1 + N/4$ and determinant $\frac14$. So the largest eigenvalue is $\lambda = \frac12 (t + \sqrt{t^2 - 1})$ with $t = 1 + \frac N4$, and the smallest is $1/(4\lambda)$.
#
# The ratio of the largest to the smallest eigenvalue, the *condition number*, is $4\lambda^2$, which grows like $4^{n-1}$. The table compares this formula with the eigenvalues of the whole matrix, and lists the rank of each basis; a rank below $2^n$ would refute Eq. (1). Beside the even parities it has the *odd* ones, $(1 - \chi_S)/2$.

# %%
rows = {}
for n in range(1, n_max + 1):
    chi, N = cube.characters(n), 2**n
    t = 1 + N / 4
    row = {"condition": (t + math.sqrt(t * t - 1)) ** 2}
    for kind, members in {"characters": chi, "even": (1 + chi) / 2, "odd": (1 - chi) / 2}.items():
        row[f"rank {kind}"] = int(torch.linalg.matrix_rank(members))
        row[f"condition {kind}"] = torch.linalg.cond(members @ members.T / N).item()
    alike = torch.full((N, N), 0.25, dtype=torch.float64).fill_diagonal_(0.5)
    row["condition alike"] = torch.linalg.cond(alike).item()  # if the empty set were no exception
    rows[n] = row
bases = pd.DataFrame(rows).T.rename_axis("n")
ranks = ["rank characters", "rank even", "rank odd"]
bases[ranks] = bases[ranks].astype(int)
words = {"condition characters": "condition, characters", "condition even": "condition, even"}
words |= {"condition": "$4\\lambda^2$"}
table(
    bases[[*ranks, *words]].iloc[1::2].rename(columns=words),
    "Ranks and condition numbers",
    form=".2f",
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
sizes = 2**bases.index
eq1.holds(
    "even-parity indicators are a basis: largest rank that is missing over all $n$; "
    "control: odd parity",
    (sizes - bases["rank even"]).max(),
    equals=0,
    control=(sizes - bases["rank odd"]).max(),
    about="statement",
    evidence="proved",
)
slack = (sizes * eps * bases["condition"]).max()  # of the smallest eigenvalue, relative
eq1.holds(
    "largest relative distance of the condition number of the indicators from "
    "$4\\lambda^2$; control: a Gram matrix in which the empty set is no exception",
    (bases["condition even"] / bases["condition"] - 1).abs().max(),
    at_most=0,
    tol=slack,
    control=(bases["condition alike"] / bases["condition"] - 1).abs().max(),
    about="ours",
    evidence="proved",
)
glue(n_max=n_max, condition_last=bases["condition"].iloc[-1])
glue(distinct_1=20 * (1 - (1 - 1 / 20) ** 20), variance_1=1 + 2 * 19 / (math.pi * 20))

# %% [markdown]
# The indicators have full rank, as Eq. (1) says. It is essential that they are *even* parities: with odd ones the rank falls by one, because the odd-parity indicator $(1 - \chi_S)/2$ of the empty set is zero. At $n =$ {glue:text}`n_max` the condition number of the indicators is {glue:text}`condition_last:.0f`. The formula {eq}`eq-two-bases` shows why it is so large: the constant $a_\emptyset$ contains a single value of $f$, and an error in this value is passed on to $a_\emptyset$ in full. So indicators are good for *writing down* a sparse function, which is what the paper does with them, but they are a bad basis for *estimating* one from noisy values.
#
# ## What is normalised
#
# For its experiments the paper draws a number $W$ of sets $S_i$, all of one size $d$ from 1 to 5, among $T = 20$ bits. It draws coefficients "according to a standard normal distribution", takes absolute values, and normalises "so that they are centered and with variance 1". Since coefficients that are all positive cannot be centred, the sentence must be about the functions and not about their coefficients. In which basis is it true? Let $\sum_i c_i^2 = 1$ and $s = \sum_i c_i$, which is at least $\sum_i c_i^2 = 1$. Then Parseval's identity gives
#
# | $f$ | $\sum_i c_i\, \chi_{S_i}$ | $\sum_i c_i\, p_{S_i}$ |
# |:--|:--|:--|
# | in characters | itself | $\frac s2 + \frac12 \sum_i c_i\, \chi_{S_i}$ |
# | $\mathbb E f$ | $0$ | $\frac s2$ |
# | variance | $\sum_i c_i^2 = 1$ | $\frac14 \sum_i c_i^2 = \frac14$ |
# | sparsity in characters | $W$ | $W + 1$ |
# | sparsity in indicators | $W + 1$ | $W$ |
#
# The last row follows from $\chi_S = 2 p_S - p_\emptyset$: a sum of characters is $\sum_i 2 c_i\, p_{S_i} - s\, p_\emptyset$, so with indicators there is one term more, with the negative coefficient $-s$.
#
# Which column does the paper mean? It does not say. On the one hand, the first column, the basis of characters, is that of the authors' program. On the other hand, the paper says that degree and sparsity of the experiments' functions "are defined exactly as in" Eq. (1), which has indicators, and that its theorems need positive coefficients. If a function of the program is taken literally in the basis of Eq. (1), its sparsity is larger by one, and all its coefficients but that of the constant are positive.
#
# To test this, we draw one function of each of 20 classes (degrees 1 to 5, with 1, 7, 14 and 20 terms), and take its mean and variance over all $2^T$ inputs, in both bases. A sum of characters with another mean than 0, or another variance than 1, would refute the sentence.


# %%
def measured(f):
    """Mean, variance and number of characters, from the values at all inputs."""
    values = f.table()
    mean = values.mean().item()
    return mean, values.square().mean().item() - mean**2, int(sparsity(values))


KINDS = ("characters", "indicators")
rows, by_sum, odd = {}, {kind: [] for kind in KINDS}, []
for d, W in [(d, W) for d in range(1, 6) for W in (1, 7, 14, 20)]:
    f = cube.sparse_function(length, d, W, rng.generator)  # a sum of characters
    row = {"s": f.coefficients.sum().item()}
    for plural, g in {"characters": f, "indicators": replace(f, basis="even_parity")}.items():
        for word, value in zip(("mean", "variance", "terms"), measured(g), strict=True):
            row[f"{word}, {plural}"] = value
        in_indicators = even_parity_coefficients(g.table())
        row[f"excess, {plural}"] = int((in_indicators.abs() > 1e-9).sum()) - W
        row[f"constant, {plural}"] = in_indicators[0].item()
        broken = replace(g, coefficients=g.coefficients / g.coefficients.sum())  # a control
        by_sum[plural].append(measured(broken)[1])
    odd.append(-f.table()[0].item() / row["s"])  # the constant if odd parities stand for even ones
    rows[d, W] = row
classes = pd.DataFrame(rows).T.rename_axis(["d", "W"])
classes["s/2"] = classes.pop("s") / 2
constant = {k: -classes.pop(f"constant, {k}") / (2 * classes["s/2"]) for k in KINDS}
excess = {k: classes.pop(f"excess, {k}") for k in KINDS}
terms = ["terms, characters", "terms, indicators"]
classes[terms] = classes[terms].astype(int)
table(classes.loc[[3]], "The classes of degree 3, T = 20", form=".3f", tiny=1e-9)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]


def off(plural, mean, variance):
    """Largest distance of mean and variance from what is said, in any class."""
    gaps = classes[f"mean, {plural}"] - mean, classes[f"variance, {plural}"] - variance
    return max(gap.abs().max() for gap in gaps)


rounding = 4 * length * 20 * eps  # n roundings of values of at most s^2 <= W
normalised.holds(
    "20 classes of sums of characters: largest distance of the mean from 0 and of the "
    "variance from 1; control: coefficients divided by their sum",
    off("characters", 0, 1),
    at_most=0,
    tol=rounding,
    control=max(abs(variance - 1) for variance in by_sum["characters"]),
    about="remark",
    evidence="proved",
)
normalised.holds(
    "20 classes of sums of indicators: largest distance of the mean from $s/2$ and of the "
    "variance from $\\frac14$; control: coefficients divided by their sum",
    off("indicators", classes["s/2"], 1 / 4),
    at_most=0,
    tol=rounding,
    control=max(abs(variance - 1 / 4) for variance in by_sum["indicators"]),
    about="ours",
    evidence="proved",
)

normalised.holds(
    "sums of characters written in indicators: number of terms beyond $W$, or the constant "
    "term in units of $-s$, whichever is farther from 1; control: odd parities",
    max([*excess["characters"], *constant["characters"]], key=lambda v: abs(v - 1)),
    equals=1,
    tol=rounding,
    control=max(odd),
    about="ours",
    evidence="proved",
)

# %% [markdown]
# So the sentence is true in the basis of the program. In the basis of Eq. (1), however, the same coefficients make a function with a positive mean and a quarter of the variance.
#
# ## What we found
#
# * Both expansions hold for every function, as the proof says and all functions of {glue:text}`n_all` bits confirm. The indicators of Eq. (1) are a basis, but far from an orthogonal one.
# * The sentence on normalising is true of sums of characters, which the program of the experiments uses. With the same coefficients, sums of indicators would have the variance $\frac14$. Written in indicators, a function of the experiments has one term more than its $W$, a constant with a negative coefficient.
# * In the rest of the book $\hat f$ and *sparsity* refer to characters. Where a chapter counts in indicators, it says so.
#
# ## What would falsify this
#
# A single function that its parts do not return, or two functions with equal coefficients, would refute the expansion. The *controls*, which must fail, leave out the correction of the constant in {eq}`eq-two-bases`, or the parity of all bits. A rank below $2^n$ would refute the uniqueness, and the control takes odd parities. What we say of the sparsities would be refuted by a function whose sparsities in the two bases differ by more than one; here the control counts products of bits such as $b_1 b_3$. For the condition number the control is a Gram matrix in which the empty set is no exception. For the sentence on normalising it divides the coefficients by their sum in place of their norm, or takes odd parities.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# We read `train_utils.py` and `training.py` of the repository `paullintilhac/boolean_function_sensitivity` (commit 3e5d0f89), and the older `exp_refactor.py` and `hardcoded_transformer.py`.
#
# * Its functions are sums in the $\pm1$ basis, with coefficients as the text says, so they are centred, and have variance 1 if the subsets are distinct (see the last point).
# * A bit 1 becomes $+1$ and a bit 0 becomes $-1$, so that the parity of $S$ is $(-1)^{|S|} \chi_S$. For odd $|S|$ it is $+1$ if and only if the number of ones is *odd*. This is only a convention, but a hand-written network must use the same convention.
# * The text takes distinct subsets, and so do the two older programs. In `train_utils.py`, however, each subset is drawn by itself and may be drawn twice, so that the function has fewer than $W$ terms. If $W$ subsets are drawn out of $M = \binom Td$, the expected number of distinct ones is $M \bigl(1 - (1 - \frac1M)^W\bigr)$. The expected variance is $1 + \frac{2 (W - 1)}{\pi M}$, since the product of two random coefficients has the mean $\frac2{\pi W}$. For example, at $d = 1$ and $W = 20$ one expects {glue:text}`distinct_1:.1f` terms and a variance of {glue:text}`variance_1:.2f`. This book draws distinct subsets, as the text says.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-one-value
# *By hand.* Change $f$ at the single point $(1, \dots, 1)$ by 1. By how much do the coefficients change in each basis, and by how much does $f$ change in the root mean square?
# ```
#
# ```{solution} ex-one-value
# :class: dropdown
# Every $\hat f(S)$ changes by $2^{-n}$. Every $a_S$ changes by $2^{1-n}$, except for $a_\emptyset$, which changes by $2^{1-n} - 1$. The root mean square of the change of $f$ is $2^{-n/2}$.
# ```
#
# ```{exercise}
# :label: ex-noisy-values
# *With the computer.* Suppose that each of the $2^n$ values of $f$ is known up to a normal error of standard deviation 0.1, independent of the others. Estimate the standard deviation of the resulting error in a coefficient, in both bases, and then compute it for $n = 3$ to 9. How does the largest error compare with the condition number? The table of condition numbers is extended by `python -m bookkit.run cube/fourier_walsh -p n_max 10 --out my_run`.
# ```
#
# ```{solution-start} ex-noisy-values
# :class: dropdown
# ```
#
# A coefficient $\hat f(S)$ is a mean of $2^n$ values with signs, so its error is $0.1 \cdot 2^{-n/2}$, and that of $a_S$ is twice as large if $S$ is not empty. In $a_\emptyset$ the single value $f(1, \dots, 1)$ occurs, and its error is 0.1 at every $n$.

# %%
fresh, rows = Rng(seed + 1), {}
for n in (3, 5, 7, 9):
    errors = 0.1 * fresh.normal(2000, 2**n)
    in_characters, in_indicators = cube.spectrum(errors), even_parity_coefficients(errors)
    rows[n] = {
        "characters": in_characters.std().item(),
        "indicators, S not empty": in_indicators[:, 1:].std().item(),
        "indicators, S empty": in_indicators[:, 0].std().item(),
    }
answer = pd.DataFrame(rows).T.rename_axis("n")
table(answer, "Standard deviation of the error of a coefficient", form=".4f")

# %% [markdown]
# The error of the characters halves with every second bit, whereas the constant of the indicators stays as uncertain as a single value. The ratio of the two errors grows like $2^{n/2}$. This does not contradict the condition number, whose root is about $2^{n-1}$: it compares *relative* errors of all coefficients together, and is reached only if the function has short coefficients for its size and the error has long ones. As a vector, the error of all coefficients is at most about $2^{n/2}$ times as long as the root mean square of the errors of the values, namely if only the value at $(1, \dots, 1)$ is wrong. For random errors it is at most $\sqrt5$ times as long in the root mean square.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-granularity
# *To think about.* Show that every coefficient of a function with values $\pm1$ and degree $d \ge 1$ is a multiple of $2^{1-d}$. Which functions have a degree of at most 1?
# ```
#
# ```{solution} ex-granularity
# :class: dropdown
# Let $f = 1 - 2g$ with $g \in \{0, 1\}$. By inclusion and exclusion $g$ is a polynomial of degree $d$ in the bits with integer coefficients. Each bit is $(1 - x_i)/2$, so a product of at most $d$ of them has coefficients that are multiples of $2^{-d}$, and $2g$ has multiples of $2^{1-d}$. At degree 1 the squares sum to 1, so a single coefficient is $\pm1$, and $f$ is one of the $2 + 2n$ constants and single bits, with either sign.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Eq. (1) is from {cite:t}`sharper`; the expansion in characters, Parseval and the granularity of the last exercise are treated by {cite:t}`odonnell2014`.
