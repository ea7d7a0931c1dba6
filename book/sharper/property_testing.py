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
# (ch-property-testing)=
# # Can degree and sparsity be found by queries?
#
# ```{verdict}
# From a part of the values one can often find a function's degree, the size of its largest product of signs, and come near its sparsity, the number of products. No answer is above the truth. The paper's test of the degree, as restored, flips single signs; often repeated, it finds most degrees, as the paper says. But at degree 5 on {glue:text}`T` bits our finest version would, by exact chances, be right for only {glue:text}`right_fine_five:.0f` % of the functions drawn, from {glue:text}`fine_five:.0f` % of all values. Random blocks, not in the paper, found {glue:text}`found_blocks:.0f` %, from {glue:text}`block_five:.1f` %.
# ```
# **Needs** {ref}`ch-fourier-walsh`. **Read** 20 min. **Runs in** 10 s. **Source** restored (degree), printed (sparsity, Figure 8).
#
# **Claim.** Write a function as a sum of characters, which are products of signs: its *degree* is the largest number of signs in a character, and its *sparsity* is the number of characters. Both can be bounded by asking for the values at few points, without the whole table. The test of degree that the paper describes, as restored here, never rejects a function that has the tested degree. But its answers fall below the true degree if this degree is high or the test is coarse, which the paper calls *wilting*. We repeat the paper's figure, compute how far the answers fall short and why, and try a variant whose answers stay right up to higher degrees, with the same number of repetitions for each degree. For the sparsity the answers stay near the truth in the mean, if only a small share of the energy may be left out: of 20 characters {glue:text}`lost:.1f` are missed. The test that the paper cites is about another kind of degree.
#
# ## Why one should care
#
# The bounds of the paper depend on the degree and the sparsity of the function that a transformer has learned. For a function of 20 bits both could be read off its Walsh transform. But this transform needs all values of the function, which are more than a million, and for a few dozen bits their number is out of reach. If one could find the degree by asking for the values at a few points, the bounds could be used for networks whose function is unknown.
#
# One would expect that a few points cannot reveal a property of the whole function, and in the worst case this is true. But all functions of low degree obey a certain rule, which a sparse function of high degree violates at many inputs. So a test at random inputs has a good chance to detect the violation. How good is this chance, and does it depend on the length of the strings?
#
# ## Four bits by hand
#
# Take the function $f(x) = x_1 x_2$ on strings of four signs. Its degree is 2. How could we see, from a few values, that its degree is not 1?
#
# A function of degree 1 is a constant plus terms with one sign each, so flipping one sign changes it by an amount that does not depend on the other signs. Therefore, if we flip sign $i$, or sign $j$, or both, the alternating sum
#
# $$f(x) - f(x^{i}) - f(x^{j}) + f(x^{ij})$$
#
# is 0, where $x^i$ is $x$ with sign $i$ flipped. We ask for the four values and compute the sum.
#
# * **The signs 1 and 2.** The four values at $x = (1, 1, 1, 1)$ are $1, -1, -1, 1$, and the alternating sum is 4. So $f$ is not of degree 1.
# * **The signs 1 and 3.** The values are $1, -1, 1, -1$, and the sum is $1 + 1 - 1 - 1 = 0$. So this pair does not show that the degree is above 1.
#
# Only one pair of six detects the degree. With 20 signs it is one pair of 190, so a test that flips two random signs has to be repeated several hundred times. Now flip *blocks* instead: put every sign at random into a block $V_1$, a block $V_2$, or neither. The alternating sum is not 0 if one of the signs 1 and 2 is in the first block and the other in the second. The chance of this is $2 \cdot \frac13 \cdot \frac13 = \frac29$, and it is the same for 4 signs, for 20, and for a thousand.
#
# Finally, let us test whether $f$ has degree 2. This takes three signs or three disjoint blocks, and the sum is not 0 only if each of them contains one of the signs 1 and 2. Two signs cannot be in three disjoint blocks, so $f$ is never rejected at its own degree. This is why the answer can be too small, but never too large.
#
# ## The two tests
#
# A function $f : \{-1,1\}^T \to \mathbb R$ is given by an *oracle*: one may ask for $f(x)$ at any $x$, but nothing else is known. It is a sum $f = \sum_U \hat f(U)\, \chi_U$ of characters $\chi_U(x) = \prod_{i \in U} x_i$. The *degree* $d$ is the size of the largest $U$ with $\hat f(U) \ne 0$, the *sparsity* $W$ the number of such $U$. Write $x^V$ for $x$ with the signs of the coordinates in $V$ flipped.
#
# ```{prf:algorithm} Lintilhac and Shaikh (2026), Appendix H (degree), as restored
# :label: sharper-appH-degree
# To test degree $k$, let $m = k + 1$ and repeat the following $R$ times.
#
# 1. Pick a random $x$ and $m$ random disjoint sets $V_1, \dots, V_m$, the *directions*.
# 2. For $A \subseteq [m]$ let $V_A$ be the union of the $V_j$ with $j \in A$. The $2^m$ points $x^{V_A}$ form a *subcube*. The values of $f$ at all of them but one determine a polynomial of degree at most $k$ in the $m$ indicator bits of $A$.
# 3. Reject if the value of the polynomial at the last point is not that of $f$.
#
# Increase $k$ from 0 on (the paper may begin with 1) and return the first degree that is never rejected.
# ```
#
# ```{prf:algorithm} Lintilhac and Shaikh (2026), Appendix H (sparsity)
# :label: sharper-appH-sparsity
# To test sparsity $s$, repeat the following $R$ times.
#
# 1. Fix all but $\ell$ random coordinates to random values, and take the Walsh transform of the restricted function.
# 2. Reject if more than a share $\varepsilon$ of its energy, the sum of its squared coefficients, lies outside its $s$ largest coefficients. (The threshold is missing in the text that we could read. The authors' program rejects above $\frac\varepsilon2$ of the whole energy, which is a share, too. If the energy itself is compared with a threshold, the answers for functions of energy 1 hardly differ.)
#
# Increase $s$ and return the first sparsity that is never rejected.
# ```
#
# It is open which disjoint sets the paper takes. In the tables *coordinates* means that the $V_j$ are $m$ different random coordinates. *Blocks*, which the paper does not mention, means that every coordinate joins one of $V_1, \dots, V_m$ or none, with equal chances.

