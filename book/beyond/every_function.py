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
# (ch-every-function)=
# # A transformer for every Boolean function
#
# ```{verdict}
# Yes, two layers of attention compute every function of $n$ bits exactly, with enough heads. We prove it, and the networks of {glue:text}`functions` functions that we tried are right at every input. The first paper expects that sums of parities of mixed sizes (degrees) and signs, for which it has no network, change only the constants of its bounds. At the paper's own size our bounds agree with this: they are at most {glue:text}`norm_times:.1f` times its bound on the norm and, from degree 2 on, {glue:text}`sharp_times:.1f` times its repaired bound on the gradient ({glue:text}`first_most:.1f` times at degree 1).
# ```
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`, {ref}`ch-pac-bayes`. **Read** 17 min. **Runs in** 10 s. **Source** ours; the remark printed.
#
# **Claim.** The first paper's hand-written transformer computes sums of few characters, that is, of parities of sets of bits, all of one degree (number of bits) and with positive coefficients. The paper says that additional heads would do for mixed degrees and signs, and that the bounds would likely depend on degree and sparsity (number of terms) as before, but it gives no network for these cases.
#
# We carry the extension out for all functions. Mixed degrees cost no additional head and signs cost one, and at the paper's size the bounds change by factors that hardly grow with the degree or the sparsity. More terms than bits are an extension of ours. For a dense function, whose number of terms is close to $2^n$, the network is large, and the bound asks for more samples than there are inputs.
#
# ## Why one should care
#
# The network that is written by hand in {ref}`ch-construction` is the paper's main evidence: because its weights are small and its loss is flat around them, functions like its target should be easy to learn. But its targets are special. All their terms have the same number of bits, and all coefficients are positive, whereas the functions that one meets, such as a vote or a decision tree, mix degrees and signs. If the construction worked only for such targets, its message could be an accident of the special case.
#
# If the construction works for all functions, the next question is how large and how sharp the network becomes. For most functions it must be large or sharp, because almost all functions cannot be learned from few examples by any method.
#
# ## Three bits by hand
#
# The *selector* of three bits answers with bit 2 if bit 1 is 0, and with bit 3 if bit 1 is 1. With the signs $x_k = 1$ for a bit of 0 and $-1$ for a bit of 1 it is
#
# $$f = \tfrac12 \bigl( \chi_{\{2\}} + \chi_{\{3\}} + \chi_{\{1,2\}} - \chi_{\{1,3\}} \bigr) .$$
#
# Here $\chi_U$ is the product of the signs $x_k$ with $k$ in $U$, for example $\chi_{\{1,2\}} = x_1 x_2$. To check the formula for the selector, let bit 1 be 0. Then $\chi_{\{1,2\}} = \chi_{\{2\}}$ and $\chi_{\{1,3\}} = \chi_{\{3\}}$, so $f = \chi_{\{2\}}$. If bit 1 is 1, both signs are reversed, and $f = \chi_{\{3\}}$. The selector is simple, but the construction of the paper does not cover it: it has two degrees, two signs, and four terms on three bits. How could a transformer compute it all the same?
#
# * *Two signs.* One head computes the three positive terms, another the negative one, and the read-out subtracts the second.
# * *Two degrees.* A head averages the bits of a set, and an MLP computes their parity from this average, for which it has to know how many bits were averaged. In a head for sets of two bits, the set $\{2\}$ attends to bit 2 and, in place of a second member, to an additional position that always holds the bit 0. The average of the two is half of bit 2, just as the average over $\{1, 2\}$ is half of the count of ones in $\{1, 2\}$.
# * *More terms than bits.* Each head has room for three terms, and we use two heads.
#
# These three ideas are all that is needed for an arbitrary function. The rest of the chapter turns them into a theorem, and then asks what the network costs.
#
# ## The statement
#
# Every function $f : \{0, 1\}^n \to \mathbb R$ is a sum of characters, $f = \sum_U \hat f(U)\, \chi_U$, where $\chi_U(x)$ is 1 if the bits of $x$ in $U$ contain an even number of ones, and $-1$ otherwise. The *terms* of $f$ are the sets $U$ with $\hat f(U) \ne 0$. Their number $W$ is the *sparsity* of $f$, and the size of the largest is its *degree* $d$. In {ref}`ch-construction` all terms have one size, all coefficients are positive, and $W \le n$, since term $i$ is computed at position $i$ and there are only $n$ positions.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), before Section 1 and in Section 4.2
# :label: beyond-signed-remark
# *(Not contradicted: at the paper's size only constants change.)* Functions of mixed degree, with coefficients of both signs, can be handled by additional heads. They are not likely to be a barrier: they would change the constants in the bounds, but not the fundamental dependence on degree and sparsity.
# ```
#
# The paper does not carry this out, and keeps $W \le n$. The next theorem is one way to carry it out, for every $W$.
#
# ```{prf:theorem} ours
# :label: beyond-signed
# Let $f$ have $W_+$ positive and $W_-$ negative coefficients. There is a transformer of two attention layers with $H = \lceil W_+ / n \rceil + \lceil W_- / n \rceil$ heads in each, and between them an MLP of $H$ blocks, one for each head, that equals $f$ at every input. With $d$ the degree, or 1 for a constant, and $L = \max(2 \log n, \log 4n)$ its attention scores are at most $L + \log d$ in the first layer and at most $\max_U |L + \log |\hat f(U)||$ in the second.
# ```
#
# In words: there is one head for every $n$ terms of one sign, rounded up, and the attention scores are of the order $\log n$ unless a coefficient is tiny or large. That networks of exponential size compute every Boolean function is well known: an MLP with one hidden unit for each input looks the value up, and {cite:t}`yun2020` show, with many layers, that transformers approximate every continuous function of sequences. New here are the number of heads and bounds on the norm and the gradient of the network.
#
# **How it works.** The network does for every term what the network of the example does for its four. A *head* takes up to $n$ terms of one sign. Let $d$ be the largest of their sizes, or 1 if that is 0. The head has $n + 2$ columns of its own: $n + 1$ for positions and one for values.
#
# 1. *Gather.* Position $i$ attends to the members of its set $U_i$ with score $L$. If $|U_i| < d$, it also attends to the output position, with score $L + \log(d - |U_i|)$. Since that position holds the bit 0, it counts as $d - |U_i|$ members that are 0. So the mean is $y_i = |x \cap U_i| / d$, where $|x \cap U_i|$ is the number of ones among the bits of $U_i$, and $d$ is the same for all terms of the head.
# 2. *Parity.* The MLP turns $y_i$ into $\chi_{U_i}(x)$. A softmax also gives a little weight to all other positions, its *leak*, so $y_i$ is slightly off. The MLP has a *plateau*, an interval on which it is constant, around each value that $y_i$ should take, so it undoes the effect of the leak.
# 3. *Weigh.* The output position attends to position $i$ with score $L + \log |\hat f(U_i)|$, and the read-out multiplies with $\pm S_h$, where $S_h$ is the sum of the $|\hat f(U_i)|$ of head $h$. Positions without a term are made to hold the value 1, so that what they add to the output is known and can be subtracted.
#
# **The idea of the proof.** A softmax never gives the weight 0, so the mean $y_i$ is not exact, and the network must not depend on small errors in it. The plateaus of the MLP make the parities exact. The second softmax gives a known weight to the positions without a term, and their contribution is subtracted in the read-out.
#
# ````{dropdown} Why it is exact
# We follow the three steps and then put the heads together.
#
# *Gather.* In step 1 the other positions have score 0. There are fewer than $n + 1$ of them, so their exponentials add up to at most $n$, whereas those of the $d$ members (the output position counted $d - |U_i|$ times) add up to $d e^L \ge 4dn$. The other positions therefore have a share of less than $\frac n{4dn} = \frac1{4d}$ of the attention.
#
# *Parity.* So $y_i$ is less than $\frac1{4d}$ away from $|x \cap U_i| / d$, inside a plateau of the MLP. A position without a term attends to the output position with score $\log 4dn$. For the same reason its mean is below $\frac1{4d}$, and the MLP makes of it the parity of no ones, $\chi_\emptyset = 1$.
#
# *Weigh.* In step 3 let the head have $k$ terms of sizes $c_1, \dots, c_k$. The other $n + 1 - k$ positions have score 0, so position $i$ gets the share $c_i e^L / (S_h e^L + n + 1 - k)$. The denominator is $S' e^L$ with $S' = S_h + (n + 1 - k) e^{-L}$. So if the read-out multiplies by $S'$, position $i$ contributes exactly $c_i$ times its parity. The read-out has $-S'$ at the positions without a term, which cancels their 1.
#
# *One transformer.* A head reads and writes its own columns only, and so does its block of the MLP. So these are $H$ networks side by side that share no weight: outputs, squared norms and squared gradients add up.
# ````
#
# {numref}`fig-selector-heads` shows the two heads for the selector of the example, at the input 0, 1, 0. In the upper row, head 1 has the sets $\{2\}$, $\{3\}$ and $\{1,2\}$. The first two share their attention between one bit and the output position *out*, and the third between two bits. In the lower row, head 2 has the single set $\{1,3\}$, and its other positions are idle. On the right the three sets of head 1 get equal shares of its second attention, because their coefficients have the same size. The single set of head 2 gets two thirds, and the idle positions share the rest.

