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
# (ch-sharpness)=
# # Sharpness: what noise in the weights does to the loss
#
# ```{verdict}
# The paper's formula is right for small noise in the weights: on average the loss rises by half the variance of the noise times the trace of the Hessian, the matrix of second derivatives of the loss. For two networks in which no ReLU sits on its kink, where it switches on or off, the relative error at standard deviation 0.001 is below {glue:text}`smooth_below`. The paper's proof uses an intermediate point, which need not exist if the noise carries a ReLU over its kink, and then the formula for the mean can fail too. An integral, with a term for the kinks, repairs the proof.
# ```
#
# **Needs** nothing but derivatives. **Read** 18 min. **Runs in** 10 s. **Source** Remark 3 printed; the formulas of Definition 1 and Theorem 6 restored from their words.
#
# **Claim.** Gaussian noise of standard deviation $\sigma$ in all weights raises the loss, on average, by $\frac{\sigma^2}2$ times the trace of the Hessian of the loss, and by a remainder, which we call the *rest*. The rest is of order $\sigma^4$ where the loss is smooth.
#
# The paper's proof expresses it by the Hessian at one intermediate point, the Lagrange point of Taylor's theorem, and keeps $\sigma$ so small that no ReLU is likely to flip, that is, to switch on or off. If the point is replaced by an integral, with a term for the *corners* of the loss, where its slope jumps, this condition is not needed.
#
# Finally, a learner that minimises a weighted sum of loss, norm and sharpness can lower one of them at the cost of another, as the paper says itself.

# %% tags=["parameters"]
n = 6  # bits [4..8]
draws = 200  # perturbations for each sigma, ten times as many of networks by hand [100..4000]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from functools import partial

import numpy as np
import pandas as pd
import torch
from scipy.special import erfc
from torch.func import grad, hessian, vmap

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward, initial_weights
from helpers.rng import f64
from helpers.sharpness import SquaredLoss, hessian_trace, perturbation_remainder
from helpers.statistics import power

ledger = Ledger("cube/sharpness")
thm6, def1 = ledger.result("sharper.thm6"), ledger.result("sharper.def1")
bits, ones = cube.bits(n), range(n)

# %% [markdown]
# ## Why one should care
#
# Many sets of weights compute the same function, and they are not equally good. If the loss rises steeply around one set, then a small error of the weights destroys what was learned, and one must store these weights to many digits. Around another set the loss may hardly rise, so that a few digits are enough. The first paper counts these digits: its bounds on the generalization error are small where noise in the weights raises the loss only a little. For this it needs a formula for the increase of the loss, and the simplest one is half the variance of the noise times the trace of the Hessian. How good is this formula? One has to ask, because networks of ReLUs have kinks, where there is no Hessian, and because the noise of an experiment is never infinitely small.
#
# ## Three weights
#
# Take a network with three weights, $f_\theta(x) = v\,(u x + b)$, and ask it to return its input $x = \pm1$. Its loss is the mean square of the error over the two inputs,
#
# $$L(\theta) = (uv - 1)^2 + v^2 b^2 .$$
#
# The loss is zero wherever $uv = 1$ and $b = 0$, so for example $(1, 1, 0)$ and $(3, \frac13, 0)$ compute the same function. But they are not equally robust against noise, as {numref}`fig-three-weights` shows on the left. If each weight is moved by independent Gaussian noise of standard deviation $\sigma$, the mean loss rises from zero to $\sigma^2 (u^2 + 2 v^2) + 2 \sigma^4$. The first term is half the variance times the trace, and the second one is the rest. For small noise the increase is three times as large at the second point as at the first ($\sigma^2 (9 + \frac29)$ and $3 \sigma^2$), and we say that the second point is *sharper*.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The network $v(ux + b)$. Left: mean loss against the noise for two sets of weights that compute the same function (solid), and what the trace of the Hessian says (dotted). Right: squared norm and trace of all weights with $uv = 1$, $b = 0$. The learner that minimizes the norm alone ends at the circle, one that minimizes sharpness alone at the square; the cross is $u = \\frac32$.", "name": "fig-three-weights"}, "image": {"alt": "Left, two curves rise from zero like parabolas, that of u = 3 about three times as steeply; each lies a little above its dotted parabola at large noise. Right, a curve like a bent U that opens to the right: it comes down to a trace near 6, turns at a squared norm of 2, has its lowest point a little to the right, and rises slowly. The circle is at the turn, the square at the lowest point, the cross further to the right and above both."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=2.2)
noise = torch.linspace(0, 0.6, 61)
for i, (u, label) in enumerate(((1.0, "$u = 1$"), (3.0, "$u = 3$"))):
    slope = u**2 + 2 / u**2
    left.plot(
        noise, slope * noise**2 + 2 * noise**4, label=label, **figures.line_style(i, linestyle="-")
    )
    left.plot(noise, slope * noise**2, color=figures.COLOURS[i], linestyle=":", marker="")
left.set(xlabel=r"noise $\sigma$", ylabel="mean loss")
left.legend()
u2 = torch.linspace(0.35, 3.2, 200)
right.plot(u2 + 1 / u2, 2 * u2 + 4 / u2, marker="", color=figures.GREY, linestyle="-")
for i, at in enumerate((1.0, 2**0.5)):
    right.plot(at + 1 / at, 2 * at + 4 / at, **figures.marker_style(i, markersize=7))
right.plot(2.25 + 1 / 2.25, 4.5 + 4 / 2.25, "x", color="black", markersize=7)
right.set(xlabel=r"squared norm $|\theta|^2$", ylabel="trace", xlim=(1.9, 3.5), ylim=(5, 9.5))
figures.show()

