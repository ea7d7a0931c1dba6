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
# (ch-pointer-heads)=
# # One head for each pointer
#
# ```{verdict}
# Lemma 11 is true: one attention head for each pointer can look up the data that the pointer names, and a two-layer net that follows the heads then computes the label. If a head gives the named token the score $a$, its error on prompts of $N$ tokens falls like $N e^{-a/2}$, and no faster in the worst case: with {glue:text}`N_tight` tokens and $a = 24$ the error reaches {glue:text}`attained:.3f` times the bound. So it is enough that $a$ grows like a multiple of $\log N$.
# ```
# **Needs** {ref}`ch-sparse-token-regression`. **Read** 11 min. **Runs in** 10 s. **Source** quoted; the error of the heads restored.
#
# **Claim.** In sparse token regression each token has a few pointers, which name the tokens that its label depends on. An attention layer with one head for each pointer retrieves the data of these tokens, with an error that falls exponentially in the size of the weights, and a two-layer net then computes the label. All of this holds, and the constants can be computed.

# %% tags=["parameters"]
N_max = 400  # longest prompt [128..800]
q_max = 3  # most pointers of a token [2..4]
d = 5  # dimensions of the data [2..8]
factor = 20.0  # dimensions of an encoding over log N [18..40]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.rng import Rng, f64
from papers.retrieval import attention, random_encodings, task
from papers.retrieval.task import Prompts

ledger = Ledger("retrieval/pointer_heads")
lem11, heads = ledger.result("retrieval.lem11"), ledger.result("retrieval.lem11.heads")
generator = Rng(seed).generator


def draw(N, q):
    """A prompt in float64."""
    drawn = task.prompts(1, N, d, generator, q=q)
    return Prompts(drawn.x.double(), drawn.t)


# %% [markdown]
# ## Why one should care
#
# Many tasks ask a network to look something up: the referent of a pronoun, the value of a variable, the line of a table. If the input says where to look, an attention head seems to be the right device, because it compares the pointer with the positions of all tokens. But a head never reads one token only, because it returns a weighted average of all tokens, in which every other token has a weight above 0.
#
# How large must the matrix of the head be until the other tokens do no harm, and must it grow with the length of the prompt? The answer of the lemma, that a logarithm of the length is enough, is the reason why a transformer can solve the task with small weights. The guarantee that the paper proves for the transformer rests on this construction ({ref}`ch-transformer-guarantee`).
#
# ## Three tokens by hand
#
# Let a prompt have three tokens with the data $3, -1, 5$, and let token 1 point at token 2. Positions are written as the unit vectors $\omega_1 = (1, 0)$, $\omega_2 = (\frac12, \frac{\sqrt3}2)$ and $\omega_3 = (-\frac12, \frac{\sqrt3}2)$. A head compares the pointer $\omega_2$ with all three positions. The inner products are $\frac12, 1, \frac12$, so the scores are $a$ times these numbers, where $a$ is the *sharpness* of the head. Relative to the other two tokens, token 2 has the weight $r = e^{a/2}$, and the head returns
#
# $$\frac{3 - r + 5}{r + 2} = -1 + \frac{10}{r + 2} .$$
#
# The correct answer is $-1$, so the error is $\frac{10}{r+2}$. For $N$ tokens with data $x_j$ the lemma allows $2 (N - 1)\, e^{-a/2} \max_j |x_j|$, which is $\frac{20}r$ here. The next lines compute all of this for three values of $a$.

# %%
corners = f64([[1, 0], [0.5, math.sqrt(0.75)], [-0.5, math.sqrt(0.75)]])
data, by_hand = f64([3.0, -1.0, 5.0]), {}
for r in (4, 100, 10**4):
    sharpness = 2 * math.log(r)
    weights = (sharpness * corners @ corners[1]).softmax(-1)
    returned = (weights * data).sum().item()
    row = {"$r$": r, "attention on token 2": weights[1].item(), "head returns": returned}
    by_hand[f"{sharpness:.1f}"] = row | {"error": returned + 1, "allowed": 20 / r}
by_hand = pd.DataFrame(by_hand).T.rename_axis("$a$")
form = {"$r$": ".0f"} | dict.fromkeys(by_hand.columns[1:], ".4f")
table(by_hand, "One head on three tokens", form=form)

