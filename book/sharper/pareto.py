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
# (ch-pareto)=
# # Rescaling the construction: when norm and sharpness fall together
#
# **Claim.** The construction's MLP can be rescaled without changing its function. The paper says that one factor lowers the norm of the weights and their sharpness together; for the blocks that the paper's gradient counts this is true, and we prove it. Once the rows of $F$ that its gradient leaves out are counted, some classes want opposite factors, and we say which. A second argument of the paper, that parts of the MLP serve inputs too rare to matter, takes the whole string for the few bits that a part looks at. Clearing the units that do nothing lowers norm and sharpness in every class, so the construction is not Pareto optimal, as the paper says.
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`, {ref}`ch-hessian-trace`. **Runs in** 20 s. **Source** printed, in words; the formulas are restored.
#
# The network is that of {ref}`ch-construction`, with its MLP $y \mapsto F\,(Gy + b)_+$. For $\alpha > 0$,
#
# $$G \to \alpha G, \qquad b \to \alpha b, \qquad F \to F / \alpha$$
#
# leaves every output as it is, because $(\alpha z)_+ = \alpha\, z_+$. The bound of the paper compares a learned network with this construction, and asks that the learned one be no larger in norm and in sharpness. So it matters that the construction is not already the best in both, that is, not *Pareto optimal*.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), Appendix D
# :label: sharper-appD
# *(The second sentence is refuted below.)* Unless the MLP is balanced already, some $\alpha$ strictly lowers the squared norm of the weights and the squared norm of the gradient together. Moreover, parts of the MLP that serve inputs such as all zeros or all ones may be removed without a change of the training loss, with high probability, since such inputs occur with exponentially small probability.
# ```
#
# The words are legible, the formulas between them are not. Which weights the gradient counts follows from Theorem 14: of $F$ the last row, which writes the parities. The other rows, which write into the columns of the positions, are zero, but their gradient is not ({ref}`ch-gradients-and-trace`). We give every number both ways.
#
# **In closed form.** Let $A = |G|^2 + |b|^2$ and $B = |F|^2$. Let $g_G, g_b, g_F$ be the mean squared norms of the gradient of the output with respect to each block; at an exact network twice their sum is the trace of the loss Hessian ({ref}`ch-hessian-trace`). Rescaling divides the gradient of $G$ and $b$ by $\alpha$ and multiplies that of $F$ by $\alpha$. So the squared norm and the sharpness are, up to constants,
#
# $$\alpha^2 A + \frac{B}{\alpha^2} \quad\text{and}\quad \frac{g_G + g_b}{\alpha^2} + \alpha^2 g_F, \qquad\text{least at}\quad \alpha_n = \Bigl(\frac BA\Bigr)^{1/4}, \quad \alpha_g = \Bigl(\frac{g_G + g_b}{g_F}\Bigr)^{1/4}.$$
#
# Both are convex in $\log \alpha$, so each falls from $\alpha = 1$ towards its optimum and rises the other way.
#
# ```{prf:proposition} Ours
# :label: pareto-repaired
# 1. Some $\alpha$ strictly lowers both if and only if $\alpha_n$ and $\alpha_g$ lie strictly on the same side of 1. The one nearer to 1 then does.
# 2. For the construction $\alpha_n > 1$. If of $F$ only the last row is counted, $\alpha_g > 1$ too, at all scales, for all coefficients and at every input. So some $\alpha > 1$ lowers both.
# ```
#
# **Proof of (2).** By the closed forms of {ref}`ch-norms`, $B = 16 > 14.5 = A$ for $d = 1$; for $d \ge 2$, $B \ge 8 d^2 (d+1) > 8(d+1) \ge A$. For $\alpha_g$, let $a_j$ be the second attention, $u_{jh} \ge 0$ what hidden unit $h$ passes on at position $j$, and $q_h = \sum_j a_j [u_{jh} > 0]$. Then $\partial f/\partial F_h = S \sum_j a_j u_{jh} \le S q_h \max_j u_{jh}$, and $\partial f/\partial b_h = \pm 2d\, v_k S q_h$ for a unit of height $v_k$. A unit of height $v_k = 0$ at $k/d$ is on only where the one of $(k-1)/d$ at the same corner is on, so its $q$ is no larger. Means lie in $[0,1]$, so the two pass on at most $1 + \frac{3}{4d} - \frac{k-1}{d}$ and $1 + \frac 3{4d} - \frac kd$. The squares of these add up to at most $\frac{58}{16} < 4 = 4 d^2$ for $d = 1$, and to at most $2 (\frac{11}8)^2 < 16 \le 4 d^2$ for $d \ge 2$. Summed over the units, $g_F \le \frac{58}{64}\, g_b$. For characters no height is 0, and the same holds without pairs. $\square$

