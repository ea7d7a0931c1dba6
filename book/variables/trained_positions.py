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
# (ch-trained-positions)=
# # The logarithm of the length, and trained positions
#
# ```{verdict}
# With fixed positions and bounded weights and tokens a head's capacity grows at most like the logarithm of the number $T$ of tokens. With trained positions it can grow at least linearly, as the paper says. If every token may be the query, this is so even at a fixed accuracy with all norms held. If the query has one place in all inputs, our heads need a score matrix whose norm grows like $\log T$, or an accuracy of order $1/T$; with accuracy, norms and width held, the capacity on $T$ inputs is at most of order $\log^2 T$.
# ```
# **Needs** {ref}`ch-longer-tokens`. **Read** 13 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** If the norms of weights and tokens are held fixed, the bound on a head has a factor $\log T$, where $T$ is the number of tokens. The paper adds that trained positions could make the dependence linear. This is true, because one head can read a sign at each of $T$ positions, and so distinguishes $2^T$ choices of positions. What it takes depends on the *query*, the token that asks, and on the *scale* of the covering number, which is the error $\epsilon$ that a cover may have. In the table the lower bounds are for $T$ inputs, and norms other than that of $W_{QK}$ are held in every row:
#
# | positions | query | held fixed | capacity |
# |:--|:--|:--|:--|
# | fixed | any | norms of weights and tokens | at most like $\log T$ |
# | trained | same place in all inputs | scale, while $\Vert W_{QK} \Vert$ grows like $\log T$ in our heads | at least $T \log 2$ |
# | trained | same place in all inputs | all norms, at scales of order $1/T$ | at least $T \log 2$ |
# | trained | same place in all inputs | all norms, scale and width | at most of order $\log m \log T$ for $m$ inputs, which we prove; so for $T$ inputs not linear |
# | trained | every token may be the query | all norms and scale | at least $T \log 2$ |

# %% tags=["parameters"]
T_most = 256  # longest context that is read [64..512]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, in_prose, table
from helpers.covers import blocks
from helpers.covers.attention import HeadNorms, heads_bound
from helpers.covers.lipschitz import SOFTMAX
from helpers.rng import f64
from papers.variables.depth_covers import affine_residual, counting_log_size

ledger = Ledger("variables/trained_positions")

# %% [markdown]
# ## Why one should care
#
# Many transformers train a vector for each position (a positional embedding), and add it to the token that stands there. These are $T$ more vectors to choose, so one may suspect that the capacity, the logarithm of the covering number, grows in proportion to $T$. Then the growth like $\log T$, which the previous chapters found, would be limited to fixed positions. The paper says that this can happen, and as a reason that one "would need a much finer cover on the embeddings".
#
# Whether it does happen depends on the scores. A head averages over all positions, so a single vector out of $T$ hardly changes the output, unless the head can give its position a large weight.
#
# ## Three positions by hand
#
# Let there be three positions with the signs $(-1, 1, 1)$, which are to be read one at a time. Input $i$ marks position $i$, and the head gives the marked position the score $\log(3T) = \log 9$ and all others the score 0. A query token, which carries no sign, has the score 0 as well. If position 1 is marked, the exponentials are $9, 1, 1, 1$ and the weights $\frac34, \frac1{12}, \frac1{12}, \frac1{12}$:
#
# | | position 1 | position 2 | position 3 | query | average |
# |:--|--:|--:|--:|--:|--:|
# | sign | $-1$ | $1$ | $1$ | $0$ | – |
# | weight, position 1 marked | $\frac34$ | $\frac1{12}$ | $\frac1{12}$ | $\frac1{12}$ | $-\frac7{12}$ |
# | weight, scores equal | $\frac14$ | $\frac14$ | $\frac14$ | $\frac14$ | $\frac14$ |
#
# With the score $\log 9$ the output is $-\frac7{12}$ and shows the sign of the marked position, although the others disagree. With equal scores the output has the sign of the majority, for every input.
#
# Two different choices of signs differ at some position, and on the input that marks this position their outputs lie beyond $\frac12$ on opposite sides of 0. So with the large score the $2^3$ choices of signs give eight functions, any two of which differ by more than 1 on some input, and in general there are $2^T$ of them. A cover with error $\frac12$ therefore needs $2^T$ members. The figure compares the logarithm of this number, a lower bound for trained positions, with two upper bounds for fixed positions. One is the bound by norms of the previous chapter. The other *counts weights*: it rounds both matrices to a fine grid and counts the points of the grid. Where the line for trained positions is above one of the other two, trained positions have a larger covering number than any fixed ones.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Log covering numbers of heads of width 3 at scale $\\frac12$, on $T$ inputs of $T + 1$ tokens no longer than $\\sqrt 2$. Trained positions: from below. Fixed positions, with $\\|W_{QK}\\|$ as large as our heads with trained positions have, $\\log 3T$: from above, by norms and by counting weights.", "name": "fig-trained-positions"}, "image": {"alt": "Three curves against T from 16 to a hundred million on logarithmic axes. The one for trained positions is a straight line of slope one. The bound by norms bends, rises ever more slowly, and is crossed by the line at some five million. The bound by counting weights stays between seventy and ninety and is crossed near one hundred tokens."}} tags=["hide-input"]


