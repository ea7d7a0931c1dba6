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
# (ch-linear-covers)=
# # Covers of linear maps that do not count the inputs
#
# ```{verdict}
# How many matrices can stand in for all of bounded norm, up to a given error? The paper's Lemmas 3.4 and 3.5 answer this for bounded columns, and both are false as printed. For {glue:text}`k_wide` rows, columns and inputs the constant hidden in either would have to be at least {glue:text}`forced_best:.0f`, and it grows with them without limit. For 64 of each, as in the paper's experiment, our argument forces only about {glue:text}`square_34:.1f`. For bounded rows 7 is enough, in Lemma 3.5 with another logarithm, wherever the logarithm is not 0.
# ```
# **Needs** {ref}`ch-mixed-inputs`. **Read** 16 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** Finitely many matrices can stand in for all matrices of bounded norm, up to an error $\epsilon$ on every bounded input, and their number need not grow with the number of inputs. The paper has three such bounds, of which two are the subject of {ref}`ch-rounding`. The third, Lemma 3.4, is the subject here, with the lemma behind it. Lemma 3.4 is about all inputs for which the sum of the absolute values of the entries is bounded, and Lemma 3.5 about finitely many inputs of bounded length. Lemma 3.4 holds if the rows of the matrices are bounded, and not if their columns are. Lemma 3.5 for rows needs the number of outputs in its logarithm, in place of the dimension of the inputs.

# %% tags=["parameters"]
k_wide = 4096  # outputs in the refutation of Lemmas 3.4 and 3.5 [1024..65536]
starts = 32  # starting points of each search [8..128]
moves = 100  # trials from each [50..500]
seed = 0  # of the searches [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.covers import linear as covers
from helpers.rng import Rng, f64
from papers.lengthfree import linear_maps

ledger, rng = Ledger("lengthfree/linear_covers"), Rng(seed)
lem3_4, lem3_5 = ledger.result("lengthfree.lem3_4"), ledger.result("lengthfree.lem3_4.lem3_5")
rounding = 1e-9  # relative, of sums of some hundred numbers

# %% [markdown]
# ## Why one should care
#
# A bound on generalization contains the logarithm of the number of different functions that a class contains, counted at some accuracy. For attention layers that number can be counted matrix by matrix, and if it depended on the number of inputs at which a matrix is used, every token would make the bound worse. So everything in this part rests on covers of linear maps that do not count inputs. Whether such a cover is small depends on the norm that is bounded. Two norms that differ by a transpose look alike on paper, but one of them controls the size of a cover and the other does not.
#
# ## A row and a column by hand
#
# Let a matrix be a single *row* of $d$ numbers, whose Euclidean length is at most 1, so that the output is one number, and let the inputs be $e_1, \dots, e_d$. How many rows are enough to replace all of them, up to an error of $\frac12$? At most three entries of a row exceed $\frac12$ in absolute value, because the squares of four such entries would sum to more than 1. Replace these entries by $\pm \frac12$ and all others by 0. Then no output is off by more than $\frac12$, and the new row is known once we know at most three places and their signs. So at most $(2d + 1)^3$ rows are needed, and the logarithm of their number grows like $3 \log d$.
#
# Now let the matrix be a single *column* of $k$ numbers, again of Euclidean length at most 1, and let the only input be the number 1. The output is the column itself, a point of the unit ball of $\mathbb R^k$. Balls of radius $\frac12$ have $2^{-k}$ times the volume of the unit ball, so at least $2^k$ of them are needed to cover it, and the logarithm of their number is at least $k \log 2$. The next lines compute both, and check the rounding of rows at 1000 random ones.

# %%
by_hand, fresh = {}, Rng(seed)
for n in (10, 100, 1000):
    w = fresh.normal(1000, n) * fresh.log_uniform(1e-3, 1, 1000, n)
    w = w / w.norm(dim=-1, keepdim=True)
    rounded = 0.5 * w.sign() * (w.abs() > 0.5)
    by_hand[n] = {
        "row, at most": 3 * math.log(2 * n + 1),
        "column, at least": n * math.log(2),
        "error of a row": (w - rounded).abs().max().item(),
    }
by_hand = pd.DataFrame(by_hand).T.rename_axis("entries")
table(by_hand, "Log size of a cover at ε = 1/2, one row and one column", form=".2f")

