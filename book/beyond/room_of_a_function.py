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
# (ch-room-of-a-function)=
# # How much room a function has
#
# ```{verdict}
# Yes, for a small one-layer transformer with random weights between $-2$ and 2, the share of networks that compute a function of $n$ bits exactly depends on $n$ as Zhu and Chiang state. At 65 bits about one in {glue:text}`first_guesses:.0f` networks computes FIRST, the first bit, one in {glue:text}`majority_guesses:.0f` MAJORITY, the more frequent bit, and one in {glue:text}`index_millions:.0f` million INDEX, the bit at a place that the input names. The share of FIRST does not decrease with $n$, that of MAJORITY decreases like $1/(n \log n)$ and that of INDEX like $n^{-3}$. From a known length on, no weights compute PARITY.
# ```
# **Needs** {ref}`ch-from-gaussians-to-occam`. **Read** 24 min. **Runs in** 22 s. **Source** ours; the orders and the model are those of {cite:t}`zhuchiang2026`, of which the main text and the proofs of Theorem 1 were read. Sensitivity profiles are a notion of {cite:t}`kover2026`, of which the abstract, the beginning of the introduction and a third party's reading note were read.
#
# **Claim.** Draw all weights of a one-layer transformer uniformly between $-B$ and $B$, and ask how often the network is right on every string of $n$ bits. Zhu and Chiang prove the order of this share for four functions. We measure the share at lengths from 3 to 129 and then treat four topics, of which the last three hardly depend on each other:
#
# 1. *The size of the share.* We find the constants that belong to the orders. The length at which PARITY becomes impossible is exact for three or more hidden units.
# 2. *Where the orders begin.* With the constants one can say from which length on the orders describe a network. The answer depends on the size of the weights.
# 3. *The price.* Minus the logarithm of the share is a price, which a bound that counts networks has to pay for the function.
# 4. *Random transformers.* We compare the shares with the sensitivity profiles of random transformers, about which Kövér and others have a theorem.

# %% tags=["parameters"]
hidden = 8  # units of the MLP, as in the experiments of Zhu and Chiang [3..12]
bound = 2.0  # B, the largest weight [1.5..3.0]
longest = 129  # bits of the longest strings; one more than a multiple of 32 [65..129]
draws = 60000  # of the weights of attention at each length [50000..200000]
nets = 40  # random transformers of each kind, whose profiles are computed [40..160]
seed = 0  # of all weights [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import statistics
from helpers.nets.spec import shapes
from helpers.nets.transformer import initial_weights
from helpers.rng import Rng, f64
from helpers.weights import ensemble_of
from papers.beyond import profiles, volumes
from papers.sensitive.random_nets import DRAWS, drawn
from papers.sharper import rivals

if longest % 32 != 1:
    raise ValueError(f"longest must be one more than a multiple of 32, got {longest}")
ledger, source = Ledger("beyond/room_of_a_function"), Rng(seed)
room, profile = ledger.result("beyond.room"), ledger.result("beyond.profile")
generator = source.generator

# %% [markdown]
# ## Why one should care
#
# That a transformer *can* compute a function says little, because a single setting of the weights is enough for this. Whether training finds such a setting depends, among other things, on how many there are. We call the share of such settings among all weights the *room* of the function.
#
# How is the room related to what else is known? Hahn and Rofin explain by average sensitivity why PARITY is hard and FIRST is easy ({ref}`ch-average-sensitivity`), and {ref}`ch-random-initialization` finds the same order among networks with random weights. The room is a simpler quantity, because it needs neither training nor a notion of sensitivity. It also has a meaning in learning theory, for a learner that draws networks until one fits the sample. In a bound on the error of this learner, the term for the complexity of the network is at most minus the logarithm of the room. So one number connects what a transformer prefers with what a guarantee costs.
#
# ## Three bits and a vote
#
# In the simplest model the bits have no positions, so attention can only distinguish ones from zeros. Suppose that each bit 1 is weighted with the factor $\Gamma$ and each bit 0 with the factor 1. Then $t$ ones among $n$ bits together receive the share
#
# $$p_t = \frac{t\,\Gamma}{n - t + t\,\Gamma}$$
#
# of the attention. The rest of the network sees nothing but $p_t$. To compute MAJORITY of three bits it has to distinguish strings with a single one from strings with two ones. So everything depends on the gap between $p_1$ and $p_2$:
#
# | factor $\Gamma$ | $p_1$ | $p_2$ | gap | $\log \frac{p_1}{1 - p_1}$ | $\log \frac{p_2}{1 - p_2}$ | difference |
# |:--|:--|:--|:--|:--|:--|:--|
# | $1$ | $\frac13$ | $\frac23$ | $0.333$ | $-\log 2$ | $\log 2$ | $2 \log 2$ |
# | $2$ | $\frac12$ | $\frac45$ | $0.300$ | $0$ | $\log 4$ | $2 \log 2$ |
# | $10$ | $\frac56$ | $\frac{20}{21}$ | $0.119$ | $\log 5$ | $\log 20$ | $2 \log 2$ |
#
# A network whose output rises with $p$ computes MAJORITY if its threshold lies in the gap. With equal factors $p_t = t/n$, so the gap is $\frac13$ here, and $\frac1n$ for $n$ bits. If ones and zeros are weighted differently, the gap becomes smaller. But on the scale of the *logit* $\log \frac p{1 - p}$ the gap has the same width for every factor, as the last column shows. The reason is that the logit of $p_t$ is $\log \frac t{n - t} + \log \Gamma$, so the factor only adds a constant to all logits. The proof below rests on this observation.
#
# {numref}`fig-room-counts` shows the $p_t$ of nine bits for three factors. In the first row ones and zeros count alike, so the dots are equally spaced. In the other two rows the dots crowd towards one end, and the thick gap is narrower.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "What the rest of the network sees of nine bits: the attention $p_t$ that $t = 0, \\dots, 9$ ones get together, for three factors $\\Gamma$. Thick: the gap between four and five ones, in which the threshold of MAJORITY must lie.", "name": "fig-room-counts"}, "image": {"alt": "Three rows of ten dots between 0 and 1. For the factor 1 the dots are equally spaced and the gap between the fifth and the sixth is one ninth, at one half. For the factor 4 the dots crowd towards 1, for the factor one twentieth towards 0, and the gap is narrower."}} tags=["hide-input"]
fig, ax = figures.new(height=1.9)
factors = {"$\\Gamma = 1$": 1.0, "$\\Gamma = 4$": 4.0, "$\\Gamma = 1/20$": 0.05}
for i, factor in enumerate(factors.values()):
    p = volumes.attention_of_ones(torch.arange(10), 9, f64([math.log(factor)]), 1.0)[0]
    ax.plot(p, [-i] * 10, linestyle="none", marker="o", color=figures.COLOURS[i])
    ax.plot(p[4:6], [-i, -i], linestyle="-", marker="", linewidth=4, color=figures.COLOURS[i])
ax.set(xlabel="attention $p_t$ of the ones", ylim=(-2.6, 0.6))
ax.set_yticks([0, -1, -2], list(factors))
figures.show()

