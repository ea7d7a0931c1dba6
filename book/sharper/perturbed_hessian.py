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
# (ch-perturbed-hessian)=
# # The Hessian of the hand-written network, and what noise does to it
#
# **Claim.** The paper bounds the sharpness of the noisy network through the Hessian of the output: which of its blocks are not zero, how large it is, and how it and the gradient change under noise. The printed count of six blocks leaves out those between the first attention and the MLP. The bound on the size, as the authors' notebook has it, contains no scale of the scores, and long networks at the paper's own scale pass it. The bounds on the changes are not contradicted at the paper's lengths; their proof has a gap at other lengths, where a position sits on a kink of the MLP. The bound on the trace of the noisy loss rests on a gradient bound that fails, and stays open here.
# **Needs** {ref}`ch-construction`, {ref}`ch-perturbed-network`. **Runs in** 60 s. **Source** code: the formulas are those of the authors' notebook; the count of blocks is printed.
#
# We go on from {ref}`ch-perturbed-network`. The output is $f_\theta(x)$, with the weights $\theta$ of {ref}`ch-construction`: seven blocks $W_{KQ}^{(1)}, W_V^{(1)}, G, b, F, W_{KQ}^{(2)}, v_2$. There are $T$ bits, $W$ terms of degree $d$, $S = \sum_i c_i$; a token has $D = T + 2$ columns; $k = D - 1$ and $\ell = \log T$. The loss is the mean of $(f_\theta(x) - f(x))^2$ over inputs. A prime marks a noisy copy, with independent normal noise of standard deviation $\sigma$ on every weight. An *idle* position holds no term of $f$.
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 18 and Appendix J
# :label: sharper-thm18
# *(Both sentences are refuted below.)* Of the 28 blocks of the Hessian $H_f$ of the output at the construction, at most six are not zero. Its operator norm is at most
#
# $$\begin{aligned} H_u = {} & 8(d+1) + 6(d+1)\sqrt W + 2\sqrt{3T(d+1)} + \sqrt{48Td(d+1)} + 3d\sqrt{12T(d+1)} \\ & + 8\sqrt2\, d\sqrt{kT} + 2d\sqrt{kT} + 8\sqrt2\, kd\sqrt W + 6\sqrt2\, k^{3/2} d . \end{aligned}$$
# ```
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorems 30 and 31
# :label: sharper-thm30
# With high probability $|\nabla f' - \nabla f| \le G_p$ and $|H_f' - H_f| \le H_p$, where both are multiples of $\sigma$:
#
# $$\begin{aligned} G_p = \sigma \bigl( & 128\sqrt2\, d^2\sqrt W \ell + 192\sqrt W d^2 + 128\sqrt2\, d^2W^2\ell + 64\sqrt2\, kd^2W^2\ell + 128kW^2\ell d^{3/2} \\ & + 1024 d^{7/2}W^{3/2}\ell + 8\sqrt{dW}\,\ell k + 256 d^{5/2}W^2k + 32\sqrt d\, W^2k^2 \bigr), \\ H_p = \sigma \ell \bigl( & 768\sqrt2\, d^2W^{3/2}k + 256W^{3/2}k^2d^{3/2} + 1024d^{7/2}W^{3/2} + 512d^{5/2}W^{3/2}k^2 \\ & + 1536d^{7/2}W^{5/2}\sqrt k\,\ell + 768d^2W^{5/2}k\ell + 16W^2k^{5/2} \bigr). \end{aligned}$$
# ```
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorem 17
# :label: sharper-thm17
# Let $G_u$ bound $|\nabla f|^2$ at the construction, let the output move by at most $T_p$, and let $\Theta$ be the number of weights. With high probability the Hessian $H'$ of the loss at the noisy copy has
#
# $$|\mathrm{tr}\, H'| \le 2\bigl(\sqrt{G_u} + G_p\bigr)^2 + 2\,T_p\,(H_u + H_p)\,\Theta .$$
# ```
#
# **Where the formulas come from.** The text that we worked from has lost its displayed formulas. $G_u, T_p, G_p, H_u, H_p, \Theta$ are as the authors' notebook `generate_plots.ipynb` of 2025 tabulates them, except that in $G_p$ every term has its factor $\sigma$, as the prose says, and that $\Theta$ is the number of weights, as the prose says. The final paper's formulas may differ. The structure of Theorem 17 and the count of blocks are in the prose.
#
# **Idea of the proof.** For the squared loss at one input
#
# ```{math}
# :label: eq-loss-hessian
# H = 2\, \nabla f\, \nabla f^\top + 2\,(f_\theta - f)\, H_f , \qquad \mathrm{tr}\, H = 2\,|\nabla f|^2 + 2\,(f_\theta - f)\, \mathrm{tr}\, H_f .
# ```
#
# At an exact interpolator the second term is zero. At a noisy copy it is not. The first term is then at most $2(\sqrt{G_u} + G_p)^2$. In the second the error is at most $T_p$, and a trace is at most the number of rows times the operator norm.

# %% tags=["parameters"]
n = 5  # length of the inputs for which all of the Hessian is computed, in bits [4..6]
quarter = 2  # the length 4 * quarter - 1 puts idle positions on a kink [2..3]
far = 50  # length of the long inputs, traces only, in bits [20..60]
large_scale = 400.0  # score that stands for an infinite one [200..1000]
copies = 2  # pairs of noisy copies for each sigma [2..20]
instances = 1000  # random networks for the bounds [100..4000]
seed = 0  # of functions, inputs and noise [0..1000000]

# %% [markdown]
# ## Which blocks are not zero?
#
# The prose of the paper counts like this. The gradients for the two matrices of the first attention are zero, so all 13 blocks that touch them vanish. The gradient for $W_{KQ}^{(2)}$ depends on one other matrix only, the one for $v_2$ not on $v_2$, and the MLP is piecewise linear in its own weights: 4, 1 and 4 more. Six remain: $F$ with $G$, $F$ with $b$, $v_2$ with $F$, $G$ and $b$, and one that touches $W_{KQ}^{(2)}$.
#
# The first step leaves something out. That a gradient is zero *at the construction* says nothing about its derivative there. The gradient for $W_V^{(1)}$ is the slope of the MLP times something. The slope is zero on a plateau. But it is $\sum_h F_{Dh} G_{hD} \mathbb 1_h$, and its derivatives for $F$ and $G$ are not zero.
#
# We compute all Hessians by automatic differentiation, for every input, at a scale so large that the network is exact, and mark each block whose largest entry is not rounding.

# %%
import itertools
import math

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.draws import Draws
from helpers.sharper.gradients import LISTED, squared_gradients
from helpers.sharper.network import (
    ConstructionSpec,
    construct,
    forward,
    leaks,
    mlp,
    parity_values,
    trapezoid,
)
from helpers.sharper.perturbed import construct_smooth, no_flip_sigma, perturb
from helpers.sharper.tabulated import (
    gradient_bound,
    gradient_term,
    hessian_at_construction,
    hessian_term,
    parameter_count,
    perturbation_term,
    perturbed_trace_bound,
    tabulated_parameter_count,
)
from helpers.sharpness import SquaredLoss, hessian_trace

ledger = Ledger("sharper/perturbed_hessian")
source = Draws(seed)
generator, log_uniform = source.generator, source.log_uniform

