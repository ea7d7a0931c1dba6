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
# **Claim.** Every real function of $n$ bits is a sum of $2^n$ parities, in exactly one way. That is true of the parities in $\{-1,1\}$, which are orthonormal, and of the even-parity indicators in $\{0,1\}$, which are not. The first paper uses both kinds, and the same coefficients then make two functions, with other means, variances and sparsities. Its sentence that the random functions of its experiments are centred with variance 1 is true in the basis that the experiments use, the one of signs. In the basis of its Eq. (1) the same coefficients give a positive mean and a quarter of the variance.
#
# **Needs** nothing but linear algebra. **Runs in** 10 s. **Source** quoted; the sentence on normalising printed.
#
# A bit $b \in \{0,1\}$ is written as a sign, $x = (-1)^b$. So $n$ bits are a point $x = (x_1, \dots, x_n)$ of the *cube* $\{-1,1\}^n$, and the average over its $2^n$ points is written $\mathbb E$. For a set $S$ of coordinates, a subset of $[n] = \{1, \dots, n\}$, there are two ways to say whether the bits in $S$ contain an even number of ones:
#
# $$\chi_S(x) = \prod_{i \in S} x_i \in \{-1, 1\}, \qquad p_S(x) = \frac{1 + \chi_S(x)}2 \in \{0, 1\}.$$
#
# The first is the *character* of $S$. The second is its *even-parity indicator*. Both are largest when the number of ones is even.
#
# ```{prf:proposition} Lintilhac and Shaikh (2026), Eq. (1), as quoted
# :label: sharper-eq1
# Every function $f : \{-1,1\}^n \to \mathbb R$ has exactly one set of numbers $a_S$ with
#
# $$f(x) = \sum_{S \subseteq [n]} a_S\, p_S(x).$$
#
# The *degree* of $f$ is the size $|S|$ of the largest set with $a_S \ne 0$, and the *sparsity* of $f$ is the number of sets with $a_S \ne 0$. The paper takes all these sets of one size $d$, and all their coefficients positive.
# ```
#
# ```{prf:proposition} Fourier-Walsh expansion
# :label: fourier-walsh-expansion
# The same holds for the characters, with the coefficients
#
# $$f(x) = \sum_{S \subseteq [n]} \hat f(S)\, \chi_S(x), \qquad \hat f(S) = \mathbb E\, f(x)\, \chi_S(x), \qquad \mathbb E f^2 = \sum_S \hat f(S)^2 .$$
#
# The last identity is Parseval's.
# ```
#
# **Why it holds.** The product of two characters is a character: $\chi_S \chi_T = \chi_{S \triangle T}$, where $S \triangle T$ holds what is in exactly one of the two sets, because $x_i^2 = 1$. The mean of $\chi_S$ is 0 unless $S$ is empty: flip one coordinate in $S$, and the points fall into pairs of opposite sign. So $\mathbb E\, \chi_S \chi_T$ is 1 if $S = T$, else 0. These are $2^n$ orthonormal vectors in a space of dimension $2^n$: a basis. The indicators follow, because $p_\emptyset = 1$ and $\chi_S = 2 p_S - p_\emptyset$. Each basis is a combination of the other. Put in, this gives
#
# ```{math}
# :label: eq-two-bases
# a_S = 2 \hat f(S) \quad (S \ne \emptyset), \qquad a_\emptyset = 2 \hat f(\emptyset) - f(1, \dots, 1).
# ```
#
# All but one coefficient agree, up to the factor 2. So the degree is the same in both bases. The sparsity, we will see, is not.

# %% tags=["parameters"]
n_all = 4  # bits; all 2**(2**n_all) functions with values -1 and 1 are taken [2..4]
n_max = 8  # longest cube whose bases are compared as whole matrices, in bits [3..10]
length = 20  # bits of the random sparse functions; the paper has 20 [20..22]
draws = 4000  # random choices of subsets for each class [500..20000]
seed = 0  # of everything random [0..1000000]

# %% [markdown]
# ## Points, sets and their order
#
# A function of $n$ bits is stored as a table of $2^n$ numbers, and so is a spectrum. Both need an order, and the whole book keeps this one. Bit $k$ of the index $i$, counted from the lowest, is the bit $b_{k+1}$ of the point. In the same way, bit $k$ of a *mask* says whether coordinate $k+1$ is in the set $S$. Then $\chi_S$ at $i$ is $-1$ iff the binary numbers of $S$ and $i$ share an odd number of ones. Here are all characters of four bits.

# %%
import math
from dataclasses import replace

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.cube import even_parity_coefficients, from_spectrum, sparsity, spectrum

ledger = Ledger("cube/fourier_walsh")
generator = torch.Generator().manual_seed(seed)
eps = torch.finfo(torch.float64).eps


def set_name(mask):
    return "{" + ",".join(map(str, cube.members(mask))) + "}"


signs = cube.characters(4)
print(f"{'S':10} |S|  chi_S at the points 0000, 1000, 0100, ... (written b1 b2 b3 b4)")
for mask, row in enumerate(signs):
    drawn = "".join("+" if v > 0 else "-" for v in row)
    print(f"{set_name(mask):10} {len(cube.members(mask)):3}  {drawn}")

# %% mystnb={"figure": {"caption": "All 16 characters of four bits. Each column is a point, its bits $b_1 b_2 b_3 b_4$ read downwards at the top; each row is a set $S$. White is $+1$. A colour is $-1$, and says the size of $S$, which is also its number of ones in the mask. The four rows of one element repeat the bits above the table.", "name": "fig-sign-table"}, "image": {"alt": "A 16 by 16 table of signs below a strip of four rows that shows the bits of each point. The first row, of the empty set, is all white. Every other row is coloured in exactly half of its cells. The rows of one element are stripes, one, two, four and eight cells wide; the others are products of such stripes."}} tags=["hide-input"]
from matplotlib.colors import ListedColormap

