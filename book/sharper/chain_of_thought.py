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
# A transformer that writes bit after bit computes the parity of every string, as the paper says. But its two bounds on the error probability do not follow as quoted, because a confidence over training sets is used as a probability of error and the chain's norm is larger than the paper says. What does follow grows like a power of the length: at the best noise, without the term for what noise adds to the sharpness, this power, from {glue:text}`T_half` to {glue:text}`T_max` bits, is {glue:text}`slope_short:.2f` for the chain with short codes of the positions, and {glue:text}`slope_one_pass:.2f` for one pass.
# ```
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`. **Read** 23 min. **Runs in** 15 s. **Source** printed (construction), quoted (theorems).
#
# **Claim.** A transformer that may write down what it has found so far computes the parity of any number of bits, although each of its steps uses a set of two bits only. The paper compares two bounds on its error at a fixed size of the noise. The formulas that it compares grow as it says, exponentially with the length $T$ in one pass, and linearly with the chain if a step's bound counts as constant. But they do not follow from its Theorem 2, for two reasons.
#
# * *Confidence and error.* Theorem 2 bounds the mean error of a learned network with a certain confidence, and the proof uses this confidence as if it were the probability of a wrong answer.
# * *The norm.* The proof assumes that the weights, which all steps of the chain share, have the norm of a network for two bits, and this norm is too small.
#
# Besides, the Hessian of a step's output differs a little from that of the network for two bits.
#
# What can be saved? By Markov's inequality Theorem 2 still gives bounds on the probability. Each position has a *code*, a vector by which attention finds it, and there are $T$ of them; one-hot codes have $T$ columns, short codes of the order of $\log T$ only. Let $P$ be the term of Theorem 2 for what noise adds to the sharpness. Without $P$, and with the right norm for short codes made of random signs, the chain's bound is linear in the length up to logarithms. The bound for one pass is cubic at a fixed noise and quadratic at the best one. The powers in the card are for the best noise at each length; with $P$, as in the authors' notebook, both are larger by nearly 1.
#
# Two things are taken on trust on this page: that the learned network is as good as the hand-written one, and that inputs of different steps of one chain count as independent training inputs.

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
from scipy.optimize import minimize_scalar

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.cube import SparseFunction
from helpers.rng import Rng, f64
from helpers.statistics import least_integer
from papers.sharper import chain_of_thought as chain
from papers.sharper.gradients import squared_gradients
from papers.sharper.network import construct, forward, parity_values, trapezoid
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
glue(n_max=n_max, strings=2**n_max, m=m, sigma=sigma, Sigma=Sigma, T_max=T_max)

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
# The last bit written, 0, is the parity of the string, which has two ones. Each step needs the mean of two bits, which attention can compute, and a function of that mean, which an MLP can compute. Its value says whether the two bits have an even sum: it is 1 at the means 0 and 1, and 0 at the mean $\frac12$. The bit that is written is 1 where this value is 0.

# %% [markdown]
# ## The chain at work
#
# The paper's Appendix G builds a transformer that does the same on every string:
#
# ```{prf:proposition} Lintilhac and Shaikh (2026), Appendix G
# :label: sharper-cot
# Give positions $j$ and $T + j$ the same code. Start with the string $x_1 \dots x_T$ and $s_1 = 0$ at position $T+1$. At step $t$ the last token is at position $T + t$. It attends to $t$ and $T+t$ alike, the MLP for $d = 2$ says whether $x_t + s_t$ is even, and the bit $s_{t+1}$ is written, which is 1 if the output is below $\frac12$. After $T$ steps the last bit written, $s_{T+1}$, is the parity of the string. Each step has the gradients and the Hessian of the network for $d = 2$, and the norm is smaller than the norm of that network.
# ```
#
# All of this is true except for the last words, on the norm, and with "the Hessian" read as the Hessian of the loss. In one pass the same parity needs a set of $d = T$ bits. We now follow one string of six bits through a network in which every weight is written by hand.

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
glue(example_error=(outputs[0] - (1 - written[0])).abs().max().item())

