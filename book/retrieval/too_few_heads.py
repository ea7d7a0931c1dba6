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
# (ch-too-few-heads)=
# # Fewer heads than tokens
#
# ```{verdict}
# The paper's bounds are true: if a label is a sum of squares over $q$ tokens, a layer with too few attention heads cannot compute it. We prove a sharper bound. Let the data of a token have $d$ dimensions, and let a predictor that ignores the input have error 1. Then $H$ heads, for $H$ up to $q$ and $d$, leave an error of at least $(1 - H/d)(1 - H/q)$. So $q$ heads are needed if $d \ge q$. For $d < q$ fewer heads can be enough, because the bound is attained for some encodings of the positions.
# ```
# **Needs** {ref}`ch-attention-weights`. **Read** 21 min. **Runs in** 30 s. **Source** quoted; the remark on sparse averages printed.
#
# **Claim.** The paper gives two lower bounds for the error that $H$ heads leave if the label is a sum of squares over $q$ tokens. Both bounds hold, and the steps of the proof give a sharper one.
#
# * *For $d \ge q$* fewer than $q$ heads cannot compute the label. So the abstract's "at least $q$ heads" is true there. Section 3.1 claims that for $d$ far above $q$ the number of heads has to be of the order of $q$, $H = \Omega(q)$, and this is true as well.
# * *For $d < q$* fewer than $q$ heads can compute it, if the encodings of the positions are linearly independent. The reason is that attention weights depend on the data, so a head passes on data by its weights, too.
#
# With such encodings the sharper bound is attained, or in long prompts approached.

# %% tags=["parameters"]
q_search = 6  # tokens pointed at, for the search [3..10]
prompts = 20000  # prompts of a Monte Carlo estimate [4000..200000]
searches = 60  # starts of the search for better mixtures [20..500]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch
from scipy.optimize import linprog

from bookkit import Ledger, figures, glue, table
from bookkit.moving import Axis, Frame, moving
from helpers.covers.linear import climb
from helpers.rng import Rng, f64
from papers.retrieval import heads
from papers.retrieval.task import encode, encodings

ledger, source = Ledger("retrieval/too_few_heads"), Rng(seed)
prop3, prop21 = ledger.result("retrieval.prop3"), ledger.result("retrieval.prop21")
at_least_q = ledger.result("retrieval.thm1.heads")
generator, normal = source.generator, source.normal
q, N = 4, 8
omega = encodings(N, 16, generator).double()
PEAK = 4.5  # standard errors that an estimate may be off: once in 150,000 normal draws