DEGREES = ListedColormap(["white", "#56B4E9", "#E69F00", "#009E73", "#D55E00"])
fig, (top, ax) = figures.new(2, 1, width=5.0, height=5.9, height_ratios=[4, 16])
top.imshow(cube.bits(4).T, cmap="Greys", vmin=0, vmax=1.6, aspect="auto")
for k, i in torch.cartesian_prod(torch.arange(4), torch.arange(16)).tolist():
    top.text(
        i,
        k,
        i >> k & 1,
        ha="center",
        va="center",
        fontsize=8,
        color="white" if i >> k & 1 else "black",
    )
top.set(
    yticks=range(4),
    yticklabels=[f"$b_{k}$" for k in range(1, 5)],
    xticks=range(16),
    xlabel="index $i$ of the point",
)
top.xaxis.set_label_position("top")
top.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
sizes4 = cube.bits(4).sum(-1)
ax.imshow((signs < 0) * sizes4[:, None], cmap=DEGREES, vmin=0, vmax=4, aspect="auto")
ax.set(
    yticks=range(16),
    yticklabels=[r"$\emptyset$" if m == 0 else set_name(m) for m in range(16)],
    xticks=[],
    ylabel="set $S$",
)
for panel in (top, ax):
    panel.set_xticks([i + 0.5 for i in range(15)], minor=True)
    panel.set_yticks([i + 0.5 for i in range(len(panel.get_yticks()) - 1)], minor=True)
    panel.grid(visible=False)
    panel.grid(which="minor", color=figures.GREY, linewidth=0.3)
    panel.tick_params(which="both", length=0)
    panel.spines[:].set(visible=True, color=figures.GREY)
handles = [
    ax.scatter([], [], marker="s", s=40, color=DEGREES(d), edgecolor=figures.GREY, linewidth=0.4)
    for d in range(5)
]
ax.legend(
    handles,
    ["$+1$"] + [f"$-1$, $|S| = {d}$" for d in range(1, 5)],
    ncols=5,
    loc="upper center",
    bbox_to_anchor=(0.45, -0.01),
    handletextpad=0,
    columnspacing=0.8,
)
figures.show()

# %% [markdown]
# Read as a matrix, {numref}`fig-sign-table` is symmetric, and its rows are orthogonal. It is Sylvester's Hadamard matrix. To expand a function is to multiply it with this matrix; a fast algorithm does so in $n 2^n$ additions.
#
# ## One function taken apart
#
# The majority of three bits is $1$ iff at least two of the $x_i$ are $1$. Its spectrum has four coefficients:
#
# $$\mathrm{MAJORITY}(x) = \tfrac12 x_1 + \tfrac12 x_2 + \tfrac12 x_3 - \tfrac12 x_1 x_2 x_3 .$$
#
# {numref}`fig-majority-parts` shows each part on the corners of the cube. The three parts of degree 1 add up to the right sign everywhere. But they reach $\frac32$ at two corners and $\frac12$ at the others. The part of degree 3 takes the same amount from the two, and gives it to the six.

# %%
majority = cube.majority(3)
f_hat = spectrum(majority)
kept = [mask for mask in range(8) if f_hat[mask] != 0]
parts = {mask: f_hat[mask] * cube.character(3, mask) for mask in kept}
degree_1 = parts[1] + parts[2] + parts[4]
columns = {"f": majority, **{set_name(m): part for m, part in parts.items()}}
columns["degree 1"] = degree_1
values = torch.stack(tuple(columns.values()), -1).tolist()
print("bits " + " ".join(f"{name:>8}" for name in columns))
for bits, row in zip(cube.bits(3).tolist(), values, strict=True):
    print("".join(map(str, bits)) + "  " + " ".join(f"{v:8.1f}" for v in row))
in_both = {"characters": f_hat, "indicators": even_parity_coefficients(majority)}
for basis, c in in_both.items():
    terms = [f"{v:4.1f} for {set_name(mask)}" for mask, v in enumerate(c.tolist()) if v]
    print(f"coefficients of the {basis}: " + ", ".join(terms))

# %% mystnb={"figure": {"caption": "The majority of three bits, its four parts, and the sum of the three parts of degree 1. Each corner is one point; its bits stand beside it in the first panel. Round marks are positive, square ones negative.", "name": "fig-majority-parts"}, "image": {"alt": "Six drawings of a cube with a value at each of its eight corners. Majority is plus one at the four corners with at most one bit set. Each part of degree one is plus one half on one face and minus one half on the opposite face. The part of degree three alternates between neighbouring corners. The sum of the parts of degree one is plus and minus three halves at two opposite corners and plus or minus one half at the other six."}} tags=["hide-input"]
corner = cube.bits(3).double() @ torch.tensor(
    [[1.0, 0.0], [0.0, 1.0], [0.48, 0.34]], dtype=torch.float64
)
WORDS = {1.0: "+1", -1.0: "−1", 0.5: "+½", -0.5: "−½", 1.5: "+3/2", -1.5: "−3/2"}


