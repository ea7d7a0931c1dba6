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
# Lemma 15 is true: the gradient that a query receives through a softmax is at most a constant times the longest token times the largest value, however many tokens there are. The constant, which we restored as 2, can be {glue:text}`attained:.0f`, and two tokens attain it.
# ```
# **Needs** the derivative of a softmax. **Read** 9 min. **Runs in** 5 s. **Source** restored: the formula is not legible in our copy of the paper; the constant and the norms are ours.
#
# **Claim.** An attention head returns an average of values. The lemma says that the gradient of this average with respect to the query is at most twice the length of the longest token times the largest absolute entry of the values. We show that the best constant is 1 in place of 2, and that the largest value can be replaced by half the distance between the largest and the smallest one. For values between 0 and 1, as in the network of {ref}`ch-construction`, this gives the constant $\frac12$.

# %% tags=["parameters"]
starts = 128  # random points of each size [100..1000]
seed = 0  # of the random points [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.rng import Rng, f64

ledger, rng = Ledger("sharper/softmax_jacobian"), Rng(seed)
lem15 = ledger.result("sharper.lem15")

# %% [markdown]
# ## Why one should care
#
# Training a transformer sends gradients back through its softmaxes. Can such a gradient grow with the length of the input? At first sight it can, because the derivative of a softmax over $T$ tokens is a matrix with $T^2$ entries, and the gradient is a product of three factors: the tokens, this matrix, and the values. If we bound the norm of the product by the product of the norms, we get $\frac T2$ times the longest token times the largest value, because the tokens and the values each contribute a factor $\sqrt T$, and the matrix has a norm of at most $\frac12$. For a hundred tokens this is a factor of 50.
#
# The lemma replaces this factor by a constant that does not depend on $T$. The paper uses it in several places, for the gradients of both attentions of its hand-written network. In the trace of the Hessian gradients enter squared, because at a network that fits its data the trace is twice the squared length of the gradient ({ref}`ch-gradients-and-trace`). So the constant matters as well: where a block of weights is bounded with the lemma, a factor of 2 in the lemma is a factor of 4 in the bound for this block.
#
# ## Three tokens by hand
#
# Let us compute one such gradient with numbers small enough to check on paper. Take three tokens that are single numbers, $x = (1, 0, 0)$, with the values $v = (1, 0, -1)$. The query is a single number $q$ as well, and token $j$ has the score $x_j q$. For $q = \log 2$ the scores are $\log 2, 0, 0$ and their exponentials are $2, 1, 1$, so the attention weights are $a = (\frac12, \frac14, \frac14)$, and the head returns the average
#
# $$\bar v = \tfrac12 \cdot 1 + \tfrac14 \cdot 0 + \tfrac14 \cdot (-1) = \tfrac14 .$$
#
# If we increase $q$ a little, only the score of the first token rises. This token gains weight, and since the weights add up to 1, the other two lose as much. The average therefore rises because the first value lies *above the average*, by $\frac34$. How fast it rises is the sum of the last column:
#
# | token $j$ | $x_j$ | $v_j$ | $a_j$ | $v_j - \bar v$ | $a_j (v_j - \bar v)$ | $a_j (v_j - \bar v)\, x_j$ |
# |:--|:--|:--|:--|:--|:--|:--|
# | 1 | $1$ | $1$ | $\frac12$ | $\frac34$ | $\frac38$ | $\frac38$ |
# | 2 | $0$ | $0$ | $\frac14$ | $-\frac14$ | $-\frac1{16}$ | $0$ |
# | 3 | $0$ | $-1$ | $\frac14$ | $-\frac54$ | $-\frac5{16}$ | $0$ |
#
# So the gradient is $\frac38$, whereas the lemma allows 2, because the longest token has length 1 and the largest value is 1. The following lines compute the gradient for any number of tokens, and compare it with a step of 0.1 in $q$.


# %%
def left_side(a, v, X, sign=-1.0):
    """Length of X^T J v, with J = diag(a) - a a^T."""
    Jv = a * (v + sign * (a * v).sum(-1, keepdim=True))  # entry j: a_j (v_j - average)
    return (Jv[..., None] * X).sum(-2).norm(dim=-1)


def attention(q):
    """The average of the three values for the query q."""
    return (x * q).softmax(0) @ v


