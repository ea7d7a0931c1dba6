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
# (ch-single-layer-corollaries)=
# # One layer: three corollaries, several heads, real weights
#
# ```{verdict}
# Three corollaries make a bound for one attention layer computable, but as printed, for weight matrices with bounded rows, all are false. They are true if the columns are bounded, as in the proof of their theorem, and if the sample is not too small. The bound is on the complexity, that is, on how well outputs can fit random signs; complexities of independent heads add up exactly. With the usual random weights and sinusoidal positions a layer of width {glue:text}`width` needs some {glue:text}`examples_class:.0e` examples before the bound is below the largest possible output.
# ```
# **Needs** {ref}`ch-single-layer-bound`, {ref}`ch-linear-covers`. **Read** 15 min. **Runs in** 15 s. **Source** printed.
#
# **Claim.** For three norms of the matrix $W_{QK}$ of queries and keys there are covers whose size does not depend on the number of inputs, and each of them gives a corollary of the bound for one layer. The corollaries inherit a misprint of their theorem: they fail for rows, by the theorem's counterexample, and are true for columns. (We count the rows as a misprint because the proof uses columns.) One of the corollaries rests on a lemma that is false. But its tokens are short in the $\ell_1$ norm, the sum of the absolute values of their entries, and for such tokens a simpler cover can replace the lemma. The complexities of several heads with parameters of their own add up. For real weights the norms are large and the bound is far from practice, so it tells how the complexity scales, not how large it is.

# %% tags=["parameters"]
T_search = 300  # longest input of the search and the cover, in tokens [16..512]
cases = 200  # random matrices behind the cover [50..2000]
H_max = 4  # heads [3..5]
width = 64  # of the layer with the usual random weights [16..256]
seed = 0  # of all random instances [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, in_prose, table
from helpers.covers import blocks, capacity
from helpers.covers import linear as covers
from helpers.covers.attention import HeadNorms, heads_bound
from helpers.covers.lipschitz import SOFTMAX
from helpers.rng import Rng
from helpers.statistics import least_integer
from papers.lengthfree import linear_maps, single_layer
from papers.lengthfree.single_layer import CONSTANT, Norms

ledger, rng = Ledger("lengthfree/single_layer_corollaries"), Rng(seed)
heads_add = ledger.result("lengthfree.heads")
tol = 1e-9  # both sides are sums of at most 2^8 maxima, wrong by 1e-13 relative
m_tiny = 8  # of the classes whose signs are all tried


def complexity(values):
    return capacity.rademacher(values).item()


X = blocks.to_ball(rng.normal(m_tiny, 6, 3))
u = blocks.mix(X, X[:, 0], torch.eye(3).double(), 5 * rng.normal(4, 1, 3, 3))  # (4, m, 3)
rows, heads = {}, []
for H in range(1, H_max + 1):  # each head reads in its own direction; the matrix is its parameter
    values = u @ rng.normal(3)
    heads.append(torch.cat((values, -values)))
    sums = heads[0]
    for values in heads[1:]:
        sums = (sums[:, None] + values).reshape(-1, m_tiny)
    apart = sum(complexity(values) for values in heads)
    norms = [HeadNorms(V=1.0, V_columns=1.0, QK_columns=1.0)] * H
    rows[H] = {
        "independent heads": complexity(sums) / apart,
        "shared parameters": complexity(torch.stack(heads).sum(0)) / apart,
        "covers of all tokens, over one head": math.sqrt(heads_bound(1, norms, 1.0, 100, 1.0)),
    }
several = pd.DataFrame(rows).T.rename_axis("H")
several.iloc[:, 2] /= several.iloc[0, 2]

weights = [rng.normal(width, width) / math.sqrt(width) for _ in range(4)]
read, W_c, W_v = rng.normal(width) / math.sqrt(width), weights[0], weights[1]
W_qk = weights[2] @ weights[3].mT / math.sqrt(width)
place = torch.arange(200).double()[:, None] / 10000 ** (torch.arange(0, width, 2).double() / width)
bits = torch.eye(width).double()[torch.randint(2, (200,), generator=rng.generator)]
positions = torch.cat((place.sin(), place.cos()), 1)
layers = {
    "all bounds 1": Norms(w=1, W_c=1, W_v=1, x=1, W_qk=1),
    "random weights, unit tokens": single_layer.measured_norms(read, W_c, W_v, W_qk, bits),
    "random weights, positions": single_layer.measured_norms(
        read, W_c, W_v, W_qk, bits + positions
    ),
}