def draw_cube(ax, values, title):
    for i in range(8):
        for k in range(3):
            if not i >> k & 1:
                ax.plot(
                    *corner[[i, i | 1 << k]].T,
                    marker="",
                    linestyle="-",
                    color="#b5b5b5",
                    linewidth=1,
                    zorder=1,
                )
    for i, v in enumerate(values.tolist()):
        ax.scatter(
            *corner[i],
            s=400,
            marker="o" if v > 0 else "s",
            color=figures.COLOURS[1 if v > 0 else 0],
            edgecolor="white",
            zorder=2,
        )
        ax.text(
            *corner[i],
            WORDS[v],
            color="white",
            ha="center",
            va="center",
            fontsize=9 if abs(v) <= 1 else 7,
            fontweight="bold",
            zorder=3,
        )
    ax.set_title(title, loc="center", fontsize=10.5)
    ax.set(xlim=(-0.3, 1.75), ylim=(-0.3, 1.6), aspect="equal")
    ax.axis("off")


names = {
    1: r"$\frac{1}{2}\,x_1$",
    2: r"$+\ \frac{1}{2}\,x_2$",
    4: r"$+\ \frac{1}{2}\,x_3$",
    7: r"$-\ \frac{1}{2}\,x_1 x_2 x_3$",
}
fig, axes = figures.new(3, 2, width=4.9, height=6.6)
panels = axes.flatten()
draw_cube(panels[0], majority, r"MAJORITY  $=$")
for i, place in enumerate(corner.tolist()):
    panels[0].annotate(
        f"{i & 1}{i >> 1 & 1}{i >> 2 & 1}",
        place,
        xytext=(10, -12),
        textcoords="offset points",
        fontsize=7.5,
        color=figures.GREY,
    )
for ax, mask in zip(panels[1:5], kept, strict=True):
    draw_cube(ax, parts[mask], names[mask])
draw_cube(panels[5], degree_1, r"$\frac{1}{2}(x_1 + x_2 + x_3)$ alone")
figures.show()

# %% [markdown]
# In the other basis the same function is $p_{\{1\}} + p_{\{2\}} + p_{\{3\}} - p_{\{1,2,3\}} - p_\emptyset$. That is five terms instead of four, by {eq}`eq-two-bases`.
#
# ## All Boolean functions, one by one
#
# A function of $n$ bits with values $\pm1$ is itself a string of $2^n$ signs. So there are $2^{2^n}$ of them, and for small $n$ none need be left out. For each we ask three things. Does the sum of its $2^n$ parts return the function? Does any other function have the same coefficients? How many coefficients are not zero? All three are exact: the coefficients are multiples of $2^{-n}$.

# %%
every = cube.points(2**n_all)  # row j: the function number j
every_hat = spectrum(every)
sizes = cube.bits(n_all).sum(-1)  # |S| for every mask S
without_top = every_hat * (sizes < n_all)


def not_returned(f_hat):
    return int((from_spectrum(f_hat) != every).any(-1).sum())


def collisions(f_hat):
    return len(f_hat) - len(f_hat.unique(dim=0))


def not_returned_by_indicators(a):
    return int((a @ (1 + cube.characters(n_all)) / 2 != every).any(-1).sum())


every_a = even_parity_coefficients(every)
glue(functions=len(every), n_all=n_all)
print(f"{len(every)} functions of {n_all} bits")
print(f"not returned by their characters: {not_returned(every_hat)}")
print(f"not returned by their indicators: {not_returned_by_indicators(every_a)}")

degrees = ((every_hat != 0) * sizes).amax(-1)
sparsities = {"characters": sparsity(every), "indicators": (every_a != 0).sum(-1)}
occurring = torch.cat(tuple(sparsities.values())).unique()
one = torch.tensor(1)
counts = {}
for basis, terms in sparsities.items():
    found = torch.zeros(n_all + 1, 2**n_all + 1, dtype=torch.int64)
    counts[basis] = found.index_put((degrees, terms), one, accumulate=True)[:, occurring]
    print(f"\nsparsity in {basis}")
    print("degree " + " ".join(f"{v:6}" for v in occurring.tolist()))
    for d, row in enumerate(counts[basis].tolist()):
        print(f"{d:6} " + " ".join(f"{v:6}" for v in row))

# %% [markdown]
# {numref}`fig-all-functions` draws the two tables. In characters, Boolean functions know only a few sparsities. Every coefficient of a function of degree $d$ is a multiple of $2^{1-d}$, and by Parseval the squares sum to 1; few patterns are left (exercise 1). In indicators the constant is shifted, and the pattern blurs. The two sparsities of one function differ by at most one, because only the coefficient of the empty set differs.

# %% mystnb={"figure": {"caption": "All functions of a few bits (four by default) with values ±1, by degree and sparsity, in both bases. Each cell holds the number of functions, on a logarithmic scale of colour; columns that are empty in both bases are left out.", "name": "fig-all-functions"}, "image": {"alt": "Two tables of counts, degree against sparsity, one above the other. Above, in characters, only five columns are filled: 1, 4, 8, 10 and 16; about half of the functions have degree four and sparsity 16. Below, in indicators, every filled column but the last has spread over its neighbours."}} tags=["hide-input"]
fig, axes = figures.new(2, 1, height=5.6, width=5.6, sharex=True)
columns = occurring.tolist()
for ax, (basis, found), colours in zip(axes, counts.items(), ("Blues", "Oranges"), strict=True):
    shade = torch.where(found > 0, found.double().log2() + 2, torch.nan)
    ax.imshow(shade, cmap=colours, vmin=0, vmax=30, aspect="auto", origin="lower")
    for d, j in found.nonzero().tolist():
        ax.text(j, d, int(found[d, j]), ha="center", va="center", fontsize=9)
    ax.set(
        title=f"sparsity in {basis}",
        ylabel="degree (bits)",
        yticks=range(n_all + 1),
        xticks=range(len(columns)),
        xticklabels=columns,
    )
    ax.set_xticks([j + 0.5 for j in range(len(columns) - 1)], minor=True)
    ax.set_yticks([d + 0.5 for d in range(n_all)], minor=True)
    ax.grid(visible=False)
    ax.grid(which="minor", color="#e4e4e4", linewidth=0.6)
    ax.tick_params(which="both", length=0)
