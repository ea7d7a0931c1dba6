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
# (ch-mixed-inputs)=
# # Where a cover of linear maps has to look
#
# ```{verdict}
# Yes, to cover linear maps on all inputs of bounded $\ell_1$ norm it is enough to cover them on the vertices of that ball, as long as outputs are compared in a norm. The paper defines covers for exponents below 1 too, which give no norm and which nothing uses. With the exponent $\frac12$ {glue:text}`on_vertices` map covers the vertices, but {glue:text}`on_all` are needed for all inputs. A second lemma, which combines covers of rows, is true for the class of all matrices with such rows, a condition that is not printed.
# ```
# **Needs** nothing but linear algebra. **Read** 9 min. **Runs in** 5 s. **Source** printed.
#
# **Claim.** Two lemmas reduce what a cover has to take into account. First, to cover linear maps on all mixtures, that is, convex combinations, of some inputs it is enough to cover them at these inputs, wherever outputs are compared in a norm. Second, covers of single rows can be combined into a cover of matrices. This holds for the class of all matrices with such rows. For a smaller class it can fail, unless the cover may be taken from outside the class.

# %% tags=["parameters"]
starts = 32  # starting points of each search [16..512]
moves = 100  # trials from each [50..1000]
seed = 0  # of the searches [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.covers import linear as covers
from helpers.rng import Rng, f64
from papers.lengthfree import linear_maps

ledger, rng = Ledger("lengthfree/mixed_inputs"), Rng(seed)
lem3_2, appendix = ledger.result("lengthfree.lem3_2"), ledger.result("lengthfree.appA")

# %% [markdown]
# ## Why one should care
#
# A cover of a class of maps is a finite list in which every map has a member that is close to it *at the inputs*. If the list had to be accurate at every input separately, it would grow with their number, and for a transformer the inputs of a matrix are all tokens of all examples. This chapter proves the step that prevents the growth: the inputs lie in a ball with few corners, and a list that is accurate at the corners is accurate in the whole ball. It is the first of the reasons why the length of the input does not occur in the bounds of this part.
#
# ## Two maps by hand
#
# Take two maps of the plane, the map that sends everything to 0 and the identity $I$. How far are they apart at an input $x$? Their outputs differ by $x$ itself, so at the vertex $(1, 0)$ of the $\ell_1$ ball the difference is $(1, 0)$, which has length 1 in every norm $\|\cdot\|_q$. At the mixture $(\frac12, \frac12)$ of two vertices the difference is $(\frac12, \frac12)$. Its Euclidean length is $0.71$, its largest entry is $0.5$, and its absolute sum is 1. So in none of these norms are the maps farther apart at the mixture than at the vertices. But one can also measure a difference by $\|x\|_{1/2} = (\sqrt{|x_1|} + \sqrt{|x_2|})^2$, and then the difference at the mixture is $(2 \sqrt{1/2})^2 = 2$. {numref}`fig-mixed-inputs` shows the whole edge between two vertices.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "How far the maps 0 and $I$ of the plane are apart at the inputs $(1 - t, t)$, along an edge of the $\\ell_1$ ball, in $\\|\\cdot\\|_q$. For norms, $q \\ge 1$, it is farthest at the ends, the vertices.", "name": "fig-mixed-inputs"}, "image": {"alt": "Four curves against t from 0 to 1, all 1 at both ends. For q one half the curve is an arch up to 2 in the middle. For q 1 it is flat. For q 2 and for infinity it dips, to 0.71 and to 0.5."}} tags=["hide-input"]
t = torch.linspace(0, 1, 101).double()
fig, ax = figures.new(height=2.5)
for i, (q, name) in enumerate(((0.5, "1/2"), (1, "1"), (2, "2"), (math.inf, r"\infty"))):
    apart = torch.linalg.vector_norm(torch.stack((1 - t, t)), q, dim=0)
    ax.plot(t, apart, **figures.line_style(i, label=f"$q = {name}$"))
