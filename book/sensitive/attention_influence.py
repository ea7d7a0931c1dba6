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
# (ch-attention-influence)=
# # How far all bits together move attention
#
# ```{verdict}
# Yes, Lemma 11 is true: on nearly every input, all bits together change a token's attention weights by at most a multiple of the logarithm of the length. The logarithm is needed for rare inputs only. On average over inputs the change is at most 6, for any weights of the network, and the token's own bit accounts for 2 of these. If that bit does not change the query, the limit for strings of $n$ bits is $4 - 2^{3-n}$. At {glue:text}`climb_n` bits this is {glue:text}`climb_limit:.4f`, and a search reaches {glue:text}`climbed:.5f`.
# ```
# **Needs** {ref}`ch-average-sensitivity`. **Read** 14 min. **Runs in** 15 s. **Source** printed.
#
# **Claim.** A *row* of attention is the list of weights that one token gives to all tokens. The paper states that in the first layer all $n$ bits of a string together change a row by at most a multiple of $\log n$, on nearly every input and whatever the weights of the network are. This is true. Here the changes for the flips of all single bits are added up. In the mean over inputs no logarithm is needed: the sum is at most 6, or 4 without the query's own bit, and no smaller constants are possible. A bound that holds with high probability needs some logarithm, but a factor about eight times smaller than the printed one is enough.
#
# ## Why one should care
#
# A transformer that computes a sensitive function must react to many bits at once. Attention can react strongly to a single bit if its scores are large: when scores grow with the length, one bit of a long string can draw nearly all the attention to itself. A bound on the effect of *one* bit on attention is therefore large. If one multiplies this bound by the number of bits, attention seems able to react to all of them.
#
# But the weights of a row sum to 1. What one position gains, others lose, and if one position has all the attention, then most of the other bits have no effect. The lemma bounds the effect of all bits *together*. It is the first step of the paper's argument, and it is the reason why large scores in the first layer do not help to compute PARITY.
#
# ## Three bits by hand
#
# Let a head read three bits, with scores such that the ones get all the attention, in equal parts. If there are no ones, the zeros share the attention. So the weights are $(1, 0, 0)$ at the string 100, and $(\frac12, \frac12, 0)$ at 110. The second string arises from the first by a flip of the second bit. This flip takes $\frac12$ from the first position and gives it to the second, and we add the sizes of both changes, so the flip counts 1. The table has the changes for all three flips.
#
# | ones | inputs | weights, for example | change by each flip | sum over three flips |
# |:--|:--|:--|:--|:--|
# | 0 | 1 | $(\frac13, \frac13, \frac13)$ | $\frac43, \frac43, \frac43$ | $4$ |
# | 1 | 3 | $(1, 0, 0)$ | $\frac43, 1, 1$ | $\frac{10}3$ |
# | 2 | 3 | $(\frac12, \frac12, 0)$ | $1, 1, \frac23$ | $\frac83$ |
# | 3 | 1 | $(\frac13, \frac13, \frac13)$ | $\frac23, \frac23, \frac23$ | $2$ |
#
# The mean over the eight inputs is $\frac18 (4 + 3 \cdot \frac{10}3 + 3 \cdot \frac83 + 2) = 3$, which is $4 - 2^{3 - n}$ at $n = 3$, the limit of the card. The next cells compute the sums again.

# %% tags=["parameters"]
n_max = 10  # bits of the rows enumerated completely [4..12]
instances = 300  # random rows enumerated completely [100..1000]
n_far = 1024  # bits of the longest sampled rows [256..2048]
inputs = 1000  # random inputs for each sampled row [200..4000]
n_or = 512  # bits of the head that computes OR [320..2048]
delta = 3.0  # delta of Lemma 11 [2.1..3]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.rng import Rng, f64
from helpers.statistics import average, upper_limit
from papers.sensitive.influence import bit_influences, summed_influence, tail_bound

ledger, rng = Ledger("sensitive/attention_influence"), Rng(seed)
lem11 = ledger.result("sensitive.lem11")
logits, at_zero = map(ledger.result, ("sensitive.rem10.logits", "sensitive.rem10.or"))


def printed_bound(n, delta):
    return (8 + 32 * delta) * math.log(n) + 10


def limit(n):
    """The largest mean of a row of n bits."""
    return 4 - 2.0 ** (3 - n)


def flat_sums(n, gap):
    """The sum of a row without scores, at an input with k ones, k = 0 to n."""
    bits = (torch.arange(n) < torch.arange(n + 1)[:, None]).long()
    return summed_influence(torch.zeros(n).double(), f64([gap]), bits)