# %% [markdown]
# {numref}`fig-three-weights` has two parts. The dotted curves on the left are the approximation by the trace of the Hessian, and the solid curves, the true mean losses, leave them only when the noise is large. On the right every pair of weights with $uv = 1$ is a point of the curve. The lowest point of the curve (the square), where the trace is smallest, is not its leftmost point (the circle), where the norm is smallest. So norm and sharpness are two different measures. At the cross both are larger than at the circle and at the square.
#
# ## The statement
#
# Let $L(\theta)$ be a mean of squared errors, $\theta \in \mathbb R^P$ the weights, and $U$ a vector of $P$ independent standard normal variables. The *Hessian* $H(\theta)$ is the matrix of second derivatives of $L$, and its *trace* $\operatorname{tr} H$ is the sum of the diagonal. The mean increase $\mathbb E_U L(\theta + \sigma U) - L(\theta)$ is called the *expected sharpness* at noise $\sigma$. Weights whose loss is 0 are called an *interpolator*.
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 6 and Theorem 12, as restored
# :label: sharper-thm6
# At an interpolator $\theta$,
#
# $$\mathbb E_U L(\theta + \sigma U) = \frac{\sigma^2}2 \operatorname{tr} H(\theta) + \Delta, \qquad \Delta = \frac{\sigma^2}2\, \mathbb E_U\, U^\top \bigl(H(\theta + U') - H(\theta)\bigr) U,$$
#
# where $U'$ is a point on the segment from $0$ to $\sigma U$, the Lagrange point of Taylor's theorem. The paper adds a proviso: $\sigma$ "is chosen small enough that no ReLU activations change sign under perturbation with high probability".
# ```
#
# **Why it holds, and where the proof may not.** Let us follow the loss along one direction, $\varphi(t) = L(\theta + t \sigma U)$. By Taylor's theorem $\varphi(1) = \varphi(0) + \varphi'(0) + \frac12 \varphi''(\xi)$ for some $\xi \in (0, 1)$, and then we take the mean over $U$.
#
# The mean of $\varphi'(0) = \sigma\, U \cdot \nabla L$ is zero. The mean of $U^\top H U$ at $\theta$ is the trace, since $\mathbb E\, U_i U_j$ is 1 if $i = j$, and 0 otherwise, and $\Delta$ is what is left.
#
# The step that can fail is Taylor's theorem, because it needs $\varphi''$ everywhere between 0 and 1, and if a ReLU flips on the way, there is a point without a second derivative.
#
# We first check the formula where it can be evaluated exactly. For the three weights every mean is a mean of a polynomial of degree 4, so numerical integration on a grid of $5^3$ points is exact. By the example the rest must be $2 \sigma^4$, so any number other than 1 in the last column would speak against the formula.

# %%
nodes, shares = (f64(v.tolist()) for v in np.polynomial.hermite_e.hermegauss(5))
grid = torch.cartesian_prod(nodes, nodes, nodes)  # the noise U, 125 points
weight = torch.cartesian_prod(*[shares / shares.sum()] * 3).prod(-1)


def small_loss(theta):
    u, v, b = theta.unbind(-1)
    return (u * v - 1).square() + (v * b).square()


rows = {}
for u, sigma in [(u, sigma) for u in (1.0, 3.0) for sigma in (0.01, 0.1, 0.5)]:
    theta = f64([u, 1 / u, 0])
    H = hessian(small_loss)(theta)
    increase = weight @ small_loss(theta + sigma * grid)
    trace_term, entries = (sigma**2 / 2 * v for v in (H.trace(), H.sum()))
    row = {"mean loss": increase, "trace term": trace_term}
    row["the rest over 2σ⁴"] = (increase - trace_term) / (2 * sigma**4)
    row["with all entries"] = (increase - entries) / (2 * sigma**4)
    rows[u, sigma] = {k: v.item() for k, v in row.items()}