# %% tags=["parameters"]
n_max = 9  # longest strings on which all inputs are tried [6..10]
draws = 4  # random functions of each kind [2..10]
depth = 3  # of the decision trees [2..4]
far = 40  # bits of the long strings, where only formulas can go [40..60]
seed = 0  # of the random functions [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import functools
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from bookkit.moving import Axis, Frame, moving
from helpers import cube
from helpers.rng import Rng, f64
from papers.beyond import signed
from papers.sharper import gradients, pac_bayes, rivals
from papers.sharper import network as sharper
from papers.sharper.tabulated import gradient_bound

ledger, source = Ledger("beyond/every_function"), Rng(seed)
generator = source.generator
claim = ledger.result("beyond.signed")

# %%
chosen, second, third = cube.bits(3).T
selector = 1 - 2 * torch.where(chosen == 0, second, third).double()
heads = signed.deal(signed.from_table(selector))
spec, weights = signed.construct(signed.from_table(selector))

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The two heads of the selector at the input 0, 1, 0; the darker a cell, the more attention. Left, attention 1: each row is a position, the columns are the bits and the output position *out*. Sets smaller than the degree of their head attend to *out* for the members that they lack; so do positions without a set. Right, what the MLP makes of the means, and the share of attention 2 that each position gets.", "name": "fig-selector-heads"}, "image": {"alt": "Two rows of panels, one for each head. Left, heat maps of attention with four rows. In head 1 the rows of the sets with one member share their attention between that bit and the output position, the row of the set with two members between two bits. In head 2 the first row attends to bits 1 and 3 and the others to the output position. Right, bars of the share of attention 2, each with the value plus or minus one that the MLP wrote."}} tags=["hide-input"]
fig, axes = figures.new(2, 2, height=4.4, width_ratios=[1.15, 1])
for h, head in enumerate(heads):
    own = {name: value[h] for name, value in weights.items()}
    _, inside = sharper.forward(spec, own, torch.tensor([[0, 1, 0]]), intermediates=True)
    names = ["{" + ",".join(map(str, cube.members(m))) + "}" for m in head.masks.tolist()]
    names += ["idle"] * (spec.n + 1 - len(names))
    ax = axes[h, 0]
    ax.imshow(inside["attention1"][0], cmap="Blues", vmin=0, vmax=1.1, aspect="auto")
    for i, row in enumerate(inside["attention1"][0].tolist()):
        for j, v in enumerate(row):
            ax.text(j, i, f"{v:.2f}", ha="center", va="center", fontsize=8,
                    color="white" if v > 0.6 else "black")  # fmt: skip
    ax.set_xticks(range(4), ["1\n(0)", "2\n(1)", "3\n(0)", "out\n(0)"])
    ax.set_yticks(range(4), names)
    ax.set(title=f"head {h + 1}: attention 1", xlabel="key (its bit)", ylabel="set of the query")
    ax.grid(visible=False)
    ax, share = axes[h, 1], inside["attention2"][0]
    ax.bar(range(4), share, 0.7, color=figures.COLOURS[h], hatch=("", "///")[h], edgecolor="white")
    for j, (v, p) in enumerate(zip(share.tolist(), inside["parities"][0].tolist(), strict=True)):
        ax.text(j, v + 0.03, f"{p:+.0f}", ha="center", fontsize=9)
    ax.set_xticks(range(4), names)
    ax.set(title="attention 2, with the MLP's values", ylabel="share", ylim=(0, 1.05))
