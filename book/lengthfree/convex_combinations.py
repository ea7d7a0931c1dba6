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
# (ch-convex-combinations)=
# # Short averages
#
# ```{verdict}
# Lemma 3.1, on how well a short average of vectors approximates a weighted sum, is false as printed, because a factor is missing. For one vector of length 1 with weight $\frac12$, and an average of one term, it promises an error of 0, but the least squared error is {glue:text}`printed_error:.2f`. A factor in either of two places repairs it. The sentence after the lemma, that $d$ vectors and $k$ terms leave at most $d^k$ choices of how often each vector occurs, is false as well, for $d \ge 2$ with one term and in three further cases.
# ```
# **Needs** nothing but linear algebra. **Read** 13 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** Every mixture of vectors is close to an average of a few of them, so finitely many averages can represent all mixtures. The lemma that says so lacks a factor as printed. There are two ways to put the factor in, and both are sharp. The sentence after the lemma counts the averages, that is, the choices of how often each vector occurs, and its count can be too small. The two covers that the paper derives from the lemma remain true.

# %% tags=["parameters"]
starts = 32  # starting points of each search [16..512]
moves = 100  # trials from each [50..1000]
seed = 0  # of the searches [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import functools
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.covers import linear as covers
from helpers.rng import Rng, f64
from papers.lengthfree import linear_maps

listed = functools.cache(lambda d, k: linear_maps.integer_points(d, k).double())  # sums up to k
ledger, rng = Ledger("lengthfree/convex_combinations"), Rng(seed)
lem3_1, count = ledger.result("lengthfree.lem3_1"), ledger.result("lengthfree.lem3_1_count")

# %% [markdown]
# ## Why one should care
#
# To count the functions in a class, one replaces infinitely many of them by a finite list, which is called a *cover*. For mixtures of $d$ vectors, that is, for sums of the vectors with weights that are not negative and sum to 1, there is an elegant way to find such a list. Every mixture is close to an average of only $k$ of the vectors, and there are at most $d^k$ such averages, however large the space is. (The lemma also allows weights that sum to less than 1, and there the trouble begins.)
#
# This argument of Maurey {cite:p}`pisier1981` is the basis of many bounds on generalization, and in this paper two of the three covers of linear maps start from it. A slip in its statement can therefore affect the lemmas on these covers and what follows from them. To find out whether it does, one has to see which case of the lemma they use.
#
# ## Three weights by hand
#
# Take the three unit vectors $e_1, e_2, e_3$ with the weights $\frac12, \frac14, \frac14$, so that the mixture is $f = (\frac12, \frac14, \frac14)$. An average of four of the vectors gives $f$ exactly: take $e_1$ twice and the others once. With fewer terms there is an error. For $k = 3$, for example, the best average takes each vector once, and its squared error is $(\frac16)^2 + 2 \cdot (\frac1{12})^2 = \frac1{24} = 0.042$. The lemma allows $(1 - \|f\|^2)/k$. Here $\|f\|^2 = \frac38$, so it allows $0.208$ for $k = 3$. The next lines try all averages of up to four terms.

# %%
mixture, by_hand = f64([0.5, 0.25, 0.25]), {}
for k in (1, 2, 3, 4):
    counts = linear_maps.integer_points(3, k).double()
    counts = counts[counts.sum(-1) == k]
    off = (mixture - counts / k).square().sum(-1)
    by_hand[k] = {"averages": len(counts), "least squared error": off.min().item()}
    by_hand[k]["allowed"] = (1 - mixture.square().sum().item()) / k
by_hand = pd.DataFrame(by_hand).T.rename_axis("terms k")
table(by_hand, "Averages of three vectors for one mixture", form={"averages": ".0f"})