# %% tags=["parameters"]
n = 8  # bits, all inputs are taken [6..10]
n_long = 20  # bits of the longer network, on random inputs [12..30]
instances = 1000  # random networks for the rule about both factors [1000..3000]
large_scale = 40.0  # second score scale at which the network is exact up to rounding [30..60]
seed = 0  # of functions and inputs [0..1000000]

# %%
import itertools
import math

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.draws import Draws
from helpers.sharper.network import construct, forward
from helpers.sharper.norms import balance, rescaled, squared_norms
from helpers.sharpness import gradients

ledger = Ledger("sharper/pareto")
source = Draws(seed)
generator, whole = source.generator, source.whole
GRID = torch.linspace(-2, 2, 801, dtype=torch.float64).exp()  # of alpha, 1 among them


def terms(spec, weights, bits):
    """A, B, g_G + g_b, g_F of all rows; what does not change; g_F of the last row, and g_b."""
    slopes = gradients(lambda w, x: forward(spec, w, x), weights, bits)
    g = {k: v.flatten(1).square().sum(1).mean().item() for k, v in slopes.items()}
    size = {k: v.square().sum().item() for k, v in weights.items()}
    A, B, first, second = size["G"] + size["b"], size["F"], g["G"] + g["b"], g["F"]
    rest = sum(size.values()) - A - B, sum(g.values()) - first - second
    last = slopes["F"][:, -1].square().sum(-1).mean().item()
    return A, B, first, second, rest, (last, g["b"])


def optima(A, B, first, second):
    """The factors that minimise norm and sharpness."""
    return balance(A, B), balance(second, first)


def norm(alpha, A, B, rest=0.0):
    return alpha**2 * A + B / alpha**2 + rest


def sharpness(alpha, first, second, rest=0.0):
    return 2 * (first / alpha**2 + alpha**2 * second + rest)


def flat(bits, degree, sparsity):
    """Random sets, equal coefficients."""
    f = cube.sparse_function(bits, degree, sparsity, generator, "even_parity")
    coefficients = torch.full((sparsity,), sparsity**-0.5, dtype=torch.float64)
    return cube.SparseFunction(bits, f.masks, coefficients, "even_parity")


# %% [markdown]
# ## Two classes
#
# We take one class of high degree, and one of degree 1 with as many terms as bits. {numref}`fig-rescaling` shows both quantities against $\alpha$; all rows of $F$ are counted.

# %%
inputs = cube.bits(n)
some = torch.randint(0, 2, (256, n_long), generator=generator)
examples = {
    f"T = {n}, d = 5, W = {n}": (construct(flat(n, 5, n)), inputs),
    f"T = {n_long}, d = 1, W = {n_long}": (construct(flat(n_long, 1, n_long)), some),
}
curves, unchanged, broken, excess, excess_wrong = {}, 0.0, 0.0, 0.0, math.inf
for name, ((spec, weights), bits) in examples.items():
    A, B, first, second, rest, _ = terms(spec, weights, bits)
    alpha_n, alpha_g = optima(A, B, first, second)
    curves[name] = (
        norm(GRID, A, B, rest[0]),
        sharpness(GRID, first, second, rest[1]),
        alpha_n,
        alpha_g,
    )
    outputs = forward(spec, weights, bits)
    for alpha in (0.3, alpha_n, alpha_g, 5.0):
        again = forward(spec, rescaled(weights, alpha), bits)
        unchanged = max(unchanged, (again - outputs).abs().max().item())
    half = weights | {"G": 2 * weights["G"], "b": 2 * weights["b"]}
    broken = max(broken, (forward(spec, half, bits) - outputs).abs().max().item())
    measured = terms(spec, rescaled(weights, alpha_g), bits)
    for value, best in (
        (norm(alpha_n, A, B), norm(GRID, A, B).min().item()),
        (measured[2] + measured[3], sharpness(GRID, first, second).min().item() / 2),
    ):
        excess = max(excess, value / best - 1)
    excess_wrong = min(excess_wrong, norm(alpha_n**2, A, B) / norm(GRID, A, B).min().item() - 1)
    print(
        f"{name}: alpha_n {alpha_n:.4f}, alpha_g {alpha_g:.4f}, "
        f"squared norm {norm(1, A, B, rest[0]):.2f}, sharpness {sharpness(1, first, second, rest[1]):.2f}"
    )