# %% [markdown]
# ## Why one should care
#
# How many examples does a bound ask for, if it is evaluated at the weights of a real layer? The bound for one layer does not answer this yet, because it contains a *cover constant*, which says how many functions a finite set must have to approximate all scores of the layer. A theorem with such an abstract constant becomes useful only when the constant is computed for norms that one can measure. The three corollaries do this, so with them the bound can be evaluated at the weights of a real layer. We then ask how many more examples it takes if there are several heads. The chapter also tests the lemmas on covers, because each corollary uses one of them, and one of these lemmas is false ({ref}`ch-linear-covers`).
#
# ## Rows or columns, by hand
#
# Why does it matter whether rows or columns are bounded? Take three inputs of two tokens each, $0$ and $e_j$, where $e_j$ is the $j$-th unit vector and $j$ is 1, 2 or 3. With equal attention a layer averages the two tokens and gets $\frac12 e_j$. Let the rest of the layer be one column $c = (c_1, c_2, c_3)$ of a weight matrix, so that the output on input $j$ is $\frac12 c_j$. How well can these outputs fit signs $\varepsilon_1, \varepsilon_2, \varepsilon_3$, that is, how large can $\frac12 \sum_j \varepsilon_j c_j$ be?
#
# * *Rows bounded by 1.* Each row of the matrix has the single entry $c_j$, so every $c_j$ may be as large as 1. With $c_j = \varepsilon_j$ the sum is $\frac32$, which is $\frac12$ for each input. With $d$ inputs and $d$ entries it is still $\frac12$ for each input, so more examples do not make the class look simpler.
# * *Columns bounded by 1.* Here $|c_1| + |c_2| + |c_3| \le 1$, so the sum is at most $\frac12$. This is $\frac16$ for each input, and $\frac1{2d}$ for each of $d$ inputs.
#
# The theorem's bound decreases nearly like $1/\sqrt m$ with the number $m$ of inputs, even if the width grows along with it. So in wide layers it is false for rows, and this example is the core of the counterexample below.
#
# ## Two heads by hand
#
# To see how much a second head adds to the complexity, take three inputs. Let the first head have the outputs $(1, 1, 1)$ or $(-1, -1, -1)$ on them, and the second head $(1, 1, -1)$ or $(-1, -1, 1)$. The complexity measures how well a class of outputs $h$ fits random signs $\varepsilon$, by the mean of the largest $\sum_i \varepsilon_i h_i$. (Here we leave out the division by the number of inputs, which the definition below contains.) For the first head that is the mean of $|\varepsilon_1 + \varepsilon_2 + \varepsilon_3|$, which is 3 for two of the eight sign patterns and 1 for the six others, so the mean is $1.5$. The second head has the same mean. If each head chooses its sign for itself, the best choices can be made separately, and the sum of both heads has the complexity $1.5 + 1.5 = 3$. If the two heads share one sign, their sum is $\pm(2, 2, 0)$, and the mean of $|2 \varepsilon_1 + 2 \varepsilon_2|$ is only 2, as an enumeration of all signs confirms.

# %%
one, two = (torch.tensor([[1.0, 1.0, last]]).double() for last in (1, -1))
one, two = torch.cat((one, -one)), torch.cat((two, -two))
both = (one[:, None] + two).reshape(-1, 3)  # all pairs of choices
classes = {"first head": one, "second head": two, "signs of their own": both, "one sign": one + two}
by_hand = {name: 3 * complexity(values) for name, values in classes.items()}  # times m = 3
table(by_hand, "Complexity (mean of the largest sum), two heads on three inputs", form=".1f")