figures.show()

# %% mystnb={"code_prompt_hide": "Moving figure", "code_prompt_show": "Moving figure"} tags=["hide-input", "nbval-ignore-output"]
sets = [
    "{" + ",".join(map(str, cube.members(m))) + "}" for head in heads for m in head.masks.tolist()
]


def adds(first, last):
    """What each set of the two heads adds to the output, when bit 2 is 0."""
    bits, parts = torch.tensor([[first, 0, last]]), torch.zeros(2, len(sets)).double()
    for h, at in enumerate((slice(3), slice(3, 4))):  # the places of the sets of each head
        own = {name: value[h] for name, value in weights.items()}
        _, inside = sharper.forward(spec, own, bits, intermediates=True)
        parts[h, at] = (inside["attention2"] * (inside["Z"] @ own["v2"]))[0, : len(sets[at])]
    return Frame(
        f"Bits {first}, 0, {last}: bit 1 selects bit {3 if first else 2}, which is "
        f"{last if first else 0}. The parts add up to {parts.sum():+.0f}.",
        bars={f"head {h + 1}": (list(range(1, 5)), parts[h].tolist()) for h in range(2)},
    )


moving(
    "selector",
    {"bit 1": [0, 1], "bit 3": [0, 1]},
    adds,
    (
        Axis("set", 0.4, len(sets) + 0.6, ticks=dict(enumerate(sets, 1))),
        Axis("added to the output", -0.6, 0.6),
    ),
    caption="What each set of the selector adds to the output; bit 2 is 0. Three parts of head 1 and one of head 2, "
    "half each: three agree and one does not.",
    alt="Four bars of length one half, up or down. Three point the way of the answer, one against it.",
    start=(1, 1),
)

