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
# (ch-chain-codes)=
# # Short codes make the chain nearly linear
#
# ```{verdict}
# The paper's sentence on the norm is false: the chain, its network that computes parity step by step, has a larger norm than its network for two bits, and not a smaller one. At {glue:text}`T_norm` bits, with scores of the same scale, the squared norm is {glue:text}`over_main:.1f` times as large if the positions have one-hot codes, and at least {glue:text}`any_over_main:.2f` times with any codes of length 1. Codes of about $16 \log T$ random signs are better only from several hundred bits on. With them the chain's bound, at the best noise for each length $T$, grows like $T \log T$.
# ```
# **Needs** {ref}`ch-chain-of-thought`. **Read** 15 min. **Runs in** 15 s. **Source** printed, in words; the matrix and $d = 2$ are restored.
#
# **Claim.** The steps of the chain share their weights, so the score matrices must distinguish $T$ positions, each of which is represented by a vector, its *code*. The paper says that the chain's norm is smaller than that of its network for two bits. This is false with one-hot codes, and with any codes of length 1 from {glue:text}`first_false` bits on. But short codes keep the norm to a power of $\log T$.
#
# What follows for the chain's bound depends on the noise. At the best noise, and without the term for what noise adds to the sharpness, the bound is then linear in $T$ up to a logarithm, and no codes of length 1 remove that logarithm, as long as each step finds its token. At a fixed noise the bound as quoted is linear only as long as two terms in its exponent that depend on $T$ count as constant: the norm, and what noise adds to the sharpness.
#
# ## Why one should care
#
# A chain of thought computes the parity of $T$ bits by $T$ simple steps. Its bound is $T$ times that of a single step, and so it is linear if a single step costs the same at every length ({ref}`ch-chain-of-thought`). Whether it does depends on one number, the norm of the weights that all steps share. At every step the network must attend to the token of this step and to no other, so its weights must hold $T$ different positions apart. Each position is known to the network by a vector, its *code*. With one column for each position this is easy, but the norm grows with $T$. With fewer columns the codes are no longer orthogonal, and then larger scores are needed to distinguish them. Is there a choice of codes for which the norm does not grow at all? The answer decides whether the chain's bound can be linear.
#
# ## Three positions by hand
#
# Suppose that each of three positions has to find itself by a margin of $L$: the score of its code with itself must exceed the score with any other code by at least $L$.
#
# * **One-hot codes.** The codes are the three unit vectors, and the score matrix $W = L I_3$ gives the score $L$ to equal codes and 0 to different ones. Its squared norm is $3 L^2$, and $T L^2$ for $T$ positions.
# * **Codes in two columns.** Place the three codes on a circle at angles of 120 degrees. Two different codes have the inner product $-\frac12$, so $W = \frac23 L I_2$ gives the scores $\frac23 L$ and $-\frac13 L$, which differ by $L$. Its squared norm is $2 \cdot \frac49 L^2 = 0.89\, L^2$, which is less than for one-hot codes.
# * **More codes in two columns.** With twelve codes on the circle, neighbours are 30 degrees apart and have the inner product $0.87$. Now $W = \frac{L}{1 - 0.87} I_2 = 7.5\, L I_2$ is needed, with the squared norm $111\, L^2$, whereas one-hot codes for twelve positions need $12\, L^2$.
#
# So fewer columns are an advantage as long as the codes stay far apart, and a disadvantage when they come close to each other. The question is what the best compromise for $T$ positions is.
#
# ## What the scores must do
#
# In the chain of {ref}`ch-chain-of-thought` the position $t$ has a *code* $e_t$, a vector of length 1, and a token with code $e_t$ gives a token with code $e_j$ the *score* $e_t^\top W e_j$. The attention is the softmax of the scores. As in the example, every code must find itself by a *margin* $L$:
#
# $$e_t^\top W e_t - e_t^\top W e_j \ge L \quad \text{for all } j \ne t .$$
#
# ```{prf:remark} Lintilhac and Shaikh (2026), Appendix G
# :label: sharper-cot-norm
# *(Refuted below.)* The first score matrix is a positional identity; its first column has a single non-zero entry. So the norm of the chain is smaller than that of the main construction for $d = 2$. With a single term the main construction has score matrices of squared norm $2 L^2$ in the first layer and $L^2$ in the second.
# ```
#
# The codes may be one-hot, or "dimension-reduced random projections" of one-hot codes. That a single term is meant follows from the bound for the chain, which is quoted with $L(1, 2, T)$, the paper's bound on the squared norm for one term on two bits (not to be confused with the margin $L$). With $T$ terms the sentence would be true to leading order, $2TL^2$ against the paper's bound of $3TL^2$. Random signs as codes of positions are also used by {cite:t}`retrieval`.