# %% [markdown]
# So it is the independence of the parameters that makes complexities add up. Section 4.2 of the paper states this for any number of heads.
#
# ## The statement
#
# Layer, complexity and norms are those of {ref}`ch-single-layer-bound`.
#
# * *The layer* is $h(X) = w^\top W_c^\top \sigma(W_v^\top u)$, where $X$ has the $d$-dimensional tokens as rows and $u = X^\top \mathrm{softmax}(s)$ is their mean with the weights of attention. The scores $s$ contain $W_{QK}$.
# * *The complexity* $\mathcal R$ is the Rademacher complexity of the layer on $m$ inputs, $\mathcal R = \frac1m \mathbb E_\varepsilon \sup_h \sum_i \varepsilon_i h(X^{(i)})$ with fair signs $\varepsilon_i$.
# * *The norms.* $\|W\|_{q,p}$ is the $p$-norm of the $q$-norms of the columns. $B_w$, $B_{W_c}$ and $B_{W_v}$ bound the read-out $w$ and the two weight matrices, $L_\sigma$ is the Lipschitz constant of the activation $\sigma$, and $B_x$ bounds the tokens.
#
# In the next table the entry under *cover* is the lemma of the paper on covers of linear maps that the corollary uses.
#
# ```{prf:corollary} Trauger and Tewari (2024), Corollaries 4.1.1, D.0.1, D.0.2
# :label: lengthfree-cor4-1-1
# *(With the misprint of {prf:ref}`lengthfree-thm4-1`, rows for columns.)* Under the conditions of {prf:ref}`lengthfree-thm4-1`, $\mathcal R$ is of the order $B \bigl( \frac{B_x^3 \alpha}{\sqrt m} (1 + \ln \frac{\sqrt m}{B_x^2 \alpha}) + B_x \sqrt{\ln(2d)/m} \bigr)$ with
#
# | corollary | matrices | tokens | cover | $\alpha$ |
# |:--|:--|:--|:--|:--|
# | 4.1.1 | $\lVert W_{QK} \rVert_{1,1} \le B_{QK}$ | $\lVert x \rVert_2 \le B_x$ | Lemma 3.6 | $B_{QK} \sqrt{2 \ln(2d^2+1)}$ |
# | D.0.1 | $\lVert W_{QK} \rVert_{1,\infty} \le B_{QK}$ | $\lVert x \rVert_1 \le B_x$ | Lemma 3.3 | $2 B_{QK} \sqrt{d \ln(2d+1)}$ |
# | D.0.2 | $\lVert W_{QK} \rVert_{2,1} \le B_{QK}$ | $\lVert x \rVert_1 \le B_x$ | Lemma 3.4 | $2 B_{QK} \sqrt{2 \ln d}$ |
#
# and $B = B_w B_{W_c} L_\sigma B_{W_v}$. (D.0.1 and D.0.2 have $\sqrt m - \sqrt{\ln 2d}$ for $\sqrt m$ in the logarithm, and the $O$ of D.0.2 also hides logarithms of quantities other than $T$, $d$, $k$.)
# ```
#
# ```{prf:proposition} Trauger and Tewari (2024), Section 4.2
# :label: lengthfree-heads
# For heads $Y_1, \dots, Y_H$ with parameters of their own
#
# $$\mathbb E \sup_{Y_1, \dots, Y_H} \sum_i \varepsilon_i w^\top \sum_j Y_j(X_i) = \sum_j \mathbb E \sup_{Y_j} \sum_i \varepsilon_i w^\top Y_j(X_i) .$$
# ```
#
# The next figure shows the consequences of both statements in numbers, which the sections below compute.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: the complexity of a sum of H heads in units of one head, for heads with parameters of their own and for heads that share theirs, and the growth of the bound from covers of all tokens. Right: the repaired bound of one layer over the largest possible output, against the number of examples, for three layers of weights; above the grey line the bound is vacuous.", "name": "fig-layer-heads"}, "image": {"alt": "Left: a straight line for independent heads, a flatter one below it for shared parameters, and one that rises more steeply than linearly for the covers. Right, both axes logarithmic: three falling lines that cross the grey level far apart, the one for norms of 1 first, that for random weights with positions last, many decades to the right."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=2.9)
for i, (name, values) in enumerate(several.items()):
    scale = 1 if i == 2 else several.index
    left.plot(several.index, values * scale, **figures.series_style(i, label=name.split(",")[0]))
left.set(xlabel="heads, $H$", ylabel="over one head", xticks=list(several.index))
left.legend()
powers = torch.arange(2, 21, 0.5).tolist()
for i, (name, norms) in enumerate(layers.items()):
    bounds = [
        single_layer.length_free_bound(norms, width, round(10**p), softmax=SOFTMAX) for p in powers
    ]
    over = [bound / norms.largest for bound in bounds]
    right.plot([10**p for p in powers], over, **figures.line_style(i, label=name))
figures.level(right, 1.0)
right.set(xscale="log", yscale="log", xlabel="examples, $m$", ylabel="bound over largest output")
right.legend(loc="lower left")
figures.show()

