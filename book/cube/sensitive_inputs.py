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
# (ch-sensitive-inputs)=
# # How many flips change one input?
#
# ```{verdict}
# No, two remarks on single inputs have the wrong number, but nothing else depends on them. Of $n = {glue:text}`n_odd`$ flips at most {glue:text}`maj_s` change MAJORITY at one input, not {glue:text}`n_odd`. And the sensitivity of MEAN is $1/n$ at every input, not $1/n^2$: at $n = {glue:text}`n_max`$ it is {glue:text}`mean_s:.4f` in place of {glue:text}`mean_printed:.4f`.
# ```
#
# **Needs** {ref}`ch-average-sensitivity`. **Read** 4 min. **Runs in** 5 s. **Source** printed.
#
# **Claim.** The paper says how sensitive MEAN and MAJORITY are at single inputs. For the mean of $n$ bits it has $1/n^2$, which is what *one* flip counts; all flips together count $1/n$. For majority it has all $n$ flips where ones and zeros almost balance; it is about half of them. Both orders of growth that the paper goes on with are right.

# %% tags=["parameters"]
n_max = 14  # longest cube, in bits [4..20]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import pandas as pd

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.cube import local_sensitivity
from helpers.kernels.parity import popcount
from helpers.statistics import power

ledger = Ledger("cube/sensitive_inputs")
mean_point = ledger.result("sensitive.mean_point")
majority_point = ledger.result("sensitive.majority_point")
n_odd = n_max - 1 + n_max % 2  # the largest odd length

# %% [markdown]
# ## What the paper says of one input
#
# An input is $x \in \{-1, 1\}^n$, a bit of 1 as the sign $-1$, and $x^{\oplus i}$ is $x$ with sign $i$ flipped. The sensitivity of $f$ at $x$ is $s(x, f) = \frac14 \sum_i |f(x) - f(x^{\oplus i})|^2$ ({prf:ref}`sensitive-def3`). For a function with values $\pm1$ it is the number of flips that change the value.
#
# ```{prf:remark} Hahn and Rofin (2024), Sections 3 and 4
# :label: sensitive-single-inputs
# For MEAN, $\frac1n \sum_i x_i$, $\; s(x, f) \sim \frac1{n^2}$. For MAJORITY, $\; s(x, f) = n$ whenever the ones and zeros in $x$ are almost fully balanced.
# ```
#
# Both serve to predict how strongly layer norm must magnify at such an input ({ref}`ch-magnified-inputs`).
#
# ## Majority
#
# MAJORITY is $1$ if more than half of the signs are $1$. {numref}`fig-sensitive-inputs` shows it at $n =$ {glue:text}`n_odd`. Far from balance no flip changes the vote. Next to balance only those flips do that take from the side that wins, and that side has just over half of the signs.

# %%
size = popcount(cube.indices(n_odd))  # ones of each input
at = {name: local_sensitivity(f(n_odd)) for name, f in cube.NAMED.items()}
by_ones = pd.DataFrame({k: [at[k][size == j].max().item() for j in range(n_odd + 1)] for k in at})

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "How many flips count at an input with so many ones: PARITY, MAJORITY, FIRST and MEAN on an odd number of bits. All inputs with equally many ones have the same value.", "name": "fig-sensitive-inputs"}, "image": {"alt": "Sensitivity against the number of ones. PARITY is a flat line at the number of bits. MAJORITY is zero everywhere except at the two middle numbers of ones, where it stands at just over half of the bits. FIRST is flat at one, MEAN is flat just above zero."}} tags=["hide-input"]
fig, ax = figures.new(height=2.7)
for i, name in enumerate(by_ones):
    ax.plot(by_ones.index, by_ones[name], **figures.series_style(i, label=name))
ax.set(xlabel=f"ones among {n_odd} bits", ylabel="sensitivity (flips)")
ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.18))
figures.show()

# %% [markdown]
# ## All inputs, all lengths

