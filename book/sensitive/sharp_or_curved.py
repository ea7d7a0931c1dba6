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
# # A brittle transformer with a bounded Hessian
#
# ```{verdict}
# The Hessian of the loss, the matrix of its second derivatives, need not grow with the length of strings, although the paper concludes that its entries grow without bound: at one exact PARITY transformer its trace is {glue:text}`trace_short:.0f` at every length. But this network is an exception. If its read-out, the vector that maps the last token to the output, is tilted by {glue:text}`tilt:g`, no output changes, but the trace is at least {glue:text}`bound_long:.1e` at {glue:text}`long_n` bits, and grows as $n^4$ or faster with the number $n$ of bits.
# ```
# **Needs** {ref}`ch-brittle-transformers`, {ref}`ch-sharpness`. **Read** 12 min. **Runs in** 20 s. **Source** printed.
#
# **Claim.** The paper says that its theorem on brittleness entails lower bounds on the trace of the Hessian. It also says, informally, that the Hessian of the loss at the minimizer has entries that grow without bound as strings become longer. At one network they stay bounded, because its read-out is exactly parallel to the token that it reads. But at every other exact read-out of this network the paper is right, and a formula says how fast the trace grows. (Multiples of $(1, \dots, 1)$ in the read-out do not count, because they have no effect after layer norm.)
#
# ## Why one should care
#
# A minimum of the loss is often called sharp if the Hessian is large there, and flat if it is small. The theorem of {ref}`ch-brittle-at-every-width` is about sharpness in another sense: it says how much the output changes after a step of a given length in the weights. It is tempting to pass from one sense to the other, because for short steps the loss rises by half the Hessian times the square of the step. Practitioners measure the trace of the Hessian for this reason. If it could stay small at a minimum where every step of a given length destroys the network, then a small trace would be no proof of robustness. This chapter shows that the trace can indeed stay small there, but only at exceptional points.
#
# ## Two columns by hand
#
# Consider a layer norm that only divides a token by its length. It receives a token $(t, 0)$ with a small $t > 0$, and returns $(1, 0)$. The inner product with the read-out $v = (1, 0)$ is the right answer 1. Now a bias moves the token to $(t, \delta)$. The output becomes $t / \sqrt{t^2 + \delta^2}$, which is close to $1 - \frac{\delta^2}{2 t^2}$ as long as $\delta$ is much smaller than $t$. So the squared error is of order $\delta^4$, and its second derivative is 0, however small $t$ is. But a step of $\delta = 0.01$ destroys the answer if $t$ is only 0.001: the output falls to 0.1.
#
# If we tilt the read-out to $v = (1, \tau)$, the answer at $\delta = 0$ is still 1. But now the output changes with the slope $\frac\tau t$, and the squared error has the second derivative $2 \tau^2 / t^2$. With $t = \frac1{n^2}$, as in the PARITY network below, this is $2 \tau^2 n^4$. The next cells compute these numbers.

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
from torch.func import hessian

from bookkit import Ledger, figures, glue, table
from helpers import cube, statistics
from helpers.rng import Rng, f64
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.sensitive.isolation import moved, parity_of, parity_sharpness
from papers.sensitive.parity import HALF, SIGN, forward, parity_transformer
from papers.sensitive.steps import dimension, parity_floor, sensitivity_bound

ledger, source = Ledger("sensitive/sharp_or_curved"), Rng(seed)
worst_case, trace_of, entries = (
    ledger.result(f"sensitive.thm6_hessian.{part}") for part in ("worst_case", "trace", "entries")
)
LAST_BIAS = "layers.1.output_bias"
lengths = sorted({4, 8, 16, 32, 64, 128, long_n})


# %%
def moved_answer(delta, t, tau):
    """The answer of the read-out (1, tau) after a step of the bias."""
    return (t + tau * delta) / (t**2 + delta**2) ** 0.5


def second_derivative(t, tau):
    """Of the squared error in the bias, at 0."""
    return hessian(lambda delta: (moved_answer(delta, t, tau) - 1) ** 2)(f64(0.0)).item()


rows = {
    t: {
        "second derivative": second_derivative(t, 0.0),
        "with tilt 0.001": second_derivative(t, 0.001),
        "error after a step of 0.01": (moved_answer(0.01, t, 0.0) - 1) ** 2,
    }
    for t in (1.0, 0.1, 0.01, 0.001)
}
caption = "The squared error of a token with two columns"
table(pd.DataFrame(rows).T.rename_axis("$t$"), caption, form=".2g", tiny=1e-12)

