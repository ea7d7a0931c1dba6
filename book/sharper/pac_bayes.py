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
# (ch-pac-bayes)=
# # A PAC-Bayes bound, taken apart and put together
#
# **Claim.** A network that fits its sample, is flat and has a small norm generalizes: Theorem 2, as quoted, bounds its risk by a term with its sharpness and a term with its norm, and at the best noise the bound falls like the inverse cube root of the number of examples. The algebra is right. But the derivation needs its constant for the spread of the loss at networks drawn from the prior, and that constant was measured at trained networks. Under the prior it is at least fifty times larger, and no constant serves every network there, unless the output is clipped. With a clipped output the theorem holds, and we measure what that costs.
#
# **Needs** {ref}`ch-construction`. **Runs in** 10 s. **Source** quoted.
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 2
# :label: sharper-thm2
# *(As quoted; its derivation is repaired below.)* Let $\theta^*$ be the network of {ref}`ch-construction` for a target with degree $d$ and sparsity $W$. Let $\theta$ fit a sample of $m$ points exactly, with norm and mean perturbed sharpness no larger than those of $\theta^*$. If the loss is sub-Gaussian with constant $\Sigma$, then with probability $1 - \delta$
#
# $$\mathbb E_{u}\, R(\theta + \sigma u) \;\le\; \sigma^2 \bigl( G_u + P(\sigma) \bigr) + \Sigma \sqrt{\frac 2m \left( \frac{\|\theta^*\|^2}{2 \sigma^2} + \log \frac1\delta \right)} .$$
# ```
#
# Here $u$ is a vector of independent standard normal numbers, $R$ the mean squared error over all inputs, $r$ below the same over the sample, and $G_u = 4 + 4W(2 + d + 32d^2 + 32d^3)$ the bound on half the trace of the Hessian. $P$ is what the Hessian gains by the noise. In the text that we could read the displayed formulas are missing. This one is quoted by a public reading note of the paper, and the numbers of Appendix E.3 that the note quotes follow from it ({ref}`ch-bound-comparison`). What stands around it is restored from the words of the derivation.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), Remark 4
# :label: sharper-rem4
# *(True; the prior does not meet its assumption.)* The inputs are binary and the weights are bounded by assumption, so the output is bounded uniformly over all inputs. So is the squared loss $\ell_\theta(x)$, and by Hoeffding's lemma it is sub-Gaussian: for some $\Sigma$
#
# $$\mathbb E_x\, e^{\lambda (R(\theta) - \ell_\theta(x))} \le e^{\lambda^2 \Sigma^2 / 2} \quad \text{for all } \lambda .$$
#
# At trained networks $\Sigma$ is estimated to lie between 0.01 and 0.1 (Appendix A).
# ```
#
# **How the bound arises.** Fix a *prior* $\pi$, a law over weights chosen before the sample is seen. For one $\theta$, the mean of $e^{\lambda(R - r)}$ over samples is at most $e^{\lambda^2 \Sigma^2/(2m)}$. Average this over $\pi$, and use Markov's inequality: with probability $1-\delta$, $\log \mathbb E_\pi e^{\lambda(R-r)} \le \lambda^2\Sigma^2/(2m) + \log\frac1\delta$. A change of measure carries it to every *posterior* $\rho$ at once, at the price of the divergence $\mathrm{KL}(\rho \| \pi)$:
#
# $$\mathbb E_\rho R \le \mathbb E_\rho r + \frac{\lambda \Sigma^2}{2m} + \frac{\mathrm{KL}(\rho\|\pi) + \log(1/\delta)}{\lambda} .$$ (eq-alquier)
#
# The average over $\pi$ matters: **the condition on $\Sigma$ is used at networks drawn from the prior**, not at the trained one. Theorem 2 has $\rho = \mathcal N(\theta, \sigma^2 I)$ and $\pi = \mathcal N(0, \sigma^2 I)$.

# %% tags=["parameters"]
delta = 0.05  # probability with which the bounds may fail [0.01..0.2]
toy_bits = 8  # bits of the exact example [7..11]
toy_points = 64  # size of its samples [32..400]
draws = 4000  # samples drawn for each coverage [1000..20000]
instances = 1200  # random networks and samples for the repaired bound [1000..4000]
prior_draws = 40  # networks drawn from the prior for each target [20..200]
seed = 0  # of everything random [0..1000000]

# %% [markdown]
# ## The pieces, one by one
#
# **The divergence.** The two Gaussians have the same width. So $\log \frac{\rho}{\pi}$ at $\theta + \sigma u$ is $\frac{\|\theta + \sigma u\|^2 - \|\sigma u\|^2}{2 \sigma^2}$, whose mean is $\frac{\|\theta\|^2}{2\sigma^2}$. We check it on the weights of a real construction, with both log densities summed over all weights.
#
# **The best $\lambda$.** The last two terms of {eq}`eq-alquier` are equal at $\lambda = \sqrt{2m(\mathrm{KL} + \log(1/\delta))}/\Sigma$. That is allowed: the divergence is replaced by a bound known before the sample. The same holds for $\sigma$, if $d$ and $W$ are known; a learner that must consider $k$ classes pays $\log k$ more nats.
#
# **The best $\sigma$.** Without $P$ and $\log\frac1\delta$ the bound is $G\sigma^2 + \Sigma\sqrt{N/m}/\sigma$ with $N = \|\theta^*\|^2$. Its derivative vanishes at
#
# $$\sigma^* = \Bigl( \frac{\Sigma}{2G} \sqrt{N/m} \Bigr)^{1/3}, \qquad B^* = 3 \Bigl( \frac{\Sigma^2 G N}{4m} \Bigr)^{1/3} .$$ (eq-optimum)
#
# One third of $B^*$ is sharpness, two thirds are norm.

# %%
import math

import torch
from torch.distributions import Normal

from helpers import cube, statistics
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.kernels.walsh import walsh_hadamard
from helpers.sharper import pac_bayes as pb
from helpers.sharper.network import construct, forward
from helpers.sharper.perturbed import perturb
from helpers.sharper.tabulated import gradient_bound

ledger = Ledger("sharper/pac_bayes")
generator = torch.Generator().manual_seed(seed)
DEGREES, SPARSITIES = (1, 2, 3, 4, 5), (1, 7, 14, 20)
SIGMA_PAPER = 0.01  # the constant with which the paper instantiates its bound