BLOCKS = ("WKQ1", "WV1", "G", "b", "F", "WKQ2", "v2")
PAIRS = list(itertools.combinations_with_replacement(BLOCKS, 2))
FIVE = {("G", "F"), ("b", "F"), ("G", "v2"), ("b", "v2"), ("F", "v2")}
FIRST = {"WKQ1", "WV1"}
EXACT = 40.0  # leaks of e**-40, below rounding


def flatten(weights):
    """Weights as one vector for each network, the way back, and where each block lies."""
    lead = weights["b"].ndim - 1  # 1 if there is one network for each input
    shapes = {name: weights[name].shape[lead:] for name in BLOCKS}
    ends = list(itertools.accumulate(shape.numel() for shape in shapes.values()))
    places = {
        name: slice(end - shapes[name].numel(), end) for name, end in zip(BLOCKS, ends, strict=True)
    }

    def unflatten(vector):
        return {name: vector[places[name]].view(shapes[name]) for name in BLOCKS}

    return torch.cat([weights[name].flatten(lead) for name in BLOCKS], -1), unflatten, places


def derivatives(transform, spec, weights, bits):
    """A derivative of the output at each input, at one network or one for each input."""
    vector, unflatten, _ = flatten(weights)
    one = transform(lambda v, x: forward(spec, unflatten(v), x[None])[0])
    each = torch.func.vmap(one, in_dims=(0 if vector.ndim > 1 else None, 0), chunk_size=8)
    return each(vector, bits)


def hessians(spec, weights, bits):
    """Hessian of the output for each input, shape (B, P, P)."""
    return derivatives(torch.func.hessian, spec, weights, bits)


def gradients(spec, weights, bits):
    """Gradient of the output for each input, shape (B, P)."""
    return derivatives(torch.func.grad, spec, weights, bits)


def operator_norms(matrices):
    """Largest absolute eigenvalue of each symmetric matrix of a batch."""
    return torch.linalg.eigvalsh((matrices + matrices.mT) / 2).abs().amax(-1)


def operator_norm(matrices):
    """Largest of all."""
    return operator_norms(matrices).max().item()


def freeze(spec, weights, H):
    """The Hessian without the rows of F that write into the columns of the positions."""
    keep = torch.ones(H.shape[-1], dtype=torch.bool)
    start = flatten(weights)[2]["F"].start
    keep[start : start + (spec.width - 1) * spec.hidden] = False
    return H[:, keep][:, :, keep]


def largest_entries(H, places):
    """Largest absolute entry of each block, over all inputs."""
    return {(a, b): H[:, places[a], places[b]].abs().max().item() for a, b in PAIRS}


def expected_blocks(d, W):
    """The blocks that we find not to vanish in the exact limit."""
    found = FIVE | {("WV1", "G"), ("WV1", "F")}
    if d > 1:
        found |= {("WKQ1", "G"), ("WKQ1", "F")}
    if W > 1:
        found |= {("WKQ1", "F"), ("F", "F"), *((name, "WKQ2") for name in BLOCKS[:6])}
        found |= {("WKQ2", "v2")}
    return found


bits = cube.bits(n)
sizes = [(n, d, W) for d in (1, 2, 3) for W in sorted({1, 2, n})]
functions = {size: cube.sparse_function(*size, generator, "even_parity") for size in sizes}
entries, found_blocks = {}, {}
zero = 1e-9  # leftovers are of order e**-40 times the square of the scale, below 1e-13
for size in sizes:
    spec, weights = construct(functions[size], EXACT)
    H = hessians(spec, weights, bits)
    entries[size] = largest_entries(H, flatten(weights)[2])
    found_blocks[size] = {pair for pair, top in entries[size].items() if top > zero}
print("number of blocks that are not zero, of 28, and those with the first attention")
print(" T  d  W   all  first attention  as listed below")
for (T, d, W), found in found_blocks.items():
    touching = sum(bool(FIRST & set(pair)) for pair in found)
    print(f"{T:2} {d:2} {W:2}   {len(found):3}  {touching:15}  {found == expected_blocks(d, W)}")
single = [size for size in sizes if size[2] == 1]
fewest = min(len(found_blocks[size]) for size in single)
without_first = max(sum(not FIRST & set(pair) for pair in found_blocks[size]) for size in single)
mismatch = max(len(found_blocks[s] ^ expected_blocks(*s[1:])) for s in sizes)
mismatch_without = max(
    len(found_blocks[s] ^ {p for p in expected_blocks(*s[1:]) if not FIRST & set(p)}) for s in sizes
)
shown = [(n, 2, 1), (n, 2, n)]
for size in shown:
    print(
        f"largest entries, T, d, W = {size}: "
        + ", ".join(f"{a}-{b} {top:.3f}" for (a, b), top in entries[size].items() if top > zero)
    )
glue(
    blocks_single_low=fewest,
    blocks_single_high=max(len(found_blocks[s]) for s in single),
    blocks_many_low=min(len(found_blocks[s]) for s in sizes if s[2] > 1),
    blocks_many_high=max(len(found_blocks[s]) for s in sizes if s[2] > 1),
)
first_entry = max(entries[shown[0]][pair] for pair in (("WV1", "G"), ("WV1", "F")))
other_entry = max(entries[shown[0]][pair] for pair in FIVE)
glue(first_entry=first_entry, other_entry=other_entry)