# %% [markdown]
# From the first row to the last the error after the same step, without a tilt, grows from nearly 0 to 0.81, while the second derivative without a tilt is 0 throughout. With a tilt the second derivative grows by a factor of a million.
#
# ## The statement
#
# A transformer reads $T_\theta(x) = \langle v, y_n \rangle$ off its last token $y_n \in \mathbb R^d$, which layer norm has given mean 0 and length $\sqrt d$. For this, layer norm divides by $N_n(x)$, the standard deviation of the entries of the token, and here $\varepsilon = 0$, so that nothing is added to this divisor. The loss is $\mathbb E_x (T_\theta(x) - f(x))^2$, the mean over all strings of $n$ bits, and $H$ is its *Hessian*, the matrix of second derivatives in all weights except the encodings of positions. The sharpness $L_{\rho,n}$ of the paper is the mean squared change of the output, over strings and over random steps of length $\rho$ in these weights ({ref}`ch-sharpness`). The average sensitivity of $f$ is called $\mathrm{as}_n$, which is $n$ for PARITY.
#
# ```{prf:remark} Hahn and Rofin (2024), Section 5
# :label: sensitive-thm6-remark
# *(Not at every minimizer.)* Lower bounds on $L_{\rho,n}$, such as Theorem 6, "immediately entail lower bounds on other common sharpness measures, such as worst-case sharpness, and (in the limit $\rho \to 0$) the trace of the loss function's Hessian". "Informally", Theorem 6 says that for $\mathrm{as}_n(T_\theta) \sim n$ tiny steps change the predictions on long inputs. "This means that, as the input gets longer, the Hessian of the mean-squared loss at the minimizer fitting a sensitive function has unboundedly large entries."
# ```
#
# The quotation has three parts. The first of them is true. The other two are about the Hessian, and the rest of the chapter is about them.
#
# **Worst-case sharpness** is the largest squared change over all steps of the length $\rho$, where $L_{\rho,n}$ has the mean over these steps. The largest of some numbers is at least their mean, so every lower bound on $L_{\rho,n}$ is one on worst-case sharpness.
#
# **Where the trace stays bounded.** The PARITY transformer of {ref}`ch-brittle-transformers` has $d = 32$, and its $v$ is parallel to $y_n$ at every input, like the read-out $(1, 0)$ of the example. So $|T_\theta|$ is as large as it can be, and turning $y_n$ by a small angle $\varphi$ changes the output by $\varphi^2 / 2$ only. The gradient of the output is therefore 0 in all weights except $v$, even at kinks of ReLUs, and it is $y_n$ in $v$. Since the fit is exact, $\mathrm{tr}\, H = 2\, \mathbb E_x \|\nabla T_\theta\|^2 = 2d = 64$ at every length, and no entry of $H$ exceeds its trace.
#
# Does this network meet the hypotheses of the theorem? Its encodings, which contain $\frac in$, $\frac1n$ and $\frac1{n^2}$, depend on $n$. Section 5 allows this: Theorem 6 holds "for families of transformers where weights may depend on n", as long as the constant $C$ of the paper's Theorem 4, which summarizes the sizes of the parameters, remains bounded. Here it does, since the weights are fixed and the encodings are bounded.
#
# ```{prf:proposition} A tilted read-out (ours)
# :label: tilt-trace
# Let $\varepsilon = 0$, let $T_\theta = f$ at every input and be differentiable at $\theta$ (otherwise read $\mathrm{tr}\, H$ as the trace of the block of the last bias), and let $v_\perp(x)$ be the part of $v$ that is orthogonal to $y_n(x)$ and to $(1, \dots, 1)$. Then
#
# $$\mathrm{tr}\, H \ge 2\, \mathbb E_x \Bigl[ \frac{\|v_\perp(x)\|^2}{N_n(x)^2} \Bigr] .$$ (eq-tilt)
# ```
#
# **Proof.** Where the fit is exact, $H = 2\, \mathbb E_x \nabla T \nabla T^\top$, and its trace is at least that of the block of the last bias $b$. The bias is added after every ReLU, just before layer norm, so $T$ is smooth in it. With $z_c$ the centred $z$, the derivative of $z \mapsto \sqrt d\, z_c / \|z_c\|$ is the projection onto the complement of $y_n$ and $(1, \dots, 1)$, divided by $N_n$. Therefore $\nabla_b T = v_\perp / N_n$. $\square$
#
# In the PARITY transformer the vectors $y_n$ of all inputs lie on one line. If we add to $v$ any fixed $v_\perp \ne 0$ of mean 0 that is orthogonal to this line, no output changes, and the network is another exact minimizer of the same loss. But $N_n$ is of order $1/n^2$, so by {eq}`eq-tilt` the trace grows at least as $n^4$.

