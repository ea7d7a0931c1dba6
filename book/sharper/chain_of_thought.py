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
# (ch-chain-of-thought)=
# # Parity, one bit at a time
#
# ```{verdict}
# The construction is right: a transformer that writes one bit after the other computes parity without an error. We ran it on all strings of 1 to 8 and of {glue:text}`n_max` bits, and prove it for all strings. The statements about the bounds are true in part. For an answer in one pass the bound grows exponentially with the length $T$, as stated. For the chain the paper takes the norm of the weights too small. With short codes of the positions and the norm that belongs to them, and at the best noise for each length, the chain's bound grows like $T$ to the power {glue:text}`slope_short:.2f`, and that for one pass like $T$ to the power {glue:text}`slope_one_pass:.2f`.
# ```
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`. **Read** 15 min. **Runs in** 15 s. **Source** printed (construction), quoted (theorems).
#
# **Claim.** A transformer that may write down what it has found so far computes the parity of any number of bits, although each of its steps uses a set of two bits only. The paper compares two bounds on its error at a fixed size of the noise. In one pass the bound grows exponentially with the length, as stated. For the chain the proof assumes that the weights, which all steps share, have the norm of a network for two bits, and this norm is too small. With short codes of the positions, made of random signs, and the right norm, at the best noise, the chain's bound is linear in the length up to a logarithm, whereas the bound for one pass is quadratic.

# %% tags=["parameters"]
n_max = 14  # longest input whose 2**n_max strings are all tried, in bits [6..15]
example = 45  # index of the string of six bits followed step by step [0..63]
T_max = 4096  # longest length of the bounds, in bits; a power of two [1024..1048576]
m = 1e8  # training inputs [1e7..1e12]
Sigma = 0.01  # the constant of the loss that the paper uses [0.005..0.02]
sigma = 1e-3  # the fixed size of a perturbation [0.0005..0.001]
seed = 0  # of the random strings [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from functools import partial
from itertools import product

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.cube import SparseFunction
from helpers.rng import Rng, f64
from helpers.statistics import least_integer
from papers.sharper import chain_of_thought as chain
from papers.sharper.gradients import squared_gradients
from papers.sharper.network import construct, forward
from papers.sharper.tabulated import (
    gradient_bound,
    hessian_at_construction,
    perturbation_term,
)

ledger, rng = Ledger("sharper/chain_of_thought"), Rng(seed)
exact, same_gradient = ledger.result("sharper.cot.exact"), ledger.result("sharper.cot.gradient")
same_hessian = ledger.result("sharper.cot.hessian")
thm7, thm8 = ledger.result("sharper.thm7"), ledger.result("sharper.thm8")
one_pass_growth = ledger.result("sharper.growth.one_pass")
glue(n_max=n_max, strings=2**n_max, m=m, sigma=sigma, T_max=T_max)

# %% [markdown]
# ## Why one should care
#
# Parity is the standard example of a function that a transformer does not learn in one pass, and language models are known to do better if they may write down intermediate results. The paper offers a theoretical reason. In one pass the parity of $T$ bits is a function of degree $T$, and its bounds are large for large degrees. A *chain of thought* adds one bit at a time, so each step is a function of two bits, and the bounds for degree 2 are small. If that is all that matters, a chain turns an exponential bound into a linear one.
#
# But this argument overlooks a cost. All steps use the same weights, so these weights must distinguish $T$ positions, whereas a network for two bits only needs to find two. We ask how much larger this makes the norm, and what is then left of the comparison.
#
# ## Three bits by hand
#
# Bits are 0 and 1, and the *parity* of $x_1, \dots, x_T$ is $x_1 + \dots + x_T$ modulo 2. We take the string 1 0 1. The chain keeps a scratch bit $s_t$, which begins with $s_1 = 0$, and at step $t$ it looks at two bits only, the input bit $x_t$ and the last scratch bit $s_t$:
#
# | step $t$ | $x_t$ | $s_t$ | mean of the two | even? | writes $s_{t+1}$ |
# |:--|:--|:--|:--|:--|:--|
# | 1 | 1 | 0 | $\frac12$ | no | 1 |
# | 2 | 0 | 1 | $\frac12$ | no | 1 |
# | 3 | 1 | 1 | 1 | yes | 0 |
#
# The last bit written, 0, is the parity of the string, which has two ones. Each step needs the mean of two bits, which attention can compute, and a function of that mean whose value is 1 at the means 0 and 1, and 0 at the mean $\frac12$, which an MLP can compute.

# %% [markdown]
# ## The chain at work
#
# ```{prf:proposition} Lintilhac and Shaikh (2026), Appendix G
# :label: sharper-cot
# *(True, but for what it says about the norm; the Hessian is that of the loss.)* Give positions $j$ and $T + j$ the same code. Start with the string $x_1 \dots x_T$ and $s_1 = 0$ at position $T+1$. At step $t$ the last token is at position $T + t$. It attends to $t$ and $T+t$ alike, the MLP for $d = 2$ says whether $x_t + s_t$ is even, and the bit $s_{t+1}$ is written, which is 1 if the output is below $\frac12$. After $T$ steps the last bit written, $s_{T+1}$, is the parity of the string. Each step has the gradients and the Hessian of the network for $d = 2$, and the norm is smaller than the norm of that network.
# ```
#
# In one pass the same parity needs a set of $d = T$ bits. We now follow one string of six bits through a network in which every weight is written by hand.