x, v, q = f64([1.0, 0.0, 0.0]), f64([1.0, 0.0, -1.0]), f64(2.0).log()
example = left_side((x * q).softmax(0), v, x[:, None]).item()
moved = (attention(q + 0.1) - attention(q)).item()
glue(example=example, moved=moved)

# %% [markdown]
# The gradient is {glue:text}`example:.3f`, as by hand, and the step moves the average by {glue:text}`moved:.4f`, which is 0.1 times the gradient to all digits shown.
#
# {numref}`fig-softmax-three-tokens` shows the average for other queries, too. At the far left the first token has no weight, and the average is that of the other two values, $-\frac12$. At the far right it has all the weight, and the average is 1. At both ends the weights hardly change any more, so the gradient is nearly 0. It is largest in between, at $q = \log 2$, the query that we chose.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The average of the three values as the query $q$ moves. Dashed: the tangent at $q = \\log 2$. Its slope is the gradient, $\\frac38$.", "name": "fig-softmax-three-tokens"}, "image": {"alt": "A curve shaped like an S rises from minus one half at q = -5 to one at q = 5. A dashed straight line touches it at q = 0.69, where the curve is steepest and has the height one quarter."}} tags=["hide-input"]
fig, ax = figures.new(height=2.2)
queries = torch.linspace(-5, 5, 101)
ax.plot(queries, [attention(p).item() for p in queries.double()], **figures.line_style(0))
near = queries[(queries > -1.2) & (queries < 2.6)]
ax.plot(near, 0.25 + example * (near - q), linestyle="--", marker="", color="black")
ax.plot(q, 0.25, marker="o", color="black")
ax.set(xlabel="query $q$", ylabel="average", ylim=(-0.6, 1.1))
figures.show()

# %% [markdown]
# Can we choose the numbers so that the gradient reaches 2, as the lemma allows? We cannot, and the proof will show why, but two tokens get half-way. Let both have the weight $\frac12$, and let $x = v = (1, -1)$. The average is 0, the deviations from it are $1$ and $-1$, and the gradient is $\frac12 \cdot 1 \cdot 1 + \frac12 \cdot (-1) \cdot (-1) = 1$.
#
# ## The statement
#
# Let the tokens $x_j$ be the rows of a matrix $X$, let $q$ be the query, and let $a$ be the softmax of the scores $s_j = x_j^\top q$, so that the head returns $\bar v = \sum_j a_j v_j$. If the scores move by a small vector $\delta$, the weights $a$ move by $J \delta$, where $J = \mathrm{diag}(a) - a a^\top$ is the Jacobian of the softmax. By the chain rule the gradient of $\bar v$ with respect to $q$ is $X^\top J v$.
#
# ```{prf:lemma} Lintilhac and Shaikh (2026), Lemma 15
# :label: sharper-lem15
# For $X$ with rows $x_j$, a softmax output $a$, $J = \mathrm{diag}(a) - a a^\top$, and any vector $v$,
#
# $$\|X^\top J v\|_2 \le 2\, \max_j \|x_j\|_2\, \max_j |v_j| .$$
# ```
#
# The lemma is true, and so is a sharper statement, in which only the spread of the values counts:
#
# ```{prf:proposition} The best constant (ours)
# :label: softmax-half-range
# Let $l$ be the smallest and $h$ the largest entry of $v$. Then
#
# $$\begin{aligned} \|X^\top J v\|_2 &\le \tfrac12 (h - l)\, \max_j \|x_j\|_2 \\ &\le \max_j |v_j|\, \max_j \|x_j\|_2 , \end{aligned}$$
#
# and two tokens attain equality in both places.
# ```
#
# **The idea of the proof.** In the example the values themselves did not matter, only their deviations $v_j - \bar v$ from the average. This is always so, because a softmax can only move weight from some tokens to others. So the gradient is a sum of the tokens, each multiplied by its weight and its deviation, and its length is at most that of the longest token times the *mean absolute deviation* of the values. It remains to ask how large a mean absolute deviation can be when all values lie between $l$ and $h$. It is largest when half of the weight sits at each end, and then it is half the distance between them.
#
# ```{dropdown} Proof
# We rewrite the gradient by deviations, bound its length by the mean absolute deviation, and bound this by half the range.
#
# *Deviations.* Entry $j$ of $Jv$ is $a_j v_j - a_j \sum_k a_k v_k = a_j (v_j - \bar v)$. Hence $X^\top J v = \sum_j a_j (v_j - \bar v)\, x_j$.
#
# *Length.* By the triangle inequality $\|X^\top J v\| \le \max_j \|x_j\| \cdot \sum_j a_j |v_j - \bar v|$.
#
# *Mean absolute deviation.* If $h = l$, all deviations are 0. Otherwise consider the function $u \mapsto |u - \bar v|$ for $u$ between $l$ and $h$. It is convex, so it lies below its chord, the straight line that joins its values at the two ends, $\bar v - l$ at $u = l$ and $h - \bar v$ at $u = h$. The average of a straight line over the values $v_j$ is its height at their average $\bar v$. Therefore
#
# $$\sum_j a_j |v_j - \bar v| \le \frac{2 (h - \bar v)(\bar v - l)}{h - l} \le \frac{h - l}2 \le \max_j |v_j| .$$
#
# The second step holds because two numbers with the sum $h - l$ have a product of at most $\frac14 (h - l)^2$, and the third because $h$ and $-l$ are both at most $\max_j |v_j|$. With $a = (\frac12, \frac12)$ and $x = v = (1, -1)$ all the inequalities are equalities. $\square$
# ```
#
# For the three tokens the numbers of the proof are easy to write down. The gradient is $\frac38$, the mean absolute deviation $\frac38 + \frac1{16} + \frac5{16} = \frac34$, the height of the chord $\frac{15}{16}$, and half the range 1:
#
# $$\tfrac38 \le \tfrac34 \le \tfrac{15}{16} \le 1 \le 2 .$$
#
# ## Looking for a larger gradient
#
# A proof can contain a slip, so we also look for a counterexample. We draw {glue:text}`starts` random points for each of six sizes: weights, tokens of length at most 1, and values between $-1$ and 1. The scores have a standard deviation of 2, so that some tokens take nearly all of the weight. A left side above 2 would refute the lemma, and one above 1 our proposition. Then we repeat the draws with values between 0 and 1, for which the proposition allows only $\frac12$. The columns *over half the range* divide each left side by half the range of its own values, $\frac{h-l}2$, and must not exceed 1.

