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
# (ch-depth-capacity)=
# # Depth, and long tokens
#
# ```{verdict}
# The theorem is open, because its power of the tokens' norm is illegible to us. But its remark is true: deep transformers with norms at most 1, and an activation that magnifies nothing, need no bound exponential in depth. Tokens approach one another, so all layers after the first together magnify an error by a factor below {glue:text}`after_first`. A bound of the theorem's form needs the third power of this norm, because queries may be as long as all tokens, and this power is enough if values have no more entries than tokens. With the square its constant for $n$ queries and keys must outgrow every power of $\log n$; at $n = 2^{60}$ it is at least {glue:text}`forced_two`. For a single layer whose query is at most 1 long the square is enough.
# ```
# **Needs** {ref}`ch-transformer-capacity`, {ref}`ch-linear-layer`. **Read** 18 min. **Runs in** 15 s. **Source** restored (Theorem 4.6: exponents are damaged in our text), printed (the remark).
#
# **Claim.** The paper's theorem on deep transformers has a simplified form, with one bound for all spectral norms, one for the lengths of all columns, and one for the length of the input tokens. We ask two questions about this form. How does the length of the tokens enter, and does a deep transformer need a bound that is exponential in its depth? We find that the length enters by its third power if queries may be as long as the other tokens. An exponential bound is not needed if all spectral norms are at most 1, as the paper remarks without a proof.

# %% tags=["parameters"]
n_far = 60  # the figure ends at 2**n_far queries and keys [20..200]
searches = 2000  # families that the search keeps at a time [200..20000]
L_max = 12  # deepest network of the growth curves [6..30]
seed = 0  # of signs and searches [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from dataclasses import replace

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.covers import blocks
from helpers.covers.blocks import Layer
from helpers.covers.lipschitz import SOFTMAX, SOFTMAX_PRINTED
from helpers.rng import Rng, f64
from helpers.statistics import least_integer
from papers.variables.depth_covers import LayerNorms, depth_bound
from papers.variables.moved_weights import layer_error

ledger, rng = Ledger("variables/depth_capacity"), Rng(seed)
t46, remark = ledger.result("variables.thm4_6.t46"), ledger.result("variables.rem4_6")


def forced(n, p):
    """n^2 log 2 over the bound with B_X^p and constant 1, for the class below, epsilon = 0.9."""
    bound = (1.6 * n ** (1 / 3)) ** p * 9 * n * math.log(3 * n**2) / 0.81
    return n**2 * math.log(2) / bound


# %% [markdown]
# ## Why one should care
#
# The paper's bound for a network of $L$ layers has a factor $(C_2 L_\sigma)^{O(L)}$, where $C_2$ bounds the spectral norms of the matrices and $L_\sigma$ is the Lipschitz constant of the activation. With such a factor a generalization bound is vacuous for a network of a dozen layers, unless $C_2 L_\sigma$ is close to 1 or smaller. So one wants to know whether the factor is due to deep transformers themselves or only to the proof. The length of the input tokens raises a similar question. If a bound needs the cube of the length and is stated with the square, it is too small by a factor of the length as soon as tokens are longer than 1.
#
# What is bounded is the logarithm of the size of a *cover*, a finite list of networks such that every network of the class computes nearly the same as one of the list. Both questions ask how large a cover must be if an error is magnified on its way to the output, and for both we compare two ways to construct the cover. For the length of the tokens this comparison decides the question. For the depth it decides only the case of small errors, so a second argument is needed for the others.
#
# ## Ten layers by hand
#
# Take ten layers, each of which magnifies an error in its input by at most $a = 3$. Suppose that the output is to be right up to 0.01. Then a weight of the first layer has to be known more exactly, up to $0.01 / 3^9$, because nine layers follow. There are two ways to cover this weight:
#
# * *By norms.* Here the logarithm of the size of the cover is proportional to $1/\epsilon^2$, where $\epsilon$ is the error allowed for the weight. If $\epsilon$ is divided by $3^9$, this logarithm is multiplied by the square, $9^9 \approx 3.9 \cdot 10^8$.
# * *By counting.* For a weight between 0 and 1 that has to be right up to 0.01, a grid of about 100 points, 0.01 apart, is enough. It has the logarithm $\log 100 = 4.6$. If it has to be right up to $0.01 / 3^9$, the grid has $100 \cdot 3^9$ points, with the logarithm $4.6 + 9 \log 3 = 14.5$. So the logarithm becomes 3.1 times as large, and not $3.9 \cdot 10^8$ times.
#
# We call the logarithm of the size of a cover its *cost*. For small errors counting is much cheaper, but for large errors it can be the other way round, because the cost by norms does not depend on the number of weights, whereas counting has to cover each of them. So neither way replaces the other.
#
# The same comparison decides how the length of the tokens enters. One may always use the cheaper of the two covers, so the hardest case for a bound is a class of networks for which both covers cost the same. In this chapter we construct such a class. The logarithm of the size of its smallest cover is its *log covering number*, and we divide it by the bound with constant 1. If, for example, the quotient is at least 7, then the bound must be multiplied by at least 7 to be true, and we say that the class *forces* the constant 7.
#
# {numref}`fig-depth-length` shows the constant that is forced in bounds with the powers $p = 1, 2, 3$ of the length $B_X$ of the tokens. If a curve grows without limit, no constant makes the bound with this power true, so that the power is too small.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The constant that one layer with $n$ queries and $n$ keys, on tokens of length $B_X = 1.6\\, n^{1/3}$, forces in a bound with $B_X^p$.", "name": "fig-depth-length"}, "image": {"alt": "Log-log plot against n from 8 to about 10 to the 18. The curve for the first power rises steeply and passes one near 10 to the 4, that for the second power rises more slowly and passes one near 10 to the 10, that for the third power falls slowly from below one hundredth."}} tags=["hide-input"]
fig, ax = figures.new(height=2.8)
grid = [2.0**j for j in range(3, n_far + 1)]
for i, p in enumerate((1, 2, 3)):
    ax.plot(grid, [forced(n, p) for n in grid], **figures.line_style(i, label=f"$p = {p}$"))