# %% [markdown]
# ## Every input
#
# Is the network really exact? A single input at which it differs from its function would refute the theorem. So we draw functions of four kinds, at every length up to {glue:text}`n_max`, and try all inputs:
#
# * votes with random weights;
# * decision trees of depth {glue:text}`depth`;
# * a coin for each of the $2^n$ inputs;
# * real values, since $f$ need not be Boolean.
#
# The rounding error of a sum with $\sum_U |\hat f(U)| \le 2^{n/2}$ stays below $10^{-12}$, so any larger difference would be an error of the network. Two broken variants show that both parts of the construction are needed. In *no filling* no position attends to the output position, so that small sets average over too few members, and in *no signs* all heads are read with a plus.


# %%
def vote(n):
    """The sign of a weighted sum of the bits and a constant, with normal weights."""
    weights = source.normal(n + 1)
    return torch.where(cube.points(n).double() @ weights[:n] + weights[n] < 0, -1.0, 1.0).double()


def tree(n, left, depth):
    """Questions to the bits ``left``, none twice on a path, and a coin at each leaf."""
    if depth == 0:
        return (1 - 2 * torch.randint(2, (1,), generator=generator)).double().expand(2**n)
    k = int(torch.randint(len(left), (), generator=generator))
    sides = [tree(n, left[:k] + left[k + 1 :], depth - 1) for _ in range(2)]
    return torch.where(cube.bits(n)[:, left[k]] == 1, sides[1], sides[0])


KINDS = {
    "vote": vote,
    f"tree, depth {depth}": lambda n: tree(n, list(range(n)), depth),
    "coin": lambda n: 1 - 2 * torch.randint(2, (2**n,), generator=generator).double(),
    "real values": lambda n: source.normal(2**n),
}


def error(spec, weights, values, n):
    """Largest difference from f, over all inputs."""
    return (signed.forward(spec, weights, cube.bits(n)) - values).abs().max().item()


# %%
found, longest = [], {}
for n in range(5, n_max + 1):
    for name, draw in KINDS.items():
        for _ in range(draws if n <= 8 else 1):
            values = draw(n)
            f = signed.from_table(values)
            spec, weights = signed.construct(f)
            unfilled = weights["WKQ1"].clone()
            unfilled[..., n] = 0
            plus = weights["v2"] * weights["v2"][:, -1:].sign()
            row = {"error": error(spec, weights, values, n)}
            if n == 6:
                row["no filling"] = error(spec, weights | {"WKQ1": unfilled}, values, n)
                row["no signs"] = error(spec, weights | {"v2": plus}, values, n)
            found.append({"function": name} | row)
        longest[name] = f, spec, weights
errors = pd.DataFrame(found).groupby("function", sort=False)
table(
    errors.max().assign(drawn=errors.size()),
    f"Functions of 5 to {n_max} bits: largest error (broken variants at 6 bits)",
    tiny=1e-12,
    form=".3f",
)

# %% mystnb={"code_prompt_hide": "Two checks", "code_prompt_show": "Two checks"} tags=["hide-input"]
worst = errors.max().max()
for broken in ("no filling", "no signs"):
    claim.holds(
        f"largest error at any input, over all functions; control: {broken}",
        worst["error"],
        at_most=1e-12,
        control=worst[broken],
        about="ours",
        evidence="proved",
    )
glue(n_max=n_max, depth=depth, functions=len(found))

