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
# # Rescaling the construction: norm and sharpness cannot always fall together
#
# **Claim.** The construction's MLP can be rescaled without changing its function. The paper says that one factor lowers the norm of the weights and their sharpness together. For most classes that is so. For others the two want opposite factors, and no factor lowers both: we say when, exactly. A second argument, that parts of the MLP serve inputs too rare to matter, confuses the whole string with the few bits that a part looks at.
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`. **Runs in** 20 s.
#
# The network is that of {ref}`ch-construction`, with its MLP $y \mapsto F\,(Gy + b)_+$. For $\alpha > 0$,
#
# $$G \to \alpha G, \qquad b \to \alpha b, \qquad F \to F / \alpha$$
#
# leaves every output as it is, because $(\alpha z)_+ = \alpha\, z_+$. The bound of the paper compares a learned network with this construction, and asks that the learned one be no larger in norm and in sharpness. So it matters that the construction is not already the best in both, that is, not *Pareto optimal*.
#
# ```{prf:remark} Lintilhac and Shaikh (2026), Appendix D
# :label: sharper-appD
# *(Refuted below.)* Unless the MLP is balanced already, some $\alpha$ strictly lowers the squared norm of the weights and the squared norm of the gradient together. Moreover, parts of the MLP that serve inputs such as all zeros or all ones may be removed without a change of the training loss, since such inputs occur with exponentially small probability.
# ```
#
# **In closed form.** Let $A = |G|^2 + |b|^2$ and $B = |F|^2$. Let $g_G, g_b, g_F$ be the mean squared norms of the gradient of the output with respect to each block; at an exact network twice their sum is the trace of the loss Hessian ({ref}`ch-gradients-and-trace`). Rescaling divides the gradient of $G$ and $b$ by $\alpha$ and multiplies that of $F$ by $\alpha$. So the squared norm and the sharpness are, up to constants,
#
# $$\alpha^2 A + \frac{B}{\alpha^2} \quad\text{and}\quad \frac{g_G + g_b}{\alpha^2} + \alpha^2 g_F, \qquad\text{least at}\quad \alpha_n = \Bigl(\frac BA\Bigr)^{1/4}, \quad \alpha_g = \Bigl(\frac{g_G + g_b}{g_F}\Bigr)^{1/4}.$$
#
# Both are convex in $\log \alpha$, so each falls from $\alpha = 1$ towards its optimum and rises the other way.
#
# ```{prf:proposition} Repaired (ours)
# :label: pareto-repaired
# Some $\alpha$ strictly lowers both if and only if $\alpha_n$ and $\alpha_g$ lie strictly on the same side of 1. The one nearer to 1 then does.
# ```

# %% tags=["parameters"]
n = 8  # bits, all inputs are taken [6..10]
n_long = 20  # bits of the longer network, on random inputs [12..30]
instances = 1000  # random networks for the repaired statement [1000..3000]
large_scale = 40.0  # second score scale at which the network is exact up to rounding [30..60]
seed = 0  # of functions and inputs [0..1000000]

# %%
import math

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger, glue
from helpers.sharper.network import construct, construct_exact, forward
from helpers.sharper.norms import balance, rescaled, squared_norms

ledger = Ledger("sharper/pareto")
generator = torch.Generator().manual_seed(seed)
GRID = torch.linspace(-2, 2, 801, dtype=torch.float64).exp()  # of alpha, 1 among them


def terms(spec, weights, bits):
    """A, B, g_G + g_b and g_F; and what of norm and sharpness does not change."""
    copies = {k: v.expand(len(bits), *v.shape).clone().requires_grad_() for k, v in weights.items()}
    total = forward(spec, copies, bits[:, None]).sum()
    slopes = torch.autograd.grad(total, list(copies.values()))
    g = {k: v.flatten(1).square().sum(1).mean().item() for k, v in zip(copies, slopes, strict=True)}
    size = {k: v.square().sum().item() for k, v in weights.items()}
    A, B, first, second = size["G"] + size["b"], size["F"], g["G"] + g["b"], g["F"]
    rest = sum(size.values()) - A - B, sum(g.values()) - first - second
    return A, B, first, second, rest


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
# We take one class that the paper's argument fits, high degree, and one that it does not, degree 1 with as many terms as bits. {numref}`fig-rescaling` shows both quantities against $\alpha$.

# %%
inputs = cube.bits(n)
some = torch.randint(0, 2, (256, n_long), generator=generator)
examples = {
    f"T = {n}, d = 5, W = {n}": (construct(flat(n, 5, n)), inputs),
    f"T = {n_long}, d = 1, W = {n_long}": (construct(flat(n_long, 1, n_long)), some),
}
curves, unchanged, broken, excess, excess_wrong = {}, 0.0, 0.0, 0.0, math.inf
for name, ((spec, weights), bits) in examples.items():
    A, B, first, second, rest = terms(spec, weights, bits)
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