# %% [markdown]
# In {numref}`fig-chain-steps` each row has two dark cells, the bit of the step and the last token, because the last token finds the two tokens with its own code. Their mean is $0$, $\frac12$ or $1$, up to a little that goes to other tokens. The MLP removes this error, since it is constant near these three means, and returns 1 for $0$ or $1$ (even) and 0 for $\frac12$ (odd). The output is still off by up to {glue:text}`example_error:.3f`, because the second attention, too, gives a little to other tokens. Rounding removes this second error, so that the written bit is right. The string {glue:text}`example_bits` has {glue:text}`example_ones` ones, and the last bit written is {glue:text}`answer`.
#
# ## Every string
#
# **Why the chain is right on every string.** The idea is that the last token finds only two tokens with its own code, and that all others together get too little attention to change a bit. Take one-hot codes, and for both score matrices $L$ times the identity on the $T$ codes, with $L = 2 \log 2T$. At step $t$ two tokens have the code $e_t$, the token of bit $t$ and the last one. Each of them gives tokens of other codes a share of at most $\lambda = \frac{T-1}{e^L + T-1} \le \frac1{17}$ of its attention. This small share enters in both layers:
#
# * *First layer.* The share is less than the $\frac18$ that the plateaus of the MLP tolerate, so both tokens write whether $x_t + s_t$ is even.
# * *Second layer.* The last token reads these two with a share of at least $1 - \lambda$. All values that the MLP writes lie between 0 and 1, so the output is off by at most $\lambda$, which rounding removes.
#
# Hence $s_{t+1}$ is right if $s_t$ is, and by induction all bits are right, on every string and at every length.
#
# We also run the chain, on all strings of 1 to 8 and of {glue:text}`n_max` bits, and compare every bit with the parity so far; one wrong bit would refute the proposition. As a control, a second network has one entry in each score matrix, for the code of the first step.


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
# We check this on numbers. At every step, and for all four pairs of bits, we compare the squared gradient of the output in all weights with that of the network of {ref}`ch-construction` for one set of two bits. The codes are one-hot, or short ones of random signs ({ref}`ch-chain-codes`). A difference at large scores would refute the sentence.

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
# The Hessian of the *output* is another matter. In the network for two bits the first attention averages two different codes, and this average has length $\frac1{\sqrt2}$. In a step of the chain both tokens have the same code, so the average is that code, of length 1. The value matrix reads this average, and so second derivatives in which the value matrix takes part are larger in the chain. We compute both matrices at every step, with one-hot codes. Eigenvalues of the loss that differ would refute the sentence altogether.


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
other_pair = SparseFunction(n, torch.tensor([1 + 2 ** (n - 1)]), f64([1.0]), "even_parity")
other_spec, elsewhere = construct(other_pair, 40.0)
apart = torch.cat((pairs[:, :1], padded[:, 2:], pairs[:, 1:]), 1)
moved = curvatures(lambda w: forward(other_spec, w, apart), elsewhere)[0]
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
    "step's operator norm from that of the network for $d = 2$; control: the same network "
    "for two other bits",
    steps["output, norm"].max(),
    at_most=0,
    tol=1e-10,
    control=(moved / whole_norm - 1).abs().max().item(),
    about="condition",
    evidence="attained",
)
ends_of = steps[[c for c in steps if c.startswith("norm at")]]
glue(norm_least=100 * ends_of.min().min(), norm_most=100 * ends_of.max().max())
glue(tabulated=hessian_at_construction(n, 2, 1), operator=(whole_norm.max()).item())