figures.level(ax)
ax.set(xscale="log", yscale="log", xlabel="queries and keys $n$", ylabel="constant forced")
ax.legend()
figures.show()

# %% [markdown]
# With the first power the constant that is forced grows without limit, and it exceeds 1 near $n = 10^4$. With the second power it also grows without limit, but more slowly, and it exceeds 1 near $n = 10^{10}$. So no constant makes a bound with one of these powers true for all $n$, and both powers are too small. With the third power the curve falls, and stays below one hundredth. (Hidden logarithms of $d$ and of the norms do not save the square. The constant that it forces outgrows each of their powers, for example the tenth before $n = 2^{450}$.)
#
# ## The statement
#
# The networks are those of {ref}`ch-transformer-capacity`. Each of their $L$ layers has three matrices: $W_V \in \mathbb R^{d \times k}$ for the values, $W_{QK} \in \mathbb R^{d \times d}$ for the scores, and $W_C \in \mathbb R^{k \times d}$ after attention. The activation $\sigma$ is $L_\sigma$-Lipschitz with $\sigma(0) = 0$. The projection $\Pi$ onto the unit ball stands after attention and after $W_C$, and at the end there is a linear read-out $w$ with $\|w\|_2 \le B_w$.
#
# We write $\log N_\infty(\epsilon)$ for the log covering number with error $\epsilon$ on any $m$ inputs of $T$ tokens, and $\lesssim$ hides a constant and logarithms of everything but $m$ and $T$.
#
# ```{prf:theorem} Edelman et al. (2022), Theorem 4.6
# :label: variables-thm4-6
# *(As restored. The exponents are not legible in our text. Those of $C_\infty$ and $d$ are 2 by the sentence that follows the theorem there; those of $B_X$ and $B_w$, and the place of $B_w$, are ours. Not judged.)* Let all spectral norms be at most $C_2$. Let the columns of all $W_V$ (or $W_V^\top$), $W_{QK}$ (or $W_{QK}^\top$) and $W_C$ be at most $C_\infty$ long, and all tokens of the inputs at most $B_X$ long. Then
#
# $$\log N_\infty(\epsilon) \lesssim (C_2 L_\sigma)^{O(L)}\, \frac{B_X^2 B_w^2 C_\infty^2 d^2}{\epsilon^2} \log(mT) .$$
# ```
#
# The propositions below hold for both readings of the columns. The text adds that the dependence on $d$ and on the norms of columns is quadratic, and that the exponential dependence on $L$ can be avoided as long as spectral norms are at most 1 and $\sigma$ is 1-Lipschitz.
#
# We read $(C_2 L_\sigma)^{O(L)}$ as $A^{O(L)}$ with a number $A \ge 2$ that depends on $C_2$ and $L_\sigma$. Read literally the factor is 1 where $C_2 L_\sigma = 1$, whatever $L$ is.
#
# ## The power of the length is three
#
# Why is two not the right power? A token of length $B_X$ enters a head of the first layer three times, as value, as key and as query. So an error of the score matrix $W_{QK}^{(1)}$ of the first layer moves the output by up to $B_X^3$ times as much, and the cost of a cover by norms is multiplied by the square of this number, $B_X^6$. One would therefore expect the sixth power. But it is not needed, because for such small errors a simple grid is a smaller cover. If one always takes the smaller of the two covers, the third power remains, as the proof shows.
#
# ```{prf:proposition} The length of the inputs (ours)
# :label: depth-length
# *(i)* Let $B_X \ge 1$, $k \le d$ and $A = 2 + C_2 + L_\sigma$. Then
#
# $$\log N_\infty(\epsilon) \lesssim A^{O(L)}\, \frac{B_X^3 B_w^2 C_\infty^2 d^2}{\epsilon^2} \log(mT) .$$
#
# *(ii)* With $B_X^p$ in place of $B_X^3$ this is false for every $p < 3$. It is false for $L = 1$ already, with $C_2 = L_\sigma = B_w = 1$, $k = d$ and a class token of length $B_X$.
# ```
#
# **The idea of the proof.** For every matrix but one the cover by norms is good enough, because $B_X$ enters the error of such a matrix only once. For $W_{QK}$ of the first layer there are two covers. The cost of the first grows like the sixth power of $B_X$ and falls like $1/\epsilon^2$, and that of the second, a grid, hardly depends on either. The smaller of two numbers is at most the square root of their product, and the root of the product of the two costs has the third power of $B_X$.
#
# ```{dropdown} Proof that three is enough
# We dispose of large errors, cover all matrices but one by norms, cover the last one in two ways, and take the smaller of the two covers.
#
# 1. *Large errors.* All outputs are at most $B_w L_\sigma \|W_C\|_F \le B_w L_\sigma \sqrt d\, C_\infty$, and if $\epsilon$ is above this number, the network with $w = 0$ alone is a cover. From now on let $\epsilon$ be below it, that is, $1 \le L_\sigma \sqrt d\, C_\infty B_w / \epsilon$.
# 2. *All matrices but one.* We split $\epsilon$ equally among the $3L + 1$ matrices of the network. The *multiplier* of a matrix says how much an error of its outputs can grow on the way to the output of the network. As in the proof of {prf:ref}`depth-repaired`, all multipliers but that of $W_{QK}^{(1)}$ are at most $B_w A^{O(L)}$. So {prf:ref}`linear-layer-walk` covers every matrix but $W_{QK}^{(1)}$ with $A^{O(L)} B_X^2 B_w^2 C_\infty^2 d^2 / \epsilon^2$ times a logarithm. Here we used that $k \le \sqrt{kd} \le d$, that only $W_V^{(1)}$ meets points of length $B_X$, and that $w$ meets points of length at most $L_\sigma \sqrt d\, C_\infty$.
# 3. *What the first scores need.* Of $W = W_{QK}^{(1)}$ we need that all scores $z_\tau^\top W z_t$ are right up to $x = \epsilon / (A^{O(L)} B_w B_X)$. Steps 4 and 5 achieve this in two ways.
# 4. *A cover by norms.* A score is a linear function of the $d^2$ numbers of $W$, and $\|W\|_F \le \sqrt d\, C_\infty$. The points are the $m T^2$ matrices $z_\tau z_t^\top$, of length at most $B_X^2$. So by {prf:ref}`linear-layer-walk` with one output there is a cover whose size has the logarithm $u = d\, C_\infty^2 B_X^4 x^{-2} \log(2mT^2 + 1)$.
# 5. *A grid.* Take a maximal set of matrices of the class whose pairwise distances are $\|W - W'\|_F > x / B_X^2$. It is a cover, because any matrix farther than this from all of them could be added to the set. By comparing volumes of balls, its size has at most the logarithm $v = d^2 \log(1 + 2 \sqrt d\, C_\infty B_X^2 / x)$.
# 6. *The smaller cover.* The smaller of two numbers is at most the root of their product. Hence
#
# $$\min(u, v) \le \sqrt{u v} \lesssim A^{O(L)}\, d^{3/2}\, C_\infty B_X^3 \frac{B_w}\epsilon \log(mT) \le A^{O(L)}\, d^2\, C_\infty^2 B_X^3 \frac{B_w^2}{\epsilon^2} \log(mT),$$
#
# where the second step inserts $x$, and the last step uses $1 \le L_\sigma \sqrt d\, C_\infty B_w / \epsilon$ from step 1. $\square$
# ```
#
# **How long may a query be?** In Section 4.3 of the paper the class token is one of the tokens, so a query may be $B_X$ long. In Section 4.2, on the other hand, the query is at most 1 long. For one layer with such a query the points of step 4 have length $B_X$ only, so $u$ has $B_X^2$ in place of $B_X^4$, and the same proof gives $B_X^2$, the power as restored. (No smaller power is enough, as the class below shows if its class tokens are $q_i$ and $B_X = 2\sqrt n$.) From two layers on a short class token does not help, because in the first layer every token asks, and the third power is needed.
#
# **A smaller power is not enough.** To prove (ii) we need a class of many different networks of one layer, although their norms are small. Each network of the class that we build stores an $n \times n$ table of signs $s_{ij}$ in its score matrix, and each of the inputs asks for one of these signs.
#
# *The weights.* Take one layer, $\sigma$ the identity, and $d = k = 3n$. We use the $3n$ unit vectors of $\mathbb R^d$ in three groups: $n$ keys $e_1, \dots, e_n$, $n$ queries $q_1, \dots, q_n$, and $n$ more. Of the last group only one vector is needed, the unit vector $a$ (here no factor) that is their sum divided by $\sqrt n$. With $b = (1, \dots, 1)/\sqrt d$ and any signs $s_{ij}$ let the weights be
#
# $$W_{QK} = \frac1n \sum_{i,j} s_{ij}\, q_i e_j^\top , \qquad W_V = a\, b^\top , \qquad W_C = b\, b^\top , \qquad w = b .$$
#
# All spectral norms are at most 1, and no row or column is longer than $n^{-1/2}$.
#
# *The inputs.* There are $n^2$ inputs, and input $(i, j)$ asks for the sign $s_{ij}$. It consists of the class token $B_X q_i$ and the two tokens $\pm \frac{B_X}{\sqrt 2} (a + e_j)$, with $B_X = 1.6\, n^{1/3}$.
#
# *The outputs.* Let $y = B_X^2 / (\sqrt 2\, n)$. Then the scores of the two tokens are $\pm s_{ij}\, y$, that of the class token is 0, and attention gives $s_{ij}\, r\, b$, where
#
# $$r = \frac{B_X}{\sqrt 2} \cdot \frac{2 \sinh y}{1 + 2 \cosh y} .$$
#
# So the output has the sign $s_{ij}$, and if $r \ge 1$, the projection $\Pi$ turns it into $s_{ij}\, b$, which the read-out $w = b$ maps to $s_{ij}$. The next cell runs such layers with random signs. An output other than the sign, or a norm above 1, would show that the class is not what we say.