# %% mystnb={"figure": {"caption": "The blocks of the Hessian of the output in the exact limit, $d = 2$: one term on the left, $T$ terms on the right. The colour is the largest entry over all inputs; white is zero. A ring marks the five blocks on which prose and computation agree for one term.", "name": "fig-hessian-blocks"}, "image": {"alt": "Two seven by seven triangles of cells. On the left nine are coloured: five with rings among G, b, F and v2, and four without rings in the rows of the two matrices of the first attention, at G and F. On the right seventeen are coloured, among them nearly all of the column of the second score matrix, and F with F, which is darkest."}} tags=["hide-input"]
TEX = {
    "WKQ1": "$W_{KQ}^{(1)}$",
    "WV1": "$W_V^{(1)}$",
    "G": "$G$",
    "b": "$b$",
    "F": "$F$",
    "WKQ2": "$W_{KQ}^{(2)}$",
    "v2": "$v_2$",
}
fig, axes = figures.new(1, 2, height=3.6)
for ax, size in zip(axes, shown, strict=True):
    picture = torch.full((7, 7), float("nan"), dtype=torch.float64)
    for (a, b), top in entries[size].items():
        if top > zero:
            picture[BLOCKS.index(a), BLOCKS.index(b)] = math.log10(top)
    image = ax.imshow(picture.numpy(), cmap="viridis_r", vmin=-1.5, vmax=4)
    for a, b in FIVE:
        ax.plot(
            BLOCKS.index(b),
            BLOCKS.index(a),
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor="black",
        )
    for i, j in itertools.combinations_with_replacement(range(7), 2):
        ax.add_patch(
            figures.plt.Rectangle(
                (j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#b0b0b0", linewidth=0.6
            )
        )
    ax.set_xticks(range(7), TEX.values(), fontsize=8)
    ax.set_yticks(range(7), TEX.values(), fontsize=8)
    ax.set_title("one term" if size[2] == 1 else f"{size[2]} terms")
    ax.grid(visible=False)
bar = fig.colorbar(image, ax=axes, shrink=0.8, ticks=[-1, 0, 1, 2, 3, 4])
bar.ax.set_yticklabels(["0.1", "1", "10", "100", "1000", "10000"])
bar.set_label("largest entry")
figures.show()

# %% [markdown]
# With one term there are {glue:text}`blocks_single_low` to {glue:text}`blocks_single_high` blocks: the five that we expected, and those of $W_V^{(1)}$ with $G$ and $F$, for $d \ge 2$ also those of $W_{KQ}^{(1)}$. They are not small: the largest entry there is {glue:text}`first_entry:.2f`, against {glue:text}`other_entry:.2f` in the five. At $d = 1$ the softmax of an active position is saturated, and $W_{KQ}^{(1)}$ has no effect. With more terms there are {glue:text}`blocks_many_low` to {glue:text}`blocks_many_high`. The new ones come from the rows of $F$ that write into the columns of the positions. Those rows are zero, but they are weights, and they feed the scores of the second attention.
#
# ## How large is it?
#
# $H_u$ contains no scale of the scores, and the Hessian does. A row of $F$ that writes into column $i$ moves the score of every position by $(L + \log c_i)$ times what it writes, where $L$ is the scale. So the block $F$-$F$ grows as $L^2$. At $L = 2\log T$ and small $T$ there is room for that. In the exact limit there is not; and at $L = 2 \log T$ there is none either once $T$ is large.
#
# If those $T + 1$ rows of $F$ are *frozen*, so that only its last row is a weight, nothing else depends on the scale, and no violation is found at any $L$.

# %%
few = torch.cat((bits[[0, -1]], bits[torch.randperm(2**n, generator=generator)[:6]]))
scales = {"2 log T": None, "exact": EXACT, "large": large_scale}
full, frozen = {}, {}
print("largest operator norm of the Hessian, all weights | last row of F only | H_u")
print(
    " T  d  W "
    + "".join(f"{name:>12}" for name in scales)
    + "  |"
    + "".join(f"{name:>9}" for name in scales)
    + "  |      H_u"
)
for size in sizes:
    for name, scale in scales.items():
        spec, weights = construct(functions[size], scale)
        H = hessians(spec, weights, few)
        full[size, name] = operator_norm(H)
        frozen[size, name] = operator_norm(freeze(spec, weights, H))
    print(
        f"{size[0]:2} {size[1]:2} {size[2]:2} "
        + "".join(f"{full[size, name]:12.2f}" for name in scales)
        + "  |"
        + "".join(f"{frozen[size, name]:9.2f}" for name in scales)
        + f"  | {hessian_at_construction(*size):8.1f}"
    )


def worst(norms, names):
    """Largest operator norm over H_u."""
    return max(
        norms[size, name] / hessian_at_construction(*size) for size in sizes for name in names
    )


norm_at_paper = worst(full, ["2 log T"])
norm_at_large = worst(full, ["large"])
norm_frozen = worst(frozen, scales)
steepest = max(sizes, key=lambda s: full[s, "exact"] / hessian_at_construction(*s))
glue(
    norm_at_paper=norm_at_paper,
    norm_exact=full[steepest, "exact"],
    norm_exact_bound=hessian_at_construction(*steepest),
    norm_frozen=1 / norm_frozen,
    steepest="{}, {}, {}".format(*steepest),
)

# %% mystnb={"figure": {"caption": "Operator norm of the Hessian of the output, largest of eight inputs, against the scale of the scores, $d = 1$ and $W = T$. Dashed: the bound $H_u$.", "name": "fig-hessian-scale"}, "image": {"alt": "Log-log plot. Marks of the full Hessian rise with slope two from about twenty at the scale 2 log T and cross the dashed bound before the scale 40. Marks of the Hessian with frozen rows stay flat near ten, far below the bound."}} tags=["hide-input"]
size = (n, 1, n)
grid = [2 * math.log(n), 6.0, 10.0, 20.0, 40.0, 100.0, 400.0]
rows = {"all weights": [], "last row of F only": []}
for scale in grid:
    spec, weights = construct(functions[size], scale)
    H = hessians(spec, weights, few)
    rows["all weights"].append(operator_norm(H))
    rows["last row of F only"].append(operator_norm(freeze(spec, weights, H)))
fig, ax = figures.new(height=3.0)
for i, (name, row) in enumerate(rows.items()):
    ax.plot(
        grid, row, color=figures.COLOURS[i], marker=figures.MARKERS[i], linestyle="-", label=name
    )
ax.axhline(hessian_at_construction(*size), color="black", linestyle="--", label="$H_u$")
ax.set(xscale="log", yscale="log", xlabel="scale of the scores $L$", ylabel="operator norm")
ax.set_xticks([3, 10, 40, 100, 400], ["3", "10", "40", "100", "400"])
ax.minorticks_off()
ax.legend()
figures.show()

# %%
print("scale     " + " ".join(f"{scale:10.2f}" for scale in grid))
for name, row in rows.items():
    print(f"{name:18}" + " ".join(f"{v:10.2f}" for v in row))

# %% [markdown]
# At the paper's scale the norm is at most {glue:text}`norm_at_paper:.3f` of the bound at these small sizes. In the exact limit, with scores of 40, it is {glue:text}`norm_exact:.0f` at $(T, d, W) =$ ({glue:text}`steepest`), where $H_u =$ {glue:text}`norm_exact_bound:.0f`. With the positional rows of $F$ frozen it is at least {glue:text}`norm_frozen:.0f` times smaller than $H_u$, at every scale tried.
#
# ### Long networks at the paper's scale
#
# Small lengths are kind to $H_u$. Take $d = 1$, $U_i = \{i\}$, $W = T$, and an input with $q$ ones. Let the zeros have $A$ times the coefficient of the ones, with $A$ such that what the idle position writes is the output: then the network is exact at this input, at every scale. Move along one unit direction only: row $i$ of $F$ grows in proportion to its score $w_i = L + \log c_i$, and along the hidden units by the difference between those of a 1 and those of a 0. With $|w|$ of order $\sqrt T \log T$ and $S$ of order $\sqrt T$ the second derivative of the output in this direction is of order $T^{3/2} \log^2 T$, and $H_u$ of order $T^{3/2}$. A second derivative in a unit direction is at most the operator norm.

# %%
BLANK = {"dtype": torch.float64}


def long_network(length, ones, factor):
    """d = 1, W = T, L = factor * log T; exact at the input with ``ones`` ones, also returned."""
    spec, D = ConstructionSpec(length, 1, length, "even_parity"), length + 2
    G, b, F = trapezoid(parity_values(1, "even_parity"))
    idle = mlp(torch.full((1, 1), ones / (length + 1), **BLANK), G, b, F).item()
    ratio = idle * ones / ((1 - idle) * (length - ones))
    x = (torch.arange(length) < ones).long()
    c = torch.where(x == 1, 1.0, ratio).double()
    c = c / c.norm()
    weights = {k: torch.zeros(D, D, **BLANK) for k in ("WKQ1", "WV1", "WKQ2")}
    weights |= {"G": torch.zeros(8, D, **BLANK), "b": b, "F": torch.zeros(D, 8, **BLANK)}
    weights["v2"] = torch.zeros(D, **BLANK)
    weights["WKQ1"][range(length), range(length)] = 2 * math.log(length)
    weights["WKQ2"][length, :length] = factor * math.log(length) + c.log()
    weights["WV1"][-1, -1], weights["v2"][-1] = 1, c.sum()
    weights["G"][:, -1:], weights["F"][-1:] = G, F
    return spec, weights, x[None], c[x == 0].sum().item()


def along_rows(spec, weights, x):
    """Second derivative of the output in the direction of the text."""
    _, inside = forward(spec, weights, x, intermediates=True)
    units = torch.relu(inside["prefix_sums"][0][:, None] + weights["b"])
    step, scores = units[0] - units[spec.n - 1], weights["WKQ2"][spec.n, : spec.n]
    V = torch.zeros_like(weights["F"])
    V[: spec.n] = scores[:, None] / scores.norm() * step / step.norm()
    moved = torch.func.jacfwd(
        torch.func.jacfwd(lambda t: forward(spec, weights | {"F": weights["F"] + t * V}, x)[0])
    )
    return abs(moved(torch.zeros((), **BLANK)).item())


def frozen_norm(spec, weights, x, rounds=8):
    """Operator norm with the positional rows of F frozen, by power iteration (from below)."""
    v = {k: torch.randn(w.shape, generator=generator, dtype=w.dtype) for k, w in weights.items()}
    size = 1.0
    for _ in range(rounds):
        v["F"] = torch.cat((torch.zeros_like(v["F"][:-1]), v["F"][-1:]))
        size = math.sqrt(sum(block.square().sum().item() for block in v.values()))
        v = {k: block / size for k, block in v.items()}
        slope = torch.func.grad(lambda w: forward(spec, w, x)[0])
        v = torch.func.jvp(slope, (weights,), (v,))[1]
    return size


long_ratio, long_frozen = {}, {}
print("  T    L / log T   error at x   second derivative   frozen norm        H_u")
for length, ones, factor in ((20, 13, 8), (400, 259, 2)):
    spec, weights, x, f_at_x = long_network(length, ones, factor)
    error = abs(forward(spec, weights, x).item() - f_at_x)
    bound = hessian_at_construction(length, 1, length)
    size, rest = along_rows(spec, weights, x), frozen_norm(spec, weights, x)
    long_ratio[length], long_frozen[length] = size / bound, rest / bound
    word = "rounding" if error < 1e-10 else f"{error:.1e}"
    print(f"{length:4} {factor:9} {word:>14} {size:17.1f} {rest:13.1f} {bound:12.1f}")
    if length == 400:
        glue(long_second=size, long_bound=bound, long_ratio=size / bound)
    else:
        glue(short_ratio=size / bound)

# %% [markdown]
# At $T = W = 400$ and the paper's $2 \log T$ the second derivative is {glue:text}`long_second:.0f`, and $H_u$ is {glue:text}`long_bound:.0f`. At the paper's length $T = 20$, with scores four times as large, it is {glue:text}`short_ratio:.1f` times $H_u$.
#
# ## Does the gradient change by a multiple of the noise?
#
# Theorems 30 and 31 assume that no hidden unit flips. That is safe at active positions. At idle positions it need not be. There the MLP sees the mean of all bits, $\frac{|x|}{T+1}$, and if $T + 1$ is a multiple of 4 that is a kink at $\frac14$ for some inputs and odd $d$. (Of the paper's lengths 20, 30, 40 and 50 none is such.) The proofs allow flips at idle positions, because the second attention does not look there. In the exact limit that is true, and there nothing jumps. At the scale $2 \log T$ it looks there with a weight of about $\frac1T$. So at these lengths the gradient *jumps*, by an amount that does not shrink with $\sigma$, while $G_p$ does.
#
# We take $T = 4q - 1$ and strings with $q$ ones, $q$ = `quarter`. Copies come in pairs, with the noise $U$ and $-U$: if one does not cross the kink, the other does. Beside the paper's network stands a *smooth* one: the exact network of {ref}`ch-construction`, with idle positions that look at the output token so firmly that they stay within half a plateau. It is exact at every scale, so it also satisfies the hypothesis of Theorem 17.

# %%
kink = 4 * quarter - 1
kink_sizes = [(kink, d, W) for d in (1, 3) for W in (1, 3)]
free_sizes = [size for size in sizes if size[2] < 3 and size[1] != 2]
functions |= {size: cube.sparse_function(*size, generator, "even_parity") for size in kink_sizes}
strings = torch.zeros(4, kink, dtype=torch.int64)
for row in strings:
    row[torch.randperm(kink, generator=generator)[:quarter]] = 1


def changes(spec, weights, inputs, sigma):
    """Largest change of gradient and Hessian, over inputs, noisy copies and their mirror images."""
    g, H = gradients(spec, weights, inputs), hessians(spec, weights, inputs[:2])
    largest = [0.0, 0.0]
    noisy = perturb(weights, sigma, copies, generator)
    for e, sign in itertools.product(range(copies), (1, -1)):
        one = {name: w + sign * (noisy[name][e] - w) for name, w in weights.items()}
        step = (gradients(spec, one, inputs) - g).norm(dim=-1).max().item()
        turn = operator_norm(hessians(spec, one, inputs[:2]) - H)
        largest = [max(largest[0], step), max(largest[1], turn)]
    return largest


def share(size, network, inputs, sigma):
    """Change of gradient over G_p, and of the Hessian over H_p."""
    step, turn = changes(*network, inputs, sigma)
    return step / gradient_term(*size, sigma), turn / hessian_term(*size, sigma)


TINY = 1e-8
on_kink, smooth, away = {}, {}, {}
print("change over the bound: gradient, Hessian")
print(" T  d  W  noise           paper's network         smooth network")
for size in kink_sizes + free_sizes:
    inputs = strings if size[0] == kink else few[:4]
    safe = no_flip_sigma(*size, 0.01, leaks(functions[size])[0])
    for name, sigma in (("1e-8", TINY), ("sigma_0", safe)):
        rough = share(size, construct(functions[size]), inputs, sigma)
        (on_kink if size[0] == kink else away)[size, name] = rough
        smooth[size, name] = share(size, construct_smooth(functions[size]), inputs, sigma)
        print(
            f"{size[0]:2} {size[1]:2} {size[2]:2}  {name:8}"
            + "".join(f"   {v:9.2e}" for v in (*rough, *smooth[size, name]))
        )
jump, turn = changes(*construct(functions[kink, 1, 1]), strings, TINY)
kink_share, free_share, smooth_share = (
    [max(row[part] for row in rows.values()) for part in (0, 1)]
    for rows in (
        {k: v for k, v in on_kink.items() if k[1] == "1e-8"},
        away,
        smooth,
    )
)
print(f"largest on a kink at 1e-8: {kink_share[0]:.3e} {kink_share[1]:.3e}")
print(f"largest away from kinks:   {free_share[0]:.3e} {free_share[1]:.3e}")
print(f"largest, smooth network:   {smooth_share[0]:.3e} {smooth_share[1]:.3e}")
glue(
    kink=kink,
    jump=jump,
    turn=turn,
    slack_gradient=1 / smooth_share[0],
    slack_hessian=1 / smooth_share[1],
    crossing=kink_share[0] * TINY,
)

# %% mystnb={"figure": {"caption": "Largest change of the gradient (left) and of the Hessian in operator norm (right) of the output under noise, one term of degree 1, at a length that puts idle positions on a kink. Dashed: $G_p$ and $H_p$.", "name": "fig-hessian-noise"}, "image": {"alt": "Two log-log panels against sigma. The dashed bound rises with slope one. The smooth network lies below it, parallel, by two to three decades. The paper's network is flat at about three tenths and two, above the bound for sigma below one hundred thousandth and below it beyond."}} tags=["hide-input"]
size = (kink, 1, 1)
sigmas = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
networks = {
    "paper's network": construct(functions[size]),
    "smooth network": construct_smooth(functions[size]),
}
curves = {
    name: [changes(*network, strings[:2], s) for s in sigmas] for name, network in networks.items()
}
fig, axes = figures.new(1, 2, height=3.3)
for part, (ax, title, term) in enumerate(
    zip(axes, ("gradient", "Hessian"), (gradient_term, hessian_term), strict=True)
):
    for i, (name, rows) in enumerate(curves.items()):
        ax.plot(
            sigmas,
            [row[part] for row in rows],
            color=figures.COLOURS[i],
            marker=figures.MARKERS[i],
            linestyle="-",
            label=name,
        )
    bound = [term(*size, s) for s in sigmas]
    ax.plot(sigmas, bound, "--", color="black", marker="", label="bound")
    ax.set(xscale="log", yscale="log", xlabel=r"noise $\sigma$", title=title)
axes[0].set_ylabel("largest change")
axes[0].legend()
figures.show()

# %%
print("sigma   gradient: paper's, smooth   Hessian: paper's, smooth")
for i, s in enumerate(sigmas):
    a, b = curves["paper's network"][i], curves["smooth network"][i]
    print(f"{s:.0e}      {a[0]:9.2e} {b[0]:9.2e}        {a[1]:9.2e} {b[1]:9.2e}")

# %% [markdown]
# At $T =$ {glue:text}`kink` the gradient of the paper's network jumps by {glue:text}`jump:.3f`, and the Hessian by {glue:text}`turn:.3f`, under noise of $10^{-8}$. From $\sigma =$ {glue:text}`crossing:.1e` on $G_p$ is larger than the jump. Away from kinks, and in the smooth network at all lengths tried, neither bound is passed, with {glue:text}`slack_gradient:.0f` and {glue:text}`slack_hessian:.0f` to spare at least. At so large a slack that says little about the constants.

# %% [markdown]
# ## The trace of a noisy network
#
# Now Theorem 17 itself. First {eq}`eq-loss-hessian`: the trace of the Hessian of the loss, computed from the loss alone, against $2|\nabla f|^2 + 2(f_\theta - f)\,\mathrm{tr}\, H_f$, at noisy copies. Then the size: by how much does noise change the trace, and how does that compare with $P$? Half of the change is what the paper's perturbation term
#
# $$P = 2G_p\bigl(2\sqrt{G_u} + G_p\bigr) + T_p(H_u + H_p)\Theta$$
#
# is there to bound; the paper's bound on the risk has the term $\sigma^2(G_u + P)$. (Theorem 17 needs only half of its first summand. *As tabulated* means the notebook's $P$, see the section on the code.) For $T = n$ everything is exact. For the long inputs we take a tiling of pairs, the paper's example, random inputs, and an estimate with random signs for the second term, with its standard error in brackets.

# %%
trace_sizes = [(n, 1, 1), (n, 1, 2), (n, 2, 2), (n, 3, 1)]
sigmas = [1e-4, 1e-3, 1e-2]


def trace(spec, weights, inputs, targets):
    """The two parts of the trace, exactly: from gradients, and from the error."""
    first = 2 * gradients(spec, weights, inputs).square().sum(-1).mean().item()
    errors = forward(spec, weights, inputs) - targets
    curvature = hessians(spec, weights, inputs).diagonal(dim1=-2, dim2=-1).sum(-1)
    return first, 2 * (errors * curvature).mean().item()


identity, identity_broken, trace_share = 0.0, 0.0, 0.0
trace_change, trace_still = {}, {}
print(
    "trace at the network; largest relative change; P over half the change, restored, as tabulated"
)
for size in trace_sizes:
    spec, weights = construct_smooth(functions[size])
    targets = functions[size].table()
    still = trace_still[size] = sum(trace(spec, weights, bits, targets))
    for s in sigmas:
        noisy = perturb(weights, s, copies, generator)
        moved = 0.0
        for e in range(copies):
            one = {name: block[e] for name, block in noisy.items()}
            parts = trace(spec, one, bits, targets)
            moved = max(moved, abs(sum(parts) - still))
            trace_share = max(trace_share, abs(sum(parts)) / perturbed_trace_bound(*size, s))
            if e == 0 and s == sigmas[-1]:
                loss = SquaredLoss(lambda w, x, spec=spec: forward(spec, w, x), bits, targets)
                truth = float(hessian_trace(loss, one, "exact"))
                identity = max(identity, abs(sum(parts) - truth) / truth)
                identity_broken = max(identity_broken, abs(parts[0] - truth) / truth)
        trace_change[size, s] = moved
        slack = [perturbation_term(*size, s, as_tabulated=t) / (moved / 2) for t in (False, True)]
        print(
            f"{size[0]:2} {size[1]:2} {size[2]:2}  sigma {s:.0e}   {still:9.2f}  {moved / still:9.5f}"
            + "".join(f"   {v:9.2e}" for v in slack)
        )

pairs = far // 2
tiles = torch.tensor([cube.mask_of([2 * i + 1, 2 * i + 2]) for i in range(pairs)])
tiling = cube.SparseFunction(
    far, tiles, torch.full((pairs,), pairs**-0.5, dtype=torch.float64), "even_parity"
)
spec, weights = construct_smooth(tiling)
inputs = torch.randint(0, 2, (16, far), generator=generator)
loss = SquaredLoss(lambda w, x: forward(spec, w, x), inputs, tiling(cube.index_of(inputs)))
far_still = float(hessian_trace(loss, weights, "gauss_newton"))
far_change, far_term, far_error = {}, {}, {}
for s in sigmas:
    noisy = {name: block[0] for name, block in perturb(weights, s, 1, generator).items()}
    parts = hessian_trace(loss, noisy, "gauss_newton", draws=24, generator=generator)
    far_change[s] = abs(float(parts.value) + float(parts.residual) - far_still)
    far_error[s] = float(parts.residual_stderr)
    far_term[s] = [perturbation_term(far, 2, pairs, s, as_tabulated=t) for t in (False, True)]
    print(
        f"T = {far}, d = 2, W = {pairs}  sigma {s:.0e}   {far_still:9.1f}  {far_change[s] / far_still:9.5f}"
        f" ({far_error[s] / far_still:.5f})"
        + "".join(f"   {v / (far_change[s] / 2):9.2e}" for v in far_term[s])
    )
print(f"G_u at the same size {gradient_bound(2, pairs):.0f}")
glue(
    far=far,
    far_relative=100 * far_change[1e-3] / far_still,
    far_error=100 * far_error[1e-3] / far_still,
    far_p=f"{far_term[1e-3][0]:.1e}",
    far_half=far_change[1e-3] / 2,
    far_orders=round(math.log10(far_term[1e-3][0] / (far_change[1e-3] / 2))),
    near_percent=100 * max(trace_change[size, 1e-3] / trace_still[size] for size in trace_sizes),
    trace_slack=1 / trace_share,
)
excess = [
    perturbation_term(*size, s) / (trace_change[size, s] / 2)
    for size in trace_sizes
    for s in sigmas
] + [far_term[s][0] / (far_change[s] / 2) for s in sigmas]
glue(excess_low=math.floor(math.log10(min(excess))), excess_high=math.ceil(math.log10(max(excess))))

# %% [markdown]
# As the noise vanishes, the bound of Theorem 17 becomes $2 G_u$, and $G_u$ is not a bound on the squared gradient ({ref}`ch-gradients-and-trace`). So it must fail somewhere. We take the smooth network with $d = 1$, $W = T = 48$, equal coefficients, and noise of $10^{-11}$. The error is then below rounding of the trace, and the second term of {eq}`eq-loss-hessian` with it.

# %%
crowd, faint = 48, 1e-11
singles = torch.ones(crowd, dtype=torch.int64) << torch.arange(crowd)
function = cube.SparseFunction(
    crowd, singles, torch.full((crowd,), crowd**-0.5, dtype=torch.float64), "even_parity"
)
spec, weights = construct_smooth(function)
inputs = torch.randint(0, 2, (40, crowd), generator=generator)
noisy = {name: block[0] for name, block in perturb(weights, faint, 1, generator).items()}
loss = SquaredLoss(lambda w, x: forward(spec, w, x), inputs, function(cube.index_of(inputs)))
parts = hessian_trace(loss, noisy, "gauss_newton", draws=4, generator=generator)
crowd_trace = abs(float(parts.value) + float(parts.residual))
crowd_listed = squared_gradients((spec, noisy), inputs)[list(LISTED)].sum(axis=1)
crowd_frozen = 2 * crowd_listed.mean()
crowd_bound = perturbed_trace_bound(crowd, 1, crowd, faint)
print(f"d = 1, T = W = {crowd}, noise 1e-11, 40 random inputs: trace of the noisy loss")
print(f"  all weights                        {crowd_trace:10.0f}")
print(f"  positional rows of F frozen        {crowd_frozen:10.0f}")
print(
    f"  bound of Theorem 17                {crowd_bound:10.0f}, of which 2 G_u {2 * gradient_bound(1, crowd):.0f}"
)
glue(crowd=crowd, crowd_trace=crowd_trace, crowd_bound=crowd_bound, crowd_frozen=crowd_frozen)

# %% mystnb={"figure": {"caption": "What noise adds to the sharpness. Marks: half the change of the trace, largest of the noisy copies, for two terms of degree 2 (left, exact), and for the tiling of pairs at the long length (right). Dashed: $P$ with the factor restored. Dotted: $P$ as tabulated. Grey: $G_u$, to which $P$ is added.", "name": "fig-hessian-trace"}, "image": {"alt": "Two log-log panels against sigma. Marks rise slowly, from well below one to about ten on the left, and to a few hundred on the right. The grey line of the sharpness lies above them. The dashed curve lies about six orders of magnitude above the marks on the left and ten or more on the right; the dotted one is flat and higher still."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.4)
near = (n, 2, 2)
panels = (
    (axes[0], near, [trace_change[near, s] / 2 for s in sigmas]),
    (axes[1], (far, 2, pairs), [far_change[s] / 2 for s in sigmas]),
)
for ax, size, halves in panels:
    ax.plot(sigmas, halves, marker="o", linestyle="-", color=figures.COLOURS[0], label="measured")
    for tabulated, dash, colour in ((False, "--", 1), (True, ":", 2)):
        ax.plot(
            sigmas,
            [perturbation_term(*size, s, as_tabulated=tabulated) for s in sigmas],
            linestyle=dash,
            marker=figures.MARKERS[colour],
            color=figures.COLOURS[colour],
            label="$P$ as tabulated" if tabulated else "$P$ restored",
        )
    ax.axhline(gradient_bound(*size[1:]), color=figures.GREY, linewidth=1.2, label="$G_u$")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=r"noise $\sigma$",
        title="$T = {}$, $d = {}$, $W = {}$".format(*size),
        ylim=(1e-3, 1e18),
    )