# %% mystnb={"figure": {"caption": "Squared norm of the weights and sharpness (twice the mean squared gradient) against the factor $\\alpha$, each over its value at $\\alpha = 1$; all rows of $F$ counted. Shaded: factors that lower both.", "name": "fig-rescaling"}, "image": {"alt": "Two panels with two valley-shaped curves each, through one at factor one. On the left both valleys lie to the right of one and a shaded band where both are below one begins there. On the right the valley of the norm lies just right of one and that of the sharpness left of one; nothing is shaded."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=2.9, sharey=True)
at_one = (GRID - 1).abs().argmin()
for ax, (name, (sizes, traces, _, _)) in zip(axes, curves.items(), strict=True):
    below = (sizes < sizes[at_one]) & (traces < traces[at_one])
    for values, label, colour, dash in (
        (sizes, "norm", figures.COLOURS[0], "-"),
        (traces, "sharpness", figures.COLOURS[1], "--"),
    ):
        ax.plot(GRID, values / values[at_one], label=label, color=colour, ls=dash, marker="")
    ax.fill_between(GRID, 0, 2, where=below, color=figures.COLOURS[2], alpha=0.2, linewidth=0)
    ax.axhline(1, color=figures.GREY, linewidth=0.8)
    ax.set(title=name, xscale="log", xlabel="factor $\\alpha$", xlim=(0.3, 4), ylim=(0, 2))
    ax.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    ax.minorticks_off()
axes[0].set_ylabel("over its value at 1")
axes[0].legend()
figures.show()

# %% [markdown]
# ## Which classes
#
# The norm always asks for $\alpha > 1$: in this basis $A \approx \frac{16}3 d$ for large $d$ and $B = 16 d^2 (\lfloor d/2 \rfloor + 1)$. So does the sharpness, if of $F$ the last row is counted. With all rows the sharpness asks for $\alpha < 1$ when the gradient of $F$ is the larger one. That is so at low degree and many terms, where the positional rows carry most of the gradient, and at any degree once the second score scale is large.

