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
# (ch-magnified-inputs)=
# # How much must PARITY and MAJORITY magnify?
#
# ```{verdict}
# Equation (14) for PARITY and the order $n^{1/4}$ for MAJORITY hold, and the sharper law asks for more: the order $n / \log n$ for both, at fixed norms. A layer written by hand computes MAJORITY of {glue:text}`n_far` bits and magnifies {glue:text}`hand:.0f` times at a nearly balanced input.
# ```
#
# **Needs** {ref}`ch-layer-norm-blowup`, {ref}`ch-sensitive-inputs`. **Read** 4 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** Where weights stay bounded, layer norm must magnify more and more as strings grow: for PARITY on average, for MAJORITY where ones and zeros nearly balance. The paper reads both from its Theorem 4 and Corollary 5. Both are true, and a sharper law asks for larger orders.

# %% tags=["parameters"]
n_far = 301  # bits of the longest MAJORITY, odd [101..501]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.statistics import power
from papers.sensitive import blowup

ledger = Ledger("sensitive/magnified_inputs")
eq14, quarter = map(ledger.result, ("sensitive.eq14", "sensitive.majority_blowup"))

# %% [markdown]
# ## The statements
#
# Layer norm $k$ divides token $j$ by its deviation $N^{(k)}_j$. The magnification at an input $x$ is $B(x) = \prod_k \max_j 1/N^{(k)}_j$; the paper's $\mathrm{Blowup}(x)$ has $1 + 1/N^{(k)}_j$ instead. $H$ is the number of heads, $s(f, x)$ the sensitivity, $\mathrm{as}$ its mean, and $C$ the constant of {prf:ref}`sensitive-thm4`, which grows with the norms of the weights and not with $n$. Logarithms are natural.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 4
# :label: sensitive-orders
# For PARITY, $\; C\, \mathbb E[\mathrm{Blowup}(x)^2] = \Omega(\sqrt n / \log n)$ (14). For MAJORITY at nearly balanced inputs (12) predicts $\mathrm{Blowup} = \Omega(n^{1/4})$ at $x$ or at a neighbour.
# ```
#
# Here (12) is the inequality of {prf:ref}`sensitive-thm4`, and (13) that of {prf:ref}`sensitive-cor5`. Our law, {prf:ref}`blowup-local`, is $s(f, x) \le K\, B(x)$ for all but a share $H/n^2$ of the inputs, with $K$ of order $\log n$ at fixed norms.
#
# ## A layer that computes MAJORITY
#
# One layer without $\varepsilon$ computes MAJORITY of an odd number of bits exactly: attention averages the signs of all bits to $m$, the block cancels the token's own bit, and layer norm turns $m$ into its sign. All its norms are 1, the read-out's is $\frac12$, at every length, and $B(x) = 2/|m|$. We run it at an input with one zero more than ones, and at all neighbours, and put beside $B$ what the results ask for: the law $s/K$ at $x$, and (12) $\bigl( s / (2 C \sqrt{n \log n}) \bigr)^{1/2}$ at $x$ or a neighbour.

# %%
rows = {}
for n in (5, 11, 33, 101, n_far):
    balanced = (torch.arange(n) > n // 2).long()  # one zero more than ones
    at = blowup.sides(*blowup.majority_transformer(n), balanced)
    s, c = at.s.item(), at.constants
    theorem = math.sqrt(s / (2 * c.theorem4() * math.sqrt(n * math.log(n))))
    rows[n] = {"s": s, "B": at.magnification.item(), "law": s / c.ours, "(12)": theorem}
far = pd.DataFrame(rows).T.rename_axis("n")
caption = "MAJORITY at a nearly balanced input: what it has, and what the law and (12) ask for"
table(far, caption, form={"s": ".0f", "B": ".0f"})
glue(hand=far["B"][n_far], n_far=n_far)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The majority layer at a nearly balanced input: its magnification $B$, and how much magnification the sharper law and Theorem 4 ask for. Dotted: $n^{1/4}$, the order that the paper names. A magnification of 1 (grey) is none.", "name": "fig-blowup-majority"}, "image": {"alt": "Log-log plot against the length from 5 to about 300 bits. Magnification is a straight line of slope one at the top. What the sharper law asks for stays near one half up to 33 bits, then rises almost as steeply and passes one before 100 bits. The dotted fourth root of n rises slowly. What Theorem 4 asks for stays near one hundredth."}} tags=["hide-input"]
fig, ax = figures.new(height=2.9)
labels = {"B": "$B$", "law": "law asks for", "(12)": "(12) asks for"}
for i, (name, label) in enumerate(labels.items()):
    ax.plot(far.index, far[name], **figures.look(i, label=label))
ax.plot(far.index, far.index**0.25, **figures.line(6, linestyle=":", label="$n^{1/4}$"))
figures.level(ax)
ax.set(xscale="log", yscale="log", xlabel="length $n$ (bits)", ylabel="magnification")
figures.ticks(ax, far.index)
ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.16))
figures.show()

