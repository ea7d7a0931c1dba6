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
# (ch-one-layer-parity)=
# # Parity in one layer, and without layer norm
#
# ```{verdict}
# One layer of attention can tell whether $n$ bits hold an odd number of ones (PARITY), but only if its MLP, its number of heads or the degree of its read-out grows with $n$. One head, whose values depend on the bit alone, needs exactly $n - 1$ hidden units for $n \ge 4$, but {glue:text}`few` suffice for about {glue:text}`share:.0f` % of all strings of {glue:text}`far` bits. If a polynomial reads the heads, heads times degree must reach $n$, which is enough. If position encodings grow, two layers compute PARITY at every length with a fixed margin and without layer norm, but our network is about as brittle as one with layer norm.
# ```
# **Needs** {ref}`ch-average-sensitivity`, {ref}`ch-construction`, {ref}`ch-brittle-transformers`. **Read** 22 min. **Runs in** 20 s. **Source** ours; the questions are those of {cite:t}`kozachinskiy2026` (abstract and the beginning of the introduction read), {cite:t}`kozachinskiy2025` (abstract and a third party's summary read), {cite:t}`hsu2026` (abstract and first page read) and {cite:t}`rajaraman2026` (introduction and Sections 2 and 3.1 read). Of {cite:t}`chiang2022` the abstract was read.
#
# **Claim.** Three statements, each about one way to give a transformer what PARITY needs:
#
# 1. *Hidden units.* For a single head whose values depend on the bit alone we determine exactly how large the *average sensitivity* can be, the mean number of bits whose flip changes the answer, for every $n$ and every number of hidden units.
# 2. *Heads.* For read-outs that are polynomials of any degree $r$ we prove that $H$ heads need $H r \ge n$, and that this is enough.
# 3. *A second layer.* We give a network of two layers without layer norm, whose weights and encodings do not depend on the length. We prove that it computes PARITY at every length with a fixed margin, and measure how small a step of its weights destroys the answer.
#
# Three results were known before. Kozachinskiy, Steifer and Wałęga show that no one-layer transformer computes PARITY at all lengths, because its average sensitivity grows more slowly than that of PARITY. For an MLP of fixed size it grows at most like $\sqrt n$ up to logarithms, as Hsu reports. Hsu shows that the number of heads times the degree of a rational read-out, a quotient of two polynomials in the heads' outputs, must grow linearly. And Rajaraman, Sundaram and Tesfaye show that linear read-outs need exactly $n$ heads.

# %% tags=["parameters"]
n = 8  # bits of the networks that are searched, on all strings [7..10]
hidden = 3  # units of their MLP [3..5]
networks = 256  # that are changed at random [64..512]
steps = 150  # changes that are tried for each [50..300]
far = 400  # bits of the long strings, which cannot all be tried [100..1000]
all_strings = 10  # bits up to which the network without layer norm is tried on all strings [4..12]
draws = 100  # random steps for each length and size of a step [60..300]
seed = 0  # of the search [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from fractions import Fraction

import pandas as pd
import torch
from sympy import Matrix

from bookkit import Ledger, figures, glue, table
from helpers import cube, statistics
from helpers.rng import Rng
from papers.beyond import no_norm, one_layer, volumes
from papers.sensitive import parity
from papers.sensitive.isolation import parity_of

ledger, source = Ledger("beyond/one_layer_parity"), Rng(seed)
layer, without = ledger.result("beyond.layer"), ledger.result("beyond.no_norm")

