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
# (ch-rounding)=
# # Exact rounding: how far short averages are off
#
# ```{verdict}
# Yes, Lemmas 3.3 and 3.6 are true as printed, but their proofs have a gap. The proofs cover a ball by averages of $a$ vectors and count these averages, where $a$ is a quotient of squared norms and need not be a whole number. If $a$ is rounded up, the count can be too large for the printed bound: at the sizes that we tried, its logarithm reaches {glue:text}`ratio_ceiling:.2f` times the bound. But averages of half as many vectors, rounded up, are accurate enough, and the logarithm of their count stays within the bound.
# ```
# **Needs** {ref}`ch-convex-combinations`, {ref}`ch-mixed-inputs`. **Read** 10 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** Two of the paper's three bounds on covers of linear maps come from covers of an $\ell_1$ ball by short averages of its vertices. Their proofs take a number of terms that need not be whole. We compute exactly how far a point of the ball can be from such averages. The result shows that half as many terms are enough, so both bounds are true as they are printed.

# %% tags=["parameters"]
starts = 32  # starting points of each search [8..128]
moves = 100  # trials from each [50..500]
seed = 0  # of the searches [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.covers import linear as covers
from helpers.rng import Rng
from papers.lengthfree import linear_maps

ledger, rng = Ledger("lengthfree/rounding"), Rng(seed)
lem3_3, lem3_6 = ledger.result("lengthfree.lem3_3"), ledger.result("lengthfree.lem3_6")
sec3_4 = ledger.result("lengthfree.sec3_4")
rounding = 1e-9  # relative, of sums of some hundred numbers

# %% [markdown]
# ## Why one should care
#
# The paper's bounds on generalization rest on covers of linear maps, and two of its three covers consist of averages of $a$ vectors, where $a$ is a quotient that need not be a whole number. Usually one would round up without a second thought. But here $a$ is the exponent of the count, so at $a = 1.05$ rounding up nearly doubles the logarithm of the count, and the printed bound is no longer proved. One could put a ceiling into the bound, which would make every later formula uglier. It is better to ask how accurate the averages really are. The answer is a formula that is exact in every dimension, and it is of use wherever vectors are rounded to averages of few corners.
#
# ## Two coordinates by hand
#
# Take the unit ball of $\ell_1$ in the plane, which is a square with the corners $\pm e_1$, $\pm e_2$. We average two of the vectors $\pm e_1$, $\pm e_2$, 0, where the same vector may be taken twice. These averages are the points of the ball with coordinates $0, \pm\frac12, \pm1$, a grid of 13 points. The farthest point from a grid with steps of $\frac12$ lies in the centre of a cell, for example $(\frac14, \frac14)$. Its distance from the nearest grid points is $\frac14 \sqrt2 = 0.354$. The usual argument for such averages, which is due to Maurey, draws the vectors at random and computes the mean square error. It promises only $1/\sqrt2 = 0.707$, twice as much.
#
# With more coordinates the exact distance comes closer to the promised one. In four dimensions, with two terms, the point with all coordinates $\frac14$ is off by $\frac14$ in each coordinate, which gives $\frac14 \sqrt4 = 0.5$. In more than four dimensions the distance remains 0.5, because only four coordinates of a point in the ball can be as large as $\frac14$. The figure shows how the exact value and the promise compare for more terms.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Largest distance of a point of the unit $\\ell_1$ ball from the averages of $m$ vectors $\\pm e_i$ and 0: what Maurey's lemma promises in every dimension, and the exact value in $k = 10$ and $k = 400$ dimensions.", "name": "fig-rounding"}, "image": {"alt": "Three falling curves against the number of terms from 1 to 1000 on logarithmic axes. The highest is one over the root of m. That for 400 dimensions runs parallel, lower by the root of two, up to 200 terms, and falls twice as fast from there. That for 10 dimensions does so from 5 terms on."}} tags=["hide-input"]
terms = sorted({round(10 ** (i / 6)) for i in range(19)})
fig, ax = figures.new(height=2.6)
ax.plot(terms, [m**-0.5 for m in terms], **figures.series_style(0, label="Maurey"))
for i, k in enumerate((400, 10), 1):
    exact = [linear_maps.covering_radius(k, 1.0, m) for m in terms]
    ax.plot(terms, exact, **figures.series_style(i, label=f"exact, $k = {k}$"))
ax.set(xscale="log", yscale="log", xlabel="terms $m$", ylabel="distance")
ax.legend()
figures.show()