def undivided(n):
    """The sum of OR's head if its exponentials are not divided by their sum; at 0^n, as anywhere."""
    scores = math.log(n) * (2 * torch.eye(n + 1, n).double() - 1)  # after each flip, and before
    return (scores[:n].exp() - scores[n].exp()).abs().sum().item()


or_sums = flat_sums(n_or, 2 * math.log(n_or))  # of the head that computes OR
glue(n_max=n_max, n_or=n_or, n_far=n_far)

# %%
by_hand = {"sum over three flips": flat_sums(3, 80.0).tolist(), "inputs": [1, 3, 3, 1]}
by_hand = pd.DataFrame(by_hand).rename_axis("ones")
table(by_hand, "Three bits, ones win by a gap of 80", form=".4f")

# %% [markdown]
# ## The statement
#
# The input is $x \in \{0, 1\}^n$, uniform at random, and $x^{\oplus q}$ is $x$ with bit $q$ flipped. The *influence* of bit $q$ on a vector $v(x)$ is $I_q[v](x) = \|v(x) - v(x^{\oplus q})\|_2$. The first layer reads a token at each position, $y_j = e(x_j) + p_j$, with an embedding $e$ of the bit and an encoding $p_j$ of the position. Each of its $H$ heads has two matrices $K$ and $Q$. The query at position $i$ gives position $j$ the *score* $a_{ij} = (K y_j)^\top (Q y_i)$ and the *weight*
#
# $$\hat a_{ij} = \frac{e^{a_{ij}}}{\sum_w e^{a_{iw}}} .$$
#
# (Section 2 of the paper prints the denominator without the exponential; the proof of the lemma has it.)
#
# ```{prf:lemma} Hahn and Rofin (2024), Lemma 11
# :label: sensitive-lem11
# For $\delta > 0$, with probability at least $1 - H n^{2 - \delta}$ over $x$, for all queries $i$ and all heads
#
# $$\sum_{q=1}^n \sum_{j=1}^n I_q[\hat a_{ij}] \le (8 + 32 \delta) \log n + 10 .$$
# ```
#
# The inner sum is what one flip changes in the row, and the outer sum runs over all flips. The probability is useful for $\delta > 2$, when it tends to 1 as $n$ grows.
#
# **One query.** The weights of one query $i$ form a *row* of attention. At first we leave out the query's own bit, which also changes the query: either it is held fixed and only the other bits are flipped, or, as in the example, the query does not depend on any bit and all $n$ bits are flipped. In both cases the score of a position $j$ whose bit is flipped depends on $x_j$ alone: it is $s_j$ for a zero and $s_j + g$ for a one. The *gap* $g$ is the same at every $j$, and we may assume that it is not negative, since otherwise we can exchange the names of the bits. So ones are preferred, and a row is given by its scores $s$ and its gap. For each input its sum over all flips can then be computed.
#
# The lemma is about every row, so we try six rows of very different shape, each with a large gap, so that ones win over zeros of a similar score. One is flat, that is, all its scores are equal. The others have scores that fall along the string, slowly or fast, or that are drawn at random. The last, called *first one*, has scores that fall so steeply that the first 1 in the string gets all the attention.
#
# For each row we compute the sum at random inputs of up to {glue:text}`n_far` bits. The figure shows how often the sum is at least $t$, with the printed bound and a smaller one of ours as vertical lines. If the sums were beyond a line more often than the stated probability allows, the bound at this line would be refuted.


# %%
def families(n):
    j, moderate, far = torch.arange(n).double(), 2 * math.log(n), 1e7
    return {
        "flat": (0 * j, moderate),
        "Zipf": (-(j + 1).log(), moderate),
        "geometric 0.9": (j * math.log(0.9), far),
        "geometric 0.5": (j * math.log(0.5), far),
        "lognormal": (5 * rng.normal(n), moderate),
        "first one": (-1e3 * j, far),
    }


lengths, sampled = sorted({16, 64, 256, n_far}), {}
for n in lengths:
    bits = torch.randint(0, 2, (inputs, n), generator=rng.generator)
    for name, (scores, gap) in families(n).items():
        sampled[name, n] = summed_influence(scores, f64([gap]), bits)
names = list(dict.fromkeys(name for name, _ in sampled))
printed, ours = printed_bound(n_far, delta), tail_bound(n_far, delta)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Share of random inputs on which the summed influence is at least $t$, at the largest length; grey: $2^{1-t/2}$; vertical lines: our bound and the printed one.", "name": "fig-influence-mean"}, "image": {"alt": "A log-log plot of survival curves: all start at one, at sums between 2 and 4, cross near 4 and fall, the flat row at once, the first-one row along a bent grey line up to about twenty; the vertical line of our bound stands near ninety and the printed one near seven hundred."}} tags=["hide-input"]
fig, ax = figures.new(height=3.3)
share = (inputs - torch.arange(inputs)) / inputs
for k, name in enumerate(names):
    values = sampled[name, n_far].sort().values.clamp(min=1)
    ax.plot(values, share, **figures.series_style(k, label=name, markevery=0.17))