def estimate(squares):
    """Half of the mean of the squared errors of all prompts, a thousand at a time; its error."""
    every = torch.cat([squares() for _ in range(prompts // 1000)])
    return every.mean().item() / 2, every.std().item() / 2 / len(every) ** 0.5


# %% [markdown]
# ## Why one should care
#
# A transformer with one head for each token of a label can compute the label ({ref}`ch-pointer-heads`), and the question is whether so many heads are necessary. A head returns an average, and an average of two numbers does not determine the two numbers, so one may think that each token needs a head of its own. But if the label is a *sum* of numbers, their average is all that is needed. Moreover, the weights of the average depend on the data, so they carry information as well. How many heads a label needs therefore depends on the label, on the dimension of the data, and on what the heads are allowed to look at. This chapter determines the least error exactly in the two cases that the paper considers, and finds that heads can do more than one might think.
#
# ## Two tokens and one head
#
# Take two tokens whose data are single normal variables $x_1$ and $x_2$, and let the label be $x_1^2 + x_2^2$, which has variance 4.
#
# *A head that does not look at the data* gives both tokens weights that are fixed in advance, say $\frac12$ each, and returns $\frac12 (x_1 + x_2)$. The label is $x_1^2 + x_2^2 = \frac12 (x_1 + x_2)^2 + \frac12 (x_1 - x_2)^2$. The head determines the first term. But the difference $x_1 - x_2$ is independent of the sum, so the best prediction of the second term is its mean. The second term has variance 2, which is half of the variance of the label. So one head leaves the share $1 - \frac Hq = \frac12$ of the variance, with $H = 1$ and $q = 2$.
#
# *A head that looks at the data* can give token $j$ the score $x_j$. Suppose that there is a third token without data, which has the score 0, and that $x_1 = 1$ and $x_2 = -\frac12$. The attention weights are proportional to the exponentials of the scores:
#
# | token | data | score | exponential | weight |
# |:--|--:|--:|--:|--:|
# | 1 | $1$ | $1$ | $2.72$ | $0.63$ |
# | 2 | $-\frac12$ | $-\frac12$ | $0.61$ | $0.14$ |
# | 3 | none | $0$ | $1$ | $0.23$ |
#
# A head averages whole tokens, which contain the encodings of the positions besides the data. If the three encodings are linearly independent, all three weights can be recovered from the average of the encodings. The logarithms of the ratios of these weights are the data: $\log \frac{0.63}{0.23} \approx 1$ and $\log \frac{0.14}{0.23} \approx -\frac12$, up to the rounding of the weights. So this one head leaves *no* error, although there are two tokens, as the next lines confirm.

# %%
numbers = f64([1.0, -0.5, 0.0])
attention = numbers.softmax(-1)
recovered = (attention / attention[-1]).log()
table(
    {"weight": attention.tolist(), "data, recovered": recovered.tolist()},
    "One head that carries the data of two tokens in its weights",
    form=".3f",
    tiny=1e-9,
)

# %% [markdown]
# In general there are more tokens, heads and dimensions. The figure shows the least error of $H$ heads for $q = 4$ tokens, for both kinds of heads. The lines are the bounds that this chapter proves, and each mark is a measured error. For a mark we compute the outputs of the heads on random prompts and apply the best function of these outputs, as in the example. Marks clearly off their line would speak against the bound, or against our claim that it is attained.


# %%
def by_position(A):
    """The best function of fixed mixtures of all tokens with data."""
    M = A.shape[1]
    x = heads.hard_prompts(1000, 2 * M, 3, q, generator).x
    return heads.label(x, q) - heads.best_prediction(A @ x[:, :M], A, q)


def by_data(H, d, omega=omega, rng=source):
    """Free heads: the best function of what they put out, and of nothing else."""
    u, b = rng.normal(H, d) / (2 * d**0.5), rng.normal(H, len(omega)) / 2
    b[:, q : len(omega) // 2] -= 2  # less attention to other tokens with data, if there are any
    given = heads.hard_prompts(1000, len(omega), d, q, rng.generator)
    tokens, W = encode(given, omega), heads.reading_heads(u, b, omega, q)
    put_out = heads.outputs(W, tokens, tokens[:, -1:])[:, 0]
    return heads.label(given.x, q) - heads.read(put_out, omega, u, b, q)


peaked = (5.0 * torch.eye(N).double()).softmax(-1)[:, :q]  # head h attends to token h
blind = {H: estimate(lambda H=H: by_position(peaked[:H]).square()) for H in range(1, q)}
astray = normal(2, q + 2).softmax(-1)  # two heads, and two more tokens with data
free = {
    (d, H): estimate(lambda H=H, d=d: by_data(H, d).square())
    for d in (1, 2, 4, 8)
    for H in range(1, min(d, q) + 1)
}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Least error of $H$ heads for $q = 4$ tokens. Black line: $1 - H/q$, for heads that look at positions only. Lines below it: $(1 - H/d)(1 - H/q)$, for free heads and data of 8, 4, 2 and 1 dimensions. The marks are measured, and two standard errors are smaller than a mark.", "name": "fig-heads"}, "image": {"alt": "Error against the number of heads from 0 to 4. A straight black line falls from 1 to 0. Below it hang curves, one for each number of dimensions, that start at 1 and fall faster the fewer the dimensions; the one of a single dimension reaches 0 at one head. Measured marks lie on the curves."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
counts = range(q + 1)
ax.plot(counts, [heads.floor(q, H) for H in counts], color="black", linestyle="-", marker="")
ax.plot([*blind], [v for v, _ in blind.values()], "kX", linestyle="", label="positions only")
for k, d in enumerate((8, 4, 2, 1)):
    reach = range(min(d, q) + 1)
    ax.plot(reach, [heads.floor(q, H, d) for H in reach], **figures.line_style(k))
    marks = [free[d, H][0] for H in reach[1:]]
    ax.plot(reach[1:], marks, **figures.marker_style(k, label=f"free, $d = {d}$"))
ax.set(xlabel="heads $H$", ylabel="error", xticks=counts, ylim=(-0.04, 1.08))
ax.legend()
figures.show()

# %% [markdown]
# The straight black line of {numref}`fig-heads` is for heads that do not look at the data: each of them removes the same share of the error, and $q$ heads are needed. The curves below it are for heads that look at the data, which we call *free*. If the data have one dimension, which is the lowest curve, a single head is enough, as in the example. The more dimensions the data have, the closer the curves come to the black line. The reason is that a score is a single number, so the weights of a head pass on only one of the $d$ dimensions of the data. Up to chance, all marks lie on their lines.
#
# The moving figure shows the predictions themselves, against the labels. As heads are added, the marks come nearer to the diagonal, the line of exact answers, and those of free heads lie on it as soon as there are as many heads as dimensions, or else as many as the four tokens of the label, as in the case of 8 dimensions.


# %% mystnb={"code_prompt_hide": "Moving figure", "code_prompt_show": "Moving figure"} tags=["hide-input", "nbval-ignore-output"]
def at(H, d, count=60):
    """Predictions of both kinds of heads; the prompts are the same for every H."""
    own = Rng(seed)
    given = heads.hard_prompts(count, N, d, q, own.generator)
    truth, some = heads.label(given.x, q), min(H, d)  # more than d heads say no more
    by_place = by_reading = 0 * truth
    if H:
        by_place = heads.best_prediction(peaked[:H] @ given.x[:, :q], peaked[:H], q)
        u, b = own.normal(some, d) / (2 * d**0.5), own.normal(some, N) / 2
        tokens, W = encode(given, omega), heads.reading_heads(u, b, omega, q)
        put_out = heads.outputs(W, tokens, tokens[:, -1:])[:, 0]
        by_reading = heads.read(put_out, omega, u, b, q)
    return Frame(
        f"H = {H}, d = {d}: an error of {heads.floor(q, H):.2f} is left to heads that look at positions "
        f"only, {heads.floor(q, H, d):.2f} to free heads.",
        dots={"positions only": (truth, by_place), "free": (truth, by_reading)},
        grey={"exact": ([-3, 6], [-3, 6])},
    )


moving(
    "predictions",
    {"heads H": list(range(q + 1)), "dimensions of the data d": [1, 2, 4, 8]},
    at,
    (Axis("label", -3, 6), Axis("best prediction", -3, 6)),
    caption="The best predictions for 60 prompts against their labels, q = 4. The more heads, the nearer "
    "the marks come to the line of exact answers; free heads are there once H reaches d or q.",
    alt="Scatter plot. Without heads all marks lie at the prediction 0. As heads are added, they gather "
    "at the diagonal; those of free heads are on it once H is as large as d or q.",
    start=(1, 2),
)

# %% [markdown]
# ## The setting
#
# A prompt has $N$ tokens, where $N$ is even and at least $2q$. Token $j$ carries data $x_j \in \mathbb R^d$ and $q$ pointers $t_{j1}, \dots, t_{jq}$, which are positions in the prompt. A model sees the token as the vector $z_j = (x_j, \omega_j, \omega_{t_{j1}}, \dots, \omega_{t_{jq}})$, where a fixed vector $\omega_j \in \mathbb R^{d_e}$ encodes position $j$.
#
# In the *hard distribution* the data of the first half, $j \le N/2$, are standard normal, and those of the second half are 0. Every token of the second half points at the tokens $1, \dots, q$, and its label is
#
# $$y = \frac1{\sqrt{qd}} \sum_{j=1}^q \bigl( \|x_j\|^2 - d \bigr),$$
#
# which has mean 0 and variance 2. The first half may point anywhere, independently of the data.
#
# A layer with $H$ heads gives token $i$ the $H$ vectors $\sum_j a^{(h)}_j z_j$, where $a^{(h)} = \mathrm{softmax}_j(z_i^\top W^{(h)} z_j)$ are the attention weights and $W^{(h)}$ is the *query-key matrix* of head $h$. The prediction $\hat y_i$ is any function of these vectors, which we call the *function on top*.
#
# The *error* is $\frac1N \sum_i \mathbb E (y_i - \hat y_i)^2$. The tokens of the first half can only add to the error, so for a lower bound we count those of the second half alone. The error is then half of the mean squared error of one label, and a predictor that ignores the input has error 1.
#
# Heads may *look at positions only*, which means that $W^{(h)}$ is 0 where it compares data with anything else; otherwise they are *free*.
#
# ## Heads that look at positions only
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemma 40
# :label: retrieval-lem40
# *(Quoted.)* If $z \sim \mathcal N(0, I_k)$, then $\operatorname{Var} \|z\|^2 = 2k$.
# ```
#
# ```{prf:proposition} Mousavi-Hosseini et al. (2025), Proposition 21
# :label: retrieval-prop21
# *(Quoted for $d = 1$; it holds for every $d$.)* Let every $W^{(h)}$ be zero where it compares data with positions or pointers. Then for every $H$ and every function on top the error is at least $1 - \frac Hq$.
# ```
#
# **The idea of the proof.** As in the example, the weights are fixed, so the function on top sees $H$ fixed linear combinations of the data. The part of the data that is orthogonal to these combinations is independent of them. For this part the function on top can do no better than predict a mean. The $q$ tokens span $q$ directions, and $H$ combinations can cover at most $H$ of them.
#
# **Proof.** First the lemma: $\operatorname{Var} z_1^2 = \mathbb E z_1^4 - 1 = 2$, and variances of independent variables add up.
#
# For the proposition we compute the error of given mixtures exactly, in five steps.
#
# 1. *What the function on top sees.* A token of the second half has no data of its own, so its attention weights do not depend on the data. The function on top sees fixed mixtures $Ax$ of the $M = N/2$ tokens that have data, with $A \in \mathbb R^{H \times M}$. Here $x \in \mathbb R^M$ is one dimension of the data, as a vector over the tokens.
# 2. *What it does not see.* Let $Q$ be the projector on the span of the rows of $A$, and let $P = I - Q$. The mixtures $Ax$ determine $Qx$, and $Px$ is independent of them.
# 3. *The label in these parts.* Let $S$ be the projector on the $q$ tokens pointed at. The sum of squares over these tokens is
#
#    $$x^\top S x = (Qx)^\top S (Qx) + 2 (Qx)^\top S (Px) + (Px)^\top S (Px) .$$
#
#    The first term is known, and the other two cannot be predicted better than by their means, given $Qx$.
# 4. *The variance that is left.* Given $Qx$, the second term has the variance $4 \|PSQx\|^2$. The third has the variance $2 \|PSP\|_F^2$, by the lemma along the eigenvectors of $PSP$. The two are uncorrelated, because the second is odd in $Px$ and the third is even. Since $\mathbb E \|PSQx\|^2 = \operatorname{tr}(SPSQ)$ and $\|PSP\|_F^2 = \operatorname{tr}(SPSP)$, the mean of the sum of the variances is $4 \operatorname{tr}(SPSQ) + 2 \operatorname{tr}(SPSP)$. Now we put $I - Q$ for $P$, and use $\operatorname{tr} S = q$ and $\operatorname{tr}(SQSQ) = \|SQS\|_F^2$. Then $\operatorname{tr}(SPSQ) = \operatorname{tr}(SQ) - \|SQS\|_F^2$ and $\operatorname{tr}(SPSP) = q - 2 \operatorname{tr}(SQ) + \|SQS\|_F^2$. So the terms with $\operatorname{tr}(SQ)$ cancel, and $2 (q - \|SQS\|_F^2)$ is left.
# 5. *The error.* There are $d$ dimensions, the label divides by $\sqrt{qd}$, and the error counts half of the mean squared error. So
#
#    $$\text{error}(A) = 1 - \frac1q \|SQS\|_F^2 .$$ (eq-mixtures)
#
# The eigenvalues of $SQS$ lie between 0 and 1, and at most $H$ of them are not 0, so $\|SQS\|_F^2 \le H$. $\square$
#
# Equality holds exactly if $A$ has rank $H$ and its rows are zero outside the $q$ tokens. We test the proposition by a search over all mixtures of $q + 3$ tokens. The search should come close to the line $1 - \frac Hq$, and an error below the line would refute the bound. The folded cell also tests the formula {eq}`eq-mixtures` on real prompts, among them some in which two more tokens have data and get attention.

# %% mystnb={"code_prompt_hide": "A search over softmax weights", "code_prompt_show": "A search over softmax weights"} tags=["hide-input"]
M = q_search + 3
rows, one_more = {}, []
for H in range(q_search + 1):
    start, line = normal(searches, H, M), heads.floor(q_search, H)
    ends = climb(
        lambda A: -heads.mixture_error(A, q_search), lambda A: A, start, generator, steps=300
    )
    found = heads.mixture_error(ends, q_search).min().item()
    pointed = heads.mixture_error(normal(H, q_search), q_search).item()
    random = heads.mixture_error(start, q_search).mean().item()
    rows[H] = {"1 - H/q": line, "random": random, "searched": found, "on the q tokens": pointed}
mixtures = pd.DataFrame(rows).T.rename_axis("H")
caption = f"Error of mixtures by the formula, q = {q_search}, {M} tokens with data"
table(mixtures, caption, form=".4f", tiny=1e-9)
glue(searched_most=mixtures["searched"].iloc[-1], q_search=q_search)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
line, searched = mixtures["1 - H/q"], mixtures["searched"]
prop21.holds(
    "a search over mixtures of tokens: least amount by which the error exceeds $1 - H/q$; "
    "control: one head more",
    (searched - line).min(),
    at_least=0,
    tol=1e-12,
    control=(searched.iloc[1:].to_numpy() - line.iloc[:-1].to_numpy()).min(),
    about="statement",
    evidence="proved",
)
prop21.holds(
    "mixtures of the $q$ tokens attain $1 - H/q$: largest distance from it; control: random"
    " mixtures",
    (mixtures["on the q tokens"] - line).abs().max(),
    at_most=1e-12,
    control=(mixtures["random"] - line).max(),
    about="constant",
    evidence="attained",
)
mixed = [(blind[H], peaked[:H]) for H in blind]
mixed.append((estimate(lambda: by_position(astray).square()), astray))


def from_formula(A, value, noise):
    """Standard errors from the exact error of mixtures A."""
    return abs(value - heads.mixture_error(A, q).item()) / noise


prop21.holds(
    f"the formula for the error against real prompts at $q = {q}$: largest distance in "
    "standard errors; control: one head fewer",
    max(from_formula(A, *found) for found, A in mixed),
    at_most=PEAK,
    control=max(from_formula(A[:-1], *found) for found, A in mixed),
    about="proof",
    evidence="sampled",
)


several = Rng(seed + 1)
ledger.result("retrieval.prop21.all_d").holds(
    "softmax mixtures of $q + 3$ tokens by $q - 1$ heads that see positions only, at any $d$: "
    "least ratio of the error to $1/q$, for $q \\le 64$; control: one head more, on the $q$ tokens",
    min(
        heads.mixture_error(several.normal(20, a - 1, a + 3).softmax(-1), a).min().item() * a
        for a in range(2, 65)
    ),
    at_least=1 - 1e-9,
    control=max(heads.mixture_error(several.normal(a, a), a).item() * a for a in range(2, 65)),
    about="remark",
    evidence="proved",
)


def variance(mix):
    """Of |mix z|^2, z normal: exactly, by the variance 2 |mix^T mix|_F^2 of a quadratic form."""
    return 2 * (mix.mT @ mix).square().sum().item()


ledger.result("retrieval.prop21.lem40").holds(
    "Lemma 40: largest distance of $\\operatorname{Var} \\|z\\|^2$ from $2k$ for $k \\le "
    "8$; control: one number copied",
    max(abs(variance(torch.eye(k).double()) - 2 * k) for k in range(1, 9)),
    at_most=1e-10,
    control=abs(variance(f64([[1.0, 0.0], [1.0, 0.0]])) - 4),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# The search comes close to the line and never falls below it. It is farthest from the line for the largest number of heads, because there the most numbers have to be found: with {glue:text}`q_search` heads it ends at {glue:text}`searched_most:.3f`, where the line is at 0. Random mixtures of all tokens have larger errors, whereas random mixtures of the $q$ tokens alone are on the line.
#
# ## Free heads
#
# ```{prf:proposition} Mousavi-Hosseini et al. (2025), Proposition 3
# :label: retrieval-prop3
# *(Quoted.)* For arbitrary $W^{(h)}$ the error is at least $1 - \frac Hd - \frac Hq$, up to a constant.
# ```
#
# ```{prf:proposition} The sharper bound (ours)
# :label: heads-sharper
# For arbitrary $W^{(h)}$ and $H \le \min(q, d)$ the error is at least $\bigl(1 - \frac Hd\bigr)\bigl(1 - \frac Hq\bigr)$. For linearly independent $\omega_j$ this is attained if $N = 2q$, and approached for larger $N$. Then $\min(q, d)$ heads leave no error if $d \le q$ or $N = 2q$.
# ```
#
# Since $(1 - \frac Hd)(1 - \frac Hq) = 1 - \frac Hd - \frac Hq + \frac{H^2}{dq}$, this bound is larger than the paper's by $\frac{H^2}{dq}$, and implies it.
#
# **The idea.** The scores of a head depend on the data of other tokens in one direction only, because a score is one number for each token. If we give all these numbers to the function on top, it knows the data in $H$ of $d$ directions, which explains the factor $1 - \frac Hd$. For the other directions the weights can be treated as fixed, so the proposition on heads that look at positions only applies.
#
# **Proof of the bound.**
#
# 1. *The scores.* A token of the second half has no data, so in head $h$ its score for token $j$ is $\langle u_h, x_j \rangle + b_h(j)$. The direction $u_h \in \mathbb R^d$ and the number $b_h(j)$ do not depend on the data.
# 2. *More information.* Let the function on top also receive all $\langle u_h, x_j \rangle$, which can only reduce the error. Then the attention weights are known numbers.
# 3. *The remaining dimensions.* The part of the data that is orthogonal to all $u_h$ is independent of these numbers, and so still normal, in at least $d - H$ dimensions. For each of these dimensions the weights are fixed, and {eq}`eq-mixtures` holds.
# 4. *The error.* The $d - H$ dimensions carry the share $\frac{d - H}d$ of the variance of the label. Therefore the error is at least $\frac{d - H}d \bigl(1 - \frac1q \|SQS\|_F^2\bigr) \ge \bigl(1 - \frac Hd\bigr) \bigl(1 - \frac Hq\bigr)$, whatever the weights are. $\square$
#
# **It is attained**, because the function on top can recover all $\langle u_h, x_j \rangle$ from the weights, as in the example.
#
# 1. *From the output to the weights.* A head also returns $\sum_j a_j \omega_j$, and if the $\omega_j$ are linearly independent, this vector determines every weight $a_j$.
# 2. *From the weights to the data.* The logarithms of the $a_j$ are the scores up to a constant. The last token has no data, so its score is known. This determines the constant, and hence all $\langle u_h, x_j \rangle$. If $d \le q$, then $d$ heads with independent directions $u_h$ determine all data, for every $N$, and leave no error.
# 3. *The remaining dimensions.* With $N = 2q$ only the $q$ tokens have data, so $\|SQS\|_F^2 = H$ for every $A$ of rank $H$. For larger $N$ the weights of the other tokens with data vanish as their numbers $b_h(j)$ decrease without bound, so $\|SQS\|_F^2$ tends to $H$.
#
# It remains to see that the tokens of the first half need not add to the error. They may point anywhere, so let all of them point at the last token. Their labels are then 0. The function on top only has to know in which half a token is. A score that depends on the first pointer tells it, by the ratio of the weights of two tokens without data.
#
# The function `heads.read` does these steps. Its errors are the coloured marks of {numref}`fig-heads`, and the next table compares them with three formulas. If the sharper bound is attained, the measured error agrees with its column up to a few standard errors (we allow 4.5). An error below this column by more than that would refute the bound.

# %% mystnb={"code_prompt_hide": "Free heads", "code_prompt_show": "Free heads"} tags=["hide-input"]
rows = {
    (d, H): {
        "1 - H/d - H/q": 1 - H / d - H / q,
        "(1 - H/d)(1 - H/q)": heads.floor(q, H, d),
        "1 - H/q": heads.floor(q, H),
        "measured": value,
        "standard error": noise,
    }
    for (d, H), (value, noise) in free.items()
}
read = pd.DataFrame(rows).T.rename_axis(["d", "H"])
table(read, f"Error of free heads that are read out, q = {q}", form=".4f", tiny=1e-9)

# %% [markdown]
# In every row the measured error and the sharper bound agree up to chance. In one dimension *one* head, with such encodings, is as good as any number of heads, since its attention weights carry all the data. (A check in a folded cell below takes two more tokens with data, at $N = 12$. There no error is below the bound by more than chance, as it must be for every $N$.)
#
# **Without logarithms.** One may object that such a read-out is possible only if the weights are known to many digits. There is also a construction without logarithms, with $2d$ heads, which are two for each dimension $k$ of the data.
#
# 1. *The scores.* The two heads have the scores $\pm \epsilon \langle e_k, x_j \rangle$ on the $q$ tokens, where $e_k$ is the unit vector of dimension $k$, and $-40$ elsewhere.
# 2. *The weights.* Let $m$ be the mean of $\langle e_k, x_j \rangle$ over the $q$ tokens. For small $\epsilon$ the weights are $\frac1q \bigl(1 \pm \epsilon (\langle e_k, x_j \rangle - m)\bigr)$ to first order.
# 3. *The outputs.* The difference of the two outputs along $e_k$ is therefore $2 \epsilon$ times the variance of $\langle e_k, x_j \rangle$ over the tokens, and the mean of the two outputs is $m$.
# 4. *The label.* The variance plus the square of the mean is the mean of the squares, which is what the label needs.
#
# So $2d$ heads, and a polynomial of degree 2 on top, give the label for *every* $q$, up to order $\epsilon^2$, and further tokens with data do not change this. The construction still needs suitable encodings: some linear function of them must give one and the same score to the $q$ tokens, and a much lower score to all other tokens with data. Linearly independent encodings allow this, whereas for $q$ well above $d_e$ random signs do not, as the table on encodings below shows.
#
# For example, let $q = 2$ tokens have the data $1$ and $-\frac12$ in one dimension, and let $\epsilon = 0.1$:
#
# | head | scores | weights | output |
# |:--|:--|:--|--:|
# | first | $0.1$ and $-0.05$ | $0.537$ and $0.463$ | $0.306$ |
# | second | $-0.1$ and $0.05$ | $0.463$ and $0.537$ | $0.194$ |
#
# The difference of the outputs over $2 \epsilon$ is $0.561$, and the variance of the data is $0.5625$. The mean of the outputs is $0.25$, which is the mean of the data. So the read-out finds $0.561 + 0.25^2 = 0.624$ for the mean of the squares, which is $0.625$.
#
# The table shows the error for two dimensions, that is for four heads. If the argument is right, the error vanishes with $\epsilon$ and does not grow with $q$.


# %%
def small_steps(q, d, epsilon, scores=None, x=None, sign=1):
    """Error of 2 d heads with logits of size epsilon; the first half of the tokens has data.

    With sign -1 the outputs are added where they should be subtracted, which is wrong.
    """
    elsewhere = -40.0 * (torch.arange(3 * q) >= q) if scores is None else scores
    if x is None:
        x = heads.hard_prompts(prompts // 4, len(elsewhere), d, q, generator).x
    squares = 0.0
    for k in range(d):
        s = x[..., k]
        up, down = (((v * epsilon * s + elsewhere).softmax(-1) * s).sum(-1) for v in (1, -1))
        squares = squares + q * ((up - sign * down) / (2 * epsilon) + ((up + down) / 2).square())
    left = heads.label(x, q) - (squares - q * d) / math.sqrt(q * d)
    return left.square().mean().item() / 2


few = {
    many: {f"epsilon = {e:g}": small_steps(many, 2, e) for e in (0.2, 0.05, 0.01)}
    | {"positions only, 1 - H/q": heads.floor(many, 4)}
    for many in (8, 16, 64)
}
caption = "Error of 4 free heads, data of 2 dimensions, and the least of 4 heads that see positions"
table(pd.DataFrame(few).T.rename_axis("q"), caption, form=".2g")

# %% [markdown]
# The prediction is off by an amount of order $\epsilon^2$, so the error, a mean square, decreases like $\epsilon^4$. It does not grow with $q$, whereas four heads that look at positions only leave nearly all of the error at $q = 64$.
#
# **Which encodings allow it?** In the computation above the scores were set by hand, but in the paper's model they come from the encodings: position $j$ has the score $\langle w, \omega_j \rangle$ with a vector $w$. Is there a $w$ that gives tokens $1, \dots, q$ one score, and every other token with data a score that is lower by 1?
#
# For example, let the encodings have two dimensions, and let $\omega_1 = (1, 1)$, $\omega_2 = (1, -1)$ and $\omega_3 = (-1, 1)$. For $q = 2$ the vector $w = (\frac12, 0)$ gives the tokens 1 and 2 the score $\frac12$ and token 3 the score $-\frac12$, as required. But for $q = 3$ all three scores have to be equal. The first two are equal only if $w_2 = 0$, and the first and the third only if $w_1 = 0$, so $w = 0$ and no other token can have a lower score. So three tokens are too many for two dimensions.
#
# For given encodings the question is a linear program. (If a larger gap between the scores is needed, one takes a multiple of $w$.) The paper takes $d_e$ of order $\log N$, "which is the scaling we assume throughout". We solve the program for encodings of random signs in $\lfloor 5 \log N \rfloor$ dimensions, as in the paper's experiments, in four times as many, $\lfloor 20 \log N \rfloor$, and in $N$ dimensions. (Encodings made for these $q$ tokens, with one coordinate that marks them, allow the scores in any dimension; we come back to them below.)

# %% mystnb={"code_prompt_hide": "Scores from encodings", "code_prompt_show": "Scores from encodings"} tags=["hide-input"]
own = Rng(seed)


def program(signs, q, end, margin=1):
    """A w that gives tokens 1 to q one score and those up to the end one lower by the margin."""
    above = (signs - signs[0]).numpy()
    lower, alike = above[q:end], above[1:q]
    return linprog(
        0 * above[0], lower, 0 * lower[:, 0] - margin, alike, 0 * alike[:, 0], (None, None)
    )


def allowed(q, N, d_e, draws=10, margin=1, copied=False):
    """Draws of random signs from which some w gives the scores; the first half has data."""
    drawn = encodings(N, d_e, own.generator, draws).double()
    if copied:  # a token that is not pointed at has the encoding of token 1, which is wrong
        drawn[:, q] = drawn[:, 0]
    return sum(program(signs, q, N // 2, margin).success for signs in drawn)


# %%
DIMENSIONS = {
    "5 log N": lambda N: int(5 * math.log(N)),
    "20 log N": lambda N: int(20 * math.log(N)),
    "N": lambda N: N,
}
longer = ((4, 12), (4, 64), (16, 48), (16, 256), (64, 192), (64, 512))
scores = pd.DataFrame(
    {
        name: {size: allowed(*size, rule(size[1])) for size in longer}
        for name, rule in DIMENSIONS.items()
    }
)
shown = [
    {"q": many, "N": N}
    | {f"d_e = {k}": f"{rule(N)}: {scores[k][many, N]} of 10" for k, rule in DIMENSIONS.items()}
    for many, N in longer
]
table(pd.DataFrame(shown), "Dimensions, and draws of encodings in them that allow the scores")

# %% [markdown]
# At $q = 64$ no draw in $\lfloor 5 \log N \rfloor$ dimensions allows the scores, and most draws in $\lfloor 20 \log N \rfloor$ do. One reason is that equal scores of $q$ tokens are $q - 1$ equations for $w$. Once $q - 1$ exceeds $d_e$, these equations have, for random signs, nearly always no solution but $w = 0$. For fewer tokens solutions remain, but they also have to give lower scores to all other tokens with data. For example, at $q = 16$ and $N = 256$ the 15 equations leave some 12 of 27 dimensions for $w$, while 112 other tokens with data must get lower scores, and none of the ten draws allows this.
#
# **Within the paper's assumptions.** Assumption 3 asks that $|\langle \omega_i, \omega_j \rangle| \le \frac12$ for $i \ne j$. Can heads be saved under this assumption too? We take $q = 64$, $N = 192$ and random signs in $\lfloor 20 \log N \rfloor$ dimensions that satisfy the assumption, and ask for a $w$ that gives *all* other tokens lower scores. The four heads above then use these scores, multiplied by 40.

# %%
drawn = encodings(192, DIMENSIONS["20 log N"](192), own.generator, 20).double()
within = [s for s in drawn if (s @ s.mT).fill_diagonal_(0).abs().max() <= 0.5]
solved = [(s, p) for s in within if (p := program(s, 64, 192)).success]
signs, found = solved[0]
alike, w = signs[1:64] - signs[0], f64(found.x)
w = w - torch.linalg.pinv(alike) @ (alike @ w)  # what the solver's tolerance leaves
four_heads = small_steps(64, 2, 0.01, 40 * (signs - signs[0]) @ w)
coherence = (signs @ signs.mT).fill_diagonal_(0).abs().max().item()
glue(dimensions=len(signs[0]), coherence=coherence, four_heads=four_heads)
glue(drawn=len(drawn), meet=len(within), allow=len(solved))

# %% [markdown]
# Of {glue:text}`drawn` draws {glue:text}`meet` satisfy Assumption 3, and {glue:text}`allow` of these allow such a $w$; other draws may give other counts. We take the first draw that allows it. (The table above asks for less, namely lower scores of tokens *with data*, which is all that the heads need.) This draw has {glue:text}`dimensions` dimensions, and $|\langle \omega_i, \omega_j \rangle|$ is at most {glue:text}`coherence:.2f`. With it four heads leave an error of {glue:text}`four_heads:.1e`. So at $q = 64$ and $d = 2$ far fewer than $q$ heads are enough, within the assumptions.
#
# **Encodings made for the tokens.** The paper does not ask that encodings be random. So we may replace one coordinate of random signs by a mark, which is $\sqrt{0.05}$ at the $q$ tokens and $-\sqrt{0.05}$ at all others, and shorten the signs to keep the length 1. The mark changes an inner product by at most 0.05. The vector $w$ that reads the mark then gives the scores for every $q$. We compute the error of four heads with $q = 500$ of $N = 2000$ tokens, where $q$ exceeds the dimension of the encodings.


# %%
def marked(q, N):
    """Encodings within Assumption 3 whose last coordinate marks the first q tokens."""
    mark = torch.where(torch.arange(N) < q, 1.0, -1.0).double()[:, None]
    for _ in range(5):
        signs = encodings(N, DIMENSIONS["20 log N"](N) - 1, own.generator).double()
        made = torch.cat((0.95**0.5 * signs, 0.05**0.5 * mark), 1)
        if (made @ made.mT).fill_diagonal_(0).abs().max() <= 0.5:
            return made
    raise ValueError("no draw of five satisfies Assumption 3")


made = marked(500, 2000)
by_mark = (made - made[0])[:, -1] * 20 / 0.05**0.5  # 0 at the q tokens, -40 at the others
x_long = torch.cat((own.normal(500, 1000, 2), torch.zeros(500, 1000, 2).double()), 1)
four_marked = small_steps(500, 2, 0.01, by_mark, x_long)
glue(marked=four_marked, marked_dimensions=made.shape[1], line_500=heads.floor(500, 4))

# %% [markdown]
# In {glue:text}`marked_dimensions` dimensions, and within Assumption 3, four heads leave an error of {glue:text}`marked:.1e`, where four heads that look at positions only leave {glue:text}`line_500:.3f`. (This is the error at the tokens that have no data of their own. The tokens of the first half may point anywhere, so let them point at the same $q$ tokens. With no weight on the data of the query itself, all tokens then have the same label and the same outputs.) The construction works for every $q$ and $d$, so with $d_e$ of order $\log N$ and encodings made for the $q$ tokens, $2d$ heads are approximately enough.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
open_cells, sizes = read[read["(1 - H/d)(1 - H/q)"] > 0], range(1, 65)
every = [(a, b, H) for a in sizes for b in sizes for H in range(1, min(a, b) + 1)]
other = Rng(seed)
longer_omega = encodings(N + 4, 16, other.generator).double()  # two more tokens have data
beside = {
    (d, H): estimate(lambda H=H, d=d: by_data(H, d, longer_omega, other).square())
    for d, H in ((2, 1), (4, 2), (8, 3))
}


def above(fewer):
    """How far these errors are above the sharper bound, with fewer heads, in standard errors."""
    return min((v - heads.floor(q, H - fewer, d)) / noise for (d, H), (v, noise) in beside.items())


def off(column):
    """Largest distance of what was measured from a column, in standard errors."""
    gap = open_cells["measured"] - open_cells[column]
    return (gap / open_cells["standard error"]).abs().max()


prop3.holds(
    "heads that see the data attain the sharper bound $(1 - H/d)(1 - H/q)$: distance in "
    "standard errors; control: distance from $1 - H/q$",
    off("(1 - H/d)(1 - H/q)"),
    at_most=PEAK,
    control=off("1 - H/q"),
    about="constant",
    evidence="sampled",
)
prop3.holds(
    f"these heads at $N = {N + 4}$, where two more tokens have data: least amount by which "
    "the error exceeds the sharper bound, in standard errors; control: the bound for one "
    "head fewer",
    above(0),
    at_least=-PEAK,
    control=above(1),
    about="ours",
    evidence="sampled",
)
prop3.holds(
    "least amount by which the sharper bound exceeds $1 - H/d - H/q$, for $H \\le \\min(q, "
    "d)$ and $q, d \\le 64$; control: $2H$ heads in the sharper bound",
    min(heads.floor(a, H, b) - 1 + H / a + H / b for a, b, H in every),
    at_least=0,
    tol=1e-12,
    control=min(heads.floor(a, 2 * H, b) - 1 + H / a + H / b for a, b, H in every),
    about="statement",
    evidence="proved",
)
large = scores.loc[64]
prop3.holds(
    "$q = 64$: number of draws of positions in $d_e = \\lfloor 5 \\log N \\rfloor$ "
    "dimensions that allow the scores; control: all scores may be equal",
    large["5 log N"].max(),
    at_most=0,
    control=allowed(64, 192, DIMENSIONS["5 log N"](192), margin=0),
    about="ours",
    evidence="sampled",
)
prop3.holds(
    "$q = 64$: least number of ten draws of positions in $d_e = \\lfloor 20 \\log N "
    "\\rfloor$ dimensions that allow the scores; control: another token has the encoding of "
    "token 1",
    large["20 log N"].min(),
    at_least=4,
    control=allowed(64, 192, DIMENSIONS["20 log N"](192), copied=True),
    about="ours",
    evidence="sampled",
)
prop3.holds(
    "4 heads, $q = 64$, $d = 2$ and signs in $\\lfloor 20 \\log N \\rfloor$ dimensions that"
    " meet Assumption 3: error; control: the scores with the wrong sign",
    four_heads,
    at_most=0.01,
    control=small_steps(64, 2, 0.01, -40 * (signs - signs[0]) @ w),
    about="ours",
    evidence="sampled",
)
prop3.holds(
    "4 heads, $q = 500$, $d = 2$ and encodings with a mark that meet Assumption 3: error; "
    "control: the scores with the wrong sign",
    four_marked,
    at_most=0.01,
    control=small_steps(500, 2, 0.01, -by_mark, x_long),
    about="ours",
    evidence="sampled",
)
prop3.holds(
    "$2d$ heads with small logits, $q = 64$ and $d = 2$: error at $\\epsilon = 0.01$; "
    "control: the two outputs added in place of subtracted",
    few[64]["epsilon = 0.01"],
    at_most=0.01,
    control=small_steps(64, 2, 0.01, sign=-1),
    about="ours",
    evidence="sampled",
)

# %% [markdown]
# ## Is a head needed for every pointer?
#
# The abstract says that a transformer learns the task "if and only if" it has at least $q$ heads. Section 3.1 asks for "sufficiently large" $d$ and claims only the order, $H = \Omega(q)$. To compare, we ask what the bounds give at $H = q - 1$. There the bound of Proposition 3 is $\frac1q - \frac{q-1}d$, which is positive only for $d > q (q - 1)$. At $q = 4$ and $d = 100$, for example, it is $\frac14 - \frac3{100} = 0.22$. With $d = 10$, the value of the paper's experiments, this means $q \le 3$. The sharper bound is positive for every $d \ge q$, and for $d < q$ it is 0 from $H = d$ on, where heads indeed leave no error if the encodings are linearly independent. The table shows both bounds for $q - 1$ heads.

# %%
said = {
    (q, d): {"Proposition 3": 1 / q - (q - 1) / d, "sharper": heads.floor(q, q - 1, d)}
    for q, d in ((3, 10), (4, 10), (10, 10), (11, 10))
}
said = pd.DataFrame(said).T.rename_axis(["q", "d"])
table(said, "Least error of q - 1 free heads, by two bounds", form=".4f", tiny=1e-9)
at_least_q.holds(
    "$q - 1$ free heads at $q = 4$, $d = 4$ and $d = 8$: least measured error, less 4.5 standard "
    "errors; control: one head more",
    min(free[d, q - 1][0] - PEAK * free[d, q - 1][1] for d in (4, 8)),
    at_least=1e-6,
    control=max(free[d, q][0] - PEAK * free[d, q][1] for d in (4, 8)),
    about="statement",
    evidence="proved",
)
glue(three=said.loc[(4, 10), "Proposition 3"], sharper=said.loc[(4, 10), "sharper"])
glue(one_head=free[1, 1][0], many=few[64]["epsilon = 0.01"], line_64=heads.floor(64, 4))

# %% [markdown]
# ## A linear label needs one head
#
# The paper remarks that the squares in the label matter. To see why, take the *sparse average*, $y = \frac1{\sqrt q} \sum_j \langle u, x_j \rangle$ with a unit vector $u$. One head that spreads evenly over the $q$ tokens is enough for it, because the label is itself an average. A predictor that is linear in one mixture $\sum_j a_j x_j$ leaves the share $1 - (\sum_{j \le q} a_j)^2 / (q \|a\|^2)$ of the variance. With orthogonal encodings and the matrix $\alpha \sum_h W^{(h)}$ of all $q$ pointers at once, the scores are $\alpha$ at the $q$ tokens and 0 elsewhere. As $\alpha$ grows, the attention therefore concentrates on the $q$ tokens. Then the share of the variance that is left should vanish for the average, but not for the sum of squares.

# %% mystnb={"code_prompt_hide": "A linear label", "code_prompt_show": "A linear label"} tags=["hide-input"]


def left_of_average(a):
    """Share of the variance of a sparse average that one mixture with weights a leaves."""
    return (1 - a[:q].sum().square() / (q * a.square().sum())).item()


rows = {}
for alpha in (0.0, 2.0, 5.0, 40.0):
    a = (alpha * (torch.arange(3 * q) < q).double()).softmax(-1)[: 3 * q // 2]
    squares = heads.mixture_error(a[None], q)
    rows[alpha] = {"of the average": left_of_average(a), "of the squares": squares.item()}
average_left = pd.DataFrame(rows).T.rename_axis("alpha")
table(average_left, f"What one head leaves, q = {q}", form=".4f", tiny=1e-9)
ledger.result("retrieval.sparse_average").holds(
    "share of a sparse average that one head leaves at $\\alpha = 40$; control: attention "
    "shifted by one token",
    average_left.loc[40.0, "of the average"],
    at_most=1e-12,
    control=left_of_average(a.roll(1)),
    about="statement",
    evidence="attained",
)

# %% [markdown]
# ## What we found
#
# **Are $q$ heads needed?** The abstract says that a transformer can learn the task "if and only if its number of attention heads is at least" $q$. The proof of "only if" is Proposition 3, according to which the error is at least $1 - \frac Hd - \frac Hq$, up to a constant. Section 3.1 asks for "sufficiently large" $d$ there, and claims $H = \Omega(q)$. The proposition and this claim are true, and the statement of the abstract is true for $d \ge q$.
#
# * *For $d \ge q$* fewer than $q$ heads cannot compute the label, by the sharper bound $(1 - \frac Hd)(1 - \frac Hq)$. At $q = 4$, $d = 10$ three heads leave an error of at least {glue:text}`sharper:.3f`, where Proposition 3 gives {glue:text}`three:.2f`. At $H = q - 1$ the bound of Proposition 3 is positive only for $d > q(q - 1)$.
# * *For $d < q$* fewer heads can be enough for the proposition's own labels, because free heads compare data with positions, and their weights pass on the data in $H$ of $d$ directions. With $d = 1$ and linearly independent encodings one head leaves no error. With $d = 2$ and scores set by hand, four heads leave {glue:text}`many:.1e` at $q = 64$, where heads that see positions only leave {glue:text}`line_64:.2f`.
# * *The encodings must allow these scores.* Linearly independent encodings do ($d_e \ge N$, not the paper's $\log N$). With them $2d$ heads with small scores, and squares on top, are approximately enough for every $q$ and $N$. If moreover $N = 2q$, the least error is exactly $(1 - H/d)(1 - H/q)$, and for larger $N$ this number is approached. So $\min(q, d)$ heads suffice, if $d \le q$ or $N = 2q$.
# * *Within Assumption 3* random signs in $\lfloor 20 \log N \rfloor$ dimensions allow these scores at $q = 64$ and $N = 192$, and there four heads leave {glue:text}`four_heads:.1e`. With encodings made for the $q$ tokens, which have one more coordinate as a mark, $2d$ heads are approximately enough for every $q$, with $d_e$ of order $\log N$. At $q = 500$ and $d = 2$, in {glue:text}`marked_dimensions` dimensions, four heads leave {glue:text}`marked:.1e`. But for *random* signs, once $q$ exceeds $d_e$, neither construction is available, and what $H$ heads leave is open.
# * *Heads that look at positions only* need $q$ heads for every $d$. Their error is $1 - \|SQS\|_F^2 / q$, with the projectors of the proof, $S$ on the $q$ tokens and $Q$ on what the heads see. The error is $1 - H/q$ exactly when they put no weight on other tokens with data and their weights are linearly independent; if other tokens have data, softmax weights reach it only in the limit.
#
# ## What would falsify this
#
# * *The bound for heads that look at positions only* would be false if a mixture had an error below $1 - H/q$, as mixtures with one head more have. The formula for fixed attention would be wrong if it differed from the error on real prompts by more than chance, as the formula for one head fewer does.
# * *The sharper bound* would not be attained if the errors of free heads differed from it, as they differ from $1 - H/q$. It would not imply the paper's bound if it were below that bound, as it is when $H$ is doubled.
# * *The result on encodings* would be wrong if at $q = 64$ random signs in $\lfloor 5 \log N \rfloor$ dimensions allowed the scores, as they do if all scores may be equal, or if random signs in $\lfloor 20 \log N \rfloor$ dimensions did not.
# * *The constructions with few heads* would be wrong if they left an error of more than 0.01, as they do with scores of the wrong sign or with outputs that are added.
#
# In all comparisons of estimates we allow 4.5 standard errors.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# In the repository `mousavih/transformers-separation` tokens carry one pointer, and the transformer has one head. We saw no experiment on the number of heads there. The paper's second version counts samples against $q$ ({ref}`ch-more-pointers`). The paper multiplies encodings by $\sqrt{d/q}$, whereas its code and this page do not, which changes the scale of $W$ and no bound.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-heads-chance
#
# *By hand.* A model has $q$ heads, and each of them chooses one of $q$ tokens at random. How many tokens are chosen on average, and what error does the model leave?
# ```
#
# ```{solution} ex-heads-chance
# :class: dropdown
# A given token is missed by all $q$ heads with probability $(1 - 1/q)^q$, which is about $1/e$, so $q - q\, (1 - 1/q)^q$ tokens are chosen on average. The error is the share of missed tokens. Its mean is therefore 0.25 at $q = 2$, 0.316 at $q = 4$ and about 0.37 for many tokens.
# ```
#
# ```{exercise}
# :label: ex-heads-digits
#
# *With the computer.* The head of the example carries the data of all tokens in its weights, so how precise must the weights be? Round the attention weights of one head to $k$ decimal digits, and recover the data in one dimension by logarithms. (A weight that is rounded to 0 counts as half of the last digit.) Then compute the error of the label for $q = 2, 8$ and $32$ tokens. Then run the chapter with another number of tokens in the search, `python -m bookkit.run retrieval/too_few_heads -p q_search 10 --out my_run`, and see whether the search still comes to the line.
# ```
#
# ```{solution-start} ex-heads-digits
# :class: dropdown
# ```
#
# As in the hard distribution, as many tokens without data follow the $q$ tokens, and their score is 0.

# %%
fresh, by_digits = Rng(seed + 1), {}
for digits in range(1, 7):
    row = {}
    for many in (2, 8, 32):
        x = torch.cat((fresh.normal(4000, many), torch.zeros(4000, many).double()), -1)
        rounded = (x.softmax(-1) * 10**digits).round().clamp(min=0.5)
        recovered = (rounded[:, :many] / rounded[:, -1:]).log()
        missed = (recovered.square() - x[:, :many].square()).sum(-1) / math.sqrt(many)
        row[f"q = {many}"] = missed.square().mean().item() / 2
    by_digits[digits] = row
by_digits = pd.DataFrame(by_digits).T.rename_axis("digits")
table(by_digits, "Error of one head whose weights are rounded, d = 1", form=".2g")

# %% [markdown]
# Two tokens need two or three digits. With more tokens the weights become smaller, so more digits are needed, but each further digit reduces the error by a factor of about 100. With few digits, and many tokens, the error exceeds 1: such a read-out is worse than a prediction that ignores the input. The search still comes near the line for 10 tokens, but for many heads it ends a little above it, because there are more numbers to be found.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-heads-linear
#
# *To think about.* Let the label be linear, $y = \sum_h \langle u_h, x_h \rangle$, with directions $u_h$ as the rows of a $q \times d$ matrix $U$. Which part of its variance do $H$ mixtures with any real weights leave? When does one head suffice?
# ```
#
# ```{solution} ex-heads-linear
# :class: dropdown
# They leave $\|U - QU\|_F^2$, and the best $Q$ spans the first $H$ left singular vectors of $U$, so that what is left is the sum of the other squared singular values. One head suffices if and only if $U$ has rank 1. Softmax gives positive weights, and for $u_1 = -u_2$ one head therefore leaves at least half.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The statements are from {cite:t}`retrieval`.