# %% [markdown]
# At ten entries the two are alike, but at a thousand the column needs a cover whose log size is larger by a factor of 30. A lemma that claims the growth of the row for the column as well must therefore be false.
#
# ## The statement
#
# A matrix $W \in \mathbb R^{k \times d}$ maps inputs $x \in \mathbb R^d$ to outputs $Wx \in \mathbb R^k$. Its norm $\|W\|_{2,1}$ is the sum of the lengths of its columns. In general, with the columns $W_{:,i}$ we write $\|W\|_{q,p} = \bigl\| (\|W_{:,1}\|_q, \dots, \|W_{:,d}\|_q) \bigr\|_p$. (The paper prints $r$ for the outer index $p$. In our counterexamples only one column is other than 0, so that $\|W\|_{q,p}$ is the same for every outer index.)
#
# Some members of a class of matrices *cover* it at scale $\epsilon$ on some inputs if every $W$ of the class has one of these members, $\hat W$, with $\|(W - \hat W)x\|_2 \le \epsilon$ on all these inputs. $N_\infty$ is the least number of members that do. Its logarithm, always natural here, is what bounds on generalization contain. Matrices are bounded by $B_w$ and inputs by $B_x$, and $a = B_w^2 B_x^2/\epsilon^2$.
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemmas 3.4 and 3.5
# :label: lengthfree-lem3-4
# *(Refuted below as printed.)* For matrices with $\lVert W \rVert_{2,1} \le B_w$, on any $N > d$ inputs (any $n$ in 3.5):
#
# | lemma | inputs | bound on $\log N_\infty$ |
# |:--|:--|:--|
# | 3.4 | $\lVert x \rVert_1 \le B_x$ | $\lesssim a \log(dk)$ |
# | 3.5 | $\lVert x \rVert_2 \le B_x$ | $\lesssim a \log(dn)$ |
#
# Here $\lesssim$ hides a constant and logarithms of anything but $d$, $k$ and $n$.
# ```
#
# Lemma 3.4 follows from Lemma 3.5 on the $d$ inputs $B_x e_1, \dots, B_x e_d$, because these suffice by {prf:ref}`lengthfree-lem3-2`. Lemma 3.5 is credited to {cite:t}`variables`, as Lemma 4.6; of their paper we have the review version of October 2021 only, whose Lemma 4.5 is {prf:ref}`variables-lem4-5`. Nothing changes if $W$, $x$ and $\epsilon$ are measured in units of $B_w$, $B_x$ and $B_w B_x$, so let $B_w = B_x = 1$ and $a = 1/\epsilon^2$ from here on.
#
# ## Columns: a ball in too many dimensions
#
# The single column of the example refutes both lemmas. Let only the first column $w \in \mathbb R^k$ of $W$ be other than 0, with $\|w\|_2 \le 1$, and let $e_1$ be the only input, or one of several, since more inputs never make a cover smaller. To cover the class is then to cover the unit ball of $\mathbb R^k$ by balls of radius $\epsilon$, which by volume takes at least $\epsilon^{-k}$ of them. So at $\epsilon = \frac12$, where $a = 4$, the log size is at least $k \log 2$. But what do the lemmas promise?
#
# * *Lemma 3.4 at $d = 1$* promises a multiple of $4 \log k$.
# * *Lemma 3.5 at $d = 2$, $n = 1$* promises a multiple of $4 \log 2$ for every $k$.
#
# No constant, and no power of a logarithm, can make up for this difference. Layers in use have more than one or two input coordinates, however. So we also take $d = k = n$, with the inputs $e_1, \dots, e_d$, where both lemmas promise a multiple of $4 \log(k^2)$, twice as much as Lemma 3.4 at $d = 1$. The next figure divides $k \log 2$ by what is promised. The quotient is the constant that columns force, and the lemmas can be true only if it stays bounded.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The constant in front of $a \\log(dk)$ (Lemma 3.4) and of $a \\log(dn)$ (Lemma 3.5) that columns force at $\\epsilon = \\frac12$, and the constant that is enough for rows at $d = k = n$, by the theorem below.", "name": "fig-rows-columns"}, "image": {"alt": "Four curves against the number of outputs on logarithmic axes. The three for columns rise steeply, nearly as straight lines, from between a half and four to between five hundred and above ten thousand. The one for rows falls slowly towards two."}} tags=["hide-input"]
widths = sorted({16, 64, 256, 1024, 4096, 65536, k_wide})
ball = {k: linear_maps.volume_bound(k, 1.0, 0.5, 2) for k in widths}  # k log 2
forced = pd.DataFrame(index=pd.Index(widths, name="k"))
forced["columns, both, d = k = n"] = [
    ball[k] / linear_maps.bound_l2_columns(k, k, 1, 1, 0.5) for k in widths
]
forced["columns, Lemma 3.4, d = 1"] = [
    ball[k] / linear_maps.bound_l2_columns(k, 1, 1, 1, 0.5) for k in widths
]
forced["columns, Lemma 3.5, d = 2, n = 1"] = [
    ball[k] / linear_maps.bound_on_points(1, 2, 1, 1, 0.5) for k in widths
]
forced["rows, enough"] = [math.log((k + 1) * (2 * k + 1)) / math.log(k) for k in widths]