target = cube.sparse_function(12, 2, 3, generator, "even_parity")
_, weights = construct(target)
theta = torch.cat([w.flatten() for w in weights.values()])
N_theta, width = theta.square().sum().item(), 0.02
noisy = theta + width * torch.randn(200, len(theta), generator=generator, dtype=torch.float64)
log_ratio = (Normal(theta, width).log_prob(noisy) - Normal(0.0, width).log_prob(noisy)).sum(-1)
kl = pb.gaussian_kl(N_theta, width)
kl_error = (log_ratio.std() / kl / len(log_ratio) ** 0.5).item()
kl_ratio = (log_ratio.mean() / kl).item()
print(f"{len(theta)} weights, norm {N_theta**0.5:.4f}, sigma {width}")
print(f"|theta|^2 / (2 sigma^2) = {kl:.2f}, sampled {log_ratio.mean().item():.2f}")

d_all = torch.tensor(DEGREES).repeat_interleave(len(SPARSITIES))
W_all = torch.tensor(SPARSITIES).repeat(len(DEGREES))
N_all, G_all = pb.norm_squared(20, d_all, W_all), gradient_bound(d_all, W_all)
factors = torch.logspace(-2, 2, 401, dtype=torch.float64)[:, None]
off = factors[(factors - 1).abs().squeeze() > 1e-9]
K_all = pb.gaussian_kl(N_all, 0.01)


def excess(curve, start):
    """Least relative excess of the curve away from a start over its value there."""
    return (curve(off * start) / curve(start) - 1).min().item()


def lambda_curve(lam):
    return pb.alquier(0.0, K_all, 1e5, delta, SIGMA_PAPER, lam)


def sigma_curve(sigma):
    return G_all * sigma**2 + SIGMA_PAPER * (N_all / 1e5).sqrt() / sigma


best_lambda = pb.optimal_lambda(K_all, 1e5, delta, SIGMA_PAPER)
best_sigma = pb.optimal_sigma(N_all, G_all, 1e5, SIGMA_PAPER)
optimum = pb.truncated_optimum(N_all, G_all, 1e5, SIGMA_PAPER)
optimum_gap = (sigma_curve(best_sigma) / optimum - 1).abs().max().item()
share = (G_all * best_sigma**2 / optimum - 1 / 3).abs().max().item()
print("least excess of other lambdas, and of other sigmas, over the closed forms:")
print(
    f"{excess(lambda_curve, best_lambda):.6f}  {excess(sigma_curve, best_sigma):.6f}"
    f"   sharpness share 1/3: {'yes' if share < 1e-12 else 'no'}"
)

# %% [markdown]
# With $\log\frac1\delta$ or $P$ there is no closed form. But the bound is convex in $\log \sigma$, so bisection of its derivative finds the one minimum. Now fit its rate. For the class $d = 2$, $W = 7$, $T = 20$ we optimise $\sigma$ at each $m$; for comparison $\sigma$ is also held fixed, and only the norm term is kept.

# %%
sizes = torch.logspace(4, 12, 33, dtype=torch.float64)
N, G = pb.norm_squared(20, 2, 7), gradient_bound(2, 7)


def best_bound(m, constant, N=N, G=G, perturbation=(0.0, 0.0, 0.0), delta=delta):
    sigma = pb.optimal_sigma(N, G, m, constant, delta, perturbation)
    return pb.bound(N, G, sigma, m, constant, delta, perturbation)


curve = best_bound(sizes, SIGMA_PAPER)
norm_only = pb.bound(N, G, 0.003, sizes, SIGMA_PAPER, delta) - G * 0.003**2
rate, norm_rate = statistics.power(sizes, curve).item(), statistics.power(sizes, norm_only).item()
P_right, P_coded = pb.perturbation(20, 2, 7), pb.perturbation(20, 2, 7, as_tabulated=True)
full = best_bound(sizes, SIGMA_PAPER, perturbation=P_right)
full_rate = statistics.power(sizes, full).item()
turn = G / P_right[1]  # the sigma at which P has grown to G
m_turn = SIGMA_PAPER**2 * N / (4 * G**2 * turn**6)
far = m_turn * torch.logspace(6, 12, 13, dtype=torch.float64)
far_rate = statistics.power(far, best_bound(far, SIGMA_PAPER, perturbation=P_right)).item()
print("        m    truncated       with P as it stands in P(sigma)")
for m, low, high in zip(sizes[::4].tolist(), curve[::4].tolist(), full[::4].tolist(), strict=True):
    print(f"{m:9.1e}  {low:11.5f}  {high:14.5f}")
print(f"slopes: best sigma {rate:.5f}, norm term at fixed sigma {norm_rate:.5f}")
print(f"slope with P {full_rate:.5f}; from m = {far[0]:.1e} on {far_rate:.5f}")
for name, P in (("factor restored", P_right), ("as tabulated", P_coded)):
    needed = pb.sample_size(N, G, SIGMA_PAPER, delta, 1.0, P)
    print(f"P {name:16} P at sigma = 0: {P[0]:.3e}, bound below 1 from m = {needed:.3e}")
glue(
    rate=rate,
    full_rate=full_rate,
    m_turn=f"{m_turn:.0e}",
    m_right=f"{pb.sample_size(N, G, SIGMA_PAPER, delta, 1.0, P_right):.1e}",
    m_coded=f"{pb.sample_size(N, G, SIGMA_PAPER, delta, 1.0, P_coded):.1e}",
)

# %% mystnb={"figure": {"caption": "The bound against $\\sigma$ (left) for three sample sizes, with the closed-form optimum marked, and at its best $\\sigma$ against $m$ (right): without $P$, and with the analytic $P$. $T = 20$, $d = 2$, $W = 7$, $\\Sigma = 0.01$.", "name": "fig-pac-bayes-optimum"}, "image": {"alt": "Two log-log plots. Left: three curves that fall and then rise as sigma grows, lower for larger samples, with a mark at each minimum. Right: two straight lines; the bound without P falls with slope minus one third and crosses one and one quarter, the bound with the analytic P lies several decades higher and falls more slowly."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.1)
grid = torch.logspace(-4, -1, 121, dtype=torch.float64)
for i, m in enumerate((1e4, 1e6, 1e8)):
    look = {"color": figures.COLOURS[i], "linestyle": figures.DASHES[i]}
    axes[0].plot(
        grid,
        pb.bound(N, G, grid, m, SIGMA_PAPER, delta),
        marker="",
        label=f"$m=10^{round(math.log10(m))}$",
        **look,
    )
    axes[0].plot(
        pb.optimal_sigma(N, G, m, SIGMA_PAPER),
        best_bound(m, SIGMA_PAPER),
        marker=figures.MARKERS[i],
        color=figures.COLOURS[i],
        linestyle="none",
    )
