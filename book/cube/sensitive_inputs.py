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
# No, two remarks of the paper on single inputs give wrong numbers, but no conclusion of the paper depends on the difference. The first is about MAJORITY: of $n = {glue:text}`n_odd`$ bit flips at most {glue:text}`maj_s` change it at one input, not {glue:text}`n_odd`. So the order $n$ of this remark is right, and its constant is too large by a factor of almost 2. The second is about MEAN, where each flip counts with the square of half its effect. The sum over all flips is $1/n$ at every input, not $1/n^2$: at $n = {glue:text}`n_max`$ it is {glue:text}`mean_s:.4f` in place of {glue:text}`mean_printed:.4f`.
# ```
#
# **Needs** {ref}`ch-average-sensitivity`. **Read** 8 min. **Runs in** 5 s. **Source** printed.
#
# **Claim.** The paper says how sensitive MEAN and MAJORITY are at single inputs.
#
# * *MEAN.* For the mean of $n$ bits the paper says $1/n^2$. This is the contribution of *one* flip, whereas all $n$ flips together contribute $1/n$. The printed value is a misprint, because Section 3 of the paper has the right one.
# * *MAJORITY.* For majority the paper says that all $n$ flips change the vote where ones and zeros almost balance, but only about half of them do. The remark is true as an order of growth, and only its constant 1 has to be replaced by $\frac12$.
#
# The conclusions that the paper draws about *layer norm*, an operation of transformers that can magnify small differences, stand. For MEAN the paper's bound predicts no magnification, with $1/n$ as with $1/n^2$. At almost balanced inputs of MAJORITY, or at their neighbours, layer norm has to magnify by the order $n^{1/4}$ at least ({ref}`ch-magnified-inputs`), since half of $n$ flips are still of order $n$.

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
# ## Why one should care
#
# The average sensitivity of a function may be small although a few inputs are very sensitive, and MAJORITY is the paper's example of this. At most inputs no flip changes a majority, and the average is of order $\sqrt n$; but where ones and zeros almost balance, about half of all flips change it. This matters for transformers, because *layer norm*, which divides the numbers of a token by their standard deviation, can magnify small differences. Theorem 4 of the paper uses the sensitivity *at a given input* to bound, at all but a few inputs, how strongly layer norm has to magnify there or at the neighbours. So the values at single inputs show where a network that computes MAJORITY has to magnify most ({ref}`ch-magnified-inputs`).
#
# ## Three votes
#
# Take the votes $(1, 1, -1)$, whose majority is 1. If the first vote is flipped, the majority becomes $-1$, and the same is true of the second vote. If the third is flipped, all votes are 1, and the majority stays. So two of the three flips change the majority, although the votes are as balanced as three votes can be. For the mean of the three votes, which is $\frac13$, every flip counts: the first two change it to $-\frac13$, and the third changes it to 1. Each of these changes is $\frac23$ and contributes a quarter of its square, which is $\frac19$, so that the sensitivity of the mean is $3 \cdot \frac19 = \frac13$.
#
# ## What the paper says of one input
#
# An input is $x \in \{-1, 1\}^n$, where a bit of 1 is the sign $-1$, and $x^{\oplus i}$ is $x$ with sign $i$ flipped. The sensitivity of $f$ at $x$ is $s(x, f) = \frac14 \sum_i |f(x) - f(x^{\oplus i})|^2$ ({prf:ref}`sensitive-def3`). For a function with values $\pm1$ this is the number of flips that change the value.
#
# ```{prf:remark} Hahn and Rofin (2024), Sections 3 and 4
# :label: sensitive-single-inputs
# For MEAN, which is $\frac1n \sum_i x_i$, the paper has $\; s(x, f) \sim \frac1{n^2}$. For MAJORITY it has $\; s(x, f) = n$ whenever the ones and zeros in $x$ are almost fully balanced.
# ```
#
# The example contradicts both: three votes have $s = 2$ instead of 3 for the majority, and $\frac13$ instead of $\frac19$ for the mean. The paper uses the two remarks to predict how strongly layer norm must magnify at such inputs ({ref}`ch-magnified-inputs`). So we ask what the right values are at every length, and whether the predictions survive.
#
# ## Majority
#
# MAJORITY is $1$ if more than half of the signs are $1$. How many flips change it depends only on the number of ones among the bits, so we can draw it against this number. We compute it at every input of $n =$ {glue:text}`n_odd` bits, together with PARITY, FIRST (the first sign) and MEAN.

# %%
size = popcount(cube.indices(n_odd))  # ones of each input
at = {name: local_sensitivity(f(n_odd)) for name, f in cube.NAMED.items()}
by_ones = pd.DataFrame({k: [at[k][size == j].max().item() for j in range(n_odd + 1)] for k in at})

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Sensitivity at an input against its number of ones, for PARITY, MAJORITY, FIRST and MEAN on an odd number of bits. All inputs with equally many ones have the same value.", "name": "fig-sensitive-inputs"}, "image": {"alt": "Sensitivity against the number of ones. PARITY is a flat line at the number of bits. MAJORITY is zero everywhere except at the two middle numbers of ones, where it stands at just over half of the bits. FIRST is flat at one, MEAN is flat just above zero."}} tags=["hide-input"]
fig, ax = figures.new(height=2.7)
for i, name in enumerate(by_ones):
    ax.plot(by_ones.index, by_ones[name], **figures.series_style(i, label=name))