# %% [markdown]
# On the left, independent heads lie on the straight line that the proposition predicts, and heads that share their parameters lie below it. The bound from covers of all tokens rises more steeply than either. On the right the bound is divided by the largest output that the layer can have, so it is informative only below the grey line. With all norms equal to 1 the bound reaches this line first. With random weights and positions it reaches the line only for samples that are larger by many powers of ten.
#
# ## The corollaries
#
# This section asks three questions. Why do the corollaries fail for bounded rows, and from which width on? Why do they hold for bounded columns? And does a search find a class that contradicts them?
#
# Each corollary is the theorem with a cover constant $C$ put in. The theorem has $2 B_x^2 \sqrt C$ in the place of $B_x^3 \alpha$, so $\alpha = 2 \sqrt C/B_x$. Corollary 4.1.1 differs from this in two details. It has $\sqrt2$ in place of 2, a difference that its $O$ hides, and its $B$ has a misprint, $B_{W_c}$ twice where D.0.1 and D.0.2 have $B_{W_v}$.
#
# ### Bounded rows
#
# The norms of $W_c$ and $W_v$ are the theorem's, so the theorem's counterexample, whose core is the example by hand, applies to the corollaries too:
#
# * its $W_c$ has signs in one column, so that all rows are bounded by 1 but the column is not;
# * its tokens are 0 and $e_j$, which are also short in the $\ell_1$ norm, and $B_x$ may be any number above 1, since the theorem has $<$;
# * its $W_{QK}$ is 0, so that $B_{QK}$ may be as small as one likes.
#
# How large would the constant that the $O$ hides have to be, for the printed value to hold here? For columns $8\sqrt2$ is enough, so we ask where rows require more. In the table the other bounds are 1 and $m = 2d$.
#
# | $B_{QK}$ | corollary | constant that the counterexample requires |
# |:--|:--|:--|
# | $10^{-6}$ | each of the three | at least {glue:text}`forced_least:.1f` at $d = 32768$ |
# | 1 | 4.1.1 | above $8\sqrt2$ from a width of {glue:text}`from_4:.1f` million on |
# | 1 | D.0.2 | above $8\sqrt2$ from a width of {glue:text}`from_2:.1f` million on |
# | 1 | D.0.1 | at most {glue:text}`forced_root:.2f` at any width, no contradiction |
# | $1/\sqrt d$ | D.0.1 | above $8\sqrt2$ from a width of {glue:text}`from_1:.1f` million on |
# | 1 | each of the three | {glue:text}`forced_64:.2f` is enough at the width 64 of the paper's experiment, no contradiction |
#
# So all three corollaries fail for rows if $B_{QK}$ is small. With all bounds equal to 1 the counterexample contradicts 4.1.1 and D.0.2 as well, because the constant in their $O$ would have to grow without bound with the width. Corollary D.0.1 is different, because its $\alpha$ has a factor $\sqrt d$, and the counterexample contradicts it only if $B_{QK}$ is small.
#
# Could the $O$ of D.0.2 save this corollary, since it also hides logarithms such as $\ln m$? It could not, because these grow more slowly than the required constant. For example, at $d = 2^{80}$, with $m = 2d$ and all bounds equal to 1, the required constant divided by $\ln m$ still exceeds $10^6$.
#
# ### Bounded columns
#
# The corollaries also need the theorem's condition on the sample size: unless $\sqrt m \ge B_x^2 \alpha + \sqrt{\ln 2d}$, the expression in brackets can be too small or even negative, and has to be replaced by $B_x$.
#
# *Corollaries 4.1.1 and D.0.1*, for bounded columns, follow from {prf:ref}`lengthfree-thm4-1-repaired`, the theorem in its repaired form, and from Lemmas 3.6 and 3.3, which give covers for their norms. A cover of $x \mapsto Wx$ at all tokens can take the place of one at the queries, because a score is off by at most $B_x \epsilon$ in both cases, and neither cover grows with the number of tokens.
#
# *Corollary D.0.2* needs another proof, because Lemma 3.4, the cover for its norm, is false for columns ({ref}`ch-linear-covers`). Such a proof exists, because in a layer *both* sides of $W_{QK}$ are short in $\ell_1$, the query and the token:
#
# ```{prf:proposition} A cover for short tokens (ours)
# :label: layer-entry-cover
# Let $\|x\|_1 \le B_x$ for all tokens, and let a class of matrices with $\sum_{ij} W_{ij}^2 \le B_F^2$ contain with $W$ every matrix whose entries have the same signs and are no larger. Then this class has, for the layer's scores, the cover constant $C = B_F^2 B_x^2 \ln(2d^2 + 1)$.
# ```
#
# **The idea of the proof.** If query and token are short in $\ell_1$, a score is a mixture of entries of $W$, so a score is off by no more than the largest error of an entry. Therefore it is enough to round every entry to a grid. Few entries are large, because their squares have a bounded sum, and all small entries become 0.
#
# ```{dropdown} Proof
# We round the entries, bound the error of a score, and count the rounded matrices.
#
# In one layer a cover at scale $\epsilon$ is needed only to make sure that every score is off by at most $B_x \epsilon$. Put $\delta = \epsilon / B_x$ and round all entries of $W$ towards 0 to multiples of $\delta$. The result $\hat W$ is a member of the class, and $|x_{[CLS]}^\top (W - \hat W)\, x_t| \le \delta\, \|x_{[CLS]}\|_1 \|x_t\|_1 \le \delta B_x^2 = B_x \epsilon$. The multiples $z_{ij}$ are whole numbers, so $\sum |z_{ij}| \le \sum z_{ij}^2 \le n := \lfloor B_F^2 / \delta^2 \rfloor$. There are at most $(2d^2 + 1)^n$ such tables, since each table is a sum of $n$ terms, each of which is 0 or $\pm 1$ at one of $d^2$ places, and $n \le B_F^2 B_x^2 / \epsilon^2$. $\square$
# ```
#
# From the proposition D.0.2 follows in three steps, for $d \ge 2$.
#
# 1. The norms $\|\cdot\|_{2,1}$ and $\|\cdot\|_{1,\infty}$ do not grow when entries shrink, and they bound the squares: $B_F = B_{QK}$ for the first, $B_F = \sqrt d\, B_{QK}$ for the second. So D.0.2 holds with $\alpha = 2 B_{QK} \sqrt{\ln(2d^2 + 1)}$, at most 1.3 times the printed one.
# 2. The Lipschitz constant $c = 2$ that the paper has for the softmax may be replaced by 1, so half of this $\alpha$ is enough.
# 3. The printed $\alpha$ is larger than this half, and the expression in brackets increases with $\alpha$ as long as $B_x^2 \alpha \le \sqrt m - \sqrt{\ln 2d}$. So D.0.2 holds with its printed $\alpha$.
#
# The printed $\alpha$ of 4.1.1 and D.0.1 is larger than needed too, by step 2, and this does no harm, by step 3.
#
# At $d = 1$ the printed $\alpha$ is 0, so that only $B B_x \sqrt{\ln 2 / m}$ is left of D.0.2. This bound is true with the constant $8\sqrt2$ as well, because each output, up to its sign, increases with the single number $W_{QK}$. Functions that all increase in one number can fit few patterns of signs:
#
# ```{dropdown} The case $d = 1$
# *Proof.* If tokens are numbers, so is $W_{QK}$, and an average $u_i$ has the derivative $x_{[CLS]} \mathrm{Var}(x)$ with respect to this number, with the variance of the tokens under the weights of the softmax. So $v_i = \pm u_i$, with the sign of the query, increases with $W_{QK}$, and this sign can be absorbed in $\varepsilon_i$. Write $v_i = -B_x + \int_{-B_x}^{B_x} \mathbf 1[v_i > \theta]\, d\theta$. For each $\theta$ the set of all $i$ with $v_i > \theta$ only grows with $W_{QK}$, so $\sum_i \varepsilon_i \mathbf 1[v_i > \theta]$ is a partial sum of $m$ random signs in a fixed order. By Lévy's inequality the largest absolute value of a partial sum has a mean of at most $2\, \mathbb E |S_m|$, where $S_m$ is the sum of all $m$ signs. So the mean of $\sup |\sum_i \varepsilon_i v_i|$ is at most $B_x \mathbb E |S_m| + 2 B_x \cdot 2\, \mathbb E |S_m| = 5 B_x \mathbb E |S_m|$.
#
# For $m \ge 2$ we have $\mathbb E |S_m| \le \frac{\sqrt3}2 \sqrt m$. Indeed, $\mathbb E |S_3| = \frac32$ attains this. From an odd $m$ to the next, $(\mathbb E |S_m|)^2/m$ is multiplied by $m (m+2)/(m+1)^2 < 1$, and an even $m$ has the mean of the odd number before it (for $m = 2$ the mean is 1). So the mean of the supremum is at most $4.34\, B_x \sqrt m$. With the factor $2B$, which taking away the matrices $w$, $W_c$ and $W_v$ costs in the proof of the theorem, we get $\mathcal R \le 8.7\, B B_x / \sqrt m$, which is at most $8\sqrt2\, B B_x \sqrt{\ln 2 / m}$. For $m = 1$ this is true because $\mathcal R \le B B_x$. $\square$
# ```
#
# ### Two tests
#
# *First*, we test the cover on random matrices with $\|W\|_{2,1} = 1$ and on the worst of {glue:text}`T_search` tokens. The error of a score and the logarithm of the number of rounded matrices are both divided by what is allowed, and a value above 1 would refute the proposition. The column between them is for tokens that are short in $\ell_2$ only, to which the proposition does not apply.
#
# *Second*, the search of {ref}`ch-single-layer-bound` varies tokens and matrices so as to make a complexity large, here with the norms of the corollaries. Its results are in the second table.
#
# * *What is searched.* The search makes the complexity of the averages $\pm u_j$ large. For these the proof gives the constant $4\sqrt2 =$ {glue:text}`dudley:.2f`, half of $8\sqrt2$, since the factor 2 of the proof comes after them. So a number above {glue:text}`dudley:.2f` in the table would contradict the proof.
# * *What it is compared with.* This is the expression in brackets, with half of the $\alpha$ that belongs to the cover. At $d = 1$ D.0.2 is taken as printed, with $\alpha = 0$. The rows in which $B_{QK}$ tends to 0, computed at $10^{-100}$, are the limit of uniform attention.