# %% [markdown]
# ## The model and the theorem
#
# In the example the factor $\Gamma$ was given, whereas in the model of Zhu and Chiang it follows from the weights. The model has one layer and one head, without residual connections and without layer norm.
#
# * *Attention* gives position $j$ the share $\alpha_j \propto n^{g_j}$, where $g_j$ is its score. In other words, the scores are multiplied by $\log n$ before the softmax.
# * *The value* of a position depends on its bit alone.
# * *The scores.* For MAJORITY and PARITY, the functions that count, the score of a position depends on its bit alone. For INDEX, which asks for bit $k$, it depends on positions alone,
#
#   $$g_j = (a k + b)^\top (r j + s j^2),$$
#
#   with vectors $a, b, r, s$ in the plane. FIRST is the same with $k = 1$.
# * *An MLP* with $h$ hidden units reads the average value and has two outputs, of which the larger one is the answer.
#
# All weights are independent and uniform on $[-B, B]$. The room $V(n)$ of a function is then the probability that the network is right on every string of length $n$ and, for INDEX, at every $k$.
#
# ```{prf:theorem} Zhu and Chiang (2026), Theorem 1 and 2
# :label: room-orders
# *(Theirs; not judged here beyond what we compute.)* Fix $B > 0$ and $h \ge 2$, and let $n \to \infty$.
#
# 1. The room of FIRST is $\Theta(1)$.
# 2. The room of MAJORITY with odd $n$ is $\Theta(1/(n \log n))$.
# 3. The room of INDEX is $\Theta(n^{-3})$. If $a k$ is divided by $\sqrt{1 + \|a k\|^2}$ where it is multiplied by $j^2$, the room of INDEX is $\Theta(n^{-1})$.
# 4. The room of PARITY is 0 for $n > h + 1$.
# ```
#
# The theorem gives orders of growth, and we add the constants. To find them we have to know what the MLP sees. Let $v_0$ and $v_1$ be the values of a bit 0 and a bit 1, and let $p$ be the share of attention on the ones. The MLP reads the average value $v_0 + p\,(v_1 - v_0)$. So the difference of its two outputs is a function $f$ of the single number $p$, and the answer is 1 where $f(p) > 0$. We call $f$ the *reader*. It is piecewise linear with at most $h$ kinks. All that the constants need of the MLP are two probabilities, over the random weights of the reader:
#
# * $D$ is the probability that $f(0) < 0 < f(1)$, so that the reader is right if attention is on zeros only or on ones only.
# * $\tau$ is the probability that $f$ is a *step*, which means that it crosses 0 exactly once on $[0, 1]$, and upwards. The place where it crosses is its threshold.
#
# ```{prf:proposition} The constants (ours)
# :label: room-limits
# 1. The room of FIRST tends to $A D$. Here $A$ is the probability that attention ends at the first position, that is, that $q^\top s < 0$ and $q^\top r < -3\, q^\top s$ for the query $q = a + b$.
# 2. $n \log n$ times the room of MAJORITY tends to $\frac{10}{3 B^2}\, \tau$.
# 3. For $h \ge 3$ the room of PARITY is positive if and only if $n \le h + 1$. For $h = 1$ and $h = 2$ it is positive if and only if $n \le h$.
# ```
#
# **The idea of the proof** is another one for each function.
#
# * *FIRST.* The factor $\log n$ makes attention pick one position in the end, and it must be the first.
# * *MAJORITY.* A step computes the function if and only if its threshold lies in the gap of the example above. On the scale of logits this gap is about $4/n$ wide. Its centre is $\log n$ times the difference of two scores, a random number that is spread over an interval whose length is of order $\log n$. So the chance that the threshold lies in the gap is of order $1/(n \log n)$.
# * *PARITY.* One counts kinks: the sign of the reader has to alternate from count to count, so the reader must turn at every count but the first and the last.
#
# ````{dropdown} Proof
# The three parts are proved one after the other: where attention ends, how often a threshold lies in the gap, and how many kinks a reader needs.
#
# **FIRST.** Let $L_1 = q^\top r$ and $L_2 = q^\top s$. The first position beats position $1 + \Delta$ by the score $g_1 - g_{1 + \Delta} = -\Delta\, (L_1 + 2 L_2 + L_2 \Delta)$.
#
# 1. *Attention ends at the first position.* Let $L_2 < 0$ and $L_1 + 3 L_2 < 0$. Since $\Delta \ge 1$, the bracket is at most $L_1 + 3 L_2$, so the difference of the scores is at least $c \Delta$ with $c = -(L_1 + 3 L_2)$. Therefore $1 - \alpha_1 \le \sum_\Delta n^{-c \Delta} \to 0$. In the limit the reader sees $p = 0$ or $p = 1$, so that it is right if and only if $f(0) < 0 < f(1)$.
# 2. *Attention ends elsewhere.* If $L_1 + 3 L_2 > 0$, then $g_2 > g_1$, and if $L_2 > 0$, then $g_n > g_1$ for large $n$. So $\alpha_1 \to 0$ in both cases. But the string of zeros and the string whose only one is at the first place must get different answers, which requires $f(0) < 0 < f(\alpha_1)$. The probability of this over the last bias tends to 0.
# 3. *The limit.* The first case has the probability $A$, and the reader is right in it with probability $D$. Attention and reader are independent, so the room tends to $A D$.
#
# **MAJORITY.** Let $n = 2m + 1$, and let $X$ be the score of a one less that of a zero. Then $\Gamma = n^X$, and the logit of $p_t$ is $\log \frac t{n - t} + X \log n$.
#
# 1. *The gap.* A step with threshold $p^*$, whose logit is $\lambda$, computes MAJORITY if and only if $p_m < p^* < p_{m+1}$. The logits of $p_m$ and $p_{m+1}$ are $X \log n \mp \log \frac{m+1}m$, so the condition is
#
#    $$|\lambda - X \log n| < \log \tfrac{m + 1}m = 2\, \mathrm{artanh} \tfrac1n .$$
#
# 2. *The probability for a given step.* The condition puts $X$ into an interval of length $4\, \mathrm{artanh}(\frac1n) / \log n$ around $\lambda / \log n$. So its probability is this length times a mean of the density $f_X$ of $X$ over the interval. The density is at most $B^{-2}$ (their Lemma 6) and continuous at 0, and the interval shrinks to 0. By dominated convergence $n \log n$ times the probability tends to $4 f_X(0)$.
# 3. *The density at 0.* We write $X = q_1 \Delta_1 + q_2 \Delta_2$, where $q_i$, an entry of the query, is uniform on $[-B, B]$, and $\Delta_i$, the difference of two keys, has the triangular law on $[-2B, 2B]$. By symmetry we may suppose that $|q_1| \ge |q_2|$. Let $\varrho = |q_2| / |q_1|$. Then the density at 0 given $q$ is $\frac1{|q_1|} \cdot \frac1B (\frac12 - \frac\varrho6)$. Here $1/|q_1|$ has the mean $2/B$, and $\varrho$ is independent of it and uniform on $[0, 1]$. So the mean is $f_X(0) = \frac2B \cdot \frac1B \cdot \frac5{12} = \frac5{6 B^2}$, and $4 f_X(0) = \frac{10}{3 B^2}$.
# 4. *A reader that is no step: one crossing in the gap.* To compute MAJORITY such a reader has to be below 0 at the counts up to $m$ and above 0 at the others. So it has an odd number of crossings, at least three, and one of them lies in the gap. For each of its at most $h + 1$ crossings the probability of this is at most a constant over $n \log n$, as above. Moreover, $X \log n$ is then within $\frac4n$ of the logit of this crossing, and hence bounded.
# 5. *A reader that is no step: the other crossings.* They must not show at the counts, so several crossings must lie between the same two neighbouring $p_t$. But the crossings of a given reader are at fixed distances, whereas neighbouring $p_t$ come arbitrarily close as $n$ grows, since $X \log n$ is bounded. So for each reader this is impossible from some $n$ on. By dominated convergence the contribution of all such readers, times $n \log n$, tends to 0.
#
# **PARITY.** That $n \le h + 1$ is necessary is the argument of Zhu and Chiang: $f$ changes its sign $n$ times between the counts, and between two zeros with another sign in between there is a kink.
#
# 1. *The only condition on a reader with given kinks.* Let $s_0, \dots, s_h$ be the slopes of $f$ from left to right and $c_i = s_i - s_{i-1}$ its kinks. A hidden unit is 0 at the left of its kink or at its right. Let $U$ be the set of units that are 0 at the right. At the far left only the units of $U$ are active, and unit $i$ of them has the slope $-c_i$. So $s_0 = -\sum_{i \in U} c_i$, and every choice of slopes and kinks with this property is possible.
# 2. *A reader for $h \ge 3$ and $n = h + 1$.* For $U = \{3\}$ the condition is $s_0 = -(s_3 - s_2)$, that is, $s_3 = s_2 - s_0$. Let the kinks lie at the counts $1, \dots, h$, and let the values at the counts $0, 1, 2, \dots$ be $-1, 4, -1, 1, -2, 1, -1, 1, \dots$, which alternate in sign. The first slopes are in the ratio $5 : -5 : 2 : -3$, so the condition is satisfied.
# 3. *The room is positive.* As all inequalities are strict, weights nearby also compute PARITY. All weights can be made as small as one likes, because a positive factor for each layer changes no sign. For fewer bits the same reader is stretched until the last count lies at 1.
# 4. *Two units and three bits.* For $h = 2$ and $n = 3$ the slopes must have the signs $+, -, +$ or $-, +, -$, say the first, so that $c_1 < 0 < c_2$. Then $U = \emptyset$ gives $s_0 = 0$, $U = \{1, 2\}$ gives $s_2 = 0$, $U = \{1\}$ gives $s_1 = 0$, and $U = \{2\}$ gives $s_0 = -c_2 < 0$. All four contradict the signs.
# 5. *One unit and two bits.* For $h = 1$ and $n = 2$ one of the two slopes is 0, so $f$ crosses 0 only once, which is not enough.
# 6. *Enough units.* For two bits two units that bend at the same place are enough, and for one bit a single unit is. $\square$
# ````
#
# ## Why INDEX has so little room
#
# The proposition has no constant for INDEX. This section explains where the exponent $-3$ comes from, and computes a constant without a proof.
#
# INDEX asks for bit $k$, for every $k$. So a single setting of the weights has to move attention to each of $n$ places, and this forces two combinations of the weights to be small. To find them, compare the scores at $k + \Delta$ and at $k$. They differ by
#
# $$\Delta\, (2 \chi k^2 + \ell k + \varphi) + \Delta^2 (\chi k + \delta) ,$$
#
# where $\chi = a^\top s$, $\ell = 2 b^\top s + a^\top r$, $\varphi = b^\top r$ and $\delta = b^\top s$. We call the first bracket the *drift*.
#
# *By hand.* Let $\varphi = 0$ and $\delta = -1$, and leave out the small $\chi k$. Without drift both neighbours of $k$ have a score that is lower by 1. With a drift of $\frac12$ the right neighbour is lower by $\frac12$ and the left one by $\frac32$, so $k$ still wins. With a drift of 1.2 the right neighbour is higher by 0.2, and attention ends at the wrong place. So the drift must stay between $-1$ and 1 at every $k$. At 65 bits this requires $|\ell| < \frac1{65}$ if $\chi = 0$, and $|\chi| < 1/(2 \cdot 65^2) = 1/8450$ if $\ell = 0$. The first is a condition of order $n^{-1}$ and the second one of order $n^{-2}$, and together they have a chance of order $n^{-3}$.
#
# *In general* the coefficient $\delta$ must be negative, so that the scores bend down on both sides of $k$. Moreover, the absolute value of the drift must stay below $-\delta$ at every $k$. With $\chi = x / n^2$, $\ell = y / n$ and $t = k / n$ the condition becomes
#
# $$|2 x t^2 + y t + \varphi| < -\delta \quad \text{for all } t \in [0, 1] .$$
#
# The pairs $(x, y)$ that satisfy this condition are called *admissible*. In words, the parabola on the left may not leave the strip of half width $-\delta$ anywhere between the first place and the last. In the example $(0, y)$ is admissible for $|y| < 1$, and $(x, 0)$ for $|x| < \frac12$. But $(2.4, -4)$ is admissible, too, because $4.8\, t^2 - 4t$ falls only to $-0.83$ and ends at $0.8$. So the admissible pairs form a long narrow region around 0 with a finite area.
#
# Why does the area matter? The pair $(\chi, \ell)$ must fall into a copy of this region that is shrunk by $n^2$ in one direction and by $n$ in the other. The area of the copy is $n^{-3}$ times that of the region, which explains the exponent. So the constant of INDEX is $K D$, where $K$ is the density of $(\chi, \ell)$ at 0 times the mean area of the admissible $(x, y)$, and $K$ does not depend on $B$. This is a computation and not a theorem, because we have no proof that the limit may be exchanged with the integral.
#
# ## Measuring very small shares
#
# Shares of $10^{-9}$ cannot be found by counting successes among random networks, but three observations help.
#
# 1. *The last bias.* If all other weights are given, the network succeeds exactly if the last bias lies in a certain interval. So the probability of success is computed and need not be found by drawing.
# 2. *Attention and reader are independent* for FIRST and INDEX, because attention does not see the bits. Let $c$ be the least attention on the right position. Whatever the other bits are, the reader sees some $p \le 1 - c$ if the right bit is a zero, and some $p \ge c$ if it is a one. If the reader is right on both of these intervals, the network is right, which gives a lower estimate of the room. If the network is right, the reader is right at the ends of the intervals, which gives an upper estimate. The first table has the lower estimates, and the figure shows the upper ones for INDEX, too.
# 3. *Importance sampling.* For INDEX we draw two of the eight weights of the attention close to where the drift vanishes, and weight each draw so as to correct for this.
#
# The tests compare the results with whole networks on all strings, at lengths at which successes can be counted.
#
# What would speak against the theorem is a share of FIRST, MAJORITY or INDEX with another power of $n$, or a network that computes PARITY although $n > h + 1$. We also ask how far the shares are from the limits of the proposition.

