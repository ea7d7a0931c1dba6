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
# **Claim.** The first paper's hand-written transformer computes sums of few characters, all of one degree and with positive coefficients, and the paper says that heads could be added to do without these limits, without a change in how the bounds depend on degree and sparsity. We add the heads: every function of $n$ bits is then computed, exactly, at every input, and mixed degrees cost no head at all. For coefficients of equal size the norm grows in proportion to the sparsity, and the sharpness stops growing. So the paper is right about the dependence, as long as no coefficient is tiny. For a dense function the network is large, and the bound asks for more samples than there are inputs.
# **Needs** {ref}`ch-construction` and {ref}`ch-gradients-and-trace`. **Runs in** 20 s. **Source** ours; the remark printed.
#
# Every function $f : \{0, 1\}^n \to \mathbb R$ is a sum of characters, $f = \sum_U \hat f(U)\, \chi_U$, where $\chi_U(x)$ is 1 if the bits of $x$ in $U$ hold an even number of ones, else $-1$. Its *terms* are the sets $U$ with $\hat f(U) \ne 0$; their number $W$ is the sparsity, the largest $|U|$ is the degree $d$. In {ref}`ch-construction` all terms have one size, all coefficients are positive, and $W \le n$, for term $i$ lives at position $i$. Most functions meet none of the three conditions.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), before Section 1 and in Section 4.2
# :label: beyond-signed-remark
# Functions of mixed degree, with coefficients of both signs, are handled by additional heads. This changes the constants in the bounds, but not their dependence on degree and sparsity.
# ```
#
# The paper does not carry this out. Here is one way.
#
# ```{prf:theorem} ours
# :label: beyond-signed
# Let $f$ have $W_+$ positive and $W_-$ negative coefficients. There is a transformer of two attention layers with
#
# $$H = \lceil W_+ / n \rceil + \lceil W_- / n \rceil$$
#
# heads in each, and one MLP between them, that equals $f$ at every input. At the scale $L$ its attention scores are at most $L + \log d$ in the first layer and at most $|L + \log c|$ in the second, with $c$ the size of a coefficient; $L = 2 \log n + O(\log d)$ serves.
# ```
#
# **How it works.** A *head* $h$ takes up to $n$ terms of one sign. Let $d$ be the largest of their sizes. It has a value column of its own.
#
# 1. *Gather.* Position $i$ attends to the members of its set $U_i$ with score $L$. If $|U_i| < d$, it also attends to the output position, with score $L + \log(d - |U_i|)$. That position holds the bit 0. So it counts as $d - |U_i|$ members that are 0, and the mean is $y_i = |x \cap U_i| / d$ with one common $d$. The empty set attends to the output position alone.
# 2. *Parity.* The MLP turns $y_i$ into $\chi_{U_i}(x)$. Its plateaus undo the leak of the softmax, as before.
# 3. *Weigh.* The output position attends to position $i$ with score $L + \log |\hat f(U_i)|$, and the read-out multiplies with $\pm S_h$, where $S_h$ is the sum of the $|\hat f(U_i)|$ of this head. Positions without a term are made to hold 1, and what they add is taken back, as in the repaired network of {ref}`ch-construction`.
#
# The heads share no weight, and the output is the sum of what they read. So squared norms add up over heads, and so do squared gradients.

# %% tags=["parameters"]
n_max = 10  # longest strings on which all inputs are tried [6..10]
n_law = 8  # bits for the laws of cost [7..9]
draws = 4  # random functions of each kind [2..10]
depth = 3  # of the shallower decision trees [2..4]
far = 40  # bits of the long strings, where only formulas can go [40..60]
seed = 0  # of the random functions [0..1000000]

# %% [markdown]
# ## One function, two heads
#
# The *selector* of three bits answers with bit 2 if bit 1 is 0, and with bit 3 if bit 1 is 1. With signs in place of bits it is
#
# $$f = \tfrac12 \bigl(\chi_{\{2\}} + \chi_{\{3\}} + \chi_{\{1,2\}} - \chi_{\{1,3\}} \bigr) :$$
#
# two degrees, two signs, and more terms than bits.

# %%
import math