exact = pd.DataFrame(rows).T.rename_axis(["u", "σ"])
table(exact.iloc[:, :3], "The network of three weights, exactly", form=".6g")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
thm6.holds(
    "three weights: largest distance of $\\Delta/2\\sigma^4$ from 1; control: all entries "
    "of $H$ in place of its trace",
    (exact["the rest over 2σ⁴"] - 1).abs().max(),
    at_most=0,
    tol=1e-6,  # rounding 1e-16 times the ratio of the two terms, at most 5e4 / sigma^2
    control=(exact["with all entries"] - 1).abs().max(),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# ## Networks with kinks
#
# The three weights have no kinks, so we now turn to networks of ReLUs. Two networks are written by hand and compute the parity of $n$ bits, which is $+1$ if the number of ones $k$ is even, and $-1$ otherwise, as a function of $k$. The other two are transformers.
#
# * The output of the *zigzag* is linear between whole numbers, so that each $k$ below $n$ sits on the kink of a unit.
# * The output of the *plateau* is constant around each whole number, and its kinks are a quarter away from whole numbers.
# * The *transformer* has random weights, and its targets are its own outputs, so that its loss is zero.
# * *Not fitted* is the same transformer with the parity as its target, which it does not fit.


# %%
def net(weights, bits):
    hidden = torch.relu(bits.double() @ weights["W"].T + weights["b"])
    return hidden @ weights["v"] + weights["c"]


def by_hand(kinks, slopes):
    """Weights whose output, as a function of the number of ones, bends by a slope at each kink."""
    W = torch.ones(len(kinks), n, dtype=torch.float64)
    return {"W": W, "b": -f64(kinks), "v": f64(slopes), "c": f64(1)}


plateau = by_hand(
    [k + at for k in ones for at in (0.25, 0.75)],
    [4 * sign * (-1) ** k for k in ones for sign in (-1, 1)],
)
zigzag = by_hand([*ones], [-2 if k == 0 else -4 * (-1) ** k for k in ones])
spec = TransformerSpec(n, width=8, hidden=16, norm="none")
start = torch.Generator().manual_seed(seed)
random = initial_weights(spec, None, start, dtype=torch.float64)
transformer = partial(forward, spec)
parity, own = cube.parity(n), transformer(random, bits)
cases = {
    "plateau": (SquaredLoss(net, bits, parity), plateau),
    "zigzag": (SquaredLoss(net, bits, parity), zigzag),
    "transformer": (SquaredLoss(transformer, bits, own), random),
    "not fitted": (SquaredLoss(transformer, bits, parity), random),
}

# %% [markdown]
# How can $\Delta$ be measured? A plain average of noisy losses does not show it at small $\sigma$, because the random error of the average is a fixed share of the trace term, whereas the share of $\Delta$ in it falls with $\sigma$. So we average over $U$ and $-U$, which removes $\varphi'(0)$, and subtract $\frac{\sigma^2}2 U^\top H U$ for each draw instead of its mean, so that only $\Delta$ remains. If the trace term is a good approximation for small noise, $|\Delta|$ divided by the trace term must fall to 0 with the noise.

# %%
sigmas = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1]
signed, error = {}, {}
for kind, (loss, weights) in cases.items():
    trace = float(hessian_trace(loss, weights, "exact"))
    drawn = draws if weights is random else 10 * draws
    for sigma in sigmas:
        noise = torch.Generator().manual_seed(seed + 1)
        rest = perturbation_remainder(loss, weights, sigma, drawn, noise)
        term = sigma**2 / 2 * trace
        signed[sigma, kind] = rest.mean.item() / term
        error[sigma, kind] = rest.stderr.item() / abs(term)
signed, error = (pd.Series(v).unstack()[[*cases]].rename_axis("σ") for v in (signed, error))
ratio = signed.abs()

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Size of the rest $\\Delta$ over the trace term $\\frac{\\sigma^2}2 \\operatorname{tr} H$, against the noise. Shaded: up to two standard errors more. The vertical line is the largest noise of the paper's mesh.", "name": "fig-remainder"}, "image": {"alt": "Four curves on logarithmic axes. The plateau rises with slope two from below one millionth, and the transformer rises less evenly. The zigzag is level near one sixth. The transformer that does not fit its targets lies below it, unsteady but not falling with the noise. At the largest noise both transformers are above one."}} tags=["hide-input"]
fig, ax = figures.new(height=2.5)
for i, kind in enumerate(cases):
    ax.plot(sigmas, ratio[kind], label=kind, **figures.series_style(i))
    high = ratio[kind] + 2 * error[kind]
    figures.interval(ax, sigmas, ratio[kind], high, color=figures.COLOURS[i])
ax.axvline(0.01, color=figures.GREY, linewidth=1, marker="")
ax.set(xscale="log", yscale="log", ylim=(1e-10, 1e2), xlabel=r"noise $\sigma$")
ax.set_ylabel(r"$|\Delta|$ over trace term")
ax.legend(ncols=2)
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers, and checks", "code_prompt_show": "The numbers, and checks"} tags=["hide-cell"]
table(ratio, "Size of the rest over the trace term", form=".1e", tiny=1e-9)
table(error, "Standard errors of these ratios", form=".0e", tiny=1e-9)
smooth = ["plateau", "transformer"]
fitted = {kind: loss(weights).item() for kind, (loss, weights) in cases.items()}
wrong = by_hand([*ones], [-4 * (-1) ** k for k in ones])
thm6.holds(
    "larger loss of the two networks that are written by hand for the parity; control: a "
    "zigzag whose first slope is not halved",
    max(fitted["plateau"], fitted["zigzag"]),
    at_most=0,
    tol=1e-20,  # the square of rounding in sums of n numbers of at most 4n
    control=cases["zigzag"][0](wrong).item(),
    about="ours",
    evidence="exhaustive",
)
# The same increase against a trace term without its half, which is twice as large.
doubled = (signed - 1).abs() / 2
low = [1e-4, 1e-3]
order, wrong_order = (2 + power(low, v["plateau"][low].tolist()).item() for v in (ratio, doubled))
thm6.holds(
    "plateau and transformer at $\\sigma = 0.001$: largest ratio of the remainder to the "
    "term of the trace; control: the term without $\\frac12$",
    ratio.loc[1e-3, smooth].max(),
    at_most=0.01,
    control=doubled.loc[1e-3, smooth].max(),
    about="statement",
    evidence="sampled",
)
thm6.holds(
    "plateau: power of $\\sigma$ with which the remainder $\\Delta$ falls; control: the "
    "trace term without $\\frac12$",
    order,
    equals=4,
    tol=0.2,
    control=wrong_order,
    about="ours",
    evidence="sampled",
)
thm6.holds(
    "transformer at $\\sigma = 0.01$, the largest of the paper's mesh: ratio of the "
    "remainder to the term of the trace; control: the term without $\\frac12$",
    ratio.loc[1e-2, "transformer"],
    at_most=0.1,
    control=doubled.loc[1e-2, "transformer"],
    about="ours",
    evidence="sampled",
)
most = (ratio + 2 * error).loc[1e-3, smooth].max()  # rounded up to a power of ten
glue(smooth_below=f"{10 ** math.ceil(math.log10(most)):g}", order_plateau=order)
glue(transformer_error=error.loc[1e-3, "transformer"], at_mesh=ratio.loc[1e-2, "transformer"])
glue(mesh_error=error.loc[1e-2, "transformer"], zigzag=ratio.loc[1e-3, "zigzag"])
glue(zigzag_error=error.loc[1e-3, "zigzag"], drawn=10 * draws)
glue(unfitted=ratio["not fitted"].iloc[:5].max(), plateau_tenth=100 * ratio.loc[0.1, "plateau"])
glue(at_tenth=ratio.loc[0.1, "transformer"], at_third=ratio.loc[0.3, "transformer"])