def counted(d, QK, length):
    """Log size at scale 1/2 of a grid over both matrices, half of the error to each."""
    V = counting_log_size(d, d, 1.0, length, 1 / 4)
    return V + counting_log_size(d, d, QK, length, 1 / (4 * length**2))


def by_norms(d, QK, length, tokens):
    """Log size by the norms of both matrices, on so many tokens in all; W_V of norm 1."""
    norms = [HeadNorms(1.0, 1.0, QK)]
    return heads_bound(d, norms, length, 2 * d * tokens + 1, 0.5, constant=SOFTMAX)


contexts, root = [2**b for b in range(4, 28)], math.sqrt(2)
curves = {
    "positions trained, at least": [T * math.log(2) for T in contexts],
    "fixed, by norms, at most": [by_norms(3, math.log(3 * T), root, T * T + T) for T in contexts],
    "fixed, by counting, at most": [counted(3, math.log(3 * T), root) for T in contexts],
}
fig, ax = figures.new(height=2.8)
for i, (name, curve) in enumerate(curves.items()):
    ax.plot(contexts, curve, **figures.series_style(i, label=name))
ax.set(xscale="log", yscale="log", xlabel="length $T$", ylabel="log covering number")
ax.legend()
figures.show()

# %% [markdown]
# In {numref}`fig-trained-positions` the line for trained positions has slope 1 and crosses both bounds. From about a hundred tokens on it is above the bound by counting weights, so from there on trained positions have a larger covering number than any fixed ones. The bound by norms would show this only from some five million tokens on. (The bound by counting rises a little in the figure, because $\|W_{QK}\|$ grows there like $\log 3T$, as our heads need it. With all norms held it does not depend on $T$.)
#
# ## The statement
#
# Heads, norms and covers are as in {ref}`ch-longer-tokens`. *Positions* are vectors $p_1, \dots, p_T$ that are added to the tokens of every input.
#
# ```{prf:remark} Edelman et al. (2022), Sections 4.2 and 4.3
# :label: variables-log-T
# With the norms of weights and tokens held, the bound on one head (and that on many layers, see {ref}`ch-transformer-capacity`) depends on $T$ only through $\log T$. If the positions are trained over $\{P : \|P^\top\|_{2,\infty} \le 1\}$, that is, if every row $p_t$ of the matrix $P$ is at most 1 long, the log covering number can grow linearly with $T$.
# ```
#
# The second sentence says that this *could* happen. It does not say at which scale, nor whether the norms of the weights are then still held fixed.
#
# ## Fixed positions: a logarithm
#
# This section is about the first sentence of the remark, and explains both bounds of the figure. By {prf:ref}`attention-capacity-repaired` the bound by norms depends on $T$ through $\log(2dmT + 1)$ alone, if $B_X$ bounds the length of the longest token. If instead $B_X$ were a bound on $\|X\|_2$ or $\|X\|_F$, norms of the whole matrix of $T$ tokens, it would be of order $\sqrt T$, and the growth would no longer be logarithmic.
#
# For a fixed width one can also *count weights*, that is, round both matrices to a fine grid and count its points. The same grid serves all inputs at once, so neither the number $m$ of inputs nor $T$ occurs. If the norms are 1, the logarithms of the numbers of grid points are $d^2 \log(1 + 4 \sqrt d\, B_X/\epsilon)$ for $W_V$ and $d^2 \log(1 + 4 \sqrt d\, B_X^3/\epsilon)$ for $W_{QK}$. The second grid has to be finer, because only an error of $\epsilon/(2 B_X^2)$ is allowed there. For example, for $d = 8$, $\epsilon = \frac12$, $B_X = 1$ and 1000 inputs of 16 tokens the bound by counting is {glue:text}`counted:.0f`, and the bound by norms is {glue:text}`bound:.0f`. (A grid has points outside the class, but a net in spectral norm with centres in the class is no larger, by volume.)
#
# ## Trained positions: linear
#
# Now we write down the heads of the example for every $T$. Take $m = T$ inputs of $T + 1$ tokens in $\mathbb R^3$, with unit vectors $e_1, e_2, e_3$, the last token being the query $e_3$. Input $i$ has token $x_i = e_1$ and zeros elsewhere. The positions are $p_t = s_t e_2$ for signs $s_t$, with none for the query. With $W_{QK} = \log(3T)\, e_3 e_1^\top$ token $i$ gets the weight $\frac34$, and with $W_V = e_2 e_2^\top$ the output of the head is $s_i e_2$ times a factor of more than $\frac34 - \frac14$, as in the example: the marked position contributes $\frac34$, and all others together at most $\frac14$ against it. So any two of the $2^T$ choices of positions are more than 1 apart at some input, and $\log N_\infty(\frac12) \ge T \log 2$, the straight line in {numref}`fig-trained-positions`. The logarithm is also at most of order $T \log \log T$, as we show below. We run such heads with one sign against all others, which is the worst case; a product of output and sign below $\frac12$ would refute the claim.


