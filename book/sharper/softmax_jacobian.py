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
# (ch-softmax-jacobian)=
# # How far a softmax passes a gradient on
#
# ```{verdict}
# It holds, and 1 will do in place of 2: two tokens attain {glue:text}`attained:.0f`, and half the range of the values is never passed.
# ```
# **Needs** the derivative of a softmax. **Read** 4 min. **Runs in** 5 s. **Source** restored: the constant is missing in our text.
#
# **Claim.** The gradient that comes back through a softmax is at most twice the longest row of the inputs times the largest entry of the values. That is true. The best constant is 1, and it is attained. For values between 0 and 1, as in the network of {ref}`ch-construction`, it is $\frac12$.
#
# ## The statement
#
# An attention takes the mean $\sum_j a_j v_j$ of values $v_j$, with $a$ the softmax of scores $s_j = x_j^\top q$. Here $x_j$ are the rows of a matrix $X$ and $q$ is the query. If a score moves, $a$ moves by the Jacobian $J = \mathrm{diag}(a) - a a^\top$ of the softmax. So the gradient of the mean with respect to $q$ is $X^\top J v$.
#
# ```{prf:lemma} Lintilhac and Shaikh (2026), Lemma 15
# :label: sharper-lem15
# For $X$ with rows $x_j$, a softmax output $a$, $J = \mathrm{diag}(a) - a a^\top$, and any vector $v$,
#
# $$\|X^\top J v\|_2 \le 2\, \max_j \|x_j\|_2\, \max_j |v_j| .$$
# ```
#
# **Why it holds, with 1 in place of 2.** Let $\bar v = \sum_j a_j v_j$. Then $X^\top J v = \sum_j a_j (v_j - \bar v)\, x_j$, so its norm is at most $\max_j \|x_j\|$ times $\sum_j a_j |v_j - \bar v|$, the *mean absolute deviation* of $v$. Let $v$ lie between $l$ and $h$. There $|v - \bar v|$ is convex, so it is below the chord between its values at $l$ and $h$. The mean of the chord is its value at $\bar v$:
#
# $$\sum_j a_j |v_j - \bar v| \le \frac{2 (h - \bar v)(\bar v - l)}{h - l} \le \frac{h - l}2 \le \max_j |v_j| .$$
#
# So half the *range* $h - l$ is enough. Two tokens with $a = (\frac12, \frac12)$ and $v = x = (1, -1)$ give equality.

# %% tags=["parameters"]
starts = 128  # random points of each size [100..1000]
seed = 0  # of the random points [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.draws import Draws, f64

ledger, draws = Ledger("sharper/softmax_jacobian"), Draws(seed)
lem15 = ledger.result("sharper.lem15")

# %% [markdown]
# ## How large can the left side be?
#
# Let all rows have length at most 1 and all entries of $v$ lie between $-1$ and 1. Then the left side is at most 2, says the lemma. We draw {glue:text}`starts` points for each size, with $v$ between $-1$ and 1, and with $v$ between 0 and 1. Scores have a standard deviation of 2, so that some tokens take nearly all of the softmax.


# %%
def left_side(a, v, X, sign=-1.0):
    """Length of X^T J v, with J = diag(a) - a a^T."""
    Jv = a * (v + sign * (a * v).sum(-1, keepdim=True))
    return (Jv[..., None] * X).sum(-2).norm(dim=-1)


rows, points = [], {-1.0: [], 0.0: []}
for tokens in (2, 3, 5):
    for columns in (1, 3):
        row = {"tokens": tokens, "columns": columns}
        for low, seen in points.items():
            X = draws.normal(starts, tokens, columns)
            X = X / X.norm(dim=-1, keepdim=True).clamp(min=1)
            v = (2 * draws.normal(starts, tokens)).clamp(low, 1)
            side = left_side((2 * draws.normal(starts, tokens)).softmax(-1), v, X)
            half = (v.amax(1) - v.amin(1)) / 2
            row[f"v from {low:g}"] = side.max().item()
            row[f"over half the range, v from {low:g}"] = (side / half.clamp(min=1e-9)).max().item()
            seen.append((half, side))
        rows.append(row)