# %% [markdown]
# The eigenvalues of the Hessian of the loss agree to rounding at every step. The operator norm of the Hessian of the output is between {glue:text}`norm_least:.1f` % and {glue:text}`norm_most:.1f` % larger than in the network for two bits. So the sentence is true if it speaks of the loss at the exact network, as the words "as for the sharpness" before it suggest.
#
# Those words also mention "perturbed gradients". How far noise moves a gradient depends on the Hessian of the output, so of noisy weights the sentence is only approximately true. This difference enters the bounds through the term $P$, for what noise adds to the sharpness. There it does no harm: the norm is {glue:text}`operator:.1f` in the network for two bits, and the authors' notebook bounds it by {glue:text}`tabulated:.0f` on strings of this length.
#
# So the sharpness does not depend on $T$, but the norm of the weights does, because $T$ codes need $T$ scores. How small that norm can be is the subject of {ref}`ch-chain-codes`, which finds that the paper's sentence on the norm is false, and that codes of $O(\log T)$ columns need scores of squared norm $O(\log^3 T)$ only. These two facts are enough for what follows.
#
# ## The two theorems, at a fixed noise
#
# The paper's Theorem 2 bounds the *expected loss* (mean squared error) of a learned network by two numbers of a hand-written network $\theta$ with the same function. One is its squared norm $N = \|\theta\|^2$, or a bound $L(W, d, T)$ on it, and the other is the bound $G_u(W, d)$ on its squared gradient. For a parity of one set, that is $W = 1$, these two bounds are
#
# $$G_u(1, d) = 4 + 4(2 + d + 32d^2 + 32d^3), \qquad L(1, d, T) = 2 + (d + 1)(8 + 16 d^2 + 4 \log^2 T) .$$
#
# (Here $L(W, d, T)$ is the paper's name for a bound on the squared norm. The scale $L$ of the scores, above, is another number.) Let $m$ be the number of training inputs, $\sigma$ the size of a random perturbation of the weights, and $\Sigma$ a constant that says how much the loss varies. A further term $P$, for what the noise adds to the sharpness, stands beside $G_u$. We leave it out below, in formulas and in numbers, except where we say so.
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorems 7, 8 and 16, as quoted
# :label: sharper-thm7
# At fixed $\sigma$, for some regularization, the probability of a wrong answer is at most $e^{E}$.
# * (Theorem 7.) Trained on the functions of all steps,
#
#   $$E = \log 4T - \frac m{8 \Sigma^2} + \frac{m \sigma^2}{4 \Sigma^2}\, \bigl( 2 G_u(1, 2) + P \bigr) + \frac{L(1, 2, T)}{2 \sigma^2} .$$
# * (Theorem 8.) Trained on the parity of all $T$ bits, the last two terms have a factor $T$, and the first is $\log 4$. So the bound grows exponentially with $T$; with the chain, only linearly.
# ```
#
# The formulas are missing in the text that we could read, and a public reading note quotes them. Both theorems have a gap in their proofs, which the next section shows. What they say of the growth is true of the formulas (for the chain, if a step's bound counts as constant), as the section after that shows.
#
# ## A confidence is not a probability of error
#
# The proof begins with Theorem 2 and goes on in words that are legible. A bit is wrong only if the error of the output is at least $\frac12$, so that the loss is at least $\frac14$. Then Markov's inequality is used, the bound is set equal to a number, and the equation is solved. The paper calls the result "a simpler form of the upper bound which approximates the above".
#
# What can have been solved? Theorem 2 says that, with confidence $1 - \delta$ over training sets, the mean loss is at most
#
# $$\sigma^2 G_u + \frac{\Sigma}{\sigma} \sqrt{\frac{N + 2 \sigma^2 \log \frac1\delta}{m}} .$$
#
# If we set this equal to a value $\ell$ and solve for $\delta$, then
#
# $$\log \delta = - \frac{m}{\Sigma^2} \frac{(\ell - \sigma^2 G_u)^2}{2} + \frac{N}{2 \sigma^2} .$$
#
# For $\ell = \frac12$ the square is $(\ell - \sigma^2 G_u)^2 = \frac14 - \sigma^2 G_u + \sigma^4 G_u^2$, so that, without the term in $\sigma^4$,
#
# $$\log \delta = - \frac m{8 \Sigma^2} + \frac{m \sigma^2}{4 \Sigma^2} \cdot 2 G_u + \frac N{2 \sigma^2} .$$
#
# This is the quoted exponent of one step, apart from the constant $\log 4$ that Markov's inequality brings. (The term $P$, which stands beside $G_u$ in Theorem 2, has half its weight in the quoted form.) For $\ell = \frac14$ one would have to leave out the square: the quoted form has $\frac14 - \sigma^2 G_u$ where the formula has $\bigl(\frac14 - \sigma^2 G_u\bigr)^2$.
#
# But $\delta$ is the probability that the training set was a bad one, and not the probability that an answer is wrong. A mean loss of $\frac14$ does not limit the number of wrong answers. The constant output $\frac12$ shows this: its loss is $\frac14$ at every input, whatever the training set, and rounding it is no better than guessing. So neither of the two values of $\ell$ leads to a bound on the probability of a wrong answer.
#
# No other value of $\ell$ makes $\delta$ itself such a bound. For $\ell < \frac14$ a bound does follow, but a larger one: with probability $1 - \delta$ over the training set an answer is wrong with probability at most $4 \ell$, so over training set and string it is wrong with probability at most $4 \ell + \delta$. The first term does not vanish as $m$ grows. What follows from Theorem 2, with confidence $1 - \delta$, is Markov's inequality for the mean loss. By this inequality a step is wrong with probability at most $4B$, and one of $T$ steps with probability at most $4TB$, where
#
# $$B = \sigma^2 G_u + \frac{\Sigma}{\sigma} \sqrt{\frac Nm}$$
#
# is the bound of Theorem 2 without $P$ and without the small term with $\delta$. At a fixed $\sigma$ neither $4B$ nor $4TB$ is ever less than $4 \sigma^2 G_u(1, 2)$, which is {glue:text}`floor:.4f` at $\sigma =$ {glue:text}`sigma:g`, however many training inputs there are. The quoted bound $e^E$, in contrast, tends to 0 as $m$ grows. For example, take $m =$ {glue:text}`m`, $\Sigma =$ {glue:text}`Sigma` and $T =$ {glue:text}`T_20`. For the chain the logarithm of the quoted bound is then {glue:text}`quoted_log`, whereas $4TB$ is {glue:text}`markov_chain:.2f`, which is vacuous. A bound of Theorem 2 that was below the quoted one would refute what we say here.
#
# ## How the quoted bounds grow
#
# **The growth in one pass.** We compare the formula with what Theorem 2 would put into it. In one pass Theorem 2 has $G_u(1, T)$ and $L(1, T, T)$, and the quoted form has $T$ times their values for two bits. The proof says that the former exceed the latter, because they grow faster than linearly. This is so from $T = 4$ on, as one can check with the two formulas. For these $T$
#
# $$\begin{aligned} G_u(1, T) &= 128\, (T^3 + T^2) + 4T + 12 > 1556\, T = T\, G_u(1, 2), \\ L(1, T, T) &> 16\, T^3 + 16\, T^2 + 8\, T > T\, (218 + 12 \log^2 T) = T\, L(1, 2, T) . \end{aligned}$$
#
# Two things follow. First, as an upper bound the quoted exponent is too small even if one grants the step from a confidence to a probability, since Theorem 2 gives a larger exponent. Second, the formula with the larger two grows at least as fast as the quoted one, that is, at least exponentially, which is what the paper needs the theorem for. The growth would be refuted by a length from 4 on at which one of the two is less than $T$ times its value for two bits.


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
ratios = pd.DataFrame([over_steps(T, T) for T in lengths], lengths, ["$G_u$", "$L(1, d, T)$"])
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
one_pass_growth.holds(
    "with $G_u(1, T)$ and $L(1, T, T)$ in the exponent: least ratio of the two to what is "
    "quoted, for $T = 4$ to $2^{40}$, so that the formula grows at least as fast; control: "
    "sets of two bits in place of PARITY",
    ratios.loc[4:].min().min(),
    at_least=1,
    control=max(max(over_steps(T, 2)) for T in lengths[2:]),
    about="remark",
    evidence="proved",
)
glue(at_20=at_20, T_20=T_20)