# %% [markdown]
# The highest line is the promise of Maurey's argument, $1/\sqrt m$ for $m$ terms. The exact value in 400 dimensions is lower by a factor of $\sqrt2$ up to $m = 200$, and falls faster from there on. In 10 dimensions the exact value falls faster already from five terms on. So the averages are always more accurate than the argument promises, and in small dimensions they are much more accurate.
#
# ## The statement
#
# A matrix $W \in \mathbb R^{k \times d}$ maps inputs $x \in \mathbb R^d$ to outputs $Wx$. To compute its norm $\|W\|_{q,p}$ one takes the $\ell_q$ norm of each column, and then the $\ell_p$ norm of these $d$ numbers. A *cover* of a class of matrices on given inputs is a set of members $\hat W$ of the class with the following property: for every $W$ of the class there is a $\hat W$ with $\|(W - \hat W)x\|_2 \le \epsilon$ for all these inputs. The *covering number* $N_\infty$ is the least size of a cover. Matrices are bounded by $B_w$ and inputs by $B_x$, in the norms of the table below, and we write $a = B_w^2 B_x^2/\epsilon^2$. In the next section we measure matrices, inputs and $\epsilon$ in units of $B_w$, $B_x$ and $B_w B_x$, so that $a = 1/\epsilon^2$.
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemmas 3.3 and 3.6
# :label: lengthfree-lem3-3
# Take any $N \ge d$ inputs that satisfy the bound in the table. Then the logarithm of the covering number, $\log N_\infty$, is at most the bound in the last column. (The number $N$ of inputs is not the covering number $N_\infty$, and it does not occur in the bounds.)
#
# | lemma | matrices | inputs | bound |
# |:--|:--|:--|:--|
# | 3.3 | $\lVert W \rVert_{1,\infty} \le B_w$ | $\lVert x \rVert_1 \le B_x$ | $d\, a \log(2k+1)$ |
# | 3.6 | $\lVert W \rVert_{1,1} \le B_w$ | $\lVert x \rVert_2 \le B_x$ | $a \log(2dk+1)$ |
# ```
#
# ## An exact rounding
#
# Both lemmas come down to the same problem, namely to cover an $\ell_1$ ball.
#
# * *Lemma 3.3.* Each column of $W$ lies in the $\ell_1$ ball of $\mathbb R^k$. By {prf:ref}`lengthfree-lem3-2` the error on all inputs is the largest error of a column, so one covers each column and takes all combinations.
# * *Lemma 3.6.* We regard all entries of $W$ as one long vector, which lies in the $\ell_1$ ball of $\mathbb R^{dk}$. If this vector is covered, then so are the outputs, since the spectral norm $\|W - \hat W\|_{2 \to 2}$ is at most $\|W - \hat W\|_F$, the distance of the two vectors.
#
# In both cases the ball is covered by averages of $m$ of the vectors $\pm e_i$ and 0. These averages are the points $\frac1m z$, where $z$ has whole entries and $\|z\|_1 \le m$, and they lie in the ball. By {prf:ref}`convex-repaired` every point of the ball is within $1/\sqrt m$ of one of them. For an error of $\epsilon = 1/\sqrt a$ one therefore takes $m = \lceil a \rceil$ terms. But the proofs count as if there were $a$ terms, and $a$ need not be a whole number. For example, if $a$ is just above 1, one needs averages of two of $2k + 1$ vectors. There are about $(2k+1)^2 / 2$ such averages, whereas the proofs count $(2k+1)^a$. However, the averages are more accurate than $1/\sqrt m$, and one can say exactly how accurate.
#
# ```{prf:lemma} Rounding in the $\ell_1$ ball (ours)
# :label: covers-rounding
# For every point of the unit $\ell_1$ ball of $\mathbb R^k$ take its distance from the nearest average of $m$ of the vectors $\pm e_i$ and 0. The largest such distance is exactly $\frac1{2m} \sqrt{\min(k, 2m)} \le 1/\sqrt{2m}$.
# ```
#
# **The idea of the proof.** Round every coordinate to the nearest multiple of $\frac1m$. Then each of the $k$ coordinates is off by at most half a step, $\frac1{2m}$, which gives a distance of at most $\frac1{2m} \sqrt k$. The difficulty is to stay in the ball, because rounding up many coordinates may lead out of it. So we first round the sizes of all coordinates down, and then round up only as many as the ball has room for, beginning with those that lose most by rounding down.
#
# ```{dropdown} Proof
# We round all coordinates down, round up again the worst of them as long as there is room, and bound the sum of the squared errors in two cases. Then we give a point at which the distance is attained.
#
# **The rounding.** Measure $|x_i|$ in steps of $1/m$, that is, let $y_i = m |x_i|$. These numbers sum to at most $m$. If all of them are rounded down, coordinate $i$ loses $f_i = y_i - \lfloor y_i \rfloor \in [0, 1)$. Then $R = m - \sum_i \lfloor y_i \rfloor$ steps remain to be spent, and since $\sum_i y_i \le m$ we have $\sum_i f_i \le R$. Now round up where $f_i > \frac12$, greatest $f_i$ first, at most $R$ times. The result is $m$ times the absolute value of an average, because its entries are whole and sum to at most $m$.
#
# **Case 1: every coordinate with $f_i > \frac12$ is rounded up.** Then each coordinate is off by $\min(f_i, 1 - f_i)$ steps. The square of this number is at most $\frac14$ and at most $\frac12 f_i$. So the squares sum to at most $\frac k4$, and to at most $\frac R2 \le \frac m2$.
#
# **Case 2: the room does not suffice for all of them.** Then exactly $R$ coordinates are rounded up.
#
# 1. *Coordinates that are rounded up.* Let $s > \frac12$ be the least $f_i$ among them, and let $D$ be the sum of $1 - f_i$ over them. Then $D \le R(1-s)$, because each of the $R$ terms is at most $1-s$, and their $f_i$ sum to $R - D$.
# 2. *The other coordinates.* They have $f_i \le s$. Let $X$ be the sum of their $f_i$. Since all $f_i$ together sum to at most $R$, we have $X \le R - (R - D) = D$.
# 3. *The sum of the squares.* A coordinate that is rounded up contributes the square $(1 - f_i)^2 \le (1-s)(1 - f_i)$, and any other contributes $f_i^2 \le s f_i$. So the squares sum to at most $(1-s)D + sX$.
# 4. *It is at most $\frac m2$.* Since $X \le D$, we have $(1-s)D + sX \le D \le R(1-s) \le \frac m2$.
# 5. *It is at most $\frac k4$.* There are $R \ge D/(1-s)$ coordinates of the first kind and at least $X/s$ of the second, so $k \ge D/(1-s) + X/s$. Therefore the sum of the squares minus $\frac k4$ is at most $D\bigl(1 - s - \frac1{4(1-s)}\bigr) + X\bigl(s - \frac1{4s}\bigr)$. The factor of $X$ is positive because $s > \frac12$, so the expression does not decrease if we replace $X$ by $D$. This gives $D\bigl(1 - \frac1{4(1-s)} - \frac1{4s}\bigr) = D\bigl(1 - \frac1{4s(1-s)}\bigr) \le 0$, because $4s(1-s) \le 1$.
#
# **The bound.** In both cases the squares sum to at most $\min(\frac k4, \frac m2)$. A step is $\frac1m$, so the distance is at most $\frac1m \sqrt{\min(\frac k4, \frac m2)} = \frac1{2m} \sqrt{\min(k, 2m)}$.
#
# **It is attained.** Take the point of which $\min(k, 2m)$ coordinates are half a step, $\frac1{2m}$, and the others 0. It lies in the ball, and every average is off by at least half a step in each of these coordinates. $\square$
# ```
#
# What does this mean for the two lemmas? By {prf:ref}`covers-rounding` the error is at most $\epsilon = 1/\sqrt a$ as soon as $2m \ge a$. So $m = \lceil a/2 \rceil$ terms are enough. If $a > 1$, this number is at most $a$, so there are at most $(2k+1)^{\lceil a/2 \rceil} \le (2k+1)^a$ averages. If $a \le 1$, the origin alone is enough, because $\epsilon \ge 1$. So both bounds are true as printed, without a ceiling. (If one asks for errors *less than* $\epsilon$, one takes the origin for $a < 1$, and otherwise $\lfloor a/2 \rfloor + 1$ terms, a number that is at most $a$ as well.)
#
# In the next cell a search looks for points that are farther off than the lemma allows. An entry of the column *search* above the column *exact* would refute the lemma.