axes[1].set_xlabel("sparsity (number of coefficients that are not zero)")
figures.show()

# %% [markdown]
# ## Two bases of one space
#
# Uniqueness is a matter of rank. The table of signs of $n$ bits has full rank $2^n$, and so has the table of the indicators. It does matter that they are *even*: with odd-parity indicators $(1 - \chi_S)/2$ the one of the empty set is zero, the rank falls by one, and no sum of them has another value than 0 at $x = (1, \dots, 1)$.
#
# What sets the two bases apart is geometry. The *Gram matrix* of a basis holds the mean of the product of every two of its members. For characters it is the identity. For indicators all members are positive, so all are alike:
#
# $$\mathbb E\, p_S\, p_T = \begin{cases} 1 & S = T = \emptyset \\ \frac12 & S = T \ne \emptyset, \text{ or exactly one of them is empty} \\ \frac14 & \text{else.} \end{cases}$$
#
# On the vectors that have sum zero and leave out the empty set, this matrix is $\frac14$ times the identity. What remains is a $2 \times 2$ matrix with trace $1 + N/4$, where $N = 2^n$, and determinant $\frac14$. So with
#
# $$\lambda = \tfrac12\Bigl(t + \sqrt{t^2 - 1}\Bigr), \qquad t = 1 + \frac N4,$$
#
# the largest eigenvalue is $\lambda$, the smallest is $1/(4\lambda)$, and their ratio, the *condition number*, is $4\lambda^2$. It grows like $N^2/4 = 4^{n-1}$.

# %%
rank_defect = {"even": 0, "odd": 0}
off_identity = {"characters": 0.0, "indicators": 0.0}
condition = {"characters": [], "indicators": []}
parseval = {"characters": 0.0, "indicators": 0.0}
closed_condition, slack = [], []
cubes = list(range(1, n_max + 1))
for n in cubes:
    N = 2**n
    chi = cube.characters(n)
    for parity, sign in (("even", 1), ("odd", -1)):
        rank = int(torch.linalg.matrix_rank((1 + sign * chi) / 2))
        rank_defect[parity] = max(rank_defect[parity], N - rank)
    f = torch.randn(10, N, generator=generator, dtype=torch.float64)
    coefficients = {"characters": spectrum(f), "indicators": even_parity_coefficients(f)}
    for basis, members in (("characters", chi), ("indicators", (1 + chi) / 2)):
        gram = members @ members.T / N
        largest = (gram - torch.eye(N)).abs().max().item()
        off_identity[basis] = max(off_identity[basis], largest)
        eigenvalues = torch.linalg.eigvalsh(gram)
        condition[basis].append((eigenvalues[-1] / eigenvalues[0]).item())
        energy = coefficients[basis].square().sum(-1) / f.square().mean(-1)
        parseval[basis] = max(parseval[basis], (energy - 1).abs().max().item())
    t = 1 + N / 4
    closed_condition.append((t + math.sqrt(t * t - 1)) ** 2)
    slack.append(N * eps * closed_condition[-1])  # smallest eigenvalue, relative


# n roundings in each of 2^n coefficients, each at most eps times the root mean square
parseval_rounding = 4 * n_max * eps * 2 ** (n_max / 2)


def condition_gap(basis):
    """Largest relative distance from the closed form."""
    pairs = zip(condition[basis], closed_condition, strict=True)
    return max(abs(found / closed - 1) for found, closed in pairs)


glue(n_max=n_max, condition_last=condition["indicators"][-1])
print("  n  characters   indicators   closed form     4^(n-1)")
for n, c, i, closed in zip(cubes, *condition.values(), closed_condition, strict=True):
    print(f"{n:3} {c:11.6f} {i:12.4f} {closed:13.4f} {4 ** (n - 1):11}")

# %% mystnb={"figure": {"caption": "Left: the Gram matrix of the indicators of three bits; that of the characters is the identity. Right: condition number of both Gram matrices, computed (marks) and in closed form (lines).", "name": "fig-gram"}, "image": {"alt": "Left, an 8 by 8 matrix with the numbers 1 in one corner, one half along the first row, the first column and the diagonal, and one quarter elsewhere. Right, a plot with logarithmic vertical axis against the number of bits: the condition number of the characters stays at one, that of the indicators rises fourfold with every bit."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=3.2, width_ratios=[1, 1.15])
p = (1 + cube.characters(3)) / 2
gram = p @ p.T / 8
left.imshow(gram, cmap="Blues", vmin=0, vmax=1.6)
for i, j in torch.cartesian_prod(torch.arange(8), torch.arange(8)).tolist():
    left.text(
        j,
        i,
        {1.0: "1", 0.5: "½", 0.25: "¼"}[gram[i, j].item()],
        ha="center",
        va="center",
        fontsize=8.5,
    )