axes[0].set_ylabel("sharpness")
axes[1].legend(fontsize=7.5, loc="center right")
figures.show()

# %% [markdown]
# The identity holds. At $T = 4$ and 5 the trace stays below the bound, with a factor of {glue:text}`trace_slack:.0f` to spare at the tightest. At $d = 1$, $W = T =$ {glue:text}`crowd` it does not: the trace is {glue:text}`crowd_trace:.0f`, the bound {glue:text}`crowd_bound:.0f`; with the positional rows of $F$ frozen it is {glue:text}`crowd_frozen:.0f`. With a true bound on the gradient in the place of $G_u$ the argument of the theorem can be followed, but it also needs true bounds on the two changes, which are tested here and not proved. So we call nothing repaired, and the theorem is open on this page.
#
# Noise of $10^{-3}$ changes the trace by at most {glue:text}`near_percent:.2f` per cent at the short length, and by {glue:text}`far_relative:.1f` per cent (standard error {glue:text}`far_error:.1f`) at $T =$ {glue:text}`far`. There half the change is about {glue:text}`far_half:.0f`, and $P$ is {glue:text}`far_p`: too large by {glue:text}`far_orders` orders of magnitude. So the paper is right to prefer a measured value to its own analytic one.
#
# ## A thousand networks
#
# The sizes above are few. We now draw networks at random: $T = 4$, $d \le 3$, $W \in \{1, 2, 4\}$, sets and coefficients at random, an input at random, a scale of the scores between $2 \log T$ and `large_scale`, and noise between $10^{-8}$ and the no-flip $\sigma_0$, both uniform in the logarithm. Each goes through four bounds: the norm of the Hessian with frozen rows at its scale, and for the smooth network the changes of gradient and Hessian and the trace of the noisy loss.