# %%
rows, points = [], {-1.0: [], 0.0: []}
for tokens in (2, 3, 5):
    for columns in (1, 3):
        row = {"tokens": tokens, "columns": columns}
        for low, seen in points.items():
            X = rng.normal(starts, tokens, columns)
            X = X / X.norm(dim=-1, keepdim=True).clamp(min=1)  # length at most 1
            v = (2 * rng.normal(starts, tokens)).clamp(low, 1)
            side = left_side((2 * rng.normal(starts, tokens)).softmax(-1), v, X)
            half = (v.amax(1) - v.amin(1)) / 2
            row[f"v from {low:g}"] = side.max().item()
            row[f"over half the range, v from {low:g}"] = (side / half.clamp(min=1e-9)).max().item()
            seen.append((half, side))
        rows.append(row)
found = pd.DataFrame(rows)
table(found, "Largest left side, rows of length at most 1", form=".3f")

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-input"]
nearest = found.filter(like="over half").max(axis=None)
glue(drawn_signed=found["v from -1"].max(), drawn_unit=found["v from 0"].max(), nearest=nearest)

# %% [markdown]
# No point comes near the paper's 2: the largest left side is {glue:text}`drawn_signed:.2f` for values between $-1$ and 1, and {glue:text}`drawn_unit:.2f` for values between 0 and 1. But the bound of the proposition is nearly reached, since the left side gets to {glue:text}`nearest:.2f` of half the range, as {numref}`fig-softmax-range` shows.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Each mark is a random point: the left side of the lemma against half the range of $v$. Star: two tokens with $a = (\\frac12, \\frac12)$, $v = x = (1, -1)$. Dashed: the bound of the proposition. The lemma's bound is 2.", "name": "fig-softmax-range"}, "image": {"alt": "Scatter plot of the left side between 0 and 2 against half the range of v between 0 and 1. All marks lie on or below the diagonal, those for values between 0 and 1 end at half a unit, those for values between minus 1 and 1 at one unit, where a star marks the pair that attains it. The line of the lemma at 2 is far above."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for i, (low, label) in enumerate(((-1.0, "$v$ from $-1$ to 1"), (0.0, "$v$ from 0 to 1"))):
    half, side = map(torch.cat, zip(*points[low], strict=True))
    ax.plot(half, side, **figures.marker_style(i, markersize=3, alpha=0.6, label=label))
