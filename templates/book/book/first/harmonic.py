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
# (ch-harmonic)=
# # How fast harmonic sums reach their constant
#
# ```{verdict}
# Yes, harmonic sums come as close to their constant as the theorem says. The gap between $H_n - \log n$ and the constant, times $2n$, must stay below 1, and its largest value is {glue:text}`largest:.6f`.
# ```
#
# ```{prf:theorem} A textbook, Theorem 1
# :label: first-harmonic
# Let $H_n = 1 + \frac12 + \dots + \frac1n$, and let $\gamma = 0.5772\dots$ be the limit of $H_n - \log n$. Then $H_n - \log n - \gamma < \frac{1}{2n}$ for every $n \ge 1$.
# ```
#
# **Why it holds.** From $n$ to $n + 1$, $H_n - \log n - \frac{1}{2n}$ grows by $\frac12(\frac1n + \frac1{n+1}) - \log(1 + \frac1n)$. The logarithm is the integral of $1/x$ from $n$ to $n + 1$, and the trapezoid over this interval is larger, since $1/x$ is convex. So the sequence increases, and its limit is $\gamma$.

# %% tags=["parameters"]
n_max = 1000  # longest sum [100..100000]

# %% tags=["hide-input"] mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"}
import numpy as np

from bookkit import glue, table
from bookkit.own import Ledger

ledger = Ledger("first/harmonic")

# %% [markdown]
# We compute the gap $H_n - \log n - \gamma$ times $2n$ for every $n$. A single number of 1 or more would refute the theorem. The control is the same number with $\gamma$ cut to three digits, and it must exceed 1.

# %%
n = np.arange(1, n_max + 1)
sums = np.cumsum(1 / n)
scaled = 2 * n * (sums - np.log(n) - np.euler_gamma)
cut = 2 * n * (sums - np.log(n) - 0.577)
shown = [1, 10, 100, n_max]
table({"n": shown, "2n times the gap": scaled[np.array(shown) - 1].tolist()}, "The gap", form=".6f")

result = ledger.result("first.harmonic")
result.holds(
    "largest 2n times the gap",
    scaled.max(),
    at_most=1,
    control=cut.max(),
    about="statement",
    evidence="proved",
)
glue(largest=scaled.max())

# %% [markdown]
# ## What would falsify this
#
# A number above 1 in the column *measured* would refute the theorem. The control is above 1, as it must be, because with a wrong constant the theorem is false.

# %% tags=["hide-input"] mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"}
ledger.show()