fig, ax = figures.new(height=2.7)
for i, name in enumerate(forced):
    ax.plot(widths, forced[name], **figures.series_style(i, label=name))
ax.set(xscale="log", yscale="log", xlabel="outputs $k$", ylabel="constant")
figures.ticks(ax, widths)
ax.legend()
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-cell"]
table(forced, "Constants that columns force at ε = 1/2, and one that is enough for rows")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
forced_square, forced_34, forced_35, enough = forced.loc[k_wide]
enough_1 = 2 * math.log(3 * (k_wide + 1)) / math.log(k_wide)  # for rows at d = n = 1
_, own_34, own_35, _ = forced.loc[64]  # the width of the paper's experiment
worst = math.exp(-0.5)  # where epsilon^2 log(1/epsilon) is largest, so that volume forces most
square_34 = linear_maps.volume_bound(64, 1.0, worst, 2)
square_35 = square_34 / linear_maps.bound_on_points(1, 64, 1, 1, worst)
square_34 /= linear_maps.bound_l2_columns(64, 64, 1, 1, worst)
best = linear_maps.volume_bound(k_wide, 1.0, worst, 2)
glue(forced_best=best / linear_maps.bound_l2_columns(k_wide, k_wide, 1, 1, worst))
glue(k_wide=k_wide, forced_square=forced_square, forced_34=forced_34, forced_35=forced_35)
glue(own_34=own_34, own_35=own_35, square_34=square_34, square_35=square_35)
for result, name, value, where, rows in (
    (lem3_4, "Lemma 3.4", forced_square, f"$d = k = {k_wide}$", enough),
    (lem3_4, "Lemma 3.4", forced_34, f"$d = 1$, $k = {k_wide}$", enough_1),
    (lem3_5, "Lemma 3.5", forced_square, f"$d = k = n = {k_wide}$", enough),
    (lem3_5, "Lemma 3.5", forced_35, f"$d = 2$, $n = 1$, $k = {k_wide}$", enough_1),
):
    result.refuted(
        f"{name} as printed, with bounded columns: constant that a class forces at {where}, "
        "against 7, which is enough for rows (it grows without limit with $k$, by the proof on "
        "the page); control: the constant that is enough for rows there",
        value,
        at_most=7,
        control=rows,
        about="statement",
        evidence="proved",
    )
# One row of d entries, on all inputs of 2-norm at most 1: again the unit ball, of R^d.
hidden = linear_maps.volume_bound(k_wide, 1.0, 0.5, 2)
hidden /= linear_maps.bound_l2_columns(k_wide, k_wide, 1, 1, 0.5)
lem3_4.refuted(
    "with bounded rows, on all inputs with $\\|x\\|_2 \\le 1$, as Corollary F.0.2 uses it: constant "
    f"that a class forces at $d = k = {k_wide}$; control: the constant that is enough on all "
    "inputs with $\\|x\\|_1 \\le 1$",
    hidden,
    at_most=7,
    control=enough,
    about="ours",
    evidence="proved",
)
glue(hidden=hidden)