# %% tags=["parameters"]
n_max = 12  # longest input whose strings are all tried, in bits [8..13]
T_norm = 20  # length at which norms are compared, in bits: the paper's [16..24]
T_long = 128  # length of a long chain, on a few strings [64..192]
instances = 150  # random sets of codes [100..1000]
seed = 0  # of the random codes [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.rng import Rng
from helpers.statistics import least_integer
from papers.sharper import chain_of_thought as chain
from papers.sharper.tabulated import perturbation_term

ledger, rng = Ledger("sharper/chain_codes"), Rng(seed)
norm, growth = ledger.result("sharper.cot.norm"), ledger.result("sharper.growth.chain")
glue(T_norm=T_norm, n_max=n_max, T_long=T_long, instances=instances)

# %% [markdown]
# To see how large $W$ must be, we use the function `score_norms`. It returns the squared Frobenius norms that are proved below, for a margin of 1: for one-hot codes, for random signs, and the lower bound for any codes of length 1.

# %%
KINDS = {"one-hot": "one-hot", "random signs": "random signs", "any": "any codes, at least"}
exponents = (2, 4, 6, 8, 10, 12, 16, 20, 30, 40)
norms = {f"2^{k}": chain.score_norms(2**k) for k in exponents}
both = 2 * pd.DataFrame(norms).T.rename_axis("T")  # two score matrices
first_false = least_integer(lambda T: 2 * chain.score_norms(T)["any"] > 3, 2)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Squared norm of both score matrices over $L^2$, by the codes of the positions. The grey line is the network for two bits.", "name": "fig-code-norms"}, "image": {"alt": "Log-log plot against the length from 4 to ten to the twelve. One-hot codes rise in a straight line of slope one. Random signs start above them, rise ever more slowly and cross them at some hundred bits. The least for any codes rises slowest of all, starts below the grey line at three and crosses it at about 15 bits."}} tags=["hide-input"]
fig, ax = figures.new(height=2.9)
for key, name in KINDS.items():
    ax.plot([2**k for k in exponents], both[key], label=name)
figures.level(ax, 3.0, "network for $d = 2$")
label = "score matrices, squared norm / $L^2$"
ax.set(xscale="log", yscale="log", xlabel="length $T$ (bits)", ylabel=label, ylim=(0.8, 1e8))
ax.legend(loc="upper right")
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-cell"]
caption = "Squared norm of both score matrices over L²; the network for d = 2 has 3"
table(both.rename(columns=KINDS), caption, form=".3g")