found = pd.DataFrame(rows)
table(found, "Largest left side, rows of length at most 1", form=".3f")

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Each mark is a random point: the left side of the lemma against half the range of $v$. Star: two tokens with $a = (\\frac12, \\frac12)$, $v = x = (1, -1)$. Dashed: the proof's bound. The lemma's bound is 2.", "name": "fig-softmax-range"}, "image": {"alt": "Scatter plot of the left side between 0 and 2 against half the range of v between 0 and 1. All marks lie on or below the diagonal, those for values between 0 and 1 end at half a unit, those for values between minus 1 and 1 at one unit, where a star marks the pair that attains it. The line of the lemma at 2 is far above."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for i, (low, label) in enumerate(((-1.0, "$v$ from $-1$ to 1"), (0.0, "$v$ from 0 to 1"))):
    half, side = map(torch.cat, zip(*points[low], strict=True))
    ax.plot(half, side, **figures.marks(i, markersize=3, alpha=0.6, label=label))
ax.plot(1, 1, marker="*", markersize=11, color="black", linestyle="none", label="two tokens")
ax.plot([0, 1], [0, 1], linestyle="--", marker="", color="black", label="half the range")
figures.level(ax, 2, "Lemma 15")
ax.set(xlabel="half the range of $v$", ylabel="$\\|X^\\top J v\\|$", ylim=(0, 2.2))
ax.legend(loc="upper left")
figures.show()

# %% [markdown]
# All marks of {numref}`fig-softmax-range` are on or below half the range, and the pair of the proof attains it. Three variants show that the check can fail: without the division by the sum of the exponentials, with $+ a a^\top$ in place of $- a a^\top$, and, for the value 1, with $v$ from 0.

# %%
pair, ones = f64([1.0, -1.0]), f64([1.0, 1.0])
attained = left_side(ones / 2, pair, pair[:, None]).item()
half = left_side(ones / 2, pair.clamp(min=0), pair[:, None]).item()  # v = (1, 0)
most = max(found["v from -1"].max(), attained)
unnormalised = left_side((2 * ones).exp(), pair, pair[:, None]).item()
plus = left_side(ones / 2, ones, ones[:, None], sign=1.0).item()
lem15.holds(
    "left side over the right side, as restored, largest found",
    most / 2,
    at_most=1,
    control=unnormalised / 2,
    about="statement",
    evidence="proved",
)
glue(starts=starts, attained=attained, half=half)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lem15.holds(
    "the same with constant 1",
    most,
    at_most=1,
    tol=1e-12,
    control=plus,
    about="constant",
    evidence="proved",
)
lem15.holds(
    "the constant 1 is attained",
    attained,
    equals=1,
    tol=1e-12,
    control=half,
    about="constant",
    evidence="attained",
)
lem15.holds(
    "for $v$ from 0 to 1 with constant 1/2",
    max(found["v from 0"].max(), half),
    at_most=0.5,
    tol=1e-12,
    control=most,
    about="ours",
    evidence="proved",
)
ledger.show()

# %% [markdown]
# ## What would falsify this
#
# A left side above 2 at rows and values of size at most 1, or, with the better constant, above 1. The controls leave out the normalisation of the softmax, and add $a a^\top$ where $J$ subtracts it. That 1 is attained could fail too: with $v$ from 0 it is not.
#
# ## What the authors' code does differently
#
# Nothing that we know of: the lemma is a step of a proof, and no code evaluates it. The paper takes it from an earlier work and uses it for the gradient of the second attention. {ref}`ch-gradients-and-trace` uses the sharper form.
#
# ## What we found
#
# * The lemma holds. The left side is at most {glue:text}`attained:.0f`, where 2 is allowed.
# * Its constant is 1, attained by two tokens. What rests on the lemma gains a factor 2.
# * Half the range of $v$ is enough: for values from 0 to 1 the constant is $\frac12$, which two tokens with $v = (1, 0)$ attain ({glue:text}`half:.1f`).
#
# ## Exercises
#
# ```{exercise}
# :label: ex-softmax-shift
#
# Add one number to all entries of $v$. What happens to both sides of the lemma, and which shift makes the lemma sharpest?
# ```
#
# ```{solution} ex-softmax-shift
# :class: dropdown
#
# The left side stays, as $J$ times a constant vector is 0. The right side is least if the largest and the least entry are opposite; then $\max_j |v_j|$ is half the range.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemma is from {cite:t}`sharper`.