# %% tags=["parameters"]
T = 20  # string length, in bits: the paper's [20..24]
functions = 8  # random functions in each class [4..32]
eps = 0.02  # chance of one subcube that is not to be missed [0.015..0.025]
eps_coarse = 0.1  # the same, for the comparison [0.1..0.2]
delta = 0.05  # chance of missing it all the same [0.02..0.1]
free = 14  # free coordinates of a restriction [14..16]
tail = 0.001  # share of the energy that may lie outside [0.0001..0.001]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from itertools import combinations

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.kernels.parity import popcount
from helpers.kernels.walsh import walsh_hadamard
from helpers.rng import Rng, f64
from papers.sharper import testers
from papers.sharper.subcubes import block_directions, oracle_signed_sums, vertices

ledger, rng = Ledger("sharper/property_testing"), Rng(seed)
test_degree = ledger.result("sharper.appH_degree")
test_sparsity = ledger.result("sharper.appH_sparsity")
fig8_degree, fig8_sparsity = map(ledger.result, ("sharper.fig8.degree", "sharper.fig8.sparsity"))
fig8_wilting = ledger.result("sharper.fig8.wilting")
degrees, sparsities = (1, 2, 3, 4, 5), (1, 7, 14, 20)
coarse_free, coarse_tail = 8, 0.1
R = testers.degree_repetitions(eps, delta)
glue(R=R, T=T, eps=eps)

# %% [markdown]
# ## Figure 8 again
#
# The paper draws 8 random functions in each of 20 classes (degrees 1 to 5, sparsities 1, 7, 14 and 20) at $T = 20$, and applies the tests. We do the same, with both kinds of directions on the same functions. For the sparsity we make the share $\varepsilon$ larger, once with the same number of free coordinates and once with fewer.
#
# *$\varepsilon$ has two meanings.* In the test of the sparsity it is the share of the energy that may lie outside. In the test of the degree our $\varepsilon$ is a chance: the test is made for violations that a single subcube detects with chance $\varepsilon$ or more. For each degree we take $R = \lceil \ln(1/\delta) / \varepsilon \rceil$ subcubes, so that all of them miss such a violation with a chance of at most $\delta$, which is 0.05 unless the parameter `delta` is changed. So a smaller $\varepsilon$ means more subcubes and a *finer* test, and a larger one a *coarser* test. The tests are named by their $\varepsilon$ in figure and table.
#
# As in the paper, all sets of a function have exactly $d$ elements. The paper's figure would not be reproduced if the mean answer did not fall with the larger $\varepsilon$. An answer above the truth would refute the claim that nothing true is rejected.

# %% mystnb={"code_prompt_hide": "160 functions, nine sweeps", "code_prompt_show": "160 functions, nine sweeps"} tags=["hide-input"]
classes = [(d, W) for d in degrees for W in sparsities for _ in range(functions)]
drawn = [cube.sparse_function(T, d, W, rng.generator) for d, W in classes]
DEGREES = {
    "coordinates": {"directions": "coordinates", "eps": eps},
    "coordinates, coarse": {"directions": "coordinates", "eps": eps_coarse},
    "coordinates, again": {"directions": "coordinates", "eps": eps},
    "blocks": {"directions": "blocks", "eps": eps},
    "blocks, coarse": {"directions": "blocks", "eps": eps_coarse},
}
SPARSITIES = {
    "sparsity": {"free": free, "eps": tail},
    "sparsity, coarse": {"free": coarse_free, "eps": coarse_tail},
    "sparsity, larger share": {"free": free, "eps": coarse_tail},
    "sparsity, again": {"free": free, "eps": tail},
}
common = {"generator": rng.generator, "delta": delta}
found, asked = pd.DataFrame(classes, columns=["d", "W"]), {}
for sweep, options in (DEGREES | SPARSITIES).items():
    test = testers.first_accepted_degree if sweep in DEGREES else testers.first_accepted_sparsity
    runs = [test(f, T, **options, **common) for f in drawn]
    found[sweep] = [run.accepted for run in runs]
    asked[sweep] = sum(run.queries for run in runs) / len(runs)
    if sweep == "blocks":
        block_queries = f64([run.queries for run in runs])