# %% [markdown]
# ## Why one should care
#
# A single layer of attention takes a weighted mean of the tokens, and a flip of one bit moves such a mean by very little. PARITY, however, changes its value at every flip of a bit. So it is natural to expect that one layer cannot compute PARITY. But this expectation is false as it stands, because an MLP after the attention can have as many kinks as it likes, and the hand-written network of the first paper uses $4(n + 1)$ hidden units in this way ({ref}`ch-construction`).
#
# The question is therefore what exactly has to grow, and how fast. The answer tells whether the size of that MLP is an accident of the construction, and it turns the asymptotic statements about one layer into numbers for networks of a given size.
#
# ## Three bits by hand
#
# A head that attends to all bits alike returns the share $p = t/3$ of ones among three bits, where $t$ is the number of ones. Suppose that an MLP after the head changes the sign of its output $c$ times as $p$ goes from 0 to 1. How sensitive can the function be?
#
# Think of the eight strings as the corners of a cube, with an edge between any two strings that differ in one bit. Each corner has three edges, and an edge joins a string with $t$ ones to one with $t + 1$:
#
# | between the counts | edges | the sign changes here for the function ... |
# |:--|:--|:--|
# | 0 and 1 | 3 | ... that is 1 for at least one one (OR) |
# | 1 and 2 | 6 | ... that is 1 for at least two ones (MAJORITY) |
# | 2 and 3 | 3 | ... that is 1 for three ones (AND) |
#
# The average sensitivity is the number of edges at which the function changes, times 2, because both ends see the change, and divided by the 8 corners. So one should change the sign where there are many edges. With one change the best function is MAJORITY, with $6 \cdot 2/8 = 1.5$. With two changes the best value is $9 \cdot 2/8 = 2.25$, and only with three changes does one reach 3, the value of PARITY.
#
# Could a cleverer network weight the positions differently, so that a single change in $p$ cuts more edges? Walk from the string 000 to 111 by switching on one bit after the other. Whatever the positive weights are, the share $p$ of the ones only increases on the way, so a function with one change in $p$ changes at most once on each such walk.
#
# There are six walks, one for each order of the bits. Each of the six edges between one and two ones lies on exactly one walk, whereas each of the other edges lies on two, so that a change there uses up two of the six. At most six edges can therefore be changed by such a function, and MAJORITY attains this number.
#
# ## The statement
#
# The theorem below gives the largest average sensitivity for any number of bits, for the following kind of network. One head attends to the $n$ bits, from a token that does not depend on the bits and gets no attention itself, and there is no residual connection. The scores may depend on position and bit in any way, whereas the value of a position is $v_0$ for a zero and $v_1$ for a one. An MLP with $h$ hidden ReLU units follows, and the answer $f(x) = \pm 1$ to the string $x$ is the sign of its output.
#
# As in {ref}`ch-room-of-a-function` the MLP sees only the single number $v_0 + p\,(v_1 - v_0)$, where $p(x)$ is the attention that the ones get together. The largest values are those of the function
#
# $$A(n, c) = n \cdot \Pr\bigl( \text{a fair binomial of } n - 1 \text{ trials takes one of its } c \text{ most likely values} \bigr) .$$
#
# For three bits the binomial has two trials and the probabilities $\frac14, \frac12, \frac14$. So $A(3, 1) = 1.5$, $A(3, 2) = 2.25$ and $A(3, 3) = 3$, which are the three numbers of the example.
#
# ```{prf:theorem} One head (ours)
# :label: layer-one-head
# The average sensitivity of $f$ is at most $A(n, h + 1)$. For $3 \le h < n$ there is a network of this kind with average sensitivity exactly $A(n, h + 1)$. In particular, PARITY of $n \ge 4$ bits needs $n - 1$ hidden units, and these suffice. For $h \le 2$ and $n \ge h$ the largest value is $A(n, h)$.
# ```
#
# For fixed $h$ and large $n$ the bound is about $(h + 1) \sqrt{2n/\pi}$, so it confirms for this model that the average sensitivity grows like $\sqrt n$, without a logarithm.
#
# **The idea of the proof.** The proof generalizes the argument of the six walks. A flip from 0 to 1 adds to the attention of the ones and takes from that of the zeros, so $p$ increases along each walk from the string of zeros to the string of ones. An MLP with $h$ kinks changes its sign at most $h + 1$ times on an interval, and therefore $f$ changes at most $h + 1$ times on each walk. A random walk uses an edge at a low or a high count with a larger probability than one at the central counts, where there are many edges to choose from. So the $h + 1$ changes yield the largest number of changed edges if all of them are at the central counts.
#
# **What is known of this argument.** A function that changes at most $c$ times on every such walk is called $c$-alternating. It is the parity of $c$ monotone functions, so its average sensitivity is at most $c$ times that of MAJORITY and grows like $c \sqrt n$ at most; {cite:t}`blais2015` (abstract read) study how such functions are learned. The average over random walks is Lubell's proof of Sperner's theorem {cite:p}`lubell1966`. And $A(n, c)$ is the number that {cite:t}`gotsman1994` conjectured to be the largest average sensitivity of the sign of any polynomial of degree $c$, which is false for most $c$ and $n$ ({cite:t}`chapman2018`, abstract read). What we add is that one head gives such functions, that the exact maximum among them is $A(n, c)$, and that a network attains it.
#
# ````{dropdown} Proof for one head
# We bound the changes on a walk, average over all walks, and then give the network.
#
# *Changes on a walk.* With the weights $e^{s}$ of a softmax, where $s$ is the score of a position, $p = P / (P + Q)$, where $P$ is the sum of the weights of the ones and $Q$ that of the zeros. If a bit is switched on, $P$ increases and $Q$ decreases, so $p$ increases. The output of the MLP as a function of $p$ is piecewise linear with at most $h$ kinks, so that its sign changes at most $h + 1$ times on the way from $p = 0$ to $p = 1$.
#
# *Average.* Let $E_t$ be the number of edges between the counts $t$ and $t + 1$ at which $f$ changes. There are $N_t = \binom nt (n - t) = n \binom{n-1}t$ such edges in all, and a walk in random order takes each of them with the same probability $1/N_t$. So the expected number of changes on the walk is $\sum_t E_t / N_t \le h + 1$, where each summand is at most 1. The average sensitivity is $2^{1 - n} \sum_t E_t$. Under these two conditions, that the shares $E_t / N_t$ are at most 1 and sum to at most $h + 1$, this sum is largest if $E_t = N_t$ for the $h + 1$ largest $N_t$ and $E_t = 0$ otherwise, which gives $n \sum_t \binom{n-1}t 2^{-(n-1)}$ over these $t$.
#
# *The network.* Take equal scores, so that $p = t/n$, and a piecewise linear function that alternates at the $h + 2$ central counts, with its $h$ kinks at the inner ones of these. In the proof of {prf:ref}`room-limits` it is shown that $h \ge 3$ hidden units can do so. Its sign changes between any two neighbours among these counts, and nowhere else, because the first and the last piece are continued without a further zero. For $h = n - 1$ this is PARITY, and $A(n, c) = n$ only if $c \ge n$.
#
# *One or two units.* By the last part of the proof of {prf:ref}`room-limits` the sign of the output then changes at most $h$ times, so that $A(n, h)$ is an upper bound by the same average. A ramp whose zero lies between the two central counts attains it for $h = 1$, and a V around a central count for $h = 2$. $\square$
# ````
#
# ## Trying to beat the bound
#
# A proof can contain a slip, so we also search for networks that are more sensitive than the theorem allows. The search changes scores, kinks and output weights of {glue:text}`networks` networks at random and keeps a change if it does not make the network less sensitive. Half of the networks start at random, half near the best network of the proof. One network above $A(n, h + 1)$ on the cube of {glue:text}`n` bits would refute the theorem. We also build the best network for every possible number of hidden units, and compute its average sensitivity from its values on all strings; a difference between the two columns of the table would refute that the bound is attained.