# %% [markdown]
# At $a = 2.8$ the head already prefers the right token, but its answer has the wrong sign. Once $a$ is large, every increase by $2 \log 10 = 4.6$ makes the error smaller by a factor of ten. With more tokens there are more wrong terms in the average, but each of them is as small as before, so it is enough to increase $a$ by a multiple of $\log N$. {numref}`fig-retrieval-attention` shows two such heads at work on a prompt of six tokens.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The attention that each token of a prompt of six pays to each token, by two heads of the construction below, at sharpness 8. Head $h$ finds the token that pointer $h$ names.", "name": "fig-retrieval-attention"}, "image": {"alt": "Two square maps of six by six cells. Each row has one dark cell, in the column of the token that the row's token points at, and nearly white cells elsewhere."}} tags=["hide-input"]
omega, shown = random_encodings.spread(6, 40, generator), draw(6, 2)
paid = (8 * omega[shown.t[0]] @ omega.mT).softmax(-1)  # (token, head, key)
fig, axes = figures.new(1, 2, height=2.6)
for h, ax in enumerate(axes):
    figures.matrix(ax, paid[:, h], f"head {h + 1}", ("key", "token"))
    ax.set_xticks(range(6), range(1, 7))
    ax.set_yticks(range(6), range(1, 7))
figures.show()

# %% [markdown]
# Each row of a map is a token that asks, and each column a token that is read. There is one dark cell in a row, which is the token that the pointer names, and the rest of the row is nearly white. The two maps differ because each token has two pointers, and each head follows one of them.
#
# ## The statement
#
# The statement is about a task, encodings, a net and heads:
#
# * *The task.* Token $i$ has data $x_i \in \mathbb R^d$ and $q$ pointers, $t_{ih}$ is the position that its pointer $h$ names, and its label is a function $g$ of the data at these positions.
# * *Encodings.* Position $j$ is written as a unit vector $\omega_j$ with $d_e$ entries. Assumption 3 says that different encodings have inner products of at most $\frac12$ in size.
# * *The net.* Assumption 2 says that a two-layer net is within $\sqrt{\varepsilon_{2NN}}$ of $g$ on all data no longer than a radius $r_x$ ({prf:ref}`retrieval-ass123`), and the lemma is about prompts with no longer data.
# * *The heads.* The *query-key matrix* of a head turns two tokens into a score: the query is the token that asks, and the key is the token that is read. A softmax of the scores gives the weights of the average.
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemma 11 and its proof
# :label: retrieval-lem11
# *(The matrix and $\alpha \frac dq \langle \omega_t, \omega_j \rangle$ are quoted, the error of a head is restored. Theorem 10 says that the lemma has $\alpha = \tilde\Theta(1)$; that is enough for $q \le d$, and for larger $q$ only if powers of $\frac qd$ count as hidden.)* Give head $h$ the query-key matrix that is $\alpha I$ in the block where pointer $h$ of the query meets the position of the key, and 0 elsewhere. Under Assumption 3 the data part of the output of head $h$ at token $i$ is within
#
# $$2 (N - 1)\, e^{-\alpha d / 2q}\, \max_j \|x_j\|$$
#
# of $x_{t_{ih}}$. So with $\alpha$ of order $\frac qd \log N$, up to logarithms of $\max_j \|x_j\|$, of the net's norms and of $1/\varepsilon_{2NN}$, the $q$ heads and the net of Assumption 2 are within $2 \sqrt{\varepsilon_{2NN}}$ of $g$ at every token.
# ```
#
# In words, the matrix compares the pointer with the position of each token and ignores everything else. The number $\alpha$ is the size of its entries that are not 0, and $\frac{\alpha d}q$ is the $a$ of the example.
#
# **The idea of the proof** is that of the example. The score of a wrong token is smaller than that of the right one by at least $\frac a2$, so its weight is smaller by a factor of at least $e^{a/2}$, and there are at most $N - 1$ wrong tokens.
#
# **Proof.** We compute the weight of the wrong tokens, bound it by Assumption 3, and follow the error through the net.
#
# *The weight of the wrong tokens.* The score of key $j$ for head $h$ is $a \langle \omega_t, \omega_j \rangle$, where $t$ is the token pointed at, and $a = \alpha s^2 = \alpha d/q$ is the *sharpness*, because encodings are multiplied by $s = \sqrt{d/q}$ in a token. At $j = t$ the score is $a$, and relative to that, a key $j \ne t$ gets the weight $e^{-a (1 - \langle \omega_t, \omega_j \rangle)}$. If $S_t$ is the sum of these weights, the head puts the share $S_t / (1 + S_t)$ of its attention on other tokens. So its data $f_i$ at token $i$ satisfy
#
# $$\|f_i - x_t\| \;\le\; \frac{S_t}{1 + S_t}\, \max_j \|x_j - x_t\| , \qquad S_t = \sum_{j \ne t} e^{-a(1 - \langle \omega_t, \omega_j\rangle)} .$$ (eq-missed)
#
# *The bound for a head.* Under Assumption 3 each of the $N - 1$ terms is at most $e^{-a/2}$, and two data are at most $2 \max_j \|x_j\|$ apart.
#
# *The net.* The output of a net with inner weights $W$ and outer weights $u$ changes by at most $\|u\|_2 \|W\|_2$ times the change of its input, so a large enough sharpness adds no more than another $\sqrt{\varepsilon_{2NN}}$. $\square$
#
# ## How much of the bound is used
#
# The table divides the largest error of a head by the bound, for random signs as encodings and normal data. A ratio above 1 would refute the lemma.