import torch
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from helpers import cube
from helpers.beyond import boolean_classes, signed
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.kernels.parity import popcount
from helpers.sharper import network as sharper
from helpers.sharper import pac_bayes, rivals
from helpers.statistics import power

ledger = Ledger("beyond/every_function")
generator = torch.Generator().manual_seed(seed)

chosen, second, third = cube.bits(3).T
selector = 1 - 2 * torch.where(chosen == 0, second, third).double()
f = signed.from_table(selector)
heads = signed.deal(f)
spec, weights = signed.construct(f)
for h, head in enumerate(heads, 1):
    sets = ", ".join("{" + ",".join(map(str, cube.members(m))) + "}" for m in head.masks.tolist())
    print(f"head {h}: sign {head.sign:+.0f}, degree {head.degree}, sets {sets}")
print("input   " + "  ".join("".join(map(str, x)) for x in cube.bits(3).tolist()))
print("f       " + "  ".join(f"{v:+3.0f}" for v in selector.tolist()))
outputs = signed.forward(spec, weights, cube.bits(3))
print("network " + "  ".join(f"{v:+3.0f}" for v in outputs.tolist()))
print(f"largest error below 1e-14: {(outputs - selector).abs().max().item() < 1e-14}")

# %% mystnb={"figure": {"caption": "The two heads of the selector at the input 0, 1, 0. Left, attention 1: each row is a position, the columns are the bits and the output position *out*. Sets smaller than the degree of their head attend to *out* for the members that they lack; so do positions without a set. Right, what the MLP makes of the means, and the share of attention 2 that each position gets.", "name": "fig-selector-heads"}, "image": {"alt": "Two rows of panels, one for each head. Left, heat maps of attention with four rows. In head 1 the rows of the sets with one member share their attention between that bit and the output position, the row of the set with two members between two bits. In head 2 the first row attends to bits 1 and 3 and the others to the output position. Right, bars of the share of attention 2, each with the value plus or minus one that the MLP wrote."}} tags=["hide-input"]
x = torch.tensor([[0, 1, 0]])
fig, axes = figures.new(2, 2, height=4.4, width_ratios=[1.15, 1])
for h, head in enumerate(heads):
    own = {name: value[h] for name, value in weights.items()}
    _, inside = sharper.forward(spec.head, own, x, intermediates=True)
    names = ["{" + ",".join(map(str, cube.members(m))) + "}" for m in head.masks.tolist()]
    names += ["idle"] * (spec.n + 1 - len(names))
    ax = axes[h, 0]
    ax.imshow(inside["attention1"][0], cmap="Blues", vmin=0, vmax=1.1, aspect="auto")
    for i, row in enumerate(inside["attention1"][0].tolist()):
        for j, v in enumerate(row):
            colour = "white" if v > 0.6 else "black"
            ax.text(j, i, f"{v:.2f}", ha="center", va="center", fontsize=8, color=colour)
    ax.set_xticks(range(4), ["1\n(0)", "2\n(1)", "3\n(0)", "out\n(0)"])
    ax.set_yticks(range(4), names)
    ax.set(title=f"head {h + 1}: attention 1", xlabel="key (its bit)", ylabel="set of the query")
    ax.grid(visible=False)
    ax = axes[h, 1]
    share = inside["attention2"][0]
    ax.bar(range(4), share, 0.7, color=figures.COLOURS[h], hatch=("", "///")[h], edgecolor="white")
    for j, (v, p) in enumerate(zip(share.tolist(), inside["parities"][0].tolist(), strict=True)):
        ax.text(j, v + 0.03, f"{p:+.0f}", ha="center", fontsize=9)
    ax.set_xticks(range(4), names)
    ax.set(title="attention 2, with the MLP's values", ylabel="share", ylim=(0, 1.05))
figures.show()

# %% [markdown]
# ## Every function, every input
#
# Now the classes of the textbooks, at every length up to {glue:text}`n_max` and on all inputs: votes with random weights; random decision trees of depth {glue:text}`depth` and 5; disjunctions of four conjunctions of three literals; random functions, a coin for each of the $2^n$ inputs; and random real values, for the network does not need $f$ to be Boolean. The rounding error of a sum of at most $2^n$ terms, $\sum_U |\hat f(U)| \le 2^{n/2}$ in all, stays below $10^{-12}$.
#
# Two broken variants show that the parts matter: a network *without the output position's attention*, where small sets average over too few members; and one *without signs*, all heads read with a plus.