# %%
def outputs(S, B):
    """Outputs on all inputs (i, j), and the largest spectral norm, row and column."""
    n, d = len(S), 3 * len(S)
    e, b = torch.eye(d).double(), torch.full((d, 1), d**-0.5, dtype=torch.float64)
    a = e[2 * n :].sum(0)[:, None] / math.sqrt(n)
    W_QK = torch.zeros(d, d).double()
    W_QK[n : 2 * n, :n] = S / n
    layer = Layer(a @ b.T, W_QK, b @ b.T)
    token = B / math.sqrt(2) * (a.T + e[:n]).repeat(n, 1)
    X = torch.stack((B * e[n : 2 * n].repeat_interleave(n, 0), token, -token), 1)
    found = (blocks.block(X, layer, lambda y: y)[:, 0] @ b).reshape(n, n)
    lines = max(W.norm(dim=i).max().item() for W in layer for i in (0, 1))
    return found, max(blocks.spectral(W).item() for W in layer), lines * math.sqrt(n)


rows = {}
for n in (4, 8, 16, 24):
    S = 1.0 - 2 * torch.randint(2, (n, n), generator=rng.generator).double()
    found, most, lines = outputs(S, 1.6 * n ** (1 / 3))
    error = (found - S).abs().max().item()
    rows[n] = {"output minus sign": error, "spectral norm": most, "longest line × √n": lines}