axes[0].set(xscale="log", yscale="log", xlabel="$\\sigma$", ylabel="bound on the risk")
axes[0].legend()
axes[1].plot(sizes, curve, marker="", label="without $P$")
axes[1].plot(sizes, full, marker="", label="analytic $P$")
axes[1].axhline(1, color=figures.GREY, linewidth=0.8, linestyle=":", marker="")
axes[1].axhline(0.25, color=figures.GREY, linewidth=0.8, linestyle=":", marker="")
axes[1].text(1.5e4, 1.1, "1", fontsize=8, color=figures.GREY)
axes[1].text(1.5e4, 0.13, "1/4", fontsize=8, color=figures.GREY)
axes[1].set(xscale="log", yscale="log", xlabel="sample size $m$")
axes[1].legend()
figures.show()

# %% [markdown]
# The slope is {glue:text}`rate:.4f`: the rate $m^{-1/3}$ holds for the truncated bound. With the analytic $P$ it is {glue:text}`full_rate:.4f`, but of a much larger number: $\sigma^2 P$ brings terms in $\sigma^3$ and $\sigma^4$, which dominate until $P$ has fallen to $G$, at about $m =$ {glue:text}`m_turn`. Only from there on is it the third root. In the notebook two terms of $P$ have lost their factor $\sigma$, so that $P$ does not vanish with the noise. That alone raises the $m$ at which this bound falls below 1 from {glue:text}`m_right` to {glue:text}`m_coded`.
#
# ## A slip of one notebook
#
# The paper squares the norm: the numbers quoted from its Appendix E.3 come out with the square only ({ref}`ch-bound-comparison`). A plotting notebook of 2025 in the authors' repository does not square it. This says nothing about Theorem 2, and we do not know whether a figure of the paper was made with that notebook. But it shows what the square is for. Three of the notebook's numbers are known to us: one that it prints, and two bars of a plot, for $(d, W) = (5, 1)$ and $(5, 20)$. The printed value is for $T = 50$, $m = 10^7$, $d = W = 1$, $\sigma = 10^{-5}$, $\delta = \Sigma = 0.01$, and is the norm term alone. The bars are for $T = 20$, $m = 10^4$, $\delta = 0.2$, $\Sigma = 0.01$.
#
# The norm of the construction has several readings. Write $M = 16d^2(d+1) + 8(d+1)$ and $\ell = 4 \log^2 T$:
#
# | reading | $\|\theta^*\|^2$ at most | whose |
# |:--|:--|:--|
# | ours | $1 + W + M + \ell(dW + W)$ | the sum of the paper's seven blocks; valid for $T^{-4} \le c_i \le 1$ |
# | length-free | $21 + M + \ell dW$ | no source has it: the scores of the second attention left out |
# | tabulated | $21 + M + \ell(dW + T)$ | the notebook, newest version |
# | sinks | $21 + M + \ell(dW + T + 1 - W)$ | the notebook, older version |

# %%
PRINTED = 2.376740233010865  # by the authors' notebook
BARS = {(5, 1): 0.495, (5, 20): 1.498}  # of its plot, as far as we know the digits
N_printed = pb.norm_squared(50, 1, 1, "sinks")


def norm_term(norm):
    G = gradient_bound(1, 1)
    return pb.bound(norm, G, 1e-5, 1e7, 0.01, 0.01) - 1e-10 * G


with_square, without_square = norm_term(N_printed), norm_term(N_printed**0.5)
print(f"norm term, T = 50:  with the square {with_square:.12f}")
print(f"                 without the square {without_square:.12f}")
print(f"                            printed {PRINTED:.12f}")


def plotted(d, W, reading="sinks", power=0.5, m_of_sigma=1e3):
    """The notebook's bar: the norm to the power 1 in place of 2, sigma from another m."""
    norm, G = pb.norm_squared(20, d, W, reading) ** power, gradient_bound(d, W)
    sigma = pb.optimal_sigma(norm, G, m_of_sigma, SIGMA_PAPER, 0.2)
    return pb.bound(norm, G, sigma, 1e4, SIGMA_PAPER, 0.2)


def distance_from_bar(d, W, power):
    """How far the bar lies from all bounds with a sigma within half a step of the best one."""
    norm, G = pb.norm_squared(20, d, W, "sinks") ** power, gradient_bound(d, W)
    start = pb.optimal_sigma(norm, G, 1e3, SIGMA_PAPER, 0.2)
    step = (0.01 - 0.00001) / 19  # of the authors' grid of 20 values
    near = start + torch.linspace(-step / 2, step / 2, 201, dtype=torch.float64)
    values = pb.bound(norm, G, near, 1e4, SIGMA_PAPER, 0.2)
    return max(values.min().item() - BARS[d, W], BARS[d, W] - values.max().item(), 0.0)


print("\nbars, m = 1e4          plot   |theta|, sigma of m = 1e3   |theta|^2, best sigma")
for (d, W), value in BARS.items():
    coded, right = plotted(d, W), plotted(d, W, power=1, m_of_sigma=1e4)
    print(f"d = {d}, W = {W:2}        {value:6.3f}   {coded:20.4f}   {right:20.4f}")
bar_gap = max(distance_from_bar(*c, 0.5) for c in BARS)
bar_gap_square = min(distance_from_bar(*c, 1) for c in BARS)
glue(with_square=with_square, without_square=without_square)