# %% [markdown]
# {numref}`fig-code-norms` shows these norms against the length. The norm for one-hot codes rises in proportion to $T$. That for random signs starts above it, but rises only with a power of the logarithm, and from several hundred bits on random signs are the better choice. The lowest curve is a bound that no codes of length 1 can beat. It rises, too, and exceeds the grey line, the network for two bits, from {glue:text}`first_false` bits on. The next sections prove the three curves.
#
# ## One-hot codes
#
# ```{prf:lemma} Shared scores (ours)
# :label: chain-scores
# For one-hot codes the smallest $W$ with margin $L$ is $L \left( I - \frac1T \mathbf 1 \mathbf 1^\top \right)$, with $\|W\|_F^2 = (T-1) L^2$.
# ```
#
# **Proof.** All constraints $W_{tt} - W_{tj} \ge L$ hold with equality, and $W$ is the sum of all their normals $e_t (e_t - e_j)^\top$ with the multiplier $\frac LT \ge 0$ each. For any other feasible $V$ the product $\langle W, V - W \rangle$ is then a sum of non-negative terms, so $\|V\| \ge \|W\|$. $\square$
#
# So the identity, with $T L^2$, is nearly the best. It is true that a column has a single entry, as the paper says, but there are $T$ columns.
#
# ## Any codes
#
# ```{prf:proposition} Codes of length 1 (ours)
# :label: chain-any-codes
# Let $e_1, \dots, e_T$ be vectors of length 1, of any number $k$ of columns.
#
# (a) If no two have an inner product above $\mu < 1$, score matrices $\frac{L}{1 - \mu} I_k$ with $e^L \ge 7(T-1)$ let the chain compute parity, with an output that is off by at most $\lambda = \frac{T-1}{e^L + T - 1}$.
#
# (b) For $k = \lceil 16 \log T \rceil$ random signs $\pm 1/\sqrt k$, $\mu \le \frac12$ has a chance above $\frac12$. In this case the chain has $\|\theta\|^2 \le 148 + 8 k L^2$.
#
# (c) Every $W$ with margin $L$ has $\|W\|_F^2 \ge \frac12 L^2 M_T^2$. Here $M_T$ is the mean of the largest of $T$ independent standard normal variables, about $\sqrt{2 \log T}$.
# ```
#
# **The idea of the proof.** For (a) and (b), codes that are far from parallel need scores that are only a constant factor larger than those of orthogonal codes, and random signs are far from parallel as soon as there are of the order of $\log T$ columns. For (c), a margin means that $W$ maps the codes to points that are a distance of $L$ apart. If we look at $T$ such points in a random direction, the largest coordinate is of the order of $L \sqrt{\log T}$, and a matrix of small Frobenius norm cannot produce it from vectors of length 1.
#
# ```{dropdown} Proof of (a), (b) and (c)
# For (a) we bound the share of attention that goes to wrong tokens, for (b) we count pairs of codes and add up the blocks, and for (c) we compare the points with independent normal variables.
#
# (a) A code scores $\frac{L}{1-\mu}$ with itself, and at most $\mu$ times that with another: a margin of $L$. Two tokens have the code of the last one and at most $2(T-1)$ have others, so these get a share of at most $\lambda$. As $\lambda \le \frac18$, the mean stays on its plateau, and the second layer moves the output, an average of numbers in $[0, 1]$, by at most $\lambda < \frac12$.
#
# (b) By Hoeffding's inequality an inner product of two random codes is above $\frac12$ with a chance of at most $e^{-k/8} \le T^{-2}$, and there are fewer than $T^2/2$ pairs. The two score matrices are at most $2L$ times the identity on $k$ columns, so together they have a squared norm of at most $8 k L^2$. The other blocks are those of the network for $d = 2$, with the squared norms 1 for the value matrix $W_V$, 1 for the read-out $v_2$, and 12, 5.94 and 128 for the parts $G$, $b$ and $F$ of the MLP, which add up to less than 148.
#
# (c) Add the constraint for $(t, j)$ to that for $(j, t)$: with $x = e_t - e_j$ it is $x^\top W x \ge 2L$. As $\|x\| \le 2$, $\|W^\top x\| \ge L$: the points $W^\top e_t$ are a distance of $L$ apart. For a standard normal vector $g$, the numbers $X_t = \langle W^\top e_t, g \rangle$ have $\mathbb E (X_t - X_j)^2 \ge L^2$, as have independent normal variables of variance $\frac12 L^2$. Hence $\mathbb E \max_t X_t \ge \frac{L}{\sqrt2} M_T$ by the inequality of Sudakov and Fernique. On the other hand $X_t = \langle e_t, W g \rangle \le \|W g\|$, whose mean is at most $\|W\|_F$. $\square$
# ```
#
# By (c), two score matrices of margin $L$ together exceed a squared norm of $3 L^2$ from $T =$ {glue:text}`first_false` on, and $3 L^2$ is what the main construction for $d = 2$ has. So the sentence on the norm fails for all codes of length 1, and not only for one-hot codes. The table below has the norms of whole networks at the paper's length. All chains with the margin have a ratio above 1. For comparison the table has two networks without the margin, and only these have a ratio below 1. One has a single entry in each score matrix, and the other keeps the margin only in the mean, that is, on average over the other positions but not for each of them.