layers = pd.DataFrame(rows).T.rename_axis("n")
table(layers, "The layer is what it should be", tiny=1e-6)
right = bool((layers.to_numpy() <= [1e-6, 1 + 1e-9, 1 + 1e-9]).all())

# %% [markdown]
# The outputs agree with the signs, and no norm exceeds its bound, up to rounding. Three steps lead from here to (ii).
#
# 1. *$r \ge 1$ for every $n \ge 2$.* If we insert $B_X$ and $y = 1.81\, n^{-1/3}$, then $r$ is $2.05$ times $\frac{2 \sinh y}{y (1 + 2 \cosh y)}$. This fraction falls as $y$ rises, and $y$ is largest at $n = 2$, where $r$ is still above 1. So $\Pi$ reduces $r$ to 1, and the output of the network is $s_{ij}$.
# 2. *The covering number is large.* Two different choices of signs differ at some $(i, j)$, so any two of the $2^{n^2}$ layers differ by 2 on some input. A member of a cover with error 0.9 can therefore serve only one of them, and $\log N_\infty(0.9) \ge n^2 \log 2$.
# 3. *The bound is smaller.* With $C_\infty = n^{-1/2}$ and $d = 3n$ the bound with $B_X^p$ is of order $B_X^p\, C_\infty^2 d^2 \log n = 9 n \cdot 1.6^p\, n^{p/3} \log n$. If we divide $n^2$ by this, we see that a constant of order $n^{1 - p/3} / \log n$ is forced, and for $p < 3$ it grows without limit.
#
# One may object that in a real network the class token is the same vector for all inputs, and cannot be $q_i$. This does not save the bound, because another token can carry $q_i$, and a second layer can average.
#
# Is the third power also enough for families of other shapes? Part (i) says so, up to a constant and logarithms, and a search through families of this kind tries to contradict it. It varies the number of queries, the number of keys, the number of dimensions for $a$, the lengths of tokens, and the scales of $W_{QK}$, $W_V$ and $W_C$, for dimensions up to a limit. If the constant that a family forces with $B_X^3$ grew with the limit, the proposition would be in doubt.

# %% mystnb={"code_prompt_hide": "The search", "code_prompt_show": "The search"} tags=["hide-input", "nbval-ignore-output"]


def constant_forced(logs, top, p):
    """Log of the constant forced by each family; sizes between 2 and the top, norms at most 1."""
    queries, keys, spread = (1 + logs[:3].sigmoid() * (math.log2(top) - 1)).exp2()
    B, V, C = logs[3].exp().clamp(min=1), logs[4].exp().clamp(max=1), logs[5].exp().clamp(max=1)
    rho = logs[6].exp().minimum((queries * keys) ** -0.5)
    y, d = (rho * B**2 / math.sqrt(2)).clamp(max=300), queries + keys + spread
    r = (V * B / math.sqrt(2) * 2 * y.sinh() / (1 + 2 * y.cosh())).clamp(max=1) * C
    lines = torch.stack((rho * queries**0.5, rho * keys**0.5, V * spread**-0.5, C * d**-0.5))
    bound = B**p * (lines.amax(0) * d / (0.9 * r)) ** 2 * (3 * queries * keys).log()
    return (queries * keys * math.log(2) / bound).log()


found = {}
for top in (2.0**10, 2.0**20, 2.0**40, 2.0**80):
    for p in (2, 3):
        spread = f64([3, 3, 3, math.log(top) / 3, 2, 2, math.log(top)])[:, None]
        logs = spread * rng.normal(7, searches)
        best = constant_forced(logs, top, p)
        for step in range(300):
            moved = logs + rng.normal(7, searches) * 2 * 0.98**step
            trial = constant_forced(moved, top, p)
            logs, best = torch.where(trial > best, moved, logs), best.maximum(trial)
        found[f"2^{math.log2(top):.0f}", f"p = {p}"] = best.max().exp().item()
search = pd.Series(found).unstack().loc[["2^10", "2^20", "2^40", "2^80"]].rename_axis("dimensions")
table(search, "Largest constant forced by any family", form=".2g")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
t46.refuted(
    "ours, read with $B_X^2$: constant that a family forces at $n = 2^{450}$, in units of "
    "the tenth power of $\\log n$; control: read with $B_X^3$",
    right * forced(2.0**450, 2) / (450 * math.log(2)) ** 10,
    at_most=1,
    control=forced(2.0**450, 3),
    about="ours",
    evidence="attained",
)
t46.holds(
    "ours, read with $B_X^3$: largest constant forced by a family of up to $2^{80}$ "
    "dimensions, in hundredths and rounded up; control: read with $B_X^2$, cut at a "
    "thousand",
    math.ceil(100 * search["p = 3"].max()),
    at_most=3,
    control=min(1000, math.floor(100 * search["p = 2"].max())),
    about="ours",
    evidence="proved",
)
glue(forced_two=round(forced(2.0**60, 2)))