t = torch.linspace(2, 2 * math.log2(inputs), 40)
ax.plot(t, 2 ** (1 - t / 2), color=figures.GREY, marker="", linestyle="-", linewidth=0.8)
for value, text in ((ours, "ours"), (printed, "printed")):
    ax.axvline(value - 2, color="black", linestyle=":", linewidth=1.2)
    place = {"rotation": 90, "va": "top", "ha": "right", "fontsize": 8}
    ax.text(value - 2, 0.9, f"{text} ", **place)
ax.set(xscale="log", yscale="log", xlim=(1, 1500), xlabel="sum $t$")
ax.set(ylabel="share of inputs at or above $t$")
ax.legend(loc="lower right", fontsize=7, frameon=True, framealpha=1, edgecolor="white")
figures.show()

# %% [markdown]
# In {numref}`fig-influence-mean` the curves of all rows start at sums between 2 and 4, cross near 4, and then fall. The curve of the flat row falls at once, and that of *first one* most slowly, along the grey line, which is, at even $t$, the probability that *first one* has a sum of at least $t$ (computed below). No sum comes near the printed bound. As the table further down shows, the six rows have nearly the same mean, although their sums vary in very different ways. This raises two questions: why is the mean always about 4, and how much smaller can the bound be?
#
# ## In the mean: an identity
#
# The first question has an exact answer. Let $M_+(x)$ be the attention of a row on ones and $M_-(x)$ that on zeros, so that both together are 1.
#
# ```{prf:theorem} The mean has no logarithm (ours)
# :label: influence-mean
# For every row of the first layer, all scores, every gap $g \ge 0$, and uniform random $x \in \{0,1\}^n$,
#
# $$\mathbb E_x \sum_q \sum_j I_q[\hat a_j] = 4\, \mathbb E_x [M_+ - M_-] \le 4 - 2^{3-n} .$$
#
# The limit $4 - 2^{3-n}$ is approached as $g \to \infty$, for all scores. If the query's own bit counts too, the mean is at most 6.
# ```
#
# In the example $M_+ - M_-$ is $-1$ at the string of zeros and 1 at the other seven inputs. Its mean is $\frac34$, and four times the mean is 3, as we found.
#
# **The idea of the proof.** A flip of bit $q$ moves attention from position $q$ to all others or back, so the change is twice what $q$ gains or loses. What $q$ gains is the difference of two weights: that of $q$ if its bit is 1 and that of $q$ if its bit is 0. Since half of all inputs have $x_q = 1$, on average over inputs the first weight is twice the contribution of $q$ to $M_+$, and in the same way the second is twice its contribution to $M_-$.
#
# **Proof of the identity.** Let $\hat a_q^b$ be the weight of $q$ when $x_q$ is set to $b$.
#
# 1. Flipping $q$ multiplies all other weights by one common factor, so together they lose what $q$ gains, and hence $\sum_j I_q[\hat a_j] = 2 (\hat a_q^1 - \hat a_q^0)$.
# 2. The weight $\hat a_q^b$ does not depend on $x_q$, which is $b$ with probability $\frac12$, and therefore $\mathbb E\, \hat a_q^b = 2\, \mathbb E[\hat a_q \mathbf 1[x_q = b]]$.
# 3. If we sum over $q$, the right side of step 2 becomes $2\, \mathbb E\, M_+$ for $b = 1$ and $2\, \mathbb E\, M_-$ for $b = 0$. With the 2 of step 1 this is $4\, \mathbb E [M_+ - M_-]$.
#
# **Proof of the limit.** How large can the mean of $M_+ - M_-$ be?
#
# 1. At $x = 0$ there are no ones, and $M_+ - M_- = -1$, and at all other inputs it is at most 1, so that $\mathbb E[M_+ - M_-] \le 1 - 2 \cdot 2^{-n}$. As $g \to \infty$ every row puts all its attention on ones if there are any, so that the bound is approached.
# 2. Suppose that the query's own bit is held fixed. Its position takes attention away from ones and zeros, and only $n - 1$ bits are flipped. At the one string without ones among these bits $M_+ - M_- \le 0$, and at the others it is at most 1. Therefore $\mathbb E[M_+ - M_-] \le 1 - 2^{1-n}$, with the same limit as before. It is approached if the fixed position has a score between those of zeros and ones.
# 3. Finally, let the query's own bit count too. It chooses between two rows as in step 2, and flipping it moves a row by at most 2, so the mean is at most 6. $\square$
#
# The proof does not use that the gap is the same everywhere. It only needs that the score of a position depends on no other bit. So we test the identity on rows with one gap and with many, of either sign, and compute the left side without the identity, from all inputs and all flips. A difference between the two sides beyond rounding would refute it.