# %%
readers = volumes.draw_readers(draws // 2, hidden, bound, generator)
steps = volumes.step_share(readers).mean().item()
tables = volumes.sharpness_shares(readers, torch.linspace(0, 1, 101, dtype=torch.float64))
reads = tables[0][-1].item()  # D
constant, constant_error = volumes.index_constant(draws, generator)
plain = volumes.draw_positions(draws, 1, bound, generator, 1.0)
asked = (plain.a + plain.b)[:, None]  # the query of FIRST
linear, square = (asked * plain.r[:, None]).sum(-1), (asked * plain.s[:, None]).sum(-1)
picks_first = ((square < 0) & (linear + 3 * square < 0)).double().mean().item()
limits = {
    "FIRST": picks_first * reads,
    "MAJORITY": 4 * volumes.DENSITY_AT_ZERO / bound**2 * steps,
    "INDEX": constant * reads,
}


# %%
def majority(n, scale=None):
    """Room of MAJORITY, and its standard error."""
    scale = math.log(n) if scale is None else scale
    contrast, weight = volumes.draw_contrasts(draws // 2, bound, generator, 5 / scale)
    share = weight * volumes.majority_share(readers, contrast, n, scale)
    return share.mean().item(), share.std().item() / math.sqrt(len(share))


def index(n, normalized=False, size=bound, own=tables):
    """Room of INDEX: from below, from above, and the error of the first."""
    drawn = volumes.draw_positions(draws, n, size, generator, normalized=normalized)
    return volumes.index_share(drawn, own, n, math.log(n), normalized=normalized)


def first(n):
    """Room of FIRST, as of INDEX."""
    return volumes.index_share(plain, tables, n, math.log(n), indices=torch.tensor([1]))


lengths = [n for n in (3, 5, 9, 17, 33, 65, 97, 129) if n == longest or (n <= longest and n != 97)]
found = pd.DataFrame(index=pd.Index(lengths, name="n"))
found["FIRST"], _, first_error = zip(*map(first, lengths), strict=True)
found["MAJORITY"], majority_error = zip(*map(majority, lengths), strict=True)
found["INDEX"], above, index_error = zip(*map(index, lengths), strict=True)
found["INDEX, normalised"] = [index(n, normalized=True).enough for n in lengths]

# %% mystnb={"code_prompt_hide": "PARITY and the table", "code_prompt_show": "PARITY and the table"} tags=["hide-input"]


def parity_room(n, rounds):
    """Room of PARITY, and its standard error."""
    odd, shares = torch.arange(n + 1) % 2 == 1, []
    for _ in range(rounds):
        some = volumes.draw_readers(draws // 2, hidden, bound, generator)
        query = volumes.draw_positions(draws // 2, 1, bound, generator, 1.0)
        contrast = (query.a * (query.r - query.s)).sum(1)  # uniform query, difference of two keys
        shares.append(volumes.labelled_share(some, contrast, odd, n, math.log(max(n, 2))))
    share = torch.cat(shares)
    return share.mean().item(), share.std().item() / math.sqrt(len(share))


parity, parity_error = {}, {}
for n, rounds in {1: 1, 2: 1, 3: 20, 4: 20}.items():
    parity[n], parity_error[n] = parity_room(n, rounds)
table(found, f"The room of four tasks, B = {bound:g}, h = {hidden}", form=".2e")
table(
    {
        "n": list(parity),
        "room": list(parity.values()),
        "standard error": list(parity_error.values()),
    },
    "PARITY: the room of the first lengths",
    form=".1e",
)
at = {name: found.loc[65, name] for name in ("FIRST", "MAJORITY", "INDEX")}
one_digit = {name: float(f"{1 / share:.1g}") for name, share in at.items()}
glue(first_guesses=1 / at["FIRST"], majority_guesses=one_digit["MAJORITY"])
glue(index_millions=1e-6 * one_digit["INDEX"], parity_three=parity[3])
glue(parity_error=100 * parity_error[3] / parity[3])
relative = pd.Series(index_error, lengths) / found["INDEX"]
glue(index_error=100 * relative.loc[17:].max())
glue(bracket=100 * (pd.Series(above, lengths) / found["INDEX"] - 1).loc[17:].max())
glue(majority_error=100 * (pd.Series(majority_error, lengths) / found["MAJORITY"]).max())

# %% [markdown]
# As the first table shows, the share of FIRST hardly changes, that of MAJORITY falls slowly and that of INDEX fast. PARITY has a positive room only at the shortest lengths. Already at three bits its share is {glue:text}`parity_three:.1e` (with a standard error of {glue:text}`parity_error:.0f` %), and the share decreases by a large factor with every bit until it is 0.
#
# The standard errors are at most {glue:text}`majority_error:.0f` % for MAJORITY and at most {glue:text}`index_error:.0f` % for INDEX from 17 bits on. For INDEX at these lengths the upper estimate exceeds the lower one, which is in the table, by at most {glue:text}`bracket:.1f` %.
#
# {numref}`fig-room` shows the shares together with the limits, and can be read line by line.
#
# * *FIRST* is nearly level, whereas *MAJORITY* and *INDEX* follow their dashed lines, which are the constants above times $1/(n \log n)$ and $n^{-3}$.
# * *INDEX with the normalised query* starts five to six times higher than INDEX and then decreases much more slowly, because only one of the two coefficients of the drift still has to be small.
# * *PARITY* ends at four bits because we look no further. At five bits the room is of the order $10^{-8}$, and it is positive until nine bits.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Share of the weights that compute a function on every string of $n$ bits. Dashed: the limits of the proposition, and of INDEX the constant that is not proved. Thin: the upper estimate for INDEX.", "name": "fig-room"}, "image": {"alt": "Five lines in a plot with logarithmic axes. FIRST is nearly level, just below five hundredths. MAJORITY falls with a slope of a little more than 1. INDEX with a normalised query starts near three ten-thousandths and falls with slope 1 at the right. INDEX falls with slope 3 to below one in a billion. PARITY falls almost vertically and ends at four bits."}} tags=["hide-input"]
fig, ax = figures.new(height=3.8)
for i, name in enumerate(found):
    ax.plot(lengths, found[name], label=name, **figures.series_style(i, linestyle="-"))
ax.plot(lengths, above, color=figures.COLOURS[2], linewidth=0.7, marker="")
ax.plot(list(parity), list(parity.values()), label="PARITY", **figures.series_style(4))
laws = {
    "FIRST": lambda n: 1.0,
    "MAJORITY": lambda n: 1 / (n * math.log(n)),
    "INDEX": lambda n: n**-3.0,
}
for i, (name, law) in enumerate(laws.items()):
    line = [limits[name] * law(n) for n in lengths]
    ax.plot(lengths, line, linestyle="--", linewidth=0.9, marker="", color=figures.COLOURS[i])
ax.set(xscale="log", yscale="log", xlabel="bits $n$", ylabel="room $V(n)$")
ax.legend(ncols=2, loc="lower left")
figures.show()

# %% [markdown]
# ## Where the asymptotics begin
#
# A statement about an order of growth holds "for all sufficiently large $n$". How large is that? For weights up to 2 our answer will be that from five bits on the shares are within a factor of about two of their laws.
#
# The proofs themselves do not answer the question, because they exhibit a neighbourhood of one good network. For $B \ge 1$ the inequalities of Zhu and Chiang hold in this neighbourhood once $n^{-\eta^2/2}$ for FIRST, or $n^{-\eta^2/4}$ for INDEX, is about $\frac18$, where $\eta = \frac1{16}$. This happens only at lengths $n$ that are numbers of {glue:text}`digits_first:.0f` and {glue:text}`digits_index:.0f` digits. A proof that is only about an order need not do better, but it cannot say from which length on the order is visible.
#
# We therefore divide each measured share by its limit law. A quotient near 1 means that the law already describes networks of this length. For INDEX we also take weights between $-1$ and 1.

# %%
narrow = volumes.draw_readers(draws // 5, hidden, 1.0, generator)
narrow_tables = volumes.sharpness_shares(narrow, torch.linspace(0, 1, 101, dtype=torch.float64))
ratios = pd.DataFrame(index=found.index)
for name, law in laws.items():
    ratios[name] = [found.loc[n, name] / (limits[name] * law(n)) for n in lengths]
small = [index(n, size=1.0, own=narrow_tables) for n in lengths]
ratios["INDEX, B = 1"] = [
    s.enough * n**3 / (constant * narrow_tables[0][-1].item())
    for n, s in zip(lengths, small, strict=True)
]
table(ratios, "Share over its limit law", form=".2f")
far = 10**6 + 1
at_far = far * math.log(far) / limits["MAJORITY"]
majority_far, far_error = (v * at_far for v in majority(far))
unscaled = majority(far, scale=1.0)[0] * at_far

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-input"]
q = 0.125
for _ in range(20):
    q = 0.125 - q**4 - q**9  # q + q**4 + q**9 + ... = 1/8
eta = 1 / 16
glue(digits_first=-math.log10(q) / (eta**2 / 2), digits_index=-math.log10(q) / (eta**2 / 4))
glue(first_ratio=ratios["FIRST"].iloc[-1], majority_ratio=ratios["MAJORITY"].loc[65])
glue(index_65=ratios["INDEX"].loc[65])
glue(index_ratio=ratios["INDEX"].iloc[-1], narrow_ratio=ratios["INDEX, B = 1"].iloc[-1])
glue(narrow_error=100 * small[-1].error / small[-1].enough)
glue(far_error=100 * far_error / majority_far)
glue(majority_far=majority_far, unscaled=unscaled, longest=longest, steps=steps, reads=reads)

# %% [markdown]
# With weights up to 2 all three shares are within a factor of about two of their laws from five bits on. (The quotient that is furthest from 1 is that of INDEX at 17 bits, 0.47.) With weights up to 1 the share of INDEX is not that close.
#
# * *MAJORITY.* The share is {glue:text}`majority_ratio:.2f` times its law at 65 bits and {glue:text}`majority_far:.2f` times its law at a million, with standard errors of at most {glue:text}`majority_error:.0f` % and of {glue:text}`far_error:.0f` %.
# * *FIRST.* The share is {glue:text}`first_ratio:.2f` times its limit at {glue:text}`longest` bits. It increases with the length, since more bits also mean sharper attention.
# * *INDEX.* The share is {glue:text}`index_ratio:.2f` times its law for the longest strings and {glue:text}`index_65:.2f` times at 65 bits (with a standard error of up to {glue:text}`index_error:.0f` %).
# * *INDEX with weights between $-1$ and 1.* Here the quotient is only {glue:text}`narrow_ratio:.2f` even at {glue:text}`longest` bits (with a standard error of {glue:text}`narrow_error:.0f` %), and the share decreases more slowly than $n^{-3}$ at all these lengths. The reason is that products of such small weights give small scores, so that attention is sharp only if $\log n$ is large.
#
# So whether "unlearnable in the limit" describes a given network depends on the size of its weights, and not on the length alone.
#
# The next cell compares powers and limits with the statements. Each statement has a control, in which we remove what the statement depends on. For FIRST the keys have no positions, and for MAJORITY the scores have no factor $\log n$. For INDEX the index is always 1, the query is not normalised, or the density of the drift is taken without the area of the admissible pairs. For PARITY the reader lacks one of its units.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]


def slope(values, start=17):
    """Power of n between two lengths."""
    return math.log(values[longest] / values[start]) / math.log(longest / start)


def factor(ratio):
    """By which factor two numbers differ."""
    return max(ratio, 1 / ratio)


blind = plain._replace(r=0 * plain.r, s=0 * plain.s)
nowhere = volumes.index_share(
    blind, tables, longest, math.log(longest), indices=torch.tensor([1])
).enough
room.holds(
    "FIRST: ratio of the share at the longest strings to its proved limit; control: keys without "
    "positions",
    ratios["FIRST"].iloc[-1],
    at_least=0.75,
    control=nowhere / limits["FIRST"],
    about="ours",
    evidence="sampled",
)
room.holds(
    "MAJORITY: distance from 1 of the ratio of the share at a million bits to its "
    "proved limit law; control: scores without $\\log n$",
    abs(majority_far - 1),
    at_most=0.25,
    control=abs(unscaled - 1),
    about="ours",
    evidence="sampled",
)
room.holds(
    "INDEX: power of $n$ with which the share falls; control: the index is always 1",
    slope(found["INDEX"]),
    equals=-3,
    tol=0.5,
    control=slope(found["FIRST"]),
    about="ours",
    evidence="sampled",
)
room.holds(
    "INDEX: factor between the share and its limit law at the longest strings; control: the"
    " law without the area of the admissible drifts",
    factor(ratios["INDEX"].iloc[-1]),
    at_most=3,
    control=factor(
        ratios["INDEX"].iloc[-1] * constant / volumes.index_constant(draws, generator, False)[0]
    ),
    about="ours",
    evidence="sampled",
)
room.holds(
    "INDEX with the normalised query: power of $n$ with which the share falls; control: the"
    " query is not normalised",
    slope(found["INDEX, normalised"]),
    equals=-1,
    tol=0.5,
    control=slope(found["INDEX"]),
    about="ours",
    evidence="sampled",
)
exact = volumes.parity_reader(hidden, bound)
odd = torch.arange(hidden + 2) % 2 == 1
values = volumes.logits(exact, volumes.attention_of_ones(torch.arange(hidden + 2), hidden + 1, f64([0.0]), 1.0))[0]  # fmt: skip
cut = (values[odd].min() + values[~odd].max()) / 2
lame = exact._replace(weight=exact.weight * (torch.arange(hidden) != 1))
lame_values = volumes.logits(lame, volumes.attention_of_ones(torch.arange(hidden + 2), hidden + 1, f64([0.0]), 1.0))[0]  # fmt: skip
room.holds(
    "PARITY of $h + 1$ bits with $h$ units: number of counts with a wrong answer; control: "
    "one unit is missing",
    int(((values > cut) != odd).sum()),
    equals=0,
    control=int(((lame_values > cut) != odd).sum()),
    about="ours",
    evidence="attained",
)

# %% [markdown]
# ## The price of a function
#
# Here we turn the room into a number of examples. A learner can proceed as follows: it draws weights until the network is right on all $m$ strings of its sample, and returns this network. The rarer the exact networks are, the more strings the learner needs to recognise them. The *price* of the function, which is $-\log V(n)$, measures how many.
#
# *By hand.* At 65 bits one in {glue:text}`first_guesses:.0f` networks computes FIRST, and the logarithm of this number is about 3. Occam's bound at training error 0, with confidence 0.95, is $1 - e^{-(\text{price} + \log 20)/m}$, and $\log 20$ is about 3 as well. So with 21 strings the exponent is $-\frac6{21}$, or $-0.29$, and the bound on the risk is just below $\frac14$. For INDEX the price is about 20, so that nearly 80 strings are needed.
#
# *Why minus a logarithm.* Let the prior be the uniform law on the weights, and let the posterior be this law restricted to the weights that fit. The KL divergence between them is minus the logarithm of the share that fits, and at most $-\log V(n)$, because the exact networks are among those that fit. So this price enters Occam's bound of {ref}`ch-from-gaussians-to-occam` and its PAC-Bayes form. At training error 0 Occam's bound itself holds for the mean risk $R$ of the networks that fit. For random networks that fit the outputs of a teacher network, {cite:t}`buzaglo2024` prove such a theorem.
#
# ```{dropdown} Why Occam's bound holds for the mean risk of the networks that fit
# Give a network of risk $r$ the number $(1 - r)^{-m}$ if it fits and 0 if not. The expectation of this number over samples is at most 1, and so is that of its mean over the prior. Then Markov's and Jensen's inequalities give the bound.
# ```
#
# The table compares the price with three others:
#
# * the logarithm of the number of pairs of bits, which was the price of a hand-written network in the list of {ref}`ch-from-gaussians-to-occam`;
# * five bits for each weight;
# * the logarithm of the number of all functions.
#
# The last column is the number of strings from which on Occam's bound is below $\frac14$, with confidence 0.95 and training error 0. If the price of a function were near that of five bits for each weight, the room would be no gain over writing the weights down.

# %%
weights = 5 * hidden + 18
prices = {f"{name}, 65 bits": -math.log(share) for name, share in at.items()}
prices |= {"PARITY, 3 bits": -math.log(parity[3]), "a pair of 65 bits": math.log(math.comb(65, 2))}
prices |= {f"five bits for each of {weights} weights": 5 * weights * math.log(2)}
prices |= {"any function of 10 bits": 2**10 * math.log(2)}
priced = pd.DataFrame({"price in nats": prices})
priced["strings"] = [int(rivals.occam_sample_size(p, level=0.25)) for p in prices.values()]
table(priced.rename_axis("function"), "What a bound has to pay", form=".1f")

# %% [markdown]
# Guessing is not training, but the price of these functions is low. Even INDEX at 65 bits, with a share of about one in {glue:text}`index_millions:.0f` million, costs only {glue:text}`index_price:.0f` nats. This is a tenth of what it costs to write the weights down with five bits each. The reason is that the share counts all weights that compute the function, and most digits of most weights do not matter. In nats, a room of $\Theta(n^{-3})$ is a price of $3 \log n$ up to a constant.
#
# *PARITY.* Exact PARITY has an infinite price from $n = h + 2$ on. But networks that err on few strings have a finite price. For example, with 8 units some networks are wrong on a single one of the 1024 strings of 10 bits ({ref}`ch-one-layer-parity`). Their share is positive, so enough examples certify a small error.
#
# *Does the learner need as many strings as the bound says?* For MAJORITY of 17 bits we draw whole networks and let the learner see samples of $m$ random strings. For each sample we compute the share of the networks that fit, and the mean risk of these. (Networks that are wrong on the same counts are taken together.) In the table *right everywhere* and *risk above 5 %* are shares among the networks that fit, as means over samples: the first is the share of exact networks, and the second that of networks whose risk exceeds 5 %. A mean risk above the bound would speak against the bound.

# %%
n, count = 17, 2 * draws
many = volumes.draw_readers(count, hidden, bound, generator)
query = volumes.draw_positions(count, 1, bound, generator, 1.0)
contrast, cuts = (query.a * (query.r - query.s)).sum(1), query.b[:, 0] - query.b[:, 1]
seen = volumes.attention_of_ones(torch.arange(n + 1), n, contrast, math.log(n))
wrong = (volumes.logits(many, seen) > cuts[:, None]) != (torch.arange(n + 1) > n / 2)
chance = f64([math.comb(n, t) / 2**n for t in range(n + 1)])
codes, networks = (wrong.long() << torch.arange(n + 1)).sum(1).unique(return_counts=True)
wrong, share = (codes[:, None] >> torch.arange(n + 1) & 1).bool(), networks.double() / count
risks, rows = wrong.double() @ chance, []
for m in (8, 16, 32, 64, 128):
    nats, gibbs, exact, poor = [], [], [], []
    for _ in range(50):
        sample = torch.bincount(torch.multinomial(chance, m, True, generator=generator), minlength=n + 1)  # fmt: skip
        fits = share * ~wrong[:, sample > 0].any(1)
        nats.append(-fits.sum().log().item())
        gibbs.append((fits @ risks / fits.sum()).item())
        exact.append((fits[risks == 0].sum() / fits.sum()).item())
        poor.append((fits[risks > 0.05].sum() / fits.sum()).item())
    mean = sum(nats) / len(nats)
    certified = float(rivals.occam(0.0, mean, m))
    rows.append({"strings": m, "nats": mean, "risk": sum(gibbs) / 50, "bound": certified})
    rows[-1] |= {"error of the risk": f64(gibbs).std().item() / math.sqrt(50)}
    rows[-1] |= {"right everywhere": sum(exact) / 50, "risk above 5 %": sum(poor) / 50}
guessing = pd.DataFrame(rows).set_index("strings")
exact_nats = -share[~wrong.any(1)].sum().log().item()
table(guessing, "Guessing MAJORITY of 17 bits: means over 50 samples", form=".3g")

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-input"]
glue(exact_nats=exact_nats, few=guessing["nats"].iloc[0], risk_16=100 * guessing.loc[16, "risk"])
glue(bound_16=100 * guessing.loc[16, "bound"], index_price=prices["INDEX, 65 bits"])
glue(
    exact_8=100 * guessing.loc[8, "right everywhere"],
    poor_8=100 * guessing.loc[8, "risk above 5 %"],
)
glue(poor_16=100 * guessing.loc[16, "risk above 5 %"])
glue(risk_16_error=100 * guessing.loc[16, "error of the risk"])

# %% [markdown]
# The share of the exact networks describes well how many strings guessing needs, because after 16 strings most of the networks that are left are exact or nearly exact.
#
# * *The price* of the networks that fit eight strings is already {glue:text}`few:.1f` nats, whereas the exact networks have a price of {glue:text}`exact_nats:.1f`.
# * *After eight strings* {glue:text}`exact_8:.0f` % of the networks that fit compute MAJORITY, in the mean over samples, and {glue:text}`poor_8:.0f` % still err on more than 5 % of the strings.
# * *After 16 strings* only {glue:text}`poor_16:.0f` % err so often. The mean risk is {glue:text}`risk_16:.1f` %, with a standard error of {glue:text}`risk_16_error:.1f` %, whereas the bound guarantees {glue:text}`bound_16:.0f` %. The bound is far above the risk for the usual reason that it has to hold for every function.
# * *At 32 strings and more* the standard errors of the risk are not to be trusted, since a few rare samples contribute much of the mean risk. For example, of 600 other samples of 32 strings, with a mean risk of 0.07 %, three contribute nearly half of it.
#
# ## Beside the room: sensitivity profiles
#
# The room counts networks that are right at every string of one function. Most random networks compute none of these functions exactly, so what can be said of them? Kövér and others study a coarser property, which does not refer to a target function. The sensitivity of a string is the number of its bits whose flip changes the answer, and the *profile* of a function says how many strings have which sensitivity. If no flip changes the answer, the string is called *insensitive*. By hand, for the eight strings of three bits:
#
# | function | sensitivity 0 | 1 | 2 | 3 | mean |
# |:--|:--|:--|:--|:--|:--|
# | MAJORITY | 2 strings | 0 | 6 | 0 | 1.5 |
# | FIRST | 0 | 8 | 0 | 0 | 1 |
# | PARITY | 0 | 0 | 0 | 8 | 3 |
#
# FIRST has the lowest mean and PARITY the highest, so an average alone cannot tell what the two have in common, namely that no string is insensitive.
#
# ```{prf:theorem} Kövér and others (2026), Theorem 4.5
# :label: room-profiles
# *(Theirs, as a third party's reading note has it; not judged here.)* Take a transformer of $L$ layers and $d$ columns, with layer norm without $\varepsilon$, and let its weights be uniform on a compact set. Consider the function of $N$ bits that it computes with a fixed margin. Almost surely this function has at least $N^{(d-1)/2L - 5}$ insensitive strings for all large $N$. (We write $d$ where the note has $D$.)
# ```
#
# Therefore the weights that compute PARITY or FIRST at all large lengths have measure zero. The note also reports an experiment, in which with each of four initializations the profiles were concentrated near 0, and every random transformer had an insensitive string. A random function has such a string only with a probability of about $1 - \frac1e = 0.63$. (Each of its $2^n$ strings is insensitive with probability $2^{-n}$, so there is one on average.)
#
# Does our sample agree? We draw random transformers and compute their answers on all strings, so the profiles are exact.
#
# * *The networks* have {glue:text}`columns` columns, one layer or two, layer norm without $\varepsilon$ and an end symbol at which they are read.
# * *The weights* come from the three draws of {ref}`ch-random-initialization`, among them that of PyTorch, from which the models of this book start.
# * *The strings* have up to 14 bits for one layer and up to 12 for two.
#
# An average sensitivity near $\frac n2$ would speak against the claim, and so would a share of networks with an insensitive string that is not above 0.63.

# %%
columns = 16
sizes = [(layers, n) for layers, most in ((1, 14), (2, 12)) for n in range(6, most + 1, 2)]
seen = {}
for layers, n in sizes:
    spec = profiles.model(n, layers, columns)
    for draw in DRAWS:
        if draw == "PyTorch":
            weights_of = initial_weights(spec, nets, generator)
        else:
            weights_of = ensemble_of(nets, lambda: drawn(shapes(spec), draw, generator))  # noqa: B023
        seen[layers, draw, n] = profiles.profiles(profiles.answers(spec, weights_of))
coins = {
    n: profiles.profiles(2.0 * torch.randint(0, 2, (400, 2**n), generator=generator).double() - 1)
    for n in (6, 8, 10)
}

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
kinds = [(layers, draw) for layers in (1, 2) for draw in DRAWS]
rows = []
for layers, draw in kinds:
    own = {n: found for (depth, d, n), found in seen.items() if (depth, d) == (layers, draw)}
    mean = statistics.average(own[12].average.tolist())
    rows.append({
        "layers": layers, "draw": draw, "average sensitivity, 12 bits": f"{mean:.2f}",
        "constant": (own[12].average == 0).double().mean().item(),
        "insensitive strings": own[12].insensitive.mean().item(),
        "with an insensitive string": torch.stack([p.insensitive > 0 for p in own.values()]).double().mean().item(),
        "one bit decides": torch.stack([p.single for p in own.values()]).double().mean().item(),
    })  # fmt: skip
table(
    pd.DataFrame(rows).set_index("layers"),
    "Random transformers: mean average sensitivity with 95 % interval and shares; the last two at all lengths",
    form=".2f",
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]


def share_with(*found):
    """Lower end, at 99 %, of the share of the functions that have an insensitive string."""
    some = torch.cat([p.insensitive > 0 for p in found])
    return statistics.wilson(int(some.sum()), len(some), 0.99).low


def level_of(n, found):
    """Upper end of the mean average sensitivity over that of random functions."""
    return statistics.average(found.average.tolist()).high / (n / 2)


profile.holds(
    "random transformers of one and two layers: average sensitivity in units of $n/2$, "
    "upper end of its interval at the worst draw and length; control: random functions",
    max(level_of(n, found) for (_, _, n), found in seen.items()),
    at_most=0.6,
    control=max(level_of(n, found) for n, found in coins.items()),
    about="ours",
    evidence="sampled",
)
profile.holds(
    "random transformers: share that have a string at which no flip changes the answer, "
    "all lengths together, lower end of its interval at the worst number of layers and draw; "
    "control: random functions of ten bits",
    min(
        share_with(*(p for (depth, d, _), p in seen.items() if (depth, d) == kind))
        for kind in kinds
    ),
    at_least=1 - 1 / math.e,
    control=share_with(coins[10]),
    about="ours",
    evidence="sampled",
)
ledger.show()
wide_one = [p for (depth, d, _), p in seen.items() if (depth, d) == (1, "wide")]
without_any = torch.cat([p.insensitive == 0 for p in wide_one])
glue(columns=columns, nets=nets, bound=bound, missing=100 * without_any.double().mean().item())
glue(deciding=100 * torch.cat([p.single for p in wide_one]).double().mean().item())
glue(coins_share=100 * (coins[10].insensitive > 0).double().mean().item())
two = torch.cat([p.insensitive > 0 for (depth, _, _), p in seen.items() if depth == 2])
glue(two_share=100 * two.double().mean().item(), two_count=len(two))
glue(wide_level=seen[2, "wide", 12].average.mean().item())
constant_share = [(seen[k, "Xavier", 12].average == 0).double().mean().item() for k in (1, 2)]
glue(xavier_one=100 * constant_share[0], xavier_two=100 * constant_share[1])
glue(coins_level=coins[10].average.mean().item(), known=14 ** ((columns - 1) / 2 - 5))
few_readers = volumes.Readers(*(v[:4000] for v in many[:3]), bound)
for n in (9, 65):
    counts = volumes.attention_of_ones(torch.arange(n + 1), n, contrast[:4000], math.log(n))
    found_here = profiles.counted_profiles(volumes.logits(few_readers, counts) > cuts[:4000, None])
    glue(**{f"counting_{n}": found_here.average.mean().item()})
    glue(**{f"counting_any_{n}": 100 * (found_here.insensitive > 0).double().mean().item()})

# %% [markdown]
# The random transformers are much less sensitive than random functions, in each draw and at each length, and most networks of each kind have an insensitive string.
#
# * *Sensitivity.* The largest mean at 12 bits is {glue:text}`wide_level:.2f`, with two layers and wide weights, whereas random functions have 6.
# * *Constant functions.* All strings of a constant function are insensitive, and with PyTorch's weights most functions are constant. With Xavier's weights, at 12 bits, {glue:text}`xavier_one:.0f` % of those of one layer and {glue:text}`xavier_two:.0f` % of those of two layers are constant. {ref}`ch-random-initialization` discusses the reason.
# * *Two layers.* Of the {glue:text}`two_count` networks of two layers on 6 to 12 bits {glue:text}`two_share:.1f` % have an insensitive string, and of the random functions on ten bits {glue:text}`coins_share:.0f` %. So for two layers our sample nearly agrees with the experiment that the note reports, in which all had one.
# * *One layer and wide weights.* Here the sample agrees less well, because {glue:text}`missing:.1f` % of these networks have no insensitive string. Most of these exceptions, {glue:text}`deciding:.1f` % of all networks of this kind, compute a single bit of the string or its negation, since with large weights attention is practically on one position. Such a function is FIRST up to the choice of the bit.
#
# These exceptions do not contradict the theorem, which is about all large $N$. For one layer of {glue:text}`columns` columns its bound at 14 bits would be {glue:text}`known:.0f` strings, so 14 bits are not yet a large length in the sense of the theorem. For two layers of this width its exponent is negative. So, as the note has it, the theorem asserts only that there is at least one such string.
#
# The counting model of this chapter can be followed to longer strings, because its answer depends on the number of ones only. With weights up to {glue:text}`bound:.0f`, its average sensitivity has a mean of {glue:text}`counting_9:.2f` at 9 bits and of {glue:text}`counting_65:.2f` at 65 bits. At 9 bits {glue:text}`counting_any_9:.1f` % of the networks have an insensitive string, and at 65 bits {glue:text}`counting_any_65:.1f` %.
#
# ## What would falsify this
#
# The orders would be refuted by a share that follows a power of $n$ between 17 and {glue:text}`longest` bits whose exponent differs from theirs by more than one half. {prf:ref}`room-limits` would be refuted by a share of FIRST or MAJORITY that stays away from its limit. The length for PARITY would be refuted if a reader with $h$ kinks computed PARITY of $h + 2$ bits, or if none computed it for $h + 1$ bits. In the ledger each control removes what the statement rests on, and then the outcome is the opposite one: without $\log n$ in the scores, for example, MAJORITY at a million bits has {glue:text}`unscaled:.1f` times its law. What we say about profiles would be refuted by a draw of weights in which transformers are more than 0.6 times as sensitive as random functions, or have insensitive strings no more often.
#
# ## What the authors' code does differently
#
# No code of Zhu and Chiang was found. They also train their models, whereas we train none. Their Table 1 reports accuracies at ten times the training length that are higher where the *order* of the room is larger: 100 % for FIRST, 85 % for INDEX with the normalised query, 83 % for MAJORITY, and 60 % for INDEX. (By the shares that we measured, MAJORITY would come before INDEX with the normalised query at every length of the table.) They report one exception: with sinusoidal positions the room of MAJORITY is $\Theta(1/(n^3 \log n))$, and yet the accuracy is 87.5 %.
#
# Kövér et al. study the same question without the factor $\log n$ and for any number of layers. In their setting FIRST has measure zero for large $n$, whereas it has a constant share here. The two results do not contradict each other, for example because in the model of this chapter the encodings of positions, $j$ and $j^2$, are unbounded. No code of Kövér et al. was found either; our draws and sizes are therefore our own.
#
# ## What we found
#
# * The orders of FIRST, MAJORITY and INDEX are what we measure for weights up to 2, at lengths that the proofs of Zhu and Chiang do not cover. The measured shares are within a factor of about two of the limit laws from five bits on. For smaller weights this is not so: at {glue:text}`longest` bits the share of INDEX with weights up to 1 is {glue:text}`narrow_ratio:.2f` times its limit law. The size of the weights decides where the asymptotics begin.
# * The limits have closed forms up to two probabilities that concern the MLP alone. For MAJORITY the limit of $n \log n$ times the room is $\frac{10}{3 B^2} \tau$, where the probability $\tau$ of a step is {glue:text}`steps:.3f` here. For FIRST the limit of the room is $A D$, where $A$ is the probability that attention ends at the first position, and $D$, the probability that the MLP is right there, is {glue:text}`reads:.3f`.
# * PARITY has no room for $n > h + 1$. This length is exact for $h \ge 3$, whereas for $h = 1$ and $h = 2$ PARITY has no room already from one bit less on.
# * Minus the logarithm of the room is a price in the sense of Occam's bound. It grows like $\log n$ for MAJORITY and like $3 \log n$ for INDEX, and it is small compared with any way to write the weights down.
# * Random transformers have insensitive strings more often than random functions. With two layers {glue:text}`two_share:.1f` % of them have one, whereas Kövér and others report that all did. With one layer and large weights {glue:text}`missing:.1f` % do not, mostly because a single bit decides ({glue:text}`deciding:.1f` %), at lengths that their theorem does not reach.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-room-gap
#
# *By hand.* Five bits, and ones count three times as much as zeros. Compute $p_2$ and $p_3$, the gap between them, and the difference of their logits. By which factor would a threshold that is uniform on $[0, 1]$ hit this gap less often than the gap for equal factors?
# ```
#
# ```{solution} ex-room-gap
# :class: dropdown
#
# $p_2 = \frac{6}{3 + 6} = \frac23$ and $p_3 = \frac9{2 + 9} = \frac9{11}$, so the gap is $\frac5{33} \approx 0.152$. The logits are $\log 2$ and $\log \frac92$, and their difference is $2 \log \frac32$, as for equal factors. There the gap is $\frac15$, so the threshold hits it less often by the factor $\frac{25}{33}$.
# ```
#
# ```{exercise}
# :label: ex-room-width
#
# *With the computer.* Run the chapter with twelve hidden units, `python -m bookkit.run beyond/room_of_a_function -p hidden 12 --out my_run`, and compare the rooms at 65 bits. Then compute the shares $D$ and $\tau$ for 2 to 64 hidden units. Does a wider network have more room for MAJORITY or less?
# ```
#
# ```{solution-start} ex-room-width
# :class: dropdown
# ```
#
# Both shares are means over readers, so a few lines are enough.

# %%
fresh, by_width = Rng(seed).generator, []
for units in (2, 4, 8, 16, 32, 64):
    some = volumes.draw_readers(4000, units, bound, fresh)
    ends = volumes.logits(some, f64([0.0, 1.0]))
    both = volumes.cut_share(ends[:, 0], ends[:, 1], bound).mean().item()
    by_width.append({"units": units, "D": both, "τ": volumes.step_share(some).mean().item()})
table(pd.DataFrame(by_width).set_index("units"), "Readers by their width", form=".3f")

# %% [markdown]
# At 65 bits the rooms of the run with twelve units differ from those with eight by at most 12 %. Most of this is sampling error. With 200,000 readers for each width both shares are about 2 % larger with twelve units, with a standard error of 0.7 %. The shares are more precise than the rooms, and one can see why they hardly change. A wider MLP has larger outputs, so that the last bias decides less often. Therefore both shares rise at first and then remain the same. But among the readers with $f(0) < 0 < f(1)$ the share of those that cross 0 only once hardly changes. So a wider network has about the same room for MAJORITY, although it can compute many other functions.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-room-training
#
# *To think about.* A learner that guesses needs about $1 / V(n)$ guesses, but gradient descent finds INDEX at 51 bits in the experiments of Zhu and Chiang, where guessing would take more than $10^8$ attempts. What does the room then say about training, and what does it not say?
# ```
#
# ```{solution} ex-room-training
# :class: dropdown
#
# The room says how precisely the weights have to be set: two combinations of weights must be small, of the orders $n^{-2}$ and $n^{-1}$. Gradient descent can reduce both step by step, since the loss decreases on the way, so it need not search for them. But a sample of short strings does not determine how small they must be for longer strings. This is why the room is a better guide to what happens *beyond* the training lengths than to whether training succeeds. For PARITY the room is 0, which no training can change.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