# %% [markdown]
# ## The point and its neighbourhood
#
# To see both the exceptional point and its neighbours, we add to the read-out a vector of a given length in two columns that are 0 in $y_n$, and compute the trace. If the paper's sentence is right, the trace grows with the length. The trace is exact for the strings that we average over, which are all strings up to 8 bits, and a random sample of longer ones. (A few ReLUs are exactly at their kinks, but what they write is orthogonal to the tilt, so that the output is differentiable.)
#
# Besides the trace we compute the curvature over random steps of a finite length $\rho$ at the network without a tilt. For $D$ weights it is $2 D L_{\rho, n} / \rho^2$, which tends to the trace as $\rho \to 0$.


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
trace_of.refuted(
    f"exact network with $v$ parallel to $y_n$: ratio of the trace at {long_n} bits to that "
    "at 8; control: the curvature over steps of 0.01 in place of the trace",
    trace_ratio,
    at_least=2,
    control=step_ratio,
    about="remark",
    evidence="attained",
)
entries.refuted(
    "exact network with $v$ parallel to $y_n$: ratio of the trace, which no entry exceeds, at "
    f"{long_n} bits to that at 8; control: of the block of the last bias with $v$ tilted",
    trace_ratio,
    at_least=2,
    control=tipped["last bias"][long_n] / tipped["last bias"][8],
    about="remark",
    evidence="attained",
)
share = curved[long_n][0.01] * 0.01**2 / (2 * D)  # L at this step; mu is 1 for PARITY
K = sensitivity_bound(*parity_transformer(16), 0.01).item()  # for longer strings it is less
for half, what in (
    (trace_of, "curvature over a step of fixed length 0.01"),
    (entries, "second difference of the loss along a step of fixed length 0.01, times $D$"),
):
    half.repaired(
        f"{what}: proved lower bound at $10^{{12}}$ times the bits that $K$ of 16 bits needs, in "
        "units of the limit $2 D \\mu / \\rho^2$; control: a $K$ as large as the length",
        parity_floor(K, 1e12 * K),
        at_least=0.99,
        control=parity_floor(1e12 * K, 1e12 * K),
        about="remark",
        evidence="proved",
    )
trace_of.holds(
    f"curvature over a step of fixed length 0.01 at {long_n} bits, in units of $2 D \\mu / "
    "\\rho^2$; control: what the trace predicts for this step",
    share,
    at_least=0.5,
    control=plain[long_n] * 0.01**2 / (2 * D),
    about="ours",
    evidence="sampled",
)
every, again = cube.bits(8), torch.Generator().manual_seed(seed + 1)
spec, weights = parity_transformer(8)
with torch.no_grad():
    after = forward(spec, moved(weights, 0.01, draws, again), every.expand(draws, -1, -1))