# %%
def random_row(n):
    """Flat, moderate or steep scores; one gap, or one for each position."""
    scores = rng.normal(n) * (0.0, 1.0, 4.0)[rng.whole(0, 2)]
    return scores, f64([rng.uniform(-15, 15) for _ in range((1, n)[rng.whole(0, 1)])])


def both_sides(scores, gap):
    """The mean of the sum, flip by flip, and that of M_+ - M_- where ones, or zeros, win."""
    x = cube.bits(len(scores))
    rows = (scores + gap * x).softmax(-1)
    mean = bit_influences(rows[..., None]).sum(-1).mean(-1).sum()
    return mean.item(), (rows * (2 * x - 1) * gap.sign()).sum(-1).mean().item()


# %%
rows = []
for _ in range(instances):
    mean, preference = both_sides(*random_row(rng.whole(2, n_max)))
    rows.append((abs(mean - 4 * preference), abs(mean - 2 * (1 + preference))))
error, without = pd.DataFrame(rows).max()
errors = {"$4 E[M_+ - M_-]$": error, "$4 E[M_+]$": without}
caption = f"Mean of {instances} random rows of 2 to {n_max} bits: largest distance from"
table(errors, caption, form=".6f", tiny=1e-11)
lem11.holds(
    f"{instances} rows: largest distance of the mean sum of influences from "
    "$4\\,\\mathbb{E}[M_+ - M_-]$; control: without $M_-$",
    error,
    at_most=0,
    tol=1e-13 * n_max**2,
    control=without,
    about="ours",
    evidence="proved",
)

# %% [markdown]
# The two sides agree to rounding, and without $M_-$ they would not. Can a row exceed the limit? To find out, we change all scores and all gaps by gradient ascent so as to increase the exact mean. The ascent ends just below the limit at every length that we tried. It is important that the inputs are uniform: if ones have the probability 0.1, a flat row of {glue:text}`n_max` bits has a mean of {glue:text}`biased:.2f`.


# %% mystnb={"code_prompt_hide": "A search against the limits", "code_prompt_show": "A search against the limits"} tags=["hide-cell"]
def climb(n, steps=300, starts=6):
    """The largest mean of a row after gradient ascent over scores and gaps, from random starts."""
    scores, gap = (rng.normal(starts, 1, n).requires_grad_() for _ in range(2))
    ascent = torch.optim.Adam([scores, gap], lr=0.15, betas=(0.9, 0.95), eps=1e-30, maximize=True)
    for _ in range(steps):
        means = summed_influence(scores, gap, cube.bits(n)).mean(-1)
        ascent.zero_grad()
        means.sum().backward()
        ascent.step()
    return means.max().item()


climbed = pd.DataFrame({"n": n, "limit": limit(n), "found": climb(n)} for n in (2, 3, 5, 7))
table(climbed, "Largest mean that an ascent over scores and gaps finds", form=".6f")
bits, ones = cube.bits(n_max), cube.bits(n_max).sum(-1)
flat = summed_influence(torch.zeros(n_max).double(), f64([20.0]), bits)
biased = (flat * 0.1**ones * 0.9 ** (n_max - ones)).sum().item()
lem11.holds(
    "largest ratio of the mean sum of influences to its limit $4 - 2^{3-n}$ that gradient "
    "ascent finds; control: a softmax without its division",
    (climbed["found"] / climbed["limit"]).max(),
    at_most=1,
    tol=1e-12,
    control=undivided(n_max) / limit(n_max),
    about="ours",
    evidence="proved",
)
steep_gap = summed_influence(rng.normal(n_max), f64([80.0]), bits).mean().item()
lem11.holds(
    "the limit is approached: ratio of the mean sum of influences to it for normal scores "
    f"with gap 80, $n = {n_max}$; control: ratio to 4, as if the string of zeros did not "
    "count",
    steep_gap / limit(n_max),
    equals=1,
    tol=1e-9,
    control=steep_gap / 4,
    about="ours",
    evidence="attained",
)
free = cube.bits(n_max - 1)  # the query's own bit is held fixed; its score lies between the others
held = torch.cat((80.0 * free, torch.full((len(free), 1), 40.0)), -1).double().softmax(-1)
held_mean = bit_influences(held[..., None]).sum(-1).mean(-1).sum().item()
lem11.holds(
    f"own bit held fixed, $n = {n_max}$: ratio of the mean sum of influences to $4 - "
    "2^{3-n}$; control: to the limit of $n - 1$ positions, as if the fixed one had no "
    "weight",
    held_mean / limit(n_max),
    at_most=1,
    tol=1e-12,
    control=held_mean / limit(n_max - 1),
    about="ours",
    evidence="proved",
)
glue(biased=biased, climbed=climbed["found"].iloc[2], climb_n=5, climb_limit=limit(5))