# %% [markdown]
# To all twelve digits shown the printed value is the formula with $\|\theta\|$ in place of $\|\theta\|^2$: {glue:text}`without_square:.6f`, where the divergence gives {glue:text}`with_square:.4f`. The bars follow the same formula with the $\sigma$ that is best for $m = 10^3$: the first to its last digit, the second within 1 %, less than a step in the authors' grid of $\sigma$ can move it. The slip matters: a divergence has no unit, while $\|\theta\|/\sigma^2$ changes when weights are measured in another unit. Below that is used as a control.
#
# ## The twenty classes
#
# Is the sum of the seven blocks an upper bound on the norm? It is compared with the sum of the squared weights of real networks, one target a class in each basis. Then the bound for all classes at $m = 10^4$, $\delta = 0.2$ and $\Sigma = 0.01$, each at its own best $\sigma$.


# %%
def norm_left(reading):
    """Least excess of a reading of the norm over that of a network, all classes and bases."""
    return min(
        pb.norm_squared(20, d, W, reading)
        - sum(
            w.square().sum().item()
            for w in construct(cube.sparse_function(20, d, W, generator, basis))[1].values()
        )
        for basis in cube.BASES
        for d in DEGREES
        for W in SPARSITIES
    )


left = {reading: norm_left(reading) for reading in pb.NORMS}
print("least excess of the reading over the squared norm of a network, 40 targets")
print(", ".join(f"{name} {value:.4f}" for name, value in left.items()))

by_class = best_bound(1e4, SIGMA_PAPER, N_all, G_all, delta=0.2)
clipped = torch.tensor(
    [
        best_bound(1e4, W / 2, norm, sharp, delta=0.2)
        for norm, sharp, W in zip(N_all.tolist(), G_all.tolist(), W_all.tolist(), strict=True)
    ]
)
print(" d  W   Sigma = 0.01   Sigma = W/2")
for d, W, small, valid in zip(d_all, W_all, by_class, clipped, strict=True):
    print(f"{int(d):2} {int(W):2} {small:14.4f} {valid:13.4f}")
glue(above=int((by_class > 1).sum()), above_quarter=int((by_class > 0.25).sum()))

# %% mystnb={"figure": {"caption": "The bound for the twenty classes at $m = 10^4$, $\\delta = 0.2$: with $\\Sigma = 0.01$ (filled), and with the constant $W/2$ that holds for every network with a clipped output (open). Dotted: 1, and the risk 1/4 of the best constant.", "name": "fig-pac-bayes-classes"}, "image": {"alt": "Bound against degree on a logarithmic axis, one colour and marker for each sparsity. Filled marks rise from about 0.2 to about 6; more than half of them lie above one. Open marks lie one to two decades above the filled ones, and rise with degree and sparsity too."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for i, W in enumerate(SPARSITIES):
    pick = W_all == W
    shift = 0.12 * (i - 1.5)
    look = {"color": figures.COLOURS[i], "marker": figures.MARKERS[i], "linestyle": "none"}
    ax.plot(d_all[pick] + shift, by_class[pick], label=f"$W={W}$", **look)
    ax.plot(d_all[pick] + shift, clipped[pick], markerfacecolor="white", **look)
for level in (1, 0.25):
    ax.axhline(level, color=figures.GREY, linewidth=0.9, linestyle=":", marker="")
ax.set(yscale="log", xlabel="degree $d$", ylabel="bound on the risk", xticks=DEGREES)
ax.set_yticks([0.25, 1, 10, 100], ["1/4", "1", "10", "100"])
ax.minorticks_off()
ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.15))
figures.show()

# %% [markdown]
# With $\Sigma = 0.01$ the bound is above 1 in {glue:text}`above` classes, and above $\frac14$ in {glue:text}`above_quarter` of 20. The second number is the one that counts: the targets have $\sum_i c_i^2 = 1$, so their variance is $\frac14$, and a constant has that risk without any learning. The sum of the seven blocks is above the norm of every network that we built; two of the other readings are not.
#
# ## Does the inequality hold?
#
# A bound with probability can be tested by drawing many samples. We need an example where everything but the sample is exact. Let $K = 2^n - 1$ predictors be given, the even-parity indicators of all non-empty subsets of $n$ bits. A weight vector $\theta \in \mathbb R^K$ picks the predictor with the largest entry. The posterior $\mathcal N(a e_k, \sigma^2 I)$ with $a = 7\sigma$ picks predictor $k$ nearly always, and its divergence from $\mathcal N(0, \sigma^2 I)$ is $a^2/(2\sigma^2) = 24.5$. The loss is 0 or 1, so $\Sigma = \frac12$ by Hoeffding. Let the target be the parity of one subset.
#
# The bound must hold for all posteriors at once, so let $k$ be the predictor whose sample risk flatters it most. That is the repaired theorem of this page with $W = 1$: the loss is clipped to $[0, W]$, and $\Sigma = W/2$. The same samples test three bounds with one broken piece each: without the divergence; with $a$ for $a^2$, in a unit in which $\sigma = 10$; and with a constant fifty times too small.

# %%
predictors = 2**toy_bits - 1
at = torch.randint(0, 2**toy_bits, (draws, toy_points), generator=generator)
counts = torch.zeros(draws, 2**toy_bits, dtype=torch.float64)
counts.scatter_add_(1, at, torch.ones_like(at, dtype=torch.float64))
# the loss of S against the target U is (1 - chi) / 2 with chi the character of their difference
flattery = walsh_hadamard(counts) / toy_points / 2  # R - r, column 0 is the target itself
flattery[:, 0] = 0
lead = 7.0
z = torch.linspace(-6, 16, 20001, dtype=torch.float64)
wins = torch.exp(Normal(lead, 1.0).log_prob(z) + (predictors - 1) * Normal(0, 1.0).cdf(z).log())
q = torch.trapezoid(wins, z).item()  # probability that the posterior picks predictor k
worst = flattery.max(-1).values
gap = q * worst + (1 - q) * (flattery.sum(-1) - worst) / (predictors - 1)  # E_rho R - E_rho r

unit = 10.0
KL = {"right": pb.gaussian_kl((lead * unit) ** 2, unit), "norm": pb.gaussian_kl(lead * unit, unit)}
VARIANTS = {
    "the bound": (KL["right"], 0.5),
    "no divergence": (0.0, 0.5),
    "norm not squared": (KL["norm"], 0.5),
    "constant over fifty": (KL["right"], 0.5 / 50),
}
failures = {
    name: (gap > pb.alquier(0.0, nats, toy_points, delta, constant)).double().mean().item()
    for name, (nats, constant) in VARIANTS.items()
}