# %% [markdown]
# At $T = 2$ and 3 the ratios are below 1, but a growth that begins at $T = 4$ is exponential all the same. At 20 bits, the length of the paper's experiments, both quantities are at least {glue:text}`at_20:.1f` times what is quoted. So the formula of Theorem 8 grows as the paper says.
#
# How large are the quoted bounds in numbers? To see this, {numref}`fig-chain-core` shows the exponent $E$ for one pass, with $G_u(1, T)$ and $L(1, T, T)$, and for three norms of the chain: $L(1, 2, T)$ as quoted, and the norm that the chain really has, with one-hot codes and with short ones. An exponent above 0 makes the bound $e^E$ vacuous.

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
def exponent(norm, gradient, steps):
    """E as quoted, in units of m / 8 Sigma^2."""
    room = 1 - 4 * sigma**2 * gradient
    return 8 * Sigma**2 / m * (math.log(4 * steps) + norm / sigma**2 / 2) - room


def markov(norm, gradient, steps, deviation=sigma, noise=0.0):
    """4 B times the steps: what Theorem 2 says of a wrong answer; the noise is P."""
    root = Sigma / deviation * math.sqrt(norm / m)
    return 4 * steps * (deviation**2 * (gradient + noise) + root)


def exponents(lengths):
    """E of every network at these lengths."""
    found = {k: [exponent(*network(T)) for T in lengths] for k, network in NETWORKS.items()}
    return pd.DataFrame(found, lengths).rename_axis("T")


MOST = 10**7  # longest length tried


def ends(name, is_vacuous):
    """First length at which a bound of a network is vacuous, at most MOST."""
    network = NETWORKS[name]
    return least_integer(lambda T: MOST <= T or is_vacuous(*network(T)), 2, MOST)


def added(T, steps, deviation=sigma):
    """P in the closed form of the authors' notebook, for one pass or for a step of the chain."""
    return perturbation_term(T, T if steps == 1 else 2, 1, deviation)


def ends_with_noise(name):
    """The same for the quoted bound with P."""
    network = NETWORKS[name]

    def is_vacuous(T):
        sizes = network(T)
        return exponent(*sizes) + 2 * sigma**2 * added(T, sizes[2]) >= 0

    return least_integer(is_vacuous, 2, MOST)