# %% [markdown]
# The table shows that the network is exact on all inputs of every function that we drew, up to rounding, and that both broken variants are far off.
#
# ## What it costs
#
# How large is the network, and how sharp? Two numbers enter the first paper's bound:
#
# * the squared norm $N$ of all weights;
# * the sharpness $G = \mathbb E_x \|\nabla_\theta f_\theta(x)\|^2$, the mean squared gradient of the output $f_\theta$ with respect to the weights $\theta$, which is half the trace of the Hessian of the loss, because the network fits exactly.
#
# Both numbers are sums over the heads. Let head $h$ have $k$ terms with coefficients of sizes $c_1, \dots, c_k$, their sum $S$, degree $d$, and $S' = S + (n + 1 - k) e^{-L}$.
#
# ```{prf:proposition} ours
# :label: beyond-signed-cost
# With $\Lambda_i = |L + \log c_i|$, $\Lambda$ the largest of them, $h_d = 4(d+1)(1 + \frac 3{4d})^2$, and $M(d) = 4(d+1) + \|b\|^2 + 16 d^2 (d+1)$ for an MLP with biases $b$,
#
# $$\begin{aligned} N &\le \sum_h \Bigl[ 1 + M(d) + L^2 \sum_i |U_i| + k (L + \log d)^2 + (n + 1 - k) \log^2(4dn) + \sum_i \Lambda_i^2 + (n + 2 - k) S'^2 \Bigr], \\ \|\nabla_\theta f_\theta(x)\|^2 &\le \sum_h \Bigl[ 2 + S'^2 \Bigl( 4 + 32 d^2 (d+1) + h_d \bigl( 1 + n - k + \sum_i \Lambda_i^2 + (1 + \Lambda)^2 \bigr) \Bigr) \Bigr] . \end{aligned}$$
# ```
#
# The terms with $d^2 (d+1)$ are the price of the MLP, and those with squared scores, such as $L^2$ and $\Lambda_i^2$, are the price of attention. We regard the network as $H$ separate networks and count only their weights. In one full MLP over all columns there would be further weights, which connect the columns or units of one head to those of another. Their value is zero, and we leave them out, which is a choice. With these weights the norm is the same, but the gradient has entries for them too, in a number of blocks of the order of $H^2$, which the second bound does not cover.
#
# **The idea of the proof.** The norm is a sum over all weights, and we know each of them. The gradient is small because most weights only change the input of the MLP within a plateau, where its output does not change, so only a few blocks contribute.
#
# ````{dropdown} Proof of the two bounds
# We add up the squares of the weights, and then go through the blocks that have a gradient. The first line adds up the weights, with $\log(d - |U_i|) \le \log d$. For the second, all means $y_i$ lie inside plateaus of the MLP, so the values and the first scores have no gradient at all. A unit of the MLP passes on at most $S'$ times its slope $2d$, which gives $16 d^2 (d+1) S'^2$ for the first weights of the MLP and again for $b$. The rows of its second weights that write into position columns act through the second scores, of size $\Lambda_i$, times a mean absolute deviation of at most $S'$; this is the term that {ref}`ch-gradients-and-trace` had to add.
# ````
#
# **What follows.** How do $G$ and $N$ grow with the number $n$ of bits, the sparsity $W$ and the degree $d$? Suppose that $\sum_U \hat f(U)^2 = 1$, as for every Boolean function. By the inequality of Cauchy and Schwarz $S_h^2 \le k \sum_i c_i^2$ for a head with $k \le \min(n, W)$ terms. If we add this up over all heads, the $c_i^2$ add up to 1, so $\sum_h S_h^2 \le \min(n, W)$. This sum is therefore at most $n$, *whatever the sparsity*.
#
# To state orders of magnitude, we exclude tiny coefficients: let all $c_i \ge n^{-a}$ with a fixed $a$, so that $\Lambda$ is of order $\log n$. (Dense Boolean functions can have coefficients of $2^{1-n}$, for which the bounds above have $\Lambda$ of order $n$.) Under this condition the two sizes are
#
# $$\begin{aligned} G &\lesssim \bigl(\min(n, W) + W n^{-5}\bigr) (d^3 + n d \log^2 n) + \frac Wn, \\ N &\lesssim \Bigl(1 + \frac Wn\Bigr)(d^3 + n d \log^2 n) + n \min(n, W) . \end{aligned}$$
#
# The summand $W n^{-5}$ comes from the leak. In a full head $S'$ exceeds $S$ by $e^{-L} \le n^{-2}$, and $S'$ enters squared, which gives $n^{-4}$ for each of about $W / n$ such heads. So this summand matters only where $W$ exceeds $n^6$. Since the squares of the coefficients add up to 1, there are then coefficients below $n^{-3}$. The last term of $N$ is the read-out of heads that are not full. For $W > n$ each further head adds the norm of a whole MLP to $N$.
#
# To check the proposition we compute $N$ and $G$ for the functions of {glue:text}`n_max` bits that we drew and divide them by their bounds. A quotient above 1 would refute the proposition.

# %%
one = cube.SparseFunction(n_max, torch.tensor([3]), f64([1.0]))
longest["one parity"] = one, *signed.construct(one)
rows = {}
for name, (f, spec, weights) in longest.items():
    dealt = signed.deal(f)
    some = cube.bits(n_max)[torch.randperm(2**n_max, generator=generator)[:64]]
    N, G = signed.squared_norm(weights).item(), signed.squared_gradients(spec, weights, some)
    N_bound, G_bound = signed.bounds(n_max, dealt)
    slopes = sum(32 * (h.degree**2 - 1) * (h.degree + 1) * float(w[-1]) ** 2
                 for h, w in zip(dealt, weights["v2"], strict=True))  # fmt: skip
    rows[name] = {
        "W": f.sparsity,
        "heads": len(dealt),
        "N": N,
        "mean G": G.mean().item(),
        "N / bound": N / N_bound,
        "G / bound": G.max().item() / G_bound,
        "N / one head's": N / signed.bounds(n_max, dealt[:1])[0],
        "G / slopes of 2": G.max().item() / (G_bound - slopes),
    }