# %%
RANDOM_SIZES = [(4, d, W) for d in (1, 2, 3) for W in (1, 2, 4)]
PARTS = ("norm, frozen rows", "change of gradient", "change of Hessian", "trace")


def stack(networks):
    """Networks of one size as one set of weights with a leading axis."""
    return {name: torch.stack([w[name] for _, w in networks]) for name in BLOCKS}


def ratios(size, count):
    """Each quantity over its bound at random networks of one size, shape (4, count)."""
    drawn = [cube.sparse_function(*size, generator, "even_parity") for _ in range(count)]
    inputs = torch.randint(0, 2, (count, size[0]), generator=generator)
    levels = log_uniform(2 * math.log(size[0]), large_scale, count).tolist()
    safe = min(no_flip_sigma(*size, 0.01, leaks(f)[0]) for f in drawn)
    noise = log_uniform(1e-8, safe, count)
    rough = [construct(f, level) for f, level in zip(drawn, levels, strict=True)]
    at_scale = freeze(*rough[0], hessians(rough[0][0], stack(rough), inputs))
    spec, weights = rough[0][0], stack([construct_smooth(f) for f in drawn])
    noisy = {
        name: w
        + noise.view(-1, *[1] * (w.ndim - 1))
        * torch.randn(w.shape, generator=generator, dtype=w.dtype)
        for name, w in weights.items()
    }
    step = gradients(spec, noisy, inputs)
    turn = hessians(spec, noisy, inputs)
    error = (
        forward(spec, noisy, inputs[:, None])[:, 0] - forward(spec, weights, inputs[:, None])[:, 0]
    )
    traces = 2 * step.square().sum(-1) + 2 * error * turn.diagonal(dim1=-2, dim2=-1).sum(-1)
    bounds = torch.tensor(
        [
            [hessian_at_construction(*size) for s in noise],
            [gradient_term(*size, s) for s in noise.tolist()],
            [hessian_term(*size, s) for s in noise.tolist()],
            [perturbed_trace_bound(*size, s) for s in noise.tolist()],
        ],
        dtype=torch.float64,
    )
    found = (
        operator_norms(at_scale),
        (step - gradients(spec, weights, inputs)).norm(dim=-1),
        operator_norms(turn - hessians(spec, weights, inputs)),
        traces.abs(),
    )
    return torch.stack(found) / bounds