# %% [markdown]
# The column $p = 2$ shows that with $B_X^2$ the constant grows with the number of dimensions. With $B_X^3$, in the column $p = 3$, it does not.
#
# **Why no such family forces more.** A short calculation explains the result of the search. Let a family have $n$ queries, $n'$ keys and the scales $\rho$ of $W_{QK}$ and $C$ of $W_C$. The bound contains $B_X^3 / r^2$ times the square of the longest row or column. So we need a lower bound on the longest row or column and an upper bound on $r$, and we have two of each.
#
# * The longest row or column is at least $\rho\, (n n')^{1/4}$, because of $W_{QK}$, and at least $C/\sqrt d$, because of $W_C$.
# * The output is $r \le C$, and because $\frac{2 \sinh y}{1 + 2 \cosh y} \le \frac23 y$ it is also $r \le \frac13 C \rho B_X^3$.
#
# For the square of the longest row or column we insert the product of the two lower bounds, and for $r^2$ the product of the two upper bounds, so that $B_X^3$ and $\rho$ cancel. With $C \le 1$, and then with $d \ge 2 \sqrt{n n'}$, the bound with $B_X^3$ and $\epsilon = 0.9\, r$ is at least
#
# $$\frac{3}{0.81}\, (n n')^{1/4}\, d^{3/2} \log(3 n n') \ge 10\, n n' \log(3 n n') .$$
#
# Since $\log N_\infty = n n' \log 2$ and $n n' \ge 4$, the constant that is forced is less than 0.03.
#
# ## Depth
#
# Now to the second question, for spectral norms of at most 1, $L_\sigma = 1$ and tokens at most 1 long. We start from {prf:ref}`depth-repaired`, our correction of the paper's bound for deep networks, and call it the *repaired bound*. In it each layer magnifies an error by a factor of at most $a = 1 + 2 = 3$, where 2 comes from the scores of attention. (With the paper's constant 2 for softmax, where 1 is enough, it would be $a = 1 + 4 = 5$.) So an error in layer $i$ is multiplied by $\alpha_i = 3^{L - i}$ in the layers after it. The bound contains squares of these numbers and grows like $9^L$ with the depth. It stops growing exponentially only if $a \le 1$, and at $a = 1$ it is of order $L^3$.
#
# There are two ways to avoid the exponential: one can count weights, as in the example by hand, or show that the true factor of most layers is close to 1. The first way gives $L^2$, but in the form of Theorem 4.6 only for small errors, whereas the second gives $L^3$ for all errors.
#
# ```{prf:proposition} Counting weights (ours)
# :label: depth-counting
# If all spectral norms are at most 1, $L_\sigma \le 1$ and tokens at most 1 long, then for every $\epsilon > 0$ and any number of inputs
#
# $$\log N_\infty(\epsilon) \le \bigl( L (2kd + d^2) + d \bigr) \log\bigl( 1 + 3^{L+1} B_w / \epsilon \bigr) .$$
# ```
#
# **The idea of the proof.** Round every weight to a grid that is so fine that the output moves by at most $\epsilon$. The grid has to be finer by a factor of 3 for each layer that follows, and each such factor adds only a constant, $\log 3$, to the logarithm of the number of grid points for a weight. There are $L$ layers with a fixed number of weights each, so the logarithm of the whole cover is of order $L \cdot L$.
#
# ```{dropdown} Proof, by counting
# We bound how far the outputs of one layer and of the network move, and then count the grid points.
#
# 1. *One layer.* Move each matrix by at most $\eta$ in spectral norm and $w$ by at most $B_w \eta$. By {prf:ref}`variables-lemA13`, with the constant 1 of softmax, the outputs of layer $i$ move by at most $\delta_i \le 3 \eta$ because of its own matrices, and an error in its inputs grows by a factor of at most $a_i \le 3$.
# 2. *The network.* So the output moves by at most $B_w \sum_i 3^{L-i}\, 3 \eta + B_w \eta \le \frac12 3^{L+1} B_w \eta$, which is $\epsilon$ for $\eta = 2 \epsilon / (3^{L+1} B_w)$.
# 3. *The number of grid points.* As above, a maximal set of members that are more than $\eta$ apart covers the ball of each matrix, and by comparing volumes it has at most $(1 + 2/\eta)^p$ members for a matrix of $p$ weights. All matrices and $w$ together have $L (2kd + d^2) + d$ weights, and $2/\eta = 3^{L+1} B_w / \epsilon$, so the product of these numbers of members has the logarithm in the proposition. $\square$
# ```
#
# The exponential now stands under a logarithm, so the bound is of order $L^2$ only. In the same way one sees for norms of any other fixed size that the logarithm of the covering number does not grow exponentially.
#
# But does counting give the form of Theorem 4.6? The bound of the theorem is proportional to $d^2 C_\infty^2 / \epsilon^2$, and therefore small if columns are far shorter than 1, so the answer depends on $\epsilon$:
#
# * *Small errors.* If $k \le d$ and $\epsilon \le C_\infty B_w$, then $1 \le C_\infty^2 B_w^2 / \epsilon^2$. So counting gives the form of Theorem 4.6 with $L^2$ in place of the exponential, $\log N_\infty(\epsilon) \lesssim L^2\, d^2 C_\infty^2 B_w^2 / \epsilon^2$.
# * *Larger errors.* For $\epsilon$ from $C_\infty B_w$ to $B_w$, beyond which one network is a cover, the theorem's bound without its exponential is smaller than $d^2$, and counting is too large. For example, if columns have the length $1/\sqrt d$ and $d = 1024$, this is so from $\epsilon = B_w / 32$ on. So for such errors we need another argument.
#
# ```{prf:proposition} Tokens approach one another (ours)
# :label: depth-collapse
# If all spectral norms are at most 1, $L_\sigma \le 1$ and tokens at most 1 long, then {prf:ref}`depth-repaired` is true with $\alpha_i = 5.2$ in every layer, for every depth $L$. So for $k \le d$
#
# $$\log N_\infty(\epsilon) \lesssim L^3\, \frac{B_w^2 C_\infty^2 d^2}{\epsilon^2} \log(mT) .$$
#
# For tokens at most $B_X \ge 1$ long the bound of {prf:ref}`depth-length` *(i)* is true with $L^3$ in place of $A^{O(L)}$.
# ```
#
# **The idea of the proof.** Attention replaces every token by an average of all tokens. If norms are at most 1, two tokens take their averages with similar weights, so they are nearer to each other after a layer than before it. After four layers all tokens are nearly the same. But if the tokens are the same, it does not matter with which weights they are averaged, and so a layer magnifies an error by a factor close to 1 in place of 3. (Dong, Cordonnier and Loukas (2021) found that tokens approach one another so quickly [without skip connections](https://arxiv.org/abs/2103.03404).)
#
# ```{dropdown} Proof that tokens approach one another
# We bound how far two averages are apart, apply this to two tokens of one network and to one token of two networks, and multiply the factors of the layers.
#
# 1. *Two averages.* Let $p$ and $\hat p$ be the softmax weights of scores that differ by $u_t$, and let $r = \max_t u_t - \min_t u_t$. The odds $p(S) / (1 - p(S))$ of any set $S$ of tokens are at most $e^r$ times those under $\hat p$. Two numbers between 0 and 1 with such odds differ by at most $\tanh(r/4)$, and most if they are symmetric about $\frac12$. So $p$ and $\hat p$ differ by moving at most $\tanh(r/4)$ of the weight, and two averages with these weights are at most $D \tanh(r/4)$ apart, where $D$ is the largest distance of two of the averaged points.
# 2. *Two tokens.* Let $D_j$ bound the distance of any two tokens that enter layer $j$, with $D_1 = 2$. The scores of two queries $z$ and $z'$ differ by $u_t = (z - z')^\top W_{QK} z_t$, hence $r \le D_j^2$. The values are at most $D_j$ apart, and $\Pi$, $\sigma$ and $W_C$ do not increase a distance. So we may take $D_{j+1} = D_j \tanh(D_j^2 / 4)$, which gives $D_2 < 1.53$, $D_3 < 0.80$, $D_4 < 0.13$ and $D_5 < 0.0005$, and from there on $D_{j+1} \le \frac14 D_j^3$.
# 3. *The factor of a layer.* In the proof of A.14 in {prf:ref}`variables-lemA13` the second term is the difference of two averages of the same values, so by step 1 it is at most $D_j \tanh(r/4) \le D_j\, r/4$. No score moves by more than $2 \|Z - \hat Z\|$, hence $r \le 4 \|Z - \hat Z\|$, and the factor of layer $j$ is $1 + D_j$ in place of 3. (The values are those of the network, so only its own norms must be at most 1, and not those of the member of the cover.)
# 4. *All layers.* Hence $\alpha_i \le \prod_{j \ge 2} (1 + D_j) < 2.53 \cdot 1.80 \cdot 1.13 \cdot 1.001 < 5.2$ for every $i$.
# 5. *The bound.* Each of the $3L + 1$ matrices gets an equal share of $\epsilon$. As in the proof of {prf:ref}`depth-length`, the logarithm of the size of its cover is then of order $L^2 B_w^2 C_\infty^2 d^2 \epsilon^{-2} \log(mT)$, because all multipliers are at most $5.2\, B_w$. If tokens are up to $B_X \ge 1$ long, those that leave the first layer are at most 1 long, so we may take $D_2 = 2$, and all multipliers but that of $W_{QK}^{(1)}$ are at most $16\, B_w$. The rest of that proof does not change. $\square$
# ```
#
# So the remark is true, but it speaks of networks without skip connections, in which after four layers little is left of what distinguishes the tokens.
#
# A proof can contain a slip, so we also search for a counterexample. Gradient ascent looks for layers in which two tokens stay farther apart than step 2 allows, or which magnify an error by more than step 3 allows. A ratio above 1 would refute the proposition. For comparison the same is done with norms of $W_{QK}$ up to 5. The last row of the table has the largest growth of an error through four layers that was found, over the proved bound $\prod_{j \ge 1} (1 + D_j)$.