# %%
L = 2 * math.log(T_norm)  # the paper's scale, for both networks
main = chain.OTHER_BLOCKS + 3 * L**2
sizes = {
    "one entry a layer, which does not work": chain.OTHER_BLOCKS + 2 * L**2,
    "one-hot": chain.squared_norm(T_norm, "one-hot", L),
    "one-hot, least": chain.squared_norm(T_norm, "one-hot, least", L),
    "any codes of length 1, at least": chain.squared_norm(T_norm, "any", L),
    "the margin only in the mean": chain.OTHER_BLOCKS + 2 * (1 - 1 / T_norm) ** 2 * L**2,
}
over_main = {name: size / main for name, size in sizes.items()}
ratios = pd.Series(over_main, name="ratio").rename_axis("score matrices of the chain")
table(ratios, f"Squared norm over that of the network for d = 2, T = {T_norm}", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
norm.refuted(
    "as restored, with one-hot codes: ratio of the squared norm of the chain to that of the"
    f" network for $d = 2$, at $T = {T_norm}$; control: one entry a layer, which does not "
    "work",
    over_main["one-hot"],
    at_most=1,
    control=over_main["one entry a layer, which does not work"],
    about="statement",
    evidence="attained",
)
norm.refuted(
    "as restored, with any codes of length 1: lower bound on the ratio of the squared norm of "
    f"the chain to that of the network for $d = 2$, at $T = {T_norm}$; control: the margin "
    "only in the mean",
    over_main["any codes of length 1, at least"],
    at_most=1,
    control=over_main["the margin only in the mean"],
    about="statement",
    evidence="proved",
)
glue(over_main=over_main["one-hot"], least_over_main=over_main["one-hot, least"])
at_norm = chain.score_norms(T_norm)
glue(one_hot_at=2 * at_norm["one-hot"], signs_at=2 * at_norm["random signs"])
glue(any_over_main=over_main["any codes of length 1, at least"], first_false=first_false)

# %% [markdown]
# ## Short codes at work
#
# Does a chain with short codes compute parity? We build the codes of (b) and run the chain on all strings, or on three strings where there are too many to try all. One wrong bit would refute (a). The error in the table is the largest of the output, and the bound on the squared norm is that of (b).

# %%
rows = []
for T in (4, 8, n_max, T_long):
    codes = chain.sign_codes(T, rng)
    inputs = cube.bits(T) if n_max >= T else rng.strings(T, 3)
    _, weights = chain.construct(T, None, codes)
    wrong, off = chain.errors(codes, weights, inputs)
    size = sum(w.square().sum().item() for w in weights.values())
    row = {"T": T, "strings": len(inputs), "columns": codes.shape[1], "bits wrong": wrong}
    row |= {"off": off, "λ": chain.leak(T)}
    rows.append(row | {"norm² / (b)": size / chain.squared_norm(T, "random signs")})
short = pd.DataFrame(rows)
heads = {"off": "largest error", "norm² / (b)": "squared norm over its bound"}
table(short.rename(columns=heads), "The chain with short codes")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
two = rng.normal(8, 2).sign() / math.sqrt(2)  # eight codes of two signs: some must coincide
scores = torch.nn.functional.pad(4 * math.log(16) * two @ two.mT, (0, 1, 0, 1))
eight, hand = chain.construct(8)
blind = chain.errors(eight, hand | {"WKQ1": scores, "WKQ2": scores}, cube.bits(8))[0]
norm.repaired(
    "short codes: number of bits that the chain writes wrong on all strings of 4, 8 and "
    f"{n_max} bits and on three of {T_long}; control: codes of two random signs",
    short["bits wrong"].sum(),
    at_most=0,
    control=blind,
    about="statement",
    evidence="proved",
)
norm.repaired(
    "largest ratio of the squared norm to $147.94 + 8 k L^2$; control: to the squared norm "
    "of the network for $d = 2$",
    short["norm² / (b)"].max(),
    at_most=1,
    tol=1e-12,
    control=size / (chain.OTHER_BLOCKS + 3 * (2 * math.log(2 * T)) ** 2),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# No bit is wrong, the error is below $\lambda$, and the norm is within its bound. Next we look for codes that violate (a) or (c).
#
# * *For (a)* we draw {glue:text}`instances` sets of up to 7 random codes, some of them nearly the same, with scores at the least scale allowed or above. We run them on all strings, and improve the worst set by random steps (the row *improved*). We add a *fan*, codes $(e_0 + e_j)/\sqrt2$ with all inner products $\frac12$. An error above $\lambda$ would refute (a).
# * *For (c)* we try the regular simplex, whose inner products are all $-\frac1{T-1}$, and pairs of opposite codes. A squared norm below the bound would refute (c).


# %% mystnb={"code_prompt_hide": "Adversaries: codes against (a) and (c)", "code_prompt_show": "Adversaries: codes against (a) and (c)"} tags=["hide-cell"]
def over_leak(codes, scale, divided=True):
    """Largest error of the output over all strings, over λ; bits wrong count as an error of 1."""
    T = len(codes)
    room = 1 - chain.overlap(codes)
    if room < 1e-6:  # the margin drowns in rounding
        return 0.0
    network = chain.construct(T, scale if divided else scale * room, codes)
    wrong, off = chain.errors(*network, cube.bits(T))
    return max(off, float(wrong > 0)) / max(chain.leak(T, scale), 1e-12)


def random_codes():
    """Codes of length 1, and a scale; sometimes two codes that nearly coincide."""
    T, k = rng.whole(2, 7), rng.whole(2, 8)
    raw = rng.normal(T, k)
    if rng.whole(0, 1):
        raw[0] = raw[1] + rng.log_uniform(1e-3, 1).item() * rng.normal(k)
    scale = math.log(7 * (T - 1)) + 1e-9 + rng.whole(0, 1) * rng.uniform(0, 6)
    return raw / raw.norm(dim=1, keepdim=True), scale


tried = [random_codes() for _ in range(instances)]
found = [over_leak(*one) for one in tried]
no_room = max(over_leak(*one, divided=False) for one in tried)
best, (codes, scale) = max(zip(found, tried, strict=True), key=lambda pair: pair[0])
for _ in range(instances):
    trial = codes + rng.log_uniform(1e-3, 1).item() * rng.normal(*codes.shape)
    trial = trial / trial.norm(dim=1, keepdim=True)
    if (height := over_leak(trial, scale)) > best:
        best, codes = height, trial
fan = torch.cat((torch.ones(6, 1).double(), torch.eye(6).double()), 1) / math.sqrt(2)
in_a = {"drawn": max(found), "improved": best, "fan": over_leak(fan, math.log(35) + 1e-9)}
in_a["short codes"] = (short["off"] / short["λ"]).max()


def in_c(T):
    """Squared norms for a margin of 1 over (c): a regular simplex, and the codes e_i and -e_i."""
    return [found / chain.score_norms(T)["any"] for found in ((T - 1) ** 3 / T**2, T / 2)]


ratios = pd.Series(in_a, name="largest error over λ").rename_axis("codes")
table(ratios, "Part (a): codes chosen to make the error large")
on_average = (31 / 32) ** 2  # T = 32 codes +1 and -1, W = 31/32: a margin of 1 in the mean
norm.repaired(
    "(a): largest error in units of $\\lambda$, for codes drawn, found by a search, in a "
    "fan, and those of (b); control: without the division by $1 - \\mu$",
    max(in_a.values()),
    at_most=1,
    tol=1e-6,  # rounding of 1 - μ, which goes down to 1e-6
    control=no_room,
    about="statement",
    evidence="searched",
)
norm.holds(
    "(c): least ratio of the squared norm of simplex codes and of opposite codes to its "
    "lower bound, for $T = 2$ to 1000; control: the margin only in the mean, at $T = 32$",
    min(min(in_c(T)) for T in range(2, 1001, 2)),
    at_least=1,
    control=on_average / chain.score_norms(32)["any"],
    about="ours",
    evidence="proved",
)
glue(top_leak=best, fan_leak=in_a["fan"], low=min(in_c(2)), sixteen=min(in_c(16)))

# %% [markdown]
# The codes that were drawn and then improved reach {glue:text}`top_leak:.2f` of $\lambda$, and the fan reaches {glue:text}`fan_leak:.2f`, so the bound in (a) is attained and not exceeded. The bound in (c) is not attained: the two codes 1 and $-1$ need {glue:text}`low:.2f` times as much, and 16 codes $\pm e_i$ with $W = L I_8$, which have margin $L$, need {glue:text}`sixteen:.1f` times as much.
#
# ## How the cost grows with the length
#
# The chain's bound is $T$ times that of a single step. How fast it grows depends on whether the noise is chosen anew for each length or held fixed.
#
# **At the best noise.** If the noise is chosen for each length, the bound for one step is a constant times $(G_u N)^{1/3}$, where $G_u$ bounds the squared gradient of a step and $N = \|\theta\|^2$ is the squared norm ({ref}`ch-chain-of-thought`). The gradient of a step, and with it $G_u$, does not depend on $T$, so the chain's bound is proportional to $T N^{1/3}$. (As in {ref}`ch-chain-of-thought`, we leave out the confidence and the term $P$, which is what noise adds to the sharpness.) With $L = 2 \log 2T$ random signs have $N \approx 512 \log^3 T$, so the bound is $O(T \log T)$. By (c) no codes of length 1 have less than order $\log^3 T$ at this margin. With the quoted norm the bound would be of order $T \log^{2/3} T$. The powers at shorter lengths are in {ref}`ch-chain-of-thought`.
#
# **Without the margin.** The order $\log^3 T$ needs no margin for all pairs. Suppose only that at each of the $T$ steps the first attention gives at least half of its weight to the tokens with the right code. Call another code a *rival* of $e_t$ if its score is within $\frac12 \log T$ of what $e_t$ scores with itself, or above.
#
# * *There are few rivals.* A token of a rival gets at least $T^{-1/2}$ times the weight of a token with the code $e_t$, and two tokens have the code $e_t$. So each rival gets at least a share $\frac{1}{2 \sqrt T}$ of the weight that $e_t$ gets. As all others together get no more than $e_t$, there are at most $2 \sqrt T$ rivals.
# * *So many codes have a margin.* Join each code and its rivals by edges. There are at most $2 T^{3/2}$ edges, so by Turán's theorem at least $\frac T{4 \sqrt T + 1} \ge \frac15 \sqrt T$ codes have no edge between them. These have a margin of $\frac12 \log T$ among themselves, and (c) gives the first score matrix a squared norm of order $\log^3 T$.
#
# **At a fixed noise.** The paper says that the chain's error "increases only linearly with T". The bound for the chain is that for a single step, added up over $T$ steps, so it is linear in $T$ if the bound for a single step is held constant. (The formula does not follow from Theorem 2, as {ref}`ch-chain-of-thought` shows. Here we ask only how it grows.) Let $m$ be the number of training inputs, $\Sigma$ the spread of the loss, and $G_u(1, 2)$ the bound on the squared gradient for two bits. As quoted the bound is
#
# $$4 T\, \exp\Bigl( -\frac m{8\Sigma^2} + \frac{m \sigma^2}{4 \Sigma^2} \bigl( 2 G_u(1, 2) + P(\sigma, 1, 2, T) \bigr) + \frac{L(1, 2, T)}{2\sigma^2} \Bigr), \qquad L(1, 2, T) = 218 + 12 \log^2 T .$$
#
# So the sentence needs a condition: two terms of the exponent have to count as constant, although both grow with $T$.
#
# * *The norm* $L(1, 2, T)$ grows like $\log^2 T$. If it does not count as constant, this term alone multiplies the bound at $\sigma = 10^{-3}$, from $T = 20$ to 40, not by 2 but by 2 to the power {glue:text}`doublings:.1e`, and no power of $T$ bounds it.
# * *The term* $P$ says what noise adds to the sharpness. In the closed form of the authors' notebook ({ref}`ch-perturbed-trace`) it contains powers of $T$, because every weight is perturbed, and from $T = 20$ to 40 it grows by a factor of {glue:text}`noise_rise:.0f`.
#
# As long as the scores are $2 \log T$, no growing sequence of lengths meets the condition. So the paper's sentence has to be read as one about the sum over the steps only.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
T = 2**40
rises = {k: chain.squared_norm(2 * T, k) / chain.squared_norm(T, k) for k in KINDS}
power = {k: 1 + math.log2(rise) / 3 for k, rise in rises.items()}  # of T in the bound, T to 2T
logarithm = math.log2(math.log(4 * T) / math.log(2 * T))  # the same of log 2T
growth.repaired(
    "random signs at the best $\\sigma$: power of $T$ with which the bound grows, less that"
    " of $\\log 2T$, at $2^{40}$; control: the norm in place of its square",
    power["random signs"] - logarithm,
    equals=1,
    tol=0.01,
    control=1 + math.log2(rises["random signs"]) / 6 - logarithm,
    about="remark",
    evidence="proved",
)


def doublings(moving):
    """How often the quoted bound of the chain doubles from T = 20 to 40, at sigma = 0.001, P held."""

    def log_bound(T):
        norm = 218 + 12 * math.log(T if moving else 20) ** 2
        return math.log(4 * T) + norm / (2 * 1e-3**2)

    return (log_bound(40) - log_bound(20)) / math.log(2)


growth.refuted(
    "at fixed $\\sigma = 10^{-3}$ and constant $P$: number of times that the quoted bound "
    "doubles from $T = 20$ to 40; control: the norm is held constant, too",
    doublings(moving=1),
    at_most=1,
    tol=1e-6,  # rounding of exponents of 10^8
    control=doublings(moving=0),
    about="condition",
    evidence="proved",
)
growth.holds(
    "at fixed $\\sigma = 10^{-3}$, constant $P$ and the norm $L(1, 2, T)$ held at its value"
    " at $T = 20$: number of times that the bound doubles from $T = 20$ to 40; control: the"
    " norm as quoted",
    doublings(moving=0),
    at_most=1,
    tol=1e-6,  # rounding of exponents of 10^8
    control=doublings(moving=1),
    about="remark",
    evidence="proved",
)
glue(doublings=doublings(moving=1))
glue(noise_rise=perturbation_term(40, 2, 1, 1e-3) / perturbation_term(20, 2, 1, 1e-3))
glue(slope_signs=power["random signs"], slope_one_hot=power["one-hot"])

# %% [markdown]
# At $T = 2^{40}$ and the best noise, the bound grows with the power {glue:text}`slope_one_hot:.3f` of $T$ with one-hot codes and {glue:text}`slope_signs:.3f` with random signs. If a factor of $\log 2T$ is divided out, the power with random signs is 1.
#
# ## What we found
#
# * With one-hot codes a shared score matrix needs a squared norm of $(T-1) L^2$, and the identity has $T L^2$.
# * With codes of $O(\log T)$ columns a power of $\log T$ is enough. The chain is right on all strings of {glue:text}`n_max` bits with random signs, and on some of {glue:text}`T_long`.
# * The squared norm is never below $\frac12 L^2 M_T^2 \approx L^2 \log T$, whatever the codes of length 1. So with equal scales the chain is the larger network from $T =$ {glue:text}`first_false` on.
# * At the best noise the chain's bound is of order $T \log T$, and with codes of length 1 no smaller order is possible as long as each step finds its token.
# * At a fixed noise the bound is linear if the norm and the term $P$ are held constant. With the norm as quoted no power of $T$ bounds it.
#
# ```{finding} sharper.cot.norm
# :title: The chain's shared scores make its norm larger, not smaller
# :group: false statement
#
# **Statement.** Printed, in words (the matrix and $d = 2$ are restored): the first column of the chain's first score matrix has a single non-zero entry, so the norm of the construction is smaller than that of the main construction for $d = 2$, as a step of the proof of Theorem 16.
#
# **Counterexample.** Take one-hot codes, $T = {glue:text}`T_norm`$, and the same scale in both networks. The chain has {glue:text}`over_main:.1f` times the squared norm of the network for $d = 2$; any score matrices with that margin make it {glue:text}`least_over_main:.1f` times at least. With any other codes of length 1, such as normalised random projections, it is {glue:text}`any_over_main:.2f` times at least.
#
# **Why.** A column has one entry, but there are $T$ columns, because all steps share the weights and each of them needs a score of its own. (The proof also says that the matrix contains "only the current position". For a matrix that changes from step to step the sentence would be true. But the same proof speaks of a "positional-identity map", and the theorem has one parameter vector for all steps.) Short codes share columns, and need larger scores in return.
#
# **Repair.** With one-hot codes the squared norm is $147.94 + 2 T L^2$, with $k = \lceil 16 \log T \rceil$ random signs at most $148 + 8 k L^2$. The signs have the smaller norm only on strings of several hundred bits and more: at $T = {glue:text}`T_norm`$ both score matrices together have a squared norm of {glue:text}`one_hot_at:.0f` $L^2$ with one-hot codes, but up to {glue:text}`signs_at:.0f` $L^2$ with signs. No codes of length 1 have less than order $L^2 \log T$.
#
# **What survives.** The chain itself, with the sharpness of the network for $d = 2$ at every step; and growth that is linear up to a logarithm, with short codes and at the best noise.
# ```
#
# ## What would falsify this
#
# * *The refutation of the sentence on the norm* would fail if there were codes of length 1 and a matrix with margin $L$ at $T \ge$ {glue:text}`first_false` whose norm is below (c).
# * *Part (a)* would be false if codes had an error above $\lambda$ or a wrong bit, as they have if the scores are not divided by $1 - \mu$.
# * *Part (b)* would be false if a network exceeded its bound on the norm. As a control, the bound is replaced by the norm of the paper's network for two bits, which is exceeded by a large factor.
# * *The growth like $T \log T$* would be refuted by another power of $T$ with a logarithm divided out. As a control, the norm enters without its square, and then the power is another one.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# We found no program for the chain of thought in the repository `paullintilhac/boolean_function_sensitivity`; what we read there is listed in {ref}`ch-chain-of-thought`.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-codes-one-column
#
# *By hand.* Why are codes of a single column not enough for more than two positions? And what squared norm do $T$ codes in two columns need, if they are placed on a circle as in the example?
# ```
#
# ```{solution} ex-codes-one-column
# :class: dropdown
#
# The only numbers of length 1 are $1$ and $-1$. With two columns take $T$ points on a circle. Neighbours have $\mu = \cos \frac{2\pi}T$, so that $1 - \mu \approx 2 \pi^2 / T^2$, and the squared norm of $\frac{L}{1 - \mu} I_2$ is about $L^2 T^4 / (2 \pi^4)$.
# ```
#
# ```{exercise}
# :label: ex-codes-columns
#
# *With the computer.* First run the chapter for longer strings, by `python -m bookkit.run sharper/chain_codes -p T_long 192 --out my_run`, and see how the error of the chain changes. Then ask whether $16 \log T$ columns are a good choice. For $T = 20$, 128 and 512, draw random signs with $k = 8, 16, 32, 64, 128$ columns, take the best of 20 draws, and compute $2 k / (1 - \mu)^2$, the squared norm of both score matrices over $L^2$. Which $k$ is best, and are the signs better than one-hot codes, which need $2T$ ?
# ```
#
# ```{solution-start} ex-codes-columns
# :class: dropdown
# ```
#
# The function `chain.overlap` returns the largest inner product $\mu$ of two codes.

# %%
fresh, by_columns = Rng(seed + 1), {}
for T in (20, 128, 512):
    row = {"one-hot": 2.0 * T}
    for k in (8, 16, 32, 64, 128):
        signs = [fresh.normal(T, k).sign() / math.sqrt(k) for _ in range(20)]
        room = 1 - min(chain.overlap(codes) for codes in signs)
        row[f"{k} columns"] = 2 * k / room**2 if room > 1e-9 else math.inf
    by_columns[T] = row
by_columns = pd.DataFrame(by_columns).T.rename_axis("T")
table(
    by_columns.replace(math.inf, math.nan),
    "Squared norm of both score matrices over L²",
    form=".0f",
    none="two codes coincide",
)

# %% [markdown]
# Few columns are bad because two codes nearly coincide, and many are bad because every column adds to the norm. In the run shown the best of the five numbers is 16, 32 and 64 for the three lengths. It grows slowly with $T$ and is smaller than $16 \log T$, which is 48, 78 and 100. The signs are better than one-hot codes only at $T = 512$. The number $16 \log T$ was chosen to make a proof short, and not to make the norm as small as possible.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-codes-longer
#
# *To think about.* Part (c) is about codes of length 1. What becomes of the norm of the score matrices if all codes are multiplied by $r > 1$? And what becomes of the gradient of the output, which the bound also contains? Estimate how the product of the two depends on $r$.
# ```
#
# ```{solution} ex-codes-longer
# :class: dropdown
#
# The scores are multiplied by $r^2$, so for the same margin the score matrices can be divided by $r^2$ and their squared norm by $r^4$. But a token now contains a code of squared length $r^2$, and the gradient with respect to the read-out is a token, so the squared gradient grows like $r^2$. In the limit of large scores, where the other gradients do not depend on the codes, this gives $N \approx 148 + 8 k L^2 / r^4$ and $G_u$ of order $r^2$. The product is smallest when the two terms of $N$ are of the same order, that is for $r^4$ of order $\log^3 T$, and then it is of order $\log^{3/2} T$ in place of $\log^3 T$. So by this estimate longer codes would take the chain's bound from $T \log T$ to about $T \sqrt{\log T}$, but they do not remove the logarithm.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The construction is from {cite:t}`sharper`.