# %%
def errors(given, omega, sharpness):
    """Distance of each head's data from the one pointed at, (B, N, q)."""
    q = given.t.shape[-1]
    tokens = task.encode(given, omega, math.sqrt(d / q))
    W = attention.query_key(d, omega.shape[1], sharpness * q / d, q).double()
    return (attention.attend(W, tokens)[..., :d] - task.retrieved(given)).norm(dim=-1)


rows, instances, levels = {}, {}, (0.0, 5.0, 10.0, 20.0)
for N in [max(8, N_max // k) for k in (16, 4, 1)]:
    omega = random_encodings.spread(N, random_encodings.dimensions(factor, N), generator)
    for q in range(1, q_max + 1):
        given = draw(N, q)
        instances[N, q], longest = (given, omega), given.x.norm(dim=-1).max().item()
        rows[N, q] = {
            f"a = {a:g}": errors(given, omega, a).max().item()
            / attention.retrieval_bound(N, a, longest)
            for a in levels
        }
used = pd.DataFrame(rows).T.rename_axis(["N", "q"])
table(used, "Largest error of a head over the bound, random signs, normal data", form=".2g")

# %% [markdown]
# All ratios are far below 1, so the bound is loose here. For small $a$ it exceeds the trivial bound $2 \max_j \|x_j\|$, because it leaves out the denominator of {eq}`eq-missed`. For large $a$ the reason is that most pairs of encodings are far less alike than $\frac12$.
#
# **The worst case.** The bound cannot be improved under Assumption 3. To see this, let $\omega_i = (e_0 + e_i)/\sqrt2$ with orthogonal unit vectors $e_0, \dots, e_N$, so that *all* inner products are $\frac12$, and let one token have the data $v$ and all others $-v$, so that both inequalities behind the bound are equalities. With orthogonal encodings, on the other hand, the exponent is $a$ in place of $\frac a2$. So with inner products of up to $\frac12$ an $\alpha$ twice as large may be needed.
#
# **Other encodings.** In general the exponent is $(1 - \mu)\, a$, where $\mu$ is the largest inner product. The authors' code uses random signs in $\lfloor c \log N \rfloor$ dimensions with $c = 5$. Then $\mu$ is mostly above $\frac12$, as {ref}`ch-sparse-token-regression` counts, and Assumption 3 is violated. This does no harm as long as no two encodings are equal, because $\mu$ is still below 1, and it is enough to make $\alpha$ larger by a constant factor.
#
# {numref}`fig-retrieval-error` compares four kinds of encodings on data of the worst kind. A curve of encodings that satisfy Assumption 3 would refute the lemma if it rose above the dotted bound.

# %% mystnb={"code_prompt_hide": "A head that is tight", "code_prompt_show": "A head that is tight"} tags=["hide-input"]
N_tight = max(8, N_max // 4)


def random_signs(c):
    return task.encodings(N_tight, random_encodings.dimensions(c, N_tight), generator).double()


kinds = {f"all products {p:g}": random_encodings.equally_close(N_tight, p) for p in (0.5, 0.0)}
kinds |= {f"random signs, c = {c}": random_signs(c) for c in (5, 20)}
worst = {k: lambda a, v=v: 2 * attention.missed(v, a).max().item() for k, v in kinds.items()}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Error of a head against its sharpness, for the worst data of length 1 and the token that a head misses most. Dotted line: the bound of the lemma.", "name": "fig-retrieval-error"}, "image": {"alt": "Logarithmic error axis. All curves start near 2 and then fall along straight lines. The line of encodings with all products one half merges with the dotted bound. Orthogonal encodings fall twice as steeply. Random signs with c = 20 lie between them, those with c = 5 are the slowest."}} tags=["hide-input"]
fig, ax = figures.new(height=2.9)
axis = [float(a) for a in range(0, 41, 2)]
for i, (name, error) in enumerate(worst.items()):
    ax.plot(axis, [error(a) for a in axis], label=name, **figures.series_style(i))
bound = [attention.retrieval_bound(N_tight, a, 1.0) for a in axis]
ax.plot(axis, bound, color="black", linestyle=":", marker="", label="bound")
ax.set(yscale="log", ylim=(1e-13, 1e4), xlabel="sharpness $a$", ylabel="largest error")
ax.legend(ncols=2, loc="lower left")
figures.show()

# %% [markdown]
# On the logarithmic axis an exponential is a straight line, which falls with the slope $1 - \mu$. In {numref}`fig-retrieval-error` the line of the encodings with all products $\frac12$ approaches the dotted bound, which is therefore attained in the limit. The line of orthogonal encodings falls twice as steeply, because $\mu = 0$. Random signs with $c = 20$ lie between the two, and the error of those with $c = 5$ decreases most slowly. At the largest $a$ it even lies above the dotted line, as it may, because these encodings violate Assumption 3.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
x = -torch.ones(1, N_tight, d, dtype=torch.float64) / math.sqrt(d)
x[:, 0] *= -1
opposite = Prompts(x, torch.zeros(1, N_tight, 1, dtype=torch.int64))
bound_24 = attention.retrieval_bound(N_tight, 24.0, 1.0)
real = {k: errors(opposite, v, float(d))[0, 0, 0].item() for k, v in kinds.items()}
other = {k: attention.missed(v, float(d))[0].item() for k, v in kinds.items()}
ratio = {
    p: errors(opposite, random_encodings.equally_close(N_tight, p), 24.0).max() / bound_24
    for p in (0.0, 0.5, 0.9)
}
glue(N_tight=N_tight, N_max=N_max, attained=ratio[0.5].item())
heads.holds(
    "largest ratio of the error to $2(N-1) e^{-\\alpha d/2q} \\max_j \\|x_j\\|$; control: "
    "positions with inner products of 0.9",
    max(used.to_numpy().max(), ratio[0.5].item()),
    at_most=1,
    control=ratio[0.9],
    about="statement",
    evidence="proved",
)
heads.holds(
    "the bound is attained in the limit if all inner products are $\\frac12$: ratio of the error to the "
    "bound; control: orthogonal positions",
    ratio[0.5],
    at_least=0.99,
    control=ratio[0.0],
    about="constant",
    evidence="attained",
)
heads.holds(
    "a head at $a = d$ errs by $2 S_t/(1 + S_t)$ if all other data agree: largest distance "
    "from it; control: from $2 S_t$",
    max(abs(real[k] - 2 * other[k]) for k in kinds),
    at_most=0,
    tol=1e-12,
    control=max(abs(real[k] - 2 * other[k] / (1 - other[k])) for k in kinds),
    about="proof",
    evidence="attained",
)

# %% [markdown]
# ## The whole network
#
# Now we let the net follow the heads and test the lemma as a whole. Let $g(x_1, \dots, x_q) = (qd)^{-1/2} \sum_h (\|x_h\|^2 - d)$, the hard function of {ref}`ch-too-few-heads`. A ReLU net replaces the graph of each square by chords between points at a distance of $l$, from $-6$ to $6$. The chords are too high by at most $l^2/4$, so $\sqrt{\varepsilon_{2NN}} = \sqrt{qd}\, l^2/4$, and the sharpness is chosen such that the heads add no more than that. A distance from $g$ above $2\sqrt{\varepsilon_{2NN}}$, the column *allowed*, would refute the lemma.
#
# For comparison we also use *shifted* pointers: a pointer to position $t$ is given as the encoding of position $t - 1$. The information is the same, but a pointer no longer resembles what it names, so the construction must fail. The last column has heads of sharpness 0, which pay the same attention to all tokens.

# %%
(given, omega), radius = instances[N_max, q_max], 6.0
longest, targets = given.x.norm(dim=-1).max().item(), task.retrieved(given).flatten(-2)
g, D = (targets.square() - 1).sum(-1) / math.sqrt(q_max * d), d + (1 + q_max) * omega.shape[1]


def gap(net, sharpness, shown=None):
    """Largest distance of the transformer from g, over all tokens."""
    tokens = task.encode(given, omega, math.sqrt(d / q_max), shown)
    W = attention.query_key(d, omega.shape[1], sharpness * q_max / d, q_max).double()
    predicted = attention.transformer(W, attention.on_heads(net, d, D, q_max), tokens)
    return (predicted - g).abs().max().item()


rows = {}
for pieces in (6, 24, 96):
    net = attention.centred_squares(d, q_max, radius, pieces)
    root = math.sqrt(q_max * d) * (radius / pieces) ** 2 / 4
    a = attention.sharpness_for(N_max, root / net.lipschitz / math.sqrt(q_max), longest)
    spoiled = {"shifted pointers": gap(net, a, omega.roll(1, 0)), "a = 0": gap(net, 0.0)}
    row = {"units": len(net.a), "a": a, "allowed": 2 * root, "largest distance": gap(net, a)}
    rows[pieces] = row | spoiled
whole = pd.DataFrame(rows).T.rename_axis("chords each side")
caption = rf"Distance of the transformer from $g$, $N = {N_max}$, $q = {q_max}$; allowed: $2\sqrt\varepsilon$"
table(whole, caption, form={"a": ".1f"})

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
assert given.x.abs().max() < radius  # the chords end there
lem11.holds(
    "the whole transformer: largest distance from $g$ in units of $2 "
    "\\sqrt{\\varepsilon_{2NN}}$; control: shifted pointers",
    (whole["largest distance"] / whole["allowed"]).max(),
    at_most=1,
    control=(whole["shifted pointers"] / whole["allowed"]).min(),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# In every row the largest distance stays below what is allowed. It shrinks by a factor of more than 10 from row to row, as the net becomes finer, although the sharpness grows only a little. Shifted pointers, or the same attention to all tokens, leave large errors.
#
# ## How large are these matrices?
#
# Theorem 4, the paper's guarantee for the transformer, takes all weights from a ball with the squared radius $\tilde\Theta(r_a^2/m_g + m_g r_w^2 + q^2/d)$. Here the net of Assumption 2 has width $m_g$, outer weights of norm at most $r_a/\sqrt{m_g}$, and inner weights and biases of norm at most $\sqrt{m_g}\, r_w$. This ball has to contain our construction. To see whether it does, we add up the squared norms of the heads' matrices. A head with sharpness $a$ has $\alpha = aq/d$ on a diagonal of $d_e$ entries, so the $q$ matrices together have the squared norm $q\, \alpha^2 d_e = a^2 d_e \cdot q^3/d^2$, where $a^2 d_e$ is a power of $\log(nN)$ if there are $n$ prompts. We compare this with the summand $q^2/d$ of the ball:
#
# * *For $q \le d$* the squared norm is at most $a^2 d_e \cdot q^2/d$, so the ball is large enough.
# * *For $q > d$* the squared norm exceeds the summand $q^2/d$ by a factor of $q/d$. Then either the other two summands, which belong to the net, are large enough to make up for this, or the paper scales the scores in another way: if they had a factor $\sqrt{d/q}$ in place of $\frac dq$, the summand $q^2/d$ would be enough.
#
# The table shows the squared norm over $a^2 d_e \cdot q^2/d$ for real matrices. This quotient must not exceed 1 for $q \le d$.

# %%
a, sizes = 8.0, {}
for many, dims in ((2, 8), (4, 8), (8, 8), (16, 8), (32, 8)):
    matrices = attention.query_key(dims, 30, a * many / dims, many).double()
    total = matrices.square().sum().item()
    sizes[f"q = {many}, d = {dims}"] = total / (a**2 * 30 * many**2 / dims)
table(sizes, r"Squared norm of the $q$ query-key matrices over $a^2 d_e \, q^2/d$", form=".2f")
lem11.holds(
    "$q \\le d$: largest ratio of the squared norm of all query-key matrices to $a^2 d_e\\,"
    " q^2/d$; control: $q = 4d$",
    max(list(sizes.values())[:3]),  # those with q <= d
    at_most=1,
    tol=1e-9,
    control=list(sizes.values())[-1],
    about="ours",
    evidence="attained",
)

# %% [markdown]
# The quotient is $q/d$ in every row, so it is at most 1 in the three rows with $q \le d$, and exceeds 1 in the other two.
#
# ## What we found
#
# * *The lemma.* Lemma 11 holds, with the constant $2(N-1)$ for its heads. The exponent cannot be better under Assumption 3, because it is attained when all inner products are $\frac12$.
# * *Encodings.* For given encodings the exponent is $(1 - \mu)\, a$, with $\mu$ the largest inner product. So retrieval needs only that the encodings are distinct and that $\alpha$ is large enough; the bound of $\frac12$ on the inner products is not needed.
# * *The ball of Theorem 4* contains the construction for $q \le d$. For $q > d$ the query-key matrices alone exceed its summand $q^2/d$ by a factor of $q/d$.
#
# ## What would falsify this
#
# * *The lemma* would be false if a head erred by more than its bound under Assumption 3, as heads do when the inner products are 0.9.
# * *The formula* {eq}`eq-missed` would be wrong if a head erred by another amount in the cases in which the formula is an equality. The control is the formula without its denominator, from which the error differs.
# * *The whole construction* would fail if the transformer were further than $2 \sqrt{\varepsilon_{2NN}}$ from $g$, as it is when pointers are shifted.
# * *The ball* would be too small if matrices of the construction were larger than $q^2/d$ allows although $q \le d$. For $q = 4d$, the control, the matrices are larger than that.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# In the repository `mousavih/transformers-separation` $q = 1$ and $g(x) = \langle u, x \rangle$. Query, key, value and output have matrices and biases of their own, and scores are divided by the root of the width. What they learn is the subject of {ref}`ch-attention-weights`.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-retrieval-twins
#
# *By hand.* Two tokens of a prompt carry the same encoding. What does a head return that points at one of them, as $\alpha$ grows?
# ```
#
# ```{solution} ex-retrieval-twins
# :class: dropdown
# As $\alpha$ grows, the head returns the mean of their data in the limit, because both scores are the largest, and equal.
# ```
#
# ```{exercise}
# :label: ex-retrieval-sharpness
#
# *With the computer.* Which sharpness does a head need for an error of 0.01 on the worst data of length 1? Compute it for encodings whose inner products are all $\frac12$, for orthogonal ones and for random signs in $\lfloor 20 \log N \rfloor$ dimensions, for 10 to {glue:text}`N_max` tokens. By how much does it grow when $N$ is multiplied by 4, and does it matter for this which encodings are used? (The function `attention.missed(omega, a)` returns the attention that each token's head puts on other tokens.) Then run the chapter with fewer dimensions, `python -m bookkit.run retrieval/pointer_heads -p factor 18 --out my_run`, and see what becomes of the first table of errors over the bound.
# ```
#
# ```{solution-start} ex-retrieval-sharpness
# :class: dropdown
# ```
#
# The worst data are $v$ at the right token and $-v$ at all others, so the error is twice the attention on other tokens.

# %%
fresh, sharp = Rng(seed + 1).generator, {}
steps = [0.25 * k for k in range(200)]
for N in (N_max // 40, N_max // 10, N_max // 4, N_max):
    signs = random_encodings.spread(N, random_encodings.dimensions(20.0, N), fresh)
    choices = {
        "all products 1/2": random_encodings.equally_close(N, 0.5),
        "orthogonal": random_encodings.equally_close(N, 0.0),
        "random signs": signs,
    }
    sharp[N] = {
        name: next(a for a in steps if 2 * attention.missed(omega, a).max() <= 0.01)
        for name, omega in choices.items()
    }
answer = pd.DataFrame(sharp).T.rename_axis("N")
table(answer, "Sharpness for an error of 0.01", form=".2f")

# %% [markdown]
# Four times as many tokens need a sharpness that is larger by about $2 \log 4 = 2.8$ if the inner products are $\frac12$, and by about half of that if they are 0, whatever the length. So in both cases the sharpness grows like a multiple of $\log N$, and the encodings only change the multiple. With fewer dimensions the random signs are less nearly orthogonal. The errors at the largest sharpness therefore rise, by a factor of up to about three, but they stay far below the bound.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-retrieval-floor
#
# *To think about.* Suppose that the weights are fixed and the prompts become longer and longer. Show that for some data the error of a head tends to the diameter of the data, however the encodings are chosen. Why is this no contradiction to the lemma?
# ```
#
# ```{solution} ex-retrieval-floor
# :class: dropdown
# Encodings are unit vectors, so scores lie between $-a$ and $a$, and each wrong token has at least the weight $e^{-2a}$ relative to the right one. With $N - 1$ wrong tokens, all with the data $-v$ where the right one has $v$, the attention on them is at least $\frac{(N-1) e^{-2a}}{1 + (N-1) e^{-2a}}$, which tends to 1. The lemma lets $\alpha$ grow with $\log N$, and this argument shows that it must.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemma is from {cite:t}`retrieval`.