# %% [markdown]
# **The query's own bit.** So far the query's own bit did not change the query. If the query depends on this bit, then the bit chooses between two rows, and we have allowed 2 for this. To see whether 6 can be reached, we design a pair of rows that attends to ones among half of the other positions if the own bit is 0, and to ones among the other half if it is 1.

# %%
half, n_pair = 5, 11
sides = torch.full((2, n_pair), -200.0, dtype=torch.float64)
sides[0, :half] = sides[1, half:-1] = 0
bits = cube.bits(n_pair)
pair = (sides[bits[:, -1]] + 80.0 * bits * (torch.arange(n_pair) < n_pair - 1)).softmax(-1)
by_bit = bit_influences(pair[..., None]).sum(-1).mean(-1)
sums = {"the other bits": by_bit[:-1].sum().item(), "all bits": by_bit.sum().item()}
table(sums, f"Mean of the sum for the pair of rows, {n_pair} bits", form=".4f")
parity = cube.parity(8)
reads_parity = bit_influences(torch.stack((1 + parity, 1 - parity), -1)[..., None] / 2).sum(-1)
lem11.holds(
    "with the query's own bit: mean sum of influences on the pair of rows, against 6; "
    "control: a layer that reads PARITY",
    sums["all bits"],
    at_most=6,
    control=reads_parity.mean(-1).sum(),
    about="ours",
    evidence="proved",
)
glue(pair=sums["all bits"])

# %% [markdown]
# The pair reaches {glue:text}`pair:.3f`, and with longer halves its mean tends to 6, so the constant 6 cannot be lowered.
#
# ## With high probability: where the logarithm comes from
#
# A mean of 4 does not exclude large sums at rare inputs. The row *first one*, for example, puts all its attention on the first one, at position $J$. A flip before $J$ draws all the attention to the flipped bit, a flip at $J$ moves it to the next 1, and no other flip has an effect. Each of these $J$ flips counts 2, so the sum is $2J$. It is at least $2m$ if the first $m - 1$ bits are zeros, which has probability $2^{1-m}$. (This is the grey line of {numref}`fig-influence-mean`, with $t = 2m$.)
#
# If we put $m = c \log_2 n$ with a number $c$, this probability is about $n^{-c}$. So a bound that fails with probability $n^{-c}$ must be about $2m = 2 c \log_2 n$ or more. In natural logarithms, which the lemma uses, this is about $2.9\, c \log n$. Therefore *some* logarithm is needed, but its factor can be much smaller than printed:
#
# ```{prf:theorem} A smaller factor (ours)
# :label: influence-tail
# In {prf:ref}`sensitive-lem11`, with the same probability, the sum is at most $4 \delta \log n + 9$.
# ```
#
# **The idea of the proof.** The example of *first one* is nearly the worst case. If the positions are ordered by their scores, a position with $r$ ones before it has a weight of at most $1/(1 + r)$, so the sum is largest if ones come late. It follows that the sum is at most twice a weighted sum of the distances between ones, with the weights $1, \frac12, \frac13, \dots$ These distances are independent, and each is 2 in the mean. So such a weighted sum is of order $\log n$ except with a small probability.
#
# ```{dropdown} Proof of the smaller factor
# We first bound the sum by the distances between ones (steps 1 and 2), then an exponential moment of these distances (steps 3 and 4), and conclude by Markov's inequality (step 5).
#
# **Step 1: weights.** Order the positions other than the query's by their scores $s$, largest first, and let $r_q$ be the number of ones before $q$. Each of these ones has at least the weight that $q$ has with $x_q = 1$, and therefore $\hat a_q^1 \le 1/(1 + r_q)$.
#
# **Step 2: distances.** Let $\ell_k$ be the number of positions with $r_q = k$. It is at most the distance between two ones in a sequence of fair bits. These distances are independent, and each is $m$ with probability $2^{-m}$. As in the proof above, the sum is $2 \sum_q (\hat a_q^1 - \hat a_q^0)$, so it is at most $2Z$ with $Z = \sum_{k<n} \ell_k / (k+1)$.
#
# **Step 3: an exponential moment.** A distance $\ell$ has $\mathbb E\, e^{u \ell} = \sum_m 2^{-m} e^{um} = e^u / (2 - e^u)$ for $u < \log 2$, and for $u_k = \frac{1}{2(k+1)}$ the independence gives
#
# $$\mathbb E\, e^{Z/2} \le \prod_{k<n} \frac{e^{u_k}}{2 - e^{u_k}} = \exp \Bigl( \sum_k 2 u_k + \sum_k f(u_k) \Bigr), \qquad f(u) = -u - \log(2 - e^u) .$$
#
# **Step 4: the two sums.** The first sum, $\sum_{k<n} \frac1{k+1}$, is at most $1 + \log n$, and the second is below $0.75$. To see this, note that $f$ has a power series with positive coefficients from $u^2$ on, so that $f(u)/u^2$ grows with $u$, and the sum is at most $f(\frac12) + f(\frac14) + 36 f(\frac16) \sum_{k \ge 2} u_k^2 < 0.5462 + 0.0842 + 0.1189$. Both sums together give $\mathbb E\, e^{Z/2} \le n\, e^{1.75}$.
#
# **Step 5: conclusion.** By Markov's inequality $\Pr[Z > t] \le n\, e^{1.75 - t/2}$, and with $t = 2 (1 + \delta') \log n + 3.5$ this says that the sum, at most $2Z$, exceeds $4 (1 + \delta') \log n + 7$ with probability at most $n^{-\delta'}$. Now take $\delta' = \delta - 1$, add up the probabilities over $n$ queries and $H$ heads, and add 2 to the bound for the query's own bit. $\square$
# ```
#
# As $4 \delta \log n + 9$ is smaller than the printed bound, this proves Lemma 11 again. The table lists the sums of the six rows, and we compare the largest of them with both bounds.