# %% mystnb={"code_prompt_hide": "The ascent", "code_prompt_show": "The ascent"} tags=["hide-input", "nbval-ignore-output"]


def spreads(L):
    """The D_j of the proof."""
    found = [2.0]
    for _ in range(L - 1):
        found.append(found[-1] * math.tanh(found[-1] ** 2 / 4))
    return f64(found)


def network(free, largest):
    """Two inputs close to each other, and layers of norm at most 1, but W_QK at most ``largest``."""
    X, moved, *matrices = free.unbind(1)
    scaled = [W / blocks.spectral(W).clamp(min=1)[:, None, None] for W in matrices]
    layers = [
        Layer(V, largest * QK, C)
        for V, QK, C in zip(*(scaled[i::3] for i in range(3)), strict=True)
    ]
    near = blocks.to_ball(3 * X)
    return near, blocks.to_ball(near + 1e-4 * moved), layers


def apart(Z):
    """Distance of the two tokens."""
    return (Z[:, 0] - Z[:, 1]).norm(dim=-1)


def distance_kept(X, other, layers):
    return apart(blocks.block(X, layers[0])) / (apart(X) * (apart(X) ** 2 / 4).tanh())


def magnified(X, other, layers):
    first, second = (blocks.blocks(Z, layers, lambda y: y)[-1] for Z in (X, other))
    grown = blocks.longest(first - second) / blocks.longest(X - other)
    allowed = 1 + apart(X) if len(layers) == 1 else (1 + spreads(len(layers))).prod()
    return grown / allowed


def ascend(ratio, L, largest, steps=100):
    """Largest ratio found by Adam over eight networks of L layers on two tokens in the plane."""
    free, best = rng.normal(8, 2 + 3 * L, 2, 2).requires_grad_(), 0.0
    optimizer = torch.optim.Adam([free], lr=0.1)
    for _ in range(steps):
        found = ratio(*network(free, largest))
        best = max(best, found.max().item())
        optimizer.zero_grad()
        (-found.clamp(min=1e-12).log().sum()).backward()
        optimizer.step()
    return best