ax.plot(1, 1, marker="*", markersize=11, color="black", linestyle="none", label="two tokens")
ax.plot([0, 1], [0, 1], linestyle="--", marker="", color="black", label="half the range")
figures.level(ax, 2, "Lemma 15")
ax.set(xlabel="half the range of $v$", ylabel="$\\|X^\\top J v\\|$", ylim=(0, 2.2))
ax.legend(loc="upper left")
figures.show()

# %% [markdown]
# The further apart the values are, the larger the gradient can be. The dashed line is the largest possible gradient, and all marks lie on it or below it. The star, our pair of tokens, lies at its upper end, where the values range over the whole interval from $-1$ to 1. No point can lie between the star and the line of the lemma at 2, whatever the number of tokens. The next lines compute the star, and the same pair with the values 1 and 0.

# %%
pair, ones = f64([1.0, -1.0]), f64([1.0, 1.0])
attained = left_side(ones / 2, pair, pair[:, None]).item()
half = left_side(ones / 2, pair.clamp(min=0), pair[:, None]).item()  # v = (1, 0)

# %% [markdown]
# The left side is {glue:text}`attained:.0f` for the first pair and {glue:text}`half:.1f` for the second, so neither 1 nor the $\frac12$ for values between 0 and 1 can be improved. The folded cell compares all these numbers with what the lemma and the proposition allow, and the ledger shows the outcome.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
most = max(found["v from -1"].max(), attained)
unnormalised = left_side((2 * ones).exp(), pair, pair[:, None]).item()
plus = left_side(ones / 2, ones, ones[:, None], sign=1.0).item()
lem15.holds(
    "as restored: largest ratio of the left to the right side in a search; control: a "
    "softmax without its division",
    most / 2,
    at_most=1,
    control=unnormalised / 2,
    about="statement",
    evidence="proved",
)
glue(starts=starts, attained=attained, half=half, unnormalised=unnormalised, plus=plus)
lem15.holds(
    "with the constant 1: largest ratio of the left to the right side in a search; control:"
    " $J$ with $a a^\\top$ added",
    most,
    at_most=1,
    tol=1e-12,
    control=plus,
    about="constant",
    evidence="proved",
)
lem15.holds(
    "the constant 1 is attained: ratio of the left to the right side; control: a softmax "
    "without its division",
    attained,
    equals=1,
    tol=1e-12,
    control=unnormalised,
    about="constant",
    evidence="attained",
)
lem15.holds(
    "for $v$ from 0 to 1: largest ratio of the left side to $\\max_j \\|x_j\\|_2 \\max_j "
    "|v_j|$, against $\\frac12$; control: $J$ with $a a^\\top$ added",
    max(found["v from 0"].max(), half),
    at_most=0.5,
    tol=1e-12,
    control=plus,
    about="ours",
    evidence="proved",
)
ledger.show()