# %% [markdown]
# {numref}`fig-remainder` has four curves. Two fall with the noise, and two do not. We begin with the three networks that fit their targets.
#
# * *The plateau.* Its ratio falls like $\sigma^2$, as it must where the loss is smooth; the fitted power of $\sigma$ in $\Delta$ itself is {glue:text}`order_plateau:.2f`, where 4 is predicted. Between $\sigma = 0.03$ and 0.1 the noise begins to reach the kinks, which are a quarter away, and the ratio jumps.
# * *The transformer.* Its ratio falls too, but less evenly, because even small noise pushes some of its ReLUs over their kinks. At $\sigma = 0.001$ the standard error of the ratio is {glue:text}`transformer_error:.0e`, more than half of the ratio itself. The paper measures at twenty sizes of noise, its *mesh*. At the largest of them, 0.01 (the vertical line), the ratio is {glue:text}`at_mesh:.1e`, with a standard error of {glue:text}`mesh_error:.0e`.
# * *The zigzag.* Up to $\sigma = 0.1$ its ratio stays at {glue:text}`zigzag:.3f`, with a standard error of {glue:text}`zigzag_error:.3f` from {glue:text}`drawn` draws, which are the same for every $\sigma$. The reason is that noise in every direction flips a unit at some input, however small the noise is. At weights with a unit on its kink the Hessian does not exist, and $H$ is only a convention, which takes the derivative of a ReLU to be 0 at its kink.
#
# *The transformer that does not fit its target* shows that kinks have a larger effect where the loss is not zero. If the noise can push a unit over its kink, at an input with error $r$, then the slope of the loss jumps there by an amount proportional to $r$, which we call a *corner* of the loss. Many such corners together add a term of order $\sigma^2$, the order of the trace term itself, so over a range of noise the ratio need not fall. For this transformer the rest reaches up to {glue:text}`unfitted:.2f` times the trace term at noise of at most 0.01. (Up to this noise the curve is not level: it is largest at $\sigma = 0.001$ and lower on both sides. A likely reason is that the kinks which the noise reaches depend on its size. Since absolute values are drawn, a change of sign does not show.)
#
# Finally, the noise must be small: for the transformer that fits, the rest is {glue:text}`at_tenth:.2f` times the trace term at $\sigma = 0.1$, and {glue:text}`at_third:.0f` times at $\sigma = 0.3$. On the plateau it is only {glue:text}`plateau_tenth:.1f` % at $\sigma = 0.1$.
#
# The first paper applies the theorem to a transformer that it writes by hand. How large $\Delta$ is for that transformer is computed in {ref}`ch-perturbed-sharpness`.
#
# ## A Lagrange point that does not exist
#
# We now look at the step of the proof that can fail, in the smallest case. Take one ReLU, one weight $w$, one input and the target 0, so that $L(w) = (w_+)^2$ with $w_+ = \max(w, 0)$. At $w = -1$ the loss is 0, and we let the noise carry $w$ to $1$. Then $\varphi(0) = \varphi'(0) = 0$ and $\varphi(1) = 1$. So a Lagrange point would need $\frac12 L'' \cdot 2^2 = 1$, that is, $L'' = \frac12$. But $L''$ is 0 to the left of the kink and 2 to the right of it, and takes no other value. The integral form of Taylor's theorem, however, is true:
#
# $$\varphi(1) = \varphi(0) + \varphi'(0) + \int_0^1 (1 - t)\, \varphi''(t)\, dt .$$
#
# It needs only that $\varphi'$ is continuous, and the derivative of a squared ReLU has no jump. Where the error is not zero at the kink, $\varphi'$ jumps, and this corner adds a term, $1 - t$ times the jump at the place $t$ of the kink. To see both, we take three models from $w = -1$ to $w = 1$. The first is the ReLU, and the second a softened ReLU, for which the Lagrange point must exist. The third is $w_+ + w + 1$ with the target 0, which also starts at loss 0, but has the error 1 at $w = 0$.
#
# *By hand,* for the third model: the loss is $\varphi(t) = 4 t^2$ before the kink at $t = \frac12$ and $(4t - 1)^2$ after it, so $\varphi''$ is 8 before the kink and 32 after it. Since $\varphi(1) = 9$, a Lagrange point would need $\frac12 \varphi'' = 9$, but only 4 and 16 occur, and the nearer one, 4, is 5 away.
#
# For each model the table has four numbers: *the rest*, $\varphi(1) - \varphi(0) - \varphi'(0)$; its distance *from the nearest* value of $\frac12 \varphi''$ on the segment, which must be 0 if there is a Lagrange point; the *integral*; and the term of the *corner*. The integral form is right if the last two add up to the rest.