# %%
rows = []
for name in names:
    mean = {f"mean, n = {n}": f"{average(sampled[name, n]):.2f}" for n in (lengths[0], n_far)}
    largest = max(sampled[name, n].max().item() for n in lengths)
    rows.append({"row": name} | mean | {"largest, all lengths": largest})
caption = (
    f"Sums over {inputs} random inputs, without the query's own bit; means with 95 % intervals"
)
table(pd.DataFrame(rows), caption, form=".2f")
bounds = {"printed": printed_bound, "ours": tail_bound}
over = {
    name: max((sums.max().item() + 2) / bound(n, delta) for (_, n), sums in sampled.items())
    for name, bound in bounds.items()
}

# %% mystnb={"code_prompt_hide": "Checks of both bounds", "code_prompt_show": "Checks of both bounds"} tags=["hide-cell"]
for name, about, the in (("printed", "statement", "the printed"), ("ours", "ours", "our")):
    lem11.holds(
        f"largest ratio of a sum of influences to {the} bound, for $\\delta = {delta:g}$ and "
        f"{len(sampled) * inputs} sums; control: OR's softmax without its division",
        over[name],
        at_most=1,
        control=undivided(n_or) / bounds[name](n_or, delta),
        about=about,
        evidence="proved",
    )
steep, m = -1e3 * torch.arange(n_max).double(), torch.arange(2, n_max)
order = summed_influence(steep, f64([1e7]), cube.bits(n_max))
chance = (order[:, None] >= 2 * m - 1e-9).double().mean(0)
lem11.holds(
    'a logarithm is needed: largest distance of the chance that "first one" has a sum of '
    "$2m$ from $2^{1-m}$; control: from $2^{-m}$, as without the flip at the first one",
    (chance - 2.0 ** (1 - m)).abs().max(),
    at_most=0,
    tol=1e-12,
    control=(chance - 2.0**-m).abs().max(),
    about="ours",
    evidence="proved",
)
independent = len(lengths) * inputs  # the rows of one length share their inputs
glue(total=len(sampled) * inputs, none_above=100 * upper_limit(0, independent))
glue(independent=independent)
glue(over_printed=over["printed"], over_ours=over["ours"])
glue(slope_needed=2 / math.log(2))