# %% [markdown]
# Here the weights sum to 1, and the lemma is true. The question is what happens if they sum to less than 1, which the lemma allows as well. It then has the square of their sum in place of 1. Take $e_1$ alone, with the weight $\frac12$, so that $f = \frac12 e_1$. The lemma allows $\frac14 - \|f\|^2 = 0$. But with one term the averages are 0 and $e_1$, and both have the squared distance $\frac14$ from $f$.
#
# ## The statement
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemma 3.1
# :label: lengthfree-lem3-1
# *(Refuted below as printed.)* In a Hilbert space let $f = \sum_{i=1}^d \alpha_i V_i$ with $\alpha_i \ge 0$, $\gamma = \sum_i \alpha_i \le 1$ and $\|V_i\| \le b$. For every natural number $k$ there are whole numbers $k_i \ge 0$ with $\sum_i k_i \le k$ and
#
# $$\Bigl\| f - \frac1k \sum_i k_i V_i \Bigr\|^2 \le \frac{\gamma^2 b^2 - \|f\|^2}{k} .$$
#
# *The sentence after it:* at most $d^k$ tuples $(k_1, \dots, k_d)$ fit these criteria.
# ```
#
# In words, $f$ is a weighted sum of $d$ vectors of length at most $b$, with weights whose sum $\gamma$ is at most 1. The lemma replaces $f$ by an average in which vector $V_i$ occurs $k_i$ times, and the squared error falls like $\frac1k$ with the number $k$ of terms.
#
# ## The factor that is missing
#
# The idea of the proof is to draw $k$ of the vectors at random and to take their mean. The expectation of this mean is $f$, and its expected squared error is the variance of one draw divided by $k$. Some outcome is at least as good as the expectation, and this outcome is the average that the lemma asks for. But a draw needs probabilities that sum to 1, whereas the $\alpha_i$ sum to $\gamma$.
#
# The smallest case shows whether the lemma deals with this difficulty. For $d = 1$ and $V_1 = 1$ we have $f = \gamma$, so the printed bound is $\gamma^2 - \gamma^2 = 0$ for every $k$. The averages are the multiples of $\frac1k$ up to 1, and most numbers $\gamma$ are not among these multiples. We compute the least error for each $\gamma$. The lemma is true only where this error is 0.


# %%
def best(f, V, k, factor=1.0, exactly=False):
    """Least squared error over whole k_i >= 0 that sum to at most, or exactly, k."""
    counts = listed(V.shape[-2], k)
    if exactly:
        counts = counts[counts.sum(-1) == k]
    averages = factor / k * (counts @ V)
    return (f[..., None, :] - averages).square().sum(-1).amin(-1)


gamma, one = torch.linspace(0, 1, 241, dtype=torch.float64)[:, None], f64([[1.0]])
errors = {k: best(gamma, one, k) for k in (1, 2, 3)}
printed_error = best(f64([0.5]), one, 1).item()
scaled_error = best(f64([0.5]), one, 1, 0.5, exactly=True).item()

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "One vector of length 1 with weight $\\gamma$: the least squared error of averages with at most $k$ terms, and the bound of repair 2. The printed bound is 0 throughout (grey).", "name": "fig-one-vector"}, "image": {"alt": "Three panels for one, two and three terms. The solid curve of the least error is a row of k equal arches from zero to zero, lower for more terms. The dashed curve of the bound is one wide arch above; the solid curve touches it at the ends, and in the first panel at one half as well. A grey line at zero is touched only at the ends of the arches."}} tags=["hide-input"]
fig, axes = figures.new(1, 3, height=2.2, sharey=True)
for ax, (k, error) in zip(axes, errors.items(), strict=True):
    figures.level(ax, 0)
    ax.plot(gamma, error, **figures.line_style(0, label="least error"))
    ax.plot(gamma, gamma * (1 - gamma) / k, **figures.line_style(1, label="repair 2"))
    ax.set(title=f"$k = {k}$", xlabel="weight $\\gamma$")
axes[0].set_ylabel("squared error")
axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 0.0), fontsize=8)
figures.show()

