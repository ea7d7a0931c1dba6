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
# # Can degree and sparsity be found by asking?
#
# ```{verdict}
# Yes: a few questions are enough, and neither test ever answers with more than the true degree or sparsity. If the test is made fine enough, it finds the degree of {glue:text}`right_fine:.0f` % of the functions, as the paper says. A coarser test answers with too little, because it flips single coordinates: with {glue:text}`R` random subcubes a level it finds the degree of {glue:text}`found_coordinates:.0f` % of the functions of degree 5. If it flips random blocks of coordinates, a variant of ours, it finds {glue:text}`found_blocks:.0f` %.
# ```
# **Needs** {ref}`ch-fourier-walsh`. **Read** 7 min. **Runs in** 10 s. **Source** restored (degree), printed (sparsity, Figure 8).
#
# **Claim.** The degree and the sparsity of a function can be bounded by asking for its values at few points, without its table. The test of degree that the paper describes, as restored here, never rejects a function that has the degree. Its answers *wilt*, in the paper's word: they fall below the truth as the degree grows. We compute how far, say why, and give a variant that wilts much later at the same number of questions a level. The test that the paper cites is about another degree.
#
# ## The two tests
#
# A function $f : \{-1,1\}^T \to \mathbb R$ is given by an *oracle*: one may ask for $f(x)$ at any $x$, and nothing else. It is a sum $f = \sum_U \hat f(U)\, \chi_U$ of characters $\chi_U(x) = \prod_{i \in U} x_i$. The *degree* $d$ is the size of the largest $U$ with $\hat f(U) \ne 0$, the *sparsity* $W$ the number of such $U$. Write $x^V$ for $x$ with the signs of the coordinates in $V$ flipped.
#
# ```{prf:algorithm} Lintilhac and Shaikh (2026), Appendix H (degree), as restored
# :label: sharper-appH-degree
# To test degree $k$: pick a random $x$ and $m = k + 1$ random disjoint sets $V_1, \dots, V_m$, the *directions*. The values at all but one of the $2^m$ points $x^{V_A}$, where $V_A$ is the union of the $V_j$ with $j \in A \subseteq [m]$, determine a polynomial of degree $k$. Reject if it misses the value at the last point. Repeat $R$ times. Sweep $k$ up from 0 and return the first degree accepted.
# ```
#
# ```{prf:algorithm} Lintilhac and Shaikh (2026), Appendix H (sparsity)
# :label: sharper-appH-sparsity
# Fix all but $\ell$ random coordinates to random values and take the Walsh transform of the restricted function. To test sparsity $s$: reject if more than a share $\varepsilon$ of its energy $\sum_U \hat f(U)^2$ lies outside its $s$ largest coefficients. Repeat $R$ times. Sweep $s$ up and return the first sparsity accepted.
# ```
#
# Which disjoint sets to take is open. *Coordinates*: $m$ different random coordinates. *Blocks* (ours): every coordinate joins one of $V_1, \dots, V_m$ or none, with equal chances.

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
from helpers.kernels.restricted import block_directions, oracle_signed_sums, vertices
from helpers.rng import Rng, f64

ledger, rng = Ledger("sharper/property_testing"), Rng(seed)
test_degree = ledger.result("sharper.appH_degree")
test_sparsity = ledger.result("sharper.appH_sparsity")
fig8_degree, fig8_sparsity = map(ledger.result, ("sharper.fig8.degree", "sharper.fig8.sparsity"))
fig8_wilting = ledger.result("sharper.fig8.wilting")
degrees, sparsities = (1, 2, 3, 4, 5), (1, 7, 14, 20)
coarse_free, coarse_tail = 8, 0.1
R = cube.degree_repetitions(eps, delta)
glue(R=R, T=T, eps=eps)