# %% [markdown]
# None of {glue:text}`total` sums exceeds either bound. With 2 added for the query's own bit, the largest is {glue:text}`over_printed:.3f` of the printed bound and {glue:text}`over_ours:.2f` of ours. How much does this say? The rows of one length share their inputs, so there are only {glue:text}`independent` independent inputs, and at none of them does a row exceed a bound. Consider the share of inputs at which any of these rows exceeds a bound, averaged over the lengths. At 95 % confidence this share is less than {glue:text}`none_above:.3f` %. A sample cannot test probabilities as small as $n^{-2}$, however, and for those we have only the proof.
#
# ## The input at which the bound fails
#
# No such bound holds at every input, as Remark 12 of the paper says. Take the head that computes OR, with the score $\log n$ on ones and $-\log n$ on zeros. It is a flat row, with the gap $2 \log n$. (Its scores do not depend on the query, so the query's own bit counts like any other bit, and nothing has to be added for it.) At $x = 0^n$ the attention is uniform, and a flip of bit $q$ draws it to $q$, with weight $1/(1 + \frac1n - \frac1{n^2}) \ge 1 - \frac1n$. So every flip moves nearly all of the attention to another place: position $q$ gains at least $1 - \frac2n$, and the others lose as much. The remark counts the gains alone and says that the sum is at least $n - 2$; with the losses it is at least $2 (n - 2)$. The table shows the sum at this input, and at inputs with more ones.