# %% [markdown]
# {numref}`fig-rows-columns` shows the constant that would have to stand in front of each lemma, and for comparison one that is enough for rows. The three curves for columns rise nearly like straight lines on logarithmic axes, so no constant is large enough for all $k$, whereas the curve for rows falls slowly towards 2. At $k =$ {glue:text}`k_wide` the forced constants are:
#
# | lemma | inputs | error $\epsilon$ | forced constant |
# |:--|:--|:--|:--|
# | both | $d = k = n$ | $\frac12$ | {glue:text}`forced_square:.1f` |
# | both | $d = k = n$ | $e^{-1/2}$, which forces most | {glue:text}`forced_best:.1f` |
# | 3.4 | one coordinate, $d = 1$ | $\frac12$ | {glue:text}`forced_34:.0f` |
# | 3.5 | two coordinates and one input, $d = 2$, $n = 1$ | $\frac12$ | {glue:text}`forced_35:.0f` |
#
# How much is forced at the size of the paper's experiment, $d = k = 64$? The volume of a single column forces most at $\epsilon = e^{-1/2}$: a constant of about {glue:text}`square_34:.1f` in Lemma 3.4, and of about {glue:text}`square_35:.1f` in Lemma 3.5 with a single input. Other values of $\epsilon$ force less, and so do more inputs. (The curves of the figure are higher at $k = 64$, {glue:text}`own_34:.1f` and {glue:text}`own_35:.0f` for $\epsilon = \frac12$, but they are for one input coordinate in Lemma 3.4 and for two in Lemma 3.5, not for 64.) So at that size this argument does not show the difference, but in wide layers no constant hides it.
#
# The difference comes from a transpose: the argument by which one proves such covers of $x \mapsto Wx$ is about rows. What is true if one reads rows for columns, we ask next. Whether the columns are a misprint, we ask at the end of the page.
#
# ### A kinder reading
#
# A kinder reading replaces columns by rows in both lemmas. (Trauger and Tewari do not mean rows by $\|\cdot\|_{q,p}$, since they define the norm by columns, and their Lemma 3.3, in the same notation, needs columns.) What would be true then?
#
# * *Lemma 3.4* is true with rows for $dk \ge 2$ (at $d = k = 1$ its bound is 0).
# * *Lemma 3.5* is not yet true. It needs $\log(kn)$, the logarithm of outputs times inputs, in place of $\log(dn)$ (see the exercise). At $n = d$ that is the $\log(dk)$ of Lemma 3.4, whereas $\log(dn)$ would give $\log(d^2)$.
#
# Would rows be enough where the paper uses Lemma 3.4? The paper does so in two places.
#
# * *In Corollary D.0.2* rows are enough, and D.0.2 holds for columns too, by another proof ({ref}`ch-single-layer-corollaries`).
# * *In Corollary F.0.2* they are not enough, because the lemma is used there on hidden tokens, of which only the 2-norm is bounded ({ref}`ch-layer-by-layer`). For all inputs with $\|x\|_2 \le 1$ the lemma is false for rows as well. To see this, let only one row of $W$ be other than 0. The largest error on these inputs is the distance of the two rows, so to cover the class is again to cover a unit ball, this time of $\mathbb R^d$. At $d = k =$ {glue:text}`k_wide` a constant of {glue:text}`hidden:.1f` is forced again.
#
# ## Rows: the repaired lemma
#
# ```{prf:theorem} Lemmas 3.4 and 3.5, repaired (ours)
# :label: covers-rows
# Let the lengths of the rows sum to at most $B_w$, that is, $\|W^\top\|_{2,1} \le B_w$. For any $n$ inputs with $\|x_i\|_2 \le B_x$ the class of these matrices has
#
# $$\log N_\infty(\mathcal F, \epsilon, \{x_i\}, \|\cdot\|_2) \le 2a \log\bigl( (k+1)(2n+1) \bigr) \le 7\, a \log(kn) \quad (kn \ge 2).$$
#
# For all inputs with $\|x\|_1 \le B_x$, however many, the same with $d$ in place of $n$.
# ```
#
# **The idea of the proof.** In the example a row was rounded entry by entry. For general inputs we round it step by step instead. We start from 0, look for the input at which the current row is still far off, and take a step in the direction of this input. Every such step brings us nearer to the row, so few steps are needed, and the result is known once we know which inputs were used. This is why the number $n$ of inputs stands under the logarithm. With several rows the total length has to be shared: we round the length of each row down to a whole multiple of a unit, and allow a long row to be further off than a short one, since it may also take more steps.
#
# ```{dropdown} Proof
# We choose a unit, walk to each row, and add up errors and possibilities.
#
# Let $\tau = \epsilon^2/2$ be the unit, $z_j = \lfloor \|W_j\|/\tau \rfloor$, and $U_j$ the row $W_j$ shortened to length $s_j = z_j \tau$.
#
# *The walk.* Start from $V_j = 0$. While some input has $|(U_j - V_j) \cdot x_i| > \tau \sqrt{z_j}$, take one where this is largest, add $\pm \tau \sqrt{z_j}\, x_i$ to $V_j$, with the sign of $(U_j - V_j) \cdot x_i$, and if $V_j$ is now longer than $s_j$, shorten it to $s_j$. Adding changes $\|U_j - V_j\|^2$ by less than $-2 \tau^2 z_j + \tau^2 z_j \|x_i\|^2 \le -\tau^2 z_j$; shortening does not increase it, since $U_j$ lies in the ball of radius $s_j$. This square is $\tau^2 z_j^2$ at the start, so there are fewer than $z_j$ steps.
#
# *The error* at an input consists of two parts, which we write with $S = \sum_j s_j \le 1$. Shortening contributes $\sum_j (\|W_j\| - s_j)^2 \le \tau \sum_j (\|W_j\| - s_j) \le \tau (1 - S)$, and the walk contributes $\sum_j \tau^2 z_j = \tau S$, so together the error is at most $\sqrt\tau\, (\sqrt{1 - S} + \sqrt S) \le \sqrt{2 \tau} = \epsilon$.
#
# *The count.* The whole numbers $z_j$ sum to at most $1/\tau = 2a$, so there are at most $(k+1)^{2a}$ choices of them. Given these, a row with $z_j > 0$ has at most $\sum_{m < z_j} (2n)^m \le (2n+1)^{z_j}$ walks, and all rows together have at most $(2n+1)^{2a}$. No length exceeds $s_j \le \|W_j\|$, so each member is in the class.
#
# *The constant.* $2 \log((k+1)(2n+1))/\log(kn)$ is 6.34 at $k = 2$, $n = 1$ and 6.64 at $k = 1$, $n = 2$. For $kn \ge 3$ it is at most $2 + 2 \log 6/\log(kn) \le 5.3$, as $(k+1)(2n+1) \le 6kn$.
#
# *The ball.* For all inputs with $\|x\|_1 \le 1$ take the $n = d$ inputs $e_1, \dots, e_d$, and use {prf:ref}`lengthfree-lem3-2`. $\square$
# ```
#
# (The paper asks for errors *less than* $\epsilon$. For these, walk on while the gap is *at least* $\tau \sqrt{z_j}$, in rows with $z_j > 0$; the other rows stay 0. Then a walk has at most $z_j$ steps, and the count stays.)
#
# The proof is an algorithm, so we can run it and attack it. The next cell is the rounding of the proof, and three things about it could go wrong: an error above $\epsilon$, a walk with too many steps, or a member outside the class.