# every posterior at once: Donsker and Varadhan's formula for the worst of them, uniform prior
lam = pb.optimal_lambda(math.log(2**toy_bits), toy_points, delta, 0.5)
excess_of = torch.logsumexp(lam * flattery, -1) - math.log(2**toy_bits)
any_posterior = (excess_of > lam**2 * 0.25 / (2 * toy_points) - math.log(delta)).double().mean()
any_free = worst > pb.alquier(0.0, 0.0, toy_points, delta, 0.5)  # the same without a divergence
print(f"K = {predictors}, m = {toy_points}, delta = {delta}, picked with probability {q:.6f}")
print(f"{draws} samples                nats  Sigma     fails")
for name, (nats, constant) in VARIANTS.items():
    print(f"{name:20} {nats:12.4f} {constant:6.2f}  {failures[name]:8.4f}")
print(f"any posterior at all, uniform prior over the predictors: {any_posterior.item():.4f}")
glue(predictors=predictors, delta=delta)
for name, key in (
    ("fail_right", "the bound"),
    ("fail_norm", "norm not squared"),
    ("fail_small", "constant over fifty"),
    ("fail_free", "no divergence"),
):
    glue(**{name: failures[key]})

# %% [markdown]
# The bound fails in {glue:text}`fail_right:.4f` of the samples. Without the divergence it fails in {glue:text}`fail_free:.3f`, with the norm in {glue:text}`fail_norm:.3f`, with the small constant in {glue:text}`fail_small:.3f`. So each of the three is needed. A test that goes beyond one family uses the formula of Donsker and Varadhan: the largest value of $\lambda\, \mathbb E_\rho(R - r) - \mathrm{KL}$ over **all** $\rho$ is $\log \mathbb E_\pi e^{\lambda(R - r)}$, an average over $2^n$ predictors that we can form.
#
# ## Which $\Sigma$?
#
# The condition is stated for a fixed network, and the paper measures a small $\Sigma$ at trained networks. Such a $\Sigma$ is small where the network has learned its target, so to measure it there is to presuppose what the bound is to show. The derivation uses it elsewhere. At the prior $\mathcal N(0, \sigma^2 I)$ with small $\sigma$ the network outputs nearly 0, and its loss is nearly $f(x)^2$, which is not small. A sub-Gaussian constant is never below the standard deviation. We draw networks from the prior and from the posterior, each with inputs of its own, and estimate $\Sigma$ as the paper does: the least constant with which a Gaussian moment generating function covers that of the loss. The targets are one 2-parity, and tilings $f = W^{-1/2} \sum_i p_{\{2i-1, 2i\}}$.

# %%
TARGETS = ((20, 1), (20, 10), (50, 25))


def tiling(n, W):
    masks = torch.tensor([3 << 2 * i for i in range(W)])
    return cube.SparseFunction(
        n, masks, torch.full((W,), W**-0.5, dtype=torch.float64), "even_parity"
    )


def sampled_losses(f, spec, networks, inputs, clip=None):
    """Losses of each network at inputs of its own, (E, inputs)."""
    count = len(networks["b"])
    points = torch.randint(0, 2**f.n, (count, inputs), generator=generator)
    bits = points[..., None] >> torch.arange(f.n) & 1
    output = forward(spec, networks, bits)
    output = output if clip is None else output.clamp(0, clip)
    return (output - f(points.flatten()).reshape(points.shape)).square()


def spread_of_square(W):
    """Standard deviation of f(x)^2 for a tiling: K^2 / W with K binomial."""
    k = torch.arange(W + 1, dtype=torch.float64)
    p = torch.tensor([math.comb(W, int(i)) for i in k], dtype=torch.float64) / 2**W
    square = k**2 / W
    return ((p * square**2).sum() - (p * square).sum() ** 2).sqrt().item()


INPUTS = 200  # for each network
print("T   W   sigma       under the prior        limit   near the network   clipped: W/2")
prior_sigma, near_sigma, limits, prior_errors = [], [], [], []
for n, W in TARGETS:
    f = tiling(n, W)
    spec, weights = construct(f)
    sigma = pb.optimal_sigma(pb.norm_squared(n, 2, W), gradient_bound(2, W), 1e5, SIGMA_PAPER)
    zero = {k: torch.zeros_like(v) for k, v in weights.items()}
    found = {}
    for name, centre in (("prior", zero), ("near", weights)):
        losses = torch.cat(
            [
                sampled_losses(f, spec, perturb(centre, sigma, 10, generator), INPUTS)
                for _ in range(math.ceil(prior_draws / 10))
            ]
        )
        constants = pb.subgaussian_constant(losses)
        found[name] = (constants.mean().item(), (constants.std() / len(constants) ** 0.5).item())
    prior_sigma.append(found["prior"][0])
    prior_errors.append(found["prior"][1])
    near_sigma.append(found["near"][0])
    limits.append(spread_of_square(W))
    print(
        f"{n:2} {W:3} {sigma:8.5f}   {found['prior'][0]:8.4f} +- {found['prior'][1]:6.4f}"
        f"   {limits[-1]:9.4f}   {found['near'][0]:9.5f} +- {found['near'][1]:7.5f}   {W / 2:6.2f}"
    )


def limit_gap(found):
    """Largest relative gap to sd(f^2), less five standard errors and the bias of 200 inputs."""
    return max(
        abs(a / b - 1) - 5 * e / b - 1 / INPUTS
        for a, b, e in zip(found, limits, prior_errors, strict=True)
    )


for i, (_, W) in enumerate(TARGETS):
    glue(
        **{f"prior_{W}": limits[i]},
        **{f"times_{W}": limits[i] / SIGMA_PAPER},
        **{f"cost_{W}": f"{(limits[i] / SIGMA_PAPER) ** 2:.1e}"},
    )