# %%
or_bound, counts = printed_bound(n_or, delta), [0, 1, 2, 4, 16, n_or // 2]
column = {"ones in the input": counts, "sum": or_sums[counts]}
table(column, f"The head of OR, n = {n_or}; the printed bound is {or_bound:.1f}", form=".3f")
at_zero.holds(
    "Remark 12: ratio of the sum of influences of OR at $0^n$ to the printed bound, $n = "
    f"{n_or}$; control: scores of $\\log 2$ in place of $\\log n$",
    or_sums[0].item() / or_bound,
    at_least=1,
    control=flat_sums(n_or, 2 * math.log(2))[0].item() / or_bound,
    about="statement",
    evidence="attained",
)


def at_no_ones(n, score):
    """The sum at 0^n over n - 2, if ones have this score and zeros minus it."""
    zeros = torch.zeros(n, dtype=torch.int64)
    return summed_influence(zeros.double(), f64([2 * score]), zeros).item() / (n - 2)


at_zero.holds(
    "Remark 12: least ratio of the sum of influences of OR at $0^n$ to $n - 2$, for $n = 3$"
    f" to {n_or}; control: scores of $\\log 2$ in place of $\\log n$",
    min(at_no_ones(n, math.log(n)) for n in range(3, n_or + 1)),
    at_least=1,
    control=min(at_no_ones(n, math.log(2)) for n in range(3, n_or + 1)),
    about="statement",
    evidence="attained",
)
above = sum(math.comb(n_or, k) for k in range(n_or + 1) if or_sums[k] > or_bound)
glue(or_chance=math.log10(above) - n_or * math.log10(2), or_allowed=(2 - delta) * math.log10(n_or))
glue(or_sum=or_sums[0], or_bound=or_bound)

# %% [markdown]
# At $n =$ {glue:text}`n_or` the sum at $0^n$ is {glue:text}`or_sum:.1f`, which is above the bound of {glue:text}`or_bound:.1f`. This does not contradict the lemma, which allows exceptions. Inputs whose sum exceeds the bound have the probability $10^{z}$ with $z =$ {glue:text}`or_chance:.1f`, and the lemma allows $z =$ {glue:text}`or_allowed:.1f`.
#
# **A bound through the scores would not be enough.** A softmax is Lipschitz, so the change of the weights is bounded by that of the scores. But summed over bits this bound is useless, as Remark 10 says. For example, if $a_w = x_w$, each flip changes one score by 1, and the sum of the largest changes, $\sum_q \max_w I_q[a_w]$, is $n$ at every input. The weights change far less, since each score is only one of $n$. We compute both sums.

# %%
n = 8
scores = bit_influences(cube.bits(n).double()[..., None]).amax(-1).sum(0)
weights = flat_sums(n_or, 1.0).max().item()
sums = {f"scores, n = {n}": scores.max().item(), f"weights, n = {n_or}": weights}
table(sums, "Sum over all flips where $a_w = x_w$, largest over inputs", form=".4f")
logits.holds(
    "Remark 10: least $\\frac1n \\sum_q \\max_w I_q[a_w]$ of the logits $a_w = x_w$; "
    f"control: the attention weights in place of the logits, $n = {n_or}$",
    scores.min() / n,
    equals=1,
    tol=1e-12,
    control=weights / n_or,
    about="statement",
    evidence="attained",
)

# %% [markdown]
# ## What we found
#
# * {prf:ref}`sensitive-lem11` holds, also with $4 \delta \log n + 9$ in place of its bound. A bound that is a multiple of $c \log n$ and fails with probability at most $n^{-c}$ must have a factor of at least {glue:text}`slope_needed:.2f`.
# * In the mean over inputs there is no logarithm: the sum is at most 4, or 6 with the query's own bit, and neither constant can be lowered. This also holds for scores that grow with the length, such as $\log n$ times fixed ones. So in the first layer such scores do not help to compute a sensitive function; what this means for the output is in {ref}`ch-influence-at-output`.
# * Remarks 10 and 12 are right: no such bound can be proved through the scores, and none holds at every input. Remark 14 is about later layers, and {ref}`ch-influence-by-layer` shows that it is true.
#
# ## What would falsify this
#
# One row whose mean exceeds $4 - 2^{3-n}$, drawn at random or found by the ascent, would refute {prf:ref}`influence-mean`. Its controls leave $M_-$ out of the identity, and the division out of the softmax. Sums above the bound more often than the stated probability allows would refute {prf:ref}`sensitive-lem11` and {prf:ref}`influence-tail`. There too the control is a head whose exponentials are not divided by their sum, so that each bit changes its own weight only and no other weight has to decrease.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness`, of which we read `src/model.py` and `src/measurements.py`, contains no number that could be compared with ours. Its model is PyTorch's `TransformerEncoder`, and attention weights are not recorded. The code concatenates the embeddings of bit and position, half of the columns each, where the paper adds them, but the proof of Lemma 11 covers both.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-influence-gap
#
# *By hand.* A head takes the mean of all tokens, with equal scores. What is the summed influence on its row? Which gap $g$ gives half of the largest possible mean when $n$ is large and the scores are flat?
# ```
#
# ```{solution} ex-influence-gap
# :class: dropdown
#
# With equal scores the gap is 0, so no weight moves, and the sum is 0. For large $n$ half of the bits are ones, so $M_+ - M_-$ tends to $(e^g - 1) / (e^g + 1) = \tanh(g / 2)$. The mean is half of 4 if $\tanh(g/2) = \frac12$, which is $g = \log 3$.
# ```
#
# ```{exercise}
# :label: ex-influence-biased
#
# *With the computer.* The constant 4 is about fair bits. Let each bit be 1 with probability $p$, and let $g \to \infty$ with flat scores. Find the mean of the sum for large $n$ by hand, and compare with its exact value for $p = 0.5$, 0.2 and 0.05 at $n = 10$, 100 and 1000. Which assumption of the proof is violated? For longer strings of fair bits run `python -m bookkit.run sensitive/attention_influence -p n_far 2048 --out my_run`.
# ```
#
# ```{solution-start} ex-influence-biased
# :class: dropdown
# ```
#
# With $k$ ones each one has the weight $1/k$, and each zero would have $1/(k+1)$ if it were flipped. So the sum is about $2 (k/k + (n-k)/k) = 2n/k$, and the mean tends to $2/p$, which is 4 at $p = \frac12$.

# %%
rows = {}
for p in (0.5, 0.2, 0.05):
    for m in (10, 100, 1000):
        ones = torch.arange(m + 1)
        chance = torch.distributions.Binomial(m, f64(p)).log_prob(ones.double()).exp()
        rows[p, m] = {"mean": (chance @ flat_sums(m, 60.0)).item(), "2/p": 2 / p}
answer = pd.DataFrame(rows).T.rename_axis(["p", "n"])
table(answer, "Mean of the sum, ones with probability p", form=".2f")

# %% [markdown]
# At 1000 bits the means are close to $2/p$, and at 10 bits they are smaller if $p$ is small, because then many strings have no ones at all. The proof uses that $x_q$ is 0 or 1 with the same probability, where it writes $\mathbb E\, \hat a_q^b = 2\, \mathbb E[\hat a_q \mathbf 1[x_q = b]]$. If ones are rare, nearly all flips turn a zero into a one, and each of them draws much attention, because there are few other ones to share it.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-influence-causal
#
# *To think about.* In a decoder the query at position $i$ attends only to the positions up to $i$. Do the bounds 4 and 6 still hold? What remains of the common argument that attention dilutes the effect of one bit by a factor of $\frac1n$?
# ```
#
# ```{solution} ex-influence-causal
# :class: dropdown
#
# Both bounds hold, since a row of query $i$ is a row of the theorem on $i$ bits, and flips of later bits do not change it. So all bits together change it by at most 6 in the mean, whatever $i$ is. But at an early position the sum is shared by few bits. On average each of the first $i$ bits can have an influence of nearly $4/i$ instead of $4/n$, so at early tokens the effect of a bit is not diluted. A bound on what the last token reads from them in the next layer must take this into account. The paper leaves decoders open.
# ```

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas, their proofs and the remarks are in Appendix B of {cite:t}`sensitive`.