labels = [r"$\emptyset$"] + ["".join(map(str, cube.members(m))) for m in range(1, 8)]
left.set(
    xticks=range(8),
    xticklabels=labels,
    yticks=range(8),
    yticklabels=labels,
    xlabel="set $T$",
    ylabel="set $S$",
    title="$\\mathbb{E}\\, p_S\\, p_T$",
)
left.tick_params(length=0, labelsize=7.5)
left.grid(visible=False)
right.plot(cubes, condition["indicators"], linestyle="none", label="indicators")
right.plot(cubes, closed_condition, marker="", linestyle="-", color=figures.COLOURS[0])
right.plot(
    cubes,
    condition["characters"],
    linestyle="none",
    marker="s",
    color=figures.COLOURS[1],
    label="characters",
)
right.axhline(1, linestyle="--", color=figures.COLOURS[1], linewidth=1)
right.set(yscale="log", xlabel="length $n$ (bits)", title="condition number")
right.legend()
figures.show()

# %% [markdown]
# At $n =$ {glue:text}`n_max` the condition number is {glue:text}`condition_last:.0f`. It has a plain meaning. By {eq}`eq-two-bases`, $a_\emptyset$ reads one single value of $f$. An error at this one point among $2^n$ is small in the mean square, and goes into the constant undiminished (exercise 2). So the indicators are good for *writing down* a sparse function, which is what the paper does with them. They are a bad basis for *estimating* one.
#
# ## Random sparse functions, and what is normalised
#
# For its experiments the paper draws functions at random, by *class*: a degree $d$ from 1 to 5, and a number $W$ of subsets, all of size $d$, among $T = 20$ bits. The coefficients $c_1, \dots, c_W$ are drawn from a standard normal distribution. Their absolute values are taken, so that all are positive, as the theory wants. Then, so the text, they are normalised to be centred with variance 1.
#
# What is meant are the functions. Positive coefficients could not be centred: if their squares sum to 1, each is at most 1, so $\sum_i c_i \ge \sum_i c_i^2 = 1$, and their mean is at least $1/W$. For functions it depends on the basis. Write $s = \sum_i c_i$ and let no set be empty. Then
#
# | $f$ | $\sum_i c_i\, \chi_{S_i}$ | $\sum_i c_i\, p_{S_i}$ |
# |:--|:--|:--|
# | in characters | itself | $\frac s2 + \frac12 \sum_i c_i\, \chi_{S_i}$ |
# | sparsity in characters | $W$ | $W + 1$ |
# | $\mathbb E f$ | $0$ | $\frac s2$ |
# | variance | $\sum_i c_i^2 = 1$ | $\frac14 \sum_i c_i^2 = \frac14$ |
#
# So the sentence is true in the $\pm1$ basis, which is that of the experiments; in the basis of Eq. (1) the same coefficients make functions of mean $\frac s2$ and variance $\frac14$. The run below takes one function of every class, on all $2^{T}$ inputs, in both bases.

# %%
CLASSES = [(d, W) for d in range(1, 6) for W in (1, 7, 14, 20)]
in_characters = {k: cube.sparse_function(length, *k, generator) for k in CLASSES}
in_indicators = {k: replace(f, basis="even_parity") for k, f in in_characters.items()}


def measure(f):
    """Mean, variance and sparsity, from the values at all inputs."""
    table = f.table()
    mean = table.mean().item()
    return mean, table.square().mean().item() - mean**2, int(sparsity(table))


sums = {k: f.coefficients.sum().item() for k, f in in_characters.items()}
mean_c = {(d, W): sums[d, W] / W for d, W in CLASSES}
moments = {
    "characters": {k: measure(f) for k, f in in_characters.items()},
    "indicators": {k: measure(f) for k, f in in_indicators.items()},
}
print("       coefficients       in characters               in indicators")
print(" d  W   mean variance    mean variance terms     mean    s/2 variance terms")
for d, W in CLASSES:
    c = in_characters[d, W].coefficients
    mean, variance, terms = moments["characters"][d, W]
    mean_p, variance_p, terms_p = moments["indicators"][d, W]
    print(
        f"{d:2} {W:2} {c.mean().item():6.4f}   {c.var(correction=0).item():6.4f}"
        f"  {abs(mean):6.4f}   {variance:6.4f} {terms:5}"
        f"   {mean_p:6.4f} {sums[d, W] / 2:6.4f}   {variance_p:6.4f} {terms_p:5}"
    )
glue(smallest_mean=min(mean_c.values()), length=length)

# %% [markdown]
# {numref}`fig-two-functions` shows the values of the class $d = 3$, $W = 14$ in both bases.

# %% mystnb={"figure": {"caption": "The values of two functions with the same subsets and the same coefficients, on all inputs. Line: the mean; band: one standard deviation to each side.", "name": "fig-two-functions"}, "image": {"alt": "Two histograms above each other on a common axis. Above, the sum of characters is spread around zero, from about minus three to three. Below, the sum of indicators has the same shape at half the width, moved to the right, so that its smallest value is just above or at zero."}} tags=["hide-input"]
fig, axes = figures.new(2, 1, height=3.6, width=5.6, sharex=True)
tables = [drawn[3, 14].table() for drawn in (in_characters, in_indicators)]
for ax, table, colour, name in zip(axes, tables, figures.COLOURS, moments, strict=False):
    mean, deviation = table.mean().item(), table.std().item()
    ax.hist(table, bins=60, color=colour, weights=torch.full_like(table, 100 / len(table)))
    ax.axvline(mean, color="black", marker="", linestyle="-", linewidth=1.2)
    ax.axvspan(mean - deviation, mean + deviation, color="#e9e9e9", linewidth=0, zorder=0)
    ax.set(
        title=f"sum of {name}: mean {mean + 0:.3f}, variance {deviation**2:.3f}".replace(
            "-0.000", "0.000"
        ),
        ylabel="inputs (%)",
    )