# %%
def member(W, X, epsilon, tolerance=1.0, shorten=True):
    """The member that stands for W on the inputs X, its whole lengths, and its numbers of steps."""
    tau = epsilon**2 / 2
    whole = (W.norm(dim=-1) / tau).floor()  # (..., k)
    longest = tau * whole
    U = W * (longest / W.norm(dim=-1).clamp(min=1e-300))[..., None]
    step = tau * whole.sqrt()
    V, steps = torch.zeros_like(W), torch.zeros_like(whole)
    while True:
        gaps = (U - V) @ X.mT  # (..., k, n)
        gap, i = gaps.abs().max(-1)
        late = gap > tolerance * step
        if not late.any():
            return V, whole, steps
        x = X.gather(-2, i[..., None].expand(*i.shape, X.shape[-1]))
        move = step * late * gaps.gather(-1, i[..., None])[..., 0].sign()
        V = V + move[..., None] * x
        if shorten:
            V = V * (longest / V.norm(dim=-1).clamp(min=1e-300)).clamp(max=1)[..., None]
        steps += late


def error(W, X, epsilon):
    """Largest output error of the member over epsilon."""
    off = (W - member(W, X, epsilon)[0]) @ X.mT
    return off.norm(dim=-2).amax(-1) / epsilon


# %% [markdown]
# An adversary, which is a search for the largest error, changes the matrix and the inputs together. An error above $\epsilon$ would refute the repaired lemmas. With hundreds of rows or inputs we allow the search only a tenth of the trials, and it finds little more than random draws do. Two more instances are made by hand, to attain the two limits in the proof:
#
# * *Four equal rows* of length just below $2\tau = \frac14$, at $\epsilon = \frac12$, use both parts of the error in full.
# * *One row* that has equal parts along {glue:text}`apart` orthonormal inputs needs as many steps as are allowed.

# %% mystnb={"code_prompt_hide": "The adversary", "code_prompt_show": "The adversary"} tags=["hide-input"]


def split(state, k):
    """A matrix whose row lengths sum to at most 1, and inputs of length at most 1."""
    W, X = state[:, :k], state[:, k:]
    W = W / W.norm(dim=-1).sum(-1).clamp(min=1)[:, None, None]
    return W, X / X.norm(dim=-1, keepdim=True).clamp(min=1)


def attack(objective, k, d, n):
    """Largest value found over matrices and inputs, from rows of very different lengths."""
    start = rng.normal(starts, k + n, d)
    start[:, :k] *= rng.log_uniform(0.01, 10, starts, k, 1)
    trials = moves if k + n <= 100 else moves // 10
    end = covers.climb(lambda s: objective(*split(s, k)), lambda s: s, start, rng.generator, trials)
    return objective(*split(end, k)).max().item()


def overlong(shorten):
    """Length of the member over the whole length of its row, 10, on three inputs."""
    row = f64([[5, 19, 2]]) / math.sqrt(390)
    X = f64([[-10, 16, 7], [16, 12, 1], [4, 19, -7]])
    epsilon = math.sqrt(2 / 10.5)
    V, whole, _ = member(row, X / X.norm(dim=-1, keepdim=True), epsilon, shorten=shorten)
    return (V.norm() / (whole * epsilon**2 / 2)).item()


tries = {
    (k, d, n): [] for k, d, n in ((1, 2, 3), (4, 3, 6), (3, 20, 30), (300, 2, 300), (2, 300, 300))
}
for shape, found in tries.items():
    for epsilon in (0.7, 0.25):
        found.append(attack(lambda W, X, e=epsilon: error(W, X, e), *shape))
