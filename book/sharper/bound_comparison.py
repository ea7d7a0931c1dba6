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
# (ch-bound-comparison)=
# # Five bounds on one function
#
# **Claim.** On a sum of disjoint 2-parities the paper compares its flatness bound with a bound from norms and covering numbers, and finds its own to be the smaller number. As quoted, at twenty bits and a million examples, it is; the numbers that are quoted for its own side come out to every digit. It is a comparison of numbers, not yet of proved bounds: the constant 0.01 is not that of the prior, and the rival's depth factor is left out. With a constant that is valid for every network, and in a sharper form, the flatness bound still needs fewer examples than counting the bits of the weights. A list of the hand-written networks needs fewer than either.
#
# **Needs** {ref}`ch-pac-bayes`, {ref}`ch-construction`, {ref}`ch-gradients-and-trace`, {ref}`ch-linear-covers`. **Runs in** 10 s. **Source** quoted.
#
# The target covers all $T$ bits with disjoint pairs:
#
# $$f(x) = \frac{1}{\sqrt W} \sum_{i=1}^{W} p_{\{2i-1,\, 2i\}}(x), \qquad W = \frac T2 .$$ (eq-tiling)
#
# Here $p_U(x)$ is 1 if an even number of the bits in $U$ is 1, and 0 otherwise. So $d = 2$, the squared coefficients add up to 1, $f$ lies in $[0, \sqrt W]$ and has variance $\frac14$.
#
# ```{prf:proposition} Lintilhac and Shaikh (2026), Appendix E.3
# :label: sharper-e3
# *(Holds as arithmetic.)* For this $f$ at $T = 20$ and $m = 10^6$, with $\Sigma = 0.01$, the same architecture and the same norms for both, the truncated PAC-Bayes bound is numerically smaller than the covering-number bound of Edelman et al.
# ```
#
# The numbers of this appendix are missing in the text that we could read. A public reading note quotes them: $T = 20$, $W = 10$, $m = 10^6$, $\Sigma = 0.01$; on the paper's side $G_u = 15524$, a squared norm of 1303.93, $\sigma^* = 2.27 \cdot 10^{-3}$, and a bound of 0.24, which a measured perturbation raises to 0.327; on the rival's side about 1.01. We recompute the first four, and then take all $m$. What we cannot recompute is 0.327, since no chapter measures that perturbation, and 1.01, which none of our readings of the rival gives. Five ways to bound the risk of a network that fits $m$ examples:
#
# | bound | needs | what counts |
# |:--|:--|:--|
# | PAC-Bayes | the sub-Gaussian constant $\Sigma$ | $3(\Sigma^2 G_u N/4m)^{1/3}$ with $N = \lVert\theta^*\rVert^2$ |
# | Edelman et al. | norms, length $T$ | $B_X B_w C_{2,1} \sqrt{\log(DmT)/m}$, leading term |
# | Trauger and Tewari | norms | $B_X B_w C_{1,1} \sqrt{\log(2D^2+1)/m}$, leading term |
# | counting bits | 32 bits for each weight | $\log\lvert H\rvert = 32\, \Theta \log 2$ |
# | Occam | a list of candidates | $\log\lvert H\rvert$ of the hand-written networks |
#
# $D = T + 2$ is the width, $B_X = \sqrt2$ the norm of a token, $B_w = \sqrt W$ that of the read-out, $\Theta$ the number of weights. $C_{2,1}$ and $C_{1,1}$ are the largest norms of a weight matrix: columns in the 2-norm, added up, and all entries in absolute value, added up.
#
# **How to read the two leading terms.** Both rivals have constants that are not given, and a depth factor, a power of the spectral norms. Which of them the paper's comparison has cannot be read. What is left without them is no bound. It is a number that a bound of this kind does not fall below, so it favours the rivals. We show what a modest depth factor would do.
#
# **How to read the last two.** If the output is clipped to $[0, \sqrt W]$, the loss lies in $[0, W]$. For a finite set $H$ of networks, Chernoff's bound and a union give with probability $1 - \delta$, for all networks in $H$ with no error on the sample,
#
# $$R \le W \Bigl( 1 - e^{-(\log|H| + \log(1/\delta))/m} \Bigr) .$$ (eq-occam)
#
# No constant is left open there.