drawn = torch.cat([ratios(size, -(-instances // len(RANDOM_SIZES))) for size in RANDOM_SIZES], -1)
largest = dict(zip(PARTS, drawn.amax(-1).tolist(), strict=True))
medians = dict(zip(PARTS, drawn.median(-1).values.tolist(), strict=True))
print(f"{drawn.shape[-1]} networks, quantity over its bound")
for part in PARTS:
    print(f"{part:20} largest {largest[part]:9.2e}   median {medians[part]:9.2e}")
glue(instances=drawn.shape[-1])
for part, key in zip(PARTS, ("norm", "gradient", "hessian", "trace"), strict=True):
    glue(**{f"median_{key}": f"{1 / medians[part]:.3g}"})

# %% [markdown]
# None of the {glue:text}`instances` networks, all of four bits, violates a bound. The median slack, bound over quantity, is {glue:text}`median_norm` for the norm, {glue:text}`median_gradient` and {glue:text}`median_hessian` for the changes, and {glue:text}`median_trace` for the trace.
#
# ## What would falsify this
#
# For the count: one term and six blocks or fewer, or a block on our list that vanishes, or one outside it that does not; the controls leave the first attention out. For the size: a second derivative below $H_u$ at $T = 400$; the control freezes the positional rows of $F$. With these rows frozen, a norm above $H_u$; the control is all weights at a large scale. For the changes: a gradient or Hessian off the kinks that changes by more than $G_p$ or $H_p$, or an idle position on a kink without a jump; each is the control of the other. For the trace: a violation at $T = 4$ or 5, where the control is $W = T = 48$, and none there, where the control freezes the rows. Each would stop this page with an error.

# %%
ledger.result("sharper.thm18").holds(
    f"at $T = {n}$ only: operator norm over $H_u$ at $2 \\log T$, largest of all sizes (control: large scale)",
    norm_at_paper,
    at_most=1,
    control=norm_at_large,
    about="statement",
    evidence="sampled",
)
ledger.result("sharper.appJ").refuted(
    "blocks that are not zero for one term, fewest (control: without the first attention)",
    fewest,
    at_most=6,
    control=without_first,
    about="statement",
    evidence="attained",
)
ledger.result("sharper.appJ").holds(
    "blocks that differ from our list, most (control: our list without the first attention)",
    mismatch,
    at_most=0,
    control=mismatch_without,
    about="ours",
    evidence="sampled",
)
ledger.result("sharper.thm18").refuted(
    "a second derivative over $H_u$, $d = 1$, $W = T = 400$, $2 \\log T$ (control: rows of $F$ frozen)",
    long_ratio[400],
    at_most=1,
    control=long_frozen[400],
    about="statement",
    evidence="attained",
)
ledger.result("sharper.thm18").holds(
    f"operator norm over $H_u$ at every scale, positional rows of $F$ frozen, $T \\le {n}$, largest",
    max(norm_frozen, largest["norm, frozen rows"]),
    at_most=1,
    control=norm_at_large,
    about="ours",
    evidence="sampled",
)
ledger.result("sharper.thm30").refuted(
    "change of the gradient over $G_p$, idle position on a kink, $\\sigma = 10^{-8}$ (control: smooth network)",
    kink_share[0],
    at_most=1,
    control=smooth_share[0],
    about="proof",
    evidence="attained",
)
ledger.result("sharper.thm30").holds(
    "change of the gradient over $G_p$, off the kinks, $T \\le 7$ (control: idle position on a kink)",
    max(free_share[0], smooth_share[0], largest["change of gradient"]),
    at_most=1,
    control=kink_share[0],
    about="statement",
    evidence="sampled",
)
glue(
    kink_share=kink_share[0],
    spare=1 / max(free_share[0], smooth_share[0]),
    hidden=max(v[0] for k, v in on_kink.items() if k[1] == "sigma_0"),
)
ledger.result("sharper.thm31").refuted(
    "change of the Hessian over $H_p$, idle position on a kink, $\\sigma = 10^{-8}$ (control: smooth network)",
    kink_share[1],
    at_most=1,
    control=smooth_share[1],
    about="proof",
    evidence="attained",
)
ledger.result("sharper.thm31").holds(
    "change of the Hessian over $H_p$, off the kinks, $T \\le 7$ (control: idle position on a kink)",
    max(free_share[1], smooth_share[1], largest["change of Hessian"]),
    at_most=1,
    control=kink_share[1],
    about="statement",
    evidence="sampled",
)

ledger.result("sharper.thm17").holds(
    "trace of the loss Hessian against its two terms, noisy copies, largest relative difference",
    identity,
    at_most=0,
    tol=1e-9,
    control=identity_broken,
    about="proof",
    evidence="proved",
)
ledger.result("sharper.thm17").holds(
    "trace over the bound, smooth network, $T = 4$ and $5$, largest (control: $W = T = 48$)",
    max(trace_share, largest["trace"]),
    at_most=1,
    control=crowd_trace / crowd_bound,
    about="ours",
    evidence="sampled",
)
ledger.result("sharper.thm17").refuted(
    "the same with the tabulated $G_u$, $d = 1$, $W = T = 48$, $\\sigma = 10^{-11}$ (control: rows of $F$ frozen)",
    crowd_trace / crowd_bound,
    at_most=1,
    control=crowd_frozen / crowd_bound,
    about="ours",
    evidence="attained",
)
glue(n=n, fewest=fewest)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# In the repository `paullintilhac/boolean_function_sensitivity` we read `generate_plots.ipynb` and two versions of `perturbation_experiment.py`.
#
# * **Two terms of $G_p$ lack their factor $\sigma$** in the notebook: $128\sqrt2\, d^2W^2\ell$ and $64\sqrt2\, kd^2W^2\ell$. The prose of the paper derives every term as a multiple of $\sigma$; the formula at the top of this page has the factor. Without it neither $G_p$ nor $P$ vanishes with the noise. At $T = 50$, $d = 2$, $W = 25$ and $\sigma = 10^{-6}$ this makes $P$ {glue:text}`p_tabulated:.1e` in place of {glue:text}`p_restored:.1e`. So a number of samples that the notebook computes for the fully analytic bound is too large by several orders of magnitude.
# * **$\Theta$ is $6(d+1)$ short** in the notebook: $3(k+1)^2 + (k+1) + (8k+6)(d+1)$, where the paper says the number of weights. A trace can be as large as the number of rows times the norm; the difference is a few per cent.
# * **Variance for standard deviation.** The experiment that measures the change of the trace passes $\sigma$ to a function that takes a variance. "0.01" is noise of standard deviation 0.1, far beyond the no-flip condition. The changes that it reports are for that noise.
# * **Few random signs.** It estimates traces by Hutchinson's method, and compares two noisy estimates. For the smallest noise the change that it stores is mostly error of the estimate. The traces on this page at the short length are exact.

# %%
print("  T  d   weights  tabulated  short by")
shortfalls = []
for T, d in ((n, 1), (n, 2), (n, 3), (20, 5), (50, 2)):
    spec, weights = construct(cube.sparse_function(T, d, 1, generator, "even_parity"))
    count = sum(block.numel() for block in weights.values())
    shortfalls.append((count - tabulated_parameter_count(T, d), count - parameter_count(T, d)))
    print(f"{T:3} {d:2}  {count:8}  {tabulated_parameter_count(T, d):9}  {shortfalls[-1][0]:8}")
example = (50, 2, 25)
growth = {
    tabulated: gradient_term(*example, 2e-6, as_tabulated=tabulated)
    / gradient_term(*example, 1e-6, as_tabulated=tabulated)
    for tabulated in (True, False)
}
print("T, d, W = 50, 2, 25: G_p at sigma = 2e-6 over G_p at 1e-6")
print(f"  as tabulated {growth[True]:.6f}, factor restored {growth[False]:.6f}")
print("sigma    P as tabulated   factor restored")
for s in (1e-6, 1e-4, 1e-3, 1e-2):
    row = [perturbation_term(*example, s, as_tabulated=t) for t in (True, False)]
    print(f"{s:.0e}    {row[0]:12.3e}   {row[1]:12.3e}")
glue(
    p_tabulated=perturbation_term(*example, 1e-6, as_tabulated=True),
    p_restored=perturbation_term(*example, 1e-6),
)

# %% [markdown]
# ## What we found
#
# * The Hessian at the exact construction has 7 or 9 blocks for one term and 16 or 17 for more, not six. The blocks of the first attention are among the largest.
# * Its norm grows with the square of the scale of the scores, through the positional rows of $F$. $H_u$ is passed at $2 \log T$ by long networks, and by short ones at larger scores. With those rows frozen no violation is known.
# * At lengths where $T+1$ is a multiple of 4 and $d$ is odd, gradient and Hessian of the network at $2 \log T$ jump under arbitrarily small noise. A network whose idle positions are off the kinks is as easy to write down. None of the paper's lengths is such.
# * Theorem 17 is open: with the tabulated $G_u$ it fails at $d = 1$, $W = T = 48$; at $T = 4$ and 5 nothing contradicts it.
# * The analytic perturbation term is {glue:text}`excess_low` to {glue:text}`excess_high` orders of magnitude larger than what noise does to the trace.
#
# ```{finding} sharper.thm18
# :title: The Hessian's bound in the notebook has no scale of the scores
# :group: false statement
#
# **Statement.** As in the authors' notebook of 2025 (the formula is missing in the text): at an exact network the operator norm of the Hessian of the output is at most $H_u$, nine terms that contain no scale of the scores.
#
# **Counterexample.** $d = 1$, $U_i = \{i\}$, $W = T = 400$ at the paper's scale $2 \log T$, with coefficients for which the network is exact at an input of 259 ones: a second derivative in a unit direction is {glue:text}`long_second:.0f`, and $H_u = {glue:text}`long_bound:.0f`$. At $T = 20$ and scores of $8 \log T$ it is {glue:text}`short_ratio:.1f` times $H_u$.
#
# **Why.** The rows of $F$ that write into the columns of the positions are zero, but they are weights. They act through the scores of the second attention, whose scale is $L$; in this class the norm grows as $T^{3/2} \log^2 T$, and $H_u$ as $T^{3/2}$.
#
# **Repair.** None is proved here. With the $T + 1$ positional rows of $F$ frozen no violation is known at any scale; with them no bound without $L$ can hold.
#
# **What survives.** At the short lengths tried here, and at $2 \log T$, the norm is at most {glue:text}`norm_at_paper:.3f` of $H_u$. The final paper's formula may differ from the notebook's.
# ```
#
# ```{finding} sharper.appJ
# :title: Seven or nine blocks of the Hessian remain, not six
# :group: false statement
#
# **Statement.** Printed: of the 28 blocks of the Hessian of the output at the construction no more than six are not zero; the gradients for the two matrices of the first attention are zero, which removes 13.
#
# **Counterexample.** One parity of one bit, $T = {glue:text}`n`$: {glue:text}`fewest` blocks, two of them between $W_V^{(1)}$ and the MLP; for $d \ge 2$ two more with $W_{KQ}^{(1)}$. With several terms {glue:text}`blocks_many_low` to {glue:text}`blocks_many_high`.
#
# **Why.** A gradient that vanishes at the construction is differentiated as if it vanished around it: the slope of the MLP on a plateau is zero, its derivative for $F$ and $G$ is not.
#
# **Repair.** The list above: in the exact limit 7 blocks for one term of degree 1, and 9 for one term of higher degree.
#
# **What survives.** The five blocks among $G$, $b$, $F$ and $v_2$, and the zeros among the other blocks for one term.
# ```
#
# ```{finding} sharper.thm30
# :title: At some lengths an idle position sits on a kink
# :group: proof
#
# **Statement.** With the formula of the authors' notebook, and the factor $\sigma$ in every term as in the prose: with high probability the gradient of the output changes by at most $G_p$, and the Hessian by at most $H_p$, multiples of $\sigma$. The proof lets units flip at idle positions, because the second attention places zero weight there.
#
# **Counterexample.** To that step, for a network at $2 \log T$: $T = {glue:text}`kink`$, one parity of one bit. Under noise of $10^{-8}$ the gradient changes by {glue:text}`jump:.3f`, up to {glue:text}`kink_share:.0f` times $G_p$, and the Hessian by {glue:text}`turn:.3f`. It fails for noise below {glue:text}`crossing:.1e` only.
#
# **Why.** If $T + 1$ is a multiple of 4 and $d$ is odd, an idle position sits on a kink of the MLP at some inputs, and any noise flips a unit there. At $2 \log T$ the second attention gives idle positions a share of about $1/T$, so the gradient jumps. In the exact limit it does not.
#
# **Repair.** Take the smooth network, whose idle positions stay within half a plateau, or a length off the kinks. There nothing contradicts the bounds; no proof is given here.
#
# **What survives.** The paper's lengths 20, 30, 40 and 50 are not such lengths. Where no unit flips, the change is at least {glue:text}`spare:.0f` times smaller than $G_p$. Noise as large as the no-flip condition allows hides the jump: there the ratio is at most {glue:text}`hidden:.4f`.
# ```
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Why is the block $F$-$F$ zero for one term in the exact limit, and not at the scale $2 \log T$?
# ```

# %% tags=["hide-cell"]
# With one term all attention is on its position, and scores cannot change that. F then enters once, through the parity, and linearly. At 2 log T idle positions have a share that the scores do change.
size = (n, 2, 1)
for name, scale in scales.items():
    spec, weights = construct(functions[size], scale)
    top = largest_entries(hessians(spec, weights, few), flatten(weights)[2])["F", "F"]
    print(f"{name:8} largest entry of F-F: {'< 1e-9' if top < zero else f'{top:.6f}'}")

# %% [markdown]
# ```{admonition} Exercise 2
# At a length on a kink, up to which $\sigma$ does Theorem 30 fail? How does that compare with the $\sigma_0$ up to which active units are safe?
# ```

# %% tags=["hide-cell"]
# Where G_p equals the jump: sigma = jump / (G_p / sigma). It is far below sigma_0: the theorem fails for small noise only.
for size in kink_sizes:
    jumps = changes(*construct(functions[size]), strings, TINY)[0]
    crossing = jumps / gradient_term(*size, 1.0)
    safe = no_flip_sigma(*size, 0.01, leaks(functions[size])[0])
    print(f"T, d, W = {size}: fails below {crossing:.1e}, sigma_0 = {safe:.1e}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The statements are from {cite:t}`sharper`.