# %% [markdown]
# ## Figure 8 again
#
# The paper draws 8 random functions in each of 20 classes (degrees 1 to 5, sparsities 1, 7, 14 and 20) at $T = 20$, and sweeps. So do we, with both kinds of directions on the same functions. With $R = \lceil \ln(1/\delta) / \varepsilon \rceil$ subcubes, what one subcube notices with chance $\varepsilon$ is missed with chance $\delta$ at most. As in the paper, all sets of a function have exactly $d$ elements.

# %% mystnb={"code_prompt_hide": "160 functions, seven sweeps", "code_prompt_show": "160 functions, seven sweeps"} tags=["hide-input"]
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
}
common = {"generator": rng.generator, "delta": delta}
found, asked = pd.DataFrame(classes, columns=["d", "W"]), {}
for sweep, options in (DEGREES | SPARSITIES).items():
    test = cube.first_accepted_degree if sweep in DEGREES else cube.first_accepted_sparsity
    runs = [test(f, T, **options, **common) for f in drawn]
    found[sweep] = [run.accepted for run in runs]
    asked[sweep] = sum(run.queries for run in runs) / len(runs)


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
for name, size in (("exact", eps), ("exact, coarse", eps_coarse), ("exact, fine", eps / 10)):
    repetitions = cube.degree_repetitions(size, delta)
    chances = torch.stack([first_levels(f, repetitions) for f in drawn])
    exact[name] = (chances @ levels).tolist()
    variance[name] = (chances @ levels**2 - (chances @ levels) ** 2).sum().item()
    right[name] = sum(c[f.degree].item() for c, f in zip(chances, drawn, strict=True)) / len(drawn)


def distance(observed, name):
    """Of the observed mean from the exact one, in its exact standard errors."""
    return abs(found[observed].sum() - exact[name].sum()) / variance[name] ** 0.5


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Figure 8 of the paper, repeated: mean first accepted degree over all sparsities and functions (left) and mean first accepted sparsity over all degrees and functions (right), against the truth. Bars are one standard deviation over functions, as in the paper. Black crosses: the exact means along coordinates.", "name": "fig-first-accepted"}, "image": {"alt": "Left: blocks follow the diagonal from 1 to 5; coordinates leave it from degree 2 on and reach between 3 and 4 at degree 5, the coarse ones about 3; the exact means lie on both curves. Right: the fine test follows the diagonal closely and ends at about 17 for 20; the coarse one bends down and ends well below 10."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.0)
fine, rough = f"{free} free, {tail}", f"{coarse_free} free, {coarse_tail}"
looks = {"coordinates": f"coordinates, {eps}", "blocks": f"blocks, {eps}"}
looks |= {"coordinates, coarse": f"coordinates, {eps_coarse}"}
shown = (("d", looks), ("W", {"sparsity": fine, "sparsity, coarse": rough}))
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
for name in ("exact", "exact, coarse"):
    axes[0].plot(exact.groupby("d")[name].mean(), color="black", marker="x", linestyle="none")
figures.show()