searched = {
    "distance after a layer": (distance_kept, 1),
    "error after a layer": (magnified, 1),
    "error after four layers": (magnified, 4),
}
ratios = {
    name: {f"norm of $W_{{QK}}$ up to {q:.0f}": ascend(*ratio, q) for q in (1.0, 5.0)}
    for name, ratio in searched.items()
}
ratios = pd.DataFrame(ratios).T.rename_axis("largest")
table(ratios, "Largest found, over what the proof allows for norms at most 1", form=".3f")

# %% [markdown]
# With norms at most 1 no ratio exceeds 1. Those of a single layer come close to 1, so steps 2 and 3 cannot be improved by a constant factor. Through four layers, in the last row, the growth that was found stays far below the bound. With a norm of 5 the ratios exceed 1.
#
# How do the bounds grow with the depth? The next table has five of them for spectral norms of 1, columns of length $1/\sqrt d$, a million tokens in all and $B_w / \epsilon = 2$. The first four are bounds by norms:
#
# * *constant 2 of softmax* and *constant 1*: the repaired bound with the constant of softmax as printed, so that $a = 5$, and with the true one, so that $a = 3$;
# * *constant 1, a = 1*: the same bound with $\frac13$ as the norm of $W_V$, so that $a = 1$;
# * *tokens approach*: the same bound with the factors $1 + D_j$ of {prf:ref}`depth-collapse`;
# * *counting weights*: the bound of {prf:ref}`depth-counting`.


# %%
def repaired(L, V=1.0, constant=SOFTMAX, d=1024, approach=False):
    """The repaired bound: columns 1 / sqrt(d), epsilon = 1/2, a million tokens, norms 1 but W_V's."""
    column = d**-0.5
    norms = LayerNorms(V=V, V_columns=column, QK_columns=column, QK=1.0, C=1.0, C_columns=column)
    layers = [norms] * L
    if approach:  # factors 1 + D_j, where the bound has 1 + 2 QK
        layers = [replace(norms, QK=max(D / 2, 1e-300)) for D in spreads(L).tolist()]
    return depth_bound(d, d, layers, 1.0, 2 * d * 10**6 + 1, 0.5, constant=constant)


def counted(L, d=1024):
    return (3 * L * d**2 + d) * math.log1p(2 * 3.0 ** (L + 1))


depths = pd.Index(range(1, L_max + 1), name="L")
curves = pd.DataFrame(
    {
        "constant 2 of softmax": [repaired(L, constant=SOFTMAX_PRINTED) for L in depths],
        "constant 1": [repaired(L) for L in depths],
        "constant 1, a = 1": [repaired(L, V=1 / 3) for L in depths],
        "tokens approach": [repaired(L, approach=True) for L in depths],
        "counting weights": [counted(L) for L in depths],
    },
    index=depths,
)
some = sorted({1, 2, 3, 4, 6, L_max})
table(curves.loc[some], "Bounds on the log covering number, d = k = 1024", form=".2e")

# %% [markdown]
# The first two columns of the table are multiplied by nearly the same factor with each layer, that is, they grow exponentially, whereas the others grow like powers of $L$. Counting starts with the largest number, but from {glue:text}`crossing` layers on it is better than the bound with the constant 1 of softmax at this width. (With $a = 1$ the norm of $W_V$ is only $\frac13$, and so this bound is smaller than that by which tokens approach one another.)
#
# If norms may be larger than 1, an error can indeed grow like $a^L$, and this growth is no artefact of the proof. For example, take layers without $W_{QK}$, with 3 times the identity as $W_V$, the identity as $W_C$, and tokens so short that $\Pi$ changes nothing. They multiply every error that all tokens share by 3. We call such networks *loud*. In the right panel of {numref}`fig-depth-growth` we change $W_C$ of the first layer and measure how far the output of the whole network moves, relative to the movement of the first layer's output. Circles off the line $3^{L-1}$ would speak against this growth.

# %% mystnb={"code_prompt_hide": "Loud networks", "code_prompt_show": "Loud networks"} tags=["hide-input"]


def loud(L, a=3.0):
    """How far the output of L layers moves when the first W_C does, over the first layer's error."""
    plane = torch.eye(2).double()
    layer = Layer(a * plane, 0 * plane, plane)
    other = layer._replace(W_C=plane + 0.1 * plane.flip(0))
    X = blocks.to_ball(rng.normal(3, 2)) * 0.3 * a**-L
    kept = {"activation": lambda y: y}
    before, after = (blocks.blocks(X, [v, *[layer] * (L - 1)], **kept)[-1] for v in (layer, other))
    return (blocks.longest(before - after) / layer_error(X, layer, other, **kept)).item()


real = pd.Series([loud(L) for L in depths], index=depths)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: bounds on the log covering number against depth, for spectral norms 1 and $d = k = 1024$. Right: how far the output of a loud network with $a = 3$ moves when its first layer does, and $3^{L-1}$.", "name": "fig-depth-growth"}, "image": {"alt": "Left, logarithmic: two straight rising lines, the one for the constant 2 of softmax steeper; curves for a equal to 1 and for tokens that approach one another, which flatten, and a curve for counting weights that starts highest and rises least. Right, logarithmic: circles on a straight line that rises by a factor 3 with each layer."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=3.0)
for i, (name, curve) in enumerate(curves.items()):
    left.plot(depths, curve, **figures.line_style(i, label=name.replace("a = 1", "$a = 1$")))
left.set(yscale="log", xlabel="layers $L$", ylabel="bound")
left.legend()
right.plot(depths, real, **figures.marker_style(0, label="loud network"))
right.plot(depths, 3.0 ** (depths - 1), **figures.line_style(0, label="$3^{L-1}$"))
right.set(yscale="log", xlabel="layers $L$", ylabel="movement")
right.legend()
figures.show()

