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
# (ch-linear-covers)=
# # Covers of linear maps that do not count the inputs
#
# **Claim.** A finite set of matrices can stand in for all matrices of bounded norm, up to an error $\epsilon$ on every bounded input, and its size does not grow with the number of inputs. The paper gives three such bounds. Two hold, with room to spare; the sparsification lemma behind them lacks a factor as printed. The third holds for the rows of the matrices and not, as printed, for their columns.
# **Needs** nothing but linear algebra. **Runs in** 20 s. **Source** printed.
#
# Throughout, $W \in \mathbb R^{k \times d}$ maps inputs $x \in \mathbb R^d$ to outputs $Wx \in \mathbb R^k$. Its column norms make the norm $\|W\|_{q,p} = \bigl\| (\|W_{:,1}\|_q, \dots, \|W_{:,d}\|_q) \bigr\|_p$. A class $\mathcal W$ of matrices is *covered* by $\hat{\mathcal W} \subset \mathcal W$ at scale $\epsilon$ on some inputs if every $W \in \mathcal W$ has a $\hat W \in \hat{\mathcal W}$ with $\|(W - \hat W)x\|_q \le \epsilon$ on all of them. The least size of a cover is the *covering number*. $N_\infty(\mathcal F, \epsilon, N, \|\cdot\|_q)$ is its largest value over all sets of $N$ inputs, for the maps $\mathcal F = \{x \mapsto Wx\}$. Its logarithm, always natural here, is what bounds on generalization contain.
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemma 3.1
# :label: lengthfree-lem3-1
# *(Refuted below as printed.)* Here $k$ counts terms and $d$ vectors; below they are outputs and inputs. In a Hilbert space let $f = \sum_{i=1}^d \alpha_i V_i$ with $\alpha_i \ge 0$, $\gamma = \sum_i \alpha_i \le 1$ and $\|V_i\| \le b$. For every natural number $k$ there are whole numbers $k_i \ge 0$ with $\sum_i k_i \le k$ and
#
# $$\Bigl\| f - \frac1k \sum_i k_i V_i \Bigr\|^2 \le \frac{\gamma^2 b^2 - \|f\|^2}{k} .$$
# ```
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemma 3.2
# :label: lengthfree-lem3-2
# Let the inputs be those with $\|x\|_1 \le B_x$. For every class $\mathcal W$ and $N \ge d$, the covering number $N_\infty(\mathcal F, \epsilon, N, \|\cdot\|_q)$ equals the one on the $d$ inputs $B_x e_1, \dots, B_x e_d$.
# ```
#
# The lemma names no range of $q$; Section 2.4 of the paper defines covers for every real $q > 0$, and all uses have $q = 2$.
#
# ```{prf:lemma} Trauger and Tewari (2024), Lemmas 3.3, 3.4, 3.6
# :label: lengthfree-lem3-3
# Let $a = B_w^2 B_x^2/\epsilon^2$. In the norm $\|\cdot\|_2$ of the outputs, $\log N_\infty$ is at most
#
# | lemma | matrices | inputs | bound |
# |:--|:--|:--|:--|
# | 3.3 | $\lVert W \rVert_{1,\infty} \le B_w$ | $\lVert x \rVert_1 \le B_x$ | $d\, a \log(2k+1)$ |
# | 3.4 | $\lVert W \rVert_{2,1} \le B_w$ | $\lVert x \rVert_1 \le B_x$ | $\lesssim a \log(dk)$ |
# | 3.6 | $\lVert W \rVert_{1,1} \le B_w$ | $\lVert x \rVert_2 \le B_x$ | $a \log(2dk+1)$ |
#
# Here $\lesssim$ hides a constant and logarithms of anything but $d$ and $k$. Lemma 3.4 comes from Lemma 3.5, $\lesssim a \log(dn)$ for any $n$ inputs with $\|x\|_2 \le B_x$.
# ```
#
# ```{prf:lemma} Trauger and Tewari (2024), Appendix A
# :label: lengthfree-appA
# Let the scalar maps $x \mapsto w^\top x$ with $\|w\|_r \le B_w$ have log covering number $C$ at scale $\epsilon$ on some inputs. Then matrices with $k$ rows from that class have log covering number at most $kC$ at scale $k^{1/q}\epsilon$ in the norm $\|\cdot\|_q$.
# ```

# %% tags=["parameters"]
k = 2  # outputs of the matrices that are covered [2..3]
d = 2  # their inputs [2..3]
B_w = 1.0  # bound on the matrices [0.1..10]
B_x = 1.0  # bound on the inputs [0.1..10]
scales = [0.3, 0.45, 0.6, 0.8, 0.95]  # epsilon over B_w B_x [0.25..0.99]
k_wide = 4096  # outputs in the refutation of Lemma 3.4 [1024..65536]
instances = 400  # random instances of each inequality [100..5000]
seed = 0  # of the random instances [0..1000000]

# %% [markdown]
# ## Sparsification: the factor that is missing
#
# The idea behind {prf:ref}`lengthfree-lem3-1` is Maurey's {cite:p}`pisier1981`: write $f$ as an average, draw $k$ terms at random, and take their mean. The variance of one draw, over $k$, bounds the squared error of the best outcome. But an average needs weights that sum to 1. So either draw $V_i$ with probability $\alpha_i/\gamma$ and multiply the mean by $\gamma$; one draw then has mean square at most $\gamma^2 b^2$:
#
# $$\Bigl\| f - \frac{\color{#D55E00}\gamma}k \sum_i k_i V_i \Bigr\|^2 \le \frac{\gamma^2 b^2 - \|f\|^2}{k}, \qquad \sum_i k_i = k. \tag{repair 1}$$
#
# Or draw nothing with probability $1 - \gamma$; one draw then has mean square at most $\gamma b^2$:
#
# $$\Bigl\| f - \frac1k \sum_i k_i V_i \Bigr\|^2 \le \frac{{\color{#D55E00}\gamma} b^2 - \|f\|^2}{k}, \qquad \sum_i k_i \le k. \tag{repair 2}$$
#
# As printed, the lemma has the left side of the second and the right side of the first. One number decides: $d = 1$, $V_1 = 1$, $\alpha_1 = \frac12$, $k = 1$. The right side is $\frac14 - \frac14 = 0$, but the only candidates are 0 and 1, each at squared distance $\frac14$ from $f = \frac12$.

# %%
import math

import torch

from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.covers import linear as covers
from helpers.draws import Draws

ledger = Ledger("lengthfree/linear_covers")
source = Draws(seed)
generator, normal, uniform, whole = source.generator, source.normal, source.uniform, source.whole


def best_squared_error(f, V, terms, factor, exactly):
    """Over all whole k_i >= 0 with sum at most, or exactly, the number of terms."""
    counts = covers.integer_points(len(V), terms).double()
    if exactly:
        counts = counts[counts.sum(-1) == terms]
    return (f - factor / terms * counts @ V).square().sum(-1).min().item()


def excess(f, V, alpha, terms):
    """Best squared error minus its bound: as printed, repair 1, repair 2."""
    gamma, b, size = alpha.sum().item(), V.norm(dim=-1).max().item(), f.square().sum().item()
    free = best_squared_error(f, V, terms, 1, exactly=False)
    scaled = best_squared_error(f, V, terms, gamma, exactly=True)
    return (
        free - (gamma**2 * b**2 - size) / terms,
        scaled - (gamma**2 * b**2 - size) / terms,
        free - (gamma * b**2 - size) / terms,
    )


