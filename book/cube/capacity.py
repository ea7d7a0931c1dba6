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
# (ch-capacity)=
# # From covers to generalization
#
# ```{verdict}
# A class of functions generalizes if a short list of its members comes close to all of them. The inequalities behind this are true, one with a constant of $4\sqrt2$, another with half the stated factor. But one closed formula lacks a condition, enough examples. For functions between $-1$ and 1, of which for every $\epsilon$ at most $e^{100/\epsilon^2}$ come within $\epsilon$ of all, it is right from 100 examples on. Far below that it fails: with 4 examples it bounds a quantity that is never negative by {glue:text}`printed_one:.2f` times a positive constant.
# ```
#
# **Needs** {ref}`ch-fourier-walsh`. **Read** 20 min. **Runs in** 10 s. **Source** printed; the tail of A.4 restored, the exponents of A.8 as a later paper quotes them.
#
# **Claim.** Suppose that a class of functions has a small *cover*, that is, a finite set such that every function of the class is close to one of the set. Then the class cannot fit random labels, and therefore a function of the class that fits a sample is right on most new inputs. We compute each link of this chain exactly for small classes.
#
# * All links hold, although one closed formula needs a condition on the number $m$ of examples. If the functions have an absolute value of at most $A$, and the logarithm of the size of a cover at scale $\epsilon$ is at most $C/\epsilon^2$, then the condition is $m \ge C/A^2$.
# * A lemma says how a model of several parts should divide a total error among them. With the exponents with which a later paper quotes it, the lemma is right if all its coefficients are positive. It allows zeros too, and with a zero a best division need not exist.
# * The bound on covers of linear functions on $N$ inputs holds, with 1 in place of its constant 36, and its $\log N$ cannot be removed.

# %% tags=["parameters"]
m = 10  # sample whose 2**m sign patterns are all tried [6..14]
n = 6  # bits of the cube that samples come from [4..8]
trees = 40  # random finite classes for the constant of the integral [20..400]
m_exact = 20  # sample whose risk is summed over all samples [18..30]
instances = 400  # random instances of the split [100..5000]
N_max = 1048576  # most inputs in the covers of linear functions [65536..67108864]
seed = 0  # of samples and classes [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.covers import capacity
from helpers.covers.linear import greedy_cover
from helpers.kernels.parity import popcount
from helpers.rng import Rng, f64

ledger, rng = Ledger("cube/capacity"), Rng(seed)
a2, a3 = ledger.result("variables.lem2_2.a2"), ledger.result("variables.lem2_2.a3")
a4, a5 = ledger.result("variables.lem2_2.a4"), ledger.result("variables.lem2_2.a5")
gap_fact, dudley_fact = (ledger.result(f"lengthfree.sec2_3.{k}") for k in ("risk", "dudley"))
split, zhang = ledger.result("variables.lemA8"), ledger.result("variables.lemA10")


def entropy(values):
    """Scales from 0 to twice the top, log sizes of greedy covers there, and the top A."""
    top = values.abs().max().item()
    scales = torch.cat((f64([0]), top * 2 ** torch.linspace(-5, 1, 25).double()))
    return scales, capacity.greedy_log_sizes(capacity.sample_distances(values), scales), top


def integral(values, upper=1):
    """The entropy integral of a finite class, from greedy covers, up to a multiple of A."""
    scales, log_sizes, top = entropy(values)
    return capacity.dudley(scales, log_sizes, values.shape[-1], upper * top)


# %% [markdown]
# ## Why one should care
#
# A learner sees $m$ examples and picks a function from a class $\mathcal F$ that fits them. If the class is so rich that some function in it fits *any* labels, coin tosses included, then the chosen function need not fit new examples. Nearly every guarantee in this book therefore starts with the question how well a class fits coin tosses. Nearly every answer goes through covers, that is, through finite sets that stand in for the class. The chain from covers to a guarantee has several links, each with its own constant, and papers quote them from each other. So it is worth knowing which constants are needed, and under which condition the last formula may be used.
#
# The page follows the chain from one end to the other:
#
# | link | its question | what is found |
# |:--|:--|:--|
# | *fitting noise* | How well can a class fit coin tosses, if a small cover exists? | the constant $4 \sqrt 2$ is enough |
# | *the closed form* | What does this give, if covers grow like a power of the accuracy? | true with a condition on the number of examples |
# | *risk* | How far can the risk, the mean loss on new inputs, be from the empirical risk, the mean loss on the sample? | half of the stated factor is enough |
# | *the split* | How should a model of several parts divide its error among them? | right as quoted later, for positive coefficients |
# | *linear functions* | How large are the covers of the simplest part? | the bound holds, and its $\log N$ cannot be removed |
#
# The first three links belong to one lemma, which holds for any class. The last two provide the covers that the later chapters put into it.
#
# ## Two functions by hand
#
# How well does a class fit coin tosses? Toss a fair coin $\varepsilon_i = \pm 1$ for each input $z_i$ of a sample $z_1, \dots, z_m$, and let the class answer with the function that agrees best with the tosses. The mean of this agreement is the *empirical Rademacher complexity*, which we also call the *fit to noise*:
#
# $$\hat{\mathcal R} = \frac1m\, \mathbb E_{\varepsilon} \sup_{f \in \mathcal F} \sum_{i=1}^m \varepsilon_i f(z_i) .$$
#
# Take $m = 2$ inputs and a class of two functions, with the values $(1, 1)$ and $(1, -1)$. For each of the four outcomes of the coins the better function is chosen:
#
# | coins | sum for $(1, 1)$ | sum for $(1, -1)$ | larger |
# |:--|--:|--:|--:|
# | $+ +$ | $2$ | $0$ | $2$ |
# | $+ -$ | $0$ | $2$ | $2$ |
# | $- +$ | $0$ | $-2$ | $0$ |
# | $- -$ | $-2$ | $0$ | $0$ |
#
# The mean of the last column is 1, so $\hat{\mathcal R} = \frac12$: the class fits half of the noise. A single function has $\hat{\mathcal R} = 0$, because its sums are as often positive as negative. The class of all four sign vectors has $\hat{\mathcal R} = 1$, because it contains every outcome. The next lines compute these three numbers from the definition, and compare them with a bound that we shall need, which is due to Massart: for $N$ functions of size at most $r$ the complexity is at most $r \sqrt{2 \log N / m}$. A complexity above it would speak against the bound.

