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
# (ch-sharp-or-curved)=
# # Brittle is not curved, at one point
#
# ```{verdict}
# The conclusion about the Hessian is false at one network: an exact PARITY transformer whose Hessian has the trace {glue:text}`trace_short:.0f` at every length. That network is an exception. If its read-out is tilted by {glue:text}`tilt:g`, which changes no output, the trace is at least {glue:text}`bound_long:.1e` at {glue:text}`long_n` bits, and grows as $n^4$ or faster with the number $n$ of bits.
# ```
# **Needs** {ref}`ch-brittle-transformers`, {ref}`ch-sharpness`. **Read** 5 min. **Runs in** 20 s. **Source** printed.
#
# **Claim.** The paper says of its theorem on brittleness that it entails lower bounds on the trace of the Hessian, and, informally, that the Hessian of the loss at the minimizer has entries without bound as strings grow. At one network they stay bounded: its read-out is exactly parallel to the token that it reads. It is an exception. At every other exact read-out of this network, up to multiples of $(1, \dots, 1)$, which layer norm does not see, the sentence is right, and a formula says how fast the trace grows.
#
# ## The statement
#
# A transformer reads $T_\theta(x) = \langle v, y_n \rangle$ off its last token $y_n \in \mathbb R^d$, which layer norm has given mean 0 and length $\sqrt d$. Before it, layer norm divides by $N_n(x)$, the deviation of the columns of the token; here $\varepsilon = 0$. The loss is $\mathbb E_x (T_\theta(x) - f(x))^2$, the mean over all strings of $n$ bits, and $H$ is its *Hessian*, the matrix of second derivatives in all weights but the encodings of positions. The average sensitivity $\mathrm{as}_n$ is $n$ for PARITY.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 5
# :label: sensitive-thm6-remark
# *(Not at every minimizer.)* Lower bounds on $L_{\rho,n}$, such as Theorem 6, "immediately entail lower bounds on other common sharpness measures, such as worst-case sharpness, and (in the limit $\rho \to 0$) the trace of the loss function's Hessian". "Informally", Theorem 6 says that for $\mathrm{as}_n(T_\theta) \sim n$ tiny steps change the predictions on long inputs. "This means that, as the input gets longer, the Hessian of the mean-squared loss at the minimizer fitting a sensitive function has unboundedly large entries."
# ```
#
# **Where the trace stays.** The PARITY transformer of {ref}`ch-brittle-transformers` has $d = 32$, and its $v$ is parallel to $y_n$ at every input. Its encodings, which contain $\frac in$, $\frac1n$ and $\frac1{n^2}$, depend on $n$. Section 5 allows this: Theorem 6 holds "for families of transformers where weights may depend on n", as long as the constant $C$ of Theorem 4 remains bounded, and it does, since weights are fixed and encodings bounded. So $|T_\theta|$ is as large as it can be: turning $y_n$ by a small angle $\varphi$ changes the output by $\varphi^2 / 2$ only. All weights but $v$ then have gradient 0, kinks of ReLU or not, and $v$ has the gradient $y_n$. The fit is exact, so $\mathrm{tr}\, H = 2\, \mathbb E_x \|\nabla T_\theta\|^2 = 2d = 64$ at every length. No entry of $H$ exceeds its trace.
#
# ```{prf:proposition} A tilted read-out (ours)
# :label: tilt-trace
# Let $\varepsilon = 0$, let $T_\theta = f$ at every input and be differentiable at $\theta$ (else read $\mathrm{tr}\, H$ as the block of the last bias), and let $v_\perp(x)$ be the part of $v$ that is orthogonal to $y_n(x)$ and to $(1, \dots, 1)$. Then
#
# $$\mathrm{tr}\, H \ge 2\, \mathbb E_x \Bigl[ \frac{\|v_\perp(x)\|^2}{N_n(x)^2} \Bigr] .$$ (eq-tilt)
# ```
#
# **Proof.** Where the fit is exact, $H = 2\, \mathbb E_x \nabla T \nabla T^\top$, and its trace is at least that of the block of the last bias $b$. The bias is added behind every ReLU, just before layer norm, so $T$ is smooth in it. The derivative of $z \mapsto \sqrt d\, z_c / \|z_c\|$, with $z_c$ the centred $z$, is the projection off $y_n$ and $(1, \dots, 1)$, divided by $N_n$. So $\nabla_b T = v_\perp / N_n$. $\square$
#
# In the PARITY transformer all $y_n$ lie on one line. Add to $v$ any $v_\perp$ of mean 0 that is orthogonal to it: no output changes, and the network is another exact minimizer of the same loss. But $N_n$ is of order $1/n^2$, so the trace grows at least as $n^4$.