one, half = torch.ones(1, 1).double(), torch.full((1,), 0.5, dtype=torch.float64)
printed_error = best_squared_error(half, one, 1, 1, exactly=False)
repaired_error = best_squared_error(half, one, 1, 0.5, exactly=True)
found = []
for _ in range(instances):
    V = normal(whole(1, 4), whole(1, 3))
    V /= V.norm(dim=-1, keepdim=True)
    V *= torch.rand(len(V), 1, generator=generator).double().clamp(min=0.3)
    alpha = -torch.rand(len(V), generator=generator).double().clamp(min=1e-3).log()
    alpha *= uniform(0.1, 1) / alpha.sum()
    found.append(excess(alpha @ V, V, alpha, whole(1, 4)))
violations = (torch.tensor(found) > 1e-12).sum(0).tolist()
glue(instances=instances, violations=violations[0], printed_error=printed_error)
print("d = 1, V = 1, alpha = 1/2, k = 1:")
print(
    f"  printed bound {0.5**2 - 0.5**2:.4f}, best squared error {printed_error:.4f}, with gamma/k {repaired_error:.4f}"
)
for name, count in zip(
    ("as printed", "repair 1: gamma/k", "repair 2: gamma b^2"), violations, strict=True
):
    print(f"{name:20} {count:4} violations in {instances} random instances")

# %% [markdown]
# As printed, {glue:text}`violations` of {glue:text}`instances` random instances violate the inequality. Both repairs hold in all of them. With $\gamma = 1$ all three agree.
#
# After the lemma the paper counts the possible $(k_1, \dots, k_d)$: at most $d^k$. For $\sum_i k_i \le k$ there are $\binom{d+k}{k}$, already 4 against 3 for $d = 3$, $k = 1$. (With $V_i = e_i$ and $\alpha_i = \frac13$ all four meet the inequality as well.) The count is right for $\sum_i k_i = k$, as in repair 1. For repair 2 it is $(d+1)^k$: each tuple is the outcome of $k$ draws from $d + 1$ options, the $V_i$ and nothing. The lemmas that follow use the second, with 0 as an additional vector: $2k + 1$ vectors, namely $\pm e_i$ and 0.

# %%
pairs = [(n, m) for n in range(1, 8) for m in range(1, 8)]
at_most = {(n, m): len(covers.integer_points(n, m)) for n, m in pairs}
exactly = {(n, m): int((covers.integer_points(n, m).sum(-1) == m).sum()) for n, m in pairs}
print(
    f"d = 3, k = 1: {at_most[3, 1]} with sum at most k, {exactly[3, 1]} with sum k; d^k = 3, (d+1)^k = 4"
)
print(
    f"over all d, k up to 7: count / d^k at most {max(c / n**m for (n, m), c in at_most.items()):.1f}; count / (d+1)^k at most {max(c / (n + 1) ** m for (n, m), c in at_most.items()):.1f}"
)

# %% [markdown]
# ## How well do the averages cover?
#
# Take the $\ell_1$ ball of radius $B$ in $\mathbb R^k$. Its points are averages of the $2k+1$ vectors $\pm B e_i$ and 0. By repair 2, the averages of $m$ of these, that is, the points $\frac Bm z$ with $z$ whole and $\|z\|_1 \le m$, cover the ball to within $B/\sqrt m$. In truth they do better, and one can say exactly how well.
#
# ```{prf:lemma} Rounding in the $\ell_1$ ball (ours)
# :label: covers-rounding
# The largest distance of a point of the ball from these averages is exactly $\dfrac{B \sqrt{\min(k, 2m)}}{2m} \le \dfrac{B}{\sqrt{2m}}$.
# ```
#
# **Proof.** Measure $|x_i|$ in steps of $B/m$; the steps $y_i$ sum to at most $m$. Round all down. Coordinate $i$ loses $f_i \in [0, 1)$, and $R = m - \sum_i \lfloor y_i \rfloor$ steps remain, with $\sum_i f_i \le R$. Now round up where $f_i > \frac12$, greatest $f_i$ first, at most $R$ times.
#
# * If this limit stops no coordinate, each is off by $\min(f_i, 1 - f_i)$. Its square is at most $\frac14$ and at most $\frac12 f_i$. So the squares sum to at most $\frac k4$ and at most $\frac R2 \le \frac m2$.
# * If it stops some, let $s > \frac12$ be the least $f_i$ rounded up, and let $D$ be the sum of $1 - f_i$ over those rounded up: $D \le R(1-s)$. The others have $f_i \le s$, and these sum to $X \le R - (R - D) = D$. So the squares sum to at most $(1-s)D + sX \le D \le R(1-s) \le \frac m2$. There are $R \ge D/(1-s)$ coordinates of the first kind and at least $X/s$ of the second, so the sum minus $\frac k4$ is at most $D\bigl(1 - \frac1{4(1-s)} - \frac1{4s}\bigr) \le 0$.
#
# Both bounds are attained where $\min(k, 2m)$ coordinates are half a step and the others 0: from there every average is off by half a step in each of them. $\square$
#
# {numref}`fig-l1-ball` shows the plane. In other dimensions we look for the worst point by random sampling, by local search from there, and at the half-step point.