# %% tags=["parameters"]
n = 20  # bits, even; 20 in the paper [20..60]
delta = 0.05  # probability with which a bound may fail [0.01..0.2]
m_paper = 1000000  # sample size of the table of values; a million in the paper [100000..10000000]
bits_per_weight = 32  # of a stored weight [24..64]
small_bits = 9  # bits of the example in which Occam's bound is tested [7..11]
draws = 2000  # samples drawn in that test [1000..10000]
seed = 0  # of the samples [0..1000000]

# %% [markdown]
# ## What goes in
#
# First the four numbers that are quoted for the paper's side, each against half a unit of its last digit. The control does not square the norm. Then we build the network, and read the norms off its weights.

# %%
import math

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.covers.linear import matrix_norm
from helpers.sharper import pac_bayes as pb
from helpers.sharper import rivals
from helpers.sharper.network import construct
from helpers.sharper.tabulated import gradient_bound, parameter_count

ledger = Ledger("sharper/bound_comparison")
generator = torch.Generator().manual_seed(seed)
QUOTED = {  # of Appendix E.3, with half a unit of the last digit
    "G_u": (15524, 0.5),
    "squared norm": (1303.93, 0.005),
    "sigma*": (2.27e-3, 5e-6),
    "bound": (0.24, 0.005),
}


def own_side(power=1.0):
    """The four numbers at T = 20, d = 2, W = 10, m = 10^6, Sigma = 0.01; power 1/2: no square."""
    G, N = gradient_bound(2, 10), pb.norm_squared(20, 2, 10)
    used = N**power
    sigma = pb.optimal_sigma(used, G, 1e6, 0.01)
    return [G, N, sigma, pb.truncated_optimum(used, G, 1e6, 0.01)]


def farthest(found):
    """Largest distance from the quoted numbers, in half units of their last digits."""
    pairs = zip(found, QUOTED.values(), strict=True)
    return max(abs(value - quoted) / half for value, (quoted, half) in pairs)


for name, value, (quoted, _) in zip(QUOTED, own_side(), QUOTED.values(), strict=True):
    print(f"{name:13} {value:12.6g}   quoted {quoted}")
ledger.result("sharper.e3.pac").holds(
    "the four quoted numbers, largest distance in half units of the last digit",
    farthest(own_side()),
    at_most=1,
    control=farthest(own_side(0.5)),
    about="statement",
    evidence="attained",
)
e3_bound = own_side()[-1]
glue(e3_sigma=own_side()[2], e3_bound=e3_bound)

W, d, D = n // 2, 2, 2 * (n // 2) + 2
n = 2 * W