# %% mystnb={"code_prompt_hide": "Along the segment", "code_prompt_show": "Along the segment"} tags=["hide-input"]
models = {
    "ReLU": torch.relu,
    "softened ReLU": lambda w: torch.nn.functional.softplus(10 * w) / 10,
    "with a corner": lambda w: torch.relu(w) + w + 1,
}
t, rows = (torch.arange(100_000, dtype=torch.float64) + 0.5) / 100_000, {}  # midpoints of (0, 1)
for kind, model in models.items():

    def along(t, model=model):
        return model(2 * t - 1) ** 2  # the loss from w = -1 to w = 1

    second, ends = vmap(grad(grad(along)))(t), f64([0, 1, 0.5 - 1e-9, 0.5 + 1e-9])
    (start, end), slope = along(ends[:2]), vmap(grad(along))(ends)
    rest = (end - start - slope[0]).item()
    rows[kind] = {
        "the rest": rest,
        "from the nearest ½φ″": (second / 2 - rest).abs().min().item(),
        "integral": ((1 - t) * second).mean().item(),
        "corner": 0.5 * (slope[3] - slope[2]).item(),  # at t = 1/2, where w = 0
    }
lagrange = pd.DataFrame(rows).T.rename_axis("model")
table(lagrange, "From w = -1 to w = 1", form=".3f", tiny=1e-3)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
thm6.refuted(
    "as restored, across a kink: distance of the $\\frac12 \\varphi''$ that a Lagrange point "
    "would need from the nearest that there is; control: a softened ReLU",
    lagrange.loc["ReLU", "from the nearest ½φ″"],
    at_most=0,
    tol=1e-3,
    control=lagrange.loc["softened ReLU", "from the nearest ½φ″"],
    about="proof",
    evidence="attained",
)
gaps = lagrange["the rest"] - lagrange["integral"]
thm6.repaired(
    "three models: largest distance of the integral and the term of the corner from the "
    "remainder; control: without the corner",
    (gaps - lagrange["corner"]).abs().max(),
    at_most=0,
    tol=1e-4,
    control=gaps.abs().max(),
    about="proof",
    evidence="proved",
)

# %% [markdown]
# For the ReLU no curvature on the segment comes near the one that is needed, whereas for the softened ReLU one does. The integral alone gives the rest for these two models, but for the third model the term of the corner is needed too.
#
# **Does the equation fail for the mean as well?** The theorem is about a mean over all noise, and the errors of single steps might cancel in it. For example, in the first model the points on the segments that cross the kink can be chosen such that the equation holds in the mean, although it fails on each of these segments.
#
# The next model excludes this. It is $w - 2(w - 1)_+$ with the target 0, at the interpolator $w = 0$, which is not on the kink. Where the loss has a second derivative, it is $L'' = 2$. So the equation says $\sigma^2$ for the mean loss, wherever the intermediate points lie, and every other number contradicts it.

# %% mystnb={"code_prompt_hide": "The mean", "code_prompt_show": "The mean"} tags=["hide-input"]
sigma = 0.5
# Beyond the kink the loss is (2 - x)^2 = x^2 - 4 (x - 1), so the mean is short of sigma^2 by
# 4 E (x - 1)_+ for normal x, which is also minus the term of the corners.
x, steps = np.linspace(-12 * sigma, 12 * sigma, 1_200_001, retstep=True)
density = np.exp(-(x**2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi)) * steps
bent_mean = density @ (x - 2 * np.maximum(x - 1, 0)) ** 2
tail = erfc(1 / (sigma * np.sqrt(2))) / 2  # chance that the noise passes the kink
corners = 4 * (tail - sigma * np.exp(-1 / (2 * sigma**2)) / np.sqrt(2 * np.pi))
thm6.refuted(
    "as restored, for the mean of $w - 2(w - 1)_+$ at $\\sigma = \\frac12$: amount by which"
    " the equation is too large, wherever the points lie; control: with the term of the "
    "corners",
    sigma**2 - bent_mean,
    at_most=0,
    tol=1e-9,
    control=sigma**2 + corners - bent_mean,
    about="proof",
    evidence="attained",
)
glue(bent_mean=bent_mean, tail=100 * tail)

# %% [markdown]
# At $\sigma = \frac12$ the mean loss is {glue:text}`bent_mean:.4f`, and the equation says 0.25. The noise passes the kink with a chance of {glue:text}`tail:.1f` %. The paper's proviso makes such flips improbable, and the error of the equation is then as small as their contribution. But it is not zero, because the mean includes the improbable flips.
#
# Both examples are small, and neither is the paper's transformer. Where the curvature varies along a segment, it can be possible to choose points that satisfy the equation for the mean, even if most draws flip a unit. The plateau at $\sigma = 0.1$ is an example, as the values of $\varphi''$ along random segments show. Such a choice is possible if the mean loss lies between the means of the smallest and of the largest $\frac12 \varphi''$ on each segment.

# %% mystnb={"code_prompt_hide": "Segments of the plateau", "code_prompt_show": "Segments of the plateau"} tags=["hide-input"]
loss, sigma = cases["plateau"][0], 0.1
noise = torch.Generator().manual_seed(seed + 3)
ends = {
    k: sigma * torch.randn(draws, *v.shape, dtype=v.dtype, generator=noise)
    for k, v in plateau.items()
}
t = (torch.arange(50, dtype=torch.float64) + 0.5) / 50


def along(t, end):
    return loss({k: v + t * end[k] for k, v in plateau.items()})


def active(weights):
    return bits.double() @ weights["W"].mT + weights["b"][..., None, :] > 0