# %%
def tokens(order):
    """Corners of the l1 ball among random points of the unit ball of an lp norm."""
    x = torch.cat((rng.normal(T_search - 8, 4), torch.eye(4).double(), -torch.eye(4).double()))
    return x / torch.linalg.vector_norm(x, order, dim=-1, keepdim=True)


rows = {}
for epsilon in (1.0, 0.5, 0.2, 0.1):
    W = rng.normal(cases, 4, 4) * rng.log_uniform(1e-3, 1, cases, 4, 4)
    W = W / linear_maps.matrix_norm(W, 2, 1)[:, None, None]
    error = W - (W / epsilon).trunc() * epsilon
    size = math.log(covers.maurey_size(16, math.floor(1 / epsilon**2 + 1e-9)))
    off = {order: (tokens(order) @ error @ tokens(order).mT).abs().max().item() for order in (1, 2)}
    rows[epsilon] = {
        "error of a score": off[1] / epsilon,
        "the same, tokens short in l2 only": off[2] / epsilon,
        "log size": size / (math.log(33) / epsilon**2),
    }
rounding = pd.DataFrame(rows).T.rename_axis("epsilon")
heads = {"the same, tokens short in l2 only": "error of a score, tokens short in l2 only"}
heads |= {"log size": "log of the number of matrices"}
caption = "The cover by rounded entries, at each scale epsilon: value over what is allowed, d = 4"
table(rounding.rename(columns=heads), caption, form=".3f")