# %% mystnb={"code_prompt_hide": "The exact chances along coordinates", "code_prompt_show": "The exact chances along coordinates"} tags=["hide-input"]
def first_levels(f, repetitions):
    """Chance of each first accepted degree along coordinates, 0 to 5, exact."""
    chances, reached = [0.0] * 6, 1.0
    for k in range(f.degree + 1):
        inside = {c for U in f.sets for c in combinations(U, k + 1)}
        accept = (1 - len(inside) / math.comb(T, k + 1)) ** repetitions
        chances[k] = reached * accept
        reached *= 1 - accept
    return f64(chances)


levels, exact, variance, right = torch.arange(6).double(), found[["d"]].copy(), {}, {}
fives = [i for i, f in enumerate(drawn) if f.degree == 5]
for name, size in (("exact", eps), ("exact, coarse", eps_coarse), ("exact, fine", eps / 10)):
    repetitions = testers.degree_repetitions(size, delta)
    chances = torch.stack([first_levels(f, repetitions) for f in drawn])
    exact[name] = (chances @ levels).tolist()
    variance[name] = (chances @ levels**2 - (chances @ levels) ** 2).sum().item()
    right[name] = sum(c[f.degree].item() for c, f in zip(chances, drawn, strict=True)) / len(drawn)
# of the finest: all points of all levels up to the one accepted; one level less is a broken test
fine_queries = chances @ (repetitions * (2 ** (levels + 2) - 2))
one_less = sum(c[f.degree - 1].item() for c, f in zip(chances, drawn, strict=True)) / len(drawn)


def distance(observed, name):
    """Of the observed mean from the exact one, in its exact standard errors."""
    return abs(found[observed].sum() - exact[name].sum()) / variance[name] ** 0.5


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Figure 8 of the paper, repeated: mean first accepted degree over all sparsities and functions (left) and mean first accepted sparsity over all degrees and functions (right), against the truth. Bars are one standard deviation over functions, as in the paper. Black crosses: the exact means along coordinates, for the two values of $\\varepsilon$.", "name": "fig-first-accepted"}, "image": {"alt": "Left: blocks follow the diagonal from 1 to 5; coordinates leave it from degree 2 on and reach between 3 and 4 at degree 5, those with the larger chance about 3; the exact means lie on both curves. Right: with 14 free coordinates and the small share the answers follow the diagonal closely and end at about 17 for 20; with the larger share they bend down and end at about 9, and with 8 free coordinates as well at between 7 and 8."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.0)
fine, rough = f"{free} free, {tail}", f"{coarse_free} free, {coarse_tail}"
looks = {"coordinates": f"coordinates, {eps}", "blocks": f"blocks, {eps}"}
looks |= {"coordinates, coarse": f"coordinates, {eps_coarse}"}
columns = {"sparsity": fine, "sparsity, larger share": f"{free} free, {coarse_tail}"}
columns |= {"sparsity, coarse": rough}
shown = (("d", looks), ("W", columns))
for ax, (level, sweeps) in zip(axes, shown, strict=True):
    for i, (sweep, label) in enumerate(sweeps.items()):
        by_level = found.groupby(level)[sweep]
        at = by_level.mean().index + (0.08 if level == "d" else 0.3) * (i - 1)
        ax.errorbar(
            at, by_level.mean(), by_level.std(), **figures.series_style(i, capsize=2, label=label)
        )
    top = found[level].max() + 0.5
    ax.plot((0.5, top), (0.5, top), color=figures.GREY, marker="", linewidth=1, linestyle="-")
    figures.ticks(ax, sorted(found[level].unique()))
    ax.legend(loc="upper left", fontsize=7.5)
axes[0].set(xlabel="degree $d$", ylabel="first accepted degree")
axes[1].set(xlabel="sparsity $W$", ylabel="first accepted sparsity")
for name, aside in (("exact", -0.08), ("exact, coarse", 0.08)):  # each on its curve
    at = exact.groupby("d")[name].mean()
    axes[0].plot(at.index + aside, at, "x", color="black", linestyle="none", markersize=5, zorder=5)
figures.show()