halves = vmap(lambda end: vmap(grad(grad(along)), (0, None))(t, end) / 2, chunk_size=20)(ends)
least, most = halves.amin(1), halves.amax(1)
moved = vmap(lambda end: along(1.0, end))(ends)
flips = active({k: plateau[k] + ends[k] for k in plateau}) != active(plateau)
outside = (moved < least) | (moved > most)
glue(moved=moved.mean().item(), least=least.mean().item(), most=most.mean().item())
glue(flipped=100 * flips.flatten(1).any(1).double().mean().item())
glue(outside=100 * outside.double().mean().item())

# %% [markdown]
# In {glue:text}`flipped:.0f` % of the draws a unit flips. The mean loss is {glue:text}`moved:.2f`, and the two means are {glue:text}`least:.2f` and {glue:text}`most:.2f`. So there are points for which the equation holds in the mean, but for {glue:text}`outside:.0f` % of the single draws there is none.
#
# The integral form needs no choice of points. It gives the same decomposition, with $\Delta$ a mean of Hessians over the segment in place of a Hessian at one point:
#
# ```{prf:theorem} Theorem 6, repaired (ours)
# :label: sharpness-repaired
# Let the model be continuous in its weights and consist of finitely many pieces, which are bounded by zero sets of analytic functions. On each piece, up to its boundary, let it be twice continuously differentiable, and let it and its first two derivatives grow at most like a polynomial. (Networks of linear maps, ReLU and softmax are such models.) At an interpolator that lies on no such boundary,
#
# $$\mathbb E_U L(\theta + \sigma U) = \frac{\sigma^2}2 \operatorname{tr} H(\theta) + \sigma^2\, \mathbb E_U \int_0^1 (1 - t)\, U^\top \bigl(H(\theta + t \sigma U) - H(\theta)\bigr) U\, dt + C ,$$
#
# where $C$ is the mean of what the corners add, which is $(1 - t)$ times the jump of $\varphi'$ at every $t$ where the segment crosses a boundary. If the error is zero wherever the model bends, as in the example, then $C = 0$.
# ```
#
# **The idea of the proof.** Between two kinks the loss is smooth along the segment, so there we may integrate by parts. If we add up the pieces, the sum differs from Taylor's theorem only by the jumps of $\varphi'$ at the kinks.
#
# ```{dropdown} Proof
# We integrate over the pieces of a segment, and then take the mean over all segments. An analytic function that is not identically zero is, for almost every $U$, not identically zero along the segment either, so it has finitely many zeros there. Hence for almost every $U$ the segment meets the boundaries in finitely many points $t_k$, and between them $\varphi$ is smooth. If we integrate $(1 - t)\, \varphi''$ by parts on each piece and add up, we get $\int_0^1 (1 - t) \varphi'' = -\varphi'(0) - \sum_k (1 - t_k) J_k + \varphi(1) - \varphi(0)$, with $J_k$ the jump of $\varphi'$ at $t_k$. Now take the mean over $U$. Here $\mathbb E\, \varphi'(0) = 0$ and $\varphi(0) = 0$, and $\int_0^1 (1 - t)\, dt = \frac12$ turns the part with $H(\theta)$ into the trace term. For a squared error $J_k = 2 r\, j_k$, with $r$ the error and $j_k$ the jump of the model's own derivative. $\square$
# ```
#
# ## A learner that minimizes norm and sharpness
#
# ```{prf:definition} Lintilhac and Shaikh (2026), Definition 1 and Remark 3
# :label: sharper-def1
# The *idealized low-sharpness learner* returns weights that minimise $L(\theta) + \alpha\, |\theta|^2 + \beta \operatorname{tr} H(\theta)$, with $\alpha, \beta \ge 0$. (The formula is missing in the text that we could read. A public note quotes it with $\alpha\, |\theta|$, without a square. We take the square. What the remark says is the same in both forms, because they agree at $\alpha = 0$, and there its example below stands.) That the learner is below a given interpolator in both norm and trace "does not follow from minimizing a weighted sum" alone.
# ```
#
# What does such a learner gain over a given interpolator $\theta^*$, that is, over given weights of loss 0? If $\alpha$ or $\beta$ is positive, a minimiser cannot exceed $\theta^*$ in *both* norm and trace, since $\theta^*$ would then have the smaller sum. But this does not imply that the minimiser lies below $\theta^*$ in both.
#
# To see this we compute where the learner ends for the three weights, for which $\operatorname{tr} H = 2u^2 + 4v^2 + 2b^2$. With $A = \alpha + 2\beta$ and $B = \alpha + 4\beta$ the sum is $(uv - 1)^2 + A u^2 + B v^2$ at $b = 0$. By the inequality of arithmetic and geometric means $A u^2 + B v^2 \ge 2 \sqrt{AB}\, uv$, so the minimum has $A u^2 = B v^2$ and $uv = 1 - \sqrt{AB}$. The remark of the paper would be refuted if the learner were below every interpolator in both norm and trace.


# %%
def learner(A, B):
    """Where the learner ends: the minimum of (uv - 1)^2 + A u^2 + B v^2."""
    uv = 1 - (A * B) ** 0.5
    u2, v2 = uv * (B / A) ** 0.5, uv * (A / B) ** 0.5
    row = {"u": u2**0.5, "v": v2**0.5, "loss": (uv - 1) ** 2}
    return row | {"squared norm": u2 + v2, "trace": 2 * u2 + 4 * v2}