ax.set(xlabel="share $t$ of the second vertex", ylabel="difference", ylim=(0, 2.1))
ax.legend(ncols=2)
figures.show()

# %% [markdown]
# The curves for $q \ge 1$ lie at or below 1, so on the edge the maps are farthest apart at its ends. The curve for $q = \frac12$ is an arch that reaches 2 between the ends. The reason is that $\|\cdot\|_q$ is convex for $q \ge 1$, and only then.
#
# ## The statements
#
# A class $\mathcal W$ of matrices $W \in \mathbb R^{k \times d}$ acts on inputs $x \in \mathbb R^d$, and $\mathcal F$ is the class of the maps $x \mapsto Wx$. Members of the class *cover* it on some inputs, at scale $\epsilon$, if every $W \in \mathcal W$ has a member $\hat W$ among them with $\|(W - \hat W)x\|_q \le \epsilon$ on all these inputs. (The paper asks for less than $\epsilon$; it makes no difference here.) The least number of such members is the *covering number*. It depends on the inputs, and $N_\infty(\mathcal F, \epsilon, N, \|\cdot\|_q)$ is its largest value over all sets of $N$ inputs. (The $N$ in the bracket counts inputs, whereas $N_\infty$ counts members of the cover.)
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemma 3.2
# :label: lengthfree-lem3-2
# Let the inputs be those with $\|x\|_1 \le B_x$. For every class $\mathcal W$ and $N \ge d$, the covering number $N_\infty(\mathcal F, \epsilon, N, \|\cdot\|_q)$ equals the covering number on the $d$ inputs $B_x e_1, \dots, B_x e_d$.
# ```
#
# The lemma names no range of $q$. We read $\|\cdot\|_q$ as a norm, which it is for $q \ge 1$, and all uses have $q = 2$. Section 2.4 of the paper defines covers for every real $q > 0$, so we also ask what happens below 1.
#
# ```{prf:lemma} Trauger and Tewari (2024), Appendix A
# :label: lengthfree-appA
# Let the scalar maps $x \mapsto w^\top x$ with $\|w\|_r \le B_w$ have log covering number $C$ at scale $\epsilon$ on some inputs. Then a set $\mathcal W$ of matrices with $k$ such rows has log covering number at most $kC$ at scale $k^{1/q}\epsilon$ in the norm $\|\cdot\|_q$, $q > 0$. *(True if $\mathcal W$ holds all such matrices, a condition that is not printed.)*
# ```
#
# ## Vertices are enough
#
# The proof of {prf:ref}`lengthfree-lem3-2` for norms is short. A point with $\|x\|_1 \le B_x$ is a mixture of the vertices $\pm B_x e_i$. For $q \ge 1$ the difference $\|(W - \hat W)x\|_q$ is a convex function of $x$, so it is largest at a vertex, and it is the same at $\pm B_x e_i$. So whatever covers the vertices covers everything. Conversely, a set of $N \ge d$ inputs may contain the $d$ vertices, and then every cover on these inputs is also a cover on the vertices, so that the two numbers are equal. (The paper's proof is the same, with the triangle inequality for the convexity; it writes $W_i - \hat W_i$, by its notation rows, for the columns.)
#
# Below $q = 1$ the function $\|\cdot\|_q$ is not convex, and the example shows that vertices are not enough, with $q = \frac12$, the class $\{0, I\}$, and $\epsilon = \frac32 B_x$. At a vertex the two maps differ by $B_x$, so one of them covers both. At $(\frac12, \frac12) B_x$ they differ by $2 B_x$, so both are needed. The table counts the maps that are needed, and the column *worse by* shows the largest share by which the distance at an input exceeds that at the vertices, in a search over inputs for random differences $W - \hat W$. For a norm a share above 0 would refute the lemma. The last column searches the Euclidean ball $\|x\|_2 \le B_x$ instead, to which the lemma does not apply.