# %% [markdown]
# In each panel of {numref}`fig-one-vector` the solid curve touches zero only where $\gamma$ is a multiple of $\frac1k$, so everywhere else the printed bound is violated. At $\gamma = \frac12$, $k = 1$ the candidates are 0 and 1, at squared distance {glue:text}`printed_error:.2f` from $f$. The dashed curve is the bound of the second repair below, and the solid curve never exceeds it.
#
# Where $\gamma = 1$ the lemma is true. In general there are two ways to get probabilities that sum to 1. One can divide the weights by $\gamma$, or one can add the vector 0 as a further outcome. Each of the two puts a factor $\gamma$ (in colour) in another place:
#
# ```{prf:lemma} Lemma 3.1, repaired
# :label: convex-repaired
# Under the hypotheses of {prf:ref}`lengthfree-lem3-1` there are whole $k_i \ge 0$ with
#
# $$\Bigl\| f - \frac{\color{#D55E00}\gamma}k \sum_i k_i V_i \Bigr\|^2 \le \frac{\gamma^2 b^2 - \|f\|^2}{k}, \quad \sum_i k_i = k, \tag{repair 1}$$
#
# and there are whole $k_i \ge 0$, in general different ones, with
#
# $$\Bigl\| f - \frac1k \sum_i k_i V_i \Bigr\|^2 \le \frac{{\color{#D55E00}\gamma} b^2 - \|f\|^2}{k}, \quad \sum_i k_i \le k. \tag{repair 2}$$
# ```
#
# ```{dropdown} Proof
# Both repairs use the mean of $k$ draws and differ only in what is drawn.
#
# 1. *The mean of $k$ draws.* Let $Z_1, \dots, Z_k$ be independent draws of a random vector $Z$ with mean $f$. Their mean has the expected squared distance $\frac1k (\mathbb E \|Z\|^2 - \|f\|^2)$ from $f$, and the squared distance of some outcome is no larger.
# 2. *Repair 1.* Let $Z = \gamma V_i$ with probability $\alpha_i/\gamma$, so that $\|Z\|^2 \le \gamma^2 b^2$ (for $\gamma = 0$ both sides are 0).
# 3. *Repair 2.* Let $Z = V_i$ with probability $\alpha_i$, and 0 with probability $1 - \gamma$, so that $\mathbb E \|Z\|^2 \le \gamma b^2$.
# 4. *The whole numbers.* In both repairs $k_i$ is the number of times that $V_i$ was drawn. In repair 2 they sum to less than $k$ if the vector 0 was drawn. $\square$
# ```
#
# As printed, the lemma has the left side of repair 2 and the right side of repair 1. Neither repair is a new result: both are Maurey's argument, with the probabilities written out. As a test we search for vectors and weights, some of them tiny, for which one of the inequalities fails. The search takes up to four vectors in up to three dimensions with up to four terms, 200 vectors with one term, and one or two vectors with 300 or 60 terms. For each choice it tries all tuples. If the least squared error exceeded the bound of a repair, this repair would be refuted.

# %% mystnb={"code_prompt_hide": "The search", "code_prompt_show": "The search"} tags=["hide-input"]


def sides(state, k):
    """Error times k, and bound times k, of the three forms; the longest vector has length b = 1."""
    V, alpha = state[..., :-1], state[..., -1].exp()
    V = V / V.norm(dim=-1)[..., None].amax(-2, keepdim=True)
    alpha = alpha / alpha.sum(-1, keepdim=True).clamp(min=1)
    g, f = alpha.sum(-1), (alpha[..., None] * V).sum(-2)
    size, free = f.square().sum(-1), k * best(f, V, k)
    scaled = k * best(f, V, k, g[:, None, None], exactly=True)
    bound1, bound2 = g.square() - size, g - size
    return {
        "as printed": (free, bound1),
        "repair 1": (scaled, bound1),
        "repair 2": (free, bound2),
    }