rows, exchanged = {}, {}
for share in (0.0, 0.5, 1.0):  # of sharpness in what the learner minds
    alpha, beta = 1e-3 * (1 - share), 1e-3 * share
    rows[share] = learner(alpha + 2 * beta, alpha + 4 * beta)
    exchanged[share] = learner(alpha + 4 * beta, alpha + 2 * beta)
learners, exchanged = (
    pd.DataFrame(v).T.rename_axis("share of sharpness") for v in (rows, exchanged)
)
form = dict.fromkeys(learners, ".4f") | {"loss": ".1e"}
table(learners, "Where the learner ends", form=form, tiny=1e-12)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]


def over(u, ends):
    """The largest of squared norm and trace over those of the interpolator (u, 1/u, 0)."""
    norm, trace = (np.max(ends[k]) for k in ("squared norm", "trace"))
    return max(norm / (u**2 + u**-2), trace / (2 * u**2 + 4 * u**-2))


without_bias = learner(2e-3, 2e-3)  # the trace without the second derivative in b, 2 v^2
def1.holds(
    "ratio of the squared norm of the minimiser for sharpness alone to that of $(1, 1, 0)$;"
    " control: a trace that leaves out what the bias adds",
    learners["squared norm"][1.0] / 2,
    at_least=1.01,
    control=without_bias["squared norm"] / 2,
    about="statement",
    evidence="attained",
)
def1.holds(
    "all three minimisers against $(\\frac32, \\frac23, 0)$: larger of the ratios of norm "
    "and of sharpness; control: $u$ and $v$ exchanged",
    over(1.5, learners),
    at_most=1,
    control=over(1.5, exchanged),
    about="ours",
    evidence="attained",
)
us = [2 ** (i / 16) for i in range(-32, 33)]
chosen = {u: min(2, max(1, u**4)) for u in us}  # B/A, which the learner can have from 1 to 2
def1.holds(
    "$(u, 1/u, 0)$ for 65 values of $u$ from $\\frac14$ to 4, against the minimiser with $B/A = "
    "\\min(2, \\max(1, u^4))$: larger of the ratios of norm and of sharpness; control: $A$ and "
    "$B$ exchanged",
    max(over(u, learner(1e-3, 1e-3 * r)) for u, r in chosen.items()),
    at_most=1,
    control=max(over(u, learner(1e-3 * r, 1e-3)) for u, r in chosen.items()),
    about="ours",
    evidence="attained",
)
glue(norm_paid=100 * (learners["squared norm"][1.0] / 2 - 1))

# %% [markdown]
# The learner that minimises sharpness alone ends with a squared norm {glue:text}`norm_paid:.1f` % above that of $(1, 1, 0)$, so it reaches a smaller trace at the cost of a larger norm. All three learners have both a smaller norm and a smaller trace than the cross of {numref}`fig-three-weights`, which is $u = \frac32$. Whether a learner *dominates* an interpolator, that is, ends below it in both numbers, therefore depends on the interpolator.
#
# None of the three ends at an interpolator exactly, because the learner accepts the loss $AB$ for a smaller sum. By such small amounts the learner may end below an interpolator in both numbers although no other interpolator dominates it, as the first row is below $(1, 1, 0)$. Up to such amounts, the learner can end below an interpolator in both numbers only if some other interpolator is at least as good in both.
#
# The paper's Section 1.2 says: "For some setting of the regularization parameters, one can thus find an interpolator for which the parameter norm and expected perturbed sharpness are both upper-bounded by those of our construction". For the three weights this is true up to the loss $AB$: for $(u, 1/u, 0)$ one can choose $\alpha$ and $\beta$ such that $B/A = \min(2, \max(1, u^4))$. In its Remark 3 the paper states as an assumption that its learner dominates its own network, and gives reasons for this; see {ref}`ch-pareto` and {ref}`ch-low-sharpness-interpolators`.
#
# ## What we found
#
# * Where the loss is smooth, small noise raises it by the trace term, up to a rest of order $\sigma^4$. The proof by a Lagrange point fails across a kink, and an integral with a term for the corners repairs it.
# * The trace term is a poor approximation where units sit on their kinks, where the loss is not zero, and, for a transformer with random weights, at noise of about 0.1 and more.
# * Minimising a weighted sum does not give domination in both norm and sharpness, as Remark 3 says.
#
# ```{finding} sharper.thm6
# :title: Across a ReLU's kink there is no Lagrange point
# :group: proof
#
# **Statement.** As restored, the rest is half of $\sigma^2\, U^\top (H(\theta + U') - H(\theta)) U$ in the mean, with a Lagrange point $U'$ for each $U$. The paper has the proviso that $\sigma$ "is chosen small enough that no ReLU activations change sign under perturbation with high probability". Where no activation changes its sign, there is such a point.
#
# **Counterexample.** There are two. The first refutes the step for a single $U$, at a place where the proviso fails. For one ReLU and the loss $(w_+)^2$, from $w = -1$ to $w = 1$, the point would need the curvature $\frac12$, and only 0 and 2 occur. Any other pair of $-w$ and $w$ does the same. The second refutes the equation for the mean. For $w - 2(w - 1)_+$ and the target 0, at $w = 0$ and $\sigma = \frac12$, the mean loss is {glue:text}`bent_mean:.4f`, and the equation says 0.25 wherever the points lie. Neither model is the paper's transformer. On the plateau, for example, whose curvature varies along a segment, such points can be chosen for the mean although most draws flip a unit. For some single draws there is none.
#
# **Why.** Taylor's theorem with a Lagrange point needs a second derivative everywhere on the segment. A ReLU that flips on the way has none at its kink. Improbable flips still contribute to the mean, for which the equation is said to be exact. With the proviso their contribution is small.
#
# **Repair.** The integral form holds: the rest is $\sigma^2\, \mathbb E \int_0^1 (1 - t)\, U^\top (H(\theta + t \sigma U) - H(\theta)) U\, dt$, plus the corners that the segment crosses.
#
# **What survives.** The decomposition under the proviso, its size, and every bound that takes the largest Hessian on a segment without flips.
# ```
#
# ## What would falsify this
#
# A smooth network at zero loss would refute the theorem if small noise raised its loss by anything but the trace term. Each check has a control, for which the outcome has to be the opposite one. A zigzag whose first slope is not halved must miss the parity. Two controls concern the formula: the sum of all entries of $H$ in place of the trace, and the trace term without its factor $\frac12$, for which the order is 2 and not 4. Three more controls concern the proof. A softened ReLU has a Lagrange point, so the search for one must succeed there. With the term of the corners the equation for the mean is right, and without the corner the integral is wrong. For the learner the controls are a trace that leaves out the bias, and $u$ and $v$ or their weights in the sum exchanged.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `paullintilhac/boolean_function_sensitivity` estimates traces by Hutchinson's method, whose error is discussed in {ref}`ch-low-sharpness-interpolators` and {ref}`ch-perturbed-sharpness`. It also passes $\sigma$ where a variance is expected. If its numbers are read as variances, its mesh of noise ends at a standard deviation of $\sqrt{0.01} = 0.1$, where the rest is {glue:text}`at_tenth:.2f` times the trace term in our random transformer and {glue:text}`plateau_tenth:.1f` % of it on the plateau.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-useless-trace
# *By hand.* At which noise is the rest as large as the trace term in the network of three weights? Which weights with $uv = 1$ allow the most noise before this happens?
# ```
#
# ```{solution} ex-useless-trace
# :class: dropdown
# The rest and the trace term are equal if $2\sigma^4 = \sigma^2 (u^2 + 2v^2)$, that is, at $\sigma^2 = \frac12 u^2 + v^2$. So it is at the *sharpest* weights that the trace remains a good approximation up to the largest noise, because the rest does not depend on $u$ and the trace term does.
# ```
#
# ```{exercise}
# :label: ex-kinks-near
# *With the computer.* The kinks of the plateau are a distance of 0.25 away from the whole numbers. Move them to a distance of 0.1, 0.05 and 0.02, and compute the rest over the trace term for noise between 0.003 and 0.1. At which noise does the trace fail, and how is this noise related to the distance? The solution uses `draws` perturbations, which are 200 here. Estimates with a smaller error come from ten times as many, `python -m bookkit.run cube/sharpness -p draws 2000 --out my_run`.
# ```
#
# ```{solution-start} ex-kinks-near
# :class: dropdown
# ```
#
# For kinks at a distance $g$ the slope between two plateaus has to be $2/(1 - 2g)$.