# %%
cost = pd.DataFrame(rows).T.astype({"W": int, "heads": int}).rename_axis("function")
table(
    cost.iloc[:, :6],
    f"Cost at {n_max} bits, and the share of its bounds",
    form={"N": ".0f", "mean G": ".1f"},
)
for line, control, what in (
    ("N / bound", "N / one head's", "squared norm to its bound; control: the first head's bound"),
    (
        "G / bound",
        "G / slopes of 2",
        "squared gradient to its bound; control: slopes of 2 in place of $2d$",
    ),
):
    claim.holds(
        f"largest ratio of the {what}",
        cost[line].max(),
        at_most=1,
        control=cost[control].max(),
        about="ours",
        evidence="proved",
    )

# %% [markdown]
# All quotients are below 1. In the stored run, at nine bits, the squared norms are above nine tenths of their bound, whereas the squared gradients are below six tenths of theirs, so the bound on the gradient leaves more room. In that run the vote and the coin have hundreds of terms, and the squared norms of their networks are more than a hundred times that of the network for the tree.
#
# **Beside the paper's bounds.** Does the construction really change only constants, as the paper expects? For $W \le n$ terms of one degree and sign the paper's bound on the norm is of order $d^3 + W d \log^2 n$ ({ref}`ch-norms`), and its repaired bound on the gradient is of order $W d^3 + W^2 d \log^2 n$ ({ref}`ch-gradients-and-trace`). The terms of the paper are not characters but the indicators $p_U = \frac12 (1 + \chi_U)$, which are 1 if the parity is even and 0 otherwise. So we write a sum of $W$ indicators as a sum of $W$ characters with half of its coefficients, plus a constant, which is one more term. We divide our bounds for such sums by the paper's bounds, at the paper's 20 bits, its degrees and its four sparsities. All coefficients have the same size, and every second one is negative. The last row of the table has a degree beyond the paper's. If the remark of the paper is right, the quotients stay below a constant as $d$ and $W$ grow.

# %% mystnb={"code_prompt_hide": "Ours over the paper's", "code_prompt_show": "Ours over the paper's"} tags=["hide-input"]
beside, bits = [], 20
for d in (1, 2, 3, 4, 5, 15):
    ours = {"d": d}
    for W in (1, 7, 14, 20):
        f = gradients.flat_function(bits, d, W, source)
        signs = 1 - 2 * (torch.arange(W) % 2).double()
        mixed = cube.SparseFunction(bits, f.masks, signs * f.coefficients, "even_parity")
        N, G = signed.bounds(bits, signed.deal(mixed))
        theirs = gradient_bound(d, W) + sum(gradients.repair_terms(f, 2 * math.log(bits)))
        ours[f"norm, W = {W}"] = float(N / pac_bayes.norm_squared(bits, d, W))
        ours[f"gradient, W = {W}"] = float(G / theirs)
    beside.append(ours)
beside = pd.DataFrame(beside).set_index("d").sort_index(axis=1, key=lambda c: c.str[:1] == "g")
table(beside, f"Our bounds over the paper's, {bits} bits, half of the signs negative", form=".2f")
glue(norm_beyond=beside.loc[15, "norm, W = 20"])
norms, slopes = (beside.loc[:5].filter(like=k) for k in ("norm", "gradient"))
glue(norm_least=norms.min().min(), norm_times=norms.max().max())
glue(sharp_least=slopes.loc[2:].min().min(), sharp_times=slopes.loc[2:].max().max())
glue(first_least=slopes.loc[1].min(), first_most=slopes.loc[1].max())