last = {name: ends(name, lambda *sizes: exponent(*sizes) >= 0) for name in NETWORKS}
useful = {name: ends(name, lambda *sizes: markov(*sizes) >= 1) for name in NETWORKS}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The quoted exponent $E$ at a fixed $\\sigma$, in units of $\\frac{m}{8 \\Sigma^2}$, on an axis that is logarithmic in both directions from 0. The term $P$ is left out. Below the grey line $e^E$ is below 1; above the line it is vacuous.", "name": "fig-chain-core"}, "image": {"alt": "Against the length on a logarithmic axis, four curves on a vertical axis that is logarithmic in both directions. One pass leaves minus one and crosses zero at about twelve bits. The chain with one-hot codes crosses it at some six hundred bits, with short codes at more than a thousand; as quoted it stays near minus one."}} tags=["hide-input"]
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
firsts = pd.DataFrame({"as quoted": last, "Theorem 2 and Markov": useful})
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
words = "passes", "passes_quoted", "passes_one_hot", "passes_short"
for name, word in zip(NETWORKS, words, strict=True):
    glue(**{word: firsts["as quoted"][name], f"{word}_2": firsts["Theorem 2 and Markov"][name]})
chained, whole, unit = NETWORKS["chain, as quoted"](T_20), NETWORKS["one pass"](T_20), m / 8
quoted_whole = T_20 * chained[0], T_20 * chained[1], 1  # of Theorem 8
for theorem, sizes, quoted in ((thm7, chained, chained), (thm8, whole, quoted_whole)):
    floor, quoted_log = 4 * sigma**2 * sizes[1], exponent(*quoted) * unit / Sigma**2
    theorem.refuted(
        "logarithm of $4 \\sigma^2 G_u$, below which Theorem 2 and Markov's inequality bring no "
        "probability of a wrong bit at this $\\sigma$, over the quoted bound, $T = 20$; control: "
        "over $4TB$ in place of the quoted bound",
        math.log(floor) - quoted_log,
        at_most=0,
        control=math.log(floor / markov(*sizes)),
        about="proof",
        evidence="attained",
    )
floor, quoted_log = 4 * sigma**2 * chained[1], exponent(*chained) * unit / Sigma**2
glue(floor=floor, quoted_log=f"{quoted_log:.2e}", markov_chain=markov(*chained))
quoted_pass = least_integer(
    lambda T: MOST <= T or exponent(T * quoted_norm(2, T), T * gradient_bound(2, 1), steps=1) >= 0,
    2,
    MOST,
)
glue(quoted_pass=f"{quoted_pass}" if quoted_pass < MOST else f"above {MOST:,}")
glue(noisy_pass=ends_with_noise("one pass"), noisy_chain=ends_with_noise("chain, as quoted"))

# %% [markdown]
# Where a curve is below the grey line, the quoted bound is almost 0, and where it is above, the bound is vacuous. The curve of one pass crosses the line first, then the chain with one-hot codes and the chain with short ones. With $m =$ {glue:text}`m`, $\Sigma =$ {glue:text}`Sigma` and $\sigma =$ {glue:text}`sigma:g`, and without the term $P$, the formulas are vacuous
#
# * in one pass from {glue:text}`passes` bits on, and with the exponent of Theorem 8 as quoted, which is smaller, from {glue:text}`quoted_pass` bits on only;
# * with the chain from {glue:text}`passes_one_hot` bits on with one-hot codes, from {glue:text}`passes_short` on with short ones, and far later with the quoted norm.
#
# With $P$ in the closed form of the authors' notebook the formulas are vacuous much earlier: that for one pass from $T =$ {glue:text}`noisy_pass` on, and the chain's as quoted from $T =$ {glue:text}`noisy_chain` on (at $k = T + 1$, see {ref}`ch-perturbed-trace`). But this closed form is an upper bound that is far above the change of the sharpness that is measured ({ref}`ch-perturbed-sharpness`).
#
# Is the chain's formula linear in $T$, as the paper says? It is the sum of $T$ equal bounds for single steps, so it is linear if the bound for a single step is held constant. But as quoted that bound depends on $T$: the norm $L(1, 2, T) = 218 + 12 \log^2 T$ stands in the exponent, over $2\sigma^2$. With it the formula is not linear, and no power of $T$ bounds it ({ref}`ch-chain-codes` has the numbers). With one-hot codes $T \log^2 T$ stands in the exponent, so the chain's formula is exponential too.
#
# ## What follows from Theorem 2
#
# We now ask how fast the bound grows that does follow, $4TB$ for the chain and $4B$ for one pass. In one pass $G_u \approx 128\, T^3$ and $N \approx 16\, T^3$, with $N$ the squared norm as before. For the chain $G_u$ is constant, so its bound depends on the norm and on the number of steps alone.
#
# *At a fixed noise.* Both bounds are powers of $T$ up to logarithms, because nothing of them stands in an exponent.
#
# *At the best noise.* One may also choose $\sigma$ for each length, which the theorems do not do. The least value over $\sigma$ is
#
# $$B^* = 3 \left( \frac{\Sigma^2\, G_u\, N}{4 m} \right)^{1/3} .$$
#
# In one pass $B^*$ grows like $T^2$. The table has all orders of growth, and its last column shows how short the lengths are at which the bounds are below 1 with the values of this page.
#
# | bound | order, fixed $\sigma$ | order, best $\sigma$ | vacuous at the fixed $\sigma$ |
# |:--|:--|:--|:--|
# | one pass | $T^3$ | $T^2$ | from {glue:text}`passes_2` bits on |
# | chain, one-hot codes | $T^{3/2} \log T$ | $T^{4/3} \log^{2/3} T$ | from {glue:text}`passes_one_hot_2` on |
# | chain, short codes | $T \log^{3/2} T$ | $T \log T$ | from {glue:text}`passes_short_2` on |
# | chain, norm as quoted, which is too small | $T \log T$ | $T \log^{2/3} T$ | from {glue:text}`passes_quoted_2` on |
#
# At this fixed noise all four bounds are vacuous from {glue:text}`passes_quoted_2` bits on or earlier, the chains with their true norm even earlier than one pass. So the table compares growth, and not usefulness.
#
# Now we compute the powers for the last doubling of the length, from {glue:text}`T_half` to {glue:text}`T_max` bits, logarithms included. A power far from its order would speak against the table above. In the next table
#
# * "over log 2T" is the power at the best noise if $\log 2T$ is divided out;
# * "with P" has $P$ in the closed form of the authors' notebook beside $G_u$, again at the best noise for each length;
# * the last column is the length from which a chain has the smaller bound.