# %% mystnb={"code_prompt_hide": "Positions read", "code_prompt_show": "Positions read"} tags=["hide-cell"]
def read_out(T, peak, signs):
    """Output along e_2 of each of the T inputs; the marked token's score is log(peak)."""
    X = torch.zeros(T, T + 1, 3).double()
    X[:, :T, 0], X[:, :T, 1], X[:, T, 2] = torch.eye(T).double(), signs, 1.0
    e = torch.eye(3).double()
    W_QK, W_V = math.log(peak) * torch.outer(e[2], e[0]), torch.outer(e[1], e[1])
    return blocks.mix(X, X[:, T], W_V, W_QK)[:, 1]


def least_read(T, peak, signs):
    """Least output, times the sign of the marked token's position, over the T inputs."""
    return (read_out(T, peak, signs) * signs).min().item()


read = {}
for T in (16, 64, T_most):
    opposed = torch.tensor([-1.0] + [1.0] * (T - 1), dtype=torch.float64)
    read[T] = {"log(3T)": least_read(T, 3 * T, opposed), "0": least_read(T, 1, opposed)}
read = pd.DataFrame(read).T.rename_axis("T")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
maximum, summed = (  # an error of W_QK counts T times if errors of scores are summed
    affine_residual(f64(contexts).log(), f64([by_norms(8, QK, 1.0, 1000 * T) for T, QK in sizes]))
    for sizes in ([(T, 1) for T in contexts], [(T, T) for T in contexts])
)
glue(T_most=T_most)
glue(least_read=read["log(3T)"].min(), bound=by_norms(8, 1.0, 1.0, 16000), counted=counted(8, 1, 1))
ledger.result("variables.log_T").holds(
    "one head: largest distance of the bound from a straight line in $\\log T$; control: "
    "errors of the scores summed over the tokens, in place of the largest",
    maximum,
    at_most=0,
    tol=1e-4,
    control=summed,
    about="statement",
    evidence="proved",
)
ledger.result("variables.trained_positions").holds(
    "positions that tell all $2^T$ choices of signs apart: least output times its sign; "
    "control: equal scores",
    read["log(3T)"].min(),
    at_least=0.5,
    control=read["0"].max(),
    about="statement",
    evidence="attained",
)