# %% [markdown]
# On the left of {numref}`fig-depth-growth` the two bounds by norms with $a = 5$ and $a = 3$ are straight lines, that is, exponentials, because the axis is logarithmic. The other three flatten, because they are powers of $L$. On the right the measured movements of loud networks lie on the line $3^{L-1}$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
last = curves.iloc[-1] / curves.iloc[-2]
grown = L_max / (L_max - 1)
after_first = (1 + spreads(L_max)[1:]).prod().item()
remark.holds(
    "norms at most 1: product of the factors $1 + D_j$ of all layers after the first; control: "
    "the factor 3 for each of them, as if tokens did not approach one another",
    after_first,
    at_most=5.2,
    control=3.0 ** (L_max - 1),
    about="statement",
    evidence="proved",
)
remark.holds(
    "norms at most 1: largest distance of tokens, and error, after a layer in units of what the "
    "proof allows, by ascent, rounded up; control: $W_{QK}$ of norm 5, rounded down",
    math.ceil(round(10 * ratios.iloc[:, 0].max(), 6)) / 10,
    at_most=1,
    control=math.floor(ratios.iloc[:2, 1].min()),
    about="statement",
    evidence="searched",
)
remark.holds(
    "counting weights: factor by which the bound grows with the last layer, against "
    "$(L/(L-1))^2$; control: the repaired bound by norms",
    last["counting weights"],
    at_most=grown**2,
    control=last["constant 1"],
    about="ours",
    evidence="proved",
)
remark.holds(
    "norms above 1, outside the remark, with $a = 3$: largest relative distance of the "
    "error from $3^{L-1}$ times that of one layer; control: from that of one layer",
    (real / 3.0 ** (depths - 1) - 1).abs().max(),
    at_most=0,
    tol=1e-6,
    control=(real - 1).abs().max(),
    about="ours",
    evidence="attained",
)
glue(
    L_max=L_max,
    crossing=least_integer(lambda L: counted(L) < repaired(L)),
    last=last["constant 1"],
    after_first=f"{math.ceil(10 * after_first) / 10:.1f}",
)

# %% [markdown]
# ## What we found
#
# * *Length.* In a bound with $B_w^2 C_\infty^2 d^2/\epsilon^2$ inputs of length $B_X$ contribute a factor of $B_X^3$, and no smaller power is enough, because the class token or, from two layers on, any other query may be $B_X$ long as well. In one layer whose query is at most 1 long the factor is $B_X^2$. The exponent of $B_X$ in Theorem 4.6 is not legible to us. If it is 2, as restored, the theorem fails for long tokens that ask. For tokens of length 1 and $k \le d$ our proof gives the bound of the theorem, with $2 + C_2 + L_\sigma$ in place of $C_2 L_\sigma$.
# * *Depth.* The repaired bound grows like $9^L$ for spectral norms 1, and the last of {glue:text}`L_max` layers multiplies it by {glue:text}`last:.1f`. But the remark is true, because tokens approach one another and $L^3$ can stand in place of the exponential. Counting weights gives $L^2$, in the form of Theorem 4.6 if $\epsilon \le C_\infty B_w$.
#
# ## What would falsify this
#
# The power of the length would be wrong if a family forced more than a constant with $B_X^3$, as families do with $B_X^2$. The remark would be wrong if layers with norms at most 1 kept tokens farther apart, or magnified an error more, than the proof allows. The proposition on counting would be wrong if its bound grew faster than $L^2$, as the repaired bound with $a = 3$ does. The statement on loud networks would be wrong if their error did not follow $3^{L-1}$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The paper comes without code, and no bound is evaluated in it.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-depth-softmax
#
# *By hand.* How much does the true constant of softmax, 1 in place of 2, improve the repaired bound for $L$ equal layers with spectral norms 1, as $L$ grows?
# ```
#
# ```{solution} ex-depth-softmax
# :class: dropdown
#
# The factor $a$ falls from 5 to 3, so the bound falls from the order of $25^L$ to that of $9^L$, by a factor of about $(25/9)^L$.
# ```
#
# ```{exercise}
# :label: ex-depth-crossing
#
# *With the computer.* From which depth on is counting weights better than the repaired bound, if the width $d = k$ is 64, 256, 1024 or 4096 and columns have length $1/\sqrt d$? First guess whether wider networks need more layers for this or fewer, and then compute it. Run the chapter with deeper networks too, `python -m bookkit.run variables/depth_capacity -p L_max 30 --out my_run`, and read the last rows of the table of bounds.
# ```
#
# ```{solution-start} ex-depth-crossing
# :class: dropdown
# ```
#
# The functions `repaired` and `counted` of this page take the width as an argument.

# %%
first = {
    width: {
        "counting is better from L =": least_integer(
            lambda L, d=width: counted(L, d) < repaired(L, d=d)
        ),
        "repaired, L = 1": repaired(1, d=width),
        "counting, L = 1": counted(1, width),
    }
    for width in (64, 256, 1024, 4096)
}
answer = pd.DataFrame(first).T.rename_axis("d")
table(answer, "Where counting the weights becomes better", form=".3g")

# %% [markdown]
# With columns of length $1/\sqrt d$ the repaired bound grows like $d$, and the number of weights like $d^2$. So a wide network needs more layers until counting is better, but only a few, because each layer multiplies the repaired bound by 9 or more.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-depth-position
#
# *To think about.* Fixed vectors of length at most $B_P$ are added to the tokens. By what does $B_X$ have to be replaced in {prf:ref}`depth-length`?
# ```
#
# ```{solution} ex-depth-position
# :class: dropdown
#
# $B_X$ is replaced by $B_X + B_P$, because the first layer sees the sums. The fixed vectors are the same for all networks of the class, so nothing else changes.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem and the remark are from Section 4.3 of {cite:t}`variables`.