axes[1].set_xlabel("value of the function")
figures.show()

# %% [markdown]
# The smallest mean of the coefficients in any class is {glue:text}`smallest_mean:.3f`. In characters all means are 0 and all variances 1. In indicators no mean is 0, and all variances are $\frac14$.
#
# Two smaller things follow. The constant term that indicators bring is a coefficient of degree 0. So a function "of constant degree $d$" in one basis is not one in the other. And the class $W = 1$ has no randomness in its coefficient: it is always exactly 1.
#
# ## What would falsify this
#
# One function that its parts do not return, or two with equal coefficients, would end the expansion; the controls leave out the parity of all bits and, for the indicators, the correction of the constant in {eq}`eq-two-bases`. A rank below $2^n$ would end the uniqueness of Eq. (1); the control takes odd parity. Orthonormality, Parseval and the condition number are controlled by the other basis. Two checks compare sparsities: one control counts monomials in the bits, such as $b_1 b_3$, in place of indicators, the other counts the terms of sums of characters. The sentence on normalising is tested on functions in the basis of the experiments; the control is the other basis, and the other way round.

# %% tags=["hide-input"]
monomials = every.clone()  # coefficients of the products of bits b_i, by Moebius inversion
for k in range(n_all):
    containing = (torch.arange(2**n_all) >> k & 1).bool()
    monomials[:, containing] -= monomials[:, ~containing]
monomial_sparsity = (monomials != 0).sum(-1)


def sparsity_difference(terms):
    return int((terms - sparsities["characters"]).abs().max())


def from_centred(basis):
    """Largest distance from mean 0 and variance 1, in any class."""
    return max(max(abs(mean), abs(v - 1)) for mean, v, _ in moments[basis].values())


def from_half_sum(basis):
    """Largest distance from mean s/2 and variance 1/4, in any class."""
    rows = moments[basis].items()
    return max(max(abs(mean - sums[k] / 2), abs(v - 1 / 4)) for k, (mean, v, _) in rows)


def from_one_more(basis):
    """Largest distance of the sparsity from W + 1, in any class."""
    return max(abs(terms - W - 1) for (_, W), (_, _, terms) in moments[basis].items())


either_sign = torch.randn(100, 20, generator=torch.Generator().manual_seed(seed)).double()
either_sign /= either_sign.norm(dim=-1, keepdim=True)

# n roundings in a value, each at most eps times the sum of the coefficients, at most W^(1/2)
rounding = 4 * length * max(W for _, W in CLASSES) * eps


# %%
all_of_them = f"all {len(every)} functions of {n_all} bits"
ledger.result("sharper.eq1").holds(
    f"{all_of_them}: not returned by the sum of their characters",
    not_returned(every_hat),
    at_most=0,
    control=not_returned(without_top),
    about="statement",
    evidence="exhaustive",
)
ledger.result("sharper.eq1").holds(
    f"{all_of_them}: not returned by the sum of their indicators",
    not_returned_by_indicators(every_a),
    at_most=0,
    control=not_returned_by_indicators(2 * every_hat),
    about="statement",
    evidence="exhaustive",
)
ledger.result("sharper.eq1").holds(
    f"{all_of_them}: that share their coefficients with another",
    collisions(every_hat),
    at_most=0,
    control=collisions(without_top),
    about="statement",
    evidence="exhaustive",
)
ledger.result("sharper.eq1").holds(
    f"{all_of_them}: difference of the sparsities in the two bases",
    sparsity_difference(sparsities["indicators"]),
    at_most=1,
    control=sparsity_difference(monomial_sparsity),
    about="ours",
    evidence="exhaustive",
)
ledger.result("sharper.eq1").holds(
    "indicators are a basis: rank missing, all $n$",
    rank_defect["even"],
    at_most=0,
    control=rank_defect["odd"],
    about="statement",
    evidence="proved",
)
ledger.result("sharper.eq1").holds(
    "characters are orthonormal: Gram matrix less identity, all $n$",
    off_identity["characters"],
    at_most=0,
    control=off_identity["indicators"],
    about="ours",
    evidence="proved",
)
ledger.result("sharper.eq1").holds(
    "Parseval on random functions, relative gap",
    parseval["characters"],
    at_most=0,
    tol=parseval_rounding,
    control=parseval["indicators"],
    about="ours",
    evidence="proved",
)
ledger.result("sharper.eq1").holds(
    "condition number of the indicators is $4\\lambda^2$, relative gap",
    condition_gap("indicators"),
    at_most=0,
    tol=max(slack),
    control=condition_gap("characters"),
    about="ours",
    evidence="proved",
)
ledger.result("sharper.eq1").holds(
    "$W$ indicators are $W + 1$ characters, largest difference",
    from_one_more("indicators"),
    at_most=0,
    control=from_one_more("characters"),
    about="ours",
    evidence="attained",
)

# %% [markdown]
# The sentence on normalising comes next, then the same coefficients in the basis of Eq. (1), and last why functions must be meant and not coefficients.