# %% mystnb={"code_prompt_hide": "The search, and checks", "code_prompt_show": "The search, and checks"} tags=["hide-input"]
ledger.result("lengthfree.thm4_1.corD_0_2").holds(
    f"the cover by entries at $T = {T_search}$: largest ratio of the error of a score to the"
    " error that is allowed; control: tokens that are bounded in $\\ell_2$ only",
    rounding["error of a score"].max(),
    at_most=1,
    tol=tol,
    control=rounding["the same, tokens short in l2 only"].max(),
    about="ours",
    evidence="proved",
)
corollaries = {  # name: norm, norm of the tokens, C over B_QK^2 at B_x = 1
    "4.1.1": ((1, 1), 2.0, lambda d: math.log(2 * d * d + 1)),
    "D.0.1": ((1, math.inf), 1.0, lambda d: d * math.log(2 * d + 1)),
    "D.0.2": ((2, 1), 1.0, lambda d: math.log(2 * d * d + 1) if d > 1 else 1e-100),  # alpha is 0
}


def required(name, d, m, T, B_qk, **options):
    """The constant that the worst class found requires, for the averages u."""
    of, order, constant = corollaries[name]
    found = single_layer.searched_complexity(
        (m, T, d),
        B_qk,
        lambda W: linear_maps.matrix_norm(W, *of),
        rng.generator,
        order=order,
        **options,
    )
    return found / single_layer.dudley_value(1.0, B_qk**2 * constant(d), d, m, SOFTMAX)


attacks = {}
for name in corollaries:
    for B_qk in (1e-100, 1.0, 30.0):
        row = {
            f"d = {d}, m = {m}, T = {T}": required(name, d, m, T, B_qk, steps=10)
            for d, m, T in ((1, 1024, 4), (2, 256, 16), (3, 64, T_search))
        }
        size = "tends to 0" if B_qk < 1e-9 else f"= {B_qk:g}"
        attacks[f"{name}, B_QK {size}"] = row
attacks = pd.DataFrame(attacks).T.rename_axis("corollary")
caption = "Constant needed: complexity of the worst class found, over the expression in brackets"
table(attacks, caption, form=".2f")
glue(searched=attacks.to_numpy().max(), T_search=T_search, cap=math.sqrt(1024 / math.log(2)))
summed = {
    name: required(name, 1, 64, T_search, 1.0, steps=5, normalise=torch.exp) for name in corollaries
}


def forced(name, d, B_qk=1.0):
    """The constant that rows of norm 1 force on the printed value of a corollary, at m = 2 d."""
    alphas = {
        "4.1.1": math.sqrt(2 * math.log(2 * d**2 + 1)),
        "D.0.1": 2 * math.sqrt(d * math.log(2 * d + 1)),
        "D.0.2": 2 * math.sqrt(2 * math.log(d)),
    }
    alpha = B_qk * alphas[name]
    root, rate = math.sqrt(2 * d), math.sqrt(math.log(2 * d) / (2 * d))
    inner = root - math.sqrt(math.log(2 * d)) if name != "4.1.1" else root
    value = alpha / root * (1 + math.log(inner / alpha)) + rate if alpha <= root * (1 - rate) else 1
    return 0.25 / value


wide, small = 2**15, 1e-6  # d and B_QK
for name, id in (
    ("4.1.1", "lengthfree.thm4_1.cor4_1_1"),
    ("D.0.1", "lengthfree.thm4_1.corD_0_1"),
    ("D.0.2", "lengthfree.thm4_1.corD_0_2"),
):
    ledger.result(id).refuted(
        f"{name} as printed, for bounded rows: constant that the counterexample requires for "
        f"$d = {wide}$, $m = 2d$ and $B_{{QK}} = 10^{{-6}}$, against $8\\sqrt2$, which is enough "
        "for columns; control: bounded columns, of norm $d$",
        forced(name, wide, small),
        at_most=CONSTANT,
        control=forced(name, wide, small) / wide,
        about="misprint",
        evidence="attained",
    )
    ledger.result(id).holds(
        f"{name} for bounded columns: largest constant that the averages $u$ of the classes "
        f"found by a search require, for $T \\le {T_search}$, against $4\\sqrt2$, which the proof "
        "gives for $u$; control: sums in place of averages",
        attacks[attacks.index.str.startswith(name)].to_numpy().max(),
        at_most=capacity.DUDLEY,
        control=summed[name],
        about="statement",
        evidence="proved",
    )
many = 2**80  # d
ledger.result("lengthfree.thm4_1.corD_0_2").refuted(
    "D.0.2 as printed, for bounded rows, with a hidden factor $\\ln m$: constant that the "
    "counterexample requires over $10^6 \\ln m$, for $d = 2^{80}$, $m = 2d$ and $B_{QK} = 1$; "
    "control: bounded columns, of norm $d$",
    forced("D.0.2", many) / (1e6 * math.log(2 * many)),
    at_most=1,
    control=forced("D.0.2", many) / (1e6 * math.log(2 * many) * many),
    about="misprint",
    evidence="attained",
)


def first_width(name, power=0.0):
    """Millions of d from which rows require more than the constant of columns, B_QK = d^-power."""
    return least_integer(lambda d: forced(name, d, d**-power) > CONSTANT, start=2) / 1e6