ax.set(xlabel=f"ones among {n_odd} bits", ylabel="sensitivity (flips)")
ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.18))
figures.show()

# %% [markdown]
# In {numref}`fig-sensitive-inputs` the marks of MAJORITY are 0 nearly everywhere, because far from balance no flip changes the vote. They rise only at the two numbers of ones that are closest to balance. There a flip changes the vote if it takes a sign from the side that wins, and this side has just over half of the signs. So MAJORITY reaches about half of the height of PARITY, which is the line at the top. FIRST is 1 everywhere, because only the flip of the first sign counts, and MEAN is the same small number at every input.
#
# ## All inputs, all lengths
#
# Since one length could be special, we take the smallest and the largest sensitivity over all inputs of every length up to {glue:text}`n_max` bits. The remark on MEAN asks for a sensitivity that falls like $n^{-2}$, and that on MAJORITY for a largest sensitivity of $n$; the table shows $\lfloor n/2 \rfloor + 1$, our value for MAJORITY, beside its largest sensitivity. It has a row for every third length; the folded cell below it compares all of them.

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
    "as printed: power of $n$ with which $s(x, \\mathrm{MEAN})$ falls, against $-2$; "
    "control: the square of the change by one flip",
    power(lengths.tolist(), at_one_input["MEAN, largest"].tolist()),
    equals=-2,
    tol=1e-9,
    control=power(lengths.tolist(), one_flip.tolist()),
    about="misprint",
    evidence="proved",
)
mean_point.holds(
    "largest distance of $n\\, s(x, \\mathrm{MEAN})$ from 1, over all $x$; control: of $n^2"
    " s(x, \\mathrm{MEAN})$",
    every_mean.mul(lengths, axis=0).sub(1).abs().max(axis=None),
    at_most=0,
    tol=1e-12,
    control=every_mean.mul(lengths**2, axis=0).sub(1).abs().max(axis=None),
    about="remark",
    evidence="proved",
)
majority_point.refuted(
    "as printed: largest $s(x, \\mathrm{MAJORITY})$ of any $x$, against $n$; control: PARITY",
    most[n_odd],
    equals=n_odd,
    control=int(s["PARITY"][n_odd - 1].max()),
    about="constant",
    evidence="exhaustive",
)
majority_point.repaired(
    "largest distance of the maximum of $s(x, \\mathrm{MAJORITY})$ from $\\lfloor n/2 "
    "\\rfloor + 1$ over all $n$; control: distance from $n$",
    (most - at_one_input["floor(n/2) + 1"]).abs().max(),
    at_most=0,
    control=(most - lengths).abs().max(),
    about="constant",
    evidence="proved",
)
glue(mean_s=at_one_input["MEAN, largest"][n_max], mean_printed=1 / n_max**2)
glue(maj_s=int(most[n_odd]), n_odd=n_odd, n_max=n_max)