equal_rows = f64([1 - 1e-9, 0.0]).expand(4, 2) / 4
attained = error(equal_rows, torch.eye(2).double(), 0.5).item()
one_column = torch.full((400, 1), 0.05, dtype=torch.float64)  # of length 1
column_error = error(one_column, torch.eye(1).double(), 0.5).item()


def steps_used(apart, tolerance=1.0):
    """Steps plus 1 over the whole length, 50, of a row with equal parts along orthonormal inputs."""
    row = torch.full((1, apart), apart**-0.5, dtype=torch.float64)
    _, whole, steps = member(row, torch.eye(apart).double(), math.sqrt(2 / 50.5), tolerance)
    return ((steps + 1) / whole).item()


# %% tags=["nbval-ignore-output"]
names = ["k, d, n", "at ε = 0.7", "at ε = 0.25"]
attacked = pd.DataFrame([(str(shape), *found) for shape, found in tries.items()], columns=names)
attacked.loc[len(attacked)] = ("four equal rows, ε = 0.5", None, attained)
table(attacked, "Largest error over ε that was found", form=".3f", none="")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lem3_5.repaired(
    "bounded rows: largest distance of a matrix from its member of the cover, in units of "
    "$\\epsilon$, found by searches and for four equal rows; control: one column of 400 "
    "rows",
    attacked[names[1:]].max().max(),
    at_most=1,
    tol=rounding,
    control=column_error,
    about="statement",
    evidence="proved",
)
lem3_5.repaired(
    "bounded rows: ratio of the number of steps plus 1 to the number that the proof allows,"
    " for 49 orthonormal inputs; control: 130 inputs and the tolerance 0.6",
    steps_used(49),
    at_most=1,
    control=steps_used(130, 0.6),
    about="statement",
    evidence="proved",
)
lem3_5.repaired(
    "bounded rows: ratio of the length of a row of the member to the length that the proof "
    "allows, for three inputs; control: a row that is not shortened",
    overlong(True),
    at_most=1,
    tol=rounding,
    control=overlong(False),
    about="statement",
    evidence="proved",
)
kn = [(k, n) for k in range(1, 65) for n in range(1, 65) if k * n > 1]
lem3_4.repaired(
    "bounded rows: largest $2 \\log((k+1)(2d+1))/\\log(dk)$ for $d, k \\le 64$, the "
    "constant that is enough; control: the constant that bounded columns force",
    max(2 * math.log((k + 1) * (2 * n + 1)) / math.log(k * n) for k, n in kn),
    at_most=7,
    control=forced_34,
    about="statement",
    evidence="proved",
)
glue(apart=49, attained=attained, column_error=column_error)