# %% [markdown]
# Within the paper's degrees, up to 5, the quotients lie between these values:
#
# | bound | degrees | ours over the paper's |
# |:--|:--|:--|
# | norm | 1 to 5 | {glue:text}`norm_least:.1f` to {glue:text}`norm_times:.1f` |
# | gradient | 2 to 5 | {glue:text}`sharp_least:.2f` to {glue:text}`sharp_times:.1f` |
# | gradient | 1 | {glue:text}`first_least:.1f` to {glue:text}`first_most:.1f` |
#
# At degree 1 our bound on the rows that write into position columns is loose. So up to degree 5 each quotient falls with the degree or rises by a few per cent only. Where a quotient rises with the sparsity, it does so slowly, apart from the step from one term to several, at which the second head comes in. This is what the paper expects.
#
# *Larger degrees.* There the bound on the norm of two heads tends to twice the paper's, because two heads have two MLPs: the quotient is {glue:text}`norm_beyond:.1f` at degree 15 and 20 terms. (If we divided the norms of the networks themselves, and not their bounds, the quotient would tend to 4 on long strings. The reason is that an MLP for characters has twice the norm of one for the paper's indicators, where the paper's bound is loose. At degree 15 and 7 terms it is 3.7.)
#
# *Gradients and not bounds.* Quotients of bounds say little about the gradients themselves. In a trial at random inputs the squared gradient of our networks was 0.2 to 0.9 times that of the paper's network on the same sets, and 2.9 times for a single bit.
#
# *Few terms.* The largest quotients are those of a single term. With few terms most positions have no term, and the weights that remove the leak of these positions increase the norm. On long strings this makes our bounds larger by a factor of up to the order of $n / W$. But these larger bounds are due to the exactness of our network, and do not speak against the paper's remark. The remark is not about more than $n$ terms, so what follows for them is ours.
#
# ## Is the certificate worth anything?
#
# How many samples would guarantee that a network like ours is better than a constant? By the *certificate* we mean the PAC-Bayes bound of {ref}`ch-pac-bayes`, which follows from flatness and norm. With training error 0, and with the size of the noise that makes the bound least, it needs about
#
# $$m^* \approx \frac{27\, \Sigma^2\, G N}{4\, q^3}$$
#
# samples to guarantee a risk of $q$, even if its perturbation term is left out. Here $G$ is the sharpness and $N$ the squared norm, as above, and $\Sigma$ is the constant in the bound that says how much the loss can vary. For values $\pm 1$ the squared error lies in $[0, 4]$, which allows $\Sigma = 2$. The risk to beat is $q = 1$, that of a predictor that always outputs 0.
#
# Beside $m^*$ the table has the number of samples that a bound by counting needs (Occam's bound). For this bound one counts the bits that are needed to say which function of a kind one means: at most $n^2$ for a vote, $2^k + (2^k - 1) \log_2 n$ for a tree of depth $k$, and $2^n$ for the coin. There are only $2^n$ inputs, so a bound that needs more samples than that is vacuous, and a value of $m^*$ below $2^n$ would speak for the certificate.

# %%
BITS = {
    "vote": n_max**2,
    f"tree, depth {depth}": 2**depth + (2**depth - 1) * math.log2(n_max),
    "coin": 2**n_max,
    "one parity": math.log2(math.comb(n_max, 2)),
}
needed = functools.partial(pac_bayes.sample_size, subgaussian=2.0, level=1.0)
samples = {}
for name, bits in BITS.items():
    counted = rivals.occam_sample_size(bits * math.log(2), level=1.0, loss_range=4.0)
    flat = needed(*cost.loc[name, ["N", "mean G"]])
    samples[name] = {"flatness, m*": flat, "counting": counted, "inputs": 2**n_max}
for W in (far, 4 * far, 16 * far):
    terms = cube.sparse_function(far, 2, W, generator)
    sign = 1 - 2 * torch.randint(2, (W,), generator=generator).double()
    dealt = signed.deal(cube.SparseFunction(far, terms.masks, sign * terms.coefficients))
    flat = needed(*signed.bounds(far, dealt))
    samples[f"{far} bits, degree 2, {W} terms"] = {"flatness, m*": flat, "inputs": 2.0**far}
samples = pd.DataFrame(samples).T.rename_axis("function")
table(samples, "Samples for a risk below 1 (the last three by the formulas)", form=".2e", none="-")
share = samples["flatness, m*"] / samples["inputs"]
small = functools.partial(pac_bayes.sample_size, subgaussian=0.01, level=1.0)
one_small = small(*cost.loc["one parity", ["N", "mean G"]])
no_divergence = needed(1e-9, cost.loc["one parity", "mean G"])  # as if the norm cost nothing
claim.holds(
    "least ratio of the samples that the bound needs to the $2^n$ inputs there are; "
    "control: the bound without its divergence",
    share[list(BITS)].min(),
    at_least=1,
    control=no_divergence / 2**n_max,
    about="ours",
    evidence="sampled",
)
glue(one_small=one_small)
glue(far=far, worth=share[list(BITS)[:3]].min(), one=share["one parity"])