# %%
by_degree = found.groupby("d")[list(DEGREES)].mean()
by_degree = by_degree.join(exact.groupby("d")[["exact", "exact, coarse"]].mean())
table(by_degree, "Mean first accepted degree, all sparsities together", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks, and questions asked", "code_prompt_show": "Checks, and questions asked"} tags=["hide-cell"]
fig8_degree.reproduced(
    f"along coordinates at $\\varepsilon = {eps / 10:g}$: expected share of functions whose degree is found; control: $\\varepsilon = {eps_coarse}$",
    right["exact, fine"],
    at_least=0.5,
    control=right["exact, coarse"],
    about="experiment",
    evidence="sampled",
)
error = (variance["exact"] + variance["exact, coarse"]) ** 0.5 / len(drawn)
fig8_wilting.reproduced(
    "along coordinates the mean falls with the larger $\\varepsilon$, in standard errors; control: the same $\\varepsilon$ twice",
    (found["coordinates"] - found["coordinates, coarse"]).mean() / error,
    at_least=3,
    control=(found["coordinates"] - found["coordinates, again"]).mean() / error,
    about="experiment",
    evidence="sampled",
)
fig8_wilting.holds(
    "the wilting is the exact one; larger distance in standard errors; control: along blocks",
    max(distance("coordinates", "exact"), distance("coordinates, coarse", "exact, coarse")),
    at_most=4,
    control=distance("blocks", "exact"),
    about="ours",
    evidence="sampled",
)
table(asked, "Mean questions asked of a function", form=",.0f")
at_five = found[found["d"] == 5]
glue(found_blocks=100 * (at_five["blocks"] == 5).mean())
glue(found_coordinates=100 * (at_five["coordinates"] == 5).mean())
glue(below=100 * (found["coordinates"] < found["d"]).mean(), eps_fine=eps / 10)
glue(right_fine=100 * right["exact, fine"])

# %% [markdown]
# Along coordinates the answers wilt, more for the coarse $\varepsilon$ ({numref}`fig-first-accepted`). How far they *must* wilt can be computed: at level $k$ a subcube along $m = k + 1$ coordinates notices iff these lie inside one of the sets $U_i$. So its chance $p_k$ is the number of different $m$-sets inside the $U_i$, divided by $\binom Tm$, and level $k$ is accepted with chance $(1 - p_k)^R$. The answers agree with that. With $\varepsilon =$ {glue:text}`eps_fine:g` they would be right for {glue:text}`right_fine:.0f` % of the functions, by the exact chances. Along blocks the degree is found at once, from the same number of subcubes a level.
#
# ## Why nothing true is rejected
#
# "Misses the last value" is the same as "has a signed sum that is not 0", with
#
# ```{math}
# :label: eq-signed-sum
# s = 2^{-m} \sum_{A \subseteq [m]} (-1)^{|A|} f\bigl(x^{V_A}\bigr)
#   = \sum_{U :\ |U \cap V_j| \text{ odd for all } j} \hat f(U)\, \chi_U(x) .
# ```
#
# Flipping $V_j$ multiplies $\chi_U$ by $(-1)^{|U \cap V_j|}$, so the sum over $A$ is a product of factors $1 - (-1)^{|U \cap V_j|}$, each 0 or 2. As the $V_j$ are **disjoint**, a set $U$ that survives has an element in each, so at least $m = k + 1$ elements. A function of degree $k$ has none, and is never rejected.
#
# **What is restored.** In the first test the paper selects a number of points, and takes "the unique degree [...] polynomial" through any subset of some size. Both numbers are missing in the text that we could read, and so is the choice of points. The $2^m$ points of a subcube are ours. Another reading, $d + 2$ points along a path that flips one coordinate after another, does not do: how low degree is tested over large fields, along lines. A function $x_1$ has the values $1, 1, -1$ on the path that flips $x_2$ and then $x_1$, and they are no polynomial of degree 1 in the number of flips. The values of the parameters are missing too; ours are stated where they stand.
#
# ## Why blocks see more
#
# Take one character, $f = \chi_U$ with $|U| = m$, and test it at degree $m - 1$. All of $V_1, \dots, V_m$ must be met oddly, so each holds exactly one element of $U$. Along coordinates these must be exactly $U$: chance $1 / \binom Tm$. With blocks the $m$ elements of $U$ must join $m$ different ones: $m!$ ways out of $(m+1)^m$. The first chance collapses with the length. The second does not know $T$.

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-cell"]
glue(single=math.comb(T, 5), ratio_5=math.comb(T, 5) * math.factorial(5) / 6**5)

# %% [markdown]
# At degree 5 one subcube along coordinates notices with a chance of one in {glue:text}`single`, and a block subcube {glue:text}`ratio_5:.0f` times as often.
#
# ## The cited test is for another degree
#
# The paper takes its test from {cite:t}`alon2003`, and says that the proof still works for real values. That test is about polynomials over $GF(2)$, the field of two elements. A function with values $\pm1$ is $(-1)^{g}$ with a polynomial $g$ in the bits modulo 2, and the test bounds the degree of $g$. Its directions are $m$ arbitrary random sets, which overlap, and its sum is an exclusive or. The two degrees have little in common: $\mathrm{PARITY}$ is $(-1)^{b_1 + \dots + b_T}$ with bits $b_i$, so $g$ has degree 1, while its only character is the largest.
#
# We run it on PARITY. Then we take its *arbitrary* directions with the real sums of {eq}`eq-signed-sum`, on functions with three disjoint sets of $d$ elements, at their own degree $d$: a single set can meet all directions oddly, even if it has one element, and the chance to reject is $1 - (1 - 2^{-(d+1)})^3$.


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
test_degree.refuted(
    f"the test that is cited, over $GF(2)$: share of {tries} trials that reject PARITY of {T} bits at degree 1; control: blocks",
    over_gf2,
    at_least=0.01,
    control=rejected(PARITY, block_directions, 1, tries),
    about="remark",
    evidence="attained",
)
test_degree.refuted(
    "arbitrary: functions of degree $d$ are never rejected at $d$, largest share; control: blocks",
    own["arbitrary"].max(),
    at_most=0,
    control=own["blocks"].max(),
    about="ours",
    evidence="attained",
)
arbitrary_accepts = next(k for k in range(T) if rejected(drawn[0], any_directions, k, R) == 0)
test_degree.holds(
    "along disjoint directions no degree is accepted above the truth, largest excess; control: arbitrary ones, degree 1",
    found[list(DEGREES)].sub(found["d"], axis=0).max().max(),
    at_most=0,
    control=arbitrary_accepts - 1,
    about="statement",
    evidence="proved",
)
glue(accepted=round(tries * (1 - over_gf2)), tries=tries, mixed_first=own["arbitrary"].iloc[0])
glue(mixed_exact=own["exact"].iloc[0])

# %% [markdown]
# The cited test accepts degree 1 for a function of Fourier degree {glue:text}`T`, in {glue:text}`accepted` of {glue:text}`tries` trials: with $g = b_1 + \dots + b_T$ every sum over four such points is even. With real sums it rejects functions of degree 1 at level 1, in {glue:text}`mixed_first:.3f` of all trials. What the paper describes in its own words is right on subcubes with disjoint directions, and so is its sentence that the proof carries over to real values.
#
# ## Sparsity by restriction
#
# A restriction to the free coordinates $J$ turns $\chi_U$ into $\pm\chi_{U \cap J}$. Two sets that agree on $J$ merge, so a restricted function has at most as many characters as $f$: again nothing true is ever rejected. Collisions lower the answer. So does the tail: coefficients that together hold less than $\varepsilon$ of the energy are not counted. One restriction that notices with chance $\frac12$ is enough to ask for: then $R = \lceil \log_2 (1/\delta) \rceil$.

# %%
indicators = [cube.sparse_function(T, d, 1, rng.generator, basis="even_parity") for d in degrees]
runs = [cube.first_accepted_sparsity(f, T, free=free, eps=tail, **common) for f in indicators]
widths = found.groupby("W")[list(SPARSITIES)]
columns = {"sparsity": fine, "sparsity, coarse": rough}
table(widths.mean().rename(columns=columns), "Mean first accepted sparsity", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
at_twenty = widths.mean().loc[20]
test_sparsity.holds(
    "no sparsity is accepted above the truth, largest excess; control: one even-parity indicator",
    found[list(SPARSITIES)].sub(found["W"], axis=0).max().max(),
    at_most=0,
    control=max(run.accepted for run in runs) - 1,
    about="statement",
    evidence="proved",
)
fig8_sparsity.reproduced(
    "first accepted sparsity over 20, mean over degrees; control: the coarse test",
    at_twenty["sparsity"] / 20,
    at_least=0.8,
    control=at_twenty["sparsity, coarse"] / 20,
    about="experiment",
    evidence="sampled",
)
glue(lost=20 - at_twenty["sparsity"], questions=f"{asked['sparsity']:.0f}", all_points=2**T)

# %% [markdown]
# Of the 20 characters {glue:text}`lost:.2f` are not counted in the mean: some sets merge, and small coefficients fall into the tail. The test asks {glue:text}`questions` questions in the mean. The whole table has {glue:text}`all_points`, so at this length the saving is modest.
#
# A word on the basis. The theorems of the paper count a sparsity in even-parity indicators $p_U = (1 + \chi_U)/2$. The transform counts characters. Every indicator brings the constant along, so the test then says $W + 1$.
#
# ## What would falsify this
#
# One accepted level above the truth would end both tests. The controls are real failures: arbitrary directions for the degree, indicators for the sparsity. "Close to the truth" is taken as four fifths of the sparsity. The exact chances would fail if the reasoning about $U \cap V_j$ were wrong: the answers along coordinates would be far from their exact means, as those along blocks are.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Of the repository `paullintilhac/boolean_function_sensitivity` we read the list of its Python files, and `utils.py` (commit 5c953ce1). No file there is a property test, so the appendix's own words are the only source for the two algorithms, and we cannot say which points were drawn for the paper's figure. Subcubes along coordinates fit its description, and so does the wilting.
#
# `rboolf` in `utils.py` draws each set of a function by itself, so that a set can come twice. Ours are distinct.
#
# ## What we found
#
# * Along disjoint directions no run accepts a degree above the truth, and the wilting along coordinates is the chance $1/\binom Tm$ of a random subcube, to within the noise of the draw.
# * Random blocks notice a character of degree 5 {glue:text}`ratio_5:.0f` times as often as coordinates. At high degrees they wilt too: their chance falls by a factor of about $e$ a degree.
# * Neither sweep ever stops above the truth. So its answer is an upper bound only where it is the truth itself: along coordinates, at $\varepsilon =$ {glue:text}`eps:g`, {glue:text}`below:.0f` % of the functions got less. A generalization bound that is fed with a degree below the true one promises too much.
# * The cited test is about another degree. It accepts degree 1 for PARITY of {glue:text}`T` bits.
#
# ```{finding} sharper.appH_degree
# :title: The cited test, taken literally, is for the degree over GF(2)
# :group: proof
#
# **Statement.** In words, Appendix H uses the test of Alon and others (2003) to bound the Fourier degree of real-valued functions, and its proof still works for real values.
#
# **Counterexample.** To the citation, not to the algorithm that the appendix describes. PARITY of {glue:text}`T` bits has degree 1 over $GF(2)$ and is accepted there, in {glue:text}`accepted` trials out of {glue:text}`tries`; its Fourier degree is {glue:text}`T`. With real signed sums along the arbitrary directions of that test, a function of degree 1 with three characters is rejected at degree 1 in {glue:text}`mixed_first:.3f` of all trials (exact: {glue:text}`mixed_exact:.3f`).
#
# **Why.** Over $GF(2)$ sums are taken modulo 2, so arbitrary directions see only the degree of the polynomial in the exponent. Over the reals arbitrary directions overlap, and one element of a set can meet several of them.
#
# **Repair.** Disjoint directions: then a function of degree $k$ is never rejected at $k$. Single coordinates notice a character of degree $m$ with chance $1/\binom Tm$, random blocks with $m!/(m+1)^m$.
#
# **What survives.** That the proof carries over to real values, with disjoint directions; perhaps these were meant. And the message: few questions, far fewer than the table has entries, tell the degree.
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-testing-degree-one
#
# A function of degree 1 is to be told from a constant with error at most $\delta = 0.05$. How many subcubes do coordinates need at $T = 20$, how many do blocks need at any length?
# ```
#
# ```{solution} ex-testing-degree-one
# :class: dropdown
#
# One subcube notices with chance $\frac1{20}$ along coordinates and $\frac12$ with blocks. With $R = \ln(1/\delta)$ over the chance that makes 60 and 6.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The algorithms are those of {cite:t}`sharper`; the two tests that it cites are by {cite:t}`alon2003` and {cite:t}`gopalan2011`.