# %%
def half_steps(k, m):
    """The point of the lemma's proof; the corner of the ball if there are no terms."""
    return (torch.arange(k) < max(1, 2 * m)).double() * 0.5 / max(m, 0.5)


def far_off(x, m):
    """Distance to the rounding of the lemma's proof."""
    return (x - linear_maps.round_to_cover(x, 1.0, m)).norm(dim=-1)


def into_ball(x):
    return x / x.abs().sum(-1, keepdim=True).clamp(min=1)


rows = {}
for k, m in ((2, 3), (4, 2), (10, 3), (400, 150)):
    start = into_ball(half_steps(k, m) + 0.3 * rng.normal(starts, k) / k)
    found = covers.climb(
        lambda x, m=m: far_off(x, m), into_ball, start, rng.generator, moves, 1 / k
    )
    exact = linear_maps.covering_radius(k, 1.0, m)
    rows[k, m] = {
        "search": far_off(found, m).max().item(),
        "half steps": far_off(half_steps(k, m), m).item(),
        "exact": exact,
        "Maurey": m**-0.5,
        "fewer": far_off(half_steps(k, m - 1), m - 1).item() / exact,
    }
radii = pd.DataFrame(rows).T.rename_axis(["k", "m"])
table(radii.drop(columns="fewer"), "Farthest from its average: found, exact, promised", form=".4f")