# %%
def best_bound(norm, gradient, steps):
    """4 B* for one step, times the steps."""
    return 4 * steps * 3 * (Sigma**2 * gradient * norm / (4 * m)) ** (1 / 3)


def from_length(name):
    """First length from which a chain has a smaller bound than one pass."""
    chained, whole = NETWORKS[name], NETWORKS["one pass"]
    return least_integer(lambda T: best_bound(*chained(T)) < best_bound(*whole(T)), 2)


def best_with_noise(norm, gradient, steps, T):
    """The same with P beside the squared gradient; sigma on a logarithmic scale."""
    at = partial(markov, norm, gradient, steps)
    found = minimize_scalar(
        lambda u: math.log(at(math.exp(u), added(T, steps, math.exp(u)))), bounds=(-40, 0)
    )
    return math.exp(found.fun)


def power(of):
    """Power of T with which a function of it grows, from T_max / 2 to T_max."""
    return math.log2(of(T_max) / of(T_max // 2))


powers, fixed, noisy = {}, {}, {}
for name, at in NETWORKS.items():
    powers[name] = power(lambda T, at=at: best_bound(*at(T)))
    fixed[name] = power(lambda T, at=at: markov(*at(T)))
    noisy[name] = power(lambda T, at=at: best_with_noise(*at(T), T))
log_power = math.log2(math.log(2 * T_max) / math.log(T_max))  # what a factor log 2T adds
linear = {name: power - log_power for name, power in powers.items()}
better = {name: from_length(name) for name in NETWORKS if name != "one pass"}

# %%
below = {name: str(T) for name, T in better.items()}
found = {"power of T": powers, "over log 2T": linear, "with P": noisy, "fixed sigma": fixed}
found |= {"below one pass from T =": below}
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
    "Theorem 2 and Markov's inequality without $P$, at the best $\\sigma$, with the norm of codes "
    "of $\\lceil 16 \\log T \\rceil$ random signs: power of $T$ with which the bound grows, less "
    "that of $\\log 2T$; control: one-hot codes",
    linear["chain, short codes"],
    equals=1,
    tol=0.01,
    control=linear["chain, one-hot codes"],
    about="statement",
    evidence="proved",
)
thm8.repaired(
    "Theorem 2 and Markov's inequality without $P$, $\\sigma$ fixed: power of $T$ with which the "
    "bound for one pass grows; control: a set of two bits in place of $T$",
    fixed["one pass"],
    equals=3,
    tol=0.1,
    control=power(lambda T: markov(quoted_norm(2, T), gradient_bound(2, 1), 1)),
    about="statement",
    evidence="proved",
)
for name, word in zip(NETWORKS, ("one_pass", "quoted", "chain", "short"), strict=True):
    glue(**{f"slope_{word}": powers[name], f"fixed_{word}": fixed[name]})
glue(noisy_one_pass=noisy["one pass"], noisy_quoted=noisy["chain, as quoted"])
glue(noisy_chain_codes=noisy["chain, one-hot codes"], noisy_short=noisy["chain, short codes"])
glue(T_half=T_max // 2)
glue(better=better["chain, one-hot codes"], better_short=better["chain, short codes"])
glue(norm_ratio=norm_ratio, least_20=min(best_bound(*at(T_20)) for at in NETWORKS.values()))

# %% [markdown]
# The powers agree with the orders of growth, and for long inputs a chain is better with either kind of codes. Without $P$ the powers are
#
# | bound | at the best noise | at the fixed noise |
# |:--|--:|--:|
# | chain, one-hot codes | {glue:text}`slope_chain:.2f` | {glue:text}`fixed_chain:.2f` |
# | chain, short codes | {glue:text}`slope_short:.2f` | {glue:text}`fixed_short:.2f` |
# | one pass | {glue:text}`slope_one_pass:.2f` | {glue:text}`fixed_one_pass:.2f` |
#
# Three remarks belong to them:
#
# * *With $P$ as tabulated* all powers rise by nearly 1, and the order of the two remains: {glue:text}`noisy_chain_codes:.2f` and {glue:text}`noisy_short:.2f` against {glue:text}`noisy_one_pass:.2f`. With the quoted norm, which is too small, the chain's power would be {glue:text}`slope_quoted:.2f` at the best noise, {glue:text}`fixed_quoted:.2f` at the fixed one and {glue:text}`noisy_quoted:.2f` with $P$.
# * *Short inputs.* The chain has the smaller bound from $T =$ {glue:text}`better` on with one-hot codes, and from {glue:text}`better_short` on with short ones, but for shorter inputs its bound is the larger one.
# * *Size.* This is a comparison of growth only. At 20 bits and the best $\sigma$ the least of the four bounds is {glue:text}`least_20:.2f` with the values of this page, even without $P$, and a bound of 1 or more is vacuous. As all four decrease only like $m^{-1/3}$, ten times as many examples reduce them by a factor of 2.2 only.
#
# ## What we found
#
# * *Construction.* The chain computes parity on all {glue:text}`strings` strings of {glue:text}`n_max` bits, and on all shorter ones tried. In the limit of large scores each step has the gradients of the network for $d = 2$, and the same Hessian of the loss. The Hessian of the output differs a little.
# * *The quoted bounds* on the probability of a wrong answer do not follow from Theorem 2. Their exponent is the logarithm of the confidence $\delta$ with which the mean loss is below $\frac12$, and such a loss allows all answers to be wrong.
# * *Their growth.* As formulas they grow as the paper says. At a fixed $\sigma$ the one for one pass grows exponentially. The one for the chain is linear only if the bound for one step is held constant, that is, its sharpness and its norm, which stands in the exponent.
# * *What follows from Theorem 2*, by Markov's inequality, is a power of $T$ for both. Without the term $P$ it is $T^3$ for one pass at a fixed noise and $T^2$ at the best one. For the chain with short codes it is $T$ up to logarithms in both cases. With $P$ as tabulated the powers at the best noise are {glue:text}`noisy_one_pass:.2f` and {glue:text}`noisy_short:.2f`. With the values of this page both bounds are vacuous from {glue:text}`passes_2` bits on or earlier.
#
# ```{finding} sharper.thm7
# :title: A confidence is used as a probability of error, and the norm is too small
# :group: proof
#
# **Statement.** As quoted, at fixed $\sigma$, the probability of a wrong answer is at most $4T$ times an exponential of the sharpness and the norm $L(1, 2, T)$ of the network for two bits; in words, the bound grows linearly in $T$.
#
# **Counterexample.** It concerns the proof. The exponential is the confidence $\delta$ with which Theorem 2 keeps the mean loss below $\frac12$, up to a term in $\sigma^4$ and with half of the weight of $P$. The constant output $\frac12$ has a smaller mean loss on every training set, and is a guess. As a number, take $\Sigma =$ {glue:text}`Sigma` as in the paper, and $m =$ {glue:text}`m:.0e` and $\sigma =$ {glue:text}`sigma:g`, which are our choice. At $T =$ {glue:text}`T_20` and without $P$ the quoted bound is then $e^E$ with $E =$ {glue:text}`quoted_log`, whereas Theorem 2 and Markov's inequality never give less than {glue:text}`floor:.4f` for a single step. Besides, with the same scores of $2 \log T$ the chain with one-hot codes has {glue:text}`norm_ratio:.1f` times $L(1, 2, T)$ as its squared norm.
#
# **Why.** A bound on the mean loss that holds with probability $1 - \delta$ over training sets bounds the probability of a wrong answer by four times the mean loss, and not by a multiple of $\delta$. As for the norm, all steps share the score matrices, which need a score for each of $T$ codes. With one-hot codes their squared norm grows like $T \log^2 T$.
#
# **Repair.** With confidence $1 - \delta$ the probability is at most $4T$ times the bound of Theorem 2. For unit codes of $\lceil 16 \log T \rceil$ random signs the squared norm is at most $148 + 8 \lceil 16 \log T \rceil L^2$ with $L = 2 \log 2T$. With it, and without $P$, the bound is $O(T \log^{3/2} T)$ at a fixed $\sigma$ and $O(T \log T)$ at the best one.
#
# **What survives.** With short codes, and without the term $P$, the chain's bound is linear up to logarithms. At the best $\sigma$ it is smaller than that for one pass from $T = {glue:text}`better_short`$ on with short codes, and from {glue:text}`better` on with one-hot codes. With $P$ as tabulated it grows like $T$ to the power {glue:text}`noisy_short:.2f`.
# ```
#
# ```{finding} sharper.thm8
# :title: In one pass, too, a confidence is used as a probability of error
# :group: proof
#
# **Statement.** As quoted, at fixed $\sigma$ and in one pass, the probability of a wrong answer is at most 4 times an exponential in which the sharpness and the norm of the network for two bits are multiplied by $T$; in words, the bound grows exponentially.
#
# **Counterexample.** It concerns the proof, which takes the same step as that of Theorem 7. Moreover, at $T = {glue:text}`T_20`$ both quantities that Theorem 2 gives, $G_u(1, T)$ and $L(1, T, T)$, are at least {glue:text}`at_20:.1f` times $T\, G_u(1, 2)$ and $T\, L(1, 2, T)$, which stand in the quoted exponent.
#
# **Why.** The confidence $\delta$ is a probability over training sets. And the proof shows that both quantities grow faster than linearly with the degree. This is an estimate of the formula from below, which is what its growth asks for, whereas an upper bound on the probability needs the larger quantities.
#
# **Repair.** With confidence $1 - \delta$ the probability is at most four times the bound of Theorem 2. Without $P$ this grows like $T^3$ at a fixed $\sigma$ and like $T^2$ at the best one, and not exponentially.
#
# **What survives.** The quoted formula grows exponentially, and with the quantities of Theorem 2 in the exponent even faster. The comparison with the chain survives as one of powers, $T^3$ against $T$ up to logarithms at a fixed $\sigma$, without $P$.
# ```
#
# ## What would falsify this
#
# * *The construction* would be refuted by one wrong bit on one string, or by a gradient, or an eigenvalue of the Hessian of the loss, that differs from that of the network for $d = 2$ in the limit. A network with one entry in each score matrix fails in all three ways.
# * *The gap in the proofs* of Theorems 7 and 8 would not be one if the quoted bounds were at least as large as the least value that Theorem 2 and Markov's inequality can give.
# * *The growth that Theorem 8 states* would be refuted by a length from 4 on at which one pass has less than $T$ times the $G_u$ or the $L$ of a step, as is the case for sets of two bits in place of $T$.
# * *The repaired growth* would be refuted if the power of $T$ were not 1 for the chain, with a logarithm divided out, and not 3 for one pass.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The file names of `paullintilhac/boolean_function_sensitivity` (35 Python files, 14 notebooks) show no program for the chain of thought, and we found none in what we read: the hand-written networks and the bounds of `generate_plots.ipynb`, a plotting notebook of 2025. The notebook has the same $G_u$ as this page, but its function for the norm returns a square root, which is then used where $B$ has $N$; the paper's own numbers have $N$ ({ref}`ch-bound-comparison`).
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

by_bound, by_weights = [], []  # for the last exercise
for b in (1, 2, 3):
    mlp = trapezoid(parity_values(b + 1, "even_parity"))
    norms = 2 + (b + 2) * (8 + 16 * (b + 1) ** 2), 2 + sum(w.square().sum().item() for w in mlp)
    for values, norm in zip((by_bound, by_weights), norms, strict=True):
        values.append(f"{(gradient_bound(b + 1, 1) * norm) ** (1 / 3) / b:.1f}")
by_bound, by_weights = (f"{x}, {y} and {z}" for x, y, z in (by_bound, by_weights))
glue(by_bound=by_bound, by_weights=by_weights)

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
# For large $d$ both $G_u$ and the norm of the MLP are of order $d^3$, so $B^*$, which grows like $(G_u N)^{1/3}$, is of order $d^2$. With $\frac Tb$ steps the bound is of order $\frac Tb (b + 1)^2$, which is about $Tb$. So small steps are best. Among small $b$ the constants decide. With the paper's bound for the MLP's norm the values of $(G_u N)^{1/3} / b$ for $b = 1, 2, 3$ are {glue:text}`by_bound`, and with the norm of the network's own MLP {glue:text}`by_weights`. So $b = 1$ and $b = 2$ are nearly equal by the paper's bound, and with the network's own norm $b = 2$ is best.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Construction and theorems are from {cite:t}`sharper`.