# %%
rows = {}
for g in (0.25, 0.1, 0.05, 0.02):
    steep = 2 / (1 - 2 * g)
    near = by_hand(
        [k + at for k in ones for at in (g, 1 - g)],
        [steep * sign * (-1) ** k for k in ones for sign in (-1, 1)],
    )
    loss, row = SquaredLoss(net, bits, parity), {}
    trace = float(hessian_trace(loss, near, "exact"))
    for sigma in (0.003, 0.01, 0.03, 0.1):
        noise = torch.Generator().manual_seed(seed + 2)
        rest = perturbation_remainder(loss, near, sigma, draws, noise).mean.item()
        row[f"noise {sigma:g}"] = abs(rest) / (sigma**2 / 2 * trace)
    rows[g] = row
answer = pd.DataFrame(rows).T.rename_axis("distance")
table(answer, "The rest over the trace term", form=".2g", tiny=1e-9)

# %% [markdown]
# In the first three rows the rest rises by a factor of several hundred, or even more than a thousand, within one step of the noise: between 0.03 and 0.1 for the distance 0.25, between 0.01 and 0.03 for 0.1, and between 0.003 and 0.01 for 0.05. In the last row, for the distance 0.02, the rise has begun before the first column, since the rest at 0.003 is already more than a hundred times that of the row before.
#
# The rise begins where a unit becomes likely to pass its kink. At an input with $k$ ones the noise changes the input of the unit by a normal variable of standard deviation $\sigma \sqrt{k + 1}$, that is up to $2.6\, \sigma$ at 6 bits. So as long as $\sigma$ is below about a quarter of the distance, the rest is small, at most 0.2 % of the trace term in this table. That it also falls like $\sigma^2$ is seen only below about an eighth of the distance. Beyond a quarter the rest is between 0.1 % and 3 % here, and it does not fall like $\sigma^2$ any more.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-rescaling
# *To think about.* Multiply $u$ and $b$ by $k$ and divide $v$ by $k$, so that the function is the same. How do norm and trace change, and what does this mean for sharpness as a measure of complexity?
# ```
#
# ```{solution} ex-rescaling
# :class: dropdown
# From $(1, 1, 0)$ one gets $k^2 + k^{-2}$ and $2k^2 + 4k^{-2}$, and both grow without bound. So neither norm nor trace is a property of the function alone. The smallest trace is $4\sqrt2 \approx 5.66$, at $k^2 = \sqrt2$, and the smallest squared norm is 2, at $k = 1$. For this reason the paper uses both together.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem and the definition are from {cite:t}`sharper`.