# %% [markdown]
# We ran heads with $T = 16$, 64 and {glue:text}`T_most` positions, with one sign against all others. Their outputs, multiplied by the sign to be read, are at least {glue:text}`least_read:.3f`, so every sign is read. The score of the marked position exceeds the others by $\log(3T)$, so the norm of $W_{QK}$ grows with $T$.
#
# **With all norms held, at small scales.** The score has to grow only because the scale $\frac12$ is fixed. Hold $\|W_{QK}\| = \beta$ instead, and put $a = \exp(\beta)$. With the score $\beta$ for the marked token the output for input $i$ is $\frac1{a + T} \bigl( (a - 1)\, s_i + \sum_t s_t \bigr)$ along $e_2$. Now take two different choices of signs, and let $D$ be the sum of the first minus the sum of the second. We may assume $D \ge 0$, since otherwise we exchange the two. Because the choices differ and the first has at least as many pluses, some position has a plus in the first choice and a minus in the second. At the input that marks this position the outputs differ by $\frac{2(a - 1) + D}{a + T} \ge \frac{2 (a - 1)}{a + T}$. So at every scale $\epsilon < \frac{a - 1}{a + T}$
#
# $$\log N_\infty(\epsilon) \ge T \log 2 .$$
#
# In other words, with all norms held the growth is linear at a scale of order $1/T$, and at any given scale it is linear up to a length of order $1/\epsilon$. We run the heads with $\beta = 1$ for all 256 choices of eight signs. A pair of choices whose outputs differ by less than $\frac{2(a - 1)}{a + T}$ at every input would refute the inequality.

# %% mystnb={"code_prompt_hide": "All choices of eight signs", "code_prompt_show": "All choices of eight signs"} tags=["hide-input"]
T, a = 8, math.e
choices = 1 - 2 * (torch.arange(2**T)[:, None] >> torch.arange(T) & 1).double()


def least_distance(peak):
    """Of two choices of signs, in the largest difference over the T inputs."""
    outputs = torch.stack([read_out(T, peak, signs) for signs in choices])
    return torch.pdist(outputs, math.inf).min().item()


apart, equal = (least_distance(peak) * (a + T) / (2 * (a - 1)) for peak in (a, 1.0))
ledger.result("variables.trained_positions").holds(
    "all norms held and $\\|W_{QK}\\| = 1$: ratio of the least distance between two of "
    "$2^8$ choices of signs to $2(e - 1)/(e + 8)$; control: equal scores",
    apart,
    at_least=1,
    tol=1e-12,  # rounding of 1e-16 over a distance of 0.3, with room
    control=equal,
    about="statement",
    evidence="proved",
)
glue(apart=apart)