# %%
two_maps = torch.stack((torch.zeros(2, 2), torch.eye(2))).double()
vertices, middle = torch.eye(2).double(), f64([[0.5, 0.5]])
D = rng.normal(starts, 2, 2)  # differences of two maps
D[0] = torch.eye(2)  # where it fails at q = 1/2


def needed(q, inputs):
    return len(covers.greedy_cover(linear_maps.distances(two_maps, two_maps, inputs, q), 1.5))


def worse_than_vertices(q, ball=1):
    """Largest relative excess over the vertices, of inputs whose l1 (or l2) norm is at most 1."""

    def output(x):
        return torch.linalg.vector_norm((D @ x[..., None])[..., 0], q, dim=-1)

    def into_ball(x):
        return x / torch.linalg.vector_norm(x, ball, dim=-1, keepdim=True).clamp(min=1)

    x = covers.climb(output, into_ball, into_ball(rng.normal(starts, 2)), rng.generator, moves)
    top = torch.stack([output(v.expand(starts, 2)) for v in vertices]).amax(0)
    return max(0.0, (output(x) / top - 1).max().item())


qs = pd.DataFrame(index=pd.Index([0.5, 1.0, 2.0, math.inf], name="q"))
qs["needed on vertices"] = [needed(q, vertices) for q in qs.index]
qs["needed on all"] = [needed(q, torch.cat((vertices, middle))) for q in qs.index]
qs["worse by"] = [worse_than_vertices(q) for q in qs.index]
qs["worse by, l2 ball"] = [worse_than_vertices(q, ball=2) for q in qs.index]
table(
    qs,
    "Maps needed for {0, I}, and the worst excess over the vertices",
    form=".2f",
    tiny=1e-9,
    infinite="∞",
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lem3_2.holds(
    "$q = 1, 2, \\infty$: largest relative amount by which the distance at any input "
    "exceeds that at the vertices, in a search; control: inputs with $\\|x\\|_2 \\le B_x$, "
    "least of the three",
    qs.loc[1:, "worse by"].max(),
    at_most=0,
    tol=1e-9,
    control=qs.loc[1:, "worse by, l2 ball"].min(),
    about="statement",
    evidence="proved",
)
on_vertices, on_all = "needed on vertices", "needed on all"
lem3_2.holds(
    "$q = 1$: number of maps that a cover of $\\{0, I\\}$ needs on all inputs, against that on "
    "the vertices; control: $q = \\frac12$, which gives no norm",
    qs.loc[1, on_all],
    equals=qs.loc[1, on_vertices],
    control=qs.loc[0.5, on_all],
    about="statement",
    evidence="attained",
)
glue(on_vertices=qs.loc[0.5, on_vertices], on_all=qs.loc[0.5, on_all])

# %% [markdown]
# For $q = 1, 2, \infty$ no input is worse than the vertices. The same search finds worse inputs for $q = \frac12$, by a factor of two, and for every $q$ in the Euclidean ball, so it would have noticed a failure.
#
# ## From rows to matrices
#
# The second lemma covers each row by itself. If all $k$ rows are off by at most $\epsilon$ at an input, then the $q$-th powers of the $k$ errors sum to at most $k \epsilon^q$, so the output is off by at most $k^{1/q} \epsilon$. For example, four rows that are off by at most $\epsilon$ each give a Euclidean error of at most $\sqrt{4 \epsilon^2} = 2 \epsilon$, which is $4^{1/2} \epsilon$. The bound is attained if all rows are off by $\epsilon$ at the same input, which happens if the matrix repeats its worst row.
#
# One condition matters here. The paper's covers are subsets of the class, but a matrix that is put together from covered rows need not lie in the class, if the class is just *any* set of matrices with bounded rows. For example, let the scalars be $w \in [-1, 1]$, the input 1, and $\epsilon = \frac32$, so that the number 0 covers them and $C = 0$. But two matrices, all entries $1$ and all entries $-1$, are $2 k^{1/q}$ apart, and a class of these two needs both. For the class of *all* matrices with such rows the statement holds, because it contains the matrices that are put together.
#
# The folded cell checks both cases. The class of the two matrices needs two members where one is promised, whereas one member is enough as soon as the matrix 0 belongs to the class, as it does to the class of all such matrices. A matrix that repeats the worst row attains the bound $k^{1/q} \epsilon$ and does not exceed it.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]


def assembled(q, m):
    """Output error over 3^(1/q) times the radius for two terms: the worst row of m terms, repeated."""
    row = torch.full((2,), 0.5 / m, dtype=torch.float64)  # between the averages of m terms
    off = (row - linear_maps.round_to_cover(row, 1.0, m)).norm().expand(3)  # at the worst input
    scalar = linear_maps.covering_radius(2, 1.0, 2)
    return torch.linalg.vector_norm(off, q).item() / (3 ** (1 / q) * scalar)


def members(*values):
    """Members that cover the column matrices of three equal entries, at scale 3/2 times 3^(1/2)."""
    columns = f64(values)[:, None, None].expand(-1, 3, 1)
    apart = linear_maps.distances(columns, columns, f64([[1.0]]), 2)
    return len(covers.greedy_cover(apart, 1.5 * 3**0.5))


appendix.refuted(
    "any class with such rows, covered from inside it: number of members that a cover of "
    "two matrices needs, where 1 is promised; control: with 0 in the class",
    members(1, -1),
    at_most=1,
    control=members(1, -1, 0),
    about="condition",
    evidence="attained",
)
appendix.holds(
    "all matrices with such rows: error in units of $k^{1/q} \\epsilon$ of the matrix that "
    "repeats the worst row, which attains the bound, for $q = \\frac12, 1, 2, \\infty$; "
    "control: averages with one term fewer",
    max(assembled(q, 2) for q in (0.5, 1, 2, math.inf)),
    at_most=1,
    tol=1e-9,  # relative, of sums of a few numbers
    control=min(assembled(q, 1) for q in (0.5, 1, 2, math.inf)),
    about="statement",
    evidence="proved",
)
appendix.holds(
    "all matrices with such rows: number of members that a cover of the two matrices needs,"
    " where 1 is promised; control: the class has only these two",
    members(1, -1, 0),
    at_most=1,
    control=members(1, -1),
    about="statement",
    evidence="attained",
)
glue(needed_signs=members(1, -1))

# %% [markdown]
# ## What we found
#
# * Inputs of bounded $\ell_1$ norm need no larger cover than the vertices, for every norm of the outputs. For $0 < q < 1$, where $\|\cdot\|_q$ is no norm, this fails, but no use in the paper has such a $q$.
# * Appendix A is true for the class of all matrices with bounded rows. No other result of the paper rests on it. For another class the cover has to be taken from outside the class.
#
# ```{finding} lengthfree.appA
# :title: A matrix of covered rows may lie outside the class
# :group: condition
#
# **Statement.** If the single rows have a cover whose size has the logarithm $C$, any set $\mathcal W$ of matrices with $k$ such rows has a cover whose size has the logarithm $kC$.
#
# **Counterexample.** The statement can fail only for sets that lack some of the matrices with such rows. Take as rows the scalars in $[-1, 1]$ and $\epsilon = \frac32$. The number 0 is within $\epsilon$ of all of them, so $C = 0$. Let the set consist of two matrices, one with all entries 1 and one with all entries $-1$. Then {glue:text}`needed_signs` matrices of this set are needed, not 1.
#
# **Why.** The matrices put together from covered rows need not belong to the class, as the paper's covers must.
#
# **Repair.** Take the class of all matrices with such rows, or allow covers from outside the class.
#
# **What survives.** All of it for the class of all such matrices. No other result of the paper rests on it.
# ```
#
# ## What would falsify this
#
# Lemma 3.2 would be false if some input were worse than all vertices, as happens in the controls, the Euclidean ball and $q = \frac12$. Appendix A would be false if a matrix of covered rows had a larger error than stated; the computed matrix attains the bound, and the control is a coarser cover of the rows. It is false for a class of two matrices, which shows that its condition is needed.

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
# :label: ex-mixed-vertex
#
# *By hand.* Let two maps of the plane differ by the matrix with the rows $(1, 2)$ and $(0, 1)$. At which input of the $\ell_1$ ball of radius 1 do their outputs differ most in the Euclidean norm, and at which input with both entries between $-1$ and 1?
# ```
#
# ```{solution} ex-mixed-vertex
# :class: dropdown
#
# On the $\ell_1$ ball only the columns have to be compared. They are $(1, 0)$ and $(2, 1)$, with lengths 1 and $\sqrt5$, so the worst inputs are $\pm e_2$. On the square the corners decide, again because the length is a convex function. At $(1, 1)$ the difference is $(3, 1)$, of length $\sqrt{10}$, and at $(1, -1)$ it is $(-1, -1)$, of length $\sqrt2$. So the worst inputs of the square are $\pm(1, 1)$.
# ```
#
# ```{exercise}
# :label: ex-mixed-inputs
#
# *With pencil and paper.* Which finitely many inputs are enough for the ball $\|x\|_\infty \le B_x$, and for $\|x\|_2 \le B_x$?
# ```
#
# ```{solution} ex-mixed-inputs
# :class: dropdown
#
# For $\|x\|_\infty$ the $2^d$ corners are enough, and by symmetry half of them. For $\|x\|_2$ and $d \ge 2$ no finite set is enough, because every point of the sphere is extreme. For the two maps 0 and $v v^\top$, $\|v\|_2 = 1$, the difference is largest at $\pm B_x v$ only, and a set that has neither of these points shows a smaller one.
# ```
#
# ```{exercise}
# :label: ex-mixed-exponent
#
# *With the computer.* Run the chapter with more random differences, `python -m bookkit.run lengthfree/mixed_inputs -p starts 512 --out my_run`, and see whether any input is worse than the vertices. Then let $q$ approach 1 from below: how much worse than the vertices is the middle of an edge for the maps 0 and $I$, and at which $q$ does the lemma begin to hold?
# ```
#
# ```{solution-start} ex-mixed-exponent
# :class: dropdown
# ```
#
# The difference at the middle is the vector $(\frac12, \frac12)$, whose $\|\cdot\|_q$ is $2^{1/q - 1}$.

# %%
at_middle = {}
for q in (0.25, 0.5, 0.75, 0.9, 0.99, 1.0, 2.0):
    found = torch.linalg.vector_norm(middle[0], q).item()
    at_middle[q] = {"at the middle": found, "2 to the power 1/q - 1": 2 ** (1 / q - 1)}
answer = pd.DataFrame(at_middle).T.rename_axis("q")
table(answer, "Difference of 0 and I at the middle of an edge; 1 at the vertices", form=".3f")

# %% [markdown]
# The excess shrinks continuously and is gone at $q = 1$ exactly. So the failure of the lemma sets in gradually: for $q$ just below 1 a cover of the vertices is nearly a cover of everything.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-mixed-activation
#
# *To think about.* Apply an activation after the maps, $x \mapsto \mathrm{ReLU}(Wx)$. Is it still enough to look at the inputs $B_x e_1, \dots, B_x e_d$? If not, how can one still use a cover of the linear maps?
# ```
#
# ```{solution} ex-mixed-activation
# :class: dropdown
#
# It is not enough, because the maps with the single rows $(-1, -1)$ and $(-2, -2)$ agree at $e_1$ and $e_2$, where both give 0, but at $-e_1$ they give 1 and 2. The difference of two such maps is no longer a convex function of the input. But ReLU moves no two numbers apart, so a cover of the linear maps at scale $\epsilon$ is also one of the maps with the activation. This is why the covers of this part are built for linear maps and carried through the layers afterwards.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`lengthfree`. For maps to numbers it was known that the number of inputs can be replaced by their dimension; the paper names {cite:t}`kontorovich2021`, who call this folklore.