# %% [markdown]
# ## Long strings
#
# **PARITY**, $\mathrm{as} = n$. Equation (14) of the paper says $C\, \mathbb E[\mathrm{Blowup}^2] = \Omega(\sqrt n / \log n)$. {prf:ref}`sensitive-cor5` gives $\sqrt{n / \log n} - H/n$, which is more. The law gives $\mathbb E[B] \ge (n - H/n)/K$, so that at fixed norms even $\mathbb E[B] = \Omega(n / \log n)$.
#
# **MAJORITY.** For nearly balanced inputs the paper says that (12) predicts $\mathrm{Blowup} = \Omega(n^{1/4})$ there or at a neighbour. With $s = \frac{n+1}2$ (12) gives $(n / \log n)^{1/4}$, a logarithm less. But the law gives the sentence, and more: $B(x) \ge \frac{n+1}{2K} = \Omega(n / \log n)$ at fixed norms, at the input itself, for all but a share $2 H n^{-3/2}$ of these inputs (they are at least $\frac12 n^{-1/2}$ of all, the exceptional ones at most $H/n^2$). The layer above has $B = 2n$ there, so only the logarithm is open.

# %%
n = torch.logspace(2, 12, 11, dtype=torch.float64)
log = n.log()
K = (13 + 16 * log) / 2  # of the majority layer: all norms 1
asked = {
    "PARITY, (14)": n.sqrt() / log,
    "PARITY, (13)": (n / log).sqrt() - 1 / n,
    "MAJORITY, law: B": (n + 1) / 2 / K,
    "MAJORITY, (13)": (2 * n / math.pi).sqrt() / (n * log).sqrt(),
}
exponents = pd.Series({k: power(n, v).item() for k, v in asked.items()}, name="exponent")
caption = "What is asked for at norms 1, fitted as a power of n, 100 to 10^12 bits"
table(exponents.rename_axis("function, source"), caption, form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
eq14.holds(
    "$\\sqrt n / \\log n$ over the right side of (13) for PARITY, to $10^{12}$ bits; control: MAJORITY",
    (asked["PARITY, (14)"] / asked["PARITY, (13)"]).max(),
    at_most=1,
    control=(asked["PARITY, (14)"] / asked["MAJORITY, (13)"]).max(),
    about="statement",
    evidence="proved",
)
quarter.holds(
    "power of $n$ in the $B$ that our law asks for at balanced inputs; control: (13), the mean",
    exponents["MAJORITY, law: B"],
    at_least=0.25,
    control=exponents["MAJORITY, (13)"],
    about="statement",
    evidence="proved",
)

# %% [markdown]
# ## What we found
#
# * Equation (14) holds; (13) gives a factor $\sqrt{\log n}$ more, and the sharper law the order $n / \log n$.
# * The order $n^{1/4}$ for MAJORITY holds by the sharper law, at the inputs themselves; (12) alone gives the fourth root of a logarithm less.
# * The layer by hand is within the logarithm of what the law asks for.
#
# ## What would falsify this
#
# For (14): a length at which (13) asks for less; the control is MAJORITY. For $n^{1/4}$: a smaller power in what the law asks for; the control is what (13) asks for in the mean.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` measures the blow-up of models that it trains, in which the norms are not fixed; {ref}`ch-norm-blowup-tradeoff` repeats that.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-blowup-first
# What does the law ask for if $f$ is FIRST, and does a layer need more?
# ```
#
# ```{solution} ex-blowup-first
# :class: dropdown
# $s = 1$ at every input, so the law asks for $B \ge 1/K$, which is less than 1. A layer whose last token holds the bit needs no magnification: the layer of the last bit in {ref}`ch-layer-norm-blowup` has $B = 1$.
# ```
#
# ```{exercise}
# :label: ex-blowup-eps
#
# In the majority layer, how large may $\varepsilon$ be if the output shall keep half of its size at the balanced inputs? What is the largest $1/N$ then?
# ```
#
# ```{solution} ex-blowup-eps
# :class: dropdown
#
# There $\sigma = |m| / 2 = \frac1{2n}$, and the output is $\sigma / \sqrt{\sigma^2 + \varepsilon}$: half its size needs $\varepsilon = 3 \sigma^2 = \frac3{4 n^2}$. Then $N = 2 \sigma = \frac1n$: the magnification still grows with $n$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The statements are in Section 4 of {cite:t}`sensitive`.