# %%
codes, weights = chain.construct(6)
x = cube.bits(6)[example]
written, outputs = chain.generate(codes, weights, x[None])
whole = torch.cat((x, x.new_zeros(1), written[0]))
strings = [whole[: 6 + t] for t in range(1, 7)]
inside = [chain.forward(codes, weights, string[None])[1] for string in strings]
means = [i["means"][0, -1].item() for i in inside]

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The chain at work on six bits. One row a step; the cells are the string so far, bits left of the bar, scratch right of it. The darker a cell, the more attention the last token pays it in the first layer.", "name": "fig-chain-steps"}, "image": {"alt": "Six rows of cells that hold zeros and ones. Each row is one cell longer than the one above. In row t the cell of bit t and the last cell are dark, all others almost white."}} tags=["hide-input"]
fig, ax = figures.new(height=2.3)
shares = torch.full((6, 12), torch.nan)
for row, string in enumerate(strings):
    shares[row, : len(string)] = inside[row]["attention1"][0, -1]
    for j, bit in enumerate(string.tolist()):
        colour = "white" if shares[row, j] > 0.3 else "black"
        ax.text(j, row, bit, ha="center", va="center", color=colour)
ax.imshow(figures.gaps(shares), cmap="Blues", vmin=0, vmax=0.6, aspect="auto")
ax.axvline(5.5, color="black", marker="", linestyle="-")
ax.set_yticks(range(6), [f"step {t}" for t in range(1, 7)])
figures.ticks(ax, [2.5, 8.5], ["input bits", "scratch"])
ax.grid(visible=False)
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-input"]
rows = {"string": ["".join(map(str, s.tolist())) for s in strings], "mean": means}
rows |= {"output": outputs[0], "writes": written[0]}
table({"step": range(1, 7)} | rows, "Six steps", form=".4f")
glue(example_bits=" ".join(map(str, x.tolist())))
glue(example_ones=int(x.sum()), answer=int(written[0, -1]))

# %% [markdown]
# In {numref}`fig-chain-steps` each row has two dark cells, the bit of the step and the last token: the last token finds the two tokens with its own code. Their mean is $0$, $\frac12$ or $1$, up to a little that goes to other tokens. The MLP removes this error, and returns 1 for $0$ or $1$ (even) and 0 for $\frac12$ (odd). The string {glue:text}`example_bits` has {glue:text}`example_ones` ones, and the last bit written is {glue:text}`answer`.
#
# ## Every string
#
# **Why the chain is right on every string.** Take one-hot codes, and for both score matrices $L$ times the identity on the $T$ codes, with $L = 2 \log 2T$. At step $t$ two tokens have the code $e_t$, the token of bit $t$ and the last one. Each of them gives tokens of other codes a share of at most $\lambda = \frac{T-1}{e^L + T-1} \le \frac1{17}$ of its attention. In the first layer this share is less than the $\frac18$ that the plateaus of the MLP tolerate, so both tokens write whether $x_t + s_t$ is even. In the second layer the last token reads these two with a share of at least $1 - \lambda$. All values that the MLP writes lie between 0 and 1, so the output is off by at most $\lambda$, which rounding removes. Hence $s_{t+1}$ is right if $s_t$ is, and by induction all bits are right, on every string and at every length.
#
# We also run it, on all strings of a length, and compare every bit with the parity so far; one wrong bit would refute the proposition. As a control, a second network has one entry in each score matrix, for the code of the first step.


# %%
def one_entry(weights):
    """The same network with one non-zero score in each layer, for the first code."""
    scores = torch.zeros_like(weights["WKQ1"])
    scores[0, 0] = weights["WKQ1"][0, 0]
    return weights | {"WKQ1": scores, "WKQ2": scores}


rows = {}
for n in [*range(1, 9), n_max]:
    codes, weights = chain.construct(n)
    wrong, error = chain.errors(codes, weights, cube.bits(n))
    control = chain.errors(codes, one_entry(weights), cube.bits(n))[0] if n <= 8 else None
    rows[n] = 2**n, wrong, error, chain.leak(n), control