# %%
lengths = pd.RangeIndex(1, n_max + 1, name="n")
s = {name: [local_sensitivity(cube.NAMED[name](n)) for n in lengths] for name in at}
at_one_input = pd.DataFrame(
    {
        "MEAN, least": [v.min().item() for v in s["MEAN"]],
        "MEAN, largest": [v.max().item() for v in s["MEAN"]],
        "MEAN, one flip": [(f[0] - f[1]).square().item() / 4 for f in map(cube.mean, lengths)],
        "MAJORITY, largest": [int(v.max()) for v in s["MAJORITY"]],
        "floor(n/2) + 1": [n // 2 + 1 for n in lengths],
    },
    lengths,
)
some = lengths % 3 == n_max % 3  # every third length, up to the longest
table(at_one_input[some], "Sensitivity at single inputs, least and largest of all", form=".4f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
one_flip, most = at_one_input["MEAN, one flip"], at_one_input["MAJORITY, largest"]
every_mean = at_one_input[["MEAN, least", "MEAN, largest"]]
mean_point.refuted(
    "as printed: the power of $n$ in $s(x, \\mathrm{MEAN})$ is $-2$",
    power(lengths.tolist(), at_one_input["MEAN, largest"].tolist()),
    equals=-2,
    tol=1e-9,
    control=power(lengths.tolist(), one_flip.tolist()),
    about="remark",
    evidence="proved",
)
mean_point.repaired(
    "$n\\, s(x, \\mathrm{MEAN}) = 1$ at every $x$, largest error",
    every_mean.mul(lengths, axis=0).sub(1).abs().max(axis=None),
    at_most=0,
    tol=1e-12,
    control=every_mean.mul(lengths**2, axis=0).sub(1).abs().max(axis=None),
    about="remark",
    evidence="proved",
)
majority_point.refuted(
    "as printed: $s(x, \\mathrm{MAJORITY})$ reaches $n$",
    most[n_odd],
    equals=n_odd,
    control=int(s["PARITY"][n_odd - 1].max()),
    about="remark",
    evidence="exhaustive",
)
majority_point.repaired(
    "$s(x, \\mathrm{MAJORITY})$ reaches $\\lfloor n/2 \\rfloor + 1$, largest error, all $n$",
    (most - at_one_input["floor(n/2) + 1"]).abs().max(),
    at_most=0,
    control=(most - lengths).abs().max(),
    about="remark",
    evidence="proved",
)
glue(mean_s=at_one_input["MEAN, largest"][n_max], mean_printed=1 / n_max**2)
glue(maj_s=int(most[n_odd]), n_odd=n_odd, n_max=n_max)

# %% [markdown]
# The mean counts the same at every input: one flip moves it by $2/n$ and counts $\frac14 (\frac2n)^2 = 1/n^2$, and there are $n$ flips.
#
# ## What we found
#
# ```{finding} sensitive.mean_point
# :title: MEAN has sensitivity 1/n at every input
# :group: false statement
#
# **Statement.** Section 4: for MEAN, $s(x, f) \sim 1/n^2$.
#
# **Counterexample.** Every input. At $n = 2$ and $x = (1, 1)$, each of two flips moves the mean from 1 to 0, so $s = \frac14 (1 + 1) = \frac12$, not $\frac14$. At $n = {glue:text}`n_max`$ all inputs have $s = {glue:text}`mean_s:.4f` = 1/n$, while $1/n^2 = {glue:text}`mean_printed:.4f`$.
#
# **Why.** One flip moves the mean by $2/n$ and counts $\frac14 (\frac2n)^2 = 1/n^2$. The sum over the $n$ flips was left out.
#
# **Repair.** $s(x, \mathrm{MEAN}) = 1/n$ at every $x$, as $\mathrm{as}_n = 1/n$ in the paper's own Section 3 asks.
#
# **What survives.** The conclusion: $1/n$, too, predicts no blow-up of layer norm.
# ```
#
# ```{finding} sensitive.majority_point
# :title: At most floor(n/2) + 1 of the n flips change MAJORITY
# :group: false statement
#
# **Statement.** Sections 3 and 4: for MAJORITY, $s(x, f) = n$ whenever the ones and zeros in $x$ are almost fully balanced.
#
# **Counterexample.** At $n = 3$ and $x = (1, 1, -1)$ the vote is 1. Either $1$ can change it, but the $-1$ cannot: $s = 2$, not 3. At $n = {glue:text}`n_odd`$ no input has more than {glue:text}`maj_s` flips that change the vote.
#
# **Why.** A flip changes the vote only if it takes from the side that wins. MAJORITY is 1 iff at least $\lfloor n/2 \rfloor + 1$ signs are $1$. Where this is just met, each flip of a $1$ changes it. Where it is just missed, each flip of a $-1$ does, and there are at most $\lfloor n/2 \rfloor + 1$ of those. Elsewhere no flip does.
#
# **Repair.** $\max_x s(x, \mathrm{MAJORITY}) = \lfloor n/2 \rfloor + 1$ for every $n$; this is less than $n$ from $n = 3$ on.
#
# **What survives.** The order $n$, and with it the blow-up of order $n^{1/4}$ that the paper predicts on such inputs.
# ```
#
# ## What would falsify this
#
# The two remarks are tested as printed. The control of the first is the single flip, which does go as $1/n^2$; that of the second is PARITY, which does reach $n$. The repaired forms would fall with one input of another sensitivity; their controls are the printed forms.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` measures no sensitivity at single inputs. Its targets are 0 and 1 in place of $\pm1$, which divides every $s(x, f)$ by 4 ({ref}`ch-average-sensitivity`).
#
# ## Exercises
#
# ```{exercise}
# :label: ex-sensitive-share
# At which share of all inputs of $n$ bits, $n$ odd, does MAJORITY feel a flip at all? Find its average sensitivity from that.
# ```
#
# ```{solution} ex-sensitive-share
# :class: dropdown
# At those with $\frac{n-1}2$ or $\frac{n+1}2$ ones, a share of $2 \binom n{(n-1)/2} / 2^n$, about $2 \sqrt{2/(\pi n)}$. Each of them feels $\frac{n+1}2$ flips, and the product is about $\sqrt{2n/\pi}$: few inputs, and very sensitive ones.
# ```
#
# ```{exercise}
# :label: ex-sensitive-threshold
# Let $f$ be $1$ if at least $k$ signs are $1$, else $-1$, with $1 \le k \le n$. What is the largest $s(x, f)$, and for which $k$ is it $n$?
# ```
#
# ```{solution} ex-sensitive-threshold
# :class: dropdown
# With exactly $k$ signs at $1$ each of these $k$ can change $f$; with $k - 1$ each of the other $n - k + 1$ can. So the largest is $\max(k, n - k + 1)$, and it is $n$ for OR and AND, $k = 1$ and $k = n$. For MAJORITY it is as small as for any threshold.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The remarks are from Sections 3 and 4 of {cite:t}`sensitive`.