# %%
degrees, shares = (1, 2, 3, 5), (1, n // 4, n // 2, n)
CASES = {"2 log T": None, "large scale": large_scale}


def cleared(spec, weights):
    """Units of height 0 do nothing: their G to 0, their b just below."""
    dead = (weights["F"] == 0).all(0)
    G, b = weights["G"].clone(), weights["b"].clone()
    G[dead], b[dead] = 0, -0.01
    return weights | {"G": G, "b": b}


def no_factor(A, B, first, second):
    """Whether no factor of a fine grid lowers both."""
    lower = norm(GRID, A, B) < norm(1.0, A, B) * (1 - 1e-12)
    lower &= sharpness(GRID, first, second) < sharpness(1.0, first, second) * (1 - 1e-12)
    return not lower.any()


def both_ratios(before, after, alpha=1.0):
    """The larger of two ratios, of norm and of sharpness, after a change and a rescaling."""
    size = norm(alpha, *after[:2], after[4][0]) / norm(1.0, *before[:2], before[4][0])
    slope = sharpness(alpha, *after[2:4], after[4][1]) / sharpness(1.0, *before[2:4], before[4][1])
    return max(size, slope)


failing, failing_last, last_over_b, all_over_b = 0, 0, 0.0, 0.0
clear_ratio, clear_gap, scaled_ratio, classes = 0.0, 0.0, 0.0, 0
print(f"T = {n}, equal coefficients: alpha_n, then alpha_g for W = {', '.join(map(str, shares))}")
print("                              last row of F               |  all rows of F")
for (name, second_scale), d in itertools.product(CASES.items(), degrees):
    rows = [], []
    for W in shares:
        spec, weights = construct(flat(n, d, W), (None, second_scale))
        found = terms(spec, weights, inputs)
        A, B, first, second, _, (last, biases) = found
        rows[0].append(balance(last, first))
        rows[1].append(balance(second, first))
        failing_last += no_factor(A, B, first, last)
        failing += no_factor(A, B, first, second)
        last_over_b = max(last_over_b, last / biases)
        all_over_b = max(all_over_b, second / biases)
        after = cleared(spec, weights)
        moved = forward(spec, after, inputs) - forward(spec, weights, inputs)
        clear_gap = max(clear_gap, moved.abs().max().item())
        clear_ratio = max(clear_ratio, both_ratios(found, terms(spec, after, inputs)))
        scaled_ratio = max(scaled_ratio, both_ratios(found, found, balance(A, B)))
        classes += 1
    cells = "  |".join("".join(f"{g:7.3f}" for g in row) for row in rows)
    print(f"{name:11}  d = {d}: {balance(A, B):.3f};  {cells}")
print(f"classes without a common improvement: {failing_last} and {failing} of {classes}")
unchanged_by_clearing = "the same" if clear_gap < 1e-12 else "another"
print(
    f"dead units cleared: {unchanged_by_clearing} function; larger of the two ratios, norm and "
    f"sharpness, at most {clear_ratio:.4f}"
)
glue(failing=failing, classes=classes, clear_gain=100 * (1 - clear_ratio))

# %% [markdown]
# Of {glue:text}`classes` classes {glue:text}`failing` have no common improvement if all rows of $F$ are counted, and none fails with the paper's blocks. Next the paper's own 20 classes, $T = 20$, at its scale, on random inputs.

# %%
paper_failing, paper_failing_last = [], []
print(f"T = {n_long}, 2 log T: alpha_g, last row of F | all rows")
counts = sorted({1, round(0.35 * n_long), round(0.7 * n_long), n_long})
for d in range(1, 6):
    rows = [], []
    for W in counts:
        A, B, first, second, _, (last, biases) = terms(*construct(flat(n_long, d, W)), some[:64])
        rows[0].append(balance(last, first))
        rows[1].append(balance(second, first))
        paper_failing += [(d, W)] * no_factor(A, B, first, second)
        paper_failing_last += [(d, W)] * no_factor(A, B, first, last)
        last_over_b = max(last_over_b, last / biases)
    cells = "  |".join("".join(f"{g:7.3f}" for g in row) for row in rows)
    print(f"d = {d}, W = {', '.join(map(str, counts))}: {cells}")
print("no common improvement, last row:", *paper_failing_last or ["none"])
print("no common improvement, all rows, (d, W):", *paper_failing or ["none"])
glue(
    paper_failing=len(paper_failing),
    paper_classes=5 * len(counts),
    last_over_b=last_over_b,
    n_long=n_long,
)

# %% [markdown]
# With the paper's blocks both fall in all {glue:text}`paper_classes`; the gradient of the last row is at most {glue:text}`last_over_b:.2f` times that of $b$. With all rows {glue:text}`paper_failing` classes have no common improvement, all of degree 1. The paper's reason is that the second-layer matrix $F$ contributes more heavily, to the norm and through its size to the gradients of $G$ and $b$; both ask for $\alpha > 1$, and for its blocks that is right. The gradient *for* the positional rows of $F$ asks for the opposite. {numref}`fig-optima` shows the two factors, all rows counted, for random networks of all sizes.
#
# There is a change that works in every class, however one counts. In this basis the units of odd $k$ have height 0: they do nothing. Set their $G$ to 0 and their $b$ just below 0, off the kink. The function stays; the norm falls; and of the gradient only that for $F$ at these units changes, and vanishes. Here norm and sharpness both fall by at least {glue:text}`clear_gain:.2f` per cent.


# %%
points, wrong, wrong_always, gains, last_random = [], 0, 0, [], 0.0
while len(points) < instances:
    bits_n = whole(2, 9)
    d = whole(1, bits_n)
    W = whole(1, min(bits_n, math.comb(bits_n, d)))
    basis = ("even_parity", "character")[whole(0, 1)]
    f = cube.sparse_function(bits_n, d, W, generator, basis)
    c = f.coefficients.clamp(min=1e-3)
    f = cube.SparseFunction(bits_n, f.masks, c / c.norm(), basis)
    scale = large_scale * torch.rand((), generator=generator).item() ** 2
    spec, weights = construct(f, (None, scale))
    rows = torch.randint(0, 2, (12, bits_n), generator=generator)
    A, B, first, second, rest, (last, biases) = terms(spec, weights, rows)
    last_random = max(last_random, last / biases)
    if min(first, second) <= 1e-12:  # no gradient, nothing to balance
        continue
    alpha_n, alpha_g = optima(A, B, first, second)
    same_side = (alpha_n - 1) * (alpha_g - 1) > 0
    near = min((alpha_n, alpha_g), key=lambda a: abs(math.log(a)))
    candidates = torch.cat((GRID, torch.tensor([near], dtype=torch.float64)))
    lower = (norm(candidates, A, B) < norm(1.0, A, B) * (1 - 1e-12)) & (
        sharpness(candidates, first, second) < sharpness(1.0, first, second) * (1 - 1e-12)
    )
    together = bool(lower.any())
    if abs(math.log(near)) < 1e-3:  # closer to balance than the grid can tell
        continue
    wrong += together != same_side
    wrong_always += not together
    points.append((alpha_n, alpha_g, together))
    if same_side:
        gains.append(
            1 - both_ratios((A, B, first, second, rest), (A, B, first, second, rest), near)
        )
print(f"{len(points)} random networks, 2 to 9 bits: {wrong_always} without a common improvement")
print(f"the rule is wrong about {wrong} of them")
print(f"last row of F over b, squared gradients: at most {last_random:.4f}")
print(
    f"where both fall: the lesser of the two gains is {torch.tensor(gains).median().item():.4f} in the median"
)

# %% mystnb={"figure": {"caption": "The factors that minimise norm and sharpness, all rows of $F$ counted, for random networks. In the two shaded quadrants they lie on opposite sides of 1, and no factor lowers both.", "name": "fig-optima"}, "image": {"alt": "A cloud of points with the norm's optimal factor on the horizontal axis, nearly all above one, and the sharpness's on the vertical axis, from a tenth to about three. Circles above one are networks with a common improvement; crosses below one, in the shaded quadrant, are without."}} tags=["hide-input"]
fig, ax = figures.new(height=3.2)
for flag, label, look, colour in (
    (True, "some factor lowers both", "o", figures.COLOURS[2]),
    (False, "none does", "x", figures.COLOURS[1]),
):
    chosen = [(a, g) for a, g, together in points if together is flag]
    ax.plot(
        [a for a, _ in chosen],
        [g for _, g in chosen],
        linestyle="none",
        marker=look,
        markersize=3.5,
        color=colour,
        label=label,
    )
ax.set(
    xscale="log",
    yscale="log",
    xlabel="$\\alpha_n$, best for the norm",
    ylabel="$\\alpha_g$, best for the sharpness",
)
left, right, bottom, top = *ax.get_xlim(), *ax.get_ylim()
ax.fill_between([1, right], bottom, 1, color=figures.GREY, alpha=0.12, linewidth=0)
ax.fill_between([left, 1], 1, top, color=figures.GREY, alpha=0.12, linewidth=0)
ax.set(xlim=(left, right), ylim=(bottom, top))
ax.set_xticks([1, 2, 3, 4], ["1", "2", "3", "4"])
ax.set_yticks([0.3, 0.5, 1, 2, 5], ["0.3", "0.5", "1", "2", "5"])
ax.minorticks_off()
ax.legend(loc="lower right")
figures.show()

# %% [markdown]
# ## Rare inputs, and the bits that count
#
# The MLP has a trapezoid for every count $k = 0, \dots, d$ of ones among the $d$ bits of a component. The trapezoid for $k = 0$ serves every input whose $d$ bits *in the component* are zero. That is a share of $2^{-d}$, not $2^{-T}$. So removing the trapezoids for $k = 0$ and $k = d$ spoils a share $2^{1-d}$ of the inputs for each component (half of that for odd $d$, where the last trapezoid has height 0). Only a parity of nearly all bits can do without them.


# %%
def without_ends(spec, weights):
    """The network without the first and the last trapezoid."""
    F = weights["F"].clone()
    F[:, :4], F[:, -4:] = 0, 0
    return weights | {"F": F}


def affected(function):
    """Share of inputs at which a position with a component changes what its MLP says."""
    spec, weights = construct(function, (None, large_scale))
    bits = cube.bits(function.n)
    cut = without_ends(spec, weights)
    values = [
        forward(spec, w, bits, intermediates=True)[1]["parities"][:, : function.sparsity]
        for w in (weights, cut)
    ]
    loss = (forward(spec, cut, bits) - function.table()).square().mean().item()
    return ((values[0] - values[1]).abs() > 0.5).any(1).double().mean().item(), loss


rare = {}
for d, W in ((2, 1), (3, 1), (3, n // 2), (n, 1)):
    share, loss = affected(cube.sparse_function(n, d, W, generator, "even_parity"))
    rare[d, W] = share
    print(
        f"T = {n}, d = {d}, W = {W}: share of inputs {share:.4f}, loss without the ends {loss:.4f}, 2^(1-T) = {2.0 ** (1 - n):.4f}"
    )


def first_needed(length, d):
    """Share of inputs whose squared error is above 1/2 without the trapezoid of count 0."""
    one = cube.mask_of(list(range(1, d + 1)))
    f = cube.SparseFunction(length, torch.tensor([one]), torch.ones(1).double(), "even_parity")
    spec, weights = construct(f)
    F = weights["F"].clone()
    F[:, :4] = 0
    spoilt = 0
    for pattern in itertools.product((0, 1), repeat=d):
        tails = torch.ones(length - d + 1, length - d).long().tril(-1)
        bits = torch.cat((torch.tensor(pattern).expand(len(tails), d), tails), 1)
        error = forward(spec, weights | {"F": F}, bits) - f(cube.index_of(bits))
        spoilt += bool((error.square() >= 0.5).all())
    return spoilt / 2**d


needed, needed_full = first_needed(n_long, 3), first_needed(n, n)
print(f"without count 0: share {needed} at T = {n_long}, d = 3, W = 1; 2^-T = {2.0**-n_long:.1e}")
glue(rare=rare[3, n // 2], needed=needed, half=n // 2, n=n)

# %% [markdown]
# ## What would falsify this
#
# The function must not change under rescaling: the control rescales one side only. The closed forms must be the minima of a fine grid: the control has the wrong power. For the paper's blocks no class may be without a common improvement, and the gradient of the last row of $F$ must stay below that of $b$; the controls count all rows of $F$. The rule about the two factors must be right about every random network; its control is the rule that both always fall, about the same networks. Clearing dead units must lower both; its control is the rescaling that is best for the norm. The share of inputs that need the first trapezoid has the parity of all bits as its control.

# %%
ledger.result("sharper.appD.invariance").holds(
    "largest change of the function under rescaling",
    unchanged,
    at_most=0,
    tol=1e-10,
    control=broken,
    about="statement",
    evidence="proved",
)
ledger.result("sharper.appD.invariance").holds(
    "norm and sharpness at the closed-form factors over the best of a grid, minus 1",
    excess,
    at_most=0,
    tol=1e-9,
    control=excess_wrong,
    about="statement",
    evidence="proved",
)
ledger.result("sharper.appD").holds(
    "squared gradient for the last row of $F$ over that for $b$, all networks of this page, largest",
    max(last_over_b, last_random),
    at_most=1,
    control=all_over_b,
    about="statement",
    evidence="proved",
)
ledger.result("sharper.appD").holds(
    f"the paper's blocks: classes in which no factor lowers both, $T = {n}$ and $T = {n_long}$",
    failing_last + len(paper_failing_last),
    equals=0,
    control=failing + len(paper_failing),
    about="statement",
    evidence="proved",
)
ledger.result("sharper.appD").holds(
    "all rows of $F$ counted: there are classes in which no factor lowers both",
    failing,
    at_least=1,
    control=failing_last,
    about="ours",
    evidence="attained",
)
ledger.result("sharper.appD").holds(
    "all rows: both fall for some factor if and only if $\\alpha_n$ and $\\alpha_g$ are on one side of 1: random networks about which this is wrong",
    wrong,
    equals=0,
    control=wrong_always,
    about="ours",
    evidence="proved",
)
ledger.result("sharper.appD").holds(
    "dead units cleared: larger of the two ratios, norm and sharpness, over all classes",
    clear_ratio,
    at_most=1,
    control=scaled_ratio,
    about="ours",
    evidence="proved",
)
ledger.result("sharper.appD.training").refuted(
    f"share of inputs that need the trapezoid of count 0, over $2^{{-T}}$, $T = {n_long}$, $d = 3$",
    needed * 2**n_long,
    at_most=1,
    control=needed_full * 2**n,
    about="statement",
    evidence="attained",
)
ledger.show()

# %% [markdown]
# ## What we found
#
# * For the blocks that the paper counts, some factor lowers norm and sharpness together, in every class; the proof is above.
# * With all rows of $F$ counted, {glue:text}`failing` of {glue:text}`classes` classes at $T =$ {glue:text}`n`, and {glue:text}`paper_failing` of the paper's {glue:text}`paper_classes`, have no such factor.
# * Clearing the units that do nothing lowers both in every class. So the construction is not Pareto optimal, as Remark 3 of the paper says.
#
# ```{finding} sharper.appD.training
# :title: A trapezoid serves d equal bits, not T
# :group: false statement
#
# **Statement.** Printed, in words: inputs such as all zeros or all ones occur with exponentially small probability in a training set; consequently the parts of the MLP that serve them can be removed without affecting the training loss, with high probability.
#
# **Counterexample.** The paper's length $T = 20$, one component with $d = 3$. Without the trapezoid of count 0, a share {glue:text}`needed:.3f` of all inputs has a squared error above $\frac12$. None of the paper's 8192 random strings is such an input with probability $(7/8)^{8192}$. At $T = {glue:text}`n`$, $d = 3$, $W = {glue:text}`half`$ a share of {glue:text}`rare:.2f` needs one of the two end trapezoids.
#
# **Why.** A trapezoid serves all inputs with a certain *count* inside a component. The count 0 needs $d$ equal bits, not $T$.
#
# **Repair.** The ends can be removed when $d$ is close to $T$, as for the parity of all bits. For the purpose of the remark, a network of smaller norm and sharpness: clear the units of height 0, which lowers both in every class without changing the function.
#
# **What survives.** That such inputs are rare, that an interpolator of the training set is enough, and the conclusion: the construction is not Pareto optimal.
# ```
#
# ## What the authors' code does differently
#
# One stored version of `hardcoded_transformer.py` in `paullintilhac/boolean_function_sensitivity` has three modes: `original`, `mlp_soft` and `balanced`. The second multiplies the first layer of the MLP and its bias by $s = \frac14$ and divides the second by $s$: our rescaling with $\alpha = \frac14$, which lies on the side that makes $F$ larger. The third also balances query and key matrices by the fourth root of the ratio of their squared norms, the same closed form as $\alpha_n$. Its MLP is another one, a zigzag over the integer counts with units $(k - t)_+$ for $t = -1, \dots, d + 1$. A comment says that this softens the slopes; the slope of the function does not change. The next cell gives the squared norm of that MLP for each choice. The networks compared with trained ones in {ref}`ch-low-sharpness-interpolators` are not rescaled.

# %%
print("zigzag on integer counts: squared norm at s = 1, at s = 1/4, at its best s; the best s")
for d in range(1, 6):
    t = torch.arange(-1, d + 2).double()
    heights = torch.zeros(d + 5).double()  # v_k for k = -2, ..., d + 2; zero outside 0, ..., d
    heights[2:-2] = (-1.0) ** (d - torch.arange(d + 1))
    second_difference = heights[2:] - 2 * heights[1:-1] + heights[:-2]
    A, B = (1 + t.square()).sum().item(), second_difference.square().sum().item()
    best = balance(A, B)
    values = [norm(s, A, B) for s in (1.0, 0.25, best)]
    print(f"d = {d}: " + " ".join(f"{v:9.3f}" for v in values) + f"   {best:.4f}")

# %% [markdown]
# ## Exercises
#
# ```{admonition} Exercise 1
# Show that with $\alpha_n$ and $\alpha_g$ on opposite sides of 1 the construction is Pareto optimal *among its rescalings*.
# ```

# %% [markdown] tags=["hide-cell"]
# Moving towards $\alpha_n$ moves away from $\alpha_g$. A function that is convex in $\log \alpha$ with its minimum at $\alpha_g$ grows strictly in that direction. So every factor that lowers the norm raises the sharpness, and the other way round.

# %% [markdown]
# ```{admonition} Exercise 2
# What is $\alpha_n$ for $d = 1, \dots, 5$ in each basis?
# ```

# %% tags=["hide-cell"]
for d in range(1, 6):
    factors = {}
    for basis in cube.BASES:
        sizes = squared_norms(cube.sparse_function(6, d, 1, generator, basis))
        factors[basis] = f"{balance(sizes['G'] + sizes['b'], sizes['F']):.4f}"
    print(d, factors)

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