# %% [markdown]
# Over all pairs of choices the least distance is {glue:text}`apart:.3f` times $\frac{2(a - 1)}{a + T}$, so no pair refutes the inequality.
#
# ## A fixed scale, and all norms held
#
# Does the growth stay linear at a fixed scale, if scores do not grow? The paper's sentence leaves this open. On the one hand, its own heads with trained positions, those of its Lemma B.3, have $\|W_Q\|_F$ up to $\log(8T/\gamma)$ ({ref}`ch-sparse-representations`), so there the norms grow with $T$. On the other hand, its Section 4.2 notes of the two matrices of a head that "bounding their norms does not hide a $T$ dependence". So we ask what trained positions cost at the scale $\frac12$, if all norms and the width $d$ are held. (The width has to be held as well. Even if all positions are equal, one can choose this one vector of $d$ numbers freely, which gives a log covering number of $d \log 2$, whatever $T$ is.)
#
# ```{prf:proposition} Norms held (ours)
# :label: positions-held
# Let $\sigma$ be the identity, $\|W_V\|_2 \le 1$, $\|W_{QK}\|_2 \le \beta$, and let tokens and positions have length at most 1. Let $\eta = \frac{e^{-8\beta}}{16 (\sqrt d + 1)}$, and let $K$ be the least whole number above $2 \eta^{-2} \log(2 m (d + 1))$. On any $m$ inputs of $T$ tokens, with the query at the same place $\tau$ in all of them, heads with trained weights and positions have
#
# $$\log N_\infty(\tfrac12) \le (K + 1) \log\bigl( T\, (33 + 256 \beta)^d \bigr) + d^2 \log\bigl( 129\, (1 + 512 \beta) \bigr) .$$
# ```
#
# **The idea of the proof.** If scores are bounded, no token can have more than a fixed multiple of the average weight. Then the head's average over $T$ tokens is nearly the average over a few tokens that are drawn at random, just as a poll of a few voters predicts the vote of many. So only the positions of these few tokens matter. To describe a head one has to say which tokens were drawn, and each of them adds $\log T$ to the log covering number.
#
# ```{dropdown} Proof
# We write $z_t = x_t + p_t$, so that $\|z_t\| \le 2$ and every score $s_t = z_\tau^\top W_{QK} z_t$ is at most $S = 4 \beta$ in size. We divide a total error of $\frac14$ among three approximations: the weights are rounded, the average is replaced by one over $K$ tokens, and the positions of these tokens are rounded.
#
# *Weights, $\frac1{16}$.* Cover $W_V$ to $\frac1{64}$ and $W_{QK}$ to $\frac1{256}$ in spectral norm. The first error moves an output by at most $\frac2{64}$. The second moves a score by at most $\frac4{256}$. Because softmax has the constant 1 ({ref}`ch-attention-capacity`) and values have length at most 2, this moves an output by at most $\frac8{256}$. By volume there are at most $129^{d^2} (1 + 512 \beta)^{d^2}$ choices.
#
# *Few tokens, $\frac18$.* With $a_t = e^{s_t}$ the output is $N/D$, where $N = \frac1T \sum_t a_t W_V^\top z_t$ and $D = \frac1T \sum_t a_t \ge e^{-S}$. Draw $K$ of the $T$ tokens with replacement, and let $\hat N, \hat D$ be the means over the draw. By Hoeffding's inequality a coordinate of $\hat N$, which lies between $\pm 2 e^S$, is off by $2 \eta e^S$ or more with probability at most $2 e^{-K \eta^2/2}$, and $\hat D$ is off by $\eta e^S$ or more with at most the same probability. There are $d + 1$ such events for each of $m$ inputs, and $K$ is so large that their probabilities add up to at most $2 m (d + 1)\, e^{-K \eta^2/2} < 1$. So for some draw none of them happens on any input. Since $\hat N / \hat D$ is an average of vectors of length at most 2,
#
# $$\Bigl\| \frac{\hat N}{\hat D} - \frac ND \Bigr\| \le \frac{\|\hat N - N\|}D + \frac{\|\hat N\|}{\hat D} \cdot \frac{|\hat D - D|}D \le e^S \bigl( 2 \sqrt d\, \eta e^S + 2 \eta e^S \bigr) = \tfrac18 .$$
#
# *Their positions, $\frac1{16}$.* Round the positions of the $K$ tokens and of the query to $\zeta = \frac1{16 (1 + 8 \beta)}$. A value moves by at most $\zeta$ and a score by at most $4 \beta \zeta$, so the output moves by at most $(1 + 8 \beta) \zeta$. For each of these $K + 1$ positions there are at most $(1 + 2/\zeta)^d = (33 + 256 \beta)^d$ choices, and there are at most $T^K$ choices for which tokens were drawn.
#
# So finitely many centres, as many as the formula says, come within $\frac14$ of every head. They need not be heads of the class, as a cover requires. So take for each centre a head within $\frac14$ of it, if there is one. This head is within $\frac12$ of every other head that the centre serves. $\square$
# ```
#
# The constant is enormous, since $K$ contains $\eta^{-2}$ and with it $e^{16 \beta}$, but it does not depend on $T$. So the bound grows only like $\log m \log T$. Hence for large $T$ and $m = T$ inputs it is below $T \log 2$, and at the scale $\frac12$ with these norms held the growth cannot be linear. Heads of a fixed width that distinguish all $2^T$ choices on $T$ inputs at this scale, with the query at one place, therefore need a $\beta$ that grows at least like $\frac1{16} \log T$, and ours have $\log(3T)$.
#
# How large must $T$ be? The table compares the bound with $T \log 2$ for $\|W_{QK}\| \le 1$, $d = 3$ and as many inputs as tokens. If the first column stayed above the second, the bound would exclude nothing.


# %%
def with_norms_held(T, m, d=3, beta=1.0, draws=1):
    """The bound of the proposition on the log covering number at scale 1/2."""
    eta = math.exp(-8 * beta) / (16 * (math.sqrt(d) + 1))
    K = math.floor(2 / eta**2 * math.log(2 * m * (d + 1))) + 1
    places = math.log(T) + d * math.log(33 + 256 * beta)
    return (draws * K + 1) * places + d**2 * math.log(129 * (1 + 512 * beta))