# %% tags=["parameters"]
tilt = 0.001  # length of what is added to the read-out, itself 0.177 long [0.0001..0.1]
long_n = 256  # bits of the longest strings [128..512]
inputs = 32  # random strings where there are more than 256 [8..256]
draws = 60  # random steps at each length [40..400]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube, statistics
from helpers.rng import Rng
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.sensitive.isolation import parity_sharpness
from papers.sensitive.parity import HALF, SIGN, forward, parity_transformer
from papers.sensitive.steps import dimension

ledger, source = Ledger("sensitive/sharp_or_curved"), Rng(seed)
hessian = ledger.result("sensitive.thm6_hessian")
LAST_BIAS = "layers.1.output_bias"
lengths = sorted({4, 8, 16, 32, 64, 128, long_n})

# %% [markdown]
# ## The point and its neighbourhood
#
# We add to the read-out a vector of the given length in two columns that are 0 in $y_n$. The trace is exact for the strings at hand: all of them up to 8 bits, else a random sample.


# %%
def two_columns(length):
    across = torch.zeros(2 * HALF, dtype=torch.float64)
    across[SIGN], across[HALF + SIGN] = length / math.sqrt(2), -length / math.sqrt(2)
    return across


def at_exact(n, across):
    """With this added to the read-out: trace of the Hessian, block of the last bias, E[1/N^2]."""
    x = cube.bits(n) if n <= 8 else torch.randint(0, 2, (inputs, n), generator=source.generator)
    spec, weights = parity_transformer(n)
    weights["readout"] = weights["readout"] + across
    _, seen = forward(spec, weights, x, intermediates=True)
    loss = SquaredLoss(lambda w, x: forward(spec, w, x), x, 1 - 2.0 * (x.sum(1) % 2))
    trace = hessian_trace(loss, weights, without="positions")
    inverse = 1 / seen["layers.1.norm.input"][:, -1].var(-1, correction=0)
    return {
        "trace": trace.value.item(),
        "last bias": trace.blocks[LAST_BIAS].item(),
        "E[1/N^2]": inverse.mean().item(),
    }


# %%
tilts = [0.0, tilt / 10, tilt, 10 * tilt]
found = {c: pd.DataFrame({n: at_exact(n, two_columns(c)) for n in lengths}).T for c in tilts}

# %% mystnb={"code_prompt_hide": "Steps of a finite length", "code_prompt_show": "Steps of a finite length"} tags=["hide-input"]
D = dimension(parity_transformer(4)[0])
small_steps = [float(f"1e{k}") for k in range(-7, 0)]


def curvature(n, rho):
    """2 D L / rho^2; steps in the same directions for every rho."""
    again = torch.Generator().manual_seed(seed + 1)
    return (
        2 * D / rho**2 * parity_sharpness(*parity_transformer(n), rho, draws, 4, again).mean.item()
    )