# %%
CLASSES = {
    "vote": lambda n: boolean_classes.threshold(n, generator),
    f"tree, depth {depth}": lambda n: boolean_classes.decision_tree(n, depth, generator),
    "tree, depth 5": lambda n: boolean_classes.decision_tree(n, 5, generator),
    "disjunction": lambda n: boolean_classes.dnf(n, 4, 3, generator),
    "random": lambda n: boolean_classes.random_function(n, generator),
    "real values": lambda n: torch.randn(2**n, generator=generator, dtype=torch.float64),
}


def error(spec, weights, table, bits):
    return (signed.forward(spec, weights, bits) - table).abs().max().item()


def without_sink(spec, weights):
    """No position attends to the output position."""
    scores = weights["WKQ1"].clone()
    scores[..., spec.n] = 0
    return weights | {"WKQ1": scores}


exact, sinkless, unsigned, measured = [], [], [], []
for n in range(5, n_max + 1):
    bits = cube.bits(n)
    for name, draw in CLASSES.items():
        for _ in range(draws if n <= n_law else 1):
            table = draw(n)
            f = signed.from_table(table)
            spec, weights = signed.construct(f)
            exact.append(error(spec, weights, table, bits))
            if n == 6:
                sinkless.append(error(spec, without_sink(spec, weights), table, bits))
                plus = weights | {"v2": weights["v2"] * weights["v2"][:, -1:].sign()}
                unsigned.append(error(spec, plus, table, bits))
        if n == n_max:
            measured.append((name, f, spec, weights))
print(f"{len(exact)} functions of 5 to {n_max} bits, all inputs")
print(f"largest error below 1e-12: {max(exact) < 1e-12}")
print(f"without the attention to the output position, least and largest error: "
      f"{min(sinkless):.4f} {max(sinkless):.4f}")  # fmt: skip
print(f"without the signs: {min(unsigned):.4f} {max(unsigned):.4f}")
glue(n_max=n_max, depth=depth, functions=len(exact))

# %% [markdown]
# The heads have weights with an axis of heads, so it may seem that we run $H$ transformers and add their outputs. Written out, they are one: $n + 1$ columns for positions and $H$ value columns, $H$ heads in each layer, and one MLP. We write it out for functions of up to 7 bits and compare.

# %%
apart, swapped = [], []
for n in range(1, 8):
    table = boolean_classes.random_function(n, generator)
    spec, weights = signed.construct(signed.from_table(table))
    wide, bits = signed.as_transformer(spec, weights), cube.bits(n)
    apart.append((signed.run(spec, wide, bits) - table).abs().max().item())
    apart.append(abs((signed.squared_norm(wide) / signed.squared_norm(weights)).item() - 1))
    if spec.heads > 2:
        crossed = wide | {"v2": wide["v2"].roll(1, 0)}
        swapped.append((signed.run(spec, crossed, bits) - table).abs().max().item())
    width, units = wide["F"].shape
    print(f"n = {n}: {spec.heads:2d} heads, {width:2d} columns, {units:3d} hidden units")
print(f"one transformer equals f, and has the norm of the heads, to 1e-12: {max(apart) < 1e-12}")

