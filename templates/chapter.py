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
# **Claim.** What is true, in two sentences. **Needs** {ref}`ch-fourier-walsh`. **Runs in** 5 s.
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

# %%
import torch

from helpers.book import figures
from helpers.book.claims import Ledger, glue
from helpers.cube import average_sensitivity, spectrum

ledger = Ledger("part/name")
generator = torch.Generator().manual_seed(seed)
f = torch.randn(2**n_max, generator=generator, dtype=torch.float64)
energy_gap = (spectrum(f).square().sum() / f.square().mean() - 1).abs().item()
unnormalised_gap = ((2**n_max * spectrum(f)).square().sum() / f.square().mean() - 1).abs().item()
glue("sensitivity", average_sensitivity(f).item())
print(f"average sensitivity {average_sensitivity(f).item():.6f}")

# %% [markdown]
# Every number in the prose comes from the run: {glue:text}`sensitivity:.3f`. The figure is {numref}`fig-name`.

# %% mystnb={"figure": {"caption": "What the figure is, with its units.", "name": "fig-name"}, "image": {"alt": "What is seen in the figure, in a sentence or two, for a reader who cannot see it."}} tags=["hide-input"]
fig, ax = figures.new(height=2.4)
ax.plot(spectrum(f).abs().sort(descending=True).values, marker="")
ax.set(xlabel="rank of the coefficient", ylabel="size $|\\hat f(S)|$")
figures.show()

# %% [markdown]
# ## What would falsify this
#
# The number that would end the claim, and the control: the same number where it must come out otherwise.

# %%
ledger.check(
    "part.name",
    "Parseval, relative gap",
    measured=energy_gap,
    at_most=0,
    tol=1e-12,
    control=unnormalised_gap,
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Name the repository and what was read, or say that no code was published.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# A question that a changed parameter answers.
# ```

# %% tags=["hide-cell"]
print(f"{average_sensitivity(f).item() / n_max:.6f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