curved = {n: {rho: curvature(n, rho) for rho in small_steps} for n in (8, long_n)}

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Left: trace of the Hessian at exact PARITY transformers whose read-outs differ by a tilt, against the length. Right: curvature $2 D L_{\\rho, n} / \\rho^2$ over random steps of length $\\rho$ from the network without a tilt, at two lengths; the grey line is its trace.", "name": "fig-curved"}, "image": {"alt": "Left, on two logarithmic axes: without a tilt the trace is a flat line at 64; with tilts of one ten thousandth, one thousandth and one hundredth it leaves that line at shorter and shorter strings and then rises as a straight line, to far above a million. Right: at 8 bits the curvature stays at 64 up to steps of one ten thousandth and then rises; at the longest strings it is far above 64 at every step shown, and falls for steps above one ten thousandth."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.1)
for i, c in enumerate(tilts):
    axes[0].plot(lengths, found[c]["trace"], label=f"{c:g}", **figures.series_style(i))
for i, (n, row) in enumerate(curved.items()):
    axes[1].plot(small_steps, list(row.values()), label=f"{n} bits", **figures.series_style(i))
axes[0].set(xscale="log", yscale="log", xlabel="length $n$, bits", ylabel="trace of $H$")
figures.ticks(axes[0], lengths[::2])
axes[0].legend(title="tilt")
axes[1].set(xscale="log", yscale="log", xlabel="step $\\rho$", ylabel="curvature at step $\\rho$")
figures.level(axes[1], 64)
axes[1].legend()
figures.show()

# %%
rows = pd.DataFrame(
    {
        "$v$ parallel to $y_n$": found[0.0]["trace"],
        f"tilted by {tilt:g}": found[tilt]["trace"],
        "last bias": found[tilt]["last bias"],
        "$2 \\|v_\\perp\\|^2\\, E[N_n^{-2}]$": 2 * tilt**2 * found[tilt]["E[1/N^2]"],
    }
).rename_axis("bits")
table(rows, "Trace of the Hessian of the loss at two exact PARITY transformers")

# %% mystnb={"code_prompt_hide": "Checks of both", "code_prompt_show": "Checks of both"} tags=["hide-input"]
plain, tipped = found[0.0]["trace"], found[tilt]
trace_ratio, step_ratio = plain[long_n] / plain[8], curved[long_n][0.01] / curved[8][0.01]
hessian.refuted(
    f"exact network with $v$ parallel to $y_n$: trace at {long_n} bits over that at 8; control: "
    "curvature over steps of 0.01",
    trace_ratio,
    at_least=2,
    control=step_ratio,
    about="remark",
    evidence="attained",
)
hessian.repaired(
    f"curvature over a fixed step, here 0.01, grows with $n$: at {long_n} bits over that at 8",
    step_ratio,
    at_least=2,
    control=trace_ratio,
    about="remark",
    evidence="proved",
)
bound = 2 * tilt**2 * tipped["E[1/N^2]"]
along = at_exact(64, torch.full((2 * HALF,), tilt / math.sqrt(2 * HALF), dtype=torch.float64))
hessian.holds(
    f"block of the last bias over $2 \\|v_\\perp\\|^2\\, \\mathbb{{E}} N_n^{{-2}}$, tilted by {tilt:g}, largest "
    "distance from 1; control: tilted along $(1, \\dots, 1)$",
    (tipped["last bias"] / bound - 1).abs().max(),
    at_most=0,
    tol=1e-8,
    control=abs(along["last bias"] / (2 * tilt**2 * along["E[1/N^2]"]) - 1),
    about="ours",
    evidence="attained",
)
tail = [n for n in lengths if n >= 16]
growth = statistics.power(tail, [bound[n] for n in tail]).item()
glue(trace_short=plain[8], trace_long=plain[long_n], long_n=long_n, tilt=tilt, growth=growth)
glue(bound_64=bound[64], bound_long=bound[long_n], inputs=inputs)
glue(steep=curved[long_n][1e-4])