# %% mystnb={"figure": {"caption": "The $\\ell_1$ ball of radius 1 in the plane, the averages of $m = 3$ of the vectors $\\pm e_i, 0$, and around each the disc of the exact covering radius. Dashed: the disc that Maurey's argument promises, around one of them. The cross is a point at the exact radius from its nearest averages.", "name": "fig-l1-ball"}, "image": {"alt": "A square standing on its corner with 25 grid points in it. A small disc around each point; together they cover the square with little overlap. A dashed circle around the central point is more than twice as wide."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6, width=3.9)
m_drawn = 3
centres = covers.maurey_cover(2, 1.0, m_drawn)
radius = covers.covering_radius(2, 1.0, m_drawn)
corners = torch.tensor([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
turn = torch.linspace(0, 2 * math.pi, 121)
circle = torch.stack((turn.cos(), turn.sin()), -1)
for centre in centres:
    ax.fill(*(centre + radius * circle).T, color=figures.COLOURS[0], alpha=0.13, linewidth=0)
ax.plot(*corners.T, color="black", marker="", linestyle="-", label="$\\ell_1$ ball")
ax.plot(*centres.T, linestyle="none", marker="o", color=figures.COLOURS[0], label="averages")
ax.plot(
    *(circle / math.sqrt(m_drawn)).T,
    marker="",
    linestyle="--",
    color=figures.COLOURS[1],
    label="Maurey's radius",
)
ax.plot(
    0.5 / m_drawn,
    0.5 / m_drawn,
    marker="x",
    markersize=7,
    linestyle="none",
    color=figures.COLOURS[3],
    label="half-step point",
)
ax.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
figures.show()

# %%
shapes = [(1, 1), (2, 1), (2, 3), (3, 2), (4, 2), (6, 3), (10, 3), (40, 5)]  # (k, m)


def into_l1_ball(x, radius):
    """Scale rows of l1 norm above the radius back to it."""
    return x * (radius / x.abs().sum(-1, keepdim=True).clamp(min=radius))


def random_in_l1_ball(count, dim, radius):
    """Points from the whole ball and from its faces of every dimension."""
    x = normal(count, dim) * (
        torch.rand(count, dim, generator=generator) < torch.rand(count, 1, generator=generator)
    )
    return (
        radius
        * x
        / x.abs().sum(-1, keepdim=True).clamp(min=1e-9)
        * torch.rand(count, 1, generator=generator).double().sqrt()
    )


def half_steps(dim, radius, terms):
    hole = torch.zeros(1, dim).double()
    hole[0, : min(dim, 2 * terms)] = radius / (2 * max(terms, 1))
    return hole if terms else radius * torch.eye(1, dim).double()


def distances_between(x, y):
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def to_nearest(dim, radius, terms):
    """Distance to the nearest average: by listing them where they are few, else by rounding."""
    if covers.maurey_size(dim, terms) > 2000:
        return lambda x: (x - covers.round_to_cover(x, radius, terms)).norm(dim=-1)
    averages = covers.maurey_cover(dim, radius, terms)
    return lambda x: distances_between(x, averages).amin(-1)


def farthest(dim, radius, terms, count=64):
    """Largest distances found: at random, by local search, at the half-step point."""
    start, distance = random_in_l1_ball(count, dim, radius), to_nearest(dim, radius, terms)
    found = covers.climb(
        distance, lambda x: into_l1_ball(x, radius), start, generator, reach=0.3 * radius
    )
    return [distance(x).max().item() for x in (start, found, half_steps(dim, radius, terms))]


searched = {shape: farthest(shape[0], 1.0, shape[1]) for shape in shapes}
exact = {shape: covers.covering_radius(shape[0], 1.0, shape[1]) for shape in shapes}
never_above = max(max(found) / exact[shape] for shape, found in searched.items())
attained = max(abs(found[2] / exact[shape] - 1) for shape, found in searched.items())
term_fewer = max(
    to_nearest(dim, 1.0, m - 1)(half_steps(dim, 1.0, m - 1)).item() / exact[dim, m]
    for dim, m in shapes
)
print(
    f"{'k':>3} {'m':>3} {'averages':>12}   {'random':>8} {'search':>8} {'half step':>9} {'exact':>8} {'Maurey':>8}"
)
for (dim, m), (at_random, by_search, at_hole) in searched.items():
    print(
        f"{dim:3} {m:3} {covers.maurey_size(dim, m):12}   {at_random:8.4f} {by_search:8.4f} {at_hole:9.4f} {exact[dim, m]:8.4f} {m**-0.5:8.4f}"
    )

# %% [markdown]
# In few dimensions the search comes close to the exact radius, and it never passes it. Maurey's radius is larger by a factor of at least $\sqrt2$. So half of the terms suffice for the same $\epsilon$, which settles a question that the proofs leave open, as we now see.
#
# ## Inputs in the $\ell_1$ ball: vertices suffice
#
# {prf:ref}`lengthfree-lem3-2` removes the number of inputs. A point with $\|x\|_1 \le B_x$ is a mixture of the vertices $\pm B_x e_i$, and $\|(W - \hat W)x\|_q$ is convex in $x$. So it is largest at a vertex, and a cover on the vertices is a cover everywhere. The check draws differences $W - \hat W$ and looks for an input worse than all vertices, at random and by local search. In the $\ell_2$ ball there are such inputs.
#
# Below $q = 1$, which Section 2.4 admits, $\|\cdot\|_q$ is no longer convex, and the equality fails. Take the class $\{0, I\}$ with $I$ the identity of the plane, $q = \frac12$, $\epsilon = \frac32 B_x$. On each vertex the two maps differ by $B_x$, so one of them covers both. At $x = (\frac12, \frac12) B_x$ they differ by $(2\sqrt{1/2})^2 B_x = 2 B_x$, so both are needed.

# %%
D = normal(instances, k, d)
vertices = B_x * torch.eye(d).double()


def output_norm(q):
    return lambda x: torch.linalg.vector_norm((D @ x[..., None])[..., 0], q, dim=-1)


def worst_excess(q, into_ball):
    """Largest relative excess of the output at any input found over that at the vertices."""
    at_vertices = torch.stack([output_norm(q)(v.expand(instances, d)) for v in vertices]).amax(0)
    inputs = into_ball(3 * B_x * normal(instances, d))
    inputs = covers.climb(output_norm(q), into_ball, inputs, generator, reach=B_x)
    return max(0.0, (output_norm(q)(inputs) / at_vertices - 1).max().item())  # 0 at the vertices


def l1_ball(x):
    return into_l1_ball(x, B_x)


def l2_ball(x):
    return x * (B_x / x.norm(dim=-1, keepdim=True).clamp(min=B_x))


norms = {"1/2": 0.5, "1": 1, "2": 2, "3": 3, "inf": math.inf}
excess_l1 = {name: worst_excess(q, l1_ball) for name, q in norms.items()}
excess_l2 = worst_excess(2, l2_ball)
print("largest relative excess over the vertices")
for name, value in excess_l1.items():
    print(f"  l1 ball, q = {name:4} {'none' if value <= 1e-12 else f'{value:.2f}'}")
print(f"  l2 ball, q = 2    {excess_l2:.2f}")

two_maps = torch.stack((torch.zeros(2, 2), torch.eye(2))).double()
corner, middle = B_x * torch.eye(2).double(), B_x * torch.full((1, 2), 0.5, dtype=torch.float64)


def members_needed(q, inputs):
    return len(covers.greedy_cover(covers.distances(two_maps, two_maps, inputs, q), 1.5 * B_x))


needed = {
    q: (members_needed(q, corner), members_needed(q, torch.cat((corner, middle)))) for q in (0.5, 1)
}
for q, (on_vertices, on_all) in needed.items():
    print(
        f"class {{0, I}}, q = {q}: {on_vertices} map covers the vertices, {on_all} needed with the midpoint"
    )

# %% [markdown]
# ## Lemmas 3.3 and 3.6: covers, built
#
# For Lemma 3.3 each column of $W$ lies in the $\ell_1$ ball of radius $B_w$ in $\mathbb R^k$. By {prf:ref}`lengthfree-lem3-2` the error on all inputs is $B_x$ times the largest $\ell_2$ error of a column, so we cover each column to $\epsilon / B_x$ and take all combinations. For Lemma 3.6 all entries together lie in the $\ell_1$ ball in $\mathbb R^{dk}$, and the error is at most $B_x$ times the $\ell_2$ error of the entries, since $\|W - \hat W\|_{2 \to 2} \le \|W - \hat W\|_F$.
#
# **The exponent is not a whole number.** The proofs take averages of $a = B_w^2 B_x^2/\epsilon^2$ vectors. An average has a whole number of terms, so Maurey's argument needs $\lceil a \rceil$ of them, and its cover can have more members than the bound allows: for $a$ just above 1, averages of two of $2k + 1$ vectors against $(2k+1)^a$. The printed bounds hold all the same. If $a \le 1$, one member is enough, namely 0. If $a > 1$, {prf:ref}`covers-rounding` asks for at most $\lceil a/2 \rceil \le a$ terms, and there are at most $(2k+1)^{\lceil a/2 \rceil}$ averages. So the bounds stand as they are printed, without a ceiling.

# %%
unit = B_w * B_x


def log_size(dim, terms):
    return math.log(covers.maurey_size(dim, terms))


def size_ratio(dim, a, terms):
    """Log size of the averages over a log(2 dim + 1), the printed bound on one ball."""
    return log_size(dim, terms) / (a * math.log(2 * dim + 1))


a_grid = [0.5 + 0.05 * i for i in range(400)]
dims = sorted({1, 2, 3, 5, 10, 50, k, k * d})
ratio_ours = max(size_ratio(n, a, covers.terms_needed(n, 1, a**-0.5)) for n in dims for a in a_grid)
ratio_half = max(size_ratio(n, a, math.ceil(a / 2 - 1e-9)) for n in dims for a in a_grid if a > 1)
ratio_maurey = max(size_ratio(n, a, covers.maurey_terms(1, a**-0.5)) for n in dims for a in a_grid)
over = sum(size_ratio(n, a, covers.maurey_terms(1, a**-0.5)) > 1 for n in dims for a in a_grid)
glue(ratio_maurey=ratio_maurey, ratio_half=ratio_half)
print(
    f"largest log size over the printed bound, for {len(a_grid)} values of a from {a_grid[0]:.1f} to {a_grid[-1]:.1f} and {len(dims)} dimensions:"
)
print(f"  averages of ceil(a) vectors        {ratio_maurey:.4f}, above 1 in {over} cases")
print(f"  averages of ceil(a/2) vectors      {ratio_half:.4f}")
print(f"  fewest terms of the exact radius   {ratio_ours:.4f}")

# %% [markdown]
# With $\lceil a \rceil$ terms the log size reaches {glue:text}`ratio_maurey:.3f` times the bound; with $\lceil a/2 \rceil$ it stays below {glue:text}`ratio_half:.3f` times it.
#
# Now the covers themselves, at each of the chosen scales. The error of Lemma 3.3 is searched over columns, that of Lemma 3.6 over matrices, in the operator norm, with $\hat W$ the rounding of $W$.

# %%
rows = []


def spectral_error(W, terms):
    """Largest error over inputs of l2 norm at most B_x, if the entries are rounded to the cover."""
    rounded = covers.round_to_cover(W.flatten(1), B_w, terms).reshape(W.shape)
    return B_x * torch.linalg.matrix_norm(W - rounded, 2)


def scaled_back(W):
    return into_l1_ball(W.flatten(1), B_w).reshape(W.shape)


def worst_matrix(terms, count=64):
    start = random_in_l1_ball(count, k * d, B_w).reshape(count, k, d)
    found = covers.climb(
        lambda W: spectral_error(W, terms), scaled_back, start, generator, reach=0.3 * B_w
    )
    hole = half_steps(k * d, B_w, terms).reshape(1, k, d)
    return max(spectral_error(W, terms).max().item() for W in (found, hole))


for scale in scales:
    eps, a = scale * unit, scale**-2
    m_columns = covers.terms_needed(k, B_w, eps / B_x)
    m_entries = covers.terms_needed(k * d, B_w, eps / B_x)
    rows.append(
        {
            "scale": scale,
            "bound 3.3": covers.bound_l1_columns(k, d, B_w, B_x, eps),
            "size 3.3": d * log_size(k, m_columns),
            "error 3.3": B_x * max(farthest(k, B_w, m_columns)) / eps,
            "fewer 3.3": B_x
            * to_nearest(k, B_w, m_columns - 1)(half_steps(k, B_w, m_columns - 1)).item()
            / eps,
            "bound 3.6": covers.bound_l1_entries(k, d, B_w, B_x, eps),
            "size 3.6": log_size(k * d, m_entries),
            "error 3.6": worst_matrix(m_entries) / eps,
            "fewer 3.6": spectral_error(
                half_steps(k * d, B_w, m_entries // 2).reshape(1, k, d), m_entries // 2
            ).item()
            / eps,
        }
    )
print(f"k = {k}, d = {d}; log sizes; errors over epsilon")
print(
    f"{'eps/BwBx':>8} | {'3.3 bound':>9} {'cover':>8} {'error':>7} | {'3.6 bound':>9} {'cover':>8} {'error':>7}"
)
for row in rows:
    print(
        f"{row['scale']:8.2f} | {row['bound 3.3']:9.3f} {row['size 3.3']:8.3f} {row['error 3.3']:7.4f} | {row['bound 3.6']:9.3f} {row['size 3.6']:8.3f} {row['error 3.6']:7.4f}"
    )

# %% [markdown]
# One cover of Lemma 3.3 is also written out in full, matrix by matrix, and compared with random matrices and with the worst one, on all vertices.

# %%
eps_built = 0.6 * unit
m_built = covers.terms_needed(k, B_w, eps_built / B_x)
built = covers.product_cover(covers.maurey_cover(k, B_w, m_built), d).mT  # columns from the cover
tried = torch.cat(
    (
        random_in_l1_ball(300 * d, k, B_w).reshape(300, d, k).mT,
        half_steps(k, B_w, m_built).expand(1, d, k).mT,
    )
)
built_error = covers.distances(tried, built, vertices, 2).amin(-1)
outside = covers.distances(2 * tried, built, vertices, 2).amin(-1)
inside = covers.matrix_norm(built, 1, math.inf).max().item() <= B_w * (1 + 1e-12)
print(f"{len(built)} matrices, all in the class: {inside}")
print(
    f"largest error over epsilon: {built_error.max().item() / eps_built:.4f}; for matrices twice too large: {outside.max().item() / eps_built:.4f}"
)

# %% [markdown]
# ### How loose are the bounds?
#
# For one column in the plane the covering number can be enclosed. A greedy cover of a fine grid bounds it from above; the grid's own covering radius is taken off $\epsilon$, so it covers the whole ball. A *packing*, points farther than $2\epsilon$ apart, bounds it from below, since no member serves two of them. So does area. {numref}`fig-cover-sizes` compares.

# %%
grid_terms = 24
grid = covers.maurey_cover(2, 1.0, grid_terms)
grid_radius = covers.covering_radius(2, 1.0, grid_terms)
apart = distances_between(grid, grid)
plane_scales = [1.02**i * 0.15 for i in range(0, 96, 5)]
plane = {
    name: []
    for name in (
        "printed bound",
        "averages, proof",
        "averages, fewest",
        "greedy cover",
        "packing",
        "area",
    )
}
for eps in plane_scales:
    plane["printed bound"].append(covers.bound_l1_columns(2, 1, 1, 1, eps))
    plane["averages, proof"].append(log_size(2, covers.maurey_terms(1, eps)))
    plane["averages, fewest"].append(log_size(2, covers.terms_needed(2, 1, eps)))
    plane["greedy cover"].append(math.log(len(covers.greedy_cover(apart, eps - grid_radius))))
    plane["packing"].append(math.log(len(covers.packing(apart, 2 * eps))))
    plane["area"].append(max(0.0, covers.volume_bound(2, 1, eps, 1)))
pairs_above = zip(plane["greedy cover"], plane["averages, fewest"], strict=True)
pairs_below = zip(plane["packing"], plane["area"], strict=True)
# A cover is one at larger eps too, a packing one at smaller eps.
upper = torch.tensor([min(pair) for pair in pairs_above]).cummin(0).values.tolist()
lower = torch.tensor([max(pair) for pair in pairs_below]).flip(0).cummax(0).values.flip(0).tolist()
glue(loose_bound=plane["printed bound"][0], loose_upper=upper[0], loose_lower=lower[0])
print(f"{'eps':>6} " + " ".join(f"{name:>19}" for name in (*plane, "at least", "at most")))
for i, eps in enumerate(plane_scales):
    print(f"{eps:6.3f} " + " ".join(f"{row[i]:19.4f}" for row in (*plane.values(), lower, upper)))

# %% mystnb={"figure": {"caption": "Log size of covers of the $\\ell_1$ ball of radius 1 in the plane ($k = 2$, one column). The covering number lies in the shaded band, between the best lower and the best upper bound. The vertical axis is logarithmic above 1 and linear below. Averages of $\\lceil a \\rceil$ vectors, as in the printed proof, cross the printed bound on the right; those with the fewest terms do not.", "name": "fig-cover-sizes"}, "image": {"alt": "Curves of log size against epsilon on a logarithmic horizontal axis, all falling to zero. The printed bound rises far above the others to the left, to about twenty times the band. The two covers by averages are staircases between it and the band; the higher staircase pokes above the printed bound for epsilon just below one."}} tags=["hide-input"]
fig, ax = figures.new(height=3.5)
figures.interval(ax, plane_scales, lower, upper, color=figures.COLOURS[2], alpha=0.3)
for i, (name, row) in enumerate(plane.items()):
    ax.plot(
        plane_scales,
        row,
        label=name,
        color=figures.COLOURS[i],
        marker=figures.MARKERS[i],
        linestyle=figures.DASHES[i],
    )
ax.set(
    xscale="log", yscale="symlog", xlabel="scale $\\epsilon$", ylabel="log size", ylim=(-0.05, 100)
)
ax.set_xticks([0.15, 0.3, 0.5, 0.7, 1.0], ["0.15", "0.3", "0.5", "0.7", "1"])
ax.set_yticks([0, 1, 3, 10, 30, 100], ["0", "1", "3", "10", "30", "100"])
ax.minorticks_off()
ax.legend(ncols=2)
figures.show()

# %% [markdown]
# At $\epsilon = 0.15$ the bound is {glue:text}`loose_bound:.1f`; the truth lies between {glue:text}`loose_lower:.2f` and {glue:text}`loose_upper:.2f`. For small $\epsilon$ a cover of a plane grows like $2 \log \frac1\epsilon$, the bound like $1/\epsilon^2$. The bound is made for the other end: many dimensions, $\epsilon$ not small.
#
# ## Lemma 3.4: rows, not columns
#
# Lemma 3.4 bounds the sum of the columns' $\ell_2$ norms and promises a log size of order $a \log(dk)$. Take $d = 1$. Then $W$ is a single column $w \in \mathbb R^k$ with $\|w\|_2 \le B_w$, the inputs are numbers with $|x| \le B_x$, and to cover is to cover an $\ell_2$ ball in $\mathbb R^k$ by smaller ones. By volume that takes at least $(B_w B_x/\epsilon)^k$ of them. With $\epsilon = \frac12 B_w B_x$ the log size is at least $k \log 2$, against a promise of $4 \log k$. No constant can bridge that. (More columns do not help: leave them 0.) Lemma 3.5 fails with it: take $d = 2$, the second column 0, and the one point $e_1$. Of the first columns $s/\sqrt k$ with signs $s$ at least $2^k/\sum_{i \le k/4} \binom ki$ differ pairwise in more than $k/4$ places, and so by more than $1 = 2\epsilon$, against $4 \log 2$ for every $k$.
#
# What differs is a transpose. Lemma 3.5 is credited to {cite:t}`variables`, whose proof covers, one at a time, the vectors that the input is multiplied by. For $x \mapsto Wx$ these are the *rows*. With $\|W^\top\|_{2,1} \le B_w$, the sum of the rows' $\ell_2$ norms, the bound holds, and we can exhibit a cover. Let $B_x = 1$ and $\tau = \epsilon^2/(2B_w)$.
#
# 1. Rows of norm at most $\tau$ become 0. In any column their squares sum to at most $\tau \sum_j \|W_j\|_2 \le \epsilon^2/2$.
# 2. The norm of any other row $j$ is rounded up to a multiple $t_j$ of $\tau$. These $t_j$ sum to at most $2 B_w$.
# 3. The entries of row $j$ are rounded towards 0 in steps of $\epsilon\sqrt{t_j/(4B_w)}$. In any column the squares of the errors sum to at most $\epsilon^2 \sum_j t_j/(4B_w) \le \epsilon^2/2$.
#
# The whole numbers $t_j/\tau$ sum to at most $4a$, and so do the sizes of the whole numbers that give the entries, since these are at most their squares. So there are at most $(k+1)^{4a} (2dk+1)^{4a}$ outcomes: the log size is at most $8 a \log(2dk+1)$, with every constant in the open. Rounding only shrinks rows, so the cover lies in the class.

# %%
widths = sorted({2**p for p in range(4, 17, 3)} | {k_wide})


def forced(outputs, scale=0.5):
    """Constant in front of a log(dk) that the columns force at d = 1, by volume."""
    return covers.volume_bound(outputs, B_w, scale * B_w, 2) / covers.bound_l2_columns(
        outputs, 1, B_w, 1, scale * B_w
    )


def row_error(W, scale):
    """Largest error over epsilon of the rounded rows, on the vertices, for each matrix."""
    return covers.matrix_norm(W - covers.round_rows(W, B_w, scale * B_w).rounded, 2, math.inf) / (
        scale * B_w
    )


def into_row_class(W):
    return W * (B_w / covers.matrix_norm(W.mT, 2, 1).clamp(min=B_w))[:, None, None]


def enough(outputs, inputs=1, scale=0.5):
    """Constant in front of a log(dk) that suffices for rows, by the cover just described."""
    return covers.row_cover_log_size(outputs, inputs, B_w, scale * B_w) / covers.bound_l2_columns(
        outputs, inputs, B_w, 1, scale * B_w
    )


allowed = 8 * math.log(2 * k_wide + 1) / math.log(k_wide)
glue(forced_wide=forced(k_wide), enough_wide=enough(k_wide), k_wide=k_wide)
print("constant in front of a log(dk), d = 1, epsilon = BwBx/2")
print(f"{'k':>6} {'columns force':>14} {'rows need at most':>18}")
for width in widths:
    print(f"{width:6} {forced(width):14.3f} {enough(width):18.3f}")

row_shapes = [(k, d), (3, 50), (50, 3), (40, 30)]
row_errors, row_codes = [], []
for outputs, inputs in row_shapes:
    for scale in scales:
        W = (
            normal(60, outputs, inputs)
            * (3 * torch.rand(60, outputs, 1, generator=generator).double()).exp()
        )
        W *= torch.rand(60, outputs, inputs, generator=generator) < torch.rand(
            60, 1, 1, generator=generator
        ).clamp(min=0.1)
        W *= B_w / covers.matrix_norm(W.mT, 2, 1)[:, None, None].clamp(min=1e-9)
        if (outputs, inputs) == (k, d):
            W = covers.climb(
                lambda W, scale=scale: row_error(W, scale),
                into_row_class,
                W,
                generator,
                reach=0.3 * B_w,
            )
        code = covers.round_rows(W, B_w, scale * B_w)
        row_errors.append(row_error(W, scale).max().item())
        row_codes.append(
            max(code.sizes.sum(-1).max().item(), code.entries.abs().sum((-1, -2)).max().item())
            * scale**2
            / 4
        )
one_column = torch.full((1, 400, 1), B_w / 20, dtype=torch.float64)  # of norm B_w
column_error = row_error(one_column, 0.5).item()
row_size = max(
    covers.row_cover_log_size(n, m, 1, s) / (8 * s**-2 * math.log(2 * n * m + 1))
    for n, m in [*row_shapes, (k_wide, 1)]
    for s in scales
)
print("\nrounding rows, at random and by search")
print(f"  largest error over epsilon {max(row_errors):.4f}")
print(f"  largest code over 4a {max(row_codes):.4f}, log size over 8 a log(2dk+1) {row_size:.4f}")
print(f"same rounding, one column spread over 400 rows: error over epsilon {column_error:.4f}")
k_signs = 4096
ball, term = 0, 1
for i in range(k_signs // 4 + 1):
    ball, term = ball + term, term * (k_signs - i) // (i + 1)
unit_35 = covers.bound_on_points(1, 2, 1, 1, 0.5)  # 4 log 2
signs_forced = math.log(2**k_signs // ball) / unit_35
rows_enough = math.log(covers.maurey_size(k_signs, covers.terms_needed(k_signs, 1, 0.5))) / unit_35
allowed_35 = 8 * math.log(2 * 2 * k_signs + 1) / math.log(2)
print(f"Lemma 3.5, k = {k_signs}, d = 2, n = 1: columns force {signs_forced:.2f},")
print(f"  rows need at most {rows_enough:.2f}, 8 log(2dk+1)/log(dn) is {allowed_35:.2f}")
print("\nformulas at d = k = 64, a = 4: Lemma 3.4 and, for n inputs, Lemma 3.5 (without constants)")
for n in (64, 10**3, 10**4, 10**6):
    print(
        f"  n = {n:7}: {covers.bound_l2_columns(64, 64, 1, 1, 0.5):8.3f} {covers.bound_on_points(n, 64, 1, 1, 0.5):8.3f}"
    )

# %% [markdown]
# At $k =$ {glue:text}`k_wide` columns force a constant of at least {glue:text}`forced_wide:.1f`, and it grows like $k/\log k$; for rows {glue:text}`enough_wide:.2f` is enough. With rows, $\log(dk)$ is what Lemma 3.5 gives for the $n = d$ vertices if its $\log(dn)$ is read as the logarithm of outputs times inputs, here $\log(kn)$. The bound of Lemma 3.4 stays put as $n$ grows, that of Lemma 3.5 grows with $\log n$: this is what the paper is after.
#
# ## Appendix A: from scalars to matrices
#
# Cover each row by itself, at scale $\epsilon$. If all $k$ rows are off by $\epsilon$ at the same input, the output is off by $k^{1/q} \epsilon$, and this happens: in the worst row, repeated, met by the worst input. The covers are built for rows in the $\ell_1$ ball and inputs in the $\ell_2$ ball.
#
# One word matters. The paper's covers are subsets of the class, but the matrices put together from covered rows need not lie in $\mathcal W$ if $\mathcal W$ is just *any* set of matrices with bounded rows. Let the scalars be $w \in [-1, 1]$, the input 1, and $\epsilon = \frac32$: the number 0 covers them, $C = 0$. But the class of two matrices, all entries $1$ or all entries $-1$, needs both members at scale $\frac32 k^{1/q}$, for they are $2 k^{1/q}$ apart. The statement holds for the class of *all* matrices with such rows.

# %%
eps_row = 0.6 * unit
m_row = covers.terms_needed(d, B_w, eps_row / B_x)
row_cover = covers.maurey_cover(d, B_w, m_row)
all_rows = covers.product_cover(row_cover, k)
row_radius = B_x * covers.covering_radius(d, B_w, m_row)
hole = half_steps(d, B_w, m_row)
worst_input = B_x * (hole / hole.norm())
inputs = torch.cat((l2_ball(3 * B_x * normal(60, d)), worst_input))
rows_tried = torch.cat(
    (random_in_l1_ball(200 * k, d, B_w).reshape(200, k, d), hole.expand(1, k, d))
)
nearest_rows = torch.stack(
    [row_cover[distances_between(r, row_cover).argmin(-1)] for r in rows_tried]
)
ratios = {}
for name, q in norms.items():
    off = torch.linalg.vector_norm((rows_tried - nearest_rows) @ inputs.T, q, dim=1).amax().item()
    listed = covers.distances(rows_tried[-20:], all_rows, inputs[-20:], q).amin(-1).max().item()
    ratios[name] = (off / row_radius, listed / row_radius, k ** (1 / q))
print(
    f"k = {k} rows; scalar log size {math.log(len(row_cover)):.4f}, matrix log size {math.log(len(all_rows)):.4f}"
)
print(
    f"{'q':>4} {'row by row':>11} {'best listed':>12} {'k^(1/q)':>9}   (errors over the scalar radius)"
)
for name, (off, listed, factor) in ratios.items():
    print(f"{name:>4} {off:11.4f} {listed:12.4f} {factor:9.4f}")
appendix_error = max(off / factor for off, _, factor in ratios.values())
coarse_cover, coarse_hole = covers.maurey_cover(d, B_w, m_row - 1), half_steps(d, B_w, m_row - 1)
off_rows = (
    coarse_hole - coarse_cover[distances_between(coarse_hole, coarse_cover).argmin(-1)]
).expand(k, d)
toward = B_x * coarse_hole[0] / coarse_hole[0].norm()
coarser_rows = min(
    torch.linalg.vector_norm(off_rows @ toward, q).item() / k ** (1 / q) / row_radius
    for q in norms.values()
)

signs = torch.stack((torch.ones(k, 1), -torch.ones(k, 1))).double()
every_sign = torch.cat((signs, torch.zeros(1, k, 1).double()))
number_one = torch.ones(1, 1).double()


def needed_at(members, q):
    apart_of = covers.distances(members, members, number_one, q)
    return len(covers.greedy_cover(apart_of, 1.5 * k ** (1 / q)))


print(
    f"two matrices, rows from [-1, 1]: {needed_at(signs, 2)} members needed; with 0 in the class: {needed_at(every_sign, 2)}; promised: 1"
)

# %% [markdown]
# ## What would falsify this
#
# A violated inequality, a point farther from a cover than claimed, or a packing larger than a bound. Each check that holds has a control that breaks it: the printed lemma for the repaired one, the $\ell_2$ ball for the $\ell_1$ ball, fewer terms, the wrong norm. Each refuted statement has the repaired one as its control.

# %%
tol = 1e-9
worst = {
    name: max(row[name] for row in rows)
    for name in ("error 3.3", "error 3.6", "fewer 3.3", "fewer 3.6")
}
ledger.result("lengthfree.lem3_1").refuted(
    "as printed: squared error for $d = 1$, $V = 1$, $\\alpha = \\frac12$, $k = 1$",
    printed_error,
    at_most=0,
    tol=tol,
    control=repaired_error,
    about="statement",
    evidence="attained",
)
ledger.result("lengthfree.lem3_1").repaired(
    "repair 1, $\\frac\\gamma k$: violations in random instances; control: as printed",
    violations[1],
    equals=0,
    control=violations[0],
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_1").repaired(
    "repair 2, $\\gamma b^2$: violations in random instances; control: as printed",
    violations[2],
    equals=0,
    control=violations[0],
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_1_count").refuted(
    "as printed: number of $(k_i)$ for $d = 3$, $k = 1$ is at most $d^k$",
    at_most[3, 1],
    at_most=3,
    control=exactly[3, 1],
    about="statement",
    evidence="attained",
)
ledger.result("lengthfree.lem3_1_count").repaired(
    "number of $(k_i)$ over $(d+1)^k$, $d, k \\le 7$; control: sums up to $k + 1$",
    max(c / (n + 1) ** m for (n, m), c in at_most.items()),
    at_most=1,
    control=max(len(covers.integer_points(n, m + 1)) / (n + 1) ** m for n, m in pairs),
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_2_range").refuted(
    "any real $q > 0$, as Section 2.4 has it: maps needed on all inputs, class $\\{0, I\\}$, $q = \\frac12$",
    needed[0.5][1],
    equals=needed[0.5][0],
    control=needed[1][1],
    about="statement",
    evidence="attained",
)
ledger.result("lengthfree.lem3_2_range").repaired(
    "$q \\ge 1$, a norm: the same class, $q = 1$; control: $q = \\frac12$",
    needed[1][1],
    equals=needed[1][0],
    control=needed[0.5][1],
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_2").holds(
    "$q \\ge 1$: relative excess of any input over the vertices; control: $\\ell_2$ ball",
    max(v for name, v in excess_l1.items() if name != "1/2"),
    at_most=0,
    tol=tol,
    control=excess_l2,
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_3").holds(
    "distance from the averages over its exact formula, largest found; control: averages of one term fewer",
    never_above,
    at_most=1,
    tol=tol,
    control=term_fewer,
    about="ours",
    evidence="proved",
)
ledger.result("lengthfree.lem3_3").holds(
    "the formula is attained: relative gap at the half-step point; control: at random points",
    attained,
    at_most=0,
    tol=tol,
    control=max(abs(found[0] / exact[shape] - 1) for shape, found in searched.items()),
    about="ours",
    evidence="attained",
)
ledger.result("lengthfree.lem3_3").holds(
    "worst error over $\\epsilon$, all scales; control: one term fewer",
    worst["error 3.3"],
    at_most=1,
    tol=tol,
    control=worst["fewer 3.3"],
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_3").holds(
    "cover written out: worst error over $\\epsilon$; control: matrices twice too large",
    built_error.max() / eps_built,
    at_most=1,
    tol=tol,
    control=outside.max() / eps_built,
    about="statement",
    evidence="sampled",
)
ledger.result("lengthfree.lem3_3").holds(
    "log size over the printed bound, largest; control: $\\lceil a \\rceil$ terms as in the proof",
    max(ratio_ours, *(row["size 3.3"] / row["bound 3.3"] for row in rows)),
    at_most=1,
    control=ratio_maurey,
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_4").refuted(
    "as printed (columns): constant forced at $k =$ `k_wide`, $d = 1$; control: rows",
    forced(k_wide),
    at_most=allowed,
    control=enough(k_wide),
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_4.lem3_5").refuted(
    "Lemma 3.5 as printed (columns): constant forced at $k = 4096$, $d = 2$, $n = 1$, against $8 \\log(2dk+1)/\\log(dn)$; control: rows",
    signs_forced,
    at_most=allowed_35,
    control=rows_enough,
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_4").repaired(
    "rows: worst error over $\\epsilon$; control: one column over 400 rows",
    max(row_errors),
    at_most=1,
    tol=tol,
    control=column_error,
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_4").repaired(
    "rows: log size over $8 a \\log(2dk+1)$; control: columns, from below",
    row_size,
    at_most=1,
    tol=tol,
    control=forced(k_wide) / allowed,
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_6").holds(
    "worst error over $\\epsilon$, all scales; control: half of the terms",
    worst["error 3.6"],
    at_most=1,
    tol=tol,
    control=worst["fewer 3.6"],
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.lem3_6").holds(
    "log size over the printed bound, largest; control: $\\lceil a \\rceil$ terms as in the proof",
    max(ratio_ours, *(row["size 3.6"] / row["bound 3.6"] for row in rows)),
    at_most=1,
    control=ratio_maurey,
    about="statement",
    evidence="proved",
)
ledger.result("lengthfree.appA").refuted(
    "any class with such rows, covers from inside it: members needed for two matrices, promised 1",
    needed_at(signs, 2),
    at_most=1,
    control=needed_at(every_sign, 2),
    about="proof",
    evidence="attained",
)
ledger.result("lengthfree.appA").repaired(
    "all matrices with such rows: worst error over $k^{1/q} \\epsilon$; control: rows of one term fewer",
    appendix_error,
    at_most=1,
    tol=tol,
    control=coarser_rows,
    about="statement",
    evidence="proved",
)
glue(tuples=at_most[3, 1], on_vertices=needed[0.5][0], on_all=needed[0.5][1])
glue(needed_signs=needed_at(signs, 2), signs_forced=signs_forced)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# Nothing can be compared. We read `run_experiment.py`, the only program of the repository `traugerjacob/Transformer-Gen-Bounds`: it trains on sparse majority. No cover is built and no bound evaluated in it.
#
# ## What we found
#
# * The sparsification lemma lacks a factor as printed ({glue:text}`violations` violations in {glue:text}`instances`), and has two repairs. Nothing that follows depends on the difference.
# * Lemmas 3.3 and 3.6 hold as printed. Their proofs leave out a ceiling; exact covering radii make up for it.
# * Lemmas 3.4 and 3.5, as printed for columns, are false; 3.4 is true for rows. The difference is not a constant: at $k =$ {glue:text}`k_wide` a factor of {glue:text}`forced_wide:.1f` is forced.
# * Lemma 3.2 needs $q \ge 1$, which all uses have, and Appendix A a class that holds every combination of rows.
#
# ```{finding} lengthfree.lem3_1
# :title: Maurey's lemma: the factor gamma stands on one side only
# :group: false statement
#
# **Statement.** Printed: some average $\frac1k \sum k_i V_i$ with $\sum k_i \le k$ is within $(\gamma^2 b^2 - \|f\|^2)/k$ of $f$, squared.
#
# **Counterexample.** $d = 1$, $V = 1$, $\alpha = \frac12$, $k = 1$: the bound is 0, the best squared error {glue:text}`printed_error:.2f`. Violated in {glue:text}`violations` of {glue:text}`instances` random instances.
#
# **Why.** Drawing from weights that sum to $\gamma < 1$ needs either the factor $\gamma$ in front of the average or the vector 0 among the outcomes. The lemma has the left side of one and the right side of the other.
#
# **Repair.** $\frac\gamma k \sum k_i V_i$ with $\sum k_i = k$ and at most $d^k$ choices; or the bound $(\gamma b^2 - \|f\|^2)/k$ with at most $(d+1)^k$ choices.
#
# **What survives.** All of it: the covers use the second form, with 0 as an additional vector.
# ```
#
# ```{finding} lengthfree.lem3_1_count
# :title: Sums up to k are counted by (d + 1)^k, not d^k
# :group: false statement
#
# **Statement.** Printed, in the sentence after Lemma 3.1: at most $d^k$ choices of $(k_1, \dots, k_d)$ with $\sum_i k_i \le k$ fit its criteria.
#
# **Counterexample.** $d = 3$, $k = 1$, $V_i = e_i$, $\alpha_i = \frac13$: {glue:text}`tuples` choices, all of which also meet the inequality, against 3.
#
# **Why.** $d^k$ counts draws from $d$ options, and drawing nothing is one more.
#
# **Repair.** $(d + 1)^k$, or $\sum_i k_i = k$.
#
# **What survives.** All lemmas: they count with 0 as an additional vector.
# ```
#
# ```{finding} lengthfree.lem3_2_range
# :title: Vertices suffice for norms, q at least 1, not for every q > 0
# :group: constant
#
# **Statement.** Printed: vertices suffice for the norm $\|\cdot\|_q$ of the outputs, where the paper's covers allow any real $q > 0$.
#
# **Counterexample.** $q = \frac12$, class $\{0, I\}$ in the plane, $\epsilon = \frac32 B_x$: {glue:text}`on_vertices` map covers the vertices, {glue:text}`on_all` are needed at $(\frac12, \frac12) B_x$.
#
# **Why.** The proof uses the triangle inequality, which fails for $q < 1$.
#
# **Repair.** Let $q \ge 1$.
#
# **What survives.** All uses in the paper: they have $q = 2$.
# ```
#
# ```{finding} lengthfree.lem3_3
# :title: Lemmas 3.3 and 3.6 hold; their proofs leave out a ceiling
# :group: proof
#
# **Statement.** Printed: the proofs of Lemmas 3.3 and 3.6 count averages of $a = B_w^2 B_x^2/\epsilon^2$ vectors, which is no whole number.
#
# **Counterexample.** With $\lceil a \rceil$ terms the log size reaches {glue:text}`ratio_maurey:.3f` times the printed bound.
#
# **Why.** A ceiling was left out, and with it the step from the cover to the bound.
#
# **Repair.** Averages of $\lceil a/2 \rceil \le a$ terms cover as well, by the rounding lemma of this chapter.
#
# **What survives.** Both statements, as printed, without a ceiling.
# ```
#
# ```{finding} lengthfree.lem3_4
# :title: Lemma 3.4 holds for rows, not for columns
# :group: false statement
#
# **Statement.** Printed: if the columns' $\ell_2$ norms sum to at most $B_w$, the log covering number is of order $a \log(dk)$ for inputs with $\|x\|_1 \le B_x$.
#
# **Counterexample.** $d = 1$, $\epsilon = \frac12 B_w B_x$: it is at least $k \log 2$, by volume. At $k = {glue:text}`k_wide`$ the hidden constant would have to be {glue:text}`forced_wide:.1f`, and it grows like $k / \log k$.
#
# **Why.** The lemma that it is taken from covers the vectors that the input is multiplied by. For $x \mapsto Wx$ these are the rows; here the columns are bounded.
#
# **Repair.** $\|W^\top\|_{2,1} \le B_w$: an explicit cover has log size at most $8 a \log(2dk+1)$; at $k = {glue:text}`k_wide`$ a constant of {glue:text}`enough_wide:.2f` in front of $a \log(dk)$ is enough.
#
# **What survives.** The bound, and the corollaries built on it, once the norm is taken of the transpose.
# ```
#
# ```{finding} lengthfree.lem3_4.lem3_5
# :title: Lemma 3.5 bounds columns where its source bounds rows
# :group: false statement
#
# **Statement.** Printed, after an earlier paper: if the columns' $\ell_2$ norms sum to at most $B_w$, the log covering number on any $n$ inputs with $\|x\|_2 \le B_x$ is of order $a \log(dn)$.
#
# **Counterexample.** $d = 2$, $n = 1$, the input $e_1$, first columns of signs over $\sqrt k$: at $k = 4096$ a constant of {glue:text}`signs_forced:.0f` is forced at $\epsilon = \frac12 B_w B_x$, and it grows like $k$.
#
# **Why.** As for Lemma 3.4: for $x \mapsto Wx$ the source bounds what the input is multiplied by, the rows.
#
# **Repair.** The $\ell_2$ norms of the rows, and outputs times inputs, $kn$, under the logarithm ({ref}`ch-attention-capacity`).
#
# **What survives.** The lemma in its source, for $x \mapsto W^\top x$.
# ```
#
# ```{finding} lengthfree.appA
# :title: A matrix of covered rows may lie outside the class
# :group: proof
#
# **Statement.** Printed: a scalar cover of log size $C$ gives any set of matrices with such rows a cover of log size $kC$.
#
# **Counterexample.** To the step that the assembled matrix is in the class: scalars in $[-1, 1]$, $\epsilon = \frac32$, so $C = 0$. Of the two matrices with all entries $\pm1$, {glue:text}`needed_signs` are needed, not 1.
#
# **Why.** The matrices put together from covered rows need not belong to the class, as the paper's covers must.
#
# **Repair.** Take the class of all matrices with such rows, or allow covers from outside the class.
#
# **What survives.** All of it, for the classes in use.
# ```
#
# ## Exercises
#
# ```{admonition} Exercise 1
# The paper asks for errors *less than* $\epsilon$, we for *at most*. Do the printed bounds of Lemmas 3.3 and 3.6 survive the strict version?
# ```

# %% tags=["hide-cell"]
# Yes. If a < 1, the origin is closer than epsilon. If a >= 1, floor(a/2) + 1 terms have radius B / sqrt(2m) < epsilon,
# and floor(a/2) + 1 <= a: for 1 <= a < 2 it is 1, for a >= 2 it is at most a/2 + 1.
strict_terms = [(a, math.floor(a / 2) + 1) for a in a_grid if a >= 1]
print(f"largest floor(a/2) + 1 over a: {max(m / a for a, m in strict_terms):.4f}")
print(f"largest radius over epsilon: {max(math.sqrt(a / (2 * m)) for a, m in strict_terms):.4f}")

# %% [markdown]
# ```{admonition} Exercise 2
# Which of Lemmas 3.3 and 3.6 is better for matrices with $\|W\|_{1,\infty} \le B_w$ and inputs with $\|x\|_1 \le B_x$? Use $\|W\|_{1,1} \le d\, \|W\|_{1,\infty}$.
# ```

# %% tags=["hide-cell"]
# Lemma 3.6 with d B_w in place of B_w has d^2 a log(2dk + 1): worse than d a log(2k + 1) by more than a factor d.
for size in (2, 8, 64):
    ratio = covers.bound_l1_entries(size, size, size * 1.0, 1, 0.5) / covers.bound_l1_columns(
        size, size, 1, 1, 0.5
    )
    print(f"d = k = {size}: Lemma 3.6 over Lemma 3.3: {ratio:.4f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemmas are from {cite:t}`lengthfree`; Maurey's argument entered this field with {cite:t}`zhang2002`, and is used for approximation by {cite:t}`barron1993`.