SHAPES = ((1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 3, 3), (4, 3, 1), (4, 2, 4))  # d, dimensions, k
SHAPES += ((200, 2, 1), (1, 1, 300), (2, 2, 60))  # many vectors, or many terms


def searched(objective):
    """Largest value found over all shapes."""
    found = []
    for d, dim, k in SHAPES:
        start = rng.normal(starts, d, dim + 1)
        start[..., -1] *= rng.log_uniform(0.1, 100, starts, 1)  # some weights as small as e^-100
        end = covers.climb(
            lambda s, k=k: objective(sides(s, k)), lambda s: s, start, rng.generator, moves, 1.0
        )
        found.append(objective(sides(end, k)).max().item())
    return max(found)


def excess(form):
    """By how much the error times k passes its bound, in units of b squared."""
    return searched(lambda s: s[form][0] - s[form][1])


def ratio(form):
    """Error over bound where the bound is not 0."""
    return searched(lambda s: torch.where(s[form][1] > 1e-9, s[form][0] / s[form][1], 0.0))


# %%
forms = pd.DataFrame(index=pd.Index(["as printed", "repair 1", "repair 2"], name="form"))
forms["largest excess"] = [round(excess(form), 12) + 0.0 for form in forms.index]
forms["largest ratio"] = [None, ratio("repair 1"), ratio("repair 2")]
caption = "k times the squared error minus its bound, and their ratio; b = 1; largest found"
table(forms, caption, form=".3f", none="(unbounded)")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
lem3_1.refuted(
    "as printed: least squared error of all choices of the $k_i$ for $d = 1$, $V = 1$, "
    "$\\alpha = \\frac12$ and $k = 1$, where the bound is 0; control: averages with the "
    "factor $\\frac\\gamma k$ in place of $\\frac1k$",
    printed_error,
    at_most=0,
    control=scaled_error,
    about="statement",
    evidence="attained",
)
for form, where in (("repair 1", "$\\frac\\gamma k$"), ("repair 2", "$\\gamma b^2$")):
    lem3_1.repaired(
        f"{form}, {where}: $k$ times the largest amount by which the squared error exceeds its "
        "bound, at $b = 1$; control: the form as printed",
        forms.loc[form, "largest excess"],
        at_most=0,
        tol=1e-12,
        control=forms.loc["as printed", "largest excess"],
        about="statement",
        evidence="proved",
    )
glue(printed_error=printed_error, worst_excess=forms.loc["as printed", "largest excess"])
glue(ratio_1=forms.loc["repair 1", "largest ratio"], ratio_2=forms.loc["repair 2", "largest ratio"])