def tiling(n):
    masks = torch.tensor([3 << 2 * i for i in range(n // 2)])
    equal = torch.full((n // 2,), (n // 2) ** -0.5, dtype=torch.float64)
    return cube.SparseFunction(n, masks, equal, "even_parity")


f = tiling(n)
spec, weights = construct(f)
matrices = {k: v for k, v in weights.items() if v.ndim == 2}
print(f"T = {n}, W = {W}, D = {D}")
print("block   2-norm   sqrt(D) times it   columns in 2-norm   entries   spectral")
for name, block in matrices.items():
    row = [
        block.norm().item(),
        math.sqrt(D) * block.norm().item(),
        matrix_norm(block, 2, 1).item(),
        block.abs().sum().item(),
        torch.linalg.matrix_norm(block, 2).item(),
    ]
    print(f"{name:5} {row[0]:8.3f} {row[1]:18.3f} {row[2]:19.3f} {row[3]:9.3f} {row[4]:10.3f}")
C_frobenius = math.sqrt(D) * max(v.norm().item() for v in matrices.values())
C_columns = max(matrix_norm(v, 2, 1).item() for v in matrices.values())
C_entries = max(v.abs().sum().item() for v in matrices.values())
C_spectral = max(torch.linalg.matrix_norm(v, 2).item() for v in matrices.values())
B_X, B_w = math.sqrt(2), weights["v2"].norm().item()

norms = {r: pb.norm_squared(n, d, W, r) for r in ("length_free", "ours", "tabulated")}
actual = sum(w.square().sum().item() for w in weights.values())
G = gradient_bound(d, W)
k = torch.arange(W + 1, dtype=torch.float64)
p = torch.tensor([math.comb(W, int(i)) for i in k], dtype=torch.float64) / 2**W
second, fourth = (p * k**2).sum() / W, (p * k**4).sum() / W**2
prior_spread = (fourth - second**2).sqrt().item()  # of f(x)^2, at a network that outputs 0
weights_count = parameter_count(n, d)
list_size = rivals.log_constructions(n, d, W, classes=W)  # any W pairs, any W up to n / 2
print(f"squared norm {actual:.2f}; " + ", ".join(f"{k} {v:.2f}" for k, v in norms.items()))
print(f"G_u {G:.0f}, spread of f^2 {prior_spread:.4f}, {weights_count} weights")
print(
    f"nats: list {list_size:.2f}, {bits_per_weight} bits a weight {weights_count * bits_per_weight * math.log(2):.2f}"
)
glue(
    n=n,
    W=W,
    spread=prior_spread,
    list_size=list_size,
    weights_count=weights_count,
    bits_per_weight=bits_per_weight,
)

# %% [markdown]
# The paper passes from the 2-norm to $C_{2,1}$ by a factor $\sqrt D$. Here the largest matrix has one entry in each column, and little is lost.
#
# For $\Sigma$ there are three candidates, see {ref}`ch-pac-bayes`. The paper's 0.01 was measured at trained networks. Under the prior the network outputs about 0, so the loss is $f^2$, and $\Sigma$ is at least its standard deviation {glue:text}`spread:.3f`. With a clipped output $\Sigma = W/2$ is valid for every network, and this curve is a bound, but for two things: it is truncated, without $P$, and $G_u$ leaves out a block of the gradient, see {ref}`ch-gradients-and-trace`. Both would raise it. It is also a wasteful bound, in two ways that have nothing to do with flatness: Hoeffding's constant $W/2$ pays for a loss that fills its range, where here it is small, and a prior as narrow as the posterior pays for every weight.
#
# So we add a curve without that waste: the kl form of PAC-Bayes (Maurer), for losses in $[0, W]$, with a prior of its own width $\tau$. For $\Theta$ weights the divergence is $\frac \Theta2 \log(1 + \frac{N}{\Theta \sigma^2})$ at the best $\tau$; $\log 10^4$ nats pay for a choice among that many widths.
#
# ## Eight curves

# %%
SIGMAS = {
    "PAC-Bayes, Sigma 0.01": 0.01,
    "PAC-Bayes, Sigma of prior": prior_spread,
    "PAC-Bayes, Sigma W/2": W / 2,
}


def pac(constant, N=norms["ours"]):
    def curve(m):
        sigma = pb.optimal_sigma(N, G, m, constant, delta)
        return pb.bound(N, G, sigma, m, constant, delta)

    return curve


def norm_bound(C, depth_factor=1.0):
    return lambda m: rivals.edelman(m, n, D, C, B_X, B_w, depth_factor)


def finite(log_size):
    return lambda m: rivals.occam(0.0, log_size, m, delta, W)


def counting(bits):
    return finite(weights_count * bits * math.log(2))


def pac_kl(m, own_width=True, points=800):
    """PAC-Bayes in the kl form, clipped loss, at the best sigma; by default a prior of its own width."""
    m = torch.as_tensor(m, dtype=torch.float64)
    sigma = torch.logspace(-6, math.log10((0.5 / G) ** 0.5), points, dtype=torch.float64)
    nats = pb.gaussian_kl(norms["ours"], sigma)
    if own_width:
        ratio = norms["ours"] / (weights_count * sigma**2)
        nats = weights_count / 2 * ratio.log1p() + math.log(1e4)
    risk = (sigma**2 * G)[:, None]
    found = rivals.pac_bayes_kl(risk, nats[:, None], m.clamp(min=8).reshape(1, -1), delta, W)
    return found.amin(0).reshape(m.shape)


CURVES = {
    **{name: pac(constant) for name, constant in SIGMAS.items()},
    "PAC-Bayes, kl form": pac_kl,
    "Edelman, leading term": norm_bound(C_frobenius),
    "Trauger, leading term": lambda m: rivals.trauger(m, D, C_entries, B_X, B_w),
    "counting bits": counting(bits_per_weight),
    "Occam, list of networks": finite(list_size),
}
PROVED = ("counting bits", "Occam, list of networks")


def needed(name, level):
    if name in SIGMAS:
        return pb.sample_size(norms["ours"], G, SIGMAS[name], delta, level)
    return pb.first_sample_size(CURVES[name], level)


least = {name: [needed(name, level) for level in (1.0, 0.25)] for name in CURVES}
print(f"{'':28} at m = {m_paper}   below 1 from   below 1/4 from")
for name, curve in CURVES.items():
    note = "proved" if name in PROVED else ""
    print(
        f"{name:28} {curve(float(m_paper)):12.4f}   {least[name][0]:12.3e}   {least[name][1]:12.3e}   {note}"
    )
for name, key in (
    ("m_small", "PAC-Bayes, Sigma 0.01"),
    ("m_prior", "PAC-Bayes, Sigma of prior"),
    ("m_valid", "PAC-Bayes, Sigma W/2"),
    ("m_edelman", "Edelman, leading term"),
    ("m_trauger", "Trauger, leading term"),
    ("m_kl", "PAC-Bayes, kl form"),
    ("m_counting", "counting bits"),
    ("m_occam", "Occam, list of networks"),
):
    glue(**{name: f"{least[key][1]:.1e}"})
glue(
    at_paper=CURVES["PAC-Bayes, Sigma 0.01"](float(m_paper)),
    at_edelman=CURVES["Edelman, leading term"](float(m_paper)),
    m_paper=m_paper,
)

# %% mystnb={"figure": {"caption": "Seven of the eight numbers, against the sample size. Filled marks: proved with every constant. Open marks: not, because $\\Sigma$ is not that of the prior, or terms or constants are left out. Dotted: 1, and the risk 1/4 of the best constant predictor.", "name": "fig-bound-comparison"}, "image": {"alt": "Log-log plot of seven falling curves. The list of networks crosses one quarter first, beyond a thousand examples. PAC-Bayes in the kl form, PAC-Bayes with Sigma 0.01 and counted bits follow around a million, the two covering-number terms beyond ten million, and PAC-Bayes with W over two, in Hoeffding's form, last, beyond ten to the eleven."}} tags=["hide-input"]
fig, ax = figures.new(height=4.4)
sizes = torch.logspace(2, 14, 49, dtype=torch.float64)
drawn = [name for name in CURVES if name != "PAC-Bayes, Sigma of prior"]
for i, name in enumerate(drawn):
    ax.plot(
        sizes,
        CURVES[name](sizes),
        label=name.replace("Sigma ", "$\\Sigma$: ").replace("W/2", "$W/2$"),
        color=figures.COLOURS[i],
        linestyle=figures.DASHES[i],
        marker=figures.MARKERS[i],
        markevery=(2 * i % 7, 7),
        markerfacecolor=figures.COLOURS[i] if name in PROVED else "white",
        markersize=5.5,
    )
for level, text in ((1, "1"), (0.25, "1/4")):
    ax.axhline(level, color=figures.GREY, linewidth=0.9, linestyle=":", marker="", zorder=0)
    ax.text(1.1e14, level, text, fontsize=8.5, color=figures.GREY, va="bottom")
ax.set(
    xscale="log",
    yscale="log",
    ylim=(1e-3, 3e3),
    xlabel="sample size $m$",
    ylabel="bound on the risk",
)
ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.33), handlelength=3.2)
figures.show()

# %% [markdown]
# All but one of the curves are drawn in {numref}`fig-bound-comparison`. At $m =$ {glue:text}`m_paper` the truncated bound with $\Sigma = 0.01$ is {glue:text}`at_paper:.3f`, and the leading term of Edelman et al. is {glue:text}`at_edelman:.2f`. So the order is the paper's. Two things bear on what it means:
#
# * **The constant.** With the $\Sigma$ of the prior the curve moves up by a factor $(\Sigma/0.01)^{2/3}$, and in this form it stays above $\frac14$ until $m =$ {glue:text}`m_prior`, where the rival's leading term needs {glue:text}`m_edelman`. But that is the price of the form. The kl form, in which the clipped loss is all that is assumed, needs {glue:text}`m_kl`, where Hoeffding's constant $W/2$ and a prior as narrow as the posterior need {glue:text}`m_valid`.
# * **The yardstick.** A value of 1 is no achievement for a function with variance $\frac14$.
#
# A plainer yardstick is the list. The learner considers all sets of $W$ pairs, for all $W$ up to $T/2$, and returns one whose network fits; {glue:text}`list_size:.1f` nats name such a set. That needs {glue:text}`m_occam` examples. To count {glue:text}`bits_per_weight` bits for each of the {glue:text}`weights_count` weights is the crudest argument of all, and needs {glue:text}`m_counting`, more than PAC-Bayes in the kl form. (Rounded weights fit up to rounding; the repaired network of {ref}`ch-construction` is exact.)
#
# ## How much hangs on the choices
#
# The rival's side is quoted as one number, about 1.01, that we cannot reproduce, so the verdict must not hang on our reading of it. We vary the reading of the norm, the norm that enters the rival's bound, and the length, and compare the sample sizes at which the two fall below 1 and below $\frac14$. As a control the bound is not truncated: the analytic $P$ of {ref}`ch-pac-bayes` is added.


# %%
def ratios(length, reading, constant, level, P=pb.NO_PERTURBATION):
    """Sample size of PAC-Bayes over that of Edelman's leading term, at its most favourable."""
    half = length // 2
    network = construct(tiling(length))[1]
    C = math.sqrt(length + 2) * network["WKQ1"].norm().item()
    N_length = pb.norm_squared(length, d, half, reading)
    flat = pb.sample_size(N_length, gradient_bound(d, half), constant(half), delta, level, P)

    def rival(m):
        return rivals.edelman(m, length, length + 2, C, B_X, math.sqrt(half))

    return flat / pb.first_sample_size(rival, level)


def spread_of_square(half):
    """Standard deviation of f^2: K^2 / W with K binomial, by its moments."""
    k = torch.arange(half + 1, dtype=torch.float64)
    p = torch.tensor([math.comb(half, int(i)) for i in k], dtype=torch.float64) / 2**half
    return ((p * k**4).sum() - (p * k**2).sum() ** 2).sqrt().item() / half


LENGTHS = (20, 30, 40, 50, 60)
with_measured, with_prior = [], []
print("ratio of sample sizes, PAC-Bayes over Edelman's leading term, for a bound of 1")
print(" T   norm          Sigma 0.01   Sigma of prior   (of 1/4: 0.01, prior)")
for length in LENGTHS:
    for reading in ("length_free", "tabulated"):
        row = [
            ratios(length, reading, constant, level)
            for level in (1.0, 0.25)
            for constant in (lambda half: 0.01, spread_of_square)
        ]
        with_measured += row[::2]
        with_prior += row[1::2]
        print(
            f"{length:2}   {reading:12} {row[0]:11.3e} {row[1]:16.3f}        {row[2]:10.3e} {row[3]:9.2f}"
        )
analytic = pb.perturbation(n, d, W)
untruncated = [ratios(n, "ours", lambda _: 0.01, level, analytic) for level in (1.0, 0.25)]
sigma_full = pb.optimal_sigma(norms["ours"], G, m_paper, 0.01, delta, analytic)
full = pb.bound(norms["ours"], G, sigma_full, m_paper, 0.01, delta, analytic)
print(f"with the analytic P, T = {n}: ratios {untruncated[0]:.3f}, {untruncated[1]:.3f}")
needed_sigma = 0.01 / math.sqrt(
    least["PAC-Bayes, Sigma 0.01"][1] / least["Edelman, leading term"][1]
)
crossing = pb.first_sample_size(
    lambda m: float(CURVES["Edelman, leading term"](m) / CURVES["PAC-Bayes, Sigma 0.01"](m)), 1.0
)
deeper = pb.first_sample_size(norm_bound(C_frobenius, C_spectral**2), 0.25)
print(f"Sigma at which both need the same sample for 1/4: {needed_sigma:.4f}")
print(f"even with Sigma = 0.01 Edelman's term is smaller from m = {crossing:.3e} on")
print(f"depth factor C_2^2 = {C_spectral**2:.1f}: below 1/4 from m = {deeper:.3e}")
glue(
    needed_sigma=needed_sigma,
    full=full,
    crossing=f"{crossing:.0e}",
    depth=C_spectral**2,
    m_deeper=f"{deeper:.1e}",
)

# %% [markdown]
# In all rows the order is the paper's at $\Sigma = 0.01$, and turns round with the constant of the prior in Hoeffding's form. The two need the same sample for $\frac14$ at $\Sigma =$ {glue:text}`needed_sigma:.3f`. Even at 0.01 the rival's leading term is the smaller for large $m$, from {glue:text}`crossing` on; the paper says as much, since $m^{-1/2}$ falls faster than $m^{-1/3}$.
#
# One caution, in the other direction: with a depth factor of only $C_2^2 =$ {glue:text}`depth:.0f` the rival would need {glue:text}`m_deeper`. Which of the two *complete* bounds is smaller cannot be said from leading terms, so we do not judge that.
#
# ## Is the yardstick itself true?
#
# Occam's bound is simple enough to be tested completely. Take the case $W = 1$: the candidates are all single parities of one up to three of a few bits, the target is one of them, and the loss is 0 or 1. Each sample gives the training loss of all candidates at once. The bound fails if the risk of **any** candidate is above its bound. The control forgets $\log|H|$.

# %%
masks = [s for s in range(1, 2**small_bits) if s.bit_count() <= 3]
candidates = torch.stack([(1 + cube.character(small_bits, s)) / 2 for s in masks])
truth = candidates[int(torch.randint(0, len(masks), (), generator=generator))]
losses = (candidates - truth).square()  # (candidates, 2**small_bits)
risks = losses.mean(1)
nats = math.log(len(masks))
batches = draws // 100
outcomes = {}
print(f"{len(masks)} candidates, {100 * batches} samples, delta = {delta}")
print("  m   fails   without log|H|   certified if it fits   worst risk of those that fit, mean")
for points in (10, 20, 40, 80):
    right = wrong = 0
    worst = 0.0
    for _ in range(batches):
        at = torch.randint(0, 2**small_bits, (100, points), generator=generator)
        counts = torch.zeros(100, 2**small_bits, dtype=torch.float64)
        counts.scatter_add_(1, at, torch.ones_like(at, dtype=torch.float64))
        training = counts @ losses.T / points  # (samples, candidates)
        right += int((risks > rivals.occam(training, nats, points, delta) + 1e-12).any(1).sum())
        wrong += int((risks > rivals.occam(training, 0.0, points, delta) + 1e-12).any(1).sum())
        worst += (risks * (training == 0)).amax(1).sum().item() / (100 * batches)
    outcomes[points] = (right / (100 * batches), wrong / (100 * batches))
    certified = rivals.occam(0.0, nats, points, delta)
    print(
        f"{points:3}   {outcomes[points][0]:.4f}   {outcomes[points][1]:14.4f}"
        f"   {certified:20.4f}   {worst:20.4f}"
    )
occam_fails = max(right for right, _ in outcomes.values())
occam_free = min(wrong for _, wrong in outcomes.values())
glue(candidates=len(masks), occam_fails=occam_fails, occam_free=occam_free)

# %% [markdown]
# With {glue:text}`candidates` candidates the bound fails in at most {glue:text}`occam_fails:.4f` of the samples. Without the list it fails in {glue:text}`occam_free:.3f` or more.
#
# ## What would falsify this
#
# The paper's comparison would fall if the rival's leading term were the smaller at the paper's instance, or needed the smaller sample at one length and one reading of the norm; its control is the bound that is not truncated. Our own additions would fall if PAC-Bayes in the kl form needed more than counting bits, or if Occam's bound failed more often than $\delta$; their controls give PAC-Bayes a prior as narrow as the posterior, count bits in place of networks, and forget the list.

# %%
ledger.result("sharper.e3.order").holds(
    f"at $m = {m_paper}$, $\\Sigma = 0.01$: truncated PAC-Bayes over Edelman's leading term; control: with the analytic $P$",
    CURVES["PAC-Bayes, Sigma 0.01"](float(m_paper))
    / CURVES["Edelman, leading term"](float(m_paper)),
    at_most=1,
    control=full / CURVES["Edelman, leading term"](float(m_paper)),
    about="statement",
    evidence="attained",
)
ledger.result("sharper.e3.order").holds(
    "sample sizes, PAC-Bayes with $\\Sigma = 0.01$ over Edelman's, largest of 20; control: with the analytic $P$",
    max(with_measured),
    at_most=1,
    control=max(untruncated),
    about="statement",
    evidence="attained",
)
ledger.result("sharper.e3").holds(
    "sample size for 1/4: PAC-Bayes in the kl form, clipped, prior of its own width, over counting bits",
    least["PAC-Bayes, kl form"][1] / least["counting bits"][1],
    at_most=1,
    control=pb.first_sample_size(lambda m: pac_kl(m, own_width=False), 0.25)
    / least["counting bits"][1],
    about="ours",
    evidence="attained",
)
ledger.result("sharper.e3").holds(
    "sample size for 1/4: list of networks over the least of the six that are not proved with every constant",
    least["Occam, list of networks"][1]
    / min(m for name, (_, m) in least.items() if name not in PROVED),
    at_most=1,
    control=least["counting bits"][1]
    / min(m for name, (_, m) in least.items() if name not in PROVED),
    about="ours",
    evidence="attained",
)
ledger.result("sharper.e3").holds(
    f"Occam's bound, {len(masks)} candidates: largest share of samples with a failure",
    occam_fails,
    at_most=delta,
    control=occam_free,
    about="ours",
    evidence="sampled",
)

ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# We read `generate_plots.ipynb` in `paullintilhac/boolean_function_sensitivity`, a plotting notebook of 2025. It evaluates the PAC-Bayes side at $T = 50$ and width $52$, and not at the instance of Appendix E.3, with the norm in place of its square in the divergence, see {ref}`ch-pac-bayes`. The numbers quoted from the paper have the square. The next lines show what that slip would do, for three readings of the norm. We found no code for the covering-number side.

# %%
print("norm as read     |theta|^2: m = 1e5, below 1 from    |theta|: m = 1e5, below 1 from")
for reading, N in norms.items():
    cells = []
    for power in (1.0, 0.5):
        cells += [pac(0.01, N**power)(1e5), pb.sample_size(N**power, G, 0.01, delta, 1.0)]
    print(f"{reading:14} {cells[0]:18.4f} {cells[1]:17.3e} {cells[2]:18.4f} {cells[3]:15.3e}")

# %% [markdown]
# ## What we found
#
# * The quoted numbers of the paper's side are right: {glue:text}`e3_bound:.4f` at $\sigma^* =$ {glue:text}`e3_sigma:.5f`, with the squared norm and the sum of all seven blocks.
# * With $\Sigma = 0.01$ the truncated flatness bound is below the leading term of the covering-number bound, as the paper says, at every length and reading that we tried.
# * With the constant of the prior, in Hoeffding's form, it is not; but in the kl form, with a prior of its own width and a clipped output, it needs {glue:text}`m_kl` examples, fewer than either covering-number term and than counting bits ({glue:text}`m_counting`).
# * The list of networks needs {glue:text}`m_occam`, with every constant.
# * Open: the measured perturbation (0.327), the rival's quoted 1.01, and the order of the complete bounds.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# The list of networks takes the coefficients as known. Let each be rounded to $b$ bits. What do they cost?
# ```

# %% tags=["hide-cell"]
# b log 2 nats each. Rounding moves a coefficient by at most 2^-(b+1), the output by at most W times that; the training loss, its square, must stay below 1/4.
for bits in (6, 8, 12):
    size = rivals.log_constructions(n, d, W, classes=W, coefficient_bits=bits)
    error = W * 2.0 ** -(bits + 1)  # the output is off by at most this
    enough = rivals.occam_sample_size(size, delta, 0.25, W, risk=error**2)
    print(
        f"{bits:2} bits: {size:7.2f} nats, training loss at most {error**2:.6f}, m = {enough:.0f}"
    )

# %% [markdown]
# ```{admonition} Exercise 2
# What is the least $m$ at which any method could know $f$, if it is one of the candidates?
# ```

# %% tags=["hide-cell"]
# A value of f tells at most log(W + 1) nats, so m is at least log|H| / log(W + 1).
print(
    f"at least {rivals.log_constructions(n, d, W) / math.log(W + 1):.1f} examples; Occam needs {least['Occam, list of networks'][1]}"
)

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The comparison is from {cite:t}`sharper`; the rivals are {cite:t}`variables` and {cite:t}`lengthfree`.