# %% [markdown]
# The remark on MEAN fails at every length from 2 on. The equation for MAJORITY fails from 3 on, but its order $n$ is right, because at the inputs that are closest to balance at least half of the flips change the vote. The sensitivity of the mean is the same at every input: one flip moves the mean by $2/n$ and contributes $\frac14 (\frac2n)^2 = 1/n^2$, as the third column shows, and there are $n$ flips. The largest sensitivity of MAJORITY is $\lfloor n/2 \rfloor + 1$ without exception.
#
# ## What we found
#
# ```{finding} sensitive.mean_point
# :title: MEAN has sensitivity $1/n$ at every input
# :group: misprint
#
# **Statement.** Section 4 says that $s(x, f) \sim 1/n^2$ for MEAN.
#
# **Counterexample.** Every input of two or more bits is one, since $n^2 s = n$, which is not bounded. At $n = 2$ and $x = (1, 1)$, each of two flips moves the mean from 1 to 0, so $s = \frac14 (1 + 1) = \frac12$, not $\frac14$. At $n = {glue:text}`n_max`$ all inputs have $s = {glue:text}`mean_s:.4f` = 1/n$, while $1/n^2 = {glue:text}`mean_printed:.4f`$.
#
# **Why.** One flip moves the mean by $2/n$ and counts $\frac14 (\frac2n)^2 = 1/n^2$. The sum over the $n$ flips was left out.
#
# **Repair.** $s(x, \mathrm{MEAN}) = 1/n$ at every $x$, as $\mathrm{as}_n = 1/n$ in the paper's own Section 3 asks.
#
# **What survives.** The conclusion: $1/n$, too, predicts no *blow-up*, that is, no strong magnification by layer norm.
# ```
#
# ```{finding} sensitive.majority_point
# :title: At most $\lfloor n/2 \rfloor + 1$ of the $n$ flips change MAJORITY
# :group: constant
#
# **Statement.** Sections 3 and 4 say that $s(x, f) = n$ for MAJORITY whenever the ones and zeros in $x$ are almost fully balanced. As an order of growth this is true, and the paper uses no more than the order. But both sections print it as an equation, and as an equation it fails. (The sign does not say that an order is meant: where the authors mean an order they write $\Theta$ or $\sim$, and in both sections they do so in the sentence before.)
#
# **Counterexample.** At $n = 3$ and $x = (1, 1, -1)$ the vote is 1, and either $1$ can change it, but the $-1$ cannot, so that $s = 2$ and not 3. At $n = {glue:text}`n_odd`$ no input has more than {glue:text}`maj_s` flips that change the vote.
#
# **Why.** A flip changes the vote only if it takes from the side that wins. MAJORITY is 1 if and only if at least $\lfloor n/2 \rfloor + 1$ signs are $1$. Where this condition is just met, each flip of a $1$ changes the vote. Where it is just missed, each flip of a $-1$ does, and there are at most $\lfloor n/2 \rfloor + 1$ of those, whereas at all other inputs no flip does.
#
# **Repair.** $\max_x s(x, \mathrm{MAJORITY}) = \lfloor n/2 \rfloor + 1$ for every $n$; this is less than $n$ from $n = 3$ on.
#
# **What survives.** The order $n$. From it the paper reads a blow-up of order $n^{1/4}$ on such inputs or their neighbours. This order holds too, but by a sharper bound than the one that the paper uses ({ref}`ch-magnified-inputs`).
# ```
#
# ## What would falsify this
#
# The two remarks are tested as printed, each with a control that does what the remark says. For the first the control is the single flip, which does go as $1/n^2$, and for the second it is PARITY, which does reach $n$. One input of another sensitivity would refute a corrected form, and there the controls are the printed forms.

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
# :label: ex-sensitive-threshold
# *By hand.* Let $f$ be $1$ if at least $k$ signs are $1$, and $-1$ otherwise, with $1 \le k \le n$. What is the largest $s(x, f)$, and for which $k$ is it $n$?
# ```
#
# ```{solution} ex-sensitive-threshold
# :class: dropdown
# If exactly $k$ signs are $1$, each of these $k$ can change $f$, and if $k - 1$ signs are $1$, each of the other $n - k + 1$ can. So the largest sensitivity is $\max(k, n - k + 1)$. It is $n$ for $k = 1$ and $k = n$, which are the AND and the OR of the bits, and for MAJORITY it is as small as for any threshold.
# ```
#
# ```{exercise}
# :label: ex-sensitive-every
# *With the computer.* Is MAJORITY unusual? List all 256 functions of three bits with values $\pm1$, and count how many have a largest sensitivity of 0, 1, 2 and 3. At how many of them is the largest sensitivity reached at every input? Then run the chapter on longer strings, for example by `python -m bookkit.run cube/sensitive_inputs -p n_max 18 --out my_run`, and see whether the repaired values still hold.
# ```
#
# ```{solution-start} ex-sensitive-every
# :class: dropdown
# ```
#
# As the 256 functions are all tables of eight signs, they are the 256 points of a cube.

# %%
every = local_sensitivity(cube.points(8)).round().long()  # (functions, inputs)
most_flips, least_flips = every.amax(-1), every.amin(-1)
counts = {
    k: {
        "functions": int((most_flips == k).sum()),
        "reached at every input": int(((most_flips == k) & (least_flips == k)).sum()),
    }
    for k in range(4)
}
answer = pd.DataFrame(counts).T.rename_axis("largest s(x)")
table(answer, "All 256 functions of three bits")

# %% [markdown]
# Of the 256 functions 138 have an input at which all three flips change the value, and 110 have a largest sensitivity of 2, MAJORITY among them. So MAJORITY is not unusual in this respect. Only 16 functions have the same sensitivity at every input: the two constants, the three bits, the three parities of two bits and the parity of all three, each with both signs. All the others, like MAJORITY, are more sensitive at some inputs than at others.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-sensitive-share
# *To think about.* At which share of all inputs of $n$ bits, $n$ odd, does some flip change MAJORITY? Find its average sensitivity from this share. What does the result say about an average as a measure of sensitivity?
# ```
#
# ```{solution} ex-sensitive-share
# :class: dropdown
# It is changed at the inputs with $\frac{n-1}2$ or $\frac{n+1}2$ ones, which are a share $2 \binom n{(n-1)/2} / 2^n$ of all, about $2 \sqrt{2/(\pi n)}$. At each of them $\frac{n+1}2$ flips change it, and the product is about $\sqrt{2n/\pi}$. So an average of order $\sqrt n$ can come from a few inputs that are very sensitive, and a bound on the average need not hold at them.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The remarks are from Sections 3 and 4 of {cite:t}`sensitive`.
