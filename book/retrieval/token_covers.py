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
# (ch-token-covers)=
# # How many transformers are there?
#
# ```{verdict}
# The logarithm of the number of transformers grows only slowly with the length $N$ of prompts, if those with nearly equal outputs count as one: at most like a power of $\log N$, because Proposition 17 is true with our constants. At 1024 tokens our bound on this logarithm is {glue:text}`log_size:.1e`, and squaring the length multiplies the bound by at most {glue:text}`growth:.1f` in the table. The bound uses one count of Lemma 16, by volume. The other, by sparsification, is true at the tokens of a sample, but far larger here.
# ```
# **Needs** {ref}`ch-sparse-token-regression`, {ref}`ch-attention-capacity`, {ref}`ch-rounding`, {ref}`ch-linear-covers`. **Read** 21 min. **Runs in** 10 s. **Source** quoted (Lemma 12, the hypotheses of all), restored (the displayed bounds).
#
# **Claim.** A guarantee for learning needs a count: how many transformers are there, if those with nearly equal outputs count as one? In the paper's answer the length of the prompts occurs in logarithms only. The argument has the following four steps:
#
# 1. Tokens are rarely long, even the longest token of a whole sample.
# 2. The output of an attention head moves little if the matrix of the head moves little.
# 3. The output of the net that reads the heads moves little if its weights or inputs move little.
# 4. Matrices have small covers, that is, a short list contains a matrix close to any other.
#
# All four steps hold, with constants that we derive. The paper counts matrices in two ways, and one of them is enough.

# %% tags=["parameters"]
instances = 200  # pairs of transformers that climb [100..2000]
steps = 300  # of every climb [300..3000]
R = 1.7  # length of the tokens in it [1.2..5]
points = 3000  # matrices for the packing [1000..6000]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import itertools
import math

import pandas as pd
import torch
from scipy.optimize import minimize_scalar
from torch.nn.functional import normalize

from bookkit import Ledger, figures, glue, table
from helpers.covers import linear as covers
from helpers.rng import Rng, f64
from papers.lengthfree import linear_maps
from papers.retrieval import token_covers
from papers.retrieval.attention import ReluNet, attend, transformer
from papers.variables.attention_covers import walk

ledger, rng = Ledger("retrieval/token_covers"), Rng(seed)
lem12 = ledger.result("retrieval.lem12")
lem13, lem14 = ledger.result("retrieval.thm4.lem13"), ledger.result("retrieval.thm4.lem14")
lem15, lem16 = ledger.result("retrieval.thm4.lem15"), ledger.result("retrieval.thm4.lem16")
sparsified = ledger.result("retrieval.thm4.lem16_maurey")
lem39 = ledger.result("retrieval.thm4.lem39")
prop17 = ledger.result("retrieval.thm4.prop17")
n = 1000  # prompts, in what follows
exponents = (4, 5, 10, 20, 40, 80, 160)
classes = {2**k: token_covers.retrieving(2**k, n, 10) for k in exponents}
sizes = pd.DataFrame({N: c.log_sizes(n**-0.5) for N, c in classes.items()}).T.rename_axis("N")
sizes["all"] = sizes["net"] + sizes["counting"]

# %% [markdown]
# ## Why one should care
#
# A model that could fit any labels whatsoever would learn nothing from a sample. Whether a class of models can be trusted after $n$ examples therefore depends on how many different models it contains. There are infinitely many transformers, of course, but two of them may count as one if their outputs differ by less than a small $\epsilon$ on all prompts.
#
# One may fear that the count still grows with the length of the prompts, because attention compares every token with every other, and a prompt of $N$ tokens has $N^2$ scores. But the paper shows that the count hardly grows. The reason is that all the scores of a head come from a single matrix, the query-key matrix by which the head compares two tokens. It is therefore enough to count matrices, and the number of their entries depends on $N$ only through the encodings of positions, which have of the order of $\log N$ coordinates.
#
# ## A head with a single weight
#
# Let us count a class by hand that is small enough for it. Take tokens $z_j$ that are single numbers between $-1$ and $1$, and heads whose query-key matrix is a single number $w$ between $-2$ and $2$. If the first token asks, then token $j$ has the score $w z_1 z_j$, and the head returns the average of the tokens, weighted by the softmax of the scores. On the prompt $z = (1, -1)$ the scores are $w$ and $-w$, so the head returns
#
# $$\frac{e^w - e^{-w}}{e^w + e^{-w}} = \tanh w .$$
#
# How many values of $w$ do we have to list, such that every head of the class differs from a listed one by at most $\epsilon = 0.1$? The slope of $\tanh$ is at most 1, so on this prompt $w$ may move by 0.1, and a grid of spacing 0.2 is enough: the interval from $-2$ to $2$ needs 20 values. Fewer than 10 are not enough, because $\tanh w$ runs from $-0.96$ to $0.96$, and each listed head covers a stretch of at most 0.2 of this range.
#
# If the prompt becomes longer, a head still has one number $w$, and we will see that its output still moves by at most as much as $w$ does, whatever the number of tokens. So the same 20 heads cover the class for *all* lengths at once, and the log size of the cover, the logarithm of its number of heads, is $\log 20 = 3.0$. If each position had a weight of its own instead, there would be $20^N$ combinations, and the log size would be $3.0\, N$. A guarantee for learning can use the first of these counts on long prompts, but not the second.
#
# The next lines move $w$ by 0.1 and record the largest move of the output, for prompts of random tokens and for prompts that consist of as many ones as minus ones. A move of more than 0.1 would speak against the claim.


# %%
def head(w, z):
    """What the head with weight w returns at the first token of prompts z, (prompts, N)."""
    return ((w * z[:, :1] * z).softmax(-1) * z).sum(-1)