# %% [markdown]
# The search never exceeds the exact value, and the points of the proof (column *half steps*) attain it. In $k = 400$ dimensions the search stays 13 % below the exact value, so in high dimension it tests little. The last column is Maurey's promise, which is larger in every row.
#
# How do the counts compare with the printed bounds? The bound of Lemma 3.3 is $d$ times $a \log(2k+1)$, one such term for the ball of each column, and the bound of Lemma 3.6 is this term for a single ball of dimension $dk$. So it is enough to compare the logarithm of the number of averages in one ball with $a \log(2k+1)$. We call the first over the second the *ratio*; a ratio above 1 means that the count is too large for the printed bound.
#
# * *With $\lceil a \rceil$ terms* the ratio reaches {glue:text}`ratio_ceiling:.3f` on our grid, which has $a$ up to 20.45 and $k$ up to 500. For $a$ just above 1 and larger and larger $k$ the ratio comes near to 2.
# * *With $\lceil a/2 \rceil$ terms*, or with the origin alone if $a \le 1$, the ratio is at most 1. For $1 < a \le 2$ this is a single term and the ratio is $1/a$, so it comes near to 1 just above $a = 1$. Just above $a = 2$ there are two terms, and the ratio comes near to 1 for very large $k$. On the grid, whose first value above 1 is $a =$ {glue:text}`first_a:.2f`, the ratio is at most {glue:text}`ratio_half:.3f`.


# %% mystnb={"code_prompt_hide": "Sizes", "code_prompt_show": "Sizes"} tags=["hide-cell"]
def over_bound(k, a, m):
    """Log of the number of averages of m terms over a log(2k + 1)."""
    return math.log(covers.maurey_size(k, m)) / (a * math.log(2 * k + 1))


grid = [(k, 0.5 + 0.05 * i) for k in (1, 2, 3, 5, 10, 50, 500) for i in range(400)]
terms = {
    "⌈a⌉, as in the proofs": [linear_maps.maurey_terms(1.0, a**-0.5) for _, a in grid],
    "⌈a/2⌉": [math.ceil(a / 2 - 1e-9) if a > 1 else 0 for _, a in grid],
    "fewest": [linear_maps.terms_needed(k, 1.0, a**-0.5) for k, a in grid],
}
sizes = {
    name: max(over_bound(k, a, m) for (k, a), m in zip(grid, column, strict=True))
    for name, column in terms.items()
}
table(pd.Series(sizes, name="log size over bound").rename_axis("terms"), "Largest, a up to 20.45")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lem3_3.holds(
    "with the fewest terms that meet the error $\\epsilon$: largest ratio of the distance "
    "of the farthest point that a search finds to its exact value; control: one term fewer",
    (radii["search"] / radii["exact"]).max(),
    at_most=1,
    tol=rounding,
    control=radii["fewer"].max(),
    about="statement",
    evidence="proved",
)
for result, name in ((lem3_3, "3.3"), (lem3_6, "3.6")):
    result.holds(
        "largest ratio of the logarithm of the number of averages with the fewest terms to the "
        f"bound of Lemma {name}; control: $\\lceil a \\rceil$ terms, as in the proof",
        sizes["fewest"],
        at_most=1,
        control=sizes["⌈a⌉, as in the proofs"],
        about="statement",
        evidence="proved",
    )
    result.refuted(
        f"the proof of Lemma {name}: largest ratio of the logarithm of the number of averages of"
        " $\\lceil a \\rceil$ terms to the bound; control: $\\lceil a/2 \\rceil$ terms",
        sizes["⌈a⌉, as in the proofs"],
        at_most=1,
        control=sizes["⌈a/2⌉"],
        about="proof",
        evidence="attained",
    )