growth = {
    f"2^{b}": {"norms held, at most": with_norms_held(2**b, 2**b), "T log 2": 2**b * math.log(2)}
    for b in (20, 40, 46, 47, 60, 80)
}
growth = pd.DataFrame(growth).T.rename_axis("T")
shown = growth.map(lambda v: in_prose(f"{v:.2e}"))
table(shown, "Log covering number of heads with trained positions")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
share = growth["norms held, at most"] / growth["T log 2"]
ledger.result("variables.trained_positions").holds(
    "norms held and $\\|W_{QK}\\| \\le 1$, at the scale $\\frac12$: ratio of the bound to "
    "$T \\log 2$ at $T = 2^{47}$, so that not all choices are told apart; control: tokens "
    "drawn anew for each input",
    share.loc["2^47"],
    at_most=1,
    control=with_norms_held(2**47, 2**47, draws=2**47) / (2**47 * math.log(2)),
    about="ours",
    evidence="proved",
)
glue(share_46=share.loc["2^46"], share_47=share.loc["2^47"])

# %% [markdown]
# The bound is {glue:text}`share_46:.2f` times $T \log 2$ at $T = 2^{46}$ and {glue:text}`share_47:.2f` times at $2^{47}$, so from there on a head cannot distinguish all choices of signs at the scale $\frac12$. For the lengths of real inputs the bound is far above $T \log 2$ and excludes nothing. It only shows that a linear growth at a fixed scale has to end, at the latest at a length that is exponential in the norm of $W_{QK}$.
#
# **Never much more than linear.** If all $T$ positions are rounded, no tokens need be drawn. With the errors $\frac1{16}$ for the matrices and $\frac1{16}$ for the positions, and with the numbers of choices of the proof above, $\log N_\infty(\frac12) \le T d \log(33 + 256 \beta) + d^2 \log\bigl( 129\, (1 + 512 \beta) \bigr)$, on any number of inputs and wherever their queries stand. With norms held this is of order $T$, and with $\beta = \log(3T)$ of order $T \log \log T$.
#
# **The fixed place matters.** If every token may be the query, as in a layer of a transformer, the growth is linear at the scale $\frac12$ even with all norms 1. For two tokens such a head can be computed by hand. The tokens are $e_1$ and $-e_1$, and the position $s_t e_2$ adds a sign $s_t$ to the token at place $t$. With $W_{QK} = e_2 e_1^\top$ the query at place $t$ gives the two tokens the scores $s_t$ and $-s_t$. For $s_t = 1$ the weights are $\frac{\exp(1)}{\exp(1) + \exp(-1)} = 0.88$ and $0.12$, and with $W_V = e_1 e_1^\top$ the output is $0.88 - 0.12 = 0.76$ along $e_1$. For $s_t = -1$ the output is $-0.76$. So each query reads its own sign, whatever the other sign is, and no score has to grow.
#
# In general take $d = 2$, and let all $T$ inputs, for an even $T$, have the same tokens, $e_1$ for one half of the places and $-e_1$ for the other. The positions are $p_t = s_t e_2$ for signs $s_t$, and input $t$ has its query at place $t$. With $W_{QK} = \beta\, e_2 e_1^\top$ the query at place $t$ gives the tokens the scores $\pm \beta s_t$, so with $W_V = e_1 e_1^\top$ the output is $s_t \tanh \beta$ along $e_1$. Since $\tanh 1 > \frac12$, two choices of signs are more than 1 apart at some input for $\beta = 1$, and $\log N_\infty(\frac12) \ge T \log 2$. This is no contradiction to {prf:ref}`positions-held`: in its proof the query's position is one vector that has to be rounded, whereas here it is $T$ vectors. We run this head with one sign against all others. A product of output and sign below $\frac12$ would refute the claim.

# %% mystnb={"code_prompt_hide": "Every token asks", "code_prompt_show": "Every token asks"} tags=["hide-input"]


def all_ask(T, beta):
    """Least output along e_1, times the sign of the query's position, over the T queries."""
    signs, e = torch.ones(T).double(), torch.eye(2).double()
    signs[0] = -1
    tokens = (-1.0) ** torch.arange(T).double()
    Z = torch.outer(tokens, e[0]) + torch.outer(signs, e[1])
    outputs = blocks.attention(Z, torch.outer(e[0], e[0]), beta * torch.outer(e[1], e[0]))
    return (outputs[:, 0] * signs).min().item()