# %%
ledger.result("sharper.normalisation").holds(
    "in the $\\pm1$ basis functions have mean 0 and variance 1, largest error",
    from_centred("characters"),
    at_most=0,
    tol=rounding,
    control=from_centred("indicators"),
    about="remark",
    evidence="proved",
)
ledger.result("sharper.normalisation").holds(
    "in the basis of Eq. (1) they have mean $s/2$, variance $\\frac14$, largest error",
    from_half_sum("indicators"),
    at_most=0,
    tol=rounding,
    control=from_half_sum("characters"),
    about="ours",
    evidence="proved",
)
ledger.result("sharper.normalisation").holds(
    "positive coefficients of length 1 have a sum of at least 1: least; control: either sign",
    min(sums.values()),
    at_least=1,
    tol=rounding,
    control=either_sign.sum(-1).min(),
    about="ours",
    evidence="proved",
)

ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` was read: `train_utils.py` and `training.py` (commit 3e5d0f89), and the older `exp_refactor.py` and `hardcoded_transformer.py`.
#
# * Its functions are sums in the $\pm1$ basis, and the coefficients are absolute values of normal numbers divided by their Euclidean norm. So they are centred with variance 1, as the text says.
# * A bit 1 becomes $+1$ and a bit 0 becomes $-1$, so the parity of $S$ is $\prod_{i \in S} (2 b_i - 1) = (-1)^{|S|} \chi_S$. For even $|S|$ this is our character. For odd $|S|$ it has the other sign: it is $+1$ iff the number of ones is *odd*. A positive coefficient of the code is then a negative coefficient of Eq. (1). Nothing is lost, because swapping the names of the bits turns one into the other. But a hand-written network must follow: its bumps have to sit at even or odd counts, as the parity of $d$ says.
# * The text picks subsets by shuffling the list of all of them, and so do `exp_refactor.py` and `hardcoded_transformer.py`. The newer `train_utils.py`, which `training.py` uses for all classes, draws each subset by itself. A subset can then come twice. Its two coefficients add, the function has fewer than $W$ terms, and its variance is no longer 1.
#
# If $W$ subsets are drawn out of $M = \binom Td$, the expected number of distinct ones is $M \bigl(1 - (1 - \frac1M)^W\bigr)$. Every pair coincides with probability $1/M$, and then adds $2 c_i c_j$ to the variance. The direction of a normal vector is independent of its length, so $c_i c_j$ is $\frac{2}{\pi W}$ in the mean, and the variance $1 + \frac{2 (W - 1)}{\pi M}$. The next cell draws many functions in this way. The seeds in `training.py` are fixed, so the cell after it can draw that file's own eight functions of each class as well.

# %%
plus_at_one = -cube.points(n_all)  # +1 where the bit is 1
for d in range(n_all + 1):
    masks = [mask for mask in range(2**n_all) if len(cube.members(mask)) == d]
    products = [plus_at_one[:, cube.bits(n_all)[mask].bool()].prod(-1) for mask in masks]
    ratio = (torch.stack(products) * cube.characters(n_all)[masks]).unique().tolist()
    print(f"|S| = {d}: product over chi_S is " + ", ".join(f"{r:.1f}" for r in ratio))

# %%
widths = [7, 14, 20]


def drawn_one_by_one(d, W):
    """Number of distinct subsets, and variance of the function, in every draw."""
    subsets = torch.rand(draws, W, length, generator=generator).topk(d).indices
    masks = (1 << subsets).sum(-1)
    c = torch.randn(draws, W, generator=generator, dtype=torch.float64).abs()
    c /= c.norm(dim=-1, keepdim=True)
    same = (masks[:, :, None] == masks[:, None, :]).double()  # (draws, W, W)
    repeats = same.tril(-1).amax(-1).sum(-1)
    return W - repeats, torch.einsum("ri,rij,rj->r", c, same, c)


def expected(d, W):
    """Mean number of distinct subsets, chance that all are, mean variance."""
    M = math.comb(length, d)
    all_distinct = math.prod(1 - i / M for i in range(W))
    return M * (1 - (1 - 1 / M) ** W), all_distinct, 1 + 2 * (W - 1) / (math.pi * M)


met = {(d, W): drawn_one_by_one(d, W) for d in range(1, 6) for W in widths}
print("d  W   distinct  expected   all distinct  expected   variance  expected")
for (d, W), (distinct, variance) in met.items():
    mean, chance, mean_variance = expected(d, W)
    print(
        f"{d} {W:2}   {distinct.mean().item():8.4f}  {mean:8.4f}"
        f"       {(distinct == W).double().mean().item():8.4f}  {chance:8.4f}"
        f"   {variance.mean().item():8.4f}  {mean_variance:8.4f}"
    )
distinct, variance = met[1, 20]
tails = torch.tensor([0.05, 0.95], dtype=torch.float64)
glue(
    draws=draws,
    distinct_1_20=distinct.mean().item(),
    variance_1_20=variance.mean().item(),
    variance_low_1_20=variance.quantile(tails[0]).item(),
    variance_high_1_20=variance.quantile(tails[1]).item(),
    no_duplicate_2_20=100 * expected(2, 20)[1],
    repeats_3_20=100 * (1 - expected(3, 20)[1]),
)


# %%
def distinct_in_training(number, d, W):
    """Distinct subsets of the function that `training.py` draws under this number."""
    source = torch.Generator().manual_seed(int(f"{number}{d}{W}"))
    torch.randn(W, generator=source)  # the coefficients come first
    subsets = [torch.randperm(20, generator=source)[:d].tolist() for _ in range(W)]
    return len(set(map(frozenset, subsets)))


theirs = {key: [distinct_in_training(i, *key) for i in range(4, 12)] for key in met}
print("functions 4 to 11 of training.py, T = 20: number of distinct subsets")
for (d, W), counted in theirs.items():
    print(f"d = {d}, W = {W:2}: " + " ".join(f"{count:2}" for count in counted))
glue(theirs_low=min(theirs[1, 20]), theirs_high=max(theirs[1, 20]))

# %% mystnb={"figure": {"caption": "What remains of $W$ subsets that are drawn one by one. Marks: mean over the draws; bars: from the 5th to the 95th percentile; lines: the expected value. Left: the share of $W$ that is distinct. Right: the variance of the function, which is 1 if no subset repeats.", "name": "fig-duplicates"}, "image": {"alt": "Two plots against the degree from 1 to 5, with one curve each for 7, 14 and 20 subsets. Left, the share of distinct subsets starts at about two thirds for 20 subsets of degree 1 and is close to one from degree 3 on. Right, the variance starts at about 1.6 for 20 subsets of degree 1, with a wide bar, and falls to one."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=3.0)
for j, W in enumerate(widths):
    where = [d + (j - 1) * 0.12 for d in range(1, 6)]
    look = {
        "color": figures.COLOURS[j],
        "marker": figures.MARKERS[j],
        "linestyle": "none",
        "label": f"$W = {W}$",
    }
    for ax, which, scale in ((left, 0, W), (right, 1, 1)):
        values = torch.stack([met[d, W][which] for d in range(1, 6)]) / scale
        mean, (low, high) = values.mean(-1), values.quantile(tails, dim=-1)
        bars = torch.stack((mean - low, high - mean)).clamp(min=0)
        ax.errorbar(where, mean, yerr=bars, elinewidth=0.8, capsize=2, **look)
        line = [expected(d, W)[2 * which] / scale for d in range(1, 6)]
        dash = {"linestyle": figures.DASHES[j], "color": figures.COLOURS[j]}
        ax.plot(where, line, marker="", linewidth=0.9, **dash)
left.set(
    xlabel="degree $d$ (bits)",
    ylabel="distinct subsets / $W$",
    ylim=(0.5, 1.03),
    xticks=range(1, 6),
)
right.set(xlabel="degree $d$ (bits)", ylabel="variance of the function", xticks=range(1, 6))
left.legend(loc="lower right")
figures.show()

# %% [markdown]
# At $d = 1$ and $W = 20$, the mean number of distinct subsets in {glue:text}`draws` draws is {glue:text}`distinct_1_20:.2f` instead of 20. The variance of the function is {glue:text}`variance_1_20:.2f` in the mean, and lies between {glue:text}`variance_low_1_20:.2f` and {glue:text}`variance_high_1_20:.2f` in nine draws of ten. The eight functions of this class that `training.py` itself draws have between {glue:text}`theirs_low` and {glue:text}`theirs_high` terms. For $W = 20$ and $d = 2$ only {glue:text}`no_duplicate_2_20:.0f` % of the functions have the sparsity they are named after; at $d = 3$ still {glue:text}`repeats_3_20:.0f` % fall short of it. This book draws distinct subsets, as the text says.
#
# ## What we found
#
# * Both expansions hold for every function: all {glue:text}`functions` functions of {glue:text}`n_all` bits are returned exactly, and no two share their coefficients.
# * The indicators of Eq. (1) are a basis, but far from orthogonal: a condition number of {glue:text}`condition_last:.0f` at $n =$ {glue:text}`n_max`.
# * The sentence on normalising is true of the functions in the $\pm1$ basis, the one of the experiments. In the basis of Eq. (1) the same coefficients give variance $\frac14$ and a mean that is not 0.
# * With the newer generator of the code, functions of degree 1 and 2 often have fewer terms than their class is named after: about {glue:text}`distinct_1_20:.0f` instead of 20 at degree 1.
#
# In the rest of the book, $\hat f$ and *sparsity* refer to characters. Where a chapter counts in indicators, it says so.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Show that every coefficient of a function with values $\pm1$ and degree $d$ is a multiple of $2^{1-d}$. Which functions have degree 1 or less? Hint: $f = 1 - 2g$ with $g \in \{0, 1\}$, and $g$ is a polynomial of degree $d$ in the bits with whole coefficients.
# ```