def converted(k, d, factor):
    """Lemma 3.6 with factor B_w, over d times the bound of Lemma 3.3."""
    converted = linear_maps.bound_l1_entries(k, d, factor, 1, 0.5)
    return converted / (d * linear_maps.bound_l1_columns(k, d, 1, 1, 0.5))


def converted_columns(k, d, factor):
    """The formula of Lemma 3.4 with factor B_w, over the bound of Lemma 3.3."""
    formula = linear_maps.bound_l2_columns(k, d, factor, 1, 0.5)
    return formula / linear_maps.bound_l1_columns(k, d, 1, 1, 0.5)


sec3_4.holds(
    "least ratio of the bound of Lemma 3.6 with $d B_w$ to $d$ times the bound of Lemma "
    "3.3, for $2 \\le d, k \\le 64$; control: Lemma 3.6 with $B_w$",
    min(converted(k, d, d) for k in range(2, 65) for d in range(2, 65)),
    at_least=1,
    control=min(converted(k, d, 1) for k in range(2, 65) for d in range(2, 65)),
    about="statement",
    evidence="proved",
)
sec3_4.holds(
    "least ratio of the formula of Lemma 3.4 with $d B_w$ to the bound of Lemma 3.3, for "
    "$2 \\le d, k \\le 64$; control: Lemma 3.4 with $B_w$",
    min(converted_columns(k, d, d) for k in range(2, 65) for d in range(2, 65)),
    at_least=1,
    control=min(converted_columns(k, d, 1) for k in range(2, 65) for d in range(2, 65)),
    about="statement",
    evidence="proved",
)
glue(ratio_ceiling=sizes["⌈a⌉, as in the proofs"], ratio_half=sizes["⌈a/2⌉"])
glue(first_a=min(a for _, a in grid if a > 1))