asked = {T: all_ask(T, 1.0) for T in (8, 64, 512)}
ledger.result("variables.trained_positions").holds(
    "every token asks, all norms 1: least output times the sign of the query's position; "
    "control: scores of 0",
    min(asked.values()),
    at_least=0.5,
    control=all_ask(512, 0.0),
    about="ours",
    evidence="attained",
)
glue(asked=min(asked.values()))

# %% [markdown]
# For 8, 64 and 512 tokens the outputs, multiplied by their signs, are at least {glue:text}`asked:.3f`, which is $\tanh 1$. So every sign is read.
#
# ## What would falsify this
#
# * *Trained positions.* The claims would be false if a sign were not read, or if two choices of signs had the same outputs, as happens with equal scores.
# * *Fixed positions.* The claim would be false if the bound were not a straight line in $\log T$, as it is not if the errors of the scores are summed over the tokens.
# * *A fixed scale.* Our bound would exclude nothing if it exceeded $T \log 2$ at every length, as it does if the few tokens of its proof are drawn anew for each input.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The paper comes without code, and its experiments use trained positions.
#
# ## What we found
#
# * With fixed positions and all norms held, the bound by norms on a head's capacity grows with $\log T$, and the bound by counting weights does not grow with $T$ at all.
# * The sentence on trained positions is true. The log covering number is at least $T \log 2$ at the scale $\frac12$, if $\|W_{QK}\|$ may grow like $\log T$, and at scales of order $1/T$ with all norms held.
# * At a fixed scale, with all norms and the width held and the query at the same place in all inputs, it is at most of the order of $\log m \log T$, so there the growth is linear only up to some length. If every token may be the query, it is linear even then.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-positions-score
#
# *By hand.* How large must the score of the marked position be for $T$ positions, if all other signs are opposite and the output should still have the right sign? What is the output if the score is $\log(3T)$ and $T$ is large?
# ```
#
# ```{solution} ex-positions-score
# :class: dropdown
#
# Let $a$ be the exponential of the score. The output is $\frac{a - (T - 1)}{a + T}$ times the right sign, so $a$ must exceed $T - 1$, and the score must exceed $\log(T - 1)$. For $a = 3T$ the output is $\frac{2T + 1}{4T}$, which is a little more than $\frac12$.
# ```
#
# ```{exercise}
# :label: ex-positions-held
#
# *With the computer.* Is the sign still read if the score cannot grow? Compute the least output, times the sign of the marked position, for $T = 4, 16, 64$ and 256 positions with one sign against all others, for the scores $\log 12$ (which is $\log 3T$ at $T = 4$) and $\log 3T$. Then run the chapter with longer contexts, `python -m bookkit.run variables/trained_positions -p T_most 512 --out my_run`.
# ```
#
# ```{solution-start} ex-positions-held
# :class: dropdown
# ```
#
# The function `least_read` of this page takes the exponential of the score.

# %%
held_and_free = {}
for T in (4, 16, 64, 256):
    one_against_all = torch.tensor([-1.0] + [1.0] * (T - 1), dtype=torch.float64)
    held_and_free[T] = {
        "log 12": least_read(T, 12, one_against_all),
        "log 3T": least_read(T, 3 * T, one_against_all),
    }
answer = pd.DataFrame(held_and_free).T.rename_axis("T")
table(answer, "Least output times its sign, by the score of the marked position", form=".3f")

# %% [markdown]
# If the score is held at $\log 12$, the sign is no longer read from 16 positions on, because the others outvote it. With $\log 3T$ the output stays just above $\frac12$ at every length.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-head-positions
#
# *To think about.* Let all scores be at most $S$ in size. Up to which number of positions does the head of this page still distinguish all $2^T$ choices of signs? Why is that no contradiction to {prf:ref}`positions-held`?
# ```
#
# ```{solution} ex-head-positions
# :class: dropdown
#
# The marked position needs the score $\log(3T)$, so the head works for $T \le e^S/3$. Up to this length trained positions do cost $T \log 2$, although the norms are held. In the proposition $K$ contains $e^{4S}$, which is larger than $T$ as long as $T \le e^S/3$, so the bound is above $T \log 2$ there. In other words, the log covering number grows linearly until $T$ is exponential in the size of the scores, and from a larger such length on it is at most of order $\log^2 T$, for $T$ inputs, one place of the query and a fixed width.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The remarks are from {cite:t}`variables`.