# %% [markdown]
# Without a tilt the trace is {glue:text}`trace_long:.0f` at {glue:text}`long_n` bits, as at 8. So there is a minimum that computes PARITY and whose Hessian stays bounded while the string grows. With a tilt of {glue:text}`tilt:g` the bound {eq}`eq-tilt` is {glue:text}`bound_64:.1e` at 64 bits and {glue:text}`bound_long:.1e` at {glue:text}`long_n`, and it grows as $n$ to the power {glue:text}`growth:.2f`. The block of the last bias attains it. The other weights add much more, as the table shows; how much depends on the weights that carry out the same five steps, and above 8 bits the table averages over {glue:text}`inputs` random strings only, so we quote the bound.
#
# **The limit of short steps.** At the exceptional point a step raises the loss by $\frac dD \rho^2$ through the read-out and by a term of order $n^8 \rho^4$ through the rest, until that term is near 1. So the limit of short steps, $2DL_{\rho,n} / \rho^2 \to \mathrm{tr}\, H$, sets in at smaller and smaller steps as the string grows: the curvature over steps of $10^{-4}$ is {glue:text}`steep:.0e` at {glue:text}`long_n` bits. The Hessian takes $\rho \to 0$ at a fixed length, the theorem lets the string grow first. The two limits do not commute.
#
# ## What would falsify this
#
# A trace above $2d$ at the network without a tilt. For {prf:ref}`tilt-trace`: a block of the last bias that differs from the bound. A tilt along $(1, \dots, 1)$, which layer norm does not see, must not count.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` computes no Hessian. It measures sharpness as the increase of the loss under Gaussian noise of a fixed size, which is the curvature over a finite step.
#
# ## What we found
#
# * The trace is $2d$ at every length at one exact PARITY transformer, and grows at least as $n^4$ at every other exact read-out of it, up to multiples of $(1, \dots, 1)$, however small the tilt.
# * Sensitivity alone does not force curvature at the minimum, but an exact alignment is needed to escape it. What it does force is the loss a small step away.
#
# ```{finding} sensitive.thm6_hessian
# :title: An exact PARITY transformer can have a bounded Hessian
# :group: false statement
#
# **Statement.** As printed before the theorem: lower bounds on $L_{\rho,n}$ "immediately entail" lower bounds on the trace of the Hessian, in the limit $\rho \to 0$. As printed after it, and introduced there by "Informally": as the input gets longer, the Hessian of the mean squared loss at the minimizer that fits a sensitive function has entries without bound.
#
# **Counterexample.** The exact PARITY transformer with its read-out parallel to $y_n$: the trace is {glue:text}`trace_short:.4f` at 8 bits and {glue:text}`trace_long:.4f` at {glue:text}`long_n` bits.
#
# **Why.** The Hessian is the limit $\rho \to 0$ at fixed $n$; the theorem takes $n \to \infty$ first. Behind layer norm the output is at its maximum, so that its gradient vanishes but for the read-out's.
#
# **Repair.** The curvature over a fixed step, $2 D L_{\rho, n} / \rho^2$, has a lower limit of at least $2 D \mu / \rho^2$ as $n \to \infty$; this is the sharpened theorem.
#
# **What survives.** The sentence, at every other exact read-out of this network, up to multiples of $(1, \dots, 1)$, which layer norm does not see. Tilted by {glue:text}`tilt:g`, which changes no output, the trace is at least {glue:text}`bound_64:.1e` at 64 bits and {glue:text}`bound_long:.1e` at {glue:text}`long_n`, and the bound grows as $n^4$. And that small steps are fatal on long strings: worst-case sharpness at a fixed radius is bounded from below too, being at least the average.
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-curved-share
#
# A read-out is drawn at random, of the least length with which the network is exact, plus a random $v_\perp$ of a tenth of that length. How large is the trace at {glue:text}`long_n` bits, at least?
# ```
#
# ```{solution} ex-curved-share
# :class: dropdown
#
# $\|v\| = 1/\sqrt{32}$, so $\|v_\perp\|^2 = 1/3200$, and {eq}`eq-tilt` gives $\frac1{1600}\, \mathbb E\, N_n^{-2}$. By the table's fourth column at a tilt of $10^{-3}$ this is about 300 times that column.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The remark is from {cite:t}`sensitive`.