# %% [markdown]
# **Section 3.4** of the paper compares its three lemmas on linear maps, of which the third is Lemma 3.4 ({ref}`ch-linear-covers`). Lemma 3.3 bounds every single column by $B_w$, whereas Lemmas 3.4 and 3.6 bound the sum of the norms of all columns. Since $\|W\|_{p,1} \le d\, \|W\|_{p,\infty}$, with equality for columns of equal norm, a class of the first kind has the bound $d B_w$ on this sum. So Lemmas 3.4 and 3.6 give $d^2 B_w^2$ where Lemma 3.3 has $d B_w^2$.
#
# The comparison is right, because on inputs with $\|x\|_1 \le B_x$ the bound of Lemma 3.6, with $d B_w$ for its norm, is $d \log(2dk+1)/\log(2k+1)$ times the bound of Lemma 3.3, and so at least $d$ times as large. The formula of Lemma 3.4, whose constant is not stated, is $d \log(dk)/\log(2k+1)$ times that bound, so the factor $d$ is there up to the logarithms.
#
# ## What we found
#
# * Lemmas 3.3 and 3.6 hold as printed. Their proofs leave out a ceiling, which is a gap. The exact distance of the farthest point from the averages closes the gap, because it shows that half as many terms are enough.
# * The comparison of Section 3.4 is right.
#
# ```{finding} lengthfree.lem3_3
# :title: Lemmas 3.3 and 3.6 hold; their proofs leave out a ceiling
# :group: proof
#
# **Statement.** The proofs of Lemmas 3.3 and 3.6 count averages of $a = B_w^2 B_x^2/\epsilon^2$ vectors, which need not be a whole number.
#
# **Counterexample.** With $\lceil a \rceil$ terms the log size reaches {glue:text}`ratio_ceiling:.3f` times the printed bound, on our grid.
#
# **Why.** A ceiling was left out of the number of terms.
#
# **Repair.** Averages of $\lceil a/2 \rceil \le a$ terms cover as well, by {prf:ref}`covers-rounding` of this book.
#
# **What survives.** Both statements as printed.
# ```
#
# ## What would falsify this
#
# * *The lemma on rounding* would be false if a point were farther off than the exact radius, as it is with fewer terms in the control.
# * *The printed bounds* would not be proved if the count with the fewest terms were above them, as the count with $\lceil a \rceil$ terms is in the control.
# * *The proofs* would have no gap if the count with $\lceil a \rceil$ terms stayed within the bound, as the count with $\lceil a/2 \rceil$ terms does in the control.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Nothing can be compared, because the authors' only program, `run_experiment.py`, trains on sparse majority and builds no cover.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-rounding
#
# *By hand.* How many terms does the cover need in $k = 10$ dimensions at $\epsilon = \frac1{100}$, in units of $B_w B_x$, and how many does Maurey's lemma ask for?
# ```
#
# ```{solution} ex-rounding
# :class: dropdown
#
# As soon as $2m \ge 10$, the exact distance is $\sqrt{10}/(2m)$. This is at most $\frac1{100}$ from $m = 159$ on, so 159 terms are enough. Maurey's lemma asks for $1/\sqrt m \le \frac1{100}$, that is, for $10\,000$ terms.
# ```
#
# ```{exercise}
# :label: ex-rounding-count
#
# *With pencil and paper.* Count the averages of at most two of the vectors $\pm e_i$ and 0 in $k$ dimensions. By which factor does the logarithm of their number exceed $a \log(2k+1)$ for $a = 1.05$ and $k = 500$, and what is the limit for $k \to \infty$ and $a \to 1$?
# ```
#
# ```{solution} ex-rounding-count
# :class: dropdown
#
# They are the vectors with whole entries whose absolute values sum to at most 2, divided by 2. Before the division there are the origin, $2k$ vectors with one entry $\pm1$, $2k$ with one entry $\pm2$, and $2k(k-1)$ with two entries $\pm1$, which are $2k^2 + 2k + 1$ in all. For $k = 500$ the logarithm is 13.12, and $1.05 \log 1001 = 7.25$, so the factor is 1.81. For large $k$ the logarithm is about $2 \log k$, so the factor tends to $2/a$ and, for $a \to 1$, to 2.
# ```
#
# ```{exercise}
# :label: ex-rounding-run
#
# *With the computer.* Run the chapter with a longer search, `python -m bookkit.run lengthfree/rounding -p starts 128 -p moves 500 --out my_run`, and see whether it gets farther than before. Then compute both counts, with $\lceil a \rceil$ and with $\lceil a/2 \rceil$ terms, at $a = 1.01$ for more and more dimensions.
# ```
#
# ```{solution-start} ex-rounding-run
# :class: dropdown
# ```
#
# The search cannot get farther than the exact radius, since that is a theorem. The counts are sums of binomial coefficients:

# %%
counted = {}
for k in (5, 500, 50_000, 5_000_000):
    counted[f"{k:,}"] = {
        "two terms, as in the proofs": over_bound(k, 1.01, 2),
        "one term": over_bound(k, 1.01, 1),
    }
answer = pd.DataFrame(counted).T.rename_axis("k")
table(answer, "Log number of averages over the bound, a = 1.01", form=".3f")

# %% [markdown]
# With two terms the ratio approaches $2/1.01 = 1.98$, but slowly, since the constant $\log 2$ is not negligible beside $\log k$. With one term there are $2k + 1$ averages, so the ratio is $1/a$ in every dimension.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-rounding-columns
#
# *To think about.* On inputs with $\|x\|_1 \le 1$ both lemmas can be used. For which matrices is Lemma 3.3 the better one, and for which Lemma 3.6? Think of a matrix whose columns all have norm 1, and of one with a single column.
# ```
#
# ```{solution} ex-rounding-columns
# :class: dropdown
#
# If all $d$ columns have $\ell_1$ norm 1, Lemma 3.3 has $B_w = 1$ and the bound $d\, a \log(2k+1)$ with $a = 1/\epsilon^2$. Lemma 3.6 has $B_w = d$, so its bound is $d^2 a \log(2dk+1)$, larger by a factor of more than $d$. If only one column differs from 0, Lemma 3.6 has $B_w = 1$ and the bound $a \log(2dk+1)$, whereas Lemma 3.3 still pays the factor $d$, because it does not know which column it is. In between the sum of the columns' norms decides: Lemma 3.6 is better if this sum is below about $\sqrt d$ times the largest of them.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`lengthfree`.