# %%
by_hand = {
    "one function": [[1.0, 1.0]],
    "two functions": [[1.0, 1.0], [1.0, -1.0]],
    "all four": [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]],
}
small = {
    name: {
        "fit to noise": capacity.rademacher(f64(values)).item(),
        "Massart": capacity.massart(f64(values)).item(),
    }
    for name, values in by_hand.items()
}
table(pd.DataFrame(small).T.rename_axis("class"), "Three classes on two inputs", form=".3f")

# %% [markdown]
# The three numbers are as above, and none exceeds Massart's bound in the last column.
#
# How can one bound the complexity of a class with infinitely many members? A *cover* at scale $\epsilon$ is a finite subset of $\mathcal F$ such that each $f \in \mathcal F$ has a member $\hat f$ of the subset with $|f(z_i) - \hat f(z_i)| \le \epsilon$ on the whole sample, and $N_\infty(\epsilon)$ is the size of the smallest cover. On two inputs a function is a point in the plane, and a cover is a set of points whose squares cover the class ({numref}`fig-cover`, left). If a few squares are enough, then only few functions of the class differ by much on the sample.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: linear functions with $\\|v\\|_2 \\le 1$ on two orthogonal inputs are the points of a disc (grey); a few of them, found greedily, cover it with squares of half side $\\epsilon = 0.4$. Right: $\\sqrt{\\log N_\\infty(\\epsilon)/m}$ of three classes on the same random inputs. The covers of means and faded characters are found greedily, so their true curves may lie lower. The area under a curve, times $A$, is at least the entropy integral of Lemma A.2; the mark at the left is the fit to noise, divided by $A$, which the area bounds up to a constant.", "name": "fig-cover"}, "image": {"alt": "Left, a grey disc covered by overlapping square outlines around marked points. Right, three falling staircases against the scale. That of the characters stays level; that of the means falls late; that of the faded characters falls early. The marks on the vertical axis come in the same order."}} tags=["hide-input"]
inputs = cube.points(n)[torch.randperm(2**n, generator=rng.generator)[:m]]  # (m, n)
subsets = cube.bits(n)[1:].double()
directions = rng.normal(150, n)
directions /= directions.norm(dim=-1, keepdim=True)
at = cube.index_of((1 - inputs.long()) // 2)
CLASSES = {
    "characters": cube.characters(n)[:, at],
    "bits": torch.cat((inputs.T, -inputs.T)),
    "means": (subsets / subsets.sum(-1, keepdim=True)) @ inputs.T,
    "linear": directions @ inputs.T / math.sqrt(n),
    "faded": cube.characters(n)[:, at] * 0.5 ** popcount(cube.indices(n))[:, None],
}
fig, (left, right) = figures.new(1, 2, height=2.5, width_ratios=[1, 1.5])
side = torch.linspace(-1, 1, 31).double()
disc = torch.cartesian_prod(side, side)
disc = disc[disc.norm(dim=-1) <= 1]
left.plot(*disc.T, ".", color="#c4c4c4", markersize=2)
for k in greedy_cover(capacity.sample_distances(disc), 0.4):
    x, y = disc[k].tolist()
    corners = (f64([-1, 1, 1, -1]) * 0.4 + x, f64([-1, -1, 1, 1]) * 0.4 + y)
    left.fill(*corners, fill=False, linewidth=0.8, linestyle="-")
    left.plot(x, y, **figures.marker_style(1, markersize=4))
left.set(aspect="equal", xlabel="$f(z_1)$", ylabel="$f(z_2)$")
for i, name in enumerate(("characters", "means", "faded")):
    scales, log_sizes, top = entropy(CLASSES[name].unique(dim=0))
    look = figures.line_style(i, drawstyle="steps-post", label=name)
    right.plot(scales / top, (log_sizes / m).sqrt(), **look)
    right.plot(
        0, capacity.rademacher(CLASSES[name]) / top, clip_on=False, **figures.marker_style(i)
    )
right.set(xlabel=r"scale $\epsilon$ over $A$", xlim=(0, 1), ylim=(0, None))
right.set_ylabel(r"$\sqrt{\log N_\infty(\epsilon)/m}$")
right.legend()
figures.show()

# %% [markdown]
# The right of the figure shows how fast covers shrink as the scale $\epsilon$ grows, for three classes of functions of $n$ bits. The *characters* $\chi_S$ are the parities of sets $S$ of bits, with values $\pm 1$. They stay pairwise far apart at every scale below $A$, so their curve is level, and the area under it is large. The *means* are the means of sets of bits, and the *faded* characters are the functions $2^{-|S|} \chi_S$. These two classes are covered by fewer functions as the scale grows, so the areas under their curves are smaller. (Their covers are found greedily, so the true curves may lie lower still.) The marks at the left, which show the fit to noise, come in the same order as the areas. The next lemma explains why.
#
# ## The statement
#
# ```{prf:lemma} Edelman et al. (2022), Lemma 2.2 and A.2 to A.5
# :label: variables-lem2-2
# *(Line 3 needs $m \ge C/A^2$. The number under the logarithm of line 2 is not legible in our text; 2 is restored. We read the paper's "$b$-bounded" as "with values in $[0, b]$".)* Let $|f| \le A$ for all $f \in \mathcal F$, and let $m$ be the number of examples. For a constant $c$, where $\delta$ is a scale in line 1 and a probability in lines 2 and 3:
#
# 1. $\displaystyle \hat{\mathcal R} \le c\, \inf_{\delta \ge 0} \Bigl( \delta + \int_\delta^A \sqrt{\tfrac1m \log N_\infty(\epsilon)}\; d\epsilon \Bigr)$.
# 2. Take a loss with values in $[0, b]$ that is $L$-Lipschitz in the output, that is, it changes by at most $L$ times as much as the output. With probability at least $1 - \delta$ over the sample, risk and empirical risk differ by at most $4 L \hat{\mathcal R} + 2b \sqrt{\log(2/\delta)/2m}$, for all of $\mathcal F$ at once.
# 3. If $\log N_\infty(\epsilon) \le C/\epsilon^2$ on every sample, then $\hat{\mathcal R} \le c \sqrt{C/m}\,\bigl( 1 + \log (A \sqrt{m/C}) \bigr)$, and with line 2 the same bound times $4L$, plus the second term of line 2, holds for the difference with probability at least $1 - \delta$.
# ```
#
# In words, line 1 goes from covers to the fit to noise, line 2 from the fit to noise to the risk, and line 3 puts them together for covers whose log size grows like $1/\epsilon^2$. Apart from $c$, the right side of line 1 is called the *entropy integral*. At $\delta = 0$ the expression under the infimum is $A$ times the area under a curve of {numref}`fig-cover`, so the entropy integral is at most that area times $A$.
#
# **Why covers bound the fit to noise.** We show that $c = 4 \sqrt 2 \approx 5.66$ is enough, by going from a coarse cover to the class in steps that become shorter by half each time. The tool is Massart's bound: the largest of $N$ random sums $\frac1m \sum_i \varepsilon_i f(z_i)$ with $|f| \le r$ is at most $r \sqrt{2 \log N / m}$ on average.
#
# * *The steps.* Take covers at the scales $A, A/2, A/4, \dots$, and send each member of one to the nearest member of the coarser one. A step to scale $\epsilon$ moves by at most $2\epsilon$, and there are $N_\infty(\epsilon)$ such steps, so it costs $2 \epsilon \sqrt{2 \log N_\infty(\epsilon)/m}$.
# * *Their sum.* Since $\epsilon$ is twice the gap to the next scale, all steps add up to at most $4 \sqrt 2 \int \sqrt{\log N_\infty/m}$.
# * *The two ends.* The coarsest cover costs $A \sqrt{2 \log N_\infty(A)/m}$, which is half of what the integral from $A/2$ to $A$ allows. The error below the last scale adds at most $4 \delta$.
#
# This argument uses that our covers consist of members of $\mathcal F$; if they need not, the usual constant is 12.
#
# ## Fitting noise, exactly
#
# How large does $c$ really have to be? We compute both sides of line 1 for six classes on the same {glue:text}`m` random inputs. The complexity is computed from its definition, over all $2^m$ sign patterns. The classes differ in what we know of their smallest covers:
#
# * *Covers known.* The $2^n$ *characters*, *bits* (the $n$ bits and their negatives) and *all signs* (every labelling) have values $\pm 1$. Two of their functions that are not equal are 2 apart, so below the scale $A$ a cover has to contain every function. Here the last column is the constant that the class needs.
# * *Covers found greedily.* For the *means* and the *faded* characters of the figure, and for *linear*, the maps $x \mapsto v^\top x/\sqrt n$ for many unit vectors $v$, the covers may be larger than the smallest ones. Then the integral is too large and the last column too small, so this column is only a lower bound on the constant that the class needs.
#
# So the table can refute a constant but cannot confirm one: a number above $4 \sqrt 2$ would refute the lemma with this constant, whereas for its truth we rely on the proof.

# %%
rows = {}
for name, values in (CLASSES | {"all signs": cube.points(m)}).items():
    values = values.unique(dim=0)
    row = {"functions": len(values), "fit to noise": capacity.rademacher(values).item()}
    row["Massart"] = capacity.massart(values).item()
    all_signs = math.sqrt(math.log(2))  # 2**m functions, pairwise 2 apart, A = 1
    row["integral"] = all_signs if name == "all signs" else integral(values)
    rows[name] = row
fits = pd.DataFrame(rows).T.rename_axis("class")
fits["functions"] = fits["functions"].astype(int)
fits["constant needed"] = fits["fit to noise"] / fits["integral"]
table(fits, f"Six classes on {m} inputs of {n} bits", form=".3f")

# %% [markdown]
# The largest number in the last column is {glue:text}`needed_here:.2f`. It belongs to all signs, so it is not a matter of greedy covers. The hard cases for a chain of covers are classes that branch like a tree, with many scales, so we draw {glue:text}`trees` of them as well.

# %% mystnb={"code_prompt_hide": "Random trees, and checks", "code_prompt_show": "Random trees, and checks"} tags=["hide-input"]


def tree(depth, inputs, fade):
    """Functions at the leaves of a binary tree; each edge adds signs, fading with the depth."""
    values = torch.zeros(1, inputs, dtype=torch.float64)
    for level in range(depth):
        signs = rng.normal(2 * len(values), inputs).sign()
        values = values.repeat_interleave(2, 0) + fade**level * signs
    return values.unique(dim=0)


grown = [tree(rng.whole(1, 6), rng.whole(2, 10), rng.uniform(0.2, 0.9)) for _ in range(trees)]
tried = [(capacity.rademacher(v).item(), integral(v)) for v in grown if len(v) > 1]
needed = max(fits["constant needed"].max(), *(fit / bound for fit, bound in tried))
a2.holds(
    "largest ratio of the fit to noise to the entropy integral over all classes; control: "
    "all signs, with the entropy at one input",
    needed,
    at_most=capacity.DUDLEY,
    control=1 / math.sqrt(math.log(2) / 50),  # the fit is 1 on 50 inputs; N = 2 on one of them
    about="statement",
    evidence="proved",
)
beyond = [  # from 2 A on one member covers all
    capacity.rademacher(v).item() / integral(v, upper=2)
    for v in [*(v.unique(dim=0) for v in CLASSES.values()), *grown]
    if len(v) > 1
]
dudley_fact.holds(
    "largest ratio of the fit to noise to the integral up to infinity, over all classes; "
    "control: all signs, with the entropy at one input",
    max(beyond),
    at_most=capacity.DUDLEY,
    control=1 / (2 * math.sqrt(math.log(2) / 200)),  # on 200 inputs
    about="statement",
    evidence="proved",
)
a2.holds(
    "Massart's lemma: largest ratio of the fit to noise to its bound; control: functions "
    "counted on one input",
    max(fits["fit to noise"] / fits["Massart"]),
    at_most=1,
    control=capacity.rademacher(cube.points(14)) / math.sqrt(2 * math.log(2) / 14),
    about="proof",
    evidence="proved",
)
glue(needed=needed, needed_here=fits["constant needed"].max(), m=m, trees=trees)

# %% [markdown]
# No tree has a larger number, so {glue:text}`needed:.2f` is the largest constant that we found to be necessary for one of these classes. For the classes with greedy covers, trees included, the constant that is needed may be larger than the table says. So in a trial outside this page we bounded it from above by packings, that is, by functions that are pairwise more than $2\epsilon$ apart: no cover at scale $\epsilon$ has fewer members. None of these classes needs more than 1.06, so with the smallest covers, too, all signs need the most. The lemma as a whole needs a larger constant than any of our classes, because no constant below $\sqrt2$ is enough for all classes: many random sign vectors, $N$ of them, that are few for their length have $\hat{\mathcal R}$ near $\sqrt{2 \log N/m}$ and an integral of $\sqrt{\log N/m}$.
#
# ## The closed form, and the condition that it needs
#
# The bound on $\hat{\mathcal R}$ in line 3 is line 1 with the integral worked out, and we now do this in order to see where a condition enters. If $\log N_\infty(\epsilon) \le C/\epsilon^2$, the integral from $\delta$ to $A$ is $\sqrt{C/m}\, \log(A/\delta)$. The derivative of $\delta + \sqrt{C/m} \log(A/\delta)$ with respect to the scale $\delta$ vanishes at $\delta = \sqrt{C/m}$, and this choice gives line 3. But the integral only runs up to $A$. So if $\sqrt{C/m} > A$, which means $m A^2 < C$, the best choice is $\delta = A$, and the infimum is $A$.
#
# The formula as printed, however, continues to decrease: below $A$, and below *zero* once $m A^2 < C/e^2$, although a fit to noise is never negative. The table compares the printed form with the least value on a fine grid of scales $\delta$. Where the two disagree, the printed form is not the infimum.

# %%
rows = {}
for u2 in (0.04, 0.1, 0.3, 1.0, 4.0, 100.0):  # m A^2 / C, with C = m = 1
    top = math.sqrt(u2)
    delta = top * torch.linspace(-12, 0, 20001).double().exp()
    best = (delta + (top / delta).log()).min().item()
    printed, closed = 1 + math.log(top), capacity.dudley_power(1.0, 1, top)
    rows[u2] = {"best δ of 20,001": best, "as printed": printed, "with the second case": closed}
power = pd.DataFrame(rows).T.rename_axis("m A²/C")
table(power.div([math.sqrt(u) for u in power.index], axis=0), "Bound over A", form=".4f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
one_function = capacity.rademacher(torch.ones(1, 4, dtype=torch.float64)).item()
printed_one = math.sqrt(100 / 4) * (1 + math.log(math.sqrt(4 / 100)))
a3.refuted(
    "without the condition: bound on the complexity in units of $c$ for a class of one "
    "function, $m = 4$, $A = 1$ and $C = 100$; control: with the second case",
    printed_one,
    at_least=one_function,
    control=capacity.dudley_power(100.0, 4, 1.0),
    about="condition",
    evidence="attained",
)
fine = (12 / 20000) ** 2  # of a minimum over log delta, relative
gap = (power["as printed"] / power["best δ of 20,001"] - 1).abs()
a3.holds(
    "for $m \\ge C/A^2$: largest relative distance of the formula from the infimum on a "
    "grid of $\\delta$; control: fewer examples",
    gap[gap.index >= 1].max(),
    at_most=0,
    tol=fine,
    control=gap[gap.index < 1].max(),
    about="statement",
    evidence="proved",
)
a3.repaired(
    "with the second case: largest relative distance of the formula from the infimum on a "
    "grid of $\\delta$; control: as printed",
    (power["with the second case"] / power["best δ of 20,001"] - 1).abs().max(),
    at_most=0,
    tol=fine,
    control=gap.max(),
    about="condition",
    evidence="proved",
)
# With the least C, log N(eps) <= m log k for k = ceil(2A/eps), and eps < 2A/(k-1), so with A = m = 1
boxes = max(4 * math.log(k) / (k - 1) ** 2 for k in range(2, 1000))  # at least the least C
bracket = [(1 - math.log(c) / 2) * math.sqrt(c) for c in (boxes, 3 * boxes)]
a3.holds(
    "with the least possible $C$ and without the condition: least ratio of the bound to $c "
    "A$; control: $C$ three times as large",
    bracket[0],
    at_least=1 / capacity.DUDLEY,
    control=bracket[1],
    about="ours",
    evidence="proved",
)
glue(printed_one=printed_one, least_capacity=boxes, least_bracket=bracket[0])

# %% [markdown]
# The printed form is right in the last three rows, where $m A^2 \ge C$, and too small above them. So the lemma is true with a condition that is not printed.
#
# **Why the condition is needed.** A formula that is not the infimum could still be a bound, so we look for a class that exceeds it. Any $C$ that is large enough may be used, and a single function, whose covers have size 1, may use every $C$. With $m = 4$, $A = 1$, $C = 100$ its fit to noise is 0, and the formula gives {glue:text}`printed_one:.2f`, times a positive constant. So the lemma is completed either by a second case, $A$ for $m A^2 < C$, or by the condition $m \ge C/A^2$. Below that there is nothing to prove anyway, because $\hat{\mathcal R} \le A$ holds for every class. The same example refutes line 3 for the difference of the two risks. There the second term of line 2 is added, but it does not depend on $C$, so for every $c > 0$ a large enough $C$ makes the whole bound negative.
#
# **If $C$ is the least number.** The example takes a $C$ that is far too large. Suppose instead that $C$ is the least number with $\log N_\infty(\epsilon) \le C/\epsilon^2$ on every sample and at every scale. Then line 3 holds as printed, without the condition. To see this, we bound the least $C$ by boxes, and look how far the formula can then fall.
#
# * *Boxes.* Divide $[-A, A]$ into $k = \lceil 2A/\epsilon \rceil$ intervals of length at most $\epsilon$, which makes $k^m$ boxes for the values on the sample. Take one member of the class from each box that has one. These members are a cover, so $\log N_\infty(\epsilon) \le m \log k$. For $k = 1$ this is 0, and otherwise $\epsilon < \frac{2A}{k - 1}$. So $C$ is at most $m A^2$ times the largest $\frac{4 \log k}{(k-1)^2}$, which is $4 \log 2 =$ {glue:text}`least_capacity:.2f` at $k = 2$.
# * *The formula.* For $C \ge m A^2$ it decreases as $C$ grows, from $c A$ at $C = m A^2$ to {glue:text}`least_bracket:.2f` $c A$ at $C = 4 \log 2 \cdot m A^2$. With $c = 4 \sqrt 2$ even the latter is above $A$, and $\hat{\mathcal R} \le A$ for every class.
#
# ## Risk and empirical risk, over all samples
#
# Line 2, which the paper takes from {cite:t}`bartlett2002`, is stated with $4 L\hat{\mathcal R}$, but half of that is enough. The factor 2 is standard: it stands in textbooks, for example in {cite:t}`shalev2014`, Theorem 26.5, and {cite:t}`lengthfree` have it in Section 2.3, both with a larger second term. What we add is that the second term can stay as it is in line 2, and that the 2 is needed.
#
# ```{prf:theorem} Sharpened (constants ours)
# :label: capacity-two
# For a loss as in line 2, with probability at least $1 - \delta$, for all $f \in \mathcal F$ at once: risk exceeds empirical risk by at most $2 L \hat{\mathcal R} + 2b \sqrt{\log(1/\delta)/2m}$. With $\log(2/\delta)$ the same holds for the difference in both directions. The factor 2 cannot be lowered.
# ```
#
# **The idea of the proof.** On average the largest difference of the two risks is at most twice the complexity of the losses. So it remains to see how far this difference, less twice the complexity, can be from its average. If one example is replaced, both the difference and the complexity change a little, and a quantity of which every example can change only a little is close to its mean with high probability. The constant in the second term comes from counting these changes exactly.
#
# ```{dropdown} Proof
# We study one quantity, the largest difference of the two risks less twice the complexity. We bound its mean, then the effect of one example on it, and then its tail.
#
# *Mean.* Let $\hat{\mathcal R}_\ell$ be the complexity of the losses $z \mapsto \ell(f(z))$. By contraction $\hat{\mathcal R}_\ell \le L \hat{\mathcal R}$, and we study $\Phi = \sup_f (\text{risk} - \text{empirical risk}) - 2 \hat{\mathcal R}_\ell$. Its mean is at most 0, as one sees by taking a second sample in place of the risk, and a coin toss for each pair.
#
# *One example.* If one example is replaced by another, the supremum changes by at most $b/m$. In $\hat{\mathcal R}_\ell$ subtract $b/2$ from all losses, which changes nothing because the coins have mean 0; the losses then lie in $[-\frac b2, \frac b2]$. For any numbers $h(f)$ and any $g(f)$ in $[-\frac b2, \frac b2]$, the mean of $\sup(h + g)$ and $\sup(h - g)$ lies between $\sup h$ and $\sup h + \frac b2$. So $\hat{\mathcal R}_\ell$ changes by at most $b/2m$, and $\Phi$ by at most $2b/m$.
#
# *Tail.* McDiarmid's inequality gives $\Pr(\Phi > t) \le e^{-m t^2/2b^2}$, which is $\delta$ at $t = 2b \sqrt{\log(1/\delta)/2m}$. For the other direction the same proof holds, and the two probabilities of failure add up.
#
# *The factor 2.* It cannot be lowered, because for all functions into $\{0, 1\}$ on very many inputs $\hat{\mathcal R} = \frac12$, while the difference tends to $1 = 2 \hat{\mathcal R}$, and the second term vanishes as $m$ grows. $\square$
# ```
#
# **Two facts of the fourth paper.** {cite:t}`lengthfree` quote two facts in Sections 2.3 and 2.4, and both follow from what was proved here.
#
# * *Risk.* If $|\ell| \le c$, risk and empirical risk differ by at most $2 \hat{\mathcal R}_\ell + 4c \sqrt{2 \log(4/\delta)/m}$. To see this, apply the proof above to the loss $\ell + c$, which lies in $[0, 2c]$ and has the same complexity. It gives $4c \sqrt{\log(2/\delta)/2m}$ as the second term, which is smaller.
# * *Integral.* In line 1 they let the integral run to infinity. If it is finite, a single function $f_0$ is a cover at some scale $D$. Subtract $f_0$ from all functions. This changes neither covers nor complexity, and afterwards $|f| \le D$ on the sample, so line 1 applies with $A = D$.
#
# **A check over all samples.** The theorem can be checked without a single random number, on a class that can remember every label. There are $K$ inputs, equally likely, each with a fixed label. The class holds all functions into $\{0, 1\}$, and the loss is $|f - y|$. Up to the names of the inputs, a sample of {glue:text}`m_exact` inputs is described by how often each input occurs in it, that is, by a partition of the number {glue:text}`m_exact`. For each partition both sides of the bound can be computed:
#
# * *The difference of the two risks.* Divide the numbers of occurrences by $m$. The largest difference is half the $\ell_1$ distance of these shares from the uniform distribution.
# * *The complexity.* Take for each input a random walk with as many steps as the input has occurrences. Each walk ends at some distance from 0, and the complexity is $\frac1{2m}$ times the mean of the sum of these distances.
#
# So the probability that a bound fails is a finite sum.


# %% mystnb={"code_prompt_hide": "Every sample, by partitions", "code_prompt_show": "Every sample, by partitions"} tags=["hide-input"]
def partitions(total, largest):
    if total == 0:
        yield ()
    for part in range(min(total, largest), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def walk(s):
    """Mean distance from its start of a walk of s steps."""
    return sum(math.comb(s, j) * abs(s - 2 * j) for j in range(s + 1)) / 2**s


samples = list(partitions(m_exact, m_exact))
R = f64([sum(map(walk, c)) for c in samples]) / (2 * m_exact)


def chance_and_deviation(K):
    """Of every partition: its probability, and the largest difference of the two risks."""
    ways, apart = [], []
    for c in samples:
        orders = math.factorial(m_exact) // math.prod(map(math.factorial, c))
        alike = math.prod(math.factorial(c.count(v)) for v in set(c))
        ways.append(orders * math.perm(K, len(c)) // alike / K**m_exact)
        apart.append(sum(abs(v / m_exact - 1 / K) for v in c) / 2 + (1 - len(c) / K) / 2)
    return f64(ways), f64(apart)


# %% [markdown]
# For probabilities $\delta$ from 0.01 to 0.99 we divide the probability of failure by $\delta$, for several factors in front of $\hat{\mathcal R}$. A bound that holds has a largest ratio of at most 1, so a number above 1 in the column *2 R* would refute the theorem.

# %%
levels = torch.arange(1, 100).double() / 100
tails = 2 * ((2 / levels).log() / (2 * m_exact)).sqrt()
rows = {}
for K in (6, 60, 600, 6000):
    chance, deviation = chance_and_deviation(K)
    for factor in (4, 2, 1, 0):
        fails = deviation[:, None] > factor * R[:, None] + tails
        rows.setdefault(K, {})[f"{factor} R"] = ((chance @ fails.double()) / levels).max().item()
failing = pd.DataFrame(rows).T.rename_axis("inputs K")
table(failing, "Probability of failure over δ, largest over δ", form=".3g", tiny=1e-12)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
a4.holds(
    "with $4L\\hat{\\mathcal R}$: largest ratio of the exact probability of failure to "
    "$\\delta$; control: $\\hat{\\mathcal R}$ once",
    failing["4 R"].max(),
    at_most=1,
    control=failing["1 R"].max(),
    about="statement",
    evidence="proved",
)
a4.holds(
    "with $2L\\hat{\\mathcal R}$: largest ratio of the exact probability of failure to "
    "$\\delta$; control: without $\\hat{\\mathcal R}$",
    failing["2 R"].max(),
    at_most=1,
    control=failing["0 R"].max(),
    about="ours",
    evidence="proved",
)
chance, deviation = chance_and_deviation(6)
heads = f64([math.comb(9, j) / 2**9 for j in range(10)])  # one function of risk 1/2, nine examples
off = (torch.arange(10).double() / 9 - 0.5).abs()
coin = [((heads @ (off > 2 * math.sqrt(math.log(k / 0.99) / 18)).double()) / 0.99) for k in (2, 1)]
a4.holds(
    "one function, both directions, $\\delta = 0.99$: ratio of the probability of failure "
    "with $\\log(2/\\delta)$ to $\\delta$; control: with $\\log(1/\\delta)$",
    coin[0],
    at_most=1,
    control=coin[1],
    about="ours",
    evidence="exhaustive",
)


def worst(factor):
    """As in the table, for a loss of size at most c = 1/2: 4 c sqrt(2 log(4/delta)/m) is second."""
    second, found = 2 * (2 * (4 / levels).log() / m_exact).sqrt(), []
    for K in failing.index:
        chance, deviation = chance_and_deviation(K)
        fails = deviation[:, None] > factor * R[:, None] + second
        found.append(((chance @ fails.double()) / levels).max().item())
    return max(found)


gap_fact.holds(
    "loss of size at most $\\frac12$: largest ratio of the exact probability of failure to "
    "$\\delta$ over all samples; control: without the complexity",
    worst(2),
    at_most=1,
    control=worst(0),
    about="statement",
    evidence="proved",
)
# All functions into {0, 1} fit half of the noise on 4,096 inputs: 2**4096 of them, pairwise 1 apart.
every_sample, one_input = (capacity.dudley_power(k * math.log(2), 4096, 1.0) for k in (4096, 1))
a5.refuted(
    "without the condition: bound on the difference in units of $c$ for a class of one "
    "function, $m = 4$ and $C = 100$; control: with the second case",
    4 * printed_one + 2 * math.sqrt(math.log(2 / 0.5) / 8) / capacity.DUDLEY,
    at_least=0,
    control=4 * capacity.dudley_power(100.0, 4, 1.0),
    about="condition",
    evidence="attained",
)
a5.holds(
    "for $m \\ge C/A^2$ and $c = 4\\sqrt2$: ratio of the fit to noise to the bound for "
    "$2^m$ functions; control: the $C$ of one input",
    0.5 / (capacity.DUDLEY * every_sample),
    at_most=1,
    control=0.5 / (capacity.DUDLEY * one_input),
    about="statement",
    evidence="proved",
)
glue(m_exact=m_exact, factor_one=failing["1 R"].max())

# %% [markdown]
# With $2 \hat{\mathcal R}$ the bound fails far less often than is allowed. With a single $\hat{\mathcal R}$, however, it fails up to {glue:text}`factor_one:.2f` times as often as allowed when there are many more inputs than examples. The reason is that with so many inputs a sample rarely has repeats. Without repeats $\hat{\mathcal R} = \frac12$, and a function of the class can remember the labels of the sample and err on all other inputs.
#
# We cannot read which number stands under the logarithm in the paper. With $\log(1/\delta)$ each direction holds by itself, and that is what a bound on the risk needs. For both directions at once $\log(1/\delta)$ is not enough: nine tosses of one coin violate that bound at $\delta = 0.99$.
#
# ## The best split of an error budget
#
# Where do the covers come from? A model with several parts is covered part by part, and an error in any of the parts becomes an error at the output. Suppose that at scale $x_i$ the cover of part $i$ has a size whose logarithm is $\alpha_i/x_i^2$, and that an error of $x_i$ in this part becomes an error of $\beta_i x_i$ at the output. How should a total error of $C$ (here an error, and no longer the constant of line 3) be divided among the parts, so that the covers together are as small as possible?
#
# ```{prf:lemma} Edelman et al. (2022), Lemma A.8, exponents as quoted later
# :label: variables-lemA8
# *(True for $\alpha_i, \beta_i > 0$, a condition that is not printed.)* For $\alpha_i, \beta_i \ge 0$ let $\gamma = \sum_i \alpha_i^{1/3} \beta_i^{2/3}$. Among positive $x_i$ with $\sum_i \beta_i x_i = C$ the least value of $\sum_i \alpha_i/x_i^2$ is $\gamma^3/C^2$, at $x_i = \frac C\gamma (\alpha_i/\beta_i)^{1/3}$.
# ```
#
# **Why the split is the best.** The lemma is Hölder's inequality with exponents 3 and $\frac32$, with equality where $\alpha_i/x_i^3$ is proportional to $\beta_i$:
#
# $$\gamma = \sum_i \Bigl( \frac{\alpha_i}{x_i^2} \Bigr)^{1/3} \bigl( \beta_i x_i \bigr)^{2/3} \le \Bigl( \sum_i \frac{\alpha_i}{x_i^2} \Bigr)^{1/3} \Bigl( \sum_i \beta_i x_i \Bigr)^{2/3} .$$
#
# If $\beta_2 = 0$ and $\alpha_2 > 0$, part 2 costs no error. So $x_2$ may be as large as one likes, and its term $\alpha_2/x_2^2$ tends to 0 without reaching it. Then $\gamma^3/C^2$ is the infimum and no minimum. No cover in the paper has such a part.
#
# We compare the split of the lemma with random splits, from very close to it to far away, and with equal shares. A single random split with a smaller cover would refute the lemma.

# %% mystnb={"code_prompt_hide": "Random splits", "code_prompt_show": "Random splits"} tags=["hide-input"]
rows = []
for _ in range(instances):
    parts, C = rng.whole(2, 6), rng.uniform(0.5, 1.5)
    alpha, beta = rng.log_uniform(1e-6, 1e6, 2, parts)
    x, least = capacity.allocate(alpha, beta, C)
    moved = x * (rng.normal(200, parts) * torch.logspace(-3, 0, 200).double()[:, None]).exp()
    moved *= C / (moved @ beta)[:, None]
    equal = C / (parts * beta)
    swapped = (alpha ** (2 / 3) * beta ** (1 / 3)).sum() ** 3 / C**2
    values = {"best split": x, "random split": moved, "equal shares": equal}
    row = {k: (alpha / v**2).sum(-1).min().item() / least.item() for k, v in values.items()}
    rows.append(row | {"exponents swapped": (swapped / least).item(), "spent": (beta @ x) / C})
shares = pd.DataFrame(rows).astype(float)
table(shares.agg(["min", "max"]).rename_axis("of all"), "Cover size over γ³/C²", form=".6g")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
split.holds(
    f"least ratio of the value of {200 * instances} other splits to $\\gamma^3/C^2$; "
    "control: exponents exchanged",
    shares["random split"].min(),
    at_least=1,
    tol=1e-12,
    control=1 / shares["exponents swapped"].max(),
    about="statement",
    evidence="proved",
)
split.holds(
    "largest relative distance of the value and budget of the best split from "
    "$\\gamma^3/C^2$ and $C$; control: equal parts",
    (shares[["best split", "spent"]] - 1).abs().max(axis=None),
    at_most=0,
    tol=1e-12,
    control=(shares["equal shares"] - 1).max(),
    about="statement",
    evidence="proved",
)


def excess(alpha, beta, x):
    """Value of a split less the closed form of the lemma, for the error C that the split spends."""
    alpha, beta, x = map(f64, (alpha, beta, x))
    gamma, C = (alpha * beta**2).pow(1 / 3).sum(), (beta * x).sum()
    return ((alpha / x**2).sum() - gamma**3 / C**2).item()


split.refuted(
    "without the condition, $\\alpha = (1, 1)$, $\\beta = (1, 0)$ and $C = 1$: excess of the value "
    "over $\\gamma^3/C^2 = 1$ at $x_2 = 1000$, which falls with $x_2$ and is never 0; control: "
    "$\\beta = (1, 1)$, at the split of the lemma",
    excess([1, 1], [1, 0], [1, 1000]),  # the second part costs no error
    at_most=0,
    control=excess([1, 1], [1, 1], [1 / 2, 1 / 2]),
    tol=1e-12,
    about="condition",
    evidence="proved",
)

# %% [markdown]
# No random split is better than that of the lemma, whereas equal shares are worse. Exchanging the exponents gives numbers that are far too small or far too large.
#
# ## Covers of linear functions
#
# The simplest part of a model is a linear function, and the last lemma bounds its covers.
#
# ```{prf:lemma} Edelman et al. (2022), Lemma A.10, from Zhang (2002)
# :label: variables-lemA10
# For the functions $x \mapsto v^\top x$ with $\|v\|_2 \le B_1$, on any $N$ inputs with $\|x\|_2 \le B_2$ in any dimension,
#
# $$\log N_\infty(\epsilon) \le 36\, \frac{B_1^2 B_2^2}{\epsilon^2} \log\Bigl( 2 \Bigl\lceil \frac{4 B_1 B_2}\epsilon + 2 \Bigr\rceil N + 1 \Bigr) .$$
# ```
#
# **Why Zhang's bound holds.** A later chapter approaches each function of the class by a walk of few steps along the inputs, and counts the steps as one counts the mistakes of a perceptron ({prf:ref}`linear-layer-walk`). For one output and the ball of radius $B_1$ this walk gives a cover by members with $\log N_\infty(\epsilon) \le \frac{B_1^2 B_2^2}{\epsilon^2} \log(2N + 1)$, for any $N$ inputs and every $\epsilon > 0$. This is less than the bound of the lemma.
#
# **Can the $\log N$ disappear?** The bound does not depend on the dimension, and one may ask whether it must depend on the number of inputs. To decide this, take $N$ orthogonal inputs of length $B_2$, on which the values of the class are all vectors of length at most $B_1 B_2$. Let $a = (B_1 B_2/\epsilon)^2$. We bound the size of the smallest cover from both sides.
#
# * *From above.* Round each value to the nearest multiple $2 \epsilon z_i$. A $z_i \ne 0$ needs a value of at least $\epsilon |z_i|$, so $\sum_i |z_i| \le \sum_i z_i^2 \le a$. There are at most $(2N+1)^a$ vectors of whole numbers with this property. (These centres may lie outside the class. For a cover by members, do this at the scale $\frac\epsilon2$ and take one member near each centre, which replaces $a$ by $4a$; the walk of {prf:ref}`linear-layer-walk` avoids the factor 4.)
# * *From below.* Vectors with $k < a/4$ entries $\pm h$, $h$ just above $2\epsilon$, and zeros elsewhere lie in the class, and two of them always differ by more than $2 \epsilon$ somewhere. So $N_\infty \ge 2^k \binom Nk$.
#
# The table compares both with Zhang's bound as $N$ grows. The column *packing* has the logarithm of the number of vectors from below, and *explicit cover* that of the cover from above. A packing above Zhang's bound would refute the lemma.

# %% mystnb={"code_prompt_hide": "Sizes of three covers", "code_prompt_show": "Sizes of three covers"} tags=["hide-input"]
sizes = [16, 1024, 65536, N_max] if N_max > 65536 else [16, 1024, N_max]
bounds = {
    "packing": capacity.orthogonal_packing_log_size,
    "explicit cover": capacity.orthogonal_cover_log_size,
    "Zhang": capacity.zhang_bound,
}
linear = pd.DataFrame(
    {(r, N): {k: b(N, 1, 1, 1 / r) for k, b in bounds.items()} for r in (3, 4, 6) for N in sizes}
).T.rename_axis(["B₁B₂/ε", "N"])
linear["a log(2N+1)"] = [r**2 * math.log(2 * N + 1) for r, N in linear.index]
table(linear.loc[[4]], "Log sizes of covers on N orthogonal inputs", form=".1f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
free = max(N * math.log(3) / b for (_, N), b in linear["Zhang"].items())  # entries 0, h, -h
zhang.holds(
    f"largest ratio of the log size of a packing to Zhang's bound, for $N \\le {N_max}$; "
    "control: vectors of any length",
    (linear["packing"] / linear["Zhang"]).max(),
    at_most=1,
    control=free,
    about="statement",
    evidence="proved",
)
glue(generous=(linear["Zhang"] / linear["a log(2N+1)"]).min())

# %% [markdown]
# The packing stays below Zhang's bound, but it keeps growing with $N$. The reason is that any $k$ below $a/4$ can be used, and $\log \binom Nk$ is at least $k \log (N/k)$. So every bound for all inputs must contain $\log N$, with at least the order of $a$ in front of it. The constant of Zhang's bound, however, could be smaller: in the sizes that we computed the bound is at least {glue:text}`generous:.1f` times $a \log(2N + 1)$, our bound from above. For covers by members of the class the walk gives $a \log(2N + 1)$ as well, and on any inputs.
#
# ## What we found
#
# * The *entropy integral*, the right side of line 1, bounds the fit to noise with a constant of $4 \sqrt 2$, for covers by members. The largest constant that we found one of our classes to need is {glue:text}`needed:.2f`, and no constant below $\sqrt 2$ is enough for all classes.
# * The bound on the difference of risk and empirical risk holds with $2 L\hat{\mathcal R}$ in place of $4 L\hat{\mathcal R}$, and the 2 is sharp.
# * The closed form is to be read with $m \ge C/A^2$, or with a second case, because otherwise it can be negative.
# * The best split is Hölder's inequality, and Zhang's bound holds with 1 for its 36; its $\log N$ is needed.
#
# ```{finding} variables.lem2_2
# :title: Lemma 2.2 needs enough examples for its capacity
# :group: condition
#
# **Statement.** Let all functions of a class have values of at most $A$ in size, and let $m$ be the number of examples. Corollary A.3 of the paper says, as printed, that if $\log N_\infty(\epsilon) \le C/\epsilon^2$, then the Rademacher complexity is at most $c \sqrt{C/m}\,(1 + \log(A\sqrt{m/C}))$, with no condition on $m$, and Lemma 2.2 takes it over.
#
# **Counterexample.** For one function with $|f| \le 1$, so that $A = 1$, $m = 4$ and $C = 100$ the Rademacher complexity is 0 and the bound is ${glue:text}`printed_one:.2f`\,c < 0$.
#
# **Why.** The entropy integral ends at $A$, but for $C > m A^2$ its minimiser $\sqrt{C/m}$ lies beyond that end.
#
# **Repair.** For $m A^2 < C$ the infimum is $A$, so either this case is added or $m \ge C/A^2$ is required. Or $C$ is required to be the least number with this property, which is then at most {glue:text}`least_capacity:.2f` $m A^2$.
#
# **What survives.** All uses of the lemma with at least $C/A^2$ examples survive, and below that number it promises nothing anyway. At the sizes of the paper's experiments ($d = 64$, norms 1, $m = 200$, $T = 400$) the capacity of its Corollary 4.4 is about $4 \cdot 10^5$, with 1 for the hidden constant, and so the formula is negative there; but the paper evaluates no bound. With covers by members $c = 4\sqrt2$ is enough for the complexity, and $2L$ for the $4L$ in front of it.
# ```
#
# ## What would falsify this
#
# Each check has a *control*, a broken variant which must fail.
#
# * *The constant of the integral* would be wrong if a finite class had a fit to noise of more than $4 \sqrt 2$ times its integral, as happens if only the entropy of one input is taken.
# * *The closed form* would be wrong if it differed from the least value on a grid of $\delta$, as the printed form does below its condition; the other control is the repaired form.
# * *The theorem on risk and empirical risk* would be wrong if its probability of failure, summed over all samples, exceeded the one allowed. This happens with $\hat{\mathcal R}$ once, or not at all, or with the covers of a single sample.
# * *The split* would not be the best one if one other split were better; here the controls exchange the exponents, or split equally.
# * *Zhang's bound* would be wrong if more functions than it allows were pairwise far apart. The control takes such a set of functions without the bound on $\|v\|$, and this set does exceed it.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The paper comes without code, so nothing can be compared. Two conventions differ between papers, however. Some take the complexity with absolute values around the sum, and the usual constant of the entropy integral, 12, is for covers whose centres may lie outside the class.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-capacity-split
# *By hand.* Two parts have $\alpha = (1, 8)$ and $\beta = (1, 1)$, and the total error is $C = 3$. What is the best split, what does it cost, and what do equal shares cost?
# ```
#
# ```{solution} ex-capacity-split
# :class: dropdown
# Here $\gamma = 1 + 2 = 3$, so $x = (1, 2)$, and the cost is $1 + \frac84 = 3$, which is $\gamma^3/C^2 = \frac{27}9$. Equal shares $x = (\frac32, \frac32)$ cost $9 / \frac94 = 4$. The part that is harder to cover gets more of the error, but not in proportion to its cost.
# ```
#
# ```{exercise}
# :label: ex-capacity-sample
# *With the computer.* How does the fit to noise fall as the sample grows? Compute it for the bits and for the characters on samples of 4 to 14 inputs, and multiply it by $\sqrt m$. Then run the chapter with a larger sample, `python -m bookkit.run cube/capacity -p m 14 --out my_run`, and see what becomes of the constant that the six classes need.
# ```
#
# ```{solution-start} ex-capacity-sample
# :class: dropdown
# ```
#
# The samples are nested: each one contains those before it.

# %%
fresh, by_size = Rng(seed + 1), {}
order = torch.randperm(2**n, generator=fresh.generator)
for size in (4, 6, 8, 10, 12, 14):
    x, index = cube.points(n)[order[:size]], order[:size]
    some = {"bits": torch.cat((x.T, -x.T)), "characters": cube.characters(n)[:, index]}
    fit = {name: capacity.rademacher(values).item() for name, values in some.items()}
    by_size[size] = fit | {f"{name} × √m": v * math.sqrt(size) for name, v in fit.items()}
answer = pd.DataFrame(by_size).T.rename_axis("m")
table(answer, "Fit to noise of two classes by the size of the sample", form=".3f")

# %% [markdown]
# The class of bits has $2n$ functions, and its fit to noise falls roughly like $1/\sqrt m$, as Massart's bound says. For the $2^n$ characters the product with $\sqrt m$ still grows, because on few inputs many characters agree, so the class has fewer functions than its number suggests.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-negative-shares
# *To think about.* The lemma on the split is printed in our text without the condition $x_i > 0$. What is the infimum if the $x_i$ may be negative?
# ```
#
# ```{solution} ex-negative-shares
# :class: dropdown
# The infimum is zero, because with $\alpha = \beta = (1, 1)$ and $C = 1$ one may take $x = (-M, M + 1)$. The sum $M^{-2} + (M + 1)^{-2}$ then tends to 0, whereas the lemma says 8.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`variables`; the cover of linear functions is from {cite:t}`zhang2002`. The entropy integral is due to Dudley, and the bound for finite classes to Massart.