# %%
found, _ = one_layer.climb(n, hidden, networks, steps, source.generator)
allowed = one_layer.most_sensitive(n, hidden + 1)
built = pd.DataFrame(index=pd.Index(range(3, n), name="hidden units"))
exact = [one_layer.alternating(n, h) for h in built.index]
built["best network"] = [cube.average_sensitivity(one_layer.values(e)).item() for e in exact]
built["A(n, h + 1)"] = [one_layer.most_sensitive(n, h + 1) for h in built.index]
table(built, f"Largest average sensitivity with one head, {n} bits", form=".4f")
free = found[1::2].max().item()  # those that started at random

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lame = exact[0]._replace(
    readers=exact[0].readers._replace(
        weight=exact[0].readers.weight * (torch.arange(3) != 1).double()
    )
)
gap = (built["best network"] - built["A(n, h + 1)"]).abs().max()
layer.holds(
    "one head: largest distance over $h$ of the best network's average sensitivity from "
    "$A(n, h + 1)$; control: one unit of three is missing",
    gap,
    at_most=0,
    tol=1e-9,
    control=abs(cube.average_sensitivity(one_layer.values(lame)).item() - built.iloc[0, 1]),
    about="ours",
    evidence="attained",
)
glue(networks=networks, n=n, hidden=hidden, allowed=allowed, free=free)
glue(reached=found.max().item() / allowed)

# %% [markdown]
# In the table the two columns agree, so the networks of the proof attain the bound. The search with {glue:text}`hidden` hidden units reaches {glue:text}`reached:.3f` times what is allowed. But the networks that started at random come only to {glue:text}`free:.2f`, where {glue:text}`allowed:.2f` is allowed. So the bound cannot be improved, and a search that does not know the construction stays well below it.
#
# {numref}`fig-layer-zigzag` shows the network of the proof for sixteen bits and five hidden units. Follow the line from left to right. Its output changes its sign from each of the seven central counts to the next, which gives six changes, and the grey bars say that most strings have one of these counts. At both ends the line goes on without a further change. There the answer is that of PARITY only at every second count, as the open dots show.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The most sensitive function of one head with five hidden units, for sixteen bits. Line: the output of the MLP less its threshold, as a function of the share of ones. Dots: the seventeen counts; open where the answer is that of PARITY. Grey bars: how many strings have that count.", "name": "fig-layer-zigzag"}, "image": {"alt": "A zigzag line over the share of ones between 0 and 1. It crosses zero six times between the counts five and eleven, and continues in straight lines to both sides. Grey bars in the shape of a bell stand under the part where it crosses."}} tags=["hide-input"]
fig, ax = figures.new(height=2.6)
shown = one_layer.alternating(16, 5)
at = torch.linspace(0, 1, 401, dtype=torch.float64)
counts = torch.arange(17).double()
line, dots = (volumes.logits(shown.readers, v)[0] - shown.cut for v in (at, counts / 16))
size = dots[5:12].abs().max()
strings = torch.tensor([math.comb(16, t) for t in range(17)]) / math.comb(16, 8)
ax.bar(counts / 16, 2 * strings, 0.04, bottom=-1.5, color=figures.GREY, alpha=0.4)
ax.plot(at, line / size, **figures.line_style(0))
right = (dots > 0) == ((counts % 2 == 0) == bool(dots[6] > 0))
for mask, face in ((right, "white"), (~right, figures.COLOURS[1])):
    ax.plot(counts[mask] / 16, (dots / size)[mask].clamp(-1.45, 1.45), linestyle="none",
            marker="o", markerfacecolor=face, color=figures.COLOURS[1])  # fmt: skip
figures.level(ax, 0.0)
ax.set(xlabel="share of ones $t/16$", ylabel="output", ylim=(-1.5, 1.5))
figures.show()

# %% [markdown]
# ## How few units for most strings
#
# The theorem says that $n - 1$ hidden units are necessary for PARITY of four or more bits, and enough, whereas the first paper spends $4(n + 1)$ of them. Can the price be lowered further if not every answer has to be right? Before we answer this, let us see what the factor of 4 is for. The additional units give plateaus, on which the output is exact although a little attention goes to other positions. If the output is to be $\pm 1$ exactly and there is no leak, $n$ units are enough, one for each count but the last.
#
# What if the network may err on a few strings? Nearly all strings have close to $n/2$ ones, within a few times $\frac12 \sqrt n$. So a network that alternates at the central counts only is right on most strings. {numref}`fig-layer-units` shows the largest average sensitivity as a share of that of PARITY, against the number of hidden units plus one, divided by $\sqrt n$. If about $\sqrt n$ units are what matters, the curves for different $n$ have to agree.

# %%
grid = {m: sorted({round(k * math.sqrt(m) / 8) for k in range(1, 33)}) for m in (16, 64, far)}
curves = {
    m: [(c / math.sqrt(m), one_layer.most_sensitive(m, c) / m) for c in cs if 1 <= c <= m]
    for m, cs in grid.items()
}


def agreement(m, units, first):
    """Share of the strings of m bits on which a reader that alternates from a count is PARITY."""
    mass = [math.comb(m, t) / 2**m for t in range(m + 1)]
    last = first + units + 1
    right = sum(mass[first : last + 1])
    below = sum(mass[t] for t in range(first) if (first - t) % 2 == 0)
    return right + below + sum(mass[t] for t in range(last + 1, m + 1) if (t - last) % 2 == 0)