# %% [markdown]
# At {glue:text}`n_max` bits the certificate is vacuous until there are at least {glue:text}`worth:.0f` times as many samples as there are inputs. The additional heads are not the only reason, since even for a single parity of two bits the factor is about {glue:text}`one:.0f`. ($G$ is here a mean over 64 random inputs, so these numbers are right to about ten per cent. With the paper's $\Sigma = 0.01$, which no proof covers here, the same formula asks for about {glue:text}`one_small:.0f` samples of that parity.)
#
# For functions of few terms, none with a tiny coefficient, the number of inputs grows faster than $m^*$ as the strings become longer, because $G$ and $N$ grow like powers of $n$. With fewer samples than inputs the bound can be below the risk of a constant only where $2^n$ exceeds $27\, N G$, as at {glue:text}`far` bits for degree 2 and few terms. A function drawn by coins has $W$ near $2^n$, and each term adds more than 1 to $N$, so for such a function the bound of this network is vacuous at every length.
#
# ## What would falsify this
#
# The theorem would be false if the network differed from $f$ at some input by more than rounding, and the bounds on its cost if a norm or a gradient exceeded {prf:ref}`beyond-signed-cost`. What we say about the certificate would be false if $m^* < 2^n$ for one of the functions of {glue:text}`n_max` bits. The controls leave out the filling and the signs, compare with the bound of the first head alone, take slopes of 2 in place of $2d$, and leave the KL divergence out of the certificate.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` builds the network for positive coefficients and one degree only, as the paper does, and its plots of the bound never leave that case.
#
# ## What we found
#
# * At the paper's size mixed degrees and signs change constants, as the paper expects; for a single term our network costs more, because it is exact. One part is even easier than the paper says: mixed degrees need no additional head, only attention to a position whose bit is 0, whereas signs need one more head.
# * Sparsity above $n$, an extension of ours, needs $W/n$ heads. The bounds on the norm and on the sharpness both grow with the number of heads: the norm by that of a whole MLP for each head, and the sharpness by 2 for each head as long as heads share no weights. In one full MLP the sharpness would grow faster.
# * So every Boolean function is computed by a shallow transformer, with fewer than $2 + 2^n/n$ heads. For almost none of them does this form of the bound, at this network, ask for fewer samples than there are inputs.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-every-and
#
# *By hand.* Write the AND of three bits, which is $-1$ if all three are 1 and $1$ otherwise, as a sum of characters. How many heads does the theorem give it, and which of its sets attend to the output position, with which scores?
# ```
#
# ```{solution} ex-every-and
# :class: dropdown
#
# The product $\frac18 (1 - \chi_{\{1\}}) (1 - \chi_{\{2\}}) (1 - \chi_{\{3\}})$ is 1 if all three bits are 1 and 0 otherwise, so $f$ is 1 minus twice this product:
#
# $$\begin{aligned} f = \tfrac34 &+ \tfrac14 \bigl( \chi_{\{1\}} + \chi_{\{2\}} + \chi_{\{3\}} + \chi_{\{1,2,3\}} \bigr) \\ &- \tfrac14 \bigl( \chi_{\{1,2\}} + \chi_{\{1,3\}} + \chi_{\{2,3\}} \bigr) . \end{aligned}$$
#
# There are five positive terms and three negative ones, so the theorem gives $\lceil \frac53 \rceil + \lceil \frac33 \rceil = 3$ heads. In the negative head all sets have two members, so no position with a set attends to the output position. The positive terms can be dealt out in several ways. Dealt by size, as in our program, the first positive head has the empty set and two sets of one member; its degree is 1, and the empty set attends with the score $L$. The second has the third set of one member and the set of three; its degree is 3, and the set of one member attends with $L + \log 2$.
# ```
#
# ```{exercise}
# :label: ex-every-majority
#
# *With the computer.* Run the chapter with more functions of each kind, by `python -m bookkit.run beyond/every_function -p draws 10 --out my_run`. Then count the heads that the majority of $n$ bits needs, for odd $n$ up to 9, and compare them with $2 + 2^{n-1}/n$. Is the network exact?
# ```
#
# ```{solution-start} ex-every-majority
# :class: dropdown
# ```
#
# The terms of MAJORITY are the $2^{n-1}$ sets of odd size, with a sign that alternates with $(|U| - 1)/2$.

# %%
answer = {}
for n in (3, 5, 7, 9):
    votes = cube.points(n).sum(-1).sign().double()
    f = signed.from_table(votes)
    heads_needed = len(signed.deal(f))
    answer[n] = {"terms": f.sparsity, "heads": heads_needed, "bound": 2 + 2 ** (n - 1) / n}
    answer[n]["error"] = error(*signed.construct(f), votes, n)
answer = pd.DataFrame.from_dict(answer, orient="index").rename_axis("n")
table(
    answer.astype({"terms": int, "heads": int}),
    "MAJORITY by the theorem",
    form={"bound": ".1f"},
    tiny=1e-12,
)

# %% [markdown]
# For $n = 9$ there are 136 positive and 120 negative terms, hence 30 heads, where the bound is 30.4. So for MAJORITY the number of heads grows exponentially with $n$, although a single head that averages the bits would do the main part of the work. The theorem gives a network for every function, but not the smallest one for each.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-every-sign
#
# *To think about.* A head of one sign is not needed. Show that a second output position, with the bit 1, gives negative terms without an additional head. Is this cheaper?
# ```
#
# ```{solution} ex-every-sign
# :class: dropdown
#
# Let $U$ attend to that position as to one more member. Then the count grows by 1, and the parity changes its sign, so the degree of the head grows by 1 where it was full. The largest part of the MLP's norm is $16 d^2 (d + 1)$. Two heads of degree $d$ cost it twice, whereas one head costs it at $d + 1$, which is less from $d = 4$ on.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The construction that is extended here is from {cite:t}`sharper`; characters and the kinds of functions are in {cite:t}`odonnell2014`.