by_step = (after - parity_of(every)).square().mean(-1)  # over all strings, for each step
worst_case.holds(
    "8 bits, all strings, steps of 0.01: largest squared change over the steps, in units of "
    "their mean; control: the least over the steps",
    (by_step.max() / by_step.mean()).item(),
    at_least=1,
    control=(by_step.min() / by_step.mean()).item(),
    about="remark",
    evidence="proved",
)
bound = 2 * tilt**2 * tipped["E[1/N^2]"]
along = at_exact(64, torch.full((2 * HALF,), tilt / math.sqrt(2 * HALF), dtype=torch.float64))
trace_of.holds(
    "block of the last bias: largest distance from 1 of its ratio to $2 \\|v_\\perp\\|^2\\,"
    f" \\mathbb{{E}} N_n^{{-2}}$, with $v$ tilted by {tilt:g}; control: tilted along $(1, "
    "\\dots, 1)$",
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
glue(steep=curved[long_n][1e-4], share=share)

# %% [markdown]
# On the left of {numref}`fig-curved` the line without a tilt is horizontal: the trace is {glue:text}`trace_long:.0f` at {glue:text}`long_n` bits, as at 8. So there is a minimum that computes PARITY and whose Hessian stays bounded while the string grows. With a tilt the trace leaves this line at some length and then rises along a straight line, like a power of the length.
#
# How large the trace is at least, {eq}`eq-tilt` says: with a tilt of {glue:text}`tilt:g` the bound is {glue:text}`bound_64:.1e` at 64 bits and {glue:text}`bound_long:.1e` at {glue:text}`long_n`, and it grows as $n$ to the power {glue:text}`growth:.2f`. The table shows that the block of the last bias attains this bound, and that the other weights add much more. How much they add depends on how the weights are chosen that carry out the five steps of the construction, and above 8 bits the table averages over {glue:text}`inputs` random strings only, so we quote the bound.
#
# **The limit of short steps.** The right side of the figure shows what the Hessian misses. At 8 bits the curvature stays at the trace for steps of up to $10^{-4}$ and then rises, whereas at {glue:text}`long_n` bits it is far above the trace at every step shown. The reason is that at the exceptional point a step of length $\rho$ raises the loss in two ways:
#
# * *Through the read-out* it adds $\frac dD \rho^2$.
# * *Through the other weights* it turns $y_n$ by an angle $\varphi$ of order $\rho / N_n$, that is $n^2 \rho$. The output then changes by $\varphi^2 / 2$ only, so the loss rises by a term of order $\varphi^4$, that is $n^8 \rho^4$, until this term is near 1.
#
# So the curvature approaches its limit, $2DL_{\rho,n} / \rho^2 \to \mathrm{tr}\, H$, only for steps that become shorter and shorter as the string grows: at {glue:text}`long_n` bits the curvature over steps of $10^{-4}$ is {glue:text}`steep:.0e`, whereas the trace is {glue:text}`trace_long:.0f`. The Hessian takes $\rho \to 0$ at a fixed length, whereas the theorem lets the string grow first. These two limits do not commute.
#
# **The curvature over a fixed step** is what the theorem does bound. Write $\mu = \liminf_n \mathrm{as}_n / n$, which is 1 for PARITY. The sharpened theorem {prf:ref}`brittle-repaired` says that $\liminf_n L_{\rho, n} \ge \mu$ at every fixed $\rho > 0$. So as the string grows, the curvature over a step $\rho$ has a lower limit of at least $2 D \mu / \rho^2$, and this exceeds every number if $\rho$ is small enough. At {glue:text}`long_n` bits and $\rho = 0.01$ the curvature is already {glue:text}`share:.2f` times this limit, whereas the trace would predict a share below $10^{-6}$.
#
# ## What would falsify this
#
# * *The exceptional point.* A trace above $2d$ at the network without a tilt would speak for the paper's sentence.
# * *Worst-case sharpness.* A largest change below the mean one would refute this part, and the least change, as its control, must be below the mean.
# * *The repaired sentence.* A curvature over a fixed step that stays far below $2 D \mu / \rho^2$ on long strings would speak against it.
# * *The bound.* A block of the last bias that differs from the bound would refute {prf:ref}`tilt-trace`; here the control is a tilt along $(1, \dots, 1)$, which has no effect after layer norm and must not change the bound.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` computes no Hessian. It measures sharpness as the increase of the loss under Gaussian noise of a fixed size, which is the curvature over a finite step, and this the theorem does bound.
#
# ## What we found
#
# * The trace is $2d$ at every length at one exact PARITY transformer, and grows at least as $n^4$ at every other exact read-out of it, up to multiples of $(1, \dots, 1)$, however small the tilt is, as long as it does not shrink with $n$. (A tilt that shrinks as $n^{-2}$ keeps the bound {eq}`eq-tilt` bounded.)
# * Sensitivity alone does not imply a large curvature at the minimum, but the only exception at this network is an exact alignment of the read-out. What sensitivity does imply is a high loss after a small step.
#
# ```{finding} sensitive.thm6_hessian
# :title: An exact PARITY transformer can have a bounded Hessian
# :group: false statement
#
# **Statement.** These are two statements. As printed before the theorem, lower bounds on $L_{\rho,n}$ "immediately entail" lower bounds on the trace of the Hessian, in the limit $\rho \to 0$. As printed after it, and introduced there by "Informally", the Hessian of the mean squared loss at the minimizer that fits a sensitive function has entries that grow without bound as the input gets longer.
#
# **Counterexample.** At the exact PARITY transformer with its read-out parallel to $y_n$ the trace is {glue:text}`trace_short:.4f` at 8 bits and {glue:text}`trace_long:.4f` at {glue:text}`long_n` bits.
#
# **Why.** The Hessian is the limit $\rho \to 0$ at fixed $n$, but the theorem takes $n \to \infty$ first. After layer norm the output is at its maximum, so that its gradient vanishes in all weights except the read-out.
#
# **Repair.** Over a fixed step the curvature, $2 D L_{\rho, n} / \rho^2$, has a lower limit of at least $2 D \mu / \rho^2$ as $n \to \infty$, with $\mu = \liminf_n \mathrm{as}_n / n$; this is the sharpened form of the theorem, {prf:ref}`brittle-repaired` of this book.
#
# **What survives.** The implication itself is right at a fixed length: if $L_{\rho,n} \ge c\, \rho^2$ for all small $\rho$, the trace of the Hessian is at least $2 D c$. What fails is the step from Theorem 6, which gives no such bound at a fixed $n$. Since the paper names this theorem as the reason, we judge that step. The sentence is true at every other fixed and exact read-out of this network, up to multiples of $(1, \dots, 1)$, which have no effect after layer norm. If the read-out is tilted by {glue:text}`tilt:g`, which changes no output, the trace is at least {glue:text}`bound_64:.1e` at 64 bits and {glue:text}`bound_long:.1e` at {glue:text}`long_n`, and the bound grows as $n^4$. It also remains true that small steps destroy the output on long strings. And what the same sentence of the paper says of worst-case sharpness is true, because at a fixed radius the largest change is at least the average. For networks that are trained, whose fit is not exact and whose layer norm has an $\varepsilon > 0$, nothing is claimed here.
# ```
#
# ## Exercises
#
# ```{exercise}
# :label: ex-curved-share
#
# *By hand.* Let a read-out be the shortest one with which the network is exact, plus a random $v_\perp$ of a tenth of its length. How large is the trace at {glue:text}`long_n` bits, at least?
# ```
#
# ```{solution} ex-curved-share
# :class: dropdown
#
# Since $\|v\| = 1/\sqrt{32}$, we have $\|v_\perp\|^2 = 1/3200$, and {eq}`eq-tilt` gives $\frac1{1600}\, \mathbb E\, N_n^{-2}$. The table's fourth column, at a tilt of $10^{-3}$, is $2 \cdot 10^{-6}\, \mathbb E\, N_n^{-2}$. So the trace is about 300 times that column at least, which is about $9 \cdot 10^6$ at 256 bits.
# ```
#
# ```{exercise}
# :label: ex-curved-steps
#
# *With the computer.* For the token with two columns compute the curvature over a finite step, $2 \cdot \mathrm{error} / \delta^2$, for $t = 0.001$ and steps $\delta$ from $10^{-5}$ to 0.1, with and without a tilt of 0.001. Where is it largest, and how does this place depend on $t$? Which step would you choose to find out whether a network is brittle? Then let the tilt of the PARITY network be larger, `python -m bookkit.run sensitive/sharp_or_curved -p tilt 0.01 --out my_run`.
# ```
#
# ```{solution-start} ex-curved-steps
# :class: dropdown
# ```

# %%
rows = {}
for delta in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
    row = {}
    for t in (0.01, 0.001):
        for tau in (0.0, 0.001):
            error = (moved_answer(delta, t, tau) - 1) ** 2
            row[f"t = {t:g}, tilt {tau:g}"] = 2 * error / delta**2
    rows[delta] = row
answer = pd.DataFrame(rows).T.rename_axis("step")
table(answer, "Curvature over a finite step", form=".2g", tiny=1e-12)

# %% [markdown]
# The curvature is largest when the step is about as long as the token, and there it is about $0.2 / t^2$, with or without a tilt. For much shorter steps it falls to the second derivative, which is 0 without a tilt, and for longer ones it falls because the error cannot exceed 1. So a step should be as long as the errors of the weights that one expects in practice; the limit of short steps does not describe them.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-curved-decay
#
# *To think about.* Among all exact read-outs of the PARITY network, which is the shortest? Weight decay prefers short weights: would it lead to the exceptional point? Take into account that it makes the read-out a little too short, say by a factor $1 - \eta$, so that the fit is no longer exact, and compute the second derivative for the token with two columns.
# ```
#
# ```{solution} ex-curved-decay
# :class: dropdown
#
# All exact read-outs are the exceptional one plus a $v_\perp$ orthogonal to it, so the exceptional one is the shortest, and weight decay leads towards it. But with the read-out $(1 - \eta, 0)$ the error is $\bigl((1 - \eta)\, t / \sqrt{t^2 + \delta^2} - 1\bigr)^2$, and its second derivative at 0 is $2 \eta (1 - \eta) / t^2$. The Hessian now has a term that is the error times the second derivative of the output, and with $t = \frac1{n^2}$ it grows as $\eta\, n^4$. So the read-out is exceptional only if its length is exact as well as its direction.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The remark is from {cite:t}`sensitive`.