# %% [markdown]
# The error never exceeds the bound of either repair, and the largest ratios of error to bound are {glue:text}`ratio_1:.3f` and {glue:text}`ratio_2:.3f`. How sharp are the bounds, and how far off is the printed one?
#
# * *With one term both bounds are attained.* The second is attained by one vector with weight $\frac12$, as above, and the first by the two vectors $\pm 1$ with weights $\frac\gamma2$, where $f = 0$ and both sides are $\gamma^2$.
# * *With more terms they cannot be improved either.* For $\gamma = 1$, where the two bounds agree, take the unit vectors $V_i = (\sqrt k\, e_0 + e_i)/\sqrt{k+1}$, $i = 1, \dots, d$, with equal weights. Then the ratio of the least error to the bound is $(d-k)/(d-1)$ for $d \ge k$, in both repairs, and it tends to 1 as $d$ grows. (An average of fewer than $k$ vectors is too short in the direction $e_0$.)
# * *The printed form* differs from repair 2 by $(\gamma - \gamma^2) b^2/k$, so it is never off by more than $\frac{b^2}{4k}$, and the search finds a case in which it is off by {glue:text}`worst_excess:.3f` times $\frac{b^2}k$.
#
# For a cover, which has to be a finite list, the two repairs are not equally useful. The averages of repair 1 carry the factor $\gamma$, so for all mixtures together they are finitely many only if $\gamma$ is fixed, or if it is rounded as well. Those of repair 2 do not depend on $\gamma$.
#
# ## How many averages
#
# The size of such a list is the number of averages, so we come to the sentence that counts them. The number $d^k$ counts the outcomes of $k$ draws from $d$ vectors, so it belongs to $\sum_i k_i = k$ as in repair 1. If the sum may be smaller, each draw has one more option, namely to draw nothing, and there are up to $(d+1)^k$ tuples.
#
# But perhaps the lemma's inequality excludes some of them. An example by hand shows that it need not: take $e_1, e_2, e_3$ with equal weights and one term, so that $\|f\|^2 = \frac13$ and $1 - \frac13 = \frac23$ is allowed. The average 0 has the squared error $\frac13$, and each $e_i$ has $\frac23$. So all four tuples fit, whereas $d^k = 3$ would allow only three.
#
# To see for which numbers this happens, we count the tuples that satisfy both the condition on the sum and the inequality. We do so for two choices of the vectors, both with $\gamma = b = 1$. In the first, $V_i = e_i$ and $\alpha_i = \frac1d$. In the second, the vectors are numbers: $V_1 = 1$, all others are 0, and $\alpha_1 = \frac12$, while the rest of the weight is shared by the others. If there are more than $d^k$ such tuples, the sentence after the lemma is refuted.


# %%
def fitting(V, alpha, k, exactly=False):
    """Tuples that meet sum and inequality of Lemma 3.1, where gamma = b = 1."""
    counts, f = linear_maps.integer_points(len(alpha), k).double(), alpha @ V
    error = (f - counts @ V / k).square().sum(-1)
    allowed = (1 - f.square().sum()) / k
    return int((error <= allowed + 1e-12)[(counts.sum(-1) == k) | (not exactly)].sum())


def basis(d):
    """V_i = e_i with equal weights."""
    return torch.eye(d).double(), f64([1 / d] * d)


def single(d):
    """V_1 = 1 with weight 1/2; all other V_i are 0."""
    return f64([[1.0], *[[0.0]] * (d - 1)]), f64([1 / 2, *[1 / (2 * d - 2)] * (d - 1)])


sizes = ((2, 1), (3, 1), (8, 1), (2, 2), (2, 3), (3, 2), (2, 4), (3, 3), (4, 2))
rows = {
    (d, k): (
        *(fitting(*basis(d), k), fitting(*single(d), k)),
        *(math.comb(d + k, k), d**k, (d + 1) ** k),
    )
    for d, k in sizes
}
names = ["fit both, V_i = e_i", "fit both, V = (1, 0, ...)", "fit the sum", "d^k", "(d+1)^k"]
tuples = pd.DataFrame(rows, names).T
table(tuples.rename_axis(["d", "k"]), "Tuples of whole numbers that sum to at most k")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
pairs = [(d, k) for d in range(1, 8) for k in range(1, 8)]
count.refuted(
    "as printed: number of tuples that fit for $d = 3$ and $k = 1$, where the sentence "
    "allows $d^k = 3$; control: only tuples whose sum is exactly $k$",
    fitting(*basis(3), 1),
    at_most=3,
    control=fitting(*basis(3), 1, exactly=True),
    about="statement",
    evidence="attained",
)
count.refuted(
    "as printed: number of tuples that fit for the numbers 1, 0, 0 with the weights "
    "$\\frac12, \\frac14, \\frac14$ and $k = 2$, where the sentence allows $d^k = 9$; control: only "
    "tuples whose sum is exactly $k$",
    fitting(*single(3), 2),
    at_most=9,
    control=fitting(*single(3), 2, exactly=True),
    about="statement",
    evidence="attained",
)
count.repaired(
    "largest ratio of the number of tuples with a sum of at most $k$ to $(d+1)^k$, for $d, "
    "k \\le 7$; control: tuples with a sum of at most $k + 1$",
    max(len(linear_maps.integer_points(d, k)) / (d + 1) ** k for d, k in pairs),
    at_most=1,
    control=max(len(linear_maps.integer_points(d, k + 1)) / (d + 1) ** k for d, k in pairs),
    about="statement",
    evidence="proved",
)
small = ((2, 2), (2, 3), (3, 2))
usual = [(d, k) for d, k in pairs if d >= 2 and k >= 2 and (d, k) not in small]
count.holds(
    "largest ratio of the number of tuples with a sum of at most $k$ to $d^k$, for $2 \\le "
    "d, k \\le 7$ without (2, 2), (2, 3) and (3, 2); control: tuples with a sum of at most $k + 1$",
    max(len(linear_maps.integer_points(d, k)) / d**k for d, k in usual),
    at_most=1,
    control=max(len(linear_maps.integer_points(d, k + 1)) / d**k for d, k in usual),
    about="ours",
    evidence="proved",
)
glue(tuples=fitting(*basis(3), 1), tuples_2=fitting(*single(3), 2))