# %% [markdown]
# ## What it costs
#
# Two numbers enter the first paper's bound: the squared norm $N$ of all weights, and the sharpness $G = \mathbb E_x \|\nabla_\theta f_\theta(x)\|^2$, half the trace of the Hessian. Both have bounds that follow from the construction. Let head $h$ have $k$ terms with coefficients of sizes $c_1, \dots, c_k$, their sum $S$, degree $d$, scale $L$, and $S' = S + (n + 1 - k) e^{-L}$.
#
# ```{prf:proposition} ours
# :label: beyond-signed-cost
# With $\Lambda_i = |L + \log c_i|$, $\Lambda$ the largest of them, $h_d = 4(d+1)(1 + \frac 3{4d})^2$, and $M(d) = 4(d+1) + \|b\|^2 + 16 d^2 (d+1)$ for the MLP,
#
# $$\begin{aligned} N &\le \sum_h \Bigl[ 1 + M(d) + L^2 \sum_i |U_i| + k (L + \log d)^2 + (n + 1 - k) \log^2((4d-1)n) + \sum_i \Lambda_i^2 + (n + 2 - k) S'^2 \Bigr], \\ \|\nabla_\theta f_\theta(x)\|^2 &\le \sum_h \Bigl[ 2 + S'^2 \Bigl( 4 + 32 d^2 (d+1) + h_d \bigl( 1 + n - k + \sum_i \Lambda_i^2 + (1 + \Lambda)^2 \bigr) \Bigr) \Bigr] . \end{aligned}$$
# ```
#
# **Why.** The first line adds up the weights, with $\log(d - |U_i|) \le \log d$. For the second, all means $y_i$ lie on plateaus of the MLP, so the values and the first scores have no gradient at all. A unit of the MLP passes on at most $S'$ times its slope $2d$, which gives $16 d^2 (d+1) S'^2$ for $G$ and again for $b$. The rows of $F$ that write into position columns act through the second scores, of size $\Lambda_i$, times a mean absolute deviation of at most $S'$; this is the term that {ref}`ch-gradients-and-trace` had to add.
#
# **What follows.** Let $\sum_U \hat f(U)^2 = 1$, as for every Boolean function. By Cauchy and Schwarz $S_h^2 \le n \sum_i c_i^2$, so $\sum_h S_h^2 \le n$, *whatever the sparsity*. For orders of size one more condition is needed, that no coefficient is tiny: all $c_i \ge n^{-a}$ with a fixed $a$, so that $\Lambda$ is of order $\log n$. (A coefficient of $10^{-300}$ makes a score of size near 690. Dense Boolean functions can have coefficients of $2^{1-n}$, and the bounds above then have $\Lambda$ of order $n$.) Hence the sharpness is at most of order $n\,(d^3 + n d \log^2 n)$, up to the 2 a head. The norm is of order $(1 + W/n)(d^3 + n d \log^2 n)$. The product, which decides how many samples the bound needs, is of order $W d^6$ while $d^2 \ge n \log^2 n$. For $W \le n$ this is the order of the product of the paper's own bounds on $N$ and $G$.
#
# We test both lines on all functions at hand, and the two statements on dependence with random signs, sets of one size and $|\hat f(U)| = W^{-1/2}$.

# %%
norm_ratio, one_head, sharp_ratio, gentle = [], [], [], []
for name, f, spec, weights in measured:
    dealt = signed.deal(f)
    some = cube.bits(spec.n)[torch.randperm(2**spec.n, generator=generator)[:64]]
    N = signed.squared_norm(weights).item()
    gradients = signed.squared_gradients(spec, weights, some)
    bound = signed.sharpness_bound(spec.n, dealt)
    flat = sum(
        32 * (h.degree**2 - 1) * (h.degree + 1) * float(w["v2"][-1]) ** 2
        for h, w in zip(dealt, [{"v2": v} for v in weights["v2"]], strict=True)
    )
    norm_ratio.append(N / signed.norm_bound(spec.n, dealt))
    one_head.append(N / signed.norm_bound(spec.n, dealt[:1]))
    sharp_ratio.append(gradients.max().item() / bound)
    gentle.append(gradients.max().item() / (bound - flat))
    total = sum(h.sizes.sum().item() ** 2 for h in dealt)
    print(f"{name:14} W {f.sparsity:4d}   d {f.degree:2d}   heads {spec.heads:3d}   "
          f"sum of S_h^2 {total:7.4f}   N {N:11.2f}   G {gradients.mean().item():9.2f}   "
          f"of the bounds {norm_ratio[-1]:.4f} {sharp_ratio[-1]:.4f}")  # fmt: skip

