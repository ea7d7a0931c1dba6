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
# (ch-sparse-token-regression)=
# # Tokens that point at tokens
#
# ```{verdict}
# The assumptions of the paper can be satisfied: normal data and linear labels have the moments that it asks for. For a prompt of length $N$, vectors of random signs in order $\log N$ dimensions are codes of the positions that are not too alike. In the limit of long prompts random signs satisfy the assumption with high probability in more than {glue:text}`threshold_c:.1f` $\log N$ dimensions, and violate it in fewer. At 1000 tokens they satisfy it with a probability of at least {glue:text}`proved_14:.2f` already in $14 \log N$ dimensions.
# ```
# **Needs** nothing but probability. **Read** 9 min. **Runs in** 10 s. **Source** quoted.
#
# **Claim.** In *sparse token regression* each token names the few tokens that its label depends on. The paper assumes data and labels with light tails, and codes of the positions, called *encodings*, that are not too alike, that is, have small inner products. Normal data and linear labels have such tails. Vectors of random signs are such encodings if their dimension is a large enough multiple of $\log N$, and we compute how large the multiple must be.

# %% tags=["parameters"]
q_max = 3  # most pointers of a token [2..4]
d = 5  # dimensions of the data [2..8]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import itertools
import math

import pandas as pd
import torch
from scipy.special import gammaln

from bookkit import Ledger, figures, glue, listed, table
from helpers.rng import Rng, f64
from papers.retrieval import random_encodings, task
from papers.retrieval.task import Prompts

ledger, source = Ledger("retrieval/sparse_token_regression"), Rng(seed)
signs = ledger.result("retrieval.ass123.signs")
generator = source.generator


def draw(N, q, B=1, simple=False):
    """Prompts in float64."""
    drawn = task.prompts(B, N, d, generator, q=q, simple=simple)
    return Prompts(drawn.x.double(), drawn.t)


# %% [markdown]
# ## Why one should care
#
# All chapters of this part are about one task. The task is a model of a situation in which a network has to follow references: the input itself says, for each token, which other tokens matter. We can then compare how transformers, recurrent networks and feedforward networks follow such references, and how many examples each of them needs. Before theorems can be trusted, one should know whether their assumptions can be satisfied at all, and at what price. The critical one is about positions, because a pointer must be written as a vector, and a network must be able to distinguish $N$ such vectors. With $N$ dimensions this is easy, since one can use orthogonal vectors, but then the network would grow with the length of the prompts. The paper says that order $\log N$ dimensions are enough, and we ask how many exactly.
#
# ## A prompt by hand
#
# Take four tokens with the data $2, -1, 3, \frac12$, and let each token point at one token. In the *general* task the pointers may all be different, for example $3, 1, 4, 2$. If the label is the number that the pointer names, the labels are $3, 2, \frac12, -1$. In the *simple* task all tokens point at the same token, say at token 3, and then all labels are 3.
#
# The model does not see the numbers of the positions. It sees a vector for each position, for instance a vector of random signs. In four dimensions, let position 1 have the signs $(+, +, +, +)$, position 2 $(+, +, -, -)$, and position 3 $(+, +, +, -)$. Scaled to length 1, positions 1 and 2 have the inner product 0, and positions 1 and 3 have $\frac{1 + 1 + 1 - 1}4 = \frac12$. Assumption 3 allows inner products of up to $\frac12$ in size, so it only forbids that two vectors agree in all four signs, or in none. How likely is it that four random vectors comply? Up to their sign there are 8 different vectors, so the probability is $\frac78 \cdot \frac68 \cdot \frac58 = 0.41$. Four dimensions are therefore too few for four positions, if the assumption is to hold with high probability.
#
# In general a token may have several pointers, and here is a prompt of six tokens with two pointers each. The label is linear: it is $\langle u_1, x \rangle$ of the first token pointed at plus $\langle u_2, x \rangle$ of the second, with data $x$ of {glue:text}`d` dimensions.