# %% [markdown]
# No error exceeds $\epsilon$, and the four equal rows reach {glue:text}`attained:.3f` of it, so this estimate of the error cannot be improved. For comparison, one column of length 1 that is spread over 400 rows has an error of {glue:text}`column_error:.1f` $\epsilon$ in the same rounding. Neither $k$ nor $n$ can leave the logarithm (see the exercise).
#
# The bound of Lemma 3.4 does not change when there are more inputs, whereas that of Lemma 3.5 grows with $\log n$. This independence of the number of inputs is the property that the paper needs, and for inputs of bounded 1-norm it survives.
#
# ## Is it a misprint?
#
# Theorem 4.1 of the same paper has rows where columns are needed, and we count this as a misprint ({ref}`ch-single-layer-bound`), because the paper's own proof has the right norms. Here the paper has no proof of the lemma that shows that rows are meant. It cites Lemma 3.5 and deduces Lemma 3.4 from it, both with the norm of columns. Corollary D.0.2 then asks for this norm of $W_{QK}$, which the proof of Theorem 4.1 multiplies as $W_{QK} x$. And in Lemma 3.5 rows for columns are not enough, as we have seen. So we judge the lemmas as they are printed.
#
# *For a transpose* there are three passages. The definition of the layer has $W_{QK}^\top x$, and for this product the norm would be that of rows, but the paper does not say that the lemma is applied to the transpose. Likewise Appendix E covers the maps $x \mapsto W_v^\top x$, for which $\|W_v\|_{2,1}$ would be the norm of rows, and Appendix A goes from one output to many by rows. So the authors may have had $x \mapsto W^\top x$ in mind. *Against it* is that the same Appendix E covers $x \mapsto W_{QK} x$ with the same norm. Neither appendix says which norm Lemma 3.4 means.
#
# What about the source? The review version of {cite:t}`variables` has a similar slip in its Lemma 4.5, {prf:ref}`variables-lem4-5`, which bounds columns and writes $Wx$, but what it proves is about $W^\top x$. In that version $Wx$ is not defined, so it can be read as $W^\top x$. In {cite:t}`lengthfree`, whose lemmas we judge, $W$ is $k \times d$ and $Wx$ is defined, so the lemma makes a statement about columns, and this statement is false. Lemma 4.5 is another lemma, however: its matrices have $d_2$ columns of length at most $B_\infty$, and its factor is $d_2^2 B_\infty^2$, or $d_2 B_1 B_\infty$ if the sum $B_1$ of the lengths is bounded too, not $B_1^2$. Whether Lemma 4.6 of the published version, which {cite:t}`lengthfree` cite, has the slip we do not know.
#
# ## What we found
#
# * Lemmas 3.4 and 3.5 are false for columns, as printed, by a factor that grows with the number of outputs. At the size of the paper's experiment our argument does not show the failure.
# * For rows Lemma 3.4 is true as it stands, for $dk \ge 2$, and Lemma 3.5 is true with $\log(kn)$, for $kn \ge 2$. The explicit bound is $2a \log((k+1)(2n+1))$, and the cover consists of members of the class.
# * Rows are enough for Corollary D.0.2. They are not enough for F.0.2, which uses Lemma 3.4 on tokens of bounded 2-norm.
#
# ```{finding} lengthfree.lem3_4
# :title: Lemma 3.4 holds for rows, not for columns
# :group: false statement
#
# **Statement.** As printed: if the columns' $\ell_2$ norms sum to at most $B_w$, the log covering number is of order $a \log(dk)$ for inputs with $\|x\|_1 \le B_x$, with $a = B_w^2 B_x^2/\epsilon^2$.
#
# **Counterexample.** Let only the first column be other than 0. At $\epsilon = \frac12 B_w B_x$ the log covering number is at least $k \log 2$, by volume. At $d = k =$ {glue:text}`k_wide`, a width in use, a constant of {glue:text}`forced_square:.1f` is forced ({glue:text}`forced_best:.0f` at the $\epsilon$ that forces most), and it grows like $k / \log k$. At $d = 1$, with one input coordinate, it is {glue:text}`forced_34:.0f`. At the size of the paper's experiment, $d = k = 64$, this argument forces a constant of {glue:text}`square_34:.1f` only, whatever $\epsilon$ is, so the failure shows in wide layers.
#
# **Why.** Lemma 3.4 is Lemma 3.5 on $d$ inputs, and that lemma bounds the columns of $W$ where the argument for $x \mapsto Wx$ needs the rows. This is not counted as a misprint, as the like exchange in Theorem 4.1 is, because the paper has no proof of the lemma with the right norm. (Appendix E covers $x \mapsto W_v^\top x$, for which columns would be right, and $x \mapsto W_{QK} x$, for which they would not.)
#
# **Repair.** If $\|W^\top\|_{2,1} \le B_w$, the log covering number is at most $2a \log((k+1)(2d+1))$, and so $7\, a \log(dk)$ for $dk \ge 2$, with members of the class.
#
# **What survives.** The lemma for rows, word for word, if $dk \ge 2$. It is used in two places. Corollary D.0.2 survives, for columns too, by another proof. Corollary F.0.2 uses the lemma on tokens of bounded 2-norm, for which it is not made; there it fails for rows as well.
# ```
#
# ```{finding} lengthfree.lem3_4.lem3_5
# :title: Lemma 3.5 bounds columns where the map takes rows
# :group: false statement
#
# **Statement.** As printed, after an earlier paper: for the same class and any $n$ inputs with $\|x\|_2 \le B_x$ the log covering number is of order $a \log(dn)$.
#
# **Counterexample.** Let only the first column be other than 0, and let $B_x e_1$ be an input. At $d = k = n =$ {glue:text}`k_wide` and $\epsilon = \frac12 B_w B_x$ a constant of {glue:text}`forced_square:.1f` is forced, by volume ({glue:text}`forced_best:.0f` at the $\epsilon$ that forces most), and it grows like $k/\log k$. With fewer inputs or coordinates more is forced: at $d = 2$, $n = 1$ the constant is {glue:text}`forced_35:.0f`, and it grows like $k$. At the size of the paper's experiment, $d = k = 64$, this argument forces {glue:text}`square_35:.1f` at $n = 1$ and less for more inputs, whatever $\epsilon$ is, so there the failure does not show.
#
# **Why.** The argument for $x \mapsto Wx$ needs rows, and the lemma bounds columns. The review version of Edelman et al. (2022), of 2021, has a similar slip in its Lemma 4.5, which bounds the longest of its $d_2$ columns and has a factor $d_2^2$: columns are bounded, $Wx$ is written, and $W^\top x$ is proved. There $Wx$ is not defined, so $W^\top x$ can be read for it. Whether their Lemma 4.6, which Trauger and Tewari cite, has the slip we do not know, because we have not read the published version. In Trauger and Tewari (2024) $Wx$ is defined, so the lemma is false as written. Rows for columns alone do not mend it, as the logarithm lacks $k$.
#
# **Repair.** Bound the lengths of the rows, and put outputs times inputs under the logarithm: at most $2a \log((k+1)(2n+1))$, and so $7\, a \log(kn)$ for $kn \ge 2$, with members of the class.
#
# **What survives.** The lemma for rows, with $\log(kn)$, if $kn \ge 2$. The paper uses it once, at $n = d$, for Lemma 3.4.
# ```
#
# ## What would falsify this
#
# The refutations would fail if a constant below 7 were enough for columns, as it is for rows in the control. The repaired lemma would be false if a member had an error above $\epsilon$ (the control is a long column), if a walk took $z_j$ steps (the control is a smaller tolerance), or if a member lay outside the class (in the control, rows are not shortened).

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Nothing can be compared. We read `run_experiment.py`, the only program of the repository `traugerjacob/Transformer-Gen-Bounds`: it trains on sparse majority, so no cover is built and no bound is evaluated in it.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-covers-third
#
# *By hand.* In the example of a single row take the error $\frac13$ in place of $\frac12$. How many entries can exceed it, and how many rows are enough?
# ```
#
# ```{solution} ex-covers-third
# :class: dropdown
#
# At most eight entries can exceed $\frac13$, because nine squares above $\frac19$ sum to more than 1. Replace entries between $\frac13$ and $\frac23$ by $\frac13$, larger ones by $\frac23$, both with their signs, and all others by 0. No entry is off by more than $\frac13$, and none has grown, so the new row is in the class. It is a choice of at most eight places with four values each, so $(4d+1)^8$ rows are enough. The exponent is close to $a = 9$, as in the lemma.
# ```
#
# ```{exercise}
# :label: ex-covers-run
#
# *With the computer.* Run the chapter with sixteen times as many outputs, `python -m bookkit.run lengthfree/linear_covers -p k_wide 65536 --out my_run`. Predict first by which factors the three constants of {numref}`fig-rows-columns` that columns force will grow. Would a bound of order $a \log(dk)^2$ survive?
# ```
#
# ```{solution-start} ex-covers-run
# :class: dropdown
# ```
#
# The constants are quotients of the log size $k \log 2$ and the promised values, so they are quickly computed for larger $k$.