glue(from_4=first_width("4.1.1"), from_1=first_width("D.0.1", 0.5), from_2=first_width("D.0.2"))
glue(
    forced_least=min(forced(name, wide, small) for name in corollaries),
    forced_64=max(forced(name, 64) for name in corollaries),
    forced_root=max(forced("D.0.1", 2**k) for k in range(2, 101)),
)

# %% [markdown]
# In the first table no score is off by more than is allowed, and the number of rounded matrices is within its bound, so the rounded matrices satisfy the proposition. For tokens that are short in $\ell_2$ only they fail, at all scales of the table except the coarsest.
#
# The search finds no contradiction: the classes in the second table require a constant of {glue:text}`searched:.2f` at most.
#
# Could it have found one? Since no complexity exceeds $B_x$, no sample can require more than $1/\sqrt{\ln(2d)/m}$. This is {glue:text}`cap:.1f` in the first column, so there the search could have found a contradiction. If sums take the place of averages, it finds one for each corollary.
#
# ## Several heads
#
# The supremum of a sum over *independent* arguments is the sum of the suprema, and then the mean is linear, which gives {prf:ref}`lengthfree-heads`. The paper gives the linearity of the mean as the reason, but what matters is the independence, as the two heads with one sign showed. In the formula $w$ is fixed. If $w$ is free and shared, and all heads have the same bounds, the same $w$ is best for all heads, so equality still holds.
#
# We compute both sides for finite classes, with all combinations of their members and all signs. A number other than 1 in the first column would refute the proposition.

# %%
caption = "Complexity of a sum of H heads over the sum of their complexities; last column: growth"
table(several, caption, form=".4f")
heads_add.holds(
    f"$H = {H_max}$ heads with parameters of their own: ratio of their complexity to the sum"
    " of the complexities; control: heads that share their parameters",
    several["independent heads"].iloc[-1],
    equals=1,
    tol=tol,
    control=several["shared parameters"].iloc[-1],
    about="statement",
    evidence="proved",
)

# %% [markdown]
# The first column is 1 throughout, as the proposition says. So with equal bounds the complexity of $H$ heads is $H$ times that of one ({numref}`fig-layer-heads`). Since the bound falls nearly like one over the root of the sample size, about $H^2$ times as many examples are needed to bring it below a fixed number. The bound from covers of all tokens grows like $H$ to the power {glue:text}`older_exponent:.1f`, as the paper says of its method for several layers.
#
# ## What the bound says about real weights
#
# How large must a sample be before the bound says something? There are two answers. The bound is *vacuous for the class* unless it is below $B B_x$, since no output exceeds $B B_x$. And since risk and training loss differ by about $2 \mathcal R$ for a 1-Lipschitz loss ({ref}`ch-capacity`), the bound is *informative for a loss* in $[0, 1]$ once $\mathcal R$ is below $\frac14$, say.
#
# We compute both sizes, with all constants of the proof and $c = 1$ for the softmax, for bounds that are all 1 and for a layer with the usual random weights. These are normal with variance one over the number of rows, and $W_{QK}$ is a product of two such matrices over $\sqrt d$. Tokens are orthogonal of length 1, or these plus sinusoidal positions.

# %%
rows = {}
for name, norms in layers.items():
    targets = {"below the outputs": norms.largest, "below 1/4": 0.25}
    needed = {
        f"examples until the bound is {k}": float(
            single_layer.least_samples(norms, width, v, softmax=SOFTMAX)
        )
        for k, v in targets.items()
    }
    rows[name] = {"B": norms.product, "B_x": norms.x, "W_QK": norms.W_qk} | needed
real = pd.DataFrame(rows).T.rename_axis("layer")
told = real.map(lambda v: in_prose(f"{v:.1e}" if v > 1e4 else f"{v:.3g}"))
table(told, f"Norms at d = {width}, and examples needed")
glue(
    dudley=capacity.DUDLEY,
    width=width,
    older_exponent=math.log(several.iloc[-1, 2]) / math.log(H_max),
    examples_ones=real.iloc[0, 4],
    examples_class=real.iloc[2, 3],
    examples_quarter=real.iloc[2, 4],
)