# %%
u, one = source.normal(2, d), draw(6, 2)
y = [sum(float(u[h] @ one.x[0, one.t[0, i, h]]) for h in range(2)) for i in range(6)]
points_at = [" and ".join(str(int(t) + 1) for t in row) for row in one.t[0]]
table({"token": range(1, 7), "points at": points_at, "label": y}, "A prompt", form=".3f")

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
differ = {}
for simple in (True, False):
    labels = task.labels(draw(6, 2, 50, simple), u)
    differ[simple] = (labels - labels[:, :1]).abs().max().item()
ledger.result("retrieval.def2").holds(
    "largest difference between two labels of a simple prompt; control: a general prompt",
    max(differ[True], (task.labels(one, u)[0] - f64(y)).abs().max().item()),
    at_most=0,
    tol=1e-12,
    control=differ[False],
    about="statement",
    evidence="attained",
)

# %% [markdown]
# ## The task
#
# ```{prf:definition} Mousavi-Hosseini et al. (2025), Definition 2
# :label: retrieval-def2
# *(Quoted.)* A *prompt* has $N$ tokens $(x_i, t_i)$ with data $x_i \in \mathbb R^d$ and pointers $t_i = (t_{i1}, \dots, t_{iq}) \in \{1, \dots, N\}^q$. In *$q$-sparse token regression* token $i$ has the label $y_i = g(x_{t_{i1}}, \dots, x_{t_{iq}})$, with one function $g : \mathbb R^{qd} \to \mathbb R$ for all tokens and prompts. In the *simple* form all tokens of a prompt have the same pointers.
# ```
#
# ## What is assumed
#
# ```{prf:definition} Mousavi-Hosseini et al. (2025), Assumptions 1 to 3
# :label: retrieval-ass123
# 1. *(Quoted.)* For all $r \ge 1$: $\bigl(\mathbb E\, \|x_i\|^r\bigr)^{1/r} \le \sqrt{C_x\, d\, r}$ and $\bigl(\mathbb E\, |y_i|^r\bigr)^{1/r} \le \sqrt{C_y\, r^s}$, with constants $C_x, C_y, s$.
# 2. *(Quoted.)* A net $x \mapsto a^\top \sigma(Wx + b)$ with $m_g$ ReLUs $\sigma$ and norms $\|a\| \le r_a/\sqrt{m_g}$, $\|(W, b)\|_F \le \sqrt{m_g}\, r_w$ is within $\sqrt{\varepsilon_{2NN}}$ of $g$ on all data no longer than a radius $r_x$, of order $\sqrt{C_x\, d \log(nN)}$.
# 3. *(Quoted.)* Position $i$ is shown by a vector $\omega_i \in \mathbb R^{d_e}$ with $\|\omega_i\| = 1$, and $|\langle \omega_i, \omega_j \rangle| \le \frac12$ for all $i \ne j$. The paper suggests random signs over $\sqrt{d_e}$, with $d_e$ of order $\log N$.
#
# A token is given to the model as $z_i = \bigl(x_i,\; s\,\omega_i,\; s\,\omega_{t_{i1}}, \dots, s\,\omega_{t_{iq}}\bigr)$ with the scale $s = \sqrt{d/q}$ *(quoted; this $s$ is not the exponent of the first assumption)*.
# ```
#
# The first assumption says that very long data and very large labels are rare, the second that the function $g$ is easy once the right data have been found, and the third that positions can be distinguished. We discuss the first and the third, because the second depends on $g$.
#
# **The first.** For $x \sim N(0, I_d)$ the constant $C_x = 1$ is enough. To prove this, start from $\mathbb E \|x\|^r = 2^{r/2}\, \Gamma(\frac{d+r}2) / \Gamma(\frac d2)$.
#
# 1. *Even $r = 2k$.* The moment is $\prod_{l < k} (d + 2l) \le (d + k - 1)^k$, by the inequality between the arithmetic and the geometric mean. So $(\mathbb E \|x\|^r)^{1/r} \le \sqrt{d + k - 1}$.
# 2. *Any other $r$* lies between two even numbers, $2k - 2 < r \le 2k$, and $(\mathbb E \|x\|^r)^{1/r}$ is at most the same expression at $2k$.
# 3. *Comparison with $\sqrt{dr}$.* For $k \ge 2$ the claim follows from $d + k - 1 \le d (2k - 2) \le dr$. For $r \le 2$ the second moment is enough, because it gives $\sqrt d \le \sqrt{dr}$.
#
# If the pointers do not depend on the data, a linear label is normal, like data with $d = 1$, so the exponent $s = 1$ is enough. (With several pointers its variance depends on which of them coincide, but it is at most the square of the sum of the lengths of the vectors $u_h$, which serves as $C_y$.)
#
# Not all data comply: if $\log x$ is normal, no constant suffices. The table shows the constant that each moment needs, and an entry above 1 for normal data would refute the claim.