# %% [markdown]
# With one term, in the first three rows, more than $d^k$ tuples fit both conditions for both choices of the vectors. In the next three rows more than $d^k$ tuples fit the condition on the sum, and with the second choice all of them fit the inequality as well. In the last three rows there are no more than $d^k$ tuples at all. For which $d$ and $k$ is $d^k$ too small?
#
# * *One to three terms.* With the second choice $f = \frac12$, and the bound is $\frac3{4k}$. All averages lie between 0 and 1, so every squared error is at most $\frac14$, and for $k \le 3$ all $\binom{d+k}{k}$ tuples fit. For $k = 1$ these are $d + 1$, so $d^k$ is too small at every $d \ge 2$. It is also too small at $(d, k) = (2, 2)$, $(2, 3)$ and $(3, 2)$, where 6, 10 and 10 tuples fit, but $d^k$ is 4, 8 and 9. (If the zeros are exchanged for other numbers between 0 and 1, with weights that still give $f = \frac12$, the averages can be all different.)
# * *All other cases with $d \ge 2$.* There $d^k$ is never too small, because there are only $\binom{d+k}{k}$ tuples with a sum of at most $k$. At $(2, 4)$ there are 15 of them, with $d^k = 16$, and at $(3, 3)$ there are 20, with $d^k = 27$. For $d \ge 4$ and $k = 2$ there are at most $d^2$, since $(d+1)(d+2) \le 2 d^2$. From each of these cases on, a further term multiplies their number by $1 + \frac d{k+1}$, which is at most $d$, whereas $d^k$ is multiplied by $d$. So their number stays at most $d^k$. (It can be so small, although draws may be left out, because a tuple does not record the order of the draws.)
# * *A single vector.* For $d = 1$ one tuple is allowed. If $b$ is the length of the vector, the bound is 0 and at most one tuple fits. But the lemma lets $b$ be larger, and with $b^2 = 2$, $V = 1$ and $\alpha = 1$ both $k_1 = k$ and $k_1 = k - 1$ fit, for every $k$.
#
# The error has no consequences in the paper. For matrices with $r$ rows and $s$ columns the later lemmas take averages of 0 and of vectors $\pm B e_i$, which are $2r + 1$ or $2rs + 1$ vectors in all (the paper writes $k$ and $d$ for $r$ and $s$). So 0 is one of the $V_i$, $\gamma$ may be taken as 1, and neither the factor nor the count matters there.
#
# ## What we found
#
# * The sparsification lemma lacks a factor as printed. It has two repairs, both sharp, and the covers that the paper builds on it are not affected.
# * Tuples whose sum may fall short of $k$ are counted by $(d+1)^k$, not by $d^k$. For $d \ge 2$ the number $d^k$ is too small with one term, and at $(d, k) = (2, 2)$, $(2, 3)$ and $(3, 2)$. In all other cases with $d \ge 2$ it is large enough. At $d = 1$ it can be too small for every $k$.
#
# ```{finding} lengthfree.lem3_1
# :title: Maurey's lemma: the factor $\gamma$ stands on one side only
# :group: false statement
#
# **Statement.** As printed, some average $\frac1k \sum k_i V_i$ with $\sum k_i \le k$ is within $(\gamma^2 b^2 - \|f\|^2)/k$ of $f$, squared.
#
# **Counterexample.** At $d = 1$, $V = 1$, $\alpha = \frac12$, $k = 1$ the bound is 0, but the least squared error is {glue:text}`printed_error:.2f`.
#
# **Why.** To draw from weights that sum to $\gamma < 1$ one needs either the factor $\gamma$ in front of the average or the vector 0 among the outcomes. The lemma has the right side of the first way and the left side of the second.
#
# **Repair.** Either the average is $\frac\gamma k \sum k_i V_i$ with $\sum k_i = k$, or the bound is $(\gamma b^2 - \|f\|^2)/k$.
#
# **What survives.** The lemma for $\gamma = 1$, and the two covers that are built on it, Lemmas 3.3 and 3.6, because there 0 is one of the vectors.
# ```
#
# ```{finding} lengthfree.lem3_1_count
# :title: The count $d^k$ fails for one term, one vector and three small cases
# :group: false statement
#
# **Statement.** As printed after Lemma 3.1, at most $d^k$ tuples $(k_1, \dots, k_d)$ with $\sum_i k_i \le k$ fit its criteria.
#
# **Counterexample.** At $d = 3$, $k = 1$, $V_i = e_i$, $\alpha_i = \frac13$, {glue:text}`tuples` tuples satisfy the condition on the sum and the inequality, but $d^k = 3$. At $d = 3$, $k = 2$, with the numbers 1, 0, 0 and the weights $\frac12, \frac14, \frac14$, there are {glue:text}`tuples_2`, but $d^k = 9$. At $d = 1$ one tuple is allowed, but with weight 1 two tuples or more fit for every $k$, if $b^2$ is at least twice the squared length of the vector.
#
# **Why.** The number $d^k$ counts draws from $d$ options, and drawing nothing is one more option.
#
# **Repair.** Either the count is $(d + 1)^k$, or the sum is $\sum_i k_i = k$.
#
# **What survives.** The sentence for $d \ge 2$ vectors and $k \ge 2$ terms, other than $(d, k) = (2, 2)$, $(2, 3)$ and $(3, 2)$, as there are at most $\binom{d+k}{k} \le d^k$ tuples. Lemmas 3.3 and 3.6 are not affected at any size, because they count 0 as one of the vectors.
# ```
#
# ## What would falsify this
#
# A repair of Lemma 3.1 would be false if for some vectors and weights the error exceeded its bound. The control is the printed form, in the same search. The count would be wrong if there were more tuples than $(d+1)^k$, and the control allows sums of $k + 1$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Nothing can be compared. The only program of the repository `traugerjacob/Transformer-Gen-Bounds`, `run_experiment.py`, trains on sparse majority, so no average is taken and no cover is built in it.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-convex-half
#
# *By hand.* For one vector, $V = 1$, with weight $\gamma = \frac12$, for which numbers $k$ of terms does the printed lemma hold, and how large is the least squared error for the others?
# ```
#
# ```{solution} ex-convex-half
# :class: dropdown
#
# The bound is 0, so the lemma holds if and only if $\frac12$ is a multiple of $\frac1k$, that is, for even $k$. For odd $k$ the nearest multiples lie at the distance $\frac1{2k}$, so the least squared error is $\frac1{4k^2}$.
# ```
#
# ```{exercise}
# :label: ex-convex-best
#
# *With pencil and paper.* In {numref}`fig-one-vector` the least error touches the bound of repair 2 at $\gamma = \frac12$ for $k = 1$. At which $\gamma$ does it touch the bound for $k = 3$?
# ```
#
# ```{solution} ex-convex-best
# :class: dropdown
#
# It touches the bound at the ends only. To see this, note that the error is the square of the distance to the nearest multiple of $\frac1k$. For $\gamma$ from $\frac1{2k}$ to $1 - \frac1{2k}$ the error is at most $\frac1{4k^2}$, and the bound is at least $\frac1{2k^2} (1 - \frac1{2k})$, which is more unless $k = 1$. For $\gamma < \frac1{2k}$ the error is $\gamma^2$, which is below the bound $\gamma (1 - \gamma)/k$ unless $\gamma = 0$. The other end is similar.
# ```
#
# ```{exercise}
# :label: ex-convex-draws
#
# *With the computer.* Run the chapter with a longer search, `python -m bookkit.run lengthfree/convex_combinations -p moves 400 --out my_run`, and see whether a repair is ever exceeded. Then carry out the proof: draw averages of $k$ vectors at random and compare their squared error with the bound. How much better is the best of a thousand draws?
# ```
#
# ```{solution-start} ex-convex-draws
# :class: dropdown
# ```
#
# The longer search prints the same numbers, up to a thousandth. Both repairs are attained, and the search had nearly reached their bounds with 100 trials already, so it could find more only if a proof were wrong. For the draws we take 16 random unit vectors in 16 dimensions with equal weights.