# %% [markdown]
# Near the hand-written network $\Sigma$ is at most 0.1, as the paper finds at trained ones. Under the prior $\Sigma$ is at least {glue:text}`prior_1:.2f`, {glue:text}`prior_10:.2f` and {glue:text}`prior_25:.2f`: {glue:text}`times_1:.0f`, {glue:text}`times_10:.0f` and {glue:text}`times_25:.0f` times 0.01. The sample size that a bound needs grows with $\Sigma^2$, so by {glue:text}`cost_1`, {glue:text}`cost_10` and {glue:text}`cost_25`.
# For small $\sigma$ it is the standard deviation of $f(x)^2$, in the column *limit*: exactly known, since $\sqrt W f$ is binomial.
#
# And these are only lower bounds. Remark 4 is right: with weights that are bounded by assumption some constant serves all networks. But a Gaussian prior does not meet the assumption, since it reaches arbitrarily large weights: multiply the read-out by $a$, and the loss grows like $a^2$. In fact $\mathbb E_\pi e^{\lambda(R-r)}$ is infinite for every $\lambda > 0$. Given all weights but $v_2$, the difference $R - r$ is a quadratic form in $v_2$ plus a linear one. Its leading coefficient is positive on some samples, and as large as one likes for some values of $F$; so the average over a Gaussian $v_2$ diverges with positive probability. **So what the derivation needs under this prior holds for no $\Sigma$ at all.** Whether the inequality of Theorem 2 holds all the same, for a $\Sigma$ that is valid at the networks near $\theta$ only, is open.
#
# The repair is short. The target lies in $[0, \sqrt W]$. Clip the output to that interval. No loss grows by it, so the sharpness term stays a bound. The loss then lies in $[0, W]$, and Hoeffding's lemma gives $\Sigma = W/2$ for every network.

# %%
f = cube.sparse_function(8, 2, 4, generator, "even_parity")
spec, weights = construct(f)
bits, values = cube.bits(8), f.table()


def constants_at(networks, clip):
    output = forward(spec, networks, bits)
    output = output.clamp(0, 2) if clip else output  # sqrt W = 2
    return pb.subgaussian_constant((output - values).square())


spread = perturb({k: torch.zeros_like(v) for k, v in weights.items()}, 1.0, 100, generator)
print("read-out times    largest Sigma of 100 networks: free      clipped, at most W/2 = 2")
growth, largest_clipped, largest_free = [], 0.0, 0.0
for a in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0):
    scaled = spread | {"v2": a * spread["v2"]}
    free, clipped = (constants_at(scaled, clip).max().item() for clip in (False, True))
    growth.append((free, clipped))
    largest_clipped, largest_free = max(largest_clipped, clipped), max(largest_free, free)
    print(f"{a:10.2f}    {free:28.4e} {clipped:22.4f}")
last_growth = [math.log10(growth[-1][i] / growth[-2][i]) for i in (0, 1)]
print(f"powers of the factor in the last step: {last_growth[0]:.4f}, {abs(last_growth[1]):.4f}")

# %% [markdown]
# ## What it costs to be right
#
# How many examples does the bound need, for one 2-parity, for the tiling of the paper's Appendix E.3 ($T = 20$), and for one of 50 bits? We give the $m$ at which the bound falls below 1, as the paper asks, and below $\frac14$, the risk of the best constant.

# %%
READINGS = {"0.01": lambda W: 0.01, "prior": spread_of_square, "W/2": lambda W: W / 2}
least = {}
print("T   W   Sigma            below 1     below 1/4")
for n, W in TARGETS:
    N_class, G_class = pb.norm_squared(n, 2, W), gradient_bound(2, W)
    for name, constant in READINGS.items():
        S = constant(W)
        row = [pb.sample_size(N_class, G_class, S, delta, level) for level in (1.0, 0.25)]
        least[W, name] = row
        print(f"{n:2} {W:3}   {name:5} {S:7.3f}   {row[0]:11.4e}  {row[1]:11.4e}")
glue(m_small=f"{least[10, '0.01'][1]:.1e}", m_valid=f"{least[10, 'W/2'][1]:.1e}")
quarter_price = least[10, "0.01"][1] / least[10, "0.01"][0]
glue(quarter_price=quarter_price)

# %% [markdown]
# For the tiling of Appendix E.3 the bound falls below $\frac14$ from {glue:text}`m_small` examples on with $\Sigma = 0.01$, and from {glue:text}`m_valid` on with the constant that is valid for every network. To ask for $\frac14$ in place of 1 costs a factor {glue:text}`quarter_price:.1f` alone, since $m$ grows like $1/q^3$. The large number is the price of Hoeffding's constant and of a prior as narrow as the posterior, not of flatness: {ref}`ch-bound-comparison` has a sharper form of the same bound that needs far less.
#
# ## The repaired bound beside the risk
#
# Repaired: clipped loss, $\Sigma = W/2$, and the training risk of the noisy network measured rather than replaced by $\sigma^2 G_u$. The last point matters: at finite score scale the construction is no exact interpolator, see {ref}`ch-construction`. **Proof.** The loss lies in $[0, W]$ for every network, so Hoeffding's lemma gives the condition with $\Sigma = W/2$ for every network, those of the prior included, and {eq}`eq-alquier` follows as above. $\square$
#
# That every piece is needed was tested above, where the posterior is chosen after the sample. Here we see how far the bound is from the risk: random targets, sample sizes and $\sigma$, the risk over all inputs, and the same eight draws of the noise in both averages. These posteriors are fixed before the sample, so few violations are no evidence for the divergence.


# %%
def instance():
    """One random target, noise level and sample: the pieces of the bound."""
    n = 4 + int(torch.randint(0, 3, (), generator=generator))
    d = 1 + int(torch.randint(0, 3, (), generator=generator))
    W = 1 + int(torch.randint(0, 4, (), generator=generator))
    f = cube.sparse_function(n, d, min(W, n), generator, "even_parity")
    spec, weights = construct(f)
    sigma = 10 ** (-2.5 + 2 * torch.rand((), generator=generator, dtype=torch.float64).item())
    m = int(2 ** (3 + 7 * torch.rand((), generator=generator).item()))
    output = forward(spec, perturb(weights, sigma, 8, generator), cube.bits(n))
    losses = (output.clamp(0, f.sparsity**0.5) - f.table()).square().mean(0)  # over the noise
    sample = torch.randint(0, 2**n, (m,), generator=generator)
    N = sum(w.square().sum().item() for w in weights.values())
    return [losses.mean().item(), losses[sample].mean().item(), sigma, m, N, f.sparsity / 2]