# %%
def constant(d, r):
    """Least C_x for this r, of standard normal data in d dimensions."""
    log = 0.5 * r * math.log(2) + gammaln((d + r) / 2) - gammaln(d / 2)
    return math.exp(2 * log / r) / (d * r)


orders = [1.0, 2.0, 3.0, 4.0, 16.0, 64.0, 256.0]
needed = pd.DataFrame({f"d = {w}": [constant(w, r) for r in orders] for w in (1, d, 1000)}, orders)
needed["log x normal"] = [math.exp(r) / r for r in orders]
table(needed.rename_axis("r"), "The constant C_x that normal data need", form=".3g")

# %% [markdown]
# **The scale $s$** of the encodings (not the exponent of the first assumption) gives data and pointers the same mean square: $\mathbb E \|x_i\|^2 = d$, and $q$ unit vectors times $s$ have together $q s^2 = d$. With the code of the token's own position it is $d (1 + \frac1q)$, so the lengths differ by a factor of at most $\sqrt2$. This is what the paper means when it calls the two lengths "roughly" the same.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.result("retrieval.ass123").holds(
    "normal data and linear labels: least constant with which the moments satisfy the "
    "assumption, for $r \\le 256$; control: data whose logarithm is normal",
    needed.iloc[:, :3].to_numpy().max(),
    at_most=1,
    control=needed.iloc[:, 3].max(),
    about="statement",
    evidence="proved",
)


omega = random_encodings.spread(6, 40, generator)


def off_length(q, s):
    """Largest distance of the codes' squared lengths from d, and from d (1 + 1/q) for all codes."""
    tokens = task.encode(draw(6, q), omega, scale=s)
    pointers = tokens[..., d + omega.shape[1] :].square().sum(-1)
    codes = tokens[..., d:].square().sum(-1)
    return max((pointers - d).abs().max().item(), (codes - d * (1 + 1 / q)).abs().max().item())