# %% [markdown]
# With random weights the bound certifies nothing at samples of usual size.
#
# * With all norms equal to 1 it takes some {glue:text}`examples_ones:.0e` examples until the bound is informative for a loss.
# * With random weights and positions it takes {glue:text}`examples_class:.0e` examples until the bound is not vacuous for the class, and {glue:text}`examples_quarter:.0e` until it is informative for a loss.
#
# For a bound below a fixed number the sample must exceed $B^2 B_x^6 \|W_{QK}\|_{1,1}^2$ up to logarithms, and it is these norms that are large. So the theorem tells how the complexity *scales*: it stays below a bound that does not grow with $T$, and that grows with the norms in this way. Such a statement is also what the authors want of it, for they write that such bounds "can be used to help understand how sample size needs to scale with different architecture parameters".
#
# ## What we found
#
# * With columns of $W_c$ and $W_v$ bounded, and samples that are not too small for the theorem, the three corollaries hold with their printed $\alpha$ and the constant $8\sqrt2$.
# * As printed, with rows bounded, all three fail in the theorem's layers if $W_{QK}$ is small. With all bounds equal to 1, 4.1.1 and D.0.2 fail too, but only from widths of several million on.
# * Lemma 3.4, which is false, is not needed, because with tokens short in $\ell_1$ a bound on the sum of squares of $W_{QK}$ is enough.
# * The complexity of $H$ independent heads is exactly $H$ times that of one, if all have the same bounds.
# * At width {glue:text}`width` with random weights the bound certifies nothing at samples of usual size.
#
# ## What would falsify this
#
# * *The corollaries for columns* would be false if a class required a constant above $8\sqrt2$. The search would contradict the proof if its averages required more than $4\sqrt2$, as sums do in the control.
# * *The cover* would be wrong if a score were off by more than $B_x \epsilon$, as happens in the control, where tokens are short in $\ell_2$ only.
# * *The proposition on heads* would be false if the complexity of a sum of independent heads were not the sum of complexities. In the control the heads share their parameters, and the complexity is smaller than the sum.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Nothing can be compared. The authors' only program, `run_experiment.py` of `traugerjacob/Transformer-Gen-Bounds`, trains on sparse majority and evaluates no bound.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-corollaries-units
#
# *By hand.* Up to logarithms the sample must exceed $B^2 B_x^6 \|W_{QK}\|_{1,1}^2$. Make all tokens twice as long and divide $W_{QK}$ by 4, so that all scores stay the same. By which factor does the required sample grow? What changes if the bound is compared with the largest output, $B B_x$, instead of a fixed number?
# ```
#
# ```{solution} ex-corollaries-units
# :class: dropdown
#
# $B_x^6$ grows by a factor of 64 and $\|W_{QK}\|_{1,1}^2$ shrinks by a factor of 16, so the sample grows by a factor of 4. The outputs become twice as large, and with them the target $B B_x$, whose square grows by a factor of 4. Compared with the largest output the needed sample is therefore the same, as it must be for a change of units.
# ```
#
# ```{exercise}
# :label: ex-corollaries-budget
#
# *With pencil and paper.* Scale head $h$ by $\rho_h \ge 0$ with $\sum_h \rho_h \le 1$, a budget that the heads share. What does the complexity of $H$ equal heads become?
# ```
#
# ```{solution} ex-corollaries-budget
# :class: dropdown
#
# It becomes that of one head. The reason is that for given signs the supremum over $\rho$ of $\sum_h \rho_h s_h$, with $s_h$ the supremum of head $h$, is the largest $s_h$, if this is not negative, and all $s_h$ are equal. The largest $s_h$ is not negative, since $W_v = 0$ is allowed.
# ```
#
# ```{exercise}
# :label: ex-corollaries-width
#
# *With the computer.* Run the chapter for a wider layer, `python -m bookkit.run lengthfree/single_layer_corollaries -p width 256 --out my_run`. With which power of the width do the norms grow, and the sample that the bound asks for?
# ```
#
# ```{solution-start} ex-corollaries-width
# :class: dropdown
# ```
#
# We draw layers of three widths, with tokens of length 1 and without positions, so that only the weights change.

# %%
fresh, by_width = Rng(seed), {}
for size in (16, 64, 256):
    drawn = [fresh.normal(size, size) / math.sqrt(size) for _ in range(4)]
    vector = fresh.normal(size) / math.sqrt(size)
    scores = drawn[2] @ drawn[3].mT / math.sqrt(size)
    norms = single_layer.measured_norms(vector, *drawn[:2], scores, torch.eye(size).double())
    least = single_layer.least_samples(norms, size, norms.largest, softmax=SOFTMAX)
    by_width[size] = {"B": norms.product, "W_QK": norms.W_qk, "log10 of m": math.log10(least)}
answer = pd.DataFrame(by_width).T.rename_axis("width")
table(answer, "Norms and examples until the bound is below the largest output", form=".3g")

# %% [markdown]
# Each line has four times the width of the line before. $B$ grows by factors of 5.8 and 7.5, nearly like the width to the power $\frac32$, because it is a product of three sums of absolute values that grow like the root of the width, while $\|W_{QK}\|_{1,1}$ grows like the width itself. Since $B$ cancels against the largest output, the sample grows like $\|W_{QK}\|_{1,1}^2$ and so like the square of the width, which is 1.2 powers of ten for a factor of 4; the logarithms add a little.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-corollaries-l2
#
# *To think about.* Why does the cover by rounded entries fail for tokens with $\|x\|_2 \le B_x$, and what does it cost to repair it?
# ```
#
# ```{solution} ex-corollaries-l2
# :class: dropdown
#
# In that case $|x^\top E y|$ is bounded only by $\|E\|_2 B_x^2$, and a matrix with entries up to $\delta$ has spectral norm up to $\delta d$. With $\delta = \epsilon / (d B_x)$ the cover constant has the factor $d^2$. Lemma 3.6 avoids this factor by a stronger norm, $\|W\|_{1,1}$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The results are from {cite:t}`lengthfree`; the covers of all tokens from {cite:t}`variables`.
