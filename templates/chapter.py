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
# Yes, no or open, in plain words, about something that a newcomer can picture. Then the key number: the largest gap is {glue:text}`gap:.1e`. No symbol stands here that the card does not explain.
# ```
#
# **Needs** {ref}`ch-fourier-walsh`. **Read** 8 min. **Runs in** 5 s. **Source** printed.
#
# **Claim.** What is true, in at most five sentences, free of symbols that are not defined here.

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
# ## Why one should care
#
# Three to six sentences: the question, why the answer is not obvious, and what the answer changes.
#
# ## Two bits by hand
#
# One instance with small numbers, computed to the last digit before the general statement, so that a reader can check every step on paper.
#
# ## The statement
#
# ```{prf:lemma} Hahn and Rofin (2024), Lemma 0
# :label: part-name
# The statement, with the paper's own number, in our words. Every symbol is defined.
# ```
#
# **The idea of the proof.** Why the statement holds, in words. The proof itself follows, folded in a `{dropdown}` if it is long.
#
# ## The check
#
# Before each computation a sentence says what the next lines compute, and which outcome would speak against the claim.

# %%
f = rng.normal(2**n_max)
gap = abs(spectrum(f).square().sum() / f.square().mean() - 1).item()
unnormalised = abs((2**n_max * spectrum(f)).square().sum() / f.square().mean() - 1).item()
table({"sensitivity": average_sensitivity(f).item(), "gap": gap}, "A random function", tiny=1e-12)
glue(gap=gap)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
result = ledger.result("part.name")
result.holds(
    "Parseval, relative gap",
    gap,
    at_most=0,
    tol=1e-12,
    control=unnormalised,
    about="statement",
    evidence="sampled",
)

# %% [markdown]
# Say what the table shows. Every number in the prose comes from the run, by `glue`, and each figure is read to the reader once: first this line of {numref}`fig-name`, then that one, and what follows.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "What the figure is, with its units.", "name": "fig-name"}, "image": {"alt": "What is seen in the figure, in a sentence or two, for a reader who cannot see it."}} tags=["hide-input"]
fig, ax = figures.new(height=2.4)
ax.plot(spectrum(f).abs().sort(descending=True).values, **figures.line_style(0))
ax.set(xlabel="rank of the coefficient", ylabel="size $|\\hat f(S)|$")
figures.show()

# %% [markdown]
# ## What we found
#
# The result in sentences. If something is wrong in the paper, a finding tells it; numbers may stand in formulas too.
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
# ## What would falsify this
#
# The outcome that would end the claim, and the control: the same number on a broken variant, where the outcome must be the opposite.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Name the repository and what was read, or say that no code was published.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-name-first
# *By hand.* A question that can be answered at once.
# ```
#
# ```{solution} ex-name-first
# :class: dropdown
# The answer, in a few lines.
# ```
#
# ```{exercise}
# :label: ex-name
# *With the computer.* A question that a changed parameter answers, by `python -m bookkit.run part/name -p n_max 10 --out my_run`.
# ```
#
# ```{solution-start} ex-name
# :class: dropdown
# ```
#
# What one sees, and why. The next cell is executed and compared like all others, and the page folds it with the solution.

# %%
print(f"{average_sensitivity(f).item() / n_max:.6f}")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-name-last
# *To think about.* A question that leads further.
# ```
#
# ```{solution} ex-name-last
# :class: dropdown
# The answer.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