# %% mystnb={"figure": {"caption": "Squared norm of the weights and sharpness (twice the mean squared gradient) against the factor $\\alpha$, each over its value at $\\alpha = 1$. Shaded: factors that lower both.", "name": "fig-rescaling"}, "image": {"alt": "Two panels with two valley-shaped curves each, through one at factor one. On the left both valleys lie to the right of one and a shaded band where both are below one begins there. On the right the valley of the norm lies just right of one and that of the sharpness left of one; nothing is shaded."}} tags=["hide-input"]
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
# The norm always asks for $\alpha > 1$: in this basis $A \approx \frac{16}3 d$ for large $d$ and $B = 16 d^2 (\lfloor d/2 \rfloor + 1)$, and $\alpha_n$ is already above 1 at $d = 1$. The sharpness asks for $\alpha < 1$ when the gradient of $F$ is the larger one. That is so at low degree and many terms, where the positional rows of $F$ carry most of the gradient ({ref}`ch-gradients-and-trace`), and at any degree once the second score scale is large.

# %%
degrees, shares = (1, 2, 3, 5), (1, n // 4, n // 2, n)
found, failing, failing_same_side = {}, 0, 0
print(f"T = {n}, equal coefficients: alpha_n, then alpha_g for W = {', '.join(map(str, shares))}")
for name, second_scale in (("2 log T", None), ("large scale", large_scale)):
    for d in degrees:
        row = []
        for W in shares:
            spec, weights = construct(flat(n, d, W), (None, second_scale))
            A, B, first, second, _ = terms(spec, weights, inputs)
            alpha_n, alpha_g = optima(A, B, first, second)
            together = bool(
                (
                    (norm(GRID, A, B) < norm(1.0, A, B) * (1 - 1e-12))
                    & (sharpness(GRID, first, second) < sharpness(1.0, first, second) * (1 - 1e-12))
                ).any()
            )
            failing += not together
            failing_same_side += not together and (alpha_n - 1) * (alpha_g - 1) > 0
            row.append(alpha_g)
            found[name, d, W] = (alpha_n, alpha_g, together)
        print(f"{name:11}  d = {d}: {alpha_n:.3f};  " + "  ".join(f"{g:7.3f}" for g in row))
classes = len(found)
glue("failing", failing)
glue("classes", classes)

# %% [markdown]
# Of {glue:text}`classes` classes {glue:text}`failing` have no common improvement. The networks at the large scale are exact up to rounding. So is the mended network of {ref}`ch-construction`, at the paper's scale; its $\alpha_g$ is printed next. Then the smallest network without a common improvement, at either scale: over $T$, then $d$, then $W$, with equal coefficients.

# %%
print(
    f"mended network, T = {n}, 2 log T: alpha_n, then alpha_g for W = {', '.join(map(str, shares))}"
)
mended_failing = 0
for d in degrees:
    pairs = [optima(*terms(*construct_exact(flat(n, d, W)), inputs)[:4]) for W in shares]
    mended_failing += sum((a - 1) * (g - 1) <= 0 for a, g in pairs)
    print(f"  d = {d}: {pairs[0][0]:.3f};  " + "  ".join(f"{g:7.3f}" for _, g in pairs))
print(f"without a common improvement: {mended_failing} of {len(degrees) * len(shares)}")


def smallest(second_scale, longest=10):
    """The first (T, d, W) whose two factors lie on opposite sides of 1, with its four terms."""
    for bits_n in range(2, longest + 1):
        for d in range(1, bits_n + 1):
            for W in range(1, min(bits_n, math.comb(bits_n, d)) + 1):
                network = construct(flat(bits_n, d, W), (None, second_scale))
                found = terms(*network, cube.bits(bits_n))[:4]
                if min(found[2:]) > 1e-12 and (optima(*found)[0] - 1) * (optima(*found)[1] - 1) < 0:
                    return (bits_n, d, W), found
    return None, None


smallest_of = {}
for name, second_scale in (("2 log T", None), ("large scale", large_scale)):
    size, four = smallest(second_scale)
    smallest_of[name] = size, four
    if size is None:
        print(f"{name}: none up to 10 bits")
        continue
    a_n, a_g = optima(*four)
    print(
        f"{name}: T = {size[0]}, d = {size[1]}, W = {size[2]}: alpha_n {a_n:.4f}, alpha_g {a_g:.4f}"
    )
    print("  |G|^2 + |b|^2 {:.4f}, |F|^2 {:.4f}, g_G + g_b {:.4f}, g_F {:.4f}".format(*four))

# %% [markdown]
# The paper's own reason points the other way. It says that $F$ outweighs $G$ and $b$ in the norm *and* in the gradient. But a heavy $F$ in the norm asks for $\alpha > 1$, which divides $F$, and that *raises* its gradient by the same factor. If $F$ outweighs the rest in both, the two factors lie on opposite sides of 1. One factor helps both exactly if $F$ is the heavier part in norm and the *lighter* one in gradient, or the other way round. {numref}`fig-optima` shows the two factors for random networks of all sizes.


# %%
def draw(low, high):
    return int(torch.randint(low, high + 1, (), generator=generator))


points, wrong, wrong_always, gains = [], 0, 0, []
while len(points) < instances:
    bits_n = draw(2, 9)
    d = draw(1, bits_n)
    W = draw(1, min(bits_n, math.comb(bits_n, d)))
    basis = ("even_parity", "character")[draw(0, 1)]
    f = cube.sparse_function(bits_n, d, W, generator, basis)
    c = f.coefficients.clamp(min=1e-3)
    f = cube.SparseFunction(bits_n, f.masks, c / c.norm(), basis)
    scale = large_scale * torch.rand((), generator=generator).item() ** 2
    spec, weights = construct(f, (None, scale))
    rows = torch.randint(0, 2, (12, bits_n), generator=generator)
    A, B, first, second, rest = terms(spec, weights, rows)
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
            min(
                1 - norm(near, A, B, rest[0]) / norm(1.0, A, B, rest[0]),
                1
                - sharpness(near, first, second, rest[1]) / sharpness(1.0, first, second, rest[1]),
            )
        )