# %%
by_degree = found.groupby("d")[list(DEGREES)].mean()
by_degree = by_degree.join(exact.groupby("d").mean())
NAMES = {
    "coordinates": f"coordinates, {eps:g}",
    "coordinates, again": f"coordinates, {eps:g}, drawn again",
    "exact": f"coordinates, {eps:g}, exact",
    "coordinates, coarse": f"coordinates, {eps_coarse:g}",
    "exact, coarse": f"coordinates, {eps_coarse:g}, exact",
    "exact, fine": f"coordinates, {eps / 10:g}, exact",
    "blocks": f"blocks, {eps:g}",
    "blocks, coarse": f"blocks, {eps_coarse:g}",
}
shown = by_degree[list(NAMES)].rename(columns=NAMES).T.add_prefix("d = ").rename_axis("test")
table(shown, "Mean first accepted degree, all sparsities together", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks, and numbers of queries", "code_prompt_show": "Checks, and numbers of queries"} tags=["hide-cell"]
fig8_degree.reproduced(
    f"along coordinates at $\\varepsilon = {eps / 10:g}$: expected share of functions whose "
    "degree is found; control: one direction too few",
    right["exact, fine"],
    at_least=0.5,
    control=one_less,
    about="experiment",
    evidence="sampled",
)
error = (variance["exact"] + variance["exact, coarse"]) ** 0.5 / len(drawn)
fig8_wilting.reproduced(
    "along coordinates: fall of the mean first accepted degree with the larger "
    "$\\varepsilon$, in standard errors; control: the same $\\varepsilon$ twice",
    (found["coordinates"] - found["coordinates, coarse"]).mean() / error,
    at_least=3,
    control=(found["coordinates"] - found["coordinates, again"]).mean() / error,
    about="experiment",
    evidence="sampled",
)
fig8_wilting.holds(
    "the fall is that of the exact probabilities: larger of two distances, in standard "
    "errors; control: directions along blocks",
    max(distance("coordinates", "exact"), distance("coordinates, coarse", "exact, coarse")),
    at_most=4,
    control=distance("blocks", "exact"),
    about="ours",
    evidence="sampled",
)
lower, same = (
    found["sparsity"] - found[f"sparsity, {other}"] for other in ("larger share", "again")
)
fig8_wilting.reproduced(
    f"sparsity, {free} coordinates free: fall of the mean first accepted sparsity with the "
    "larger $\\varepsilon$, in standard errors of the difference; control: the same "
    "$\\varepsilon$ twice",
    lower.mean() / lower.sem(),
    at_least=3,
    control=same.mean() / same.sem(),
    about="experiment",
    evidence="sampled",
)
names = NAMES | {sweep: f"sparsity, {name}" for sweep, name in columns.items()}
names |= {"sparsity, again": f"sparsity, {fine}, drawn again"}
asked_by_name = {names[sweep]: count for sweep, count in asked.items()}
table(asked_by_name, "Mean number of queries for a function", form=",.0f")
at_five = found[found["d"] == 5]
glue(found_blocks=100 * (at_five["blocks"] == 5).mean())
glue(found_coordinates=100 * (at_five["coordinates"] == 5).mean())
glue(below=100 * (found["coordinates"] < found["d"]).mean(), eps_fine=eps / 10)
glue(below_exact=100 - 100 * right["exact"])
glue(right_fine=100 * right["exact, fine"], fine_share=100 * fine_queries.mean().item() / 2**T)
glue(right_fine_five=100 * chances[fives, 5].mean().item())
glue(fine_five=100 * fine_queries[fives].mean().item() / 2**T)
glue(block_five=100 * block_queries[fives].mean().item() / 2**T)
glue(block_share=100 * asked["blocks"] / 2**T, right_eps=100 * right["exact"])

# %% [markdown]
# We read the left panel of {numref}`fig-first-accepted` first; the right one is read in the section on the test of the sparsity. The answers along coordinates fall below the diagonal as the degree grows, and they do so earlier for the larger $\varepsilon$. For example, at degree 5 their means are 3.5 for the smaller $\varepsilon$ and 2.9 for the larger one. Along blocks, with the smaller $\varepsilon$, the degree is found up to degree 5, from the same number of subcubes for each degree.
#
# How far the answers along coordinates *must* fall can be computed. We call the test of degree $k$ *level* $k$, and let $U_i$ be the sets of the function.
#
# * *One subcube.* At level $k$ a subcube along $m = k + 1$ coordinates rejects if and only if all $m$ coordinates lie inside one of the sets $U_i$. (If they lie inside several sets, the terms could cancel, but with random coefficients they do not.)
# * *Its chance to reject* is $p_k$, the number of different $m$-sets inside the $U_i$, divided by the number $\binom Tm$ of all $m$-sets. In the example by hand one pair of six lies inside $\{1, 2\}$, so $p_1 = \frac16$.
# * *All $R$ subcubes.* Level $k$ is accepted if none of them rejects, which has the chance $(1 - p_k)^R$.
#
# The crosses in the figure are the exact means that follow from these chances, and the answers agree with them up to sampling error: over all functions together, the means for the two values of $\varepsilon$ are less than one standard error from the exact ones. The table also has the answers of a second draw of subcubes, which agree with the exact means, too.
#
# How often is the degree found, and from how many values? In the next table *exact* refers to the exact chances, and *found* to our run. Values asked for are in percent of the whole table, in the mean over the functions.
#
# | test | degree is right, all functions | degree is right, degree 5 | values, all functions | values, degree 5 |
# |:--|:--|:--|:--|:--|
# | coordinates, $\varepsilon =$ {glue:text}`eps:g` | {glue:text}`right_eps:.0f` % (exact) | {glue:text}`found_coordinates:.0f` % (found) | | |
# | coordinates, $\varepsilon =$ {glue:text}`eps_fine:g` | {glue:text}`right_fine:.0f` % (exact) | {glue:text}`right_fine_five:.0f` % (exact) | {glue:text}`fine_share:.1f` % | {glue:text}`fine_five:.1f` % |
# | blocks, $\varepsilon =$ {glue:text}`eps:g` | | {glue:text}`found_blocks:.0f` % (found) | {glue:text}`block_share:.1f` % | {glue:text}`block_five:.1f` % |
#
# The first and the last test have {glue:text}`R` subcubes for each level. Blocks do best: they find the degree of more functions at degree 5, and ask for fewer values than the finer test along coordinates. (They ask for more than the first test, 0.6 % of the values against 0.4 % over all functions, because they go on to higher levels.) The values of that finer test are counted as if no two of its points coincided.
#
# ## Why nothing true is rejected
#
# We now prove, for all functions, what the example showed for one. The idea is that a character can make a subcube reject only if it has an element in every direction, and a character of at most $k$ elements cannot have one in each of $k + 1$ disjoint directions. With $m = k + 1$, a subcube rejects if and only if the following signed sum over its points is not 0:
#
# ```{math}
# :label: eq-signed-sum
# s = 2^{-m} \sum_{A \subseteq [m]} (-1)^{|A|} f\bigl(x^{V_A}\bigr)
#   = \sum_{U :\ |U \cap V_j| \text{ odd for all } j} \hat f(U)\, \chi_U(x) .
# ```
#
# The second equality says that only those sets $U$ remain in the sum that have an odd number of elements in every direction. To see this, take one character at a time. Flipping $V_j$ multiplies $\chi_U$ by $(-1)^{|U \cap V_j|}$. So for $f = \chi_U$ the sum over $A$ is $\chi_U(x)$ times the product of the factors $1 - (-1)^{|U \cap V_j|}$ over all $j$. Each factor is 2 if $|U \cap V_j|$ is odd and 0 if it is even, and $2^{-m}$ cancels the twos. Since the $V_j$ are **disjoint**, a set $U$ that remains has a different element in each of them, so it has at least $m = k + 1$ elements. A function of degree $k$ has no such set, and is therefore never rejected.
#
# **What is restored.** In the first test the paper selects a number of points, and takes "the unique degree [...] polynomial" through any subset of some size. Both numbers are missing in the text that we could read, and so is the choice of points. Our choice, the points of a subcube, is one of three readings that we see. The values of the parameters are missing too; ours are stated where they are used. In particular, the paper's proximity parameter is a distance from the functions that have the degree, and its formula for the number of repetitions is missing. Our $\varepsilon$ is instead the chance that one subcube detects a violation.
#
# ```{admonition} The two other readings
# :class: dropdown
#
# * *Points along a path.* One could take $d + 2$ points along a path that flips one coordinate after another, since over large fields low degree is tested along lines. This reading fails. For example, the function $x_1$ has the values $1, 1, -1$ on the path that flips $x_2$ and then $x_1$, and these values are not a polynomial of degree 1 in the number of flips.
# * *Arbitrary points.* One could take random points, one more than a polynomial of degree $k$ has coefficients, put the polynomial through all of them but one, and reject if it is wrong at the last. This reading does not reject a function of degree $k$ either, but it needs {glue:text}`third_points` points at once for degree 5. And a single trial detects most violations: of random points at 10 bits that determine a polynomial of degree 2, {glue:text}`third_share:.0f` % reject a character of degree 3. With a few repetitions nearly every degree would be found, so this reading does not explain why the paper's answers fall short.
# ```
#
# %% mystnb={"code_prompt_hide": "The third reading", "code_prompt_show": "The third reading"} tags=["hide-cell"]
monomials = [list(c) for k in range(3) for c in combinations(range(10), k)]
points = 1 - 2 * torch.randint(
    0, 2, (400, len(monomials) + 1, 10), generator=Rng(seed + 2).generator
)
points = points.double()
V = torch.stack([points[..., c].prod(-1) for c in monomials], -1)
V, y = (
    v[torch.linalg.matrix_rank(V[:, :-1]) == len(monomials)] for v in (V, points[..., :3].prod(-1))
)
missed = (V[:, -1] * torch.linalg.solve(V[:, :-1], y[:, :-1])).sum(-1) - y[:, -1]
glue(third_share=100 * (missed.abs() > 1e-6).double().mean().item())
glue(third_points=1 + sum(math.comb(T, k) for k in range(6)))

# %% [markdown]
# ## Why blocks see more
#
# Take one character, $f = \chi_U$ with $|U| = m$, and test it at degree $m - 1$. The subcube rejects only if all of $V_1, \dots, V_m$ contain an odd number of elements of $U$, so each contains exactly one.
#
# * *Coordinates* must be exactly the elements of $U$, and the chance of this is $1 / \binom Tm$. It vanishes quickly as the strings become longer.
# * *Blocks.* Each of the $m$ elements of $U$ chooses among $m$ blocks and none, and they must join $m$ different blocks. This happens in $m!$ of $(m+1)^m$ cases, so the chance does not depend on $T$ at all.
#
# That tests with this property exist is known: {cite:t}`srinivasan2018` test the degree of functions on $\{0,1\}^n$ over every field, so also over the real numbers, with a number of questions that depends on the degree only. Random blocks are also used to test whether a function has few relevant variables {cite:p}`fischer2004`.

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-cell"]
glue(single=math.comb(T, 5), ratio_5=math.comb(T, 5) * math.factorial(5) / 6**5)

# %% [markdown]
# At degree 5 one subcube along coordinates detects the character with a chance of one in {glue:text}`single`. A subcube along blocks detects it {glue:text}`ratio_5:.0f` times as often.
#
# ## The cited test is for another degree
#
# The paper takes its test from {cite:t}`alon2003`, and says that the proof still works for real values. That test is about polynomials over $GF(2)$, the field of two elements. A function with values $\pm1$ is $(-1)^{g}$ with a polynomial $g$ in the bits modulo 2, and the test bounds the degree of $g$. Its directions are $m$ arbitrary random sets, which overlap, and its sum is an exclusive or. The two degrees have little in common: $\mathrm{PARITY}$ is $(-1)^{b_1 + \dots + b_T}$ with bits $b_i$, so $g$ has degree 1, whereas the only character of PARITY is the one of highest degree.
#
# What happens if the cited test is taken literally? We try it in two ways.
#
# * *Sums modulo 2.* We run it on PARITY, whose Fourier degree is the number of bits, so that a test of the Fourier degree would have to reject degree 1. One trial is one random point with two arbitrary directions.
# * *Real sums.* We take its *arbitrary* directions with the real sums of {eq}`eq-signed-sum`, on functions with three disjoint sets of $d$ elements, at their own degree $d$. A test that never rejects a true degree would have 0 in the column of rejections.
#
# In the second case rejections are expected. Since the directions overlap, one element of a set can lie in all of them, so that this set remains in the sum. A given set has an odd number of elements in all $d + 1$ directions with chance $2^{-(d+1)}$. The three disjoint sets are independent, so at least one of them remains with chance $1 - (1 - 2^{-(d+1)})^3$, and then the test rejects.


# %%
def any_directions(n, m, count, generator):
    return torch.randint(0, 1 << n, (count, m), generator=generator)


def rejected(f, maker, k, count):
    """Share of subcubes with a signed sum that is not 0, at degree k."""
    bases = torch.randint(0, 1 << T, (count,), generator=rng.generator)
    sums = oracle_signed_sums(f, bases, maker(T, k + 1, count, rng.generator)).sums
    return (sums.abs() > 1e-9).double().mean().item()


# %%
tries, rows = 20_000, []
for d in degrees:
    masks = torch.tensor([(2**d - 1) << (i * d) for i in range(3)])
    f = cube.SparseFunction(T, masks, f64([0.6, 0.5, 0.4]))
    row = {"d": d, "blocks": rejected(f, block_directions, d, tries)}
    row |= {"arbitrary": rejected(f, any_directions, d, tries)}
    rows.append(row | {"exact": 1 - (1 - 2.0 ** -(d + 1)) ** 3})
own = pd.DataFrame(rows)
table(own, "Share that reject three disjoint sets of d elements, at degree d", form=".4f")

# %% mystnb={"code_prompt_hide": "The test over GF(2), and checks", "code_prompt_show": "The test over GF(2), and checks"} tags=["hide-cell"]
PARITY = cube.SparseFunction(T, torch.tensor([2**T - 1]), f64([1.0]))
bases = torch.randint(0, 1 << T, (tries,), generator=rng.generator)
corners = vertices(bases, any_directions(T, 2, tries, rng.generator))
over_gf2 = (popcount(corners).sum(1) % 2).double().mean().item()  # an odd sum rejects degree 1
test_degree.holds(
    f"the test that is cited, over $GF(2)$: share of {tries} trials that reject PARITY of "
    f"{T} bits at degree 1; control: real sums, directions along blocks",
    over_gf2,
    at_most=0,
    control=rejected(PARITY, block_directions, 1, tries),
    about="ours",
    evidence="attained",
)
test_degree.holds(
    "arbitrary directions with real sums: largest share of trials that reject a function of "
    "degree $d$ at $d$; control: directions along blocks",
    own["arbitrary"].max(),
    at_least=0.01,
    control=own["blocks"].max(),
    about="ours",
    evidence="attained",
)
arbitrary_accepts = next(k for k in range(T) if rejected(drawn[0], any_directions, k, R) == 0)
test_degree.holds(
    "disjoint directions: largest amount by which an accepted degree exceeds the true one; "
    "control: arbitrary directions at degree 1",
    found[list(DEGREES)].sub(found["d"], axis=0).max().max(),
    at_most=0,
    control=arbitrary_accepts - 1,
    about="statement",
    evidence="proved",
)
glue(accepted=round(tries * (1 - over_gf2)), tries=tries, mixed_first=own["arbitrary"].iloc[0])
glue(mixed_exact=own["exact"].iloc[0])

# %% [markdown]
# The cited test accepts degree 1 for a function of Fourier degree {glue:text}`T`, in {glue:text}`accepted` of {glue:text}`tries` trials, because for $g = b_1 + \dots + b_T$ every sum over four such points is even. With real sums and arbitrary directions it rejects functions of degree 1 at level 1, in a share of {glue:text}`mixed_first:.3f` of all trials. But the paper's own description of its test is right if the directions are disjoint, and then its sentence that the proof carries over to real values is right as well.
#
# ## Sparsity by restriction
#
# The second test is about the number of characters. If all coordinates but those of a set $J$ are fixed, $\chi_U$ becomes $\pm\chi_{U \cap J}$. Two sets that have the same elements in $J$ merge into one character, so a restricted function has at most as many characters as $f$, and again nothing true is ever rejected. But two effects lower the answer: sets that merge are counted once, and coefficients that together hold less than $\varepsilon$ of the energy are not counted.
#
# Here we take $R = \lceil \log_2 (1/\delta) \rceil$ restrictions, not the number $R$ of the test of the degree. If a single restriction detects a violation with chance $\frac12$, all of them miss it with a chance of at most $\delta$. Whether the chance is so large depends on the function, and is not proved here.
#
# The test that the paper cites for this, that of {cite:t}`gopalan2011`, is for Boolean functions and sorts the characters into random cosets of a subspace, so that every two of them merge with the same small chance. A restriction to random coordinates is another way of sorting, in which sets of few elements merge much more often. In neither can merging raise the number of characters, so with exact energies, as here, a true sparsity is never rejected. In the cited test the energies are estimated from samples.

# %%
indicators = [cube.sparse_function(T, d, 1, rng.generator, basis="even_parity") for d in degrees]
runs = [testers.first_accepted_sparsity(f, T, free=free, eps=tail, **common) for f in indicators]
widths = found.groupby("W")[list(SPARSITIES)]
table(
    widths.mean()[list(columns)].rename(columns=columns), "Mean first accepted sparsity", form=".3f"
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
at_twenty, own = widths.mean().loc[20], Rng(seed + 1).generator
head = [  # a broken test: it accepts if a share of the energy lies inside the s largest
    testers.first_accepted_sparsity(f, T, free=free, eps=1 - tail, delta=delta, generator=own)
    for f in drawn
    if f.sparsity == 20
]
points = torch.randint(0, 1 << T, (1 << coarse_free,), generator=own)  # a broken test: no subcube
energies = walsh_hadamard(drawn[0](points)).square().sort(descending=True).values
scattered = int((energies.cumsum(0) < (1 - tail) * energies.sum()).sum()) + 1
test_sparsity.holds(
    "largest amount by which an accepted sparsity exceeds the true one; control: random "
    "points in place of a subcube",
    found[list(SPARSITIES)].sub(found["W"], axis=0).max().max(),
    at_most=0,
    control=scattered - drawn[0].sparsity,
    about="statement",
    evidence="proved",
)
fig8_sparsity.reproduced(
    "mean first accepted sparsity over the degrees, in units of the true 20; control: "
    "energy inside and outside exchanged",
    at_twenty["sparsity"] / 20,
    at_least=0.8,
    control=sum(run.accepted for run in head) / len(head) / 20,
    about="experiment",
    evidence="sampled",
)
glue(indicator=max(run.accepted for run in runs))
glue(lost=20 - at_twenty["sparsity"], lost_share=20 - at_twenty["sparsity, larger share"])
glue(questions=f"{asked['sparsity']:.0f}", all_points=2**T)

# %% [markdown]
# In the right panel of {numref}`fig-first-accepted`, and in the table, the answers with the small share stay near the truth, and those with the larger share fall far below it. We call the answers *close to the truth* if they are at least four fifths of the sparsity in the mean over the degrees, and with the small share they are.
#
# * *Small share.* Of the 20 characters {glue:text}`lost:.2f` are not counted on average, because some sets merge and some coefficients are too small.
# * *Larger share, same number of free coordinates.* Here {glue:text}`lost_share:.1f` are not counted, so the answers fall short mostly because of $\varepsilon$.
# * *The unfavourable class* is that of degree 1: the fixed coordinates all become constants, so that with 14 of 20 coordinates free at most 15 of 20 characters can be counted, however small the share is. The mean over the degrees hides this.
# * *The saving* is modest at this length: with the small share the test asks for {glue:text}`questions` values of a function on average, and the whole table has {glue:text}`all_points` entries.
#
# The answer depends on the basis, too. The theorems of the paper count a sparsity in even-parity indicators $p_U = (1 + \chi_U)/2$, whereas the transform counts characters. Every indicator contains the constant character, so a sum of $W$ indicators has $W + 1$ characters. For a single indicator the test therefore answers {glue:text}`indicator`, where the theorems count 1. So one has to subtract 1 from the answer to be sure that it is not larger than the sparsity of the theorems.
#
# ## What would falsify this
#
# One answer above the truth would refute our claims on both tests, and such answers do occur in the controls. If the answers for the sparsity were below four fifths of the truth in the mean, Figure 8 would not be reproduced. If the reasoning about $U \cap V_j$ were wrong, the answers along coordinates would be far from their exact means, as the answers along blocks are.
#
# ```{admonition} The controls
# :class: dropdown
#
# * *Nothing true is rejected.* For the degree the control takes arbitrary directions, and for the sparsity it takes random points in place of a subcube.
# * *The sparsity is close to the truth.* In the control the test accepts $s$ if a share $\varepsilon$ of the energy lies *inside* the $s$ largest coefficients, where it should accept if at most this share lies outside. Its answers are far from the truth.
# * *The share of degrees that are found.* The control is a wrong test with one direction too few, whose answer is right only where that of the correct test is one too small.
# ```

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# In a copy of the repository `paullintilhac/boolean_function_sensitivity`, with 174 commits on 14 branches, we searched every version of every Python file and notebook. We found a test of the sparsity, and none of the degree.
#
# * **The test of the sparsity** is in `exp_refactor.py` on the branch `plots`, from commit 5d6b296 of May 2025 on. As in the algorithm above, it fixes all but some random coordinates and transforms. It rejects if the energy outside the $k$ largest coefficients is more than $\frac\varepsilon2$ of the whole energy, where our test has $\varepsilon$. The number of free coordinates is $\lceil \log_2(4k/\varepsilon) \rceil$, but at most 12, and the number of restrictions is $\lceil \ln(1/\delta) \rceil$. The program calls the test once for a network that it has trained, with $k = 2$ and $\varepsilon = \delta = 0.01$, that is, with 10 free coordinates and 5 restrictions. It does not sweep over sparsities as for Figure 8, and whether the figure was made with this function we do not know. With at most 12 free coordinates no more than 13 characters of degree 1 can be counted. A second test, by hash buckets, is commented out in the file.
# * **The test of the degree.** The appendix's own words are the only source, so we cannot say which points were drawn for the paper's figure. Subcubes along coordinates fit its description, and their answers fall short as well.
#
# The function `rboolf` in `utils.py` (commit 5c953ce1, which is not in that copy) draws each set of a function by itself, so a set can come twice, whereas our sets are distinct. In the file with the test of the sparsity they are distinct, too.
#
# ## What we found
#
# * Along disjoint directions no run accepts a degree above the truth. How far the answers along coordinates fall short is explained, up to sampling error, by the chance that $m$ random coordinates lie in one set of the function, which is $1/\binom Tm$ for a set of $m$ elements.
# * Along coordinates the finest test, with $\varepsilon =$ {glue:text}`eps_fine:g`, finds most degrees, but only {glue:text}`right_fine_five:.0f` % of those of degree 5, by its exact chances. Random blocks detect a character of degree 5 {glue:text}`ratio_5:.0f` times as often as coordinates. At high degrees the answers along blocks become too small as well, because the chance decreases by a factor of about $e$ with each degree.
# * Since neither test ever answers with more than the truth, its answer is an upper bound only if it is the truth itself. Along coordinates, at $\varepsilon =$ {glue:text}`eps:g`, the answer was too small for {glue:text}`below:.0f` % of the functions in our draw (by the exact chances for {glue:text}`below_exact:.0f` %). A generalization bound that is computed from a degree below the true one is not proved.
# * The cited test is for the degree over $GF(2)$, and accepts degree 1 for PARITY of {glue:text}`T` bits. With disjoint directions, which the paper's description allows, its proof carries over to real values, as the paper says. With the overlapping directions of the cited test it does not, because one element of a set can then lie in several of them: a function of degree 1 with three characters is rejected at degree 1 in a share {glue:text}`mixed_first:.3f` of all trials (exact: {glue:text}`mixed_exact:.3f`).
# * The test of the sparsity counts characters. A sum of $W$ even-parity indicators, which is how the theorems count, has $W + 1$ of them.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-testing-degree-one
#
# *By hand.* We want to distinguish a single character of degree 1 from a constant with error at most $\delta = 0.05$. How many subcubes are enough at $T = 20$ for coordinates, and how many at any length for blocks?
# ```
#
# ```{solution} ex-testing-degree-one
# :class: dropdown
#
# One subcube detects the character with chance $\frac1{20}$ along coordinates and $\frac12$ along blocks. If we take $R = \ln(1/\delta)$ divided by this chance, 60 and 6 subcubes are enough. (The exact chances of a miss, $(1 - \frac1{20})^R$ and $2^{-R}$, are at most $\delta$ from $R = 59$ and $R = 5$ on.)
# ```
#
# ```{exercise}
# :label: ex-testing-chances
#
# *With the computer.* First run the chapter with four times as many functions, by `python -m bookkit.run sharper/property_testing -p functions 32 --out my_run`. Do the crosses in the figure move, and do the bars become shorter? Then measure the chances of the section on blocks. For one character of degree $m = 1, \dots, 7$ on 20 bits, draw 20 000 block subcubes at degree $m - 1$. Compare the share of them that detect the character with $m!/(m+1)^m$ and with $1 / \binom{20}m$. At which degree do blocks need more than 1000 subcubes for $\delta = 0.05$ ?
# ```
#
# ```{solution-start} ex-testing-chances
# :class: dropdown
# ```
#
# The function `rejected` of this page returns the share of subcubes that detect the character.

# %%
noticed = {}
for m in range(1, 8):
    character = cube.SparseFunction(T, torch.tensor([2**m - 1]), f64([1.0]))
    exact_share = math.factorial(m) / (m + 1) ** m
    noticed[m] = {
        "blocks": rejected(character, block_directions, m - 1, tries),
        "blocks, exact": exact_share,
        "coordinates, exact": 1 / math.comb(T, m),
        "subcubes needed, blocks": math.log(1 / delta) / exact_share,
    }
noticed = pd.DataFrame(noticed).T.rename_axis("degree")
table(noticed, "Chance to notice one character", form=".2g")

# %% [markdown]
# The shares agree with the formula. With blocks the chance decreases by a factor of about $e$ with each degree, so from degree 7 on blocks need some 1200 subcubes as well, whereas coordinates would need more than 200 000. With more functions the crosses move a little, because they are means over the functions that were drawn. The bars keep their length, because they show how much the functions differ, and not how well the mean is known.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-testing-upper
#
# *To think about.* For a generalization bound one needs an upper bound on the degree. Could any test that asks for few values give one, with a small chance of error, for *every* function? What could it give instead?
# ```
#
# ```{solution} ex-testing-upper
# :class: dropdown
#
# No test can. Take a function of degree 1 and change its value at a single one of the $2^T$ strings. The change is a multiple of an indicator of one string, which contains all characters, so the new function has degree $T$. But a test that asks for few values almost never asks for the changed one. What a test can give is that the function is *close* to one of degree $k$: if it differed from every such function at a considerable share of the strings, the test would probably have noticed. For a bound on the mean loss this is often enough, because few strings contribute little to a mean. This is what is meant by *property testing*.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The algorithms are those of {cite:t}`sharper`; the two tests that it cites are by {cite:t}`alon2003` and {cite:t}`gopalan2011`. Degrees over the real numbers are tested by {cite:t}`srinivasan2018`.