# %%
by_outputs = {}
for k in (2**12, 2**16, 2**20):
    needed = linear_maps.volume_bound(k, 1.0, 0.5, 2)
    by_outputs[k] = {
        "both, d = k = n": needed / linear_maps.bound_l2_columns(k, k, 1, 1, 0.5),
        "Lemma 3.4, d = 1": needed / linear_maps.bound_l2_columns(k, 1, 1, 1, 0.5),
        "Lemma 3.5, d = 2, n = 1": needed / linear_maps.bound_on_points(1, 2, 1, 1, 0.5),
        "Lemma 3.4, d = 1, logarithm squared": needed / (4 * math.log(k) ** 2),
    }
answer = pd.DataFrame(by_outputs).T.rename_axis("k")
table(answer, "Constants that columns force at ε = 1/2", form=".1f")

# %% [markdown]
# From one line to the next $k$ grows by a factor of 16. The constant of Lemma 3.5 at $d = 2$, $n = 1$ grows by a factor of 16 as well. That of Lemma 3.4 grows by factors of 12 and 12.8, and so does the constant at $d = k = n$, since their logarithms grow too. A square of the logarithm only delays the growth, and so would any fixed power.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-covers-order
#
# *To think about.* Show that for rows a bound of order $a \log(kn)$ cannot lose its $n$: take $k = 1$ and $n$ orthonormal inputs. And its $k$?
# ```
#
# ```{solution} ex-covers-order
# :class: dropdown
#
# *The $n$.* Let $m < a/4$ be whole. For sets $S$ of $m$ inputs take the row $\sum_{i \in S} x_i/\sqrt m$, of length 1. Two of them differ by $1/\sqrt m > 2\epsilon$ at some input, so $\log N_\infty \ge \log \binom nm \ge m \log \frac nm$.
#
# *The $k$.* Take $d = n = 1$, so that $W$ is a vector of $\ell_1$ norm at most 1. Cut the $k$ coordinates into $m$ blocks of $g$, and let $W$ be $\frac1m$ at one place of each. By the greedy choice at least $g^m/(2^m g^{m/4})$ such vectors differ pairwise in more than $m/4$ blocks, and so by more than $1/\sqrt{2m} \ge 2\epsilon$ if $m \le a/8$. Hence we have $\log N_\infty \ge m (\frac34 \log g - \log 2)$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`lengthfree`. Walks along the inputs are used for covers by {cite:t}`zhang2002`.