fresh, moves = Rng(seed + 1), {}
weights = [round(0.1 * k, 1) for k in range(-20, 20)]
for N in (2, 8, 32, 128):
    drawn = 2 * torch.rand(200, N, generator=fresh.generator, dtype=torch.float64) - 1
    halves = f64([1.0, -1.0]).repeat(1, N // 2)
    row = {"random tokens": drawn, "ones and minus ones": halves}
    moves[N] = {
        name: max((head(w + 0.1, z) - head(w, z)).abs().max().item() for w in weights)
        for name, z in row.items()
    }
by_length = pd.DataFrame(moves).T.rename_axis("N")
table(by_length, "Largest move of the output if the weight moves by 0.1", form=".4f")

# %% [markdown]
# No output moves by more than 0.1, as claimed. With random tokens the output moves less on long prompts than on short ones, but on the prompt of ones and minus ones it moves by nearly 0.1 at every length. So the constant 1 is right, and $N$ does not occur in it.
#
# The class that the theorem needs is larger: matrices in place of numbers, several heads, a ReLU net after them, and tokens whose length is not bounded but only rarely large. The paper counts its heads in two ways, *by volume* and by *sparsification*, which are explained below. {numref}`fig-token-covers` shows how large the count of the net and the two counts of the heads are. A curve that rises like $N$ itself would make the count useless for long prompts.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Log sizes of a cover of the net and of two covers of the heads, against the length of the prompts. The class just contains the paper's construction: one pointer, ten dimensions, 1000 prompts. Sparsification is for a bounded sum of entries. The grey line is $N$.", "name": "fig-token-covers"}, "image": {"alt": "Log-log axes, tokens in a prompt from 16 to 16 million against log size. The net's curve is lowest and nearly flat, from two thousand to thirteen thousand. Counting lies a hundred times higher and more, rises slowly, and is crossed by the straight line of N near the right end. Sparsification lies far above both, from ten to the seventeen on."}} tags=["hide-input"]
fig, ax = figures.new(height=2.8)
shown = {2**k: token_covers.retrieving(2**k, n, 10).log_sizes(n**-0.5) for k in range(4, 25)}
names = {"norm": "heads, sparsification", "counting": "heads, counting", "net": "net"}
for i, (key, name) in enumerate(names.items()):
    ax.plot(list(shown), [v[key] for v in shown.values()], **figures.line_style(i, label=name))
ax.plot(list(shown), list(shown), color=figures.GREY, linewidth=1, marker="", label="$N$")
ax.set(xscale="log", yscale="log", xlabel="tokens $N$", ylabel="log size")
ax.legend(loc="center right", bbox_to_anchor=(1, 0.62))
figures.show()

# %% [markdown]
# The lowest curve is the ReLU net, and it hardly grows. Above it is the count of the heads by volume, which the legend and the tables call *counting*. It is more than a hundred times as large at every length, but it also rises slowly. On very long prompts the grey line, $N$ itself, overtakes it, so there the log size is smaller than the number of tokens. The highest curve is the count by sparsification. It is far above the others at every length, so the theorem rests on the count by volume.
#
# ## The statements
#
# **The class.** The transformers to be counted are the following:
#
# * *Prompts.* There are $n$ prompts of $N$ tokens $z_j \in \mathbb R^D$, and a token contains its data $x_j \in \mathbb R^d$, its position and its $q$ pointers, as in {prf:ref}`retrieval-ass123`.
# * *Heads.* There are $H$ heads, and head $h$ has a query-key matrix $W_h$ and gives token $i$ the average $\sum_j p_j z_j$, where $p$ is the softmax of the *scores* $z_i^\top W_h z_j$.
# * *Net.* A net $u \mapsto a^\top \sigma(Vu + b)$ with $m$ ReLU units $\sigma$ reads all $H$ averages.
# * *Bounds.* The weights satisfy $\|a\|\, \|(V, b)\|_F \le K$ and $\|W_h\|_F \le B_F$, where $\|\cdot\|_F$ is the Frobenius norm. Below, $\|\cdot\|_2$ of a matrix is its spectral norm.
#
# A set of transformers is an $\epsilon$-*cover* if every member of the class differs from one of the set by at most $\epsilon$, at every token of prompts whose tokens have length at most $R$. The *log size* of a cover is the logarithm of its number of members, and the log size of the smallest cover is the *log covering number* of the class.
#
# Of the three statements the first says that tokens are not long, the second that a transformer moves little if its weights move little, and the third is the count that follows from both. In the first, $C_x$ is the constant of Assumption 1, which bounds the moments of the data, and $\delta$ is a probability of failure.
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemma 12
# :label: retrieval-lem12
# *(Quoted for $\delta = (nN)^{-1/2}$.)* Let $\delta \le nN/\sqrt e$, and let $(\mathbb E \|x_j\|^r)^{1/r} \le \sqrt{C_x d r}$ for all $r \ge 1$. Then with probability at least $1 - \delta$ no datum is longer than $\sqrt{2e\, C_x\, d \log(nN/\delta)}$, whether or not the prompts are independent.
# ```
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemmas 13, 14, 15 and 39
# :label: retrieval-lem15
# *(Restored, with constants of ours.)* Let two transformers of the class, the second with a hat, differ by $\Delta a$, $\Delta(V, b)$ and $\Delta W_h$, and let tokens have length at most $R$.
#
# * *(Lemma 15.)* Each head moves by at most $R^2 \max_j \|\Delta W_h z_j\|$ and by at most $R^2 \max_j \|\Delta W_h^\top z_j\|$, hence by at most $R^3 \|\Delta W_h\|_2$.
# * *(Lemmas 13 and 14.)* The output moves by at most
#
# $$\sqrt{1 + HR^2}\, \bigl(\|\Delta a\| \|(V, b)\|_F + \|\hat a\| \|\Delta(V, b)\|_F\bigr) + K \sqrt H\, R^3 \max_h \|\Delta W_h\|_2 .$$
# ```
#
# ```{prf:proposition} Mousavi-Hosseini et al. (2025), Lemma 16 and Proposition 17
# :label: retrieval-prop17
# *(The first term is quoted up to constants, the second restored.)* The class has an $\epsilon$-cover of log size at most
#
# $$m (HD + 2) \log\Bigl(1 + \frac{8K \sqrt{1 + HR^2}}\epsilon\Bigr) + H D^2 \log\Bigl(1 + \frac{2 B_F}\rho\Bigr), \qquad \rho = \frac\epsilon{2K \sqrt H\, R^3} .$$
# ```
#
# In words, the log size is a sum of two terms, one for the net and one for the matrices of the heads. Each is a number of weights times a logarithm, and the number $N$ of tokens does not occur. The number $\rho$ is how far the matrix of a head may move, if the heads together may move the output by half of $\epsilon$.
#
# In the example of a head with a single weight we have $D = H = R = 1$ and no net. So the second statement says that the head moves by at most $R^3 |\Delta w| = |\Delta w|$, as we found there. The paper's Lemma 15, whose display is missing, rests on a corollary on softmax with the constant 2 in place of our 1.
#
# **Two counts in Lemma 16.** The lemma bounds the matrices $\Theta_{QK} = (W_1, \dots, W_H)$ by two norms, $\|\Theta_{QK}\|_{2,1} \le R_{2,1}$ and $\|\Theta_{QK}\|_F \le R_F$, where $\|\cdot\|_{2,1}$ is the sum of the Euclidean lengths of the columns. It gives a count for each of the two norms. The displays are missing, but the constants of Lemma 18, which are legible, fix the powers. Here $r_z$ is the length of a token, and $D_e$ is the paper's letter for its number of entries, our $D$.
#
# * *Sparsification* has the log size $(r_z R_{2,1}/\epsilon)^2$, up to logarithms. This count is true for covers at the tokens of the sample, which are the covers that the paper defines, and false for covers at all tokens of length $r_z$. For all tokens we prove a version for a smaller class, that of matrices whose absolute entries sum to at most $B_1$. Its log size is $H \lceil B_1^2/(2\rho^2) \rceil \log(2D^2 + 1)$.
# * *Counting by volume* has the log size $H D_e^2 \log(1 + r_z R_F/\epsilon)$. The proposition above uses this count only, and so does everything that follows from it in this book.
#
# ## Tokens are not long
#
# Assumption 1 of the paper bounds the moments of the data. Lemma 12 turns this into a bound on the longest of all $nN$ data. The idea of its proof is to use Markov's inequality for a moment of high order, because then a union bound over all data costs only a logarithm of their number.
#
# ```{dropdown} Proof of Lemma 12
# We choose the order of the moment such that one datum is too long with probability $\delta/nN$, and then take the union bound over all of them.
#
# 1. *One datum.* By Markov's inequality for the moment of order $r$, $\Pr[\|x\| \ge t] \le (C_x d r/t^2)^{r/2}$ for every $r \ge 1$.
# 2. *The order of the moment.* Take $r = 2 \log(nN/\delta)$, which is at least 1 because $\delta \le nN/\sqrt e$, and $t^2 = e\, C_x\, d\, r$, which is the square of the radius in the lemma. Then the right side is $e^{-r/2} = \delta/nN$.
# 3. *All data.* There are $nN$ data, so some datum is longer than $t$ with probability at most $\delta$. A union bound needs no independence. $\square$
# ```
#
# Can the radius be made smaller under the same assumption? It cannot. To see this, let a datum have the length $t$ with probability $p$, and be 0 otherwise. Assumption 1 allows this if and only if $t\, p^{1/r} \le \sqrt{C_x d r}$ for all $r$, and we find the largest such $p$ by minimising over $r$. If no two data are ever long together, the chance that one of them is long is $nN p$.
#
# The table divides this chance by $\delta$, in the column *two lengths* for the radius of the lemma and in the next one for a radius that is 2 % smaller, and has normal data in the last. A ratio above 1 at the lemma's radius would refute the lemma, and a ratio of 1 means that the radius cannot be improved.

# %%
delta = 0.1


def allowed(count, d, t):
    """Chance over delta that a datum has length t, the largest that the moments allow."""
    best = minimize_scalar(
        lambda r: r / 2 * math.log(d * r / t**2), bounds=(1, t**2 / d), method="bounded"
    )
    return count * math.exp(best.fun) / delta


rows = []
for count, d in itertools.product((10**2, 10**4, 10**8), (1, 10, 100)):
    t = token_covers.moment_radius(count, d, delta)
    normal = [token_covers.exceedance(count, d, r) / delta for r in (t, t / math.sqrt(d))]
    rows.append((count, d, t, allowed(count, d, t), allowed(count, d, 0.98 * t), *normal))
names = ["nN", "d", "radius", "two lengths", "at 2 % less", "normal data", "without d"]
lengths = pd.DataFrame(rows, columns=names)
table(
    lengths.drop(columns="without d"),
    "Chance over $\\delta = 0.1$ that some datum is longer than the radius",
    form={"radius": ".2f", "two lengths": ".4f", "at 2 % less": ".4f"},
    tiny=1e-9,
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lem12.holds(
    "the most probable long datum that Assumption 1 allows: largest ratio of its chance to "
    "$\\delta$; control: a radius that is 2 % less",
    lengths["two lengths"].max(),
    at_most=1,
    tol=1e-6,  # of the minimisation
    control=lengths["at 2 % less"].max(),
    about="statement",
    evidence="attained",
)
lem12.holds(
    "normal data: largest ratio of the exact chance to $\\delta$; control: a radius without $d$",
    lengths["normal data"].max(),
    at_most=1,
    control=lengths["without d"].max(),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# In the column *two lengths* the ratio is 1 at every size, so Lemma 12 is sharp, with its constant $2e$: a radius that is 2 % smaller already fails. Here we used that the lemma allows prompts that depend on each other, but if prompts are independent, the chance is still at least $1 - e^{-\delta}$. Normal data satisfy the assumption with $C_x = 1$, too, but they are much shorter than the lemma allows.
#
# ## Transformers move little when their weights move
#
# The second step generalizes what we saw for a single weight, and the third adds the net. The proof of the second uses a product inequality for mixed norms, Lemma 39, as restored: $\|AB\|_{r,s} \le \|A\|_{r,p} \|B\|_{q,s}$ for $\frac1p + \frac1q = 1$, where $\|A\|_{r,p}$ is the $p$-norm of the $r$-norms of the columns. (Here $q$ is an exponent, not the number of pointers.)
#
# **The idea of the proofs.** We follow a change of the weights through the network. If $W$ moves, every score moves by at most $R^2 \|\Delta W\|_2$. A softmax passes this on without enlarging it, so the attention weights together move by at most as much, and the average of tokens by at most $R$ times as much. This is the factor $R^3$, and no step depends on the number of tokens. The net after the heads then multiplies the move by at most its Lipschitz constant, the largest factor by which it increases distances. If the weights of the net move as well, we move the layers one after the other and add up the changes of the output.
#
# ```{dropdown} Proofs
# We prove the product inequality, then bound the move of one head, then that of the net, and add them up.
#
# *Lemma 39.* Column $j$ of $AB$ is $\sum_k b_{kj} A_k$ with the columns $A_k$ of $A$. Its $r$-norm is at most $\sum_k |b_{kj}| \|A_k\|_r \le \|A\|_{r,p} \|b_j\|_q$ by the triangle inequality and Hölder's inequality, and taking the $s$-norm over $j$ proves the lemma.
#
# *Lemma 15, one head.* Let $s$ be the scores and $p$ the attention weights.
#
# 1. A head returns an average of tokens of length at most $R$. So by Lemma 39, with the powers $\infty$ and 1 for the tokens and the weights, it moves by at most $R\, \|p - \hat p\|_1$.
# 2. Softmax has $\|p - \hat p\|_1 \le c \max_j |s_j - \hat s_j|$ with $c = 1$ ({ref}`ch-attention-capacity`).
# 3. A score moves by at most $|z_i^\top \Delta W z_j|$. This is at most $R\, \|\Delta W z_j\|$ and at most $R\, \|\Delta W^\top z_i\|$, and both are at most $R^2 \|\Delta W\|_2$.
#
# *Lemma 14, the net.* The net reads a vector $u$ with $\|u\|^2 \le HR^2$, so with the entry 1 for the bias it has length at most $\sqrt{1 + HR^2}$. Since $\sigma$ is 1-Lipschitz with $\sigma(0) = 0$, moving $a$ changes the output by at most $\|\Delta a\| \|(V, b)\|_F \sqrt{1 + HR^2}$. Then moving $(V, b)$ changes it by at most $\|\hat a\| \|\Delta(V, b)\|_F \sqrt{1 + HR^2}$.
#
# *Lemma 13, both.* The net is Lipschitz with the constant $\|a\| \|V\|_2 \le K$, and $H$ heads together move by at most $\sqrt H$ times the largest move of one. So the triangle inequality adds the two parts. $\square$
# ```
#
# We test Lemma 39 on random matrices and on matrices of ones, where equality holds, for powers $r$, $s$ and $p$ of 1, 1.5, 2, 4 and infinity. A left side that is larger than the right side would refute the lemma.

# %%
powers = [1.0, 1.5, 2.0, 4.0, math.inf]


def mixed(A, r, p):
    return torch.linalg.vector_norm(torch.linalg.vector_norm(A, r, dim=-2), p, dim=-1)


def product_ratio(A, B, stretch=1.0):
    """Largest of Lemma 39's left side over its right side; q times ``stretch``."""
    found = []
    for r, s, p in itertools.product(powers, repeat=3):
        q = 1 / (1 - 1 / p) if p > 1 else math.inf
        right = mixed(A, r, p) * mixed(B, stretch * q, s)
        found.append((mixed(A @ B, r, s) / right).max().item())
    return max(found)


A, B = rng.normal(instances, 3, 4).exp(), rng.normal(instances, 4, 5).exp()
ones = torch.ones(1, 4).double(), torch.ones(4, 1).double()
holder = {"random matrices": product_ratio(A, B), "all ones": product_ratio(*ones)}

# %% [markdown]
# For Lemma 39 the largest ratio of the two sides is 1, up to rounding. For the transformer we search for a counterexample: we take pairs of transformers with two heads and two units and change their weights step by step, so that the ratio of the left to the right side of {prf:ref}`retrieval-lem15` grows:
#
# * *The whole transformer.* In turn only the heads move, only the net moves, or all weights move.
# * *Lemma 15.* A single head on four tokens moves, and we divide its move by each of the two bounds $R^2 \max_j \|\Delta W z_j\|$ and $R^2 \max_j \|\Delta W^\top z_j\|$ (*keys* and *queries* in the table).
#
# Some pairs start where equality is near: two opposite tokens for the heads, as in the example, and a net that is aligned with what it reads. Again, a ratio above 1 would refute the lemma.

# %% mystnb={"code_prompt_hide": "The search", "code_prompt_show": "The search"} tags=["hide-input", "nbval-ignore-output"]
SHAPES = {"Z": (2, 2), "W": (2, 2, 2), "a": (2,), "V": (2, 4), "b": (2,)}
SHAPES |= {f"d{k}": SHAPES[k] for k in "WaVb"}
COUNTS = [math.prod(shape) for shape in SHAPES.values()]
outputs = torch.vmap(lambda W, a, V, b, Z: transformer(W, ReluNet(a, V, b), Z))


def sides(v, moving, size):
    """Difference of outputs, and the bound's summands: of the net, of the heads."""
    parts = v.split(COUNTS, -1)
    w = {k: p.unflatten(-1, s) for (k, s), p in zip(SHAPES.items(), parts, strict=True)}
    Z = R * normalize(w["Z"], dim=-1)
    step = {k: size * w[f"d{k}"] * (k in moving) for k in "WaVb"}
    old = [w[k] for k in "WaVb"]
    new = [w[k] + step[k] for k in "WaVb"]
    left = (outputs(*old, Z) - outputs(*new, Z)).abs().amax(-1)
    net = torch.cat((w["V"].flatten(1), w["b"]), -1).norm(dim=-1)
    net_step = torch.cat((step["V"].flatten(1), step["b"]), -1).norm(dim=-1)
    a, V = new[1].norm(dim=-1), torch.linalg.matrix_norm(new[2], 2)
    by_net = math.sqrt(1 + 2 * R**2) * (step["a"].norm(dim=-1) * net + a * net_step)
    heads = a * V * math.sqrt(2) * R**3 * torch.linalg.matrix_norm(step["W"], 2).amax(-1)
    return left, by_net, heads


def start(aligned):
    v = rng.normal(instances, sum(COUNTS))
    weights = [0] * 8 + [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1]
    if aligned == "net":  # all tokens alike, read by both units
        tokens, step = [1, 0, 1, 0], [0] * 8 + [1, 1] + [0] * 10
        weights[10:18] = [R, 0, R, 0] * 2
    else:  # uniform attention on opposite tokens, changed along their line; or a bias too
        shift = 2 * R**3 / math.sqrt(1 + 2 * R**2) if aligned == "both" else 0
        tokens, step = [1, 0, -1, 0], [1, 0, 0, 0] * 2 + [0] * 10 + [shift] * 2
    v[::2] = f64(tokens + weights + step)
    return v


found = {}
for aligned, moving in {"heads": "W", "net": "aVb", "both": "WaVb"}.items():

    def ratio(v, moving=moving):
        left, net, heads = sides(v, moving, 1e-3)
        return left / (net + heads)

    begun = start(aligned)
    climbed = covers.climb(ratio, lambda v: v, begun, rng.generator, steps)
    (left, net, heads), (first, *parts) = (sides(v, moving, 1e-3) for v in (climbed, begun))
    found[aligned] = {
        "largest ratio": (left / (net + heads)).max().item(),
        "heads": (left / (net + heads / math.sqrt(2))).max().item(),  # the controls
        "net": (left / (net * math.sqrt(2 * R**2 / (1 + 2 * R**2)) + heads)).max().item(),
        "both": (first / torch.maximum(*parts)).max().item(),
    }
heads_alone = torch.vmap(lambda W, Z: attend(W[None], Z))


def one_head(v, transposed):
    """How far a head moves over its bound by the changed keys, or by the changed queries."""
    Z, W, step = (part.unflatten(-1, (-1, 2)) for part in v.split((8, 4, 4), -1))
    Z = R * normalize(Z, dim=-1)
    step = 1e-3 * step / torch.linalg.matrix_norm(step)[:, None, None]
    move = (heads_alone(W, Z) - heads_alone(W + step, Z)).norm(dim=-1).flatten(1).amax(-1)
    return move / (R**2 * (Z @ (step if transposed else step.mT)).norm(dim=-1).amax(-1))


for transposed, name in ((False, "one head, keys"), (True, "one head, queries")):
    begun = fresh.normal(instances, 16)
    begun[::2] = f64([1, 0, -1, 0] * 2 + [0] * 4 + [1, 0, 0, 0])
    reached = covers.climb(
        lambda v, side=transposed: one_head(v, side), lambda v: v, begun, fresh.generator, steps
    )
    found[name] = {"largest ratio": one_head(reached, transposed).max().item()}
moved = pd.DataFrame(found).T.rename_axis("what moves")
table(moved[["largest ratio"]], "Largest move found, over its bound", form=".4f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
rounding = 1e-9  # 1e-15 over steps of 1e-3, and the powers of a root
lem39.holds(
    "Lemma 39: largest ratio of the left to the right side, for random matrices and "
    "matrices of ones; control: $2q$ in place of $q$",
    max(holder.values()),
    at_most=1,
    tol=rounding,
    control=product_ratio(*ones, stretch=2.0),
    about="statement",
    evidence="proved",
)
by_one_head = moved.filter(like="one head", axis=0)["largest ratio"]
lem15.holds(
    "one head: largest ratio of its move to $R^2 \\max_j \\|\\Delta W z_j\\|$ and to $R^2 "
    "\\max_j \\|\\Delta W^\\top z_j\\|$ that is found; control: half of each bound",
    by_one_head.max(),
    at_most=1,
    tol=rounding,
    control=2 * by_one_head.min(),
    about="statement",
    evidence="proved",
)
for row, name, what, control in (
    (lem13, "heads", "only the heads move", "without the $\\sqrt H$"),
    (lem14, "net", "only the net moves", "inputs without the 1 of the bias"),
    (lem13, "both", "heads and net move", "the larger part alone for the sum"),
):
    row.holds(
        "largest ratio of the movement of the output to its bound that is found when "
        f"{what}; control: {control}",
        moved.loc[name, "largest ratio"],
        at_most=1,
        tol=rounding,
        control=moved.loc[name, name],
        about="statement",
        evidence="proved",
    )
glue(heads=moved.loc["heads", "largest ratio"], both=moved.loc["both", "largest ratio"])

# %% [markdown]
# No ratio exceeds 1. The summand of the heads is attained in the limit of small changes ({glue:text}`heads:.6f` at changes of $10^{-3}$), as are both bounds on one head, and the summand of the net is attained too, whereas the search reaches only {glue:text}`both:.2f` if both move together.
#
# ## Matrices have small covers
#
# The last step counts matrices, and there are two standard ways to do it, which exploit different properties.
#
# * *Sparsification, for the sum of absolute entries.* Let the absolute entries of $W$ sum to at most $B_1$. Then $W$ is an average of very simple matrices, namely of $0$ and $\pm B_1 E_{ab}$, where $E_{ab}$ has a single one. Some average of only $k$ of these comes within $B_1/\sqrt{2k}$ of $W$ in the Frobenius norm ({ref}`ch-rounding`; Maurey's argument, which draws the $k$ at random, gives $B_1/\sqrt k$), and there are at most $(2D^2 + 1)^k$ such averages.
# * *Counting by volume.* In a ball of $k$ numbers and radius $r$, take as many points as fit at distances of more than $\rho$. They are a cover, because a point that was not covered could be added. Balls of radius $\rho/2$ around the points are disjoint and lie in a ball of radius $r + \rho/2$, so there are at most $(1 + 2r/\rho)^k$ of them.
#
# We test sparsification by a search for matrices that are as far as possible from the nearest average. The count by volume is tested by a packing: we draw random points of a ball in four dimensions, and keep a point if it is far from all those kept before. A matrix that is further away than its bound, or a packing that is larger, would refute the count.

# %% tags=["nbval-ignore-output"]
D, terms = 3, (1, 2, 3, 5, 10)
into_l1 = lambda v: v / v.abs().sum(-1, keepdim=True).clamp(min=1.0)  # noqa: E731
farthest = {}
for k in terms:

    def away(v, k=k):
        return (v - linear_maps.round_to_cover(v, 1.0, k)).norm(dim=-1)

    begun = into_l1(rng.normal(instances, D * D))
    far = covers.climb(away, into_l1, begun, rng.generator, steps)
    farthest[k] = away(far).max().item()
ball = normalize(rng.normal(points, 4), dim=-1)
ball *= torch.rand(points, 1, generator=rng.generator, dtype=torch.float64) ** 0.25
apart = torch.cdist(ball, ball)
packed = {rho: math.log(len(covers.packing(apart, rho))) for rho in (1.0, 0.7, 0.5)}
sparse = pd.DataFrame({"k": terms, "farthest": farthest.values()})
sparse["over its bound"] = sparse["farthest"] * (2 * sparse["k"]) ** 0.5
sparse["log number"] = [math.log(covers.maurey_size(D * D, k)) for k in terms]
sparse["its bound"] = [token_covers.norm_log_size(D, 1.0, (2 * k) ** -0.5) for k in terms]
table(sparse, "Matrices with entries that sum to 1, D = 3: distance from averages of k", form=".4f")
counted = pd.DataFrame({"scale": packed.keys(), "log size of a packing": packed.values()})
for name, numbers in (("bound", 4), ("with two numbers", 2)):
    counted[name] = [token_covers.dimension_log_size(numbers, 1.0 + 1e-9, r) for r in packed]
table(counted, "A ball of four numbers and radius 1", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
sparsified.holds(
    "bounded sum of absolute entries: largest ratio of the distance from averages of $k$ "
    "terms to $B_1/\\sqrt{2k}$; control: averages of the next smaller $k$",
    sparse["over its bound"].max(),
    at_most=1,
    tol=1e-12,
    control=(sparse["farthest"].shift(1) * (2 * sparse["k"]) ** 0.5).max(),
    about="ours",
    evidence="proved",
)
sparsified.holds(
    "bounded sum of absolute entries: largest amount over $k$ by which the logarithm of the"
    " number of averages exceeds its bound; control: averages without signs",
    (sparse["log number"] - sparse["its bound"]).max(),
    at_most=0,
    tol=1e-12,
    control=(sparse["log number"] - sparse["k"] * math.log(D**2 + 1)).max(),
    about="ours",
    evidence="proved",
)
lem16.holds(
    "counting weights: largest amount by which the logarithm of the size of a packing "
    "exceeds the bound; control: a ball of only two numbers",
    (counted["log size of a packing"] - counted["bound"]).max(),
    at_most=0,
    control=(counted["log size of a packing"] - counted["with two numbers"]).max(),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# Both bounds are respected, and the distance from the averages is nearly as large as its bound for small $k$. The last column of the second table is a control: at the two smaller scales the packing exceeds the bound for a ball of two numbers.
#
# ## The count, and the length of prompts
#
# To put the steps together, we ask how far the weights may move if the output may move by $\epsilon$, and then count how long a list has to be that contains weights as close as that to any others of the class.
#
# **Proof of Proposition 17.** We divide $\epsilon$ equally between the net and the heads.
#
# 1. *The net.* What a ReLU net computes does not change if $a$ is multiplied and $(V, b)$ divided by a positive number. So we may assume that both have norms of at most $\sqrt K$. By {prf:ref}`retrieval-lem15` $a$ and $(V, b)$ may each move by a share $\eta = \epsilon / (4K \sqrt{1 + HR^2})$ of their bounds. The net has $m(HD + 2)$ weights, and counting by volume gives $m(HD + 2) \log(1 + 2/\eta)$, which is the count of Lemma 14.
# 2. *The heads.* Their matrices may move by $\rho = \epsilon/(2K \sqrt H\, R^3)$. They have $H D^2$ entries, and counting by volume gives the second term. $\square$
#
# **The first term as quoted.** Is our first term of the order that the paper quotes? The paper's is $m H D_e \log(1 + R/\epsilon)$ up to a constant, where $R \ge 1 \ge \epsilon$ bounds $\|a\|$, $\|(V, b)\|_F$ and the tokens, so that $K \le R^2$. Our logarithm, $\log(1 + 8K\sqrt{1 + HR^2}/\epsilon)$, is at most $\log(13\, (R/\epsilon)^3 \sqrt H)$, and hence at most $7 \log(1 + R/\epsilon) + \frac12 \log H$. So up to a constant factor our logarithm exceeds the quoted one by at most the summand $\frac12 \log H$, and it depends on the number $H$ of heads whether this summand matters:
#
# * *$H$ is at most a power of $R/\epsilon$.* The quoted term is right up to a constant. This is the case where the paper uses the proposition, with $H = q$ and $\epsilon = n^{-1/2}$.
# * *$m \le D$.* No condition on $H$ is needed, since the second term absorbs the difference: it contains $\sqrt H$ in $1/\rho$, so with bounds of at least 1 it is at least $\frac12 H D^2 \log H$.
# * *$m > D$.* Whether a condition on $H$ is needed for transformers is open.
#
# For Lemma 14 alone the $\frac12 \log H$ is needed in general, that is, to cover the nets on all inputs that consist of $H$ vectors of length at most $R$, as the folded argument shows.
#
# ```{dropdown} Lemma 14 alone needs the logarithm of $H$
# We take nets with a single unit and $R = 1$, and count how many of them differ from each other by more than $2\epsilon$.
#
# 1. *How two nets differ.* Take the nets $\sigma(\langle v, u \rangle)$ with $\|v\| \le 1$, and measure the distance of two of them by $s = \sum_h \|v_h - v_h'\|$. Let $u$ consist of the unit vectors along $v_h - v_h'$. Then $\langle v - v', u \rangle = s$, so the two nets differ by at least $\frac s2$ at $u$ or at $-u$.
# 2. *How many there are.* By volume there are at least $(H/2s^2)^{HD/2}$ vectors $v$ at pairwise distances of more than $s$: the ball $\|v\| \le 1$ has $g(HD)/g(D)^H$ times the volume of the ball $\sum_h \|v_h\| \le 1$, where $g(x) = \Gamma(\frac{x+1}2)/\sqrt\pi$, and $g(x)$ lies between $(x/2e)^{x/2}$ and $\sqrt2$ times this number.
# 3. *The cover.* With $s = 4\epsilon$ the log size of a cover is at least $HD \log(\sqrt H/(4\sqrt2\, \epsilon))$.
# ```
#
# **The count for the paper's construction.** The proposition will be applied to the class that contains the construction of Lemma 11 ({ref}`ch-pointer-heads`). There $H = q$, and a token has $D = d + (1 + q) d_e$ numbers with $d_e = \lfloor 20 \log N \rfloor$. The radius $R$ is that of Lemma 12 and grows like $\sqrt{\log nN}$. Each $W_h$ is $\alpha I$ in one block, so $B_F = \alpha \sqrt{d_e}$ and $B_1 = \alpha d_e$ with $\alpha$ of order $\log(nN)$.
#
# The table shows the log sizes for $q = 1$, $d = 10$, $n = 1000$ and $\epsilon = n^{-1/2}$. From the third row on each length is the square of the one before. If the ratio of the log size at $N^2$ to that at $N$ grew without bound, as it does for a power of $N$, the message of the proposition would be wrong.

# %%
named = sizes.set_axis(pd.Index([f"2^{k}" for k in exponents], name="N"))
named = named.rename(columns={"norm": "sparsification"})
table(named, "Log sizes of covers: the net, the heads in two ways, and all", form=".2e")
squared = [sizes.loc[N**2, "all"] / sizes.loc[N, "all"] for N in sizes.index if N**2 in classes]
alone = sizes["net"] + [N * v for N, v in sizes["counting"].items()]  # a matrix for each position
private = [alone[N**2] / alone[N] for N in sizes.index if N**2 in classes]
glue(log_size=sizes.loc[1024, "all"], growth=max(squared), sparser=sizes.loc[1024, "norm"])

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
every = itertools.product((1, 10, 10**3, 10**6), repeat=3)  # numbers of heads, R and 1 / epsilon
ours, quoted, by_heads = f64(
    [
        (
            math.log1p(8 * radius**2 * math.sqrt(1 + count * radius**2) * finer),
            7 * math.log1p(radius * finer),
            math.log(count) / 2,
        )
        for count, radius, finer in every
    ]
).T
prop17.holds(
    "largest ratio of the log size of the cover at $N^2$ tokens to that at $N$, for $N$ "
    "from $2^5$ to $2^{80}$; control: a matrix for each position",
    max(squared),
    at_most=8,  # two logarithms in D^2, and one of their powers
    control=min(private),
    about="statement",
    evidence="proved",
)
prop17.holds(
    "largest ratio of the logarithm of the first term to $7 \\log(1 + R/\\epsilon) + "
    "\\frac12 \\log H$, for $H$, $R$ and $1/\\epsilon$ up to $10^6$; control: without "
    "$\\log H$",
    (ours / (quoted + by_heads)).max(),
    at_most=1,
    control=(ours / quoted).max(),
    about="ours",
    evidence="proved",
)

# %% [markdown]
# The growth in the table can be explained from the formula. Squaring $N$ doubles $\log N$, and $D^2$ contains two factors of $\log N$. The third factor, $\log(1 + 2B_F/\rho)$, is the logarithm of a product of powers of $\log nN$ and of $n$, so it grows by less than a factor of 2. Together, the log size is multiplied by less than 8, and at these lengths by about 4.
#
# At 1024 tokens the bound by volume is {glue:text}`log_size:.1e`, and sparsification gives {glue:text}`sparser:.1e`. The theorem therefore rests on the count by volume at every length of the table. Sparsification, even for the sum of entries, gives the smaller count only as long as $B_1/\rho$ is below about $D$.
#
# **Sparsification in the paper's norm.** The other count of Lemma 16, by sparsification, is true at the tokens of a sample and false at all tokens.
#
# *At the tokens of the sample.* The paper compares transformers at the tokens of the $n$ prompts of the sample, and in the scores $z_i^\top W_h z_j$ the token $z_i$ meets the matrices from the left. So it is enough to cover the maps $z \mapsto \Theta_{QK}^\top z$ at $nN$ tokens. The rows of $\Theta_{QK}^\top$ are the columns of $\Theta_{QK}$, and $\|\Theta_{QK}\|_{2,1}$ is the sum of their lengths. This is the class of {prf:ref}`covers-rows`, with $HD$ outputs. At an error of $\rho R$, which moves the heads by no more than the proposition allows ({prf:ref}`retrieval-lem15`), the log size is therefore at most
#
# $$2 \Bigl(\frac{R_{2,1}}\rho\Bigr)^2 \log\bigl((HD + 1)(2nN + 1)\bigr) .$$
#
# This is the count of Lemma 16 by sparsification, with its logarithm and the constant 2. The number of tokens stands in the logarithm only. The lemma that the paper cites for this count would bring in a factor $nN$, if it were used as it stands. The reason is that it covers the products with *all* tokens in the Frobenius norm, and for the matrix $Z$ of all tokens $\|Z\|_F^2$ adds up $nN$ squared lengths.
#
# *At all tokens of length $R$* the count is false. To see this, take matrices with a single column that is not 0. Their (2,1)-norm is the length of that column, so they form a Euclidean ball in $D$ dimensions. By volume a cover at half the radius of this ball has a log size of at least $D \log 2$. This grows faster than any power of $\log D$. The formula for the sum of absolute entries would allow only $2 \log(2D^2 + 1)$, and the count for the sample $8 \log((D+1)(2nN+1))$ if $H = 1$. The first table below shows these numbers for several $D$, with 1000 prompts of 1024 tokens.
#
# The next cells also test the count on the sample. They round each column of a random $\Theta_{QK}$ at given tokens, as the proof of {prf:ref}`covers-rows` does, and measure the error. An error above the scale would refute the count. A special instance has four equal columns, whose lengths lie just below a multiple of the unit of the rounding. In the control the tokens meet the matrix from the other side, so that one long column of $\Theta_{QK}$ is treated as if it were many short rows. The second table has both counts of the heads at the sizes of the paper's construction.

# %%
D = classes[1024].D
free_column = {D: D * math.log(2) for D in (16, 64, D, 1024)}
counts = pd.DataFrame({"a free column, at least": free_column}).rename_axis("D")
counts["sum of entries"] = [token_covers.norm_log_size(k, 1.0, 0.5) for k in counts.index]
counts["on the sample"] = [8 * math.log((k + 1) * (2 * n * 1024 + 1)) for k in counts.index]
table(counts, "Log sizes of covers at half of the radius, all tokens of length 1", form=".1f")


def sparsified_error(theta, Z, epsilon):
    """Largest error of the rounded theta^T z over epsilon, tokens Z of length 1."""
    unit, off = epsilon**2 / 2, torch.zeros(len(Z), dtype=torch.float64)
    for column in theta.T:
        length, whole = column.norm(), (column.norm() / unit).floor()
        near = torch.zeros_like(column)
        if whole > 0:
            longest = unit * whole
            clip = lambda V, r=longest: V * (r / V.norm().clamp(min=r))  # noqa: E731
            aim = (column * longest / length)[:, None]
            near = walk(aim, Z, float(unit * whole.sqrt()), clip).centre[:, 0]
        off += (Z @ (column - near)).square()
    return off.max().sqrt().item() / epsilon


# %% mystnb={"code_prompt_hide": "Rounded matrices, and the count", "code_prompt_show": "Rounded matrices, and the count"} tags=["hide-input"]
walked = []
for number, (tokens, width, outputs) in itertools.product(range(5), ((5, 3, 6), (200, 40, 80))):
    Z = normalize(rng.normal(tokens, width), dim=-1)
    theta = rng.normal(width, outputs) * rng.log_uniform(0.01, 1, 1, outputs)
    theta /= theta.norm(dim=0).sum()
    walked.append(sparsified_error(theta, Z, (0.2, 0.3, 0.4, 0.5, 0.7)[number]))
equal = torch.zeros(2, 4, dtype=torch.float64)
equal[0] = (1 - 1e-9) / 4  # just below two units of rounding
four_equal = sparsified_error(equal, torch.eye(2).double(), 0.5)
one_column = torch.full((400, 1), 0.05, dtype=torch.float64)  # of length 1
wrong_side = sparsified_error(one_column.T, torch.eye(1).double(), 0.5)


def on_sample(N, c):
    """The first count of Lemma 16, at n**-0.5."""
    rho = n**-0.5 / (2 * c.K * math.sqrt(c.H) * c.R**3)
    return 2 * (c.H * c.B_1 / rho) ** 2 * math.log((c.H * c.D + 1) * (2 * n * N + 1))


first = {N: on_sample(N, c) for N, c in classes.items()}
grown = {N: first[N**2] / first[N] for N in classes if N**2 in classes}
both_counts = named[["counting"]].assign(**{"sparsification, on the sample": first.values()})
table(both_counts, "Log sizes of covers of the heads", form=".2e")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
sparsified.holds(
    "at the tokens of the sample: largest error of the rounded matrices, in units of the "
    "scale, in random draws and for four equal columns; control: one column of 400 rows",
    max(*walked, four_equal),
    at_most=1,
    tol=rounding,
    control=wrong_side,
    about="statement",
    evidence="proved",
)
sparsified.holds(
    "at the tokens of the sample: largest ratio of the log size of the cover at $N^2$ "
    "tokens to that at $N$; control: with the factor $nN$ of the lemma that is cited",
    max(grown.values()),
    at_most=2**8,  # powers of log(nN): four in R_{2,1}^2, three in R^6, one as it stands
    control=min(N * g for N, g in grown.items()),
    about="statement",
    evidence="proved",
)
sparsified.holds(
    "at all tokens, for one free column and half of its length: least ratio of the log size"
    " that any cover needs to the count for a bounded sum of entries, for $D \\ge 64$; "
    "control: one free entry",
    (counts.iloc[:, 0] / counts.iloc[:, 1]).iloc[1:].min(),
    at_least=2,
    control=(math.log(2) / counts.iloc[:, 1]).iloc[1:].max(),
    about="ours",
    evidence="proved",
)
glue(column=free_column[D], entries=counts.loc[D, "sum of entries"])
glue(column_sampled=counts.loc[D, "on the sample"])
glue(sampled=first[1024], walked=max(walked))

# %% [markdown]
# The tables and the errors show the following:
#
# * *All tokens.* At the $D$ that belongs to 1024 tokens a single free column needs a log size of {glue:text}`column:.0f` for all tokens, whereas the formula for the sum of entries gives {glue:text}`entries:.0f`, and the count for the sample {glue:text}`column_sampled:.0f`, so neither is enough for all tokens.
# * *Errors.* No error exceeds the scale: in the random draws the largest is {glue:text}`walked:.2f` of the scale, and four equal columns attain it in the limit.
# * *The count on the sample.* At 1024 tokens it is {glue:text}`sampled:.1e`, so although it grows like a power of $\log N$, counting by volume is far smaller. The construction of Lemma 11 has the same value of the sum of absolute entries and of the (2,1)-norm, $\alpha d_e$ for each head, because its matrices are diagonal in one block.
#
# ## What we found
#
# * *The count.* Proposition 17 holds with the constants above, by the count by volume, and in the quoted form for numbers of heads up to a power of $R/\epsilon$. For the paper's construction it depends on $N$ like $\log^2 N$, up to a factor of order $\log \log N$.
# * *Tokens.* Lemma 12 is sharp, because some data that Assumption 1 allows exceed its radius with probability $\delta$.
# * *Heads and net.* A head moves by at most $R^3 \|\Delta W\|_2$, with the constant 1 where the paper's source has 2. Each summand of the inequality of Lemmas 13 to 15 is attained, that of the heads in the limit of small changes.
# * *The other count.* The count by sparsification holds in the paper's norm too, with the constant 2, at the tokens of the sample. At all tokens of a bounded length it does not hold.
#
# What the count means for learning is the subject of {ref}`ch-transformer-guarantee`.
#
# ## What would falsify this
#
# * *Lemma 12* would be false if data that the moments allow were too long more often than it says. In the control, with a radius 2 % smaller, they are.
# * *Lemmas 13 to 15* would be false if two transformers were further apart than allowed. If the bound on one head is halved, or the factor $\sqrt H$, the bias or one part of the sum is left out, the search finds such pairs.
# * *The covers* would be too small if a matrix were further from the nearest average than stated, if there were more averages, or if a packing had more points than stated. Their controls use fewer terms, leave out the signs, or take two numbers in place of four.
# * *The count on the sample* would be false if a rounded matrix erred by more than the scale, as it does in the control, where one long column is taken for many short rows.
# * *Proposition 17* would be false if the log size grew like a power of $N$, as that of a class with a matrix for each position does.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `mousavih/transformers-separation` bounds no norm and counts no class. Its heads have query, key, value and output matrices with biases, and scores are divided by $\sqrt D$.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-token-covers-two
#
# *By hand.* In the example, let the tokens lie between $-2$ and $2$ instead. How fine must the grid of $w$ be now for $\epsilon = 0.1$, how many values does it have, and by how much does the log size grow?
# ```
#
# ```{solution} ex-token-covers-two
# :class: dropdown
#
# With $R = 2$ the output moves by at most $R^3 = 8$ times as much as $w$, so the grid must be 8 times as fine and has 160 values. The log size grows from $\log 20 = 3.0$ to $\log 160 = 5.1$. Because the length of the tokens stands under a logarithm, it does little harm that Lemma 12 allows very long tokens.
# ```
#
# ```{exercise}
# :label: ex-token-covers-greedy
#
# *With the computer.* The grid of 20 heads was built by a bound. How many heads are really needed? Take 401 values of $w$ between $-2$ and $2$ and all prompts whose tokens are $-1, -\frac12, 0, \frac12$ or $1$, for $N = 2, 3$ and $4$ tokens. Compute the largest difference of any two heads over all prompts, and find a cover at $\epsilon = 0.1$ with `covers.greedy_cover`. Then find a smaller one: go from left to right, and always take the head that covers the first uncovered one and reaches farthest. Does its size grow with $N$? Then run the chapter with longer tokens, `python -m bookkit.run retrieval/token_covers -p R 3 --out my_run`, and see whether both summands of the inequality are still attained.
# ```
#
# ```{solution-start} ex-token-covers-greedy
# :class: dropdown
# ```
#
# The outputs of all heads on all prompts make a table, and the distance of two heads is the largest difference of two of its rows.


# %%
def from_the_left(near):
    """A least cover, if every row of ``near`` is an interval."""
    last, first, chosen = [int(row.nonzero()[-1]) for row in near], 0, []
    while first < len(near):
        chosen.append(max(near[first].nonzero().flatten().tolist(), key=last.__getitem__))
        first = last[chosen[-1]] + 1
    return chosen


values, greedy = torch.linspace(-2, 2, 401, dtype=torch.float64), {}
for N in (2, 3, 4):
    every = f64(list(itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=N)))
    outputs_at = torch.stack([head(w, every) for w in values])
    differences = torch.cdist(outputs_at, outputs_at, p=math.inf)
    greedy[N] = {
        "prompts": len(every),
        "greedy cover": len(covers.greedy_cover(differences, 0.1)),
        "from left to right": len(from_the_left(differences <= 0.1)),
    }
greedy = pd.DataFrame(greedy).T.rename_axis("N").assign(**{"the grid of the example": 20})
table(greedy, "Heads of a cover at 0.1")

# %% [markdown]
# Both covers have fewer heads than the grid, because the outputs are flat where $w$ is large. The greedy choice is not the best one. Each head covers an interval of values here, and then no cover by listed heads has fewer of them than the one from left to right. At $N = 2$ it has the 10 heads that the example shows to be necessary. With more tokens a few heads more are needed, but never more than the grid, although the number of prompts grows from 25 to 625.
#
# With $R = 3$ both summands are still attained: the largest ratio is 1.0000 if only the net moves, and 0.99999 if only the heads move, again in the limit of small changes. The reason is that the inequality contains the length $R$ of the tokens on its right side. If both move together, the search reaches 0.79.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-token-covers-normal
#
# *With pencil and paper.* For standard normal data in $d = 1$ dimension, by what factor can the radius of Lemma 12 be improved at most, for large $nN$? What changes in $d$ dimensions?
# ```
#
# ```{solution} ex-token-covers-normal
# :class: dropdown
# The normal tail is $e^{-t^2/2}$ up to a factor $1/t$, so the longest of $nN$ data is about $\sqrt{2 \log nN}$, and the factor is $\sqrt e = 1.65$. In $d$ dimensions the tail of the chi-square distribution {cite:p}`laurent2000` gives $\sqrt{d + 2\sqrt{dL} + 2L}$ with $L = \log(nN/\delta)$. There $d$ is added to the logarithm, whereas the lemma multiplies the two.
# ```
#
# ```{exercise}
# :label: ex-token-covers-block
#
# *To think about.* A class has matrices $W$ that are zero outside of the block of pointer and position. What does counting by volume give for it, and what for multiples of the identity in that block?
# ```
#
# ```{solution} ex-token-covers-block
# :class: dropdown
# The factor $D^2$ becomes $d_e^2$, and 1 for a multiple of the identity. Then $N$ remains in $R$ and $\alpha$ only, and the log size for the heads is of order $\log \log N$. The net's term, of order $\log N \log \log N$, is then the larger one.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`retrieval`. The bound on softmax goes back to {cite:t}`variables`, sparsification to {cite:t}`pisier1981`.