# %%
degrees = [2, 3, 4]
bits = cube.bits(n_law)
law = {}
for d in degrees:
    most = math.comb(n_law, d) // (2 * n_law)
    counts = [k for k in (0.25, 0.5, 1, 2, 3, 4, 6, 8) if k <= most]
    for k in counts:
        W, found = round(2 * n_law * k), []
        for _ in range(draws):
            terms = cube.sparse_function(n_law, d, W, generator)
            signs = torch.ones(W, dtype=torch.float64)
            signs[W // 2 :] = -1
            f = cube.SparseFunction(n_law, terms.masks, signs * W**-0.5)
            spec, weights = signed.construct(f)
            G = signed.squared_gradients(spec, weights, bits).mean().item()
            found.append((signed.squared_norm(weights).item(), G))
        law[d, W] = torch.tensor(found, dtype=torch.float64)


def slope(d, column):
    """Least-squares slope in log W, over full heads: W = 2n and more."""
    full = [(W, v) for (e, W), v in law.items() if e == d and 2 * n_law <= W]
    values = torch.stack([v for _, v in full]).mean(1)
    return power(
        [W for W, _ in full], values.prod(1) if column is None else values[:, column]
    ).item()


wide_degrees = [d for d in degrees if sum(e == d and 2 * n_law <= W for e, W in law) > 1]
print("degree     W        N          G        N G / W")
for (d, W), v in law.items():
    N, G = v.mean(0).tolist()
    print(f"{d:4d}   {W:6d}  {N:10.2f} {G:10.2f}  {N * G / W:12.2f}")
for d in wide_degrees:
    print(
        f"degree {d}: slopes in log W of N, G, N G: {slope(d, 0):.3f} {slope(d, 1):.3f} {slope(d, None):.3f}"
    )

# %% mystnb={"figure": {"caption": "Squared norm $N$ (left) and sharpness $G$ (right) against the number of terms, for terms of one degree, half of them negative, of equal size, with squares that add up to 1. To the left of the dotted line heads are not full. Bars: range over the random functions, mostly smaller than the marks.", "name": "fig-signed-cost"}, "image": {"alt": "Two panels with logarithmic axes, three curves each, for degrees 2, 3 and 4. Left, the norm is level until the dotted line and then rises in proportion to the number of terms. Right, the sharpness rises until the dotted line and is level after it."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.2)
for column, (ax, label) in enumerate(zip(axes, ("squared norm $N$", "sharpness $G$"), strict=True)):
    for i, d in enumerate(degrees):
        own = [(W, v[:, column]) for (e, W), v in law.items() if e == d]
        mid = torch.stack([v.mean() for _, v in own])
        low = mid - torch.stack([v.min() for _, v in own])
        high = torch.stack([v.max() for _, v in own]) - mid
        ax.errorbar(
            [W for W, _ in own],
            mid,
            yerr=torch.stack((low, high)),
            label=f"degree {d}",
            color=figures.COLOURS[i],
            marker=figures.MARKERS[i],
            linestyle=figures.DASHES[i],
        )
    ax.axvline(2 * n_law, color="#9a9a9a", linestyle=":", marker="")
    ax.set(xscale="log", yscale="log", xlabel="terms $W$", ylabel=label)
    for axis, places in ((ax.xaxis, LogLocator(2, (1.0,))), (ax.yaxis, LogLocator(10, (1.0, 3.0)))):
        axis.set_major_locator(places)
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axis.set_minor_formatter(NullFormatter())
axes[0].legend()
figures.show()

# %% [markdown]
# ## Fewer terms a head
#
# Nothing forces a head to be full. With fewer terms in each, there are more heads: the norm rises. And $\sum_h S_h^2$ falls: the sharpness drops. Their product hardly moves.

# %%
terms = cube.sparse_function(n_law, 2, math.comb(n_law, 2), generator)
dealing = []
for per_head in range(1, n_law + 1):
    spec, weights = signed.construct(terms, per_head=per_head)
    N = signed.squared_norm(weights).item()
    G = signed.squared_gradients(spec, weights, bits).mean().item()
    dealing.append(N * G)
    print(
        f"{per_head} a head: {spec.heads:2d} heads   N {N:10.2f}   G {G:8.2f}   N G {N * G:14.1f}"
    )
print(f"largest product over least: {max(dealing) / min(dealing):.2f}")

# %% [markdown]
# ## Is the certificate worth anything?
#
# With training error 0, the PAC-Bayes bound of {ref}`ch-pac-bayes` at its best noise needs about
#
# $$m^* \approx \frac{27\, \Sigma^2\, G N}{4\, q^3}$$
#
# samples to reach a risk of $q$, even if its perturbation term is left out. For values $\pm 1$ the squared error lies in $[0, 4]$, which allows $\Sigma = 2$, and the risk to beat is $q = 1$, that of the constant 0. Beside $m^*$ stands what counting needs: the bits that describe a function within its class, times $\log 2$, in Occam's bound.
#
# | class | bits to describe a member |
# |:--|:--|
# | vote | at most $n^2$ |
# | decision tree of depth $k$ | $2^k + (2^k - 1) \log_2 n$ |
# | four conjunctions of three literals | $4\,(\log_2 \binom n3 + 3)$ |
# | random | $2^n$ |

# %%
DESCRIPTION = {
    "vote": n_max**2,
    f"tree, depth {depth}": 2**depth + (2**depth - 1) * math.log2(n_max),
    "tree, depth 5": 32 + 31 * math.log2(n_max),
    "disjunction": 4 * (math.log2(math.comb(n_max, 3)) + 3),
    "random": 2**n_max,
}
needed = {}
for name, _, spec, weights in measured:
    if name not in DESCRIPTION:
        continue
    G = signed.squared_gradients(spec, weights, cube.bits(n_max)[::8]).mean().item()
    N = signed.squared_norm(weights).item()
    needed[name] = pac_bayes.sample_size(N, G, subgaussian=2.0, level=1.0)
    counting = rivals.occam_sample_size(DESCRIPTION[name] * math.log(2), level=1.0, loss_range=4.0)
    print(f"{name:14} m* {needed[name]:.3e}   by counting {counting:6.0f}   inputs {2**n_max}")
worth = min(needed.values()) / 2**n_max

# %% [markdown]
# At {glue:text}`n_max` bits the bound says nothing until the sample is {glue:text}`worth:.0f` times as large as the cube, at the least. That is not the fault of the additional heads: a single parity needs as much. The bound can be worth something only where $2^n$ exceeds $W d^6$ by a wide margin. At {glue:text}`far` bits, where only the formulas of {prf:ref}`beyond-signed-cost` can go, it does for degree 2. And for a random function $W$ is about $2^n$, so the product is above $2^n$ at every length.

# %%
print(f"{far} bits, degree 2, random signs, W terms: m* by the formulas, and as a share of 2^n")
share_far = []
for W in (far, 4 * far, 16 * far):
    terms = cube.sparse_function(far, 2, min(W, math.comb(far, 2)), generator)
    signs = 1 - 2 * torch.randint(2, (terms.sparsity,), generator=generator).double()
    dealt = signed.deal(cube.SparseFunction(far, terms.masks, signs * terms.coefficients))
    N, G = signed.norm_bound(far, dealt), signed.sharpness_bound(far, dealt)
    m = pac_bayes.sample_size(N, G, subgaussian=2.0, level=1.0)
    share_far.append(m / 2.0**far)
    print(f"W {terms.sparsity:4d}   heads {len(dealt):3d}   m* {m:.3e}   share {share_far[-1]:.5f}")
glue(
    far=far,
    worth=worth,
    n_law=n_law,
    product_spread=max(dealing) / min(dealing),
    norm_slope=max(slope(d, 0) for d in wide_degrees),
    sharp_slope=max(abs(slope(d, 1)) for d in wide_degrees),
)

# %% [markdown]
# ## What would falsify this
#
# An input, of any function tried, at which the network differs from $f$ by more than rounding. A network whose norm or gradient exceeds {prf:ref}`beyond-signed-cost`. For the dependence on sparsity: over full heads, a product $N G$ that does not grow with $W$ to a power near 1, or a sharpness that grows with $W$. For the last section: one function of {glue:text}`n_max` bits with $m^* < 2^n$.
#
# Controls: the network without attention to the output position, and without signs; the one transformer with read-outs moved to the next head; the bound on the norm for the first head alone; the bound on the gradient with slopes of 2 in place of $2d$; the slope of $N$ in place of that of $G$; long strings of degree 2.

# %%
ledger.result("beyond.signed").holds(
    "largest error at any input, all functions; control: no attention to the output position",
    max(exact),
    at_most=1e-12,
    control=max(sinkless),
    about="ours",
    evidence="exhaustive",
)
ledger.result("beyond.signed").holds(
    "largest error at any input, all functions; control: heads read without their signs",
    max(exact),
    at_most=1e-12,
    control=max(unsigned),
    about="ours",
    evidence="exhaustive",
)
ledger.result("beyond.signed").holds(
    "one transformer against the function, and its norm; control: read-outs moved by a head",
    max(apart),
    at_most=1e-12,
    control=max(swapped),
    about="ours",
    evidence="exhaustive",
)
ledger.result("beyond.signed").holds(
    "squared norm over its bound, largest; control: the bound for one head",
    max(norm_ratio),
    at_most=1,
    control=max(one_head),
    about="ours",
    evidence="proved",
)
ledger.result("beyond.signed").holds(
    "squared gradient over its bound, largest; control: slopes of 2 in the bound",
    max(sharp_ratio),
    at_most=1,
    control=max(gentle),
    about="ours",
    evidence="proved",
)
ledger.result("beyond.signed").holds(
    "slope of log(N G) in log W over full heads, distance from 1; control: that of G alone",
    max(abs(slope(d, None) - 1) for d in wide_degrees),
    at_most=0.25,
    control=max(abs(slope(d, 1) - 1) for d in wide_degrees),
    about="ours",
    evidence="attained",
)
ledger.result("beyond.signed").holds(
    "slope of log G in log W over full heads, largest size; control: that of N",
    max(abs(slope(d, 1)) for d in wide_degrees),
    at_most=0.25,
    control=max(abs(slope(d, 0)) for d in wide_degrees),
    about="ours",
    evidence="attained",
)
ledger.result("beyond.signed").holds(
    "samples that the bound needs over inputs there are, least; control: long strings, degree 2",
    worth,
    at_least=1,
    control=share_far[0],
    about="ours",
    evidence="attained",
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` builds the network for positive coefficients and one degree only, as the paper does; its plots of the bound never leave that case.
#
# ## What we found
#
# * The paper's remark is right, as long as no coefficient is tiny, and one part of it is easier than it says: mixed degrees need no head, only attention to a position whose bit is 0.
# * Signs need a head more, and sparsity above $n$ needs $W/n$ heads. Norms grow in proportion (slope at most {glue:text}`norm_slope:.2f` in the log), the sharpness does not (at most {glue:text}`sharp_slope:.2f`).
# * Where $d^2 \ge n \log^2 n$ and no coefficient is tiny, the product $N G$ is of order $W d^6$ however the terms are dealt out: over all ways to fill heads it changed by a factor of {glue:text}`product_spread:.2f`.
# * So every Boolean function is computed by a shallow transformer, with $2^n/n$ heads if it must be, and almost none has a certificate: a random one has $W \approx 2^n$.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# A head of one sign is not needed: show that a second output position, with the bit 1, gives negative terms without an additional head.
# ```

# %% tags=["hide-cell"]
# Let U attend to that position as to one more member: the count grows by 1, the parity flips sign.
# So the degree of the head grows by 1 where it was full. On the selector, d grows from 2 to 3:
for d in (2, 3):
    _, b, F = sharper.trapezoid(sharper.parity_values(d, "character"))
    print(
        f"degree {d}: squared norm of one MLP {(len(b) + b.square().sum() + F.square().sum()).item():.2f}"
    )
# Two heads of degree 2 cost less than one of degree 3 from d = 2 on, for the norm grows as d^3.

# %% [markdown]
# ```{admonition} Exercise 2
# How many heads does the majority of $n$ bits need, for odd $n$? Compare with the bound $2 + 2^{n-1}/n$.
# ```

# %% tags=["hide-cell"]
# Its terms are the odd sets, with a sign that alternates with (|U| - 1)/2.
for n in (3, 5, 7, 9):
    f = signed.from_table(cube.majority(n))
    sizes = popcount(f.masks).unique().tolist()
    print(
        f"n = {n}: degrees {sizes}, {len(signed.deal(f))} heads, bound {2 + 2 ** (n - 1) / n:.2f}"
    )

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The construction that is extended here is from {cite:t}`sharper`; characters and the classes of functions are in {cite:t}`odonnell2014`.