rows = torch.tensor([instance() for _ in range(instances)], dtype=torch.float64)
risk, sample_risk, sigma, m, norm, constant = rows.unbind(1)
repaired = pb.alquier(sample_risk, pb.gaussian_kl(norm, sigma), m, delta, constant)
violations = int((risk > repaired).sum())
slack = (repaired / risk).median().item()
print(f"{instances} instances: {violations} violations, median of bound over risk {slack:.1f}")
glue(instances=instances, violations=violations, slack=slack)

# %% [markdown]
# {glue:text}`violations` of {glue:text}`instances` instances violate the repaired bound. It is true, and it says little: the median of bound over risk is {glue:text}`slack:.0f`.
#
# ## What would falsify this
#
# A sampled divergence off $\|\theta\|^2/(2\sigma^2)$; a $\lambda$ or $\sigma$ better than the closed form; a slope other than $-\frac13$. For the inequality: more failures than $\delta$ allows; its controls drop the divergence or the square, or have too small a constant, and fail often. For the finding: a prior of this kind under which the loss is as narrow as at a trained network.

# %%
ledger.result("sharper.e2.kl").holds(
    "sampled divergence over $\\lVert \\theta \\rVert^2/(2\\sigma^2)$",
    kl_ratio,
    equals=1,
    tol=5 * kl_error,
    control=kl_ratio * kl / pb.gaussian_kl(N_theta**0.5, width),
    stderr=kl_error,
    about="statement",
    evidence="proved",
)
ledger.result("sharper.e2.lambda").holds(
    "least excess of 400 other $\\lambda$ over the closed form, 20 classes",
    excess(lambda_curve, best_lambda),
    at_least=0,
    control=excess(lambda_curve, 2 * best_lambda),
    about="statement",
    evidence="proved",
)
ledger.result("sharper.e2.sigma").holds(
    "least excess of 400 other $\\sigma$ over the closed form, 20 classes",
    excess(sigma_curve, best_sigma),
    at_least=0,
    control=excess(sigma_curve, 2 ** (1 / 3) * best_sigma),
    about="statement",
    evidence="proved",
)
ledger.result("sharper.e2.sigma").holds(
    "the value at the best $\\sigma$ is $3(\\Sigma^2 G N/4m)^{1/3}$, largest relative gap",
    optimum_gap,
    at_most=0,
    tol=1e-12,
    control=(sigma_curve(2 ** (1 / 3) * best_sigma) / optimum - 1).abs().max(),
    about="statement",
    evidence="proved",
)
ledger.result("sharper.e2.rate").holds(
    "slope of the best bound against $m$ on log axes, $10^4 \\le m \\le 10^{12}$",
    rate,
    equals=-1 / 3,
    tol=0.001,
    control=norm_rate,
    about="statement",
    evidence="proved",
)
ledger.result("sharper.e2.rate").holds(
    "slope of the norm term at fixed $\\sigma$",
    norm_rate,
    equals=-1 / 2,
    tol=1e-9,
    control=rate,
    about="statement",
    evidence="proved",
)
ledger.result("sharper.e2.alquier").holds(
    "share of samples in which the inequality fails, worst Gaussian posterior",
    failures["the bound"],
    at_most=delta,
    control=failures["no divergence"],
    about="statement",
    evidence="sampled",
)
ledger.result("sharper.e2.alquier").holds(
    "share of samples in which it fails for any posterior at all",
    any_posterior,
    at_most=delta,
    control=any_free.double().mean(),
    about="statement",
    evidence="proved",
)
ledger.result("sharper.thm2").refuted(
    "a 2025 plotting notebook: its norm term is that with $\\lVert \\theta \\rVert^2$, relative gap",
    abs(PRINTED / with_square - 1),
    at_most=0,
    tol=1e-12,
    control=abs(PRINTED / without_square - 1),
    about="code",
    evidence="attained",
)
ledger.result("sharper.thm2").holds(
    "a 2025 plotting notebook: its norm term is that with $\\lVert \\theta \\rVert$, relative gap",
    abs(PRINTED / without_square - 1),
    at_most=0,
    tol=1e-12,
    control=abs(PRINTED / with_square - 1),
    about="code",
    evidence="attained",
)
ledger.result("sharper.thm2").holds(
    "a 2025 plotting notebook: two bars have $\\lVert \\theta \\rVert$ and a $\\sigma$ of its grid, largest distance",
    bar_gap,
    at_most=0,
    tol=0.0005,
    control=bar_gap_square,
    about="code",
    evidence="attained",
)
ledger.result("sharper.thm2").refuted(
    "a 2025 plotting notebook: with $\\lVert \\theta \\rVert$ the inequality holds, share of failures in the example",
    failures["norm not squared"],
    at_most=delta,
    control=failures["the bound"],
    about="code",
    evidence="sampled",
)
ledger.result("sharper.thm10").holds(
    "the sum of the seven blocks less the squared norm of a network, least of 40 targets",
    left["ours"],
    at_least=0,
    control=left["length_free"],
    about="statement",
    evidence="sampled",
)
ledger.result("sharper.thm2").repaired(
    "loss clipped to $[0, W]$, $W = 1$, $\\Sigma = W/2$, posterior chosen after the sample: share of failures",
    failures["the bound"],
    at_most=delta,
    control=failures["constant over fifty"],
    about="statement",
    evidence="proved",
)
ledger.result("sharper.sigma").holds(
    "near the hand-written network $\\Sigma$ is at most 0.1, three targets",
    max(near_sigma),
    at_most=0.1,
    control=min(prior_sigma),
    about="experiment",
    evidence="sampled",
)
ledger.result("sharper.thm2").refuted(
    "where the derivation averages, under the prior, $\\Sigma$ is at most 0.1: least of three targets",
    min(prior_sigma),
    at_most=0.1,
    control=max(near_sigma),
    stderr=prior_errors[prior_sigma.index(min(prior_sigma))],
    about="proof",
    evidence="sampled",
)
ledger.result("sharper.thm2").holds(
    "under the prior $\\Sigma$ is the standard deviation of $f(x)^2$: relative gap beyond the error",
    limit_gap(prior_sigma),
    at_most=0,
    control=limit_gap(near_sigma),
    about="ours",
    evidence="attained",
)
ledger.result("sharper.thm2").refuted(
    "one constant for all networks that a Gaussian prior reaches: power of the read-out with which $\\Sigma$ grows",
    last_growth[0],
    at_most=0,
    tol=0.05,
    control=last_growth[1],
    about="proof",
    evidence="attained",
)
ledger.result("sharper.rem4").holds(
    "output bounded by clipping to $[0, \\sqrt W]$: largest $\\Sigma$ over $W/2$, 600 networks",
    largest_clipped / 2,
    at_most=1,
    tol=1e-9,
    control=largest_free / 2,
    about="statement",
    evidence="proved",
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# We read the formulas of `generate_plots.ipynb`, a plotting notebook of 2025 in `paullintilhac/boolean_function_sensitivity`, in two versions. Whether the figures of the paper were made with it is not known to us.
#
# * **The square.** A variable holds the root of the bound on $\|\theta\|^2$, and the divergence uses that root. So the bounds that this notebook plots are smaller than those of Theorem 2. The numbers of the paper's Appendix E.3 have the square.
# * **The norm.** Both versions count scores of $2\log T$ at positions without a component; one for each idle position, or $T$ in all. The constant 21 is $1 + W$ at $W = 20$, whatever $W$ is.
# * **The noise from elsewhere.** The two bars at $m = 10^4$ are evaluated at the $\sigma$ that is best for $m = 10^3$, from a grid of 20 values. That is valid, only not optimal.
# * **The perturbation term.** Two terms of the gradient bound lack their factor $\sigma$. For our class that multiplies the sample size that the analytic bound needs by the factor below.

# %%
for d, W in ((1, 1), (2, 7), (5, 20)):
    N_class, G_class = pb.norm_squared(20, d, W), gradient_bound(d, W)
    row = [
        pb.sample_size(
            N_class, G_class, SIGMA_PAPER, delta, 1.0, pb.perturbation(20, d, W, as_tabulated=t)
        )
        for t in (False, True)
    ]
    print(
        f"T = 20, d = {d}, W = {W:2}: bound with P below 1 from m = {row[0]:.3e}; as coded {row[1]:.3e}; factor {row[1] / row[0]:.3e}"
    )

# %% [markdown]
# ## What we found
#
# * The algebra of the bound is right: divergence, best $\lambda$, best $\sigma$, rate $m^{-1/3}$.
# * $\Sigma$ was measured at trained networks. Under the prior it is {glue:text}`times_1:.0f` to {glue:text}`times_25:.0f` times 0.01 or more, and without clipping there is none.
# * With clipping and $\Sigma = W/2$ the bound is true: {glue:text}`violations` violations in {glue:text}`instances` random instances, and a median of bound over risk of {glue:text}`slack:.0f`.
# * That the inequality itself fails, at a $\Sigma$ measured at a trained network, we did not find.
#
# ```{finding} sharper.thm2
# :title: The sub-Gaussian constant is needed under the prior
# :group: proof
#
# **Statement.** Quoted: with a loss that is $\Sigma$-sub-Gaussian for fixed $\theta$, the risk is at most sharpness plus norm term. The constant, 0.01, is the one measured at trained networks (Appendix A).
#
# **Counterexample.** To the step, not to the inequality. The derivation averages the condition over the prior. There $\Sigma$ is at least {glue:text}`prior_1:.3f` for one 2-parity and {glue:text}`prior_25:.2f` for the tiling of 25 of them, {glue:text}`times_1:.0f` and {glue:text}`times_25:.0f` times 0.01. And no constant serves all weights that a Gaussian reaches.
#
# **Why.** A network drawn from the prior outputs nearly 0, so its loss is nearly $f(x)^2$, which varies. The weights of the prior are unbounded, where Remark 4 has them bounded by assumption.
#
# **Repair.** Clip the output to $[0, \sqrt W]$ and take $\Sigma = W/2$, by Hoeffding's lemma. In an example with {glue:text}`predictors` predictors and a posterior chosen after the sample the bound then fails in {glue:text}`fail_right:.4f` of all samples, where {glue:text}`delta` is allowed. For the tiling of Appendix E.3 it falls below the risk of the best constant from {glue:text}`m_valid` examples on, where $\Sigma = 0.01$ would give {glue:text}`m_small`.
#
# **What survives.** The form of the bound, the closed-form $\sigma$ and the rate $m^{-1/3}$; that it grows with degree and sparsity; Remark 4 with its assumption.
# ```
#
# ## Exercises
#
# ```{admonition} Exercise 1
# The prior is centred at 0. Let it be centred at a network that is known before the sample. What replaces $\|\theta\|^2$, and what happens to the bound if the learner ends there?
# ```

# %% tags=["hide-cell"]
# The squared distance. At distance 0 the divergence vanishes, sigma may be tiny, and only Sigma sqrt(2 log(1/delta) / m) remains.
for distance in (69.0, 1.0, 0.01):
    value = best_bound(1e5, 0.5, N=distance**2, G=gradient_bound(2, 1))
    print(f"distance {distance:6.2f}: bound {value:.6f}")
print(f"limit:            {0.5 * math.sqrt(2 * math.log(1 / delta) / 1e5):.6f}")

# %% [markdown]
# ```{admonition} Exercise 2
# Give prior and posterior different widths $\tau$ and $\sigma$. For $D$ weights the divergence is $\frac{N}{2\tau^2} + \frac D2\bigl(\frac{\sigma^2}{\tau^2} - 1 - \log\frac{\sigma^2}{\tau^2}\bigr)$. Is the choice $\tau = \sigma$ a good one?
# ```

# %% tags=["hide-cell"]
# The best tau^2 is sigma^2 + N / D; the divergence becomes (D / 2) log(1 + N / (D sigma^2)), which grows like a logarithm as sigma falls.
D, N_class = len(theta), N_theta
for sigma in (0.1, 0.01, 0.001):
    same = pb.gaussian_kl(N_class, sigma)
    wide = D / 2 * math.log1p(N_class / (D * sigma**2))
    print(f"sigma {sigma:5.3f}: tau = sigma {same:14.1f} nats, best tau {wide:9.1f} nats")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem is from {cite:t}`sharper`, after a bound in the survey of {cite:t}`alquier2024`.