# %% tags=["hide-cell"]
# In a polynomial in the bits, inclusion and exclusion gives whole coefficients to whole values.
# Each bit is (1 - x) / 2, so a product of at most d bits has coefficients that are multiples of 2^-d, and 2g of 2^(1-d).
step = 2.0 ** (1 - degrees.clamp(min=1)).double()[:, None]
whole = bool(((every_hat / step) % 1 == 0).all())
print("every coefficient is a multiple of 2^(1-d):", whole)
# At degree 1 the only multiples with squares that sum to 1 are a single +1 or -1: constants and single bits, with either sign.
print(f"degree at most 1: {int((degrees <= 1).sum())} functions, 2 + 2 n = {2 + 2 * n_all}")

# %% [markdown]
# ```{admonition} Exercise 2
# Change $f$ at the single point $(1, \dots, 1)$ by 1. By how much do the coefficients change in each basis, and by how much does $f$ change in the mean square?
# ```

# %% tags=["hide-cell"]
change = torch.zeros(2**n_max, dtype=torch.float64)
change[0] = 1.0
# Every f_hat(S) changes by 2^-n; a_S by 2^(1-n); but the constant a of the empty set by 2^(1-n) - 1.
print(f"root mean square change of f: {change.square().mean().sqrt().item():.6f}")
for name, c in (("characters", spectrum(change)), ("indicators", even_parity_coefficients(change))):
    print(f"largest change of a coefficient, {name}: {c.abs().max().item():.6f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Eq. (1) is from {cite:t}`sharper`; the expansion in characters, Parseval and the granularity of exercise 1 are treated by {cite:t}`odonnell2014`.