ledger.result("retrieval.prefactor").holds(
    "largest distance of the pointers' squared length from $d$, and of that of all codes from "
    "$d(1 + \\frac1q)$, at $s = \\sqrt{d/q}$; control: $s = 1$",
    max(off_length(q, math.sqrt(d / q)) for q in range(1, q_max + 1)),
    at_most=0,
    tol=1e-12,
    control=max(off_length(q, 1.0) for q in range(1, q_max + 1)),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# ## How many dimensions Assumption 3 needs
#
# We now repeat the computation of the example for $N$ positions and $d_e$ dimensions. The idea is to count the pairs of positions that are too alike. If the mean number of such pairs is far below 1, probably there is none. If it is far above 1, probably there is one, provided that the number does not fluctuate much.
#
# The encodings of two positions are two rows of random signs, scaled to length 1. Their inner product is $S/d_e$, where $S$ is a sum of $d_e$ random signs. Let $p$ be the probability that $|S| > d_e/2$, a tail of the binomial distribution, and let $M = \binom N2$ be the number of pairs. Then
#
# $$1 - M p \;\le\; \Pr[\text{Assumption 3}] \;\le\; \frac{1 - p}{1 - p + M p} .$$ (eq-both-sides)
#
# The left side is the union bound. For the right side consider two pairs with a position in common, $i, j$ and $i, k$. Given $\omega_i$, whether the first pair is too alike depends on $\omega_j$ only, and whether the second pair is depends on $\omega_k$ only. Both have the probability $p$ whatever $\omega_i$ is, so the two events are independent, as they are for pairs without a common position. Therefore the number of pairs that fail has mean $Mp$ and variance $Mp(1-p)$, and by Cantelli's inequality it is 0 with at most the probability on the right. In the example $p = \frac18$ and $M = 6$, so the two sides are $0.25$ and $0.54$, with the exact $0.41$ between them.

# %% mystnb={"code_prompt_hide": "The example, all cases", "code_prompt_show": "The example, all cases"} tags=["hide-input"]
every = f64(list(itertools.product((-1.0, 1.0), repeat=4)))
alike = (every @ every.mT).abs() == 4
apart = ~(alike[:, None, None, :] | alike[None, :, None, :] | alike[None, None, :, :])
apart &= ~(alike[:, :, None, None] | alike[:, None, :, None] | alike[None, :, :, None])
below, above = random_encodings.share_bounds(4, 4)
table(
    {"left side": below, "exact": apart.double().mean().item(), "right side": above},
    "Probability that four rows of four signs satisfy Assumption 3",
    form=".3f",
)

# %% [markdown]
# How does this depend on $d_e$ when $N$ is large? By Cramér's theorem $p$ falls like $e^{-\rho d_e}$ with $\rho = \frac12 \bigl(\frac32 \log \frac32 + \frac12 \log \frac12\bigr)$, and $p \le 2 e^{-\rho d_e}$ always. With $d_e = c \log N$ the mean $Mp$ is therefore $N^{2 - \rho c}$ up to logarithms. So the probability tends to 1 if $c > 2/\rho$ and to 0 if $c < 2/\rho$. The figure shows both sides of {eq}`eq-both-sides` for three lengths.


# %% mystnb={"code_prompt_hide": "Both sides", "code_prompt_show": "Both sides"} tags=["hide-input"]
def sides(c, N):
    """Both sides of the display, at the dimensions that c gives."""
    return random_encodings.share_bounds(N, random_encodings.dimensions(c, N))


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Probability that random signs satisfy Assumption 3, against $c = d_e/\\log N$. It is at least on the line and within the shaded range. Dotted line: $2/\\rho$, where the limit jumps from 0 to 1.", "name": "fig-assumption-3"}, "image": {"alt": "Chance against c from 4 to 34, for N of 10, 100 and 1000. At c = 5 all lines are at 0 and the shaded ranges end below one quarter, at c = 20 and 32 all lines are near 1, and between they rise, the steeper the larger N is. A dotted vertical line stands at 15.3."}} tags=["hide-input"]
fig, ax = figures.new(height=2.9)
fine = [4 + k / 4 for k in range(121)]
for k, N in enumerate((10, 100, 1000)):
    low, high = zip(*(sides(c, N) for c in fine), strict=True)
    figures.interval(ax, fine, low, high, color=figures.COLOURS[k])
    ax.plot(fine, low, **figures.line_style(k, label=f"$N = {N}$"))
threshold_c = 2 / random_encodings.rate()
ax.axvline(threshold_c, color="black", linestyle=":", linewidth=1.2, marker="")
ax.set(xlabel="$c$, with $d_e = c \\log N$ rounded down", ylabel="chance")
ax.legend(loc="center right")
figures.show()

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
proved_20 = min(sides(20, N)[0] for N in (10, 100, 1000))
signs.holds(
    "least chance over $N$ that random signs in $20 \\log N$ dimensions satisfy the "
    "assumption, a lower bound; control: an upper bound for $5 \\log N$ dimensions",
    proved_20,
    at_least=0.95,
    control=max(sides(5, N)[1] for N in (10, 100, 1000)),
    about="statement",
    evidence="proved",
)
far = 10**100
signs.holds(
    "at $N = 10^{100}$ and 10 % more dimensions than the threshold, about $15.3 \\log N$: "
    "lower bound on the chance; control: upper bound with 10 % fewer",
    sides(1.1 * threshold_c, far)[0],
    at_least=0.99,
    control=sides(0.9 * threshold_c, far)[1],
    about="ours",
    evidence="proved",
)


def half_way(N):
    """Largest c, in steps of 1/40, at which the Poisson estimate exp(-Mp) is below 1/2."""
    too_few = [
        k / 40
        for k in range(40, 800)
        if math.comb(N, 2)
        * random_encodings.pair_probability(random_encodings.dimensions(k / 40, N))
        > math.log(2)
    ]
    return max(too_few)


glue(d=d, threshold_c=threshold_c, proved_20=proved_20, proved_14=sides(14, 1000)[0])
glue(half_way=listed([half_way(N) for N in (10, 100, 1000)], ".1f"), half_million=half_way(10**6))
glue(code_100=sides(5, 100)[1], code_1000=sides(5, 1000)[1])
glue(code_12=max(sides(5, N)[1] for N in range(3, 13)), code_25=sides(5, 25)[1])
glue(code_2=sides(5, 2)[1])

# %% [markdown]
# In {numref}`fig-assumption-3` the probability is small at the left end: at $c = 5$ it is at most one quarter for $N = 10$, and near 0 for the longer prompts. It rises to about 0.9 before the dotted line is reached, and then slowly to 1. With $c = 20$ it is proved to be at least {glue:text}`proved_20:.3f` for $N$ = 10, 100 and 1000.
#
# For longer prompts the rise is steeper, and it moves towards the dotted line at $2/\rho =$ {glue:text}`threshold_c:.2f`, where the limit jumps. But it moves slowly: $e^{-Mp}$, a close estimate of the probability, passes $\frac12$ near $c =$ {glue:text}`half_way` for $N$ = 10, 100 and 1000, and near {glue:text}`half_million:.1f` for a million tokens. The reason is that $p$ is smaller than $e^{-\rho d_e}$ by a factor of order $\sqrt{d_e}$.
#
# The experiments of the paper have $c = 5$, far to the left:
#
# | tokens | probability that random signs satisfy Assumption 3 at $c = 5$ |
# |:--|:--|
# | 2, where the paper's curve begins | {glue:text}`code_2:.2f` |
# | 3 to 12 | at most {glue:text}`code_12:.2f` |
# | 25 | at most {glue:text}`code_25:.2f` |
# | 100 | at most {glue:text}`code_100:.3f` |
# | 1000 | at most {glue:text}`code_1000:.5f` |
#
# No sentence of the paper says that its experiments satisfy the assumption, and {ref}`ch-pointer-heads` shows why they work all the same.
#
# ## What we found
#
# * Normal data and linear labels satisfy Assumption 1 with $C_x = 1$ and $s = 1$.
# * The order $\log N$ in Assumption 3 is right, and it has a sharp threshold: in the limit random signs satisfy it in more than {glue:text}`threshold_c:.2f` times $\log N$ dimensions, and not in fewer. The experiments take 5 times $\log N$. There the probability that random signs satisfy the assumption is at most {glue:text}`code_12:.2f` for 3 to 12 tokens, at most {glue:text}`code_25:.2f` at 25 and at most {glue:text}`code_100:.3f` at 100, and the paper does not say that its encodings satisfy it.
# * The widths that the paper gives for Assumption 2 as an example are not judged, because they rest on approximation theorems of others.
#
# ## What would falsify this
#
# * *The definition* would be misread if a simple prompt had two different labels, as a general prompt has.
# * *The claim on moments* would be false if normal data needed a constant $C_x$ above 1, as data do whose logarithm is normal.
# * *The threshold* would lie elsewhere if at $10^{100}$ positions the probability were not near 1 with 10 % more dimensions than $(2/\rho) \log N$, or not near 0 with 10 % fewer.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# We read `setup.py`, `attention_weights.py` and `sample_complexity.py` of the repository `mousavih/transformers-separation`. There $q = 1$ and $g(x) = \langle u, x \rangle$. Encodings are $\lfloor 5 \log N \rfloor$ signs of length 1, without the factor $\sqrt{d/q}$, so only the factor $\alpha$ of the scores ({ref}`ch-pointer-heads`) changes. Query, key, value and output have matrices and biases of their own, and scores are divided by the root of the width; {ref}`ch-attention-weights` looks at what they learn.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-retrieval-six-dimensions
#
# *By hand.* If we take six dimensions in place of four, which sums $S$ of six signs are forbidden, how large is $p$, and what do the two sides of {eq}`eq-both-sides` say about four positions?
# ```
#
# ```{solution} ex-retrieval-six-dimensions
# :class: dropdown
# Since $|S| > 3$ is forbidden, the sums $\pm 6$ and $\pm 4$ are, which have the probability $p = 2 \cdot \frac{1 + 6}{64} = 0.219$. Six dimensions are worse than four, because with four signs inner products jump from $\frac12$ to 1, whereas six signs can have the product $\frac23$, which is forbidden as well. The left side is $1 - 6 p < 0$ and so vacuous, and the right side is $\frac{0.781}{0.781 + 1.31} = 0.37$.
# ```
#
# ```{exercise}
# :label: ex-retrieval-draws
#
# *With the computer.* The two sides of {eq}`eq-both-sides` are far apart where neither is near 0 or 1. Draw encodings by `task.encodings(N, d_e, generator, draws)` for $N = 10$ and 50 and several $c$, and estimate the probability. Which of the two sides is closer to it? Then run the chapter with other data, `python -m bookkit.run retrieval/sparse_token_regression -p d 8 --out my_run`, and say which numbers do not change, and why.
# ```
#
# ```{solution-start} ex-retrieval-draws
# :class: dropdown
# ```
#
# A draw satisfies the assumption if no inner product off the diagonal exceeds $\frac12$ in size.

# %%
own, estimates = Rng(seed + 1).generator, {}
for N in (10, 50):
    for c in (8, 11, 14, 17):
        many = task.encodings(N, random_encodings.dimensions(c, N), own, 500).double()
        products = (many @ many.mT).abs() - torch.eye(N).double()
        share = (products.flatten(1).amax(1) <= 0.5 + 1e-9).double().mean().item()
        low, high = sides(c, N)
        estimates[N, c] = {"left side": low, "500 draws": share, "right side": high}
estimates = pd.DataFrame(estimates).T.rename_axis(["N", "c"])
table(estimates, "Share of draws that satisfy Assumption 3, and both sides", form=".3f")

# %% [markdown]
# Up to the noise of 500 draws the probability lies between the two sides, and close to $e^{-Mp}$: pairs that fail are rare and nearly independent, so their number is nearly Poisson distributed. Where the two sides differ much, the right one is the closer one, unless the probability is near 0. The threshold and the figure do not depend on the data, and stay as they are.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-retrieval-one-sided
#
# *To think about.* Suppose that encodings need only satisfy $\langle \omega_i, \omega_j \rangle \le \frac12$, without the absolute value. By how much does the threshold $2/\rho$ change?
# ```
#
# ```{solution} ex-retrieval-one-sided
# :class: dropdown
# It does not change at all: $p$ is halved, and a constant factor does not move the exponent. Lemma 11 ({ref}`ch-pointer-heads`) needs no more than this form, since only $e^{a \langle \omega_t, \omega_j \rangle}$ occurs in its proof.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The task and the assumptions are from {cite:t}`retrieval`.