# %% [markdown]
# ## What we found
#
# * The lemma is true, and where it allows 2, the left side is never larger than {glue:text}`attained:.0f`.
# * The best constant is therefore 1, and two tokens attain it. A gradient that is bounded with the lemma is bounded by half as much, and its square by a quarter.
# * Only the differences of the values matter: half of their range can stand in place of the largest one. For values between 0 and 1 the constant is $\frac12$, and two tokens with $v = (1, 0)$ attain it.
#
# ## What would falsify this
#
# The lemma would be false if tokens of length at most 1, with values between $-1$ and 1, had a left side above 2. The proposition would be false if they had one above 1. To be sure that the checks can notice this, the same lines compute two left sides with a wrong Jacobian. If the exponentials are not divided by their sum, our pair of tokens has a left side of {glue:text}`unnormalised:.1f`, which exceeds both the 2 of the lemma and the 1 of the proposition. If $a a^\top$ is added where $J$ subtracts it, two equal tokens with the values 1 and 1 have one of {glue:text}`plus:.0f`. This is not above 2, but it is above the 1 of the proposition, whose checks it controls.
#
# ## What the authors' code does differently
#
# Nothing that we know of: the lemma is a step of a proof, and no code evaluates it. The paper takes it from {cite:t}`deora2023` and uses it for gradients of both attentions; {ref}`ch-gradients-and-trace` uses the sharper form for the second.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-softmax-shift
#
# *By hand.* Add 2 to each value of the three tokens above, so that $v = (3, 2, 1)$. What becomes of the gradient, and what does the lemma allow now? Which number should one add to the values of any head so that the lemma is as sharp as possible?
# ```
#
# ```{solution} ex-softmax-shift
# :class: dropdown
#
# The average grows by 2 as well, so the deviations stay, and the gradient is still $\frac38$. In other words, $J$ times a constant vector is 0. The lemma now allows $2 \cdot 1 \cdot 3 = 6$ where it allowed 2. Its right side is smallest if the largest and the smallest value are opposite numbers. Then $\max_j |v_j|$ is half the range, and the lemma with constant 1 is the proposition.
# ```
#
# ```{exercise}
# :label: ex-softmax-tokens
#
# *With the computer.* First run the chapter with more random points, for example by `python -m bookkit.run sharper/softmax_jacobian -p starts 1000 --out my_run`, and see how close to 1 they come. Then continue the table to 128 tokens, with tokens that are single numbers and values between $-1$ and 1. Do the random points come closer to 1 as the number of tokens grows, or do they move away from it? Finally find a head with 128 tokens that attains 1. What do you conclude about testing a bound at random points?
# ```
#
# ```{solution-start} ex-softmax-tokens
# :class: dropdown
# ```
#
# For the head that attains 1, copy the pair of the proof: half of the tokens are $x_j = v_j = 1$, the others $x_j = v_j = -1$, and all have the same weight.

# %%
fresh, by_tokens = Rng(seed), {}
for tokens in (2, 8, 32, 128):
    X = fresh.normal(8 * starts, tokens, 1)
    X = X / X.norm(dim=-1, keepdim=True).clamp(min=1)
    v = (2 * fresh.normal(8 * starts, tokens)).clamp(-1, 1)
    a = (2 * fresh.normal(8 * starts, tokens)).softmax(-1)
    halves, equal = pair.repeat(tokens // 2), f64([1 / tokens]).repeat(tokens)
    by_tokens[tokens] = {
        "random points": left_side(a, v, X).max().item(),
        "two halves": left_side(equal, halves, halves[:, None]).item(),
    }
answer = pd.DataFrame.from_dict(by_tokens, orient="index").rename_axis("tokens")
table(answer, "Largest left side by the number of tokens", form=".3f")

# %% [markdown]
# With two tokens the best of many random points can come close to 1, but with many tokens the random points stay away from it. To come close, the token and the deviation would have to agree in sign at all tokens, which is less and less likely. Yet the bound is attained at every number of tokens from two on. So random points far below a bound do not show that the bound is loose; for that one has to look for the worst case.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-softmax-vectors
#
# *To think about.* In a transformer the values are vectors, the rows $v_j$ of a matrix $V$, and the head returns $V^\top a$. Show that the spectral norm of its derivative $X^\top J V$ is at most half the *diameter* of the values, $\frac12 \max_{i,j} \|v_i - v_j\|$, times the longest token.
# ```
#
# ```{solution} ex-softmax-vectors
# :class: dropdown
#
# The spectral norm is the largest $\|X^\top J V u\|$ over unit vectors $u$. For a fixed $u$ the vector $V u$ has the entries $v_j^\top u$, so {prf:ref}`softmax-half-range` bounds $\|X^\top J (Vu)\|$ by half the range of these entries times the longest token. The range is $\max_{i,j} (v_i - v_j)^\top u$, which is at most $\max_{i,j} \|v_i - v_j\|$ by the inequality of Cauchy and Schwarz.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemma is from {cite:t}`sharper`, who credit it to {cite:t}`deora2023`; we have not read the older proof. That a function is below its chord, from which the best constant follows, is a standard argument for convex functions.