few = math.ceil(2 * math.sqrt(far))
share = agreement(far, few, (far - few) // 2)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Largest average sensitivity of one head, as a share of that of PARITY, against the number of hidden units plus one, divided by the square root of the number of bits.", "name": "fig-layer-units"}, "image": {"alt": "Three curves that lie almost on each other. They rise from near zero, pass one half at about two thirds, nine tenths near 1.7 and are close to 1 from two and a half on."}} tags=["hide-input"]
fig, ax = figures.new(height=2.6)
for i, (m, points) in enumerate(curves.items()):
    ax.plot(*zip(*points, strict=True), label=f"{m} bits", **figures.series_style(i, markersize=3))
figures.level(ax, 1.0)
ax.set(xlabel="$(h + 1) / \\sqrt{n}$", ylabel="$A(n, h + 1) / n$", ylim=(0, 1.08))
ax.legend(loc="lower right")
figures.show()

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
layer.holds(
    "$2 \\sqrt n$ units: share of the strings on which one head is PARITY; control: units "
    "that alternate at the lowest counts",
    share,
    at_least=0.95,
    control=agreement(far, few, 0),
    about="ours",
    evidence="exhaustive",
)
glue(far=far, few=few, share=100 * share, all_units=far - 1, theirs=4 * (far + 1))

# %% [markdown]
# The three curves agree, because the binomial is close to a normal law. All three pass nine tenths between 1.5 and 1.75, and from 2.5 on they are within 2 % of 1. The share of the strings on which the network agrees with PARITY is even larger than this share of the sensitivity, so that about $2 \sqrt n$ units suffice for about {glue:text}`share:.0f` % of the strings. At {glue:text}`far` bits these are {glue:text}`few` units, where all strings need {glue:text}`all_units` and the first paper has {glue:text}`theirs:.0f`. In other words, the linear growth is needed only for the rare strings, and a network that is trained and tested on random strings can do without it.
#
# ## Heads times degree
#
# Instead of hidden units one can spend heads. Let there be $H$ heads with arbitrary scores and values, which again attend from a token that does not depend on the bits, and let the answer be the sign of a polynomial of degree $r$ in all their outputs, the *read-out*. Hsu allows quotients of two such polynomials, and derives a statement for ReLU networks with a margin.
#
# ```{prf:proposition} Heads times degree (in part ours)
# :label: layer-heads-degree
# *(For $r = 1$ this is a result of {cite:t}`rajaraman2026`, according to whom {cite:t}`hsu2026` has $n/4$ for quotients. The rest is ours.)* If the answer is PARITY of $n$ bits, then $H r \ge n$. This is sharp: whenever $H r \ge n$, some $H$ heads with a read-out of degree $r$ compute PARITY. For a quotient of two polynomials of degree $r$ the inequality is $2 H r \ge n$.
# ```
#
# **The idea of the proof.** A head returns a quotient of two functions that are linear in the bits, because every token contributes a summand that depends on one bit. If we multiply the read-out with the positive denominators, its sign does not change, and it becomes a polynomial of degree $H r$ in the bits, with the sign of PARITY. By a classical argument of Minsky and Papert such a polynomial needs the degree $n$: averaged over all orders of the bits, it is a polynomial in the number of ones that changes its sign $n$ times.
#
# ````{dropdown} Proof for heads times degree
# We clear denominators, average over permutations, and count zeros.
#
# *Denominators.* A function of one bit is linear in it. So numerator and denominator of every output of head $i$ are linear in $x$, and all outputs of the head have the same denominator $\ell_i(x) > 0$. Multiply the read-out with $\prod_i \ell_i(x)^r$. Each monomial has a degree of at most $r$ in the outputs of each head, so what results is a polynomial of degree at most $H r$ in $x$, whose sign is that of PARITY.
#
# *Average.* Averaging this polynomial over all orders of the bits keeps the sign, because PARITY is symmetric. On strings of bits the average is a polynomial $q$ of the number $t$ of ones, of degree at most $H r$.
#
# *Zeros.* Since $q(0), q(1), \dots, q(n)$ alternate, $q$ has $n$ zeros and the degree is at least $n$. For a quotient, multiply by the square of its denominator, which doubles the degree.
#
# *Sharp.* Let all positions be treated alike, and let head $i$ multiply the weight of a one by $\Gamma_i$, with different $\Gamma_i > 0$. Its share is $\Gamma_i t / (n - t + \Gamma_i t)$. For $r = 1$ the span of $n$ such functions and the constants has dimension $n + 1$ on the counts $0, \dots, n$: at $t = 0$ only the constant is not 0, and for $t \ge 1$ the share is $\Gamma_i / (u_t + \Gamma_i)$ with $u_t = n/t - 1$, which is a Cauchy matrix up to factors. So every sequence of signs at the counts can be attained.
#
# For $r > 1$ the constants and the powers $(u + \Gamma_i)^{-e}$ with $e \le r$ span all functions $P(u)/\prod_i (u + \Gamma_i)^r$ with a polynomial $P$ of degree at most $H r$, by partial fractions. If $H r \ge n$, these take any values at $u_1, \dots, u_n$ and at $u = \infty$, which stands for $t = 0$. $\square$
# ````
#
# All this can be checked without rounding, in fractions. After $H$ heads a read-out of degree $r$ takes $n + 1$ values at the counts $0, \dots, n$, and we compute two things.
#
# * *Free values.* How many of the $n + 1$ values can be chosen freely is the rank of a matrix. If it is $n + 1$, PARITY is certainly possible. A row with $H r \ge n$ and fewer than $n + 1$ free values would speak against the proposition.
# * *A relation that forbids PARITY.* For every polynomial $q$ of degree below $n$ we have $\sum_t (-1)^t \binom nt q(t) = 0$, whereas all summands are positive if $q$ has the sign of PARITY. As $q$ we take the read-out times the positive denominators of the heads, as in the proof. A row with $H r < n$ in which this relation fails would speak against the proposition.

# %%
rows = []
for heads in (1, 2, 4, n - 1, n):
    factors = [Fraction(k + 1, 2) for k in range(heads)]
    degrees = sorted({max(n // heads, 1), max((n - 1) // heads, 1)})
    for r in degrees:
        free_values = Matrix(one_layer.monomials(one_layer.head_shares(n, factors), r)).rank()
        weights = [Fraction((7 * k * k + 3) % 11 - 5) for k in range(math.comb(heads + r, r))]
        relation = one_layer.alternating_sum(n, factors, r, weights)
        rows.append({"heads": heads, "degree": r, "H r": heads * r, "free values": free_values,
                     "relation holds": "yes" if relation == 0 else "no"})  # fmt: skip
ranks = pd.DataFrame(rows)
table(ranks.set_index("heads"), f"Values at the {n + 1} counts of {n} bits")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
factors = [Fraction(k + 1, 2) for k in range(n)]
columns = one_layer.monomials(one_layer.head_shares(n, factors), 1)
matrix = torch.tensor([[float(v) for v in c] for c in columns], dtype=torch.float64).T
target = torch.tensor([(-1.0) ** t for t in range(n + 1)], dtype=torch.float64)
weights = torch.linalg.solve(matrix, target)
said = (matrix @ weights)[cube.bits(n).sum(1)].sign()  # what n heads say of all strings
sensitivity = cube.average_sensitivity(said).item()
layer.holds(
    "one head: ratio of the largest average sensitivity that the search finds to $A(n, h + "
    "1)$; control: $n$ heads with a linear read-out",
    found.max().item() / allowed,
    at_most=1,
    tol=1e-12,
    control=sensitivity / allowed,
    about="ours",
    evidence="proved",
)
below, enough = ranks[ranks["H r"] < n], ranks[ranks["H r"] >= n]
layer.holds(
    "heads times degree below $n$: number of pairs for which the relation that forbids "
    "PARITY fails; control: heads times degree at least $n$",
    int((below["relation holds"] != "yes").sum()),
    equals=0,
    control=int((enough["relation holds"] != "yes").sum()),
    about="ours",
    evidence="proved",
)
twins = one_layer.monomials(one_layer.head_shares(n, [*factors[:-1], factors[0]]), 1)
layer.holds(
    "$n$ heads and a linear read-out: number of values at the $n + 1$ counts that can be "
    "chosen freely, less $n + 1$; control: two of the heads are alike",
    Matrix(columns).rank() - n - 1,
    equals=0,
    control=Matrix(twins).rank() - n - 1,
    about="ours",
    evidence="proved",
)
glue(by_heads=sensitivity, weight=weights.abs().max().item())

# %% [markdown]
# The number of free values is $H r + 1$ in all rows, up to $n + 1$, so for heads that treat all positions alike, heads times degree is exactly what counts. With {glue:text}`n` heads a linear read-out computes PARITY, and its average sensitivity is {glue:text}`by_heads:.0f`.
#
# But these heads have a price of their own. The read-out has weights up to {glue:text}`weight:.1e`, because the shares of different heads are nearly the same function. With factors $\Gamma_i$ spread geometrically from $\frac1{56}$ to 56 the largest weight is about 5500 at 8 bits, and it grows by a factor of about 20 with every two bits. This agrees with what {ref}`ch-layer-norm-blowup` finds, that a network that computes PARITY must have large weights or be large itself, but it does not prove that large weights are needed here.
#
# ## Two layers without layer norm
#
# What changes with a second layer? Hahn and Rofin prove that a transformer with bounded weights can compute PARITY only if its layer norms magnify strongly ({ref}`ch-layer-norm-blowup`). Without layer norm, and with weights and encodings that stay bounded, a flip of one bit moves the output by $O(1/n)$ only ({ref}`ch-influence-at-output`). So no fixed *margin*, which is the output times the right sign, is possible on long strings. But encodings may grow, and in this case PARITY is possible.
#
# **What is known of such networks.** Chiang and Cholak have two layers that recognise PARITY at every length, and fewer are not enough by the result of Kozachinskiy, Steifer and Wałęga on one layer. But in their network the encoding of a position depends on the length of the string (it is $x/n$, as Kozachinskiy and Steifer report). This encoding is therefore bounded, and by the argument above the margin tends to 0 without layer norm. Kozachinskiy and Steifer have three layers without layer norm, in which neither weights nor encodings depend on the length. Kozachinskiy, Steifer and Wałęga have four, whose encodings are bounded by a polynomial and which also work with a causal mask. We could read neither of these two constructions.
#
# **The idea of the network.** According to the summary of the network with three layers, two layers prepare a number for each position that is largest at the position whose index is the number $k$ of ones, and in the third layer a softmax picks this position and reads the sign $(-1)^k$ there. This idea is theirs. The following network carries it out with two layers and with encodings that do not depend on the length. This is possible because an end symbol, which carries no bit, lets the first layer compare position and count.
#
# **The network.** Let the bits stand at the positions $0, \dots, n - 1$ and the end symbol at position $n$, where the answer is read. Position $x$ is encoded as $\log(x + \frac18)$, $(-1)^x$ and $x + 1$.
#
# 1. *First layer.* At position $x$ a zero gets the unnormalised weight 1, a one the weight 2, and the end symbol $x + \frac18$, because the score of the end symbol is the logarithm in the encoding. The value of a one is $-\frac12$ and that of the end symbol is 1. What attention returns is therefore
#
#    $$d_x = \frac{x - k + \frac18}{n + k + x + \frac18} ,$$
#
#    where $k$ is the number of ones, and two hidden units turn $d_x$ into $-|d_x|$. This number is largest at the position $x = k$.
# 2. *Second layer.* The end symbol attends to position $x$ with the score $-32\, (n + 1)\, |d_x|$, where $n + 1$ is its own encoding. The value is $(-1)^x$. So nearly all attention goes to position $k$, and what is read there is $(-1)^k$, the parity.
#
# For example, take three bits, two of which are ones, so that $n = 3$ and $k = 2$. The table has the four positions, the last of which is the end symbol, and the factor 4 in it is $n + 1$:
#
# | $x$ | 0 | 1 | 2 | 3 |
# |:--|:--|:--|:--|:--|
# | $d_x$ | $-0.366$ | $-0.143$ | $0.018$ | $0.138$ |
# | $4\, (\lvert d_x \rvert - \lvert d_2 \rvert)$ | 1.39 | 0.50 | 0 | 0.48 |
# | sign $(-1)^x$ | $+$ | $-$ | $+$ | $-$ |
#
# The smallest $|d_x|$ stands at $x = 2$. The scores of the neighbours are 32 times 0.50 and 32 times 0.48 lower, so that they get less than a millionth of the attention, and the output is $+1$ up to this error. On longer strings the differences between neighbours shrink like $\frac1n$, but the factor $n + 1$ makes up for it.
#
# ```{prf:theorem} PARITY in two layers without layer norm (ours)
# :label: layer-no-norm
# For every $n \ge 1$ and every string of $n$ bits with $k$ ones, the output $T$ of this network satisfies
#
# $$(-1)^k\, T \ge \frac{1 - \eta}{1 + \eta} \quad \text{with} \quad \eta = \frac2{e^8 - 1}, \quad \text{that is,} \quad |T - (-1)^k| \le 0.0014 .$$
#
# Its weights and its encodings do not depend on $n$.
# ```
#
# What grows with the length are therefore the encodings $\log(x + \frac18)$ and $x + 1$ of the last positions, and with them the scores of the second layer, which reach about $16 n$ in size.
#
# **The idea of the proof.** As $x$ grows, $d_x$ increases, and it passes 0 just before $x = k$. So $|d_x|$ is least at $x = k$, and what has to be shown is that the score falls by a fixed amount for each step away from $k$. The shift of $\frac18$ is needed because the end symbol cannot have the weight 0, and it is harmless because it is less than half a step.
#
# ````{dropdown} Proof of the two-layer network
# We bound the gap of the scores from below on both sides of $k$, and then sum a geometric series. Let $\delta = \frac18$, $N = n + 2k + \delta$, and let $y = |x - k| \ge 1$. All denominators $n + k + x + \delta$ are at most $3(n + 1)$.
#
# *Above.* For $x = k + y$ we have
#
# $$|d_x| - |d_k| = \frac{y + \delta}{N + y} - \frac\delta N = \frac{y\, (N - \delta)}{N (N + y)} \ge \frac1{1 + \delta} \cdot \frac y{3(n + 1)} ,$$
#
# because $N \ge n + \delta \ge 1 + \delta$.
#
# *Below.* For $x = k - y$ we have
#
# $$|d_x| - |d_k| = \frac{y - \delta}{N - y} - \frac\delta N \ge \frac{y - 2 \delta}{N - y} \ge \frac{(1 - 2 \delta)\, y}{3 (n + 1)} .$$
#
# *Sum.* Since $\frac1{1 + \delta} = \frac89$ and $1 - 2\delta = \frac34$, on both sides $(n + 1) (|d_x| - |d_k|) \ge \frac y4$. So position $x$ has at most $e^{-32\, y/4}$ times the attention of position $k$, and all others together have at most $\eta = 2 \sum_{y \ge 1} e^{-8 y}$ times as much. If they all had the wrong sign, the output would still be $(1 - \eta)/(1 + \eta)$. $\square$
# ````
#
# A single string with a smaller margin would refute the theorem. We try all strings of up to {glue:text}`all_strings` bits, and random and extreme ones of {glue:text}`far` bits: all bits equal, a single one or a single zero at either end, and alternating bits. In the control the encoding $x + 1$ stops growing at 9, and the margin should be lost on the long strings.


# %%
def tried(growth):
    """Least margin over all short strings, and over chosen long ones."""
    least = []
    for m in (*range(1, all_strings + 1), far):
        if m < far:
            strings = cube.bits(m)
        else:
            one = torch.eye(m, dtype=torch.int64)[[0, -1]]
            alternating = torch.arange(m)[None] % 2
            some = torch.randint(0, 2, (8, m), generator=source.generator)
            level = torch.tensor([[0], [1]]).expand(2, m)
            strings = torch.cat((level, one, 1 - one, alternating, 1 - alternating, some))
        network = no_norm.parity_without_norm(m, growth)
        least.append((no_norm.forward(*network, strings) * parity_of(strings)).min().item())
    return least


margins, frozen = tried("encodings"), tried("nothing")
gaps = [no_norm.least_gap(m) for m in (*range(1, 60), far)]

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
without.holds(
    "two layers without layer norm: least margin over all short strings and the long ones "
    "that we chose; control: encodings that grow up to 9 only",
    min(margins),
    at_least=no_norm.margin(),
    control=min(frozen),
    about="ours",
    evidence="proved",
)
without.holds(
    "least gap of the scores for each step away from the number of ones, times $n + 1$, "
    "over all positions and counts; control: a shift of five eighths",
    min(gaps),
    at_least=1 / 4,
    control=min(no_norm.least_gap(m, 5 / 8) for m in (4, 16, 59)),
    about="ours",
    evidence="proved",
)
glue(all_strings=all_strings, worst=1 - min(margins), granted=1 - no_norm.margin())
glue(frozen=frozen[-1], worst_far=1 - margins[-1])

# %% [markdown]
# The largest deviation from $\pm 1$ is {glue:text}`worst:.5f`, where the theorem allows {glue:text}`granted:.5f`. If the encoding stops growing, the least margin on the long strings is {glue:text}`frozen:.3f`, where a negative number means a wrong sign. The margin has to be small then, because one flip moves every $d_x$, and with it the output, by $O(1/n)$ only.
#
# **What does the network pay for this?** The network of {ref}`ch-brittle-transformers` needs a layer norm that magnifies a number of size $1/n^2$. Its answer is lost after a random step of all weights, of length $\rho$, as soon as the strings have about $4.4/\sqrt\rho$ bits, by the fit of that chapter. Our network has no layer norm, so one could hope that it tolerates larger steps. But it multiplies numbers of size $1/n$ with an encoding of size $n$, and this encoding also multiplies the noise in the weights.
#
# How much harm does the noise do? We compare it with what it has to blur: neighbouring $d_x$ differ by about $\frac1{2n}$. A step changes each weight by an amount $\sigma$ in proportion to $\rho$, and one of these changes lets the value matrix of the first layer read the encodings $x + 1$. What attention then adds to $d_x$ is $\sigma$ times the mean encoding. Let half of the bits be ones and $x$ be near $k$. The bits have the total weight $\frac n2 + 2 \cdot \frac n2 = \frac32 n$ and the mean encoding of about $\frac n2$, and the end symbol has the weight $\frac n2$ and the encoding $n + 1$. So the mean encoding is about $\frac34 \cdot \frac n2 + \frac14 \cdot n = \frac58 n$, and a number of the order $\sigma n$ is added to $d_x$. The answer should be lost where $\sigma n$ is of the order $\frac1n$, that is, at a length in proportion to $\rho^{-1/2}$ again. This is an estimate and no proof.
#
# To test this guess we measure the *average direction sharpness* of both networks, the mean square of the change of the output under a random step of length $\rho$ of all weights but the encodings. The two networks have the same shapes, with 32 columns and 32 hidden units. The length at which the sharpness passes $\frac12$ is the *crossing* $n^*(\rho)$, and the guess would be wrong if the crossing were not in proportion to $\rho^{-1/2}$.
#
# We add a third network, in which a weight of the second layer has the factor $n + 1$ in place of the encoding. The weights therefore differ from length to length, and only the logarithm is left to grow in the encodings.

# %%
lengths = [round(4 * 2 ** (k / 2)) for k in range(16)]
radii = [0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
kinds = {
    "layer norm": (parity.forward, parity.parity_transformer, radii),
    "encodings grow": (no_norm.forward, no_norm.parity_without_norm, radii),
    "weights grow": (
        no_norm.forward, lambda m: no_norm.parity_without_norm(m, "weights"), [0.1, *radii[:3]]
    ),
}  # fmt: skip
found_at = {
    kind: {
        rho: no_norm.crossing(network, build, rho, lengths, draws, source.generator)
        for rho in sizes
    }
    for kind, (network, build, sizes) in kinds.items()
}
curves = {  # a level that is never passed, so that they go on to 256 bits
    kind: no_norm.crossing(network, build, 0.01, lengths[:13], draws, source.generator, 99).curve
    for kind, (network, build, _) in kinds.items()
}
crossings = pd.DataFrame({k: {r: c.length for r, c in f.items()} for k, f in found_at.items()})
laws = {
    kind: statistics.trend(list(some.index), some.tolist(), 0.99, log=True)
    for kind, some in ((k, crossings[k].dropna()) for k in crossings)
}
shown = crossings.sort_index(ascending=False)
table(
    shown.set_axis([f"{rho:g}" for rho in shown.index]).rename_axis("step $\\rho$"),
    "Length in bits at which the sharpness passes one half",
    form=".0f",
    none="-",
)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Average direction sharpness of three networks that compute PARITY, for steps of length 0.01, against the number of bits. Grey: one half.", "name": "fig-layer-sharpness"}, "image": {"alt": "Three curves against the number of bits on a logarithmic axis. That of the network with layer norm rises gently from about sixteen bits on and levels off at 1. That of the network whose encodings grow stays at 0, rises steeply near forty bits and stays above 1. That of the network whose weights grow begins to rise only near two hundred bits."}} tags=["hide-input"]
fig, ax = figures.new(height=2.8)
for i, (kind, curve) in enumerate(curves.items()):
    ax.plot(*zip(*curve, strict=True), label=kind, **figures.series_style(i))
figures.level(ax, 0.5)
ax.set(xscale="log", xlabel="bits", ylabel="sharpness")
figures.ticks(ax, [n for n in lengths[:13] if math.log2(n) % 1 == 0])
ax.legend(loc="upper left")
figures.show()

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
law = laws["encodings grow"]
without.holds(
    "without layer norm and with encodings that grow: power of the step $\\rho$ in the "
    "length $n^*$ at which the answer is lost; control: a weight grows in place of the "
    "encodings",
    law.value,
    equals=-0.5,
    tol=law.high - law.value,
    control=laws["weights grow"].value,
    about="ours",
    evidence="sampled",
)
scaled = {k: (crossings[k] * crossings.index**0.5).dropna().mean() for k in crossings}
glue(power_none=f"{law:.2f}", power_norm=f"{laws['layer norm']:.2f}", draws=draws)
glue(power_weights=f"{laws['weights grow']:.2f}")
glue(level_none=scaled["encodings grow"], level_norm=scaled["layer norm"])
glue(cross_none=crossings.loc[0.01, "encodings grow"], cross_norm=crossings.loc[0.01, "layer norm"])
glue(cross_weights=crossings.loc[0.01, "weights grow"])
glue(late_none=curves["encodings grow"][-1][1], late_norm=curves["layer norm"][-1][1])

# %% [markdown]
# (A dash in the table marks a step that was not tried with this network, or with which one half was not passed at the lengths tried.)
#
# Read {numref}`fig-layer-sharpness` from left to right. The network with layer norm loses its answer gradually, and its sharpness levels off near 1 ({glue:text}`late_norm:.2f` at 256 bits), the value of an output that is near 0 at every string. The network whose encodings grow keeps its answer a little longer and then loses it suddenly, because a softmax that has moved to a neighbouring position reads a sign there with full confidence. At 256 bits its sharpness is {glue:text}`late_none:.2f`, whereas an output whose sign is random would have 2. The sharpness of both networks passes one half at nearly the same length, {glue:text}`cross_norm:.0f` bits with layer norm and {glue:text}`cross_none:.0f` without, for steps of 0.01.
#
# The two crossings are close for all steps that we tried:
#
# | network | crossing | exponent of $\rho$, with its 99 % interval |
# |:--|:--|:--|
# | without layer norm, encodings grow | about {glue:text}`level_none:.1f`$/\sqrt\rho$ | {glue:text}`power_none` |
# | with layer norm | about {glue:text}`level_norm:.1f`$/\sqrt\rho$ | {glue:text}`power_norm` |
#
# So these two networks are about equally brittle, one with layer norm and one without, although for different reasons. (The 4.4 above was found with other steps and draws.) That even the factors are so close is an accident of the two constructions, which have the same number of columns.
#
# The third network tolerates larger steps, since noise is no longer multiplied with large encodings. At 0.01 its sharpness passes one half at about {glue:text}`cross_weights:.0f` bits (each crossing has an error of some 6 to 10 %), and its crossing has the exponent {glue:text}`power_weights`, from four crossings. But this network has to be written anew for each length, and a step of fixed length is a smaller and smaller share of its weights. In this sense the third network replaces large encodings by another cost, the size of its weights.
#
# This comparison has three limits. First, we do not know whether encodings that grow more slowly than $n$ would do. Second, our network is not causal, because each position has to see all bits, whereas the four layers of Kozachinskiy, Steifer and Wałęga work with a causal mask as well. And third, our measurements are about two networks that were written by hand. Another network without layer norm, for example one of theirs, may tolerate larger steps, or only smaller ones.
#
# ## What we found
#
# * With one head and values that depend on the bit alone, the largest average sensitivity is $A(n, h + 1)$, attained for $h \ge 3$. For fixed $h$ this is of order $\sqrt n$, without the logarithms of the general statement.
# * PARITY then needs $n - 1$ hidden units from four bits on. So the $4(n + 1)$ units of the first paper are within a factor of about four of the least possible number, and the factor buys tolerance against the leak of attention.
# * About $2 \sqrt n$ units compute PARITY on about {glue:text}`share:.0f` % of the strings. So a network of nearly the largest average sensitivity can be much smaller than one that is right on all strings.
# * Heads times degree of a polynomial read-out must be at least $n$, which is sharp. For linear read-outs this is a result of Rajaraman, Sundaram and Tesfaye.
# * Two layers without layer norm compute PARITY at every length with fixed weights and a fixed margin, if encodings grow like $n$. Two layers are known from Chiang and Cholak, with encodings that depend on the length, and the idea is one of Kozachinskiy and Steifer; the network is ours.
# * This network is about as brittle as the hand-written network with layer norm. In our measurements its answer is lost after a random step of length $\rho$ at about {glue:text}`level_none:.1f`$/\sqrt\rho$ bits, practically where a network with layer norm loses it.
#
# ## What would falsify this
#
# Each statement has a counterexample that one could look for. {prf:ref}`layer-one-head` would be refuted by a network of one head with $h$ hidden units, with values that depend on the bit alone, whose average sensitivity exceeds $A(n, h + 1)$. {prf:ref}`layer-heads-degree` would be refuted by a polynomial read-out of degree $r$ after $H$ heads that computes PARITY of more than $H r$ bits. {prf:ref}`layer-no-norm` would be refuted by a string with a margin below $1 - 0.0014$, and the guess about the brittleness by another exponent of the crossing than $-\frac12$. The controls break the hypotheses: with {glue:text}`n` heads in place of one, the average sensitivity exceeds the bound for one head, and a network that lacks one of its units falls short of it.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The papers of Hsu, of Kozachinskiy and Steifer, of these two with Wałęga, and of Rajaraman, Sundaram and Tesfaye contain proofs only, as far as we know. The first paper's program builds its MLP with $4(d + 1)$ units for a set of $d$ bits, whatever the leak of attention is.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-layer-four
#
# *By hand.* Compute $A(4, 1)$, $A(4, 2)$ and $A(4, 4)$, and describe a function that attains $A(4, 2)$.
# ```
#
# ```{solution} ex-layer-four
# :class: dropdown
#
# The binomial of three trials has the probabilities $\frac18, \frac38, \frac38, \frac18$. So $A(4, 1) = 4 \cdot \frac38 = 1.5$, $A(4, 2) = 3$ and $A(4, 4) = 4$. The two changes are between the counts 1 and 2 and between 2 and 3. So the function that is $-1$ for exactly two ones and 1 otherwise attains $A(4, 2)$.
# ```
#
# ```{exercise}
# :label: ex-layer-share
#
# *With the computer.* Run the chapter at other lengths, for example by `python -m bookkit.run beyond/one_layer_parity -p far 1000 --out my_run`. Then find the least number of units with which one head agrees with PARITY on 99 % of the strings, for 100, 200, 400 and 800 bits. How does it grow?
# ```
#
# ```{solution-start} ex-layer-share
# :class: dropdown
# ```
#
# The function `agreement` is increasing in the number of units if they alternate at the central counts, so one can simply count upwards.

# %%
needed = {}
for m in (100, 200, 400, 800):
    needed[m] = next(u for u in range(3, m) if agreement(m, u, (m - u) // 2) >= 0.99)
per_root = {m: u / math.sqrt(m) for m, u in needed.items()}
table(
    {"bits": list(needed), "units": list(needed.values()), "over √n": list(per_root.values())},
    "Units for 99 % of the strings",
    form=".2f",
)

# %% [markdown]
# The number grows like $\sqrt n$, and the factor is a quantile of the normal law: outside the counts at which the output alternates the network still agrees with PARITY on every other count, so 2 % of the strings may lie outside.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-layer-shift
#
# *By hand.* Let the shift in the network without layer norm be $\frac12$ in place of $\frac18$, and let a string of three bits have two ones. At which two positions is $|d_x|$ nearly the same, and what is wrong with the answer on a long string of half ones?
# ```
#
# ```{solution} ex-layer-shift
# :class: dropdown
#
# At $x = 1$ it is $\frac{0.5}{6.5} = 0.077$ and at $x = 2$ it is $\frac{0.5}{7.5} = 0.067$. On a long string with $k = \frac n2$ the two are $\frac{0.5}{2n - 0.5}$ and $\frac{0.5}{2n + 0.5}$, so they differ by about $\frac1{8n^2}$ only. Times $32\, (n + 1)$ this is about $\frac4n$, which vanishes, so both positions get nearly half of the attention and their signs cancel.
# ```
#
# ```{exercise}
# :label: ex-layer-two
#
# *To think about.* Where does the proof of the theorem fail if there are two heads, and how many changes can two heads with equal treatment of all positions and $h$ hidden units have at most?
# ```
#
# ```{solution} ex-layer-two
# :class: dropdown
#
# Each of the two shares increases along every walk, but what a hidden unit sees is a combination of both, which may rise and fall again. A combination of two shares and a constant is a quotient whose numerator has degree 2 in the number of ones, so it has at most two zeros. Each hidden unit thus switches at most twice, there are at most $2h + 1$ pieces, and on each of them the output has at most two zeros. So there are at most $2 (2h + 1)$ changes, and with $H$ heads at most $H (H h + 1)$. PARITY needs $n$ of them, but whether so many can be attained is another question.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The average sensitivity and the average direction sharpness are those of {cite:t}`sensitive`, the network with $4(n + 1)$ units that of {cite:t}`sharper`.