columns = ["strings", "bits wrong", "largest error", "λ", "wrong, one entry"]
tried = pd.DataFrame(rows, columns, dtype=object).T.rename_axis("T")
shown = tried.loc[[2, 4, 6, 8, n_max]]
lower = {n: chain.construct(n, 2 * math.log(n)) for n in range(1, 9)}
lower = [chain.errors(*network, cube.bits(n))[0] for n, network in lower.items()]
glue(lower=sum(lower))
table(shown, "The chain on all strings", form=".6f", tiny=1e-12, none="")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
exact.holds(
    f"number of bits that the chain writes wrong on all strings of 1 to 8 and of {n_max} "
    "bits; control: one entry a layer",
    tried["bits wrong"].sum(),
    at_most=0,
    control=tried["wrong, one entry"].sum(),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# No bit is wrong, whereas the network with one entry in each score matrix is wrong on many strings. The scale $2 \log 2T$ is chosen for a string that grows to $2T$ tokens. With $2 \log T$, as in the other networks of the paper, $\lambda$ is below $\frac18$ from 6 bits on, and the number of wrong bits on all strings of 1 to 8 bits is {glue:text}`lower`.
#
# **The gradients.** The paper argues that a step *is* the network for $d = 2$, as far as derivatives go, because the score matrices act through the attention alone. In the limit of large scores this is true of the gradients. The idea of the proof is that the two tokens to which a step attends carry the same value after the MLP, so that no derivative depends on whether the second attention reads one of them or both.
#
# ```{dropdown} Proof
# We compare both networks weight by weight, in the limit in which the scores are so large that the attention of a token goes only to the tokens with its own code. At step $t$ these are the tokens at $t$ and $T + t$, and both attend to the two of them alike. So in both rows the MLP sees the mean bit $\frac12 (x_t + s_t)$, since the value matrix keeps the bit only, and both rows leave the MLP as $(e_t, p)$ with the same value $p$, which the second attention averages. Hence the derivatives with respect to $G$, $b$, the last row of $F$ and the read-out are the same functions of the mean bit, of $p$ and of $\|e_t\| = 1$ as in the network for $d = 2$, which reads one row $(e_1, p)$. The other derivatives are 0 in both: those of the first scores and of $W_V$, since the mean bit lies on a plateau of the MLP; those of the second scores and of the other rows of $F$, since a shift of attention between rows of the same value changes nothing. $\square$
# ```
#
# We check this on numbers: the squared gradient of the output in all weights at every step, for all four pairs of bits, with one-hot codes and with short ones (random signs, {ref}`ch-chain-codes`), against that of the network of {ref}`ch-construction` for one set of two bits.

# %% mystnb={"code_prompt_hide": "Every step, every pair of bits", "code_prompt_show": "Every step, every pair of bits"} tags=["hide-cell"]
n, pairs, gaps, wanted = 5, cube.bits(2), {}, {}
two_bits = SparseFunction(n, torch.tensor([3]), f64([1.0]), "even_parity")
kinds = {"one-hot codes": None, "short codes": chain.sign_codes(n, rng)}
for (name, scale), kind in product({"large": 40.0, "2 log 2T": 2 * math.log(2 * n)}.items(), kinds):
    padded = torch.nn.functional.pad(pairs, (0, n - 2))
    at_rest = squared_gradients(construct(two_bits, scale), padded).sum(axis=1)
    wanted[name] = f64(at_rest.tolist())
    codes, weights = chain.construct(n, scale, kinds[kind])
    for t in range(1, n + 1):
        strings = rng.strings(n + t, 4)
        strings[:, t - 1], strings[:, -1] = pairs.T
        found = chain.squared_gradient(codes, weights, strings)
        gaps[kind, name, t] = (found / wanted[name] - 1).abs().max().item()
gap = pd.Series(gaps).groupby(level=[1, 0]).max().unstack()
codes, weights = chain.construct(n, 40.0)  # a control: the last step finds no pair
no_pair = chain.squared_gradient(codes, one_entry(weights), strings)
no_pair = (no_pair / wanted["large"] - 1).abs().max().item()
caption = f"Squared gradient of a step against the network for d = 2: largest relative gap, T = {n}"
table(gap.rename_axis("scale"), caption, form=".4f", tiny=1e-11)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
same_gradient.holds(
    "large scale of the scores, one-hot and short codes: largest relative distance of a "
    "step's squared gradient from that of the network for $d = 2$; control: one entry a "
    "layer",
    gap.loc["large"].max(),
    at_most=0,
    tol=1e-11,
    control=no_pair,
    about="statement",
    evidence="proved",
)
glue(gap_small=100 * gap.loc["2 log 2T"].max())

# %% [markdown]
# The two agree to rounding in the limit of large scores. At $2 \log 2T$ they are up to {glue:text}`gap_small:.1f` % apart, since attention leaks to other tokens.
#
# **The Hessian of the loss.** The paper says that both networks "have the exact same Hessian" as well. Where the fit is exact, the Hessian of the loss is twice the mean of $\nabla f_\theta \nabla f_\theta^\top$ over the inputs ({ref}`ch-hessian-trace`). Its non-zero eigenvalues therefore depend only on the inner products of the gradients at the four pairs of bits. By the proof above these inner products are the same in both networks: they are functions of the mean bits, of the values $p$, and of the inner product of the code with itself, which is 1. So a step has the same non-zero eigenvalues, and the same sharpness.
#
# The Hessian of the *output* is another matter. In the network for two bits the first attention averages two different codes, and this average has length $\frac1{\sqrt2}$. In a step of the chain both tokens have the same code, so the average is that code, of length 1. The value matrix reads this average, and so second derivatives in which it takes part are larger in the chain. We compute both matrices at every step, with one-hot codes. Eigenvalues of the loss that differ would refute the sentence altogether.


# %% mystnb={"code_prompt_hide": "Both Hessians of a step", "code_prompt_show": "Both Hessians of a step"} tags=["hide-cell"]
def curvatures(output, weights):
    """Norm of the output's Hessian at each pair of bits, largest eigenvalues of the loss's."""
    even, sizes = f64([1.0, 0.0, 0.0, 1.0]), [w.numel() for w in weights.values()]
    of_output = torch.func.hessian(output)(weights)
    of_loss = torch.func.hessian(lambda w: (output(w) - even).square().mean())(weights)
    joined = []
    for found, lead in ((of_output, [4]), (of_loss, [])):
        rows = zip(sizes, found.values(), strict=True)
        rows = [torch.cat([h.reshape(*lead, k, -1) for h in r.values()], -1) for k, r in rows]
        joined.append(torch.linalg.eigvalsh(torch.cat(rows, -2)))
    return joined[0].abs().amax(-1), joined[1][-6:]


spec, at_rest = construct(two_bits, 40.0)
padded = torch.nn.functional.pad(pairs, (0, n - 2))
whole_norm, whole_loss = curvatures(lambda w: forward(spec, w, padded), at_rest)
codes, weights = chain.construct(n, 40.0)
cases = {f"step {t}": (t, weights) for t in range(1, n + 1)} | {
    "one entry": (n, one_entry(weights))
}
rows = {}
for name, (t, w) in cases.items():
    strings = rng.strings(n + t, 4)
    strings[:, t - 1], strings[:, -1] = pairs.T
    norm, loss = curvatures(lambda w, s=strings: chain.forward(codes, w, s)[0], w)
    gaps = (norm / whole_norm - 1).abs(), (loss - whole_loss).abs() / whole_loss.max()
    rows[name] = [g.max().item() for g in gaps] + (norm / whole_norm - 1).tolist()
columns = ["output, norm", "loss, eigenvalues", *(f"norm at {p}" for p in ("00", "10", "01", "11"))]
hessian_gaps = pd.DataFrame(rows, columns).T
caption = f"Hessians of a step against those of the network for d = 2, relative gaps, T = {n}"
table(hessian_gaps.rename_axis("network").reset_index(), caption, form=".4f", tiny=1e-10)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
steps = hessian_gaps.drop("one entry")
same_hessian.holds(
    "Hessian of the loss at a large scale of the scores: largest distance of a step's "
    "eigenvalues from those of the network for $d = 2$, in units of the largest; control: "
    "one entry a layer",
    steps["loss, eigenvalues"].max(),
    at_most=0,
    tol=1e-10,
    control=hessian_gaps["loss, eigenvalues"]["one entry"],
    about="statement",
    evidence="proved",
)
same_hessian.refuted(
    "Hessian of the output at a large scale of the scores: largest relative distance of a "
    "step's operator norm from that of the network for $d = 2$; control: the eigenvalues "
    "for the loss",
    steps["output, norm"].max(),
    at_most=0,
    tol=1e-10,
    control=steps["loss, eigenvalues"].max(),
    about="condition",
    evidence="attained",
)
ends_of = steps[[c for c in steps if c.startswith("norm at")]]
glue(norm_least=100 * ends_of.min().min(), norm_most=100 * ends_of.max().max())
glue(tabulated=hessian_at_construction(n, 2, 1), operator=(whole_norm.max()).item())

# %% [markdown]
# The eigenvalues of the Hessian of the loss agree to rounding at every step. The operator norm of the Hessian of the output is between {glue:text}`norm_least:.1f` % and {glue:text}`norm_most:.1f` % larger than in the network for two bits. So the sentence is true if it speaks of the loss at the exact network, as the words "as for the sharpness" before it suggest. Those words also mention "perturbed gradients". How far noise moves a gradient depends on the Hessian of the output, so of noisy weights the sentence is only approximately true. This enters the bounds through the term $P$, for what noise adds to the sharpness. There the difference does no harm: the norm is {glue:text}`operator:.1f` in the network for two bits, and the authors' notebook bounds it by {glue:text}`tabulated:.0f` on strings of this length.
#
# So the sharpness does not depend on $T$, but the norm of the weights does, because $T$ codes need $T$ scores. How small that norm can be is the subject of {ref}`ch-chain-codes`, which finds that the paper's sentence on the norm is false, and that codes of $O(\log T)$ columns need scores of squared norm $O(\log^3 T)$ only. These two facts are enough for what follows.
#
# ## The two theorems, at a fixed noise
#
# The paper's Theorem 2 bounds the *expected loss* (mean squared error) of a learned network by two numbers of a hand-written network $\theta$ with the same function. One is its squared norm $N = \|\theta\|^2$, or a bound $L(W, d, T)$ on it, and the other is the bound $G_u(W, d)$ on its squared gradient. For a parity of one set, that is $W = 1$, these two bounds are
#
# $$G_u(1, d) = 4 + 4(2 + d + 32d^2 + 32d^3), \qquad L(1, d, T) = 2 + (d + 1)(8 + 16 d^2 + 4 \log^2 T) .$$
#
# Let $m$ be the number of training inputs, $\sigma$ the size of a random perturbation of the weights, and $\Sigma$ a constant that says how much the loss varies. A further term $P$, for what $\sigma$ does to the sharpness, is left out here.
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorems 7, 8 and 16, as quoted
# :label: sharper-thm7
# At fixed $\sigma$, for some regularization, the probability of a wrong answer is at most $e^{E}$.
# * *(Theorem 7; its norm is repaired below.)* Trained on the functions of all steps,
#
#   $$E = \log 4T - \frac m{8 \Sigma^2} + \frac{m \sigma^2}{4 \Sigma^2}\, 2 G_u(1, 2) + \frac{L(1, 2, T)}{2 \sigma^2} .$$
# * *(Theorem 8; its exponent is repaired below, and the growth is true.)* Trained on the parity of all $T$ bits, the last two terms have a factor $T$, and the first is $\log 4$. So the bound grows exponentially with $T$; with the chain, only linearly.
# ```
#
# The formulas are missing in the text that we could read; a public reading note quotes them.
#
# **The growth in one pass.** Theorem 2 itself gives $G_u(1, T)$ and $L(1, T, T)$ in the second case. The proof says that these exceed $T$ times their values at $d = 2$, by growing faster than linearly, and so they do from $T = 4$ on, as one can check with the two formulas: $128\, (T^3 + T^2) + 4T + 12$ against $1556\, T$, and more than $16\, T^3 + 16\, T^2 + 8\, T$ against $T (218 + 12 \log^2 T)$. Two things follow. First, as an upper bound on the probability the quoted exponent is too small: Theorem 2 gives a larger one, so what is quoted does not follow from it. With $G_u(1, T)$ and $L(1, T, T)$ in the exponent Theorem 8 follows as far as Theorem 7 does. Second, the bound with these two grows at least as fast as the quoted one, that is, at least exponentially, which is what the paper needs the theorem for. Both would be refuted by lengths from 4 on at which one of the two is less than $T$ times its value for two bits.


# %%
def quoted_norm(d, T):
    """L(1, d, T)."""
    return 2 + (d + 1) * (8 + 16 * d**2 + 4 * math.log(T) ** 2)


def over_steps(T, d):
    """Both quantities of the exponent at a set of d bits, over T times those at two bits."""
    return gradient_bound(d, 1) / (T * gradient_bound(2, 1)), quoted_norm(d, T) / (
        T * quoted_norm(2, T)
    )


lengths = [2, 3, 4, 5, 8, 16, 64, 1024, 2**20, 2**40]
ratios = pd.DataFrame([over_steps(T, T) for T in lengths], lengths, ["G_u", "L"])
caption = "One pass over T times a step: both quantities of the exponent"
table(ratios.loc[:64].rename_axis("T").reset_index(), caption, form=".2f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
T_20 = 20  # the length of the paper's experiments
at_20 = min(over_steps(T_20, T_20))
thm8.refuted(
    "the smaller of the ratios of $G_u(1, T)$ and $L(1, T, T)$, which Theorem 2 puts into the "
    "exponent, to $T\\, G_u(1, 2)$ and $T\\, L(1, 2, T)$, which are quoted there, at $T = 20$; "
    "control: a set of two bits in place of $T$",
    at_20,
    at_most=1,
    control=max(over_steps(T_20, 2)),
    about="proof",
    evidence="attained",
)
thm8.repaired(
    "with $G_u(1, T)$ and $L(1, T, T)$ in the exponent: least ratio of the two to what is "
    "quoted, for $T = 4$ to $2^{40}$, so that the bound grows at least as fast; control: sets "
    "of two bits in place of PARITY",
    ratios.loc[4:].min().min(),
    at_least=1,
    control=max(max(over_steps(T, 2)) for T in lengths[2:]),
    about="statement",
    evidence="proved",
)
glue(at_20=at_20, T_20=T_20)

# %% [markdown]
# At $T = 2$ and 3 the ratios are below 1, but a growth that begins at $T = 4$ is exponential all the same. At 20 bits, the length of the paper's experiments, both quantities are at least {glue:text}`at_20:.1f` times what is quoted. So Theorem 8 is true in what it says of the growth, and its exponent has to be replaced by the larger one.
#
# How large are the bounds in numbers? To see this, {numref}`fig-chain-core` shows $E$ for one pass, with $G_u(1, T)$ and $L(1, T, T)$, and for three norms of the chain: $L(1, 2, T)$ as quoted, and the norm that the chain really has, with one-hot codes and with short ones.

# %%
NORMS = {
    "as quoted": partial(quoted_norm, 2),
    "one-hot codes": partial(chain.squared_norm, codes="one-hot"),
    "short codes": partial(chain.squared_norm, codes="random signs"),
}
# name: T -> squared norm, squared gradient, steps
NETWORKS = {"one pass": lambda T: (quoted_norm(T, T), gradient_bound(T, 1), 1)} | {
    f"chain, {k}": lambda T, norm=norm: (norm(T), gradient_bound(2, 1), T)
    for k, norm in NORMS.items()
}


# %%
def exponent(norm, gradient, steps, at_a_quarter=False):
    """E, in units of m / 8 Sigma^2: as quoted, or Theorem 2 solved at a loss of 1/4."""
    room = 1 - 4 * sigma**2 * gradient
    room = max(room, 0.0) ** 2 / 4 if at_a_quarter else room
    return 8 * Sigma**2 / m * (math.log(4 * steps) + norm / sigma**2 / 2) - room


def exponents(lengths):
    """E of every network at these lengths."""
    found = {k: [exponent(*network(T)) for T in lengths] for k, network in NETWORKS.items()}
    return pd.DataFrame(found, lengths).rename_axis("T")


MOST = 10**7  # longest length tried


def ends(name, at_a_quarter=False):
    """First length at which the bound of a network is vacuous, at most MOST."""
    network = NETWORKS[name]
    return least_integer(lambda T: MOST <= T or exponent(*network(T), at_a_quarter) >= 0, 2, MOST)


def ends_with_noise(name, degree):
    """The same as quoted, with P in the closed form of the authors' notebook."""
    network = NETWORKS[name]
    return least_integer(
        lambda T: (
            exponent(*network(T)) + 2 * sigma**2 * perturbation_term(T, degree(T), 1, sigma) >= 0
        ),
        2,
        MOST,
    )


last = {name: ends(name) for name in NETWORKS}
solved = {name: ends(name, True) for name in NETWORKS}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The exponent $E$ at a fixed $\\sigma$, in units of $\\frac{m}{8 \\Sigma^2}$. The term $P$ is left out. Below the grey line the bound $e^E$ is below 1; above the line it is vacuous.", "name": "fig-chain-core"}, "image": {"alt": "Against the length on a logarithmic axis, four curves on a vertical axis that is logarithmic in both directions. One pass leaves minus one and crosses zero at about twelve bits. The chain with one-hot codes crosses it at some six hundred bits, with short codes at more than a thousand; as quoted it stays near minus one."}} tags=["hide-input"]
fig, ax = figures.new(height=3.1)
grid = sorted({round(2 ** (k / 2)) for k in range(2, 29)})
for name, E in exponents(grid).items():
    ax.plot(grid, E, label=name, markevery=2)
figures.level(ax, 0.0)
ax.set(xscale="log", xlabel="length $T$ (bits)", ylabel="$E$", ylim=(-1.5, 300))
ax.set_yscale("symlog", linthresh=0.1)
figures.ticks(ax, [4, 16, 64, 256, 1024, 4096, 16384])
fig.legend(ncols=2, loc="outside upper center")
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-cell"]
some = exponents([2, 4, 8, 12, 16, 64, 256, 1024])
table(some, "E, in units of m / 8 Sigma²", form=",.3f")
firsts = pd.DataFrame({"as quoted": last, "Theorem 2 at a loss of 1/4": solved})
firsts = firsts.map(lambda T: f"{T}" if T < MOST else f"above {MOST:,}")
table(firsts.rename_axis("bound"), "First length from which a bound is vacuous")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
rises = exponents(range(2, 65))
rises["of two bits"] = [exponent(quoted_norm(2, T), gradient_bound(2, 1), 1) for T in rises.index]
rises = rises.diff().iloc[1:]  # from bit to bit
least = rises.diff().min() / rises.iloc[0]
one_pass_growth.holds(
    "at fixed $\\sigma$: least change from bit to bit of the rise of the exponent for one "
    "pass, in units of the first rise, for $T = 2$ to 64; control: a set of two bits in "
    "place of $T$",
    least["one pass"],
    at_least=0,
    control=least["of two bits"],
    about="remark",
    evidence="proved",
)
first = firsts.loc[["one pass", "chain, one-hot codes", "chain, short codes"]]
for name, column in zip(("passes", "solved"), first, strict=True):
    for suffix, length in zip(("", "_one_hot", "_short"), first[column], strict=True):
        glue(**{name + suffix: length})
quoted_pass = least_integer(
    lambda T: MOST <= T or exponent(T * quoted_norm(2, T), T * gradient_bound(2, 1), steps=1) >= 0,
    2,
    MOST,
)
glue(quoted_pass=f"{quoted_pass}" if quoted_pass < MOST else f"above {MOST:,}")
glue(noisy_pass=ends_with_noise("one pass", lambda T: T))
glue(noisy_chain=ends_with_noise("chain, as quoted", lambda T: 2))

# %% [markdown]
# Where a curve is below the grey line, the bound is almost 0, and where it is above, the bound is vacuous. With $m =$ {glue:text}`m` and $\sigma =$ {glue:text}`sigma:g` the bound for one pass is vacuous from {glue:text}`passes` bits on. (With the exponent of Theorem 8 as quoted, which is too small, this would be so from {glue:text}`quoted_pass` bits on only.) The chain's bound is vacuous from {glue:text}`passes_one_hot` bits on with one-hot codes, and from {glue:text}`passes_short` on with short ones. With the quoted norm it would remain non-vacuous far longer.
#
# These lengths leave out the term $P$. Its closed form in the authors' notebook is an upper bound that is far above the change of the sharpness that is measured ({ref}`ch-perturbed-sharpness`). With this closed form in the exponent (at $k = T + 1$, see {ref}`ch-perturbed-trace`), the bound for one pass is vacuous from $T =$ {glue:text}`noisy_pass` on, and the chain's bound as quoted from $T =$ {glue:text}`noisy_chain` on. So the quoted theorems give a useful number at $\sigma =$ {glue:text}`sigma:g` only if $P$ is taken from a measurement. (The folded table has a second column, for an exponent that we derive from Theorem 2 ourselves; it is explained under *A missing square*.)
#
# Is the chain's bound linear in $T$ at a fixed $\sigma$, as the paper says? The bound is the sum of $T$ equal bounds for single steps, so it is linear if the bound for a single step is held constant. But as quoted that bound depends on $T$: the norm $L(1, 2, T) = 218 + 12 \log^2 T$ stands in the exponent, over $2\sigma^2$. With it the bound is not linear, and no power of $T$ bounds it ({ref}`ch-chain-codes` has the numbers). With one-hot codes $T \log^2 T$ stands in the exponent, so the chain's bound is exponential too.
#
# ## The best noise for each length
#
# The theorems do not mention it, but one may choose another $\sigma$ for each length. A bit is wrong only if the error of the output is at least $\frac12$, so that the loss is at least $\frac14$. By Markov's inequality a step is wrong with probability at most $4B$, and one of $T$ steps with probability at most $4TB$, where $B = \sigma^2 G_u + \frac{\Sigma}{\sigma} \sqrt{N / m}$ is the bound of Theorem 2 without its small term for the confidence. The least value of this bound over $\sigma$ is
#
# $$B^* = 3 \left( \frac{\Sigma^2\, G_u\, N}{4 m} \right)^{1/3} .$$
#
# In one pass $G_u \approx 128\, T^3$ and $N \approx 16\, T^3$, so $B^*$ grows like $T^2$. For the chain $G_u$ is constant, and so $4TB^*$ depends on the norm alone. The table shows the orders of growth in both settings. At a fixed $\sigma$ the growing term stands in the exponent, so a power of $T$ there makes the bound exponential. At the best $\sigma$ the bound itself is a power of $T$ up to logarithms. The last column shows that power, logarithms included, as it is computed below for the last doubling of the length, up to $T =$ {glue:text}`T_max`.
#
# | bound | fixed $\sigma$: $E$ grows like | best $\sigma$: the bound grows like | power computed |
# |:--|:--|:--|:--|
# | one pass | $T^3$, as quoted $T \log^2 T$ | $T^2$ | {glue:text}`slope_one_pass:.2f` |
# | chain, norm as quoted | $\log^2 T$ | $T \log^{2/3} T$ | {glue:text}`slope_quoted:.2f` |
# | chain, one-hot codes | $T \log^2 T$ | $T^{4/3} \log^{2/3} T$ | {glue:text}`slope_chain:.2f` |
# | chain, short codes | $\log^3 T$ | $T \log T$ | {glue:text}`slope_short:.2f` |


# %%
def best_bound(norm, gradient, steps):
    """4 B* for one step, times the steps."""
    return 4 * steps * 3 * (Sigma**2 * gradient * norm / (4 * m)) ** (1 / 3)


def from_length(name):
    """First length from which a chain has a smaller bound than one pass."""
    chained, whole = NETWORKS[name], NETWORKS["one pass"]
    return least_integer(lambda T: best_bound(*chained(T)) < best_bound(*whole(T)), 2)


def power(network):
    """Power of T in 4 B* times the steps, from T_max / 2 to T_max."""
    return math.log2(best_bound(*network(T_max)) / best_bound(*network(T_max // 2)))


powers = {name: power(network) for name, network in NETWORKS.items()}
log_power = math.log2(math.log(2 * T_max) / math.log(T_max))  # what a factor log 2T adds
linear = {name: power - log_power for name, power in powers.items()}
better = {name: from_length(name) for name in NETWORKS if name != "one pass"}

# %%
below = {name: str(T) for name, T in better.items()}
found = {"power of T": powers, "over log 2T": linear, "below one pass from T =": below}
caption = f"Bounds at the best sigma, from T = {T_max // 2} to {T_max}"
table(pd.DataFrame(found).rename_axis("bound"), caption, form=".3f", none="")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-cell"]
L = 2 * math.log(T_20)  # the scale of the quoted norm
entry = chain.OTHER_BLOCKS + 2 * L**2
norm_ratio = chain.squared_norm(T_20, "one-hot", L) / quoted_norm(2, T_20)
thm7.refuted(
    "ratio of the squared norm of the chain with one-hot codes to the quoted $L(1, 2, T)$ "
    "at $T = 20$, both with scores of $2 \\log T$; control: one entry a layer",
    norm_ratio,
    at_most=1,
    control=entry / quoted_norm(2, T_20),
    about="proof",
    evidence="attained",
)
thm7.repaired(
    "with the norm of codes of $\\lceil 16 \\log T \\rceil$ random signs and the best "
    "$\\sigma$: power of $T$ with which the bound grows, less that of $\\log 2T$; control: "
    "one-hot codes",
    linear["chain, short codes"],
    equals=1,
    tol=0.01,
    control=linear["chain, one-hot codes"],
    about="statement",
    evidence="proved",
)
glue(slope_one_pass=powers["one pass"], slope_chain=powers["chain, one-hot codes"])
glue(slope_short=powers["chain, short codes"], slope_quoted=powers["chain, as quoted"])
glue(better=better["chain, one-hot codes"], better_short=better["chain, short codes"])
glue(norm_ratio=norm_ratio, least_20=min(best_bound(*at(T_20)) for at in NETWORKS.values()))

# %% [markdown]
# The powers agree with the orders of growth. The chain's is {glue:text}`slope_chain:.2f` with one-hot codes and {glue:text}`slope_short:.2f` with short ones, against {glue:text}`slope_one_pass:.2f` for one pass. So for long inputs a chain is better with either kind of codes. It has the smaller bound from $T =$ {glue:text}`better` on with one-hot codes, and from {glue:text}`better_short` on with short ones, but for shorter inputs its bound is the larger one. This is a comparison of growth only. At 20 bits and the best $\sigma$ the least of the four bounds is {glue:text}`least_20:.2f` with the values of this page, and a bound of 1 or more is vacuous. As all four decrease only like $m^{-1/3}$, ten times as many examples reduce them by a factor of 2.2 only.
#
# ## A missing square
#
# The exponent $E$ of the fixed $\sigma$ was taken as quoted, but it is not what we get from Theorem 2. A bit can be wrong only if the loss is at least $\frac14$. If we solve Theorem 2 for its confidence at this loss, we get $-\frac m{2 \Sigma^2} \bigl( \frac14 - \sigma^2 G_u \bigr)^2$ whereas the quoted form has $-\frac m{2 \Sigma^2} \bigl( \frac14 - \sigma^2 G_u \bigr)$. So either a square is missing, or the loss is $\frac12$ there and a term in $\sigma^4$ is dropped. The formulas of the proof are not legible to us. With the square the bounds for one pass, for the chain with one-hot codes and for the chain with short ones become vacuous at {glue:text}`solved`, {glue:text}`solved_one_hot` and {glue:text}`solved_short` bits. Which of the two kinds of codes lasts longer depends on the form of the exponent and on $m$, $\Sigma$ and $\sigma$. How the bounds grow is the same in both forms.
#
# ## What would falsify this
#
# The construction would be refuted by one wrong bit on one string, or by a gradient, or an eigenvalue of the Hessian of the loss, that differs from that of the network for $d = 2$ in the limit. A network with one entry in each score matrix fails in all three ways. The growth that Theorem 8 states would be refuted by a length from 4 on at which one pass has less than $T$ times the $G_u$ or the $L$ of a step, as is the case for sets of two bits in place of $T$. The repaired growth of Theorem 7 would be refuted if, with a logarithm divided out, the power of $T$ were not 1, as with one-hot codes.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The file names of `paullintilhac/boolean_function_sensitivity` (35 Python files, 14 notebooks) show no program for the chain of thought, and we found none in what we read: the hand-written networks and the bounds of `generate_plots.ipynb`, a plotting notebook of 2025. The notebook has the same $G_u$ as this page, but its function for the norm returns a square root, which is then used where $B$ has $N$; the paper's own numbers have $N$ ({ref}`ch-bound-comparison`).
#
# ## What we found
#
# * The chain computes parity on all {glue:text}`strings` strings of {glue:text}`n_max` bits, and on all shorter ones tried. In the limit of large scores each step has the gradients of the network for $d = 2$, and the same Hessian of the loss. The Hessian of the output differs a little.
# * At fixed $\sigma$ the bound for one pass grows exponentially, as stated. The exponent that is quoted is smaller than the one that Theorem 2 gives, which grows like $T^3$. With it and the values of this page the bound is vacuous from {glue:text}`passes` bits on, even if the term $P$ is left out. The chain's bound is linear only if the bound for one step is held constant, that is, its sharpness and its norm, which stands in the exponent.
# * At the best $\sigma$ for each length, which the theorems do not speak of, the bound for one pass grows like $T^2$, and the chain's like $T \log T$ with short codes, like $T^{4/3}$ up to logarithms with one-hot codes.
# * Three steps were taken on trust: that the learned network is as good as the hand-written one; that inputs of different steps of one chain count as independent training inputs; and that, at fixed $\sigma$, the quoted exponent bounds the probability of a wrong answer. Theorem 2, solved at a loss of $\frac14$, gives a weaker exponent, with which the bounds for one pass and for the chain with one-hot codes become vacuous at {glue:text}`solved` and {glue:text}`solved_one_hot` bits; the formulas of this step are not legible.
#
# ```{finding} sharper.thm7
# :title: The chain's bound is linear up to a logarithm, by a larger norm
# :group: proof
#
# **Statement.** As quoted, at fixed $\sigma$, the probability of a wrong answer is at most $4T$ times an exponential of the sharpness and the norm $L(1, 2, T)$ of the network for two bits; in words, the bound grows linearly in $T$.
#
# **Counterexample.** It concerns the norm in the proof: at $T = {glue:text}`T_20`$ and with the same scores of $2 \log T$ the chain with one-hot codes has {glue:text}`norm_ratio:.1f` times $L(1, 2, T)$ as its squared norm. At the best $\sigma$ its bound has the power {glue:text}`slope_chain:.3f` of $T$ at $T = {glue:text}`T_max`$. At fixed $\sigma$ the norm is in the exponent.
#
# **Why.** All steps share the score matrices, which need a score for each of $T$ codes. With one-hot codes their squared norm grows like $T \log^2 T$, and the bound with the cube root of it.
#
# **Repair.** Unit codes of $\lceil 16 \log T \rceil$ random signs: the squared norm is at most $148 + 8 \lceil 16 \log T \rceil L^2$ with $L = 2 \log 2T$. With this norm in the place of $L(1, 2, T)$ the quoted theorem keeps its form, and $4 T B^* = O(T \log T)$ at the best $\sigma$.
#
# **What survives.** With short codes and at the best $\sigma$ the chain's bound is linear up to a logarithm. At the best $\sigma$ it is smaller than that for one pass from $T = {glue:text}`better_short`$ on with short codes, and from {glue:text}`better` on with one-hot codes.
# ```
#
# ```{finding} sharper.thm8
# :title: In one pass Theorem 2 gives a larger exponent than is quoted
# :group: proof
#
# **Statement.** As quoted, at fixed $\sigma$ and in one pass, the probability of a wrong answer is at most 4 times an exponential in which the sharpness and the norm of the network for two bits are multiplied by $T$; in words, the bound grows exponentially.
#
# **Counterexample.** It concerns the exponent: at $T = {glue:text}`T_20`$ both quantities that Theorem 2 gives, $G_u(1, T)$ and $L(1, T, T)$, are at least {glue:text}`at_20:.1f` times $T\, G_u(1, 2)$ and $T\, L(1, 2, T)$.
#
# **Why.** The proof shows that both quantities grow faster than linearly with the degree. This is an estimate of the bound from below, which is what its growth asks for, whereas an upper bound on the probability needs the larger quantities.
#
# **Repair.** With $G_u(1, T)$ and $L(1, T, T)$ in the exponent the theorem follows as far as Theorem 7 does.
#
# **What survives.** The growth is exponential, and even faster than with the quoted exponent, so the comparison with the chain becomes stronger.
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-chain-scale
#
# *By hand.* From which scale $L = c \log 2T$ on is the chain certain to be right at $T = 10$?
# ```
#
# ```{solution} ex-chain-scale
# :class: dropdown
#
# It is enough that $\lambda \le \frac18$, that is $e^L \ge 7 (T - 1)$, which means $c \ge 1.39$ at $T = 10$.
# ```
#
# ```{exercise}
# :label: ex-chain-small-scale
#
# *With the computer.* First run the chapter on all strings of 15 bits, by `python -m bookkit.run sharper/chain_of_thought -p n_max 15 --out my_run`, and see whether any bit is wrong. Then ask whether the condition of the last exercise, which is sufficient, is also necessary: run the chain on all strings of 10 bits with smaller scales, and count the wrong bits.
# ```
#
# ```{solution-start} ex-chain-small-scale
# :class: dropdown
# ```

# %%
smaller = {"scale over log 2T": [1.4, 1.2, 1.0, 0.8, 0.6, 0.4]}
runs = [
    chain.errors(*chain.construct(10, c * math.log(20)), cube.bits(10))
    for c in smaller["scale over log 2T"]
]
smaller |= {"bits wrong": [wrong for wrong, _ in runs], "largest error": [off for _, off in runs]}
table(smaller, "The chain of 10 bits with small scores", form=".3f")

# %% [markdown]
# The chain is still right somewhat below 1.39, because $\lambda$ bounds the leak for the least favourable string, and a mean may leave its plateau by a little before the output crosses $\frac12$. At smaller scales many errors appear at once, because a wrong scratch bit affects all later steps.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-chain-larger-steps
#
# *To think about.* Let a step take $b$ input bits and the scratch bit, so that the chain has $\frac Tb$ steps of degree $d = b + 1$. How does the bound at the best $\sigma$ depend on $b$, if the MLP dominates the norm, and which $b$ is best?
# ```
#
# ```{solution} ex-chain-larger-steps
# :class: dropdown
#
# For large $d$ both $G_u$ and the norm of the MLP are of order $d^3$, so $B^*$, which grows like $(G_u N)^{1/3}$, is of order $d^2$. With $\frac Tb$ steps the bound is of order $\frac Tb (b + 1)^2$, which is about $Tb$. So small steps are best, and the best is $b = 1$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Construction and theorems are from {cite:t}`sharper`.
