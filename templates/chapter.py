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
# (ch-name)=
# # Title: a sentence that a reader can doubt
#
# ```{verdict}
# The key number, or the smallest counterexample, in one sentence: {glue:text}`gap:.1e`.
# ```
#
# **Claim.** What is true, in at most five sentences, free of symbols that are not defined here. **Needs** {ref}`ch-fourier-walsh`. **Runs in** 5 s. **Source** printed.
#
# ```{prf:lemma} Hahn and Rofin (2024), Lemma 0
# :label: part-name
# The statement, with the paper's own number, in our words. Every symbol is defined.
# ```
#
# **Why it holds.** The idea of the proof, in a few lines.

# %% tags=["parameters"]
n_max = 8  # longest cube, in bits [2..16]
seed = 0  # of the random functions [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
from bookkit import Ledger, figures, glue, table
from helpers.cube import average_sensitivity, spectrum
from helpers.rng import Rng

ledger = Ledger("part/name")
rng = Rng(seed)

# %% [markdown]
# One sentence that says what the next lines do, and why they decide it.

# %%
result = ledger.result("part.name")
f = rng.normal(2**n_max)
gap = abs(spectrum(f).square().sum() / f.square().mean() - 1).item()
unnormalised = abs((2**n_max * spectrum(f)).square().sum() / f.square().mean() - 1).item()
table({"sensitivity": average_sensitivity(f).item(), "gap": gap}, "A random function", tiny=1e-12)
result.holds(
    "Parseval, relative gap",
    gap,
    at_most=0,
    tol=1e-12,
    control=unnormalised,
    about="statement",
    evidence="sampled",
)
glue(gap=gap)

# %% [markdown]
# Every number in the prose comes from the run. The figure is {numref}`fig-name`.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "What the figure is, with its units.", "name": "fig-name"}, "image": {"alt": "What is seen in the figure, in a sentence or two, for a reader who cannot see it."}} tags=["hide-input"]
fig, ax = figures.new(height=2.4)
ax.plot(spectrum(f).abs().sort(descending=True).values, **figures.line_style(0))
ax.set(xlabel="rank of the coefficient", ylabel="size $|\\hat f(S)|$")
figures.show()

# %% [markdown]
# ## What would falsify this
#
# The number that would end the claim, and the control: the same number where it must come out otherwise.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Name the repository and what was read, or say that no code was published.
#
# ## What we found
#
# Where something did not come out, a finding. Numbers stand in formulas too.
#
# ```{finding} part.name
# :title: In plain words
# :group: constant
#
# **Statement.** In our words; printed, quoted or restored.
#
# **Counterexample.** The smallest one, with its numbers: $x = {glue:text}`gap:.1e`$.
#
# **Why.** Where the argument breaks.
#
# **Repair.** The statement that holds, or that there is none.
#
# **What survives.** What remains of the paper's message.
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-name
# A question that a changed parameter answers.
# ```
#
# ```{solution} ex-name
# :class: dropdown
# The answer; code stands in the folded cell below.
# ```

# %% mystnb={"code_prompt_hide": "Solution", "code_prompt_show": "Solution"} tags=["hide-cell"]
print(f"{average_sensitivity(f).item() / n_max:.6f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