# %%
fresh, answers = Rng(seed), {}
vectors = fresh.normal(16, 16)
vectors = vectors / vectors.norm(dim=-1, keepdim=True)
center = vectors.mean(0)
for k in (1, 4, 16, 64):
    drawn = torch.randint(16, (1000, k), generator=fresh.generator)
    off = (vectors[drawn].mean(1) - center).square().sum(-1)
    answers[k] = {
        "bound": (1 - center.square().sum().item()) / k,
        "mean of the draws": off.mean().item(),
        "least of 1000": off.min().item(),
    }
answer = pd.DataFrame(answers).T.rename_axis("terms k")
table(answer, "Squared error of random averages", form=".4f")
gains = answer["bound"] / answer["least of 1000"]
glue(gain_1=f"{gains[1]:.1f}", gain_64=f"{gains[64]:.1f}")

# %% [markdown]
# The mean over the draws agrees with the bound, since the vectors all have length 1 and the bound is then the variance itself. The best of a thousand draws is better, by a factor of {glue:text}`gain_1` with one term and of {glue:text}`gain_64` with 64. So an average that is chosen with care needs fewer terms than the lemma says. But the best of a fixed number of draws improves the error only by a bounded factor, however large $k$ is, because $\sqrt k$ times the error of a draw converges in distribution.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-convex-dimension
#
# *To think about.* How many averages does one need to come within $\epsilon$ of every mixture of $d$ vectors of length at most $b$, with weights that sum to 1? Compare this with a grid in the space of the vectors. Which of the two would you use in two dimensions?
# ```
#
# ```{solution} ex-convex-dimension
# :class: dropdown
#
# By the lemma $k = \lceil b^2/\epsilon^2 \rceil$ terms are enough, so there are at most $d^k$ averages, and the logarithm of their number is about $\frac{b^2}{\epsilon^2} \log d$, in which the dimension of the space does not occur. A grid in $D$ dimensions needs about $(b \sqrt D/\epsilon)^D$ points, so its logarithm grows like $D \log \frac1\epsilon$. For $D = 2$ and a small $\epsilon$ the grid is much smaller, whereas for large $D$ there are fewer averages.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`lengthfree`. Maurey's argument entered this field with {cite:t}`zhang2002`, is used for approximation by {cite:t}`barron1993`, and for the covers of neural networks by {cite:t}`bartlett2017`.