glue("points", len(points))
glue("apart", wrong_always)
glue("gain", 100 * torch.tensor(gains).median().item())
print(f"{len(points)} random networks, 2 to 9 bits: {wrong_always} without a common improvement")
print(f"the repaired statement is wrong about {wrong} of them")
print(
    f"where both fall: the lesser of the two gains is {torch.tensor(gains).median().item():.4f} in the median"
)

# %% mystnb={"figure": {"caption": "The factors that minimise norm and sharpness, for random networks. In the two shaded quadrants they lie on opposite sides of 1, and no factor lowers both.", "name": "fig-optima"}, "image": {"alt": "A cloud of points with the norm's optimal factor on the horizontal axis, nearly all above one, and the sharpness's on the vertical axis, from a tenth to about three. Circles above one are networks with a common improvement; crosses below one, in the shaded quadrant, are without."}} tags=["hide-input"]
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
glue("rare", rare[3, n // 2])

# %% [markdown]
# ## What would falsify this
#
# The function must not change under rescaling: the control rescales one side only. The closed forms must be the minima of a fine grid: the control has the wrong power. The printed statement counts classes without a common improvement, and its control counts them among the classes where both factors are on one side. The repaired statement must be right about every random network; its control is the printed one, about the same networks.

# %%
ledger.check(
    "sharper.appD",
    "largest change of the function under rescaling",
    measured=unchanged,
    at_most=0,
    tol=1e-10,
    control=broken,
)
ledger.check(
    "sharper.appD",
    "norm and sharpness at the closed-form factors over the best of a grid, minus 1",
    measured=excess,
    at_most=0,
    tol=1e-9,
    control=excess_wrong,
)
ledger.check(
    "sharper.appD",
    "as printed: classes in which no factor lowers both",
    measured=failing,
    equals=0,
    control=failing_same_side,
    expect="refuted",
)
ledger.check(
    "sharper.appD",
    "repaired: random networks about which it is wrong",
    measured=wrong,
    equals=0,
    control=wrong_always,
    expect="repaired",
)
ledger.check(
    "sharper.appD",
    "as printed: share of inputs that need the end trapezoids is at most $2^{1-T}$",
    measured=rare[3, n // 2],
    at_most=2.0 ** (1 - n),
    control=rare[n, 1],
    expect="refuted",
)
name_bad = list(curves)[1]
ledger.finding(
    "sharper.appD",
    printed="Some rescaling of the MLP strictly lowers norm and sharpness together, unless it is balanced; and the parts for extreme inputs can be removed.",
    counterexample=f"The smallest, at a scale of {large_scale:g}: $T = {size[0]}$, $d = {size[1]}$, $W = {size[2]}$, equal coefficients: $|G|^2 + |b|^2 = {four[0]:.2f} < |F|^2 = {four[1]:.2f}$, so $\\alpha_n = {a_n:.3f}$, and $g_G + g_b = {four[2]:.2f} < g_F = {four[3]:.2f}$, so $\\alpha_g = {a_g:.3f}$. At {name_bad.replace('T', '$T$').replace('d', '$d$').replace('W', '$W$')} the norm is least at $\\alpha = {curves[name_bad][2]:.3f}$ and the sharpness at ${curves[name_bad][3]:.3f}$, on the other side of 1. Of {classes} classes at $T = {n}$, {failing} have no common improvement. Without the end trapezoids {100 * rare[3, n // 2]:.0f} % of the inputs change at $d = 3$, $W = {n // 2}$.",
    why="Two convex functions of one factor each fall towards their own optimum, and these need not be on one side. They are on opposite sides exactly where the reason given, that $F$ is the heavier part in norm and gradient, is true. And an extreme *count* needs $d$ equal bits, not $T$.",
    repair="Both fall for some factor if and only if $\\alpha_n$ and $\\alpha_g$ are on the same side of 1; the nearer one will do. The ends can be removed when $d$ is close to $T$.",
    survives="For degrees of 2 and more at the paper's scale and few terms, one factor lowers both, sometimes by much.",
)
ledger.show()

# %% [markdown]
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
